/* Plug-ins: the formulas of the built-in ones against hand-computed values, parameters, and faulty plug-ins.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "mcts/policies.h"
#include "tests/mcts/plugin.h"

static const double LEFT[] = {10, 20}, RIGHT[] = {15, 30, 40};

static struct mcts_view two_children(struct mcts_child children[2], struct pcg32 *rng)
{
    children[0] =
        (struct mcts_child){.visits = 3, .times = 2, .time_sum = 30, .best = LEFT, .n_best = 2, .prior = 1};
    children[1] =
        (struct mcts_child){.visits = 5, .times = 3, .time_sum = 85, .best = RIGHT, .n_best = 3, .prior = 1};
    static const double EVEN[] = {1, 1};
    return (struct mcts_view){
        .children = children, .n_children = 2, .best_time = 10, .cut = INFINITY, .rng = rng, .weights = EVEN};
}

/* Lets a built-in plug-in decide; its state is what `spec` sets. */
static uint32_t decide(const struct mcts_plugin *plugin, const double *state, const struct mcts_view *view,
                       double *score)
{
    double copy[8] = {0};
    memcpy(copy, state, plugin->state_size);
    return plugin->select(copy, view, score);
}

static void expect_error(const char *spec, const char *text)
{
    struct diag *d = diag_new();
    cr_assert_null(mcts_heuristic_load(spec, d), "%s", spec);
    cr_assert_eq(diag_count(d), 1, "%s", spec);
    cr_assert_not_null(strstr(diag_message(d, 0), text), "%s: %s", spec, diag_message(d, 0));
    diag_free(d);
}

/* Threshold 20 (third best of 10 15 20 30 40), s = 2 and 1, alpha = ln 32. */
Test(mcts_heuristic, tag_score_by_hand)
{
    struct mcts_child children[2];
    struct pcg32 rng = pcg32_seed(1, 0);
    struct mcts_view view = two_children(children, &rng);
    double score, state[] = {3, 1, 1.5}, alpha = log(32);
    cr_assert_eq(decide(&mcts_plugin_tag, state, &view, &score), 0);
    cr_assert_float_eq(score, (2 + alpha + sqrt(alpha * (4 + alpha))) / 3, 1e-12);
    cr_assert_float_eq(score, 3.5174705107, 1e-9);
}

Test(mcts_heuristic, tag_without_exploration_counts_successes)
{
    struct mcts_child children[2];
    struct pcg32 rng = pcg32_seed(1, 0);
    struct mcts_view view = two_children(children, &rng);
    double score, few[] = {3, 1e9, 1.5}, all[] = {10, 1e9, 1.5};
    cr_assert_eq(decide(&mcts_plugin_tag, few, &view, &score), 0);
    cr_assert_float_eq(score, 2.0 / 3, 1e-12);
    children[0].visits = 4;
    cr_assert_eq(decide(&mcts_plugin_tag, all, &view, &score), 1,
                 "fewer than K times: the worst is the threshold");
    cr_assert_float_eq(score, 3.0 / 5, 1e-12);
}

Test(mcts_heuristic, tag_widens_with_the_square_root_of_the_visits)
{
    struct mcts_child children[2];
    struct pcg32 rng = pcg32_seed(1, 0);
    struct mcts_view view = two_children(children, &rng);
    double score, wide[] = {10, 1, 1}, narrow[] = {10, 1, 0.5};
    children[1] = (struct mcts_child){.prior = 1, .bound = 1e9};
    for (int i = 0; i < 20; i++) {
        cr_assert_eq(decide(&mcts_plugin_tag, wide, &view, &score), 1, "1 of 3 visits' root 1.7");
        cr_assert_eq(decide(&mcts_plugin_tag, narrow, &view, &score), 0);
        cr_assert(isfinite(score));
    }
    children[0].visits = 0;
    view.n_children = 1;
    cr_assert_eq(decide(&mcts_plugin_tag, narrow, &view, &score), 0, "the first visit needs a child");
    cr_assert(isinf(score));
}

Test(mcts_heuristic, uct_mean_and_best)
{
    struct mcts_child children[2];
    struct pcg32 rng = pcg32_seed(1, 0);
    struct mcts_view view = two_children(children, &rng);
    double score, mean[] = {0, 0, 0, 1}, best[] = {1, 1, 0, 1};
    cr_assert_eq(decide(&mcts_plugin_uct, mean, &view, &score), 0);
    cr_assert_float_eq(score, 2.0 / 3 * 10 / 15, 1e-12);
    cr_assert_eq(decide(&mcts_plugin_uct, best, &view, &score), 0);
    cr_assert_float_eq(score, 1 + sqrt(log(8) / 3), 1e-12);
}

