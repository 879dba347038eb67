/* The slow reference of propagation.
 *
 * The trail tells what a propagator wrote, and with it every domain as it was at any time since. A formula
 * justifies a deletion if none of the combinations of its slots' earlier domains that has the deleted value
 * makes it true; a triangle, if no values of the two other pairs allow it together; the relation of a pair,
 * if no values of the pair and of its objects' choices satisfy all formulas over them. An object is dead if a
 * choice of it that needs no other object to come alive has no value. Formulas are evaluated as they are, not
 * through the tables, masks and rows that the propagators use. A choice without values is one of an object
 * that is dead or will be: it may have any.
 *
 * For pairs, which have the most deletions, all writes since are undone and done again one by one, so that
 * each finds the domains themselves as they were: whatever writes to a state keeps the old word in the trail.
 */
#include "core/space/engine/justify.h"

#include <stdio.h>

#include "core/base/panic.h"
#include "core/space/engine/propagators.h"
#include "core/space/engine/relation.h"

enum { MOST_EACH = 1 << 14, PAIR_SLOTS = 2 * RELATION_CHOICES + 1, PAIR_INSTANCES = 256 };

/* Where to look, instead of at all slots and instances. */
struct justify_index {
    uint32_t *slot_at;   /* by offset in the vector: the choice that begins there, or NONE */
    uint32_t *first;     /* by slot: where its part of instances[] begins; [n_all]: of those without slots */
    uint32_t *instances; /* by the first of their slots */
};

static uint32_t first_slot(const struct space *s, uint32_t instance)
{
    const struct instance *in = &s->instances[instance];
    return s->shapes[in->shape].n_slots > 0 ? s->instance_slots[in->slots] : s->n_all;
}

void justify_build(struct space *s)
{
    struct justify_index *x = s->justify = ARENA_NEW(s->arena, struct justify_index);
    x->slot_at = ARENA_ARRAY(s->arena, uint32_t, s->vector_bytes + 1);
    x->first = ARENA_ARRAY(s->arena, uint32_t, s->n_all + 3);
    x->instances = ARENA_ARRAY(s->arena, uint32_t, s->n_instances + 1);
    for (size_t i = 0; i < s->vector_bytes; i++)
        x->slot_at[i] = SPACE_NONE;
    for (uint32_t i = 0; i < s->n_slots; i++)
        x->slot_at[s->slots[i].offset] = i;
    for (uint32_t i = 0; i < s->n_instances; i++)
        x->first[first_slot(s, i) + 2]++;
    for (uint32_t i = 2; i < s->n_all + 3; i++)
        x->first[i] += x->first[i - 1];
    for (uint32_t i = 0; i < s->n_instances; i++) /* [slot + 1] runs from the slot's begin to its end */
        x->instances[x->first[first_slot(s, i) + 1]++] = i;
}

/* ---- the past ---- */

/* A word of the vector when the trail had `when` entries. */
static uint64_t word_at(const struct space_state *st, uint32_t offset, unsigned width, space_mark when)
{
    for (size_t i = when; i < trail_length(st); i++)
        if (st->trail[i].offset == offset) return st->trail[i].old & UINT64_MAX >> (64 - 8 * width);
    return vector_word(st->vector, offset, width);
}

static uint64_t domain_word(const struct space_state *st, uint32_t slot, unsigned word, space_mark when)
{
    const struct slot_info *info = &st->space->slots[slot];
    return word_at(st, info->offset + word * info->width, info->width, when);
}

static bool is_empty(const struct space_state *st, uint32_t slot, space_mark when)
{
    uint64_t any = 0;
    for (unsigned w = 0; w < st->space->slots[slot].words; w++)
        any |= domain_word(st, slot, w, when);
    return !any;
}

static bool is_live(const struct space_state *st, uint32_t liveness, space_mark when)
{
    return liveness == SPACE_NONE || domain_word(st, liveness, 0, when) == LIVENESS_LIVE;
}

/* Whether the slot has no value, and no object of it other than `but` can be why. */
static bool needs_dead(const struct space_state *st, uint32_t slot, uint32_t but, space_mark when)
{
    const uint32_t *live = st->space->origins[slot].live;
    for (unsigned k = 0; k < st->space->slots[slot].n_live; k++)
        if (live[k] != but && !is_live(st, live[k], when)) return false;
    return is_empty(st, slot, when);
}

