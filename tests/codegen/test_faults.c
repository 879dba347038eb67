/* What must not pass: the interpreter finds each kind of fault in a program that was broken on purpose, and
 * cg_build refuses candidates whose decisions contradict each other. */
#include <criterion/criterion.h>
#include <string.h>

#include "core/codegen/program.h"
#include "tests/codegen/fixture.h"

static const char *const TILED_SIZES = "i.0=2 i.1=4 j.0=8 A.c.i.0=4 A.c.j.0=8";
static const char *const TILED_TREE =
    "loop A.load.i.0 store.i.0 {"
    " thread1 A.cl.i.0 A.cs.i.0 { thread0 A.cl.j.0 A.cs.j.0 { A.cl A.cs } }"
    " thread1 A.load.j.0 store.j.0 { thread0 A.load.i.1 store.i.1 { A.load store } } }";

struct fault_case {
    struct arena *arena;
    struct backbone *bb;
    struct bb_candidate *c;
    double *buffers[2];
};

static struct fault_case tiled(void)
{
    struct fault_case x = {.arena = arena_new()};
    x.bb = cgt_transpose(x.arena, 8, 8);
    x.c = cgt_candidate(x.bb, x.arena, TILED_SIZES, TILED_TREE);
    for (unsigned i = 0; i < 2; i++)
        x.buffers[i] = ARENA_ARRAY(x.arena, double, 64);
    return x;
}

static struct cg_program *build_case(const struct fault_case *x)
{
    const char *why = NULL;
    struct cg_program *p = cg_build(x->bb, x->c, &cgt_target, x->arena, &why);
    cr_assert(p, "%s", why);
    return p;
}

static void refused(const struct fault_case *x, const char *reason)
{
    const char *why = NULL;
    cr_assert_null(cg_build(x->bb, x->c, &cgt_target, x->arena, &why));
    cr_assert_str_eq(why, reason);
    arena_free(x->arena);
}

static void found(const struct fault_case *x, const struct cg_program *p, enum cg_fault fault)
{
    struct cg_check check = cg_interpret(p, x->buffers);
    cr_assert_eq(check.fault, fault, "fault %d: %s", (int)check.fault, check.where);
    arena_free(x->arena);
}

/* Takes the n-th barrier out of the tree. */
static void remove_barrier(struct cg_program *p, unsigned n)
{
    for (unsigned i = 0; i < p->n_nodes; i++) {
        struct cg_node *b = p->nodes[i], *up = b->parent;
        if (b->type != CG_BARRIER || n-- > 0) continue;
        unsigned out = 0;
        for (unsigned j = 0; j < up->n_children; j++)
            if (up->children[j] != b) up->children[out++] = up->children[j];
        up->n_children = out;
        cg_number_nodes(p);
        return;
    }
}

Test(faults, the_unbroken_program_passes)
{
    struct fault_case x = tiled();
    struct cg_program *p = build_case(&x);
    cr_assert_eq(p->n_barriers, 2);
    found(&x, p, CG_OK);
}

Test(faults, the_barrier_of_the_back_edge_is_at_the_end)
{
    struct fault_case x = tiled();
    struct cg_program *p = build_case(&x);
    const struct cg_node *loop = p->root->children[0];
    cr_assert_eq(loop->n_children, 4);
    cr_assert_eq(loop->children[1]->type, CG_BARRIER);
    cr_assert_eq(loop->children[3]->type, CG_BARRIER);
    arena_free(x.arena);
}

Test(faults, missing_barrier_before_the_load)
{
    struct fault_case x = tiled();
    struct cg_program *p = build_case(&x);
    remove_barrier(p, 0);
    found(&x, p, CG_RACE);
}

Test(faults, missing_barrier_on_the_back_edge)
{
    struct fault_case x = tiled();
    struct cg_program *p = build_case(&x);
    remove_barrier(p, 1);
    found(&x, p, CG_RACE);
}

