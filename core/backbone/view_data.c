/* Indices by data. A whole number that the program reads or computes is an index like any other once it is a
 * variable with a range, which its type has:
 *
 *     at(at(j, idx), x)     input idx: [int]N in 0..9     x[d0] with d0 in 0..9, d0 = idx.load(j)
 *
 * So what is proven of indices (borders, guards, simplifications) holds for these, too. In the end a variable
 * stands in the index or a guard of a load, which reads its value (lower.c), or in a number, which is
 * computed from it here. */
#include "core/backbone/view.h"

#include "core/base/arena.h"

enum { MOST_COMPARED = 256 }; /* nodes of two trees, after which they count as different */

/* ---- variables ---- */

static bool same_index(struct viewer *w, const struct index_expr *x, const struct index_expr *y)
{
    return !index_compare(view_settled(w, x), view_settled(w, y));
}

static bool same_guards(struct viewer *w, const struct tree *x, const struct tree *y)
{
    unsigned n = x->n_guards, m = y->n_guards;
    const struct index_guard *a = view_settled_guards(w, x->guards, &n),
                             *b = view_settled_guards(w, y->guards, &m);
    return n == m && guard_same(a, b, n);
}

/* Whether two STORED are one element of one array. */
static bool same_element(struct viewer *w, const struct tree *x, const struct tree *y)
{
    bool alike = x->of_array == y->of_array && x->part == y->part && x->n_axes == y->n_axes;
    for (unsigned i = 0; alike && i < x->n_axes; i++)
        alike = same_index(w, x->axes[i], y->axes[i]);
    return alike;
}

static bool same(struct viewer *w, const struct tree *x, const struct tree *y, unsigned *left)
{
    x = view_resolved(w, x);
    y = view_resolved(w, y);
    if (x == y) return true;
    if (x->kind != y->kind || x->type != y->type || !*left) return false;
    --*left;
    switch (x->kind) {
    case TREE_CONST:
        return x->value == y->value;
    case TREE_LOAD:
        return x->array == y->array && x->value == y->value && same_index(w, x->index, y->index) &&
               same_guards(w, x, y);
    case TREE_INDEX:
        return same_index(w, x->index, y->index);
    case TREE_ACC:
    case TREE_REDUCE:
        return x->reduction == y->reduction && x->part == y->part;
    case TREE_SELECT:
        return same_guards(w, x, y) && same(w, x->args[0], y->args[0], left) &&
               same(w, x->args[1], y->args[1], left);
    case TREE_STORED:
        return same_element(w, x, y) || same(w, x->args[0], y->args[0], left);
    case TREE_OP:
        break;
    }
    bool alike = x->op == y->op;
    for (unsigned i = 0; alike && i < scalar_op_arity(x->op); i++)
        alike = same(w, x->args[i], y->args[i], left);
    return alike;
}

bool view_same(struct viewer *w, const struct tree *x, const struct tree *y)
{
    unsigned left = MOST_COMPARED;
    return same(w, x, y, &left);
}

const struct index_expr *view_datum(struct viewer *w, const struct tree *t, int64_t least, int64_t most)
{
    size_t k = 0;
    for (; k < w->n_data; k++) {
        const struct view_datum *d = &w->data[k];
        if (d->least == least && d->most == most && view_same(w, d->tree, t)) break;
    }
    if (k == w->n_data) {
        w->data = arena_grow(w->arena, w->data, &w->cap_data, k + 1, sizeof *w->data);
        w->data[w->n_data++] = (struct view_datum){t, least, most};
    }
    return index_shift(w->arena, index_var(w->arena, VIEW_DATUM + (uint32_t)k, most - least + 1), least);
}

bool view_has_data(const struct viewer *w, const struct index_expr *i)
{
    for (size_t k = 0; k < w->n_data; k++)
        if (index_mentions(i, VIEW_DATUM + (uint32_t)k)) return true;
    return false;
}

/* ---- numbers ---- */

