/* What a campaign does about its agents: those that are refused, that leave, that do not answer. The peers of
 * these tests say what they like; the device is the first OpenCL device. */
#include "coordinator/agents.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <zmq.h>

#include "agent/wire.h"
#include "coordinator/agents_state.h"
#include "coordinator/session_state.h"
#include "coordinator/store_state.h"
#include "coordinator/tune_state.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/base/utf8.h"
#include "perfmodel/device.h"
#include "tests/coordinator/tune_fixture.h"

/* The next event that says more than that there may be room. */
static struct session_event next_event(struct agents *a)
{
    struct session_event e;
    do
        e = agents_evaluator.collect(a, 20000);
    while (e.kind == SESSION_NEWS);
    return e;
}

Test(agents, programs_are_checked_before_an_agent_is_awaited)
{
    struct diag *d = diag_new();
    struct tune_options o = tune_test_options("output map(fun x -> x, A)\n", NULL, 1);
    o.listen = "inproc://nobody-comes";
    cr_assert_null(tune_new(&o, d));
    cr_assert(strstr(diag_message(d, 0), "matmul.lift:1:"), "%s", diag_message(d, 0));
    diag_free(d);
}

Test(agents, orders_are_checked_before_an_agent_is_awaited)
{
    struct diag *d = diag_new();
    char *text = tune_test_text(d);
    struct tune_options o = tune_test_options(text, NULL, 1);
    o.listen = "inproc://nobody-comes";
    o.order = "size(m.*),sizes";
    cr_assert_null(tune_new(&o, d));
    cr_assert_str_eq(diag_message(d, 0), "error: --order: 'sizes' is not a choice; did you mean 'size'?");
    free(text);
    diag_free(d);
}

/* A peer that says hello with that device and nothing more. It may wait for its coordinator. */
struct tune_peer {
    void *context, *socket;
    char path[64], endpoint[80];
    double contender_ns[BB_MAX_PLAIN + 1], drawn_ns; /* what it answers with, where it does */
};

static void tune_test_say(struct tune_peer *p, const struct message *m)
{
    size_t bytes;
    void *data = message_encode(m, &bytes);
    cr_assert_eq(zmq_send(p->socket, data, bytes, 0), (int)bytes);
    free(data);
}

static struct tune_peer tune_test_peer(const struct device *dev, const char *name, const char *driver)
{
    struct tune_peer p = {.context = zmq_ctx_new()};
    snprintf(p.path, sizeof p.path, "/tmp/thresh-peer-%ld", (long)getpid());
    snprintf(p.endpoint, sizeof p.endpoint, "ipc://%s", p.path);
    p.socket = zmq_socket(p.context, ZMQ_DEALER);
    cr_assert_eq(zmq_connect(p.socket, p.endpoint), 0);
    struct arena *a = arena_new();
    struct message m = {.kind = MESSAGE_HELLO,
                        .hello = {.name = "peer",
                                  .device = name,
                                  .driver = driver,
                                  .libraries = "",
                                  .capacity = 4,
                                  .limits = wire_device(dev, a)}};
    tune_test_say(&p, &m);
    arena_free(a);
    return p;
}

static void tune_test_peer_free(struct tune_peer *p)
{
    int linger = 0;
    zmq_setsockopt(p->socket, ZMQ_LINGER, &linger, sizeof linger);
    zmq_close(p->socket);
    zmq_ctx_term(p->context);
    unlink(p->path);
}

