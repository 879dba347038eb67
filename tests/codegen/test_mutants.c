/* Verification against mutants of the code generator: every mutant that changes a result is caught.
 *
 * For each program, implementations (the naive one and random ones) are changed at one place (mutate.h). The
 * mutant's outputs on all sets of inputs, by the interpreter of the loop program, are compared as a runner
 * compares those of a device. A mutant that passes must change no result: it is run beside the unchanged
 * program on other inputs, random ones and ones with a single extreme element, in the range that verification
 * draws from. What a mutant reads outside an array is 0, and what nobody wrote is what the memory held, in
 * both comparisons. Results differ where they
 * do so by more than 1e-6, or 1e-3 where the program rounds. A sample also runs on the device.
 *
 * The score of each program goes to standard error: for each kind of mutant those that are caught, of those
 * that change a result, + those that change none. THRESH_LONG=1 takes all mutants of more implementations. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/evaluate.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "core/base/strbuf.h"
#include "tests/codegen/mutate.h"
#include "tests/fixture/kernel.h"
#include "tests/fixture/longer.h"

enum { SEED = 5, MOST_COST = 300000, DEVICE_MUTANTS = 6 /* for each program */ };
static const double UNTOUCHED = -0x1.8p1000;
static const double SAME = 1e-6, SAME_ROUNDED = 1e-3; /* shares; of results with rounding errors */

struct mutant_program {
    const char *name, *text, *sizes; /* text NULL: experiments/kernels/NAME.lift */
};

#define ROWS "size M, N\ninput A: [[float]N]M\n"
#define VECTOR "size N\ninput x: [float]N\n"
#define VECTORS VECTOR "input y: [float]N\n"

