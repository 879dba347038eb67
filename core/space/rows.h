/* The inner loops of propagation: look-ups on rows of bytes, 32 at a time where the processor can (AVX2).
 *
 * A row holds one byte for each of up to `n` objects; n is a multiple of ROW_ALIGN, rows are padded. Results
 * go to buffers of the caller, who decides which lanes may change; bit i of `changed` (32 lanes a word) says
 * that lane i differs from the input. Each loop has a plain form with the same results. */
#ifndef THRESH_SPACE_ROWS_H
#define THRESH_SPACE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

enum { ROW_ALIGN = 32, ROW_MAX = 1024, ROW_VALUES = 8, ROW_PLANES = 4, ROW_CLASSES = 16 };

/* out[i] = row[i] & table[via[i]]; returns whether any lane changed. `table` has 256 entries; if `narrow`,
 * via[i] < 32 in every lane. */
bool rows_compose(const uint8_t *row, const uint8_t *via, const uint8_t *table, bool narrow, uint32_t n,
                  uint8_t *out, uint32_t *changed);

/* What one object allows its partners, by class of the pair: bit j of byte allows[p][k][c] is set if a
 * partner in class c may have tuple 8 k + j when the pair has value p. Class 0 has no relation: all bits are
 * set. */
struct row_block {
    uint8_t allows[ROW_VALUES][ROW_PLANES][ROW_CLASSES];
};

struct row_relation {
    const uint8_t *classes; /* of the pair with each partner */
    const uint8_t *pairs;   /* mask of the values left to each pair */
    const uint8_t *tuples;  /* of plane 0; plane k is k * stride further: tuples left to each partner */
    uint32_t n_values, n_planes, stride;
};

/* Removes values of pairs that no tuple of the partner supports, then tuples of partners that no value of the
 * pair supports. */
void rows_relate(const struct row_relation *r, const struct row_block *block, uint32_t n, uint8_t *pairs,
                 uint8_t (*tuples)[ROW_MAX], uint32_t *changed_pairs, uint32_t *changed_tuples);

/* Lanes with two or more bits set. */
void rows_open(const uint8_t *row, uint32_t n, uint32_t *open);

/* The plain forms, which define the results. */
bool rows_plain_compose(const uint8_t *row, const uint8_t *via, const uint8_t *table, uint32_t n,
                        uint8_t *out, uint32_t *changed);
void rows_plain_relate(const struct row_relation *r, const struct row_block *block, uint32_t n,
                       uint8_t *pairs, uint8_t (*tuples)[ROW_MAX], uint32_t *changed_pairs,
                       uint32_t *changed_tuples);
void rows_plain_open(const uint8_t *row, uint32_t n, uint32_t *open);

#endif
