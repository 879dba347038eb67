/* Several searches over one fleet: who is given which agent, when agents move, and that messages reach the
 * search that they belong to. The agents of these tests are sockets that say what they are told to. */
#include "coordinator/fleet.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "agent/device.h"
#include "agent/wire.h"
#include "core/base/arena.h"
#include "core/base/diag.h"

enum { MOST = 4, WAIT_MS = 20000 };
static const char endpoint[] = "inproc://fleet-test";

struct fleet_test {
    void *context, *agents[MOST];
    struct fleet *fleet;
    struct diag *diag;
};

static struct fleet_test fleet_test_open(void)
{
    struct fleet_test t = {.context = zmq_ctx_new(), .diag = diag_new()};
    t.fleet =
        fleet_open(&(struct fleet_options){.context = t.context, .where = {.address = endpoint}}, t.diag);
    cr_assert_not_null(t.fleet);
    return t;
}

static void fleet_test_close(struct fleet_test *t)
{
    int linger = 0;
    fleet_close(t->fleet);
    for (int i = 0; i < MOST; i++) {
        if (!t->agents[i]) continue;
        zmq_setsockopt(t->agents[i], ZMQ_LINGER, &linger, sizeof linger);
        zmq_close(t->agents[i]);
    }
    zmq_ctx_term(t->context);
    diag_free(t->diag);
}

static void fleet_test_say(void *socket, const struct message *m)
{
    size_t n;
    void *data = message_encode(m, &n);
    zmq_send(socket, data, n, 0);
    free(data);
}

/* Agent i connects, with a CPU or a GPU as its device. */
static void fleet_test_hello(struct fleet_test *t, int i, bool gpu)
{
    struct device dev = {.compute_units = 4, .gpu = gpu, .max_alloc_bytes = 1 << 30, .global_bytes = 1 << 30};
    char name[16];
    struct arena *a = arena_new();
    snprintf(name, sizeof name, "a%d", i);
    dev.limits = (struct bb_device){
        .gpu = gpu, .max_work_group = 1024, .max_work_item = {1024, 1024, 64}, .local_bytes = 48 << 10};
    device_set_widths(&dev.limits);
    t->agents[i] = zmq_socket(t->context, ZMQ_DEALER);
    cr_assert_eq(zmq_connect(t->agents[i], endpoint), 0);
    fleet_test_say(t->agents[i], &(struct message){.kind = MESSAGE_HELLO,
                                                   .hello = {.name = name,
                                                             .host = "h",
                                                             .device = gpu ? "a gpu" : "a cpu",
                                                             .driver = "1",
                                                             .libraries = "",
                                                             .capacity = 2,
                                                             .limits = wire_device(&dev, a)}});
    arena_free(a);
}

/* The next event of a kind; what comes before it is passed over. */
static struct hub_event fleet_test_event(struct roster *r, enum hub_event_kind kind)
{
    struct hub_event e = {.kind = HUB_IDLE};
    for (int waited = 0; waited < WAIT_MS && e.kind != kind; waited += 100)
        e = roster_poll(r, 100, -1);
    cr_assert_eq(e.kind, kind);
    return e;
}

static void fleet_test_ready(struct fleet_test *t, int agent)
{
    fleet_test_say(t->agents[agent], &(struct message){.kind = MESSAGE_READY, .ready = {0, 2}});
}

/* Takes a new agent and sends it a program. */
static unsigned fleet_test_greet(struct roster *r)
{
    unsigned peer = fleet_test_event(r, HUB_HELLO).peer;
    roster_send(r, peer, &(struct message){.kind = MESSAGE_PROGRAM});
    return peer;
}

/* An agent that says that it is ready before it was sent the program would be given jobs that nobody does. */
Test(fleet, nobody_has_a_turn_before_the_program, .timeout = 60)
{
    struct fleet_test t = fleet_test_open();
    struct roster *r = fleet_join(t.fleet, NULL);
    fleet_test_hello(&t, 0, false);
    fleet_test_ready(&t, 0);
    fleet_test_say(t.agents[0], &(struct message){.kind = MESSAGE_FIGURES});
    unsigned peer = fleet_test_event(r, HUB_HELLO).peer;
    fleet_test_event(r, HUB_MESSAGE); /* what it has said is heard */
    cr_expect_eq(roster_idle_peer(r), -1);
    roster_send(r, peer, &(struct message){.kind = MESSAGE_PROGRAM});
    fleet_test_ready(&t, 0);
    fleet_test_event(r, HUB_CREDIT);
    cr_expect_eq(roster_idle_peer(r), 0);
    cr_expect_eq(roster_idle_peers(r), 1);
    roster_close(r);
    fleet_test_close(&t);
}

