/* The GPU space over a backbone: the sets, properties and parameters that spacedsl/spaces/gpu.space declares.
 *
 * Facts only: which objects there are, which tiles an instruction owns, which dimensions stand for one tile
 * at the two ends of a value, where an access has unit stride. What may be decided about them is in the
 * .space file. An example: the load of A in a matrix product of 64 x 64 x 64 gives
 *
 *     Inst A.load; Dim A.load.m.0, A.load.k.0, ...      tile(A.load.m.0) = m.0, unit_stride(A.load.k.0)
 *     Tile m.0, m.1, ...                                sizes(m.0) = 1 2 4 8 16 32 64
 *     Value A; Region A.tile; RegionDim A.tile.m, ...   copy_store(A) = A.copy.store
 *
 * Statement ids are those of backbone.h: instructions first, then dimensions. */
#include "core/backbone/instance.h"

#include <string.h>

#include "core/backbone/combine.h"
#include "core/backbone/matrix.h"
#include "core/base/arena.h"
#include "core/backbone/seat.h"

/* Tiles of a run at most: of work-items of a group; of groups or of global work-items. */
enum { LONGEST_RUN = 4, LONGEST_BLOCK_RUN = 2 };
/* The default of max_private for a GPU: registers of a work-item that leave room for enough work-items. */
enum { GPU_PRIVATE = 256 };

/* ---- the backbone ---- */

/* The main logical dimension that a logical dimension is, or is a copy of. */
static uint32_t main_logical(const struct backbone *bb, uint32_t logical)
{
    return bb->logicals[logical].of == BB_NONE ? logical : bb->logicals[logical].of;
}

/* A reduction that work-items of a group, or groups, may divide. */
static bool is_split(const struct instance *in, const struct bb_inst *inst)
{
    for (unsigned i = 0; i < inst->n_logicals; i++)
        if (bb_reduces(in->bb, inst, inst->logicals[i]) &&
            bb_may_split(&in->bb->logicals[inst->logicals[i]], in->device->gpu))
            return true;
    return false;
}

/* A logical whose reduction groups may divide. */
static bool groups_divide(const struct instance *in, const struct bb_logical *l)
{
    return bb_groups_may_split(l, in->device->gpu) && in->device->device_fence;
}

/* Writes memory, so that it owns all parallel logical dimensions of its nest, and no others. */
static bool is_whole(const struct bb_inst *inst)
{
    return inst->kind == BB_STORE || inst->kind == BB_COPY_STORE;
}

/* ---- objects ---- */

static void add_statements(const struct instance *in)
{
    const struct backbone *bb = in->bb;
    for (uint32_t i = 0; i < bb->n_insts; i++)
        gpu_put_inst(in->data, gpu_add_statement(in->data, bb->insts[i].name));
    for (uint32_t d = 0; d < bb->n_dims; d++)
        gpu_put_dim(in->data, gpu_add_statement(in->data, bb->dims[d].name));
    for (uint32_t s = 0; s < bb_statement_count(bb); s++)
        gpu_set_number(in->data, s, s);
}

/* The hardware places that dimensions of a tile may have, and the tiles they may share a nest with: the
 * parallel ones of the program, or those of one copy. A copy is of one group; parts of a reduction are in no
 * run.
 */
