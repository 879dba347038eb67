/* Who wins a search, and what is said of it: campaigns whose agent makes its times up. */
#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "agent/wire.h"
#include "coordinator/best.h"
#include "coordinator/store.h"
#include "coordinator/tune.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/space/space.h"

static const char finals_text[] = "size N\ninput x: [float]N\noutput map(fun v -> v * 2.0, x)\n";

static const struct device finals_device = {.name = "made up",
                                            .driver = "1",
                                            .compute_units = 2,
                                            .max_alloc_bytes = 1 << 30,
                                            .global_bytes = 1 << 30,
                                            .limits = {.max_work_group = 64,
                                                       .max_work_item = {64, 64, 64},
                                                       .local_bytes = 16384,
                                                       .n_vector_widths = 3,
                                                       .vector_widths = {4, 8, 16}}};

/* The time of the contender at that place in a round; the naive implementation is the last of n. */
typedef double (*finals_time)(uint64_t round, unsigned place, unsigned n);

/* An agent in a thread. */
struct finals_agent {
    pthread_t thread;
    void *context, *socket;
    char path[64], endpoint[80];
    double search_ns, plain_ns, naive_ns; /* what jobs take */
    finals_time time;
    long pause_ms;      /* of a round */
    unsigned contended; /* jobs for naive and plain ones */
    double known_ns;    /* the best time that the first job of the search was sent with */
    uint64_t jobs;      /* received */
    bool leaves;        /* in the first round */
    volatile bool done;
};

static void finals_say(struct finals_agent *a, const struct message *m)
{
    size_t bytes;
    void *data = message_encode(m, &bytes);
    zmq_send(a->socket, data, bytes, 0);
    free(data);
}

static void finals_job(struct finals_agent *a, const struct message_job *job)
{
    int64_t number = (int64_t)job->id;
    double ns = number > 0 ? a->search_ns + (double)number : number == 0 ? a->naive_ns : a->plain_ns;
    struct message m = {.kind = MESSAGE_RESULT,
                        .result = {.id = job->id, .status = "ok", .median_ns = ns, .samples = {&ns, 1}}};
    a->contended += number <= 0;
    if (number == 1) a->known_ns = job->best_ns;
    finals_say(a, &m);
    finals_say(a, &(struct message){.kind = MESSAGE_READY, .ready = {++a->jobs, 2}});
}

static void finals_round(struct finals_agent *a, const struct message_rounds *m)
{
    const struct timespec pause = {a->pause_ms / 1000, a->pause_ms % 1000 * 1000000};
    double times[SESSION_CONTENDERS];
    unsigned n = 0;
    for (size_t at = 0; at < m->kernels.n; at += (size_t)m->kernels.items[at] + 1)
        n++;
    cr_assert(n <= SESSION_CONTENDERS && m->rounds == 1);
    for (unsigned i = 0; i < n; i++)
        times[i] = a->time(m->id - 1, i, n);
    nanosleep(&pause, NULL);
    finals_say(a, &(struct message){.kind = MESSAGE_FIGURES, .figures = {.id = m->id, .times = {times, n}}});
}

static void finals_handle(struct finals_agent *a, const struct message *m)
{
    if (m->kind == MESSAGE_PROGRAM) finals_say(a, &(struct message){.kind = MESSAGE_READY, .ready = {0, 2}});
    if (m->kind == MESSAGE_JOB) finals_job(a, &m->job);
    if (m->kind == MESSAGE_ROUNDS && a->leaves) {
        finals_say(a, &(struct message){.kind = MESSAGE_BYE, .bye = {"no time"}});
        a->done = true;
    } else if (m->kind == MESSAGE_ROUNDS) {
        finals_round(a, &m->rounds);
    }
}

static void finals_receive(struct finals_agent *a)
{
    zmq_msg_t frame;
    const char *why;
    struct message m;
    zmq_msg_init(&frame);
    while (zmq_msg_recv(&frame, a->socket, ZMQ_DONTWAIT) >= 0) {
        struct arena *arena = arena_new();
        if (message_decode(zmq_msg_data(&frame), zmq_msg_size(&frame), arena, &m, &why)) finals_handle(a, &m);
        arena_free(arena);
    }
    zmq_msg_close(&frame);
}

