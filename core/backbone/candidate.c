/* From a leaf of the GPU space to plain tables.
 *
 * An example: where the space has dim_kind(mad.k.1) = UNROLL and size(k.1) = 4, the tables have kind[d] =
 * BB_UNROLL for that dimension d, and size[t] = 4 for the tile t. The ids of the space are those of
 * backbone.h: bb_instance() adds statements, tiles, values, regions and terms in that order.
 * Liveness follows from sizes and staging, as in the triggers of the space. */
#include <string.h>

#include "core/backbone/backbone.h"
#include "core/backbone/seat.h"
#include "core/base/arena.h"

struct reading {
    const struct backbone *bb;
    const struct space_state *leaf;
    struct bb_candidate *out;
    bool open; /* a choice is not decided, or does not exist */
};

struct bb_candidate *bb_candidate_new(const struct backbone *bb, struct arena *a)
{
    struct bb_candidate *c = ARENA_NEW(a, struct bb_candidate);
    size_t statements = bb_statement_count(bb);
    c->size = ARENA_ARRAY(a, int64_t, bb->n_tiles + 1);
    c->live = ARENA_ARRAY(a, bool, statements);
    c->kind = ARENA_ARRAY(a, uint8_t, bb->n_dims + 1);
    c->code = ARENA_ARRAY(a, uint8_t, bb->n_dims + 1);
    c->order = ARENA_ARRAY(a, uint8_t, statements * statements);
    c->staged = ARENA_ARRAY(a, bool, bb->n_values + 1);
    c->mem_space = ARENA_ARRAY(a, uint8_t, bb->n_regions + 1);
    c->rank = ARENA_ARRAY(a, uint8_t, bb->n_region_dims + 1);
    c->pad = ARENA_ARRAY(a, int64_t, bb->n_regions + 1);
    c->stages = ARENA_ARRAY(a, uint8_t, bb->n_regions + 1);
    c->rotated = ARENA_ARRAY(a, bool, bb->n_regions + 1);
    c->direct = ARENA_ARRAY(a, bool, bb->n_regions + 1);
    c->cache = ARENA_ARRAY(a, uint8_t, bb->n_insts);
    c->matrix = ARENA_ARRAY(a, bool, bb->n_insts);
    return c;
}

/* Elements of a logical of the load inside the copy. */
static int64_t inside_extent(const struct backbone *bb, const struct bb_candidate *c,
                             const struct bb_value *v, uint32_t logical)
{
    const struct bb_inst *load = &bb->insts[v->load];
    size_t n = bb_statement_count(bb);
    int64_t extent = 1;
    for (uint32_t d = load->first_dim; d < load->first_dim + load->n_dims; d++) {
        uint32_t s = bb_dim_statement(bb, d), t = bb->dims[d].tile;
        bool outside = c->live[s] && c->order[s * n + v->copy_store] == BB_OUTER;
        if (bb->tiles[t].logical == logical && !outside) extent *= c->size[t];
    }
    return extent;
}

int64_t bb_staged_extent(const struct backbone *bb, const struct bb_candidate *c, uint32_t region,
                         unsigned coordinate)
{
    const struct bb_region *r = &bb->regions[region];
    const struct bb_region_dim *dim = &bb->region_dims[r->first_region_dim + coordinate];
    int64_t extent = 1 + dim->spread;
    for (const struct bb_term *t = &bb->terms[dim->first_term];
         t < &bb->terms[dim->first_term + dim->n_terms]; t++)
        extent += t->coefficient * (inside_extent(bb, c, &bb->values[r->value], t->logical) - 1);
    return extent;
}

static bool is_copy_tile(const struct backbone *bb, uint32_t tile)
{
    return bb->logicals[bb->tiles[tile].logical].of != BB_NONE;
}

static void read_staging(struct reading *r)
{
    for (uint32_t v = 0; v < r->bb->n_values; v++) {
        enum gpu_staged staged = GPU_STAGED_NO;
        r->open |= !gpu_get_staged(r->leaf, v, &staged);
        r->out->staged[v] = staged == GPU_STAGED_YES;
    }
}

static void read_sizes(struct reading *r)
{
    for (uint32_t t = 0; t < r->bb->n_tiles; t++) {
        uint32_t region = r->bb->logicals[r->bb->tiles[t].logical].region;
        bool exists = !is_copy_tile(r->bb, t) || r->out->staged[r->bb->regions[region].value];
        r->out->size[t] = 1;
        if (exists) r->open |= !gpu_get_size(r->leaf, t, &r->out->size[t]);
    }
}

static bool inst_live(const struct reading *r, const struct bb_inst *inst)
{
    if (bb_is_copy(inst)) return r->out->staged[inst->value];
    return inst->unless == BB_NONE || !r->out->staged[inst->unless];
}

static void read_liveness(struct reading *r)
{
    for (uint32_t i = 0; i < r->bb->n_insts; i++)
        r->out->live[i] = inst_live(r, &r->bb->insts[i]);
    for (uint32_t d = 0; d < r->bb->n_dims; d++) {
        const struct bb_dim *dim = &r->bb->dims[d];
        r->out->live[bb_dim_statement(r->bb, d)] = r->out->live[dim->inst] && r->out->size[dim->tile] > 1;
    }
}

static void read_dims(struct reading *r)
{
    for (uint32_t d = 0; d < r->bb->n_dims; d++) {
        enum gpu_dim_kind kind = GPU_DIM_KIND_LOOP;
        enum gpu_map_encoding code = GPU_MAP_ENCODING_SEQ;
        uint32_t s = bb_dim_statement(r->bb, d);
        if (!r->out->live[s]) continue;
        r->open |= !gpu_get_dim_kind(r->leaf, s, &kind) || !gpu_get_map_encoding(r->leaf, s, &code);
        r->out->kind[d] = (uint8_t)kind;
        r->out->code[d] = (uint8_t)code;
    }
}

