/* Random implementations of many programs, each run by the interpreter of the loop program and compared with
 * the reference as a runner compares the outputs of a device:
 *
 *     printf 'a.lift\tN=8,M=4\nb.lift\tN=7\n' | build/leaves 20 1
 *
 * takes 20 random implementations of each program from a generator seeded with 1, and prints a line each:
 *
 *     a.lift     ok         20 implementations
 *     b.lift     refused    b.lift:3:8: error: not supported yet: ...
 *
 * A program that is no kernel as it is, as it reads a scan in another order, is tried as the kernels that
 * 'thresh tune' makes of it: `40 implementations of 2 kernels`. Arguments after the seed are pins, such as
 * 'staged(t*)=YES', for the programs that they leave implementations of. A third word `wrong` names the first
 * implementation that is: what differs, and its loop nest. Each program has a process of its own; one that
 * dies is `crashed`. Exit status 1 if a program is wrong or crashed. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/verify.h"
#include "coordinator/sequence/plan.h"
#include "core/backbone/backbone.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/base/pcg32.h"
#include "core/base/strbuf.h"
#include "core/codegen/codegen.h"
#include "core/pipeline/problem.h"
#include "core/space/space.h"
#include "mcts/branch.h"
#include "mcts/descent.h"

enum { MOST_DESCENTS = 50 /* for each implementation */, REFUSED = 2, CRASHED = 3 };
static const double MOST_COST = 3e6; /* statements of an interpreted implementation */

/* Small enough for short interpretations, with everything that a device may have. */
static const struct bb_device device = {
    .max_work_group = 64,
    .max_work_item = {64, 64, 64},
    .local_bytes = 4096,
    .n_vector_widths = 2,
    .vector_widths = {2, 4},
};

struct check {
    const char *const *pins;
    unsigned n_pins;
    struct problem *problem;
    struct verify_task *task;
    struct verify_tolerance *tolerance; /* [outputs * n_sets] */
    double **buffers;                   /* the arrays of one run */
    struct strbuf *why;                 /* what is wrong */
};

static void stay_quiet(void *ctx)
{
    (void)ctx;
}

/* Whether an output that the loop program wrote is right. Elements that it did not write are NaN, or one more
 * than they should be. */
static bool output_agrees(struct check *x, unsigned output, unsigned set)
{
    const unsigned n = verify_output(x->task, output);
    const struct verify_buffer *b = &x->task->buffers[n];
    void *typed = base_calloc((size_t)b->elements, scalar_type_bytes(b->type));
    for (int64_t i = 0; i < b->elements; i++)
        verify_put(b->type, typed, i, x->buffers[n][i]);
    int64_t at =
        verify_wrong(x->task, n, set, typed, x->tolerance[output * x->task->n_sets + set], stay_quiet, NULL);
    if (at >= 0)
        strbuf_printf(x->why, "element %" PRId64 " of output %u on set %u is %.17g, not %.17g", at, output,
                      set, x->buffers[n][at], verify_get(b->type, b->data[set], at));
    free(typed);
    return at < 0;
}

static bool set_agrees(struct check *x, const struct cg_program *p, unsigned set)
{
    for (unsigned b = 0; b < x->task->n_buffers; b++) {
        const struct verify_buffer *v = &x->task->buffers[b];
        for (int64_t i = 0; i < v->elements; i++) {
            double reference = v->output ? verify_get(v->type, v->data[set], i) : 0;
            x->buffers[b][i] = verify_is_input(v)        ? verify_get(v->type, verify_values(v, set), i)
                               : verify_integer(v->type) ? reference + 1
                                                         : (double)NAN;
        }
    }
    struct cg_check fault = cg_interpret(p, x->buffers);
    if (fault.fault != CG_OK) strbuf_printf(x->why, "fault %d at %s", (int)fault.fault, fault.where);
    for (unsigned o = 0; fault.fault == CG_OK && o < verify_outputs(x->task); o++)
        if (!output_agrees(x, o, set)) return false;
    return fault.fault == CG_OK;
}

