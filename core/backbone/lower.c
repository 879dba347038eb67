/* Lowering, first half: the main logicals and instructions of a bound program.
 *
 * The output is asked for its element at one symbolic index per dimension (the parallel logicals). The scalar
 * tree that comes back is cut at its loads and reductions: each distinct load is an instruction; a reduction
 * is an INIT and a STEP with a logical of its own; what is left of a tree is one expression of its consumer.
 * So an element-wise chain never becomes an array. Own logicals of a load: the variables of its index, most
 * significant first; of a reduction: those of everything it reads. Second half: build.c. */
#include "core/backbone/lower.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/backbone/view.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/panic.h"
#include "core/lift/size.h"

enum { MAX_NODES = 4096 };    /* of one instruction's expression */
enum { MAX_STEPS = 1 << 18 }; /* of the evaluation of all of them */
static const char nested[] =
    "a reduction for each element of another reduction; reduce join(a) once, or tune "
    "the inner reduction as a program of its own";

static void unsupported(struct lowering *l, struct source_pos at, const char *what)
{
    if (!l->failed) diag_error(l->diag, at, "not supported yet: %s", what);
    l->failed = true;
}

/* Reports at `at` that the evaluation of what stands there has given up. */
static void check_viewer(struct lowering *l, struct source_pos at)
{
    if (!l->viewer->left)
        unsupported(
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
                                                     .size = array->size};
    return index_var(l->arena, (uint32_t)l->n_logicals++, array->extent);
}

static void own_logical(struct lowering *l, struct bb_inst *inst, uint32_t logical, struct source_pos at)
{
    if (bb_owns(inst, logical)) return;
    if (inst->n_logicals == BB_MAX_LOGICALS)
        unsupported(l, at, "more than 8 dimensions around one operation; join some of them");
    else
        inst->logicals[inst->n_logicals++] = logical;
}

/* The logicals along which a reader sees the value of `producer`: of a STEP, those of its INIT. */
static const struct bb_inst *visible(const struct lowering *l, uint32_t producer)
{
    const struct bb_inst *p = &l->insts[producer];
    return p->kind == BB_STEP ? &l->insts[p->partner] : p;
}

static void own_operand_logicals(struct lowering *l, struct bb_inst *inst, const struct bb_inst *from,
                                 unsigned first_operand, struct source_pos at)
{
    for (unsigned o = first_operand; o < from->n_operands; o++) {
        const struct bb_inst *p = visible(l, from->operands[o]);
        for (unsigned i = 0; i < p->n_logicals; i++)
            own_logical(l, inst, p->logicals[i], at);
    }
}

static int compare_ids(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return (a > b) - (a < b);
}

static void sort_logicals(struct bb_inst *inst)
{
    qsort(inst->logicals, inst->n_logicals, sizeof *inst->logicals, compare_ids);
}

/* ---- instructions ---- */

static bool inst_named(const struct lowering *l, const char *stem, const char *suffix)
{
    size_t n = strlen(stem);
    for (size_t i = 0; i < l->n_insts; i++)
        if (!strncmp(l->insts[i].name, stem, n) && !strcmp(l->insts[i].name + n, suffix)) return true;
    return false;
}

/* "stem", or "stem_2", "stem_3", ... such that with the suffix it is the name of no instruction yet. */
static const char *free_stem(const struct lowering *l, const char *stem, const char *suffix)
{
    const char *name = stem;
    for (unsigned n = 2; inst_named(l, name, suffix); n++)
        name = arena_printf(l->arena, "%s_%u", stem, n);
    return name;
}

static struct bb_inst new_inst(const struct lowering *l, enum bb_inst_kind kind, const char *stem,
                               enum scalar_type type)
{
    return (struct bb_inst){.name = free_stem(l, stem, ""),
                            .kind = kind,
                            .type = type,
                            .buffer = BB_NONE,
                            .value = BB_NONE,
                            .partner = BB_NONE};
}

static uint32_t push_inst(struct lowering *l, const struct bb_inst *inst)
{
    l->insts = arena_grow(l->arena, l->insts, &l->cap_insts, l->n_insts + 1, sizeof *l->insts);
    l->insts[l->n_insts] = *inst;
    return (uint32_t)l->n_insts++;
}