static const struct mutant_program programs[] = {
    {"axpy", NULL, "N=64"},
    {"matmul", NULL, "M=8,N=8,K=8"},
    {"matmul_strided", NULL, "M=4,N=4,K=8"},
    {"gemv", NULL, "M=8,N=16"},
    {"gesummv", NULL, "M=4,N=8"},
    {"batched_matmul", NULL, "P=2,M=4,N=4,K=4"},
    {"batched_gemv", NULL, "P=2,M=4,N=8"},
    {"transpose", NULL, "M=8,N=8"},
    {"bias_relu", NULL, "M=8,N=8"},
    {"stencil", NULL, "N=7"},
    {"softmax", NULL, "M=4,N=8"},
    {"layer_norm", NULL, "M=4,N=8"},
    {"nearest", NULL, "N=16,M=6,D=4"}, /* a row of zeros is the nearest to few points */
    {"nbody", NULL, "N=4,D=3"},
    {"maximum", VECTOR "output reduce(max, -1e30, x)\n", "N=1000"},
    {"minimum", VECTOR "output reduce(min, 1e30, x)\n", "N=96"},
    {"row_maxima", ROWS "output map(fun r -> reduce(max, -1e30, r), A)\n", "M=8,N=64"},
    {"column_minima", ROWS "output map(fun c -> reduce(min, 1e30, c), transpose(A))\n", "M=16,N=12"},
    {"matrix_maximum", ROWS "output reduce(max, -1e30, join(A))\n", "M=6,N=20"},
    {"largest_magnitude", VECTOR "output reduce(fun m v -> max(m, abs(v)), 0.0, x)\n", "N=64"},
    {"largest_distance", VECTORS "output reduce(fun m (u, v) -> max(m, abs(u - v)), 0.0, zip(x, y))\n",
     "N=48"},
    {"span", VECTOR "output reduce(max, -1e30, x) - reduce(min, 1e30, x)\n", "N=64"},
    {"clamp", VECTOR "output map(fun v -> min(max(v, -0.5), 0.5), x)\n", "N=64"},
    {"larger_of_two", VECTORS "output map(fun (u, v) -> max(u, v), zip(x, y))\n", "N=64"},
    {"relu_of_gemv",
     ROWS "input x: [float]N\noutput map(fun r -> max(0.0, reduce(add, 0.0, map(mult, zip(r, x)))), A)\n",
     "M=8,N=16"},
    {"log_sum_exp",
     ROWS "output map(fun r -> let m = reduce(max, -1e30, r) in\n"
          "  m + log(reduce(add, 0.0, map(fun v -> exp(v - m), r))), A)\n",
     "M=4,N=16"},
    {"geometric_mean", ROWS "output map(fun r -> exp(reduce(add, 0.0, map(log, r)) / N), A)\n", "M=4,N=16"},
    {"product", VECTOR "output reduce(mult, 1.0, x)\n", "N=12"},
    {"reciprocals", "size N\ninput x: [float]N in 0.1..2\noutput map(fun v -> 1.0 / v, x)\n", "N=64"},
    {"multiply_add", VECTORS "input z: [float]N\noutput map(fun (a, b, c) -> fma(a, b, c), zip(x, y, z))\n",
     "N=64"},
    {"integer_sums", "size M, N\ninput A: [[int]N]M\noutput map(fun r -> reduce(add, 0, r), A)\n",
     "M=8,N=16"},
    {"max_product", VECTORS "output reduce(fun m (u, v) -> max(m, u * v), -1e30, zip(x, y))\n", "N=60"},
    {"max_plus_matmul",
     "size M, N, K\ninput A: [[float]K]M\ninput B: [[float]N]K\noutput map(fun r -> map(fun c ->\n"
     "  reduce(fun m (u, v) -> max(m, u + v), -1e30, zip(r, c)), transpose(B)), A)\n",
     "M=4,N=4,K=16"},
    {"double_dot",
     "size N\ninput x: [double]N\ninput y: [double]N\noutput reduce(add, 0.0, map(mult, zip(x, y)))\n",
     "N=64"},
    {"rounded_matmul",
     "size M, N, K\ninput A: [[float]K]M\ninput B: [[float]N]K\n"
     "output map(fun r -> map(fun c -> sum(map(mult, zip(r, c))), transpose(B)), A)\n",
     "M=3,N=13,K=15"},
    {"rounded_maxima", ROWS "output map(fun r -> reduce(max, -1e30, r), A)\n", "M=3,N=37"},
    {"rounded_sum", VECTORS "output map(fun (u, v) -> u + v, zip(x, y))\n", "N=29"},
    {"norms", ROWS "output map(fun r -> sqrt(reduce(add, 0.0, map(fun v -> v * v, r))), A)\n", "M=8,N=16"},
    {"sum_of_norms",
     ROWS "output reduce(add, 0.0, map(fun r -> sqrt(reduce(add, 0.0, map(fun v -> v * v, r))), A))\n",
     "M=6,N=8"},
    {"second_largest",
     ROWS "output map(fun r -> get(0, reduce(fun ((b, a), v) -> (max(b, min(a, v)), max(a, v)),\n"
          "  (-9.0, -9.0), r)), A)\n",
     "M=6,N=16"},
    {"variance",
     ROWS "output map(fun r -> let t = reduce(fun ((s, q), v) -> (s + v, q + v * v), (0.0, 0.0), r) in\n"
          "  get(1, t) / N - get(0, t) / N * (get(0, t) / N), A)\n",
     "M=6,N=16"},
    {"sum_of_rows", ROWS "output reduce(fun s r -> reduce(add, s, r), 0.0, A)\n", "M=6,N=8"},
};

struct score {
    unsigned made, caught, missed;
};

struct mutant_bench {
    const struct mutant_program *program;
    struct problem *problem;
    struct verify_task *task;
    unsigned output;
    struct verify_tolerance tolerance[VERIFY_MOST_SETS];
    struct pcg32 rng;
    double **buffers, **others; /* [n_buffers]; of the program and of the unchanged one beside it */
    void *typed;                /* outputs as the device would give them */
    struct score scores[MUTATE_KINDS];
    bool all;
};

/* ---- setting up ---- */

static struct problem *mutant_problem(const struct mutant_program *x)
{
    struct diag *d = diag_new();
    size_t length;
    char *read = x->text ? NULL : kernel_read(x->name, &length);
    struct problem *p = problem_new(x->name, x->text ? x->text : read, x->sizes, &kernel_device, NULL, d);
    diag_print(d, stderr);
    cr_assert_not_null(p, "%s does not open", x->name);
    free(read);
    diag_free(d);
    return p;
}

