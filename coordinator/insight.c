/* Variance of log-times by choice; see insight.h. Each choice divides the evaluations into groups by its
 * value. A hash of this division, in which names of values do not matter, finds choices that divide them in
 * the same way: those cannot be told apart. */
#include "coordinator/insight.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/base/panic.h"
#include "core/base/stats.h"

struct row {
    double log_ns;
    uint32_t n;
    uint16_t *values;
};

struct insight {
    struct row *rows;
    size_t n, capacity;
    uint32_t n_choices; /* of the longest row */
};

struct insight *insight_new(void)
{
    return base_calloc(1, sizeof(struct insight));
}

void insight_free(struct insight *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->n; i++)
        free(s->rows[i].values);
    free(s->rows);
    free(s);
}

void insight_add(struct insight *s, double ns, const uint16_t *values, uint32_t n)
{
    CHECK(ns > 0);
    if (s->n == s->capacity) {
        s->capacity = 2 * s->capacity + 64;
        s->rows = base_realloc(s->rows, s->capacity * sizeof *s->rows);
    }
    struct row *row = &s->rows[s->n++];
    *row = (struct row){log(ns), n, base_malloc((n + 1) * sizeof *values)};
    memcpy(row->values, values, n * sizeof *values);
    if (n > s->n_choices) s->n_choices = n;
}

static uint16_t value_in(const struct row *row, uint32_t choice)
{
    return choice < row->n ? row->values[choice] : INSIGHT_ABSENT;
}

/* ---- one choice ---- */

/* The groups of one choice. */
struct groups {
    unsigned *number; /* [value, INSIGHT_ABSENT too] group of a value + 1; 0: it was not seen */
    unsigned n;       /* groups, in order of appearance, that of the absent ones included */
    struct insight_value *groups;
    size_t capacity;
    uint64_t hash; /* of the grouping */
};

static unsigned group_of(struct groups *g, uint16_t value)
{
    if (g->number[value]) return g->number[value] - 1;
    if (g->n == g->capacity) {
        g->capacity = 2 * g->capacity + 16;
        g->groups = base_realloc(g->groups, g->capacity * sizeof *g->groups);
    }
    g->groups[g->n] = (struct insight_value){.value = value};
    g->number[value] = ++g->n;
    return g->n - 1;
}

static void form_groups(const struct insight *s, uint32_t choice, struct groups *g)
{
    for (unsigned i = 0; i < g->n; i++)
        g->number[g->groups[i].value] = 0;
    g->n = 0;
    g->hash = HASH_START;
    for (size_t i = 0; i < s->n; i++) {
        unsigned number = group_of(g, value_in(&s->rows[i], choice));
        struct insight_value *v = &g->groups[number];
        v->count++;
        v->mean_log_ns += (s->rows[i].log_ns - v->mean_log_ns) / (double)v->count;
        g->hash = hash_bytes(g->hash, &number, sizeof number);
    }
}

static int by_mean(const void *a, const void *b)
{
    const struct insight_value *x = a, *y = b;
    if (x->mean_log_ns != y->mean_log_ns) return x->mean_log_ns < y->mean_log_ns ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

/* The values that are there, fastest first. */
static void take_values(const struct groups *g, struct insight_effect *e)
{
    e->values = base_malloc((g->n + 1) * sizeof *e->values);
    for (unsigned i = 0; i < g->n; i++) {
        if (g->groups[i].value == INSIGHT_ABSENT) continue;
        e->values[e->n_values++] = g->groups[i];
        e->count += g->groups[i].count;
    }
    qsort(e->values, e->n_values, sizeof *e->values, by_mean);
}

static double between_values(const struct insight_effect *e)
{
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < e->n_values; i++)
        sum += (double)e->values[i].count * e->values[i].mean_log_ns;
    double mean = sum / (double)e->count;
    for (unsigned i = 0; i < e->n_values; i++)
        squares += (double)e->values[i].count * pow(e->values[i].mean_log_ns - mean, 2);
    return squares;
}

static void add_same(struct insight_effect *e, uint32_t choice)
{
    e->same = base_realloc(e->same, (e->n_same + 1) * sizeof *e->same);
    e->same[e->n_same++] = choice;
}

/* ---- all of them ---- */

/* Adds a choice to the report, or to the one that groups alike. hashes[i] is of effect i. */
static void add_choice(struct insight_report *r, uint64_t *hashes, uint32_t choice, const struct groups *g)
{
    struct insight_effect e = {.choice = choice};
    double total = r->variance * (double)(r->evaluations - 1);
    uint32_t i = 0;
    while (i < r->n_effects && hashes[i] != g->hash)
        i++;
    take_values(g, &e);
    if (e.n_values < 2 || i < r->n_effects) {
        free(e.values);
        if (e.n_values >= 2) add_same(&r->effects[i], choice);
        return;
    }
    e.share = total > 0 ? fmin(1, between_values(&e) / total) : 0;
    e.chance = fmin(1, (double)(e.n_values - 1) / (double)(r->evaluations - 1));
    hashes[i] = g->hash;
    r->effects[r->n_effects++] = e;
}

static int by_share(const void *a, const void *b)
{
    const struct insight_effect *x = a, *y = b;
    if (x->share != y->share) return x->share > y->share ? -1 : 1;
    return (x->choice > y->choice) - (x->choice < y->choice);
}

static void describe_times(const struct insight *s, struct insight_report *r)
{
    double *logs = base_malloc((s->n + 1) * sizeof *logs);
    for (size_t i = 0; i < s->n; i++)
        logs[i] = s->rows[i].log_ns;
    r->mean_log_ns = stats_mean(logs, s->n);
    r->variance = stats_variance(logs, s->n);
    r->least_ns = exp(stats_quantile(logs, s->n, 0));
    r->most_ns = exp(stats_quantile(logs, s->n, 1));
    free(logs);
}

void insight_report(const struct insight *s, struct insight_report *out)
{
    *out = (struct insight_report){.evaluations = s->n};
    if (s->n == 0) return;
    describe_times(s, out);
    if (s->n == 1) return;
    struct groups g = {.number = base_calloc(INSIGHT_ABSENT + 1, sizeof *g.number)};
    uint64_t *hashes = base_malloc((s->n_choices + 1) * sizeof *hashes);
    out->effects = base_malloc((s->n_choices + 1) * sizeof *out->effects);
    for (uint32_t choice = 0; choice < s->n_choices; choice++) {
        form_groups(s, choice, &g);
        if (g.n > 1) add_choice(out, hashes, choice, &g);
    }
    qsort(out->effects, out->n_effects, sizeof *out->effects, by_share);
    free(hashes);
    free(g.groups);
    free(g.number);
}

void insight_report_clear(struct insight_report *r)
{
    for (uint32_t i = 0; i < r->n_effects; i++) {
        free(r->effects[i].same);
        free(r->effects[i].values);
    }
    free(r->effects);
    *r = (struct insight_report){0};
}
