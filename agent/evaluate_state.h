/* The evaluator's state, shared by the files evaluate*.c: evaluate.c takes jobs and gives results,
 * evaluate_slots.c runs them on its runners, evaluate_lock.c says which of them may run, evaluate_watch.c
 * which of them are to be ended, evaluate_again.c looks again at wrong results, evaluate_reference.c makes
 * what they are verified against. One thread owns all of it; a second one checks the reference
 * (evaluate_reference.c). */
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
    long arrays_kib; /* its temporaries, which are memory of the runner on a CPU */
    bool again;      /* it was begun once, and the compiler's folder was full */
    void *message;
    size_t bytes;
    bool doubted; /* its result is wrong; it is built and run once more, without optimizations */
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
    double busy_at, progress;   /* BUILDING: when processor time was last seen to grow, and to what; ms */
    double watched_at;          /* ms: when memory and progress were last looked at */
    long base_kib;              /* memory of the runner when it was ready */
    uint64_t ticket;            /* place in the line for the lock */
    size_t length;              /* bytes of `in` */
    unsigned char in[sizeof(struct child_frame) + RUNNER_MAX_REPLY];
};

struct evaluator {
    struct verify_task *task;
    double transfer_ms; /* patience with filling, reading and comparing all outputs */
    struct runner_setup setup;
    bool gpu, lost;
    struct verify_tolerance tolerance[VERIFY_MOST_TOLERANCES];
    uint64_t submitted;        /* jobs so far */
    unsigned second_looks;     /* at wrong results so far */
    unsigned n_slots, n_begun; /* slots that have had a runner: the first n_begun */
    struct slot slots[AGENT_RUNNERS_MOST];
    struct slot *holder;      /* of the device, among the runners */
    struct device_lock *lock; /* of the machine; NULL: it could not be made, or is not needed */
    char note[EVAL_MESSAGE];  /* why it could not */
    double locked_at;         /* ms: when the lock was last taken */
    bool keeps;               /* between jobs too */
    bool paused;              /* the runners are stopped, since another process measures */
    uint64_t tickets;
    long most_kib;          /* that a job may take beside its arrays */
    double silent_ms;       /* that a build may pass without using the processor */
    long oom_kills;         /* of the system, when it was last looked */
    unsigned failed_starts; /* in a row, with no other runner */
    unsigned idle_deaths;   /* of runners that had nothing to do, since the last one that had */
    char start_error[EVAL_MESSAGE];
    struct queue waiting, done;
    unsigned in_flight;        /* submitted, result not taken */
    int timer;                 /* timerfd at the next kill time */
    double looked_at;          /* ms: when it was last looked whether a runner is overdue */
    struct eval_caller caller; /* stop_fd -1: none, or it has ended everything */
};

/* ---- evaluate.c ---- */

/* Runners where the user names no number: on a GPU one for each core, if half of the machine's memory has
 * AGENT_MEMORY_LEAST_MIB for each, but AGENT_RUNNERS_GPU at least. */
unsigned evaluate_default_runners(bool gpu, unsigned cores, long memory_mib, uint64_t builds);

/* ---- evaluate_slots.c: queues ---- */

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

/* ---- evaluate_watch.c ---- */

/* How a runner ended, or why it is ended. */
enum evaluate_end {
    END_NONE,     /* it goes on */
    END_DIED,     /* by itself */
    END_NONSENSE, /* it sent a malformed message */
    END_OVERDUE,  /* beyond its kill time */
    END_SILENT,   /* a build that does not use the processor */
    END_MEMORY    /* it takes more than it may */
};

/* Memory of the machine, or of the container, MiB. */
long evaluate_machine_mib(void);
/* The evaluator's limits, from the machine's memory and the number of runners. */
void evaluate_limit(struct evaluator *ev);
/* The runner is forked; is ready for jobs; has begun to build; is given the device, or has shown a sign of
 * life with it. Each sets its kill time and its limit of processor time. */
void evaluate_begin_start(struct slot *s);
void evaluate_begin_idle(struct slot *s);
void evaluate_begin_build(struct slot *s);
void evaluate_begin_launch(const struct evaluator *ev, struct slot *s);
/* Moves the slot's times on by ms during which it stood still, or nobody listened. */
void evaluate_excuse(struct slot *s, double ms);
/* Whether a runner that is not stopped is to be ended, now. */
enum evaluate_end evaluate_watch(const struct evaluator *ev, struct slot *s, double now);
/* When to look next, ms of the clock; INFINITY: no runner does anything. */
double evaluate_next_watch(const struct evaluator *ev);
/* Status and message of the job of a runner that has ended so; wait_status: of waitpid(). */
void evaluate_name_end(struct evaluator *ev, enum evaluate_end end, int wait_status, bool building,
                       struct evaluation *e);

/* ---- evaluate_again.c ---- */

/* Takes what came of a job. true: the result is wrong, and the job is to be done once more; else it is final.
 */
bool evaluate_again(struct evaluator *ev, struct pending *j, const struct evaluation *e);

/* ---- evaluate_slots.c ---- */

/* Forks a runner into the slot. Where that is not possible the others do without it; without any the device
 * is lost. */
void evaluate_start_runner(struct evaluator *ev, struct slot *s);
/* Starts those runners that are due: the first one alone, since the reference waits for it, then AGENT_STARTS
 * at a time, so that some are soon ready. On a CPU none starts while another one measures. */
void evaluate_start_more(struct evaluator *ev);
/* Whether any runner has been ready for jobs. */
bool evaluate_any_ready(const struct evaluator *ev);
/* One step: start runners that are due, hand out jobs and the lock, wait for the runners at most wait_ms (-1:
 * until something happens), serve them. */
void evaluate_step(struct evaluator *ev, int wait_ms);
/* Ends what waits: the device is lost. */
void evaluate_lose(struct evaluator *ev);

/* Submits to an idle evaluator and waits. */
void evaluate_alone(struct evaluator *ev, enum runner_mode mode, const struct cg_kernel *k,
                    const struct eval_settings *s, struct evaluation *out);

#endif
