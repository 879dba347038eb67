/* Symbolic evaluation: view_eval() goes over the expression once for each place it is used from, view_get()
 * consumes the views from the outside in. The program is bound and type-checked, so a value of the wrong kind
 * is a bug of ours. */
#include "core/backbone/view.h"

#include "core/backbone/backbone.h"
#include "core/base/arena.h"
#include "core/base/panic.h"

static struct view *new_view(struct viewer *w, enum view_kind kind)
{
    struct view *v = ARENA_NEW(w->arena, struct view);
    v->kind = kind;
    return v;
}

static const struct view *view_scalar(struct viewer *w, const struct tree *t)
{
    struct view *v = new_view(w, VIEW_SCALAR);
    v->tree = t;
    return v;
}

static const struct view *view_tuple(struct viewer *w, const struct view **parts, unsigned n)
{
    struct view *v = new_view(w, VIEW_TUPLE);
    v->parts = parts;
    v->n_parts = n;
    return v;
}

static const struct view *nothing(struct viewer *w)
{
    struct tree *t = ARENA_NEW(w->arena, struct tree);
    struct view *v = new_view(w, VIEW_NOTHING);
    *t = (struct tree){.kind = TREE_CONST, .type = SCALAR_FLOAT};
    v->tree = t;
    return v;
}

/* Counts a step; false: no step is left. */
static bool step(struct viewer *w)
{
    if (!w->left) return false;
    w->left--;
    return true;
}

/* ---- parameters ---- */

const struct view_env *view_bind(struct viewer *w, const struct view_env *env, const struct lift_param *p,
                                 const struct view *value, const struct index_expr *at)
{
    struct view_env *e = ARENA_NEW(w->arena, struct view_env);
    const struct view **cell = arena_alloc(w->arena, sizeof *cell);
    *cell = value;
    *e = (struct view_env){.param = p, .value = cell, .at = at, .next = env};
    return e;
}

static const struct view_env *bind_lazy(struct viewer *w, const struct view_env *env,
                                        const struct lift_expr *let)
{
    struct view_env *e = ARENA_NEW(w->arena, struct view_env);
    *e = (struct view_env){.param = let->param,
                           .value = arena_alloc(w->arena, sizeof *e->value),
                           .lazy = let->args[0],
                           .next = env};
    return e;
}

static const struct view *lookup(struct viewer *w, const struct view_env *env, const struct lift_param *p)
{
    while (env && env->param != p)
        env = env->next;
    CHECK(env);
    if (!*env->value) *env->value = view_eval_stored(w, env->lazy, env->next);
    return *env->value;
}

/* ---- elements ---- */

const struct view *view_component(const struct view *tuple, unsigned index)
{
    if (tuple->kind == VIEW_NOTHING) return tuple;
    CHECK(tuple->kind == VIEW_TUPLE && index < tuple->n_parts);
    return tuple->parts[index];
}

static const struct view *zip_element(struct viewer *w, const struct view *v, const struct index_expr *i)
{
    const struct view **parts = arena_alloc(w->arena, v->n_parts * sizeof *parts);
    for (unsigned p = 0; p < v->n_parts; p++)
        parts[p] = view_get(w, v->parts[p], i);
    return view_tuple(w, parts, v->n_parts);
}

static const struct view *column(struct viewer *w, const struct view *of, const struct index_expr *i)
{
    struct view *v = new_view(w, VIEW_COLUMN);
    v->of = of;
    v->offset = i;
    return v;
}

/* slide: whose windows overlap, if it is one of them; else NULL. */
static const struct view *slice(struct viewer *w, const struct view *of, const struct index_expr *offset,
                                const struct lift_expr *slide)
{
    struct view *v = new_view(w, VIEW_SLICE);
    v->of = of;
    v->offset = offset;
    v->expr = slide;
    return v;
}

static const struct view *join_element(struct viewer *w, const struct view *v, const struct index_expr *i)
{
    const struct view *outer = view_get(w, v->of, index_div(w->arena, i, v->length));
    return view_get(w, outer, index_mod(w->arena, i, v->length));
}

static const struct view *map_element(struct viewer *w, const struct view *v, const struct index_expr *i)
{
    struct view_memo *memo = v->memo;
    if (memo->index && !index_compare(memo->index, i)) return memo->value;
    const struct view_env *env = view_bind(w, v->env, v->fun->params[0], view_get(w, v->of, i), i);
    const struct view *value = view_eval(w, v->fun->body, env);
    *memo = (struct view_memo){.index = i, .value = value};
    return value;
}

