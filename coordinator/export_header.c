/* best.h, the best implementations as a C header. Its fixed parts, types above and functions below, are the
 * texts here; between them are the tables, an element for each entry:
 *
 *     static const char *const thresh_source_0[] = {"__kernel void thresh_kernel(...)\n", "{\n", ...};
 *     static const struct thresh_tuning thresh_tunings[] = {{"matmul", "NVIDIA H200", ...}, ...};
 *     static const struct thresh_kernel thresh_kernels[] = {{&thresh_tunings[0], ...}, ...};
 *
 * The text of a kernel has its sizes in it. So what is found for other sizes (thresh_tuning) has no kernel,
 * and what has a kernel (thresh_kernel) is found by exact sizes only. Strings are split into short literals,
 * since C99 compilers need not take more than 4095 characters. */
#include "coordinator/export.h"

#include <stdlib.h>
#include <string.h>

#include "agent/device.h"
#include "core/base/arena.h"

enum { LITERAL_BYTES = 1000 };

static const char types[] =
    " *\n"
    " * A kernel computes one program for one set of sizes: they are constants in its text. Use it like "
    "this:\n"
    " *\n"
    " *     const struct thresh_size sizes[] = {{\"M\", 512}, {\"N\", 512}, {\"K\", 512}};\n"
    " *     const struct thresh_kernel *k = thresh_pick_kernel(\"matmul\", device_name, 1, sizes, 3);\n"
    " *     if (k) {\n"
    " *         program = clCreateProgramWithSource(context, k->n_source, (const char **)k->source, NULL, "
    "&error);\n"
    " *         ... clBuildProgram(program, 1, &device, \"-cl-std=CL1.2\", NULL, NULL) ...\n"
    " *         kernel = clCreateKernel(program, k->name, &error);\n"
    " *         ... a buffer of k->arguments[i].bytes bytes for argument i, zeros where it is "
    "THRESH_COUNTERS,\n"
    " *             or a number (THRESH_VALUE) ...\n"
    " *         clEnqueueNDRangeKernel(queue, kernel, 3, NULL, k->global, k->local[0] ? k->local : NULL, "
    "...);\n"
    " *     }\n"
    " *\n"
    " * For other sizes there is nothing to launch. thresh_pick_tuning() then finds the decisions that were "
    "best "
    "for\n"
    " * the nearest sizes, as a start for 'thresh tune --pin'.\n"
    " *\n"
    " * C99 and C++. No function allocates or has state. */\n"
    "#ifndef THRESH_BEST_H\n"
    "#define THRESH_BEST_H\n"
    "\n"
    "#include <stddef.h>\n"
    "#include <string.h>\n"
    "\n"
    "struct thresh_size {\n"
    "    const char *name; /* as in the program: \"M\" */\n"
    "    long long value;\n"
    "};\n"
    "\n"
    "struct thresh_decision {\n"
    "    const char *choice, *value; /* for --pin 'CHOICE=VALUE' */\n"
    "};\n"
    "\n"
    "/* What was best for one program with its sizes on a device. */\n"
    "struct thresh_tuning {\n"
    "    const char *program, *device, *driver;\n"
    "    int gpu; /* whether the device is a GPU */\n"
    "    int n_sizes;\n"
    "    const struct thresh_size *sizes;\n"
    "    double median_ns, low_ns, high_ns; /* of a launch: median and quartiles over the rounds */\n"
    "    int rounds;                        /* 0: median_ns is a time of the search, less exact */\n"
    "    double naive_ns;                   /* of the naive kernel, measured in the same way; 0: not known "
    "*/\n"
    "    int n_decisions;\n"
    "    const struct thresh_decision *decisions;\n"
    "};\n"
    "\n"
    "enum thresh_use { THRESH_INPUT, THRESH_OUTPUT, THRESH_TEMPORARY, THRESH_VALUE, THRESH_UPDATED, "
    "THRESH_COUNTERS };\n"
    "\n"
    "/* A buffer in global memory. Its content is an array of `type` in row-major order; that of a temporary "
    "one "
    "needs\n"
    " * no initialization; THRESH_COUNTERS are temporary numbers that are 0 before the first launch, and "
    "after "
    "each.\n"
    " * Align it to 128 bytes where it is not made by clCreateBuffer(). A THRESH_VALUE is "
    "no buffer:\n"
    " * a number of `type`, clSetKernelArg(kernel, i, bytes, &number). A THRESH_UPDATED one is input and "
    "output. */\n"
    "struct thresh_argument {\n"
    "    const char *name, *type; /* \"A\", \"float\" */\n"
    "    long long bytes;\n"
    "    enum thresh_use use;\n"
    "};\n"
    "\n"
    "/* A kernel for the sizes of its tuning, and for no others. */\n"
    "struct thresh_kernel {\n"
    "    const struct thresh_tuning *tuning;\n"
    "    unsigned n_source;\n"
    "    const char *const *source; /* parts of the OpenCL text, in order */\n"
    "    const char *name;          /* of the kernel function */\n"
    "    size_t global[3], local[3]; /* local[0] == 0: pass NULL */\n"
    "    unsigned n_arguments;\n"
    "    const struct thresh_argument *arguments; /* in the order of the kernel's */\n"
    "    long long local_bytes; /* local memory that the text declares; there is nothing to pass */\n"
    "};\n"
    "\n"
    "/* The kernel that is best for all devices on which the program was tuned for these sizes: its time on "
    "each\n"
    " * over the best time there, as the geometric mean and the largest of them. */\n"
    "struct thresh_portable {\n"
    "    const struct thresh_kernel *kernel; /* its tuning is that of one of the devices */\n"
    "    int by_worst;                       /* chosen by the largest; 0: by the mean */\n"
    "    int n_devices;\n"
    "    double mean, worst;\n"
    "};\n"
    "\n";

