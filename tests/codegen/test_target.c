/* The target table: which workarounds a driver's version gets, and that a second dialect needs a row only. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/codegen/fixture.h"

enum { EVERY = (1 << CG_WORKAROUND_COUNT) - 1 };

Test(codegen_target, workarounds_follow_the_version_of_the_driver)
{
    static const struct {
        const char *platform, *driver;
        uint32_t off;
    } cases[] = {{"Portable Computing Language", "3.1+debian", 0},
                 {"Portable Computing Language", "3", 0},
                 {"Portable Computing Language", "2.9.1", EVERY},
                 {"Portable Computing Language", "unknown", 0},
                 {"Portable Computing Language", "", 0},
                 {"A Portable Computing Language", "3.1", EVERY},
                 {"NVIDIA CUDA", "580.159.04", EVERY},
                 {"", "", EVERY}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        cr_expect_eq(cg_workarounds_off(cases[i].platform, cases[i].driver), cases[i].off, "%s %s",
                     cases[i].platform, cases[i].driver);
}

Test(codegen_target, streaming_accesses_of_versions_that_were_seen_and_others)
{
    cr_expect_eq(cg_streams("Portable Computing Language", "3.1+debian"), CG_YES);
    cr_expect_eq(cg_streams("Portable Computing Language", "4.0"), CG_ASK);
    cr_expect_eq(cg_streams("NVIDIA CUDA", "580.159.04"), CG_NO);
    cr_expect_eq(cg_streams("Another", "1.0"), CG_ASK);
}

Test(codegen_target, target_of_a_device)
{
    const struct bb_device unknown = {0}, other = {.workarounds_off = 1u << CG_SPLIT_PREDICATES};
    const struct cg_target all = cg_target_of(&unknown), some = cg_target_of(&other);
    cr_expect_eq(all.dialect, &cg_opencl);
    for (int w = 0; w < CG_WORKAROUND_COUNT; w++) {
        cr_expect(cg_needs(&all, (enum cg_workaround)w));
        cr_expect_eq(cg_needs(&some, (enum cg_workaround)w), w != CG_SPLIT_PREDICATES);
    }
    static const int64_t no_width[] = {0, 1, 3, 6, 32, INT64_C(1) << 33};
    for (size_t i = 0; i < sizeof no_width / sizeof no_width[0]; i++)
        cr_expect_not(cg_has_width(&all, no_width[i]));
    for (int64_t width = 2; width <= 16; width *= 2)
        cr_expect(cg_has_width(&all, width));
}

/* ---- a second dialect ---- */

static const char *const words[] = {"float", "int", "if", "for", "const", NULL};
static const char *const prefixes[] = {"cuda", NULL};

/* Of CUDA C++, what these tests need. */
static const struct cg_dialect cuda_like = {
    .name = "CUDA C++",
    .types = {[SCALAR_FLOAT] = {"float", "$1f", "$1", "#include \"vectors.h\""},
              [SCALAR_DOUBLE] = {"double", "$1", "$1", NULL},
              [SCALAR_HALF] = {"half", "$1f", "__float2half($1)", "#include <cuda_fp16.h>"},
              [SCALAR_INT] = {"int", "$1", "$1", NULL},
              [SCALAR_BOOL] = {"bool", "$1", "$1", NULL}},
    .operations =
        {[SCALAR_ADD] = "($1 + $2)", [SCALAR_MULT] = "($1 * $2)", [SCALAR_FMA] = "fmaf($1, $2, $3)"},
    .infinity = "INFINITY",
    .nan = "NAN",
    .index = "int",
    .wide_index = "long long",
    .id = "unsigned",
    .wide_id = "unsigned long long",
    .kernel = "extern \"C\" __global__ void $1(",
    .kernel_in_groups = "extern \"C\" __global__ void __launch_bounds__($2 * $3 * $4) $1(",
    .input = "const $1 *__restrict__ $2",
    .output = "$1 *__restrict__ $2",
    .value = "const $1 $2",
    .temporary = "$1 *$2",
    .global_space = "",
    .local_space = "",
    .local_array = "__shared__ __align__($4) $1 $2[$3];",
    .local_id = {"threadIdx.x", "threadIdx.y", "threadIdx.z"},
    .group_id = {"blockIdx.x", "blockIdx.y", "blockIdx.z"},
    .global_id = {"(blockIdx.x * blockDim.x + threadIdx.x)", "(blockIdx.y * blockDim.y + threadIdx.y)",
                  "(blockIdx.z * blockDim.z + threadIdx.z)"},
    .barrier_local = "__syncthreads();",
    .barrier_global = "__syncthreads();",
    .barrier_both = "__syncthreads();",
    .vector_widths = 2 + 4,
    .vector_type = "$1$2",
    .pack = "make_$1($2)",
    .broadcast = "all_$1($2)",
    .lanes = {"x", "y", "z", "w"},
    .input_pointer = "(const $2 *)&$3",
    .output_pointer = "($2 *)&$3",
    .load_vector = "load$1(&$2)",
    .store_vector = "store$1(&$3, $2)",
    .stream_load = "__ldcs($1)",
    .stream_store = "__stcs($1, $2)",
    .words = words,
    .prefixes = prefixes,
};

static const struct cg_target cuda_target = {.dialect = &cuda_like, .workarounds_off = EVERY};

