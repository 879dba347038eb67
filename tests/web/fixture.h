/* A store that is served, and requests to it over loopback:
 *
 *     struct web_fixture f = web_fixture_open(NULL);
 *     char *answer = web_get(&f, "/healthz", "");
 *     free(answer);
 *     web_fixture_close(&f); */
#ifndef THRESH_TESTS_WEB_FIXTURE_H
#define THRESH_TESTS_WEB_FIXTURE_H

#include "tests/coordinator/store_fixture.h"
#include "tests/e2e/run.h"
#include "core/base/strbuf.h"

struct web_fixture {
    struct store_fixture store; /* with store_fixture_fill(), closed */
    struct e2e_process server;
    unsigned port;
    char folder[32]; /* empty but for what a test puts there */
};

enum { WEB_MOST_OPTIONS = 8 };

/* Makes the store, starts `thresh serve STORE --port 0 OPTIONS...` and waits until it listens. options end
 * with NULL; NULL: none. */
struct web_fixture web_fixture_open(const char *const *options);
/* Ends it with a signal, checks that it ends as it should, removes all files. */
void web_fixture_close(struct web_fixture *f);
/* The same with a store of the caller; f is all zeros. */
void web_fixture_start(struct web_fixture *f, const char *store, const char *const *options);
void web_fixture_stop(struct web_fixture *f);

/* A connection to the port of loopback. */
int web_connect(unsigned port);
void web_send(int fd, const char *text);
/* All until the other end closes; malloc'd. */
char *web_read_all(int fd);
/* Appends what comes until `text` is there; false: the connection ended before. */
bool web_read_until(int fd, struct strbuf *got, const char *text);

/* GET PATH with these headers ("Name: value\r\n" each), beside Host unless they have one. The whole answer,
 * malloc'd. */
char *web_get(const struct web_fixture *f, const char *path, const char *headers);
/* Its status; frees it. */
int web_status(char *answer);

#endif
