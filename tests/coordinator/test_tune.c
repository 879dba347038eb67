/* A whole campaign on a small matrix product with the embedded agent: needs an OpenCL device. */
#include "coordinator/tune.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <zmq.h>

#include "agent/wire.h"
#include "coordinator/best.h"
#include "coordinator/store.h"
#include "coordinator/tune_state.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/utf8.h"
#include "perfmodel/device.h"

enum { TUNE_TEST_PATH = 64 };

/* A program with one implementation where N is 1. */
static const char tune_test_small[] = "size N\ninput x: [float]N\noutput map(fun v -> v * 2.0, x)\n";

/* Where a test has its store; nothing is there yet. */
static void tune_test_store(char path[TUNE_TEST_PATH], const char *test)
{
    snprintf(path, TUNE_TEST_PATH, "/tmp/thresh-%s-%ld.db", test, (long)getpid());
    unlink(path);
}

static char *tune_test_text(struct diag *d)
{
    size_t n;
    char *text = source_read_file("experiments/kernels/matmul.lift", 1 << 20, &n, d);
    cr_assert_not_null(text);
    return text;
}

static struct tune_options tune_test_options(const char *text, const char *store, uint64_t evaluations)
{
    return (struct tune_options){.path = "matmul.lift",
                                 .text = text,
                                 .sizes = "M=64,N=64,K=64",
                                 .seed = 3,
                                 .evaluations = evaluations,
                                 .quiet = true,
                                 .store = store,
                                 .stop_fd = -1};
}

/* Runs a campaign; returns its report's counts. */
static struct tune_report tune_test_run(const struct tune_options *o, const char *dir)
{
    struct diag *d = diag_new();
    struct tune *t = tune_new(o, d);
    if (!t) diag_print(d, stderr);
    cr_assert_not_null(t);
    bool ok = tune_search(t, d);
    diag_print(d, stderr);
    cr_assert(ok);
    if (dir) cr_assert(tune_quote(t, d));
    struct tune_report r = *tune_report(t);
    cr_assert_gt(r.n_top, 0);
    const struct tune_pick *best = r.n_contenders ? &r.contenders[0] : &r.top[0];
    struct best b = {.problem = tune_problem(t),
                     .device = tune_device(t),
                     .lowering = &o->lowering,
                     .sizes = o->sizes,
                     .actions = best->actions,
                     .n_actions = best->n_actions,
                     .figure = best->figure};
    if (dir) cr_assert(best_write(dir, &b, d));
    tune_free(t);
    diag_free(d);
    return r;
}

static void tune_test_best(const char *dir)
{
    struct diag *d = diag_new();
    struct best_file b;
    char path[96], command[256];
    snprintf(path, sizeof path, "%s/best.json", dir);
    cr_assert(best_read(path, &b, d), "%s", diag_count(d) ? diag_message(d, 0) : "");
    cr_assert(figure_known(&b.figure));
    best_file_clear(&b);
    snprintf(command, sizeof command, "sed -i 's/^ \"median_ns\": / \"median_ns\": 1/' %s", path);
    cr_assert_eq(system(command), 0);
    cr_assert(!best_read(path, &b, d));
    cr_assert(strstr(diag_message(d, 0), "'median_ns' is not what was written"), "%s", diag_message(d, 0));
    snprintf(command, sizeof command, "rm -r %s", dir);
    cr_assert_eq(system(command), 0);
    diag_free(d);
}

Test(tune, a_small_campaign_finds_verified_kernels_and_writes_them)
{
    struct diag *d = diag_new();
    char dir[64];
    char *text = tune_test_text(d);
    snprintf(dir, sizeof dir, "/tmp/thresh-tune-%ld", (long)getpid());
    struct tune_options o = tune_test_options(text, NULL, 6);
    struct tune_report r = tune_test_run(&o, dir);
    cr_assert_eq(r.evaluations, 6);
    cr_assert_eq(r.ok + r.failed + r.cut, 6);
    cr_assert(r.quoted && r.speedup.quotient > 0);
    tune_test_best(dir);
    free(text);
    diag_free(d);
}

/* At which evaluation actions were measured: 0, never. */
struct tune_finding {
    const char *actions;
    uint64_t evaluations, found_at;
};

static bool tune_test_find(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct tune_finding *f = context;
    (void)run;
    bool left_out = strcmp(e->status, "duplicate") == 0 || strcmp(e->status, "oversized") == 0;
    if (e->number <= 0 || left_out) return true;
    f->evaluations++;
    if (strcmp(e->actions, f->actions) == 0) f->found_at = f->evaluations;
    return true;
}

