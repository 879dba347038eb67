/* Products whose sums groups divide, as decisions. Of C[m][n] = sum over k of A[m][k] * B[k][n], 512 x 512
 * x 4096:
 *
 *     size(m.1)=8   size(m.2)=2   size(m.3)=4   a group has 64 rows of C
 *     size(n.1)=16  size(n.2)=4                 and 64 columns: a work-item 8 x 4 results, in vectors of 4
 *     split(k.0)=GROUPS                         8 groups share the sums of a tile: 512 groups
 *     size(k.1)=32  size(k.2)=16                each adds up 512 products of every sum, 16 in an iteration
 *     staged=YES    stages=2                    the 64 x 16 elements of A and of B for that, loaded one ahead
 *
 * The results are too few for a group for each tile: 64 tiles leave half of an H200 idle, and smaller tiles
 * read A and B more often. The group that is the last one to have its parts adds up all parts of its tile
 * (core/codegen/groups.c). It alone reads them, so that many parts of a large tile take longer than the
 * products: the fewer results there are, the smaller are the tiles. */
#include "core/backbone/divided.h"

#include <inttypes.h>

#include "core/backbone/combine.h"
#include "core/backbone/product.h"
#include "core/base/arena.h"

/* A work-item has rows of a vector each. PAD: elements between two steps of the staged rows, which keep the
 * banks of the copy's stores apart. */
enum { VECTOR = 4, PAD = 4, STAGES = 2 };

/* Levels of m: BLOCK, if a group does not have all rows, ITEM, RUN, if a work-item has more rows than a
 * vector has elements, REGISTER; of n the same without RUN. */
enum { BLOCK };
enum { PART, LOOP, STEP, REDUCTION_LEVELS };

struct division {
    int64_t m, n;  /* work-items along m, along n */
    int64_t steps; /* of an iteration */
    int64_t rows;  /* of a work-item */
    int64_t most;  /* groups */
    int64_t parts; /* of a sum */
};

struct divided {
    struct tiler t;
    struct division shape;
    bool row_blocks, column_blocks; /* along m, n: a group does not have all */
    unsigned row, run, rest;        /* levels of m: ITEM, RUN, REGISTER */
    unsigned column, vector;        /* levels of n: ITEM, REGISTER */
};

/* ---- the dimensions ---- */

static bool has_runs(const struct divided *c)
{
    return c->shape.rows > VECTOR;
}

static bool has_tiles(const struct bb_logical *l, int64_t tile, unsigned last_level)
{
    return l->extent % tile == 0 && l->n_levels > last_level;
}

static bool is_possible(const struct divided *c)
{
    const struct tiler *t = &c->t;
    const struct division *s = &c->shape;
    const struct bb_logical *m = &t->bb->logicals[t->p.m], *n = &t->bb->logicals[t->p.n],
                            *k = &t->bb->logicals[t->p.k];
    int64_t element = (int64_t)scalar_type_bytes(t->bb->regions[t->bb->values[t->p.a.value].region].type);
    int64_t bytes = (s->rows * s->m + VECTOR * s->n + 2 * PAD) * s->steps * STAGES * element;
    return has_tiles(m, s->rows * s->m, c->rest) && has_tiles(n, VECTOR * s->n, c->vector) &&
           k->n_levels == REDUCTION_LEVELS && k->extent % (s->parts * s->steps) == 0 &&
           k->extent > s->parts * s->steps && tiler_has_width(t, VECTOR) &&
           s->m * s->n <= t->device->max_work_group && bytes <= t->device->local_bytes;
}

static void decide_sizes(struct divided *c)
{
    struct tiler *t = &c->t;
    const struct division *s = &c->shape;
    const int64_t runs[] = {s->m, s->rows / VECTOR, VECTOR, 0}, rows[] = {s->m, VECTOR, 0},
                  columns[] = {s->n, VECTOR, 0};
    tiler_keep_extents(t);
    tiler_sizes(t, t->p.m, 1, (has_runs(c) ? runs : rows) + (c->row_blocks ? 0 : 1));
    tiler_sizes(t, t->p.n, 1, columns + (c->column_blocks ? 0 : 1));
    int64_t part = t->bb->logicals[t->p.k].extent / s->parts;
    tiler_sizes(t, t->p.k, 1, (const int64_t[]){part / s->steps, s->steps, 0});
    tiler_split(t, t->p.k, PART, GPU_SPLIT_GROUPS);
}

