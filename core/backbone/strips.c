/* Products in strips of columns as decisions. Of C[m][n] = sum over k of A[m][k] * B[k][n], 512 x 512 x 512,
 * a strip *packed*: its part of B is copied to contiguous memory first,
 *
 *     size(m.0)=2  size(m.1)=32  size(m.2)=8   groups of one work-item: 256 rows, eight of them at once,
 *     size(n.0)=16 size(n.1)=2  size(n.2)=16   times a strip of two vectors of 16: 8 x 32 sums in registers
 *     size(k.1)=4                              four steps of the inner loop are unrolled
 *     staged(B)=YES                            32 columns of B are copied before the loop over the rows:
 *     outside(n)=1  outside(k)=0               one strip, all steps
 *
 * or read where it is:
 *
 *     size(m.0)=4  size(m.1)=16  size(m.2)=8   groups of 128 rows, eight of them at once; they go over all
 *     size(n.0)=16 size(n.1)=2  size(n.2)=16   strips
 *
 * The loop over the strips is around that over the rows, so the strip of B stays in a cache near the core. K.
 * Goto, R. A. van de Geijn, "Anatomy of high-performance matrix multiplication", 2008, section 4.2. */
#include "core/backbone/strips.h"

#include <inttypes.h>

#include "core/backbone/product.h"
#include "core/base/arena.h"

/* Levels: m BLOCK, TIMES, REGISTER; n STRIP, VECTORS if there are several, lanes(); k LOOP, STEP. */
enum { BLOCK, TIMES, REGISTER };
enum { STRIP, VECTORS };
enum { LOOP, STEP };
/* A group copies its strip, whatever its rows are; shorter vectors leave registers empty. */
enum { LEAST_WIDTH = 4, LEAST_GROUP = 16, LEAST_STEPS = 2 };

struct strips {
    struct tiler t;
    int64_t rows, vectors, width; /* sums in registers: rows of so many vectors of that width */
    int64_t group;                /* rows of a group */
    int64_t steps;                /* of the inner loop, unrolled */
    bool packs;                   /* a group has one strip, a copy; else all strips */
};

/* The level of n that is in a vector. */
static unsigned lanes(const struct strips *x)
{
    return x->vectors > 1 ? VECTORS + 1 : VECTORS;
}

/* Smaller vectors, groups and steps where these do not divide, or the device has no such vectors. */
static bool fit(struct strips *x)
{
    const struct tiler *t = &x->t;
    int64_t m = t->bb->logicals[t->p.m].extent, n = t->bb->logicals[t->p.n].extent;
    while (t->bb->logicals[t->p.k].extent % x->steps && x->steps > LEAST_STEPS)
        x->steps /= 2;
    while ((n % (x->vectors * x->width) || !tiler_has_width(t, x->width)) && x->width > LEAST_WIDTH)
        x->width /= 2;
    while ((m % x->group || m <= x->group) && x->group > LEAST_GROUP)
        x->group -= x->rows;
    return n % (x->vectors * x->width) == 0 && tiler_has_width(t, x->width) && m % x->group == 0 &&
           m > x->group;
}

static bool is_possible(const struct strips *x)
{
    const struct tiler *t = &x->t;
    const struct bb_logical *m = &t->bb->logicals[t->p.m], *n = &t->bb->logicals[t->p.n],
                            *k = &t->bb->logicals[t->p.k];
    int64_t element = (int64_t)scalar_type_bytes(t->bb->regions[t->bb->values[t->p.b.value].region].type);
    return t->p.batch == BB_NONE && n->extent > x->vectors * x->width && k->extent % x->steps == 0 &&
           k->extent > x->steps && m->n_levels > REGISTER && n->n_levels > lanes(x) && k->n_levels > STEP &&
           (!x->packs || k->extent * x->vectors * x->width * element <= t->device->local_bytes);
}

static void decide_sizes(struct strips *x)
{
    struct tiler *t = &x->t;
    tiler_keep_extents(t);
    tiler_sizes(t, t->p.m, 1, (const int64_t[]){x->group / x->rows, x->rows, 0});
    if (x->vectors > 1)
        tiler_sizes(t, t->p.n, VECTORS, (const int64_t[]){x->vectors, x->width, 0});
    else
        tiler_sizes(t, t->p.n, VECTORS, (const int64_t[]){x->width, 0});
    tiler_sizes(t, t->p.k, 1, (const int64_t[]){x->steps, 0});
}

static void decide_strip_loop(struct strips *x)
{
    struct tiler *t = &x->t;
    uint32_t store = t->p.store, strip = tiler_statement(t, store, t->p.n, STRIP);
    tiler_kind(t, store, t->p.n, STRIP, GPU_DIM_KIND_LOOP);
    tiler_order(t, strip, GPU_ORDER_OUTER, tiler_statement(t, store, t->p.m, TIMES));
    tiler_order(t, tiler_statement(t, t->p.step, t->p.n, STRIP), GPU_ORDER_MERGED, strip);
}

