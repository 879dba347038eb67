/* Short texts for slow compilers: loops that the compiler unrolls (roll.c), pointers (pointer.c). */
#include <criterion/criterion.h>
#include <string.h>

#include "core/pipeline/code.h"
#include "tests/codegen/agree.h"
#include "tests/codegen/contenders.h"

static const struct cg_target brief = {.dialect = &cg_opencl, .brief = true};

/* ---- loops that the compiler unrolls ---- */

/* A product of 8 x 32 results and K steps, 4 x 4 results a group, whose nest of mad is given. wanted: of its
 * text; NULL: it has no loop that the compiler unrolls. */
static void brief_product(const char *nest, const char *k_size, int64_t k, const char *wanted)
{
    struct arena *a = arena_new();
    struct backbone *bb = cgt_matmul(a, 8, 32, k);
    const char *sizes = arena_printf(a, "m.0=2 m.1=4 n.0=8 n.1=4 %s", k_size);
    const char *tree = arena_printf(
        a,
        "block1 init.m.0 mad.m.0 A.load.m.0 store.m.0 { block0 init.n.0 mad.n.0 B.load.n.0 store.n.0 {"
        " unroll init.m.1 { vector init.n.1 { init } } %s"
        " unroll store.m.1 { vector store.n.1 { store } } } }",
        nest);
    struct bb_candidate *c = cgt_candidate(bb, a, sizes, tree);
    struct cg_kernel written, rolled;
    double **buffers = cgt_inputs(bb, a);
    cg_emit(cgt_built(bb, c, a), &written);
    cg_emit(cgt_built_with(bb, c, &brief, a), &rolled);
    cr_expect_eq(written.unrolled, strlen(written.source));
    if (wanted) {
        cr_expect(strstr(rolled.source, wanted), "%s", rolled.source);
        cr_expect_lt(strlen(rolled.source), strlen(written.source));
        cr_expect_lt(rolled.unrolled, written.unrolled * 3 / 2);
        cr_expect_gt(rolled.unrolled, written.unrolled * 3 / 4);
    } else {
        cr_expect_null(strstr(rolled.source, "#pragma unroll"), "%s", rolled.source);
        cr_expect_eq(rolled.unrolled, strlen(rolled.source));
    }
    cgt_agree_with(bb, c, &brief, cgt_matmul_expected(buffers, 8, 32, k, a), buffers, a);
    cg_kernel_free(&written);
    cg_kernel_free(&rolled);
    arena_free(a);
}

Test(codegen_brief, the_steps_of_a_tile_are_a_loop)
{
    brief_product("unroll mad.k.0 A.load.k.0 B.load.k.0 { vector B.load.n.1 { B.load }"
                  " unroll A.load.m.1 { A.load } unroll mad.m.1 { vector mad.n.1 { mad } } }",
                  "k.0=8", 8,
                  "    #pragma unroll\n"
                  "    for (int k0 = 0; k0 < 8; ++k0) { /* A.load.k.0 B.load.k.0 mad.k.0 */\n"
                  "        const float4 B_load = *(const __global float4 *)&B[");
}

/* The text of the inner loop is left out 3 times in each of the 4 copies of the outer one, which are left out
 * 3 times. */
Test(codegen_brief, loops_nest)
{
    brief_product("unroll mad.k.0 A.load.k.0 B.load.k.0 { unroll mad.k.1 A.load.k.1 B.load.k.1 {"
                  " vector B.load.n.1 { B.load } unroll A.load.m.1 { A.load }"
                  " unroll mad.m.1 { vector mad.n.1 { mad } } } }",
                  "k.0=4 k.1=4", 16,
                  "#pragma unroll\n"
                  "        for (int k1 = 0; k1 < 4; ++k1) {");
}

Test(codegen_brief, registers_that_cross_are_variables)
{
    brief_product("unroll B.load.k.0 { vector B.load.n.1 { B.load } }"
                  " unroll A.load.k.0 { unroll A.load.m.1 { A.load } }"
                  " unroll mad.k.0 { unroll mad.m.1 { vector mad.n.1 { mad } } }",
                  "k.0=8", 8, NULL);
}

