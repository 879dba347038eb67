/* The hub against peers that do not follow the protocol: nothing they send ends the process or makes a job.
 */
#include "coordinator/hub.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "coordinator/limits.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "tests/fixture/hostile.h"

struct hub_fixture {
    void *context, *dealer;
    struct hub *hub;
    struct diag *diag;
};

/* The hub's clock, which stands still unless a test moves it. */
static int64_t hub_test_ms;

static int64_t hub_test_clock(void)
{
    return hub_test_ms;
}

static struct hub_fixture hub_fixture_open(void)
{
    struct hub_fixture f = {.context = zmq_ctx_new(), .diag = diag_new()};
    f.hub = hub_new(f.context, "inproc://hub-test", hub_test_clock, f.diag);
    cr_assert_not_null(f.hub);
    f.dealer = zmq_socket(f.context, ZMQ_DEALER);
    cr_assert_eq(zmq_connect(f.dealer, "inproc://hub-test"), 0);
    return f;
}

static void hub_fixture_close(struct hub_fixture *f)
{
    int linger = 0;
    zmq_setsockopt(f->dealer, ZMQ_LINGER, &linger, sizeof linger);
    zmq_close(f->dealer);
    hub_free(f->hub);
    zmq_ctx_term(f->context);
    diag_free(f->diag);
}

static void hub_test_send(struct hub_fixture *f, const struct message *m)
{
    size_t bytes;
    void *data = message_encode(m, &bytes);
    zmq_send(f->dealer, data, bytes, 0);
    free(data);
}

/* Polls until an event comes, at most a second. */
static struct hub_event hub_test_event(struct hub_fixture *f)
{
    struct hub_event e = {.kind = HUB_IDLE};
    for (int i = 0; i < 20 && e.kind == HUB_IDLE; i++)
        e = hub_poll(f->hub, 50, -1);
    return e;
}

static const struct message hub_test_hello = {
    .kind = MESSAGE_HELLO, .hello = {.name = "a", .device = "d", .driver = "1", .capacity = 4}};

/* Agents that are connected. */
static unsigned hub_test_live(const struct hub *h)
{
    unsigned n = 0;
    for (unsigned i = 0; i < 2 * LIMIT_PEERS; i++)
        n += hub_is_live(h, i);
    return n;
}

Test(hub, hello_and_credits_make_an_idle_peer)
{
    struct hub_fixture f = hub_fixture_open();
    hub_test_send(&f, &hub_test_hello);
    struct hub_event e = hub_test_event(&f);
    cr_assert_eq(e.kind, HUB_HELLO);
    cr_assert_str_eq(e.message.hello.device, "d");
    cr_assert_eq(hub_idle_peer(f.hub, 0), -1);
    cr_assert_eq(hub_idle_peers(f.hub, 0), 0);
    hub_test_send(&f, &(struct message){.kind = MESSAGE_READY, .ready = {0, 1}});
    hub_test_send(&f, &(struct message){.kind = MESSAGE_RESULT, .result = {.id = 5, .status = "ok"}});
    e = hub_test_event(&f);
    cr_assert(e.kind == HUB_CREDIT && e.peer == 0);
    e = hub_test_event(&f);
    cr_assert(e.kind == HUB_MESSAGE && e.message.result.id == 5);
    cr_assert_eq(hub_results(f.hub, 0), 1);
    cr_assert_str_eq(hub_name(f.hub, 0), "a");
    cr_assert_eq(hub_idle_peer(f.hub, 0), 0);
    cr_assert_eq(hub_idle_peers(f.hub, 0), 1);
    hub_take_credit(f.hub, 0);
    cr_assert_eq(hub_idle_peer(f.hub, 0), -1);
    cr_assert_eq(hub_idle_peers(f.hub, 0), 0);
    hub_test_send(&f, &(struct message){.kind = MESSAGE_BYE, .bye = {"done"}});
    e = hub_test_event(&f);
    cr_assert(e.kind == HUB_GONE && strcmp(e.reason, "done") == 0);
    cr_assert_eq(hub_test_live(f.hub), 0);
    hub_fixture_close(&f);
}

