/* Panels of a product as decisions. Of C[m][n] = sum over k of A[m][k] * B[k][n], 1024 x 1024 x 1024:
 *
 *     size(m.1)=8                       a group has 8 rows of A and of C, all of their columns
 *     size(n.1)=4                       a work-item 8 x 4 results, in vectors of 4; 256 work-items a row
 *     size(k.1)=4  size(k.2)=2          2 work-items share the sums of a result, by 4 steps at a time
 *     staged(A)=YES  outside(k)=0       the 8 rows of A are staged once, before the sums; B is read as it is
 *
 * So each element of A is loaded once in all: the elements of a strided product's A cost a transaction each,
 * and tiles load them once for each block of columns. Searches of a strided product of 1024 x 1024 x 1024
 * without these found 94 us (median of ten), with these 71; of a dense one 55 and 52
 * (experiments/results/2026-11-27-batch.md, 2026-11-27-contenders.md; H200). */
#include "core/backbone/panel.h"

#include <inttypes.h>

#include "core/backbone/product.h"
#include "core/base/arena.h"

/* Of m, n and k; a work-item has ROWS x VECTOR results. PAD: elements between two steps of the staged rows,
 * which keep the banks of the copy's stores apart. */
enum { ROWS = 8, VECTOR = 4, STEPS = 4, PAD = 2 };

/* Levels: m BLOCK, REGISTER; n ITEM, REGISTER; k LOOP, STEP, PART. */
enum { BLOCK, REGISTER };
enum { ITEM };
enum { LOOP, STEP, PART };

struct panel {
    struct tiler t;
    int64_t items, parts; /* work-items along n; of the same results */
};

/* ---- the dimensions ---- */

static bool fits(const struct panel *p)
{
    const struct tiler *t = &p->t;
    const struct bb_logical *m = &t->bb->logicals[t->p.m], *n = &t->bb->logicals[t->p.n],
                            *k = &t->bb->logicals[t->p.k];
    int64_t element = (int64_t)scalar_type_bytes(t->bb->regions[t->bb->values[t->p.a.value].region].type);
    int64_t bytes = (ROWS + PAD) * k->extent * element + p->items * p->parts * element;
    return t->p.batch == BB_NONE && m->extent % ROWS == 0 && m->extent > ROWS && n->extent % VECTOR == 0 &&
           k->extent % (STEPS * p->parts) == 0 && k->extent > STEPS * p->parts && ROWS % p->parts == 0 &&
           m->n_levels > REGISTER && n->n_levels > REGISTER && k->n_levels > PART && p->items > 1 &&
           p->items * p->parts <= t->device->max_work_group && bytes <= t->device->local_bytes;
}

static void decide_sizes(struct panel *p)
{
    struct tiler *t = &p->t;
    tiler_keep_extents(t);
    tiler_sizes(t, t->p.m, 1, (const int64_t[]){ROWS, 0});
    tiler_sizes(t, t->p.n, 1, (const int64_t[]){VECTOR, 0});
    tiler_sizes(t, t->p.k, 1, (const int64_t[]){STEPS, p->parts, 0});
}

static void decide_split(struct panel *p)
{
    struct tiler *t = &p->t;
    uint32_t first = t->bb->logicals[t->p.k].first_tile;
    tiler_decide(t, gpu_act_split(t->space, first + LOOP, GPU_SPLIT_NO));
    tiler_decide(t, gpu_act_split(t->space, first + STEP, GPU_SPLIT_NO));
    tiler_decide(t, gpu_act_split(t->space, first + PART, GPU_SPLIT_ITEMS));
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
    int64_t extent = t->bb->logicals[t->p.k].extent;
    int64_t width = product_is_contiguous(t->bb, v->load, t->p.k) ? VECTOR : 1,
            times = extent / (p->items * width);
    if (times < 1 || extent % (p->items * width) || t->bb->logicals[m.copy].n_levels < 2 ||
        t->bb->logicals[k.copy].n_levels < 3)
        return false;
    unsigned item = times > 1;
    tiler_decide(t, gpu_act_mem_space(t->space, v->region, GPU_MEM_SPACE_LOCAL));
    tiler_decide(t, gpu_act_layout_order(t->space, m.term, k.term, GPU_LAYOUT_ORDER_INSIDE));
    tiler_decide(t, gpu_act_pad(t->space, v->region, PAD));
    tiler_sizes(t, m.copy, 0, (const int64_t[]){ROWS / p->parts, p->parts, 0});
    tiler_sizes(t, k.copy, 0,
                times > 1 ? (const int64_t[]){times, p->items, width > 1 ? width : 0, 0}
                          : (const int64_t[]){p->items, width > 1 ? width : 0, 0});
    tiler_kind(t, v->copy_load, m.copy, 0, GPU_DIM_KIND_UNROLL);
    tiler_axis(t, v->copy_load, m.copy, 1, GPU_MAP_ENCODING_LCL1);
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
    decide_split(p);
    tiler_axis(t, t->p.store, t->p.m, BLOCK, GPU_MAP_ENCODING_WRG0);
    tiler_axis(t, t->p.store, t->p.n, ITEM, GPU_MAP_ENCODING_LCL0);
    tiler_axis(t, t->p.step, t->p.k, PART, GPU_MAP_ENCODING_LCL1);
    for (uint32_t v = 0; v < t->bb->n_values; v++)
        tiler_decide(t, gpu_act_staged(t->space, v, v == t->p.a.value ? GPU_STAGED_YES : GPU_STAGED_NO));
    decide_step(p);
    tiler_results(t, t->p.step, REGISTER, REGISTER);
    tiler_results(t, t->p.init, REGISTER, REGISTER);
    tiler_results(t, t->p.store, REGISTER, REGISTER);
    tiler_load(t, &t->p.a, REGISTER, GPU_DIM_KIND_UNROLL);
    tiler_load(t, &t->p.b, REGISTER, GPU_DIM_KIND_VECTOR);
    return decide_copy(p);
}

unsigned bb_panels(const struct backbone *bb, const struct space *space, const struct bb_device *device,
                   struct arena *a, struct bb_plain out[BB_MAX_PANELS])
{
    struct product product;
    unsigned n = 0;
    if (!device->gpu || !product_find(bb, &product)) return 0;
    for (int64_t parts = 2; parts <= 4 && n < BB_MAX_PANELS; parts *= 2) {
        struct panel p = {.t = {.bb = bb, .space = space, .device = device, .arena = a, .p = product},
                          .items = bb->logicals[product.n].extent / VECTOR,
                          .parts = parts};
        if (!fits(&p) || !decide_all(&p)) continue;
        out[n++] = (struct bb_plain){
            .label = arena_printf(a, "groups of %d whole rows, sums shared by %" PRId64 " work-items", ROWS,
                                  parts),
            .decisions = p.t.decisions};
    }
    return n;
}
