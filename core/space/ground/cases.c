/* The cases of an object, see cases.h: which objects a node may be, each with the condition that it is the
 * one. */
#include <string.h>

#include "core/space/ground/cases.h"

/* ---- nodes that are objects ---- */

static bool is_object_definition(const struct grounder *g, const struct space_node *n)
{
    return n->op == SPACE_DEFINE && g->s->def->defines[n->a].object >= 0;
}

static bool is_object_property(const struct grounder *g, const struct space_node *n)
{
    return n->op == SPACE_PROP && g->s->def->properties[n->a].object >= 0;
}

/* Whether a node is an object for ground_find_cases(), without a root set. */
static bool is_object(const struct grounder *g, int32_t node)
{
    const struct space_node *n = &g->s->def->nodes[node];
    if (n->op == SPACE_ITE) return is_object(g, ground_kid(g, n, 1)) && is_object(g, ground_kid(g, n, 2));
    return n->op == SPACE_VAR || n->op == SPACE_FIRST || is_object_definition(g, n) ||
           is_object_property(g, n);
}

/* ---- cases ---- */

/* Cases of one object are one. */
static void add_case(struct grounder *g, struct object_cases *out, int64_t object, struct expression *when,
                     const struct frame *known)
{
    if (ground_is_constant(when, 0)) return;
    for (size_t i = 0; i < out->n; i++) {
        struct object_case *c = &out->at[i];
        if (c->object != object) continue;
        c->when = ground_shared(expression_binary(g->a, FORMULA_OR, c->when, when));
        c->known = NULL;
        return;
    }
    out->at = arena_grow(g->a, out->at, &out->cap, out->n + 1, sizeof *out->at);
    out->at[out->n++] = (struct object_case){object, when, known};
}

static void add_cases(struct grounder *g, struct object_cases *out, const struct object_cases *more,
                      struct expression *when)
{
    for (size_t i = 0; i < more->n; i++)
        add_case(g, out, more->at[i].object, ground_both(g, when, more->at[i].when), more->at[i].known);
}

/* ---- the cases of an object ---- */

/* `first x in D: f`: an object is it if it is live, has f, and none before it is. */
static void select_first(struct grounder *g, const struct space_node *n, struct object_cases *out)
{
    const struct space_domain *dom = &g->s->def->domains[n->a];
    struct data_list objects = ground_objects(g, dom);
    struct expression *none = expression_const(g->a, 1);
    struct frame *outer = g->frame;
    int64_t before = g->env[n->imm];
    for (size_t i = 0; i < objects.n && !ground_is_constant(none, 0); i++) {
        struct frame *mine = ARENA_NEW(g->a, struct frame);
        g->env[n->imm] = objects.items[i];
        g->frame = mine;
        ground_rely_on(g, ground_liveness_of(g->s, dom->root, objects.items[i]));
        struct expression *is = ground_formula(g, ground_kid(g, n, 0));
        is = ground_both(g, ground_all_live(g, mine), is);
        g->frame = outer;
        add_case(g, out, objects.items[i], ground_shared(ground_both(g, none, is)), mine);
        none = ground_both(g, none, ground_shared(expression_not(g->a, is)));
    }
    g->env[n->imm] = before;
    add_case(g, out, -1, none, NULL);
}

static bool calls_definition(const struct grounder *g, int32_t node)
{
    const struct space_node *n = &g->s->def->nodes[node];
    if (n->op == SPACE_DEFINE) return true;
    for (unsigned i = 0; i < n->n; i++)
        if (calls_definition(g, ground_kid(g, n, i))) return true;
    return false;
}

/* What a definition gives may depend on the steps taken, so such a selection is not kept. */
static void first_cases(struct grounder *g, int32_t node, struct object_cases *out)
{
    const struct space_node *n = &g->s->def->nodes[node];
    if (calls_definition(g, node)) {
        select_first(g, n, out);
        return;
    }
    struct call like = {.selection = true, .what = node, .n = (uint32_t)n->imm};
    memcpy(like.args, g->env, (size_t)n->imm * sizeof *like.args);
    struct call *c = ground_find_call(ground_calls(g), &like);
    if (!c) {
        c = arena_memdup(g->a, &like, sizeof like);
        select_first(g, n, &c->cases);
        ground_keep_call(g->calls, c);
    }
    for (size_t i = 0; i < c->cases.n; i++)
        add_case(g, out, c->cases.at[i].object, c->cases.at[i].when, c->cases.at[i].known);
}

static void choose_cases(struct grounder *g, const struct space_node *n, int32_t root,
                         struct object_cases *out)
{
    struct expression *c = ground_formula(g, ground_kid(g, n, 0));
    for (unsigned i = 0; i < 2; i++) {
        struct expression *when = i ? expression_not(g->a, c) : c;
        struct object_cases branch = {0};
        if (!ground_is_constant(when, 0)) ground_find_cases(g, ground_kid(g, n, i + 1), root, &branch);
        add_cases(g, out, &branch, when);
    }
}

