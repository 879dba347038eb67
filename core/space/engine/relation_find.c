/* Finds the relation of a pair choice (relation.h): which constraints take part, and the tuples of each sort
 * of objects. What does not fit is left to the propagators of single constraints, and noted:
 * space_explain_cost() says so to the author of the space. */
#include "core/space/engine/relation_find.h"

#include <stdlib.h>

#include "core/base/arena.h"
#include "core/space/engine/propagators.h"

/* Notes for space_explain_cost() that an instance takes no part in the relation. */
static void note(struct finder *f, uint32_t instance, enum relation_reason reason)
{
    struct space *s = f->s;
    s->relation_notes = arena_grow(s->arena, s->relation_notes, &s->cap_relation_notes,
                                   s->n_relation_notes + 1, sizeof *s->relation_notes);
    s->relation_notes[s->n_relation_notes++] = (struct relation_note){instance, reason};
}

static void note_all(struct finder *f, enum relation_reason reason)
{
    for (size_t i = 0; i < f->n_pairs; i++)
        note(f, f->members[i].instance, reason);
}

static int choice_number(const struct relation *r, int32_t choice)
{
    for (uint32_t i = 0; i < r->n_choices; i++)
        if (r->choices[i] == choice) return (int)i;
    return -1;
}

/* Whether a choice may be part of tuples: an enum choice of one object of the square's set. Its slots have
 * room for one relation, so that of the first square has it. */
static bool is_unary_choice(const struct finder *f, int32_t choice)
{
    const struct space_choice *c = &f->s->def->choices[choice];
    int32_t root = f->s->def->choices[f->s->slots[f->sq->slots[1]].group].args[0].root;
    return c->arity == 1 && c->n_values && c->args[0].root == root && !f->taken[choice];
}

/* Objects of an instance, as numbers in the square. false: it is over something else, or over more than two.
 */
static bool find_objects(const struct finder *f, const struct instance *in, uint32_t *a, uint32_t *b)
{
    const struct shape *sh = &f->s->shapes[in->shape];
    uint32_t seen[2], n = 0;
    for (uint32_t k = 0; k < sh->n_slots; k++) {
        uint32_t slot = f->s->instance_slots[in->slots + k];
        const struct slot_info *info = &f->s->slots[slot];
        bool pair = info->square == (int16_t)(f->sq - f->s->squares);
        if (info->group == UINT16_MAX || (!pair && !is_unary_choice(f, info->group))) return false;
        for (unsigned i = 0; i < info->arity; i++) {
            int32_t at = f->index_of[f->s->origins[slot].objects[i]];
            if (at < 0) return false;
            bool known = (n > 0 && seen[0] == (uint32_t)at) || (n > 1 && seen[1] == (uint32_t)at);
            if (!known && n == 2) return false;
            if (!known) seen[n++] = (uint32_t)at;
        }
    }
    if (!n) return false;
    *a = n == 1 || seen[0] < seen[1] ? seen[0] : seen[1];
    *b = n == 1 ? *a : seen[0] + seen[1] - *a;
    return true;
}

/* Whether the instance is enforced exactly when both objects are live. */
static bool guards_fit(const struct finder *f, const struct instance *in, uint32_t a, uint32_t b)
{
    uint32_t la = f->sq->liveness[a], lb = a == b ? SPACE_NONE : f->sq->liveness[b];
    uint32_t wanted = (la != SPACE_NONE ? 1u : 0u) + (lb != SPACE_NONE ? 1u : 0u);
    for (uint32_t k = 0; k < in->n_guards; k++) {
        uint32_t g = f->s->guards[in->guards + k];
        if (g != la && g != lb) return false;
    }
    return in->n_guards == wanted;
}

static bool add_choices(const struct finder *f, const struct instance *in)
{
    struct relation *r = f->r;
    const struct shape *sh = &f->s->shapes[in->shape];
    for (uint32_t k = 0; k < sh->n_slots; k++) {
        const struct slot_info *info = &f->s->slots[f->s->instance_slots[in->slots + k]];
        if (info->square >= 0 || choice_number(r, info->group) >= 0) continue;
        if (r->n_choices == RELATION_CHOICES) return false;
        r->choices[r->n_choices++] = info->group;
    }
    return true;
}

