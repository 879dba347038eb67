/* Connections over TCP: who is admitted, who is refused and with which words at both ends, what is logged.
 * After each attack an honest agent is served. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/pcg32.h"
#include "core/keys/certificate.h"
#include "core/keys/keys.h"
#include "tests/keys/fixture.h"
#include "tests/fixture/longer.h"

static const char honest[] = "keys/agents/agent.key_secret";

/* An honest agent connects and sends a message that arrives with its key and its name. */
static void keys_expect_service(struct keys_test *f)
{
    struct keys_test_agent a;
    struct keys_certificate own;
    struct diag *d = diag_new();
    char text[16], key[KEYS_TEXT];
    cr_assert(keys_test_connect(f, honest, NULL, &a));
    cr_assert_eq(zmq_send(a.socket, "hello", 5, 0), 5);
    cr_expect(keys_test_receive(f, text, sizeof text, key));
    cr_expect_str_eq(text, "hello");
    cr_assert(keys_certificate_read(keys_test_path(f, "keys/agents/agent.key"), &own, d));
    cr_expect_str_eq(key, own.key);
    keys_test_leave(&a);
    diag_free(d);
}

/* Makes the keys of another coordinator; returns its agent's file. With `server` the file states the key of
 * this coordinator, so that only the agent's own key is unknown. */
static const char *keys_stranger(const struct keys_test *f, bool server)
{
    struct diag *d = diag_new();
    struct keys_certificate own;
    const char *names[] = {"stranger"};
    char command[400];
    cr_assert(keys_new(keys_test_path(f, "other"), names, 1, d));
    cr_assert(keys_certificate_read(keys_test_path(f, "keys/server.key"), &own, d));
    FILE *out = server ? fopen(keys_test_path(f, "line"), "w") : NULL;
    if (out) fprintf(out, "    server = \"%s\"\n", own.key), fclose(out);
    snprintf(command, sizeof command,
             "sed -i -e '/server = /{r %s/line' -e 'd}' %s/other/agents/stranger.key_secret", f->folder,
             f->folder);
    if (server) cr_assert_eq(system(command), 0);
    diag_free(d);
    return "other/agents/stranger.key_secret";
}

Test(keys_connect, an_unknown_key_is_admitted_when_it_is_copied_and_refused_when_it_is_removed,
     .timeout = 120)
{
    struct keys_test f;
    struct keys_test_agent a;
    char text[16], key[KEYS_TEXT];
    keys_test_open(&f, KEYS_TEST_KEYS, 0);
    const char *stranger = keys_stranger(&f, true);
    cr_expect_not(keys_test_connect(&f, stranger, "does not admit the key of", NULL));
    cr_expect(keys_test_logged(&f, "is not admitted"));
    keys_expect_service(&f);
    char to[160];
    snprintf(to, sizeof to, "%s", keys_test_path(&f, "keys/agents/late.key"));
    cr_assert_eq(rename(keys_test_path(&f, "other/agents/stranger.key"), to), 0);
    cr_assert(keys_test_connect(&f, stranger, NULL, &a), "the key was not noticed");
    cr_assert_eq(unlink(to), 0);
    cr_expect_not(keys_test_connect(&f, stranger, "does not admit", NULL), "the removal was not noticed");
    cr_assert_eq(zmq_send(a.socket, "still", 5, 0), 5);
    cr_expect(keys_test_receive(&f, text, sizeof text, key), "a connection was cut");
    keys_test_leave(&a);
    keys_expect_service(&f);
    keys_test_close(&f);
}

Test(keys_connect, another_coordinators_key_and_no_key_are_refused, .timeout = 120)
{
    struct keys_test f;
    keys_test_open(&f, KEYS_TEST_KEYS, 0);
    cr_expect_not(keys_test_connect(&f, keys_stranger(&f, false), "is for another coordinator", NULL));
    cr_expect(keys_test_logged(&f, "not encrypted for this coordinator"));
    cr_expect_not(keys_test_connect(&f, NULL, "--key FILE", NULL));
    cr_expect(keys_test_logged(&f, "it has no key"));
    keys_expect_service(&f);
    keys_test_close(&f);
}

