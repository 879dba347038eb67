/* The row of OpenCL C 1.2 in the target table. A kernel as this row spells it:
 *
 *     __kernel __attribute__((reqd_work_group_size(16, 1, 1)))
 *     void thresh_kernel(__global const float *restrict x,
 *                        __global float *restrict out)
 *     {
 *         {
 *             const int i0 = (int)((uint)get_local_id(0));
 *             const float4 x_load = *(const __global float4 *)&x[4 * i0];
 *             *(__global float4 *)&out[4 * i0] = fmax(x_load, (float4)(0.0f));
 *         }
 *     }
 *
 * Operations are the built-in functions that take scalars and vectors alike. Comparisons give 0 and 1 for
 * scalars, 0 and -1 for vectors, which is why a bool is any int that is not 0. Integers wrap around, which C
 * guarantees for unsigned ones alone. The streaming accesses are
 * clang's; a compiler has them or not, which a device's description says. Temporaries are not `restrict`: one
 * work-item reads what another wrote, and NVIDIA's compiler moves such a load above the barrier where the
 * work-item itself has stored nothing. */
#include "core/codegen/target.h"

#include <stddef.h>

static const char *const words[] = {
    "kernel",    "global",     "local",      "constant", "private",   "float",   "double",  "half",
    "int",       "uint",       "long",       "ulong",    "short",     "char",    "uchar",   "ushort",
    "bool",      "void",       "if",         "else",     "for",       "while",   "do",      "switch",
    "case",      "default",    "break",      "continue", "return",    "goto",    "const",   "restrict",
    "volatile",  "static",     "extern",     "struct",   "union",     "enum",    "typedef", "sizeof",
    "signed",    "unsigned",   "inline",     "register", "auto",      "image",   "event_t", "sampler_t",
    "size_t",    "vec_step",   "fma",        "fmin",     "fmax",      "sqrt",    "rsqrt",   "exp",
    "log",       "sin",        "cos",        "tanh",     "fabs",      "barrier", "pipe",    "uniform",
    "read_only", "write_only", "read_write", "complex",  "imaginary", "quad",    "true",    "false",
    "NULL",      "INFINITY",   "NAN",        "generic",  "exp2",      "log2",    "log10",   "pow",
    "hypot",     "tan",        "asin",       "acos",     "atan",      "atan2",   "sinh",    "cosh",
    "erf",       "floor",      "ceil",       "round",    "trunc",     "sign",    "min",     "max",
    "abs",       "select",     NULL};

static const char *const prefixes[] = {"cl_",      "get_", "image",   "vload", "vstore",
                                       "convert_", "as_",  "thresh_", NULL};

/* The quotient towards zero and what it leaves. A division by zero, and that of the smallest int by -1, would
 * end the program on some devices: 0 and x are the results by zero, -x wraps around. */
static const char quotient[] =
    "#ifndef THRESH_DIV$2\n"
    "#define THRESH_DIV$2\n"
    "$1 thresh_div$2($1 x, $1 y)\n"
    "{\n"
    "    const $1 q = x / select(y, ($1)(1), (y == 0) | (y == -1));\n"
    "    return select(select(q, ($1)(0), y == 0), as_int$2(-as_uint$2(x)), y == -1);\n"
    "}\n"
    "#endif";
static const char modulo[] = "#ifndef THRESH_MOD$2\n"
                             "#define THRESH_MOD$2\n"
                             "$1 thresh_mod$2($1 x, $1 y)\n"
                             "{\n"
                             "    return select(x % select(y, ($1)(1), (y == 0) | (y == -1)), x, y == 0);\n"
                             "}\n"
                             "#endif";

