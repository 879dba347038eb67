/* thresh space count, enumerate: the number of solutions, or the solutions.
 *
 *     $ thresh space count queens.space --param n=6
 *     4 solutions, 0.000 s
 *     $ thresh space enumerate queens.space --param n=6 --limit 1
 *     column(0)=1 column(1)=3 column(2)=5 column(3)=0 column(4)=2 column(5)=4 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "coordinator/cli/space.h"
#include "coordinator/solution.h"
#include "core/base/clock.h"
#include "core/base/strbuf.h"
#include "core/space/count.h"
#include "mcts/estimate.h"

/* Sets *root, or NULL for an empty space: that is not an error, and a note names the constraint that excludes
 * all solutions. false after an error. */
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
        fprintf(stderr, "note: the space has no solution (%s:%u: %s)\n", why.file, why.line, why.text);
    space_state_free(all);
    return !diag_failed(d);
}

/* ---- count ---- */

static json_t *solutions_json(long double n)
{
    if (n < 9007199254740992.0L) return json_integer((json_int_t)n);
    return n < 1e308L ? json_real((double)n) : json_null();
}

/* setup_s: the time from the compiled definition to the propagated root. */
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
    bool one = c->solutions > 0.5L && c->solutions < 1.5L;
    printf("%s%s solution%s, %.3f s\n", about, count, one ? "" : "s", elapsed_s);
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

char *space_solution_line(const struct cli_args *a, const struct space_state *leaf)
{
    const struct space *s = space_of(leaf);
    struct strbuf line = {0};
    if (cli_given(a, CLI_JSON)) return solution_text(leaf);
    for (uint32_t i = 0; i < space_slot_count(s); i++) {
        char name[CLI_NAME_BYTES], value[CLI_NAME_BYTES];
        if (!space_is_live(leaf, i)) continue;
        space_slot_name(s, i, name, sizeof name);
        space_value_name(s, i, space_first_value(leaf, i), value, sizeof value);
        strbuf_printf(&line, "%s%s=%s", line.length ? " " : "", name, value);
    }
    return strbuf_take(&line);
}

void space_print_solution(const struct cli_args *a, const struct space_state *leaf)
{
    char *line = space_solution_line(a, leaf);
    puts(line);
    free(line);
}

/* Depth first. false: the limit is reached, or standard output is closed. */
static bool list_solutions(struct space_listing *l)
{
    uint32_t slot = space_next_choice(l->state, l->order.parts, l->order.n);
    if (slot == UINT32_MAX) {
        space_print_solution(l->args, l->state);
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

bool space_listing_open(const struct cli_args *a, struct cli_space *o, struct space_listing *l,
                        struct diag *d)
{
    l->args = a;
    if (!open_root(a, o, &l->state, d)) return false;
    return mcts_order_parse(o->space, a->value[CLI_ORDER], &l->order, d);
}

void space_listing_close(struct space_listing *l)
{
    space_state_free(l->state);
    mcts_order_free(&l->order);
}

int space_enumerate_verb(const struct cli_args *a, struct cli_space *o, struct diag *d)
{
    struct space_listing l = {0};
    bool ok = cli_count(a, CLI_LIMIT, 0, &l.limit, d) && space_listing_open(a, o, &l, d);
    if (ok && l.state) list_solutions(&l);
    space_listing_close(&l);
    return ok ? CLI_OK : CLI_USAGE;
}
