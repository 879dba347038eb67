/* Lowering, second half: latent copies, strip-mining and the dense numbering.
 *
 * Every load with a dimension may be staged: it gets a copy_load and a copy_store with copies of its logicals
 * and a region (window.c: of sums of logicals that overlap). Then each logical is cut into levels, no more
 * than one of its spans has prime factors, each level a tile with candidate sizes; and each instruction gets
 * one dimension a tile of its logicals. */
#include <stdlib.h>
#include <string.h>

#include "core/backbone/combine.h"
#include "core/backbone/lower.h"
#include "core/backbone/sizes.h"
#include "core/backbone/view.h"
#include "core/backbone/window.h"
#include "core/base/arena.h"
#include "core/lift/lift.h"

/* Statements of a backbone that keeps all its levels: the choice `order` relates every two of them. */
enum { MOST_STATEMENTS = 224 };
/* Levels of a copy along a window at most: loop, work-items, vector. */
enum { WINDOW_LEVELS = 3 };

/* Levels of parallel, reduction and copy logicals, the default first; programs with many statements have
 * fewer. */
static const struct bb_options defaults[] = {
    {.parallel_levels = 4, .reduction_levels = 3, .copy_levels = 4},
    {.parallel_levels = 4, .reduction_levels = 2, .copy_levels = 3},
    {.parallel_levels = 3, .reduction_levels = 2, .copy_levels = 2},
    {.parallel_levels = 2, .reduction_levels = 2, .copy_levels = 2},
    {.parallel_levels = 2, .reduction_levels = 1, .copy_levels = 1},
};

/* The options with a row of defaults filled in. */
static struct bb_options full_options(const struct bb_options *o, const struct bb_options *row)
{
    struct bb_options full = o ? *o : (struct bb_options){0};
    full.parallel_levels = full.parallel_levels ? full.parallel_levels : row->parallel_levels;
    full.reduction_levels = full.reduction_levels ? full.reduction_levels : row->reduction_levels;
    full.copy_levels = full.copy_levels ? full.copy_levels : row->copy_levels;
    return full;
}

