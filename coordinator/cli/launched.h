/* --launch: agents that `thresh tune` starts itself. */
#ifndef THRESH_CLI_LAUNCHED_H
#define THRESH_CLI_LAUNCHED_H

#include "coordinator/cli/cli.h"
#include "coordinator/launch/keeper.h"

struct cli_launched {
    struct arena *arena;           /* of the options; NULL: --launch was not given */
    struct launch_options options; /* what it says */
    char listen[64];               /* endpoint of local agents, if --listen is not given; "": none */
    struct launch_keeper *keeper;
};

/* Reads --launch. false after an error: bad settings, a missing --listen. */
bool cli_launch_read(const struct cli_args *a, struct cli_launched *l, struct diag *d);
/* The same for options from elsewhere (NULL: nothing is launched) and an endpoint (NULL: none is named). */
bool cli_launch_take(struct cli_launched *l, const struct launch_options *o, const char *listen,
                     struct diag *d);
/* Starts the agents for a coordinator at an endpoint, with its keys; NULL: none. */
bool cli_launch_begin(struct cli_launched *l, const char *endpoint, const char *keys, int *stop_fd,
                      struct diag *d);
/* Where the coordinator is to listen; NULL: nowhere. */
const char *cli_launch_endpoint(const struct cli_args *a, const struct cli_launched *l);
/* Starts the agents, if there are any to start. *stop_fd is replaced by one that is readable also when no
 * agent is left. false after an error. */
bool cli_launch_start(const struct cli_args *a, struct cli_launched *l, int *stop_fd, struct diag *d);
/* Ends the agents and releases l. Returns whether all were gone before, which is an error in d. */
bool cli_launch_end(struct cli_launched *l, struct diag *d);

#endif
