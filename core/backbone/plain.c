/* Plain implementations: what somebody would write for a device without a search. They are in the GPU space
 * like the naive one, given as decisions, and take part in the final rounds of every search. An example: for
 * the rows of a 256 x 1024 output and vectors of 16, "one work-item per row, in vectors of 16" is
 *
 *     size(n.1)=16  size(n.2)=1  dim_kind(store.m.0)=GLOBAL  map_encoding(store.m.0)=GLB0
 *     dim_kind(store.n.0)=LOOP  dim_kind(store.n.1)=VECTOR
 *
 * and the like for the dimensions of the other instructions. Only the store's dimensions are made vectors;
 * whether the loads for it can use vectors is left open. A sum that the elements of a row share is computed
 * once a row where rows are work-items: its order is decided to be before the loop over them. */
#include <inttypes.h>

#include "core/backbone/backbone.h"
#include "core/backbone/combine.h"
#include "core/backbone/divided.h"
#include "core/backbone/layer.h"
#include "core/backbone/matrix.h"
#include "core/backbone/panel.h"
#include "core/backbone/product.h"
#include "core/backbone/rows.h"
#include "core/backbone/seat.h"
#include "core/backbone/tiled.h"
#include "core/backbone/strips.h"
#include "core/backbone/transposed.h"
#include "core/base/arena.h"
#include "core/base/panic.h"

/* Of these here, at most. */
enum { PLAIN = 9 };
_Static_assert(PLAIN + BB_MAX_MATRIX + BB_MAX_TILED + BB_MAX_PANELS + BB_MAX_DIVIDED + BB_MAX_LAYERS +
                       BB_MAX_TRANSPOSED + BB_MAX_STRIPS + BB_MAX_ROWS <=
                   BB_MAX_PLAIN,
               "room for all");

/* Groups of a device that is full, roughly. */
enum { GPU_GROUPS = 1024, CPU_GROUPS = 16 };
enum { CPU_VECTOR = 16, GPU_VECTOR = 4, CPU_GROUP = 64, GPU_GROUP = 256, LEAST_GROUP = 8 };
enum { CHUNK = 1024, UNROLLED = 8, LEAST_UNROLLED = 2 };

/* What is done with a level of a logical dimension. */
enum role { LOOPS, VECTORS, REGISTERS, ITEMS, GROUPS, ITEMS_OF_GROUP };

struct level {
    int64_t size;
    enum role role;
};

struct plan {
    struct level (*levels)[BB_MAX_LEVELS]; /* of each logical of the program */
};

struct maker {
    const struct backbone *bb;
    const struct space *space;
    const struct bb_device *device;
    struct arena *arena;
    uint32_t nest[BB_MAX_LOGICALS]; /* the store's logicals of more than one element, innermost first */
    unsigned n_nest;
    struct bb_plain *out;
    unsigned n_out;
};

/* ---- plans ---- */

static bool is_main(const struct backbone *bb, uint32_t logical)
{
    return bb->logicals[logical].of == BB_NONE;
}

/* Every logical dimension is one loop. */
static struct plan all_loops(const struct maker *m)
{
    struct plan p = {arena_alloc(m->arena, (m->bb->n_logicals + 1) * sizeof *p.levels)};
    for (uint32_t l = 0; l < m->bb->n_logicals; l++)
        for (unsigned v = 0; v < BB_MAX_LEVELS; v++)
            p.levels[l][v] = (struct level){v == 0 ? m->bb->logicals[l].extent : 1, LOOPS};
    return p;
}

/* The nest's dimensions from number `first`, innermost first, are hardware axes. */
static void spread(const struct maker *m, struct plan *p, unsigned first, enum role role)
{
    for (unsigned i = first; i < m->n_nest && i - first < BB_AXES; i++)
        p->levels[m->nest[i]][0].role = role;
}

