/* Agents that measure nothing: they answer each job after a while with a time that follows from its
 * decisions. One process stands for thousands, so that one machine shows what a coordinator can do.
 *
 *     simulate agents ipc://meet/socket 1000 8 1      1,000 agents with room for 8 jobs, 1 ms a job
 *     simulate hub 1000 8 1 5                         the same against a hub alone, for 5 s
 *
 * `agents` ends when the coordinator has said bye to all; they have the device of this machine. `hub` sends
 * jobs of JOB_DECISIONS decisions without a search, store or tree. It prints results a second, the processor
 * time of the coordinator's side for each (us), its largest memory (MiB), and the longest and the median time
 * from a result to the next job of that agent (ms). */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "agent/device.h"
#include "agent/wire.h"
#include "coordinator/hub.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/hash.h"
#include "core/base/stats.h"
#include "core/codec/message.h"

enum { JOB_DECISIONS = 40, HEARTBEAT_MS = 1000, MOST_AGENTS = 4000, MOST_WAITS = 1 << 20, MOST_KERNELS = 64 };

/* ---- the agents ---- */

struct waiting {
    uint64_t id;
    double ns, due_ms;
};

struct one {
    void *socket;
    uint64_t received;
    unsigned first, n; /* ring of jobs */
    struct waiting *jobs;
    double answered_ms, sent_ms; /* when the last result was sent; the last message */
    bool done;
};

struct crowd {
    struct one *agents;
    unsigned n, room;
    double job_ms;
    struct device device;
    double *waits; /* ms from a result to the next job */
    size_t n_waits;
};

static void say(struct one *o, const struct message *m)
{
    size_t bytes;
    void *data = message_encode(m, &bytes);
    zmq_send(o->socket, data, bytes, ZMQ_DONTWAIT);
    free(data);
    o->sent_ms = clock_now_ms();
}

