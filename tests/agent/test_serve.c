/* The agent's side of the wire, with a coordinator of a few lines: it works, refuses what makes no sense, and
 * finishes what runs before quoted rounds. Needs a CPU device. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "agent/device_lock.h"
#include "agent/evaluate.h"
#include "core/pipeline/problem.h"
#include "agent/serve.h"
#include "agent/wire.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/codegen/target.h"
#include "tests/fixture/hostile.h"

static const char serve_program[] = "size N\ninput x: [float]N\noutput map(fun v -> v * 2.0, x)\n";
static const char serve_sizes[] = "N=64";

/* The coordinator: its socket, the agent that said hello, and the last message, with its arena. */
struct serve_bench {
    void *context, *socket;
    pthread_t thread;
    struct serve_options options;
    struct diag *diag; /* the agent's */
    struct problem *problem;
    unsigned char identity[256];
    size_t identity_bytes;
    struct arena *arena;
    struct message m;
};

static void *serve_main(void *arg)
{
    struct serve_bench *b = arg;
    return agent_serve(&b->options, b->diag) ? b : NULL;
}

static void serve_send(struct serve_bench *b, const struct message *m)
{
    size_t bytes;
    void *data = message_encode(m, &bytes);
    zmq_send(b->socket, b->identity, b->identity_bytes, ZMQ_SNDMORE);
    zmq_send(b->socket, data, bytes, 0);
    free(data);
}

/* The next message; heartbeats are answered. */
static const struct message *serve_receive(struct serve_bench *b)
{
    static unsigned char data[1 << 16];
    const char *why;
    int id = zmq_recv(b->socket, b->identity, sizeof b->identity, 0);
    int bytes = zmq_recv(b->socket, data, sizeof data, 0);
    cr_assert(id > 0 && bytes > 0 && (size_t)bytes <= sizeof data, "%s", zmq_strerror(zmq_errno()));
    b->identity_bytes = (size_t)id;
    arena_free(b->arena);
    b->arena = arena_new();
    cr_assert(message_decode(data, (size_t)bytes, b->arena, &b->m, &why), "%s", why);
    if (b->m.kind == MESSAGE_HEARTBEAT) serve_send(b, &b->m);
    return &b->m;
}

/* The next message but heartbeats and ready. */
static const struct message *serve_next_message(struct serve_bench *b)
{
    do
        serve_receive(b);
    while (b->m.kind == MESSAGE_HEARTBEAT || b->m.kind == MESSAGE_READY);
    return &b->m;
}

static const struct message_result *serve_result(struct serve_bench *b, uint64_t id, const char *status)
{
    const struct message *m = serve_next_message(b);
    cr_assert_eq(m->kind, MESSAGE_RESULT);
    cr_assert_eq(m->result.id, id);
    cr_assert_str_eq(m->result.status, status, "%s", m->result.message);
    return &m->result;
}

/* The agent ends when stop_fd is readable, -1: never, or after most_s seconds, 0: never. */
static void serve_start_with(struct serve_bench *b, int stop_fd, double most_s)
{
    int patience_ms = 60000;
    struct device dev;
    memset(b, 0, sizeof *b);
    b->diag = diag_new();
    cr_assert(device_select("cpu", &dev, b->diag)); /* before there are threads: it forks */
    b->arena = arena_new();
    b->context = zmq_ctx_new();
    b->socket = zmq_socket(b->context, ZMQ_ROUTER);
    zmq_setsockopt(b->socket, ZMQ_RCVTIMEO, &patience_ms, sizeof patience_ms);
    cr_assert_eq(zmq_bind(b->socket, "inproc://serve"), 0);
    b->options = (struct serve_options){
        .context = b->context, .endpoint = "inproc://serve", .runners = 1, .stop_fd = stop_fd};
    b->options.device = dev;
    b->options.most_s = most_s;
    cr_assert_eq(pthread_create(&b->thread, NULL, serve_main, b), 0);
    const struct message *m = serve_next_message(b);
    cr_assert_eq(m->kind, MESSAGE_HELLO);
    cr_assert_str_eq(m->hello.device, b->options.device.name);
    cr_assert(strstr(m->hello.libraries, "OpenCL ") && strstr(m->hello.libraries, ", ZeroMQ 4"), "%s",
              m->hello.libraries);
    cr_assert_eq(m->hello.capacity, 2);
}

static void serve_start_until(struct serve_bench *b, int stop_fd)
{
    serve_start_with(b, stop_fd, 0);
}

static void serve_start(struct serve_bench *b)
{
    serve_start_until(b, -1);
}

