/* thresh replay-search: does the searches of a store again, from their seeds and recorded results, and shows
 * that each decision is the same:
 *
 *     run 1: matmul.lift M=64,N=64,K=64 on pthread, seed 1: 4,677 evaluations, 4,690 candidates drawn: the
 * same run 2: axpy.lift N=64 on pthread, seed 1: differs after 16 of 200 evaluations, at number 17: ...
 *
 * A search follows from its seed and from the results in the order in which they were reported, whatever the
 * number of agents, threads and interruptions. So a difference means that rows were changed, or that this
 * version of thresh decides in another way. Nothing is measured. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/kind.h"
#include "coordinator/cli/space_open.h"
#include "coordinator/replay.h"
#include "coordinator/store.h"
#include "core/base/arena.h"
#include "core/base/stop.h"

struct replaying {
    const struct cli_args *args;
    struct arena *arena;
    struct store_run *runs;
    size_t n, capacity;
    struct replay_options options;
    unsigned failed; /* runs that differ or cannot be done again */
    json_t *list;
};

/* ---- the runs ---- */

static bool note_run(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct replaying *r = context;
    struct arena *a = r->arena;
    (void)e;
    if (r->n && r->runs[r->n - 1].id == run->id) return true;
    r->runs = arena_grow(a, r->runs, &r->capacity, r->n + 1, sizeof *r->runs);
    r->runs[r->n++] = (struct store_run){.id = run->id,
                                         .path = arena_strdup(a, run->path),
                                         .text = arena_strdup(a, run->text),
                                         .sizes = arena_strdup(a, run->sizes),
                                         .device = arena_strdup(a, run->device),
                                         .driver = arena_strdup(a, run->driver),
                                         .libraries = arena_strdup(a, run->libraries),
                                         .settings = arena_strdup(a, run->settings),
                                         .fingerprint = run->fingerprint,
                                         .seed = run->seed};
    return true;
}

static bool read_runs(struct replaying *r, struct diag *d)
{
    const char *path = r->args->positional[0];
    if (!cli_expect_kind(path, CLI_KIND_STORE, d)) return false;
    struct store *s = store_open_to_read(path, d);
    bool ok = s && store_each(s, 0, note_run, r, d);
    store_close(s);
    if (ok && !r->n) diag_plain(d, "%s: the store has no evaluations", path);
    return ok && r->n;
}

/* ---- a run ---- */

/* The space is read from the file that the run names, with the run's parameters and the objects of --data. */
static bool redo_space(const struct replaying *r, const struct store_run *run, struct session_replayed *out,
                       struct diag *d)
{
    struct cli_space space = {0};
    struct cli_args of = {0};
    of.value[CLI_PARAM] = *run->sizes ? run->sizes : NULL;
    of.value[CLI_DATA] = r->args->value[CLI_DATA];
    bool ok = cli_space_load(run->path, &space, d) && cli_space_instantiate(&of, &space, d);
    if (ok && space_fingerprint(space.space) != run->fingerprint) {
        diag_plain(d, "run %" PRId64 " was of another version of '%s', or of other objects (--data)", run->id,
                   run->path);
        ok = false;
    }
    ok = ok && replay_space(&r->options, run, space.space, out, d);
    cli_space_close(&space);
    return ok;
}

static bool redo_program(const struct replaying *r, const struct store_run *run, struct session_replayed *out,
                         struct diag *d)
{
    struct device dev;
    struct problem *p = cli_run_problem(r->args, run, &dev, d);
    problem_free(p);
    return p && replay_program(&r->options, run, &dev, out, d);
}

/* ---- the report ---- */

static void print_result(struct replaying *r, const struct store_run *run, const struct session_replayed *s)
{
    bool same = !s->difference[0];
    if (cli_given(r->args, CLI_JSON)) {
        json_array_append_new(
            r->list, json_pack("{s:I,s:s,s:s,s:s,s:I,s:I,s:I,s:I,s:b,s:o,s:o}", "run", (json_int_t)run->id,
                               "path", run->path, "sizes", run->sizes, "device", run->device, "seed",
                               (json_int_t)run->seed, "evaluations", (json_int_t)s->rows, "same",
                               (json_int_t)s->same, "drawn", (json_int_t)s->drawn, "all_same", (int)same,
                               "number", same ? json_null() : json_integer(s->number), "difference",
                               same ? json_null() : json_string(s->difference)));
        return;
    }
    printf("run %" PRId64 ": %s%s%s on %s, seed %" PRIu64 ": ", run->id, run->path, *run->sizes ? " " : "",
           run->sizes, run->device, run->seed);
    if (same)
        printf("%" PRIu64 " evaluations, %" PRIu64 " candidates drawn: the same\n", s->rows, s->drawn);
    else
        printf("differs after %" PRIu64 " of %" PRIu64 " evaluations, at number %" PRId64 ": %s\n", s->same,
               s->rows, s->number, s->difference);
}

static void redo(struct replaying *r, const struct store_run *run)
{
    struct session_replayed s = {0};
    struct diag *d = diag_new();
    bool program = strcmp(run->device, STORE_NO_DEVICE) != 0;
    bool done = program ? redo_program(r, run, &s, d) : redo_space(r, run, &s, d);
    if (done) print_result(r, run, &s);
    if (!done) fprintf(stderr, "run %" PRId64 ": cannot be done again:\n", run->id);
    if (!done) diag_print(d, stderr);
    r->failed += !done || s.difference[0];
    diag_free(d);
}

static int run_all(struct replaying *r)
{
    for (size_t i = 0; i < r->n && !stop_requested(r->options.stop_fd); i++)
        redo(r, &r->runs[i]);
    if (cli_given(r->args, CLI_JSON))
        cli_print_json(json_pack("{s:s,s:O}", "store", r->args->positional[0], "runs", r->list));
    return r->failed ? CLI_FAILED : CLI_OK;
}

static int run(const struct cli_args *a)
{
    struct diag *d = diag_new();
    struct replaying r = {.args = a, .arena = arena_new(), .list = json_array()};
    r.options = (struct replay_options){
        .store = a->positional[0], .description = a->value[CLI_DESCRIPTION], .stop_fd = cli_signals()};
    int status = read_runs(&r, d) ? run_all(&r) : CLI_USAGE;
    status = cli_finish(d, cli_signal_status(r.options.stop_fd, status));
    json_decref(r.list);
    arena_free(r.arena);
    return status;
}

const struct cli_command cli_replay_search = {
    .name = "replay-search",
    .positional = "STORE.db",
    .least = 1,
    .most = 1,
    .takes = {CLI_TAKES(DESCRIPTION), CLI_TAKES(DATA), CLI_TAKES(JSON)},
    .notes = {{CLI_DATA, "FILE.json", "objects of the space of a run of 'tune --space' that had --data"},
              {CLI_DESCRIPTION, "FILE.json",
               "description of the runs' device, if it is not here (default: found by its name)"}},
    .help =
        "Does the searches of a store again, from their seeds and recorded results, and shows that each "
        "decision is the same.\n"
        "Nothing is measured: each candidate is drawn anew and gets the result that the store has, in the "
        "order in which the results were reported. The first evaluation of a run whose candidate differs is "
        "printed with its first other decision, and the exit status is 1. A difference means that the store "
        "was "
        "changed, or that this version of thresh decides in another way; runs of another version of the "
        "space, the prior or the device's description cannot be done again. This takes as long as drawing "
        "did.\v"
        "Example: thresh replay-search runs.db",
    .run = run,
};
