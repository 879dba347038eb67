/* The arrays of a bound program: what a kernel gets as arguments.
 *
 *     input alpha: float                      alpha                            a scalar
 *     input x: [(float, int)]N                x_0: [float]N   x_1: [int]N      one array a component
 *     input y: interleaved [(float, float)]N  y: [[float]2]N                   the components in one array
 *     output y = ...                          none of its own: y is updated in place
 *     output mean = ...                       mean: [float]M
 *
 * An output that the text gives no name is called `out`, or out_2, ... where inputs have that name. */
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/lift/bind.h"

/* ---- checks ---- */

/* The tuple at the bottom of nested arrays, or NULL. */
static const struct lift_type *bottom_tuple(const struct lift_type *t)
{
    while (t->kind == LIFT_ARRAY)
        t = t->element;
    return t->kind == LIFT_TUPLE ? t : NULL;
}

/* Whether it is an array of tuples of scalars of one type. */
static bool can_interleave(const struct lift_type *t)
{
    const struct lift_type *tuple = bottom_tuple(t);
    bool alike = tuple && t->kind == LIFT_ARRAY;
    for (unsigned i = 0; alike && i < tuple->n_parts; i++)
        alike = tuple->parts[i]->kind == LIFT_SCALAR && tuple->parts[i]->scalar == tuple->parts[0]->scalar;
    return alike;
}

static void check_layout(struct binder *b, bool interleaved, const struct lift_type *t, struct source_pos at)
{
    if (interleaved && !can_interleave(t))
        bind_report(b, at,
                    "interleaved takes an array of tuples of scalars of one type, such as [(float, float)]N, "
                    "not %s",
                    bind_type_text(b, t));
}

/* An output that is written in place has the type and the layout of its input. */
static void check_update(struct binder *b, const struct lift_output *o)
{
    const struct lift_param *in = b->program->inputs[o->input];
    if (!lift_type_same(in->type, o->type))
        bind_report(b, o->at, "output '%s' is %s, but the input '%s' that it is written to is %s", o->name,
                    bind_type_text(b, o->type), o->name, bind_type_text(b, in->type));
    else if (in->type->kind != LIFT_ARRAY)
        bind_report(b, o->at,
                    "the input '%s' is passed by value and cannot be written; declare it as an array of one "
                    "element, such as [float]1, or give the output another name",
                    o->name);
    else if (o->interleaved && !in->interleaved)
        bind_report(b, o->at, "the input '%s' is not interleaved; declare it so, or leave it out here",
                    o->name);
}

void bind_check_input(struct binder *b, const struct lift_param *input)
{
    check_layout(b, input->interleaved, input->type, input->at);
}

void bind_check_output(struct binder *b, const struct lift_output *o)
{
    if (o->written) {
        const struct lift_type *written = bind_resolve(b, o->written, o->at);
        if (written && !lift_type_same(written, o->type))
            bind_report(b, o->at, "expected %s, found %s", bind_type_text(b, written),
                        bind_type_text(b, o->type));
    }
    if (o->input != LIFT_NONE)
        check_update(b, o);
    else
        check_layout(b, o->interleaved, o->type, o->at);
}

/* ---- names ---- */

static bool name_taken(const struct lift_program *p, const char *name)
{
    for (unsigned i = 0; i < p->n_inputs; i++)
        if (!strcmp(p->inputs[i]->name, name)) return true;
    for (unsigned i = 0; i < p->n_arrays; i++)
        if (!strcmp(p->arrays[i].name, name)) return true;
    return false;
}

/* `stem`, or stem_2, ...: a name that nothing has. */
static const char *free_name(struct binder *b, const char *stem)
{
    const char *name = stem;
    for (unsigned n = 2; name_taken(b->program, name); n++)
        name = arena_printf(b->arena, "%s_%u", stem, n);
    return name;
}

