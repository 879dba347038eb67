/* Shapes: the formula of an instance with its slots numbered in order of first occurrence. Equal formulas
 * over different slots share one shape; small shapes over at most three slots are tabulated once, so that
 * propagation of all their instances is a few table look-ups (generalized arc consistency). */
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/panic.h"
#include "core/base/strbuf.h"
#include "core/space/internal.h"

enum { MAX_TABLE = 8192, PAIR_VALUES = 64 };

struct interned {
    const void *bytes;
    size_t n;
    uint32_t id;
};

struct intern_table {
    struct interned *entries; /* open addressing; bytes NULL: free */
    size_t size, used;
};

struct shape_pool {
    struct space *space;
    struct intern_table tables, shapes, instances;
    struct shape_node *nodes; /* of the shape being built */
    uint32_t *kids, *slots, *sizes;
    size_t n_nodes, cap_nodes, n_kids, cap_kids, n_slots, cap_slots, cap_sizes;
    uint32_t *stamp, *local; /* by slot: whether it is in slots[] now, and where */
    uint32_t now;
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
    free(p->tables.entries);
    free(p->shapes.entries);
    free(p->instances.entries);
    free(p->nodes);
    free(p->kids);
    free(p->slots);
    free(p->sizes);
    free(p->stamp);
    free(p->local);
    free(p);
}

static size_t intern_probe(const struct intern_table *t, const void *bytes, size_t n)
{
    size_t at = (size_t)hash_finish(hash_bytes(HASH_START, bytes, n)) & (t->size - 1);
    while (t->entries[at].bytes && (t->entries[at].n != n || memcmp(t->entries[at].bytes, bytes, n)))
        at = (at + 1) & (t->size - 1);
    return at;
}

static void intern_grow(struct intern_table *t)
{
    struct intern_table old = *t;
    t->size = old.size ? old.size * 2 : 256;
    t->entries = base_calloc(t->size, sizeof *t->entries);
    for (size_t i = 0; i < old.size; i++)
        if (old.entries[i].bytes)
            t->entries[intern_probe(t, old.entries[i].bytes, old.entries[i].n)] = old.entries[i];
    free(old.entries);
}

/* The entry of equal bytes; a new one copies them and gets `id`. */
static struct interned *intern(struct intern_table *t, struct arena *a, const void *bytes, size_t n,
                               uint32_t id, bool *fresh)
{
    if (t->used * 2 >= t->size) intern_grow(t);
    size_t at = intern_probe(t, bytes, n);
    *fresh = !t->entries[at].bytes;
    if (*fresh) {
        t->entries[at] = (struct interned){arena_memdup(a, bytes, n), n, id};
        t->used++;
    }
    return &t->entries[at];
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
    p->sizes[p->n_slots] = p->space->universes[p->space->slots[slot].universe].n;
    p->stamp[slot] = p->now;
    return p->local[slot] = (uint32_t)p->n_slots++;
}

static const int64_t *intern_values(struct shape_pool *p, const int64_t *values, uint32_t n)
{
    bool fresh;
    return intern(&p->tables, p->space->arena, values, n * sizeof *values, 0, &fresh)->bytes;
}

/* Appends the tree in post order; returns the index of its root. */
static uint32_t add_nodes(struct shape_pool *p, const struct ground_node *g)
{
    struct shape_node sn;
    memset(&sn, 0, sizeof sn);
    sn.op = g->op;
    sn.imm = g->imm;
    sn.n = g->n;
    if (g->op == GROUND_FUNC) {
        sn.local = local_slot(p, g->slot);
        sn.n_table = g->n_table;
        sn.table = intern_values(p, g->table, g->n_table);
    }
    uint32_t *mine = g->n ? base_malloc(g->n * sizeof *mine) : NULL;
    for (uint32_t i = 0; i < g->n; i++)
        mine[i] = add_nodes(p, g->kids[i]);
    p->kids = reserve(p->kids, &p->cap_kids, p->n_kids + g->n, sizeof *p->kids);
    p->nodes = reserve(p->nodes, &p->cap_nodes, p->n_nodes + 1, sizeof *p->nodes);
    sn.first = (uint32_t)p->n_kids;
    if (g->n) memcpy(p->kids + p->n_kids, mine, g->n * sizeof *mine);
    p->n_kids += g->n;
    free(mine);
    memcpy(&p->nodes[p->n_nodes], &sn, sizeof sn);
    return (uint32_t)p->n_nodes++;
}

static void tabulate_unary(struct shape *sh, struct arena *a, int64_t *scratch)
{
    uint64_t *words = ARENA_ARRAY(a, uint64_t, (sh->sizes[0] + 63) / 64);
    for (uint32_t v = 0; v < sh->sizes[0]; v++)
        if (shape_value(sh, &v, scratch)) words[v / 64] |= UINT64_C(1) << v % 64;
    sh->forward = words;
}

static void tabulate_pair(struct shape *sh, struct arena *a, int64_t *scratch)
{
    uint64_t *forward = ARENA_ARRAY(a, uint64_t, sh->sizes[0]),
             *reverse = ARENA_ARRAY(a, uint64_t, sh->sizes[1]);
    for (uint32_t x = 0; x < sh->sizes[0]; x++) {
        for (uint32_t y = 0; y < sh->sizes[1]; y++) {
            if (!shape_value(sh, (uint32_t[]){x, y}, scratch)) continue;
            forward[x] |= UINT64_C(1) << y;
            reverse[y] |= UINT64_C(1) << x;
        }
    }
    sh->forward = forward;
    sh->reverse = reverse;
}

