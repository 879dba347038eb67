/* The Lift interpreter's view of a task: what an output should be, and how far from it a correct kernel may
 * be. Private to agent/verify*.c. */
#ifndef THRESH_AGENT_VERIFY_INTERPRET_H
#define THRESH_AGENT_VERIFY_INTERPRET_H

#include "agent/verify.h"
#include "core/lift/lift.h"

/* In the place of a set: the largest magnitude of an input's exact set for every element. */
enum { VERIFY_LARGEST = VERIFY_MOST_SETS };

/* The program's inputs of a set, read where they are; released by verify_inputs_free(). */
struct verify_inputs {
    const struct verify_task *t;
    unsigned set;
    double *largest; /* VERIFY_LARGEST: [n_buffers] */
};
struct verify_inputs verify_inputs_of(const struct verify_task *t, unsigned set);
void verify_inputs_free(struct verify_inputs *in);
/* Element i of an output's buffer by the interpreter. */
struct lift_value_bound verify_element(const struct verify_inputs *in, unsigned buffer, int64_t i);
/* The same for the n elements at[], on several threads if they are worth it; work: operations of one. */
void verify_elements(const struct verify_inputs *in, unsigned buffer, double work, const int64_t *at,
                     unsigned n, struct lift_value_bound *out);
/* Its parts: what is remembered of an element (verify_known.h); its value, which any thread may ask for. */
bool verify_recall_element(const struct verify_inputs *in, unsigned buffer, int64_t i,
                           struct lift_value_bound *out);
void verify_note_element(const struct verify_inputs *in, unsigned buffer, int64_t i,
                         struct lift_value_bound v);
struct lift_value_bound verify_interpret_element(const struct verify_inputs *in, unsigned buffer, int64_t i);

/* An output's elements of a set that are infinite or NaN. */
int64_t verify_count_not_finite(const struct verify_buffer *b, unsigned set);

/* A value as the type holds it. */
double verify_rounded(enum scalar_type type, double value);
/* What a result of n rounding steps and absolute terms s may be off by. */
double verify_error(enum scalar_type type, double n, double s);
/* What of that is due to small results alone, which a device may replace with zero. */
double verify_error_floor(enum scalar_type type, double n);
/* Whether `got` is right for an output that the interpreter comes to v for. Where an intermediate result
 * overflows, an output that is not finite is right, too. */
bool verify_agrees(const struct verify_buffer *b, double got, struct lift_value_bound v);

/* Operations that it takes to interpret one element of an output, the larger of the first and the last,
 * plus 1. */
double verify_work(const struct verify_task *t, unsigned buffer);
/* How many outputs of that much work are interpreted to check a reference. */
double verify_sample_size(double work);
/* How many outputs of a sample of the exact and the timing set are not finite. */
int64_t verify_sample_not_finite(const struct verify_task *t, uint64_t seed);
/* Whether the sums of the exact set are exact in the output's type, or not meant to be: other operations
 * occur, or the inputs are not whole. */
bool verify_sums_fit(const struct verify_task *t);

/* The outputs that are looked at: corners first. */
enum { VERIFY_MAX_CORNERS = 64, VERIFY_MAX_SAMPLES = 1000 };
struct verify_sample {
    unsigned n;
    int64_t flat[VERIFY_MAX_CORNERS + VERIFY_MAX_SAMPLES];
};
/* work: operations of one element; more work, fewer elements. malloc'd. */
struct verify_sample *verify_sample_new(const struct verify_task *t, unsigned buffer, double work,
                                        uint64_t seed);
/* Whether all sums of absolute terms are exact in their types with the largest inputs, by the corners of the
 * sample. */
bool verify_largest_fit(const struct verify_task *t, unsigned buffer, const struct verify_sample *sample);

#endif
