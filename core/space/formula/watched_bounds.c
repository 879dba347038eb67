/* Watched bounds: which changes of a slot can make a GENERAL formula remove values.
 *
 * Bounds propagation reads a domain through the least and the greatest number of each function of the slot (a
 * view). Often one of the two is enough:
 *
 *     size(p) * size(q) * size(r) * size(s) <= 64
 *
 * removes values only when the least number of a factor rises, so the losses of large values of size(p) are
 * of no concern. Each node watches its lower bound, its upper
 * bound, or both. The root must be true, so it watches its upper bound, which says when it can no longer be;
 * from there the bounds go down: `<=` asks for the lower bound of its left side, a product of naturals for
 * the same bound of its factors, and so on.
 *
 * What follows for the whole formula:
 * - *monotone*: every view is watched on one side only. Bounds are then exact when all slots are fixed, and
 *   nothing is gained by trying values one by one.
 * - *checked only*: bounds never narrow its operands (`x % y == 0`). It is checked when its last choice is
 *   fixed, and fails before if its interval says so.
 * - *exact*: no value of its last open slot is kept that makes it false.
 * - *many paths*: so many ways lead down to what nodes share that they cannot be gone one by one. */
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/space/formula/shape.h"

enum { MOST_VIEWS = 6 };

static uint8_t opposite(uint8_t bounds)
{
    return (uint8_t)((bounds & BOUND_LOW ? BOUND_HIGH : 0) | (bounds & BOUND_HIGH ? BOUND_LOW : 0));
}

/* The functions of one slot in a GENERAL shape. */
struct slot_views {
    uint32_t n;
    bool always; /* too many: every change may matter */
    uint8_t bounds[MOST_VIEWS];
    struct value_view views[MOST_VIEWS];
};

struct analysis {
    const struct shape *shape;
    uint8_t *watched; /* of each node */
    int64_t *least;   /* that a node can ever be */
    int64_t *size;    /* that a node, or its negative, can never exceed */
};

static int64_t least_of_view(const struct value_view *v)
{
    int64_t lo = v->table[0];
    for (uint32_t i = 1; i < v->n; i++)
        if (v->table[i] < lo) lo = v->table[i];
    return lo;
}

static int64_t least_of_term(const struct shape_node *n)
{
    int64_t value = n->is_function ? least_of_view(&n->view) : n->imm;
    return value < n->otherwise ? value : n->otherwise;
}

static int64_t least_of_fold(const struct analysis *a, const struct shape_node *n)
{
    const uint32_t *kids = a->shape->kids + n->first;
    int64_t lo = a->least[kids[0]];
    for (uint32_t k = 1; k < n->n; k++) {
        int64_t x = a->least[kids[k]];
        if (n->op == FORMULA_ADD)
            lo = expression_add(lo, x);
        else if (n->op == FORMULA_MAX ? x > lo : x < lo)
            lo = x;
    }
    return lo;
}

static int64_t least_of_product(const struct analysis *a, const struct shape_node *n)
{
    int64_t lo = 1;
    for (uint32_t k = 0; k < n->n; k++) {
        int64_t x = a->least[a->shape->kids[n->first + k]];
        if (x < 0) return -SPACE_BIG;
        lo = expression_mul_natural(lo, x);
    }
    return lo;
}

/* A lower bound of what the node can be, whatever is decided; -SPACE_BIG where it does not matter. */
static int64_t least_of_node(const struct analysis *a, const struct shape_node *n)
{
    const uint32_t *kids = a->shape->kids + n->first;
    switch ((enum formula_op)n->op) {
    case FORMULA_CONST:
        return n->imm;
    case FORMULA_FUNC:
        return least_of_view(&n->view);
    case FORMULA_TERM:
        return least_of_term(n);
    case FORMULA_ADD:
    case FORMULA_MIN:
    case FORMULA_MAX:
        return least_of_fold(a, n);
    case FORMULA_MUL:
        return least_of_product(a, n);
    case FORMULA_EQ:
    case FORMULA_LE:
    case FORMULA_AND:
    case FORMULA_OR:
    case FORMULA_NOT:
        return 0;
    case FORMULA_DIV:
        return a->least[kids[0]] >= 0 && a->least[kids[1]] > 0 ? 0 : -SPACE_BIG;
    case FORMULA_ITE:
        return a->least[kids[1]] < a->least[kids[2]] ? a->least[kids[1]] : a->least[kids[2]];
    default:
        return -SPACE_BIG;
    }
}

static int64_t larger(int64_t size, int64_t x)
{
    x = x < 0 ? -x : x;
    return x > size ? x : size;
}

/* Of a leaf: its greatest number, sign aside. */
static int64_t size_of_leaf(const struct shape_node *n)
{
    int64_t size = larger(larger(0, n->imm), n->otherwise);
    for (uint32_t v = 0; (n->op == FORMULA_FUNC || n->is_function) && v < n->view.n; v++)
        size = larger(size, n->view.table[v]);
    return size;
}

