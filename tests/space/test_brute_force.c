/* The engine against brute force: on small random instances every assignment is checked by an evaluator that
 * walks the definition's formulas directly, without grounding, tables or bounds. The search must find exactly
 * those solutions, the root must keep all their values, any order of the same actions must give the same
 * vector, and rollback must be exact. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "core/space/count.h"
#include "core/space/data_internal.h"
#include "core/space/space.h"
#include "spacedsl/model.h"

enum { BRUTE_SLOTS = 24, BRUTE_OBJECTS = 8, BRUTE_SETS = 8 };

static const char BRUTE_ARITHMETIC[] =
    "space arithmetic set A set B : A property w(A): int property ok(A, A): bool property vals(A): int list "
    "parameter k: int\n"
    "choice x(a: A): int in vals(a)\n"
    "choice y(a: A): { P = 3, Q = -2, R = 0 } alias PQ = P | Q\n"
    "counter total = sum of x(a) * w(a) over a in A where y(a) is PQ\n"
    "counter prod(b: B) = product of x(a) over a in A where a != b\n"
    "define top: int = max of x(a) - y(a) over a in A\n"
    "require total <= k && total != 4\n"
    "require forall b in B: prod(b) % 3 != 1\n"
    "require forall a, b in A: ok(a, b) -> x(a) + y(b) >= x(b) / 2 - 1\n"
    "require (exists a in A: y(a) is P && x(a) > 2) || top >= 6 || min of x(a) over a in B >= 2\n"
    "require forall a, b in A: x(a) in { 1, 4 } && b in B -> y(b) is not R || x(b) - 3 <= y(a) * 2\n"
    "require (x_sum(k) > 5) <-> y_any(k)\n"
    "define x_sum(z: Zero): int = sum of x(a) over a in B set Zero = 0..9 define y_any(z: Zero): bool = "
    "exists a in B: y(a) is Q\n";

static const char BRUTE_LATENT[] =
    "space latent set V set O property of(V): O property more(V): O list property w(O): int parameter k: "
    "int\n"
    "choice staged(v: V): { NO, YES }\n"
    "choice kind(o: O): { A, B, C }\n"
    "choice size(o: O): int in 1..3\n"
    "trigger forall v in V: when staged(v) is YES activate of(v)\n"
    "trigger forall v in V: when kind(of(v)) is C activate more(v)\n"
    "require forall o, p in O: kind(o) is A -> kind(p) is not A\n"
    "counter used = sum of size(o) * w(o) over o in O where kind(o) is not B\n"
    "require used <= k\n"
    "require exists o in O: kind(o) is C\n"
    "require max of size(o) over o in O >= 2\n"
    "require forall v in V: staged(v) is YES && size(of(v)) > 1 -> kind(of(v)) is not B\n";

static const char BRUTE_ORDER[] =
    "space order set S set O : S property latent(O): S property first(S, S): bool parameter k: int\n"
    "choice pick(o: O): { NO, YES }\n"
    "choice order(a: S, b: S): { BEFORE, AFTER, MERGED } antisymmetric BEFORE ~ AFTER\n"
    "trigger forall o in O: when pick(o) is YES activate latent(o)\n"
    "require forall a, b, c in S: order(a, b) is BEFORE && order(b, c) is BEFORE | MERGED -> order(a, c) is "
    "BEFORE\n"
    "require forall a, b, c in S: order(a, b) is MERGED && order(b, c) is MERGED -> order(a, c) is MERGED\n"
    "require forall a, b in S: first(a, b) -> order(a, b) is BEFORE\n"
    "counter merged = sum of 1 over a in S, b in S where order(a, b) is MERGED\n"
    "require merged <= k\n";

static const char BRUTE_QUOTIENT[] =
    "space classes set S set I : S set D : S disjoint I property latent(D): D parameter k: int\n"
    "choice pick(d: D): { NO, YES }\n"
    "choice order(a: S, b: S): { OUTER, INNER, MERGED } antisymmetric OUTER ~ INNER\n"
    "choice size(d: D): int in 2..3\n"
    "trigger forall d in D: when pick(d) is YES activate latent(d)\n"
    "quotient Around(i: I) = d: D where order(d, i) is OUTER modulo order is MERGED\n"
    "counter volume(i: I) = product of size(d) over d in Around(i)\n"
    "half counter loops(i: I) = sum of 1 over d in Around(i) where size(d) > 2\n"
    "require forall a, b, c in S: order(a, b) is MERGED && order(b, c) is MERGED -> order(a, c) is MERGED\n"
    "require forall i in I: volume(i) <= k && loops(i) <= 1\n"
    "require forall i in I: k > 5 -> exists d in Around(i): size(d) == 3\n"
    "require forall i in I, d in Around(i): pick(d) is NO || size(d) == 2\n"
    "require forall i in I, d in D: d in Around(i) -> size(d) <= k\n";

static const char BRUTE_RECURSION[] =
    "space recursion set N property parent(N): N property kids(N): N list parameter k: int set Few = 0..1\n"
    "choice x(n: N): int in 0..2\n"
    "choice use(n: N): { OWN, UP }\n"
    "define value(n: N): int = use(n) is OWN ? x(n) : value(parent(n)) + 1\n"
    "define weight(n: N): int = x(n) + (sum of weight(c) over c in kids(n))\n"
    "define above(n: N): N = parent(parent(n))\n"
    "define top(n: N): N = (exists p in N: p == parent(n)) ? top(parent(n)) : n\n"
    "require forall n in N: x(n) in { x(top(n)), 0, k } || x(n) in x(top(n)) + 1..2\n"
    "counter deep = max of value(n) over n in N\n"
    "counter low = min of value(n) * 2 over n in N where use(n) is OWN\n"
    "counter total = sum of value(n) over n in N where value(n) > 1\n"
    "counter all = sum of weight(n) - total over n in N\n"
    "require deep <= k && total != 3 && (low > 0 || all > 2)\n"
    "require forall n in N: weight(n) <= k + 2 && (x(above(n)) != 1 || x(n) in Few)\n";

struct brute {
    const struct space_def *def;
    struct space *space;
    struct space_data *data;
    struct diag *diag;
    struct arena *arena;
    struct pcg32 rng;
    uint32_t values[BRUTE_SLOTS];
    int64_t env[SPACE_MAX_VARS];
    bool latent[BRUTE_SETS][BRUTE_OBJECTS], live[BRUTE_SETS][BRUTE_OBJECTS];
    bool dead; /* the formula at hand met a choice of an object that is not live */
};

