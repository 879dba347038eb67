/* Rows of results by groups as decisions. Attention of 256 queries and 256 keys of 64 (attention.lift), a
 * group of 8 x 32 work-items for two queries. They compute the scores into local memory, a key each:
 *
 *     size(n.0)=128  size(n.1)=2                           groups, queries of a group
 *     staged(scores)=YES  outside(n)=1  outside(m)=0       2 x 256 scores, for all that read them
 *     size(scores.copy.m.0)=8    second local axis         a key for each work-item,
 *     size(scores.copy.m.1)=32   first local axis
 *     size(scores.copy.d_2.0)=16                           its elements in vectors
 *     size(scores.copy.d_2.1)=4  VECTOR
 *
 * Reductions that have one result for a query, the largest score and the sum of exponentials, are shared by
 * the 32 work-items of the first axis:
 *
 *     size(m_2.0)=8   UNROLL
 *     size(m_2.1)=32  first local axis  split(m_2.1)=ITEMS
 *
 * A work-item has two neighbouring results of a query, and eight share their sums over the keys:
 *
 *     size(d.0)=32  first local axis    size(d.1)=2  VECTOR
 *     size(m.0)=32  UNROLL              size(m.1)=8  second local axis  split(m.1)=ITEMS
 *
 * What is summed up, the exponential of a score times an element, is so computed once for both results. */
#include "core/backbone/rows.h"

#include <inttypes.h>

#include "core/backbone/combine.h"
#include "core/backbone/product.h"
#include "core/backbone/seat.h"
#include "core/base/arena.h"
#include "core/base/panic.h"

enum { OUTER, INNER }; /* levels */
enum {
    PART_BYTES = 4,     /* of a sum, for each work-item that a group may have */
    VECTOR = 4,         /* elements at once of what a copy sums up */
    MOST_UNROLLED = 64, /* steps of the last sum */
    MOST_TIMES = 16     /* elements of anything else that a work-item has in registers */
};

struct rows_shape {
    int64_t items, rows; /* of a group; items: about as many, where levels allow it */
    int64_t width;       /* results of a work-item: neighbouring columns, a vector */
};

struct rows {
    struct tiler t; /* of its product only step and store are set */
    struct rows_shape shape;
    uint32_t outer, column, sum; /* logicals: rows, columns of the output, and what is reduced for each */
    int64_t lanes;               /* work-items for a row: a vector each */
    int64_t loops, steps, parts; /* of such a sum: unrolled steps, and work-items that share it */
};

/* ---- the rows in a program ---- */

static bool is_kept(const struct backbone *bb, uint32_t value)
{
    return bb_is_computed(bb, &bb->values[value]);
}

static bool is_owner(const struct backbone *bb, uint32_t value)
{
    return is_kept(bb, value) && bb->values[value].owner == value;
}

/* Whether an instruction is part of a copy, or is dead because values are kept. */
static bool is_absent(const struct backbone *bb, uint32_t inst)
{
    const struct bb_inst *i = &bb->insts[inst];
    return bb_is_copy(i) || (i->unless != BB_NONE && is_kept(bb, i->unless));
}

/* Whether the rows of the output are along a logical. */
static bool is_outer(const struct rows *r, uint32_t logical)
{
    return logical != r->column && bb_owns(&r->t.bb->insts[r->t.p.store], logical);
}

/* Kept values are of rows of the output and along one other logical, without windows. */
static bool are_kept_of_rows(const struct rows *r)
{
    const struct backbone *bb = r->t.bb;
    unsigned n = 0;
    for (uint32_t v = 0; v < bb->n_values; v++) {
        if (!is_owner(bb, v)) continue;
        const struct bb_region *region = &bb->regions[bb->values[v].region];
        unsigned others = 0;
        bool of_rows = false;
        for (unsigned c = 0; c < region->n_dims; c++) {
            const struct bb_region_dim *dim = &bb->region_dims[region->first_region_dim + c];
            uint32_t logical = bb->terms[dim->first_term].logical;
            if (bb_overlaps(dim)) return false;
            others += !is_outer(r, logical);
            of_rows |= logical == r->outer;
        }
        if (!of_rows || others != 1) return false;
        n++;
    }
    return n > 0;
}

/* Whether the results of a step are of rows alone, or of no row. */
static bool is_of_rows(const struct rows *r, const struct bb_inst *step, uint32_t reduced)
{
    unsigned outer = 0, others = 0;
    for (unsigned i = 0; i < step->n_logicals; i++) {
        if (step->logicals[i] == reduced) continue;
        if (is_outer(r, step->logicals[i]))
            outer++;
        else
            others++;
    }
    return outer == 0 || others == 0;
}