/* Names are cut off between characters: they go into JSON. */
Test(agents, long_names_of_peers_stay_text, .timeout = 60)
{
    struct diag *d = diag_new();
    struct device dev;
    char *text = tune_test_text(d), name[2 * DEVICE_NAME] = "";
    cr_assert(device_select(NULL, &dev, d));
    for (int i = 0; i < DEVICE_NAME; i += 2)
        strcat(name, "\xc3\xa9");
    struct tune_peer peer = tune_test_peer(&dev, name, name);
    struct tune_options o = tune_test_options(text, NULL, 1);
    o.listen = peer.endpoint;
    struct tune *t = tune_new(&o, d);
    cr_assert_not_null(t);
    const struct device *known = tune_device(t);
    cr_expect_eq(strlen(known->name), DEVICE_NAME - 1);
    cr_expect_eq(utf8_valid(known->name, DEVICE_NAME - 1), DEVICE_NAME - 1, "%s", known->name);
    cr_expect_eq(utf8_valid(known->driver, DEVICE_NAME - 1), DEVICE_NAME - 1, "%s", known->driver);
    tune_free(t);
    tune_test_peer_free(&peer);
    free(text);
    diag_free(d);
}

/* An agent that gives up says why, and the user of the campaign is told. */
Test(agents, the_reason_of_an_agent_that_leaves_is_told, .init = cr_redirect_stderr, .timeout = 60)
{
    struct diag *d = diag_new();
    struct device dev;
    char *text = tune_test_text(d);
    cr_assert(device_select(NULL, &dev, d));
    struct tune_peer peer = tune_test_peer(&dev, dev.name, dev.driver);
    struct tune_options o = tune_test_options(text, NULL, 1);
    o.listen = peer.endpoint;
    struct tune *t = tune_new(&o, d);
    cr_assert_not_null(t);
    tune_test_say(&peer, &(struct message){.kind = MESSAGE_BYE, .bye = {"another version\nof thresh"}});
    t->progress.quiet = false;
    for (int i = 0; i < 100 && t->agents->peers[t->agents->first_peer].live; i++)
        agents_evaluator.collect(t->agents, 100);
    cr_expect_eq(roster_live_peers(t->agents->roster), 0);
    fflush(stderr);
    char told[256];
    snprintf(told, sizeof told,
             "peer disconnected: another version of thresh\n"
             "no agent is left; start one: thresh agent --connect %s\n",
             peer.endpoint);
    cr_expect_stderr_eq_str(told);
    tune_free(t);
    tune_test_peer_free(&peer);
    free(text);
    diag_free(d);
}

/* A coordinator whose only agent is such a peer. */
struct tune_bench {
    struct diag *diag;
    char *text;
    struct tune_peer peer;
    struct tune *tune;
};

/* description: of the device, for the bound; NULL: there is none. pin: NULL: none. */
static struct tune_bench tune_bench_open(uint64_t evaluations, const char *description, const char *store,
                                         const char *pin)
{
    struct device dev;
    struct tune_bench b = {.diag = diag_new()};
    b.text = tune_test_text(b.diag);
    cr_assert(device_select(NULL, &dev, b.diag));
    b.peer = tune_test_peer(&dev, dev.name, dev.driver);
    b.peer.drawn_ns = 1e6;
    for (unsigned i = 0; i <= BB_MAX_PLAIN; i++)
        b.peer.contender_ns[i] = 1e6;
    struct tune_options o = tune_test_options(b.text, store, evaluations);
    o.listen = b.peer.endpoint;
    o.no_bound = !description;
    o.description = description;
    o.audit_cuts = description ? 0.5 : 0;
    o.pins = &pin;
    o.n_pins = pin != NULL;
    b.tune = tune_new(&o, b.diag);
    cr_assert_not_null(b.tune);
    return b;
}

static void tune_bench_close(struct tune_bench *b)
{
    tune_free(b->tune);
    tune_test_peer_free(&b->peer);
    free(b->text);
    diag_free(b->diag);
}

