/* Values that are computed, and may be staged. In
 *
 *     let t = map(fun row -> map(fun column -> dot(row, column), transpose(B)), A)
 *     output map(fun row -> map(fun column -> dot(row, column), transpose(C)), t)
 *
 * each element t[m][l] is read by N products. So lowering makes a TAKE of it, and the value t: not staged,
 * the TAKE is the result of the instructions that compute t where it is read (direct: A.load, B.load, init,
 * mad), in registers; staged, a copy of these computes a tile of t in local or global memory, or in registers
 * of a work-item, which the TAKE reads:
 *
 *     t.copy.A.load  t.copy.B.load  t.copy.init  t.copy.mad  t.copy.store
 *
 * The same holds if t has no name, as in map(..., map(...)): it is called t, too. A value is worth that if it
 * is a reduction, is made of several elements, or takes long to compute, and if several of its readers'
 * iterations share it: they have a logical that it lacks, which no guard selects it by, or windows of it
 * overlap, or several of its elements are read at constant places of these. A value inside another one is not
 * staged twice: of both the inner one is taken.
 *
 * Several TAKEs may read one region, of an array that is read at several logicals:
 *
 *     let s = map(fun k -> dot(q, k), K) in
 *     let m = reduce(max, lowest, s) in                s.take(i, j)
 *     sum(map(fun x -> exp(x - m), s))                 s_2.take(i, j_2)
 *
 * s_2 is a value that shares the region and the copy of s, its *owner*. Where they differ, j and j_2, all is
 * staged. TAKEs at constant places of windows share, too (spots.h). Internal to core/backbone. */
#ifndef THRESH_BACKBONE_STORED_H
#define THRESH_BACKBONE_STORED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct lift_expr;
struct lift_param;
struct lift_program;
struct lowering;
struct tree;

/* An array whose elements become TAKEs: the value of an expression. */
struct stored_array {
    const struct lift_expr *value;
    const struct lift_param *let; /* names it; NULL: a pattern reads it, without a name */
};

struct stored_arrays {
    size_t n, cap;
    struct stored_array *items;
};

/* Whether an expression can be computed apart from the instruction that reads it: it reads no accumulator. */
bool stored_stands_alone(const struct tree *t);
/* The array that is the value of an expression; NULL: it is none of them. */
const struct stored_array *stored_find(const struct stored_arrays *arrays, const struct lift_expr *value);
/* Those that the finished lowering of a program with TAKEs of more arrays shows to be worth it, after those
 * that were chosen before. In the arena of the lowering. */
struct stored_arrays stored_choose(const struct lowering *l, const struct stored_arrays *before);
/* What makes the value of a TAKE, ascending: all instructions that it needs, [n_insts] at most. Returns their
 * number; 0: they cannot be copied (scans, indices by data, arrays that are updated, other TAKEs). */
unsigned stored_makers(const struct lowering *l, uint32_t take, uint32_t *out);
/* Whether two TAKEs read one array, and the same elements if logicals of the first are replaced: as[l] stands
 * for logical l. */
bool stored_shares(const struct lowering *l, uint32_t first, uint32_t other, uint32_t *as);
/* Those of the makers that nothing else needs; returns their number. */
unsigned stored_direct(const struct lowering *l, uint32_t take, const uint32_t *makers, unsigned n,
                       uint32_t *out);

/* ---- stored_arrays.c ---- */

/* Adds the arrays of a program that may be worth it, whatever reads them: those that a `let` names, or those
 * without a name. */
void stored_add_arrays(struct stored_arrays *to, const struct lift_program *p, bool named, struct arena *a);

#endif
