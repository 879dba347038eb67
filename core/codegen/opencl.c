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
 * Operations are the built-in functions that take scalars and vectors alike. The streaming accesses are
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
    "NULL",      "INFINITY",   "NAN",        "generic",  NULL};

static const char *const prefixes[] = {"cl_", "get_", "image", "vload", "vstore", NULL};

const struct cg_dialect cg_opencl = {
    .name = "OpenCL C",
    .types = {[SCALAR_FLOAT] = {"float", "$1f", "$1", NULL},
              [SCALAR_DOUBLE] = {"double", "$1", "$1", "#pragma OPENCL EXTENSION cl_khr_fp64 : enable"},
              [SCALAR_HALF] = {"half", "$1f", "(half)$1", "#pragma OPENCL EXTENSION cl_khr_fp16 : enable"},
              [SCALAR_INT] = {"int", "$1", "$1", NULL},
              [SCALAR_BOOL] = {"bool", "$1", "$1", NULL}},
    .operations = {[SCALAR_ADD] = "($1 + $2)",
                   [SCALAR_SUB] = "($1 - $2)",
                   [SCALAR_MULT] = "($1 * $2)",
                   [SCALAR_DIV] = "($1 / $2)",
                   [SCALAR_FMA] = "fma($1, $2, $3)",
                   [SCALAR_MIN] = "fmin($1, $2)",
                   [SCALAR_MAX] = "fmax($1, $2)",
                   [SCALAR_NEG] = "(-$1)",
                   [SCALAR_ABS] = "fabs($1)",
                   [SCALAR_SQRT] = "sqrt($1)",
                   [SCALAR_RSQRT] = "rsqrt($1)",
                   [SCALAR_EXP] = "exp($1)",
                   [SCALAR_LOG] = "log($1)",
                   [SCALAR_SIN] = "sin($1)",
                   [SCALAR_COS] = "cos($1)",
                   [SCALAR_TANH] = "tanh($1)"},
    .infinity = "INFINITY",
    .nan = "NAN",
    .index = "int",
    .wide_index = "long",
    .id = "uint",
    .wide_id = "ulong",
    .kernel = "__kernel void $1(",
    .kernel_in_groups = "__kernel __attribute__((reqd_work_group_size($2, $3, $4)))\nvoid $1(",
    .input = "__global const $1 *restrict $2",
    .output = "__global $1 *restrict $2",
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
    .words = words,
    .prefixes = prefixes,
};
