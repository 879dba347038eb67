/* Warm starts: carrying implementations over by names, and which rows of stores are learned from. */
#include "coordinator/learn.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "agent/device.h"
#include "coordinator/guidance.h"
#include "coordinator/solution.h"
#include "coordinator/transfer.h"
#include "core/base/strbuf.h"
#include "core/pipeline/code.h"
#include "tests/coordinator/store_fixture.h"
#include "tests/fixture/kernel.h"

/* A problem with its root and a prior, on a device that is nowhere but here. */
struct learn_case {
    struct diag *diag;
    char *text;
    const char *sizes;
    struct device device;
    struct problem *problem;
    struct space_state *root;
    struct mcts_prior *prior;
};

static struct learn_case learn_open_on(bool gpu, const char *kernel, const char *sizes)
{
    size_t n;
    struct learn_case c = {.diag = diag_new(),
                           .text = kernel_read(kernel, &n),
                           .sizes = sizes,
                           .device = {.name = "learn-test-device",
                                      .compute_units = 2,
                                      .gpu = gpu,
                                      .limits = {.gpu = gpu,
                                                 .max_work_group = 256,
                                                 .max_work_item = {256, 256, 256},
                                                 .local_bytes = 16384,
                                                 .n_vector_widths = 3,
                                                 .vector_widths = {4, 8, 16}}}};
    c.problem = problem_new(kernel, c.text, sizes, &c.device.limits, NULL, c.diag);
    cr_assert_not_null(c.problem);
    c.root = space_pinned_root(c.problem->space, NULL, 0, c.diag);
    c.prior = guidance_prior(c.problem, &c.device, c.diag);
    cr_assert(c.root && c.prior);
    return c;
}

static struct learn_case learn_open(const char *kernel, const char *sizes)
{
    return learn_open_on(false, kernel, sizes);
}

static void learn_close(struct learn_case *c)
{
    mcts_prior_free(c->prior);
    space_state_free(c->root);
    problem_free(c->problem);
    free(c->text);
    diag_free(c->diag);
}

/* A leaf in which the pins hold. */
static struct space_state *learn_leaf(struct learn_case *c, const char *const *pins, unsigned n)
{
    struct transfer t;
    struct space_state *naive = problem_naive(c->problem, c->diag),
                       *root = space_pinned_root(c->problem->space, pins, n, c->diag);
    cr_assert(naive && root);
    cr_assert(transfer_by_names(naive, root, c->prior, &t));
    space_state_free(naive);
    space_state_free(root);
    return t.leaf;
}

/* The value of a choice by its name, or -1: it is not live. */
static int64_t learn_size(const struct space_state *leaf, const char *name)
{
    bool flipped;
    uint32_t slot = space_slot_named(space_of(leaf), name, &flipped);
    if (slot == UINT32_MAX || !space_is_live(leaf, slot)) return -1;
    return space_value_code(space_of(leaf), slot, space_first_value(leaf, slot));
}

static const char *const learn_pins[] = {"size(n.1)=16", "dim_kind(store.n.1)=VECTOR"};

Test(learn, a_leaf_is_carried_over_to_its_own_space_unchanged)
{
    struct learn_case c = learn_open("bias_relu", "M=8,N=64");
    struct transfer t;
    struct space_state *leaf = learn_leaf(&c, learn_pins, 2);
    cr_assert(transfer_by_names(leaf, c.root, c.prior, &t));
    cr_expect_eq(space_state_hash(t.leaf), space_state_hash(leaf));
    cr_expect_gt(t.all, 0);
    cr_expect_eq(t.taken, t.all);
    space_state_free(t.leaf);
    space_state_free(leaf);
    learn_close(&c);
}

/* 16 divides 128, and not 84: there the others are taken, and the rest is decided. */
Test(learn, decisions_that_are_not_possible_are_left_out)
{
    struct learn_case from = learn_open("bias_relu", "M=8,N=64");
    struct space_state *leaf = learn_leaf(&from, learn_pins, 2);
    cr_assert_eq(learn_size(leaf, "size(n.1)"), 16);
    static const char *const sizes[] = {"M=16,N=128", "M=16,N=84"};
    for (unsigned i = 0; i < 2; i++) {
        struct learn_case to = learn_open("bias_relu", sizes[i]);
        struct transfer t;
        cr_assert(transfer_by_names(leaf, to.root, to.prior, &t));
        cr_expect_eq(space_open_count(t.leaf), 0);
        cr_expect_eq(learn_size(t.leaf, "size(n.1)") == 16, i == 0);
        cr_expect(i == 0 ? t.taken == t.all : t.taken < t.all && t.taken > 0, "%s: %u of %u", sizes[i],
                  t.taken, t.all);
        space_state_free(t.leaf);
        learn_close(&to);
    }
    space_state_free(leaf);
    learn_close(&from);
}

