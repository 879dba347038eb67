/* The normalized text of a program: everything inlined, every function a `fun`, every name unique. It parses
 * back to the same program.
 *
 *     output sum(x)  ->  output reduce(fun x_2 x_3 -> add(x_2, x_3), 0.0, x) */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/hash.h"
#include "core/base/panic.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"
#include "core/lift/pattern.h"
#include "core/lift/size.h"

static void print_expr(const struct lift_expr *e, struct strbuf *out);

void lift_print_type(const struct lift_type *t, struct strbuf *out)
{
    if (t->kind == LIFT_SCALAR) {
        strbuf_add(out, scalar_type_name(t->scalar));
    } else if (t->kind == LIFT_ARRAY) {
        strbuf_add(out, "[");
        lift_print_type(t->element, out);
        strbuf_add(out, "]");
        if (t->size)
            lift_size_print(t->size, out);
        else
            strbuf_printf(out, "%" PRId64, t->extent);
    } else {
        for (unsigned i = 0; i < t->n_parts; i++) {
            strbuf_add(out, i ? ", " : "(");
            lift_print_type(t->parts[i], out);
        }
        strbuf_add(out, ")");
    }
}

void lift_print_number(double value, struct strbuf *out)
{
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    strbuf_add(out, text);
    bool whole = true;
    for (const char *c = text; *c; c++)
        whole = whole && *c != '.' && *c != 'e';
    if (whole) strbuf_add(out, ".0");
}

static void print_lambda(const struct lift_lambda *fun, struct strbuf *out)
{
    strbuf_add(out, "fun ");
    for (unsigned i = 0; i < fun->n_params; i++)
        strbuf_printf(out, "%s ", fun->params[i]->name);
    strbuf_add(out, "-> ");
    print_expr(fun->body, out);
}

/* The arguments after `separator`, and what closes them. */
static void print_list(const struct lift_expr *e, const char *separator, const char *end, struct strbuf *out)
{
    for (unsigned i = 0; i < e->n_args; i++) {
        strbuf_add(out, separator);
        print_expr(e->args[i], out);
        separator = ", ";
    }
    strbuf_add(out, end);
}

static void print_args(const struct lift_expr *e, const char *separator, struct strbuf *out)
{
    print_list(e, separator, ")", out);
}

static void print_apply(const struct lift_expr *e, struct strbuf *out)
{
    const struct pattern_info *info = lift_pattern_info(e->pattern);
    strbuf_printf(out, "%s(", info->name);
    if (info->lead == LEAD_FUNCTION) print_lambda(e->fun, out);
    if (e->amount_size) lift_size_print(e->amount_size, out);
    if (e->second_size) strbuf_add(out, ", "), lift_size_print(e->second_size, out);
    if (info->lead == LEAD_BORDER) strbuf_printf(out, ", %s", lift_border_name(e->border));
    print_args(e, info->lead == LEAD_NONE ? "" : ", ", out);
}

static void print_ascription(const struct lift_expr *e, struct strbuf *out)
{
    strbuf_add(out, "(");
    print_expr(e->args[0], out);
    strbuf_add(out, " : ");
    lift_print_type(e->type, out);
    strbuf_add(out, ")");
}

static void print_let(const struct lift_expr *e, struct strbuf *out)
{
    strbuf_printf(out, "let %s = ", e->param->name);
    print_expr(e->args[0], out);
    strbuf_add(out, " in ");
    print_expr(e->body, out);
}

static void print_expr(const struct lift_expr *e, struct strbuf *out)
{
    switch (e->kind) {
    case LIFT_PARAM_REF:
        strbuf_add(out, e->param->name);
        return;
    case LIFT_LITERAL:
        if (e->truth)
            strbuf_add(out, e->value != 0 ? "true" : "false");
        else if (e->amount_size)
            lift_size_print(e->amount_size, out);
        else if (e->extreme)
            strbuf_add(out, e->extreme > 0 ? "highest" : "lowest");
        else
            lift_print_number(e->value, out);
        return;
    case LIFT_OP:
        strbuf_add(out, scalar_op_name(e->op));
        print_args(e, "(", out);
        return;
    case LIFT_MAKE_TUPLE:
        print_args(e, "(", out);
        return;
    case LIFT_MAKE_ARRAY:
        print_list(e, "[", "]", out);
        return;
    case LIFT_GET:
        strbuf_printf(out, "get(%u", e->index);
        print_args(e, ", ", out);
        return;
    case LIFT_LET:
        print_let(e, out);
        return;
    case LIFT_APPLY:
        if (lift_is_ascription(e))
            print_ascription(e, out);
        else
            print_apply(e, out);
        return;
    }
    PANIC("expression kind %d", (int)e->kind);
}

/* "output ", "output C = ", "output y: interleaved [(float, float)]N = ". */
static void print_output(const struct lift_output *o, const struct lift_expr *e, struct strbuf *out)
{
    strbuf_printf(out, "output %s", o->name ? o->name : "");
    if (o->written) {
        strbuf_printf(out, ": %s", o->interleaved ? "interleaved " : "");
        lift_print_type(o->written, out);
    }
    strbuf_add(out, o->name ? " = " : "");
    print_expr(e, out);
    strbuf_add(out, "\n");
}

/* The LETs around several outputs are declarations: the outputs share what they name. */
static void print_outputs(const struct lift_program *p, struct strbuf *out)
{
    const struct lift_expr *e = p->output;
    for (; p->n_outputs > 1 && e->kind == LIFT_LET; e = e->body) {
        strbuf_printf(out, "let %s = ", e->param->name);
        print_expr(e->args[0], out);
        strbuf_add(out, "\n");
    }
    for (unsigned k = 0; k < p->n_outputs; k++)
        print_output(&p->outputs[k], p->n_outputs > 1 ? e->args[k] : e, out);
}

void lift_print(const struct lift_program *p, struct strbuf *out)
{
    for (unsigned i = 0; i < p->n_sizes; i++)
        strbuf_printf(out, "%s%s", i ? ", " : "size ", p->sizes[i].name);
    if (p->n_sizes) strbuf_add(out, "\n");
    for (unsigned i = 0; i < p->n_inputs; i++) {
        strbuf_printf(out, "input %s: %s", p->inputs[i]->name,
                      p->inputs[i]->interleaved ? "interleaved " : "");
        lift_print_type(p->inputs[i]->type, out);
        lift_range_print(&p->inputs[i]->range, out);
        strbuf_add(out, "\n");
    }
    print_outputs(p, out);
}

uint64_t lift_fingerprint(const struct lift_program *p)
{
    struct strbuf text = {0};
    lift_print(p, &text);
    uint64_t h = hash_string(HASH_START, text.text);
    strbuf_free(&text);
    for (unsigned i = 0; i < p->n_sizes; i++)
        h = hash_bytes(h, &p->sizes[i].value, sizeof p->sizes[i].value);
    return hash_finish(h);
}
