/* The coordinator's end of TCP connections: admits agents by their keys, and reports each connection that is
 * refused.
 *
 *     s = keys_server_open(context, &options, d);
 *     if (s && keys_server_apply(s, router, d)) zmq_bind(router, "tcp://0.0.0.0:7000");
 *     zmq_close(router), keys_server_free(s);
 *
 * The folder of certificates is looked at anew at each connection: an agent whose certificate was copied
 * there is admitted, one whose certificate was removed is refused when it connects the next time. */
#ifndef THRESH_KEYS_SERVER_H
#define THRESH_KEYS_SERVER_H

#include <stdbool.h>

struct diag;
struct keys_server;

/* Pointers are borrowed until keys_server_free(). */
struct keys_server_options {
    const char *folder;   /* of keys (keys.h); NULL: a plain socket, whose refusals are reported */
    unsigned most_of_key; /* connections of one key at a time; 0: KEYS_MOST_CONNECTIONS */
    /* Is told of refused connections, a line each, at most ten in ten seconds: "refused 10.0.0.7: ...". It is
     * called on a thread of the server, one call at a time. NULL: nobody. */
    void (*report)(void *ctx, const char *line);
    void *ctx;
};

/* Reads the coordinator's certificate and starts the thread that admits. One for each ZeroMQ context, since
 * ZeroMQ asks at one place of the context (RFC 27, ZAP). NULL after an error: no folder of keys, a secret
 * that others can read, certificates that others can write. */
struct keys_server *keys_server_open(void *zmq_context, const struct keys_server_options *o, struct diag *d);
/* Prepares a socket, one for each keys_server, before it is bound: keys, limits of the handshake, keepalive.
 * false after an error. */
bool keys_server_apply(struct keys_server *s, void *socket, struct diag *d);
void keys_server_free(struct keys_server *s); /* after the socket was closed; NULL is allowed */

#endif
