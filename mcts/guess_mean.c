/* What is expected of a time before similar implementations are known, and how far times are told apart
 * (mcts/guess_state.h).
 *
 * Times above a limit count as the limit: how slow the slow ones are would hide what tells the fast ones
 * apart, since the noise is a share of the variance.
 *
 *     measured     1.0   1.02   1.07   1.2   1.9   7.4       times over the best
 *     they count   1.0   1.02   1.07   1.1   1.1   1.1       as, if the limit is 1.1
 *
 * The limit is the time that a share of the measurements, the fastest 30 % for example, do not exceed. So the
 * limit falls from `slow` times the best to a little above it while a search finds what is near the best. */
#include <math.h>

#include "core/base/stats.h"
#include "mcts/guess_state.h"

/* The limit is at least so much above the best, a logarithm. */
static const double LIMIT_LEAST = 0.1;
/* Counts as one measurement with bounds or estimates that spread by a factor of e. */
static const double SLOPE_PRIOR = 1;

double guess_bounded_time(const struct mcts_guess *g, size_t i)
{
    return fmin(g->list[i].time, g->best + g->slow);
}

double guess_limited_time(const struct mcts_guess *g, size_t i)
{
    return fmin(g->list[i].time, g->limit);
}

static double limit_of(const struct mcts_guess *g)
{
    double *times = g->whitened.rest; /* scratch: mcts_guess_solve() writes it afterwards */
    for (size_t i = 0; i < g->count; i++)
        times[i] = guess_bounded_time(g, i);
    double least = g->best + fmin(LIMIT_LEAST, g->slow);
    return fmax(stats_quantile(times, g->count, g->fastest), least);
}

static void find_middles(struct mcts_guess *g)
{
    double n = (double)g->count;
    g->level = g->middle = g->center = g->share = 0;
    for (size_t i = 0; i < g->count; i++) {
        g->level += guess_limited_time(g, i) / n;
        g->middle += g->list[i].bound / n;
        g->center += g->list[i].estimate / n;
        g->share += (isinf(g->list[i].time) ? 1 : 0) / n;
    }
}

/* Times on bounds and estimates, by least squares. The prior has a slope of one in the estimate, in the bound
 * if there is no estimate. */
void guess_fit_mean(struct mcts_guess *g)
{
    bool estimated = g->n_features > 0;
    double bounds = SLOPE_PRIOR, estimates = SLOPE_PRIOR, both = 0;
    double on_bounds = estimated ? 0 : SLOPE_PRIOR, on_estimates = estimated ? SLOPE_PRIOR : 0;
    g->limit = limit_of(g);
    find_middles(g);
    for (size_t i = 0; i < g->count; i++) {
        double bound = g->list[i].bound - g->middle, estimate = g->list[i].estimate - g->center;
        double time = guess_limited_time(g, i) - g->level;
        bounds += bound * bound;
        estimates += estimate * estimate;
        both += bound * estimate;
        on_bounds += bound * time;
        on_estimates += estimate * time;
    }
    double determinant = bounds * estimates - both * both; /* >= SLOPE_PRIOR^2 */
    g->slope = (on_bounds * estimates - on_estimates * both) / determinant;
    g->pace = (on_estimates * bounds - on_bounds * both) / determinant;
}

double guess_mean(const struct mcts_guess *g, double bound, double estimate)
{
    return g->level + g->slope * (bound - g->middle) + g->pace * (estimate - g->center);
}
