/* A session over an evaluator that answers at once: what becomes of its errors. */
#include "coordinator/session.h"

#include <criterion/criterion.h>
#include <string.h>

#include "coordinator/progress.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/space/data.h"
#include "spacedsl/model.h"

static const char session_space_text[] = "space s choice x: int in 1..6\n";

/* Each candidate takes as many ns as its number; the third final round finds the evaluator broken. */
struct session_device {
    int64_t number; /* at work; 0: none */
    unsigned rounds;
    bool in_round;
    double times[SESSION_CONTENDERS];
};

static unsigned session_device_room(void *self)
{
    const struct session_device *v = self;
    return v->number == 0;
}

static void session_device_start(void *self, const struct session_job *job, double best_ns)
{
    struct session_device *v = self;
    (void)best_ns;
    v->number = job->number;
}

static bool session_device_start_round(void *self, const struct session_pick *const *picks, unsigned n,
                                       uint64_t seed)
{
    struct session_device *v = self;
    (void)seed;
    for (unsigned i = 0; i < n; i++)
        v->times[i] = 10 * (double)picks[i]->number;
    v->in_round = true;
    return true;
}

static struct session_event session_device_collect(void *self, int timeout_ms)
{
    struct session_device *v = self;
    struct session_event e = {.number = v->number};
    (void)timeout_ms;
    if (v->in_round) {
        v->in_round = false;
        e.times = v->times;
        e.reason = "the device is gone";
        e.kind = ++v->rounds < 3 ? SESSION_ROUND : SESSION_BROKEN;
    } else if (v->number) {
        e.kind = SESSION_RESULT;
        e.result = (struct store_evaluation){.status = "ok", .median_ns = (double)v->number};
        v->number = 0;
    }
    return e;
}

static const struct session_evaluator session_device = {.room = session_device_room,
                                                        .start = session_device_start,
                                                        .collect = session_device_collect,
                                                        .start_round = session_device_start_round};

/* What was measured counts, but the caller hears of the error. */
Test(session, an_evaluator_that_breaks_in_a_final_round_is_an_error)
{
    static const struct session_subject nothing_special = {0};
    struct arena *arena = arena_new();
    struct diag *d = diag_new();
    struct space_data *data = space_data_new();
    struct source source = {"t", session_space_text, strlen(session_space_text)};
    struct space *space = space_instantiate(spacedsl_compile(&source, arena, d), data, d);
    struct space_state *root = space_root(space, NULL);
    struct progress progress = progress_start(true);
    struct session_device device = {0};
    const struct session_setup setup = {.options = {.seed = 3, .stop_fd = -1},
                                        .root = root,
                                        .config = mcts_config_default(),
                                        .progress = &progress,
                                        .evaluator = &session_device,
                                        .evaluator_self = &device,
                                        .subject = &nothing_special};
    struct session *s = session_new(&setup, d);
    cr_assert_not_null(s);
    cr_assert(session_search(s, d));
    const struct session_report *r = session_report(s);
    cr_expect(r->exhausted && r->evaluations == 6 && r->n_top == LIMIT_TOP);
    cr_expect_not(session_finals(s, NULL, 0, d));
    cr_expect(diag_failed(d) && strstr(diag_message(d, 0), "the device is gone"));
    cr_assert_gt(r->n_contenders, 0);
    cr_expect_eq(r->contenders[0].number, 1);
    cr_expect_eq(r->contenders[0].figure.rounds, 2);
    cr_expect_eq(r->contenders[0].figure.median_ns, 10);
    session_free(s);
    space_state_free(root);
    space_free(space);
    space_data_free(data);
    diag_free(d);
    arena_free(arena);
}
