/* Panels of a product as decisions. Of C[m][n] = sum over k of A[m][k] * B[k][n], 1024 x 1024 x 1024:
 *
 *     size(m.1)=8                       a group has 8 rows of A and of C, and all of their columns or a block
 *     size(n.1)=4                       a work-item 8 x 4 results, in vectors of 4; 256 work-items a row
 *     size(k.1)=32  size(k.2)=2         2 work-items share the sums of a result, by 32 steps at a time
 *     staged(A)=YES  outside(k)=0       the 8 rows of A are staged once, before the sums; B is read as it is
 *
 * So each element of A is loaded once for a row of groups, without a barrier in the sums: elements of a
 * strided product's A cost a transaction each. Shared sums give a small product work-items enough for a whole
 * device. Of 512 x 512 x 512 groups of 8 x 256 results take 12.4 us; searches without these were at 14.2
 * after 300 evaluations (times of the search, medians of ten; H200,
 * experiments/results/2026-11-29-contenders.md). */
#include "core/backbone/panel.h"

#include <inttypes.h>

#include "core/backbone/combine.h"
#include "core/backbone/product.h"
#include "core/base/arena.h"

/* A work-item has ROWS x VECTOR results. PAD: elements between two steps of the staged rows, which keep the
 * banks of the copy's stores apart. */
enum { ROWS = 8, VECTOR = 4, PAD = 2 };

/* Levels: m BLOCK, REGISTER; n BLOCK, where a group does not have all columns, ITEM, REGISTER; k LOOP, STEP,
 * PART. */
enum { BLOCK, REGISTER };
enum { LOOP, STEP, PART };

struct panel_shape {
    int64_t columns;      /* of a group; 0: all */
    int64_t parts, steps; /* work-items that share a sum; unrolled steps of each */
};

struct panel {
    struct tiler t;
    struct panel_shape shape;
    int64_t items;         /* work-items along n */
    unsigned item, result; /* levels of n */
};

/* ---- the dimensions ---- */

/* Where an extent is no multiple, columns are fewer, down to a half, and steps, down to 2. */
static bool fit(struct panel *p)
{
    const struct tiler *t = &p->t;
    struct panel_shape *s = &p->shape;
    int64_t row = t->bb->logicals[t->p.n].extent, of_part = t->bb->logicals[t->p.k].extent / s->parts;
    if (!s->columns) s->columns = row;
    p->items = tiler_divisor(row / VECTOR, s->columns / VECTOR, s->columns / VECTOR / 2);
    s->columns = p->items * VECTOR;
    s->steps = tiler_divisor(of_part, s->steps < of_part / 2 ? s->steps : of_part / 2, 2);
    p->item = s->columns < row;
    p->result = p->item + 1;
    return row % VECTOR == 0 && p->items > 1 && s->steps;
}

static bool is_possible(const struct panel *p)
{
    const struct tiler *t = &p->t;
    const struct panel_shape *s = &p->shape;
    const struct bb_logical *m = &t->bb->logicals[t->p.m], *n = &t->bb->logicals[t->p.n],
                            *k = &t->bb->logicals[t->p.k];
    int64_t element = (int64_t)scalar_type_bytes(t->bb->regions[t->bb->values[t->p.a.value].region].type);
    int64_t bytes = ((ROWS + PAD) * k->extent + t->device->max_work_group) * element; /* and parts of sums */
    return m->extent % ROWS == 0 && m->extent > ROWS && k->extent % s->parts == 0 && bb_may_split(k, true) &&
           tiler_has_width(t, VECTOR) && m->n_levels > REGISTER && n->n_levels > p->result &&
           k->n_levels > PART && p->items * s->parts <= t->device->max_work_group &&
           bytes <= t->device->local_bytes;
}

static void decide_sizes(struct panel *p)
{
    struct tiler *t = &p->t;
    const struct panel_shape *s = &p->shape;
    tiler_keep_extents(t);
    tiler_sizes(t, t->p.m, 1, (const int64_t[]){ROWS, 0});
    if (p->item)
        tiler_sizes(t, t->p.n, 1, (const int64_t[]){p->items, VECTOR, 0});
    else
        tiler_sizes(t, t->p.n, 1, (const int64_t[]){VECTOR, 0});
    tiler_sizes(t, t->p.k, 1, (const int64_t[]){s->steps, s->parts, 0});
    if (t->p.batch != BB_NONE) tiler_sizes(t, t->p.batch, 1, (const int64_t[]){0});
}

static void decide_axes(struct panel *p)
{
    struct tiler *t = &p->t;
    enum gpu_map_encoding group = GPU_MAP_ENCODING_WRG0;
    if (p->item) tiler_axis(t, t->p.store, t->p.n, BLOCK, group++);
    tiler_axis(t, t->p.store, t->p.m, BLOCK, group++);
    if (t->p.batch != BB_NONE) tiler_axis(t, t->p.store, t->p.batch, BLOCK, group);
    tiler_axis(t, t->p.store, t->p.n, p->item, GPU_MAP_ENCODING_LCL0);
    tiler_axis(t, t->p.step, t->p.k, PART, GPU_MAP_ENCODING_LCL1);
}

