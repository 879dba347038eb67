/* Joins a definition with an instance to a space:
 *
 *     ground       sets, slots, constraints as instances of shapes (the room ground/)
 *     relations    all constraints of two objects become one (relation_find.c)
 *     lay out      every domain, square and cell gets its place in the vector
 *     link         who is notified of which change: watches, cells, squares
 *     root         all domains full, propagated once
 *
 * What is true in every candidate below the root is not linked again: nobody has to visit it. */
#include "core/base/diag.h"
#include "core/base/hash.h"
#include "core/space/data/lookup.h"
#include "core/space/engine/cells.h"
#include "core/space/engine/justify.h"
#include "core/space/engine/propagators.h"
#include "core/space/ground/ground.h"

/* ---- layout ---- */

static void lay_out(struct space *s)
{
    uint32_t offset = 0, canonical = 0;
    for (uint32_t i = 0; i < s->n_squares; i++)
        square_lay_out(s, &s->squares[i], &offset);
    for (uint32_t i = 0; i < s->n_all; i++) {
        struct slot_info *info = &s->slots[i];
        uint32_t bytes = (uint32_t)info->words * info->width;
        s->origins[i].canonical = canonical;
        canonical += bytes;
        if (info->square >= 0) continue;
        info->offset = offset;
        offset += bytes;
    }
    s->slot_at = ARENA_ARRAY(s->arena, struct slot_at, s->n_all + 1);
    for (uint32_t i = 0; i < s->n_all; i++)
        s->slot_at[i] = (struct slot_at){s->slots[i].mask, s->slots[i].offset};
    s->vector_bytes = offset;
    s->canonical_bytes = canonical;
}

static void locate_slots(struct space *s)
{
    s->guard_at = ARENA_ARRAY(s->arena, uint32_t, s->n_guards + 1);
    for (size_t k = 0; k < s->n_guards; k++)
        s->guard_at[k] = s->slots[s->guards[k]].offset;
    s->instance_at = ARENA_ARRAY(s->arena, struct slot_at, s->n_instance_slots + 1);
    for (size_t k = 0; k < s->n_instance_slots; k++) {
        const struct slot_info *info = &s->slots[s->instance_slots[k]];
        s->instance_at[k] = (struct slot_at){info->mask, info->offset};
    }
}

/* Once the size of the vector is known. */
static void locate_guards(struct space *s)
{
    for (uint32_t i = 0; i < s->n_all; i++) {
        struct slot_info *info = &s->slots[i];
        for (unsigned k = 0; k < SPACE_MAX_ARITY; k++)
            info->live_at[k] =
                k < info->n_live ? s->slots[s->origins[i].live[k]].offset : vector_always_live(s);
    }
    for (size_t i = 0; i < s->n_instances; i++) {
        struct instance *in = &s->instances[i];
        for (uint32_t k = 0; k < 2; k++)
            in->guard_bytes[k] = k < in->n_guards ? s->guard_at[in->guards + k] : vector_always_live(s);
        if (in->n_guards > 2) in->guard_bytes[1] = vector_never_live(s);
    }
}

/* ---- the root ---- */

static void fill_domains(struct space_state *st)
{
    const struct space *s = st->space;
    for (uint32_t i = 0; i < s->n_all; i++) {
        const struct slot_info *info = &s->slots[i];
        uint32_t n = slot_values(s, i);
        for (unsigned w = 0; w < info->words; w++) {
            uint32_t left = n - w * 64;
            uint64_t word = left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;
            vector_set_word(st->vector, info->offset + w * info->width, info->width, word);
            if (info->mirror != SPACE_NONE) vector_set_word(st->vector, info->mirror, info->width, word);
        }
    }
    for (uint32_t i = 0; i < s->n_squares; i++)
        square_fill(st, &s->squares[i]);
    cells_fill(st);
}

/* Whether no object of the instance is dead. */
static bool can_be_enforced(const struct space_state *st, uint32_t instance)
{
    const struct space *s = st->space;
    const struct instance *in = &s->instances[instance];
    for (uint32_t k = 0; k < in->n_guards; k++)
        if (st->vector[s->guard_at[in->guards + k]] == LIVENESS_DEAD) return false;
    return true;
}

/* Whether an instance allows all that is left. */
static bool entails(const struct space_state *st, uint32_t instance)
{
    const struct instance *in = &st->space->instances[instance];
    const struct shape *sh = &st->space->shapes[in->shape];
    if (sh->kind != SHAPE_GENERAL) return table_entails(st, instance);
    return !in->related && cell_intervals(st)[st->space->instance_cells[in->cells + sh->n_nodes - 1]].lo == 1;
}

/* Who is notified of which changes. */
static void link_all(struct space *s)
{
    watch_build(s);
    cells_link(s);
    squares_link(s);
}

static void make_root(struct space *s)
{
    struct space_state *st = state_new(s);
    fill_domains(st);
    state_queue_all(st);
    if (state_propagate(st)) {
        for (uint32_t i = 0; i < s->n_instances; i++)
            s->entailed[i] = entails(st, i) || !can_be_enforced(st, i);
        link_all(s);
        cells_fill(st); /* some that rested until now do so no longer */
        s->root = arena_memdup(s->arena, st->vector, s->vector_bytes);
    } else {
        state_failure(st, &s->root_failure);
    }
    space_state_free(st);
}

static void fingerprint(struct space *s)
{
    uint64_t h = hash_bytes(HASH_START, &s->def->hash, sizeof s->def->hash);
    uint64_t data = data_hash(s->data);
    h = hash_bytes(h, &data, sizeof data);
    s->fingerprint =
        hash_finish(hash_bytes(h, s->parameters, (size_t)s->def->n_parameters * sizeof *s->parameters));
}

static void check_squares(const struct space *s, struct diag *d)
{
    for (uint32_t i = 0; i < s->n_squares; i++)
        if (s->squares[i].n > ROW_MAX)
            diag_plain(d, "space '%s' has constraints over three of %u objects; at most %d are possible",
                       s->def->name, s->squares[i].n, ROW_MAX);
}

/* What the definition means in the instance: sets, slots and constraints. */
static bool ground(struct space *s, struct diag *d)
{
    ground_bind(s, d);
    if (!diag_failed(d)) ground_latent(s, d);
    if (!diag_failed(d)) ground_slots(s, d);
    if (diag_failed(d)) return false;
    ground_squares(s);
    ground_rules(s, d);
    check_squares(s, d);
    ground_find_shared(s);
    return !diag_failed(d);
}

struct space *space_instantiate(const struct space_def *def, const struct space_data *data, struct diag *d)
{
    struct arena *a = arena_new();
    struct space *s = ARENA_NEW(a, struct space);
    *s = (struct space){.def = def, .data = data, .arena = a, .propagations = ARENA_NEW(a, atomic_ullong)};
    data_check(data, def, d);
    if (!ground(s, d)) {
        space_free(s);
        return NULL;
    }
    for (uint32_t i = 0; i < s->n_squares; i++)
        relation_find(s, &s->squares[i]);
    lay_out(s);
    locate_slots(s);
    s->entailed = ARENA_ARRAY(s->arena, bool, s->n_instances + 1);
    cells_build(s);
    locate_guards(s);
    tables_build(s);
    link_all(s);
    fingerprint(s);
    if (JUSTIFY) justify_build(s);
    make_root(s);
    return s;
}

void space_free(struct space *s)
{
    if (s) arena_free(s->arena);
}
