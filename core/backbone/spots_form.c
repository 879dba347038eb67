/* The general form of instructions: what they would be if the places of windows were variables (view_spot.c).
 *
 * The trees that they were made from are walked again, node by node: each must be what the instruction has,
 * but for the values of spots. It is not if these decide a guard: then a branch is missing in the
 * instruction, and there is no general form. */
#include "core/backbone/spots_form.h"

#include "core/backbone/lower.h"
#include "core/backbone/stored.h"
#include "core/backbone/view.h"
#include "core/backbone/window.h"
#include "core/base/arena.h"

struct walk {
    const struct lowering *l;
    struct bb_inst *form; /* [n_insts] */
    bool *seen;           /* [n_insts] */
    bool failed;
};

/* An instruction's expression that is walked. */
struct position {
    uint32_t inst;
    unsigned node;
};

static bool same_place(const struct bb_inst *inst, const struct tree *t)
{
    return !index_compare(inst->index, t->index) && inst->n_guards == t->n_guards &&
           guard_same(inst->guards, t->guards, t->n_guards);
}

/* Where guards hold for the spots of an instruction, its tree alone has the value beyond the border. */
static bool same_form(const struct bb_inst *form, const struct tree *t)
{
    return same_place(form, t) && (!t->n_guards || form->otherwise == t->value);
}

/* A LOAD that a tree is: also with spots, if it is read by several. */
static void walk_load(struct walk *w, const struct tree *t, uint32_t inst)
{
    const struct tree *settled = view_settled_access(w->l->viewer, t);
    struct bb_inst *form = &w->form[inst];
    bool is_load = form->kind == BB_LOAD && form->buffer == t->array && !form->n_data;
    if (!is_load || !same_place(&w->l->insts[inst], settled) || (w->seen[inst] && !same_form(form, t))) {
        w->failed = true;
        return;
    }
    w->seen[inst] = true;
    form->index = t->index;
    form->n_guards = t->n_guards;
    form->guards = t->guards;
    form->otherwise = t->value;
    form->n_axes = t->n_axes;
    form->axes = t->axes;
}

static void walk_tree(struct walk *w, const struct tree *t, struct position *at);

static void walk_parts(struct walk *w, const struct tree *const *parts, uint32_t inst)
{
    struct position at = {inst, 0};
    w->seen[inst] = true;
    for (unsigned i = 0; i < bb_parts(&w->l->insts[inst]) && !w->failed; i++)
        walk_tree(w, parts[i], &at);
    w->failed = w->failed || at.node != w->l->insts[inst].n_nodes;
}

static void walk_reduction(struct walk *w, const struct reduction *r, uint32_t inst)
{
    const struct bb_inst *step = &w->l->insts[inst];
    if (step->kind != BB_STEP || step->scan || r->step != inst) w->failed = true;
    if (w->failed || w->seen[inst]) return;
    walk_parts(w, r->start, step->partner);
    walk_parts(w, r->body, inst);
}

static bool same_axes(const struct bb_inst *take, const struct tree *t)
{
    bool same = true;
    for (unsigned k = 0; k < take->n_axes && same; k++)
        same = !index_compare(take->axes[k], t->axes[k]);
    return same;
}

/* A TAKE, whose value is a reduction, an element of another array, or an expression of a COMPUTE. */
static void walk_take(struct walk *w, const struct tree *t, uint32_t take)
{
    const struct bb_inst *inst = &w->l->insts[take];
    const struct tree *of = t->args[0];
    bool is_take = inst->kind == BB_TAKE && inst->n_axes == t->n_axes && inst->n_operands == 1;
    if (!is_take || view_resolved(w->l->viewer, of) != of || (w->seen[take] && !same_axes(&w->form[take], t)))
        w->failed = true;
    if (w->failed || w->seen[take]) return;
    uint32_t from = inst->operands[0];
    w->form[take].axes = t->axes;
    w->seen[take] = true;
    if (of->kind == TREE_REDUCE)
        walk_reduction(w, of->reduction, from);
    else if (of->kind == TREE_STORED && stored_stands_alone(of->args[0]))
        walk_take(w, of, from);
    else if (w->l->insts[from].kind == BB_COMPUTE)
        walk_parts(w, &of, from);
    else
        w->failed = true;
}

/* What the operand is that a node reads. */
static void walk_operand(struct walk *w, const struct tree *t, const struct position *at)
{
    const struct bb_inst *inst = &w->l->insts[at->inst];
    uint32_t from = inst->operands[inst->nodes[at->node].operand];
    if (t->kind == TREE_LOAD)
        walk_load(w, t, from);
    else if (t->kind == TREE_REDUCE)
        walk_reduction(w, t->reduction, from);
    else if (t->kind == TREE_STORED)
        walk_take(w, t, from);
}

static enum bb_node_kind kind_of(const struct tree *t)
{
    switch (t->kind) {
    case TREE_CONST:
        return BB_NODE_CONST;
    case TREE_INDEX:
        return BB_NODE_INDEX;
    case TREE_SELECT:
        return BB_NODE_SELECT;
    case TREE_OP:
        return BB_NODE_OP;
    case TREE_LOAD:
    case TREE_ACC:
    case TREE_REDUCE:
    case TREE_STORED:
        break;
    }
    return BB_NODE_OPERAND;
}

