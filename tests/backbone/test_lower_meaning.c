/* Lowering keeps the meaning: each kernel's backbone, run in plain loops over its logicals, gives the result
 * of the Lift interpreter on the program itself. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/backbone/backbone.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "core/lift/lift.h"

enum { MEANING_MAX_LOGICALS = 48, MEANING_MAX_STACK = 64 };

struct meaning {
    const struct backbone *bb;
    const double *const *inputs;
    int64_t at[MEANING_MAX_LOGICALS]; /* value of each main logical, of a load's data after all logicals */
};

struct scalars {
    double parts[BB_MAX_PARTS];
};

static struct scalars value_of(struct meaning *m, uint32_t inst);

static struct scalars expression_value(struct meaning *m, const struct bb_inst *inst,
                                       const struct scalars *accumulator)
{
    double stack[MEANING_MAX_STACK];
    unsigned top = 0;
    for (unsigned i = 0; i < inst->n_nodes; i++) {
        const struct bb_node *n = &inst->nodes[i];
        if (n->kind == BB_NODE_CONST) {
            stack[top++] = n->value;
        } else if (n->kind == BB_NODE_OPERAND) {
            bool carried = inst->kind == BB_STEP && n->operand == 0;
            stack[top++] = carried ? accumulator->parts[n->part]
                                   : value_of(m, inst->operands[n->operand]).parts[n->part];
        } else if (n->kind == BB_NODE_INDEX) {
            stack[top++] = (double)index_eval(n->index, m->at);
        } else if (n->kind == BB_NODE_SELECT) {
            top--;
            if (!guard_holds(n->guards, n->n_guards, m->at)) stack[top - 1] = stack[top];
        } else {
            top -= scalar_op_arity(n->op);
            stack[top] = scalar_op_apply(n->op, n->type, &stack[top]);
            top++;
        }
    }
    struct scalars result = {{0}};
    cr_assert_eq(top, inst->n_data ? inst->n_data : bb_parts(inst));
    memcpy(result.parts, stack, top * sizeof *stack);
    return result;
}

/* Steps over the logicals that STEP has and its INIT has not, from number j of its own on. */
static struct scalars stepped(struct meaning *m, const struct bb_inst *step, unsigned j, struct scalars acc)
{
    while (j < step->n_logicals && !bb_reduces(m->bb, step, step->logicals[j]))
        j++;
    if (j == step->n_logicals) return expression_value(m, step, &acc);
    uint32_t own = step->logicals[j];
    int64_t end = step->scan ? m->at[own] + 1 : m->bb->logicals[own].extent;
    for (int64_t i = 0; i < end; i++) {
        m->at[own] = i;
        acc = stepped(m, step, j + 1, acc);
    }
    return acc;
}

static struct scalars value_of(struct meaning *m, uint32_t id)
{
    const struct bb_inst *inst = &m->bb->insts[id];
    if (inst->kind == BB_STEP) return stepped(m, inst, 0, value_of(m, inst->partner));
    if (inst->kind != BB_LOAD) return expression_value(m, inst, NULL);
    struct scalars data = inst->n_data ? expression_value(m, inst, NULL) : (struct scalars){{0}};
    for (unsigned k = 0; k < inst->n_data; k++)
        m->at[inst->data[k].var] = (int64_t)data.parts[k] - inst->data[k].least;
    if (!guard_holds(inst->guards, inst->n_guards, m->at)) return (struct scalars){{inst->otherwise}};
    const struct bb_buffer *buffer = &m->bb->buffers[inst->buffer];
    int64_t place = index_eval(inst->index, m->at);
    cr_assert(place >= 0 && place < buffer->elements, "%s[%ld]", buffer->name, (long)place);
    return (struct scalars){{m->inputs[buffer->input][place]}};
}

static uint32_t store_of(const struct backbone *bb)
{
    uint32_t i = 0;
    while (bb->insts[i].kind != BB_STORE)
        i++;
    return i;
}

/* Runs the store at every point of its logicals, last fastest. */
static void run_backbone(struct meaning *m, double *out)
{
    uint32_t id = store_of(m->bb);
    const struct bb_inst *store = &m->bb->insts[id];
    int64_t points = 1;
    for (unsigned i = 0; i < store->n_logicals; i++)
        points *= m->bb->logicals[store->logicals[i]].extent;
    for (int64_t p = 0; p < points; p++) {
        int64_t left = p;
        for (unsigned i = store->n_logicals; i-- > 0;) {
            int64_t extent = m->bb->logicals[store->logicals[i]].extent;
            m->at[store->logicals[i]] = left % extent;
            left /= extent;
        }
        out[index_eval(store->index, m->at)] = expression_value(m, store, NULL).parts[0];
    }
}

