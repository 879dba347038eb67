/* Expert points of three programs. */
#include <criterion/criterion.h>
#include <string.h>

#include "core/base/strbuf.h"
#include "tests/codegen/agree.h"

/* ---- matrix product ---- */

Test(codegen, matmul_naive_global)
{
    cgt_agree_matmul(
        6, 5, 7, "m.0=6 n.0=5 k.0=7",
        "global1 init.m.0 mad.m.0 A.load.m.0 store.m.0 { global0 init.n.0 mad.n.0 B.load.n.0 store.n.0 {"
        " init loop mad.k.0 A.load.k.0 B.load.k.0 { A.load B.load mad } store } }");
}

/* Expert point (b): one work-item per group, a register tile, no local memory. */
Test(codegen, matmul_register_tile)
{
    cgt_agree_matmul(
        8, 32, 8, "m.0=2 m.1=4 n.0=2 n.1=16 k.0=8",
        "block1 init.m.0 mad.m.0 A.load.m.0 store.m.0 { block0 init.n.0 mad.n.0 B.load.n.0 store.n.0 {"
        " unroll init.m.1 { vector init.n.1 { init } }"
        " loop mad.k.0 A.load.k.0 B.load.k.0 { vector B.load.n.1 { B.load } unroll A.load.m.1 { A.load }"
        "   unroll mad.m.1 { vector mad.n.1 { mad } } }"
        " unroll store.m.1 { vector store.n.1 { store } } } }");
}

/* A vector start, scalar steps: no component of a vector is written. The loop with barriers begins with a
 * loop that does not depend on it, so that a barrier comes first. */
Test(codegen, matmul_stepped_lane_by_lane)
{
    static const char *const sizes = "m.0=4 n.0=2 n.1=16 k.0=4 A.c.m.0=4 A.c.k.0=4";
    static const char *const tree =
        "loop init.n.0 mad.n.0 B.load.n.0 store.n.0 { loop A.cl.m.0 A.cs.m.0 {"
        " thread0 A.cl.k.0 A.cs.k.0 { A.cl A.cs } } thread0 init.m.0 { vector init.n.1 { init } }"
        " thread0 mad.m.0 A.load.m.0 { loop mad.k.0 A.load.k.0 B.load.k.0 { A.load"
        "   unroll mad.n.1 B.load.n.1 { B.load mad } } }"
        " thread0 store.m.0 { unroll store.n.1 { store } } }";
    struct arena *a = arena_new();
    struct backbone *bb = cgt_matmul(a, 4, 32, 4);
    struct bb_candidate *c = cgt_candidate(bb, a, sizes, tree);
    struct cg_kernel k;
    cg_emit(cgt_built(bb, c, a), &k);
    cr_assert_eq(k.barriers, 2);
    cr_assert_lt(strstr(k.source, "barrier("), strstr(k.source, "for (int A_c_m0"), "%s", k.source);
    cr_assert(strstr(k.source, "mad_15 = fma("), "%s", k.source);
    cr_assert_null(strstr(k.source, "mad.s"), "%s", k.source);
    cg_kernel_free(&k);
    double **buffers = cgt_inputs(bb, a);
    cgt_agree(bb, c, cgt_matmul_expected(buffers, 4, 32, 4, a), buffers, a);
    arena_free(a);
}

/* ---- loops that need a barrier more (test_workarounds.c) ---- */

/* The n-th barrier of the text, from 0. */
static const char *barrier_text(const char *text, unsigned n)
{
    const char *at = strstr(text, "barrier(");
    while (at && n-- > 0)
        at = strstr(at + 1, "barrier(");
    cr_assert(at, "%s", text);
    return at;
}

/* A product of m x n x k with these decisions: the text has three barriers, of which number `barrier_at` is
 * between the two pieces; and its results are right. */
