/* thresh space sample: solutions drawn at random.
 *
 * If the solutions can be counted quickly, each is drawn with the same probability (mcts/uniform.h).
 * Otherwise they come from random descents. A descent with branching factors 3 and 2 draws its solution with
 * probability 1/6; from the smallest and the largest such product a note says how far from uniform the sample
 * is. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/space.h"
#include "core/base/arena.h"
#include "core/base/pcg32.h"
#include "core/space/count.h"
#include "mcts/descent.h"
#include "mcts/estimate.h"
#include "mcts/uniform.h"

enum {
    BLOCK = 4096,        /* solutions that are drawn together */
    MOST_CHOICES = 2048, /* of a space for uniform draws: a draw counts once for each choice and value */
    BLOCK_WORK = 1 << 30 /* of the counts for a block: about half a minute (mcts/uniform.h) */
};

/* ---- uniform draws ---- */

struct block {
    const struct cli_args *args;
    char *lines[BLOCK]; /* equal solutions share one text */
    uint32_t n;
    struct arena *texts;
};

static void keep_line(void *context, const struct space_state *leaf, uint32_t times)
{
    struct block *b = context;
    char *line = space_solution_line(b->args, leaf);
    char *kept = arena_strdup(b->texts, line);
    for (uint32_t i = 0; i < times; i++)
        b->lines[b->n++] = kept;
    free(line);
}

/* The solutions arrive in the order of the tree; they are printed in a random order. */
static void print_shuffled(const struct block *b, struct pcg32 *rng)
{
    unsigned order[BLOCK];
    pcg32_shuffle(rng, order, b->n);
    for (uint32_t i = 0; i < b->n; i++)
        puts(b->lines[order[i]]);
}

/* false: the counts take too long; nothing was printed. */
static bool draw_block(const struct space_listing *l, struct block *b, uint32_t n, struct pcg32 *rng)
{
    const struct mcts_branching branching = {.order = l->order.parts, .n_order = l->order.n};
    const struct mcts_uniform draws = {.n = n, .arrive = keep_line, .context = b, .work_limit = BLOCK_WORK};
    b->n = 0;
    b->texts = arena_new();
    bool drawn = mcts_draw_uniform(&branching, l->state, &draws, rng);
    if (drawn) print_shuffled(b, rng);
    arena_free(b->texts);
    return drawn;
}

/* Returns how many were drawn: fewer than `samples` if the counts take too long. */
static uint64_t draw_uniform(const struct space_listing *l, uint64_t samples, uint64_t seed)
{
    struct pcg32 rng = pcg32_seed(seed, 0);
    struct block *b = base_calloc(1, sizeof *b);
    b->args = l->args;
    uint64_t done = 0, left;
    while ((left = samples - done) > 0 && !ferror(stdout) &&
           draw_block(l, b, left < BLOCK ? (uint32_t)left : BLOCK, &rng))
        done += b->n;
    free(b);
    return ferror(stdout) ? samples : done;
}

/* Whether uniform draws are possible: few choices, and a complete count. */
static bool is_counted(struct space_state *root)
{
    if (space_open_count(root) > MOST_CHOICES) return false;
    struct space_count c = space_count_at_once(root);
    return c.complete && c.solutions > 0 && isfinite(c.solutions);
}

/* ---- random descents ---- */

/* A descent draws a solution with probability 1 / exp(log_leaves). */
struct bias {
    double least, most; /* log_leaves of the solutions drawn */
};

static void state_bias(const struct bias *b, uint64_t samples)
{
    char ratio[64];
    mcts_count_print(b->most - b->least, ratio, sizeof ratio);
    fprintf(stderr,
            "note: the sample is not uniform: the space is too large to count, so solutions are drawn by "
            "random descents; of these %" PRIu64
            ", the most likely was %s times as likely as the least likely\n",
            samples, ratio);
}

/* Stops after many dead ends in a row. */
static int draw_descents(const struct space_listing *l, uint64_t samples, uint64_t seed, struct diag *d)
{
    enum { MOST_DEAD_ENDS = 10000 };
    const struct mcts_branching branching = {.order = l->order.parts, .n_order = l->order.n};
    struct pcg32 rng = pcg32_seed(seed, 0);
    struct bias bias = {INFINITY, -INFINITY};
    unsigned dead_ends = 0;
    uint64_t drawn = 0;
    while (drawn < samples && dead_ends < MOST_DEAD_ENDS && !ferror(stdout)) {
        space_mark mark = space_snapshot(l->state);
        struct mcts_walk walk = mcts_descend_random(&branching, l->state, INFINITY, 0, &rng, NULL);
        dead_ends = walk.leaf ? 0 : dead_ends + 1;
        if (walk.leaf) {
            space_print_solution(l->args, l->state);
            bias = (struct bias){fmin(bias.least, walk.log_leaves), fmax(bias.most, walk.log_leaves)};
            drawn++;
        }
        space_rollback(l->state, mark);
    }
    if (drawn) state_bias(&bias, drawn);
    if (dead_ends < MOST_DEAD_ENDS) return CLI_OK;
    diag_plain(d, "%u random descents in a row found no solution", dead_ends);
    return CLI_FAILED;
}

int space_sample_verb(const struct cli_args *a, struct cli_space *o, struct diag *d)
{
    struct space_listing l = {0};
    uint64_t samples, seed;
    int status = CLI_USAGE;
    if (cli_samples(a, 10, &samples, d) && cli_count(a, CLI_SEED, 1, &seed, d) &&
        space_listing_open(a, o, &l, d)) {
        uint64_t drawn = l.state && is_counted(l.state) ? draw_uniform(&l, samples, seed) : 0;
        if (!l.state)
            diag_plain(d, "the space has no solution");
        else
            status = drawn == samples ? CLI_OK : draw_descents(&l, samples - drawn, seed, d);
    }
    space_listing_close(&l);
    return status;
}
