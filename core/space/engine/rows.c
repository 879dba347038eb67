/* Look-ups on rows of bytes. A table of 32 entries is two shuffles and a blend; a class of up to 16 is one
 * shuffle. */
#include "core/space/engine/rows.h"

#include <string.h>

#include "core/base/attr.h"

/* ---- the plain forms ---- */

void rows_plain_forbid(const uint8_t *via, const uint8_t *table, const uint8_t *present, uint32_t n,
                       uint8_t *out)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = (uint8_t)(present[i] & ~table[via[i]]);
}

bool rows_plain_meet(const uint8_t *row, const uint8_t *forbidden, uint32_t n, uint8_t *lost)
{
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        lost[i] = row[i] & forbidden[i];
        any = any || lost[i];
    }
    return any;
}

unsigned rows_plain_compose(const uint8_t *x, const uint8_t *y, const uint8_t *x_table,
                            const uint8_t *y_table, const uint8_t *present, uint32_t n, uint8_t *lost)
{
    rows_plain_forbid(y, x_table, present, n, lost);
    rows_plain_forbid(x, y_table, present, n, lost + n);
    unsigned x_loses = rows_plain_meet(x, lost, n, lost) ? ROWS_X_LOSES : 0,
             y_loses = rows_plain_meet(y, lost + n, n, lost + n) ? ROWS_Y_LOSES : 0;
    return x_loses | y_loses;
}

uint32_t rows_plain_lanes_with(const uint8_t *row, uint8_t mask)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < 32; i++)
        lanes |= (uint32_t)(row[i] == mask) << i;
    return lanes;
}

void rows_plain_unite(const uint8_t *blocks, uint32_t bytes, uint32_t which, uint8_t *out)
{
    memset(out, 0, bytes);
    for (uint32_t m = which; m; m &= m - 1)
        for (uint32_t i = 0; i < bytes; i++)
            out[i] |= blocks[(uint32_t)__builtin_ctz(m) * bytes + i];
}

static uint32_t allowed_tuples(const uint8_t *block, unsigned p, uint32_t n_planes, uint8_t class)
{
    uint32_t tuples = 0;
    for (uint32_t k = 0; k < n_planes; k++)
        tuples |= (uint32_t)block[(p * n_planes + k) * ROW_CLASSES + class] << 8 * k;
    return tuples;
}

unsigned rows_plain_relate(const struct row_relation *r, const uint8_t *block, uint32_t n,
                           uint8_t *lost_pairs, uint8_t *lost_tuples)
{
    unsigned any = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t tuples, kept = 0, supported = 0;
        memcpy(&tuples, r->tuples + 4 * i, 4);
        for (unsigned p = 0; p < r->n_values; p++) {
            uint32_t allowed = allowed_tuples(block, p, r->n_planes, r->classes[i]);
            if (!(r->pairs[i] >> p & 1) || !(allowed & tuples)) continue;
            supported |= 1u << p;
            kept |= allowed;
        }
        lost_pairs[i] = (uint8_t)(r->pairs[i] & ~supported & r->present[i]);
        lost_tuples[i] = r->pairs[i] && tuples & ~kept ? r->present[i] : 0;
        any |= (lost_pairs[i] ? ROWS_LOSE_PAIRS : 0u) | (lost_tuples[i] ? ROWS_LOSE_TUPLES : 0u);
    }
    return any;
}

void rows_plain_open(const uint8_t *row, const uint8_t *among, uint32_t n, uint32_t *open)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i % 32 == 0) open[i / 32] = 0;
        open[i / 32] |= (uint32_t)((row[i] & (row[i] - 1) & among[i]) != 0) << i % 32;
    }
}

#ifdef __AVX2__

/* ---- with vectors of 32 bytes ---- */

static __m256i load(const void *at)
{
    return _mm256_loadu_si256(at);
}

static void store(uint8_t *at, __m256i x)
{
    _mm256_storeu_si256((void *)at, x);
}

static __m256i load_twice(const uint8_t *at)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)at));
}

static bool is_zero(__m256i x)
{
    return _mm256_testz_si256(x, x);
}

void rows_forbid(const uint8_t *via, const uint8_t *table, const uint8_t *present, bool narrow, uint32_t n,
                 uint8_t *out)
{
    if (!narrow) {
        rows_plain_forbid(via, table, present, n, out);
        return;
    }
    struct rows_table t = rows_load_table(table);
    for (uint32_t i = 0; i < n; i += 32)
        store(out + i, _mm256_andnot_si256(rows_look_up(t, load(via + i)), load(present + i)));
}