/* Answers each job at once, a READY after each, until the coordinator says bye. */
static void *tune_peer_answers(void *arg)
{
    struct tune_peer *p = arg;
    static unsigned char data[1 << 20];
    const char *why;
    bool done = false;
    uint64_t jobs = 0;
    tune_test_say(p, &(struct message){.kind = MESSAGE_READY, .ready = {0, 1}});
    while (!done) {
        int n = zmq_recv(p->socket, data, sizeof data, 0);
        struct arena *a = arena_new();
        struct message m;
        if (n > 0 && message_decode(data, (size_t)n, a, &m, &why) && m.kind == MESSAGE_JOB) {
            int64_t id = (int64_t)m.job.id;
            double ns = id <= 0 ? p->contender_ns[-id] : p->drawn_ns;
            tune_test_say(p, &(struct message){.kind = MESSAGE_RESULT,
                                               .result = {.id = m.job.id,
                                                          .status = "ok",
                                                          .median_ns = ns,
                                                          .samples = {&ns, 1},
                                                          .message = ""}});
            tune_test_say(p, &(struct message){.kind = MESSAGE_READY, .ready = {++jobs, 1}});
        }
        done = n < 0 || m.kind == MESSAGE_BYE;
        arena_free(a);
    }
    return NULL;
}

/* With one credit each job waits for the READY after the last result. The time that the search would take if
 * it slept a turn after each of them is a multiple of what may pass here. */
Test(agents, one_with_one_credit_is_not_kept_waiting, .timeout = 120)
{
    enum { EVALUATIONS = 20 };
    struct tune_bench b = tune_bench_open(EVALUATIONS, NULL, NULL, NULL);
    struct session *s = b.tune->session;
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, tune_peer_answers, &b.peer), 0);
    unsigned polls = 0;
    s->searching = true;
    while (s->report.evaluations < EVALUATIONS && polls < 100 * EVALUATIONS) {
        for (int turns = 0; turns < 1000 && agents_evaluator.room(b.tune->agents) > 0; turns++)
            session_start_some(s);
        struct session_event e = agents_evaluator.collect(b.tune->agents, 20000);
        cr_assert_neq(e.kind, SESSION_NOTHING, "nothing for 20 s after %u evaluations",
                      (unsigned)s->report.evaluations);
        session_handle(s, &e);
        polls++;
    }
    cr_expect_leq(polls, 4 * EVALUATIONS);
    roster_refuse(b.tune->agents->roster, b.tune->agents->first_peer, "done");
    pthread_join(thread, NULL);
    tune_bench_close(&b);
}

/* Starts and takes what there is, but draws nothing. Waits only for jobs that were started: others, such as
 * oversized texts, are settled at once. */
static void tune_bench_step(struct tune_bench *b)
{
    struct session *s = b->tune->session;
    bool started = false;
    s->report.barren = true;
    session_start_some(s);
    for (const struct session_job *j = s->jobs; j; j = j->next)
        started = started || j->started;
    if (!started) return;
    struct session_event e = agents_evaluator.collect(b->tune->agents, 20000);
    session_handle(s, &e);
}

/* A candidate that was drawn is lowered, sent, stored and reported without another propagation. */
static void tune_count_propagations(const char *pin)
{
    enum { CANDIDATES = 8 };
    char store[TUNE_TEST_PATH];
    pthread_t thread;
    tune_test_store(store, "propagations");
    struct tune_bench b = tune_bench_open(0, NULL, store, pin);
    struct session *s = b.tune->session;
    const struct space *space = tune_problem(b.tune)->space;
    cr_assert_eq(pthread_create(&thread, NULL, tune_peer_answers, &b.peer), 0);
    s->searching = true;
    s->options.patience = 1; /* a duplicate is not followed by another draw */
    while (s->jobs)
        tune_bench_step(&b);
    for (int i = 0; i < CANDIDATES; i++) {
        struct session_job *job = session_draw(s);
        cr_assert_not_null(job);
        int64_t number = job->number;
        uint64_t before = space_propagation_count(space);
        cr_expect_gt(before, 0);
        while (session_find(s, number))
            tune_bench_step(&b);
        cr_expect_eq(space_propagation_count(space), before, "candidate %d", i + 1);
    }
    cr_expect_gt(s->report.ok, 0);
    roster_refuse(b.tune->agents->roster, b.tune->agents->first_peer, "done");
    pthread_join(thread, NULL);
    tune_bench_close(&b);
    unlink(store);
}

Test(agents, nothing_is_propagated_after_a_draw, .timeout = 120)
{
    tune_count_propagations(NULL);
    tune_count_propagations("size(n.1)=1|2");
}

