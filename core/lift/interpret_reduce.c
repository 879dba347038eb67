/* Reductions whose accumulator has arrays in it, by the interpreter.
 *
 *     reduce(fun acc row -> map(fun (a, x) -> a + x, zip(acc, row)), z, A)
 *
 * A scalar of the result is asked for at an index of the arrays, and computed from the scalars of the
 * accumulator at this index, its *cell*: element q starts from z[q] and takes A[k][q] in step k. Of a tuple,
 * leaves that the function reads at the leading indices of q join the cell, and the steps begin again. Once
 * the function asks for any other scalar, the whole accumulator is computed, step by step, and stored. */
#include <stdlib.h>
#include <string.h>

#include "core/base/panic.h"
#include "core/lift/interpret.h"

/* Where a scalar of the accumulator is: a leaf of its type and indices of the arrays around it. */
struct spot {
    unsigned leaf, n_at;
    const int64_t *at;
};

struct cell {
    unsigned n_at;
    const int64_t *at;
    unsigned n; /* scalars */
    unsigned *leaves;
    struct lift_value_bound *now, *next;
    bool grown, left; /* leaves have joined it; another scalar was asked for */
};

/* ---- values ---- */

static struct value scalar_at(struct run *r, struct reduced *of, const struct spot *s);

/* What is in `of` at a leaf's first scalars: an element of `parent`, or, NULL, the whole. */
static struct value part_of(struct run *r, struct reduced *of, struct array *parent, int64_t i,
                            const struct lift_type *type, unsigned leaf)
{
    if (type->kind == LIFT_ARRAY) {
        struct array array = {
            .kind = ARRAY_REDUCED, .reduced = of, .source = parent, .element = type->element};
        array.offset = i;
        array.length = leaf;
        array.depth = parent ? parent->depth + 1 : 1;
        return interpret_new_array(r, array);
    }
    if (type->kind == LIFT_SCALAR) {
        struct spot s = {.leaf = leaf, .n_at = parent ? parent->depth : 0};
        int64_t *at = ARENA_ARRAY(r->arena, int64_t, s.n_at + 1);
        for (unsigned k = s.n_at; k-- > 0; parent = parent->source) {
            at[k] = i;
            i = parent->offset;
        }
        s.at = at;
        return scalar_at(r, of, &s);
    }
    struct value *parts = ARENA_ARRAY(r->arena, struct value, type->n_parts);
    for (unsigned p = 0; p < type->n_parts; p++) {
        parts[p] = part_of(r, of, parent, i, type->parts[p], leaf);
        leaf += lift_type_leaves(type->parts[p]);
    }
    return (struct value){.parts = parts};
}

struct value interpret_reduced_element(struct run *r, struct array *array, int64_t i)
{
    return part_of(r, array->reduced, array, i, array->element, (unsigned)array->length);
}

/* The scalar at a spot of a value of the type. */
static struct lift_value_bound scalar_of(struct run *r, struct value v, const struct lift_type *t,
                                         const struct spot *s)
{
    unsigned leaf = s->leaf, depth = 0;
    while (t->kind != LIFT_SCALAR) {
        if (t->kind == LIFT_ARRAY) {
            v = interpret_element(r, v.array, s->at[depth++]);
            t = t->element;
        } else {
            unsigned part = lift_type_part(t, &leaf);
            v = v.parts[part];
            t = t->parts[part];
        }
    }
    return v.scalar;
}

/* ---- steps ---- */

static struct value accumulator(struct run *r, const struct reduced *of, struct cell *cell,
                                struct lift_value_bound *stored)
{
    struct reduced *acc = arena_memdup(r->arena, of, sizeof *of);
    acc->cell = cell;
    acc->stored = stored;
    acc->serial = ++r->serial;
    return part_of(r, acc, NULL, 0, of->type, 0);
}

/* The function's value for element i. */
static struct value step(struct run *r, const struct reduced *of, struct value acc, int64_t i)
{
    const struct lift_lambda *fun = of->e->fun;
    struct array *source = interpret_expr(r, of->e->args[1], of->env).array;
    const struct env *inner = interpret_bind(r, of->env, fun->params[0], acc);
    inner = interpret_bind(r, inner, fun->params[1], interpret_element(r, source, i));
    return interpret_expr(r, fun->body, inner);
}

/* ---- cells ---- */

/* Takes the scalars of the cell from a value. false: the cell is not what was thought. */
static bool take_cell(struct run *r, const struct reduced *of, struct cell *c, struct value v)
{
    for (unsigned k = 0; k < c->n && !c->grown && !c->left; k++) {
        const struct spot s = {c->leaves[k], c->n_at, c->at};
        c->next[k] = scalar_of(r, v, of->type, &s);
    }
    memcpy(c->now, c->next, c->n * sizeof *c->now);
    return !c->grown && !c->left;
}

/* All steps with the leaves that the cell has. */
static bool step_cell(struct run *r, const struct reduced *of, struct cell *c)
{
    struct arena *outer = r->arena;
    c->grown = false;
    r->arena = interpret_take_arena(r);
    bool ok = take_cell(r, of, c, interpret_expr(r, of->e->args[0], of->env));
    for (int64_t i = 0; ok && i < of->n; i++) {
        ok = take_cell(r, of, c, step(r, of, accumulator(r, of, c, NULL), i));
        arena_reset(r->arena);
    }
    interpret_give_arena(r, r->arena);
    r->arena = outer;
    return ok;
}

/* Whether the dimensions of leaf x are the first ones of leaf y. */
static bool leads(struct run *r, const struct lift_type *t, unsigned x, unsigned y)
{
    const struct lift_type *a = lift_type_leaf(t, x, r->arena), *b = lift_type_leaf(t, y, r->arena);
    for (; a->kind == LIFT_ARRAY && b->kind == LIFT_ARRAY && a->extent == b->extent; a = a->element)
        b = b->element;
    return a->kind == LIFT_SCALAR;
}