/* OpenCL C 1.0 has half numbers in memory alone, without the extension. */
static const char half_functions[] =
    "#define THRESH_HALF(n) \\\n"
    "    float##n thresh_float##n(ushort##n x) { return vload_half##n(0, (const __private half *)&x); } \\\n"
    "    ushort##n thresh_half##n(float##n x) \\\n"
    "    { \\\n"
    "        ushort##n bits; \\\n"
    "        vstore_half##n##_rte(x, 0, (__private half *)&bits); \\\n"
    "        return bits; \\\n"
    "    }\n"
    "THRESH_HALF()\nTHRESH_HALF(2)\nTHRESH_HALF(4)\nTHRESH_HALF(8)\nTHRESH_HALF(16)\n"
    "#define THRESH_HALF_OF_DOUBLE(n) \\\n"
    "    ushort##n thresh_half_of_double##n(double##n x) \\\n"
    "    { \\\n"
    "        ushort##n bits; \\\n"
    "        vstore_half##n##_rte(x, 0, (__private half *)&bits); \\\n"
    "        return bits; \\\n"
    "    }\n"
    "#ifdef cl_khr_fp64\n"
    "THRESH_HALF_OF_DOUBLE()\nTHRESH_HALF_OF_DOUBLE(2)\nTHRESH_HALF_OF_DOUBLE(4)\n"
    "THRESH_HALF_OF_DOUBLE(8)\nTHRESH_HALF_OF_DOUBLE(16)\n"
    "#endif";

/* PTX of NVIDIA's devices from compute capability 8.0 on. The address of a row is one of local memory. Words
 * of TF32 are floats of which the first 19 bits count. */
static const char matrix_functions[] =
    "#define THRESH_LOAD(kind, to, from) \\\n"
    "    __asm__ volatile(\"ldmatrix.sync.aligned.m8n8.x4\" kind \".shared.b16 {%0, %1, %2, %3}, [%4];\" \\\n"
    "                     : \"=r\"((to).x), \"=r\"((to).y), \"=r\"((to).z), \"=r\"((to).w) \\\n"
    "                     : \"r\"((uint)(size_t)(from)) : \"memory\")\n"
    "#define thresh_load_matrices(to, from) THRESH_LOAD(\"\", to, from)\n"
    "#define thresh_load_transposed(to, from) THRESH_LOAD(\".trans\", to, from)\n"
    "#define thresh_multiply(c0, c1, c2, c3, l, r0, r1) \\\n"
    "    __asm__(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 \" \\\n"
    "            \"{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\" \\\n"
    "            : \"+f\"(c0), \"+f\"(c1), \"+f\"(c2), \"+f\"(c3) \\\n"
    "            : \"r\"((l).x), \"r\"((l).y), \"r\"((l).z), \"r\"((l).w), \"r\"(r0), \"r\"(r1))\n"
    "#define thresh_multiply_tf32(c0, c1, c2, c3, l, r0, r1) \\\n"
    "    __asm__(\"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 \" \\\n"
    "            \"{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\" \\\n"
    "            : \"+f\"(c0), \"+f\"(c1), \"+f\"(c2), \"+f\"(c3) \\\n"
    "            : \"r\"((l).x), \"r\"((l).y), \"r\"((l).z), \"r\"((l).w), \"r\"(r0), \"r\"(r1))\n"
    "#define THRESH_TF32(x) __asm__(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(x) : \"f\"(as_float(x)))\n"
    "#define thresh_round(v) \\\n"
    "    do { \\\n"
    "        THRESH_TF32((v).x); \\\n"
    "        THRESH_TF32((v).y); \\\n"
    "        THRESH_TF32((v).z); \\\n"
    "        THRESH_TF32((v).w); \\\n"
    "    } while (0)";

/* The same devices: PTX ISA, "shfl.sync". Lanes are 4 work-items apart. In the first round lanes whose
 * numbers differ in bit 0 exchange columns, two of them in a word; then those that differ in bit 1, and in
 * bit 2. */
