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
 * memory. Copies load vectors along the dimension in which their array is contiguous, or single elements if
 * its rows are not aligned; if the tile is not stored along that dimension, its rows are padded.
 *
 * Of the largest shape there is another one with four pairs of rows instead of two halves of 4, without
 * padding, as the fastest of a recorded pool has it: with other orders of unrolled statements 354 us there,
 * the one in halves 371 (2048 x 2048 x 2048, H200, experiments/results/2026-11-29-contenders.md).
 *
 * Thirteen searches without these found nothing as fast for a product of 2048 x 2048 x 2048: too many
 * decisions have to go together. Searches that start from these find kernels that are up to 11 % faster
 * (experiments/results/2026-11-27-tiled.md). */
#include "core/backbone/tiled.h"

#include <inttypes.h>

#include "core/backbone/product.h"
#include "core/base/arena.h"

enum { HALVES = 2, REGISTERS = 4, PAIR = 2 };

/* Levels of m and n, as all instructions have them. */
enum { BLOCK, HALF, ITEM, REGISTER };

/* The largest number up to `most`, and at least a quarter of it, so many times `unit` fits a dimension; 0:
 * none does. */
static int64_t fit(const struct bb_logical *l, int64_t most, int64_t unit)
{
    for (int64_t n = most; 4 * n >= most && n > 0; n--)
        if (tiler_span(l, n * unit)) return n;
    return 0;
}

static bool fit_shape(const struct backbone *bb, const struct product *p, struct shape *s)
{
    s->m = fit(&bb->logicals[p->m], s->m, HALVES * REGISTERS);
    s->n = fit(&bb->logicals[p->n], s->n, HALVES * REGISTERS);
    s->k = REGISTERS * fit(&bb->logicals[p->k], s->k / REGISTERS, REGISTERS);
    return s->m * s->n > 1 && s->k > 0;
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
    if (!tiler_decide_span(t, p->m, p->a.tile) || !tiler_decide_span(t, p->n, p->b.tile) ||
        !tiler_decide_span(t, p->k, s->k))
        return false;
    tiler_sizes(t, p->m, 1, (const int64_t[]){HALVES * REGISTERS / s->run, s->m, s->run, 0});
    tiler_sizes(t, p->n, 1, (const int64_t[]){HALVES, s->n, REGISTERS, 0});
    tiler_sizes(t, p->k, 1, (const int64_t[]){s->k, 0});
    if (p->batch != BB_NONE) tiler_sizes(t, p->batch, 1, (const int64_t[]){0});
    return true;
}

/* Blocks and work-items of the store, which the other instructions share. */
static void decide_axes(struct tiler *t)
{
    const struct product *p = &t->p;
    if (p->batch != BB_NONE) tiler_axis(t, p->store, p->batch, BLOCK, GPU_MAP_ENCODING_WRG2);
    tiler_axis(t, p->store, p->m, BLOCK, GPU_MAP_ENCODING_WRG1);
    tiler_axis(t, p->store, p->n, BLOCK, GPU_MAP_ENCODING_WRG0);
    tiler_axis(t, p->store, p->m, ITEM, GPU_MAP_ENCODING_LCL0);
    tiler_axis(t, p->store, p->n, ITEM, GPU_MAP_ENCODING_FUSED);
    tiler_order(t, tiler_statement(t, p->store, p->m, ITEM), GPU_ORDER_MERGED,
                tiler_statement(t, p->store, p->n, ITEM));
}

/* The registers of the results, rows around columns of vectors. */
static void decide_registers(struct tiler *t, uint32_t inst)
{
    const struct product *p = &t->p;
    tiler_kind(t, inst, p->m, HALF, GPU_DIM_KIND_UNROLL);
    tiler_kind(t, inst, p->m, REGISTER, GPU_DIM_KIND_UNROLL);
    tiler_kind(t, inst, p->n, HALF, GPU_DIM_KIND_UNROLL);
    tiler_kind(t, inst, p->n, REGISTER, GPU_DIM_KIND_VECTOR);
    tiler_order(t, tiler_statement(t, inst, p->m, HALF), GPU_ORDER_OUTER,
                tiler_statement(t, inst, p->m, REGISTER));
    tiler_order(t, tiler_statement(t, inst, p->m, REGISTER), GPU_ORDER_OUTER,
                tiler_statement(t, inst, p->n, HALF));
}

static void decide_step(struct tiler *t)
{
    const struct product *p = &t->p;
    tiler_kind(t, p->step, p->k, 0, GPU_DIM_KIND_LOOP);
    tiler_kind(t, p->step, p->k, 1, GPU_DIM_KIND_UNROLL);
    decide_registers(t, p->step);
    tiler_order(t, tiler_statement(t, p->step, p->k, 0), GPU_ORDER_OUTER,
                tiler_statement(t, p->step, p->m, ITEM));
    tiler_order(t, tiler_statement(t, p->step, p->k, 1), GPU_ORDER_OUTER,
                tiler_statement(t, p->step, p->m, HALF));
}

