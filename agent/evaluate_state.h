/* The evaluator's state, shared by the files evaluate*.c: evaluate.c takes jobs and gives results,
 * evaluate_slots.c runs them on its runners, evaluate_lock.c says which of them may run, evaluate_reference.c
 * makes what they are verified against. One thread owns all of it. */
#ifndef THRESH_AGENT_EVALUATE_STATE_H
#define THRESH_AGENT_EVALUATE_STATE_H

#include <sys/types.h>

#include "agent/child.h"
#include "agent/device_lock.h"
#include "agent/runner.h"

/* A job from its submission until its result is taken. */
struct pending {
    struct pending *next;
    uint64_t id;
    double limit_ns;
    void *message;
    size_t bytes;
    struct evaluation result;
};

struct queue {
    struct pending *first, **end;
};

enum slot_state { STARTING, IDLE, BUILDING, WAITING, RUNNING };

struct slot {
    pid_t pid; /* not positive: no runner */
    int fd;
    enum slot_state state;
    struct pending *job;
    double kill_at, stopped_at; /* ms; INFINITY: none. stopped_at 0: not stopped */
    double built_from, used;    /* BUILDING: ms of the clock, and of processor time, at its start */
    uint64_t ticket;            /* place in the line for the lock */
    size_t length;              /* bytes of `in` */
    unsigned char in[sizeof(struct child_frame) + RUNNER_MAX_REPLY];
};

struct evaluator {
    struct verify_task *task;
    double transfer_ms; /* patience with filling, reading and comparing all outputs */
    struct runner_setup setup;
    bool gpu, lost;
    struct verify_tolerance tolerance[VERIFY_MOST_SETS];
    uint64_t submitted; /* jobs so far */
    unsigned n_slots;
    struct slot slots[EVAL_MAX_RUNNERS];
    struct slot *holder;      /* of the device, among the runners */
    struct device_lock *lock; /* of the machine; NULL: it could not be made, or is not needed */
    char note[EVAL_MESSAGE];  /* why it could not */
    double locked_at;         /* ms: when the lock was last taken */
    bool keeps;               /* between jobs too */
    bool paused;              /* the runners are stopped, since another process measures */
    uint64_t tickets;
    unsigned failed_starts; /* in a row, with no other runner */
    unsigned idle_deaths;   /* of runners that had nothing to do, since the last one that had */
    char start_error[EVAL_MESSAGE];
    struct queue waiting, done;
    unsigned in_flight;        /* submitted, result not taken */
    int timer;                 /* timerfd at the next kill time */
    double looked_at;          /* ms: when it was last looked whether a runner is overdue */
    struct eval_caller caller; /* stop_fd -1: none, or it has ended everything */
};

/* A build may take so long by the clock, a launch with a limit of limit_ns so long until it is killed. */
#define EVALUATE_BUILD_MS 600e3
#define EVALUATE_LAUNCH_MS(limit_ns) (3e-6 * (limit_ns) + 1e3)

void evaluate_push(struct queue *q, struct pending *j);
struct pending *evaluate_pop(struct queue *q); /* NULL: empty */

/* ---- evaluate_lock.c ---- */

/* Lets the runner that has waited longest run, if the device is free. */
void evaluate_grant(struct evaluator *ev);
/* The runner runs no longer; the device is given back, unless it is kept. */
void evaluate_unlock(struct evaluator *ev, const struct slot *s);
/* On a CPU device: stops the runners while another process measures. */
void evaluate_heed(struct evaluator *ev);
/* When the lock is to be looked at next, ms of the clock; INFINITY: not before something happens. */
double evaluate_next_look(const struct evaluator *ev);
/* Moves the kill time of a runner that has shown a sign of life with the device. */
void evaluate_running_alive(const struct evaluator *ev, struct slot *s);

/* ---- evaluate_slots.c ---- */

/* Forks a runner into the slot. Where that is not possible the others do without it; without any the device
 * is lost. */
void evaluate_start_runner(struct evaluator *ev, struct slot *s);
/* One step: hand out jobs and the lock, wait for the runners at most wait_ms (-1: until something happens),
 * serve them. */
void evaluate_step(struct evaluator *ev, int wait_ms);
/* Ends what waits: the device is lost. */
void evaluate_lose(struct evaluator *ev);

/* Submits to an idle evaluator and waits. */
void evaluate_alone(struct evaluator *ev, enum runner_mode mode, const struct cg_kernel *k,
                    const struct eval_settings *s, struct evaluation *out);

#endif
