/* The end of a search: its winner, and quoted figures (figure.h says what they are). The naive
 * implementation, the plain ones and the best few that were found are measured again, in rounds of random
 * order with nothing else running, by one agent. Each round is a request of its own, so that there is
 * progress to show and an interrupt loses nothing: what was measured until then counts.
 *
 * Rounds end when the budget of time would be exceeded, but there are three at least. What the search found
 * several times slower than its best is measured in none, and what is behind after three rounds in no more;
 * if even three are too long, it leaves before that. The naive implementation is measured in every round, or
 * in three if its launches are long and several times slower than the best.
 *
 * The winner has the lowest median of those that did not leave; but where the naive implementation was not
 * slower in at least half of the rounds in which both were measured, the difference of the medians is noise,
 * and the naive one wins. So no result is slower than naive by the figures that are shown. Where there were
 * no rounds, the times of the search decide, by the same rule. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/wire.h"
#include "coordinator/tune_state.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"

enum { FIRST_ID = 1, IDLE_POLLS = 25, ROUND_MS = 600000, QUOTE_POLL_MS = 200, LEAST_ROUNDS = 3 };
static const double least_budget_s = 10, share_of_search = 0.1;
static const double reach = CUT_FACTOR; /* of the search's best time: slower ones are not measured again */
static const double behind = 1.5;       /* of the best median: slower ones leave after three rounds */
static const double slow_ns = 30e6;     /* a launch as long as a batch */

/* One that takes part. */
struct entrant {
    struct tune_pick pick;
    bool may_win, leaves;
    double times[TUNE_ROUNDS]; /* NAN: not measured in that round */
};

struct finals {
    struct tune *tune;
    unsigned n, rounds; /* rounds that were measured */
    struct entrant list[TUNE_CONTENDERS];
    double best_search_ns; /* of those that may win; 0: none */
    double started_s, budget_s;
    double last_s; /* how long the last round took */
};

/* ---- who takes part ---- */

static void enter(struct finals *f, const struct tune_pick *pick, bool may_win)
{
    struct entrant *e = &f->list[f->n++];
    *e = (struct entrant){.pick = *pick, .may_win = may_win};
    for (unsigned r = 0; r < TUNE_ROUNDS; r++)
        e->times[r] = NAN;
    if (may_win && (f->best_search_ns <= 0 || pick->search_ns < f->best_search_ns))
        f->best_search_ns = pick->search_ns;
}

static struct finals gather(struct tune *t)
{
    const struct tune_report *r = &t->report;
    struct finals f = {.tune = t, .started_s = clock_s()};
    double budget_s = fmax(least_budget_s, share_of_search * tune_elapsed(t));
    f.budget_s = t->options.rounds_s > 0 ? t->options.rounds_s : budget_s;
    for (unsigned i = 0; i < r->n_top; i++)
        enter(&f, &r->top[i], true);
    for (unsigned i = 0; i < r->n_plain; i++)
        enter(&f, &r->plain[i], true);
    if (r->naive.search_ns > 0) enter(&f, &r->naive, !r->naive_excluded);
    return f;
}

static bool is_naive(const struct entrant *e)
{
    return e->pick.number == 0;
}

static bool takes_part(const struct finals *f, const struct entrant *e)
{
    bool near = e->pick.search_ns <= reach * f->best_search_ns;
    if (is_naive(e)) return near || f->rounds < LEAST_ROUNDS || e->pick.search_ns < slow_ns;
    return near && !e->leaves;
}

/* ---- rounds ---- */

/* Appends the length of a kernel's actions and the actions. */
static size_t append(int64_t *to, const struct tune_pick *pick, struct arena *a)
{
    struct message_ints ints = wire_actions(pick->actions, pick->n_actions, a);
    to[0] = (int64_t)ints.n;
    for (size_t i = 0; i < ints.n; i++)
        to[i + 1] = ints.items[i];
    return ints.n + 1;
}

/* The kernels of the next round, and into who[] the entrants that they are. */
static struct message_ints kernels(const struct finals *f, struct arena *a, unsigned *who, unsigned *n_who)
{
    size_t room = 0, n = 0;
    for (unsigned i = 0; i < f->n; i++)
        room += 2 * f->list[i].pick.n_actions + 1;
    int64_t *items = ARENA_ARRAY(a, int64_t, room);
    *n_who = 0;
    for (unsigned i = 0; i < f->n; i++) {
        if (!takes_part(f, &f->list[i])) continue;
        n += append(items + n, &f->list[i].pick, a);
        who[(*n_who)++] = i;
    }
    return (struct message_ints){items, n};
}

