/* What a kernel is run on and compared with: the task. Its arrays are shared memory, made before the runners
 * are forked, so that every runner sees the same inputs and, once it is made, the same reference.
 *
 *     buffers   x, y (inputs)   z (output)       set 0: exact   1: timing   2...: extreme
 *     x.data[0] = {3, -1, 1, ...}, x.data[1] = {0.31, -0.7, ...}, z.data[0] = the reference for set 0
 *
 * verify_inputs.c draws the exact and the timing set, verify_extremes.c the extreme sets of programs that
 * select (min, max). verify_reference.c checks the reference and derives how close outputs must be to it. */
#ifndef THRESH_AGENT_VERIFY_H
#define THRESH_AGENT_VERIFY_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/half.h"
#include "core/lift/range.h"
#include "core/lift/scalar.h"

struct backbone;
struct given;
struct diag;
struct lift_program;
struct strbuf;
struct verify_known;

/* VERIFY_EXTREME is the first of the extreme sets. */
enum verify_set { VERIFY_EXACT, VERIFY_TIMING, VERIFY_EXTREME };
enum {
    VERIFY_MOST_EXTREMES = 72,
    VERIFY_MOST_SETS = VERIFY_EXTREME + VERIFY_MOST_EXTREMES,
    VERIFY_MOST_OUTPUTS = 16,
    VERIFY_MOST_TOLERANCES = VERIFY_MOST_OUTPUTS * VERIFY_MOST_SETS
};

struct verify_buffer {
    const char *name; /* borrowed; NULL: hand-made, in tests */
    enum scalar_type type;
    int64_t elements;
    size_t bytes;
    bool output;
    bool by_value;                  /* a scalar that the kernel gets as an argument */
    bool updated;                   /* an output that is also an input */
    struct lift_range range;        /* of an input, where the program states one */
    const void *given;              /* of an input: the user's data; NULL: it is generated; borrowed */
    void *data[VERIFY_MOST_SETS];   /* [n_sets] an input's values, an output's reference; shared memory */
    void *before[VERIFY_MOST_SETS]; /* [n_sets] of an updated array: its values before the kernel */
};

struct verify_task {
    const struct lift_program *program; /* borrowed; buffer i is its array i. NULL: hand-made, in tests */
    unsigned n_buffers, n_sets;
    struct verify_buffer *buffers;
    bool whole;                 /* all inputs of the exact set are whole numbers */
    bool units;                 /* which are 1 and -1, or 1 and 0 */
    bool rounds_factors;        /* products of floats may be of TF32 (lift_reader) */
    unsigned domain;            /* enum verify_domain, that inputs were drawn in */
    struct verify_known *known; /* of the interpreter: verify_known.h */
};

/* How close an output must be to the reference. Integer outputs are always compared bit for bit. */
struct verify_tolerance {
    bool exact;      /* bit for bit */
    bool stated;     /* by the user: absolute * max(1, |reference|), and nothing else, is allowed */
    double absolute; /* else |y - reference| <= absolute; an infinity or NaN matches the same alone */
    double relative; /* more than relative * |reference| + floor away: the interpreter decides
                        (verify_wrong()); 0: that is not needed, or of no use */
    double floor;
};

/* Outputs that a comparison with the reference does not verify. */
struct verify_doubt {
    int64_t outputs;    /* all of them */
    int64_t not_finite; /* infinite or NaN in the reference of the exact or the timing set, where more are */
    int64_t loose;      /* finite, but no larger than the tolerance in each set that has them finite */
};

/* Copies the shape (type, elements, output, range) of n buffers and allocates the arrays of n_sets sets. NULL
 * after adding an error. */
struct verify_task *verify_task_new(const struct verify_buffer *shape, unsigned n, unsigned n_sets,
                                    struct diag *d);
/* The task of a program, with its inputs: the extreme sets that it needs, in the first domain in which its
 * results are finite as far as a sample of them shows; the user's data where there are some (NULL: none), see
 * verify_is_given(). rounds_factors: as in the task. Borrows the program and the data. NULL after adding an
 * error. */
struct verify_task *verify_task_of(const struct backbone *bb, bool rounds_factors, const struct given *data,
                                   uint64_t seed, struct diag *d);
/* The same of a program that may have no backbone of its own, since it runs as a sequence: without extreme
 * sets, on which its parts are verified. */
struct verify_task *verify_task_of_program(const struct lift_program *p, bool rounds_factors,
                                           const struct given *data, uint64_t seed, struct diag *d);
/* This process may read the arrays, and write the reference if `reference` says so; others that share them
 * are not concerned. A runner is so protected from its kernels: one that stores anywhere, or whose driver
 * does, would change the inputs of all runners that start after it. */
void verify_protect(const struct verify_task *t, bool reference);
void verify_task_free(struct verify_task *t);

/* Tolerances of a task are [output][set], outputs counted among the buffers in order. */

/* An input's values, before the kernel. */
static inline void *verify_values(const struct verify_buffer *b, unsigned set)
{
    return b->updated ? b->before[set] : b->data[set];
}
static inline bool verify_is_input(const struct verify_buffer *b)
{
    return b->updated || !b->output;
}
/* Number of outputs, and the buffer of one of them. */
unsigned verify_outputs(const struct verify_task *t);
unsigned verify_output(const struct verify_task *t, unsigned output);

/* Types that are compared bit for bit. */
static inline bool verify_integer(enum scalar_type type)
{
    return type == SCALAR_INT || type == SCALAR_BOOL;
}

/* Whether an input has the user's data in a set. They are the timing set. Integers of the user are in all
 * sets: they often are indices, and generated ones would lead elsewhere. */