/* It says that it lives and takes its job, and no more: the job is to be started again, and it is refused. */
Test(agents, one_that_never_answers_loses_its_job, .timeout = 60)
{
    struct tune_bench b = tune_bench_open(3, NULL, NULL, NULL);
    struct agents *a = b.tune->agents;
    struct session *s = b.tune->session;
    tune_test_say(&b.peer, &(struct message){.kind = MESSAGE_READY, .ready = {0, 1}});
    while (agents_evaluator.room(a) == 0)
        agents_evaluator.collect(a, 1000);
    session_start_some(s);
    struct agents_job *job = a->jobs;
    cr_assert(s->jobs->started && job && job->peer == (int)a->first_peer);
    cr_expect_gt(job->due, clock_ms() + 60000);
    cr_expect_lt(job->due, clock_ms() + 3600000);
    struct session_event e = agents_evaluator.collect(a, 0);
    cr_expect_neq(e.kind, SESSION_LOST, "it has time yet");
    job->due = a->look_at = 0; /* not clock_ms(): what was heard may be older */
    e = agents_evaluator.collect(a, 0);
    cr_assert_eq(e.kind, SESSION_LOST);
    session_handle(s, &e);
    cr_expect(!s->jobs->started);
    cr_expect_eq(s->jobs->lost, 1);
    cr_expect_eq(roster_live_peers(a->roster), 0);
    tune_bench_close(&b);
}

/* Its result came in time, and the coordinator was stopped for longer than a job may take. */
Test(agents, a_result_that_waits_to_be_heard_is_not_late, .timeout = 60)
{
    struct tune_bench b = tune_bench_open(3, NULL, NULL, NULL);
    struct agents *a = b.tune->agents;
    double ns = 1e6;
    tune_test_say(&b.peer, &(struct message){.kind = MESSAGE_READY, .ready = {0, 1}});
    while (agents_evaluator.room(a) == 0)
        agents_evaluator.collect(a, 1000);
    session_start_some(b.tune->session);
    struct agents_job *job = a->jobs;
    cr_assert_not_null(job);
    int64_t number = job->number;
    tune_test_say(&b.peer, &(struct message){.kind = MESSAGE_RESULT,
                                             .result = {.id = (uint64_t)number,
                                                        .status = "ok",
                                                        .median_ns = ns,
                                                        .samples = {&ns, 1},
                                                        .message = ""}});
    job->due = a->look_at = clock_ms();
    struct session_event e = next_event(a);
    cr_expect_eq(e.kind, SESSION_RESULT);
    cr_expect_eq(e.number, number);
    cr_expect_eq(roster_live_peers(a->roster), 1);
    tune_bench_close(&b);
}

/* What an agent sends as the result of its job, and what is stored for it. */
static void tune_test_result(const struct message_result *sent, const char *status, const char *message)
{
    struct tune_bench b = tune_bench_open(3, NULL, NULL, NULL);
    struct agents *a = b.tune->agents;
    struct message m = {.kind = MESSAGE_RESULT, .result = *sent};
    tune_test_say(&b.peer, &(struct message){.kind = MESSAGE_READY, .ready = {0, 1}});
    while (agents_evaluator.room(a) == 0)
        agents_evaluator.collect(a, 1000);
    session_start_some(b.tune->session);
    cr_assert_not_null(a->jobs);
    m.result.id = (uint64_t)a->jobs->number;
    tune_test_say(&b.peer, &m);
    struct session_event e = next_event(a);
    cr_assert_eq(e.kind, SESSION_RESULT);
    cr_expect_str_eq(e.result.status, status);
    cr_expect_str_eq(e.result.message, message);
    cr_expect_eq(roster_live_peers(a->roster), 1);
    tune_bench_close(&b);
}

