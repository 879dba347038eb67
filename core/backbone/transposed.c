/* Transpositions as decisions. Of out[n][m] = A[m][n], tiles of 64 x 64 elements by 256 work-items:
 *
 *     size(m.1)=16  size(m.2)=4                neighbouring work-items write neighbouring vectors of a row,
 *     size(n.1)=4   size(n.2)=16               16 rows at once, 4 times
 *     staged(A)=YES  pad(A.tile)=1             the tile is in local memory; padding keeps banks apart
 *     size(A.copy.m.0)=4   size(A.copy.m.1)=16 neighbouring work-items read neighbouring vectors of A
 *     size(A.copy.n.0)=16  size(A.copy.n.1)=4
 *
 * and the kinds and the order of all dimensions. Without local memory either the reads or the writes of
 * neighbouring work-items are far apart. Of 8192 x 8192, searches alone found 131 to 140 us in 300
 * evaluations on an H200; with these it is 129, a copy of as many bytes 128
 * (experiments/results/2026-11-27-contenders.md). */
#include "core/backbone/transposed.h"

#include <inttypes.h>

#include "core/backbone/product.h"
#include "core/base/arena.h"

/* Levels of m and of n, as all instructions have them. */
enum { BLOCK, M_ITEM, M_VECTOR };
enum { N_TIMES = 1, N_ITEM };

struct tile {
    int64_t side, width, rows; /* elements; of a vector; that a group reads and writes at once */
};

/* Elements between two rows of a staged tile: columns are read from different banks. */
enum { PAD = 1 };

struct transposer {
    struct tiler t;
    struct tile tile;
    uint32_t store, m, n, outer; /* logicals: along the rows of the output, of the arrays; another one */
};

/* The logical along which the instruction's array is contiguous; BB_NONE: none. */
static uint32_t contiguous(const struct backbone *bb, uint32_t inst)
{
    const struct bb_inst *i = &bb->insts[inst];
    for (unsigned l = 0; l < i->n_logicals; l++)
        if (bb->logicals[i->logicals[l]].extent > 1 && product_is_contiguous(bb, inst, i->logicals[l]))
            return i->logicals[l];
    return BB_NONE;
}

/* The logical along which the array of a value is contiguous, if it has m, but not along it; else BB_NONE. A
 * window is contiguous along several. */
static uint32_t across(const struct transposer *x, uint32_t value)
{
    const struct backbone *bb = x->t.bb;
    const struct bb_value *v = &bb->values[value];
    const struct bb_inst *load = &bb->insts[v->load];
    bool windows = bb->regions[v->region].n_dims != load->n_logicals || bb_is_shared(bb, v);
    if (windows || !bb_owns(load, x->m) || product_is_contiguous(bb, v->load, x->m)) return BB_NONE;
    return contiguous(bb, v->load);
}

/* One store of two or three dimensions, no reductions, and an array that is contiguous along another one than
 * the output; several of them along the same. */
static bool find(struct transposer *x)
{
    const struct backbone *bb = x->t.bb;
    x->n = x->outer = BB_NONE;
    x->store = product_only_store(bb);
    if (x->store == BB_NONE) return false;
    for (uint32_t i = 0; i < bb->n_insts; i++)
        if (bb->insts[i].kind == BB_STEP) return false;
    const struct bb_inst *store = &bb->insts[x->store];
    x->m = contiguous(bb, x->store);
    if (x->m == BB_NONE || store->n_logicals < 2 || store->n_logicals > 3) return false;
    for (uint32_t v = 0; v < bb->n_values; v++) {
        uint32_t n = across(x, v);
        if (n == BB_NONE) continue;
        if ((x->n != BB_NONE && n != x->n) || !bb_owns(store, n)) return false;
        x->n = n;
    }
    for (unsigned i = 0; i < store->n_logicals; i++)
        if (store->logicals[i] != x->m && store->logicals[i] != x->n) x->outer = store->logicals[i];
    return x->n != BB_NONE;
}

