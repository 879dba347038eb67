/* The search loop over a user's program: draw, run, store, report, with several programs at work at once. A
 * result is in the store before it counts, with how many candidates had been drawn by then; --resume draws
 * and reports in that order, which rebuilds the tree exactly, and runs again what was at work. */
#include "coordinator/tune_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/command.h"
#include "coordinator/progress.h"
#include "coordinator/solution.h"
#include "coordinator/store.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/stop.h"
#include "core/base/strbuf.h"
#include "mcts/order.h"
#include "mcts/tree.h"

/* A candidate between being drawn and being reported. */
struct candidate {
    struct mcts_descent descent;
    struct space_state *leaf;
    struct command_process *process; /* NULL: not started */
};

enum { RUNNERS_MAX = TUNE_COMMAND_RUNNERS };

struct search {
    const struct tune_command_options *options;
    struct tune_command_report *report;
    struct diag *diag;
    struct command *command;
    struct mcts_heuristic *heuristic;
    struct mcts_tree *tree;
    struct mcts_order order;
    struct store *store;
    struct store_run run;
    char *settings;
    struct progress progress;
    struct candidate pending[RUNNERS_MAX]; /* in the order of drawing */
    size_t n_pending;
    uint64_t drawn;
    unsigned stuck; /* draws in a row that found nothing */
    bool finished;  /* nothing more is drawn */
    bool searching; /* what the store has is taken up, the time counts */
    double started_s, earlier_s;
};

static double elapsed(const struct search *s)
{
    return clock_s() - s->started_s + s->earlier_s;
}

static bool time_is_over(const struct search *s)
{
    return s->searching && s->options->time_s > 0 && elapsed(s) >= s->options->time_s;
}

/* Whether the tree is to stop looking; the search is the context. */
static bool tree_stops(void *context)
{
    const struct search *s = context;
    return stop_requested(s->options->stop_fd) || time_is_over(s);
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
static void report_result(struct search *s, const struct candidate *c, enum eval_status status, double ns,
                          const char *message)
{
    struct tune_command_report *r = s->report;
    bool ok = status == EVAL_OK;
    r->evaluations++;
    r->ok += ok;
    r->failed += !ok;
    if (ok)
        keep_best(s, c->leaf, ns);
    else
        snprintf(r->last_failure, sizeof r->last_failure, "%s: %s", eval_status_name(status), message);
    mcts_tree_report(s->tree, &c->descent, (struct mcts_outcome){ok ? MCTS_TIMED : MCTS_FAILED, ns});
}

static bool store_result(struct search *s, const struct candidate *c, const struct command_result *result)
{
    if (!s->store) return true;
    size_t n;
    struct space_action *actions = solution_actions(s->options->root, c->leaf, &n);
    char *text = store_actions_print(actions, n), *decisions = solution_text(c->leaf);
    struct store_evaluation e = {.number = (int64_t)c->descent.number,
                                 .drawn = s->drawn,
                                 .state_hash = c->descent.hash,
                                 .actions = text,
                                 .decisions = decisions,
                                 .status = eval_status_name(result->status),
                                 .median_ns = result->time_ns,
                                 .samples = &result->time_ns,
                                 .n_samples = result->status == EVAL_OK,
                                 .message = result->message,
                                 .found_at = elapsed(s)};
    bool ok = store_add(s->store, s->run.id, &e, s->diag);
    free(decisions);
    free(text);
    free(actions);
    return ok;
}

/* ---- candidates ---- */

static bool may_draw(const struct search *s)
{
    return !s->finished && s->n_pending < RUNNERS_MAX && !stop_requested(s->options->stop_fd) &&
           !time_is_over(s);
}

/* Looks for the next candidate once; false: it found none. */
static bool draw_once(struct search *s)
{
    enum { STUCK_LIMIT = 20 };
    struct mcts_descent descent = {0};
    enum mcts_status status = mcts_tree_next(s->tree, &descent);
    if (status == MCTS_OK) {
        struct space_state *leaf = space_state_clone(mcts_tree_state(s->tree));
        s->pending[s->n_pending++] = (struct candidate){descent, leaf, NULL};
        s->drawn++;
        s->stuck = 0;
        return true;
    }
    mcts_descent_free(&descent);
    if (status == MCTS_ERROR) diag_plain(s->diag, "%s", mcts_tree_error(s->tree));
    s->stuck++;
    s->report->exhausted = status == MCTS_EXHAUSTED;
    s->report->stuck = status == MCTS_STUCK && s->stuck >= STUCK_LIMIT;
    s->finished = status != MCTS_STUCK || s->report->stuck;
    return false;
}

/* Draws the next candidate; false: there is none, or the search is over. */
static bool draw(struct search *s)
{
    bool drawn = false;
    while (!drawn && may_draw(s))
        drawn = draw_once(s);
    return drawn;
}

static void drop(struct search *s, size_t i)
{
    mcts_descent_free(&s->pending[i].descent);
    space_state_free(s->pending[i].leaf);
    s->n_pending--;
    memmove(&s->pending[i], &s->pending[i + 1], (s->n_pending - i) * sizeof s->pending[0]);
}

static struct command_process *start(const struct search *s, const struct space_state *leaf)
{
    char **words = command_words(s->command, leaf), *input = NULL;
    if (command_wants_input(s->command)) input = solution_text(leaf);
    struct command_process *p = command_start(words, input, s->options->timeout_s);
    free(input);
    free(words);
    return p;
}

static size_t count_running(const struct search *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_pending; i++)
        n += s->pending[i].process != NULL;
    return n;
}

