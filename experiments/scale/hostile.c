/* Millions of frames that no honest peer sends (tests/fixture/hostile.h), against a coordinator and against
 * an agent, both with the sanitizers:
 *
 *     hostile coordinator 10000000 [SEED]    `thresh tune --listen`: a search goes on meanwhile
 *     hostile agent 10000000 [SEED]          an agent that has said hello
 *
 * The attacked one is a process of its own. It must not end, it must not grow, and it must work afterwards:
 * an honest agent (crowd.h) is connected all the time and has to bring the search to its end; the attacked
 * agent has to introduce itself again when it is asked to, and to leave when it is told to. Half of the
 * connections to the coordinator have said hello before they send the frames. Exit status 1 if it is not so.
 *
 * Of frames that are valid messages by chance some are left out: those that tell the agent to leave, that
 * give it a program, or that make it silent for longer. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "agent/serve.h"
#include "coordinator/cli/cli.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "experiments/scale/crowd.h"
#include "experiments/scale/device.h"
#include "tests/fixture/hostile.h"

enum {
    PEERS = 8,
    RARITY = 20000, /* frames to one that ends its connection */
    BATCH = 200,
    MOST_GROWTH_KIB = 32 << 10,
    PATIENCE_S = 120
};

/* What AddressSanitizer keeps of freed memory is no growth. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=8:detect_leaks=0";
}

struct attack {
    struct hostile *hostile;
    uint64_t frames, sent;
    char folder[32], endpoint[64];
    pid_t pid;
    long before_kib; /* when a tenth was sent */
    double start_s;
};

/* ---- the attacked process ---- */

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

static long resident_kib(pid_t pid)
{
    char path[64];
    long pages = 0;
    snprintf(path, sizeof path, "/proc/%ld/statm", (long)pid);
    FILE *in = fopen(path, "r");
    if (in && fscanf(in, "%*s %ld", &pages) != 1) pages = 0;
    if (in) fclose(in);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void note_sent(struct attack *t)
{
    t->sent++;
    if (t->sent == t->frames / 10) t->before_kib = resident_kib(t->pid);
}

/* Waits for its end. Whether it has ended with status 0. */
static bool ends_well(struct attack *t)
{
    int status = 0;
    double end = clock_s() + PATIENCE_S;
    pid_t ended = 0;
    while (ended == 0 && clock_s() < end) {
        ended = waitpid(t->pid, &status, WNOHANG);
        nap();
    }
    if (ended == 0) kill(t->pid, SIGKILL);
    if (ended == 0) fprintf(stderr, "hostile: it hangs\n");
    if (ended > 0 && status) fprintf(stderr, "hostile: it ended with wait status %d\n", status);
    return ended > 0 && status == 0;
}

/* After the last frame. */
static bool has_not_grown(const struct attack *t)
{
    long after = resident_kib(t->pid);
    printf("%" PRIu64 " frames in %.1f s; memory %ld KiB after a tenth, %ld KiB at the end\n", t->sent,
           clock_s() - t->start_s, t->before_kib, after);
    fflush(stdout);
    if (after - t->before_kib < MOST_GROWTH_KIB) return after > 0;
    fprintf(stderr, "hostile: it has grown by %ld KiB\n", after - t->before_kib);
    return false;
}

static void begin(struct attack *t)
{
    snprintf(t->folder, sizeof t->folder, "/tmp/hostile-XXXXXX");
    if (!mkdtemp(t->folder)) {
        perror("hostile");
        exit(1);
    }
    snprintf(t->endpoint, sizeof t->endpoint, "ipc://%s/socket", t->folder);
    t->start_s = clock_s();
}

static void end(struct attack *t)
{
    static const char *const names[] = {"scale.lift", "best.json", "best.cl",  "host.c", "s.db",
                                        "s.db-wal",   "log",       "s.db-shm", "socket"};
    char path[64];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", t->folder, names[i]);
        unlink(path);
    }
    rmdir(t->folder);
    hostile_free(t->hostile);
}

/* ---- the coordinator ---- */

static void log_path(const struct attack *t, char out[64])
{
    snprintf(out, 64, "%s/log", t->folder);
}

/* What the coordinator has said. */
static void print_log(const struct attack *t)
{
    char path[64], line[400];
    log_path(t, path);
    FILE *in = fopen(path, "r");
    while (in && fgets(line, sizeof line, in))
        fputs(line, stderr);
    if (in) fclose(in);
}