/* Variables of a load's index, most significant first. */
static void own_index_logicals(struct lowering *l, struct bb_inst *load, struct source_pos at)
{
    for (uint32_t v = 0; v < l->n_logicals; v++)
        if (index_mentions(load->index, v)) own_logical(l, load, v, at);
    for (unsigned i = 1; i < load->n_logicals; i++)
        for (unsigned j = i; j > 0; j--) {
            uint32_t *x = &load->logicals[j - 1], *y = &load->logicals[j], t = *x;
            if (index_significance(load->index, *x) >= index_significance(load->index, *y)) break;
            *x = *y;
            *y = t;
        }
}

static uint32_t load_inst(struct lowering *l, const struct tree *t, struct source_pos at)
{
    for (uint32_t i = 0; i < l->n_insts; i++) {
        const struct bb_inst *old = &l->insts[i];
        if (old->kind == BB_LOAD && old->buffer == t->input && !index_compare(old->index, t->index)) return i;
    }
    struct bb_inst load = new_inst(l, BB_LOAD, "", t->type);
    const char *stem = free_stem(l, l->buffers[t->input].name, ".load");
    load.name = arena_printf(l->arena, "%s.load", stem);
    load.buffer = t->input;
    load.index = t->index;
    own_index_logicals(l, &load, at);
    return push_inst(l, &load);
}

/* ---- expressions ---- */

/* An instruction's expression while it is made. */
struct flat {
    const struct reduction *step_of; /* the reduction whose accumulator it may read; NULL: none */
    struct bb_node *nodes;
    uint32_t *operands;
    size_t n_nodes, cap_nodes, n_operands, cap_operands;
};

static void add_node(struct lowering *l, struct flat *f, struct bb_node node)
{
    f->nodes = arena_grow(l->arena, f->nodes, &f->cap_nodes, f->n_nodes + 1, sizeof *f->nodes);
    f->nodes[f->n_nodes++] = node;
}

static void add_operand(struct lowering *l, struct flat *f, uint32_t inst)
{
    unsigned o = 0;
    while (o < f->n_operands && f->operands[o] != inst)
        o++;
    if (o == f->n_operands) {
        f->operands =
            arena_grow(l->arena, f->operands, &f->cap_operands, f->n_operands + 1, sizeof *f->operands);
        f->operands[f->n_operands++] = inst;
    }
    add_node(l, f, (struct bb_node){.kind = BB_NODE_OPERAND, .operand = o});
}

static uint32_t reduction_step(struct lowering *l, struct reduction *r);

/* Appends a tree in postfix order; makes the loads and reductions it reads. The accumulator is operand 0 of
 * its own STEP; a reduction inside that reads it would run once for each of its elements. */
static void flatten(struct lowering *l, const struct tree *t, struct flat *f, struct source_pos at)
{
    if (l->failed) return;
    if (f->n_nodes >= MAX_NODES) {
        unsupported(l, at,
                    "a scalar expression of more than 4096 operations; divide the program into several");
        return;
    }
    switch (t->kind) {
    case TREE_CONST:
        add_node(l, f, (struct bb_node){.kind = BB_NODE_CONST, .value = t->value});
        return;
    case TREE_LOAD:
        add_operand(l, f, load_inst(l, t, at));
        return;
    case TREE_ACC:
        if (t->reduction == f->step_of)
            add_node(l, f, (struct bb_node){.kind = BB_NODE_OPERAND, .operand = 0});
        else
            unsupported(l, at, nested);
        return;
    case TREE_REDUCE: {
        uint32_t step = reduction_step(l, t->reduction);
        if (!l->failed) add_operand(l, f, step);
        return;
    }
    case TREE_OP:
        for (unsigned i = 0; i < scalar_op_arity(t->op); i++)
            flatten(l, t->args[i], f, at);
        add_node(l, f, (struct bb_node){.kind = BB_NODE_OP, .op = t->op});
        return;
    }
}

static void take_flat(struct bb_inst *inst, const struct flat *f)
{
    inst->n_nodes = (unsigned)f->n_nodes;
    inst->nodes = f->nodes;
    inst->n_operands = (unsigned)f->n_operands;
    inst->operands = f->operands;
}

/* ---- reductions ---- */

static bool is_op(const struct tree *t, enum scalar_op op)
{
    return t->kind == TREE_OP && t->op == op;
}

