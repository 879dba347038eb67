/* Tiled products as decisions. Of C[m][n] = sum over k of A[m][k] * B[k][n], 128 x 128 results by 256
 * work-items of 8 x 8 each:
 *
 *     size(m.1..3)=2,16,4  size(n.1..3)=2,16,4     blocks of 128; halves, work-items, registers
 *     size(k.1)=8                                  the steps of an iteration, unrolled around the registers
 *     staged(A)=YES  staged(B)=YES  stages(*)=2    128 x 8 of A and 8 x 128 of B, loaded one iteration ahead
 *     size(A.copy.m.0)=128  size(A.copy.k.0)=2  size(A.copy.k.1)=4       one vector of 4 for each work-item
 *
 * and the kinds and the order of all dimensions. Where an extent is no multiple of a tile and is not rounded
 * up to one, the tile is smaller: 200 x 40 results of 1000 x 1000.
 *
 * Each work-item has its results in two halves of 4, so that neighbours read neighbouring vectors of local
 * memory. Copies load vectors along the dimension in which their array is contiguous; if the tile is not
 * stored along that dimension, its rows are padded.
 *
 * Thirteen searches without these found nothing as fast for a product of 2048 x 2048 x 2048: too many
 * decisions have to go together. Searches that start from these find kernels that are up to 11 % faster
 * (experiments/results/2026-11-27-tiled.md). */
#include "core/backbone/tiled.h"

#include <inttypes.h>

#include "core/backbone/seat.h"
#include "core/base/arena.h"

enum { HALVES = 2, REGISTERS = 4 };

/* Levels of m and n, as all instructions have them. */
enum { BLOCK, HALF, ITEM, REGISTER };

/* Work-items of a group along m and n; steps along k that are staged together. */
struct shape {
    int64_t m, n, k;
};

/* An array that is multiplied. */
struct side {
    uint32_t value, own; /* own: m or n */
    int64_t tile;        /* elements along `own` */
};

struct product {
    uint32_t step, init, store;
    uint32_t m, n, k, batch; /* batch: of independent products; BB_NONE: there is one */
    struct side a, b;        /* of m and of n */
};

struct tiler {
    const struct backbone *bb;
    const struct space *space;
    const struct bb_device *device;
    struct arena *arena;
    struct product p;
    struct shape shape;
    struct bb_decisions decisions;
};

/* ---- the product ---- */

static bool is_one_step(const struct backbone *bb, uint32_t *step)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        if (bb->insts[i].kind != BB_STEP) continue;
        *step = i;
        n++;
    }
    return n == 1 && !bb->insts[*step].scan && bb->insts[*step].n_more == 0;
}

static uint32_t only_store(const struct backbone *bb)
{
    uint32_t store = BB_NONE;
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        if (bb->insts[i].kind != BB_STORE) continue;
        if (store != BB_NONE) return BB_NONE;
        store = i;
    }
    return store;
}

/* The reduced logical of a step that reduces one; BB_NONE: it reduces several. */
static uint32_t reduced(const struct backbone *bb, const struct bb_inst *step)
{
    uint32_t k = BB_NONE;
    for (unsigned i = 0; i < step->n_logicals; i++) {
        if (!bb_reduces(bb, step, step->logicals[i])) continue;
        if (k != BB_NONE) return BB_NONE;
        k = step->logicals[i];
    }
    return k;
}

/* Whether a load has the logicals `own` and k, perhaps that of the batch, and no other one, each as a
 * coordinate of its region. */
static bool is_side(const struct backbone *bb, const struct bb_inst *load, uint32_t own,
                    const struct product *p)
{
    if (load->kind != BB_LOAD || load->value == BB_NONE) return false;
    unsigned n = p->batch != BB_NONE && bb_owns(load, p->batch) ? 3 : 2;
    return load->n_logicals == n && bb_owns(load, own) && bb_owns(load, p->k) &&
           bb->regions[bb->values[load->value].region].n_dims == n;
}

