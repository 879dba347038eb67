/* Every limit of an agent in one table: what it waits for, how often it looks, what its runners may take. A
 * unit is in each name or beside it, and the reason for the value beside it. For example, a candidate is
 * given up when one launch takes longer than
 *
 *     max(AGENT_CUT_FACTOR * best time, AGENT_LEAST_NS)
 *
 * No other file of this folder has such a number. Sizes of buffers, and the constants of a method of
 * verification or of a micro-benchmark, are where they are used. Limits that a user may lift name the option.
 */
#ifndef THRESH_AGENT_LIMITS_H
#define THRESH_AGENT_LIMITS_H

/* ---- one launch ---- */

#define AGENT_CUT_FACTOR 4.0   /* times the best: a slower one wins by no noise that was seen */
#define AGENT_LEAST_NS 20e6    /* no launch is given up before: short ones vary by more than the factor */
#define AGENT_FIRST_NS 2e9     /* the same while no time is known: a naive kernel of a large size */
#define AGENT_PATIENT_NS 600e9 /* of the naive kernel, as the reference and in rounds: it may be slow */
#define AGENT_OWN_NS 5e9       /* of a user's own kernel: nothing tells how long it takes */
#define AGENT_UNTIMED_NS 30e9  /* of a launch that is verified only: nothing better is known to cut at */
#define AGENT_WARM_UP_NS 3e9   /* of processor time: some drivers make machine code at the first launch */
#define AGENT_WIDE_GRID_NS 1e9 /* beyond the limit: some drivers make it again for very many groups */
#define AGENT_DISTURBED 3.0    /* times the limit, of the first launch: other runners build meanwhile */
#define AGENT_SLACK_NS 100e6   /* of the host's clock over the device's, which judges what completes */
#define AGENT_TRANSFER_NS 10.0 /* a byte of outputs: 100 MB/s, a tenth of any of the steps */
#define AGENT_BATCH_NS 30e6    /* of launches for one time: long beside clocks and interrupts */
#define AGENT_LONG_NS 200e6    /* a launch is a batch of its own: it is off by little of so long */
#define AGENT_HELD_NS 50e3     /* a shorter launch may be over before the host has enqueued the next one */
#define AGENT_NEAR_BEST 2.0    /* times the best: a second batch, since one window may be disturbed */
#define AGENT_FAR 8.0          /* times the best: three launches tell enough, extreme inputs nothing */

enum {
    AGENT_BATCH_LEAST = 5,    /* launches: a median of fewer tells little */
    AGENT_BATCH_FAR = 3,      /* the same far from the best: enough against one that was disturbed */
    AGENT_BATCH_MOST = 40,    /* the same of short ones: more do not move the median */
    AGENT_HELD_MOST = 8,      /* launches behind a hold: longer queues slow an NVIDIA H200 down */
    AGENT_REPEATS = 4,        /* of a launch during which the process was stopped */
    AGENT_STOOD_MS = 500,     /* stopped for longer: that launch is repeated */
    AGENT_LAUNCHES_MOST = 16, /* of one job, each with a kill time: prefixes, inputs, batches */
    AGENT_PROGRAMS = 48,      /* kept from round to round: of all contenders of the first rounds */
    AGENT_ALIVE_MS = 100,     /* between signs of life of a runner that waits for a launch: its longest nap */
    AGENT_RUNNER_LOOK_MS = 250 /* that count of the time between two looks at the clock: longer is a stop */
};

/* ---- one build ---- */

#define AGENT_BUILD_MS 600e3          /* by the clock: all other runners may build at the same time */
#define AGENT_BUILD_PROCESSOR_MS 60e3 /* of processor time: the largest texts take some seconds */
#define AGENT_SILENT_MS 20e3  /* without any: no wait for a disk is as long; what hangs is ended early */
#define AGENT_PROGRESS_MS 5.0 /* of processor time: less is a timer's, and no progress */

enum {
    AGENT_SECOND_LOOKS = 20,   /* at wrong results, of one evaluator: a faulty compiler is known by then */
    AGENT_LOG_BYTES = 1 << 20, /* of a log: the first lines are shown, a longer one is not fetched */
    AGENT_JOB_BYTES = 64 << 20 /* of one message to a runner: kernels are shorter by far (--text-limit) */
};

/* ---- runners ---- */

#define AGENT_LONG_ELEMENT 1e7        /* operations of an output: a second of the interpreter */
#define AGENT_START_MS 120e3          /* to be ready: a driver loads, inputs are copied */
#define AGENT_PROCESSOR_SLACK_MS 60e3 /* until the system ends what the evaluator has not ended */
/* Until a runner is killed that says nothing: a launch is late only by far more than its limit. */
#define AGENT_LAUNCH_MS(limit_ns) (3e-6 * (limit_ns) + 1e3)