static double **make_buffers(const struct verify_task *t)
{
    double **buffers = base_calloc(t->n_buffers, sizeof *buffers);
    for (unsigned b = 0; b < t->n_buffers; b++)
        buffers[b] = base_calloc((size_t)t->buffers[b].elements, sizeof **buffers);
    return buffers;
}

static void bench_open(struct mutant_bench *x, const struct mutant_program *program)
{
    struct diag *d = diag_new();
    *x = (struct mutant_bench){
        .program = program, .problem = mutant_problem(program), .rng = pcg32_seed(SEED, 3)};
    const struct backbone *bb = x->problem->backbone;
    x->all = tests_are_long();
    for (unsigned b = 0; b < bb->n_buffers; b++)
        if (bb->buffers[b].output) x->output = b;
    x->task = verify_task_of(bb, false, NULL, SEED, d);
    cr_assert_not_null(x->task);
    verify_interpret(x->task);
    bool sound = verify_reference(x->task, SEED, x->tolerance, d);
    cr_assert(sound, "%s: %s", program->name, sound ? "" : diag_message(d, 0));
    x->buffers = make_buffers(x->task);
    x->others = make_buffers(x->task);
    x->typed = base_calloc(x->task->buffers[x->output].bytes, 1);
    diag_free(d);
}

static void bench_close(struct mutant_bench *x)
{
    for (unsigned b = 0; b < x->task->n_buffers; b++) {
        free(x->buffers[b]);
        free(x->others[b]);
    }
    free(x->buffers);
    free(x->others);
    free(x->typed);
    verify_task_free(x->task);
    problem_free(x->problem);
}

static struct cg_program *build_leaf(const struct mutant_bench *x, const struct space_state *leaf,
                                     struct arena *a)
{
    const struct cg_target target = cg_target_of(&x->problem->limits);
    const struct backbone *bb = x->problem->backbone;
    struct bb_candidate *c = bb_candidate_new(bb, a);
    const char *why = "";
    cr_assert(bb_decode(bb, leaf, c, &why), "%s: %s", x->program->name, why);
    struct cg_program *p = cg_build(bb, c, &target, a, &why);
    cr_assert_not_null(p, "%s: %s", x->program->name, why);
    return p;
}

/* ---- verification ---- */

static void clear_output(const struct mutant_bench *x, double *out)
{
    for (int64_t i = 0; i < x->task->buffers[x->output].elements; i++)
        out[i] = UNTOUCHED;
}

/* Nobody waits for a sign of life. */
static void stay_quiet(void *ctx)
{
    (void)ctx;
}

static int64_t run_set(struct mutant_bench *x, const struct cg_program *p, unsigned set)
{
    const struct verify_task *t = x->task;
    const struct verify_buffer *out = &t->buffers[x->output];
    unsigned char fill[VERIFY_FILL];
    size_t n = scalar_type_bytes(out->type);
    for (unsigned b = 0; b < t->n_buffers; b++)
        for (int64_t i = 0; b != x->output && i < t->buffers[b].elements; i++)
            x->buffers[b][i] = verify_get(t->buffers[b].type, t->buffers[b].data[set], i);
    clear_output(x, x->buffers[x->output]);
    cg_interpret_through(p, x->buffers);
    verify_fill(out->type, set, fill);
    for (int64_t i = 0; i < out->elements; i++) {
        if (x->buffers[x->output][i] == UNTOUCHED)
            memcpy((char *)x->typed + (size_t)i * n, fill, n);
        else
            verify_put(out->type, x->typed, i, x->buffers[x->output][i]);
    }
    return verify_wrong(t, x->output, set, x->typed, x->tolerance[set], stay_quiet, NULL);
}

/* As a runner does. */
static bool passes(struct mutant_bench *x, const struct cg_program *p)
{
    for (unsigned set = 0; set < x->task->n_sets; set++)
        if (run_set(x, p, set) >= 0) return false;
    return true;
}

/* ---- whether a mutant changes a result ---- */

/* What differences are relative to: the largest magnitude of the outputs on the timing set, since a sum may
 * be near 0 by chance, and of these outputs, if the program rounds. */
