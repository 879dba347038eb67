/* Lowering, first half: the main logicals and instructions of a bound program.
 *
 * The output is asked for its element at one symbolic index per dimension (the parallel logicals). The scalar
 * tree that comes back is cut at its loads and reductions: each distinct load is an instruction; a reduction
 * is an INIT and a STEP with a logical of its own (reduce.c); what is left of a tree is one expression of its
 * consumer. So an element-wise chain never becomes an array. Own logicals of a load: the variables of its
 * index, most significant first; of a reduction: those of everything it reads. Second half: build.c. */
#include "core/backbone/lower.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/backbone/stored.h"
#include "core/backbone/view.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/panic.h"
#include "core/lift/size.h"

enum { MAX_NODES = 4096 };    /* of one instruction's expression */
enum { MAX_STEPS = 1 << 18 }; /* of the evaluation of all of them */

void bb_lower_unsupported(struct lowering *l, struct source_pos at, const char *what)
{
    if (!l->failed) diag_error(l->diag, at, "not supported yet: %s", what);
    l->failed = true;
}

void bb_lower_check_viewer(struct lowering *l, struct source_pos at)
{
    if (l->viewer->stuck) bb_lower_unsupported(l, l->viewer->stuck->at, l->viewer->why);
    if (!l->viewer->left)
        bb_lower_unsupported(
            l, at,
            "an element that takes more than 262144 steps to evaluate; divide the program into several");
}

/* ---- logicals ---- */

static bool logical_named(const struct lowering *l, const char *name)
{
    for (size_t i = 0; i < l->n_logicals; i++)
        if (!strcmp(l->logicals[i].name, name)) return true;
    return false;
}

/* The size parameter in lower case if the extent is plainly one, otherwise i0, i1, ... */
static const char *logical_name(struct lowering *l, const struct lift_size *size)
{
    char *stem = NULL;
    if (size && size->kind == LIFT_SIZE_PARAM) {
        stem = arena_strdup(l->arena, size->name);
        for (char *c = stem; *c; c++)
            *c = (char)tolower((unsigned char)*c);
    }
    const char *name = stem ? stem : "i0";
    for (unsigned n = stem ? 2 : 1; logical_named(l, name); n++)
        name = arena_printf(l->arena, stem ? "%s_%u" : "%s%u", stem ? stem : "i", n);
    return name;
}

/* A new logical for an array's elements; an extent of 1 needs none and gives index 0. */
static const struct index_expr *add_logical(struct lowering *l, const struct lift_type *array, bool reduction)
{
    if (array->extent == 1) return index_constant(l->arena, 0);
    l->logicals = arena_grow(l->arena, l->logicals, &l->cap_logicals, l->n_logicals + 1, sizeof *l->logicals);
    const char *name = logical_name(l, array->size);
    l->logicals[l->n_logicals] = (struct bb_logical){.name = name,
                                                     .extent = array->extent,
                                                     .reduction = reduction,
                                                     .of = BB_NONE,
                                                     .region = BB_NONE,
                                                     .coordinate = BB_NONE,
                                                     .size = array->size};
    return index_var(l->arena, (uint32_t)l->n_logicals++, array->extent);
}

const struct index_expr *bb_lower_index(struct lowering *l, const struct view *v,
                                        const struct lift_type *array, bool reduction)
{
    const struct view *join = view_joined(v);
    if (!join) return add_logical(l, array, reduction);
    const struct index_expr *outer = bb_lower_index(l, join->of, join->type, reduction);
    const struct view *part = view_get(l->viewer, join->of, outer);
    const struct index_expr *inner = bb_lower_index(l, part, join->type->element, reduction);
    return index_add(l->arena, index_scale(l->arena, outer, join->length), inner);
}

void bb_lower_own(struct lowering *l, struct bb_inst *inst, uint32_t logical, struct source_pos at)
{
    if (bb_owns(inst, logical)) return;
    if (inst->n_logicals == BB_MAX_LOGICALS)
        bb_lower_unsupported(l, at, "more than 8 dimensions around one operation; join some of them");
    else
        inst->logicals[inst->n_logicals++] = logical;
}

