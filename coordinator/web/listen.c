/* Addresses and the listening socket; see listen.h. */
#include "coordinator/web/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/diag.h"

enum { BACKLOG = 64 };

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_storage room;
};

/* Names are not looked up: they can stand for several addresses. false after an error. */
static bool parse(const char *text, union address *out, struct diag *d)
{
    memset(out, 0, sizeof *out);
    if (strcmp(text, "localhost") == 0) text = "127.0.0.1";
    if (inet_pton(AF_INET, text, &out->v4.sin_addr) == 1) {
        out->any.sa_family = AF_INET;
        return true;
    }
    if (inet_pton(AF_INET6, text, &out->v6.sin6_addr) == 1) {
        out->any.sa_family = AF_INET6;
        return true;
    }
    diag_plain(
        d,
        "--bind: '%s' is not an address; write numbers such as 127.0.0.1, 0.0.0.0 (all of IPv4) or ::", text);
    return false;
}

bool listen_is_loopback(const char *address, bool *ok, struct diag *d)
{
    union address a;
    *ok = parse(address, &a, d);
    if (!*ok) return false;
    if (a.any.sa_family == AF_INET6) return IN6_IS_ADDR_LOOPBACK(&a.v6.sin6_addr);
    return ntohl(a.v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

static void print_url(const union address *a, struct listener *out)
{
    char text[INET6_ADDRSTRLEN];
    bool v6 = a->any.sa_family == AF_INET6;
    out->port = ntohs(v6 ? a->v6.sin6_port : a->v4.sin_port);
    inet_ntop(a->any.sa_family, v6 ? (const void *)&a->v6.sin6_addr : (const void *)&a->v4.sin_addr, text,
              sizeof text);
    snprintf(out->url, sizeof out->url, v6 ? "http://[%s]:%u/" : "http://%s:%u/", text, out->port);
}

static bool fail(const char *address, uint16_t port, const char *option, struct diag *d)
{
    int error = errno;
    if (error == EADDRINUSE)
        diag_plain(d, "port %u of %s is in use; choose another one with %s, or 0 for any", port, address,
                   option);
    else if (error == EACCES)
        diag_plain(d, "port %u of %s: %s (ports below 1024 need privileges)", port, address, strerror(error));
    else
        diag_plain(d, "cannot listen at port %u of %s: %s", port, address, strerror(error));
    return false;
}

bool listen_open(const char *address, uint16_t port, const char *option, struct listener *out, struct diag *d)
{
    union address a;
    int on = 1;
    if (!parse(address, &a, d)) return false;
    socklen_t n = a.any.sa_family == AF_INET6 ? sizeof a.v6 : sizeof a.v4;
    if (a.any.sa_family == AF_INET6)
        a.v6.sin6_port = htons(port);
    else
        a.v4.sin_port = htons(port);
    out->fd = socket(a.any.sa_family, SOCK_STREAM, 0);
    if (out->fd < 0) return fail(address, port, option, d);
    fcntl(out->fd, F_SETFD, FD_CLOEXEC);
    fcntl(out->fd, F_SETFL, O_NONBLOCK);
    setsockopt(out->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(out->fd, &a.any, n) || listen(out->fd, BACKLOG) || getsockname(out->fd, &a.any, &n)) {
        fail(address, port, option, d);
        close(out->fd);
        return false;
    }
    print_url(&a, out);
    return true;
}