/* Starts candidates while there is room: those drawn before first. */
static void start_some(struct search *s)
{
    const struct tune_command_options *o = s->options;
    size_t running = count_running(s), i = 0;
    uint64_t done = s->report->evaluations, room = UINT64_MAX;
    if (o->evaluations) room = o->evaluations > done ? o->evaluations - done : 0;
    for (; running < o->runners && running < room; running++) {
        while (i < s->n_pending && s->pending[i].process)
            i++;
        if (i == s->n_pending && !draw(s)) return;
        s->pending[i].process = start(s, s->pending[i].leaf);
    }
}

/* --verbose: a line with the decisions, after what a failed program said. */
static void show_result(struct search *s, const struct candidate *c, const struct command_result *r)
{
    bool ok = r->status == EVAL_OK;
    char *decisions = solution_text(c->leaf);
    struct strbuf b = {0};
    if (!ok) strbuf_printf(&b, "%.*s  ", (int)strcspn(r->message, "\n"), r->message);
    strbuf_add(&b, decisions);
    progress_evaluation(&s->progress, (int64_t)c->descent.number, eval_status_name(r->status),
                        ok ? r->time_ns : 0, elapsed(s), b.text);
    strbuf_free(&b);
    free(decisions);
}

/* The outcome of a program that is over. false: the search is. */
static bool take_result(struct search *s, size_t i)
{
    struct command_result result;
    enum command_end end = command_finish(s->pending[i].process, &result);
    s->pending[i].process = NULL;
    bool ok = end == COMMAND_DONE && store_result(s, &s->pending[i], &result);
    if (ok) report_result(s, &s->pending[i], result.status, result.time_ns, result.message);
    if (ok && s->options->verbose) show_result(s, &s->pending[i], &result);
    if (end == COMMAND_CANNOT_RUN) diag_plain(s->diag, "--command: %s", result.message);
    drop(s, i);
    return ok;
}

/* Waits for a program and takes what there is. false: the search is over. */
static bool step(struct search *s)
{
    struct command_process *running[RUNNERS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < s->n_pending; i++)
        if (s->pending[i].process) running[n++] = s->pending[i].process;
    if (!n) return false;
    command_wait(running, n, s->options->stop_fd);
    for (size_t i = 0; i < s->n_pending;) {
        const struct command_process *p = s->pending[i].process;
        if (!p || !command_is_over(p))
            i++;
        else if (!take_result(s, i))
            return false;
    }
    return true;
}

