/* Orders of choices: what is refused, what is taken first, and that no implementation is lost by one. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "mcts/estimate.h"
#include "mcts/order.h"
#include "mcts/tree.h"
#include "tests/fixture/kernel.h"
#include "tests/mcts/queens.h"

enum { ORDER_NAME = 512 };

/* A GPU space with a few thousand implementations. */
static void open_small(struct kernel_fixture *f)
{
    static const struct bb_options options = {
        .parallel_levels = 2, .reduction_levels = 1, .copy_levels = 1, .no_staging = true};
    kernel_open(f, &(struct kernel_case){"axpy", "N=4"}, &kernel_small_device, &options);
}

static struct mcts_order order_of(const struct space *s, const char *text)
{
    struct diag *d = diag_new();
    struct mcts_order o;
    bool valid = mcts_order_parse(s, text, &o, d);
    cr_assert(valid, "%s: %s", text, diag_count(d) ? diag_message(d, 0) : "");
    diag_free(d);
    return o;
}

/* ---- parsing ---- */

static void order_refused(const struct space *s, const char *text, const char *message)
{
    struct diag *d = diag_new();
    struct mcts_order o;
    cr_expect_not(mcts_order_parse(s, text, &o, d), "%s", text);
    cr_expect(!o.parts && !o.slots && o.n == 0, "%s", text);
    cr_assert_eq(diag_count(d), 1, "%s", text);
    cr_expect_str_eq(diag_message(d, 0), message);
    mcts_order_free(&o);
    diag_free(d);
}

Test(mcts_order, errors)
{
    struct mcts_queens q = mcts_queens_new(4);
    char item[ORDER_NAME + 8], message[ORDER_NAME + 96];
    order_refused(q.space, "row", "error: --order: 'row' is not a choice; the choices are column");
    order_refused(q.space, "column)", "error: --order: 'column)' is not a choice; did you mean 'column'?");
    order_refused(q.space, "column,column", "error: --order: 'column' appears twice");
    order_refused(q.space, "column(r1),column,column", "error: --order: 'column' appears twice");
    order_refused(q.space, "column(s.*)",
                  "error: --order: 'column(s.*)' matches no choice; did you mean 'column(r0)'?");
    order_refused(q.space, "column(r1",
                  "error: --order: 'column(r1' matches no choice; did you mean 'column(r1)'?");
    order_refused(q.space, "column(r1,r2)",
                  "error: --order: 'column(r1,r2)' matches no choice; did you mean 'column(r1)'?");
    order_refused(q.space, "row(*), column",
                  "error: --order: 'row(*)' matches no choice; the choices are column");
    order_refused(
        q.space, "column, column (r1)",
        "error: --order: 'column (r1)' has no effect: the entries before it contain all its choices");
    order_refused(q.space, "column(*),c*",
                  "error: --order: 'c*' has no effect: the entries before it contain all its choices");
    memset(item, '*', ORDER_NAME);
    item[ORDER_NAME] = 0;
    snprintf(message, sizeof message, "error: --order: '%s' matches no choice; the choices are column", item);
    order_refused(q.space, item, message);
    mcts_queens_free(&q);
}

/* The slots of an order as its parts say, groups by name: "0 2 column". */
static void parts_are(const struct space *s, const char *text, const char *wanted)
{
    struct mcts_order o = order_of(s, text);
    char said[256] = "";
    size_t n = 0;
    for (unsigned k = 0; k < o.n; k++) {
        const struct space_part *part = &o.parts[k];
        if (!part->slots)
            n += (size_t)snprintf(said + n, sizeof said - n, "%s ", space_group_name(s, part->group));
        for (uint32_t i = 0; part->slots && i < part->n; i++)
            n += (size_t)snprintf(said + n, sizeof said - n, "%u ", part->slots[i]);
    }
    cr_expect_str_eq(said, wanted, "%s", text);
    mcts_order_free(&o);
}

Test(mcts_order, parts)
{
    struct mcts_queens q = mcts_queens_new(4);
    parts_are(q.space, NULL, "column ");
    parts_are(q.space, " , ", "column ");
    parts_are(q.space, "column", "column ");
    parts_are(q.space, "column(r3), column( r 1 )", "3 1 column ");
    parts_are(q.space, "column (r3) column(r1) column", "3 1 column ");
    parts_are(q.space, "column(r2),*,column", "2 0 1 3 column ");
    mcts_queens_free(&q);
}

/* A pair is named either way round, and the comma between its arguments ends no item. */
Test(mcts_order, pairs)
{
    struct kernel_fixture f;
    kernel_open(&f, &(struct kernel_case){"matmul", "M=8,N=8,K=8"}, &kernel_device, NULL);
    struct space_state *root = kernel_root(f.space);
    uint32_t slot = space_next_choice(
        root, &(struct space_part){.group = (unsigned)space_group_find(f.space, "order")}, 1);
    cr_assert_neq(slot, UINT32_MAX);
    for (unsigned flip = 0; flip < 2; flip++) {
        char item[ORDER_NAME];
        snprintf(item, sizeof item, "order(%s , %s)", space_slot_argument(f.space, slot, flip),
                 space_slot_argument(f.space, slot, !flip));
        struct mcts_order o = order_of(f.space, item);
        cr_expect(o.parts[0].slots && o.parts[0].n == 1, "%s", item);
        cr_expect_eq(space_next_choice(root, o.parts, o.n), slot, "%s", item);
        mcts_order_free(&o);
    }
    space_state_free(root);
    kernel_close(&f);
}

