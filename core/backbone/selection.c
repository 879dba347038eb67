/* Steps that select: parts of the accumulator become those of an element if it is better, or all stay.
 *
 *     if w > v || w == v && j < i then (w, j) else (v, i)               argmax: of equal values the first
 *
 * This is a ranking: of two tuples the better one has the greater value, and of equal values the smaller
 * place. No two different tuples are equal in both, so that the best one of a set is the same in any order:
 * the steps may be taken in any order, and parts of a reduction combined in any order, each part as often as
 * one likes. So all parts may start from the initial value; one without elements changes nothing. NaN is
 * never better, and nothing is better than an initial value that is NaN.
 *
 * Other parts may be selected by the same condition: the coordinates of the nearest point. Then the place has
 * to be the element's own index, which ascends with the steps, as no two elements may have one place:
 *
 *     if d < e || d == e && j < i then (d, j, x, y) else (e, i, p, q)                  j the index: a ranking
 *     if d < e || d == e && c < b then (d, c, x, y) else (e, b, p, q)                  c loaded: none
 *
 * Where the text leaves ties to the order of the steps, they are decided by the element's own index:
 *
 *     if w > v then (w, j) else (v, i)         becomes     w > v || w == v && j < i        the first of
 * equals if w >= v then (w, j) else (v, i)                    w > v || w == v && j > i        the last
 *
 * The initial value takes part in it. It is there before all elements, so that its place must be a number:
 * for > and < at most the least index, for >= and <= below it, or, where nothing but value and place is
 * selected, the same (what is selected then is the same, too). Otherwise the step stays as it is and is no
 * ranking:
 *
 *     if w >= v then (w, j, x) else (v, i, p), from (lowest, 0, 0.0)       at -1 instead of 0 it is one
 *     if v >= w then (v, i) else (w, j)                                    would take NaN, and then anything
 *     if w > v then (w, x) else (v, p)                                     no index */
#include "core/backbone/selection.h"

#include <string.h>

#include "core/base/arena.h"

/* Nodes of a step. */
struct span {
    const struct bb_node *first, *end;
};

/* Expressions of a step, one a part. */
struct parts {
    unsigned n;
    struct span of[BB_MAX_PARTS];
};

/* ---- expressions in postfix order ---- */

static const struct bb_node *last(struct span x)
{
    return x.end - 1;
}

static bool is_op(struct span x, enum scalar_op op)
{
    return last(x)->kind == BB_NODE_OP && last(x)->op == op;
}

/* The expression that ends there. */
static struct span ending(const struct bb_node *end)
{
    return (struct span){bb_node_first(end - 1), end};
}

/* The operands of the operation that x is. */
static void operands(struct span x, struct span *out)
{
    const struct bb_node *end = last(x);
    for (unsigned i = scalar_op_arity(end->op); i-- > 0; end = out[i].first)
        out[i] = ending(end);
}

static struct parts parts_of(const struct bb_inst *inst)
{
    struct parts p = {.n = bb_parts(inst)};
    const struct bb_node *end = inst->nodes + inst->n_nodes;
    for (unsigned i = p.n; i-- > 0; end = p.of[i].first)
        p.of[i] = ending(end);
    return p;
}

static bool same_node(const struct bb_node *x, const struct bb_node *y)
{
    if (x->kind != y->kind || x->type != y->type) return false;
    switch (x->kind) {
    case BB_NODE_OPERAND:
        return x->operand == y->operand && x->part == y->part;
    case BB_NODE_CONST:
        return !memcmp(&x->value, &y->value, sizeof x->value);
    case BB_NODE_INDEX:
        return !index_compare(x->index, y->index);
    case BB_NODE_SELECT:
        return x->n_guards == y->n_guards && guard_same(x->guards, y->guards, x->n_guards);
    case BB_NODE_OP:
        return x->op == y->op;
    }
    return false;
}

static bool same(struct span x, struct span y)
{
    bool all = x.end - x.first == y.end - y.first;
    for (; all && x.first < x.end; x.first++, y.first++)
        all = same_node(x.first, y.first);
    return all;
}

static bool is_accumulator(struct span x)
{
    return x.end - x.first == 1 && x.first->kind == BB_NODE_OPERAND && x.first->operand == 0;
}