/* ---- instructions ---- */

bool bb_lower_named(const struct lowering *l, const char *stem, const char *suffix)
{
    size_t n = strlen(stem);
    for (size_t i = 0; i < l->n_insts; i++)
        if (!strncmp(l->insts[i].name, stem, n) && !strcmp(l->insts[i].name + n, suffix)) return true;
    return false;
}

/* "stem", or "stem_2", "stem_3", ... that is the name of no instruction yet. */
static const char *free_stem(const struct lowering *l, const char *stem)
{
    const char *name = stem;
    for (unsigned n = 2; bb_lower_named(l, name, ""); n++)
        name = arena_printf(l->arena, "%s_%u", stem, n);
    return name;
}

struct bb_inst bb_lower_inst(const struct lowering *l, enum bb_inst_kind kind, const char *stem,
                             enum scalar_type type)
{
    return (struct bb_inst){.name = free_stem(l, stem),
                            .kind = kind,
                            .type = type,
                            .buffer = BB_NONE,
                            .value = BB_NONE,
                            .unless = BB_NONE,
                            .partner = BB_NONE};
}

uint32_t bb_lower_push(struct lowering *l, const struct bb_inst *inst)
{
    l->insts = arena_grow(l->arena, l->insts, &l->cap_insts, l->n_insts + 1, sizeof *l->insts);
    l->insts[l->n_insts] = *inst;
    return (uint32_t)l->n_insts++;
}

/* ---- expressions ---- */

static void add_node(struct lowering *l, struct bb_flat *f, struct bb_node node)
{
    f->nodes = arena_grow(l->arena, f->nodes, &f->cap_nodes, f->n_nodes + 1, sizeof *f->nodes);
    f->nodes[f->n_nodes++] = node;
}

void bb_lower_operand(struct lowering *l, struct bb_flat *f, uint32_t inst, unsigned part,
                      enum scalar_type type)
{
    unsigned o = 0;
    while (o < f->n_operands && f->operands[o] != inst)
        o++;
    if (o == f->n_operands) {
        f->operands =
            arena_grow(l->arena, f->operands, &f->cap_operands, f->n_operands + 1, sizeof *f->operands);
        f->operands[f->n_operands++] = inst;
    }
    add_node(l, f, (struct bb_node){.kind = BB_NODE_OPERAND, .type = type, .operand = o, .part = part});
}

static void load_operand(struct lowering *l, const struct tree *t, struct bb_flat *f, struct source_pos at)
{
    uint32_t load = bb_lower_load(l, t, at);
    if (!l->failed) bb_lower_operand(l, f, load, 0, t->type);
}

/* What the spots of an index leave of it may be a number. */
static void index_node(struct lowering *l, const struct tree *t, struct bb_flat *f)
{
    struct bb_node node = {
        .kind = BB_NODE_INDEX, .type = t->type, .index = view_settled(l->viewer, t->index)};
    if (!node.index->n_terms)
        node =
            (struct bb_node){.kind = BB_NODE_CONST, .type = t->type, .value = (double)node.index->constant};
    add_node(l, f, node);
}

static void select_node(struct lowering *l, const struct tree *t, struct bb_flat *f)
{
    struct bb_node node = {.kind = BB_NODE_SELECT, .type = t->type, .n_guards = t->n_guards};
    node.guards = view_settled_guards(l->viewer, t->guards, &node.n_guards);
    add_node(l, f, node);
}

static enum scalar_type last_type(const struct tree *t)
{
    return t->args[scalar_op_arity(t->op) - 1]->type;
}