static double scale_of(const struct mutant_bench *x, const double *out)
{
    const struct verify_buffer *b = &x->task->buffers[x->output];
    double scale = 0;
    for (int64_t i = 0; i < b->elements; i++) {
        double usual = fabs(verify_get(b->type, b->data[VERIFY_TIMING], i));
        if (isfinite(usual)) scale = fmax(scale, usual);
    }
    for (int64_t i = 0; !x->tolerance[VERIFY_EXACT].exact && i < x->task->buffers[x->output].elements; i++)
        if (isfinite(out[i])) scale = fmax(scale, fabs(out[i]));
    return scale;
}

static bool differ(const struct mutant_bench *x)
{
    const double *one = x->buffers[x->output], *two = x->others[x->output];
    double share = x->tolerance[VERIFY_EXACT].exact ? SAME : SAME_ROUNDED, scale = scale_of(x, two);
    for (int64_t i = 0; i < x->task->buffers[x->output].elements; i++) {
        if (one[i] == two[i] || (isnan(one[i]) && isnan(two[i]))) continue;
        if (!(fabs(one[i] - two[i]) <= share * fmax(scale, fabs(two[i])))) return true;
    }
    return false;
}

static bool changes_now(struct mutant_bench *x, const struct cg_program *mutant,
                        const struct cg_program *sound)
{
    for (unsigned b = 0; b < x->task->n_buffers; b++)
        if (b != x->output)
            memcpy(x->others[b], x->buffers[b], (size_t)x->task->buffers[b].elements * sizeof(double));
    clear_output(x, x->buffers[x->output]);
    clear_output(x, x->others[x->output]);
    cg_interpret_through(mutant, x->buffers);
    cg_interpret_through(sound, x->others);
    return differ(x);
}

/* The range that verification draws an input from, as its timing set shows it. */
static struct lift_range seen_range(const struct verify_buffer *b)
{
    struct lift_range r = {.low = INFINITY, .high = -INFINITY};
    for (int64_t i = 0; i < b->elements; i++) {
        r.low = fmin(r.low, verify_get(b->type, b->data[VERIFY_TIMING], i));
        r.high = fmax(r.high, verify_get(b->type, b->data[VERIFY_TIMING], i));
    }
    return r;
}

/* Fills the inputs from a share of their ranges. */
static void draw_share(struct mutant_bench *x, double from, double to)
{
    for (unsigned b = 0; b < x->task->n_buffers; b++) {
        struct verify_buffer *v = &x->task->buffers[b];
        if (v->output) continue;
        struct lift_range r = seen_range(v);
        double width = r.high - r.low;
        struct lift_range part = {.low = r.low + from * width, .high = r.low + to * width};
        for (int64_t i = 0; i < v->elements; i++)
            x->buffers[b][i] = lift_range_draw(&part, v->type, pcg32_unit(&x->rng));
    }
}

static bool changes_on_random(struct mutant_bench *x, const struct cg_program *mutant,
                              const struct cg_program *sound)
{
    static const double shares[][2] = {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 0.5}, {0.5, 1}};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        draw_share(x, shares[i][0], shares[i][1]);
        if (changes_now(x, mutant, sound)) return true;
    }
    return false;
}

/* One extreme element at each place of an input, or at some of them. */
static bool changes_on_extremes(struct mutant_bench *x, const struct cg_program *mutant,
                                const struct cg_program *sound, unsigned b)
{
    struct verify_buffer *v = &x->task->buffers[b];
    struct lift_range r = seen_range(v);
    int64_t step = 1 + v->elements / (x->all ? 256 : 24);
    for (int64_t i = (int64_t)pcg32_below(&x->rng, (uint32_t)step); i < v->elements; i += step) {
        double kept = x->buffers[b][i];
        for (int high = 0; high < 2; high++) {
            x->buffers[b][i] = high ? r.high : r.low;
            if (changes_now(x, mutant, sound)) return true;
        }
        x->buffers[b][i] = kept;
    }
    return false;
}

static bool changes(struct mutant_bench *x, const struct cg_program *mutant, const struct cg_program *sound)
{
    if (changes_on_random(x, mutant, sound)) return true;
    for (unsigned b = 0; x->task->n_sets > VERIFY_EXTREME && b < x->task->n_buffers; b++) {
        draw_share(x, 0.2, 0.8);
        if (b != x->output && changes_on_extremes(x, mutant, sound, b)) return true;
    }
    return false;
}

