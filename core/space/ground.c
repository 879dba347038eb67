/* Instantiates formulas: runs over the objects of every quantifier, replaces properties and parameters by
 * their values and choices by slots, and hands what is left to shape.c as instances.
 *
 * Latent objects. A frame lists the liveness slots that the formula at hand relies on. The outermost frame
 * becomes the guards of the instance. Each term of an `exists` or an aggregate has a frame of its own, and
 * becomes `live && term`: it does not count until its objects are live, and no longer when one is dead. */
#include <stdlib.h>
#include <string.h>

#include "core/base/panic.h"
#include "core/space/internal.h"

struct frame {
    uint32_t *items;
    size_t n, cap;
    const struct frame *outer;
};

struct grounder {
    struct space *s;
    struct arena *a;
    int64_t env[SPACE_MAX_VARS];
    struct frame *frame; /* innermost; NULL: liveness is not wanted */
};

typedef struct ground_node *(*term_fn)(struct grounder *g, const struct space_node *n);

static struct ground_node *ground(struct grounder *g, int32_t node);

static const int64_t DEAD_OR_LIVE[2] = {0, 1};

static struct ground_node *constant(struct grounder *g, int64_t value)
{
    return expression_const(g->a, value);
}

static int32_t kid(const struct grounder *g, const struct space_node *n, unsigned i)
{
    return g->s->def->kids[n->first + (int32_t)i];
}

static int64_t static_value(struct grounder *g, int32_t node)
{
    const struct space_node *n = &g->s->def->nodes[node];
    if (n->op == SPACE_VAR) return g->env[n->a];
    if (n->op == SPACE_CONST) return n->imm;
    const struct ground_node *v = ground(g, node);
    return v->op == GROUND_CONST ? v->imm : -1;
}

/* Values of the operands, as arguments of a property. false: one of them is no object. */
static bool property_args(struct grounder *g, const struct space_node *n, uint32_t *args)
{
    for (unsigned i = 0; i < n->n; i++) {
        int64_t x = static_value(g, kid(g, n, i));
        if (x < 0) return false;
        args[i] = (uint32_t)x;
    }
    return true;
}

static struct ground_node *ground_property(struct grounder *g, const struct space_node *n)
{
    uint32_t args[SPACE_MAX_ARITY];
    int64_t none = g->s->def->properties[n->a].object >= 0 ? -1 : 0;
    if (!property_args(g, n, args)) return constant(g, none);
    return constant(g, data_table_int(g->s->properties[n->a], args, n->n, none));
}

/* ---- lists and domains ---- */

struct items {
    int64_t *at;
    size_t n, cap;
};

static void add_item(struct grounder *g, struct items *list, int64_t x)
{
    list->at = arena_grow(g->a, list->at, &list->cap, list->n + 1, sizeof *list->at);
    list->at[list->n++] = x;
}

static void collect_range(struct grounder *g, const struct space_node *n, struct items *out)
{
    int64_t lo = static_value(g, kid(g, n, 0)), hi = static_value(g, kid(g, n, 1));
    int64_t step = n->n > 2 ? static_value(g, kid(g, n, 2)) : 1;
    for (int64_t x = lo; x <= hi && step > 0 && out->n <= SPACE_MAX_VALUES; x = expression_add(x, step))
        add_item(g, out, x);
}

static void collect(struct grounder *g, int32_t node, struct items *out)
{
    const struct space_node *n = &g->s->def->nodes[node];
    if (n->op == SPACE_LIST) {
        for (unsigned i = 0; i < n->n; i++)
            collect(g, kid(g, n, i), out);
    } else if (n->op == SPACE_RANGE) {
        collect_range(g, n, out);
    } else if (n->op == SPACE_PROP && g->s->def->properties[n->a].list) {
        uint32_t args[SPACE_MAX_ARITY];
        if (!property_args(g, n, args)) return;
        struct data_list list = data_table_list(g->s->properties[n->a], args, n->n);
        for (size_t i = 0; i < list.n; i++)
            add_item(g, out, list.items[i]);
    } else {
        add_item(g, out, static_value(g, node));
    }
}

