/* Cutting a program into a sequence of programs, which run as kernels one after the other.
 *
 *     let y = map(fun row -> dot(row, x), A)                   step 1   input A, x   output y = map(...)
 *     output map(fun column -> dot(column, y), transpose(A))   step 2   input A, y   output map(...)
 *
 * In one kernel each reader of y computes it again; cut at y, the first part stores it in a *temporary*,
 * which is an input of the second. Every part is an ordinary program with a text of its own.
 *
 * A *cut* is a value that mentions nothing but inputs, sizes and other such values: what a `let` names, at
 * the top or inside an expression, or an array without a name whose elements are reductions or made of
 * windows and which a pattern with a function reads (the inner product of A B C, a step of `iterate`).
 * Outputs of different dimensions are always apart. */
#ifndef THRESH_LIFT_CUT_H
#define THRESH_LIFT_CUT_H

#include "core/lift/lift.h"

/* A value that may become a temporary. */
struct lift_cut {
    const char *name; /* of the `let`, or one that nothing in the program has: t, t_2, ... */
    struct source_pos at;
    const struct lift_type *type;  /* arrays of one shape, or a scalar, which is stored as an array of one */
    bool computes;                 /* not only a view of inputs: worth a kernel */
    const struct lift_expr *value; /* of the `let`, or the value without a name */
    const struct lift_param *let;  /* NULL: it has no name */
};
struct lift_cuts {
    unsigned n;
    struct lift_cut *items; /* a value comes after those that it mentions */
};

/* The cuts of a bound program; they live in the arena and borrow the program. */
struct lift_cuts lift_cut_find(const struct lift_program *p, struct arena *a);
/* Sets chosen[i] of the cuts that a list such as "y,z" names. false after errors: a name that the program
 * does not have, or of what is no cut, with its place. */
bool lift_cut_choose(const struct lift_program *p, const struct lift_cuts *cuts, const char *names,
                     bool *chosen, struct diag *d);
/* How many parts there are without any cut: more than one where outputs have different dimensions. */
unsigned lift_cut_forced(const struct lift_program *p);

/* Values that lift_cut_name() gives names. */
enum lift_cut_named {
    LIFT_CUT_SCANS = 1, /* scans; one that is a `let` at the top already, or the one output, stays */
    LIFT_CUT_LETS = 2   /* arrays that take operations, and that a `let` in the function of a map names */
};

/* The same program with values of its functions, wherever that is possible, as `let`s of their own at the
 * top, where they are cuts: a kernel then stores the value, and the next one reads it at any index. Those of
 * all rows of a map become one array. which: of enum lift_cut_named, by or. Bound, in the arena; its arrays
 * are those of p. NULL: there is none to be named. */
struct lift_program *lift_cut_name(const struct lift_program *p, unsigned which, struct arena *a);

/* A program of the sequence. */
struct lift_part {
    const char *name; /* of what it computes: of a temporary or of the first output; "out": it has none */
    const char *path; /* what messages and stores call it: "atax.y.lift" of "atax.lift" */
    const char *text;
    struct lift_program *program; /* of the text, bound to the sizes of the whole */
};
/* A launch of a part. Parts that are the same but for their names are one part, with a step each. */
struct lift_step {
    unsigned part;
    unsigned *buffers; /* [arrays of the part's program] which buffer of the sequence each is */
};
struct lift_temporary {
    const char *name;             /* of the cut; of a tuple's component "y_0" */
    const struct lift_type *type; /* scalars in arrays */
};
/* Buffers are the arrays of the whole program, by their numbers, and after them the temporaries. */
struct lift_sequence {
    unsigned n_parts, n_steps, n_temporaries;
    struct lift_part *parts;
    struct lift_step *steps; /* in the order in which they run */
    struct lift_temporary *temporaries;
};

/* The sequence of a program that is cut at the chosen cuts, in the arena. NULL after adding an error: an
 * output that is written over an input which a later step reads, or a part that is no program of its own. */
struct lift_sequence *lift_cut(const struct lift_program *p, const struct lift_cuts *cuts, const bool *chosen,
                               struct arena *a, struct diag *d);
/* The name of a buffer: of the whole's array, or of the temporary. */
const char *lift_buffer_name(const struct lift_program *p, const struct lift_sequence *s, unsigned buffer);

#endif
