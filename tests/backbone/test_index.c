/* Index expressions: the identities that must be met, and random expressions against their plain evaluation.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "core/backbone/index.h"
#include "core/base/arena.h"
#include "core/base/pcg32.h"
#include "core/base/strbuf.h"
#include "tests/fixture/longer.h"

enum { INDEX_TEST_VARS = 3 };
static const int64_t index_test_extents[INDEX_TEST_VARS] = {8, 5, 12};
static const char *const index_test_names[INDEX_TEST_VARS] = {"i", "j", "k"};

static const struct index_expr *test_var(struct arena *a, uint32_t v)
{
    return index_var(a, v, index_test_extents[v]);
}

static void expect_index_text(const struct index_expr *x, const char *want)
{
    struct strbuf b = {0};
    index_print(x, index_test_names, &b);
    char *text = strbuf_take(&b);
    cr_expect_str_eq(text, want, "got %s, want %s", text, want);
    free(text);
}

Test(backbone_index, identities)
{
    struct arena *a = arena_new();
    const struct index_expr *i = test_var(a, 0), *j = test_var(a, 1), *k = test_var(a, 2);
    const struct index_expr *ij = index_add(a, index_scale(a, i, 5), j); /* join */
    expect_index_text(index_div(a, ij, 5), "i");
    expect_index_text(index_mod(a, ij, 5), "j");
    expect_index_text(index_mod(a, ij, 10), "j + i % 2 * 5");
    expect_index_text(index_div(a, ij, 10), "i / 2");
    const struct index_expr *q = index_div(a, k, 4), *r = index_mod(a, k, 4);
    expect_index_text(index_add(a, index_scale(a, q, 4), r), "k");
    expect_index_text(index_div(a, index_div(a, k, 2), 3), "k / 6");
    expect_index_text(index_mod(a, index_mod(a, k, 6), 2), "k % 2");
    expect_index_text(index_div(a, index_mod(a, k, 4), 2), "k / 2 % 2");
    const struct index_expr *middle = index_mod(a, index_div(a, k, 2), 3);
    expect_index_text(index_add(a, index_scale(a, middle, 2), index_mod(a, k, 2)), "k % 6");
    expect_index_text(index_add(a, i, index_scale(a, i, -1)), "0");
    arena_free(a);
}

/* (i + j) / 5 is not i / 5 + j / 5, and (i + j) % 5 is not i + j % 5. */
Test(backbone_index, nothing_unsound)
{
    struct arena *a = arena_new();
    const struct index_expr *x = index_add(a, test_var(a, 0), test_var(a, 1));
    expect_index_text(index_div(a, x, 5), "(i + j) / 5");
    expect_index_text(index_mod(a, x, 5), "(i + j) % 5");
    expect_index_text(index_div(a, index_add(a, x, index_constant(a, -1)), 5), "(i + j + 4) / 5 - 1");
    arena_free(a);
}

Test(backbone_index, minimum_and_maximum)
{
    struct arena *a = arena_new();
    const struct index_expr *i = test_var(a, 0),
                            *x = index_add(a, index_scale(a, i, 4), index_constant(a, 3));
    expect_index_text(index_min(a, x, 20), "min(i * 4 + 3, 20)");
    expect_index_text(index_scale(a, index_max(a, index_add(a, i, index_constant(a, -2)), 0), 5),
                      "max(i - 2, 0) * 5");
    expect_index_text(index_min(a, x, 31), "i * 4 + 3");
    expect_index_text(index_min(a, x, 3), "3");
    expect_index_text(index_max(a, x, 3), "i * 4 + 3");
    expect_index_text(index_div(a, index_min(a, x, 7), 8), "0");
    const struct index_expr *big = index_scale(a, index_min(a, x, 20), INT64_C(1) << 30);
    expect_index_text(big, "min(i * 4 + 3, 20L) * 1073741824");
    const struct index_expr *below = index_add(a, i, index_constant(a, -2));
    expect_index_text(index_min(a, index_max(a, below, 0), 4), "min(max(i - 2, 0), 4)");
    expect_index_text(index_min(a, index_min(a, x, 20), 9), "min(i * 4 + 3, 9)");
    expect_index_text(index_min(a, below, 3), "min(i, 5) - 2");
    expect_index_text(index_max(a, below, -1), "max(i - 1, 0) - 1");
    arena_free(a);
}

