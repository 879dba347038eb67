/* Rounds of the best candidates; see tune_command_quote.h. */
#include "coordinator/tune_command_quote.h"

#include <math.h>
#include <stdlib.h>

#include "coordinator/solution.h"
#include "core/base/clock.h"
#include "core/base/pcg32.h"
#include "core/base/stop.h"

enum { ORDER_STREAM = 2 /* of random numbers: the tree has another one */ };

struct command_process *tune_command_start(const struct command *c, const struct space_state *leaf,
                                           double timeout_s)
{
    char **words = command_words(c, leaf), *input = NULL;
    if (command_wants_input(c)) input = solution_text(leaf);
    struct command_process *p = command_start(words, input, timeout_s);
    free(input);
    free(words);
    return p;
}

/* The time of one run in ns; NAN: it failed, or was interrupted. */
static double run_once(const struct tune_command_rounds *r, const struct space_state *leaf)
{
    struct command_result result;
    struct command_process *p = tune_command_start(r->command, leaf, r->timeout_s);
    command_wait(&p, 1, r->stop_fd);
    bool done = command_finish(p, &result) == COMMAND_DONE;
    return done && result.status == EVAL_OK ? result.time_ns : NAN;
}

/* A round that is interrupted does not count. */
static void run_round(const struct tune_command_rounds *r, struct tune_command_pick *picks, unsigned n,
                      struct pcg32 *rng)
{
    unsigned order[TUNE_COMMAND_TOP];
    double times[TUNE_COMMAND_TOP];
    pcg32_shuffle(rng, order, n);
    for (unsigned i = 0; i < n; i++) {
        times[order[i]] = run_once(r, picks[order[i]].leaf);
        if (stop_requested(r->stop_fd)) return;
    }
    for (unsigned i = 0; i < n; i++)
        picks[i].times[picks[i].n_times++] = times[i];
}

static bool is_before(const struct tune_command_pick *a, const struct tune_command_pick *b)
{
    bool a_quoted = figure_quoted(&a->figure), b_quoted = figure_quoted(&b->figure);
    if (a_quoted != b_quoted) return a_quoted;
    return a->figure.median_ns < b->figure.median_ns;
}

static void sort_picks(struct tune_command_pick *picks, unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        for (unsigned j = i; j > 0 && is_before(&picks[j], &picks[j - 1]); j--) {
            struct tune_command_pick pick = picks[j];
            picks[j] = picks[j - 1];
            picks[j - 1] = pick;
        }
}

void tune_command_quote(const struct tune_command_rounds *r, struct tune_command_pick *picks, unsigned n)
{
    struct pcg32 rng = pcg32_seed(r->seed, ORDER_STREAM);
    double end_s = clock_s() + r->budget_s;
    for (unsigned i = 0; i < TUNE_COMMAND_ROUNDS && !stop_requested(r->stop_fd); i++)
        if (i < TUNE_COMMAND_LEAST_ROUNDS || clock_s() < end_s) run_round(r, picks, n, &rng);
    for (unsigned i = 0; i < n; i++) {
        struct figure f = figure_of_rounds(picks[i].times, picks[i].n_times);
        if (figure_known(&f)) picks[i].figure = f;
    }
    sort_picks(picks, n);
}