/* All other reductions have such results, and work-items may divide them. */
static bool are_shared(const struct rows *r)
{
    const struct backbone *bb = r->t.bb;
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        if (bb->insts[i].kind != BB_STEP || is_absent(bb, i) || i == r->t.p.step) continue;
        uint32_t reduced = product_reduced(bb, &bb->insts[i]);
        if (bb->insts[i].scan || reduced == BB_NONE || bb_owns(&bb->insts[i], r->column) ||
            !is_of_rows(r, &bb->insts[i], reduced) || !bb_may_split(&bb->logicals[reduced], true))
            return false;
    }
    return true;
}

static bool find(struct rows *r)
{
    const struct backbone *bb = r->t.bb;
    struct product *p = &r->t.p;
    p->store = product_only_store(bb);
    if (p->store == BB_NONE) return false;
    const struct bb_inst *store = &bb->insts[p->store];
    p->step = store->operands[0];
    if (store->n_logicals < 2 || store->n_logicals > 1 + BB_AXES || bb->insts[p->step].kind != BB_STEP)
        return false;
    r->column = store->logicals[store->n_logicals - 1];
    r->outer = store->logicals[store->n_logicals - 2];
    r->sum = product_reduced(bb, &bb->insts[p->step]);
    return r->sum != BB_NONE && !bb->insts[p->step].scan && bb_owns(&bb->insts[p->step], r->column) &&
           product_is_contiguous(bb, p->store, r->column) && are_kept_of_rows(r) && are_shared(r);
}

/* ---- shapes ---- */

/* How work-items go along a logical that is no column: so many on the second axis, and on the first. Shared
 * reductions have those on the first only: one level of a reduction can be divided. */
struct walk {
    int64_t times, across, along;
};

static struct walk walk_of(const struct rows *r, uint32_t logical, int64_t across)
{
    const struct bb_logical *l = &r->t.bb->logicals[logical];
    struct walk w = {1, across, 1};
    if (l->n_levels > INNER || across == 1) w.along = tiler_divisor(l->extent / across, r->lanes, 1);
    w.times = l->extent / (across * w.along);
    return w;
}

static unsigned levels_of(struct walk w)
{
    return (w.times > 1 ? 1U : 0U) + (w.across > 1 ? 1U : 0U) + (w.along > 1 ? 1U : 0U);
}

/* Steps of a part of the sum: as many as are unrolled, and loops around them. */
static void fit_sum(struct rows *r)
{
    const struct bb_logical *sum = &r->t.bb->logicals[r->sum];
    int64_t steps = sum->extent / r->parts;
    unsigned left = sum->n_levels - (r->parts > 1); /* levels */
    r->steps = left > 1 ? tiler_divisor(steps, MOST_UNROLLED, 1) : steps <= MOST_UNROLLED ? steps : 1;
    r->loops = steps / r->steps;
}

/* Whether copies can be divided by so many on the second axis, and by some on the first. */
static bool has_levels(const struct rows *r, int64_t parts)
{
    const struct backbone *bb = r->t.bb;
    for (uint32_t v = 0; v < bb->n_values; v++) {
        const struct bb_inst *store = &bb->insts[bb->values[v].copy_store];
        for (unsigned i = 0; i < store->n_logicals && is_owner(bb, v); i++) {
            const struct bb_logical *l = &bb->logicals[store->logicals[i]];
            if (is_outer(r, l->of)) continue;
            struct walk w = walk_of(r, store->logicals[i], parts);
            if (l->extent % parts || w.along == 1 || levels_of(w) > l->n_levels) return false;
        }
    }
    return true;
}

/* Work-items that share a sum: as many as are in a group of that size, or else as cover a copy; or one. */
static int64_t parts_of(const struct rows *r, int64_t items, int64_t most)
{
    const struct bb_logical *sum = &r->t.bb->logicals[r->sum];
    if (!bb_may_split(sum, true)) return 1;
    int64_t parts = tiler_divisor(sum->extent, items / r->lanes, 1), cover = sum->extent / r->lanes;
    if (has_levels(r, parts)) return parts;
    return sum->extent % r->lanes == 0 && sum->extent <= most && has_levels(r, cover) ? cover : 1;
}

