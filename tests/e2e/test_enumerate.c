/* Every implementation of tiny kernels: the spaces are cut by sizes and levels to 10^3 to 10^5 leaves, all of
 * which go through the interpreter of the loop program. The distinct texts among them are built and run on a
 * device: a sample, or with THRESH_LONG up to 2,000 a kernel. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/evaluate.h"
#include "core/base/diag.h"
#include "core/base/hash.h"
#include "mcts/seen.h"
#include "tests/e2e/fixture.h"
#include "tests/fixture/longer.h"

enum { MOST_TEXTS = 2000, SAMPLE = 12 };

struct tiny {
    struct kernel_case at;
    struct bb_options options;
    uint64_t leaves; /* about, for the sample */
};

struct walk {
    struct e2e_fixture fixture;
    const struct tiny *tiny;
    struct evaluator *evaluator;
    struct mcts_seen texts;
    uint64_t leaves, ran, stride; /* every stride-th text runs on the device */
};

static void run_on_device(struct walk *w, const struct cg_kernel *kernel)
{
    static const struct eval_settings settings = {.verify = true, .untimed = true};
    struct evaluation e;
    evaluator_run(w->evaluator, kernel, &settings, &e);
    cr_assert_eq(e.status, EVAL_OK, "%s: %s: %s\n%s", w->tiny->at.kernel, eval_status_name(e.status),
                 e.message, kernel->source);
    w->ran++;
}

static void check_leaf(struct walk *w, const struct space_state *leaf)
{
    char what[64];
    struct cg_kernel kernel;
    snprintf(what, sizeof what, "%s, leaf %lu", w->tiny->at.kernel, (unsigned long)w->leaves++);
    e2e_check(&w->fixture, leaf, what, &kernel);
    uint64_t hash = hash_finish(hash_string(HASH_START, kernel.source));
    if (!mcts_seen_has(&w->texts, hash)) {
        if (w->stride && w->texts.count % w->stride == 0) run_on_device(w, &kernel);
        mcts_seen_add(&w->texts, hash);
    }
    cg_kernel_free(&kernel);
}

/* Depth first over all values of all choices. */
static void visit(struct walk *w, struct space_state *st)
{
    uint32_t slot = space_next_choice(st, NULL, 0);
    if (slot == UINT32_MAX) {
        check_leaf(w, st);
        return;
    }
    uint32_t universe = space_universe(space_of(st), slot);
    for (uint32_t v = 0; v < universe; v++) {
        if (!space_has_value(st, slot, v)) continue;
        space_mark mark = space_snapshot(st);
        struct space_failure why;
        if (space_apply(st, (struct space_action){slot, v}, &why)) visit(w, st);
        space_rollback(st, mark);
    }
}

static void enumerate(const struct tiny *t)
{
    struct walk w = {.tiny = t};
    struct diag *d = diag_new();
    struct device dev;
    e2e_open(&w.fixture, e2e_problem(&t->at, &kernel_small_device, &t->options));
    cr_assert(device_select("", &dev, d), "%s", diag_count(d) ? diag_message(d, 0) : "");
    w.evaluator = evaluator_new(w.fixture.problem, &dev, 1, 1, d);
    cr_assert_not_null(w.evaluator, "%s", diag_count(d) ? diag_message(d, 0) : "");
    w.stride = t->leaves / longer(SAMPLE, MOST_TEXTS) + 1;
    struct space_state *st = kernel_root(w.fixture.problem->space);
    visit(&w, st);
    cr_assert(w.leaves >= 1000 && w.leaves <= 100000, "%s: %lu leaves", t->at.kernel,
              (unsigned long)w.leaves);
    cr_assert_gt(w.ran, 0);
    fprintf(stderr, "%s %s: %lu leaves, %zu texts, %lu run\n", t->at.kernel, t->at.sizes,
            (unsigned long)w.leaves, w.texts.count, (unsigned long)w.ran);
    space_state_free(st);
    mcts_seen_free(&w.texts);
    evaluator_free(w.evaluator);
    e2e_close(&w.fixture);
    diag_free(d);
}

Test(enumerate, all_axpys, .timeout = 1800)
{
    enumerate(
        &(struct tiny){{"axpy", "N=4"},
                       {.parallel_levels = 2, .reduction_levels = 1, .copy_levels = 1, .no_staging = true},
                       5760});
}

Test(enumerate, all_gemvs, .timeout = 1800)
{
    enumerate(
        &(struct tiny){{"gemv", "M=2,N=4"},
                       {.parallel_levels = 1, .reduction_levels = 2, .copy_levels = 1, .no_staging = true},
                       17346});
}

Test(enumerate, all_matmuls, .timeout = 1800)
{
    enumerate(
        &(struct tiny){{"matmul", "M=2,N=2,K=2"},
                       {.parallel_levels = 1, .reduction_levels = 1, .copy_levels = 1, .no_staging = true},
                       40292});
}

Test(enumerate, all_transposes_with_and_without_staging, .timeout = 1800)
{
    enumerate(&(struct tiny){
        {"transpose", "M=2,N=2"}, {.parallel_levels = 2, .reduction_levels = 2, .copy_levels = 2}, 15691});
}