static void add_member(struct finder *f, uint32_t instance, uint32_t a, uint32_t b)
{
    const struct instance *in = &f->s->instances[instance];
    const struct shape *sh = &f->s->shapes[in->shape];
    struct member m = {.pair = a * f->sq->n + b, .own = a == b, .shape = in->shape, .instance = instance};
    for (uint32_t k = 0; k < sh->n_slots; k++) {
        uint32_t slot = f->s->instance_slots[in->slots + k];
        const struct slot_info *info = &f->s->slots[slot];
        if (info->square >= 0) continue;
        bool higher = (uint32_t)f->index_of[f->s->origins[slot].objects[0]] != a;
        m.roles[k] = (uint8_t)(1 + (higher ? (int)RELATION_CHOICES : 0) + choice_number(f->r, info->group));
    }
    if (f->n == f->cap) {
        f->cap = f->cap ? 2 * f->cap : 1024;
        f->members = base_realloc(f->members, f->cap * sizeof *f->members);
    }
    f->members[f->n++] = m;
    f->n_pairs += a != b;
}

static void collect_members(struct finder *f)
{
    for (uint32_t i = 0; i < f->s->n_instances; i++) {
        const struct instance *in = &f->s->instances[i];
        uint32_t a, b, n_slots = f->s->shapes[in->shape].n_slots;
        if (in->related || n_slots > MAX_ROLES || !find_objects(f, in, &a, &b)) continue;
        if (!guards_fit(f, in, a, b)) continue;
        if (add_choices(f, in))
            add_member(f, i, a, b);
        else
            note(f, i, RELATION_CHOICES_FULL);
    }
}

/* ---- tuples ---- */

static uint32_t universe_of(const struct finder *f, int32_t choice)
{
    return f->s->def->choices[choice].n_values;
}

/* false: there are too many sorts. */
static bool find_sorts(struct finder *f)
{
    struct relation *r = f->r;
    uint32_t n = f->sq->n;
    r->sort_of = ARENA_ARRAY(f->s->arena, uint8_t, n);
    r->slots = ARENA_ARRAY(f->s->arena, uint32_t, n * RELATION_CHOICES);
    memset(r->slots, 0xff, n * RELATION_CHOICES * sizeof *r->slots);
    for (uint32_t c = 0; c < r->n_choices; c++) {
        for (uint32_t i = f->s->group_first[r->choices[c]]; i < f->s->group_first[r->choices[c] + 1]; i++) {
            int32_t at = f->index_of[f->s->origins[i].objects[0]];
            if (at >= 0) r->slots[(uint32_t)at * RELATION_CHOICES + c] = i;
        }
    }
    for (uint32_t a = 0; a < n; a++) {
        uint32_t present = 0, k = 0;
        for (uint32_t c = 0; c < r->n_choices; c++)
            present |= (uint32_t)(r->slots[a * RELATION_CHOICES + c] != SPACE_NONE) << c;
        while (k < r->n_sorts && r->sorts[k].present != present)
            k++;
        if (k == RELATION_SORTS) return false;
        if (k == r->n_sorts) r->sorts[r->n_sorts++].present = present;
        r->sort_of[a] = (uint8_t)k;
    }
    return true;
}

/* Whether some object of the sort may have the values. */
static bool is_tuple(const struct finder *f, uint32_t sort, const uint8_t *value, bool *excluded,
                     int64_t *scratch)
{
    uint8_t values[MAX_ROLES] = {0};
    memcpy(values + 1, value, RELATION_CHOICES);
    memset(excluded, 0, f->sq->n);
    for (size_t i = f->n_pairs; i < f->n; i++) {
        uint32_t a = f->members[i].pair / f->sq->n;
        if (!excluded[a]) excluded[a] = !finder_holds(f, &f->members[i], values, scratch);
    }
    for (uint32_t a = 0; a < f->sq->n; a++)
        if (f->r->sort_of[a] == sort && !excluded[a]) return true;
    return false;
}

/* Fills the tuples of a sort; false: there are too many. */
static bool list_tuples(struct finder *f, uint32_t sort, bool *excluded, int64_t *scratch)
{
    struct relation_sort *so = &f->r->sorts[sort];
    uint8_t value[RELATION_CHOICES] = {0};
    for (;;) {
        if (is_tuple(f, sort, value, excluded, scratch)) {
            if (so->n == RELATION_TUPLES) {
                note_all(f, RELATION_TUPLES_FULL);
                return false;
            }
            memcpy(so->value[so->n++], value, RELATION_CHOICES);
        }
        uint32_t c = 0;
        for (; c < RELATION_CHOICES && c < f->r->n_choices; c++) {
            if (!(so->present >> c & 1)) continue;
            if (++value[c] < universe_of(f, f->r->choices[c])) break;
            value[c] = 0;
        }
        if (c >= f->r->n_choices) return so->n > 0;
    }
}

