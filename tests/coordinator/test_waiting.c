/* A search whose agents come and go: it makes fewer rollouts for a candidate while many agents wait, and its
 * rows say how many rollouts, so that a resumption and a replay draw the same. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/progress.h"
#include "coordinator/session.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/space/data.h"
#include "spacedsl/model.h"
#include "tests/coordinator/store_fixture.h"

static const char waiting_space_text[] = "space s\n"
                                         "choice a: int in 1..9\nchoice b: int in 1..9\n"
                                         "choice c: int in 1..9\nchoice d: int in 1..9\n";

enum { WAITING_MANY = 60, WAITING_FEW = 2, WAITING_EVALUATIONS = 200 };

/* Measures one candidate at a time. From candidate 20 to 99 and from 120 on there is room for many more. */
struct waiting_crowd {
    int64_t number, heard; /* started and answered last */
    uint64_t hash;
};

static unsigned waiting_room(void *self)
{
    const struct waiting_crowd *c = self;
    bool many = (c->number >= 20 && c->number < 100) || c->number >= 120;
    return many ? WAITING_MANY : WAITING_FEW;
}

static void waiting_start(void *self, const struct session_job *job, double best_ns)
{
    struct waiting_crowd *c = self;
    (void)best_ns;
    c->number = job->number;
    c->hash = job->descent.hash;
}

static struct session_event waiting_collect(void *self, int timeout_ms)
{
    struct waiting_crowd *c = self;
    (void)timeout_ms;
    if (c->number == c->heard) return (struct session_event){.kind = SESSION_NOTHING};
    c->heard = c->number;
    return (struct session_event){
        .kind = SESSION_RESULT,
        .number = c->number,
        .result = {.status = "ok", .median_ns = 100 + (double)(c->hash % 1000)},
    };
}

static const struct session_evaluator waiting_evaluator = {
    .room = waiting_room, .start = waiting_start, .collect = waiting_collect};

static const char *waiting_heuristic; /* NULL: the default */

/* What a session borrows. */
struct waiting_search {
    struct arena *arena;
    struct diag *diag;
    struct space_data *data;
    struct space *space;
    struct space_state *root;
    struct progress progress;
    struct waiting_crowd crowd;
    struct session *session;
};

static struct waiting_search *waiting_open(struct session_options options)
{
    static const struct session_subject subject = {0};
    struct source source = {"t", waiting_space_text, strlen(waiting_space_text)};
    struct arena *arena = arena_new();
    struct waiting_search *w = ARENA_NEW(arena, struct waiting_search);
    *w = (struct waiting_search){.arena = arena, .diag = diag_new(), .data = space_data_new()};
    w->space = space_instantiate(spacedsl_compile(&source, arena, w->diag), w->data, w->diag);
    w->root = space_root(w->space, NULL);
    w->progress = progress_start(true);
    struct store_run run = store_fixture_run();
    run.id = 1;
    options.seed = 3;
    options.heuristic = waiting_heuristic;
    options.stop_fd = -1;
    const struct session_setup setup = {.options = options,
                                        .root = w->root,
                                        .config = mcts_config_default(),
                                        .run = run,
                                        .progress = &w->progress,
                                        .evaluator = &waiting_evaluator,
                                        .evaluator_self = &w->crowd,
                                        .subject = &subject};
    w->session = session_new(&setup, w->diag);
    cr_assert_not_null(w->session, "%s", diag_failed(w->diag) ? diag_message(w->diag, 0) : "");
    return w;
}

static void waiting_close(struct waiting_search *w)
{
    session_free(w->session);
    space_state_free(w->root);
    space_free(w->space);
    space_data_free(w->data);
    diag_free(w->diag);
    arena_free(w->arena);
}

static void waiting_run(const char *store, uint64_t evaluations, bool resume)
{
    struct waiting_search *w = waiting_open(
        (struct session_options){.store = store, .resume = resume, .evaluations = evaluations, .threads = 1});
    if (resume) cr_assert(session_restore(w->session, w->diag), "%s", diag_message(w->diag, 0));
    cr_expect(session_search(w->session, w->diag));
    cr_expect_eq(session_report(w->session)->ok, evaluations);
    waiting_close(w);
}

