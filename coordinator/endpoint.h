/* Where a coordinator listens, and who may connect there:
 *
 *     inproc://NAME            threads of this process
 *     ipc://FILE               processes of the same user: others cannot open the file
 *     tcp://127.0.0.1:PORT     this machine; with keys only agents that are admitted
 *     tcp://ADDRESS:PORT       other machines: only with keys (core/keys)
 *
 * Loopback is no boundary on a machine that several users share: any of them can connect. ipc:// is. */
#ifndef THRESH_COORDINATOR_ENDPOINT_H
#define THRESH_COORDINATOR_ENDPOINT_H

#include <stdbool.h>

struct diag;
struct endpoint;

/* Pointers are borrowed until endpoint_close(). */
struct endpoint_options {
    const char *address; /* as above; the port may be *, which stands for any free one */
    const char *keys;    /* folder of keys; NULL: none */
    /* Is told of refused connections, on another thread (core/keys/server.h); NULL: standard error. */
    void (*report)(void *ctx, const char *line);
    void *ctx;
};

/* Checks the port of a tcp:// endpoint (a number or `*`), which ZeroMQ does not do. false after an error. */
bool endpoint_check_port(const char *address, struct diag *d);
/* Binds a new ROUTER socket. NULL after an error, which names the command that makes keys where they are
 * needed. */
struct endpoint *endpoint_listen(void *zmq_context, const struct endpoint_options *o, struct diag *d);
void *endpoint_socket(const struct endpoint *e); /* owned by e */
/* The address, with the port or file that replaced a `*`. */
const char *endpoint_address(const struct endpoint *e);
void endpoint_close(struct endpoint *e); /* closes the socket; NULL is allowed */

#endif
