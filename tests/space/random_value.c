/* The meaning of a random space: what a formula is worth under one assignment.
 *
 * A rule is enforced while the objects of its variables are live. A term of a quantifier or counter counts
 * while its object is. A choice that does not exist (an object with itself) is no value and has the code 0.
 * Division by 0 is 0; the minimum of nothing is 2^60, the maximum -2^60. No object is -1: its choices do not
 * exist, its numbers are 0. A definition that has been called for as many objects as there are is 0. */
#include <string.h>

#include "tests/space/random_space.h"

static const int64_t FAR = INT64_C(1) << 60;

static int64_t value(struct rs_space *s, int node, int *env);

static bool is_live(const struct rs_space *s, enum rs_set root, int object)
{
    return root == RS_T ? s->live_t[object] : root != RS_V || s->live_v[object];
}

bool rs_slot_live(const struct rs_space *s, unsigned slot)
{
    const struct rs_choice *c = &s->choices[s->slots[slot].choice];
    for (unsigned i = 0; i < c->arity; i++)
        if (!is_live(s, rs_root(c->args[i]), (int)s->slots[slot].objects[i])) return false;
    return true;
}

/* The object that an argument is. */
static int object_of(struct rs_space *s, int var, int *env)
{
    if (var >= 0) return env[var];
    const struct rs_node *n = &s->nodes[RS_SELECTED(var)];
    if (n->op == RS_PICK) return env[n->vars[value(s, n->kids[0], env) ? 0 : 1]];
    if (n->op != RS_FIRST) {
        int64_t x = value(s, RS_SELECTED(var), env);
        return x >= 0 && x < s->n[RS_R] ? (int)x : -1;
    }
    for (int o = 0; o < RS_OBJECTS; o++) {
        if (!rs_member(s, n->set, -1, o) || !is_live(s, rs_root(n->set), o)) continue;
        env[n->bound] = o;
        if (value(s, n->kids[0], env)) return o;
    }
    return -1;
}

/* The value of a choice at variables; false: there is no such choice. An antisymmetric pair in the other
 * order has the first two values exchanged. */
static bool choice_value(struct rs_space *s, const struct rs_node *n, int *env, int *slot, unsigned *out)
{
    const struct rs_choice *c = &s->choices[n->choice];
    int a = c->arity > 0 ? object_of(s, n->vars[0], env) : 0,
        b = c->arity > 1 ? object_of(s, n->vars[1], env) : 0;
    *slot = a < 0 || b < 0 ? -1 : c->slot[a][b];
    if (*slot < 0) return false;
    *out = s->values[*slot];
    if (c->pairing == RS_ANTISYMMETRIC && a > b && *out < 2) *out = 1 - *out;
    return true;
}

static int64_t neutral(enum rs_op op)
{
    return op == RS_LEAST ? FAR : op == RS_MOST ? -FAR : op == RS_PRODUCT || op == RS_FORALL;
}

/* All arithmetic saturates at 2^60. */
static int64_t saturate(long double x)
{
    return x > (long double)FAR ? FAR : x < (long double)-FAR ? -FAR : (int64_t)x;
}

static int64_t combine(enum rs_op op, int64_t x, int64_t y)
{
    switch (op) {
    case RS_SUM:
        return saturate((long double)x + (long double)y);
    case RS_PRODUCT:
        return saturate((long double)x * (long double)y);
    case RS_LEAST:
        return y < x ? y : x;
    case RS_MOST:
        return y > x ? y : x;
    case RS_EXISTS:
        return x || y;
    default:
        return x && y;
    }
}

static int64_t quantifier(struct rs_space *s, const struct rs_node *n, int *env)
{
    int64_t r = neutral(n->op);
    int of = n->set == RS_OF ? env[n->of] : -1;
    for (int o = 0; o < RS_OBJECTS; o++) {
        if (!rs_member(s, n->set, of, o) || !is_live(s, rs_root(n->set), o)) continue;
        env[n->bound] = o;
        if (n->kids[1] >= 0 && !value(s, n->kids[1], env)) continue;
        r = combine(n->op, r, value(s, n->kids[0], env));
    }
    return r;
}

static int64_t leaf_value(struct rs_space *s, const struct rs_node *n, int *env)
{
    unsigned v;
    int slot, a, b;
    switch (n->op) {
    case RS_CONST:
        return n->number;
    case RS_PARAM:
        return s->k;
    case RS_W:
        a = object_of(s, n->vars[0], env);
        return a < 0 ? 0 : s->w[a];
    case RS_OK:
        a = object_of(s, n->vars[0], env);
        b = object_of(s, n->vars[1], env);
        return a >= 0 && b >= 0 && s->ok[a][b];
    case RS_IN_B:
        return rs_member(s, RS_B, -1, object_of(s, n->vars[0], env));
    case RS_SAME:
        return object_of(s, n->vars[0], env) == object_of(s, n->vars[1], env);
    case RS_IS:
        return (choice_value(s, n, env, &slot, &v) && (n->mask >> v & 1)) != (n->number == 1);
    default: {
        const struct rs_choice *c = &s->choices[n->choice];
        if (!choice_value(s, n, env, &slot, &v)) return 0;
        return c->integer ? s->slots[slot].codes[v] : c->codes[v];
    }
    }
}

