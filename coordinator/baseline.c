/* Reading --baseline. The option is taken apart at its commas; what has no '=' belongs to the list before it:
 *
 *     mm.cl:matmul , global=N , M , local=16 , 16 , option=-DTILE=16
 *     file and kernel | two global sizes | two local ones | for the compiler
 */
#define _DEFAULT_SOURCE /* strsep */
#include "coordinator/baseline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/extent.h"
#include "core/backbone/backbone.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"

enum { MOST_TEXT = 1 << 20, DIMENSIONS = 3 };
static const char form[] = "write FILE.cl:KERNEL,global=N,M,local=16,16";

struct reading {
    const char *option;
    const struct lift_program *program;
    struct arena *arena;
    struct cg_kernel *kernel;
    struct strbuf options; /* of the compiler */
    unsigned n_global, n_local;
    bool has_local;
    struct diag *diag;
};

static bool refuse(const struct reading *r, const char *why)
{
    diag_plain(r->diag, "--baseline: '%s': %s; %s", r->option, why, form);
    return false;
}

/* ---- sizes ---- */

/* One more global or local size. */
static bool add_size(struct reading *r, const char *text, bool global)
{
    const char *why;
    unsigned *n = global ? &r->n_global : &r->n_local;
    size_t *sizes = global ? r->kernel->global : r->kernel->local;
    int64_t value;
    if (*n == DIMENSIONS) return refuse(r, "over 3 dimensions");
    if (!extent_evaluate(text, r->program, &value, &why))
        diag_plain(r->diag, "--baseline: '%s': '%s' %s", r->option, text, why);
    else if (value <= 0)
        diag_plain(r->diag, "--baseline: '%s': '%s' is %" PRId64 "; a size must be positive", r->option, text,
                   value);
    else
        sizes[(*n)++] = (size_t)value;
    return !diag_failed(r->diag);
}

/* OpenCL 1.2 launches whole groups only. */
static bool check_range(const struct reading *r)
{
    const struct cg_kernel *k = r->kernel;
    if (r->n_global == 0) return refuse(r, "it has no global size");
    if (r->has_local && r->n_local != r->n_global)
        return refuse(r, "global and local sizes have different numbers of dimensions");
    for (unsigned i = 0; r->has_local && i < r->n_global; i++) {
        if (k->global[i] % k->local[i] == 0) continue;
        diag_plain(r->diag,
                   "--baseline: '%s': the global size %zu is no multiple of the local size %zu; round it up, "
                   "such as (N+15)/16*16",
                   r->option, k->global[i], k->local[i]);
        return false;
    }
    return true;
}

static void fill_range(const struct reading *r)
{
    for (unsigned i = r->n_global; i < DIMENSIONS; i++)
        r->kernel->global[i] = 1;
    for (unsigned i = r->n_local; r->has_local && i < DIMENSIONS; i++)
        r->kernel->local[i] = 1;
}

/* ---- the parts of the option ---- */

enum list { LIST_NONE, LIST_GLOBAL, LIST_LOCAL };

static bool read_part(struct reading *r, const char *part, enum list *list)
{
    static const struct {
        const char *key;
        enum list list;
    } keys[] = {{"global=", LIST_GLOBAL}, {"local=", LIST_LOCAL}, {"option=", LIST_NONE}};
    const char *value = strchr(part, '=') ? NULL : part;
    for (size_t i = 0; !value && i < sizeof keys / sizeof *keys; i++) {
        size_t n = strlen(keys[i].key);
        if (strncmp(part, keys[i].key, n) != 0) continue;
        value = part + n;
        *list = keys[i].list;
        r->has_local = r->has_local || *list == LIST_LOCAL;
        if (*list == LIST_NONE) strbuf_printf(&r->options, " %s", value);
        if (*list == LIST_NONE) return true;
    }
    if (value && *list != LIST_NONE) return add_size(r, value, *list == LIST_GLOBAL);
    diag_plain(r->diag, "--baseline: '%s': '%s' is none of global=, local=, option=; %s", r->option, part,
               form);
    return false;
}

