/* Programs at work, in the order in which they were started; and the final round, whose candidates run one
 * after the other. Each start() is a process, each collect() waits for the first that ends:
 *
 *     start(1), start(2), start(3)     three processes
 *     collect() = RESULT 2             it ended first; its time is what it printed
 *     collect() = RESULT 1 ...
 *
 * A program that cannot be run at all ends the search. */
#include "coordinator/command_runners.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/session.h"
#include "coordinator/solution.h"
#include "core/base/arena.h"
#include "core/base/pcg32.h"

enum { ORDER_STREAM = 2 /* of random numbers: the tree has another one */ };

/* The picks of a round in the order in which they run; number i is at work or next. */
struct command_round {
    const struct space_state *leaves[SESSION_CONTENDERS];
    unsigned order[SESSION_CONTENDERS];
    unsigned n, at;
    double times[SESSION_CONTENDERS]; /* ns; NAN: failed */
    bool open;
};

struct command_runners {
    const struct command *command;
    unsigned runners;
    double timeout_s;
    int stop_fd;
    unsigned n;
    struct command_process *programs[LIMIT_RUNNERS];
    int64_t numbers[LIMIT_RUNNERS];
    struct command_round round;
    struct command_result result; /* the last one: events point into it */
    char failure[EVAL_MESSAGE + 16];
};

static const struct session_event nothing = {.kind = SESSION_NOTHING};

struct command_runners *command_runners_new(const struct command *c, unsigned runners, double timeout_s,
                                            int stop_fd)
{
    struct command_runners *r = base_calloc(1, sizeof *r);
    r->command = c;
    r->runners = runners;
    r->timeout_s = timeout_s;
    r->stop_fd = stop_fd;
    command_make_room(runners);
    return r;
}

/* Starts the program for a candidate, with its decisions in the words or on standard input. */
static void start_program(struct command_runners *r, const struct space_state *leaf, int64_t number)
{
    char **words = command_words(r->command, leaf), *input = NULL;
    if (command_wants_input(r->command)) input = solution_text(leaf);
    r->numbers[r->n] = number;
    r->programs[r->n++] = command_start(words, input, r->timeout_s);
    free(input);
    free(words);
}

/* The outcome of the i-th program, which is forgotten. */
static enum command_end finish(struct command_runners *r, unsigned i)
{
    enum command_end end = command_finish(r->programs[i], &r->result);
    r->n--;
    memmove(&r->programs[i], &r->programs[i + 1], (r->n - i) * sizeof r->programs[0]);
    memmove(&r->numbers[i], &r->numbers[i + 1], (r->n - i) * sizeof r->numbers[0]);
    return end;
}

/* The first program that is over, waiting for it; LIMIT_RUNNERS: none within the time. */
static unsigned await_program(struct command_runners *r, int timeout_ms)
{
    command_wait(r->programs, r->n, timeout_ms, r->stop_fd);
    for (unsigned i = 0; i < r->n; i++)
        if (command_is_over(r->programs[i])) return i;
    return LIMIT_RUNNERS;
}

/* ---- the search ---- */

static unsigned command_room(void *self)
{
    const struct command_runners *r = self;
    return r->runners - r->n;
}

static void command_begin(void *self, const struct session_job *job, double best_ns)
{
    (void)best_ns;
    start_program(self, job->leaf, job->number);
}

static struct session_event result_of(struct command_runners *r, unsigned i)
{
    struct session_event e = {.kind = SESSION_RESULT, .number = r->numbers[i]};
    const struct command_result *result = &r->result;
    if (finish(r, i) == COMMAND_CANNOT_RUN) {
        snprintf(r->failure, sizeof r->failure, "--command: %s", result->message);
        return (struct session_event){.kind = SESSION_BROKEN, .reason = r->failure};
    }
    e.result = (struct store_evaluation){.status = eval_status_name(result->status),
                                         .median_ns = result->time_ns,
                                         .samples = &result->time_ns,
                                         .n_samples = result->status == EVAL_OK,
                                         .message = result->message,
                                         .numbers = result->numbers};
    return e;
}

/* ---- a final round ---- */

static bool command_start_round(void *self, const struct session_pick *const *picks, unsigned n,
                                uint64_t seed)
{
    struct command_runners *r = self;
    struct command_round *round = &r->round;
    struct pcg32 rng = pcg32_seed(seed, ORDER_STREAM);
    *round = (struct command_round){.n = n, .open = true};
    for (unsigned i = 0; i < n; i++)
        round->leaves[i] = picks[i]->leaf;
    pcg32_shuffle(&rng, round->order, n);
    start_program(r, round->leaves[round->order[0]], 0);
    return true;
}

/* Takes the time of the program that ended and starts the next one. */
static struct session_event go_on_with_round(struct command_runners *r)
{
    struct command_round *round = &r->round;
    bool ok = finish(r, 0) == COMMAND_DONE && r->result.status == EVAL_OK;
    round->times[round->order[round->at++]] = ok ? r->result.time_ns : (double)NAN;
    round->open = round->at < round->n;
    if (!round->open) return (struct session_event){.kind = SESSION_ROUND, .times = round->times};
    start_program(r, round->leaves[round->order[round->at]], 0);
    return (struct session_event){.kind = SESSION_NEWS};
}

/* ---- both ---- */

static struct session_event command_collect(void *self, int timeout_ms)
{
    struct command_runners *r = self;
    if (r->n == 0) return nothing;
    unsigned i = await_program(r, timeout_ms);
    if (i == LIMIT_RUNNERS) return nothing;
    return r->round.open ? go_on_with_round(r) : result_of(r, i);
}

static void command_abandon(void *self)
{
    struct command_runners *r = self;
    while (r->n)
        finish(r, 0);
    r->round.open = false;
}

void command_runners_free(struct command_runners *r)
{
    if (!r) return;
    command_abandon(r);
    free(r);
}

const struct session_evaluator command_evaluator = {.room = command_room,
                                                    .start = command_begin,
                                                    .collect = command_collect,
                                                    .start_round = command_start_round,
                                                    .abandon = command_abandon};
