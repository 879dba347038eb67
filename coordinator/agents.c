/* Agents as evaluator, the beginning and the end: opens the socket, starts an agent in a thread of this
 * process or waits for the first one that connects, and answers each new agent with the settings and the
 * program. */
#include "coordinator/agents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <zmq.h>

#include "agent/device_lock.h"
#include "agent/evaluate.h"
#include "coordinator/agents_state.h"
#include "coordinator/limits.h"
#include "coordinator/progress.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/panic.h"
#include "core/base/stop.h"
#include "core/base/strbuf.h"
#include "core/base/utf8.h"

static const char inproc[] = "inproc://thresh";

void agents_note(struct agents *a, unsigned peer, const char *what, const char *reason)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "%s %s%s%s", roster_name(a->roster, peer), what, reason && *reason ? ": " : "",
                  reason ? reason : "");
    utf8_clean_line(text.text);
    progress_note(a->options.progress, text.text);
    strbuf_free(&text);
    agents_peer_event(a, peer, what, reason);
}

/* ---- the agent in this process ---- */

static void *agent_main(void *arg)
{
    struct agents *a = arg;
    agent_serve(&a->serve, a->agent_diag);
    return NULL;
}

/* It measures on the processors that drawing needs, if its device is a CPU: the lock tells when other
 * processes measure there. */
static void open_lock(struct agents *a)
{
    char why[EVAL_MESSAGE];
    if (a->device.gpu) return;
    a->lock = device_lock_open(&a->device, why, sizeof why);
    if (!a->lock) progress_note(a->options.progress, why);
}

static unsigned runners_of(const struct agents *a)
{
    return a->options.runners ? a->options.runners : evaluator_runners_for(&a->device, a->options.builds);
}

static bool start_embedded(struct agents *a, struct diag *d)
{
    a->serve = (struct serve_options){.context = a->context,
                                      .endpoint = inproc,
                                      .device = a->device,
                                      .runners = runners_of(a),
                                      .data = a->options.data,
                                      .stop_fd = eventfd(0, EFD_CLOEXEC),
                                      .embedded = true};
    a->agent_diag = diag_new();
    a->embedded = a->serve.stop_fd >= 0 && pthread_create(&a->thread, NULL, agent_main, a) == 0;
    if (!a->embedded) diag_plain(d, "cannot start the agent's thread");
    if (a->embedded) open_lock(a);
    return a->embedded;
}

/* Whatever the agent is at, it ends; not only when it next listens. */
static void stop_embedded(struct agents *a)
{
    CHECK(eventfd_write(a->serve.stop_fd, 1) == 0);
    pthread_join(a->thread, NULL);
    close(a->serve.stop_fd);
}

/* ---- agents from elsewhere ---- */

/* Copies what a peer says of itself into n bytes, which may cut it off. */
static void copy_text(char *to, const char *from, size_t n)
{
    snprintf(to, n, "%s", from);
    utf8_clean(to);
}

/* Takes the device of a hello. Returns why it is refused; NULL: it is not. */
static const char *take_device(struct agents *a, const struct message_hello *hello)
{
    copy_text(a->device.name, hello->device, DEVICE_NAME);
    copy_text(a->device.driver, hello->driver, DEVICE_NAME);
    copy_text(a->libraries, hello->libraries, WIRE_LIBRARIES);
    const char *fault = hub_hello_fault(hello);
    if (!fault && !wire_read_device(hello->limits, &a->device))
        fault = "the limits of its device are not plausible";
    return fault;
}