/* The least span of a dimension that is a multiple; 0: none is. */
static int64_t span_of(const struct maker *m, uint32_t logical, int64_t factor)
{
    const struct bb_logical *l = &m->bb->logicals[logical];
    if (l->extent % factor == 0) return l->extent;
    for (unsigned i = 1; i < l->n_spans; i++)
        if (l->spans[i] % factor == 0) return l->spans[i];
    return 0;
}

/* Cuts `size` off a dimension's last level; the first cut rounds its extent up to a multiple. */
static void cut(const struct maker *m, struct plan *p, uint32_t logical, unsigned level, int64_t size,
                enum role role)
{
    if (level == 1) p->levels[logical][0].size = span_of(m, logical, size);
    p->levels[logical][level - 1].size /= size;
    p->levels[logical][level] = (struct level){size, role};
}

static int64_t span_in(const struct plan *p, uint32_t logical)
{
    int64_t span = 1;
    for (unsigned v = 0; v < BB_MAX_LEVELS; v++)
        span *= p->levels[logical][v].size;
    return span;
}

/* ---- decisions ---- */

static bool has_size(const struct bb_tile *tile, int64_t size)
{
    for (unsigned i = 0; i < tile->n_sizes; i++)
        if (tile->sizes[i] == size) return true;
    return false;
}

/* Whether the space has tiles of these sizes. */
static bool is_possible(const struct maker *m, const struct plan *p)
{
    for (uint32_t l = 0; l < m->bb->n_logicals; l++) {
        const struct bb_logical *logical = &m->bb->logicals[l];
        for (unsigned v = 0; v < BB_MAX_LEVELS && is_main(m->bb, l); v++) {
            int64_t size = p->levels[l][v].size;
            if (v < logical->n_levels ? !has_size(&m->bb->tiles[logical->first_tile + v], size) : size > 1)
                return false;
        }
    }
    return true;
}

/* Adds a decision to the implementation that is being made. */
static void decide(struct maker *m, struct space_action decision)
{
    bb_decisions_add(&m->out[m->n_out].decisions, m->arena, decision);
}

/* The axis of a dimension that is spread: its place among those that are spread alike. */
static unsigned axis_of(const struct maker *m, const struct plan *p, uint32_t logical)
{
    unsigned axis = 0;
    for (unsigned i = 0; i < m->n_nest && m->nest[i] != logical; i++)
        axis += p->levels[m->nest[i]][0].role == p->levels[logical][0].role;
    return axis;
}

static void decide_dim(struct maker *m, const struct plan *p, uint32_t dim)
{
    static const enum gpu_dim_kind kinds[] = {
        [LOOPS] = GPU_DIM_KIND_LOOP,       [VECTORS] = GPU_DIM_KIND_VECTOR,
        [REGISTERS] = GPU_DIM_KIND_UNROLL, [ITEMS] = GPU_DIM_KIND_GLOBAL,
        [GROUPS] = GPU_DIM_KIND_BLOCK,     [ITEMS_OF_GROUP] = GPU_DIM_KIND_THREAD};
    static const enum gpu_map_encoding axes[] = {[ITEMS] = GPU_MAP_ENCODING_GLB0,
                                                 [GROUPS] = GPU_MAP_ENCODING_WRG0,
                                                 [ITEMS_OF_GROUP] = GPU_MAP_ENCODING_LCL0};
    const struct bb_dim *d = &m->bb->dims[dim];
    const struct bb_tile *tile = &m->bb->tiles[d->tile];
    if (!is_main(m->bb, tile->logical)) return;
    const struct level *level = &p->levels[tile->logical][tile->level];
    bool of_store = m->bb->insts[d->inst].kind == BB_STORE;
    if (level->size == 1 || (level->role == VECTORS && !of_store)) return;
    uint32_t s = bb_dim_statement(m->bb, dim);
    decide(m, gpu_act_dim_kind(m->space, s, kinds[level->role]));
    unsigned axis = level->role == ITEMS_OF_GROUP ? 0 : axis_of(m, p, tile->logical);
    if (level->role >= ITEMS) decide(m, gpu_act_map_encoding(m->space, s, axes[level->role] + axis));
}

