/* Binding a program: its sizes get values, then the types of inputs and outputs are checked.
 *
 * `--size M=4,N=8` gives `input A: [[float]N]M` the extents 4 and 8; every error in the sizes is reported
 * before the first type is looked at, since wrong sizes make wrong types. bind_type.c builds types, infer.c
 * and infer_pattern.c find those of expressions. */
#include "core/lift/bind.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"

static struct lift_size_param *find_size(struct lift_program *p, const char *name)
{
    for (unsigned i = 0; i < p->n_sizes; i++)
        if (!strcmp(p->sizes[i].name, name)) return &p->sizes[i];
    return NULL;
}

/* The program's sizes: "M, N, K". */
static const char *size_names(struct binder *b)
{
    const struct lift_program *p = b->program;
    const char *text = "";
    for (unsigned i = 0; i < p->n_sizes; i++)
        text = arena_printf(b->arena, "%s%s%s", text, i ? ", " : "", p->sizes[i].name);
    return text;
}

static void report_unknown_size(struct binder *b, const char *name)
{
    unsigned n = b->program->n_sizes;
    if (n == 0)
        diag_plain(b->diag, "unknown size '%s': the program declares no sizes; leave it out of --size", name);
    else
        diag_plain(b->diag, "unknown size '%s'; %s %s", name,
                   n == 1 ? "the program's size is" : "the program's sizes are", size_names(b));
}

/* One error for all sizes without a value, at the first. */
static void report_missing_sizes(struct binder *b, const bool *given)
{
    const struct lift_program *p = b->program;
    const struct lift_size_param *first = NULL;
    const char *names = "", *option = "";
    unsigned n = 0;
    for (unsigned i = 0; i < p->n_sizes; i++) {
        const char *name = p->sizes[i].name;
        if (given[i]) continue;
        if (n++ == 0) first = &p->sizes[i];
        names = arena_printf(b->arena, "%s%s'%s'", names, n > 1 ? ", " : "", name);
        option = arena_printf(b->arena, "%s%s%s=...", option, n > 1 ? "," : "", name);
    }
    if (n > 0)
        bind_report(b, first->at, "%s %s %s no value; add --size %s", n > 1 ? "sizes" : "size", names,
                    n > 1 ? "have" : "has", option);
}

static void bind_sizes(struct binder *b, const struct lift_size_value *values, unsigned n)
{
    struct lift_program *p = b->program;
    bool *given = ARENA_ARRAY(b->arena, bool, p->n_sizes + 1);
    for (unsigned i = 0; i < n; i++) {
        struct lift_size_param *size = find_size(p, values[i].name);
        if (!size)
            report_unknown_size(b, values[i].name);
        else if (given[size - p->sizes])
            diag_plain(b->diag, "size '%s' is given twice; write --size %s=... once", values[i].name,
                       values[i].name);
        else if (values[i].value <= 0)
            bind_report(b, size->at, "size '%s' is %" PRId64 "; sizes must be at least 1", size->name,
                        values[i].value);
        if (!size) continue;
        size->value = values[i].value;
        given[size - p->sizes] = true;
    }
    report_missing_sizes(b, given);
}

/* The numbers that the bounds of a range are. */
static void bind_range(struct binder *b, struct lift_param *input)
{
    struct lift_range *r = &input->range;
    int64_t value;
    if (!r->low_size && !r->high_size) return;
    if (r->low_size && bind_size_from(b, r->low_size, INT32_MIN, r->at, &value)) r->low = (double)value;
    if (r->high_size && bind_size_from(b, r->high_size, INT32_MIN, r->at, &value)) r->high = (double)value;
    if (input->type) lift_range_check(r, input->type, b->diag);
}

static bool is_updated(const struct lift_program *p, unsigned input)
{
    for (unsigned i = 0; i < p->n_outputs; i++)
        if (p->outputs[i].input == input) return true;
    return false;
}

static void bind_inputs(struct binder *b)
{
    for (unsigned i = 0; i < b->program->n_inputs; i++) {
        struct lift_param *input = b->program->inputs[i];
        input->type = bind_resolve(b, input->type, input->at);
        bind_range(b, input);
        if (input->type) bind_check_input(b, input);
        if (input->type && input->range.given && !is_updated(b->program, i))
            input->type = bind_ranged(b, input->type, &input->range);
    }
}

static void bind_outputs(struct binder *b)
{
    struct lift_program *p = b->program;
    const struct lift_type *t = bind_infer(b, p->output, NULL);
    for (unsigned k = 0; t && k < p->n_outputs; k++) {
        p->outputs[k].type = p->n_outputs > 1 ? t->parts[k] : t;
        bind_check_output(b, &p->outputs[k]);
    }
}

bool lift_bind(struct lift_program *p, const struct lift_size_value *values, unsigned n, struct arena *a,
               struct diag *d)
{
    struct binder b = {.program = p, .arena = a, .diag = d};
    size_t errors = diag_count(d);
    bind_sizes(&b, values, n);
    if (diag_count(d) == errors) bind_inputs(&b);
    if (diag_count(d) == errors) bind_outputs(&b);
    if (diag_count(d) == errors) bind_list_arrays(&b);
    if (diag_count(d) == errors) bind_reads(&b);
    return diag_count(d) == errors;
}

struct lift_program *lift_parse_bound(const struct source *source, const char *sizes, struct arena *a,
                                      struct diag *d)
{
    struct lift_size_value *values = NULL;
    int n = lift_parse_sizes(sizes ? sizes : "", &values, a, d);
    struct lift_program *p = n < 0 ? NULL : lift_parse(source, a, d);
    return p && lift_bind(p, values, (unsigned)n, a, d) ? p : NULL;
}