static bool is_of_object(const struct space *s, uint32_t slot, uint32_t liveness)
{
    for (unsigned k = 0; k < s->slots[slot].n_live; k++)
        if (s->origins[slot].live[k] == liveness) return true;
    return false;
}

/* Whether some choice of the object has no value any more. */
static bool is_refuted(const struct space_state *st, uint32_t liveness)
{
    const struct space *s = st->space;
    for (uint32_t i = 0; i < s->n_slots; i++)
        if (is_of_object(s, i, liveness) && needs_dead(st, i, liveness, trail_length(st))) return true;
    return false;
}

/* ---- reports ---- */

BASE_NORETURN static void report(const struct space_state *st, uint32_t constraint, uint32_t slot,
                                 uint32_t value)
{
    const struct space *s = st->space;
    uint32_t n = (uint32_t)s->def->n_constraints;
    bool trigger = constraint >= n;
    const char *file = trigger ? s->def->triggers[constraint - n].file : s->def->constraints[constraint].file;
    unsigned line = trigger ? s->def->triggers[constraint - n].line : s->def->constraints[constraint].line;
    char name[128] = "liveness of an object", text[64];
    if (slot == SPACE_NONE) PANIC("%s:%u fails, but has a solution", file, line);
    if (slot < s->n_slots) space_slot_name(s, slot, name, sizeof name);
    snprintf(text, sizeof text, "%u", value);
    if (slot < s->n_slots) space_value_name(s, slot, value, text, sizeof text);
    PANIC("%s:%u removes %s = %s, which a solution of it has", file, line, name, text);
}

/* ---- the fixpoint ---- */

void justify_fixpoint(struct space_state *st)
{
    const struct space *s = st->space;
    space_mark since = trail_length(st);
    if (st->justified >= JUSTIFY_MOST) return;
    st->justified += s->n_instances;
    state_queue_all(st);
    if (!state_propagate(st)) PANIC("propagation fails only when it is repeated");
    for (uint32_t i = 0; i < s->n_all && trail_length(st) > since; i++) {
        if (!state_live(st, i)) continue;
        for (unsigned w = 0; w < s->slots[i].words; w++)
            if (domain_word(st, i, w, since) != state_word(st, i, w))
                PANIC("slot %u of '%s' loses values only when propagation is repeated", i, s->def->name);
    }
    space_rollback(st, since);
}

/* ---- a formula ---- */

struct reference {
    struct space_state *st;
    const struct instance *in;
    const struct shape *shape;
    const uint32_t *slots;
    space_mark since;
    uint32_t fixed; /* slot of the instance that takes only values that are gone; NONE: none does */
};

/* The values of slot k that a combination may have, a word of them. */
static uint64_t allowed_word(const struct reference *r, uint32_t k, unsigned word)
{
    uint32_t slot = r->slots[k];
    uint64_t before = domain_word(r->st, slot, word, r->since);
    if (k == r->fixed) return before & ~domain_word(r->st, slot, word, trail_length(r->st));
    return is_empty(r->st, slot, r->since) ? UINT64_MAX : before;
}

/* After combinations(). */
static bool may_have(const struct reference *r, uint32_t k, uint32_t value)
{
    uint64_t word = value < 64 ? r->st->allowed[k] : allowed_word(r, k, value / 64);
    return word >> value % 64 & 1;
}

/* Prepares may_have(). */
static double combinations(const struct reference *r)
{
    double product = 1;
    for (uint32_t k = 0; k < r->shape->n_slots; k++) {
        uint32_t n = 0;
        r->st->allowed[k] = allowed_word(r, k, 0);
        for (uint32_t v = 0; v < r->shape->sizes[k]; v++)
            n += may_have(r, k, v);
        product *= n;
    }
    return product;
}

/* An object that the combination has alive, with a choice that has no value left. */
static bool revives(const struct reference *r)
{
    const struct space_state *st = r->st;
    for (uint32_t k = 0; k < r->shape->n_slots; k++) {
        const uint32_t *live = st->space->origins[r->slots[k]].live;
        bool dead = !is_empty(st, r->slots[k], r->since);
        for (unsigned i = 0; i < st->space->slots[r->slots[k]].n_live && !dead; i++) {
            dead = !is_live(st, live[i], r->since);
            for (uint32_t l = 0; l < r->shape->n_slots && dead; l++)
                if (r->slots[l] == live[i]) dead = st->values[l] == 0;
        }
        if (!dead) return true;
    }
    return false;
}

