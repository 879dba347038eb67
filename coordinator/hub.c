/* The ROUTER socket and its peers.
 *
 *     agent -> hub    HELLO        becomes a peer                       HUB_HELLO
 *                     READY 9, 4   took nine jobs, has room for four    HUB_CREDIT
 *                     RESULT       belongs to the caller                HUB_MESSAGE
 *                     HEARTBEAT    every second; answered with the same
 *                     BYE          no peer any more                     HUB_GONE
 *
 * A heartbeat from an unknown sender is answered with WHO: the agent was considered lost, or served another
 * coordinator, and says hello again. All other messages of unknown senders and all malformed ones are
 * dropped, so that they cost only their decoding.
 *
 * A peer that is silent for LIMIT_LOST_MS is lost, except while it prepares the program, or where the caller
 * permits it to be silent (hub_excuse()). Time during which the hub is not polled does not count as silence.
 *
 * Peers are entries of a table. A hash finds them by ZeroMQ's identity; those that are gone are in a list of
 * vacant entries, those with room for a job in a ring of their group. If the table is full, the newcomer
 * takes the place of the peer that has been silent for longest of those that were never ready. */
#include "coordinator/hub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>
#include <zmq.h>

#include "coordinator/limits.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/panic.h"
#include "core/base/utf8.h"

enum { IDENTITY_MAX = 255 };

struct peer {
    uint8_t identity[IDENTITY_MAX];
    size_t identity_bytes;
    unsigned index, group;
    uint64_t at_work;             /* jobs that it has and has not answered, and rounds */
    uint64_t sent, room, results; /* jobs sent to it; that it can take beside those; results received */
    uint64_t capacity;            /* room that it may have at most */
    char name[HUB_NAME];
    int64_t heard_at;          /* ms of the hub's time */
    int64_t lost_at;           /* the same: the peer is lost if it is silent until then */
    int64_t ready_by;          /* the same, until its first READY; INT64_MAX: it was ready */
    enum message_kind awaited; /* the message that ends its permission to be silent */
    bool live, held, in_ring;
    UT_hash_handle hh;        /* of live peers, by identity */
    struct peer *prev, *next; /* in the ring, or in the list of vacant entries */
};

struct hub {
    struct endpoint *endpoint;
    void *socket; /* of the endpoint */
    struct peer *peers[LIMIT_PEERS];
    unsigned n_peers;
    struct peer *by_identity, *rings[HUB_GROUPS], *vacant;
    unsigned n_idle[HUB_GROUPS]; /* in the rings */
    int64_t (*clock_ms)(void);
    int64_t time, looked_at; /* ms: the hub's time; the clock when that was last advanced */
    int64_t look_at;         /* ms of the hub's time: no peer is lost before */
    struct arena *arena;     /* of the last message */
};

/* ---- peers ---- */

static struct peer *peer_of(const struct hub *h, unsigned peer)
{
    CHECK(peer < h->n_peers);
    return h->peers[peer];
}

/* Puts the peer at the ring's end, or takes it out. */
static void queue_peer(struct hub *h, struct peer *p)
{
    struct peer **ring = &h->rings[p->group];
    if (p->in_ring) CDL_DELETE(*ring, p);
    h->n_idle[p->group] -= p->in_ring;
    p->in_ring = p->live && !p->held && p->room > 0;
    h->n_idle[p->group] += p->in_ring;
    if (p->in_ring) CDL_APPEND(*ring, p);
}

static void remove_peer(struct hub *h, struct peer *p)
{
    if (!p->live) return;
    p->live = false;
    queue_peer(h, p);
    HASH_DEL(h->by_identity, p);
    LL_PREPEND(h->vacant, p);
}

/* The peer is lost at `at` at the earliest. */
static void watch_peer(struct hub *h, int64_t at)
{
    if (at < h->look_at) h->look_at = at;
}

/* Advances the hub's time by at most one heartbeat. If this process was stopped or busy for long, the
 * messages that peers have sent meanwhile are read before the peers are considered lost. */
