/* Setting a campaign up and taking it down: socket, embedded agent, device, problem, pins, store, tree.
 * Everything that can be wrong with the input is found here, before anything is measured. */
#include "coordinator/tune.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <zmq.h>

#include "agent/fits.h"
#include "agent/wire.h"
#include "coordinator/advice.h"
#include "coordinator/tune_state.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/hash.h"
#include "core/base/panic.h"
#include "core/base/stop.h"
#include "core/base/strbuf.h"
#include "core/base/utf8.h"

extern const char prior_gpu[]; /* spacedsl/spaces/gpu.prior */

double tune_elapsed(const struct tune *t)
{
    return clock_s() - t->started_s + t->earlier_s;
}

bool tune_stop_requested(const struct tune *t)
{
    return stop_requested(t->options.stop_fd);
}

/* ---- the agent ---- */

static void *agent_main(void *arg)
{
    struct tune *t = arg;
    agent_serve(&t->agent, t->agent_diag);
    return NULL;
}

static bool start_embedded(struct tune *t, struct diag *d)
{
    t->agent = (struct serve_options){.context = t->context,
                                      .endpoint = "inproc://thresh",
                                      .device = t->device,
                                      .stop_fd = eventfd(0, EFD_CLOEXEC),
                                      .embedded = true};
    t->agent_diag = diag_new();
    t->embedded = t->agent.stop_fd >= 0 && pthread_create(&t->agent_thread, NULL, agent_main, t) == 0;
    if (!t->embedded) diag_plain(d, "cannot start the agent's thread");
    return t->embedded;
}

/* Reads program, sizes and order before the agent's device is known: what is wrong with them is said at once.
 */
static bool check_program(const struct tune *t, struct diag *d)
{
    const struct tune_options *o = &t->options;
    struct problem *p = problem_new(o->path, o->text, o->sizes, &problem_any_device, &o->lowering, d);
    struct mcts_order order = {0};
    bool valid = p && mcts_order_parse(p->space, o->order, &order, d);
    mcts_order_free(&order);
    problem_free(p);
    return valid;
}

void tune_note_agent(struct tune *t, unsigned peer, const char *what, const char *reason)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "%s %s%s%s", hub_name(t->hub, peer), what, reason && *reason ? ": " : "",
                  reason ? reason : "");
    utf8_clean_line(text.text);
    progress_note(&t->progress, text.text);
    strbuf_free(&text);
}

/* Copies what a peer says of itself into n bytes, which may cut it off. */
static void copy_text(char *to, const char *from, size_t n)
{
    snprintf(to, n, "%s", from);
    utf8_clean(to);
}

/* Waits for an agent from elsewhere; its device is the campaign's. */
static bool await_first_agent(struct tune *t, struct diag *d)
{
    struct strbuf note = {0};
    strbuf_printf(&note, "waiting for an agent: thresh agent --connect %s", hub_endpoint(t->hub));
    progress_note(&t->progress, note.text);
    strbuf_free(&note);
    while (!tune_stop_requested(t)) {
        struct hub_event e = hub_poll(t->hub, 1000, t->options.stop_fd);
        if (e.kind != HUB_HELLO) continue;
        copy_text(t->device.name, e.message.hello.device, DEVICE_NAME);
        copy_text(t->device.driver, e.message.hello.driver, DEVICE_NAME);
        copy_text(t->libraries, e.message.hello.libraries, WIRE_LIBRARIES);
        t->first_peer = e.peer;
        const char *fault = hub_hello_fault(&e.message.hello);
        if (!fault && !wire_read_device(e.message.hello.limits, &t->device))
            fault = "no device has the limits that it tells";
        tune_note_agent(t, e.peer, fault ? "is refused" : "came", fault);
        if (!fault) return true;
        hub_refuse(t->hub, e.peer, fault);
    }
    diag_plain(d, "interrupted before an agent connected");
    return false;
}

/* ---- the problem ---- */

/* The lower bound, from the device's description; an unknown device has none, and that is said. */
static bool make_model(struct tune *t, struct diag *d)
{
    struct perfmodel_device dev;
    struct strbuf gaps = {0}, left_out = {0};
    if (t->options.no_bound) return true;
    bool loaded =
        perfmodel_device_load(t->options.description, t->device.name, t->device.gpu, &dev, &left_out, d);
    if (left_out.length > 0) progress_note(&t->progress, left_out.text);
    strbuf_free(&left_out);
    if (!loaded) return false;
    t->model = perfmodel_new(t->problem->backbone, t->problem->space, &dev);
    perfmodel_gaps(t->model, &gaps);
    if (gaps.length > 0) progress_note(&t->progress, gaps.text);
    strbuf_free(&gaps);
    return true;
}

