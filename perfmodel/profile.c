/* What each instruction needs, whatever is decided. A compiler may merge equal operations, fold constants,
 * hoist what does not vary, and fuse a multiplication with an addition, in another instruction too: an
 * operation counts only if it is a new one that depends on every logical dimension of its instruction; of all
 * multiplications and all additions the larger number counts. An element counts once however often it is
 * read. What only a branch of a selection needs, or what follows && or ||, may be left out where it is not
 * taken: it does not count. Of a product that the device may take in matrices no operation and no access of a
 * work-item counts, only what groups read.
 *
 *     if x < y then sqrt(z) else 0.0     reads x and y; z and the root are not sure to be needed */
#include <stdlib.h>

#include "core/backbone/matrix.h"
#include "core/base/arena.h"
#include "core/base/hash.h"
#include "perfmodel/model.h"

enum { FAR = 32 }; /* elements: neighbours at this distance share no vector, sector or line */

/* ---- operations ---- */

/* A subexpression on the evaluation stack. */
struct term {
    uint64_t hash;
    uint64_t logicals; /* that it varies with */
    bool constant;
    double value; /* of a literal */
    bool literal;
};

struct counting {
    const struct backbone *bb;
    const struct bb_inst *inst;
    uint64_t all; /* logicals of the instruction */
    struct term *stack;
    unsigned depth;
    uint64_t *seen;
    unsigned n_seen;
    double multiplications, additions, special;
};

static uint64_t logical_bits(const struct bb_inst *inst)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < inst->n_logicals; i++)
        bits |= UINT64_C(1) << inst->logicals[i] % 64;
    return bits;
}

static bool first_time(struct counting *c, uint64_t hash)
{
    for (unsigned i = 0; i < c->n_seen; i++)
        if (c->seen[i] == hash) return false;
    c->seen[c->n_seen++] = hash;
    return true;
}

/* x * 1, x / 1, x + 0 and x - 0 are no work. */
static bool trivial(enum scalar_op op, const struct term *args, unsigned n)
{
    bool product = op == SCALAR_MULT || op == SCALAR_DIV;
    for (unsigned i = 0; i < n; i++)
        if (args[i].literal && args[i].value == (product ? 1 : 0)) return true;
    return false;
}

/* Operations that are not listed and are not functions, such as comparisons, may cost nothing; so may the
 * power 1. */
static void count_op(struct counting *c, enum scalar_op op, bool by_constant)
{
    switch (op) {
    case SCALAR_MULT:
    case SCALAR_FMA:
        c->multiplications++;
        break;
    case SCALAR_ADD:
    case SCALAR_SUB:
    case SCALAR_MIN:
    case SCALAR_MAX:
        c->additions++;
        break;
    case SCALAR_DIV:
        if (by_constant)
            c->multiplications++;
        else
            c->special++;
        break;
    default:
        if (!scalar_op_exact(op) && !(op == SCALAR_POW && by_constant)) c->special++;
    }
}

static void apply_op(struct counting *c, enum scalar_op op, bool sure)
{
    unsigned n = scalar_op_arity(op);
    struct term *args = &c->stack[c->depth -= n];
    struct term r = {.hash = hash_bytes(HASH_START, &op, sizeof op), .constant = true};
    bool literal = false;
    for (unsigned i = 0; i < n; i++) {
        r.hash = hash_bytes(r.hash, &args[i].hash, sizeof args[i].hash);
        r.logicals |= args[i].logicals;
        r.constant = r.constant && args[i].constant;
        literal = literal || args[i].literal;
    }
    bool counts = sure && !r.constant && r.logicals == c->all && !trivial(op, args, n);
    if (counts && first_time(c, r.hash)) count_op(c, op, literal);
    c->stack[c->depth++] = r;
}

/* An index, or one of two operands. Neither counts; that an operation on it does is not certain: its value
 * may be the same for other indices. */
