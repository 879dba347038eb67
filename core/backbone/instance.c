/* The GPU space over a backbone: the sets, properties and parameters that spacedsl/spaces/gpu.space declares.
 *
 * Facts only: which objects there are, which tiles an instruction owns, which dimensions stand for one tile
 * at the two ends of a value, where an access has unit stride. What may be decided about them is in the
 * .space file. Statement ids are those of backbone.h: instructions first, then dimensions. */
#include "core/backbone/backbone.h"
#include "core/base/arena.h"
#include "core/space/data.h"

enum { DEFAULT_UNROLL = 512, DEFAULT_PRIVATE = 512, LONGEST_RUN = 4, LONGEST_BLOCK_RUN = 2 };

struct instance {
    const struct backbone *bb;
    const struct bb_device *device;
    struct space_data *data;
    struct arena *scratch; /* names */
};

/* ---- short forms ---- */

static void fact1(const struct instance *in, const char *property, uint32_t of, int64_t value)
{
    space_data_int(in->data, property, &of, 1, value);
}

static void fact2(const struct instance *in, const char *property, uint32_t a, uint32_t b)
{
    space_data_int(in->data, property, (uint32_t[]){a, b}, 2, 1);
}

static uint32_t statement(const struct instance *in, uint32_t dim)
{
    return bb_dim_statement(in->bb, dim);
}

static uint32_t dim_logical(const struct backbone *bb, uint32_t dim)
{
    return bb->tiles[bb->dims[dim].tile].logical;
}

/* The main logical dimension that a logical dimension is, or is a copy of. */
static uint32_t main_logical(const struct backbone *bb, uint32_t logical)
{
    return bb->logicals[logical].of == BB_NONE ? logical : bb->logicals[logical].of;
}

/* A step reduces what its initialization does not know. */
static bool reduces(const struct backbone *bb, const struct bb_inst *inst, uint32_t logical)
{
    return inst->kind == BB_STEP && bb_owns(inst, logical) && !bb_owns(&bb->insts[inst->partner], logical);
}

static bool is_copy(const struct bb_inst *inst)
{
    return inst->kind == BB_COPY_LOAD || inst->kind == BB_COPY_STORE;
}

/* Writes memory, so that it owns all parallel logical dimensions of its nest, and no others. */
static bool is_whole(const struct bb_inst *inst)
{
    return inst->kind == BB_STORE || inst->kind == BB_COPY_STORE;
}

/* ---- objects ---- */

static void declare_sets(const struct instance *in)
{
    static const char *const sets[] = {"Statement", "Tile",      "Logical", "Value",
                                       "Region",    "RegionDim", "Edge"};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        space_data_set(in->data, sets[i]);
}

static void add_statements(const struct instance *in)
{
    const struct backbone *bb = in->bb;
    for (uint32_t i = 0; i < bb->n_insts; i++)
        space_data_member(in->data, "Inst", space_data_object(in->data, "Statement", bb->insts[i].name));
    for (uint32_t d = 0; d < bb->n_dims; d++)
        space_data_member(in->data, "Dim", space_data_object(in->data, "Statement", bb->dims[d].name));
    for (uint32_t s = 0; s < bb_statement_count(bb); s++)
        fact1(in, "number", s, s);
}

/* The hardware places that dimensions of a tile may have, and the tiles they may share a nest with: the
 * parallel ones of the program, or those of one copy. A copy is of one group. */
