/* A session over an evaluator that answers at once: what becomes of its errors. */
#include "coordinator/session.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coordinator/progress.h"
#include "coordinator/session_state.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/space/data.h"
#include "spacedsl/model.h"
#include "tests/coordinator/store_fixture.h"

static const char session_space_text[] = "space s choice x: int in 1..6\n";

/* Each candidate takes as many ns as its number; the third final round finds the evaluator broken. */
struct session_device {
    int64_t number;      /* at work; 0: none */
    const double *takes; /* ns of candidates 1, 2, ...; NULL: as many as the number */
    const char *script;  /* of each start: 'l' lost, 'b' it breaks, 's' the user interrupts, else a result */
    unsigned starts;
    int interrupt; /* the other end of stop_fd */
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
    v->starts++;
}

static char session_device_fate(const struct session_device *v)
{
    bool scripted = v->script && v->starts <= strlen(v->script);
    return scripted ? v->script[v->starts - 1] : 'r';
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
        char fate = session_device_fate(v);
        e.kind = fate == 'l' ? SESSION_LOST : fate == 'b' ? SESSION_BROKEN : SESSION_RESULT;
        e.reason = "the host is gone";
        if (fate == 's') {
            cr_assert_eq(write(v->interrupt, "s", 1), 1);
            return (struct session_event){.kind = SESSION_NOTHING};
        }
        double ns = v->takes ? v->takes[v->number - 1] : (double)v->number;
        e.result = (struct store_evaluation){.status = "ok", .median_ns = ns};
        v->number = 0;
    }
    return e;
}

static const struct session_evaluator session_device = {.room = session_device_room,
                                                        .start = session_device_start,
                                                        .collect = session_device_collect,
                                                        .start_round = session_device_start_round};

/* ---- several results at a time ---- */

enum { SESSION_CROWD = 4, SESSION_VALUES = 6 };

/* Measures four candidates at a time. Their results come together, the last one first. */
struct session_crowd {
    int64_t at_work[SESSION_CROWD];
    unsigned n;
    bool answers;
    double sample; /* of the last result, valid until the next one, as its message */
    char message[32];
    const char *path;               /* of the store */
    unsigned results, dies;         /* the process is killed when it collects so many results, ... */
    unsigned counts, dies_counting; /* ... or when so many count; 0: never */
    int rows[SESSION_VALUES];       /* of the store when the first, second, ... result counts */
};

static unsigned session_crowd_room(void *self)
{
    const struct session_crowd *c = self;
    return c->answers ? 0 : SESSION_CROWD - c->n;
}

static void session_crowd_start(void *self, const struct session_job *job, double best_ns)
{
    struct session_crowd *c = self;
    (void)best_ns;
    c->at_work[c->n++] = job->number;
}

/* With time to wait the session has nothing to start. */
static struct session_event session_crowd_collect(void *self, int timeout_ms)
{
    struct session_crowd *c = self;
    if (timeout_ms > 0) c->answers = true;
    if (!c->answers || c->n == 0) {
        c->answers = false;
        return (struct session_event){.kind = SESSION_NOTHING};
    }
    if (++c->results == c->dies) raise(SIGKILL);
    c->n--;
    c->sample = 100 + (double)c->at_work[c->n];
    snprintf(c->message, sizeof c->message, "of candidate %d", (int)c->at_work[c->n]);
    struct store_evaluation e = {
        .status = "ok", .median_ns = c->sample, .samples = &c->sample, .n_samples = 1, .message = c->message};
    return (struct session_event){.kind = SESSION_RESULT, .number = c->at_work[c->n], .result = e};
}

static void session_crowd_counts(void *self, const struct session_job *job, const struct store_evaluation *e)
{
    struct session_crowd *c = self;
    cr_assert_eq(job->number, e->number);
    c->rows[c->counts++] = store_fixture_int(c->path, "SELECT count(*) FROM evaluation");
    if (c->counts == c->dies_counting) raise(SIGKILL);
}

/* ---- judgements ---- */

enum { SESSION_REFUSED = 3 };

/* What happens to candidates, in order: "d1 l1 d2 j1 ..." (drawn, put off, judged). */
struct session_log {
    struct session_crowd crowd; /* first: the evaluator's self */
    char text[256];
    unsigned judged[SESSION_VALUES + 1], put_off;
};

static void session_log_add(struct session_log *l, char what, int64_t number)
{
    size_t at = strlen(l->text);
    snprintf(l->text + at, sizeof l->text - at, "%c%d ", what, (int)number);
}

static void session_log_drawn(void *self, struct session_job *job)
{
    session_log_add(self, 'd', job->number);
}

static void session_log_later(void *self, const struct session_job *job)
{
    struct session_log *l = self;
    session_log_add(l, 'l', job->number);
    l->put_off++;
}