Test(fleet, searches_share_agents_evenly, .timeout = 60)
{
    struct fleet_test t = fleet_test_open();
    struct roster *one = fleet_join(t.fleet, NULL), *two = fleet_join(t.fleet, NULL);
    for (int i = 0; i < MOST; i++)
        fleet_test_hello(&t, i, false);
    for (int i = 0; i < MOST / 2; i++) {
        fleet_test_event(one, HUB_HELLO);
        fleet_test_event(two, HUB_HELLO);
    }
    cr_expect_eq(roster_live_peers(one), MOST / 2);
    cr_expect_eq(roster_live_peers(two), MOST / 2);
    cr_expect_neq(roster_serial(one), roster_serial(two));
    roster_close(one);
    for (int i = 0; i < MOST / 2; i++)
        fleet_test_event(two, HUB_HELLO);
    cr_expect_eq(roster_live_peers(two), MOST);
    roster_close(two);
    fleet_test_close(&t);
}

/* A search that joins late gets half of the agents, each when it has no job left. */
Test(fleet, agents_move_when_their_jobs_are_done, .timeout = 60)
{
    struct fleet_test t = fleet_test_open();
    struct roster *one = fleet_join(t.fleet, NULL);
    for (int i = 0; i < 2; i++) {
        fleet_test_hello(&t, i, false);
        fleet_test_greet(one);
        fleet_test_ready(&t, i);
        fleet_test_event(one, HUB_CREDIT);
    }
    int busy[] = {roster_take_credit(one), roster_take_credit(one)};
    cr_assert(busy[0] >= 0 && busy[1] >= 0 && busy[0] != busy[1]);
    struct roster *two = fleet_join(t.fleet, NULL);
    cr_expect_eq(roster_poll(two, 1000, -1).kind, HUB_IDLE, "both agents have jobs");
    fleet_test_say(t.agents[0], &(struct message){.kind = MESSAGE_RESULT,
                                                  .result = {.id = 1, .status = "ok", .message = ""}});
    fleet_test_say(t.agents[1], &(struct message){.kind = MESSAGE_RESULT,
                                                  .result = {.id = 2, .status = "ok", .message = ""}});
    struct hub_event moved = fleet_test_event(one, HUB_MOVED), hello = fleet_test_event(two, HUB_HELLO);
    cr_expect_eq(moved.peer, hello.peer);
    cr_expect_eq(roster_live_peers(one), 1);
    cr_expect_eq(roster_live_peers(two), 1);
    cr_expect_eq(strncmp(roster_name(two, hello.peer), "a", 1), 0);
    roster_close(one);
    roster_close(two);
    fleet_test_close(&t);
}

Test(fleet, a_search_gets_agents_of_its_device, .timeout = 60)
{
    struct fleet_test t = fleet_test_open();
    struct device dev;
    struct roster *cpu = fleet_join(t.fleet, "cpu");
    fleet_test_hello(&t, 0, true);
    fleet_test_hello(&t, 1, false);
    struct hub_event e = fleet_test_event(cpu, HUB_HELLO);
    cr_expect_str_eq(e.message.hello.device, "a cpu");
    cr_expect_eq(roster_live_peers(cpu), 1);
    cr_expect_eq(fleet_agents(t.fleet, NULL), 2);
    cr_expect_eq(fleet_agents(t.fleet, "gpu"), 1);
    cr_assert(fleet_device(t.fleet, "gpu", &dev));
    cr_expect_str_eq(dev.name, "a gpu");
    struct roster *gpu = fleet_join(t.fleet, "gpu");
    e = fleet_test_event(gpu, HUB_HELLO);
    cr_expect_str_eq(e.message.hello.device, "a gpu", "it has waited for a search");
    roster_close(cpu);
    cr_expect_eq(roster_live_peers(gpu), 1, "the CPU goes nowhere");
    roster_close(gpu);
    fleet_test_close(&t);
}

/* What a search sends to an agent of another one reaches nobody. */
Test(fleet, messages_to_agents_of_others_are_dropped, .timeout = 60)
{
    struct fleet_test t = fleet_test_open();
    struct roster *one = fleet_join(t.fleet, NULL), *two = fleet_join(t.fleet, "gpu");
    fleet_test_hello(&t, 0, false);
    unsigned peer = fleet_test_event(one, HUB_HELLO).peer;
    int wait_ms = WAIT_MS;
    zmq_setsockopt(t.agents[0], ZMQ_RCVTIMEO, &wait_ms, sizeof wait_ms);
    roster_refuse(two, peer, "not ours");
    cr_expect_eq(roster_live_peers(one), 1);
    roster_send(two, peer, &(struct message){.kind = MESSAGE_WHO, .who = {"of two"}});
    roster_send(one, peer, &(struct message){.kind = MESSAGE_WHO, .who = {"of one"}});
    char data[256];
    int n = zmq_recv(t.agents[0], data, sizeof data, 0);
    struct arena *a = arena_new();
    struct message m;
    const char *why;
    cr_assert(n > 0 && message_decode(data, (size_t)n, a, &m, &why));
    cr_expect_eq(m.kind, MESSAGE_WHO);
    cr_expect_str_eq(m.who.reason, "of one");
    arena_free(a);
    roster_refuse(one, peer, "done");
    cr_expect_eq(roster_live_peers(one), 0);
    cr_expect_eq(fleet_agents(t.fleet, NULL), 0);
    roster_close(one);
    roster_close(two);
    fleet_test_close(&t);
}
