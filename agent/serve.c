/* An agent's loop: wait for the socket, the runners or the clock; answer each message; send each finished
 * evaluation (design page `distribution`, "The agent").
 *
 *     agent                     coordinator
 *     HELLO device, limits  ->
 *                           <-  WELCOME, PROGRAM
 *     READY 4               ->
 *                           <-  JOB 17: decisions
 *     HEARTBEAT, RESULT 17  ->
 *
 * All state is in one struct on one thread; a message that makes no sense is answered with a failed result or
 * ends the service with a reason, never the process. Heartbeats are sent also while a call waits for runners
 * or for the device. */
#include "agent/serve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#include "agent/evaluate.h"
#include "agent/wire.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/stop.h"
#include "core/base/utf8.h"
#include "core/keys/agent.h"
#include "core/pipeline/code.h"

enum { HEARTBEAT_MS = 1000, SILENCE_MS = 30000, MAX_KERNELS = 64, MAX_ROUNDS = 1000, AGENT_NAME = 80 };
enum { MOST_LOOK_MS = 2 * HEARTBEAT_MS /* that count of the time between two looks at the clock */ };

/* A job with the runners. */
struct running {
    uint64_t id, kernel_hash;
    struct running *next;
};

struct agent {
    const struct serve_options *options;
    struct diag *diag;
    void *socket;
    struct problem *problem;
    struct evaluator *evaluator;
    struct running *running;
    uint64_t heartbeats;
    struct clock_awake awake;
    double heartbeat_ms;                      /* how often the coordinator wants to hear of this agent */
    double last_heard, last_sent, hello_sent; /* ms of awake */
    bool welcome;                             /* since the last hello */
    bool done, failed;
};

/* A coordinator is not silent because this process was stopped. */
static double now_ms(struct agent *a)
{
    return clock_awake_ms(&a->awake, MOST_LOOK_MS);
}

static void send_message(struct agent *a, const struct message *m)
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
        send_message(a, &(struct message){.kind = MESSAGE_HEARTBEAT, .heartbeat = {a->heartbeats++}});
}

/* What the evaluator calls while it waits. */
static void stay_alive(void *ctx)
{
    send_heartbeat(ctx);
}

/* Leaves; the reason goes to the coordinator and to the caller. */
static void give_up(struct agent *a, const char *reason)
{
    diag_plain(a->diag, "%s", reason);
    send_message(a, &(struct message){.kind = MESSAGE_BYE, .bye = {reason}});
    a->done = a->failed = true;
}

static void note(const struct agent *a, const char *text)
{
    if (a->options->note && *text) a->options->note(text);
}

/* The given name, else HOST:PID. */
static void own_name(const char *given, char name[AGENT_NAME])
{
    char host[AGENT_NAME / 2] = "agent";
    gethostname(host, sizeof host - 1);
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
    char name[AGENT_NAME], libraries[WIRE_LIBRARIES];
    wire_libraries(dev, libraries);
    own_name(a->options->name, name);
    send_message(a, &(struct message){.kind = MESSAGE_HELLO,
                                      .hello = {.name = name,
                                                .device = dev->name,
                                                .driver = dev->driver,
                                                .libraries = libraries,
                                                .capacity = evaluator_capacity_on(dev, a->options->runners),
                                                .limits = wire_device(dev, arena)}});
    arena_free(arena);
}

/* ---- the program ---- */

/* Starts the device for the problem; a signal to stop ends that, too. */
static bool start_evaluator(struct agent *a, uint64_t seed)
{
    static const char prefix[] = "error: ";
    struct diag *d = diag_new();
    const struct eval_caller caller = {a->options->stop_fd, stay_alive, a};
    a->evaluator = evaluator_new_for(a->problem, &a->options->device, a->options->runners, seed, &caller, d);
    const char *why = diag_failed(d) ? diag_message(d, 0) : "the device is not usable";
    a->done = stop_requested(a->options->stop_fd);
    if (!a->evaluator && !a->done)
        give_up(a, why + (strncmp(why, prefix, strlen(prefix)) ? 0 : strlen(prefix)));
    diag_free(d);
    return a->evaluator && !a->done;
}

/* Tells of outputs that are not verified, if there are any. */
static void send_doubt(struct agent *a)
{
    const struct verify_doubt x = evaluator_doubt(a->evaluator);
    if (x.not_finite + x.loose > 0)
        send_message(a, &(struct message){.kind = MESSAGE_REFERENCE,
                                          .reference = {.outputs = (uint64_t)x.outputs,
                                                        .not_finite = (uint64_t)x.not_finite,
                                                        .loose = (uint64_t)x.loose}});
}