static void serve_send_data(struct serve_bench *b, uint64_t change, const char *data)
{
    static const struct bb_options none = {0};
    struct diag *d = diag_new();
    const struct device *dev = &b->options.device;
    b->problem = problem_new("double.lift", serve_program, serve_sizes, &dev->limits, &none, d);
    cr_assert(b->problem, "%s", diag_count(d) ? diag_message(d, 0) : "");
    struct arena *a = arena_new();
    serve_send(b, &(struct message){.kind = MESSAGE_PROGRAM,
                                    .program = {.path = "double.lift",
                                                .text = serve_program,
                                                .sizes = serve_sizes,
                                                .data = data,
                                                .limits = wire_device(dev, a),
                                                .options = wire_options(&none, a),
                                                .fingerprint = b->problem->fingerprint + change,
                                                .seed = 1}});
    arena_free(a);
    diag_free(d);
}

static void serve_send_program(struct serve_bench *b, uint64_t change)
{
    serve_send_data(b, change, "");
}

/* Waits for the agent's end; whether it ended well. */
static bool serve_end(struct serve_bench *b)
{
    void *ok = NULL;
    pthread_join(b->thread, &ok);
    zmq_close(b->socket);
    zmq_ctx_term(b->context);
    problem_free(b->problem);
    arena_free(b->arena);
    diag_free(b->diag);
    return ok != NULL;
}

/* Every decision of the naive implementation: each live slot with its value. */
static struct message_ints serve_naive(const struct serve_bench *b, struct arena *a)
{
    struct diag *d = diag_new();
    struct space_state *leaf = problem_naive(b->problem, d);
    cr_assert_not_null(leaf);
    uint32_t slots = space_slot_count(b->problem->space), n = 0;
    struct space_action *actions = ARENA_ARRAY(a, struct space_action, slots);
    for (uint32_t s = 0; s < slots; s++)
        if (space_is_live(leaf, s)) actions[n++] = (struct space_action){s, space_first_value(leaf, s)};
    space_state_free(leaf);
    diag_free(d);
    return wire_actions(actions, n, a);
}

static void serve_job(struct serve_bench *b, uint64_t id, struct message_ints actions)
{
    serve_send(b, &(struct message){.kind = MESSAGE_JOB,
                                    .job = {.id = id, .actions = actions, .cut_factor = 4, .verify = true}});
}

static struct message_ints serve_one_kernel(struct message_ints actions, struct arena *a)
{
    int64_t *items = ARENA_ARRAY(a, int64_t, actions.n + 1);
    items[0] = (int64_t)actions.n;
    memcpy(items + 1, actions.items, actions.n * sizeof *items);
    return (struct message_ints){items, actions.n + 1};
}

Test(agent_serve, evaluates_jobs_and_refuses_what_is_none)
{
    static const int64_t undefined[] = {1 << 30, 0}, odd[] = {0, 0, 1};
    struct serve_bench b;
    struct arena *a = arena_new();
    serve_start(&b);
    serve_send_program(&b, 0);
    serve_job(&b, 1, (struct message_ints){NULL, 0}); /* nothing is decided */
    serve_result(&b, 1, "build_error");
    serve_job(&b, 2, (struct message_ints){undefined, 2});
    serve_result(&b, 2, "build_error");
    serve_job(&b, 3, (struct message_ints){odd, 3});
    cr_assert(strstr(serve_result(&b, 3, "build_error")->message, "cannot be read"));
    cr_assert_eq(b.m.result.resources.n, 0);
    zmq_send(b.socket, b.identity, b.identity_bytes, ZMQ_SNDMORE);
    zmq_send(b.socket, "nonsense", 8, 0);
    serve_job(&b, 4, serve_naive(&b, a));
    const struct message_result *r = serve_result(&b, 4, "ok");
    cr_assert(r->median_ns > 0 && r->samples.n >= 5 && r->kernel_hash != 0);
    cr_assert_eq(r->resources.n, EVAL_RESOURCES);
    cr_assert(r->resources.items[0] == 0 && r->resources.items[2] > 0,
              "no local memory, groups that can run");
    serve_send(&b, &(struct message){.kind = MESSAGE_BYE, .bye = {""}});
    cr_assert_eq(serve_next_message(&b)->kind, MESSAGE_BYE);
    cr_assert(serve_end(&b));
    arena_free(a);
}

/* Thousands of frames that no coordinator sends, while it has a program: it works afterwards. Those that are
 * valid jobs, rounds, programs or farewells by chance are left out. */
