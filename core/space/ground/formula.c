/* Grounds formulas: runs over the objects of every quantifier and replaces properties and parameters by their
 * values and choices by slots.
 *
 *     forall t in S: near(p, t) -> size(p) <= size(t)        S = { p, q, r }, near(p, q) alone is true
 *
 * becomes `#3 <= #4`: what the instance says is folded away, and the two choices left are slots 3 and 4.
 * Objects that depend on choices are in cases.c, quantifiers in aggregate.c, lists and sets in domain.c. */
#include <string.h>

#include "core/base/panic.h"
#include "core/space/ground/ground.h"

static struct expression *constant(struct grounder *g, int64_t value)
{
    return expression_const(g->a, value);
}

/* The value of a node, unless it depends on choices or on which objects are live: *open. */
static int64_t closed_value(struct grounder *g, int32_t node, bool *open)
{
    const struct space_node *n = &g->s->def->nodes[node];
    if (n->op == SPACE_VAR) return g->env[n->a];
    if (n->op == SPACE_CONST) return n->imm;
    const struct expression *v = ground_formula(g, node);
    *open = v->op != FORMULA_CONST;
    return *open ? -1 : v->imm;
}

/* What is grounded with all objects live is kept apart from the rest. */
int64_t ground_static(struct grounder *g, int32_t node)
{
    bool open, all_live = g->all_live;
    struct calls *calls = g->calls;
    if (!all_live) g->calls = g->static_calls;
    g->all_live = true;
    int64_t value = closed_value(g, node, &open);
    g->all_live = all_live;
    if (all_live) return value;
    g->static_calls = g->calls;
    g->calls = calls;
    return value;
}

/* An operation on objects: at once, or for each of the objects that choices, or a count of live objects, may
 * select. */
static struct expression *operate(struct grounder *g, const struct space_node *n, bool condition,
                                  ground_operation *operation, void *ctx)
{
    int64_t args[SPACE_MAX_ARITY] = {0};
    bool open = n->selects;
    for (unsigned i = 0; i < n->n && !open; i++)
        args[i] = closed_value(g, ground_kid(g, n, i), &open);
    return open ? ground_over_cases(g, n, condition, operation, ctx) : operation(g, n, args, ctx);
}

static struct expression *ground_property(struct grounder *g, const struct space_node *n, const int64_t *args,
                                          void *ctx)
{
    (void)ctx;
    return constant(g, ground_property_of(g, n, args));
}

static struct expression *ground_in_domain(struct grounder *g, const struct space_node *n,
                                           const int64_t *args, void *ctx)
{
    struct data_list list = ground_objects(g, &g->s->def->domains[n->a]);
    (void)ctx;
    for (size_t i = 0; i < list.n; i++)
        if (list.items[i] == args[0]) return constant(g, 1);
    return constant(g, 0);
}

/* ---- choices ---- */

uint32_t ground_slot_of(const struct space *s, int32_t choice, const int64_t *args, unsigned n)
{
    const struct choice_index *index = &s->choices[choice];
    size_t at = 0;
    for (unsigned i = 0; i < n; i++) {
        int64_t x = args[i] - index->lo[i];
        if (x < 0 || x >= index->sizes[i]) return SPACE_NONE;
        at = at * index->sizes[i] + (size_t)x;
    }
    return index->slots[at];
}

/* The slot of a choice node; *mirrored: its arguments are in the other order. What is said of it relies on
 * its objects, also where they have no such choice. */
static uint32_t choice_slot(struct grounder *g, const struct space_node *n, const int64_t *args,
                            bool *mirrored)
{
    const struct space_choice *c = &g->s->def->choices[n->a];
    *mirrored = c->pairing != SPACE_PLAIN && args[0] > args[1];
    uint32_t slot = ground_slot_of(g->s, n->a, args, n->n);
    for (unsigned i = 0; i < n->n && slot == SPACE_NONE; i++)
        ground_rely_on(g, ground_liveness_of(g->s, c->args[i].root, args[i]));
    for (unsigned i = 0; slot != SPACE_NONE && i < g->s->slots[slot].n_live; i++)
        ground_rely_on(g, g->s->origins[slot].live[i]);
    return slot;
}

static struct expression *ground_choice(struct grounder *g, const struct space_node *n, const int64_t *args,
                                        void *ctx)
{
    bool mirrored;
    uint32_t slot = choice_slot(g, n, args, &mirrored);
    (void)ctx;
    if (slot == SPACE_NONE) return constant(g, 0);
    const struct universe *u = &g->s->universes[g->s->origins[slot].universe];
    return expression_func(g->a, slot, mirrored ? g->s->choices[n->a].mirror_codes : u->codes, u->n);
}