static void agree_with_barrier(const int64_t *mnk, const char *sizes, const char *tree, unsigned barrier_at,
                               const char *before, const char *after)
{
    struct arena *a = arena_new();
    struct backbone *bb = cgt_matmul(a, mnk[0], mnk[1], mnk[2]);
    struct bb_candidate *c = cgt_candidate(bb, a, sizes, tree);
    const double *expected = cgt_matmul_expected(cgt_inputs(bb, a), mnk[0], mnk[1], mnk[2], a);
    struct cg_kernel k;
    cg_emit(cgt_built(bb, c, a), &k);
    cr_assert_eq(k.barriers, 3, "%s", k.source);
    const char *barrier = barrier_text(k.source, barrier_at), *from = strstr(k.source, before),
               *to = strstr(k.source, after);
    cr_assert(from && from < barrier && to && barrier < to, "%s", k.source);
    cg_kernel_free(&k);
    cgt_agree(bb, c, expected, cgt_inputs(bb, a), a);
    arena_free(a);
}

/* Two of four work-items add and store: under a predicate at the end of the loop, and again after it. Without
 * a barrier between the two, nothing is stored. */
Test(codegen, predicates_on_both_sides_of_the_end_of_a_loop)
{
    agree_with_barrier((int64_t[]){2, 2, 8},
                       "m.0=2 n.0=2 k.0=2 k.1=4 A.c.m.0=2 A.c.k.0=4 B.c.k.0=4 B.c.n.0=2",
                       "thread0 init.n.0 { unroll init.m.0 { init } }"
                       " loop mad.k.0 A.load.k.0 B.load.k.0 {"
                       "   thread0 B.cl.k.0 B.cs.k.0 { unroll B.cl.n.0 B.cs.n.0 { B.cl B.cs } }"
                       "   thread0 B.load.n.0 { unroll B.load.k.1 { B.load } }"
                       "   thread0 A.cl.k.0 A.cs.k.0 { unroll A.cl.m.0 A.cs.m.0 { A.cl A.cs } }"
                       "   unroll A.load.k.1 { unroll A.load.m.0 { A.load } }"
                       "   thread0 mad.n.0 { unroll mad.k.1 { unroll mad.m.0 { mad } } } }"
                       " thread0 store.n.0 { unroll store.m.0 { store } }",
                       2, "mad_1 = fma(", "/* store.n.0 */");
}

/* Two regions are staged in a loop that begins with the copy of A, itself a loop, the same each time. The
 * barriers of the two forward ways are enough for the back edge; the workaround adds another at the head. */
Test(codegen, two_regions_of_a_loop_that_begins_with_an_invariant_one)
{
    agree_with_barrier((int64_t[]){16, 2, 2}, "m.0=8 m.1=2 n.0=2 k.0=2 A.c.m.0=16 A.c.k.0=2 B.c.k.0=2",
                       "loop init.n.0 mad.n.0 B.load.n.0 store.n.0 {"
                       " loop A.cl.m.0 A.cs.m.0 { thread0 A.cl.k.0 A.cs.k.0 { A.cl A.cs } }"
                       " thread0 init.m.1 { unroll init.m.0 { init } }"
                       " thread0 A.load.m.1 { unroll A.load.m.0 { unroll A.load.k.0 { A.load } } }"
                       " thread0 B.cl.k.0 B.cs.k.0 { B.cl B.cs }"
                       " thread0 mad.m.1 { unroll mad.k.0 B.load.k.0 { B.load unroll mad.m.0 { mad } } }"
                       " thread0 store.m.1 { unroll store.m.0 { store } } }",
                       0, "for (int n0", "for (int A_c_m0");
}

/* Expert point (a) at small size: fused runs, both inputs staged, A transposed, vectors, unrolled halves. */
static const char *const STAGED_SIZES =
    "m.0=2 m.1=2 m.2=4 m.3=2 n.0=2 n.1=2 n.2=4 n.3=2 k.0=4 k.1=4 A.c.m.0=16 "
    "A.c.k.0=4 B.c.k.0=4 B.c.n.0=4 B.c.n.1=4";
