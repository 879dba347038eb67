/* Finds the constraint that a failure is attributed to, with its file and line. A propagator stores its
 * constraint in `failed_constraint` before it removes values. The relation of a pair stands for several
 * constraints: the first of them that has no solution is taken. */
#include "core/space/engine/propagators.h"

/* Values of a slot before the write that emptied it. */
static uint64_t values_before(const struct space_state *st, uint32_t slot)
{
    uint64_t now = state_word(st, slot, 0);
    for (size_t i = trail_length(st); i-- > 0 && !now;)
        if (st->trail[i].offset == st->space->slots[slot].offset)
            now = st->trail[i].old & st->space->slots[slot].mask;
    return now;
}

/* Whether an instance of a relation has a solution, with slots from `k` on free. */
static bool has_solution(const struct space_state *st, const struct instance *in, uint32_t k,
                         uint32_t *values)
{
    const struct space *s = st->space;
    const struct shape *sh = &s->shapes[in->shape];
    if (k == sh->n_slots) return shape_value(sh, values, st->scratch) != 0;
    for (uint64_t m = values_before(st, s->instance_slots[in->slots + k]); m; m &= m - 1) {
        values[k] = (uint32_t)__builtin_ctzll(m);
        if (has_solution(st, in, k + 1, values)) return true;
    }
    return false;
}

static bool is_over_pair(const struct space *s, const struct instance *in, uint32_t pair)
{
    for (uint32_t k = 0; k < s->shapes[in->shape].n_slots; k++) {
        uint32_t slot = s->instance_slots[in->slots + k];
        const uint32_t *of = s->origins[slot].objects, *both = s->origins[pair].objects;
        for (unsigned o = 0; o < s->slots[slot].arity; o++)
            if (of[o] != both[0] && of[o] != both[1]) return false;
    }
    return true;
}

/* The first constraint of a related pair that has no solution, else the last: they fail together. */
static uint32_t related_constraint(const struct space_state *st, uint32_t pair)
{
    const struct space *s = st->space;
    uint32_t found = SPACE_NONE;
    for (size_t i = 0; i < s->n_instances; i++) {
        const struct instance *in = &s->instances[i];
        if (!in->related || !is_over_pair(s, in, pair)) continue;
        found = in->constraint;
        if (!has_solution(st, in, 0, st->values)) return found;
    }
    return found;
}

void state_failure(const struct space_state *st, struct space_failure *why)
{
    const struct space_def *def = st->space->def;
    uint32_t c = st->failed_constraint, n = (uint32_t)def->n_constraints;
    if (!why) return;
    if (c == SPACE_NONE && st->failed_pair != SPACE_NONE) c = related_constraint(st, st->failed_pair);
    bool known = c < n + (uint32_t)def->n_triggers;
    bool trigger = known && c >= n;
    *why =
        (struct space_failure){.file = !known    ? def->file
                                       : trigger ? def->triggers[c - n].file
                                                 : def->constraints[c].file,
                               .slot = st->failed_slot < st->space->n_slots ? st->failed_slot : SPACE_NONE};
    why->line = !known ? 0 : trigger ? def->triggers[c - n].line : def->constraints[c].line;
    why->text = !known    ? "the value was removed before"
                : trigger ? def->triggers[c - n].text
                          : def->constraints[c].text;
}
