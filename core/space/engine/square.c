/* A pair choice as a square of bytes (ground/square.h): its layout, its triangles, and the liveness of its
 * objects.
 *
 * A triangle (a, b, c) removes values of (a, c) that no values of (a, b) and (b, c) compose to; it does so if
 * b is live, since (a, c) has no meaning before a and c are. So a pair (a, b) that changed asks for row a by
 * way of row b, and the other way round: one pass over the two rows, 32 objects at a time.
 *
 * One propagation, of an order that is transitive: BEFORE 1, AFTER 2. It is known that p is before q, and r
 * and s are open. The action order(q, r) = BEFORE narrows the pair (q, r), and its mirror (r, q):
 *
 *         p  q  r  s        the pair (q, r) is queued; its visit composes
 *     p   0  1  3  3          row r by way of q:  r after q,  q after p   ->  r after p:  (r, p) loses BEFORE
 *     q   2  0  1  3                              r after q,  q ? s       ->  nothing of (r, s)
 *     r   3  2  0  3          row q by way of r:  q before r, r ? p, ...  ->  nothing
 *     s   3  3  3  0
 *
 * (r, p) is now 2 and (p, r) 1: that is an event (events.h), and the pair (p, r) is queued. Its visit removes
 * nothing: all that is known of s is open. */
#include <string.h>

#include "core/space/data/intern.h"
#include "core/space/engine/cells.h"
#include "core/space/engine/propagators.h"
#include "core/space/engine/relation.h"

enum { SMALL_MASK_VALUES = 5 };

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
    sq->number = (uint32_t)(sq - s->squares);
    sq->changed = s->n_changed_words;
    sq->words = (sq->n + 63) / 64;
    s->n_changed_words += sq->n * sq->words;
    uint32_t *permissive_masks = ARENA_ARRAY(s->arena, uint32_t, sq->n * sq->n);
    sq->permissive_masks = permissive_masks;
    for (uint32_t a = 0; a < sq->n; a++) {
        for (uint32_t b = a + 1; b < sq->n; b++) {
            uint32_t slot = sq->slots[a * sq->n + b];
            struct slot_info *info = &s->slots[slot];
            info->row = (uint16_t)a;
            info->column = (uint16_t)b;
            info->offset = sq->offset + a * sq->stride + b;
            info->mirror = sq->offset + b * sq->stride + a;
            permissive_masks[a * sq->n + b] = relation_permissive_masks(sq, a, b);
        }
    }
    sq->n_values = slot_values(s, sq->slots[1]);
    sq->small_masks = sq->n_values <= SMALL_MASK_VALUES;
    sq->compose_rows = sq->small_masks ? rows_compose : rows_plain_compose;
    find_members(s, sq);
    if (sq->relation) relation_lay_out(sq, offset);
}

/* Which losses of a pair choice are events of its watches or cells; equal tables are one. */
static uint32_t find_events(struct space *s, uint32_t slot, struct intern_table *known)
{
    struct pair_events events = {0};
    uint64_t n_sets = UINT64_C(1) << slot_values(s, slot);
    if (!s->slots[slot].n_groups && !s->slot_cells[slot].n_leaves) return 0;
    for (uint64_t now = 1; now < n_sets; now++) {
        events.losses[now] = watch_losses(s, slot, now);
        events.cells[now] = cells_affected(s, slot, now);
    }
    bool fresh;
    struct interned *found = intern(known, s->arena, &events, sizeof events, s->n_pair_events, &fresh);
    if (fresh) s->pair_events[s->n_pair_events++] = found->bytes;
    return found->id + 1;
}

void squares_link(struct space *s)
{
    struct intern_table known = {0};
    s->pair_events = ARENA_ARRAY(s->arena, const struct pair_events *, s->n_slots + 1);
    s->n_pair_events = 0;
    for (uint32_t i = 0; i < s->n_squares; i++) {
        struct square *sq = &s->squares[i];
        uint32_t *events = ARENA_ARRAY(s->arena, uint32_t, sq->n * sq->n);
        for (uint32_t a = 0; a < sq->n; a++)
            for (uint32_t b = a + 1; b < sq->n; b++)
                events[a * sq->n + b] = find_events(s, sq->slots[a * sq->n + b], &known);
        sq->events = events;
    }
    intern_free(&known);
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
    state_queue_row(st, sq->number, object);
    state_queue_row(st, sq->number, object + ROW_MAX);
}

/* Keeps some values of the pair (a, b), in the general way. */
static bool restrict_pair(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b,
                          uint8_t allowed)
{
    uint32_t slot = sq->slots[a * sq->n + b];
    st->failed_pair = slot;
    return state_restrict_word(st, slot, 0, a < b ? allowed : sq->mirror[allowed]);
}

/* The pair (a, b), a < b, has lost values. */
static inline void pair_narrowed(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b,
                                 uint64_t lost, uint64_t now)
{
    uint32_t at = a * sq->n + b, events = sq->events[at];
    if (events) state_pair_event(st, sq->slots[at], st->space->pair_events[events - 1], lost, now);
    state_queue_pair(st, sq, a, b);
}

