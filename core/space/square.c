/* A pair choice as a square of bytes: its layout, its triangles, and the liveness of its objects.
 *
 * A triangle (a, b, c) removes values of (a, c) that no values of (a, b) and (b, c) compose to; it does so if
 * b is live, since (a, c) has no meaning before a and c are. So a pair (a, b) that changed asks for row a by
 * way of row b, and the other way round: one pass over the two rows. */
#include <string.h>

#include "core/base/arena.h"
#include "core/space/internal.h"
#include "core/space/relation.h"

enum { NARROW_VALUES = 5 };

static uint32_t square_index(const struct space_state *st, const struct square *sq)
{
    return (uint32_t)(sq - st->space->squares);
}

static uint8_t *row_of(const struct space_state *st, const struct square *sq, uint32_t a)
{
    return st->vector + sq->offset + a * sq->stride;
}

static void find_members(struct space *s, struct square *sq)
{
    uint32_t *member = ARENA_ARRAY(s->arena, uint32_t, s->n_latent + 1);
    memset(member, 0xff, s->n_latent * sizeof *member);
    for (uint32_t a = 0; a < sq->n; a++)
        if (sq->liveness[a] != SPACE_NONE) member[sq->liveness[a] - s->n_slots] = a;
    sq->member = member;
}

void square_lay_out(struct space *s, struct square *sq, uint32_t *offset)
{
    sq->offset = *offset;
    sq->stride = (sq->n + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
    sq->live = sq->offset + sq->n * sq->stride;
    sq->present = sq->live + sq->stride;
    *offset = sq->present + sq->stride;
    for (uint32_t a = 0; a < sq->n; a++) {
        for (uint32_t b = a + 1; b < sq->n; b++) {
            struct slot_info *info = &s->slots[sq->slots[a * sq->n + b]];
            info->row = (uint16_t)a;
            info->column = (uint16_t)b;
            info->offset = sq->offset + a * sq->stride + b;
            info->mirror = sq->offset + b * sq->stride + a;
        }
    }
    sq->n_values = s->universes[s->slots[sq->slots[1]].universe].n;
    sq->narrow = sq->n_values <= NARROW_VALUES;
    find_members(s, sq);
    if (sq->relation) relation_lay_out(sq, offset);
}

void square_fill(struct space_state *st, const struct square *sq)
{
    for (uint32_t a = 0; a < sq->n; a++) {
        st->vector[sq->present + a] = SQUARE_YES;
        if (sq->liveness[a] == SPACE_NONE) st->vector[sq->live + a] = SQUARE_YES;
    }
    if (sq->relation) relation_fill(st, sq);
}

void square_set_liveness(struct space_state *st, const struct square *sq, uint32_t object, uint8_t liveness)
{
    if (liveness == LIVENESS_DEAD) {
        state_write(st, sq->present + object, 1, 0);
        return;
    }
    state_write(st, sq->live + object, 1, SQUARE_YES);
    state_queue_row(st, square_index(st, sq), object);
    state_queue_row(st, square_index(st, sq), object + ROW_MAX);
}

/* Keeps some values of a pair. */
static bool restrict_pair(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b,
                          uint8_t allowed)
{
    uint32_t slot = sq->slots[a * sq->n + b];
    return state_restrict_word(st, slot, 0, a < b ? allowed : sq->mirror[allowed]);
}

bool square_lose(struct space_state *st, const struct square *sq, uint32_t a, uint32_t from,
                 const uint8_t *lost)
{
    for (uint32_t i = from; i < sq->stride; i += 32) {
        for (uint32_t lanes = rows_lanes(lost + i - from); lanes; lanes &= lanes - 1) {
            uint32_t b = i + (uint32_t)__builtin_ctz(lanes);
            st->failed_pair = sq->slots[a * sq->n + b];
            if (!restrict_pair(st, sq, a, b, (uint8_t)~lost[b - from])) return false;
        }
    }
    return true;
}

/* Row a by way of b, from column `from` on, a multiple of ROW_ALIGN. */
static bool compose_row(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b,
                        uint32_t from)
{
    uint8_t lost[ROW_MAX];
    const uint8_t *row = row_of(st, sq, a), *via = row_of(st, sq, b) + from,
                  *present = st->vector + sq->present + from, *table = sq->compose + 256u * row[b];
    uint32_t n = sq->stride - from;
    bool any = sq->narrow ? rows_compose_narrow(row + from, via, table, present, n, lost)
                          : rows_compose(row + from, via, table, present, n, lost);
    return !any || square_lose(st, sq, a, from, lost);
}

/* Row a by way of b and row b by way of a. */
static bool compose_both(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b)
{
    uint8_t lost[2 * ROW_MAX];
    const uint8_t *row_a = row_of(st, sq, a), *row_b = row_of(st, sq, b);
    if (!sq->narrow) return compose_row(st, sq, a, b, 0) && compose_row(st, sq, b, a, 0);
    return !rows_compose_both(row_a, row_b, sq->compose + 256u * row_a[b], sq->compose + 256u * row_b[a],
                              st->vector + sq->present, sq->stride, lost) ||
           (square_lose(st, sq, a, 0, lost) && square_lose(st, sq, b, 0, lost + sq->stride));
}

/* The pair (a, b) changed, or one of them became live: revisits (a, c) and (b, c) of every triangle on it. */
bool square_propagate_pair(struct space_state *st, uint32_t slot)
{
    const struct slot_info *info = &st->space->slots[slot];
    const struct square *sq = &st->space->squares[info->square];
    uint32_t a = info->row, b = info->column;
    uint8_t mask = st->vector[info->offset];
    if (!square_is_present(st, sq, a) || !square_is_present(st, sq, b)) return true;
    st->failed_constraint = sq->constraint;
    if (!mask) return restrict_pair(st, sq, a, b, 0);
    if (relation_concerns_pair(sq, a, b, mask) && !relation_propagate_pair(st, sq, a, b)) return false;
    st->failed_constraint = sq->constraint;
    st->failed_slot = SPACE_NONE;
    bool a_live = square_is_live(st, sq, a), b_live = square_is_live(st, sq, b);
    if (a_live && b_live) return compose_both(st, sq, a, b);
    return b_live ? compose_row(st, sq, a, b, 0) : !a_live || compose_row(st, sq, b, a, 0);
}

/* Object b became live: the other rows by way of it. The triangle (a, b, c) is looked at from the smaller one
 * of a and c. */
static bool propagate_live(struct space_state *st, const struct square *sq, uint32_t b)
{
    st->failed_constraint = sq->constraint;
    st->failed_slot = SPACE_NONE;
    for (uint32_t a = 0; a < sq->n; a++) {
        if (a == b || !square_is_present(st, sq, a)) continue;
        bool possible = row_of(st, sq, b)[a] != 0;
        if (!possible && !restrict_pair(st, sq, b, a, 0)) return false;
        if (possible && !compose_row(st, sq, a, b, a / ROW_ALIGN * ROW_ALIGN)) return false;
    }
    return true;
}

bool square_propagate_row(struct space_state *st, uint32_t square, uint32_t object)
{
    const struct square *sq = &st->space->squares[square];
    if (!square_is_present(st, sq, object % ROW_MAX)) return true;
    if (object >= ROW_MAX) return propagate_live(st, sq, object - ROW_MAX);
    return !sq->relation || relation_propagate_row(st, sq, object);
}

uint32_t square_first_open(const struct space_state *st, const struct square *sq)
{
    uint32_t open[ROW_MAX / 32];
    for (uint32_t a = 0; a < sq->n; a++) {
        if (!square_is_live(st, sq, a)) continue;
        uint32_t first = a / 32, skipped = first * 32;
        rows_open(row_of(st, sq, a) + skipped, st->vector + sq->live + skipped, sq->stride - skipped, open);
        open[0] &= ~((UINT32_C(2) << a % 32) - 1);
        for (uint32_t w = first; w < sq->stride / 32; w++)
            if (open[w - first])
                return sq->slots[a * sq->n + w * 32 + (uint32_t)__builtin_ctz(open[w - first])];
    }
    return SPACE_NONE;
}
