/* The files of a result that is a sequence of kernels:
 *
 *     best.cl     one OpenCL text, a kernel for each part: thresh_kernel_1, ...
 *     best.json   the whole program, its cuts, the steps, and of each part what the best.json of a single
 * kernel has (format 3) host.c      a complete program that makes the temporaries and runs the kernels in
 * order
 *
 * Reading cuts the program again: the parts in the file must be those that come of it. */
#ifndef THRESH_SEQUENCE_FILE_H
#define THRESH_SEQUENCE_FILE_H

#include "coordinator/best.h"
#include "coordinator/sequence/run.h"

/* Writes the three files into `dir`, which is created if it is missing. false after an error; then no file
 * has changed. */
bool sequence_write(const char *dir, const struct sequence_search *s, const struct sequence_report *r,
                    struct diag *d);

/* A sequence that was read. It owns its pointers. */
struct sequence_file {
    struct arena *arena; /* of the program and the sequence */
    struct source source;
    struct lift_program *program; /* the whole, bound */
    const char *sizes, *cuts;     /* "y,z"; "": none */
    unsigned named; /* the cuts are those of the program with names for these: enum lift_cut_named, by or */
    const struct lift_sequence *sequence;
    struct device device;
    struct best_file *parts;                              /* [parts of the sequence] */
    unsigned n_parts;                                     /* of them that were read */
    struct figure figure, naive, naive_parts, one_kernel; /* naive: of the program as one kernel; those that
                                                             are not known are none */
    char *data; /* that it was measured on: given_text(); NULL: generated */
};
/* Reads the object of a best.json that best_is_sequence(). false after errors, as in best_read(). The caller
 * clears it in either case. */
bool sequence_read(json_t *o, struct sequence_file *out, struct diag *d);
void sequence_file_clear(struct sequence_file *f);

/* The kernels of what was read, as one launch. false after an error: a part cannot be lowered. */
bool sequence_file_chain(const struct sequence_file *f, struct sequence_chain *out, struct diag *d);
/* The same of the parts' naive implementations. */
bool sequence_file_naive(const struct sequence_file *f, struct sequence_chain *out, struct diag *d);
/* A step as {"part": 1, "reads": ["A", "x"], "writes": ["y"]}; a new reference. */
json_t *sequence_step_json(const struct lift_program *p, const struct lift_sequence *s, unsigned step);

#endif
