/* A search's side of the fleet: reads its letters, sends, and knows its agents. All functions but the joining
 * and the closing of a search do under the lock what the functions of the hub do, or leave a parcel for the
 * thread, which alone may use the socket. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utlist.h>

#include "coordinator/fleet_state.h"
#include "core/base/arena.h"
#include "core/base/panic.h"

static void lock(const struct roster *r)
{
    pthread_mutex_lock(&r->fleet->lock);
}

static void unlock(const struct roster *r)
{
    pthread_mutex_unlock(&r->fleet->lock);
}

static void free_letter(struct letter *l)
{
    if (!l) return;
    arena_free(l->memory);
    free(l);
}

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
        if (f->agents[i].memory && !f->agents[i].roster) fleet_place(f, i);
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
            fleet_give(f, i, a->next);
            continue;
        }
        a->roster = a->next = NULL;
        hub_move(f->hub, i, 0);
        fleet_place(f, i);
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
        if (was_full && r->bytes <= LIMIT_LETTERS_BYTES) fleet_wake(r->fleet->fd);
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
    if (!f->outbox) fleet_wake(f->fd);
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
    snprintf(p->why, FLEET_WHY, "%s", reason);
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

unsigned roster_idle_peers(const struct roster *r)
{
    lock(r);
    unsigned n = hub_idle_peers(r->fleet->hub, r->group);
    unlock(r);
    return n;
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
