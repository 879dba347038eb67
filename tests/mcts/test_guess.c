/* The guess against dense linear algebra, on solutions of the queens: their columns are the traits. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/pcg32.h"
#include "core/base/stats.h"
#include "mcts/branch.h"
#include "mcts/guess.h"
#include "mcts/policy.h"
#include "tests/mcts/queens.h"

enum { ROWS = 8, MEASURED = 20, ASKED = 10, SAMPLES = MEASURED + ASKED, FEATURES = 3 };

struct sample {
    uint16_t columns[ROWS]; /* the values of all slots */
    double bound, time;
    unsigned n_features;
    double features[FEATURES];
};

/* Different solutions of the queens, with bounds and times. */
struct samples {
    struct mcts_queens queens;
    struct mcts_guess *guess;
    struct sample list[SAMPLES];
};

static bool descend_to_solution(struct space_state *state, struct pcg32 *rng)
{
    for (uint32_t slot; (slot = space_next_choice(state, NULL, 0)) != UINT32_MAX;) {
        struct space_action action = {slot, pcg32_below(rng, space_universe(space_of(state), slot))};
        if (!space_has_value(state, slot, action.value) || !space_apply(state, action, NULL)) return false;
    }
    return true;
}

static bool is_known(const struct sample *list, unsigned n, const struct sample *s)
{
    for (unsigned i = 0; i < n; i++)
        if (memcmp(list[i].columns, s->columns, sizeof s->columns) == 0) return true;
    return false;
}

static struct samples open_limited(size_t capacity, double fastest)
{
    struct samples c = {.queens = mcts_queens_new(ROWS)};
    struct pcg32 rng = pcg32_seed(5, 0);
    struct space_state *state = space_state_clone(c.queens.root);
    c.guess = mcts_guess_new(c.queens.space, capacity, 4, fastest);
    for (unsigned n = 0; n < SAMPLES;) {
        struct sample s = {.bound = 10 + 90 * pcg32_unit(&rng), .time = 100 + 900 * pcg32_unit(&rng)};
        space_mark mark = space_snapshot(state);
        bool solved = descend_to_solution(state, &rng);
        for (uint32_t slot = 0; solved && slot < ROWS; slot++)
            s.columns[slot] = (uint16_t)space_first_value(state, slot);
        if (solved && !is_known(c.list, n, &s)) c.list[n++] = s;
        space_rollback(state, mark);
    }
    space_state_free(state);
    return c;
}

static struct samples open_samples(size_t capacity)
{
    return open_limited(capacity, 1);
}

static struct mcts_traits *traits_of(const struct samples *c, const uint16_t *columns, double bound)
{
    const struct mcts_leaf leaf = {.space = c->queens.space, .values = columns, .bound = bound};
    return mcts_traits_new(c->guess, &leaf);
}

static struct mcts_traits *traits_of_sample(const struct samples *c, unsigned i)
{
    const struct sample *s = &c->list[i];
    const struct mcts_leaf leaf = {c->queens.space, s->columns, s->bound, s->n_features, s->features};
    return mcts_traits_new(c->guess, &leaf);
}

/* Gives the samples features, the first of which has to do with their times. */
static void describe_samples(struct samples *c)
{
    struct pcg32 rng = pcg32_seed(9, 1);
    for (unsigned i = 0; i < SAMPLES; i++) {
        struct sample *s = &c->list[i];
        s->n_features = FEATURES;
        for (unsigned k = 0; k < FEATURES; k++)
            s->features[k] = 4 * pcg32_unit(&rng) + (k ? 0 : log2(s->time));
    }
}

static void learn(struct samples *c, unsigned i, double time)
{
    mcts_guess_learn(c->guess, traits_of_sample(c, i), time);
}

/* Frees the traits. */
static double promise_by(const struct samples *c, struct mcts_traits *t)
{
    mcts_guess_solve(c->guess);
    double p;
    mcts_guess_promises(c->guess, (const struct mcts_traits *const *)&t, 1, &p);
    free(t);
    return p;
}

static double promise(const struct samples *c, const uint16_t *columns, double bound)
{
    return promise_by(c, traits_of(c, columns, bound));
}

static double promise_of(const struct samples *c, unsigned i)
{
    return promise_by(c, traits_of_sample(c, i));
}

static void close_samples(struct samples *c)
{
    mcts_guess_free(c->guess);
    mcts_queens_free(&c->queens);
}

