/* Layers of convolutions as decisions. Of
 *
 *     out[o][h][w] = sum over c, i, j of kernels[o][c][i][j] * x[c][h + i][w + j]
 *
 * with 256 kernels of 3 x 3, 256 channels and 56 x 56 results of each kernel:
 *
 *     size(o.1)=4  size(h.1)=4  size(h.2)=7    a work-item has 4 x 7 results of one column, in registers
 *     w                                        a group has 56 columns, and 4 work-items in each
 *     size(c.1)=4                              4 work-items share the sums of a result
 *     i, j                                     unrolled: the compiler loads once what windows share
 *     staged(kernels)=YES                      the group's 4 kernels, whole, o innermost: vectors of 4
 *
 * Kernels are staged where local memory has room for all channels; otherwise nothing is staged. Neighbouring
 * work-items read neighbouring elements of x, and all of them the same elements of kernels.
 *
 * In one run on an H200 this one took 105 us, cuDNN 143 to 167; searches of this layer without such
 * contenders were at 146 us after 300 evaluations (median of ten;
 * experiments/results/2026-11-29-contenders.md). */
#include "core/backbone/layer.h"

#include <inttypes.h>

#include "core/backbone/combine.h"
#include "core/backbone/product.h"
#include "core/base/arena.h"

enum {
    MOST_COLUMNS = 256,  /* of a group */
    GROUP = 256,         /* work-items that a group has, with several in a column if need be */
    STAGED_GROUP = 1024, /* the same if it shares staged kernels */
    MOST_WINDOW = 8,     /* the longest side of a window that is unrolled */
    MOST_SUMS = 1024,    /* copies of the step in the text; beyond them sides of windows are loops */
    MOST_COPIES = 72     /* copies of the load in the text, of what is staged */
};

/* Levels that are there in any case. */
enum { BLOCK = 0, LOOP = 0, OUTPUT = 1 };

struct layer_shape {
    int64_t outputs, rows; /* results of a work-item along o and h; fit_rows() says which rows */
    int64_t parts, steps;  /* work-items that share a sum; channels that each adds up at a time */
    bool staged;           /* the kernels, whole, in local memory */
};

struct layer {
    struct tiler t; /* of its product only step, init and store are set */
    struct layer_shape shape;
    uint32_t kernels, images;   /* the loads */
    uint32_t batch, o, h, w, c; /* logicals; batch BB_NONE: there is one image */
    int64_t columns, rows;      /* work-items of a group along w and h */
};

/* ---- the layer in a program ---- */

/* The logicals of the output: images of a batch, kernels, rows, columns. */
static bool find_results(struct layer *l)
{
    const struct backbone *bb = l->t.bb;
    const struct bb_inst *store = &bb->insts[l->t.p.store];
    unsigned outer = store->n_logicals - 3; /* logicals around o, h and w */
    if (store->n_logicals < 3 || outer > 1) return false;
    l->batch = outer ? store->logicals[0] : BB_NONE;
    l->o = store->logicals[outer];
    l->h = store->logicals[outer + 1];
    l->w = store->logicals[outer + 2];
    return product_is_contiguous(bb, l->t.p.store, l->w);
}

static bool are_operands(const struct layer *l)
{
    const struct bb_inst *k = &l->t.bb->insts[l->kernels], *x = &l->t.bb->insts[l->images];
    return k->kind == BB_LOAD && x->kind == BB_LOAD && bb_owns(k, l->o) && !bb_owns(k, l->h) &&
           !bb_owns(k, l->w) && !bb_owns(x, l->o) && bb_owns(x, l->h) && bb_owns(x, l->w);
}

/* Whether a logical is a sum over channels rather than another one: it is in no window, or longer. */
static bool is_rather(const struct backbone *bb, uint32_t logical, uint32_t other)
{
    bool window = product_in_window(bb, logical);
    if (window != product_in_window(bb, other)) return !window;
    return bb->logicals[logical].extent > bb->logicals[other].extent;
}

/* One of the logicals that are reduced; both operands must have all of them. */
static bool find_channels(struct layer *l)
{
    const struct backbone *bb = l->t.bb;
    const struct bb_inst *step = &bb->insts[l->t.p.step];
    l->c = BB_NONE;
    for (unsigned i = 0; i < step->n_logicals; i++) {
        uint32_t r = step->logicals[i];
        if (!bb_reduces(bb, step, r)) continue;
        if (!bb_owns(&bb->insts[l->kernels], r) || !bb_owns(&bb->insts[l->images], r)) return false;
        if (l->c == BB_NONE || is_rather(bb, r, l->c)) l->c = r;
    }
    return l->c != BB_NONE;
}

