/* The table of values, and the draws.
 *
 * Draws alternate: one is a uniform random descent, the next one has a target, the value that was counted
 * least. A draw with a target decides the choices in a random order, since a latent object can only be
 * activated while the choices that exclude it are open. Before each decision it tries the target at a few
 * live slots of its choice:
 *
 *     target vector = 16:  decide dim_kind(m.0); try vector(A) = 16: possible; then a random descent
 *
 * A target that MISSES consecutive draws did not bring into a counted leaf is given up. It may be
 * unreachable, which only enumeration could prove. */
#include "coordinator/sampling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/pcg32.h"
#include "mcts/branch.h"

enum { MISSES = 60, TRIES = 4 };

struct sampling {
    const struct space *space;
    struct pcg32 rng;
    uint64_t least, draws;
    unsigned n_values, n_groups;
    struct sampling_value *values;
    unsigned *misses;         /* [n_values] draws with this target since it was last counted */
    unsigned *first_value;    /* [n_groups + 1] */
    uint32_t *first_slot;     /* [n_groups + 1] */
    struct space_part *order; /* [n_groups] groups */
    bool *met;                /* [n_values] scratch */
    struct mcts_option options[MCTS_VALUES_MAX];
};

/* ---- the table ---- */

static int64_t code_of(const struct sampling *s, const struct sampling_value *v)
{
    return space_value_code(s->space, v->slot, v->value);
}

/* Index of the code among the values of the group, or n_values. */
static unsigned find(const struct sampling *s, unsigned group, int64_t code)
{
    for (unsigned i = s->first_value[group]; i < s->n_values && s->values[i].group == group; i++)
        if (code_of(s, &s->values[i]) == code) return i;
    return s->n_values;
}

static void add_value(struct sampling *s, size_t *capacity, struct sampling_value v)
{
    if (s->n_values == *capacity) {
        *capacity = *capacity ? 2 * *capacity : 64;
        s->values = base_realloc(s->values, *capacity * sizeof s->values[0]);
    }
    s->values[s->n_values++] = v;
}

static void sort_group(struct sampling *s, unsigned from)
{
    for (unsigned i = from + 1; i < s->n_values; i++) {
        struct sampling_value v = s->values[i];
        unsigned k = i;
        for (; k > from && code_of(s, &s->values[k - 1]) > code_of(s, &v); k--)
            s->values[k] = s->values[k - 1];
        s->values[k] = v;
    }
}

/* The values of one group, gathered from all of its slots. */
static void add_group(struct sampling *s, const struct space_state *root, unsigned group, size_t *capacity)
{
    s->first_value[group] = s->n_values;
    for (uint32_t slot = s->first_slot[group]; slot < s->first_slot[group + 1]; slot++)
        for (uint32_t v = 0; v < space_universe(s->space, slot); v++) {
            unsigned at = find(s, group, space_value_code(s->space, slot, v));
            bool possible = space_has_value(root, slot, v);
            if (at == s->n_values)
                add_value(
                    s, capacity,
                    (struct sampling_value){.group = group, .slot = slot, .value = v, .excluded = true});
            if (possible) s->values[at].excluded = false;
        }
    sort_group(s, s->first_value[group]);
}

static void find_groups(struct sampling *s)
{
    uint32_t slot = 0, n = space_slot_count(s->space);
    for (unsigned g = 0; g < s->n_groups; g++) {
        s->first_slot[g] = slot;
        while (slot < n && space_slot_group(s->space, slot) == g)
            slot++;
        s->order[g] = (struct space_part){.group = g};
    }
    s->first_slot[s->n_groups] = n;
}

struct sampling *sampling_new(const struct space_state *root, uint64_t least, uint64_t seed)
{
    struct sampling *s = base_calloc(1, sizeof *s);
    size_t capacity = 0;
    s->space = space_of(root);
    s->least = least;
    s->rng = pcg32_seed(seed, 2);
    s->n_groups = space_group_count(s->space);
    s->first_value = base_calloc(s->n_groups + 1, sizeof s->first_value[0]);
    s->first_slot = base_calloc(s->n_groups + 1, sizeof s->first_slot[0]);
    s->order = base_calloc(s->n_groups + 1, sizeof s->order[0]);
    find_groups(s);
    for (unsigned g = 0; g < s->n_groups; g++)
        add_group(s, root, g, &capacity);
    s->misses = base_calloc(s->n_values + 1, sizeof s->misses[0]);
    s->met = base_calloc(s->n_values + 1, sizeof s->met[0]);
    return s;
}

void sampling_free(struct sampling *s)
{
    if (!s) return;
    free(s->values);
    free(s->misses);
    free(s->first_value);
    free(s->first_slot);
    free(s->order);
    free(s->met);
    free(s);
}

const struct sampling_value *sampling_values(const struct sampling *s, unsigned *n)
{
    *n = s->n_values;
    return s->values;
}

