/* The ROUTER socket and its peers.
 *
 *     agent -> hub    HELLO        becomes a peer                       HUB_HELLO
 *                     READY 4      can take four jobs                   HUB_CREDIT
 *                     RESULT       belongs to the caller                HUB_MESSAGE
 *                     HEARTBEAT    every second; answered with the same
 *                     BYE          no peer any more                     HUB_GONE
 *
 * A heartbeat from an unknown sender is answered with WHO: the agent was considered lost, or served another
 * coordinator, and says hello again. All other messages of unknown senders and all malformed ones are
 * dropped, so that they cost only their decoding.
 *
 * A peer that is silent for HUB_LOST_MS is lost, except while it prepares the program, or where the caller
 * permits it to be silent (hub_excuse()). Time during which the hub is not polled does not count as silence.
 */
#include "coordinator/hub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/panic.h"
#include "core/base/utf8.h"

enum { IDENTITY_MAX = 255, MOST_TAKEN = 256 /* messages without an event that one poll reads */ };

struct peer {
    uint8_t identity[IDENTITY_MAX];
    size_t identity_bytes;
    uint64_t credits, results; /* the latter: received from it */
    char name[HUB_NAME];
    int64_t lost_at;           /* ms of the hub's time: the peer is lost if it is silent until then */
    int64_t ready_by;          /* the same, until its first credits; INT64_MAX: it had some */
    enum message_kind awaited; /* the message that ends its permission to be silent */
    bool live;
};

struct hub {
    struct endpoint *endpoint;
    void *socket; /* of the endpoint */
    struct peer *peers;
    unsigned n_peers;
    int64_t (*clock_ms)(void);
    int64_t time, looked_at; /* ms: the hub's time; the clock when that was last advanced */
    struct arena *arena;     /* of the last message */
};

/* Advances the hub's time by at most one heartbeat. If this process was stopped or busy for long, the
 * messages that peers have sent meanwhile are read before the peers are considered lost. */
static int64_t hub_time(struct hub *h)
{
    int64_t now = h->clock_ms(), passed = now - h->looked_at;
    h->looked_at = now;
    return h->time += passed < HUB_HEARTBEAT_MS ? passed : HUB_HEARTBEAT_MS;
}

struct hub *hub_open(void *zmq_context, const struct endpoint_options *where, int64_t (*clock)(void),
                     struct diag *d)
{
    struct endpoint *endpoint = endpoint_listen(zmq_context, where, d);
    if (!endpoint) return NULL;
    struct hub *h = base_calloc(1, sizeof *h);
    h->endpoint = endpoint;
    h->socket = endpoint_socket(endpoint);
    h->arena = arena_new();
    h->clock_ms = clock;
    h->looked_at = clock();
    return h;
}

struct hub *hub_new(void *zmq_context, const char *endpoint, int64_t (*clock)(void), struct diag *d)
{
    return hub_open(zmq_context, &(struct endpoint_options){.address = endpoint}, clock, d);
}

const char *hub_endpoint(const struct hub *h)
{
    return endpoint_address(h->endpoint);
}

void hub_free(struct hub *h)
{
    if (!h) return;
    for (unsigned i = 0; i < h->n_peers; i++)
        if (h->peers[i].live) hub_send(h, i, &(struct message){.kind = MESSAGE_BYE});
    endpoint_close(h->endpoint);
    arena_free(h->arena);
    free(h->peers);
    free(h);
}

static void send_to(struct hub *h, const void *identity, size_t n, const struct message *m)
{
    size_t bytes;
    void *data = message_encode(m, &bytes);
    if (zmq_send(h->socket, identity, n, ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0)
        zmq_send(h->socket, data, bytes, ZMQ_DONTWAIT);
    free(data);
}

void hub_send(struct hub *h, unsigned peer, const struct message *m)
{
    CHECK(peer < h->n_peers);
    send_to(h, h->peers[peer].identity, h->peers[peer].identity_bytes, m);
}

void hub_refuse(struct hub *h, unsigned peer, const char *reason)
{
    hub_send(h, peer, &(struct message){.kind = MESSAGE_BYE, .bye = {reason}});
    h->peers[peer].live = false;
}

const char *hub_name(const struct hub *h, unsigned peer)
{
    CHECK(peer < h->n_peers);
    return h->peers[peer].name;
}

static bool is_plain(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127) return false;
    return true;
}