static struct expression *ground_is(struct grounder *g, const struct space_node *n, const int64_t *args,
                                    void *ctx)
{
    bool mirrored;
    uint32_t slot = choice_slot(g, n, args, &mirrored);
    (void)ctx;
    if (slot == SPACE_NONE) return constant(g, 0);
    const struct space_choice *c = &g->s->def->choices[n->a];
    int64_t *table = ARENA_ARRAY(g->a, int64_t, c->n_values);
    for (unsigned v = 0; v < c->n_values; v++)
        table[v] = (uint64_t)n->imm >> (mirrored ? c->mirror[v] : v) & 1;
    return expression_func(g->a, slot, table, c->n_values);
}

/* ---- operations ---- */

static struct expression *ground_and_or(struct grounder *g, const struct space_node *n)
{
    bool stop = n->op == SPACE_OR;
    struct expression *x = ground_formula(g, ground_kid(g, n, 0));
    if (x->op == FORMULA_CONST && (x->imm != 0) == stop) return x;
    return expression_binary(g->a, n->op == SPACE_AND ? FORMULA_AND : FORMULA_OR, x,
                             ground_formula(g, ground_kid(g, n, 1)));
}

static struct expression *ground_implication(struct grounder *g, const struct space_node *n)
{
    struct expression *x = ground_formula(g, ground_kid(g, n, 0));
    if (x->op == FORMULA_CONST && !x->imm) return constant(g, 1);
    return expression_binary(g->a, FORMULA_OR, expression_not(g->a, x),
                             ground_formula(g, ground_kid(g, n, 1)));
}

static struct expression *ground_ite(struct grounder *g, const struct space_node *n)
{
    struct expression *c = ground_formula(g, ground_kid(g, n, 0));
    if (c->op == FORMULA_CONST) return ground_formula(g, ground_kid(g, n, c->imm ? 1 : 2));
    struct expression *kids[3] = {c, ground_formula(g, ground_kid(g, n, 1)),
                                  ground_formula(g, ground_kid(g, n, 2))};
    return expression_make(g->a, FORMULA_ITE, kids, 3);
}

static struct expression *any_equal(struct grounder *g, struct expression *x, struct data_list list)
{
    struct expression **kids = ARENA_ARRAY(g->a, struct expression *, list.n + 1);
    for (size_t i = 0; i < list.n; i++)
        kids[i] = expression_binary(g->a, FORMULA_EQ, x, constant(g, list.items[i]));
    return expression_make(g->a, FORMULA_OR, kids, (uint32_t)list.n);
}

static struct expression *in_property(struct grounder *g, const struct space_node *n, const int64_t *args,
                                      void *x)
{
    return any_equal(g, x, ground_property_list(g, n, args));
}

/* lo <= x <= hi, and x is a whole number of steps above lo. */
static struct expression *in_range(struct grounder *g, struct expression *x, const struct space_node *n)
{
    struct expression *lo = ground_formula(g, ground_kid(g, n, 0)),
                      *hi = ground_formula(g, ground_kid(g, n, 1));
    struct expression *inside =
        expression_binary(g->a, FORMULA_AND, expression_binary(g->a, FORMULA_LE, lo, x),
                          expression_binary(g->a, FORMULA_LE, x, hi));
    if (n->n == 2) return inside;
    struct expression *step = ground_formula(g, ground_kid(g, n, 2));
    struct expression *above =
        expression_binary(g->a, FORMULA_ADD, x, expression_make(g->a, FORMULA_NEG, &lo, 1));
    struct expression *whole = expression_binary(
        g->a, FORMULA_EQ, expression_binary(g->a, FORMULA_MOD, above, step), constant(g, 0));
    struct expression *positive = expression_binary(g->a, FORMULA_LE, constant(g, 1), step);
    return expression_make(g->a, FORMULA_AND, (struct expression *[]){inside, positive, whole}, 3);
}

/* x is an element of the list; elements and bounds may depend on choices. */
static struct expression *element_of(struct grounder *g, struct expression *x, int32_t node)
{
    const struct space_node *n = &g->s->def->nodes[node];
    bool list = n->op == SPACE_PROP && g->s->def->properties[n->a].list;
    if (list) return operate(g, n, true, in_property, x);
    if (n->op == SPACE_RANGE) return in_range(g, x, n);
    if (n->op != SPACE_LIST) return expression_binary(g->a, FORMULA_EQ, x, ground_formula(g, node));
    struct expression **kids = ARENA_ARRAY(g->a, struct expression *, n->n + 1u);
    for (unsigned i = 0; i < n->n; i++)
        kids[i] = element_of(g, x, ground_kid(g, n, i));
    return expression_make(g->a, FORMULA_OR, kids, n->n);
}

