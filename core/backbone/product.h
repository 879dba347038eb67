/* What plain implementations in tiles have in common (tiled.c, matrix.c, panel.c, divided.c, layer.c,
 * strips.c, transposed.c, rows.c): the product in a program, and decisions about instructions by logical and
 * level:
 *
 *     C[m][n] = sum over k of A[m][k] * B[k][n]    product_find(bb, &t.p)
 *     dim_kind(mad.k.1)=UNROLL                     tiler_kind(&t, t.p.step, t.p.k, 1, GPU_DIM_KIND_UNROLL)
 *     size(m.1)=2  size(m.2)=16  size(m.3)=1       tiler_sizes(&t, t.p.m, 1, (const int64_t[]){2, 16, 0})
 */
#ifndef THRESH_BACKBONE_PRODUCT_H
#define THRESH_BACKBONE_PRODUCT_H

#include "core/backbone/backbone.h"

/* Work-items of a group along m and n; steps along k that are staged together; results of a work-item that
 * are neighbours along m. */
struct shape {
    int64_t m, n, k, run;
};

/* An array that is multiplied. */
struct side {
    uint32_t value, own; /* own: m or n */
    int64_t tile;        /* elements along `own` */
};

struct product {
    uint32_t step, init, store;
    uint32_t m, n, k, batch; /* batch: of independent products; BB_NONE: there is one */
    struct side a, b;        /* of m and of n */
};

struct tiler {
    const struct backbone *bb;
    const struct space *space;
    const struct bb_device *device;
    struct arena *arena;
    struct product p;
    struct shape shape;
    struct bb_decisions decisions;
};

/* The only reduction of the program, if it runs over pairs of elements of two arrays. */
bool product_find(const struct backbone *bb, struct product *p);
/* The only reduction of the program; false: there is none, or several, or a scan. */
bool product_only_step(const struct backbone *bb, uint32_t *step);
/* The logical that a step reduces; BB_NONE: there are several. */
uint32_t product_reduced(const struct backbone *bb, const struct bb_inst *step);
/* BB_NONE: there is none, or several. */
uint32_t product_only_store(const struct backbone *bb);
/* Whether neighbours along the logical are neighbours in the array that the instruction reads. */
bool product_is_contiguous(const struct backbone *bb, uint32_t inst, uint32_t logical);
/* Whether vectors along the logical are aligned in each row of that array: of 1008 elements, not of 1009. */
bool product_has_vectors(const struct backbone *bb, uint32_t inst, uint32_t logical, int64_t width);
/* Whether the elements of an array are apart from each other: each costs a transaction. */
bool product_is_apart(const struct backbone *bb, const struct product *p, const struct side *s);

/* Whether a load has the logical in a window: what neighbours along it read overlaps. */
bool product_in_window(const struct backbone *bb, uint32_t logical);
/* The largest divisor of `of` up to `most`; 0: none from `least` on. */
int64_t tiler_divisor(int64_t of, int64_t most, int64_t least);

/* ---- decisions ---- */

void tiler_decide(struct tiler *t, struct space_action decision);
/* The statement of the instruction's dimension of that logical and level. */
uint32_t tiler_statement(const struct tiler *t, uint32_t inst, uint32_t logical, unsigned level);
void tiler_kind(struct tiler *t, uint32_t inst, uint32_t logical, unsigned level, enum gpu_dim_kind kind);
void tiler_axis(struct tiler *t, uint32_t inst, uint32_t logical, unsigned level, enum gpu_map_encoding axis);
void tiler_order(struct tiler *t, uint32_t first, enum gpu_order order, uint32_t second);
/* Sizes of the levels from `from` on: `sizes` ends with 0, and those after it are 1. */
void tiler_sizes(struct tiler *t, uint32_t logical, unsigned from, const int64_t *sizes);
/* Work-items of a group, or groups, share the sums over a logical that may be split, by that level;
 * BB_MAX_LEVELS: they do not. */
void tiler_split(struct tiler *t, uint32_t logical, unsigned level, enum gpu_split who);
/* The least span that blocks of `tile` cover, of at least two; 0: there is none. */
int64_t tiler_span(const struct bb_logical *l, int64_t tile);
/* That span; false: there is none. */
bool tiler_decide_span(struct tiler *t, uint32_t logical, int64_t tile);
/* The spans of the product's dimensions, and of its batch, are their extents. */
void tiler_keep_extents(struct tiler *t);
/* The load of an operand: its own level, and its loop over k, level 0, is that of the step. */
void tiler_load(struct tiler *t, const struct side *s, unsigned own_level, enum gpu_dim_kind kind);
/* The results of a work-item in registers: rows of vectors. */
void tiler_results(struct tiler *t, uint32_t inst, unsigned m_level, unsigned n_level);
bool tiler_has_width(const struct tiler *t, int64_t width); /* the device has vectors of so many; 1: always */

/* What a staged value has of one logical of its load. */
struct tiler_coordinate {
    uint32_t term; /* of the region: the object of `outside` and `layout_order` */
    uint32_t copy; /* logical of the copy */
};
/* That coordinate, which is one logical and no window; so many of its levels, from the most significant on,
 * are decided to be around the copy. */
struct tiler_coordinate tiler_coordinate(struct tiler *t, uint32_t value, uint32_t logical, unsigned outside);

/* How a copy goes over its tile: `width` elements at once along the logical `along`, of n_along; `across` is
 * the other one. Logicals of the copy. */
struct tiler_walk {
    uint32_t along, across;
    int64_t n_along, n_across, width;
    bool swapped; /* neighbouring work-items across, not along */
    bool kept;    /* the tile is stored along `along`, too: vectors */
};
/* The copy of a staged value by so many work-items: a vector for each, or several where there are fewer
 * work-items. false: the levels or the work-items do not fit. */
bool tiler_walk(struct tiler *t, const struct bb_value *v, int64_t items, const struct tiler_walk *w);

#endif