/* An agent that has returned its credits; -1: none within five seconds. */
static int await_idle(struct tune *t)
{
    struct diag *d = diag_new();
    struct hub_event e;
    int peer = -1;
    for (int i = 0; i < IDLE_POLLS && (peer = hub_idle_peer(t->hub)) < 0 && !tune_stop_requested(t); i++)
        tune_step(t, QUOTE_POLL_MS, &e, d);
    diag_free(d);
    return peer;
}

/* What an agent says of a round; NAN: it is no time. */
static double time_or_none(double ns)
{
    return ns > 0 && isfinite(ns) ? ns : (double)NAN;
}

/* Waits for the answer of that agent to the request. false: none came. */
static bool await_figures(struct finals *f, unsigned peer, uint64_t id, const unsigned *who, unsigned n)
{
    struct tune *t = f->tune;
    struct diag *d = diag_new();
    struct hub_event e;
    bool got = false, over = false;
    int64_t end = clock_ms() + ROUND_MS;
    while (!got && !over && clock_ms() < end && !tune_stop_requested(t)) {
        tune_step(t, QUOTE_POLL_MS, &e, d);
        const struct message_figures *m = &e.message.figures;
        over = e.kind == HUB_GONE && e.peer == peer;
        got = e.kind == HUB_MESSAGE && e.peer == peer && e.message.kind == MESSAGE_FIGURES && m->id == id;
        over = over || (got && m->times.n != n);
        for (unsigned i = 0; got && !over && i < n; i++)
            f->list[who[i]].times[f->rounds] = time_or_none(m->times.items[i]);
        progress_rounds(&t->progress, f->rounds, TUNE_ROUNDS, n, tune_elapsed(t));
    }
    diag_free(d);
    return got && !over;
}

static bool measure_round(struct finals *f, unsigned peer)
{
    struct arena *a = arena_new();
    unsigned who[TUNE_CONTENDERS], n;
    struct message_ints list = kernels(f, a, who, &n);
    uint64_t id = FIRST_ID + f->rounds;
    struct message m = {
        .kind = MESSAGE_ROUNDS,
        .rounds = {.id = id, .kernels = list, .rounds = 1, .seed = f->tune->options.seed + id}};
    double start_s = clock_s();
    hub_send(f->tune->hub, peer, &m);
    bool got = await_figures(f, peer, id, who, n);
    f->last_s = clock_s() - start_s;
    f->rounds += got;
    arena_free(a);
    return got;
}

/* Those that are behind the best of the rounds so far leave. */
static void thin_out(struct finals *f)
{
    double medians[TUNE_CONTENDERS], best = INFINITY;
    for (unsigned i = 0; i < f->n; i++) {
        medians[i] = figure_of_rounds(f->list[i].times, f->rounds).median_ns;
        if (f->list[i].may_win && medians[i] > 0 && medians[i] < best) best = medians[i];
    }
    for (unsigned i = 0; i < f->n; i++)
        f->list[i].leaves = !is_naive(&f->list[i]) && !(medians[i] > 0 && medians[i] <= behind * best);
}

static bool goes_on(struct finals *f)
{
    double spent_s = clock_s() - f->started_s;
    if (f->rounds == TUNE_ROUNDS || tune_stop_requested(f->tune)) return false;
    bool late = f->rounds > 0 && spent_s * LEAST_ROUNDS > f->budget_s * f->rounds;
    if (f->rounds == LEAST_ROUNDS || (f->rounds < LEAST_ROUNDS && late)) thin_out(f);
    return f->rounds < LEAST_ROUNDS || spent_s + f->last_s <= f->budget_s;
}

static void measure(struct finals *f)
{
    struct tune *t = f->tune;
    struct strbuf note = {0};
    int peer = await_idle(t);
    if (peer < 0) return;
    strbuf_printf(&note, "measuring the naive implementation and the fastest ones again, in up to %d rounds",
                  TUNE_ROUNDS);
    progress_note(&t->progress, note.text);
    strbuf_free(&note);
    while (goes_on(f) && measure_round(f, (unsigned)peer))
        continue;
    progress_end(&t->progress);
    for (unsigned i = 0; i < f->n; i++) {
        struct figure quoted = figure_of_rounds(f->list[i].times, f->rounds);
        if (figure_known(&quoted)) f->list[i].pick.figure = quoted;
    }
}

