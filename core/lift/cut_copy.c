/* A part of a program that is cut, as text: copied from the tree and printed.
 *
 *     let y = ... in map(fun c -> dot(c, y), B)      cut at y: "input y: [float]N  output map(fun c -> ...)"
 *                                                    else:     "output let y = ... in map(fun c -> ...)"
 *
 * In a copy every parameter has a name of its own again, made from the name that the text gave it, so that
 * the copies that inlining has made (fun w_7 -> ...) have one text. Inputs stand in the order in which they
 * are mentioned. */
#include <string.h>

#include "core/base/arena.h"
#include "core/base/strbuf.h"
#include "core/lift/cut_state.h"
#include "core/lift/pattern.h"
#include "core/lift/size.h"

/* ---- names ---- */

static bool name_used(const struct cut_copier *c, const char *name)
{
    const struct lift_program *p = c->whole;
    for (size_t i = 0; i < c->n_twins; i++)
        if (!strcmp(c->twins[i].to->name, name)) return true;
    for (unsigned i = 0; i < p->n_inputs; i++)
        if (!strcmp(p->inputs[i]->name, name)) return true;
    for (unsigned i = 0; i < p->n_sizes; i++)
        if (!strcmp(p->sizes[i].name, name)) return true;
    return lift_pattern_find(name) || scalar_op_find(name, (unsigned)strlen(name)) != SCALAR_OP_COUNT;
}

/* "w" of "w_7". */
static const char *stem_of(struct arena *a, const char *name)
{
    const char *end = strrchr(name, '_');
    bool numbered = end && end > name && end[1] && strspn(end + 1, "0123456789") == strlen(end + 1);
    return numbered ? arena_strndup(a, name, (size_t)(end - name)) : name;
}

static const char *free_name(const struct cut_copier *c, const char *name)
{
    const char *stem = c->nameless ? "v" : stem_of(c->arena, name), *free = stem;
    for (unsigned k = 2; name_used(c, free); k++)
        free = arena_printf(c->arena, "%s_%u", stem, k);
    return free;
}

static struct lift_param *add_twin(struct cut_copier *c, const struct lift_param *from, const char *name)
{
    struct lift_param *to = arena_memdup(c->arena, from, sizeof *from);
    to->name = name;
    c->twins = arena_grow(c->arena, c->twins, &c->cap_twins, c->n_twins + 1, sizeof *c->twins);
    c->twins[c->n_twins++] = (struct cut_twin){from, to};
    return to;
}

static struct lift_param *twin_of(const struct cut_copier *c, const struct lift_param *from)
{
    for (size_t i = c->n_twins; i-- > 0;)
        if (c->twins[i].from == from) return c->twins[i].to;
    return NULL;
}

/* ---- inputs ---- */

static struct lift_param *add_input(struct cut_copier *c, struct lift_param *p, struct cut_reading r)
{
    p->input = c->part->n_inputs;
    c->part->inputs =
        arena_grow(c->arena, c->part->inputs, &c->cap_inputs, p->input + 1, sizeof *c->part->inputs);
    c->part->inputs[c->part->n_inputs++] = p;
    c->readings = arena_grow(c->arena, c->readings, &c->cap_readings, c->n_readings + 1, sizeof *c->readings);
    c->readings[c->n_readings++] = r;
    return p;
}

static struct lift_param *read_input(struct cut_copier *c, const struct lift_param *from)
{
    struct cut_reading r = {from->input, LIFT_NONE};
    return add_input(c, add_twin(c, from, c->nameless ? free_name(c, from->name) : from->name), r);
}

/* The copy of an input, which is added where the part has not mentioned it yet. */
static struct lift_param *find_input(struct cut_copier *c, const struct lift_param *from)
{
    struct lift_param *to = twin_of(c, from);
    return to ? to : read_input(c, from);
}

/* The range of its ints, so that they still are indices. */
static struct lift_range range_of(const struct lift_type *t)
{
    while (t->kind == LIFT_ARRAY)
        t = t->element;
    bool ranged = t->kind == LIFT_SCALAR && t->ranged;
    return (struct lift_range){.given = ranged, .low = (double)t->least, .high = (double)t->most};
}