static struct data_list domain_objects(struct grounder *g, const struct space_domain *dom)
{
    if (dom->list >= 0) {
        struct items list = {0};
        collect(g, dom->list, &list);
        return (struct data_list){list.at, list.n};
    }
    if (dom->arg >= 0) {
        int64_t of = static_value(g, dom->arg);
        return of < 0 ? (struct data_list){0}
                      : data_table_list(g->s->set_tables[dom->set], &(uint32_t){(uint32_t)of}, 1);
    }
    return (struct data_list){g->s->sets[dom->set].ids, g->s->sets[dom->set].n};
}

static bool in_domain(struct grounder *g, const struct space_domain *dom, int64_t object)
{
    struct data_list list = domain_objects(g, dom);
    for (size_t i = 0; i < list.n; i++)
        if (list.items[i] == object) return true;
    return false;
}

/* ---- liveness ---- */

static uint32_t liveness_of(const struct space *s, int32_t root, int64_t object)
{
    return object >= 0 && object < s->root_sizes[root] && s->liveness[root] ? s->liveness[root][object]
                                                                            : SPACE_NONE;
}

/* Notes that the formula relies on a latent object, unless a frame around it has done so. */
static void rely_on(struct grounder *g, uint32_t live)
{
    if (live == SPACE_NONE || !g->frame) return;
    for (const struct frame *f = g->frame; f; f = f->outer)
        for (size_t i = 0; i < f->n; i++)
            if (f->items[i] == live) return;
    struct frame *f = g->frame;
    f->items = arena_grow(g->a, f->items, &f->cap, f->n + 1, sizeof *f->items);
    f->items[f->n++] = live;
}

static struct ground_node *all_live(struct grounder *g, const struct frame *f)
{
    struct ground_node **kids = ARENA_ARRAY(g->a, struct ground_node *, f->n + 1);
    for (size_t i = 0; i < f->n; i++)
        kids[i] = expression_func(g->a, f->items[i], DEAD_OR_LIVE, 2);
    return expression_make(g->a, GROUND_AND, kids, (uint32_t)f->n);
}

/* ---- choices ---- */

static uint32_t slot_of(const struct space *s, int32_t choice, const int64_t *args, unsigned n)
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

/* The slot of a choice node; *mirrored: its arguments are in the other order. */
static uint32_t choice_slot(struct grounder *g, const struct space_node *n, bool *mirrored)
{
    int64_t args[SPACE_MAX_ARITY] = {0};
    for (unsigned i = 0; i < n->n; i++)
        args[i] = static_value(g, kid(g, n, i));
    const struct space_choice *c = &g->s->def->choices[n->a];
    *mirrored = c->pairing != SPACE_PLAIN && args[0] > args[1];
    uint32_t slot = slot_of(g->s, n->a, args, n->n);
    if (slot == SPACE_NONE) return slot;
    const struct slot_info *info = &g->s->slots[slot];
    for (unsigned i = 0; i < info->n_live; i++)
        rely_on(g, info->live[i]);
    return slot;
}

static struct ground_node *ground_choice(struct grounder *g, const struct space_node *n)
{
    bool mirrored;
    uint32_t slot = choice_slot(g, n, &mirrored);
    if (slot == SPACE_NONE) return constant(g, 0);
    const struct universe *u = &g->s->universes[g->s->slots[slot].universe];
    return expression_func(g->a, slot, mirrored ? g->s->choices[n->a].mirror_codes : u->codes, u->n);
}

static struct ground_node *ground_is(struct grounder *g, const struct space_node *n)
{
    bool mirrored;
    uint32_t slot = choice_slot(g, n, &mirrored);
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
    struct ground_node *x = ground(g, kid(g, n, 0));
    if (x->op == GROUND_CONST && (x->imm != 0) == stop) return x;
    return expression_binary(g->a, n->op == SPACE_AND ? GROUND_AND : GROUND_OR, x, ground(g, kid(g, n, 1)));
}

static struct ground_node *ground_implication(struct grounder *g, const struct space_node *n)
{
    struct ground_node *x = ground(g, kid(g, n, 0));
    if (x->op == GROUND_CONST && !x->imm) return constant(g, 1);
    return expression_binary(g->a, GROUND_OR, expression_not(g->a, x), ground(g, kid(g, n, 1)));
}