Test(agent_serve, survives_hostile_frames, .timeout = 120)
{
    enum { FRAMES = 5000 };
    struct serve_bench b;
    serve_start(&b);
    serve_send(&b, &(struct message){.kind = MESSAGE_WELCOME, .welcome = {100}});
    serve_send_program(&b, 0);
    while (serve_receive(&b)->kind != MESSAGE_READY)
        continue;
    struct hostile *h = hostile_new(1);
    for (int i = 0; i < FRAMES; i++) {
        const uint8_t *data;
        enum message_kind kind = MESSAGE_RESULT;
        size_t n = hostile_frame(h, hostile_kind(h, FRAMES / 4), &data);
        bool valid = hostile_is_valid(data, n, &kind);
        if (valid && kind != MESSAGE_HEARTBEAT && kind != MESSAGE_RESULT && kind != MESSAGE_READY) continue;
        zmq_send(b.socket, b.identity, b.identity_bytes, ZMQ_SNDMORE);
        zmq_send(b.socket, data, n, 0);
    }
    hostile_free(h);
    struct arena *a = arena_new();
    serve_job(&b, 7, serve_naive(&b, a));
    serve_result(&b, 7, "ok");
    serve_send(&b, &(struct message){.kind = MESSAGE_BYE});
    cr_expect(serve_end(&b));
    arena_free(a);
}

/* The paths are those of the coordinator: an agent without these files says so. */
Test(agent_serve, cannot_work_without_the_data)
{
    struct serve_bench b;
    serve_start(&b);
    serve_send_data(&b, 0, "{\"inputs\":{\"x\":\"/missing/x.npy\"},\"hash\":\"0\"}");
    const struct message *m = serve_next_message(&b);
    cr_assert_eq(m->kind, MESSAGE_BYE);
    cr_expect_str_eq(m->bye.reason, "cannot open /missing/x.npy: No such file or directory; agents read the "
                                    "search's data files themselves, under the same paths");
    cr_expect_not(serve_end(&b));
}

Test(agent_serve, finishes_what_runs_before_rounds)
{
    struct serve_bench b;
    struct arena *a = arena_new();
    serve_start(&b);
    serve_send_program(&b, 0);
    struct message_ints naive = serve_naive(&b, a);
    serve_job(&b, 1, naive);
    serve_send(&b, &(struct message){
                       .kind = MESSAGE_ROUNDS,
                       .rounds = {.id = 7, .kernels = serve_one_kernel(naive, a), .rounds = 3, .seed = 1}});
    serve_result(&b, 1, "ok");
    const struct message *m = serve_next_message(&b);
    cr_assert_eq(m->kind, MESSAGE_FIGURES);
    cr_assert_eq(m->figures.id, 7);
    cr_assert_eq(m->figures.times.n, 3);
    for (int i = 0; i < 3; i++)
        cr_assert_gt(m->figures.times.items[i], 0);
    serve_send(&b, &(struct message){.kind = MESSAGE_BYE, .bye = {""}});
    serve_next_message(&b);
    cr_assert(serve_end(&b));
    arena_free(a);
}

/* Rounds wait for the device, which another process has; the coordinator hears of the agent meanwhile. */
Test(agent_serve, is_heard_of_while_rounds_wait_for_the_device, .timeout = 300)
{
    enum { HEARTBEATS = 8 };
    struct serve_bench b;
    struct arena *a = arena_new();
    char why[512];
    serve_start(&b);
    serve_send(&b, &(struct message){.kind = MESSAGE_WELCOME, .welcome = {100}});
    serve_send_program(&b, 0);
    struct message_ints naive = serve_naive(&b, a);
    serve_job(&b, 1, naive);
    serve_result(&b, 1, "ok");
    struct device_lock *other = device_lock_open(&b.options.device, why, sizeof why);
    cr_assert_not_null(other, "%s", why);
    while (!device_lock_try(other))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    serve_send(&b, &(struct message){
                       .kind = MESSAGE_ROUNDS,
                       .rounds = {.id = 7, .kernels = serve_one_kernel(naive, a), .rounds = 1, .seed = 1}});
    for (int heard = 0; heard < HEARTBEATS;) {
        const struct message *m = serve_receive(&b);
        device_lock_renew(other);
        heard += m->kind == MESSAGE_HEARTBEAT;
        cr_assert_neq(m->kind, MESSAGE_FIGURES);
    }
    device_lock_close(other);
    cr_assert_eq(serve_next_message(&b)->kind, MESSAGE_FIGURES);
    serve_send(&b, &(struct message){.kind = MESSAGE_BYE, .bye = {""}});
    serve_next_message(&b);
    cr_assert(serve_end(&b));
    arena_free(a);
}

/* An agent that is interrupted in the middle of rounds leaves without figures: those of the rounds that it
 * did not measure would say that the kernels fail. */