static int coordinator_main(struct attack *t)
{
    char program[64], store[64], log[64];
    snprintf(program, sizeof program, "%s/scale.lift", t->folder);
    snprintf(store, sizeof store, "%s/s.db", t->folder);
    log_path(t, log);
    FILE *out = fopen(program, "w");
    if (!out) return 1;
    fputs("size N\ninput x: [float]N\noutput map(fun v -> 2.0 * v, x)\n", out);
    fclose(out);
    char *argv[] = {"thresh",  "tune",       program,     "--size",  "N=4096", "--evaluations",
                    "300",     "--listen",   t->endpoint, "--store", store,    "--out",
                    t->folder, "--no-bound", "--quiet",   NULL};
    if (!freopen("/dev/null", "w", stdout) || !freopen(log, "w", stderr)) return 1;
    file_ignore_signals();
    return cli_main((int)(sizeof argv / sizeof argv[0]) - 1, argv);
}

static void greet_as_peer(void *socket)
{
    struct device dev = scale_device();
    struct message m = {.kind = MESSAGE_HELLO,
                        .hello = {.name = "hostile", .device = dev.name, .driver = "1", .capacity = 1}};
    size_t bytes;
    void *data = message_encode(&m, &bytes);
    zmq_send(socket, data, bytes, 0);
    free(data);
}

static void open_peers(struct attack *t, void *context, void *peers[PEERS])
{
    int linger = 0;
    for (int i = 0; i < PEERS; i++) {
        peers[i] = zmq_socket(context, ZMQ_DEALER);
        zmq_setsockopt(peers[i], ZMQ_LINGER, &linger, sizeof linger);
        zmq_connect(peers[i], t->endpoint);
        if (i % 2) greet_as_peer(peers[i]);
    }
}

/* What the coordinator answers is thrown away. */
static void drop_answers(void *socket)
{
    char data[16];
    while (zmq_recv(socket, data, sizeof data, ZMQ_DONTWAIT) >= 0)
        continue;
}

/* Every tenth message has more parts than a message has. */
static bool send_to_coordinator(struct attack *t, void *socket)
{
    const uint8_t *data;
    size_t n = hostile_frame(t->hostile, hostile_kind(t->hostile, RARITY), &data);
    bool parts = t->sent % 10 == 0;
    if (zmq_send(socket, data, n, ZMQ_DONTWAIT | (parts ? ZMQ_SNDMORE : 0)) < 0) return false;
    if (parts) zmq_send(socket, data, n < 100 ? n : 100, 0);
    note_sent(t);
    return true;
}

static void flood_coordinator(struct attack *t, struct crowd *honest)
{
    void *context = zmq_ctx_new(), *peers[PEERS];
    bool alive = true;
    open_peers(t, context, peers);
    while (t->sent < t->frames && alive) {
        void *socket = peers[t->sent / BATCH % PEERS];
        uint64_t from = t->sent;
        while (t->sent < from + BATCH && t->sent < t->frames && send_to_coordinator(t, socket))
            continue;
        if (t->sent == from) nap();
        drop_answers(socket);
        crowd_turn(honest);
        alive = waitpid(t->pid, NULL, WNOHANG) == 0;
    }
    for (int i = 0; i < PEERS; i++)
        zmq_close(peers[i]);
    zmq_ctx_term(context);
}

static bool attack_coordinator(struct attack *t)
{
    double limit = clock_s() + PATIENCE_S;
    t->pid = fork();
    if (t->pid == 0) exit(coordinator_main(t));
    struct crowd *honest = crowd_new(t->endpoint, 1, 1, 1000);
    if (!honest) return false;
    while (crowd_turn(honest) && crowd_jobs(honest) == 0 && clock_s() < limit) /* the first one to be known */
        nap();
    t->start_s = clock_s();
    flood_coordinator(t, honest);
    bool ok = has_not_grown(t);
    crowd_set_job_ms(honest, 0);
    for (limit = clock_s() + PATIENCE_S; crowd_turn(honest) && clock_s() < limit;)
        nap();
    if (crowd_turn(honest)) fprintf(stderr, "hostile: the search has not ended\n");
    ok = ends_well(t) && ok;
    if (!ok) print_log(t);
    crowd_free(honest);
    return ok;
}

/* ---- the agent ---- */

static int agent_main(struct attack *t)
{
    struct diag *d = diag_new();
    void *context = zmq_ctx_new();
    const struct serve_options o = {
        .context = context, .endpoint = t->endpoint, .device = scale_device(), .stop_fd = -1};
    bool ok = agent_serve(&o, d);
    diag_print(d, stderr);
    diag_free(d);
    zmq_ctx_term(context);
    return !ok;
}

/* The coordinator's side: its socket, and the agent as it was last heard of. */
struct bench {
    void *context, *socket;
    char identity[256];
    size_t n_identity; /* 0: not heard of since its connection ended */
    uint64_t hellos;
};

