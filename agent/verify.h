/* What a kernel is run on and compared with: the task. Its arrays are shared memory, made before the runners
 * are forked, so that every runner sees the same inputs and, once it is made, the same reference. */
#ifndef THRESH_AGENT_VERIFY_H
#define THRESH_AGENT_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/lift/scalar.h"

struct diag;
struct lift_program;

/* The two input sets: odd integers in {-3, -1, 1, 3} for the exact pass, uniform in [-1, 1] for measuring;
 * integers are odd in both, and a bool is 0 or 1. */
enum verify_set { VERIFY_EXACT, VERIFY_TIMING, VERIFY_SETS };

struct verify_buffer {
    enum scalar_type type;
    int64_t elements;
    size_t bytes;
    bool output;
    void *data[VERIFY_SETS]; /* an input's values, an output's reference; shared memory */
};

struct verify_task {
    unsigned n_buffers;
    struct verify_buffer *buffers;
};

/* How close an output must be to the reference. Integer outputs are always compared bit for bit. */
struct verify_tolerance {
    bool exact;      /* bit for bit */
    double absolute; /* else |y - reference| <= absolute; an infinity or NaN matches the same alone */
};

/* Copies the shape (type, elements, output) of n buffers, allocates the arrays and fills the inputs from the
 * seed. NULL after adding an error. */
struct verify_task *verify_task_new(const struct verify_buffer *shape, unsigned n, uint64_t seed,
                                    struct diag *d);
void verify_task_free(struct verify_task *t);

/* Element i of an array of the given type as a number, and the other way (rounded to nearest). */
double verify_get(enum scalar_type type, const void *data, int64_t i);
void verify_put(enum scalar_type type, void *data, int64_t i, double value);

/* First element of `got` that differs from the reference by more than the tolerance allows, or -1. */
int64_t verify_compare(const struct verify_buffer *b, enum verify_set set, const void *got,
                       struct verify_tolerance tolerance);

/* Whether interpreting every output stays within about a minute. */
bool verify_interpretable(const struct verify_task *t, const struct lift_program *p);
/* Fills the reference with the interpreter's results. input_of[b] is the program's input of buffer b. */
void verify_interpret(struct verify_task *t, const unsigned *input_of, const struct lift_program *p);
/* Compares the reference with the interpreter at the corners, up to 1,000 random outputs and up to 1,000 of
 * those that are infinite or no number, and derives the tolerance of each set. false after adding an error.
 */
bool verify_reference(const struct verify_task *t, const unsigned *input_of, const struct lift_program *p,
                      uint64_t seed, struct verify_tolerance out[VERIFY_SETS], struct diag *d);

#endif
