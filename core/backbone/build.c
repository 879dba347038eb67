/* Lowering, second half: latent copies, strip-mining and the dense numbering.
 *
 * Every load with a dimension may be staged: it gets a copy_load and a copy_store with copies of its logicals
 * and a region (window.c: of sums of logicals that overlap). A computed value (stored.h) gets copies of all
 * that makes it. Then each logical is cut into levels, no more than one of its spans has prime factors, each
 * level a tile with candidate sizes; and each instruction gets one dimension a tile of its logicals. */
#include <stdlib.h>
#include <string.h>

#include "core/backbone/combine.h"
#include "core/backbone/copies.h"
#include "core/backbone/lower.h"
#include "core/backbone/sizes.h"
#include "core/backbone/view.h"
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

/* What is reduced inside a copy is cut without remainder. */
static void list_spans(struct arena *a, struct bb_logical *l, const struct bb_options *o)
{
    bool whole = l->of != BB_NONE && l->coordinate == BB_NONE;
    bb_list_spans(a, l, whole ? INT64_MAX : o->round_from);
}

static void copy_main(struct backbone *bb, const struct lowering *l)
{
    for (size_t i = 0; i < l->n_logicals; i++)
        bb->logicals[i] = l->logicals[i];
    for (size_t i = 0; i < l->n_insts; i++)
        bb->insts[i] = l->insts[i];
}

/* A TAKE that is not staged is what it computes. */
static void drop_takes(struct backbone *bb)
{
    for (uint32_t i = 0; i < bb->n_insts; i++)
        if (bb->insts[i].kind == BB_TAKE && bb->insts[i].value == BB_NONE) bb->insts[i].kind = BB_COMPUTE;
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
    const struct copy_plan *plans = bb_plan_copies(l, &o, bb);
    bb->logicals = ARENA_ARRAY(a, struct bb_logical, bb->n_logicals + 1);
    bb->insts = ARENA_ARRAY(a, struct bb_inst, bb->n_insts);
    bb->values = ARENA_ARRAY(a, struct bb_value, bb->n_values + 1);
    bb->regions = ARENA_ARRAY(a, struct bb_region, bb->n_regions + 1);
    bb->region_dims = ARENA_ARRAY(a, struct bb_region_dim, bb->n_region_dims + 1);
    bb->terms = ARENA_ARRAY(a, struct bb_term, bb->n_terms + 1);
    copy_main(bb, l);
    number_all_data(bb, a, l);
    bb_mark_split(bb);
    bb_add_values(bb, a, l, plans);
    drop_takes(bb);
    for (unsigned i = 0; i < bb->n_logicals; i++)
        list_spans(a, &bb->logicals[i], &o);
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

bool bb_is_shared(const struct backbone *bb, const struct bb_value *v)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < bb->n_values; i++)
        n += bb->values[i].region == v->region;
    return n > 1;
}
