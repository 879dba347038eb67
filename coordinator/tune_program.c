/* What is special about the candidates of a Lift program: each has a kernel text. A candidate is lowered from
 * the state that the tree leaves, without propagating anything again, on another thread if agents wait for
 * candidates (lowering.h). It is not measured if
 *
 *     duplicate    an earlier candidate has the same text
 *     oversized    the text, its unrolled loops written out, is longer than --text-limit
 *     cut          no launch can be faster than its floor, which is above the limit of a launch
 *
 * Agents replay the actions from the root without pins, so that those of a pinned search are completed with
 * the values of the pinned choices. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/lowering.h"
#include "coordinator/solution.h"
#include "coordinator/tune_state.h"
#include "core/base/archive.h"
#include "core/base/arena.h"
#include "perfmodel/floor.h"

/* ---- texts that were drawn ---- */

/* false: it is known already. */
static bool note_kernel(struct tune *t, uint64_t hash)
{
    struct seen_kernel *k;
    HASH_FIND(hh, t->seen, &hash, sizeof hash, k);
    if (k) return false;
    k = base_calloc(1, sizeof *k);
    k->hash = hash;
    HASH_ADD(hh, t->seen, hash, sizeof k->hash, k);
    return true;
}

void tune_free_seen(struct tune *t)
{
    struct seen_kernel *k, *next;
    HASH_ITER(hh, t->seen, k, next)
    {
        HASH_DEL(t->seen, k);
        free(k);
    }
}

/* ---- whether it is worth measuring ---- */

static double limit_ns(double best_ns)
{
    return best_ns > 0 ? fmax(LIMIT_CUT_FACTOR * best_ns, LIMIT_LEAST_NS) : LIMIT_FIRST_NS;
}

size_t tune_most_text(const struct tune *t)
{
    if (t->options.most_text_bytes) return t->options.most_text_bytes;
    return t->device.gpu ? LIMIT_TEXT_BYTES_GPU : LIMIT_TEXT_BYTES;
}

static const char *verdict_of(struct tune *t, const struct lowered *c, double best_ns, char *why, size_t n)
{
    double floor_ns = perfmodel_floor_ns(c->item_steps, c->items, t->device.compute_units, t->device.gpu);
    size_t most = tune_most_text(t);
    if (!note_kernel(t, c->hash)) return "duplicate";
    if (c->bytes > most) {
        snprintf(why, n, "kernel text of %zu unrolled bytes exceeds --text-limit (%zu bytes)", c->bytes,
                 most);
        return "oversized";
    }
    if (t->options.no_bound || floor_ns <= limit_ns(best_ns)) return NULL;
    snprintf(why, n, "lower bound of %.3g ns exceeds the limit of %.3g ns", floor_ns, limit_ns(best_ns));
    return "cut";
}

static void judge_later(void *self, const struct session_job *job)
{
    struct tune *t = self;
    lowering_ask(t->lowering, job->leaf);
}

static const char *judge(void *self, struct session_job *job, double best_ns, char *why, size_t n)
{
    struct tune *t = self;
    struct lowered c;
    lowering_take(t->lowering, job->leaf, &c);
    if (!c.ok) {
        snprintf(why, n, "%s", c.why);
        return "build_error";
    }
    job->kernel_hash = c.hash;
    return job->number > 0 ? verdict_of(t, &c, best_ns, why, n) : NULL;
}

/* ---- the subject ---- */

static enum mcts_status draw(void *self, struct mcts_tree *tree, uint64_t number,
                             struct mcts_descent *descent, bool *audited)
{
    return tune_draw(self, tree, number, descent, audited);
}

static void drawn(void *self, struct session_job *job)
{
    const struct tune *t = self;
    if (t->model) job->bound_ns = perfmodel_bound(t->model, job->leaf, NULL);
    if (t->options.n_pins)
        job->actions =
            solution_drawn(t->root, job->leaf, job->descent.actions, job->descent.n_actions, &job->n_actions);
}

/* The original of a duplicate may not have been reported yet: it is to be measured. */
static void restored(void *self, const struct session_job *job, const struct store_evaluation *e)
{
    if (job->number > 0 && e->kernel_hash && strcmp(e->status, "duplicate") != 0)
        note_kernel(self, e->kernel_hash);
}

static void reported(void *self, const struct session_job *job, const struct store_evaluation *e)
{
    struct tune *t = self;
    if (job->number <= 0) tune_report_contender(t, job, e);
    if (strcmp(e->status, "ok") == 0) tune_check_bound(t, job, e->median_ns);
}

static void archive_kernels(struct tune *t, struct archive *a)
{
    size_t n = HASH_COUNT(t->seen);
    uint64_t *hashes = base_malloc((n + 1) * sizeof hashes[0]), *at = hashes;
    for (const struct seen_kernel *k = t->seen; k; k = k->hh.next)
        *at++ = k->hash;
    hashes = archive_array(a, hashes, &n, sizeof hashes[0]);
    for (size_t i = 0; archive_reads(a) && i < n; i++)
        note_kernel(t, hashes[i]);
    free(hashes);
}

static void archive(void *self, struct archive *a)
{
    struct tune *t = self;
    archive_kernels(t, a);
    tune_archive_bound(t, a);
}

/* Its text is not known any more, or it would be called a duplicate of itself. */
static void unjudge(void *self, const struct session_job *job)
{
    struct tune *t = self;
    struct seen_kernel *k;
    HASH_FIND(hh, t->seen, &job->kernel_hash, sizeof job->kernel_hash, k);
    if (!k) return;
    HASH_DEL(t->seen, k);
    free(k);
}

const struct session_subject tune_program = {.draw = draw,
                                             .drawn = drawn,
                                             .judge_later = judge_later,
                                             .judge = judge,
                                             .restored = restored,
                                             .reported = reported,
                                             .archive = archive,
                                             .unjudge = unjudge};
