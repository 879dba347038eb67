/* What an agent does for its coordinator: the program, jobs and final rounds.
 *
 *     PROGRAM   the evaluator starts: runners, inputs, reference      READY 0, 4
 *     JOB 17    decisions -> OpenCL -> a runner                       RESULT 17, READY 1, 4
 *     ROUNDS 3  what runs is finished; then nothing but the rounds    FIGURES 3
 *
 * A message that makes no sense is answered with a failed result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/limits.h"
#include "agent/serve_state.h"
#include "agent/wire.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/pipeline/code.h"

/* ---- the program ---- */

/* The first error, without the word. */
static const char *first_error(const struct diag *d, const char *otherwise)
{
    static const char prefix[] = "error: ";
    const char *why = diag_failed(d) ? diag_message(d, 0) : otherwise;
    return why + (strncmp(why, prefix, strlen(prefix)) ? 0 : strlen(prefix));
}

/* Starts the device for the problem; a signal to stop ends that, too. */
static bool start_evaluator(struct agent *a, uint64_t seed)
{
    struct diag *d = diag_new();
    const struct eval_caller caller = {a->abandon_fd, agent_stay_alive, a};
    const struct eval_inputs inputs = {.seed = seed, .data = a->data ? a->data : a->options->data};
    a->at_work = true;
    a->evaluator =
        evaluator_new_for(a->problem, &a->options->device, a->options->runners, &inputs, &caller, d);
    a->at_work = false;
    a->done = agent_must_leave(a);
    if (!a->evaluator && !a->done) agent_give_up(a, first_error(d, "the device is not usable"));
    diag_free(d);
    return a->evaluator && !a->done;
}

/* Reads the user's files under the names that the coordinator has for them. */
static bool load_data(struct agent *a, const char *text)
{
    enum { WHY = 1024 };
    char why[WHY];
    if (!*text || a->options->data) return true;
    struct diag *d = diag_new();
    a->data = given_load_text(text, a->problem->program, d);
    snprintf(why, sizeof why, "%s; agents read the search's data files themselves, under the same paths",
             first_error(d, ""));
    if (!a->data) agent_give_up(a, why);
    diag_free(d);
    return a->data != NULL;
}

/* Tells of outputs that are not verified, if there are any. */
static void send_doubt(struct agent *a)
{
    const struct verify_doubt x = evaluator_doubt(a->evaluator);
    if (x.not_finite + x.loose > 0)
        agent_send(a, &(struct message){.kind = MESSAGE_REFERENCE,
                                        .reference = {.outputs = (uint64_t)x.outputs,
                                                      .not_finite = (uint64_t)x.not_finite,
                                                      .loose = (uint64_t)x.loose}});
}

/* Verifies the user's own kernels and times them once. false: it is to leave, or the device is lost. */
static bool try_kernels(struct agent *a)
{
    const struct serve_options *o = a->options;
    static const struct eval_settings settings = {
        .verify = true, .thorough = true, .second_look = true, .limit_ns = AGENT_OWN_NS};
    a->at_work = true;
    for (unsigned i = 0; i < o->n_kernels && !a->done; i++) {
        struct evaluation e;
        evaluator_run(a->evaluator, o->kernels[i], &settings, &e);
        a->done = agent_must_leave(a);
        if (a->done) break;
        agent_send(a, &(struct message){.kind = MESSAGE_BASELINE,
                                        .baseline = {.index = i,
                                                     .status = eval_status_name(e.status),
                                                     .median_ns = e.median_ns,
                                                     .message = e.message}});
    }
    a->at_work = false;
    return !a->done;
}

/* The program that it has, told again. */
static bool is_known(const struct agent *a, const struct message_program *m)
{
    return a->problem->fingerprint == m->fingerprint && a->seed == m->seed && a->search == m->search;
}

/* The program of another search takes the place of the one before: the coordinator moves an agent that has
 * finished its jobs, or that works for a search that is over. */
void agent_take_program(struct agent *a, const struct message_program *m)
{
    struct device dev = a->options->device;
    struct bb_options options;
    if (a->problem && is_known(a, m)) return;
    agent_forget_program(a);
    a->search = m->search;
    a->seed = m->seed;
    if (!wire_read_device(m->limits, &dev) || !wire_read_options(m->options, &options)) {
        agent_give_up(
            a, "version mismatch: the coordinator's program message cannot be read; run the same version of "
               "thresh on both sides");
        return;
    }
    a->problem = problem_new(m->path, m->text, m->sizes, &dev.limits, &options, a->diag);
    if (!a->problem || a->problem->fingerprint != m->fingerprint) {
        agent_give_up(
            a, a->problem
                   ? "version mismatch: the agent's space differs from the coordinator's; run the same "
                     "version of thresh on both sides"
                   : "the agent cannot read the program; run the same version of thresh on both sides");
        return;
    }
    if (!load_data(a, m->data) || !start_evaluator(a, m->seed)) return;
    send_doubt(a);
    if (!try_kernels(a)) return;
    agent_note(a, evaluator_note(a->evaluator));
    agent_ready(a);
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
                        .result = {.search = a->search,
                                   .id = id,
                                   .status = eval_status_name(e->status),
                                   .median_ns = e->median_ns,
                                   .samples = {e->samples_ns, e->n_samples},
                                   .message = e->message,
                                   .resources = {resources, r->most_items ? EVAL_RESOURCES : 0},
                                   .kernel_hash = kernel_hash}};
    agent_send(a, &m);
    agent_ready(a);
}