static double **random_inputs(struct arena *a, const struct lift_program *p)
{
    struct pcg32 rng = pcg32_seed(3, 1);
    double **inputs = ARENA_ARRAY(a, double *, p->n_inputs + 1);
    for (unsigned i = 0; i < p->n_inputs; i++) {
        int64_t n = lift_type_scalars(p->inputs[i]->type);
        inputs[i] = ARENA_ARRAY(a, double, n);
        const struct lift_range *range = &p->inputs[i]->range;
        for (int64_t e = 0; e < n; e++)
            inputs[i][e] = range->low_size || range->high_size
                               ? lift_range_draw(range, SCALAR_INT, pcg32_unit(&rng))
                               : (double)pcg32_below(&rng, 17) - 8;
    }
    return inputs;
}

static void expect_same_meaning(const char *name, const char *text, const char *sizes)
{
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    struct source source = {name, text, strlen(text)};
    struct lift_size_value *values = NULL;
    int n = lift_parse_sizes(sizes, &values, a, d);
    struct lift_program *p = lift_parse(&source, a, d);
    cr_assert(p && n >= 0 && lift_bind(p, values, (unsigned)n, a, d), "%s: %s", name,
              diag_count(d) ? diag_message(d, 0) : "no error text");
    struct backbone *bb = bb_lower(p, NULL, a, d);
    cr_assert(bb, "%s: %s", name, diag_count(d) ? diag_message(d, 0) : "no error text");
    int64_t scalars = lift_type_scalars(p->output->type);
    double *want = ARENA_ARRAY(a, double, scalars), *got = ARENA_ARRAY(a, double, scalars);
    const double *const *inputs = (const double *const *)random_inputs(a, p);
    lift_interpret(p, inputs, p->n_inputs, want);
    struct meaning m = {.bb = bb, .inputs = inputs};
    run_backbone(&m, got);
    for (int64_t i = 0; i < scalars; i++)
        cr_assert_float_eq(got[i], want[i], 1e-9, "%s: element %ld is %g, not %g", name, (long)i, got[i],
                           want[i]);
    diag_free(d);
    arena_free(a);
}

static void expect_file_keeps_meaning(const char *path, const char *sizes)
{
    struct diag *d = diag_new();
    size_t length;
    char *text = source_read_file(path, 1 << 16, &length, d);
    cr_assert(text, "%s cannot be read", path);
    expect_same_meaning(path, text, sizes);
    free(text);
    diag_free(d);
}

/* An index by data is not read beyond the end of its array, as it was beside a border. */
Test(backbone_meaning, indices_by_data_within_borders)
{
    const char *inputs = "size N, M\ninput x: [float]M\ninput i: [int]N in 0..M-1\n";
    static const char *const outputs[] = {
        "output padConstant(1, 2, 1.0, map(fun k -> at(k, x), i))",
        "output padConstant(1, 2, 1.0, map(fun k -> at(k, padConstant(1, 1, 1.0, x)), i))",
        "output concat(map(fun k -> at(k, x), i), [2.0], map(fun k -> at(k, x), reverse(i)))",
        "output map(sum, slide(3, 1, padConstant(1, 1, 0.0, map(fun k -> at(k, x), i))))",
    };
    for (size_t k = 0; k < sizeof outputs / sizeof *outputs; k++) {
        struct arena *a = arena_new();
        expect_same_meaning(outputs[k], arena_printf(a, "%s%s\n", inputs, outputs[k]), "N=6,M=4");
        arena_free(a);
    }
}

