/* Plain implementations: what somebody would write for a device without a search. They are points of the GPU
 * space like the naive one, given as pins, and take part in the final rounds of every search. An example: for
 * the rows of a 256 x 1024 output and vectors of 16, "one work-item a row, in vectors of 16" is
 *
 *     size(n.1)=16  size(n.2)=1  dim_kind(store.m.0)=GLOBAL  map_encoding(store.m.0)=GLB0
 *     dim_kind(store.n.0)=LOOP  dim_kind(store.n.1)=VECTOR
 *
 * and the like for the dimensions of the other instructions. Vectors are pinned for the store alone: whether
 * what is loaded for it can be one is left to whoever completes the point. A sum that the elements of a row
 * share is computed once a row where rows are work-items: its order is pinned before the loop over them. */
#include <inttypes.h>

#include "core/backbone/backbone.h"
#include "core/base/arena.h"

enum { CPU_VECTOR = 16, GPU_VECTOR = 4, CPU_GROUP = 64, GPU_GROUP = 256, LEAST_GROUP = 8 };
enum { CHUNK = 1024, UNROLLED = 8, LEAST_UNROLLED = 2, AXES = 3 };

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
    const struct bb_device *device;
    struct arena *arena;
    uint32_t nest[BB_MAX_LOGICALS]; /* the store's logicals of more than one element, innermost first */
    unsigned n_nest;
    const char **pins;
    size_t cap;
    unsigned n_pins;
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
    for (unsigned i = first; i < m->n_nest && i - first < AXES; i++)
        p->levels[m->nest[i]][0].role = role;
}

/* Cuts `size` off a dimension's last level. */
static void cut(struct plan *p, uint32_t logical, unsigned level, int64_t size, enum role role)
{
    p->levels[logical][level - 1].size /= size;
    p->levels[logical][level] = (struct level){size, role};
}

/* ---- pins ---- */

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

static void pin(struct maker *m, const char *text)
{
    m->pins = arena_grow(m->arena, m->pins, &m->cap, m->n_pins + 1, sizeof *m->pins);
    m->pins[m->n_pins++] = text;
}

/* The axis of a dimension that is spread: its place among those that are spread alike. */
static unsigned axis_of(const struct maker *m, const struct plan *p, uint32_t logical)
{
    unsigned axis = 0;
    for (unsigned i = 0; i < m->n_nest && m->nest[i] != logical; i++)
        axis += p->levels[m->nest[i]][0].role == p->levels[logical][0].role;
    return axis;
}

static void pin_dim(struct maker *m, const struct plan *p, const struct bb_dim *dim)
{
    static const char *const kinds[] = {"LOOP", "VECTOR", "UNROLL", "GLOBAL", "BLOCK", "THREAD"};
    static const char *const axes[] = {NULL, NULL, NULL, "GLB", "WRG", "LCL"};
    const struct bb_tile *tile = &m->bb->tiles[dim->tile];
    if (!is_main(m->bb, tile->logical)) return;
    const struct level *level = &p->levels[tile->logical][tile->level];
    bool of_store = m->bb->insts[dim->inst].kind == BB_STORE;
    if (level->size == 1 || (level->role == VECTORS && !of_store)) return;
    pin(m, arena_printf(m->arena, "dim_kind(%s)=%s", dim->name, kinds[level->role]));
    unsigned axis = level->role == ITEMS_OF_GROUP ? 0 : axis_of(m, p, tile->logical);
    if (axes[level->role])
        pin(m, arena_printf(m->arena, "map_encoding(%s)=%s%u", dim->name, axes[level->role], axis));
}

/* Reductions that the elements of a loop share are computed before it. */
static void pin_shared(struct maker *m, const struct plan *p, const struct bb_dim *dim)
{
    uint32_t logical = m->bb->tiles[dim->tile].logical;
    const struct level *level = &p->levels[logical][m->bb->tiles[dim->tile].level];
    if (m->bb->insts[dim->inst].kind != BB_STORE || level->role != LOOPS || level->size == 1) return;
    for (uint32_t i = 0; i < m->bb->n_insts; i++) {
        const struct bb_inst *inst = &m->bb->insts[i];
        if (inst->kind == BB_STEP && !bb_owns(inst, logical))
            pin(m, arena_printf(m->arena, "order(%s, %s)=BEFORE", inst->name, dim->name));
    }
}

/* Keeps a plan, if the space has it. */
static void add(struct maker *m, const struct plan *p, const char *label)
{
    if (!is_possible(m, p)) return;
    m->pins = NULL;
    m->cap = m->n_pins = 0;
    if (m->bb->n_values) pin(m, "staged(*)=NO");
    for (uint32_t t = 0; t < m->bb->n_tiles; t++) {
        const struct bb_tile *tile = &m->bb->tiles[t];
        if (is_main(m->bb, tile->logical) && tile->level > 0)
            pin(m, arena_printf(m->arena, "size(%s)=%" PRId64, tile->name,
                                p->levels[tile->logical][tile->level].size));
    }
    for (uint32_t d = 0; d < m->bb->n_dims; d++) {
        pin_dim(m, p, &m->bb->dims[d]);
        pin_shared(m, p, &m->bb->dims[d]);
    }
    m->out[m->n_out++] = (struct bb_plain){label, m->pins, m->n_pins};
}

/* ---- the plain ones ---- */

