/* thresh agent: serves a coordinator with one device. */
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <zmq.h>

#include "agent/serve.h"
#include "coordinator/cli/cli.h"
#include "coordinator/hub.h"

/* Whether the host of a tcp:// endpoint exists. ZeroMQ looks it up again and again in the background, and
 * tells nobody that there is none. */
static bool check_host(const char *endpoint, struct diag *d)
{
    static const char tcp[] = "tcp://";
    char host[256];
    struct addrinfo *found = NULL;
    if (strncmp(endpoint, tcp, strlen(tcp)) != 0) return true;
    const char *from = endpoint + strlen(tcp), *colon = strrchr(endpoint, ':');
    if (*from == '[') return true; /* an address of IPv6 */
    snprintf(host, sizeof host, "%.*s", (int)(colon - from), from);
    int error = getaddrinfo(host, NULL, &(struct addrinfo){.ai_family = AF_INET}, &found);
    if (error)
        diag_plain(d, "cannot connect to %s: host '%s': %s", endpoint, host, gai_strerror(error));
    else
        freeaddrinfo(found);
    return error == 0;
}

/* Another process is reached by TCP or by a socket file. What looks like HOST:PORT lacks only the transport.
 */
static bool check_transport(const char *endpoint, struct diag *d)
{
    if (strncmp(endpoint, "tcp://", 6) == 0 || strncmp(endpoint, "ipc://", 6) == 0) return true;
    const char *colon = strchr(endpoint, ':');
    bool has_port = colon && colon > endpoint && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")];
    diag_plain(d, "--connect: '%s' is not an endpoint (tcp://HOST:PORT or ipc://FILE)%s%s%s", endpoint,
               has_port ? "; did you mean 'tcp://" : "", has_port ? endpoint : "", has_port ? "'?" : "");
    return false;
}

/* Whether the endpoint is well formed and its host exists, tried on a socket of its own. */
static bool check_endpoint(void *context, const char *endpoint, struct diag *d)
{
    if (!check_transport(endpoint, d)) return false;
    if (!hub_check_port(endpoint, d) || !check_host(endpoint, d)) return false;
    int linger = 0;
    void *socket = zmq_socket(context, ZMQ_DEALER);
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
    bool ok = zmq_connect(socket, endpoint) == 0;
    if (!ok) diag_plain(d, "cannot connect to %s: %s", endpoint, zmq_strerror(zmq_errno()));
    zmq_close(socket);
    return ok;
}

static void note(const char *text)
{
    fprintf(stderr, "%s\n", text);
}

/* Reads the options into *o. false after an error. */
static bool read_options(const struct cli_args *a, struct serve_options *o, struct diag *d)
{
    uint64_t runners;
    if (!o->endpoint) {
        diag_plain(d, "missing --connect ENDPOINT, such as --connect tcp://127.0.0.1:7000");
        return false;
    }
    if (!cli_count(a, CLI_RUNNERS, 0, &runners, d)) return false;
    o->runners = runners < 64 ? (unsigned)runners : 64;
    return check_endpoint(o->context, o->endpoint, d) && device_select(a->value[CLI_DEVICE], &o->device, d);
}

static int run_agent(const struct cli_args *a)
{
    struct diag *d = diag_new();
    bool quiet = cli_given(a, CLI_QUIET);
    struct serve_options o = {.context = zmq_ctx_new(),
                              .endpoint = a->value[CLI_CONNECT],
                              .name = a->value[CLI_NAME],
                              .note = quiet ? NULL : note,
                              .stop_fd = cli_signals()};
    int status = CLI_USAGE;
    if (read_options(a, &o, d)) {
        if (!quiet) fprintf(stderr, "connecting to %s with %s\n", o.endpoint, o.device.name);
        status = agent_serve(&o, d) ? CLI_OK : CLI_FAILED;
    }
    zmq_ctx_term(o.context);
    return cli_finish(d, cli_signal_status(o.stop_fd, status));
}

const struct cli_command cli_agent = {
    .name = "agent",
    .positional = "--connect ENDPOINT",
    .takes = CLI_TAKES(CONNECT) | CLI_TAKES(DEVICE) | CLI_TAKES(RUNNERS) | CLI_TAKES(NAME) | CLI_TAKES(QUIET),
    .help = "Measures implementations for a coordinator that listens (thresh tune --listen ENDPOINT).\v"
            "Example: thresh agent --connect tcp://127.0.0.1:7000 --device gpu",
    .run = run_agent,
};