static bool find(struct layer *l)
{
    const struct backbone *bb = l->t.bb;
    struct product *p = &l->t.p;
    p->store = product_only_store(bb);
    if (p->store == BB_NONE || !product_only_step(bb, &p->step)) return false;
    const struct bb_inst *step = &bb->insts[p->step];
    p->init = step->partner;
    if (step->n_operands != 3 || !find_results(l)) return false;
    bool swapped = bb_owns(&bb->insts[step->operands[1]], l->w);
    l->kernels = step->operands[swapped ? 2 : 1];
    l->images = step->operands[swapped ? 1 : 2];
    return are_operands(l) && find_channels(l);
}

/* ---- the dimensions ---- */

/* Levels of h: blocks, work-items, registers; of w: blocks, work-items; of c: a loop, parts, steps. Those
 * that are one are left out. */
static unsigned row_item(const struct layer *l)
{
    return l->t.bb->logicals[l->h].extent > l->rows * l->shape.rows;
}

static unsigned row_register(const struct layer *l)
{
    return row_item(l) + (l->rows > 1);
}

static unsigned column_item(const struct layer *l)
{
    return l->t.bb->logicals[l->w].extent > l->columns;
}

static unsigned channel_step(const struct layer *l)
{
    return l->shape.parts > 1 ? 2 : 1;
}

/* Rows of a work-item: a divisor between three quarters of what is wanted and all of it, with which a group
 * has the most work-items in a column, such as 7 of 56 with 4 work-items instead of 8 with one; if there is
 * none, the largest divisor below. */
static void fit_rows(struct layer *l, int64_t most)
{
    int64_t extent = l->t.bb->logicals[l->h].extent, wanted = l->shape.rows;
    l->shape.rows = l->rows = 1;
    for (int64_t n = wanted; n > 1; n--) {
        int64_t items = extent % n ? 0 : tiler_divisor(extent / n, most, 1);
        if (!items || (l->shape.rows > 1 && (items <= l->rows || 4 * n < 3 * wanted))) continue;
        l->shape.rows = n;
        l->rows = items;
    }
}

static void fit(struct layer *l)
{
    int64_t full = l->shape.staged ? STAGED_GROUP : GROUP;
    if (full > l->t.device->max_work_group) full = l->t.device->max_work_group;
    l->columns = tiler_divisor(l->t.bb->logicals[l->w].extent, MOST_COLUMNS, 1);
    int64_t most = full / (l->columns * l->shape.parts);
    fit_rows(l, most > 1 ? most : 1);
}

/* Whether the kernels of a group are a region of their own for which local memory has room, beside the parts
 * of sums. */
static bool has_room(const struct layer *l)
{
    const struct tiler *t = &l->t;
    const struct backbone *bb = t->bb;
    const struct bb_inst *load = &bb->insts[l->kernels];
    if (load->value == BB_NONE || bb_is_shared(bb, &bb->values[load->value])) return false;
    const struct bb_region *region = &bb->regions[bb->values[load->value].region];
    int64_t elements = l->shape.outputs;
    for (unsigned i = 0; i < load->n_logicals; i++)
        if (load->logicals[i] != l->o) elements *= bb->logicals[load->logicals[i]].extent;
    int64_t parts = l->shape.parts > 1 ? t->device->max_work_group : 0;
    return region->n_dims == load->n_logicals && (l->batch == BB_NONE || !bb_owns(load, l->batch)) &&
           (elements + parts) * (int64_t)scalar_type_bytes(region->type) <= t->device->local_bytes;
}

static bool is_possible(const struct layer *l)
{
    const struct backbone *bb = l->t.bb;
    const struct layer_shape *s = &l->shape;
    const struct bb_logical *o = &bb->logicals[l->o], *h = &bb->logicals[l->h], *w = &bb->logicals[l->w],
                            *c = &bb->logicals[l->c];
    bool levels = o->n_levels > OUTPUT && h->n_levels > row_register(l) && w->n_levels > column_item(l) &&
                  c->n_levels >= 1u + (s->parts > 1) + (s->steps > 1);
    return levels && s->rows > 1 && l->columns > 1 && o->extent % s->outputs == 0 && o->extent > s->outputs &&
           c->extent % (s->parts * s->steps) == 0 && c->extent > s->parts * s->steps &&
           (l->batch == BB_NONE || !row_item(l) || !column_item(l)) && /* axes of groups */
           (s->parts == 1 || bb_may_split(c, true)) && (!s->staged || has_room(l)) &&
           l->columns * l->rows * s->parts <= l->t.device->max_work_group;
}