static void add_seats(const struct instance *in, uint32_t t)
{
    const struct backbone *bb = in->bb;
    const struct bb_logical *mine = &bb->logicals[bb->tiles[t].logical];
    int64_t list[1 + BB_AXES * (LONGEST_RUN + 2 * LONGEST_BLOCK_RUN)] = {GPU_MAP_ENCODING_SEQ};
    size_t n = 1;
    for (int axis = 0; axis < BB_AXES && bb_may_split(mine, in->device->gpu); axis++)
        list[n++] = bb_seat(GPU_MAP_ENCODING_LCL0 + axis, 0);
    for (int axis = 0; axis < BB_AXES && groups_divide(in, mine); axis++)
        list[n++] = bb_seat(GPU_MAP_ENCODING_WRG0 + axis, 0);
    for (int axis = 0; axis < BB_AXES && !mine->reduction; axis++) {
        for (int place = 0; place < LONGEST_RUN; place++)
            list[n++] = bb_seat(GPU_MAP_ENCODING_LCL0 + axis, place);
        for (int place = 0; place < LONGEST_BLOCK_RUN && mine->of == BB_NONE; place++) {
            list[n++] = bb_seat(GPU_MAP_ENCODING_WRG0 + axis, place);
            list[n++] = bb_seat(GPU_MAP_ENCODING_GLB0 + axis, place);
        }
    }
    gpu_set_seats(in->data, t, list, n);
    for (uint32_t u = 0; u < bb->n_tiles; u++) {
        const struct bb_logical *l = &bb->logicals[bb->tiles[u].logical];
        if (u != t && l->region == mine->region && !l->reduction && !mine->reduction)
            gpu_set_same_nest(in->data, t, u, true);
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

static void add_main_logical(const struct instance *in, uint32_t l)
{
    gpu_put_main_logical(in->data, l);
    if (!bb_has_span(in->bb, l)) {
        gpu_put_exact(in->data, l);
        return;
    }
    gpu_put_rounded(in->data, l);
    gpu_set_spans(in->data, l, in->bb->logicals[l].spans, in->bb->logicals[l].n_spans);
}

static void add_logicals(const struct instance *in)
{
    const struct backbone *bb = in->bb;
    for (uint32_t l = 0; l < bb->n_logicals; l++) {
        gpu_add_logical(in->data, bb->logicals[l].name);
        gpu_set_extent(in->data, l, bb->logicals[l].extent);
        bool one_span = bb->logicals[l].n_spans <= 1;
        if (one_span && is_prime_power(bb->logicals[l].extent)) gpu_set_prime_power(in->data, l, true);
        if (bb->logicals[l].of == BB_NONE) add_main_logical(in, l);
    }
    for (uint32_t t = 0; t < bb->n_tiles; t++) {
        const struct bb_tile *tile = &bb->tiles[t];
        gpu_add_tile(in->data, tile->name);
        gpu_put_tiles_of(in->data, tile->logical, t);
        gpu_set_sizes(in->data, t, tile->sizes, tile->n_sizes);
        gpu_set_level(in->data, t, tile->level);
        gpu_set_logical(in->data, t, tile->logical);
        add_seats(in, t);
        if (bb->logicals[tile->logical].of == BB_NONE) gpu_put_main_tile(in->data, t);
    }
}

/* ---- instructions and dimensions ---- */

static void add_tiles_owned(const struct instance *in, uint32_t id)
{
    const struct backbone *bb = in->bb;
    const struct bb_inst *inst = &bb->insts[id];
    for (uint32_t t = 0; t < bb->n_tiles; t++) {
        if (bb_owns(inst, bb->tiles[t].logical)) gpu_set_owns(in->data, id, t, true);
        bool grouped = is_whole(inst) || is_split(in, inst);
        if (bb_owns(inst, bb->tiles[t].logical) && grouped) gpu_put_nest_tiles(in->data, id, t);
        if (bb_reduces(bb, inst, bb->tiles[t].logical)) gpu_set_reduces(in->data, id, t, true);
    }
}

/* The caches that an access can choose. Inputs are const and restrict, so that the compiler chooses a
 * read-only path by itself. */
static void add_caches(const struct instance *in, uint32_t id)
{
    static const int64_t offered[] = {GPU_CACHE_DEFAULT, GPU_CACHE_STREAMING};
    gpu_put_access(in->data, id);
    bool streams = in->device->nontemporal && in->bb->insts[id].n_dims;
    gpu_set_caches(in->data, id, offered, streams ? 2 : 1);
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
        bool stores = bb->insts[i].kind == BB_STORE && bb->insts[j].kind == BB_STORE;
        bool memory = !stores && (is_whole(&bb->insts[i]) || is_whole(&bb->insts[j]) ||
                                  bb_is_copy(&bb->insts[i]) || bb_is_copy(&bb->insts[j]));
        if (!memory && !needs(bb, i, j) && !needs(bb, j, i)) gpu_set_swappable(in->data, i, j, true);
    }
}

static bool owns_all(const struct bb_inst *inst, const struct bb_inst *of)
{
    bool all = true;
    for (unsigned i = 0; i < of->n_logicals; i++)
        all &= bb_owns(inst, of->logicals[i]);
    return all;
}

/* Of neighbours with the same tiles the last one counts. */
static bool is_widest(const struct backbone *bb, uint32_t i)
{
    for (uint32_t j = 0; j < bb->n_insts; j++) {
        bool neighbours = bb_reads(&bb->insts[i], j) || bb_reads(&bb->insts[j], i);
        bool wider = owns_all(&bb->insts[j], &bb->insts[i]);
        if (neighbours && wider && (j > i || !owns_all(&bb->insts[i], &bb->insts[j]))) return false;
    }
    return true;
}

static void add_parts(const struct instance *in, uint32_t id)
{
    static const int64_t dividers[] = {GPU_SPLIT_NO, GPU_SPLIT_ITEMS, GPU_SPLIT_GROUPS};
    const struct backbone *bb = in->bb;
    gpu_put_split(in->data, id);
    for (uint32_t t = 0; t < bb->n_tiles; t++) {
        if (!bb_reduces(bb, &bb->insts[id], bb->tiles[t].logical)) continue;
        gpu_put_part_tile(in->data, t);
        gpu_set_dividers(in->data, t, dividers,
                         groups_divide(in, &bb->logicals[bb->tiles[t].logical]) ? 3 : 2);
        gpu_put_part_tiles(in->data, id, t);
        gpu_set_is_part(in->data, t, true);
    }
}

/* What the levels of a product in matrices are: those of the results, and of the reduction. A batch has
 * none. */
static void add_roles(const struct instance *in, uint32_t step, const uint32_t loads[2])
{
    static const int64_t results[BB_MAX_LEVELS] = {GPU_OF_BLOCKS, GPU_OF_BUNDLES, GPU_OF_REGISTERS,
                                                   GPU_OF_LANES},
                         reduction[BB_MAX_LEVELS] = {GPU_OF_LOOPS, GPU_OF_STEPS, GPU_OF_NONE, GPU_OF_NONE};
    const struct backbone *bb = in->bb;
    for (uint32_t t = 0; t < bb->n_tiles; t++) {
        uint32_t l = bb->tiles[t].logical;
        bool reduced = bb_reduces(bb, &bb->insts[step], l);
        bool one = bb_owns(&bb->insts[loads[0]], l) != bb_owns(&bb->insts[loads[1]], l);
        if (reduced) gpu_set_reduces_logical(in->data, step, l, true);
        if (reduced || one)
            gpu_set_role(in->data, step, t, (reduced ? reduction : results)[bb->tiles[t].level]);
    }
}

static void add_matrix(const struct instance *in, uint32_t step)
{
    struct bb_factors f;
    if (!in->device->matrix || !bb_multiplies(in->bb, step, &f)) return;
    gpu_set_multiplies(in->data, step, true);
    gpu_set_matrix_steps(in->data, step, 2 * f.row);
    add_roles(in, step, f.loads);
    for (int i = 0; i < 2; i++) {
        uint32_t value = in->bb->insts[f.loads[i]].value;
        gpu_set_multiplied(in->data, step, value, true);
        gpu_set_row_of_matrix(in->data, value, f.row);
        gpu_set_background(in->data, in->bb->values[value].region, true);
    }
}

static void add_insts(const struct instance *in)
{
    for (uint32_t i = 0; i < in->bb->n_insts; i++) {
        const struct bb_inst *inst = &in->bb->insts[i];
        if (inst->kind == BB_STORE) gpu_put_store(in->data, i);
        if (is_whole(inst)) gpu_put_whole(in->data, i);
        if (is_whole(inst) || is_split(in, inst)) gpu_put_grouped(in->data, i);
        if (bb_is_copy(inst)) gpu_put_copy_inst(in->data, i);
        if (inst->buffer != BB_NONE) add_caches(in, i);
        if (is_widest(in->bb, i)) gpu_put_widest(in->data, i);
        add_swappable(in, i);
        if (inst->kind == BB_STEP) {
            gpu_put_step(in->data, i);
            if (is_split(in, inst)) add_parts(in, i);
            gpu_set_initial(in->data, i, inst->partner);
            if (inst->scan) gpu_set_scans(in->data, i, true);
            if (inst->n_more) gpu_set_more_parts(in->data, i, inst->n_more);
            add_matrix(in, i);
        }
        add_tiles_owned(in, i);
    }
}

static bool unit_stride(const struct backbone *bb, const struct bb_inst *inst, uint32_t dim)
{
    if (inst->kind == BB_COPY_STORE || inst->kind == BB_TAKE) return true; /* the layout decides */
    for (unsigned i = 0; i < inst->n_operands && inst->kind == BB_LOAD; i++)
        if (bb_owns(&bb->insts[inst->operands[i]], dim_logical(bb, dim))) return false; /* so are data */
    uint32_t own = dim_logical(bb, dim);
    int affine = 0;
    uint32_t variable = bb_is_window(bb, &bb->logicals[own]) ? own : main_logical(bb, own);
    return index_stride(inst->index, variable, &affine) == 1 && affine;
}

/* Facts of a dimension of a load, a store or a copy. */
static void add_access_dim(const struct instance *in, const struct bb_inst *inst, uint32_t dim)
{
    const struct backbone *bb = in->bb;
    uint32_t s = statement(in, dim);
    gpu_put_access_dim(in->data, s);
    if (unit_stride(bb, inst, dim)) gpu_set_unit_stride(in->data, s, true);
}

/* Half numbers are moved 16 bytes at a time, too, as the matrix units take them. */
static void add_widths(const struct instance *in, const struct bb_inst *inst, uint32_t dim)
{
    const struct bb_device *dev = in->device;
    int64_t list[1 + sizeof dev->vector_widths / sizeof dev->vector_widths[0]];
    unsigned n = dev->n_vector_widths;
    memcpy(list, dev->vector_widths, n * sizeof *list);
    if (dev->matrix && inst->type == SCALAR_HALF && (n == 0 || list[n - 1] < BB_HALF_VECTOR))
        list[n++] = BB_HALF_VECTOR;
    gpu_set_widths(in->data, dim, list, n);
}

/* Reads or writes a buffer or a region. */
static bool accesses_memory(const struct bb_inst *inst)
{
    return inst->kind == BB_TAKE || inst->kind == BB_COPY_STORE || inst->buffer != BB_NONE;
}

static void add_dims(const struct instance *in)
{
    const struct backbone *bb = in->bb;
    for (uint32_t d = 0; d < bb->n_dims; d++) {
        const struct bb_inst *inst = &bb->insts[bb->dims[d].inst];
        uint32_t s = statement(in, d);
        gpu_set_tile(in->data, s, bb->dims[d].tile);
        gpu_set_inst(in->data, s, bb->dims[d].inst);
        add_widths(in, inst, s);
        if (!bb_is_copy(inst)) gpu_put_main_dim(in->data, s);
        gpu_put_dims_of(in->data, bb->dims[d].inst, s);
        if (accesses_memory(inst)) add_access_dim(in, inst, d);
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
        gpu_set_dims_of(in->data, t, list, n);
        n = 0;
        for (uint32_t d = 0; d < bb->n_dims; d++)
            if (bb->dims[d].tile == t && bb->insts[bb->dims[d].inst].unless == BB_NONE)
                list[n++] = statement(in, d);
        gpu_set_lasting_dims(in->data, t, list, n);
    }
}

/* ---- values in registers ---- */

static void add_crossings(const struct instance *in, uint32_t from, uint32_t to)
{
    const struct backbone *bb = in->bb;
    const struct bb_inst *p = &bb->insts[from], *c = &bb->insts[to];
    for (uint32_t d = p->first_dim; d < p->first_dim + p->n_dims; d++)
        for (uint32_t e = c->first_dim; e < c->first_dim + c->n_dims; e++) {
            if (bb->dims[d].tile != bb->dims[e].tile || bb_reduces(bb, p, dim_logical(bb, d))) continue;
            gpu_set_crosses(in->data, statement(in, d), statement(in, e), true);
        }
}

static bool operand_seen(const struct bb_inst *inst, unsigned operand)
{
    for (unsigned i = 0; i < operand; i++)
        if (inst->operands[i] == inst->operands[operand]) return true;
    return false;
}

static void add_edge(const struct instance *in, uint32_t from, uint32_t to)
{
    const char *name = arena_printf(in->scratch, "%s>%s", in->bb->insts[from].name, in->bb->insts[to].name);
    uint32_t edge = gpu_add_edge(in->data, name);
    gpu_set_writer(in->data, edge, from);
    gpu_set_reader(in->data, edge, to);
    add_crossings(in, from, to);
}

/* Whether an instruction is a scan over a logical, or reads one. */
static bool in_scan(const struct backbone *bb, uint32_t inst, uint32_t logical)
{
    const struct bb_inst *reader = &bb->insts[inst];
    bool in = reader->scan && bb_reduces(bb, reader, logical);
    for (unsigned o = 0; o < reader->n_operands && !in; o++)
        in = bb->insts[reader->operands[o]].scan && bb_reduces(bb, &bb->insts[reader->operands[o]], logical);
    return in;
}

static void add_scan_dims(const struct instance *in)
{
    for (uint32_t d = 0; d < in->bb->n_dims; d++)
        if (in_scan(in->bb, in->bb->dims[d].inst, dim_logical(in->bb, d)))
            gpu_put_scan_dim(in->data, statement(in, d));
}

/* A load of what a store overwrites is ordered like one that the store reads. */
static void add_edges(const struct instance *in)
{
    const struct backbone *bb = in->bb;
    for (uint32_t i = 0; i < bb->n_insts; i++)
        for (unsigned o = 0; o < bb->insts[i].n_operands; o++) {
            if (operand_seen(&bb->insts[i], o)) continue;
            add_edge(in, bb->insts[i].operands[o], i);
        }
    for (unsigned k = 0; k < bb->n_overwrites; k++)
        add_edge(in, bb->overwrites[k].load, bb->overwrites[k].store);
}

/* ---- the device ---- */

/* Scalars of a type that a group's work-item has in the arrays for parts of reductions: the most of one. */
static unsigned part_scalars(const struct instance *in, enum scalar_type type)
{
    unsigned most = 0;
    for (uint32_t i = 0; i < in->bb->n_insts; i++) {
        struct bb_combination c;
        if (!is_split(in, &in->bb->insts[i]) || !bb_combination(in->bb, i, &c)) continue;
        unsigned n = bb_combined_scalars(&in->bb->insts[i], &c, type);
        if (n > most) most = n;
    }
    return most;
}

/* Local memory for the parts of all reductions: an array for each type (core/codegen/combine.c). */
static int64_t part_bytes(const struct instance *in)
{
    int64_t bytes = 0;
    for (int t = 0; t < SCALAR_TYPE_COUNT; t++)
        bytes += scalar_type_bytes((enum scalar_type)t) * part_scalars(in, (enum scalar_type)t);
    return bytes * in->device->max_work_group;
}

static void add_device(const struct instance *in)
{
    const struct bb_device *dev = in->device;
    for (uint32_t axis = 0; axis < BB_AXES; axis++)
        gpu_set_max_work_items(in->data, axis, dev->max_work_item[axis]);
    gpu_set_max_work_group(in->data, dev->max_work_group);
    gpu_set_local_memory(in->data, dev->local_bytes);
    gpu_set_part_bytes(in->data, part_bytes(in));
    gpu_set_flag_bytes(in->data, BB_FLAG_BYTES);
    if (dev->gpu) gpu_set_max_private(in->data, GPU_PRIVATE);
    for (unsigned i = 0; i < in->bb->n_parameters; i++)
        bb_parameter_put(&in->bb->parameters[i], in->data);
}

struct space_data *bb_instance(const struct backbone *bb, const struct bb_device *device)
{
    struct instance in = {bb, device, space_data_new(), arena_new()};
    gpu_declare_sets(in.data);
    add_statements(&in);
    add_logicals(&in);
    add_insts(&in);
    add_dims(&in);
    add_dims_of_tiles(&in);
    add_edges(&in);
    add_scan_dims(&in);
    bb_instance_staging(&in);
    add_device(&in);
    arena_free(in.scratch);
    return in.data;
}
