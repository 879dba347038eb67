/* Courses, medians and their bootstrap; see statistics.h. */
#include "experiments/search/statistics.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/base/pcg32.h"
#include "core/base/stats.h"

enum { RESAMPLES = 1000, SEED = 1, STREAM = 0x5ea };

/* ---- courses ---- */

/* Times that differ may be printed alike. */
static bool add_step(struct course *c, struct course_step s)
{
    const struct course_step *last = c->n ? &c->steps[c->n - 1] : NULL;
    if (!(s.ratio >= 1) || !isfinite(s.ratio) || s.evaluations == 0) return false;
    if (last && (s.ratio > last->ratio || s.evaluations <= last->evaluations)) return false;
    c->steps = base_realloc(c->steps, (c->n + 1) * sizeof *c->steps);
    c->steps[c->n++] = s;
    return true;
}

bool course_parse(const char *text, struct course *out)
{
    *out = (struct course){0};
    for (const char *at = text; *at;) {
        char *end;
        struct course_step s = {.evaluations = (uint32_t)strtoul(at, &end, 10)};
        bool ok = isdigit((unsigned char)*at) && *end == ':' && isdigit((unsigned char)end[1]);
        at = end + ok;
        if (ok) s.ratio = strtod(at, &end);
        if (!ok || end == at || (*end && *end != ' ') || !add_step(out, s)) {
            course_free(out);
            return false;
        }
        at = end + (*end == ' ');
    }
    return true;
}

void course_free(struct course *c)
{
    free(c->steps);
    *c = (struct course){0};
}

double course_ratio(const struct course *c, uint32_t evaluations)
{
    double ratio = INFINITY;
    for (size_t i = 0; i < c->n && c->steps[i].evaluations <= evaluations; i++)
        ratio = c->steps[i].ratio;
    return ratio;
}

bool course_reaches(const struct course *c, double ratio, uint32_t limit)
{
    return course_ratio(c, limit) <= ratio;
}

double course_within(const struct course *c, double ratio, uint32_t limit)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->steps[i].ratio <= ratio) return fmin(c->steps[i].evaluations, limit);
    return limit;
}

/* ---- medians ---- */

/* Sorts them. Half of the sum of the middle two, where one may be infinite. */
static double take_median(double *x, size_t n)
{
    CHECK(n > 0);
    stats_sort(x, n);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

static double resampled_median(const double *x, size_t n, double *scratch, struct pcg32 *rng)
{
    for (size_t i = 0; i < n; i++)
        scratch[i] = x[pcg32_below(rng, (uint32_t)n)];
    return take_median(scratch, n);
}

/* Logarithms of geometric means of medians: of the samples, and of RESAMPLES drawn again. Both are added with
 * that sign. */
static void add_means(struct samples s, double sign, struct pcg32 *rng, double *middle, double *resampled)
{
    double share = sign / (double)s.lists;
    CHECK(s.lists > 0);
    for (size_t k = 0; k < s.lists; k++) {
        double *scratch = base_malloc((s.n[k] + 1) * sizeof *scratch);
        memcpy(scratch, s.x[k], s.n[k] * sizeof *scratch);
        *middle += log(take_median(scratch, s.n[k])) * share;
        for (size_t i = 0; i < RESAMPLES; i++)
            resampled[i] += log(resampled_median(s.x[k], s.n[k], scratch, rng)) * share;
        free(scratch);
    }
}

/* The middle 95 %; no interpolation, since numbers may be infinite. */
static struct estimate interval(double middle, double *resampled)
{
    stats_sort(resampled, RESAMPLES);
    return (struct estimate){exp(middle), exp(resampled[RESAMPLES / 40]),
                             exp(resampled[RESAMPLES - 1 - RESAMPLES / 40])};
}

struct estimate mean_of_medians(struct samples s)
{
    struct pcg32 rng = pcg32_seed(SEED, STREAM);
    double resampled[RESAMPLES] = {0}, middle = 0;
    add_means(s, 1, &rng, &middle, resampled);
    return interval(middle, resampled);
}

struct estimate ratio_of_medians(struct samples now, struct samples before)
{
    struct pcg32 rng = pcg32_seed(SEED, STREAM);
    double resampled[RESAMPLES] = {0}, middle = 0;
    add_means(now, 1, &rng, &middle, resampled);
    add_means(before, -1, &rng, &middle, resampled);
    return interval(middle, resampled);
}

struct estimate median_of(const double *x, size_t n)
{
    return mean_of_medians((struct samples){&x, &n, 1});
}