static bool reads_accumulator(struct span x)
{
    for (; x.first < x.end; x.first++)
        if (x.first->kind == BB_NODE_OPERAND && x.first->operand == 0) return true;
    return false;
}

/* ---- choices ---- */

/* select(condition, element, accumulator) */
struct choice {
    struct span condition, element, kept;
};

/* Whether the expression of a part takes what does not depend on the accumulator, or keeps the part. */
static bool find_choice(const struct parts *p, unsigned part, struct choice *out)
{
    struct span of[SCALAR_MAX_ARITY];
    if (!is_op(p->of[part], SCALAR_SELECT)) return false;
    operands(p->of[part], of);
    *out = (struct choice){of[0], of[1], of[2]};
    return !reads_accumulator(of[1]) && is_accumulator(of[2]) && of[2].first->part == part;
}

/* An element compared with a part of the accumulator. */
struct comparison {
    enum scalar_op op; /* element op accumulator */
    unsigned part;
    struct span element, accumulator;
};

static enum scalar_op mirrored(enum scalar_op op)
{
    switch (op) {
    case SCALAR_LT:
        return SCALAR_GT;
    case SCALAR_LE:
        return SCALAR_GE;
    case SCALAR_GT:
        return SCALAR_LT;
    case SCALAR_GE:
        return SCALAR_LE;
    default:
        return op;
    }
}

static bool is_strict(enum scalar_op op)
{
    return op == SCALAR_LT || op == SCALAR_GT;
}

static bool find_comparison(struct span x, struct comparison *out)
{
    struct span of[SCALAR_MAX_ARITY];
    if (last(x)->kind != BB_NODE_OP || !scalar_op_compares(last(x)->op)) return false;
    operands(x, of);
    unsigned acc = is_accumulator(of[0]) ? 0 : 1;
    if (!is_accumulator(of[acc]) || reads_accumulator(of[1 - acc])) return false;
    enum scalar_op op = acc ? last(x)->op : mirrored(last(x)->op);
    *out = (struct comparison){op, of[acc].first->part, of[1 - acc], of[acc]};
    return true;
}

/* Both operands of the operation that x is, in the order in which `first` is true of one. */
static bool find_pair(struct span x, enum scalar_op op, bool (*first)(struct span x), struct span *out)
{
    struct span of[SCALAR_MAX_ARITY];
    if (!is_op(x, op)) return false;
    operands(x, of);
    unsigned one = first(of[0]) ? 0 : 1;
    out[0] = of[one];
    out[1] = of[1 - one];
    return first(of[one]);
}

static bool is_comparison(struct span x)
{
    struct comparison c;
    return find_comparison(x, &c);
}

static bool is_equality(struct span x)
{
    return is_op(x, SCALAR_EQ);
}

/* w > v || w == v && j < i, with both comparisons strict. */
static bool find_ranking(struct span condition, struct comparison *value, struct comparison *place)
{
    struct span either[2], both[2];
    struct comparison equal;
    if (!find_pair(condition, SCALAR_OR, is_comparison, either)) return false;
    if (!find_pair(either[1], SCALAR_AND, is_equality, both)) return false;
    if (!find_comparison(either[0], value) || !find_comparison(both[0], &equal)) return false;
    if (!find_comparison(both[1], place) || !is_strict(value->op) || !is_strict(place->op)) return false;
    return equal.part == value->part && same(equal.element, value->element) && place->part != value->part;
}

/* Whether a part takes the element that is compared with it, by the same condition. */
static bool takes(const struct parts *p, const struct comparison *c, struct span condition)
{
    struct choice own;
    return find_choice(p, c->part, &own) && same(own.condition, condition) && same(own.element, c->element);
}

/* ---- indices ---- */

/* Whether x is an index that ascends with the steps. */
static bool is_own_index(struct span x, const struct bb_reduced *reduced)
{
    int64_t reach = 0;
    if (x.end - x.first != 1 || x.first->kind != BB_NODE_INDEX || x.first->type != SCALAR_INT) return false;
    for (unsigned i = reduced->n; i-- > 0;) {
        int affine;
        int64_t stride = index_stride(x.first->index, reduced->number[i], &affine);
        if (!affine || stride <= reach) return false;
        reach += stride * (reduced->logicals[reduced->number[i]].extent - 1);
    }
    return true;
}

