/* The end of a search: its winner, and quoted figures (figure.h says what they are). The best of the search
 * and the rivals (the naive implementation, number 0, and the plain ones) are measured again in rounds of
 * random order, nothing else at work:
 *
 *     round            1      2      3      4 ... 11
 *     search #17     52.1   51.8   52.4   51.9         wins: lowest median
 *     search #9      53.0   52.2   60.1   53.1
 *     plain: rows    94.0   93.5   94.1   -            left: over 1.5 times the best median after 3 rounds
 *     naive         210.7  209.9  211.2   ...          in every round, unless its launches are long
 *     baseline       61.0   60.7   61.2   ...          the user's own kernel: the same, and it cannot win
 *
 * Each round is a request of its own: there is progress to show, and an interrupt loses nothing that was
 * measured. Rounds end when the budget of time would be exceeded, but there are three at least. What the
 * search found over 4 times slower than its best is in no round. If three rounds take longer than the budget,
 * those that are behind leave before. A round that is lost with its agent is measured again by another one.
 *
 * The winner has the lowest median of those that did not leave. But where number 0 was not slower in at least
 * half of the rounds in which both were measured, the difference of the medians is noise, and number 0 wins:
 * no result is slower than naive by the figures that are shown. Without rounds the times of the search
 * decide by the same rule. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/session_state.h"
#include "core/base/clock.h"
#include "core/base/diag.h"

/* One that takes part. */
struct entrant {
    struct session_pick pick; /* what it owns is the session's or the rival's */
    bool may_win, leaves;
    double times[LIMIT_ROUNDS]; /* ns; NAN: not measured in that round */
};

struct finals {
    struct session *session;
    unsigned n, rounds; /* rounds that were measured */
    struct entrant list[SESSION_CONTENDERS];
    double best_search_ns; /* of those that may win; 0: none */
    double started_s, budget_s;
    double last_s; /* how long the last round took */
};

/* ---- who takes part ---- */

static void enter(struct finals *f, const struct session_pick *pick, bool may_win)
{
    struct entrant *e = &f->list[f->n++];
    *e = (struct entrant){.pick = *pick, .may_win = may_win};
    for (unsigned r = 0; r < LIMIT_ROUNDS; r++)
        e->times[r] = NAN;
    if (may_win && (f->best_search_ns <= 0 || pick->search_ns < f->best_search_ns))
        f->best_search_ns = pick->search_ns;
}

static struct finals gather(struct session *s, const struct session_rival *rivals, unsigned n)
{
    const struct session_report *r = &s->report;
    double budget_s = fmax(LIMIT_ROUNDS_S, LIMIT_ROUNDS_SHARE * session_elapsed(s));
    struct finals f = {.session = s, .started_s = clock_s()};
    f.budget_s = s->options.rounds_s > 0 ? s->options.rounds_s : budget_s;
    for (unsigned i = 0; i < r->n_top; i++)
        enter(&f, &r->top[i], true);
    for (unsigned i = 0; i < n; i++)
        enter(&f, rivals[i].pick, rivals[i].may_win);
    return f;
}

static bool is_baseline(const struct entrant *e)
{
    return e->pick.number == 0;
}

/* Number 0 and the user's own kernels are what results are compared with. */
static bool is_compared(const struct entrant *e)
{
    return is_baseline(e) || store_is_baseline(e->pick.number);
}

static bool takes_part(const struct finals *f, const struct entrant *e)
{
    bool near = e->pick.search_ns <= LIMIT_REACH * f->best_search_ns;
    if (is_compared(e)) return near || f->rounds < LIMIT_LEAST_ROUNDS || e->pick.search_ns < LIMIT_SLOW_NS;
    return near && !e->leaves;
}

/* ---- rounds ---- */

/* Waits for an agent that is free. false: there is none, or the user interrupts. */
static bool start_round(struct finals *f, const struct session_pick *const *picks, unsigned n)
{
    struct session *s = f->session;
    int64_t end = clock_ms() + LIMIT_ROUND_IDLE_MS;
    uint64_t seed = s->options.seed + f->rounds + 1;
    while (!session_stops(s) && !s->broken) {
        if (s->evaluator->start_round(s->evaluator_self, picks, n, seed)) return true;
        if (clock_ms() >= end) return false;
        struct session_event event = s->evaluator->collect(s->evaluator_self, LIMIT_TURN_MS);
        session_handle(s, &event);
    }
    return false;
}

