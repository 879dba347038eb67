/* Copies in two stages: one barrier in each iteration, the load of the next tile before the arithmetic and
 * its store after it; random implementations compute what the Lift interpreter does, and what is taken out of
 * one is found. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "core/codegen/program.h"
#include "core/lift/lift.h"
#include "tests/codegen/fixture.h"
#include "tests/fixture/kernel.h"
#include "tests/fixture/longer.h"

static const char *const stages_tiled[] = {"size(m.*)=2",
                                           "size(n.*)=2",
                                           "size(k.0)=4",
                                           "size(k.1)=4",
                                           "staged(*)=YES",
                                           "stages(*)=2",
                                           "pad(*)=0",
                                           "layout_order(A.tile.m, A.tile.k)=OUTSIDE",
                                           "dim_kind(store.m.0)=BLOCK",
                                           "dim_kind(store.n.0)=BLOCK",
                                           "dim_kind(store.m.1)=THREAD",
                                           "dim_kind(store.n.1)=THREAD",
                                           "dim_kind(store.m.2)=UNROLL",
                                           "dim_kind(store.n.2)=VECTOR",
                                           "dim_kind(A.load.k.0)=LOOP",
                                           "dim_kind(A.load.k.1)=UNROLL",
                                           "outside(A.tile.m)=1",
                                           "outside(A.tile.k)=1",
                                           "outside(B.tile.k)=1",
                                           "outside(B.tile.n)=1"};
enum { STAGES_TILED = sizeof stages_tiled / sizeof *stages_tiled };

enum { STAGES_RUN = 12 }; /* one of so many random implementations is compiled and run */

struct stages_case {
    struct kernel_fixture f;
    struct space_state *root;
    double **buffers, *expected;
    uint32_t output;
};

/* An output that is updated in place is filled anew for each implementation. */
static void stages_fill(struct stages_case *x)
{
    const struct backbone *bb = x->f.bb;
    for (uint32_t b = 0; b < bb->n_buffers; b++)
        for (int64_t i = 0; i < bb->buffers[b].elements; i++)
            x->buffers[b][i] = (double)((i * 7 + b * 3) % 11) - 5;
}

static void stages_expect(struct stages_case *x)
{
    const struct backbone *bb = x->f.bb;
    x->buffers = ARENA_ARRAY(x->f.arena, double *, bb->n_buffers);
    for (uint32_t b = 0; b < bb->n_buffers; b++) {
        x->buffers[b] = ARENA_ARRAY(x->f.arena, double, bb->buffers[b].elements);
        if (bb->buffers[b].output) x->output = b;
    }
    stages_fill(x);
    x->expected = ARENA_ARRAY(x->f.arena, double, bb->buffers[x->output].elements);
    lift_interpret(bb->program, (const double *const *)x->buffers, x->output, x->expected);
}

static void stages_open(struct stages_case *x, const char *kernel, const char *sizes,
                        const struct bb_options *options, const char *const *pins, unsigned n)
{
    const struct kernel_case c = {kernel, sizes};
    struct bb_device device = kernel_device;
    device.local_bytes = 4096;
    *x = (struct stages_case){0};
    kernel_open(&x->f, &c, &device, options);
    stages_expect(x);
    x->root = space_pinned_root(x->f.space, pins, n, x->f.diag);
    if (!x->root) diag_print(x->f.diag, stderr);
    cr_assert(x->root);
}

static void stages_close(struct stages_case *x)
{
    space_state_free(x->root);
    kernel_close(&x->f);
}

/* The program of a random leaf; NULL: a dead end. */
static struct cg_program *stages_draw(struct stages_case *x, struct pcg32 *rng)
{
    const char *why = "";
    struct cg_program *p = NULL;
    struct space_state *st = space_state_clone(x->root);
    if (kernel_descend(st, rng)) {
        struct bb_candidate *c = bb_candidate_new(x->f.bb, x->f.arena);
        cr_assert(bb_decode(x->f.bb, st, c, &why), "%s", why);
        p = cg_build(x->f.bb, c, &cgt_target, x->f.arena, &why);
        cr_assert(p, "%s", why);
    }
    space_state_free(st);
    return p;
}

static struct cg_program *stages_product(struct stages_case *x)
{
    const struct bb_options options = {.parallel_levels = 3, .reduction_levels = 2};
    struct pcg32 rng = pcg32_seed(1, 1);
    stages_open(x, "matmul", "M=8,N=8,K=16", &options, stages_tiled, STAGES_TILED);
    struct cg_program *p = stages_draw(x, &rng);
    cr_assert(p);
    return p;
}

