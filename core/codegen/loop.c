/* The loop tree that the decisions `order` describe, a relation between each two statements:
 *
 *     order(x.load.i, add.i) = MERGED         loop: x.load.i add.i        merged dimensions are one node
 *     order(add.i, add) = OUTER                 x.load
 *     order(x.load, add) = BEFORE               add                       siblings in the order of BEFORE
 *
 * A node's parent is the innermost dimension that is OUTER of it. The space admits only relations that
 * describe a forest, but they come from a file or a peer: any other is refused with a reason. */
#include "core/codegen/program.h"

#include "core/base/arena.h"

/* Nodes of a statement: itself, a barrier before and after it, two more for faulty drivers (workaround.c). */
enum { MOST_NODES = 5 };

static enum bb_order order_of(const struct cg_program *p, uint32_t a, uint32_t b)
{
    return (enum bb_order)p->c->order[(size_t)a * bb_statement_count(p->bb) + b];
}

struct cg_node *cg_node_new(struct cg_program *p, enum cg_node_type type)
{
    struct cg_node *n = ARENA_NEW(p->arena, struct cg_node);
    n->type = type;
    n->id = p->n_nodes;
    n->size = n->inner = n->run_extent = 1;
    p->nodes[p->n_nodes++] = n;
    return n;
}

bool cg_inside(const struct cg_node *n, const struct cg_node *ancestor)
{
    for (n = n->parent; n; n = n->parent)
        if (n == ancestor) return true;
    return false;
}

struct cg_node *cg_common(struct cg_node *x, struct cg_node *y)
{
    while (x != y) {
        if (x->depth >= y->depth)
            x = x->parent;
        else
            y = y->parent;
    }
    return x;
}

bool cg_hardware(const struct cg_node *n)
{
    return n->type == CG_DIM && (n->kind == BB_THREAD || n->kind == BB_BLOCK || n->kind == BB_GLOBAL);
}

struct cg_node *cg_own(const struct cg_program *p, uint32_t inst, uint32_t tile)
{
    const struct bb_inst *in = &p->bb->insts[inst];
    for (uint32_t d = in->first_dim; d < in->first_dim + in->n_dims; d++)
        if (p->bb->dims[d].tile == tile) return p->dim_node[d];
    return NULL;
}

bool cg_is_reduced(const struct cg_program *p, uint32_t dim)
{
    const struct bb_dim *d = &p->bb->dims[dim];
    return bb_reduces(p->bb, &p->bb->insts[d->inst], p->bb->tiles[d->tile].logical);
}

bool cg_divides(const struct cg_program *p, const struct cg_node *n)
{
    bool divides = false;
    for (unsigned i = 0; i < n->n_dims && n->kind == BB_BLOCK; i++)
        divides |= cg_is_reduced(p, n->dims[i]);
    return divides;
}

bool cg_owns(const struct cg_program *p, uint32_t inst, const struct cg_node *n)
{
    for (unsigned i = 0; i < n->n_dims; i++)
        if (p->bb->dims[n->dims[i]].inst == inst) return true;
    return false;
}

/* ---- classes of merged dimensions ---- */

static struct cg_node *class_of(struct cg_program *p, uint32_t dim)
{
    uint32_t s = bb_dim_statement(p->bb, dim);
    for (uint32_t e = 0; e < dim; e++)
        if (p->dim_node[e] && order_of(p, s, bb_dim_statement(p->bb, e)) == BB_MERGED) return p->dim_node[e];
    return NULL;
}

static struct cg_node *new_class(struct cg_program *p, uint32_t dim)
{
    struct cg_node *n = cg_node_new(p, CG_DIM);
    n->statement = bb_dim_statement(p->bb, dim);
    n->dims = ARENA_ARRAY(p->arena, uint32_t, p->bb->n_dims);
    n->kind = (enum bb_dim_kind)p->c->kind[dim];
    n->size = p->c->size[p->bb->dims[dim].tile];
    return n;
}

static const char *add_dim(struct cg_program *p, uint32_t dim)
{
    struct cg_node *n = class_of(p, dim);
    if (!n) n = new_class(p, dim);
    n->dims[n->n_dims++] = dim;
    p->dim_node[dim] = n;
    if (n->size != p->c->size[p->bb->dims[dim].tile]) return "merged dimensions differ in size";
    if (n->kind != (enum bb_dim_kind)p->c->kind[dim]) return "merged dimensions differ in kind";
    if (p->c->code[n->dims[0]] != p->c->code[dim]) return "merged dimensions differ in hardware axis";
    return n->size > 1 ? NULL : "a live dimension of size 1";
}

