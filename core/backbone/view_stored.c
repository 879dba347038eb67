/* Arrays that may be staged, as views: their elements are marked, so that lowering makes values of them
 * (stored.h). The element [i][j] of
 *
 *     let t = matmul(A, B)
 *
 * is STORED(t, [i, j], a reduction), and so is that of matmul(A, B) in matmul(matmul(A, B), C). Only real
 * numbers that are computed are marked: what is loaded, or moved, is staged as a load. */
#include "core/backbone/stored.h"
#include "core/backbone/view.h"

#include "core/base/arena.h"

enum { MOST_PARTS = 64 /* of a tuple: numbers of components of components differ */ };

/* What is computed, or marked as an element of an array without a name that this one is made of. */
static bool is_computed(const struct tree *t)
{
    if (t->kind == TREE_STORED) return !t->stored->let;
    bool real = t->type == SCALAR_FLOAT || t->type == SCALAR_DOUBLE || t->type == SCALAR_HALF;
    bool scan = t->kind == TREE_REDUCE && t->reduction->scan;
    return real && !scan && (t->kind == TREE_OP || t->kind == TREE_SELECT || t->kind == TREE_REDUCE);
}

/* A scalar of an element. */
static const struct tree *marked(struct viewer *w, const struct view *array, const struct tree *of)
{
    struct tree *t = ARENA_NEW(w->arena, struct tree);
    if (!is_computed(of)) return of;
    *t = (struct tree){.kind = TREE_STORED,
                       .type = of->type,
                       .args = {of},
                       .stored = array->stored,
                       .of_array = array->of_array,
                       .part = array->index,
                       .n_axes = array->place.n_axes,
                       .axes = array->place.axes};
    return t;
}

/* An element of an array, or a part of it. */
static const struct view *mark(struct viewer *w, const struct view *array, const struct view *element)
{
    struct view *v = arena_memdup(w->arena, element, sizeof *element);
    switch (element->kind) {
    case VIEW_NOTHING:
        return element;
    case VIEW_SCALAR:
        v->tree = marked(w, array, element->tree);
        return v;
    case VIEW_TUPLE:
        v->parts = arena_alloc(w->arena, (v->n_parts + 1) * sizeof *v->parts);
        for (unsigned i = 0; i < v->n_parts; i++) {
            struct view part = *array;
            part.index = array->index * MOST_PARTS + i + 1;
            v->parts[i] = mark(w, &part, element->parts[i]);
        }
        return v;
    default:
        *v = *array;
        v->of = element;
        return v;
    }
}

const struct view *view_stored_element(struct viewer *w, const struct view *v, const struct index_expr *i)
{
    struct view array = *v;
    const struct index_expr **axes = arena_alloc(w->arena, (v->place.n_axes + 1) * sizeof *axes);
    for (unsigned k = 0; k < v->place.n_axes; k++)
        axes[k] = v->place.axes[k];
    axes[array.place.n_axes++] = i;
    array.place.axes = axes;
    return mark(w, &array, view_get(w, v->of, i));
}

const struct view *view_eval_stored(struct viewer *w, const struct lift_expr *e, const struct view_env *env)
{
    const struct view *v = view_eval(w, e, env);
    const struct stored_array *array = w->stored ? stored_find(w->stored, e) : NULL;
    if (!array || v->kind == VIEW_NOTHING) return v;
    struct view stored = {.kind = VIEW_STORED, .of = v, .stored = array, .of_array = v};
    return arena_memdup(w->arena, &stored, sizeof stored);
}