static void push_index(struct counting *c, const struct bb_node *node)
{
    if (node->kind == BB_NODE_SELECT) c->depth -= 2;
    struct term t = {.hash = hash_bytes(HASH_START, &c->depth, sizeof c->depth)};
    t.hash = hash_bytes(t.hash, &node, sizeof node);
    c->stack[c->depth++] = t;
}

/* sure: its value is needed, whatever the inputs; only operations on floats have rates. */
static void push_node(struct counting *c, const struct bb_node *node, bool sure)
{
    if (node->kind == BB_NODE_OP) {
        apply_op(c, node->op, sure && node->type == SCALAR_FLOAT);
        return;
    }
    if (node->kind == BB_NODE_SELECT || node->kind == BB_NODE_INDEX) {
        push_index(c, node);
        return;
    }
    struct term t = {.constant = true, .literal = true, .value = node->value};
    t.hash = hash_bytes(HASH_START, &node->value, sizeof node->value);
    if (node->kind == BB_NODE_OPERAND) {
        bool accumulator = c->inst->kind == BB_STEP && node->operand == 0;
        const struct bb_inst *from = &c->bb->insts[c->inst->operands[node->operand]];
        t = (struct term){.hash = node->operand + 1 + UINT64_C(0x10001) * node->part,
                          .logicals = accumulator ? c->all : logical_bits(from)};
        t.logicals &= c->all;
    }
    c->stack[c->depth++] = t;
}

/* ---- what is needed ---- */

/* Unmarks the nodes of an operand that ends at node `last`; returns the node before them. */
static int skip_operand(const struct bb_inst *inst, int last, bool *sure)
{
    unsigned operands = 1;
    for (; operands > 0; last--) {
        sure[last] = false;
        if (inst->nodes[last].kind == BB_NODE_OP) operands += scalar_op_arity(inst->nodes[last].op);
        if (inst->nodes[last].kind == BB_NODE_SELECT) operands += 2;
        operands--;
    }
    return last;
}

/* Marks the nodes of an expression whose values are needed, whatever the inputs. */
static void mark_sure(const struct bb_inst *inst, bool *sure)
{
    for (unsigned i = 0; i < inst->n_nodes; i++)
        sure[i] = true;
    for (int i = 0; i < (int)inst->n_nodes; i++) {
        if (inst->nodes[i].kind != BB_NODE_OP) continue;
        enum scalar_op op = inst->nodes[i].op;
        int before = i - 1;
        if (op == SCALAR_SELECT) before = skip_operand(inst, before, sure);
        if (op == SCALAR_SELECT || op == SCALAR_AND || op == SCALAR_OR) skip_operand(inst, before, sure);
    }
}

/* Marks what an instruction that is needed needs. A reduction needs its start and, as it is, all it reads. */
static void mark_operands(const struct bb_inst *inst, bool *sure, bool *needed)
{
    if (inst->kind == BB_LOAD && inst->n_guards) return; /* it may read nothing */
    mark_sure(inst, sure);
    for (unsigned i = 0; i < inst->n_nodes; i++)
        if (sure[i] && inst->nodes[i].kind == BB_NODE_OPERAND)
            needed[inst->operands[inst->nodes[i].operand]] = true;
    if (inst->kind == BB_STEP) needed[inst->partner] = true;
}

/* The instructions whose values are needed, whatever the inputs: makers come before readers. */
static bool *find_needed(const struct backbone *bb)
{
    bool *needed = base_calloc(bb->n_insts + 1, sizeof *needed);
    for (uint32_t i = bb->n_insts; i-- > 0;) {
        const struct bb_inst *inst = &bb->insts[i];
        needed[i] = needed[i] || inst->kind == BB_STORE;
        bool *sure = base_calloc(inst->n_nodes + 1, sizeof *sure);
        if (needed[i]) mark_operands(inst, sure, needed);
        free(sure);
    }
    return needed;
}