static void greet(const struct crowd *c, struct one *o, unsigned number)
{
    char name[32];
    struct arena *a = arena_new();
    snprintf(name, sizeof name, "simulated %u", number);
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

/* From 1 to 11 ms: a landscape without structure. */
static double time_of(struct message_ints actions)
{
    uint64_t hash = hash_finish(hash_bytes(1, actions.items, actions.n * sizeof *actions.items));
    return 1e6 * (1 + (double)(hash % 10000) / 1000);
}

static void take_job(struct crowd *c, struct one *o, const struct message_job *m)
{
    double now = clock_now_ms();
    if (o->n == c->room) return;
    o->jobs[(o->first + o->n++) % c->room] = (struct waiting){m->id, time_of(m->actions), now + c->job_ms};
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

static void listen_to(struct crowd *c, struct one *o)
{
    zmq_msg_t frame;
    zmq_msg_init(&frame);
    while (!o->done && zmq_msg_recv(&frame, o->socket, ZMQ_DONTWAIT) >= 0) {
        struct arena *a = arena_new();
        struct message m;
        const char *why;
        if (!message_decode(zmq_msg_data(&frame), zmq_msg_size(&frame), a, &m, &why)) m.kind = MESSAGE_WHO;
        if (m.kind == MESSAGE_PROGRAM) say_ready(c, o);
        if (m.kind == MESSAGE_JOB) take_job(c, o, &m.job);
        if (m.kind == MESSAGE_ROUNDS) take_round(o, &m.rounds);
        o->done = m.kind == MESSAGE_BYE;
        arena_free(a);
    }
    zmq_msg_close(&frame);
}

static void answer(struct crowd *c, struct one *o)
{
    double now = clock_now_ms();
    while (o->n > 0 && o->jobs[o->first].due_ms <= now) {
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

static void serve_crowd(struct crowd *c)
{
    const struct timespec pause = {.tv_nsec = 500000};
    unsigned done = 0;
    while (done < c->n) {
        done = 0;
        for (unsigned i = 0; i < c->n; i++) {
            struct one *o = &c->agents[i];
            if (!o->done) listen_to(c, o);
            if (!o->done) answer(c, o);
            done += o->done;
        }
        nanosleep(&pause, NULL);
    }
}

/* One process for all; it ends with the coordinator. */
static int run_agents(const char *endpoint, struct crowd *c)
{
    void *context = zmq_ctx_new();
    int linger = 0;
    zmq_ctx_set(context, ZMQ_MAX_SOCKETS, (int)c->n + 16);
    c->agents = base_calloc(c->n, sizeof *c->agents);
    c->waits = base_calloc(MOST_WAITS, sizeof *c->waits);
    for (unsigned i = 0; i < c->n; i++) {
        struct one *o = &c->agents[i];
        o->jobs = base_calloc(c->room, sizeof *o->jobs);
        o->socket = zmq_socket(context, ZMQ_DEALER);
        if (!o->socket || zmq_connect(o->socket, endpoint) != 0) {
            fprintf(stderr, "simulate: agent %u cannot connect to %s: %s\n", i, endpoint,
                    zmq_strerror(zmq_errno()));
            return 1;
        }
        zmq_setsockopt(o->socket, ZMQ_LINGER, &linger, sizeof linger);
        greet(c, o, i);
    }
    serve_crowd(c);
    if (c->n_waits > 0)
        printf("wait %.2f ms median, %.2f ms longest\n", stats_median(c->waits, c->n_waits),
               stats_quantile(c->waits, c->n_waits, 1));
    fflush(stdout);
    _exit(0); /* thousands of sockets take long to close */
}

/* ---- a hub without a search ---- */

static double processor_us(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void send_jobs(struct hub *hub, uint64_t *id)
{
    int64_t ints[2 * JOB_DECISIONS];
    for (int peer; (peer = hub_idle_peer(hub, 0)) >= 0;) {
        for (int i = 0; i < 2 * JOB_DECISIONS; i++)
            ints[i] = i + (int64_t)*id;
        hub_take_credit(hub, (unsigned)peer);
        hub_send(hub, (unsigned)peer,
                 &(struct message){.kind = MESSAGE_JOB,
                                   .job = {.id = ++*id, .actions = {ints, 2 * JOB_DECISIONS}}});
    }
}

static int run_hub(const char *endpoint, double seconds)
{
    struct diag *d = diag_new();
    void *context = zmq_ctx_new();
    struct hub *hub = hub_new(context, endpoint, clock_ms, d);
    if (!hub) {
        diag_print(d, stderr);
        return 1;
    }
    uint64_t id = 0, results = 0;
    double start = 0, used = 0, end = 0;
    do {
        struct hub_event e = hub_poll(hub, 100, -1);
        if (e.kind == HUB_HELLO) {
            hub_send(hub, e.peer, &(struct message){.kind = MESSAGE_WELCOME, .welcome = {HEARTBEAT_MS}});
            hub_send(hub, e.peer, &(struct message){.kind = MESSAGE_PROGRAM});
        }
        results += e.kind == HUB_MESSAGE && e.message.kind == MESSAGE_RESULT;
        if (results == 1000) { /* all have settled */
            start = clock_now_ms();
            end = start + seconds * 1e3;
            used = processor_us();
        }
        send_jobs(hub, &id);
    } while (end == 0 || clock_now_ms() < end);
    double n = (double)(results - 1000), took = clock_now_ms() - start;
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    printf("%.0f results/s, %.1f us of processor time each, %ld MiB\n", n / took * 1e3,
           (processor_us() - used) / n, u.ru_maxrss / 1024);
    fflush(stdout);
    hub_free(hub);
    zmq_ctx_term(context);
    diag_free(d);
    return 0;
}

/* ---- the command line ---- */

static bool find_device(struct device *dev)
{
    struct diag *d = diag_new();
    bool ok = device_select(NULL, dev, d);
    if (!ok) diag_print(d, stderr);
    diag_free(d);
    return ok;
}

static int both(struct crowd *c, double seconds)
{
    char endpoint[64];
    snprintf(endpoint, sizeof endpoint, "ipc:///tmp/thresh-scale-%ld", (long)getpid());
    pid_t child = fork();
    if (child == 0) return run_agents(endpoint, c);
    int status = child < 0 ? 1 : run_hub(endpoint, seconds);
    if (child > 0 && status) kill(child, SIGKILL);
    if (child > 0) waitpid(child, NULL, 0);
    unlink(endpoint + strlen("ipc://"));
    return status;
}

int main(int argc, char **argv)
{
    bool agents = argc == 6 && strcmp(argv[1], "agents") == 0;
    bool hub = argc == 6 && strcmp(argv[1], "hub") == 0;
    struct crowd c = {0};
    if (agents || hub) {
        c.n = (unsigned)strtoul(argv[agents ? 3 : 2], NULL, 10);
        c.room = (unsigned)strtoul(argv[agents ? 4 : 3], NULL, 10);
        c.job_ms = strtod(argv[agents ? 5 : 4], NULL);
    }
    if (c.n == 0 || c.n > MOST_AGENTS || c.room == 0 || c.room > LIMIT_CREDITS) {
        fputs("usage: simulate agents ENDPOINT AGENTS ROOM MS\n"
              "       simulate hub AGENTS ROOM MS SECONDS\n",
              stderr);
        return 2;
    }
    if (!find_device(&c.device)) return 1;
    return agents ? run_agents(argv[2], &c) : both(&c, strtod(argv[5], NULL));
}