Test(agents, results_that_cannot_be_do_not_count, .timeout = 120)
{
    static const char malformed[] = "malformed result from the agent";
    static const double tiny[] = {1e-300}, odd[] = {(double)NAN, (double)INFINITY, -1},
                        fine[] = {5e5, 6e5, 9e5};
    const struct {
        struct message_result sent;
        const char *status, *message;
    } cases[] = {
        {{.status = "ok", .median_ns = 1e-300, .samples = {tiny, 1}},
         "crashed",
         "implausible result: no device is as fast"},
        {{.status = "ok", .median_ns = 1e6, .samples = {odd, 3}}, "crashed", malformed},
        {{.status = "ok", .median_ns = 1e6, .samples = {fine, 3}}, "crashed", malformed},
        {{.status = "ok", .median_ns = 1e6}, "crashed", malformed},
        {{.status = "cut", .median_ns = (double)NAN, .samples = {odd, 1}}, "crashed", malformed},
        {{.status = "splendid", .median_ns = 6e5, .samples = {fine, 3}}, "crashed", malformed},
        {{.status = "ok", .median_ns = 6e5, .samples = {fine, 3}}, "ok", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        tune_test_result(&cases[i].sent, cases[i].status, cases[i].message);
}

/* A search is not put in doubt by counts that its outputs cannot have. */
Test(agents, references_that_cannot_be_are_ignored, .timeout = 60)
{
    struct tune_bench b = tune_bench_open(3, NULL, NULL, NULL);
    struct agents *a = b.tune->agents;
    const int64_t n = a->program.outputs;
    const struct message_reference absurd[] = {{(uint64_t)n + 1, 1, 0},
                                               {(uint64_t)n, (uint64_t)n + 1, 0},
                                               {(uint64_t)n, 0, UINT64_MAX},
                                               {0, 0, 0}},
                                   fine = {(uint64_t)n, 1, 2};
    cr_assert_gt(n, 1);
    for (size_t i = 0; i < sizeof absurd / sizeof absurd[0]; i++)
        tune_test_say(&b.peer, &(struct message){.kind = MESSAGE_REFERENCE, .reference = absurd[i]});
    tune_test_say(&b.peer, &(struct message){.kind = MESSAGE_READY, .ready = {0, 1}});
    while (agents_evaluator.room(a) == 0)
        agents_evaluator.collect(a, 1000);
    cr_expect_eq(agents_doubt(a).outputs, 0);
    tune_test_say(&b.peer, &(struct message){.kind = MESSAGE_REFERENCE, .reference = fine});
    while (agents_doubt(a).outputs == 0)
        agents_evaluator.collect(a, 1000);
    cr_expect_eq(agents_doubt(a).outputs, n);
    cr_expect_eq(agents_doubt(a).not_finite, 1);
    tune_bench_close(&b);
}

/* Waits until the agent is known to have room, and starts as many jobs as it takes. */
static void tune_test_start(struct tune_bench *b)
{
    while (agents_evaluator.room(b->tune->agents) == 0)
        agents_evaluator.collect(b->tune->agents, 1000);
    session_start_some(b->tune->session);
}

/* Starts the naive implementation, which the other contenders wait for, and answers. */
static void tune_test_naive(struct tune_bench *b)
{
    double ns = 1e6;
    const struct message_result ok = {
        .id = 0, .status = "ok", .median_ns = ns, .samples = {&ns, 1}, .message = ""};
    tune_test_say(&b->peer, &(struct message){.kind = MESSAGE_READY, .ready = {0, 1}});
    tune_test_start(b);
    tune_test_say(&b->peer, &(struct message){.kind = MESSAGE_RESULT, .result = ok});
    struct session_event naive = next_event(b->tune->agents);
    cr_assert_eq(naive.kind, SESSION_RESULT);
    session_handle(b->tune->session, &naive);
}

/* An agent that leaves in good order returns a job, and leaves with another: both are started again, and do
 * not count against their candidates. */
Test(agents, jobs_of_one_that_leaves_are_not_lost, .timeout = 60)
{
    struct tune_bench b = tune_bench_open(3, NULL, NULL, NULL);
    struct agents *a = b.tune->agents;
    struct session *s = b.tune->session;
    tune_test_naive(&b);
    tune_test_say(&b.peer, &(struct message){.kind = MESSAGE_READY, .ready = {1, 2}});
    tune_test_start(&b);
    cr_assert_eq(HASH_COUNT(a->jobs), 2);
    tune_test_say(&b.peer,
                  &(struct message){.kind = MESSAGE_RETURNED, .returned = {.id = (uint64_t)a->jobs->number}});
    tune_test_say(&b.peer, &(struct message){.kind = MESSAGE_BYE, .bye = {""}});
    unsigned returned = 0;
    for (unsigned i = 0; i < 10 && returned < 2; i++) {
        struct session_event e = agents_evaluator.collect(a, 1000);
        cr_expect_neq(e.kind, SESSION_LOST);
        returned += e.kind == SESSION_RETURNED;
        session_handle(s, &e);
    }
    cr_expect_eq(returned, 2);
    for (const struct session_job *j = s->jobs; j; j = j->next)
        cr_expect(!j->started && j->lost == 0);
    tune_bench_close(&b);
}

static int64_t tune_test_int(struct store *s, const char *sql)
{
    int64_t n = -1;
    struct diag *d = diag_new();
    cr_assert(store_query_int(s, sql, &n, d), "%s", sql);
    diag_free(d);
    return n;
}

/* The store says who measured each row, what agents did, and that they were done. */
Test(agents, the_store_has_a_row_for_each_agent, .timeout = 120)
{
    char store[TUNE_TEST_PATH];
    pthread_t thread;
    tune_test_store(store, "agent-rows");
    struct tune_bench b = tune_bench_open(5, NULL, store, NULL);
    cr_assert_eq(pthread_create(&thread, NULL, tune_peer_answers, &b.peer), 0);
    cr_assert(tune_search(b.tune, b.diag));
    roster_refuse(b.tune->agents->roster, b.tune->agents->first_peer, "done");
    pthread_join(thread, NULL);
    tune_bench_close(&b);
    struct diag *d = diag_new();
    struct store *s = store_open_to_read(store, d);
    cr_assert_not_null(s);
    cr_expect_eq(tune_test_int(s, "SELECT count(*) FROM agent WHERE name = 'peer' AND state = 'done'"), 1);
    cr_expect_eq(tune_test_int(s, "SELECT count(*) FROM evaluation WHERE status = 'ok' AND agent <> 1"), 0);
    cr_expect_eq(tune_test_int(s, "SELECT results - (SELECT count(*) FROM evaluation WHERE status = 'ok')"
                                  " FROM agent"),
                 0);
    cr_expect_eq(tune_test_int(s, "SELECT count(*) FROM event WHERE kind = 'connected' AND agent = 1"), 1);
    store_close(s);
    diag_free(d);
    unlink(store);
}

/* Who goes on with a run under another driver is told. */
Test(agents, another_driver_is_noted, .init = cr_redirect_stderr, .timeout = 120)
{
    char store[TUNE_TEST_PATH];
    tune_test_store(store, "driver");
    struct tune_bench b = tune_bench_open(1, NULL, store, NULL);
    struct agents *a = b.tune->agents;
    b.tune->progress.quiet = false;
    tune_test_sql(store, "UPDATE run SET driver = 'an older one'");
    agents_record(a, a->store, a->run);
    fflush(stderr);
    char told[2 * DEVICE_NAME];
    snprintf(told, sizeof told,
             "peer has another driver: it measures with driver '%s'; the run was begun with 'an older one'\n",
             a->peers[a->first_peer].driver);
    cr_expect_stderr_eq_str(told);
    tune_bench_close(&b);
    unlink(store);
}

/* Says hello with that device once its first socket was told something. */
struct tune_second {
    struct tune_peer first, second;
    const struct device *device;
    enum message_kind told;
};

static void *tune_second_comes(void *arg)
{
    struct tune_second *s = arg;
    unsigned char data[4096];
    const char *why;
    struct message m;
    struct arena *a = arena_new();
    int n = zmq_recv(s->first.socket, data, sizeof data, 0);
    if (n > 0 && message_decode(data, (size_t)n, a, &m, &why)) s->told = m.kind;
    const struct message hello = {.kind = MESSAGE_HELLO,
                                  .hello = {.name = "peer",
                                            .device = s->device->name,
                                            .driver = "second",
                                            .libraries = "",
                                            .capacity = 4,
                                            .limits = wire_device(s->device, a)}};
    tune_test_say(&s->second, &hello);
    arena_free(a);
    return NULL;
}

/* The campaign waits for another agent. */
Test(agents, an_absurd_device_is_refused, .timeout = 60)
{
    struct diag *d = diag_new();
    struct device dev;
    char *text = tune_test_text(d);
    cr_assert(device_select(NULL, &dev, d));
    struct device absurd = dev;
    absurd.limits.max_work_group = 0;
    struct tune_second s = {.first = tune_test_peer(&absurd, dev.name, "first"), .device = &dev};
    s.second = s.first;
    s.second.socket = zmq_socket(s.second.context, ZMQ_DEALER);
    cr_assert_eq(zmq_connect(s.second.socket, s.second.endpoint), 0);
    struct tune_options o = tune_test_options(text, NULL, 1);
    o.listen = s.first.endpoint;
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, tune_second_comes, &s), 0);
    struct tune *t = tune_new(&o, d);
    cr_assert_not_null(t, "%s", diag_failed(d) ? diag_message(d, 0) : "");
    pthread_join(thread, NULL);
    cr_expect_eq(s.told, MESSAGE_BYE);
    cr_expect_str_eq(tune_device(t)->driver, "second");
    tune_free(t);
    zmq_close(s.second.socket);
    tune_test_peer_free(&s.first);
    free(text);
    diag_free(d);
}

