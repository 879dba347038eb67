/* What each instruction needs, whatever is decided. A compiler may merge equal operations, fold constants,
 * hoist what does not vary, and fuse a multiplication with an addition, in another instruction too: an
 * operation counts only if it is a new one that depends on every logical dimension of its instruction; of all
 * multiplications and all additions the larger number counts. An element counts once however often it is
 * read. */
#include <stdlib.h>

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
    case SCALAR_NEG:
    case SCALAR_ABS:
        break;
    case SCALAR_DIV:
        if (by_constant)
            c->multiplications++;
        else
            c->special++;
        break;
    default:
        c->special++;
    }
}

static void apply_op(struct counting *c, enum scalar_op op)
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
    bool counts = !r.constant && r.logicals == c->all && !trivial(op, args, n);
    if (counts && first_time(c, r.hash)) count_op(c, op, literal);
    c->stack[c->depth++] = r;
}

static void push_node(struct counting *c, const struct bb_node *node)
{
    if (node->kind == BB_NODE_OP) {
        apply_op(c, node->op);
        return;
    }
    struct term t = {.constant = true, .literal = true, .value = node->value};
    t.hash = hash_bytes(HASH_START, &node->value, sizeof node->value);
    if (node->kind == BB_NODE_OPERAND) {
        bool accumulator = c->inst->kind == BB_STEP && node->operand == 0;
        const struct bb_inst *from = &c->bb->insts[c->inst->operands[node->operand]];
        t = (struct term){.hash = node->operand + 1, .logicals = accumulator ? c->all : logical_bits(from)};
        t.logicals &= c->all;
    }
    c->stack[c->depth++] = t;
}

static void count_operations(const struct backbone *bb, struct profile *p)
{
    const struct bb_inst *inst = &bb->insts[p->inst];
    struct counting c = {.bb = bb, .inst = inst, .all = logical_bits(inst)};
    if (inst->type != SCALAR_FLOAT || (inst->kind != BB_COMPUTE && inst->kind != BB_STEP)) return;
    c.stack = base_malloc((inst->n_nodes + 1) * sizeof *c.stack);
    c.seen = base_malloc((inst->n_nodes + 1) * sizeof *c.seen);
    for (unsigned i = 0; i < inst->n_nodes; i++)
        push_node(&c, &inst->nodes[i]);
    p->multiplications = c.multiplications;
    p->additions = c.additions;
    p->special = c.special;
    free(c.stack);
    free(c.seen);
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
    if (!affine_index(inst)) {
        p->dense = true;
        p->unit = -1;
        return;
    }
    find_distinct(bb, inst, p);
    find_unit(inst, p);
}

/* ---- all of them ---- */

static void find_reduced(const struct backbone *bb, struct profile *p)
{
    const struct bb_inst *inst = &bb->insts[p->inst];
    p->chain = inst->kind == BB_STEP && inst->type == SCALAR_FLOAT;
    for (unsigned i = 0; p->chain && i < inst->n_logicals; i++)
        if (p->n_reduced < BB_MAX_LOGICALS && !bb_owns(&bb->insts[inst->partner], inst->logicals[i]))
            p->reduced[p->n_reduced++] = (uint8_t)inst->logicals[i];
}

void profiles_make(struct perfmodel *m)
{
    const struct backbone *bb = m->bb;
    m->profiles = base_calloc(bb->n_insts + 1, sizeof *m->profiles);
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        const struct bb_inst *inst = &bb->insts[i];
        if (inst->kind == BB_COPY_LOAD || inst->kind == BB_COPY_STORE || inst->kind == BB_INIT) continue;
        struct profile *p = &m->profiles[m->n_profiles++];
        *p = (struct profile){.inst = i, .unit = -1, .value = BB_NONE, .buffer = BB_NONE};
        p->n_logicals = inst->n_logicals;
        for (unsigned j = 0; j < inst->n_logicals && j < BB_MAX_LOGICALS; j++)
            p->logicals[j] = (uint8_t)inst->logicals[j];
        count_operations(bb, p);
        find_reduced(bb, p);
        if (inst->kind == BB_LOAD || inst->kind == BB_STORE) profile_access(bb, p);
        m->loads = m->loads || p->load;
    }
}

static double part_of(const struct perfmodel_split *s, unsigned parts)
{
    return (parts & PART_STEPS ? (double)s->steps : 1) * (parts & PART_ITEMS ? (double)s->items : 1) *
           (parts & PART_GROUPS ? (double)s->groups : 1);
}

double profile_product(const uint8_t *logicals, unsigned n, const struct perfmodel_split *split,
                       unsigned parts)
{
    double product = 1;
    for (unsigned i = 0; i < n; i++)
        product *= part_of(&split[logicals[i]], parts);
    return product;
}
