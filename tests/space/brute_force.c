/* What a space promises, compared with all assignments: solutions, soundness of the root, commuting actions,
 * exact rollback, counting. */
#include "tests/space/brute_force.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/space/count.h"
#include "spacedsl/model.h"
#include "tests/space/fixpoint.h"

/* Runs over the tuples of a prefix; returns whether `visit` held for all. */
static bool brute_forall(struct brute *b, int32_t domains, int n, int at,
                         bool (*visit)(struct brute *b, const void *what), const void *what)
{
    if (at == n) return visit(b, what);
    const struct space_domain *doms = &b->def->domains[domains];
    for (int64_t o = 0; o < BRUTE_OBJECTS; o++) {
        bool distinct = true;
        for (int k = 0; k < at; k++)
            distinct = distinct && (doms[k].root != doms[at].root || b->env[k] != o);
        if (!distinct || !brute_in_domain(b, &doms[at], o)) continue;
        b->env[at] = o;
        if (!brute_forall(b, domains, n, at + 1, visit, what)) return false;
    }
    return true;
}

static bool brute_constraint(struct brute *b, const void *what)
{
    const struct space_constraint *c = what;
    b->dead = false;
    for (int i = 0; i < c->n_vars; i++)
        b->dead = b->dead || brute_is_dead(b, b->def->domains[c->domains + i].root, b->env[i]);
    bool holds = brute_value(b, c->body) != 0;
    return b->dead || holds;
}

static void brute_mark(struct brute *b, const struct space_trigger *t, bool marks[BRUTE_SETS][BRUTE_OBJECTS])
{
    const struct space_node *list = &b->def->nodes[t->objects];
    for (int i = 0; i < list->n; i++) {
        const struct space_node *o = &b->def->nodes[brute_kid(b, list, i)];
        struct data_list l = brute_list(b, o);
        for (size_t k = 0; k < l.n; k++)
            marks[t->roots[i]][l.items[k]] = true;
        if (b->def->properties[o->a].list) continue;
        int64_t one = brute_value(b, brute_kid(b, list, i));
        if (one >= 0) marks[t->roots[i]][one] = true;
    }
}

static bool brute_latent(struct brute *b, const void *what)
{
    brute_mark(b, what, b->latent);
    return true;
}

static bool brute_trigger(struct brute *b, const void *what)
{
    const struct space_trigger *t = what;
    b->dead = false;
    for (int i = 0; i < t->n_vars; i++)
        b->dead = b->dead || brute_is_dead(b, b->def->domains[t->domains + i].root, b->env[i]);
    bool fires = brute_value(b, t->when) && !b->dead;
    if (fires) brute_mark(b, t, b->live);
    return true;
}

static void brute_each_trigger(struct brute *b, bool (*visit)(struct brute *b, const void *what))
{
    for (int32_t i = 0; i < b->def->n_triggers; i++)
        brute_forall(b, b->def->triggers[i].domains, b->def->triggers[i].n_vars, 0, visit,
                     &b->def->triggers[i]);
}

static bool brute_slot_live(const struct brute *b, uint32_t slot)
{
    const struct space_choice *c = &b->def->choices[space_slot_group(b->space, slot)];
    for (unsigned i = 0; i < space_slot_arity(b->space, slot); i++) {
        const char *name = space_slot_argument(b->space, slot, i);
        int64_t id = space_data_find(b->data, b->def->sets[c->args[i].root].name, name);
        if (brute_is_dead(b, c->args[i].root, id)) return false;
    }
    return true;
}

/* Whether the assignment is a solution; choices that are not live must have their first value, so each counts
 * once. */
static bool brute_solution(struct brute *b)
{
    memset(b->live, 0, sizeof b->live);
    for (int round = 0; round < 3; round++)
        brute_each_trigger(b, brute_trigger);
    for (uint32_t i = 0; i < space_slot_count(b->space); i++)
        if (b->values[i] && !brute_slot_live(b, i)) return false;
    for (int32_t i = 0; i < b->def->n_constraints; i++) {
        const struct space_constraint *c = &b->def->constraints[i];
        if (!brute_forall(b, c->domains, c->n_vars, 0, brute_constraint, c)) return false;
    }
    return true;
}

static bool brute_next(struct brute *b)
{
    for (uint32_t i = 0; i < space_slot_count(b->space); i++) {
        if (++b->values[i] < space_universe(b->space, i)) return true;
        b->values[i] = 0;
    }
    return false;
}

