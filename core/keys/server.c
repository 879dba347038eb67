/* The coordinator's end: a thread that answers ZeroMQ's question whether a key is admitted (ZAP, RFC 27), and
 * that listens to the monitor of the socket.
 *
 *     socket's I/O thread          thread of the keys
 *     HELLO, INITIATE of a client
 *     ZAP request: its key     ->  admitted? connections of the key?
 *                              <-  200 with the key and the name for each message, or 400
 *     monitor: what happened   ->  connections.h
 *
 * czmq's zauth answers such requests, too. It does so only in czmq's own ZeroMQ context, whose creation
 * installs signal handlers; it neither reports refusals nor counts connections. */
#include "core/keys/server.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/panic.h"
#include "core/base/strbuf.h"
#include "core/keys/admit.h"
#include "core/keys/certificate.h"
#include "core/keys/connections.h"
#include "core/keys/limits.h"
#include "core/keys/socket.h"

enum { ADDRESS = 80 };
enum { FRAME = 256, MOST_FRAMES = 8 /* of a ZAP request */ };
static const char zap_endpoint[] = "inproc://zeromq.zap.01", domain[] = "thresh";

struct keys_server {
    struct keys_server_options options;
    void *context;
    struct keys_certificate certificate;
    struct admit *admit;
    struct connections *connections;
    void *control;                    /* of the caller's thread: what comes ends the thread */
    void *controlled, *monitor, *zap; /* of the thread; zap is NULL on a plain socket */
    pthread_t thread;
    bool running;
};

struct keys_server *keys_server_open(void *zmq_context, const struct keys_server_options *o, struct diag *d)
{
    struct keys_server *s = base_calloc(1, sizeof *s);
    struct strbuf secret = {0};
    s->options = *o;
    s->context = zmq_context;
    if (!s->options.most_of_key) s->options.most_of_key = KEYS_MOST_CONNECTIONS;
    strbuf_printf(&secret, "%s/server.key_secret", o->folder ? o->folder : "");
    bool ok = true;
    if (o->folder) {
        s->admit = admit_new(o->folder);
        struct keys_list list = {.n_agents = 0};
        ok = keys_list_read(o->folder, &list, d) &&
             keys_certificate_read_secret(secret.text, &s->certificate, d);
        keys_list_clear(&list);
    }
    strbuf_free(&secret);
    if (ok) return s;
    keys_server_free(s);
    return NULL;
}

/* ---- ZAP ---- */

/* A ZAP request as far as it matters. */
struct request {
    char id[FRAME], address[ADDRESS], mechanism[16];
    uint8_t key[KEYS_BYTES];
    bool sound;
};

static void copy_frame(const void *data, size_t n, char *out, size_t room)
{
    if (n >= room) n = room - 1;
    memcpy(out, data, n);
    out[n] = 0;
}

/* Frames: version, id, domain, address, routing id, mechanism, credentials. */
static struct request receive_request(void *zap)
{
    struct request r = {.sound = false};
    unsigned n = 0;
    bool more = true;
    while (more) {
        zmq_msg_t frame;
        zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, zap, 0) < 0) return r;
        const void *data = zmq_msg_data(&frame);
        size_t bytes = zmq_msg_size(&frame);
        if (n == 1) copy_frame(data, bytes, r.id, sizeof r.id);
        if (n == 3) copy_frame(data, bytes, r.address, sizeof r.address);
        if (n == 5) copy_frame(data, bytes, r.mechanism, sizeof r.mechanism);
        r.sound = n == 6 && bytes == KEYS_BYTES && strcmp(r.mechanism, "CURVE") == 0;
        if (r.sound) memcpy(r.key, data, KEYS_BYTES);
        more = zmq_msg_more(&frame);
        zmq_msg_close(&frame);
        n++;
    }
    return r;
}

/* key, name: NULL if it is refused. */
static void answer(void *zap, const struct request *r, const char *key, const char *name)
{
    const char *frames[] = {"1.0", r->id, name ? "200" : "400", name ? "OK" : "not admitted", key ? key : ""};
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        zmq_send(zap, frames[i], strlen(frames[i]), ZMQ_SNDMORE);
    zmq_send(zap, "", 0, 0); /* no properties */
}

/* Reads the folder if it changed, and reports what is wrong there. */
static void update(struct keys_server *s, int64_t now)
{
    struct strbuf news = {0};
    admit_update(s->admit, &news);
    for (char *line = news.text, *end; line && *line; line = end + 1) {
        end = strchr(line, '\n');
        *end = 0;
        connections_log(s->connections, line, now);
    }
    strbuf_free(&news);
}

static void answer_request(struct keys_server *s)
{
    char key[KEYS_TEXT] = "", line[400];
    int64_t now = clock_ms();
    struct request r = receive_request(s->zap);
    update(s, now);
    const char *name = r.sound ? admit_find(s->admit, r.key) : NULL;
    if (r.sound) zmq_z85_encode(key, r.key, KEYS_BYTES);
    bool full = name && connections_of(s->connections, key) >= s->options.most_of_key;
    if (full)
        snprintf(line, sizeof line, "refused %s (%s): its key has %u connections, the most that are allowed",
                 r.address, name, s->options.most_of_key);
    else if (!name)
        snprintf(line, sizeof line,
                 "refused %s: its key %s is not admitted; %s/agents has no such certificate", r.address, key,
                 s->options.folder);
    if (!name || full) {
        connections_refused(s->connections, line, now);
        answer(s->zap, &r, NULL, NULL);
        return;
    }
    connections_expect(s->connections, key, r.address, now);
    answer(s->zap, &r, key, name);
}

