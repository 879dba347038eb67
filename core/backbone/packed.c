/* Products on packed columns as decisions. Of C[m][n] = sum over k of A[m][k] * B[k][n], 512 x 512 x 512:
 *
 *     size(m.0)=4  size(m.1)=32  size(m.2)=4   four groups of one work-item; 128 rows each, four of
 *                                              them at once
 *     size(n.1)=16                             in vectors of 16: eight registers of 8 floats, 4 x 16 sums
 *     size(k.1)=4                              four steps of the inner loop are unrolled
 *     staged(B)=YES                            16 columns of B are copied before the loop over the rows:
 *     outside(n)=1  outside(k)=0               one strip, all steps
 *
 * The inner loop reads B from contiguous memory that stays in a cache near the core. K. Goto, R. A. van de
 * Geijn, "Anatomy of high-performance matrix multiplication", 2008, section 4.2. Ten searches without this
 * found 2.6 to 3.5 ms in 100 evaluations on two cores, this takes 1.8 to 2.2
 * (experiments/results/2026-11-27-contenders.md). */
#include "core/backbone/packed.h"

#include <inttypes.h>

#include "core/backbone/product.h"
#include "core/base/arena.h"

/* Levels: m BLOCK, TIMES, REGISTER; n STRIP, VECTOR; k LOOP, STEP. */
enum { BLOCK, TIMES, REGISTER };
enum { STRIP, VECTOR };
enum { LOOP, STEP };
enum { STEPS = 4 };
/* A group copies all of B, whatever its rows are; shorter vectors leave registers empty. */
enum { LEAST_WIDTH = 4, LEAST_GROUP = 16 };

struct packer {
    struct tiler t;
    int64_t rows, width, group; /* rows and columns of sums in registers; rows of a group */
};

/* Smaller vectors and groups where the device has no such vectors or they do not divide the product. */
static bool fit(struct packer *x)
{
    const struct tiler *t = &x->t;
    int64_t m = t->bb->logicals[t->p.m].extent, n = t->bb->logicals[t->p.n].extent;
    while ((n % x->width || !tiler_has_width(t, x->width)) && x->width > LEAST_WIDTH)
        x->width /= 2;
    while ((m % x->group || m <= x->group) && x->group > LEAST_GROUP)
        x->group -= x->rows;
    return n % x->width == 0 && tiler_has_width(t, x->width) && m % x->group == 0 && m > x->group;
}

static bool is_possible(const struct packer *x)
{
    const struct tiler *t = &x->t;
    const struct bb_logical *m = &t->bb->logicals[t->p.m], *n = &t->bb->logicals[t->p.n],
                            *k = &t->bb->logicals[t->p.k];
    int64_t element = (int64_t)scalar_type_bytes(t->bb->regions[t->bb->values[t->p.b.value].region].type);
    return t->p.batch == BB_NONE && n->extent > x->width && k->extent % STEPS == 0 && k->extent > STEPS &&
           m->n_levels > REGISTER && n->n_levels > VECTOR && k->n_levels > STEP &&
           k->extent * x->width * element <= t->device->local_bytes;
}

static void decide_sizes(struct packer *x)
{
    struct tiler *t = &x->t;
    tiler_keep_extents(t);
    tiler_sizes(t, t->p.m, 1, (const int64_t[]){x->group / x->rows, x->rows, 0});
    tiler_sizes(t, t->p.n, 1, (const int64_t[]){x->width, 0});
    tiler_sizes(t, t->p.k, 1, (const int64_t[]){STEPS, 0});
}

/* Strips of columns around rows around steps. */
static void decide_loops(struct packer *x)
{
    struct tiler *t = &x->t;
    uint32_t store = t->p.store, step = t->p.step;
    tiler_axis(t, store, t->p.m, BLOCK, GPU_MAP_ENCODING_WRG0);
    tiler_kind(t, store, t->p.n, STRIP, GPU_DIM_KIND_LOOP);
    tiler_kind(t, store, t->p.m, TIMES, GPU_DIM_KIND_LOOP);
    tiler_order(t, tiler_statement(t, store, t->p.n, STRIP), GPU_ORDER_OUTER,
                tiler_statement(t, store, t->p.m, TIMES));
    tiler_kind(t, step, t->p.k, LOOP, GPU_DIM_KIND_LOOP);
    tiler_kind(t, step, t->p.k, STEP, GPU_DIM_KIND_UNROLL);
    tiler_order(t, tiler_statement(t, step, t->p.k, STEP), GPU_ORDER_OUTER,
                tiler_statement(t, step, t->p.m, REGISTER));
    tiler_order(t, tiler_statement(t, step, t->p.m, TIMES), GPU_ORDER_MERGED,
                tiler_statement(t, store, t->p.m, TIMES));
    tiler_order(t, tiler_statement(t, step, t->p.n, STRIP), GPU_ORDER_MERGED,
                tiler_statement(t, store, t->p.n, STRIP));
}

