/* thresh space descend, thresh estimate FILE.space: the size of a space.
 *
 * First the solutions are counted with a small budget (space_count_at_once). If the count is complete, it is
 * the result. Otherwise Knuth's estimate is the result, and what was counted is a lower limit of its
 * interval: with 5000 solutions counted, an estimate of 3000 (1000 to 9000) becomes 5000 (5000 to 9000). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "coordinator/cli/estimate.h"
#include "coordinator/cli/space.h"
#include "core/base/clock.h"
#include "core/space/count.h"
#include "mcts/estimate.h"

/* Whether the count is complete and did not overflow (at 1e4932). */
static bool is_known(const struct space_count *c)
{
    return c->complete && isfinite(c->solutions);
}

/* There are at least as many solutions as were counted. */
static void raise_low(struct mcts_estimate *e, const struct space_count *c)
{
    if (!(c->solutions > 0) || !isfinite(c->solutions)) return;
    double low = (double)logl(c->solutions);
    e->log_low = fmax(e->log_low, low);
    e->log_leaves = fmax(e->log_leaves, low);
    e->log_high = fmax(e->log_high, e->log_leaves);
}

static void set_exact(struct mcts_estimate *e, const struct space_count *c)
{
    e->log_leaves = e->log_low = e->log_high = (double)logl(c->solutions);
    e->unreliable = false;
}

/* ---- descend ---- */

static void print_descents(const struct cli_args *a, const struct cli_space *o, const struct mcts_estimate *e,
                           bool exact, double elapsed_s)
{
    double n = (double)e->samples, decisions = (double)e->decisions;
    bool some = isfinite(e->log_leaves);
    if (cli_given(a, CLI_JSON)) {
        json_t *object = json_pack(
            "{s:I,s:f,s:f,s:f,s:I,s:o,s:o,s:o,s:b,s:b}", "samples", (json_int_t)e->samples, "descents_per_s",
            n / elapsed_s, "decisions_per_s", decisions / elapsed_s, "mean_depth", e->mean_depth,
            "vector_bytes", (json_int_t)space_vector_bytes(o->space), "log10_leaves",
            some ? json_real(e->log_leaves / log(10)) : json_null(), "ci95_low", cli_count_json(e->log_low),
            "ci95_high", cli_count_json(e->log_high), "unreliable", (int)e->unreliable, "exact", (int)exact);
        cli_add_dead_ends(object, e->dead_end_ratio, e->samples);
        cli_print_json(object);
        return;
    }
    cli_estimate_print_count("solutions", e, exact);
    if (e->unreliable)
        printf("unreliable       %s: increase --samples, or use 'thresh space count'\n",
               some ? "a few descents contribute most of the sum" : "no descent reached a solution");
    printf("descents         %" PRIu64 ", %.1f/s\n", e->samples, n / elapsed_s);
    cli_print_dead_ends(e->dead_end_ratio, e->samples);
    printf("mean depth       %.1f\nvector           %zu bytes\n", e->mean_depth,
           space_vector_bytes(o->space));
}

int space_descend_verb(const struct cli_args *a, struct cli_space *o, struct diag *d)
{
    struct space_listing l = {0};
    struct mcts_estimate_config c = {.method = MCTS_KNUTH, .cut = INFINITY};
    bool ok = cli_samples(a, 1000, &c.samples, d) && cli_count(a, CLI_SEED, 1, &c.seed, d) &&
              space_listing_open(a, o, &l, d);
    if (ok && !l.state) diag_plain(d, "the space has no solution");
    if (ok && l.state) {
        struct space_count count = space_count_at_once(l.state);
        bool exact = is_known(&count);
        double start = clock_s();
        c.branching = (struct mcts_branching){.order = l.order.parts, .n_order = l.order.n};
        struct mcts_estimate e = mcts_estimate(&c, l.state);
        double elapsed_s = clock_s() - start;
        if (exact)
            set_exact(&e, &count);
        else
            raise_low(&e, &count);
        print_descents(a, o, &e, exact, elapsed_s);
    }
    space_listing_close(&l);
    return ok && !diag_failed(d) ? CLI_OK : CLI_USAGE;
}

/* ---- thresh estimate ---- */

static void print_counted(const struct cli_args *a, const struct space_count *c, double elapsed_s)
{
    struct mcts_estimate e = {.method = MCTS_EXACT, .complete = c->complete};
    e.log_leaves = e.log_low = (double)logl(c->solutions);
    e.log_high = c->complete ? e.log_leaves : INFINITY;
    if (cli_given(a, CLI_JSON)) {
        cli_print_json(json_pack("{s:s,s:I,s:o,s:o,s:o,s:o,s:n,s:n,s:f,s:b,s:b}", "method", "exact",
                                 "samples", (json_int_t)1, "estimate", cli_count_json(e.log_leaves), "log10",
                                 cli_real_json(e.log_leaves / log(10)), "ci95_low", cli_count_json(e.log_low),
                                 "ci95_high", cli_count_json(e.log_high), "dead_end_ratio", "mean_depth",
                                 "elapsed_s", elapsed_s, "complete", (int)c->complete, "unreliable",
                                 (int)!c->complete));
        return;
    }
    cli_estimate_print_count("solutions", &e, c->complete);
    if (!c->complete) printf("unreliable       the count stopped at the limit: increase --limit\n");
    printf("method           exact, %.2f s\n", elapsed_s);
}

/* Without --method: the count if it can be made quickly, else Knuth's estimate. */
static void estimate(const struct cli_args *a, struct mcts_estimate_config *c, struct space_state *root)
{
    struct space_count count = {0};
    bool exact = c->method == MCTS_EXACT;
    double start = clock_s();
    if (exact) count = space_count(root, c->node_limit);
    if (!cli_given(a, CLI_METHOD)) count = space_count_at_once(root);
    if (exact || is_known(&count)) {
        print_counted(a, &count, clock_s() - start);
        return;
    }
    struct cli_counting counting = cli_counting_start(c->method);
    if (!cli_given(a, CLI_QUIET)) c->progress = cli_counting_show;
    c->progress_context = &counting;
    struct mcts_estimate e = mcts_estimate(c, root);
    raise_low(&e, &count);
    cli_estimate_print(a, "solutions", &e, clock_s() - start);
}

int cli_estimate_space(const struct cli_args *a)
{
    struct diag *d = diag_new();
    struct cli_space o = {0};
    struct space_listing l = {0};
    struct mcts_estimate_config c;
    bool ok = cli_refuse_others(a, CLI_SET(CLI_ESTIMATE_SPACE), "does not apply to a space", d) &&
              cli_estimate_options(a, &c, d) && cli_space_load(a->positional[0], &o, d) &&
              space_listing_open(a, &o, &l, d);
    c.branching = (struct mcts_branching){.order = l.order.parts, .n_order = l.order.n};
    c.cut = INFINITY;
    if (ok && l.state) estimate(a, &c, l.state);
    if (ok && !l.state) print_counted(a, &(struct space_count){.complete = true}, 0);
    space_listing_close(&l);
    int status = cli_finish(d, CLI_OK);
    cli_space_close(&o);
    return status;
}
