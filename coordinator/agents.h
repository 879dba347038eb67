/* The evaluator that measures a Lift program on a device: agents, reached over a hub. An agent lowers the
 * decisions of a candidate, builds, verifies and times the kernel (agent/serve.h is its other end).
 *
 *     a = agents_open(&options, d);         one in a thread of this process, or those that connect
 *     agents_serve(a, &program);            what they are to measure
 *     session: agents_evaluator with a      jobs, results, final rounds
 *
 * An agent that is lost, or does not answer within the limits of a job, loses its jobs: the session starts
 * them again elsewhere. A late result still counts, the first one wins. */
#ifndef THRESH_COORDINATOR_AGENTS_H
#define THRESH_COORDINATOR_AGENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/device.h"
#include "agent/evaluate.h"
#include "agent/verify.h"
#include "coordinator/evaluator.h"

struct agents;
struct bb_options;
struct given;
struct diag;
struct fleet;
struct progress;

/* Pointers are borrowed. */
struct agents_options {
    const char *listen;       /* endpoint; NULL: one agent in a thread of this process */
    const char *keys;         /* folder of keys for a tcp:// endpoint; NULL: none */
    struct fleet *fleet;      /* that other searches use, too; NULL: one of its own, at `listen` */
    const char *device;       /* selector of its device; NULL: the first */
    unsigned runners;         /* of the agent in this process; 0: as evaluator_runners_for() says */
    uint64_t builds;          /* that it is expected to do; 0: no limit is known */
    const struct given *data; /* of the user, for the agent of this process; NULL: none */
    int stop_fd;              /* readable: end early; -1: none */
    struct progress *progress;
};

/* What a new agent is told of the program. Pointers are borrowed. */
struct agents_program {
    const char *path, *text, *sizes;
    const char *data; /* given_text(); "": none */
    const struct bb_options *lowering;
    uint64_t fingerprint, seed;
    int64_t outputs;                        /* elements of its output */
    const struct cg_kernel *const *kernels; /* the user's own, for the agent of this process */
    unsigned n_kernels;
};

/* What became of one of the user's own kernels when it was verified. */
struct agents_trial {
    bool known;
    enum eval_status status;
    double median_ns; /* OK only */
    char message[EVAL_MESSAGE];
};

/* Opens the socket and waits for the first agent, whose device is the campaign's. NULL after an error. The
 * embedded agent's device is asked for in a child process, which is forked while this process has one
 * thread. */
struct agents *agents_open(const struct agents_options *o, struct diag *d);
void agents_close(struct agents *a); /* also ends the embedded agent; NULL is allowed */
const struct device *agents_device(const struct agents *a);
const char *agents_libraries(const struct agents *a); /* that evaluate, with versions */
/* From now on agents measure this program. */
void agents_serve(struct agents *a, const struct agents_program *program);
/* What is known of the user's own kernel i. */
const struct agents_trial *agents_trial(const struct agents *a, unsigned i);
/* From now on the run's store has a row for each agent and what happens to it; a borrowed store, NULL: none.
 * Tells the user of agents with another driver than the run was begun with. */
void agents_record(struct agents *a, struct store *store, int64_t run);
/* Outputs that an agent's reference does not verify. */
struct verify_doubt agents_doubt(const struct agents *a);

extern const struct session_evaluator agents_evaluator; /* self: struct agents */

#endif
