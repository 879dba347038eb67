/* The coordinator's socket: a ROUTER, the agents known on it, their credits and signs of life. Knows messages
 * and peers; what jobs mean is the caller's. */
#ifndef THRESH_COORDINATOR_HUB_H
#define THRESH_COORDINATOR_HUB_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/limits.h"
#include "core/codec/message.h"

struct diag;
struct hub;

enum {
    HUB_HEARTBEAT_MS = LIMIT_HEARTBEAT_MS,
    HUB_LOST_MS = LIMIT_LOST_MS,
    HUB_PREPARE_MS = LIMIT_PREPARE_MS,
    HUB_MAX_PEERS = LIMIT_PEERS,
    HUB_NAME = 80 /* bytes of an agent's name, with its 0 */
};

enum hub_event_kind {
    HUB_IDLE,    /* nothing within the time */
    HUB_CREDIT,  /* an agent can take more jobs */
    HUB_HELLO,   /* a new agent: message.hello */
    HUB_MESSAGE, /* reference, result or figures of a known agent */
    HUB_GONE,    /* an agent left or is lost: `reason` */
};
struct hub_event {
    enum hub_event_kind kind;
    unsigned peer;
    struct message message; /* valid until the next hub_poll() */
    const char *reason;
};

/* Whether the port of a tcp:// endpoint is one (or `*`), which ZeroMQ does not check. false after an error.
 */
bool hub_check_port(const char *endpoint, struct diag *d);
/* Binds to inproc://NAME, ipc://FILE or tcp:// of the loopback interface, by its address or by a name such as
 * localhost that means nothing else. clock: in ms, clock_ms() but in
 * tests. NULL after an error. */
struct hub *hub_new(void *zmq_context, const char *endpoint, int64_t (*clock)(void), struct diag *d);
/* Where it is bound: with the port or file that a `*` stood for. */
const char *hub_endpoint(const struct hub *h);
void hub_free(struct hub *h); /* says bye to every agent; NULL is allowed */

/* Waits for one event; stop_fd (-1: none) becoming readable ends the wait. A call, with the time before it,
 * counts as a heartbeat of silence at most: whoever waits longer at a time hears later of lost agents. */
struct hub_event hub_poll(struct hub *h, int timeout_ms, int stop_fd);
void hub_send(struct hub *h, unsigned peer, const struct message *m);
/* Why a hello makes no sense: its names have control characters, or there is no name of a device. NULL: it
 * does. */
const char *hub_hello_fault(const struct message_hello *m);
/* Refuses an agent: it is told why and forgotten. */
void hub_refuse(struct hub *h, unsigned peer, const char *reason);
/* What an agent calls itself, on one line; also of one that is gone. */
const char *hub_name(const struct hub *h, unsigned peer);
/* A live agent with credit, -1: none. hub_take_credit() uses one up. */
int hub_idle_peer(const struct hub *h);
void hub_take_credit(struct hub *h, unsigned peer);
uint64_t hub_results(const struct hub *h, unsigned peer); /* how many it has sent */
unsigned hub_live_peers(const struct hub *h);
uint64_t hub_malformed(const struct hub *h); /* messages that made no sense */
/* Silence is not held against an agent until its message `until`, at most `ms`: it was sent work that it does
 * without listening. */
void hub_excuse(struct hub *h, unsigned peer, int64_t ms, enum message_kind until);

#endif
