/* Clauses of one constraint over the same few slots become one instance: one table removes more than several
 * do, and takes one visit.
 *
 *     require forall t, u in S: near(t, u) is YES -> size(t) <= size(u)      near is symmetric
 *
 * gives two clauses for the objects p and q, as (p, q) and as (q, p). Both are over near(p, q), size(p) and
 * size(q). Together they say that near objects have equal sizes. */
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/space/data/intern.h"
#include "core/space/formula/shape.h"

enum { MOST_SLOTS = 3, MOST_GUARDS = 8, MOST_NODES = 1000 };

struct clause {
    struct expression **bodies; /* that are joined */
    size_t n, cap;
    uint32_t guards[MOST_GUARDS], n_guards;
};

struct clauses {
    struct shape_pool *pool;
    uint32_t constraint;
    struct arena *arena;
    struct intern_table known; /* by slots and guards */
    struct clause *items;
    size_t n, cap;
};

struct clauses *clauses_new(struct shape_pool *pool, uint32_t constraint)
{
    struct clauses *c = base_calloc(1, sizeof *c);
    *c = (struct clauses){.pool = pool, .constraint = constraint, .arena = arena_new()};
    return c;
}

static void insert(uint32_t *sorted, uint32_t *n, uint32_t x)
{
    uint32_t k = (*n)++;
    for (; k > 0 && sorted[k - 1] > x; k--)
        sorted[k] = sorted[k - 1];
    sorted[k] = x;
}

/* Its slots in ascending order; false: there are more than a few, or it is large, as what definitions share
 * is met again and again. *nodes: so far. */
static bool list_slots(const struct expression *g, uint32_t *slots, uint32_t *n, uint32_t *nodes)
{
    if (++*nodes > MOST_NODES) return false;
    if (g->op == FORMULA_FUNC) {
        for (uint32_t k = 0; k < *n; k++)
            if (slots[k] == g->slot) return true;
        if (*n == MOST_SLOTS) return false;
        insert(slots, n, g->slot);
        return true;
    }
    for (uint32_t i = 0; i < g->n; i++)
        if (!list_slots(g->kids[i], slots, n, nodes)) return false;
    return true;
}

static struct expression *copy(struct arena *a, const struct expression *g)
{
    struct expression *out = arena_memdup(a, g, sizeof *g);
    if (g->n_table) out->table = arena_memdup(a, g->table, g->n_table * sizeof *g->table);
    if (g->n) out->kids = arena_memdup(a, g->kids, g->n * sizeof(struct expression *));
    for (uint32_t i = 0; i < g->n; i++)
        out->kids[i] = copy(a, g->kids[i]);
    return out;
}

static void add_clause(struct clauses *c, const uint32_t *guards, size_t n_guards)
{
    c->items = arena_grow(c->arena, c->items, &c->cap, c->n + 1, sizeof *c->items);
    struct clause *new = &c->items[c->n++];
    *new = (struct clause){.n_guards = (uint32_t)n_guards};
    for (size_t k = 0; k < n_guards; k++)
        new->guards[k] = guards[k];
}

static void keep(struct clauses *c, const struct expression *body, const uint32_t *guards, size_t n_guards,
                 const uint32_t *key, uint32_t n_key)
{
    bool fresh;
    uint32_t at = intern(&c->known, c->arena, key, n_key * sizeof *key, (uint32_t)c->n, &fresh)->id;
    if (fresh) add_clause(c, guards, n_guards);
    struct clause *joined = &c->items[at];
    joined->bodies =
        arena_grow(c->arena, joined->bodies, &joined->cap, joined->n + 1, sizeof(struct expression *));
    joined->bodies[joined->n++] = copy(c->arena, body);
}

void clauses_add(struct clauses *c, const struct expression *body, const uint32_t *guards, size_t n_guards)
{
    uint32_t key[MOST_SLOTS + MOST_GUARDS + 1], n_slots = 0, n_sorted = 0, n_nodes = 0;
    if (n_guards > MOST_GUARDS || !list_slots(body, key, &n_slots, &n_nodes)) {
        shape_add_instance(c->pool, body, c->constraint, guards, (uint32_t)n_guards);
        return;
    }
    key[n_slots] = SPACE_NONE;
    for (size_t k = 0; k < n_guards; k++)
        insert(key + n_slots + 1, &n_sorted, guards[k]);
    keep(c, body, guards, n_guards, key, n_slots + 1 + n_sorted);
}

void clauses_finish(struct clauses *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct clause *k = &c->items[i];
        const struct expression *all = expression_make(c->arena, FORMULA_AND, k->bodies, (uint32_t)k->n);
        if (all->op != FORMULA_CONST || !all->imm)
            shape_add_instance(c->pool, all, c->constraint, k->guards, k->n_guards);
    }
    intern_free(&c->known);
    arena_free(c->arena);
    free(c);
}