static const char functions[] =
    "\n"
    "/* How far the sizes are from those of a tuning: the product, over all sizes, of the larger over the "
    "smaller "
    "value,\n"
    " * which is 2 to the power of the sum of |log2(value / value)|. 1: equal. 0: the program has other "
    "sizes. */\n"
    "static inline double thresh_distance(const struct thresh_tuning *t, const struct thresh_size *sizes, "
    "int n)\n"
    "{\n"
    "    double distance = t->n_sizes == n ? 1 : 0;\n"
    "    for (int i = 0; i < n && distance > 0; i++) {\n"
    "        double ratio = 0;\n"
    "        for (int k = 0; k < n; k++)\n"
    "            if (strcmp(t->sizes[k].name, sizes[i].name) == 0)\n"
    "                ratio = (double)sizes[i].value / (double)t->sizes[k].value;\n"
    "        if (!(ratio > 0)) return 0;\n"
    "        distance *= ratio < 1 ? 1 / ratio : ratio;\n"
    "    }\n"
    "    return distance;\n"
    "}\n"
    "\n"
    "/* The tuning nearest to the sizes, of those at most `farthest` away (0: of all): one of the device "
    "with "
    "exactly this\n"
    " * name (CL_DEVICE_NAME) or, if there is none, one of another device of the same type. Of equally near "
    "ones "
    "the\n"
    " * first. -1: there is none. */\n"
    "static inline int thresh_find(const char *program, const char *device, int gpu, const struct "
    "thresh_size "
    "*sizes,\n"
    "                              int n, double farthest)\n"
    "{\n"
    "    int found = -1;\n"
    "    for (int same_device = 1; same_device >= 0 && found < 0; same_device--) {\n"
    "        double least = 0;\n"
    "        for (int i = 0; i < THRESH_N_TUNINGS; i++) {\n"
    "            const struct thresh_tuning *t = &thresh_tunings[i];\n"
    "            double distance = thresh_distance(t, sizes, n);\n"
    "            if (strcmp(t->program, program) != 0 || distance <= 0) continue;\n"
    "            if (same_device ? strcmp(t->device, device) != 0 : !t->gpu != !gpu) continue;\n"
    "            if ((farthest > 0 && distance > farthest) || (found >= 0 && distance >= least)) continue;\n"
    "            found = i;\n"
    "            least = distance;\n"
    "        }\n"
    "    }\n"
    "    return found;\n"
    "}\n"
    "\n"
    "/* The kernel for exactly these sizes, in any order of the sizes. gpu: the device's type, for the "
    "second "
    "choice, a\n"
    " * kernel of another device of that type (k->tuning->device tells): it computes the same, but is not "
    "tuned "
    "for this\n"
    " * device, which may refuse to build or to launch it. NULL: there is none; use another implementation. "
    "*/\n"
    "static inline const struct thresh_kernel *thresh_pick_kernel(const char *program, const char *device, "
    "int "
    "gpu,\n"
    "                                                             const struct thresh_size *sizes, int n)\n"
    "{\n"
    "    int i = thresh_find(program, device, gpu, sizes, n, 1);\n"
    "    return i < 0 ? NULL : &thresh_kernels[i];\n"
    "}\n"
    "\n"
    "/* What was best for the nearest sizes. NULL: the program is not here, has other sizes, or was tuned on "
    "devices of\n"
    " * another type only. */\n"
    "static inline const struct thresh_tuning *thresh_pick_tuning(const char *program, const char *device, "
    "int "
    "gpu,\n"
    "                                                             const struct thresh_size *sizes, int n)\n"
    "{\n"
    "    int i = thresh_find(program, device, gpu, sizes, n, 0);\n"
    "    return i < 0 ? NULL : &thresh_tunings[i];\n"
    "}\n"
    "\n"
    "/* The kernel for exactly these sizes that is best for all devices together: by the geometric mean of "
    "how much\n"
    " * slower it is than the best of each device or, with by_worst, by the largest. NULL: it was tuned on "
    "one device\n"
    " * only, or none was measured on all. */\n"
    "static inline const struct thresh_kernel *thresh_pick_portable(const char *program,\n"
    "                                                               const struct thresh_size *sizes, int n,\n"
    "                                                               int by_worst)\n"
    "{\n"
    "    for (int i = 0; i < THRESH_N_PORTABLES; i++) {\n"
    "        const struct thresh_portable *p = &thresh_portables[i];\n"
    "        if (!p->by_worst == !by_worst && strcmp(p->kernel->tuning->program, program) == 0 &&\n"
    "            thresh_distance(p->kernel->tuning, sizes, n) == 1)\n"
    "            return p->kernel;\n"
    "    }\n"
    "    return NULL;\n"
    "}\n"
    "\n"
    "#endif\n";

