/* Constraints and triggers as instances. A constraint is grounded for every tuple of objects of its prefix,
 * and its conjunctions are taken apart:
 *
 *     require forall t in S: f(t) && g(t)      S = { p, q }      four clauses: f(p), g(p), f(q), g(q)
 *
 * clauses.c and shape.c make instances of these. A latent object is live if and only if one of the conditions
 * that activate it holds: that is an instance too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/space/ground/ground.h"

/* Objects that a trigger names, with their root sets. */
static void each_activated(struct grounder *g, const struct space_trigger *t,
                           void (*each)(struct grounder *g, int32_t root, int64_t object, void *ctx),
                           void *ctx)
{
    const struct space_node *list = &g->s->def->nodes[t->objects];
    for (unsigned i = 0; i < list->n; i++) {
        struct items objects = {0};
        ground_collect(g, ground_kid(g, list, i), &objects);
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

void ground_latent(struct space *s, struct diag *d)
{
    struct grounder g = {.s = s, .a = arena_new(), .all_live = true};
    for (int32_t i = 0; i < s->def->n_triggers; i++) {
        const struct space_trigger *t = &s->def->triggers[i];
        ground_each_tuple(&g, t->domains, t->n_vars, 0, visit_latent, t);
    }
    ground_report(&g, d);
    arena_free(g.a);
}

/* What was grounded holds for one tuple of objects. */
static void forget_calls(struct grounder *g)
{
    g->calls = g->static_calls = NULL;
    g->steps = NULL;
}

/* ---- triggers: live(o) <-> one of its conditions ---- */

struct conditions {
    struct expression ***terms; /* [latent] */
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
    struct expression *condition;
};

static void add_condition(struct grounder *g, int32_t root, int64_t object, void *ctx)
{
    const struct activation *act = ctx;
    struct conditions *out = act->visit->out;
    uint32_t latent = g->s->liveness[root][object] - g->s->n_slots;
    if (!out->n[latent]) out->trigger[latent] = act->visit->number;
    out->terms[latent] = arena_grow(out->arena, out->terms[latent], &out->cap[latent], out->n[latent] + 1,
                                    sizeof(struct expression *));
    out->terms[latent][out->n[latent]++] = act->condition;
}

static void visit_trigger(struct grounder *g, const void *what)
{
    const struct trigger_visit *v = what;
    struct frame frame = {0};
    g->frame = &frame;
    forget_calls(g);
    const struct space_domain *doms = &g->s->def->domains[v->trigger->domains];
    for (unsigned i = 0; i < v->trigger->n_vars; i++)
        ground_rely_on(g, ground_liveness_of(g->s, doms[i].root, g->env[i]));
    struct expression *when = ground_formula(g, v->trigger->when);
    struct activation act = {v, expression_binary(g->a, FORMULA_AND, ground_all_live(g, &frame), when)};
    each_activated(g, v->trigger, add_condition, &act);
    g->frame = NULL;
}

/* ---- objects that wait for themselves ---- */

struct waiting {
    const struct space *s;
    struct expression **conditions; /* [latent]: under which it is live */
    uint8_t *seen;                  /* [latent] */
    uint32_t circle;                /* one that waits for itself */
};

enum { UNSEEN, ON_PATH, SETTLED };

static bool is_settled(struct waiting *w, uint32_t latent);

/* Whether none of the objects that the formula reads leads back to the path. */
static bool reads_settled(struct waiting *w, struct expression *g)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < g->n && !g->settled; i++)
        ok = reads_settled(w, g->kids[i]);
    g->settled = ok;
    if (!ok || g->op != FORMULA_FUNC) return ok;
    if (g->slot >= w->s->n_slots) return is_settled(w, g->slot - w->s->n_slots);
    for (unsigned k = 0; ok && k < w->s->slots[g->slot].n_live; k++)
        ok = is_settled(w, w->s->origins[g->slot].live[k] - w->s->n_slots);
    return ok;
}

static bool is_settled(struct waiting *w, uint32_t latent)
{
    if (w->seen[latent] == ON_PATH) w->circle = latent;
    if (w->seen[latent] != UNSEEN) return w->seen[latent] == SETTLED;
    w->seen[latent] = ON_PATH;
    if (!reads_settled(w, w->conditions[latent])) return false;
    w->seen[latent] = SETTLED;
    return true;
}

