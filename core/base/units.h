/* Quantities as people read them: "1.08 ms", "48 KiB", "4.29 G". Three significant digits; each function
 * works as snprintf. */
#ifndef THRESH_BASE_UNITS_H
#define THRESH_BASE_UNITS_H

#include <stddef.h>

enum { UNITS_BYTES = 32 }; /* room for any of them */

/* Nanoseconds, from "0.5 ns" up to hours; "-": there is no time (not positive, infinite, not a number). */
int units_time(double ns, char *out, size_t n);
/* Bytes, in powers of 1024. */
int units_bytes(double bytes, char *out, size_t n);
/* A number of things: whole ones below 10,000 as they are, others in powers of 1000. */
int units_count(double count, char *out, size_t n);

#endif