static int64_t hub_time(struct hub *h)
{
    int64_t now = h->clock_ms(), passed = now - h->looked_at;
    h->looked_at = now;
    return h->time += passed < LIMIT_HEARTBEAT_MS ? passed : LIMIT_HEARTBEAT_MS;
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
    h->look_at = INT64_MAX;
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
        if (h->peers[i]->live) hub_send(h, i, &(struct message){.kind = MESSAGE_BYE});
    endpoint_close(h->endpoint);
    arena_free(h->arena);
    HASH_CLEAR(hh, h->by_identity);
    for (unsigned i = 0; i < h->n_peers; i++)
        free(h->peers[i]);
    free(h);
}

static void send_data(struct hub *h, const void *identity, size_t n, const void *data, size_t bytes)
{
    if (zmq_send(h->socket, identity, n, ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0)
        zmq_send(h->socket, data, bytes, ZMQ_DONTWAIT);
}

static void send_to(struct hub *h, const void *identity, size_t n, const struct message *m)
{
    size_t bytes;
    void *data = message_encode(m, &bytes);
    send_data(h, identity, n, data, bytes);
    free(data);
}

void hub_send_bytes(struct hub *h, unsigned peer, const struct hub_bytes *b)
{
    struct peer *p = peer_of(h, peer);
    p->at_work += b->kind == MESSAGE_ROUNDS;
    send_data(h, p->identity, p->identity_bytes, b->data, b->n);
}

void hub_send(struct hub *h, unsigned peer, const struct message *m)
{
    struct hub_bytes b = {.kind = m->kind};
    b.data = message_encode(m, &b.n);
    hub_send_bytes(h, peer, &b);
    free(b.data);
}

void hub_refuse(struct hub *h, unsigned peer, const char *reason)
{
    hub_send(h, peer, &(struct message){.kind = MESSAGE_BYE, .bye = {reason}});
    remove_peer(h, peer_of(h, peer));
}

const char *hub_name(const struct hub *h, unsigned peer)
{
    return peer_of(h, peer)->name;
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

int hub_idle_peer(const struct hub *h, unsigned group)
{
    CHECK(group < HUB_GROUPS);
    return h->rings[group] ? (int)h->rings[group]->index : -1;
}

unsigned hub_idle_peers(const struct hub *h, unsigned group)
{
    CHECK(group < HUB_GROUPS);
    return h->n_idle[group];
}

bool hub_is_live(const struct hub *h, unsigned peer)
{
    return peer < h->n_peers && h->peers[peer]->live;
}

unsigned hub_group(const struct hub *h, unsigned peer)
{
    return peer_of(h, peer)->group;
}

void hub_hold(struct hub *h, unsigned peer)
{
    struct peer *p = peer_of(h, peer);
    p->held = true;
    queue_peer(h, p);
}

void hub_release(struct hub *h, unsigned peer)
{
    struct peer *p = peer_of(h, peer);
    p->room = 0;
    queue_peer(h, p);
    p->held = false;
}

/* What it says of its room before it has the next program is about the last one: a job that it is sent then
 * comes after the program and waits until that is prepared. */
void hub_move(struct hub *h, unsigned peer, unsigned group)
{
    struct peer *p = peer_of(h, peer);
    CHECK(group < HUB_GROUPS);
    p->room = 0;
    queue_peer(h, p);
    p->held = false;
    p->group = group;
    p->at_work = 0;
}

bool hub_is_free(const struct hub *h, unsigned peer)
{
    return peer_of(h, peer)->at_work == 0;
}

struct arena *hub_take_memory(struct hub *h)
{
    struct arena *taken = h->arena;
    h->arena = NULL;
    return taken;
}

void hub_take_credit(struct hub *h, unsigned peer)
{
    struct peer *p = peer_of(h, peer);
    CHECK(p->room > 0);
    p->room--;
    p->sent++;
    p->at_work++;
    queue_peer(h, p);
}

uint64_t hub_results(const struct hub *h, unsigned peer)
{
    return peer_of(h, peer)->results;
}

void hub_excuse(struct hub *h, unsigned peer, int64_t ms, enum message_kind until)
{
    struct peer *p = peer_of(h, peer);
    p->lost_at = hub_time(h) + ms;
    p->awaited = until;
    if (p->ready_by < p->lost_at) p->ready_by = p->lost_at;
    watch_peer(h, p->lost_at);
}

/* ---- receiving ---- */

static struct peer *find_peer(const struct hub *h, const void *identity, size_t bytes)
{
    struct peer *p;
    HASH_FIND(hh, h->by_identity, identity, bytes, p);
    return p;
}

/* Makes room in a full table: removes the peer that has been silent for longest of those that were never
 * ready, so that a flood of hellos does not keep agents out. */
static void evict_peer(struct hub *h)
{
    struct peer *worst = NULL;
    for (unsigned i = 0; i < h->n_peers; i++) {
        struct peer *p = h->peers[i];
        if (p->ready_by != INT64_MAX && (!worst || p->heard_at < worst->heard_at)) worst = p;
    }
    if (worst) hub_refuse(h, worst->index, "the coordinator has too many agents");
}

/* An entry that no peer uses; NULL: the table is full of agents at work. */
static struct peer *vacant_entry(struct hub *h)
{
    if (!h->vacant && h->n_peers == LIMIT_PEERS) evict_peer(h);
    struct peer *p = h->vacant;
    if (p) {
        LL_DELETE(h->vacant, p);
        return p;
    }
    if (h->n_peers == LIMIT_PEERS) return NULL;
    p = base_calloc(1, sizeof *p);
    p->index = h->n_peers;
    return h->peers[h->n_peers++] = p;
}

/* A new peer. NULL: there is no place for it. */
static struct peer *new_peer(struct hub *h, const void *identity, size_t bytes,
                             const struct message_hello *hello)
{
    struct peer *p = bytes <= IDENTITY_MAX ? vacant_entry(h) : NULL;
    if (!p) return NULL;
    int64_t now = hub_time(h), until = now + LIMIT_PREPARE_MS;
    *p = (struct peer){.index = p->index,
                       .identity_bytes = bytes,
                       .capacity = hello->capacity < LIMIT_CREDITS ? hello->capacity : LIMIT_CREDITS,
                       .live = true,
                       .heard_at = now,
                       .lost_at = until,
                       .ready_by = until,
                       .awaited = MESSAGE_READY};
    snprintf(p->name, HUB_NAME, "%s", hello->name[0] ? hello->name : "an agent");
    utf8_clean_line(p->name);
    memcpy(p->identity, identity, bytes);
    HASH_ADD(hh, h->by_identity, identity, bytes, p);
    watch_peer(h, until);
    return p;
}

/* A message has arrived: extends the time until the peer is lost. A permission to be silent lasts until its
 * end. */
static void heard(struct hub *h, struct peer *p, bool ends_excuse)
{
    p->heard_at = hub_time(h);
    int64_t lost_at = p->heard_at + LIMIT_LOST_MS;
    if (ends_excuse || lost_at > p->lost_at) p->lost_at = lost_at;
    watch_peer(h, p->lost_at);
}

/* What an agent says of its room counts from the jobs that it had received then: some may be on their way.
 * Its capacity is the limit, whatever it says. */
static struct hub_event take_ready(struct hub *h, struct peer *p, const struct message_ready *m)
{
    uint64_t ahead = m->jobs <= p->sent ? p->sent - m->jobs : 0;
    uint64_t room = m->credits < p->capacity ? m->credits : p->capacity;
    bool had_room = p->room > 0;
    p->ready_by = INT64_MAX;
    p->room = room > ahead ? room - ahead : 0;
    if (had_room != (p->room > 0)) queue_peer(h, p);
    bool news = p->room > 0 && !had_room && !p->held;
    return (struct hub_event){.kind = news ? HUB_CREDIT : HUB_IDLE, .peer = p->index};
}

static struct hub_event take(struct hub *h, struct peer *p, const struct message *m)
{
    bool ends_work = m->kind == MESSAGE_RESULT || m->kind == MESSAGE_RETURNED || m->kind == MESSAGE_FIGURES;
    const struct hub_event message = {.kind = HUB_MESSAGE, .peer = p->index, .message = *m};
    heard(h, p, m->kind == p->awaited);
    p->at_work -= ends_work && p->at_work > 0;
    switch (m->kind) {
    case MESSAGE_READY:
        return take_ready(h, p, &m->ready);
    case MESSAGE_HEARTBEAT:
        hub_send(h, p->index, m);
        break;
    case MESSAGE_RESULT:
        p->results++;
        return message;
    case MESSAGE_REFERENCE:
    case MESSAGE_BASELINE:
    case MESSAGE_FIGURES:
    case MESSAGE_RETURNED:
        return message;
    case MESSAGE_BYE:
        remove_peer(h, p);
        return (struct hub_event){.kind = HUB_GONE, .peer = p->index, .reason = m->bye.reason};
    default:
        break;
    }
    return (struct hub_event){.kind = HUB_IDLE};
}

static struct hub_event dispatch(struct hub *h, const void *identity, size_t bytes, const struct message *m)
{
    struct peer *p = find_peer(h, identity, bytes);
    if (p) return take(h, p, m);
    if (m->kind == MESSAGE_HELLO && (p = new_peer(h, identity, bytes, &m->hello)))
        return (struct hub_event){.kind = HUB_HELLO, .peer = p->index, .message = *m};
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
        event->bytes = zmq_msg_size(&payload);
    }
    zmq_msg_close(&identity);
    zmq_msg_close(&payload);
    return got;
}

/* Looks at all peers, but only when one may be lost: at the earliest time that the last look has left. */
static bool find_lost(struct hub *h, struct hub_event *event)
{
    int64_t now = hub_time(h);
    if (now < h->look_at) return false;
    h->look_at = INT64_MAX;
    for (unsigned i = 0; i < h->n_peers; i++) {
        struct peer *p = h->peers[i];
        if (!p->live) continue;
        watch_peer(h, p->lost_at < p->ready_by ? p->lost_at : p->ready_by);
        if (now < h->look_at) continue;
        bool silent = now >= p->lost_at;
        const char *reason = silent ? "no heartbeat" : "not ready within ten minutes";
        if (!silent) hub_refuse(h, i, reason);
        remove_peer(h, p);
        *event = (struct hub_event){.kind = HUB_GONE, .peer = i, .reason = reason};
        return true;
    }
    return false;
}

/* Reads messages until one is an event, at most LIMIT_MESSAGES. Returns how many were read. */
static int take_waiting(struct hub *h, struct hub_event *event)
{
    int n = 0;
    while (n < LIMIT_MESSAGES && event->kind == HUB_IDLE && receive(h, event))
        n++;
    return n;
}

struct hub_event hub_poll(struct hub *h, int timeout_ms, int stop_fd)
{
    struct hub_event event = {.kind = HUB_IDLE};
    int taken = take_waiting(h, &event);
    if (event.kind != HUB_IDLE || find_lost(h, &event) || taken == LIMIT_MESSAGES) return event;
    if (timeout_ms == 0) return event;
    hub_wait(h, timeout_ms, stop_fd);
    take_waiting(h, &event);
    return event;
}

void hub_wait(struct hub *h, int timeout_ms, int fd)
{
    zmq_pollitem_t items[] = {{.socket = h->socket, .events = ZMQ_POLLIN}, {.fd = fd, .events = ZMQ_POLLIN}};
    zmq_poll(items, fd >= 0 ? 2 : 1, timeout_ms);
}
