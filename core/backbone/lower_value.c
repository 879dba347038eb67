/* Lowering of what trees read: a LOAD for each distinct element of an array of the program, a TAKE for each
 * of one that may be staged (stored.h). Elements are compared without spots (view_spot.c): at(1, w) of a
 * window of x is x[y], and the same LOAD. Of several trees one with spots is kept. */
#include "core/backbone/lower.h"

#include <string.h>

#include "core/backbone/stored.h"
#include "core/backbone/view.h"
#include "core/base/arena.h"
#include "core/lift/lift.h"

/* ---- names ---- */

static bool value_named(const struct lowering *l, const char *stem)
{
    return bb_lower_named(l, stem, ".load") || bb_lower_named(l, stem, ".take");
}

/* "A", or "A_2", "A_3", ...: a value that there is not yet. */
static const char *free_value(const struct lowering *l, const char *name)
{
    const char *stem = name;
    for (unsigned n = 2; value_named(l, stem); n++)
        stem = arena_printf(l->arena, "%s_%u", name, n);
    return stem;
}

/* Whether an array of the program, or one that is stored, has a name. */
static bool array_named(const struct lowering *l, const char *name)
{
    const struct stored_arrays *all = l->viewer->stored;
    bool named = false;
    for (unsigned i = 0; i < l->program->n_arrays; i++)
        named = named || !strcmp(l->buffers[i].name, name);
    for (size_t i = 0; i < all->n; i++)
        named = named || (all->items[i].let && !strcmp(all->items[i].let->name, name));
    return named;
}

/* What the values of an array are called: those without a name "t", or, where something else is, "t_2". */
static const char *array_name(const struct lowering *l, const struct stored_array *array)
{
    const char *name = array->let ? array->let->name : "t";
    for (unsigned n = 2; !array->let && array_named(l, name); n++)
        name = arena_printf(l->arena, "t_%u", n);
    return name;
}

/* ---- loads ---- */

/* Variables of a load's index, most significant first. */
static void own_index_logicals(struct lowering *l, struct bb_inst *load, struct source_pos at)
{
    for (uint32_t v = 0; v < l->n_logicals; v++)
        if (index_mentions(load->index, v) || guard_mentions(load->guards, load->n_guards, v))
            bb_lower_own(l, load, v, at);
    for (unsigned i = 1; i < load->n_logicals; i++)
        for (unsigned j = i; j > 0; j--) {
            uint32_t *x = &load->logicals[j - 1], *y = &load->logicals[j], t = *x;
            if (index_significance(load->index, *x) >= index_significance(load->index, *y)) break;
            *x = *y;
            *y = t;
        }
}

/* What of an index and guards comes from data becomes the load's expression; it has the logicals of what that
 * reads. The variables are still the viewer's (build.c). */
static void read_data(struct lowering *l, struct bb_inst *load, struct source_pos at)
{
    struct bb_flat f = {0};
    for (uint32_t k = 0; k < l->viewer->n_data && !l->failed; k++) {
        const struct view_datum *d = &l->viewer->data[k];
        if (!index_mentions(load->index, VIEW_DATUM + k) &&
            !guard_mentions(load->guards, load->n_guards, VIEW_DATUM + k))
            continue;
        if (load->n_data == BB_MAX_PARTS) {
            bb_lower_unsupported(l, at, "an element at an index of more than 8 numbers by data");
            return;
        }
        load->data[load->n_data++] = (struct bb_datum){d->least, d->most, VIEW_DATUM + k};
        bb_lower_flatten(l, d->tree, &f, at);
    }
    if (l->failed || !load->n_data) return;
    bb_lower_take(l, load, &f, at);
    bb_lower_own_operands(l, load, at);
}

/* Notes what a LOAD or TAKE is: number i of those that there are, or the next one. */
static void note_tree(struct lowering *l, uint32_t i, const struct tree *t)
{
    l->trees = arena_grow(l->arena, l->trees, &l->cap_trees, l->n_insts + 1, sizeof *l->trees);
    if (i == l->n_insts || !view_tree_has_spots(l->trees[i])) l->trees[i] = t;
}

/* The LOAD that a tree is, without spots; n_insts: there is none yet. */
static uint32_t find_load(const struct lowering *l, const struct tree *t)
{
    for (uint32_t i = 0; i < l->n_insts; i++) {
        const struct bb_inst *old = &l->insts[i];
        if (old->kind != BB_LOAD || old->buffer != t->array || index_compare(old->index, t->index)) continue;
        if (old->n_guards == t->n_guards && (!t->n_guards || old->otherwise == t->value) &&
            guard_same(old->guards, t->guards, t->n_guards))
            return i;
    }
    return (uint32_t)l->n_insts;
}

uint32_t bb_lower_load(struct lowering *l, const struct tree *with_spots, struct source_pos at)
{
    const struct tree *t = view_settled_access(l->viewer, with_spots);
    uint32_t old = find_load(l, t);
    if (old < l->n_insts) {
        note_tree(l, old, with_spots);
        return old;
    }
    struct bb_inst load = bb_lower_inst(l, BB_LOAD, "", t->type);
    load.buffer = t->array;
    load.index = t->index;
    load.n_axes = t->n_axes;
    load.axes = t->axes;
    load.n_guards = t->n_guards;
    load.guards = t->guards;
    load.otherwise = t->value;
    own_index_logicals(l, &load, at);
    read_data(l, &load, at);
    if (l->failed) return BB_NONE;
    load.name = arena_printf(l->arena, "%s.load", free_value(l, l->buffers[t->array].name));
    note_tree(l, (uint32_t)l->n_insts, with_spots);
    return bb_lower_push(l, &load);
}

/* ---- takes ---- */

/* A reduction, or an element of another array, as it is, anything else through a COMPUTE. */
static struct bb_flat computed_value(struct lowering *l, const struct tree *t, struct source_pos at)
{
    struct bb_flat f = {0}, computed = {0};
    t = view_resolved(l->viewer, t);
    bb_lower_flatten(l, t, &f, at);
    if (l->failed || t->kind == TREE_REDUCE || t->kind == TREE_STORED) return f;
    struct bb_inst compute = bb_lower_inst(l, BB_COMPUTE, "compute", t->type);
    bb_lower_take(l, &compute, &f, at);
    bb_lower_own_operands(l, &compute, at);
    bb_lower_operand(l, &computed, bb_lower_push(l, &compute), 0, t->type);
    return computed;
}

/* The TAKE of a scalar of an array, at an index. */
uint32_t bb_lower_stored(struct lowering *l, const struct tree *t, struct source_pos at)
{
    for (uint32_t i = 0; i < l->n_insts; i++) {
        if (l->insts[i].kind != BB_TAKE || !view_same(l->viewer, t, l->trees[i])) continue;
        note_tree(l, i, t);
        return i;
    }
    struct bb_flat f = computed_value(l, t->args[0], at);
    if (l->failed) return BB_NONE;
    struct bb_inst take = bb_lower_inst(l, BB_TAKE, "", t->type);
    take.name = arena_printf(l->arena, "%s.take", free_value(l, array_name(l, t->stored)));
    take.n_axes = t->n_axes;
    take.axes = view_settled_access(l->viewer, t)->axes;
    bb_lower_take(l, &take, &f, at);
    bb_lower_own_operands(l, &take, at);
    if (l->failed) return BB_NONE;
    note_tree(l, (uint32_t)l->n_insts, t);
    return bb_lower_push(l, &take);
}
