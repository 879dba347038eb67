/* Makes the cells (cells.h) of all formulas without a table, and links them.
 *
 *     require size(p) * size(q) <= 8      require size(p) * size(q) + size(r) <= 12
 *
 * share one cell for the product, and one for each size. Links are lists: the users of a cell, the instances
 * that it is the root of, the leaves that read a slot, the cells that a liveness slot resumes. */
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/strbuf.h"
#include "core/space/engine/cells.h"
#include "core/space/data/intern.h"

/* ---- which cells there are ---- */

struct builder {
    struct space *s;
    struct intern_table known;
    struct strbuf key;
};

static void add_key(struct builder *b, const void *bytes, size_t n)
{
    strbuf_addn(&b->key, bytes, n);
}

/* Nodes are equal if they compute the same of the same slots and cells. Tables are shared by equal ones. */
static void describe(struct builder *b, const struct shape_node *n, const uint32_t *slots,
                     const uint32_t *kids)
{
    b->key.length = 0;
    add_key(b, &n->op, sizeof n->op);
    add_key(b, &n->imm, sizeof n->imm);
    add_key(b, &n->otherwise, sizeof n->otherwise);
    add_key(b, &n->is_function, sizeof n->is_function);
    add_key(b, &n->n_conditions, sizeof n->n_conditions);
    if (n->op == FORMULA_FUNC || n->is_function) {
        add_key(b, &n->view.table, sizeof n->view.table);
        add_key(b, &slots[n->local], sizeof *slots);
    }
    for (uint32_t i = 0; i < n->n_conditions; i++) {
        add_key(b, &n->conditions[i].yes, sizeof n->conditions[i].yes);
        add_key(b, &slots[n->conditions[i].local], sizeof *slots);
    }
    if (n->n) add_key(b, kids, n->n * sizeof *kids);
}

static const struct cell_condition *copy_conditions(struct space *s, const struct cell *c)
{
    struct cell_condition *list = ARENA_ARRAY(s->arena, struct cell_condition, c->n_conditions + 1u);
    for (uint32_t i = 0; i < c->n_conditions; i++) {
        const struct shape_condition *from = &c->node->conditions[i];
        const struct slot_info *info = &s->slots[cell_slot(s, c, (uint32_t)from->local)];
        list[i] = (struct cell_condition){from->yes, info->mask & ~from->yes, info->offset};
    }
    return list;
}

static uint32_t find_or_add(struct builder *b, const struct cell *like)
{
    struct space *s = b->s;
    describe(b, like->node, s->instance_slots + like->slots, like->kids);
    bool fresh;
    uint32_t id = intern(&b->known, s->arena, b->key.text, b->key.length, (uint32_t)s->n_cells, &fresh)->id;
    if (!fresh) return id;
    s->cells = arena_grow(s->arena, s->cells, &s->cap_cells, s->n_cells + 1, sizeof *s->cells);
    struct cell *c = &s->cells[s->n_cells++];
    *c = *like;
    if (like->is_function) {
        const struct slot_info *info = &s->slots[cell_slot(s, like, like->node->local)];
        c->function = info->offset;
        c->foreign_bits = slot_foreign_bits(info);
    }
    if (like->op == FORMULA_TERM)
        c->conditions = copy_conditions(s, like);
    else
        c->kids = arena_memdup(s->arena, like->kids, like->n * sizeof *like->kids);
    return id;
}

static void add_instance(struct builder *b, struct instance *in)
{
    struct space *s = b->s;
    const struct shape *sh = &s->shapes[in->shape];
    uint32_t *kids = base_malloc((s->max_nodes + 1) * sizeof *kids);
    in->cells = (uint32_t)s->n_instance_cells;
    s->instance_cells = arena_grow(s->arena, s->instance_cells, &s->cap_instance_cells,
                                   s->n_instance_cells + sh->n_nodes, sizeof *s->instance_cells);
    for (uint32_t i = 0; i < sh->n_nodes; i++) {
        const struct shape_node *n = &sh->nodes[i];
        for (uint32_t k = 0; k < n->n; k++)
            kids[k] = s->instance_cells[in->cells + sh->kids[n->first + k]];
        struct cell like = {.op = n->op,
                            .n_conditions = n->n_conditions,
                            .is_function = n->op == FORMULA_FUNC || n->is_function,
                            .n = n->n,
                            .kids = kids,
                            .node = n,
                            .slots = in->slots};
        s->instance_cells[s->n_instance_cells++] = find_or_add(b, &like);
    }
    free(kids);
}