static void take_program(struct agent *a, const struct message_program *m)
{
    struct device dev = a->options->device;
    struct bb_options options;
    if (a->problem) return;
    if (!wire_read_device(m->limits, &dev) || !wire_read_options(m->options, &options)) {
        give_up(a,
                "version mismatch: the coordinator's program message cannot be read; run the same version of "
                "thresh on both sides");
        return;
    }
    a->problem = problem_new(m->path, m->text, m->sizes, &dev.limits, &options, a->diag);
    if (!a->problem || a->problem->fingerprint != m->fingerprint) {
        give_up(a, a->problem
                       ? "version mismatch: the agent's space differs from the coordinator's; run the same "
                         "version of thresh on both sides"
                       : "the agent cannot read the program; run the same version of thresh on both sides");
        return;
    }
    if (!start_evaluator(a, m->seed)) return;
    send_doubt(a);
    note(a, evaluator_note(a->evaluator));
    send_message(a, &(struct message){.kind = MESSAGE_READY, .ready = {evaluator_capacity(a->evaluator)}});
}

/* Decisions to OpenCL. false with a reason. */
static bool lower(const struct agent *a, struct message_ints ints, struct pipeline_code *code,
                  char why[EVAL_MESSAGE])
{
    struct arena *arena = arena_new();
    struct space_action *actions;
    unsigned n;
    bool ok = wire_read_actions(ints, arena, &actions, &n);
    if (!ok) snprintf(why, EVAL_MESSAGE, "version mismatch: the decisions of the job cannot be read");
    ok = ok && pipeline_lower_actions(a->problem, actions, n, code, why, EVAL_MESSAGE);
    arena_free(arena);
    return ok;
}

/* ---- jobs ---- */

static void send_result(struct agent *a, uint64_t id, const struct evaluation *e, uint64_t kernel_hash)
{
    const struct eval_resources *r = &e->resources;
    const int64_t resources[] = {(int64_t)r->local_bytes, (int64_t)r->private_bytes, (int64_t)r->most_items};
    struct message m = {.kind = MESSAGE_RESULT,
                        .result = {.id = id,
                                   .status = eval_status_name(e->status),
                                   .median_ns = e->median_ns,
                                   .samples = {e->samples_ns, e->n_samples},
                                   .message = e->message,
                                   .resources = {resources, r->most_items ? EVAL_RESOURCES : 0},
                                   .kernel_hash = kernel_hash}};
    send_message(a, &m);
    send_message(a, &(struct message){.kind = MESSAGE_READY, .ready = {1}});
}

static void start_job(struct agent *a, const struct message_job *job)
{
    struct evaluation refused = {.status = EVAL_BUILD_ERROR};
    struct pipeline_code code;
    if (!lower(a, job->actions, &code, refused.message)) {
        send_result(a, job->id, &refused, 0);
        return;
    }
    struct running *r = base_calloc(1, sizeof *r);
    *r = (struct running){job->id, code.hash, a->running};
    a->running = r;
    struct eval_settings settings = {.best_ns = job->best_ns,
                                     .cut_factor = job->cut_factor,
                                     .batch_ns = job->batch_ns,
                                     .verify = job->verify};
    evaluator_submit(a->evaluator, job->id, &code.kernel, &settings);
    pipeline_code_clear(&code);
}

static uint64_t forget_running(struct agent *a, uint64_t id)
{
    for (struct running **at = &a->running; *at; at = &(*at)->next) {
        struct running *r = *at;
        if (r->id != id) continue;
        uint64_t hash = r->kernel_hash;
        *at = r->next;
        free(r);
        return hash;
    }
    return 0;
}

static void give_up_device(struct agent *a, const char *message)
{
    char why[EVAL_MESSAGE + 32];
    snprintf(why, sizeof why, "device lost%s%s", *message ? ": " : "", message);
    give_up(a, why);
}

/* Sends one result, waiting for it at most timeout_ms; false: there is none. */
static bool collect_result(struct agent *a, int timeout_ms)
{
    uint64_t id;
    struct evaluation e;
    if (a->done || !a->evaluator || !evaluator_poll(a->evaluator, timeout_ms, &id, &e)) return false;
    a->done = e.status == EVAL_DEVICE_LOST && stop_requested(a->options->stop_fd);
    if (a->done) return false;
    send_result(a, id, &e, forget_running(a, id));
    if (e.status == EVAL_DEVICE_LOST) give_up_device(a, e.message);
    return true;
}

/* ---- quoted figures ---- */

/* Lowers the kernels of a rounds message; returns how many, 0 if one fails. */
static unsigned lower_all(const struct agent *a, struct message_ints ints, struct pipeline_code *codes)
{
    char why[EVAL_MESSAGE] = "";
    unsigned n = 0;
    for (size_t at = 0; at < ints.n; n++) {
        int64_t length = ints.items[at++];
        bool fits = n < MAX_KERNELS && length >= 0 && (uint64_t)length <= ints.n - at;
        struct message_ints one = {ints.items + at, fits ? (size_t)length : 0};
        if (!fits || !lower(a, one, &codes[n], why)) {
            while (n)
                pipeline_code_clear(&codes[--n]);
            return 0;
        }
        at += one.n;
    }
    return n;
}

/* The answer to a rounds message. What was measured as the device was lost, or this agent interrupted, is
 * none: the coordinator asks another agent. */
