/* An agent's loop: wait for the socket, the runners or the clock; answer each message; send each finished
 * evaluation (README.md, "An agent's life").
 *
 *     agent                     coordinator
 *     HELLO device, limits  ->
 *                           <-  WELCOME, PROGRAM
 *     READY 4               ->
 *                           <-  JOB 17: decisions
 *     HEARTBEAT, RESULT 17  ->
 *     READY 1, 4            ->                      one job received, room for four
 *
 * All state is in one struct on one thread; a message that makes no sense is answered with a failed result or
 * ends the service with a reason, never the process. Heartbeats are sent also while a call waits for runners
 * or for the device. */
#include "agent/serve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <zmq.h>

#include "agent/limits.h"
#include "agent/serve_state.h"
#include "agent/wire.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/panic.h"
#include "core/base/stop.h"
#include "core/base/utf8.h"
#include "core/keys/agent.h"

enum { AGENT_NAME = 80, AGENT_HOST = AGENT_NAME / 2 };
enum { MOST_TAKEN = 256 /* messages that one turn reads: heartbeats go on in a flood */ };

/* A coordinator is not silent because this process was stopped. */
static double now_ms(struct agent *a)
{
    return clock_awake_ms(&a->awake, AGENT_LOOK_MS);
}

void agent_send(struct agent *a, const struct message *m)
{
    size_t bytes;
    void *data = message_encode(m, &bytes);
    zmq_send(a->socket, data, bytes, ZMQ_DONTWAIT);
    free(data);
    a->last_sent = now_ms(a);
}

static void send_heartbeat(struct agent *a)
{
    if (now_ms(a) - a->last_sent >= a->heartbeat_ms)
        agent_send(a, &(struct message){.kind = MESSAGE_HEARTBEAT, .heartbeat = {a->n_running}});
}

void agent_ready(struct agent *a)
{
    uint64_t capacity = a->evaluator ? evaluator_capacity(a->evaluator) : 0;
    uint64_t room = a->draining || capacity < a->n_running ? 0 : capacity - a->n_running;
    agent_send(a, &(struct message){.kind = MESSAGE_READY, .ready = {a->received, room}});
}

bool agent_must_leave(struct agent *a)
{
    return stop_requested(a->options->stop_fd) || now_ms(a) >= a->drain_at;
}

void agent_stay_alive(void *ctx)
{
    struct agent *a = ctx;
    send_heartbeat(a);
    bool now = a->options->embedded || a->at_work;
    if (now && agent_must_leave(a)) CHECK(eventfd_write(a->abandon_fd, 1) == 0);
}

void agent_give_up(struct agent *a, const char *reason)
{
    diag_plain(a->diag, "%s", reason);
    agent_send(a, &(struct message){.kind = MESSAGE_BYE, .bye = {reason}});
    a->done = a->failed = true;
}

void agent_note(const struct agent *a, const char *text)
{
    if (a->options->note && *text) a->options->note(text);
}

/* The name of this machine. */
static void own_host(char host[AGENT_HOST])
{
    snprintf(host, AGENT_HOST, "agent");
    gethostname(host, AGENT_HOST - 1);
    host[AGENT_HOST - 1] = 0;
    utf8_clean_line(host);
}

/* The given name, else HOST:PID. */
static void own_name(const char *given, const char *host, char name[AGENT_NAME])
{
    if (given)
        snprintf(name, AGENT_NAME, "%s", given);
    else
        snprintf(name, AGENT_NAME, "%s:%ld", host, (long)getpid());
    utf8_clean_line(name);
}

static void say_hello(struct agent *a)
{
    struct arena *arena = arena_new();
    const struct device *dev = &a->options->device;
    a->hello_sent = now_ms(a);
    a->welcome = false;
    a->received = 0;
    char name[AGENT_NAME], host[AGENT_HOST], libraries[WIRE_LIBRARIES];
    wire_libraries(dev, libraries);
    own_host(host);
    own_name(a->options->name, host, name);
    agent_send(a, &(struct message){.kind = MESSAGE_HELLO,
                                    .hello = {.name = name,
                                              .host = host,
                                              .device = dev->name,
                                              .driver = dev->driver,
                                              .libraries = libraries,
                                              .capacity = evaluator_capacity_on(dev, a->options->runners),
                                              .limits = wire_device(dev, arena)}});
    arena_free(arena);
}

/* ---- the loop ---- */

/* The coordinator has lost sight of this agent, or is another one. A hello on its way is given time. */
static void introduce_again(struct agent *a)
{
    if (!a->welcome && now_ms(a) - a->hello_sent < AGENT_HELLO_MS) return;
    agent_forget_program(a);
    say_hello(a);
}

/* Heartbeats as often as the coordinator wants them, within limits. */
static double heartbeat_of(const struct message_welcome *m)
{
    const uint64_t least = AGENT_HEARTBEAT_LEAST_MS, most = AGENT_HEARTBEAT_MOST_MS;
    return (double)(m->heartbeat_ms < least ? least : m->heartbeat_ms < most ? m->heartbeat_ms : most);
}