static bool find_product(const struct backbone *bb, struct product *p)
{
    if (!is_one_step(bb, &p->step)) return false;
    const struct bb_inst *step = &bb->insts[p->step];
    p->init = step->partner;
    p->store = only_store(bb);
    p->k = reduced(bb, step);
    if (p->store == BB_NONE || p->k == BB_NONE || step->n_operands != 3) return false;
    const struct bb_inst *store = &bb->insts[p->store];
    unsigned outer = store->n_logicals - 2; /* logicals around m and n */
    if (store->n_logicals < 2 || outer > 1 || step->n_logicals != store->n_logicals + 1) return false;
    p->batch = outer ? store->logicals[0] : BB_NONE;
    p->m = store->logicals[outer];
    p->n = store->logicals[outer + 1];
    const struct bb_inst *x = &bb->insts[step->operands[1]], *y = &bb->insts[step->operands[2]];
    bool swapped = is_side(bb, y, p->m, p);
    if (!is_side(bb, swapped ? y : x, p->m, p) || !is_side(bb, swapped ? x : y, p->n, p)) return false;
    if (p->batch != BB_NONE && bb->logicals[p->batch].extent == 1) return false;
    p->a = (struct side){.value = (swapped ? y : x)->value, .own = p->m};
    p->b = (struct side){.value = (swapped ? x : y)->value, .own = p->n};
    return true;
}

/* ---- decisions ---- */

static void decide(struct tiler *t, struct space_action decision)
{
    bb_decisions_add(&t->decisions, t->arena, decision);
}

static uint32_t statement(const struct tiler *t, uint32_t inst, uint32_t logical, unsigned level)
{
    const struct bb_inst *i = &t->bb->insts[inst];
    uint32_t d = i->first_dim;
    while (t->bb->dims[d].tile != t->bb->logicals[logical].first_tile + level)
        d++;
    return bb_dim_statement(t->bb, d);
}

static void decide_kind(struct tiler *t, uint32_t inst, uint32_t logical, unsigned level,
                        enum gpu_dim_kind kind)
{
    decide(t, gpu_act_dim_kind(t->space, statement(t, inst, logical, level), kind));
}

static void decide_axis(struct tiler *t, uint32_t inst, uint32_t logical, unsigned level,
                        enum gpu_map_encoding axis)
{
    decide(t, gpu_act_map_encoding(t->space, statement(t, inst, logical, level), axis));
}

static void decide_order(struct tiler *t, uint32_t first, enum gpu_order order, uint32_t second)
{
    decide(t, gpu_act_order(t->space, first, second, order));
}

/* Sizes of the levels from 1 on: `sizes` ends with 0, and those after it are 1. */
static void decide_sizes(struct tiler *t, uint32_t logical, unsigned from, const int64_t *sizes)
{
    const struct bb_logical *l = &t->bb->logicals[logical];
    for (unsigned level = from; level < l->n_levels; level++) {
        decide(t, gpu_act_size(t->space, l->first_tile + level, *sizes ? *sizes : 1));
        if (*sizes) sizes++;
    }
}

/* The least span that blocks of `tile` cover, of at least two; 0: there is none. */
static int64_t span_of(const struct bb_logical *l, int64_t tile)
{
    if (l->extent % tile == 0) return l->extent > tile ? l->extent : 0;
    for (unsigned i = 1; i < l->n_spans; i++)
        if (l->spans[i] % tile == 0 && l->spans[i] > tile) return l->spans[i];
    return 0;
}

/* The largest number up to `most`, and at least a quarter of it, so many times `unit` fits a dimension; 0:
 * none does. */
static int64_t fit(const struct bb_logical *l, int64_t most, int64_t unit)
{
    for (int64_t n = most; 4 * n >= most && n > 0; n--)
        if (span_of(l, n * unit)) return n;
    return 0;
}

static bool fit_shape(const struct backbone *bb, const struct product *p, struct shape *s)
{
    s->m = fit(&bb->logicals[p->m], s->m, HALVES * REGISTERS);
    s->n = fit(&bb->logicals[p->n], s->n, HALVES * REGISTERS);
    s->k = REGISTERS * fit(&bb->logicals[p->k], s->k / REGISTERS, REGISTERS);
    return s->m * s->n > 1 && s->k > 0;
}