/* The pair (a, b) of two present objects keeps some of its values, but not all. */
static void narrow_pair(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b, uint8_t old,
                        uint8_t now)
{
    uint8_t seen = sq->mirror[now];
    state_write(st, sq->offset + a * sq->stride + b, UINT8_MAX, now);
    state_write(st, sq->offset + b * sq->stride + a, UINT8_MAX, seen);
    if (a < b)
        pair_narrowed(st, sq, a, b, old & ~now, now);
    else
        pair_narrowed(st, sq, b, a, sq->mirror[old] & ~seen, seen);
}

/* Pairs of a and of the objects of `lanes` lose what lost[] says. */
static bool lose_lanes(struct space_state *st, const struct square *sq, uint32_t a, uint32_t first,
                       uint32_t lanes, const uint8_t *lost)
{
    const uint8_t *row = row_of(st, sq, a) + first;
    for (; lanes && square_is_present(st, sq, a); lanes &= lanes - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(lanes);
        uint8_t now = row[i] & (uint8_t)~lost[i];
        if (now)
            narrow_pair(st, sq, a, first + i, row[i], now);
        else if (!restrict_pair(st, sq, a, first + i, 0))
            return false;
    }
    return true;
}

bool square_lose(struct space_state *st, const struct square *sq, uint32_t a, uint32_t from,
                 const uint8_t *lost)
{
    const uint8_t *present = st->vector + sq->present + from;
    for (uint32_t i = 0; i < sq->stride - from; i += 32) {
        uint32_t lanes = rows_lanes(lost + i);
        if (!lanes) continue;
        lanes &= rows_lanes(present + i);
        if (!lose_lanes(st, sq, a, from + i, lanes, lost + i)) return false;
    }
    return true;
}

static const uint8_t *table_of(const struct square *sq, uint8_t mask)
{
    return sq->compose + 256u * mask;
}

/* A failure from now on is one of triangles. */
static void note_conflict(struct space_state *st, const struct square *sq)
{
    st->failed_constraint = sq->constraint;
    st->failed_slot = SPACE_NONE;
}

/* A pair without values whose objects are both live, or one of them is and the other one dies. */
static bool refute_empty(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b)
{
    note_conflict(st, sq);
    return restrict_pair(st, sq, a, b, 0);
}

/* What the rows of a pair lose by way of each other. */
static bool lose_both(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b,
                      const uint8_t *to_a, const uint8_t *to_b)
{
    unsigned loses = sq->compose_rows(row_of(st, sq, a), row_of(st, sq, b), to_a, to_b,
                                      st->vector + sq->present, sq->stride, st->lost);
    note_conflict(st, sq);
    if (loses & ROWS_X_LOSES && !square_lose(st, sq, a, 0, st->lost)) return false;
    return !(loses & ROWS_Y_LOSES) || square_lose(st, sq, b, 0, st->lost + sq->stride);
}

/* The pair (a, b) changed: revisits (a, c) by way of b, if b is live, and (b, c) by way of a, of every
 * triangle on it, and the relation. Most pairs remove nothing. */
BASE_INLINE bool propagate_pair(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b)
{
    const uint8_t *v = st->vector, *x = row_of(st, sq, a), *y = row_of(st, sq, b);
    const uint8_t *present = v + sq->present, *live = v + sq->live;
    uint8_t mask = x[b];
    if (!(present[a] & present[b])) return true;
    if (!mask) return refute_empty(st, sq, a, b);
    const uint8_t *to_a = table_of(sq, mask & live[b]), *to_b = table_of(sq, y[a] & live[a]);
    bool may_lose = !sq->small_masks || rows_may_lose(x, y, to_a, to_b, present, sq->stride);
    if (may_lose && !lose_both(st, sq, a, b, to_a, to_b)) return false;
    return sq->permissive_masks[a * sq->n + b] >> mask % 32 & 1 || relation_propagate_pair(st, sq, a, b);
}

bool square_propagate_pairs(struct space_state *st, uint32_t square, uint32_t object)
{
    const struct square *sq = &st->space->squares[square];
    uint64_t *changed = st->changed_pairs + sq->changed + object * sq->words;
    for (uint32_t w = 0; w < sq->words; w++) {
        while (changed[w]) {
            uint32_t b = w * 64 + (uint32_t)__builtin_ctzll(changed[w]);
            changed[w] &= changed[w] - 1;
            if (propagate_pair(st, sq, object, b)) continue;
            memset(changed, 0, sq->words * sizeof *changed);
            return false;
        }
    }
    return true;
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
        const uint8_t *row = row_of(st, sq, a) + from;
        uint32_t n = sq->stride - from;
        if (rows_may_meet(row, forbidden, n) && rows_meet(row, forbidden, n, st->lost) &&
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
    note_conflict(st, sq);
    const uint8_t *row = row_of(st, sq, b), *present = st->vector + sq->present;
    for (uint32_t i = 0; i < sq->stride; i += 32) {
        for (uint32_t left = rows_lanes(row + i) & rows_lanes(present + i), same; left; left &= ~same) {
            uint8_t mask = row[i + (uint32_t)__builtin_ctz(left)];
            same = left & rows_lanes_with(row + i, mask);
            rows_forbid(row + i, table_of(sq, sq->mirror[mask]), present + i, sq->small_masks, sq->stride - i,
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