/* Whether the formula can be true with slots from `k` on free; st->values then say how. */
static bool has_solution(const struct reference *r, uint32_t k)
{
    struct space_state *st = r->st;
    if (k == r->shape->n_slots) {
        st->justified++;
        return shape_value(r->shape, st->values, st->scratch) && !revives(r);
    }
    for (uint32_t v = 0; v < r->shape->sizes[k]; v++) {
        if (!may_have(r, k, v)) continue;
        st->values[k] = v;
        if (has_solution(r, k + 1)) return true;
    }
    return false;
}

static bool lost_values(const struct reference *r, uint32_t k)
{
    for (unsigned w = 0; w < r->st->space->slots[r->slots[k]].words; w++)
        if (domain_word(r->st, r->slots[k], w, r->since) &
            ~domain_word(r->st, r->slots[k], w, trail_length(r->st)))
            return true;
    return false;
}

static void check_slot(struct reference *r, uint32_t k)
{
    r->fixed = k;
    if (combinations(r) > MOST_EACH || !has_solution(r, 0)) return;
    uint32_t slot = r->slots[k];
    if (slot >= r->st->space->n_slots && is_refuted(r->st, slot)) return;
    report(r->st, r->in->constraint, slot, r->st->values[k]);
}

/* Objects that died of what the propagator removed. */
static void check_liveness(const struct space_state *st, space_mark since, const struct reference *r)
{
    const struct space *s = st->space;
    for (uint32_t i = s->n_slots; i < s->n_all; i++) {
        bool died = domain_word(st, i, 0, trail_length(st)) == LIVENESS_DEAD &&
                    domain_word(st, i, 0, since) != LIVENESS_DEAD;
        for (uint32_t k = 0; died && r && k < r->shape->n_slots; k++)
            died = r->slots[k] != i;
        if (died && !is_refuted(st, i)) PANIC("an object died that has all its choices");
    }
}

/* Whether a live choice has no value: what else a failure may be. */
static bool has_empty_choice(const struct space_state *st, const uint32_t *slots, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        if (needs_dead(st, slots[k], SPACE_NONE, trail_length(st))) return true;
    return false;
}

void justify_instance(struct space_state *st, uint32_t instance, space_mark since, bool ok)
{
    const struct space *s = st->space;
    const struct instance *in = &s->instances[instance];
    struct reference r = {st, in, &s->shapes[in->shape], s->instance_slots + in->slots, since, SPACE_NONE};
    if (st->justified >= JUSTIFY_MOST || (ok && trail_length(st) == since)) return;
    bool was_empty = false;
    for (uint32_t k = 0; k < r.shape->n_slots; k++) {
        was_empty = was_empty || is_empty(st, r.slots[k], since);
        if (lost_values(&r, k)) check_slot(&r, k);
    }
    check_liveness(st, since, &r);
    r.fixed = SPACE_NONE;
    if (ok || (was_empty && has_empty_choice(st, r.slots, r.shape->n_slots))) return;
    if (combinations(&r) <= MOST_EACH && has_solution(&r, 0)) report(st, in->constraint, SPACE_NONE, 0);
}

void justify_restriction(struct space_state *st, uint32_t instance, uint32_t slot, uint64_t allowed)
{
    const struct slot_info *info = &st->space->slots[slot];
    const struct instance *in = &st->space->instances[instance];
    const uint32_t *slots = st->space->instance_slots + in->slots;
    space_mark since = trail_length(st);
    struct reference r = {st, in, &st->space->shapes[in->shape], slots, since, SPACE_NONE};
    if (st->justified >= JUSTIFY_MOST) return;
    state_write(st, info->offset, info->mask, state_word(st, slot, 0) & allowed);
    check_slot(&r, slots[0] != slot);
    vector_store(st->vector, info->offset, (--st->trail_top)->old);
}

/* ---- triangles ---- */

/* Values of (a, b) as seen from a. */
static uint64_t pair_values(const struct space_state *st, const struct square *sq, uint32_t a, uint32_t b)
{
    uint64_t mask = state_word(st, sq->slots[a * sq->n + b], 0);
    if (!mask) return (UINT64_C(1) << sq->n_values) - 1;
    return a < b ? mask : sq->mirror[mask];
}

