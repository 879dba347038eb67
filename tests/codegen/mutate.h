/* Mutants of loop programs: what a faulty code generator might write.
 *
 * A mutant is one change at one place of a loop program (core/codegen/program.h), for example of the matrix
 * product "the loop mad.k.1 ends one iteration early". Since both the interpreter of the loop program and the
 * OpenCL text follow the program, a mutant can be run by either. */
#ifndef THRESH_TESTS_CODEGEN_MUTATE_H
#define THRESH_TESTS_CODEGEN_MUTATE_H

#include "core/codegen/program.h"

enum mutation {
    MUTATE_SHORT,    /* a dimension, or a range of work-items or groups, ends one early */
    MUTATE_LONG,     /* a loop goes one iteration too far */
    MUTATE_START,    /* a loop starts at 1 */
    MUTATE_INITIAL,  /* another initial value of a reduction */
    MUTATE_CONSTANT, /* another constant in an expression */
    MUTATE_LANE,     /* an access takes the lanes of a vector in another order, or one of them for all */
    MUTATE_INDEX,    /* an access is one element off */
    MUTATE_STRIDE,   /* a term of an access has another coefficient, or is left out */
    MUTATE_STORE,    /* a store, or the store of a copy, is left out */
    MUTATE_ONCE,     /* the same in one iteration, lane or work-item of a dimension around it */
    MUTATE_OPERAND,  /* an expression reads another operand */
    MUTATE_GUARD,    /* a guard of what was rounded up is left out, or is one off */
    MUTATE_KINDS
};

struct mutant {
    enum mutation kind;
    uint32_t at;   /* id of a node, or an instruction */
    uint32_t part; /* node of an access; term; node of the expression; guard */
    int how;       /* one of several changes, or the iteration that is left out */
};

const char *mutation_name(enum mutation kind);
/* All mutants of the program, in a malloc'd list. */
unsigned mutants_of(const struct cg_program *p, struct mutant **out);
/* Changes the program, which mutants_of() was asked about or which was built alike; to be done once. */
void mutate(struct cg_program *p, const struct mutant *m);
/* For messages: "short mad.k.1". */
void mutant_print(const struct cg_program *p, const struct mutant *m, struct strbuf *out);

#endif
