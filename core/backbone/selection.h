/* Steps that select an element: see selection.c. */
#ifndef THRESH_BACKBONE_SELECTION_H
#define THRESH_BACKBONE_SELECTION_H

#include "core/backbone/backbone.h"

/* Which of two tuples is better: by a scalar of theirs, of equal ones by another. */
struct bb_ranking {
    unsigned value, place;         /* parts of the accumulator; `place` is an int */
    enum scalar_op better, nearer; /* LT or GT: how the value, or the place, of the better one compares */
};

/* The logicals that a step reduces, the outer ones first. */
struct bb_reduced {
    const struct bb_logical *logicals; /* of the program */
    unsigned n;
    uint32_t number[BB_MAX_LOGICALS];
};

/* Whether a step selects this part of its accumulator by a ranking: the parts that it selects by one are
 * those of the best of all elements and the initial value, whatever the order of the steps. */
bool bb_selects(const struct bb_inst *step, const struct bb_reduced *reduced, unsigned part,
                struct bb_ranking *out);

/* Where a step keeps the first or the last of equal values, makes that explicit, so that it is a ranking.
 * Changes the nodes of the step. */
void bb_decide_ties(const struct bb_inst *init, struct bb_inst *step, const struct bb_reduced *reduced,
                    struct arena *a);

#endif