static bool decide_span(struct tiler *t, uint32_t logical, int64_t tile)
{
    int64_t span = span_of(&t->bb->logicals[logical], tile);
    if (span && bb_has_span(t->bb, logical)) decide(t, gpu_act_span(t->space, logical, span));
    return span > 0;
}

/* ---- the dimensions of the product ---- */

static bool decide_tiles(struct tiler *t)
{
    struct product *p = &t->p;
    const struct shape *s = &t->shape;
    const struct bb_logical *logicals = t->bb->logicals;
    p->a.tile = HALVES * REGISTERS * s->m;
    p->b.tile = HALVES * REGISTERS * s->n;
    if (logicals[p->m].n_levels <= REGISTER || logicals[p->n].n_levels <= REGISTER ||
        logicals[p->k].n_levels < 2)
        return false;
    if (!decide_span(t, p->m, p->a.tile) || !decide_span(t, p->n, p->b.tile) || !decide_span(t, p->k, s->k))
        return false;
    decide_sizes(t, p->m, 1, (const int64_t[]){HALVES, s->m, REGISTERS, 0});
    decide_sizes(t, p->n, 1, (const int64_t[]){HALVES, s->n, REGISTERS, 0});
    decide_sizes(t, p->k, 1, (const int64_t[]){s->k, 0});
    if (p->batch != BB_NONE) decide_sizes(t, p->batch, 1, (const int64_t[]){0});
    return true;
}

/* Blocks and work-items of the store, which the other instructions share. */
static void decide_axes(struct tiler *t)
{
    const struct product *p = &t->p;
    if (p->batch != BB_NONE) decide_axis(t, p->store, p->batch, BLOCK, GPU_MAP_ENCODING_WRG2);
    decide_axis(t, p->store, p->m, BLOCK, GPU_MAP_ENCODING_WRG1);
    decide_axis(t, p->store, p->n, BLOCK, GPU_MAP_ENCODING_WRG0);
    decide_axis(t, p->store, p->m, ITEM, GPU_MAP_ENCODING_LCL0);
    decide_axis(t, p->store, p->n, ITEM, GPU_MAP_ENCODING_FUSED);
    decide_order(t, statement(t, p->store, p->m, ITEM), GPU_ORDER_MERGED, statement(t, p->store, p->n, ITEM));
}

/* The registers of the results, rows around columns of vectors. */
static void decide_registers(struct tiler *t, uint32_t inst)
{
    const struct product *p = &t->p;
    decide_kind(t, inst, p->m, HALF, GPU_DIM_KIND_UNROLL);
    decide_kind(t, inst, p->m, REGISTER, GPU_DIM_KIND_UNROLL);
    decide_kind(t, inst, p->n, HALF, GPU_DIM_KIND_UNROLL);
    decide_kind(t, inst, p->n, REGISTER, GPU_DIM_KIND_VECTOR);
    decide_order(t, statement(t, inst, p->m, HALF), GPU_ORDER_OUTER, statement(t, inst, p->m, REGISTER));
    decide_order(t, statement(t, inst, p->m, REGISTER), GPU_ORDER_OUTER, statement(t, inst, p->n, HALF));
}

static void decide_step(struct tiler *t)
{
    const struct product *p = &t->p;
    decide_kind(t, p->step, p->k, 0, GPU_DIM_KIND_LOOP);
    decide_kind(t, p->step, p->k, 1, GPU_DIM_KIND_UNROLL);
    decide_registers(t, p->step);
    decide_order(t, statement(t, p->step, p->k, 0), GPU_ORDER_OUTER, statement(t, p->step, p->m, ITEM));
    decide_order(t, statement(t, p->step, p->k, 1), GPU_ORDER_OUTER, statement(t, p->step, p->m, HALF));
}

/* Vectors from local memory, beside the arithmetic. */
static void decide_load(struct tiler *t, const struct side *s)
{
    const struct product *p = &t->p;
    uint32_t load = t->bb->values[s->value].load;
    decide_kind(t, load, s->own, HALF, GPU_DIM_KIND_UNROLL);
    decide_kind(t, load, s->own, REGISTER, GPU_DIM_KIND_VECTOR);
    decide_order(t, statement(t, load, s->own, ITEM), GPU_ORDER_MERGED, statement(t, p->step, s->own, ITEM));
    decide_order(t, statement(t, load, p->k, 1), GPU_ORDER_MERGED, statement(t, p->step, p->k, 1));
    decide_order(t, statement(t, load, s->own, HALF), GPU_ORDER_BEFORE, statement(t, p->step, s->own, HALF));
}