static int64_t brute_eval(struct brute *b, int32_t node);

static int32_t brute_kid(const struct brute *b, const struct space_node *n, int i)
{
    return b->def->kids[n->first + i];
}

static bool brute_is_dead(const struct brute *b, int32_t root, int64_t object)
{
    return object >= 0 && object < BRUTE_OBJECTS && b->latent[root][object] && !b->live[root][object];
}

static struct data_list brute_list(struct brute *b, const struct space_node *n)
{
    uint32_t args[SPACE_MAX_ARITY];
    for (int i = 0; i < n->n; i++) {
        int64_t x = brute_eval(b, brute_kid(b, n, i));
        if (x < 0) return (struct data_list){0};
        args[i] = (uint32_t)x;
    }
    return data_table_list(data_table_find(b->data, b->def->properties[n->a].name), args, n->n);
}

static bool brute_member(const struct brute *b, int32_t set, int64_t object)
{
    const struct space_set *s = &b->def->sets[set];
    if (s->range) return object >= s->lo && object <= s->hi;
    if (s->root == set) return object < space_data_set_size(b->data, s->name);
    struct data_list l = data_table_list(data_table_find(b->data, s->name), NULL, 0);
    for (size_t i = 0; i < l.n; i++)
        if (l.items[i] == object) return true;
    return false;
}

static bool brute_in_domain(struct brute *b, const struct space_domain *dom, int64_t object)
{
    if (dom->set >= 0) return brute_member(b, dom->set, object);
    struct data_list l = brute_list(b, &b->def->nodes[dom->list]);
    for (size_t i = 0; i < l.n; i++)
        if (l.items[i] == object) return true;
    return false;
}