static const char *const STAGED_TREE =
    "block1 init.m.0 mad.m.0 A.load.m.0 store.m.0 { block0 init.n.0 mad.n.0 B.load.n.0 store.n.0 {"
    " thread0 init.m.2 { threadf init.n.2 { unroll init.m.1 { unroll init.n.1 { unroll init.m.3 {"
    "   vector init.n.3 { init } } } } } }"
    " loop mad.k.0 A.load.k.0 B.load.k.0 {"
    "   thread0 A.cl.m.0 A.cs.m.0 { vector A.cl.k.0 { A.cl } unroll A.cs.k.0 { A.cs } }"
    "   thread0 B.cl.k.0 B.cs.k.0 { threadf B.cl.n.0 B.cs.n.0 { vector B.cl.n.1 B.cs.n.1 { B.cl B.cs } } }"
    "   thread0 A.load.m.2 mad.m.2 { threadf B.load.n.2 mad.n.2 { unroll A.load.k.1 B.load.k.1 mad.k.1 {"
    "     unroll A.load.m.1 { vector A.load.m.3 { A.load } } unroll B.load.n.1 { vector B.load.n.3 { B.load "
    "} }"
    "     unroll mad.m.1 { unroll mad.n.1 { unroll mad.m.3 { vector mad.n.3 { mad } } } } } } } }"
    " thread0 store.m.2 { threadf store.n.2 { unroll store.m.1 { unroll store.n.1 { unroll store.m.3 {"
    "   vector store.n.3 { store } } } } } } } }";

static struct bb_candidate *staged(const struct backbone *bb, struct arena *a)
{
    struct bb_candidate *c = cgt_candidate(bb, a, STAGED_SIZES, STAGED_TREE);
    c->rank[0] = 0;
    c->rank[1] = 1;
    c->pad[0] = 4;
    return c;
}

Test(codegen, matmul_staged)
{
    struct arena *a = arena_new();
    struct backbone *bb = cgt_matmul(a, 32, 32, 16);
    double **buffers = cgt_inputs(bb, a);
    cgt_agree(bb, staged(bb, a), cgt_matmul_expected(buffers, 32, 32, 16, a), buffers, a);
    arena_free(a);
}

Test(codegen, matmul_staged_in_global_memory)
{
    struct arena *a = arena_new();
    struct backbone *bb = cgt_matmul(a, 32, 32, 16);
    struct bb_candidate *c = staged(bb, a);
    double **buffers = cgt_inputs(bb, a);
    c->mem_space[0] = BB_MEM_GLOBAL;
    cgt_agree(bb, c, cgt_matmul_expected(buffers, 32, 32, 16, a), buffers, a);
    struct cg_kernel k;
    cg_emit(cgt_built(bb, c, a), &k);
    cr_assert(strstr(k.source, "__global float *A_tile)"), "one work-item reads what another wrote: %s",
              k.source);
    cr_assert(strstr(k.source, "__global float *restrict out"), "%s", k.source);
    cg_kernel_free(&k);
    arena_free(a);
}

/* The copy's vector load and the store past the caches. */
Test(codegen, matmul_with_streamed_accesses)
{
    struct arena *a = arena_new();
    struct backbone *bb = cgt_matmul(a, 32, 32, 16);
    struct bb_candidate *c = staged(bb, a);
    double **buffers = cgt_inputs(bb, a);
    for (unsigned i = 0; i < bb->n_insts; i++)
        c->cache[i] = BB_CACHE_STREAMING;
    struct cg_kernel k;
    cg_emit(cgt_built(bb, c, a), &k);
    cr_assert(strstr(k.source, "__builtin_nontemporal_load"), "%s", k.source);
    cr_assert(strstr(k.source, "__builtin_nontemporal_store"), "%s", k.source);
    cr_assert_null(strstr(k.source, "nontemporal_load(&A_tile"), "%s", k.source);
    cg_kernel_free(&k);
    if (cgt_streams()) cgt_agree(bb, c, cgt_matmul_expected(buffers, 32, 32, 16, a), buffers, a);
    arena_free(a);
}

