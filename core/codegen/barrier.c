/* Barriers: where work-items of a group exchange values through a region.
 *
 * A region's dependence is an interval of the children of the innermost node around its store and its load:
 * between the store's child and the load's. If that node is a loop there is a second one, from the load's
 * child round the back edge to the store's, since the next iteration overwrites what was read:
 *
 *     loop k.0
 *       thread0 { A.cs }        store to A.tile
 *       thread0 { B.cs }        store to B.tile
 *       barrier                 one point that is between each store and its load
 *       thread0 { A.load B.load mad }
 *       barrier                 before the stores of the next iteration
 *
 * A copy that runs ahead (stages.c) writes to another tile than the load reads: before it, if the copy is in
 * the background, or after it. One barrier at the end of the body is between the store and the load that
 * reads its tile, and between a load and the store that overwrites what it read. Before the loop the first
 * tile is a dependence of its own. It needs no barrier for its back edge: those at the ends of the loop's
 * iterations serve.
 *
 *     first k.0 { A.cl A.cs }     store to A.tile
 *     barrier
 *     loop k.0
 *       next k.0 { A.cl }
 *       thread0 { A.load mad }
 *       next k.0 { A.cs }         store to the other tile
 *       barrier
 *
 * Each interval needs one barrier. Taking the last point of the interval that ends first gives the fewest; a
 * back edge whose interval has no barrier yet gets one at the end of the body. Barriers must be outside of
 * thread dimensions and predicates, so a dependence inside of one is refused (CC'22, section 4.6). A group of
 * one work-item needs no barrier, nor does a region of which each work-item reads only what it wrote
 * (depend.c). */
#include "core/codegen/program.h"

#include "core/base/arena.h"

struct interval {
    unsigned write, read; /* children of the node; write < read, unless `ahead` */
    const struct cg_region *region;
    bool updated; /* the region is of an array that the kernel overwrites: reads of it end there, too */
    bool ahead;   /* the copy runs ahead of the node, a loop: the store is of a later iteration */
    bool first;   /* the copy runs ahead of the child `read`, a loop: the store is of its first iteration */
};

struct site {
    struct cg_node *node;
    unsigned n;
    struct interval *intervals; /* ascending by read */
    struct cg_node **before;    /* [n_children + 1] barrier before that child; the last: at the end */
};

unsigned cg_child_towards(const struct cg_node *up, const struct cg_node *n)
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

/* What is computed reads no such array (core/backbone/stored.c). */
static bool is_updated(const struct cg_program *p, const struct bb_value *v)
{
    uint32_t buffer = p->bb->insts[v->copy_load].buffer;
    return buffer != BB_NONE && p->bb->buffers[buffer].updated;
}

/* A copy that runs ahead of a loop: dependences of the loop, and of the node around it. */
static void collect_ahead(struct cg_program *p, struct site *s, const struct bb_value *v)
{
    struct cg_node *loop = cg_staged_loop(p, v), *store = p->inst_node[v->copy_store];
    const struct cg_region *r = &p->regions[v->region];
    if (s->node != loop && s->node != loop->parent) return;
    if (!cg_depends(p, v)) return;
    if (s->node == loop) {
        unsigned read = cg_child_towards(loop, p->inst_node[v->load]);
        add_interval(s, (struct interval){.write = cg_child_towards(loop, store),
                                          .read = read,
                                          .region = r,
                                          .updated = is_updated(p, v),
                                          .ahead = true});
    } else {
        unsigned read = cg_child_towards(s->node, loop);
        add_interval(
            s, (struct interval){
                   .write = read - 1, .read = read, .region = r, .updated = is_updated(p, v), .first = true});
    }
}

static void collect(struct cg_program *p, struct site *s)
{
    for (uint32_t v = 0; v < p->bb->n_values; v++) {
        const struct bb_value *value = &p->bb->values[v];
        if (!p->c->staged[v]) continue;
        struct cg_node *store = p->inst_node[value->copy_store], *load = p->inst_node[value->load];
        if (cg_staged_loop(p, value)) {
            collect_ahead(p, s, value);
            continue;
        }
        if (cg_common(store, load) != s->node) continue;
        if (!cg_depends(p, value)) continue;
        add_interval(s, (struct interval){.write = cg_child_towards(s->node, store),
                                          .read = cg_child_towards(s->node, load),
                                          .region = &p->regions[value->region],
                                          .updated = is_updated(p, value)});
    }
}

static void fence(struct cg_node *barrier, const struct interval *x)
{
    barrier->fence_local |= x->region->space == BB_MEM_LOCAL;
    barrier->fence_global |= x->region->space != BB_MEM_LOCAL || x->updated;
}

static struct cg_node *find(const struct site *s, unsigned first, unsigned last)
{
    for (unsigned i = first; i <= last; i++)
        if (s->before[i]) return s->before[i];
    return NULL;
}

static struct cg_node *add_barrier(struct cg_program *p, struct site *s, unsigned point)
{
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
    fence(found ? found : add_barrier(p, s, x->read), x);
}

/* From the read round the back edge to the write: a barrier between the read and the end of the body, or
 * between its start and the write. A new one is at the end, unless a workaround needs one at the start. */
static void require_back_edge(struct cg_program *p, struct site *s, const struct interval *x)
{
    bool start = cg_needs(&p->target, CG_SPLIT_LOOP_HEADS) && cg_begins_with_loop(p, s->node);
    struct cg_node *found = find(s, 0, x->write);
    if (!found) found = find(s, x->read + 1, s->node->n_children);
    if (!found) found = add_barrier(p, s, start ? 0 : s->node->n_children);
    fence(found, x);
}

static void require_end(struct cg_program *p, struct site *s, const struct interval *x)
{
    struct cg_node *end = s->before[s->node->n_children];
    fence(end ? end : add_barrier(p, s, s->node->n_children), x);
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
    for (unsigned i = 0; i < s->n; i++)
        if (s->intervals[i].ahead) require_end(p, s, &s->intervals[i]);
    for (unsigned i = 0; i < s->n; i++)
        if (!s->intervals[i].ahead) require_forward(p, s, &s->intervals[i]);
    for (unsigned i = 0; repeats(s->node) && i < s->n; i++)
        if (!s->intervals[i].ahead && !s->intervals[i].first) require_back_edge(p, s, &s->intervals[i]);
    insert(p, s);
    return NULL;
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
    return NULL;
}
