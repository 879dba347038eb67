/* Setting a campaign up and taking it down. In order:
 *
 *     check      program and sizes, which need no device
 *     device     agents, or the device that recorded timings stand for
 *     problem    program, space, pins, lower bound, prior
 *     session    tree and store
 *     begin      contenders, a resumed run
 *
 * Everything that can be wrong with the input is found here, before anything is measured. */
#include "coordinator/tune.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/fits.h"
#include "coordinator/advice.h"
#include "coordinator/guidance.h"
#include "coordinator/limits.h"
#include "coordinator/lowering.h"
#include "coordinator/tune_state.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/hash.h"
#include "core/base/strbuf.h"
#include "core/pipeline/code.h"
#include "mcts/order.h"

/* Reads program and sizes before a device is asked for, and the order before an agent is awaited: what is
 * wrong with them is said at once. */
static bool check_program(const struct tune *t, struct diag *d)
{
    const struct tune_options *o = &t->options;
    if (!o->listen && !o->fleet) return problem_check(o->path, o->text, o->sizes, &o->lowering, d);
    struct problem *p = problem_new(o->path, o->text, o->sizes, &problem_any_device, &o->lowering, d);
    struct mcts_order order = {0};
    bool valid = p && mcts_order_parse(p->space, o->order, &order, d);
    mcts_order_free(&order);
    problem_free(p);
    return valid;
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

static bool make_prior(struct tune *t, struct diag *d)
{
    t->prior = guidance_prior(t->problem, &t->device, d);
    return t->prior != NULL;
}

static void features_of(void *context, const struct space_state *leaf, double *features)
{
    const struct tune *t = context;
    guidance_features(t->problem, &t->device, leaf, features);
}

static struct mcts_config tree_config(struct tune *t)
{
    const struct tune_options *o = &t->options;
    struct mcts_config config = mcts_config_default();
    config.branching.bound = t->model ? perfmodel_hook : NULL;
    config.branching.bound_context = t->model;
    config.on_cut = t->model && o->store ? tune_note_cut : NULL;
    config.cut_context = t;
    config.thread_bound = t->model ? tune_thread_bound : NULL;
    config.thread_context = t;
    config.cut_factor = 1 - o->distance;
    config.features =
        (struct mcts_features){ESTIMATE_FEATURES, features_of, t, t->device.gpu ? estimate_effort : NULL};
    config.prior = o->no_prior ? NULL : mcts_prior_weight;
    config.prior_context = t->prior;
    return config;
}

static const char *heuristic_of(const struct tune *t)
{
    if (t->options.heuristic) return t->options.heuristic;
    return t->device.gpu ? TUNE_HEURISTIC_GPU : TUNE_HEURISTIC_CPU;
}

void tune_print_settings(const struct tune_options *o, struct strbuf *out)
{
    uint64_t prior = o->no_prior ? 0 : hash_finish(hash_string(HASH_START, prior_gpu));
    strbuf_printf(out, "heuristic=%s order=%s bound=%d prior=%016" PRIx64, o->heuristic ? o->heuristic : "",
                  o->order ? o->order : "", !o->no_bound, prior);
    bb_print_parameters(&o->lowering, STORE_PARAMETERS, out);
    bool recorded = o->replays && strstr(o->replays->settings, RECORDED_SETTING);
    if (o->recorded || recorded) strbuf_add(out, RECORDED_SETTING);
    if (o->distance > 0) strbuf_printf(out, " distance=%g", o->distance);
    if (o->most_text_bytes > 0) strbuf_printf(out, " text=%zu", o->most_text_bytes);
    if (o->audit_cuts > 0) strbuf_printf(out, " audit=%g", o->audit_cuts);
    for (unsigned i = 0; i < o->n_pins; i++)
        strbuf_printf(out, " pin=%s", o->pins[i]);
    tune_print_data(&o->data, out);
}

/* The description's figures come last: they are as they were read, since nothing was measured yet. */
static char *settings_text(const struct tune *t)
{
    struct strbuf b = {0};
    tune_print_settings(&t->options, &b);
    if (t->data_text) strbuf_printf(&b, STORE_FILES "%016" PRIx64, t->data_hash);
    if (t->model)
        strbuf_printf(&b, STORE_DESCRIPTION "%016" PRIx64,
                      perfmodel_device_hash(perfmodel_described(t->model)));
    return strbuf_take(&b);
}

/* Another version may have another prior, or the device another description: its search would be another. */
static bool check_replayed(const struct tune *t, struct diag *d)
{
    const struct store_run *run = t->options.replays;
    char *recorded = run ? tune_settings_without_data(run->settings) : NULL;
    bool same = !run || strcmp(recorded, t->settings) == 0;
    free(recorded);
    if (same) return true;
    diag_plain(d, "run %" PRId64 " was searched with other settings: '%s', and now they are '%s'", run->id,
               run->settings, t->settings);
    return false;
}

static bool open_session(struct tune *t, struct diag *d)
{
    const struct tune_options *o = &t->options;
    t->settings = settings_text(t);
    if (!check_replayed(t, d)) return false;
    const struct session_setup setup = {.options = {.heuristic = heuristic_of(t),
                                                    .order = o->order,
                                                    .store = o->store,
                                                    .seed = o->seed,
                                                    .evaluations = o->evaluations,
                                                    .patience = o->patience,
                                                    .threads = o->threads,
                                                    .until = o->until,
                                                    .time_s = o->time_s,
                                                    .grace_s = LIMIT_GRACE_S,
                                                    .rounds_s = o->rounds_s,
                                                    .snapshot_s = o->snapshot_s,
                                                    .resume = o->resume,
                                                    .replays = o->replays != NULL,
                                                    .verbose = o->verbose,
                                                    .stop_fd = o->stop_fd},
                                        .root = t->root,
                                        .config = tree_config(t),
                                        .run = {.id = o->replays ? o->replays->id : 0,
                                                .path = o->path,
                                                .text = o->text,
                                                .sizes = o->sizes,
                                                .device = t->device.name,
                                                .driver = t->device.driver,
                                                .libraries = t->agents ? agents_libraries(t->agents) : "",
                                                .settings = t->settings,
                                                .fingerprint = t->problem->fingerprint,
                                                .seed = o->seed},
                                        .progress = &t->progress,
                                        .evaluator = t->agents ? &agents_evaluator : &recorded_evaluator,
                                        .evaluator_self = t->agents ? (void *)t->agents : (void *)t->recorded,
                                        .subject = &tune_program,
                                        .subject_self = t};
    t->lowering = lowering_new(t->problem);
    t->session = session_new(&setup, d);
    return t->session != NULL;
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
    const char *unused = advice_on_tf32(t->problem, t->device.name, a);
    if (unused) progress_note(&t->progress, arena_printf(a, "note: %s", unused));
    arena_free(a);
}

static bool open_root(struct tune *t, struct diag *d)
{
    t->root = space_pinned_root(t->problem->space, t->options.pins, t->options.n_pins, d);
    return t->root && make_model(t, d) && make_prior(t, d);
}

static bool open_problem(struct tune *t, struct diag *d)
{
    const struct tune_options *o = &t->options;
    t->problem = problem_new(o->path, o->text, o->sizes, &t->device.limits, &o->lowering, d);
    if (!t->problem) return false;
    tune_bind_baselines(t);
    uint64_t fingerprint = t->problem->fingerprint;
    if (o->replays) return open_root(t, d);
    if (o->recorded ? !(t->recorded = recorded_open(o->recorded, fingerprint, t->device.name, d))
                    : !fits_device(t->problem, &t->device, d))
        return false;
    return open_root(t, d);
}

/* Evaluations and contenders; 0: not known. */
static uint64_t expected_builds(const struct tune_options *o)
{
    uint64_t new = o->evaluations - (o->evaluations > o->used ? o->used : o->evaluations);
    double in_time = LIMIT_BUILDS_A_SECOND * o->time_s;
    if (o->time_s > 0 && (!o->evaluations || in_time < (double)new)) new = (uint64_t)in_time;
    return o->evaluations || o->time_s > 0 ? new + LIMIT_USUAL_PLAIN : 0;
}

/* Who measures, and on which device. */
static bool find_device(struct tune *t, struct diag *d)
{
    const struct tune_options *o = &t->options;
    if (o->recorded || o->replays) {
        t->device = *o->stands_for;
        return true;
    }
    if (!check_program(t, d)) return false;
    const struct agents_options agents = {.listen = o->listen,
                                          .fleet = o->fleet,
                                          .keys = o->keys,
                                          .device = o->device,
                                          .runners = o->runners,
                                          .builds = expected_builds(o),
                                          .data = t->data,
                                          .stop_fd = o->stop_fd,
                                          .progress = &t->progress};
    t->agents = agents_open(&agents, d);
    if (t->agents) t->device = *agents_device(t->agents);
    return t->agents != NULL;
}

static int64_t output_elements(const struct backbone *bb)
{
    int64_t n = 0;
    for (unsigned i = 0; i < bb->n_buffers; i++)
        n += bb->buffers[i].output ? bb->buffers[i].elements : 0;
    return n;
}

/* The agent that waits is told the program. */
static void serve(struct tune *t)
{
    const struct tune_options *o = &t->options;
    const struct agents_program program = {.path = o->path,
                                           .text = o->text,
                                           .sizes = o->sizes,
                                           .data = t->data_text,
                                           .lowering = &o->lowering,
                                           .fingerprint = t->problem->fingerprint,
                                           .seed = o->seed,
                                           .outputs = output_elements(t->problem->backbone),
                                           .kernels = t->kernels,
                                           .n_kernels = t->n_baselines};
    if (t->agents) agents_serve(t->agents, &program);
}

/* Takes up the run, after the contenders are known. */
static bool begin(struct tune *t, struct diag *d)
{
    int64_t run;
    struct store *store = session_store(t->session, &run);
    note_advice(t);
    if (t->agents) agents_record(t->agents, store, run);
    serve(t);
    if (t->options.replays) return tune_add_contenders(t, d);
    return tune_try_baselines(t, d) && tune_note_data(t, d) && tune_add_contenders(t, d) &&
           (!t->options.resume || session_restore(t->session, d));
}

struct tune *tune_new(const struct tune_options *o, struct diag *d)
{
    struct tune *t = base_calloc(1, sizeof *t);
    t->options = *o;
    if (!o->sizes) t->options.sizes = "";
    t->progress = progress_start(o->quiet);
    if (learn_check(o->learn_from, o->n_learn_from, o->store, d) && tune_read_files(t, d) &&
        find_device(t, d) && open_problem(t, d) && open_session(t, d) && begin(t, d))
        return t;
    tune_free(t);
    return NULL;
}

bool tune_replay(struct tune *t, struct session_replayed *out, struct diag *d)
{
    return session_replay(t->session, out, d);
}

bool tune_search(struct tune *t, struct diag *d)
{
    return session_search(t->session, d);
}

bool tune_quote(struct tune *t, struct diag *d)
{
    struct session_rival rivals[BB_MAX_PLAIN + LIMIT_LEARNED + LIMIT_BASELINES + 1];
    struct tune_report *r = &t->report;
    unsigned n = 0;
    for (unsigned i = 0; i < r->n_plain; i++)
        rivals[n++] = (struct session_rival){&r->plain[i], true};
    for (unsigned i = 0; i < r->n_learned; i++)
        rivals[n++] = (struct session_rival){&r->learned[i], true};
    for (unsigned i = 0; i < r->n_baselines; i++)
        if (!r->baselines[i].why) rivals[n++] = (struct session_rival){&r->baselines[i].pick, false};
    if (r->naive.search_ns > 0) rivals[n++] = (struct session_rival){&r->naive, !r->naive_excluded};
    bool kept = session_finals(t->session, rivals, n, d);
    tune_report(t);
    if (figure_known(&r->search.baseline)) r->naive.figure = r->search.baseline;
    tune_compare_baselines(t);
    tune_judge(t);
    return kept;
}

const struct tune_report *tune_report(struct tune *t)
{
    t->report.search = *session_report(t->session);
    if (t->agents) t->report.doubt = agents_doubt(t->agents);
    return &t->report;
}

const struct problem *tune_problem(const struct tune *t)
{
    return t->problem;
}

const struct device *tune_device(const struct tune *t)
{
    return &t->device;
}

const char *tune_data(const struct tune *t)
{
    return t->data_text;
}

void tune_free(struct tune *t)
{
    if (!t) return;
    agents_close(t->agents);
    tune_free_data(t);
    tune_free_baselines(t);
    lowering_free(t->lowering); /* it may have a leaf of the session */
    session_free(t->session);
    session_pick_clear(&t->report.naive);
    for (unsigned i = 0; i < t->report.n_plain; i++)
        session_pick_clear(&t->report.plain[i]);
    for (unsigned i = 0; i < t->report.n_learned; i++)
        session_pick_clear(&t->report.learned[i]);
    for (unsigned i = 0; i < t->n_plain; i++)
        contend_plain_clear(&t->plain[i]);
    for (unsigned i = 0; i < LIMIT_LEARNED; i++)
        learned_clear(&t->learned[i]);
    free(t->report.verdict.advice);
    tune_free_seen(t);
    for (unsigned i = 0; i < LIMIT_DRAW_THREADS; i++)
        perfmodel_free(t->thread_models[i]);
    perfmodel_free(t->model);
    mcts_prior_free(t->prior);
    space_state_free(t->root);
    problem_free(t->problem);
    recorded_close(t->recorded);
    free(t->settings);
    free(t);
}