void bb_lower_flatten(struct lowering *l, const struct tree *t, struct bb_flat *f, struct source_pos at)
{
    if (l->failed) return;
    if (f->n_nodes >= MAX_NODES) {
        bb_lower_unsupported(
            l, at, "a scalar expression of more than 4096 operations; divide the program into several");
        return;
    }
    t = view_resolved(l->viewer, t);
    switch (t->kind) {
    case TREE_CONST:
        add_node(l, f, (struct bb_node){.kind = BB_NODE_CONST, .type = t->type, .value = t->value});
        return;
    case TREE_LOAD:
        load_operand(l, t, f, at);
        return;
    case TREE_ACC:
        if (t->reduction == f->step_of)
            add_node(l, f, (struct bb_node){.kind = BB_NODE_OPERAND, .type = t->type, .part = t->part});
        else
            bb_lower_unsupported(
                l, at,
                "a reduction that reads the accumulator of the reduction around it; it may start from "
                "it: reduce(f, accumulator, a) as the whole result");
        return;
    case TREE_REDUCE: {
        uint32_t step = bb_lower_reduction(l, t->reduction);
        if (!l->failed) bb_lower_operand(l, f, step, t->part, t->type);
        return;
    }
    case TREE_STORED: {
        if (!stored_stands_alone(t->args[0])) {
            bb_lower_flatten(l, t->args[0], f, at);
            return;
        }
        uint32_t take = bb_lower_stored(l, t, at);
        if (!l->failed) bb_lower_operand(l, f, take, 0, t->type);
        return;
    }
    case TREE_INDEX:
        index_node(l, t, f);
        return;
    case TREE_SELECT:
        bb_lower_flatten(l, t->args[0], f, at);
        bb_lower_flatten(l, t->args[1], f, at);
        select_node(l, t, f);
        return;
    case TREE_OP:
        for (unsigned i = 0; i < scalar_op_arity(t->op); i++)
            bb_lower_flatten(l, t->args[i], f, at);
        add_node(l, f, (struct bb_node){.kind = BB_NODE_OP, .type = last_type(t), .op = t->op});
        return;
    }
}

void bb_lower_take(struct lowering *l, struct bb_inst *inst, const struct bb_flat *f, struct source_pos at)
{
    inst->n_nodes = (unsigned)f->n_nodes;
    inst->nodes = f->nodes;
    inst->n_operands = (unsigned)f->n_operands;
    inst->operands = f->operands;
    for (unsigned i = 0; i < inst->n_nodes; i++)
        for (uint32_t v = 0; v < l->n_logicals; v++)
            if (bb_node_mentions(&inst->nodes[i], v)) bb_lower_own(l, inst, v, at);
}

/* ---- the program ---- */

/* What is stored: a load or a reduction as it is, anything else through a COMPUTE. */
static struct bb_flat stored_value(struct lowering *l, const struct tree *t, uint32_t n_parallel,
                                   struct source_pos at)
{
    struct bb_flat f = {0}, computed = {0};
    t = view_resolved(l->viewer, t);
    bb_lower_flatten(l, t, &f, at);
    if (l->failed || t->kind == TREE_LOAD || t->kind == TREE_REDUCE || t->kind == TREE_STORED) return f;
    struct bb_inst compute = bb_lower_inst(l, BB_COMPUTE, "compute", t->type);
    bb_lower_take(l, &compute, &f, at);
    for (uint32_t v = 0; v < n_parallel; v++)
        bb_lower_own(l, &compute, v, at);
    bb_lower_operand(l, &computed, bb_lower_push(l, &compute), 0, t->type);
    return computed;
}

void bb_lower_store(struct lowering *l, const struct lift_array *array, const struct tree *t,
                    const struct index_expr *index, struct source_pos at)
{
    struct bb_flat value = stored_value(l, t, l->n_parallel, at);
    if (l->failed) return;
    const char *name = l->n_stored > 1 ? arena_printf(l->arena, "%s.store", array->name) : "store";
    struct bb_inst store = bb_lower_inst(l, BB_STORE, name, t->type);
    bb_lower_take(l, &store, &value, at);
    store.buffer = (uint32_t)(array - l->program->arrays);
    store.index = index;
    for (uint32_t i = 0; i < l->n_parallel; i++)
        bb_lower_own(l, &store, i, at);
    bb_lower_push(l, &store);
}

