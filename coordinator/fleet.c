/* The thread of the hub, and the rosters.
 *
 *     agents <-> hub <- thread -> letters -> roster 1 <- search
 *                          |  \-> letters -> roster 2 <- search
 *                          \---------------- outbox   <- what searches send
 *
 * One lock guards everything but the socket, which only the thread touches: it lets go of the lock while it
 * waits for messages. A letter is an event of the hub with the memory of its message; a search wakes by an
 * event descriptor when its first letter arrives, the thread by another one when something is to be sent.
 *
 * Searches are slower than sockets. If letters of LIMIT_LETTERS_BYTES wait for one search, the thread reads
 * no message until they are fewer, so that memory is bounded; ZeroMQ then holds agents back. */
#include "coordinator/fleet.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utlist.h>
#include <zmq.h>

#include "agent/device.h"
#include "agent/wire.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/panic.h"

enum { WHY = 256 };

struct letter {
    struct hub_event event;
    struct arena *memory; /* of its message; NULL: the event has no memory */
    size_t bytes;
    char name[HUB_NAME]; /* of the agent */
    struct letter *prev, *next;
};

/* What a search sends, or an agent that it refuses. */
struct parcel {
    unsigned peer, group;
    struct hub_bytes bytes;
    bool refused, *done; /* set when an agent is refused */
    char why[WHY];
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
    struct roster *rosters[HUB_GROUPS]; /* by group; group 0 is nobody's */
    struct fleet_agent *agents;         /* by number */
    unsigned n_agents;
    uint64_t n_joined; /* searches, since it began */
    int64_t heard_ms;  /* clock_ms(): all that had arrived by then is in the letters */
    int64_t balanced_ms;
};

static void wake(int fd)
{
    CHECK(eventfd_write(fd, 1) == 0);
}

static void lock(const struct roster *r)
{
    pthread_mutex_lock(&r->fleet->lock);
}

static void unlock(const struct roster *r)
{
    pthread_mutex_unlock(&r->fleet->lock);
}

/* ---- letters ---- */

/* Takes the memory. */
static void post(struct fleet *f, struct roster *r, const struct hub_event *event, struct arena *memory)
{
    struct letter *l = base_calloc(1, sizeof *l);
    *l = (struct letter){.event = *event, .memory = memory, .bytes = sizeof *l + event->bytes};
    snprintf(l->name, HUB_NAME, "%s", hub_name(f->hub, event->peer));
    if (!r->letters) wake(r->fd);
    DL_APPEND(r->letters, l);
    r->bytes += l->bytes;
}

static void free_letter(struct letter *l)
{
    if (!l) return;
    arena_free(l->memory);
    free(l);
}

/* Whether a search has more letters than memory allows. */
static bool is_full(const struct fleet *f)
{
    for (unsigned g = 1; g < HUB_GROUPS; g++)
        if (f->rosters[g] && f->rosters[g]->bytes > LIMIT_LETTERS_BYTES) return true;
    return false;
}

/* ---- who serves which search ---- */

static struct fleet_agent *agent_of(struct fleet *f, unsigned peer)
{
    if (peer >= f->n_agents) {
        f->agents = base_realloc(f->agents, (peer + 1) * sizeof *f->agents);
        memset(f->agents + f->n_agents, 0, (peer + 1 - f->n_agents) * sizeof *f->agents);
        f->n_agents = peer + 1;
    }
    return &f->agents[peer];
}

static bool suits(const struct fleet *f, const struct fleet_agent *a, const struct roster *r)
{
    if (f->sole) return true;
    if (r->device[0]) return strcmp(a->device.name, r->device) == 0;
    return device_matches(&a->device, r->selector);
}

/* The search with the fewest agents of those that an agent suits; NULL: none. */
static struct roster *neediest(const struct fleet *f, const struct fleet_agent *a)
{
    struct roster *best = NULL;
    for (unsigned g = 1; g < HUB_GROUPS; g++) {
        struct roster *r = f->rosters[g];
        if (r && suits(f, a, r) && (!best || r->n_agents < best->n_agents)) best = r;
    }
    return best;
}

/* The search hears of the agent as of a new one: with a copy of its hello, since it may hear of it again. */
static void give(struct fleet *f, unsigned peer, struct roster *r)
{
    struct fleet_agent *a = agent_of(f, peer);
    struct hub_event e = {.kind = HUB_HELLO, .peer = peer};
    size_t n;
    const char *why;
    void *data = message_encode(&a->hello, &n);
    struct arena *memory = arena_new();
    CHECK(message_decode(data, n, memory, &e.message, &why));
    free(data);
    e.bytes = n;
    a->roster = r;
    a->next = NULL;
    hub_move(f->hub, peer, r->group);
    post(f, r, &e, memory);
}

