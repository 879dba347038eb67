/* Remainders: what of a dimension that was rounded up is beyond its extent. 13 elements in 4 work-items of 4:
 *
 *     thread0 4: x.load.i.0  (i0 * 4 < 13)   the last work-item has element 12 alone, none has no element
 *       unroll 4: x.load.i.1
 *         x.load                             x[min(i0 * 4 + 1, 12)]: the load's value is not used
 *         store (guarded)                    if (i0 * 4 + 1 < 13) out[i0 * 4 + 1] = ...
 *
 * A dimension's guard is around all that is inside: where it fails, no iteration of the dimensions inside is
 * within the extent. A loop ends there. It stands at loops and hardware dimensions that hold no barrier. What
 * the UNROLL and VECTOR dimensions inside add may still be beyond: then a store is guarded, and a load reads
 * the last element within; of an array that is updated in place, which another work-item may be writing
 * there, it gives 0. Steps of a reduction beyond its extent change nothing: their loads give 0 if that makes
 * them neutral, as in acc + a * b, otherwise the step is guarded. A copy fills the whole region by the same
 * rules, so that its readers need no guard.
 *
 * The copy along a window is such a dimension, too: 10 rows in 4 work-items of 3. What it reads is in the
 * window, whose extent is that of its logicals together. It gives no 0 beyond the extent of one of them: then
 * the step is guarded.
 *
 * No guard is placed where the ranges of the indices prove it: none in 8 x 128 for 1024, and none at the
 * stores of 1000 in work-items of 8. */
#include "core/codegen/program.h"

#include <math.h>

#include "core/base/arena.h"

/* How long a logical is: a copy's as what it fills of its region. */
static int64_t extent_of(const struct cg_program *p, uint32_t logical)
{
    const struct bb_logical *l = &p->bb->logicals[logical];
    if (l->of == BB_NONE || l->coordinate == BB_NONE) return l->extent;
    return p->regions[l->region].extent[l->coordinate - p->bb->regions[l->region].first_region_dim];
}

static bool is_rounded(const struct cg_program *p, uint32_t logical)
{
    return cg_span(p, logical) > extent_of(p, logical);
}

static void add_guard(struct cg_program *p, struct cg_node *n, struct cg_guard guard)
{
    if (!n->guards) n->guards = ARENA_ARRAY(p->arena, struct cg_guard, BB_MAX_LOGICALS);
    n->guards[n->n_guards++] = guard;
}

/* ---- dimensions ---- */

/* The logical that a node iterates over. */
static uint32_t logical_of(const struct cg_program *p, const struct cg_node *n)
{
    return p->bb->tiles[p->bb->dims[n->dims[0]].tile].logical;
}

/* The part of the index of a logical that the node and those around it give. */
static const struct index_expr *index_so_far(struct cg_program *p, const struct cg_node *n, uint32_t logical)
{
    const struct bb_logical *l = &p->bb->logicals[logical];
    const struct index_expr *sum = index_constant(p->arena, 0);
    for (; n->parent; n = n->parent) {
        if (n->type != CG_DIM || logical_of(p, n) != logical) continue;
        unsigned level = p->bb->tiles[p->bb->dims[n->dims[0]].tile].level;
        const struct index_expr *digit = index_var(p->arena, n->id, n->size);
        sum = index_add(p->arena, sum, index_scale(p->arena, digit, cg_weight(p, l, level)));
    }
    return sum;
}

/* All work-items reach what is around a barrier. Registers are not guarded as a whole: in their text are no
 * braces. */
static bool may_be_guarded(const struct cg_node *n)
{
    return n->kind != BB_UNROLL && n->kind != BB_VECTOR && !n->has_barrier;
}

static void guard_dims(struct cg_program *p)
{
    for (unsigned i = 1; i < p->n_nodes; i++) {
        struct cg_node *n = p->nodes[i];
        if (n->type != CG_DIM || !may_be_guarded(n)) continue;
        uint32_t logical = logical_of(p, n);
        if (!is_rounded(p, logical)) continue;
        const struct index_expr *so_far = index_so_far(p, n, logical);
        int64_t extent = extent_of(p, logical);
        if (index_most(so_far) >= extent)
            add_guard(p, n, (struct cg_guard){so_far, extent, index_constant(p->arena, 0), -1});
    }
}

