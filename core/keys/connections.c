/* Connections of a socket by the events of its monitor; see connections.h. */
#include "core/keys/connections.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <uthash.h>
#include <zmq.h>

#include "core/base/arena.h"

enum { ADDRESS = INET6_ADDRSTRLEN + 10, LINE = 400 };

/* A key that has connections. */
struct user {
    char key[KEYS_TEXT];
    unsigned n;
    UT_hash_handle hh;
};

struct connection {
    int fd;
    char host[INET6_ADDRSTRLEN], address[ADDRESS]; /* the latter with the port */
    bool taken;                                    /* the handshake succeeded */
    struct user *user;                             /* NULL: not taken, or a socket without keys */
    UT_hash_handle hh;
};

struct connections {
    bool keys;
    void (*log)(void *ctx, const char *line);
    void *ctx;
    struct connection *set; /* by descriptor */
    struct user *users;     /* by key */
    char expected[KEYS_TEXT], expected_host[INET6_ADDRSTRLEN];
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

static void read_address(struct connection *at)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } name = {.any = {.sa_family = AF_UNSPEC}};
    socklen_t n = sizeof name;
    snprintf(at->address, ADDRESS, "a connection");
    if (getpeername(at->fd, &name.any, &n) != 0) return;
    if (name.any.sa_family == AF_INET && inet_ntop(AF_INET, &name.v4.sin_addr, at->host, sizeof at->host))
        snprintf(at->address, ADDRESS, "%s:%u", at->host, ntohs(name.v4.sin_port));
    if (name.any.sa_family == AF_INET6 && inet_ntop(AF_INET6, &name.v6.sin6_addr, at->host, sizeof at->host))
        snprintf(at->address, ADDRESS, "[%s]:%u", at->host, ntohs(name.v6.sin6_port));
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
    read_address(at);
    HASH_ADD_INT(c->set, fd, at);
}

unsigned connections_of(const struct connections *c, const char key[KEYS_TEXT])
{
    struct user *u;
    HASH_FIND_STR(c->users, key, u);
    return u ? u->n : 0;
}

void connections_expect(struct connections *c, const char key[KEYS_TEXT], const char *host, int64_t now_ms)
{
    memcpy(c->expected, key, KEYS_TEXT);
    snprintf(c->expected_host, sizeof c->expected_host, "%s", host);
    c->expected_until = now_ms + KEYS_EXPECTED_MS;
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

/* Bytes that arrived through a connection. */
static uint64_t received(int fd)
{
    struct tcp_info info = {.tcpi_state = 0};
    socklen_t n = sizeof info;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) == 0 ? info.tcpi_bytes_received : 0;
}

/* The connection whose handshake has just succeeded. The event does not say which: of those that are not
 * taken, from the expected host where there is one, it is the one that has sent most. */
static struct connection *find_successful(const struct connections *c)
{
    struct connection *best = NULL;
    uint64_t most = 0;
    for (struct connection *at = c->set; at; at = at->hh.next) {
        if (at->taken || (c->expected[0] && strcmp(at->host, c->expected_host) != 0)) continue;
        uint64_t n = received(at->fd);
        if (best && n <= most) continue;
        best = at;
        most = n;
    }
    return best;
}

static void succeeded(struct connections *c)
{
    struct connection *at = find_successful(c);
    if (at) {
        at->taken = true;
        if (c->expected[0]) at->user = use_key(c, c->expected);
    }
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
    return "it does not follow the protocol of ZeroMQ";
}

static void failed(struct connections *c, uint32_t value)
{
    snprintf(c->reason, sizeof c->reason, "%s", protocol_reason(c->keys, value));
}

/* Where no reason is known. */
static const char *ended_reason(bool keys)
{
    return keys ? "it ended the handshake, or was silent: it has no key, or is no agent"
                : "it ended the handshake, or was silent: it uses a key, or is no agent";
}

static void disconnected(struct connections *c, int fd, int64_t now_ms)
{
    char line[LINE + ADDRESS + 20];
    struct connection *at = find(c, fd);
    if (at && !at->taken && (c->reason[0] || !c->said)) {
        snprintf(line, sizeof line, "refused %s: %s", at->address,
                 c->reason[0] ? c->reason : ended_reason(c->keys));
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
        succeeded(c);
        break;
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
        failed(c, value);
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