static inline bool verify_is_given(const struct verify_buffer *b, unsigned set)
{
    return b->given && (set == VERIFY_TIMING || verify_integer(b->type));
}

/* Whether two values are the same although their difference may be no number: an infinity, or NaN. */
static inline bool verify_same(double x, double y)
{
    return x == y || (isnan(x) && isnan(y));
}

/* Element i of an array of the given type as a number, and the other way (rounded to nearest). Inline: they
 * are called for every element of arrays of a GB. */
static inline double verify_get(enum scalar_type type, const void *data, int64_t i)
{
    switch (type) {
    case SCALAR_FLOAT:
        return (double)((const float *)data)[i];
    case SCALAR_DOUBLE:
        return ((const double *)data)[i];
    case SCALAR_HALF:
        return half_to_double(((const uint16_t *)data)[i]);
    case SCALAR_INT:
        return ((const int32_t *)data)[i];
    default:
        return ((const uint8_t *)data)[i];
    }
}
static inline void verify_put(enum scalar_type type, void *data, int64_t i, double value)
{
    switch (type) {
    case SCALAR_FLOAT:
        ((float *)data)[i] = (float)value;
        break;
    case SCALAR_DOUBLE:
        ((double *)data)[i] = value;
        break;
    case SCALAR_HALF:
        ((uint16_t *)data)[i] = half_of_double(value);
        break;
    case SCALAR_INT:
        ((int32_t *)data)[i] = (int32_t)value;
        break;
    default:
        ((uint8_t *)data)[i] = value != 0;
        break;
    }
}

enum { VERIFY_FILL = 8 };
/* The bytes that outputs are filled with before a run on a set, a multiple of every element's size: floating
 * point gets a NaN that no operation makes, integers another pattern in every other set. */
void verify_fill(enum scalar_type type, unsigned set, unsigned char pattern[VERIFY_FILL]);
/* Whether element i still has the bytes of a floating-point fill. */
bool verify_unwritten(enum scalar_type type, const void *data, int64_t i);

/* ---- verify_near.c ---- */

/* Elements that are compared at a time: of floats 16 KiB on each side, together a first-level cache. */
enum { VERIFY_BLOCK = 4096 };

/* Elements of an output, and their reference. */
struct verify_span {
    enum scalar_type type;
    const void *want, *got;
};
/* Whether n elements from `from` on are all within the tolerance, its relative part included. false: perhaps
 * one is not, or has to be looked at with care. */
bool verify_near(const struct verify_span *s, struct verify_tolerance t, int64_t from, int64_t n);
/* The first element before `end` that differs from the reference by more than the tolerance allows, its
 * relative part left aside, or was not written, or -1. */
int64_t verify_compare_span(const struct verify_span *s, struct verify_tolerance t, int64_t from,
                            int64_t end);
/* The same of a whole output. */
int64_t verify_compare(const struct verify_buffer *b, unsigned set, const void *got,
                       struct verify_tolerance tolerance);
/* Whether some of the first n elements has the first bytes of the pattern. */
bool verify_has_fill(enum scalar_type type, const void *data, int64_t n,
                     const unsigned char pattern[VERIFY_FILL]);
/* The largest magnitude of an input's values in a set, NaN aside. */
double verify_largest(const struct verify_buffer *b, unsigned set);
/* How many of n elements are infinite or NaN. */
int64_t verify_not_finite(enum scalar_type type, const void *data, int64_t n);

/* ---- verify_extremes.c ---- */

/* How many sets of inputs the program needs: 2, and extreme sets if it selects. */
unsigned verify_sets(const struct backbone *bb);

/* ---- verify_interpret.c ---- */

/* Whether interpreting every output stays within about a minute. */
bool verify_interpretable(const struct verify_task *t);
/* Fills the reference with the interpreter's results. */
void verify_interpret(struct verify_task *t);

/* ---- verify_reference.c ---- */

/* Compares the reference with the interpreter at the corners, up to 1,000 random outputs and up to 1,000 of
 * those that are infinite or no number, and derives the tolerances, [outputs * n_sets]. false after adding
 * an error. */
bool verify_reference(const struct verify_task *t, uint64_t seed, struct verify_tolerance *out,
                      struct diag *d);

/* ---- verify_given.c ---- */

/* The tolerance that the user states takes the place of those that were derived. */
void verify_state(const struct verify_task *t, const struct given *data, struct verify_tolerance *tolerance);
/* Compares the references of the timing set with the user's expected results, which then take their place.
 * false after an error: they differ by more than half the tolerance, or by more than the stated one. */
bool verify_expected(const struct verify_task *t, const struct given *data,
                     const struct verify_tolerance *tolerance, struct diag *d);

/* ---- verify_judge.c ---- */

/* The first element of an output's buffer that is wrong, or -1. Elements that verify_compare() does not
 * accept are right where one of their comparisons may go two ways (lift_value_bound.jumps) and the
 * interpreter's bound, which covers both, says so: up to 256 of them. Of those that it accepts the
 * interpreter is asked of the few that are farthest from the reference for their size. alive: called before
 * each. */
int64_t verify_wrong(const struct verify_task *t, unsigned buffer, unsigned set, const void *got,
                     struct verify_tolerance tolerance, void (*alive)(void *ctx), void *ctx);

/* ---- verify_doubt.c ---- */

/* Counts what the reference cannot verify. */
struct verify_doubt verify_doubt(const struct verify_task *t, const struct verify_tolerance *tolerance);
/* Whether more than 1 % of the outputs are not finite in the reference, so that a result is in doubt. Loose
 * ones are only told: long sums have them. The text says which outputs are not verified and what helps. */
bool verify_doubtful(const struct verify_doubt *x);
void verify_doubt_text(const struct verify_doubt *x, struct strbuf *out);

#endif
