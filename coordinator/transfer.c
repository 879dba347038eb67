/* Carrying an implementation over; see transfer.h. What leads to it comes first. The values that propagation
 * gave to its other choices follow, since they may be open in the other space: what the sizes of tiles left
 * no choice for at N=64 may need a decision at N=128. */
#include "coordinator/transfer.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/contend.h"
#include "coordinator/limits.h"
#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/space/def.h"

enum { NAME_BYTES = 512 };

/* Decisions in the other space; the first n_deciding lead to the leaf. */
struct wishes {
    struct space_action *items;
    size_t n, n_deciding;
};

/* ---- names ---- */

/* Whether the values of a slot are integers, which are compared without printing them. */
static bool is_integer(const struct space *s, uint32_t slot)
{
    return !space_definition(s)->choices[space_slot_group(s, slot)].n_values;
}

/* UINT32_MAX: the slot has no such value. */
static uint32_t find_integer(const struct space *s, uint32_t slot, int64_t code)
{
    for (uint32_t v = 0; v < space_universe(s, slot); v++)
        if (space_value_code(s, slot, v) == code) return v;
    return UINT32_MAX;
}

static uint32_t find_name(const struct space *s, uint32_t slot, const char *name)
{
    char own[NAME_BYTES];
    for (uint32_t v = 0; v < space_universe(s, slot); v++) {
        space_value_name(s, slot, v, own, sizeof own);
        if (strcmp(own, name) == 0) return v;
    }
    return UINT32_MAX;
}

/* The decision of the same name in another space. false: it does not have the choice or the value. */
static bool translate(const struct space *from, struct space_action a, const struct space *to,
                      struct space_action *out)
{
    char name[NAME_BYTES], value[NAME_BYTES];
    bool flipped = false;
    space_slot_name(from, a.slot, name, sizeof name);
    space_value_name(from, a.slot, a.value, value, sizeof value);
    out->slot = space_slot_named(to, name, &flipped);
    if (out->slot == UINT32_MAX || is_integer(from, a.slot) != is_integer(to, out->slot)) return false;
    out->value = is_integer(to, out->slot)
                     ? find_integer(to, out->slot, space_value_code(from, a.slot, a.value))
                     : find_name(to, out->slot, value);
    if (out->value == UINT32_MAX) return false;
    if (flipped) out->value = space_value_mirror(to, out->slot, out->value);
    return true;
}

/* ---- the order of decisions ---- */

/* Integers first, the last declared first: of the levels of a dimension these are the inner ones, whose sizes
 * make an implementation fast. The outer one follows from them, and is another one for another size. */
static uint32_t *order_of(const struct space_state *leaf, size_t *n)
{
    const struct space *s = space_of(leaf);
    uint32_t *slots = base_calloc(space_slot_count(s) + 1, sizeof *slots);
    *n = 0;
    for (uint32_t i = space_slot_count(s); i-- > 0;)
        if (space_is_live(leaf, i) && is_integer(s, i)) slots[(*n)++] = i;
    for (uint32_t i = 0; i < space_slot_count(s); i++)
        if (space_is_live(leaf, i) && !is_integer(s, i)) slots[(*n)++] = i;
    return slots;
}

/* Sorts the slots whose decisions lead to the leaf, in that order, before those that follow from them.
 * Returns how many lead to it. */
static size_t put_deciding_first(const struct space_state *leaf, uint32_t *slots, size_t n)
{
    struct space_state *at = space_root(space_of(leaf), NULL);
    size_t decided = 0;
    CHECK(at);
    for (size_t i = 0; i < n; i++) {
        uint32_t slot = slots[i];
        if (!space_is_open(at, slot)) continue;
        if (!space_apply(at, (struct space_action){slot, space_first_value(leaf, slot)}, NULL))
            PANIC("a leaf is not below its root");
        memmove(&slots[decided + 1], &slots[decided], (i - decided) * sizeof *slots);
        slots[decided++] = slot;
        i = decided - 1; /* choices that were not live before may be so now */
    }
    space_state_free(at);
    return decided;
}

/* The caller frees the list. *all: the decisions that lead to the leaf, with those that cannot be wished for.
 */
static struct wishes wishes_of(const struct space_state *leaf, const struct space *to, unsigned *all)
{
    const struct space *from = space_of(leaf);
    size_t n;
    uint32_t *slots = order_of(leaf, &n);
    size_t deciding = put_deciding_first(leaf, slots, n);
    struct wishes w = {.items = base_calloc(n + 1, sizeof *w.items)};
    for (size_t i = 0; i < n; i++) {
        const struct space_action a = {slots[i], space_first_value(leaf, slots[i])};
        w.n += translate(from, a, to, &w.items[w.n]);
        if (i < deciding) w.n_deciding = w.n;
    }
    *all = (unsigned)deciding;
    free(slots);
    return w;
}

/* ---- taking decisions ---- */

/* Takes a decision if it is possible; false: its choice is not live yet. */
static bool settle(struct space_state *st, struct space_action a)
{
    if (space_is_dead(st, a.slot)) return true;
    if (!space_is_live(st, a.slot)) return false;
    if (!space_is_open(st, a.slot) || !space_has_value(st, a.slot, a.value)) return true;
    space_mark mark = space_snapshot(st);
    if (!space_apply(st, a, NULL)) space_rollback(st, mark);
    return true;
}

/* Takes the first n wishes, those of choices that others make live after these. */
static void take(struct space_state *st, const struct wishes *w, size_t n)
{
    bool *settled = base_calloc(n + 1, sizeof *settled), progress = true;
    while (progress) {
        progress = false;
        for (size_t i = 0; i < n; i++) {
            if (settled[i]) continue;
            settled[i] = settle(st, w->items[i]);
            progress = progress || settled[i];
        }
    }
    free(settled);
}

/* The leaf with the first n wishes; NULL: there is no way to complete them. */
static struct space_state *attempt(const struct space_state *root, const struct wishes *w, size_t n,
                                   struct mcts_prior *prior)
{
    unsigned steps = LIMIT_PLAIN_STEPS;
    struct space_state *st = space_state_clone(root);
    take(st, w, n);
    if (contend_complete(st, prior, &steps)) return st;
    space_state_free(st);
    return NULL;
}

static unsigned count_taken(const struct space_state *leaf, const struct wishes *w)
{
    unsigned taken = 0;
    for (size_t i = 0; i < w->n_deciding; i++)
        taken += space_is_live(leaf, w->items[i].slot) &&
                 space_has_value(leaf, w->items[i].slot, w->items[i].value);
    return taken;
}

/* Where decisions that were possible one after another lead to no leaf, the later half is dropped. */
bool transfer_by_names(const struct space_state *leaf, const struct space_state *root,
                       struct mcts_prior *prior, struct transfer *out)
{
    *out = (struct transfer){0};
    struct wishes w = wishes_of(leaf, space_of(root), &out->all);
    size_t n = w.n;
    while (!(out->leaf = attempt(root, &w, n, prior)) && n > 0)
        n = n > w.n_deciding ? w.n_deciding : n / 2;
    if (out->leaf) out->taken = count_taken(out->leaf, &w);
    free(w.items);
    return out->leaf != NULL;
}