static void stages_check(struct stages_case *x, const struct cg_program *p)
{
    struct strbuf tree = {0};
    stages_fill(x);
    cg_print_tree(p, &tree);
    struct cg_check check = cg_interpret(p, x->buffers);
    cr_assert_eq(check.fault, CG_OK, "%s\n%s", check.where, tree.text);
    for (int64_t i = 0; i < x->f.bb->buffers[x->output].elements; i++)
        cr_assert_eq(x->buffers[x->output][i], x->expected[i], "element %lld\n%s", (long long)i, tree.text);
    strbuf_free(&tree);
}

/* Barriers of the text: those of a loop that peels are there twice, but for the one at its end if no loop is
 * around it. */
static unsigned stages_text_barriers(const struct cg_node *n, bool repeated)
{
    unsigned barriers = n->type == CG_BARRIER;
    bool loop = n->type == CG_DIM && n->kind == BB_LOOP;
    for (unsigned i = 0; i < n->n_children; i++) {
        const struct cg_node *child = n->children[i];
        bool at_end = child->type == CG_BARRIER && i + 1 == n->n_children;
        unsigned of_child = stages_text_barriers(child, repeated || loop);
        barriers += of_child;
        if (loop && cg_peels(n) && !cg_runs_ahead(child, n)) barriers += at_end ? repeated : of_child;
    }
    return barriers;
}

static unsigned stages_count(const char *text, const char *what)
{
    unsigned n = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
        n++;
    return n;
}

static bool stages_combines(const struct cg_program *p)
{
    bool some = false;
    for (uint32_t i = 0; i < p->bb->n_insts; i++)
        some = some || p->splits[i];
    return some;
}

static void stages_check_text(const struct cg_program *p)
{
    struct cg_kernel k;
    if (stages_combines(p)) return; /* with barriers of its own */
    cg_emit(p, &k);
    cr_expect_eq(stages_count(k.source, "barrier("), stages_text_barriers(p->root, false), "%s", k.source);
    cg_kernel_free(&k);
}

/* The text says the same as the loop program: its last iterations are after the loops. */
static void stages_run(struct stages_case *x, const struct cg_program *p)
{
    struct cg_kernel k;
    stages_fill(x);
    cg_emit(p, &k);
    if (cgt_run(x->f.bb, &k, x->buffers))
        for (int64_t i = 0; i < x->f.bb->buffers[x->output].elements; i++)
            cr_assert_eq(x->buffers[x->output][i], x->expected[i], "element %lld\n%s", (long long)i,
                         k.source);
    cg_kernel_free(&k);
}

/* Barriers among the children of a node. */
static unsigned stages_barriers(const struct cg_node *n)
{
    unsigned barriers = 0;
    for (unsigned i = 0; i < n->n_children; i++)
        barriers += n->children[i]->type == CG_BARRIER;
    return barriers;
}

Test(stages, one_barrier_in_each_iteration)
{
    struct stages_case x;
    struct cg_program *p = stages_product(&x);
    const struct cg_node *loop = cg_staged_loop(p, &x.f.bb->values[0]);
    cr_assert_eq(loop, cg_staged_loop(p, &x.f.bb->values[1]));
    cr_expect_eq(p->n_barriers, 2);
    cr_expect_eq(stages_barriers(loop), 1);
    cr_expect_eq(stages_barriers(loop->parent), 1);
    cr_expect_eq(loop->children[0]->type, CG_AHEAD);
    cr_expect_eq(loop->children[0]->n_children, 2);
    cr_expect_eq(loop->children[loop->n_children - 2]->type, CG_AHEAD);
    cr_expect_eq(loop->children[loop->n_children - 1]->type, CG_BARRIER);
    stages_check(&x, p);
    stages_close(&x);
}

