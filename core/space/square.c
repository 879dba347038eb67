/* A pair choice as a square of bytes: its layout, its triangles, and the liveness of its objects.
 *
 * A triangle (a, b, c) removes values of (a, c) that no values of (a, b) and (b, c) compose to; it does so if
 * b is live, since (a, c) has no meaning before a and c are. Row a against row b is one pass of
 * rows_compose(). */
#include <string.h>

#include "core/base/arena.h"
#include "core/space/internal.h"

enum { NARROW_VALUES = 5 };

static uint32_t square_index(const struct space_state *st, const struct square *sq)
{
    return (uint32_t)(sq - st->space->squares);
}

static uint8_t *row_of(const struct space_state *st, const struct square *sq, uint32_t a)
{
    return st->vector + sq->offset + a * sq->stride;
}

static bool is_neutral(const struct square *sq, unsigned mask)
{
    uint8_t full = (uint8_t)((1u << sq->n_values) - 1);
    for (unsigned v = 0; v < sq->n_values; v++)
        if (sq->compose[mask * 256 + (1u << v)] != full) return false;
    return true;
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
    sq->live_bits = sq->offset + sq->n * sq->stride;
    sq->present_bits = sq->live_bits + sq->stride / 8;
    *offset = sq->present_bits + sq->stride / 8;
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
    for (unsigned m = 1; m < 1u << sq->n_values; m++)
        sq->neutral[m] = is_neutral(sq, m);
    find_members(s, sq);
    if (sq->relation) relation_lay_out(sq, offset);
}

void square_fill(struct space_state *st, const struct square *sq)
{
    for (uint32_t a = 0; a < sq->n; a++) {
        uint8_t bit = (uint8_t)(1u << a % 8);
        st->vector[sq->present_bits + a / 8] |= bit;
        if (sq->liveness[a] == SPACE_NONE) st->vector[sq->live_bits + a / 8] |= bit;
        if (sq->relation) relation_update(st, sq, a);
    }
}

static void flip(struct space_state *st, uint32_t bits, uint32_t object)
{
    uint32_t at = bits + object / 8;
    state_write(st, at, UINT8_MAX, st->vector[at] ^ 1u << object % 8);
}

void square_set_liveness(struct space_state *st, const struct square *sq, uint32_t object, uint8_t liveness)
{
    if (liveness == LIVENESS_DEAD) {
        flip(st, sq->present_bits, object);
        return;
    }
    flip(st, sq->live_bits, object);
    state_queue_row(st, square_index(st, sq), object);
    state_queue_row(st, square_index(st, sq), object + ROW_MAX);
}

/* Lanes of `changed` that may change: objects that are not dead, other than `skip`. */
static uint32_t candidates(const struct space_state *st, const struct square *sq, uint32_t word,
                           uint32_t changed, uint32_t skip)
{
    uint32_t present;
    memcpy(&present, st->vector + sq->present_bits + word * 4, 4);
    if (skip / 32 == word) present &= ~(UINT32_C(1) << skip % 32);
    return changed & present;
}

/* Row a by way of b. */
static bool compose_row(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b)
{
    uint8_t out[ROW_MAX];
    uint32_t changed[ROW_MAX / 32];
    const uint8_t *row = row_of(st, sq, a);
    if (sq->neutral[row[b]]) return true;
    bool any = rows_compose(row, row_of(st, sq, b), sq->compose + 256u * row[b],
                            sq->n_values <= NARROW_VALUES, sq->stride, out, changed);
    if (!any) return true;
    for (uint32_t w = 0; w < sq->stride / 32; w++) {
        for (uint32_t m = candidates(st, sq, w, changed[w], b); m; m &= m - 1) {
            uint32_t c = w * 32 + (uint32_t)__builtin_ctz(m);
            if (!square_restrict(st, sq, a, c, out[c])) return false;
        }
    }
    return true;
}

/* The pair (a, b) changed, or one of them became live: revisits (a, c) and (b, c) of every triangle on it. */
bool square_propagate_pair(struct space_state *st, uint32_t slot)
{
    const struct slot_info *info = &st->space->slots[slot];
    const struct square *sq = &st->space->squares[info->square];
    if (state_dead(st, info)) return true;
    uint32_t a = info->row, b = info->column;
    st->failed_constraint = sq->constraint;
    if (!row_of(st, sq, a)[b]) return square_restrict(st, sq, a, b, 0);
    if (sq->relation && !relation_propagate_pair(st, sq, a, b)) return false;
    st->failed_constraint = sq->constraint;
    st->failed_slot = SPACE_NONE;
    if (square_bit(st, sq->live_bits, b) && !compose_row(st, sq, a, b)) return false;
    return !square_bit(st, sq->live_bits, a) || compose_row(st, sq, b, a);
}

/* Object b became live: the other rows by way of it. */
static bool propagate_live(struct space_state *st, const struct square *sq, uint32_t b)
{
    st->failed_constraint = sq->constraint;
    st->failed_slot = SPACE_NONE;
    for (uint32_t a = 0; a < sq->n; a++) {
        if (a == b || !square_bit(st, sq->present_bits, a)) continue;
        bool possible = row_of(st, sq, b)[a] != 0;
        if (!possible && !square_restrict(st, sq, b, a, 0)) return false;
        if (possible && !compose_row(st, sq, a, b)) return false;
    }
    return true;
}

bool square_propagate_row(struct space_state *st, uint32_t square, uint32_t object)
{
    const struct square *sq = &st->space->squares[square];
    if (!square_bit(st, sq->present_bits, object % ROW_MAX)) return true;
    if (object >= ROW_MAX) return propagate_live(st, sq, object - ROW_MAX);
    return !sq->relation || relation_propagate_row(st, sq, object);
}

bool square_restrict(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b, uint8_t allowed)
{
    uint32_t slot = sq->slots[a * sq->n + b];
    return state_restrict_word(st, slot, 0, a < b ? allowed : sq->mirror[allowed]);
}

uint32_t square_first_open(const struct space_state *st, const struct square *sq)
{
    uint32_t open[ROW_MAX / 32], live;
    for (uint32_t a = 0; a < sq->n; a++) {
        if (!square_bit(st, sq->live_bits, a)) continue;
        rows_open(row_of(st, sq, a), sq->stride, open);
        for (uint32_t w = a / 32; w < sq->stride / 32; w++) {
            memcpy(&live, st->vector + sq->live_bits + w * 4, 4);
            uint32_t m = open[w] & live;
            if (w == a / 32) m &= ~((UINT32_C(2) << a % 32) - 1);
            if (m) return sq->slots[a * sq->n + w * 32 + (uint32_t)__builtin_ctz(m)];
        }
    }
    return SPACE_NONE;
}