static void *finals_main(void *arg)
{
    struct finals_agent *a = arg;
    int linger = 0;
    struct arena *arena = arena_new();
    a->socket = zmq_socket(a->context, ZMQ_DEALER);
    zmq_setsockopt(a->socket, ZMQ_LINGER, &linger, sizeof linger);
    zmq_connect(a->socket, a->endpoint);
    finals_say(a, &(struct message){.kind = MESSAGE_HELLO,
                                    .hello = {.name = "made up",
                                              .device = finals_device.name,
                                              .driver = finals_device.driver,
                                              .libraries = "",
                                              .capacity = 2,
                                              .limits = wire_device(&finals_device, arena)}});
    while (!a->done) {
        zmq_pollitem_t item = {.socket = a->socket, .events = ZMQ_POLLIN};
        zmq_poll(&item, 1, 200);
        finals_receive(a);
        finals_say(a, &(struct message){.kind = MESSAGE_HEARTBEAT});
    }
    zmq_close(a->socket);
    arena_free(arena);
    return NULL;
}

struct finals_case {
    const char *pin; /* NULL: none */
    char store[64];
    struct tune *tune;
    struct diag *diag;
    struct finals_agent agent;
    struct finals_agent *second; /* comes when the first one leaves; NULL: nobody does */
};

/* Runs a campaign to its end. */
static const struct tune_report *finals_run(struct finals_case *c, bool resume, uint64_t evaluations,
                                            double rounds_s)
{
    struct finals_agent *a = &c->agent;
    struct tune_options o = {.path = "twice.lift",
                             .text = finals_text,
                             .sizes = "N=256",
                             .heuristic = "random",
                             .pins = &c->pin,
                             .n_pins = c->pin != NULL,
                             .seed = 3,
                             .evaluations = evaluations,
                             .no_bound = true,
                             .quiet = true,
                             .resume = resume,
                             .rounds_s = rounds_s,
                             .store = c->store,
                             .stop_fd = -1};
    c->diag = diag_new();
    a->done = false;
    a->contended = 0;
    a->context = zmq_ctx_new();
    snprintf(a->path, sizeof a->path, "/tmp/thresh-finals-%ld", (long)getpid());
    snprintf(a->endpoint, sizeof a->endpoint, "ipc://%s", a->path);
    snprintf(c->store, sizeof c->store, "/tmp/thresh-finals-%ld.db", (long)getpid());
    if (!resume) unlink(c->store);
    o.listen = a->endpoint;
    cr_assert_eq(pthread_create(&a->thread, NULL, finals_main, a), 0);
    c->tune = tune_new(&o, c->diag);
    cr_assert_not_null(c->tune, "%s", diag_failed(c->diag) ? diag_message(c->diag, 0) : "");
    if (c->second) {
        c->second->context = a->context;
        memcpy(c->second->endpoint, a->endpoint, sizeof a->endpoint);
        cr_assert_eq(pthread_create(&c->second->thread, NULL, finals_main, c->second), 0);
    }
    cr_assert(tune_search(c->tune, c->diag) && tune_quote(c->tune, c->diag));
    return tune_report(c->tune);
}

static void finals_end(struct finals_case *c)
{
    c->agent.done = true;
    pthread_join(c->agent.thread, NULL);
    if (c->second) {
        c->second->done = true;
        pthread_join(c->second->thread, NULL);
    }
    tune_free(c->tune);
    zmq_ctx_term(c->agent.context);
    diag_free(c->diag);
    unlink(c->agent.path);
}

static double finals_naive_is_fastest(uint64_t round, unsigned place, unsigned n)
{
    return place == n - 1 ? 58e3 + (double)round : 109e3;
}

/* The case of the issue: a search that finds slower ones only, though its own times promise otherwise. */
Test(finals, naive_wins_where_nothing_faster_was_found, .timeout = 120)
{
    struct finals_case c = {
        .agent = {.search_ns = 40e3, .plain_ns = 41e3, .naive_ns = 50e3, .time = finals_naive_is_fastest}};
    const struct tune_report *r = finals_run(&c, false, 3, 0);
    cr_assert_gt(r->search.n_contenders, 1);
    cr_expect_eq(r->search.contenders[0].number, 0);
    cr_expect_str_eq(r->search.contenders[0].label, "naive");
    cr_expect(r->search.quoted && r->search.speedup.quotient == 1);
    cr_expect(r->verdict.gains_little && strstr(r->verdict.advice, "--evaluations 300"), "%s",
              r->verdict.advice);
    cr_expect_eq(r->search.evaluations, 3, "plain ones use up no budget");
    cr_expect_gt(r->n_plain, 0);
    finals_end(&c);
    unlink(c.store);
}