/* ---- inputs ---- */

static void set_buffer(struct lowering *l, unsigned i)
{
    const struct lift_array *array = &l->program->arrays[i];
    struct bb_buffer *b = &l->buffers[i];
    *b = (struct bb_buffer){.name = array->name, .input = array->input};
    b->elements = lift_type_scalars(array->type);
    b->output = array->output != LIFT_NONE;
    b->updated = b->output && array->input != LIFT_NONE;
    b->by_value = !b->output && array->type->kind == LIFT_SCALAR;
    if (lift_type_bottom(array->type, &b->type) && b->type == SCALAR_BOOL)
        bb_lower_unsupported(l, array->at, "inputs and outputs of type bool; use int: if c then 1 else 0");
}

/* Buffers and the environment of the inputs. */
static const struct view_env *bind_inputs(struct lowering *l)
{
    const struct lift_program *p = l->program;
    const struct view_env *env = NULL;
    l->buffers = ARENA_ARRAY(l->arena, struct bb_buffer, p->n_arrays);
    for (unsigned i = 0; i < p->n_arrays; i++)
        set_buffer(l, i);
    for (unsigned i = 0; i < p->n_inputs; i++)
        env = view_bind(l->viewer, env, p->inputs[i], view_input(l->viewer, p->inputs[i]), NULL);
    return env;
}

/* Reports reductions to more scalars than one instruction has. */
static void check_reductions(struct lowering *l, const struct lift_expr *e)
{
    bool scan = e->kind == LIFT_APPLY && e->pattern == LIFT_SCAN;
    bool reduce = scan || (e->kind == LIFT_APPLY && e->pattern == LIFT_REDUCE);
    unsigned parts = reduce ? lift_type_parts(scan ? e->type->element : e->type) : 1;
    if (parts > BB_MAX_PARTS)
        bb_lower_unsupported(l, e->at, "a reduction to more than 8 scalars; write several reductions");
    for (unsigned i = 0; i < e->n_args; i++)
        check_reductions(l, e->args[i]);
    if (e->kind == LIFT_APPLY && e->fun) check_reductions(l, e->fun->body);
    if (e->kind == LIFT_LET) check_reductions(l, e->body);
}

/* Lowers with TAKEs of these arrays. */
static struct lowering lower(const struct lift_program *p, const struct stored_arrays *stored,
                             struct viewer *viewer, struct diag *d)
{
    struct lowering l = {.arena = viewer->arena, .diag = d, .viewer = viewer, .program = p};
    viewer->stored = stored;
    const struct view_env *env = bind_inputs(&l);
    check_reductions(&l, p->output);
    if (!l.failed) bb_lower_outputs(&l, env);
    return l;
}

/* The arrays that are worth it: found where all with a name are stored, then all others, too. */
static struct stored_arrays choose_arrays(const struct lift_program *p, struct arena *a)
{
    struct stored_arrays chosen = {0};
    for (unsigned round = 0; round < 2; round++) {
        struct stored_arrays all = chosen;
        stored_add_arrays(&all, p, round == 0, a);
        if (all.n == chosen.n) continue;
        struct viewer viewer = {.arena = a, .left = MAX_STEPS};
        struct diag *unheard = diag_new();
        struct lowering l = lower(p, &all, &viewer, unheard);
        if (!l.failed) chosen = stored_choose(&l, &chosen);
        diag_free(unheard);
    }
    return chosen;
}

struct backbone *bb_lower(const struct lift_program *p, const struct bb_options *o, struct arena *a,
                          struct diag *d)
{
    struct viewer viewer = {.arena = a, .left = MAX_STEPS};
    struct stored_arrays stored = {0};
    if (!o || !o->no_staging) stored = choose_arrays(p, a);
    struct lowering l = lower(p, &stored, &viewer, d);
    return l.failed ? NULL : bb_build(&l, o);
}
