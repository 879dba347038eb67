/* The inner loops of propagation: look-ups on rows of bytes, 32 at a time where the processor can (AVX2).
 *
 * A row holds one byte for each of up to `n` objects; n is a multiple of ROW_ALIGN, rows are padded. Loops
 * that remove values leave the row as it is and say what each lane loses. `present` has 255 in the lanes
 * that may lose something, and 0 in the others. Each loop has a plain form with the same results. */
#ifndef THRESH_SPACE_ENGINE_ROWS_H
#define THRESH_SPACE_ENGINE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

enum { ROW_ALIGN = 32, ROW_MAX = 1024, ROW_VALUES = 8, ROW_PLANES = 4, ROW_CLASSES = 16 };

/* out[i] = present[i] & ~table[via[i]]: what a row loses by way of another one. `table` has 256 entries, or
 * 32 if `narrow`: then via[i] < 32 in every lane. */
void rows_forbid(const uint8_t *via, const uint8_t *table, const uint8_t *present, bool narrow, uint32_t n,
                 uint8_t *out);
/* lost[i] = row[i] & forbidden[i]; returns whether any lane loses something. */
bool rows_meet(const uint8_t *row, const uint8_t *forbidden, uint32_t n, uint8_t *lost);
enum { ROWS_X_LOSES = 1, ROWS_Y_LOSES = 2 };

/* What two rows lose by way of each other: x at lost, y at lost + n. Returns which of the two lose something.
 */
typedef unsigned rows_composer(const uint8_t *x, const uint8_t *y, const uint8_t *x_table,
                               const uint8_t *y_table, const uint8_t *present, uint32_t n, uint8_t *lost);

rows_composer rows_compose; /* all masks are below 32 */

#ifdef __AVX2__
/* A table of 32 entries: two shuffles and a blend. */
struct rows_table {
    __m256i low, high;
};

static inline struct rows_table rows_load_table(const uint8_t *at)
{
    return (struct rows_table){_mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)at)),
                               _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)(at + 16)))};
}

static inline __m256i rows_look_up(struct rows_table t, __m256i via)
{
    return _mm256_blendv_epi8(_mm256_shuffle_epi8(t.low, via), _mm256_shuffle_epi8(t.high, via),
                              _mm256_slli_epi16(via, 3));
}
#endif

/* A block says what one object allows its partners, by class of the pair: bit j of byte
 * [(p * n_planes + k) * ROW_CLASSES + class] is set if a partner in the class may have tuple 8 k + j when the
 * pair has value p. Class 0 has no relation: all its bits are set. Blocks are padded to ROW_ALIGN bytes. */
enum { ROW_BLOCK_MAX = ROW_VALUES * ROW_PLANES * ROW_CLASSES };

/* out = the union of some of the blocks of `bytes` bytes each: bit i of `which` stands for block i. */
void rows_unite(const uint8_t *blocks, uint32_t bytes, uint32_t which, uint8_t *out);

struct row_relation {
    const uint8_t *classes; /* of the pair with each partner */
    const uint8_t *pairs;   /* mask of the values left to each pair */
    const uint8_t *tuples;  /* left to each partner: words of 32 bits */
    const uint8_t *present;
    uint32_t n_values, n_planes;
};

enum { ROWS_LOSE_PAIRS = 1, ROWS_LOSE_TUPLES = 2 };

/* lost_pairs[i]: the values of the pair that no tuple of the partner supports. lost_tuples[i] is not 0 if the
 * pair has values, and the partner tuples that none of them supports. Returns which of the two are not all
 * 0. */
unsigned rows_relate(const struct row_relation *r, const uint8_t *block, uint32_t n, uint8_t *lost_pairs,
                     uint8_t *lost_tuples);

/* Lanes of `among` (255 or 0) with two or more bits set: bit i % 32 of open[i / 32]. */
void rows_open(const uint8_t *row, const uint8_t *among, uint32_t n, uint32_t *open);

/* The plain forms, which define the results. */
void rows_plain_forbid(const uint8_t *via, const uint8_t *table, const uint8_t *present, uint32_t n,
                       uint8_t *out);
bool rows_plain_meet(const uint8_t *row, const uint8_t *forbidden, uint32_t n, uint8_t *lost);
rows_composer rows_plain_compose;
uint32_t rows_plain_lanes_with(const uint8_t *row, uint8_t mask);
void rows_plain_unite(const uint8_t *blocks, uint32_t bytes, uint32_t which, uint8_t *out);
unsigned rows_plain_relate(const struct row_relation *r, const uint8_t *block, uint32_t n,
                           uint8_t *lost_pairs, uint8_t *lost_tuples);
void rows_plain_open(const uint8_t *row, const uint8_t *among, uint32_t n, uint32_t *open);

#ifdef __AVX2__
/* Whether rows_compose() finds anything. */
static inline bool rows_may_lose(const uint8_t *x, const uint8_t *y, const uint8_t *x_table,
                                 const uint8_t *y_table, const uint8_t *present, uint32_t n)
{
    struct rows_table to_x = rows_load_table(x_table), to_y = rows_load_table(y_table);
    __m256i any = _mm256_setzero_si256();
    for (uint32_t i = 0; i < n; i += 32) {
        __m256i x_row = _mm256_loadu_si256((const void *)(x + i)),
                y_row = _mm256_loadu_si256((const void *)(y + i));
        __m256i lost = _mm256_or_si256(_mm256_andnot_si256(rows_look_up(to_x, y_row), x_row),
                                       _mm256_andnot_si256(rows_look_up(to_y, x_row), y_row));
        any = _mm256_or_si256(any, _mm256_and_si256(lost, _mm256_loadu_si256((const void *)(present + i))));
    }
    return !_mm256_testz_si256(any, any);
}
#else
static inline bool rows_may_lose(const uint8_t *x, const uint8_t *y, const uint8_t *x_table,
                                 const uint8_t *y_table, const uint8_t *present, uint32_t n)
{
    (void)x, (void)y, (void)x_table, (void)y_table, (void)present, (void)n;
    return true;
}
#endif

/* Whether rows_meet() finds anything. */
#ifdef __AVX2__
static inline bool rows_may_meet(const uint8_t *row, const uint8_t *forbidden, uint32_t n)
{
    __m256i any = _mm256_setzero_si256();
    for (uint32_t i = 0; i < n; i += 32)
        any = _mm256_or_si256(any, _mm256_and_si256(_mm256_loadu_si256((const void *)(row + i)),
                                                    _mm256_loadu_si256((const void *)(forbidden + i))));
    return !_mm256_testz_si256(any, any);
}
#else
static inline bool rows_may_meet(const uint8_t *row, const uint8_t *forbidden, uint32_t n)
{
    (void)row, (void)forbidden, (void)n;
    return true;
}
#endif

/* Which of 32 lanes are `mask`. */
#ifdef __AVX2__
static inline uint32_t rows_lanes_with(const uint8_t *row, uint8_t mask)
{
    __m256i lanes = _mm256_loadu_si256((const void *)row);
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(lanes, _mm256_set1_epi8((char)mask)));
}
#else
static inline uint32_t rows_lanes_with(const uint8_t *row, uint8_t mask)
{
    return rows_plain_lanes_with(row, mask);
}
#endif

/* Which of 32 lanes are not 0. */
static inline uint32_t rows_lanes(const uint8_t *row)
{
    return ~rows_lanes_with(row, 0);
}

#endif
