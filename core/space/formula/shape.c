/* Shapes: the formula of an instance with its slots numbered in order of first occurrence. Equal formulas
 * over different slots share one shape; small shapes over at most three slots are tabulated once, so that
 * propagation of all their instances is a few table look-ups (generalized arc consistency). */
#include "core/space/formula/shape.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/panic.h"
#include "core/base/strbuf.h"
#include "core/space/data/intern.h"

struct shape_pool {
    struct space *space;
    struct intern_table tables, shapes, instances;
    struct shape_node *nodes; /* of the shape being built */
    uint32_t *kids, *slots, *sizes;
    size_t n_nodes, cap_nodes, n_kids, cap_kids, n_slots, cap_slots, cap_sizes;
    uint32_t *stamp, *local; /* by slot: whether it is in slots[] now, and where */
    uint32_t now;
    struct placed *placed; /* shared formulas of the shape being built: open addressing by their kids */
    size_t n_placed, placed_size;
};

/* Where a shared formula is. */
struct placed {
    struct expression *const *kids; /* NULL: free */
    uint32_t node;
};

struct shape_pool *shape_pool_new(struct space *s)
{
    struct shape_pool *p = base_calloc(1, sizeof *p);
    p->space = s;
    p->stamp = base_calloc(s->n_all, sizeof *p->stamp);
    p->local = base_calloc(s->n_all, sizeof *p->local);
    return p;
}

void shape_pool_free(struct shape_pool *p)
{
    intern_free(&p->tables);
    intern_free(&p->shapes);
    intern_free(&p->instances);
    free(p->nodes);
    free(p->kids);
    free(p->slots);
    free(p->sizes);
    free(p->stamp);
    free(p->local);
    free(p->placed);
    free(p);
}

static void *reserve(void *array, size_t *cap, size_t need, size_t bytes)
{
    if (need <= *cap) return array;
    *cap = need * 2 < 64 ? 64 : need * 2;
    return base_realloc(array, *cap * bytes);
}

static uint32_t local_slot(struct shape_pool *p, uint32_t slot)
{
    if (p->stamp[slot] == p->now) return p->local[slot];
    p->slots = reserve(p->slots, &p->cap_slots, p->n_slots + 1, sizeof *p->slots);
    p->sizes = reserve(p->sizes, &p->cap_sizes, p->n_slots + 1, sizeof *p->sizes);
    p->slots[p->n_slots] = slot;
    p->sizes[p->n_slots] = slot_values(p->space, slot);
    p->stamp[slot] = p->now;
    return p->local[slot] = (uint32_t)p->n_slots++;
}

static const int64_t *intern_values(struct shape_pool *p, const int64_t *values, uint32_t n)
{
    bool fresh;
    return intern(&p->tables, p->space->arena, values, n * sizeof *values, 0, &fresh)->bytes;
}

/* ---- nodes ---- */

static bool is_boolean_function(const struct shape_pool *p, const struct expression *g)
{
    struct value_view v;
    if (g->op != FORMULA_FUNC || slot_values(p->space, g->slot) > 64) return false;
    view_of_table(g->table, g->n_table, &v);
    return v.kind == VIEW_BOOLEAN;
}

/* Whether a formula is a condition, or a conjunction of conditions, each on one slot. */
static bool is_conjunction(const struct shape_pool *p, const struct expression *g)
{
    if (g->op != FORMULA_AND) return is_boolean_function(p, g);
    for (uint32_t i = 0; i < g->n; i++)
        if (!is_boolean_function(p, g->kids[i])) return false;
    return g->n <= UINT8_MAX;
}

static bool is_plain(const struct shape_pool *p, const struct expression *g)
{
    return g->op == FORMULA_CONST || (g->op == FORMULA_FUNC && slot_values(p->space, g->slot) <= 64);
}

static bool is_term(const struct shape_pool *p, const struct expression *g)
{
    if (g->op == FORMULA_AND) return is_conjunction(p, g);
    return g->op == FORMULA_ITE && is_conjunction(p, g->kids[0]) && is_plain(p, g->kids[1]) &&
           g->kids[2]->op == FORMULA_CONST;
}

