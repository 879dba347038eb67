/* The search loop over a user's program: draw, run, store, report, with several programs at work at once. A
 * result is in the store before it counts, with how many candidates had been drawn by then; --resume draws
 * and reports in that order, which rebuilds the tree exactly, and runs again what was at work. */
#include "coordinator/tune_command.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/command.h"
#include "coordinator/progress.h"
#include "coordinator/recorded.h"
#include "coordinator/solution.h"
#include "coordinator/store.h"
#include "coordinator/tune_command_quote.h"
#include "core/base/arena.h"
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
    struct command *command;   /* NULL: there is none, */
    struct recorded *recorded; /* whose timings stand for it; or NULL */
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

static void clear_pick(struct tune_command_pick *p)
{
    space_state_free(p->leaf);
    free(p->numbers);
    *p = (struct tune_command_pick){0};
}

/* Keeps it if it is among the best ones; of equal times the first is the better. */
static void keep_best(struct search *s, const struct candidate *c, double ns, const char *numbers)
{
    struct tune_command_report *r = s->report;
    unsigned place = r->n_top;
    while (place > 0 && ns < r->top[place - 1].search_ns)
        place--;
    if (place == TUNE_COMMAND_TOP) return;
    if (r->n_top == TUNE_COMMAND_TOP) clear_pick(&r->top[--r->n_top]);
    memmove(&r->top[place + 1], &r->top[place], (r->n_top - place) * sizeof r->top[0]);
    r->n_top++;
    r->top[place] = (struct tune_command_pick){.leaf = space_state_clone(c->leaf),
                                               .number = c->descent.number,
                                               .found_at = r->evaluations,
                                               .search_ns = ns,
                                               .numbers = base_strdup(numbers ? numbers : ""),
                                               .figure = figure_of_search(ns)};
}

/* Counts a result and tells the tree. */
static void report_result(struct search *s, const struct candidate *c, enum eval_status status, double ns,
                          const char *numbers, const char *message)
{
    struct tune_command_report *r = s->report;
    bool ok = status == EVAL_OK;
    r->evaluations++;
    r->ok += ok;
    r->failed += !ok;
    if (ok)
        keep_best(s, c, ns, numbers);
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
                                 .numbers = result->numbers,
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
        s->pending[i].process = tune_command_start(s->command, s->pending[i].leaf, o->timeout_s);
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

/* Stores a result, then counts it. false after an error. */
static bool settle(struct search *s, const struct candidate *c, const struct command_result *r)
{
    if (!store_result(s, c, r)) return false;
    report_result(s, c, r->status, r->time_ns, r->numbers, r->message);
    if (s->options->verbose) show_result(s, c, r);
    return true;
}

/* The outcome of a program that is over. false: the search is. */
static bool take_result(struct search *s, size_t i)
{
    struct command_result result;
    enum command_end end = command_finish(s->pending[i].process, &result);
    s->pending[i].process = NULL;
    bool ok = end == COMMAND_DONE && settle(s, &s->pending[i], &result);
    if (end == COMMAND_CANNOT_RUN) diag_plain(s->diag, "--command: %s", result.message);
    drop(s, i);
    return ok;
}

/* The next candidate gets the result that was recorded for it. false: the search is over. */
static bool take_recorded(struct search *s)
{
    uint64_t most = s->options->evaluations;
    struct command_result result = {0};
    if ((most && s->report->evaluations >= most) || (!s->n_pending && !draw(s))) return false;
    struct store_evaluation e = recorded_result(s->recorded, s->pending[0].descent.hash);
    enum eval_status status = eval_status_find(e.status);
    result.status = status == EVAL_STATUS_COUNT ? EVAL_CRASHED : status;
    result.time_ns = e.median_ns;
    snprintf(result.numbers, sizeof result.numbers, "%s", e.numbers ? e.numbers : "");
    snprintf(result.message, sizeof result.message, "%s", e.message);
    bool ok = settle(s, &s->pending[0], &result);
    drop(s, 0);
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
        diag_plain(s->diag, "interrupted while the run was restored");
        r->ok = false;
        return false;
    }
    size_t i = find_number(s, e->number);
    r->ok = i < s->n_pending && s->pending[i].descent.hash == e->state_hash;
    if (r->ok) {
        report_result(s, &s->pending[i], eval_status_find(e->status), e->median_ns, e->numbers, e->message);
        drop(s, i);
    } else {
        diag_plain(s->diag,
                   "%s: evaluation %" PRId64
                   " does not replay: the file was edited, or made by another version of thresh",
                   s->options->store, e->number);
    }
    s->earlier_s = e->found_at;
    return r->ok;
}

