/* The coordinator's socket: which addresses are allowed, who may connect; see endpoint.h.
 *
 * Beyond loopback nothing is bound without keys: whoever reaches the port could send results, and read the
 * program. */
#include "coordinator/endpoint.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <zmq.h>

#include "coordinator/limits.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/codec/message.h"
#include "core/keys/server.h"

enum { ADDRESS_MAX = 512 };
static const char tcp[] = "tcp://", ipc[] = "ipc://", inproc[] = "inproc://";

struct endpoint {
    void *socket;
    struct keys_server *keys; /* NULL: not a tcp:// endpoint */
    char address[ADDRESS_MAX];
};

static bool starts_with(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* ---- addresses ---- */

bool endpoint_check_port(const char *address, struct diag *d)
{
    const char *colon = strrchr(address, ':');
    char *end;
    if (!starts_with(address, tcp) || strcmp(colon, ":*") == 0) return true;
    if (colon < address + strlen(tcp)) {
        diag_plain(d, "%s: the port is missing; write %s:PORT", address, address);
        return false;
    }
    unsigned long port = strtoul(colon + 1, &end, 10);
    bool valid = colon[1] >= '0' && colon[1] <= '9' && !*end && port > 0 && port <= UINT16_MAX;
    if (!valid) diag_plain(d, "%s: '%s' is not a port number (1 to %d)", address, colon + 1, UINT16_MAX);
    return valid;
}

/* A loopback address is written in one way, so that any name of it is recognized. */
static void write_address(const struct addrinfo *list, char *out, size_t n)
{
    bool loopback = list != NULL;
    for (const struct addrinfo *a = list; a; a = a->ai_next) {
        const struct sockaddr_in *v4 = (const void *)a->ai_addr;
        const struct sockaddr_in6 *v6 = (const void *)a->ai_addr;
        if (a->ai_family == AF_INET)
            loopback = loopback && ntohl(v4->sin_addr.s_addr) >> 24 == 127;
        else
            loopback = loopback && a->ai_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
    }
    out[0] = 0;
    if (loopback) snprintf(out, n, "127.0.0.1");
    for (const struct addrinfo *a = list; a && !out[0]; a = a->ai_next)
        if (a->ai_family == AF_INET &&
            getnameinfo(a->ai_addr, a->ai_addrlen, out, (socklen_t)n, NULL, 0, NI_NUMERICHOST) != 0)
            out[0] = 0;
}

/* Copies the address into n bytes with the host's name replaced, since ZeroMQ binds to addresses and
 * interfaces only: tcp://localhost:7000 becomes tcp://127.0.0.1:7000. Names that are not known, such as those
 * of interfaces, stay. */
static void resolve(const char *address, char *out, size_t n)
{
    char host[ADDRESS_MAX], number[INET_ADDRSTRLEN] = "";
    struct addrinfo *list = NULL;
    const char *from = address + strlen(tcp), *colon = strrchr(address, ':');
    snprintf(out, n, "%s", address);
    if (!starts_with(address, tcp) || colon <= from || *from == '[' || *from == '*') return;
    snprintf(host, sizeof host, "%.*s", (int)(colon - from), from);
    if (strspn(host, "0123456789.") == strlen(host)) return;
    if (getaddrinfo(host, NULL, &(struct addrinfo){.ai_socktype = SOCK_STREAM}, &list)) return;
    write_address(list, number, sizeof number);
    freeaddrinfo(list);
    if (number[0]) snprintf(out, n, "%s%s%s", tcp, number, colon);
}

static bool is_loopback(const char *address)
{
    return starts_with(address, "tcp://127.") || starts_with(address, "tcp://[::1]:");
}

/* What to do instead, where there are no keys. */
static void refuse_open(const char *address, struct diag *d)
{
    diag_plain(d,
               "%s: without keys only the loopback interface is allowed (tcp://127.0.0.1:PORT), since others "
               "could connect and read; make keys: thresh keys new keys; then add --keys keys, and give "
               "agents keys/agents/agent.key_secret (thresh agent --key)",
               address);
}

static bool allowed(const char *address, const char *keys, struct diag *d)
{
    if (starts_with(address, tcp)) {
        if (keys || is_loopback(address)) return endpoint_check_port(address, d);
        refuse_open(address, d);
        return false;
    }
    if (starts_with(address, "ipc://@")) {
        diag_plain(d, "--listen: any user can connect to %s, which is no file; write ipc://FILE", address);
        return false;
    }
    if (!starts_with(address, ipc) && !starts_with(address, inproc)) {
        diag_plain(d, "--listen: '%s' is not an endpoint; write tcp://127.0.0.1:PORT or ipc://FILE", address);
        return false;
    }
    if (!keys) return true;
    diag_plain(d,
               "--keys applies to tcp:// endpoints only; to %s only processes of the same user can connect",
               address);
    return false;
}

/* ---- the socket ---- */

static void report_to_stderr(void *ctx, const char *line)
{
    (void)ctx;
    fprintf(stderr, "%s\n", line);
}

/* A connection is a descriptor, and the usual limit is 1,024. */
static void raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= LIMIT_DESCRIPTORS) return;
    limit.rlim_cur = limit.rlim_max < LIMIT_DESCRIPTORS ? limit.rlim_max : LIMIT_DESCRIPTORS;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static bool open_keys(struct endpoint *e, void *context, const struct endpoint_options *o, struct diag *d)
{
    const struct keys_server_options options = {
        .folder = o->keys, .report = o->report ? o->report : report_to_stderr, .ctx = o->ctx};
    raise_descriptors();
    e->keys = keys_server_open(context, &options, d);
    return e->keys && keys_server_apply(e->keys, e->socket, d);
}

