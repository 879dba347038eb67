/* Searches of pools, without a device (pool.h): one process, many seeds. For example
 *
 *     search-bench --seeds 50 --evaluations 400 --label new --heuristic tag --heuristic uct:c=2 A.pool B.pool
 *
 * prints a line for each pool, heuristic and seed, with its course (statistics.h), which `search-table`
 * reads:
 *
 *     A   new   tag   1   400   1:5.2 7:1.9 31:1.04
 *
 * A search is what `thresh tune` does: the same tree, policies, declared prior and cuts by the bound; a
 * launch that is slower than the limit of the pool is stopped; a row whose kernel was evaluated before is no
 * evaluation; a failure is one. With --in-flight N a result is told when N - 1 later ones are drawn. --trace
 * prints what was drawn instead: number, row of the pool, outcome. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "experiments/search/options.h"
#include "experiments/search/pool_space.h"
#include "mcts/order.h"
#include "mcts/prior.h"
#include "mcts/tree.h"

extern const char prior_gpu[]; /* spacedsl/spaces/gpu.prior */

/* A pool that is searched. */
struct subject {
    char *name;
    struct pool *pool;
    struct space *space;
    struct space_state *root;
    struct mcts_prior *prior; /* NULL: none */
    struct mcts_order order;
    double optimum; /* ns */
    bool bounded;
};

/* One search. */
struct search {
    const struct subject *subject;
    const struct search_options *options;
    bool *evaluated; /* kernels */
    double best;     /* ns, of what was drawn; INFINITY: none */
    uint32_t evaluations;
};

/* ---- a search ---- */

/* What a launch may take, as in coordinator/limits.h. */
static double limit_ns(const struct search *s)
{
    const struct pool *p = s->subject->pool;
    double best = p->known_ns > 0 ? fmin(s->best, p->known_ns) : s->best;
    return p->cut_factor > 0 ? fmax(p->cut_factor * best, p->least_ns) : INFINITY;
}

static struct mcts_outcome evaluate(struct search *s, uint32_t row)
{
    const struct pool_row *r = &s->subject->pool->rows[row];
    if (s->evaluated[r->kernel]) return (struct mcts_outcome){.kind = MCTS_DUPLICATE};
    s->evaluated[r->kernel] = true;
    if (r->status == POOL_OVERSIZED) return (struct mcts_outcome){.kind = MCTS_CUT};
    s->evaluations++;
    if (r->status == POOL_FAILED) return (struct mcts_outcome){.kind = MCTS_FAILED};
    if (r->status == POOL_CUT || r->time_ns > limit_ns(s)) return (struct mcts_outcome){.kind = MCTS_CUT};
    return (struct mcts_outcome){MCTS_TIMED, r->time_ns};
}

static void tell(struct search *s, uint32_t row, uint32_t number, struct mcts_outcome o)
{
    static const char *const NAMES[] = {"timed", "failed", "cut", "duplicate"};
    bool better = o.kind == MCTS_TIMED && o.time < s->best;
    if (better && !s->options->trace)
        printf("%s%" PRIu32 ":%.6g", isfinite(s->best) ? " " : "", number, o.time / s->subject->optimum);
    if (better) s->best = o.time;
    if (s->options->trace) printf("%" PRIu32 "\t%" PRIu32 "\t%s\n", number, row, NAMES[o.kind]);
}

/* Results that are not told yet, the oldest first. */
struct in_flight {
    struct {
        struct mcts_descent descent;
        uint32_t row, number;
        struct mcts_outcome outcome;
    } list[SEARCH_IN_FLIGHT];
    uint32_t n;
};

static void tell_oldest(struct search *s, struct mcts_tree *t, struct in_flight *f)
{
    tell(s, f->list[0].row, f->list[0].number, f->list[0].outcome);
    mcts_tree_report(t, &f->list[0].descent, f->list[0].outcome);
    mcts_descent_free(&f->list[0].descent);
    memmove(&f->list[0], &f->list[1], --f->n * sizeof f->list[0]);
}

/* false: the heuristic is at fault. */
static bool draw_all(struct search *s, struct mcts_tree *t, struct in_flight *f)
{
    for (unsigned stuck = 0; s->evaluations < s->options->evaluations && stuck < SEARCH_STUCK;) {
        struct mcts_descent d = {0};
        enum mcts_status status = mcts_tree_next(t, &d);
        if (status == MCTS_ERROR) fprintf(stderr, "search-bench: %s\n", mcts_tree_error(t));
        if (status == MCTS_ERROR) return false;
        if (status == MCTS_EXHAUSTED) return true;
        stuck = status == MCTS_STUCK ? stuck + 1 : 0;
        if (status == MCTS_STUCK && f->n > 0) tell_oldest(s, t, f);
        if (status == MCTS_STUCK) continue;
        uint32_t row = pool_space_row(mcts_tree_state(t));
        f->list[f->n].descent = d;
        f->list[f->n].row = row;
        f->list[f->n].outcome = evaluate(s, row);
        f->list[f->n++].number = s->evaluations;
        if (f->n == s->options->in_flight) tell_oldest(s, t, f);
    }
    return true;
}

static bool run_tree(struct search *s, struct mcts_tree *t)
{
    struct in_flight f = {.n = 0};
    bool ok = draw_all(s, t, &f);
    while (f.n > 0)
        tell_oldest(s, t, &f);
    return ok;
}