static double finals_search_is_fastest(uint64_t round, unsigned place, unsigned n)
{
    return place == n - 1 ? 100e3 + 7 * (double)round : place == 0 ? 20e3 + (double)(round * round) : 29e3;
}

static bool finals_best(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    const struct session_pick *best = context;
    (void)run;
    cr_expect_eq(e->number, best->number);
    cr_expect_eq(e->quoted.median_ns, best->figure.median_ns);
    cr_expect_eq(e->quoted.rounds, best->figure.rounds);
    return true;
}

static bool finals_speedup(void *context, const struct store_figure *f)
{
    double *quotient = context;
    *quotient = *quotient == 0   ? f->figure.median_ns
                : f->number == 0 ? f->figure.median_ns / *quotient
                                 : *quotient;
    return true;
}

/* The speedup is the quotient of the figures shown; the store has the same ones; a resumed run measures the
 * contenders of the first one no second time. */
Test(finals, figures_agree_and_contenders_are_resumed, .timeout = 120)
{
    struct finals_case c = {
        .agent = {.search_ns = 40e3, .plain_ns = 50e3, .naive_ns = 90e3, .time = finals_search_is_fastest}};
    bool found;
    double quotient = 0;
    const struct tune_report *r = finals_run(&c, false, 3, 0);
    cr_expect_eq(r->search.contenders[0].figure.rounds, LIMIT_ROUNDS);
    cr_expect_gt(r->search.contenders[0].found_at, 0);
    cr_expect_eq(r->search.speedup.quotient,
                 r->naive.figure.median_ns / r->search.contenders[0].figure.median_ns);
    cr_expect(r->search.speedup.low <= r->search.speedup.quotient &&
              r->search.speedup.quotient <= r->search.speedup.high);
    cr_expect(!r->verdict.gains_little && !r->verdict.advice);
    cr_expect_eq(c.agent.contended, 1 + r->n_plain);
    struct store *s = store_open(c.store, false, c.diag);
    cr_assert(store_best(s, finals_best, (void *)&r->search.contenders[0], &found, c.diag) && found);
    cr_assert(store_each_figure(s, 1, finals_speedup, &quotient, c.diag));
    cr_expect_eq(quotient, r->search.speedup.quotient);
    store_close(s);
    unsigned n_plain = r->n_plain;
    finals_end(&c);
    r = finals_run(&c, true, 5, 0);
    cr_expect_eq(r->search.evaluations, 5);
    cr_expect_eq(r->n_plain, n_plain);
    cr_expect_eq(c.agent.contended, 0);
    finals_end(&c);
    unlink(c.store);
}

/* Naive is the faster one in 6 rounds of 11; its median is the higher one all the same. */
static double finals_noise(uint64_t round, unsigned place, unsigned n)
{
    double naive = round < 4 ? 50e3 : round < 6 ? 60e3 : 100e3;
    if (place == n - 1) return naive;
    return place > 0 ? 900e3 : round < 6 ? naive + 1e3 : 40e3;
}

Test(finals, within_the_noise_naive_wins, .timeout = 120)
{
    struct finals_case c = {
        .agent = {.search_ns = 40e3, .plain_ns = 50e3, .naive_ns = 60e3, .time = finals_noise}};
    const struct tune_report *r = finals_run(&c, false, 3, 60);
    cr_expect_eq(r->search.contenders[0].number, 0);
    cr_expect_lt(r->search.contenders[1].figure.median_ns, r->search.contenders[0].figure.median_ns);
    cr_expect_eq(r->search.speedup.quotient, 1);
    cr_expect_eq(r->search.contenders[2].figure.rounds, 3, "what is far behind leaves");
    finals_end(&c);
    unlink(c.store);
}

