/* Formulas without names: literals, operators, `is`, lists. Each becomes a node with a type; operands of
 * other types are errors. `dim_kind(d) is REGISTERS` becomes SPACE_IS with the mask of the values that the
 * alias stands for. */
#include <string.h>

#include "core/base/panic.h"
#include "spacedsl/resolve.h"

enum { MAX_LIST = 255, MAX_DEPTH = 5000 };

static struct typed resolve_is(struct resolver *r, const struct scope *sc, const struct expr *e)
{
    struct typed left = resolve_formula(r, sc, e->kids[0]);
    if (left.type.kind == TYPE_ERROR) return TYPED_ERROR;
    struct space_node choice = r->m->nodes[left.node];
    if (choice.op != SPACE_CHOICE || !r->m->choices[choice.a].n_values) {
        diag_error(r->diag, e->at, "'is' needs a choice with named values on its left");
        return TYPED_ERROR;
    }
    uint64_t mask = 0;
    for (const struct name *n = e->values; n; n = n->next)
        mask |= value_mask(r, &r->m->choices[choice.a], n);
    int32_t kids[SPACE_MAX_ARITY];
    memcpy(kids, r->m->kids + choice.first, choice.n * sizeof *kids);
    int32_t is = add_object_node(r, SPACE_IS, choice.a, (int64_t)mask, choice.n, kids);
    if (e->negated) is = add_node(r, SPACE_NOT, 0, 0, 1, &is);
    return typed(is, TYPE_BOOL);
}

static struct typed resolve_list(struct resolver *r, const struct scope *sc, const struct expr *e)
{
    int32_t kids[MAX_LIST];
    unsigned n = 0;
    for (const struct expr *a = e->args; a; a = a->next) {
        struct typed t = resolve_formula(r, sc, a);
        if (t.type.kind == TYPE_ERROR) return TYPED_ERROR;
        bool number = t.type.kind == TYPE_INT || is_int(r, t.type);
        if (!number || n == MAX_LIST) {
            diag_error(r->diag, a->at, number ? "a list of more than %d items" : "expected a number",
                       MAX_LIST);
            return TYPED_ERROR;
        }
        kids[n++] = t.node;
    }
    return (struct typed){add_node(r, SPACE_LIST, 0, 0, n, kids), {.kind = TYPE_INT, .list = true}};
}

static struct typed resolve_interval(struct resolver *r, const struct scope *sc, const struct expr *e)
{
    int32_t kids[3];
    unsigned n = e->kids[2] ? 3 : 2;
    for (unsigned i = 0; i < n; i++) {
        struct typed t = resolve_formula(r, sc, e->kids[i]);
        if (!wants(r, t, TYPE_INT, e->kids[i]->at)) return TYPED_ERROR;
        if (n == 3 && !check_static(r, t, e->kids[i]->at)) return TYPED_ERROR;
        kids[i] = t.node;
    }
    return (struct typed){add_node(r, SPACE_RANGE, 0, 0, n, kids), {.kind = TYPE_INT, .list = true}};
}

static bool is_equality(enum space_op op)
{
    return op == SPACE_EQ || op == SPACE_NE;
}

static enum type_kind operand_type(enum space_op op, unsigned i)
{
    if (op == SPACE_AND || op == SPACE_OR || op == SPACE_NOT || op == SPACE_IMP) return TYPE_BOOL;
    return op == SPACE_ITE && i == 0 ? TYPE_BOOL : TYPE_INT;
}

/* Which side of operand `i` matters, if `side` of the whole does. */
static enum side operand_side(enum space_op op, unsigned i, enum side side)
{
    switch (op) {
    case SPACE_AND:
    case SPACE_OR:
        return side;
    case SPACE_IMP:
        return i == 1 ? side : SIDE_BOTH;
    case SPACE_ITE:
        return i > 0 ? side : SIDE_BOTH;
    case SPACE_LE:
    case SPACE_LT:
        return i == 0 && side == SIDE_TRUE ? SIDE_LOW : SIDE_BOTH;
    case SPACE_ADD:
    case SPACE_MUL:
    case SPACE_MIN:
    case SPACE_MAX:
        return side;
    default:
        return SIDE_BOTH;
    }
}