static const char *make_nodes(struct cg_program *p)
{
    const struct backbone *bb = p->bb;
    p->root = cg_node_new(p, CG_ROOT);
    for (uint32_t d = 0; d < bb->n_dims; d++) {
        const char *why = p->c->live[bb_dim_statement(bb, d)] ? add_dim(p, d) : NULL;
        if (why) return why;
    }
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        if (!p->c->live[i]) continue;
        p->inst_node[i] = cg_node_new(p, CG_INST);
        p->inst_node[i]->statement = i;
    }
    return NULL;
}

/* ---- parents ---- */

static bool is_outer(const struct cg_program *p, const struct cg_node *outer, const struct cg_node *n)
{
    return outer != n && outer->type == CG_DIM && order_of(p, n->statement, outer->statement) == BB_INNER;
}

static const char *find_parent(struct cg_program *p, struct cg_node *n)
{
    n->parent = p->root;
    for (unsigned i = 1; i < p->n_nodes; i++) {
        struct cg_node *y = p->nodes[i];
        if (is_outer(p, y, n) && y->depth >= n->parent->depth) n->parent = y;
    }
    if (n->parent->depth + 1 != n->depth) return "the order relation is no forest";
    for (unsigned i = 1; i < p->n_nodes; i++) {
        const struct cg_node *y = p->nodes[i];
        if (is_outer(p, y, n) && y != n->parent && !is_outer(p, y, n->parent))
            return "the order relation is no forest";
    }
    return NULL;
}

static const char *link_parents(struct cg_program *p)
{
    for (unsigned i = 1; i < p->n_nodes; i++) {
        struct cg_node *n = p->nodes[i];
        n->depth = 1;
        for (unsigned j = 1; j < p->n_nodes; j++)
            n->depth += is_outer(p, p->nodes[j], n);
    }
    for (unsigned i = 1; i < p->n_nodes; i++) {
        const char *why = find_parent(p, p->nodes[i]);
        if (why) return why;
    }
    return NULL;
}

/* ---- siblings ---- */

static const char *place_child(struct cg_program *p, struct cg_node *n)
{
    struct cg_node *parent = n->parent;
    unsigned position = 0;
    for (unsigned i = 1; i < p->n_nodes; i++) {
        const struct cg_node *y = p->nodes[i];
        if (y == n || y->parent != parent) continue;
        enum bb_order o = order_of(p, y->statement, n->statement);
        if (o != BB_BEFORE && o != BB_AFTER) return "siblings of the loop tree without a sequence";
        position += o == BB_BEFORE;
    }
    if (parent->children[position]) return "the sequence of siblings is circular";
    parent->children[position] = n;
    return NULL;
}

static const char *order_siblings(struct cg_program *p)
{
    for (unsigned i = 1; i < p->n_nodes; i++)
        p->nodes[i]->parent->n_children++;
    for (unsigned i = 0; i < p->n_nodes; i++)
        p->nodes[i]->children = ARENA_ARRAY(p->arena, struct cg_node *, p->nodes[i]->n_children);
    for (unsigned i = 1; i < p->n_nodes; i++) {
        const char *why = place_child(p, p->nodes[i]);
        if (why) return why;
    }
    return NULL;
}

static void number(struct cg_node *n, unsigned *next)
{
    n->place = (*next)++;
    n->has_barrier = cg_is_barrier(n);
    for (unsigned i = 0; i < n->n_children; i++) {
        n->children[i]->depth = n->depth + 1;
        number(n->children[i], next);
        n->has_barrier |= n->children[i]->has_barrier;
    }
}

void cg_number_nodes(struct cg_program *p)
{
    unsigned next = 0;
    number(p->root, &next);
}

static const char *check_own_dims(const struct cg_program *p)
{
    for (uint32_t d = 0; d < p->bb->n_dims; d++) {
        const struct cg_node *inst = p->inst_node[p->bb->dims[d].inst];
        if (p->dim_node[d] && (!inst || !cg_inside(inst, p->dim_node[d])))
            return "an instruction is outside one of its own dimensions";
    }
    return NULL;
}

const char *cg_build_tree(struct cg_program *p)
{
    const struct backbone *bb = p->bb;
    size_t most = MOST_NODES * ((size_t)bb_statement_count(bb) + 1);
    p->nodes = ARENA_ARRAY(p->arena, struct cg_node *, most);
    p->first_datum = (unsigned)most;
    p->dim_node = ARENA_ARRAY(p->arena, struct cg_node *, bb->n_dims + 1);
    p->inst_node = ARENA_ARRAY(p->arena, struct cg_node *, bb->n_insts + 1);
    const char *why = make_nodes(p);
    if (!why) why = link_parents(p);
    if (!why) why = order_siblings(p);
    if (why) return why;
    cg_number_nodes(p);
    return check_own_dims(p);
}
