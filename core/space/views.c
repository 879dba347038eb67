/* Which changes of a slot can make an untabulated formula remove values.
 *
 * Bounds propagation reads a domain through the extremes of functions of the slot (its views). Often one of
 * the two is enough: `product of sizes <= limit` removes values only when a least size rises. So each node
 * needs to hear of its lower bound, of its upper bound, or of both; the needs go down from the root, which
 * must be true: it needs to hear when it can no longer be (its upper bound). A formula whose slots all have
 * one-sided needs is *monotone*: its bounds are exact when all slots are fixed, and nothing is gained by
 * trying values one by one. A formula is *inert* if bounds never narrow its operands (`x % y == 0`): it is
 * checked when its last choice is fixed, and fails before if its interval says so. */
#include "core/base/arena.h"
#include "core/space/internal.h"

enum { MOST_VIEWS = 6 };

static uint8_t opposite(uint8_t need)
{
    return (uint8_t)((need & NEED_LOW ? NEED_HIGH : 0) | (need & NEED_HIGH ? NEED_LOW : 0));
}

/* The functions of one slot in a GENERAL shape. */
struct slot_views {
    uint32_t n;
    bool always; /* too many: every change may matter */
    uint8_t needs[MOST_VIEWS];
    struct value_view views[MOST_VIEWS];
};