/* Vectors from local memory, beside the arithmetic. */
static void decide_load(struct tiler *t, const struct side *s)
{
    const struct product *p = &t->p;
    uint32_t load = t->bb->values[s->value].load;
    tiler_kind(t, load, s->own, HALF, GPU_DIM_KIND_UNROLL);
    tiler_kind(t, load, s->own, REGISTER, GPU_DIM_KIND_VECTOR);
    tiler_order(t, tiler_statement(t, load, s->own, ITEM), GPU_ORDER_MERGED,
                tiler_statement(t, p->step, s->own, ITEM));
    tiler_order(t, tiler_statement(t, load, p->k, 1), GPU_ORDER_MERGED, tiler_statement(t, p->step, p->k, 1));
    tiler_order(t, tiler_statement(t, load, s->own, HALF), GPU_ORDER_BEFORE,
                tiler_statement(t, p->step, s->own, HALF));
}

/* ---- copies ---- */

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
    struct tiler_coordinate own = tiler_coordinate(t, s->value, s->own, 1),
                            k = tiler_coordinate(t, s->value, t->p.k, 1);
    if (t->p.batch != BB_NONE && bb_owns(&t->bb->insts[v->load], t->p.batch))
        tiler_coordinate(t, s->value, t->p.batch, 1);
    int64_t steps = t->shape.k;
    bool rows = product_is_contiguous(t->bb, v->load, s->own);
    bool vectors = product_has_vectors(t->bb, v->load, rows ? s->own : t->p.k, REGISTERS);
    int64_t width = vectors ? REGISTERS : 1;
    tiler_decide(t, gpu_act_mem_space(t->space, v->region, GPU_MEM_SPACE_LOCAL));
    tiler_decide(t, gpu_act_layout_order(t->space, own.term, k.term, GPU_LAYOUT_ORDER_INSIDE));
    bool pairs = t->shape.run == PAIR;
    int64_t pad = rows || pairs ? 0 : padding(t, v);
    tiler_decide(t, gpu_act_pad(t->space, v->region, pad));
    tiler_decide(t, gpu_act_stages(t->space, v->region, 2));
    int64_t items = t->shape.m * t->shape.n;
    return tiler_walk(
        t, v, items,
        rows ? &(struct tiler_walk){own.copy, k.copy, s->tile, steps, width, false, true}
             : &(struct tiler_walk){k.copy, own.copy, steps, s->tile, width, pad == 0 && !pairs, false});
}

/* ---- shapes ---- */

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
        tiler_decide(t, gpu_act_staged(t->space, v,
                                       v == p->a.value || v == p->b.value ? GPU_STAGED_YES : GPU_STAGED_NO));
    decide_load(t, &p->a);
    decide_load(t, &p->b);
    tiler_order(t, a->load, GPU_ORDER_BEFORE, b->load);
    if (!decide_copy(t, &p->a) || !decide_copy(t, &p->b)) return false;
    tiler_order(t, a->copy_store, GPU_ORDER_BEFORE, b->copy_load);
    return true;
}

unsigned bb_tiled(const struct backbone *bb, const struct space *space, const struct bb_device *device,
                  struct arena *a, struct bb_plain out[BB_MAX_TILED])
{
    static const struct shape shapes[BB_MAX_TILED] = {{32, 16, 16, REGISTERS},
                                                      {16, 16, 8, REGISTERS},
                                                      {16, 8, 16, REGISTERS},
                                                      {8, 8, 16, REGISTERS},
                                                      {32, 16, 16, PAIR}};
    struct product p;
    unsigned n = 0;
    if (!device->gpu || !product_find(bb, &p)) return 0;
    for (unsigned i = 0; i < BB_MAX_TILED; i++) {
        struct tiler t = {.bb = bb, .space = space, .device = device, .arena = a, .p = p, .shape = shapes[i]};
        if (product_is_apart(bb, &p, &p.a) && !product_is_apart(bb, &p, &p.b)) swap(&t.shape);
        if (!fit_shape(bb, &p, &t.shape) || t.shape.m * t.shape.n > device->max_work_group) continue;
        if (!decide_all(&t)) continue;
        out[n++] = (struct bb_plain){
            .label = arena_printf(
                a, "groups of %" PRId64 " x %" PRId64 " results, tiles of %" PRId64 " steps loaded ahead%s",
                t.p.a.tile, t.p.b.tile, t.shape.k, t.shape.run == PAIR ? ", rows in pairs" : ""),
            .decisions = t.decisions};
    }
    return n;
}
