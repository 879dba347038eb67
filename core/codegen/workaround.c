/* Barriers that the program does not need, but a faulty driver does (target.h, CG_WORKAROUNDS).
 *
 * PoCL runs the work-items of a group one after the other: it makes loops over the work-items of the code
 * between barriers, after LLVM has optimized it. Two forms of a loop with barriers become wrong there. A
 * barrier, which LLVM neither copies nor moves, keeps their parts separate:
 *
 *     for k: {                         CG_SPLIT_LOOP_HEADS: the body begins with a loop that does not
 *       (barrier)                      depend on k, with the loop of a reduction inside a reduction over
 *       for i: tile[i] = A[i];         k, or with that of a copy along a window, which reads A[k + i].
 *       barrier                        LLVM merges the heads of both loops, and PoCL 3.1 fails an
 *       ... }                          assertion (ParallelRegion.cc:346, :427).
 *
 *     for k: {                         CG_SPLIT_PREDICATES: a predicate follows the last barrier of the body,
 *       ... barrier                    another one the loop. LLVM makes two exits of the loop, one for each
 *       if (id < 2) sum += ...; }      outcome, and the code after it is executed by no work-item.
 *     (barrier)
 *     if (id < 2) out[id] = sum;
 *
 *     for k: {                         The same workaround: parts of a reduction are combined in the loop,
 *       ... if (id < 8) part[id] += ..;  with predicates between barriers, and another one follows. LLVM
 * takes barrier                          the paths through them apart up to the end of the body, and PoCL 3.1
 *       if (id == 0) out[k] = sum;       fails an assertion (ParallelRegion.cc:399).
 *       (barrier) }
 *
 * The barriers in parentheses are added. */
#include "core/codegen/program.h"

#include "core/base/arena.h"

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

/* ---- heads of loops ---- */

static bool uses(const struct cg_program *p, const struct cg_node *n, const struct cg_node *loop)
{
    if (n->type == CG_INST && p->access[n->statement].offset) {
        const struct cg_access *x = &p->access[n->statement];
        return index_mentions(x->offset, loop->id) || guard_mentions(x->guards, x->n_guards, loop->id);
    }
    for (unsigned i = 0; n->type == CG_INST && i < p->bb->insts[n->statement].n_nodes; i++)
        if (bb_node_mentions(&p->expression[n->statement][i], loop->id)) return true;
    for (unsigned i = 0; i < n->n_children; i++)
        if (uses(p, n->children[i], loop)) return true;
    return false;
}

/* The first loop, statement or barrier below n. The INIT of a reduction does not count: it is a constant. */
static const struct cg_node *first_below(const struct cg_program *p, const struct cg_node *n)
{
    if (cg_is_barrier(n)) return n;
    if (n->type == CG_INST) return p->bb->insts[n->statement].kind == BB_INIT ? NULL : n;
    const struct cg_node *first = NULL;
    for (unsigned i = 0; i < n->n_children && !first; i++) {
        const struct cg_node *child = n->children[i];
        bool loop = child->type == CG_DIM && (child->kind == BB_LOOP || child->rolled);
        first = loop ? child : first_below(p, child);
    }
    return first;
}

/* Whether the dimension of a STEP that n has is of a logical that the STEP reduces, or, if not `reduced`, one
 * that the reduction around it reduces. */
static bool is_reduced(const struct cg_program *p, const struct cg_node *n, bool reduced)
{
    for (unsigned i = 0; i < n->n_dims; i++) {
        const struct bb_dim *d = &p->bb->dims[n->dims[i]];
        const struct bb_inst *in = &p->bb->insts[d->inst];
        uint32_t logical = p->bb->tiles[d->tile].logical;
        if (in->kind != BB_STEP || !p->bb->logicals[logical].reduction) continue;
        if (bb_reduces(p->bb, in, logical) == reduced) return true;
    }
    return false;
}

/* Whether a copy goes along a window in the dimension. */
static bool is_window(const struct cg_program *p, const struct cg_node *n)
{
    return bb_is_window(p->bb, &p->bb->logicals[p->bb->tiles[p->bb->dims[n->dims[0]].tile].logical]);
}

bool cg_begins_with_loop(const struct cg_program *p, const struct cg_node *n)
{
    const struct cg_node *first = first_below(p, n);
    if (n->type != CG_DIM || n->kind != BB_LOOP || !first || first->type != CG_DIM) return false;
    return !uses(p, first, n) || is_window(p, first) ||
           (is_reduced(p, first, true) && is_reduced(p, n, false));
}

static void separate_heads(struct cg_program *p, struct cg_node *n)
{
    if (n->has_barrier && cg_begins_with_loop(p, n)) add_barrier(p, n, 0);
    for (unsigned i = 0; i < n->n_children; i++)
        separate_heads(p, n->children[i]);
}

/* ---- predicates ---- */

/* The first of these in a part of the text. */
enum event { NOTHING, PREDICATE, BARRIER };

static enum event first_event(const struct cg_program *p, const struct cg_node *n)
{
    enum event seen = cg_is_guarded(p, n) ? PREDICATE : cg_is_barrier(n) ? BARRIER : NOTHING;
    for (unsigned i = 0; i < n->n_children && !seen; i++)
        seen = first_event(p, n->children[i]);
    return seen;
}

/* Whether a predicate is below n and no barrier is after it. */
static bool ends_with_predicate(const struct cg_program *p, const struct cg_node *n)
{
    bool ends = n->type != CG_COMBINE && cg_is_guarded(p, n);
    for (unsigned i = 0; i < n->n_children; i++)
        ends = (ends && !n->children[i]->has_barrier) || ends_with_predicate(p, n->children[i]);
    return ends;
}

/* The first of them after n, to the end of the text. */
static enum event event_after(const struct cg_program *p, const struct cg_node *n)
{
    enum event seen = NOTHING;
    for (; n->parent && !seen; n = n->parent)
        for (unsigned i = cg_child_towards(n->parent, n) + 1; i < n->parent->n_children && !seen; i++)
            seen = first_event(p, n->parent->children[i]);
    return seen;
}

/* Whether parts of a reduction are combined below n. */
static bool combines(const struct cg_node *n)
{
    bool found = n->type == CG_COMBINE;
    for (unsigned i = 0; i < n->n_children && !found; i++)
        found = combines(n->children[i]);
    return found;
}

static void separate_predicates(struct cg_program *p, struct cg_node *n)
{
    bool loop = n->type == CG_DIM && n->kind == BB_LOOP && n->has_barrier;
    if (loop && combines(n) && ends_with_predicate(p, n)) add_barrier(p, n, n->n_children);
    if (loop && ends_with_predicate(p, n) && event_after(p, n) == PREDICATE)
        add_barrier(p, n->parent, cg_child_towards(n->parent, n) + 1);
    for (unsigned i = 0; i < n->n_children; i++)
        separate_predicates(p, n->children[i]);
}

const char *cg_work_around(struct cg_program *p)
{
    if (cg_items_per_group(p) == 1) return NULL;
    if (cg_needs(&p->target, CG_SPLIT_LOOP_HEADS)) separate_heads(p, p->root);
    if (cg_needs(&p->target, CG_SPLIT_PREDICATES)) separate_predicates(p, p->root);
    return NULL;
}
