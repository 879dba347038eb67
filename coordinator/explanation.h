/* What is to be said about one implementation: its code, its loops, what its decisions mean, its lower bound
 * with the terms, and how it compares with the naive and the second best one. `thresh explain` prints it, the
 * page of a store shows it.
 *
 *     struct perfmodel *m = explanation_model(NULL, best.problem, &best.device, &notes, d);
 *     if (explanation_make(&e, &best, m, d)) ... e.loops.text, explanation_per_ns(&e, e.work.bytes) ...
 *     explanation_clear(&e);  */
#ifndef THRESH_COORDINATOR_EXPLANATION_H
#define THRESH_COORDINATOR_EXPLANATION_H

#include <jansson.h>

#include "coordinator/best.h"
#include "coordinator/work.h"
#include "core/base/strbuf.h"
#include "core/pipeline/code.h"
#include "perfmodel/bound.h"

struct explanation {
    const struct best_file *best; /* borrowed */
    struct pipeline_code code;
    struct strbuf loops;
    struct work work;                 /* of the program */
    double bound_ns, bound_of_all_ns; /* of this implementation; of all of the program */
    struct perfmodel_reason reason;   /* of the first */
    struct strbuf bound, limit;       /* the bound's terms; the limiting resource, on one line */
    json_t *decisions;                /* solution_actions_json() */
    json_t *portrait;                 /* portrait_json() */
    json_t *rival;                    /* rival_json() */
};

/* The lower bounds of a problem on a device, by the description in the file, or (NULL) by the one that is
 * found by the device's name. Appends lines for people to `notes`: what the description lacks, values of it
 * that are left out. NULL after an error. */
struct perfmodel *explanation_model(const char *description, const struct problem *p,
                                    const struct device *dev, struct strbuf *notes, struct diag *d);
/* Explains an implementation whose best_file stays as long. false after an error: it cannot be lowered.
 * Release it with explanation_clear() in both cases. */
bool explanation_make(struct explanation *out, const struct best_file *b, struct perfmodel *m,
                      struct diag *d);
void explanation_clear(struct explanation *e);

/* `x` divided by the time in ns; 0: one of them is not known. */
double explanation_per_ns(const struct explanation *e, double x);
/* The naive implementation's time over this one's; 0: not known, or not measured in the same way. */
double explanation_naive_ratio(const struct explanation *e);
/* Appends "23.4 GFLOP/s, 1.1 GB/s"; nothing if the time is not known. */
void explanation_print_rate(const struct explanation *e, struct strbuf *out);
/* Appends "12 us, 43 % of the time; bound of this implementation 20 us". */
void explanation_print_bound(const struct explanation *e, struct strbuf *out);

#endif