/* Reductions that the elements of a loop share are computed before it. */
static void decide_shared(struct maker *m, const struct plan *p, uint32_t dim)
{
    const struct bb_dim *d = &m->bb->dims[dim];
    uint32_t logical = m->bb->tiles[d->tile].logical;
    const struct level *level = &p->levels[logical][m->bb->tiles[d->tile].level];
    if (m->bb->insts[d->inst].kind != BB_STORE || level->role != LOOPS || level->size == 1) return;
    for (uint32_t i = 0; i < m->bb->n_insts; i++)
        if (m->bb->insts[i].kind == BB_STEP && !bb_owns(&m->bb->insts[i], logical))
            decide(m, gpu_act_order(m->space, i, bb_dim_statement(m->bb, dim), GPU_ORDER_BEFORE));
}

/* Keeps a plan, if the space has it. */
static void add(struct maker *m, const struct plan *p, const char *label)
{
    if (!is_possible(m, p)) return;
    CHECK(m->n_out < BB_MAX_PLAIN);
    m->out[m->n_out] = (struct bb_plain){.label = label};
    for (uint32_t v = 0; v < m->bb->n_values; v++)
        decide(m, gpu_act_staged(m->space, v, GPU_STAGED_NO));
    for (uint32_t l = 0; l < m->bb->n_logicals; l++)
        if (bb_has_span(m->bb, l)) decide(m, gpu_act_span(m->space, l, span_in(p, l)));
    for (uint32_t t = 0; t < m->bb->n_tiles; t++) {
        const struct bb_tile *tile = &m->bb->tiles[t];
        if (is_main(m->bb, tile->logical) && tile->level > 0)
            decide(m, gpu_act_size(m->space, t, p->levels[tile->logical][tile->level].size));
    }
    for (uint32_t d = 0; d < m->bb->n_dims; d++) {
        decide_dim(m, p, d);
        decide_shared(m, p, d);
    }
    m->n_out++;
}

/* ---- the plain ones ---- */

static int64_t inner_extent(const struct maker *m)
{
    return m->bb->logicals[m->nest[0]].extent;
}

/* The largest divisor of a span up to `most`; 0: none from `least` on. */
static int64_t largest_tile(const struct maker *m, uint32_t logical, int64_t most, int64_t least)
{
    for (int64_t n = most; n >= least; n--)
        if (span_of(m, logical, n)) return n;
    return 0;
}

/* The longest vector that the rows can be cut into; 0: none. */
static int64_t vector_of(const struct maker *m)
{
    const struct bb_device *dev = m->device;
    int64_t most = dev->gpu ? GPU_VECTOR : CPU_VECTOR, best = 0;
    for (unsigned i = 0; i < dev->n_vector_widths; i++) {
        int64_t w = dev->vector_widths[i];
        if (w <= most && w < inner_extent(m) && span_of(m, m->nest[0], w)) best = w;
    }
    return best;
}

static void add_rows(struct maker *m, int64_t vector)
{
    struct plan p = all_loops(m);
    if (m->n_nest < 2) return;
    spread(m, &p, 1, ITEMS);
    add(m, &p, "one work-item per row");
    if (!vector) return;
    cut(m, &p, m->nest[0], 1, vector, VECTORS);
    add(m, &p, arena_printf(m->arena, "one work-item per row, in vectors of %" PRId64, vector));
}

static void add_vectors(struct maker *m, int64_t vector)
{
    struct plan p = all_loops(m);
    if (!vector) return;
    spread(m, &p, 0, ITEMS);
    cut(m, &p, m->nest[0], 1, vector, VECTORS);
    add(m, &p, arena_printf(m->arena, "one work-item per vector of %" PRId64, vector));
}

