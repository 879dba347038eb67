/* thresh agent: serves a coordinator with one device. */
#include <stdio.h>
#include <zmq.h>

#include "agent/serve.h"
#include "coordinator/cli/cli.h"
#include "coordinator/hub.h"

/* Whether the endpoint is well formed, tried on a socket of its own. */
static bool check_endpoint(void *context, const char *endpoint, struct diag *d)
{
    if (!hub_check_port(endpoint, d)) return false;
    int linger = 0;
    void *socket = zmq_socket(context, ZMQ_DEALER);
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
    bool ok = zmq_connect(socket, endpoint) == 0;
    if (!ok) diag_plain(d, "cannot connect to %s: %s", endpoint, zmq_strerror(zmq_errno()));
    zmq_close(socket);
    return ok;
}

static int run_agent(const struct cli_args *a)
{
    struct diag *d = diag_new();
    uint64_t runners;
    struct serve_options o = {.endpoint = a->value[CLI_CONNECT], .stop_fd = cli_signals()};
    int status = CLI_USAGE;
    if (!o.endpoint)
        diag_plain(d, "--connect ENDPOINT is missing");
    else if (cli_count(a, CLI_RUNNERS, 0, &runners, d) && device_select(a->value[CLI_DEVICE], &o.device, d)) {
        o.runners = runners < 64 ? (unsigned)runners : 64;
        o.context = zmq_ctx_new();
        bool ok = check_endpoint(o.context, o.endpoint, d);
        if (ok && !cli_given(a, CLI_QUIET))
            fprintf(stderr, "serving %s with %s\n", o.endpoint, o.device.name);
        if (ok) status = agent_serve(&o, d) ? CLI_OK : CLI_FAILED;
        zmq_ctx_term(o.context);
    }
    return cli_finish(d, cli_signal_status(o.stop_fd, status));
}

const struct cli_command cli_agent = {
    .name = "agent",
    .positional = "",
    .takes = CLI_TAKES(CONNECT) | CLI_TAKES(DEVICE) | CLI_TAKES(RUNNERS) | CLI_TAKES(QUIET),
    .help = "Serves a coordinator that listens (thresh tune --listen ENDPOINT).\v"
            "Example: thresh agent --connect tcp://127.0.0.1:5555 --device gpu",
    .run = run_agent,
};
