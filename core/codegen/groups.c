/* The text that combines the parts that groups have (split.c). Each group writes its part to global memory
 * and counts itself; the last one of those that differ in their part alone combines all parts and goes on,
 * the others end. Here 512 groups have parts of each of 64 sums, one work-item has the sum of its group:
 *
 *     const int thresh_slot = (int)(get_group_id(0));           of the groups that share a counter
 *     thresh_parts_float[thresh_slot * 512 + (int)get_group_id(1)] = red;
 *     thresh_fence();                                           the part is there before it counts
 *     barrier(CLK_LOCAL_MEM_FENCE);
 *     if (thresh_item == 0) thresh_last = atomic_inc(&thresh_arrived[thresh_slot]) == 511u;
 *     barrier(CLK_LOCAL_MEM_FENCE);
 *     if (!thresh_last) return;
 *     thresh_fence();
 *     if (thresh_item == 0) thresh_arrived[thresh_slot] = 0;    for the next launch
 *     red = 0.0f;
 *     for (int thresh_part = 0; thresh_part < 512; thresh_part += 8) {
 *         const float thresh_got_0_0_0 = thresh_parts_float[thresh_slot * 512 + thresh_part];
 *         const float thresh_got_1_0_0 = thresh_parts_float[thresh_slot * 512 + thresh_part + 1];
 *         ...                                                   8 parts are on their way together
 *         red = (red + thresh_got_0_0_0);
 *         red = (red + thresh_got_1_0_0);
 *         ...
 *     }
 *
 * Parts are combined in the order of their places, whichever group is the last: results are the same in every
 * run. With the workaround one-exit all groups go on, and the last one alone stores. Where work-items of a
 * group have parts, too, they share the loop, and their results are combined in local memory a second time
 * (combine.c). The counters are 0 before the first launch, and after each one.
 *
 * An element of thresh_parts_float is of slot, part, scalar and work-item, the last one fastest. Where a
 * work-item has a multiple of 4 scalars, of 4 bytes each, it reads and writes vectors: each 4 of them are
 * side by side. */
#include "core/codegen/combine.h"

#include "core/base/arena.h"

/* ---- arguments ---- */

int64_t cg_group_scalars(const struct cg_program *p, const struct cg_split *s, enum scalar_type type)
{
    const struct bb_inst *step = &p->bb->insts[s->node->statement];
    int64_t scalars = 0;
    for (unsigned part = 0; part < bb_parts(step); part++)
        if (bb_part_type(step, part) == type) scalars += p->values[step->partner].registers;
    return scalars;
}

int64_t cg_group_elements(const struct cg_program *p, const struct cg_split *s, enum scalar_type type)
{
    return cg_group_slots(p, s) * s->groups->size * cg_group_scalars(p, s, type) * cg_split_results(p, s);
}

static const char *parts_name(struct cg_emitter *e, enum scalar_type type)
{
    return CG_TEXT(e, "thresh_parts_$1", cg_type_of(&e->p->target, type)->name);
}

void cg_emit_group_arguments(struct cg_emitter *e, const char *separator)
{
    const struct cg_split *s = cg_group_split(e->p);
    if (!s) return;
    for (int t = 0; t < SCALAR_TYPE_COUNT; t++)
        if (cg_group_scalars(e->p, s, (enum scalar_type)t)) {
            strbuf_add(e->out, separator);
            strbuf_add(e->out,
                       CG_TEXT(e, e->dialect->shared, cg_type_of(&e->p->target, (enum scalar_type)t)->name,
                               parts_name(e, (enum scalar_type)t)));
        }
    strbuf_add(e->out, separator);
    strbuf_add(e->out, CG_TEXT(e, e->dialect->counters, "thresh_arrived"));
}

/* ---- the text ---- */

struct meeting {
    struct combining *c;
    const struct cg_split *split;
    int64_t parts, results; /* groups that meet; work-items of a group that have different results */
};

/* MOST_AT_ONCE: parts that a work-item has on their way together, of 1 to 8 the fastest on an H200
 * (experiments/results/2026-12-01-divided.md); MOST_LOADED: their scalars, which need registers. */
enum { MOST_AT_ONCE = 8, MOST_LOADED = 128, VECTOR = 4, VECTOR_BYTES = 16 };

/* "get_group_id(0) + 8 * get_group_id(2)": the axes without that of the parts. */
static const char *slot_text(const struct meeting *m)
{
    struct cg_emitter *e = m->c->e;
    const char *text = NULL;
    int64_t weight = 1;
    for (unsigned g = 0; g < CG_AXES; g++) {
        const char *id = cg_id_text(e, BB_BLOCK, g);
        if (e->p->groups[g] == 1 || g == m->split->groups->axis) continue;
        if (weight > 1) id = CG_TEXT(e, "$1 * $2", cg_number(e, weight), id);
        text = text ? CG_TEXT(e, "$1 + $2", text, id) : id;
        weight *= e->p->groups[g];
    }
    return text ? text : "0";
}

/* The number of a work-item among those that have different results: its own without the axis of the parts.
 */