/* 16 does not divide 56, but 64, to which it may be rounded up. */
Test(learn, sizes_with_remainders_take_tiles_over)
{
    struct learn_case from = learn_open("bias_relu", "M=8,N=64"), to = learn_open("bias_relu", "M=8,N=56");
    struct space_state *leaf = learn_leaf(&from, learn_pins, 2);
    struct transfer t;
    cr_assert(transfer_by_names(leaf, to.root, to.prior, &t));
    cr_expect_eq(learn_size(t.leaf, "size(n.1)"), 16);
    cr_expect_eq(learn_size(t.leaf, "span(n)"), 64);
    cr_expect_eq(t.taken, t.all);
    space_state_free(t.leaf);
    space_state_free(leaf);
    learn_close(&to);
    learn_close(&from);
}

/* What the user's pins rule out is not taken either. */
Test(learn, pins_of_the_search_come_first)
{
    struct learn_case c = learn_open("bias_relu", "M=8,N=64");
    struct transfer t;
    static const char *const other[] = {"size(n.1)=4"};
    struct space_state *leaf = learn_leaf(&c, learn_pins, 2),
                       *root = space_pinned_root(c.problem->space, other, 1, c.diag);
    cr_assert(transfer_by_names(leaf, root, c.prior, &t));
    cr_expect_eq(learn_size(t.leaf, "size(n.1)"), 4);
    cr_expect_lt(t.taken, t.all);
    space_state_free(t.leaf);
    space_state_free(root);
    space_state_free(leaf);
    learn_close(&c);
}

/* ---- stores ---- */

/* Adds a run of a problem, in which a pinned implementation has number 1. */
static void learn_store(struct store_fixture *f, const struct learn_case *c, const char *text,
                        const char *device, const struct space_state *leaf)
{
    size_t n;
    struct space_action *list = solution_actions(NULL, leaf, &n);
    char *actions = store_actions_print(list, n);
    struct store_run run = {.path = "k.lift",
                            .text = text,
                            .sizes = c->sizes,
                            .device = device,
                            .driver = "",
                            .libraries = "",
                            .settings = "heuristic=tag",
                            .fingerprint = c->problem->fingerprint,
                            .seed = 1};
    struct store_evaluation e = {.number = 1, .actions = actions, .status = "ok", .median_ns = 5};
    cr_assert(store_run_add(f->store, &run, f->diag) && store_add(f->store, run.id, &e, f->diag));
    free(actions);
    free(list);
}

static struct learn_wanted learn_wanted_of(const struct learn_case *c)
{
    return (struct learn_wanted){.problem = c->problem,
                                 .device = &c->device,
                                 .sizes = c->sizes,
                                 .root = c->root,
                                 .prior = c->prior,
                                 .most_text_bytes = 1 << 20};
}

static void learn_clear(struct learned out[LIMIT_LEARNED])
{
    for (unsigned i = 0; i < LIMIT_LEARNED; i++)
        learned_clear(&out[i]);
}

/* Each size has another tile, so that the order of what is learned shows. */
Test(learn, the_nearest_sizes_come_first_and_texts_are_distinct)
{
    struct store_fixture f = store_fixture_open();
    static const char *const sizes[] = {"M=8,N=1024", "N=128,M=8", "M=8,N=32", "M=8,N=128"};
    static const char *const tiles[] = {"size(n.1)=4", "size(n.1)=8", "size(n.1)=16", "size(n.1)=8"};
    for (unsigned i = 0; i < 4; i++) {
        struct learn_case c = learn_open("bias_relu", sizes[i]);
        const char *pins[] = {tiles[i], "dim_kind(store.n.1)=VECTOR"};
        struct space_state *leaf = learn_leaf(&c, pins, 2);
        struct strbuf commented = {0};
        strbuf_printf(&commented, "-- of another day\n%s", c.text);
        learn_store(&f, &c, i == 1 ? commented.text : c.text, c.device.name, leaf);
        strbuf_free(&commented);
        space_state_free(leaf);
        learn_close(&c);
    }
    struct learn_case to = learn_open("bias_relu", "M=8,N=128");
    struct learn_wanted w = learn_wanted_of(&to);
    struct learned out[LIMIT_LEARNED] = {0};
    struct strbuf notes = {0};
    const char *path = f.path;
    cr_assert(learn_from(&path, 1, &w, out, &notes, f.diag), "%s", store_fixture_error(&f, 0));
    static const int64_t found[] = {8, 16, 4};
    for (unsigned i = 0; i < 3; i++) {
        cr_assert_not_null(out[i].label, "%s", notes.text);
        cr_expect_eq(learn_size(out[i].leaf, "size(n.1)"), found[i], "%s", notes.text);
    }
    cr_expect_null(out[3].label, "%s", notes.text);
    cr_expect_str_eq(out[1].label, "learned 2");
    cr_expect(strstr(notes.text, "learned 2: from M=8,N=32 on learn-test-device (") &&
                  strstr(notes.text, ", run 3, implementation 1): "),
              "%s", notes.text);
    learn_clear(out);
    strbuf_free(&notes);
    learn_close(&to);
    store_fixture_close(&f);
}