static const char *session_log_judge(void *self, struct session_job *job, double best_ns, char *why, size_t n)
{
    struct session_log *l = self;
    (void)best_ns;
    session_log_add(l, 'j', job->number);
    l->judged[job->number]++;
    snprintf(why, n, "refused");
    return job->number == SESSION_REFUSED ? "build_error" : NULL;
}

static const struct session_subject session_logged = {
    .drawn = session_log_drawn, .judge_later = session_log_later, .judge = session_log_judge};

static const struct session_evaluator session_crowd = {
    .room = session_crowd_room, .start = session_crowd_start, .collect = session_crowd_collect};
static const struct session_subject session_observed = {.reported = session_crowd_counts};

/* A session in the space above, with what it borrows. */
struct session_trial {
    struct arena *arena;
    struct diag *diag;
    struct space_data *data;
    struct space *space;
    struct space_state *root;
    struct progress progress;
    struct session_device device;
    struct session_crowd *crowd; /* in place of the device, if it is there */
    struct session_log *log;     /* in place of both */
    struct session *session;
};

static void session_begin(struct session_trial *t, struct session_options options)
{
    static const struct session_subject nothing_special = {0};
    struct source source = {"t", session_space_text, strlen(session_space_text)};
    t->arena = arena_new();
    t->diag = diag_new();
    t->data = space_data_new();
    t->space = space_instantiate(spacedsl_compile(&source, t->arena, t->diag), t->data, t->diag);
    t->root = space_root(t->space, NULL);
    t->progress = progress_start(true);
    options.seed = 3;
    if (options.stop_fd == 0) options.stop_fd = -1;
    const struct session_setup setup = {.options = options,
                                        .root = t->root,
                                        .config = mcts_config_default(),
                                        .run = store_fixture_run(),
                                        .progress = &t->progress,
                                        .evaluator = t->crowd ? &session_crowd : &session_device,
                                        .evaluator_self = t->crowd ? (void *)t->crowd : &t->device,
                                        .subject = t->log     ? &session_logged
                                                   : t->crowd ? &session_observed
                                                              : &nothing_special,
                                        .subject_self = t->log ? (void *)t->log : t->crowd};
    t->session = session_new(&setup, t->diag);
    cr_assert_not_null(t->session);
}

static void session_end(struct session_trial *t)
{
    session_free(t->session);
    space_state_free(t->root);
    space_free(t->space);
    space_data_free(t->data);
    diag_free(t->diag);
    arena_free(t->arena);
}

/* What was measured counts, but the caller hears of the error. */
Test(session, an_evaluator_that_breaks_in_a_final_round_is_an_error)
{
    struct session_trial t = {0};
    session_begin(&t, (struct session_options){0});
    cr_assert(session_search(t.session, t.diag));
    const struct session_report *r = session_report(t.session);
    cr_expect(r->exhausted && r->evaluations == 6 && r->n_top == LIMIT_TOP);
    cr_expect_not(session_finals(t.session, NULL, 0, t.diag));
    cr_expect(diag_failed(t.diag) && strstr(diag_message(t.diag, 0), "the device is gone"));
    cr_assert_gt(r->n_contenders, 0);
    cr_expect_eq(r->contenders[0].number, 1);
    cr_expect_eq(r->contenders[0].figure.rounds, 2);
    cr_expect_eq(r->contenders[0].figure.median_ns, 10);
    session_end(&t);
}