static void add_seats(const struct instance *in, uint32_t t)
{
    const struct backbone *bb = in->bb;
    const struct bb_logical *mine = &bb->logicals[bb->tiles[t].logical];
    int64_t list[1 + 3 * (LONGEST_RUN + 2 * LONGEST_BLOCK_RUN)] = {BB_SEQ};
    size_t n = 1;
    for (int axis = 0; axis < 3 && !mine->reduction; axis++) {
        for (int place = 0; place < LONGEST_RUN; place++)
            list[n++] = BB_LCL + axis + 100 * place;
        for (int place = 0; place < LONGEST_BLOCK_RUN && mine->of == BB_NONE; place++) {
            list[n++] = BB_WRG + axis + 100 * place;
            list[n++] = BB_GLB + axis + 100 * place;
        }
    }
    space_data_list(in->data, "seats", &t, 1, list, n);
    for (uint32_t u = 0; u < bb->n_tiles; u++) {
        const struct bb_logical *l = &bb->logicals[bb->tiles[u].logical];
        if (u != t && l->region == mine->region && !l->reduction && !mine->reduction)
            fact2(in, "same_nest", t, u);
    }
}

static bool is_prime_power(int64_t n)
{
    int64_t prime = 2;
    while (prime * prime <= n && n % prime != 0)
        prime++;
    if (prime * prime > n) return true;
    while (n % prime == 0)
        n /= prime;
    return n == 1;
}

static void add_logicals(const struct instance *in)
{
    const struct backbone *bb = in->bb;
    for (uint32_t l = 0; l < bb->n_logicals; l++) {
        space_data_object(in->data, "Logical", bb->logicals[l].name);
        fact1(in, "extent", l, bb->logicals[l].extent);
        if (is_prime_power(bb->logicals[l].extent)) fact1(in, "prime_power", l, 1);
        if (bb->logicals[l].of == BB_NONE) space_data_member(in->data, "MainLogical", l);
    }
    for (uint32_t t = 0; t < bb->n_tiles; t++) {
        const struct bb_tile *tile = &bb->tiles[t];
        space_data_object(in->data, "Tile", tile->name);
        space_data_member_of(in->data, "TilesOf", tile->logical, t);
        space_data_list(in->data, "sizes", &t, 1, tile->sizes, tile->n_sizes);
        fact1(in, "level", t, tile->level);
        fact1(in, "logical", t, tile->logical);
        add_seats(in, t);
        if (bb->logicals[tile->logical].of == BB_NONE) space_data_member(in->data, "MainTile", t);
    }
}

/* ---- instructions and dimensions ---- */

static void add_tiles_owned(const struct instance *in, uint32_t id)
{
    const struct backbone *bb = in->bb;
    const struct bb_inst *inst = &bb->insts[id];
    for (uint32_t t = 0; t < bb->n_tiles; t++) {
        if (bb_owns(inst, bb->tiles[t].logical)) fact2(in, "owns", id, t);
        if (bb_owns(inst, bb->tiles[t].logical) && is_whole(inst))
            space_data_member_of(in->data, "NestTiles", id, t);
        if (reduces(bb, inst, bb->tiles[t].logical)) fact2(in, "reduces", id, t);
    }
}

/* The caches that an access can choose. Inputs are const and restrict, so that the compiler chooses a
 * read-only path by itself. */
static void add_caches(const struct instance *in, uint32_t id)
{
    static const int64_t offered[] = {BB_CACHE_DEFAULT, BB_CACHE_STREAMING};
    space_data_member(in->data, "Access", id);
    bool streams = in->device->nontemporal && in->bb->insts[id].n_dims;
    space_data_list(in->data, "caches", &id, 1, offered, streams ? 2 : 1);
}

static bool needs(const struct backbone *bb, uint32_t reader, uint32_t writer)
{
    const struct bb_inst *inst = &bb->insts[reader];
    for (unsigned i = 0; i < inst->n_operands; i++)
        if (inst->operands[i] == writer || needs(bb, inst->operands[i], writer)) return true;
    return false;
}

static void add_swappable(const struct instance *in, uint32_t i)
{
    const struct backbone *bb = in->bb;
    for (uint32_t j = i + 1; j < bb->n_insts; j++) {
        bool memory = is_whole(&bb->insts[i]) || is_whole(&bb->insts[j]) || is_copy(&bb->insts[i]) ||
                      is_copy(&bb->insts[j]);
        if (!memory && !needs(bb, i, j) && !needs(bb, j, i)) fact2(in, "swappable", i, j);
    }
}

