/* thresh agent: measures implementations on one device for a coordinator that listens elsewhere. */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <zmq.h>

#include "agent/serve.h"
#include "coordinator/cli/cli.h"
#include "coordinator/endpoint.h"
#include "core/keys/agent.h"

/* Checks that the host of a tcp:// endpoint exists. ZeroMQ resolves the name in the background and reports no
 * error. */
static bool check_host(const char *endpoint, struct diag *d)
{
    static const char tcp[] = "tcp://";
    char host[256];
    struct addrinfo *found = NULL;
    if (strncmp(endpoint, tcp, strlen(tcp)) != 0) return true;
    const char *from = endpoint + strlen(tcp), *colon = strrchr(endpoint, ':');
    if (*from == '[') return true; /* an IPv6 address */
    snprintf(host, sizeof host, "%.*s", (int)(colon - from), from);
    int error = getaddrinfo(host, NULL, &(struct addrinfo){.ai_family = AF_INET}, &found);
    if (error)
        diag_plain(d, "cannot connect to %s: host '%s': %s", endpoint, host, gai_strerror(error));
    else
        freeaddrinfo(found);
    return error == 0;
}

/* Checks the transport: TCP, or a socket file. HOST:PORT lacks only "tcp://". */
static bool check_transport(const char *endpoint, struct diag *d)
{
    if (strncmp(endpoint, "tcp://", 6) == 0 || strncmp(endpoint, "ipc://", 6) == 0) return true;
    const char *colon = strchr(endpoint, ':');
    bool has_port = colon && colon > endpoint && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")];
    diag_plain(d, "--connect: '%s' is not an endpoint (tcp://HOST:PORT or ipc://FILE)%s%s%s", endpoint,
               has_port ? "; did you mean 'tcp://" : "", has_port ? endpoint : "", has_port ? "'?" : "");
    return false;
}

/* Checks that the endpoint is well formed and that its host exists. A socket file is tried on a separate
 * socket; over TCP the coordinator would see that as an agent. */
static bool check_endpoint(void *context, const char *endpoint, struct diag *d)
{
    if (!check_transport(endpoint, d)) return false;
    if (!endpoint_check_port(endpoint, d) || !check_host(endpoint, d)) return false;
    if (strncmp(endpoint, "tcp://", 6) == 0) return true;
    int linger = 0;
    void *socket = zmq_socket(context, ZMQ_DEALER);
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
    bool ok = zmq_connect(socket, endpoint) == 0;
    if (!ok) diag_plain(d, "cannot connect to %s: %s", endpoint, zmq_strerror(zmq_errno()));
    zmq_close(socket);
    return ok;
}

/* Reads the key of --key. false after an error. */
static bool read_key(const struct cli_args *a, struct keys_agent **key, struct diag *d)
{
    const char *path = a->value[CLI_KEY];
    *key = NULL;
    if (!path) return true;
    if (strncmp(a->value[CLI_CONNECT], "ipc://", 6) != 0) {
        *key = keys_agent_read(path, d);
        return *key != NULL;
    }
    diag_plain(d, "--key applies to tcp:// endpoints only");
    return false;
}

static void note(const char *text)
{
    fprintf(stderr, "%s\n", text);
}

/* Reads --until: how long from now, in seconds. 0: not given. false after an error. */
static bool read_until(const struct cli_args *a, double *out, struct diag *d)
{
    const char *text = a->value[CLI_UNTIL];
    if (!text || *text != '@') return cli_seconds(a, CLI_UNTIL, out, d);
    char *end;
    long long at = strtoll(text + 1, &end, 10);
    *out = (double)(at - (long long)time(NULL));
    if (end == text + 1 || *end)
        diag_plain(d, "--until: '%s' is not a time; write for example 90m or @$SLURM_JOB_END_TIME", text);
    else if (*out <= 0)
        diag_plain(d, "--until: the time %s is over", text);
    else
        return true;
    return false;
}

/* Reads the options into *o. Devices are listed by a child process, which is forked before ZeroMQ has
 * threads: a lock that another thread holds in a fork is never released in the child. false after an error.
 */
static bool read_options(const struct cli_args *a, struct serve_options *o, struct keys_agent **key,
                         struct diag *d)
{
    if (!o->endpoint) {
        diag_plain(d, "missing --connect ENDPOINT; write for example --connect tcp://127.0.0.1:7000");
        return false;
    }
    return cli_runners(a, &o->runners, d) && cli_seconds(a, CLI_TIMEOUT, &o->patience_s, d) &&
           read_until(a, &o->most_s, d) && device_select(a->value[CLI_DEVICE], &o->device, d) &&
           check_endpoint(o->context, o->endpoint, d) && read_key(a, key, d);
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
    struct keys_agent *key = NULL;
    if (read_options(a, &o, &key, d)) {
        o.key = key;
        if (!quiet) fprintf(stderr, "connecting to %s with %s\n", o.endpoint, o.device.name);
        status = agent_serve(&o, d) ? CLI_OK : CLI_FAILED;
    }
    zmq_ctx_term(o.context);
    keys_agent_free(key);
    return cli_finish(d, cli_signal_status(o.stop_fd, status));
}

const struct cli_command cli_agent = {
    .name = "agent",
    .positional = "--connect ENDPOINT",
    .takes = {CLI_TAKES(CONNECT), CLI_TAKES(KEY), CLI_TAKES(DEVICE), CLI_TAKES(RUNNERS), CLI_TAKES(NAME),
              CLI_TAKES(QUIET), CLI_TAKES(UNTIL), CLI_TAKES(TIMEOUT)},
    .help =
        "Measures implementations for a search in another process. Start the search with 'thresh tune "
        "--listen ENDPOINT', then agents with the same endpoint, as many as there are devices. An agent ends "
        "when the search ends. If the search is killed, the agent waits half a minute, or as long as "
        "--timeout "
        "says, for a new one at the same endpoint.\n"
        "Ctrl-C, SIGTERM and --until end an agent without loss: it returns the jobs that it has not begun, "
        "finishes the others, and leaves. A second signal ends it at once.\n"
        "A coordinator with --keys admits only agents with a key: give --key the file that 'thresh keys new' "
        "made for this agent. Several agents may use the same file.\v"
        "Example: thresh agent --connect tcp://127.0.0.1:7000 --device gpu\n"
        "         thresh agent --connect tcp://login1:7000 --key node1.key_secret",
    .notes = {{CLI_TIMEOUT, "30s", "wait this long for a coordinator that is silent (default 30s)"}},
    .run = run_agent,
};
