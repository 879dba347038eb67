/* How the parts of a split reduction are combined: see combine.c. */
#ifndef THRESH_BACKBONE_COMBINE_H
#define THRESH_BACKBONE_COMBINE_H

#include "core/backbone/backbone.h"

/* Of each scalar of the accumulator. */
struct bb_combination {
    enum scalar_op op[BB_MAX_PARTS]; /* of two partial results: ADD, MULT, MIN, MAX or a bitwise operation */
    double neutral[BB_MAX_PARTS];    /* op(neutral, x) is x: where all parts but one start */
    bool same_start;                 /* all may start from the initial value: it changes nothing */
};

/* Bytes of local memory for a flag of a group, with its alignment. */
enum { BB_FLAG_BYTES = 128 };

/* How the parts of a reduction are combined; false if its step is not known to allow it. */
bool bb_combination(const struct backbone *bb, uint32_t step, struct bb_combination *out);

/* The most results of a reduction that work-items may divide; 0: there is none. */
double bb_split_results(const struct backbone *bb);

/* Marks the logicals that work-items of a group, or groups, may divide among them (bb_logical.split). */
void bb_mark_split(struct backbone *bb);

#endif