static bool fit(struct rows *r)
{
    const struct tiler *t = &r->t;
    const struct bb_logical *outer = &t->bb->logicals[r->outer], *sum = &t->bb->logicals[r->sum],
                            *column = &t->bb->logicals[r->column];
    int64_t most = t->device->max_work_group < t->device->max_work_item[0] ? t->device->max_work_group
                                                                           : t->device->max_work_item[0];
    int64_t items = r->shape.items < most ? r->shape.items : most;
    if (column->extent % r->shape.width || !tiler_has_width(t, r->shape.width)) return false;
    r->lanes = column->extent / r->shape.width;
    if (r->lanes < 2 || r->lanes > items || sum->n_levels <= INNER) return false;
    r->parts = parts_of(r, items, most);
    r->shape.items = r->parts * r->lanes;
    fit_sum(r);
    return has_levels(r, r->parts) && outer->extent % r->shape.rows == 0 && outer->extent > r->shape.rows &&
           (r->shape.rows == 1 || outer->n_levels > INNER) &&
           (r->shape.width == 1 || column->n_levels > INNER);
}

/* For what is kept, and the parts of sums. */
static bool has_room(const struct rows *r)
{
    const struct backbone *bb = r->t.bb;
    int64_t bytes = 0;
    for (uint32_t v = 0; v < bb->n_values; v++) {
        if (!is_owner(bb, v)) continue;
        const struct bb_region *region = &bb->regions[bb->values[v].region];
        int64_t elements = r->shape.rows;
        for (unsigned c = 0; c < region->n_dims; c++) {
            uint32_t logical = bb->terms[bb->region_dims[region->first_region_dim + c].first_term].logical;
            if (!is_outer(r, logical)) elements *= bb->logicals[logical].extent;
        }
        bytes += elements * (int64_t)scalar_type_bytes(region->type);
    }
    return bytes + r->t.device->max_work_group * PART_BYTES <= r->t.device->local_bytes;
}

/* ---- decisions ---- */

/* The sizes of levels, outermost first, without those of 1, from a level on. Returns how many levels there
 * are. */
static unsigned decide_levels(struct rows *r, uint32_t logical, const int64_t all[3], unsigned from)
{
    int64_t sizes[4] = {0};
    unsigned n = 0;
    for (unsigned i = 0; i < 3; i++)
        if (all[i] > 1) sizes[n++] = all[i];
    tiler_sizes(&r->t, logical, from, sizes + (n > from ? from : n));
    return n;
}

static void decide_walk(struct rows *r, uint32_t logical, struct walk w, unsigned from)
{
    decide_levels(r, logical, (const int64_t[]){w.times, w.across, w.along}, from);
}

/* In one instruction. What each work-item has several of is unrolled, or a loop that it shares with `last`.
 */
static void spread(struct rows *r, uint32_t inst, uint32_t logical, struct walk w, uint32_t last)
{
    struct tiler *t = &r->t;
    unsigned level = OUTER;
    if (w.times > 1)
        tiler_kind(t, inst, logical, level++, w.times > MOST_TIMES ? GPU_DIM_KIND_LOOP : GPU_DIM_KIND_UNROLL);
    if (w.times > MOST_TIMES && inst != last)
        tiler_order(t, tiler_statement(t, inst, logical, OUTER), GPU_ORDER_MERGED,
                    tiler_statement(t, last, logical, OUTER));
    if (w.across > 1) tiler_axis(t, inst, logical, level++, GPU_MAP_ENCODING_LCL1);
    if (w.along > 1) tiler_axis(t, inst, logical, level, GPU_MAP_ENCODING_LCL0);
}

/* Rows of the output are groups, those of the innermost such logical several a group: in registers. */
static void decide_outer(struct rows *r, uint32_t inst, uint32_t logical)
{
    struct tiler *t = &r->t;
    const struct bb_inst *store = &t->bb->insts[t->p.store];
    unsigned axis = 0;
    for (unsigned i = store->n_logicals - 1; i-- > 0 && store->logicals[i] != logical;)
        axis += t->bb->logicals[store->logicals[i]].extent > 1;
    if (t->bb->logicals[logical].extent > 1)
        tiler_axis(t, inst, logical, OUTER, GPU_MAP_ENCODING_WRG0 + axis);
    if (logical == r->outer && r->shape.rows > 1) tiler_kind(t, inst, logical, INNER, GPU_DIM_KIND_UNROLL);
}

/* The steps of the last sum: a loop around unrolled ones, or only one of them; then its parts. */
static void decide_sum(struct rows *r, uint32_t inst)
{
    struct tiler *t = &r->t;
    unsigned level = OUTER;
    if (r->loops > 1) tiler_kind(t, inst, r->sum, level++, GPU_DIM_KIND_LOOP);
    if (r->steps > 1) tiler_kind(t, inst, r->sum, level++, GPU_DIM_KIND_UNROLL);
    if (r->parts > 1) tiler_axis(t, inst, r->sum, level, GPU_MAP_ENCODING_LCL1);
}

