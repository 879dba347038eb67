/* Launching and timing one kernel, or a sequence of kernels, on a queue, inside a runner. Times are
 * nanoseconds.
 *
 *     measure_prefixes()   1, 8, 64, ... work-groups, until it is clear that the whole is within the limit
 *     measure_once()       the whole, once
 *     measure_batch()      the whole, 2 to 40 times in a row; a sample each */
#ifndef THRESH_AGENT_MEASURE_H
#define THRESH_AGENT_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/opencl.h"

/* A kernel that a device is busy with while launches are enqueued. */
struct measure_hold {
    cl_kernel kernel; /* one work-item, nothing in memory; NULL: none */
    cl_int rounds;    /* of a launch; they double when the host was not done in time */
};

/* A kernel of a sequence. */
struct measure_step {
    cl_kernel kernel; /* arguments are set */
    size_t global[3], local[3];
    bool free_local;
};

struct measure_launch {
    cl_command_queue queue; /* in order, with profiling */
    cl_kernel kernel;       /* arguments are set */
    size_t global[3], local[3];
    bool free_local;                 /* the work-group size is left to the device */
    unsigned n_more;                 /* kernels that follow in each launch, whose time is that of all; */
    const struct measure_step *more; /* they run as a whole, also in measure_first() */
    double expected_ns;              /* what a launch takes, about: nobody looks before; 0: unknown */
    size_t resident;                 /* work-groups that the device runs at once, at most; 0: unknown */
    struct measure_hold *hold;       /* of measure_batch(); NULL: launches may wait for the host */
    void (*alive)(void *ctx);        /* called now and then while waiting */
    void *ctx;
};

enum measure_end {
    MEASURE_DONE,
    MEASURE_FAILED, /* `error` says why */
    MEASURE_OVERDUE /* still running at the limit: the queue is unusable, end the process */
};

struct measure_result {
    enum measure_end end;
    bool disturbed; /* DONE: the process was stopped meanwhile, every time that it was tried */
    cl_int error;
    double ns;         /* device time of the launch */
    size_t groups, of; /* measure_prefixes(): where it stopped */
};

/* One launch over `global` work-items, waited for at most limit_ns, and some slack, of wall time. The caller
 * compares the device time with the limit. */
struct measure_result measure_once(const struct measure_launch *l, const size_t global[3], double limit_ns);
/* The same for a launch that the driver may make machine code at, while other processes build: limit_ns is of
 * this process's processor time, and three times of wall time. */
struct measure_result measure_first(const struct measure_launch *l, const size_t global[3], double limit_ns);
/* Launches growing prefixes of the work-groups, all but the whole: one over the limit proves that the whole
 * is, and so does one from which the waves of groups that the whole needs make more than twice the limit.
 * Stops when the whole would be within the limit even if it took as long a group. `ns` is the longest prefix;
 * over the limit: the one that decided, or what it makes the whole. */
struct measure_result measure_prefixes(const struct measure_launch *l, double limit_ns);
/* How many launches of about launch_ns make a batch: 5 to 40 near the best, or where none is known; else 5,
 * or 3 far from it; 2 if one fills a batch and is not near. */
unsigned measure_batch_size(double launch_ns, double batch_ns, double best_ns);
/* n launches enqueued at once; with l->hold in parts of a few, each behind a hold and taken again, with a
 * longer one, if the device was done with it before the last launch was enqueued. samples[i] is the device
 * time of launch i, from its start to its end; `ns` is the span over n, or that of the parts, with what is
 * between launches. */
struct measure_result measure_batch(const struct measure_launch *l, unsigned n, double limit_ns,
                                    double *samples);

/* A hold that takes some 60 us at first; without a kernel if the device does not build it. */
void measure_hold_open(struct measure_hold *h, cl_context context, cl_device_id device);
void measure_hold_close(struct measure_hold *h);

#endif
