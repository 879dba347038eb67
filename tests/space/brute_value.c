/* Values of formulas under an assignment, by recursion over the definition. */
#include <criterion/criterion.h>

#include "core/space/data/lookup.h"
#include "tests/space/brute_force.h"

int32_t brute_kid(const struct brute *b, const struct space_node *n, int i)
{
    return b->def->kids[n->first + i];
}

bool brute_is_dead(const struct brute *b, int32_t root, int64_t object)
{
    return object >= 0 && object < BRUTE_OBJECTS && b->latent[root][object] && !b->live[root][object];
}

struct data_list brute_list(struct brute *b, const struct space_node *n)
{
    uint32_t args[SPACE_MAX_ARITY];
    for (int i = 0; i < n->n; i++) {
        int64_t x = brute_value(b, brute_kid(b, n, i));
        if (x < 0) return (struct data_list){0};
        args[i] = (uint32_t)x;
    }
    return data_table_list(data_table_find(b->data, b->def->properties[n->a].name), args, n->n);
}

static bool brute_member(const struct brute *b, int32_t set, int64_t object)
{
    const struct space_set *s = &b->def->sets[set];
    if (s->range) return object >= s->lo && object <= s->hi;
    if (s->root == set) return object >= 0 && object < space_data_set_size(b->data, s->name);
    struct data_list l = data_table_list(data_table_find(b->data, s->name), NULL, 0);
    for (size_t i = 0; i < l.n; i++)
        if (l.items[i] == object) return true;
    return false;
}

bool brute_in_domain(struct brute *b, const struct space_domain *dom, int64_t object)
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
        int64_t x = brute_value(b, brute_kid(b, n, i));
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

/* All arithmetic saturates. */
static int64_t brute_saturate(long double x)
{
    const long double most = (long double)SPACE_BIG;
    return x > most ? SPACE_BIG : x < -most ? -SPACE_BIG : (int64_t)x;
}

static int64_t brute_add(int64_t x, int64_t y)
{
    return brute_saturate((long double)x + (long double)y);
}

static int64_t brute_multiply(int64_t x, int64_t y)
{
    return brute_saturate((long double)x * (long double)y);
}

/* A term: it counts only if its object and all choices that it reads are live. */
static int64_t brute_quantifier(struct brute *b, const struct space_node *n)
{
    const struct space_domain *dom = &b->def->domains[n->a];
    int64_t r = n->op == SPACE_MINOF   ? SPACE_BIG
                : n->op == SPACE_MAXOF ? -SPACE_BIG
                                       : n->op == SPACE_PRODUCT || n->op == SPACE_FORALL;
    int64_t before = b->env[n->imm];
    for (int64_t o = 0; o < BRUTE_OBJECTS; o++) {
        if (!brute_in_domain(b, dom, o)) continue;
        bool outer = b->dead;
        b->env[n->imm] = o;
        b->dead = brute_is_dead(b, dom->root, o);
        int64_t where = n->n > 1 ? brute_value(b, brute_kid(b, n, 1)) : 1,
                x = brute_value(b, brute_kid(b, n, 0));
        bool counts = !b->dead && where;
        b->dead = outer;
        if (!counts) continue;
        if (n->op == SPACE_SUM)
            r = brute_add(r, x);
        else if (n->op == SPACE_PRODUCT)
            r = brute_multiply(r, x);
        else if (n->op == SPACE_EXISTS)
            r = r || x;
        else if (n->op == SPACE_FORALL)
            r = r && x;
        else
            r = (n->op == SPACE_MINOF) == (x < r) ? x : r;
    }
    b->env[n->imm] = before;
    return r;
}

/* The first object that is live, as all that the condition reads, and has the condition. */
static int64_t brute_first(struct brute *b, const struct space_node *n)
{
    const struct space_domain *dom = &b->def->domains[n->a];
    int64_t before = b->env[n->imm], found = -1;
    bool outer = b->dead;
    for (int64_t o = 0; o < BRUTE_OBJECTS && found < 0; o++) {
        if (!brute_in_domain(b, dom, o)) continue;
        b->env[n->imm] = o;
        b->dead = brute_is_dead(b, dom->root, o);
        if (brute_value(b, brute_kid(b, n, 0)) && !b->dead) found = o;
    }
    b->env[n->imm] = before;
    b->dead = outer;
    return found;
}

static int64_t brute_in(struct brute *b, const struct space_node *n)
{
    int64_t x = brute_value(b, brute_kid(b, n, 0));
    const struct space_node *list = &b->def->nodes[brute_kid(b, n, 1)];
    if (list->op == SPACE_PROP) {
        struct data_list l = brute_list(b, list);
        for (size_t i = 0; i < l.n; i++)
            if (l.items[i] == x) return 1;
        return 0;
    }
    if (list->op == SPACE_RANGE)
        return brute_value(b, brute_kid(b, list, 0)) <= x && x <= brute_value(b, brute_kid(b, list, 1));
    for (int i = 0; i < list->n; i++)
        if (brute_value(b, brute_kid(b, list, i)) == x) return 1;
    return 0;
}

static int64_t brute_binary(const struct space_node *n, const int64_t *x)
{
    switch (n->op) {
    case SPACE_ADD:
        return brute_add(x[0], x[1]);
    case SPACE_SUB:
        return brute_add(x[0], -x[1]);
    case SPACE_MUL:
        return brute_multiply(x[0], x[1]);
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
        int64_t x = brute_value(b, brute_kid(b, n, i));
        if (x < 0) return none;
        args[i] = (uint32_t)x;
    }
    return data_table_int(data_table_find(b->data, b->def->properties[n->a].name), args, n->n, none);
}

static unsigned brute_size(struct brute *b, int32_t set)
{
    unsigned n = 0;
    for (int64_t o = 0; o < BRUTE_OBJECTS; o++)
        n += brute_member(b, set, o);
    return n;
}

/* A number that names no object of its range set is none. */
static int64_t brute_object(const struct brute *b, int32_t set, int64_t object)
{
    return brute_member(b, b->def->sets[set].root, object) ? object : -1;
}

/* A recursive definition, by recursion; one that goes where choices lead it takes no more steps than there
 * are objects. */
static int64_t brute_define(struct brute *b, const struct space_node *n)
{
    const struct space_define *d = &b->def->defines[n->a];
    int64_t outer[SPACE_MAX_VARS], args[SPACE_MAX_ARITY], none = d->object >= 0 ? -1 : 0;
    for (int i = 0; i < n->n; i++) {
        args[i] = brute_object(b, d->sets[i], brute_value(b, brute_kid(b, n, i)));
        if (args[i] < 0) return none;
    }
    if (!d->n_steps && b->steps[n->a] == brute_size(b, d->sets[d->along])) return none;
    memcpy(outer, b->env, sizeof outer);
    memcpy(b->env, args, n->n * sizeof *args);
    b->steps[n->a]++;
    int64_t x = brute_value(b, d->body);
    b->steps[n->a]--;
    memcpy(b->env, outer, sizeof outer);
    return d->object >= 0 ? brute_object(b, d->object, x) : x;
}

int64_t brute_value(struct brute *b, int32_t node)
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
        return brute_in_domain(b, &b->def->domains[n->a], brute_value(b, brute_kid(b, n, 0)));
    case SPACE_DEFINE:
        return brute_define(b, n);
    case SPACE_FIRST:
        return brute_first(b, n);
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
        x[i] = brute_value(b, brute_kid(b, n, i));
    return brute_binary(n, x);
}
