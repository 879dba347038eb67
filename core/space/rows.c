/* Look-ups on rows of bytes. A table of 32 entries is two shuffles and a blend; a class of up to 16 is one
 * shuffle. */
#include "core/space/rows.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

bool rows_plain_compose(const uint8_t *row, const uint8_t *via, const uint8_t *table, uint32_t n,
                        uint8_t *out, uint32_t *changed)
{
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        out[i] = row[i] & table[via[i]];
        if (i % 32 == 0) changed[i / 32] = 0;
        changed[i / 32] |= (uint32_t)(out[i] != row[i]) << i % 32;
        any = any || out[i] != row[i];
    }
    return any;
}

static uint8_t relate_lane(const struct row_relation *r, const struct row_block *block, uint32_t i,
                           uint8_t *kept)
{
    uint8_t supported = 0;
    for (unsigned p = 0; p < r->n_values; p++) {
        uint8_t any = 0;
        for (uint32_t k = 0; k < r->n_planes; k++)
            any |= block->allows[p][k][r->classes[i]] & r->tuples[k * r->stride + i];
        if (!any || !(r->pairs[i] >> p & 1)) continue;
        supported |= (uint8_t)(1u << p);
        for (uint32_t k = 0; k < r->n_planes; k++)
            kept[k] |= block->allows[p][k][r->classes[i]];
    }
    return supported;
}

void rows_plain_relate(const struct row_relation *r, const struct row_block *block, uint32_t n,
                       uint8_t *pairs, uint8_t (*tuples)[ROW_MAX], uint32_t *changed_pairs,
                       uint32_t *changed_tuples)
{
    for (uint32_t i = 0; i < n; i++) {
        uint8_t kept[ROW_PLANES] = {0};
        if (i % 32 == 0) changed_pairs[i / 32] = changed_tuples[i / 32] = 0;
        pairs[i] = relate_lane(r, block, i, kept);
        changed_pairs[i / 32] |= (uint32_t)(pairs[i] != r->pairs[i]) << i % 32;
        bool lost = false;
        for (uint32_t k = 0; k < r->n_planes; k++) {
            tuples[k][i] = kept[k] & r->tuples[k * r->stride + i];
            lost = lost || tuples[k][i] != r->tuples[k * r->stride + i];
        }
        changed_tuples[i / 32] |= (uint32_t)lost << i % 32;
    }
}

void rows_plain_open(const uint8_t *row, uint32_t n, uint32_t *open)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i % 32 == 0) open[i / 32] = 0;
        open[i / 32] |= (uint32_t)((row[i] & (row[i] - 1)) != 0) << i % 32;
    }
}

#ifdef __AVX2__

static __m256i load(const void *at)
{
    return _mm256_loadu_si256(at);
}

static __m256i load_twice(const uint8_t *at)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)at));
}

static uint32_t differs(__m256i x, __m256i y)
{
    return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(x, y));
}

bool rows_compose(const uint8_t *row, const uint8_t *via, const uint8_t *table, bool narrow, uint32_t n,
                  uint8_t *out, uint32_t *changed)
{
    if (!narrow) return rows_plain_compose(row, via, table, n, out, changed);
    uint32_t any = 0;
    __m256i low = load_twice(table), high = load_twice(table + 16);
    for (uint32_t i = 0; i < n; i += 32) {
        __m256i r = load(row + i), v = load(via + i);
        __m256i looked = _mm256_blendv_epi8(_mm256_shuffle_epi8(low, v), _mm256_shuffle_epi8(high, v),
                                            _mm256_slli_epi16(v, 3));
        __m256i x = _mm256_and_si256(r, looked);
        _mm256_storeu_si256((void *)(out + i), x);
        any |= changed[i / 32] = differs(x, r);
    }
    return any != 0;
}

struct lanes {
    __m256i pairs, supported, tuples[ROW_PLANES], kept[ROW_PLANES];
};

/* One value of the pair in 32 lanes. */
static void relate_value(struct lanes *l, const struct row_block *block, unsigned p, uint32_t n_planes,
                         __m256i classes)
{
    const __m256i zero = _mm256_setzero_si256(), bit = _mm256_set1_epi8((char)(1 << p));
    __m256i allowed[ROW_PLANES], any = zero;
    for (uint32_t k = 0; k < n_planes; k++) {
        allowed[k] = _mm256_shuffle_epi8(load_twice(block->allows[p][k]), classes);
        any = _mm256_or_si256(any, _mm256_and_si256(allowed[k], l->tuples[k]));
    }
    __m256i has = _mm256_and_si256(_mm256_andnot_si256(_mm256_cmpeq_epi8(any, zero), bit), l->pairs);
    l->supported = _mm256_or_si256(l->supported, has);
    __m256i chosen = _mm256_cmpeq_epi8(has, bit);
    for (uint32_t k = 0; k < n_planes; k++)
        l->kept[k] = _mm256_or_si256(l->kept[k], _mm256_and_si256(chosen, allowed[k]));
}

void rows_relate(const struct row_relation *r, const struct row_block *block, uint32_t n, uint8_t *pairs,
                 uint8_t (*tuples)[ROW_MAX], uint32_t *changed_pairs, uint32_t *changed_tuples)
{
    for (uint32_t i = 0; i < n; i += 32) {
        struct lanes l = {.pairs = load(r->pairs + i)};
        __m256i classes = load(r->classes + i);
        for (uint32_t k = 0; k < r->n_planes; k++)
            l.tuples[k] = load(r->tuples + k * r->stride + i);
        for (unsigned p = 0; p < r->n_values; p++)
            relate_value(&l, block, p, r->n_planes, classes);
        _mm256_storeu_si256((void *)(pairs + i), l.supported);
        changed_pairs[i / 32] = differs(l.supported, l.pairs);
        changed_tuples[i / 32] = 0;
        for (uint32_t k = 0; k < r->n_planes; k++) {
            __m256i x = _mm256_and_si256(l.kept[k], l.tuples[k]);
            _mm256_storeu_si256((void *)(tuples[k] + i), x);
            changed_tuples[i / 32] |= differs(x, l.tuples[k]);
        }
    }
}

void rows_open(const uint8_t *row, uint32_t n, uint32_t *open)
{
    const __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi8(1);
    for (uint32_t i = 0; i < n; i += 32) {
        __m256i r = load(row + i);
        __m256i rest = _mm256_and_si256(r, _mm256_sub_epi8(r, one));
        open[i / 32] = differs(rest, zero);
    }
}

#else

bool rows_compose(const uint8_t *row, const uint8_t *via, const uint8_t *table, bool narrow, uint32_t n,
                  uint8_t *out, uint32_t *changed)
{
    (void)narrow;
    return rows_plain_compose(row, via, table, n, out, changed);
}

void rows_relate(const struct row_relation *r, const struct row_block *block, uint32_t n, uint8_t *pairs,
                 uint8_t (*tuples)[ROW_MAX], uint32_t *changed_pairs, uint32_t *changed_tuples)
{
    rows_plain_relate(r, block, n, pairs, tuples, changed_pairs, changed_tuples);
}

void rows_open(const uint8_t *row, uint32_t n, uint32_t *open)
{
    rows_plain_open(row, n, open);
}

#endif
