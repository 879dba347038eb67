/* See fixture.h. */
#include "tests/keys/fixture.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/codec/message.h"
#include "core/keys/keys.h"

static void keys_test_log(void *ctx, const char *line)
{
    struct keys_test *f = ctx;
    pthread_mutex_lock(&f->lock);
    strbuf_printf(&f->log, "%s\n", line);
    pthread_cond_broadcast(&f->grown);
    pthread_mutex_unlock(&f->lock);
}

const char *keys_test_path(const struct keys_test *f, const char *file)
{
    static char paths[4][160];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", f->folder, file);
    return path;
}

void keys_test_open(struct keys_test *f, enum keys_test_kind kind, unsigned most_of_key)
{
    struct diag *d = diag_new();
    size_t room = sizeof f->endpoint;
    int linger = 0;
    *f = (struct keys_test){.folder = "/tmp/thresh-keys-XXXXXX",
                            .lock = PTHREAD_MUTEX_INITIALIZER,
                            .grown = PTHREAD_COND_INITIALIZER,
                            .context = zmq_ctx_new()};
    cr_assert_not_null(mkdtemp(f->folder));
    const char *names[] = {"agent"}, *folder = keys_test_path(f, "keys");
    cr_assert(keys_new(folder, names, 1, d), "%s", diag_message(d, 0));
    const struct keys_server_options o = {.folder = kind == KEYS_TEST_KEYS ? folder : NULL,
                                          .most_of_key = most_of_key,
                                          .report = keys_test_log,
                                          .ctx = f};
    f->router = zmq_socket(f->context, ZMQ_ROUTER);
    int64_t most = MESSAGE_MAX_BYTES;
    zmq_setsockopt(f->router, ZMQ_LINGER, &linger, sizeof linger);
    zmq_setsockopt(f->router, ZMQ_MAXMSGSIZE, &most, sizeof most);
    f->server = keys_server_open(f->context, &o, d);
    cr_assert_not_null(f->server, "%s", diag_message(d, 0));
    cr_assert(keys_server_apply(f->server, f->router, d));
    cr_assert_eq(zmq_bind(f->router, "tcp://127.0.0.1:*"), 0);
    cr_assert_eq(zmq_getsockopt(f->router, ZMQ_LAST_ENDPOINT, f->endpoint, &room), 0);
    cr_assert_eq(sscanf(f->endpoint, "tcp://127.0.0.1:%u", &f->port), 1);
    diag_free(d);
}

void keys_test_close(struct keys_test *f)
{
    char command[64];
    zmq_close(f->router);
    keys_server_free(f->server);
    zmq_ctx_term(f->context);
    strbuf_free(&f->log);
    snprintf(command, sizeof command, "rm -r %s", f->folder);
    cr_expect_eq(system(command), 0);
}

bool keys_test_connect(const struct keys_test *f, const char *file, const char *why,
                       struct keys_test_agent *a)
{
    struct diag *d = diag_new();
    struct keys_test_agent own = {.context = zmq_ctx_new()};
    int linger = 0;
    struct keys_agent *key = file ? keys_agent_read(keys_test_path(f, file), d) : NULL;
    cr_assert(key || !file, "%s", diag_message(d, 0));
    own.socket = zmq_socket(own.context, ZMQ_DEALER);
    zmq_setsockopt(own.socket, ZMQ_LINGER, &linger, sizeof linger);
    bool ok = keys_agent_connect(own.context, own.socket, f->endpoint, key, 20000, -1, d);
    if (!ok) cr_expect(why && strstr(diag_message(d, 0), why), "refused: %s", diag_message(d, 0));
    if (ok && a)
        *a = own;
    else
        keys_test_leave(&own);
    keys_agent_free(key);
    diag_free(d);
    return ok;
}

void keys_test_leave(struct keys_test_agent *a)
{
    zmq_close(a->socket);
    zmq_ctx_term(a->context);
}

bool keys_test_logged(struct keys_test *f, const char *text)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    pthread_mutex_lock(&f->lock);
    bool found, timed_out = false;
    while (!(found = f->log.text && strstr(f->log.text, text)) && !timed_out)
        timed_out = pthread_cond_timedwait(&f->grown, &f->lock, &until) == ETIMEDOUT;
    if (!found) fprintf(stderr, "logged: %s", f->log.text ? f->log.text : "nothing");
    pthread_mutex_unlock(&f->lock);
    return found;
}

bool keys_test_receive(struct keys_test *f, char *text, size_t n, char key[KEYS_TEXT])
{
    int wait = 20000;
    zmq_msg_t frame;
    zmq_setsockopt(f->router, ZMQ_RCVTIMEO, &wait, sizeof wait);
    for (bool more = true; more;) {
        zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, f->router, 0) < 0) return false;
        more = zmq_msg_more(&frame);
        if (more) zmq_msg_close(&frame);
    }
    const char *user = zmq_msg_gets(&frame, "User-Id");
    snprintf(text, n, "%.*s", (int)zmq_msg_size(&frame), (const char *)zmq_msg_data(&frame));
    snprintf(key, KEYS_TEXT, "%s", user ? user : "");
    zmq_msg_close(&frame);
    return user && strlen(user) == KEYS_TEXT - 1;
}

int keys_test_dial(unsigned port)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_geq(fd, 0);
    cr_assert_eq(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}
