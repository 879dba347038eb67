/* Counts of loop programs that are small enough to count by hand. */
#include <criterion/criterion.h>

#include "core/codegen/counts.h"
#include "tests/codegen/fixture.h"

static void count(struct arena *a, const struct backbone *bb, const char *sizes, const char *tree,
                  double *counts)
{
    const char *why = NULL;
    struct cg_program *p = cg_build(bb, cgt_candidate(bb, a, sizes, tree), &cgt_target, a, &why);
    cr_assert(p, "%s", why);
    cg_count(p, counts);
}

static void expect(const double *counts, enum cg_count count, double value)
{
    cr_expect_eq(counts[count], value, "%s: %g, expected %g", cg_count_text(count), counts[count], value);
}

/* Eight work-items read four rows of 32 bytes, and each writes 16 bytes of a row of its own. */
Test(counts, transposition)
{
    double n[CG_COUNT_COUNT];
    struct arena *a = arena_new();
    count(a, cgt_transpose(a, 8, 8), "i.0=2 i.1=4 j.0=8",
          "block0 A.load.i.0 store.i.0 { thread0 A.load.j.0 store.j.0 { unroll A.load.i.1 { A.load }"
          " vector store.i.1 { store } } }",
          n);
    expect(n, CG_COUNT_GROUPS, 2);
    expect(n, CG_COUNT_ITEMS, 8);
    expect(n, CG_COUNT_REGISTERS, 4);
    expect(n, CG_COUNT_TEXT, 5);
    expect(n, CG_COUNT_STEPS, 5);
    expect(n, CG_COUNT_LOADS, 4 * 2);
    expect(n, CG_COUNT_LOAD_SECTORS, 4 * 2);
    expect(n, CG_COUNT_STORES, 1 * 2);
    expect(n, CG_COUNT_STORE_SECTORS, 8 * 2);
    expect(n, CG_COUNT_TRAFFIC, 2 * 8 * 8 * 4);
    expect(n, CG_COUNT_ITERATIONS, 0);
    expect(n, CG_COUNT_BARRIERS, 0);
    expect(n, CG_COUNT_OPERATIONS, 0);
    expect(n, CG_COUNT_LOCAL_BYTES, 0);
    arena_free(a);
}

/* A tile of 32 x 32 is written by rows; read by columns, all 32 work-items need the same bank. One element of
 * padding gives each a bank of its own. */
Test(counts, banks_of_a_staged_transposition)
{
    double n[CG_COUNT_COUNT], padded[CG_COUNT_COUNT];
    struct arena *a = arena_new();
    struct backbone *bb = cgt_transpose(a, 32, 32);
    const char *why = NULL;
    struct bb_candidate *c =
        cgt_candidate(bb, a, "i.0=32 j.0=32 A.c.i.0=32 A.c.j.0=32",
                      "loop A.cl.i.0 A.cs.i.0 { thread0 A.cl.j.0 A.cs.j.0 { A.cl A.cs } }"
                      " loop A.load.j.0 store.j.0 { thread0 A.load.i.0 store.i.0 { A.load store } }");
    struct cg_program *p = cg_build(bb, c, &cgt_target, a, &why);
    cr_assert(p, "%s", why);
    cg_count(p, n);
    c->pad[0] = 1;
    p = cg_build(bb, c, &cgt_target, a, &why);
    cr_assert(p, "%s", why);
    cg_count(p, padded);
    expect(n, CG_COUNT_GROUPS, 1);
    expect(n, CG_COUNT_ITEMS, 32);
    expect(n, CG_COUNT_LOCAL_BYTES, 32 * 32 * 4);
    expect(padded, CG_COUNT_LOCAL_BYTES, 32 * 33 * 4);
    expect(n, CG_COUNT_LOCAL_ACCESSES, 32 + 32);
    expect(n, CG_COUNT_LOCAL_CYCLES, 32 + 32 * 32);
    expect(padded, CG_COUNT_LOCAL_CYCLES, 32 + 32);
    expect(n, CG_COUNT_LOADS, 32);
    expect(n, CG_COUNT_LOAD_SECTORS, 32 * 4);
    expect(n, CG_COUNT_STORE_SECTORS, 32 * 4);
    expect(n, CG_COUNT_ITERATIONS, 64);
    expect(n, CG_COUNT_BARRIERS, 1);
    arena_free(a);
}

/* A product of 4 x 4 x 8 by one work-item for each result: a load that does not depend on an unrolled loop
 * is there once. */
Test(counts, matrix_product)
{
    double n[CG_COUNT_COUNT];
    struct arena *a = arena_new();
    count(a, cgt_matmul(a, 4, 4, 8), "m.0=4 n.0=4 k.0=8",
          "thread0 init.m.0 mad.m.0 A.load.m.0 store.m.0 { unroll init.n.0 { init }"
          " loop mad.k.0 A.load.k.0 B.load.k.0 { A.load unroll mad.n.0 B.load.n.0 { B.load mad } }"
          " unroll store.n.0 { store } }",
          n);
    expect(n, CG_COUNT_ITEMS, 4);
    expect(n, CG_COUNT_REGISTERS, 4 + 1 + 4);
    expect(n, CG_COUNT_ITERATIONS, 8);
    expect(n, CG_COUNT_LOADS, 8 * (1 + 4));
    expect(n, CG_COUNT_STORES, 4);
    expect(n, CG_COUNT_STEPS, 8 * (1 + 4 + 4) + 4);
    expect(n, CG_COUNT_OPERATIONS, 4.0 * 4 * 8);
    arena_free(a);
}