static uint32_t brute_slot(struct brute *b, const struct space_node *n, bool *flipped)
{
    uint32_t args[SPACE_MAX_ARITY];
    for (int i = 0; i < n->n; i++) {
        int64_t x = brute_eval(b, brute_kid(b, n, i));
        if (brute_is_dead(b, b->def->choices[n->a].args[i].root, x)) b->dead = true;
        args[i] = x < 0 ? UINT32_MAX : (uint32_t)x;
    }
    return space_slot_find(b->space, (unsigned)n->a, args, n->n, flipped);
}

static int64_t brute_choice(struct brute *b, const struct space_node *n)
{
    bool flipped;
    uint32_t slot = brute_slot(b, n, &flipped);
    if (slot == UINT32_MAX) return 0;
    uint32_t v = flipped ? space_value_mirror(b->space, slot, b->values[slot]) : b->values[slot];
    return n->op == SPACE_IS ? n->imm >> v & 1 : space_value_code(b->space, slot, v);
}

/* A term: it counts only if its object and all choices that it reads are live. */
static int64_t brute_quantifier(struct brute *b, const struct space_node *n)
{
    const struct space_domain *dom = &b->def->domains[n->a];
    int64_t r = n->op == SPACE_MINOF   ? INT64_C(1) << 60
                : n->op == SPACE_MAXOF ? -(INT64_C(1) << 60)
                                       : n->op == SPACE_PRODUCT || n->op == SPACE_FORALL;
    for (int64_t o = 0; o < BRUTE_OBJECTS; o++) {
        if (!brute_in_domain(b, dom, o)) continue;
        bool outer = b->dead;
        b->env[n->imm] = o;
        b->dead = brute_is_dead(b, dom->root, o);
        int64_t where = n->n > 1 ? brute_eval(b, brute_kid(b, n, 1)) : 1,
                x = brute_eval(b, brute_kid(b, n, 0));
        bool counts = !b->dead && where;
        b->dead = outer;
        if (!counts) continue;
        if (n->op == SPACE_SUM)
            r += x;
        else if (n->op == SPACE_PRODUCT)
            r *= x;
        else if (n->op == SPACE_EXISTS)
            r = r || x;
        else if (n->op == SPACE_FORALL)
            r = r && x;
        else
            r = (n->op == SPACE_MINOF) == (x < r) ? x : r;
    }
    return r;
}

static int64_t brute_in(struct brute *b, const struct space_node *n)
{
    int64_t x = brute_eval(b, brute_kid(b, n, 0));
    const struct space_node *list = &b->def->nodes[brute_kid(b, n, 1)];
    if (list->op == SPACE_RANGE)
        return brute_eval(b, brute_kid(b, list, 0)) <= x && x <= brute_eval(b, brute_kid(b, list, 1));
    for (int i = 0; i < list->n; i++)
        if (brute_eval(b, brute_kid(b, list, i)) == x) return 1;
    return 0;
}

static int64_t brute_binary(const struct space_node *n, const int64_t *x)
{
    switch (n->op) {
    case SPACE_ADD:
        return x[0] + x[1];
    case SPACE_SUB:
        return x[0] - x[1];
    case SPACE_MUL:
        return x[0] * x[1];
    case SPACE_DIV:
        return x[1] ? x[0] / x[1] : 0;
    case SPACE_MOD:
        return x[1] ? x[0] % x[1] : 0;
    case SPACE_MIN:
        return x[0] < x[1] ? x[0] : x[1];
    case SPACE_MAX:
        return x[0] > x[1] ? x[0] : x[1];
    case SPACE_NEG:
        return -x[0];
    case SPACE_EQ:
        return x[0] == x[1];
    case SPACE_NE:
        return x[0] != x[1];
    case SPACE_LT:
        return x[0] < x[1];
    case SPACE_LE:
        return x[0] <= x[1];
    case SPACE_AND:
        return x[0] && x[1];
    case SPACE_OR:
        return x[0] || x[1];
    case SPACE_NOT:
        return !x[0];
    case SPACE_IMP:
        return !x[0] || x[1];
    default:
        return x[0] ? x[1] : x[2];
    }
}

