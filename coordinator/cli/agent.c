/* thresh agent: serves a coordinator with one device. thresh device: what devices there are. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zmq.h>

#include "agent/serve.h"
#include "coordinator/cli/cli.h"

enum { MOST_DEVICES = 64 };

/* Whether the endpoint is well formed, tried on a socket of its own. */
static bool check_endpoint(void *context, const char *endpoint, struct diag *d)
{
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

/* ---- devices ---- */

static json_t *device_json(const struct device *dev)
{
    return json_pack("{s:i,s:s,s:s,s:s,s:s,s:i,s:I,s:I,s:I,s:I}", "number", (int)dev->index, "name",
                     dev->name, "platform", dev->platform, "driver", dev->driver, "type",
                     dev->gpu ? "gpu" : "cpu", "compute_units", (int)dev->compute_units, "global_bytes",
                     (json_int_t)dev->global_bytes, "max_alloc_bytes", (json_int_t)dev->max_alloc_bytes,
                     "local_bytes", (json_int_t)dev->limits.local_bytes, "max_work_group",
                     (json_int_t)dev->limits.max_work_group);
}

static void print_device(const struct device *dev)
{
    printf("%u  %s  (%s, %s, %u compute units)\n", dev->index, dev->name, dev->platform,
           dev->gpu ? "gpu" : "cpu", dev->compute_units);
}

static void list_devices(const struct cli_args *a, struct diag *d)
{
    struct device devices[MOST_DEVICES];
    unsigned n = device_list(devices, MOST_DEVICES, d);
    json_t *array = json_array();
    for (unsigned i = 0; i < n; i++) {
        json_array_append_new(array, device_json(&devices[i]));
        if (!cli_given(a, CLI_JSON)) print_device(&devices[i]);
    }
    if (cli_given(a, CLI_JSON))
        cli_print_json(json_pack("{s:o}", "devices", array));
    else
        json_decref(array);
}

static void show_device(const struct cli_args *a, struct diag *d)
{
    struct device dev;
    const char *selector = a->n_positional > 1 ? a->positional[1] : a->value[CLI_DEVICE];
    if (!device_select(selector, &dev, d)) return;
    if (cli_given(a, CLI_JSON)) {
        cli_print_json(device_json(&dev));
        return;
    }
    print_device(&dev);
    printf("driver           %s\nglobal memory    %" PRId64 " bytes, largest allocation %" PRId64 "\n",
           dev.driver, dev.global_bytes, dev.max_alloc_bytes);
    printf("local memory     %" PRId64 " bytes\nwork-group       %" PRId64 " work-items\n",
           dev.limits.local_bytes, dev.limits.max_work_group);
}

static int run_device(const struct cli_args *a)
{
    struct diag *d = diag_new();
    if (strcmp(a->positional[0], "list") == 0)
        list_devices(a, d);
    else if (strcmp(a->positional[0], "show") == 0)
        show_device(a, d);
    else
        diag_plain(d, "'%s' is none of list, show", a->positional[0]);
    return cli_finish(d, CLI_OK);
}

const struct cli_command cli_device = {
    .name = "device",
    .positional = "list|show [SEL]",
    .least = 1,
    .most = 2,
    .takes = CLI_TAKES(DEVICE) | CLI_TAKES(JSON),
    .help = "Lists OpenCL devices in a stable order, or describes one.\v"
            "Example: thresh device list --json",
    .run = run_device,
};
