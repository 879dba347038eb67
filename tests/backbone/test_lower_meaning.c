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

enum { MEANING_MAX_LOGICALS = 16, MEANING_MAX_STACK = 64 };

struct meaning {
    const struct backbone *bb;
    const double *const *inputs;
    int64_t at[MEANING_MAX_LOGICALS]; /* value of each main logical */
};

static double value_of(struct meaning *m, uint32_t inst, double accumulator);

static double expression_value(struct meaning *m, const struct bb_inst *inst, double accumulator)
{
    double stack[MEANING_MAX_STACK];
    unsigned top = 0;
    for (unsigned i = 0; i < inst->n_nodes; i++) {
        const struct bb_node *n = &inst->nodes[i];
        if (n->kind == BB_NODE_CONST) {
            stack[top++] = n->value;
        } else if (n->kind == BB_NODE_OPERAND) {
            bool carried = inst->kind == BB_STEP && n->operand == 0;
            stack[top++] = carried ? accumulator : value_of(m, inst->operands[n->operand], 0);
        } else {
            top -= scalar_op_arity(n->op);
            stack[top] = scalar_op_apply(n->op, &stack[top]);
            top++;
        }
    }
    cr_assert_eq(top, 1);
    return stack[0];
}

/* The logical that STEP has and its INIT has not. */
static uint32_t reduced_logical(const struct backbone *bb, const struct bb_inst *step)
{
    const struct bb_inst *init = &bb->insts[step->partner];
    cr_assert_eq(step->n_logicals, init->n_logicals + 1);
    for (unsigned i = 0; i < init->n_logicals; i++)
        if (init->logicals[i] != step->logicals[i]) return step->logicals[i];
    return step->logicals[init->n_logicals];
}

static double reduced_value(struct meaning *m, const struct bb_inst *step)
{
    uint32_t own = reduced_logical(m->bb, step);
    double acc = value_of(m, step->partner, 0);
    for (int64_t i = 0; i < m->bb->logicals[own].extent; i++) {
        m->at[own] = i;
        acc = expression_value(m, step, acc);
    }
    return acc;
}

static double value_of(struct meaning *m, uint32_t id, double accumulator)
{
    const struct bb_inst *inst = &m->bb->insts[id];
    if (inst->kind == BB_LOAD)
        return m->inputs[m->bb->buffers[inst->buffer].input][index_eval(inst->index, m->at)];
    return inst->kind == BB_STEP ? reduced_value(m, inst) : expression_value(m, inst, accumulator);
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
        out[index_eval(store->index, m->at)] = expression_value(m, store, 0);
    }
}

static double **random_inputs(struct arena *a, const struct lift_program *p)
{
    struct pcg32 rng = pcg32_seed(3, 1);
    double **inputs = ARENA_ARRAY(a, double *, p->n_inputs + 1);
    for (unsigned i = 0; i < p->n_inputs; i++) {
        int64_t n = lift_type_scalars(p->inputs[i]->type);
        inputs[i] = ARENA_ARRAY(a, double, n);
        for (int64_t e = 0; e < n; e++)
            inputs[i][e] = (double)pcg32_below(&rng, 17) - 8;
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
    lift_interpret(p, inputs, want);
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
    expect_file_keeps_meaning("experiments/kernels/softmax.lift", "M=3,N=4");
    expect_file_keeps_meaning("experiments/kernels/layer_norm.lift", "M=3,N=4");
    expect_file_keeps_meaning("experiments/kernels/batched_gemv.lift", "P=2,M=3,N=4");
    expect_file_keeps_meaning("experiments/kernels/bias_relu.lift", "M=3,N=4");
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
