/* Dimensions that are rounded up: 13 elements in tiles of 4 x 4. Random implementations go through the
 * interpreter of the loop program, which finds every access out of bounds, every element that is written
 * twice or never, and every register that is read before it is set; some run on the device. Each dimension
 * that may be rounded up is. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "core/codegen/codegen.h"
#include "gpu.space.h"
#include "tests/e2e/fixture.h"

#define VECTOR "size N\ninput x: [float]N\n"
#define ROWS "size M, N\ninput A: [[float]N]M\n"

struct remainder_case {
    const char *name, *sizes, *text; /* text NULL: a shipped kernel */
};

static struct problem *remainder_problem_at(const struct remainder_case *c, const struct bb_options *o)
{
    const struct kernel_case shipped = {c->name, c->sizes};
    if (!c->text) return e2e_problem(&shipped, &kernel_device, o);
    struct bb_options options = kernel_options(&kernel_device, o);
    struct diag *d = diag_new();
    struct problem *p = problem_new(c->name, c->text, c->sizes, &kernel_device, &options, d);
    cr_assert_not_null(p, "%s: %s", c->name, diag_count(d) ? diag_message(d, 0) : "");
    diag_free(d);
    return p;
}

static struct problem *remainder_problem(const struct remainder_case *c)
{
    return remainder_problem_at(c, NULL);
}

/* Decides that every dimension is rounded up as far as it may be; returns how many are. */
static unsigned round_all(struct space_state *st, const struct backbone *bb)
{
    unsigned n = 0;
    for (uint32_t l = 0; l < bb->n_logicals; l++) {
        const struct bb_logical *logical = &bb->logicals[l];
        if (!bb_has_span(bb, l)) continue;
        int64_t span = logical->spans[logical->n_spans - 1];
        cr_assert(space_apply(st, gpu_act_span(space_of(st), l, span), NULL), "%s", logical->name);
        n++;
    }
    return n;
}

static void check_random(const struct remainder_case *c, unsigned descents, unsigned rounded)
{
    struct e2e_fixture f;
    e2e_open(&f, remainder_problem(c));
    struct space_state *st = kernel_root(f.problem->space);
    unsigned leaves = 0;
    cr_assert_eq(round_all(st, f.problem->backbone), rounded, "%s %s", c->name, c->sizes);
    space_mark root = space_snapshot(st);
    struct pcg32 rng = pcg32_seed(1, 1);
    for (unsigned i = 0; i < descents; i++) {
        char what[64];
        snprintf(what, sizeof what, "%s %s, seed 1, descent %u", c->name, c->sizes, i);
        if (kernel_descend(st, &rng)) {
            e2e_check(&f, st, what, NULL);
            leaves++;
        }
        space_rollback(st, root);
    }
    cr_assert_gt(leaves, descents / 2, "%s: %u leaves of %u descents", c->name, leaves, descents);
    space_state_free(st);
    e2e_close(&f);
}

Test(remainders, of_one_dimension)
{
    check_random(&(struct remainder_case){"axpy", "N=13", NULL}, 150, 1);
    check_random(&(struct remainder_case){"axpy", "N=37", NULL}, 100, 1);
    check_random(&(struct remainder_case){"axpy", "N=26", NULL}, 100, 1);
}

Test(remainders, of_matrix_products)
{
    check_random(&(struct remainder_case){"matmul", "M=13,N=11,K=7", NULL}, 60, 1);
    check_random(&(struct remainder_case){"matmul", "M=4,N=13,K=8", NULL}, 60, 1);
    check_random(&(struct remainder_case){"matmul", "M=4,N=4,K=15", NULL}, 60, 1);
    check_random(&(struct remainder_case){"matmul", "M=13,N=14,K=15", NULL}, 60, 3);
    check_random(&(struct remainder_case){"matmul_strided", "M=4,N=13,K=14", NULL}, 40, 2);
}

Test(remainders, of_other_kernels)
{
    check_random(&(struct remainder_case){"gemv", "M=13,N=19", NULL}, 80, 2);
    check_random(&(struct remainder_case){"gesummv", "M=3,N=13", NULL}, 40, 2);
    check_random(&(struct remainder_case){"transpose", "M=13,N=17", NULL}, 80, 2);
    check_random(&(struct remainder_case){"batched_matmul", "P=13,M=2,N=2,K=13", NULL}, 40, 2);
}

