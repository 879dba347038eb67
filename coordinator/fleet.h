/* The agents of one coordinator, shared by its searches. A thread owns the hub: it answers heartbeats, finds
 * lost agents and hands messages on, whatever the searches are at. Each search has a roster: the agents that
 * serve it now, seen from the thread of that search as a hub of its own.
 *
 *     fleet = fleet_open(&options, d);             the socket and its thread
 *     r = fleet_join(fleet, "gpu");                a search that needs a GPU; any number of them
 *     e = roster_poll(r, 100, stop_fd);            HUB_HELLO of an agent that was given to this search
 *     roster_settle(r, e.message.hello.device);    only agents with this device from now on
 *     roster_close(r);                             its agents go to other searches
 *
 * An agent serves one search at a time. A newcomer is given to the search with the fewest agents of those
 * whose device it has. Where one search has two agents more than another, one of them finishes its jobs and
 * moves (HUB_MOVED to the one, HUB_HELLO to the other). An agent that no search needs waits. */
#ifndef THRESH_COORDINATOR_FLEET_H
#define THRESH_COORDINATOR_FLEET_H

#include "coordinator/hub.h"

struct device;
struct fleet;
struct roster;

struct fleet_options {
    void *context; /* ZeroMQ; borrowed; NULL: the fleet has its own */
    struct endpoint_options where;
    bool sole; /* there is one search: it is told of every agent, also of one whose device it refuses */
};

/* Listens and starts the thread. NULL after an error. */
struct fleet *fleet_open(const struct fleet_options *o, struct diag *d);
/* Says BYE to all agents and ends the thread. All rosters are closed. NULL is allowed. */
void fleet_close(struct fleet *f);
const char *fleet_endpoint(const struct fleet *f); /* as hub_endpoint() */
/* Agents that are connected whose device fits a selector (device_select()). */
unsigned fleet_agents(struct fleet *f, const char *selector);

/* The device of the first agent that fits a selector. false: there is none. */
bool fleet_device(struct fleet *f, const char *selector, struct device *out);

/* A search joins; selector: which devices it may be given, borrowed; NULL: any. NULL: LIMIT_SEARCHES have. */
struct roster *fleet_join(struct fleet *f, const char *selector);
/* NULL is allowed. */
void roster_close(struct roster *r);
/* From now on only agents with this device, by its name, are given to the search. */
void roster_settle(struct roster *r, const char *device);

/* These do for a roster what the functions of hub.h do for a hub. Agents are named by the hub's numbers. All
 * are called from the thread of the search. What is sent to an agent that is gone or has moved is dropped. */
struct hub_event roster_poll(struct roster *r, int timeout_ms, int stop_fd);
void roster_send(struct roster *r, unsigned peer, const struct message *m);
void roster_refuse(struct roster *r, unsigned peer, const char *reason);
const char *roster_name(const struct roster *r, unsigned peer);
int roster_idle_peer(const struct roster *r);
unsigned roster_idle_peers(const struct roster *r); /* how many could take a job now */
/* Uses a credit of the agent whose turn it is: who has one may have changed since the last look. -1: none. */
int roster_take_credit(struct roster *r);
uint64_t roster_results(const struct roster *r, unsigned peer);
unsigned roster_live_peers(const struct roster *r); /* of this search */
void roster_excuse(struct roster *r, unsigned peer, int64_t ms, enum message_kind until);
const char *roster_endpoint(const struct roster *r);
/* clock_ms(): everything that had arrived by then was polled; 0: there is more to poll. What is missing at
 * that time is late, also if this process was stopped meanwhile. */
int64_t roster_heard_ms(const struct roster *r);
/* The search's number among those of the fleet, from 0: messages name it, so that what an agent still answers
 * to another search is not taken for this one. */
uint64_t roster_serial(const struct roster *r);

#endif