/* acc + x * y, either way round, as fma(x, y, acc); NULL for anything else. */
static const struct tree *multiply_add(struct arena *a, const struct tree *body)
{
    if (!is_op(body, SCALAR_ADD)) return NULL;
    unsigned acc = body->args[0]->kind == TREE_ACC ? 0 : 1;
    const struct tree *product = body->args[1 - acc];
    if (body->args[acc]->kind != TREE_ACC || !is_op(product, SCALAR_MULT)) return NULL;
    struct tree *t = ARENA_NEW(a, struct tree);
    *t = (struct tree){.kind = TREE_OP,
                       .type = body->type,
                       .op = SCALAR_FMA,
                       .args = {product->args[0], product->args[1], body->args[acc]}};
    return t;
}

static bool is_real(enum scalar_type t)
{
    return t == SCALAR_FLOAT || t == SCALAR_DOUBLE || t == SCALAR_HALF;
}

static bool in_reduction(const struct lowering *l, const struct bb_inst *inst)
{
    for (unsigned i = 0; i < inst->n_logicals; i++)
        if (l->logicals[inst->logicals[i]].reduction) return true;
    return false;
}

/* Pushes INIT, in the logicals of all that the reduction reads but its own, and STEP, which adds its own. */
static uint32_t push_reduction(struct lowering *l, struct bb_inst init, struct bb_inst step, uint32_t own,
                               uint32_t *step_operands, struct source_pos at)
{
    own_operand_logicals(l, &step, &init, 0, at);
    own_operand_logicals(l, &step, &step, 1, at);
    own_logical(l, &step, own, at);
    sort_logicals(&step);
    for (unsigned i = 0; i < step.n_logicals; i++)
        if (step.logicals[i] != own) own_logical(l, &init, step.logicals[i], at);
    if (in_reduction(l, &init)) unsupported(l, at, nested);
    init.partner = (uint32_t)l->n_insts + 1;
    step.partner = push_inst(l, &init);
    step_operands[0] = step.partner;
    return push_inst(l, &step);
}

static uint32_t reduction_step(struct lowering *l, struct reduction *r)
{
    if (r->step != BB_NONE) return r->step;
    const struct lift_expr *e = r->expr;
    const struct index_expr *i = add_logical(l, e->args[1]->type, true);
    uint32_t own = (uint32_t)l->n_logicals - 1;
    struct tree *acc = ARENA_NEW(l->arena, struct tree);
    *acc = (struct tree){.kind = TREE_ACC, .type = e->type->scalar, .reduction = r};
    const struct tree *body = view_reduction_body(l->viewer, r, acc, i);
    check_viewer(l, e->at);
    const struct tree *fma = multiply_add(l->arena, body);

    struct flat init_flat = {0}, step_flat = {.step_of = r};
    flatten(l, r->init, &init_flat, e->at);
    add_operand(l, &step_flat, BB_NONE); /* the INIT, not numbered yet */
    step_flat.n_nodes = 0;
    flatten(l, fma && is_real(body->type) ? fma : body, &step_flat, e->at);
    if (l->failed) return BB_NONE;
    struct bb_inst init = new_inst(l, BB_INIT, "init", e->type->scalar);
    struct bb_inst step = new_inst(l, BB_STEP, fma ? "mad" : "red", e->type->scalar);
    take_flat(&init, &init_flat);
    take_flat(&step, &step_flat);
    return r->step = push_reduction(l, init, step, own, step_flat.operands, e->at);
}

/* ---- the program ---- */

static struct flat single_operand(struct lowering *l, uint32_t inst)
{
    struct flat f = {0};
    add_operand(l, &f, inst);
    return f;
}

/* The instruction whose value is stored: a load or a reduction as it is, anything else through a COMPUTE. */
static uint32_t stored_inst(struct lowering *l, const struct tree *t, uint32_t n_parallel,
                            struct source_pos at)
{
    struct flat f = {0};
    flatten(l, t, &f, at);
    if (l->failed) return BB_NONE;
    if (t->kind == TREE_LOAD || t->kind == TREE_REDUCE) return f.operands[0];
    struct bb_inst compute = new_inst(l, BB_COMPUTE, "compute", t->type);
    take_flat(&compute, &f);
    for (uint32_t v = 0; v < n_parallel; v++)
        own_logical(l, &compute, v, at);
    return push_inst(l, &compute);
}

