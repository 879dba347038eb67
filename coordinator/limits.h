/* Every limit of a coordinator in one table: of a search, its launchers, its stores and the live page. A unit
 * is in each name or beside it, and the reason for the value beside it. For example, a candidate is given up
 * when one launch takes longer than
 *
 *     max(LIMIT_CUT_FACTOR * best time, LIMIT_LEAST_NS)
 *
 * No other file of this folder and the folders below has such a number. Those that agents have too are theirs
 * (agent/limits.h). Lengths of lists that are printed, sizes of buffers, and the most that a file may hold
 * are where they are used. Limits that a user may lift name the option. */
#ifndef THRESH_COORDINATOR_LIMITS_H
#define THRESH_COORDINATOR_LIMITS_H

#include "agent/limits.h"

/* ---- one measurement ---- */

#define LIMIT_CUT_FACTOR AGENT_CUT_FACTOR
#define LIMIT_BATCH_NS AGENT_BATCH_NS
#define LIMIT_LEAST_NS AGENT_LEAST_NS
#define LIMIT_FIRST_NS AGENT_FIRST_NS

enum {
    LIMIT_TEXT_BYTES = 64 << 10, /* --text-limit: on CPUs larger texts ran from memory, not from caches */
    LIMIT_TEXT_BYTES_GPU = 128 << 10, /* of a GPU: the fastest products have 60 KiB, their neighbours more */
    LIMIT_TEXT_KIB_MOST = 32 << 10    /* of --text-limit: half of what a runner accepts */
};

/* ---- a search ---- */

enum {
    LIMIT_EVALUATIONS = 300,   /* --evaluations, without --time: minutes for a small kernel */
    LIMIT_PATIENCE = 5000,     /* duplicates and oversized texts in a row: a minute of drawing */
    LIMIT_STUCK = 20,          /* calls in a row in which the tree found nothing, 1,000 descents each */
    LIMIT_TURN_MS = 200,       /* of drawing or waiting: agents and the terminal hear from us in between */
    LIMIT_DRAW_THREADS = 8,    /* of one search: as many as the policy `guess` makes rollouts */
    LIMIT_DRAWS_PER_TURN = 64, /* the same where the clock stands still */
    LIMIT_GRACE_S = 60,        /* for what is at work when --time is over: a build may take as long */
    LIMIT_JOB_RETRIES = 2,     /* after its agent was lost: a kernel may be what ends the agents */
    LIMIT_JOB_DEATHS = 5,      /* the same if only coordinators died, by whatever: kill -9 tells less */
    LIMIT_FEW_WAITING = 8,     /* evaluators that wait and do not hurry the search */
    LIMIT_LAST_AUDITS = 3,     /* draws below cuts of an exhausted tree, with --audit-cuts */
    LIMIT_LEARNED = 5,         /* implementations of --learn-from: as many as a search sends to its rounds */
    LIMIT_BASELINES = 8,       /* --baseline: each is in every final round */
    LIMIT_PLAIN_STEPS = 4000,  /* decisions tried to complete a plain implementation: some milliseconds */
    LIMIT_USUAL_PLAIN = 24     /* plain implementations of a program, to guess the builds of a search */
};
/* Doublings of a size by which an implementation of another device is taken to be farther away: vectors and
 * tiles that suit one device rarely suit another, whatever the size. */
#define LIMIT_OTHER_DEVICE 3.0
#define LIMIT_BOUND_NOISE 0.02 /* share by which a time may be below its bound: clocks differ by as much */

/* ---- sequences of kernels ---- */

enum { LIMIT_SINGLE_CUTS = 4 }; /* so many are tried one by one, too; of more only all at once */
/* Share of the budget that each program gets before a variant is chosen, and that of all of them together. */
#define LIMIT_FIRST_SHARE 0.15
#define LIMIT_FIRST_SHARES 0.6
/* A variant is left out whose naive kernels do more operations, which takes a processor some seconds, and so
 * many times those of another variant: more than a search gains over a naive kernel. */
