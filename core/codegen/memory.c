/* Memory: the layout of regions and the offset of every access, as index expressions over the nodes of the
 * loop tree.
 *
 * A dimension that is tiled in sizes 4, 2, 8 (m.0, m.1, m.2) has the logical index 16 * m0 + 8 * m1 + m2:
 * each digit times the product of the later sizes. A load A[m][k] of a matrix with 64 columns has the offset
 * 64 * (16 * m0 + 8 * m1 + m2) + k.
 *
 * A staged value is copied to a region. If the copy is inside the loop over m.0, the region holds the 16
 * elements of m.1 and m.2, and the load's offset in it is 8 * m1 + m2. So a region has, for each logical of
 * its load, the tiles whose dimensions are not around the store of the copy; these must be the less
 * significant ones, and the copy, which has tiles of its own, must write all of them.
 *
 * A private region is an array of each work-item, which copies for itself: also work-items may be around the
 * copy then.
 *
 * A coordinate that is a window, y + dy, has the sum of those parts of its terms: 8 * y1 + y2 + dy0, up to 17
 * for 16 of the y and 3 of the dy. Its copy may have more iterations than the region has elements
 * (remainder.c). */
#include "core/codegen/program.h"

#include "core/backbone/matrix.h"
#include "core/base/arena.h"

int64_t cg_weight(const struct cg_program *p, const struct bb_logical *l, unsigned level)
{
    int64_t w = 1;
    for (unsigned v = level + 1; v < l->n_levels; v++)
        w *= p->c->size[l->first_tile + v];
    return w;
}

enum part { PART_ALL, PART_OUTSIDE, PART_INSIDE };

/* The index that inst's dimensions of a logical give, or its part outside or inside the node `copy`. */
static const struct index_expr *logical_index(struct cg_program *p, uint32_t inst, uint32_t logical,
                                              enum part part, const struct cg_node *copy)
{
    const struct bb_logical *l = &p->bb->logicals[logical];
    const struct index_expr *sum = index_constant(p->arena, 0);
    for (unsigned v = 0; v < l->n_levels; v++) {
        const struct cg_node *n = cg_own(p, inst, l->first_tile + v);
        if (!n || (part != PART_ALL && cg_inside(copy, n) != (part == PART_OUTSIDE))) continue;
        const struct index_expr *digit = index_var(p->arena, n->id, n->size);
        sum = index_add(p->arena, sum, index_scale(p->arena, digit, cg_weight(p, l, v)));
    }
    return sum;
}

/* ---- regions ---- */

/* Elements of a logical inside the copy; 0 if a tile outside of it is less significant than one inside. */
static int64_t inside_extent(const struct cg_program *p, const struct bb_value *v, uint32_t logical)
{
    const struct bb_logical *l = &p->bb->logicals[logical];
    int64_t extent = 1;
    for (unsigned level = 0; level < l->n_levels; level++) {
        const struct cg_node *n = cg_own(p, v->load, l->first_tile + level);
        if (!n) continue;
        if (!cg_inside(p->inst_node[v->copy_store], n))
            extent *= n->size;
        else if (extent > 1)
            return 0;
    }
    return extent;
}

/* Elements of a coordinate of a region; 0 likewise. */
static int64_t coordinate_extent(const struct cg_program *p, const struct bb_value *v,
                                 const struct bb_region_dim *c)
{
    int64_t extent = 1 + c->spread;
    for (unsigned i = 0; i < c->n_terms; i++) {
        const struct bb_term *t = &bb_value_terms(p->bb, v, c)[i];
        int64_t inside = inside_extent(p, v, t->logical);
        if (!inside) return 0;
        extent += t->coefficient * (inside - 1);
    }
    return extent;
}

int64_t cg_span(const struct cg_program *p, uint32_t logical)
{
    const struct bb_logical *l = &p->bb->logicals[logical];
    int64_t extent = 1;
    for (unsigned v = 0; v < l->n_levels; v++)
        extent *= p->c->size[l->first_tile + v];
    return extent;
}

uint32_t cg_indexed(const struct cg_program *p, uint32_t logical)
{
    const struct bb_logical *l = &p->bb->logicals[logical];
    return l->of == BB_NONE || bb_is_window(p->bb, l) ? logical : l->of;
}

