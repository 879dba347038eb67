/* Which reductions may be split: work-items of a group, or groups, reduce parts of them, which are combined.
 * The step must be the accumulator and something that does not depend on it, under one operation that is
 * associative and commutative:
 *
 *     red = add(init, x.load)              parts start from 0 and are added
 *     mad = fma(A.load, B.load, init)      the same
 *     red = max(max(init, a), b)           parts start from -infinity, combined by max
 *     red = add(mult(init, 3), x.load)     not split
 *
 * A tuple is split if each of its scalars is of this kind and reads no other one, or is selected by a ranking
 * (selection.c): of argmax, of two partial results the one with the greater value, of equal ones the one with
 * the smaller index:
 *
 *     (w, j) and (v, i)                    select(or(gt(w, v), and(eq(w, v), lt(j, i))), (w, j), (v, i))
 *
 * All parts of a sum but the first start from the neutral element, so that the initial value enters once.
 * Those of a selection all start from the initial value: however often it enters, the best one is the same.
 *
 * A reduction with so many results that they fill a device is not split on a CPU. Groups of a GPU may still
 * divide it where there are few tiles of results and sums are long, so that all processors have some: of a
 * product of 512 x 4096 by 4096 x 512, 8 groups share each of 64 tiles. Work-items of a group may with more
 * results than that, so that more of them share what the group staged: of a product of 1024 x 1024 by 1024 x
 * 1024, 256 times 4 work-items compute 8 rows. With more results still it is not split. */
#include "core/backbone/combine.h"

#include <math.h>

#include "core/lift/scalar.h"

enum {
    MANY_RESULTS = 1 << 17, /* a device is full: more than the work-items that the largest GPUs hold */
    MOST_TILED = 1 << 20,   /* tiles of 128 x 64 of them are 128 groups, one for each processor of an H200 */
    LONG_SUM = 256, /* results for an element of a sum: with fewer it pays to write and read its parts */
    MOST_RESULTS = 1 << 21 /* work-items with tiles of results in registers fill it, too */
};

/* ---- expressions in postfix order ---- */

/* The first node of the expression that ends at node `last`. */
static unsigned first_node(const struct bb_inst *inst, unsigned last)
{
    return (unsigned)(bb_node_first(&inst->nodes[last]) - inst->nodes);
}

static bool reads_accumulator(const struct bb_inst *step, unsigned first, unsigned last)
{
    for (unsigned i = first; i <= last; i++)
        if (step->nodes[i].kind == BB_NODE_OPERAND && step->nodes[i].operand == 0) return true;
    return false;
}

/* ---- steps ---- */

/* The operation that combines results of steps with this one; SCALAR_OP_COUNT: none is known. */
static enum scalar_op combining(enum scalar_op op)
{
    switch (op) {
    case SCALAR_FMA:
    case SCALAR_SUB:
        return SCALAR_ADD;
    case SCALAR_ADD:
    case SCALAR_MULT:
    case SCALAR_MIN:
    case SCALAR_MAX:
    case SCALAR_BITAND:
    case SCALAR_BITOR:
    case SCALAR_BITXOR:
        return op;
    default:
        return SCALAR_OP_COUNT;
    }
}

/* Whether an operand may be the one with the accumulator: acc - x, x * y + acc. */
static bool may_accumulate(enum scalar_op op, unsigned operand)
{
    return op == SCALAR_FMA ? operand == 2 : op != SCALAR_SUB || operand == 0;
}

/* Whether the expression that ends at `last` is the accumulator's part, or an operation that combines by *op
 * on such an expression and on others that do not read the accumulator. *op is SCALAR_OP_COUNT before the
 * first operation. */
static bool accumulates(const struct bb_inst *step, unsigned last, unsigned part, enum scalar_op *op)
{
    const struct bb_node *n = &step->nodes[last];
    if (n->kind == BB_NODE_OPERAND) return n->operand == 0 && n->part == part;
    if (n->kind != BB_NODE_OP) return false;
    enum scalar_op own = combining(n->op);
    if (own == SCALAR_OP_COUNT || (*op != SCALAR_OP_COUNT && *op != own)) return false;
    *op = own;
    bool found = false;
    for (unsigned i = scalar_op_arity(n->op); i-- > 0; last = first_node(step, last - 1)) {
        unsigned first = first_node(step, last - 1);
        if (!reads_accumulator(step, first, last - 1)) continue;
        if (found || !may_accumulate(n->op, i) || !accumulates(step, last - 1, part, op)) return false;
        found = true;
    }
    return found;
}

static double neutral_of(enum scalar_op op, enum scalar_type t)
{
    bool integer = t == SCALAR_INT;
    switch (op) {
    case SCALAR_MULT:
        return 1;
    case SCALAR_MIN:
        return integer ? INT32_MAX : (double)INFINITY;
    case SCALAR_MAX:
        return integer ? INT32_MIN : -(double)INFINITY;
    case SCALAR_BITAND:
        return -1;
    default:
        return 0;
    }
}

/* Whether the initial value of a part may enter several times. */
static bool may_repeat(const struct bb_inst *init, unsigned part, const struct bb_combination *c)
{
    unsigned last = init->n_nodes;
    for (unsigned i = bb_parts(init); i-- > part + 1;)
        last = first_node(init, last - 1);
    const struct bb_node *n = &init->nodes[last - 1];
    bool idempotent = c->op[part] != SCALAR_ADD && c->op[part] != SCALAR_MULT && c->op[part] != SCALAR_BITXOR;
    return n->kind == BB_NODE_CONST && (idempotent || n->value == c->neutral[part]);
}

