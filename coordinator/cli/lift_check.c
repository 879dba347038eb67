/* thresh lift check: a program goes as far as tune takes it before it measures: through the front end, the
 * backbone, the space and the memory of the device, so that what check accepts tune does not refuse. Of a
 * program that is no single kernel it does so with each part. Without the sizes it ends after the names. */
#include "coordinator/cli/lift_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/fits.h"
#include "coordinator/advice.h"
#include "coordinator/cli/kind.h"
#include "coordinator/sequence/plan.h"
#include "core/base/arena.h"
#include "core/base/strbuf.h"
#include "core/base/units.h"
#include "core/lift/lift.h"

enum { WHY = 2048 };

/* ---- names ---- */

static json_t *sizes_json(const struct lift_program *p)
{
    json_t *names = json_array();
    for (unsigned i = 0; i < p->n_sizes; i++)
        json_array_append_new(names, json_string(p->sizes[i].name));
    return names;
}

static void print_names(const struct cli_args *a, const struct lift_program *p)
{
    if (cli_given(a, CLI_JSON)) {
        cli_print_json(
            json_pack("{s:s,s:n,s:o}", "kernel", p->source->path, "type", "missing_sizes", sizes_json(p)));
        return;
    }
    printf("%s: syntax and names are ok; for types, extents and limits add --size ", p->source->path);
    for (unsigned i = 0; i < p->n_sizes; i++)
        printf("%s%s=...", i ? "," : "", p->sizes[i].name);
    printf("\n");
}

/* ---- a problem ---- */

/* What a kernel does with a buffer. */
static const char *use_of(const struct bb_buffer *b)
{
    if (b->updated) return "in-out";
    return b->output ? "output" : "input";
}

static void type_text(const struct lift_type *t, struct strbuf *out)
{
    lift_print_type(t, out);
    for (unsigned depth = 0; t->kind == LIFT_ARRAY; t = t->element, depth++)
        strbuf_printf(out, "%s%" PRId64, depth ? " x " : ", ", t->extent);
}

static json_t *extents_json(const struct lift_type *t)
{
    json_t *extents = json_array();
    for (; t->kind == LIFT_ARRAY; t = t->element)
        json_array_append_new(extents, json_integer(t->extent));
    return extents;
}

static json_t *buffers_json(const struct problem *p)
{
    json_t *buffers = json_array();
    for (unsigned i = 0; i < p->backbone->n_buffers; i++) {
        const struct bb_buffer *b = &p->backbone->buffers[i];
        const struct lift_type *t = p->program->arrays[i].type;
        struct strbuf type = {0};
        lift_print_type(t, &type);
        json_array_append_new(buffers,
                              json_pack("{s:s,s:s,s:o,s:I,s:b,s:b}", "name", b->name, "type", type.text,
                                        "extents", extents_json(t), "bytes", (json_int_t)lift_type_bytes(t),
                                        "output", (int)b->output, "updated", (int)b->updated));
        strbuf_free(&type);
    }
    return buffers;
}

static json_t *dimensions_json(const struct backbone *bb)
{
    json_t *dimensions = json_array();
    for (uint32_t i = 0; i < bb->n_logicals; i++) {
        const struct bb_logical *l = &bb->logicals[i];
        if (l->of != BB_NONE) continue;
        json_array_append_new(dimensions, json_pack("{s:s,s:I,s:b}", "name", l->name, "extent",
                                                    (json_int_t)l->extent, "reduction", (int)l->reduction));
    }
    return dimensions;
}

static json_t *to_json(const struct problem *p, const struct device *dev, const struct advice *advice)
{
    struct strbuf type = {0};
    json_t *lines = json_array();
    lift_print_type(p->program->output->type, &type);
    for (unsigned i = 0; i < advice->n; i++)
        json_array_append_new(lines, json_string(advice->lines[i]));
    json_t *o = json_pack("{s:s,s:s,s:o,s:o,s:o,s:o}", "kernel", p->source.path, "type", type.text, "device",
                          dev ? json_string(dev->name) : json_null(), "buffers", buffers_json(p),
                          "dimensions", dimensions_json(p->backbone), "advice", lines);
    strbuf_free(&type);
    return o;
}

static void print_buffers(const struct problem *p)
{
    for (unsigned i = 0; i < p->backbone->n_buffers; i++) {
        const struct bb_buffer *b = &p->backbone->buffers[i];
        struct strbuf type = {0};
        char bytes[UNITS_BYTES];
        type_text(p->program->arrays[i].type, &type);
        units_bytes((double)lift_type_bytes(p->program->arrays[i].type), bytes, sizeof bytes);
        printf("%-10s %s: %s, %s\n", use_of(b), b->name, type.text, bytes);
        strbuf_free(&type);
    }
}