static const char *lay_out(struct cg_program *p, const struct bb_region *r, int64_t pad, bool rotated,
                           struct cg_region *out)
{
    unsigned at[BB_MAX_LOGICALS] = {0}, seen = 0;
    for (unsigned j = 0; j < r->n_dims; j++) {
        unsigned rank = p->c->rank[r->first_region_dim + j];
        if (rank >= r->n_dims || (seen >> rank & 1u)) return "the layout of a region is no permutation";
        seen |= 1u << rank;
        at[rank] = j;
    }
    int64_t stride = 1;
    for (unsigned rank = 0; rank < r->n_dims; rank++) {
        out->stride[at[rank]] = stride;
        stride *= out->extent[at[rank]] + (rank == 0 ? pad : 0);
    }
    out->part = BB_ROW_BYTES / scalar_type_bytes(r->type);
    if (rotated && (pad || out->extent[at[0]] % out->part)) return "a row is not made of whole parts";
    out->rotated = rotated ? out->extent[at[0]] : 0;
    int64_t unit = CG_ALIGNMENT / scalar_type_bytes(r->type);
    out->elements = out->space == BB_MEM_GLOBAL ? (stride + unit - 1) / unit * unit : stride;
    return NULL;
}

bool cg_is_private(const struct cg_program *p, uint32_t region)
{
    return region != BB_NONE && p->c->mem_space[region] == BB_MEM_PRIVATE;
}

/* Whether work-items divide a copy, or what its load reads of it: those around both are no matter. */
static bool is_divided(const struct cg_program *p, const struct bb_value *v)
{
    struct cg_node *store = p->inst_node[v->copy_store], *load = p->inst_node[v->load];
    const struct cg_node *common = cg_common(store, load);
    bool divided = false;
    for (uint32_t i = v->copy_load; i <= v->copy_store; i++)
        for (const struct cg_node *n = p->inst_node[i]; n->depth > common->depth; n = n->parent)
            divided |= cg_hardware(n);
    for (const struct cg_node *n = load; n != common; n = n->parent)
        divided |= cg_hardware(n) && cg_owns(p, v->load, n);
    return divided;
}

/* maker: an instruction of the copy. */
static const char *check_copy(const struct cg_program *p, const struct bb_value *v, uint32_t maker)
{
    const struct cg_node *store = p->inst_node[v->copy_store], *copy = p->inst_node[maker];
    const struct cg_node *load = p->inst_node[v->load];
    if (!store || !copy) return "a staged value without its copy";
    if (copy->place > store->place || store->place > load->place) return "a copy is not before its load";
    const struct bb_inst *in = &p->bb->insts[v->load];
    for (uint32_t d = in->first_dim; d < in->first_dim + in->n_dims; d++) {
        const struct cg_node *n = p->dim_node[d];
        if (!n || !cg_inside(store, n)) continue;
        if (!cg_inside(copy, n)) return "a copy's load is outside a dimension of its store";
        if (n->kind == BB_THREAD && !cg_is_private(p, v->region))
            return "a copy inside a thread dimension of its load";
    }
    return NULL;
}

/* A value that reads the region of another one has the same elements of it. */
static const char *check_sharer(const struct cg_program *p, const struct bb_value *v)
{
    const struct bb_region *of = &p->bb->regions[v->region];
    if (!p->c->staged[v->owner]) return "a staged value without its copy";
    for (unsigned j = 0; j < of->n_dims; j++)
        if (coordinate_extent(p, v, &p->bb->region_dims[of->first_region_dim + j]) !=
            p->regions[v->region].extent[j])
            return "a copy does not cover its region";
    return NULL;
}

static const char *place_region(struct cg_program *p, const struct bb_value *v)
{
    struct cg_region *r = &p->regions[v->region];
    for (uint32_t i = v->copy_load; i < v->copy_store; i++) {
        const char *why = check_copy(p, v, i);
        if (why) return why;
    }
    if (cg_is_private(p, v->region) && is_divided(p, v)) return "work-items divide a private region";
    const struct bb_region *of = &p->bb->regions[v->region];
    const struct bb_inst *store = &p->bb->insts[v->copy_store];
    if (v != &p->bb->values[v->owner]) return check_sharer(p, v);
    r->used = true;
    r->space = (enum bb_mem_space)p->c->mem_space[v->region];
    r->n_dims = of->n_dims;
    if (r->space == BB_MEM_LOCAL && p->global_ids) return "local memory without work-groups";
    for (unsigned j = 0; j < r->n_dims; j++) {
        const struct bb_region_dim *c = &p->bb->region_dims[of->first_region_dim + j];
        int64_t copied = cg_span(p, store->logicals[j]);
        r->extent[j] = coordinate_extent(p, v, c);
        if (!r->extent[j]) return "a tile outside a copy is less significant than one inside";
        if (bb_overlaps(c) ? copied < r->extent[j] : copied != r->extent[j])
            return "a copy does not cover its region";
    }
    if (p->c->pad[v->region] < 0) return "a negative padding";
    return lay_out(p, of, p->c->pad[v->region], p->c->rotated[v->region], r);
}

/* ---- accesses ---- */