static void tabulate_triple(struct shape *sh, struct arena *a, int64_t *scratch)
{
    const uint32_t *n = sh->sizes;
    uint64_t *forward = ARENA_ARRAY(a, uint64_t, n[0] * n[1]);
    for (uint32_t x = 0; x < n[0]; x++)
        for (uint32_t y = 0; y < n[1]; y++)
            for (uint32_t z = 0; z < n[2]; z++)
                if (shape_value(sh, (uint32_t[]){x, y, z}, scratch))
                    forward[x * n[1] + y] |= UINT64_C(1) << z;
    sh->forward = forward;
}

static enum shape_kind classify(const struct shape *sh)
{
    const uint32_t *n = sh->sizes;
    if (sh->n_slots == 1) return SHAPE_UNARY;
    if (sh->n_slots == 2 && n[0] <= PAIR_VALUES && n[1] <= PAIR_VALUES) return SHAPE_PAIR;
    bool small = sh->n_slots == 3 && n[0] <= PAIR_VALUES && n[1] <= PAIR_VALUES && n[2] <= PAIR_VALUES &&
                 n[0] * n[1] * n[2] <= MAX_TABLE;
    return small ? SHAPE_TRIPLE : SHAPE_GENERAL;
}

/* Whether the table allows slot `k` = u wherever it allows `k` = v. */
static bool allows_more(const struct shape *sh, uint32_t k, uint32_t u, uint32_t v)
{
    const uint32_t *n = sh->sizes;
    if (sh->kind == SHAPE_PAIR) {
        const uint64_t *rows = k ? sh->reverse : sh->forward;
        return !(rows[v] & ~rows[u]);
    }
    for (uint32_t x = 0; x < (k == 0 ? 1 : n[0]); x++) {
        for (uint32_t y = 0; y < (k == 1 ? 1 : n[1]); y++) {
            const uint64_t *t = sh->forward;
            uint64_t of_u = k == 0 ? t[u * n[1] + y] : k == 1 ? t[x * n[1] + u] : t[x * n[1] + y] >> u & 1;
            uint64_t of_v = k == 0 ? t[v * n[1] + y] : k == 1 ? t[x * n[1] + v] : t[x * n[1] + y] >> v & 1;
            if (of_v & ~of_u) return false;
        }
    }
    return true;
}

static void find_dominators(struct shape *sh, struct arena *a)
{
    uint64_t *out = ARENA_ARRAY(a, uint64_t, sh->n_slots * PAIR_VALUES);
    for (uint32_t k = 0; k < sh->n_slots; k++)
        for (uint32_t v = 0; v < sh->sizes[k]; v++)
            for (uint32_t u = 0; u < sh->sizes[k]; u++)
                if (allows_more(sh, k, u, v)) out[k * PAIR_VALUES + v] |= UINT64_C(1) << u;
    sh->dominators = out;
}

/* Collects the distinct functions of every slot of a GENERAL shape. */
static void find_extremes(struct shape *sh, struct arena *a)
{
    enum { SMALL = 16, MOST = 4 };
    struct slot_tables *out = ARENA_ARRAY(a, struct slot_tables, sh->n_slots + 1);
    bool *many = ARENA_ARRAY(a, bool, sh->n_slots + 1);
    for (uint32_t i = 0; i < sh->n_nodes; i++) {
        const struct shape_node *n = &sh->nodes[i];
        if (n->op != GROUND_FUNC) continue;
        struct slot_tables *t = &out[n->local];
        bool known = false;
        for (uint32_t k = 0; k < t->n; k++)
            known = known || t->tables[k] == n->table;
        if (known) continue;
        if (t->n == MOST)
            many[n->local] = true;
        else
            t->tables[t->n++] = n->table;
    }
    for (uint32_t k = 0; k < sh->n_slots; k++)
        if (many[k] || sh->sizes[k] > SMALL) out[k].n = 0;
    sh->extremes = out;
}

static void tabulate(struct shape *sh, struct arena *a)
{
    int64_t *scratch = base_malloc(sh->n_nodes * sizeof *scratch);
    sh->kind = classify(sh);
    if (sh->kind == SHAPE_UNARY)
        tabulate_unary(sh, a, scratch);
    else if (sh->kind == SHAPE_PAIR)
        tabulate_pair(sh, a, scratch);
    else if (sh->kind == SHAPE_TRIPLE)
        tabulate_triple(sh, a, scratch);
    if (sh->kind == SHAPE_GENERAL) find_extremes(sh, a);
    if (sh->kind == SHAPE_PAIR || sh->kind == SHAPE_TRIPLE) find_dominators(sh, a);
    free(scratch);
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
    tabulate(sh, s->arena);
    if (sh->n_nodes > s->max_nodes) s->max_nodes = sh->n_nodes;
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

void shape_add_instance(struct shape_pool *p, const struct ground_node *g, uint32_t constraint,
                        const uint32_t *guards, uint32_t n_guards)
{
    struct space *s = p->space;
    p->n_nodes = p->n_kids = p->n_slots = 0;
    p->now++;
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
