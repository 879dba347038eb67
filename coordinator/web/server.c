/* Connections and answers; see server.h. libmicrohttpd runs without threads of its own: the board and the
 * streams belong to the thread that calls server_run().
 *
 * The store is looked at while somebody looks at the page: at most once a second, and at most a twentieth of
 * the time, since a search may need the processor. */
#include "coordinator/limits.h"
#include "coordinator/web/server_state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "coordinator/web/metrics.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"

enum { STOP_ROUNDS = 100 };

extern const char asset_thresh_js[]; /* report/thresh.js, made by the Makefile */

/* ---- answers ---- */

void server_add_headers(struct MHD_Response *r)
{
    static const char *const headers[][2] = {
        {"Content-Security-Policy",
         "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; connect-src 'self'; "
         "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cache-Control", "no-store"}};
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        MHD_add_response_header(r, headers[i][0], headers[i][1]);
}

/* What an answer consists of. */
struct answer {
    unsigned status;
    const char *type;         /* of the content */
    struct strbuf *text;      /* released */
    const char *name, *value; /* one more header; NULL: none */
};

static enum MHD_Result send_answer(struct MHD_Connection *c, const struct answer *a)
{
    size_t n = a->text->length;
    char *text = strbuf_take(a->text);
    struct MHD_Response *r = MHD_create_response_from_buffer(n, text, MHD_RESPMEM_MUST_FREE);
    if (!r) {
        free(text);
        return MHD_NO;
    }
    server_add_headers(r);
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, a->type);
    if (a->name) MHD_add_response_header(r, a->name, a->value);
    enum MHD_Result result = MHD_queue_response(c, a->status, r);
    MHD_destroy_response(r);
    return result;
}

/* Refuses with a line of text. */
static enum MHD_Result refuse(struct MHD_Connection *c, unsigned status, const char *text, const char *name,
                              const char *value)
{
    struct strbuf b = {0};
    strbuf_printf(&b, "%s\n", text);
    return send_answer(c, &(struct answer){status, "text/plain; charset=utf-8", &b, name, value});
}

/* ---- the store ---- */

/* Reads what is new if it is time; then streams have something to send. */
static void look(struct server *s)
{
    int64_t began = clock_ms();
    if (began < s->due_ms) return;
    board_update(s->o.board);
    int64_t now = clock_ms(), rest = LIMIT_PAGE_SHARE * (now - began);
    s->due_ms = now + (rest > LIMIT_PAGE_LOOK_MS ? rest : LIMIT_PAGE_LOOK_MS);
}

static bool recent(int64_t at_ms, int64_t now_ms)
{
    return at_ms && now_ms - at_ms < LIMIT_INTEREST_MS;
}

/* Studies cost most: those of searches that have gone on are for readers only. */
static void study(struct server *s, int64_t now_ms)
{
    bool readers = s->n_streams > 0 || recent(s->looked_ms, now_ms);
    if (readers || recent(s->scraped_ms, now_ms)) board_study(s->o.board, readers);
}

/* ---- what there is ---- */

static enum MHD_Result answer_page(struct server *s, struct MHD_Connection *c, const char *cookie)
{
    struct strbuf page = {0};
    s->looked_ms = clock_ms();
    look(s);
    board_page(s->o.board, &page);
    return send_answer(c, &(struct answer){MHD_HTTP_OK, "text/html; charset=utf-8", &page,
                                           cookie ? MHD_HTTP_HEADER_SET_COOKIE : NULL, cookie});
}

static enum MHD_Result answer_script(struct MHD_Connection *c)
{
    struct strbuf b = {0};
    strbuf_add(&b, asset_thresh_js);
    return send_answer(c, &(struct answer){MHD_HTTP_OK, "text/javascript; charset=utf-8", &b, NULL, NULL});
}

static enum MHD_Result answer_metrics(struct server *s, struct MHD_Connection *c)
{
    struct strbuf b = {0};
    s->scraped_ms = clock_ms();
    look(s);
    struct metrics m = {board_data(s->o.board), board_studies(s->o.board), s->o.version,
                        !*board_trouble(s->o.board), (int64_t)time(NULL)};
    metrics_print(&m, &b);
    return send_answer(
        c, &(struct answer){MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", &b, NULL, NULL});
}

static enum MHD_Result answer_health(struct server *s, struct MHD_Connection *c)
{
    struct strbuf b = {0};
    look(s);
    bool well = !*board_trouble(s->o.board);
    strbuf_add(&b, well ? "ok\n" : "the store cannot be read\n");
    return send_answer(c, &(struct answer){well ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE,
                                           "text/plain; charset=utf-8", &b, NULL, NULL});
}

/* A browser that connects again says what it got last. */
static enum MHD_Result answer_events(struct server *s, struct MHD_Connection *c)
{
    const char *last = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Last-Event-ID");
    const char *since = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "since");
    const char *text = last ? last : since;
    if (s->n_streams >= LIMIT_STREAMS)
        return refuse(c, MHD_HTTP_SERVICE_UNAVAILABLE, "too many pages are open", "Retry-After", "30");
    return streams_answer(s, c, text ? strtoull(text, NULL, 10) : 0);
}

/* ---- who may see it ---- */

/* Whether the request has the token. *cookie becomes the header that spares the next ones it, if the token
 * was in the address. */
static bool is_allowed(const struct server *s, struct MHD_Connection *c, struct strbuf *cookie)
{
    const struct access *a = s->o.access;
    const char *header = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
    const char *argument = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "token");
    if (access_bearer(a, header)) return true;
    if (access_token(a, MHD_lookup_connection_value(c, MHD_COOKIE_KIND, a->cookie))) return true;
    if (!access_token(a, argument)) return false;
    strbuf_printf(cookie, "%s=%s; Path=/; HttpOnly; SameSite=Strict", a->cookie, a->token);
    return true;
}

