/* thresh space count, enumerate, sample: how many solutions, all of them, or some. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "coordinator/cli/space.h"
#include "coordinator/solution.h"
#include "core/base/clock.h"
#include "core/base/pcg32.h"
#include "core/space/count.h"
#include "mcts/descent.h"
#include "mcts/estimate.h"
#include "mcts/order.h"

enum { NAME_BYTES = 512 };

/* An empty space has no root, but it has a count; which condition excludes everything is said. */
static bool open_root(const struct cli_args *a, struct cli_space *o, struct space_state **root,
                      struct diag *d)
{
    *root = NULL;
    if (!cli_space_instantiate(a, o, d)) return false;
    struct space_failure why = {0};
    struct space_state *all = space_root(o->space, &why);
    if (all)
        *root = space_pinned_root(o->space, a->pins.items, a->pins.n, d);
    else
        fprintf(stderr, "note: the space is empty (%s:%u: %s)\n", why.file, why.line, why.text);
    space_state_free(all);
    return !diag_failed(d);
}

/* ---- count ---- */

static json_t *solutions_json(long double n)
{
    if (n < 9007199254740992.0L) return json_integer((json_int_t)n);
    return n < 1e308L ? json_real((double)n) : json_null();
}

/* setup_s: from the compiled definition to the propagated root. */
static void print_count(const struct cli_args *a, const struct space_count *c, double setup_s,
                        double elapsed_s)
{
    char count[64];
    double log10_count = c->solutions > 0 ? (double)log10l(c->solutions) : -INFINITY;
    if (cli_given(a, CLI_JSON)) {
        cli_print_json(json_pack("{s:o,s:f,s:f,s:b,s:o,s:I,s:I}", "solutions", solutions_json(c->solutions),
                                 "elapsed_s", elapsed_s, "setup_s", setup_s, "complete", (int)c->complete,
                                 "log10", isfinite(log10_count) ? json_real(log10_count) : json_null(),
                                 "nodes", (json_int_t)c->nodes, "groups_reused", (json_int_t)c->hits));
        return;
    }
    const char *about = isinf(log10_count) > 0 ? "more than " : c->complete ? "" : "at least ";
    if (c->solutions < 1e15L)
        snprintf(count, sizeof count, "%.0Lf", c->solutions);
    else if (isinf(log10_count))
        snprintf(count, sizeof count, "1e4932");
    else
        mcts_count_print(log10_count * log(10), count, sizeof count);
    printf("%s%s solutions, %.3f s\n", about, count, elapsed_s);
}

int space_count_verb(const struct cli_args *a, struct cli_space *o, struct diag *d)
{
    uint64_t limit;
    struct space_state *root;
    struct space_count c = {.complete = true};
    double before = clock_s();
    if (!cli_count(a, CLI_LIMIT, 0, &limit, d) || !open_root(a, o, &root, d)) return CLI_USAGE;
    double start = clock_s();
    if (root) c = space_count(root, limit);
    print_count(a, &c, start - before, clock_s() - start);
    space_state_free(root);
    return CLI_OK;
}

/* ---- solutions ---- */