/* What the load's dimensions give to a coordinate, outside or inside its copy. */
static const struct index_expr *load_coordinate(struct cg_program *p, const struct bb_value *v,
                                                const struct bb_region_dim *c, enum part part)
{
    const struct index_expr *sum = index_constant(p->arena, 0);
    for (unsigned i = 0; i < c->n_terms; i++) {
        const struct bb_term *t = &bb_value_terms(p->bb, v, c)[i];
        const struct index_expr *x = logical_index(p, v->load, t->logical, part, p->inst_node[v->copy_store]);
        sum = index_add(p->arena, sum, index_scale(p->arena, x, t->coefficient));
    }
    return sum;
}

enum { CYCLE = 8 /* parts that have all banks */ };

/* Of rotated rows: where an element is in its row. Rows of fewer than 8 parts are rotated together, as many
 * as 8 parts hold: 8 rows of 1, 2, 4, 8, 16 ... parts have any one part in different banks. */
static const struct index_expr *rotate(struct arena *a, const struct cg_region *r,
                                       const struct index_expr *rows, const struct index_expr *in_row)
{
    int64_t parts = r->rotated / r->part, together = parts < CYCLE ? CYCLE / parts : 1;
    const struct index_expr *number = index_div(a, index_div(a, rows, r->rotated), together),
                            *part = index_div(a, in_row, r->part);
    part = index_mod(a, index_add(a, part, number), parts);
    return index_add(a, index_scale(a, part, r->part), index_mod(a, in_row, r->part));
}

/* The same of floats of which a bundle reads two parts of 4 rows at once, across the steps of a product
 * (matrix.c): rows are rotated by 0, 2, 4 or 6 parts, each 8 parts of a row by themselves, so that few
 * addresses differ in more than a constant. */
static const struct index_expr *rotate_across(struct arena *a, const struct cg_region *r,
                                              const struct index_expr *rows, const struct index_expr *in_row)
{
    int64_t cycle = CYCLE * r->part;
    const struct index_expr *number = index_mod(a, index_div(a, rows, r->rotated), CYCLE / 2),
                            *within = index_mod(a, in_row, cycle),
                            *part = index_add(a, index_div(a, within, r->part), index_scale(a, number, 2));
    part = index_scale(a, index_mod(a, part, CYCLE), r->part);
    return index_add(a, index_add(a, index_scale(a, index_div(a, in_row, cycle), cycle), part),
                     index_mod(a, in_row, r->part));
}

/* Whether the rows of a region are floats, and their elements not steps of a reduction. */
static bool is_across(const struct cg_program *p, const struct cg_region *r, const struct bb_region_dim *row)
{
    const struct bb_term *t = &p->bb->terms[row->first_term];
    bool floats = r->part == BB_ROW_BYTES / 4;
    return floats && r->rotated % (CYCLE * r->part) == 0 && !p->bb->logicals[t->logical].reduction;
}

/* Where a load reads along coordinate j of its region. */
static const struct index_expr *read_coordinate(struct cg_program *p, const struct bb_value *v, unsigned j)
{
    const struct bb_region *r = &p->bb->regions[v->region];
    const struct bb_region_dim *c = &p->bb->region_dims[r->first_region_dim + j];
    return index_shift(p->arena, load_coordinate(p, v, c, PART_INSIDE), bb_value_at(v, j));
}

static const struct index_expr *region_offset(struct cg_program *p, uint32_t inst)
{
    const struct bb_inst *in = &p->bb->insts[inst];
    const struct bb_value *v = &p->bb->values[in->value];
    const struct cg_region *r = &p->regions[v->region];
    const struct bb_region_dim *c = &p->bb->region_dims[p->bb->regions[v->region].first_region_dim];
    const struct index_expr *rows = index_constant(p->arena, 0), *in_row = rows;
    bool across = false;
    for (unsigned j = 0; j < r->n_dims; j++) {
        const struct index_expr *x = inst == v->load
                                         ? read_coordinate(p, v, j)
                                         : logical_index(p, inst, in->logicals[j], PART_ALL, NULL);
        const struct index_expr **sum = r->rotated && r->stride[j] == 1 ? &in_row : &rows;
        *sum = index_add(p->arena, *sum, index_scale(p->arena, x, r->stride[j]));
        if (r->rotated && r->stride[j] == 1) across = is_across(p, r, &c[j]);
    }
    if (!r->rotated) return rows;
    return index_add(p->arena, rows, (across ? rotate_across : rotate)(p->arena, r, rows, in_row));
}

/* The coordinates of windows at which a copy's store writes to its region: beyond it, it writes nothing. */
static void keep_in_region(struct cg_program *p, uint32_t inst, struct cg_access *x)
{
    const struct bb_inst *in = &p->bb->insts[inst];
    struct index_guard *guards = ARENA_ARRAY(p->arena, struct index_guard, in->n_logicals + 1);
    for (unsigned j = 0; j < in->n_logicals; j++) {
        int64_t extent = p->regions[x->region].extent[j];
        if (cg_span(p, in->logicals[j]) == extent) continue;
        const struct index_expr *at = logical_index(p, inst, in->logicals[j], PART_ALL, NULL);
        guards[x->n_guards++] = (struct index_guard){at, 0, extent - 1};
    }
    x->guards = guards;
}

