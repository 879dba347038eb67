/* What server.c (connections, answers) and streams.c (events) share. Only for these two files. */
#ifndef THRESH_WEB_SERVER_STATE_H
#define THRESH_WEB_SERVER_STATE_H

#include <microhttpd.h>
#include <stdbool.h>

#include "coordinator/web/server.h"

/* A connection that waits for events. */
struct stream {
    struct server *server;
    struct MHD_Connection *connection;
    uint64_t since;       /* the version that it has been sent */
    struct strbuf out;    /* what is being sent */
    size_t sent;          /* bytes of it */
    int64_t sent_ms;      /* when the last byte went */
    bool suspended;       /* waits to be resumed */
    struct stream **link; /* what points to it */
    struct stream *next;
};

/* A connection, from when it was accepted. */
struct link {
    int fd;
    int64_t since_ms;  /* when its request began at the latest; 0: none is being read */
    struct link **ref; /* what points to it */
    struct link *next;
};

struct server {
    struct server_options o;
    struct MHD_Daemon *daemon;
    struct stream *streams;
    struct link *links;
    unsigned n_streams;
    bool ending;
    int64_t due_ms;    /* of the next look at the store */
    int64_t looked_ms; /* when a page was last asked for; 0: never */
    int64_t scraped_ms;
};

/* Answers with events from version `since` on. */
enum MHD_Result streams_answer(struct server *s, struct MHD_Connection *c, uint64_t since);
/* Wakes the streams that have something to send; all of them if the server is ending. */
void streams_wake(struct server *s, int64_t now_ms);
/* Headers that every answer has. */
void server_add_headers(struct MHD_Response *r);

#endif
