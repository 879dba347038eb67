/* The socket that the page is served at.
 *
 *     listen_open("127.0.0.1", 8780, "--port", &l, d)
 *     l.url                                    "http://127.0.0.1:8780/" */
#ifndef THRESH_WEB_LISTEN_H
#define THRESH_WEB_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

struct diag;

enum { LISTEN_URL_BYTES = 80 };

struct listener {
    int fd; /* does not block; the caller closes it */
    uint16_t port;
    char url[LISTEN_URL_BYTES];
};

/* Whether an address (IPv4 or IPv6, as numbers, or "localhost") is of this machine only. false in *ok after
 * an error: it is none. */
bool listen_is_loopback(const char *address, bool *ok, struct diag *d);
/* Binds and listens; port 0: any free one. false after an error, such as a port that is in use: it says that
 * `option` chooses another one. */
bool listen_open(const char *address, uint16_t port, const char *option, struct listener *out,
                 struct diag *d);

#endif