static struct bb_reduced reduced_by(const struct backbone *bb, const struct bb_inst *step)
{
    struct bb_reduced r = {.logicals = bb->logicals};
    for (unsigned i = 0; i < step->n_logicals; i++)
        if (bb_reduces(bb, step, step->logicals[i])) r.number[r.n++] = step->logicals[i];
    return r;
}

bool bb_combination(const struct backbone *bb, uint32_t step, struct bb_combination *out)
{
    const struct bb_inst *in = &bb->insts[step], *init = &bb->insts[in->partner];
    struct bb_reduced reduced = reduced_by(bb, in);
    unsigned last = in->n_nodes;
    *out = (struct bb_combination){.same_start = init->n_nodes > 0};
    for (unsigned part = bb_parts(in); part-- > 0; last = first_node(in, last - 1)) {
        out->op[part] = SCALAR_OP_COUNT;
        if (bb_part_type(in, part) == SCALAR_BOOL) return false;
        if (bb_selects(in, &reduced, part, &out->ranking[part])) {
            out->op[part] = SCALAR_SELECT;
            continue;
        }
        if (!accumulates(in, last - 1, part, &out->op[part])) return false;
        if (out->op[part] == SCALAR_OP_COUNT) return false;
        out->neutral[part] = neutral_of(out->op[part], bb_part_type(in, part));
        out->same_start = out->same_start && may_repeat(init, part, out);
    }
    return true;
}

/* ---- two partial results ---- */

bool bb_combined_first(const struct bb_combination *c, unsigned part)
{
    for (unsigned i = 0; i < part; i++)
        if (bb_combined_together(c, i, part)) return false;
    return true;
}

unsigned bb_combined_scalars(const struct bb_inst *step, const struct bb_combination *c,
                             enum scalar_type type)
{
    unsigned most = 0;
    for (unsigned part = 0; part < bb_parts(step); part++) {
        unsigned n = 0;
        for (unsigned i = 0; i < bb_parts(step); i++)
            n += bb_combined_together(c, part, i) && bb_part_type(step, i) == type;
        if (n > most) most = n;
    }
    return most;
}

/* Whether y is better than x. */
static bool is_better(const struct bb_inst *step, const struct bb_ranking *r, const double *x,
                      const double *y)
{
    double values[] = {y[r->value], x[r->value]}, places[] = {y[r->place], x[r->place]};
    if (scalar_op_apply(r->better, bb_part_type(step, r->value), values) != 0) return true;
    return values[0] == values[1] && scalar_op_apply(r->nearer, SCALAR_INT, places) != 0;
}

void bb_combine(const struct bb_inst *step, const struct bb_combination *c, const double *x, const double *y,
                double *out)
{
    for (unsigned part = 0; part < bb_parts(step); part++) {
        double both[] = {x[part], y[part]};
        if (c->op[part] == SCALAR_SELECT)
            out[part] = both[is_better(step, &c->ranking[part], x, y)];
        else
            out[part] = scalar_op_apply(c->op[part], bb_part_type(step, part), both);
    }
}

/* ---- logicals ---- */

/* Accumulators of the whole program. */
static double results_of(const struct backbone *bb, const struct bb_inst *init)
{
    double results = 1;
    for (unsigned i = 0; i < init->n_logicals; i++)
        results *= (double)bb->logicals[init->logicals[i]].extent;
    return results;
}

double bb_split_results(const struct backbone *bb, bool gpu)
{
    double most = 0;
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        const struct bb_inst *step = &bb->insts[i];
        for (unsigned j = 0; step->kind == BB_STEP && j < step->n_logicals; j++)
            if (bb_reduces(bb, step, step->logicals[j]) &&
                bb_may_split(&bb->logicals[step->logicals[j]], gpu))
                most = fmax(most, results_of(bb, &bb->insts[step->partner]));
    }
    return most;
}

/* Whether the step runs over what a scan goes through in order: itself, or what reads a scan. */
static bool runs_over_scan(const struct backbone *bb, const struct bb_inst *step)
{
    bool over = step->scan;
    for (unsigned j = 0; j < step->n_logicals; j++)
        over = over || (bb_reduces(bb, step, step->logicals[j]) && bb->logicals[step->logicals[j]].scanned);
    return over;
}

/* Of sums with so many elements. */
static enum bb_split dividers_of(double results, double elements)
{
    if (results < MANY_RESULTS) return BB_SPLIT_GROUPS;
    if (results <= MOST_TILED && results <= LONG_SUM * elements) return BB_SPLIT_GPU_GROUPS;
    return results < MOST_RESULTS ? BB_SPLIT_ITEMS : BB_SPLIT_NONE;
}

void bb_mark_split(struct backbone *bb)
{
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        const struct bb_inst *step = &bb->insts[i];
        struct bb_combination c;
        if (step->kind != BB_STEP || runs_over_scan(bb, step) || !bb_combination(bb, i, &c)) continue;
        double results = results_of(bb, &bb->insts[step->partner]);
        for (unsigned j = 0; j < step->n_logicals; j++) {
            struct bb_logical *l = &bb->logicals[step->logicals[j]];
            enum bb_split who = dividers_of(results, (double)l->extent);
            if (bb_reduces(bb, step, step->logicals[j]) && l->split < who) l->split = (uint8_t)who;
        }
    }
}

bool bb_may_split(const struct bb_logical *l, bool gpu)
{
    return l->split == BB_SPLIT_GROUPS || (l->split != BB_SPLIT_NONE && gpu);
}

bool bb_groups_may_split(const struct bb_logical *l, bool gpu)
{
    return l->split == BB_SPLIT_GROUPS || (l->split == BB_SPLIT_GPU_GROUPS && gpu);
}