static enum MHD_Result answer(struct server *s, struct MHD_Connection *c, const char *path)
{
    struct strbuf cookie = {0};
    enum MHD_Result result;
    if (strcmp(path, "/healthz") == 0) return answer_health(s, c);
    if (!is_allowed(s, c, &cookie))
        return refuse(
            c, MHD_HTTP_UNAUTHORIZED,
            "a token is needed: open /?token=TOKEN with the token of the file that --token-file names",
            MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer realm=\"thresh\"");
    if (strcmp(path, "/") == 0)
        result = answer_page(s, c, cookie.text);
    else if (strcmp(path, "/thresh.js") == 0)
        result = answer_script(c);
    else if (strcmp(path, "/metrics") == 0)
        result = answer_metrics(s, c);
    else if (strcmp(path, "/events") == 0)
        result = answer_events(s, c);
    else
        result = refuse(c, MHD_HTTP_NOT_FOUND, "there is no such page; the page is at /", NULL, NULL);
    strbuf_free(&cookie);
    return result;
}

static bool has_body(struct MHD_Connection *c)
{
    const char *length = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING) ||
           (length && strcmp(length, "0") != 0);
}

/* What is wrong with the head of a request is answered at once, and ends the connection. A request without a
 * fault is answered in the second call. */
static enum MHD_Result handle(void *context, struct MHD_Connection *c, const char *path, const char *method,
                              const char *version, const char *body, size_t *body_n, void **state)
{
    struct server *s = context;
    static const char first[] = "first";
    (void)version, (void)body, (void)body_n;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    if (info && info->socket_context) ((struct link *)info->socket_context)->since_ms = 0;
    if (*state) return answer(s, c, path);
    *state = (void *)(uintptr_t)first;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are allowed", MHD_HTTP_HEADER_ALLOW,
                      "GET, HEAD");
    if (has_body(c))
        return refuse(c, MHD_HTTP_CONTENT_TOO_LARGE, "a request must have no content", NULL, NULL);
    if (!access_host(s->o.access, MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST)))
        return refuse(c, MHD_HTTP_FORBIDDEN, "the Host header does not name this machine: use localhost",
                      NULL, NULL);
    return MHD_YES;
}

/* ---- connections ---- */

static void add_link(struct server *s, struct MHD_Connection *c, void **socket_context)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct link *l = base_calloc(1, sizeof *l);
    *l = (struct link){info ? info->connect_fd : -1, clock_ms(), &s->links, s->links};
    if (l->next) l->next->ref = &l->next;
    s->links = l;
    *socket_context = l;
}

static void note_connection(void *context, struct MHD_Connection *c, void **socket_context,
                            enum MHD_ConnectionNotificationCode code)
{
    struct link *l = *socket_context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        add_link(context, c, socket_context);
    } else if (l) {
        *l->ref = l->next;
        if (l->next) l->next->ref = l->ref;
        free(l);
    }
}

/* The next request of a connection may begin now. */
static void note_completed(void *context, struct MHD_Connection *c, void **state,
                           enum MHD_RequestTerminationCode code)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    (void)context, (void)state, (void)code;
    if (info && info->socket_context) ((struct link *)info->socket_context)->since_ms = clock_ms();
}

/* Ends connections whose requests come too slowly: a byte now and then keeps libmicrohttpd waiting. */
static void end_slow(struct server *s, int64_t now_ms)
{
    for (struct link *l = s->links; l; l = l->next)
        if (l->since_ms && now_ms - l->since_ms > LIMIT_HEAD_MS) shutdown(l->fd, SHUT_RD);
}

/* ---- running ---- */

/* Messages about connections of others are of no use to the reader. */
static void no_log(void *context, const char *format, va_list args)
{
    (void)context, (void)format, (void)args;
}

struct server *server_start(const struct server_options *o, struct diag *d)
{
    struct server *s = base_calloc(1, sizeof *s);
    s->o = *o;
    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, handle, s,
        MHD_OPTION_EXTERNAL_LOGGER, no_log, NULL, MHD_OPTION_LISTEN_SOCKET, o->listen_fd,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)LIMIT_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)LIMIT_REQUEST_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)LIMIT_IDLE_S,
        MHD_OPTION_NOTIFY_CONNECTION, note_connection, s, MHD_OPTION_NOTIFY_COMPLETED, note_completed, s,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    if (s->daemon) return s;
    diag_plain(d, "cannot start the web server");
    free(s);
    return NULL;
}

int server_fd(const struct server *s)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

int64_t server_wait_ms(const struct server *s)
{
    MHD_UNSIGNED_LONG_LONG own;
    int64_t wait = LIMIT_PAGE_LOOK_MS;
    if (MHD_get_timeout(s->daemon, &own) == MHD_YES && own < (MHD_UNSIGNED_LONG_LONG)wait)
        wait = (int64_t)own;
    return wait;
}

void server_run(struct server *s)
{
    int64_t now = clock_ms();
    if (s->n_streams > 0) look(s);
    study(s, now);
    end_slow(s, now);
    streams_wake(s, now);
    MHD_run(s->daemon);
}

/* Suspended connections must be woken before the end. */
void server_stop(struct server *s)
{
    if (!s) return;
    s->ending = true;
    for (int i = 0; i < STOP_ROUNDS && s->streams; i++) {
        streams_wake(s, clock_ms());
        MHD_run(s->daemon);
    }
    MHD_stop_daemon(s->daemon);
    free(s);
}
