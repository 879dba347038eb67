/* Candidates that end whatever measures them. Each attempt is in the store before it begins:
 *
 *     job 17 sent, its agent is lost        1 loss
 *     job 17 sent, its agent is lost        2 losses
 *     job 17 sent, the host is gone, and the coordinator with it; --resume
 *     17 is drawn again: 3 losses           crashed; it is not sent
 *
 * A candidate is known by the hash of its state: a resumed run may draw others under the same numbers, since
 * results come in another order. Losses of one run count. */
#include <stdio.h>
#include <stdlib.h>

#include "coordinator/session_state.h"
#include "core/base/arena.h"
#include "core/base/diag.h"

/* What the store has of a candidate, from before this process. */
struct session_loss {
    uint64_t state_hash;
    unsigned lost, died;
    UT_hash_handle hh;
};

static bool remembers(const struct session *s)
{
    return s->store && !s->evaluator->runs_nothing;
}

static void keep_loss(void *context, uint64_t state_hash, unsigned lost, unsigned died)
{
    struct session *s = context;
    struct session_loss *l = base_calloc(1, sizeof *l);
    *l = (struct session_loss){.state_hash = state_hash, .lost = lost, .died = died};
    HASH_ADD(hh, s->losses, state_hash, sizeof l->state_hash, l);
}

bool session_recall(struct session *s)
{
    if (!remembers(s)) return true;
    return store_attempts_end(s->store, s->run.id, "died", s->diag) &&
           store_each_loss(s->store, s->run.id, keep_loss, s, s->diag);
}

void session_forget_losses(struct session *s)
{
    struct session_loss *l, *next;
    HASH_ITER(hh, s->losses, l, next)
    {
        HASH_DEL(s->losses, l);
        free(l);
    }
}

bool session_give_up(struct session *s, struct session_job *job)
{
    char why[160];
    const struct session_loss *l = NULL;
    if (s->losses) HASH_FIND(hh, s->losses, &job->descent.hash, sizeof job->descent.hash, l);
    unsigned lost = job->lost + (l ? l->lost : 0), died = l ? l->died : 0;
    if (lost + died <= (lost ? LIMIT_JOB_RETRIES : LIMIT_JOB_DEATHS)) return false;
    if (died == 0)
        snprintf(why, sizeof why, "each agent that evaluated this implementation was lost (%u times)", lost);
    else
        snprintf(why, sizeof why,
                 "while this implementation was measured, its agent was lost (%u times) or the coordinator "
                 "died (%u times)",
                 lost, died);
    session_settle(s, job, (struct store_evaluation){.status = "crashed", .message = why});
    return true;
}

static bool write_attempt(struct session *s, const void *started, struct diag *d)
{
    const struct session_job *job = started;
    return store_attempt_add(s->store, s->run.id, job->number, job->descent.hash, d);
}

bool session_attempt(struct session *s, const struct session_job *job)
{
    return !remembers(s) || session_write(s, write_attempt, job);
}

/* An outcome that cannot be written leaves the attempt open: it will count as one during which the
 * coordinator died. */
void session_attempt_ends(struct session *s, const struct session_job *job, const char *outcome,
                          int64_t agent)
{
    struct diag *d = diag_new();
    if (remembers(s)) store_attempt_end(s->store, s->run.id, job->number, outcome, agent, d);
    diag_free(d);
}

/* After an error, too: it was not the candidates' fault. */
void session_attempts_end(struct session *s)
{
    struct diag *d = diag_new();
    if (remembers(s)) store_attempts_end(s->store, s->run.id, "returned", d);
    diag_free(d);
}
