/* The page over HTTP, for browsers, monitoring and people with curl:
 *
 *     /            the page
 *     /thresh.js   its script
 *     /events      server-sent events: the fragments that change (board_changes())
 *     /metrics     for Prometheus
 *     /healthz     "ok", or 503 if the store cannot be read; needs no token
 *
 * GET and HEAD only. All runs on the caller's thread:
 *
 *     while (!stopped) {
 *         poll(server_fd(s), ..., server_wait_ms(s));
 *         server_run(s);
 *     } */
#ifndef THRESH_WEB_SERVER_H
#define THRESH_WEB_SERVER_H

#include <stdint.h>

#include "coordinator/web/access.h"
#include "coordinator/web/board.h"

struct server;

struct server_options {
    int listen_fd;               /* a listening socket; closed by server_stop() */
    const struct access *access; /* borrowed, like the board and the version */
    struct board *board;
    const char *version; /* of thresh */
};

/* NULL after an error; then listen_fd is still the caller's. */
struct server *server_start(const struct server_options *o, struct diag *d);
/* Ends all connections. NULL is allowed. */
void server_stop(struct server *s);
int server_fd(const struct server *s);          /* readable when there is work */
int64_t server_wait_ms(const struct server *s); /* longest time until the next server_run() */
void server_run(struct server *s);

#endif
