/* Propagation of the relation of a pair choice (relation.h), a row or a pair at a time. */
#include "core/space/engine/relation.h"

#include <string.h>

#include "core/space/engine/propagators.h"

void relation_lay_out(struct square *sq, uint32_t *offset)
{
    sq->relation->tuples = *offset;
    *offset += 4 * sq->stride;
}

uint32_t relation_permissive_masks(const struct square *sq, uint32_t a, uint32_t b)
{
    uint16_t class = sq->relation ? sq->relation->class[a * sq->n + b] : 0;
    return class ? sq->relation->permissive_masks[class - 1] : UINT32_MAX;
}

static uint32_t tuples_at(const struct square *sq, uint32_t object)
{
    return sq->relation->tuples + 4 * object;
}

static uint32_t tuples_of(const struct space_state *st, const struct square *sq, uint32_t object)
{
    return (uint32_t)vector_word(st->vector, tuples_at(sq, object), 4);
}

static const struct relation_sort *sort_of(const struct square *sq, uint32_t object)
{
    return &sq->relation->sorts[sq->relation->sort_of[object]];
}

void relation_fill(struct space_state *st, const struct square *sq)
{
    for (uint32_t a = 0; a < sq->n; a++)
        vector_set_word(st->vector, tuples_at(sq, a), 4, (UINT64_C(1) << sort_of(sq, a)->n) - 1);
}

/* Whether the loss of tuples changes what an object allows its partners. */
static bool concerns_partners(const struct relation_row *t, uint32_t lost, uint32_t left)
{
    for (uint32_t m = t->n ? lost : 0; m; m &= m - 1)
        if (!(t->dominators[__builtin_ctz(m)] & left)) return true;
    return false;
}

void relation_update(struct space_state *st, uint32_t square, uint32_t object, uint32_t choice, uint64_t now)
{
    const struct square *sq = &st->space->squares[square];
    const struct relation *r = sq->relation;
    const uint32_t(*with)[256] = sort_of(sq, object)->with[choice];
    uint32_t old = tuples_of(st, sq, object), left = old & (with[0][now & 255] | with[1][now >> 8]);
    if (left == old) return;
    state_write(st, tuples_at(sq, object), UINT32_MAX, left);
    if (concerns_partners(&r->types[r->type_of[object]], old & ~left, left))
        state_queue_row(st, square, object);
}

/* Keeps some of the tuples of an object. */
static bool restrict_tuples(struct space_state *st, const struct square *sq, uint32_t object, uint32_t left)
{
    const struct relation *r = sq->relation;
    const struct relation_sort *so = sort_of(sq, object);
    for (uint32_t c = 0; c < r->n_choices; c++) {
        uint32_t slot = r->slots[object * RELATION_CHOICES + c];
        if (slot == SPACE_NONE) continue;
        uint64_t mask = 0;
        for (uint32_t k = 0; k < r->n_planes; k++)
            mask |= so->project[c][k][left >> 8 * k & 255];
        if (!state_restrict_word(st, slot, 0, mask)) return false;
    }
    return true;
}

/* Which constraint a failure is blamed on is found by state_failure(). */
static void note_conflict(struct space_state *st, uint32_t slot)
{
    st->failed_constraint = SPACE_NONE;
    st->failed_slot = SPACE_NONE;
    st->failed_pair = slot;
}

/* Tuples out of `wanted` that no value of the pair allows to the partner of an object with `tuples`. */
static uint32_t excluded_tuples(const struct relation_class *class, uint8_t mask, uint32_t tuples,
                                uint32_t wanted)
{
    for (uint32_t p = mask; p && wanted; p &= p - 1) {
        const uint32_t *allowed = class->allowed[__builtin_ctz(p)];
        for (uint32_t m = tuples; m && wanted; m &= m - 1)
            wanted &= ~allowed[__builtin_ctz(m)];
    }
    return wanted;
}

/* Removes tuples of b that no value of the pair supports. The last one is supported as long as the pair has a
 * value that rows_relate() leaves to it. */
static bool relate_partner(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b)
{
    const struct relation *r = sq->relation;
    uint32_t now = tuples_of(st, sq, b);
    if (!(now & (now - 1))) return true;
    uint32_t excluded =
        excluded_tuples(&r->classes[r->class[a * sq->n + b] - 1], st->vector[sq->offset + a * sq->stride + b],
                        tuples_of(st, sq, a), now);
    return !excluded || restrict_tuples(st, sq, b, now & ~excluded);
}

/* The partners of the lanes that are not 0. */
static bool relate_partners(struct space_state *st, const struct square *sq, uint32_t a, const uint8_t *lanes)
{
    for (uint32_t i = 0; i < sq->stride; i += 32) {
        for (uint32_t m = rows_lanes(lanes + i); m; m &= m - 1) {
            uint32_t b = i + (uint32_t)__builtin_ctz(m);
            note_conflict(st, sq->slots[a * sq->n + b]);
            if (!relate_partner(st, sq, a, b)) return false;
        }
    }
    return true;
}

/* What object a allows its partners now. */
static const uint8_t *block_of(const struct relation *r, const struct relation_row *t, uint32_t tuples,
                               uint8_t *united)
{
    if (tuples & (tuples - 1)) {
        rows_unite(t->blocks, r->block_bytes, tuples, united);
        return united;
    }
    return tuples ? t->blocks + (uint32_t)__builtin_ctz(tuples) * r->block_bytes : t->none;
}

bool relation_propagate_row(struct space_state *st, const struct square *sq, uint32_t a)
{
    const struct relation *r = sq->relation;
    const struct relation_row *t = &r->types[r->type_of[a]];
    if (!t->n) return true;
    uint8_t united[ROW_BLOCK_MAX], lost[ROW_MAX], partners[ROW_MAX];
    struct row_relation row = {.classes = r->local + a * sq->stride,
                               .pairs = st->vector + sq->offset + a * sq->stride,
                               .tuples = st->vector + r->tuples,
                               .present = st->vector + sq->present,
                               .n_values = r->n_values,
                               .n_planes = r->n_planes};
    const uint8_t *block = block_of(r, t, tuples_of(st, sq, a), united);
    unsigned loses = rows_relate(&row, block, sq->stride, lost, partners);
    note_conflict(st, SPACE_NONE);
    if (loses & ROWS_LOSE_PAIRS && !square_lose(st, sq, a, 0, lost)) return false;
    return !(loses & ROWS_LOSE_TUPLES && square_is_live(st, sq, a)) || relate_partners(st, sq, a, partners);
}

bool relation_propagate_pair(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b)
{
    note_conflict(st, sq->slots[a * sq->n + b]);
    if (square_is_live(st, sq, a) && !relate_partner(st, sq, a, b)) return false;
    return !square_is_live(st, sq, b) || relate_partner(st, sq, b, a);
}