static unsigned min_levels(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Number of prime factors with multiplicity, counted up to `limit`. */
static unsigned prime_factors(int64_t n, unsigned limit)
{
    unsigned count = 0;
    for (int64_t p = 2; p <= n / p && count < limit; p++)
        for (; n % p == 0 && count < limit; n /= p)
            count++;
    return count < limit && n > 1 ? count + 1 : count;
}

/* ---- copies ---- */

static unsigned stageable(const struct bb_inst *inst, const struct bb_options *o)
{
    return inst->kind == BB_LOAD && inst->n_logicals && !inst->n_data && !o->no_staging;
}

/* A load that is copied in these coordinates. */
struct copy_plan {
    uint32_t load;
    unsigned n_coordinates;
    struct bb_coordinate coordinates[BB_MAX_LOGICALS];
};

/* Plans the copies, and counts what they add. */
static const struct copy_plan *plan_copies(const struct lowering *l, const struct bb_options *o,
                                           struct backbone *bb)
{
    struct copy_plan *plans = ARENA_ARRAY(l->arena, struct copy_plan, l->n_insts + 1);
    for (uint32_t i = 0; i < l->n_insts; i++) {
        const struct bb_inst *load = &l->insts[i];
        if (!stageable(load, o)) continue;
        struct copy_plan *plan = &plans[bb->n_values++];
        plan->load = i;
        plan->n_coordinates = bb_coordinates(l->arena, l->logicals, load, plan->coordinates);
        bb->n_region_dims += plan->n_coordinates;
        bb->n_terms += load->n_logicals;
    }
    bb->n_regions = bb->n_values;
    bb->n_insts = (unsigned)l->n_insts + 2 * bb->n_values;
    bb->n_logicals = (unsigned)l->n_logicals + bb->n_region_dims;
    return plans;
}

/* Fills one copy logical a coordinate, and makes them the copies' own. */
static void copy_logicals(struct backbone *bb, struct arena *a, const struct bb_value *v,
                          const struct copy_plan *plan, uint32_t first)
{
    uint32_t coordinate = bb->regions[v->region].first_region_dim;
    for (unsigned i = 0; i < plan->n_coordinates; i++) {
        uint32_t of = plan->coordinates[i].terms[0].logical;
        bb->logicals[first + i] =
            (struct bb_logical){.name = arena_printf(a, "%s.copy.%s", v->name, bb->logicals[of].name),
                                .extent = plan->coordinates[i].extent,
                                .of = of,
                                .region = v->region,
                                .coordinate = coordinate + i};
        bb->insts[v->copy_load].logicals[i] = first + i;
        bb->insts[v->copy_store].logicals[i] = first + i;
    }
    bb->insts[v->copy_load].n_logicals = bb->insts[v->copy_store].n_logicals = plan->n_coordinates;
    bb_put_windows(a, bb->logicals, plan->coordinates, plan->n_coordinates, first, &bb->insts[v->copy_load]);
}

/* Fills the coordinates of a region, whose terms follow those from `term` on; returns the next one. */
static uint32_t add_coordinates(struct backbone *bb, const struct bb_region *r, const struct copy_plan *plan,
                                uint32_t term)
{
    for (unsigned i = 0; i < plan->n_coordinates; i++) {
        const struct bb_coordinate *c = &plan->coordinates[i];
        bb->region_dims[r->first_region_dim + i] = (struct bb_region_dim){term, c->n_terms};
        for (unsigned t = 0; t < c->n_terms; t++)
            bb->terms[term++] = c->terms[t];
    }
    return term;
}

static void copy_insts(struct backbone *bb, struct arena *a, const struct bb_value *v, uint32_t value_id)
{
    struct bb_inst *load = &bb->insts[v->load];
    load->value = value_id;
    struct bb_inst *from = &bb->insts[v->copy_load], *to = &bb->insts[v->copy_store];
    *from = *load;
    from->kind = BB_COPY_LOAD;
    from->name = arena_printf(a, "%s.copy.load", v->name);
    struct bb_node *value = ARENA_NEW(a, struct bb_node);
    *value = (struct bb_node){.kind = BB_NODE_OPERAND, .type = load->type};
    *to = (struct bb_inst){.name = arena_printf(a, "%s.copy.store", v->name),
                           .kind = BB_COPY_STORE,
                           .type = load->type,
                           .n_operands = 1,
                           .operands = arena_memdup(a, &v->copy_load, sizeof v->copy_load),
                           .n_nodes = 1,
                           .nodes = value,
                           .buffer = BB_NONE,
                           .value = value_id,
                           .partner = BB_NONE};
}

static void add_copies(struct backbone *bb, struct arena *a, const struct lowering *l,
                       const struct copy_plan *plans)
{
    uint32_t inst = (uint32_t)l->n_insts, region_dim = 0, term = 0;
    for (uint32_t id = 0; id < bb->n_values; id++, inst += 2) {
        const struct copy_plan *plan = &plans[id];
        const struct bb_inst *load = &l->insts[plan->load];
        size_t stem = strlen(load->name) - strlen(".load");
        const char *name = arena_strndup(a, load->name, stem);
        bb->values[id] = (struct bb_value){name, plan->load, inst, inst + 1, id};
        bb->regions[id] = (struct bb_region){arena_printf(a, "%s.tile", name), id, load->type,
                                             plan->n_coordinates, region_dim};
        copy_insts(bb, a, &bb->values[id], id);
        copy_logicals(bb, a, &bb->values[id], plan, (uint32_t)l->n_logicals + region_dim);
        term = add_coordinates(bb, &bb->regions[id], plan, term);
        region_dim += plan->n_coordinates;
    }
}

/* ---- loads by data ---- */

/* The variables of a load's data become those that follow the logicals, whose number is known now. */
static void number_data(struct backbone *bb, struct arena *a, struct bb_inst *load,
                        const struct index_expr **by, uint32_t n)
{
    for (unsigned k = 0; k < load->n_data; k++) {
        struct bb_datum *d = &load->data[k];
        by[d->var] = index_var(a, bb_datum_var(bb, k), d->most - d->least + 1);
    }
    load->index = index_substitute(a, load->index, by, n);
    load->guards = guard_substitute(a, load->guards, &load->n_guards, by, n);
    for (unsigned k = 0; k < load->n_data; k++) {
        by[load->data[k].var] = NULL;
        load->data[k].var = bb_datum_var(bb, k);
    }
}

static void number_all_data(struct backbone *bb, struct arena *a, const struct lowering *l)
{
    uint32_t n = VIEW_DATUM + (uint32_t)l->viewer->n_data;
    if (!l->viewer->n_data) return;
    const struct index_expr **by = ARENA_ARRAY(a, const struct index_expr *, n);
    for (size_t i = 0; i < l->n_insts; i++)
        if (l->insts[i].n_data) number_data(bb, a, &bb->insts[i], by, n);
}

/* ---- tiles and dimensions ---- */

static unsigned levels_of(const struct backbone *bb, const struct bb_logical *l, const struct bb_options *o)
{
    if (bb_is_window(bb, l)) return min_levels(o->copy_levels, WINDOW_LEVELS);
    if (l->of != BB_NONE) return min_levels(o->copy_levels, bb->logicals[l->of].n_levels);
    unsigned wanted = min_levels(l->reduction ? o->reduction_levels : o->parallel_levels, BB_MAX_LEVELS);
    unsigned most = 0;
    for (unsigned i = 0; i < l->n_spans; i++) {
        unsigned factors = prime_factors(l->spans[i], wanted);
        most = factors > most ? factors : most;
    }
    return most;
}

/* Main logicals come first: a copy reads theirs. */
static void set_levels(struct backbone *bb, const struct bb_options *o)
{
    for (unsigned i = 0; i < bb->n_logicals; i++)
        bb->logicals[i].n_levels = levels_of(bb, &bb->logicals[i], o);
}

static unsigned count_statements(const struct backbone *bb)
{
    unsigned n = bb->n_insts;
    for (uint32_t i = 0; i < bb->n_insts; i++)
        for (unsigned j = 0; j < bb->insts[i].n_logicals; j++)
            n += bb->logicals[bb->insts[i].logicals[j]].n_levels;
    return n;
}

/* As many levels as the statements allow. */
static void choose_levels(struct backbone *bb, const struct bb_options *options)
{
    const size_t n = sizeof defaults / sizeof *defaults;
    for (size_t i = 0; i == 0 || (i < n && count_statements(bb) > MOST_STATEMENTS); i++) {
        const struct bb_options o = full_options(options, &defaults[i]);
        set_levels(bb, &o);
    }
}

static void add_tiles(struct backbone *bb, struct arena *a, const struct bb_options *o)
{
    for (unsigned i = 0; i < bb->n_logicals; i++) {
        bb->logicals[i].first_tile = bb->n_tiles;
        bb->n_tiles += bb->logicals[i].n_levels;
    }
    bb->tiles = ARENA_ARRAY(a, struct bb_tile, bb->n_tiles + 1);
    for (uint32_t i = 0; i < bb->n_logicals; i++) {
        const struct bb_logical *l = &bb->logicals[i];
        unsigned n = 0;
        const int64_t *sizes = NULL;
        for (unsigned v = 0; v < l->n_levels; v++) {
            if (v == 0 || bb_is_window(bb, l)) sizes = bb_tile_sizes(bb, a, l, v, o->max_sizes, &n);
            bb->tiles[l->first_tile + v] =
                (struct bb_tile){arena_printf(a, "%s.%u", l->name, v), i, v, n, sizes};
        }
    }
}

static void inst_dims(struct backbone *bb, struct arena *a, uint32_t id)
{
    const struct bb_inst *inst = &bb->insts[id];
    struct bb_dim *dim = &bb->dims[inst->first_dim];
    for (unsigned i = 0; i < inst->n_logicals; i++) {
        const struct bb_logical *l = &bb->logicals[inst->logicals[i]];
        const char *name = l->of == BB_NONE ? l->name : bb->logicals[l->of].name;
        for (unsigned v = 0; v < l->n_levels; v++)
            *dim++ = (struct bb_dim){arena_printf(a, "%s.%s.%u", inst->name, name, v), id, l->first_tile + v};
    }
}

static void add_dims(struct backbone *bb, struct arena *a)
{
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        struct bb_inst *inst = &bb->insts[i];
        inst->first_dim = bb->n_dims;
        for (unsigned j = 0; j < inst->n_logicals; j++)
            inst->n_dims += bb->logicals[inst->logicals[j]].n_levels;
        bb->n_dims += inst->n_dims;
    }
    bb->dims = ARENA_ARRAY(a, struct bb_dim, bb->n_dims + 1);
    for (uint32_t i = 0; i < bb->n_insts; i++)
        inst_dims(bb, a, i);
}

