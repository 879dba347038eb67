/* A search of a program that may be cut, from the plan to the winning variant:
 *
 *     sequence_run()       every program a little; all variants as a whole, in rounds; the winner to the end
 *     report.variant       the winner: a sequence, or the program as one kernel, whose search the caller ends
 */
#ifndef THRESH_SEQUENCE_RUN_H
#define THRESH_SEQUENCE_RUN_H

#include "coordinator/sequence/chain.h"
#include "coordinator/sequence/search.h"
#include "coordinator/sequence/whole.h"

enum { SEQUENCE_CONTENDERS = 4 };

/* Of a sequence, after sequence_run(): the contenders of the final rounds. */
enum sequence_who {
    SEQUENCE_BEST,        /* the sequence */
    SEQUENCE_NAIVE_PARTS, /* the same of naive kernels */
    SEQUENCE_NAIVE,       /* the program as one naive kernel; not known where it was not tried */
    SEQUENCE_ONE          /* the best single kernel that the first turn found; the same */
};

struct sequence_report {
    const struct sequence_variant *variant;
    struct sequence_contender contenders[SEQUENCE_CONTENDERS]; /* by enum sequence_who; of a sequence */
    struct sequence_chain best, naive_parts;                   /* what two of them run */
    struct figure_ratio speedup; /* of the best over the naive program, or over naive parts where that is not
                                    known */
    struct verify_doubt doubt;   /* outputs of the whole that cannot be verified */
    double elapsed_s;
};

/* Searches. The winner's programs are in s->found with their results if it is a sequence; else it is for the
 * caller to search its one program on (sequence_program_options()). false after an error or an interrupt. The
 * caller clears the report in either case. */
bool sequence_run(struct sequence_search *s, struct sequence_report *r, struct diag *d);
void sequence_report_clear(struct sequence_report *r);

#endif