const char *hub_hello_fault(const struct message_hello *m)
{
    if (!m->device[0]) return "the device has no name";
    bool plain = is_plain(m->name) && is_plain(m->device) && is_plain(m->driver) && is_plain(m->libraries);
    return plain ? NULL : "a name contains control characters";
}

int hub_idle_peer(const struct hub *h)
{
    for (unsigned i = 0; i < h->n_peers; i++)
        if (h->peers[i].live && h->peers[i].credits) return (int)i;
    return -1;
}

void hub_take_credit(struct hub *h, unsigned peer)
{
    CHECK(h->peers[peer].credits > 0);
    h->peers[peer].credits--;
}

uint64_t hub_results(const struct hub *h, unsigned peer)
{
    return h->peers[peer].results;
}

unsigned hub_live_peers(const struct hub *h)
{
    unsigned n = 0;
    for (unsigned i = 0; i < h->n_peers; i++)
        n += h->peers[i].live;
    return n;
}

void hub_excuse(struct hub *h, unsigned peer, int64_t ms, enum message_kind until)
{
    h->peers[peer].lost_at = hub_time(h) + ms;
    h->peers[peer].awaited = until;
    if (h->peers[peer].ready_by < h->peers[peer].lost_at) h->peers[peer].ready_by = h->peers[peer].lost_at;
}

/* ---- receiving ---- */

static int find_peer(const struct hub *h, const void *identity, size_t bytes)
{
    for (unsigned i = 0; i < h->n_peers; i++) {
        const struct peer *p = &h->peers[i];
        if (p->live && p->identity_bytes == bytes && memcmp(p->identity, identity, bytes) == 0) return (int)i;
    }
    return -1;
}

/* The index of a new peer; places of peers that are gone are used again. -1: the table is full. */
static int new_peer(struct hub *h, const void *identity, size_t bytes, const char *name)
{
    unsigned i = 0;
    while (i < h->n_peers && h->peers[i].live)
        i++;
    if (i == HUB_MAX_PEERS || bytes > IDENTITY_MAX) return -1;
    if (i == h->n_peers) h->peers = base_realloc(h->peers, ++h->n_peers * sizeof *h->peers);
    h->peers[i] = (struct peer){.identity_bytes = bytes,
                                .live = true,
                                .lost_at = hub_time(h) + HUB_PREPARE_MS,
                                .ready_by = h->time + HUB_PREPARE_MS,
                                .awaited = MESSAGE_READY};
    snprintf(h->peers[i].name, HUB_NAME, "%s", name[0] ? name : "an agent");
    utf8_clean_line(h->peers[i].name);
    memcpy(h->peers[i].identity, identity, bytes);
    return (int)i;
}

/* A message has arrived: extends the time until the peer is lost. A permission to be silent lasts until its
 * end. */
static void heard(struct hub *h, struct peer *p, bool ends_excuse)
{
    int64_t lost_at = hub_time(h) + HUB_LOST_MS;
    if (ends_excuse || lost_at > p->lost_at) p->lost_at = lost_at;
}

static struct hub_event take(struct hub *h, unsigned i, const struct message *m)
{
    struct peer *p = &h->peers[i];
    struct hub_event none = {.kind = HUB_IDLE};
    heard(h, p, m->kind == p->awaited);
    switch (m->kind) {
    case MESSAGE_READY:
        p->credits += m->ready.credits < LIMIT_CREDITS ? m->ready.credits : LIMIT_CREDITS;
        p->ready_by = INT64_MAX;
        return (struct hub_event){.kind = m->ready.credits ? HUB_CREDIT : HUB_IDLE, .peer = i};
    case MESSAGE_HEARTBEAT:
        hub_send(h, i, m);
        return none;
    case MESSAGE_RESULT:
        p->results++;
        return (struct hub_event){.kind = HUB_MESSAGE, .peer = i, .message = *m};
    case MESSAGE_REFERENCE:
    case MESSAGE_FIGURES:
        return (struct hub_event){.kind = HUB_MESSAGE, .peer = i, .message = *m};
    case MESSAGE_BYE:
        p->live = false;
        return (struct hub_event){.kind = HUB_GONE, .peer = i, .reason = m->bye.reason};
    default:
        return none;
    }
}

