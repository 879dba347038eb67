/* The agent's side of the wire: one DEALER socket, one device. It says hello, takes the program, and then
 * evaluates jobs until the coordinator says bye, or until nothing was heard of one for a while: a coordinator
 * that was restarted meanwhile finds its agents again. It lowers candidates itself, from decisions: no OpenCL
 * text is ever accepted.
 *
 * When it is told to stop, or its time is nearly over, the agent drains: it returns the jobs that no runner
 * has begun, finishes the others, and leaves. While it prepares a program or measures final rounds it leaves
 * at once. */
#ifndef THRESH_AGENT_SERVE_H
#define THRESH_AGENT_SERVE_H

#include <stdbool.h>

#include "agent/device.h"

struct cg_kernel;
struct given;
struct diag;
struct keys_agent;

struct serve_options {
    void *context;                /* of ZeroMQ; borrowed */
    const char *endpoint;         /* of the coordinator */
    const struct keys_agent *key; /* for a tcp:// endpoint (core/keys/agent.h); NULL: none */
    const char *name;             /* how the coordinator calls this agent; NULL: host and process id */
    /* Is told what the user should know, a line each: that the coordinator took the agent, ...; NULL: nobody
     */
    void (*note)(const char *text);
    struct device device;
    unsigned runners;  /* 0: the evaluator's default */
    int stop_fd;       /* readable: drain and leave; -1: none */
    double patience_s; /* how long to wait for a coordinator that is silent; 0: AGENT_PATIENCE_S */
    double most_s;     /* leave by then, after draining for AGENT_DRAIN_S or a tenth of it; 0: no limit */
    const struct given
        *data; /* of an embedded agent: the user's data, loaded already; borrowed; NULL: none */
    /* Of an embedded agent: the user's own kernels, verified before it takes jobs; known when it is told the
     * program; borrowed. */
    const struct cg_kernel *const *kernels;
    /* Written after the list and before the program is sent, by another thread. Atomic, as the message goes
     * through a library whose synchronization the thread sanitizer does not see. */
    _Atomic unsigned n_kernels;
    bool embedded; /* in the coordinator's process, which ends it: its silence says nothing */
};

/* Serves until the end. false after an error: no coordinator, a program that does not fit, a lost device. */
bool agent_serve(const struct serve_options *o, struct diag *d);

#endif