/* Measuring again puts another one first, which was not found when the search's best was. */
Test(tune, each_of_the_best_knows_when_it_was_found)
{
    struct diag *d = diag_new();
    char store[TUNE_TEST_PATH];
    char *text = tune_test_text(d);
    tune_test_store(store, "found");
    struct tune_options o = tune_test_options(text, store, 6);
    struct tune *t = tune_new(&o, d);
    cr_assert(t && tune_search(t, d));
    cr_assert(tune_quote(t, d));
    const struct tune_report *r = tune_report(t);
    cr_assert_gt(r->n_top, 0);
    struct store *s = store_open(store, false, d);
    for (unsigned i = 0; i < r->n_top; i++) {
        char *actions = store_actions_print(r->top[i].actions, r->top[i].n_actions);
        struct tune_finding f = {.actions = actions};
        cr_assert(store_each(s, 0, tune_test_find, &f, d));
        cr_expect_gt(f.found_at, 0);
        cr_expect_eq(r->top[i].found_at, f.found_at);
        free(actions);
    }
    store_close(s);
    tune_free(t);
    unlink(store);
    free(text);
    diag_free(d);
}

/* No budget counts texts that are not measured: a search that finds nothing else ends all the same. */
Test(tune, a_search_of_nothing_but_large_texts_ends)
{
    struct diag *d = diag_new();
    char *text = tune_test_text(d);
    struct tune_options o = tune_test_options(text, NULL, 6);
    o.most_text_bytes = 1;
    o.patience = 50;
    struct tune *t = tune_new(&o, d);
    cr_assert_not_null(t);
    bool ok = tune_search(t, d);
    diag_print(d, stderr);
    cr_assert(ok);
    const struct tune_report *r = tune_report(t);
    cr_assert(r->barren && !r->exhausted);
    cr_assert_eq(r->evaluations, 0);
    cr_assert_eq(r->oversized + r->duplicates, 50);
    tune_free(t);
    free(text);
    diag_free(d);
}

