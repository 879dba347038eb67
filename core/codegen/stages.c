/* Copies in stages: in two, they run one iteration ahead of the loop around them, so that global memory is
 * read while the loop computes from local memory (software pipelining). The region has two tiles, which take
 * turns:
 *
 *     loop 4: mad.k.0                  first mad.k.0:             iteration 0, before the loop
 *       thread0 16: A.cl.m.0             thread0 16: A.cl.m.0
 *         A.cl [A]                         A.cl [A]
 *       thread0 16: A.cs.m.0             thread0 16: A.cs.m.0
 *         A.cs [A.tile]                    A.cs [A.tile]
 *       thread0 16: mad.m.1            loop 4: mad.k.0
 *         A.load [A.tile]                next mad.k.0:            iteration k0 + 1, unless k0 is the last
 *         mad                              thread0 16: A.cl.m.0
 *                                            A.cl [A]             global memory to registers
 *                                        thread0 16: mad.m.1
 *                                          A.load [A.tile]        from tile k0 % 2
 *                                          mad
 *                                        next mad.k.0:
 *                                          thread0 16: A.cs.m.0
 *                                            A.cs [A.tile]        registers to tile (k0 + 1) % 2
 *
 * In three stages they run two iterations ahead (`distance`), with three tiles: iterations 0 and 1 are copied
 * before the loop, and iteration k0 + 2 to tile (k0 + 2) % 3. Copies in the background (`direct`) have load
 * and store in the node at the start of the body. That at its end is then empty, and waits for all copies but
 * those that were started last (emit.c: emit_stage()); the barrier is behind it.
 *
 * In the text the last iteration is after the loop, without the copies (emit.c: emit_last()), unless the
 * loop's end depends on loops around it. In a loop with a product in matrices an if is around the copies
 * instead: without it NVIDIA's compiler moves the loads behind the arithmetic, to have fewer registers.
 *
 * The three new nodes are of type AHEAD and have one id: their variable is the iteration that the copy is
 * for. In the copy's accesses it stands for the loop's own, so that its range is that of the loop. All copies
 * that run ahead of one loop share them. The node before the loop has the same nodes as children as the two
 * others; `parent` leads from these to the loop. */
#include "core/codegen/program.h"

#include "core/base/arena.h"

static void append(struct cg_program *p, struct cg_node *n, struct cg_node *child)
{
    struct cg_node **children = ARENA_ARRAY(p->arena, struct cg_node *, n->n_children + 1);
    for (unsigned i = 0; i < n->n_children; i++)
        children[i] = n->children[i];
    children[n->n_children++] = child;
    n->children = children;
}

static void insert(struct cg_program *p, struct cg_node *n, unsigned at, struct cg_node *child)
{
    append(p, n, child);
    for (unsigned i = n->n_children - 1; i > at; i--)
        n->children[i] = n->children[i - 1];
    n->children[at] = child;
    child->parent = n;
}

static void take_out(struct cg_node *child)
{
    struct cg_node *up = child->parent;
    unsigned at = cg_child_towards(up, child);
    up->n_children--;
    for (unsigned i = at; i < up->n_children; i++)
        up->children[i] = up->children[i + 1];
}

/* ---- the nodes of a loop ---- */

bool cg_runs_ahead(const struct cg_node *n, const struct cg_node *loop)
{
    return n->type == CG_AHEAD && n->loop == loop;
}

/* Adds the nodes before the loop, at the start and at the end of its body, unless it has them. */
static const char *make_stages(struct cg_program *p, struct cg_node *loop, unsigned distance, bool direct)
{
    const struct cg_node *start = loop->children[0];
    if (cg_runs_ahead(start, loop))
        return start->distance == distance && start->direct == direct
                   ? NULL
                   : "copies of one loop run ahead in different ways";
    if (loop->size <= distance) return "a copy runs ahead of all iterations of its loop";
    struct cg_node *first = cg_node_new(p, CG_AHEAD);
    first->loop = loop;
    first->distance = distance;
    first->direct = direct;
    struct cg_node *load = arena_memdup(p->arena, first, sizeof *first);
    struct cg_node *store = arena_memdup(p->arena, first, sizeof *first);
    first->first = true;
    insert(p, loop->parent, cg_child_towards(loop->parent, loop), first);
    insert(p, loop, 0, load);
    insert(p, loop, loop->n_children, store);
    return NULL;
}

/* ---- what moves ---- */