const struct lift_type *cut_stored_type(const struct cut_copier *c, const struct lift_cut *cut)
{
    struct lift_type *one = ARENA_NEW(c->arena, struct lift_type);
    if (cut->type->kind != LIFT_SCALAR) return cut->type;
    *one = (struct lift_type){.kind = LIFT_ARRAY, .element = cut->type, .extent = 1};
    one->size = lift_size_const(c->arena, 1);
    return one;
}

static struct lift_param *read_cut(struct cut_copier *c, unsigned i)
{
    const struct lift_cut *cut = &c->cuts->items[i];
    struct lift_param key = {.name = cut->name, .at = cut->at, .type = cut_stored_type(c, cut)};
    key.range = range_of(key.type);
    for (size_t k = 0; k < c->n_readings; k++)
        if (c->readings[k].cut == i) return c->part->inputs[k];
    const struct lift_param *from = arena_memdup(c->arena, &key, sizeof key);
    return add_input(c, add_twin(c, from, free_name(c, cut->name)), (struct cut_reading){LIFT_NONE, i});
}

/* ---- the copy ---- */

static struct lift_expr *copy(struct cut_copier *c, const struct lift_expr *e);

static struct lift_expr *new_expr(const struct cut_copier *c, enum lift_kind kind, struct lift_expr *arg)
{
    struct lift_expr *e = ARENA_NEW(c->arena, struct lift_expr);
    e->kind = kind;
    e->n_args = arg != NULL;
    e->args = ARENA_ARRAY(c->arena, struct lift_expr *, 1);
    e->args[0] = arg;
    return e;
}

static struct lift_expr *new_reference(const struct cut_copier *c, struct lift_param *p)
{
    struct lift_expr *e = new_expr(c, LIFT_PARAM_REF, NULL);
    e->param = p;
    return e;
}

/* The value of a cut where it is read. */
static struct lift_expr *reference_cut(struct cut_copier *c, unsigned i)
{
    struct lift_expr *e = new_reference(c, read_cut(c, i));
    if (c->cuts->items[i].type->kind != LIFT_SCALAR) return e;
    struct lift_expr *head = new_expr(c, LIFT_APPLY, e);
    head->pattern = LIFT_HEAD;
    return head;
}

/* The chosen cut of a `let`, or of a value without a name; LIFT_NONE: there is none. */
static unsigned cut_of(const struct cut_copier *c, const struct lift_param *let,
                       const struct lift_expr *value)
{
    for (unsigned i = 0; i < c->cuts->n; i++) {
        const struct lift_cut *cut = &c->cuts->items[i];
        if (c->chosen[i] && (let ? cut->let == let : !cut->let && cut->value == value)) return i;
    }
    return LIFT_NONE;
}

static unsigned let_cut(const struct cut_copier *c, const struct lift_param *let)
{
    return cut_of(c, let, NULL);
}

/* The LET of a name in an expression, or NULL. */
static const struct lift_expr *find_let(const struct lift_expr *e, const struct lift_param *param)
{
    const struct lift_expr *found = NULL;
    if (e->kind == LIFT_LET && e->param == param) return e;
    for (unsigned i = 0; !found && i < e->n_args; i++)
        found = find_let(e->args[i], param);
    if (!found && e->kind == LIFT_LET) found = find_let(e->body, param);
    if (!found && e->fun) found = find_let(e->fun->body, param);
    return found;
}

/* A `let` around the part that is not cut: it is written again around the part's value. */
static struct lift_param *read_let(struct cut_copier *c, const struct lift_param *param)
{
    struct lift_expr *value = copy(c, find_let(c->whole->output, param)->args[0]);
    struct lift_expr *let = new_expr(c, LIFT_LET, value);
    let->param = add_twin(c, param, free_name(c, param->name));
    c->lets = arena_grow(c->arena, c->lets, &c->cap_lets, c->n_lets + 1, sizeof *c->lets);
    c->lets[c->n_lets++] = let;
    return let->param;
}

static struct lift_expr *copy_reference(struct cut_copier *c, const struct lift_expr *e)
{
    unsigned cut = let_cut(c, e->param);
    if (cut != LIFT_NONE) return reference_cut(c, cut);
    if (e->param->input != LIFT_NONE) return new_reference(c, find_input(c, e->param));
    struct lift_param *to = twin_of(c, e->param);
    return new_reference(c, to ? to : read_let(c, e->param));
}