/* Ends when so many evaluations in a row were no improvement. */
Test(session, ends_when_the_best_has_settled)
{
    static const struct {
        double within;
        uint64_t count, ends; /* after so many evaluations */
        bool settled;
        double takes[6];
    } cases[] = {{0, 3, 4, true, {10, 11, 12, 13, 14, 15}},
                 {0, 3, 6, false, {10, 11, 9.9, 12, 9.8, 12}},
                 {0.05, 3, 4, true, {10, 11, 9.9, 9.8, 9.7, 9.6}},
                 {0.05, 3, 6, true, {10, 11, 9.4, 9.3, 9.2, 9.1}},
                 {0.05, 6, 6, false, {10, 10, 10, 10, 10, 10}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct session_trial t = {.device = {.takes = cases[i].takes}};
        session_begin(&t, (struct session_options){.until = {cases[i].within, cases[i].count}});
        cr_assert(session_search(t.session, t.diag));
        const struct session_report *r = session_report(t.session);
        cr_expect_eq(r->evaluations, cases[i].ends, "case %zu ends after %d", i, (int)r->evaluations);
        cr_expect_eq(r->settled, cases[i].settled, "case %zu", i);
        session_end(&t);
    }
}

/* ---- candidates that end what measures them ---- */

/* As if the coordinator had been killed: its open attempts have no outcome. */
static void session_kill(const char *path)
{
    sqlite3 *db;
    const char *sql = "UPDATE attempt SET outcome = '' WHERE outcome = 'returned'";
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* Searches for one evaluation more with a device that follows the script, which ends with 'b' where the
 * coordinator is killed; returns how often it was given one.
 * *crashed: evaluations that failed. */
static unsigned session_live(const char *path, bool resume, const char *script, uint64_t *crashed, char *why)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    struct session_trial t = {.device = {.script = script, .interrupt = ends[1]}};
    session_begin(
        &t, (struct session_options){.store = path, .resume = resume, .evaluations = 1, .stop_fd = ends[0]});
    if (resume) cr_assert(session_restore(t.session, t.diag), "%s", diag_message(t.diag, 0));
    bool ok = session_search(t.session, t.diag);
    cr_expect_eq(ok, strchr(script, 'b') == NULL);
    *crashed = session_report(t.session)->failed;
    snprintf(why, SESSION_FAILURE, "%s", session_report(t.session)->last_failure);
    session_end(&t);
    if (strchr(script, 'b')) session_kill(path);
    close(ends[0]);
    close(ends[1]);
    return t.device.starts;
}

static void session_store_path(char path[64])
{
    snprintf(path, 64, "/tmp/thresh-attempts-%ld.db", (long)getpid());
    unlink(path);
}

/* Two agents are lost and then the coordinator: the candidate is not sent a fourth time. */
Test(session, a_candidate_that_ended_three_attempts_is_not_sent_after_a_resume)
{
    char path[64], why[SESSION_FAILURE];
    uint64_t crashed;
    session_store_path(path);
    cr_expect_eq(session_live(path, false, "llb", &crashed, why), 3);
    cr_expect_eq(crashed, 0);
    cr_expect_eq(session_live(path, true, "", &crashed, why), 0);
    cr_expect_eq(crashed, 1);
    cr_expect(strstr(why, "its agent was lost (2 times) or the coordinator died (1 times)"), "%s", why);
    unlink(path);
}

/* Losses of several processes add up: one of the first, two of the second. */
Test(session, losses_before_a_resume_count)
{
    char path[64], why[SESSION_FAILURE];
    uint64_t crashed;
    session_store_path(path);
    cr_expect_eq(session_live(path, false, "b", &crashed, why), 1);
    cr_expect_eq(session_live(path, true, "ll", &crashed, why), 2);
    cr_expect_eq(crashed, 1);
    unlink(path);
}

/* Coordinators may be killed for many reasons: five deaths alone do not condemn a candidate, a sixth does. */
Test(session, deaths_of_coordinators_count_less)
{
    char path[64], why[SESSION_FAILURE];
    uint64_t crashed;
    session_store_path(path);
    for (int i = 0; i < LIMIT_JOB_DEATHS + 1; i++)
        cr_expect_eq(session_live(path, i > 0, "b", &crashed, why), 1, "%d", i);
    cr_expect_eq(crashed, 0);
    cr_expect_eq(session_live(path, true, "", &crashed, why), 0);
    cr_expect_eq(crashed, 1);
    unlink(path);
}

Test(session, interrupted_attempts_do_not_count)
{
    char path[64], why[SESSION_FAILURE];
    uint64_t crashed;
    session_store_path(path);
    for (int i = 0; i < 4; i++)
        cr_expect_eq(session_live(path, i > 0, "s", &crashed, why), 1);
    cr_expect_eq(session_live(path, true, "", &crashed, why), 1);
    cr_expect_eq(crashed, 0);
    unlink(path);
}

/* ---- several results at a time ---- */

/* Searches the whole space. */
static void session_live_crowd(struct session_crowd *c, bool resume)
{
    struct session_trial t = {.crowd = c};
    session_begin(&t, (struct session_options){.store = c->path, .resume = resume});
    if (resume) cr_assert(session_restore(t.session, t.diag), "%s", diag_message(t.diag, 0));
    cr_expect(session_search(t.session, t.diag));
    cr_expect_eq(session_report(t.session)->ok, SESSION_VALUES);
    session_end(&t);
}

/* When the first of four results counts all four are in the store, as they came, each with what was its own.
 */
Test(session, results_that_come_together_are_stored_before_the_first_counts)
{
    static const char order[] =
        "SELECT group_concat(number, '') FROM (SELECT number FROM evaluation ORDER BY id)",
                      own[] = "SELECT count(*) FROM evaluation WHERE message = 'of candidate ' || number AND "
                              "median_ns = 100 + number AND samples = '[' || (100 + number) || ']'";
    const int rows[SESSION_VALUES] = {4, 4, 4, 4, 6, 6};
    char path[64];
    session_store_path(path);
    struct session_crowd c = {.path = path};
    session_live_crowd(&c, false);
    cr_expect_arr_eq(c.rows, rows, sizeof rows);
    cr_expect_eq(store_fixture_int(path, order), 432165);
    cr_expect_eq(store_fixture_int(path, own), SESSION_VALUES);
    unlink(path);
}

/* kill -9 at each result that is collected and at each that counts: what has counted is there, and after a
 * resumption each candidate once. */
Test(session, kills_between_results_lose_and_double_nothing)
{
    char path[64];
    for (unsigned at = 1; at <= 2 * SESSION_VALUES; at++) {
        bool counting = at > SESSION_VALUES;
        unsigned nth = counting ? at - SESSION_VALUES : at, status;
        session_store_path(path);
        struct session_crowd c = {
            .path = path, .dies = counting ? 0 : nth, .dies_counting = counting ? nth : 0};
        pid_t pid = fork();
        if (pid == 0) {
            session_live_crowd(&c, false);
            _exit(0);
        }
        cr_assert(pid > 0 && waitpid(pid, (int *)&status, 0) == pid && WIFSIGNALED(status), "kill %u", at);
        int kept = store_fixture_int(path, "SELECT count(*) FROM evaluation");
        cr_expect_eq(kept,
                     counting              ? (nth > SESSION_CROWD ? 6 : 4)
                     : nth > SESSION_CROWD ? 4
                                           : 0,
                     "kill %u", at);
        session_live_crowd(&(struct session_crowd){.path = path}, true);
        cr_expect_eq(store_fixture_int(path, "SELECT count(DISTINCT number) FROM evaluation"),
                     SESSION_VALUES);
        cr_expect_eq(store_fixture_int(path, "SELECT count(*) FROM evaluation"), SESSION_VALUES, "kill %u",
                     at);
        unlink(path);
    }
}

static struct session_log session_run_logged(struct session_options options, bool crowd)
{
    struct session_log log = {0};
    struct session_trial t = {.crowd = crowd ? &log.crowd : NULL, .log = &log};
    session_begin(&t, options);
    cr_assert(session_search(t.session, t.diag));
    unsigned refused = options.evaluations == 0 || options.evaluations >= SESSION_REFUSED;
    cr_expect_eq(session_report(t.session)->failed, refused, "%s", log.text);
    cr_expect_eq(session_report(t.session)->evaluations,
                 options.evaluations ? options.evaluations : SESSION_VALUES, "%s", log.text);
    session_end(&t);
    return log;
}

/* Each candidate is judged once, and those that are put off are judged after the next one was drawn. */
Test(session, judgements_are_put_off_while_there_is_room_for_another_candidate)
{
    struct session_log log = session_run_logged((struct session_options){.threads = 2}, true);
    cr_expect(strncmp(log.text, "d1 l1 d2 l2 j1 d3 l3 j2 j3 d4 j4 ", 33) == 0,
              "until two are at work and two could be: %s", log.text);
    for (int i = 1; i <= SESSION_VALUES; i++)
        cr_expect_eq(log.judged[i], 1, "candidate %d: %s", i, log.text);
}

/* None is drawn beyond the budget, none before it would be where one is measured at a time, and nothing is
 * put off where one thread draws. */
Test(session, putting_off_draws_nothing_earlier)
{
    struct session_log few =
                           session_run_logged((struct session_options){.threads = 2, .evaluations = 2}, true),
                       one = session_run_logged((struct session_options){.threads = 2}, false),
                       alone = session_run_logged((struct session_options){.threads = 1}, true);
    cr_expect_str_eq(few.text, "d1 l1 d2 l2 j1 j2 ");
    cr_expect_eq(one.put_off, 0, "%s", one.text);
    cr_expect_eq(alone.put_off, 0, "%s", alone.text);
}

/* Their times are limited by that of the naive one. */
Test(session, contenders_wait_for_the_naive_one)
{
    struct session_log log = {0};
    struct session_trial t = {.crowd = &log.crowd, .log = &log};
    session_begin(&t, (struct session_options){0});
    for (int64_t number = 0; number > -3; number--) {
        struct session_job *job = base_calloc(1, sizeof *job);
        *job = (struct session_job){.number = number, .leaf = space_state_clone(t.root), .judged = true};
        session_add(t.session, job);
    }
    session_start_some(t.session);
    cr_expect(log.crowd.n == 1 && log.crowd.at_work[0] == 0);
    const struct session_event naive = {.kind = SESSION_RESULT, .result = {.status = "ok", .median_ns = 5}};
    session_handle(t.session, &naive);
    session_start_some(t.session);
    cr_expect(log.crowd.n == 3 && log.crowd.at_work[2] == -2);
    session_end(&t);
}
