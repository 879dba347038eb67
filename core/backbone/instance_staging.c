/* The part of the instance of gpu.space about staging. The terms of a region are numbered like those of the
 * backbone; a coordinate is the object of its first term. An example: the load A[y + dy][x] gives
 *
 *     Term A.tile.y, A.tile.dy, A.tile.x     coefficient 1, main_logical(A.tile.dy) = dy
 *     Window A.tile.y                        TermsOf: A.tile.y, A.tile.dy
 *     Plain A.tile.x                         TermsOf: A.tile.x */
#include "core/backbone/instance.h"

#include "core/backbone/matrix.h"
#include "core/base/arena.h"

/* The object of a coordinate is that of its first term. */
static uint32_t coordinate_object(const struct backbone *bb, uint32_t region_dim)
{
    return bb->region_dims[region_dim].first_term;
}

static void add_term(const struct instance *in, uint32_t value, const struct bb_term *t)
{
    const struct backbone *bb = in->bb;
    const struct bb_logical *l = &bb->logicals[t->logical];
    uint32_t x =
        gpu_add_term(in->data, arena_printf(in->scratch, "%s.tile.%s", bb->values[value].name, l->name));
    int64_t cuts[BB_MAX_LEVELS + 1];
    for (unsigned i = 0; i <= l->n_levels; i++)
        cuts[i] = i;
    gpu_set_cuts(in->data, x, cuts, l->n_levels + 1);
    gpu_set_value_of(in->data, x, value);
    gpu_set_main_logical(in->data, x, t->logical);
    gpu_set_coefficient(in->data, x, t->coefficient);
    for (unsigned i = 0; i < l->n_levels; i++)
        gpu_put_load_tiles(in->data, x, l->first_tile + i);
}

static void add_coordinate(const struct instance *in, uint32_t value, unsigned place)
{
    const struct backbone *bb = in->bb;
    const struct bb_value *v = &bb->values[value];
    const struct bb_region_dim *dim = &bb->region_dims[bb->regions[v->region].first_region_dim + place];
    uint32_t c = dim->first_term;
    for (unsigned i = 0; i < dim->n_terms; i++) {
        add_term(in, value, &bb->terms[c + i]);
        gpu_put_terms_of(in->data, c, c + i);
    }
    gpu_put_region_dim(in->data, c);
    if (bb_overlaps(dim)) gpu_put_window(in->data, c);
    if (dim->spread) gpu_set_spread(in->data, c, dim->spread);
    if (!bb_overlaps(dim)) gpu_put_plain(in->data, c);
    uint32_t copy = bb->insts[v->copy_store].logicals[place];
    gpu_set_copy_logical(in->data, c, copy);
    gpu_put_coordinates(in->data, v->region, c);
    for (unsigned i = 1; i < bb->logicals[copy].n_levels; i++)
        gpu_put_inner_tiles(in->data, c, bb->logicals[copy].first_tile + i);
}

/* The term of a value that is a logical of its load, and the coordinate that it is in. */
static uint32_t term_of(const struct backbone *bb, const struct bb_value *v, uint32_t logical,
                        uint32_t *coordinate)
{
    const struct bb_region_dim *c = &bb->region_dims[bb->regions[v->region].first_region_dim];
    uint32_t place = 0, first = c->first_term;
    while (bb->terms[v->first_term + place].logical != logical)
        place++;
    while (first + place >= c->first_term + c->n_terms)
        c++;
    *coordinate = c->first_term;
    return v->first_term + place;
}

/* The dimensions of the load: which term each moves along. */
static void add_load_dims(const struct instance *in, uint32_t value)
{
    const struct backbone *bb = in->bb;
    const struct bb_value *v = &bb->values[value];
    const struct bb_inst *load = &bb->insts[v->load];
    for (uint32_t d = load->first_dim; d < load->first_dim + load->n_dims; d++) {
        uint32_t s = statement(in, d), coordinate;
        uint32_t x = term_of(bb, v, dim_logical(bb, d), &coordinate);
        gpu_put_staged_dim(in->data, s);
        gpu_set_coordinate(in->data, s, coordinate);
        gpu_set_term(in->data, s, x);
        gpu_set_in_load(in->data, s, true);
        gpu_set_value_read(in->data, s, value);
        gpu_put_load_dims(in->data, value, s);
    }
}