static int64_t brute_property(struct brute *b, const struct space_node *n)
{
    uint32_t args[SPACE_MAX_ARITY];
    int64_t none = b->def->properties[n->a].object >= 0 ? -1 : 0;
    for (int i = 0; i < n->n; i++) {
        int64_t x = brute_eval(b, brute_kid(b, n, i));
        if (x < 0) return none;
        args[i] = (uint32_t)x;
    }
    return data_table_int(data_table_find(b->data, b->def->properties[n->a].name), args, n->n, none);
}

/* A recursive definition, by recursion. */
static int64_t brute_define(struct brute *b, const struct space_node *n)
{
    const struct space_define *d = &b->def->defines[n->a];
    int64_t outer[SPACE_MAX_VARS], args[SPACE_MAX_ARITY];
    for (int i = 0; i < n->n; i++) {
        args[i] = brute_eval(b, brute_kid(b, n, i));
        if (args[i] < 0) return d->object ? -1 : 0;
    }
    memcpy(outer, b->env, sizeof outer);
    memcpy(b->env, args, n->n * sizeof *args);
    int64_t x = brute_eval(b, d->body);
    memcpy(b->env, outer, sizeof outer);
    return x;
}

static int64_t brute_eval(struct brute *b, int32_t node)
{
    const struct space_node *n = &b->def->nodes[node];
    int64_t x[3] = {0}, parameter = 0;
    switch (n->op) {
    case SPACE_CONST:
        return n->imm;
    case SPACE_PARAM:
        data_parameter_get(b->data, b->def->parameters[n->a].name, &parameter);
        return parameter;
    case SPACE_VAR:
        return b->env[n->a];
    case SPACE_PROP:
        return brute_property(b, n);
    case SPACE_CHOICE:
    case SPACE_IS:
        return brute_choice(b, n);
    case SPACE_IN:
        return brute_in(b, n);
    case SPACE_IN_SET:
        return brute_in_domain(b, &b->def->domains[n->a], brute_eval(b, brute_kid(b, n, 0)));
    case SPACE_DEFINE:
        return brute_define(b, n);
    case SPACE_EXISTS:
    case SPACE_FORALL:
    case SPACE_SUM:
    case SPACE_PRODUCT:
    case SPACE_MINOF:
    case SPACE_MAXOF:
        return brute_quantifier(b, n);
    default:
        break;
    }
    for (int i = 0; i < n->n; i++)
        x[i] = brute_eval(b, brute_kid(b, n, i));
    return brute_binary(n, x);
}

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
    bool holds = brute_eval(b, c->body) != 0;
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
        int64_t one = brute_eval(b, brute_kid(b, list, i));
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
    bool fires = brute_eval(b, t->when) && !b->dead;
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
    uint32_t slot = space_next_choice(st, NULL, 0), values[64];
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
    uint32_t n = 0, values[64];
    for (uint32_t tries = 0; tries < 2 * BRUTE_SLOTS && n < BRUTE_SLOTS; tries++) {
        uint32_t slot = pcg32_below(&b->rng, space_slot_count(b->space));
        if (!space_is_open(one, slot)) continue;
        struct space_action a = {slot, values[pcg32_below(&b->rng, space_values(one, slot, values))]};
        space_mark m = space_snapshot(one);
        if (space_apply(one, a, NULL))
            taken[n++] = a;
        else
            space_rollback(one, m);
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

static void brute_objects(struct brute *b, const char *set, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "%c%u", set[0], i);
        space_data_object(b->data, set, name);
    }
}