static struct session_replayed waiting_replay(const char *store)
{
    struct session_replayed out;
    struct waiting_search *w =
        waiting_open((struct session_options){.store = store, .replays = true, .threads = 1});
    cr_assert(session_replay(w->session, &out, w->diag), "%s", diag_message(w->diag, 0));
    waiting_close(w);
    return out;
}

static void waiting_path(char path[64])
{
    snprintf(path, 64, "/tmp/thresh-waiting-%ld.db", (long)getpid());
    unlink(path);
}

/* The candidates are those of the rollouts that each row has, and of no others. */
Test(waiting, rows_say_how_many_rollouts_were_made)
{
    char path[64];
    waiting_path(path);
    waiting_run(path, WAITING_EVALUATIONS, false);
    cr_expect_eq(store_fixture_int(path, "SELECT count(*) FROM evaluation WHERE rollouts = 1"), 161);
    cr_expect_eq(store_fixture_int(path, "SELECT count(*) FROM evaluation WHERE rollouts = 0"), 39);
    struct session_replayed same = waiting_replay(path);
    cr_expect_eq(same.same, WAITING_EVALUATIONS, "%s", same.difference);
    store_fixture_execute(path, "UPDATE evaluation SET rollouts = 0 WHERE number >= 50");
    struct session_replayed other = waiting_replay(path);
    cr_expect(other.same >= 50 && other.same < 60, "%d", (int)other.same);
    unlink(path);
}

/* A batch serves as many of those that wait: 15 batches of 4 for 60, with 40 * 8 / 15 rollouts each. */
Test(waiting, batches_need_fewer_cuts)
{
    char path[64];
    waiting_path(path);
    waiting_heuristic = "tag:draws=40,batch=4";
    waiting_run(path, WAITING_EVALUATIONS, false);
    cr_expect_eq(store_fixture_int(path, "SELECT count(*) FROM evaluation WHERE rollouts = 21"), 161);
    cr_expect_eq(store_fixture_int(path, "SELECT count(*) FROM evaluation WHERE rollouts = 0"), 39);
    struct session_replayed same = waiting_replay(path);
    cr_expect_eq(same.same, WAITING_EVALUATIONS, "%s", same.difference);
    unlink(path);
}

/* Ended anywhere and resumed: the rows are those of one run. */
static void waiting_compare_resumed(void)
{
    char whole[64], path[80], compare[400];
    waiting_path(whole);
    waiting_run(whole, WAITING_EVALUATIONS, false);
    snprintf(path, sizeof path, "%s.part", whole);
    snprintf(
        compare, sizeof compare,
        "ATTACH '%s' AS whole; CREATE TABLE differ AS SELECT id, number, state_hash, drawn, draws, "
        "rollouts FROM main.evaluation EXCEPT SELECT id, number, state_hash, drawn, draws, rollouts FROM "
        "whole.evaluation",
        whole);
    for (uint64_t at = 10; at < WAITING_EVALUATIONS; at += 35) {
        waiting_run(path, at, false);
        waiting_run(path, WAITING_EVALUATIONS, true);
        store_fixture_execute(path, compare);
        cr_expect_eq(store_fixture_int(path, "SELECT count(*) FROM evaluation"), WAITING_EVALUATIONS);
        cr_expect_eq(store_fixture_int(path, "SELECT count(*) FROM differ"), 0, "resumed after %d", (int)at);
        unlink(path);
    }
    unlink(whole);
}

Test(waiting, resumptions_draw_the_same)
{
    waiting_compare_resumed();
}

/* Also within a batch. */
Test(waiting, resumptions_go_on_with_their_batch)
{
    waiting_heuristic = "tag:draws=40,batch=4";
    waiting_compare_resumed();
}
