/* Split reductions: work-items of a group reduce parts, which a node of the loop tree combines. A sum of rows
 * whose 4,096 elements are divided among 256 work-items:
 *
 *     block0 64: init.i.0 red.i.0 store.i.0
 *       init
 *       loop 16: red.k.0 x.load.k.0
 *         thread0 256: red.k.1 x.load.k.1
 *           x.load
 *           red
 *       combine red                           COMBINE: now every work-item has the sum of the row
 *       store (guarded)                       only the first one writes it
 *
 * It stands behind the outermost dimension that is a loop of the reduction or work-items of its nest: there
 * all work-items of the group come together, so that the text of the node may have barriers (combine.c).
 * Every work-item gets the result of its other indices, whatever its place among the parts.
 *
 * Groups may have parts, too. Then the node stands behind all that is not a group, and of the groups that
 * differ in their part alone the last one to come there combines their parts and goes on (groups.c):
 *
 *     block0 512: red.k.0 x.load.k.0
 *       init
 *       loop 4: red.k.1 x.load.k.1
 *         thread0 256: red.k.2 x.load.k.2
 *           x.load
 *           red
 *       combine red                           511 groups end here
 *       store (guarded) */
#include "core/codegen/program.h"

#include "core/base/arena.h"

/* The work-items, or the groups, of the parts: *out becomes NULL if there are none. */
static const char *find_part(const struct cg_program *p, uint32_t step, enum bb_dim_kind kind,
                             struct cg_node **out)
{
    const struct bb_inst *in = &p->bb->insts[step];
    *out = NULL;
    for (uint32_t d = in->first_dim; d < in->first_dim + in->n_dims; d++) {
        struct cg_node *n = p->dim_node[d];
        if (!n || !cg_is_reduced(p, d) || n->kind != kind) continue;
        if (*out) return "parts of a reduction in several dimensions";
        if (n->fused || n->run_extent != n->size) return "parts of a reduction in a run";
        *out = n;
    }
    return NULL;
}

/* The outermost dimension that the parts are combined behind, or the step itself. */
static struct cg_node *find_top(const struct cg_program *p, uint32_t step, bool of_groups)
{
    struct cg_node *top = p->inst_node[step];
    for (struct cg_node *n = top->parent; n->type == CG_DIM; n = n->parent) {
        bool behind = n->kind == BB_THREAD || (of_groups && n->kind != BB_BLOCK);
        for (unsigned i = 0; i < n->n_dims; i++)
            behind |=
                p->bb->dims[n->dims[i]].inst == step && cg_is_reduced(p, n->dims[i]) && n->kind != BB_BLOCK;
        if (behind) top = n;
    }
    return top;
}

static void insert_after(struct cg_program *p, struct cg_node *top, struct cg_node *node)
{
    struct cg_node *up = top->parent, **children;
    children = ARENA_ARRAY(p->arena, struct cg_node *, up->n_children + 1);
    unsigned out = 0;
    for (unsigned i = 0; i < up->n_children; i++) {
        children[out++] = up->children[i];
        if (up->children[i] == top) children[out++] = node;
    }
    node->parent = up;
    up->children = children;
    up->n_children = out;
}

static const char *split(struct cg_program *p, uint32_t step, struct cg_node *part, struct cg_node *groups)
{
    struct cg_split *s = ARENA_NEW(p->arena, struct cg_split);
    if (!bb_combination(p->bb, step, &s->how)) return "a reduction whose parts cannot be combined";
    if (groups && cg_group_split(p)) return "several reductions whose parts groups have";
    struct cg_node *top = find_top(p, step, groups);
    for (const struct cg_node *n = top->parent; n->type == CG_DIM; n = n->parent)
        if (n->kind != BB_LOOP && n->kind != BB_BLOCK)
            return "parts are combined where not all work-items are";
    s->part = part;
    s->groups = groups;
    s->node = cg_node_new(p, CG_COMBINE);
    s->node->statement = step;
    insert_after(p, top, s->node);
    p->splits[step] = s;
    return NULL;
}

