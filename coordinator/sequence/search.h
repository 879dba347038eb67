/* Searching the programs of a plan, each as `thresh tune` searches a program (coordinator/tune.h), in two
 * turns:
 *
 *     sequence_search_first()    each program gets a small share of the budget
 *     ... a variant is chosen (whole.h) ...
 *     sequence_search_rest()     its programs share what is left, in proportion to their times
 *
 * The second turn resumes the runs of the first from their store, which is a file of our own where the user
 * has none. */
#ifndef THRESH_SEQUENCE_SEARCH_H
#define THRESH_SEQUENCE_SEARCH_H

#include "coordinator/sequence/plan.h"
#include "coordinator/tune.h"
#include "core/pipeline/code.h"

/* What is known of a program. */
struct sequence_found {
    bool known;                       /* it was searched, and has a valid implementation */
    double ns;                        /* of the best one */
    struct pipeline_code best, naive; /* naive without a text: the space has none */
    struct figure figure;             /* of the best one, after the second turn */
    json_t *result;                   /* its best.json, after the second turn */
    uint64_t evaluations, ok, failed, cut;
};

struct sequence_search {
    const struct sequence_plan *plan;
    const struct tune_options *options; /* of the whole; borrowed */
    struct given *data;                 /* the user's */
    char *store;                        /* file */
    bool own_store;                     /* to be removed */
    struct sequence_found *found;       /* [programs] */
    struct device device;               /* on which they were measured */
    bool interrupted;
};

/* Loads the user's data. Borrows the plan and the options until sequence_search_close(), which follows in any
 * case. false after an error: of the data, or no file for a store. */
bool sequence_search_open(struct sequence_search *s, const struct sequence_plan *plan,
                          const struct tune_options *options, struct diag *d);
/* Searches every program of the variants that are left in the plan. false after an error or an interrupt. */
bool sequence_search_first(struct sequence_search *s, struct diag *d);
/* Searches the programs of a variant to the end, with their final rounds. false after an error or an
 * interrupt. */
bool sequence_search_rest(struct sequence_search *s, const struct sequence_variant *v, struct diag *d);
/* The options of the search of one program: of a variant that is no sequence, to go on with its run. */
struct tune_options sequence_program_options(const struct sequence_search *s, unsigned program);
/* The share of the budget that is left for one program once the first turn is over, with its own of it. */
double sequence_share_left(const struct sequence_search *s, unsigned program);
/* That share of so many evaluations, rounded down, at least one; 0 of 0: no limit. */
uint64_t sequence_share(uint64_t evaluations, double share);
/* Evaluations of all programs. */
uint64_t sequence_evaluations(const struct sequence_search *s);
void sequence_search_close(struct sequence_search *s); /* removes a store of our own */

#endif