static void tune_test_sql(const char *store, const char *sql)
{
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(store, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* A resume of a run whose rows were edited; the message says how many do not replay. */
static void tune_test_edited(struct tune_options *o)
{
    struct diag *d = diag_new();
    tune_test_sql(o->store, "UPDATE evaluation SET state_hash = '12' WHERE number = 2");
    cr_assert_null(tune_new(o, d));
    cr_assert(strstr(diag_message(d, 0), "do not replay, the first is number 2"), "%s", diag_message(d, 0));
    diag_free(d);
}

Test(tune, programs_are_checked_before_an_agent_is_awaited)
{
    struct diag *d = diag_new();
    struct tune_options o = tune_test_options("output map(fun x -> x, A)\n", NULL, 1);
    o.listen = "inproc://nobody-comes";
    cr_assert_null(tune_new(&o, d));
    cr_assert(strstr(diag_message(d, 0), "matmul.lift:1:"), "%s", diag_message(d, 0));
    diag_free(d);
}

Test(tune, orders_are_checked_before_an_agent_is_awaited)
{
    struct diag *d = diag_new();
    char *text = tune_test_text(d);
    struct tune_options o = tune_test_options(text, NULL, 1);
    o.listen = "inproc://nobody-comes";
    o.order = "size(m.*),sizes";
    cr_assert_null(tune_new(&o, d));
    cr_assert_str_eq(diag_message(d, 0),
                     "error: order of choices: 'sizes' is not a choice; did you mean 'size'?");
    free(text);
    diag_free(d);
}

/* A peer that says hello with that device and nothing more. It may wait for its coordinator. */
struct tune_peer {
    void *context, *socket;
    char path[64], endpoint[80];
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
Test(tune, long_names_of_peers_stay_text, .timeout = 60)
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
Test(tune, the_reason_of_an_agent_that_leaves_is_told, .init = cr_redirect_stderr, .timeout = 60)
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
    struct hub_event e = {.kind = HUB_IDLE};
    t->progress.quiet = false;
    for (int i = 0; i < 100 && e.kind != HUB_GONE; i++)
        tune_step(t, 100, &e, d);
    cr_expect_eq(e.kind, HUB_GONE);
    fflush(stderr);
    cr_expect_stderr_eq_str("peer left: another version of thresh\n");
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

static struct tune_bench tune_bench_open(uint64_t evaluations)
{
    struct device dev;
    struct tune_bench b = {.diag = diag_new()};
    b.text = tune_test_text(b.diag);
    cr_assert(device_select(NULL, &dev, b.diag));
    b.peer = tune_test_peer(&dev, dev.name, dev.driver);
    struct tune_options o = tune_test_options(b.text, NULL, evaluations);
    o.listen = b.peer.endpoint;
    o.no_bound = true;
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
    tune_test_say(p, &(struct message){.kind = MESSAGE_READY, .ready = {1}});
    while (!done) {
        int n = zmq_recv(p->socket, data, sizeof data, 0);
        struct arena *a = arena_new();
        struct message m;
        double ns = 1e6;
        if (n > 0 && message_decode(data, (size_t)n, a, &m, &why) && m.kind == MESSAGE_JOB) {
            tune_test_say(p, &(struct message){.kind = MESSAGE_RESULT,
                                               .result = {.id = m.job.id,
                                                          .status = "ok",
                                                          .median_ns = ns,
                                                          .samples = {&ns, 1},
                                                          .message = ""}});
            tune_test_say(p, &(struct message){.kind = MESSAGE_READY, .ready = {1}});
        }
        done = n < 0 || m.kind == MESSAGE_BYE;
        arena_free(a);
    }
    return NULL;
}

/* With one credit each job waits for the READY after the last result. The time that the search would take if
 * it slept a turn after each of them is a multiple of what may pass here. */
Test(tune, an_agent_with_one_credit_is_not_kept_waiting, .timeout = 120)
{
    enum { EVALUATIONS = 20 };
    struct tune_bench b = tune_bench_open(EVALUATIONS);
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, tune_peer_answers, &b.peer), 0);
    unsigned polls = 0;
    struct hub_event e;
    b.tune->searching = true;
    while (b.tune->report.evaluations < EVALUATIONS && polls < 100 * EVALUATIONS) {
        for (int turns = 0; turns < 1000 && hub_idle_peer(b.tune->hub) >= 0; turns++)
            tune_feed(b.tune, b.diag);
        tune_step(b.tune, 20000, &e, b.diag);
        cr_assert_neq(e.kind, HUB_IDLE, "nothing for 20 s after %u evaluations",
                      (unsigned)b.tune->report.evaluations);
        polls++;
    }
    cr_expect_leq(polls, 4 * EVALUATIONS);
    hub_refuse(b.tune->hub, b.tune->first_peer, "done");
    pthread_join(thread, NULL);
    tune_bench_close(&b);
}

/* It says that it lives and takes its job, and no more: the job is queued again, and it is refused. */
Test(tune, an_agent_that_never_answers_loses_its_job, .timeout = 60)
{
    struct tune_bench b = tune_bench_open(3);
    struct hub_event e;
    tune_test_say(&b.peer, &(struct message){.kind = MESSAGE_READY, .ready = {1}});
    while (hub_idle_peer(b.tune->hub) < 0)
        tune_step(b.tune, 1000, &e, b.diag);
    tune_feed(b.tune, b.diag);
    struct job *job = b.tune->jobs;
    cr_assert(job && job->peer == (int)b.tune->first_peer);
    cr_expect_gt(job->due, clock_ms() + 60000);
    cr_expect_lt(job->due, clock_ms() + 3600000);
    tune_expire(b.tune, b.diag);
    cr_expect_eq(job->peer, (int)b.tune->first_peer, "it has time yet");
    job->due = clock_ms();
    tune_expire(b.tune, b.diag);
    cr_expect_eq(job->peer, JOB_QUEUED);
    cr_expect_eq(job->lost, 1);
    cr_expect_eq(hub_live_peers(b.tune->hub), 0);
    tune_bench_close(&b);
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
                                            .limits = wire_device(s->device, a)}};
    tune_test_say(&s->second, &hello);
    arena_free(a);
    return NULL;
}

/* The campaign waits for another agent. */
Test(tune, an_absurd_device_is_refused, .timeout = 60)
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
Test(tune, a_campaign_ends_without_agents_when_its_time_is_over, .timeout = 120)
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
    cr_expect_eq(r->evaluations, 3);
    cr_expect_eq(r->naive.search_ns, 0);
    tune_free(t);
    tune_test_peer_free(&peer);
    unlink(store);
    free(text);
    diag_free(d);
}

/* The agent is at the reference, which takes minutes, when the campaign is given up. */
Test(tune, a_campaign_ends_while_its_agent_prepares, .timeout = 60)
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
    cr_assert(tune_search(t, d) && tune_report(t)->interrupted);
    tune_free(t);
    close(o.stop_fd);
    free(text);
    diag_free(d);
}