static void features_of(void *context, const struct space_state *leaf, double *features)
{
    const struct pool *p = context;
    const struct pool_row *row = &p->rows[pool_space_row(leaf)];
    memcpy(features, row->features, p->n_features * sizeof features[0]);
}

static struct mcts_config config_of(const struct subject *b, uint64_t seed)
{
    struct mcts_config c = mcts_config_default();
    c.seed = seed;
    c.branching.order = b->order.parts;
    c.branching.n_order = b->order.n;
    c.branching.bound = b->bounded ? pool_space_bound : NULL;
    c.features = (struct mcts_features){b->pool->n_features, features_of, b->pool, NULL};
    c.prior = b->prior ? mcts_prior_weight : NULL;
    c.prior_context = b->prior;
    return c;
}

static bool search(const struct subject *b, const struct search_options *o, const char *heuristic,
                   uint32_t seed)
{
    struct diag *d = diag_new();
    struct mcts_heuristic *h = mcts_heuristic_load(heuristic, d);
    struct search s = {.subject = b, .options = o, .best = INFINITY};
    bool ok = h != NULL;
    diag_print(d, stderr);
    diag_free(d);
    if (!ok) return false;
    struct mcts_config c = config_of(b, seed);
    struct mcts_tree *t = mcts_tree_new(b->root, h, &c);
    s.evaluated = base_calloc(b->pool->n_rows + 1, sizeof *s.evaluated);
    if (b->pool->known_ns > 0) mcts_tree_known_time(t, b->pool->known_ns);
    if (!o->trace) search_print_head(o, b->name, heuristic, seed);
    ok = run_tree(&s, t);
    if (!o->trace) putchar('\n');
    mcts_tree_free(t);
    mcts_heuristic_free(h);
    free(s.evaluated);
    return ok;
}

/* ---- a pool ---- */

/* The rules of the declared prior without those of choices that the pool has not: it may be older than they
 * are. Lines keep their numbers. Free it. */
static char *known_rules(const struct space *s)
{
    char *text = base_strdup(prior_gpu), choice[64];
    for (char *line = text, *end; line; line = end ? end + 1 : NULL) {
        end = strchr(line, '\n');
        if (sscanf(line, "%63[a-z_]", choice) == 1 && space_group_find(s, choice) < 0) *line = '#';
    }
    return text;
}

static bool make_prior(struct subject *b, struct diag *d)
{
    const struct pool *p = b->pool;
    struct mcts_fact *facts = base_calloc(p->n_facts + 1, sizeof *facts);
    for (size_t i = 0; i < p->n_facts; i++)
        facts[i] = (struct mcts_fact){p->facts[i].name, p->facts[i].value};
    char *rules = known_rules(b->space);
    if (p->n_facts) b->prior = mcts_prior_new(rules, b->space, facts, (unsigned)p->n_facts, d);
    free(rules);
    free(facts);
    return b->prior || p->n_facts == 0;
}

static bool kernels_are_numbered(const struct pool *p)
{
    for (size_t i = 0; i < p->n_rows; i++)
        if (p->rows[i].kernel >= p->n_rows) return false;
    return true;
}

static bool open_subject(struct subject *b, const struct search_options *o, const char *path, struct diag *d)
{
    FILE *in = fopen(path, "r");
    *b = (struct subject){.name = search_pool_name(path)};
    if (!in) diag_plain(d, "%s: cannot be read", path);
    if (in) b->pool = pool_read(path, in, d);
    if (in) fclose(in);
    if (!b->pool) return false;
    b->optimum = pool_best_ns(b->pool);
    if (!isfinite(b->optimum) || !kernels_are_numbered(b->pool)) {
        diag_plain(d, "%s: no implementation has a time, or kernels have numbers that are too large", path);
        return false;
    }
    for (size_t i = 0; i < b->pool->n_rows; i++)
        b->bounded = b->bounded || b->pool->rows[i].bound_ns > 0;
    b->space = pool_space_new(b->pool);
    b->root = space_root(b->space, NULL);
    return mcts_order_parse(b->space, o->order, &b->order, d) && make_prior(b, d);
}

static void close_subject(struct subject *b)
{
    mcts_order_free(&b->order);
    mcts_prior_free(b->prior);
    space_state_free(b->root);
    space_free(b->space);
    pool_free(b->pool);
    free(b->name);
}

static bool search_pool(const struct search_options *o, const char *path)
{
    struct diag *d = diag_new();
    struct subject b;
    bool ok = open_subject(&b, o, path, d);
    diag_print(d, stderr);
    for (unsigned h = 0; ok && h < o->n_heuristics; h++)
        for (uint32_t i = 0; ok && i < o->seeds; i++)
            ok = search(&b, o, o->heuristics[h], o->first_seed + i);
    close_subject(&b);
    diag_free(d);
    return ok;
}

int main(int argc, char **argv)
{
    struct search_options o = {
        .label = "-", .first_seed = 1, .seeds = 50, .evaluations = 400, .in_flight = 1};
    bool ok = search_options_read(&o, "ot", argc, argv);
    if (!ok || optind == argc) {
        fprintf(stderr,
                "usage: search-bench [--label TEXT] [--heuristic SPEC]... [--order TEXT]"
                " [--first-seed N] [--seeds N] [--evaluations N] [--in-flight N] [--trace] POOL...\n");
        return 2;
    }
    for (int i = optind; ok && i < argc; i++)
        ok = search_pool(&o, argv[i]);
    return ok ? 0 : 1;
}
