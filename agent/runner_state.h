/* A runner's state, shared by runner.c (its life and its messages), runner_job.c (build, launch, measure) and
 * runner_verify.c (runs on the sets of inputs). One thread owns all of it. */
#ifndef THRESH_AGENT_RUNNER_STATE_H
#define THRESH_AGENT_RUNNER_STATE_H

#include "agent/download.h"
#include "agent/guarded.h"
#include "agent/measure.h"
#include "agent/retire.h"
#include "agent/runner.h"
#include "agent/runner_programs.h"
#include "core/base/attr.h"

enum { RUNNER_MAX_ARGS = 512, RUNNER_MAX_STEPS = 64 /* kernels of a sequence, with all their arguments */ };

struct runner {
    int fd; /* to the evaluator */
    const struct verify_task *task;
    cl_device_id device;
    bool gpu;
    size_t resident; /* work-groups that run at once, at most */
    cl_context context;
    cl_command_queue queue;
    struct measure_hold hold;           /* on a GPU: while a CPU is held, its host enqueues nothing */
    cl_mem (*inputs)[VERIFY_MOST_SETS]; /* [n_buffers] */
    struct guarded *outputs;            /* [n_buffers] */
    struct download download;           /* for arrays that are compared */
    unsigned char *scratch;             /* a guard zone */
    struct runner_programs programs;    /* of rounds */
    struct retire retire;
};

struct job {
    struct runner *runner;
    struct runner_job set;
    struct runner_step steps[RUNNER_MAX_STEPS];
    const char *names[RUNNER_MAX_STEPS], *options, *source;
    struct measure_step kernels[RUNNER_MAX_STEPS]; /* the first of them is in `launch`, too */
    struct cg_arg args[RUNNER_MAX_ARGS];           /* of one kernel after the other */
    struct guarded temporaries[RUNNER_MAX_ARGS]; /* one that an earlier argument has, too, is a view alone */
    cl_program program;
    bool kept; /* it is the runner's */
    struct measure_launch launch;
    double launch_ns; /* of the whole kernel */
    struct runner_result result;
};

/* ---- runner.c ---- */

/* Sets the result of a job that did not succeed; returns false. A runner whose kernel ran badly retires: a
 * wild store may have damaged it. */
bool runner_fail(struct job *j, enum eval_status status, const char *fmt, ...) BASE_PRINTF(3, 4);
/* EVAL_OUT_OF_MEMORY where the driver says that it has none left, else `other`. */
enum eval_status runner_status(cl_int error, enum eval_status other);
/* Sends ALIVE. ctx is the runner. */
void runner_say_alive(void *ctx);
/* Says READY and waits for the device lock; ends the process if the evaluator is gone. */
void runner_await_lock(struct runner *r);

/* ---- runner_job.c ---- */

/* Does the whole job; the result is in j->result. */
void runner_work(struct job *j);
/* One launch of the whole kernel, within the job's limit; sets j->launch_ns. */
bool runner_launch(struct job *j);

/* ---- runner_verify.c ---- */

/* Sets the kernel's arguments to the inputs of a set, the outputs and the temporaries. */
bool runner_bind(struct job *j, unsigned set);
/* Makes the arguments ready for launches that are timed: the timing set. Arrays that the kernel updates in
 * place get their values again, of the exact set like the scalars: whole numbers, which grow from launch to
 * launch, but do not become subnormal numbers, that some processors are slow with. */
bool runner_bind_timed(struct job *j);
/* Runs the kernel on the sets of inputs and compares its outputs; for a reference it keeps them. Where a best
 * time is known, without the extreme sets. */
bool runner_verify(struct job *j);
/* The extreme sets that runner_verify() has left out, for a kernel that is timed and is not far from the
 * best. */
bool runner_verify_timed(struct job *j);

#endif