/* ---- copies ---- */

static bool is_contiguous(const struct backbone *bb, uint32_t inst, uint32_t logical)
{
    int affine = 0;
    return index_stride(bb->insts[inst].index, logical, &affine) == 1 && affine;
}

/* The region's coordinates along `own` and along k. Level 0 of all logicals is outside of the copy. */
static void decide_coordinates(struct tiler *t, const struct side *s, uint32_t *own, uint32_t *k)
{
    const struct bb_region *r = &t->bb->regions[t->bb->values[s->value].region];
    for (uint32_t c = r->first_region_dim; c < r->first_region_dim + r->n_dims; c++) {
        uint32_t term = t->bb->region_dims[c].first_term, logical = t->bb->terms[term].logical;
        decide(t, gpu_act_outside(t->space, term, 1));
        if (logical == s->own) *own = c;
        if (logical == t->p.k) *k = c;
    }
}

/* How a copy goes over its tile: `width` elements at once along the logical `along`, of n_along; `across` is
 * the other one. Logicals of the copy. */
struct walk {
    uint32_t along, across;
    int64_t n_along, n_across, width;
    bool swapped; /* neighbouring work-items across, not along */
};

/* A vector for each work-item, or several where there are fewer work-items. */
static bool decide_walk(struct tiler *t, const struct bb_value *v, const struct walk *w)
{
    const struct bb_logical *along = &t->bb->logicals[w->along], *across = &t->bb->logicals[w->across];
    int64_t vectors = w->n_along / w->width, items = t->shape.m * t->shape.n;
    int64_t times = 1;
    while (times < w->n_across && (w->n_across % times || vectors * w->n_across > times * items))
        times++;
    unsigned item = times > 1 ? 1 : 0, vector = vectors > 1 ? 1 : 0;
    if (times == w->n_across) return false;
    if (across->n_levels <= item || along->n_levels <= vector) return false;
    decide_sizes(t, w->across, 0,
                 times > 1 ? (const int64_t[]){times, w->n_across / times, 0}
                           : (const int64_t[]){w->n_across, 0, 0});
    decide_sizes(t, w->along, 0,
                 vectors > 1 ? (const int64_t[]){vectors, w->width > 1 ? w->width : 0, 0}
                             : (const int64_t[]){w->width, 0, 0});
    if (times > 1) decide_kind(t, v->copy_load, w->across, 0, GPU_DIM_KIND_UNROLL);
    decide_axis(t, v->copy_load, w->across, item,
                w->swapped ? GPU_MAP_ENCODING_FUSED : GPU_MAP_ENCODING_LCL0);
    if (vectors > 1)
        decide_axis(t, v->copy_load, w->along, 0,
                    w->swapped ? GPU_MAP_ENCODING_LCL0 : GPU_MAP_ENCODING_FUSED);
    if (w->width == 1) return true;
    bool kept = along->of != t->p.k; /* vectors of the tile, too */
    decide_kind(t, v->copy_load, w->along, vector, GPU_DIM_KIND_VECTOR);
    decide_kind(t, v->copy_store, w->along, vector, kept ? GPU_DIM_KIND_VECTOR : GPU_DIM_KIND_UNROLL);
    return true;
}

/* Elements between two rows of the tile that keep the banks of a copy's stores apart, if there is memory. */
static int64_t padding(const struct tiler *t, const struct bb_value *v)
{
    int64_t elements = (t->p.a.tile + t->p.b.tile + 2 * REGISTERS) * t->shape.k * 2; /* both may be padded */
    int64_t bytes = elements * (int64_t)scalar_type_bytes(t->bb->regions[v->region].type);
    return bytes <= t->device->local_bytes ? REGISTERS : 0;
}

