/* The runner: the child process that owns an OpenCL context and may crash or hang. Its parent is the
 * evaluator. They exchange frames (agent/child.h):
 *
 *     runner                                     evaluator
 *     HELLO ""  (context, inputs, probe work)
 *                                                JOB  a kernel
 *     READY     (it is built)
 *                                                GO   (the device lock)
 *     ALIVE ... ALIVE  RESULT                    the lock is free again
 *
 * READY may come again, for a second batch. ALIVE moves the runner's kill time. */
#ifndef THRESH_AGENT_RUNNER_H
#define THRESH_AGENT_RUNNER_H

#include "agent/evaluate.h"
#include "agent/verify.h"

enum runner_message {
    RUNNER_JOB, /* parent -> runner: struct runner_job, its struct runner_step, their arguments, then as texts
                   that end with a 0 options, source and the name of each kernel */
    RUNNER_GO,  /* parent -> runner */
    RUNNER_HELLO, /* runner -> parent: text, empty if all is well */
    RUNNER_READY,
    RUNNER_ALIVE,
    RUNNER_RESULT /* struct runner_result */
};

enum runner_mode {
    RUNNER_EVALUATE,
    RUNNER_REFERENCE, /* run once on each set of inputs and keep the outputs as the task's reference */
    RUNNER_ROUND      /* one batch, its span over its count as the only sample; of a long launch one launch */
};

struct runner_job {
    enum runner_mode mode;
    struct eval_settings settings;
    double limit_ns;  /* of one launch */
    uint64_t turn;    /* which extreme sets it is verified on, where there is no time for all of them */
    bool unoptimized; /* build it with -cl-opt-disable */
    struct verify_tolerance tolerance[VERIFY_MOST_TOLERANCES]; /* [outputs * n_sets of the task] */
    bool
        foreign; /* the text is a user's: it is launched as a whole, and more is checked (runner_foreign.h) */
    uint32_t n_steps;                                          /* kernels: 1, or those of a sequence */
    uint32_t n_args, names_bytes, options_bytes, source_bytes; /* of all; bytes include the final 0 */
};

/* A kernel of a job. */
struct runner_step {
    size_t global[3], local[3];
    uint32_t n_args;
};

struct runner_result {
    struct evaluation evaluation;
    bool retire; /* the process may be damaged, or has grown: replace it */
    bool full;   /* it could not build since there is no room for the compiler's files; it retires */
};

/* What a runner needs to start; inherited by fork(). */
struct runner_setup {
    const struct verify_task *task;
    unsigned device;      /* index of the stable order */
    unsigned retire_jobs; /* jobs until a runner retires; 0: AGENT_RETIRE_JOBS */
    char cache[64];       /* folder for the driver's files, a part for each runner; "": the driver's own */
};

enum { RUNNER_MAX_REPLY = sizeof(struct runner_result) + 64 };

/* Device memory that a runner takes for an array of that many bytes: an input once for each of the sets, an
 * output between guard zones; both for one that is updated in place. */
int64_t runner_bytes(int64_t bytes, bool input, bool output, unsigned sets);
/* The message for a job; malloc'd, *bytes long. */
void *runner_pack(const struct runner_job *settings, const struct cg_kernel *k, size_t *bytes);
/* The runner's life: a child_fork() body. ctx is a struct runner_setup. */
void runner_main(int fd, void *ctx);

/* An evaluator of kernels over a given task, whose reference is filled in: what evaluator_new_for() does
 * after making the reference. tolerance: [outputs * n_sets of the task]. Takes ownership of the task. caller:
 * NULL: none. NULL after adding an error if no runner starts. */
struct evaluator *evaluator_start(struct verify_task **task_p, const struct device *dev, unsigned runners,
                                  const struct verify_tolerance *tolerance, const struct eval_caller *caller,
                                  struct diag *d);

#endif
