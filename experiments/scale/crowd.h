/* Agents that measure nothing: they answer each job after a while with a time that follows from its
 * decisions, from 1 to 11 ms. One thread stands for thousands of them, and has them in turns:
 *
 *     struct crowd *c = crowd_new("ipc://meet/socket", 1000, 8, 1);      1,000 agents with room for 8 jobs
 *     while (crowd_turn(c)) nanosleep(...);
 *
 * An agent is done when the coordinator has said bye. They have a device that is made up (device.h). */
#ifndef THRESH_SCALE_CROWD_H
#define THRESH_SCALE_CROWD_H

#include <stdbool.h>
#include <stddef.h>

enum { CROWD_MOST = 4000 };

struct crowd;

/* Connects them; they say hello. job_ms: how long they work at a job. NULL after an error, which is on
 * standard error. */
struct crowd *crowd_new(const char *endpoint, unsigned n, unsigned room, double job_ms);
void crowd_set_job_ms(struct crowd *c, double job_ms);
/* Each agent takes what has arrived, and answers what is due. false: all are done, or some are and the others
 * have heard nothing for five seconds: a coordinator that ends does not wait until each bye has arrived. */
bool crowd_turn(struct crowd *c);
/* Jobs that they have now. */
unsigned crowd_jobs(const struct crowd *c);
/* Times from a result to the next job of the same agent, where it had none, in ms. Sets *n; owned by c. */
const double *crowd_waits(const struct crowd *c, size_t *n);
/* Closing thousands of sockets takes long: a process that ends may leave it. */
void crowd_free(struct crowd *c);

#endif