/* ---- the slow reference ---- */

static const double REACH = 0.5; /* of a correlation of 1/e, as a share of the columns */

/* Before scales are fitted. Columns are numbers: from the first to the last the distance is 2. */
static double correlation(const struct sample *a, const struct sample *b)
{
    double sum = 0, distance = 0;
    for (int i = 0; i < ROWS; i++)
        sum += 2.0 / (ROWS - 1) * abs(a->columns[i] - b->columns[i]);
    double by_columns = exp(-sum / (REACH * ROWS));
    if (a->n_features == 0) return by_columns;
    for (int k = 0; k < FEATURES; k++)
        distance += fabs(a->features[k] - b->features[k]) / FEATURES;
    return (by_columns + exp(-distance / 1.5)) / 2;
}

/* x := matrix^-1 x by Gaussian elimination; positive definite, so that no pivot is searched. */
static void eliminate(double matrix[MEASURED][MEASURED], double *x, int n)
{
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) {
            double factor = matrix[i][k] / matrix[k][k];
            for (int j = k; j < n; j++)
                matrix[i][j] -= factor * matrix[k][j];
            x[i] -= factor * x[k];
        }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            x[i] -= matrix[i][j] * x[j];
        x[i] /= matrix[i][i];
    }
}

/* What of a measurement depends on nothing that is known of it. */
static double noise_of(const struct sample *s)
{
    return s->n_features ? 0.015 : 0.05;
}

/* matrix^-1 x of the covariances of the first n samples. */
static void apply_inverse(const struct sample *list, int n, double *x)
{
    double matrix[MEASURED][MEASURED];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            matrix[i][j] = correlation(&list[i], &list[j]) + (i == j ? noise_of(&list[i]) : 0);
    eliminate(matrix, x, n);
}

