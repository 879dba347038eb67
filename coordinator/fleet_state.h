/* What fleet.c (the thread, and which agent serves which search) and roster.c (the searches' side) share. The
 * lock of the fleet guards all of it, but for what is said to be of one thread. */
#ifndef THRESH_COORDINATOR_FLEET_STATE_H
#define THRESH_COORDINATOR_FLEET_STATE_H

#include <pthread.h>

#include "agent/device.h"
#include "coordinator/fleet.h"

enum { FLEET_WHY = 256 };

struct letter {
    struct hub_event event;
    struct arena *memory; /* of its message; NULL: the event has no memory */
    size_t bytes;
    char name[HUB_NAME]; /* of the agent */
    struct letter *prev, *next;
};

/* A connection that was refused. */
struct refusal {
    struct refusal *prev, *next;
    char line[];
};

/* What a search sends, or an agent that it refuses. */
struct parcel {
    unsigned peer, group;
    struct hub_bytes bytes;
    bool refused, *done; /* set when an agent is refused */
    char why[FLEET_WHY];
    struct parcel *prev, *next;
};

struct roster {
    struct fleet *fleet;
    unsigned group;
    uint64_t serial; /* of the search, from 0 */
    const char *selector;
    char device[DEVICE_NAME]; /* "": any that the selector allows */
    struct letter *letters, *read;
    size_t bytes;            /* of letters */
    unsigned n_agents;       /* that it has, with those that are on their way to it */
    int fd;                  /* readable: there are letters */
    char (*names)[HUB_NAME]; /* of agents, by number; of the search's thread */
    unsigned n_names;
};

struct fleet_agent {
    struct arena *memory; /* of the hello; NULL: no such agent */
    struct message hello;
    struct device device;
    struct roster *roster, *next; /* that it serves; that it is to serve when it is free; NULL: none */
};

struct fleet {
    struct hub *hub;
    void *context; /* NULL: it is another's */
    bool sole, stop;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t refused;
    int fd; /* readable: the outbox has something, or the thread is to end */
    struct parcel *outbox;
    struct refusal *refusals;           /* that no search was told of yet, the oldest first */
    unsigned n_refusals, n_kept;        /* since the fleet began; in the list */
    int64_t refused_ms;                 /* clock_ms() when the last one was kept */
    struct roster *rosters[HUB_GROUPS]; /* by group; group 0 is nobody's */
    struct fleet_agent *agents;         /* by number */
    unsigned n_agents;
    uint64_t n_joined; /* searches, since it began */
    int64_t heard_ms;  /* clock_ms(): all that had arrived by then is in the letters */
    int64_t balanced_ms;
};

/* Makes an event descriptor readable. */
void fleet_wake(int fd);
/* Gives an agent without a search to one, if there is one for it. */
void fleet_place(struct fleet *f, unsigned peer);
/* Gives an agent to a search, which hears of it as of a new one. */
void fleet_give(struct fleet *f, unsigned peer, struct roster *r);

#endif
