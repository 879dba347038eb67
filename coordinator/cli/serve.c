/* thresh serve: the page of a store, live.
 *
 *     thresh serve runs.db                   http://127.0.0.1:8780/ until Ctrl-C
 *
 * One thread does all but studies: it waits for connections, for a finished study and for a signal. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/cli/cli.h"
#include "coordinator/cli/kind.h"
#include "coordinator/cli/page.h"
#include "core/base/stop.h"

enum { DEFAULT_PORT = 8780 };

/* What the options say. */
struct serving {
    const char *store, *address;
    uint16_t port;
    struct access access;
    struct listener listener;
    int signal_fd;
};

static bool read_port(const struct cli_args *a, uint16_t *port, struct diag *d)
{
    uint64_t n;
    if (!cli_count(a, CLI_PORT, DEFAULT_PORT, &n, d)) return false;
    *port = (uint16_t)n;
    if (n <= UINT16_MAX) return true;
    diag_plain(d, "--port: %s is not a port number (0 to %d)", a->value[CLI_PORT], UINT16_MAX);
    return false;
}

/* Beyond loopback everybody on the network could read the programs and their times. */
static bool read_options(const struct cli_args *a, struct serving *s, struct diag *d)
{
    bool ok;
    s->store = a->positional[0];
    s->address = cli_given(a, CLI_BIND) ? a->value[CLI_BIND] : "127.0.0.1";
    s->access.loopback = listen_is_loopback(s->address, &ok, d);
    if (!ok || !read_port(a, &s->port, d)) return false;
    if (cli_given(a, CLI_TOKEN_FILE)) return access_read_token(&s->access, a->value[CLI_TOKEN_FILE], d);
    if (s->access.loopback) return true;
    diag_plain(d,
               "--bind %s: other machines can connect to this address; add --token-file FILE (made with a "
               "random token if it "
               "is missing)",
               s->address);
    return false;
}

void cli_serve_until(struct server *server, const struct board *board, int stop_fd)
{
    while (!stop_requested(stop_fd)) {
        struct pollfd fds[] = {{.fd = server_fd(server), .events = POLLIN},
                               {.fd = board_fd(board), .events = POLLIN},
                               {.fd = stop_fd, .events = POLLIN}};
        poll(fds, sizeof fds / sizeof fds[0], (int)server_wait_ms(server));
        server_run(server);
    }
}

static void print_address(const struct cli_args *a, const struct serving *s)
{
    printf("%s\n", s->listener.url);
    fflush(stdout);
    if (cli_given(a, CLI_QUIET)) return;
    if (*s->access.token)
        fprintf(stderr, "open %s?token=TOKEN with the token in %s; Ctrl-C ends\n", s->listener.url,
                a->value[CLI_TOKEN_FILE]);
    else
        fprintf(stderr, "open this address in a browser; Ctrl-C ends\n");
}

static void serve_board(const struct cli_args *a, struct serving *s, struct board *board, struct diag *d)
{
    if (!listen_open(s->address, s->port, "--port", &s->listener, d)) return;
    snprintf(s->access.cookie, sizeof s->access.cookie, "thresh_%u", s->listener.port);
    struct server_options o = {s->listener.fd, &s->access, board, cli_version};
    struct server *server = server_start(&o, d);
    if (!server) {
        close(s->listener.fd);
        return;
    }
    print_address(a, s);
    cli_serve_until(server, board, s->signal_fd);
    server_stop(server);
}

static int run(const struct cli_args *a)
{
    struct diag *d = diag_new();
    struct serving s = {.signal_fd = -1};
    if (cli_expect_kind(a->positional[0], CLI_KIND_STORE, d) && read_options(a, &s, d)) {
        s.signal_fd = cli_signals();
        const struct report_opener opener = {cli_open_run, (void *)(uintptr_t)a, a->value[CLI_DESCRIPTION],
                                             s.signal_fd};
        struct board *board = board_new(s.store, &opener, cli_version, d);
        if (board) serve_board(a, &s, board, d);
        board_free(board);
    }
    if (diag_failed(d)) return cli_finish(d, CLI_OK);
    cli_finish(d, CLI_OK);
    return cli_signal_status(s.signal_fd, CLI_OK);
}

const struct cli_command cli_serve = {
    .name = "serve",
    .positional = "STORE.db",
    .least = 1,
    .most = 1,
    .takes = {CLI_TAKES(PORT), CLI_TAKES(BIND), CLI_TAKES(TOKEN_FILE), CLI_TAKES(DEVICE),
              CLI_TAKES(DESCRIPTION), CLI_TAKES(QUIET)},
    .help = "Serves the page of 'thresh report' at an address for browsers, until Ctrl-C. The page updates "
            "itself while a search writes to the store; the search is not asked for anything. The address is "
            "printed on standard output.\n"
            "At /metrics are figures for Prometheus, at /healthz 'ok' as long as the store can be read, at "
            "/events the changes of the page as server-sent events. Only GET and HEAD are answered, and "
            "nothing can be changed.\n"
            "# Who can see it\n"
            "By default only users of this machine can connect. --bind with another address needs "
            "--token-file: a file with mode 0600 that holds a token. Open the page once with ?token=TOKEN; "
            "the browser keeps it as a cookie. Other programs send 'Authorization: Bearer TOKEN'. The "
            "connection is not encrypted: across a network that others listen to, use 'ssh -L "
            "8780:localhost:8780' "
            "instead of --bind, or a proxy with TLS. /healthz needs no token.\v"
            "Example: thresh serve runs.db\n"
            "Example: thresh serve runs.db --bind 0.0.0.0 --port 80 --token-file ~/.thresh-token",
    .run = run,
};