static void text_is(const struct backbone *bb, const struct bb_candidate *c, struct arena *a,
                    const char *expected)
{
    const char *why = NULL;
    struct cg_program *p = cg_build(bb, c, &cuda_target, a, &why);
    struct cg_kernel k;
    cr_assert(p, "%s", why);
    cg_emit(p, &k);
    cr_assert_str_eq(k.source, expected, "%s", k.source);
    cg_kernel_free(&k);
}

/* Local memory, barriers, two axes, a predicate. */
Test(codegen_target, transposition_in_a_second_dialect)
{
    struct arena *a = arena_new();
    struct backbone *bb = cgt_transpose(a, 16, 8);
    struct bb_candidate *c = cgt_candidate(
        bb, a, "i.0=2 i.1=8 j.0=8 A.c.i.0=8 A.c.j.0=4 A.c.j.1=2",
        "block0 A.load.i.0 store.i.0 {"
        " thread1 A.cl.i.0 A.cs.i.0 { thread0 A.cl.j.0 A.cs.j.0 { unroll A.cl.j.1 A.cs.j.1 { A.cl A.cs } } }"
        " thread1 A.load.j.0 store.j.0 { thread0 A.load.i.1 store.i.1 { A.load store } } }");
    text_is(bb, c, a,
            "#include \"vectors.h\"\n"
            "extern \"C\" __global__ void __launch_bounds__(8 * 8 * 1) thresh_kernel(const float "
            "*__restrict__ A,\n"
            "                   float *__restrict__ out)\n"
            "{\n"
            "    __shared__ __align__(128) float A_tile[64];\n"
            "    const int i0 = (int)((unsigned)blockIdx.x); /* A.load.i.0 store.i.0 */\n"
            "    {\n"
            "        const int A_c_i0 = (int)((unsigned)threadIdx.y); /* A.cl.i.0 A.cs.i.0 */\n"
            "        if (threadIdx.x < 4) {\n"
            "            const int A_c_j0 = (int)((unsigned)threadIdx.x); /* A.cl.j.0 A.cs.j.0 */\n"
            "            const float A_cl_0 = A[i0 * 64 + A_c_i0 * 8 + A_c_j0 * 2];\n"
            "            A_tile[A_c_i0 * 8 + A_c_j0 * 2] = A_cl_0;\n"
            "            const float A_cl_1 = A[i0 * 64 + A_c_i0 * 8 + A_c_j0 * 2 + 1];\n"
            "            A_tile[A_c_i0 * 8 + A_c_j0 * 2 + 1] = A_cl_1;\n"
            "        }\n"
            "    }\n"
            "    __syncthreads();\n"
            "    {\n"
            "        const int j0 = (int)((unsigned)threadIdx.y); /* A.load.j.0 store.j.0 */\n"
            "        {\n"
            "            const int i1 = (int)((unsigned)threadIdx.x); /* A.load.i.1 store.i.1 */\n"
            "            const float A_load = A_tile[i1 * 8 + j0];\n"
            "            out[i0 * 8 + i1 + j0 * 16] = A_load;\n"
            "        }\n"
            "    }\n"
            "}\n");
    arena_free(a);
}

/* Vectors, streamed and not, aligned and not; constants; ids over the whole range. */
Test(codegen_target, vectors_in_a_second_dialect)
{
    struct arena *a = arena_new();
    struct backbone *bb = cgt_axpy(a, 32);
    bb->insts[2].index = index_add(a, index_var(a, 0, 29), index_constant(a, 3));
    struct bb_candidate *c =
        cgt_candidate(bb, a, "i.0=8 i.1=4",
                      "global0 x.load.i.0 y.load.i.0 axpy.i.0 store.i.0 { alpha.load"
                      " vector x.load.i.1 y.load.i.1 axpy.i.1 store.i.1 { x.load y.load axpy store } }");
    c->cache[1] = c->cache[4] = BB_CACHE_STREAMING;
    text_is(bb, c, a,
            "#include \"vectors.h\"\n"
            "extern \"C\" __global__ void thresh_kernel(const float alpha,\n"
            "                   const float *__restrict__ x,\n"
            "                   const float *__restrict__ y,\n"
            "                   float *__restrict__ out)\n"
            "{\n"
            "    const int i0 = (int)((unsigned)(blockIdx.x * blockDim.x + threadIdx.x)); /* x.load.i.0 "
            "y.load.i.0 axpy.i.0 store.i.0 */\n"
            "    const float alpha_load = alpha;\n"
            "    const float4 x_load = __ldcs((const float4 *)&x[i0 * 4]);\n"
            "    const float4 y_load = load4(&y[i0 * 4 + 3]);\n"
            "    const float4 axpy = ((all_float4(alpha_load) * x_load) + y_load);\n"
            "    __stcs((float4 *)&out[i0 * 4], axpy);\n"
            "}\n");
    arena_free(a);
}

/* cuda_like has no vectors of eight. */
Test(codegen_target, widths_of_the_target)
{
    struct arena *a = arena_new();
    struct backbone *bb = cgt_axpy(a, 64);
    struct bb_candidate *c =
        cgt_candidate(bb, a, "i.0=8 i.1=8",
                      "global0 x.load.i.0 y.load.i.0 axpy.i.0 store.i.0 { alpha.load"
                      " vector x.load.i.1 y.load.i.1 axpy.i.1 store.i.1 { x.load y.load axpy store } }");
    const char *why = NULL;
    cr_expect_not_null(cg_build(bb, c, &cgt_target, a, &why));
    cr_expect_null(cg_build(bb, c, &cuda_target, a, &why));
    cr_expect_str_eq(why, "a vector width that the target does not have");
    arena_free(a);
}
