/* The three ways of counting the leaves of a tree (estimate.h), and the summary that they share: mean,
 * interval, share of dead ends. */
#include "mcts/estimate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/base/pcg32.h"
#include "mcts/chen.h"
#include "mcts/descent.h"

/* Fills in the count and its interval from one logarithm a sample. */
static void summarise(struct mcts_estimate *e, const double *logs, uint64_t seed)
{
    struct mcts_interval i = mcts_interval(logs, (size_t)e->samples, seed);
    e->log_leaves = i.log_mean;
    e->leaves = exp(i.log_mean);
    e->log_low = i.log_low;
    e->log_high = i.log_high;
    e->unreliable = i.unreliable;
}

/* An estimate by descents, as they arrive. */
struct knuth {
    const struct mcts_estimate_config *config;
    struct mcts_estimate e;
    double log_leaves, log_depth; /* sums of the estimates; of those times their depth */
    uint64_t arrived, dead_ends;
    double *logs; /* one a descent */
};

static void add_descents(void *context, const struct mcts_walk *w, const uint32_t *ids, uint32_t n)
{
    struct knuth *k = context;
    double log_leaves = w->leaf ? w->log_leaves : -INFINITY, log_sum = log_leaves + log(n);
    for (uint32_t i = 0; i < n; i++)
        k->logs[ids[i]] = log_leaves;
    k->log_leaves = mcts_log_add(k->log_leaves, log_sum);
    if (w->leaf && w->depth) k->log_depth = mcts_log_add(k->log_depth, log_sum + log(w->depth));
    if (!w->leaf) k->dead_ends += n;
    k->e.nodes += (uint64_t)n * (w->depth + !w->leaf);
    k->e.decisions += (uint64_t)n * w->depth;
    k->e.trials.tried += n * w->trials.tried;
    k->e.trials.dead_constraint += n * w->trials.dead_constraint;
    k->e.trials.dead_bound += n * w->trials.dead_bound;
    k->arrived += n;
    if (k->config->progress) k->config->progress(k->config->progress_context, k->arrived);
}

static struct mcts_estimate knuth(const struct mcts_estimate_config *c, struct space_state *state)
{
    CHECK(c->samples <= UINT32_MAX);
    struct knuth k = {.config = c,
                      .e = {.method = MCTS_KNUTH, .samples = c->samples},
                      .log_leaves = -INFINITY,
                      .log_depth = -INFINITY,
                      .logs = base_malloc((size_t)c->samples * sizeof k.logs[0])};
    const struct mcts_descents descents = {.n = (uint32_t)c->samples,
                                           .cut = c->cut,
                                           .cut_depth = c->cut_depth,
                                           .arrive = add_descents,
                                           .context = &k};
    struct pcg32 rng = pcg32_seed(c->seed, 0);
    mcts_descend_together(&c->branching, state, &descents, &rng);
    summarise(&k.e, k.logs, c->seed);
    k.e.dead_end_ratio = (double)k.dead_ends / (double)c->samples;
    k.e.mean_depth = k.log_leaves > -INFINITY ? exp(k.log_depth - k.log_leaves) : 0;
    free(k.logs);
    return k.e;
}

static struct mcts_estimate chen(const struct mcts_estimate_config *c, const struct space_state *state)
{
    struct mcts_estimate e = {.method = MCTS_CHEN, .samples = c->samples};
    struct pcg32 rng = pcg32_seed(c->seed, 0);
    struct mcts_chen *queue = mcts_chen_new(state);
    double *logs = base_malloc((size_t)c->samples * sizeof logs[0]);
    double leaves = -INFINITY, ends = -INFINITY, depth = -INFINITY, dead_ends = -INFINITY;
    for (uint64_t i = 0; i < c->samples; i++) {
        struct mcts_chen_run run = mcts_chen_run(queue, c, state, &rng);
        logs[i] = run.log_leaves;
        leaves = mcts_log_add(leaves, run.log_leaves);
        dead_ends = mcts_log_add(dead_ends, run.log_dead_ends);
        depth = mcts_log_add(depth, run.log_depth);
        e.nodes += run.nodes;
        mcts_trials_add(&e.trials, &run.trials);
        if (c->progress) c->progress(c->progress_context, i + 1);
    }
    summarise(&e, logs, c->seed);
    ends = mcts_log_add(leaves, dead_ends);
    e.dead_end_ratio = ends > -INFINITY ? exp(dead_ends - ends) : 0;
    e.mean_depth = leaves > -INFINITY ? exp(depth - leaves) : 0;
    free(logs);
    mcts_chen_free(queue);
    return e;
}