/* The index of a copy's instruction along one of its logicals, with what the loops around the copy give. */
static const struct index_expr *copied_index(struct cg_program *p, uint32_t inst, uint32_t logical)
{
    const struct bb_value *v = &p->bb->values[p->bb->insts[inst].value];
    const struct index_expr *own = logical_index(p, inst, logical, PART_ALL, NULL);
    uint32_t coordinate = p->bb->logicals[logical].coordinate;
    if (coordinate == BB_NONE) return own; /* it is reduced inside */
    return index_add(p->arena, own, load_coordinate(p, v, &p->bb->region_dims[coordinate], PART_OUTSIDE));
}

/* Main logical, or window of a copy -> expression over nodes, for the instruction's index. */
static const struct index_expr **main_indices(struct cg_program *p, uint32_t inst)
{
    const struct bb_inst *in = &p->bb->insts[inst];
    const struct index_expr **by = ARENA_ARRAY(p->arena, const struct index_expr *, bb_variables(p->bb));
    for (unsigned k = 0; k < in->n_data; k++)
        by[in->data[k].var] =
            index_var(p->arena, p->first_datum + k, in->data[k].most - in->data[k].least + 1);
    for (unsigned j = 0; j < in->n_logicals; j++) {
        uint32_t own = in->logicals[j];
        if (bb_is_copy(in))
            by[cg_indexed(p, own)] = copied_index(p, inst, own);
        else
            by[own] = logical_index(p, inst, own, PART_ALL, NULL);
    }
    return by;
}

/* The instruction's expression with indices over nodes. */
static const struct bb_node *place_expression(struct cg_program *p, uint32_t inst)
{
    const struct bb_inst *in = &p->bb->insts[inst];
    const struct index_expr **by = NULL;
    struct bb_node *nodes = NULL;
    for (unsigned i = 0; i < in->n_nodes; i++) {
        if (in->nodes[i].kind != BB_NODE_INDEX && in->nodes[i].kind != BB_NODE_SELECT) continue;
        if (!nodes) {
            nodes = arena_memdup(p->arena, in->nodes, in->n_nodes * sizeof *nodes);
            by = main_indices(p, inst);
        }
        struct bb_node *n = &nodes[i];
        if (n->kind == BB_NODE_INDEX) n->index = index_substitute(p->arena, n->index, by, p->bb->n_logicals);
        n->guards = guard_substitute(p->arena, n->guards, &n->n_guards, by, p->bb->n_logicals);
    }
    return nodes ? nodes : in->nodes;
}

static void place_access(struct cg_program *p, uint32_t inst)
{
    const struct bb_inst *in = &p->bb->insts[inst];
    struct cg_access *x = &p->access[inst];
    x->buffer = x->region = BB_NONE;
    if (in->kind == BB_COPY_STORE || cg_reads_region(p, inst)) {
        x->region = p->bb->values[in->value].region;
        x->offset = region_offset(p, inst);
        if (in->kind == BB_COPY_STORE) keep_in_region(p, inst, x);
    } else if (in->buffer != BB_NONE) {
        x->buffer = in->buffer;
        x->by = main_indices(p, inst);
        x->offset = index_substitute(p->arena, in->index, x->by, bb_variables(p->bb));
        x->n_guards = in->n_guards;
        x->guards = guard_substitute(p->arena, in->guards, &x->n_guards, x->by, bb_variables(p->bb));
        x->otherwise = in->otherwise;
        x->streaming = p->c->cache[inst] == BB_CACHE_STREAMING;
    }
}

bool cg_reads_region(const struct cg_program *p, uint32_t inst)
{
    const struct bb_inst *in = &p->bb->insts[inst];
    bool reads = in->kind == BB_LOAD || in->kind == BB_TAKE;
    return reads && in->value != BB_NONE && p->c->staged[in->value];
}

const char *cg_place_memory(struct cg_program *p)
{
    const struct backbone *bb = p->bb;
    p->regions = ARENA_ARRAY(p->arena, struct cg_region, bb->n_regions + 1);
    p->access = ARENA_ARRAY(p->arena, struct cg_access, bb->n_insts + 1);
    for (uint32_t v = 0; v < bb->n_values; v++) {
        const char *why = p->c->staged[v] ? place_region(p, &bb->values[v]) : NULL;
        if (why) return why;
    }
    p->expression = ARENA_ARRAY(p->arena, const struct bb_node *, bb->n_insts + 1);
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        if (!p->inst_node[i]) continue;
        place_access(p, i);
        p->expression[i] = place_expression(p, i);
    }
    return NULL;
}