static void handle(struct agent *a, const struct message *m)
{
    switch (m->kind) {
    case MESSAGE_WELCOME:
        if (!a->welcome) agent_note(a, "connected to the coordinator");
        a->welcome = true;
        a->heartbeat_ms = heartbeat_of(&m->welcome);
        break;
    case MESSAGE_WHO:
        introduce_again(a);
        break;
    case MESSAGE_PROGRAM:
        agent_take_program(a, &m->program);
        break;
    case MESSAGE_JOB:
        if (a->evaluator) agent_start_job(a, &m->job);
        break;
    case MESSAGE_ROUNDS:
        if (a->evaluator) agent_measure_rounds(a, &m->rounds);
        break;
    case MESSAGE_BYE:
        a->done = true;
        a->failed = m->bye.reason[0] != 0;
        if (a->failed) diag_plain(a->diag, "refused by the coordinator: %s", m->bye.reason);
        break;
    default:
        break;
    }
}

static void receive(struct agent *a)
{
    zmq_msg_t frame;
    zmq_msg_init(&frame);
    for (int i = 0; i < MOST_TAKEN && !a->done && zmq_msg_recv(&frame, a->socket, ZMQ_DONTWAIT) >= 0; i++) {
        struct arena *arena = arena_new();
        struct message m;
        const char *why;
        if (message_decode(zmq_msg_data(&frame), zmq_msg_size(&frame), arena, &m, &why)) handle(a, &m);
        arena_free(arena);
        a->last_heard = now_ms(a);
    }
    zmq_msg_close(&frame);
}

static void wait_for_work(struct agent *a)
{
    int fds[EVAL_MAX_FDS];
    unsigned n_fds = a->evaluator ? evaluator_fds(a->evaluator, fds, EVAL_MAX_FDS) : 0;
    zmq_pollitem_t items[EVAL_MAX_FDS + 2] = {{.socket = a->socket, .events = ZMQ_POLLIN}};
    int n = 1;
    int stop_fd = a->draining ? -1 : a->options->stop_fd;
    if (stop_fd >= 0) items[n++] = (zmq_pollitem_t){.fd = stop_fd, .events = ZMQ_POLLIN};
    for (unsigned i = 0; i < n_fds; i++)
        items[n++] = (zmq_pollitem_t){.fd = fds[i], .events = ZMQ_POLLIN};
    zmq_poll(items, n, a->running ? AGENT_TURN_MS : (long)fmin(AGENT_HEARTBEAT_MS, a->heartbeat_ms));
}

/* Takes no more jobs. The embedded agent ends at once, as its coordinator does. */
static void drain(struct agent *a)
{
    a->draining = true;
    a->done = a->options->embedded;
    if (a->done) return;
    agent_return_waiting(a);
    agent_ready(a);
    if (a->running) agent_note(a, "finishing the jobs at work, then leaving");
}

/* Leaves when it is time to: at once where nothing is at work, or where draining took too long. */
static void leave_in_time(struct agent *a)
{
    if (!a->draining && agent_must_leave(a)) drain(a);
    if (a->draining && (!a->running || now_ms(a) >= a->ends)) a->done = true;
}

static void keep_alive(struct agent *a)
{
    send_heartbeat(a);
    if (!a->options->embedded && now_ms(a) - a->last_heard >= a->patience_ms) {
        char why[EVAL_MESSAGE];
        snprintf(why, sizeof why,
                 "no heartbeat from the coordinator for %.0f seconds; start this agent again when the "
                 "coordinator runs",
                 a->patience_ms / 1e3);
        agent_give_up(a, why);
    }
}

static void serve_loop(struct agent *a)
{
    double start = a->last_heard = now_ms(a);
    if (a->options->most_s > 0) {
        a->ends = start + a->options->most_s * 1e3;
        a->drain_at = a->ends - fmin(AGENT_DRAIN_S, a->options->most_s / 10) * 1e3;
    }
    say_hello(a);
    while (!a->done) {
        wait_for_work(a);
        receive(a);
        while (agent_collect(a, 0))
            continue;
        if (!a->done) leave_in_time(a);
        if (!a->done) keep_alive(a);
    }
    if (!a->failed) agent_send(a, &(struct message){.kind = MESSAGE_BYE});
}

bool agent_serve(const struct serve_options *o, struct diag *d)
{
    double patience_s = o->patience_s > 0 ? o->patience_s : AGENT_PATIENCE_S;
    struct agent a = {.options = o,
                      .abandon_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                      .patience_ms = patience_s * 1e3,
                      .drain_at = INFINITY,
                      .ends = INFINITY,
                      .diag = d,
                      .socket = zmq_socket(o->context, ZMQ_DEALER),
                      .awake = clock_awake_start(),
                      .heartbeat_ms = AGENT_HEARTBEAT_MS};
    int linger = AGENT_LINGER_MS;
    int64_t most = MESSAGE_MAX_BYTES;
    zmq_setsockopt(a.socket, ZMQ_LINGER, &linger, sizeof linger);
    zmq_setsockopt(a.socket, ZMQ_MAXMSGSIZE, &most, sizeof most);
    a.failed = !keys_agent_connect(o->context, a.socket, o->endpoint, o->key,
                                   (int)fmin(a.patience_ms, INT32_MAX), o->stop_fd, d);
    if (!a.failed) serve_loop(&a);
    agent_forget_program(&a);
    zmq_close(a.socket);
    if (a.abandon_fd >= 0) close(a.abandon_fd);
    return !a.failed;
}