static struct ground_node *ground_ite(struct grounder *g, const struct space_node *n)
{
    struct ground_node *c = ground(g, kid(g, n, 0));
    if (c->op == GROUND_CONST) return ground(g, kid(g, n, c->imm ? 1 : 2));
    struct ground_node *kids[3] = {c, ground(g, kid(g, n, 1)), ground(g, kid(g, n, 2))};
    return expression_make(g->a, GROUND_ITE, kids, 3);
}

static struct ground_node *ground_in(struct grounder *g, const struct space_node *n)
{
    struct ground_node *x = ground(g, kid(g, n, 0));
    struct items list = {0};
    collect(g, kid(g, n, 1), &list);
    struct ground_node **kids = ARENA_ARRAY(g->a, struct ground_node *, list.n + 1);
    for (size_t i = 0; i < list.n; i++)
        kids[i] = expression_binary(g->a, GROUND_EQ, x, constant(g, list.at[i]));
    return expression_make(g->a, GROUND_OR, kids, (uint32_t)list.n);
}

static struct ground_node *ground_binary(struct grounder *g, const struct space_node *n)
{
    static const uint8_t ops[] = {
        [SPACE_ADD] = GROUND_ADD, [SPACE_MUL] = GROUND_MUL, [SPACE_DIV] = GROUND_DIV,
        [SPACE_MOD] = GROUND_MOD, [SPACE_MIN] = GROUND_MIN, [SPACE_MAX] = GROUND_MAX,
        [SPACE_EQ] = GROUND_EQ,   [SPACE_NE] = GROUND_EQ,   [SPACE_LE] = GROUND_LE,
        [SPACE_LT] = GROUND_LE,   [SPACE_SUB] = GROUND_ADD};
    struct ground_node *x = ground(g, kid(g, n, 0)), *y = ground(g, kid(g, n, 1));
    if (n->op == SPACE_SUB) y = expression_make(g->a, GROUND_NEG, &y, 1);
    if (n->op == SPACE_LT) return expression_not(g->a, expression_binary(g->a, GROUND_LE, y, x));
    struct ground_node *r = expression_binary(g->a, ops[n->op], x, y);
    return n->op == SPACE_NE ? expression_not(g->a, r) : r;
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
    struct ground_node *body = ground(g, kid(g, n, 0));
    struct ground_node *live = all_live(g, g->frame);
    if (n->op == SPACE_EXISTS) return expression_binary(g->a, GROUND_AND, live, body);
    return expression_binary(g->a, GROUND_OR, expression_not(g->a, live), body);
}

static struct ground_node *number_term(struct grounder *g, const struct space_node *n)
{
    struct ground_node *neutral = constant(g, neutral_value(n->op));
    struct ground_node *where = n->n > 1 ? ground(g, kid(g, n, 1)) : constant(g, 1);
    if (where->op == GROUND_CONST && !where->imm) return neutral;
    struct ground_node *value = ground(g, kid(g, n, 0));
    where = expression_binary(g->a, GROUND_AND, all_live(g, g->frame), where);
    return expression_make(g->a, GROUND_ITE, (struct ground_node *[]){where, value, neutral}, 3);
}

static struct ground_node *ground_quantifier(struct grounder *g, const struct space_node *n,
                                             enum ground_op op, term_fn term)
{
    const struct space_domain *dom = &g->s->def->domains[n->a];
    struct data_list objects = domain_objects(g, dom);
    struct ground_node **kids = ARENA_ARRAY(g->a, struct ground_node *, objects.n + 1);
    struct frame *outer = g->frame;
    for (size_t i = 0; i < objects.n; i++) {
        struct frame mine = {.outer = outer};
        g->env[n->imm] = objects.items[i];
        if (outer) g->frame = &mine;
        rely_on(g, liveness_of(g->s, dom->root, objects.items[i]));
        struct frame none = {0};
        if (!outer) g->frame = &none;
        kids[i] = term(g, n);
        g->frame = outer;
    }
    if (!objects.n) return constant(g, op == GROUND_AND ? 1 : neutral_value(n->op));
    return expression_make(g->a, op, kids, (uint32_t)objects.n);
}

/* A recursive definition: its body with the arguments as its first variables. It ends because the instance
 * was checked (data_check). */
