/* Lowering, second half: latent copies, strip-mining and the dense numbering.
 *
 * Every load with a dimension may be staged: it gets a copy_load and a copy_store with copies of its logicals
 * and a region (window.c: of sums of logicals that overlap). A computed value (stored.h) gets copies of all
 * that makes it. Then each logical is cut into levels, no more than one of its spans has prime factors, each
 * level a tile with candidate sizes; and each instruction gets one dimension a tile of its logicals. */
#include <stdlib.h>
#include <string.h>

#include "core/backbone/combine.h"
#include "core/backbone/lower.h"
#include "core/backbone/sizes.h"
#include "core/backbone/stored.h"
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

/* A LOAD or TAKE that is copied in these coordinates. */
struct copy_plan {
    uint32_t load;
    unsigned n_coordinates;
    struct bb_coordinate coordinates[BB_MAX_LOGICALS];
    unsigned n_reduced; /* logicals that are reduced inside the copy */
    uint32_t reduced[BB_MAX_LOGICALS];
    unsigned n_makers; /* instructions that are copied; of a LOAD itself */
    uint32_t *makers;
    unsigned n_direct;
    uint32_t *direct;
    uint32_t owner; /* the plan whose region and copy it shares; its own number: none */
    uint32_t *as;   /* [logicals] what those of the owner's TAKE are here */
};

/* Finds what makes the value; false: it cannot be staged. */
static bool find_makers(const struct lowering *l, const struct bb_options *o, struct copy_plan *plan)
{
    const struct bb_inst *inst = &l->insts[plan->load];
    if (!inst->n_logicals || o->no_staging) return false;
    plan->makers = ARENA_ARRAY(l->arena, uint32_t, l->n_insts);
    plan->direct = ARENA_ARRAY(l->arena, uint32_t, l->n_insts);
    if (inst->kind == BB_LOAD) {
        plan->makers[plan->n_makers++] = plan->load;
        return !inst->n_data;
    }
    if (inst->kind != BB_TAKE) return false;
    plan->n_makers = stored_makers(l, plan->load, plan->makers);
    plan->n_direct = stored_direct(l, plan->load, plan->makers, plan->n_makers, plan->direct);
    return plan->n_makers > 0;
}

static bool is_coordinate(const struct copy_plan *plan, uint32_t logical)
{
    bool is = false;
    for (unsigned i = 0; i < plan->n_coordinates; i++)
        is = is || bb_has_term(plan->coordinates[i].terms, plan->coordinates[i].n_terms, logical);
    return is;
}

static bool is_reduced(const struct copy_plan *plan, uint32_t logical)
{
    bool is = false;
    for (unsigned i = 0; i < plan->n_reduced; i++)
        is = is || plan->reduced[i] == logical;
    return is;
}

/* Sets coordinates and reduced logicals; false: there are too many of these. */
static bool find_copy_logicals(const struct lowering *l, struct copy_plan *plan)
{
    const struct bb_inst **all = ARENA_ARRAY(l->arena, const struct bb_inst *, plan->n_makers + 1);
    for (unsigned i = 0; i < plan->n_makers; i++)
        all[i] = &l->insts[plan->makers[i]];
    all[plan->n_makers] = &l->insts[plan->load];
    plan->n_coordinates = bb_coordinates(l->arena, l->logicals, &l->insts[plan->load], all,
                                         plan->n_makers + 1, plan->coordinates);
    for (unsigned i = 0; i < plan->n_makers; i++)
        for (unsigned j = 0; j < all[i]->n_logicals; j++) {
            uint32_t own = all[i]->logicals[j];
            if (is_coordinate(plan, own) || is_reduced(plan, own)) continue;
            if (plan->n_reduced == BB_MAX_LOGICALS) return false;
            plan->reduced[plan->n_reduced++] = own;
        }
    return true;
}

/* Finds an earlier TAKE whose copy it shares. */
static void find_owner(const struct lowering *l, const struct copy_plan *plans, uint32_t number,
                       struct copy_plan *plan)
{
    plan->owner = number;
    plan->as = ARENA_ARRAY(l->arena, uint32_t, l->n_logicals + 1);
    for (uint32_t i = 0; i < number && plan->owner == number; i++)
        if (plans[i].owner == i && stored_shares(l, plans[i].load, plan->load, plan->as)) plan->owner = i;
}