static void return_job(struct agent *a, uint64_t id)
{
    agent_send(a, &(struct message){.kind = MESSAGE_RETURNED, .returned = {a->search, id}});
}

void agent_start_job(struct agent *a, const struct message_job *job)
{
    struct evaluation refused = {.status = EVAL_BUILD_ERROR};
    struct pipeline_code code;
    a->received++;
    if (a->draining) {
        return_job(a, job->id);
        return;
    }
    if (!lower(a, job->actions, &code, refused.message)) {
        send_result(a, job->id, &refused, 0);
        return;
    }
    struct running *r = base_calloc(1, sizeof *r);
    *r = (struct running){job->id, code.hash, a->running};
    a->running = r;
    a->n_running++;
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
        a->n_running--;
        free(r);
        return hash;
    }
    return 0;
}

static void give_up_device(struct agent *a, const char *message)
{
    char why[EVAL_MESSAGE + 32];
    snprintf(why, sizeof why, "device lost%s%s", *message ? ": " : "", message);
    agent_give_up(a, why);
}

bool agent_collect(struct agent *a, int timeout_ms)
{
    uint64_t id;
    struct evaluation e;
    if (a->done || !a->evaluator || !evaluator_poll(a->evaluator, timeout_ms, &id, &e)) return false;
    a->done = e.status == EVAL_DEVICE_LOST && agent_must_leave(a);
    if (a->done) return false;
    uint64_t hash = forget_running(a, id);
    send_result(a, id, &e, hash);
    if (e.status == EVAL_DEVICE_LOST) give_up_device(a, e.message);
    return true;
}

/* ---- quoted figures ---- */

/* The kernels of a rounds message. */
struct round {
    unsigned n;
    struct pipeline_code codes[AGENT_KERNELS]; /* empty where the kernel is the user's */
    const struct cg_kernel *kernels[AGENT_KERNELS];
};

static void round_clear(struct round *r)
{
    while (r->n)
        pipeline_code_clear(&r->codes[--r->n]);
}

/* The user's own kernel -1 - code. */
static bool add_own(const struct agent *a, struct round *r, int64_t code)
{
    if (r->n == AGENT_KERNELS || code < -(int64_t)a->options->n_kernels) return false;
    r->codes[r->n] = (struct pipeline_code){0};
    r->kernels[r->n++] = a->options->kernels[-1 - code];
    return true;
}

static bool add_lowered(const struct agent *a, struct round *r, struct message_ints actions)
{
    char why[EVAL_MESSAGE] = "";
    if (r->n == AGENT_KERNELS || !lower(a, actions, &r->codes[r->n], why)) return false;
    r->kernels[r->n] = &r->codes[r->n].kernel;
    r->n++;
    return true;
}

/* Lowers the kernels of a rounds message: none if one fails. */
static void lower_all(const struct agent *a, struct message_ints ints, struct round *r)
{
    bool ok = true;
    for (size_t at = 0; ok && at < ints.n;) {
        int64_t length = ints.items[at++];
        bool fits = length < 0 || (uint64_t)length <= ints.n - at;
        struct message_ints one = {ints.items + at, fits && length > 0 ? (size_t)length : 0};
        ok = fits && (length < 0 ? add_own(a, r, length) : add_lowered(a, r, one));
        at += one.n;
    }
    if (!ok) round_clear(r);
}

/* The answer to a rounds message. What was measured as the device was lost, or this agent interrupted, is
 * none: the coordinator asks another agent. */
static void send_figures(struct agent *a, uint64_t id, const double *times, size_t n)
{
    const char *lost = evaluator_lost(a->evaluator);
    if (!lost)
        agent_send(a, &(struct message){.kind = MESSAGE_FIGURES, .figures = {a->search, id, {times, n}}});
    else if (agent_must_leave(a))
        a->done = true;
    else
        give_up_device(a, lost);
}

/* Nothing else runs meanwhile: running jobs are finished first. */
void agent_measure_rounds(struct agent *a, const struct message_rounds *m)
{
    while (a->running && agent_collect(a, -1))
        continue;
    if (a->done || a->draining) return;
    struct round r = {0};
    unsigned rounds = m->rounds < AGENT_ROUNDS ? (unsigned)m->rounds : AGENT_ROUNDS;
    lower_all(a, m->kernels, &r);
    double *times = base_calloc((size_t)r.n * rounds + 1, sizeof *times);
    a->at_work = true;
    if (r.n && rounds) evaluator_rounds(a->evaluator, r.kernels, r.n, rounds, m->seed, times);
    a->at_work = false;
    send_figures(a, m->id, times, (size_t)r.n * rounds);
    round_clear(&r);
    free(times);
}

/* ---- the end ---- */

void agent_return_waiting(struct agent *a)
{
    uint64_t id;
    while (a->evaluator && evaluator_withdraw(a->evaluator, &id)) {
        forget_running(a, id);
        return_job(a, id);
    }
}

void agent_forget_program(struct agent *a)
{
    while (a->running)
        forget_running(a, a->running->id);
    evaluator_free(a->evaluator);
    problem_free(a->problem);
    given_free(a->data);
    a->data = NULL;
    a->evaluator = NULL;
    a->problem = NULL;
}
