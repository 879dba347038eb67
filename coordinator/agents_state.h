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
#include "coordinator/fleet.h"
#include "coordinator/limits.h"

enum { AGENTS_NOBODY = -1, AGENTS_RESOURCES = 128 };

/* A candidate that an agent has, or had: a late result of it counts until another one came. */
struct agents_job {
    int64_t number;
    uint64_t kernel_hash;      /* of the text that the coordinator made */
    double bound_ns;           /* lower bound of its time; 0: none */
    int peer;                  /* AGENTS_NOBODY: it was lost */
    bool tell;                 /* the session is still to hear that it was lost */
    bool ever_lost, blameless; /* the latter: its agent has left in good order */
    int64_t agent;             /* the row of the agent that lost it; 0: none */
    int64_t due;               /* clock_ms(): its agent should have answered by then */
    uint64_t answered;         /* results that its agent had sent when it was given the job */
    UT_hash_handle hh;         /* by number */
};

enum { AGENTS_HOST = 64 };

/* An agent, by its number. */
struct agents_peer {
    bool live;
    int64_t id; /* of its row; 0: none */
    char host[AGENTS_HOST], driver[DEVICE_NAME], libraries[WIRE_LIBRARIES];
    int64_t running, results, stored_running, stored_results; /* jobs that it has; results; as stored */
};

struct agents {
    struct agents_options options;
    struct agents_program program; /* path NULL: not known yet */
    void *context;                 /* ZeroMQ; NULL: the fleet is another's */
    struct fleet *fleet;
    struct roster *roster; /* the agents of this search */
    struct device device;
    char libraries[WIRE_LIBRARIES];
    unsigned first_peer; /* the agent whose hello chose the device, where it is not embedded */
    bool embedded;
    pthread_t thread;
    struct serve_options serve;
    struct diag *agent_diag;  /* written by the agent's thread; read after it has ended */
    struct device_lock *lock; /* of the processors that this process draws on beside its own agent; or NULL */
    struct verify_doubt doubt;
    struct agents_trial trials[LIMIT_BASELINES];
    struct agents_job *jobs;
    unsigned n_tell;            /* of jobs that the session is still to hear of */
    int64_t look_at;            /* clock_ms(): no job is late before */
    char failure[EVAL_MESSAGE]; /* why nothing can be measured any more */
    char resources[AGENTS_RESOURCES];
    struct hub_event event; /* the last one: results point into it */
    struct agents_peer *peers;
    unsigned n_peers;
    struct store *store; /* borrowed; NULL: none */
    int64_t run, stored_ms;
    uint64_t late;            /* results that were ignored */
    int64_t late_ms;          /* clock_ms() when the last one was stored as an event */
    char driver[DEVICE_NAME]; /* that the run was begun with; "": not known */
    int round_peer;           /* AGENTS_NOBODY: no round is measured */
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

/* ---- agents_record.c ---- */

void agents_peer_comes(struct agents *a, unsigned peer, const struct message_hello *hello);
void agents_peer_answers(struct agents *a, unsigned peer); /* with a result */
int64_t agents_peer_id(struct agents *a, unsigned peer);   /* of its row; 0: none */
/* state: as in store_agent_update(). */
void agents_peer_goes(struct agents *a, unsigned peer, const char *state);
void agents_peer_event(struct agents *a, unsigned peer, const char *what, const char *reason);
/* A result is ignored: of a job that another agent has, or that is settled. */
void agents_late_result(struct agents *a, unsigned peer, int64_t number, bool settled);
/* A connection was refused for its key: the line says whose. */
void agents_connection_refused(struct agents *a, const char *line);
/* The coordinator ends: all agents are done. */
void agents_peers_end(struct agents *a);
/* Stores what has changed, once a second at most. */
void agents_peers_store(struct agents *a);

#endif
