/* Which steps may be split, and how two partial results are combined. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/backbone/combine.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"

enum { ELEMENTS = 12, ROUNDS = 400, SCALARS = 3 };

/* The backbone of a reduction of an element v, its index j and a number c of data. */
static struct backbone *combine_lower(const char *reduction, struct arena *a, uint32_t *step)
{
    struct diag *d = diag_new();
    const char *text = arena_printf(a,
                                    "size N\ninput x: [float]N\ninput y: [[float]3]N\ninput c: [int]N\n"
                                    "output get(0, %s)\n",
                                    reduction);
    struct source *source = ARENA_NEW(a, struct source);
    *source = (struct source){"test.lift", text, strlen(text)};
    struct lift_size_value *values = NULL;
    int n = lift_parse_sizes("N=12", &values, a, d);
    struct lift_program *p = lift_parse(source, a, d);
    cr_assert(p && n >= 0 && lift_bind(p, values, (unsigned)n, a, d), "%s", reduction);
    struct backbone *bb = bb_lower(p, NULL, a, d);
    cr_assert(bb, "%s", reduction);
    for (uint32_t i = 0; i < bb->n_insts; i++)
        if (bb->insts[i].kind == BB_STEP) *step = i;
    diag_free(d);
    return bb;
}

/* "add gt0lt1 gt0lt1": of each scalar the operation, or the ranking that it is selected by; "none". */
static const char *combine_text(const char *reduction, struct arena *a)
{
    uint32_t step;
    struct bb_combination how;
    const struct backbone *bb = combine_lower(reduction, a, &step);
    const char *text = "";
    if (!bb_combination(bb, step, &how)) return "none";
    for (unsigned part = 0; part < bb_parts(&bb->insts[step]); part++) {
        const struct bb_ranking *r = &how.ranking[part];
        const char *own = scalar_op_name(how.op[part]);
        if (how.op[part] == SCALAR_SELECT)
            own = arena_printf(a, "%s%u%s%u", scalar_op_name(r->better), r->value, scalar_op_name(r->nearer),
                               r->place);
        text = arena_printf(a, "%s%s%s", text, part ? " " : "", own);
    }
    return text;
}

static void expect_combination(const char *reduction, const char *expected)
{
    struct arena *a = arena_new();
    const char *got = combine_text(reduction, a);
    cr_expect_str_eq(got, expected, "%s: %s", reduction, got);
    arena_free(a);
}

#define INDEXED "zip(x, indices(x))"

Test(backbone_combine, operations)
{
    expect_combination("reduce(fun ((s, m), v) -> (s + v, max(m, v)), (0.0, lowest), x)", "add max");
    expect_combination("reduce(fun ((s, m), v) -> (s + v, m * s), (0.0, 1.0), x)", "none");
}

Test(backbone_combine, rankings_as_they_are_written)
{
    expect_combination("reduce(fun ((v, i), (w, j)) -> if w > v || w == v && j < i then (w, j) else (v, i),\n"
                       "  (lowest, (0 : int)), " INDEXED ")",
                       "gt0lt1 gt0lt1");
    expect_combination("reduce(fun ((i, v), (w, j)) -> if i > j && v == w || v > w then (j, w) else (i, v),\n"
                       "  ((7 : int), 0.0), " INDEXED ")",
                       "lt1lt0 lt1lt0");
    /* no index, but nothing beside value and place */
    expect_combination("reduce(fun ((v, i), (w, j)) -> if w < v || w == v && j > i then (w, j) else (v, i),\n"
                       "  (highest, (0 : int)), zip(x, c))",
                       "lt0gt1 lt0gt1");
    expect_combination(
        "reduce(fun ((v, i, p), (w, j)) -> if w < v || w == v && j > i then (w, j, w) else (v, i, p),\n"
        "  (highest, (0 : int), 0.0), zip(x, c))",
        "none");
    expect_combination(
        "reduce(fun ((v, i), (w, j)) -> if w > v || w == v && j <= i then (w, j) else (v, i),\n"
        "  (lowest, (0 : int)), " INDEXED ")",
        "none");
}

