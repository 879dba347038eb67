/* Implementations in words: pinned ones, whose lines are known beforehand, and how two of them differ. */
#include "coordinator/portrait.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/rival.h"
#include "coordinator/solution.h"
#include "core/base/arena.h"
#include "core/base/strbuf.h"
#include "tests/fixture/kernel.h"

static struct problem *portrait_problem_of(const char *kernel, const char *sizes)
{
    struct diag *d = diag_new();
    size_t n;
    char *text = kernel_read(kernel, &n);
    struct problem *p = problem_new(kernel, text, sizes, &kernel_device, NULL, d);
    cr_assert_not_null(p);
    free(text);
    diag_free(d);
    return p;
}

static struct problem *portrait_problem(void)
{
    return portrait_problem_of("matmul", "M=64,N=64,K=64");
}

#define PORTRAIT_PARALLEL                                                                                    \
    "size(m.0)=16", "size(m.1)=4", "size(m.2)=1", "size(n.0)=8", "size(n.1)=8", "size(n.2)=1",               \
        "size(k.0)=16", "size(k.1)=4", "size(k.2)=1", "dim_kind(mad.m.0)=BLOCK", "dim_kind(mad.n.0)=BLOCK",  \
        "dim_kind(mad.m.1)=UNROLL", "dim_kind(mad.n.1)=THREAD", "dim_kind(mad.k.0)=LOOP",                    \
        "dim_kind(mad.k.1)=UNROLL", "map_encoding(mad.m.0)=WRG1", "map_encoding(mad.n.0)=WRG0",              \
        "map_encoding(mad.n.1)=LCL0"

/* The first leaf below the pins that random descents find. */
static struct space_state *portrait_leaf(const struct problem *p, const char *const *pins, unsigned n)
{
    struct diag *d = diag_new();
    struct space_state *root = space_pinned_root(p->space, pins, n, d), *st = NULL;
    cr_assert(root, "%s", diag_count(d) ? diag_message(d, 0) : "");
    for (uint64_t seed = 1; !st && seed < 200; seed++) {
        struct pcg32 rng = pcg32_seed(seed, 0);
        st = space_state_clone(root);
        if (kernel_descend(st, &rng)) break;
        space_state_free(st);
        st = NULL;
    }
    cr_assert(st, "no implementation");
    space_state_free(root);
    diag_free(d);
    return st;
}
#define PORTRAIT_LEAF(p, ...)                                                                                \
    portrait_leaf(p, (const char *const[]){__VA_ARGS__},                                                     \
                  sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* The line of a dimension or value. */
static const char *portrait_line(const json_t *portrait, const char *list, const char *name)
{
    size_t i;
    json_t *o;
    json_array_foreach(json_object_get(portrait, list), i, o)
    {
        if (strcmp(json_string_value(json_object_get(o, "name")), name) == 0)
            return json_string_value(json_object_get(o, "line"));
    }
    return "";
}

static void portrait_is(const json_t *portrait, const char *list, const char *name, const char *line)
{
    cr_expect_str_eq(portrait_line(portrait, list, name), line, "%s: \"%s\"", name,
                     portrait_line(portrait, list, name));
}

Test(portrait, dimensions_of_a_pinned_implementation)
{
    struct problem *p = portrait_problem();
    struct space_state *leaf = PORTRAIT_LEAF(p, PORTRAIT_PARALLEL, "staged(A)=NO", "staged(B)=NO");
    struct strbuf text = {0};
    json_t *o = portrait_json(p, leaf);
    portrait_is(o, "dimensions", "m", "64 = 16 groups (WRG1) x 4 unrolled");
    portrait_is(o, "dimensions", "n", "64 = 8 groups (WRG0) x 8 work-items (LCL0)");
    portrait_is(o, "dimensions", "k", "64 = 16 iterations x 4 unrolled");
    portrait_is(o, "values", "A", "not staged: the load reads the buffer, through the caches");
    portrait_print(o, &text);
    cr_expect(strstr(text.text,
                     "\n      n.1 = 8  THREAD: work-items of a group, which share local memory and "
                     "barriers; LCL0: local ids, axis 0: neighbours run together\n"),
              "%s", text.text);
    strbuf_free(&text);
    json_decref(o);
    space_state_free(leaf);
    problem_free(p);
}

Test(portrait, a_staged_value_has_shape_layout_and_copy)
{
    struct problem *p = portrait_problem();
    struct space_state *leaf =
        PORTRAIT_LEAF(p, PORTRAIT_PARALLEL, "staged(A)=YES", "staged(B)=NO", "mem_space(A.tile)=LOCAL",
                      "outside(A.tile.m)=1", "outside(A.tile.k)=1", "pad(A.tile)=0");
    json_t *o = portrait_json(p, leaf);
    const char *line = portrait_line(o, "values", "A");
    static const char start[] = "staged in LOCAL: local memory of the group: 4 ";
    cr_expect_eq(strncmp(line, start, sizeof start - 1), 0, "%s", line);
    cr_expect(strstr(line, " floats (64 bytes), "), "%s", line);
    cr_expect(strstr(line, ", one tile for each iteration of m.0, k.0"), "%s", line);
    bool k_inside = strstr(line, "4 m x 4 k floats") != NULL;
    cr_expect(strstr(line, k_inside ? ", k innermost" : ", m innermost"), "%s", line);
    json_decref(o);
    space_state_free(leaf);
    problem_free(p);
}

/* 8 windows of 3 are 10 elements; the copy rounds them up. */
Test(portrait, a_staged_window)
{
    struct problem *p = portrait_problem_of("stencil_3point", "N=64");
    struct space_state *leaf = PORTRAIT_LEAF(
        p, "staged(x)=YES", "size(n.0)=8", "size(n.1)=8", "outside(x.tile.n)=1", "outside(x.tile.i0)=0",
        "size(x.copy.n.0)=3", "size(x.copy.n.1)=4", "pad(x.tile)=0", "mem_space(x.tile)=LOCAL");
    json_t *o = portrait_json(p, leaf);
    const char *line = portrait_line(o, "values", "x");
    cr_expect(strstr(line, ": 10 n+i0 floats (40 bytes), n+i0 innermost, one tile for each iteration of n.0"),
              "%s", line);
    const json_t *copy = json_object_get(json_array_get(json_object_get(o, "values"), 0), "dimensions");
    const char *text = json_string_value(json_object_get(json_array_get(copy, 0), "line"));
    cr_expect_eq(strncmp(text, "10, rounded up to 12 = 3 ", 25), 0, "%s", text);
    json_decref(o);
    space_state_free(leaf);
    problem_free(p);
}

/* A work-item's 8 windows. */
Test(portrait, a_window_in_registers)
{
    struct problem *p = portrait_problem_of("stencil_3point", "N=64");
    struct space_state *leaf =
        PORTRAIT_LEAF(p, "staged(x)=YES", "size(n.0)=8", "size(n.1)=8", "outside(x.tile.n)=1",
                      "outside(x.tile.i0)=0", "mem_space(x.tile)=PRIVATE", "dim_kind(x.load.n.0)=THREAD");
    json_t *o = portrait_json(p, leaf);
    const char *line = portrait_line(o, "values", "x");
    cr_expect_str_eq(line, "staged in PRIVATE: registers of each work-item, which copies for itself: "
                           "10 n+i0 floats (40 bytes), one tile for each iteration of n.0");
    json_decref(o);
    space_state_free(leaf);
    problem_free(p);
}

/* What random implementations have decided is told without a fault, and extents are the products. */
Test(portrait, of_random_implementations)
{
    struct problem *p = portrait_problem();
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct pcg32 rng = pcg32_seed(seed, 1);
        struct space_state *st = kernel_root(p->space);
        if (kernel_descend(st, &rng)) {
            json_t *o = portrait_json(p, st), *d;
            size_t i;
            json_array_foreach(json_object_get(o, "dimensions"), i, d)
                cr_expect_eq(json_integer_value(json_object_get(d, "extent")), 64, "seed %d", (int)seed);
            cr_expect_eq(json_array_size(json_object_get(o, "values")), 2);
            json_decref(o);
        }
        space_state_free(st);
    }
    problem_free(p);
}

