/* The interface between a search session and whatever measures its candidates.
 *
 * A session draws candidates and decides; an evaluator measures. There are three: agents on a device
 * (agents.h), a user's command (command_runners.h), recorded timings (recorded.h). A fourth one is a new file
 * with such a table. The session calls it like this:
 *
 *     while (room(self) > 0) start(self, job, best_ns);     until there is nothing to start
 *     event = collect(self, 200);                           a result, or a candidate that was lost
 *
 * All functions are called from the session's thread. None but collect() may block, and that no longer than
 * its timeout, or until the user interrupts. */
#ifndef THRESH_COORDINATOR_EVALUATOR_H
#define THRESH_COORDINATOR_EVALUATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/store.h"

struct session_job;
struct session_pick;

enum session_event_kind {
    SESSION_NOTHING,  /* within the timeout */
    SESSION_NEWS,     /* something happened, such as a new agent: there may be room now */
    SESSION_RESULT,   /* of the candidate `number` */
    SESSION_LOST,     /* the candidate `number` must be started again: whatever measured it is gone */
    SESSION_RETURNED, /* the same, but nobody has begun to measure it: that does not count against it */
    SESSION_ROUND,    /* the round is over: `times` */
    SESSION_BROKEN    /* nothing can be measured any more: `reason` */
};

/* Pointers are valid until the next call of the evaluator. */
struct session_event {
    enum session_event_kind kind;
    int64_t number;
    struct store_evaluation result; /* status, median_ns, samples, message, resources, numbers, agent; of
                                       SESSION_LOST and SESSION_RETURNED the agent alone */
    const double *times; /* ns, one for each that takes part, NAN: failed; NULL: the round is lost */
    const char *reason;
};

struct session_evaluator {
    /* How many more candidates it can start now, at least; 0: none. */
    unsigned (*room)(void *self);
    /* Starts to measure a candidate; there is room. The job is valid during the call. best_ns: the best time
     * that is known, 0: none; measuring may stop where that is far exceeded. */
    void (*start)(void *self, const struct session_job *job, double best_ns);
    /* Waits for one event, timeout_ms at most. */
    struct session_event (*collect)(void *self, int timeout_ms);
    /* Starts one final round: each of the n picks once, in random order by the seed, nothing else at work.
     * The picks stay as they are until the event SESSION_ROUND. false: not now. NULL: it measures no rounds.
     */
    bool (*start_round)(void *self, const struct session_pick *const *picks, unsigned n, uint64_t seed);
    /* Ends everything that is at work; no results come of it. NULL: nothing needs to be ended. */
    void (*abandon)(void *self);
    bool runs_nothing; /* it answers from a file: no candidate can end it, and no attempts are stored */
};

#endif