static void print_solution(const struct cli_args *a, const struct space_state *leaf)
{
    const struct space *s = space_of(leaf);
    if (cli_given(a, CLI_JSON)) {
        json_t *o = solution_json(leaf);
        json_dumpf(o, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
        putchar('\n');
        json_decref(o);
        return;
    }
    const char *between = "";
    for (uint32_t i = 0; i < space_slot_count(s); i++) {
        char name[NAME_BYTES], value[NAME_BYTES];
        if (!space_is_live(leaf, i)) continue;
        space_slot_name(s, i, name, sizeof name);
        space_value_name(s, i, space_first_value(leaf, i), value, sizeof value);
        printf("%s%s=%s", between, name, value);
        between = " ";
    }
    putchar('\n');
}

struct listing {
    const struct cli_args *args;
    struct space_state *state;
    struct mcts_order order;
    uint64_t printed, limit;
};

/* Depth first; false: the limit is reached, or nobody reads. */
static bool list_solutions(struct listing *l)
{
    uint32_t slot = space_next_choice(l->state, l->order.parts, l->order.n);
    if (slot == UINT32_MAX) {
        print_solution(l->args, l->state);
        return ++l->printed != l->limit && !ferror(stdout);
    }
    bool more = true;
    uint32_t n = space_universe(space_of(l->state), slot);
    for (uint32_t v = 0; v < n && more; v++) {
        if (!space_has_value(l->state, slot, v)) continue;
        space_mark mark = space_snapshot(l->state);
        if (space_apply(l->state, (struct space_action){slot, v}, NULL)) more = list_solutions(l);
        space_rollback(l->state, mark);
    }
    return more;
}

static bool open_listing(const struct cli_args *a, struct cli_space *o, struct listing *l, struct diag *d)
{
    l->args = a;
    if (!open_root(a, o, &l->state, d)) return false;
    return mcts_order_parse(o->space, a->value[CLI_ORDER], &l->order, d);
}

static void close_listing(struct listing *l)
{
    space_state_free(l->state);
    mcts_order_free(&l->order);
}

int space_enumerate_verb(const struct cli_args *a, struct cli_space *o, struct diag *d)
{
    struct listing l = {0};
    bool ok = cli_count(a, CLI_LIMIT, 0, &l.limit, d) && open_listing(a, o, &l, d);
    if (ok && l.state) list_solutions(&l);
    close_listing(&l);
    return ok ? CLI_OK : CLI_USAGE;
}

/* ---- samples ---- */

/* Random descents that end in a solution; gives up after many dead ends in a row. */
static int draw_samples(struct listing *l, uint64_t samples, uint64_t seed, struct diag *d)
{
    enum { MOST_DEAD_ENDS = 10000 };
    struct mcts_branching b = {.order = l->order.parts, .n_order = l->order.n};
    struct pcg32 rng = pcg32_seed(seed, 0);
    unsigned dead_ends = 0;
    while (l->printed < samples && dead_ends < MOST_DEAD_ENDS && !ferror(stdout)) {
        space_mark mark = space_snapshot(l->state);
        bool leaf = mcts_descend_random(&b, l->state, INFINITY, 0, &rng, NULL).leaf;
        dead_ends = leaf ? 0 : dead_ends + 1;
        l->printed += leaf;
        if (leaf) print_solution(l->args, l->state);
        space_rollback(l->state, mark);
    }
    if (dead_ends == MOST_DEAD_ENDS)
        diag_plain(d, "%u random descents in a row found no solution", dead_ends);
    return dead_ends == MOST_DEAD_ENDS ? CLI_FAILED : CLI_OK;
}

int space_sample_verb(const struct cli_args *a, struct cli_space *o, struct diag *d)
{
    struct listing l = {0};
    uint64_t samples, seed;
    int status = CLI_USAGE;
    if (cli_samples(a, 10, &samples, d) && cli_count(a, CLI_SEED, 1, &seed, d) && open_listing(a, o, &l, d)) {
        if (l.state)
            status = draw_samples(&l, samples, seed, d);
        else
            diag_plain(d, "the space has no solution");
    }
    close_listing(&l);
    return status;
}

/* ---- descents ---- */

static void print_descents(const struct cli_args *a, const struct cli_space *o, const struct mcts_estimate *e,
                           double elapsed_s)
{
    double n = (double)e->samples, decisions = (double)e->decisions;
    char count[64], low[64], high[64];
    mcts_count_print(e->log_leaves, count, sizeof count);
    mcts_count_print(e->log_low, low, sizeof low);
    mcts_count_print(e->log_high, high, sizeof high);
    bool some = isfinite(e->log_leaves);
    if (cli_given(a, CLI_JSON)) {
        json_t *object = json_pack(
            "{s:I,s:f,s:f,s:f,s:I,s:o,s:o,s:o,s:b}", "samples", (json_int_t)e->samples, "descents_per_s",
            n / elapsed_s, "decisions_per_s", decisions / elapsed_s, "mean_depth", e->mean_depth,
            "vector_bytes", (json_int_t)space_vector_bytes(o->space), "log10_leaves",
            some ? json_real(e->log_leaves / log(10)) : json_null(), "ci95_low", cli_count_json(e->log_low),
            "ci95_high", cli_count_json(e->log_high), "unreliable", (int)e->unreliable);
        cli_add_dead_ends(object, e->dead_end_ratio, e->samples);
        cli_print_json(object);
        return;
    }
    printf("solutions        %s (95 %% interval %s to %s)\n", count, low, high);
    if (e->unreliable)
        printf("unreliable       %s: take more --samples, or thresh space count\n",
               some ? "a few descents hold most of the sum" : "no descent came to a solution");
    printf("descents         %" PRIu64 ", %.1f/s\n", e->samples, n / elapsed_s);
    cli_print_dead_ends(e->dead_end_ratio, e->samples);
    printf("mean depth       %.1f\nvector           %zu bytes\n", e->mean_depth,
           space_vector_bytes(o->space));
}

int space_descend_verb(const struct cli_args *a, struct cli_space *o, struct diag *d)
{
    struct listing l = {0};
    struct mcts_estimate_config c = {.method = MCTS_KNUTH, .cut = INFINITY};
    bool ok = cli_samples(a, 1000, &c.samples, d) && cli_count(a, CLI_SEED, 1, &c.seed, d) &&
              open_listing(a, o, &l, d);
    if (ok && !l.state) diag_plain(d, "the space has no solution");
    if (ok && l.state) {
        double start = clock_s();
        c.branching = (struct mcts_branching){.order = l.order.parts, .n_order = l.order.n};
        struct mcts_estimate e = mcts_estimate(&c, l.state);
        print_descents(a, o, &e, clock_s() - start);
    }
    close_listing(&l);
    return ok && !diag_failed(d) ? CLI_OK : CLI_USAGE;
}
