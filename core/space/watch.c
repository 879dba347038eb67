/* Which instances to revisit when a slot changes.
 *
 * A tabulated instance watches its slots, its guards and the liveness of both; one without a table is told of
 * by its cells (cells.h), and watches liveness, and slots for their last value unless it is monotone. The
 * watches of a slot are grouped by the filter that tells whether a change concerns them, so a write asks each
 * filter once however many instances share it. */
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/space/internal.h"

/* A watch before the groups are made. */
struct entry {
    uint32_t slot, instance;
    uint8_t how;
    const void *filter;
};

struct builder {
    struct space *s;
    struct entry *entries;
    size_t n, cap;
    uint32_t *last; /* by slot: number of its last entry, plus 1 */
};

static void add(struct builder *b, uint32_t slot, uint32_t instance, uint8_t how, const void *filter)
{
    struct entry *known = b->last[slot] ? &b->entries[b->last[slot] - 1] : NULL;
    if (known && known->instance == instance) {
        if (how != WATCH_LIVENESS || known->how != WATCH_LIVENESS)
            *known = (struct entry){slot, instance, WATCH_ALWAYS, NULL};
        return;
    }
    if (b->n == b->cap) {
        b->cap = b->cap ? 2 * b->cap : 4096;
        b->entries = base_realloc(b->entries, b->cap * sizeof *b->entries);
    }
    b->entries[b->n++] = (struct entry){slot, instance, how, filter};
    b->last[slot] = (uint32_t)b->n;
}

static void add_instance(struct builder *b, uint32_t instance)
{
    const struct space *s = b->s;
    const struct instance *in = &s->instances[instance];
    const struct shape *sh = &s->shapes[in->shape];
    for (uint32_t k = 0; k < sh->n_slots; k++) {
        uint32_t slot = s->instance_slots[in->slots + k];
        if (sh->filters) add(b, slot, instance, WATCH_DOMINATORS, sh->filters[k]);
        if (sh->kind == SHAPE_GENERAL && !sh->monotone)
            add(b, slot, instance, s->slots[slot].words > 1 ? WATCH_ALWAYS : WATCH_FIXED, NULL);
        for (unsigned l = 0; l < s->slots[slot].n_live; l++)
            add(b, s->slots[slot].live[l], instance, WATCH_LIVENESS, NULL);
    }
    for (uint32_t k = 0; k < in->n_guards; k++)
        add(b, s->guards[in->guards + k], instance, WATCH_LIVENESS, NULL);
}

/* By slot, way and filter. Filters are compared by address: the order of groups does not change any fixpoint.
 */
static int compare(const void *x, const void *y)
{
    const struct entry *a = x, *b = y;
    if (a->slot != b->slot) return a->slot < b->slot ? -1 : 1;
    if (a->how != b->how) return a->how < b->how ? -1 : 1;
    if (a->filter != b->filter) return (uintptr_t)a->filter < (uintptr_t)b->filter ? -1 : 1;
    return (a->instance > b->instance) - (a->instance < b->instance);
}

/* The byte of a domain that has all of its hard values; false: they are in several. */
static bool find_hard_byte(const struct space *s, const struct instance *in, uint32_t k, uint32_t *byte,
                           uint8_t *mask)
{
    uint64_t hard = s->shapes[in->shape].hard[k];
    if (!hard) return false;
    unsigned at = (unsigned)__builtin_ctzll(hard) / 8;
    *byte = s->instance_at[in->slots + k].offset + at;
    *mask = (uint8_t)(hard >> 8 * at);
    return hard >> 8 * at <= UINT8_MAX;
}

/* Liveness of its first objects, then domains that may satisfy it. */
struct watch watch_make(const struct space *s, uint32_t instance)
{
    const struct instance *in = &s->instances[instance];
    const struct shape *sh = &s->shapes[in->shape];
    struct watch w = {.instance = instance, .slow = sh->kind == SHAPE_GENERAL};
    uint32_t n = 0;
    for (; n < in->n_guards && n < 2; n++) {
        w.bytes[n] = s->guard_at[in->guards + n];
        w.masks[n] = LIVENESS_LIVE;
    }
    for (uint32_t k = 0; sh->hard && k < sh->n_slots && n < WATCH_TESTS; k++)
        n += find_hard_byte(s, in, k, &w.bytes[n], &w.masks[n]);
    for (; n < WATCH_TESTS; n++) {
        w.bytes[n] = vector_always_live(s);
        w.masks[n] = LIVENESS_LIVE;
    }
    return w;
}

static void make_groups(struct builder *b)
{
    struct space *s = b->s;
    size_t cap = 1, n = 0;
    uint32_t slot = 0;
    s->watch = ARENA_ARRAY(s->arena, struct watch, b->n + 1);
    s->group_of_slot = ARENA_ARRAY(s->arena, uint32_t, s->n_all + 1);
    s->watch_groups = ARENA_NEW(s->arena, struct watch_group);
    for (size_t i = 0; i < b->n; i++) {
        const struct entry *e = &b->entries[i];
        bool same = i && e[-1].slot == e->slot && e[-1].how == e->how && e[-1].filter == e->filter;
        if (!same) {
            while (slot <= e->slot)
                s->group_of_slot[slot++] = (uint32_t)n;
            s->watch_groups = arena_grow(s->arena, s->watch_groups, &cap, n + 1, sizeof *s->watch_groups);
            s->watch_groups[n++] = (struct watch_group){e->filter, (uint32_t)i, 0, e->how};
        }
        s->watch_groups[n - 1].n++;
        s->watch[i] = watch_make(s, e->instance);
    }
    while (slot <= s->n_all)
        s->group_of_slot[slot++] = (uint32_t)n;
}

void watch_build(struct space *s)
{
    struct builder b = {.s = s, .last = base_calloc(s->n_all + 1, sizeof(uint32_t))};
    for (uint32_t i = 0; i < s->n_instances; i++)
        if (!s->entailed[i] && !s->instances[i].related) add_instance(&b, i);
    if (b.n) qsort(b.entries, b.n, sizeof *b.entries, compare);
    make_groups(&b);
    free(b.entries);
    free(b.last);
}

bool watch_matters(const struct dominators *d, uint64_t lost, uint64_t now)
{
    if (d->losses) return lost & d->losses[now];
    for (; lost; lost &= lost - 1)
        if (!(d->of[__builtin_ctzll(lost)] & now)) return true;
    return false;
}