static void drop_all(struct search *s)
{
    struct command_result result;
    while (s->n_pending) {
        if (s->pending[0].process) command_finish(s->pending[0].process, &result);
        drop(s, 0);
    }
}

/* ---- the run ---- */

struct restoring {
    struct search *search;
    bool ok;
};

static size_t find_number(const struct search *s, int64_t number)
{
    size_t i = 0;
    while (i < s->n_pending && (int64_t)s->pending[i].descent.number != number)
        i++;
    return i;
}

/* Draws again what had been drawn by then, and reports the result. */
static bool restore_row(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct restoring *r = context;
    struct search *s = r->search;
    (void)run;
    while (s->drawn < e->drawn && draw(s))
        continue;
    if (stop_requested(s->options->stop_fd)) {
        diag_plain(s->diag, "interrupted while the run was taken up");
        r->ok = false;
        return false;
    }
    size_t i = find_number(s, e->number);
    r->ok = i < s->n_pending && s->pending[i].descent.hash == e->state_hash;
    if (r->ok) {
        report_result(s, &s->pending[i], eval_status_find(e->status), e->median_ns, e->message);
        drop(s, i);
    } else {
        diag_plain(s->diag, "the store does not replay at evaluation %" PRId64 ": made by another version?",
                   e->number);
    }
    s->earlier_s = e->found_at;
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
                                .device = STORE_NO_DEVICE,
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
    s->heuristic = mcts_heuristic_load(o->heuristic ? o->heuristic : "tag", s->diag);
    if (!s->heuristic || !mcts_order_parse(space, o->order, &s->order, s->diag)) return false;
    mcts_heuristic_set_note(s->heuristic, store_note(o->store));
    config.seed = o->seed;
    config.branching.order = s->order.parts;
    config.branching.n_order = s->order.n;
    config.stop = tree_stops;
    config.stop_context = s;
    s->tree = mcts_tree_new(o->root, s->heuristic, &config);
    return true;
}

/* When the time is over nothing is started any more, and what is at work may end. */
static void search(struct search *s)
{
    const struct tune_command_options *o = s->options;
    bool going = true;
    s->searching = true;
    while (going && !s->report->interrupted) {
        if (!time_is_over(s)) start_some(s);
        going = step(s);
        s->report->interrupted = stop_requested(s->options->stop_fd);
        progress_show(&s->progress, &(struct progress_state){.done = s->report->evaluations,
                                                             .total = o->evaluations,
                                                             .failed = s->report->failed,
                                                             .elapsed_s = elapsed(s),
                                                             .limit_s = o->time_s,
                                                             .best_ns = s->report->best_ns});
    }
    progress_end(&s->progress);
    struct mcts_stats stats = mcts_tree_stats(s->tree);
    s->report->nodes = mcts_tree_size(s->tree);
    memcpy(s->report->by_cause, stats.nodes, sizeof stats.nodes);
    s->report->dead_end_ratio = stats.dead_end_ratio;
    s->report->elapsed_s = elapsed(s);
}

bool tune_command(const struct tune_command_options *o, struct tune_command_report *out, struct diag *d)
{
    struct search s = {.options = o, .report = out, .diag = d, .started_s = clock_s()};
    *out = (struct tune_command_report){0};
    s.progress = progress_start(o->quiet);
    s.command = command_new(o->command, space_of(o->root), d);
    command_make_room(o->runners);
    bool ok = s.command && make_tree(&s) && open_store(&s);
    if (ok)
        search(&s);
    else
        tune_command_report_clear(out);
    if (out->best && !command_wants_input(s.command)) out->best_line = command_line(s.command, out->best);
    drop_all(&s);
    mcts_tree_free(s.tree);
    mcts_heuristic_free(s.heuristic);
    store_close(s.store);
    command_free(s.command);
    free(s.settings);
    mcts_order_free(&s.order);
    return ok && !diag_failed(d);
}

void tune_command_report_clear(struct tune_command_report *r)
{
    space_state_free(r->best);
    free(r->best_line);
    *r = (struct tune_command_report){0};
}