/* ---- all mutants of a program ---- */

static void report_missed(const struct cg_program *p, const struct mutant *m, const char *program)
{
    struct strbuf text = {0}, tree = {0};
    mutant_print(p, m, &text);
    cg_print_tree(p, &tree);
    cr_expect_fail("%s: verification misses %s\n%s", program, text.text, tree.text);
    strbuf_free(&text);
    strbuf_free(&tree);
}

static void try_mutant(struct mutant_bench *x, const struct space_state *leaf, const struct cg_program *sound,
                       const struct mutant *m)
{
    struct arena *a = arena_new();
    struct cg_program *p = build_leaf(x, leaf, a);
    struct score *s = &x->scores[m->kind];
    mutate(p, m);
    s->made++;
    if (!passes(x, p)) {
        s->caught++;
    } else if (changes(x, p, sound)) {
        s->missed++;
        report_missed(sound, m, x->program->name);
    }
    arena_free(a);
}

/* A sample of the mutants of an implementation, or all; those of an implementation that takes long are left
 * out. */
static void try_leaf(struct mutant_bench *x, const struct space_state *leaf, unsigned most)
{
    struct arena *a = arena_new();
    struct cg_program *sound = build_leaf(x, leaf, a);
    struct mutant *list;
    unsigned n = cg_interpret_cost(sound) <= MOST_COST ? mutants_of(sound, &list) : 0;
    if (n) cr_assert(passes(x, sound), "%s: an implementation without a change is refused", x->program->name);
    for (unsigned i = 0; i < n && (x->all || i < most); i++) {
        unsigned j = i + pcg32_below(&x->rng, n - i);
        struct mutant m = list[j];
        list[j] = list[i];
        try_mutant(x, leaf, sound, &m);
    }
    if (n) free(list);
    arena_free(a);
}

static void print_scores(const struct mutant_bench *x)
{
    struct score sum = {0};
    struct strbuf text = {0};
    for (int k = 0; k < MUTATE_KINDS; k++) {
        const struct score *s = &x->scores[k];
        sum.made += s->made;
        sum.caught += s->caught;
        sum.missed += s->missed;
        unsigned same = s->made - s->caught - s->missed;
        if (s->made)
            strbuf_printf(&text, " %s %u/%u", mutation_name((enum mutation)k), s->caught,
                          s->caught + s->missed);
        if (same) strbuf_printf(&text, "+%u", same);
    }
    fprintf(stderr, "mutants of %-17s %4u made, %4u without effect; caught %u/%u:%s\n", x->program->name,
            sum.made, sum.made - sum.caught - sum.missed, sum.caught, sum.caught + sum.missed, text.text);
    strbuf_free(&text);
}

static void check_mutants(const struct mutant_program *program)
{
    struct mutant_bench x;
    struct diag *d = diag_new();
    bench_open(&x, program);
    struct space_state *naive = problem_naive(x.problem, d), *st = kernel_root(x.problem->space);
    cr_assert_not_null(naive);
    try_leaf(&x, naive, 12);
    space_mark root = space_snapshot(st);
    for (int i = 0, tried = 0; i < 200 && tried < (x.all ? 8 : 4); i++) {
        bool leaf = kernel_descend(st, &x.rng);
        if (leaf) try_leaf(&x, st, 12);
        tried += leaf;
        space_rollback(st, root);
    }
    print_scores(&x);
    space_state_free(naive);
    space_state_free(st);
    diag_free(d);
    bench_close(&x);
}

static const struct mutant_program *mutant_program_of(const char *name)
{
    size_t i = 0;
    while (i < sizeof programs / sizeof *programs && strcmp(programs[i].name, name))
        i++;
    cr_assert_lt(i, sizeof programs / sizeof *programs, "no program %s", name);
    return &programs[i];
}

/* ---- the device ---- */

static enum eval_status evaluate_program(struct evaluator *ev, const struct cg_program *p)
{
    struct cg_kernel k;
    struct evaluation e;
    cg_emit(p, &k);
    evaluator_run(ev, &k, &(struct eval_settings){.verify = true, .untimed = true}, &e);
    cg_kernel_free(&k);
    return e.status;
}