/* ---- instructions ---- */

static bool in_registers(const struct cg_node *n)
{
    return n->kind == BB_UNROLL || n->kind == BB_VECTOR;
}

/* The part of an instruction's index that its UNROLL and VECTOR dimensions give, or the other part. */
static const struct index_expr *index_part(struct cg_program *p, uint32_t inst, uint32_t logical,
                                           bool registers)
{
    const struct bb_logical *l = &p->bb->logicals[logical];
    const struct index_expr *sum = index_constant(p->arena, 0);
    for (unsigned level = 0; level < l->n_levels; level++) {
        const struct cg_node *n = cg_own(p, inst, l->first_tile + level);
        if (!n || in_registers(n) != registers) continue;
        const struct index_expr *digit = index_var(p->arena, n->id, n->size);
        sum = index_add(p->arena, sum, index_scale(p->arena, digit, cg_weight(p, l, level)));
    }
    return sum;
}

static bool is_guarded_around(const struct cg_node *n, const struct index_expr *of, int64_t below)
{
    for (n = n->parent; n; n = n->parent)
        for (unsigned i = 0; n->type == CG_DIM && i < n->n_guards; i++)
            if (n->guards[i].below == below && !index_compare(n->guards[i].of, of)) return true;
    return false;
}

/* The most that the rest of an index may be, so that its sum with the base is within the extent for sure: the
 * base is a multiple of its coefficients. -1: the base alone may be beyond. */
static int64_t sure_rest(const struct cg_node *inst, const struct index_expr *base, int64_t extent)
{
    int64_t most = index_most(base), unit = 0;
    for (unsigned i = 0; i < base->n_terms; i++)
        unit = index_gcd(unit, base->terms[i].coefficient);
    if (most >= extent && !is_guarded_around(inst, base, extent)) return -1;
    if (most >= extent) most = (extent - 1) / unit * unit;
    return extent - 1 - most;
}

/* The guard that an instruction's index of one of its logicals needs; false if it needs none. */
static bool find_guard(struct cg_program *p, uint32_t inst, uint32_t logical, struct cg_guard *out)
{
    const struct index_expr *base = index_part(p, inst, logical, false);
    const struct index_expr *rest = index_part(p, inst, logical, true);
    int64_t extent = extent_of(p, logical);
    *out = (struct cg_guard){index_add(p->arena, base, rest), extent, rest,
                             sure_rest(p->inst_node[inst], base, extent)};
    return is_rounded(p, logical) && index_most(rest) > out->sure;
}

/* The same of a copy's load: its own index in the part that the loops around it give. */
static bool find_copy_guard(struct cg_program *p, uint32_t inst, uint32_t own, struct cg_guard *out)
{
    const struct index_expr *index = p->access[inst].by[cg_indexed(p, own)];
    int64_t extent = p->bb->logicals[own].extent, beyond = 0;
    *out = (struct cg_guard){index, extent, index_constant(p->arena, 0), -1};
    struct cg_guard in_region;
    if (!find_guard(p, inst, own, &in_region)) beyond = cg_span(p, own) - extent_of(p, own);
    return index_most(index) - beyond >= extent;
}

/* ---- steps that change nothing ---- */

/* What a value is where all loads that the reduction runs over give 0: 0, a part of the accumulator
 * (ACCUMULATOR + its number), or anything. */
enum fate { ANYTHING, ZERO, FINITE /* a number of the text */, ACCUMULATOR };

static enum fate product(enum fate x, enum fate y)
{
    bool zero = (x == ZERO && (y == ZERO || y == FINITE)) || (x == FINITE && y == ZERO);
    return zero ? ZERO : ANYTHING;
}

static enum fate sum(enum fate x, enum fate y)
{
    if (x == ZERO) return y == ZERO || y >= ACCUMULATOR ? y : ANYTHING;
    return x >= ACCUMULATOR && y == ZERO ? x : ANYTHING;
}