Test(keys_connect, a_key_on_a_plain_socket_is_refused, .timeout = 120)
{
    struct keys_test f;
    struct keys_test_agent a;
    keys_test_open(&f, KEYS_TEST_PLAIN, 0);
    cr_expect_not(keys_test_connect(&f, honest, "", NULL));
    /* Both ends find the mechanisms different. If the agent leaves first, the reason is less exact. */
    cr_expect(keys_test_logged(&f, "it uses a key"));
    cr_assert(keys_test_connect(&f, NULL, NULL, &a));
    keys_test_leave(&a);
    keys_test_close(&f);
}

Test(keys_connect, nobody_listens)
{
    struct keys_test f = {.endpoint = "tcp://127.0.0.1:1"};
    struct diag *d = diag_new();
    void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_DEALER);
    cr_expect_not(keys_agent_connect(context, socket, f.endpoint, NULL, 300, -1, d));
    cr_expect(strstr(diag_message(d, 0), "no coordinator took this agent"), "%s", diag_message(d, 0));
    int linger = 0;
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
    zmq_close(socket);
    zmq_ctx_term(context);
    diag_free(d);
}

Test(keys_connect, a_key_has_a_limit_of_connections, .timeout = 120)
{
    struct keys_test f;
    struct keys_test_agent a, b;
    keys_test_open(&f, KEYS_TEST_KEYS, 2);
    cr_assert(keys_test_connect(&f, honest, NULL, &a));
    cr_assert(keys_test_connect(&f, honest, NULL, &b));
    cr_expect_not(keys_test_connect(&f, honest, "as many of its connections", NULL));
    cr_expect(keys_test_logged(&f, "its key has 2 connections"));
    keys_test_leave(&a);
    unsigned tries = 0;
    while (!keys_test_connect(&f, honest, "as many of its connections", NULL))
        cr_assert_lt(++tries, 1000, "the place of an agent that left is not free");
    keys_test_leave(&b);
    keys_test_close(&f);
}

/* ---- a replayed connection ---- */

/* Between an agent and the coordinator: passes bytes on, and records what the agent sends. */
struct keys_recorder {
    int listener;
    unsigned port, to;
    unsigned char bytes[1 << 16];
    size_t n;
    pthread_t thread;
};

static bool keys_pass(int from, int to, struct keys_recorder *r)
{
    unsigned char bytes[4096];
    ssize_t n = read(from, bytes, sizeof bytes);
    if (n <= 0) return false;
    if (r && r->n + (size_t)n <= sizeof r->bytes) {
        memcpy(r->bytes + r->n, bytes, (size_t)n);
        r->n += (size_t)n;
    }
    return write(to, bytes, (size_t)n) == n;
}

static void *keys_record(void *arg)
{
    struct keys_recorder *r = arg;
    int agent = accept(r->listener, NULL, NULL), server = keys_test_dial(r->to);
    struct pollfd fds[] = {{.fd = agent, .events = POLLIN}, {.fd = server, .events = POLLIN}};
    bool open = true;
    while (open && poll(fds, 2, -1) > 0) {
        if (fds[0].revents) open = keys_pass(agent, server, r);
        if (open && fds[1].revents) open = keys_pass(server, agent, NULL);
    }
    close(agent);
    close(server);
    return NULL;
}

static void keys_recorder_start(struct keys_recorder *r, unsigned to)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t n = sizeof any;
    *r = (struct keys_recorder){.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .to = to};
    cr_assert_eq(bind(r->listener, (struct sockaddr *)&any, sizeof any), 0);
    cr_assert_eq(listen(r->listener, 1), 0);
    cr_assert_eq(getsockname(r->listener, (struct sockaddr *)&any, &n), 0);
    r->port = ntohs(any.sin_port);
    cr_assert_eq(pthread_create(&r->thread, NULL, keys_record, r), 0);
}

/* Sends what was recorded: greeting and HELLO, then, when the coordinator has answered, the rest. */
static void keys_replay(int fd, const struct keys_recorder *r)
{
    enum { GREETING = 64, HELLO = 202, WELCOME = 170 };
    unsigned char answer[GREETING + WELCOME];
    cr_expect_eq(write(fd, r->bytes, GREETING + HELLO), GREETING + HELLO);
    cr_expect_eq(recv(fd, answer, sizeof answer, MSG_WAITALL), (ssize_t)sizeof answer);
    cr_expect_eq(write(fd, r->bytes + GREETING + HELLO, r->n - GREETING - HELLO),
                 (ssize_t)(r->n - GREETING - HELLO));
}

