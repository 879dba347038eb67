/* A row of decisions; see decisions.h. */
#include "core/backbone/decisions.h"

#include "core/base/arena.h"

void bb_decisions_add(struct bb_decisions *d, struct arena *a, struct space_action decision)
{
    d->items = arena_grow(a, d->items, &d->capacity, d->n + 1, sizeof *d->items);
    d->items[d->n++] = decision;
}