static void store_output(struct lowering *l, const struct view_env *env)
{
    const struct lift_expr *e = l->program->output;
    const struct view *v = view_eval(l->viewer, e, env);
    const struct lift_type *type = e->type;
    const struct index_expr *at = index_constant(l->arena, 0);
    for (; type->kind == LIFT_ARRAY; type = type->element) {
        const struct index_expr *i = add_logical(l, type, false);
        at = index_add(l->arena, at, index_scale(l->arena, i, lift_type_scalars(type->element)));
        v = view_get(l->viewer, v, i);
    }
    check_viewer(l, e->at);
    uint32_t n_parallel = (uint32_t)l->n_logicals;
    uint32_t value = stored_inst(l, v->tree, n_parallel, e->at);
    if (l->failed) return;
    struct bb_inst store = new_inst(l, BB_STORE, "store", type->scalar);
    struct flat f = single_operand(l, value);
    take_flat(&store, &f);
    store.buffer = l->program->n_inputs;
    store.index = at;
    for (uint32_t i = 0; i < n_parallel; i++)
        own_logical(l, &store, i, e->at);
    push_inst(l, &store);
}

static void set_buffer(struct lowering *l, unsigned i, const char *name, const struct lift_type *t,
                       struct source_pos at)
{
    struct bb_buffer *b = &l->buffers[i];
    b->name = name;
    b->elements = lift_type_scalars(t);
    b->output = i == l->program->n_inputs;
    b->input = i;
    if (!lift_type_bottom(t, &b->type))
        unsupported(l, at, "inputs and outputs of tuples; use one array for each component");
    else if (b->type == SCALAR_BOOL)
        unsupported(l, at, "inputs and outputs of type bool; use float or int with 0 and 1");
}

static bool input_named(const struct lift_program *p, const char *name)
{
    for (unsigned i = 0; i < p->n_inputs; i++)
        if (!strcmp(p->inputs[i]->name, name)) return true;
    return false;
}

/* A name for the output that no input has. */
static const char *output_name(const struct lift_program *p, struct arena *a)
{
    const char *name = "out";
    for (unsigned n = 2; input_named(p, name); n++)
        name = arena_printf(a, "out_%u", n);
    return name;
}

/* Buffers and the environment of the inputs. */
static const struct view_env *bind_inputs(struct lowering *l)
{
    const struct lift_program *p = l->program;
    const struct view_env *env = NULL;
    l->buffers = ARENA_ARRAY(l->arena, struct bb_buffer, p->n_inputs + 1);
    for (unsigned i = 0; i < p->n_inputs; i++) {
        const struct lift_param *in = p->inputs[i];
        set_buffer(l, i, in->name, in->type, in->at);
        env = view_bind(l->viewer, env, in, view_input(l->viewer, i, in->type));
    }
    set_buffer(l, p->n_inputs, output_name(p, l->arena), p->output->type, p->output->at);
    return env;
}

/* Reports reductions whose accumulator is no scalar: evaluation relies on there being none. */
static void check_reductions(struct lowering *l, const struct lift_expr *e)
{
    if (e->kind == LIFT_APPLY && e->pattern == LIFT_REDUCE && e->type->kind != LIFT_SCALAR)
        unsupported(
            l, e->at,
            "a reduction whose accumulator is a tuple or an array; tune one reduction for each component");
    for (unsigned i = 0; i < e->n_args; i++)
        check_reductions(l, e->args[i]);
    if (e->kind == LIFT_APPLY && e->fun) check_reductions(l, e->fun->body);
    if (e->kind == LIFT_LET) check_reductions(l, e->body);
}

struct backbone *bb_lower(const struct lift_program *p, const struct bb_options *o, struct arena *a,
                          struct diag *d)
{
    struct viewer viewer = {.arena = a, .left = MAX_STEPS};
    struct lowering l = {.arena = a, .diag = d, .viewer = &viewer, .program = p};
    const struct view_env *env = bind_inputs(&l);
    check_reductions(&l, p->output);
    if (!l.failed) store_output(&l, env);
    return l.failed ? NULL : bb_build(&l, o);
}
