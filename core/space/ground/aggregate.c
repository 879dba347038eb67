/* Quantifiers and aggregates: `exists`, `forall`, sums, products and extremes, with one term for each object.
 *
 *     sum of size(t) over t in S where near(p, t)        S = { q, r }
 *
 * becomes `(near(p, q) ? size(q) : 0) + (near(p, r) ? size(r) : 0)`. A term counts only while its objects are
 * live (live.c). */
#include "core/base/panic.h"
#include "core/space/ground/ground.h"

typedef struct expression *term_fn(struct grounder *g, const struct space_node *n);

static int64_t neutral_value(uint8_t op)
{
    switch (op) {
    case SPACE_PRODUCT:
        return 1;
    case SPACE_MINOF:
        return SPACE_BIG;
    case SPACE_MAXOF:
        return -SPACE_BIG;
    default:
        return 0;
    }
}

/* `exists` and `forall`: live && f, live -> f. */
static struct expression *logic_term(struct grounder *g, const struct space_node *n)
{
    struct expression *body = ground_formula(g, ground_kid(g, n, 0));
    struct expression *live = ground_all_live(g, g->frame);
    if (n->op == SPACE_EXISTS) return expression_binary(g->a, FORMULA_AND, live, body);
    return expression_binary(g->a, FORMULA_OR, expression_not(g->a, live), body);
}

static struct expression *number_term(struct grounder *g, const struct space_node *n)
{
    struct expression *neutral = expression_const(g->a, neutral_value(n->op));
    struct expression *where = n->n > 1 ? ground_formula(g, ground_kid(g, n, 1)) : expression_const(g->a, 1);
    if (where->op == FORMULA_CONST && !where->imm) return neutral;
    struct expression *value = ground_formula(g, ground_kid(g, n, 0));
    where = expression_binary(g->a, FORMULA_AND, ground_all_live(g, g->frame), where);
    return expression_make(g->a, FORMULA_ITE, (struct expression *[]){where, value, neutral}, 3);
}

static struct expression *join_terms(struct grounder *g, const struct space_node *n, enum formula_op op,
                                     term_fn *term)
{
    const struct space_domain *dom = &g->s->def->domains[n->a];
    struct data_list objects = ground_objects(g, dom);
    struct expression **kids = ARENA_ARRAY(g->a, struct expression *, objects.n + 1);
    struct frame *outer = g->frame;
    int64_t before = g->env[n->imm];
    for (size_t i = 0; i < objects.n; i++) {
        struct frame mine = {.outer = outer};
        g->env[n->imm] = objects.items[i];
        if (outer) g->frame = &mine;
        ground_rely_on(g, ground_liveness_of(g->s, dom->root, objects.items[i]));
        struct frame none = {0};
        if (!outer) g->frame = &none;
        kids[i] = term(g, n);
        g->frame = outer;
    }
    g->env[n->imm] = before;
    if (!objects.n) return expression_const(g->a, op == FORMULA_AND ? 1 : neutral_value(n->op));
    return expression_make(g->a, op, kids, (uint32_t)objects.n);
}

struct expression *ground_aggregate(struct grounder *g, const struct space_node *n)
{
    switch ((enum space_op)n->op) {
    case SPACE_EXISTS:
        return join_terms(g, n, FORMULA_OR, logic_term);
    case SPACE_FORALL:
        return join_terms(g, n, FORMULA_AND, logic_term);
    case SPACE_SUM:
        return join_terms(g, n, FORMULA_ADD, number_term);
    case SPACE_PRODUCT:
        return join_terms(g, n, FORMULA_MUL, number_term);
    case SPACE_MINOF:
        return join_terms(g, n, FORMULA_MIN, number_term);
    case SPACE_MAXOF:
        return join_terms(g, n, FORMULA_MAX, number_term);
    default:
        PANIC("operation %d is no aggregate", n->op);
    }
}