/* Neighbouring work-items have neighbouring columns; the parts have the axis after those of the tiles. */
static void decide_axes(struct divided *c)
{
    struct tiler *t = &c->t;
    enum gpu_map_encoding group = GPU_MAP_ENCODING_WRG0;
    if (c->column_blocks) tiler_axis(t, t->p.store, t->p.n, BLOCK, group++);
    if (c->row_blocks) tiler_axis(t, t->p.store, t->p.m, BLOCK, group++);
    tiler_axis(t, t->p.step, t->p.k, PART, group);
    tiler_axis(t, t->p.store, t->p.m, c->row, GPU_MAP_ENCODING_LCL0);
    tiler_axis(t, t->p.store, t->p.n, c->column, GPU_MAP_ENCODING_FUSED);
    tiler_order(t, tiler_statement(t, t->p.store, t->p.m, c->row), GPU_ORDER_MERGED,
                tiler_statement(t, t->p.store, t->p.n, c->column));
}

/* The results of a work-item in registers: rows of vectors. */
static void decide_results(struct divided *c, uint32_t inst)
{
    struct tiler *t = &c->t;
    tiler_results(t, inst, c->rest, c->vector);
    if (!has_runs(c)) return;
    tiler_kind(t, inst, t->p.m, c->run, GPU_DIM_KIND_UNROLL);
    tiler_order(t, tiler_statement(t, inst, t->p.m, c->run), GPU_ORDER_OUTER,
                tiler_statement(t, inst, t->p.m, c->rest));
}

static void decide_step(struct divided *c)
{
    struct tiler *t = &c->t;
    uint32_t step = t->p.step;
    tiler_kind(t, step, t->p.k, LOOP, GPU_DIM_KIND_LOOP);
    tiler_kind(t, step, t->p.k, STEP, GPU_DIM_KIND_UNROLL);
    tiler_order(t, tiler_statement(t, step, t->p.k, STEP), GPU_ORDER_OUTER,
                tiler_statement(t, step, t->p.m, c->run));
    decide_results(c, step);
}

/* Vectors, beside the arithmetic. */
static void decide_load(struct divided *c, const struct side *s, unsigned level)
{
    struct tiler *t = &c->t;
    uint32_t load = t->bb->values[s->value].load;
    tiler_load(t, s, level, GPU_DIM_KIND_VECTOR);
    tiler_order(t, tiler_statement(t, load, t->p.k, STEP), GPU_ORDER_MERGED,
                tiler_statement(t, t->p.step, t->p.k, STEP));
    tiler_order(t, tiler_statement(t, load, s->own, level), GPU_ORDER_BEFORE,
                tiler_statement(t, t->p.step, t->p.m, c->run));
}

/* ---- copies ---- */

/* Of the elements of an iteration: work-items go along the dimension in which the array is contiguous. The
 * tile is stored along `own`. */
static bool decide_copy(struct divided *c, const struct side *s, int64_t tile, bool blocks)
{
    struct tiler *t = &c->t;
    const struct bb_value *v = &t->bb->values[s->value];
    struct tiler_coordinate own = tiler_coordinate(t, s->value, s->own, blocks ? 1 : 0),
                            k = tiler_coordinate(t, s->value, t->p.k, STEP);
    int64_t steps = c->shape.steps;
    bool rows = product_is_contiguous(t->bb, v->load, s->own);
    int64_t width = product_has_vectors(t->bb, v->load, rows ? s->own : t->p.k, VECTOR) ? VECTOR : 1;
    tiler_decide(t, gpu_act_mem_space(t->space, v->region, GPU_MEM_SPACE_LOCAL));
    tiler_decide(t, gpu_act_layout_order(t->space, own.term, k.term, GPU_LAYOUT_ORDER_INSIDE));
    tiler_decide(t, gpu_act_pad(t->space, v->region, rows ? 0 : PAD));
    tiler_decide(t, gpu_act_stages(t->space, v->region, STAGES));
    struct tiler_walk walk = rows ? (struct tiler_walk){own.copy, k.copy, tile, steps, width, false, true}
                                  : (struct tiler_walk){k.copy, own.copy, steps, tile, width, false, false};
    return tiler_walk(t, v, c->shape.m * c->shape.n, &walk);
}

