/* cg_build(): the passes in order. Each adds its part to the loop program (program.h) or refuses the
 * candidate with a reason. For a vector sum in work-groups of 16:
 *
 *     loop.c        store.i.0 outside store.i.1, both around x.load, y.load, add, store
 *     axes.c        store.i.0 is block axis 0 of 4 groups, store.i.1 thread axis 0 of 16 work-items
 *     split.c       none: it has no reduction
 *     memory.c      x.load reads x[16 * i0 + i1]
 *     values.c      x.load is one register
 *     stages.c      none: it stages nothing
 *     barrier.c     none: no value goes from one work-item to another
 *     remainder.c   none: 64 elements are 4 x 16. Of 61 it guards the loads and the store
 *     words.c, matrix.c, exchange.c   none: no half numbers
 *     roll.c        none: nothing is unrolled
 *     values.c      x.load is declared where it is made
 *     workaround.c  none: only for loops with barriers
 *
 * And what is asked of a program without its text: the tree as lines, its cost. */
#include "core/codegen/program.h"

#include "core/base/arena.h"
#include "core/base/strbuf.h"

/* Statements of the text: unrolled dimensions repeat what they hold, loops that peel all but their copies. */
static double statements(const struct cg_node *n)
{
    if (n->type == CG_INST) return 1;
    if (n->matrix) return cg_matrix_steps(n->matrix);
    double sum = 0;
    for (unsigned i = 0; i < n->n_children; i++)
        sum += statements(n->children[i]) * (cg_peels(n) && !cg_runs_ahead(n->children[i], n) ? 2 : 1);
    if (n->type == CG_AHEAD && n->first) return sum * n->distance;
    return n->type == CG_DIM && n->kind == BB_UNROLL ? sum * (double)n->size : sum;
}

static const char *check_length(struct cg_program *p)
{
    return statements(p->root) > CG_MAX_STATEMENTS ? "the unrolled code is too long" : NULL;
}

struct cg_program *cg_build(const struct backbone *bb, const struct bb_candidate *c,
                            const struct cg_target *target, struct arena *a, const char **why)
{
    static const char *(*const passes[])(struct cg_program *) = {
        cg_build_tree,   cg_map_axes,      cg_split_reductions, cg_place_memory,
        cg_place_values, cg_stage_copies,  cg_place_barriers,   cg_guard_remainders,
        cg_find_words,   cg_find_matrices, cg_find_exchanges,   check_length,
        cg_roll,         cg_find_scopes,   cg_work_around};
    struct cg_program *p = ARENA_NEW(a, struct cg_program);
    p->bb = bb;
    p->c = c;
    p->target = *target;
    p->arena = a;
    for (size_t i = 0; i < sizeof passes / sizeof passes[0]; i++) {
        *why = passes[i](p);
        if (*why) return NULL;
    }
    return p;
}

/* ---- cost ---- */

/* A copy that runs ahead makes as many steps as one that does not: the first ones and those of all iterations
 * but the last ones. */
static double steps(const struct cg_node *n)
{
    if (n->type == CG_INST) return 1;
    if (n->type == CG_AHEAD && n->first) return 0;
    if (n->matrix) return cg_matrix_steps(n->matrix);
    double sum = 0;
    for (unsigned i = 0; i < n->n_children; i++)
        sum += steps(n->children[i]);
    bool repeats = n->type == CG_DIM && (n->kind == BB_LOOP || n->kind == BB_UNROLL);
    return repeats ? sum * (double)n->size : sum;
}

/* Work-items of the launch. */
static double all_items(const struct cg_program *p)
{
    double items = (double)cg_items_per_group(p);
    for (unsigned g = 0; g < CG_AXES; g++)
        items *= (double)p->groups[g];
    return items;
}

/* Work-items that execute the store. */
static double storing_items(const struct cg_program *p, const struct cg_node *store)
{
    double items = 1;
    for (const struct cg_node *up = store->parent; up; up = up->parent)
        if (cg_hardware(up) && !cg_divides(p, up)) items *= (double)up->size;
    return items;
}

/* The share of all iterations that is within the extents. */
static double real_share(const struct cg_program *p)
{
    double share = 1;
    for (uint32_t l = 0; l < p->bb->n_logicals; l++)
        if (p->bb->logicals[l].of == BB_NONE)
            share *= (double)p->bb->logicals[l].extent / (double)cg_span(p, l);
    return share;
}

void cg_cost(const struct cg_program *p, double *item_steps, double *items)
{
    double share = real_share(p);
    *item_steps = steps(p->root) * share;
    *items = 1;
    for (uint32_t i = 0; i < p->bb->n_insts; i++) {
        if (p->bb->insts[i].kind != BB_STORE || !p->inst_node[i]) continue;
        double storing = storing_items(p, p->inst_node[i]);
        if (storing * share > *items) *items = storing * share;
    }
}

static double interpreted(const struct cg_node *n)
{
    if (n->type == CG_INST) return 1;
    double sum = 0;
    for (unsigned i = 0; i < n->n_children; i++)
        sum += interpreted(n->children[i]);
    return n->type == CG_DIM && !cg_hardware(n) ? sum * (double)n->size : sum;
}

double cg_interpret_cost(const struct cg_program *p)
{
    return interpreted(p->root) * all_items(p);
}

/* ---- the tree as text ---- */

static const char *kind_name(enum bb_dim_kind kind)
{
    static const char *const names[] = {"loop", "unroll", "vector", "thread", "block", "global"};
    return names[kind];
}

static void print_dim(const struct cg_program *p, const struct cg_node *n, struct strbuf *out)
{
    strbuf_add(out, kind_name(n->kind));
    if (cg_hardware(n)) strbuf_printf(out, "%u", n->axis);
    strbuf_printf(out, " %lld%s:", (long long)n->size, n->fused ? " fused" : "");
    for (unsigned i = 0; i < n->n_dims; i++)
        strbuf_printf(out, " %s", p->bb->dims[n->dims[i]].name);
}

static void print_inst(const struct cg_program *p, const struct cg_node *n, struct strbuf *out)
{
    const struct cg_access *x = &p->access[n->statement];
    strbuf_add(out, p->bb->insts[n->statement].name);
    if (x->region != BB_NONE) strbuf_printf(out, " [%s]", p->bb->regions[x->region].name);
    if (x->buffer != BB_NONE) strbuf_printf(out, " [%s]", p->bb->buffers[x->buffer].name);
    if (n->guard_local || n->guard_group || n->guard_last || n->n_guards) strbuf_add(out, " (guarded)");
}

static void print_ahead(const struct cg_program *p, const struct cg_node *n, struct strbuf *out)
{
    strbuf_printf(out, "%s %s:", n->first ? "first" : "next", p->bb->dims[n->loop->dims[0]].name);
}

static void print_node(const struct cg_program *p, const struct cg_node *n, int depth, struct strbuf *out)
{
    strbuf_indent(out, depth);
    if (n->type == CG_DIM)
        print_dim(p, n, out);
    else if (n->type == CG_INST)
        print_inst(p, n, out);
    else if (n->type == CG_AHEAD)
        print_ahead(p, n, out);
    else if (n->type == CG_COMBINE)
        strbuf_printf(out, "combine %s", p->bb->insts[n->statement].name);
    else
        strbuf_add(out, "barrier");
    strbuf_add(out, "\n");
    for (unsigned i = 0; i < n->n_children; i++)
        print_node(p, n->children[i], depth + 1, out);
}

void cg_print_tree(const struct cg_program *p, struct strbuf *out)
{
    for (unsigned i = 0; i < p->root->n_children; i++)
        print_node(p, p->root->children[i], 0, out);
}