/* The file of an ipc:// socket is for its owner only from the moment it exists. */
static bool bind_socket(struct endpoint *e, const char *address)
{
    mode_t before = umask(S_IRWXG | S_IRWXO);
    bool ok = zmq_bind(e->socket, address) == 0;
    int error = zmq_errno();
    umask(before);
    size_t room = sizeof e->address;
    if (!ok) errno = error;
    return ok && zmq_getsockopt(e->socket, ZMQ_LAST_ENDPOINT, e->address, &room) == 0;
}

struct endpoint *endpoint_listen(void *zmq_context, const struct endpoint_options *o, struct diag *d)
{
    char address[ADDRESS_MAX];
    resolve(o->address, address, sizeof address);
    if (!allowed(address, o->keys, d)) return NULL;
    struct endpoint *e = base_calloc(1, sizeof *e);
    int linger = LIMIT_LINGER_MS, v6 = starts_with(address, "tcp://[");
    int64_t most = MESSAGE_MAX_BYTES;
    e->socket = zmq_socket(zmq_context, ZMQ_ROUTER);
    zmq_setsockopt(e->socket, ZMQ_LINGER, &linger, sizeof linger);
    zmq_setsockopt(e->socket, ZMQ_MAXMSGSIZE, &most, sizeof most);
    zmq_setsockopt(e->socket, ZMQ_IPV6, &v6, sizeof v6);
    if (starts_with(address, tcp) && !open_keys(e, zmq_context, o, d)) {
        endpoint_close(e);
        return NULL;
    }
    if (bind_socket(e, address)) return e;
    diag_plain(d, "cannot listen on %s: %s", address, zmq_strerror(zmq_errno()));
    endpoint_close(e);
    return NULL;
}

void *endpoint_socket(const struct endpoint *e)
{
    return e->socket;
}

const char *endpoint_address(const struct endpoint *e)
{
    return e->address;
}

void endpoint_close(struct endpoint *e)
{
    if (!e) return;
    zmq_close(e->socket);
    keys_server_free(e->keys);
    free(e);
}
