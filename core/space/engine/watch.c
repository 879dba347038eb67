/* Which instances to revisit when a slot changes.
 *
 * A tabulated instance watches its slots, its guards and the liveness of both; one without a table is queued
 * by its cells (cells.h), and watches liveness, and slots for their last value unless it is monotone. The
 * watches of a slot are grouped by the filter that tells whether a change concerns them, so a write asks each
 * filter once however many instances share it. */
#include <stdlib.h>
#include <string.h>

#include "core/space/engine/events.h"

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

static void add_tabulated(struct builder *b, uint32_t slot, uint32_t instance, uint32_t k)
{
    const struct instance *in = &b->s->instances[instance];
    const struct shape *sh = &b->s->shapes[in->shape];
    uint8_t how = sh->kind == SHAPE_TRIPLE ? WATCH_DOMINATORS : sh->unions[k] ? WATCH_UNIONS : WATCH_SUPPORTS;
    if (sh->kind == SHAPE_PAIR && in->n_guards > PAIR_GUARDS)
        add(b, slot, instance, WATCH_ALWAYS, NULL);
    else
        add(b, slot, instance, how, sh->filters[k]);
}

static void add_instance(struct builder *b, uint32_t instance)
{
    const struct space *s = b->s;
    const struct instance *in = &s->instances[instance];
    const struct shape *sh = &s->shapes[in->shape];
    for (uint32_t k = 0; k < sh->n_slots; k++) {
        uint32_t slot = s->instance_slots[in->slots + k];
        if (sh->filters) add_tabulated(b, slot, instance, k);
        if (sh->kind == SHAPE_GENERAL && !sh->monotone)
            add(b, slot, instance, s->slots[slot].words > 1 ? WATCH_ALWAYS : WATCH_FIXED, NULL);
        for (unsigned l = 0; l < s->slots[slot].n_live; l++)
            add(b, s->origins[slot].live[l], instance, WATCH_LIVENESS, NULL);
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

static bool is_guard(const struct space *s, const struct instance *in, uint32_t slot)
{
    for (uint32_t k = 0; k < in->n_guards; k++)
        if (s->guards[in->guards + k] == slot) return true;
    return false;
}

/* Whether the slot always has a value where the instance is enforced: its objects are guards. A choice
 * without values may have any, constraining ones too. */
static bool is_guarded(const struct space *s, const struct instance *in, uint32_t slot)
{
    for (unsigned k = 0; k < s->slots[slot].n_live; k++)
        if (!is_guard(s, in, s->origins[slot].live[k])) return false;
    return true;
}

/* The byte of a domain that has all of its constraining values; false: they are in several, or an empty
 * domain allows them. */
static bool find_constraining_byte(const struct space *s, const struct instance *in, uint32_t k,
                                   uint32_t *byte, uint8_t *mask)
{
    uint64_t constraining = s->shapes[in->shape].constraining[k];
    if (!constraining || !is_guarded(s, in, s->instance_slots[in->slots + k])) return false;
    unsigned at = (unsigned)__builtin_ctzll(constraining) / 8;
    *byte = s->instance_at[in->slots + k].offset + at;
    *mask = (uint8_t)(constraining >> 8 * at);
    return constraining >> 8 * at <= UINT8_MAX;
}

static void add_test(struct watch *w, uint32_t byte, uint8_t mask, uint8_t flip)
{
    if (w->n_tests == WATCH_TESTS) return;
    w->bytes[w->n_tests] = byte;
    w->flips[w->n_tests] = flip;
    w->masks[w->n_tests++] = mask;
}

static bool is_of(const struct space *s, uint32_t slot, uint32_t guard)
{
    for (unsigned k = 0; k < s->slots[slot].n_live; k++)
        if (s->origins[slot].live[k] == guard) return true;
    return false;
}

/* While some guards are only possible, the instance writes to the slots that depend on all of those
 * (events.h). So when `live` becomes live too it may write to slots that do not depend on it, if another
 * guard that they do not depend on is not still waited for. Whether `guard` is such a one for all of them. */
static bool is_waited_for(const struct space *s, const struct instance *in, uint32_t guard, uint32_t live)
{
    const struct shape *sh = &s->shapes[in->shape];
    if (sh->kind == SHAPE_GENERAL) return guard != live;
    for (uint32_t k = 0; k < sh->n_slots; k++) {
        uint32_t slot = s->instance_slots[in->slots + k];
        if (!is_of(s, slot, live) && is_of(s, slot, guard)) return false;
    }
    return guard != live;
}

static struct pair_watch watch_other(const struct space *s, uint32_t instance, uint32_t slot)
{
    const struct instance *in = &s->instances[instance];
    const uint32_t *slots = s->instance_slots + in->slots;
    uint32_t other = slots[slots[0] == slot];
    struct pair_watch w = {.instance = instance,
                           .slot = other,
                           .offset = s->slots[other].offset,
                           .foreign_bits = slot_foreign_bits(&s->slots[other])};
    for (uint32_t k = 0; k < PAIR_GUARDS; k++) {
        bool has = k < in->n_guards;
        w.guard_bytes[k] = has ? s->guard_at[in->guards + k] : vector_always_live(s);
        w.own[k] = has && is_of(s, other, s->guards[in->guards + k]);
    }
    return w;
}

struct watch watch_make(const struct space *s, uint32_t instance, uint32_t slot)
{
    const struct instance *in = &s->instances[instance];
    const struct shape *sh = &s->shapes[in->shape];
    struct watch w = {.instance = instance, .kind = (uint8_t)sh->kind};
    bool resumes = slot != SPACE_NONE && is_guard(s, in, slot);
    for (uint32_t k = 0; k < in->n_guards && w.n_tests < 2; k++) {
        uint32_t guard = s->guards[in->guards + k], at = s->guard_at[in->guards + k];
        if (resumes && is_waited_for(s, in, guard, slot))
            add_test(&w, at, LIVENESS_DEAD, LIVENESS_DEAD); /* no longer only possible */
        else if (slot == SPACE_NONE || (slot != guard && !is_of(s, slot, guard)))
            add_test(&w, at, LIVENESS_LIVE, 0);
    }
    for (uint32_t k = 0; sh->constraining && k < sh->n_slots; k++) {
        uint32_t byte;
        uint8_t mask;
        if (find_constraining_byte(s, in, k, &byte, &mask)) add_test(&w, byte, mask, 0);
    }
    return w;
}

static bool is_pair(const struct entry *e)
{
    return e->how == WATCH_UNIONS || e->how == WATCH_SUPPORTS;
}

static void make_groups(struct builder *b)
{
    struct space *s = b->s;
    size_t cap = 1, n = 0, n_pairs = 0, n_others = 0;
    for (size_t i = 0; i < b->n; i++)
        n_pairs += is_pair(&b->entries[i]);
    s->watch = ARENA_ARRAY(s->arena, struct watch, b->n - n_pairs + 1);
    s->pair_watch = ARENA_ARRAY(s->arena, struct pair_watch, n_pairs + 1);
    s->watch_groups = ARENA_NEW(s->arena, struct watch_group);
    n_pairs = 0;
    for (uint32_t i = 0; i < s->n_all; i++)
        s->slots[i].n_groups = 0;
    for (size_t i = 0; i < b->n; i++) {
        const struct entry *e = &b->entries[i];
        bool same = i && e[-1].slot == e->slot && e[-1].how == e->how && e[-1].filter == e->filter;
        if (!same) {
            struct slot_info *info = &s->slots[e->slot];
            if (!info->n_groups++) info->groups = (uint32_t)n;
            s->watch_groups = arena_grow(s->arena, s->watch_groups, &cap, n + 1, sizeof *s->watch_groups);
            s->watch_groups[n++] =
                (struct watch_group){e->filter, (uint32_t)(is_pair(e) ? n_pairs : n_others), 0, e->how};
        }
        s->watch_groups[n - 1].n++;
        if (is_pair(e))
            s->pair_watch[n_pairs++] = watch_other(s, e->instance, e->slot);
        else
            s->watch[n_others++] = watch_make(s, e->instance, e->slot);
    }
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

static uint64_t losses_of_group(const struct watch_group *g, uint32_t n, uint64_t now)
{
    const uint64_t *table = g->filter;
    uint64_t losses = 0, allowed;
    switch ((enum watch_kind)g->how) {
    case WATCH_UNIONS:
        for (uint32_t v = 0; v < n; v++)
            if (!(now >> v & 1) && table[1u << v] & ~table[now]) losses |= UINT64_C(1) << v;
        return losses;
    case WATCH_SUPPORTS:
        for (uint32_t v = 0; v < n; v++)
            if (supports_fall(g->filter, UINT64_C(1) << v, now, &allowed)) losses |= UINT64_C(1) << v;
        return losses;
    case WATCH_DOMINATORS:
        for (uint32_t v = 0; v < n; v++)
            if (watch_matters(g->filter, UINT64_C(1) << v, now)) losses |= UINT64_C(1) << v;
        return losses;
    case WATCH_FIXED:
        return now & (now - 1) ? 0 : UINT64_MAX;
    default:
        return UINT64_MAX;
    }
}

uint8_t watch_losses(const struct space *s, uint32_t slot, uint64_t now)
{
    uint64_t losses = 0;
    const struct slot_info *info = &s->slots[slot];
    for (uint32_t g = 0; g < info->n_groups; g++)
        losses |= losses_of_group(&s->watch_groups[info->groups + g], slot_values(s, slot), now);
    return (uint8_t)losses;
}