static void set_view(struct shape_pool *p, const struct expression *g, struct shape_node *out)
{
    out->local = local_slot(p, g->slot);
    view_of_table(intern_values(p, g->table, g->n_table), g->n_table, &out->view);
}

static void set_conditions(struct shape_pool *p, const struct expression *g, struct shape_node *out)
{
    struct shape_condition list[UINT8_MAX];
    out->n_conditions = g->op == FORMULA_AND ? (uint8_t)g->n : 1;
    for (uint32_t i = 0; i < out->n_conditions; i++) {
        const struct expression *c = g->op == FORMULA_AND ? g->kids[i] : g;
        struct value_view v;
        view_of_table(c->table, c->n_table, &v);
        list[i] = (struct shape_condition){v.yes, local_slot(p, c->slot)};
    }
    bool fresh;
    out->conditions =
        intern(&p->tables, p->space->arena, list, out->n_conditions * sizeof *list, 0, &fresh)->bytes;
}

static void set_term(struct shape_pool *p, const struct expression *g, struct shape_node *out)
{
    out->op = FORMULA_TERM;
    set_conditions(p, g->op == FORMULA_AND ? g : g->kids[0], out);
    out->imm = 1;
    if (g->op == FORMULA_AND) return;
    out->otherwise = g->kids[2]->imm;
    out->is_function = g->kids[1]->op == FORMULA_FUNC;
    out->imm = out->is_function ? 0 : g->kids[1]->imm;
    if (out->is_function) set_view(p, g->kids[1], out);
}

static uint32_t add_node(struct shape_pool *p, const struct shape_node *n)
{
    p->nodes = reserve(p->nodes, &p->cap_nodes, p->n_nodes + 1, sizeof *p->nodes);
    memcpy(&p->nodes[p->n_nodes], n, sizeof *n);
    return (uint32_t)p->n_nodes++;
}

/* ---- shared formulas ---- */

static void clear_placed(struct shape_pool *p)
{
    if (p->n_placed) memset(p->placed, 0, p->placed_size * sizeof *p->placed);
    p->n_placed = 0;
}

static struct placed *find_placed(struct shape_pool *p, const struct expression *g)
{
    size_t at = (uintptr_t)g->kids / 16 % p->placed_size;
    while (p->placed[at].kids && p->placed[at].kids != g->kids)
        at = (at + 1) % p->placed_size;
    return &p->placed[at];
}

static void grow_placed(struct shape_pool *p)
{
    struct placed *old = p->placed;
    size_t n = p->placed_size;
    p->placed_size = n ? 2 * n : 256;
    p->placed = base_calloc(p->placed_size, sizeof *p->placed);
    for (size_t i = 0; i < n; i++)
        if (old[i].kids) *find_placed(p, &(struct expression){.kids = (void *)old[i].kids}) = old[i];
    free(old);
}

static void place(struct shape_pool *p, const struct expression *g, uint32_t node)
{
    if (2 * p->n_placed >= p->placed_size) grow_placed(p);
    *find_placed(p, g) = (struct placed){g->kids, node};
    p->n_placed++;
}

static uint32_t add_formula(struct shape_pool *p, const struct expression *g);

/* Appends the tree in post order, what is shared once; returns the index of its root. */
static uint32_t add_nodes(struct shape_pool *p, const struct expression *g)
{
    if (!g->shared) return add_formula(p, g);
    if (p->n_placed) {
        const struct placed *old = find_placed(p, g);
        if (old->kids) return old->node;
    }
    uint32_t node = add_formula(p, g);
    place(p, g, node);
    return node;
}

static uint32_t add_formula(struct shape_pool *p, const struct expression *g)
{
    struct shape_node sn;
    memset(&sn, 0, sizeof sn); /* shapes are compared by their bytes */
    sn.op = g->op;
    sn.imm = g->imm;
    if (g->op == FORMULA_FUNC) set_view(p, g, &sn);
    if (is_term(p, g)) {
        sn.imm = 0;
        set_term(p, g, &sn);
        return add_node(p, &sn);
    }
    uint32_t *mine = g->n ? base_malloc(g->n * sizeof *mine) : NULL;
    for (uint32_t i = 0; i < g->n; i++)
        mine[i] = add_nodes(p, g->kids[i]);
    p->kids = reserve(p->kids, &p->cap_kids, p->n_kids + g->n, sizeof *p->kids);
    sn.n = g->n;
    sn.first = (uint32_t)p->n_kids;
    if (g->n) memcpy(p->kids + p->n_kids, mine, g->n * sizeof *mine);
    p->n_kids += g->n;
    free(mine);
    return add_node(p, &sn);
}