/* Plans the copies, and counts what they add. */
static const struct copy_plan *plan_copies(const struct lowering *l, const struct bb_options *o,
                                           struct backbone *bb)
{
    struct copy_plan *plans = ARENA_ARRAY(l->arena, struct copy_plan, l->n_insts + 1);
    bb->n_insts = (unsigned)l->n_insts;
    bb->n_logicals = (unsigned)l->n_logicals;
    for (uint32_t i = 0; i < l->n_insts; i++) {
        struct copy_plan *plan = &plans[bb->n_values];
        *plan = (struct copy_plan){.load = i};
        if (!find_makers(l, o, plan) || !find_copy_logicals(l, plan)) continue;
        find_owner(l, plans, bb->n_values, plan);
        bb->n_terms += l->insts[i].n_logicals;
        if (plan->owner != bb->n_values++) continue;
        bb->n_regions++;
        bb->n_region_dims += plan->n_coordinates;
        bb->n_insts += plan->n_makers + 1;
        bb->n_logicals += plan->n_coordinates + plan->n_reduced;
    }
    return plans;
}

/* Fills the copies' logicals: one a coordinate, then one for each that is reduced inside. */
static void copy_logicals(struct backbone *bb, struct arena *a, const struct bb_value *v,
                          const struct copy_plan *plan, uint32_t first)
{
    uint32_t coordinate = bb->regions[v->region].first_region_dim;
    for (unsigned i = 0; i < plan->n_coordinates + plan->n_reduced; i++) {
        bool reduced = i >= plan->n_coordinates;
        const struct bb_coordinate *c = &plan->coordinates[i];
        uint32_t of = reduced ? plan->reduced[i - plan->n_coordinates] : c->terms[0].logical;
        bb->logicals[first + i] =
            (struct bb_logical){.name = arena_printf(a, "%s.copy.%s", v->name, bb->logicals[of].name),
                                .extent = reduced ? bb->logicals[of].extent : c->extent,
                                .reduction = reduced,
                                .of = of,
                                .region = v->region,
                                .coordinate = reduced ? BB_NONE : coordinate + i};
    }
}

/* Gives a copy of an instruction the copies of its logicals, which are numbered from `first` on. */
static void own_copies(struct bb_inst *copy, const struct copy_plan *plan, uint32_t first)
{
    const struct bb_inst of = *copy;
    copy->n_logicals = 0;
    for (unsigned i = 0; i < plan->n_coordinates; i++) {
        const struct bb_coordinate *c = &plan->coordinates[i];
        bool owns = false;
        for (unsigned j = 0; j < of.n_logicals; j++)
            owns = owns || bb_has_term(c->terms, c->n_terms, of.logicals[j]);
        if (owns) copy->logicals[copy->n_logicals++] = first + i;
    }
    for (unsigned i = 0; i < plan->n_reduced; i++)
        if (bb_owns(&of, plan->reduced[i]))
            copy->logicals[copy->n_logicals++] = first + plan->n_coordinates + i;
}

/* Fills the coordinates of a region, whose terms are those from `term` on. */
static void add_coordinates(struct backbone *bb, const struct bb_region *r, const struct copy_plan *plan,
                            uint32_t term)
{
    for (unsigned i = 0; i < plan->n_coordinates; i++) {
        const struct bb_coordinate *c = &plan->coordinates[i];
        bb->region_dims[r->first_region_dim + i] = (struct bb_region_dim){term, c->n_terms};
        for (unsigned t = 0; t < c->n_terms; t++)
            bb->terms[term++] = c->terms[t];
    }
}

/* The copy of an instruction that makes the value. */
static uint32_t copy_of(const struct bb_value *v, const struct copy_plan *plan, uint32_t inst)
{
    unsigned i = 0;
    while (plan->makers[i] != inst)
        i++;
    return v->copy_load + i;
}

static void copy_operands(struct arena *a, const struct bb_value *v, const struct copy_plan *plan,
                          struct bb_inst *copy)
{
    uint32_t *operands = ARENA_ARRAY(a, uint32_t, copy->n_operands + 1);
    for (unsigned i = 0; i < copy->n_operands; i++)
        operands[i] = copy_of(v, plan, copy->operands[i]);
    copy->operands = operands;
    if (copy->partner != BB_NONE) copy->partner = copy_of(v, plan, copy->partner);
}

/* The copy's store: of a LOAD its register, of a TAKE the register that it takes. */
static struct bb_inst copy_store(struct backbone *bb, struct arena *a, const struct bb_value *v,
                                 const struct copy_plan *plan)
{
    const struct bb_inst *load = &bb->insts[v->load];
    struct bb_node *value = ARENA_NEW(a, struct bb_node);
    uint32_t *operand = ARENA_NEW(a, uint32_t);
    *value = (struct bb_node){.kind = BB_NODE_OPERAND, .type = load->type};
    if (load->kind == BB_TAKE) value->part = load->nodes[0].part;
    *operand = copy_of(v, plan, load->kind == BB_TAKE ? load->operands[0] : v->load);
    struct bb_inst store = {.name = arena_printf(a, "%s.copy.store", v->name),
                            .kind = BB_COPY_STORE,
                            .type = load->type,
                            .n_operands = 1,
                            .operands = operand,
                            .n_nodes = 1,
                            .nodes = value,
                            .buffer = BB_NONE,
                            .unless = BB_NONE,
                            .partner = BB_NONE,
                            .n_logicals = load->n_logicals};
    memcpy(store.logicals, load->logicals, sizeof store.logicals);
    return store;
}