/* A bound of what the node can be, sign aside; SPACE_BIG: a sum or a product that may saturate, or close to
 * it. */
static int64_t size_of_node(const struct analysis *a, const struct shape_node *n)
{
    int64_t size = n->n ? n->op == FORMULA_MUL : size_of_leaf(n);
    for (uint32_t k = 0; k < n->n; k++) {
        int64_t x = a->size[a->shape->kids[n->first + k]];
        if (n->op == FORMULA_ADD)
            size = expression_add(size, x);
        else
            size = n->op == FORMULA_MUL ? expression_mul_natural(size, x) : larger(size, x);
    }
    return size;
}

static void watch(struct analysis *a, uint32_t node, uint8_t bounds)
{
    a->watched[node] |= bounds;
}

static bool is_never_negative(const struct analysis *a, const struct shape_node *n)
{
    for (uint32_t k = 0; k < n->n; k++)
        if (a->least[a->shape->kids[n->first + k]] < 0) return false;
    return true;
}

/* What the condition of `condition ? x : y` needs: with y a constant that x never falls below, the whole
 * rises with it. */
static uint8_t bounds_of_condition(const struct analysis *a, const struct shape_node *n, uint8_t bounds)
{
    const uint32_t *kids = a->shape->kids + n->first;
    const struct shape_node *yes = &a->shape->nodes[kids[1]], *no = &a->shape->nodes[kids[2]];
    if (no->op == FORMULA_CONST && no->imm <= a->least[kids[1]]) return bounds;
    if (yes->op == FORMULA_CONST && yes->imm <= a->least[kids[2]]) return opposite(bounds);
    return BOUND_BOTH;
}

/* A quotient of naturals rises with its dividend and falls with its divisor. */
static uint8_t bounds_of_quotient(const struct analysis *a, const struct shape_node *n, uint32_t k,
                                  uint8_t bounds)
{
    const uint32_t *kids = a->shape->kids + n->first;
    if (a->least[kids[0]] < 0 || a->least[kids[1]] < 1) return BOUND_BOTH;
    return k == 0 ? bounds : opposite(bounds);
}

/* What operand k of a node needs. */
static uint8_t bounds_of_operand(const struct analysis *a, const struct shape_node *n, uint32_t k,
                                 uint8_t bounds)
{
    switch ((enum formula_op)n->op) {
    case FORMULA_ADD:
    case FORMULA_MIN:
    case FORMULA_MAX:
    case FORMULA_AND:
    case FORMULA_OR:
        return bounds;
    case FORMULA_MUL:
        return is_never_negative(a, n) ? bounds : BOUND_BOTH;
    case FORMULA_NOT:
    case FORMULA_NEG:
        return opposite(bounds);
    case FORMULA_LE:
        return k == 0 ? opposite(bounds) : bounds;
    case FORMULA_ITE:
        return k == 0 ? bounds_of_condition(a, n, bounds) : bounds;
    case FORMULA_DIV:
        return bounds_of_quotient(a, n, k, bounds);
    default:
        return BOUND_BOTH;
    }
}

static void spread_watched(struct analysis *a)
{
    uint32_t root = a->shape->n_nodes - 1;
    watch(a, root, BOUND_HIGH);
    for (uint32_t i = root + 1; i-- > 0;) {
        const struct shape_node *n = &a->shape->nodes[i];
        for (uint32_t k = 0; k < n->n; k++)
            watch(a, a->shape->kids[n->first + k], bounds_of_operand(a, n, k, a->watched[i]));
    }
}

/* The conditions of a term raise and lower it as its value does, unless the constant may exceed the value. */
static uint8_t bounds_of_conditions(const struct shape_node *n, uint8_t bounds)
{
    int64_t value = n->is_function ? least_of_view(&n->view) : n->imm;
    return n->otherwise <= value ? bounds : BOUND_BOTH;
}

static bool same_view(const struct value_view *x, const struct value_view *y)
{
    if (x->kind == VIEW_BOOLEAN && y->kind == VIEW_BOOLEAN) return x->yes == y->yes;
    return x->table == y->table;
}

static void add_view(struct slot_views *out, const struct value_view *view, uint8_t bounds)
{
    for (uint32_t k = 0; k < out->n; k++) {
        if (!same_view(&out->views[k], view)) continue;
        out->bounds[k] |= bounds;
        return;
    }
    if (out->n == MOST_VIEWS) {
        out->always = true;
        return;
    }
    out->views[out->n] = *view;
    out->bounds[out->n++] = bounds;
}

static void add_views(const struct analysis *a, const struct shape_node *n, uint8_t bounds,
                      struct slot_views *out)
{
    if (n->op == FORMULA_FUNC) add_view(&out[n->local], &n->view, bounds);
    if (n->op != FORMULA_TERM) return;
    uint8_t conditions = bounds_of_conditions(n, bounds);
    if (n->is_function) add_view(&out[n->local], &n->view, conditions);
    for (uint32_t c = 0; c < n->n_conditions; c++) {
        uint32_t local = (uint32_t)n->conditions[c].local;
        struct value_view view = {
            .kind = VIEW_BOOLEAN, .n = a->shape->sizes[local], .yes = n->conditions[c].yes};
        add_view(&out[local], &view, conditions);
    }
}

