/* The search loop over a user's program: draw, run, store, report. A result is in the store before it counts;
 * --resume feeds the stored results to the same loop, which rebuilds the tree exactly. */
#include "coordinator/tune_command.h"

#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/command.h"
#include "coordinator/progress.h"
#include "coordinator/solution.h"
#include "coordinator/store.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "mcts/tree.h"

struct search {
    const struct tune_command_options *options;
    struct tune_command_report *report;
    struct diag *diag;
    struct command *command;
    struct mcts_heuristic *heuristic;
    struct mcts_tree *tree;
    unsigned *order;
    struct store *store;
    struct store_run run;
    char *settings;
    struct progress progress;
    unsigned stuck; /* draws in a row that found nothing */
    double started_s, earlier_s;
};

static double elapsed(const struct search *s)
{
    return clock_s() - s->started_s + s->earlier_s;
}

/* ---- results ---- */

static void keep_best(struct search *s, const struct space_state *leaf, double ns)
{
    struct tune_command_report *r = s->report;
    if (r->best && ns >= r->best_ns) return;
    space_state_free(r->best);
    r->best = space_state_clone(leaf);
    r->best_ns = ns;
    r->found_at = r->evaluations;
}

/* Counts a result and tells the tree. */
static void report_result(struct search *s, const struct mcts_descent *descent, enum eval_status status,
                          double ns, const char *message)
{
    struct tune_command_report *r = s->report;
    bool ok = status == EVAL_OK;
    r->evaluations++;
    r->ok += ok;
    r->failed += !ok;
    if (ok)
        keep_best(s, mcts_tree_state(s->tree), ns);
    else
        snprintf(r->last_failure, sizeof r->last_failure, "%s: %s", eval_status_name(status), message);
    mcts_tree_report(s->tree, descent, (struct mcts_outcome){ok ? MCTS_TIMED : MCTS_FAILED, ns});
}

static bool store_result(struct search *s, const struct mcts_descent *descent,
                         const struct command_result *result)
{
    if (!s->store) return true;
    size_t n;
    struct space_action *actions = solution_actions(s->options->root, mcts_tree_state(s->tree), &n);
    char *text = store_actions_print(actions, n);
    struct store_evaluation e = {.number = descent->number,
                                 .drawn = descent->number,
                                 .state_hash = descent->hash,
                                 .actions = text,
                                 .status = eval_status_name(result->status),
                                 .median_ns = result->time_ns,
                                 .samples = &result->time_ns,
                                 .n_samples = result->status == EVAL_OK,
                                 .message = result->message,
                                 .found_at = elapsed(s)};
    bool ok = store_add(s->store, s->run.id, &e, s->diag);
    free(text);
    free(actions);
    return ok;
}

/* ---- one evaluation ---- */

static enum command_end evaluate(struct search *s, struct command_result *result)
{
    const struct space_state *leaf = mcts_tree_state(s->tree);
    char **words = command_words(s->command, leaf), *input = NULL;
    if (command_wants_input(s->command)) {
        json_t *o = solution_json(leaf);
        input = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER);
        json_decref(o);
    }
    enum command_end end = command_run(words, input, s->options->timeout_s, s->options->stop_fd, result);
    free(input);
    free(words);
    return end;
}

/* Draws the next candidate. false: there is none. */
static bool draw(struct search *s, struct mcts_descent *descent)
{
    enum { STUCK_LIMIT = 20 };
    while (s->stuck < STUCK_LIMIT) {
        enum mcts_status status = mcts_tree_next(s->tree, descent);
        if (status == MCTS_OK) {
            s->stuck = 0;
            return true;
        }
        mcts_descent_free(descent);
        if (status == MCTS_ERROR) diag_plain(s->diag, "%s", mcts_tree_error(s->tree));
        if (status != MCTS_STUCK) {
            s->report->exhausted = status == MCTS_EXHAUSTED;
            return false;
        }
        s->stuck++;
    }
    s->report->exhausted = true;
    return false;
}

/* false: the search is over. */
static bool step(struct search *s)
{
    struct mcts_descent descent = {0};
    struct command_result result;
    if (!draw(s, &descent)) return false;
    enum command_end end = evaluate(s, &result);
    bool ok = end == COMMAND_DONE && store_result(s, &descent, &result);
    if (ok) report_result(s, &descent, result.status, result.time_ns, result.message);
    if (end == COMMAND_CANNOT_RUN) diag_plain(s->diag, "--command: %s", result.message);
    s->report->interrupted = end == COMMAND_INTERRUPTED;
    mcts_descent_free(&descent);
    return ok;
}