const struct view *view_get(struct viewer *w, const struct view *v, const struct index_expr *i)
{
    if (!step(w)) return nothing(w);
    switch (v->kind) {
    case VIEW_NOTHING:
        return v;
    case VIEW_INPUT:
        return view_place_value(w, view_place_element(w->arena, v->place, i));
    case VIEW_MAP:
        return map_element(w, v, i);
    case VIEW_ZIP:
        return zip_element(w, v, i);
    case VIEW_COMPONENT:
        return view_component(view_get(w, v->of, i), v->index);
    case VIEW_TRANSPOSE:
        return column(w, v->of, i);
    case VIEW_COLUMN:
        return view_get(w, view_get(w, v->of, i), v->offset);
    case VIEW_SPLIT:
        return slice(w, v->of, index_scale(w->arena, i, v->length), v->expr);
    case VIEW_SLICE:
        if (v->expr) i = view_spot(w, v->expr, i);
        return view_get(w, v->of, index_add(w->arena, v->offset, i));
    case VIEW_JOIN:
        return join_element(w, v, i);
    case VIEW_STORED:
        return view_stored_element(w, v, i);
    case VIEW_SCALAR:
    case VIEW_TUPLE:
        break;
    default:
        return view_get_by_index(w, v, i);
    }
    PANIC("an element of a value that is no array (view kind %d)", (int)v->kind);
}

/* The array that decides on the indices of maps, zips and components of it. */
const struct view *view_walked(const struct view *v)
{
    while (v->kind == VIEW_MAP || v->kind == VIEW_COMPONENT || v->kind == VIEW_ZIP || v->kind == VIEW_STORED)
        v = v->kind == VIEW_ZIP ? v->parts[0] : v->of;
    return v;
}

const struct view *view_joined(const struct view *v)
{
    const struct view *join = view_walked(v);
    if (join->kind != VIEW_JOIN) return NULL;
    const struct view *of = view_walked(join->of);
    return of->kind == VIEW_SPLIT && of->length == join->length ? NULL : join;
}

/* ---- expressions ---- */

static const struct view **eval_args(struct viewer *w, const struct lift_expr *e, const struct view_env *env)
{
    const struct view **args = arena_alloc(w->arena, (e->n_args + 1) * sizeof *args);
    for (unsigned i = 0; i < e->n_args; i++)
        args[i] = view_eval_stored(w, e->args[i], env);
    return args;
}

static const struct tree *scalar_of(const struct view *v)
{
    CHECK(v->kind == VIEW_SCALAR || v->kind == VIEW_NOTHING);
    return v->tree;
}

/* if c then yes else no, of scalars or the components of tuples. */
static const struct view *select_view(struct viewer *w, const struct lift_type *type, const struct tree *c,
                                      const struct view *yes, const struct view *no)
{
    if (type->kind == LIFT_SCALAR) {
        struct tree *t = ARENA_NEW(w->arena, struct tree);
        *t = (struct tree){.kind = TREE_OP,
                           .type = type->scalar,
                           .op = SCALAR_SELECT,
                           .args = {c, scalar_of(yes), scalar_of(no)}};
        return view_scalar(w, t);
    }
    const struct view **parts = arena_alloc(w->arena, type->n_parts * sizeof *parts);
    for (unsigned i = 0; i < type->n_parts; i++)
        parts[i] = select_view(w, type->parts[i], c, view_component(yes, i), view_component(no, i));
    return view_tuple(w, parts, type->n_parts);
}

static const struct view *eval_op(struct viewer *w, const struct lift_expr *e, const struct view_env *env)
{
    if (e->op == SCALAR_SELECT) {
        const struct tree *c = scalar_of(view_eval(w, e->args[0], env));
        const struct view *yes = view_eval(w, e->args[1], env), *no = view_eval(w, e->args[2], env);
        return select_view(w, e->type, c, yes, no);
    }
    struct tree *t = ARENA_NEW(w->arena, struct tree);
    *t = (struct tree){.kind = TREE_OP, .type = e->type->scalar, .op = e->op};
    CHECK(e->n_args == scalar_op_arity(e->op));
    for (unsigned i = 0; i < e->n_args; i++)
        t->args[i] = scalar_of(view_eval(w, e->args[i], env));
    return view_scalar(w, t);
}

static const struct view *eval_literal(struct viewer *w, const struct lift_expr *e)
{
    struct tree *t = ARENA_NEW(w->arena, struct tree);
    *t = (struct tree){.kind = TREE_CONST, .type = e->type->scalar, .value = e->value};
    return view_scalar(w, t);
}

/* ---- patterns ---- */

/* Several arrays, or all elements of one. */
static const struct view *eval_all(struct viewer *w, enum view_kind kind, const struct lift_expr *e,
                                   const struct view_env *env)
{
    struct view *v = new_view(w, kind);
    v->parts = eval_args(w, e, env);
    v->n_parts = e->n_args;
    v->expr = e;
    return v;
}

static const struct view *eval_pad(struct viewer *w, const struct lift_expr *e, const struct view_env *env)
{
    struct view *v = new_view(w, VIEW_PAD);
    v->expr = e;
    v->of = view_eval_stored(w, e->args[e->n_args - 1], env);
    v->tree = e->n_args > 1 ? scalar_of(view_eval(w, e->args[0], env)) : NULL;
    return v;
}

