/* UTF-8 (RFC 3629). Texts of users, drivers and peers are checked or cleaned before they go into JSON,
 * messages and stores, which take nothing else: "caf\xe9" becomes "caf?". */
#ifndef THRESH_BASE_UTF8_H
#define THRESH_BASE_UTF8_H

#include <stddef.h>

/* How many of the first n bytes are whole characters, up to the first that is none; n: all are. */
size_t utf8_valid(const char *text, size_t n);
/* Replaces each byte that belongs to no character by '?'. */
void utf8_clean(char *text);
/* The same, and control characters become spaces: one line for terminals and tables. */
void utf8_clean_line(char *text);

#endif