/* The dimensions of the copy's store: which coordinate of the region each moves along. */
static void add_store_dims(const struct instance *in, uint32_t value)
{
    const struct backbone *bb = in->bb;
    const struct bb_inst *store = &bb->insts[bb->values[value].copy_store];
    for (uint32_t d = store->first_dim; d < store->first_dim + store->n_dims; d++) {
        uint32_t coordinate = bb->logicals[dim_logical(bb, d)].coordinate;
        gpu_put_staged_dim(in->data, statement(in, d));
        gpu_set_coordinate(in->data, statement(in, d), coordinate_object(bb, coordinate));
    }
}

static void add_copy(const struct instance *in, uint32_t value, uint32_t id)
{
    const struct backbone *bb = in->bb;
    const struct bb_inst *inst = &bb->insts[id];
    gpu_put_copy_insts(in->data, value, id);
    if (id != bb->values[value].copy_store) gpu_put_copy_makers(in->data, value, id);
    for (uint32_t d = inst->first_dim; d < inst->first_dim + inst->n_dims; d++)
        gpu_put_copy_dims(in->data, value, statement(in, d));
}

/* A dimension around instructions that do not own it: of the program, or of a copy that computes. */
static void add_repeating(const struct instance *in)
{
    const struct backbone *bb = in->bb;
    for (uint32_t d = 0; d < bb->n_dims; d++) {
        const struct bb_inst *inst = &bb->insts[bb->dims[d].inst];
        bool computes = bb_is_copy(inst) && bb_is_computed(bb, &bb->values[inst->value]);
        if (!bb_is_copy(inst) || computes) gpu_put_repeating(in->data, statement(in, d));
        if (computes) gpu_put_computing_dim(in->data, statement(in, d));
    }
}

/* The copy's tiles: those of one region are numbered consecutively. */
static bool is_copy_tile(const struct backbone *bb, const struct bb_value *v, uint32_t tile)
{
    return bb->logicals[bb->tiles[tile].logical].region == v->region;
}

/* What a copy of the value consists of: instructions, the region's terms, which are numbered consecutively,
 * and tiles. */
static void add_latent_lists(const struct instance *in, uint32_t value)
{
    const struct backbone *bb = in->bb;
    const struct bb_value *v = &bb->values[value];
    bool shares = v->owner != value;
    unsigned n_terms = bb->insts[v->load].n_logicals, n = 0;
    int64_t *list = ARENA_ARRAY(in->scratch, int64_t, n_terms + bb->n_tiles + bb->n_insts + 1);
    for (unsigned i = 0; i < n_terms; i++)
        list[i] = v->first_term + i;
    gpu_set_terms(in->data, value, list, n_terms);
    for (uint32_t t = 0; t < bb->n_tiles && !shares; t++)
        if (is_copy_tile(bb, v, t)) list[n++] = t;
    gpu_set_copy_tiles(in->data, value, list, n);
    n = 0;
    for (uint32_t i = v->copy_load; i <= v->copy_store && !shares; i++)
        list[n++] = i;
    gpu_set_copies(in->data, value, list, n);
}

/* Whether only instructions of one value that is not staged own a logical. */
static bool is_direct_only(const struct backbone *bb, uint32_t value, uint32_t logical)
{
    bool only = false;
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        if (!bb_owns(&bb->insts[i], logical)) continue;
        if (bb->insts[i].unless != value) return false;
        only = true;
    }
    return only;
}

/* What makes a computed value where it is read: latent, too. */
static void add_direct(const struct instance *in, uint32_t value)
{
    const struct backbone *bb = in->bb;
    const struct bb_value *v = &bb->values[value];
    int64_t *list = ARENA_ARRAY(in->scratch, int64_t, v->n_direct + bb->n_dims + 1);
    for (unsigned i = 0; i < v->n_direct; i++)
        list[i] = v->direct[i];
    gpu_put_computed(in->data, value);
    gpu_set_direct(in->data, value, list, v->n_direct);
    for (uint32_t t = 0; t < bb->n_tiles; t++) {
        unsigned n = 0;
        for (uint32_t d = 0; d < bb->n_dims; d++)
            if (bb->dims[d].tile == t && bb->insts[bb->dims[d].inst].unless == value)
                list[n++] = statement(in, d);
        if (n) gpu_set_direct_dims(in->data, value, t, list, n);
        if (n) gpu_put_direct_tiles(in->data, value, t);
        if (n && is_direct_only(bb, value, bb->tiles[t].logical)) gpu_put_only_direct(in->data, value, t);
    }
    for (uint32_t l = 0; l < bb->n_logicals && v->owner == value; l++)
        if (bb->logicals[l].region == v->region && bb->logicals[l].coordinate == BB_NONE)
            gpu_put_inside(in->data, value, l);
    for (uint32_t w = 0; w < bb->n_values; w++)
        if (bb->insts[bb->values[w].load].unless == value) gpu_put_inner_values(in->data, value, w);
}