static void walk_tree(struct walk *w, const struct tree *t, struct position *at)
{
    if (t->kind == TREE_STORED && !stored_stands_alone(t->args[0])) t = t->args[0];
    const struct bb_inst *inst = &w->l->insts[at->inst];
    unsigned n = t->kind == TREE_OP ? scalar_op_arity(t->op) : t->kind == TREE_SELECT ? 2 : 0;
    if (view_resolved(w->l->viewer, t) != t) w->failed = true;
    for (unsigned i = 0; i < n && !w->failed; i++)
        walk_tree(w, t->args[i], at);
    if (w->failed || at->node >= inst->n_nodes || inst->nodes[at->node].kind != kind_of(t)) {
        w->failed = true;
        return;
    }
    struct bb_node *node = (struct bb_node *)&w->form[at->inst].nodes[at->node];
    node->index = t->kind == TREE_INDEX ? t->index : NULL;
    node->n_guards = t->kind == TREE_SELECT ? t->n_guards : 0;
    node->guards = t->guards;
    if (t->kind == TREE_OP && t->op != node->op) w->failed = true;
    if (node->kind == BB_NODE_OPERAND && !w->failed) walk_operand(w, t, at);
    at->node++;
}

/* ---- spots as logicals ---- */

struct bb_logical *spots_logicals(const struct lowering *l, unsigned *n)
{
    const struct viewer *v = l->viewer;
    *n = (unsigned)l->n_logicals + v->n_spots;
    struct bb_logical *all = ARENA_ARRAY(l->arena, struct bb_logical, *n + 1);
    for (size_t i = 0; i < l->n_logicals; i++)
        all[i] = l->logicals[i];
    for (unsigned k = 0; k < v->n_spots; k++)
        all[l->n_logicals + k] = (struct bb_logical){.name = "spot",
                                                     .extent = v->spots[k].slide->amount,
                                                     .of = BB_NONE,
                                                     .region = BB_NONE,
                                                     .coordinate = BB_NONE};
    return all;
}

static bool is_in_axes(const struct tree *t, uint32_t spot)
{
    bool mentioned = false;
    for (unsigned k = 0; k < t->n_axes; k++)
        mentioned = mentioned || index_mentions(t->axes[k], spot);
    return mentioned;
}

/* What stands for each spot: a logical for those of the value's own index, the value of those of windows that
 * are read to compute it. */
static const struct index_expr **spot_variables(const struct lowering *l, const struct tree *t)
{
    const struct viewer *v = l->viewer;
    const struct index_expr **by = ARENA_ARRAY(l->arena, const struct index_expr *, VIEW_SPOT + v->n_spots);
    for (unsigned k = 0; k < v->n_spots; k++)
        by[VIEW_SPOT + k] = is_in_axes(t, VIEW_SPOT + k)
                                ? index_var(l->arena, (uint32_t)l->n_logicals + k, v->spots[k].slide->amount)
                                : v->settled[VIEW_SPOT + k];
    return by;
}

/* Adds the spots of its axes to the logicals of a load; false: they are too many. */
static bool own_spots(const struct lowering *l, struct bb_inst *load)
{
    for (uint32_t v = (uint32_t)l->n_logicals; v < l->n_logicals + l->viewer->n_spots; v++) {
        bool mentioned = false;
        for (unsigned k = 0; k < load->n_axes; k++)
            mentioned = mentioned || index_mentions(load->axes[k], v);
        if (!mentioned) continue;
        if (load->n_logicals == BB_MAX_LOGICALS) return false;
        load->logicals[load->n_logicals++] = v;
    }
    return true;
}

static void own_nodes(const struct lowering *l, struct bb_inst *form)
{
    struct bb_node *nodes = ARENA_ARRAY(l->arena, struct bb_node, form->n_nodes + 1);
    for (unsigned i = 0; i < form->n_nodes; i++)
        nodes[i] = form->nodes[i];
    form->nodes = nodes;
}

struct bb_inst *spots_form(const struct lowering *l, uint32_t load, const uint32_t *makers, unsigned n_makers)
{
    struct walk w = {.l = l};
    const struct tree *t = l->trees[load];
    w.seen = ARENA_ARRAY(l->arena, bool, l->n_insts + 1);
    w.form = arena_memdup(l->arena, l->insts, l->n_insts * sizeof *w.form);
    for (unsigned i = 0; i < n_makers; i++)
        own_nodes(l, &w.form[makers[i]]);
    own_nodes(l, &w.form[load]);
    if (l->insts[load].kind == BB_LOAD)
        walk_load(&w, t, load);
    else
        walk_take(&w, t, load);
    struct bb_inst *all = ARENA_ARRAY(l->arena, struct bb_inst, n_makers + 1);
    const struct index_expr **by = spot_variables(l, t);
    for (unsigned i = 0; i <= n_makers && !w.failed; i++) {
        uint32_t inst = i < n_makers ? makers[i] : load;
        w.failed = !w.seen[inst];
        all[i] = w.form[inst];
        bb_put_indices(l->arena, &all[i], by, VIEW_SPOT + l->viewer->n_spots);
    }
    return w.failed || !own_spots(l, &all[n_makers]) ? NULL : all;
}