static bool has_cells(const struct space *s, uint32_t instance)
{
    const struct instance *in = &s->instances[instance];
    return s->shapes[in->shape].kind == SHAPE_GENERAL && !in->related;
}

void cells_build(struct space *s)
{
    struct builder b = {.s = s};
    for (uint32_t i = 0; i < s->n_instances; i++)
        if (has_cells(s, i)) add_instance(&b, &s->instances[i]);
    intern_free(&b.known);
    strbuf_free(&b.key);
    s->cells_at = (uint32_t)(s->vector_bytes + 7) / 8 * 8;
    s->vector_bytes = s->cells_at + s->n_cells * sizeof(struct interval);
}

/* ---- links ---- */

/* Lists by owner, made in two passes: counted, then filled. */
struct pair {
    uint32_t owner, item;
};

struct pairs {
    struct pair *list;
    size_t n, cap;
};

static void add_pair(struct pairs *p, uint32_t owner, uint32_t item)
{
    if (p->n == p->cap) {
        p->cap = p->cap ? 2 * p->cap : 1024;
        p->list = base_realloc(p->list, p->cap * sizeof *p->list);
    }
    p->list[p->n++] = (struct pair){owner, item};
}

static int compare(const void *x, const void *y)
{
    const struct pair *a = x, *b = y;
    if (a->owner != b->owner) return a->owner < b->owner ? -1 : 1;
    return (a->item > b->item) - (a->item < b->item);
}

static void sort_distinct(struct pairs *p)
{
    size_t kept = 0;
    if (p->n) qsort(p->list, p->n, sizeof *p->list, compare);
    for (size_t i = 0; i < p->n; i++)
        if (i == 0 || compare(&p->list[i], &p->list[i - 1])) p->list[kept++] = p->list[i];
    p->n = kept;
}

/* Guards common to all instances of a cell, while they are found. */
struct guards {
    bool any;
    uint32_t n, offsets[STATE_MAX_PENDING];
};

static void meet_guards(const struct space *s, const struct instance *in, struct guards *g)
{
    const struct guards before = *g;
    g->any = true;
    g->n = 0;
    for (uint32_t k = 0; k < in->n_guards && g->n < STATE_MAX_PENDING; k++) {
        uint32_t offset = s->guard_at[in->guards + k];
        bool common = !before.any;
        for (uint32_t i = 0; i < before.n && !common; i++)
            common = before.offsets[i] == offset;
        if (common) g->offsets[g->n++] = offset;
    }
}

struct linker {
    struct space *s;
    struct guards *guards; /* by cell */
    bool *used;
    struct pairs users, roots, leaves, resumed;
};

static void link_instance(struct linker *l, uint32_t instance)
{
    struct space *s = l->s;
    const struct instance *in = &s->instances[instance];
    const struct shape *sh = &s->shapes[in->shape];
    for (uint32_t i = 0; i < sh->n_nodes; i++) {
        uint32_t cell = s->instance_cells[in->cells + i];
        l->used[cell] = true;
        s->cells[cell].watched |= sh->watched[i];
        s->cells[cell].natural = sh->natural[i];
        meet_guards(s, in, &l->guards[cell]);
    }
    add_pair(&l->roots, s->instance_cells[in->cells + sh->n_nodes - 1], instance);
}

static void link_cell(struct linker *l, uint32_t cell)
{
    struct space *s = l->s;
    struct cell *c = &s->cells[cell];
    for (uint32_t k = 0; k < c->n; k++)
        add_pair(&l->users, c->kids[k], cell);
    if (c->is_function) add_pair(&l->leaves, cell_slot(s, c, c->node->local), cell);
    for (uint32_t k = 0; k < c->n_conditions; k++)
        add_pair(&l->leaves, cell_slot(s, c, (uint32_t)c->node->conditions[k].local), cell);
    for (uint32_t k = 0; k < 2; k++)
        c->guards[k] = k < l->guards[cell].n ? l->guards[cell].offsets[k] : vector_always_live(s);
}