static void decide_sizes(struct rows *r)
{
    struct tiler *t = &r->t;
    const struct backbone *bb = t->bb;
    const struct bb_inst *store = &bb->insts[t->p.store];
    for (uint32_t l = 0; l < bb->n_logicals; l++)
        if (bb_has_span(bb, l)) tiler_decide(t, gpu_act_span(t->space, l, bb->logicals[l].extent));
    for (unsigned i = 0; i < store->n_logicals; i++) {
        uint32_t l = store->logicals[i];
        int64_t inner = l == r->outer ? r->shape.rows : l == r->column ? r->shape.width : 1;
        tiler_sizes(t, l, INNER, (const int64_t[]){inner, 0});
    }
    unsigned n = decide_levels(r, r->sum, (const int64_t[]){r->loops, r->steps, r->parts}, INNER);
    if (bb_may_split(&bb->logicals[r->sum], true))
        tiler_split(t, r->sum, r->parts > 1 ? n - 1 : BB_MAX_LEVELS, GPU_SPLIT_ITEMS);
}

/* Neighbouring columns: a vector in memory, in registers one after the other. */
static void decide_column(struct rows *r, uint32_t inst)
{
    struct tiler *t = &r->t;
    const struct bb_inst *i = &t->bb->insts[inst];
    bool vector = (i->kind == BB_LOAD || i->kind == BB_STORE) &&
                  product_has_vectors(t->bb, inst, r->column, r->shape.width);
    tiler_axis(t, inst, r->column, OUTER, GPU_MAP_ENCODING_LCL0);
    if (r->shape.width > 1)
        tiler_kind(t, inst, r->column, INNER, vector ? GPU_DIM_KIND_VECTOR : GPU_DIM_KIND_UNROLL);
}

/* The step that reduces a logical of the program; there is one. */
static uint32_t step_of(const struct backbone *bb, uint32_t logical)
{
    uint32_t step = 0;
    while (is_absent(bb, step) || !bb_reduces(bb, &bb->insts[step], logical))
        CHECK(++step < bb->n_insts);
    return step;
}

static void decide_shared(struct rows *r, uint32_t logical)
{
    struct walk w = walk_of(r, logical, 1);
    decide_walk(r, logical, w, INNER);
    tiler_split(&r->t, logical, w.along > 1 ? levels_of(w) - 1 : BB_MAX_LEVELS, GPU_SPLIT_ITEMS);
}

/* All instructions but those of copies. */
static void decide_instructions(struct rows *r)
{
    struct tiler *t = &r->t;
    for (uint32_t i = 0; i < t->bb->n_insts; i++) {
        const struct bb_inst *inst = &t->bb->insts[i];
        if (is_absent(t->bb, i)) continue;
        for (unsigned j = 0; j < inst->n_logicals; j++) {
            uint32_t l = inst->logicals[j];
            if (l == r->column)
                decide_column(r, i);
            else if (is_outer(r, l))
                decide_outer(r, i, l);
            else if (l == r->sum)
                decide_sum(r, i);
            else
                spread(r, i, l, walk_of(r, l, 1), step_of(t->bb, l));
            if (bb_reduces(t->bb, inst, l) && l != r->sum) decide_shared(r, l);
        }
    }
}

/* Reductions of a row come before the loop of the sums, which would repeat them. */
static void decide_order(struct rows *r)
{
    struct tiler *t = &r->t;
    for (uint32_t i = 0; i < t->bb->n_insts && r->loops > 1; i++)
        if (t->bb->insts[i].kind == BB_STEP && !is_absent(t->bb, i) && !bb_owns(&t->bb->insts[i], r->sum))
            tiler_order(t, i, GPU_ORDER_BEFORE, tiler_statement(t, t->p.step, r->sum, OUTER));
}