Test(mcts_heuristic, roundrobin_and_bound)
{
    struct mcts_child children[2];
    struct pcg32 rng = pcg32_seed(1, 0);
    struct mcts_view view = two_children(children, &rng);
    double score, none[1] = {0};
    children[0].bound = 5;
    cr_assert_eq(decide(&mcts_plugin_roundrobin, none, &view, &score), 0);
    cr_assert_eq(decide(&mcts_plugin_bound, none, &view, &score), 1);
}

Test(mcts_heuristic, rollout_weights)
{
    struct mcts_child children[2] = {{.bound = 100, .prior = 1}, {.bound = 0, .prior = 2}};
    struct mcts_view view = {.children = children, .n_children = 2, .best_time = INFINITY};
    double w[2];
    mcts_default_weights(&view, w);
    cr_assert_float_eq(w[0], 11, 1e-9);
    cr_assert_float_eq(w[1], 2 * 10001, 1e-6);
    view.best_time = 70;
    mcts_default_weights(&view, w);
    cr_assert_eq(w[0], 0);
    cr_assert_eq(w[1], 140);
    children[0].bound = 0;
    view.best_time = INFINITY;
    mcts_default_weights(&view, w);
    cr_assert_eq(w[0], 1);
    cr_assert_eq(w[1], 2);
}

Test(mcts_heuristic, draw_follows_weights)
{
    struct pcg32 rng = pcg32_seed(7, 0);
    double weights[] = {0, 3, 1, 0}, zero[] = {0, 0};
    unsigned counts[4] = {0}, uniform[2] = {0};
    for (int i = 0; i < 4000; i++) {
        counts[mcts_draw(&rng, weights, 4)]++;
        uniform[mcts_draw(&rng, zero, 2)]++;
    }
    cr_assert(counts[0] == 0 && counts[3] == 0);
    cr_assert(counts[1] > 2850 && counts[1] < 3150);
    cr_assert(uniform[0] > 1850 && uniform[0] < 2150);
}

Test(mcts_heuristic, loads_builtins_with_parameters)
{
    static const char *const SPECS[] = {
        "tag", "tag:topk=20,delta=0.5", "uct:value=best,formula=puct,c=2", "random", "bound", "roundrobin"};
    struct diag *d = diag_new();
    for (size_t i = 0; i < sizeof SPECS / sizeof SPECS[0]; i++) {
        struct mcts_heuristic *h = mcts_heuristic_load(SPECS[i], d);
        cr_assert_not_null(h, "%s", SPECS[i]);
        const char *name = mcts_heuristic_plugin(h)->name;
        cr_assert_eq(strncmp(SPECS[i], name, strlen(name)), 0);
        cr_assert_eq(mcts_heuristic_kept(h), i == 0 ? 10 : i == 1 ? 20 : 1);
        mcts_heuristic_free(h);
    }
    cr_assert(!diag_failed(d));
    diag_free(d);
}

Test(mcts_heuristic, refuses_bad_specifications)
{
    expect_error("greedy", "unknown heuristic 'greedy' (known: tag, uct");
    expect_error("robin", "unknown heuristic 'robin' (known: tag, uct");
    expect_error("roundrobbin", "unknown heuristic 'roundrobbin'; did you mean 'roundrobin'?");
    expect_error("tag:width=3",
                 "unknown parameter 'width' (known: topk, delta, widen, leaders, imitate, jump, "
                 "follow, apart, focus, draws, generations, batch, redraws, thrift, slow, fastest, rollout)");
    expect_error("tag:topc=3", "unknown parameter 'topc'; did you mean 'topk'?");
    expect_error("random:x=1", "(known: rollout)");
    expect_error("tag:topk", "not of the form KEY=VALUE");
    expect_error("tag:topk=0", "from 1 to 1000");
    expect_error("tag:topk=many", "from 1 to 1000");
    expect_error("tag:delta=nan", "expected a number");
    expect_error("uct:value=median", "expected one of mean|best");
    expect_error("./no-such-file.so", "no-such-file.so");
}

/* The error of trying a shared object of a C text; the caller frees it. */
static char *try_error(const char *text)
{
    char command[256];
    snprintf(command, sizeof command, "echo '#include <stdlib.h>\n%s'", text);
    struct mcts_plugin_file file = mcts_plugin_build(command, "faulty");
    struct diag *d = diag_new();
    cr_assert(!mcts_heuristic_try(file.library, d));
    cr_assert_eq(diag_count(d), 1);
    char *error = base_strdup(diag_message(d, 0));
    cr_expect(strstr(error, file.library), "%s", error);
    diag_free(d);
    mcts_plugin_remove(&file);
    return error;
}

