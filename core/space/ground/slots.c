/* Choices become slots: one for each tuple of objects that the arguments of a choice run over, then one
 * liveness slot for each latent object.
 *
 *     choice near(a: S, b: S): { YES, NO } symmetric where a != b        S = { p, q, r }
 *
 * has the slots near(p, q), near(p, r), near(q, r); near(q, p) is the first of them, seen from q. */
#include <string.h>

#include "core/space/ground/ground.h"

enum { MAX_SLOTS = 1 << 22, MAX_INDEX = 1 << 26 };

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
            diag_line(d, c->file, c->line, "choice '%s' has too many combinations of objects", c->name);
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
void ground_find_shared(struct space *s)
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

void ground_slots(struct space *s, struct diag *d)
{
    make_slots(s, d);
    if (!diag_failed(d)) make_liveness(s);
}