bool rows_meet(const uint8_t *row, const uint8_t *forbidden, uint32_t n, uint8_t *lost)
{
    __m256i any = _mm256_setzero_si256();
    for (uint32_t i = 0; i < n; i += 32) {
        __m256i x = _mm256_and_si256(load(row + i), load(forbidden + i));
        store(lost + i, x);
        any = _mm256_or_si256(any, x);
    }
    return !is_zero(any);
}

unsigned rows_compose(const uint8_t *x, const uint8_t *y, const uint8_t *x_table, const uint8_t *y_table,
                      const uint8_t *present, uint32_t n, uint8_t *lost)
{
    struct rows_table to_x = rows_load_table(x_table), to_y = rows_load_table(y_table);
    __m256i any_x = _mm256_setzero_si256(), any_y = any_x;
    for (uint32_t i = 0; i < n; i += 32) {
        __m256i x_row = load(x + i), y_row = load(y + i), lanes = load(present + i);
        __m256i x_lost = _mm256_and_si256(_mm256_andnot_si256(rows_look_up(to_x, y_row), x_row), lanes),
                y_lost = _mm256_and_si256(_mm256_andnot_si256(rows_look_up(to_y, x_row), y_row), lanes);
        store(lost + i, x_lost);
        store(lost + n + i, y_lost);
        any_x = _mm256_or_si256(any_x, x_lost);
        any_y = _mm256_or_si256(any_y, y_lost);
    }
    return (is_zero(any_x) ? 0 : ROWS_X_LOSES) | (is_zero(any_y) ? 0 : ROWS_Y_LOSES);
}

void rows_unite(const uint8_t *blocks, uint32_t bytes, uint32_t which, uint8_t *out)
{
    uint32_t i = 0;
    for (; i + 64 <= bytes; i += 64) {
        __m256i x = _mm256_setzero_si256(), y = x;
        for (uint32_t m = which; m; m &= m - 1) {
            const uint8_t *block = blocks + (uint32_t)__builtin_ctz(m) * bytes + i;
            x = _mm256_or_si256(x, load(block));
            y = _mm256_or_si256(y, load(block + 32));
        }
        store(out + i, x);
        store(out + i + 32, y);
    }
    for (; i < bytes; i += 32) {
        __m256i x = _mm256_setzero_si256();
        for (uint32_t m = which; m; m &= m - 1)
            x = _mm256_or_si256(x, load(blocks + (uint32_t)__builtin_ctz(m) * bytes + i));
        store(out + i, x);
    }
}

/* planes[k] gets byte k of each of 32 words. */
BASE_INLINE void split_words(const uint8_t *words, __m256i *planes)
{
    const __m256i by_byte = _mm256_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 0, 4, 8,
                                             12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m256i in_order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256i w[4];
    for (unsigned q = 0; q < 4; q++)
        w[q] = _mm256_shuffle_epi8(load(words + 32 * q), by_byte);
    __m256i low[2], high[2];
    for (unsigned h = 0; h < 2; h++) {
        low[h] = _mm256_unpacklo_epi32(w[2 * h], w[2 * h + 1]);
        high[h] = _mm256_unpackhi_epi32(w[2 * h], w[2 * h + 1]);
    }
    planes[0] = _mm256_permutevar8x32_epi32(_mm256_unpacklo_epi64(low[0], low[1]), in_order);
    planes[1] = _mm256_permutevar8x32_epi32(_mm256_unpackhi_epi64(low[0], low[1]), in_order);
    planes[2] = _mm256_permutevar8x32_epi32(_mm256_unpacklo_epi64(high[0], high[1]), in_order);
    planes[3] = _mm256_permutevar8x32_epi32(_mm256_unpackhi_epi64(high[0], high[1]), in_order);
}

struct lanes {
    __m256i pairs, supported, tuples[ROW_PLANES], kept[ROW_PLANES];
};

/* One value of the pair in 32 lanes. */
BASE_INLINE void relate_value(struct lanes *l, const uint8_t *block, __m256i bit, __m256i classes,
                              uint32_t n_planes)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i allowed[ROW_PLANES], any = zero;
    for (uint32_t k = 0; k < n_planes; k++) {
        allowed[k] = _mm256_shuffle_epi8(load_twice(block + k * ROW_CLASSES), classes);
        any = _mm256_or_si256(any, _mm256_and_si256(allowed[k], l->tuples[k]));
    }
    __m256i has = _mm256_and_si256(_mm256_andnot_si256(_mm256_cmpeq_epi8(any, zero), bit), l->pairs);
    l->supported = _mm256_or_si256(l->supported, has);
    __m256i chosen = _mm256_cmpeq_epi8(has, bit);
    for (uint32_t k = 0; k < n_planes; k++)
        l->kept[k] = _mm256_or_si256(l->kept[k], _mm256_and_si256(chosen, allowed[k]));
}