/* Whether a slot is read in more than one place, or in a formula that is. */
static bool repeats(const struct shape *sh)
{
    uint32_t reads = 0, uses = 0;
    for (uint32_t i = 0; i < sh->n_nodes; i++) {
        const struct shape_node *n = &sh->nodes[i];
        reads += n->n_conditions;
        uses += n->n;
        if (n->op == FORMULA_FUNC || n->is_function) reads++;
    }
    return reads > sh->n_slots || uses >= sh->n_nodes;
}

/* Whether bounds leave a sum or a product values that it cannot have although nothing else is open: sums that
 * may saturate, but for those of naturals that only have to stay small, and products with factors that may be
 * 0. */
static bool is_vague(const struct analysis *a, uint32_t node)
{
    const struct shape_node *n = &a->shape->nodes[node];
    int64_t least = SPACE_BIG;
    for (uint32_t k = 0; k < n->n; k++)
        if (a->least[a->shape->kids[n->first + k]] < least) least = a->least[a->shape->kids[n->first + k]];
    if (n->op == FORMULA_ADD)
        return a->size[node] >= SPACE_BIG && (a->watched[node] != BOUND_LOW || least < 0);
    return n->op == FORMULA_MUL && least < 1;
}

static bool has_vague(const struct analysis *a)
{
    for (uint32_t i = 0; i < a->shape->n_nodes; i++)
        if (is_vague(a, i)) return true;
    return false;
}

static bool is_checked_only(const struct shape *sh)
{
    const struct shape_node *root = &sh->nodes[sh->n_nodes - 1];
    if (root->op != FORMULA_EQ && root->op != FORMULA_LE) return false;
    for (uint32_t k = 0; k < root->n; k++) {
        uint8_t op = sh->nodes[sh->kids[root->first + k]].op;
        if (op != FORMULA_MOD && op != FORMULA_CONST) return false;
    }
    return true;
}

static bool divides(const struct shape *sh)
{
    for (uint32_t i = 0; i < sh->n_nodes; i++)
        if (sh->nodes[i].op == FORMULA_DIV || sh->nodes[i].op == FORMULA_MOD) return true;
    return false;
}

/* Whether so many ways lead down from the root that they cannot be gone one by one. */
static bool has_many_paths(const struct shape *sh)
{
    enum { MOST_PER_NODE = 8 };
    uint64_t total = 0, most = (uint64_t)sh->n_nodes * MOST_PER_NODE;
    uint64_t *ways = base_calloc(sh->n_nodes, sizeof *ways);
    ways[sh->n_nodes - 1] = 1;
    for (uint32_t i = sh->n_nodes; i-- > 0 && total <= most;) {
        total += ways[i];
        for (uint32_t k = 0; k < sh->nodes[i].n; k++)
            ways[sh->kids[sh->nodes[i].first + k]] += ways[i];
    }
    free(ways);
    return total > most;
}

void watched_bounds_find(struct shape *sh, struct arena *arena)
{
    struct analysis a = {.shape = sh};
    struct slot_views *views = ARENA_ARRAY(arena, struct slot_views, sh->n_slots + 1);
    a.watched = ARENA_ARRAY(arena, uint8_t, sh->n_nodes);
    a.least = ARENA_ARRAY(arena, int64_t, sh->n_nodes);
    a.size = ARENA_ARRAY(arena, int64_t, sh->n_nodes);
    for (uint32_t i = 0; i < sh->n_nodes; i++) {
        a.least[i] = least_of_node(&a, &sh->nodes[i]);
        a.size[i] = size_of_node(&a, &sh->nodes[i]);
    }
    spread_watched(&a);
    bool *natural = ARENA_ARRAY(arena, bool, sh->n_nodes);
    for (uint32_t i = 0; i < sh->n_nodes; i++)
        natural[i] = sh->nodes[i].op == FORMULA_MUL && is_never_negative(&a, &sh->nodes[i]);
    for (uint32_t i = 0; i < sh->n_nodes; i++)
        add_views(&a, &sh->nodes[i], a.watched[i], views);
    sh->monotone = true;
    for (uint32_t k = 0; k < sh->n_slots; k++)
        for (uint32_t v = 0; v < views[k].n; v++)
            if (views[k].always || views[k].bounds[v] == BOUND_BOTH) sh->monotone = false;
    sh->checked_only = !sh->monotone && is_checked_only(sh);
    sh->divides = divides(sh);
    sh->many_paths = has_many_paths(sh);
    sh->exact = !sh->monotone || !(repeats(sh) || has_vague(&a));
    sh->watched = a.watched;
    sh->natural = natural;
}

bool formulas_are_exact(const struct space *s)
{
    for (size_t i = 0; i < s->n_shapes; i++)
        if (s->shapes[i].kind == SHAPE_GENERAL && !s->shapes[i].exact) return false;
    return true;
}