/* Whether the triangle (a, b, c) leaves a value to (a, c). */
static bool triangle_allows(const struct space_state *st, const struct square *sq, const uint32_t *x,
                            uint32_t value)
{
    uint64_t ab = pair_values(st, sq, x[0], x[1]), bc = pair_values(st, sq, x[1], x[2]);
    for (uint32_t u = 0; u < sq->n_values; u++)
        for (uint32_t w = 0; w < sq->n_values; w++)
            if (ab >> u & 1 && bc >> w & 1 && sq->allowed[(u * sq->n_values + w) * sq->n_values + value])
                return true;
    return false;
}

/* a < c */
static bool triangles_allow(struct space_state *st, const struct square *sq, uint32_t a, uint32_t c,
                            uint32_t value)
{
    for (uint32_t b = 0; b < sq->n; b++) {
        if (b == a || b == c || !is_live(st, sq->liveness[b], trail_length(st))) continue;
        st->justified++;
        if (!triangle_allows(st, sq, (uint32_t[]){a, b, c}, value)) return false;
    }
    return true;
}

/* ---- the relation of a pair ---- */

/* The formulas over two objects, by the last of their slots. */
struct conjunction {
    struct space_state *st;
    uint32_t slots[PAIR_SLOTS], values[PAIR_SLOTS], n_slots;
    uint64_t domains[PAIR_SLOTS]; /* values that may be taken */
    uint32_t instances[PAIR_INSTANCES], last[PAIR_INSTANCES], n;
    bool whole;     /* all formulas are in it */
    uint32_t fixed; /* this slot has `value` */
    uint32_t value;
};

static uint32_t place_of(const struct conjunction *c, uint32_t slot)
{
    uint32_t k = 0;
    while (k < c->n_slots && c->slots[k] != slot)
        k++;
    return k;
}

static void add_formula(struct conjunction *c, uint32_t instance, const uint32_t *live)
{
    const struct space *s = c->st->space;
    const struct instance *in = &s->instances[instance];
    uint32_t last = 0;
    for (uint32_t k = 0; k < in->n_guards; k++)
        if (s->guards[in->guards + k] != live[0] && s->guards[in->guards + k] != live[1]) return;
    for (uint32_t k = 0; k < s->shapes[in->shape].n_slots; k++) {
        uint32_t at = place_of(c, s->instance_slots[in->slots + k]);
        if (at == c->n_slots) return;
        last = at > last ? at : last;
    }
    c->whole = c->n < PAIR_INSTANCES;
    if (!c->whole) return;
    c->instances[c->n] = instance;
    c->last[c->n++] = last;
}

/* Those whose first slot it is. */
static void add_formulas(struct conjunction *c, uint32_t slot, const uint32_t *live)
{
    const struct justify_index *x = c->st->space->justify;
    for (uint32_t i = x->first[slot]; c->whole && i < x->first[slot + 1]; i++)
        add_formula(c, x->instances[i], live);
}

static void gather(struct conjunction *c, const struct square *sq, uint32_t a, uint32_t b)
{
    const struct relation *r = sq->relation;
    uint32_t live[2] = {sq->liveness[a], sq->liveness[b]};
    c->slots[c->n_slots++] = sq->slots[a * sq->n + b];
    for (uint32_t i = 0; i < 2 * RELATION_CHOICES; i++) {
        uint32_t object = i < RELATION_CHOICES ? a : b, choice = i % RELATION_CHOICES;
        uint32_t slot = choice < r->n_choices ? r->slots[object * RELATION_CHOICES + choice] : SPACE_NONE;
        if (slot != SPACE_NONE) c->slots[c->n_slots++] = slot;
    }
    for (uint32_t k = 0; k < c->n_slots; k++) {
        uint64_t domain = state_word(c->st, c->slots[k], 0);
        c->domains[k] = domain ? domain : UINT64_MAX;
        if (c->slots[k] == c->fixed) c->domains[k] = UINT64_C(1) << c->value;
    }
    c->whole = true;
    add_formulas(c, c->st->space->n_all, live);
    for (uint32_t k = 0; k < c->n_slots; k++)
        add_formulas(c, c->slots[k], live);
}