Test(stages, the_text_loads_ahead_and_takes_turns)
{
    struct stages_case x;
    struct cg_kernel k;
    cg_emit(stages_product(&x), &k);
    const char *loop = strstr(k.source, "for (int k0 = 0; k0 < 3; ++k0) {");
    cr_assert(loop, "%s", k.source);
    const char *load = strstr(loop, "const int k0_next = k0 + 1;\n"), *read = strstr(loop, "k0 % 2");
    cr_assert(load && read && load < read, "%s", k.source);
    const char *store = strstr(read, "const int k0_next = k0 + 1;\n");
    cr_assert(store, "%s", k.source);
    cr_expect(strstr(load, "k0_next * 4") < read, "%s", k.source);
    cr_expect(strstr(store, "k0_next % 2"), "%s", k.source);
    const char *barrier = strstr(store, "barrier("), *last = barrier ? strstr(barrier, "mad.k.0 */") : NULL;
    cr_assert(last, "%s", k.source);
    cr_expect(strstr(last, "fma("), "%s", k.source);
    cr_expect(!strstr(last, "A_copy") && !strstr(last, "barrier(") && !strstr(last, "k0"), "%s", k.source);
    cr_expect_eq(k.local_bytes, (4 * 4 + 4 * 4) * 2 * sizeof(float));
    cg_kernel_free(&k);
    stages_close(&x);
}

/* The copies do not count for more than those that do not run ahead. */
Test(stages, no_more_steps)
{
    struct stages_case x;
    double steps, serial, items;
    struct cg_program *p = stages_product(&x);
    struct bb_candidate *c = bb_candidate_new(x.f.bb, x.f.arena);
    const char *why = "";
    *c = *p->c;
    c->stages = ARENA_ARRAY(x.f.arena, uint8_t, x.f.bb->n_regions);
    cg_cost(p, &steps, &items);
    cg_cost(cg_build(x.f.bb, c, &cgt_target, x.f.arena, &why), &serial, &items);
    cr_expect_eq(steps, serial);
    stages_close(&x);
}

/* ---- random implementations ---- */

static void stages_check_leaves(const char *kernel, const char *sizes, const char *pin, unsigned leaves)
{
    const char *const pins[] = {"stages(*)=2", pin};
    struct stages_case x;
    struct pcg32 rng = pcg32_seed(7, 1);
    unsigned ahead = 0, compiled = 0;
    stages_open(&x, kernel, sizes, NULL, pins, 2);
    for (unsigned i = 0; i < leaves; i++) {
        struct cg_program *p = stages_draw(&x, &rng);
        if (!p || cg_interpret_cost(p) > 1e6) continue;
        stages_check(&x, p);
        stages_check_text(p);
        if (i % longer(STAGES_RUN, 1) == 0) stages_run(&x, p);
        for (uint32_t v = 0; v < x.f.bb->n_values; v++)
            ahead += cg_staged_loop(p, &x.f.bb->values[v]) != NULL;
        compiled++;
    }
    cr_expect_gt(ahead, leaves / 2, "%s: %u of %u leaves, %u values run ahead", kernel, compiled, leaves,
                 ahead);
    stages_close(&x);
}

/* Between a copy of an array and the stores that overwrite it, a barrier orders accesses to global memory,
 * too. (Others are there for faulty drivers.) */
Test(stages, an_array_that_is_updated_is_fenced)
{
    static const char *const pins[] = {"staged(C)=YES", "staged(A)=NO", "staged(B)=NO", "mem_space(*)=LOCAL"};
    struct stages_case x;
    struct pcg32 rng = pcg32_seed(3, 1);
    unsigned programs = 0;
    stages_open(&x, "gemm", "M=8,N=8,K=4", NULL, pins, 4);
    const struct bb_value *c = x.f.bb->values;
    while (strcmp(c->name, "C") != 0)
        c++;
    for (int i = 0; i < 40; i++) {
        const struct cg_program *p = stages_draw(&x, &rng);
        bool exchanges = p && cg_depends(p, c), fenced = false;
        for (unsigned n = 0; exchanges && n < p->n_nodes; n++)
            fenced |=
                p->nodes[n]->type == CG_BARRIER && p->nodes[n]->fence_local && p->nodes[n]->fence_global;
        cr_expect_eq(fenced, exchanges);
        programs += exchanges;
    }
    cr_expect_gt(programs, 0);
    stages_close(&x);
}

Test(stages, products)
{
    stages_check_leaves("matmul", "M=8,N=8,K=16", "staged(*)=YES", longer(40, 1000));
    stages_check_leaves("gemm", "M=4,N=12,K=12", "staged(A)=YES", longer(40, 1000));
}

Test(stages, sizes_that_do_not_divide)
{
    stages_check_leaves("matmul", "M=13,N=14,K=17", "staged(*)=YES", longer(40, 1000));
    stages_check_leaves("gemm", "M=7,N=17,K=26", "staged(B)=YES", longer(40, 1000));
}

Test(stages, windows)
{
    stages_check_leaves("stencil_9point", "H=13,W=14", "staged(A)=YES", longer(40, 1000));
    stages_check_leaves("convolution", "B=1,O=2,C=4,H=6,W=5", "staged(x)=YES", longer(30, 1000));
}