static bool decide_copy(struct tiler *t, const struct side *s)
{
    const struct bb_value *v = &t->bb->values[s->value];
    uint32_t own = BB_NONE, k = BB_NONE, first = t->bb->regions[v->region].first_region_dim;
    decide_coordinates(t, s, &own, &k);
    uint32_t own_copy = t->bb->insts[v->copy_load].logicals[own - first],
             k_copy = t->bb->insts[v->copy_load].logicals[k - first];
    int64_t steps = t->shape.k;
    bool rows = is_contiguous(t->bb, v->load, s->own), columns = is_contiguous(t->bb, v->load, t->p.k);
    decide(t, gpu_act_mem_space(t->space, v->region, GPU_MEM_SPACE_LOCAL));
    decide(t, gpu_act_layout_order(t->space, own, k, GPU_LAYOUT_ORDER_INSIDE));
    int64_t pad = rows ? 0 : padding(t, v);
    decide(t, gpu_act_pad(t->space, v->region, pad));
    decide(t, gpu_act_stages(t->space, v->region, 2));
    return decide_walk(
        t, v,
        rows ? &(struct walk){own_copy, k_copy, s->tile, steps, REGISTERS, false}
             : &(struct walk){k_copy, own_copy, steps, s->tile, columns ? REGISTERS : 1, pad == 0});
}

/* ---- shapes ---- */

/* Whether the elements of an array are apart from each other: each costs a transaction. */
static bool is_apart(const struct backbone *bb, const struct product *p, const struct side *s)
{
    uint32_t load = bb->values[s->value].load;
    return !is_contiguous(bb, load, s->own) && !is_contiguous(bb, load, p->k);
}

/* Shapes are longer along m than along n, so that B is loaded fewer times than A. Where the elements of A are
 * apart it is the other way round: 122 us instead of 160 for 64 x 128 results and 128 x 64 (strided matmul
 * 1024^3, H200). */
static void swap(struct shape *s)
{
    int64_t m = s->m;
    s->m = s->n;
    s->n = m;
}

static bool decide_all(struct tiler *t)
{
    const struct product *p = &t->p;
    const struct bb_value *a = &t->bb->values[p->a.value], *b = &t->bb->values[p->b.value];
    if (!decide_tiles(t)) return false;
    decide_axes(t);
    decide_step(t);
    decide_registers(t, p->init);
    decide_registers(t, p->store);
    for (uint32_t v = 0; v < t->bb->n_values; v++)
        decide(t, gpu_act_staged(t->space, v,
                                 v == p->a.value || v == p->b.value ? GPU_STAGED_YES : GPU_STAGED_NO));
    decide_load(t, &p->a);
    decide_load(t, &p->b);
    decide_order(t, a->load, GPU_ORDER_BEFORE, b->load);
    if (!decide_copy(t, &p->a) || !decide_copy(t, &p->b)) return false;
    decide_order(t, a->copy_store, GPU_ORDER_BEFORE, b->copy_load);
    return true;
}

unsigned bb_tiled(const struct backbone *bb, const struct space *space, const struct bb_device *device,
                  struct arena *a, struct bb_plain out[BB_MAX_TILED])
{
    static const struct shape shapes[BB_MAX_TILED] = {{32, 16, 16}, {16, 16, 8}, {16, 8, 16}, {8, 8, 16}};
    struct product p;
    unsigned n = 0;
    if (!device->gpu || !find_product(bb, &p)) return 0;
    for (unsigned i = 0; i < BB_MAX_TILED; i++) {
        struct tiler t = {.bb = bb, .space = space, .device = device, .arena = a, .p = p, .shape = shapes[i]};
        if (is_apart(bb, &p, &p.a) && !is_apart(bb, &p, &p.b)) swap(&t.shape);
        if (!fit_shape(bb, &p, &t.shape) || t.shape.m * t.shape.n > device->max_work_group) continue;
        if (!decide_all(&t)) continue;
        out[n++] =
            (struct bb_plain){.label = arena_printf(a,
                                                    "groups of %" PRId64 " x %" PRId64
                                                    " results, tiles of %" PRId64 " steps loaded ahead",
                                                    t.p.a.tile, t.p.b.tile, t.shape.k),
                              .decisions = t.decisions};
    }
    return n;
}