/* The next message to the dealer, with its strings in the arena. */
static struct message hub_test_answer(struct hub_fixture *f, struct arena *a)
{
    char data[1000];
    const char *why;
    struct message m;
    int n = -1;
    for (int i = 0; i < 40 && n < 0; i++) {
        hub_poll(f->hub, 25, -1);
        n = zmq_recv(f->dealer, data, sizeof data, ZMQ_DONTWAIT);
    }
    cr_assert(n > 0 && message_decode(data, (size_t)n, a, &m, &why));
    return m;
}

Test(hub, an_unknown_sign_of_life_is_asked_who_it_is)
{
    struct hub_fixture f = hub_fixture_open();
    struct arena *a = arena_new();
    hub_test_send(&f, &(struct message){.kind = MESSAGE_HEARTBEAT, .heartbeat = {7}});
    cr_assert_eq(hub_test_answer(&f, a).kind, MESSAGE_WHO);
    hub_test_send(&f, &hub_test_hello);
    cr_assert_eq(hub_test_event(&f).kind, HUB_HELLO);
    hub_test_send(&f, &(struct message){.kind = MESSAGE_HEARTBEAT, .heartbeat = {8}});
    cr_assert_eq(hub_test_answer(&f, a).kind, MESSAGE_HEARTBEAT);
    arena_free(a);
    hub_fixture_close(&f);
}

/* Who is silent is lost; not who had no chance to be heard, since nobody listened. */
Test(hub, silence_counts_while_the_hub_listens)
{
    struct hub_fixture f = hub_fixture_open();
    hub_test_send(&f, &hub_test_hello);
    cr_assert_eq(hub_test_event(&f).kind, HUB_HELLO);
    hub_test_send(&f, &(struct message){.kind = MESSAGE_READY, .ready = {0, 1}});
    cr_assert_eq(hub_test_event(&f).kind, HUB_CREDIT);
    hub_test_ms += LIMIT_LOST_MS + 100;
    cr_assert_eq(hub_poll(f.hub, 0, -1).kind, HUB_IDLE);
    cr_assert_eq(hub_test_live(f.hub), 1);
    struct hub_event e = {.kind = HUB_IDLE};
    int64_t listening = 0;
    for (; listening < 2 * LIMIT_LOST_MS && e.kind == HUB_IDLE; listening += 100) {
        hub_test_ms += 100;
        e = hub_poll(f.hub, 0, -1);
    }
    cr_assert_eq(e.kind, HUB_GONE);
    cr_expect_geq(listening, LIMIT_LOST_MS - LIMIT_HEARTBEAT_MS, "%d ms", (int)listening);
    cr_expect_leq(listening, LIMIT_LOST_MS, "%d ms", (int)listening);
    cr_assert_str_eq(e.reason, "no heartbeat");
    hub_fixture_close(&f);
}

/* Who says that it lives, but not that it is ready, is not waited for for ever. */
Test(hub, an_agent_that_is_never_ready_is_refused)
{
    struct hub_fixture f = hub_fixture_open();
    struct arena *a = arena_new();
    hub_test_send(&f, &hub_test_hello);
    cr_assert_eq(hub_test_event(&f).kind, HUB_HELLO);
    struct hub_event e = {.kind = HUB_IDLE};
    int64_t start = hub_test_ms;
    while (e.kind == HUB_IDLE && hub_test_ms < start + 2 * LIMIT_PREPARE_MS) {
        hub_test_ms += LIMIT_HEARTBEAT_MS;
        hub_test_send(&f, &(struct message){.kind = MESSAGE_HEARTBEAT, .heartbeat = {7}});
        e = hub_poll(f.hub, 0, -1);
    }
    cr_assert_eq(e.kind, HUB_GONE);
    cr_expect_eq(hub_test_ms - start, LIMIT_PREPARE_MS);
    cr_expect_str_eq(e.reason, "not ready within ten minutes");
    arena_free(a);
    hub_fixture_close(&f);
}