/* Its run was at work for long already, and the only agent never says that it is ready: the naive
 * implementation is not waited for. */
Test(agents, a_campaign_ends_without_agents_when_its_time_is_over, .timeout = 120)
{
    struct diag *d = diag_new();
    struct device dev;
    char store[TUNE_TEST_PATH];
    char *text = tune_test_text(d);
    cr_assert(device_select(NULL, &dev, d));
    tune_test_store(store, "overdue");
    struct tune_options o = tune_test_options(text, store, 3);
    o.heuristic = "random";
    o.no_bound = true;
    tune_test_run(&o, NULL);
    tune_test_sql(store, "DELETE FROM evaluation WHERE number = 0; UPDATE evaluation SET found_at = 1000");
    struct tune_peer peer = tune_test_peer(&dev, dev.name, dev.driver);
    o.listen = peer.endpoint;
    o.resume = true;
    o.time_s = 1;
    struct tune *t = tune_new(&o, d);
    cr_assert_not_null(t, "%s", diag_failed(d) ? diag_message(d, 0) : "");
    cr_assert(tune_search(t, d));
    const struct tune_report *r = tune_report(t);
    cr_expect_eq(r->search.evaluations, 3);
    cr_expect_eq(r->naive.search_ns, 0);
    tune_free(t);
    tune_test_peer_free(&peer);
    unlink(store);
    free(text);
    diag_free(d);
}