static double dot(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* E[max(best - X, 0)] of a normal X, by adding up. */
static double expected_gain(double mean, double deviation, double best)
{
    double sum = 0, step = 1e-4;
    for (double z = -10; z < 10; z += step)
        sum += fmax(best - mean - deviation * z, 0) * exp(-z * z / 2) * step;
    return sum / sqrt(2 * 3.14159265358979323846);
}

/* Slopes of least squares in two quantities, with `prior` as one more measurement each. */
static void fit_slopes(const double *x, const double *y, const double *time, int n, const double *prior,
                       double *slopes)
{
    double xx = 1, xy = 0, yy = 1, xt = prior[0], yt = prior[1];
    for (int i = 0; i < n; i++) {
        xx += x[i] * x[i];
        xy += x[i] * y[i];
        yy += y[i] * y[i];
        xt += x[i] * time[i];
        yt += y[i] * time[i];
    }
    slopes[1] = (yt - xy / xx * xt) / (yy - xy / xx * xy);
    slopes[0] = (xt - xy * slopes[1]) / xx;
}

static double estimate_of(const struct sample *s)
{
    return s->n_features ? s->features[0] * log(2) : 0;
}

/* The logarithm of what slower times of n samples count as. */
static double limit_by(const struct sample *list, int n, double fastest)
{
    double best = INFINITY, times[MEASURED];
    for (int i = 0; i < n; i++)
        best = fmin(best, log(list[i].time));
    for (int i = 0; i < n; i++)
        times[i] = fmin(log(list[i].time), best + log(4));
    return fastest < 1 ? fmax(stats_quantile(times, (size_t)n, fastest), best + 0.1) : best + log(4);
}

/* By the first n samples, while the next n_awaited are awaited. */
static double slow_promise_while(const struct sample *list, int n, int n_awaited, double fastest,
                                 const struct sample *asked)
{
    double level = 0, middle = 0, center = 0, share = 0, best = INFINITY, slopes[2], rest[MEASURED],
           weights[MEASURED], stops[MEASURED], like[MEASURED], inverse[MEASURED], time[MEASURED],
           bound[MEASURED], estimate[MEASURED];
    const double prior[] = {list[0].n_features ? 0 : 1, list[0].n_features ? 1 : 0};
    for (int i = 0; i < n; i++)
        best = fmin(best, log(list[i].time));
    for (int i = 0; i < n; i++) {
        time[i] = fmin(log(list[i].time), limit_by(list, n, fastest));
        level += time[i] / n;
        middle += log(list[i].bound) / n;
        center += estimate_of(&list[i]) / n;
        stops[i] = isinf(list[i].time) ? 1 : 0;
        share += stops[i] / n;
    }
    for (int i = 0; i < n; i++) {
        time[i] -= level;
        bound[i] = log(list[i].bound) - middle;
        estimate[i] = estimate_of(&list[i]) - center;
        stops[i] -= share;
    }
    fit_slopes(bound, estimate, time, n, prior, slopes);
    for (int i = 0; i < n; i++)
        rest[i] = weights[i] = time[i] - slopes[0] * bound[i] - slopes[1] * estimate[i];
    for (int i = 0; i < n + n_awaited; i++)
        like[i] = inverse[i] = correlation(&list[i], asked);
    apply_inverse(list, n, weights);
    apply_inverse(list, n, stops);
    apply_inverse(list, n + n_awaited, inverse);
    double variance = (dot(rest, weights, n) + 0.5) / (n + 1);
    double mean = level + slopes[0] * (log(asked->bound) - middle) +
                  slopes[1] * (estimate_of(asked) - center) + dot(like, weights, n);
    double explained = dot(like, inverse, n + n_awaited);
    double finishes = fmin(fmax(1 - share - dot(like, stops, n), 0.02), 1);
    return log(finishes * expected_gain(mean, sqrt(variance * (1 + noise_of(asked) - explained)), best));
}

static double slow_promise(const struct sample *list, int n, const struct sample *asked)
{
    return slow_promise_while(list, n, 0, 1, asked);
}

/* ---- tests ---- */

/* In the tail both are approximations. */
static void expect_near(double fast, double slow, int known, unsigned i)
{
    cr_assert_float_eq(fast, slow, 1e-3 * fmax(1, -slow / 5), "%d known, %u: %g %g", known, i, fast, slow);
}

/* Of `stopped` measurements the last was stopped; 0: of none. */
static void compare_with_dense_algebra(bool described, unsigned stopped, double fastest)
{
    struct samples c = open_limited(MEASURED, fastest);
    if (described) describe_samples(&c);
    for (unsigned i = stopped; stopped && i < MEASURED; i += stopped)
        c.list[i].time = INFINITY;
    for (int n = 1; n < MEASURED; n++) {
        learn(&c, (unsigned)n - 1, c.list[n - 1].time);
        for (unsigned i = MEASURED; i < SAMPLES; i++)
            expect_near(promise_of(&c, i), slow_promise_while(c.list, n, 0, fastest, &c.list[i]), n, i);
    }
    close_samples(&c);
}

Test(mcts_guess, agrees_with_dense_algebra)
{
    compare_with_dense_algebra(false, 0, 1);
}

Test(mcts_guess, with_features_too)
{
    compare_with_dense_algebra(true, 0, 1);
}

Test(mcts_guess, learns_what_is_stopped)
{
    compare_with_dense_algebra(false, 4, 1);
    compare_with_dense_algebra(true, 2, 1);
}

/* By the share of the measurements, by the least distance from the best, and with stopped measurements. */
Test(mcts_guess, counts_times_above_the_limit_as_equal)
{
    compare_with_dense_algebra(false, 0, 0.5);
    compare_with_dense_algebra(true, 0, 0.01);
    compare_with_dense_algebra(true, 3, 0.3);
}

/* What is awaited makes what is like it more certain, and has the time that was expected. Its result, or that
 * there will be none, leaves nothing of it. */
static void compare_awaiting(bool described, bool fails)
{
    enum { AWAITED = 3 };
    struct samples c = open_samples(MEASURED);
    if (described) describe_samples(&c);
    for (int n = 1; n + AWAITED < MEASURED; n++) {
        learn(&c, (unsigned)n - 1, c.list[n - 1].time);
        for (int i = n; i < n + AWAITED; i++)
            mcts_guess_await(c.guess, traits_of_sample(&c, (unsigned)i));
        for (unsigned i = MEASURED; i < SAMPLES; i++)
            expect_near(promise_of(&c, i), slow_promise_while(c.list, n, AWAITED, 1, &c.list[i]), n, i);
        for (int i = n + !fails; i < n + AWAITED; i++) {
            struct mcts_traits *t = traits_of_sample(&c, (unsigned)i);
            mcts_guess_await_no_more(c.guess, t);
            free(t);
        }
        for (unsigned i = MEASURED; fails && i < SAMPLES; i++)
            expect_near(promise_of(&c, i), slow_promise(c.list, n, &c.list[i]), n, i);
    }
    close_samples(&c);
}

Test(mcts_guess, expects_what_it_awaits)
{
    for (int fails = 0; fails < 2; fails++) {
        compare_awaiting(false, fails);
        compare_awaiting(true, fails);
    }
}

/* Of many the newest 32 are awaited, which are more than a guess of 12 measurements holds. */
Test(mcts_guess, awaits_more_than_it_can_hold)
{
    struct samples c = open_samples(12), few = open_samples(12);
    for (unsigned i = 0; i < MEASURED; i++) {
        learn(&c, i, c.list[i].time);
        learn(&few, i, c.list[i].time);
    }
    for (unsigned k = 0; k < 40; k++)
        mcts_guess_await(c.guess, traits_of_sample(&c, MEASURED));
    double before = promise_of(&c, MEASURED), alone = promise_of(&few, MEASURED);
    cr_expect_lt(before, alone, "nothing is to be found out by measuring it");
    for (unsigned k = 0; k < 32; k++) {
        struct mcts_traits *t = traits_of_sample(&c, MEASURED);
        cr_expect_neq(promise_of(&c, MEASURED), alone, "%u", k);
        mcts_guess_await_no_more(c.guess, t);
        free(t);
    }
    cr_expect_eq(promise_of(&c, MEASURED), alone);
    close_samples(&c);
    close_samples(&few);
}

/* Nothing was measured: the smaller estimate promises more, whatever the bounds are. */
Test(mcts_guess, begins_with_the_smallest_estimate)
{
    struct samples c = open_samples(MEASURED);
    describe_samples(&c);
    for (unsigned i = 1; i < SAMPLES; i++)
        cr_assert_eq(promise_of(&c, i) > promise_of(&c, i - 1),
                     c.list[i].features[0] < c.list[i - 1].features[0], "%u", i);
    close_samples(&c);
}

/* Equal decisions with other features are not taken for what was promised lately. */
Test(mcts_guess, features_tell_implementations_apart)
{
    struct samples asks = open_samples(MEASURED), asks_not = open_samples(MEASURED);
    for (unsigned i = 0; i < MEASURED; i++) {
        struct sample *s = &asks.list[i];
        describe_samples(&asks);
        promise_of(&asks, i);
        for (unsigned k = 0; k < FEATURES; k++)
            s->features[k] += 1;
        asks_not.list[i] = *s;
        learn(&asks, i, s->time);
        learn(&asks_not, i, s->time);
    }
    memcpy(asks_not.list, asks.list, sizeof asks.list);
    for (unsigned k = MEASURED; k < SAMPLES; k++)
        cr_assert_eq(promise_of(&asks, k), promise_of(&asks_not, k), "%u", k);
    close_samples(&asks);
    close_samples(&asks_not);
}

/* What one promises does not depend on how many are asked about at once, nor on their order. */
Test(mcts_guess, promises_of_many_are_those_of_each)
{
    struct samples c = open_samples(MEASURED);
    for (unsigned known = 0; known <= 7; known++) {
        struct mcts_traits *asked[SAMPLES];
        double together[SAMPLES];
        for (unsigned i = 0; i < SAMPLES; i++)
            asked[i] = traits_of_sample(&c, i);
        mcts_guess_solve(c.guess);
        for (unsigned n = 1; n <= SAMPLES; n++) {
            mcts_guess_promises(c.guess, (const struct mcts_traits *const *)asked + SAMPLES - n, n, together);
            for (unsigned i = 0; i < n; i++)
                cr_assert_eq(together[i], promise_of(&c, SAMPLES - n + i), "%u known, %u of %u", known, i, n);
        }
        for (unsigned i = 0; i < SAMPLES; i++)
            free(asked[i]);
        learn(&c, known, c.list[known].time);
    }
    close_samples(&c);
}

/* What was solved for an implementation that was promised is used when it is learnt, and changes nothing:
 * neither when others were learnt meanwhile, nor when the guess was full, nor when it was long ago. */
static void compare_learning(size_t capacity, unsigned promised_before)
{
    struct samples asks = open_samples(capacity), asks_not = open_samples(capacity);
    for (unsigned i = 0; i < MEASURED; i++) {
        for (unsigned k = i; k < MEASURED && k <= i + promised_before; k++)
            promise_of(&asks, k);
        learn(&asks, i, asks.list[i].time);
        learn(&asks_not, i, asks.list[i].time);
        for (unsigned k = MEASURED; k < SAMPLES; k++)
            cr_assert_eq(promise_of(&asks, k), promise_of(&asks_not, k), "capacity %zu, %u", capacity, i);
    }
    close_samples(&asks);
    close_samples(&asks_not);
}

Test(mcts_guess, learns_the_same_of_what_it_promised)
{
    for (unsigned before = 0; before < 5; before++) {
        compare_learning(SAMPLES, before);
        compare_learning(12, before);
    }
}

/* At the twentieth measurement the scales are fitted: promises are others than those of the first scales. */
Test(mcts_guess, learns_its_scales)
{
    struct samples c = open_samples(MEASURED);
    double most = 0;
    for (int n = 1; n <= MEASURED; n++)
        learn(&c, (unsigned)n - 1, 100 + 100 * c.list[n - 1].columns[0]);
    for (int i = 0; i < MEASURED; i++)
        c.list[i].time = 100 + 100 * c.list[i].columns[0];
    for (unsigned i = MEASURED; i < SAMPLES; i++)
        most = fmax(most, fabs(promise_of(&c, i) - slow_promise(c.list, MEASURED, &c.list[i])));
    cr_assert_gt(most, 0.1);
    close_samples(&c);
}

Test(mcts_guess, knows_only_bounds_at_first)
{
    struct samples c = open_samples(MEASURED);
    learn(&c, 0, INFINITY);
    for (unsigned i = 1; i < SAMPLES; i++)
        cr_assert_eq(promise_of(&c, i) > promise_of(&c, 0), c.list[i].bound < c.list[0].bound);
    close_samples(&c);
}

/* Far from all that is known to be fast, promises go on falling. */
Test(mcts_guess, promises_of_the_hopeless_are_ordered)
{
    struct samples c = open_samples(MEASURED);
    for (unsigned i = 0; i < MEASURED; i++)
        learn(&c, i, 100 + i);
    double before = INFINITY;
    for (double bound = 1; bound < 1e30; bound *= 1.1) {
        double now = promise(&c, c.list[MEASURED].columns, bound);
        cr_assert(isfinite(now) && now < before, "bound %g: %g after %g", bound, now, before);
        before = now;
    }
    close_samples(&c);
}

/* A stopped measurement counts as one that is far too slow, and what is like it may be stopped, too. */
Test(mcts_guess, stopped_is_slow)
{
    struct samples stopped = open_samples(MEASURED), timed = open_samples(MEASURED);
    for (unsigned i = 0; i < MEASURED; i++) {
        double time = timed.list[i].time;
        learn(&stopped, i, i % 4 == 3 ? INFINITY : time);
        learn(&timed, i, i % 4 == 3 ? 1e6 : time);
    }
    for (unsigned i = MEASURED; i < SAMPLES; i++)
        cr_assert_leq(promise_of(&stopped, i), promise_of(&timed, i));
    cr_assert_lt(promise_of(&stopped, 3), promise_of(&timed, 3) - 1);
    close_samples(&stopped);
    close_samples(&timed);
}

static void forgets_check(size_t capacity, bool equal)
{
    struct samples c = open_samples(capacity);
    learn(&c, 1, 100);
    learn(&c, 0, 50);
    for (unsigned i = 0; i < 200; i++)
        learn(&c, 1 + i % (SAMPLES - 1), equal ? 100 : 100 + i % 7);
    for (unsigned i = 1; i < SAMPLES; i++)
        cr_expect(promise_of(&c, 0) > promise_of(&c, i), "capacity %zu: %u", capacity, i);
    close_samples(&c);
}

/* A full guess forgets slow measurements and keeps the fastest, also where many are equal. (With a capacity
 * of less a sample that is like none of the few that are kept may promise more.) */
Test(mcts_guess, forgets_the_slow)
{
    static const size_t CAPACITIES[] = {13, 14, 15, 16, 18, 24};
    for (size_t i = 0; i < sizeof CAPACITIES / sizeof CAPACITIES[0]; i++) {
        forgets_check(CAPACITIES[i], false);
        forgets_check(CAPACITIES[i], true);
    }
}