Test(faults, store_without_its_guard)
{
    struct fault_case x = tiled();
    x.c = cgt_candidate(x.bb, x.arena, "i.0=2 i.1=4 j.0=8 A.c.i.0=4 A.c.j.0=8",
                        "loop A.load.i.0 store.i.0 {"
                        " thread0 A.cl.j.0 A.cs.j.0 { loop A.cl.i.0 A.cs.i.0 { A.cl A.cs } }"
                        " thread1 A.load.j.0 store.j.0 { thread0 A.load.i.1 store.i.1 { A.load store } } }");
    struct cg_program *p = build_case(&x);
    cr_assert_eq(p->inst_node[3]->guard_local, 2);
    p->inst_node[3]->guard_local = 0;
    found(&x, p, CG_RACE);
}

Test(faults, region_too_small)
{
    struct fault_case x = tiled();
    struct cg_program *p = build_case(&x);
    p->regions[0].elements--;
    found(&x, p, CG_WRONG_BOUNDS);
}

Test(faults, load_of_another_layout)
{
    struct fault_case x = tiled();
    struct cg_program *p = build_case(&x);
    p->regions[0].elements += 100;
    p->access[0].offset = index_add(x.arena, p->access[0].offset, index_constant(x.arena, 1));
    found(&x, p, CG_UNINITIALIZED);
}

Test(faults, barrier_in_a_thread_nest)
{
    struct fault_case x = tiled();
    struct cg_program *p = build_case(&x);
    struct cg_node *barrier = cg_node_new(p, CG_BARRIER), *up = p->inst_node[3]->parent;
    struct cg_node *children[] = {up->children[0], barrier, up->children[1]};
    barrier->parent = up;
    up->children = children;
    up->n_children = 3;
    cg_number_nodes(p);
    found(&x, p, CG_DIVERGENT_BARRIER);
}

/* ---- refusals ---- */

Test(faults, layout_is_no_permutation)
{
    struct fault_case x = tiled();
    x.c->rank[0] = x.c->rank[1];
    refused(&x, "the layout of a region is no permutation");
}

Test(faults, copy_does_not_cover)
{
    struct fault_case x = tiled();
    x.c->size[8] = 2;
    refused(&x, "a copy does not cover its region");
}

Test(faults, crossing_between_loops)
{
    struct fault_case x = tiled();
    x.c = cgt_candidate(x.bb, x.arena, "i.0=8 j.0=8",
                        "loop A.load.i.0 store.i.0 { loop A.load.j.0 { A.load } loop store.j.0 { store } }");
    refused(&x, "a value crosses along dimensions that do not correspond");
}

Test(faults, crossing_between_other_threads)
{
    struct fault_case x = tiled();
    x.c = cgt_candidate(x.bb, x.arena, "i.0=8 j.0=8",
                        "thread0 A.load.i.0 { thread1 A.load.j.0 { A.load } }"
                        " thread1 store.i.0 { thread0 store.j.0 { store } }");
    refused(&x, "a value crosses along dimensions that do not correspond");
}

Test(faults, dependence_inside_a_thread_nest)
{
    struct fault_case x = tiled();
    x.c =
        cgt_candidate(x.bb, x.arena, "i.0=8 j.0=2 j.1=4 A.c.i.0=8 A.c.j.0=4",
                      "loop A.load.j.0 store.j.0 { thread0 A.cl.i.0 A.cs.i.0 A.load.i.0 store.i.0 {"
                      " loop A.cl.j.0 A.cs.j.0 { A.cl A.cs } loop A.load.j.1 store.j.1 { A.load store } } }");
    refused(&x, "a copy inside a thread dimension of its load");
}

Test(faults, tiles_outside_a_copy_are_significant)
{
    struct fault_case x = tiled();
    x.c = cgt_candidate(
        x.bb, x.arena, "i.0=2 i.1=4 j.0=8 A.c.i.0=2 A.c.j.0=8",
        "loop A.load.i.1 store.i.1 { loop A.cl.i.0 A.cs.i.0 { loop A.cl.j.0 A.cs.j.0 { A.cl A.cs } }"
        " loop A.load.i.0 store.i.0 { loop A.load.j.0 store.j.0 { A.load store } } }");
    refused(&x, "a tile outside a copy is less significant than one inside");
}

