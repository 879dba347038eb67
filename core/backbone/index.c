/* Canonical index expressions.
 *
 * Every expression is built through normalize(): terms sorted and distinct, and a division with its modulo
 * recombined. Division and modulo first split each coefficient c = q*d + r with 0 <= r < d, which is exact
 * for floor division and any sign; so the dividend of every division has nonnegative coefficients and
 * constant, and, where no minimum or maximum of something negative is in it, every atom is nonnegative by
 * induction: C's truncating operators compute it. What is left is simplified by these rules, each with its
 * reason where it is applied:
 *
 *     (g*a + r) / (g*e) = a / e                    for 0 <= r < g
 *     (g*a + r) % (g*e) = g*(a % e) + r            for 0 <= r < g
 *     (x / a) / b = x / (a*b)
 *     (x % (a*b)) / b = (x / b) % a
 *     c*(x % a) % b = c*x % b                      if b divides c*a
 *     c*d*(x / d) + c*(x % d) = c*x
 *     c*d*((x / d) % k) + c*(x % d) = c*(x % (d*k))
 *     min(x, c) = min(x - m, c - m) + m            m < 0 the least that x can be; max alike
 *     min(min(x, b), c) = min(x, min(b, c)) */
#include "core/backbone/index.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/base/strbuf.h"

static int64_t floor_div(int64_t x, int64_t by)
{
    int64_t q = x / by;
    return x % by < 0 ? q - 1 : q;
}

static int64_t floor_mod(int64_t x, int64_t by)
{
    int64_t r = x % by;
    return r < 0 ? r + by : r;
}

int64_t index_gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a < 0 ? -a : a;
}

static int compare_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* ---- order and equality ---- */

static int compare_atoms(const struct index_atom *x, const struct index_atom *y)
{
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->kind == INDEX_VAR) return compare_i64(x->var, y->var);
    int by = compare_i64(x->by, y->by);
    return by ? by : index_compare(x->of, y->of);
}

int index_compare(const struct index_expr *x, const struct index_expr *y)
{
    if (x->n_terms != y->n_terms) return x->n_terms < y->n_terms ? -1 : 1;
    for (unsigned i = 0; i < x->n_terms; i++) {
        int c = compare_atoms(&x->terms[i].atom, &y->terms[i].atom);
        if (!c) c = compare_i64(x->terms[i].coefficient, y->terms[i].coefficient);
        if (c) return c;
    }
    return compare_i64(x->constant, y->constant);
}

static int compare_terms(const void *x, const void *y)
{
    const struct index_term *a = x, *b = y;
    return compare_atoms(&a->atom, &b->atom);
}

/* ---- building ---- */

static const struct index_expr *make(struct arena *a, int64_t constant, const struct index_term *terms,
                                     unsigned n)
{
    struct index_expr *e = ARENA_NEW(a, struct index_expr);
    *e = (struct index_expr){constant, n, terms};
    return e;
}

static const struct index_expr *single(struct arena *a, struct index_atom atom)
{
    struct index_term *t = ARENA_NEW(a, struct index_term);
    *t = (struct index_term){atom, 1};
    return make(a, 0, t, 1);
}

/* Sorts terms[] in place, adds equal atoms and drops zeros. Returns the new number. */
static unsigned collect(struct index_term *terms, unsigned n)
{
    unsigned out = 0;
    if (n) qsort(terms, n, sizeof *terms, compare_terms);
    for (unsigned i = 0; i < n; i++) {
        if (out && !compare_atoms(&terms[out - 1].atom, &terms[i].atom))
            terms[out - 1].coefficient += terms[i].coefficient;
        else
            terms[out++] = terms[i];
        if (!terms[out - 1].coefficient) out--;
    }
    return out;
}