/* An agent without a search gets one, if there is one for it. */
static void place(struct fleet *f, unsigned peer)
{
    struct fleet_agent *a = agent_of(f, peer);
    struct roster *r = neediest(f, a);
    if (!r) return;
    r->n_agents++;
    give(f, peer, r);
}

/* The agent has finished what it was at. */
static void move(struct fleet *f, unsigned peer)
{
    struct fleet_agent *a = agent_of(f, peer);
    struct roster *to = a->next;
    post(f, a->roster, &(struct hub_event){.kind = HUB_MOVED, .peer = peer}, NULL);
    give(f, peer, to);
}

/* An agent of a search that has two more than another one is to move there, if it suits; one a look. */
static void mark(struct fleet *f, unsigned peer)
{
    struct fleet_agent *a = agent_of(f, peer);
    struct roster *to = neediest(f, a);
    if (!to || to->n_agents + 2 > a->roster->n_agents) return;
    a->roster->n_agents--;
    to->n_agents++;
    a->next = to;
    hub_hold(f->hub, peer);
}

static void balance(struct fleet *f)
{
    int64_t now = clock_ms();
    if (f->sole || now - f->balanced_ms < LIMIT_BALANCE_MS) return;
    f->balanced_ms = now;
    for (unsigned peer = 0; peer < f->n_agents; peer++) {
        struct fleet_agent *a = &f->agents[peer];
        if (!a->memory || !a->roster) continue;
        if (!a->next) mark(f, peer);
        if (a->next && hub_is_free(f->hub, peer)) move(f, peer);
    }
}

static void forget(struct fleet *f, unsigned peer)
{
    struct fleet_agent *a = agent_of(f, peer);
    struct roster *counts = a->next ? a->next : a->roster;
    if (counts) counts->n_agents--;
    arena_free(a->memory);
    *a = (struct fleet_agent){0};
}

/* A new agent. What it says of its device is checked by the search; one that nobody can use is refused. */
static void take_hello(struct fleet *f, const struct hub_event *e, struct arena *memory)
{
    struct fleet_agent *a = agent_of(f, e->peer);
    if (a->memory) forget(f, e->peer);
    a = agent_of(f, e->peer);
    *a = (struct fleet_agent){.memory = memory, .hello = e->message};
    const struct message_hello *hello = &e->message.hello;
    snprintf(a->device.name, sizeof a->device.name, "%s", hello->device);
    snprintf(a->device.driver, sizeof a->device.driver, "%s", hello->driver);
    const char *fault = hub_hello_fault(hello);
    if (!fault && !wire_read_device(hello->limits, &a->device))
        fault = "the limits of its device are not plausible";
    if (f->sole || !fault) {
        place(f, e->peer);
        return;
    }
    hub_refuse(f->hub, e->peer, fault);
    forget(f, e->peer);
}

/* ---- the thread ---- */

static void hand_on(struct fleet *f, const struct hub_event *e)
{
    struct arena *memory = hub_take_memory(f->hub);
    struct roster *r = e->kind == HUB_HELLO ? NULL : agent_of(f, e->peer)->roster;
    if (e->kind == HUB_HELLO) {
        take_hello(f, e, memory);
        return;
    }
    if (e->kind == HUB_GONE) forget(f, e->peer);
    if (r)
        post(f, r, e, memory);
    else
        arena_free(memory);
}

static void refuse(struct fleet *f, const struct parcel *p)
{
    hub_refuse(f->hub, p->peer, p->why);
    forget(f, p->peer);
}

static void send_all(struct fleet *f)
{
    eventfd_t ignored;
    for (struct parcel *p; (p = f->outbox);) {
        bool valid = hub_is_live(f->hub, p->peer) && hub_group(f->hub, p->peer) == p->group;
        DL_DELETE(f->outbox, p);
        if (valid && p->refused) refuse(f, p);
        if (valid && !p->refused) hub_send_bytes(f->hub, p->peer, &p->bytes);
        if (p->refused) {
            *p->done = true;
            pthread_cond_broadcast(&f->refused);
        }
        free(p->bytes.data);
        free(p);
    }
    eventfd_read(f->fd, &ignored);
}