enum {
    AGENT_RUNNERS_GPU = 4,   /* --runners, or the cores if these are more: builds take longest */
    AGENT_RUNNERS_CPU = 2,   /* the same: builds take turns on the processors that launches need */
    AGENT_RUNNER_BUILDS = 8, /* of a short search, for each runner: one takes a GPU's driver 0.2 s to start */
    AGENT_RUNNERS_MOST = 16, /* --runners: one launches at a time, and each holds all arrays */
    AGENT_STARTS = 4,        /* runners that start at once: drivers do most of it one after the other */
    AGENT_RUNNER_JOBS = 2,   /* jobs for each: the next one is there when one ends */
    AGENT_FAILED_STARTS = 3, /* in a row, with no other runner: the device is lost */
    AGENT_IDLE_DEATHS = 3,   /* of runners with nothing to do: the same */
    AGENT_CONTEXT_MIB = 512, /* of a GPU's memory, beside the arrays: NVIDIA's driver takes as much */

    AGENT_RETIRE_KIB = 50000,      /* grown by as much a runner retires: PoCL keeps memory for each kernel */
    AGENT_RETIRE_JOBS = 400,       /* after as many: their files take 80 MB of the folder in memory */
    AGENT_MEMORY_LEAST_MIB = 1024, /* beside its arrays, on small machines: builds take hundreds */
    AGENT_MEMORY_MOST_MIB = 4096,  /* the same on large ones: nothing that was seen took as much */
    AGENT_FILE_BYTES = 1 << 30,    /* of one file: more than any kernel's, no more than AGENT_CACHE_BYTES */
    AGENT_FILES = 1024,            /* open at once: NVIDIA's driver opens some ten for each GPU of a host */
    AGENT_OOM_SCORE = 500, /* of 1000: where memory runs out, the system ends a runner before other work */

    AGENT_CHECK_LOOK_MS = 5,   /* between two looks whether the reference is checked: no search waits long */
    AGENT_BUILD_LOOK_MS = 100, /* between two looks at a runner that builds: compilers take memory quickly */
    AGENT_RUN_LOOK_MS = 1000,  /* between two looks at one that runs: kernels cannot allocate */
    AGENT_LOOK_MS = 2000       /* that count of the time between two looks at the clock: longer is a stop */
};

/* Of freed memory, that the address sanitizer keeps from use, and of its shadow: 256 MiB and an eighth. It is
 * no growth; without it each build would cost a new runner in the tests. */
#ifdef __SANITIZE_ADDRESS__
enum { AGENT_KEPT_KIB = 300000 };
#else
enum { AGENT_KEPT_KIB = 0 };
#endif

/* ---- the device ---- */

enum {
    AGENT_QUERY_MS = 60000,         /* to list devices: a driver may load from a slow disk */
    AGENT_PROBE_MS = 60000,         /* for a kernel of some lines: a driver may load its compiler first */
    AGENT_CHARACTERIZE_MS = 300000, /* for all micro-benchmarks, which take some 20 s: what hangs is ended */

    AGENT_LOCK_LOOK_MS = 4,       /* between two looks at the lock, of who waits or has runners at work */
    AGENT_LOCK_RENEW_MS = 1000,   /* between two renewals by its holder */
    AGENT_LOCK_SILENT_MS = 10000, /* without one its holder is passed over: ten renewals */
    AGENT_LOCK_GRACE_MS = 50,     /* for others to stop their runners: one may be busy, or stopped itself */
    AGENT_LOCK_YIELD_MS = 25,     /* after a release, left to others who want to measure: six looks */
    AGENT_LOCK_TRIES = 20,        /* to open its file while another process makes it */
    AGENT_LOCK_WAIT_MS = 5,       /* between two of them */

    AGENT_CACHE_BYTES = 1 << 30, /* free in /dev/shm, else kernels' files, 200 KiB each, go to the disk */
    AGENT_POCL_BYTES = 4 << 20   /* free where PoCL keeps kernels: 1.5 MB are too few for a small one */
};

/* ---- the coordinator ---- */

enum {
    AGENT_HEARTBEAT_MS = 1000,       /* a sign of life: cheap, and three fit into what a user waits */
    AGENT_HEARTBEAT_LEAST_MS = 100,  /* whatever a coordinator asks for: ten a second load no network */
    AGENT_HEARTBEAT_MOST_MS = 10000, /* the same: three fit into AGENT_PATIENCE_S */
    AGENT_HELLO_MS = 3000,           /* until it is sent again: the answer may be on its way */
    AGENT_TURN_MS = 100,   /* of waiting for messages while jobs are at work: results are sent as soon */
    AGENT_PATIENCE_S = 30, /* --timeout: a coordinator that is started again by hand is there by then */
    AGENT_DRAIN_S = 30,    /* before --until: a job with its build rarely takes longer */
    AGENT_LINGER_MS = 500, /* at the end, for the last messages to be sent */
    AGENT_KERNELS = 64,    /* of one rounds message: coordinators send a dozen */
    AGENT_ROUNDS = 1000    /* the same: coordinators ask for eleven */
};

#endif