static void print_text(const struct problem *p, const struct device *dev, const struct advice *advice)
{
    struct strbuf type = {0};
    lift_print_type(p->program->output->type, &type);
    printf("%s: ok, a %s\n", p->source.path, type.text);
    strbuf_free(&type);
    print_buffers(p);
    for (uint32_t i = 0; i < p->backbone->n_logicals; i++) {
        const struct bb_logical *l = &p->backbone->logicals[i];
        if (l->of == BB_NONE)
            printf("%-10s %s: %" PRId64 "%s\n", "dimension", l->name, l->extent,
                   l->scanned     ? ", scanned"
                   : l->reduction ? ", reduced"
                                  : "");
    }
    printf("%-10s %s\n", "device", dev ? dev->name : "none found: the limits of a device are not checked");
    for (unsigned i = 0; i < advice->n; i++)
        printf("note: %s\n", advice->lines[i]);
}

/* A described device has no known memory. */
static bool fits(const struct problem *p, const struct device *dev, struct diag *d)
{
    return dev->max_alloc_bytes == 0 || fits_device(p, dev, d);
}

/* One kernel; list: where JSON goes, of a part of a sequence; NULL: standard output. known: there is a
 * device. */
static void check_kernel(const struct cli_args *a, const char *path, const char *text,
                         const struct device *dev, bool known, json_t *list, struct diag *d)
{
    struct problem *p = problem_new(path, text, a->value[CLI_SIZE], &dev->limits, NULL, d);
    if (p && fits(p, dev, d)) {
        struct arena *arena = arena_new();
        struct advice advice = advice_of(p, known ? dev : NULL, arena);
        if (list)
            json_array_append_new(list, to_json(p, known ? dev : NULL, &advice));
        else if (cli_given(a, CLI_JSON))
            cli_print_json(to_json(p, known ? dev : NULL, &advice));
        else
            print_text(p, known ? dev : NULL, &advice);
        arena_free(arena);
    }
    problem_free(p);
}

/* A program that tune does not search as one kernel: the parts of the first variant that it tries. */
static void check_sequence(const struct cli_args *a, const struct sequence_plan *plan,
                           const struct device *dev, bool known, struct diag *d)
{
    const struct sequence_variant *v = &plan->variants[0];
    json_t *parts = cli_given(a, CLI_JSON) ? json_array() : NULL;
    if (!parts) printf("%s: ok, %u kernels, %s\n", plan->source.path, v->sequence->n_steps, v->label);
    for (unsigned i = 0; !parts && i < plan->n_notes; i++)
        printf("note: %s\n", plan->notes[i]);
    for (unsigned i = 0; i < v->n_parts && !diag_failed(d); i++) {
        const struct lift_part *part = &v->sequence->parts[i];
        if (!parts) printf("\n");
        check_kernel(a, part->path, part->text, dev, known, parts, d);
    }
    if (parts && !diag_failed(d))
        cli_print_json(
            json_pack("{s:s,s:s,s:O}", "kernel", plan->source.path, "cut", v->cuts, "parts", parts));
    json_decref(parts);
}

/* The plan of a program that is no single kernel; NULL: it is one, or nothing at all, which its check says.
 */
static struct sequence_plan *plan_of(const struct cli_args *a, const char *text)
{
    static const struct bb_options usual = {0};
    struct diag *ignored = diag_new();
    struct sequence_plan *plan =
        sequence_plan_new(a->positional[1], text, a->value[CLI_SIZE], "auto", &usual, ignored);
    diag_free(ignored);
    if (plan && plan->variants[0].sequence) return plan;
    sequence_plan_free(plan);
    return NULL;
}

static void check_all(const struct cli_args *a, const char *text, struct diag *d)
{
    struct device dev;
    char missing[WHY];
    if (!cli_select_limits(a, &dev, missing, sizeof missing, d)) return;
    bool known = !missing[0];
    struct sequence_plan *plan = plan_of(a, text);
    if (plan)
        check_sequence(a, plan, &dev, known, d);
    else
        check_kernel(a, a->positional[1], text, &dev, known, NULL, d);
    sequence_plan_free(plan);
}

void cli_lift_check(const struct cli_args *a, struct diag *d)
{
    struct source source = {.path = a->positional[1]};
    if (!cli_expect_kind(source.path, CLI_KIND_PROGRAM, d)) return;
    char *text = source_read_file(source.path, CLI_PROGRAM_BYTES, &source.length, d);
    if (!text) return;
    struct arena *arena = arena_new();
    source.text = text;
    const struct lift_program *p = cli_given(a, CLI_SIZE) ? NULL : lift_parse(&source, arena, d);
    if (p && p->n_sizes > 0)
        print_names(a, p);
    else if (!diag_failed(d))
        check_all(a, text, d);
    arena_free(arena);
    free(text);
}