/* A naive implementation whose launches are long is measured three times; rounds end with the budget. */
Test(finals, rounds_have_a_budget, .timeout = 120)
{
    struct finals_case c = {.agent = {.search_ns = 40e3,
                                      .plain_ns = 500e3,
                                      .naive_ns = 500e6,
                                      .time = finals_search_is_fastest,
                                      .pause_ms = 300}};
    const struct tune_report *r = finals_run(&c, false, 3, 1.5);
    cr_expect_geq(r->search.contenders[0].figure.rounds, 3);
    cr_expect_leq(r->search.contenders[0].figure.rounds, 5);
    cr_expect_eq(r->naive.figure.rounds, 3);
    for (unsigned i = 0; i < r->search.n_contenders; i++)
        if (r->search.contenders[i].number < 0)
            cr_expect_eq(r->search.contenders[i].figure.rounds, 0, "out of reach");
    finals_end(&c);
    unlink(c.store);
}

/* A machine that becomes slower after three rounds: who left before is not the faster one. */
static double finals_slowing(uint64_t round, unsigned place, unsigned n)
{
    return place == n - 1 ? 200e3 : place > 0 ? 32e3 : round < 3 ? 20e3 : 40e3;
}

Test(finals, who_left_does_not_win, .timeout = 120)
{
    struct finals_case c = {
        .agent = {.search_ns = 40e3, .plain_ns = 50e3, .naive_ns = 90e3, .time = finals_slowing}};
    const struct tune_report *r = finals_run(&c, false, 3, 60);
    cr_expect_eq(r->search.contenders[0].figure.rounds, LIMIT_ROUNDS);
    cr_expect_eq(r->search.contenders[0].figure.median_ns, 40e3);
    cr_expect_eq(r->search.contenders[1].figure.median_ns, 200e3, "naive is measured to the end");
    finals_end(&c);
    unlink(c.store);
}

static double finals_naive_fails(uint64_t round, unsigned place, unsigned n)
{
    return place == n - 1 ? 0 : 50e3 + (double)round;
}

/* Its time of the search is another thing than a quoted one. */
Test(finals, a_naive_one_that_fails_is_not_compared, .timeout = 120)
{
    struct finals_case c = {
        .agent = {.search_ns = 30e3, .plain_ns = 41e3, .naive_ns = 40e3, .time = finals_naive_fails}};
    const struct tune_report *r = finals_run(&c, false, 3, 0);
    cr_expect_neq(r->search.contenders[0].number, 0);
    cr_expect(r->search.quoted && r->search.speedup.quotient == 0 && !r->verdict.gains_little);
    cr_expect_eq(r->naive.figure.rounds, 0);
    finals_end(&c);
    unlink(c.store);
}

/* What the pins allow is measured, however slow it is beside the naive implementation. */
Test(finals, a_naive_one_that_pins_exclude_cuts_nothing, .timeout = 120)
{
    struct finals_case c = {
        .pin = "dim_kind(store.n.0)=LOOP",
        .agent = {.search_ns = 400e6, .plain_ns = 400e6, .naive_ns = 1e3, .time = finals_naive_is_fastest}};
    const struct tune_report *r = finals_run(&c, false, 2, 0);
    cr_expect(r->naive_excluded && r->naive.search_ns == 1e3);
    cr_expect(c.agent.known_ns == 0 || c.agent.known_ns == 400e6, "%g", c.agent.known_ns);
    cr_assert(r->search.n_contenders > 0 && r->search.quoted);
    cr_expect_neq(r->search.contenders[0].number, 0);
    cr_expect_lt(r->search.speedup.quotient, 1);
    finals_end(&c);
    unlink(c.store);
}

/* A round that is lost with its agent is measured by another one. */
Test(finals, go_on_when_an_agent_leaves, .timeout = 120)
{
    struct finals_agent second = {
        .search_ns = 40e3, .plain_ns = 50e3, .naive_ns = 90e3, .time = finals_search_is_fastest};
    struct finals_case c = {.agent = second, .second = &second};
    c.agent.leaves = true;
    const struct tune_report *r = finals_run(&c, false, 3, 60);
    cr_expect(r->search.quoted);
    cr_assert_gt(r->search.n_contenders, 0);
    cr_expect_gt(r->search.contenders[0].figure.rounds, 0);
    cr_expect(!diag_failed(c.diag));
    finals_end(&c);
    unlink(c.store);
}
