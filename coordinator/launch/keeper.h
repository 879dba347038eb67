/* A thread that keeps a launch, for a coordinator that has other things to do:
 *
 *     k = launch_keep(&options, endpoint, keys, stop_fd, note, ctx, d);
 *     search with launch_keeper_fd(k) as its stop_fd
 *     all_failed = launch_keeper_end(k, d);
 *
 * The thread owns the launch, since agents die with the thread that started them. */
#ifndef THRESH_LAUNCH_KEEPER_H
#define THRESH_LAUNCH_KEEPER_H

#include "coordinator/launch/launch.h"

struct launch_keeper;

/* Starts agents as launch_start() does. stop_fd: readable when the search is to end early; -1: none. note: is
 * told, on the thread, what the user should know, a line each (events, but for starts and regular ends). NULL
 * after an error. */
struct launch_keeper *launch_keep(const struct launch_options *o, const char *endpoint, const char *keys,
                                  int stop_fd, void (*note)(void *ctx, const char *line), void *ctx,
                                  struct diag *d);
/* Readable when stop_fd is, and when no agent is left: the search is to end. */
int launch_keeper_fd(const struct launch_keeper *k);
/* Ends the agents and the thread. Returns whether no agent was left before, and adds an error then that says
 * why. NULL is allowed. */
bool launch_keeper_end(struct launch_keeper *k, struct diag *d);

#endif
