/* Copies of expressions and new ones (cut_tree.h). */
#include "core/lift/cut_tree.h"

#include <string.h>

#include "core/base/arena.h"

/* ---- trees ---- */

struct lift_expr *cut_clone(struct arena *a, const struct lift_expr *e)
{
    struct lift_expr *twin = arena_memdup(a, e, sizeof *e);
    twin->args = ARENA_ARRAY(a, struct lift_expr *, e->n_args + 1);
    for (unsigned i = 0; i < e->n_args; i++)
        twin->args[i] = cut_clone(a, e->args[i]);
    if (e->body) twin->body = cut_clone(a, e->body);
    if (!e->fun) return twin;
    twin->fun = arena_memdup(a, e->fun, sizeof *e->fun);
    twin->fun->params = arena_memdup(a, e->fun->params, e->fun->n_params * sizeof(struct lift_param *));
    twin->fun->body = cut_clone(a, e->fun->body);
    return twin;
}

struct lift_expr **cut_child(struct lift_expr *e, unsigned i)
{
    if (i < e->n_args) return &e->args[i];
    if (i == e->n_args) return e->body ? &e->body : NULL;
    return e->fun ? &e->fun->body : NULL;
}

bool cut_any(const struct lift_expr *e, bool (*is)(const struct lift_expr *e, const void *what),
             const void *what)
{
    bool any =
        is(e, what) || (e->body && cut_any(e->body, is, what)) || (e->fun && cut_any(e->fun->body, is, what));
    for (unsigned i = 0; !any && i < e->n_args; i++)
        any = cut_any(e->args[i], is, what);
    return any;
}

static bool is_reference(const struct lift_expr *e, const void *param)
{
    return e->kind == LIFT_PARAM_REF && e->param == param;
}

bool cut_mentions(const struct lift_expr *e, const struct lift_param *p)
{
    return cut_any(e, is_reference, p);
}

void cut_substitute(struct arena *a, struct lift_expr **slot, const struct lift_param *p,
                    const struct lift_expr *value)
{
    struct lift_expr *e = *slot;
    for (unsigned i = 0; i < CUT_CHILDREN(e); i++)
        if (cut_child(e, i)) cut_substitute(a, cut_child(e, i), p, value);
    if (e->kind == LIFT_PARAM_REF && e->param == p) *slot = cut_clone(a, value);
}

/* ---- new ones ---- */

struct lift_expr *cut_expr(struct arena *a, enum lift_kind kind, struct lift_expr *x, struct lift_expr *y)
{
    struct lift_expr *e = ARENA_NEW(a, struct lift_expr);
    *e = (struct lift_expr){.kind = kind, .n_args = x == NULL ? 0u : y == NULL ? 1u : 2u};
    e->args = ARENA_ARRAY(a, struct lift_expr *, 2);
    e->args[0] = x;
    e->args[1] = y;
    return e;
}

struct lift_expr *cut_reference(struct arena *a, struct lift_param *p)
{
    struct lift_expr *e = cut_expr(a, LIFT_PARAM_REF, NULL, NULL);
    e->param = p;
    return e;
}

struct lift_expr *cut_component(struct arena *a, struct lift_param *p, unsigned index)
{
    struct lift_expr *e = cut_expr(a, LIFT_GET, cut_reference(a, p), NULL);
    e->index = index;
    return e;
}

struct lift_expr *cut_let(struct arena *a, struct lift_param *p, struct lift_expr *value,
                          struct lift_expr *body)
{
    struct lift_expr *e = cut_expr(a, LIFT_LET, value, NULL);
    e->param = p;
    e->body = body;
    return e;
}

struct lift_expr *cut_map(struct arena *a, struct lift_param *p, struct lift_expr *body,
                          struct lift_expr *array)
{
    struct lift_expr *e = cut_expr(a, LIFT_APPLY, array, NULL);
    e->pattern = LIFT_MAP;
    e->fun = ARENA_NEW(a, struct lift_lambda);
    *e->fun = (struct lift_lambda){1, ARENA_ARRAY(a, struct lift_param *, 1), body};
    e->fun->params[0] = p;
    return e;
}

/* ---- names ---- */

static bool binds(const struct lift_expr *e, const void *name)
{
    bool any = e->kind == LIFT_LET && !strcmp(e->param->name, name);
    for (unsigned i = 0; e->fun && i < e->fun->n_params; i++)
        any = any || !strcmp(e->fun->params[i]->name, name);
    return any;
}

static bool is_taken(const struct lift_program *p, const char *name)
{
    bool taken = cut_any(p->output, binds, name);
    for (unsigned i = 0; i < p->n_arrays; i++)
        taken = taken || !strcmp(p->arrays[i].name, name);
    for (unsigned i = 0; i < p->n_inputs; i++)
        taken = taken || !strcmp(p->inputs[i]->name, name);
    for (unsigned i = 0; i < p->n_sizes; i++)
        taken = taken || !strcmp(p->sizes[i].name, name);
    return taken;
}

struct lift_param *cut_param(struct arena *a, const struct lift_program *p, const char *stem)
{
    struct lift_param *param = ARENA_NEW(a, struct lift_param);
    *param = (struct lift_param){.name = stem, .input = LIFT_NONE};
    for (unsigned k = 2; is_taken(p, param->name); k++)
        param->name = arena_printf(a, "%s_%u", stem, k);
    return param;
}
