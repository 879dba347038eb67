/* Lowering: what programs become, as text, and the counts of the matrix product. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backbone/backbone.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"
#include "tests/backbone/text.h"

/* A text lowered, with what it needs to stay alive. */
struct lowered {
    struct arena *arena;
    struct diag *diag;
    struct source source;
    struct backbone *bb; /* NULL after errors */
};

static struct lowered lower_text(const char *text, const char *sizes, const struct bb_options *o)
{
    struct lowered l = {.arena = arena_new(), .diag = diag_new()};
    struct source *source = ARENA_NEW(l.arena, struct source);
    *source = (struct source){"test.lift", text, strlen(text)};
    struct lift_size_value *values = NULL;
    int n = lift_parse_sizes(sizes, &values, l.arena, l.diag);
    struct lift_program *p = lift_parse(source, l.arena, l.diag);
    if (p && n >= 0 && lift_bind(p, values, (unsigned)n, l.arena, l.diag))
        l.bb = bb_lower(p, o, l.arena, l.diag);
    return l;
}

static struct lowered must_lower(const char *text, const char *sizes, const struct bb_options *o)
{
    struct lowered l = lower_text(text, sizes, o);
    cr_assert(l.bb, "%s", diag_count(l.diag) ? diag_message(l.diag, 0) : "no error text");
    return l;
}

static void lowered_free(struct lowered *l)
{
    arena_free(l->arena);
    diag_free(l->diag);
}

static void expect_insts(const char *program, const char *sizes, const char *want)
{
    const struct bb_options plain = {.no_staging = true};
    struct lowered l = must_lower(program, sizes, &plain);
    char *text = backbone_text(l.bb);
    cr_expect_str_eq(text, want, "got:\n%s\nwant:\n%s", text, want);
    free(text);
    lowered_free(&l);
}

static const char *const matmul =
    "size M, N, K\n"
    "input A: [[float]K]M\n"
    "input B: [[float]N]K\n"
    "output map(fun row -> map(fun col -> reduce(add, 0.0, map(mult, zip(row, col))), transpose(B)), A)\n";

Test(backbone_lower, matmul_text)
{
    struct lowered l = must_lower(matmul, "M=4,N=6,K=5", NULL);
    char *text = backbone_text(l.bb);
    cr_expect_str_eq(text,
                     "load A.load [m k] float = A[m * 5 + k]\n"
                     "load B.load [k n] float = B[n + k * 6]\n"
                     "init init [m n] float = 0\n"
                     "step mad [m n k] float = fma(A.load, B.load, init)\n"
                     "store store [m n] float out[m * 6 + n] = mad\n"
                     "copy_load A.copy.load [A.copy.m A.copy.k] float = A[m * 5 + k]\n"
                     "copy_store A.copy.store [A.copy.m A.copy.k] float A.tile = A.copy.load\n"
                     "copy_load B.copy.load [B.copy.k B.copy.n] float = B[n + k * 6]\n"
                     "copy_store B.copy.store [B.copy.k B.copy.n] float B.tile = B.copy.load\n"
                     "9 instructions, 31 dimensions, 2 values that may be staged\n",
                     "got:\n%s", text);
    free(text);
    lowered_free(&l);
}

Test(backbone_lower, matmul_has_78_statements)
{
    const struct bb_options o = {.copy_levels = 4};
    struct lowered l = must_lower(matmul, "M=1024,N=1024,K=1024", &o);
    const struct backbone *bb = l.bb;
    cr_expect_eq(bb->n_insts, 9);
    cr_expect_eq(bb->n_dims, 69, "%u dimensions", bb->n_dims);
    cr_expect_eq(bb_statement_count(bb), 78);
    cr_expect_eq(bb->n_tiles, 11 + 14);
    cr_expect_eq(bb->tiles[0].n_sizes, 11);
    cr_expect_str_eq(bb->dims[bb->insts[3].first_dim + 2].name, "mad.m.2");
    cr_expect_str_eq(bb->dims[bb->insts[5].first_dim + 5].name, "A.copy.load.k.1");
    cr_expect_str_eq(bb->tiles[bb->dims[bb->insts[5].first_dim + 5].tile].name, "A.copy.k.1");
    lowered_free(&l);
}