/* Whether the interpreter catches the mutant although it reads and writes nothing that is undefined. */
static bool caught_soundly(struct mutant_bench *x, const struct cg_program *p)
{
    return cg_interpret_through(p, x->buffers).fault == CG_OK && !passes(x, p);
}

/* Mutants of a leaf that the interpreter catches are caught on the device. Returns how many were tried. */
static unsigned try_on_device(struct mutant_bench *x, struct evaluator *ev, const struct space_state *leaf)
{
    struct arena *a = arena_new();
    struct cg_program *sound = build_leaf(x, leaf, a);
    struct mutant *list;
    unsigned n = mutants_of(sound, &list), tried = 0;
    cr_expect_eq(evaluate_program(ev, sound), EVAL_OK, "%s", x->program->name);
    for (unsigned i = 0; i < 8 * DEVICE_MUTANTS && tried < DEVICE_MUTANTS; i++) {
        struct mutant m = list[pcg32_below(&x->rng, n)];
        struct cg_program *p = build_leaf(x, leaf, a);
        mutate(p, &m);
        if (m.kind == MUTATE_ONCE || !caught_soundly(x, p)) continue;
        tried++;
        if (evaluate_program(ev, p) == EVAL_OK) report_missed(sound, &m, x->program->name);
    }
    free(list);
    arena_free(a);
    return tried;
}

Test(mutants, are_caught_on_the_device, .timeout = 300)
{
    static const char *const names[] = {"maximum", "row_maxima", "geometric_mean", "gemv"};
    struct diag *d = diag_new();
    struct device dev;
    cr_assert(device_select("cpu", &dev, d));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct mutant_bench x;
        bench_open(&x, mutant_program_of(names[i]));
        struct evaluator *ev = evaluator_new(x.problem, &dev, 1, SEED, d);
        struct space_state *naive = problem_naive(x.problem, d);
        cr_assert(ev && naive);
        cr_expect_gt(try_on_device(&x, ev, naive), 0, "%s", names[i]);
        space_state_free(naive);
        evaluator_free(ev);
        bench_close(&x);
    }
    diag_free(d);
}

/* ---- the programs ---- */

#define MUTANT_TEST(name)                                                                                    \
    Test(mutants, name, .timeout = 3600)                                                                     \
    {                                                                                                        \
        check_mutants(mutant_program_of(#name));                                                             \
    }

MUTANT_TEST(axpy)
MUTANT_TEST(matmul)
MUTANT_TEST(matmul_strided)
MUTANT_TEST(gemv)
MUTANT_TEST(gesummv)
MUTANT_TEST(batched_matmul)
MUTANT_TEST(batched_gemv)
MUTANT_TEST(transpose)
MUTANT_TEST(bias_relu)
MUTANT_TEST(stencil)
MUTANT_TEST(softmax)
MUTANT_TEST(layer_norm)
MUTANT_TEST(maximum)
MUTANT_TEST(minimum)
MUTANT_TEST(row_maxima)
MUTANT_TEST(column_minima)
MUTANT_TEST(matrix_maximum)
MUTANT_TEST(largest_magnitude)
MUTANT_TEST(largest_distance)
MUTANT_TEST(span)
MUTANT_TEST(clamp)
MUTANT_TEST(larger_of_two)
MUTANT_TEST(relu_of_gemv)
MUTANT_TEST(log_sum_exp)
MUTANT_TEST(geometric_mean)
MUTANT_TEST(product)
MUTANT_TEST(reciprocals)
MUTANT_TEST(multiply_add)
MUTANT_TEST(integer_sums)
MUTANT_TEST(max_product)
MUTANT_TEST(max_plus_matmul)
MUTANT_TEST(double_dot)
MUTANT_TEST(norms)
MUTANT_TEST(rounded_matmul)
MUTANT_TEST(rounded_maxima)
MUTANT_TEST(rounded_sum)
MUTANT_TEST(sum_of_norms)
MUTANT_TEST(nearest)
MUTANT_TEST(sum_of_rows)
MUTANT_TEST(second_largest)
MUTANT_TEST(variance)
MUTANT_TEST(nbody)
