/* Launchers: they start agents, watch them, and end them. Which work an agent gets is the coordinator's
 * business, where it runs on a cluster is Slurm's.
 *
 *     l = launch_start(&options, "tcp://0.0.0.0:7000", "keys", d);
 *     while (launch_poll(l, &event)) note(event.text);          now and then: it does not wait
 *     if (launch_left(l) == 0) ...                              nobody is left who could measure
 *     launch_stop(l), launch_free(l);
 *
 * Agents may start before the coordinator listens: they go on trying for half a minute.
 *
 *     local    processes of this machine. They die with the coordinator. One that fails is started again,
 *              LIMIT_RESTARTS times at most in a row
 *     ssh      one ssh for each agent. The bundle is copied to a host that does not have it. The agent ends
 *              when its connection does. An agent that fails, or whose connection is lost, is started again
 *     slurm    one job array. Failed nodes, placement and limits of time are Slurm's: it puts the agent of a
 *              failed node in the queue again
 *
 * A secret key is a file: for ssh it is copied over the connection to a file of mode 0600, for slurm it is
 * read from the folder of keys, which nodes must see. A launcher has a key of its own there,
 * agents/launcher.key_secret, and makes it if it is missing. */
#ifndef THRESH_LAUNCH_LAUNCH_H
#define THRESH_LAUNCH_LAUNCH_H

#include <stdbool.h>

#include "coordinator/launch/options.h"

struct launch;

enum launch_event_kind {
    LAUNCH_NEWS,    /* the queue, a copied bundle, a tool that failed */
    LAUNCH_STARTED, /* an agent was started */
    LAUNCH_AGAIN,   /* an agent failed and will be started again */
    LAUNCH_ENDED,   /* an agent left, as it should: it is not started again */
    LAUNCH_FAILED   /* an agent failed for good */
};

struct launch_event {
    enum launch_event_kind kind;
    const char *agent; /* "local 2", "node1 1", "slurm 17_3"; the host for its bundle */
    const char *text;  /* a line for the user; both valid until the next call */
};

/* Starts agents for a coordinator that listens, or will listen, at `endpoint` (endpoint.h; the port is a
 * number). Agents elsewhere connect to options->address, else to the endpoint's host, else (0.0.0.0, *) to
 * this host's name. keys: the coordinator's folder of keys; NULL: none. Strings are copied, but those of the
 * options are borrowed. Agents of local and ssh die with the calling thread, which makes all further calls.
 * NULL after an error. */
struct launch *launch_start(const struct launch_options *o, const char *endpoint, const char *keys,
                            struct diag *d);
/* The next thing that happened. false: nothing more for now. */
bool launch_poll(struct launch *l, struct launch_event *out);
/* Agents that are at work, or will be without anybody's doing: waiting in a queue, or to be started again. */
unsigned launch_left(const struct launch *l);
/* Tells all agents to leave, waits for LIMIT_LEAVE_MS at most, and kills local ones that are left. */
void launch_stop(struct launch *l);
void launch_free(struct launch *l); /* stops it first; NULL is allowed */

#endif