/* rows_relate() with a number of planes that the compiler knows. */
BASE_INLINE unsigned relate_planes(const struct row_relation *r, const uint8_t *block, uint32_t n,
                                   uint8_t *lost_pairs, uint8_t *lost_tuples, uint32_t n_planes)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i any_pairs = zero, any_tuples = zero;
    for (uint32_t i = 0; i < n; i += 32) {
        struct lanes l = {.pairs = load(r->pairs + i)};
        __m256i classes = load(r->classes + i), present = load(r->present + i), bit = _mm256_set1_epi8(1);
        split_words(r->tuples + 4 * i, l.tuples);
        for (unsigned p = 0; p < r->n_values; p++) {
            relate_value(&l, block + p * n_planes * ROW_CLASSES, bit, classes, n_planes);
            bit = _mm256_add_epi8(bit, bit);
        }
        __m256i pairs = _mm256_and_si256(_mm256_andnot_si256(l.supported, l.pairs), present), tuples = zero;
        for (uint32_t k = 0; k < n_planes; k++)
            tuples = _mm256_or_si256(tuples, _mm256_andnot_si256(l.kept[k], l.tuples[k]));
        __m256i none = _mm256_or_si256(_mm256_cmpeq_epi8(tuples, zero), _mm256_cmpeq_epi8(l.pairs, zero));
        tuples = _mm256_andnot_si256(none, present);
        store(lost_pairs + i, pairs);
        store(lost_tuples + i, tuples);
        any_pairs = _mm256_or_si256(any_pairs, pairs);
        any_tuples = _mm256_or_si256(any_tuples, tuples);
    }
    return (is_zero(any_pairs) ? 0 : ROWS_LOSE_PAIRS) | (is_zero(any_tuples) ? 0 : ROWS_LOSE_TUPLES);
}

unsigned rows_relate(const struct row_relation *r, const uint8_t *block, uint32_t n, uint8_t *lost_pairs,
                     uint8_t *lost_tuples)
{
    switch (r->n_planes) {
    case 1:
        return relate_planes(r, block, n, lost_pairs, lost_tuples, 1);
    case 2:
        return relate_planes(r, block, n, lost_pairs, lost_tuples, 2);
    case 3:
        return relate_planes(r, block, n, lost_pairs, lost_tuples, 3);
    default:
        return relate_planes(r, block, n, lost_pairs, lost_tuples, 4);
    }
}

void rows_open(const uint8_t *row, const uint8_t *among, uint32_t n, uint32_t *open)
{
    const __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi8(1);
    for (uint32_t i = 0; i < n; i += 32) {
        __m256i r = _mm256_and_si256(load(row + i), load(among + i));
        __m256i rest = _mm256_and_si256(r, _mm256_sub_epi8(r, one));
        open[i / 32] = ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(rest, zero));
    }
}

#else

void rows_forbid(const uint8_t *via, const uint8_t *table, const uint8_t *present, bool narrow, uint32_t n,
                 uint8_t *out)
{
    (void)narrow;
    rows_plain_forbid(via, table, present, n, out);
}

bool rows_meet(const uint8_t *row, const uint8_t *forbidden, uint32_t n, uint8_t *lost)
{
    return rows_plain_meet(row, forbidden, n, lost);
}

unsigned rows_compose(const uint8_t *x, const uint8_t *y, const uint8_t *x_table, const uint8_t *y_table,
                      const uint8_t *present, uint32_t n, uint8_t *lost)
{
    return rows_plain_compose(x, y, x_table, y_table, present, n, lost);
}

void rows_unite(const uint8_t *blocks, uint32_t bytes, uint32_t which, uint8_t *out)
{
    rows_plain_unite(blocks, bytes, which, out);
}

unsigned rows_relate(const struct row_relation *r, const uint8_t *block, uint32_t n, uint8_t *lost_pairs,
                     uint8_t *lost_tuples)
{
    return rows_plain_relate(r, block, n, lost_pairs, lost_tuples);
}

void rows_open(const uint8_t *row, const uint8_t *among, uint32_t n, uint32_t *open)
{
    rows_plain_open(row, among, n, open);
}

#endif