/* One wait brings the credit, although it is the only message. */
Test(hub, a_credit_ends_a_wait)
{
    struct hub_fixture f = hub_fixture_open();
    hub_test_send(&f, &hub_test_hello);
    cr_assert_eq(hub_test_event(&f).kind, HUB_HELLO);
    for (unsigned i = 0; i < 20; i++) {
        hub_test_send(&f, &(struct message){.kind = MESSAGE_READY, .ready = {i, 1}});
        cr_assert_eq(hub_poll(f.hub, 60000, -1).kind, HUB_CREDIT);
        cr_assert_eq(hub_idle_peer(f.hub, 0), 0);
        hub_take_credit(f.hub, 0);
    }
    hub_fixture_close(&f);
}

/* What an agent says is absolute: jobs that were on their way when it said it are taken off, and saying it
 * twice gives nothing. Its capacity is the limit. */
Test(hub, credits_do_not_add_up)
{
    struct hub_fixture f = hub_fixture_open();
    hub_test_send(&f, &hub_test_hello);
    cr_assert_eq(hub_test_event(&f).kind, HUB_HELLO);
    for (int i = 0; i < 5; i++)
        hub_test_send(&f, &(struct message){.kind = MESSAGE_READY, .ready = {0, 1000000}});
    cr_assert_eq(hub_test_event(&f).kind, HUB_CREDIT);
    cr_assert_eq(hub_poll(f.hub, 100, -1).kind, HUB_IDLE);
    unsigned given = 0;
    for (; given < 100 && hub_idle_peer(f.hub, 0) == 0; given++)
        hub_take_credit(f.hub, 0);
    cr_expect_eq(given, hub_test_hello.hello.capacity);
    hub_test_send(&f, &(struct message){.kind = MESSAGE_READY, .ready = {1, 4}});
    cr_assert_eq(hub_test_event(&f).kind, HUB_CREDIT);
    hub_take_credit(f.hub, 0);
    cr_expect_eq(hub_idle_peer(f.hub, 0), -1, "it has taken one, and three more are on their way");
    hub_fixture_close(&f);
}

/* A message from one of several agents. */
static void hub_test_say(void *dealer, const struct message *m)
{
    struct hub_fixture f = {.dealer = dealer};
    hub_test_send(&f, m);
}

/* A closed socket counts until the hub's socket and a thread of the context have let it go: while there are
 * too many, the hub is given time, ten seconds at most. */
static void *hub_test_socket(struct hub_fixture *f)
{
    void *socket = zmq_socket(f->context, ZMQ_DEALER);
    for (unsigned i = 0; !socket && errno == EMFILE && i < 10000; i++) {
        cr_assert_eq(hub_poll(f->hub, 1, -1).kind, HUB_IDLE);
        socket = zmq_socket(f->context, ZMQ_DEALER);
    }
    cr_assert_not_null(socket, "%s", zmq_strerror(errno));
    return socket;
}

static void hub_test_connect(struct hub_fixture *f, void **dealers, unsigned n)
{
    int linger = 0;
    for (unsigned i = 0; i < n; i++) {
        dealers[i] = hub_test_socket(f);
        zmq_setsockopt(dealers[i], ZMQ_LINGER, &linger, sizeof linger);
        cr_assert_eq(zmq_connect(dealers[i], "inproc://hub-test"), 0);
    }
}

static void hub_test_disconnect(void **dealers, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        zmq_close(dealers[i]);
}

/* Each in turn, whatever their credits are and whoever came first. */
Test(hub, agents_with_credits_are_served_in_turn)
{
    enum { AGENTS = 3, TURNS = 12 };
    struct hub_fixture f = hub_fixture_open();
    void *dealers[AGENTS];
    unsigned served[AGENTS] = {0};
    hub_test_connect(&f, dealers, AGENTS);
    for (unsigned i = 0; i < AGENTS; i++) {
        hub_test_say(dealers[i], &hub_test_hello);
        cr_assert_eq(hub_test_event(&f).kind, HUB_HELLO);
        hub_test_say(dealers[i], &(struct message){.kind = MESSAGE_READY, .ready = {0, 4}});
        cr_assert_eq(hub_test_event(&f).kind, HUB_CREDIT);
    }
    for (unsigned i = 0; i < TURNS; i++) {
        int peer = hub_idle_peer(f.hub, 0);
        cr_assert(peer >= 0 && peer < AGENTS);
        hub_take_credit(f.hub, (unsigned)peer);
        served[peer]++;
        cr_expect_leq(served[peer], i / AGENTS + 1, "agent %d at turn %u", peer, i);
    }
    cr_expect_eq(hub_idle_peer(f.hub, 0), -1);
    hub_test_disconnect(dealers, AGENTS);
    hub_fixture_close(&f);
}