#define LIMIT_VARIANT_OPERATIONS 4e9
#define LIMIT_VARIANT_RATIO 64.0
/* Operations without cuts within maps, beside those with them: fewer do not pay for stores and loads. */
#define LIMIT_CUT_RATIO 1.5
/* An array within maps, of all rows: what a device of 4 GB takes as one buffer. */
#define LIMIT_TEMPORARY_BYTES 1073741824.0

/* ---- the size of a search ---- */

#define LIMIT_BUILDS_A_SECOND 10.0 /* of a search with a time limit, to guess how many runners pay */

/* ---- tune --space ---- */

enum {
    LIMIT_RUNNERS = 256,          /* --runners: three descriptors each, within the usual 1,024 */
    LIMIT_TIMEOUT_S = 60,         /* --timeout of one run */
    LIMIT_OUTPUT_BYTES = 1 << 20, /* of one output of a program; what comes last has the time and is kept */
    LIMIT_PROGRAM_TURN_MS = 50    /* between two looks at programs that are at work: a start takes as long */
};

/* ---- final rounds ---- */

enum {
    LIMIT_TOP = 5,          /* best ones of the search that take part: the order below is mostly noise */
    LIMIT_ROUNDS = 11,      /* odd, so that one round is the median; quartiles of fewer tell little */
    LIMIT_LEAST_ROUNDS = 3, /* whatever they cost: two times do not show which one was disturbed */
    LIMIT_ROUNDS_S = 10,    /* the budget of short searches */
    LIMIT_ROUND_MS =
        600000, /* for the answer of an agent: twelve long launches, and waiting for the device */
    LIMIT_ROUND_IDLE_MS = 5000, /* for an agent to become free: results of the search come in */
    LIMIT_ROUND_TRIES = 3       /* agents that may be lost with one round */
};
#define LIMIT_ROUNDS_SHARE 0.1 /* of the search's time: the budget of long searches */
#define LIMIT_REACH 4.0        /* times the best of the search: slower ones are in no round; the cut factor */
#define LIMIT_BEHIND 1.5       /* times the best median: slower ones are in no round after the first three */
#define LIMIT_SLOW_NS 30e6     /* a launch of a baseline as long as a batch: three rounds are enough */

/* ---- what a result is worth ---- */

enum { LIMIT_FEW_EVALUATIONS = LIMIT_EVALUATIONS /* fewer: more are advised */ };
#define LIMIT_GAIN 1.1     /* times faster than naive: less is called little gain */
#define LIMIT_NEAR 0.7     /* of the bandwidth or of the lower bound: little is left to gain */
#define LIMIT_SHORT_NS 2e4 /* a shorter launch is mostly overhead */

/* ---- agents ---- */

enum {
    LIMIT_HEARTBEAT_MS = AGENT_HEARTBEAT_MS,
    LIMIT_LOST_MS = 3000,       /* of silence: three heartbeats */
    LIMIT_PREPARE_MS = 600000,  /* from hello to ready: the reference of a large size takes minutes */
    LIMIT_AGENT_WAIT_MS = 1000, /* between two looks while the first agent is awaited */
    LIMIT_SEARCHES = 256, /* at once in one process: a thread, a tree and a connection to the store each */
    LIMIT_PEERS = 4096,   /* memory of a flood of hellos */
    LIMIT_AGENT_ROWS_MS = 1000,     /* between two writes of what agents are at */
    LIMIT_EVENTS = 100,             /* refused connections, and late results, that are stored at once; */
    LIMIT_EVENTS_MS = 1000,         /* then one in such a time: a flood must not fill the store */
    LIMIT_BALANCE_MS = 200,         /* between two looks at which searches need agents */
    LIMIT_LETTERS_BYTES = 64 << 20, /* of messages that wait for one search: half a second of 4,096 agents */
    LIMIT_CREDITS = 1024,           /* jobs that one agent may have at a time */
    LIMIT_MESSAGES = 256,           /* without an event that one turn reads: other work is due as well */
    LIMIT_LINGER_MS = AGENT_LINGER_MS,
    LIMIT_DESCRIPTORS = 65536 /* open at once, where the system allows it: agents, and files of the store */
};

/* Times of an agent elsewhere that do not count: below this share of the lower bound, as no description of a
 * device is wrong by so much (what is wrong by less is corrected); and shorter than any launch. */
