/* A pair choice as a square of bytes. Row a holds the values left to (a, b) as seen from a, one byte for each
 * b; entries (a, a) and the padding are 0.
 *
 *     order over p, q, r           p   q   r         bits: BEFORE 1, AFTER 2
 *                             p    0   1   3         p is before q, so q is after p;
 *                             q    2   0   3         nothing is known of r
 *                             r    3   3   0
 *
 * Constraints over three objects of the set that read this choice alone are *triangles*: together they are
 * one table that says which values of (a, c) go with sets of values of (a, b) and of (b, c). */
#ifndef THRESH_SPACE_GROUND_SQUARE_H
#define THRESH_SPACE_GROUND_SQUARE_H

#include "core/space/layout.h"

enum { SQUARE_VALUES = 8 /* of a pair choice, at most: the bits of a byte */ };

struct relation; /* engine/relation.h */

struct square {
    /* ---- where it is in the vector (engine/square.c) ---- */
    uint32_t n, offset, stride; /* objects; of row 0; of a row, a multiple of ROW_ALIGN */
    uint32_t n_values;
    uint32_t live, present;  /* offsets of rows of SQUARE_YES and 0: objects that are live; not dead */
    uint32_t number;         /* in squares[] */
    uint32_t changed, words; /* in changed_pairs[] of states: of row 0; of a row */

    /* ---- what changes of a pair concern (engine/square.c) ---- */
    const uint32_t *permissive_masks; /* [a * n + b], a < b; bit m % 32: see relation_permissive_masks() */
    const uint32_t
        *events; /* likewise: in pair_events[], plus 1; 0: the square alone has to know of changes */

    /* ---- the choice and its triangles (ground/triangles.c) ---- */
    const uint32_t *slots;    /* [a * n + b], both halves */
    const uint32_t *liveness; /* of each object, or NONE */
    const uint32_t *member;   /* by latent object: its number here, or NONE */
    const uint8_t *compose;   /* [mask ab * 256 + mask bc] -> mask ac; all of them if one is 0 */
    unsigned (*compose_rows)(const uint8_t *x, const uint8_t *y, const uint8_t *x_table,
                             const uint8_t *y_table, const uint8_t *present, uint32_t n,
                             uint8_t *lost); /* a rows_composer, see engine/rows.h */
    const bool *allowed;                     /* [(value ab * n_values + value bc) * n_values + value ac] */
    bool small_masks;                        /* masks are below 32 */
    uint8_t mirror[256];
    uint32_t constraint;       /* the first of its triangle constraints */
    struct relation *relation; /* or NULL (engine/relation_find.c) */
};

#endif
