/* What a search of a program that may be cut (core/lift/cut.h) tries: its variants, and the programs that
 * they consist of.
 *
 *     variant "one kernel"   programs 1             atax.lift
 *     variant "cut at y"     programs 2, 3          atax.y.lift, atax.out.lift
 *
 * The times of kernels that run one after the other add up, so that each program is searched on its own; one
 * that several variants have is searched once. */
#ifndef THRESH_SEQUENCE_PLAN_H
#define THRESH_SEQUENCE_PLAN_H

#include "core/backbone/backbone.h"
#include "core/lift/cut.h"

struct sequence_program {
    const char *path, *text;
    const struct lift_program *program; /* bound */
    double cost; /* operations of its naive implementation, about: repeated ones count each time; 0 where
                    nothing is compared */
};

struct sequence_variant {
    const char *label;                    /* "one kernel", "cut at y" */
    const char *cuts;                     /* "y,z"; "": none */
    const struct lift_sequence *sequence; /* NULL: the program as it is */
    unsigned n_parts;
    unsigned *programs; /* [n_parts] of the plan; of the parts of the sequence, or of the one */
    double cost;        /* of all steps */
};

struct sequence_plan {
    struct arena *arena; /* owns all of it */
    struct source source;
    struct lift_program *program; /* the whole, bound; with names for what is `named` */
    unsigned named;               /* enum lift_cut_named (core/lift/cut.h), by or */
    struct lift_program *unnamed; /* that of the source */
    unsigned n_programs, n_variants;
    struct sequence_program *programs;
    struct sequence_variant *variants;
    unsigned n_notes;
    const char **notes; /* variants that are left out, and why */
};

/* Plans for `cut`: "auto" has the program as one kernel, if it can be one, with all cuts, and with each alone
 * where they are few, else with every second one; variants that are hopeless are left out, which a note says.
 * "none" and "all" are one variant, as are the names of cuts, "y,z". Arrays that a `let` within a map names
 * are cuts, too; with "auto" only all at once, and where a kernel without them would compute them again and
 * again. A program with scans that cannot be one kernel, as it reads their elements in another order, is cut
 * at all of them, named or not. NULL after errors: those of the program, names that are no cuts, or parts
 * that cannot be kernels. */
struct sequence_plan *sequence_plan_new(const char *path, const char *text, const char *sizes,
                                        const char *cut, const struct bb_options *lowering, struct diag *d);
void sequence_plan_free(struct sequence_plan *p); /* NULL is allowed */
/* Whether nothing is to be tried but the program as one kernel. */
bool sequence_plan_is_single(const struct sequence_plan *p);
/* How often a variant runs its part: in so many steps. */
unsigned sequence_steps_of(const struct sequence_variant *v, unsigned part);

#endif
