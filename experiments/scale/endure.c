/* A long search whose evaluations cost nothing: how much memory it takes, and how long its resumption.
 *
 *     endure runs.db 1000000 [HEURISTIC]     searches until the store has so many evaluations
 *     endure runs.db 1000010 [HEURISTIC]     goes on: prints what the resumption took
 *
 * The space has ten choices of twelve values, all different; a time follows from the values. The store, its
 * rows and snapshots are those of any search. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "coordinator/progress.h"
#include "coordinator/session.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/hash.h"
#include "core/space/data.h"
#include "spacedsl/model.h"

static const char text[] = "space s set P = 0..9 choice x(p: P): int in 0..11\n"
                           "require forall p, q in P: x(p) != x(q)\n";

/* One result at a time waits to be collected. */
struct instant {
    int64_t number;
    double ns;
    bool full;
};

static unsigned room(void *self)
{
    const struct instant *i = self;
    return !i->full;
}

static void start(void *self, const struct session_job *job, double best_ns)
{
    uint64_t h = job->descent.hash;
    (void)best_ns;
    *(struct instant *)self = (struct instant){job->number, 1000 + (double)(h % 100000), true};
}

static struct session_event collect(void *self, int timeout_ms)
{
    struct instant *i = self;
    (void)timeout_ms;
    if (!i->full) return (struct session_event){.kind = SESSION_NOTHING};
    i->full = false;
    return (struct session_event){.kind = SESSION_RESULT,
                                  .number = i->number,
                                  .result = {.status = "ok",
                                             .median_ns = i->ns,
                                             .samples = &i->ns,
                                             .n_samples = 1,
                                             .message = "",
                                             .resources = "",
                                             .numbers = ""}};
}

static const struct session_evaluator instant_evaluator = {.room = room, .start = start, .collect = collect};

static double processor_ms(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e3 +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e3;
}

static double mebibytes(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_maxrss / 1024;
}

static bool endure(const char *store, uint64_t evaluations, const char *heuristic, struct diag *d)
{
    struct arena *arena = arena_new();
    struct space_data *data = space_data_new();
    struct source source = {"ten.space", text, strlen(text)};
    const struct space_def *def = spacedsl_compile(&source, arena, d);
    struct space *space = def ? space_instantiate(def, data, d) : NULL;
    struct space_state *root = space ? space_root(space, NULL) : NULL;
    if (!root) return false;
    struct instant evaluator = {0};
    struct progress progress = progress_start(true);
    bool resume = access(store, F_OK) == 0;
    static const struct session_subject subject = {0};
    const struct session_setup setup = {.options = {.heuristic = heuristic,
                                                    .store = store,
                                                    .seed = 1,
                                                    .evaluations = evaluations,
                                                    .resume = resume,
                                                    .stop_fd = -1},
                                        .root = root,
                                        .config = mcts_config_default(),
                                        .run = {.path = "ten.space",
                                                .text = "",
                                                .sizes = "",
                                                .device = STORE_NO_DEVICE,
                                                .driver = "",
                                                .settings = heuristic,
                                                .libraries = "",
                                                .fingerprint = space_fingerprint(space),
                                                .seed = 1},
                                        .progress = &progress,
                                        .evaluator = &instant_evaluator,
                                        .evaluator_self = &evaluator,
                                        .subject = &subject};
    double began = clock_s();
    struct session *s = session_new(&setup, d);
    bool ok = s && (!resume || session_restore(s, d));
    if (ok && resume)
        printf("resumed %" PRIu64 " evaluations in %.1f s, %.0f MiB\n", session_report(s)->evaluations,
               clock_s() - began, mebibytes());
    began = clock_s();
    double used = processor_ms();
    uint64_t before = ok ? session_report(s)->evaluations : 0;
    ok = ok && session_search(s, d);
    if (ok) {
        uint64_t n = session_report(s)->evaluations - before;
        printf("%" PRIu64
               " evaluations more in %.1f s, %.0f a second, %.3f ms of processor time each, %.0f MiB\n",
               n, clock_s() - began, (double)n / (clock_s() - began), (processor_ms() - used) / (double)n,
               mebibytes());
    }
    session_free(s);
    space_state_free(root);
    space_free(space);
    space_data_free(data);
    arena_free(arena);
    return ok;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: endure STORE.db EVALUATIONS [HEURISTIC]\n");
        return 2;
    }
    struct diag *d = diag_new();
    bool ok = endure(argv[1], strtoull(argv[2], NULL, 10), argc > 3 ? argv[3] : "tag", d);
    diag_print(d, stderr);
    diag_free(d);
    return !ok;
}