bool bb_selects(const struct bb_inst *step, const struct bb_reduced *reduced, unsigned part,
                struct bb_ranking *out)
{
    struct parts p = parts_of(step);
    struct choice own;
    struct comparison value, place;
    if (!find_choice(&p, part, &own) || !find_ranking(own.condition, &value, &place)) return false;
    if (!takes(&p, &value, own.condition) || !takes(&p, &place, own.condition)) return false;
    if (bb_part_type(step, place.part) != SCALAR_INT) return false;
    if (part != value.part && part != place.part && !is_own_index(place.element, reduced)) return false;
    *out = (struct bb_ranking){value.part, place.part, value.op, place.op};
    return true;
}

/* ---- ties ---- */

/* A selection whose ties are left to the order of the steps. */
struct ties {
    struct span condition;
    struct comparison value;
    unsigned place; /* the part that is the index */
    struct span index, kept;
};

/* Whether the initial place is such that the initial value is before all elements. */
static bool is_before_all(const struct parts *init, const struct ties *t, bool alone)
{
    struct span at = init->of[t->place];
    if (at.end - at.first != 1 || at.first->kind != BB_NODE_CONST) return false;
    double least = (double)index_least(t->index.first->index);
    if (is_strict(t->value.op) || alone) return at.first->value <= least;
    return at.first->value < least;
}

/* The ties of the selection that a part is of: by the first of its parts that is the element's own index. */
static bool find_ties(const struct parts *init, const struct parts *p, unsigned part,
                      const struct bb_reduced *reduced, struct ties *out)
{
    struct choice own, other;
    unsigned selected = 0;
    out->place = p->n;
    if (!find_choice(p, part, &own) || !find_comparison(own.condition, &out->value)) return false;
    if (out->value.op == SCALAR_EQ || out->value.op == SCALAR_NE) return false;
    if (!takes(p, &out->value, own.condition)) return false;
    for (unsigned i = 0; i < p->n; i++) {
        if (!find_choice(p, i, &other) || !same(other.condition, own.condition)) continue;
        selected++;
        if (out->place < p->n || i == out->value.part || !is_own_index(other.element, reduced)) continue;
        out->place = i;
        out->index = other.element;
        out->kept = other.kept;
    }
    out->condition = own.condition;
    return out->place < p->n && is_before_all(init, out, selected == 2);
}

static struct bb_node *put(struct bb_node *to, struct span x)
{
    size_t n = (size_t)(x.end - x.first);
    memcpy(to, x.first, n * sizeof *to);
    return to + n;
}

static struct bb_node *put_op(struct bb_node *to, enum scalar_op op, enum scalar_type type)
{
    *to = (struct bb_node){.kind = BB_NODE_OP, .type = type, .op = op};
    return to + 1;
}

/* w > v || w == v && j < i */
static struct bb_node *put_ranking(struct bb_node *to, const struct ties *t)
{
    const struct comparison *v = &t->value;
    bool greater = v->op == SCALAR_GT || v->op == SCALAR_GE;
    enum scalar_type type = v->accumulator.first->type;
    to = put_op(put(put(to, v->element), v->accumulator), greater ? SCALAR_GT : SCALAR_LT, type);
    to = put_op(put(put(to, v->element), v->accumulator), SCALAR_EQ, type);
    to = put_op(put(put(to, t->index), t->kept), is_strict(v->op) ? SCALAR_LT : SCALAR_GT, SCALAR_INT);
    return put_op(put_op(to, SCALAR_AND, SCALAR_BOOL), SCALAR_OR, SCALAR_BOOL);
}

void bb_decide_ties(const struct bb_inst *init, struct bb_inst *step, const struct bb_reduced *reduced,
                    struct arena *a)
{
    if (step->n_more == 0) return;
    struct parts p = parts_of(step), start = parts_of(init);
    struct bb_node *nodes = ARENA_ARRAY(a, struct bb_node, 2 * step->n_nodes + 8 * p.n), *to = nodes;
    for (unsigned part = 0; part < p.n; part++) {
        struct ties t;
        if (!find_ties(&start, &p, part, reduced, &t)) {
            to = put(to, p.of[part]);
            continue;
        }
        to = put_ranking(to, &t);
        to = put(to, (struct span){t.condition.end, p.of[part].end});
    }
    step->nodes = nodes;
    step->n_nodes = (unsigned)(to - nodes);
}
