/* The points of a search's plot: every measured time, and the best until then as steps. */
#ifndef THRESH_REPORT_CURVE_H
#define THRESH_REPORT_CURVE_H

#include "coordinator/report/data.h"
#include "coordinator/report/svg.h"

struct curve {
    struct svg_point *dots, *steps;          /* times of the search in ns */
    const struct report_time **improvements; /* [n_steps], borrowed from the search */
    size_t n_dots, n_steps;
    double x_high; /* of the axis: evaluations or seconds, above 0 */
};

/* over_seconds: x is the time since the start of the run, else the number of evaluations. Times of the naive
 * and the plain implementations are at 0 evaluations. */
struct curve curve_of(const struct report_search *s, bool over_seconds);
void curve_clear(struct curve *c);

#endif