/* Strips of columns around rows around steps. Groups of the same strip follow each other. */
static void decide_loops(struct strips *x)
{
    struct tiler *t = &x->t;
    uint32_t store = t->p.store, step = t->p.step;
    tiler_axis(t, store, t->p.m, BLOCK, GPU_MAP_ENCODING_WRG0);
    tiler_kind(t, store, t->p.m, TIMES, GPU_DIM_KIND_LOOP);
    if (x->packs)
        tiler_axis(t, store, t->p.n, STRIP, GPU_MAP_ENCODING_WRG1);
    else
        decide_strip_loop(x);
    tiler_kind(t, step, t->p.k, LOOP, GPU_DIM_KIND_LOOP);
    tiler_kind(t, step, t->p.k, STEP, GPU_DIM_KIND_UNROLL);
    tiler_order(t, tiler_statement(t, step, t->p.k, STEP), GPU_ORDER_OUTER,
                tiler_statement(t, step, t->p.m, REGISTER));
    tiler_order(t, tiler_statement(t, step, t->p.m, TIMES), GPU_ORDER_MERGED,
                tiler_statement(t, store, t->p.m, TIMES));
}

static void decide_results(struct strips *x, uint32_t inst)
{
    tiler_results(&x->t, inst, REGISTER, lanes(x));
    if (x->vectors > 1) tiler_kind(&x->t, inst, x->t.p.n, VECTORS, GPU_DIM_KIND_UNROLL);
}

/* The columns of a strip in one step: vectors, unrolled. */
static void decide_copied_row(struct strips *x, uint32_t inst, uint32_t columns)
{
    if (x->vectors > 1) tiler_kind(&x->t, inst, columns, 0, GPU_DIM_KIND_UNROLL);
    tiler_kind(&x->t, inst, columns, x->vectors > 1 ? 1 : 0, GPU_DIM_KIND_VECTOR);
}

static void decide_copy(struct strips *x)
{
    struct tiler *t = &x->t;
    const struct bb_value *v = &t->bb->values[t->p.b.value];
    struct tiler_coordinate n = tiler_coordinate(t, t->p.b.value, t->p.n, 1),
                            k = tiler_coordinate(t, t->p.b.value, t->p.k, 0);
    tiler_decide(t, gpu_act_mem_space(t->space, v->region, GPU_MEM_SPACE_LOCAL));
    tiler_decide(t, gpu_act_layout_order(t->space, n.term, k.term, GPU_LAYOUT_ORDER_INSIDE));
    tiler_decide(t, gpu_act_pad(t->space, v->region, 0));
    tiler_sizes(t, k.copy, 0, (const int64_t[]){t->bb->logicals[t->p.k].extent, 0});
    if (x->vectors > 1)
        tiler_sizes(t, n.copy, 0, (const int64_t[]){x->vectors, x->width, 0});
    else
        tiler_sizes(t, n.copy, 0, (const int64_t[]){x->width, 0});
    tiler_kind(t, v->copy_load, k.copy, 0, GPU_DIM_KIND_LOOP);
    decide_copied_row(x, v->copy_load, n.copy);
    decide_copied_row(x, v->copy_store, n.copy);
    tiler_order(t, tiler_statement(t, v->copy_load, k.copy, 0), GPU_ORDER_MERGED,
                tiler_statement(t, v->copy_store, k.copy, 0));
    tiler_order(t, tiler_statement(t, v->copy_store, k.copy, 0), GPU_ORDER_BEFORE,
                tiler_statement(t, t->p.step, t->p.m, TIMES));
}

static void decide_all(struct strips *x)
{
    struct tiler *t = &x->t;
    decide_sizes(x);
    decide_loops(x);
    for (uint32_t v = 0; v < t->bb->n_values; v++)
        tiler_decide(
            t, gpu_act_staged(t->space, v, x->packs && v == t->p.b.value ? GPU_STAGED_YES : GPU_STAGED_NO));
    decide_results(x, t->p.init);
    decide_results(x, t->p.step);
    decide_results(x, t->p.store);
    tiler_load(t, &t->p.a, REGISTER, GPU_DIM_KIND_UNROLL);
    tiler_load(t, &t->p.b, lanes(x), GPU_DIM_KIND_VECTOR);
    if (x->vectors > 1) tiler_kind(t, t->bb->values[t->p.b.value].load, t->p.n, VECTORS, GPU_DIM_KIND_UNROLL);
    if (x->packs) decide_copy(x);
}

unsigned bb_strips(const struct backbone *bb, const struct space *space, const struct bb_device *device,
                   struct arena *a, struct bb_plain out[BB_MAX_STRIPS])
{
    static const struct strips shapes[BB_MAX_STRIPS] = {
        {.rows = 8, .vectors = 2, .width = 16, .group = 256, .steps = 4, .packs = true},
        {.rows = 4, .vectors = 4, .width = 16, .group = 256, .steps = 4, .packs = true},
        {.rows = 4, .vectors = 1, .width = 16, .group = 256, .steps = 4, .packs = true},
        {.rows = 8, .vectors = 2, .width = 16, .group = 128, .steps = 4},
        {.rows = 4, .vectors = 4, .width = 16, .group = 128, .steps = 4},
    };
    struct product product;
    unsigned n = 0;
    if (device->gpu || !product_find(bb, &product)) return 0;
    if (!product_is_contiguous(bb, bb->values[product.b.value].load, product.n)) return 0;
    for (unsigned i = 0; i < BB_MAX_STRIPS; i++) {
        struct strips x = shapes[i];
        x.t = (struct tiler){.bb = bb, .space = space, .device = device, .arena = a, .p = product};
        if (!fit(&x) || !is_possible(&x)) continue;
        decide_all(&x);
        out[n++] = (struct bb_plain){
            .label = arena_printf(
                a, "groups of %" PRId64 " rows, %" PRId64 " x %" PRId64 " results in registers, %s", x.group,
                x.rows, x.vectors * x.width, x.packs ? "a strip of packed columns" : "columns in place"),
            .decisions = x.t.decisions};
    }
    return n;
}