static bool decide_all(struct divided *c)
{
    struct tiler *t = &c->t;
    const struct bb_value *a = &t->bb->values[t->p.a.value], *b = &t->bb->values[t->p.b.value];
    decide_sizes(c);
    decide_axes(c);
    for (uint32_t v = 0; v < t->bb->n_values; v++)
        tiler_decide(t,
                     gpu_act_staged(t->space, v,
                                    v == t->p.a.value || v == t->p.b.value ? GPU_STAGED_YES : GPU_STAGED_NO));
    decide_step(c);
    decide_results(c, t->p.init);
    decide_results(c, t->p.store);
    if (has_runs(c)) tiler_kind(t, a->load, t->p.m, c->run, GPU_DIM_KIND_UNROLL);
    decide_load(c, &t->p.a, c->rest);
    decide_load(c, &t->p.b, c->vector);
    tiler_order(t, a->load, GPU_ORDER_BEFORE, b->load);
    if (!decide_copy(c, &t->p.a, c->shape.rows * c->shape.m, c->row_blocks)) return false;
    if (!decide_copy(c, &t->p.b, VECTOR * c->shape.n, c->column_blocks)) return false;
    tiler_order(t, a->copy_store, GPU_ORDER_BEFORE, b->copy_load);
    return true;
}

/* ---- shapes ---- */

/* The largest power of two that makes no more groups than there may be, each with two iterations. */
static int64_t parts_of(const struct backbone *bb, const struct product *p, const struct division *s)
{
    int64_t tiles =
        bb->logicals[p->m].extent / (s->rows * s->m) * (bb->logicals[p->n].extent / (VECTOR * s->n));
    int64_t parts = 1;
    while (tiles > 0 && 2 * parts * tiles <= s->most && 2 * parts * 2 * s->steps <= bb->logicals[p->k].extent)
        parts *= 2;
    return parts;
}

static void set_levels(struct divided *c)
{
    const struct bb_logical *m = &c->t.bb->logicals[c->t.p.m], *n = &c->t.bb->logicals[c->t.p.n];
    c->row_blocks = m->extent > c->shape.rows * c->shape.m;
    c->column_blocks = n->extent > VECTOR * c->shape.n;
    c->row = c->row_blocks ? 1 : 0;
    c->run = c->row + 1;
    c->rest = has_runs(c) ? c->run + 1 : c->run;
    c->column = c->column_blocks ? 1 : 0;
    c->vector = c->column + 1;
}

/* Those that were the fastest of products of 64 x 64 to 4096 x 64 and 512 x 512 results
 * (experiments/results/2026-12-01-divided.md). */
unsigned bb_divided(const struct backbone *bb, const struct space *space, const struct bb_device *device,
                    struct arena *a, struct bb_plain out[BB_MAX_DIVIDED])
{
    static const struct division shapes[BB_MAX_DIVIDED] = {{16, 16, 16, 8, 256, 0}, {8, 16, 16, 8, 512, 0},
                                                           {4, 16, 32, 8, 256, 0},  {8, 16, 32, 4, 256, 0},
                                                           {8, 16, 32, 4, 128, 0},  {8, 8, 64, 4, 256, 0}};
    struct product product;
    unsigned n = 0;
    if (!device->gpu || !device->device_fence || !product_find(bb, &product) || product.batch != BB_NONE ||
        !bb_groups_may_split(&bb->logicals[product.k], true))
        return 0;
    for (unsigned i = 0; i < BB_MAX_DIVIDED; i++) {
        struct divided c = {.t = {.bb = bb, .space = space, .device = device, .arena = a, .p = product},
                            .shape = shapes[i]};
        c.shape.parts = parts_of(bb, &product, &c.shape);
        set_levels(&c);
        if (c.shape.parts < 2 || !is_possible(&c) || !decide_all(&c)) continue;
        out[n++] =
            (struct bb_plain){.label = arena_printf(a,
                                                    "groups of %" PRId64 " x %" PRId64 " results, %" PRId64
                                                    " x %d each, sums divided by %" PRId64 " groups, %" PRId64
                                                    " steps staged ahead",
                                                    c.shape.rows * c.shape.m, VECTOR * c.shape.n,
                                                    c.shape.rows, VECTOR, c.shape.parts, c.shape.steps),
                              .decisions = c.t.decisions};
    }
    return n;
}
