/* Agents as one job array of Slurm.
 *
 *     scancel --name=thresh-HASH           what an earlier coordinator at this endpoint has left
 *     sbatch --array=1-N ... <script       one task for each agent; the script becomes the agent
 *     squeue --jobs=ID                     now and then: what became of the tasks
 *     scancel ID                           at the end
 *
 * Slurm sends SIGTERM a minute before the limit of time (--signal), and the agent is told the end of its job
 * (--until): it returns jobs in time. --requeue puts the task of a failed node in the queue again, where it
 * becomes a new agent; the coordinator has queued the lost agent's candidates by then. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/launch/launch_state.h"
#include "coordinator/limits.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/hash.h"

enum { STATE_BYTES = 32, REASON_BYTES = 128, MOST_WORDS = 24 + LAUNCH_MOST_OPTIONS, ID_BYTES = 24 };

struct task {
    char state[STATE_BYTES];   /* of the last look; "": not seen yet */
    char reason[REASON_BYTES]; /* why it waits */
    bool over;
    bool seen; /* in this look */
};

struct slurm {
    char job[ID_BYTES];   /* number of the array; "": none was submitted */
    char *name;           /* of the job: tells the endpoint */
    struct task *tasks;   /* task i of the array is tasks[i - 1] */
    unsigned runs, waits; /* tasks, as the user was told */
    struct process queue;
    bool looking;
    int64_t look_ms; /* when the queue was looked at last, or is to be */
};

/* ---- tools ---- */

/* Runs a tool and waits for it. What it writes is in p, which the caller ends. false: *why says why. */
static bool run_tool(struct process *p, char *const *words, int input, struct strbuf *why)
{
    if (!process_start(p, words, input, PROCESS_KEPT))
        strbuf_printf(why, "cannot run %s: %s", words[0], strerror(errno));
    else if (!process_wait(p, LIMIT_TOOL_MS))
        strbuf_printf(why, "%s does not answer", words[0]);
    else if (process_succeeded(p))
        return true;
    else
        strbuf_printf(why, "%s: ", words[0]), process_reason(p, why);
    return false;
}

/* Cancels jobs; a fault is only told. */
static void cancel(struct launch *l, const char *which)
{
    char *words[] = {"scancel", "--quiet", (char *)which, NULL};
    struct process p = {0};
    struct strbuf why = {0};
    if (!run_tool(&p, words, PROCESS_NONE, &why)) launch_add_event(l, LAUNCH_NEWS, "slurm", "%s", why.text);
    process_end(&p);
    strbuf_free(&why);
}

/* ---- submitting ---- */

/* The script. Where Slurm does not say when the job ends, the limit counts from the start. */
static char *script_text(struct launch *l)
{
    struct strbuf b = {0};
    strbuf_add(&b, "#!/bin/sh\n");
    if (l->options.time_s > 0)
        strbuf_printf(&b, "until=--until=%.0fs\n", l->options.time_s);
    else
        strbuf_add(&b, "until=\n");
    strbuf_add(&b, "[ -z \"$SLURM_JOB_END_TIME\" ] || until=--until=@$SLURM_JOB_END_TIME\nexec ");
    launch_add_words(&b, launch_agent_words(l, l->program, l->key, l->options.device));
    strbuf_add(&b, " $until\n");
    return strbuf_take(&b);
}

static char **submit_words(struct launch *l)
{
    const struct launch_options *o = &l->options;
    struct arena *a = l->arena;
    const char **words = arena_array(a, MOST_WORDS, sizeof *words);
    size_t n = 0;
    words[n++] = "sbatch";
    words[n++] = "--parsable";
    words[n++] = "--requeue";
    words[n++] = "--open-mode=append";
    words[n++] = "--output=thresh-agent-%A_%a.log";
    words[n++] = arena_printf(a, "--signal=B:TERM@%d", LIMIT_WARNING_S);
    for (unsigned i = 0; i < o->n_options; i++)
        words[n++] = o->options[i];
    words[n++] = arena_printf(a, "--job-name=%s", l->slurm->name);
    words[n++] = arena_printf(a, "--array=1-%u", o->agents);
    if (o->partition) words[n++] = arena_printf(a, "--partition=%s", o->partition);
    if (o->time_s > 0) words[n++] = arena_printf(a, "--time=%" PRId64, (int64_t)(o->time_s + 59) / 60);
    return (char **)words;
}

