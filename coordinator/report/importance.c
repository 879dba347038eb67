/* From decisions to importance. insight_report() finds the choices that divide the implementations; each
 * becomes a choice of the forest, its values codes from 1, 0 where the implementation does not have it. */
#include "coordinator/report/importance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/forest.h"

enum { NAME_BYTES = 512 };

struct row {
    double log_ns;
    uint32_t n;
    uint16_t *values;
};

struct importance {
    struct insight *insight;
    struct row *rows;
    size_t n, capacity;
};

struct importance *importance_new(void)
{
    struct importance *m = base_calloc(1, sizeof *m);
    m->insight = insight_new();
    return m;
}

void importance_free(struct importance *m)
{
    if (!m) return;
    for (size_t i = 0; i < m->n; i++)
        free(m->rows[i].values);
    free(m->rows);
    insight_free(m->insight);
    free(m);
}

void importance_add(struct importance *m, double ns, const uint16_t *values, uint32_t n)
{
    if (m->n == m->capacity) {
        m->capacity = 2 * m->capacity + 64;
        m->rows = base_realloc(m->rows, m->capacity * sizeof *m->rows);
    }
    struct row *row = &m->rows[m->n++];
    *row = (struct row){log(ns), n, base_malloc((n + 1) * sizeof *values)};
    memcpy(row->values, values, n * sizeof *values);
    insight_add(m->insight, ns, values, n);
}

/* ---- the forest ---- */

/* The code of a value: its place among the effect's values, the last code for all that are far behind. */
static uint8_t code_of(const struct insight_effect *e, uint16_t value)
{
    for (unsigned i = 0; i < e->n_values; i++)
        if (e->values[i].value == value) return (uint8_t)(i + 1 < FOREST_CODES ? i + 1 : FOREST_CODES - 1);
    return 0;
}

static uint8_t *codes_of(const struct importance *m, const struct insight_report *r)
{
    uint8_t *codes = base_calloc(m->n * r->n_effects + 1, 1);
    for (size_t i = 0; i < m->n; i++)
        for (uint32_t k = 0; k < r->n_effects; k++) {
            uint32_t choice = r->effects[k].choice;
            bool has = choice < m->rows[i].n && m->rows[i].values[choice] != DECIDED_ABSENT;
            if (has) codes[i * r->n_effects + k] = code_of(&r->effects[k], m->rows[i].values[choice]);
        }
    return codes;
}

/* ---- what is kept ---- */

struct ranked {
    double importance;
    uint32_t effect;
};

static int by_importance(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->importance != y->importance) return x->importance > y->importance ? -1 : 1;
    return (x->effect > y->effect) - (x->effect < y->effect);
}

static void take_choice(const struct forest *f, const struct insight_report *r, const struct ranked *of,
                        const struct decided *names, struct report_choice *out)
{
    char name[NAME_BYTES];
    const struct insight_effect *e = &r->effects[of->effect];
    decided_choice_name(names, e->choice, name, sizeof name);
    *out = (struct report_choice){.name = base_strdup(name),
                                  .same = e->n_same,
                                  .importance = of->importance,
                                  .share = e->share,
                                  .chance = e->chance,
                                  .count = e->count,
                                  .n_values = e->n_values,
                                  .values = base_calloc(e->n_values + 1u, sizeof *out->values)};
    for (unsigned i = 0; i < e->n_values; i++) {
        decided_value_name(names, e->choice, e->values[i].value, name, sizeof name);
        out->values[i] =
            (struct report_value){base_strdup(name), e->values[i].count, exp(e->values[i].mean_log_ns),
                                  exp(forest_marginal(f, of->effect, code_of(e, e->values[i].value)))};
    }
}

/* The most important choices; those that tell nothing are left out. */
static void take_choices(const struct forest *f, const struct insight_report *r, const struct decided *names,
                         struct report_study *out)
{
    double *importance = base_calloc(r->n_effects + 1, sizeof *importance);
    struct ranked *ranked = base_calloc(r->n_effects + 1, sizeof *ranked);
    forest_importance(f, importance);
    for (uint32_t i = 0; i < r->n_effects; i++)
        ranked[i] = (struct ranked){importance[i], i};
    qsort(ranked, r->n_effects, sizeof *ranked, by_importance);
    out->choices = base_calloc(IMPORTANCE_KEPT, sizeof *out->choices);
    for (uint32_t i = 0; i < r->n_effects && i < IMPORTANCE_KEPT && ranked[i].importance > 0; i++)
        take_choice(f, r, &ranked[i], names, &out->choices[out->n_choices++]);
    free(importance);
    free(ranked);
}

void importance_report(const struct importance *m, const struct decided *names, struct report_study *out)
{
    struct insight_report r;
    struct forest_options options = forest_options_default();
    out->learnt_from = m->n;
    if (m->n < IMPORTANCE_LEAST) return;
    insight_report(m->insight, &r);
    out->all_choices = r.n_effects;
    double *y = base_malloc(m->n * sizeof *y);
    for (size_t i = 0; i < m->n; i++)
        y[i] = m->rows[i].log_ns;
    uint8_t *codes = codes_of(m, &r);
    struct forest_data data = {m->n, r.n_effects, codes, y};
    struct forest *f = r.n_effects > 0 ? forest_grow(&data, &options) : NULL;
    if (f) {
        out->explained = forest_explained(f);
        take_choices(f, &r, names, out);
    }
    forest_free(f);
    free(codes);
    free(y);
    insight_report_clear(&r);
}
