/* A coordinator's socket with or without keys on a free port of loopback, in a folder of its own, and agents
 * that try to connect to it:
 *
 *     keys_test_open(&f, KEYS_TEST_KEYS);
 *     cr_expect(keys_test_try(&f, "agents/agent.key_secret", "")); */
#ifndef THRESH_TESTS_KEYS_FIXTURE_H
#define THRESH_TESTS_KEYS_FIXTURE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <zmq.h>

#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/keys/agent.h"
#include "core/keys/keys.h"
#include "core/keys/server.h"

struct keys_test {
    char folder[32], endpoint[64];
    unsigned port;
    void *context, *router;
    struct keys_server *server;
    pthread_mutex_t lock; /* of the log */
    pthread_cond_t grown;
    struct strbuf log;
};

enum keys_test_kind { KEYS_TEST_PLAIN, KEYS_TEST_KEYS };
/* most_of_key: 0 or as in keys_server_options. Makes the folder `keys` with an agent named "agent". */
void keys_test_open(struct keys_test *f, enum keys_test_kind kind, unsigned most_of_key);
void keys_test_close(struct keys_test *f); /* removes the folder */
/* The path of a file of the folder; valid until the fourth call after this one. */
const char *keys_test_path(const struct keys_test *f, const char *file);

/* An agent: its own context. */
struct keys_test_agent {
    void *context, *socket;
};
/* Connects with the key file (NULL: none). On success `a` is open; a NULL closes it at once. If it is
 * refused, the error must contain `why`. */
bool keys_test_connect(const struct keys_test *f, const char *key, const char *why,
                       struct keys_test_agent *a);
void keys_test_leave(struct keys_test_agent *a);
/* Waits at most 20 s for a line that contains the text. */
bool keys_test_logged(struct keys_test *f, const char *text);
/* Receives one message, waiting at most 20 s: its last frame as text, and the key of its connection. false:
 * none came, or its connection has no key. */
bool keys_test_receive(struct keys_test *f, char *text, size_t n, char key[KEYS_TEXT]);
/* A raw TCP connection to the port of loopback. */
int keys_test_dial(unsigned port);

#endif