static void copy_insts(struct backbone *bb, struct arena *a, const struct bb_value *v, uint32_t value_id,
                       const struct copy_plan *plan, uint32_t first)
{
    bool computed = bb_is_computed(bb, v);
    bb->insts[v->load].value = value_id;
    for (unsigned i = 0; i < plan->n_makers; i++) {
        struct bb_inst *to = &bb->insts[v->copy_load + i];
        *to = bb->insts[plan->makers[i]];
        to->name = computed ? arena_printf(a, "%s.copy.%s", v->name, to->name)
                            : arena_printf(a, "%s.copy.load", v->name);
        if (to->kind == BB_LOAD) to->kind = BB_COPY_LOAD;
        copy_operands(a, v, plan, to);
    }
    bb->insts[v->copy_store] = copy_store(bb, a, v, plan);
    for (uint32_t i = v->copy_load; i <= v->copy_store; i++) {
        bb->insts[i].value = value_id;
        bb->insts[i].unless = BB_NONE;
        own_copies(&bb->insts[i], plan, first);
        bb_put_windows(a, bb->logicals, plan->coordinates, plan->n_coordinates, first, &bb->insts[i]);
    }
}

/* Fills a value that has a region of its own; the copies' logicals are numbered from `logical` on. */
static void add_owner(struct backbone *bb, struct arena *a, const struct copy_plan *plan, uint32_t id,
                      uint32_t logical)
{
    struct bb_value *v = &bb->values[id];
    struct bb_region *r = &bb->regions[v->region];
    *r = (struct bb_region){.name = arena_printf(a, "%s.tile", v->name),
                            .value = id,
                            .type = bb->insts[v->load].type,
                            .n_dims = plan->n_coordinates,
                            .first_region_dim = v->region ? r[-1].first_region_dim + r[-1].n_dims : 0};
    copy_logicals(bb, a, v, plan, logical);
    copy_insts(bb, a, v, id, plan, logical);
    add_coordinates(bb, r, plan, v->first_term);
}

/* Fills a value that shares the copy of its owner: its terms are the owner's, in its own logicals. */
static void add_sharer(struct backbone *bb, const struct copy_plan *plan, uint32_t id)
{
    struct bb_value *v = &bb->values[id];
    const struct bb_value *owner = &bb->values[v->owner];
    v->region = owner->region;
    v->copy_load = owner->copy_load;
    v->copy_store = owner->copy_store;
    bb->insts[v->load].value = id;
    for (unsigned i = 0; i < bb->insts[v->load].n_logicals; i++) {
        const struct bb_term *t = &bb->terms[owner->first_term + i];
        bb->terms[v->first_term + i] = (struct bb_term){plan->as[t->logical], t->coefficient};
    }
}

static void add_values(struct backbone *bb, struct arena *a, const struct lowering *l,
                       const struct copy_plan *plans)
{
    uint32_t inst = (uint32_t)l->n_insts, logical = (uint32_t)l->n_logicals, term = 0, region = 0;
    for (uint32_t id = 0; id < bb->n_values; id++) {
        const struct copy_plan *plan = &plans[id];
        const struct bb_inst *load = &l->insts[plan->load];
        const char *name = arena_strndup(a, load->name, (size_t)(strrchr(load->name, '.') - load->name));
        bb->values[id] = (struct bb_value){.name = name,
                                           .load = plan->load,
                                           .copy_load = inst,
                                           .copy_store = inst + plan->n_makers,
                                           .region = region,
                                           .owner = plan->owner,
                                           .first_term = term,
                                           .n_direct = plan->n_direct,
                                           .direct = plan->direct};
        term += load->n_logicals;
        for (unsigned i = 0; i < plan->n_direct; i++)
            bb->insts[plan->direct[i]].unless = id;
        if (plan->owner != id) {
            add_sharer(bb, plan, id);
            continue;
        }
        add_owner(bb, a, plan, id, logical);
        logical += plan->n_coordinates + plan->n_reduced;
        inst += plan->n_makers + 1;
        region++;
    }
}

/* A TAKE that is not staged is what it computes. */
static void drop_takes(struct backbone *bb)
{
    for (uint32_t i = 0; i < bb->n_insts; i++)
        if (bb->insts[i].kind == BB_TAKE && bb->insts[i].value == BB_NONE) bb->insts[i].kind = BB_COMPUTE;
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
    add_values(bb, a, l, plans);
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
