/* The agent's end of a TCP connection: its certificate, and whether the coordinator takes it.
 *
 *     key = keys_agent_read("node1.key_secret", d);
 *     ok = key && keys_agent_connect(context, dealer, "tcp://host:7000", key, &wait, d);
 *
 * The file holds the agent's keys and the coordinator's public key (keys.h), so that one file is all that an
 * agent needs. */
#ifndef THRESH_KEYS_AGENT_H
#define THRESH_KEYS_AGENT_H

#include <stdbool.h>

struct diag;
struct keys_agent;

/* Reads the file of an agent. NULL after an error, with its place in the file; others may not read it. */
struct keys_agent *keys_agent_read(const char *path, struct diag *d);
void keys_agent_free(struct keys_agent *a); /* NULL is allowed; forgets the secret */

/* Connects and, over TCP, waits until the coordinator took the connection, at most `wait_ms`. key NULL: none.
 * stop_fd: ends the wait when it becomes readable, as if the connection was taken; -1: none. false after an
 * error that says why: nobody listens, another server key, a key that is not admitted, keys on one side only.
 * The socket reconnects by itself afterwards. */
bool keys_agent_connect(void *zmq_context, void *socket, const char *endpoint, const struct keys_agent *key,
                        int wait_ms, int stop_fd, struct diag *d);

#endif
