/* A second look at wrong results: is it thresh that is at fault, or the device's compiler? The same text is
 * built without optimizations and run on the same inputs:
 *
 *     output 31 is 1.75, expected -0.125 (exact inputs); right if built with -cl-opt-disable: ...
 *
 * No proof: a race, or a value that is not set, may have no effect without optimizations.
 *
 * It is a job of its own, in a process that the first run cannot have damaged. Whatever becomes of it, the
 * verdict is that of the first run. If it crashes or takes too long, nothing is added to the message. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agent/evaluate_state.h"
#include "agent/limits.h"

/* All sets of inputs: what the first run was wrong on is among them. Code without optimizations is slow. */
static void prepare(struct pending *j)
{
    struct runner_job *job = j->message;
    job->unoptimized = true;
    job->settings.untimed = true;
    job->settings.thorough = true;
    job->limit_ns = j->limit_ns = fmax(j->limit_ns, AGENT_UNTIMED_NS);
    j->doubted = true;
}

static void add_finding(struct evaluation *verdict, enum eval_status second)
{
    static const char right[] =
        "; right if built with -cl-opt-disable: probably a fault of the device's compiler",
                      wrong[] = "; also wrong if built with -cl-opt-disable";
    size_t n = strlen(verdict->message);
    if (second != EVAL_OK && second != EVAL_WRONG_RESULT) return;
    verdict->unoptimized = second == EVAL_OK ? EVAL_UNOPTIMIZED_RIGHT : EVAL_UNOPTIMIZED_WRONG;
    snprintf(verdict->message + n, EVAL_MESSAGE - n, "%s", second == EVAL_OK ? right : wrong);
}

bool evaluate_again(struct evaluator *ev, struct pending *j, const struct evaluation *e)
{
    if (j->doubted) {
        add_finding(&j->result, e->status);
        return false;
    }
    const struct runner_job *job = j->message;
    j->result = *e;
    j->result.unoptimized = EVAL_UNOPTIMIZED_UNKNOWN;
    if (e->status != EVAL_WRONG_RESULT || !job->settings.second_look || ev->lost ||
        ev->second_looks == AGENT_SECOND_LOOKS)
        return false;
    ev->second_looks++;
    prepare(j);
    return true;
}
