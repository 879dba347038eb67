/* Instantiates formulas: runs over the objects of every quantifier and replaces properties and parameters by
 * their values and choices by slots.
 *
 * Latent objects. A frame lists the liveness slots that the formula at hand relies on. The outermost frame
 * becomes the guards of the instance. Each term of an `exists` or an aggregate has a frame of its own, and
 * becomes `live && term`: it does not count until its objects are live, and no longer when one is dead. */
#include <stdlib.h>
#include <string.h>

#include "core/base/panic.h"
#include "core/space/ground.h"

const int64_t GROUND_LIVE_TABLE[2] = {0, 1};

typedef struct ground_node *(*term_fn)(struct grounder *g, const struct space_node *n);

static struct ground_node *constant(struct grounder *g, int64_t value)
{
    return expression_const(g->a, value);
}

static int32_t kid(const struct grounder *g, const struct space_node *n, unsigned i)
{
    return g->s->def->kids[n->first + (int32_t)i];
}

/* The value of a node, unless it depends on choices or on which objects are live: *open. */
static int64_t closed_value(struct grounder *g, int32_t node, bool *open)
{
    const struct space_node *n = &g->s->def->nodes[node];
    if (n->op == SPACE_VAR) return g->env[n->a];
    if (n->op == SPACE_CONST) return n->imm;
    const struct ground_node *v = ground_formula(g, node);
    *open = v->op != GROUND_CONST;
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
static struct ground_node *operate(struct grounder *g, const struct space_node *n, bool condition,
                                   ground_operation *operation, void *ctx)
{
    int64_t args[SPACE_MAX_ARITY] = {0};
    bool open = n->selects;
    for (unsigned i = 0; i < n->n && !open; i++)
        args[i] = closed_value(g, kid(g, n, i), &open);
    return open ? ground_over_cases(g, n, condition, operation, ctx) : operation(g, n, args, ctx);
}

/* Objects as arguments of a property. false: one of them is none. */
static bool property_args(const struct space_node *n, const int64_t *from, uint32_t *args)
{
    for (unsigned i = 0; i < n->n; i++) {
        if (from[i] < 0 || from[i] > UINT32_MAX) return false;
        args[i] = (uint32_t)from[i];
    }
    return true;
}

int64_t ground_property_of(struct grounder *g, const struct space_node *n, const int64_t *args)
{
    uint32_t ids[SPACE_MAX_ARITY];
    int64_t none = g->s->def->properties[n->a].object >= 0 ? -1 : 0;
    return property_args(n, args, ids) ? data_table_int(g->s->properties[n->a], ids, n->n, none) : none;
}

static struct ground_node *ground_property(struct grounder *g, const struct space_node *n,
                                           const int64_t *args, void *ctx)
{
    (void)ctx;
    return constant(g, ground_property_of(g, n, args));
}

static struct data_list property_list(struct grounder *g, const struct space_node *n, const int64_t *args)
{
    uint32_t ids[SPACE_MAX_ARITY];
    bool objects = property_args(n, args, ids);
    return objects ? data_table_list(g->s->properties[n->a], ids, n->n) : (struct data_list){0};
}

/* ---- lists and domains ---- */

static void add_item(struct grounder *g, struct items *list, int64_t x)
{
    list->at = arena_grow(g->a, list->at, &list->cap, list->n + 1, sizeof *list->at);
    list->at[list->n++] = x;
}

static void collect_range(struct grounder *g, const struct space_node *n, struct items *out)
{
    int64_t lo = ground_static(g, kid(g, n, 0)), hi = ground_static(g, kid(g, n, 1));
    int64_t step = n->n > 2 ? ground_static(g, kid(g, n, 2)) : 1;
    size_t most = out->n + SPACE_MAX_VALUES + 1; /* which is too many for any choice */
    for (int64_t x = lo; x <= hi && step > 0 && out->n < most; x = expression_add(x, step))
        add_item(g, out, x);
}

void ground_collect(struct grounder *g, int32_t node, struct items *out)
{
    const struct space_node *n = &g->s->def->nodes[node];
    if (n->op == SPACE_LIST) {
        for (unsigned i = 0; i < n->n; i++)
            ground_collect(g, kid(g, n, i), out);
    } else if (n->op == SPACE_RANGE) {
        collect_range(g, n, out);
    } else if (n->op == SPACE_PROP && g->s->def->properties[n->a].list) {
        int64_t args[SPACE_MAX_ARITY];
        for (unsigned i = 0; i < n->n; i++)
            args[i] = ground_static(g, kid(g, n, i));
        struct data_list list = property_list(g, n, args);
        for (size_t i = 0; i < list.n; i++)
            add_item(g, out, list.items[i]);
    } else {
        add_item(g, out, ground_static(g, node));
    }
}

struct data_list ground_objects(struct grounder *g, const struct space_domain *dom)
{
    if (dom->list >= 0) {
        struct items list = {0};
        ground_collect(g, dom->list, &list);
        return (struct data_list){list.at, list.n};
    }
    if (dom->arg >= 0) {
        int64_t of = ground_static(g, dom->arg);
        return of < 0 || of > UINT32_MAX
                   ? (struct data_list){0}
                   : data_table_list(g->s->set_tables[dom->set], &(uint32_t){(uint32_t)of}, 1);
    }
    return (struct data_list){g->s->sets[dom->set].ids, g->s->sets[dom->set].n};
}

static struct ground_node *ground_in_domain(struct grounder *g, const struct space_node *n,
                                            const int64_t *args, void *ctx)
{
    struct data_list list = ground_objects(g, &g->s->def->domains[n->a]);
    (void)ctx;
    for (size_t i = 0; i < list.n; i++)
        if (list.items[i] == args[0]) return constant(g, 1);
    return constant(g, 0);
}

/* ---- liveness ---- */

uint32_t ground_liveness_of(const struct space *s, int32_t root, int64_t object)
{
    return object >= 0 && object < s->root_sizes[root] && s->liveness[root] ? s->liveness[root][object]
                                                                            : SPACE_NONE;
}

/* Notes that the formula relies on a latent object, unless a frame around it has done so. */
void ground_rely_on(struct grounder *g, uint32_t live)
{
    if (live == SPACE_NONE || !g->frame || g->all_live) return;
    for (const struct frame *f = g->frame; f; f = f->outer)
        for (size_t i = 0; i < f->n; i++)
            if (f->items[i] == live) return;
    struct frame *f = g->frame;
    f->items = arena_grow(g->a, f->items, &f->cap, f->n + 1, sizeof *f->items);
    f->items[f->n++] = live;
}

void ground_rely_if(struct grounder *g, struct ground_node *condition)
{
    struct frame *f = g->frame;
    if (!f || (condition->op == GROUND_CONST && condition->imm)) return;
    f->conditions = arena_grow(g->a, f->conditions, &f->cap_conditions, f->n_conditions + 1,
                               sizeof(struct ground_node *));
    f->conditions[f->n_conditions++] = condition;
}

struct ground_node *ground_all_live(struct grounder *g, const struct frame *f)
{
    struct ground_node **kids = ARENA_ARRAY(g->a, struct ground_node *, f->n + f->n_conditions + 1);
    for (size_t i = 0; i < f->n; i++)
        kids[i] = expression_func(g->a, f->items[i], GROUND_LIVE_TABLE, 2);
    for (size_t i = 0; i < f->n_conditions; i++)
        kids[f->n + i] = f->conditions[i];
    return expression_make(g->a, GROUND_AND, kids, (uint32_t)(f->n + f->n_conditions));
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

static struct ground_node *ground_choice(struct grounder *g, const struct space_node *n, const int64_t *args,
                                         void *ctx)
{
    bool mirrored;
    uint32_t slot = choice_slot(g, n, args, &mirrored);
    (void)ctx;
    if (slot == SPACE_NONE) return constant(g, 0);
    const struct universe *u = &g->s->universes[g->s->origins[slot].universe];
    return expression_func(g->a, slot, mirrored ? g->s->choices[n->a].mirror_codes : u->codes, u->n);
}

static struct ground_node *ground_is(struct grounder *g, const struct space_node *n, const int64_t *args,
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

static struct ground_node *ground_and_or(struct grounder *g, const struct space_node *n)
{
    bool stop = n->op == SPACE_OR;
    struct ground_node *x = ground_formula(g, kid(g, n, 0));
    if (x->op == GROUND_CONST && (x->imm != 0) == stop) return x;
    return expression_binary(g->a, n->op == SPACE_AND ? GROUND_AND : GROUND_OR, x,
                             ground_formula(g, kid(g, n, 1)));
}

static struct ground_node *ground_implication(struct grounder *g, const struct space_node *n)
{
    struct ground_node *x = ground_formula(g, kid(g, n, 0));
    if (x->op == GROUND_CONST && !x->imm) return constant(g, 1);
    return expression_binary(g->a, GROUND_OR, expression_not(g->a, x), ground_formula(g, kid(g, n, 1)));
}

static struct ground_node *ground_ite(struct grounder *g, const struct space_node *n)
{
    struct ground_node *c = ground_formula(g, kid(g, n, 0));
    if (c->op == GROUND_CONST) return ground_formula(g, kid(g, n, c->imm ? 1 : 2));
    struct ground_node *kids[3] = {c, ground_formula(g, kid(g, n, 1)), ground_formula(g, kid(g, n, 2))};
    return expression_make(g->a, GROUND_ITE, kids, 3);
}

static struct ground_node *any_equal(struct grounder *g, struct ground_node *x, struct data_list list)
{
    struct ground_node **kids = ARENA_ARRAY(g->a, struct ground_node *, list.n + 1);
    for (size_t i = 0; i < list.n; i++)
        kids[i] = expression_binary(g->a, GROUND_EQ, x, constant(g, list.items[i]));
    return expression_make(g->a, GROUND_OR, kids, (uint32_t)list.n);
}

static struct ground_node *in_property(struct grounder *g, const struct space_node *n, const int64_t *args,
                                       void *x)
{
    return any_equal(g, x, property_list(g, n, args));
}

/* lo <= x <= hi, and x is a whole number of steps above lo. */
static struct ground_node *in_range(struct grounder *g, struct ground_node *x, const struct space_node *n)
{
    struct ground_node *lo = ground_formula(g, kid(g, n, 0)), *hi = ground_formula(g, kid(g, n, 1));
    struct ground_node *inside =
        expression_binary(g->a, GROUND_AND, expression_binary(g->a, GROUND_LE, lo, x),
                          expression_binary(g->a, GROUND_LE, x, hi));
    if (n->n == 2) return inside;
    struct ground_node *step = ground_formula(g, kid(g, n, 2));
    struct ground_node *above =
        expression_binary(g->a, GROUND_ADD, x, expression_make(g->a, GROUND_NEG, &lo, 1));
    struct ground_node *whole =
        expression_binary(g->a, GROUND_EQ, expression_binary(g->a, GROUND_MOD, above, step), constant(g, 0));
    struct ground_node *positive = expression_binary(g->a, GROUND_LE, constant(g, 1), step);
    return expression_make(g->a, GROUND_AND, (struct ground_node *[]){inside, positive, whole}, 3);
}

/* x is an element of the list; elements and bounds may depend on choices. */
static struct ground_node *element_of(struct grounder *g, struct ground_node *x, int32_t node)
{
    const struct space_node *n = &g->s->def->nodes[node];
    bool list = n->op == SPACE_PROP && g->s->def->properties[n->a].list;
    if (list) return operate(g, n, true, in_property, x);
    if (n->op == SPACE_RANGE) return in_range(g, x, n);
    if (n->op != SPACE_LIST) return expression_binary(g->a, GROUND_EQ, x, ground_formula(g, node));
    struct ground_node **kids = ARENA_ARRAY(g->a, struct ground_node *, n->n + 1u);
    for (unsigned i = 0; i < n->n; i++)
        kids[i] = element_of(g, x, kid(g, n, i));
    return expression_make(g->a, GROUND_OR, kids, n->n);
}

static struct ground_node *object_in(struct grounder *g, struct ground_node *object, void *list)
{
    return element_of(g, object, *(const int32_t *)list);
}

static struct ground_node *ground_in(struct grounder *g, const struct space_node *n)
{
    int32_t x = kid(g, n, 0), list = kid(g, n, 1);
    if (ground_is_object(g, x)) return ground_object_test(g, x, object_in, &list);
    return element_of(g, ground_formula(g, x), list);
}

static struct ground_node *ground_equal(struct grounder *g, const struct space_node *n)
{
    int32_t x = kid(g, n, 0), y = kid(g, n, 1);
    if (ground_are_objects(g, x, y)) return ground_same_object(g, x, y);
    struct ground_node *left = ground_formula(g, x);
    return expression_binary(g->a, GROUND_EQ, left, ground_formula(g, y));
}

static struct ground_node *ground_binary(struct grounder *g, const struct space_node *n)
{
    static const uint8_t ops[] = {
        [SPACE_ADD] = GROUND_ADD, [SPACE_MUL] = GROUND_MUL, [SPACE_DIV] = GROUND_DIV,
        [SPACE_MOD] = GROUND_MOD, [SPACE_MIN] = GROUND_MIN, [SPACE_MAX] = GROUND_MAX,
        [SPACE_LE] = GROUND_LE,   [SPACE_LT] = GROUND_LE,   [SPACE_SUB] = GROUND_ADD};
    struct ground_node *x = ground_formula(g, kid(g, n, 0)), *y = ground_formula(g, kid(g, n, 1));
    if (n->op == SPACE_SUB) y = expression_make(g->a, GROUND_NEG, &y, 1);
    if (n->op == SPACE_LT) return expression_not(g->a, expression_binary(g->a, GROUND_LE, y, x));
    return expression_binary(g->a, ops[n->op], x, y);
}

/* ---- quantifiers and aggregates ---- */

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
static struct ground_node *logic_term(struct grounder *g, const struct space_node *n)
{
    struct ground_node *body = ground_formula(g, kid(g, n, 0));
    struct ground_node *live = ground_all_live(g, g->frame);
    if (n->op == SPACE_EXISTS) return expression_binary(g->a, GROUND_AND, live, body);
    return expression_binary(g->a, GROUND_OR, expression_not(g->a, live), body);
}

static struct ground_node *number_term(struct grounder *g, const struct space_node *n)
{
    struct ground_node *neutral = constant(g, neutral_value(n->op));
    struct ground_node *where = n->n > 1 ? ground_formula(g, kid(g, n, 1)) : constant(g, 1);
    if (where->op == GROUND_CONST && !where->imm) return neutral;
    struct ground_node *value = ground_formula(g, kid(g, n, 0));
    where = expression_binary(g->a, GROUND_AND, ground_all_live(g, g->frame), where);
    return expression_make(g->a, GROUND_ITE, (struct ground_node *[]){where, value, neutral}, 3);
}

static struct ground_node *ground_quantifier(struct grounder *g, const struct space_node *n,
                                             enum ground_op op, term_fn term)
{
    const struct space_domain *dom = &g->s->def->domains[n->a];
    struct data_list objects = ground_objects(g, dom);
    struct ground_node **kids = ARENA_ARRAY(g->a, struct ground_node *, objects.n + 1);
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
    if (!objects.n) return constant(g, op == GROUND_AND ? 1 : neutral_value(n->op));
    return expression_make(g->a, op, kids, (uint32_t)objects.n);
}

static struct ground_node *ground_define(struct grounder *g, int32_t node)
{
    const struct space_node *n = &g->s->def->nodes[node];
    const struct space_define *d = &g->s->def->defines[n->a];
    return d->object >= 0 ? ground_object(g, node) : operate(g, n, d->condition, ground_call, NULL);
}

static struct ground_node *ground_node(struct grounder *g, int32_t node)
{
    const struct space_node *n = &g->s->def->nodes[node];
    struct ground_node *x;
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
        return expression_not(g->a, ground_formula(g, kid(g, n, 0)));
    case SPACE_NEG:
        x = ground_formula(g, kid(g, n, 0));
        return expression_make(g->a, GROUND_NEG, &x, 1);
    case SPACE_EXISTS:
        return ground_quantifier(g, n, GROUND_OR, logic_term);
    case SPACE_FORALL:
        return ground_quantifier(g, n, GROUND_AND, logic_term);
    case SPACE_SUM:
        return ground_quantifier(g, n, GROUND_ADD, number_term);
    case SPACE_PRODUCT:
        return ground_quantifier(g, n, GROUND_MUL, number_term);
    case SPACE_MINOF:
        return ground_quantifier(g, n, GROUND_MIN, number_term);
    case SPACE_MAXOF:
        return ground_quantifier(g, n, GROUND_MAX, number_term);
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

struct ground_node *ground_formula(struct grounder *g, int32_t node)
{
    g->depth++;
    struct ground_node *x = ground_node(g, node);
    g->depth--;
    return x;
}

/* ---- what instantiation asks ---- */

static int compare_values(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

size_t ground_choice_values(struct space *s, const struct space_choice *c, const int64_t *args, int64_t *out,
                            size_t room, struct diag *d)
{
    struct grounder g = {.s = s, .a = arena_new(), .all_live = true};
    struct items list = {0};
    memcpy(g.env, args, c->arity * sizeof *args);
    ground_collect(&g, c->values, &list);
    if (list.n) qsort(list.at, list.n, sizeof *list.at, compare_values);
    size_t n = 0;
    for (size_t i = 0; i < list.n; i++) {
        if (n && out[n - 1] == list.at[i]) continue;
        if (n < room) out[n] = list.at[i];
        n++;
        if (n > room) break;
    }
    ground_report(&g, d);
    arena_free(g.a);
    return n;
}

bool ground_choice_where(struct space *s, const struct space_choice *c, const int64_t *args, struct diag *d)
{
    if (c->where < 0) return true;
    struct grounder g = {.s = s, .a = arena_new(), .all_live = true};
    memcpy(g.env, args, c->arity * sizeof *args);
    bool yes = ground_static(&g, c->where) > 0;
    ground_report(&g, d);
    arena_free(g.a);
    return yes;
}

struct data_list ground_domain(struct space *s, struct arena *a, const struct space_domain *dom,
                               const int64_t *env, struct diag *d)
{
    struct grounder g = {.s = s, .a = a, .all_live = true};
    memcpy(g.env, env, sizeof g.env);
    struct data_list objects = ground_objects(&g, dom);
    ground_report(&g, d);
    return objects;
}

/* Calls `visit` for every tuple of distinct objects of a `forall` prefix. */
void ground_each_tuple(struct grounder *g, int32_t domains, unsigned n, unsigned at,
                       void (*visit)(struct grounder *g, const void *what), const void *what)
{
    if (at == n) {
        visit(g, what);
        return;
    }
    const struct space_domain *doms = &g->s->def->domains[domains];
    struct data_list objects = ground_objects(g, &doms[at]);
    for (size_t i = 0; i < objects.n; i++) {
        bool distinct = true;
        for (unsigned k = 0; k < at && distinct; k++)
            distinct = doms[k].root != doms[at].root || g->env[k] != objects.items[i];
        if (!distinct) continue;
        g->env[at] = objects.items[i];
        ground_each_tuple(g, domains, n, at + 1, visit, what);
    }
}