/* Such objects could be live only because they are. */
static void check_waiting(struct space *s, struct arena *a, struct expression **conditions,
                          const uint32_t *triggers, struct diag *d)
{
    struct waiting w = {s, conditions, ARENA_ARRAY(a, uint8_t, s->n_latent + 1), 0};
    uint32_t i = 0;
    while (i < s->n_latent && is_settled(&w, i))
        i++;
    if (i == s->n_latent) return;
    const struct space_trigger *t = &s->def->triggers[triggers[w.circle] - (uint32_t)s->def->n_constraints];
    const struct space_set *set = &s->def->sets[s->latent_root[w.circle]];
    uint32_t object = s->latent_object[w.circle];
    char number[16];
    diag_line(d, t->file, t->line,
              "cyclic trigger: it activates object '%s' of '%s', and its condition depends on that object",
              data_object_text(s->data, set, object, number), set->name);
}

static void add_triggers(struct space *s, struct shape_pool *pool, struct diag *d)
{
    struct grounder g = {.s = s, .a = arena_new()};
    struct conditions out = {.arena = g.a};
    out.terms = ARENA_ARRAY(g.a, struct expression **, s->n_latent + 1);
    out.n = ARENA_ARRAY(g.a, size_t, s->n_latent + 1);
    out.cap = ARENA_ARRAY(g.a, size_t, s->n_latent + 1);
    out.trigger = ARENA_ARRAY(g.a, uint32_t, s->n_latent + 1);
    for (int32_t i = 0; i < s->def->n_triggers; i++) {
        struct trigger_visit v = {&s->def->triggers[i], (uint32_t)(s->def->n_constraints + i), &out};
        ground_each_tuple(&g, v.trigger->domains, v.trigger->n_vars, 0, visit_trigger, &v);
    }
    struct expression **any = ARENA_ARRAY(g.a, struct expression *, s->n_latent + 1);
    for (uint32_t i = 0; i < s->n_latent; i++) {
        any[i] = expression_make(g.a, FORMULA_OR, out.terms[i], (uint32_t)out.n[i]);
        struct expression *live = expression_func(g.a, s->n_slots + i, GROUND_LIVE_TABLE, 2);
        shape_add_instance(pool, expression_binary(g.a, FORMULA_EQ, live, any[i]), out.trigger[i], NULL, 0);
    }
    check_waiting(s, g.a, any, out.trigger, d);
    ground_report(&g, d);
    arena_free(g.a);
}

/* ---- constraints ---- */

struct constraint_visit {
    uint32_t number;
    struct clauses *clauses;
};

/* The conjuncts, each enforced only if the guards are live. */
static void add_clauses(struct grounder *g, const struct constraint_visit *v, struct expression *body,
                        const struct frame *guards)
{
    if (body->op == FORMULA_AND) {
        for (uint32_t i = 0; i < body->n; i++)
            add_clauses(g, v, body->kids[i], guards);
        return;
    }
    for (size_t i = 0; i < guards->n_conditions; i++)
        body = expression_binary(g->a, FORMULA_OR, expression_not(g->a, guards->conditions[i]), body);
    if (body->op == FORMULA_CONST && body->imm) return;
    clauses_add(v->clauses, body, guards->items, guards->n);
}

static void visit_constraint(struct grounder *g, const void *what)
{
    const struct constraint_visit *v = what;
    const struct space_constraint *c = &g->s->def->constraints[v->number];
    struct arena *outer = g->a;
    g->a = arena_new();
    forget_calls(g);
    struct frame frame = {0};
    g->frame = &frame;
    const struct space_domain *doms = &g->s->def->domains[c->domains];
    for (unsigned i = 0; i < c->n_vars; i++)
        ground_rely_on(g, ground_liveness_of(g->s, doms[i].root, g->env[i]));
    struct expression *body = ground_formula(g, c->body);
    if (!ground_failed(g)) add_clauses(g, v, body, &frame);
    g->frame = NULL;
    forget_calls(g);
    arena_free(g->a);
    g->a = outer;
}

void ground_rules(struct space *s, struct diag *d)
{
    struct shape_pool *pool = shape_pool_new(s);
    struct grounder g = {.s = s, .a = arena_new()};
    add_triggers(s, pool, d);
    for (int32_t i = 0; i < s->def->n_constraints; i++) {
        const struct space_constraint *c = &s->def->constraints[i];
        struct constraint_visit v = {(uint32_t)i, clauses_new(pool, (uint32_t)i)};
        if (ground_triangle_choice(s, c) < 0)
            ground_each_tuple(&g, c->domains, c->n_vars, 0, visit_constraint, &v);
        clauses_finish(v.clauses);
    }
    ground_report(&g, d);
    arena_free(g.a);
    shape_pool_free(pool);
}