/* What stands where the function has read another scalar than those of the cell: nothing is made of it, but
 * it has to be in the range of its type. */
static struct value beyond(struct run *r, const struct reduced *of, const struct spot *s)
{
    return interpret_scalar(scalar_of(r, interpret_expr(r, of->e->args[0], of->env), of->type, s));
}

static struct value cell_scalar(struct run *r, const struct reduced *of, const struct spot *s)
{
    struct cell *c = of->cell;
    bool here = s->n_at <= c->n_at && (!s->n_at || !memcmp(s->at, c->at, s->n_at * sizeof *s->at));
    for (unsigned k = 0; here && k < c->n; k++)
        if (c->leaves[k] == s->leaf) return interpret_scalar(c->now[k]);
    if (here && leads(r, of->type, s->leaf, c->leaves[0])) {
        c->leaves[c->n++] = s->leaf;
        c->grown = true;
    } else {
        c->left = true;
    }
    return beyond(r, of, s);
}

/* The scalar at a spot of the result, from its cell. false: the function reads others. */
static bool compute_cell(struct run *r, struct reduced *of, const struct spot *s,
                         struct lift_value_bound *out)
{
    unsigned n = lift_type_leaves(of->type);
    struct cell c = {.n_at = s->n_at, .at = s->at, .n = 1};
    c.leaves = ARENA_ARRAY(r->arena, unsigned, n);
    c.now = ARENA_ARRAY(r->arena, struct lift_value_bound, n);
    c.next = ARENA_ARRAY(r->arena, struct lift_value_bound, n);
    c.leaves[0] = s->leaf;
    while (!step_cell(r, of, &c) && !c.left) {
    }
    *out = c.now[0];
    return !c.left;
}

/* ---- whole accumulators ---- */

/* Writes the scalars of a value, elements of arrays in order; returns where the next ones go. */
static struct lift_value_bound *write_all(struct run *r, struct value v, const struct lift_type *t,
                                          struct lift_value_bound *out)
{
    if (t->kind == LIFT_SCALAR) *out = v.scalar;
    for (int64_t i = 0; t->kind == LIFT_ARRAY && i < t->extent; i++)
        out = write_all(r, interpret_element(r, v.array, i), t->element, out);
    for (unsigned i = 0; i < t->n_parts && t->kind == LIFT_TUPLE; i++)
        out = write_all(r, v.parts[i], t->parts[i], out);
    return out + (t->kind == LIFT_SCALAR);
}

/* Where write_all() puts a scalar. */
static int64_t place_of(const struct lift_type *t, const struct spot *s)
{
    int64_t place = 0;
    unsigned leaf = s->leaf, depth = 0;
    while (t->kind != LIFT_SCALAR) {
        if (t->kind == LIFT_ARRAY) {
            place += s->at[depth++] * lift_type_scalars(t->element);
            t = t->element;
        } else {
            unsigned part = lift_type_part(t, &leaf);
            for (unsigned i = 0; i < part; i++)
                place += lift_type_scalars(t->parts[i]);
            t = t->parts[part];
        }
    }
    return place;
}

static void store_all(struct run *r, struct reduced *of)
{
    size_t n = (size_t)lift_type_scalars(of->type);
    struct lift_value_bound *now = ARENA_ARRAY(of->home, struct lift_value_bound, n);
    struct lift_value_bound *next = base_malloc(n * sizeof *next);
    struct arena *outer = r->arena;
    r->arena = interpret_take_arena(r);
    write_all(r, interpret_expr(r, of->e->args[0], of->env), of->type, now);
    for (int64_t i = 0; i < of->n; i++) {
        write_all(r, step(r, of, accumulator(r, of, NULL, now), i), of->type, next);
        memcpy(now, next, n * sizeof *now);
        arena_reset(r->arena);
    }
    interpret_give_arena(r, r->arena);
    r->arena = outer;
    free(next);
    of->stored = now;
}

/* ---- results ---- */

static struct remember_key spot_key(const struct reduced *of, const struct spot *s)
{
    struct remember_key key = remember_mix(interpret_reduced_key(of), s->leaf);
    for (unsigned i = 0; i < s->n_at; i++)
        key = remember_mix(key, (uint64_t)s->at[i]);
    return key;
}

static struct value result_scalar(struct run *r, struct reduced *of, const struct spot *s)
{
    const struct remember_key key = spot_key(of, s);
    struct lift_value_bound v;
    if (remember_recall(r->memory, key, &v)) return interpret_scalar(v);
    if (!compute_cell(r, of, s, &v)) {
        store_all(r, of);
        v = of->stored[place_of(of->type, s)];
    }
    remember_store(r->memory, key, &v);
    return interpret_scalar(v);
}

static struct value scalar_at(struct run *r, struct reduced *of, const struct spot *s)
{
    if (of->stored) return interpret_scalar(of->stored[place_of(of->type, s)]);
    return of->cell ? cell_scalar(r, of, s) : result_scalar(r, of, s);
}

struct value interpret_reduction(struct run *r, const struct lift_expr *e, const struct lift_type *type,
                                 const struct env *env, int64_t n)
{
    struct reduced *of = ARENA_NEW(r->arena, struct reduced);
    *of = (struct reduced){.e = e, .type = type, .env = env, .n = n, .home = r->arena};
    if (e->n_reads == LIFT_NONE) of->serial = ++r->serial;
    r->revisits = true;
    return part_of(r, of, NULL, 0, type, 0);
}
