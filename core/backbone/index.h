/* Index expressions in one canonical form: an affine sum over atoms, where an atom is a variable, the floor
 * division or modulo of an affine sum by a positive constant, or the smaller or larger of an affine sum and a
 * constant. All sizes are bound, so coefficients are integers.
 *
 *     constant + sum of coefficient_i * atom_i        atoms sorted, distinct, coefficients nonzero
 *
 * Variables are dense ids with known extents (range 0..extent-1). Only sound rules are applied: (q*d + r) / d
 * = q + r/d and (q*d + r) % d = r % d need d > 0 and 0 <= r (lift-facts B.7). Immutable once built; lives in
 * an arena. */
#ifndef THRESH_BACKBONE_INDEX_H
#define THRESH_BACKBONE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct strbuf;

enum index_atom_kind { INDEX_VAR, INDEX_DIV, INDEX_MOD, INDEX_MIN, INDEX_MAX };

struct index_atom {
    enum index_atom_kind kind;
    uint32_t var;                /* VAR */
    int64_t extent;              /* VAR: exclusive upper bound, > 0 */
    const struct index_expr *of; /* all but VAR */
    int64_t by;                  /* DIV, MOD: > 0; MIN, MAX: the constant */
};

struct index_term {
    struct index_atom atom;
    int64_t coefficient; /* != 0 */
};

struct index_expr {
    int64_t constant;
    unsigned n_terms;
    const struct index_term *terms;
};

const struct index_expr *index_constant(struct arena *a, int64_t c);
const struct index_expr *index_var(struct arena *a, uint32_t var, int64_t extent); /* extent 1 gives 0 */
const struct index_expr *index_add(struct arena *a, const struct index_expr *x, const struct index_expr *y);
/* x + by. */
const struct index_expr *index_shift(struct arena *a, const struct index_expr *x, int64_t by);
const struct index_expr *index_scale(struct arena *a, const struct index_expr *x, int64_t by);
const struct index_expr *index_div(struct arena *a, const struct index_expr *x,
                                   int64_t by); /* floor, by > 0 */
const struct index_expr *index_mod(struct arena *a, const struct index_expr *x,
                                   int64_t by); /* in [0, by), by > 0 */
/* The smaller, the larger of x and a constant; x or the constant itself where the ranges of the variables
 * prove it. */
const struct index_expr *index_min(struct arena *a, const struct index_expr *x, int64_t c);
const struct index_expr *index_max(struct arena *a, const struct index_expr *x, int64_t c);
/* The greatest common divisor, not negative; of 0 and 0 it is 0. */
int64_t index_gcd(int64_t a, int64_t b);
/* The smallest and the largest value that x can have by the ranges of its variables; x may have neither. */
int64_t index_least(const struct index_expr *x);
int64_t index_most(const struct index_expr *x);
/* Replaces variable v by replacement[v] (NULL: keeps it) and simplifies again. n: length of replacement[].
 * The replacement must stay in the range of v: simplification has relied on it. */
const struct index_expr *index_substitute(struct arena *a, const struct index_expr *x,
                                          const struct index_expr *const *replacement, uint32_t n);
/* Whether 32-bit arithmetic computes the text of x: every sum, product and dividend on the way stays in
 * range. */
bool index_fits_int(const struct index_expr *x);
int64_t index_eval(const struct index_expr *x, const int64_t *var_values);
/* Coefficient of variable v if x is affine in v (v inside no atom but itself); 0 if absent; *affine says
 * which.
 */
int64_t index_stride(const struct index_expr *x, uint32_t v, int *affine);
/* Whether v occurs anywhere in x. */
bool index_mentions(const struct index_expr *x, uint32_t v);
/* Largest |coefficient| of a term that v occurs in; 0 if none: orders variables by how far they reach. */
int64_t index_significance(const struct index_expr *x, uint32_t v);
/* Structural order; 0 iff equal. */
int index_compare(const struct index_expr *x, const struct index_expr *y);
/* C text; names[v] is the text of variable v. Never needs outer parentheses inside [] or as an argument. */
void index_print(const struct index_expr *x, const char *const *names, struct strbuf *out);

#endif