static enum fate apply(enum scalar_op op, const enum fate *args)
{
    switch (op) {
    case SCALAR_ADD:
        return sum(args[0], args[1]);
    case SCALAR_SUB:
        return args[1] == ZERO ? sum(args[0], ZERO) : ANYTHING;
    case SCALAR_MULT:
        return product(args[0], args[1]);
    case SCALAR_FMA:
        return sum(product(args[0], args[1]), args[2]);
    case SCALAR_NEG:
    case SCALAR_ABS:
    case SCALAR_SQRT:
    case SCALAR_TO_FLOAT:
    case SCALAR_TO_DOUBLE:
    case SCALAR_TO_HALF:
    case SCALAR_TO_INT:
        return args[0] == ZERO ? ZERO : ANYTHING;
    default:
        return ANYTHING;
    }
}

static enum fate fate_of(const struct cg_program *p, const struct bb_inst *step, const struct bb_node *node,
                         uint32_t reduced)
{
    if (node->kind == BB_NODE_INDEX) return ANYTHING;
    if (node->kind == BB_NODE_CONST)
        return node->value == 0 ? ZERO : isfinite(node->value) ? FINITE : ANYTHING;
    if (node->operand == 0) return ACCUMULATOR + node->part;
    const struct bb_inst *from = &p->bb->insts[step->operands[node->operand]];
    return from->kind == BB_LOAD && bb_owns(from, reduced) ? ZERO : ANYTHING;
}

/* Whether the step keeps the accumulator if its loads that the logical runs over give 0. */
static bool is_neutral(struct cg_program *p, uint32_t inst, uint32_t reduced)
{
    const struct bb_inst *step = &p->bb->insts[inst];
    enum fate *stack = ARENA_ARRAY(p->arena, enum fate, step->n_nodes + 1);
    unsigned top = 0;
    for (unsigned i = 0; i < step->n_nodes; i++) {
        const struct bb_node *n = &step->nodes[i];
        if (n->kind == BB_NODE_OP) {
            top -= scalar_op_arity(n->op);
            stack[top] = apply(n->op, stack + top);
        } else if (n->kind == BB_NODE_SELECT) {
            top -= 2;
            stack[top] = stack[top] == ZERO && stack[top + 1] == ZERO ? ZERO : ANYTHING;
        } else {
            stack[top] = fate_of(p, step, n, reduced);
        }
        top++;
    }
    bool neutral = top == bb_parts(step);
    for (unsigned part = 0; part < top; part++)
        neutral &= stack[part] == ACCUMULATOR + part;
    return neutral;
}

/* Whether a load reads a staged window that the logical is a term of. */
static bool is_in_window(const struct cg_program *p, uint32_t load, uint32_t logical)
{
    const struct bb_inst *in = &p->bb->insts[load];
    bool in_window = false;
    if (in->value == BB_NONE || !p->c->staged[in->value]) return false;
    const struct bb_value *v = &p->bb->values[in->value];
    const struct bb_region *r = &p->bb->regions[v->region];
    for (unsigned j = 0; j < r->n_dims; j++) {
        const struct bb_region_dim *c = &p->bb->region_dims[r->first_region_dim + j];
        in_window |= bb_overlaps(c) && bb_has_term(bb_value_terms(p->bb, v, c), c->n_terms, logical);
    }
    return in_window;
}

/* Whether a load reads a region that others read, too, perhaps for steps that 0 does not make neutral. */
static bool is_read_by_several(const struct cg_program *p, uint32_t load)
{
    uint32_t value = p->bb->insts[load].value;
    return value != BB_NONE && p->c->staged[value] && bb_is_shared(p->bb, &p->bb->values[value]);
}

/* Whether a load gives 0 beyond the extent of a logical: it is reduced by steps that 0 makes neutral. What is
 * computed of zeros need not be 0. */
static bool gives_zero(struct cg_program *p, uint32_t load, uint32_t logical)
{
    bool loaded = p->bb->insts[load].kind == BB_LOAD && !is_read_by_several(p, load);
    bool all = loaded && p->bb->logicals[logical].reduction && !is_in_window(p, load, logical);
    for (uint32_t i = 0; i < p->bb->n_insts && all; i++)
        if (bb_reads(&p->bb->insts[i], load) && p->bb->insts[i].kind != BB_COPY_STORE)
            all = p->bb->insts[i].kind == BB_STEP && is_neutral(p, i, logical);
    return all;
}