/* Every cross reference of a backbone, from both sides. */
Test(backbone_lower, numbering_is_consistent)
{
    struct lowered l = must_lower(matmul, "M=64,N=32,K=16", NULL);
    const struct backbone *bb = l.bb;
    unsigned dims = 0;
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        cr_expect_eq(bb->insts[i].first_dim, dims);
        dims += bb->insts[i].n_dims;
        for (uint32_t d = bb->insts[i].first_dim; d < dims; d++)
            cr_expect_eq(bb->dims[d].inst, i);
        for (unsigned o = 0; o < bb->insts[i].n_operands; o++)
            cr_expect_lt(bb->insts[i].operands[o], i);
    }
    cr_expect_eq(dims, bb->n_dims);
    for (uint32_t t = 0; t < bb->n_tiles; t++) {
        const struct bb_logical *of = &bb->logicals[bb->tiles[t].logical];
        cr_expect_eq(of->first_tile + bb->tiles[t].level, t);
    }
    for (uint32_t v = 0; v < bb->n_values; v++) {
        cr_expect_eq(bb->insts[bb->values[v].load].value, v);
        cr_expect_eq(bb->insts[bb->values[v].copy_store].operands[0], bb->values[v].copy_load);
        cr_expect_eq(bb->regions[bb->values[v].region].value, v);
    }
    cr_expect_eq(bb->insts[3].partner, 2);
    cr_expect_eq(bb->insts[2].partner, 3);
    lowered_free(&l);
}

Test(backbone_lower, element_wise_chain_is_one_instruction)
{
    expect_insts("size N\ninput a: float\ninput x: [float]N\ninput y: [float]N\n"
                 "output map(fun (p, q) -> add(mult(a, p), q), zip(x, y))\n",
                 "N=8",
                 "load a.load [] float = a[0]\n"
                 "load x.load [n] float = x[n]\n"
                 "load y.load [n] float = y[n]\n"
                 "compute compute [n] float = add(mult(a.load, x.load), y.load)\n"
                 "store store [n] float out[n] = compute\n"
                 "5 instructions, 12 dimensions, 0 values that may be staged\n");
}

Test(backbone_lower, transpose_is_load_and_store)
{
    expect_insts("size M, N\ninput A: [[float]N]M\noutput transpose(A)\n", "M=4,N=7",
                 "load A.load [m n] float = A[n + m * 7]\n"
                 "store store [n m] float out[n * 4 + m] = A.load\n"
                 "2 instructions, 6 dimensions, 0 values that may be staged\n");
}

Test(backbone_lower, views_vanish)
{
    expect_insts(
        "size N\ninput x: [float]N\noutput join(map(fun c -> map(fun e -> neg(e), c), split(4, x)))\n",
        "N=32",
        "load x.load [n] float = x[n]\n"
        "compute compute [n] float = neg(x.load)\n"
        "store store [n] float out[n] = compute\n"
        "3 instructions, 12 dimensions, 0 values that may be staged\n");
}

Test(backbone_lower, let_reads_a_reduction_once)
{
    expect_insts("size N\ninput x: [float]N\n"
                 "output let s = reduce(add, 0.0, x) in map(fun e -> mult(e, mult(s, s)), x)\n",
                 "N=2",
                 "load x.load [n] float = x[n]\n"
                 "load x_2.load [n_2] float = x[n_2]\n"
                 "init init [] float = 0\n"
                 "step red [n_2] float = add(init, x_2.load)\n"
                 "compute compute [n] float = mult(x.load, mult(red, red))\n"
                 "store store [n] float out[n] = compute\n"
                 "6 instructions, 5 dimensions, 0 values that may be staged\n");
}