/* Takes messages for a moment, so that searches get the lock. */
static bool take_some(struct fleet *f)
{
    enum { MOST = 64 };
    int64_t now = clock_ms();
    for (int i = 0; i < MOST; i++) {
        struct hub_event e = hub_poll(f->hub, 0, -1);
        if (e.kind != HUB_IDLE) {
            hand_on(f, &e);
            continue;
        }
        f->heard_ms = now;
        return false;
    }
    return true;
}

static void *fleet_main(void *arg)
{
    struct fleet *f = arg;
    pthread_mutex_lock(&f->lock);
    while (!f->stop) {
        send_all(f);
        bool full = is_full(f), more = !full && take_some(f);
        balance(f);
        bool waits = !more && !f->outbox && !f->stop;
        pthread_mutex_unlock(&f->lock);
        if (full && waits)
            poll(&(struct pollfd){.fd = f->fd, .events = POLLIN}, 1, LIMIT_BALANCE_MS);
        else if (waits)
            hub_wait(f->hub, LIMIT_BALANCE_MS, f->fd);
        pthread_mutex_lock(&f->lock);
    }
    send_all(f);
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

struct fleet *fleet_open(const struct fleet_options *o, struct diag *d)
{
    void *own = o->context ? NULL : zmq_ctx_new();
    struct hub *hub = hub_open(o->context ? o->context : own, &o->where, clock_ms, d);
    if (!hub) {
        if (own) zmq_ctx_term(own);
        return NULL;
    }
    struct fleet *f = base_calloc(1, sizeof *f);
    f->hub = hub;
    f->context = own;
    f->sole = o->sole;
    f->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    CHECK(f->fd >= 0);
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->refused, NULL);
    CHECK(pthread_create(&f->thread, NULL, fleet_main, f) == 0);
    return f;
}

void fleet_close(struct fleet *f)
{
    if (!f) return;
    pthread_mutex_lock(&f->lock);
    f->stop = true;
    wake(f->fd);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->thread, NULL);
    hub_free(f->hub);
    if (f->context) zmq_ctx_term(f->context);
    for (unsigned i = 0; i < f->n_agents; i++)
        arena_free(f->agents[i].memory);
    pthread_cond_destroy(&f->refused);
    pthread_mutex_destroy(&f->lock);
    close(f->fd);
    free(f->agents);
    free(f);
}

const char *fleet_endpoint(const struct fleet *f)
{
    return hub_endpoint(f->hub);
}

unsigned fleet_agents(struct fleet *f, const char *selector)
{
    unsigned n = 0;
    pthread_mutex_lock(&f->lock);
    for (unsigned i = 0; i < f->n_agents; i++)
        n += f->agents[i].memory && device_matches(&f->agents[i].device, selector);
    pthread_mutex_unlock(&f->lock);
    return n;
}

bool fleet_device(struct fleet *f, const char *selector, struct device *out)
{
    bool found = false;
    pthread_mutex_lock(&f->lock);
    for (unsigned i = 0; i < f->n_agents && !found; i++) {
        found = f->agents[i].memory && device_matches(&f->agents[i].device, selector);
        if (found) *out = f->agents[i].device;
    }
    pthread_mutex_unlock(&f->lock);
    return found;
}

/* ---- rosters ---- */

