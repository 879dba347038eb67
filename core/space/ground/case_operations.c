/* Operations on objects that depend on choices: grounded for every case of the operands (cases.h), and
 * joined.
 *
 *     size(first t in S: near(s, t)) <= 4
 *
 * becomes (t is p -> size(p) <= 4) && (t is q -> size(q) <= 4) && ...
 *
 * A condition is joined as such clauses, a number as a chain `t is p ? size(p) : t is q ? size(q) : ...`. */
#include <string.h>

#include "core/space/ground/cases.h"

/* ---- operands ---- */

static const struct frame *join_known(struct grounder *g, const struct frame *a, const struct frame *b)
{
    if (!a || !b) return a ? a : b;
    struct frame *all = ARENA_NEW(g->a, struct frame);
    all->items = ARENA_ARRAY(g->a, uint32_t, a->n + b->n + 1);
    if (a->n) memcpy(all->items, a->items, a->n * sizeof *a->items);
    if (b->n) memcpy(all->items + a->n, b->items, b->n * sizeof *b->items);
    all->n = a->n + b->n;
    return all;
}

/* Every case so far with every case of operand i. */
static struct argument_cases extend(struct grounder *g, const struct argument_cases *so_far, unsigned i,
                                    const struct object_cases *cases)
{
    struct argument_cases out = {ARENA_ARRAY(g->a, struct argument_case, so_far->n * cases->n + 1), 0};
    for (size_t k = 0; k < so_far->n; k++) {
        for (size_t c = 0; c < cases->n; c++) {
            struct argument_case tuple = so_far->at[k];
            tuple.when = ground_both(g, tuple.when, cases->at[c].when);
            if (ground_is_constant(tuple.when, 0)) continue;
            tuple.args[i] = cases->at[c].object;
            tuple.known = join_known(g, tuple.known, cases->at[c].known);
            out.at[out.n++] = tuple;
        }
    }
    return out;
}

struct argument_cases ground_argument_cases(struct grounder *g, const struct space_node *n)
{
    struct argument_cases out = {ARENA_NEW(g->a, struct argument_case), 1};
    out.at[0].when = expression_const(g->a, 1);
    for (unsigned i = 0; i < n->n; i++) {
        struct object_cases cases = {0};
        ground_find_cases(g, ground_kid(g, n, i), ground_operand_root(g, n, i), &cases);
        out = extend(g, &out, i, &cases);
    }
    ground_calls(g)->n_cases += out.n;
    return out;
}

/* ---- what a case relies on ---- */

void ground_enter_case(struct grounder *g, const struct argument_case *c, struct inside *in)
{
    *in = (struct inside){.outer = g->frame, .mine = {.outer = &in->known}};
    if (c->known) in->known = *c->known;
    in->known.outer = g->frame;
    if (g->frame && !ground_is_constant(c->when, 1)) g->frame = &in->mine;
}

void ground_leave_case(struct grounder *g, const struct argument_case *c, struct inside *in)
{
    g->frame = in->outer;
    if (!in->mine.n && !in->mine.n_conditions) return;
    ground_rely_if(
        g, expression_binary(g->a, FORMULA_OR, expression_not(g->a, c->when), ground_all_live(g, &in->mine)));
}

/* ---- operations ---- */

static struct expression *choose(struct grounder *g, struct expression *when, struct expression *yes,
                                 struct expression *no)
{
    if (yes->op == FORMULA_CONST && no->op == FORMULA_CONST && yes->imm == no->imm) return yes;
    return expression_make(g->a, FORMULA_ITE, (struct expression *[]){when, yes, no}, 3);
}

/* Of equal numbers the cases are one. */
static size_t merge_equal(struct grounder *g, struct expression **when, struct expression **value, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < kept && !(value[i]->op == FORMULA_CONST && ground_is_constant(value[k], value[i]->imm)))
            k++;
        when[k] = k < kept ? expression_binary(g->a, FORMULA_OR, when[k], when[i]) : when[i];
        value[k] = value[i];
        kept += k == kept;
    }
    return kept;
}

/* One of the cases holds, so the last needs no condition. */
struct expression *ground_join_numbers(struct grounder *g, struct expression **when,
                                       struct expression **value, size_t n)
{
    n = merge_equal(g, when, value, n);
    struct expression *x = value[n - 1];
    for (size_t i = n - 1; i-- > 0;)
        x = choose(g, when[i], value[i], x);
    return ground_shared(x);
}

struct expression *ground_join_conditions(struct grounder *g, struct expression **when,
                                          struct expression **value, size_t n)
{
    struct expression **clauses = ARENA_ARRAY(g->a, struct expression *, n);
    for (size_t i = 0; i < n; i++)
        clauses[i] = expression_binary(g->a, FORMULA_OR, expression_not(g->a, when[i]), value[i]);
    return ground_shared(expression_make(g->a, FORMULA_AND, clauses, (uint32_t)n));
}

static bool all_truth_values(struct expression *const *value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!ground_is_constant(value[i], 0) && !ground_is_constant(value[i], 1)) return false;
    return true;
}

/* A property of the number that a choice has is a table. NULL: it is no such property. */
static struct expression *tabulated_property(struct grounder *g, const struct space_node *n)
{
    if (n->op != SPACE_PROP || n->n != 1 || g->s->def->properties[n->a].list) return NULL;
    const struct space_node *choice = &g->s->def->nodes[ground_kid(g, n, 0)];
    if (choice->op != SPACE_CHOICE || choice->selects) return NULL;
    const struct expression *x = ground_formula(g, ground_kid(g, n, 0));
    if (x->op != FORMULA_FUNC) return NULL;
    int64_t *table = ARENA_ARRAY(g->a, int64_t, x->n_table);
    for (uint32_t v = 0; v < x->n_table; v++)
        table[v] = ground_property_of(g, n, &x->table[v]);
    return expression_func(g->a, x->slot, table, x->n_table);
}

struct expression *ground_over_cases(struct grounder *g, const struct space_node *n, bool condition,
                                     ground_operation *operation, void *ctx)
{
    struct expression *table = tabulated_property(g, n);
    if (table) return table;
    struct argument_cases cases = ground_argument_cases(g, n);
    struct expression **when = ARENA_ARRAY(g->a, struct expression *, cases.n),
                      **value = ARENA_ARRAY(g->a, struct expression *, cases.n);
    for (size_t i = 0; i < cases.n; i++) {
        struct inside in;
        ground_enter_case(g, &cases.at[i], &in);
        when[i] = cases.at[i].when;
        value[i] = operation(g, n, cases.at[i].args, ctx);
        ground_leave_case(g, &cases.at[i], &in);
    }
    condition = condition || all_truth_values(value, cases.n);
    return condition ? ground_join_conditions(g, when, value, cases.n)
                     : ground_join_numbers(g, when, value, cases.n);
}