Test(agent_serve, interrupted_rounds_have_no_figures, .timeout = 300)
{
    struct serve_bench b;
    struct arena *a = arena_new();
    int stop[2];
    cr_assert_eq(pipe(stop), 0);
    serve_start_until(&b, stop[0]);
    serve_send_program(&b, 0);
    struct message_ints naive = serve_naive(&b, a);
    serve_job(&b, 1, naive);
    serve_result(&b, 1, "ok");
    struct message_ints kernel = serve_one_kernel(naive, a);
    serve_send(&b, &(struct message){.kind = MESSAGE_ROUNDS,
                                     .rounds = {.id = 7, .kernels = kernel, .rounds = 1000, .seed = 1}});
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    cr_assert_eq(write(stop[1], "", 1), 1);
    const struct message *m = serve_next_message(&b);
    cr_assert_eq(m->kind, MESSAGE_BYE, "figures of interrupted rounds");
    cr_assert_str_eq(m->bye.reason, "");
    cr_assert(serve_end(&b));
    close(stop[0]);
    close(stop[1]);
    arena_free(a);
}

/* With one runner the second job has not begun: it is returned; the first one is finished. */
Test(agent_serve, drains_before_it_leaves, .timeout = 300)
{
    struct serve_bench b;
    struct arena *a = arena_new();
    int stop[2];
    cr_assert_eq(pipe(stop), 0);
    serve_start_until(&b, stop[0]);
    serve_send_program(&b, 0);
    struct message_ints naive = serve_naive(&b, a);
    while (serve_receive(&b)->kind != MESSAGE_READY)
        continue;
    cr_expect_eq(b.m.ready.jobs, 0);
    cr_expect_eq(b.m.ready.credits, 2);
    serve_job(&b, 1, naive);
    serve_job(&b, 2, naive);
    while (serve_receive(&b)->kind != MESSAGE_RESULT) /* the first is over: the second is with the runner */
        continue;
    serve_job(&b, 3, naive);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    cr_assert_eq(write(stop[1], "", 1), 1);
    unsigned results = 1, returned = 0;
    while (serve_receive(&b)->kind != MESSAGE_BYE) {
        results += b.m.kind == MESSAGE_RESULT;
        returned += b.m.kind == MESSAGE_RETURNED;
        cr_expect(b.m.kind != MESSAGE_RESULT || strcmp(b.m.result.status, "ok") == 0);
    }
    cr_expect_eq(results + returned, 3, "%u results, %u returned", results, returned);
    cr_expect_str_eq(b.m.bye.reason, "");
    cr_assert(serve_end(&b));
    close(stop[0]);
    close(stop[1]);
    arena_free(a);
}

/* A job that arrives when the agent's time is nearly over is returned. */
Test(agent_serve, leaves_before_its_time_is_over, .timeout = 300)
{
    struct serve_bench b;
    serve_start_with(&b, -1, 2);
    serve_send_program(&b, 0);
    while (serve_receive(&b)->kind != MESSAGE_BYE)
        continue;
    cr_expect_str_eq(b.m.bye.reason, "");
    cr_assert(serve_end(&b));
}

/* A coordinator that was started again asks who this is, and gets the agent as if it were new. */
Test(agent_serve, introduces_itself_again)
{
    struct serve_bench b;
    struct arena *a = arena_new();
    serve_start(&b);
    serve_send(&b, &(struct message){.kind = MESSAGE_WELCOME, .welcome = {1000}});
    for (int i = 0; i < 2; i++) {
        if (i) problem_free(b.problem);
        serve_send_program(&b, 0);
        serve_job(&b, 1, serve_naive(&b, a));
        serve_result(&b, 1, "ok");
        if (i) break;
        for (int k = 0; k < 3; k++) /* each of its signs of life is answered */
            serve_send(&b, &(struct message){.kind = MESSAGE_WHO, .who = {"unknown agent"}});
        cr_assert_eq(serve_next_message(&b)->kind, MESSAGE_HELLO);
    }
    serve_send(&b, &(struct message){.kind = MESSAGE_BYE, .bye = {""}});
    cr_assert_eq(serve_next_message(&b)->kind, MESSAGE_BYE);
    cr_assert(serve_end(&b));
    arena_free(a);
}

Test(agent_serve, leaves_when_its_space_differs)
{
    struct serve_bench b;
    serve_start(&b);
    serve_send_program(&b, 1);
    const struct message *m = serve_next_message(&b);
    cr_assert_eq(m->kind, MESSAGE_BYE);
    cr_assert(strstr(m->bye.reason, "differs"), "%s", m->bye.reason);
    cr_assert_not(serve_end(&b));
}