Test(backbone_index, strides)
{
    struct arena *a = arena_new();
    const struct index_expr *k = test_var(a, 2);
    const struct index_expr *x = index_add(a, index_scale(a, test_var(a, 0), 60), index_div(a, k, 4));
    int affine;
    cr_expect_eq(index_stride(x, 0, &affine), 60);
    cr_expect(affine);
    cr_expect_eq(index_stride(x, 1, &affine), 0);
    cr_expect(affine);
    cr_expect_eq(index_stride(x, 2, &affine), 0);
    cr_expect_not(affine);
    cr_expect(index_mentions(x, 2));
    cr_expect_not(index_mentions(x, 1));
    cr_expect_eq(index_var(a, 0, 1)->n_terms, 0);
    arena_free(a);
}

/* ---- random expressions ---- */

enum { INDEX_TEST_POINTS = 24 };

/* An expression and what it must be at each sample point. */
struct index_sample {
    const struct index_expr *expr;
    int64_t value[INDEX_TEST_POINTS];
};

struct index_points {
    int64_t at[INDEX_TEST_POINTS][INDEX_TEST_VARS];
};

static int64_t floor_quotient(int64_t x, int64_t by)
{
    return x >= 0 ? x / by : -((-x + by - 1) / by);
}

static struct index_sample random_leaf(struct arena *a, struct pcg32 *rng, const struct index_points *p)
{
    struct index_sample s;
    uint32_t v = pcg32_below(rng, INDEX_TEST_VARS + 1);
    int64_t c = (int64_t)pcg32_below(rng, 41) - 20;
    s.expr = v < INDEX_TEST_VARS ? test_var(a, v) : index_constant(a, c);
    for (int i = 0; i < INDEX_TEST_POINTS; i++)
        s.value[i] = v < INDEX_TEST_VARS ? p->at[i][v] : c;
    return s;
}

static struct index_sample random_index(struct arena *a, struct pcg32 *rng, const struct index_points *p,
                                        int depth)
{
    if (depth == 0 || pcg32_below(rng, 8) == 0) return random_leaf(a, rng, p);
    struct index_sample x = random_index(a, rng, p, depth - 1), s = x;
    uint32_t op = pcg32_below(rng, 7);
    int64_t by = 1 + (int64_t)pcg32_below(rng, 12);
    if (op == 0) {
        s.expr = index_div(a, x.expr, by);
        for (int i = 0; i < INDEX_TEST_POINTS; i++)
            s.value[i] = floor_quotient(x.value[i], by);
    } else if (op == 1) {
        s.expr = index_mod(a, x.expr, by);
        for (int i = 0; i < INDEX_TEST_POINTS; i++)
            s.value[i] = x.value[i] - by * floor_quotient(x.value[i], by);
    } else if (op == 2) {
        by -= 4;
        s.expr = index_scale(a, x.expr, by);
        for (int i = 0; i < INDEX_TEST_POINTS; i++)
            s.value[i] = x.value[i] * by;
    } else if (op < 5) {
        int64_t c = (int64_t)pcg32_below(rng, 41) - 20;
        s.expr = op == 3 ? index_min(a, x.expr, c) : index_max(a, x.expr, c);
        for (int i = 0; i < INDEX_TEST_POINTS; i++)
            s.value[i] = (x.value[i] < c) == (op == 3) ? x.value[i] : c;
    } else {
        struct index_sample y = random_index(a, rng, p, depth - 1);
        s.expr = index_add(a, x.expr, y.expr);
        for (int i = 0; i < INDEX_TEST_POINTS; i++)
            s.value[i] = x.value[i] + y.value[i];
    }
    return s;
}