/* The agent is at the reference, which takes minutes, when the campaign is given up. */
Test(agents, a_campaign_ends_while_its_agent_prepares, .timeout = 60)
{
    struct diag *d = diag_new();
    char *text = tune_test_text(d);
    struct tune_options o = tune_test_options(text, NULL, 1);
    const struct itimerspec when = {.it_value = {.tv_sec = 3}};
    o.sizes = "M=2048,N=2048,K=2048";
    o.stop_fd = timerfd_create(CLOCK_MONOTONIC, 0);
    cr_assert_eq(timerfd_settime(o.stop_fd, 0, &when, NULL), 0);
    struct tune *t = tune_new(&o, d);
    cr_assert_not_null(t);
    cr_assert(tune_search(t, d) && tune_report(t)->search.interrupted);
    tune_free(t);
    close(o.stop_fd);
    free(text);
    diag_free(d);
}

/* The description of the device with two of its rates a thousandth of what they are. */
static bool tune_test_slow_description(const char *path)
{
    struct diag *d = diag_new();
    struct device device;
    struct perfmodel_device description;
    struct strbuf left_out = {0};
    setenv("THRESH_DEVICES", "perfmodel/devices", 1);
    bool found = device_select(NULL, &device, d) &&
                 perfmodel_device_find(device.name, device.gpu, &description, &left_out);
    diag_free(d);
    if (!found) return false;
    description.value[PERFMODEL_FP32] *= 1e-3;
    description.value[PERFMODEL_UNIT_FP32] *= 1e-3;
    FILE *f = fopen(path, "w");
    bool written = f && perfmodel_device_write(&description, f);
    return f && fclose(f) == 0 && written;
}

