/* Barriers around staged regions, and those that PoCL 3.1 needs.
 *
 * A region's dependence is an interval of the children of the innermost node around its store and its load:
 * from the store's child to the load's, and if that node is a loop also from the load's child round the back
 * edge to the store's. Every interval needs one barrier; taking the last point of the interval that ends
 * first gives the fewest. All that goes round the back edge passes both ends of the body, so what is left
 * needs one barrier there, at the end if nothing else is to be said for the head. Points are legal outside
 * thread nests and predicates only, so a dependence inside a thread nest is refused (lift page, step 3; CC'22
 * section 4.6). A group of one work-item needs none, nor does a region of which each work-item reads only
 * what it wrote (depend.c).
 *
 * PoCL 3.1 makes loops over the work-items of the code between barriers, once LLVM is done with it. Two forms
 * of a loop with barriers do not survive that; a barrier, which LLVM neither copies nor moves, keeps them
 * apart:
 * - The body begins with a loop that does not depend on it. LLVM takes the two heads for one, and PoCL fails
 *   an assertion (ParallelRegion.cc:346, :427). The barrier is the first of the body.
 * - Work-items are told apart by a predicate after the last barrier of the body, and again after the loop.
 *   LLVM leaves the loop by two ways, one for each outcome, and the code after it runs for no work-item. The
 *   barrier follows the loop. */
#include "core/codegen/program.h"

#include "core/base/arena.h"

struct interval {
    unsigned write, read; /* children of the node; write < read */
    const struct cg_region *region;
};

struct site {
    struct cg_node *node;
    unsigned n;
    struct interval *intervals; /* ascending by read */
    struct cg_node **before;    /* [n_children + 1] barrier before that child; the last: at the end */
};

static unsigned child_towards(const struct cg_node *up, const struct cg_node *n)
{
    while (n->parent != up)
        n = n->parent;
    unsigned i = 0;
    while (up->children[i] != n)
        i++;
    return i;
}

static void add_interval(struct site *s, struct interval x)
{
    unsigned i = s->n++;
    for (; i > 0 && s->intervals[i - 1].read > x.read; i--)
        s->intervals[i] = s->intervals[i - 1];
    s->intervals[i] = x;
}

static void collect(struct cg_program *p, struct site *s)
{
    for (uint32_t v = 0; v < p->bb->n_values; v++) {
        const struct bb_value *value = &p->bb->values[v];
        if (!p->regions[value->region].used) continue;
        struct cg_node *store = p->inst_node[value->copy_store], *load = p->inst_node[value->load];
        if (cg_common(store, load) != s->node) continue;
        if (!p->options.no_barrier_elimination && !cg_depends(p, value)) continue;
        add_interval(s, (struct interval){child_towards(s->node, store), child_towards(s->node, load),
                                          &p->regions[value->region]});
    }
}

static void fence(struct cg_node *barrier, const struct cg_region *r)
{
    if (r->space == BB_MEM_LOCAL)
        barrier->fence_local = true;
    else
        barrier->fence_global = true;
}

static struct cg_node *find(const struct site *s, unsigned first, unsigned last)
{
    for (unsigned i = first; i <= last; i++)
        if (s->before[i]) return s->before[i];
    return NULL;
}

static struct cg_node *barrier_at(struct cg_program *p, struct site *s, unsigned point)
{
    if (s->before[point]) return s->before[point];
    struct cg_node *barrier = s->before[point] = cg_node_new(p, CG_BARRIER);
    barrier->parent = s->node;
    p->n_barriers++;
    return barrier;
}

/* From the write to the read: a barrier after the one and before the other, at the last point if none is
 * there yet. */
static void require_forward(struct cg_program *p, struct site *s, const struct interval *x)
{
    struct cg_node *found = find(s, x->write + 1, x->read);
    fence(found ? found : barrier_at(p, s, x->read), x->region);
}

static bool uses(const struct cg_program *p, const struct cg_node *n, const struct cg_node *loop)
{
    if (n->type == CG_INST && p->access[n->statement].offset) {
        int affine = 0;
        return index_stride(p->access[n->statement].offset, loop->id, &affine) || !affine;
    }
    for (unsigned i = 0; i < n->n_children; i++)
        if (uses(p, n->children[i], loop)) return true;
    return false;
}

/* The first loop, statement or barrier below n. Starts of reductions are constants: nothing is computed
 * there.
 */
static const struct cg_node *first_below(const struct cg_program *p, const struct cg_node *n)
{
    if (n->type == CG_BARRIER) return n;
    if (n->type == CG_INST) return p->bb->insts[n->statement].kind == BB_INIT ? NULL : n;
    const struct cg_node *first = NULL;
    for (unsigned i = 0; i < n->n_children && !first; i++) {
        const struct cg_node *child = n->children[i];
        first = child->type == CG_DIM && child->kind == BB_LOOP ? child : first_below(p, child);
    }
    return first;
}

static bool begins_with_invariant_loop(const struct cg_program *p, const struct cg_node *n)
{
    const struct cg_node *first = first_below(p, n);
    return n->type == CG_DIM && n->kind == BB_LOOP && first && first->type == CG_DIM && !uses(p, first, n);
}

/* The way round the loop: after the read to the end, or from the start to the write. */
static void require_back_edge(struct cg_program *p, struct site *s, const struct interval *x)
{
    struct cg_node *found = find(s, 0, x->write);
    if (!found) found = find(s, x->read + 1, s->node->n_children);
    if (!found) found = barrier_at(p, s, begins_with_invariant_loop(p, s->node) ? 0 : s->node->n_children);
    fence(found, x->region);
}