/* The outermost node of an instruction's own dimensions: below the loop. */
static struct cg_node *own_nest(const struct cg_program *p, uint32_t inst)
{
    struct cg_node *n = p->inst_node[inst];
    while (n->parent->type == CG_DIM && cg_owns(p, inst, n->parent) && n->parent->n_children == 1)
        n = n->parent;
    return n;
}

static const struct index_expr *turn(struct cg_program *p, const struct cg_node *variable, int64_t iterations,
                                     int64_t tiles, int64_t elements)
{
    const struct index_expr *iteration = index_var(p->arena, variable->id, iterations);
    return index_scale(p->arena, index_mod(p->arena, iteration, tiles), elements);
}

/* The accesses of the copy in the iteration that it is for. */
static void advance(struct cg_program *p, uint32_t inst, const struct cg_node *ahead)
{
    struct cg_access *x = &p->access[inst];
    const struct index_expr **by = ARENA_ARRAY(p->arena, const struct index_expr *, cg_variables(p));
    by[ahead->loop->id] = index_var(p->arena, ahead->id, ahead->loop->size);
    x->offset = index_substitute(p->arena, x->offset, by, cg_variables(p));
    x->guards = guard_substitute(p->arena, x->guards, &x->n_guards, by, cg_variables(p));
    for (unsigned i = 0; x->by && i < bb_variables(p->bb); i++)
        if (x->by[i]) x->by[i] = index_substitute(p->arena, x->by[i], by, cg_variables(p));
}

static void take_turns(struct cg_program *p, const struct bb_value *v, const struct cg_node *ahead)
{
    struct cg_region *r = &p->regions[v->region];
    struct cg_access *store = &p->access[v->copy_store], *load = &p->access[v->load];
    const struct cg_node *loop = ahead->loop;
    int64_t tiles = ahead->distance + 1;
    store->offset = index_add(p->arena, store->offset, turn(p, ahead, loop->size, tiles, r->elements));
    load->offset = index_add(p->arena, load->offset, turn(p, loop, loop->size, tiles, r->elements));
    r->elements *= tiles;
}

static const char *run_ahead(struct cg_program *p, const struct bb_value *v)
{
    struct cg_node *load = own_nest(p, v->copy_load), *store = own_nest(p, v->copy_store),
                   *loop = load->parent;
    if (p->regions[v->region].space != BB_MEM_LOCAL) return "stages outside of local memory";
    if (loop->type != CG_DIM || loop->kind != BB_LOOP) return "a copy in stages without a loop around it";
    if (store->parent != loop || load == store) return "load and store of a copy in stages share a dimension";
    if (!cg_inside(p->inst_node[v->load], loop)) return "a copy in stages is read outside of its loop";
    bool direct = p->c->direct[v->region];
    const char *why = make_stages(p, loop, p->c->stages[v->region] - 1u, direct);
    if (why) return why;
    struct cg_node *at_start = loop->children[0], *at_end = loop->children[loop->n_children - 1];
    struct cg_node *first = loop->parent->children[cg_child_towards(loop->parent, loop) - 1];
    take_out(load);
    take_out(store);
    append(p, first, load);
    append(p, first, store);
    append(p, at_start, load);
    append(p, direct ? at_start : at_end, store);
    load->parent = at_start;
    store->parent = direct ? at_start : at_end;
    advance(p, v->copy_load, first);
    advance(p, v->copy_store, first);
    take_turns(p, v, first);
    p->values[v->copy_load].around = loop->parent; /* its registers are written before the loop, too */
    return NULL;
}

bool cg_peels(const struct cg_node *loop)
{
    return loop->type == CG_DIM && loop->kind == BB_LOOP && cg_runs_ahead(loop->children[0], loop) &&
           loop->n_guards == 0 && !loop->has_matrix && loop->children[0]->distance == 1 &&
           !loop->children[0]->direct;
}

struct cg_node *cg_staged_loop(const struct cg_program *p, const struct bb_value *v)
{
    const struct cg_node *n = p->inst_node[v->copy_store];
    while (n && n->type != CG_AHEAD)
        n = n->parent;
    return n ? n->loop : NULL;
}

const char *cg_stage_copies(struct cg_program *p)
{
    for (uint32_t v = 0; v < p->bb->n_values; v++) {
        const struct bb_value *value = &p->bb->values[v];
        if (!p->regions[value->region].used || p->c->stages[value->region] < 2) continue;
        const char *why = run_ahead(p, value);
        if (why) return why;
    }
    cg_number_nodes(p);
    return NULL;
}