static bool formula_holds(struct conjunction *c, uint32_t instance)
{
    const struct space *s = c->st->space;
    const struct instance *in = &s->instances[instance];
    uint32_t *values = c->st->values;
    for (uint32_t k = 0; k < s->shapes[in->shape].n_slots; k++)
        values[k] = c->values[place_of(c, s->instance_slots[in->slots + k])];
    c->st->justified++;
    return shape_value(&s->shapes[in->shape], values, c->st->scratch) != 0;
}

static bool has_values(struct conjunction *c, uint32_t k)
{
    if (k == c->n_slots || c->st->justified >= JUSTIFY_MOST) return k == c->n_slots;
    const struct space *s = c->st->space;
    for (uint32_t v = 0; v < slot_values(s, c->slots[k]); v++) {
        bool ok = c->domains[k] >> v & 1;
        c->values[k] = v;
        for (uint32_t i = 0; ok && i < c->n; i++)
            ok = c->last[i] != k || formula_holds(c, c->instances[i]);
        if (ok && has_values(c, k + 1)) return true;
    }
    return false;
}

/* Whether the formulas over a and b leave the value. */
static bool pair_allows(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b,
                        uint32_t slot, uint32_t value)
{
    struct conjunction c = {.st = st, .fixed = slot, .value = value};
    gather(&c, sq, a, b);
    return c.whole && has_values(&c, 0);
}

/* The formulas over the object of a choice and any one of the others that are live. */
static bool partners_allow(struct space_state *st, const struct square *sq, uint32_t slot, uint32_t value)
{
    uint32_t b = st->space->slots[slot].row;
    for (uint32_t a = 0; a < sq->n; a++)
        if (a != b && is_live(st, sq->liveness[a], trail_length(st)) &&
            !pair_allows(st, sq, a, b, slot, value))
            return false;
    return true;
}

/* ---- a square ---- */

/* The slot of the square that begins at an offset, or NONE: mirrored halves follow from the others. */
static uint32_t slot_at(const struct space_state *st, uint32_t square, uint32_t offset)
{
    const struct space *s = st->space;
    uint32_t slot = s->justify->slot_at[offset];
    if (slot == SPACE_NONE) return SPACE_NONE;
    const struct slot_info *info = &s->slots[slot];
    return info->square == (int16_t)square || info->tuple_of == (int16_t)square ? slot : SPACE_NONE;
}

static void check_deletion(struct space_state *st, uint32_t square, uint32_t slot, uint32_t value)
{
    const struct square *sq = &st->space->squares[square];
    const struct slot_info *info = &st->space->slots[slot];
    bool pair = info->square >= 0;
    bool allowed = pair ? triangles_allow(st, sq, info->row, info->column, value) &&
                              (!sq->relation || pair_allows(st, sq, info->row, info->column, slot, value))
                        : partners_allow(st, sq, slot, value);
    if (allowed && st->justified < JUSTIFY_MOST) report(st, sq->constraint, slot, value);
}

/* Undoes a write, or does it again: the trail keeps the other word. */
static void swap_write(struct space_state *st, size_t i)
{
    struct trail_entry *e = &st->trail[i];
    uint64_t word = vector_load(st->vector, e->offset);
    vector_store(st->vector, e->offset, e->old);
    e->old = word;
}

/* What a write is about to remove, while what it writes is in the trail. */
static void check_write(struct space_state *st, uint32_t square, size_t i)
{
    uint32_t slot = slot_at(st, square, st->trail[i].offset);
    if (slot == SPACE_NONE) return;
    for (uint64_t lost = state_word(st, slot, 0) & ~st->trail[i].old; lost; lost &= lost - 1)
        check_deletion(st, square, slot, (uint32_t)__builtin_ctzll(lost));
}

/* All writes are undone and done again, so that each finds the domains as they were. */
void justify_square(struct space_state *st, uint32_t square, space_mark since, bool ok)
{
    if (st->justified >= JUSTIFY_MOST || (ok && trail_length(st) == since)) return;
    for (size_t i = trail_length(st); i > since; i--)
        swap_write(st, i - 1);
    for (size_t i = since; i < trail_length(st); i++) {
        check_write(st, square, i);
        swap_write(st, i);
    }
    check_liveness(st, since, NULL);
    for (uint32_t i = 0; !ok && i < st->space->n_slots; i++)
        ok = needs_dead(st, i, SPACE_NONE, trail_length(st));
    if (!ok) report(st, st->space->squares[square].constraint, SPACE_NONE, 0);
}