/* Which liveness slot has its domain at an offset. */
static void link_guards(struct linker *l)
{
    struct space *s = l->s;
    uint32_t *slot_at = base_malloc(s->vector_bytes * sizeof *slot_at);
    for (uint32_t slot = s->n_slots; slot < s->n_all; slot++)
        slot_at[s->slots[slot].offset] = slot;
    for (uint32_t cell = 0; cell < s->n_cells; cell++)
        for (uint32_t k = 0; l->used[cell] && k < 2 && k < l->guards[cell].n; k++)
            add_pair(&l->resumed, slot_at[s->cells[cell].guards[k]], cell);
    free(slot_at);
}

static void store_users(struct linker *l)
{
    struct space *s = l->s;
    s->cell_users = ARENA_ARRAY(s->arena, uint32_t, l->users.n + 1);
    s->cell_roots = ARENA_ARRAY(s->arena, struct cell_root, l->roots.n + 1);
    for (uint32_t i = 0; i < l->users.n; i++) {
        struct cell *c = &s->cells[l->users.list[i].owner];
        if (!c->n_users++) c->users = i;
        s->cell_users[i] = l->users.list[i].item;
    }
    for (uint32_t i = 0; i < l->roots.n; i++) {
        struct cell *c = &s->cells[l->roots.list[i].owner];
        uint32_t instance = l->roots.list[i].item;
        if (!c->n_roots++) c->roots = i;
        const struct shape *sh = &s->shapes[s->instances[instance].shape];
        s->cell_roots[i] =
            (struct cell_root){watch_make(s, instance, SPACE_NONE), sh->monotone, sh->checked_only};
    }
}

static uint32_t count_kid(const struct cell *user, uint32_t cell)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < user->n; k++)
        n += user->kids[k] == cell;
    return n;
}

/* A cell has only to stay small if all it is part of is sums, products and maxima, at most constants. In how
 * many ways it leads up to those constants then; 0: it does not, or in more than has_slack() should go.
 * `ways`: of its users. */
static uint32_t ways_to_limits(const struct space *s, uint32_t cell, const uint32_t *ways)
{
    enum { MOST = 64 };
    const struct cell *c = &s->cells[cell];
    uint32_t sum = 0;
    if (c->n_roots || c->watched != BOUND_LOW) return 0;
    for (uint32_t k = 0; k < c->n_users; k++) {
        const struct cell *user = &s->cells[s->cell_users[c->users + k]];
        bool comparison = user->op == FORMULA_LE && user->kids[0] == cell &&
                          s->cells[user->kids[1]].op == FORMULA_CONST && !user->n_users;
        if (count_kid(user, cell) > 1) return 0; /* the room that has_slack() finds is for one of them */
        bool rising = user->op == FORMULA_ADD || user->op == FORMULA_MUL || user->op == FORMULA_MAX ||
                      (user->op == FORMULA_ITE && user->kids[0] != cell);
        uint32_t of_user = comparison ? 1 : rising ? ways[s->cell_users[c->users + k]] : 0;
        sum += of_user;
        if (of_user == 0 || sum > MOST) return 0;
    }
    return sum;
}

/* A term that only has to be large enough requires all of its conditions at once. */
static void mark_term(struct cell *c, bool upper_limited)
{
    if (c->op != FORMULA_TERM) return;
    c->upper_limited = upper_limited;
    c->counts = c->watched != BOUND_HIGH || c->node->otherwise > c->node->imm || c->is_function;
}

/* Users come after their operands. */
static void mark_terms(struct space *s)
{
    uint32_t *ways = base_calloc(s->n_cells + 1, sizeof *ways);
    for (uint32_t i = (uint32_t)s->n_cells; i-- > 0;) {
        ways[i] = ways_to_limits(s, i, ways);
        mark_term(&s->cells[i], ways[i] > 0);
    }
    free(ways);
}

/* The values that a function of up to 64 values has its least or greatest number of. */
static uint64_t values_of_extreme(const struct value_view *view, bool greatest)
{
    uint64_t values = 0;
    int64_t extreme = 0;
    for (uint32_t v = 0; v < view->n; v++) {
        int64_t x = view->table[v];
        if (values && (greatest ? x < extreme : x > extreme)) continue;
        if (x != extreme) values = 0;
        extreme = x;
        values |= UINT64_C(1) << v;
    }
    return values;
}