/* ---- the run ---- */

struct restoring {
    struct search *search;
    bool ok;
};

/* Draws again what a stored result is of, and reports the result. */
static bool restore_row(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct restoring *r = context;
    struct search *s = r->search;
    struct mcts_descent descent = {0};
    (void)run;
    r->ok = draw(s, &descent) && descent.number == e->number && descent.hash == e->state_hash;
    if (r->ok) report_result(s, &descent, eval_status_find(e->status), e->median_ns, e->message);
    if (!r->ok)
        diag_plain(s->diag, "the store does not replay at evaluation %" PRIu64 ": made by another version?",
                   e->number);
    s->earlier_s = e->found_at;
    mcts_descent_free(&descent);
    return r->ok;
}

static char *settings_text(const struct tune_command_options *o)
{
    struct strbuf b = {0};
    strbuf_printf(&b, "command=%s heuristic=%s order=%s%s", o->command, o->heuristic ? o->heuristic : "tag",
                  o->order ? o->order : "", o->pins);
    return strbuf_take(&b);
}

static bool open_store(struct search *s)
{
    const struct tune_command_options *o = s->options;
    if (o->resume && !o->store) diag_plain(s->diag, "--resume needs --store FILE");
    if (!o->store) return !o->resume;
    s->store = store_open(o->store, !o->resume, s->diag);
    s->settings = settings_text(o);
    s->run = (struct store_run){.path = o->path,
                                .text = "",
                                .sizes = o->parameters,
                                .device = "command",
                                .driver = "",
                                .settings = s->settings,
                                .fingerprint = space_fingerprint(space_of(o->root)),
                                .seed = o->seed};
    if (!s->store) return false;
    if (!o->resume) return store_run_add(s->store, &s->run, s->diag);
    struct restoring r = {s, true};
    return store_run_resume(s->store, &s->run, s->diag) &&
           store_each(s->store, s->run.id, restore_row, &r, s->diag) && r.ok;
}

static bool make_tree(struct search *s)
{
    const struct tune_command_options *o = s->options;
    const struct space *space = space_of(o->root);
    struct mcts_config config = mcts_config_default();
    s->order = base_calloc(space_group_count(space) + 1, sizeof *s->order);
    s->heuristic = mcts_heuristic_load(o->heuristic ? o->heuristic : "tag", s->diag);
    if (!s->heuristic || !mcts_order_parse(space, o->order, s->order, s->diag)) return false;
    config.seed = o->seed;
    config.branching.order = s->order;
    config.branching.n_order = space_group_count(space);
    s->tree = mcts_tree_new(o->root, s->heuristic, &config);
    return true;
}

static bool is_over(struct search *s)
{
    const struct tune_command_options *o = s->options;
    struct pollfd stop = {.fd = o->stop_fd, .events = POLLIN};
    if (o->stop_fd >= 0 && poll(&stop, 1, 0) > 0) s->report->interrupted = true;
    return s->report->interrupted || (o->evaluations && s->report->evaluations >= o->evaluations) ||
           (o->time_s > 0 && elapsed(s) >= o->time_s);
}

static void search(struct search *s)
{
    const struct tune_command_options *o = s->options;
    while (!is_over(s) && step(s))
        progress_show(&s->progress, s->report->evaluations, o->evaluations, elapsed(s), o->time_s,
                      s->report->best_ns);
    progress_end(&s->progress);
    struct mcts_stats stats = mcts_tree_stats(s->tree);
    s->report->nodes = mcts_tree_size(s->tree);
    s->report->dead_end_ratio = stats.dead_end_ratio;
    s->report->elapsed_s = elapsed(s);
}

bool tune_command(const struct tune_command_options *o, struct tune_command_report *out, struct diag *d)
{
    struct search s = {.options = o, .report = out, .diag = d, .started_s = clock_s()};
    *out = (struct tune_command_report){0};
    s.progress = progress_start(o->quiet);
    s.command = command_new(o->command, space_of(o->root), d);
    bool ok = s.command && make_tree(&s) && open_store(&s);
    if (ok) search(&s);
    mcts_tree_free(s.tree);
    mcts_heuristic_free(s.heuristic);
    store_close(s.store);
    command_free(s.command);
    free(s.settings);
    free(s.order);
    return ok && !diag_failed(d);
}
