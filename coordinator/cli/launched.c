/* See launched.h. Local agents need no port: without --listen they connect over a socket file in a folder
 * that only this user can enter. */
#include "coordinator/cli/launched.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/arena.h"

static const char ipc[] = "ipc://", socket_name[] = "/agents";

static void note(void *ctx, const char *line)
{
    (void)ctx;
    fprintf(stderr, "launcher: %s\n", line);
}

/* A folder of mode 0700 for the socket. */
static bool make_endpoint(struct cli_launched *l, struct diag *d)
{
    char folder[] = "/tmp/thresh-XXXXXX";
    if (mkdtemp(folder)) {
        snprintf(l->listen, sizeof l->listen, "%s%s%s", ipc, folder, socket_name);
        return true;
    }
    diag_plain(d, "--launch: cannot make a folder for the socket: %s", strerror(errno));
    return false;
}

static void remove_endpoint(struct cli_launched *l)
{
    if (!l->listen[0]) return;
    char *path = l->listen + strlen(ipc);
    unlink(path);
    path[strlen(path) - strlen(socket_name)] = 0;
    rmdir(path);
}

/* Local agents get a socket file; others must be told where to connect. */
static bool needs_endpoint(struct cli_launched *l, struct diag *d)
{
    if (l->options.kind == LAUNCH_LOCAL) return make_endpoint(l, d);
    diag_plain(d, "--launch %s: agents on other machines need --listen tcp://0.0.0.0:PORT and --keys DIR",
               launch_kind_name(l->options.kind));
    return false;
}

bool cli_launch_take(struct cli_launched *l, const struct launch_options *o, const char *listen,
                     struct diag *d)
{
    *l = (struct cli_launched){0};
    if (!o) return true;
    l->arena = arena_new();
    l->options = *o;
    return listen || needs_endpoint(l, d);
}

bool cli_launch_read(const struct cli_args *a, struct cli_launched *l, struct diag *d)
{
    *l = (struct cli_launched){0};
    if (!cli_given(a, CLI_LAUNCH)) return true;
    l->arena = arena_new();
    if (!launch_options_parse(a->value[CLI_LAUNCH], l->arena, &l->options, d)) return false;
    return cli_given(a, CLI_LISTEN) || needs_endpoint(l, d);
}

const char *cli_launch_endpoint(const struct cli_args *a, const struct cli_launched *l)
{
    return l->listen[0] ? l->listen : a->value[CLI_LISTEN];
}

bool cli_launch_begin(struct cli_launched *l, const char *endpoint, const char *keys, int *stop_fd,
                      struct diag *d)
{
    l->keeper = launch_keep(&l->options, endpoint, keys, *stop_fd, note, NULL, d);
    if (l->keeper) *stop_fd = launch_keeper_fd(l->keeper);
    return l->keeper != NULL;
}

bool cli_launch_start(const struct cli_args *a, struct cli_launched *l, int *stop_fd, struct diag *d)
{
    return !l->arena || cli_launch_begin(l, cli_launch_endpoint(a, l), a->value[CLI_KEYS], stop_fd, d);
}

bool cli_launch_end(struct cli_launched *l, struct diag *d)
{
    bool deserted = launch_keeper_end(l->keeper, d);
    l->keeper = NULL;
    remove_endpoint(l);
    arena_free(l->arena);
    return deserted;
}
