/* A coordinator's work against simulated agents (crowd.h), so that one machine shows what it can do.
 *
 *     simulate agents ipc://meet/socket 1000 8 1      1,000 agents with room for 8 jobs, 1 ms a job
 *     simulate hub 1000 8 1 5                         the same against a hub alone, for 5 s
 *     simulate hub 1000 8 1 5 new.db                  a hub that records attempts and results in a store
 *
 * `agents` ends when the coordinator has said bye to all. `hub` sends jobs of JOB_DECISIONS decisions without
 * a search, store or tree. It prints results a second, the processor time of the coordinator's side for each
 * (us), its largest memory (MiB), and the longest and the median time from a result to the next job of that
 * agent (ms). */
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

#include "coordinator/hub.h"
#include "coordinator/limits.h"
#include "coordinator/store.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/stats.h"
#include "core/space/space.h"
#include "experiments/scale/crowd.h"

enum { JOB_DECISIONS = 40, HEARTBEAT_MS = 1000 };

/* What the command line says. */
struct wanted {
    unsigned agents, room;
    double job_ms;
};

/* ---- the agents ---- */

/* One process for all; it ends with the coordinator. */
static int run_agents(const char *endpoint, const struct wanted *w)
{
    const struct timespec pause = {.tv_nsec = 500000};
    struct crowd *c = crowd_new(endpoint, w->agents, w->room, w->job_ms);
    size_t n;
    if (!c) return 1;
    while (crowd_turn(c))
        nanosleep(&pause, NULL);
    const double *waits = crowd_waits(c, &n);
    if (n > 0)
        printf("wait %.2f ms median, %.2f ms longest\n", stats_median(waits, n), stats_quantile(waits, n, 1));
    fflush(stdout);
    _exit(0);
}

/* ---- a hub without a search ---- */

