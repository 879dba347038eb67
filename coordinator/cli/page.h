/* The page of a store beside a command that writes to it, in a process of its own: nobody who reads the page
 * can hold up a search.
 *
 *     cli_page_start(a, "night.db", 8780, &page, d);     http://127.0.0.1:8780/
 *     ...
 *     cli_page_end(&page); */
#ifndef THRESH_CLI_PAGE_H
#define THRESH_CLI_PAGE_H

#include <sys/types.h>

#include "coordinator/cli/cli.h"
#include "coordinator/web/listen.h"
#include "coordinator/web/server.h"

struct cli_page {
    pid_t pid;                  /* 0: none */
    char url[LISTEN_URL_BYTES]; /* where it is */
};

/* Starts a process that serves the store on loopback until cli_page_end(), or until this thread ends. port 0:
 * any free one. The store must exist. Call it before this process starts threads other than that of
 * cli_signals(). false after an error, such as a port that is in use. */
bool cli_page_start(const struct cli_args *a, const char *store, uint16_t port, struct cli_page *out,
                    struct diag *d);
void cli_page_end(struct cli_page *p);

/* Answers requests until the descriptor is readable; -1: always. */
void cli_serve_until(struct server *server, const struct board *board, int stop_fd);

#endif