static bool tune_test_count_cut(void *context, const struct store_cut *c)
{
    cr_assert(strstr(c->reason, "fp32"), "%s", c->reason);
    ++*(unsigned *)context;
    return true;
}

/* Each contender takes `factor` times its bound. */
static void tune_time_contenders(struct tune_bench *b, double factor)
{
    for (const struct session_job *j = b->tune->session->jobs; j; j = j->next)
        if (j->number <= 0) b->peer.contender_ns[-j->number] = factor * j->bound_ns;
}

/* A description that is wrong by far cuts the space, where contenders are as fast as their bound. A candidate
 * that is faster than its bound finds that out, and the campaign goes on below the cuts. */
Test(agents, a_time_below_its_bound_reopens_what_the_bound_had_cut, .timeout = 120)
{
    char description[64], store[TUNE_TEST_PATH];
    unsigned cuts = 0;
    pthread_t thread;
    snprintf(description, sizeof description, "/tmp/thresh-slow-%ld.json", (long)getpid());
    tune_test_store(store, "slow");
    if (!tune_test_slow_description(description)) cr_skip_test("no OpenCL device with a description");
    struct tune_bench b = tune_bench_open(6, description, store, NULL);
    tune_time_contenders(&b, 0.985);
    b.peer.drawn_ns = 10e3;
    cr_assert_eq(pthread_create(&thread, NULL, tune_peer_answers, &b.peer), 0);
    cr_assert(tune_search(b.tune, b.diag));
    const struct tune_report *r = tune_report(b.tune);
    cr_expect_eq(r->search.evaluations, 6);
    cr_expect_gt(r->violations, 0);
    cr_expect_gt(r->reopened, 0);
    roster_refuse(b.tune->agents->roster, b.tune->agents->first_peer, "done");
    pthread_join(thread, NULL);
    tune_bench_close(&b);
    struct diag *d = diag_new();
    struct store *s = store_open_to_read(store, d);
    cr_assert(s && store_each_cut(s, tune_test_count_cut, &cuts, d));
    cr_expect_gt(cuts, 0);
    store_close(s);
    diag_free(d);
    unlink(store);
    unlink(description);
}

/* A naive implementation that is faster than its bound corrects the bound before anything is drawn. */
Test(agents, contenders_are_compared_with_their_bound, .timeout = 120)
{
    char description[64];
    pthread_t thread;
    snprintf(description, sizeof description, "/tmp/thresh-naive-%ld.json", (long)getpid());
    if (!tune_test_slow_description(description)) cr_skip_test("no OpenCL device with a description");
    struct tune_bench b = tune_bench_open(1, description, NULL, NULL);
    tune_time_contenders(&b, 0.5);
    b.peer.drawn_ns = 1e9;
    cr_assert_eq(pthread_create(&thread, NULL, tune_peer_answers, &b.peer), 0);
    cr_assert(tune_search(b.tune, b.diag));
    cr_expect_gt(tune_report(b.tune)->violations, 0);
    roster_refuse(b.tune->agents->roster, b.tune->agents->first_peer, "done");
    pthread_join(thread, NULL);
    tune_bench_close(&b);
    unlink(description);
}