/* What registers of a work-item may hold: the copy's dimensions along coordinates, its instructions, and the
 * order of the coordinates. */
static void add_private(const struct instance *in, uint32_t value)
{
    const struct backbone *bb = in->bb;
    const struct bb_value *v = &bb->values[value];
    const struct bb_region *r = &bb->regions[v->region];
    gpu_put_private(in->data, v->region);
    for (uint32_t i = v->copy_load; i <= v->copy_store; i++) {
        const struct bb_inst *inst = &bb->insts[i];
        gpu_put_private_copy(in->data, i);
        gpu_set_fills(in->data, i, v->region);
        for (uint32_t d = inst->first_dim; d < inst->first_dim + inst->n_dims; d++)
            if (bb->logicals[dim_logical(bb, d)].coordinate != BB_NONE)
                gpu_put_private_dims(in->data, v->region, statement(in, d));
    }
    for (uint32_t c = r->first_region_dim; c < r->first_region_dim + r->n_dims; c++)
        for (uint32_t other = r->first_region_dim; other < c; other++)
            gpu_set_precedes(in->data, coordinate_object(bb, other), coordinate_object(bb, c), true);
}

/* A row of 2^n + 1 elements avoids the banks of a column, one of 2^n + a vector's width is aligned too. With
 * 8 floats between them, 4 rows have the banks of 8 neighbours each apart. */
static void add_pads(const struct instance *in, uint32_t region)
{
    const struct bb_device *dev = in->device;
    int64_t list[3 + sizeof dev->vector_widths / sizeof dev->vector_widths[0]] = {0, 1};
    unsigned n = 2;
    for (unsigned i = 0; i < dev->n_vector_widths; i++)
        list[n++] = dev->vector_widths[i];
    enum scalar_type type = in->bb->regions[region].type;
    bool eight =
        type == SCALAR_HALF ? dev->matrix : type == SCALAR_FLOAT && bb_may_round_factors(in->bb, dev);
    if (eight && list[n - 1] < BB_HALF_VECTOR) list[n++] = BB_HALF_VECTOR;
    gpu_set_pads(in->data, region, list, n);
}

/* A region, its coordinates and the copy that fills it. */
static void add_region(const struct instance *in, uint32_t value)
{
    const struct backbone *bb = in->bb;
    const struct bb_value *v = &bb->values[value];
    uint32_t region = gpu_add_region(in->data, bb->regions[v->region].name);
    gpu_set_element_bytes(in->data, region, scalar_type_bytes(bb->regions[region].type));
    if (bb_is_computed(bb, v) || bb_is_shared(bb, v)) gpu_set_one_stage(in->data, region, true);
    if (bb_is_shared(bb, v)) gpu_set_several(in->data, region, true);
    add_pads(in, region);
    for (unsigned i = 0; i < bb->regions[region].n_dims; i++)
        add_coordinate(in, value, i);
    add_store_dims(in, value);
    for (uint32_t i = v->copy_load; i <= v->copy_store; i++)
        add_copy(in, value, i);
    if (bb_is_repeated(&bb->regions[region], bb->region_dims)) add_private(in, value);
}

/* A value that reads the region of another one. */
static void add_sharer(const struct instance *in, uint32_t value)
{
    const struct backbone *bb = in->bb;
    const struct bb_value *v = &bb->values[value];
    gpu_put_sharer(in->data, value);
    gpu_set_owner(in->data, value, v->owner);
    if (v->at) gpu_set_together(in->data, value, true);
    for (unsigned i = 0; i < bb->insts[v->load].n_logicals; i++) {
        add_term(in, value, &bb->terms[v->first_term + i]);
        gpu_set_shared(in->data, v->first_term + i, bb->values[v->owner].first_term + i);
    }
}

void bb_instance_staging(const struct instance *in)
{
    const struct backbone *bb = in->bb;
    for (uint32_t v = 0; v < bb->n_values; v++) {
        const struct bb_value *value = &bb->values[v];
        gpu_add_value(in->data, value->name);
        if (value->owner == v)
            add_region(in, v);
        else
            add_sharer(in, v);
        gpu_set_region(in->data, v, value->region);
        gpu_set_load(in->data, v, value->load);
        gpu_set_copy_store(in->data, v, value->copy_store);
        add_load_dims(in, v);
        add_latent_lists(in, v);
        if (bb_is_computed(bb, value)) add_direct(in, v);
    }
    add_repeating(in);
}