/* ---- exact ---- */

enum { NODES_PER_PROGRESS = 1024 };

struct count {
    const struct mcts_estimate_config *config;
    struct space_state *state;
    uint64_t nodes, leaves, dead_ends;
    double depth_sum;
    struct mcts_trials trials;
};

static bool enter_child(struct count *c, struct space_action action, uint32_t depth)
{
    struct space_failure why;
    const struct mcts_branching *b = &c->config->branching;
    c->trials.tried++;
    bool live = space_apply(c->state, action, &why);
    c->trials.dead_constraint += !live;
    if (!live || !b->bound || depth >= c->config->cut_depth) return live;
    live = b->bound(b->bound_context, c->state) < c->config->cut;
    c->trials.dead_bound += !live;
    return live;
}

/* Depth first, straight from trial to subtree. false: out of budget. */
static bool count_leaves(struct count *c, uint32_t depth)
{
    const struct mcts_branching *b = &c->config->branching;
    uint32_t slot = space_next_choice(c->state, b->order, b->n_order);
    if (slot == UINT32_MAX) {
        c->leaves++;
        c->depth_sum += depth;
        return true;
    }
    if (c->config->node_limit && c->nodes == c->config->node_limit) return false;
    c->nodes++;
    if (c->config->progress && c->nodes % NODES_PER_PROGRESS == 0)
        c->config->progress(c->config->progress_context, c->leaves);
    bool some = false, complete = true;
    uint32_t n = space_universe(space_of(c->state), slot);
    for (uint32_t v = 0; v < n && complete; v++) {
        if (!space_has_value(c->state, slot, v)) continue;
        space_mark mark = space_snapshot(c->state);
        if (enter_child(c, (struct space_action){slot, v}, depth)) {
            some = true;
            complete = count_leaves(c, depth + 1);
        }
        space_rollback(c->state, mark);
    }
    c->dead_ends += !some;
    return complete;
}

static struct mcts_estimate enumerate(const struct mcts_estimate_config *config, struct space_state *state)
{
    struct count c = {.config = config, .state = state};
    struct mcts_estimate e = {.method = MCTS_EXACT, .samples = 1};
    e.complete = count_leaves(&c, 0);
    e.unreliable = !e.complete;
    e.leaves = (double)c.leaves;
    e.log_leaves = e.log_low = log(e.leaves);
    e.log_high = e.complete ? e.log_leaves : INFINITY;
    double ends = (double)(c.leaves + c.dead_ends);
    e.dead_end_ratio = ends > 0 ? (double)c.dead_ends / ends : 0;
    e.mean_depth = c.leaves ? c.depth_sum / e.leaves : 0;
    e.nodes = c.nodes;
    e.trials = c.trials;
    return e;
}

struct mcts_estimate mcts_estimate(const struct mcts_estimate_config *c, struct space_state *state)
{
    CHECK(c->method == MCTS_EXACT || c->samples > 0);
    switch (c->method) {
    case MCTS_KNUTH:
        return knuth(c, state);
    case MCTS_CHEN:
        return chen(c, state);
    case MCTS_EXACT:
        return enumerate(c, state);
    }
    PANIC("method %d", (int)c->method);
}

int mcts_count_print(double log_count, char *out, size_t n)
{
    if (log_count == INFINITY) return snprintf(out, n, "inf");
    if (log_count < log(1e15)) return snprintf(out, n, "%.0f", exp(log_count));
    double log10_count = log_count / log(10), exponent = floor(log10_count);
    double mantissa = pow(10, log10_count - exponent);
    if (mantissa >= 9.995) {
        mantissa /= 10;
        exponent++;
    }
    return snprintf(out, n, "%.2fe%.0f", mantissa, exponent);
}
