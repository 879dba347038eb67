/* What serve.c (the agent's life: greeting, heartbeats, leaving) and serve_jobs.c (program, jobs, rounds)
 * share. One thread owns it. */
#ifndef THRESH_AGENT_SERVE_STATE_H
#define THRESH_AGENT_SERVE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/evaluate.h"
#include "agent/serve.h"
#include "core/base/clock.h"
#include "core/codec/message.h"
#include "core/pipeline/problem.h"

/* A job with the runners. */
struct running {
    uint64_t id, kernel_hash;
    struct running *next;
};

struct agent {
    const struct serve_options *options;
    struct diag *diag;
    void *socket;
    struct problem *problem;
    struct given *data; /* that the program's message names; NULL: none */
    struct evaluator *evaluator;
    struct running *running;
    uint64_t search, seed;        /* of the program: the coordinator's number of the search */
    uint64_t n_running, received; /* jobs; the latter since the last hello */
    int abandon_fd;               /* an eventfd: readable: whatever the evaluator is at, it ends */
    struct clock_awake awake;
    double heartbeat_ms;                      /* how often the coordinator wants to hear of this agent */
    double last_heard, last_sent, hello_sent; /* ms of awake */
    double patience_ms, drain_at, ends;       /* ms of awake; INFINITY: it has no end */
    bool welcome;                             /* since the last hello */
    bool at_work;                             /* in a call that is not to go on when the agent is to leave */
    bool draining;                            /* takes no jobs any more */
    bool done, failed;
};

/* ---- serve.c ---- */

void agent_send(struct agent *a, const struct message *m);
/* Tells how many jobs it can take, beside those received. */
void agent_ready(struct agent *a);
/* Leaves; the reason goes to the coordinator and to the caller. */
void agent_give_up(struct agent *a, const char *reason);
/* Whether it is time to leave. */
bool agent_must_leave(struct agent *a);
/* What the evaluator calls while it waits; context: the agent. */
void agent_stay_alive(void *context);
/* Tells the user; "": nothing. */
void agent_note(const struct agent *a, const char *text);

/* ---- serve_jobs.c ---- */

void agent_take_program(struct agent *a, const struct message_program *m);
void agent_start_job(struct agent *a, const struct message_job *job);
void agent_measure_rounds(struct agent *a, const struct message_rounds *m);
/* Sends one result, waiting for it at most timeout_ms; false: there is none. */
bool agent_collect(struct agent *a, int timeout_ms);
/* Returns the jobs that no runner has begun. */
void agent_return_waiting(struct agent *a);
/* Kills what runs and forgets the program. */
void agent_forget_program(struct agent *a);

#endif