static const char exchange_functions[] =
    "#define THRESH_SWAP(got, x, apart) \\\n"
    "    __asm__ volatile(\"shfl.sync.bfly.b32 %0, %1, \" #apart \", 31, -1;\" : \"=r\"(got) : \"r\"(x))\n"
    "uint4 thresh_exchange(uint lane, uint x0, uint x1, uint x2, uint x3, uint x4, uint x5, uint x6, uint "
    "x7)\n"
    "{\n"
    "    bool odd = lane & 1;\n"
    "    uint got, more;\n"
    "    THRESH_SWAP(got, odd ? x0 | x2 << 16 : x1 | x3 << 16, 4);\n"
    "    THRESH_SWAP(more, odd ? x4 | x6 << 16 : x5 | x7 << 16, 4);\n"
    "    uint a0 = odd ? (got & 0xffff) | x1 << 16 : x0 | got << 16;\n"
    "    uint a1 = odd ? got >> 16 | x3 << 16 : x2 | (got & 0xffff0000);\n"
    "    uint a2 = odd ? (more & 0xffff) | x5 << 16 : x4 | more << 16;\n"
    "    uint a3 = odd ? more >> 16 | x7 << 16 : x6 | (more & 0xffff0000);\n"
    "    odd = lane & 2;\n"
    "    THRESH_SWAP(got, odd ? a0 : a1, 8);\n"
    "    THRESH_SWAP(more, odd ? a2 : a3, 8);\n"
    "    uint2 b0 = odd ? (uint2)(got, a1) : (uint2)(a0, got);\n"
    "    uint2 b1 = odd ? (uint2)(more, a3) : (uint2)(a2, more);\n"
    "    odd = lane & 4;\n"
    "    THRESH_SWAP(got, odd ? b0.x : b1.x, 16);\n"
    "    THRESH_SWAP(more, odd ? b0.y : b1.y, 16);\n"
    "    return odd ? (uint4)(got, more, b1) : (uint4)(b0, got, more);\n"
    "}";

/* The same devices: PTX ISA, "cp.async". Through the first-level cache (.ca): the groups of a multiprocessor
 * read the same rows. Half matmul 4096^3 on an H100 takes 354 us so, 413 us past that cache (.cg). */
static const char direct_functions[] =
    "typedef const __global uint4 *thresh_source;\n"
    "#define thresh_copy(to, from) \\\n"
    "    __asm__ volatile(\"cp.async.ca.shared.global [%0], [%1], 16;\" \\\n"
    "                     : : \"r\"((uint)(size_t)(to)), \"l\"(from) : \"memory\")\n"
    "#define thresh_copies_end() __asm__ volatile(\"cp.async.commit_group;\" : : : \"memory\")\n"
    "#define thresh_copies_wait(n) __asm__ volatile(\"cp.async.wait_group %0;\" : : \"n\"(n) : \"memory\")";