static const struct view *eval_unzip(struct viewer *w, const struct lift_expr *e, const struct view_env *env)
{
    const struct view *of = view_eval_stored(w, e->args[0], env);
    const struct view **parts = arena_alloc(w->arena, (e->type->n_parts + 1) * sizeof *parts);
    for (unsigned i = 0; i < e->type->n_parts; i++) {
        struct view *v = new_view(w, VIEW_COMPONENT);
        v->of = of;
        v->index = i;
        parts[i] = of->kind == VIEW_ZIP ? of->parts[i] : v;
    }
    return view_tuple(w, parts, e->type->n_parts);
}

/* Patterns of one array whose view is the array and at most a function or a length. */
static const struct view *wrap(struct viewer *w, enum view_kind kind, const struct lift_expr *e,
                               const struct view_env *env, int64_t length)
{
    struct view *v = new_view(w, kind);
    v->of = view_eval_stored(w, e->args[0], env);
    v->fun = e->fun;
    v->env = env;
    v->type = e->args[0]->type;
    v->length = length;
    v->expr = e->pattern == LIFT_SLIDE && e->second < e->amount ? e : NULL;
    if (kind == VIEW_MAP) v->memo = ARENA_NEW(w->arena, struct view_memo);
    return v;
}

static const struct view *eval_scatter(struct viewer *w, const struct lift_expr *e,
                                       const struct view_env *env)
{
    struct view *v = new_view(w, VIEW_SCATTER);
    v->of = view_eval_stored(w, e->args[0], env);
    v->expr = e;
    v->fun = e->fun;
    v->env = env;
    v->pair = ARENA_NEW(w->arena, struct view_places);
    return v;
}

static const struct view *eval_apply(struct viewer *w, const struct lift_expr *e, const struct view_env *env)
{
    switch (e->pattern) {
    case LIFT_MAP:
        return wrap(w, VIEW_MAP, e, env, 0);
    case LIFT_REDUCE:
        return view_eval_reduce(w, e, env);
    case LIFT_ZIP:
        return eval_all(w, VIEW_ZIP, e, env);
    case LIFT_UNZIP:
        return eval_unzip(w, e, env);
    case LIFT_TRANSPOSE:
        return wrap(w, VIEW_TRANSPOSE, e, env, 0);
    case LIFT_SPLIT:
        return wrap(w, VIEW_SPLIT, e, env, e->amount);
    case LIFT_JOIN:
        return wrap(w, VIEW_JOIN, e, env, e->args[0]->type->element->extent);
    case LIFT_HEAD:
        return view_get(w, view_eval_stored(w, e->args[0], env), index_constant(w->arena, 0));
    case LIFT_TAIL:
        return slice(w, view_eval_stored(w, e->args[0], env), index_constant(w->arena, 1), NULL);
    case LIFT_ID:
        return view_eval_stored(w, e->args[0], env);
    case LIFT_AT:
        return view_eval_at(w, e, env);
    case LIFT_REVERSE:
        return wrap(w, VIEW_REVERSE, e, env, e->type->extent);
    case LIFT_CONCAT:
        return eval_all(w, VIEW_CONCAT, e, env);
    case LIFT_SLIDE:
        return wrap(w, VIEW_SPLIT, e, env, e->second);
    case LIFT_PAD:
    case LIFT_PAD_CONSTANT:
        return eval_pad(w, e, env);
    case LIFT_IOTA:
    case LIFT_INDICES:
        return new_view(w, VIEW_IOTA);
    case LIFT_SCAN:
        return view_eval_scan(w, e, env);
    case LIFT_SCATTER:
        return eval_scatter(w, e, env);
    case LIFT_ITERATE:
    case LIFT_PATTERN_COUNT:
        break;
    }
    PANIC("no such pattern (%d)", (int)e->pattern);
}

const struct view *view_eval(struct viewer *w, const struct lift_expr *e, const struct view_env *env)
{
    if (!step(w)) return nothing(w);
    switch (e->kind) {
    case LIFT_PARAM_REF:
        return lookup(w, env, e->param);
    case LIFT_LITERAL:
        return eval_literal(w, e);
    case LIFT_OP:
        return eval_op(w, e, env);
    case LIFT_MAKE_TUPLE:
        return view_tuple(w, eval_args(w, e, env), e->n_args);
    case LIFT_MAKE_ARRAY:
        return eval_all(w, VIEW_LIST, e, env);
    case LIFT_GET:
        return view_component(view_eval(w, e->args[0], env), e->index);
    case LIFT_LET:
        return view_eval(w, e->body, bind_lazy(w, env, e));
    case LIFT_APPLY:
        return eval_apply(w, e, env);
    }
    PANIC("no such expression (%d)", (int)e->kind);
}