#define LIMIT_BELOW_BOUND 1e-4
#define LIMIT_SHORTEST_NS 10.0

/* ---- stores ---- */

enum {
    LIMIT_SILENCE_S =
        120, /* without a write: an owner on another machine counts as ended; twice LIMIT_GRACE_S */
    LIMIT_BATCH_ROWS =
        256,             /* results in one transaction: the transaction is a small part of its time by then */
    LIMIT_BATCH_MS = 10, /* that a result waits for others to be stored with */
    LIMIT_FULL_MS = 1000,      /* between two tries to write to a full disk */
    LIMIT_SNAPSHOT_S = 10,     /* of drawing between two snapshots: as much is repeated after a kill */
    LIMIT_SNAPSHOT_SHARE = 50, /* of a search's time at most a fiftieth goes into them */
    LIMIT_BUSY_MS = 5000       /* for another process to end its transaction, then the user is told */
};

/* ---- launchers ---- */

enum {
    LIMIT_RESTARTS = 3,      /* of one agent: what fails four times in a row will fail again */
    LIMIT_SOUND_MS = 600000, /* an agent that worked for so long has not failed at its start: it may again */
    LIMIT_AGAIN_MS = 1000,   /* until the first restart; twice as long until each further one */
    LIMIT_LEAVE_MS = 10000,  /* for agents to leave before they are killed */
    LIMIT_KEEPER_MS = 100,   /* between two looks at agents: a restart may be so late */
    LIMIT_TOOL_MS = 30000,   /* for sbatch, squeue and scancel to answer: as long as Slurm's own time-outs */
    LIMIT_TOOL_LOOK_MS = 20, /* between two looks at such a program */
    LIMIT_QUEUE_MS = 5000,   /* between two looks at the queue: cheap for a controller */
    LIMIT_WARNING_S = 60,    /* before Slurm ends a job: an agent returns its jobs within AGENT_DRAIN_S */
    LIMIT_LAUNCHED = LIMIT_PEERS, /* agents of one launcher */
    LIMIT_TIME_S = 366 * 86400    /* the longest time that options and campaigns take: more is a slip */
};

/* ---- campaigns ---- */

enum {
    LIMIT_LANE_MS = 200,     /* between two looks at searches that have ended */
    LIMIT_WATCH_MS = 1000,   /* between two tables of `campaign status --watch` */
    LIMIT_SUMMARY_S = 10,    /* between two lines that say how far a campaign is */
    LIMIT_STOP_S = 120,      /* for `campaign stop`: twice LIMIT_GRACE_S */
    LIMIT_STOP_LOOK_MS = 200 /* between two looks whether it has ended */
};

/* ---- the live page ---- */

enum {
    LIMIT_PAGE_LOOK_MS = 1000,    /* between two looks at the store: people see no faster changes */
    LIMIT_PAGE_SHARE = 20,        /* a look takes one part in so many of the time at most */
    LIMIT_PAGE_STATES_MS = 10000, /* between two looks whether searches are at work: a lock to try for each */
    LIMIT_PAGE_STORE_MS = 3000,   /* for a store that cannot be read: a copy may be on its way */
    LIMIT_INTEREST_MS = 60000,    /* after a request for a page: until then someone may look at it */
    LIMIT_CONNECTIONS = 128,      /* at a time: some people with some tabs each */
    LIMIT_STREAMS = 96,           /* of them, those that wait for events: the others stay free for pages */
    LIMIT_REQUEST_BYTES = 16384,  /* longest head of a request, and what a connection holds of an answer */
    LIMIT_IDLE_S = 30,            /* a connection without any byte for so long ends */
    LIMIT_HEAD_MS = 20000,        /* so does one whose request is not complete by then */
    LIMIT_EVENT_MS = 15000,       /* an empty event tells a browser that the connection is alive */
    LIMIT_STUDY_REST = 9, /* times as long as the last study took, until the next: a tenth of a processor */
    LIMIT_STUDY_REST_MS = 5000 /* the same for short ones */
};

/* ---- progress ---- */

#define LIMIT_TERMINAL_S 0.2 /* between two changes of the line on a terminal: more cannot be read */
#define LIMIT_LINE_S 5.0     /* between two lines in a file: 720 an hour */

#endif
