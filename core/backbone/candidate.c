/* From a leaf of the GPU space to plain tables.
 *
 * The names of groups are those of the choices in gpu.space. Statement ids of the space are those of
 * backbone.h, and so are the ids of tiles, values, regions and region dimensions: bb_instance() adds them in
 * that order. Liveness follows from sizes and staging, as in the triggers of the space. */
#include <string.h>

#include "core/backbone/backbone.h"
#include "core/base/arena.h"
#include "core/space/space.h"

enum { OUTSIDE = 1 }; /* code of layout_order: the first coordinate has the larger stride */

struct reading {
    const struct backbone *bb;
    const struct space_state *leaf;
    struct bb_candidate *out;
    const char *why; /* NULL: all well */
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
    c->cache = ARENA_ARRAY(a, uint8_t, bb->n_insts);
    return c;
}

/* The code of the one value that a live slot of `group` has left. */
static int64_t decided(struct reading *r, const char *group, const uint32_t *objects, unsigned n)
{
    const struct space *s = space_of(r->leaf);
    int g = space_group_find(s, group);
    bool flipped = false;
    uint32_t slot = g < 0 ? UINT32_MAX : space_slot_find(s, (unsigned)g, objects, n, &flipped);
    if (slot == UINT32_MAX) {
        r->why = "the space is not the GPU space of this backbone";
        return 0;
    }
    if (space_value_count(r->leaf, slot) != 1) {
        r->why = "a choice is still open";
        return 0;
    }
    uint32_t value = space_first_value(r->leaf, slot);
    return space_value_code(s, slot, flipped ? space_value_mirror(s, slot, value) : value);
}

static int64_t decided1(struct reading *r, const char *group, uint32_t object)
{
    return decided(r, group, &object, 1);
}

static bool is_copy_tile(const struct backbone *bb, uint32_t tile)
{
    return bb->logicals[bb->tiles[tile].logical].of != BB_NONE;
}

static void read_staging(struct reading *r)
{
    for (uint32_t v = 0; v < r->bb->n_values; v++)
        r->out->staged[v] = decided1(r, "staged", v) == 1;
}

static void read_sizes(struct reading *r)
{
    for (uint32_t t = 0; t < r->bb->n_tiles; t++) {
        uint32_t region = r->bb->logicals[r->bb->tiles[t].logical].region;
        bool exists = !is_copy_tile(r->bb, t) || r->out->staged[r->bb->regions[region].value];
        r->out->size[t] = exists ? decided1(r, "size", t) : 1;
    }
}

static bool inst_live(const struct reading *r, const struct bb_inst *inst)
{
    bool copy = inst->kind == BB_COPY_LOAD || inst->kind == BB_COPY_STORE;
    return !copy || r->out->staged[inst->value];
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
        uint32_t s = bb_dim_statement(r->bb, d);
        if (!r->out->live[s]) continue;
        r->out->kind[d] = (uint8_t)decided1(r, "dim_kind", s);
        r->out->code[d] = (uint8_t)decided1(r, "map_encoding", s);
    }
}

/* The dimensions of a run are one node of the space's forest; in the loop tree they are nested by place. */
static uint8_t relation(struct reading *r, uint32_t a, uint32_t b)
{
    const struct backbone *bb = r->bb;
    enum bb_order o = (enum bb_order)decided(r, "order", (uint32_t[]){a, b}, 2);
    if (o != BB_MERGED) return (uint8_t)o;
    uint32_t of_a = bb->dims[a - bb->n_insts].tile, of_b = bb->dims[b - bb->n_insts].tile;
    if (of_a == of_b) return BB_MERGED;
    return decided1(r, "seat", of_a) < decided1(r, "seat", of_b) ? BB_OUTER : BB_INNER;
}

static void read_order(struct reading *r)
{
    uint32_t n = bb_statement_count(r->bb);
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n && r->out->live[a]; b++)
            if (a != b && r->out->live[b]) r->out->order[(size_t)a * n + b] = relation(r, a, b);
}

/* Region dimension c's place: how many of its region are inside it. */
static uint8_t rank_of(struct reading *r, const struct bb_region *region, uint32_t c)
{
    uint8_t rank = 0;
    for (uint32_t i = 0; i < region->n_dims; i++) {
        uint32_t other = region->first_region_dim + i;
        if (other != c && decided(r, "layout_order", (uint32_t[]){c, other}, 2) == OUTSIDE) rank++;
    }
    return rank;
}

static void read_regions(struct reading *r)
{
    for (uint32_t g = 0; g < r->bb->n_regions; g++) {
        const struct bb_region *region = &r->bb->regions[g];
        if (!r->out->staged[region->value]) continue;
        r->out->mem_space[g] = (uint8_t)decided1(r, "mem_space", g);
        r->out->pad[g] = decided1(r, "pad", g);
        for (uint32_t i = 0; i < region->n_dims; i++)
            r->out->rank[region->first_region_dim + i] = rank_of(r, region, region->first_region_dim + i);
    }
}

static void read_caches(struct reading *r)
{
    for (uint32_t i = 0; i < r->bb->n_insts; i++)
        if (r->out->live[i] && r->bb->insts[i].buffer != BB_NONE)
            r->out->cache[i] = (uint8_t)decided1(r, "cache", i);
}

bool bb_decode(const struct backbone *bb, const struct space_state *leaf, struct bb_candidate *out,
               const char **why)
{
    struct reading r = {bb, leaf, out, NULL};
    memset(out->cache, BB_CACHE_DEFAULT, bb->n_insts);
    read_staging(&r);
    read_sizes(&r);
    read_liveness(&r);
    read_dims(&r);
    read_order(&r);
    read_regions(&r);
    read_caches(&r);
    *why = r.why;
    return !r.why;
}