/* Long enough chunks that starting a work-item costs nothing; for outputs that have no rows. */
static void add_chunks(struct maker *m, int64_t vector)
{
    struct plan p = all_loops(m);
    int64_t span = vector ? span_of(m, m->nest[0], vector) : 0;
    int64_t vectors = vector ? tiler_divisor(span / vector, CHUNK / vector, 2) : 0;
    if (m->n_nest != 1 || !vectors) return;
    spread(m, &p, 0, ITEMS);
    cut(m, &p, m->nest[0], 1, vectors * vector, LOOPS);
    cut(m, &p, m->nest[0], 2, vector, VECTORS);
    add(m, &p,
        arena_printf(m->arena, "one work-item per %" PRId64 " elements, in vectors of %" PRId64,
                     vectors * vector, vector));
}

/* The largest tile up to `most` of which a dimension has two or more; 0: none from `least` on. What is one
 * tile is not rounded up. */
static int64_t largest_part(const struct maker *m, uint32_t logical, int64_t most, int64_t least)
{
    for (int64_t n = most; n >= least; n--)
        if (span_of(m, logical, n) > n) return n;
    return 0;
}

/* Cuts rows into groups of work-items; returns their size, or 0. */
static int64_t group_rows(const struct maker *m, struct plan *p)
{
    const struct bb_device *dev = m->device;
    int64_t most = dev->gpu ? GPU_GROUP : CPU_GROUP;
    if (most > dev->max_work_group) most = dev->max_work_group;
    if (most > dev->max_work_item[0]) most = dev->max_work_item[0];
    int64_t row = inner_extent(m);
    spread(m, p, 0, GROUPS);
    if (row >= LEAST_GROUP && row <= most) {
        p->levels[m->nest[0]][0].role = ITEMS_OF_GROUP;
        return row;
    }
    int64_t group = largest_part(m, m->nest[0], most, LEAST_GROUP);
    if (group) cut(m, p, m->nest[0], 1, group, ITEMS_OF_GROUP);
    return group;
}

static void add_groups(struct maker *m)
{
    struct plan p = all_loops(m);
    int64_t group = group_rows(m, &p);
    if (group) add(m, &p, arena_printf(m->arena, "one work-item per element, groups of %" PRId64, group));
}

/* Windows that are reduced are registers; false: other logicals are reduced, too, or windows are large. */
static bool unroll_windows(const struct maker *m, struct plan *p)
{
    for (uint32_t l = 0; l < m->bb->n_logicals; l++) {
        const struct bb_logical *logical = &m->bb->logicals[l];
        if (!is_main(m->bb, l) || !logical->reduction) continue;
        if (!product_in_window(m->bb, l) || logical->extent > UNROLLED) return false;
        p->levels[l][0].role = REGISTERS;
    }
    return true;
}

/* A stencil: each work-item has the results of a column, of up to so many rows and planes. Their windows are
 * written out, and the compiler loads once what they share. */
static void add_columns(struct maker *m, int64_t rows, int64_t planes)
{
    struct plan p = all_loops(m);
    if (!m->device->gpu || m->n_nest < 2 || !product_in_window(m->bb, m->nest[1]) || !unroll_windows(m, &p))
        return;
    rows = largest_part(m, m->nest[1], rows, 2);
    bool has_planes = m->n_nest > 2 && product_in_window(m->bb, m->nest[2]);
    planes = has_planes ? largest_part(m, m->nest[2], planes, 1) : 1;
    if (!rows || !group_rows(m, &p)) return;
    cut(m, &p, m->nest[1], 1, rows, REGISTERS);
    if (planes > 1) cut(m, &p, m->nest[2], 1, planes, REGISTERS);
    add(m, &p,
        arena_printf(m->arena, "one work-item per %" PRId64 " x %" PRId64 " results in a column", planes,
                     rows));
}