static bool owns_all(const struct bb_inst *inst, const struct bb_inst *of)
{
    bool all = true;
    for (unsigned i = 0; i < of->n_logicals; i++)
        all &= bb_owns(inst, of->logicals[i]);
    return all;
}

static bool reads(const struct backbone *bb, uint32_t reader, uint32_t writer)
{
    const struct bb_inst *inst = &bb->insts[reader];
    for (unsigned i = 0; i < inst->n_operands; i++)
        if (inst->operands[i] == writer) return true;
    return false;
}

/* Of neighbours with the same tiles the last one counts. */
static bool is_widest(const struct backbone *bb, uint32_t i)
{
    for (uint32_t j = 0; j < bb->n_insts; j++) {
        bool neighbours = reads(bb, i, j) || reads(bb, j, i);
        bool wider = owns_all(&bb->insts[j], &bb->insts[i]);
        if (neighbours && wider && (j > i || !owns_all(&bb->insts[i], &bb->insts[j]))) return false;
    }
    return true;
}

static void add_insts(const struct instance *in)
{
    for (uint32_t i = 0; i < in->bb->n_insts; i++) {
        const struct bb_inst *inst = &in->bb->insts[i];
        if (inst->kind == BB_STORE) space_data_member(in->data, "Store", i);
        if (is_whole(inst)) space_data_member(in->data, "Whole", i);
        if (is_copy(inst)) space_data_member(in->data, "CopyInst", i);
        if (inst->buffer != BB_NONE) add_caches(in, i);
        if (is_widest(in->bb, i)) space_data_member(in->data, "Widest", i);
        add_swappable(in, i);
        if (inst->kind == BB_STEP) {
            space_data_member(in->data, "Step", i);
            fact1(in, "initial", i, inst->partner);
        }
        add_tiles_owned(in, i);
    }
}

static bool unit_stride(const struct backbone *bb, const struct bb_inst *inst, uint32_t dim)
{
    if (inst->kind == BB_COPY_STORE) return true; /* the layout decides */
    int affine = 0;
    return index_stride(inst->index, main_logical(bb, dim_logical(bb, dim)), &affine) == 1 && affine;
}

/* Facts of a dimension of a load, a store or a copy. */
static void add_access_dim(const struct instance *in, const struct bb_inst *inst, uint32_t dim)
{
    const struct backbone *bb = in->bb;
    uint32_t s = statement(in, dim), tile = bb->dims[dim].tile;
    space_data_member(in->data, "AccessDim", s);
    if (unit_stride(bb, inst, dim)) fact1(in, "unit_stride", s, 1);
    for (unsigned i = 0; i < inst->n_dims; i++) {
        uint32_t other = inst->first_dim + i, other_tile = bb->dims[other].tile;
        if (bb->tiles[other_tile].logical == bb->tiles[tile].logical &&
            bb->tiles[other_tile].level > bb->tiles[tile].level)
            fact2(in, "less_significant", s, statement(in, other));
    }
}

static void add_dims(const struct instance *in)
{
    const struct backbone *bb = in->bb;
    for (uint32_t d = 0; d < bb->n_dims; d++) {
        const struct bb_inst *inst = &bb->insts[bb->dims[d].inst];
        uint32_t s = statement(in, d);
        fact1(in, "tile", s, bb->dims[d].tile);
        fact1(in, "inst", s, bb->dims[d].inst);
        space_data_list(in->data, "widths", &s, 1, in->device->vector_widths, in->device->n_vector_widths);
        if (!is_copy(inst)) space_data_member(in->data, "MainDim", s);
        space_data_member_of(in->data, "DimsOf", bb->dims[d].inst, s);
        if (inst->kind == BB_LOAD || inst->kind == BB_STORE || is_copy(inst)) add_access_dim(in, inst, d);
    }
}