struct mcts_prior *tune_prior(const struct tune *t, struct diag *d)
{
    const struct mcts_fact facts[] = {{"gpu", t->device.gpu},
                                      {"compute_units", t->device.compute_units},
                                      {"max_work_group", (double)t->device.limits.max_work_group}};
    return mcts_prior_new(prior_gpu, t->problem->space, facts, sizeof facts / sizeof facts[0], d);
}

static bool make_tree(struct tune *t, struct diag *d)
{
    struct mcts_config config = mcts_config_default();
    if (!mcts_order_parse(t->problem->space, t->options.order, &t->order, d)) return false;
    t->heuristic = mcts_heuristic_load(t->options.heuristic ? t->options.heuristic : "tag", d);
    if (!t->heuristic) return false;
    mcts_heuristic_set_note(t->heuristic, store_note(t->options.store));
    config.seed = t->options.seed;
    config.branching.order = t->order.parts;
    config.branching.n_order = t->order.n;
    config.branching.bound = t->model ? perfmodel_hook : NULL;
    config.branching.bound_context = t->model;
    config.on_cut = t->model && t->options.store ? tune_note_cut : NULL;
    config.cut_context = t;
    config.stop = tune_tree_stops;
    config.stop_context = t;
    config.cut_factor = 1 - t->options.distance;
    if (!t->options.no_prior && !(t->prior = tune_prior(t, d))) return false;
    config.prior = t->prior ? mcts_prior_weight : NULL;
    config.prior_context = t->prior;
    t->tree = mcts_tree_new(t->root, t->heuristic, &config);
    return true;
}

/* What decides the search beside program, device and seed. The description's figures come last: they are as
 * they were read, since nothing was measured yet. */
static char *settings_text(const struct tune *t)
{
    const struct tune_options *o = &t->options;
    struct strbuf b = {0};
    uint64_t prior = o->no_prior ? 0 : hash_finish(hash_string(HASH_START, prior_gpu));
    strbuf_printf(&b, "heuristic=%s order=%s bound=%d prior=%016" PRIx64, o->heuristic ? o->heuristic : "tag",
                  o->order ? o->order : "", !o->no_bound, prior);
    if (o->recorded) strbuf_add(&b, " recorded");
    if (o->distance > 0) strbuf_printf(&b, " distance=%g", o->distance);
    if (o->most_text_bytes > 0) strbuf_printf(&b, " text=%zu", o->most_text_bytes);
    if (o->audit_cuts > 0) strbuf_printf(&b, " audit=%g", o->audit_cuts);
    for (unsigned i = 0; i < o->n_pins; i++)
        strbuf_printf(&b, " pin=%s", o->pins[i]);
    if (t->model)
        strbuf_printf(&b, " device_description=%016" PRIx64,
                      perfmodel_device_hash(perfmodel_described(t->model)));
    return strbuf_take(&b);
}

static bool open_store(struct tune *t, struct diag *d)
{
    const struct tune_options *o = &t->options;
    if (o->resume && !o->store) {
        diag_plain(d, "--resume needs --store FILE");
        return false;
    }
    if (!o->store) return true;
    t->store = store_open(o->store, !o->resume, d);
    if (!t->store) return false;
    t->settings = settings_text(t);
    t->run = (struct store_run){.path = o->path,
                                .text = o->text,
                                .sizes = o->sizes,
                                .device = t->device.name,
                                .driver = t->device.driver,
                                .libraries = t->libraries,
                                .settings = t->settings,
                                .fingerprint = t->problem->fingerprint,
                                .seed = o->seed};
    return o->resume ? store_run_resume(t->store, &t->run, d) : store_run_add(t->store, &t->run, d);
}

struct message tune_program_message(const struct tune *t, struct arena *a)
{
    const struct tune_options *o = &t->options;
    return (struct message){.kind = MESSAGE_PROGRAM,
                            .program = {.path = o->path,
                                        .text = o->text,
                                        .sizes = o->sizes,
                                        .limits = wire_device(&t->device, a),
                                        .options = wire_options(&o->lowering, a),
                                        .fingerprint = t->problem->fingerprint,
                                        .seed = o->seed}};
}

/* What limits the program, before time goes into a search. */
static void note_advice(struct tune *t)
{
    struct device dev = t->device;
    struct arena *a = arena_new();
    if (t->model) {
        double cache = perfmodel_described(t->model)->value[PERFMODEL_CACHE_BYTES];
        dev.cache_bytes = cache > 0 ? (int64_t)cache : dev.cache_bytes;
    }
    struct advice advice = advice_of(t->problem, &dev, a);
    for (unsigned i = 0; i < advice.n; i++)
        progress_note(&t->progress, arena_printf(a, "note: %s", advice.lines[i]));
    arena_free(a);
}