static void count_operations(const struct backbone *bb, struct profile *p)
{
    const struct bb_inst *inst = &bb->insts[p->inst];
    struct counting c = {.bb = bb, .inst = inst, .all = logical_bits(inst)};
    if (inst->kind != BB_COMPUTE && inst->kind != BB_STEP) return;
    c.stack = base_malloc((inst->n_nodes + 1) * sizeof *c.stack);
    c.seen = base_malloc((inst->n_nodes + 1) * sizeof *c.seen);
    bool *sure = base_calloc(inst->n_nodes + 1, sizeof *sure);
    mark_sure(inst, sure);
    for (unsigned i = 0; i < inst->n_nodes; i++)
        push_node(&c, &inst->nodes[i], sure[i]);
    p->multiplications = c.multiplications;
    p->additions = c.additions;
    p->special = c.special;
    free(c.stack);
    free(c.seen);
    free(sure);
}

/* ---- accesses ---- */

static int64_t stride_of(const struct bb_inst *inst, uint32_t logical, int *affine)
{
    int64_t s = index_stride(inst->index, logical, affine);
    return s < 0 ? -s : s;
}

static bool affine_index(const struct bb_inst *inst)
{
    for (unsigned i = 0; i < inst->n_logicals; i++) {
        int affine = 0;
        stride_of(inst, inst->logicals[i], &affine);
        if (!affine) return false;
    }
    return true;
}

/* The logicals in ascending order of stride, those kept whose stride is beyond the reach of the ones before:
 * distinct values of these give distinct elements. */
static void find_distinct(const struct backbone *bb, const struct bb_inst *inst, struct profile *p)
{
    int64_t reach = 0, last = 0;
    for (;;) {
        int64_t next = INT64_MAX;
        uint8_t which = 0;
        for (unsigned i = 0; i < inst->n_logicals; i++) {
            int affine;
            int64_t s = stride_of(inst, inst->logicals[i], &affine);
            if (s > last && s > reach && s < next) {
                next = s;
                which = (uint8_t)inst->logicals[i];
            }
        }
        if (next == INT64_MAX) return;
        p->distinct[p->n_distinct++] = which;
        reach += next * (bb->logicals[which].extent - 1);
        last = next;
    }
}

/* Which dimension runs through neighbours, and whether others come as near. */
static void find_unit(const struct bb_inst *inst, struct profile *p)
{
    p->unit = -1;
    for (unsigned i = 0; i < inst->n_logicals; i++) {
        int affine;
        int64_t s = stride_of(inst, inst->logicals[i], &affine);
        if (s == 1 && p->unit < 0)
            p->unit = (int)inst->logicals[i];
        else if (s > 0 && s < FAR)
            p->dense = true;
    }
}

static void profile_access(const struct backbone *bb, struct profile *p)
{
    const struct bb_inst *inst = &bb->insts[p->inst];
    p->buffer = inst->buffer;
    p->value = inst->value;
    p->load = inst->kind == BB_LOAD && inst->n_logicals > 0;
    p->store = inst->kind == BB_STORE;
    p->element_bytes = scalar_type_bytes(inst->type);
    if (!affine_index(inst) || inst->n_guards || inst->n_data) {
        p->dense = true;
        p->unit = -1;
        return;
    }
    find_distinct(bb, inst, p);
    find_unit(inst, p);
}

/* ---- all of them ---- */

/* Whether the last part of a tuple is a sum of floats with itself: a dependent addition. Selections may be
 * branches, which do not wait. */
static bool adds(const struct bb_inst *step)
{
    const struct bb_node *last = &step->nodes[step->n_nodes - 1];
    unsigned part = step->n_more;
    bool reads = false;
    for (unsigned i = 0; i < step->n_nodes; i++)
        reads = reads || (step->nodes[i].kind == BB_NODE_OPERAND && step->nodes[i].operand == 0 &&
                          step->nodes[i].part == part);
    if (bb_part_type(step, part) != SCALAR_FLOAT) return false;
    return reads && last->kind == BB_NODE_OP && (last->op == SCALAR_ADD || last->op == SCALAR_FMA);
}