/* 16 elements of a row are a loop that the compiler unrolls. */
Test(learn, a_text_that_is_too_long_once_it_is_unrolled_is_left_out)
{
    static const char *const pins[] = {"size(n.1)=16", "dim_kind(*.n.1)=UNROLL",
                                       "order(*.n.1, *.n.1)=MERGED"};
    struct learn_case c = learn_open_on(true, "bias_relu", "M=8,N=64");
    struct store_fixture f = store_fixture_open();
    struct space_state *leaf = learn_leaf(&c, pins, 3);
    struct pipeline_code code;
    char why[200] = "";
    cr_assert(pipeline_lower(c.problem, leaf, &code, why, sizeof why), "%s", why);
    size_t unrolled = code.kernel.unrolled;
    cr_assert_lt(strlen(code.kernel.source), unrolled, "%s", code.kernel.source);
    learn_store(&f, &c, c.text, c.device.name, leaf);
    for (unsigned i = 0; i < 2; i++) {
        struct learn_wanted w = learn_wanted_of(&c);
        struct learned out[LIMIT_LEARNED] = {0};
        struct strbuf notes = {0};
        const char *path = f.path;
        w.most_text_bytes = unrolled - i;
        cr_assert(learn_from(&path, 1, &w, out, &notes, f.diag));
        cr_expect_eq(out[0].label != NULL, i == 0, "%s", notes.text);
        learn_clear(out);
        strbuf_free(&notes);
    }
    pipeline_code_clear(&code);
    space_state_free(leaf);
    store_fixture_close(&f);
    learn_close(&c);
}

/* A run of the search itself, of another program, and of a space that cannot be made here. */
Test(learn, what_is_of_no_use_is_said)
{
    struct learn_case c = learn_open("bias_relu", "M=8,N=64");
    struct space_state *leaf = learn_leaf(&c, learn_pins, 2);
    struct learn_wanted w = learn_wanted_of(&c);
    static const struct {
        const char *text, *device;
        bool own, changed;
        const char *note;
    } cases[] = {{NULL, "learn-test-device", true, false, "have no valid implementation of this program"},
                 {"size N\ninput x: [float]N\noutput x\n", "learn-test-device", false, false,
                  "have no valid implementation of this program"},
                 {NULL, "nowhere", false, true, "of 1 implementations of this program 1 are of a device"}};
    for (unsigned i = 0; i < 3; i++) {
        struct store_fixture f = store_fixture_open();
        struct learned out[LIMIT_LEARNED] = {0};
        struct strbuf notes = {0};
        const char *path = f.path;
        learn_store(&f, &c, cases[i].text ? cases[i].text : c.text, cases[i].device, leaf);
        if (cases[i].changed) store_fixture_execute(f.path, "UPDATE run SET fingerprint = 'feedbeef'");
        w.own_path = cases[i].own ? f.path : NULL;
        w.own_run = 1;
        cr_assert(learn_from(&path, 1, &w, out, &notes, f.diag));
        cr_expect(notes.text && strstr(notes.text, cases[i].note), "%u: %s", i, notes.text);
        cr_expect_null(out[0].label);
        strbuf_free(&notes);
        store_fixture_close(&f);
    }
    space_state_free(leaf);
    learn_close(&c);
}

Test(learn, stores_are_checked)
{
    struct diag *d = diag_new();
    const char *missing = "/tmp/thresh-learn-missing.db";
    cr_expect(learn_check(&missing, 1, missing, d), "the search's own store is made later");
    cr_expect_eq(diag_count(d), 0);
    cr_expect_not(learn_check(&missing, 1, NULL, d));
    cr_expect(strstr(diag_message(d, 0), "does not exist"), "%s", diag_message(d, 0));
    diag_free(d);
}