/* "17" or "17;cluster". */
static bool take_job(struct slurm *s, const char *text)
{
    size_t n = text ? strspn(text, "0123456789") : 0;
    bool ok = n > 0 && n < sizeof s->job && (!text[n] || strchr(";\n", text[n]));
    if (ok) memcpy(s->job, text, n);
    return ok;
}

static bool submit(struct launch *l, struct diag *d)
{
    struct process p = {0};
    struct strbuf why = {0};
    int ends[2];
    char *script = script_text(l);
    if (pipe(ends)) {
        diag_plain(d, "cannot run sbatch: %s", strerror(errno));
        free(script);
        return false;
    }
    ssize_t written = write(ends[1], script, strlen(script)); /* less than a pipe holds */
    close(ends[1]);
    bool ok = written == (ssize_t)strlen(script) && run_tool(&p, submit_words(l), ends[0], &why);
    close(ends[0]);
    if (ok && !take_job(l->slurm, p.out.text))
        strbuf_printf(&why, "sbatch printed no number of a job"), ok = false;
    if (!ok) diag_plain(d, "launcher slurm: %s", why.length ? why.text : "sbatch was not given its script");
    process_end(&p);
    strbuf_free(&why);
    free(script);
    return ok;
}

static bool slurm_start(struct launch *l, struct diag *d)
{
    struct slurm *s = l->slurm = arena_alloc(l->arena, sizeof *s);
    char hash[HASH_HEX_BYTES];
    hash_hex(hash_finish(hash_string(HASH_START, l->endpoint)), hash);
    s->name = arena_printf(l->arena, "thresh-%s", hash);
    s->tasks = arena_array(l->arena, l->options.agents, sizeof *s->tasks);
    cancel(l, arena_printf(l->arena, "--name=%s", s->name));
    if (!submit(l, d)) return false;
    s->look_ms = clock_ms() + LIMIT_QUEUE_MS / 5; /* the first look comes soon */
    launch_add_event(l, LAUNCH_NEWS, "slurm", "submitted job %s of %u agents", s->job, l->options.agents);
    return true;
}

/* ---- the queue ---- */

static bool is_one_of(const char *state, const char *const *states)
{
    for (; *states; states++)
        if (strcmp(state, *states) == 0) return true;
    return false;
}

/* NODE_FAIL and PREEMPTED are no ends: the task is queued again. */
static bool is_end(const char *state)
{
    static const char *const ends[] = {"COMPLETED", "FAILED",        "TIMEOUT",   "CANCELLED",
                                       "DEADLINE",  "OUT_OF_MEMORY", "BOOT_FAIL", NULL};
    return is_one_of(state, ends);
}

static bool is_sound(const char *state)
{
    static const char *const sound[] = {"COMPLETED", "TIMEOUT", "CANCELLED", NULL};
    return is_one_of(state, sound);
}

static void end_task(struct launch *l, unsigned i, bool sound, const char *why)
{
    char name[LAUNCH_AGENT_NAME];
    struct slurm *s = l->slurm;
    s->tasks[i].over = true;
    snprintf(name, sizeof name, "slurm %s_%u", s->job, i + 1);
    if (sound)
        launch_add_event(l, LAUNCH_ENDED, name, "agent %s left: %s", name, why);
    else
        launch_add_event(l, LAUNCH_FAILED, name, "agent %s ended: %s; see thresh-agent-%s_%u.log", name, why,
                         s->job, i + 1);
}

static bool task_runs(const struct task *t)
{
    return strcmp(t->state, "RUNNING") == 0;
}