static bool send_frame(struct bench *b, const void *data, size_t n)
{
    if (zmq_send(b->socket, b->identity, b->n_identity, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0) {
        if (zmq_errno() == EHOSTUNREACH) b->n_identity = 0;
        return false;
    }
    return zmq_send(b->socket, data, n, ZMQ_DONTWAIT) >= 0;
}

static bool send_message(struct bench *b, const struct message *m)
{
    size_t bytes;
    void *data = message_encode(m, &bytes);
    bool ok = send_frame(b, data, bytes);
    free(data);
    return ok;
}

/* Takes what the agent says, and answers as a coordinator does. */
static void hear_agent(struct bench *b)
{
    uint8_t data[4096];
    enum message_kind kind;
    for (int n; (n = zmq_recv(b->socket, b->identity, sizeof b->identity, ZMQ_DONTWAIT)) > 0;) {
        b->n_identity = (size_t)n;
        n = zmq_recv(b->socket, data, sizeof data, 0);
        if (n <= 0 || (size_t)n > sizeof data || !hostile_is_valid(data, (size_t)n, &kind)) continue;
        b->hellos += kind == MESSAGE_HELLO;
        if (kind == MESSAGE_HELLO)
            send_message(b, &(struct message){.kind = MESSAGE_WELCOME, .welcome = {100}});
        if (kind == MESSAGE_HEARTBEAT) send_message(b, &(struct message){.kind = MESSAGE_HEARTBEAT});
    }
}

static bool is_left_out(const uint8_t *data, size_t n)
{
    enum message_kind kind;
    return hostile_is_valid(data, n, &kind) &&
           (kind == MESSAGE_BYE || kind == MESSAGE_PROGRAM || kind == MESSAGE_WELCOME);
}

static void flood_agent(struct attack *t, struct bench *b)
{
    while (t->sent < t->frames && waitpid(t->pid, NULL, WNOHANG) == 0) {
        hear_agent(b);
        uint64_t until = t->sent + BATCH;
        bool sends = b->n_identity > 0;
        while (sends && t->sent < until && t->sent < t->frames) {
            const uint8_t *data;
            size_t n = hostile_frame(t->hostile, hostile_kind(t->hostile, 0), &data);
            if (is_left_out(data, n)) continue;
            sends = send_frame(b, data, n);
            if (sends) note_sent(t);
        }
        if (!sends) nap();
    }
}

/* Asks it who it is until it has said so, then lets it go. */
static bool agent_answers(struct bench *b)
{
    uint64_t before = b->hellos;
    double limit = clock_s() + PATIENCE_S;
    while (b->hellos == before && clock_s() < limit) {
        if (b->n_identity) send_message(b, &(struct message){.kind = MESSAGE_WHO, .who = {"who is it"}});
        for (int i = 0; i < 500 && b->hellos == before; i++, nap())
            hear_agent(b);
    }
    if (b->hellos == before) fprintf(stderr, "hostile: it does not answer\n");
    return b->hellos > before && send_message(b, &(struct message){.kind = MESSAGE_BYE});
}

static bool attack_agent(struct attack *t)
{
    struct bench b = {0};
    int one = 1, linger = 500;
    t->pid = fork();
    if (t->pid == 0) exit(agent_main(t));
    b.context = zmq_ctx_new();
    b.socket = zmq_socket(b.context, ZMQ_ROUTER);
    zmq_setsockopt(b.socket, ZMQ_ROUTER_MANDATORY, &one, sizeof one);
    zmq_setsockopt(b.socket, ZMQ_LINGER, &linger, sizeof linger);
    if (zmq_bind(b.socket, t->endpoint) != 0) return false;
    flood_agent(t, &b);
    bool ok = has_not_grown(t);
    ok = agent_answers(&b) && ok;
    ok = ends_well(t) && ok;
    zmq_close(b.socket);
    zmq_ctx_term(b.context);
    return ok;
}

int main(int argc, char **argv)
{
    bool coordinator = argc >= 3 && strcmp(argv[1], "coordinator") == 0;
    bool agent = argc >= 3 && strcmp(argv[1], "agent") == 0;
    struct attack t = {0};
    if (coordinator || agent) t.frames = strtoull(argv[2], NULL, 10);
    if (t.frames == 0 || argc > 4) {
        fputs("usage: hostile coordinator|agent FRAMES [SEED]\n", stderr);
        return 2;
    }
    t.hostile = hostile_new(argc == 4 ? strtoull(argv[3], NULL, 10) : 1);
    begin(&t);
    bool ok = coordinator ? attack_coordinator(&t) : attack_agent(&t);
    end(&t);
    printf("%s: %s\n", argv[1], ok ? "no crash, no hang, no growth" : "FAILED");
    return !ok;
}
