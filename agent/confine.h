/* What a runner may do: limits that a process takes upon itself before it loads a driver, and cannot drop.
 *
 *     confine_self();
 *     socket(AF_INET, SOCK_STREAM, 0)      fails with EPERM; AF_UNIX, which drivers use, does not
 *
 * They guard the machine and the network against a driver or a kernel that goes astray. They are no sandbox
 * for hostile code: a runner reads and writes the files of its user. */
#ifndef THRESH_AGENT_CONFINE_H
#define THRESH_AGENT_CONFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Limits this process and what it starts, for good: no core dump, sizes and number of files, no new
 * privileges, no internet sockets, none of the calls that trace processes, mount, load modules or set clocks.
 * What the system does not support is left out. */
void confine_self(void);
/* Whether the system can refuse system calls; why (n bytes) says what follows where it cannot. */
bool confine_refuses(char *why, size_t n);
/* The child ends by SIGXCPU once it has used so much processor time in all, ms. */
void confine_processor(pid_t pid, double ms);

#endif