static void index_tuples(const struct finder *f, struct relation_sort *so)
{
    for (uint32_t c = 0; c < f->r->n_choices; c++) {
        for (uint32_t t = 0; t < so->n; t++) {
            uint32_t v = so->value[t][c];
            for (uint32_t byte = 0; byte < 256; byte++) {
                if (byte >> v % 8 & 1) so->with[c][v / 8][byte] |= UINT32_C(1) << t;
                if (byte >> t % 8 & 1) so->project[c][t / 8][byte] |= (uint16_t)(1u << v);
            }
        }
    }
}

static bool make_tuples(struct finder *f)
{
    bool fits = true, *excluded = base_calloc(f->sq->n, sizeof *excluded);
    int64_t *scratch = base_malloc((f->s->max_nodes + 1) * sizeof *scratch);
    for (uint32_t k = 0; k < f->r->n_sorts && fits; k++) {
        fits = list_tuples(f, k, excluded, scratch);
        index_tuples(f, &f->r->sorts[k]);
        uint32_t planes = (f->r->sorts[k].n + 7) / 8;
        if (planes > f->r->n_planes) f->r->n_planes = planes;
    }
    free(excluded);
    free(scratch);
    return fits;
}

/* ---- the whole ---- */

static int compare_members(const void *x, const void *y)
{
    const struct member *a = x, *b = y;
    if (a->own != b->own) return a->own ? 1 : -1;
    if (a->pair != b->pair) return a->pair < b->pair ? -1 : 1;
    if (a->shape != b->shape) return a->shape < b->shape ? -1 : 1;
    int roles = memcmp(a->roles, b->roles, sizeof a->roles);
    return roles ? roles : (a->instance > b->instance) - (a->instance < b->instance);
}

static void mark_related(struct finder *f)
{
    for (size_t i = 0; i < f->n_pairs; i++) {
        bool related = f->r->class[f->members[i].pair];
        f->s->instances[f->members[i].instance].related = related;
        if (!related) note(f, f->members[i].instance, RELATION_CLASSES_FULL);
    }
    for (uint32_t a = 0; a < f->sq->n; a++) {
        for (uint32_t c = 0; c < f->r->n_choices; c++) {
            uint32_t slot = f->r->slots[a * RELATION_CHOICES + c];
            if (slot == SPACE_NONE) continue;
            f->s->slots[slot].tuple_of = (int16_t)(f->sq - f->s->squares);
            f->s->slots[slot].tuple_choice = (uint8_t)c;
            f->s->slots[slot].row = (uint16_t)a;
        }
    }
}

static void index_objects(struct finder *f)
{
    const struct space_choice *c = &f->s->def->choices[f->s->slots[f->sq->slots[1]].group];
    size_t n = (size_t)f->s->root_sizes[c->args[0].root];
    const struct set_members *set = &f->s->sets[c->args[0].set];
    f->index_of = base_malloc((n + 1) * sizeof *f->index_of);
    memset(f->index_of, 0xff, (n + 1) * sizeof *f->index_of);
    for (size_t i = 0; i < set->n; i++)
        f->index_of[set->ids[i]] = (int32_t)i;
}

static void find_taken(struct finder *f)
{
    f->taken = base_calloc((size_t)f->s->def->n_choices + 1, sizeof *f->taken);
    for (uint32_t i = 0; i < f->s->n_slots; i++)
        if (f->s->slots[i].tuple_of >= 0) f->taken[f->s->slots[i].group] = true;
}

void relation_find(struct space *s, struct square *sq)
{
    struct finder f = {.s = s, .sq = sq, .r = ARENA_NEW(s->arena, struct relation)};
    f.r->n_values = slot_values(s, sq->slots[1]);
    find_taken(&f);
    index_objects(&f);
    collect_members(&f);
    if (f.n) qsort(f.members, f.n, sizeof *f.members, compare_members);
    bool sorted = f.n && find_sorts(&f);
    if (f.n && !sorted) note_all(&f, RELATION_SORTS_FULL);
    if (sorted && make_tuples(&f)) {
        f.r->class = ARENA_ARRAY(s->arena, uint16_t, (size_t)sq->n * sq->n);
        f.r->block_bytes =
            (f.r->n_values * f.r->n_planes * ROW_CLASSES + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
        finder_make_classes(&f);
        finder_make_rows(&f);
        mark_related(&f);
        sq->relation = f.r;
    }
    free(f.taken);
    free(f.index_of);
    free(f.members);
}