static void path_of(const struct lift_type *t, unsigned leaf, struct strbuf *out)
{
    while (t->kind != LIFT_SCALAR) {
        if (t->kind == LIFT_ARRAY) {
            t = t->element;
        } else {
            unsigned part = lift_type_part(t, &leaf);
            strbuf_printf(out, "_%u", part);
            t = t->parts[part];
        }
    }
}

/* "x_0_1" of a component; `stem` itself where the array is the only one. */
static const char *array_name(struct binder *b, const char *stem, const struct lift_type *t, unsigned leaf,
                              bool own)
{
    struct strbuf text = {0};
    strbuf_add(&text, stem);
    path_of(t, leaf, &text);
    const char *name = arena_strdup(b->arena, text.text);
    strbuf_free(&text);
    return own && !strcmp(name, stem) ? stem : free_name(b, name);
}

/* ---- the arrays ---- */

/* The tuples of an interleaved array as its last dimension. */
static const struct lift_type *interleaved_type(struct binder *b, const struct lift_type *t,
                                                struct source_pos at)
{
    if (t->kind == LIFT_TUPLE)
        return bind_array_of(b, t->parts[0], lift_size_const(b->arena, t->n_parts), at);
    return bind_array_of(b, interleaved_type(b, t->element, at), t->size, at);
}

static void add_array(struct binder *b, struct lift_array array)
{
    struct lift_program *p = b->program;
    unsigned outputs = array.output != LIFT_NONE;
    for (unsigned i = 0; i < p->n_arrays; i++)
        outputs += p->arrays[i].output != LIFT_NONE;
    if (p->n_arrays == LIFT_MAX_ARRAYS)
        bind_report(b, array.at, "more than %d arrays as inputs and outputs; make tuples interleaved",
                    LIFT_MAX_ARRAYS);
    else if (outputs > LIFT_MAX_OUTPUTS)
        bind_report(b, array.at, "more than %d arrays as outputs; make tuples interleaved", LIFT_MAX_OUTPUTS);
    else
        p->arrays[p->n_arrays++] = array;
}

/* The arrays of an input or output of type t; `array` says which. stem_is_name: of a single array. */
static void add_arrays(struct binder *b, struct lift_array array, const char *stem, bool stem_is_name,
                       const struct lift_type *t, bool interleaved)
{
    unsigned n = interleaved ? 1 : lift_type_leaves(t);
    for (unsigned leaf = 0; leaf < n; leaf++) {
        array.part = leaf;
        array.name = interleaved ? stem : array_name(b, stem, t, leaf, stem_is_name);
        array.type = interleaved ? interleaved_type(b, t, array.at) : lift_type_leaf(t, leaf, b->arena);
        add_array(b, array);
    }
}

static unsigned output_of_input(const struct lift_program *p, unsigned input)
{
    unsigned k = 0;
    while (k < p->n_outputs && p->outputs[k].input != input)
        k++;
    return k < p->n_outputs ? k : LIFT_NONE;
}

void bind_list_arrays(struct binder *b)
{
    struct lift_program *p = b->program;
    p->n_arrays = 0;
    p->arrays = ARENA_ARRAY(b->arena, struct lift_array, LIFT_MAX_ARRAYS);
    for (unsigned i = 0; i < p->n_inputs; i++) {
        struct lift_param *in = p->inputs[i];
        in->first_array = p->n_arrays;
        add_arrays(b, (struct lift_array){.at = in->at, .input = i, .output = output_of_input(p, i)},
                   in->name, true, in->type, in->interleaved);
    }
    for (unsigned k = 0; k < p->n_outputs; k++) {
        const struct lift_output *o = &p->outputs[k];
        if (o->input != LIFT_NONE) continue;
        const char *stem = o->name ? o->name : "out";
        if (o->interleaved) stem = free_name(b, stem);
        add_arrays(b, (struct lift_array){.at = o->at, .input = LIFT_NONE, .output = k}, stem, false, o->type,
                   o->interleaved);
    }
}
