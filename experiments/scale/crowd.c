/* A DEALER socket and a ring of jobs for each agent; see crowd.h.
 *
 * Thousands of sockets are not asked in turn whether something has arrived: that is a system call each, a
 * quarter of two processors with 1,000 agents. Their file descriptors (ZMQ_FD) are in one epoll set. Such a
 * descriptor becomes readable only once for all that has happened to its socket, and a call that sends may
 * take note of what has happened, too; so a socket is emptied after both. */
#include "experiments/scale/crowd.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <zmq.h>

#include "agent/wire.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/hash.h"
#include "core/codec/message.h"
#include "experiments/scale/device.h"

enum { HEARTBEAT_MS = 1000, MOST_WAITS = 1 << 20, MOST_KERNELS = 64, MOST_EVENTS = 256, SILENCE_MS = 5000 };

struct waiting {
    uint64_t id;
    double ns, from_ms;
};

struct one {
    void *socket;
    unsigned number;
    uint64_t received;
    unsigned first, n; /* ring of jobs */
    struct waiting *jobs;
    double answered_ms, sent_ms; /* when the last result was sent; the last message */
    bool has_sent;               /* since its socket was emptied */
    bool done;
};

struct crowd {
    void *context;
    int events; /* an epoll set of the agents' sockets, by number */
    struct one *agents;
    unsigned n, room;
    double job_ms;
    double heard_ms; /* when a message last arrived */
    struct device device;
    double *waits; /* ms from a result to the next job */
    size_t n_waits;
};

/* ---- messages ---- */

static void say(struct one *o, const struct message *m)
{
    size_t bytes;
    void *data = message_encode(m, &bytes);
    zmq_send(o->socket, data, bytes, ZMQ_DONTWAIT);
    free(data);
    o->sent_ms = clock_now_ms();
    o->has_sent = true;
}

static void greet(const struct crowd *c, struct one *o)
{
    char name[32];
    struct arena *a = arena_new();
    snprintf(name, sizeof name, "simulated %u", o->number);
    o->received = 0;
    o->n = 0;
    say(o, &(struct message){.kind = MESSAGE_HELLO,
                             .hello = {.name = name,
                                       .host = "simulated",
                                       .device = c->device.name,
                                       .driver = c->device.driver,
                                       .libraries = "none",
                                       .capacity = c->room,
                                       .limits = wire_device(&c->device, a)}});
    arena_free(a);
}

static void say_ready(const struct crowd *c, struct one *o)
{
    say(o, &(struct message){.kind = MESSAGE_READY, .ready = {o->received, c->room - o->n}});
}

/* A landscape without structure. */
static double time_of(struct message_ints actions)
{
    uint64_t hash = hash_finish(hash_bytes(1, actions.items, actions.n * sizeof *actions.items));
    return 1e6 * (1 + (double)(hash % 10000) / 1000);
}

static void take_job(struct crowd *c, struct one *o, const struct message_job *m)
{
    double now = clock_now_ms();
    if (o->n == c->room) return;
    o->jobs[(o->first + o->n++) % c->room] = (struct waiting){m->id, time_of(m->actions), now};
    if (o->answered_ms > 0 && o->n == 1 && c->n_waits < MOST_WAITS)
        c->waits[c->n_waits++] = now - o->answered_ms;
    o->received++;
}

/* A final round: each kernel takes what its job took. */
static void take_round(struct one *o, const struct message_rounds *m)
{
    double times[MOST_KERNELS];
    size_t n = 0;
    for (size_t at = 0; at < m->kernels.n && n < MOST_KERNELS; n++) {
        size_t length = (size_t)m->kernels.items[at++];
        times[n] = time_of((struct message_ints){m->kernels.items + at, length});
        at += length;
    }
    say(o, &(struct message){.kind = MESSAGE_FIGURES, .figures = {.id = m->id, .times = {times, n}}});
}

static void take(struct crowd *c, struct one *o, const struct message *m)
{
    if (m->kind == MESSAGE_WHO) greet(c, o);
    if (m->kind == MESSAGE_PROGRAM) say_ready(c, o);
    if (m->kind == MESSAGE_JOB) take_job(c, o, &m->job);
    if (m->kind == MESSAGE_ROUNDS) take_round(o, &m->rounds);
    o->done = m->kind == MESSAGE_BYE;
}