static uint64_t brute_leaves(struct space_state *st)
{
    uint32_t slot = space_next_choice(st, NULL, 0), values[BRUTE_VALUES];
    if (slot == UINT32_MAX) return 1;
    size_t bytes = space_vector_bytes(space_of(st));
    uint8_t *before = malloc(bytes + 1), *after = malloc(bytes + 1);
    uint64_t total = 0;
    uint32_t n = space_values(st, slot, values);
    space_canonical(st, before);
    for (uint32_t i = 0; i < n; i++) {
        space_mark m = space_snapshot(st);
        if (space_apply(st, (struct space_action){slot, values[i]}, NULL)) total += brute_leaves(st);
        space_rollback(st, m);
        space_canonical(st, after);
        cr_assert(!memcmp(before, after, bytes), "rollback is not exact");
    }
    free(before);
    free(after);
    return total;
}

/* A random descent, then the same actions in another order: the vectors must be equal. */
static void brute_orders(struct brute *b, const struct space_state *root)
{
    struct space_state *one = space_state_clone(root), *two = space_state_clone(root);
    struct space_action taken[BRUTE_SLOTS];
    uint32_t n = 0, values[BRUTE_VALUES];
    for (uint32_t tries = 0; tries < 2 * BRUTE_SLOTS && n < BRUTE_SLOTS; tries++) {
        uint32_t slot = pcg32_below(&b->rng, space_slot_count(b->space));
        if (!space_is_open(one, slot)) continue;
        struct space_action a = {slot, values[pcg32_below(&b->rng, space_values(one, slot, values))]};
        space_mark m = space_snapshot(one);
        if (space_apply(one, a, NULL))
            taken[n++] = a;
        else
            space_rollback(one, m);
        cr_assert(fixpoint_holds(one), "something was left out");
    }
    bool done[BRUTE_SLOTS] = {false};
    for (uint32_t left = n; left > 0;) {
        uint32_t start = pcg32_below(&b->rng, n), i = start;
        while (done[i] || !space_is_live(two, taken[i].slot))
            i = (i + 1) % n;
        cr_assert(space_apply(two, taken[i], NULL), "actions do not commute");
        done[i] = true;
        left--;
    }
    cr_assert_eq(space_state_hash(one), space_state_hash(two), "the order of actions shows in the vector");
    space_state_free(one);
    space_state_free(two);
}

static void brute_check(struct brute *b, unsigned seed)
{
    struct space_state *root = space_root(b->space, NULL);
    uint64_t solutions = 0;
    memset(b->values, 0, sizeof b->values);
    do {
        if (!brute_solution(b)) continue;
        solutions++;
        cr_assert(root, "seed %u: the root fails, but there is a solution", seed);
        for (uint32_t i = 0; i < space_slot_count(b->space); i++)
            cr_assert(!brute_slot_live(b, i) || space_has_value(root, i, b->values[i]),
                      "seed %u: the root lacks a value of a solution", seed);
    } while (brute_next(b));
    uint64_t leaves = root ? brute_leaves(root) : 0;
    cr_assert_eq(leaves, solutions, "seed %u: %lu leaves, %lu solutions", seed, (unsigned long)leaves,
                 (unsigned long)solutions);
    if (root) {
        struct space_count count = space_count(root, 0);
        cr_assert(count.complete && count.solutions == (long double)solutions,
                  "seed %u: counted %.0Lf, not %lu", seed, count.solutions, (unsigned long)solutions);
    }
    for (int i = 0; root && i < 20; i++)
        brute_orders(b, root);
    space_state_free(root);
}

void brute_objects(struct brute *b, const char *set, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "%c%u", set[0], i);
        space_data_object(b->data, set, name);
    }
}

void brute_run(const char *text, void (*fill)(struct brute *b), unsigned seeds,
               void (*look)(const struct space *s))
{
    for (unsigned seed = 1; seed <= seeds; seed++) {
        struct brute b = {
            .data = space_data_new(), .diag = diag_new(), .arena = arena_new(), .rng = pcg32_seed(seed, 7)};
        struct source src = {"inline", text, strlen(text)};
        b.def = spacedsl_compile(&src, b.arena, b.diag);
        diag_print(b.diag, stderr);
        cr_assert(b.def);
        fill(&b);
        b.space = space_instantiate(b.def, b.data, b.diag);
        diag_print(b.diag, stderr);
        cr_assert(b.space && space_slot_count(b.space) <= BRUTE_SLOTS);
        if (look) look(b.space);
        brute_each_trigger(&b, brute_latent);
        brute_check(&b, seed);
        space_free(b.space);
        space_data_free(b.data);
        arena_free(b.arena);
        diag_free(b.diag);
    }
}
