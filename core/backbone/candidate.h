/* An implementation of a backbone: every decision taken, as plain tables. */
#ifndef THRESH_BACKBONE_CANDIDATE_H
#define THRESH_BACKBONE_CANDIDATE_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct backbone;

/* An implementation: every decision taken, as plain tables. Entries of objects that are not live are
 * meaningless. What it means for the code:
 *  - LOOP, UNROLL, VECTOR have code BB_SEQ; THREAD has BB_LCL + axis, BLOCK BB_WRG + axis, GLOBAL BB_GLB +
 * axis, or BB_FUSED: it continues the run of the dimension directly around it (same kind), which it divides:
 *    index(d) = (t / inner(d)) % size(d), inner(d) = product of sizes below d in its run, t the axis's id;
 *  - MERGED dimensions are one loop; a class's parent is its innermost OUTER class; siblings follow BEFORE;
 *  - a value crosses from producer to consumer along each shared tile t in one of three ways: both dimensions
 *    are MERGED; or UNROLL or VECTOR (registers indexed by t); or THREAD with equal axis, size and inner;
 *  - an instruction inside a dimension that is not its own is simply repeated there (a load, a copy);
 *  - a staged value's region holds, for each logical of the load, the tiles not outside copy_store, in their
 *    order of significance; tiles outside it are more significant than those inside. Of a window they are
 * added up. */
struct bb_candidate {
    int64_t *size;      /* [n_tiles]; those of a main logical multiply to its span */
    bool *live;         /* [statements] */
    uint8_t *kind;      /* [n_dims] enum bb_dim_kind */
    uint8_t *code;      /* [n_dims] map_encoding */
    uint8_t *order;     /* [statements * statements] enum bb_order of (row, column) */
    bool *staged;       /* [n_values] */
    uint8_t *mem_space; /* [n_regions] */
    uint8_t *rank;      /* [n_region_dims] place in the layout: 0 = innermost (stride 1) */
    int64_t *pad;       /* [n_regions] elements added to the innermost extent */
    uint8_t *stages;    /* [n_regions] tiles: the copy runs stages - 1 iterations ahead; 0 is 1 */
    bool *rotated;      /* [n_regions] the parts of a row are rotated by its number */
    bool *direct;       /* [n_regions] the copy is in the background, without registers */
    uint8_t *cache;     /* [n_insts] enum bb_cache */
    bool *matrix;       /* [n_insts] a step that bundles of work-items take together */
};

struct bb_candidate *bb_candidate_new(const struct backbone *bb, struct arena *a);
/* Elements of a staged region along a coordinate, without padding. */
int64_t bb_staged_extent(const struct backbone *bb, const struct bb_candidate *c, uint32_t region,
                         unsigned coordinate);

#endif
