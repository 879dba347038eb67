/* Joins a definition with an instance: sets, slots, instances of constraints, the layout of the vector, and
 * the root.
 *
 * Order: parameters and sets are bound; triggers tell which objects are latent; choices become slots;
 * formulas become instances (ground.c); then offsets and watch lists are laid out and the root vector is
 * propagated once. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/panic.h"
#include "core/space/cells.h"
#include "core/space/justify.h"

enum { MAX_SLOTS = 1 << 22, MAX_INDEX = 1 << 26 };

static void bind_parameters(struct space *s, struct diag *d)
{
    s->parameters = ARENA_ARRAY(s->arena, int64_t, s->def->n_parameters + 1);
    for (int32_t i = 0; i < s->def->n_parameters; i++) {
        const struct space_parameter *p = &s->def->parameters[i];
        s->parameters[i] = p->value;
        if (!data_parameter_get(s->data, p->name, &s->parameters[i]) && !p->has_default)
            diag_plain(d, "space '%s' needs a value for parameter '%s' (--param %s=...)", s->def->name,
                       p->name, p->name);
    }
}

static int compare_ids(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void bind_subset(struct space *s, int32_t i, struct set_members *out, struct diag *d)
{
    const struct space_set *set = &s->def->sets[i];
    struct data_list members = data_table_list(data_table_find(s->data, set->name), NULL, 0);
    int64_t *ids = arena_memdup(s->arena, members.items, members.n * sizeof *ids);
    bool *has = ARENA_ARRAY(s->arena, bool, s->root_sizes[set->root] + 1);
    if (members.n) qsort(ids, members.n, sizeof *ids, compare_ids);
    for (size_t k = 0; k < members.n; k++) {
        bool known = ids[k] >= 0 && ids[k] < s->root_sizes[set->root];
        if (!known || !s->sets[set->parent].has[ids[k]])
            diag_plain(d, "an object of set '%s' is not in set '%s'", set->name,
                       s->def->sets[set->parent].name);
        if (known) has[ids[k]] = true;
    }
    *out = (struct set_members){ids, members.n, has};
}

static void bind_root(struct space *s, int32_t i, struct set_members *out)
{
    const struct space_set *set = &s->def->sets[i];
    int64_t lo = set->range ? set->lo : 0;
    int64_t hi = set->range ? set->hi + 1 : space_data_set_size(s->data, set->name);
    int64_t *ids = ARENA_ARRAY(s->arena, int64_t, hi - lo + 1);
    bool *has = ARENA_ARRAY(s->arena, bool, hi + 1);
    for (int64_t id = lo; id < hi; id++) {
        ids[id - lo] = id;
        has[id] = true;
    }
    s->root_sizes[i] = hi;
    *out = (struct set_members){ids, (size_t)(hi - lo), has};
}

static void name_numbers(struct space *s)
{
    int64_t most = 0;
    for (int32_t i = 0; i < s->def->n_sets; i++)
        if (s->def->sets[i].range && s->def->sets[i].hi >= most) most = s->def->sets[i].hi + 1;
    s->numbers = ARENA_ARRAY(s->arena, const char *, most + 1);
    for (int32_t i = 0; i < s->def->n_sets; i++)
        for (int64_t x = s->def->sets[i].lo; s->def->sets[i].range && x <= s->def->sets[i].hi; x++)
            if (!s->numbers[x]) s->numbers[x] = arena_printf(s->arena, "%" PRId64, x);
}

static void check_disjoint(const struct space *s, int32_t i, struct diag *d)
{
    int32_t other = s->def->sets[i].disjoint;
    if (other < 0 || s->def->sets[other].root != s->def->sets[i].root) return;
    for (size_t k = 0; k < s->sets[i].n; k++)
        if (s->sets[other].has && s->sets[other].has[s->sets[i].ids[k]])
            diag_plain(d, "sets '%s' and '%s' share an object", s->def->sets[i].name,
                       s->def->sets[other].name);
}

static void bind_sets(struct space *s, struct diag *d)
{
    int32_t n = s->def->n_sets;
    s->sets = ARENA_ARRAY(s->arena, struct set_members, n + 1);
    s->root_sizes = ARENA_ARRAY(s->arena, int64_t, n + 1);
    s->set_tables = ARENA_ARRAY(s->arena, const struct data_table *, n + 1);
    s->liveness = ARENA_ARRAY(s->arena, uint32_t *, n + 1);
    s->properties = ARENA_ARRAY(s->arena, const struct data_table *, s->def->n_properties + 1);
    for (int32_t i = 0; i < n; i++) {
        s->set_tables[i] = data_table_find(s->data, s->def->sets[i].name);
        if (s->def->sets[i].root == i)
            bind_root(s, i, &s->sets[i]);
        else if (s->def->sets[i].param < 0)
            bind_subset(s, i, &s->sets[i], d);
    }
    for (int32_t i = 0; i < n && !diag_failed(d); i++)
        check_disjoint(s, i, d);
    for (int32_t i = 0; i < s->def->n_properties; i++)
        s->properties[i] = data_table_find(s->data, s->def->properties[i].name);
    name_numbers(s);
}

/* ---- slots ---- */