static uint32_t shape_of(struct shape_pool *p)
{
    struct space *s = p->space;
    struct strbuf key = {0};
    strbuf_addn(&key, (const char *)p->nodes, p->n_nodes * sizeof *p->nodes);
    if (p->n_kids) strbuf_addn(&key, (const char *)p->kids, p->n_kids * sizeof *p->kids);
    if (p->n_slots) strbuf_addn(&key, (const char *)p->sizes, p->n_slots * sizeof *p->sizes);
    bool fresh;
    uint32_t id = intern(&p->shapes, s->arena, key.text, key.length, (uint32_t)s->n_shapes, &fresh)->id;
    strbuf_free(&key);
    if (!fresh) return id;
    s->shapes = arena_grow(s->arena, s->shapes, &s->cap_shapes, s->n_shapes + 1, sizeof *s->shapes);
    struct shape *sh = &s->shapes[s->n_shapes++];
    *sh = (struct shape){.n_slots = (uint32_t)p->n_slots,
                         .n_nodes = (uint32_t)p->n_nodes,
                         .nodes = arena_memdup(s->arena, p->nodes, p->n_nodes * sizeof *p->nodes),
                         .kids = arena_memdup(s->arena, p->kids, p->n_kids * sizeof *p->kids),
                         .sizes = arena_memdup(s->arena, p->sizes, p->n_slots * sizeof *p->sizes)};
    shape_tabulate(sh, s->arena, &p->tables);
    if (sh->kind == SHAPE_GENERAL) watched_bounds_find(sh, s->arena);
    if (sh->n_nodes > s->max_nodes) s->max_nodes = sh->n_nodes;
    if (sh->n_slots > s->max_nodes) s->max_nodes = sh->n_slots;
    return id;
}

/* Whether the same shape over the same slots under the same guards was added before. */
static bool is_duplicate(struct shape_pool *p, uint32_t shape, const uint32_t *guards, uint32_t n_guards)
{
    struct strbuf key = {0};
    strbuf_addn(&key, (const char *)&shape, sizeof shape);
    if (p->n_slots) strbuf_addn(&key, (const char *)p->slots, p->n_slots * sizeof *p->slots);
    if (n_guards) strbuf_addn(&key, (const char *)guards, n_guards * sizeof *guards);
    bool fresh;
    intern(&p->instances, p->space->arena, key.text, key.length, 0, &fresh);
    strbuf_free(&key);
    return !fresh;
}

static uint32_t append(struct arena *a, uint32_t **array, size_t *cap, size_t *n, const uint32_t *items,
                       size_t count)
{
    *array = arena_grow(a, *array, cap, *n + count + 1, sizeof **array);
    if (count) memcpy(*array + *n, items, count * sizeof *items);
    *n += count;
    return (uint32_t)(*n - count);
}

void shape_add_instance(struct shape_pool *p, const struct expression *g, uint32_t constraint,
                        const uint32_t *guards, uint32_t n_guards)
{
    struct space *s = p->space;
    p->n_nodes = p->n_kids = p->n_slots = 0;
    p->now++;
    clear_placed(p);
    add_nodes(p, g);
    uint32_t shape = shape_of(p);
    if (is_duplicate(p, shape, guards, n_guards)) return;
    struct instance in = {.shape = shape, .constraint = constraint, .n_guards = n_guards};
    in.slots = append(s->arena, &s->instance_slots, &s->cap_instance_slots, &s->n_instance_slots, p->slots,
                      p->n_slots);
    in.guards = append(s->arena, &s->guards, &s->cap_guards, &s->n_guards, guards, n_guards);
    s->instances =
        arena_grow(s->arena, s->instances, &s->cap_instances, s->n_instances + 1, sizeof *s->instances);
    s->instances[s->n_instances++] = in;
}