/* The largest divisor of `of` up to `most`; 0: none from `least` on. */
static int64_t largest_divisor(int64_t of, int64_t most, int64_t least)
{
    for (int64_t n = most; n >= least; n--)
        if (of % n == 0) return n;
    return 0;
}

static int64_t inner_extent(const struct maker *m)
{
    return m->bb->logicals[m->nest[0]].extent;
}

/* The longest vector that the rows can be cut into; 0: none. */
static int64_t vector_of(const struct maker *m)
{
    const struct bb_device *dev = m->device;
    int64_t most = dev->gpu ? GPU_VECTOR : CPU_VECTOR, best = 0;
    for (unsigned i = 0; i < dev->n_vector_widths; i++) {
        int64_t w = dev->vector_widths[i];
        if (w <= most && w < inner_extent(m) && inner_extent(m) % w == 0) best = w;
    }
    return best;
}

static void add_rows(struct maker *m, int64_t vector)
{
    struct plan p = all_loops(m);
    if (m->n_nest < 2) return;
    spread(m, &p, 1, ITEMS);
    add(m, &p, "one work-item a row");
    if (!vector) return;
    cut(&p, m->nest[0], 1, vector, VECTORS);
    add(m, &p, arena_printf(m->arena, "one work-item a row, in vectors of %" PRId64, vector));
}

static void add_vectors(struct maker *m, int64_t vector)
{
    struct plan p = all_loops(m);
    if (!vector) return;
    spread(m, &p, 0, ITEMS);
    cut(&p, m->nest[0], 1, vector, VECTORS);
    add(m, &p, arena_printf(m->arena, "one work-item a vector of %" PRId64, vector));
}

/* Long enough chunks that starting a work-item costs nothing; for outputs that have no rows. */
static void add_chunks(struct maker *m, int64_t vector)
{
    struct plan p = all_loops(m);
    int64_t vectors = vector ? largest_divisor(inner_extent(m) / vector, CHUNK / vector, 2) : 0;
    if (m->n_nest != 1 || !vectors) return;
    spread(m, &p, 0, ITEMS);
    cut(&p, m->nest[0], 1, vectors * vector, LOOPS);
    cut(&p, m->nest[0], 2, vector, VECTORS);
    add(m, &p,
        arena_printf(m->arena, "one work-item %" PRId64 " elements, in vectors of %" PRId64, vectors * vector,
                     vector));
}

static void add_groups(struct maker *m)
{
    const struct bb_device *dev = m->device;
    int64_t most = dev->gpu ? GPU_GROUP : CPU_GROUP;
    struct plan p = all_loops(m);
    if (most > dev->max_work_group) most = dev->max_work_group;
    if (most > dev->max_work_item[0]) most = dev->max_work_item[0];
    int64_t group = largest_divisor(inner_extent(m), most, LEAST_GROUP);
    if (!group) return;
    spread(m, &p, 0, GROUPS);
    if (group == inner_extent(m))
        p.levels[m->nest[0]][0].role = ITEMS_OF_GROUP;
    else
        cut(&p, m->nest[0], 1, group, ITEMS_OF_GROUP);
    add(m, &p, arena_printf(m->arena, "one work-item an element, groups of %" PRId64, group));
}

/* One work-item an element, or a vector of them, with unrolled reductions. */
static void add_unrolled(struct maker *m, int64_t vector)
{
    struct plan p = all_loops(m);
    int64_t largest = 0;
    for (uint32_t l = 0; l < m->bb->n_logicals; l++) {
        const struct bb_logical *logical = &m->bb->logicals[l];
        if (!is_main(m->bb, l) || !logical->reduction) continue;
        int64_t n = largest_divisor(logical->extent, UNROLLED, LEAST_UNROLLED);
        if (!n || n == logical->extent) continue;
        cut(&p, l, 1, n, REGISTERS);
        if (n > largest) largest = n;
    }
    if (!largest) return;
    spread(m, &p, 0, ITEMS);
    if (vector) cut(&p, m->nest[0], 1, vector, VECTORS);
    add(m, &p,
        vector
            ? arena_printf(m->arena, "one work-item a vector of %" PRId64 ", reductions unrolled by %" PRId64,
                           vector, largest)
            : arena_printf(m->arena, "one work-item an element, reductions unrolled by %" PRId64, largest));
}

static void find_nest(struct maker *m)
{
    for (uint32_t i = 0; i < m->bb->n_insts && m->n_nest == 0; i++) {
        const struct bb_inst *inst = &m->bb->insts[i];
        for (unsigned j = inst->kind == BB_STORE ? inst->n_logicals : 0; j-- > 0;)
            if (m->bb->logicals[inst->logicals[j]].extent > 1) m->nest[m->n_nest++] = inst->logicals[j];
    }
}

unsigned bb_plain(const struct backbone *bb, const struct bb_device *device, struct arena *a,
                  struct bb_plain out[BB_MAX_PLAIN])
{
    struct maker m = {.bb = bb, .device = device, .arena = a, .out = out};
    find_nest(&m);
    if (m.n_nest == 0) return 0;
    int64_t vector = vector_of(&m);
    add_rows(&m, vector);
    add_vectors(&m, vector);
    add_chunks(&m, vector);
    add_groups(&m);
    add_unrolled(&m, vector);
    return m.n_out;
}