/* Sizes of all levels but the first one that is there; ends with 0. Those of 1 are left out. */
static void decide_levels(struct layer *l, uint32_t logical, int64_t first, int64_t second, int64_t third)
{
    const int64_t all[] = {first, second, third};
    int64_t sizes[4] = {0};
    unsigned n = 0;
    for (unsigned i = 0; i < 3; i++)
        if (all[i] > 1) sizes[n++] = all[i];
    tiler_sizes(&l->t, logical, 1, n ? sizes + 1 : sizes);
}

static void decide_sizes(struct layer *l)
{
    struct tiler *t = &l->t;
    const struct backbone *bb = t->bb;
    const struct layer_shape *s = &l->shape;
    const struct bb_inst *step = &bb->insts[t->p.step];
    for (unsigned i = 0; i < step->n_logicals; i++) {
        uint32_t r = step->logicals[i];
        int64_t extent = bb->logicals[r].extent;
        if (bb_has_span(bb, r)) tiler_decide(t, gpu_act_span(t->space, r, extent));
        if (r == l->o)
            decide_levels(l, r, extent / s->outputs, s->outputs, 1);
        else if (r == l->h)
            decide_levels(l, r, extent / (s->rows * l->rows), l->rows, s->rows);
        else if (r == l->w)
            decide_levels(l, r, extent / l->columns, l->columns, 1);
        else if (r == l->c)
            decide_levels(l, r, extent / (s->parts * s->steps), s->parts, s->steps);
        else
            decide_levels(l, r, extent, 1, 1);
    }
}

static void decide_axes(struct layer *l)
{
    struct tiler *t = &l->t;
    uint32_t store = t->p.store;
    enum gpu_map_encoding group = GPU_MAP_ENCODING_WRG0, item = GPU_MAP_ENCODING_LCL0;
    if (column_item(l)) tiler_axis(t, store, l->w, BLOCK, group++);
    if (row_item(l)) tiler_axis(t, store, l->h, BLOCK, group++);
    tiler_axis(t, store, l->o, BLOCK, group++);
    if (l->batch != BB_NONE) tiler_axis(t, store, l->batch, BLOCK, group);
    tiler_axis(t, store, l->w, column_item(l), item++);
    if (l->rows > 1) tiler_axis(t, store, l->h, row_item(l), item++);
    if (l->shape.parts > 1) tiler_axis(t, t->p.step, l->c, 1, item);
}

/* The reduced dimensions of an instruction. */
static void decide_sums(struct layer *l, uint32_t inst)
{
    struct tiler *t = &l->t;
    const struct layer_shape *s = &l->shape;
    const struct bb_inst *step = &t->bb->insts[t->p.step];
    int64_t sums = s->outputs * s->rows * s->steps;
    for (unsigned i = 0; i < step->n_logicals; i++) {
        uint32_t r = step->logicals[i];
        int64_t extent = t->bb->logicals[r].extent;
        if (!bb_reduces(t->bb, step, r)) continue;
        bool unrolled = r != l->c && extent <= MOST_WINDOW && sums * extent <= MOST_SUMS;
        if (unrolled) sums *= extent;
        tiler_kind(t, inst, r, LOOP, unrolled ? GPU_DIM_KIND_UNROLL : GPU_DIM_KIND_LOOP);
    }
    if (s->steps > 1) tiler_kind(t, inst, l->c, channel_step(l), GPU_DIM_KIND_UNROLL);
    if (inst == t->p.step) return;
    tiler_order(t, tiler_statement(t, inst, l->c, LOOP), GPU_ORDER_MERGED,
                tiler_statement(t, t->p.step, l->c, LOOP));
}

static void decide_registers(struct layer *l, uint32_t inst)
{
    struct tiler *t = &l->t;
    const struct bb_inst *i = &t->bb->insts[inst];
    if (bb_owns(i, l->o))
        tiler_kind(t, inst, l->o, OUTPUT,
                   l->shape.staged && inst == l->kernels && tiler_has_width(t, l->shape.outputs)
                       ? GPU_DIM_KIND_VECTOR
                       : GPU_DIM_KIND_UNROLL);
    if (bb_owns(i, l->h)) tiler_kind(t, inst, l->h, row_register(l), GPU_DIM_KIND_UNROLL);
}

/* A logical of the copy by so many work-items, each in turn; *copies counts what is unrolled. false: it has
 * too few levels. */
static bool copy_by(struct layer *l, uint32_t logical, int64_t extent, int64_t items,
                    enum gpu_map_encoding axis, int64_t *copies)
{
    struct tiler *t = &l->t;
    uint32_t copy = t->bb->values[t->bb->insts[l->kernels].value].copy_load;
    int64_t times = extent / items;
    bool unrolled = *copies * times <= MOST_COPIES;
    if (t->bb->logicals[logical].n_levels < (unsigned)(times > 1) + (items > 1)) return false;
    if (unrolled) *copies *= times;
    tiler_sizes(t, logical, 0,
                times > 1 ? (const int64_t[]){times, items > 1 ? items : 0, 0} : (const int64_t[]){items, 0});
    if (times > 1) tiler_kind(t, copy, logical, 0, unrolled ? GPU_DIM_KIND_UNROLL : GPU_DIM_KIND_LOOP);
    if (items > 1) tiler_axis(t, copy, logical, times > 1, axis);
    return true;
}