struct roster *fleet_join(struct fleet *f, const char *selector)
{
    struct roster *r = base_calloc(1, sizeof *r);
    *r = (struct roster){.fleet = f, .selector = selector, .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    CHECK(r->fd >= 0);
    lock(r);
    for (unsigned g = 1; g < HUB_GROUPS && !r->group; g++)
        if (!f->rosters[g]) r->group = g;
    if (r->group) f->rosters[r->group] = r;
    r->serial = f->n_joined++;
    for (unsigned i = 0; r->group && i < f->n_agents; i++)
        if (f->agents[i].memory && !f->agents[i].roster) place(f, i);
    unlock(r);
    if (r->group) return r;
    close(r->fd);
    free(r);
    return NULL;
}

void roster_close(struct roster *r)
{
    if (!r) return;
    struct fleet *f = r->fleet;
    lock(r);
    f->rosters[r->group] = NULL;
    for (unsigned i = 0; i < f->n_agents; i++) {
        struct fleet_agent *a = &f->agents[i];
        if (a->next == r) { /* it was to come */
            a->next = a->roster;
            a->roster->n_agents++;
        }
        if (a->roster != r) continue;
        if (a->next && a->next != r) {
            give(f, i, a->next);
            continue;
        }
        a->roster = a->next = NULL;
        hub_move(f->hub, i, 0);
        place(f, i);
    }
    unlock(r);
    for (struct letter *l = r->letters, *next; l; l = next) {
        next = l->next;
        free_letter(l);
    }
    free_letter(r->read);
    close(r->fd);
    free(r->names);
    free(r);
}

void roster_settle(struct roster *r, const char *device)
{
    lock(r);
    snprintf(r->device, sizeof r->device, "%s", device);
    unlock(r);
}

static struct letter *next_letter(struct roster *r)
{
    eventfd_t ignored;
    lock(r);
    struct letter *l = r->letters;
    if (l) {
        DL_DELETE(r->letters, l);
        bool was_full = r->bytes > LIMIT_LETTERS_BYTES;
        r->bytes -= l->bytes;
        if (was_full && r->bytes <= LIMIT_LETTERS_BYTES) wake(r->fleet->fd);
    }
    if (!r->letters) eventfd_read(r->fd, &ignored);
    unlock(r);
    return l;
}

static void note_name(struct roster *r, const struct letter *l)
{
    unsigned peer = l->event.peer;
    if (peer >= r->n_names) {
        r->names = base_realloc(r->names, (peer + 1) * sizeof *r->names);
        memset(r->names + r->n_names, 0, (peer + 1 - r->n_names) * sizeof *r->names);
        r->n_names = peer + 1;
    }
    memcpy(r->names[peer], l->name, HUB_NAME);
}

struct hub_event roster_poll(struct roster *r, int timeout_ms, int stop_fd)
{
    free_letter(r->read);
    r->read = next_letter(r);
    if (!r->read && timeout_ms != 0) {
        struct pollfd fds[] = {{.fd = r->fd, .events = POLLIN}, {.fd = stop_fd, .events = POLLIN}};
        poll(fds, stop_fd >= 0 ? 2 : 1, timeout_ms);
        r->read = next_letter(r);
    }
    if (!r->read) return (struct hub_event){.kind = HUB_IDLE};
    if (r->read->event.kind == HUB_HELLO) note_name(r, r->read);
    return r->read->event;
}

/* Takes the parcel. */
static void send_parcel(struct roster *r, struct parcel *p)
{
    struct fleet *f = r->fleet;
    p->group = r->group;
    if (!f->outbox) wake(f->fd);
    DL_APPEND(f->outbox, p);
}

void roster_send(struct roster *r, unsigned peer, const struct message *m)
{
    struct parcel *p = base_calloc(1, sizeof *p);
    p->peer = peer;
    p->bytes.kind = m->kind;
    p->bytes.data = message_encode(m, &p->bytes.n);
    lock(r);
    send_parcel(r, p);
    unlock(r);
}

void roster_refuse(struct roster *r, unsigned peer, const char *reason)
{
    struct parcel *p = base_calloc(1, sizeof *p);
    bool done = false;
    p->peer = peer;
    p->refused = true;
    p->done = &done;
    snprintf(p->why, WHY, "%s", reason);
    lock(r);
    send_parcel(r, p);
    while (!done)
        pthread_cond_wait(&r->fleet->refused, &r->fleet->lock);
    unlock(r);
}

const char *roster_name(const struct roster *r, unsigned peer)
{
    CHECK(peer < r->n_names);
    return r->names[peer];
}

int roster_idle_peer(const struct roster *r)
{
    lock(r);
    int peer = hub_idle_peer(r->fleet->hub, r->group);
    unlock(r);
    return peer;
}

int roster_take_credit(struct roster *r)
{
    struct hub *h = r->fleet->hub;
    lock(r);
    int peer = hub_idle_peer(h, r->group);
    if (peer >= 0) hub_take_credit(h, (unsigned)peer);
    unlock(r);
    return peer;
}

uint64_t roster_results(const struct roster *r, unsigned peer)
{
    lock(r);
    uint64_t n = hub_results(r->fleet->hub, peer);
    unlock(r);
    return n;
}

unsigned roster_live_peers(const struct roster *r)
{
    lock(r);
    unsigned n = r->n_agents;
    unlock(r);
    return n;
}

void roster_excuse(struct roster *r, unsigned peer, int64_t ms, enum message_kind until)
{
    lock(r);
    hub_excuse(r->fleet->hub, peer, ms, until);
    unlock(r);
}

int64_t roster_heard_ms(const struct roster *r)
{
    lock(r);
    int64_t ms = r->letters ? 0 : r->fleet->heard_ms;
    unlock(r);
    return ms;
}

uint64_t roster_serial(const struct roster *r)
{
    return r->serial;
}

const char *roster_endpoint(const struct roster *r)
{
    return fleet_endpoint(r->fleet);
}