static uint32_t add_universe(struct space *s, const int64_t *codes, size_t n)
{
    for (size_t i = 0; i < s->n_universes; i++)
        if (s->universes[i].n == n && !memcmp(s->universes[i].codes, codes, n * sizeof *codes))
            return (uint32_t)i;
    s->universes =
        arena_grow(s->arena, s->universes, &s->cap_universes, s->n_universes + 1, sizeof *s->universes);
    s->universes[s->n_universes] =
        (struct universe){(uint32_t)n, arena_memdup(s->arena, codes, n * sizeof *codes)};
    return (uint32_t)s->n_universes++;
}

static struct slot_info *new_slot(struct space *s, uint32_t universe)
{
    uint32_t n = s->universes[universe].n;
    s->slots = arena_grow(s->arena, s->slots, &s->cap_slots, s->n_all + 1, sizeof *s->slots);
    s->origins = arena_grow(s->arena, s->origins, &s->cap_origins, s->n_all + 1, sizeof *s->origins);
    s->origins[s->n_all] = (struct slot_origin){.universe = universe};
    struct slot_info *info = &s->slots[s->n_all++];
    *info = (struct slot_info){.mirror = SPACE_NONE, .square = -1, .tuple_of = -1};
    info->width = n <= 8 ? 1 : n <= 16 ? 2 : 8;
    info->mask = UINT64_MAX >> (64 - 8 * info->width);
    info->words = (uint16_t)(info->width == 8 ? (n + 63) / 64 : 1);
    return info;
}

static bool choose_universe(struct space *s, int32_t choice, const int64_t *args, uint32_t *universe,
                            struct diag *d)
{
    const struct space_choice *c = &s->def->choices[choice];
    *universe = s->choices[choice].universe;
    if (c->n_values) return true;
    int64_t values[SPACE_MAX_VALUES];
    size_t n = ground_choice_values(s, c, args, values, SPACE_MAX_VALUES, d);
    if (n == 0 || n > SPACE_MAX_VALUES) {
        diag_line(d, c->file, c->line, "the list of values of '%s' is %s", c->name, n ? "too long" : "empty");
        return false;
    }
    *universe = add_universe(s, values, n);
    return true;
}

static void add_slot(struct space *s, int32_t choice, const int64_t *args, struct diag *d)
{
    const struct space_choice *c = &s->def->choices[choice];
    struct choice_index *index = &s->choices[choice];
    if ((c->pairing != SPACE_PLAIN && args[0] >= args[1]) || !ground_choice_where(s, c, args, d)) return;
    uint32_t universe;
    if (s->n_all >= MAX_SLOTS || !choose_universe(s, choice, args, &universe, d)) return;
    size_t at = 0, flipped = 0;
    for (unsigned i = 0; i < c->arity; i++) {
        at = at * index->sizes[i] + (size_t)(args[i] - index->lo[i]);
        flipped = flipped * index->sizes[i] + (size_t)(args[c->arity - 1 - i] - index->lo[i]);
    }
    if (index->slots[at] != SPACE_NONE) return;
    index->slots[at] = s->n_all;
    if (c->pairing != SPACE_PLAIN) index->slots[flipped] = s->n_all;
    struct slot_info *info = new_slot(s, universe);
    info->group = (uint16_t)choice;
    info->arity = c->arity;
    for (unsigned i = 0; i < c->arity; i++)
        s->origins[index->slots[at]].objects[i] = (uint32_t)args[i];
}

static void add_slots(struct space *s, int32_t choice, int64_t *args, unsigned n, struct diag *d)
{
    const struct space_choice *c = &s->def->choices[choice];
    if (n == c->arity) {
        add_slot(s, choice, args, d);
        return;
    }
    struct arena *a = arena_new();
    struct data_list objects = ground_domain(s, a, &c->args[n], args, d);
    for (size_t i = 0; i < objects.n && !diag_failed(d); i++) {
        args[n] = objects.items[i];
        add_slots(s, choice, args, n + 1, d);
    }
    arena_free(a);
}

