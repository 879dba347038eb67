/* Hardware axes: runs of fused dimensions, the sizes of work-groups, and which work-items execute a store.
 *
 * A run is a dimension on an axis and the FUSED dimensions below it, each the only child of the one above.
 * The indices of all of them are decoded from one id, index(d) = (id / inner(d)) % size(d):
 *
 *     thread0 4: m.1                 const int m1 = id / 8;        inner 8, run_extent 32
 *       thread0 8 fused: n.1         const int n1 = id % 8;        inner 1, run_extent 32
 *
 * Runs on one block or global axis have equal extents. The longest run on a thread axis is the size of the
 * group there; in a shorter run only the work-items with id < run_extent take part. A store without a
 * dimension on an axis is executed by id 0 of that axis only (guard_local, guard_group), unless it writes
 * what each work-item has for itself; and so is a load of what the kernel updates in place: the others would
 * read it while it is overwritten. */
#include "core/codegen/program.h"

static int expected_code(enum bb_dim_kind kind)
{
    switch (kind) {
    case BB_THREAD:
        return BB_LCL;
    case BB_BLOCK:
        return BB_WRG;
    case BB_GLOBAL:
        return BB_GLB;
    case BB_LOOP:
    case BB_UNROLL:
    case BB_VECTOR:
        break;
    }
    return BB_SEQ;
}

static const char *join_run(struct cg_node *n)
{
    struct cg_node *up = n->parent;
    if (up->type != CG_DIM || up->kind != n->kind) return "a fused dimension without a run around it";
    if (up->n_children != 1) return "a fused dimension is not the only child of its run";
    if (n->kind == BB_VECTOR) return "a fused vector dimension";
    n->fused = true;
    n->axis = up->axis;
    return NULL;
}

static const char *read_code(const struct cg_program *p, struct cg_node *n)
{
    int code = p->c->code[n->dims[0]];
    if (code == BB_FUSED) return join_run(n);
    int first = expected_code(n->kind);
    if (!cg_hardware(n)) return code == first ? NULL : "a sequential dimension on a hardware axis";
    if (code < first || code >= first + CG_AXES) return "a parallel dimension without its hardware axis";
    n->axis = (unsigned)(code - first);
    return NULL;
}

static bool next_in_run(const struct cg_node *n)
{
    return n->n_children == 1 && n->children[0]->type == CG_DIM && n->children[0]->fused;
}

/* Fills inner and run_extent of the run that starts at head. */
static void measure_run(struct cg_node *head)
{
    struct cg_node *last = head;
    while (next_in_run(last))
        last = last->children[0];
    int64_t inner = 1;
    for (struct cg_node *n = last; n != head->parent; n = n->parent) {
        n->inner = inner;
        inner *= n->size;
    }
    for (struct cg_node *n = last; n != head->parent; n = n->parent)
        n->run_extent = inner;
}

static const char *take_axis(struct cg_program *p, const struct cg_node *head)
{
    int64_t *extent = head->kind == BB_THREAD ? &p->local_size[head->axis] : &p->groups[head->axis];
    if (head->kind != BB_THREAD && *extent != 1 && *extent != head->run_extent)
        return "runs of different extents on one group axis";
    if (head->run_extent > *extent) *extent = head->run_extent;
    if (head->kind == BB_GLOBAL) p->global_ids = true;
    return NULL;
}

/* No dimension around a hardware dimension uses its axis; UNROLL holds UNROLL and VECTOR only; VECTOR is
 * innermost. */
static const char *check_nesting(const struct cg_node *n)
{
    for (const struct cg_node *up = n->parent; up; up = up->parent) {
        if (up->type != CG_DIM) continue;
        if (up->kind == BB_VECTOR) return "a dimension inside a vector dimension";
        if (up->kind == BB_UNROLL && n->kind != BB_UNROLL && n->kind != BB_VECTOR)
            return "a loop inside an unrolled dimension";
        if (n->kind == BB_BLOCK && up->kind != BB_BLOCK) return "a block dimension is not outermost";
        if (n->kind == BB_GLOBAL && up->kind != BB_GLOBAL) return "a global dimension is not outermost";
        if (cg_hardware(n) && !n->fused && up->kind == n->kind && up->axis == n->axis)
            return "two runs on one axis around each other";
    }
    return NULL;
}