Test(backbone_combine, ties_by_the_index)
{
    static const char *const ops[][2] = {
        {"<", "lt0lt1"}, {"<=", "lt0gt1"}, {">", "gt0lt1"}, {">=", "gt0gt1"}};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        struct arena *a = arena_new();
        const char *expected = arena_printf(a, "%s %s", ops[i][1], ops[i][1]);
        expect_combination(arena_printf(a,
                                        "reduce(fun ((v, i), (w, j)) -> if w %s v then (w, j) else (v, i),\n"
                                        "  (1.0, (0 : int)), " INDEXED ")",
                                        ops[i][0]),
                           expected);
        arena_free(a);
    }
    /* the accumulator first; a sum beside it; two rankings in one tuple */
    expect_combination("reduce(fun ((v, i), (w, j)) -> if v < w then (w, j) else (v, i),\n"
                       "  (lowest, (0 : int)), " INDEXED ")",
                       "gt0lt1 gt0lt1");
    expect_combination("reduce(fun ((s, v, i), (w, j)) -> let t = if w < v then (w, j) else (v, i) in\n"
                       "    (s + w, get(0, t), get(1, t)), (3.0, highest, (0 : int)), " INDEXED ")",
                       "add lt1lt2 lt1lt2");
    expect_combination("reduce(fun ((v, i, b, k), (w, j)) -> let s = if w < v then (w, j) else (v, i) in\n"
                       "    let t = if w >= b then (w, j) else (b, k) in\n"
                       "    (get(0, s), get(1, s), get(0, t), get(1, t)),\n"
                       "  (highest, (0 : int), lowest, (-1 : int)), " INDEXED ")",
                       "lt0lt1 lt0lt1 gt2gt3 gt2gt3");
}

/* An index over two logicals; what is computed from an index is none. */
Test(backbone_combine, own_indices)
{
    expect_combination(
        "reduce(fun ((v, i), (w, j)) -> if w > v then (w, j) else (v, i), (lowest, (0 : int)),\n"
        "  zip(join(y), iota(3 * N)))",
        "gt0lt1 gt0lt1");
    expect_combination(
        "reduce(fun ((v, i), (w, j)) -> if w > v then (w, j) else (v, i), (lowest, (0 : int)),\n"
        "  zip(join(y), map(fun j -> j / 2, iota(3 * N))))",
        "none");
    expect_combination(
        "reduce(fun ((v, i), (w, j)) -> if w > v then (w, j) else (v, i), (lowest, (0 : int)),\n"
        "  zip(x, map(fun j -> 2 * j + 3, iota(N))))",
        "none");
    expect_combination(
        "reduce(fun ((v, i), (w, j)) -> if w > v then (w, j) else (v, i), (lowest, (0 : int)),\n"
        "  zip(reverse(x), reverse(indices(x))))",
        "none");
    expect_combination(
        "reduce(fun ((v, i), (w, j)) -> if w > v then (w, j) else (v, i), (lowest, (0 : int)),\n"
        "  zip(x, c))",
        "none");
}

/* The place of the initial value is before those of all elements. */
Test(backbone_combine, initial_places)
{
    static const struct {
        const char *op, *place, *expected;
    } cases[] = {{">", "1", "none"},           {">", "0", "gt0lt1 gt0lt1"},   {">", "-1", "gt0lt1 gt0lt1"},
                 {">=", "1", "none"},          {">=", "-1", "gt0gt1 gt0gt1"}, {">", "at(0, c)", "none"},
                 {">=", "0", "gt0gt1 gt0gt1"}, {">=", "at(0, c)", "none"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena *a = arena_new();
        expect_combination(arena_printf(a,
                                        "reduce(fun ((v, i), (w, j)) -> if w %s v then (w, j) else (v, i),\n"
                                        "  (at(0, x), (%s : int)), " INDEXED ")",
                                        cases[i].op, cases[i].place),
                           cases[i].expected);
        arena_free(a);
    }
    /* Of >= with something else selected, the initial place 0 is not before that of element 0. */
    expect_combination("reduce(fun ((v, i, p), (w, j)) -> if w >= v then (w, j, w + 1.0) else (v, i, p),\n"
                       "  (lowest, (0 : int), 0.0), " INDEXED ")",
                       "none");
    expect_combination("reduce(fun ((v, i, p), (w, j)) -> if w >= v then (w, j, w + 1.0) else (v, i, p),\n"
                       "  (lowest, (-1 : int), 0.0), " INDEXED ")",
                       "gt0gt1 gt0gt1 gt0gt1");
}

Test(backbone_combine, what_is_no_ranking)
{
    static const char *const bodies[] = {
        "if v >= w then (v, i) else (w, j)",      /* takes NaN */
        "if !(w <= v) then (w, j) else (v, i)",   /* the same */
        "if w != v then (w, j) else (v, i)",      /* the last one that differs from the one before */
        "if w > v then (w + 1.0, j) else (v, i)", /* compares something else */
        "if w > v then (w, j + i) else (v, i)",   /* reads the accumulator */
        "if w > v + 1.0 then (w, j) else (v, i)", "if w > v && j > i then (w, j) else (v, i)",
        "(max(v, w), if w > v then j else i)",    "(if w > v then w else v, if w >= v then j else i)"};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct arena *a = arena_new();
        expect_combination(
            arena_printf(a, "reduce(fun ((v, i), (w, j)) -> %s, (0.0, (0 : int)), " INDEXED ")", bodies[i]),
            "none");
        arena_free(a);
    }
}