static void send_figures(struct agent *a, uint64_t id, const double *times, size_t n)
{
    const char *lost = evaluator_lost(a->evaluator);
    if (!lost)
        send_message(a, &(struct message){.kind = MESSAGE_FIGURES, .figures = {id, {times, n}}});
    else if (stop_requested(a->options->stop_fd))
        a->done = true;
    else
        give_up_device(a, lost);
}

/* Nothing else runs meanwhile: running jobs are finished first. */
static void measure_rounds(struct agent *a, const struct message_rounds *m)
{
    while (a->running && collect_result(a, -1))
        continue;
    if (a->done) return;
    struct pipeline_code codes[MAX_KERNELS];
    const struct cg_kernel *list[MAX_KERNELS];
    unsigned rounds = m->rounds < MAX_ROUNDS ? (unsigned)m->rounds : MAX_ROUNDS;
    unsigned n = lower_all(a, m->kernels, codes);
    for (unsigned i = 0; i < n; i++)
        list[i] = &codes[i].kernel;
    double *times = base_calloc((size_t)n * rounds + 1, sizeof *times);
    if (n && rounds) evaluator_rounds(a->evaluator, list, n, rounds, m->seed, times);
    send_figures(a, m->id, times, (size_t)n * rounds);
    for (unsigned i = 0; i < n; i++)
        pipeline_code_clear(&codes[i]);
    free(times);
}

/* ---- the loop ---- */

/* Kills what runs and forgets the program. */
static void forget_all(struct agent *a)
{
    while (a->running)
        forget_running(a, a->running->id);
    evaluator_free(a->evaluator);
    problem_free(a->problem);
    a->evaluator = NULL;
    a->problem = NULL;
}

/* The coordinator has lost sight of this agent, or is another one. A hello on its way is given time. */
static void introduce_again(struct agent *a)
{
    if (!a->welcome && now_ms(a) - a->hello_sent < 3 * HEARTBEAT_MS) return;
    forget_all(a);
    say_hello(a);
}

/* Heartbeats as often as the coordinator wants them: at most ten in a second, one in ten seconds at least. */
static double heartbeat_of(const struct message_welcome *m)
{
    const uint64_t least = HEARTBEAT_MS / 10, most = 10 * HEARTBEAT_MS;
    return (double)(m->heartbeat_ms < least ? least : m->heartbeat_ms < most ? m->heartbeat_ms : most);
}

static void handle(struct agent *a, const struct message *m)
{
    switch (m->kind) {
    case MESSAGE_WELCOME:
        if (!a->welcome) note(a, "connected to the coordinator");
        a->welcome = true;
        a->heartbeat_ms = heartbeat_of(&m->welcome);
        break;
    case MESSAGE_WHO:
        introduce_again(a);
        break;
    case MESSAGE_PROGRAM:
        take_program(a, &m->program);
        break;
    case MESSAGE_JOB:
        if (a->evaluator) start_job(a, &m->job);
        break;
    case MESSAGE_ROUNDS:
        if (a->evaluator) measure_rounds(a, &m->rounds);
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
    while (!a->done && zmq_msg_recv(&frame, a->socket, ZMQ_DONTWAIT) >= 0) {
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
    if (a->options->stop_fd >= 0)
        items[n++] = (zmq_pollitem_t){.fd = a->options->stop_fd, .events = ZMQ_POLLIN};
    for (unsigned i = 0; i < n_fds; i++)
        items[n++] = (zmq_pollitem_t){.fd = fds[i], .events = ZMQ_POLLIN};
    zmq_poll(items, n, a->running ? 100 : (long)fmin(HEARTBEAT_MS, a->heartbeat_ms));
    if (a->options->stop_fd >= 0 && items[1].revents) a->done = true;
}

static void keep_alive(struct agent *a)
{
    send_heartbeat(a);
    if (!a->options->embedded && now_ms(a) - a->last_heard >= SILENCE_MS)
        give_up(a, "no heartbeat from the coordinator for 30 seconds; start this agent again when the "
                   "coordinator runs");
}

static void serve_loop(struct agent *a)
{
    a->last_heard = now_ms(a);
    say_hello(a);
    while (!a->done) {
        wait_for_work(a);
        receive(a);
        while (collect_result(a, 0))
            continue;
        if (!a->done) keep_alive(a);
    }
    if (!a->failed) send_message(a, &(struct message){.kind = MESSAGE_BYE});
}

bool agent_serve(const struct serve_options *o, struct diag *d)
{
    struct agent a = {.options = o,
                      .diag = d,
                      .socket = zmq_socket(o->context, ZMQ_DEALER),
                      .awake = clock_awake_start(),
                      .heartbeat_ms = HEARTBEAT_MS};
    int linger = 500;
    int64_t most = MESSAGE_MAX_BYTES;
    zmq_setsockopt(a.socket, ZMQ_LINGER, &linger, sizeof linger);
    zmq_setsockopt(a.socket, ZMQ_MAXMSGSIZE, &most, sizeof most);
    a.failed = !keys_agent_connect(o->context, a.socket, o->endpoint, o->key, SILENCE_MS, o->stop_fd, d);
    if (!a.failed) serve_loop(&a);
    forget_all(&a);
    zmq_close(a.socket);
    return !a.failed;
}