/* -1: too long to be interpreted; 0: wrong, with a reason; 1: right. */
static int try_leaf(struct check *x, const struct space_state *leaf)
{
    struct arena *a = arena_new();
    const struct backbone *bb = x->problem->backbone;
    const struct cg_target target = cg_target_of(&x->problem->limits);
    struct bb_candidate *c = bb_candidate_new(bb, a);
    const char *why = "";
    struct cg_program *p = bb_decode(bb, leaf, c, &why) ? cg_build(bb, c, &target, a, &why) : NULL;
    int result = 1;
    if (!p) {
        strbuf_printf(x->why, "a leaf that cannot be lowered: %s", why);
        result = 0;
    } else if (cg_interpret_cost(p) > MOST_COST) {
        result = -1;
    }
    for (unsigned set = 0; result == 1 && set < x->task->n_sets; set++)
        result = set_agrees(x, p, set);
    if (p && result == 0) {
        strbuf_printf(x->why, "\n");
        cg_print_tree(p, x->why);
    }
    arena_free(a);
    return result;
}

/* Returns how many implementations were tried; the last one is wrong if x->why has a text. */
static unsigned try_leaves(struct check *x, unsigned wanted, struct pcg32 *rng)
{
    const struct mcts_branching branching = {0};
    struct space_failure none = {0};
    struct diag *unheard = diag_new();
    struct space_state *st = space_pinned_root(x->problem->space, x->pins, x->n_pins, unheard);
    if (!st) st = space_root(x->problem->space, &none);
    unsigned tried = 0;
    diag_free(unheard);
    if (!st) return 0;
    space_mark root = space_snapshot(st);
    for (unsigned i = 0; i < wanted * MOST_DESCENTS && tried < wanted && !x->why->length; i++) {
        if (mcts_descend_random(&branching, st, INFINITY, 0, rng, NULL).leaf) tried += try_leaf(x, st) >= 0;
        space_rollback(st, root);
    }
    space_state_free(st);
    return tried;
}

/* ---- programs ---- */

/* What is tried of each program. */
struct wish {
    unsigned wanted; /* implementations */
    uint64_t seed;
    const char *const *pins;
    unsigned n_pins;
};

/* Tries implementations of a program that is one kernel. Returns their number, or -1 after an error; the last
 * one is wrong if `why` has a text. */
static int check_text(const char *path, const char *text, const char *sizes, const struct wish *w,
                      struct strbuf *why, struct diag *d)
{
    struct check x = {.pins = w->pins, .n_pins = w->n_pins, .why = why};
    x.problem = problem_new(path, text, sizes, &device, NULL, d);
    if (x.problem) x.task = verify_task_of(x.problem->backbone, false, NULL, w->seed, d);
    if (!x.task) return -1;
    x.tolerance = base_calloc(verify_outputs(x.task) * x.task->n_sets, sizeof *x.tolerance);
    verify_interpret(x.task);
    if (!verify_reference(x.task, w->seed, x.tolerance, d)) return -1;
    x.buffers = base_calloc(x.task->n_buffers, sizeof *x.buffers);
    for (unsigned b = 0; b < x.task->n_buffers; b++)
        x.buffers[b] = base_calloc((size_t)x.task->buffers[b].elements, sizeof **x.buffers);
    struct pcg32 rng = pcg32_seed(w->seed, 1);
    return (int)try_leaves(&x, w->wanted, &rng);
}

static double *drawn(const struct lift_program *p, unsigned array, struct arena *a, struct pcg32 *rng)
{
    int64_t n = lift_type_scalars(p->arrays[array].type);
    double *x = ARENA_ARRAY(a, double, n);
    const struct lift_range *range =
        p->arrays[array].input == LIFT_NONE ? NULL : &p->inputs[p->arrays[array].input]->range;
    enum scalar_type t = SCALAR_FLOAT;
    lift_type_bottom(p->arrays[array].type, &t);
    for (int64_t i = 0; i < n; i++)
        x[i] = range && range->given ? lift_range_draw(range, t, pcg32_unit(rng)) : pcg32_below(rng, 9) - 4.0;
    return x;
}