/* A line of the queue: "3 PENDING Resources". */
static void take_line(struct launch *l, const char *line)
{
    struct slurm *s = l->slurm;
    char state[STATE_BYTES], reason[REASON_BYTES] = "";
    unsigned number;
    if (sscanf(line, "%u %31s %127[^\n]", &number, state, reason) < 2 || number < 1 ||
        number > l->options.agents)
        return;
    struct task *t = &s->tasks[number - 1];
    t->seen = true;
    snprintf(t->reason, sizeof t->reason, "%s", reason);
    if (t->over || strcmp(t->state, state) == 0) return;
    snprintf(t->state, sizeof t->state, "%s", state);
    if (is_end(state)) {
        end_task(l, number - 1, is_sound(state), state);
        return;
    }
    if (!task_runs(t)) return;
    char name[LAUNCH_AGENT_NAME];
    snprintf(name, sizeof name, "slurm %s_%u", s->job, number);
    launch_add_event(l, LAUNCH_STARTED, name, "agent %s started", name);
}

/* One line for all tasks, when it has changed. */
static void sum_up(struct launch *l)
{
    struct slurm *s = l->slurm;
    unsigned runs = 0, waits = 0;
    const char *why = "";
    for (unsigned i = 0; i < l->options.agents; i++) {
        const struct task *t = &s->tasks[i];
        bool waiting = !t->over && t->state[0] && !task_runs(t);
        runs += !t->over && task_runs(t);
        waits += waiting;
        if (waiting && !*why) why = t->reason;
    }
    if (runs == s->runs && waits == s->waits) return;
    s->runs = runs;
    s->waits = waits;
    if (waits)
        launch_add_event(l, LAUNCH_NEWS, "slurm", "job %s: %u agents run, %u wait (%s)", s->job, runs, waits,
                         why);
    else
        launch_add_event(l, LAUNCH_NEWS, "slurm", "job %s: %u agents run", s->job, runs);
}

/* A task that was in the queue and is no more has ended; Slurm forgets jobs after some minutes. */
static void take_queue(struct launch *l, const char *text)
{
    struct slurm *s = l->slurm;
    for (unsigned i = 0; i < l->options.agents; i++)
        s->tasks[i].seen = false;
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        take_line(l, line);
    for (unsigned i = 0; i < l->options.agents; i++)
        if (!s->tasks[i].seen && !s->tasks[i].over && s->tasks[i].state[0])
            end_task(l, i, false, "it is not in the queue any more");
    sum_up(l);
}

static void start_look(struct launch *l)
{
    struct slurm *s = l->slurm;
    char *words[] = {"squeue",
                     "--noheader",
                     "--array",
                     "--states=all",
                     arena_printf(l->arena, "--jobs=%s", s->job),
                     "--format=%K %T %r",
                     NULL};
    s->looking = process_start(&s->queue, words, PROCESS_NONE, PROCESS_KEPT);
    s->look_ms = clock_ms();
}

/* What a failed look says is not known: the controller may be restarting. */
static void end_look(struct launch *l)
{
    struct slurm *s = l->slurm;
    struct strbuf why = {0};
    if (process_succeeded(&s->queue)) {
        take_queue(l, s->queue.out.text);
    } else {
        process_reason(&s->queue, &why);
        if (why.text && strstr(why.text, "Invalid job id")) take_queue(l, "");
    }
    strbuf_free(&why);
    process_end(&s->queue);
    s->looking = false;
    s->look_ms = clock_ms() + LIMIT_QUEUE_MS;
}

static void slurm_turn(struct launch *l)
{
    struct slurm *s = l->slurm;
    if (!s->looking && clock_ms() >= s->look_ms)
        start_look(l);
    else if (s->looking && (process_turn(&s->queue) || clock_ms() - s->look_ms > LIMIT_TOOL_MS))
        end_look(l);
}

static void slurm_stop(struct launch *l)
{
    if (l->slurm->job[0]) cancel(l, l->slurm->job);
}

static void slurm_free(struct launch *l)
{
    if (l->slurm) process_end(&l->slurm->queue);
}

static unsigned slurm_left(const struct launch *l)
{
    unsigned n = 0;
    for (unsigned i = 0; i < l->options.agents; i++)
        n += !l->slurm->tasks[i].over;
    return n;
}

const struct launch_ops launch_slurm = {
    .start = slurm_start, .turn = slurm_turn, .stop = slurm_stop, .free = slurm_free, .left = slurm_left};