static void listen_to(struct crowd *c, struct one *o)
{
    zmq_msg_t frame;
    zmq_msg_init(&frame);
    o->has_sent = false;
    while (!o->done && zmq_msg_recv(&frame, o->socket, ZMQ_DONTWAIT) >= 0) {
        struct arena *a = arena_new();
        struct message m;
        const char *why;
        if (message_decode(zmq_msg_data(&frame), zmq_msg_size(&frame), a, &m, &why)) take(c, o, &m);
        arena_free(a);
        c->heard_ms = clock_now_ms();
    }
    zmq_msg_close(&frame);
}

static void answer(struct crowd *c, struct one *o)
{
    double now = clock_now_ms();
    while (o->n > 0 && o->jobs[o->first].from_ms + c->job_ms <= now) {
        struct waiting *w = &o->jobs[o->first];
        say(o,
            &(struct message){
                .kind = MESSAGE_RESULT,
                .result = {
                    .id = w->id, .status = "ok", .median_ns = w->ns, .samples = {&w->ns, 1}, .message = ""}});
        o->first = (o->first + 1) % c->room;
        o->n--;
        o->answered_ms = now;
        say_ready(c, o);
    }
    if (now - o->sent_ms >= HEARTBEAT_MS)
        say(o, &(struct message){.kind = MESSAGE_HEARTBEAT, .heartbeat = {o->n}});
}

/* ---- the crowd ---- */

static bool watch(const struct crowd *c, const struct one *o)
{
    int fd;
    size_t size = sizeof fd;
    struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.u32 = o->number};
    return zmq_getsockopt(o->socket, ZMQ_FD, &fd, &size) == 0 &&
           epoll_ctl(c->events, EPOLL_CTL_ADD, fd, &e) == 0;
}

static bool connect_one(struct crowd *c, unsigned number, const char *endpoint)
{
    struct one *o = &c->agents[number];
    int linger = 0;
    o->number = number;
    o->jobs = base_calloc(c->room, sizeof *o->jobs);
    o->socket = zmq_socket(c->context, ZMQ_DEALER);
    if (!o->socket || zmq_connect(o->socket, endpoint) != 0) {
        fprintf(stderr, "agent %u cannot connect to %s: %s\n", number, endpoint, zmq_strerror(zmq_errno()));
        return false;
    }
    zmq_setsockopt(o->socket, ZMQ_LINGER, &linger, sizeof linger);
    if (!watch(c, o)) {
        perror("epoll");
        return false;
    }
    greet(c, o);
    return true;
}

struct crowd *crowd_new(const char *endpoint, unsigned n, unsigned room, double job_ms)
{
    struct crowd *c = base_calloc(1, sizeof *c);
    *c = (struct crowd){.context = zmq_ctx_new(), .n = n, .room = room, .job_ms = job_ms};
    zmq_ctx_set(c->context, ZMQ_MAX_SOCKETS, (int)n + 16);
    c->events = epoll_create1(EPOLL_CLOEXEC);
    c->device = scale_device();
    c->agents = base_calloc(n, sizeof *c->agents);
    c->waits = base_calloc(MOST_WAITS, sizeof *c->waits);
    for (unsigned i = 0; i < n; i++)
        if (!connect_one(c, i, endpoint)) {
            crowd_free(c);
            return NULL;
        }
    return c;
}

void crowd_set_job_ms(struct crowd *c, double job_ms)
{
    c->job_ms = job_ms;
}

bool crowd_turn(struct crowd *c)
{
    struct epoll_event events[MOST_EVENTS];
    unsigned done = 0;
    int n = epoll_wait(c->events, events, MOST_EVENTS, 0);
    for (int i = 0; i < n; i++)
        listen_to(c, &c->agents[events[i].data.u32]);
    for (unsigned i = 0; i < c->n; i++) {
        struct one *o = &c->agents[i];
        if (!o->done) answer(c, o);
        while (!o->done && o->has_sent)
            listen_to(c, o);
        done += o->done;
    }
    return done < c->n && !(done > 0 && clock_now_ms() - c->heard_ms > SILENCE_MS);
}

unsigned crowd_jobs(const struct crowd *c)
{
    unsigned n = 0;
    for (unsigned i = 0; i < c->n; i++)
        n += c->agents[i].n;
    return n;
}

const double *crowd_waits(const struct crowd *c, size_t *n)
{
    *n = c->n_waits;
    return c->waits;
}

void crowd_free(struct crowd *c)
{
    for (unsigned i = 0; i < c->n; i++) {
        if (c->agents[i].socket) zmq_close(c->agents[i].socket);
        free(c->agents[i].jobs);
    }
    zmq_ctx_term(c->context);
    if (c->events >= 0) close(c->events);
    free(c->agents);
    free(c->waits);
    free(c);
}
