/* The thread of the hub, and which agent serves which search. The searches' side is roster.c.
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utlist.h>
#include <zmq.h>

#include "agent/wire.h"
#include "coordinator/fleet_state.h"
#include "coordinator/limits.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/panic.h"

void fleet_wake(int fd)
{
    CHECK(eventfd_write(fd, 1) == 0);
}

/* ---- letters ---- */

/* Takes the memory. */
static void post(struct fleet *f, struct roster *r, const struct hub_event *event, struct arena *memory)
{
    struct letter *l = base_calloc(1, sizeof *l);
    *l = (struct letter){.event = *event, .memory = memory, .bytes = sizeof *l + event->bytes};
    if (event->kind != HUB_REFUSED) snprintf(l->name, HUB_NAME, "%s", hub_name(f->hub, event->peer));
    if (!r->letters) fleet_wake(r->fd);
    DL_APPEND(r->letters, l);
    r->bytes += l->bytes;
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

/* The search hears of the agent as of a new one: with a copy of its hello, since it may hear of it again. It
 * has no turn before the search has taken it and sent it the program: what it says of its room until then
 * makes no job, which nobody would do. */
void fleet_give(struct fleet *f, unsigned peer, struct roster *r)
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
    hub_hold(f->hub, peer);
    post(f, r, &e, memory);
}

/* An agent without a search gets one, if there is one for it. */
void fleet_place(struct fleet *f, unsigned peer)
{
    struct fleet_agent *a = agent_of(f, peer);
    struct roster *r = neediest(f, a);
    if (!r) return;
    r->n_agents++;
    fleet_give(f, peer, r);
}

/* The agent has finished what it was at. */
static void move(struct fleet *f, unsigned peer)
{
    struct fleet_agent *a = agent_of(f, peer);
    struct roster *to = a->next;
    post(f, a->roster, &(struct hub_event){.kind = HUB_MOVED, .peer = peer}, NULL);
    fleet_give(f, peer, to);
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
        fleet_place(f, e->peer);
        return;
    }
    hub_refuse(f->hub, e->peer, fault);
    forget(f, e->peer);
}

/* ---- refused connections ---- */

/* Called on the thread that checks keys. A flood of connections must not fill the store. */
static void note_refusal(void *ctx, const char *line)
{
    struct fleet *f = ctx;
    int64_t now = clock_ms();
    fprintf(stderr, "%s\n", line);
    pthread_mutex_lock(&f->lock);
    bool few = f->n_refusals < LIMIT_EVENTS || now - f->refused_ms >= LIMIT_EVENTS_MS;
    if (few && f->n_kept < LIMIT_EVENTS) {
        struct refusal *r = base_calloc(1, sizeof *r + strlen(line) + 1);
        memcpy(r->line, line, strlen(line) + 1);
        DL_APPEND(f->refusals, r);
        f->n_kept++;
        f->n_refusals++;
        f->refused_ms = now;
    }
    pthread_mutex_unlock(&f->lock);
}

/* A search that records; NULL: none yet. */
static struct roster *settled_roster(const struct fleet *f)
{
    for (unsigned g = 1; g < HUB_GROUPS; g++)
        if (f->rosters[g] && f->rosters[g]->device[0]) return f->rosters[g];
    return NULL;
}

static void free_refusal(struct fleet *f, struct refusal *r)
{
    DL_DELETE(f->refusals, r);
    f->n_kept--;
    free(r);
}

static void tell_refusals(struct fleet *f)
{
    struct roster *r = f->refusals ? settled_roster(f) : NULL;
    while (r && f->refusals) {
        struct arena *memory = arena_new();
        struct hub_event e = {.kind = HUB_REFUSED, .reason = arena_strdup(memory, f->refusals->line)};
        post(f, r, &e, memory);
        free_refusal(f, f->refusals);
    }
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

/* With the program an agent begins, unless it is to move again. */
static void send_parcel(struct fleet *f, const struct parcel *p)
{
    hub_send_bytes(f->hub, p->peer, &p->bytes);
    if (p->bytes.kind == MESSAGE_PROGRAM && !agent_of(f, p->peer)->next) hub_release(f->hub, p->peer);
}

static void send_all(struct fleet *f)
{
    eventfd_t ignored;
    for (struct parcel *p; (p = f->outbox);) {
        bool valid = hub_is_live(f->hub, p->peer) && hub_group(f->hub, p->peer) == p->group;
        DL_DELETE(f->outbox, p);
        if (valid && p->refused) refuse(f, p);
        if (valid && !p->refused) send_parcel(f, p);
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
        tell_refusals(f);
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
    struct fleet *f = base_calloc(1, sizeof *f);
    struct endpoint_options where = o->where;
    pthread_mutex_init(&f->lock, NULL);
    if (!where.report) where.report = note_refusal, where.ctx = f;
    f->context = o->context ? NULL : zmq_ctx_new();
    f->hub = hub_open(f->context ? f->context : o->context, &where, clock_ms, d);
    if (!f->hub) {
        if (f->context) zmq_ctx_term(f->context);
        pthread_mutex_destroy(&f->lock);
        free(f);
        return NULL;
    }
    f->sole = o->sole;
    f->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    CHECK(f->fd >= 0);
    pthread_cond_init(&f->refused, NULL);
    CHECK(pthread_create(&f->thread, NULL, fleet_main, f) == 0);
    return f;
}

void fleet_close(struct fleet *f)
{
    if (!f) return;
    pthread_mutex_lock(&f->lock);
    f->stop = true;
    fleet_wake(f->fd);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->thread, NULL);
    hub_free(f->hub);
    if (f->context) zmq_ctx_term(f->context);
    for (unsigned i = 0; i < f->n_agents; i++)
        arena_free(f->agents[i].memory);
    while (f->refusals)
        free_refusal(f, f->refusals);
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
