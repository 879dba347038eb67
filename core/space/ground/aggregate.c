/* Quantifiers and aggregates: `exists`, `forall`, sums, products and extremes, with one term for each object.
 *
 *     sum of size(t) over t in S where near(p, t)        S = { q, r }
 *
 * becomes `(near(p, q) ? size(q) : 0) + (near(p, r) ? size(r) : 0)`. A term counts only while its objects are
 * live (live.c). */
#include "core/base/panic.h"
#include "core/space/ground/ground.h"

/* How the terms are joined, what one term is, and the value of none. */
struct aggregate {
    enum formula_op joined;
    struct expression *(*term)(struct grounder *g, const struct space_node *n);
    int64_t neutral;
};

static struct expression *logic_term(struct grounder *g, const struct space_node *n);
static struct expression *number_term(struct grounder *g, const struct space_node *n);

static const struct aggregate aggregates[] = {
    [SPACE_EXISTS] = {FORMULA_OR, logic_term, 0},
    [SPACE_FORALL] = {FORMULA_AND, logic_term, 1},
    [SPACE_SUM] = {FORMULA_ADD, number_term, 0},
    [SPACE_PRODUCT] = {FORMULA_MUL, number_term, 1},
    [SPACE_MINOF] = {FORMULA_MIN, number_term, SPACE_BIG},
    [SPACE_MAXOF] = {FORMULA_MAX, number_term, -SPACE_BIG},
};

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
    struct expression *neutral = expression_const(g->a, aggregates[n->op].neutral);
    struct expression *where = n->n > 1 ? ground_formula(g, ground_kid(g, n, 1)) : expression_const(g->a, 1);
    if (where->op == FORMULA_CONST && !where->imm) return neutral;
    struct expression *value = ground_formula(g, ground_kid(g, n, 0));
    where = expression_binary(g->a, FORMULA_AND, ground_all_live(g, g->frame), where);
    return expression_make(g->a, FORMULA_ITE, (struct expression *[]){where, value, neutral}, 3);
}

struct expression *ground_aggregate(struct grounder *g, const struct space_node *n)
{
    CHECK(n->op < sizeof aggregates / sizeof aggregates[0] && aggregates[n->op].term);
    const struct aggregate *how = &aggregates[n->op];
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
        kids[i] = how->term(g, n);
        g->frame = outer;
    }
    g->env[n->imm] = before;
    if (!objects.n) return expression_const(g->a, how->neutral);
    return expression_make(g->a, how->joined, kids, (uint32_t)objects.n);
}