static bool same_type(const struct resolver *r, struct type a, struct type b)
{
    if (a.list || b.list) return false;
    if (a.kind == TYPE_OBJECT && b.kind == TYPE_OBJECT) return a.root == b.root;
    return (a.kind == TYPE_BOOL && b.kind == TYPE_BOOL) || (is_int(r, a) && is_int(r, b));
}

/* The operands of an operation; returns how many, or -1 after an error. */
static int resolve_operands(struct resolver *r, const struct scope *sc, const struct expr *e, int32_t *kids,
                            struct type *types)
{
    bool ok = true;
    int n = 0;
    for (; n < 3 && e->kids[n]; n++) {
        unsigned i = (unsigned)n;
        struct typed t = resolve_side(r, sc, e->kids[n], operand_side(e->op, i, sc->side));
        kids[n] = t.node;
        types[n] = t.type;
        bool free_type = is_equality(e->op) || (e->op == SPACE_ITE && n > 0);
        if (t.type.kind == TYPE_ERROR)
            ok = false;
        else if (!free_type && !wants(r, t, operand_type(e->op, i), e->kids[n]->at))
            ok = false;
    }
    return ok ? n : -1;
}

static struct typed resolve_op(struct resolver *r, const struct scope *sc, const struct expr *e)
{
    int32_t kids[3];
    struct type types[3];
    int n = resolve_operands(r, sc, e, kids, types);
    if (n < 0) return TYPED_ERROR;
    if ((is_equality(e->op) && !same_type(r, types[0], types[1])) ||
        (e->op == SPACE_ITE && !same_type(r, types[1], types[2]))) {
        diag_error(r->diag, e->at, "the two sides have different types");
        return TYPED_ERROR;
    }
    int32_t result = add_node(r, e->op, 0, 0, (unsigned)n, kids);
    if (e->op == SPACE_ITE) return (struct typed){result, types[1]};
    bool logic =
        is_equality(e->op) || operand_type(e->op, 0) == TYPE_BOOL || e->op == SPACE_LE || e->op == SPACE_LT;
    return typed(result, logic ? TYPE_BOOL : TYPE_INT);
}

static struct typed resolve(struct resolver *r, const struct scope *sc, const struct expr *e)
{
    switch (e->kind) {
    case EXPR_INT:
        return typed(add_node(r, SPACE_CONST, 0, e->number, 0, NULL), TYPE_INT);
    case EXPR_BOOL:
        return typed(add_node(r, SPACE_CONST, 0, e->number, 0, NULL), TYPE_BOOL);
    case EXPR_CALL:
        return resolve_call(r, sc, e);
    case EXPR_OP:
        return resolve_op(r, sc, e);
    case EXPR_IS:
        return resolve_is(r, sc, e);
    case EXPR_IN:
        return resolve_in(r, sc, e);
    case EXPR_LIST:
        return resolve_list(r, sc, e);
    case EXPR_RANGE:
        return resolve_interval(r, sc, e);
    case EXPR_QUANTIFIER:
        return resolve_quantifier(r, sc, e, e->binders);
    }
    PANIC("expression of unknown kind %d", e->kind);
}

struct typed resolve_side(struct resolver *r, const struct scope *sc, const struct expr *e, enum side side)
{
    struct scope mine = *sc;
    mine.side = side;
    if (r->too_large) return TYPED_ERROR;
    if (r->depth >= MAX_DEPTH) r->too_large = true;
    r->depth++;
    struct typed t = resolve(r, &mine, e);
    r->depth--;
    if (r->too_large && !r->reported_large) {
        r->reported_large = true;
        diag_error(r->diag, e->at, "the expanded formulas are too large");
    }
    return r->too_large ? TYPED_ERROR : t;
}

struct typed resolve_formula(struct resolver *r, const struct scope *sc, const struct expr *e)
{
    return resolve_side(r, sc, e, SIDE_BOTH);
}
