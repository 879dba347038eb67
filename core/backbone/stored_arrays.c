/* Which arrays of a program may be worth staging (stored.h), before anything is known of their readers: those
 * that a `let` names, and those without a name that a pattern reads, if their elements are computed:
 *
 *     output map(fun row -> map(fun c -> dot(row, c), transpose(C)), map(f, A))      map(f, A)
 *     output iterate(3, step, x)                           step(x) and step(step(x))
 *
 * An array that only rearranges another one is none: that other one is. */
#include "core/backbone/stored.h"

#include "core/base/arena.h"
#include "core/lift/lift.h"

/* ---- expressions ---- */

/* A `let` around an expression. */
struct bound {
    const struct bound *next;
    const struct lift_expr *let;
};

static bool computes(const struct lift_expr *e, const struct bound *around);

static bool some_arg_computes(const struct lift_expr *e, const struct bound *around)
{
    bool any = false;
    for (unsigned i = e->pattern == LIFT_AT ? 1 : 0; i < e->n_args; i++)
        any = any || computes(e->args[i], around);
    return any;
}

/* Whether the scalars of a value are computed; those of a parameter of a function are not. */
static bool computes(const struct lift_expr *e, const struct bound *around)
{
    const struct bound own = {around, e};
    switch (e->kind) {
    case LIFT_OP:
        return true;
    case LIFT_LITERAL:
        return false;
    case LIFT_PARAM_REF:
        while (around && around->let->param != e->param)
            around = around->next;
        return around && computes(around->let->args[0], around->next);
    case LIFT_LET:
        return computes(e->body, &own);
    case LIFT_APPLY:
        if (e->pattern == LIFT_REDUCE || (e->pattern == LIFT_MAP && computes(e->fun->body, around)))
            return true;
        break;
    case LIFT_MAKE_TUPLE:
    case LIFT_MAKE_ARRAY:
    case LIFT_GET:
        break;
    }
    return some_arg_computes(e, around);
}

static bool has_reals(const struct lift_type *t)
{
    bool any = t->kind == LIFT_SCALAR && t->scalar != SCALAR_INT && t->scalar != SCALAR_BOOL;
    if (t->kind == LIFT_ARRAY) return has_reals(t->element);
    for (unsigned i = 0; t->kind == LIFT_TUPLE && i < t->n_parts; i++)
        any = any || has_reals(t->parts[i]);
    return any;
}

/* Whether a reduction reads each element once, and each of its results is one of other elements: nothing
 * shares them. So dot(row, column) reads its products. */
static bool is_read_once(const struct lift_expr *reader, const struct lift_expr *array)
{
    if (reader->kind != LIFT_APPLY || reader->pattern != LIFT_REDUCE) return false;
    return lift_type_parts(array->type->element) > 0 && !array->repeated && array->n_reads != LIFT_NONE &&
           !reader->fun->params[1]->again;
}

/* ---- arrays ---- */

struct finder {
    struct arena *arena;
    const struct lift_expr *outputs;
    bool named;
    struct stored_arrays *arrays;
};

static void add_array(struct finder *f, const struct lift_expr *value, const struct lift_param *let)
{
    struct stored_arrays *to = f->arrays;
    if (value->type->kind != LIFT_ARRAY || !has_reals(value->type) || stored_find(to, value)) return;
    to->items = arena_grow(f->arena, to->items, &to->cap, to->n + 1, sizeof *to->items);
    to->items[to->n++] = (struct stored_array){value, let};
}

/* Adds what the reader reads, if it computes its elements and has no name. */
static void add_unnamed(struct finder *f, const struct lift_expr *value, const struct lift_expr *reader)
{
    const struct lift_expr *e = value;
    while (e->kind == LIFT_LET)
        e = e->body;
    bool map = e->kind == LIFT_APPLY && e->pattern == LIFT_MAP && computes(e->fun->body, NULL);
    bool reduce = e->kind == LIFT_APPLY && e->pattern == LIFT_REDUCE;
    if ((map || reduce) && value->type->kind == LIFT_ARRAY && !is_read_once(reader, e))
        add_array(f, value, NULL);
}

static void walk(struct finder *f, const struct lift_expr *e)
{
    bool reads = e->kind == LIFT_APPLY || e->kind == LIFT_MAKE_ARRAY ||
                 (e->kind == LIFT_MAKE_TUPLE && e != f->outputs);
    for (unsigned i = 0; i < e->n_args; i++) {
        walk(f, e->args[i]);
        if (reads && !f->named) add_unnamed(f, e->args[i], e);
    }
    if (e->kind == LIFT_LET && f->named) add_array(f, e->args[0], e->param);
    if (e->kind == LIFT_LET) walk(f, e->body);
    if (e->kind == LIFT_APPLY && e->fun) walk(f, e->fun->body);
}

void stored_add_arrays(struct stored_arrays *to, const struct lift_program *p, bool named, struct arena *a)
{
    struct finder f = {a, p->output, named, to};
    while (f.outputs->kind == LIFT_LET)
        f.outputs = f.outputs->body;
    walk(&f, p->output);
}
