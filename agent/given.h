/* The user's data: NumPy files that take the place of generated inputs, expected results, a tolerance.
 *
 *     --input x=x.npy --output-reference z.npy --tolerance 1e-4
 *     --input x=x.npy --output-reference mean=m.npy --output-reference variance=v.npy
 *
 *     struct given *data = given_load(&files, program, d);      read once, converted, checked
 *     given_input(data, 0)                                     the elements of x as the program has them
 *     given_text(&files, data)                                 how an agent is told: paths and a hash
 *
 * A file must have the shape of its input, and numbers that the input's type has: nothing is rounded. An
 * expected result is rounded to the type of the output. */
#ifndef THRESH_AGENT_GIVEN_H
#define THRESH_AGENT_GIVEN_H

#include <stdbool.h>
#include <stdint.h>

struct diag;
struct lift_program;
struct lift_type;
struct strbuf;

enum { GIVEN_MOST_INPUTS = 64, GIVEN_MOST_OUTPUTS = 16 };

struct given_file {
    const char *name; /* of the input or output, or of the array of a tuple's component: x_0. NULL: of the
                         only output */
    const char *path;
};

/* What the user names. Strings are borrowed. */
struct given_files {
    unsigned n_inputs;
    struct given_file inputs[GIVEN_MOST_INPUTS];
    unsigned n_references; /* the expected results of these inputs, of some outputs or all */
    struct given_file references[GIVEN_MOST_OUTPUTS];
    bool has_tolerance;
    double tolerance; /* an output y may differ from the reference r by tolerance * max(1, |r|) */
};

/* Whether the user names anything. */
bool given_any(const struct given_files *f);
/* Checks names that are known without the files, of a bound program: inputs and outputs that it does not have
 * or that are named twice, an expected result without a name of a program with several outputs, or although
 * some input is not given. false after an error. */
bool given_check(const struct given_files *f, const struct lift_program *p, struct diag *d);

/* The same, and looks at the headers of the files, beside a bound program. */
bool given_look(const struct given_files *f, const struct lift_program *p, struct diag *d);

/* The content of the files. It needs neither `files` nor the program any more. */
struct given;
/* Reads the files of a bound program. The arrays are memory that child processes share. NULL after an error,
 * which shows a file's header beside what was expected. */
struct given *given_load(const struct given_files *f, const struct lift_program *p, struct diag *d);
void given_free(struct given *data); /* NULL is allowed */
/* The elements of the program's array i in C order, in its type; NULL: it is generated. */
const void *given_input(const struct given *data, unsigned i);
/* The expected result of the program's array i in its type; NULL: there is none. */
const void *given_reference(const struct given *data, unsigned i);
/* Its file, for messages. */
const char *given_reference_path(const struct given *data, unsigned i);
/* The stated tolerance; negative: none. */
double given_tolerance(const struct given *data);
/* Of all elements that were read. */
uint64_t given_hash(const struct given *data);

/* The files as one text, for the wire and for result files: absolute paths, the tolerance, and the hash of
 * the content. Malloc'd; NULL after an error: a path that cannot be resolved. */
char *given_text(const struct given_files *f, const struct given *data, struct diag *d);
/* Reads the text of a peer or a file and loads what it names; the content must have its hash. NULL after an
 * error. */
struct given *given_load_text(const char *text, const struct lift_program *p, struct diag *d);

#endif