/* One work-item per element, or per vector, with unrolled reductions. */
static void add_unrolled(struct maker *m, int64_t vector)
{
    struct plan p = all_loops(m);
    int64_t largest = 0;
    for (uint32_t l = 0; l < m->bb->n_logicals; l++) {
        const struct bb_logical *logical = &m->bb->logicals[l];
        if (!is_main(m->bb, l) || !logical->reduction) continue;
        int64_t n = largest_tile(m, l, UNROLLED, LEAST_UNROLLED);
        if (!n || n >= logical->extent) continue;
        cut(m, &p, l, 1, n, REGISTERS);
        if (n > largest) largest = n;
    }
    if (!largest) return;
    spread(m, &p, 0, ITEMS);
    if (vector) cut(m, &p, m->nest[0], 1, vector, VECTORS);
    add(m, &p,
        vector
            ? arena_printf(m->arena,
                           "one work-item per vector of %" PRId64 ", reductions unrolled by %" PRId64, vector,
                           largest)
            : arena_printf(m->arena, "one work-item per element, reductions unrolled by %" PRId64, largest));
}

/* Whether a reduction that may be split owns a logical. */
static bool in_split(const struct backbone *bb, uint32_t logical)
{
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        const struct bb_inst *inst = &bb->insts[i];
        for (unsigned j = 0; j < inst->n_logicals && inst->kind == BB_STEP && bb_owns(inst, logical); j++)
            if (bb->logicals[inst->logicals[j]].split == BB_SPLIT_GROUPS) return true;
    }
    return false;
}

/* Whether the work-items of a group divide a logical: one that is reduced, or the rows that only read what
 * is.
 */
static bool is_divided(const struct maker *m, uint32_t logical)
{
    const struct bb_logical *l = &m->bb->logicals[logical];
    bool row = m->n_nest && m->nest[0] == logical && !in_split(m->bb, logical);
    return is_main(m->bb, logical) && l->extent > 1 && (l->split == BB_SPLIT_GROUPS || row);
}

/* Of a reduction over several logicals the longest one is divided. */
static bool is_longest(const struct maker *m, uint32_t logical)
{
    const struct backbone *bb = m->bb;
    for (uint32_t i = 0; i < bb->n_insts; i++)
        for (unsigned j = 0; j < bb->insts[i].n_logicals && bb_reduces(bb, &bb->insts[i], logical); j++) {
            uint32_t other = bb->insts[i].logicals[j];
            int64_t longer = bb->logicals[other].extent - bb->logicals[logical].extent;
            if (bb_reduces(bb, &bb->insts[i], other) && (longer > 0 || (longer == 0 && other > logical)))
                return false;
        }
    return true;
}

/* One group per row, or per element of an output without rows: its work-items divide the reductions. */
static void add_parts(struct maker *m)
{
    struct plan p = all_loops(m);
    int64_t most = m->device->gpu ? GPU_GROUP : CPU_GROUP, largest = 0;
    if (most > m->device->max_work_group) most = m->device->max_work_group;
    if (most > m->device->max_work_item[0]) most = m->device->max_work_item[0];
    spread(m, &p, 0, GROUPS);
    for (uint32_t l = 0; l < m->bb->n_logicals; l++) {
        if (!is_divided(m, l) || !is_longest(m, l)) continue;
        int64_t group = largest_tile(m, l, most, LEAST_GROUP);
        p.levels[l][0].role = LOOPS;
        if (!group) continue;
        if (group == m->bb->logicals[l].extent)
            p.levels[l][0].role = ITEMS_OF_GROUP;
        else
            cut(m, &p, l, 1, group, ITEMS_OF_GROUP);
        if (m->bb->logicals[l].split == BB_SPLIT_GROUPS && group > largest) largest = group;
    }
    if (largest)
        add(m, &p, arena_printf(m->arena, "one group per result, reductions in %" PRId64 " parts", largest));
}