const struct cg_dialect cg_opencl = {
    .name = "OpenCL C",
    .types = {[SCALAR_FLOAT] = {"float", "$1f", "$1", NULL, "int"},
              [SCALAR_DOUBLE] = {"double", "$1", "$1", "#pragma OPENCL EXTENSION cl_khr_fp64 : enable",
                                 "long"},
              [SCALAR_HALF] = {"half", "$1f", "(half)$1", "#pragma OPENCL EXTENSION cl_khr_fp16 : enable",
                               "short"},
              [SCALAR_INT] = {"int", "$1", "$1", NULL, "int"},
              [SCALAR_BOOL] = {"int", "$1", "$1", NULL, "int"}},
    .half_bits = {"ushort", "$1f", "thresh_half($1)", half_functions, "short"},
    .half_words = "uint4",
    .half_to_float = "thresh_float$2($1)",
    .float_to_half = "thresh_half$2($1)",
    .double_to_half = "thresh_half_of_double$2($1)",
    .vector_operations = {[SCALAR_LT] = "convert_int$9($1 < $2)",
                          [SCALAR_LE] = "convert_int$9($1 <= $2)",
                          [SCALAR_GT] = "convert_int$9($1 > $2)",
                          [SCALAR_GE] = "convert_int$9($1 >= $2)",
                          [SCALAR_EQ] = "convert_int$9($1 == $2)",
                          [SCALAR_NE] = "convert_int$9($1 != $2)",
                          [SCALAR_SELECT] = "select($3, $2, convert_$8$9($1 != 0))"},
    .int_operations = {[SCALAR_ADD] = "as_int$9(as_uint$9($1) + as_uint$9($2))",
                       [SCALAR_SUB] = "as_int$9(as_uint$9($1) - as_uint$9($2))",
                       [SCALAR_MULT] = "as_int$9(as_uint$9($1) * as_uint$9($2))",
                       [SCALAR_DIV] = "thresh_div$9($1, $2)",
                       [SCALAR_MOD] = "thresh_mod$9($1, $2)",
                       [SCALAR_MIN] = "min($1, $2)",
                       [SCALAR_MAX] = "max($1, $2)",
                       [SCALAR_NEG] = "as_int$9(-as_uint$9($1))",
                       [SCALAR_ABS] = "as_int$9(abs($1))",
                       [SCALAR_TO_INT] = "$1",
                       [SCALAR_BITAND] = "($1 & $2)",
                       [SCALAR_BITOR] = "($1 | $2)",
                       [SCALAR_BITXOR] = "($1 ^ $2)",
                       [SCALAR_SHL] = "as_int$9(as_uint$9($1) << as_uint$9($2 & 31))",
                       [SCALAR_SHR] = "($1 >> ($2 & 31))"},
    .operations = {[SCALAR_ADD] = "($1 + $2)",
                   [SCALAR_SUB] = "($1 - $2)",
                   [SCALAR_MULT] = "($1 * $2)",
                   [SCALAR_DIV] = "($1 / $2)",
                   [SCALAR_FMA] = "fma($1, $2, $3)",
                   [SCALAR_MIN] = "fmin($1, $2)",
                   [SCALAR_MAX] = "fmax($1, $2)",
                   [SCALAR_NEG] = "(-$1)",
                   [SCALAR_ABS] = "fabs($1)",
                   [SCALAR_LT] = "($1 < $2)",
                   [SCALAR_LE] = "($1 <= $2)",
                   [SCALAR_GT] = "($1 > $2)",
                   [SCALAR_GE] = "($1 >= $2)",
                   [SCALAR_EQ] = "($1 == $2)",
                   [SCALAR_NE] = "($1 != $2)",
                   [SCALAR_AND] = "($1 && $2)",
                   [SCALAR_OR] = "($1 || $2)",
                   [SCALAR_NOT] = "(!$1)",
                   [SCALAR_SELECT] = "($1 ? $2 : $3)",
                   [SCALAR_TO_FLOAT] = "convert_float$9($1)",
                   [SCALAR_TO_DOUBLE] = "convert_double$9($1)",
                   [SCALAR_TO_HALF] = "convert_half$9($1)",
                   [SCALAR_TO_INT] = "convert_int$9_sat($1)",
                   [SCALAR_SQRT] = "sqrt($1)",
                   [SCALAR_RSQRT] = "rsqrt($1)",
                   [SCALAR_EXP] = "exp($1)",
                   [SCALAR_EXP2] = "exp2($1)",
                   [SCALAR_LOG] = "log($1)",
                   [SCALAR_LOG2] = "log2($1)",
                   [SCALAR_LOG10] = "log10($1)",
                   [SCALAR_SIN] = "sin($1)",
                   [SCALAR_COS] = "cos($1)",
                   [SCALAR_TAN] = "tan($1)",
                   [SCALAR_ASIN] = "asin($1)",
                   [SCALAR_ACOS] = "acos($1)",
                   [SCALAR_ATAN] = "atan($1)",
                   [SCALAR_SINH] = "sinh($1)",
                   [SCALAR_COSH] = "cosh($1)",
                   [SCALAR_TANH] = "tanh($1)",
                   [SCALAR_ERF] = "erf($1)",
                   [SCALAR_FLOOR] = "floor($1)",
                   [SCALAR_CEIL] = "ceil($1)",
                   [SCALAR_ROUND] = "round($1)",
                   [SCALAR_TRUNC] = "trunc($1)",
                   [SCALAR_SIGN] = "sign($1)",
                   [SCALAR_POW] = "pow($1, $2)",
                   [SCALAR_HYPOT] = "hypot($1, $2)",
                   [SCALAR_ATAN2] = "atan2($1, $2)"},
    .int_functions = {[SCALAR_DIV] = quotient, [SCALAR_MOD] = modulo},
    .infinity = "INFINITY",
    .nan = "NAN",
    .unroll = "#pragma unroll",
    .index = "int",
    .wide_index = "long",
    .id = "uint",
    .wide_id = "ulong",
    .kernel = "__kernel void $1(",
    .kernel_in_groups = "__kernel __attribute__((reqd_work_group_size($2, $3, $4)))\nvoid $1(",
    .input = "__global const $1 *restrict $2",
    .output = "__global $1 *restrict $2",
    .value = "const $1 $2",
    .temporary = "__global $1 *$2",
    .global_space = "__global",
    .local_space = "__local",
    .local_array = "__local $1 $2[$3] __attribute__((aligned($4)));",
    .local_id = {"get_local_id(0)", "get_local_id(1)", "get_local_id(2)"},
    .group_id = {"get_group_id(0)", "get_group_id(1)", "get_group_id(2)"},
    .global_id = {"get_global_id(0)", "get_global_id(1)", "get_global_id(2)"},
    .barrier_local = "barrier(CLK_LOCAL_MEM_FENCE);",
    .barrier_global = "barrier(CLK_GLOBAL_MEM_FENCE);",
    .barrier_both = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    .fence_before = "#ifndef thresh_fence\n"
                    "#ifdef __NV_CL_C_VERSION\n"
                    "#define thresh_fence() __asm__ volatile(\"membar.gl;\" ::: \"memory\")\n"
                    "#define thresh_shared\n"
                    "#else\n"
                    "#define thresh_fence() mem_fence(CLK_GLOBAL_MEM_FENCE)\n"
                    "#define thresh_shared volatile\n"
                    "#endif\n"
                    "#endif",
    .device_fence = "thresh_fence();",
    .count_up = "atomic_inc(&$1)",
    .flag = "__local uint $1;",
    .counters = "__global volatile uint *$1",
    .shared = "__global thresh_shared $1 *$2",
    .shared_space = "__global thresh_shared",
    .vector_widths = 2 + 4 + 8 + 16,
    .vector_type = "$1$2",
    .pack = "($1)($2)",
    .broadcast = "($1)($2)",
    .lanes = {"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "sa", "sb", "sc", "sd", "se", "sf"},
    .input_pointer = "(const $1 $2 *)&$3",
    .output_pointer = "($1 $2 *)&$3",
    .load_vector = "vload$1(0, &$2)",
    .store_vector = "vstore$1($2, 0, &$3)",
    .stream_load = "__builtin_nontemporal_load($1)",
    .stream_store = "__builtin_nontemporal_store($2, $1)",
    .exchange_before = exchange_functions,
    .exchange = "thresh_exchange($1, $2)",
    .direct_before = direct_functions,
    .direct_type = "thresh_source",
    .direct_copy = "thresh_copy($1, $2)",
    .direct_end = "thresh_copies_end();",
    .direct_wait = "thresh_copies_wait($1);",
    .matrix_before = matrix_functions,
    .matrix_type = "uint4",
    .matrix_load = "thresh_load_matrices($1, $2);",
    .matrix_load_transposed = "thresh_load_transposed($1, $2);",
    .matrix_words = "$1 = (uint4)(as_uint($2), as_uint($3), as_uint($4), as_uint($5));",
    .matrix_multiply = "thresh_multiply($1, $2, $3, $4, $5, $6, $7);",
    .tf32_multiply = "thresh_multiply_tf32($1, $2, $3, $4, $5, $6, $7);",
    .tf32_round = "thresh_round($2);",
    .words = words,
    .prefixes = prefixes,
};