/* Windows and paddings, arrays that are updated in place, reductions to tuples and inside reductions. */
Test(remainders, of_programs_of_all_kinds)
{
    check_random(&(struct remainder_case){"gemm", "M=3,N=13,K=14", NULL}, 8, 2);
    check_random(&(struct remainder_case){"saxpy", "N=13", NULL}, 40, 1);
    check_random(&(struct remainder_case){"stencil_5point", "H=13,W=14", NULL}, 8, 2);
    check_random(&(struct remainder_case){"convolution", "B=1,O=2,C=2,H=3,W=13", NULL}, 4, 1);
    check_random(&(struct remainder_case){"nearest", "N=3,M=13,D=2", NULL}, 6, 1);
    check_random(&(struct remainder_case){"int_dot", "M=13,N=14", NULL}, 40, 2);
    check_random(&(struct remainder_case){"moments", "M=2,N=13",
                                          ROWS "let moments = map(fun r -> reduce(fun (s, q) x -> "
                                               "(s + x, q + x * x), (0.0, 0.0), r), A)\n"
                                               "output map(fun (s, q) -> q - s, moments)\n"},
                 20, 1);
}

/* Steps that no 0 makes neutral are guarded: a maximum of negative numbers is not 0, a product of others not
 * 0. */
Test(remainders, of_reductions_that_zero_would_change)
{
    static const struct remainder_case cases[] = {
        {"maxima", "M=3,N=13",
         ROWS "output map(fun r -> reduce(max, -100.0, map(fun v -> v - 50.0, r)), A)\n"},
        {"products", "M=2,N=13", ROWS "output map(fun r -> reduce(mult, 1.0, r), A)\n"},
        {"shifted_sums", "M=3,N=14",
         ROWS "output map(fun r -> reduce(add, 0.0, map(fun v -> v + 1.0, r)), A)\n"},
        {"differences", "N=13", VECTOR "output reduce(fun a v -> a - v, 1.0, x)\n"},
        {"integer_sums", "M=3,N=13",
         "size M, N\ninput A: [[int]N]M\noutput map(fun r -> reduce(add, 7, r), A)\n"},
        {"tails", "N=14", VECTOR "output map(fun (a, b) -> a - b, zip(tail(x), tail(x)))\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_random(&cases[i], 50, 1);
}

/* ---- all implementations ---- */

/* Depth first over all values of all choices; returns the number of leaves. */
static unsigned visit(struct e2e_fixture *f, struct space_state *st)
{
    uint32_t slot = space_next_choice(st, NULL, 0);
    unsigned leaves = 0;
    if (slot == UINT32_MAX) {
        e2e_check(f, st, "a leaf", NULL);
        return 1;
    }
    for (uint32_t v = 0; v < space_universe(space_of(st), slot); v++) {
        space_mark mark = space_snapshot(st);
        if (space_has_value(st, slot, v) && space_apply(st, (struct space_action){slot, v}, NULL))
            leaves += visit(f, st);
        space_rollback(st, mark);
    }
    return leaves;
}

static void check_all(const struct remainder_case *c, unsigned levels, bool staging)
{
    const struct bb_options options = {.parallel_levels = levels,
                                       .reduction_levels = levels,
                                       .copy_levels = 1,
                                       .no_staging = !staging,
                                       .round_from = 7};
    struct e2e_fixture f;
    e2e_open(&f, remainder_problem_at(c, &options));
    struct space_state *st = kernel_root(f.problem->space);
    cr_assert_eq(round_all(st, f.problem->backbone), 1);
    unsigned leaves = visit(&f, st);
    cr_expect(leaves > 20 && leaves < 2000, "%s: %u leaves", c->name, leaves);
    fprintf(stderr, "%s: %u leaves\n", c->name, leaves);
    space_state_free(st);
    e2e_close(&f);
}

Test(remainders, all_implementations_of_small_programs)
{
    check_all(&(struct remainder_case){"map", "N=7", VECTOR "output map(fun v -> v + 2.0, x)\n"}, 2, false);
    check_all(&(struct remainder_case){"sum", "N=7", VECTOR "output reduce(add, 0.0, x)\n"}, 2, true);
    check_all(&(struct remainder_case){"maximum", "N=7", VECTOR "output reduce(max, -9.0, x)\n"}, 3, false);
}

/* ---- the text ---- */

enum { MOST_PINS = 8, MOST_PARTS = 4 };

struct text_case {
    const char *kernel, *sizes;
    const char *pins[MOST_PINS], *parts[MOST_PARTS]; /* NULL-terminated */
};

static const struct text_case text_cases[] = {
    /* registers: the first of four is within the extent, the others are guarded */
    {"axpy",
     "N=13",
     {"span(n)=16", "size(n.0)=4", "size(n.1)=4", "staged(*)=NO", "dim_kind(*.n.0)=GLOBAL",
      "dim_kind(*.n.1)=UNROLL"},
     {"x[n0 * 4]", "x[min(n0 * 4 + 1, 12)]", "if (n0 * 4 + 3 < 13) out[n0 * 4 + 3] ="}},
    /* vectors: whole ones, and the lanes of the last one */
    {"axpy",
     "N=14",
     {"span(n)=16", "size(n.0)=4", "size(n.1)=4", "staged(*)=NO", "dim_kind(*.n.0)=GLOBAL",
      "dim_kind(*.n.1)=VECTOR"},
     {"if (n0 * 4 + 3 < 14) x_load = *(const __global float4 *)&x[n0 * 4];",
      "else x_load = (float4)(x[n0 * 4], x[n0 * 4 + 1], x[min(n0 * 4 + 2, 13)], x[min(n0 * 4 + 3, 13)]);",
      "        if (n0 * 4 + 3 < 14) out[n0 * 4 + 3] ="}},
    /* threads and loops: what is inside needs no guard */
    {"axpy",
     "N=13",
     {"span(n)=16", "size(n.0)=2", "size(n.1)=8", "staged(*)=NO", "dim_kind(*.n.0)=BLOCK",
      "dim_kind(*.n.1)=THREAD"},
     {"if (n0 * 8 + n1 < 13) {", "    out[n0 * 8 + "}},
    {"gemv",
     "M=4,N=13",
     {"span(*)=16", "size(n.0)=4", "size(n.1)=4", "staged(*)=NO", "dim_kind(*.n.*)=LOOP"},
     {"n1 < min(13 - n0 * 4, 4); ++n1) {", "[n0 * 4 + n1]"}},
    /* a step that 0 makes neutral, unrolled */
    {"gemv",
     "M=4,N=13",
     {"span(*)=16", "size(n.0)=4", "size(n.1)=4", "staged(*)=NO", "dim_kind(*.n.0)=LOOP",
      "dim_kind(*.n.1)=UNROLL"},
     {"n0 * 4 + 3 < 13 ? ", " : 0.0f;"}},
};

static void expect_text(const struct text_case *c)
{
    struct diag *d = diag_new();
    struct e2e_fixture f;
    struct cg_kernel k;
    unsigned n_pins = 0;
    while (c->pins[n_pins])
        n_pins++;
    e2e_open(&f, remainder_problem(&(struct remainder_case){c->kernel, c->sizes, NULL}));
    struct space_state *st = space_pinned_root(f.problem->space, c->pins, n_pins, d);
    cr_assert_not_null(st, "%s", diag_count(d) ? diag_message(d, 0) : "");
    struct pcg32 rng = pcg32_seed(3, 3);
    space_mark root = space_snapshot(st);
    while (!kernel_descend(st, &rng))
        space_rollback(st, root);
    e2e_check(&f, st, c->kernel, &k);
    for (size_t i = 0; i < MOST_PARTS && c->parts[i]; i++)
        cr_expect(strstr(k.source, c->parts[i]), "no \"%s\" in\n%s", c->parts[i], k.source);
    cg_kernel_free(&k);
    space_state_free(st);
    diag_free(d);
    e2e_close(&f);
}

Test(remainders, text_has_guards_where_they_are_needed)
{
    for (size_t i = 0; i < sizeof text_cases / sizeof *text_cases; i++)
        expect_text(&text_cases[i]);
}