Test(agent_serve, options_round_trip_and_are_checked)
{
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    struct bb_options sent = {.parallel_levels = 2, .copy_levels = 1, .no_staging = true}, got;
    cr_assert(bb_parse_parameters("max_unroll=7,global_from=0", &sent, d));
    struct message_ints ints = wire_options(&sent, a);
    cr_assert(wire_read_options(ints, &got));
    cr_assert(got.parallel_levels == 2 && got.reduction_levels == 0 && got.copy_levels == 1 &&
              got.no_staging);
    cr_assert_eq(got.n_parameters, 2);
    for (unsigned i = 0; i < 2; i++) {
        cr_assert_eq(got.parameters[i].number, sent.parameters[i].number);
        cr_assert_eq(got.parameters[i].value, sent.parameters[i].value);
    }
    for (size_t n = 0; n < ints.n; n++)
        cr_assert_eq(wire_read_options((struct message_ints){ints.items, n}, &got), n == 5 || n == 7,
                     "%zu ints", n);
    int64_t *items = arena_memdup(a, ints.items, ints.n * sizeof *items);
    items[5] = 0;
    cr_assert_not(wire_read_options((struct message_ints){items, ints.n}, &got), "a limit of the device");
    diag_free(d);
    arena_free(a);
}

Test(agent_serve, devices_round_trip_and_are_checked)
{
    struct arena *a = arena_new();
    struct device dev = {.compute_units = 3, .max_alloc_bytes = 5, .global_bytes = 7}, back = {0};
    dev.limits = (struct bb_device){.max_work_group = 64,
                                    .max_work_item = {64, 32, 16},
                                    .local_bytes = 1 << 15,
                                    .n_vector_widths = 3,
                                    .vector_widths = {2, 4, 8},
                                    .half_bits = true,
                                    .matrix = true,
                                    .device_fence = true,
                                    .workarounds_off = 1u << CG_SPLIT_PREDICATES};
    struct message_ints ints = wire_device(&dev, a);
    cr_assert(wire_read_device(ints, &back));
    cr_assert_eq(back.compute_units, 3);
    cr_assert_eq(back.limits.workarounds_off, dev.limits.workarounds_off);
    cr_assert(back.limits.device_fence);
    cr_assert_arr_eq(back.limits.vector_widths, dev.limits.vector_widths, sizeof dev.limits.vector_widths);
    static const int64_t bad[][2] = {{0, 4}, {3, 4}, {4, 4}, {4, 2}, {2, 32}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        dev.limits.vector_widths[0] = bad[i][0];
        dev.limits.vector_widths[1] = bad[i][1];
        cr_assert_not(wire_read_device(wire_device(&dev, a), &back), "%zu", i);
    }
    int64_t *v = (int64_t *)(uintptr_t)ints.items;
    static const struct {
        unsigned at;
        int64_t absurd;
    } limits[] = {{1, 0},
                  {2, 0},
                  {2, INT64_MAX},
                  {3, -1},
                  {3, INT64_MAX},
                  {4, 1},
                  {5, 0},
                  {5, INT64_MAX},
                  {6, 0},
                  {8, INT64_MAX},
                  {9, INT64_MAX},
                  {10, INT64_MAX},
                  {11, INT64_MAX},
                  {19, CG_DIALECTS},
                  {20, 1 << CG_WORKAROUND_COUNT}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        int64_t was = v[limits[i].at];
        v[limits[i].at] = limits[i].absurd;
        cr_expect_not(wire_read_device(ints, &back), "%u: %" PRId64, limits[i].at, limits[i].absurd);
        v[limits[i].at] = was;
    }
    cr_assert(wire_read_device(ints, &back));
    cr_assert(back.limits.device_fence && back.limits.half_bits && back.limits.matrix);
    ints.n--;
    cr_assert_not(wire_read_device(ints, &back));
    ints.n--; /* a file of a version that knew of no half numbers as bits, nor of matrices */
    cr_assert(wire_read_device(ints, &back));
    cr_assert(back.limits.device_fence && !back.limits.half_bits && !back.limits.matrix);
    ints.n--; /* a file of a version that knew of no fence */
    cr_assert(wire_read_device(ints, &back));
    cr_assert_not(back.limits.device_fence);
    ints.n--;
    cr_assert_not(wire_read_device(ints, &back));
    ints.n--; /* a file of a version without targets: all workarounds were on */
    cr_assert(wire_read_device(ints, &back));
    cr_assert_eq(back.limits.workarounds_off, 0);
    arena_free(a);
}