static const char *map_node(struct cg_program *p, struct cg_node *n)
{
    const char *why = n->type == CG_DIM ? read_code(p, n) : NULL;
    for (unsigned i = 0; !why && i < n->n_children; i++)
        why = map_node(p, n->children[i]);
    if (why || n->type != CG_DIM) return why;
    if (n->kind == BB_VECTOR && !cg_has_width(&p->target, n->size))
        return "a vector width that the target does not have";
    why = check_nesting(n);
    if (why || !cg_hardware(n) || n->fused) return why;
    measure_run(n);
    return take_axis(p, n);
}

/* ---- guards ---- */

static bool is_copy(enum bb_inst_kind kind)
{
    return kind == BB_COPY_STORE || kind == BB_COPY_LOAD;
}

static const char *check_store(const struct cg_program *p, const struct cg_node *n)
{
    for (const struct cg_node *up = n->parent; up; up = up->parent)
        if (cg_hardware(up) && !cg_owns(p, n->statement, up) && !cg_divides(p, up) &&
            (up->kind == BB_THREAD || !is_copy(p->bb->insts[n->statement].kind)))
            return "a store inside a parallel dimension that is not its own";
    return NULL;
}

/* Sets the axes on which an access lacks a dimension: there only id 0 may execute it. A region is private to
 * its group. */
static void guard_access(struct cg_program *p, struct cg_node *n)
{
    bool private_to_group = is_copy(p->bb->insts[n->statement].kind);
    bool local[CG_AXES] = {false}, group[CG_AXES] = {false};
    for (const struct cg_node *up = n->parent; up; up = up->parent)
        if (cg_hardware(up)) (up->kind == BB_THREAD ? local : group)[up->axis] = true;
    for (unsigned g = 0; g < CG_AXES; g++) {
        if (!local[g] && p->local_size[g] > 1) n->guard_local |= (uint8_t)(1u << g);
        if (!group[g] && p->groups[g] > 1 && !private_to_group) n->guard_group |= (uint8_t)(1u << g);
    }
}

/* Whether each work-item executes a copy for itself. */
static bool is_for_itself(const struct cg_program *p, const struct bb_inst *copy)
{
    return cg_is_private(p, p->bb->values[copy->value].region);
}

/* Whether an instruction reads what the kernel overwrites: a work-item that does not store it must not. */
static bool reads_updated(const struct cg_program *p, const struct bb_inst *inst)
{
    bool staged = cg_reads_region(p, (uint32_t)(inst - p->bb->insts));
    bool loads = inst->kind == BB_COPY_LOAD || (inst->kind == BB_LOAD && !staged);
    return loads && p->bb->buffers[inst->buffer].updated;
}

static const char *guard_accesses(struct cg_program *p)
{
    for (uint32_t i = 0; i < p->bb->n_insts; i++) {
        const struct bb_inst *inst = &p->bb->insts[i];
        bool copies = inst->kind == BB_COPY_STORE && !is_for_itself(p, inst);
        bool store = inst->kind == BB_STORE || copies;
        if (!p->inst_node[i] || !(store || reads_updated(p, inst))) continue;
        const char *why = store ? check_store(p, p->inst_node[i]) : NULL;
        if (why) return why;
        guard_access(p, p->inst_node[i]);
    }
    return NULL;
}

bool cg_is_short(const struct cg_program *p, const struct cg_node *n)
{
    return n->kind == BB_THREAD && !n->fused && n->run_extent < p->local_size[n->axis];
}

bool cg_is_guarded(const struct cg_program *p, const struct cg_node *n)
{
    if (n->type == CG_COMBINE) return cg_is_shorter(p, p->splits[n->statement]);
    if (n->type == CG_INST) return n->guard_local || n->guard_group || n->guard_last || n->n_guards;
    if (n->type != CG_DIM || !cg_hardware(n)) return false;
    return n->n_guards || cg_is_short(p, n);
}

int64_t cg_items_per_group(const struct cg_program *p)
{
    return p->local_size[0] * p->local_size[1] * p->local_size[2];
}

const char *cg_map_axes(struct cg_program *p)
{
    for (unsigned g = 0; g < CG_AXES; g++)
        p->local_size[g] = p->groups[g] = 1;
    const char *why = map_node(p, p->root);
    if (why) return why;
    bool blocks = false;
    for (unsigned i = 0; i < p->n_nodes; i++)
        blocks |= p->nodes[i]->type == CG_DIM && p->nodes[i]->kind == BB_BLOCK;
    if (p->global_ids && (blocks || cg_items_per_group(p) > 1))
        return "GLOBAL beside BLOCK or THREAD dimensions";
    return guard_accesses(p);
}