static struct ground_node *ground_define(struct grounder *g, const struct space_node *n)
{
    const struct space_define *d = &g->s->def->defines[n->a];
    int64_t args[SPACE_MAX_ARITY], outer[SPACE_MAX_VARS];
    for (unsigned i = 0; i < n->n; i++) {
        args[i] = static_value(g, kid(g, n, i));
        if (args[i] < 0) return constant(g, d->object ? -1 : 0);
    }
    memcpy(outer, g->env, sizeof outer);
    memcpy(g->env, args, n->n * sizeof *args);
    struct ground_node *x = ground(g, d->body);
    memcpy(g->env, outer, sizeof outer);
    return x;
}

static struct ground_node *ground(struct grounder *g, int32_t node)
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
        return ground_property(g, n);
    case SPACE_CHOICE:
        return ground_choice(g, n);
    case SPACE_IS:
        return ground_is(g, n);
    case SPACE_IN:
        return ground_in(g, n);
    case SPACE_IN_SET:
        return constant(g, in_domain(g, &g->s->def->domains[n->a], static_value(g, kid(g, n, 0))));
    case SPACE_AND:
    case SPACE_OR:
        return ground_and_or(g, n);
    case SPACE_IMP:
        return ground_implication(g, n);
    case SPACE_ITE:
        return ground_ite(g, n);
    case SPACE_NOT:
        return expression_not(g->a, ground(g, kid(g, n, 0)));
    case SPACE_NEG:
        x = ground(g, kid(g, n, 0));
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
        return ground_define(g, n);
    case SPACE_LIST:
    case SPACE_RANGE:
        PANIC("a list is no value");
    default:
        return ground_binary(g, n);
    }
}

/* ---- what instantiation asks ---- */