/* Groups that have parts are around the whole kernel. Outputs are stored by the last group: after the parts
 * of all are combined, and, where the others cannot end there, by a guard. */
static const char *place_last(struct cg_program *p, const struct cg_split *s)
{
    for (uint32_t i = 0; i < p->bb->n_insts; i++) {
        struct cg_node *n = p->inst_node[i];
        bool store = p->bb->insts[i].kind == BB_STORE;
        if (n && !cg_inside(n, s->groups)) return "a statement outside of the groups that have parts";
        if (!n || !store) continue;
        if (n->place < s->node->place) return "an output is stored before parts of groups are combined";
        n->guard_last = cg_needs(&p->target, CG_ONE_EXIT);
    }
    return NULL;
}

const char *cg_split_reductions(struct cg_program *p)
{
    p->splits = ARENA_ARRAY(p->arena, struct cg_split *, p->bb->n_insts + 1);
    for (uint32_t i = 0; i < p->bb->n_insts; i++) {
        struct cg_node *part, *groups;
        if (p->bb->insts[i].kind != BB_STEP || !p->inst_node[i]) continue;
        const char *why = find_part(p, i, BB_THREAD, &part);
        if (!why) why = find_part(p, i, BB_BLOCK, &groups);
        if (!why && (part || groups)) why = split(p, i, part, groups);
        if (why) return why;
    }
    cg_number_nodes(p);
    const struct cg_split *of_groups = cg_group_split(p);
    return of_groups ? place_last(p, of_groups) : NULL;
}

bool cg_is_barrier(const struct cg_node *n)
{
    return n->type == CG_BARRIER || n->type == CG_COMBINE;
}

const struct cg_split *cg_split_start(const struct cg_program *p, uint32_t inst)
{
    const struct bb_inst *in = &p->bb->insts[inst];
    const struct cg_split *s = in->kind == BB_INIT ? p->splits[in->partner] : NULL;
    return s && !s->how.same_start ? s : NULL;
}

bool cg_takes_part(const struct cg_program *p, const struct cg_split *s, const int64_t item[CG_AXES])
{
    bool takes = true;
    for (const struct cg_node *n = p->inst_node[s->node->statement]->parent; n->type == CG_DIM; n = n->parent)
        takes &= n->kind != BB_THREAD || item[n->axis] < n->run_extent;
    return takes;
}

bool cg_is_shorter(const struct cg_program *p, const struct cg_split *s)
{
    const int64_t last[CG_AXES] = {p->local_size[0] - 1, p->local_size[1] - 1, p->local_size[2] - 1};
    return !cg_takes_part(p, s, last);
}

/* ---- the array of the parts ---- */

int64_t cg_split_together(const struct cg_program *p, const struct cg_split *s)
{
    const struct cg_value *v = &p->values[p->bb->insts[s->node->statement].partner];
    int64_t room = p->target.part_elements / cg_items_per_group(p);
    return room < 1 ? 1 : room < v->registers ? room : v->registers;
}

int64_t cg_part_elements(const struct cg_program *p, enum scalar_type type)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < p->bb->n_insts; i++) {
        if (!p->splits[i] || !p->splits[i]->part) continue;
        unsigned scalars = bb_combined_scalars(&p->bb->insts[i], &p->splits[i]->how, type);
        int64_t n = scalars * cg_split_together(p, p->splits[i]);
        if (n > most) most = n;
    }
    return most * cg_items_per_group(p);
}

/* ---- parts of groups ---- */

const struct cg_split *cg_group_split(const struct cg_program *p)
{
    for (uint32_t i = 0; i < p->bb->n_insts; i++)
        if (p->splits[i] && p->splits[i]->groups) return p->splits[i];
    return NULL;
}

int64_t cg_group_slots(const struct cg_program *p, const struct cg_split *s)
{
    return p->groups[0] * p->groups[1] * p->groups[2] / s->groups->size;
}

int64_t cg_split_results(const struct cg_program *p, const struct cg_split *s)
{
    return cg_items_per_group(p) / (s->part ? p->local_size[s->part->axis] : 1);
}