static int64_t operation(enum rs_op op, const int64_t *x)
{
    switch (op) {
    case RS_ADD:
        return saturate((long double)x[0] + (long double)x[1]);
    case RS_SUB:
        return saturate((long double)x[0] - (long double)x[1]);
    case RS_MUL:
        return saturate((long double)x[0] * (long double)x[1]);
    case RS_DIV:
        return x[1] ? x[0] / x[1] : 0;
    case RS_MOD:
        return x[1] ? x[0] % x[1] : 0;
    case RS_MIN:
        return x[0] < x[1] ? x[0] : x[1];
    case RS_MAX:
        return x[0] > x[1] ? x[0] : x[1];
    case RS_NEG:
        return -x[0];
    case RS_ITE:
        return x[0] ? x[1] : x[2];
    case RS_EQ:
        return x[0] == x[1];
    case RS_NE:
        return x[0] != x[1];
    case RS_LT:
        return x[0] < x[1];
    case RS_LE:
        return x[0] <= x[1];
    case RS_AND:
        return x[0] && x[1];
    case RS_OR:
        return x[0] || x[1];
    case RS_NOT:
        return !x[0];
    case RS_IMP:
        return !x[0] || x[1];
    default:
        return !x[0] == !x[1];
    }
}

static int64_t call_value(struct rs_space *s, const struct rs_node *n, int *env)
{
    int a = object_of(s, n->vars[0], env);
    if (s->calls[n->choice].recursive && (a < 0 || s->steps[n->choice] == s->n[RS_A])) return 0;
    s->steps[n->choice]++;
    int64_t x = value(s, s->calls[n->choice].body, (int[RS_VARS]){a});
    s->steps[n->choice]--;
    return x;
}

static int64_t value(struct rs_space *s, int node, int *env)
{
    const struct rs_node *n = &s->nodes[node];
    int64_t x[3] = {0};
    switch (n->op) {
    case RS_CONST:
    case RS_PARAM:
    case RS_W:
    case RS_OK:
    case RS_IN_B:
    case RS_SAME:
    case RS_IS:
    case RS_CODE:
        return leaf_value(s, n, env);
    case RS_SUM:
    case RS_PRODUCT:
    case RS_LEAST:
    case RS_MOST:
    case RS_EXISTS:
    case RS_FORALL:
        return quantifier(s, n, env);
    case RS_CALL:
        return call_value(s, n, env);
    case RS_IN_LIST:
        x[0] = value(s, n->kids[0], env) + 2;
        return x[0] >= 0 && x[0] < 9 && (n->mask >> x[0] & 1);
    default:
        break;
    }
    for (int i = 0; i < 3; i++)
        if (n->kids[i] >= 0) x[i] = value(s, n->kids[i], env);
    return operation(n->op, x);
}

/* ---- rules ---- */

/* Runs over the tuples of distinct live objects; false as soon as `visit` is. */
static bool each_tuple(struct rs_space *s, const struct rs_rule *r, unsigned at, int *env,
                       bool (*visit)(struct rs_space *s, const struct rs_rule *r, int *env))
{
    if (at == r->n_vars) return visit(s, r, env);
    for (int o = 0; o < RS_OBJECTS; o++) {
        bool fits = rs_member(s, r->sets[at], -1, o) && is_live(s, rs_root(r->sets[at]), o);
        for (unsigned k = 0; fits && k < at; k++)
            fits = rs_root(r->sets[k]) != rs_root(r->sets[at]) || env[k] != o;
        env[at] = o;
        if (fits && !each_tuple(s, r, at + 1, env, visit)) return false;
    }
    return true;
}

static bool body_holds(struct rs_space *s, const struct rs_rule *r, int *env)
{
    return value(s, r->body, env) != 0;
}

bool rs_holds(struct rs_space *s, const struct rs_rule *rule)
{
    return each_tuple(s, rule, 0, (int[RS_VARS]){0}, body_holds);
}

static bool fire_gives(struct rs_space *s, const struct rs_rule *r, int *env)
{
    int t = s->gives[env[0]];
    if (t >= 0 && body_holds(s, r, env)) s->live_t[t] = true;
    return true;
}

static bool fire_more(struct rs_space *s, const struct rs_rule *r, int *env)
{
    if (body_holds(s, r, env))
        for (unsigned v = 0; v < s->n[RS_V]; v++)
            if (s->more[env[0]] >> v & 1) s->live_v[v] = true;
    return true;
}

/* Objects that no trigger names are always live. */
static void start_live(struct rs_space *s)
{
    memset(s->live_t, 1, sizeof s->live_t);
    memset(s->live_v, 1, sizeof s->live_v);
    for (unsigned a = 0; a < s->n[RS_A] && s->n_triggers > 0; a++)
        if (s->gives[a] >= 0) s->live_t[s->gives[a]] = false;
    for (unsigned t = 0; t < s->n[RS_T] && s->n_triggers > 1; t++)
        for (unsigned v = 0; v < s->n[RS_V]; v++)
            if (s->more[t] >> v & 1) s->live_v[v] = false;
}

void rs_activate(struct rs_space *s)
{
    start_live(s);
    if (s->n_triggers > 0) each_tuple(s, &s->triggers[0], 0, (int[RS_VARS]){0}, fire_gives);
    if (s->n_triggers > 1) each_tuple(s, &s->triggers[1], 0, (int[RS_VARS]){0}, fire_more);
}

bool rs_solution(struct rs_space *s, const bool dropped[RS_RULES])
{
    rs_activate(s);
    for (unsigned i = 0; i < s->n_slots; i++)
        if (s->values[i] && !rs_slot_live(s, i)) return false;
    for (unsigned i = 0; i < s->n_rules; i++)
        if (!dropped[i] && !rs_holds(s, &s->rules[i])) return false;
    return true;
}

bool rs_next(struct rs_space *s)
{
    for (unsigned i = 0; i < s->n_slots; i++) {
        if (++s->values[i] < s->slots[i].n_values) return true;
        s->values[i] = 0;
    }
    return false;
}