static void copy_main(struct backbone *bb, const struct lowering *l)
{
    for (size_t i = 0; i < l->n_logicals; i++)
        bb->logicals[i] = l->logicals[i];
    for (size_t i = 0; i < l->n_insts; i++)
        bb->insts[i] = l->insts[i];
}

struct backbone *bb_build(const struct lowering *l, const struct bb_options *options)
{
    struct arena *a = l->arena;
    const struct bb_options o = options ? *options : (struct bb_options){0};
    struct backbone *bb = ARENA_NEW(a, struct backbone);
    bb->program = l->program;
    bb->n_buffers = l->program->n_arrays;
    bb->buffers = l->buffers;
    bb->n_overwrites = (unsigned)l->n_overwrites;
    bb->overwrites = l->overwrites;
    bb->n_parameters = o.n_parameters;
    bb->parameters = arena_memdup(a, o.parameters, sizeof o.parameters);
    const struct copy_plan *plans = plan_copies(l, &o, bb);
    bb->logicals = ARENA_ARRAY(a, struct bb_logical, bb->n_logicals + 1);
    bb->insts = ARENA_ARRAY(a, struct bb_inst, bb->n_insts);
    bb->values = ARENA_ARRAY(a, struct bb_value, bb->n_values + 1);
    bb->regions = ARENA_ARRAY(a, struct bb_region, bb->n_regions + 1);
    bb->region_dims = ARENA_ARRAY(a, struct bb_region_dim, bb->n_region_dims + 1);
    bb->terms = ARENA_ARRAY(a, struct bb_term, bb->n_terms + 1);
    copy_main(bb, l);
    number_all_data(bb, a, l);
    bb_mark_split(bb);
    add_copies(bb, a, l, plans);
    for (unsigned i = 0; i < bb->n_logicals; i++)
        bb_list_spans(a, &bb->logicals[i], o.round_from);
    choose_levels(bb, &o);
    add_tiles(bb, a, &o);
    add_dims(bb, a);
    return bb;
}

static bool inst_uses_type(const struct bb_inst *inst, enum scalar_type t)
{
    bool uses = inst->type == t;
    for (unsigned i = 0; !uses && i < inst->n_nodes; i++) {
        const struct bb_node *n = &inst->nodes[i];
        uses = n->type == t || (n->kind == BB_NODE_OP && scalar_op_gives(n->op, n->type) == t);
    }
    return uses;
}

bool bb_uses_type(const struct backbone *bb, enum scalar_type t)
{
    for (unsigned i = 0; i < bb->n_buffers; i++)
        if (bb->buffers[i].type == t) return true;
    for (unsigned i = 0; i < bb->n_insts; i++)
        if (inst_uses_type(&bb->insts[i], t)) return true;
    return false;
}
