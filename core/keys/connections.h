/* The connections of a bound socket, from the events of its monitor: whose they are, and which ended before
 * they were taken.
 *
 *     ACCEPTED 17               connection 17 is new                      (its address is looked up)
 *     (ZAP admits a key)        the next one that succeeds has this key
 *     HANDSHAKE_SUCCEEDED       the connection that has sent most, from that host, has the key
 *     DISCONNECTED 17           one less of the key
 *
 * A failed handshake is FAILED with a reason, then DISCONNECTED with the descriptor: together they are a line
 * of the log. */
#ifndef THRESH_KEYS_CONNECTIONS_H
#define THRESH_KEYS_CONNECTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/keys/keys.h"
#include "core/keys/limits.h"

struct connections;

/* log: is told why a connection was refused, at most KEYS_LINES times in KEYS_WINDOW_MS; how many more there
 * were is said at the end of that time. keys: the socket has some. */
struct connections *connections_new(bool keys, void (*log)(void *ctx, const char *line), void *ctx);
void connections_free(struct connections *c); /* NULL is allowed */

/* An event of the socket's monitor (zmq_socket_monitor). */
void connections_event(struct connections *c, uint16_t event, uint32_t value, int64_t now_ms);
/* The connections of a key now. */
unsigned connections_of(const struct connections *c, const char key[KEYS_TEXT]);
/* ZAP has admitted the key of a connection from the host. connections_expecting() is true from now until the
 * handshake succeeded, or for a fifth of a second. Meanwhile no other key is to be admitted, since ZeroMQ
 * does not say which key a connection has. */
void connections_expect(struct connections *c, const char key[KEYS_TEXT], const char *host, int64_t now_ms);
bool connections_expecting(struct connections *c, int64_t now_ms);
/* ZAP has refused; the line names the reason. */
void connections_refused(struct connections *c, const char *line, int64_t now_ms);
/* A line that is no refusal. It is limited in the same way. */
void connections_log(struct connections *c, const char *line, int64_t now_ms);
/* To be called now and then: says how many lines were left out. */
void connections_tick(struct connections *c, int64_t now_ms);

#endif