static void random_points(struct pcg32 *rng, struct index_points *p)
{
    for (int i = 0; i < INDEX_TEST_POINTS; i++)
        for (int v = 0; v < INDEX_TEST_VARS; v++)
            p->at[i][v] = (int64_t)pcg32_below(rng, (uint32_t)index_test_extents[v]);
}

/* No dividend is negative at a point: what lets C's truncating operators compute them. */
static bool nonnegative_dividends(const struct index_expr *x, const int64_t *at)
{
    for (unsigned i = 0; i < x->n_terms; i++) {
        const struct index_atom *t = &x->terms[i].atom;
        bool divides = t->kind == INDEX_DIV || t->kind == INDEX_MOD;
        if (divides && index_eval(t->of, at) < 0) return false;
        if (t->kind != INDEX_VAR && !nonnegative_dividends(t->of, at)) return false;
    }
    return true;
}

Test(backbone_index, simplified_equals_plain)
{
    struct pcg32 rng = pcg32_seed(7, 1);
    struct index_points p;
    unsigned expressions = longer(10000, 1000000);
    for (unsigned n = 0; n < expressions; n++) {
        struct arena *a = arena_new();
        random_points(&rng, &p);
        struct index_sample s = random_index(a, &rng, &p, 6);
        for (int i = 0; i < INDEX_TEST_POINTS; i++) {
            int64_t got = index_eval(s.expr, p.at[i]);
            cr_assert(index_least(s.expr) <= got && got <= index_most(s.expr), "expression %u", n);
            cr_assert_eq(got, s.value[i], "expression %u: got %ld, want %ld", n, (long)got, (long)s.value[i]);
            cr_assert(nonnegative_dividends(s.expr, p.at[i]), "expression %u", n);
        }
        arena_free(a);
    }
}

Test(backbone_index, minimum_and_maximum_of_random_expressions)
{
    struct pcg32 rng = pcg32_seed(9, 1);
    struct index_points p;
    for (int n = 0; n < 2000; n++) {
        struct arena *a = arena_new();
        random_points(&rng, &p);
        struct index_sample s = random_index(a, &rng, &p, 4), y = random_index(a, &rng, &p, 2);
        int64_t c = (int64_t)pcg32_below(&rng, 41) - 20;
        const struct index_expr *least = index_add(a, index_scale(a, index_min(a, s.expr, c), 3), y.expr);
        const struct index_expr *most = index_div(a, index_max(a, least, c), 4);
        for (int i = 0; i < INDEX_TEST_POINTS; i++) {
            int64_t want = 3 * (s.value[i] < c ? s.value[i] : c) + y.value[i];
            cr_assert_eq(index_eval(least, p.at[i]), want);
            cr_assert_leq(want, index_most(least));
            cr_assert_eq(index_eval(most, p.at[i]), floor_quotient(want > c ? want : c, 4));
        }
        arena_free(a);
    }
}

Test(backbone_index, substitution_equals_evaluation)
{
    struct pcg32 rng = pcg32_seed(8, 1);
    struct index_points p;
    for (int n = 0; n < 2000; n++) {
        struct arena *a = arena_new();
        random_points(&rng, &p);
        struct index_sample s = random_index(a, &rng, &p, 4), by = random_index(a, &rng, &p, 3);
        const struct index_expr *const replacement[2] = {NULL, by.expr};
        const struct index_expr *got = index_substitute(a, s.expr, replacement, 2);
        for (int i = 0; i < INDEX_TEST_POINTS; i++) {
            int64_t at[INDEX_TEST_VARS] = {p.at[i][0], by.value[i], p.at[i][2]};
            if (by.value[i] >= 0 && by.value[i] < index_test_extents[1]) /* what simplification relied on */
                cr_assert_eq(index_eval(got, p.at[i]), index_eval(s.expr, at));
        }
        arena_free(a);
    }
}
