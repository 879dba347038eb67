/* Server-sent events. A stream is suspended while it has nothing to send:
 *
 *     answered -> "retry: 2000" -> nothing: suspended -> woken -> changes -> nothing: suspended -> ...
 */
#include <stdlib.h>
#include <string.h>

#include "coordinator/limits.h"
#include "coordinator/web/server_state.h"
#include "core/base/arena.h"
#include "core/base/clock.h"

/* Puts what the stream lacks into its buffer; leaves it empty if there is nothing. */
static void refill(struct stream *t)
{
    const struct board *b = t->server->o.board;
    strbuf_free(&t->out);
    t->sent = 0;
    if (t->since != board_version(b)) {
        board_changes(b, t->since, &t->out);
        t->since = board_version(b);
    } else if (clock_ms() - t->sent_ms >= LIMIT_EVENT_MS) {
        strbuf_add(&t->out, ":\n\n");
    }
}

static ssize_t read_stream(void *context, uint64_t position, char *out, size_t most)
{
    struct stream *t = context;
    (void)position;
    if (t->server->ending) return MHD_CONTENT_READER_END_OF_STREAM;
    if (t->sent == t->out.length) refill(t);
    size_t n = t->out.length - t->sent;
    if (n == 0) {
        t->suspended = true;
        MHD_suspend_connection(t->connection);
        return 0;
    }
    if (n > most) n = most;
    memcpy(out, t->out.text + t->sent, n);
    t->sent += n;
    t->sent_ms = clock_ms();
    return (ssize_t)n;
}

static void free_stream(void *context)
{
    struct stream *t = context;
    *t->link = t->next;
    if (t->next) t->next->link = t->link;
    t->server->n_streams--;
    strbuf_free(&t->out);
    free(t);
}

static struct stream *new_stream(struct server *s, struct MHD_Connection *c, uint64_t since)
{
    struct stream *t = base_calloc(1, sizeof *t);
    *t = (struct stream){.server = s, .connection = c, .since = since, .sent_ms = clock_ms()};
    strbuf_add(&t->out, "retry: 2000\n\n");
    t->next = s->streams;
    t->link = &s->streams;
    if (t->next) t->next->link = &t->next;
    s->streams = t;
    s->n_streams++;
    return t;
}

enum MHD_Result streams_answer(struct server *s, struct MHD_Connection *c, uint64_t since)
{
    enum { BLOCK = 16384 };
    struct stream *t = new_stream(s, c, since);
    struct MHD_Response *r =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream, t, free_stream);
    if (!r) {
        free_stream(t);
        return MHD_NO;
    }
    server_add_headers(r);
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream; charset=utf-8");
    MHD_add_response_header(r, "X-Accel-Buffering", "no");
    enum MHD_Result result = MHD_queue_response(c, MHD_HTTP_OK, r);
    MHD_destroy_response(r);
    return result;
}

void streams_wake(struct server *s, int64_t now_ms)
{
    for (struct stream *t = s->streams; t; t = t->next) {
        bool due = t->since != board_version(s->o.board) || now_ms - t->sent_ms >= LIMIT_EVENT_MS;
        if (!t->suspended || !(due || s->ending)) continue;
        t->suspended = false;
        MHD_resume_connection(t->connection);
    }
}
