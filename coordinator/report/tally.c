/* Counting; see tally.h. */
#include "coordinator/report/tally.h"

#include <stdlib.h>

#include "core/base/arena.h"

static struct tally_choice *choice_of(struct tally *t, uint32_t choice)
{
    for (unsigned i = 0; i < t->n; i++)
        if (t->choices[i].choice == choice) return &t->choices[i];
    t->choices = base_realloc(t->choices, (t->n + 1) * sizeof *t->choices);
    t->choices[t->n] = (struct tally_choice){.choice = choice};
    return &t->choices[t->n++];
}

void tally_add(struct tally *t, uint32_t choice, uint32_t value, unsigned place)
{
    struct tally_choice *c = choice_of(t, choice);
    unsigned i = 0;
    c->count++;
    c->places += place;
    while (i < c->n_values && c->values[i].value != value)
        i++;
    if (i == c->n_values) {
        c->values = base_realloc(c->values, (i + 1) * sizeof *c->values);
        c->values[c->n_values++] = (struct tally_value){value, 0};
    }
    c->values[i].count++;
}

static int by_place(const void *a, const void *b)
{
    const struct tally_choice *x = a, *y = b;
    double p = x->places / (double)x->count, q = y->places / (double)y->count;
    if (p != q) return p < q ? -1 : 1;
    return (x->choice > y->choice) - (x->choice < y->choice);
}

static int by_count(const void *a, const void *b)
{
    const struct tally_value *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

void tally_finish(struct tally *t, size_t least)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < t->n; i++)
        if (t->choices[i].n_values >= 2 && t->choices[i].count >= least)
            t->choices[kept++] = t->choices[i];
        else
            free(t->choices[i].values);
    t->n = kept;
    if (kept > 0) qsort(t->choices, kept, sizeof *t->choices, by_place);
    for (unsigned i = 0; i < kept; i++)
        qsort(t->choices[i].values, t->choices[i].n_values, sizeof *t->choices[i].values, by_count);
}

void tally_clear(struct tally *t)
{
    for (unsigned i = 0; i < t->n; i++)
        free(t->choices[i].values);
    free(t->choices);
    *t = (struct tally){0};
}