static void property_cases(struct grounder *g, const struct space_node *n, struct object_cases *out)
{
    struct argument_cases cases = ground_argument_cases(g, n);
    for (size_t i = 0; i < cases.n; i++)
        add_case(g, out, ground_property_of(g, n, cases.at[i].args), cases.at[i].when, cases.at[i].known);
}

/* A number names an object of a range set, or none. */
static void number_cases(struct grounder *g, struct expression *x, int32_t root, struct object_cases *out)
{
    const struct space_set *set = &g->s->def->sets[root];
    struct expression *lo = expression_const(g->a, set->lo), *hi = expression_const(g->a, set->hi);
    x = ground_shared(x);
    for (int64_t object = set->lo; object <= set->hi; object++)
        add_case(g, out, object, expression_binary(g->a, FORMULA_EQ, x, expression_const(g->a, object)),
                 NULL);
    struct expression *inside = ground_both(g, expression_binary(g->a, FORMULA_LE, lo, x),
                                            expression_binary(g->a, FORMULA_LE, x, hi));
    add_case(g, out, -1, expression_not(g->a, inside), NULL);
}

static void define_cases(struct grounder *g, const struct space_node *n, struct object_cases *out)
{
    struct argument_cases cases = ground_argument_cases(g, n);
    for (size_t i = 0; i < cases.n; i++) {
        struct inside in;
        ground_enter_case(g, &cases.at[i], &in);
        const struct call *c = ground_call_of(g, n, cases.at[i].args);
        if (c)
            add_cases(g, out, &c->cases, cases.at[i].when);
        else
            add_case(g, out, -1, cases.at[i].when, NULL);
        ground_leave_case(g, &cases.at[i], &in);
    }
}

/* The cases of a node that is an object of the root set, or a number that names one. */
void ground_find_cases(struct grounder *g, int32_t node, int32_t root, struct object_cases *out)
{
    const struct space_node *n = &g->s->def->nodes[node];
    if (n->op == SPACE_FIRST) {
        first_cases(g, node, out);
    } else if (n->op == SPACE_ITE) {
        choose_cases(g, n, root, out);
    } else if (is_object_definition(g, n)) {
        define_cases(g, n, out);
    } else if (is_object_property(g, n) && n->selects) {
        property_cases(g, n, out);
    } else {
        struct expression *x = ground_formula(g, node);
        if (x->op == FORMULA_CONST)
            add_case(g, out, root < 0 || ground_has_object(g, root, x->imm) ? x->imm : -1,
                     expression_const(g->a, 1), NULL);
        else if (is_object_property(g, n))
            property_cases(g, n, out);
        else
            number_cases(g, x, root, out);
    }
}

static bool may_select(const struct grounder *g, int32_t node)
{
    const struct space_node *n = &g->s->def->nodes[node];
    return n->op == SPACE_ITE || n->op == SPACE_FIRST || is_object_definition(g, n) ||
           (is_object_property(g, n) && n->selects);
}

bool ground_are_objects(const struct grounder *g, int32_t x, int32_t y)
{
    return (may_select(g, x) || may_select(g, y)) && is_object(g, x) && is_object(g, y);
}

bool ground_is_object(const struct grounder *g, int32_t x)
{
    return may_select(g, x) && is_object(g, x);
}

struct expression *ground_same_object(struct grounder *g, int32_t x, int32_t y)
{
    struct object_cases left = {0}, right = {0};
    ground_find_cases(g, x, -1, &left);
    ground_find_cases(g, y, -1, &right);
    struct expression *any = expression_const(g->a, 0);
    for (size_t i = 0; i < left.n; i++)
        for (size_t k = 0; k < right.n; k++)
            if (left.at[i].object == right.at[k].object)
                any = expression_binary(g->a, FORMULA_OR, any,
                                        ground_both(g, left.at[i].when, right.at[k].when));
    return ground_shared(any);
}

struct expression *ground_object_test(struct grounder *g, int32_t node, ground_test *test, void *ctx)
{
    struct object_cases cases = {0};
    ground_find_cases(g, node, -1, &cases);
    struct expression **when = ARENA_ARRAY(g->a, struct expression *, cases.n),
                      **value = ARENA_ARRAY(g->a, struct expression *, cases.n);
    for (size_t i = 0; i < cases.n; i++) {
        when[i] = cases.at[i].when;
        value[i] = test(g, expression_const(g->a, cases.at[i].object), ctx);
    }
    return ground_join_conditions(g, when, value, cases.n);
}

struct expression *ground_object(struct grounder *g, int32_t node)
{
    struct object_cases cases = {0};
    ground_find_cases(g, node, -1, &cases);
    struct expression **when = ARENA_ARRAY(g->a, struct expression *, cases.n),
                      **value = ARENA_ARRAY(g->a, struct expression *, cases.n);
    for (size_t i = 0; i < cases.n; i++) {
        when[i] = cases.at[i].when;
        value[i] = expression_const(g->a, cases.at[i].object);
    }
    return ground_join_numbers(g, when, value, cases.n);
}