Test(backbone_meaning, kernels)
{
    expect_file_keeps_meaning("experiments/kernels/matmul.lift", "M=6,N=4,K=5");
    expect_file_keeps_meaning("experiments/kernels/gemv.lift", "M=6,N=4");
    expect_file_keeps_meaning("experiments/kernels/gesummv.lift", "M=6,N=4");
    expect_file_keeps_meaning("experiments/kernels/transpose.lift", "M=6,N=4");
    expect_file_keeps_meaning("experiments/kernels/axpy.lift", "N=12");
    expect_file_keeps_meaning("experiments/kernels/batched_matmul.lift", "P=2,M=3,N=4,K=5");
    expect_file_keeps_meaning("experiments/kernels/matmul_strided.lift", "M=3,N=4,K=5");
    expect_file_keeps_meaning("experiments/kernels/stencil.lift", "N=5");
    expect_file_keeps_meaning("experiments/kernels/stencil_3point.lift", "N=6");
    expect_file_keeps_meaning("experiments/kernels/stencil_5point.lift", "H=4,W=5");
    expect_file_keeps_meaning("experiments/kernels/stencil_9point.lift", "H=4,W=5");
    expect_file_keeps_meaning("experiments/kernels/stencil_7point.lift", "D=3,H=4,W=3");
    expect_file_keeps_meaning("experiments/kernels/stencil_27point.lift", "D=3,H=2,W=4");
    expect_file_keeps_meaning("experiments/kernels/stencil_two_steps.lift", "N=6");
    expect_file_keeps_meaning("experiments/kernels/convolution.lift", "B=2,O=2,C=3,H=4,W=3");
    expect_file_keeps_meaning("experiments/kernels/convolution_strided.lift", "O=2,C=3,H=6,W=4");
    expect_file_keeps_meaning("experiments/kernels/convolution_depthwise.lift", "C=3,H=4,W=3");
    expect_file_keeps_meaning("experiments/kernels/transpose3_201.lift", "I=2,J=3,K=4");
    expect_file_keeps_meaning("experiments/kernels/transpose3_210.lift", "I=2,J=3,K=4");
    expect_file_keeps_meaning("experiments/kernels/softmax.lift", "M=3,N=4");
    expect_file_keeps_meaning("experiments/kernels/layer_norm.lift", "M=3,N=4");
    expect_file_keeps_meaning("experiments/kernels/batched_gemv.lift", "P=2,M=3,N=4");
    expect_file_keeps_meaning("experiments/kernels/bias_relu.lift", "M=3,N=4");
    expect_file_keeps_meaning("experiments/kernels/attention.lift", "N=3,M=4,D=2");
    expect_file_keeps_meaning("experiments/kernels/attention_heads.lift", "H=2,N=3,M=4,D=2");
    expect_file_keeps_meaning("experiments/kernels/nearest.lift", "N=3,M=4,D=2");
    expect_file_keeps_meaning("experiments/kernels/nbody.lift", "N=4,D=3");
    expect_file_keeps_meaning("experiments/kernels/mri_q.lift", "N=3,K=4");
    expect_file_keeps_meaning("experiments/kernels/sum.lift", "M=3,N=4");
    expect_file_keeps_meaning("experiments/kernels/argmax.lift", "M=3,N=4");
    expect_file_keeps_meaning("experiments/kernels/kmeans.lift", "N=3,K=4,D=2");
    expect_file_keeps_meaning("experiments/kernels/gather_rows.lift", "N=5,M=3,D=4");
    expect_file_keeps_meaning("experiments/kernels/sparse_gemv.lift", "M=3,N=4,K=2");
    expect_file_keeps_meaning("experiments/kernels/deinterleave.lift", "M=3,N=8");
    expect_file_keeps_meaning("experiments/kernels/scan.lift", "M=3,N=5");
    expect_file_keeps_meaning("experiments/kernels/column_sums.lift", "M=3,N=5");
}

#define TWO_ARRAYS "size M, N\ninput A: [[float]N]M\ninput x: [float]N\n"

Test(backbone_meaning, reductions_inside_reductions)
{
    expect_same_meaning(
        "norms", TWO_ARRAYS "output reduce(add, 0.0, map(fun r -> sqrt(reduce(add, 0.0, map(abs, r))), A))\n",
        "M=3,N=4");
    expect_same_meaning("nearest",
                        TWO_ARRAYS "output map(fun u -> reduce(min, 1000.0, map(fun r ->\n"
                                   "  reduce(fun s v -> s + (u - v) * (u - v), 0.0, r), A)), x)\n",
                        "M=3,N=4");
    expect_same_meaning("starting from an element",
                        TWO_ARRAYS "output reduce(fun m (u, r) -> max(m, reduce(add, u, r)), -9.0,\n"
                                   "  zip(head(split(M, join(A))), A))\n",
                        "M=3,N=4");
    expect_same_meaning("continued", TWO_ARRAYS "output reduce(fun s r -> reduce(add, s, r), 1.0, A)\n",
                        "M=3,N=4");
    expect_same_meaning("continued inside another one",
                        TWO_ARRAYS "output reduce(max, -1000.0, map(fun v ->\n"
                                   "  reduce(fun s r -> reduce(fun t u -> t + u * v, s, r), v, A), x))\n",
                        "M=3,N=4");
    expect_same_meaning("three deep",
                        TWO_ARRAYS "output reduce(add, 0.0, map(fun u -> reduce(max, -100.0, map(fun r ->\n"
                                   "  reduce(min, u, map(fun v -> u * v, r)), A)), x))\n",
                        "M=3,N=4");
}