/* Hellos of agents that are never ready do not keep others out, and do not drive out those at work. */
Test(hub, a_flood_of_hellos_keeps_nobody_out, .timeout = 120)
{
    enum { EXTRA = 50 };
    struct hub_fixture f = hub_fixture_open();
    static void *dealers[EXTRA];
    struct message hello = hub_test_hello;
    hub_test_send(&f, &hello);
    struct hub_event e = hub_test_event(&f);
    cr_assert_eq(e.kind, HUB_HELLO);
    unsigned worker = e.peer;
    hub_test_send(&f, &(struct message){.kind = MESSAGE_READY, .ready = {0, 1}});
    cr_assert_eq(hub_test_event(&f).kind, HUB_CREDIT);
    for (unsigned i = 0; i < LIMIT_PEERS + EXTRA; i++) {
        void *one = NULL;
        hub_test_ms += i % 2; /* silent for longer than the next ones; the worker is not lost meanwhile */
        hub_test_connect(&f, &one, 1);
        hub_test_say(one, &hello);
        cr_assert_eq(hub_test_event(&f).kind, HUB_HELLO, "hello %u", i);
        hub_test_disconnect(&one, 1);
    }
    cr_expect_eq(hub_test_live(f.hub), LIMIT_PEERS);
    cr_expect_eq(hub_idle_peer(f.hub, 0), (int)worker);
    hub_test_connect(&f, dealers, 1);
    hello.hello.name = "honest";
    hub_test_say(dealers[0], &hello);
    e = hub_test_event(&f);
    cr_assert_eq(e.kind, HUB_HELLO);
    cr_expect_str_eq(hub_name(f.hub, e.peer), "honest");
    hub_test_disconnect(dealers, 1);
    hub_fixture_close(&f);
}

Test(hub, hellos_with_control_characters_or_no_device_are_faulty)
{
    struct message_hello m = {.name = "a", .device = "d", .driver = "", .libraries = ""};
    cr_expect_null(hub_hello_fault(&m));
    m.name = "a\x1b[2J";
    cr_expect_not_null(hub_hello_fault(&m));
    m.name = "a\x7f";
    cr_expect_not_null(hub_hello_fault(&m));
    m.name = "h\xc3\xa9";
    cr_expect_null(hub_hello_fault(&m));
    m.driver = "1\n2";
    cr_expect_not_null(hub_hello_fault(&m));
    m.driver = "1";
    m.device = "";
    cr_expect_not_null(hub_hello_fault(&m));
}

/* Jobs that the hub would give to agents. */
static int hub_capacity_left(struct hub_fixture *f)
{
    int n = 0;
    for (int peer; (peer = hub_idle_peer(f->hub, 0)) >= 0; n++)
        hub_take_credit(f->hub, (unsigned)peer);
    return n;
}

Test(hub, garbage_is_dropped)
{
    struct hub_fixture f = hub_fixture_open();
    struct pcg32 rng = pcg32_seed(5, 0);
    enum { FRAMES = 200 };
    for (int i = 0; i < FRAMES; i++) {
        uint8_t data[100];
        size_t n = pcg32_below(&rng, sizeof data);
        for (size_t j = 0; j < n; j++)
            data[j] = (uint8_t)pcg32_next(&rng);
        zmq_send(f.dealer, data, n, i % 3 == 0 ? ZMQ_SNDMORE : 0);
        if (i % 3 == 0) zmq_send(f.dealer, data, n, 0);
    }
    hub_test_send(&f, &(struct message){.kind = MESSAGE_RESULT, .result = {.id = 1, .status = "ok"}});
    hub_test_send(&f, &hub_test_hello);
    struct hub_event e = hub_test_event(&f);
    cr_assert_eq(e.kind, HUB_HELLO);
    cr_assert_eq(hub_test_live(f.hub), 1);
    cr_assert_eq(hub_results(f.hub, e.peer), 0);
    hub_fixture_close(&f);
}