static double processor_us(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* A hub, and where it records. */
struct side {
    struct hub *hub;
    struct store *store; /* NULL: nowhere */
    struct store_run run;
    struct diag *diag;
};

static bool open_store(struct side *s, const char *path)
{
    s->run = (struct store_run){.path = "simulated",
                                .text = "",
                                .sizes = "",
                                .device = "simulated",
                                .driver = "1",
                                .libraries = "",
                                .settings = "",
                                .seed = 1};
    if (!path) return true;
    s->store = store_open(path, true, s->diag);
    return s->store && store_run_add(s->store, &s->run, s->diag);
}

/* As a search records it: with a list of decisions, in the log before it counts. */
static void record(struct side *s, const struct message_result *m)
{
    if (!s->store) return;
    struct space_action actions[JOB_DECISIONS];
    for (uint32_t i = 0; i < JOB_DECISIONS; i++)
        actions[i] = (struct space_action){i, (uint32_t)(m->id >> i % 8) & 7};
    char *text = store_actions_print(actions, JOB_DECISIONS);
    store_add(s->store, s->run.id,
              &(struct store_evaluation){.number = (int64_t)m->id,
                                         .label = "",
                                         .drawn = m->id,
                                         .draws = m->id,
                                         .state_hash = m->id,
                                         .actions = text,
                                         .decisions = "",
                                         .numbers = "",
                                         .status = m->status,
                                         .median_ns = m->median_ns,
                                         .samples = m->samples.items,
                                         .n_samples = (unsigned)m->samples.n,
                                         .kernel_hash = m->id,
                                         .message = "",
                                         .resources = ""},
              s->diag);
    free(text);
}

/* A job for each place at agents. */
static void send_jobs(struct side *s, const int *peers, unsigned n, uint64_t first)
{
    int64_t ints[2 * JOB_DECISIONS];
    for (unsigned j = 0; j < n; j++) {
        for (int i = 0; i < 2 * JOB_DECISIONS; i++)
            ints[i] = i + (int64_t)(first + j);
        hub_send(s->hub, (unsigned)peers[j],
                 &(struct message){.kind = MESSAGE_JOB,
                                   .job = {.id = first + j, .actions = {ints, 2 * JOB_DECISIONS}}});
    }
}

/* Attempts of the jobs that there is room for now, recorded before they are sent. */
static unsigned note_attempts(struct side *s, int peers[LIMIT_BATCH_ROWS], uint64_t first)
{
    unsigned n = 0;
    for (int peer; n < LIMIT_BATCH_ROWS && (peer = hub_idle_peer(s->hub, 0)) >= 0; peers[n++] = peer) {
        if (s->store) store_attempt_add(s->store, s->run.id, (int64_t)(first + n), first + n, s->diag);
        hub_take_credit(s->hub, (unsigned)peer);
    }
    return n;
}

/* What an event asks of the hub's owner. Returns the results in it. */
static unsigned take(struct side *s, const struct hub_event *e)
{
    if (e->kind == HUB_HELLO) {
        hub_send(s->hub, e->peer, &(struct message){.kind = MESSAGE_WELCOME, .welcome = {HEARTBEAT_MS}});
        hub_send(s->hub, e->peer, &(struct message){.kind = MESSAGE_PROGRAM});
    }
    if (e->kind != HUB_MESSAGE || e->message.kind != MESSAGE_RESULT) return 0;
    record(s, &e->message.result);
    return 1;
}

/* Takes what has arrived, up to the most that a search stores together, and sends the next jobs. Returns the
 * results in it. */
static unsigned turn(struct side *s, uint64_t *id)
{
    unsigned results = 0;
    struct hub_event e = hub_poll(s->hub, 100, -1);
    bool batch = s->store && e.kind != HUB_IDLE && store_begin(s->store, s->run.id, s->diag);
    while (e.kind != HUB_IDLE) {
        results += take(s, &e);
        if (results >= LIMIT_BATCH_ROWS) break;
        e = hub_poll(s->hub, 0, -1);
    }
    int peers[LIMIT_BATCH_ROWS];
    unsigned n = note_attempts(s, peers, *id + 1);
    if (batch) store_commit(s->store, s->diag);
    send_jobs(s, peers, n, *id + 1);
    *id += n;
    return results;
}

/* Until so long after all have settled. */
static void serve(struct side *s, double seconds)
{
    uint64_t id = 0, results = 0, first = 0;
    double start = 0, used = 0, end = 0;
    do {
        results += turn(s, &id);
        if (results >= 1000 && end == 0) {
            first = results;
            start = clock_now_ms();
            end = start + seconds * 1e3;
            used = processor_us();
        }
    } while (end == 0 || clock_now_ms() < end);
    double n = (double)(results - first), took = clock_now_ms() - start;
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    printf("%.0f results/s, %.1f us of processor time each, %ld MiB\n", n / took * 1e3,
           (processor_us() - used) / n, u.ru_maxrss / 1024);
    fflush(stdout);
}

static int run_hub(const char *endpoint, double seconds, const char *store)
{
    struct side s = {.diag = diag_new()};
    void *context = zmq_ctx_new();
    s.hub = hub_new(context, endpoint, clock_ms, s.diag);
    bool ok = s.hub && open_store(&s, store);
    if (ok) serve(&s, seconds);
    ok = ok && !diag_failed(s.diag);
    diag_print(s.diag, stderr);
    hub_free(s.hub);
    store_close(s.store);
    zmq_ctx_term(context);
    diag_free(s.diag);
    return !ok;
}

/* ---- the command line ---- */

static int both(const struct wanted *w, double seconds, const char *store)
{
    char endpoint[64];
    snprintf(endpoint, sizeof endpoint, "ipc:///tmp/thresh-scale-%ld", (long)getpid());
    pid_t child = fork();
    if (child == 0) return run_agents(endpoint, w);
    int status = child < 0 ? 1 : run_hub(endpoint, seconds, store);
    if (child > 0 && status) kill(child, SIGKILL);
    if (child > 0) waitpid(child, NULL, 0);
    unlink(endpoint + strlen("ipc://"));
    return status;
}

int main(int argc, char **argv)
{
    bool agents = argc == 6 && strcmp(argv[1], "agents") == 0;
    bool hub = (argc == 6 || argc == 7) && strcmp(argv[1], "hub") == 0;
    struct wanted w = {0};
    if (agents || hub) {
        w.agents = (unsigned)strtoul(argv[agents ? 3 : 2], NULL, 10);
        w.room = (unsigned)strtoul(argv[agents ? 4 : 3], NULL, 10);
        w.job_ms = strtod(argv[agents ? 5 : 4], NULL);
    }
    if (w.agents == 0 || w.agents > CROWD_MOST || w.room == 0 || w.room > LIMIT_CREDITS) {
        fputs("usage: simulate agents ENDPOINT AGENTS ROOM MS\n"
              "       simulate hub AGENTS ROOM MS SECONDS [STORE.db]\n",
              stderr);
        return 2;
    }
    return agents ? run_agents(argv[2], &w) : both(&w, strtod(argv[5], NULL), argv[6]);
}