/* All that an honest agent sent, greeting, keys and message, is sent again: at once, and in turn. */
Test(keys_connect, a_replayed_connection_is_refused_and_delivers_nothing, .timeout = 120)
{
    static struct keys_recorder r;
    struct keys_test f, through;
    struct keys_test_agent a;
    char text[16], key[KEYS_TEXT];
    keys_test_open(&f, KEYS_TEST_KEYS, 0);
    keys_recorder_start(&r, f.port);
    through = f;
    snprintf(through.endpoint, sizeof through.endpoint, "tcp://127.0.0.1:%u", r.port);
    cr_assert(keys_test_connect(&through, honest, NULL, &a));
    cr_assert_eq(zmq_send(a.socket, "once", 4, 0), 4);
    cr_assert(keys_test_receive(&f, text, sizeof text, key));
    cr_expect_str_eq(text, "once");
    keys_test_leave(&a);
    pthread_join(r.thread, NULL);
    close(r.listener);
    cr_assert_gt(r.n, 500, "%zu bytes recorded", r.n);
    int fd = keys_test_dial(f.port);
    cr_expect_eq(write(fd, r.bytes, r.n), (ssize_t)r.n);
    cr_expect(keys_test_logged(&f, "does not follow the protocol"));
    close(fd);
    fd = keys_test_dial(f.port);
    keys_replay(fd, &r);
    cr_expect(keys_test_logged(&f, "repeats an earlier connection"));
    close(fd);
    keys_expect_service(&f); /* the next message is that of the honest agent */
    keys_test_close(&f);
}

/* ---- bytes that are no protocol ---- */

static unsigned keys_open_files(void)
{
    unsigned n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* Half of the connections begin with the greeting of ZMTP 3.0, with or without CURVE, so that what follows is
 * read as frames. */
static void keys_send_garbage(const struct keys_test *f, struct pcg32 *rng)
{
    unsigned char bytes[600] = {0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 0};
    size_t from = 0, n = pcg32_below(rng, sizeof bytes);
    if (pcg32_below(rng, 2)) {
        strcpy((char *)bytes + 12, pcg32_below(rng, 2) ? "CURVE" : "NULL");
        from = 64;
        if (n < from) n = from;
    }
    for (size_t i = from; i < n; i++)
        bytes[i] = (unsigned char)pcg32_next(rng);
    int fd = keys_test_dial(f->port);
    (void)!send(fd, bytes, n, MSG_NOSIGNAL);
    close(fd);
}

static void keys_survive_garbage(enum keys_test_kind kind)
{
    unsigned n = longer(1000, 100000);
    struct keys_test f;
    struct pcg32 rng = pcg32_seed(21, kind);
    struct keys_test_agent a;
    keys_test_open(&f, kind, 0);
    unsigned before = keys_open_files();
    int wait = 0;
    zmq_setsockopt(f.router, ZMQ_RCVTIMEO, &wait, sizeof wait);
    for (unsigned i = 0; i < n; i++) {
        char ignored[64];
        keys_send_garbage(&f, &rng);
        while (zmq_recv(f.router, ignored, sizeof ignored, 0) >=
               0) /* a plain socket takes what looks like frames */
            cr_expect_eq(kind, KEYS_TEST_PLAIN, "something was delivered without a key");
    }
    cr_expect(keys_test_logged(&f, "refused "));
    if (kind == KEYS_TEST_KEYS) keys_expect_service(&f);
    cr_assert(keys_test_connect(&f, kind == KEYS_TEST_KEYS ? honest : NULL, NULL, &a));
    keys_test_leave(&a);
    unsigned tries = 0;
    while (keys_open_files() > before + 2) /* until the last ones are closed */
        cr_assert_lt(++tries, 20000000u, "%u descriptors, %u before", keys_open_files(), before);
    keys_test_close(&f);
}

Test(keys_connect, garbage_on_a_socket_with_keys, .timeout = 3600)
{
    keys_survive_garbage(KEYS_TEST_KEYS);
}

Test(keys_connect, garbage_on_a_plain_socket, .timeout = 3600)
{
    keys_survive_garbage(KEYS_TEST_PLAIN);
}