/* Whether the first tile is around the second in their run. */
static bool is_around(struct reading *r, uint32_t tile, uint32_t other)
{
    int64_t seat = 0, others = 0;
    r->open |= !gpu_get_seat(r->leaf, tile, &seat) || !gpu_get_seat(r->leaf, other, &others);
    return bb_seat_place(seat) < bb_seat_place(others);
}

/* The dimensions of a run are one node of the space's forest; in the loop tree they are nested by place. */
static uint8_t order_of_merged(struct reading *r, uint32_t a, uint32_t b)
{
    const struct backbone *bb = r->bb;
    uint32_t of_a = bb->dims[a - bb->n_insts].tile, of_b = bb->dims[b - bb->n_insts].tile;
    if (of_a == of_b) return BB_MERGED;
    return is_around(r, of_a, of_b) ? BB_OUTER : BB_INNER;
}

/* Of a to b, and of b to a. */
static void read_order_of(struct reading *r, uint32_t a, uint32_t b, uint8_t *forward, uint8_t *back)
{
    static const uint8_t MIRROR[] = {
        [BB_BEFORE] = BB_AFTER, [BB_AFTER] = BB_BEFORE, [BB_INNER] = BB_OUTER, [BB_OUTER] = BB_INNER};
    enum gpu_order order = GPU_ORDER_BEFORE;
    r->open |= !gpu_get_order(r->leaf, a, b, &order);
    bool merged = order == GPU_ORDER_MERGED;
    *forward = merged ? order_of_merged(r, a, b) : (uint8_t)order;
    *back = merged ? order_of_merged(r, b, a) : MIRROR[order];
}

static void read_order(struct reading *r)
{
    size_t n = bb_statement_count(r->bb);
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = a + 1; b < n && r->out->live[a]; b++)
            if (r->out->live[b]) read_order_of(r, a, b, &r->out->order[a * n + b], &r->out->order[b * n + a]);
}

/* Region dimension c's place: how many of its region are inside it. */
static uint8_t rank_of(struct reading *r, const struct bb_region *region, uint32_t c)
{
    uint8_t rank = 0;
    for (uint32_t i = 0; i < region->n_dims; i++) {
        enum gpu_layout_order layout = GPU_LAYOUT_ORDER_INSIDE;
        uint32_t other = region->first_region_dim + i;
        if (other == c) continue;
        r->open |= !gpu_get_layout_order(r->leaf, r->bb->region_dims[c].first_term,
                                         r->bb->region_dims[other].first_term, &layout);
        if (layout == GPU_LAYOUT_ORDER_OUTSIDE) rank++;
    }
    return rank;
}

static void read_regions(struct reading *r)
{
    for (uint32_t g = 0; g < r->bb->n_regions; g++) {
        const struct bb_region *region = &r->bb->regions[g];
        enum gpu_mem_space memory = GPU_MEM_SPACE_GLOBAL;
        enum gpu_row_layout rows = GPU_ROW_LAYOUT_PLAIN;
        enum gpu_transfer transfer = GPU_TRANSFER_REGISTERS;
        int64_t stages = 1;
        if (!r->out->staged[region->value]) continue;
        r->open |= !gpu_get_mem_space(r->leaf, g, &memory) || !gpu_get_pad(r->leaf, g, &r->out->pad[g]);
        r->open |= !gpu_get_stages(r->leaf, g, &stages);
        r->out->mem_space[g] = (uint8_t)memory;
        r->open |= !gpu_get_row_layout(r->leaf, g, &rows) || !gpu_get_transfer(r->leaf, g, &transfer);
        r->out->stages[g] = (uint8_t)stages;
        r->out->rotated[g] = rows == GPU_ROW_LAYOUT_ROTATED;
        r->out->direct[g] = transfer == GPU_TRANSFER_DIRECT;
        for (uint32_t i = 0; i < region->n_dims; i++)
            r->out->rank[region->first_region_dim + i] = rank_of(r, region, region->first_region_dim + i);
    }
}

static void read_caches(struct reading *r)
{
    for (uint32_t i = 0; i < r->bb->n_insts; i++) {
        enum gpu_cache cache = GPU_CACHE_DEFAULT;
        if (!r->out->live[i] || r->bb->insts[i].buffer == BB_NONE) continue;
        r->open |= !gpu_get_cache(r->leaf, i, &cache);
        r->out->cache[i] = (uint8_t)cache;
    }
}

static void read_matrices(struct reading *r)
{
    for (uint32_t i = 0; i < r->bb->n_insts; i++) {
        enum gpu_matrix matrix = GPU_MATRIX_NO;
        if (r->bb->insts[i].kind != BB_STEP || !r->out->live[i]) continue;
        r->open |= !gpu_get_matrix(r->leaf, i, &matrix);
        r->out->matrix[i] = matrix == GPU_MATRIX_YES;
    }
}

bool bb_decode(const struct backbone *bb, const struct space_state *leaf, struct bb_candidate *out,
               const char **why)
{
    struct reading r = {bb, leaf, out, false};
    *why = "the space is not the GPU space";
    if (!gpu_is_space(space_of(leaf))) return false;
    memset(out->cache, BB_CACHE_DEFAULT, bb->n_insts);
    read_staging(&r);
    read_sizes(&r);
    read_liveness(&r);
    read_dims(&r);
    read_order(&r);
    read_regions(&r);
    read_caches(&r);
    read_matrices(&r);
    *why = r.open ? "a choice is still open, or the space is of another backbone" : NULL;
    return !r.open;
}
