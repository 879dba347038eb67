/* Conditions on indices: an expression is in a range. A load beyond the end of a padded array reads nothing,
 * as one of its guards does not hold; guards that the ranges of the variables prove are dropped.
 *
 *     padConstant(1, 1, 0.0, a)    element i:    a[i - 1] if i - 1 in 0..n-1, otherwise 0 */
#ifndef THRESH_BACKBONE_GUARD_H
#define THRESH_BACKBONE_GUARD_H

#include "core/backbone/index.h"

struct index_guard {
    const struct index_expr *of;
    int64_t low, high; /* both included */
};

enum guard_verdict { GUARD_FALSE, GUARD_TRUE, GUARD_OPEN };

/* What the ranges of the variables prove: of all guards, TRUE if there is none. */
enum guard_verdict guard_prove(const struct index_guard *guards, unsigned n);
/* Whether all of them hold for these values. */
bool guard_holds(const struct index_guard *guards, unsigned n, const int64_t *var_values);
/* The guards with variables replaced (index_substitute()) and without those that always hold, in the arena;
 * *n: their number, before and after. */
const struct index_guard *guard_substitute(struct arena *a, const struct index_guard *guards, unsigned *n,
                                           const struct index_expr *const *replacement,
                                           uint32_t n_replacements);
/* Whether v occurs in one of them. */
bool guard_mentions(const struct index_guard *guards, unsigned n, uint32_t v);
bool guard_same(const struct index_guard *x, const struct index_guard *y, unsigned n);
/* C text: "i - 1 >= 0 && i - 1 <= 9", without what is proven. wide_names: of variables in 64 bits, for what
 * does not fit in an int. */
void guard_print(const struct index_guard *guards, unsigned n, const char *const *names,
                 const char *const *wide_names, struct strbuf *out);

#endif