Test(backbone_lower, extent_one_has_no_logical)
{
    expect_insts(matmul, "M=1,N=3,K=1",
                 "load A.load [] float = A[0]\n"
                 "load B.load [n] float = B[n]\n"
                 "compute compute [n] float = add(0, mult(A.load, B.load))\n"
                 "store store [n] float out[n] = compute\n"
                 "4 instructions, 3 dimensions, 0 values that may be staged\n");
}

Test(backbone_lower, reductions_to_tuples)
{
    expect_insts(
        "size M, N\ninput A: [[float]N]M\n"
        "output map(fun r -> let t = reduce(fun ((s, m), v) -> (s + v * v, max(m, s)), (0.0, 1.0), r) in\n"
        "  get(1, t) / get(0, t), A)\n",
        "M=2,N=3",
        "load A.load [m n] float = A[m * 3 + n]\n"
        "init init [m] float float = 0, 1\n"
        "step red [m n] float float = fma(A.load, A.load, init.0), max(init.1, init.0)\n"
        "compute compute [m] float = div(red.1, red.0)\n"
        "store store [m] float out[m] = compute\n"
        "5 instructions, 7 dimensions, 0 values that may be staged\n");
    expect_insts("size N, M\ninput x: [float]N\n"
                 "output get(1, reduce(fun ((s, m), v) -> (s + v, max(m, v)), (0.0, -9.0), x))\n",
                 "N=3,M=1",
                 "load x.load [n] float = x[n]\n"
                 "init init [] float float = 0, -9\n"
                 "step red [n] float float = add(init.0, x.load), max(init.1, x.load)\n"
                 "store store [] float out[0] = red.1\n"
                 "4 instructions, 2 dimensions, 0 values that may be staged\n");
}

static void expect_lower_error(const char *program, const char *place, const char *what)
{
    struct lowered l = lower_text(program, "M=4,N=4", NULL);
    cr_expect_null(l.bb);
    cr_assert_eq(diag_count(l.diag), 1);
    const char *message = diag_message(l.diag, 0);
    cr_expect(strstr(message, place) && strstr(message, what), "%s", message);
    lowered_free(&l);
}

/* The inner reduction has the outer one's logical, in its initialization, too. */
Test(backbone_lower, reductions_inside_reductions)
{
    expect_insts("size M, N\ninput A: [[float]N]M\n"
                 "output reduce(add, 0.0, map(fun r -> sqrt(reduce(add, 0.0, map(fun x -> x * x, r))), A))\n",
                 "M=2,N=3",
                 "load A.load [m n] float = A[m * 3 + n]\n"
                 "init init [m] float = 0\n"
                 "step mad [m n] float = fma(A.load, A.load, init)\n"
                 "init init_2 [] float = 0\n"
                 "step red [m] float = add(init_2, sqrt(mad))\n"
                 "store store [] float out[0] = red\n"
                 "6 instructions, 6 dimensions, 0 values that may be staged\n");
}

/* What does not depend on the outer reduction is computed before it. */
Test(backbone_lower, reductions_beside_reductions)
{
    expect_insts("size M, N\ninput x: [float]N\ninput y: [float]M\n"
                 "output reduce(fun s a -> s + a * reduce(add, 0.0, y), 0.0, x)\n",
                 "M=2,N=3",
                 "load x.load [n] float = x[n]\n"
                 "load y.load [m] float = y[m]\n"
                 "init init [] float = 0\n"
                 "step red [m] float = add(init, y.load)\n"
                 "init init_2 [] float = 0\n"
                 "step mad [n] float = fma(x.load, red, init_2)\n"
                 "store store [] float out[0] = mad\n"
                 "7 instructions, 4 dimensions, 0 values that may be staged\n");
}