static bool await_first(struct agents *a, struct diag *d)
{
    struct strbuf note = {0};
    strbuf_printf(&note, "waiting for an agent; start one: thresh agent --connect %s%s",
                  roster_endpoint(a->roster), a->options.keys ? " --key FILE" : "");
    progress_note(a->options.progress, note.text);
    strbuf_free(&note);
    while (!stop_requested(a->options.stop_fd)) {
        struct hub_event e = roster_poll(a->roster, LIMIT_AGENT_WAIT_MS, a->options.stop_fd);
        if (e.kind != HUB_HELLO) continue;
        const char *fault = take_device(a, &e.message.hello);
        a->first_peer = e.peer;
        agents_note(a, e.peer, fault ? "refused" : "connected", fault);
        if (!fault) {
            roster_settle(a->roster, a->device.name);
            agents_peer_comes(a, e.peer, &e.message.hello);
            return true;
        }
        roster_refuse(a->roster, e.peer, fault);
    }
    diag_plain(d, "interrupted before an agent connected");
    return false;
}

/* ---- both ---- */

/* Joins the fleet of others, or makes its own. */
static bool join(struct agents *a, struct diag *d)
{
    const struct agents_options *o = &a->options;
    a->fleet = o->fleet;
    if (!o->fleet) {
        a->context = zmq_ctx_new();
        const struct fleet_options own = {
            .context = a->context,
            .where = {.address = o->listen ? o->listen : inproc, .keys = o->keys},
            .sole = true};
        a->fleet = fleet_open(&own, d);
    }
    if (!a->fleet) return false;
    a->roster = fleet_join(a->fleet, o->device);
    if (!a->roster) diag_plain(d, "too many searches at once: %d are the limit", LIMIT_SEARCHES);
    return a->roster != NULL;
}

struct agents *agents_open(const struct agents_options *o, struct diag *d)
{
    struct agents *a = base_calloc(1, sizeof *a);
    a->options = *o;
    a->round_peer = AGENTS_NOBODY;
    a->look_at = INT64_MAX;
    bool remote = o->listen || o->fleet, ok = remote || device_select(o->device, &a->device, d);
    if (ok && !remote) wire_libraries(&a->device, a->libraries);
    if (ok && join(a, d) && (remote ? await_first(a, d) : start_embedded(a, d))) return a;
    agents_close(a);
    return NULL;
}

void agents_close(struct agents *a)
{
    if (!a) return;
    agents_peers_end(a);
    if (a->embedded) stop_embedded(a);
    roster_close(a->roster);
    if (a->context) fleet_close(a->fleet);
    diag_free(a->agent_diag);
    device_lock_close(a->lock);
    struct agents_job *j, *next;
    HASH_ITER(hh, a->jobs, j, next)
    {
        HASH_DEL(a->jobs, j);
        free(j);
    }
    free(a->round_times);
    free(a->peers);
    if (a->context) zmq_ctx_term(a->context);
    free(a);
}

const struct device *agents_device(const struct agents *a)
{
    return &a->device;
}

const char *agents_libraries(const struct agents *a)
{
    return a->libraries;
}

struct verify_doubt agents_doubt(const struct agents *a)
{
    return a->doubt;
}

const struct agents_trial *agents_trial(const struct agents *a, unsigned i)
{
    return &a->trials[i];
}

void agents_greet(struct agents *a, unsigned peer)
{
    const struct agents_program *p = &a->program;
    struct arena *arena = arena_new();
    const struct message program = {.kind = MESSAGE_PROGRAM,
                                    .program = {.path = p->path,
                                                .text = p->text,
                                                .sizes = p->sizes,
                                                .data = p->data,
                                                .limits = wire_device(&a->device, arena),
                                                .options = wire_options(p->lowering, arena),
                                                .fingerprint = p->fingerprint,
                                                .seed = p->seed,
                                                .search = roster_serial(a->roster)}};
    roster_send(a->roster, peer, &(struct message){.kind = MESSAGE_WELCOME, .welcome = {LIMIT_HEARTBEAT_MS}});
    roster_send(a->roster, peer, &program);
    arena_free(arena);
}

void agents_serve(struct agents *a, const struct agents_program *program)
{
    a->program = *program;
    a->serve.kernels = program->kernels;
    a->serve.n_kernels = program->n_kernels;
    if (!a->embedded) agents_greet(a, a->first_peer);
}