/* Whether the output and the staged arrays have vectors of that width. */
static bool has_vectors(const struct transposer *x, int64_t width)
{
    const struct backbone *bb = x->t.bb;
    bool all = tiler_has_width(&x->t, width) && product_has_vectors(bb, x->store, x->m, width);
    for (uint32_t v = 0; v < bb->n_values; v++)
        all &= across(x, v) == BB_NONE || product_has_vectors(bb, bb->values[v].load, x->n, width);
    return all;
}

/* The largest side up to that of the shape, and at least a half of it, that divides both dimensions; as many
 * of its rows as a group has work-items for. */
static bool fit(struct transposer *x, const struct tile *shape)
{
    const struct bb_logical *m = &x->t.bb->logicals[x->m], *n = &x->t.bb->logicals[x->n];
    struct tile *tile = &x->tile;
    *tile = *shape;
    if (!has_vectors(x, tile->width)) return false;
    while (tile->side % tile->width || !tiler_span(m, tile->side) || !tiler_span(n, tile->side))
        if (2 * --tile->side < shape->side) return false;
    while (tile->rows > 1 &&
           (tile->side % tile->rows || tile->side / tile->width * tile->rows > x->t.device->max_work_group))
        tile->rows--;
    return tile->rows > 1 && tile->rows < tile->side && tile->side > tile->width;
}

static bool is_possible(const struct transposer *x)
{
    const struct backbone *bb = x->t.bb;
    const struct tile *tile = &x->tile;
    int64_t bytes = 0;
    for (uint32_t v = 0; v < bb->n_values; v++)
        if (across(x, v) != BB_NONE)
            bytes += tile->side * (tile->side + PAD) *
                     (int64_t)scalar_type_bytes(bb->regions[bb->values[v].region].type);
    return bb->logicals[x->m].n_levels > M_VECTOR && bb->logicals[x->n].n_levels > N_ITEM &&
           bytes <= x->t.device->local_bytes;
}

static void decide_sizes(struct transposer *x)
{
    struct tiler *t = &x->t;
    const struct tile *tile = &x->tile;
    tiler_decide_span(t, x->m, tile->side);
    tiler_decide_span(t, x->n, tile->side);
    if (x->outer != BB_NONE) tiler_decide_span(t, x->outer, 1);
    tiler_sizes(t, x->m, 1, (const int64_t[]){tile->side / tile->width, tile->width, 0});
    tiler_sizes(t, x->n, 1, (const int64_t[]){tile->side / tile->rows, tile->rows, 0});
    if (x->outer != BB_NONE) tiler_sizes(t, x->outer, 1, (const int64_t[]){0});
}

static void decide_axes(struct transposer *x)
{
    struct tiler *t = &x->t;
    tiler_axis(t, x->store, x->m, BLOCK, GPU_MAP_ENCODING_WRG0);
    tiler_axis(t, x->store, x->n, BLOCK, GPU_MAP_ENCODING_WRG1);
    if (x->outer != BB_NONE) tiler_axis(t, x->store, x->outer, BLOCK, GPU_MAP_ENCODING_WRG2);
    tiler_axis(t, x->store, x->n, N_ITEM, GPU_MAP_ENCODING_LCL0);
    tiler_axis(t, x->store, x->m, M_ITEM, GPU_MAP_ENCODING_FUSED);
    tiler_order(t, tiler_statement(t, x->store, x->n, N_ITEM), GPU_ORDER_MERGED,
                tiler_statement(t, x->store, x->m, M_ITEM));
}

/* What a work-item does of its own. Elements of a load that are no neighbours are read one by one: those of
 * a tile, whose rows run along n, and others. */