static bool make_index(struct space *s, int32_t choice, struct diag *d)
{
    const struct space_choice *c = &s->def->choices[choice];
    struct choice_index *index = &s->choices[choice];
    size_t total = 1;
    for (unsigned i = 0; i < c->arity; i++) {
        const struct space_set *root = &s->def->sets[c->args[i].root];
        index->lo[i] = root->range ? (uint32_t)root->lo : 0;
        index->sizes[i] = (uint32_t)s->root_sizes[c->args[i].root] - index->lo[i];
        total *= index->sizes[i];
        if (total > MAX_INDEX) {
            diag_line(d, c->file, c->line, "choice '%s' is over too many objects", c->name);
            return false;
        }
    }
    index->slots = ARENA_ARRAY(s->arena, uint32_t, total + 1);
    memset(index->slots, 0xff, total * sizeof *index->slots);
    if (!c->n_values) return true;
    int64_t *mirrored = ARENA_ARRAY(s->arena, int64_t, c->n_values);
    for (unsigned v = 0; v < c->n_values; v++)
        mirrored[v] = c->codes[c->mirror[v]];
    index->mirror_codes = mirrored;
    index->universe = add_universe(s, c->codes, c->n_values);
    return true;
}

static void make_slots(struct space *s, struct diag *d)
{
    s->choices = ARENA_ARRAY(s->arena, struct choice_index, s->def->n_choices + 1);
    s->group_first = ARENA_ARRAY(s->arena, uint32_t, s->def->n_choices + 1);
    for (int32_t c = 0; c < s->def->n_choices && !diag_failed(d); c++) {
        int64_t args[SPACE_MAX_VARS] = {0};
        s->group_first[c] = s->n_all;
        if (make_index(s, c, d)) add_slots(s, c, args, 0, d);
    }
    s->n_slots = s->n_all;
    s->group_first[s->def->n_choices] = s->n_slots;
    if (s->n_all >= MAX_SLOTS) diag_plain(d, "space '%s' has more than %d choices", s->def->name, MAX_SLOTS);
}

/* Liveness slots get their numbers after the choices; every slot learns which of them it depends on. */
static void make_liveness(struct space *s)
{
    uint32_t universe = add_universe(s, (const int64_t[]){0, 1}, 2);
    for (uint32_t i = 0; i < s->n_latent; i++) {
        new_slot(s, universe)->group = UINT16_MAX;
        s->liveness[s->latent_root[i]][s->latent_object[i]] = s->n_slots + i;
    }
    for (uint32_t i = 0; i < s->n_slots; i++) {
        struct slot_info *info = &s->slots[i];
        for (unsigned k = 0; k < info->arity; k++) {
            const uint32_t *live = s->liveness[s->def->choices[info->group].args[k].root];
            uint32_t object = s->origins[i].objects[k];
            if (live && live[object] != SPACE_NONE) s->origins[i].live[info->n_live++] = live[object];
        }
    }
}

static bool is_shared(const struct slot_info *info)
{
    return info->n_live > 1 && info->square < 0;
}

/* Lists, by latent object, the choices that it shares with others. */
static void find_shared(struct space *s)
{
    uint32_t *end = s->first_shared = ARENA_ARRAY(s->arena, uint32_t, s->n_latent + 2), n = 0;
    for (uint32_t i = 0; i < s->n_slots; i++)
        for (unsigned k = 0; is_shared(&s->slots[i]) && k < s->slots[i].n_live; k++, n++)
            end[s->origins[i].live[k] - s->n_slots + 2]++;
    for (uint32_t latent = 0; latent < s->n_latent; latent++)
        end[latent + 2] += end[latent + 1];
    end++; /* end[latent] is now where its list starts, and moves to where it ends */
    s->shared_slots = ARENA_ARRAY(s->arena, uint32_t, n + 1);
    for (uint32_t i = 0; i < s->n_slots; i++)
        for (unsigned k = 0; is_shared(&s->slots[i]) && k < s->slots[i].n_live; k++)
            s->shared_slots[end[s->origins[i].live[k] - s->n_slots]++] = i;
}

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

/* Who hears of which changes. */
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

struct space *space_instantiate(const struct space_def *def, const struct space_data *data, struct diag *d)
{
    struct arena *a = arena_new();
    struct space *s = ARENA_NEW(a, struct space);
    *s = (struct space){.def = def, .data = data, .arena = a, .propagations = ARENA_NEW(a, atomic_ullong)};
    data_check(data, def, d);
    bind_parameters(s, d);
    bind_sets(s, d);
    if (!diag_failed(d)) ground_latent(s, d);
    if (!diag_failed(d)) make_slots(s, d);
    if (diag_failed(d)) {
        space_free(s);
        return NULL;
    }
    make_liveness(s);
    ground_all(s, d);
    check_squares(s, d);
    if (diag_failed(d)) {
        space_free(s);
        return NULL;
    }
    for (uint32_t i = 0; i < s->n_squares; i++)
        relation_find(s, &s->squares[i]);
    find_shared(s);
    lay_out(s);
    locate_slots(s);
    s->entailed = ARENA_ARRAY(s->arena, bool, s->n_instances + 1);
    cells_build(s);
    locate_guards(s);
    tables_build(s);
    link_all(s);
    fingerprint(s);
    make_root(s);
    return s;
}

void space_free(struct space *s)
{
    if (s) arena_free(s->arena);
}