static void decide_step(struct panel *p)
{
    struct tiler *t = &p->t;
    uint32_t step = t->p.step;
    tiler_kind(t, step, t->p.k, LOOP, GPU_DIM_KIND_LOOP);
    tiler_kind(t, step, t->p.k, STEP, GPU_DIM_KIND_UNROLL);
    tiler_order(t, tiler_statement(t, step, t->p.k, STEP), GPU_ORDER_OUTER,
                tiler_statement(t, step, t->p.m, REGISTER));
}

/* ---- the copy ---- */

/* Neighbouring work-items copy neighbouring steps of a row, in vectors where A is contiguous along k; parts
 * of them have other rows. */
static bool decide_copy(struct panel *p)
{
    struct tiler *t = &p->t;
    const struct bb_value *v = &t->bb->values[t->p.a.value];
    struct tiler_coordinate m = tiler_coordinate(t, t->p.a.value, t->p.m, 1),
                            k = tiler_coordinate(t, t->p.a.value, t->p.k, 0);
    if (t->p.batch != BB_NONE && bb_owns(&t->bb->insts[v->load], t->p.batch))
        tiler_coordinate(t, t->p.a.value, t->p.batch, 1);
    int64_t extent = t->bb->logicals[t->p.k].extent, rows = ROWS / p->shape.parts;
    int64_t width = product_is_contiguous(t->bb, v->load, t->p.k) ? VECTOR : 1,
            times = extent / (p->items * width);
    if (times < 1 || extent % (p->items * width) || t->bb->logicals[m.copy].n_levels < 2 ||
        t->bb->logicals[k.copy].n_levels < 3)
        return false;
    unsigned item = times > 1, part = rows > 1;
    tiler_decide(t, gpu_act_mem_space(t->space, v->region, GPU_MEM_SPACE_LOCAL));
    tiler_decide(t, gpu_act_layout_order(t->space, m.term, k.term, GPU_LAYOUT_ORDER_INSIDE));
    tiler_decide(t, gpu_act_pad(t->space, v->region, PAD));
    tiler_sizes(t, m.copy, 0,
                part ? (const int64_t[]){rows, p->shape.parts, 0} : (const int64_t[]){p->shape.parts, 0});
    tiler_sizes(t, k.copy, 0,
                times > 1 ? (const int64_t[]){times, p->items, width > 1 ? width : 0, 0}
                          : (const int64_t[]){p->items, width > 1 ? width : 0, 0});
    if (part) tiler_kind(t, v->copy_load, m.copy, 0, GPU_DIM_KIND_UNROLL);
    tiler_axis(t, v->copy_load, m.copy, part, GPU_MAP_ENCODING_LCL1);
    if (times > 1) tiler_kind(t, v->copy_load, k.copy, 0, GPU_DIM_KIND_UNROLL);
    tiler_axis(t, v->copy_load, k.copy, item, GPU_MAP_ENCODING_LCL0);
    if (width == 1) return true;
    tiler_kind(t, v->copy_load, k.copy, item + 1, GPU_DIM_KIND_VECTOR);
    tiler_kind(t, v->copy_store, k.copy, item + 1, GPU_DIM_KIND_UNROLL);
    return true;
}

static bool decide_all(struct panel *p)
{
    struct tiler *t = &p->t;
    decide_sizes(p);
    tiler_split(t, t->p.k, PART, GPU_SPLIT_ITEMS);
    decide_axes(p);
    for (uint32_t v = 0; v < t->bb->n_values; v++)
        tiler_decide(t, gpu_act_staged(t->space, v, v == t->p.a.value ? GPU_STAGED_YES : GPU_STAGED_NO));
    decide_step(p);
    tiler_results(t, t->p.step, REGISTER, p->result);
    tiler_results(t, t->p.init, REGISTER, p->result);
    tiler_results(t, t->p.store, REGISTER, p->result);
    tiler_load(t, &t->p.a, REGISTER, GPU_DIM_KIND_UNROLL);
    tiler_load(t, &t->p.b, p->result, GPU_DIM_KIND_VECTOR);
    return decide_copy(p);
}

unsigned bb_panels(const struct backbone *bb, const struct space *space, const struct bb_device *device,
                   struct arena *a, struct bb_plain out[BB_MAX_PANELS])
{
    static const struct panel_shape shapes[BB_MAX_PANELS] = {{0, 2, 32},   {0, 4, 32},   {256, 4, 32},
                                                             {128, 4, 16}, {128, 8, 16}, {64, 8, 16}};
    struct product product;
    unsigned n = 0;
    if (!device->gpu || !product_find(bb, &product)) return 0;
    for (unsigned i = 0; i < BB_MAX_PANELS; i++) {
        struct panel p = {.t = {.bb = bb, .space = space, .device = device, .arena = a, .p = product},
                          .shape = shapes[i]};
        if (!fit(&p) || !is_possible(&p) || !decide_all(&p)) continue;
        out[n++] = (struct bb_plain){
            .label = arena_printf(a,
                                  "groups of %d x %" PRId64
                                  " results, whole rows staged, sums shared by %" PRId64 " work-items",
                                  ROWS, p.shape.columns, p.shape.parts),
            .decisions = p.t.decisions};
    }
    return n;
}
