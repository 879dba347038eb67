/* All mappings of a problem in ascending order of cost: the bound of a candidate is the cost of the first one
 * that it allows. Staging changes costs, so there is a table for each state of staging (each value staged,
 * not staged or open), built when it is first asked for: with two values up to 3 * 3 tables. */
#include <math.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "perfmodel/model.h"

void staging_of_table(const struct perfmodel *m, unsigned table, enum staging *out)
{
    for (unsigned v = 0; v < m->bb->n_values; v++) {
        out[v] = (enum staging)(table % STAGING_COUNT);
        table /= STAGING_COUNT;
    }
}

static int compare_mappings(const void *pa, const void *pb)
{
    const struct mapping *a = pa, *b = pb;
    if (a->cost != b->cost) return a->cost < b->cost ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
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
    qsort(t->mappings, t->count, sizeof *t->mappings, compare_mappings);
    fill_least(m, t);
    t->built = true;
}

void mapping_table_clear(struct mapping_table *t)
{
    free(t->mappings);
    free(t->costs);
    for (unsigned l = 0; l < PERFMODEL_LOGICALS; l++)
        free(t->least[l]);
    *t = (struct mapping_table){0};
}

const struct mapping_table *mapping_table_get(struct perfmodel *m, unsigned table)
{
    struct mapping_table *t = &m->tables[table];
    if (!t->built) build(m, t, table);
    return t;
}