Test(tune, a_resumed_campaign_goes_on_from_the_store)
{
    struct diag *d = diag_new();
    char store[TUNE_TEST_PATH];
    char *text = tune_test_text(d);
    tune_test_store(store, "tune");
    struct tune_options o = tune_test_options(text, store, 3);
    struct tune_report first = tune_test_run(&o, NULL);
    o.resume = true;
    o.evaluations = 6;
    struct tune_report second = tune_test_run(&o, NULL);
    cr_assert_eq(first.evaluations, 3);
    cr_assert_eq(second.evaluations, 6);
    tune_test_edited(&o);
    o.sizes = "M=32,N=64,K=64";
    struct tune *t = tune_new(&o, d);
    cr_assert_null(t);
    cr_assert(strstr(diag_message(d, 0), "cannot resume"));
    unlink(store);
    free(text);
    diag_free(d);
}

/* Writes a description of the device of which nothing but its launch is known. */
static void tune_test_description(const char *path, double launch_ns)
{
    struct diag *d = diag_new();
    struct device device;
    cr_assert(device_select(NULL, &device, d));
    struct perfmodel_device description = {.gpu = device.gpu};
    snprintf(description.name, sizeof description.name, "%s", device.name);
    description.value[PERFMODEL_LAUNCH] = launch_ns;
    description.source[PERFMODEL_LAUNCH] = PERFMODEL_GIVEN;
    FILE *f = fopen(path, "w");
    cr_assert(f && perfmodel_device_write(&description, f) && fclose(f) == 0);
    diag_free(d);
}

/* The bound decides what is drawn: a run goes on with the figures that it began with, or is refused for what
 * has changed. */
Test(tune, a_resumption_with_another_description_says_so)
{
    struct diag *d = diag_new();
    char store[TUNE_TEST_PATH], description[64];
    char *text = tune_test_text(d);
    tune_test_store(store, "described");
    snprintf(description, sizeof description, "/tmp/thresh-described-%ld.json", (long)getpid());
    tune_test_description(description, 1);
    struct tune_options o = tune_test_options(text, store, 2);
    o.description = description;
    tune_test_run(&o, NULL);
    o.resume = true;
    tune_test_run(&o, NULL);
    tune_test_description(description, 2);
    cr_assert_null(tune_new(&o, d));
    cr_expect(strstr(diag_message(d, 0), "the run has other settings ('device_description="), "%s",
              diag_message(d, 0));
    cr_expect_eq(diag_count(d), 1);
    unlink(store);
    unlink(description);
    free(text);
    diag_free(d);
}

/* An interrupt is seen while the rows of the store are replayed. */
Test(tune, a_resumption_is_interrupted)
{
    struct diag *d = diag_new();
    char store[TUNE_TEST_PATH];
    int ends[2];
    char *text = tune_test_text(d);
    tune_test_store(store, "interrupted");
    struct tune_options o = tune_test_options(text, store, 3);
    tune_test_run(&o, NULL);
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(write(ends[1], "", 1), 1);
    o.resume = true;
    o.stop_fd = ends[0];
    cr_assert_null(tune_new(&o, d));
    cr_assert_str_eq(diag_message(d, 0), "error: interrupted while the run was restored");
    cr_assert_eq(diag_count(d), 1);
    unlink(store);
    free(text);
    diag_free(d);
}

/* The rows of a store that were reported last: what had been drawn by then. */
static bool tune_test_last(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    uint64_t *counts = context;
    (void)run;
    counts[0] = e->drawn;
    counts[1] = e->draws;
    return true;
}

/* A draw that found nothing while something was measured takes its turn again: the tree's random numbers go
 * on in it. Rows of earlier versions do not count such draws. */
Test(tune, a_resumed_campaign_draws_in_vain_where_it_did, .timeout = 120)
{
    struct diag *d = diag_new();
    char store[TUNE_TEST_PATH];
    tune_test_store(store, "vain");
    struct tune_options o = tune_test_options(tune_test_small, store, 0);
    o.sizes = "N=1";
    cr_assert(tune_test_run(&o, NULL).exhausted);
    o.resume = true;
    static const char *const rows[] = {"draws = 0", "draws = drawn", "draws = drawn + 1"};
    for (uint64_t i = 0; i < 3; i++) {
        char sql[128];
        uint64_t counts[2];
        snprintf(sql, sizeof sql, "UPDATE evaluation SET %s WHERE id = (SELECT max(id) FROM evaluation)",
                 rows[i]);
        tune_test_sql(store, sql);
        struct store *s = store_open(store, false, d);
        cr_assert(s && store_each(s, 0, tune_test_last, counts, d));
        store_close(s);
        struct tune *t = tune_new(&o, d);
        cr_assert_not_null(t, "%s", diag_failed(d) ? diag_message(d, 0) : "");
        cr_expect_eq(t->drawn, counts[0]);
        cr_expect_eq(t->draws, counts[0] + (i == 2));
        cr_expect_eq(tune_report(t)->exhausted, i == 2);
        tune_free(t);
    }
    unlink(store);
    diag_free(d);
}