static void insert(struct cg_program *p, struct site *s)
{
    struct cg_node *n = s->node, **children = ARENA_ARRAY(p->arena, struct cg_node *, 2 * n->n_children + 1);
    unsigned out = 0;
    for (unsigned i = 0; i <= n->n_children; i++) {
        if (s->before[i]) children[out++] = s->before[i];
        if (i < n->n_children) children[out++] = n->children[i];
    }
    n->children = children;
    n->n_children = out;
}

/* With no_barrier_elimination: a barrier at every legal point around the region's uses. */
static void require_all(struct cg_program *p, struct site *s, const struct interval *x)
{
    for (unsigned i = 0; i <= s->node->n_children; i++)
        fence(barrier_at(p, s, i), x->region);
}

static bool repeats(const struct cg_node *n)
{
    return n->type == CG_DIM && (n->kind == BB_LOOP || n->kind == BB_UNROLL);
}

static const char *place_site(struct cg_program *p, struct site *s)
{
    for (const struct cg_node *n = s->node; n; n = n->parent)
        if (n->type == CG_DIM && (n->kind == BB_THREAD || n->kind == BB_VECTOR))
            return "a dependence through memory inside a thread or vector dimension";
    s->before = ARENA_ARRAY(p->arena, struct cg_node *, s->node->n_children + 1);
    for (unsigned i = 0; i < s->n; i++) {
        const struct interval *x = &s->intervals[i];
        if (p->options.no_barrier_elimination) require_all(p, s, x);
        require_forward(p, s, x);
    }
    for (unsigned i = 0; repeats(s->node) && i < s->n; i++)
        require_back_edge(p, s, &s->intervals[i]);
    insert(p, s);
    return NULL;
}

/* ---- what PoCL needs ---- */

/* Adds a barrier as child `at` of the node. */
static void add_barrier(struct cg_program *p, struct cg_node *n, unsigned at)
{
    struct cg_node *barrier = cg_node_new(p, CG_BARRIER), **children;
    children = ARENA_ARRAY(p->arena, struct cg_node *, n->n_children + 1);
    for (unsigned i = 0; i <= n->n_children; i++)
        children[i] = i < at ? n->children[i] : i > at ? n->children[i - 1] : barrier;
    barrier->parent = n;
    barrier->fence_local = true;
    n->children = children;
    n->n_children++;
    p->n_barriers++;
    cg_number_nodes(p);
}

static void separate_heads(struct cg_program *p, struct cg_node *n)
{
    if (n->has_barrier && begins_with_invariant_loop(p, n)) add_barrier(p, n, 0);
    for (unsigned i = 0; i < n->n_children; i++)
        separate_heads(p, n->children[i]);
}

/* What a part of the text shows first. */
enum sight { NOTHING, PREDICATE, BARRIER };

static bool is_predicate(const struct cg_program *p, const struct cg_node *n)
{
    if (n->type == CG_INST) return n->guard_local || n->guard_group;
    bool threads = n->type == CG_DIM && n->kind == BB_THREAD && !n->fused;
    return threads && (n->run_extent < p->local_size[n->axis] || p->options.no_control_flow_simplification);
}

static enum sight first_sight(const struct cg_program *p, const struct cg_node *n)
{
    enum sight seen = n->type == CG_BARRIER ? BARRIER : is_predicate(p, n) ? PREDICATE : NOTHING;
    for (unsigned i = 0; i < n->n_children && !seen; i++)
        seen = first_sight(p, n->children[i]);
    return seen;
}

/* Whether a predicate is below n and no barrier is after it. */
static bool ends_with_predicate(const struct cg_program *p, const struct cg_node *n)
{
    bool ends = is_predicate(p, n);
    for (unsigned i = 0; i < n->n_children; i++)
        ends = (ends && !n->children[i]->has_barrier) || ends_with_predicate(p, n->children[i]);
    return ends;
}

/* What comes first after n, to the end of the text. */
static enum sight sight_after(const struct cg_program *p, const struct cg_node *n)
{
    enum sight seen = NOTHING;
    for (; n->parent && !seen; n = n->parent)
        for (unsigned i = child_towards(n->parent, n) + 1; i < n->parent->n_children && !seen; i++)
            seen = first_sight(p, n->parent->children[i]);
    return seen;
}

static void separate_predicates(struct cg_program *p, struct cg_node *n)
{
    bool loop = n->type == CG_DIM && n->kind == BB_LOOP && n->has_barrier;
    if (loop && ends_with_predicate(p, n) && sight_after(p, n) == PREDICATE)
        add_barrier(p, n->parent, child_towards(n->parent, n) + 1);
    for (unsigned i = 0; i < n->n_children; i++)
        separate_predicates(p, n->children[i]);
}

const char *cg_place_barriers(struct cg_program *p)
{
    if (cg_items_per_group(p) == 1) return NULL;
    unsigned n = p->n_nodes;
    for (unsigned i = 0; i < n; i++) {
        struct site s = {.node = p->nodes[i]};
        s.intervals = ARENA_ARRAY(p->arena, struct interval, p->bb->n_values + 1);
        collect(p, &s);
        const char *why = s.n ? place_site(p, &s) : NULL;
        if (why) return why;
    }
    cg_number_nodes(p);
    separate_heads(p, p->root);
    separate_predicates(p, p->root);
    return NULL;
}