static const struct tree *number(struct viewer *w, int64_t value)
{
    struct tree *t = ARENA_NEW(w->arena, struct tree);
    *t = (struct tree){.kind = TREE_CONST, .type = SCALAR_INT, .value = (double)value};
    return t;
}

static const struct tree *operation(struct viewer *w, enum scalar_op op, const struct tree *x,
                                    const struct tree *y)
{
    struct tree *t = ARENA_NEW(w->arena, struct tree);
    *t = (struct tree){.kind = TREE_OP, .type = SCALAR_INT, .op = op, .args = {x, y}};
    return t;
}

static const struct tree *shifted(struct viewer *w, const struct tree *x, int64_t by)
{
    return by ? operation(w, SCALAR_ADD, x, number(w, by)) : x;
}

/* Floor division and modulo of what may be negative: a multiple of the divisor makes it positive. */
static const struct tree *divided(struct viewer *w, enum scalar_op op, const struct index_atom *t)
{
    int64_t least = index_least(t->of), times = least < 0 ? (-least + t->by - 1) / t->by : 0;
    const struct tree *of = shifted(w, view_index_tree(w, t->of), times * t->by);
    const struct tree *result = operation(w, op, of, number(w, t->by));
    return op == SCALAR_DIV ? shifted(w, result, -times) : result;
}

static const struct tree *index_only(struct viewer *w, const struct index_expr *i)
{
    struct tree *t = ARENA_NEW(w->arena, struct tree);
    *t = (struct tree){.kind = TREE_INDEX, .type = SCALAR_INT, .index = i};
    return i->n_terms ? t : number(w, i->constant);
}

static const struct tree *atom_tree(struct viewer *w, const struct index_atom *t)
{
    switch (t->kind) {
    case INDEX_VAR: {
        const struct view_datum *d = &w->data[t->var - VIEW_DATUM];
        return shifted(w, d->tree, -d->least);
    }
    case INDEX_DIV:
        return divided(w, SCALAR_DIV, t);
    case INDEX_MOD:
        return divided(w, SCALAR_MOD, t);
    case INDEX_MIN:
        return operation(w, SCALAR_MIN, view_index_tree(w, t->of), number(w, t->by));
    case INDEX_MAX:
        break;
    }
    return operation(w, SCALAR_MAX, view_index_tree(w, t->of), number(w, t->by));
}

const struct tree *view_index_tree(struct viewer *w, const struct index_expr *i)
{
    const struct tree *sum = NULL;
    struct index_expr *plain = ARENA_NEW(w->arena, struct index_expr);
    struct index_term *terms = ARENA_ARRAY(w->arena, struct index_term, i->n_terms + 1);
    plain->terms = terms;
    plain->constant = i->constant;
    for (unsigned k = 0; k < i->n_terms; k++) {
        const struct index_expr only = {.n_terms = 1, .terms = &i->terms[k]};
        if (!view_has_data(w, &only)) {
            terms[plain->n_terms++] = i->terms[k];
            continue;
        }
        int64_t by = i->terms[k].coefficient;
        const struct tree *t = atom_tree(w, &i->terms[k].atom);
        if (by != 1) t = operation(w, SCALAR_MULT, t, number(w, by));
        sum = sum ? operation(w, SCALAR_ADD, sum, t) : t;
    }
    if (!sum) return index_only(w, plain);
    if (!plain->n_terms) return shifted(w, sum, plain->constant);
    return operation(w, SCALAR_ADD, sum, index_only(w, plain));
}

static const struct tree *compared(struct viewer *w, enum scalar_op op, const struct tree *x,
                                   const struct tree *y)
{
    struct tree *t = ARENA_NEW(w->arena, struct tree);
    *t = (struct tree){.kind = TREE_OP, .type = SCALAR_BOOL, .op = op, .args = {x, y}};
    return t;
}

const struct tree *view_guard_tree(struct viewer *w, const struct index_guard *g)
{
    const struct tree *of = view_index_tree(w, g->of);
    return compared(w, SCALAR_AND, compared(w, SCALAR_GE, of, number(w, g->low)),
                    compared(w, SCALAR_LE, of, number(w, g->high)));
}
