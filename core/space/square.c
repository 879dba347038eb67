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
            uint32_t slot = sq->slots[a * sq->n + b];
            struct slot_info *info = &s->slots[slot];
            info->row = (uint16_t)a;
            info->column = (uint16_t)b;
            info->offset = sq->offset + a * sq->stride + b;
            info->mirror = sq->offset + b * sq->stride + a;
            s->pairs[slot] =
                (struct square_pair){sq, relation_idle(sq, a, b), info->offset, info->mirror, a, b};
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
        state_write(st, sq->present + object, UINT8_MAX, 0);
        return;
    }
    state_write(st, sq->live + object, UINT8_MAX, SQUARE_YES);
    state_queue_row(st, square_index(st, sq), object);
    state_queue_row(st, square_index(st, sq), object + ROW_MAX);
}

/* Pair (a, b) loses values: all that are left, or its objects are no longer both present. */
static bool refute_pair(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b, uint8_t lost)
{
    uint8_t left = (uint8_t)~lost;
    return state_restrict_word(st, sq->slots[a * sq->n + b], 0, a < b ? left : sq->mirror[left]);
}

/* Pair (a, b) loses values that it has. */
static bool lose_values(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b, uint8_t lost)
{
    uint32_t slot = sq->slots[a * sq->n + b], at = sq->offset + a * sq->stride + b,
             back = sq->offset + b * sq->stride + a;
    uint8_t now = st->vector[at] & (uint8_t)~lost, seen = sq->mirror[now];
    st->failed_pair = slot;
    if (!now || !square_is_present(st, sq, a) || !square_is_present(st, sq, b))
        return refute_pair(st, sq, a, b, lost);
    state_write(st, at, UINT8_MAX, now);
    state_write(st, back, UINT8_MAX, seen);
    state_pair_narrowed(st, slot, a < b ? lost : sq->mirror[lost], a < b ? now : seen);
    return true;
}

bool square_lose(struct space_state *st, const struct square *sq, uint32_t a, uint32_t from,
                 const uint8_t *lost)
{
    for (uint32_t i = from; i < sq->stride; i += 32) {
        for (uint32_t lanes = rows_lanes(lost + i - from); lanes; lanes &= lanes - 1) {
            uint32_t b = i + (uint32_t)__builtin_ctz(lanes);
            if (!lose_values(st, sq, a, b, lost[b - from])) return false;
        }
    }
    return true;
}

static const uint8_t *table_of(const struct square *sq, uint8_t mask)
{
    return sq->compose + 256u * mask;
}

/* A failure from now on is one of triangles. */
static void blame(struct space_state *st, const struct square *sq)
{
    st->failed_constraint = sq->constraint;
    st->failed_slot = SPACE_NONE;
}

/* Row a by way of b. */
static bool compose_row(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b)
{
    const uint8_t *row = row_of(st, sq, a);
    rows_forbid(row_of(st, sq, b), table_of(sq, row[b]), st->vector + sq->present, sq->narrow, sq->stride,
                st->lost);
    if (!rows_meet(row, st->lost, sq->stride, st->lost)) return true;
    blame(st, sq);
    return square_lose(st, sq, a, 0, st->lost);
}

/* What compose_both() has found. */
static bool lose_both(struct space_state *st, const struct square_pair *p)
{
    const struct square *sq = p->square;
    blame(st, sq);
    return square_lose(st, sq, p->a, 0, st->lost) && square_lose(st, sq, p->b, 0, st->lost + sq->stride);
}

/* Row a by way of b and row b by way of a. */
static bool compose_both(struct space_state *st, const struct square_pair *p)
{
    const struct square *sq = p->square;
    const uint8_t *v = st->vector;
    if (!sq->narrow) return compose_row(st, sq, p->a, p->b) && compose_row(st, sq, p->b, p->a);
    return !rows_compose(v + p->at - p->b, v + p->back - p->a, table_of(sq, v[p->at]),
                         table_of(sq, v[p->back]), v + sq->present, sq->stride, st->lost) ||
           lose_both(st, p);
}

/* A pair without values whose objects are both live, or one of them is and the other one dies. */
static bool refute_empty(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b)
{
    blame(st, sq);
    return refute_pair(st, sq, a, b, UINT8_MAX);
}

/* The pair changed: revisits (a, c) and (b, c) of every triangle on it. */
bool square_propagate_pair(struct space_state *st, uint32_t slot)
{
    const struct square_pair *p = &st->space->pairs[slot];
    const struct square *sq = p->square;
    uint8_t mask = st->vector[p->at];
    if (!square_is_present(st, sq, p->a) || !square_is_present(st, sq, p->b)) return true;
    if (!mask) return refute_empty(st, sq, p->a, p->b);
    if (!(p->idle[mask / 32] >> mask % 32 & 1) && !relation_propagate_pair(st, sq, p->a, p->b)) return false;
    bool a_live = square_is_live(st, sq, p->a), b_live = square_is_live(st, sq, p->b);
    if (a_live && b_live) return compose_both(st, p);
    return b_live ? compose_row(st, sq, p->a, p->b) : !a_live || compose_row(st, sq, p->b, p->a);
}

/* Pairs of b that were empty before it was live. */
static bool refute_row(struct space_state *st, const struct square *sq, uint32_t b)
{
    const uint8_t *row = row_of(st, sq, b);
    for (uint32_t i = 0; i < sq->stride; i += 32) {
        uint32_t m = rows_lanes_with(row + i, 0) & rows_lanes(st->vector + sq->present + i);
        for (; m; m &= m - 1) {
            uint32_t a = i + (uint32_t)__builtin_ctz(m);
            if (a != b && !refute_empty(st, sq, b, a)) return false;
        }
    }
    return true;
}

/* The rows of `lanes`, from column `from` on, lose what is forbidden. */
static bool lose_forbidden(struct space_state *st, const struct square *sq, uint32_t from, uint32_t lanes,
                           const uint8_t *forbidden)
{
    for (; lanes; lanes &= lanes - 1) {
        uint32_t a = from + (uint32_t)__builtin_ctz(lanes);
        if (rows_meet(row_of(st, sq, a) + from, forbidden, sq->stride - from, st->lost) &&
            !square_lose(st, sq, a, from, st->lost))
            return false;
    }
    return true;
}

/* Object b became live: the other rows by way of it. Rows whose pair with b has the same values lose the same
 * values. The triangle (a, b, c) is looked at from the smaller one of a and c. */
static bool propagate_live(struct space_state *st, const struct square *sq, uint32_t b)
{
    uint8_t forbidden[ROW_MAX];
    if (!refute_row(st, sq, b)) return false;
    blame(st, sq);
    const uint8_t *row = row_of(st, sq, b), *present = st->vector + sq->present;
    for (uint32_t i = 0; i < sq->stride; i += 32) {
        for (uint32_t left = rows_lanes(row + i) & rows_lanes(present + i), same; left; left &= ~same) {
            uint8_t mask = row[i + (uint32_t)__builtin_ctz(left)];
            same = left & rows_lanes_with(row + i, mask);
            rows_forbid(row + i, table_of(sq, sq->mirror[mask]), present + i, sq->narrow, sq->stride - i,
                        forbidden);
            if (!lose_forbidden(st, sq, i, same, forbidden)) return false;
        }
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