/* A sum inside a copy: elements that are neighbours are read as vectors. */
static void decide_copied_sum(struct rows *r, const struct bb_value *v, uint32_t logical)
{
    struct tiler *t = &r->t;
    const struct bb_logical *l = &t->bb->logicals[logical];
    bool vectors =
        l->extent % VECTOR == 0 && l->extent > VECTOR && l->n_levels > INNER && tiler_has_width(t, VECTOR);
    uint32_t step = v->copy_load;
    tiler_sizes(t, logical, OUTER,
                vectors ? (const int64_t[]){l->extent / VECTOR, VECTOR, 0} : (const int64_t[]){l->extent, 0});
    while (!bb_reduces(t->bb, &t->bb->insts[step], logical))
        CHECK(++step <= v->copy_store);
    for (uint32_t i = v->copy_load; i <= v->copy_store; i++) {
        const struct bb_inst *inst = &t->bb->insts[i];
        if (!bb_owns(inst, logical)) continue;
        tiler_kind(t, i, logical, OUTER, GPU_DIM_KIND_LOOP);
        if (i != step)
            tiler_order(t, tiler_statement(t, i, logical, OUTER), GPU_ORDER_MERGED,
                        tiler_statement(t, step, logical, OUTER));
        if (vectors)
            tiler_kind(t, i, logical, INNER,
                       inst->kind == BB_COPY_LOAD && product_is_contiguous(t->bb, i, l->of)
                           ? GPU_DIM_KIND_VECTOR
                           : GPU_DIM_KIND_UNROLL);
    }
}

/* A kept value: of all rows of the group, each work-item computes some elements. */
static void decide_copy(struct rows *r, uint32_t value)
{
    struct tiler *t = &r->t;
    const struct bb_value *v = &t->bb->values[value];
    const struct bb_inst *store = &t->bb->insts[v->copy_store];
    const struct bb_region *region = &t->bb->regions[v->region];
    tiler_decide(t, gpu_act_mem_space(t->space, v->region, GPU_MEM_SPACE_LOCAL));
    tiler_decide(t, gpu_act_pad(t->space, v->region, 0));
    for (unsigned c = 0; c < region->n_dims; c++) {
        uint32_t term = t->bb->region_dims[region->first_region_dim + c].first_term,
                 copy = store->logicals[c];
        uint32_t logical = t->bb->terms[term].logical;
        tiler_decide(t, gpu_act_outside(t->space, term, is_outer(r, logical)));
        if (!is_outer(r, logical))
            decide_walk(r, copy, walk_of(r, copy, r->parts), OUTER);
        else
            tiler_sizes(t, copy, OUTER, (const int64_t[]){logical == r->outer ? r->shape.rows : 1, 0});
        for (uint32_t i = v->copy_load; i <= v->copy_store; i++) {
            if (!bb_owns(&t->bb->insts[i], copy)) continue;
            if (!is_outer(r, logical))
                spread(r, i, copy, walk_of(r, copy, r->parts), v->copy_store);
            else if (logical == r->outer && r->shape.rows > 1)
                tiler_kind(t, i, copy, OUTER, GPU_DIM_KIND_UNROLL);
        }
    }
    for (uint32_t l = 0; l < t->bb->n_logicals; l++)
        if (t->bb->logicals[l].region == v->region && t->bb->logicals[l].coordinate == BB_NONE)
            decide_copied_sum(r, v, l);
}

static void decide_all(struct rows *r)
{
    struct tiler *t = &r->t;
    decide_sizes(r);
    for (uint32_t v = 0; v < t->bb->n_values; v++)
        tiler_decide(t, gpu_act_staged(t->space, v, is_kept(t->bb, v) ? GPU_STAGED_YES : GPU_STAGED_NO));
    decide_instructions(r);
    decide_order(r);
    for (uint32_t v = 0; v < t->bb->n_values; v++)
        if (is_owner(t->bb, v)) decide_copy(r, v);
}

unsigned bb_rows(const struct backbone *bb, const struct space *space, const struct bb_device *device,
                 struct arena *a, struct bb_plain out[BB_MAX_ROWS])
{
    static const struct rows_shape shapes[BB_MAX_ROWS] = {{256, 1, 1}, {256, 2, 1}, {256, 4, 1}, {256, 1, 2},
                                                          {256, 2, 2}, {256, 1, 4}, {256, 2, 4}, {256, 4, 4}};
    struct rows found = {.t = {.bb = bb, .space = space, .device = device, .arena = a}};
    unsigned n = 0;
    if (!device->gpu || !find(&found)) return 0;
    for (unsigned i = 0; i < BB_MAX_ROWS; i++) {
        struct rows r = found;
        r.shape = shapes[i];
        if (!fit(&r) || !has_room(&r)) continue;
        decide_all(&r);
        out[n++] = (struct bb_plain){
            .label = arena_printf(a,
                                  "one group of %" PRId64 " per %" PRId64 " row%s, sums shared by %" PRId64
                                  ", %" PRId64 " column%s at once",
                                  r.shape.items, r.shape.rows, r.shape.rows > 1 ? "s" : "", r.parts,
                                  r.shape.width, r.shape.width > 1 ? "s" : ""),
            .decisions = r.t.decisions};
    }
    return n;
}