static void brute_fill_arithmetic(struct brute *b)
{
    brute_objects(b, "A", 3);
    for (uint32_t i = 0; i < 3; i++) {
        int64_t values[4], n = 2 + pcg32_below(&b->rng, 3);
        for (int k = 0; k < n; k++)
            values[k] = (int64_t)pcg32_below(&b->rng, 7) - 1;
        space_data_list(b->data, "vals", &i, 1, values, (size_t)n);
        space_data_int(b->data, "w", &i, 1, (int64_t)pcg32_below(&b->rng, 5) - 1);
        if (pcg32_below(&b->rng, 2)) space_data_member(b->data, "B", i);
        for (uint32_t k = 0; k < 3; k++)
            space_data_int(b->data, "ok", (uint32_t[]){i, k}, 2, pcg32_below(&b->rng, 2));
    }
    space_data_parameter(b->data, "k", pcg32_below(&b->rng, 10));
}

static void brute_fill_latent(struct brute *b)
{
    brute_objects(b, "V", 2);
    brute_objects(b, "O", 4);
    for (uint32_t i = 0; i < 2; i++) {
        int64_t more[2] = {2 + (int64_t)pcg32_below(&b->rng, 2), 2};
        space_data_int(b->data, "of", &i, 1, pcg32_below(&b->rng, 2));
        space_data_list(b->data, "more", &i, 1, more, pcg32_below(&b->rng, 2));
    }
    for (uint32_t i = 0; i < 4; i++)
        space_data_int(b->data, "w", &i, 1, pcg32_below(&b->rng, 3));
    space_data_parameter(b->data, "k", 1 + pcg32_below(&b->rng, 8));
}

static void brute_fill_order(struct brute *b)
{
    brute_objects(b, "S", 4);
    uint32_t o = pcg32_below(&b->rng, 4);
    space_data_member(b->data, "O", o);
    space_data_int(b->data, "latent", &o, 1, (o + 1 + pcg32_below(&b->rng, 3)) % 4);
    space_data_int(b->data, "first", (uint32_t[]){pcg32_below(&b->rng, 4), pcg32_below(&b->rng, 4)}, 2, 1);
    space_data_parameter(b->data, "k", pcg32_below(&b->rng, 13));
}

static void brute_run(const char *text, void (*fill)(struct brute *b), unsigned seeds)
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
        brute_each_trigger(&b, brute_latent);
        brute_check(&b, seed);
        space_free(b.space);
        space_data_free(b.data);
        arena_free(b.arena);
        diag_free(b.diag);
    }
}

Test(space_brute_force, arithmetic)
{
    brute_run(BRUTE_ARITHMETIC, brute_fill_arithmetic, 60);
}

Test(space_brute_force, latent_objects)
{
    brute_run(BRUTE_LATENT, brute_fill_latent, 25);
}

Test(space_brute_force, order_triangles)
{
    brute_run(BRUTE_ORDER, brute_fill_order, 40);
}

static void brute_fill_quotient(struct brute *b)
{
    brute_objects(b, "S", 4);
    uint32_t inst = pcg32_below(&b->rng, 4);
    space_data_member(b->data, "I", inst);
    for (uint32_t i = 0; i < 4; i++)
        if (i != inst) space_data_member(b->data, "D", i);
    uint32_t d = (inst + 1) % 4;
    space_data_int(b->data, "latent", &d, 1, (inst + 2) % 4);
    space_data_parameter(b->data, "k", 1 + pcg32_below(&b->rng, 12));
}

static void brute_fill_recursion(struct brute *b)
{
    brute_objects(b, "N", 4);
    for (uint32_t i = 0; i < 4; i++) {
        int64_t kids[3], n = 0;
        for (uint32_t k = i + 1; k < 4; k++)
            if (pcg32_below(&b->rng, 2)) kids[n++] = k;
        space_data_list(b->data, "kids", &i, 1, kids, (size_t)n);
        space_data_int(b->data, "parent", &i, 1, (int64_t)pcg32_below(&b->rng, i + 1) - 1);
    }
    space_data_parameter(b->data, "k", pcg32_below(&b->rng, 6));
}

Test(space_brute_force, quotients)
{
    brute_run(BRUTE_QUOTIENT, brute_fill_quotient, 12);
}

Test(space_brute_force, recursive_definitions)
{
    brute_run(BRUTE_RECURSION, brute_fill_recursion, 60);
}
