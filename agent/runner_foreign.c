/* What is checked of a kernel that the user wrote, beside its outputs:
 *
 *     kernel(float *A, float *C)              "the kernel has 2 arguments; the program has 3, ..."
 *     kernel(float *A, int n, float *C)       "argument 1 (int n) is no array in global memory: ..."
 *     kernel(float *C, float *A, float *B)    "the kernel writes to an input (argument 0); ..."
 *
 * A changed input would make later candidates of this runner wrong: it retires, as after any failure. */
#include "agent/runner_foreign.h"

#include <stdio.h>
#include <string.h>

#include "agent/opencl.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"

enum { NAME = 64 };

/* ---- arguments ---- */

/* A text that the driver knows of an argument; "" if it does not. */
static void ask(const struct job *j, unsigned i, cl_kernel_arg_info what, char out[NAME])
{
    size_t n = 0;
    if (clGetKernelArgInfo(j->launch.kernel, i, what, NAME - 1, out, &n)) n = 0;
    out[n < NAME ? n : NAME - 1] = 0;
}

/* unknown: what to say where the driver does not know. */
static bool is_global(const struct job *j, unsigned i, bool unknown)
{
    cl_kernel_arg_address_qualifier space = CL_KERNEL_ARG_ADDRESS_GLOBAL;
    if (clGetKernelArgInfo(j->launch.kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL))
        return unknown;
    return space == CL_KERNEL_ARG_ADDRESS_GLOBAL || space == CL_KERNEL_ARG_ADDRESS_CONSTANT;
}

/* The scalar type that a type's text begins with: "float4*" is one of floats. "": none that is known. */
static const char *scalar_of(const char *text)
{
    static const char *const names[] = {"float", "double", "half",   "int",  "uint", "char",
                                        "uchar", "short",  "ushort", "long", "ulong"};
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strspn(text, letters) == strlen(names[i]) && !strncmp(text, names[i], strlen(names[i])))
            return names[i];
    return "";
}

/* Signed and unsigned integers have the same bits. */
static bool type_fits(const char *text, enum scalar_type type)
{
    const char *scalar = scalar_of(text), *wanted = scalar_type_name(type);
    return !*scalar || type == SCALAR_BOOL || strcmp(scalar, wanted) == 0 ||
           (type == SCALAR_INT && strcmp(scalar, "uint") == 0);
}

static bool check_argument(struct job *j, unsigned i)
{
    char name[NAME], type[NAME];
    const struct verify_buffer *b = &j->runner->task->buffers[j->args[i].buffer];
    ask(j, i, CL_KERNEL_ARG_NAME, name);
    ask(j, i, CL_KERNEL_ARG_TYPE_NAME, type);
    if (b->by_value && is_global(j, i, false))
        return runner_fail(j, EVAL_BUILD_ERROR,
                           "argument %u (%s %s) is an array; the program's input is a scalar, %s, which is "
                           "passed by value",
                           i, type, name, scalar_type_name(b->type));
    if (!b->by_value && !is_global(j, i, true))
        return runner_fail(j, EVAL_BUILD_ERROR,
                           "argument %u (%s %s) is no array in global memory: arguments are the program's "
                           "inputs and then its output; sizes are macros",
                           i, type, name);
    if (type_fits(type, b->type)) return true;
    return runner_fail(j, EVAL_BUILD_ERROR, "argument %u (%s %s) is no %s%s, as the program's %s is", i, type,
                       name, b->by_value ? "" : "array of ", scalar_type_name(b->type),
                       b->output ? "output" : "input");
}

/* "x, y, output". */
static void list_arguments(const struct job *j, struct strbuf *out)
{
    const struct verify_task *t = j->runner->task;
    for (unsigned b = 0; b < t->n_buffers; b++) {
        const struct verify_buffer *v = &t->buffers[b];
        bool only = v->output && !v->updated && verify_outputs(t) == 1;
        const char *name = v->name && !only ? v->name : v->output ? "output" : "input";
        strbuf_printf(out, "%s%s", b ? ", " : "", name);
    }
}

static bool refuse_count(struct job *j, cl_uint n)
{
    struct strbuf list = {0};
    list_arguments(j, &list);
    runner_fail(j, EVAL_BUILD_ERROR,
                "the kernel has %u arguments; the program has %u, each an array in global memory: %s", n,
                j->set.n_args, list.text);
    strbuf_free(&list);
    return false;
}

bool runner_check_arguments(struct job *j)
{
    cl_uint n = 0;
    clGetKernelInfo(j->launch.kernel, CL_KERNEL_NUM_ARGS, sizeof n, &n, NULL);
    if (n != j->set.n_args) return refuse_count(j, n);
    for (unsigned i = 0; i < n; i++)
        if (!check_argument(j, i)) return false;
    return true;
}

/* ---- inputs ---- */

static bool take_same(void *ctx, const void *part, size_t n)
{
    const unsigned char **want = ctx;
    bool same = !memcmp(part, *want, n);
    *want = same ? *want + n : NULL;
    return same;
}

bool runner_check_inputs(struct job *j, unsigned set)
{
    struct runner *r = j->runner;
    for (unsigned b = 0; b < r->task->n_buffers; b++) {
        const struct verify_buffer *v = &r->task->buffers[b];
        if (v->output || v->by_value) continue;
        const unsigned char *same = v->data[set];
        cl_int error = download(&r->download, r->inputs[b][set], v->bytes, take_same, &same);
        if (error)
            return runner_fail(j, EVAL_LAUNCH_ERROR, "cannot read an input: %s", opencl_error_name(error));
        if (!same)
            return runner_fail(
                j, EVAL_WRONG_RESULT,
                "the kernel writes to an input (argument %u); arguments are the program's inputs "
                "and then its output",
                b);
    }
    return true;
}
