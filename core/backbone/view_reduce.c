/* Views of reductions and scans. What a STEP keeps are scalars, so an accumulator with arrays in it is many
 * reductions: one for each index of the arrays that is asked for.
 *
 *     reduce(fun acc row -> map(fun (a, x) -> a + x, zip(acc, row)), z, A)
 *
 *     element q     s = z[q];  for k: s = s + A[k][q]
 *
 * That holds if element q of the function's result reads no element of the accumulator but q. Of a tuple, all
 * leaves of the dimensions of what is asked for are scalars of one reduction; one with fewer dimensions,
 * which are the first ones of q, is added once the function reads it:
 *
 *     reduce(fun ((m, o), (k, v)) -> ..., (m0, o0), zip(K, V))      o[q] reads o[q] and m */
#include "core/backbone/view.h"

#include <string.h>

#include "core/base/arena.h"
#include "core/base/panic.h"

static const struct view *scalar(struct viewer *w, const struct tree *t)
{
    struct view *v = ARENA_NEW(w->arena, struct view);
    *v = (struct view){.kind = VIEW_SCALAR, .tree = t};
    return v;
}

/* ---- which scalars ---- */

/* Whether the dimensions of leaf x are the first ones of leaf y; *same: all of them. */
static bool leads(struct viewer *w, const struct lift_type *t, unsigned x, unsigned y, bool *same)
{
    const struct lift_type *a = lift_type_leaf(t, x, w->arena), *b = lift_type_leaf(t, y, w->arena);
    for (; a->kind == LIFT_ARRAY && b->kind == LIFT_ARRAY && a->extent == b->extent; a = a->element)
        b = b->element;
    *same = a->kind == LIFT_SCALAR && b->kind == LIFT_SCALAR;
    return a->kind == LIFT_SCALAR;
}

/* The number of a leaf among the scalars of a reduction; n_parts: it is none of them. */
static unsigned part_of(const struct reduction *r, unsigned leaf)
{
    unsigned part = 0;
    while (part < r->n_parts && r->leaves[part] != leaf)
        part++;
    return part;
}

static bool same_element(const struct reduction *r, const struct reduced *p)
{
    bool same = true;
    for (unsigned i = 0; same && i < p->n_at; i++)
        same = i < r->n_element && !index_compare(r->element[i], p->at[i]);
    return same;
}

static const struct view *reduced_value(struct viewer *w, struct reduced p);

/* ---- results ---- */

static struct reduction *new_item(struct viewer *w, struct reductions *all, const struct reduced *p)
{
    struct reduction *r = arena_memdup(w->arena, &all->each, sizeof *r);
    unsigned n_leaves = lift_type_leaves(r->type);
    r->n_element = p->n_at;
    r->element = p->at;
    for (unsigned leaf = 0; leaf < n_leaves; leaf++) {
        bool same;
        leads(w, r->type, leaf, p->leaf, &same);
        if (same && r->n_parts == BB_MAX_PARTS) return NULL;
        if (same) r->leaves[r->n_parts++] = leaf;
    }
    all->items = arena_grow(w->arena, all->items, &all->cap, all->n + 1, sizeof(struct reduction *));
    return all->items[all->n++] = r;
}

/* The reduction that gives a scalar of the result; NULL: it would have too many. */
static struct reduction *find_item(struct viewer *w, const struct reduced *p)
{
    struct reductions *all = p->result;
    for (size_t i = 0; i < all->n; i++) {
        struct reduction *r = all->items[i];
        if (r->n_element == p->n_at && same_element(r, p) && part_of(r, p->leaf) < r->n_parts) return r;
    }
    return new_item(w, all, p);
}

static const struct view *result_scalar(struct viewer *w, const struct reduced *p)
{
    struct reduction *r = find_item(w, p);
    if (!r)
        return view_stuck(
            w, p->result->each.expr,
            "a reduction to more than 8 scalars, or arrays of one size; write several reductions");
    struct tree *t = ARENA_NEW(w->arena, struct tree);
    *t = (struct tree){
        .kind = TREE_REDUCE, .type = p->type->scalar, .reduction = r, .part = part_of(r, p->leaf)};
    return scalar(w, t);
}

/* ---- accumulators ---- */

/* The number of a leaf that the function of r reads at the indices of p; BB_MAX_PARTS: it is none of r. */
static unsigned read_part(struct viewer *w, struct reduction *r, const struct reduced *p)
{
    bool same;
    unsigned part = part_of(r, p->leaf);
    if (!same_element(r, p)) return BB_MAX_PARTS;
    if (part < r->n_parts) return part;
    if (r->n_parts == BB_MAX_PARTS || !leads(w, r->type, p->leaf, r->leaves[0], &same)) return BB_MAX_PARTS;
    r->leaves[r->n_parts] = p->leaf;
    return r->n_parts++;
}