Test(faults, fused_dimension_without_a_run)
{
    struct fault_case x = tiled();
    x.c = cgt_candidate(x.bb, x.arena, "i.0=8 j.0=8",
                        "loop A.load.i.0 store.i.0 { threadf A.load.j.0 store.j.0 { A.load store } }");
    refused(&x, "a fused dimension without a run around it");
}

Test(faults, order_is_no_forest)
{
    struct fault_case x = tiled();
    unsigned n = bb_statement_count(x.bb);
    x.c->order[0 * n + 1] = BB_AFTER;
    x.c->order[1 * n + 0] = BB_AFTER;
    refused(&x, "the sequence of siblings is circular");
}

static void matmul_refused(const char *tree, const char *reason)
{
    struct fault_case x = {.arena = arena_new()};
    x.bb = cgt_matmul(x.arena, 4, 4, 4);
    x.c = cgt_candidate(x.bb, x.arena, "m.0=4 n.0=4 k.0=4", tree);
    refused(&x, reason);
}

Test(faults, reduction_read_too_early)
{
    matmul_refused("loop init.m.0 mad.m.0 A.load.m.0 store.m.0 { loop init.n.0 mad.n.0 B.load.n.0 store.n.0 {"
                   " init loop mad.k.0 A.load.k.0 B.load.k.0 { A.load B.load mad store } } }",
                   "a reduction is read before it is complete");
}

Test(faults, parts_read_before_they_are_combined)
{
    matmul_refused(
        "thread1 init.m.0 mad.m.0 A.load.m.0 store.m.0 { loop init.n.0 mad.n.0 B.load.n.0 store.n.0 {"
        " init thread0 mad.k.0 A.load.k.0 B.load.k.0 { A.load B.load mad } store } }",
        "a reduction is read before its parts are combined");
}

Test(faults, parts_in_blocks)
{
    matmul_refused("unroll init.m.0 { unroll init.n.0 { init } } block0 mad.k.0 A.load.k.0 B.load.k.0 {"
                   " unroll mad.m.0 A.load.m.0 { unroll mad.n.0 B.load.n.0 { A.load B.load mad } } }"
                   " unroll store.m.0 { unroll store.n.0 { store } }",
                   "a statement outside of the groups that have parts");
}

Test(faults, parts_of_groups_in_a_loop)
{
    matmul_refused(
        "block0 mad.k.0 A.load.k.0 B.load.k.0 {"
        " loop init.m.0 mad.m.0 A.load.m.0 store.m.0 { loop init.n.0 mad.n.0 B.load.n.0 store.n.0 {"
        " init A.load B.load mad store } } }",
        "an output is stored before parts of groups are combined");
}

Test(faults, reduction_started_inside)
{
    matmul_refused("loop init.m.0 mad.m.0 A.load.m.0 store.m.0 { loop init.n.0 mad.n.0 B.load.n.0 store.n.0 {"
                   " loop mad.k.0 A.load.k.0 B.load.k.0 { init A.load B.load mad } store } }",
                   "a reduction is started inside its own loop");
}

/* ---- barriers that are not needed ---- */

Test(faults, no_barrier_where_each_item_reads_its_own)
{
    struct fault_case x = tiled();
    x.c = cgt_candidate(x.bb, x.arena, TILED_SIZES,
                        "loop A.load.i.0 store.i.0 {"
                        " thread1 A.cl.i.0 A.cs.i.0 { thread0 A.cl.j.0 A.cs.j.0 { A.cl A.cs } }"
                        " thread1 A.load.i.1 store.i.1 { thread0 A.load.j.0 store.j.0 { A.load store } } }");
    const char *why = NULL;
    struct cg_program *p = cg_build(x.bb, x.c, &cgt_target, x.arena, &why);
    cr_assert(p, "%s", why);
    cr_assert_eq(p->n_barriers, 0);
    cr_assert_eq(cg_interpret(p, x.buffers).fault, CG_OK);
    arena_free(x.arena);
}
