/* All mappings of a problem in ascending order of cost: the bound of a candidate is the cost of the first one
 * that it allows. One table for each state of staging, built when it is first asked for. */
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
    for (unsigned l = 0; l < PERFMODEL_LOGICALS; l++)
        if (a->split[l] != b->split[l]) return a->split[l] < b->split[l] ? -1 : 1;
    return 0;
}

static size_t count_mappings(const struct perfmodel *m)
{
    size_t n = 1;
    for (unsigned l = 0; l < m->n_logicals; l++)
        n *= m->logicals[l].n_splits;
    return n;
}

/* The number-th combination of splits; false: it mixes groups and global work-items. */
static bool nth_mapping(const struct perfmodel *m, size_t number, struct mapping *out,
                        struct perfmodel_split *split)
{
    *out = (struct mapping){0};
    for (unsigned l = 0; l < m->n_logicals; l++) {
        out->split[l] = (uint16_t)(number % m->logicals[l].n_splits);
        split[l] = m->logicals[l].splits[out->split[l]];
        number /= m->logicals[l].n_splits;
        if (split[l].global != split[0].global) return false;
    }
    return true;
}

/* Single precision, never above the double. */
static float round_down(double x)
{
    float f = (float)x;
    return (double)f > x ? nextafterf(f, 0) : f;
}

static void build(struct perfmodel *m, struct mapping_table *t, unsigned number)
{
    struct perfmodel_split split[PERFMODEL_LOGICALS];
    enum staging *staging = base_calloc(m->bb->n_values + 1, sizeof *staging);
    size_t all = count_mappings(m);
    staging_of_table(m, number, staging);
    t->mappings = base_malloc((all + 1) * sizeof *t->mappings);
    for (size_t i = 0; i < all; i++) {
        struct mapping *out = &t->mappings[t->count];
        double cost = nth_mapping(m, i, out, split) ? mapping_cost(m, split, staging, NULL) : INFINITY;
        out->cost = round_down(cost);
        if (isfinite(cost)) t->count++;
    }
    qsort(t->mappings, t->count, sizeof *t->mappings, compare_mappings);
    t->built = true;
    free(staging);
}

const struct mapping_table *mapping_table_get(struct perfmodel *m, unsigned table)
{
    struct mapping_table *t = &m->tables[table];
    if (!t->built) build(m, t, table);
    return t;
}