/* Whether two programs with the same arrays compute the same, bit for bit. */
static bool same_results(const struct lift_program *p, const struct lift_program *q, struct strbuf *why)
{
    struct arena *a = arena_new();
    struct pcg32 rng = pcg32_seed(5, 1);
    const double *in[LIFT_MAX_ARRAYS];
    for (unsigned k = 0; k < p->n_arrays; k++)
        in[k] = drawn(p, k, a, &rng);
    for (unsigned k = 0; k < p->n_arrays && !why->length; k++) {
        size_t n = (size_t)lift_type_scalars(p->arrays[k].type);
        double *x = ARENA_ARRAY(a, double, n), *y = ARENA_ARRAY(a, double, n);
        if (p->arrays[k].output == LIFT_NONE) continue;
        lift_interpret(p, in, k, x);
        lift_interpret(q, in, k, y);
        if (memcmp(x, y, n * sizeof *x) != 0)
            strbuf_printf(why, "another result once its scans have names:\n%s", q->source->text);
    }
    arena_free(a);
    return !why->length;
}

/* A program that is no kernel: the kernels that 'thresh tune' makes of it, *kernels of them. */
static int check_parts(const char *path, const char *text, const char *sizes, const struct wish *w,
                       unsigned *kernels, struct strbuf *why)
{
    struct diag *d = diag_new();
    const struct bb_options usual = {0};
    struct sequence_plan *plan = sequence_plan_new(path, text, sizes, "all", &usual, d);
    int tried = plan ? 0 : -1;
    if (plan) same_results(lift_parse_bound(&plan->source, sizes, plan->arena, d), plan->program, why);
    for (unsigned i = 0; plan && tried >= 0 && i < plan->n_programs && !why->length; i++) {
        const struct sequence_program *p = &plan->programs[i];
        int n = check_text(p->path, p->text, sizes, w, why, d);
        tried = n < 0 ? -1 : tried + n;
        *kernels += 1;
    }
    sequence_plan_free(plan);
    diag_free(d);
    return tried;
}

/* The exit status of the program's process. */
static int check_program(const char *path, const char *sizes, const struct wish *w)
{
    struct diag *d = diag_new();
    struct strbuf why = {0};
    size_t length = 0;
    unsigned kernels = 0;
    char *text = source_read_file(path, 1 << 20, &length, d);
    int tried = text ? check_text(path, text, sizes, w, &why, d) : -1;
    if (text && tried < 0) tried = check_parts(path, text, sizes, w, &kernels, &why);
    if (tried < 0) {
        printf("%s\trefused\t%s\n", path, diag_message(d, 0));
        return REFUSED;
    }
    printf("%s\t%s\t%d implementations", path, why.length ? "wrong" : "ok", tried);
    if (kernels) printf(" of %u kernels", kernels);
    printf("\n%s%s", why.length ? why.text : "", why.length ? "\n" : "");
    return why.length ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct wish w = {.wanted = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0,
                     .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1,
                     .pins = (const char *const *)argv + 3,
                     .n_pins = argc > 3 ? (unsigned)argc - 3 : 0};
    char *line = NULL;
    size_t room = 0;
    bool bad = false;
    if (!w.wanted) {
        fprintf(
            stderr,
            "usage: leaves IMPLEMENTATIONS [SEED [PIN...]] < LIST, whose lines are KERNEL.lift, a tab, and "
            "sizes\n");
        return REFUSED;
    }
    for (ssize_t n; (n = getline(&line, &room, stdin)) > 0;) {
        line[strcspn(line, "\n")] = '\0';
        char *sizes = strchr(line, '\t');
        if (sizes) *sizes++ = '\0';
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            int status = check_program(line, sizes && *sizes ? sizes : NULL, &w);
            fflush(stdout);
            _exit(status);
        }
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) != child) return CRASHED;
        if (WIFSIGNALED(status)) printf("%s\tcrashed\tsignal %d\n", line, WTERMSIG(status));
        bad = bad || WIFSIGNALED(status) || WEXITSTATUS(status) == EXIT_FAILURE;
    }
    free(line);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