static void add_dims_of_tiles(const struct instance *in)
{
    const struct backbone *bb = in->bb;
    int64_t *list = ARENA_ARRAY(in->scratch, int64_t, bb->n_dims + 1);
    for (uint32_t t = 0; t < bb->n_tiles; t++) {
        size_t n = 0;
        for (uint32_t d = 0; d < bb->n_dims; d++)
            if (bb->dims[d].tile == t) list[n++] = statement(in, d);
        space_data_list(in->data, "dims_of", &t, 1, list, n);
    }
}

/* ---- values in registers ---- */

static void add_crossings(const struct instance *in, uint32_t from, uint32_t to)
{
    const struct backbone *bb = in->bb;
    const struct bb_inst *p = &bb->insts[from], *c = &bb->insts[to];
    for (uint32_t d = p->first_dim; d < p->first_dim + p->n_dims; d++)
        for (uint32_t e = c->first_dim; e < c->first_dim + c->n_dims; e++) {
            if (bb->dims[d].tile != bb->dims[e].tile || reduces(bb, p, dim_logical(bb, d))) continue;
            fact2(in, "crosses", statement(in, d), statement(in, e));
        }
}

static bool operand_seen(const struct bb_inst *inst, unsigned operand)
{
    for (unsigned i = 0; i < operand; i++)
        if (inst->operands[i] == inst->operands[operand]) return true;
    return false;
}

static void add_edges(const struct instance *in)
{
    const struct backbone *bb = in->bb;
    for (uint32_t i = 0; i < bb->n_insts; i++)
        for (unsigned o = 0; o < bb->insts[i].n_operands; o++) {
            if (operand_seen(&bb->insts[i], o)) continue;
            uint32_t from = bb->insts[i].operands[o];
            const char *name = arena_printf(in->scratch, "%s>%s", bb->insts[from].name, bb->insts[i].name);
            uint32_t edge = space_data_object(in->data, "Edge", name);
            fact1(in, "writer", edge, from);
            fact1(in, "reader", edge, i);
            add_crossings(in, from, i);
        }
}

/* ---- staging ---- */

static void add_coordinate(const struct instance *in, uint32_t value, unsigned place)
{
    const struct backbone *bb = in->bb;
    const struct bb_value *v = &bb->values[value];
    uint32_t logical = bb->insts[v->load].logicals[place];
    const struct bb_logical *l = &bb->logicals[logical];
    const char *name = arena_printf(in->scratch, "%s.%s", bb->regions[v->region].name, l->name);
    uint32_t c = space_data_object(in->data, "RegionDim", name);
    int64_t cuts[BB_MAX_LEVELS + 1];
    for (unsigned i = 0; i <= l->n_levels; i++)
        cuts[i] = i;
    space_data_list(in->data, "cuts", &c, 1, cuts, l->n_levels + 1);
    fact1(in, "copy_logical", c, bb->insts[v->copy_store].logicals[place]);
    fact1(in, "value_of", c, value);
    space_data_member_of(in->data, "Coordinates", v->region, c);
    for (unsigned i = 0; i < l->n_levels; i++)
        space_data_member_of(in->data, "LoadTiles", c, l->first_tile + i);
}

/* The dimensions of the load or the copy store: which coordinate of the region each moves along. */
static void add_staged_dims(const struct instance *in, uint32_t value, const struct bb_inst *inst)
{
    const struct backbone *bb = in->bb;
    for (uint32_t d = inst->first_dim; d < inst->first_dim + inst->n_dims; d++) {
        unsigned place = 0;
        while (inst->logicals[place] != dim_logical(bb, d))
            place++;
        uint32_t s = statement(in, d);
        space_data_member(in->data, "StagedDim", s);
        fact1(in, "coordinate", s, bb->regions[bb->values[value].region].first_region_dim + place);
        if (inst->kind != BB_LOAD) continue;
        fact1(in, "in_load", s, 1);
        fact1(in, "value_read", s, value);
        space_data_member_of(in->data, "LoadDims", value, s);
    }
}