static struct expression *object_in(struct grounder *g, struct expression *object, void *list)
{
    return element_of(g, object, *(const int32_t *)list);
}

static struct expression *ground_in(struct grounder *g, const struct space_node *n)
{
    int32_t x = ground_kid(g, n, 0), list = ground_kid(g, n, 1);
    if (ground_is_object(g, x)) return ground_object_test(g, x, object_in, &list);
    return element_of(g, ground_formula(g, x), list);
}

static struct expression *ground_equal(struct grounder *g, const struct space_node *n)
{
    int32_t x = ground_kid(g, n, 0), y = ground_kid(g, n, 1);
    if (ground_are_objects(g, x, y)) return ground_same_object(g, x, y);
    struct expression *left = ground_formula(g, x);
    return expression_binary(g->a, FORMULA_EQ, left, ground_formula(g, y));
}

static struct expression *ground_binary(struct grounder *g, const struct space_node *n)
{
    static const uint8_t ops[] = {
        [SPACE_ADD] = FORMULA_ADD, [SPACE_MUL] = FORMULA_MUL, [SPACE_DIV] = FORMULA_DIV,
        [SPACE_MOD] = FORMULA_MOD, [SPACE_MIN] = FORMULA_MIN, [SPACE_MAX] = FORMULA_MAX,
        [SPACE_LE] = FORMULA_LE,   [SPACE_LT] = FORMULA_LE,   [SPACE_SUB] = FORMULA_ADD};
    struct expression *x = ground_formula(g, ground_kid(g, n, 0)),
                      *y = ground_formula(g, ground_kid(g, n, 1));
    if (n->op == SPACE_SUB) y = expression_make(g->a, FORMULA_NEG, &y, 1);
    if (n->op == SPACE_LT) return expression_not(g->a, expression_binary(g->a, FORMULA_LE, y, x));
    return expression_binary(g->a, ops[n->op], x, y);
}

static struct expression *ground_define(struct grounder *g, int32_t node)
{
    const struct space_node *n = &g->s->def->nodes[node];
    const struct space_define *d = &g->s->def->defines[n->a];
    return d->object >= 0 ? ground_object(g, node) : operate(g, n, d->condition, ground_call, NULL);
}

static struct expression *ground_node(struct grounder *g, int32_t node)
{
    const struct space_node *n = &g->s->def->nodes[node];
    struct expression *x;
    switch ((enum space_op)n->op) {
    case SPACE_CONST:
        return constant(g, n->imm);
    case SPACE_PARAM:
        return constant(g, g->s->parameters[n->a]);
    case SPACE_VAR:
        return constant(g, g->env[n->a]);
    case SPACE_PROP:
        return operate(g, n, false, ground_property, NULL);
    case SPACE_CHOICE:
        return operate(g, n, false, ground_choice, NULL);
    case SPACE_IS:
        return operate(g, n, true, ground_is, NULL);
    case SPACE_IN:
        return ground_in(g, n);
    case SPACE_IN_SET:
        return operate(g, n, true, ground_in_domain, NULL);
    case SPACE_EQ:
        return ground_equal(g, n);
    case SPACE_NE:
        return expression_not(g->a, ground_equal(g, n));
    case SPACE_AND:
    case SPACE_OR:
        return ground_and_or(g, n);
    case SPACE_IMP:
        return ground_implication(g, n);
    case SPACE_ITE:
        return ground_ite(g, n);
    case SPACE_NOT:
        return expression_not(g->a, ground_formula(g, ground_kid(g, n, 0)));
    case SPACE_NEG:
        x = ground_formula(g, ground_kid(g, n, 0));
        return expression_make(g->a, FORMULA_NEG, &x, 1);
    case SPACE_EXISTS:
    case SPACE_FORALL:
    case SPACE_SUM:
    case SPACE_PRODUCT:
    case SPACE_MINOF:
    case SPACE_MAXOF:
        return ground_aggregate(g, n);
    case SPACE_DEFINE:
        return ground_define(g, node);
    case SPACE_FIRST:
        return ground_object(g, node);
    case SPACE_LIST:
    case SPACE_RANGE:
        PANIC("a list is no value");
    default:
        return ground_binary(g, n);
    }
}

struct expression *ground_formula(struct grounder *g, int32_t node)
{
    g->depth++;
    struct expression *x = ground_node(g, node);
    g->depth--;
    return x;
}