/* The reduction that groups divide: the longest logical of the only one that may be split; BB_NONE: none. */
static uint32_t divided_by_groups(const struct maker *m)
{
    uint32_t found = BB_NONE;
    unsigned reductions = 0;
    for (uint32_t i = 0; i < m->bb->n_insts; i++)
        reductions += m->bb->insts[i].kind == BB_STEP;
    for (uint32_t l = 0; l < m->bb->n_logicals; l++)
        if (is_main(m->bb, l) && m->bb->logicals[l].split == BB_SPLIT_GROUPS && is_longest(m, l)) found = l;
    return reductions == 1 ? found : BB_NONE;
}

static int64_t count_results(const struct maker *m)
{
    int64_t results = 1;
    for (unsigned i = 0; i < m->n_nest; i++)
        results *= m->bb->logicals[m->nest[i]].extent;
    return results;
}

/* Several groups per result, where the results are fewer than the groups that a device runs. */
static void add_group_parts(struct maker *m)
{
    struct plan p = all_loops(m);
    uint32_t l = m->device->device_fence ? divided_by_groups(m) : BB_NONE;
    int64_t full = m->device->gpu ? GPU_GROUPS : CPU_GROUPS, most = m->device->gpu ? GPU_GROUP : CPU_GROUP;
    if (l == BB_NONE || count_results(m) > full / 2) return;
    int64_t items = largest_tile(m, l, most, LEAST_GROUP), span = items ? span_of(m, l, items) : 0;
    int64_t groups = items ? tiler_divisor(span / items, full / count_results(m), 2) : 0;
    if (!groups) return;
    spread(m, &p, 0, GROUPS);
    cut(m, &p, l, 1, span / groups, LOOPS);
    cut(m, &p, l, 2, items, ITEMS_OF_GROUP);
    p.levels[l][0].role = GROUPS;
    add(m, &p,
        arena_printf(m->arena, "%" PRId64 " groups of %" PRId64 " work-items per result", groups, items));
}

static void find_nest(struct maker *m)
{
    for (uint32_t i = 0; i < m->bb->n_insts && m->n_nest == 0; i++) {
        const struct bb_inst *inst = &m->bb->insts[i];
        for (unsigned j = inst->kind == BB_STORE ? inst->n_logicals : 0; j-- > 0;)
            if (m->bb->logicals[inst->logicals[j]].extent > 1 &&
                !m->bb->logicals[inst->logicals[j]].reduction)
                m->nest[m->n_nest++] = inst->logicals[j];
    }
}

unsigned bb_plain(const struct backbone *bb, const struct space *space, const struct bb_device *device,
                  struct arena *a, struct bb_plain out[BB_MAX_PLAIN])
{
    struct maker m = {.bb = bb, .space = space, .device = device, .arena = a, .out = out};
    m.n_out = bb_matrix(bb, space, device, a, out);
    m.n_out += bb_tiled(bb, space, device, a, out + m.n_out);
    m.n_out += bb_panels(bb, space, device, a, out + m.n_out);
    m.n_out += bb_divided(bb, space, device, a, out + m.n_out);
    m.n_out += bb_layers(bb, space, device, a, out + m.n_out);
    m.n_out += bb_transposed(bb, space, device, a, out + m.n_out);
    m.n_out += bb_strips(bb, space, device, a, out + m.n_out);
    m.n_out += bb_rows(bb, space, device, a, out + m.n_out);
    find_nest(&m);
    add_parts(&m);
    add_group_parts(&m);
    if (m.n_nest == 0) return m.n_out;
    int64_t vector = vector_of(&m);
    add_rows(&m, vector);
    add_vectors(&m, vector);
    add_chunks(&m, vector);
    add_groups(&m);
    add_columns(&m, 8, 2);
    add_columns(&m, 4, 1);
    add_unrolled(&m, vector);
    return m.n_out;
}