/* ---- descents ---- */

/* Which item of a parsed order an open choice is of: the first part that has it. */
static unsigned rank(const struct space *s, const struct mcts_order *o, uint32_t slot)
{
    for (unsigned k = 0; k < o->n; k++) {
        if (!o->parts[k].slots && o->parts[k].group == space_slot_group(s, slot)) return k;
        for (uint32_t i = 0; o->parts[k].slots && i < o->parts[k].n; i++)
            if (o->parts[k].slots[i] == slot) return k;
    }
    cr_assert_fail("slot %u is in no part", slot);
    return o->n;
}

/* The open choice of the first part that has one, and in it the first by number: the slow way. */
static uint32_t first_by_rank(const struct space_state *st, const struct mcts_order *o)
{
    const struct space *s = space_of(st);
    uint32_t best = UINT32_MAX;
    unsigned best_rank = UINT32_MAX;
    for (uint32_t i = 0; i < space_slot_count(s); i++) {
        unsigned at = space_is_open(st, i) ? rank(s, o, i) : UINT32_MAX;
        if (at < best_rank) {
            best = i;
            best_rank = at;
        }
    }
    return best;
}

/* At each step of random descents, choices come alive and are decided by others, and the cursor goes on. */
static void follows(const struct space *s, const char *text, unsigned descents)
{
    struct mcts_order o = order_of(s, text);
    struct space_state *st = kernel_root(s);
    struct pcg32 rng = pcg32_seed(1, 0);
    uint32_t values[4096], slot;
    for (unsigned i = 0; i < descents; i++) {
        struct space_cursor cursor = {0};
        space_mark root = space_snapshot(st);
        bool live = true;
        while (live && (slot = space_next_choice_from(st, o.parts, o.n, &cursor)) != UINT32_MAX) {
            cr_assert_eq(slot, first_by_rank(st, &o), "%s", text);
            cr_assert_eq(slot, space_next_choice(st, o.parts, o.n), "%s", text);
            uint32_t n = space_values(st, slot, values);
            live = space_apply(st, (struct space_action){slot, values[pcg32_below(&rng, n)]}, NULL);
        }
        if (live) cr_assert_eq(space_open_count(st), 0, "%s", text);
        space_rollback(st, root);
    }
    space_state_free(st);
    mcts_order_free(&o);
}

Test(mcts_order, descents_follow_it, .timeout = 120)
{
    struct kernel_fixture f;
    kernel_open(&f, &(struct kernel_case){"matmul", "M=8,N=8,K=8"}, &kernel_device, NULL);
    follows(f.space, NULL, 20);
    follows(f.space, "staged,size,order", 20);
    follows(f.space, "dim_kind(store.*),size(m.*),size(n.*),mem_space(*),size", 20);
    follows(f.space, "order(mad.*, *),staged,order(*),*(*k*)", 20);
    follows(f.space, "*", 20);
    kernel_close(&f);
}

static double leaves(struct space_state *root, const struct mcts_order *o)
{
    struct mcts_estimate_config config = {.method = MCTS_EXACT, .samples = 1, .cut = INFINITY};
    config.branching = (struct mcts_branching){.order = o->parts, .n_order = o->n};
    struct mcts_estimate e = mcts_estimate(&config, root);
    cr_assert(e.complete);
    return (double)e.leaves;
}

Test(mcts_order, all_count_the_same, .timeout = 300)
{
    static const char *const ORDERS[] = {NULL, "size(*0),dim_kind(store.*),order(*, store.*)", "order(*),*"};
    struct kernel_fixture f;
    open_small(&f);
    struct space_state *root = kernel_root(f.space);
    double n[3];
    for (unsigned i = 0; i < 3; i++) {
        struct mcts_order o = order_of(f.space, ORDERS[i]);
        n[i] = leaves(root, &o);
        mcts_order_free(&o);
    }
    cr_expect(n[0] >= 1000 && n[1] == n[0] && n[2] == n[0], "%g, %g and %g leaves", n[0], n[1], n[2]);
    space_state_free(root);
    kernel_close(&f);
}

/* The tree keeps a copy: the order may be freed. */
Test(mcts_order, tree_keeps_its_own)
{
    struct mcts_queens q = mcts_queens_new(6);
    struct diag *d = diag_new();
    struct mcts_heuristic *h = mcts_heuristic_load("roundrobin", d);
    struct mcts_order o = order_of(q.space, "column(r4),column(r2)");
    struct mcts_config config = mcts_config_default();
    config.branching.order = o.parts;
    config.branching.n_order = o.n;
    struct mcts_tree *tree = mcts_tree_new(q.root, h, &config);
    mcts_order_free(&o);
    struct mcts_descent descent = {0};
    unsigned found = 0;
    for (; mcts_tree_next(tree, &descent) == MCTS_OK; found++) {
        cr_expect_eq(descent.actions[0].slot, 4);
        mcts_tree_report(tree, &descent, (struct mcts_outcome){MCTS_FAILED, 0});
    }
    cr_expect_eq(found, 4);
    mcts_descent_free(&descent);
    mcts_tree_free(tree);
    mcts_heuristic_free(h);
    mcts_queens_free(&q);
    diag_free(d);
}