static void decide_registers(struct transposer *x, uint32_t inst)
{
    struct tiler *t = &x->t;
    const struct bb_inst *i = &t->bb->insts[inst];
    bool vector = i->kind != BB_LOAD || product_is_contiguous(t->bb, inst, x->m);
    if (bb_owns(i, x->m) && x->tile.width > 1)
        tiler_kind(t, inst, x->m, M_VECTOR, vector ? GPU_DIM_KIND_VECTOR : GPU_DIM_KIND_UNROLL);
    if (bb_owns(i, x->n)) tiler_kind(t, inst, x->n, N_TIMES, GPU_DIM_KIND_UNROLL);
}

static void decide_copy(struct transposer *x, uint32_t value)
{
    struct tiler *t = &x->t;
    const struct tile *tile = &x->tile;
    const struct bb_value *v = &t->bb->values[value];
    struct tiler_coordinate m = tiler_coordinate(t, value, x->m, 1), n = tiler_coordinate(t, value, x->n, 1);
    if (x->outer != BB_NONE && bb_owns(&t->bb->insts[v->load], x->outer))
        tiler_coordinate(t, value, x->outer, 1);
    tiler_decide(t, gpu_act_layout_order(t->space, n.term, m.term, GPU_LAYOUT_ORDER_INSIDE));
    tiler_decide(t, gpu_act_mem_space(t->space, v->region, GPU_MEM_SPACE_LOCAL));
    tiler_decide(t, gpu_act_pad(t->space, v->region, PAD));
    tiler_sizes(t, m.copy, 0, (const int64_t[]){tile->side / tile->rows, tile->rows, 0});
    tiler_sizes(t, n.copy, 0, (const int64_t[]){tile->side / tile->width, tile->width, 0});
    tiler_kind(t, v->copy_load, m.copy, 0, GPU_DIM_KIND_UNROLL);
    tiler_axis(t, v->copy_load, m.copy, 1, GPU_MAP_ENCODING_LCL0);
    tiler_axis(t, v->copy_load, n.copy, 0, GPU_MAP_ENCODING_FUSED);
    if (tile->width == 1) return;
    tiler_kind(t, v->copy_load, n.copy, 1, GPU_DIM_KIND_VECTOR);
    tiler_kind(t, v->copy_store, n.copy, 1, GPU_DIM_KIND_UNROLL);
}

static void decide_all(struct transposer *x)
{
    struct tiler *t = &x->t;
    const struct backbone *bb = t->bb;
    decide_sizes(x);
    decide_axes(x);
    for (uint32_t v = 0; v < bb->n_values; v++)
        tiler_decide(t,
                     gpu_act_staged(t->space, v, across(x, v) != BB_NONE ? GPU_STAGED_YES : GPU_STAGED_NO));
    for (uint32_t i = 0; i < bb->n_insts; i++)
        if (bb->insts[i].kind != BB_COPY_LOAD && bb->insts[i].kind != BB_COPY_STORE) decide_registers(x, i);
    for (uint32_t v = 0; v < bb->n_values; v++)
        if (across(x, v) != BB_NONE) decide_copy(x, v);
}

unsigned bb_transposed(const struct backbone *bb, const struct space *space, const struct bb_device *device,
                       struct arena *a, struct bb_plain out[BB_MAX_TRANSPOSED])
{
    static const struct tile shapes[BB_MAX_TRANSPOSED] = {{64, 2, 16}, {64, 4, 16}, {64, 1, 8}};
    struct transposer found = {.t = {.bb = bb, .space = space, .device = device, .arena = a}};
    unsigned n = 0;
    if (!device->gpu || !find(&found)) return 0;
    for (unsigned i = 0; i < BB_MAX_TRANSPOSED; i++) {
        struct transposer x = found;
        if (!fit(&x, &shapes[i]) || !is_possible(&x)) continue;
        decide_all(&x);
        const char *label = arena_printf(a, "tiles of %" PRId64 " x %" PRId64 " transposed in local memory",
                                         x.tile.side, x.tile.side);
        if (x.tile.width > 1) label = arena_printf(a, "%s, vectors of %" PRId64, label, x.tile.width);
        out[n++] = (struct bb_plain){.label = label, .decisions = x.t.decisions};
    }
    return n;
}