/* Work-items copy neighbouring channels of the group's kernels, each all elements of a window. */
static bool decide_copy(struct layer *l)
{
    struct tiler *t = &l->t;
    const struct backbone *bb = t->bb;
    const struct bb_inst *load = &bb->insts[l->kernels];
    const struct bb_value *v = &bb->values[load->value];
    struct tiler_coordinate o = tiler_coordinate(t, load->value, l->o, 1);
    int64_t second = l->rows > 1 ? l->rows : l->shape.parts, copies = 1; /* work-items of the next axis */
    tiler_decide(t, gpu_act_mem_space(t->space, v->region, GPU_MEM_SPACE_LOCAL));
    tiler_decide(t, gpu_act_pad(t->space, v->region, 0));
    bool fits = true;
    for (unsigned i = load->n_logicals; i-- > 0;) { /* sides of windows first: they are unrolled */
        uint32_t r = load->logicals[i];
        int64_t extent = bb->logicals[r].extent;
        if (r == l->o) continue;
        struct tiler_coordinate c = tiler_coordinate(t, load->value, r, 0);
        tiler_decide(t, gpu_act_layout_order(t->space, o.term, c.term, GPU_LAYOUT_ORDER_INSIDE));
        int64_t items = r == l->c ? tiler_divisor(extent, l->columns, 1) : 1;
        fits &= copy_by(l, c.copy, extent, items, GPU_MAP_ENCODING_LCL0, &copies);
    }
    int64_t across = tiler_divisor(l->shape.outputs, second, 1);
    return copy_by(l, o.copy, l->shape.outputs, across, GPU_MAP_ENCODING_LCL1, &copies) && fits;
}

static bool decide_all(struct layer *l)
{
    struct tiler *t = &l->t;
    const uint32_t sums[] = {t->p.step, l->kernels, l->images};
    uint32_t staged = l->shape.staged ? t->bb->insts[l->kernels].value : BB_NONE;
    decide_sizes(l);
    if (bb_may_split(&t->bb->logicals[l->c], true))
        tiler_split(t, l->c, l->shape.parts > 1 ? 1 : BB_MAX_LEVELS, GPU_SPLIT_ITEMS);
    decide_axes(l);
    for (uint32_t v = 0; v < t->bb->n_values; v++)
        tiler_decide(t, gpu_act_staged(t->space, v, v == staged ? GPU_STAGED_YES : GPU_STAGED_NO));
    decide_registers(l, t->p.init);
    decide_registers(l, t->p.store);
    for (unsigned i = 0; i < 3; i++) {
        decide_registers(l, sums[i]);
        decide_sums(l, sums[i]);
    }
    return !l->shape.staged || decide_copy(l);
}

static const char *label_of(const struct layer *l)
{
    struct arena *a = l->t.arena;
    const struct layer_shape *s = &l->shape;
    return arena_printf(a,
                        "one work-item per %" PRId64 " x %" PRId64 " results of a layer%s%s, %" PRId64
                        " channel%s at a time",
                        s->outputs, s->rows, s->staged ? ", kernels staged" : "",
                        s->parts > 1 ? arena_printf(a, ", sums shared by %" PRId64, s->parts) : "", s->steps,
                        s->steps > 1 ? "s" : "");
}

unsigned bb_layers(const struct backbone *bb, const struct space *space, const struct bb_device *device,
                   struct arena *a, struct bb_plain out[BB_MAX_LAYERS])
{
    static const struct layer_shape shapes[BB_MAX_LAYERS] = {
        {4, 8, 32, 2, false}, {4, 8, 32, 1, false}, {4, 8, 16, 2, false},
        {4, 8, 4, 2, false},  {2, 8, 1, 1, false},  {4, 4, 4, 2, true},
        {4, 8, 4, 1, true},   {4, 8, 2, 1, true},   {8, 4, 1, 1, true}};
    struct layer found = {.t = {.bb = bb, .space = space, .device = device, .arena = a}};
    unsigned n = 0;
    if (!device->gpu || !find(&found)) return 0;
    for (unsigned i = 0; i < BB_MAX_LAYERS; i++) {
        struct layer l = found;
        l.shape = shapes[i];
        fit(&l);
        if (is_possible(&l) && decide_all(&l))
            out[n++] = (struct bb_plain){.label = label_of(&l), .decisions = l.t.decisions};
    }
    return n;
}