/* If high = c*d*(x / d), or c*d*((x / d) % k), and low = c*(x % d): the sum of both, otherwise NULL. */
static const struct index_expr *recombine(struct arena *a, const struct index_term *high,
                                          const struct index_term *low)
{
    const struct index_atom *h = &high->atom, *l = &low->atom;
    bool pair = l->kind == INDEX_MOD && (h->kind == INDEX_DIV || h->kind == INDEX_MOD);
    if (!pair || high->coefficient != low->coefficient * l->by) return NULL;
    if (h->kind == INDEX_DIV)
        return h->by == l->by && !index_compare(h->of, l->of) ? index_scale(a, l->of, low->coefficient)
                                                              : NULL;
    if (h->of->n_terms != 1 || h->of->constant || h->of->terms[0].coefficient != 1) return NULL;
    const struct index_atom *in = &h->of->terms[0].atom;
    if (in->kind != INDEX_DIV || in->by != l->by || index_compare(in->of, l->of) || h->by > INT64_MAX / l->by)
        return NULL;
    return index_scale(a, index_mod(a, l->of, l->by * h->by), low->coefficient);
}

/* Makes the canonical expression of an unordered sum; owns terms[]. */
static const struct index_expr *normalize(struct arena *a, int64_t constant, struct index_term *terms,
                                          unsigned n)
{
    n = collect(terms, n);
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++) {
            const struct index_expr *sum = i == j ? NULL : recombine(a, &terms[i], &terms[j]);
            if (!sum) continue;
            unsigned left = 0;
            for (unsigned t = 0; t < n; t++)
                if (t != i && t != j) terms[left++] = terms[t];
            return index_add(a, make(a, constant, terms, left), sum);
        }
    return make(a, constant, terms, n);
}

const struct index_expr *index_constant(struct arena *a, int64_t c)
{
    return make(a, c, NULL, 0);
}

const struct index_expr *index_var(struct arena *a, uint32_t var, int64_t extent)
{
    CHECK(extent > 0);
    if (extent == 1) return index_constant(a, 0);
    return single(a, (struct index_atom){.kind = INDEX_VAR, .var = var, .extent = extent});
}

const struct index_expr *index_add(struct arena *a, const struct index_expr *x, const struct index_expr *y)
{
    unsigned n = x->n_terms + y->n_terms;
    struct index_term *terms = ARENA_ARRAY(a, struct index_term, n + 1);
    for (unsigned i = 0; i < n; i++)
        terms[i] = i < x->n_terms ? x->terms[i] : y->terms[i - x->n_terms];
    return normalize(a, x->constant + y->constant, terms, n);
}

const struct index_expr *index_shift(struct arena *a, const struct index_expr *x, int64_t by)
{
    return make(a, x->constant + by, x->terms, x->n_terms);
}

const struct index_expr *index_scale(struct arena *a, const struct index_expr *x, int64_t by)
{
    if (by == 0) return index_constant(a, 0);
    struct index_term *terms = ARENA_ARRAY(a, struct index_term, x->n_terms + 1);
    for (unsigned i = 0; i < x->n_terms; i++)
        terms[i] = (struct index_term){x->terms[i].atom, x->terms[i].coefficient * by};
    return make(a, x->constant * by, terms, x->n_terms);
}

/* ---- ranges, minimum and maximum ---- */

struct range {
    int64_t min, max; /* inclusive */
};

static struct range range_of(const struct index_expr *x);