static struct hub_event dispatch(struct hub *h, const void *identity, size_t bytes, const struct message *m)
{
    int i = find_peer(h, identity, bytes);
    if (i >= 0) return take(h, (unsigned)i, m);
    if (m->kind == MESSAGE_HELLO && (i = new_peer(h, identity, bytes, m->hello.name)) >= 0)
        return (struct hub_event){.kind = HUB_HELLO, .peer = (unsigned)i, .message = *m};
    if (m->kind == MESSAGE_HEARTBEAT)
        send_to(h, identity, bytes, &(struct message){.kind = MESSAGE_WHO, .who = {"unknown agent"}});
    return (struct hub_event){.kind = HUB_IDLE};
}

/* Receives all frames of a message. Messages of agents have two: identity and payload. */
static bool receive_frames(void *socket, zmq_msg_t *identity, zmq_msg_t *payload, unsigned *frames)
{
    *frames = 0;
    int more = 1;
    while (more) {
        zmq_msg_t *into = *frames == 0 ? identity : payload;
        if (zmq_msg_recv(into, socket, ZMQ_DONTWAIT) < 0) return false;
        more = zmq_msg_more(into);
        ++*frames;
    }
    return true;
}

static bool receive(struct hub *h, struct hub_event *event)
{
    zmq_msg_t identity, payload;
    unsigned frames;
    zmq_msg_init(&identity);
    zmq_msg_init(&payload);
    bool got = receive_frames(h->socket, &identity, &payload, &frames);
    if (got) {
        struct message m;
        const char *why;
        arena_free(h->arena);
        h->arena = arena_new();
        *event = (struct hub_event){.kind = HUB_IDLE};
        if (frames == 2 && message_decode(zmq_msg_data(&payload), zmq_msg_size(&payload), h->arena, &m, &why))
            *event = dispatch(h, zmq_msg_data(&identity), zmq_msg_size(&identity), &m);
    }
    zmq_msg_close(&identity);
    zmq_msg_close(&payload);
    return got;
}

static bool find_lost(struct hub *h, struct hub_event *event)
{
    int64_t now = hub_time(h);
    for (unsigned i = 0; i < h->n_peers; i++) {
        const struct peer *p = &h->peers[i];
        if (!p->live || (now < p->lost_at && now < p->ready_by)) continue;
        bool silent = now >= p->lost_at;
        const char *reason = silent ? "no heartbeat" : "not ready within ten minutes";
        if (!silent) hub_refuse(h, i, reason);
        h->peers[i].live = false;
        *event = (struct hub_event){.kind = HUB_GONE, .peer = i, .reason = reason};
        return true;
    }
    return false;
}

/* Reads messages until one is an event, at most MOST_TAKEN. Returns how many were read. */
static int take_waiting(struct hub *h, struct hub_event *event)
{
    int n = 0;
    while (n < MOST_TAKEN && event->kind == HUB_IDLE && receive(h, event))
        n++;
    return n;
}

struct hub_event hub_poll(struct hub *h, int timeout_ms, int stop_fd)
{
    struct hub_event event = {.kind = HUB_IDLE};
    int taken = take_waiting(h, &event);
    if (event.kind != HUB_IDLE || find_lost(h, &event) || taken == MOST_TAKEN) return event;
    zmq_pollitem_t items[] = {{.socket = h->socket, .events = ZMQ_POLLIN},
                              {.fd = stop_fd, .events = ZMQ_POLLIN}};
    zmq_poll(items, stop_fd >= 0 ? 2 : 1, timeout_ms);
    if (items[0].revents) take_waiting(h, &event);
    return event;
}
