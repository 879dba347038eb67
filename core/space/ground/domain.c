/* Lists, sets and properties of an instance: the value of a property, the objects that a quantifier or a
 * `forall` prefix runs over, the elements of a list; for slots.c also the values of a choice, and whether the
 * choice exists for given arguments (`where`). */
#include <stdlib.h>
#include <string.h>

#include "core/space/ground/ground.h"

/* ---- properties ---- */

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

struct data_list ground_property_list(struct grounder *g, const struct space_node *n, const int64_t *args)
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
    int64_t lo = ground_static(g, ground_kid(g, n, 0)), hi = ground_static(g, ground_kid(g, n, 1));
    int64_t step = n->n > 2 ? ground_static(g, ground_kid(g, n, 2)) : 1;
    size_t most = out->n + SPACE_MAX_VALUES + 1; /* which is too many for any choice */
    for (int64_t x = lo; x <= hi && step > 0 && out->n < most; x = expression_add(x, step))
        add_item(g, out, x);
}

void ground_collect(struct grounder *g, int32_t node, struct items *out)
{
    const struct space_node *n = &g->s->def->nodes[node];
    if (n->op == SPACE_LIST) {
        for (unsigned i = 0; i < n->n; i++)
            ground_collect(g, ground_kid(g, n, i), out);
    } else if (n->op == SPACE_RANGE) {
        collect_range(g, n, out);
    } else if (n->op == SPACE_PROP && g->s->def->properties[n->a].list) {
        int64_t args[SPACE_MAX_ARITY];
        for (unsigned i = 0; i < n->n; i++)
            args[i] = ground_static(g, ground_kid(g, n, i));
        struct data_list list = ground_property_list(g, n, args);
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
