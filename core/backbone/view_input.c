/* Views of inputs: where a value is in the arrays of an input.
 *
 *     input x: [(float, [int]2)]N      x_0: [float]N   x_1: [[int]2]N
 *
 *     element i        both arrays, elements before it: i
 *     component 1      x_1, first scalar 2 * i
 *     its element 0    the load x_1[2 * i] */
#include "core/backbone/view.h"

#include "core/base/arena.h"

static struct view *new_view(struct viewer *w, enum view_kind kind)
{
    struct view *v = ARENA_NEW(w->arena, struct view);
    v->kind = kind;
    return v;
}

/* Several arrays are passed through together, as far as a tuple's parts have one each. */
struct place view_place_part(struct arena *a, struct place at, unsigned part)
{
    const struct lift_type *tuple = at.type;
    bool several = !at.interleaved && lift_type_leaves(tuple) > 1;
    int64_t before = 0;
    for (unsigned i = 0; i < part; i++) {
        before += lift_type_scalars(tuple->parts[i]);
        if (several) at.array += lift_type_leaves(tuple->parts[i]);
    }
    at.type = tuple->parts[part];
    if (at.interleaved) at.offset = index_add(a, at.offset, index_constant(a, before));
    if (several && lift_type_leaves(at.type) == 1)
        at.offset = index_scale(a, at.offset, lift_type_scalars(at.type));
    return at;
}

static const struct view *tuple_at(struct viewer *w, struct place at)
{
    struct view *v = new_view(w, VIEW_TUPLE);
    v->n_parts = at.type->n_parts;
    v->parts = arena_alloc(w->arena, v->n_parts * sizeof *v->parts);
    for (unsigned i = 0; i < v->n_parts; i++)
        v->parts[i] = view_place_value(w, view_place_part(w->arena, at, i));
    return v;
}

const struct view *view_place_value(struct viewer *w, struct place at)
{
    if (at.type->kind == LIFT_TUPLE) return tuple_at(w, at);
    struct view *v = new_view(w, at.type->kind == LIFT_SCALAR ? VIEW_SCALAR : VIEW_INPUT);
    struct tree load = {.kind = TREE_LOAD,
                        .type = at.type->scalar,
                        .array = at.array,
                        .index = at.offset,
                        .n_axes = at.n_axes,
                        .axes = at.axes};
    if (v->kind == VIEW_SCALAR)
        v->tree = arena_memdup(w->arena, &load, sizeof load);
    else
        v->place = at;
    return v;
}

const struct view *view_input(struct viewer *w, const struct lift_param *input)
{
    struct place at = {.array = input->first_array, .type = input->type};
    at.offset = index_constant(w->arena, 0);
    at.interleaved = input->interleaved;
    return view_place_value(w, at);
}

struct place view_place_element(struct arena *a, struct place at, const struct index_expr *i)
{
    bool several = !at.interleaved && lift_type_leaves(at.type) > 1;
    int64_t before = several ? at.type->extent : 1, step = several ? 1 : lift_type_scalars(at.type->element);
    const struct index_expr **axes = ARENA_ARRAY(a, const struct index_expr *, at.n_axes + 1);
    for (unsigned k = 0; k < at.n_axes; k++)
        axes[k] = at.axes[k];
    axes[at.n_axes++] = i;
    at.axes = axes;
    at.offset = index_add(a, index_scale(a, at.offset, before), index_scale(a, i, step));
    at.type = at.type->element;
    return at;
}