/* ---- the winner ---- */

/* None where one is quoted and the other is not: the search times something else. */
static struct figure_ratio ratio(const struct finals *f, const struct entrant *a, const struct entrant *b)
{
    if (!figure_comparable(&a->pick.figure, &b->pick.figure)) return (struct figure_ratio){0};
    return figure_ratio(&a->pick.figure, &b->pick.figure, a->times, b->times, f->rounds);
}

/* Quoted ones first, then by time. Those that left come after those that were measured to the end, even if
 * the machine became slower after they had left. */
static bool comes_before(const struct entrant *a, const struct entrant *b)
{
    bool quoted = figure_quoted(&a->pick.figure);
    if (a->may_win != b->may_win) return a->may_win;
    if (quoted != figure_quoted(&b->pick.figure)) return quoted;
    if (a->leaves != b->leaves) return b->leaves;
    return a->pick.figure.median_ns < b->pick.figure.median_ns;
}

/* Whether a is not slower than b in at least half of the rounds that both have. */
static bool holds_against(const struct finals *f, const struct entrant *a, const struct entrant *b)
{
    unsigned both = 0, not_slower = 0;
    for (unsigned r = 0; r < f->rounds; r++) {
        if (isnan(a->times[r]) || isnan(b->times[r])) continue;
        both++;
        not_slower += a->times[r] <= b->times[r];
    }
    return both > 0 && 2 * not_slower >= both;
}

static void move_to_front(struct finals *f, unsigned i)
{
    struct entrant first = f->list[i];
    memmove(&f->list[1], &f->list[0], i * sizeof f->list[0]);
    f->list[0] = first;
}

static void sort(struct finals *f)
{
    for (unsigned i = 1; i < f->n; i++) {
        unsigned at = i;
        struct entrant e = f->list[i];
        for (; at > 0 && comes_before(&e, &f->list[at - 1]); at--)
            f->list[at] = f->list[at - 1];
        f->list[at] = e;
    }
    for (unsigned i = 1; i < f->n; i++)
        if (is_naive(&f->list[i]) && f->list[i].may_win && holds_against(f, &f->list[i], &f->list[0]))
            move_to_front(f, i);
}

/* ---- what counts ---- */

static bool store_all(const struct finals *f, struct diag *d)
{
    struct tune *t = f->tune;
    struct store_figure figures[TUNE_CONTENDERS];
    char *actions[TUNE_CONTENDERS];
    if (!t->store) return true;
    for (unsigned i = 0; i < f->n; i++) {
        const struct entrant *e = &f->list[i];
        actions[i] = store_actions_print(e->pick.actions, e->pick.n_actions);
        figures[i] = (struct store_figure){.label = e->pick.label,
                                           .number = e->pick.number,
                                           .figure = e->pick.figure,
                                           .times = e->times,
                                           .n_times = f->rounds,
                                           .actions = actions[i]};
    }
    bool ok = store_figures_set(t->store, t->run.id, figures, f->n, d);
    for (unsigned i = 0; i < f->n; i++)
        free(actions[i]);
    return ok;
}

static void adopt(struct finals *f)
{
    struct tune_report *r = &f->tune->report;
    bool has_winner = f->n > 0 && f->list[0].may_win;
    r->n_contenders = has_winner ? f->n : 0;
    for (unsigned i = 0; i < f->n; i++) {
        r->contenders[i] = f->list[i].pick;
        if (!is_naive(&f->list[i])) continue;
        r->naive.figure = f->list[i].pick.figure;
        if (has_winner) r->speedup = ratio(f, &f->list[i], &f->list[0]);
    }
    r->quoted = has_winner && figure_quoted(&f->list[0].pick.figure);
}

static bool can_measure(const struct tune *t, const struct finals *f)
{
    return f->n > 0 && !t->broken && !t->overdue && !t->recorded && !t->report.interrupted;
}

bool tune_quote(struct tune *t, struct diag *d)
{
    struct finals f = gather(t);
    if (can_measure(t, &f)) measure(&f);
    sort(&f);
    bool kept = f.rounds == 0 || store_all(&f, d);
    if (!kept) {
        f = gather(t);
        sort(&f);
    }
    adopt(&f);
    tune_judge(t);
    return kept;
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
