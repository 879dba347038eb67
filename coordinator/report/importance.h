/* Which choices matter: a forest over the decisions of measured implementations and the logarithms of their
 * times. Choices that divide the implementations alike are one. */
#ifndef THRESH_REPORT_IMPORTANCE_H
#define THRESH_REPORT_IMPORTANCE_H

#include "coordinator/decided.h"
#include "coordinator/report/study.h"

enum { IMPORTANCE_LEAST = 10, IMPORTANCE_ROWS = 1500, IMPORTANCE_KEPT = 40 };

struct importance; /* measured implementations */

struct importance *importance_new(void);
void importance_free(struct importance *m); /* NULL is allowed */
/* Adds an implementation: its time in ns, positive, and decided_values(). */
void importance_add(struct importance *m, double ns, const uint16_t *values, uint32_t n);
/* Writes choices, learnt_from, explained of the study; nothing with fewer than IMPORTANCE_LEAST
 * implementations. `names` gave the values. */
void importance_report(const struct importance *m, const struct decided *names, struct report_study *out);

#endif