static const struct view *accumulator_scalar(struct viewer *w, const struct reduced *p)
{
    struct reduction *r = p->of;
    unsigned part = read_part(w, r, p);
    if (part == BB_MAX_PARTS)
        return view_stuck(
            w, r->expr,
            "a reduction with an array as accumulator whose elements read one another; element i "
            "of the function's result may read element i of the accumulator alone, as in "
            "map(f, zip(accumulator, x))");
    if (!r->acc[part]) {
        struct tree *t = ARENA_NEW(w->arena, struct tree);
        *t = (struct tree){.kind = TREE_ACC, .type = p->type->scalar, .reduction = r, .part = part};
        r->acc[part] = t;
    }
    return scalar(w, r->acc[part]);
}

/* ---- values ---- */

static const struct view *reduced_tuple(struct viewer *w, const struct reduced *p)
{
    struct view *v = ARENA_NEW(w->arena, struct view);
    const struct view **parts = arena_alloc(w->arena, p->type->n_parts * sizeof *parts);
    struct reduced part = *p;
    for (unsigned i = 0; i < p->type->n_parts; i++) {
        part.type = p->type->parts[i];
        parts[i] = reduced_value(w, part);
        part.leaf += lift_type_leaves(part.type);
    }
    *v = (struct view){.kind = VIEW_TUPLE, .parts = parts, .n_parts = p->type->n_parts};
    return v;
}

static const struct view *reduced_value(struct viewer *w, struct reduced p)
{
    if (p.type->kind == LIFT_SCALAR) return p.result ? result_scalar(w, &p) : accumulator_scalar(w, &p);
    if (p.type->kind == LIFT_TUPLE) return reduced_tuple(w, &p);
    struct view *v = ARENA_NEW(w->arena, struct view);
    *v = (struct view){.kind = VIEW_REDUCED, .reduced = p};
    return v;
}

const struct view *view_reduced_element(struct viewer *w, const struct view *v, const struct index_expr *i)
{
    struct reduced p = v->reduced;
    const struct index_expr **at = arena_alloc(w->arena, (p.n_at + 1) * sizeof *at);
    if (p.n_at) memcpy(at, p.at, p.n_at * sizeof *at);
    at[p.n_at++] = i;
    p.at = at;
    p.type = p.type->element;
    return reduced_value(w, p);
}

const struct view *view_accumulator(struct viewer *w, struct reduction *r)
{
    return reduced_value(w, (struct reduced){.of = r, .type = r->type});
}

const struct view *view_result(struct viewer *w, const struct reduction *r)
{
    struct reductions *all = ARENA_NEW(w->arena, struct reductions);
    all->each = *r;
    return reduced_value(w, (struct reduced){.result = all, .type = r->type});
}

const struct tree *view_reduction_part(struct viewer *w, const struct reduction *r, const struct view *v,
                                       unsigned part)
{
    unsigned leaf = r->leaves[part], depth = 0;
    const struct lift_type *t = r->type;
    while (t->kind != LIFT_SCALAR && v->kind != VIEW_NOTHING) {
        if (t->kind == LIFT_ARRAY) {
            v = view_get(w, v, r->element[depth++]);
            t = t->element;
        } else {
            unsigned i = lift_type_part(t, &leaf);
            v = view_component(v, i);
            t = t->parts[i];
        }
    }
    CHECK(v->kind == VIEW_SCALAR || v->kind == VIEW_NOTHING);
    return v->tree;
}

/* ---- patterns ---- */

const struct view *view_reduction_body(struct viewer *w, const struct reduction *r,
                                       const struct view *accumulator, const struct index_expr *i)
{
    const struct lift_lambda *f = r->expr->fun;
    const struct view_env *env = view_bind(w, r->env, f->params[0], accumulator, NULL);
    env = view_bind(w, env, f->params[1], view_get(w, r->array, i), i);
    return view_eval(w, f->body, env);
}

static struct reduction *new_reduction(struct viewer *w, const struct lift_expr *e,
                                       const struct lift_type *type, const struct view_env *env)
{
    struct reduction *r = ARENA_NEW(w->arena, struct reduction);
    *r = (struct reduction){.expr = e,
                            .type = type,
                            .init = view_eval(w, e->args[0], env),
                            .array = view_eval_stored(w, e->args[1], env),
                            .env = env,
                            .step = BB_NONE};
    return r;
}

/* A reduction of one element is its function, applied once. */
const struct view *view_eval_reduce(struct viewer *w, const struct lift_expr *e, const struct view_env *env)
{
    struct reduction *r = new_reduction(w, e, e->type, env);
    if (e->args[1]->type->extent == 1) return view_reduction_body(w, r, r->init, index_constant(w->arena, 0));
    return view_result(w, r);
}

const struct view *view_eval_scan(struct viewer *w, const struct lift_expr *e, const struct view_env *env)
{
    struct view *v = ARENA_NEW(w->arena, struct view);
    *v = (struct view){.kind = VIEW_SCAN,
                       .expr = e,
                       .env = env,
                       .reduction = new_reduction(w, e, e->type->element, env),
                       .memo = ARENA_NEW(w->arena, struct view_memo)};
    return v;
}