/* Frames of every hostile kind, and messages of too many parts, from a stranger and from an agent. */
Test(hub, survives_hostile_frames, .timeout = 60)
{
    enum { FRAMES = 20000 };
    struct hub_fixture f = hub_fixture_open();
    struct hostile *h = hostile_new(1);
    for (int i = 0; i < FRAMES; i++) {
        const uint8_t *data;
        enum message_kind kind;
        size_t n = hostile_frame(h, hostile_kind(h, FRAMES / 8), &data);
        if (hostile_is_valid(data, n, &kind) && (kind == MESSAGE_HELLO || kind == MESSAGE_BYE)) continue;
        zmq_send(f.dealer, data, n, i % 10 ? 0 : ZMQ_SNDMORE);
        if (i % 10 == 0) zmq_send(f.dealer, data, n % 100, 0);
        if (i == FRAMES / 2) hub_test_send(&f, &hub_test_hello);
        if (i % 100 == 0)
            for (int k = 0; k < 200; k++)
                hub_poll(f.hub, 0, -1);
    }
    hostile_free(h);
    cr_assert_eq(hub_test_live(f.hub), 1);
    cr_expect_leq(hub_capacity_left(&f), 4, "no more than the capacity of its hello");
    hub_fixture_close(&f);
}

/* Whoever polls gets to look at other things, however many messages there are. */
Test(hub, a_poll_ends_in_a_flood)
{
    struct hub_fixture f = hub_fixture_open();
    enum { FRAMES = 600, MOST = 300 };
    for (int i = 0; i < FRAMES; i++)
        zmq_send(f.dealer, "x", 1, 0);
    hub_test_send(&f, &hub_test_hello);
    unsigned polls = 1;
    while (polls < FRAMES && hub_poll(f.hub, 1000, -1).kind == HUB_IDLE)
        polls++;
    cr_expect_gt(polls, FRAMES / MOST);
    cr_expect_lt(polls, FRAMES, "the hello is behind the flood");
    hub_fixture_close(&f);
}

Test(hub, tcp_binds_to_the_loopback_interface_only)
{
    struct diag *d = diag_new();
    void *context = zmq_ctx_new();
    const char *const refused[] = {"tcp://0.0.0.0:5999", "tcp://*:5999", "tcp://192.168.0.1:5999"};
    for (size_t i = 0; i < 3; i++) {
        cr_assert_null(hub_new(context, refused[i], clock_ms, d));
        cr_assert(strstr(diag_message(d, i), "loopback"));
    }
    const char *const others[] = {"127.0.0.1:5999", "udp://127.0.0.1:5999", "pgm://eth0;239.0.0.1:5999", ""};
    for (size_t i = 0; i < 4; i++) {
        cr_assert_null(hub_new(context, others[i], clock_ms, d), "%s", others[i]);
        cr_assert(strstr(diag_message(d, 3 + i), "is not an endpoint"), "%s", diag_message(d, 3 + i));
    }
    const char *const ports[] = {"tcp://127.0.0.1:99999", "tcp://127.0.0.1:0",
                                 "tcp://127.0.0.1:", "tcp://127.0.0.1"};
    for (size_t i = 0; i < 4; i++) {
        cr_assert_null(hub_new(context, ports[i], clock_ms, d), "%s", ports[i]);
        const char *wanted = i == 3 ? "the port is missing" : "is not a port";
        cr_assert(strstr(diag_message(d, 7 + i), wanted), "%s", diag_message(d, 7 + i));
    }
    struct hub *h = hub_new(context, "tcp://127.0.0.1:*", clock_ms, d);
    cr_assert_not_null(h);
    unsigned port = 0;
    cr_expect_eq(sscanf(hub_endpoint(h), "tcp://127.0.0.1:%u", &port), 1, "%s", hub_endpoint(h));
    cr_expect_gt(port, 0);
    hub_free(h);
    h = hub_new(context, "tcp://localhost:*", clock_ms, d);
    cr_assert_not_null(h, "%s", diag_message(d, diag_count(d) - 1));
    cr_expect_eq(sscanf(hub_endpoint(h), "tcp://127.0.0.1:%u", &port), 1, "%s", hub_endpoint(h));
    hub_free(h);
    zmq_ctx_term(context);
    diag_free(d);
}