/* What follows the kernel's name. */
static bool read_parts(struct reading *r, char *text)
{
    enum list list = LIST_NONE;
    bool ok = true;
    for (char *part; ok && (part = strsep(&text, ","));)
        ok = read_part(r, part, &list);
    return ok && check_range(r);
}

static bool is_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return *text && text[strspn(text, letters)] == 0 && !(*text >= '0' && *text <= '9');
}

/* ---- file and compiler ---- */

/* Sizes as macros; the folder of the file, so that it may include others. */
static void set_options(struct reading *r, const char *path)
{
    struct strbuf all = {0};
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) : 1;
    if (!strstr(r->options.text ? r->options.text : "", "-cl-std=")) strbuf_add(&all, "-cl-std=CL1.2 ");
    strbuf_add(&all, "-cl-kernel-arg-info");
    for (unsigned i = 0; i < r->program->n_sizes; i++)
        strbuf_printf(&all, " -D%s=%" PRId64, r->program->sizes[i].name, r->program->sizes[i].value);
    if (!strpbrk(path, " \t\"'\\")) strbuf_printf(&all, " -I%.*s", folder, slash ? path : ".");
    if (r->options.text) strbuf_add(&all, r->options.text);
    strbuf_free(&r->options);
    r->kernel->options = strbuf_take(&all);
}

/* The text of the file, with its name for what the compiler says of it. NULL after an error. */
static char *read_source(struct reading *r, const char *path)
{
    size_t n;
    struct strbuf named = {0};
    char *text = source_read_file(path, MOST_TEXT, &n, r->diag);
    if (!text) return NULL;
    if (!strpbrk(path, "\"\\\n")) strbuf_printf(&named, "#line 1 \"%s\"\n", path);
    strbuf_add(&named, text);
    free(text);
    return strbuf_take(&named);
}

static bool read_all(struct reading *r, struct baseline *out)
{
    char *text = arena_strdup(r->arena, r->option), *rest = text, *head = strsep(&rest, ","),
         *colon = strrchr(head, ':');
    if (!colon || colon == head || !is_name(colon + 1)) return refuse(r, "it names no kernel of a file");
    *colon = 0;
    out->kernel.name = base_strdup(colon + 1);
    if (!read_parts(r, rest)) return false;
    fill_range(r);
    set_options(r, head);
    const char *slash = strrchr(head, '/');
    struct strbuf label = {0};
    strbuf_printf(&label, "baseline %s", r->option + (slash ? slash + 1 - head : 0));
    out->label = strbuf_take(&label);
    out->kernel.source = read_source(r, head);
    return out->kernel.source != NULL;
}

bool baseline_read(const char *option, const struct lift_program *p, struct baseline *out, struct diag *d)
{
    *out = (struct baseline){0};
    struct reading r = {
        .option = option, .program = p, .arena = arena_new(), .kernel = &out->kernel, .diag = d};
    bool ok = read_all(&r, out);
    if (!ok) baseline_clear(out);
    strbuf_free(&r.options);
    arena_free(r.arena);
    return ok;
}

void baseline_bind(struct baseline *b, const struct backbone *bb)
{
    free(b->kernel.args);
    b->kernel.n_args = bb->n_buffers;
    b->kernel.args = base_calloc(bb->n_buffers + 1, sizeof *b->kernel.args);
    for (unsigned i = 0; i < bb->n_buffers; i++)
        b->kernel.args[i] = (struct cg_arg){.buffer = i,
                                            .by_value = bb->buffers[i].by_value,
                                            .bytes = (size_t)bb->buffers[i].elements *
                                                     scalar_type_bytes(bb->buffers[i].type)};
}

void baseline_clear(struct baseline *b)
{
    cg_kernel_free(&b->kernel);
    free(b->label);
    *b = (struct baseline){0};
}