Test(codegen, staged_launch_and_barriers)
{
    struct arena *a = arena_new();
    struct backbone *bb = cgt_matmul(a, 32, 32, 16);
    struct cg_kernel k;
    cg_emit(cgt_built(bb, staged(bb, a), a), &k);
    cr_assert_eq(k.barriers, 2);
    cr_assert_eq(k.global[0], 32);
    cr_assert_eq(k.local[0], 16);
    cr_assert_eq(k.global[1], 2);
    cr_assert_eq(k.local_bytes, (4 * 20 + 4 * 16) * sizeof(float));
    cr_assert_eq(k.n_args, 3);
    cg_kernel_free(&k);
    arena_free(a);
}

/* ---- axpy ---- */

static void agree_axpy(int64_t n, const char *sizes, const char *tree)
{
    struct arena *a = arena_new();
    struct backbone *bb = cgt_axpy(a, n);
    double **buffers = cgt_inputs(bb, a), *expected = ARENA_ARRAY(a, double, n);
    for (int64_t i = 0; i < n; i++)
        expected[i] = buffers[0][0] * buffers[1][i] + buffers[2][i];
    cgt_agree(bb, cgt_candidate(bb, a, sizes, tree), expected, buffers, a);
    arena_free(a);
}

Test(codegen, axpy_sequential)
{
    agree_axpy(12, "i.0=12",
               "alpha.load loop x.load.i.0 y.load.i.0 axpy.i.0 store.i.0 { x.load y.load axpy store }");
}

Test(codegen, axpy_vectors)
{
    agree_axpy(64, "i.0=2 i.1=8 i.2=4",
               "block0 x.load.i.0 y.load.i.0 axpy.i.0 store.i.0 { alpha.load"
               " thread0 x.load.i.1 y.load.i.1 axpy.i.1 store.i.1 {"
               " vector x.load.i.2 y.load.i.2 axpy.i.2 store.i.2 { x.load y.load axpy store } } }");
}

/* Packing and unpacking: vector loads, scalar arithmetic, vector store, in nests of their own. */
Test(codegen, axpy_unpacks_and_packs)
{
    agree_axpy(32, "i.0=8 i.1=4",
               "global0 x.load.i.0 y.load.i.0 axpy.i.0 store.i.0 { vector x.load.i.1 { x.load } alpha.load"
               " unroll y.load.i.1 { y.load } unroll axpy.i.1 { axpy } vector store.i.1 { store } }");
}

/* op(c), or op(x.load, c), over values of a type, in the text. */
static void constant_has(enum scalar_type type, enum scalar_op op, double c, const char *wanted)
{
    struct arena *a = arena_new();
    struct backbone *bb = cgt_axpy(a, 12);
    const struct bb_node nodes[] = {{.type = type, .operand = 1},
                                    {.kind = BB_NODE_CONST, .type = type, .value = c},
                                    {.kind = BB_NODE_OP, .type = type, .op = op}};
    struct cg_kernel k;
    bb->insts[3].nodes = nodes + 2 - scalar_op_arity(op);
    bb->insts[3].n_nodes = 1 + scalar_op_arity(op);
    for (unsigned i = 0; i < bb->n_insts; i++)
        bb->insts[i].type = type;
    for (unsigned b = 0; b < bb->n_buffers; b++)
        bb->buffers[b].type = type;
    cg_emit(cgt_built(bb,
                      cgt_candidate(bb, a, "i.0=12",
                                    "alpha.load loop x.load.i.0 y.load.i.0 axpy.i.0 store.i.0 {"
                                    " x.load y.load axpy store }"),
                      a),
            &k);
    cr_expect(strstr(k.source, wanted), "%s\n%s", wanted, k.source);
    cg_kernel_free(&k);
    arena_free(a);
}

