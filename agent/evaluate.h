/* Evaluation of kernels on one OpenCL device: build, verify, measure, in child processes (runners) that can
 * be killed.
 *
 *     struct evaluator *ev = evaluator_new(problem, device, 0, seed, d);
 *     evaluator_submit(ev, 17, &kernel, &settings);
 *     evaluator_poll(ev, -1, &job, &e);       job 17: e.status is EVAL_OK, e.median_ns its time
 *
 * A kernel may be the first of a sequence (cg_kernel.next), which is launched, verified and timed as a whole.
 *
 * This interface knows kernels and buffers; no search, no socket. */
#ifndef THRESH_AGENT_EVALUATE_H
#define THRESH_AGENT_EVALUATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/codegen/codegen.h"
#include "agent/given.h"
#include "agent/device.h"
#include "agent/limits.h"
#include "core/pipeline/problem.h"
#include "agent/verify.h"

enum eval_status {
    EVAL_OK,
    EVAL_BUILD_ERROR,
    EVAL_LAUNCH_ERROR,
    EVAL_WRONG_RESULT,
    EVAL_TIMEOUT,
    EVAL_CRASHED,
    EVAL_OUT_OF_MEMORY,
    EVAL_CUT, /* given up before or while running: proved slower than the limit */
    EVAL_DEVICE_LOST,
    EVAL_STATUS_COUNT
};
const char *eval_status_name(enum eval_status s);    /* "ok", "build_error", ... */
enum eval_status eval_status_find(const char *name); /* EVAL_STATUS_COUNT: unknown */

enum { EVAL_MAX_SAMPLES = 64, EVAL_MESSAGE = 512, EVAL_MAX_FDS = AGENT_RUNNERS_MOST + 1 };

/* What the driver says that a kernel takes. */
struct eval_resources {
    uint64_t local_bytes;   /* of a work-group */
    uint64_t private_bytes; /* of a work-item, in memory: spilled registers, arrays; registers are not told */
    uint64_t most_items;    /* largest work-group that it can be launched with; 0: no kernel was built */
};
enum { EVAL_RESOURCES = 3 }; /* numbers in it */
_Static_assert(sizeof(struct eval_resources) == EVAL_RESOURCES * sizeof(uint64_t), "each is counted");

/* What a second look at a wrong result has found (eval_settings.second_look). */
enum eval_unoptimized {
    EVAL_UNOPTIMIZED_UNKNOWN, /* there was none, or it ended otherwise */
    EVAL_UNOPTIMIZED_RIGHT,   /* probably a fault of the device's compiler */
    EVAL_UNOPTIMIZED_WRONG
};

struct evaluation {
    enum eval_status status;
    struct eval_resources resources;
    unsigned n_samples;
    double samples_ns[EVAL_MAX_SAMPLES]; /* one per launch of the batch */
    double median_ns;                    /* OK only */
    char message[EVAL_MESSAGE];          /* why not OK; first lines of a build log */
    enum eval_unoptimized unoptimized;   /* of WRONG_RESULT */
};

struct eval_settings {
    double best_ns;    /* best time known, 0: none. Limit of a launch: max(cut_factor * best, AGENT_LEAST_NS);
                          without a best AGENT_FIRST_NS */
    double cut_factor; /* 0: AGENT_CUT_FACTOR */
    double batch_ns;   /* length of a batch; 0: AGENT_BATCH_NS */
    bool verify;       /* default true */
    bool untimed;      /* no batch: an OK without samples and median */
    bool thorough;     /* verify on all sets of inputs, however long they take */
    bool second_look;  /* build what is wrong once more, without the compiler's optimizations, and run it on
                          all sets of inputs: message and `unoptimized` say what came of it. Only the first
                          AGENT_SECOND_LOOKS of an evaluator */
    double limit_ns;   /* of one launch, instead of the limit above; 0: that limit */
};

struct evaluator;

/* Who waits for an evaluator. */
struct eval_caller {
    int stop_fd; /* readable, also before a call returns: the runners are killed and every job ends as
                    EVAL_DEVICE_LOST, in a second look as it was; -1: none */
    void (*alive)(void *ctx); /* called at least once a second while a call waits for runners; NULL: none */
    void *ctx;
};