/* ---- faults ---- */

static void stages_found(struct stages_case *x, struct cg_program *p, enum cg_fault fault)
{
    struct cg_check check = cg_interpret(p, x->buffers);
    cr_expect_eq(check.fault, fault, "fault %d: %s", (int)check.fault, check.where);
    stages_close(x);
}

static void stages_remove_barrier(struct cg_program *p, struct cg_node *n)
{
    unsigned out = 0;
    for (unsigned i = 0; i < n->n_children; i++)
        if (n->children[i]->type != CG_BARRIER) n->children[out++] = n->children[i];
    n->n_children = out;
    cg_number_nodes(p);
}

/* Work-item 0 reads what the others have not written yet. */
Test(stages, missing_barrier_in_the_loop)
{
    struct stages_case x;
    struct cg_program *p = stages_product(&x);
    stages_remove_barrier(p, cg_staged_loop(p, &x.f.bb->values[0]));
    stages_found(&x, p, CG_UNINITIALIZED);
}

Test(stages, missing_barrier_before_the_loop)
{
    struct stages_case x;
    struct cg_program *p = stages_product(&x);
    stages_remove_barrier(p, cg_staged_loop(p, &x.f.bb->values[0])->parent);
    stages_found(&x, p, CG_RACE);
}

Test(stages, store_to_the_tile_that_is_read)
{
    struct stages_case x;
    struct cg_program *p = stages_product(&x);
    struct cg_access *store = &p->access[x.f.bb->values[0].copy_store];
    const struct cg_node *loop = cg_staged_loop(p, &x.f.bb->values[0]);
    const struct index_expr **by = ARENA_ARRAY(x.f.arena, const struct index_expr *, cg_variables(p));
    by[loop->children[0]->id] = index_constant(x.f.arena, 0);
    store->offset = index_substitute(x.f.arena, store->offset, by, cg_variables(p));
    stages_found(&x, p, CG_RACE);
}

Test(stages, missing_first_tile)
{
    struct stages_case x;
    struct cg_program *p = stages_product(&x);
    const struct cg_node *loop = cg_staged_loop(p, &x.f.bb->values[0]);
    unsigned at = cg_child_towards(loop->parent, loop);
    loop->parent->children[at - 2]->n_children = 0;
    stages_found(&x, p, CG_UNINITIALIZED);
}

Test(stages, missing_load_of_the_next_tile)
{
    struct stages_case x;
    struct cg_program *p = stages_product(&x);
    struct cg_node *ahead = cg_staged_loop(p, &x.f.bb->values[0])->children[0];
    ahead->n_children = 0;
    cr_assert_eq(cg_interpret(p, x.buffers).fault, CG_OK);
    unsigned wrong = 0;
    for (int64_t i = 0; i < x.f.bb->buffers[x.output].elements; i++)
        wrong += x.buffers[x.output][i] != x.expected[i];
    cr_expect_gt(wrong, 0);
    stages_close(&x);
}

/* ---- refusals ---- */

static void stages_refused(const char *tree, const char *reason)
{
    const char *why = "";
    struct arena *a = arena_new();
    struct backbone *bb = cgt_transpose(a, 8, 8);
    struct bb_candidate *c = cgt_candidate(bb, a, "i.0=2 i.1=4 j.0=8 A.c.i.0=4 A.c.j.0=8", tree);
    c->stages[0] = 2;
    cr_expect_null(cg_build(bb, c, &cgt_target, a, &why));
    cr_expect_str_eq(why, reason);
    arena_free(a);
}

Test(stages, refusals)
{
    stages_refused("block0 A.load.i.0 store.i.0 { thread0 A.cl.i.0 { unroll A.cl.j.0 { A.cl } }"
                   " thread0 A.cs.i.0 { unroll A.cs.j.0 { A.cs } }"
                   " thread0 A.load.j.0 store.j.0 { loop A.load.i.1 store.i.1 { A.load store } } }",
                   "a copy in stages without a loop around it");
    stages_refused("loop A.load.i.0 store.i.0 { thread0 A.cl.i.0 A.cs.i.0 { unroll A.cl.j.0 { A.cl }"
                   " unroll A.cs.j.0 { A.cs } }"
                   " thread0 A.load.j.0 store.j.0 { loop A.load.i.1 store.i.1 { A.load store } } }",
                   "a copy in stages without a loop around it");
}
