/* What agents.c (opening, greeting) and agents_jobs.c (jobs, results, rounds) share. One thread owns it; the
 * embedded agent's thread has nothing of it but `serve` and `agent_diag`. */
#ifndef THRESH_COORDINATOR_AGENTS_STATE_H
#define THRESH_COORDINATOR_AGENTS_STATE_H

#include <pthread.h>
#include <uthash.h>

#include "agent/evaluate.h"
#include "agent/serve.h"
#include "agent/wire.h"
#include "coordinator/agents.h"
#include "coordinator/hub.h"

enum { AGENTS_NOBODY = -1, AGENTS_RESOURCES = 128 };

/* A candidate that an agent has, or had: a late result of it counts until another one came. */
struct agents_job {
    int64_t number;
    uint64_t kernel_hash;      /* of the text that the coordinator made */
    double bound_ns;           /* lower bound of its time; 0: none */
    int peer;                  /* AGENTS_NOBODY: it was lost */
    bool tell;                 /* the session is still to hear that it was lost */
    bool ever_lost, blameless; /* the latter: its agent has left in good order */
    int64_t due;               /* clock_ms(): its agent should have answered by then */
    uint64_t answered;         /* results that its agent had sent when it was given the job */
    UT_hash_handle hh;         /* by number */
};

struct agents {
    struct agents_options options;
    struct agents_program program; /* path NULL: not known yet */
    void *context;                 /* ZeroMQ */
    struct hub *hub;
    struct device device;
    char libraries[WIRE_LIBRARIES];
    unsigned first_peer; /* the agent whose hello chose the device, where it is not embedded */
    bool embedded;
    pthread_t thread;
    struct serve_options serve;
    struct diag *agent_diag;  /* written by the agent's thread; read after it has ended */
    struct device_lock *lock; /* of the processors that this process draws on beside its own agent; or NULL */
    struct verify_doubt doubt;
    struct agents_job *jobs;
    unsigned n_tell;            /* of jobs that the session is still to hear of */
    int64_t look_at;            /* clock_ms(): no job is late before */
    char failure[EVAL_MESSAGE]; /* why nothing can be measured any more */
    char resources[AGENTS_RESOURCES];
    struct hub_event event; /* the last one: results point into it */
    int round_peer;         /* AGENTS_NOBODY: no round is measured */
    uint64_t round_id;
    unsigned round_n;    /* kernels in it */
    int64_t round_ends;  /* clock_ms(): it is lost then */
    bool rounds_fail;    /* the embedded agent did not answer one in time */
    double *round_times; /* of the last one */
};

/* Shows "NAME WHAT: REASON" of an agent on one line, whatever the reason is; NULL: none. */
void agents_note(struct agents *a, unsigned peer, const char *what, const char *reason);
/* Welcomes an agent and tells it the program. */
void agents_greet(struct agents *a, unsigned peer);

#endif