/* ---- the second best ---- */

static struct best_contender portrait_contender(struct space_state *root, const struct space_state *leaf,
                                                double ns)
{
    struct best_contender c = {.label = base_strdup("search"), .number = 7, .figure = {ns, ns, ns, 11}};
    c.actions = solution_actions(root, leaf, &c.n_actions);
    return c;
}

static void portrait_adopt(struct best_file *b, const struct best_contender *c)
{
    free(b->actions);
    b->n_actions = c->n_actions;
    b->actions = base_malloc((c->n_actions + 1) * sizeof *c->actions);
    memcpy(b->actions, c->actions, c->n_actions * sizeof *c->actions);
    b->figure = c->figure;
}

Test(portrait, the_second_best_differs_in_what_it_differs)
{
    struct problem *p = portrait_problem();
    struct space_state *root = kernel_root(p->space);
    struct space_state *one = PORTRAIT_LEAF(p, PORTRAIT_PARALLEL, "staged(A)=NO", "staged(B)=NO");
    struct space_state *two = PORTRAIT_LEAF(p, "size(m.0)=32", "size(m.1)=2", "size(m.2)=1", "staged(A)=NO",
                                            "staged(B)=NO", "dim_kind(mad.m.0)=BLOCK");
    struct best_file b = {.problem = p};
    b.contenders = base_calloc(2, sizeof *b.contenders);
    b.contenders[0] = portrait_contender(root, one, 100);
    b.contenders[1] = portrait_contender(root, two, 150);
    b.n_contenders = 2;
    portrait_adopt(&b, &b.contenders[0]);
    json_t *portrait = portrait_json(p, one), *o = rival_json(&b, one, portrait);
    cr_expect_str_eq(json_string_value(json_object_get(o, "role")), "second best");
    cr_expect_float_eq(json_number_value(json_object_get(o, "ratio")), 1.5, 1e-12);
    const json_t *m = json_array_get(json_object_get(o, "differences"), 0);
    cr_expect_str_eq(json_string_value(json_object_get(m, "name")), "m");
    cr_expect_str_eq(json_string_value(json_object_get(m, "here")), "64 = 16 groups (WRG1) x 4 unrolled");
    cr_expect_eq(strncmp(json_string_value(json_object_get(m, "there")), "64 = 32 groups ", 15), 0);
    const json_t *size = json_array_get(json_object_get(o, "decisions"), 0);
    cr_expect_str_eq(json_string_value(json_object_get(size, "choice")), "size(m.0)");
    cr_expect_str_eq(json_string_value(json_object_get(size, "here")), "16");
    cr_expect_str_eq(json_string_value(json_object_get(size, "there")), "32");
    json_decref(o);
    portrait_adopt(&b, &b.contenders[1]);
    o = rival_json(&b, two, portrait);
    cr_expect_str_eq(json_string_value(json_object_get(o, "role")), "best");
    cr_expect_eq(rival_itself(&b), &b.contenders[1]);
    json_decref(o);
    json_decref(portrait);
    space_state_free(one);
    space_state_free(two);
    space_state_free(root);
    best_file_clear(&b);
}
