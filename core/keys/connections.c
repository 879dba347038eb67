/* Connections of a socket by the events of its monitor; see connections.h. */
#include "core/keys/connections.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <uthash.h>
#include <zmq.h>

#include "core/base/arena.h"

enum { ADDRESS = INET6_ADDRSTRLEN + 10, LINE = 400, EXPECT_MS = 200 };

/* A key that has connections. */
struct user {
    char key[KEYS_TEXT];
    unsigned n;
    UT_hash_handle hh;
};

struct connection {
    int fd;
    char address[ADDRESS];
    bool taken;        /* the handshake succeeded */
    struct user *user; /* NULL: not taken, or a socket without keys */
    UT_hash_handle hh;
};

struct connections {
    bool keys;
    void (*log)(void *ctx, const char *line);
    void *ctx;
    struct connection *set; /* by descriptor */
    struct user *users;     /* by key */
    char expected[KEYS_TEXT];
    int64_t expected_until;
    char reason[LINE];    /* why the connection failed that ends next; "": not known */
    uint64_t said;        /* refusals of ZAP that were logged, whose connections have not ended */
    int64_t window_start; /* ms */
    unsigned lines;       /* in this window */
    uint64_t left_out;
};

struct connections *connections_new(bool keys, void (*log)(void *ctx, const char *line), void *ctx)
{
    struct connections *c = base_calloc(1, sizeof *c);
    c->keys = keys;
    c->log = log;
    c->ctx = ctx;
    return c;
}

/* ---- the log ---- */

void connections_tick(struct connections *c, int64_t now_ms)
{
    char line[LINE];
    if (now_ms - c->window_start < KEYS_WINDOW_MS) return;
    if (c->left_out && c->log) {
        snprintf(line, sizeof line, "%llu more connections were refused in %d s",
                 (unsigned long long)c->left_out, KEYS_WINDOW_MS / 1000);
        c->log(c->ctx, line);
    }
    c->window_start = now_ms;
    c->lines = 0;
    c->left_out = 0;
}

void connections_log(struct connections *c, const char *line, int64_t now_ms)
{
    connections_tick(c, now_ms);
    if (++c->lines > KEYS_LINES)
        c->left_out++;
    else if (c->log)
        c->log(c->ctx, line);
}

void connections_refused(struct connections *c, const char *line, int64_t now_ms)
{
    c->said++;
    connections_log(c, line, now_ms);
}

/* ---- the table ---- */

static void address_of(int fd, char out[ADDRESS])
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } name = {.any = {.sa_family = AF_UNSPEC}};
    char text[INET6_ADDRSTRLEN] = "";
    socklen_t n = sizeof name;
    snprintf(out, ADDRESS, "a connection");
    if (getpeername(fd, &name.any, &n) != 0) return;
    if (name.any.sa_family == AF_INET && inet_ntop(AF_INET, &name.v4.sin_addr, text, sizeof text))
        snprintf(out, ADDRESS, "%s:%u", text, ntohs(name.v4.sin_port));
    if (name.any.sa_family == AF_INET6 && inet_ntop(AF_INET6, &name.v6.sin6_addr, text, sizeof text))
        snprintf(out, ADDRESS, "[%s]:%u", text, ntohs(name.v6.sin6_port));
}

static struct connection *find(const struct connections *c, int fd)
{
    struct connection *found;
    HASH_FIND_INT(c->set, &fd, found);
    return found;
}

static void release_user(struct connections *c, struct user *u)
{
    if (!u || --u->n > 0) return;
    HASH_DEL(c->users, u);
    free(u);
}

static void drop(struct connections *c, struct connection *at)
{
    release_user(c, at->user);
    HASH_DEL(c->set, at);
    free(at);
}

void connections_free(struct connections *c)
{
    struct connection *at, *next;
    if (!c) return;
    HASH_ITER(hh, c->set, at, next)
    {
        drop(c, at);
    }
    free(c);
}

static void accepted(struct connections *c, int fd)
{
    struct connection *at = find(c, fd);
    if (at) drop(c, at);
    at = base_calloc(1, sizeof *at);
    at->fd = fd;
    address_of(fd, at->address);
    HASH_ADD_INT(c->set, fd, at);
}

unsigned connections_of(const struct connections *c, const char key[KEYS_TEXT])
{
    struct user *u;
    HASH_FIND_STR(c->users, key, u);
    return u ? u->n : 0;
}

void connections_expect(struct connections *c, const char key[KEYS_TEXT], int64_t now_ms)
{
    memcpy(c->expected, key, KEYS_TEXT);
    c->expected_until = now_ms + EXPECT_MS;
}

bool connections_expecting(struct connections *c, int64_t now_ms)
{
    if (c->expected[0] && now_ms >= c->expected_until) c->expected[0] = 0;
    return c->expected[0] != 0;
}

static struct user *use_key(struct connections *c, const char *key)
{
    struct user *u;
    HASH_FIND_STR(c->users, key, u);
    if (!u) {
        u = base_calloc(1, sizeof *u);
        memcpy(u->key, key, KEYS_TEXT);
        HASH_ADD_STR(c->users, key, u);
    }
    u->n++;
    return u;
}

static void succeeded(struct connections *c, int fd)
{
    struct connection *at = find(c, fd);
    if (!at || at->taken) return;
    at->taken = true;
    if (!c->expected[0]) return;
    at->user = use_key(c, c->expected);
    c->expected[0] = 0;
}

/* ---- failures ---- */

static const char *protocol_reason(bool keys, uint32_t value)
{
    if (value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH)
        return keys ? "it has no key, and this coordinator admits only agents with keys (thresh agent --key)"
                    : "it uses a key, and this coordinator has none (thresh agent without --key, or --keys "
                      "DIR here)";
    if (value == ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC)
        return "what it sent is not encrypted for this coordinator: it has the public key of another one, or "
               "repeats an earlier connection";
    return "it does not speak the protocol of ZeroMQ";
}

static void failed(struct connections *c, uint16_t event, uint32_t value)
{
    if (event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL)
        snprintf(c->reason, sizeof c->reason, "%s", protocol_reason(c->keys, value));
    else if (!c->reason[0] && value)
        snprintf(c->reason, sizeof c->reason, "it ended during the handshake (%s)", zmq_strerror((int)value));
}

static void disconnected(struct connections *c, int fd, int64_t now_ms)
{
    char line[LINE + ADDRESS + 20];
    struct connection *at = find(c, fd);
    bool known = c->reason[0] && strncmp(c->reason, "it ended", 8) != 0;
    if (at && !at->taken && (known || !c->said)) {
        snprintf(line, sizeof line, "refused %s: %s", at->address,
                 c->reason[0] ? c->reason : "it ended during the handshake");
        connections_log(c, line, now_ms);
    } else if (at && !at->taken) {
        c->said--;
    }
    c->reason[0] = 0;
    if (at) drop(c, at);
}

void connections_event(struct connections *c, uint16_t event, uint32_t value, int64_t now_ms)
{
    char line[LINE];
    switch (event) {
    case ZMQ_EVENT_ACCEPTED:
        accepted(c, (int)value);
        break;
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
        succeeded(c, (int)value);
        break;
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
        failed(c, event, value);
        break;
    case ZMQ_EVENT_DISCONNECTED:
    case ZMQ_EVENT_CLOSED:
        disconnected(c, (int)value, now_ms);
        break;
    case ZMQ_EVENT_ACCEPT_FAILED:
        snprintf(line, sizeof line, "a connection cannot be accepted: %s", zmq_strerror((int)value));
        connections_log(c, line, now_ms);
        break;
    default:
        break;
    }
}