/* ---- the thread ---- */

static void read_events(struct keys_server *s)
{
    uint16_t event;
    uint32_t value;
    while (keys_monitor_next(s->monitor, &event, &value))
        connections_event(s->connections, event, value, clock_ms());
}

static void *thread_main(void *arg)
{
    struct keys_server *s = arg;
    zmq_pollitem_t items[] = {{.socket = s->controlled, .events = ZMQ_POLLIN},
                              {.socket = s->monitor, .events = ZMQ_POLLIN},
                              {.socket = s->zap, .events = ZMQ_POLLIN}};
    for (;;) {
        bool waits = connections_expecting(s->connections, clock_ms());
        int n = s->zap && !waits ? 3 : 2;
        if (zmq_poll(items, n, waits ? KEYS_EXPECTED_LOOK_MS : KEYS_LOOK_MS) < 0 && zmq_errno() == ETERM)
            break;
        if (items[0].revents) break;
        read_events(s);
        if (n == 3 && items[2].revents) answer_request(s);
        connections_tick(s->connections, clock_ms());
    }
    zmq_close(s->controlled);
    zmq_close(s->monitor);
    if (s->zap) zmq_close(s->zap);
    return NULL;
}

/* ---- starting and ending ---- */

static void *pair(void *context, const char *endpoint, bool binds)
{
    int linger = 0, most = KEYS_MONITORED;
    void *socket = zmq_socket(context, ZMQ_PAIR);
    if (!socket) return NULL;
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
    zmq_setsockopt(socket, ZMQ_RCVHWM, &most, sizeof most);
    if ((binds ? zmq_bind(socket, endpoint) : zmq_connect(socket, endpoint)) == 0) return socket;
    zmq_close(socket);
    return NULL;
}

static bool open_zap(struct keys_server *s, struct diag *d)
{
    int linger = 0;
    s->zap = zmq_socket(s->context, ZMQ_REP);
    if (s->zap) zmq_setsockopt(s->zap, ZMQ_LINGER, &linger, sizeof linger);
    if (s->zap && zmq_bind(s->zap, zap_endpoint) == 0) return true;
    diag_plain(d, "keys: cannot bind %s: %s", zap_endpoint, zmq_strerror(zmq_errno()));
    return false;
}

static bool set_keys(const struct keys_server *s, void *socket)
{
    int on = 1;
    return zmq_setsockopt(socket, ZMQ_CURVE_SERVER, &on, sizeof on) == 0 &&
           zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, s->certificate.secret_key, KEYS_BYTES) == 0 &&
           zmq_setsockopt(socket, ZMQ_ZAP_DOMAIN, domain, strlen(domain)) == 0;
}

static bool open_sockets(struct keys_server *s, void *socket, struct diag *d)
{
    char control[64], monitor[64];
    snprintf(control, sizeof control, "inproc://thresh-keys-control-%p", (void *)s);
    snprintf(monitor, sizeof monitor, "inproc://thresh-keys-monitor-%p", (void *)s);
    s->control = pair(s->context, control, true);
    s->controlled = pair(s->context, control, false);
    if (zmq_socket_monitor(socket, monitor, KEYS_EVENTS) == 0) s->monitor = pair(s->context, monitor, false);
    if (s->control && s->controlled && s->monitor) return !s->options.folder || open_zap(s, d);
    diag_plain(d, "keys: cannot watch the socket: %s", zmq_strerror(zmq_errno()));
    return false;
}

bool keys_server_apply(struct keys_server *s, void *socket, struct diag *d)
{
    CHECK(!s->control);
    s->connections = connections_new(s->options.folder != NULL, s->options.report, s->options.ctx);
    keys_limit_handshakes(socket);
    if (!open_sockets(s, socket, d)) return false;
    if (s->options.folder && !set_keys(s, socket)) {
        diag_plain(d, "keys: this libzmq has no CURVE: %s", zmq_strerror(zmq_errno()));
        return false;
    }
    if (s->admit) update(s, clock_ms());
    s->running = pthread_create(&s->thread, NULL, thread_main, s) == 0;
    if (!s->running) diag_plain(d, "keys: cannot start a thread");
    return s->running;
}

void keys_server_free(struct keys_server *s)
{
    if (!s) return;
    if (s->running) {
        zmq_send(s->control, "", 0, ZMQ_DONTWAIT);
        pthread_join(s->thread, NULL);
    } else {
        if (s->controlled) zmq_close(s->controlled);
        if (s->monitor) zmq_close(s->monitor);
        if (s->zap) zmq_close(s->zap);
    }
    if (s->control) zmq_close(s->control);
    connections_free(s->connections);
    admit_free(s->admit);
    keys_certificate_forget(&s->certificate);
    free(s);
}