Test(codegen, constants_are_written_with_their_sign_and_type)
{
    constant_has(SCALAR_INT, SCALAR_NEG, -3, "as_int(-as_uint((-3)))");
    constant_has(SCALAR_FLOAT, SCALAR_NEG, -0.0, "(-(-0.0f))");
    constant_has(SCALAR_DOUBLE, SCALAR_NEG, -1.5, "(-(-1.5))");
    constant_has(SCALAR_FLOAT, SCALAR_ADD, 3, "+ 3.0f)");
    constant_has(SCALAR_HALF, SCALAR_MAX, 0, ", (half)0.0f)");
    constant_has(SCALAR_HALF, SCALAR_MAX, -2, ", (half)(-2.0f))");
}

/* Inputs and an output called like what the text is made of; the accesses are vectors, aligned or not. */
Test(codegen, names_of_the_language_are_spelled_otherwise)
{
    static const char *const names[][4] = {{"generic", "float4", "lanes", "vstore4"},
                                           {"float", "vload4", "get_local_id", "float4"}};
    struct cg_dialect without_pointers = cg_opencl;
    const struct cg_target unaligned = {.dialect = &without_pointers};
    without_pointers.input_pointer = without_pointers.output_pointer = NULL;
    for (int i = 0; i < 2; i++) {
        struct arena *a = arena_new();
        struct backbone *bb = cgt_axpy(a, 64);
        double **buffers = cgt_inputs(bb, a), *expected = ARENA_ARRAY(a, double, 64);
        for (int e = 0; e < 64; e++)
            expected[e] = buffers[0][0] * buffers[1][e] + buffers[2][e];
        for (int b = 0; b < 4; b++)
            bb->buffers[b].name = names[i][b];
        struct bb_candidate *c =
            cgt_candidate(bb, a, "i.0=16 i.1=4",
                          "loop x.load.i.0 y.load.i.0 axpy.i.0 store.i.0 { alpha.load vector x.load.i.1 {"
                          " x.load } vector y.load.i.1 { y.load } unroll axpy.i.1 { axpy }"
                          " vector store.i.1 { store } }");
        cgt_agree_with(bb, c, i ? &unaligned : &cgt_target, expected, buffers, a);
        arena_free(a);
    }
}

static void axpy_text_has(const char *sizes, const char *tree, const char *wanted)
{
    struct arena *a = arena_new();
    struct backbone *bb = cgt_axpy(a, INT64_C(1) << 33);
    struct cg_kernel k;
    cg_emit(cgt_built(bb, cgt_candidate(bb, a, sizes, tree), a), &k);
    cr_assert(strstr(k.source, wanted), "%s", k.source);
    cg_kernel_free(&k);
    arena_free(a);
}

Test(codegen, ids_beyond_32_bits_are_not_cut_off)
{
    axpy_text_has("i.0=8589934592",
                  "global0 x.load.i.0 y.load.i.0 axpy.i.0 store.i.0 { alpha.load x.load y.load axpy store }",
                  "const long i0 = (long)((ulong)get_global_id(0));");
    axpy_text_has("i.0=8388608 i.1=1024",
                  "global0 x.load.i.0 y.load.i.0 axpy.i.0 store.i.0 { globalf x.load.i.1 y.load.i.1 axpy.i.1 "
                  "store.i.1 { alpha.load x.load y.load axpy store } }",
                  "const int i1 = (int)((ulong)get_global_id(0) % 1024u);");
}

/* The quotient is an int, what is divided is none. */
Test(codegen, dividends_beyond_32_bits_are_not_cut_off)
{
    enum { N = 2250000 };
    struct arena *a = arena_new();
    struct backbone *bb = cgt_axpy(a, N);
    struct cg_kernel k;
    bb->insts[1].index = index_div(a, index_scale(a, index_var(a, 0, N), 1499), 1500);
    bb->insts[2].index = index_mod(a, index_scale(a, index_var(a, 0, N), 953), 1500);
    cg_emit(cgt_built(bb,
                      cgt_candidate(bb, a, "i.0=2250000",
                                    "global0 x.load.i.0 y.load.i.0 axpy.i.0 store.i.0 {"
                                    " alpha.load x.load y.load axpy store }"),
                      a),
            &k);
    cr_assert(strstr(k.source, "x[((long)i0 * 1499) / 1500]"), "%s", k.source);
    cr_assert(strstr(k.source, "y[(i0 * 953) % 1500]"), "%s", k.source);
    cr_assert(strstr(k.source, "out[i0]"), "%s", k.source);
    cg_kernel_free(&k);
    arena_free(a);
}