static void add_copy(const struct instance *in, uint32_t value, uint32_t id)
{
    const struct backbone *bb = in->bb;
    const struct bb_inst *inst = &bb->insts[id];
    space_data_member_of(in->data, "CopyInsts", value, id);
    for (uint32_t d = inst->first_dim; d < inst->first_dim + inst->n_dims; d++)
        space_data_member_of(in->data, "CopyDims", value, statement(in, d));
}

/* The region's dimensions and the copies' tiles: both are numbered consecutively. */
static void add_latent_lists(const struct instance *in, uint32_t value)
{
    const struct backbone *bb = in->bb;
    const struct bb_region *region = &bb->regions[bb->values[value].region];
    const struct bb_inst *store = &bb->insts[bb->values[value].copy_store];
    int64_t *list = ARENA_ARRAY(in->scratch, int64_t, region->n_dims + store->n_dims + 1);
    for (unsigned i = 0; i < region->n_dims; i++)
        list[i] = region->first_region_dim + i;
    space_data_list(in->data, "coordinates", &value, 1, list, region->n_dims);
    for (unsigned i = 0; i < store->n_dims; i++)
        list[i] = bb->dims[store->first_dim + i].tile;
    space_data_list(in->data, "copy_tiles", &value, 1, list, store->n_dims);
}

/* A row of 2^n + 1 elements avoids the banks of a column, one of 2^n + a vector's width is aligned too. */
static void add_pads(const struct instance *in, uint32_t region)
{
    const struct bb_device *dev = in->device;
    int64_t list[2 + sizeof dev->vector_widths / sizeof dev->vector_widths[0]] = {0, 1};
    for (unsigned i = 0; i < dev->n_vector_widths; i++)
        list[2 + i] = dev->vector_widths[i];
    space_data_list(in->data, "pads", &region, 1, list, 2 + dev->n_vector_widths);
}

static void add_values(const struct instance *in)
{
    const struct backbone *bb = in->bb;
    for (uint32_t v = 0; v < bb->n_values; v++) {
        const struct bb_value *value = &bb->values[v];
        space_data_object(in->data, "Value", value->name);
        uint32_t region = space_data_object(in->data, "Region", bb->regions[value->region].name);
        fact1(in, "element_bytes", region, scalar_type_bytes(bb->regions[region].type));
        add_pads(in, region);
        fact1(in, "region", v, region);
        fact1(in, "load", v, value->load);
        fact1(in, "copy_load", v, value->copy_load);
        fact1(in, "copy_store", v, value->copy_store);
        for (unsigned i = 0; i < bb->regions[region].n_dims; i++)
            add_coordinate(in, v, i);
        add_staged_dims(in, v, &bb->insts[value->load]);
        add_staged_dims(in, v, &bb->insts[value->copy_store]);
        add_copy(in, v, value->copy_load);
        add_copy(in, v, value->copy_store);
        add_latent_lists(in, v);
    }
}

/* ---- the device ---- */

static void add_device(const struct instance *in)
{
    const struct bb_device *dev = in->device;
    for (uint32_t axis = 0; axis < 3; axis++)
        fact1(in, "max_work_items", axis, dev->max_work_item[axis]);
    space_data_parameter(in->data, "max_work_group", dev->max_work_group);
    space_data_parameter(in->data, "local_memory", dev->local_bytes);
    space_data_parameter(in->data, "max_unroll", dev->max_unroll ? dev->max_unroll : DEFAULT_UNROLL);
    space_data_parameter(in->data, "max_private", dev->max_private ? dev->max_private : DEFAULT_PRIVATE);
}

struct space_data *bb_instance(const struct backbone *bb, const struct bb_device *device)
{
    struct instance in = {bb, device, space_data_new(), arena_new()};
    declare_sets(&in);
    add_statements(&in);
    add_logicals(&in);
    add_insts(&in);
    add_dims(&in);
    add_dims_of_tiles(&in);
    add_edges(&in);
    add_values(&in);
    add_device(&in);
    arena_free(in.scratch);
    return in.data;
}
