/* The latent copies of what may be staged. Each copy is the instructions that load or compute the value, in
 * logicals of its own, and a store to the region. The load of A[m][k], and a product t[m][l] that is summed
 * over k, get
 *
 *     A.copy.load [A.copy.m A.copy.k]              A.copy.store [A.copy.m A.copy.k]
 *     t.copy.A.load [t.copy.m t.copy.k]            t.copy.B.load [t.copy.l t.copy.k]
 *     t.copy.mad [t.copy.m t.copy.l t.copy.k]      t.copy.store [t.copy.m t.copy.l]
 *
 * t.copy.k is no coordinate of the region: it is reduced inside the copy. */
#include "core/backbone/copies.h"

#include <string.h>

#include "core/backbone/lower.h"
#include "core/backbone/spots.h"
#include "core/backbone/stored.h"
#include "core/backbone/window.h"
#include "core/base/arena.h"

/* ---- plans ---- */

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
    uint32_t owner;               /* the plan whose region and copy it shares; its own number: none */
    uint32_t *as;                 /* [logicals] what those of the owner's load are here */
    const struct bb_spots *spots; /* of an owner with readers at several spots, and of these; else NULL */
    const int64_t *at;            /* of one of these: what it adds to each coordinate */
};

/* Plans while they are made. */
struct planning {
    const struct lowering *l;
    struct copy_plan *plans;
    unsigned n;
    bool *taken;              /* [n_insts] a reader of spots that were found */
    uint32_t *owners;         /* [n_insts] of such a reader: the plan of the owner */
    const int64_t **constant; /* [n_insts] of such a reader: what it adds */
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

static void use_spots(struct copy_plan *plan)
{
    plan->n_coordinates = plan->spots->n_coordinates;
    for (unsigned i = 0; i < plan->n_coordinates; i++)
        plan->coordinates[i] = plan->spots->coordinates[i];
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
    if (plan->spots) use_spots(plan);
    for (unsigned i = 0; i < plan->n_makers; i++)
        for (unsigned j = 0; j < all[i]->n_logicals; j++) {
            uint32_t own = all[i]->logicals[j];
            if (is_coordinate(plan, own) || is_reduced(plan, own)) continue;
            if (plan->n_reduced == BB_MAX_LOGICALS) return false;
            plan->reduced[plan->n_reduced++] = own;
        }
    return true;
}

/* Finds the loads that read the value at other spots. */
static void find_spots(struct planning *p, struct copy_plan *plan)
{
    struct bb_spots *s = ARENA_NEW(p->l->arena, struct bb_spots);
    if (!bb_find_spots(p->l, plan->load, plan->makers, plan->n_makers, p->taken, s)) return;
    for (unsigned i = 0; i < s->n_readers; i++) {
        p->taken[s->readers[i].load] = true;
        p->owners[s->readers[i].load] = p->n;
        p->constant[s->readers[i].load] = s->readers[i].at;
    }
    plan->spots = s;
    plan->at = s->readers[0].at;
}

/* The readers of a value that cannot be staged are values of their own. */
static void forget_spots(struct planning *p, const struct copy_plan *plan)
{
    for (unsigned i = 0; plan->spots && i < plan->spots->n_readers; i++)
        p->taken[plan->spots->readers[i].load] = false;
}

/* Finds an earlier load whose copy it shares: at another spot, or a TAKE in other logicals. */
static void find_owner(const struct planning *p, struct copy_plan *plan)
{
    const struct lowering *l = p->l;
    uint32_t number = p->n;
    plan->owner = number;
    plan->as = ARENA_ARRAY(l->arena, uint32_t, l->n_logicals + 1);
    for (uint32_t v = 0; v < l->n_logicals; v++)
        plan->as[v] = v;
    if (p->taken[plan->load]) {
        plan->owner = p->owners[plan->load];
        plan->at = p->constant[plan->load];
        plan->spots = p->plans[plan->owner].spots;
    }
    for (uint32_t i = 0; i < number && !plan->spots && plan->owner == number; i++)
        if (p->plans[i].owner == i && !p->plans[i].spots &&
            stored_shares(l, p->plans[i].load, plan->load, plan->as))
            plan->owner = i;
}

const struct copy_plan *bb_plan_copies(const struct lowering *l, const struct bb_options *o,
                                       struct backbone *bb)
{
    struct copy_plan *plans = ARENA_ARRAY(l->arena, struct copy_plan, l->n_insts + 1);
    struct planning p = {.l = l, .plans = plans};
    p.taken = ARENA_ARRAY(l->arena, bool, l->n_insts + 1);
    p.owners = ARENA_ARRAY(l->arena, uint32_t, l->n_insts + 1);
    p.constant = ARENA_ARRAY(l->arena, const int64_t *, l->n_insts + 1);
    bb->n_insts = (unsigned)l->n_insts;
    bb->n_logicals = (unsigned)l->n_logicals;
    for (uint32_t i = 0; i < l->n_insts; i++) {
        struct copy_plan *plan = &plans[bb->n_values];
        *plan = (struct copy_plan){.load = i};
        p.n = bb->n_values;
        if (!find_makers(l, o, plan)) continue;
        find_spots(&p, plan);
        if (!find_copy_logicals(l, plan)) {
            forget_spots(&p, plan);
            continue;
        }
        find_owner(&p, plan);
        bb->n_terms += l->insts[i].n_logicals;
        if (plan->owner != bb->n_values++) continue;
        bb->n_regions++;
        bb->n_region_dims += plan->n_coordinates;
        bb->n_insts += plan->n_makers + 1;
        bb->n_logicals += plan->n_coordinates + plan->n_reduced;
    }
    return plans;
}

/* ---- copies ---- */

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
        bb->region_dims[r->first_region_dim + i] = (struct bb_region_dim){term, c->n_terms, c->spread};
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
        if (!plan->spots)
            bb_put_windows(a, bb->logicals, plan->coordinates, plan->n_coordinates, first, &bb->insts[i]);
        else if (i < v->copy_store)
            bb_put_spots(a, plan->spots, i - v->copy_load, first, &bb->insts[i]);
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
    bb->regions[v->region].several = true;
    v->copy_load = owner->copy_load;
    v->copy_store = owner->copy_store;
    bb->insts[v->load].value = id;
    for (unsigned i = 0; i < bb->insts[v->load].n_logicals; i++) {
        const struct bb_term *t = &bb->terms[owner->first_term + i];
        bb->terms[v->first_term + i] = (struct bb_term){plan->as[t->logical], t->coefficient};
    }
}

void bb_add_values(struct backbone *bb, struct arena *a, const struct lowering *l,
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
                                           .at = plan->at,
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