static bool check_problem(struct tune *t, struct diag *d)
{
    const struct tune_options *o = &t->options;
    t->problem = problem_new(o->path, o->text, o->sizes, &t->device.limits, &o->lowering, d);
    if (!t->problem) return false;
    uint64_t fingerprint = t->problem->fingerprint;
    if (o->recorded ? !(t->recorded = recorded_open(o->recorded, fingerprint, t->device.name, d))
                    : !fits_device(t->problem, &t->device, d))
        return false;
    t->root = space_pinned_root(t->problem->space, t->options.pins, t->options.n_pins, d);
    bool ok = t->root && make_model(t, d) && make_tree(t, d) && open_store(t, d);
    if (ok) note_advice(t);
    return ok;
}

/* The program goes to the agent whose hello chose the device. */
static void greet_first(struct tune *t)
{
    if (t->embedded || t->recorded) return;
    struct arena *a = arena_new();
    struct message program = tune_program_message(t, a);
    hub_send(t->hub, t->first_peer,
             &(struct message){.kind = MESSAGE_WELCOME, .welcome = {HUB_HEARTBEAT_MS}});
    hub_send(t->hub, t->first_peer, &program);
    arena_free(a);
}

/* Opens the socket and finds the device. The embedded agent's device is asked for first, in a child process
 * that is forked while this process has one thread. */
static bool connect_agent(struct tune *t, struct diag *d)
{
    const char *listen = t->options.listen;
    t->context = zmq_ctx_new();
    if (t->options.recorded) {
        t->device = *t->options.stands_for;
        t->hub = hub_new(t->context, "inproc://thresh", clock_ms, d);
        return t->hub != NULL;
    }
    if (listen ? !check_program(t, d) : !device_select(t->options.device, &t->device, d)) return false;
    if (!listen) wire_libraries(&t->device, t->libraries);
    t->hub = hub_new(t->context, listen ? listen : "inproc://thresh", clock_ms, d);
    return t->hub && (listen ? await_first_agent(t, d) : start_embedded(t, d));
}

struct tune *tune_new(const struct tune_options *o, struct diag *d)
{
    struct tune *t = base_calloc(1, sizeof *t);
    t->options = *o;
    if (!o->sizes) t->options.sizes = "";
    t->progress = progress_start(o->quiet);
    bool ok = connect_agent(t, d) && check_problem(t, d);
    if (ok) greet_first(t);
    ok = ok && tune_begin(t, d);
    t->started_s = clock_s();
    if (ok) return t;
    tune_free(t);
    return NULL;
}

const struct problem *tune_problem(const struct tune *t)
{
    return t->problem;
}

const struct device *tune_device(const struct tune *t)
{
    return &t->device;
}

/* ---- the end ---- */

static void free_jobs(struct tune *t)
{
    for (struct job *j = t->jobs, *next; j; j = next) {
        next = j->next;
        mcts_descent_free(&j->descent);
        free(j->actions);
        free(j);
    }
}

static void free_seen(struct tune *t)
{
    struct seen_kernel *k, *next;
    HASH_ITER(hh, t->seen, k, next)
    {
        HASH_DEL(t->seen, k);
        free(k);
    }
}

/* Whatever the agent is at, it ends; not only when it next listens. */
static void stop_embedded(struct tune *t)
{
    CHECK(eventfd_write(t->agent.stop_fd, 1) == 0);
    pthread_join(t->agent_thread, NULL);
    close(t->agent.stop_fd);
}

void tune_free(struct tune *t)
{
    if (!t) return;
    if (t->embedded) stop_embedded(t);
    hub_free(t->hub);
    diag_free(t->agent_diag);
    for (unsigned i = 0; i < t->report.n_top; i++)
        free(t->report.top[i].actions);
    free(t->report.naive.actions);
    for (unsigned i = 0; i < t->report.n_plain; i++)
        free(t->report.plain[i].actions);
    for (unsigned i = 0; i < t->n_plain; i++)
        contend_plain_clear(&t->plain[i]);
    free(t->report.verdict.advice);
    free_jobs(t);
    free_seen(t);
    mcts_tree_free(t->tree);
    perfmodel_free(t->model);
    mcts_prior_free(t->prior);
    mcts_heuristic_free(t->heuristic);
    space_state_free(t->root);
    problem_free(t->problem);
    store_close(t->store);
    recorded_close(t->recorded);
    free(t->settings);
    mcts_order_free(&t->order);
    if (t->context) zmq_ctx_term(t->context);
    free(t);
}