/* Of numbers the bound that nobody needs may lag behind. Of a boolean both count: formulas that have become
 * true ask for nothing more. */
static void read_function(const struct cell *c, struct slot_leaf *leaf)
{
    const struct value_view *view = &c->node->view;
    leaf->least = values_of_extreme(view, false);
    leaf->most = values_of_extreme(view, true);
    if (c->op == FORMULA_FUNC && view->kind == VIEW_BOOLEAN) return;
    if (c->watched == BOUND_LOW) leaf->most = leaf->least;
    if (c->watched == BOUND_HIGH) leaf->least = leaf->most;
}

/* What a cell reads of a slot, if it does so once. */
static struct slot_leaf leaf_of(const struct space *s, uint32_t cell, uint32_t slot)
{
    const struct cell *c = &s->cells[cell];
    const struct shape_node *n = c->node;
    struct slot_leaf leaf = {0, 0, cell}, unknown = leaf;
    if (s->slots[slot].words > 1) return unknown;
    if (c->is_function && cell_slot(s, c, n->local) == slot) read_function(c, &leaf);
    for (uint32_t i = 0; i < c->n_conditions; i++) {
        if (cell_slot(s, c, (uint32_t)n->conditions[i].local) != slot) continue;
        if (leaf.most) return unknown;
        leaf.most = n->conditions[i].yes;
        leaf.least = c->counts || slot < s->n_slots ? ~leaf.most : UINT64_MAX;
    }
    return leaf;
}

static void store_leaves(struct linker *l)
{
    struct space *s = l->s;
    s->slot_leaves = ARENA_ARRAY(s->arena, struct slot_leaf, l->leaves.n + 1);
    s->resumed_cells = ARENA_ARRAY(s->arena, uint32_t, l->resumed.n + 1);
    s->slot_cells = ARENA_ARRAY(s->arena, struct slot_cells, s->n_all + 1);
    for (uint32_t i = 0; i < l->leaves.n; i++) {
        struct pair p = l->leaves.list[i];
        struct slot_cells *of = &s->slot_cells[p.owner];
        if (!of->n_leaves++) of->leaves = i;
        s->slot_leaves[i] = leaf_of(s, p.item, p.owner);
    }
    for (uint32_t i = 0; i < l->resumed.n; i++) {
        struct slot_cells *of = &s->slot_cells[l->resumed.list[i].owner];
        if (!of->n_resumed++) of->resumed = i;
        s->resumed_cells[i] = l->resumed.list[i].item;
    }
    for (uint32_t i = 0; i < s->n_all; i++)
        s->slots[i].has_cells = s->slot_cells[i].n_leaves + s->slot_cells[i].n_resumed > 0;
}

static void find_sole_users(struct space *s)
{
    for (uint32_t i = (uint32_t)s->n_cells; i-- > 0;) {
        struct cell *c = &s->cells[i];
        bool only_user = c->n_users == 1 && !c->n_roots;
        c->sole_user = only_user ? s->cells[s->cell_users[c->users]].sole_user : i;
    }
}

void cells_link(struct space *s)
{
    struct linker l = {.s = s};
    l.guards = base_calloc(s->n_cells + 1, sizeof *l.guards);
    l.used = base_calloc(s->n_cells + 1, sizeof *l.used);
    for (uint32_t i = 0; i < s->n_cells; i++)
        s->cells[i].n_users = s->cells[i].n_roots = s->cells[i].watched = 0;
    for (uint32_t i = 0; i < s->n_instances; i++)
        if (has_cells(s, i) && !s->entailed[i]) link_instance(&l, i);
    for (uint32_t i = 0; i < s->n_cells; i++)
        if (l.used[i]) link_cell(&l, i);
    link_guards(&l);
    sort_distinct(&l.users);
    sort_distinct(&l.roots);
    sort_distinct(&l.leaves);
    sort_distinct(&l.resumed);
    store_users(&l);
    mark_terms(s);
    store_leaves(&l);
    find_sole_users(s);
    free(l.users.list);
    free(l.roots.list);
    free(l.leaves.list);
    free(l.resumed.list);
    free(l.guards);
    free(l.used);
}
