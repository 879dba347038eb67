/* What choices are about, and rollouts that change one thing of a leader only. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/space/data.h"
#include "mcts/heuristic.h"
#include "mcts/policies.h"
#include "mcts/topics.h"
#include "mcts/tree.h"
#include "spacedsl/model.h"

/* Nothing forbids anything, so that a rollout repeats what it wants to. */
static const char topics_text[] = "space loose set D set T\n"
                                  "choice size(d: D): int in 0..15\n"
                                  "choice pad(d: D): int in 0..15\n"
                                  "choice near(d: D, t: T): int in 0..15\n"
                                  "choice fast: int in 0..15\n";

struct topics_case {
    struct arena *arena;
    struct diag *diag;
    struct space_data *data;
    struct space *space;
    struct space_state *root;
    struct mcts_topics *topics;
};

static struct topics_case topics_open(void)
{
    static const char *const DIMS[] = {"m.0", "m.1", "k.0", "k.12", "a.m.0", "1", "r3", ".5"};
    struct source source = {"inline", topics_text, strlen(topics_text)};
    struct topics_case c = {.arena = arena_new(), .diag = diag_new(), .data = space_data_new()};
    for (size_t i = 0; i < sizeof DIMS / sizeof DIMS[0]; i++)
        space_data_object(c.data, "D", DIMS[i]);
    space_data_object(c.data, "T", "t.0");
    const struct space_def *def = spacedsl_compile(&source, c.arena, c.diag);
    cr_assert(def, "%s", diag_count(c.diag) ? diag_message(c.diag, 0) : "");
    c.space = space_instantiate(def, c.data, c.diag);
    cr_assert_not_null(c.space);
    c.root = space_root(c.space, NULL);
    c.topics = mcts_topics_new(c.space);
    return c;
}

static void topics_close(struct topics_case *c)
{
    free(c->topics);
    space_state_free(c->root);
    space_free(c->space);
    space_data_free(c->data);
    diag_free(c->diag);
    arena_free(c->arena);
}

static struct mcts_topics topics_named(const struct topics_case *c, const char *name)
{
    bool flipped;
    uint32_t slot = space_slot_named(c->space, name, &flipped);
    cr_assert_neq(slot, UINT32_MAX, "%s", name);
    return c->topics[slot];
}

static bool is_same(const struct topics_case *c, const char *a, const char *b)
{
    return topics_named(c, a).of[0] == topics_named(c, b).of[0];
}

Test(mcts_topics, arguments_without_their_numbers)
{
    struct topics_case c = topics_open();
    cr_expect(is_same(&c, "size(m.0)", "size(m.1)"));
    cr_expect(is_same(&c, "size(m.0)", "pad(m.1)"));
    cr_expect(is_same(&c, "size(k.0)", "pad(k.12)"));
    cr_expect_not(is_same(&c, "size(m.0)", "size(k.0)"));
    cr_expect_not(is_same(&c, "size(m.0)", "size(a.m.0)"));
    cr_expect_not(is_same(&c, "size(1)", "size(r3)"));
    cr_expect_not(is_same(&c, "size(1)", "size(.5)"));
    cr_expect_not(is_same(&c, "size(m.0)", "fast"));
    struct mcts_topics near = topics_named(&c, "near(m.0, t.0)"), size = topics_named(&c, "size(m.1)");
    cr_expect_eq(near.of[0], size.of[0]);
    cr_expect_neq(near.of[1], near.of[0]);
    cr_expect(mcts_is_about(&near, size.of[0]) && mcts_is_about(&near, near.of[1]));
    cr_expect_not(mcts_is_about(&size, near.of[1]));
    cr_expect_eq(size.of[0], size.of[1]);
    topics_close(&c);
}

/* ---- rollouts ---- */

static void values_of(const struct topics_case *c, const struct space_state *leaf, uint32_t *values)
{
    for (uint32_t slot = 0; slot < space_slot_count(c->space); slot++)
        values[slot] = space_first_value(leaf, slot);
}

/* Whether all choices in which two implementations differ are about one thing. */
static bool differ_in_one(const struct topics_case *c, const uint32_t *a, const uint32_t *b)
{
    uint32_t n = space_slot_count(c->space), first = 0;
    while (first < n && a[first] == b[first])
        first++;
    for (unsigned k = 0; k < 2 && first < n; k++) {
        uint32_t slot = first;
        while (slot < n && (a[slot] == b[slot] || mcts_is_about(&c->topics[slot], c->topics[first].of[k])))
            slot++;
        if (slot == n) return true;
    }
    return false;
}

/* Of 300 draws that imitate the first one, which is reported as the fastest, those of the second half that
 * differ from it in one thing. */
static unsigned draws_of_one_change(const char *spec)
{
    enum { SLOTS_MAX = 64, DRAWS = 300 };
    struct topics_case c = topics_open();
    struct mcts_heuristic *h = mcts_heuristic_load(spec, c.diag);
    cr_assert(h, "%s: %s", spec, diag_count(c.diag) ? diag_message(c.diag, 0) : "");
    struct mcts_config config = mcts_config_default();
    struct mcts_tree *tree = mcts_tree_new(c.root, h, &config);
    struct mcts_descent d = {0};
    uint32_t leader[SLOTS_MAX], values[SLOTS_MAX];
    unsigned n = 0;
    cr_assert_leq(space_slot_count(c.space), SLOTS_MAX);
    for (int i = 0; i < DRAWS; i++) {
        cr_assert_eq(mcts_tree_next(tree, &d), MCTS_OK);
        values_of(&c, mcts_tree_state(tree), i == 0 ? leader : values);
        n += i >= DRAWS / 2 && differ_in_one(&c, leader, values);
        mcts_tree_report(tree, &d, (struct mcts_outcome){MCTS_TIMED, i == 0 ? 1 : 1000 + i});
    }
    mcts_descent_free(&d);
    mcts_tree_free(tree);
    mcts_heuristic_free(h);
    topics_close(&c);
    return n;
}

/* What was drawn before is not drawn again: such a rollout is made anew and repeats a little less. */
Test(mcts_topics, a_focused_rollout_changes_one_thing)
{
    unsigned all = draws_of_one_change("random:rollout=leaders,leaders=1,imitate=1,jump=1,focus=1"),
             half = draws_of_one_change("random:rollout=leaders,leaders=1,imitate=1,jump=1,focus=0.5"),
             none =
                 draws_of_one_change("random:rollout=leaders,leaders=1,imitate=1,jump=1,focus=0,follow=0.9");
    cr_expect_geq(all, 140, "%u of 150", all);
    cr_expect(half >= 60 && half <= 115, "%u of 150", half);
    cr_expect_leq(none, 40, "%u of 150", none);
}