static char *settings_text(const struct tune_command_options *o)
{
    struct strbuf b = {0};
    strbuf_printf(&b, "command=%s heuristic=%s order=%s%s", o->recorded ? "(recorded)" : o->command,
                  o->heuristic ? o->heuristic : "tag", o->order ? o->order : "", o->pins);
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

/* Takes what results there are. false: the search is over. */
static bool go_on(struct search *s)
{
    if (s->recorded) return take_recorded(s);
    if (!time_is_over(s)) start_some(s);
    return step(s);
}

/* When the time is over nothing is started any more, and what is at work may end. */
static void search(struct search *s)
{
    const struct tune_command_options *o = s->options;
    bool going = true;
    s->searching = true;
    while (going && !s->report->interrupted) {
        going = go_on(s);
        s->report->interrupted = stop_requested(s->options->stop_fd);
        progress_show(&s->progress, &(struct progress_state){
                                        .done = s->report->evaluations,
                                        .total = o->evaluations,
                                        .failed = s->report->failed,
                                        .elapsed_s = elapsed(s),
                                        .limit_s = o->time_s,
                                        .best_ns = s->report->n_top ? s->report->top[0].search_ns : 0});
    }
    progress_end(&s->progress);
    struct mcts_stats stats = mcts_tree_stats(s->tree);
    s->report->nodes = mcts_tree_size(s->tree);
    memcpy(s->report->by_cause, stats.nodes, sizeof stats.nodes);
    s->report->dead_end_ratio = stats.dead_end_ratio;
    s->report->elapsed_s = elapsed(s);
}

/* ---- the final rounds ---- */

static bool store_figures(const struct search *s)
{
    const struct tune_command_report *r = s->report;
    struct store_figure figures[TUNE_COMMAND_TOP];
    char *actions[TUNE_COMMAND_TOP];
    for (unsigned i = 0; i < r->n_top; i++) {
        const struct tune_command_pick *p = &r->top[i];
        size_t n;
        struct space_action *list = solution_actions(s->options->root, p->leaf, &n);
        actions[i] = store_actions_print(list, n);
        figures[i] = (struct store_figure){.label = "search",
                                           .number = (int64_t)p->number,
                                           .figure = p->figure,
                                           .times = p->times,
                                           .n_times = p->n_times,
                                           .actions = actions[i]};
        free(list);
    }
    bool ok = store_figures_set(s->store, s->run.id, figures, r->n_top, s->diag);
    for (unsigned i = 0; i < r->n_top; i++)
        free(actions[i]);
    return ok;
}

/* A tenth of what the search took, and ten seconds at least: of programs that take longer only a few rounds
 * are run. */
static void quote(struct search *s)
{
    static const double least_s = 10, share = 0.1;
    struct tune_command_report *r = s->report;
    struct tune_command_rounds rounds = {.command = s->command,
                                         .timeout_s = s->options->timeout_s,
                                         .budget_s = fmax(least_s, share * r->elapsed_s),
                                         .seed = s->options->seed,
                                         .stop_fd = s->options->stop_fd};
    char text[96];
    if (!r->n_top || r->interrupted || s->recorded || diag_failed(s->diag)) return;
    snprintf(text, sizeof text, "measuring the best %u again, up to %d rounds", r->n_top,
             TUNE_COMMAND_ROUNDS);
    progress_note(&s->progress, text);
    tune_command_quote(&rounds, r->top, r->n_top);
    r->interrupted = stop_requested(s->options->stop_fd);
    if (s->store && r->top[0].n_times) store_figures(s);
}

/* ---- the whole ---- */

static void warn_of_unnamed(const struct search *s)
{
    unsigned n;
    char *names = command_unnamed(s->command, s->options->root, &n);
    if (names)
        diag_plain_warning(s->diag,
                           "--command has no placeholder for the choice%s %s: candidates that differ only "
                           "there run the same command line",
                           n > 1 ? "s" : "", names);
    free(names);
}

/* The command, the recorded timings, or both; the command is not run then. */
static bool open_command(struct search *s)
{
    const struct tune_command_options *o = s->options;
    const struct space *space = space_of(o->root);
    if (o->command && !(s->command = command_new(o->command, space, s->diag))) return false;
    if (s->command) warn_of_unnamed(s);
    diag_print_warnings(s->diag, stderr);
    if (!o->recorded) return s->command != NULL;
    s->recorded = recorded_open(o->recorded, space_fingerprint(space), STORE_NO_DEVICE, s->diag);
    return s->recorded != NULL;
}

bool tune_command(const struct tune_command_options *o, struct tune_command_report *out, struct diag *d)
{
    struct search s = {.options = o, .report = out, .diag = d, .started_s = clock_s()};
    *out = (struct tune_command_report){0};
    s.progress = progress_start(o->quiet);
    command_make_room(o->runners);
    bool ok = open_command(&s) && make_tree(&s) && open_store(&s);
    if (ok) {
        search(&s);
        drop_all(&s);
        quote(&s);
    } else {
        tune_command_report_clear(out);
    }
    if (out->n_top && s.command && !command_wants_input(s.command))
        out->best_line = command_line(s.command, out->top[0].leaf);
    drop_all(&s);
    mcts_tree_free(s.tree);
    mcts_heuristic_free(s.heuristic);
    store_close(s.store);
    command_free(s.command);
    recorded_close(s.recorded);
    free(s.settings);
    mcts_order_free(&s.order);
    return ok && !diag_failed(d);
}

void tune_command_report_clear(struct tune_command_report *r)
{
    for (unsigned i = 0; i < r->n_top; i++)
        clear_pick(&r->top[i]);
    free(r->best_line);
    *r = (struct tune_command_report){0};
}