static struct lift_lambda *copy_function(struct cut_copier *c, const struct lift_lambda *fun)
{
    struct lift_lambda *f = arena_memdup(c->arena, fun, sizeof *fun);
    f->params = ARENA_ARRAY(c->arena, struct lift_param *, fun->n_params);
    for (unsigned i = 0; i < fun->n_params; i++)
        f->params[i] = add_twin(c, fun->params[i], free_name(c, fun->params[i]->name));
    f->body = copy(c, fun->body);
    return f;
}

static struct lift_expr *copy(struct cut_copier *c, const struct lift_expr *e)
{
    if (e->kind == LIFT_PARAM_REF) return copy_reference(c, e);
    if (e->kind == LIFT_LET && let_cut(c, e->param) != LIFT_NONE) return copy(c, e->body);
    unsigned cut = e == c->root ? LIFT_NONE : cut_of(c, NULL, e);
    if (cut != LIFT_NONE) return reference_cut(c, cut);
    struct lift_expr *twin = arena_memdup(c->arena, e, sizeof *e);
    twin->args = ARENA_ARRAY(c->arena, struct lift_expr *, e->n_args + 1);
    for (unsigned i = 0; i < e->n_args; i++)
        twin->args[i] = copy(c, e->args[i]);
    if (e->fun) twin->fun = copy_function(c, e->fun);
    if (e->kind != LIFT_LET) return twin;
    twin->param = add_twin(c, e->param, free_name(c, e->param->name));
    twin->body = copy(c, e->body);
    return twin;
}

/* ---- a part as a program ---- */

static void begin(struct cut_copier *c, const struct lift_expr *root, bool nameless)
{
    c->nameless = nameless;
    c->root = root;
    c->n_twins = c->n_readings = c->n_lets = c->cap_inputs = 0;
    c->part = ARENA_NEW(c->arena, struct lift_program);
    *c->part = (struct lift_program){.n_sizes = c->whole->n_sizes, .sizes = c->whole->sizes};
}

/* The value with the LETs around it that it needs. */
static struct lift_expr *close_lets(struct cut_copier *c, struct lift_expr *body)
{
    for (size_t i = c->n_lets; i-- > 0; body = c->lets[i])
        c->lets[i]->body = body;
    return body;
}

static const char *print_part(struct cut_copier *c, struct lift_expr *value)
{
    struct strbuf text = {0};
    c->part->output = close_lets(c, value);
    lift_print(c->part, &text);
    const char *out = arena_strdup(c->arena, text.text);
    strbuf_free(&text);
    return out;
}

const char *cut_text_of(struct cut_copier *c, unsigned i, bool nameless)
{
    const struct lift_cut *cut = &c->cuts->items[i];
    begin(c, cut->value, nameless);
    struct lift_expr *value = copy(c, cut->value);
    if (cut->type->kind == LIFT_SCALAR) value = new_expr(c, LIFT_MAKE_ARRAY, value);
    c->part->n_outputs = 1;
    c->part->outputs = ARENA_NEW(c->arena, struct lift_output);
    c->part->outputs[0] =
        (struct lift_output){.name = nameless ? NULL : free_name(c, cut->name), .input = LIFT_NONE};
    return print_part(c, value);
}

const char *cut_text_of_group(struct cut_copier *c, const struct cut_group *g, bool nameless)
{
    begin(c, NULL, nameless);
    struct lift_expr *value = new_expr(c, LIFT_MAKE_TUPLE, NULL);
    value->n_args = c->part->n_outputs = g->n;
    value->args = ARENA_ARRAY(c->arena, struct lift_expr *, g->n);
    c->part->outputs = ARENA_ARRAY(c->arena, struct lift_output, g->n);
    for (unsigned k = 0; k < g->n; k++) {
        struct lift_output *o = &c->part->outputs[k];
        *o = c->whole->outputs[g->outputs[k]];
        value->args[k] = copy(c, cut_output_value(c->whole, g->outputs[k]));
        if (o->input != LIFT_NONE) find_input(c, c->whole->inputs[o->input]);
        if (nameless) o->name = NULL;
    }
    return print_part(c, g->n == 1 ? value->args[0] : value);
}