/* Programs over x: [float]N, y: [[float]M]N. */
Test(backbone_meaning, elements_by_index)
{
    static const char *const outputs[] = {
        "pad(2, 1, clamp, x)",
        "pad(2, 3, mirror, x)",
        "pad(5, 7, wrap, x)",
        "pad(0, 0, mirror, x)",
        "padConstant(2, 1, 3.0, x)",
        "padConstant(1, 1, at(2, x), x)",
        "padConstant2(1, 2, 0.5, y)",
        "padConstant2(1, 0, 0.5, padConstant2(0, 1, 2.0, y))",
        "map(fun v -> 2.0 * v, padConstant(1, 1, 5.0, map(fun v -> v + 1.0, x)))",
        "padConstant(1, 1, 5.0, map(sum, y))",
        "map(sum, padConstant2(1, 1, 5.0, y))",
        "slide(3, 2, pad(1, 0, mirror, reverse(x)))",
        "map(fun r -> concat(r, [1.0, 2.0], reverse(r)), y)",
        "concat(x, map(sum, y), [4.0])",
        "join(concat(y, padConstant(0, 0, 0.0, y)))",
        "map(fun (a, b) -> a * b, concat(zip(x, x), zip(reverse(x), x)))",
        "map(fun w -> dot(w, [1.0, 2.0, 1.0]), slide(3, 1, x))",
        "gather(fun i -> N - 1 - i, x)",
        "generate(4, fun i -> at(2 * i + 1, at(i, y)))",
        "generate(N - 2, fun i -> at(i, x) + at(i + 2, x))",
        "stride(3, x)",
        "join(stride(2, y))",
        "untile(map2(transpose, tile(2, 4, y)))",
        "join(map(join, slide2(2, 1, pad2(1, 1, wrap, y))) |> map(map(sum)))",
        "sum(join(slide(2, 1, x)))",
        "map(fun a -> reduce(max, 0.0, join(zip(at(0, a), at(1, a)) |> map(fun (s, t) -> [s, t]))), slide(2, "
        "1, y))",
        "iterate(3, fun a -> map(fun w -> at(0, w) + at(1, w), slide(2, 1, a)), x)",
    };
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        struct arena *a = arena_new();
        const char *text =
            arena_printf(a, "size N, M\ninput x: [float]N\ninput y: [[float]M]N\noutput %s\n", outputs[i]);
        expect_same_meaning(outputs[i], text, "N=6,M=8");
        arena_free(a);
    }
}

Test(backbone_meaning, tuples)
{
    expect_same_meaning("sum and sum of squares",
                        TWO_ARRAYS
                        "output map(fun r -> let t = reduce(fun ((s, q), v) -> (s + v, q + v * v),\n"
                        "  (0.0, 1.0), r) in get(1, t) - get(0, t) * get(0, t), A)\n",
                        "M=3,N=4");
    expect_same_meaning("second largest of nested tuples",
                        TWO_ARRAYS
                        "output map(fun r -> get(0, get(1, reduce(fun ((n, (b, a)), v) ->\n"
                        "  (n + 1.0, (max(b, min(a, v)), max(a, v))), (0.0, (-99.0, -99.0)), r))), A)\n",
                        "M=3,N=4");
    expect_same_meaning("continued",
                        TWO_ARRAYS "output get(1, reduce(fun t r -> reduce(fun ((s, m), v) ->\n"
                                   "  (s + v, max(m, v)), t, r), (0.0, -99.0), A))\n",
                        "M=3,N=4");
    expect_same_meaning("swapped, so not continued",
                        TWO_ARRAYS "output reduce(add, 0.0, map(fun r -> let t = reduce(fun ((s, m), v) ->\n"
                                   "  (s + v, max(m, v)), (0.0, -99.0), r) in get(1, t) * get(0, t), A))\n",
                        "M=3,N=4");
}

