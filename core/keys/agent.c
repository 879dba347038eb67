/* The agent's end of a connection; see agent.h. */
#include "core/keys/agent.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/stop.h"
#include "core/keys/certificate.h"
#include "core/keys/limits.h"
#include "core/keys/socket.h"

struct keys_agent {
    struct keys_certificate certificate;
    char *path;
};

struct keys_agent *keys_agent_read(const char *path, struct diag *d)
{
    struct keys_agent *a = base_calloc(1, sizeof *a);
    bool ok = keys_certificate_read_secret(path, &a->certificate, d);
    if (ok && !a->certificate.server[0]) {
        diag_plain(
            d,
            "%s: does not state the coordinator's key (server = ...); use a file that 'thresh keys new' "
            "made for an agent",
            path);
        ok = false;
    }
    a->path = base_malloc(strlen(path) + 1);
    strcpy(a->path, path);
    if (ok) return a;
    keys_agent_free(a);
    return NULL;
}

void keys_agent_free(struct keys_agent *a)
{
    if (!a) return;
    keys_certificate_forget(&a->certificate);
    free(a->path);
    free(a);
}

/* Sets the keys of a socket that is not connected yet. */
static void apply(const struct keys_agent *a, void *socket)
{
    const struct keys_certificate *c = &a->certificate;
    zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, c->server, KEYS_TEXT);
    zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, c->public_key, KEYS_BYTES);
    zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, c->secret_key, KEYS_BYTES);
}

/* ---- waiting for the handshake ---- */

struct attempt {
    const char *endpoint;
    const struct keys_agent *key;
    struct diag *diag;
    unsigned endings;
    bool taken, failed;
};

/* Both ends have keys, but the coordinator does not admit this one, or it has another key. */
static void refuse_key(struct attempt *a)
{
    const struct keys_certificate *c = &a->key->certificate;
    diag_plain(a->diag,
               "%s: the coordinator does not admit the key of %s, or has as many of its connections as it "
               "allows; to admit it, put its public certificate (%s.key, public key %s) into the folder "
               "'agents' of the coordinator's keys",
               a->endpoint, a->key->path, c->name[0] ? c->name : "agent", c->key);
}

static void refuse_mismatch(struct attempt *a)
{
    if (a->key)
        diag_plain(a->diag,
                   "%s: the coordinator has no keys, and this agent does: leave out --key, or start "
                   "the coordinator with --keys DIR",
                   a->endpoint);
    else
        diag_plain(a->diag,
                   "%s: the coordinator admits only agents with keys: give --key FILE, which 'thresh "
                   "keys new' makes beside the coordinator's keys",
                   a->endpoint);
}

static void refuse_endings(struct attempt *a)
{
    if (a->key)
        diag_plain(a->diag,
                   "%s: the coordinator ends each handshake: %s is for another coordinator (its "
                   "public key is '%s')",
                   a->endpoint, a->key->path, a->key->certificate.server);
    else
        diag_plain(a->diag,
                   "%s: what listens there ends each connection: it is no coordinator, or one that "
                   "admits only agents with keys (--key FILE)",
                   a->endpoint);
}

/* CLOSED is not looked at: a connection that could not be made is tried again. */
static void take_event(struct attempt *a, uint16_t event, uint32_t value)
{
    bool mismatch =
        event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL && value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH;
    a->taken = event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED;
    a->failed = true;
    if (event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH && a->key)
        refuse_key(a);
    else if (mismatch)
        refuse_mismatch(a);
    else if (event == ZMQ_EVENT_DISCONNECTED && ++a->endings == KEYS_ENDINGS)
        refuse_endings(a);
    else
        a->failed = false;
}

static void wait_for_handshake(struct attempt *a, void *monitor, int wait_ms, int stop_fd)
{
    const int64_t until = clock_ms() + wait_ms;
    zmq_pollitem_t items[] = {{.socket = monitor, .events = ZMQ_POLLIN},
                              {.fd = stop_fd, .events = ZMQ_POLLIN}};
    for (int64_t left = wait_ms; left > 0 && !a->taken && !a->failed; left = until - clock_ms()) {
        uint16_t event;
        uint32_t value;
        zmq_poll(items, stop_fd >= 0 ? 2 : 1, (long)left);
        while (!a->taken && !a->failed && keys_monitor_next(monitor, &event, &value))
            take_event(a, event, value);
        if (stop_requested(stop_fd)) return;
    }
    if (!a->taken && !a->failed) {
        diag_plain(a->diag,
                   "no coordinator took this agent at %s for %d seconds; start this agent again when "
                   "the coordinator runs",
                   a->endpoint, wait_ms / 1000);
        a->failed = true;
    }
}

/* Watches the socket from before it is connected. */
static bool connect_watched(void *socket, const char *endpoint, void *monitor, struct diag *d)
{
    char name[64];
    snprintf(name, sizeof name, "inproc://thresh-keys-agent-%p", socket);
    bool ok = (!monitor ||
               (zmq_socket_monitor(socket, name, KEYS_EVENTS) == 0 && zmq_connect(monitor, name) == 0)) &&
              zmq_connect(socket, endpoint) == 0;
    if (!ok) diag_plain(d, "cannot connect to %s: %s", endpoint, zmq_strerror(zmq_errno()));
    return ok;
}

bool keys_agent_connect(void *zmq_context, void *socket, const char *endpoint, const struct keys_agent *key,
                        int wait_ms, int stop_fd, struct diag *d)
{
    struct attempt a = {.endpoint = endpoint, .key = key, .diag = d};
    int linger = 0, v6 = strchr(endpoint, '[') != NULL;
    if (strncmp(endpoint, "tcp://", 6) != 0) return connect_watched(socket, endpoint, NULL, d);
    void *monitor = zmq_socket(zmq_context, ZMQ_PAIR);
    zmq_setsockopt(monitor, ZMQ_LINGER, &linger, sizeof linger);
    zmq_setsockopt(socket, ZMQ_IPV6, &v6, sizeof v6);
    keys_limit_handshakes(socket);
    if (key) apply(key, socket);
    a.failed = !connect_watched(socket, endpoint, monitor, d);
    if (!a.failed) wait_for_handshake(&a, monitor, wait_ms, stop_fd);
    zmq_socket_monitor(socket, NULL, 0);
    zmq_close(monitor);
    return !a.failed;
}