/* ---- transpose ---- */

static const char *const TRANSPOSE_SIZES = "i.0=2 i.1=4 i.2=2 j.0=2 j.1=8 A.c.i.0=2 A.c.i.1=4 A.c.j.0=8";
static const char *const TRANSPOSE_TREE =
    "block1 A.load.i.0 store.i.0 { block0 A.load.j.0 store.j.0 {"
    " thread1 A.cl.i.1 A.cs.i.1 { thread0 A.cl.j.0 A.cs.j.0 { unroll A.cl.i.0 A.cs.i.0 { A.cl A.cs } } }"
    " thread1 A.load.i.1 store.i.1 { thread0 A.load.j.1 store.j.1 { unroll A.load.i.2 store.i.2 { A.load "
    "store } } } } }";

static double *transpose_expected(double **buffers, int64_t rows, int64_t columns, struct arena *a)
{
    double *out = ARENA_ARRAY(a, double, rows *columns);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            out[j * rows + i] = buffers[0][i * columns + j];
    return out;
}

Test(codegen, transpose_through_local_memory)
{
    struct arena *a = arena_new();
    struct backbone *bb = cgt_transpose(a, 16, 16);
    struct bb_candidate *c = cgt_candidate(bb, a, TRANSPOSE_SIZES, TRANSPOSE_TREE);
    double **buffers = cgt_inputs(bb, a);
    c->pad[0] = 1;
    cgt_agree(bb, c, transpose_expected(buffers, 16, 16, a), buffers, a);
    arena_free(a);
}

/* A copy nest smaller than the group runs under a predicate; one without the axis stores from work-item 0
 * alone. */
Test(codegen, transpose_copy_under_a_predicate)
{
    struct arena *a = arena_new();
    struct backbone *bb = cgt_transpose(a, 8, 8);
    struct bb_candidate *c = cgt_candidate(
        bb, a, "i.0=8 j.0=8 A.c.i.0=4 A.c.i.1=2 A.c.j.0=8",
        "thread0 A.cl.i.0 A.cs.i.0 { loop A.cl.j.0 A.cs.j.0 { unroll A.cl.i.1 A.cs.i.1 { A.cl A.cs } } }"
        " thread1 A.load.i.0 store.i.0 { thread0 A.load.j.0 store.j.0 { A.load store } }");
    double **buffers = cgt_inputs(bb, a);
    cgt_agree(bb, c, transpose_expected(buffers, 8, 8, a), buffers, a);
    arena_free(a);
}

/* ---- the tree and its cost ---- */

Test(codegen, tree_and_cost)
{
    struct arena *a = arena_new();
    struct backbone *bb = cgt_transpose(a, 8, 8);
    struct bb_candidate *c = cgt_candidate(
        bb, a, "i.0=2 i.1=4 j.0=8",
        "block0 A.load.i.0 store.i.0 { thread0 A.load.j.0 store.j.0 { unroll A.load.i.1 { A.load }"
        " vector store.i.1 { store } } }");
    struct cg_program *p = cgt_built(bb, c, a);
    struct strbuf text = {0};
    double steps, items;
    cg_print_tree(p, &text);
    cr_assert_str_eq(text.text, "block0 2: A.load.i.0 store.i.0\n"
                                "    thread0 8: A.load.j.0 store.j.0\n"
                                "        unroll 4: A.load.i.1\n"
                                "            A.load [A]\n"
                                "        vector 4: store.i.1\n"
                                "            store [out]\n");
    cg_cost(p, &steps, &items);
    cr_assert_eq(steps, 5);
    cr_assert_eq(items, 16);
    cr_assert_eq(cg_interpret_cost(p), 8 * 16);
    strbuf_free(&text);
    arena_free(a);
}