static int64_t smaller(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

static int64_t larger(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

static struct range atom_range(const struct index_atom *t)
{
    if (t->kind == INDEX_VAR) return (struct range){0, t->extent - 1};
    struct range of = range_of(t->of);
    if (t->kind == INDEX_MIN) return (struct range){smaller(of.min, t->by), smaller(of.max, t->by)};
    if (t->kind == INDEX_MAX) return (struct range){larger(of.min, t->by), larger(of.max, t->by)};
    struct range q = {floor_div(of.min, t->by), floor_div(of.max, t->by)};
    if (t->kind == INDEX_DIV) return q;
    if (q.min == q.max) return (struct range){of.min - q.min * t->by, of.max - q.min * t->by};
    return (struct range){0, t->by - 1};
}

static struct range range_of(const struct index_expr *x)
{
    struct range sum = {x->constant, x->constant};
    for (unsigned i = 0; i < x->n_terms; i++) {
        int64_t c = x->terms[i].coefficient;
        struct range t = atom_range(&x->terms[i].atom);
        sum.min += c * (c > 0 ? t.min : t.max);
        sum.max += c * (c > 0 ? t.max : t.min);
    }
    return sum;
}

bool index_fits_int(const struct index_expr *x)
{
    int64_t most = x->constant > 0 ? x->constant : 0, least = x->constant < 0 ? x->constant : 0;
    for (unsigned i = 0; i < x->n_terms; i++) {
        const struct index_atom *atom = &x->terms[i].atom;
        int64_t c = x->terms[i].coefficient;
        struct range r = atom_range(atom);
        most += larger(0, larger(c * r.min, c * r.max));
        least += smaller(0, smaller(c * r.min, c * r.max));
        if (atom->kind != INDEX_VAR && !index_fits_int(atom->of)) return false;
    }
    return most <= INT32_MAX && least >= -INT32_MAX;
}

int64_t index_least(const struct index_expr *x)
{
    return range_of(x).min;
}

int64_t index_most(const struct index_expr *x)
{
    return range_of(x).max;
}

/* The atom of an expression that is nothing but one atom; NULL otherwise. */
static const struct index_atom *sole_atom(const struct index_expr *x)
{
    return x->n_terms == 1 && x->constant == 0 && x->terms[0].coefficient == 1 ? &x->terms[0].atom : NULL;
}

const struct index_expr *index_min(struct arena *a, const struct index_expr *x, int64_t c)
{
    struct range r = range_of(x);
    if (r.max <= c) return x;
    if (r.min >= c) return index_constant(a, c);
    if (r.min < 0) return index_shift(a, index_min(a, index_shift(a, x, -r.min), c - r.min), r.min);
    const struct index_atom *in = sole_atom(x);
    if (in && in->kind == INDEX_MIN) return index_min(a, in->of, smaller(in->by, c));
    return single(a, (struct index_atom){.kind = INDEX_MIN, .of = x, .by = c});
}

const struct index_expr *index_max(struct arena *a, const struct index_expr *x, int64_t c)
{
    struct range r = range_of(x);
    if (r.min >= c) return x;
    if (r.max <= c) return index_constant(a, c);
    if (c < 0) return index_shift(a, index_max(a, index_shift(a, x, -c), 0), c);
    const struct index_atom *in = sole_atom(x);
    if (in && in->kind == INDEX_MAX) return index_max(a, in->of, larger(in->by, c));
    return single(a, (struct index_atom){.kind = INDEX_MAX, .of = x, .by = c});
}

/* ---- division and modulo ---- */

static const struct index_expr *divide_rest(struct arena *a, const struct index_expr *x, int64_t by);
static const struct index_expr *modulo_rest(struct arena *a, const struct index_expr *x, int64_t by);

/* x = by * quotient + rest, the coefficients of the rest in [0, by). */
static void split_multiples(struct arena *a, const struct index_expr *x, int64_t by,
                            const struct index_expr **quotient, const struct index_expr **rest)
{
    struct index_term *q = ARENA_ARRAY(a, struct index_term, x->n_terms + 1);
    struct index_term *r = ARENA_ARRAY(a, struct index_term, x->n_terms + 1);
    unsigned nq = 0, nr = 0;
    for (unsigned i = 0; i < x->n_terms; i++) {
        int64_t c = x->terms[i].coefficient;
        if (floor_div(c, by)) q[nq++] = (struct index_term){x->terms[i].atom, floor_div(c, by)};
        if (floor_mod(c, by)) r[nr++] = (struct index_term){x->terms[i].atom, floor_mod(c, by)};
    }
    *quotient = normalize(a, floor_div(x->constant, by), q, nq);
    *rest = normalize(a, floor_mod(x->constant, by), r, nr);
}

/* Finds g > 1 dividing `by` such that x = g * high + low with 0 <= low < g. 0 if there is none. */
static int64_t common_factor(struct arena *a, const struct index_expr *x, int64_t by,
                             const struct index_expr **high, const struct index_expr **low)
{
    for (unsigned i = 0; i < x->n_terms; i++) {
        int64_t g = index_gcd(by, x->terms[i].coefficient);
        if (g <= 1) continue;
        split_multiples(a, x, g, high, low);
        struct range r = range_of(*low);
        if (r.min >= 0 && r.max < g) return g;
    }
    return 0;
}

const struct index_expr *index_div(struct arena *a, const struct index_expr *x, int64_t by)
{
    CHECK(by > 0);
    struct range r = range_of(x);
    if (floor_div(r.min, by) == floor_div(r.max, by)) return index_constant(a, floor_div(r.min, by));
    const struct index_expr *quotient, *rest;
    split_multiples(a, x, by, &quotient, &rest);
    return index_add(a, quotient, divide_rest(a, rest, by));
}

/* x / by, the coefficients of x in [0, by). */
static const struct index_expr *divide_rest(struct arena *a, const struct index_expr *x, int64_t by)
{
    struct range r = range_of(x);
    if (floor_div(r.min, by) == floor_div(r.max, by)) return index_constant(a, floor_div(r.min, by));
    const struct index_expr *high, *low;
    int64_t g = common_factor(a, x, by, &high, &low);
    if (g) return index_div(a, high, by / g);
    const struct index_atom *atom = sole_atom(x);
    if (atom && atom->kind == INDEX_DIV && atom->by <= INT64_MAX / by)
        return index_div(a, atom->of, atom->by * by);
    if (atom && atom->kind == INDEX_MOD && atom->by % by == 0)
        return index_mod(a, index_div(a, atom->of, by), atom->by / by);
    return single(a, (struct index_atom){.kind = INDEX_DIV, .of = x, .by = by});
}

const struct index_expr *index_mod(struct arena *a, const struct index_expr *x, int64_t by)
{
    CHECK(by > 0);
    struct range r = range_of(x);
    int64_t q = floor_div(r.min, by);
    if (q == floor_div(r.max, by)) return index_shift(a, x, -q * by);
    const struct index_expr *quotient, *rest;
    split_multiples(a, x, by, &quotient, &rest);
    return modulo_rest(a, rest, by);
}

/* Replaces a term c*(y % e) of x by c*y where `by` divides c*e: equal modulo `by`. NULL if there is none. */
static const struct index_expr *drop_modulo(struct arena *a, const struct index_expr *x, int64_t by)
{
    for (unsigned i = 0; i < x->n_terms; i++) {
        const struct index_term *t = &x->terms[i];
        if (t->atom.kind != INDEX_MOD || t->atom.by % (by / index_gcd(by, t->coefficient))) continue;
        struct index_term *others = ARENA_ARRAY(a, struct index_term, x->n_terms);
        unsigned n = 0;
        for (unsigned j = 0; j < x->n_terms; j++)
            if (j != i) others[n++] = x->terms[j];
        return index_add(a, make(a, x->constant, others, n), index_scale(a, t->atom.of, t->coefficient));
    }
    return NULL;
}

/* x % by, the coefficients of x in [0, by). */
static const struct index_expr *modulo_rest(struct arena *a, const struct index_expr *x, int64_t by)
{
    struct range r = range_of(x);
    if (r.min >= 0 && r.max < by) return x;
    const struct index_expr *simpler = drop_modulo(a, x, by);
    if (simpler) return index_mod(a, simpler, by);
    const struct index_expr *high, *low;
    int64_t g = common_factor(a, x, by, &high, &low);
    if (g) return index_add(a, index_scale(a, index_mod(a, high, by / g), g), low);
    return single(a, (struct index_atom){.kind = INDEX_MOD, .of = x, .by = by});
}

/* ---- substitution, evaluation, strides ---- */

static const struct index_expr *substitute_atom(struct arena *a, const struct index_atom *t,
                                                const struct index_expr *const *replacement, uint32_t n)
{
    if (t->kind == INDEX_VAR) return t->var < n && replacement[t->var] ? replacement[t->var] : single(a, *t);
    const struct index_expr *of = index_substitute(a, t->of, replacement, n);
    if (t->kind == INDEX_DIV) return index_div(a, of, t->by);
    if (t->kind == INDEX_MOD) return index_mod(a, of, t->by);
    return t->kind == INDEX_MIN ? index_min(a, of, t->by) : index_max(a, of, t->by);
}

const struct index_expr *index_substitute(struct arena *a, const struct index_expr *x,
                                          const struct index_expr *const *replacement, uint32_t n)
{
    const struct index_expr *sum = index_constant(a, x->constant);
    for (unsigned i = 0; i < x->n_terms; i++) {
        const struct index_expr *t = substitute_atom(a, &x->terms[i].atom, replacement, n);
        sum = index_add(a, sum, index_scale(a, t, x->terms[i].coefficient));
    }
    return sum;
}

static int64_t eval_atom(const struct index_atom *t, const int64_t *var_values)
{
    if (t->kind == INDEX_VAR) return var_values[t->var];
    int64_t of = index_eval(t->of, var_values);
    if (t->kind == INDEX_DIV) return floor_div(of, t->by);
    if (t->kind == INDEX_MOD) return floor_mod(of, t->by);
    return t->kind == INDEX_MIN ? smaller(of, t->by) : larger(of, t->by);
}

int64_t index_eval(const struct index_expr *x, const int64_t *var_values)
{
    int64_t sum = x->constant;
    for (unsigned i = 0; i < x->n_terms; i++)
        sum += x->terms[i].coefficient * eval_atom(&x->terms[i].atom, var_values);
    return sum;
}

static bool atom_mentions(const struct index_atom *t, uint32_t v)
{
    return t->kind == INDEX_VAR ? t->var == v : index_mentions(t->of, v);
}

bool index_mentions(const struct index_expr *x, uint32_t v)
{
    for (unsigned i = 0; i < x->n_terms; i++)
        if (atom_mentions(&x->terms[i].atom, v)) return true;
    return false;
}

int64_t index_significance(const struct index_expr *x, uint32_t v)
{
    int64_t most = 0;
    for (unsigned i = 0; i < x->n_terms; i++) {
        int64_t c = x->terms[i].coefficient;
        if (atom_mentions(&x->terms[i].atom, v) && llabs(c) > most) most = llabs(c);
    }
    return most;
}

int64_t index_stride(const struct index_expr *x, uint32_t v, int *affine)
{
    int64_t stride = 0;
    *affine = 1;
    for (unsigned i = 0; i < x->n_terms; i++) {
        const struct index_term *t = &x->terms[i];
        if (t->atom.kind == INDEX_VAR && t->atom.var == v)
            stride = t->coefficient;
        else if (atom_mentions(&t->atom, v))
            *affine = 0;
    }
    return stride;
}

/* ---- text ---- */

static void print_sum(const struct index_expr *x, const char *const *names, bool wide, struct strbuf *out);

/* "min(i * 8 + 3, 20)": both of one type. */
static void print_bounded(const struct index_atom *t, const char *const *names, bool wide, struct strbuf *out)
{
    strbuf_add(out, t->kind == INDEX_MIN ? "min(" : "max(");
    print_sum(t->of, names, wide, out);
    strbuf_printf(out, ", %" PRId64 "%s)", t->by, wide ? "L" : "");
}

static void print_atom(const struct index_atom *t, const char *const *names, bool wide, struct strbuf *out)
{
    if (t->kind == INDEX_VAR) {
        strbuf_add(out, names[t->var]);
    } else if (t->kind == INDEX_MIN || t->kind == INDEX_MAX) {
        print_bounded(t, names, wide, out);
    } else {
        bool bare = sole_atom(t->of) != NULL;
        strbuf_add(out, bare ? "" : "(");
        print_sum(t->of, names, wide, out);
        strbuf_printf(out, "%s %c %" PRId64, bare ? "" : ")", t->kind == INDEX_DIV ? '/' : '%', t->by);
    }
}

/* Products are written atom first: C groups `x / 4 * 3` as (x / 4) * 3. A sum never starts with a minus sign,
 * which would bind to the dividend. */
static void print_sum(const struct index_expr *x, const char *const *names, bool wide, struct strbuf *out)
{
    bool constant_first = x->n_terms == 0 || x->terms[0].coefficient < 0;
    if (constant_first) strbuf_printf(out, "%" PRId64, x->constant);
    for (unsigned i = 0; i < x->n_terms; i++) {
        int64_t c = x->terms[i].coefficient;
        if (i || constant_first) strbuf_add(out, c < 0 ? " - " : " + ");
        print_atom(&x->terms[i].atom, names, wide, out);
        if (llabs(c) != 1) strbuf_printf(out, " * %" PRId64, (int64_t)llabs(c));
    }
    if (!constant_first && x->constant)
        strbuf_printf(out, " %c %" PRId64, x->constant < 0 ? '-' : '+', (int64_t)llabs(x->constant));
}

void index_print(const struct index_expr *x, const char *const *names, struct strbuf *out)
{
    print_sum(x, names, !index_fits_int(x), out);
}