static int compare_values(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

size_t ground_choice_values(struct space *s, const struct space_choice *c, const int64_t *args, int64_t *out,
                            size_t room)
{
    struct grounder g = {.s = s, .a = arena_new()};
    struct items list = {0};
    memcpy(g.env, args, c->arity * sizeof *args);
    collect(&g, c->values, &list);
    if (list.n) qsort(list.at, list.n, sizeof *list.at, compare_values);
    size_t n = 0;
    for (size_t i = 0; i < list.n; i++) {
        if (n && out[n - 1] == list.at[i]) continue;
        if (n < room) out[n] = list.at[i];
        n++;
        if (n > room) break;
    }
    arena_free(g.a);
    return n;
}

bool ground_choice_where(struct space *s, const struct space_choice *c, const int64_t *args)
{
    if (c->where < 0) return true;
    struct grounder g = {.s = s, .a = arena_new()};
    memcpy(g.env, args, c->arity * sizeof *args);
    bool yes = static_value(&g, c->where) > 0;
    arena_free(g.a);
    return yes;
}

struct data_list ground_domain(struct space *s, struct arena *a, const struct space_domain *dom,
                               const int64_t *env)
{
    struct grounder g = {.s = s, .a = a};
    memcpy(g.env, env, sizeof g.env);
    return domain_objects(&g, dom);
}

/* Calls `visit` for every tuple of distinct objects of a `forall` prefix. */
static void each_tuple(struct grounder *g, int32_t domains, unsigned n, unsigned at,
                       void (*visit)(struct grounder *g, const void *what), const void *what)
{
    if (at == n) {
        visit(g, what);
        return;
    }
    const struct space_domain *doms = &g->s->def->domains[domains];
    struct data_list objects = domain_objects(g, &doms[at]);
    for (size_t i = 0; i < objects.n; i++) {
        bool distinct = true;
        for (unsigned k = 0; k < at && distinct; k++)
            distinct = doms[k].root != doms[at].root || g->env[k] != objects.items[i];
        if (!distinct) continue;
        g->env[at] = objects.items[i];
        each_tuple(g, domains, n, at + 1, visit, what);
    }
}

/* Objects that a trigger names, with their root sets. */
static void each_activated(struct grounder *g, const struct space_trigger *t,
                           void (*each)(struct grounder *g, int32_t root, int64_t object, void *ctx),
                           void *ctx)
{
    const struct space_node *list = &g->s->def->nodes[t->objects];
    for (unsigned i = 0; i < list->n; i++) {
        struct items objects = {0};
        collect(g, kid(g, list, i), &objects);
        for (size_t k = 0; k < objects.n; k++)
            if (objects.at[k] >= 0 && objects.at[k] < g->s->root_sizes[t->roots[i]])
                each(g, t->roots[i], objects.at[k], ctx);
    }
}

static void make_latent(struct grounder *g, int32_t root, int64_t object, void *ctx)
{
    struct space *s = g->s;
    (void)ctx;
    if (!s->liveness[root]) {
        size_t n = (size_t)s->root_sizes[root];
        s->liveness[root] = ARENA_ARRAY(s->arena, uint32_t, n + 1);
        memset(s->liveness[root], 0xff, n * sizeof(uint32_t));
    }
    if (s->liveness[root][object] != SPACE_NONE) return;
    size_t cap = s->cap_latent;
    s->latent_root = arena_grow(s->arena, s->latent_root, &cap, s->n_latent + 1, sizeof(uint32_t));
    s->latent_object =
        arena_grow(s->arena, s->latent_object, &s->cap_latent, s->n_latent + 1, sizeof(uint32_t));
    s->latent_root[s->n_latent] = (uint32_t)root;
    s->latent_object[s->n_latent] = (uint32_t)object;
    s->liveness[root][object] = s->n_latent++;
}

static void visit_latent(struct grounder *g, const void *what)
{
    each_activated(g, what, make_latent, NULL);
}

void ground_latent(struct space *s)
{
    struct grounder g = {.s = s, .a = arena_new()};
    for (int32_t i = 0; i < s->def->n_triggers; i++) {
        const struct space_trigger *t = &s->def->triggers[i];
        each_tuple(&g, t->domains, t->n_vars, 0, visit_latent, t);
    }
    arena_free(g.a);
}

/* ---- triggers: live(o) <-> one of its conditions ---- */

struct conditions {
    struct ground_node ***terms; /* [latent] */
    size_t *n, *cap;
    uint32_t *trigger; /* [latent]: the first */
    struct arena *arena;
};

struct trigger_visit {
    const struct space_trigger *trigger;
    uint32_t number;
    struct conditions *out;
};

struct activation {
    const struct trigger_visit *visit;
    struct ground_node *condition;
};

static void add_condition(struct grounder *g, int32_t root, int64_t object, void *ctx)
{
    const struct activation *act = ctx;
    struct conditions *out = act->visit->out;
    uint32_t latent = g->s->liveness[root][object] - g->s->n_slots;
    if (!out->n[latent]) out->trigger[latent] = act->visit->number;
    out->terms[latent] = arena_grow(out->arena, out->terms[latent], &out->cap[latent], out->n[latent] + 1,
                                    sizeof(struct ground_node *));
    out->terms[latent][out->n[latent]++] = act->condition;
}

static void visit_trigger(struct grounder *g, const void *what)
{
    const struct trigger_visit *v = what;
    struct frame frame = {0};
    g->frame = &frame;
    const struct space_domain *doms = &g->s->def->domains[v->trigger->domains];
    for (unsigned i = 0; i < v->trigger->n_vars; i++)
        rely_on(g, liveness_of(g->s, doms[i].root, g->env[i]));
    struct ground_node *when = ground(g, v->trigger->when);
    struct activation act = {v, expression_binary(g->a, GROUND_AND, all_live(g, &frame), when)};
    each_activated(g, v->trigger, add_condition, &act);
    g->frame = NULL;
}

static void add_triggers(struct space *s, struct shape_pool *pool)
{
    struct grounder g = {.s = s, .a = arena_new()};
    struct conditions out = {.arena = g.a};
    out.terms = ARENA_ARRAY(g.a, struct ground_node **, s->n_latent + 1);
    out.n = ARENA_ARRAY(g.a, size_t, s->n_latent + 1);
    out.cap = ARENA_ARRAY(g.a, size_t, s->n_latent + 1);
    out.trigger = ARENA_ARRAY(g.a, uint32_t, s->n_latent + 1);
    for (int32_t i = 0; i < s->def->n_triggers; i++) {
        struct trigger_visit v = {&s->def->triggers[i], (uint32_t)(s->def->n_constraints + i), &out};
        each_tuple(&g, v.trigger->domains, v.trigger->n_vars, 0, visit_trigger, &v);
    }
    for (uint32_t i = 0; i < s->n_latent; i++) {
        struct ground_node *any = expression_make(g.a, GROUND_OR, out.terms[i], (uint32_t)out.n[i]);
        struct ground_node *live = expression_func(g.a, s->n_slots + i, DEAD_OR_LIVE, 2);
        shape_add_instance(pool, expression_binary(g.a, GROUND_EQ, live, any), out.trigger[i], NULL, 0);
    }
    arena_free(g.a);
}

/* ---- constraints ---- */

struct constraint_visit {
    uint32_t number;
    struct shape_pool *pool;
};

static void add_clauses(const struct constraint_visit *v, const struct ground_node *body,
                        const struct frame *guards)
{
    if (body->op == GROUND_AND) {
        for (uint32_t i = 0; i < body->n; i++)
            add_clauses(v, body->kids[i], guards);
        return;
    }
    if (body->op == GROUND_CONST && body->imm) return;
    shape_add_instance(v->pool, body, v->number, guards->items, (uint32_t)guards->n);
}

static void visit_constraint(struct grounder *g, const void *what)
{
    const struct constraint_visit *v = what;
    const struct space_constraint *c = &g->s->def->constraints[v->number];
    struct arena *outer = g->a;
    g->a = arena_new();
    struct frame frame = {0};
    g->frame = &frame;
    const struct space_domain *doms = &g->s->def->domains[c->domains];
    for (unsigned i = 0; i < c->n_vars; i++)
        rely_on(g, liveness_of(g->s, doms[i].root, g->env[i]));
    add_clauses(v, ground(g, c->body), &frame);
    g->frame = NULL;
    arena_free(g->a);
    g->a = outer;
}

/* ---- triangles: constraints over three objects of a set and one pair choice ---- */

static bool only_pair_choice(const struct space *s, int32_t node, int32_t *choice)
{
    const struct space_node *n = &s->def->nodes[node];
    if (n->op == SPACE_CONST || n->op == SPACE_PARAM) return true;
    if (n->op == SPACE_IS || n->op == SPACE_CHOICE) {
        if (*choice >= 0 && *choice != n->a) return false;
        *choice = n->a;
        for (unsigned i = 0; i < n->n; i++)
            if (s->def->nodes[s->def->kids[n->first + (int32_t)i]].op != SPACE_VAR) return false;
        return true;
    }
    bool plain = (n->op >= SPACE_ADD && n->op <= SPACE_ITE);
    for (unsigned i = 0; i < n->n && plain; i++)
        plain = only_pair_choice(s, s->def->kids[n->first + (int32_t)i], choice);
    return plain && n->op != SPACE_VAR;
}

/* The pair choice of a triangle constraint, or -1. */
static int32_t triangle_choice(const struct space *s, const struct space_constraint *c)
{
    enum { MAX_SQUARE_VALUES = 8 };
    int32_t choice = -1;
    if (c->n_vars != 3 || !only_pair_choice(s, c->body, &choice) || choice < 0) return -1;
    const struct space_choice *pair = &s->def->choices[choice];
    if (pair->pairing == SPACE_PLAIN || pair->n_values > MAX_SQUARE_VALUES || pair->where >= 0) return -1;
    const struct space_domain *doms = &s->def->domains[c->domains];
    for (unsigned i = 0; i < 3; i++)
        if (doms[i].set != pair->args[0].set || doms[i].arg >= 0) return -1;
    return s->sets[pair->args[0].set].n >= 3 ? choice : -1;
}

/* Forbids in allowed[ab][bc][ac] what some order of the objects x[0..2] rules out. */
static void forbid(struct space *s, struct grounder *g, const struct space_constraint *c, const int64_t *x,
                   unsigned n, bool *allowed)
{
    static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (unsigned o = 0; o < 6; o++) {
        for (unsigned i = 0; i < 3; i++)
            g->env[i] = x[orders[o][i]];
        struct ground_node *e = ground(g, c->body);
        int32_t choice = triangle_choice(s, c);
        uint32_t slots[3] = {slot_of(s, choice, (int64_t[]){x[0], x[1]}, 2),
                             slot_of(s, choice, (int64_t[]){x[1], x[2]}, 2),
                             slot_of(s, choice, (int64_t[]){x[0], x[2]}, 2)};
        for (uint32_t v = 0; v < n * n * n; v++)
            if (!expression_value(e, slots, (uint32_t[]){v / n / n, v / n % n, v % n}, 3)) allowed[v] = false;
    }
}

static const uint8_t *compose_table(struct arena *a, const bool *allowed, unsigned n)
{
    uint8_t *t = ARENA_ARRAY(a, uint8_t, 256 * 256);
    for (unsigned x = 0; x < 1u << n; x++) {
        for (unsigned y = 0; y < 1u << n; y++) {
            unsigned mask = 0;
            for (unsigned v = 0; v < n * n * n; v++)
                if (allowed[v] && x >> v / n / n & 1 && y >> v / n % n & 1) mask |= 1u << v % n;
            t[x * 256 + y] = (uint8_t)mask;
        }
    }
    return t;
}

static void add_square(struct space *s, int32_t choice, uint32_t first)
{
    const struct space_choice *c = &s->def->choices[choice];
    struct square *sq = &s->squares[s->n_squares++];
    struct grounder g = {.s = s, .a = arena_new()};
    unsigned n = c->n_values;
    bool *allowed = ARENA_ARRAY(g.a, bool, n *n *n);
    memset(allowed, 1, n * n * n);
    for (int32_t i = 0; i < s->def->n_constraints; i++)
        if (triangle_choice(s, &s->def->constraints[i]) == choice)
            forbid(s, &g, &s->def->constraints[i], s->sets[c->args[0].set].ids, n, allowed);
    sq->compose = compose_table(s->arena, allowed, n);
    sq->constraint = first;
    for (unsigned m = 0; m < 256; m++)
        for (unsigned v = 0; v < n; v++)
            if (m >> v & 1) sq->mirror[m] |= (uint8_t)(1u << c->mirror[v]);
    const struct set_members *set = &s->sets[c->args[0].set];
    sq->n = (uint32_t)set->n;
    uint32_t *slots = ARENA_ARRAY(s->arena, uint32_t, set->n * set->n),
             *live = ARENA_ARRAY(s->arena, uint32_t, set->n);
    for (size_t i = 0; i < set->n; i++) {
        live[i] = liveness_of(s, c->args[0].root, set->ids[i]);
        for (size_t k = 0; k < set->n; k++)
            slots[i * set->n + k] =
                i == k ? SPACE_NONE : slot_of(s, choice, (int64_t[]){set->ids[i], set->ids[k]}, 2);
    }
    for (size_t i = 0; i < set->n * set->n; i++)
        if (slots[i] != SPACE_NONE) s->slots[slots[i]].square = (int16_t)(s->n_squares - 1);
    sq->slots = slots;
    sq->liveness = live;
    arena_free(g.a);
}

static bool has_square(const struct space *s, int32_t choice)
{
    for (int32_t i = 0; i < s->def->n_constraints; i++)
        if (triangle_choice(s, &s->def->constraints[i]) == choice) return true;
    return false;
}

static void add_squares(struct space *s)
{
    s->squares = ARENA_ARRAY(s->arena, struct square, s->def->n_choices + 1);
    for (int32_t c = 0; c < s->def->n_choices; c++) {
        if (!has_square(s, c)) continue;
        uint32_t first = 0;
        while (triangle_choice(s, &s->def->constraints[first]) != c)
            first++;
        add_square(s, c, first);
    }
}

void ground_all(struct space *s)
{
    struct shape_pool *pool = shape_pool_new(s);
    struct grounder g = {.s = s, .a = arena_new()};
    add_squares(s);
    add_triggers(s, pool);
    for (int32_t i = 0; i < s->def->n_constraints; i++) {
        const struct space_constraint *c = &s->def->constraints[i];
        struct constraint_visit v = {(uint32_t)i, pool};
        if (triangle_choice(s, c) < 0) each_tuple(&g, c->domains, c->n_vars, 0, visit_constraint, &v);
    }
    arena_free(g.a);
    shape_pool_free(pool);
}