static const char *result_text(const struct meeting *m)
{
    struct cg_emitter *e = m->c->e;
    if (!m->split->part) return "thresh_item";
    int64_t below = m->c->stride, all = below * e->p->local_size[m->split->part->axis];
    const char *above = CG_TEXT(e, "thresh_first / $1", cg_number(e, all));
    if (below == 1) return above;
    if (all == m->c->items) return "thresh_first";
    return CG_TEXT(e, "thresh_first % $1 + $2 * $1", cg_number(e, below), above);
}

/* The scalar's number among those of its type. */
static int64_t scalar_number(const struct meeting *m, unsigned part, int64_t reg)
{
    const struct bb_inst *step = m->c->step;
    int64_t before = 0;
    for (unsigned i = 0; i < part; i++)
        if (bb_part_type(step, i) == bb_part_type(step, part)) before += m->c->own.value->registers;
    return before + reg;
}

/* Scalars of a part of the accumulator that a work-item has side by side. */
static int64_t width_of(const struct meeting *m, unsigned part)
{
    const struct combining *c = m->c;
    bool vectors = c->e->dialect->output_pointer && c->own.value->registers % VECTOR == 0;
    size_t bytes = scalar_type_bytes(bb_part_type(c->step, part));
    return vectors && bytes * VECTOR == VECTOR_BYTES ? VECTOR : 1;
}

/* "thresh_parts_float[(thresh_slot * 512 + thresh_part) * 64 + thresh_result]": of a group's part of the
 * reduction, a scalar of the accumulator. */
static const char *element(const struct meeting *m, const char *group, unsigned part, int64_t reg)
{
    struct cg_emitter *e = m->c->e;
    enum scalar_type type = bb_part_type(m->c->step, part);
    int64_t width = width_of(m, part), lane = reg % width;
    int64_t scalars = cg_group_scalars(e->p, m->split, type);
    int64_t before = (scalar_number(m, part, reg) - lane) * m->results + lane;
    const char *slot = CG_TEXT(e, "thresh_slot * $1 + $2", cg_number(e, m->parts), group);
    const char *result = width > 1 ? CG_TEXT(e, "$1 * thresh_result", cg_number(e, width)) : "thresh_result";
    if (before) result = CG_TEXT(e, "$1 + $2", cg_number(e, before), result);
    return CG_TEXT(e, "$1[($2) * $3 + $4]", parts_name(e, type), slot, cg_number(e, scalars * m->results),
                   result);
}

static const char *vector_type(const struct meeting *m, unsigned part)
{
    struct cg_emitter *e = m->c->e;
    const char *name = cg_type_of(&e->p->target, bb_part_type(m->c->step, part))->name;
    int64_t width = width_of(m, part);
    return width > 1 ? CG_TEXT(e, e->dialect->vector_type, name, cg_number(e, width)) : name;
}

/* The elements that begin with one. */
static const char *elements(const struct meeting *m, const char *group, unsigned part, int64_t reg)
{
    struct cg_emitter *e = m->c->e;
    const struct cg_dialect *d = e->dialect;
    const char *first = element(m, group, part, reg);
    if (width_of(m, part) == 1) return first;
    return CG_TEXT(e, "*$1", CG_TEXT(e, d->output_pointer, d->shared_space, vector_type(m, part), first));
}

/* Calls f for each scalar of the accumulator. */
static void each_scalar(const struct meeting *m, void (*f)(const struct meeting *m, int64_t reg))
{
    struct combining *c = m->c;
    for (c->part = 0; c->part < bb_parts(c->step); c->part++)
        for (int64_t r = 0; r < c->own.value->registers; r++)
            f(m, r);
}

static void write_part(const struct meeting *m, int64_t reg)
{
    struct combining *c = m->c;
    struct cg_emitter *e = c->e;
    const char *group = CG_TEXT(e, "(int)$1", cg_id_text(e, BB_BLOCK, m->split->groups->axis));
    int64_t width = width_of(m, c->part);
    if (reg % width) return;
    const char *value = cg_combined_register(c, c->part, reg);
    for (int64_t lane = 1; lane < width; lane++)
        value = CG_TEXT(e, "$1, $2", value, cg_combined_register(c, c->part, reg + lane));
    if (width > 1) value = CG_TEXT(e, e->dialect->pack, vector_type(m, c->part), value);
    cg_line(e, CG_TEXT(e, "$1 = $2;", elements(m, group, c->part, reg), value));
}

/* A selection may take the first part several times. */
static void start(const struct meeting *m, int64_t reg)
{
    const struct combining *c = m->c;
    struct cg_emitter *e = c->e;
    const struct bb_combination *how = &m->split->how;
    const char *value =
        how->op[c->part] == SCALAR_SELECT
            ? element(m, "0", c->part, reg)
            : cg_constant_text(e, bb_part_type(c->step, c->part), how->neutral[c->part], false);
    cg_line(e, CG_TEXT(e, "$1 = $2;", cg_combined_register(c, c->part, reg), value));
}

/* "thresh_got_3_0_8": of the parts that are loaded together the one numbered i, registers that begin with one
 * of a part of the accumulator. */