/* One that would take this process with it is an error like the others. */
Test(mcts_heuristic, refuses_what_crashes_when_it_is_loaded, .timeout = 60)
{
    char *crash = try_error("__attribute__((constructor)) static void start(void) { abort(); }"),
         *leave = try_error("__attribute__((constructor)) static void start(void) { exit(7); }"),
         *quiet = try_error("__attribute__((constructor)) static void start(void) { exit(0); }"),
         *empty = try_error("int nothing;");
    cr_expect(strstr(crash, "the plug-in crashes when it is loaded (signal 6)"), "%s", crash);
    cr_expect(strstr(leave, "the plug-in ends the process when it is loaded (status 7)"), "%s", leave);
    cr_expect(strstr(quiet, "the plug-in ends the process when it is loaded (status 0)"), "%s", quiet);
    cr_expect(strstr(empty, "no symbol thresh_heuristic"), "%s", empty);
    free(crash);
    free(leave);
    free(quiet);
    free(empty);
}

Test(mcts_heuristic, tries_what_is_built_in)
{
    struct diag *d = diag_new();
    cr_expect(mcts_heuristic_try("tag:topk=3", d));
    cr_expect(!diag_failed(d));
    cr_expect(!mcts_heuristic_try("tag:topk=0", d));
    cr_expect(strstr(diag_message(d, 0), "from 1 to 1000"));
    diag_free(d);
}

static uint32_t faulty_select(void *state, const struct mcts_view *view, double *score)
{
    (void)state;
    *score = view->depth == 0 ? NAN : 0;
    return view->depth == 0 ? 0 : view->n_children;
}

static void faulty_rollout(void *state, const struct mcts_view *view, double *weights)
{
    (void)state;
    for (uint32_t i = 0; i < view->n_children; i++)
        weights[i] = -1;
}

static const struct mcts_plugin FAULTY = {
    .abi = MCTS_PLUGIN_ABI,
    .struct_size = sizeof(struct mcts_plugin),
    .name = "faulty",
    .select = faulty_select,
    .rollout = faulty_rollout,
};

Test(mcts_heuristic, refuses_other_interface)
{
    static const struct mcts_parameter beyond = {.key = "x", .offset = SIZE_MAX - 7};
    struct mcts_plugin newer = FAULTY, cut = FAULTY, empty = FAULTY, bare = FAULTY, far = FAULTY;
    newer.abi = MCTS_PLUGIN_ABI + 1;
    cut.struct_size = 16;
    empty.select = NULL;
    bare.n_parameters = far.n_parameters = 1;
    far.parameters = &beyond;
    far.state_size = 64;
    struct diag *d = diag_new();
    cr_assert_null(mcts_heuristic_new(&newer, "newer.so", "", d));
    cr_assert_null(mcts_heuristic_new(&cut, "cut.so", "", d));
    cr_assert_null(mcts_heuristic_new(&empty, "empty.so", "", d));
    cr_assert_null(mcts_heuristic_new(&bare, "bare.so", "", d));
    cr_assert_null(mcts_heuristic_new(&far, "far.so", "", d));
    cr_assert_eq(diag_count(d), 5);
    cr_assert_not_null(
        strstr(diag_message(d, 0),
               "newer.so: the plug-in has interface version 9, this version of thresh supports 1 to "
               "8: compile it again"));
    cr_assert_not_null(strstr(diag_message(d, 1), "struct_size is 16"));
    diag_free(d);
}

Test(mcts_heuristic, names_a_faulty_plugin)
{
    struct diag *d = diag_new();
    struct mcts_heuristic *h = mcts_heuristic_new(&FAULTY, "faulty", "", d);
    struct mcts_child children[2];
    struct pcg32 rng = pcg32_seed(1, 0);
    struct mcts_view view = two_children(children, &rng);
    char error[128];
    double weights[2];
    uint32_t child;
    cr_assert(!mcts_heuristic_select(h, &view, &child, error, sizeof error));
    cr_assert_str_eq(error, "heuristic faulty: score of child 0 is not a number");
    view.depth = 1;
    cr_assert(!mcts_heuristic_select(h, &view, &child, error, sizeof error));
    cr_assert_str_eq(error, "heuristic faulty: selected child 2 of 2 live ones");
    struct mcts_policies *own = mcts_heuristic_policies(h);
    cr_assert(!mcts_policies_weigh(own, &view, weights, error, sizeof error));
    cr_assert_str_eq(
        error, "heuristic faulty: rollout policy own: weight -1 of child 0 is not a finite number >= 0");
    mcts_heuristic_free(h);
    diag_free(d);
}