/* ---- counting ---- */

/* Marks in met[] what the leaf has. */
static void meet(struct sampling *s, const struct space_state *leaf)
{
    memset(s->met, 0, s->n_values * sizeof s->met[0]);
    for (uint32_t slot = 0; slot < space_slot_count(s->space); slot++)
        if (space_is_live(leaf, slot)) {
            int64_t code = space_value_code(s->space, slot, space_first_value(leaf, slot));
            s->met[find(s, space_slot_group(s->space, slot), code)] = true;
        }
}

void sampling_count(struct sampling *s, const struct space_state *leaf)
{
    meet(s, leaf);
    for (unsigned i = 0; i < s->n_values; i++) {
        if (!s->met[i]) continue;
        s->values[i].counted++;
        s->values[i].given_up = false;
        s->misses[i] = 0;
    }
}

void sampling_confirm(struct sampling *s, const struct space_state *leaf)
{
    meet(s, leaf);
    for (unsigned i = 0; i < s->n_values; i++)
        s->values[i].confirmed += s->met[i];
}

static bool wanted(const struct sampling *s, const struct sampling_value *v)
{
    return v->counted < s->least && !v->excluded && !v->given_up;
}

bool sampling_covered(const struct sampling *s)
{
    for (unsigned i = 0; i < s->n_values; i++)
        if (wanted(s, &s->values[i])) return false;
    return true;
}

/* ---- drawing ---- */

/* The wanted value that was counted least, ties at random; n_values: none. Counts the attempt. */
static unsigned choose_target(struct sampling *s)
{
    unsigned target = s->n_values, ties = 0;
    for (unsigned i = 0; i < s->n_values; i++) {
        const struct sampling_value *v = &s->values[i];
        if (!wanted(s, v)) continue;
        if (target < s->n_values && v->counted > s->values[target].counted) continue;
        if (target == s->n_values || v->counted < s->values[target].counted) ties = 0;
        if (pcg32_below(&s->rng, ++ties) == 0) target = i;
    }
    if (target < s->n_values && ++s->misses[target] == MISSES) s->values[target].given_up = true;
    return target;
}

static void shuffle_groups(struct sampling *s)
{
    for (unsigned i = s->n_groups; i > 1; i--) {
        unsigned k = pcg32_below(&s->rng, i);
        struct space_part t = s->order[i - 1];
        s->order[i - 1] = s->order[k];
        s->order[k] = t;
    }
}

/* A random live slot of the group whose domain has the code; *value is its index there. UINT32_MAX: none. */
static uint32_t random_slot(struct sampling *s, const struct space_state *state, unsigned group, int64_t code,
                            uint32_t *value)
{
    uint32_t chosen = UINT32_MAX, n = 0;
    for (uint32_t slot = s->first_slot[group]; slot < s->first_slot[group + 1]; slot++) {
        if (!space_is_live(state, slot)) continue;
        for (uint32_t v = 0; v < space_universe(s->space, slot); v++) {
            if (space_value_code(s->space, slot, v) != code || !space_has_value(state, slot, v)) continue;
            if (pcg32_below(&s->rng, ++n)) continue;
            chosen = slot;
            *value = v;
        }
    }
    return chosen;
}

/* Tries the value at a few slots. true: one of them has it now. */
static bool try_target(struct sampling *s, struct space_state *state, const struct sampling_value *target)
{
    struct space_failure why;
    for (int i = 0; i < TRIES; i++) {
        uint32_t value, slot = random_slot(s, state, target->group, code_of(s, target), &value);
        if (slot == UINT32_MAX) return false;
        space_mark mark = space_snapshot(state);
        if (space_apply(state, (struct space_action){slot, value}, &why)) return true;
        space_rollback(state, mark);
    }
    return false;
}

/* Decides the slot: one of its possible values at random. false: a dead end. */
static bool step(struct sampling *s, struct space_state *state, const struct mcts_branching *b, uint32_t slot)
{
    struct mcts_trials trials = {0};
    struct space_failure why;
    uint32_t n = mcts_try_values(b, state, slot, INFINITY, s->options, &trials);
    return n > 0 &&
           space_apply(state, (struct space_action){slot, s->options[pcg32_below(&s->rng, n)].value}, &why);
}

bool sampling_draw(struct sampling *s, struct space_state *state)
{
    unsigned target = s->draws++ % 2 ? choose_target(s) : s->n_values;
    bool aiming = target < s->n_values;
    if (aiming) shuffle_groups(s);
    struct mcts_branching b = {.order = aiming ? s->order : NULL, .n_order = aiming ? s->n_groups : 0};
    for (;;) {
        if (aiming) aiming = !try_target(s, state, &s->values[target]);
        uint32_t slot = space_next_choice(state, b.order, b.n_order);
        if (slot == UINT32_MAX) return true;
        if (!step(s, state, &b, slot)) return false;
    }
}
