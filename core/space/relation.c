/* Propagation of the relation of a pair choice (relation.h), a row or a pair at a time. */
#include "core/space/relation.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/space/internal.h"

enum { CACHE_BLOCKS = 1024 }; /* a power of two */

void relation_lay_out(struct square *sq, uint32_t *offset)
{
    sq->relation->planes = *offset;
    *offset += sq->relation->n_planes * sq->stride;
}

/* ---- propagation ---- */

static uint32_t tuples_of(const struct space_state *st, const struct square *sq, uint32_t object)
{
    uint32_t x = 0;
    for (uint32_t k = 0; k < sq->relation->n_planes; k++)
        x |= (uint32_t)st->vector[sq->relation->planes + k * sq->stride + object] << 8 * k;
    return x;
}

void relation_update(struct space_state *st, const struct square *sq, uint32_t object)
{
    const struct relation *r = sq->relation;
    const struct relation_sort *so = &r->sorts[r->sort_of[object]];
    uint32_t left = (uint32_t)((UINT64_C(1) << so->n) - 1);
    for (uint32_t c = 0; c < r->n_choices; c++) {
        uint32_t slot = r->slots[object * RELATION_CHOICES + c];
        if (slot == SPACE_NONE) continue;
        uint64_t mask = state_word(st, slot, 0);
        left &= so->with[c][0][mask & 255] | so->with[c][1][mask >> 8];
    }
    uint32_t old = tuples_of(st, sq, object);
    for (uint32_t k = 0; k < r->n_planes; k++)
        if ((old ^ left) >> 8 * k & 255)
            state_write(st, r->planes + k * sq->stride + object, UINT8_MAX, left >> 8 * k & 255);
}

/* Keeps some of the tuples of an object. */
static bool restrict_tuples(struct space_state *st, const struct square *sq, uint32_t object, uint32_t left)
{
    const struct relation *r = sq->relation;
    const struct relation_sort *so = &r->sorts[r->sort_of[object]];
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

static void fill_block(const struct relation *r, const struct relation_row *t, uint32_t tuples,
                       struct row_block *b)
{
    memset(b, 0, sizeof *b);
    for (uint32_t p = 0; p < r->n_values; p++) {
        for (uint32_t k = 0; k < ROW_PLANES; k++)
            b->allows[p][k][0] = 255;
        for (uint32_t c = 0; c < t->n; c++) {
            uint32_t any = 0;
            for (uint32_t m = tuples; m; m &= m - 1)
                any |= r->classes[t->classes[c]].allowed[p][__builtin_ctz(m)];
            for (uint32_t k = 0; k < ROW_PLANES; k++)
                b->allows[p][k][c + 1] = (uint8_t)(any >> 8 * k);
        }
    }
}

/* What object a allows its partners now. */
static const struct row_block *block_of(struct space_state *st, const struct square *sq, uint32_t a)
{
    const struct relation *r = sq->relation;
    struct block_cache *c = &st->cache;
    if (!c->blocks) {
        c->blocks = base_malloc(CACHE_BLOCKS * sizeof *c->blocks);
        c->keys = base_calloc(CACHE_BLOCKS, sizeof *c->keys);
    }
    uint32_t tuples = tuples_of(st, sq, a);
    uint64_t key = (uint64_t)(sq - st->space->squares + 1) << 48 | (uint64_t)r->type_of[a] << 32 | tuples;
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 54) & (CACHE_BLOCKS - 1);
    if (c->keys[at] != key) {
        c->keys[at] = key;
        fill_block(r, &r->types[r->type_of[a]], tuples, &c->blocks[at]);
    }
    return &c->blocks[at];
}

void block_cache_free(struct block_cache *c)
{
    free(c->blocks);
    free(c->keys);
}

static uint32_t present_lanes(const struct space_state *st, const struct square *sq, uint32_t word,
                              uint32_t without)
{
    uint32_t present;
    memcpy(&present, st->vector + sq->present_bits + word * 4, 4);
    return without / 32 == word ? present & ~(UINT32_C(1) << without % 32) : present;
}

/* Which constraint a failure is blamed on is found by state_failure(). */
static void blame(struct space_state *st, uint32_t slot)
{
    st->failed_constraint = SPACE_NONE;
    st->failed_slot = SPACE_NONE;
    st->failed_pair = slot;
}

bool relation_propagate_row(struct space_state *st, const struct square *sq, uint32_t a)
{
    const struct relation *r = sq->relation;
    uint8_t pairs[ROW_MAX], tuples[ROW_PLANES][ROW_MAX];
    uint32_t changed_pairs[ROW_MAX / 32], changed_tuples[ROW_MAX / 32];
    struct row_relation row = {r->local + a * sq->stride,
                               st->vector + sq->offset + a * sq->stride,
                               st->vector + r->planes,
                               r->n_values,
                               r->n_planes,
                               sq->stride};
    rows_relate(&row, block_of(st, sq, a), sq->stride, pairs, tuples, changed_pairs, changed_tuples);
    bool live = square_bit(st, sq->live_bits, a);
    for (uint32_t w = 0; w < sq->stride / 32; w++) {
        uint32_t present = present_lanes(st, sq, w, a);
        for (uint32_t m = changed_pairs[w] & present; m; m &= m - 1) {
            uint32_t b = w * 32 + (uint32_t)__builtin_ctz(m);
            blame(st, sq->slots[a * sq->n + b]);
            if (!square_restrict(st, sq, a, b, pairs[b])) return false;
        }
        for (uint32_t m = live ? changed_tuples[w] & present : 0; m; m &= m - 1) {
            uint32_t b = w * 32 + (uint32_t)__builtin_ctz(m), left = 0;
            for (uint32_t k = 0; k < r->n_planes; k++)
                left |= (uint32_t)tuples[k][b] << 8 * k;
            blame(st, sq->slots[a * sq->n + b]);
            if (!restrict_tuples(st, sq, b, left)) return false;
        }
    }
    return true;
}

/* Tuples of b that some value of the pair supports. */
static bool relate_partner(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b)
{
    const struct relation *r = sq->relation;
    uint32_t class = r->local[a * sq->stride + b], left = 0, now = tuples_of(st, sq, b);
    const struct row_block *block = block_of(st, sq, a);
    for (uint32_t m = st->vector[sq->offset + a * sq->stride + b]; m; m &= m - 1)
        for (uint32_t k = 0; k < r->n_planes; k++)
            left |= (uint32_t)block->allows[__builtin_ctz(m)][k][class] << 8 * k;
    return !(now & ~left) || restrict_tuples(st, sq, b, now & left);
}

bool relation_propagate_pair(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b)
{
    if (!sq->relation->local[a * sq->stride + b]) return true;
    blame(st, sq->slots[a * sq->n + b]);
    if (square_bit(st, sq->live_bits, a) && !relate_partner(st, sq, a, b)) return false;
    return !square_bit(st, sq->live_bits, b) || relate_partner(st, sq, b, a);
}