/* The times of the round that was started; NULL: it is lost, or the user interrupts. */
static const double *await_round(struct finals *f, unsigned n)
{
    struct session *s = f->session;
    struct session_event event = {0};
    while (event.kind != SESSION_ROUND && !session_stops(s) && !s->broken) {
        event = s->evaluator->collect(s->evaluator_self, LIMIT_TURN_MS);
        session_handle(s, &event);
        progress_rounds(s->progress, f->rounds, LIMIT_ROUNDS, n, session_elapsed(s));
    }
    return event.kind == SESSION_ROUND ? event.times : NULL;
}

static bool measure_round(struct finals *f)
{
    const struct session_pick *picks[SESSION_CONTENDERS];
    unsigned who[SESSION_CONTENDERS], n = 0;
    const double *times = NULL;
    double start_s = clock_s();
    for (unsigned i = 0; i < f->n; i++) {
        if (!takes_part(f, &f->list[i])) continue;
        picks[n] = &f->list[i].pick;
        who[n++] = i;
    }
    for (int i = 0; n > 0 && !times && i < LIMIT_ROUND_TRIES && start_round(f, picks, n); i++)
        times = await_round(f, n);
    for (unsigned i = 0; times && i < n; i++)
        f->list[who[i]].times[f->rounds] = times[i];
    f->last_s = clock_s() - start_s;
    f->rounds += times != NULL;
    return times != NULL;
}

/* Those that are behind the best of the rounds so far leave. */
static void thin_out(struct finals *f)
{
    double medians[SESSION_CONTENDERS], best = INFINITY;
    for (unsigned i = 0; i < f->n; i++) {
        medians[i] = figure_of_rounds(f->list[i].times, f->rounds).median_ns;
        if (f->list[i].may_win && medians[i] > 0 && medians[i] < best) best = medians[i];
    }
    for (unsigned i = 0; i < f->n; i++)
        f->list[i].leaves =
            !is_compared(&f->list[i]) && !(medians[i] > 0 && medians[i] <= LIMIT_BEHIND * best);
}

static bool goes_on(struct finals *f)
{
    double spent_s = clock_s() - f->started_s;
    if (f->rounds == LIMIT_ROUNDS || session_stops(f->session)) return false;
    bool late = f->rounds > 0 && spent_s * LIMIT_LEAST_ROUNDS > f->budget_s * f->rounds;
    if (f->rounds == LIMIT_LEAST_ROUNDS || (f->rounds < LIMIT_LEAST_ROUNDS && late)) thin_out(f);
    return f->rounds < LIMIT_LEAST_ROUNDS || spent_s + f->last_s <= f->budget_s;
}

static void measure(struct finals *f)
{
    struct session *s = f->session;
    char note[96];
    snprintf(note, sizeof note, "measuring %u contenders again, in up to %d rounds", f->n, LIMIT_ROUNDS);
    progress_note(s->progress, note);
    while (goes_on(f) && measure_round(f))
        continue;
    progress_end(s->progress);
    if (s->evaluator->abandon) s->evaluator->abandon(s->evaluator_self);
    s->report.interrupted = session_stops(s);
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
        if (is_baseline(&f->list[i]) && f->list[i].may_win && holds_against(f, &f->list[i], &f->list[0]))
            move_to_front(f, i);
}

/* ---- what counts ---- */

static bool store_all(const struct finals *f, struct diag *d)
{
    struct session *s = f->session;
    struct store_figure figures[SESSION_CONTENDERS];
    char *actions[SESSION_CONTENDERS];
    if (!s->store) return true;
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
    bool ok = store_figures_set(s->store, s->run.id, figures, f->n, d);
    for (unsigned i = 0; i < f->n; i++)
        free(actions[i]);
    return ok;
}

static void adopt(const struct finals *f)
{
    struct session_report *r = &f->session->report;
    bool has_winner = f->n > 0 && f->list[0].may_win;
    r->n_contenders = has_winner ? f->n : 0;
    for (unsigned i = 0; i < f->n; i++) {
        r->contenders[i] = f->list[i].pick;
        if (!is_baseline(&f->list[i])) continue;
        r->baseline = f->list[i].pick.figure;
        if (has_winner) r->speedup = ratio(f, &f->list[i], &f->list[0]);
    }
    r->quoted = has_winner && figure_quoted(&f->list[0].pick.figure);
}

bool session_finals(struct session *s, const struct session_rival *rivals, unsigned n, struct diag *d)
{
    struct finals f = gather(s, rivals, n);
    s->diag = d;
    if (f.n > 0 && !s->broken && !s->overdue && !s->report.interrupted && s->evaluator->start_round)
        measure(&f);
    sort(&f);
    bool kept = f.rounds == 0 || store_all(&f, d);
    if (!kept) {
        f = gather(s, rivals, n);
        sort(&f);
    }
    adopt(&f);
    return kept && !s->broken;
}
