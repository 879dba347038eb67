/* The coordinator's socket: its agents (peers), their credits and heartbeats. A credit is a job that an agent
 * can take. Agents with credits are served in turn. The hub knows messages and peers; the meaning of jobs is
 * the caller's. Finding the sender of a message and the next agent takes constant time.
 *
 *     struct hub_event e = hub_poll(hub, 100, -1);
 *     if (e.kind == HUB_CREDIT) hub_take_credit(hub, e.peer), hub_send(hub, e.peer, &job);
 *
 * Agents belong to groups, so that several searches share one socket (fleet.h): a group has its own turns. */
#ifndef THRESH_COORDINATOR_HUB_H
#define THRESH_COORDINATOR_HUB_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/endpoint.h"
#include "coordinator/limits.h"
#include "core/codec/message.h"

struct diag;
struct hub;

enum {
    HUB_GROUPS = LIMIT_SEARCHES + 1, /* group 0 has the agents that nobody has moved */
    HUB_NAME = 80                    /* bytes of an agent's name, with its 0 */
};

enum hub_event_kind {
    HUB_IDLE,    /* nothing within the time */
    HUB_CREDIT,  /* an agent that had no credit has some */
    HUB_HELLO,   /* a new agent: message.hello */
    HUB_MESSAGE, /* reference, result, returned job or figures of a known agent */
    HUB_GONE,    /* an agent left or is lost: `reason` */
    HUB_MOVED,   /* an agent serves another search now (fleet.h) */
    HUB_REFUSED  /* a connection was refused for its key: `reason` says whose; no agent (fleet.h) */
};
struct hub_event {
    enum hub_event_kind kind;
    unsigned peer;
    size_t bytes;           /* of the message as it came */
    struct message message; /* valid until the next hub_poll() */
    const char *reason;
};

/* Listens where `where` says (endpoint.h). clock: returns ms; clock_ms() except in tests. NULL after an
 * error. */
struct hub *hub_open(void *zmq_context, const struct endpoint_options *where, int64_t (*clock)(void),
                     struct diag *d);
/* The same without keys. */
struct hub *hub_new(void *zmq_context, const char *endpoint, int64_t (*clock)(void), struct diag *d);
/* The endpoint, with the port or file that replaced a `*`. */
const char *hub_endpoint(const struct hub *h);
void hub_free(struct hub *h); /* sends BYE to every agent; NULL is allowed */

/* Waits for one event, until the time is over or stop_fd (-1: none) becomes readable. A call, with the time
 * since the call before it, counts as at most one heartbeat of silence; so lost agents are reported later if
 * timeout_ms is longer than that. */
struct hub_event hub_poll(struct hub *h, int timeout_ms, int stop_fd);
void hub_send(struct hub *h, unsigned peer, const struct message *m);
/* The same, of an encoded message. */
struct hub_bytes {
    enum message_kind kind;
    void *data;
    size_t n;
};
void hub_send_bytes(struct hub *h, unsigned peer, const struct hub_bytes *b);
/* What is wrong with a hello: a name contains control characters, or the device has no name. NULL: nothing.
 */
const char *hub_hello_fault(const struct message_hello *m);
/* Refuses an agent: sends it the reason and removes it. */
void hub_refuse(struct hub *h, unsigned peer, const char *reason);
/* The agent's name for messages, on one line; also for an agent that is gone. */
const char *hub_name(const struct hub *h, unsigned peer);
/* The agent whose turn it is, of those of a group with a credit; -1: none. hub_take_credit() uses a credit,
 * and the next agent has its turn. */
int hub_idle_peer(const struct hub *h, unsigned group);
unsigned hub_idle_peers(const struct hub *h, unsigned group); /* how many have a credit */
void hub_take_credit(struct hub *h, unsigned peer);
uint64_t hub_results(const struct hub *h, unsigned peer); /* results received from it */
bool hub_is_live(const struct hub *h, unsigned peer);     /* connected, whatever its group */
unsigned hub_group(const struct hub *h, unsigned peer);
/* Moves an agent into a group. It has no credit there before it is ready again. */
void hub_move(struct hub *h, unsigned peer, unsigned group);
/* Gives the agent no turn until it is moved or released. */
void hub_hold(struct hub *h, unsigned peer);
/* The agent has a turn when it is ready again. */
void hub_release(struct hub *h, unsigned peer);
/* Whether it has no job and measures no round, as far as its answers say. */
bool hub_is_free(const struct hub *h, unsigned peer);
/* The memory of the last event's message, which the caller frees now; NULL: it was taken before. */
struct arena *hub_take_memory(struct hub *h);
/* Waits for a message or a descriptor (-1: none), without a change of the hub's state: a caller whose hub is
 * behind a lock need not hold it. */
void hub_wait(struct hub *h, int timeout_ms, int fd);
/* Permits the agent to be silent until it sends a message of the kind `until`, for at most `ms`. */
void hub_excuse(struct hub *h, unsigned peer, int64_t ms, enum message_kind until);

#endif