static void decide_copy(struct packer *x)
{
    struct tiler *t = &x->t;
    const struct bb_value *v = &t->bb->values[t->p.b.value];
    struct tiler_coordinate n = tiler_coordinate(t, t->p.b.value, t->p.n, 1),
                            k = tiler_coordinate(t, t->p.b.value, t->p.k, 0);
    tiler_decide(t, gpu_act_mem_space(t->space, v->region, GPU_MEM_SPACE_LOCAL));
    tiler_decide(t, gpu_act_layout_order(t->space, n.term, k.term, GPU_LAYOUT_ORDER_INSIDE));
    tiler_decide(t, gpu_act_pad(t->space, v->region, 0));
    tiler_sizes(t, k.copy, 0, (const int64_t[]){t->bb->logicals[t->p.k].extent, 0});
    tiler_sizes(t, n.copy, 0, (const int64_t[]){x->width, 0});
    tiler_kind(t, v->copy_load, k.copy, 0, GPU_DIM_KIND_LOOP);
    tiler_kind(t, v->copy_load, n.copy, 0, GPU_DIM_KIND_VECTOR);
    tiler_kind(t, v->copy_store, n.copy, 0, GPU_DIM_KIND_VECTOR);
    tiler_order(t, tiler_statement(t, v->copy_load, k.copy, 0), GPU_ORDER_MERGED,
                tiler_statement(t, v->copy_store, k.copy, 0));
    tiler_order(t, tiler_statement(t, v->copy_store, k.copy, 0), GPU_ORDER_BEFORE,
                tiler_statement(t, t->p.step, t->p.m, TIMES));
}

static void decide_all(struct packer *x)
{
    struct tiler *t = &x->t;
    decide_sizes(x);
    decide_loops(x);
    for (uint32_t v = 0; v < t->bb->n_values; v++)
        tiler_decide(t, gpu_act_staged(t->space, v, v == t->p.b.value ? GPU_STAGED_YES : GPU_STAGED_NO));
    tiler_results(t, t->p.init, REGISTER, VECTOR);
    tiler_results(t, t->p.step, REGISTER, VECTOR);
    tiler_results(t, t->p.store, REGISTER, VECTOR);
    tiler_load(t, &t->p.a, REGISTER, GPU_DIM_KIND_UNROLL);
    tiler_load(t, &t->p.b, VECTOR, GPU_DIM_KIND_VECTOR);
    decide_copy(x);
}

unsigned bb_packed(const struct backbone *bb, const struct space *space, const struct bb_device *device,
                   struct arena *a, struct bb_plain out[BB_MAX_PACKED])
{
    static const struct packer shapes[BB_MAX_PACKED] = {{.rows = 4, .width = 16, .group = 128},
                                                        {.rows = 8, .width = 16, .group = 128}};
    struct product product;
    unsigned n = 0;
    if (device->gpu || !product_find(bb, &product)) return 0;
    if (!product_is_contiguous(bb, bb->values[product.b.value].load, product.n)) return 0;
    for (unsigned i = 0; i < BB_MAX_PACKED; i++) {
        struct packer x = shapes[i];
        x.t = (struct tiler){.bb = bb, .space = space, .device = device, .arena = a, .p = product};
        if (!fit(&x) || !is_possible(&x)) continue;
        decide_all(&x);
        out[n++] =
            (struct bb_plain){.label = arena_printf(a,
                                                    "groups of %" PRId64 " rows, %" PRId64 " x %" PRId64
                                                    " results in registers, packed columns",
                                                    x.group, x.rows, x.width),
                              .decisions = x.t.decisions};
    }
    return n;
}