Test(codegen_brief, three_copies_are_written)
{
    brief_product("unroll mad.k.0 A.load.k.0 B.load.k.0 { vector B.load.n.1 { B.load }"
                  " unroll A.load.m.1 { A.load } unroll mad.m.1 { vector mad.n.1 { mad } } }",
                  "k.0=3", 3, NULL);
}

/* Of the last 4 of 12 steps 2 are beyond the extent. */
Test(codegen_brief, copies_with_other_guards_are_written)
{
    brief_product("loop mad.k.0 A.load.k.0 B.load.k.0 { unroll mad.k.1 A.load.k.1 B.load.k.1 {"
                  " vector B.load.n.1 { B.load } unroll A.load.m.1 { A.load }"
                  " unroll mad.m.1 { vector mad.n.1 { mad } } } }",
                  "k.0=3 k.1=4", 10, NULL);
}

/* ---- pointers ---- */

static char *brief_text(const char *kernel, const char *sizes, const struct bb_device *device,
                        const char *label)
{
    struct contenders c = contenders_open(kernel, sizes, device, label);
    struct space_state *leaf = contenders_leaf(&c, c.first);
    struct pipeline_code code;
    char why[256];
    cr_assert(c.n > 0 && pipeline_lower(c.problem, leaf, &code, why, sizeof why), "%s", why);
    char *text = code.kernel.source;
    code.kernel.source = NULL;
    pipeline_code_clear(&code);
    space_state_free(leaf);
    contenders_close(&c);
    return text;
}

static const char layer[] = "one work-item per 4 x 8 results of a layer";

/* The texts of layers run in test_layer.c. */
Test(codegen_brief, loads_under_conditions_are_by_pointers)
{
    char *text = brief_text("convolution", "B=1,O=256,C=256,H=56,W=56", &contenders_gpu, layer);
    const char *declared = strstr(text, "const __global float *x_at"), *first = strstr(text, "? x_at");
    cr_assert(declared && first, "%s", text);
    cr_expect_lt(declared, first);
    cr_expect(strstr(text, "[-57] : 0.0f)"), "%s", text);
    cr_expect_null(strstr(text, "? x["), "%s", text);
    free(text);
}

Test(codegen_brief, others_are_not)
{
    struct bb_device cpu = contenders_gpu;
    cpu.gpu = false;
    char *product = brief_text("matmul", "M=512,N=512,K=512", &contenders_gpu, "whole rows staged"),
         *on_cpu = brief_text("convolution", "B=1,O=256,C=256,H=56,W=56", &cpu, "reductions unrolled by");
    cr_expect_null(strstr(product, "_at0"), "%s", product);
    cr_expect(strstr(on_cpu, "x_load_1"), "%s", on_cpu);
    cr_expect_null(strstr(on_cpu, "_at0"), "%s", on_cpu);
    free(product);
    free(on_cpu);
}

static const char brief_names[] =
    "size O, C, H, W\n"
    "input x: [[[float]W]H]C\n"
    "input x_at0: [[[[float]3]3]C]O\n"
    "fun windows(image) = map(transpose, transpose(map(fun c -> slide2(3, 1, padConstant2(1, 1, 0.0, c)), "
    "image)))\n"
    "fun flat(a) = join(join(a))\n"
    "output map(fun k -> map2(fun w -> dot(flat(w), flat(k)), windows(x)), x_at0)\n";

/* An array that is called like a pointer. */
Test(codegen_brief, names_of_pointers_are_taken)
{
    char *text = brief_text(brief_names, "O=64,C=32,H=56,W=56", &contenders_gpu, "of a layer");
    cr_expect(strstr(text, "__global const float *restrict x_at0_v2"), "%s", text);
    cr_expect(strstr(text, "const __global float *x_at0 = &x["), "%s", text);
    free(text);
}
