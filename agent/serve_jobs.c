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

#include "agent/serve_state.h"
#include "agent/wire.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/pipeline/code.h"

enum { MAX_KERNELS = 64, MAX_ROUNDS = 1000 };

/* ---- the program ---- */

/* Starts the device for the problem; a signal to stop ends that, too. */
static bool start_evaluator(struct agent *a, uint64_t seed)
{
    static const char prefix[] = "error: ";
    struct diag *d = diag_new();
    const struct eval_caller caller = {a->abandon_fd, agent_stay_alive, a};
    a->at_work = true;
    a->evaluator = evaluator_new_for(a->problem, &a->options->device, a->options->runners, seed, &caller, d);
    const char *why = diag_failed(d) ? diag_message(d, 0) : "the device is not usable";
    a->at_work = false;
    a->done = agent_must_leave(a);
    if (!a->evaluator && !a->done)
        agent_give_up(a, why + (strncmp(why, prefix, strlen(prefix)) ? 0 : strlen(prefix)));
    diag_free(d);
    return a->evaluator && !a->done;
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
    if (!start_evaluator(a, m->seed)) return;
    send_doubt(a);
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
    struct pipeline_code codes[MAX_KERNELS];
    const struct cg_kernel *list[MAX_KERNELS];
    unsigned rounds = m->rounds < MAX_ROUNDS ? (unsigned)m->rounds : MAX_ROUNDS;
    unsigned n = lower_all(a, m->kernels, codes);
    for (unsigned i = 0; i < n; i++)
        list[i] = &codes[i].kernel;
    double *times = base_calloc((size_t)n * rounds + 1, sizeof *times);
    a->at_work = true;
    if (n && rounds) evaluator_rounds(a->evaluator, list, n, rounds, m->seed, times);
    a->at_work = false;
    send_figures(a, m->id, times, (size_t)n * rounds);
    for (unsigned i = 0; i < n; i++)
        pipeline_code_clear(&codes[i]);
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
    a->evaluator = NULL;
    a->problem = NULL;
}