/* A reduction that starts from the accumulator of the one around it is one STEP with it. */
Test(backbone_lower, reductions_that_continue)
{
    expect_insts("size M, N\ninput A: [[float]N]M\ninput x: [float]N\n"
                 "output map(fun a -> reduce(fun s b -> reduce(fun t c -> t + a * b * c, s, x), 1.0, x), "
                 "transpose(A) |> head)\n",
                 "M=2,N=2",
                 "load A.load [m] float = A[m * 2]\n"
                 "load x.load [n] float = x[n]\n"
                 "load x_2.load [n_2] float = x[n_2]\n"
                 "init init [m] float = 1\n"
                 "step mad [m n n_2] float = fma(mult(A.load, x.load), x_2.load, init)\n"
                 "store store [m] float out[m] = mad\n"
                 "6 instructions, 8 dimensions, 0 values that may be staged\n");
}

/* The inner reduction reads the outer one's accumulator, other than to start from it. */
Test(backbone_lower, reductions_do_not_read_the_accumulator_of_another)
{
    static const char *const outputs[] = {
        "output reduce(fun acc a -> a + reduce(add, acc, y), 0.0, x)\n",
        "output reduce(fun acc a -> a + reduce(fun s b -> s + b * acc, 0.0, y), 0.0, x)\n",
        "output reduce(fun acc a -> reduce(fun s b -> s + b * acc, acc, y), 0.0, x)\n",
        "output reduce(fun acc a -> reduce(add, acc, map(fun b -> acc * b, y)), 0.0, x)\n",
    };
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        char text[200];
        snprintf(text, sizeof text, "size M, N\ninput x: [float]N\ninput y: [float]M\n%s", outputs[i]);
        expect_lower_error(
            text, "test.lift:4:",
            "not supported yet: a reduction that reads the accumulator of the reduction around it");
    }
}

Test(backbone_lower, located_errors)
{
    expect_lower_error("size M, N\ninput x: [float]N\ninput y: [float]M\n"
                       "output get(0, reduce(fun (t, v) -> t, (0, 1, 2, 3, 4, 5, 6, 7, 8), x))\n",
                       "test.lift:4:", "not supported yet: a reduction to more than 8 scalars");
    expect_lower_error("size M, N\ninput A: [[bool]N]M\noutput transpose(A)\n",
                       "test.lift:2:", "not supported yet: inputs and outputs of type bool");
}

/* Element q of the accumulator is a scalar of its own if the function reads it alone. */
Test(backbone_lower, accumulators_that_are_arrays)
{
    expect_insts("size M, N\ninput A: [[float]N]M\n"
                 "output reduce(fun acc r -> map(add, zip(acc, r)), generate(N, fun i -> 0.0), A)\n",
                 "M=4,N=3",
                 "load A.load [m n] float = A[n + m * 3]\n"
                 "init init [n] float = 0\n"
                 "step red [n m] float = add(init, A.load)\n"
                 "store store [n] float out[n] = red\n"
                 "4 instructions, 8 dimensions, 0 values that may be staged\n");
    static const char *const outputs[] = {
        "reduce(fun acc r -> map(add, zip(reverse(acc), r)), x, A)",
        "reduce(fun acc r -> map(fun v -> v + sum(acc), r), x, A)",
        "reduce(fun acc r -> map(fun (a, v) -> a + v * at(0, acc), zip(acc, r)), x, A)",
        "get(1, reduce(fun ((s, n), r) -> (map(add, zip(s, r)), n + at(0, s)), (x, 0.0), A))",
        "reduce(fun acc r -> generate(N, fun i -> at(N - 1 - i, acc)), x, A)",
    };
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        char text[400];
        snprintf(text, sizeof text, "size M, N\ninput A: [[float]N]M\ninput x: [float]N\noutput %s\n",
                 outputs[i]);
        expect_lower_error(text, "test.lift:4:",
                           "not supported yet: a reduction with an array as accumulator whose elements read");
    }
}