/* What kernels are run on: the user's data, and numbers generated from the seed for what is not given. */
struct eval_inputs {
    uint64_t seed;
    const struct given *data; /* NULL: none; borrowed until evaluator_free() */
    bool rounds_factors;      /* of a sequence: products of floats may be of TF32 */
};

/* Starts `runners` child processes on the device (0: two on a CPU, one for each core and four at least on a
 * GPU; AGENT_RUNNERS_MOST at most, and no more than its memory takes), makes the inputs, and the reference
 * from the naive kernel checked against the Lift interpreter. `d` gets what went wrong; NULL then. Borrows p.
 */
struct evaluator *evaluator_new(const struct problem *p, const struct device *dev, unsigned runners,
                                uint64_t seed, struct diag *d);
/* The same with the user's data, for a caller that may end it early, or shows that it is alive; NULL:
 * neither.
 */
struct evaluator *evaluator_new_for(const struct problem *p, const struct device *dev, unsigned runners,
                                    const struct eval_inputs *inputs, const struct eval_caller *caller,
                                    struct diag *d);
/* The same, with one runner, of a bound program that runs as a sequence of kernels (core/lift/cut.h): the
 * reference comes from `naive`, a sequence, and is checked against the interpreter of the whole program.
 * Borrows the program until evaluator_free(). */
struct evaluator *evaluator_new_of_sequence(const struct lift_program *p, const struct cg_kernel *naive,
                                            const struct device *dev, const struct eval_inputs *inputs,
                                            const struct eval_caller *caller, struct diag *d);
void evaluator_free(struct evaluator *ev); /* kills and reaps the runners */

/* Outputs that a comparison with the reference does not verify. */
struct verify_doubt evaluator_doubt(const struct evaluator *ev);

/* As many runners as so many builds pay for, on a GPU; 0 builds: as many as there are without a limit. */
unsigned evaluator_runners_for(const struct device *dev, uint64_t builds);
/* How many jobs it takes before it is full; and how many one on that device would, at most. */
unsigned evaluator_capacity(const struct evaluator *ev);
unsigned evaluator_capacity_on(const struct device *dev, unsigned runners);
/* How long a job may take at most, ms: build and launches; without waiting for other processes' measurements.
 */
double evaluator_longest_ms(const struct eval_settings *s);
/* Starts an evaluation. The kernel is copied. job ids are the caller's. */
void evaluator_submit(struct evaluator *ev, uint64_t job, const struct cg_kernel *k,
                      const struct eval_settings *s);
/* Takes back a job that no runner has begun; its id in *job. false: there is none. */
bool evaluator_withdraw(struct evaluator *ev, uint64_t *job);
/* Waits up to timeout_ms (-1: forever) for one result. false: none yet. */
bool evaluator_poll(struct evaluator *ev, int timeout_ms, uint64_t *job, struct evaluation *out);
/* Descriptors that become readable when evaluator_poll() would make progress (for zmq_poll); returns their
 * number, EVAL_MAX_FDS at most. */
unsigned evaluator_fds(const struct evaluator *ev, int *fds, unsigned n);
/* Processor time that the runners have used, ms; of those that live. */
double evaluator_processor_ms(const struct evaluator *ev);
/* "", or what the user should know: why the machine's device lock could not be had, or that runners can reach
 * the network. */
const char *evaluator_note(const struct evaluator *ev);
/* Why the device is lost, so that no job can succeed any more; NULL: it is not. */
const char *evaluator_lost(const struct evaluator *ev);
/* Submit and wait. */
void evaluator_run(struct evaluator *ev, const struct cg_kernel *k, const struct eval_settings *s,
                   struct evaluation *out);
/* Quoted figures: measures n kernels in `rounds` rounds of random order, nothing else running, also no other
 * process's kernel on the device: the machine's lock is kept until the end; out_ns[k *
 * rounds + r] is the time per launch (span over count) of kernel k in round r, NAN if it failed. Where
 * evaluator_lost() says something afterwards, kernels failed for that. */
void evaluator_rounds(struct evaluator *ev, const struct cg_kernel *const *kernels, unsigned n,
                      unsigned rounds, uint64_t seed, double *out_ns);

#endif
