/* All mappings of a problem in ascending order of cost: the bound of a candidate is the cost of the first one
 * that it allows. Staging changes costs, so there is a table for each state of staging (each value staged,
 * not staged or open), built when it is first asked for: with two values up to 3 * 3 tables. A table of a
 * convolution has 150,000 mappings and takes 0.1 s, so models of several threads share them. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/panic.h"
#include "perfmodel/model.h"

void staging_of_table(const struct perfmodel *m, unsigned table, enum staging *out)
{
    for (unsigned v = 0; v < m->bb->n_values; v++) {
        out[v] = (enum staging)(table % STAGING_COUNT);
        table /= STAGING_COUNT;
    }
}

static uint32_t count_mappings(const struct perfmodel *m)
{
    uint32_t n = 1;
    for (unsigned l = 0; l < m->n_logicals; l++)
        n *= m->logicals[l].n_splits;
    return n;
}

void mapping_splits(const struct perfmodel *m, uint32_t number, struct perfmodel_split *split)
{
    for (unsigned l = 0; l < m->n_logicals; l++) {
        split[l] = m->logicals[l].splits[number % m->logicals[l].n_splits];
        number /= m->logicals[l].n_splits;
    }
}

static struct mapping make_mapping(const struct perfmodel *m, uint32_t number, float cost)
{
    struct mapping out = {.cost = cost, .number = number};
    for (unsigned l = 0; l < m->n_logicals; l++) {
        out.split[l] = (uint16_t)(number % m->logicals[l].n_splits);
        number /= m->logicals[l].n_splits;
    }
    return out;
}

/* Single precision, never above the double. */
static float round_down(double x)
{
    float f = (float)x;
    return (double)f > x ? nextafterf(f, 0) : f;
}

static void fill_costs(const struct perfmodel *m, struct mapping_table *t, uint32_t n, unsigned number)
{
    struct perfmodel_split split[PERFMODEL_LOGICALS];
    enum staging *staging = base_calloc(m->bb->n_values + 1, sizeof *staging);
    staging_of_table(m, number, staging);
    t->costs = base_malloc((n + 1) * sizeof *t->costs);
    for (uint32_t i = 0; i < n; i++) {
        mapping_splits(m, i, split);
        t->costs[i] = round_down(mapping_cost(m, split, staging, NULL));
        t->count += isfinite(t->costs[i]) != 0;
    }
    free(staging);
}

/* ---- ascending order ---- */

/* Costs are not negative, so that the bits of one, as a number, are in the order of costs. */
static uint32_t bits_of(float cost)
{
    uint32_t bits;
    memcpy(&bits, &cost, sizeof bits);
    return bits;
}

/* By 8 bits of their costs, from bit `first` on; those with equal bits keep their order. */
static void sort_by_bits(const struct mapping *from, size_t n, unsigned first, struct mapping *to)
{
    enum { KEYS = 256 };
    size_t start[KEYS + 1] = {0};
    for (size_t i = 0; i < n; i++)
        start[(bits_of(from[i].cost) >> first & 0xff) + 1]++;
    for (unsigned k = 0; k < KEYS; k++)
        start[k + 1] += start[k];
    for (size_t i = 0; i < n; i++)
        to[start[bits_of(from[i].cost) >> first & 0xff]++] = from[i];
}

/* By cost; of equal costs the order stays, which is that of their numbers. */
static void sort_mappings(struct mapping *list, size_t n)
{
    struct mapping *other = base_malloc((n + 1) * sizeof *other);
    for (unsigned first = 0; first < 32; first += 16) {
        sort_by_bits(list, n, first, other);
        sort_by_bits(other, n, first + 8, list);
    }
    free(other);
}

/* ---- a table ---- */