/* ---- C literals ---- */

/* One character of a literal. Octal escapes have three digits, so that a digit may follow; '?' could begin a
 * trigraph. */
static void put_character(unsigned char c, FILE *out)
{
    if (c == '\n')
        fputs("\\n", out);
    else if (c == '"' || c == '\\' || c == '?')
        fprintf(out, "\\%c", c);
    else if (c < ' ' || c > '~')
        fprintf(out, "\\%03o", c);
    else
        fputc(c, out);
}

/* A literal of the first n bytes. */
static void put_literal(const char *text, size_t n, FILE *out)
{
    fputc('"', out);
    for (size_t i = 0; i < n; i++)
        put_character((unsigned char)text[i], out);
    fputc('"', out);
}

static void put_text(const char *text, FILE *out)
{
    put_literal(text, strlen(text), out);
}

/* Literals of a line each; returns how many. */
static unsigned put_lines(const char *text, FILE *out)
{
    unsigned parts = 0;
    for (size_t n; *text; text += n, parts++) {
        const char *end = strchr(text, '\n');
        n = end ? (size_t)(end - text) + 1 : strlen(text);
        if (n > LITERAL_BYTES) n = LITERAL_BYTES;
        fputs("    ", out);
        put_literal(text, n, out);
        fputs(",\n", out);
    }
    return parts;
}

/* ---- tables ---- */

/* An array may not be empty in C99: the tables give the number of elements. */
static void put_sizes(const struct export_entry *e, size_t i, FILE *out)
{
    const struct lift_program *p = e->problem->program;
    fprintf(out, "static const struct thresh_size thresh_sizes_%zu[] = {", i);
    for (unsigned k = 0; k < p->n_sizes; k++) {
        fputs(k ? ", {" : "{", out);
        put_text(p->sizes[k].name, out);
        fprintf(out, ", %lld}", (long long)p->sizes[k].value);
    }
    fputs(p->n_sizes ? "};\n" : "{\"\", 0}};\n", out);
}

static unsigned put_decisions(const struct export_entry *e, size_t i, FILE *out)
{
    const char *choice;
    json_t *value, *decisions = export_decisions(e);
    unsigned n = (unsigned)json_object_size(decisions);
    fprintf(out, "static const struct thresh_decision thresh_decisions_%zu[] = {\n", i);
    json_object_foreach(decisions, choice, value)
    {
        fputs("    {", out);
        put_text(choice, out);
        fputs(", ", out);
        put_text(json_string_value(value), out);
        fputs("},\n", out);
    }
    fputs(n ? "};\n" : "    {\"\", \"\"},\n};\n", out);
    json_decref(decisions);
    return n;
}