struct analysis {
    const struct shape *shape;
    uint8_t *need;  /* of each node */
    int64_t *least; /* that a node can ever be */
    int64_t *size;  /* that a node, or its negative, can never exceed */
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
        if (n->op == GROUND_ADD)
            lo = expression_add(lo, x);
        else if (n->op == GROUND_MAX ? x > lo : x < lo)
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
    switch ((enum ground_op)n->op) {
    case GROUND_CONST:
        return n->imm;
    case GROUND_FUNC:
        return least_of_view(&n->view);
    case GROUND_TERM:
        return least_of_term(n);
    case GROUND_ADD:
    case GROUND_MIN:
    case GROUND_MAX:
        return least_of_fold(a, n);
    case GROUND_MUL:
        return least_of_product(a, n);
    case GROUND_EQ:
    case GROUND_LE:
    case GROUND_AND:
    case GROUND_OR:
    case GROUND_NOT:
        return 0;
    case GROUND_DIV:
        return a->least[kids[0]] >= 0 && a->least[kids[1]] > 0 ? 0 : -SPACE_BIG;
    case GROUND_ITE:
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
    for (uint32_t v = 0; (n->op == GROUND_FUNC || n->is_function) && v < n->view.n; v++)
        size = larger(size, n->view.table[v]);
    return size;
}

/* A bound of what the node can be, sign aside; SPACE_BIG: a sum or a product that may saturate, or close to
 * it. */
static int64_t size_of_node(const struct analysis *a, const struct shape_node *n)
{
    int64_t size = n->n ? n->op == GROUND_MUL : size_of_leaf(n);
    for (uint32_t k = 0; k < n->n; k++) {
        int64_t x = a->size[a->shape->kids[n->first + k]];
        if (n->op == GROUND_ADD)
            size = expression_add(size, x);
        else
            size = n->op == GROUND_MUL ? expression_mul_natural(size, x) : larger(size, x);
    }
    return size;
}

static void require(struct analysis *a, uint32_t node, uint8_t need)
{
    a->need[node] |= need;
}

static bool is_never_negative(const struct analysis *a, const struct shape_node *n)
{
    for (uint32_t k = 0; k < n->n; k++)
        if (a->least[a->shape->kids[n->first + k]] < 0) return false;
    return true;
}

/* What the condition of `condition ? x : y` needs: with y a constant that x never falls below, the whole
 * rises with it. */
static uint8_t need_of_choice(const struct analysis *a, const struct shape_node *n, uint8_t need)
{
    const uint32_t *kids = a->shape->kids + n->first;
    const struct shape_node *yes = &a->shape->nodes[kids[1]], *no = &a->shape->nodes[kids[2]];
    if (no->op == GROUND_CONST && no->imm <= a->least[kids[1]]) return need;
    if (yes->op == GROUND_CONST && yes->imm <= a->least[kids[2]]) return opposite(need);
    return NEED_BOTH;
}

/* A quotient of naturals rises with its dividend and falls with its divisor. */
static uint8_t need_of_quotient(const struct analysis *a, const struct shape_node *n, uint32_t k,
                                uint8_t need)
{
    const uint32_t *kids = a->shape->kids + n->first;
    if (a->least[kids[0]] < 0 || a->least[kids[1]] < 1) return NEED_BOTH;
    return k == 0 ? need : opposite(need);
}

/* What operand k of a node needs. */
static uint8_t need_of_kid(const struct analysis *a, const struct shape_node *n, uint32_t k, uint8_t need)
{
    switch ((enum ground_op)n->op) {
    case GROUND_ADD:
    case GROUND_MIN:
    case GROUND_MAX:
    case GROUND_AND:
    case GROUND_OR:
        return need;
    case GROUND_MUL:
        return is_never_negative(a, n) ? need : NEED_BOTH;
    case GROUND_NOT:
    case GROUND_NEG:
        return opposite(need);
    case GROUND_LE:
        return k == 0 ? opposite(need) : need;
    case GROUND_ITE:
        return k == 0 ? need_of_choice(a, n, need) : need;
    case GROUND_DIV:
        return need_of_quotient(a, n, k, need);
    default:
        return NEED_BOTH;
    }
}

static void spread_needs(struct analysis *a)
{
    uint32_t root = a->shape->n_nodes - 1;
    require(a, root, NEED_HIGH);
    for (uint32_t i = root + 1; i-- > 0;) {
        const struct shape_node *n = &a->shape->nodes[i];
        for (uint32_t k = 0; k < n->n; k++)
            require(a, a->shape->kids[n->first + k], need_of_kid(a, n, k, a->need[i]));
    }
}

/* The conditions of a term raise and lower it as its value does, unless the constant may exceed the value. */
static uint8_t need_of_conditions(const struct shape_node *n, uint8_t need)
{
    int64_t value = n->is_function ? least_of_view(&n->view) : n->imm;
    return n->otherwise <= value ? need : NEED_BOTH;
}

static bool same_view(const struct value_view *x, const struct value_view *y)
{
    if (x->kind == VIEW_BOOLEAN && y->kind == VIEW_BOOLEAN) return x->yes == y->yes;
    return x->table == y->table;
}

static void add_view(struct slot_views *out, const struct value_view *view, uint8_t need)
{
    for (uint32_t k = 0; k < out->n; k++) {
        if (!same_view(&out->views[k], view)) continue;
        out->needs[k] |= need;
        return;
    }
    if (out->n == MOST_VIEWS) {
        out->always = true;
        return;
    }
    out->views[out->n] = *view;
    out->needs[out->n++] = need;
}

static void add_views(const struct analysis *a, const struct shape_node *n, uint8_t need,
                      struct slot_views *out)
{
    if (n->op == GROUND_FUNC) add_view(&out[n->local], &n->view, need);
    if (n->op != GROUND_TERM) return;
    uint8_t conditions = need_of_conditions(n, need);
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
        if (n->op == GROUND_FUNC || n->is_function) reads++;
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
    if (n->op == GROUND_ADD) return a->size[node] >= SPACE_BIG && (a->need[node] != NEED_LOW || least < 0);
    return n->op == GROUND_MUL && least < 1;
}

static bool has_vague(const struct analysis *a)
{
    for (uint32_t i = 0; i < a->shape->n_nodes; i++)
        if (is_vague(a, i)) return true;
    return false;
}

static bool is_inert(const struct shape *sh)
{
    const struct shape_node *root = &sh->nodes[sh->n_nodes - 1];
    if (root->op != GROUND_EQ && root->op != GROUND_LE) return false;
    for (uint32_t k = 0; k < root->n; k++) {
        uint8_t op = sh->nodes[sh->kids[root->first + k]].op;
        if (op != GROUND_MOD && op != GROUND_CONST) return false;
    }
    return true;
}

static bool divides(const struct shape *sh)
{
    for (uint32_t i = 0; i < sh->n_nodes; i++)
        if (sh->nodes[i].op == GROUND_DIV || sh->nodes[i].op == GROUND_MOD) return true;
    return false;
}

/* Whether so many ways lead down from the root that they cannot be gone one by one. */
static bool is_tangled(const struct shape *sh)
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

void views_find(struct shape *sh, struct arena *arena)
{
    struct analysis a = {.shape = sh};
    struct slot_views *views = ARENA_ARRAY(arena, struct slot_views, sh->n_slots + 1);
    a.need = ARENA_ARRAY(arena, uint8_t, sh->n_nodes);
    a.least = ARENA_ARRAY(arena, int64_t, sh->n_nodes);
    a.size = ARENA_ARRAY(arena, int64_t, sh->n_nodes);
    for (uint32_t i = 0; i < sh->n_nodes; i++) {
        a.least[i] = least_of_node(&a, &sh->nodes[i]);
        a.size[i] = size_of_node(&a, &sh->nodes[i]);
    }
    spread_needs(&a);
    bool *natural = ARENA_ARRAY(arena, bool, sh->n_nodes);
    for (uint32_t i = 0; i < sh->n_nodes; i++)
        natural[i] = sh->nodes[i].op == GROUND_MUL && is_never_negative(&a, &sh->nodes[i]);
    for (uint32_t i = 0; i < sh->n_nodes; i++)
        add_views(&a, &sh->nodes[i], a.need[i], views);
    sh->monotone = true;
    for (uint32_t k = 0; k < sh->n_slots; k++)
        for (uint32_t v = 0; v < views[k].n; v++)
            if (views[k].always || views[k].needs[v] == NEED_BOTH) sh->monotone = false;
    sh->inert = !sh->monotone && is_inert(sh);
    sh->divides = divides(sh);
    sh->tangled = is_tangled(sh);
    sh->exact = !sh->monotone || !(repeats(sh) || has_vague(&a));
    sh->needs = a.need;
    sh->natural = natural;
}

bool views_exact(const struct space *s)
{
    for (size_t i = 0; i < s->n_shapes; i++)
        if (s->shapes[i].kind == SHAPE_GENERAL && !s->shapes[i].exact) return false;
    return true;
}