/* The mappings are sorted: the first with a split is the cheapest. */
static void fill_least(const struct perfmodel *m, struct mapping_table *t)
{
    for (unsigned l = 0; l < m->n_logicals; l++) {
        unsigned n = m->logicals[l].n_splits;
        t->least[l] = base_malloc((n + 1) * sizeof *t->least[l]);
        for (unsigned s = 0; s < n; s++)
            t->least[l][s] = INFINITY;
        for (size_t i = t->count; i-- > 0;)
            t->least[l][t->mappings[i].split[l]] = t->mappings[i].cost;
    }
}

static void build(struct perfmodel *m, struct mapping_table *t, unsigned number)
{
    uint32_t n = count_mappings(m);
    fill_costs(m, t, n, number);
    t->mappings = base_malloc((t->count + 1) * sizeof *t->mappings);
    struct mapping *out = t->mappings;
    for (uint32_t i = 0; i < n; i++)
        if (isfinite(t->costs[i])) *out++ = make_mapping(m, i, t->costs[i]);
    sort_mappings(t->mappings, t->count);
    fill_least(m, t);
}

static void clear(struct mapping_table *t)
{
    free(t->mappings);
    free(t->costs);
    for (unsigned l = 0; l < PERFMODEL_LOGICALS; l++)
        free(t->least[l]);
    *t = (struct mapping_table){0};
}

/* ---- all tables ---- */

struct mapping_tables {
    double figures[PERFMODEL_FIGURE_COUNT]; /* that they are built for */
    unsigned n;
    uint32_t n_mappings;  /* of each, with those that the device cannot run */
    pthread_mutex_t lock; /* of what follows: states of tables, but not a table that is built */
    pthread_cond_t built;
    unsigned users;
    struct mapping_table *list;
};

struct mapping_tables *mapping_tables_new(const struct perfmodel *m)
{
    struct mapping_tables *t = base_calloc(1, sizeof *t);
    t->n = m->n_tables;
    t->n_mappings = count_mappings(m);
    t->users = 1;
    t->list = base_calloc(t->n, sizeof t->list[0]);
    memcpy(t->figures, m->dev.value, sizeof t->figures);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->built, NULL);
    return t;
}

struct mapping_tables *mapping_tables_share(struct mapping_tables *t, const struct perfmodel *m)
{
    CHECK(t && t->n == m->n_tables && t->n_mappings == count_mappings(m));
    pthread_mutex_lock(&t->lock);
    t->users++;
    pthread_mutex_unlock(&t->lock);
    return t;
}

static void clear_all(struct mapping_tables *t)
{
    for (unsigned i = 0; i < t->n; i++)
        clear(&t->list[i]);
}

void mapping_tables_free(struct mapping_tables *t)
{
    if (!t) return;
    pthread_mutex_lock(&t->lock);
    bool last = --t->users == 0;
    pthread_mutex_unlock(&t->lock);
    if (!last) return;
    clear_all(t);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->built);
    free(t->list);
    free(t);
}

void mapping_tables_follow(struct mapping_tables *t, const struct perfmodel_device *dev)
{
    if (memcmp(t->figures, dev->value, sizeof t->figures) == 0) return;
    memcpy(t->figures, dev->value, sizeof t->figures);
    clear_all(t);
}

/* Whether this thread has to build the table; else waits until it is built. */
static bool begin(struct mapping_tables *all, struct mapping_table *t)
{
    pthread_mutex_lock(&all->lock);
    while (t->state == TABLE_AT_WORK)
        pthread_cond_wait(&all->built, &all->lock);
    bool missing = t->state == TABLE_MISSING;
    if (missing) t->state = TABLE_AT_WORK;
    pthread_mutex_unlock(&all->lock);
    return missing;
}

static void end(struct mapping_tables *all, struct mapping_table *t)
{
    pthread_mutex_lock(&all->lock);
    t->state = TABLE_BUILT;
    pthread_cond_broadcast(&all->built);
    pthread_mutex_unlock(&all->lock);
}

const struct mapping_table *mapping_table_get(struct perfmodel *m, unsigned table)
{
    struct mapping_table *t = &m->tables->list[table];
    if (begin(m->tables, t)) {
        build(m, t, table);
        end(m->tables, t);
    }
    return t;
}