static void put_arguments(const struct export_entry *e, size_t i, FILE *out)
{
    static const char *const uses[] = {"THRESH_INPUT", "THRESH_OUTPUT",  "THRESH_TEMPORARY",
                                       "THRESH_VALUE", "THRESH_UPDATED", "THRESH_COUNTERS"};
    fprintf(out, "static const struct thresh_argument thresh_arguments_%zu[] = {\n", i);
    for (unsigned k = 0; k < e->code->kernel.n_args; k++) {
        struct export_argument a = export_argument(e, k);
        fputs("    {", out);
        put_text(a.name, out);
        fprintf(out, ", \"%s\", %zu, %s},\n", a.type, a.bytes, uses[a.use]);
    }
    fputs("};\n", out);
}

/* What the tables of one entry have. */
struct counts {
    unsigned source, decisions;
};

static struct counts put_arrays(const struct export_entry *e, size_t i, FILE *out)
{
    struct counts n;
    put_sizes(e, i, out);
    n.decisions = put_decisions(e, i, out);
    put_arguments(e, i, out);
    fprintf(out, "static const char *const thresh_source_%zu[] = {\n", i);
    n.source = put_lines(e->code->kernel.source, out);
    fputs("};\n", out);
    return n;
}

static void put_tuning(const struct export_entry *e, size_t i, unsigned decisions, FILE *out)
{
    const struct winner *w = e->winner;
    const char *const texts[] = {e->name, w->run.device, w->run.driver};
    fputs("    {", out);
    for (int k = 0; k < 3; k++) {
        if (k) fputs(", ", out);
        put_text(texts[k], out);
    }
    fprintf(out, ", %d, %u, thresh_sizes_%zu, %.17g, %.17g, %.17g, %u, %.17g, %u, thresh_decisions_%zu},\n",
            e->device->gpu, e->problem->program->n_sizes, i, w->figure.median_ns, w->figure.low_ns,
            w->figure.high_ns, w->figure.rounds, w->naive.median_ns, decisions, i);
}

static void put_kernel(const struct export_entry *e, size_t i, unsigned parts, FILE *out)
{
    const struct cg_kernel *k = &e->code->kernel;
    fprintf(out, "    {&thresh_tunings[%zu], %u, thresh_source_%zu, ", i, parts, i);
    put_text(k->name, out);
    fprintf(out, ", {%zu, %zu, %zu}, {%zu, %zu, %zu}, %u, thresh_arguments_%zu, %zu},\n", k->global[0],
            k->global[1], k->global[2], k->local[0], k->local[1], k->local[2], k->n_args, i, k->local_bytes);
}

/* The first entries are the winners, the portable choices follow. */
static const struct export_entry *entry_at(const struct export_best *b, size_t i)
{
    return i < b->n ? &b->entries[i] : &b->portables[i - b->n].entry;
}

static void put_portables(const struct export_best *b, FILE *out)
{
    fprintf(out, "enum { THRESH_N_PORTABLES = %zu };\n", b->n_portables);
    fputs("static const struct thresh_portable thresh_portables[] = {\n", out);
    for (size_t i = 0; i < b->n_portables; i++) {
        const struct portable *p = b->portables[i].choice;
        fprintf(out, "    {&thresh_kernels[%zu], %d, %u, %.17g, %.17g},\n", b->n + i,
                p->rule == PORTABLE_WORST, p->n_times, p->mean, p->worst);
    }
    fputs(b->n_portables ? "};\n" : "    {0, 0, 0, 0, 0},\n};\n", out);
}

static void put_tables(const struct export_best *b, const struct counts *counts, FILE *out)
{
    size_t all = b->n + b->n_portables;
    fprintf(out,
            "\nenum { THRESH_N_TUNINGS = %zu }; /* those behind are of portable choices */\n"
            "static const struct thresh_tuning thresh_tunings[] = {\n",
            b->n);
    for (size_t i = 0; i < all; i++)
        put_tuning(entry_at(b, i), i, counts[i].decisions, out);
    fputs(
        "};\n\n/* Kernel i is that of tuning i. */\nstatic const struct thresh_kernel thresh_kernels[] = {\n",
        out);
    for (size_t i = 0; i < all; i++)
        put_kernel(entry_at(b, i), i, counts[i].source, out);
    fputs("};\n\n", out);
    put_portables(b, out);
}

void export_header(const struct export_best *b, FILE *out)
{
    size_t all = b->n + b->n_portables;
    struct counts *counts = base_calloc(all + 1, sizeof *counts);
    fprintf(out,
            "/* The fastest OpenCL kernels that thresh found: %zu, by program, sizes and device. Written by "
            "%s.\n",
            b->n, b->version);
    fputs(types, out);
    for (size_t i = 0; i < all; i++)
        counts[i] = put_arrays(entry_at(b, i), i, out);
    put_tables(b, counts, out);
    fputs(functions, out);
    free(counts);
}