static bool tune_test_is_first(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    (void)run;
    if (e->number == 1) *(bool *)context = strcmp(e->status, "duplicate") != 0;
    return true;
}

/* A run that ended when a duplicate had been reported before its original: the original is measured. */
Test(tune, a_resumed_campaign_measures_what_had_duplicates)
{
    struct diag *d = diag_new();
    char store[TUNE_TEST_PATH];
    bool measured = false;
    char *text = tune_test_text(d);
    tune_test_store(store, "duplicate");
    struct tune_options o = tune_test_options(text, store, 4);
    o.heuristic = "random";
    o.no_bound = true;
    tune_test_run(&o, NULL);
    tune_test_sql(store, "UPDATE evaluation SET status = 'duplicate', median_ns = NULL, kernel_hash ="
                         " (SELECT kernel_hash FROM evaluation WHERE number = 1) WHERE number = 2;"
                         "DELETE FROM evaluation WHERE number = 1");
    o.resume = true;
    tune_test_run(&o, NULL);
    struct store *s = store_open(store, false, d);
    cr_assert(s && store_each(s, 0, tune_test_is_first, &measured, d));
    cr_assert(measured);
    store_close(s);
    unlink(store);
    free(text);
    diag_free(d);
}

/* The search is refused with `message`. */
static void tune_test_not_recorded(const struct tune_options *o, const char *message)
{
    struct diag *d = diag_new();
    cr_assert_null(tune_new(o, d));
    cr_assert(strstr(diag_message(d, 0), message), "%s", diag_message(d, 0));
    diag_free(d);
}

/* A search on the timings that an equal one has recorded draws the same and finds the same. */
Test(tune, recorded_timings_stand_for_the_device)
{
    char store[TUNE_TEST_PATH];
    struct diag *d = diag_new();
    struct device device;
    char *text = tune_test_text(d);
    tune_test_store(store, "recorded");
    struct tune_options o = tune_test_options(text, store, 5);
    o.heuristic = "random";
    o.no_bound = true;
    struct tune_report measured = tune_test_run(&o, NULL);
    cr_assert(device_select(NULL, &device, d));
    o.store = NULL;
    o.recorded = store;
    o.stands_for = &device;
    struct tune_report again = tune_test_run(&o, NULL);
    cr_assert_eq(again.evaluations, measured.evaluations);
    cr_assert_eq(again.ok, measured.ok);
    cr_assert_eq(again.naive.search_ns, measured.naive.search_ns);
    cr_assert_eq(again.top[0].search_ns, measured.top[0].search_ns);
    strcpy(device.name, "another");
    tune_test_not_recorded(&o, "this device ('another')");
    cr_assert(device_select(NULL, &device, d));
    o.sizes = "M=32,N=64,K=64";
    tune_test_not_recorded(&o, "nothing was recorded");
    unlink(store);
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

/* A description that is wrong by far would cut nearly everything: a draw below a cut finds it out, and the
 * campaign goes on. */
Test(tune, a_time_below_its_bound_reopens_what_the_bound_had_cut)
{
    char description[64], store[TUNE_TEST_PATH];
    unsigned cuts = 0;
    snprintf(description, sizeof description, "/tmp/thresh-slow-%ld.json", (long)getpid());
    tune_test_store(store, "slow");
    if (!tune_test_slow_description(description)) cr_skip_test("no OpenCL device with a description");
    struct diag *d = diag_new();
    char *text = tune_test_text(d);
    static const char *const pins[] = {"dim_kind(store.n.0)=GLOBAL", "size(n.1)=1"};
    struct tune_options o = tune_test_options(text, store, 6);
    o.sizes = "M=32,N=32,K=32";
    o.description = description;
    o.pins = pins; /* only the naive one is so: the search begins with a slow time to beat */
    o.n_pins = 2;
    o.audit_cuts = 0.5;
    struct tune_report r = tune_test_run(&o, NULL);
    cr_assert_gt(r.audited, 0);
    cr_assert_gt(r.violations, 0);
    cr_assert_gt(r.reopened, 0);
    cr_assert_eq(r.evaluations, 6);
    struct store *s = store_open(store, false, d);
    cr_assert(s && store_each_cut(s, tune_test_count_cut, &cuts, d));
    cr_assert_gt(cuts, 0);
    store_close(s);
    unlink(store);
    unlink(description);
    free(text);
    diag_free(d);
}
