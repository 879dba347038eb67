/* Lowering of outputs: one STORE for each scalar of an element, all in one nest.
 *
 *     output sum = map2(fun (a, b) -> a + b, ...)     sum.store, dif.store: both in the logicals m and n
 *     output dif = map2(fun (a, b) -> a - b, ...)
 *     output C = map2(fun c -> beta * c, C)           the store of C reads the C.load of its own element
 *
 * The first output makes the parallel logicals, the others share them, so their shapes are equal up to
 * dimensions of one element. An array that is updated in place is loaded only at the index where it is
 * stored: another element may have been overwritten. Where another output reads it, nothing but an
 * *overwrite* says that the load comes before the store. */
#include "core/backbone/lower.h"

#include "core/backbone/view.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/lift/lift.h"

static const char shapes[] = "outputs of different shapes in one kernel; declare each with a name of its "
                             "own, and 'thresh tune' makes a "
                             "kernel of each, or give them the same dimensions";

/* The index of a dimension of the outputs: number *depth of those with an extent above 1. The first output
 * makes it, with logicals, the others share it. NULL after an error. */
static const struct index_expr *parallel_index(struct lowering *l, const struct view *v,
                                               const struct lift_type *array, unsigned *depth,
                                               struct source_pos at)
{
    if (array->extent == 1) return index_constant(l->arena, 0);
    unsigned d = (*depth)++;
    if (d == BB_MAX_LOGICALS) {
        bb_lower_unsupported(l, at, "an output of more than 8 dimensions; join some of them");
        return NULL;
    }
    if (!l->parallel) {
        l->shape[d].extent = array->extent;
        l->shape[d].index = bb_lower_index(l, v, array, false);
        l->n_shape = d + 1;
        return l->shape[d].index;
    }
    if (d < l->n_shape && l->shape[d].extent == array->extent) return l->shape[d].index;
    bb_lower_unsupported(l, at, shapes);
    return NULL;
}

/* A value that is being stored, with where it goes: as a place of an input. */
struct storing {
    struct place to;
    unsigned depth; /* dimensions around it with an extent above 1 */
    struct source_pos at;
};

static void store_value(struct lowering *l, const struct view *v, struct storing s);

/* Every scalar of the first value has the parallel logicals; so they are known when one is reached. */
static void store_bottom(struct lowering *l, const struct view *v, const struct storing *s)
{
    bb_lower_check_viewer(l, s->at);
    if (!l->parallel)
        l->n_parallel = (unsigned)l->n_logicals;
    else if (s->depth != l->n_shape)
        bb_lower_unsupported(l, s->at, shapes);
    l->parallel = true;
    if (!l->failed) bb_lower_store(l, &l->program->arrays[s->to.array], v->tree, s->to.offset, s->at);
}

static void store_array(struct lowering *l, const struct view *v, struct storing s)
{
    const struct index_expr *i = parallel_index(l, v, s.to.type, &s.depth, s.at);
    if (l->failed) return;
    const struct index_expr *place = view_place(l->viewer, v, i);
    v = view_get(l->viewer, v, place);
    s.to = view_place_element(l->arena, s.to, place);
    store_value(l, v, s);
}

static void store_value(struct lowering *l, const struct view *v, struct storing s)
{
    if (l->failed) return;
    if (v->kind == VIEW_NOTHING) {
        bb_lower_check_viewer(l, s.at);
    } else if (s.to.type->kind == LIFT_SCALAR) {
        store_bottom(l, v, &s);
    } else if (s.to.type->kind == LIFT_ARRAY) {
        store_array(l, v, s);
    } else {
        for (unsigned i = 0; i < s.to.type->n_parts; i++) {
            struct storing part = s;
            part.to = view_place_part(l->arena, s.to, i);
            store_value(l, v->parts[i], part);
        }
    }
}

/* ---- updates in place ---- */

/* Whether the value of `writer` reaches `reader` through operands. */
static bool reaches(const struct lowering *l, uint32_t writer, uint32_t reader)
{
    const struct bb_inst *inst = &l->insts[reader];
    for (unsigned i = 0; i < inst->n_operands; i++)
        if (inst->operands[i] == writer || reaches(l, writer, inst->operands[i])) return true;
    return false;
}

/* The store that overwrites what a load reads, or BB_NONE. */
static uint32_t overwriting(const struct lowering *l, const struct bb_inst *load)
{
    for (uint32_t i = 0; i < l->n_insts; i++)
        if (l->insts[i].kind == BB_STORE && l->insts[i].buffer == load->buffer &&
            !index_compare(l->insts[i].index, load->index))
            return i;
    return BB_NONE;
}

static void check_update(struct lowering *l, uint32_t load)
{
    const struct lift_array *array = &l->program->arrays[l->insts[load].buffer];
    const struct lift_output *o = &l->program->outputs[array->output];
    uint32_t store = overwriting(l, &l->insts[load]);
    if (store == BB_NONE) {
        diag_error(
            l->diag, o->at,
            "an element of '%s' reads other elements of %s than the one it writes, which may have been "
            "overwritten by then; give the output another name",
            o->name, o->name);
        l->failed = true;
    } else if (!reaches(l, load, store)) {
        l->overwrites = arena_grow(l->arena, l->overwrites, &l->cap_overwrites, l->n_overwrites + 1,
                                   sizeof *l->overwrites);
        l->overwrites[l->n_overwrites++] = (struct bb_overwrite){load, store};
    }
}

/* An element of an updated array is read only by what writes it. */
static void check_updates(struct lowering *l)
{
    for (uint32_t i = 0; i < l->n_insts && !l->failed; i++)
        if (l->insts[i].kind == BB_LOAD && l->buffers[l->insts[i].buffer].updated) check_update(l, i);
}

/* ---- the outputs ---- */

/* The first array of an output. */
static unsigned first_array(const struct lift_program *p, unsigned output)
{
    unsigned i = 0;
    while (p->arrays[i].output != output)
        i++;
    return i;
}

void bb_lower_outputs(struct lowering *l, const struct view_env *env)
{
    const struct lift_program *p = l->program;
    const struct view *v = view_eval(l->viewer, p->output, env);
    for (unsigned k = 0; k < p->n_outputs; k++)
        l->n_stored += p->outputs[k].interleaved ? 2 : lift_type_leaves(p->outputs[k].type);
    for (unsigned k = 0; !l->failed && k < p->n_outputs; k++) {
        const struct lift_output *o = &p->outputs[k];
        struct storing s = {.at = p->n_outputs > 1 || o->name ? o->at : p->output->at};
        s.to = (struct place){.array = first_array(p, k), .type = o->type};
        s.to.offset = index_constant(l->arena, 0);
        s.to.interleaved = o->input == LIFT_NONE ? o->interleaved : p->inputs[o->input]->interleaved;
        bool parts = p->n_outputs > 1 && v->kind == VIEW_TUPLE;
        store_value(l, parts ? v->parts[k] : v, s);
    }
    if (!l->failed) check_updates(l);
}