/* Whether a step needs no guard beyond the extent of a logical that it reduces. */
static bool keeps_accumulator(struct cg_program *p, uint32_t inst, uint32_t logical)
{
    const struct bb_inst *step = &p->bb->insts[inst];
    bool all = is_neutral(p, inst, logical);
    for (unsigned i = 1; i < step->n_operands && all; i++)
        if (bb_owns(&p->bb->insts[step->operands[i]], logical))
            all = gives_zero(p, step->operands[i], logical);
    return all;
}

/* ---- what is guarded ---- */

static void clamp(struct cg_program *p, uint32_t inst, uint32_t variable, struct cg_guard guard)
{
    struct cg_access *x = &p->access[inst];
    if (!x->clamps) x->clamps = ARENA_ARRAY(p->arena, struct cg_clamp, BB_MAX_LOGICALS);
    x->clamps[x->n_clamps++] = (struct cg_clamp){variable, guard};
}

static void guard_load(struct cg_program *p, uint32_t inst)
{
    const struct bb_inst *in = &p->bb->insts[inst];
    struct cg_access *x = &p->access[inst];
    for (unsigned j = 0; j < in->n_logicals && x->buffer != BB_NONE; j++) {
        bool copy = in->kind == BB_COPY_LOAD;
        uint32_t own = in->logicals[j], load = copy ? p->bb->values[in->value].load : inst;
        uint32_t variable = cg_indexed(p, own);
        struct cg_guard guard;
        if (!(copy ? find_copy_guard(p, inst, own, &guard) : find_guard(p, inst, own, &guard))) continue;
        if (p->bb->buffers[in->buffer].updated || gives_zero(p, load, variable))
            add_guard(p, p->inst_node[inst], guard);
        else
            clamp(p, inst, variable, guard);
    }
    *x = cg_clamped(p, p->arena, inst, NULL, NULL);
}

static void guard_step(struct cg_program *p, uint32_t inst)
{
    const struct bb_inst *in = &p->bb->insts[inst];
    for (unsigned j = 0; j < in->n_logicals; j++) {
        struct cg_guard guard;
        uint32_t logical = in->logicals[j];
        if (!bb_reduces(p->bb, in, logical) || !find_guard(p, inst, logical, &guard)) continue;
        if (!keeps_accumulator(p, inst, logical)) add_guard(p, p->inst_node[inst], guard);
    }
}

static void guard_store(struct cg_program *p, uint32_t inst)
{
    const struct bb_inst *in = &p->bb->insts[inst];
    for (unsigned j = 0; j < in->n_logicals; j++) {
        struct cg_guard guard;
        if (find_guard(p, inst, in->logicals[j], &guard)) add_guard(p, p->inst_node[inst], guard);
    }
}

struct cg_access cg_clamped(const struct cg_program *p, struct arena *a, uint32_t inst,
                            cg_is_proven *is_proven, void *context)
{
    const struct bb_inst *in = &p->bb->insts[inst];
    struct cg_access x = p->access[inst];
    if (!x.n_clamps) return x;
    const struct index_expr **by = arena_memdup(a, x.by, bb_variables(p->bb) * sizeof *by);
    for (unsigned i = 0; i < x.n_clamps; i++) {
        const struct cg_clamp *c = &x.clamps[i];
        if (!is_proven || !is_proven(context, &c->in_range))
            by[c->variable] = index_min(a, by[c->variable], c->in_range.below - 1);
    }
    x.offset = index_substitute(a, in->index, by, bb_variables(p->bb));
    x.n_guards = in->n_guards;
    x.guards = guard_substitute(a, in->guards, &x.n_guards, by, bb_variables(p->bb));
    return x;
}

const char *cg_guard_remainders(struct cg_program *p)
{
    guard_dims(p);
    for (uint32_t i = 0; i < p->bb->n_insts; i++) {
        if (!p->inst_node[i]) continue;
        switch (p->bb->insts[i].kind) {
        case BB_LOAD:
        case BB_COPY_LOAD:
            guard_load(p, i);
            break;
        case BB_STEP:
            guard_step(p, i);
            break;
        case BB_STORE:
        case BB_COPY_STORE:
            guard_store(p, i);
            break;
        case BB_COMPUTE:
        case BB_INIT:
        case BB_TAKE:
            break;
        }
    }
    return NULL;
}
