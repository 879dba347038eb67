/* Quoted figures: after the search the best few and the naive implementation are measured again, in rounds of
 * random order with nothing else running, by one agent; figure.h says what is quoted. Samples of the search
 * are never quoted where this succeeded: the minimum of many noisy values is biased (distribution page,
 * "Quoted figures"). */
#include <stdlib.h>

#include "agent/wire.h"
#include "coordinator/tune_state.h"
#include "core/base/arena.h"
#include "core/base/diag.h"

enum { ROUNDS_ID = 1, IDLE_POLLS = 25, QUOTE_MS = 600000, QUOTE_POLL_MS = 200 };

/* Appends the length of a kernel's actions and the actions. */
static size_t append(int64_t *to, const struct tune_pick *pick, struct arena *a)
{
    struct message_ints ints = wire_actions(pick->actions, pick->n_actions, a);
    to[0] = (int64_t)ints.n;
    for (size_t i = 0; i < ints.n; i++)
        to[i + 1] = ints.items[i];
    return ints.n + 1;
}

static struct message_ints all_kernels(const struct tune_report *r, struct arena *a)
{
    size_t room = 2 * r->naive.n_actions + 1, n = 0;
    for (unsigned i = 0; i < r->n_top; i++)
        room += 2 * r->top[i].n_actions + 1;
    int64_t *items = ARENA_ARRAY(a, int64_t, room);
    for (unsigned i = 0; i < r->n_top; i++)
        n += append(items + n, &r->top[i], a);
    if (r->naive.search_ns > 0) n += append(items + n, &r->naive, a);
    return (struct message_ints){items, n};
}

/* An agent that has returned its credits; -1: none within five seconds. */
static int await_idle(struct tune *t)
{
    struct diag *d = diag_new();
    struct hub_event e;
    int peer = -1;
    for (int i = 0; i < IDLE_POLLS && (peer = hub_idle_peer(t->hub)) < 0; i++)
        tune_step(t, QUOTE_POLL_MS, &e, d);
    diag_free(d);
    return peer;
}

/* Whether the event is the answer of that agent. */
static bool answers(const struct hub_event *e, unsigned peer)
{
    return e->kind == HUB_MESSAGE && e->peer == peer && e->message.kind == MESSAGE_FIGURES &&
           e->message.figures.id == ROUNDS_ID;
}

/* Sends the request and waits for its answer. */
static bool ask(struct tune *t, unsigned peer, size_t expected, double *times)
{
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    struct hub_event e;
    struct message m = {.kind = MESSAGE_ROUNDS,
                        .rounds = {.id = ROUNDS_ID,
                                   .kernels = all_kernels(&t->report, a),
                                   .rounds = TUNE_ROUNDS,
                                   .seed = t->options.seed}};
    hub_excuse(t->hub, peer, QUOTE_MS, MESSAGE_FIGURES);
    hub_send(t->hub, peer, &m);
    bool got = false, over = false;
    for (int i = 0; !got && !over && i < QUOTE_MS / QUOTE_POLL_MS && !tune_stop_requested(t); i++) {
        tune_step(t, QUOTE_POLL_MS, &e, d);
        over = e.kind == HUB_GONE && e.peer == peer;
        got = answers(&e, peer);
        over = over || (got && e.message.figures.times.n != expected);
        for (size_t k = 0; got && !over && k < expected; k++)
            times[k] = e.message.figures.times.items[k];
    }
    diag_free(d);
    arena_free(a);
    return got && !over;
}

/* Quoted ones first. */
static bool comes_before(const struct tune_pick *a, const struct tune_pick *b)
{
    bool quoted = figure_quoted(&a->figure), other = figure_quoted(&b->figure);
    return quoted != other ? quoted : a->figure.median_ns < b->figure.median_ns;
}

static void sort_by_quote(struct tune_report *r, double *times)
{
    for (unsigned i = 1; i < r->n_top; i++)
        for (unsigned j = i; j > 0 && comes_before(&r->top[j], &r->top[j - 1]); j--) {
            struct tune_pick pick = r->top[j];
            r->top[j] = r->top[j - 1];
            r->top[j - 1] = pick;
            for (unsigned k = 0; k < TUNE_ROUNDS; k++) {
                double *x = &times[j * TUNE_ROUNDS + k], *y = &times[(j - 1) * TUNE_ROUNDS + k], swap = *x;
                *x = *y;
                *y = swap;
            }
        }
}

/* Takes over the figures: times[kernel * TUNE_ROUNDS + round], the naive kernel last. */
static void adopt(struct tune_report *r, double *times)
{
    for (unsigned i = 0; i < r->n_top; i++) {
        struct figure f = figure_of_rounds(&times[i * TUNE_ROUNDS], TUNE_ROUNDS);
        if (figure_known(&f)) r->top[i].figure = f;
    }
    sort_by_quote(r, times);
    r->quoted = figure_quoted(&r->top[0].figure);
    if (r->naive.search_ns <= 0) return;
    double *naive = &times[r->n_top * TUNE_ROUNDS];
    struct figure f = figure_of_rounds(naive, TUNE_ROUNDS);
    if (figure_known(&f)) r->naive.figure = f;
    r->speedup = figure_ratio(&r->naive.figure, &r->top[0].figure, naive, times, TUNE_ROUNDS);
}

void tune_quote(struct tune *t)
{
    struct tune_report *r = &t->report;
    if (r->n_top && r->naive.search_ns > 0)
        r->speedup = figure_ratio(&r->naive.figure, &r->top[0].figure, NULL, NULL, 0);
    if (r->n_top == 0 || t->broken || t->overdue || t->recorded || t->report.interrupted) return;
    int peer = await_idle(t);
    if (peer < 0) return;
    size_t kernels = r->n_top + (r->naive.search_ns > 0);
    double *times = base_calloc(kernels * TUNE_ROUNDS, sizeof *times);
    progress_note(&t->progress, "measuring the best ones and the naive implementation again");
    if (ask(t, (unsigned)peer, kernels * TUNE_ROUNDS, times)) adopt(r, times);
    free(times);
}

const struct tune_report *tune_report(struct tune *t)
{
    struct mcts_stats stats = mcts_tree_stats(t->tree);
    t->report.nodes = mcts_tree_size(t->tree);
    memcpy(t->report.by_cause, stats.nodes, sizeof stats.nodes);
    t->report.dead_end_ratio = stats.dead_end_ratio;
    t->report.elapsed_s = tune_elapsed(t);
    return &t->report;
}