/* ---- any order, any parts ---- */

struct tuple {
    double scalar[BB_MAX_PARTS];
};

static bool combine_takes(enum scalar_op op, double w, double v)
{
    return scalar_op_apply(op, SCALAR_FLOAT, (const double[]){w, v}) != 0;
}

/* What the text says, in the order of the elements. */
static struct tuple combine_in_order(enum scalar_op op, struct tuple start, const struct tuple *elements)
{
    for (unsigned i = 0; i < ELEMENTS; i++)
        if (combine_takes(op, elements[i].scalar[0], start.scalar[0])) start = elements[i];
    return start;
}

static void shuffle(struct tuple *x, unsigned n, struct pcg32 *random)
{
    for (unsigned i = n; i > 1; i--) {
        unsigned j = pcg32_below(random, i);
        struct tuple kept = x[j];
        x[j] = x[i - 1];
        x[i - 1] = kept;
    }
}

/* Elements in any order, in parts of any length that all start from the initial value. */
static struct tuple combine_in_parts(const struct bb_inst *step, const struct bb_combination *how,
                                     struct tuple start, struct tuple *elements, struct pcg32 *random)
{
    struct tuple parts[4] = {start, start, start, start}, next;
    shuffle(elements, ELEMENTS, random);
    for (unsigned i = 0; i < ELEMENTS; i++) {
        struct tuple *to = &parts[pcg32_below(random, 4)];
        bb_combine(step, how, to->scalar, elements[i].scalar, next.scalar);
        *to = next;
    }
    shuffle(parts, 4, random);
    for (unsigned i = 1; i < 4; i++) {
        bb_combine(step, how, parts[0].scalar, parts[i].scalar, next.scalar);
        parts[0] = next;
    }
    return parts[0];
}

static bool same_scalar(double x, double y)
{
    return x == y || (isnan(x) && isnan(y));
}

static void check_rounds(const char *text, enum scalar_op op, const double *start, struct pcg32 *random)
{
    static const double values[] = {-INFINITY, -1, 0, 0, 1, 1, INFINITY, NAN};
    struct arena *a = arena_new();
    uint32_t step;
    struct bb_combination how;
    const struct backbone *bb =
        combine_lower(arena_printf(a,
                                   "reduce(fun ((v, i, p), (w, j)) -> if w %s v then (w, j, w - 3.0)\n"
                                   "  else (v, i, p), (at(0, x), (-1 : int), at(1, x)), " INDEXED ")",
                                   text),
                      a, &step);
    cr_assert(bb_combination(bb, step, &how));
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct tuple elements[ELEMENTS], first = {{start[pcg32_below(random, 5)], -1, 77}};
        for (unsigned i = 0; i < ELEMENTS; i++)
            elements[i] = (struct tuple){{values[pcg32_below(random, 8)], i, 100 + i}};
        struct tuple expected = combine_in_order(op, first, elements);
        struct tuple got = combine_in_parts(&bb->insts[step], &how, first, elements, random);
        for (unsigned part = 0; part < SCALARS; part++)
            cr_assert(same_scalar(got.scalar[part], expected.scalar[part]),
                      "%s: round %u, scalar %u is %g, not %g", text, round, part, got.scalar[part],
                      expected.scalar[part]);
    }
    arena_free(a);
}

Test(backbone_combine, parts_in_any_order)
{
    static const double start[] = {-INFINITY, 0, 1, INFINITY, NAN};
    static const enum scalar_op ops[] = {SCALAR_LT, SCALAR_LE, SCALAR_GT, SCALAR_GE};
    static const char *const texts[] = {"<", "<=", ">", ">="};
    struct pcg32 random = pcg32_seed(7, 3);
    for (unsigned i = 0; i < 4; i++)
        check_rounds(texts[i], ops[i], start, &random);
}
