/* How the parts of a split reduction are combined: see combine.c. */
#ifndef THRESH_BACKBONE_COMBINE_H
#define THRESH_BACKBONE_COMBINE_H

#include "core/backbone/selection.h"

/* Of each scalar of the accumulator. */
struct bb_combination {
    enum scalar_op op[BB_MAX_PARTS]; /* of two partial results: ADD, MULT, MIN, MAX or a bitwise operation;
                                        SELECT: it is that of the better one */
    double neutral[BB_MAX_PARTS]; /* op(neutral, x) is x: where all parts but one start; of SELECT all start
                                     from the initial value */
    struct bb_ranking ranking[BB_MAX_PARTS]; /* of SELECT */
    bool same_start;                         /* all may start from the initial value: it changes nothing */
};

/* Bytes of local memory for a flag of a group, with its alignment. */
enum { BB_FLAG_BYTES = 128 };

/* How the parts of a reduction are combined; false if its step is not known to allow it. */
bool bb_combination(const struct backbone *bb, uint32_t step, struct bb_combination *out);

/* Whether two scalars of the accumulator are combined together: they are one, or selected by one ranking. */
static inline bool bb_combined_together(const struct bb_combination *c, unsigned x, unsigned y)
{
    bool selected = c->op[x] == SCALAR_SELECT && c->op[y] == SCALAR_SELECT;
    return x == y || (selected && c->ranking[x].value == c->ranking[y].value);
}
/* Whether a scalar is the first of those that it is combined with. */
bool bb_combined_first(const struct bb_combination *c, unsigned part);
/* The most scalars of a type that are combined together. */
unsigned bb_combined_scalars(const struct bb_inst *step, const struct bb_combination *c,
                             enum scalar_type type);

/* Two partial results of a step combined, with bb_parts() scalars each, in double precision. */
void bb_combine(const struct bb_inst *step, const struct bb_combination *c, const double *x, const double *y,
                double *out);

/* Who may divide a reduction: nobody; the work-items of a group of a GPU; these and groups of a GPU; these
 * and groups of any device. */
enum bb_split { BB_SPLIT_NONE, BB_SPLIT_ITEMS, BB_SPLIT_GPU_GROUPS, BB_SPLIT_GROUPS };

/* Sets bb_logical.split of all logicals. Of several reductions over one, that with the fewest results
 * decides. */
void bb_mark_split(struct backbone *bb);
/* Whether work-items of a device may divide the logical's reduction. */
bool bb_may_split(const struct bb_logical *l, bool gpu);
/* Whether groups of a device may, if its compiler has fences between them. */
bool bb_groups_may_split(const struct bb_logical *l, bool gpu);
/* The most results of a reduction that work-items of a device may divide; 0: there is none. */
double bb_split_results(const struct backbone *bb, bool gpu);

#endif