/* Programs over A: [[float]N]M, B: [[float]K]M, x: [float]N, idx: [int]M in 0..N-1. */
Test(backbone_meaning, accumulators_that_are_arrays)
{
    static const char *const outputs[] = {
        "reduce(fun acc r -> map(add, zip(acc, r)), x, A)",
        "reduce(fun acc r -> map(fun (a, v) -> max(a, v * v), zip(acc, r)), generate(N, fun i -> float(i)), "
        "A)",
        "map(fun b -> reduce(fun acc r -> map(fun (a, v) -> a + v * b, zip(acc, r)), x, A), head(B))",
        "reduce(fun acc (r, b) -> map(fun (row, v) -> map(fun (s, w) -> s + v * w, zip(row, b)), zip(acc, "
        "r)),\n"
        "  generate(N, fun i -> generate(K, fun k -> 0.5)), zip(A, B))",
        "reduce(fun acc (ta, tb) -> map(fun (row, c) -> map(fun (s, d) -> reduce(fun z (v, w) -> z + v * w, "
        "s,\n"
        "  zip(c, d)), zip(row, transpose(tb))), zip(acc, transpose(ta))),\n"
        "  generate(N, fun i -> generate(K, fun k -> 0.0)), zip(split(2, A), split(2, B)))",
        "reduce(fun acc part -> reduce(fun z r -> map(add, zip(z, r)), acc, part), x, split(2, A))",
        "sum(reduce(fun acc r -> map(min, zip(acc, r)), x, A))",
        "reverse(tail(reduce(fun acc r -> map(min, zip(acc, r)), x, A)))",
        "reduce(fun acc (i, r) -> map(fun (j, a) -> if j == i then a + sum(r) else a, zip(iota(N), acc)), "
        "x,\n"
        "  zip(idx, B))",
        "let (s, q) = reduce(fun ((s, q), r) -> (map(add, zip(s, r)), map(fun (b, v) -> b + v * v, zip(q, "
        "r))),\n"
        "  (x, x), A) in map(fun (a, b) -> b - a * a, zip(s, q))",
        "let (s, n) = reduce(fun ((s, n), r) -> (map(fun (a, v) -> a + v * n, zip(s, r)), n + 1.0), (x, "
        "0.0), A)\n"
        "  in map(fun a -> a / n, s)",
        "map(fun (s, n) -> s / n, reduce(fun acc r -> map(fun ((s, n), v) -> (s + v, n + 1.0), zip(acc, "
        "r)),\n"
        "  map(fun v -> (v, 1.0), x), A))",
        "scan(fun acc r -> map(fun (a, v) -> 0.5 * a + v, zip(acc, r)), x, A)",
        "reduce(fun acc r -> reverse(map(add, zip(reverse(acc), r))), x, A)",
        "reduce(fun acc r -> map(add, zip(acc, r)), x, head(split(1, split(M, A))) |> head |> split(1) |> "
        "head)",
    };
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        struct arena *a = arena_new();
        const char *text = arena_printf(a,
                                        "size M, N, K\ninput A: [[float]N]M\ninput B: [[float]K]M\n"
                                        "input x: [float]N\ninput idx: [int]M in 0..N-1\noutput %s\n",
                                        outputs[i]);
        expect_same_meaning(outputs[i], text, "M=4,N=3,K=5");
        arena_free(a);
    }
}

Test(backbone_meaning, views)
{
    expect_same_meaning("sum of rows of chunks",
                        "size N\ninput x: [float]N\n"
                        "output map(fun c -> reduce(add, 0.0, c), transpose(split(4, x)))\n",
                        "N=24");
    expect_same_meaning("reduction over a join",
                        "size M, N\ninput A: [[float]N]M\noutput reduce(add, 1.0, join(transpose(A)))\n",
                        "M=3,N=5");
    expect_same_meaning("neighbours",
                        "size N\ninput x: [float]N\n"
                        "output map(fun c -> sub(head(tail(c)), head(c)), split(2, x))\n",
                        "N=10");
    expect_same_meaning(
        "largest scaled",
        "size M, N\ninput A: [[float]N]M\n"
        "output map(fun r -> let m = reduce(max, -100.0, r) in map(fun e -> sub(e, m), r), A)\n",
        "M=4,N=6");
    expect_same_meaning("extents of one",
                        "size M, N\ninput A: [[float]N]M\n"
                        "output map(fun r -> reduce(add, 0.0, r), A)\n",
                        "M=1,N=1");
}