static const char *loaded_name(const struct meeting *m, int64_t i, unsigned part, int64_t reg)
{
    struct cg_emitter *e = m->c->e;
    return CG_TEXT(e, "thresh_got_$1_$2_$3", cg_number(e, i), cg_number(e, part), cg_number(e, reg));
}

/* i: number of those that are loaded together, each `step` behind the one before it. */
static void load_part(const struct meeting *m, int64_t i, int64_t step)
{
    struct combining *c = m->c;
    struct cg_emitter *e = c->e;
    const char *group = i ? CG_TEXT(e, "thresh_part + $1", cg_number(e, i * step)) : "thresh_part";
    for (unsigned part = 0; part < bb_parts(c->step); part++)
        for (int64_t r = 0; r < c->own.value->registers; r += width_of(m, part))
            cg_line(e, CG_TEXT(e, "const $1 $2 = $3;", vector_type(m, part), loaded_name(m, i, part, r),
                               elements(m, group, part, r)));
}

static const char *loaded(const struct meeting *m, int64_t i, unsigned part, int64_t reg)
{
    struct cg_emitter *e = m->c->e;
    int64_t lane = reg % width_of(m, part);
    const char *name = loaded_name(m, i, part, reg - lane);
    return width_of(m, part) > 1 ? CG_TEXT(e, "$1.$2", name, e->dialect->lanes[lane]) : name;
}

/* The scalars that are combined together, by the first of their parts. */
static void take_part(const struct meeting *m, int64_t i)
{
    struct combining *c = m->c;
    for (c->part = 0; c->part < bb_parts(c->step); c->part++) {
        if (!bb_combined_first(&m->split->how, c->part)) continue;
        for (int64_t r = 0; r < c->own.value->registers; r++) {
            struct cg_scalars own = cg_combined_registers(c, r), other = {{NULL}};
            for (unsigned part = 0; part < bb_parts(c->step); part++)
                if (cg_combines(c, part)) other.part[part] = loaded(m, i, part, r);
            cg_take_in(c, NULL, &own, &other);
        }
    }
}

/* A work-item takes each `step`th part, from the one numbered `first`. */
static void emit_loop(const struct meeting *m, const char *first, int64_t step)
{
    struct cg_emitter *e = m->c->e;
    int64_t scalars = m->c->own.value->registers * bb_parts(m->c->step), at_once = MOST_AT_ONCE;
    while (at_once > 1 && (at_once * scalars > MOST_LOADED || m->parts % (at_once * step)))
        at_once /= 2;
    cg_line(e, CG_TEXT(e, "for ($1 thresh_part = $2; thresh_part < $3; thresh_part += $4) {",
                       e->dialect->index, first, cg_number(e, m->parts), cg_number(e, at_once * step)));
    e->indent++;
    for (int64_t i = 0; i < at_once; i++)
        load_part(m, i, step);
    for (int64_t i = 0; i < at_once; i++)
        take_part(m, i);
    e->indent--;
    cg_line(e, "}");
}

static void count_up(const struct meeting *m)
{
    struct cg_emitter *e = m->c->e;
    const struct cg_dialect *d = e->dialect;
    cg_line(e, d->device_fence);
    cg_line(e, d->barrier_local);
    cg_line(e, CG_TEXT(e, "if (thresh_item == 0) thresh_last = $1 == $2u;",
                       CG_TEXT(e, d->count_up, "thresh_arrived[thresh_slot]"), cg_number(e, m->parts - 1)));
    cg_line(e, d->barrier_local);
}

/* What the last group does. */
static void take_parts(const struct meeting *m)
{
    struct cg_emitter *e = m->c->e;
    cg_line(e, e->dialect->device_fence);
    cg_line(e, "if (thresh_item == 0) thresh_arrived[thresh_slot] = 0;");
    const struct cg_node *part = m->split->part;
    cg_open_parts(m->c, part ? part->size : INT64_MAX);
    each_scalar(m, start);
    if (part)
        emit_loop(m, CG_TEXT(e, "($1)$2", e->dialect->index, m->c->id), part->size);
    else
        emit_loop(m, "0", 1);
    cg_close_parts(m->c);
}

void cg_emit_meeting(struct combining *c)
{
    struct cg_emitter *e = c->e;
    const char *index = e->dialect->index;
    struct meeting m = {c, c->split, c->split->groups->size, cg_split_results(e->p, c->split)};
    cg_line(e, CG_TEXT(e, "const $1 thresh_slot = ($1)($2);", index, slot_text(&m)));
    cg_line(e, CG_TEXT(e, "const $1 thresh_result = $2;", index, result_text(&m)));
    cg_open_parts(c, c->split->part ? 1 : INT64_MAX);
    each_scalar(&m, write_part);
    cg_close_parts(c);
    count_up(&m);
    bool one_exit = cg_needs(&e->p->target, CG_ONE_EXIT);
    cg_line(e, one_exit ? "if (thresh_last) {" : "if (!thresh_last) return;");
    e->indent += one_exit;
    take_parts(&m);
    e->indent -= one_exit;
    if (one_exit) cg_line(e, "}");
}