static void find_reduced(const struct backbone *bb, struct profile *p)
{
    const struct bb_inst *inst = &bb->insts[p->inst];
    p->chain = inst->kind == BB_STEP && (inst->n_more ? adds(inst) : inst->type == SCALAR_FLOAT);
    for (unsigned i = 0; p->chain && i < inst->n_logicals; i++)
        if (p->n_reduced < BB_MAX_LOGICALS && !bb_owns(&bb->insts[inst->partner], inst->logicals[i]))
            p->reduced[p->n_reduced++] = (uint8_t)inst->logicals[i];
}

/* ---- products in matrices ---- */

static bool has_matrix(const struct perfmodel *m, const struct space_state *root, uint32_t step)
{
    uint32_t slot = gpu_slot_matrix(m->space, step);
    for (uint32_t v = 0; v < space_universe(m->space, slot); v++)
        if (space_value_code(m->space, slot, v) == GPU_MATRIX_YES) return space_has_value(root, slot, v);
    return false;
}

/* Marks the steps that bundles of work-items may take in matrices, and their loads. */
static void mark_matrices(struct perfmodel *m, bool *marked)
{
    struct space_failure why;
    struct space_state *root = gpu_is_space(m->space) ? space_root(m->space, &why) : NULL;
    for (uint32_t i = 0; root && i < m->bb->n_insts; i++) {
        struct bb_factors f;
        if (!bb_multiplies(m->bb, i, &f) || !has_matrix(m, root, i)) continue;
        marked[i] = marked[f.loads[0]] = marked[f.loads[1]] = true;
        m->matrices = true;
    }
    if (root) space_state_free(root);
}

void profiles_make(struct perfmodel *m)
{
    const struct backbone *bb = m->bb;
    bool *marked = base_calloc(bb->n_insts + 1, sizeof *marked);
    mark_matrices(m, marked);
    bool *needed = find_needed(bb);
    m->profiles = base_calloc(bb->n_insts + 1, sizeof *m->profiles);
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        const struct bb_inst *inst = &bb->insts[i];
        if (bb_is_copy(inst) || inst->kind == BB_INIT || inst->kind == BB_TAKE) continue;
        if (inst->unless != BB_NONE) continue; /* work of windows that overlap is less if it is staged */
        if (!needed[i]) continue;
        struct profile *p = &m->profiles[m->n_profiles++];
        *p = (struct profile){.inst = i, .unit = -1, .value = BB_NONE, .buffer = BB_NONE};
        p->n_logicals = inst->n_logicals;
        for (unsigned j = 0; j < inst->n_logicals && j < BB_MAX_LOGICALS; j++)
            p->logicals[j] = (uint8_t)inst->logicals[j];
        if (!marked[i]) count_operations(bb, p);
        if (!marked[i]) find_reduced(bb, p);
        p->shared = marked[i] && inst->kind == BB_LOAD;
        if (inst->kind == BB_LOAD || inst->kind == BB_STORE) profile_access(bb, p);
        m->loads = m->loads || p->load;
    }
    free(needed);
    free(marked);
}

static double part_of(const struct perfmodel_split *s, unsigned parts)
{
    if (s->any) return parts & PART_ANY ? (double)s->steps : 1;
    return (parts & PART_STEPS ? (double)s->steps * s->share : 1) *
           (parts & PART_ITEMS ? (double)s->items : 1) * (parts & PART_GROUPS ? (double)s->groups : 1);
}

double profile_product(const uint8_t *logicals, unsigned n, const struct perfmodel_split *split,
                       unsigned parts)
{
    double product = 1;
    for (unsigned i = 0; i < n; i++)
        product *= part_of(&split[logicals[i]], parts);
    return product;
}