/* A scan of which each element depends on where it is read is many scans. */
Test(backbone_lower, elements_in_an_order_of_their_own)
{
    static const char *const outputs[][2] = {
        {"map(fun i -> at(i, scan(add, 0.0, map(fun v -> v * float(i), x))), iota(N))",
         "a scan whose elements"},
        {"map(sum, slide(3, 1, scan(add, 0.0, x)))", "a scan whose elements"},
        {"[at(3, scan(add, 0.0, x))]", "a scan whose elements"},
        {"reduce(fun m v -> m + at(1, scan(max, m, x)), 0.0, x)", "a scan whose elements"},
        {"concat(scatter(fun i -> (i + 1) % N, x), x)", "a scatter whose elements are read again"},
        {"scatter(fun i -> if i < 2 then 1 - i else i, x)", "a scatter whose elements are read again"},
    };
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        char text[200], error[80];
        snprintf(text, sizeof text, "size M, N\ninput x: [float]N\noutput %s\n", outputs[i][0]);
        snprintf(error, sizeof error, "not supported yet: %s", outputs[i][1]);
        expect_lower_error(text, "test.lift:3:", error);
    }
}

/* Each let asks for two elements of the one before it. */
/* Each `let` doubles the expression; the evaluation shares what is read twice at one index, so that it ends.
 */
Test(backbone_lower, expressions_are_bounded)
{
    static const char *const lets[] = {"let b = map(fun (p, q) -> p + q, zip(b, b)) in ",
                                       "let b = map(fun (p, q) -> p + q, zip(b, map(neg, b))) in "};
    for (size_t i = 0; i < sizeof lets / sizeof lets[0]; i++) {
        struct strbuf text = {0};
        strbuf_add(&text, "size M, N\ninput x: [float]N\noutput let b = x in ");
        for (int n = 0; n < 35; n++)
            strbuf_add(&text, lets[i]);
        strbuf_add(&text, "b\n");
        expect_lower_error(text.text, "test.lift:3:", "more than 4096 operations");
        strbuf_free(&text);
    }
}

/* A program of many statements has fewer levels; one of few has all. */
Test(backbone_lower, levels_of_large_programs)
{
    struct strbuf text = {0};
    strbuf_add(&text, "size M, N\ninput A: [[float]N]M\noutput map(fun r -> 0.0");
    for (int i = 0; i < 8; i++)
        strbuf_printf(&text, " + reduce(fun s v -> s + v * %d, 0.0, r)", i);
    strbuf_add(&text, ", A)\n");
    struct lowered large = must_lower(text.text, "M=64,N=64", NULL),
                   small = must_lower(matmul, "M=64,N=64,K=64", NULL);
    cr_expect_leq(bb_statement_count(large.bb), 224);
    cr_expect_lt(large.bb->logicals[0].n_levels, 4);
    cr_expect_eq(small.bb->logicals[0].n_levels, 4);
    lowered_free(&large);
    lowered_free(&small);
    strbuf_free(&text);
}

Test(backbone_lower, candidate_sizes)
{
    const struct bb_options o = {.max_sizes = 6};
    struct lowered l = must_lower("size N\ninput x: [float]N\noutput map(fun e -> neg(e), x)\n", "N=48", &o);
    static const int64_t want[] = {1, 2, 4, 8, 16, 48};
    const struct bb_tile *t = &l.bb->tiles[0];
    cr_assert_eq(t->n_sizes, 6);
    for (unsigned i = 0; i < 6; i++)
        cr_expect_eq(t->sizes[i], want[i]);
    lowered_free(&l);
}

/* No more levels than prime factors: 7 has one, 6 two, 64 all four. */
Test(backbone_lower, levels_follow_prime_factors)
{
    static const char *const sizes[] = {"N=7", "N=6", "N=64"};
    static const unsigned levels[] = {1, 2, 4};
    for (int i = 0; i < 3; i++) {
        struct lowered l =
            must_lower("size N\ninput x: [float]N\noutput map(fun e -> neg(e), x)\n", sizes[i], NULL);
        cr_expect_eq(l.bb->logicals[0].n_levels, levels[i]);
        lowered_free(&l);
    }
}
