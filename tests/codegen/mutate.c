/* Finding the places of mutants, and making them. */
#include "tests/codegen/mutate.h"

#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/base/strbuf.h"

enum { REVERSED, ROTATED, FIRST_FOR_ALL, LANE_CHANGES };
enum { ONE_MORE, LEFT_OUT, STRIDE_CHANGES };
enum { NO_GUARD, LATE, EARLY, GUARD_CHANGES };
enum { PLUS_ONE, ZERO, NEGATED, CONSTANT_CHANGES };

static const int64_t elsewhere = INT64_C(1) << 40; /* outside every array: such a store is left out */

const char *mutation_name(enum mutation kind)
{
    static const char *const names[MUTATE_KINDS] = {"short",    "long", "start",   "initial",
                                                    "constant", "lane", "index",   "stride",
                                                    "store",    "once", "operand", "guard"};
    CHECK(kind < MUTATE_KINDS);
    return names[kind];
}

struct list {
    struct mutant *items;
    unsigned n, room;
};

static void add(struct list *l, enum mutation kind, uint32_t at, uint32_t part, int how)
{
    if (l->n == l->room) {
        l->room = l->room ? 2 * l->room : 64;
        l->items = base_realloc(l->items, l->room * sizeof *l->items);
    }
    l->items[l->n++] = (struct mutant){kind, at, part, how};
}

/* ---- places ---- */

/* How operands use a node: as an axis that they read by another node, or to read another axis. */
static void crossings(const struct cg_program *p, const struct cg_node *n, bool *axis, bool *digit)
{
    *axis = *digit = false;
    for (uint32_t i = 0; i < p->bb->n_insts; i++) {
        const struct bb_inst *in = &p->bb->insts[i];
        for (unsigned j = 0; p->inst_node[i] && j < in->n_operands; j++) {
            const struct cg_operand *x = &p->operands[i][j];
            for (unsigned a = 0; a < x->value->n_axes; a++) {
                bool same = x->value->axes[a] == x->digits[a];
                *axis = *axis || (!same && x->value->axes[a] == n);
                *digit = *digit || (!same && x->digits[a] == n);
            }
        }
    }
}

/* An array of registers whose axis changes must be read through the same node: its readers would leave it. */
static void add_bounds(const struct cg_program *p, const struct cg_node *n, struct list *l)
{
    bool axis, digit, serial = n->kind == BB_LOOP || n->kind == BB_UNROLL;
    crossings(p, n, &axis, &digit);
    if (serial && !axis) add(l, MUTATE_SHORT, n->id, 0, 0);
    if (serial && !axis && !digit) {
        add(l, MUTATE_LONG, n->id, 0, 0);
        add(l, MUTATE_START, n->id, 0, 0);
    }
    bool whole_run = cg_hardware(n) && !n->fused;
    if (whole_run && (n->kind == BB_THREAD || p->groups[n->axis] > 1)) add(l, MUTATE_SHORT, n->id, 0, 0);
}

static bool stores(const struct bb_inst *in)
{
    return in->kind == BB_STORE || in->kind == BB_COPY_STORE;
}

/* A store that is left out in one copy of an unrolled dimension, one lane or work-item, or at an end of a
 * loop. */
static void add_once(const struct cg_program *p, uint32_t inst, struct list *l)
{
    for (const struct cg_node *n = p->inst_node[inst]->parent; n->type == CG_DIM; n = n->parent) {
        if (n->kind == BB_BLOCK || n->kind == BB_GLOBAL) continue;
        int64_t step = n->kind == BB_LOOP && n->size > 1 ? n->size - 1 : 1;
        for (int64_t i = 0; i < n->size; i += step)
            add(l, MUTATE_ONCE, inst, n->id, (int)i);
    }
}

static void add_accesses(const struct cg_program *p, uint32_t inst, struct list *l)
{
    const struct index_expr *offset = p->access[inst].offset;
    if (!offset) return;
    add(l, MUTATE_INDEX, inst, 0, 1);
    add(l, MUTATE_INDEX, inst, 0, -1);
    for (uint32_t t = 0; t < offset->n_terms; t++)
        for (int how = 0; how < STRIDE_CHANGES; how++)
            add(l, MUTATE_STRIDE, inst, t, how);
    for (uint32_t n = 0; n < p->n_nodes; n++)
        for (int how = 0; how < LANE_CHANGES; how++)
            if (p->nodes[n]->type == CG_DIM && p->nodes[n]->kind == BB_VECTOR && index_mentions(offset, n))
                add(l, MUTATE_LANE, inst, n, how);
    if (!stores(&p->bb->insts[inst])) return;
    add(l, MUTATE_STORE, inst, 0, 0);
    add_once(p, inst, l);
}

static void add_expression(const struct bb_inst *in, uint32_t inst, struct list *l)
{
    for (uint32_t i = 0; i < in->n_nodes; i++) {
        if (in->nodes[i].kind == BB_NODE_CONST)
            for (int how = 0; how < CONSTANT_CHANGES; how++)
                add(l, in->kind == BB_INIT ? MUTATE_INITIAL : MUTATE_CONSTANT, inst, i, how);
        if (in->nodes[i].kind == BB_NODE_OPERAND && in->n_operands > 1) add(l, MUTATE_OPERAND, inst, i, 0);
    }
}

static void add_guards(const struct cg_node *n, struct list *l)
{
    for (uint32_t g = 0; g < n->n_guards; g++)
        for (int how = 0; how < GUARD_CHANGES; how++)
            add(l, MUTATE_GUARD, n->id, g, how);
}

unsigned mutants_of(const struct cg_program *p, struct mutant **out)
{
    struct list l = {0};
    for (uint32_t n = 0; n < p->n_nodes; n++)
        if (p->nodes[n]->type == CG_DIM) add_bounds(p, p->nodes[n], &l);
    for (uint32_t i = 0; i < p->bb->n_insts; i++) {
        if (!p->inst_node[i]) continue;
        add_accesses(p, i, &l);
        add_expression(&p->bb->insts[i], i, &l);
    }
    for (uint32_t n = 0; n < p->n_nodes; n++)
        add_guards(p->nodes[n], &l);
    *out = l.items;
    return l.n;
}

/* ---- changes ---- */

/* Puts an expression in the place of a node's digit, in one access (inst) or all (BB_NONE). */
static void replace_digit(struct cg_program *p, uint32_t inst, uint32_t node, const struct index_expr *by)
{
    const struct index_expr **replacement = ARENA_ARRAY(p->arena, const struct index_expr *, p->n_nodes);
    replacement[node] = by;
    for (uint32_t i = 0; i < p->bb->n_insts; i++)
        if ((inst == BB_NONE || i == inst) && p->inst_node[i] && p->access[i].offset)
            p->access[i].offset = index_substitute(p->arena, p->access[i].offset, replacement, p->n_nodes);
}

static void resize(struct cg_program *p, struct cg_node *n, int64_t size)
{
    n->size = size;
    for (uint32_t i = 0; i < p->bb->n_insts; i++) {
        struct cg_value *v = &p->values[i];
        if (!v->n_axes) continue;
        v->registers = 1;
        for (unsigned a = 0; a < v->n_axes; a++)
            v->registers *= v->axes[a]->size;
    }
}

static void shorten(struct cg_program *p, struct cg_node *n)
{
    if (n->kind == BB_THREAD)
        n->run_extent--;
    else if (cg_hardware(n))
        p->groups[n->axis]--;
    else
        resize(p, n, n->size - 1);
}

static void start_late(struct cg_program *p, struct cg_node *n)
{
    resize(p, n, n->size - 1);
    const struct index_expr *digit = index_var(p->arena, n->id, n->size);
    replace_digit(p, BB_NONE, n->id, index_add(p->arena, digit, index_constant(p->arena, 1)));
}

static void change_lanes(struct cg_program *p, const struct mutant *m)
{
    struct arena *a = p->arena;
    int64_t size = p->nodes[m->part]->size;
    const struct index_expr *digit = index_var(a, m->part, size), *by = index_constant(a, 0);
    if (m->how == REVERSED) by = index_add(a, index_constant(a, size - 1), index_scale(a, digit, -1));
    if (m->how == ROTATED) by = index_mod(a, index_add(a, digit, index_constant(a, 1)), size);
    replace_digit(p, m->at, m->part, by);
}

static void change_term(struct cg_program *p, const struct mutant *m)
{
    struct index_expr *copy = arena_memdup(p->arena, p->access[m->at].offset, sizeof *copy);
    struct index_term *terms = ARENA_ARRAY(p->arena, struct index_term, copy->n_terms);
    unsigned n = 0;
    for (uint32_t t = 0; t < copy->n_terms; t++) {
        bool changed = t == m->part;
        if (changed && (m->how == LEFT_OUT || copy->terms[t].coefficient == -1)) continue;
        terms[n] = copy->terms[t];
        terms[n++].coefficient += changed;
    }
    copy->terms = terms;
    copy->n_terms = n;
    p->access[m->at].offset = copy;
}

/* Adds `elsewhere` to the offset where the node's digit is m->how: [v >= d] is (v + size - d) / size. */
static void leave_out_once(struct cg_program *p, const struct mutant *m)
{
    struct arena *a = p->arena;
    int64_t size = p->nodes[m->part]->size;
    const struct index_expr *digit = index_var(a, m->part, size), *offset = p->access[m->at].offset;
    for (int i = 0; i < 2; i++) {
        const struct index_expr *shifted = index_add(a, digit, index_constant(a, size - m->how - i));
        const struct index_expr *reached = index_div(a, shifted, size);
        offset = index_add(a, offset, index_scale(a, reached, i ? -elsewhere : elsewhere));
    }
    p->access[m->at].offset = offset;
}

static void leave_out(struct cg_program *p, uint32_t inst)
{
    struct cg_node *up = p->inst_node[inst]->parent;
    unsigned n = 0;
    for (unsigned i = 0; i < up->n_children; i++)
        if (up->children[i] != p->inst_node[inst]) up->children[n++] = up->children[i];
    up->n_children = n;
}

/* The node of an instruction's expression in a copy of the backbone, which the program has from then on. */
static struct bb_node *own_node(struct cg_program *p, const struct mutant *m)
{
    struct backbone *bb = arena_memdup(p->arena, p->bb, sizeof *bb);
    bb->insts = arena_memdup(p->arena, bb->insts, bb->n_insts * sizeof *bb->insts);
    struct bb_inst *in = &bb->insts[m->at];
    struct bb_node *nodes = arena_memdup(p->arena, in->nodes, in->n_nodes * sizeof *nodes);
    in->nodes = nodes;
    p->bb = bb;
    return &nodes[m->part];
}

static void change_constant(struct bb_node *n, int how)
{
    n->value = how == PLUS_ONE ? n->value + 1 : how == ZERO ? 0 : -n->value;
}

static void change_guard(struct cg_guard *g, int how)
{
    g->below = how == NO_GUARD ? INT64_MAX : how == LATE ? g->below + 1 : g->below - 1;
    g->sure = how == NO_GUARD ? INT64_MAX : -1;
}

/* The text of an access with clamps is made without its offset. */
static void keep_offset(struct cg_program *p, const struct mutant *m)
{
    if (m->kind == MUTATE_LANE || m->kind == MUTATE_INDEX || m->kind == MUTATE_STRIDE ||
        m->kind == MUTATE_ONCE)
        p->access[m->at].n_clamps = 0;
}

void mutate(struct cg_program *p, const struct mutant *m)
{
    keep_offset(p, m);
    switch (m->kind) {
    case MUTATE_SHORT:
        shorten(p, p->nodes[m->at]);
        return;
    case MUTATE_LONG:
        resize(p, p->nodes[m->at], p->nodes[m->at]->size + 1);
        return;
    case MUTATE_START:
        start_late(p, p->nodes[m->at]);
        return;
    case MUTATE_INITIAL:
    case MUTATE_CONSTANT:
        change_constant(own_node(p, m), m->how);
        return;
    case MUTATE_LANE:
        change_lanes(p, m);
        return;
    case MUTATE_INDEX:
        p->access[m->at].offset =
            index_add(p->arena, p->access[m->at].offset, index_constant(p->arena, m->how));
        return;
    case MUTATE_STRIDE:
        change_term(p, m);
        return;
    case MUTATE_STORE:
        leave_out(p, m->at);
        return;
    case MUTATE_ONCE:
        leave_out_once(p, m);
        return;
    case MUTATE_OPERAND: {
        struct bb_node *n = own_node(p, m);
        n->operand = (n->operand + 1) % p->bb->insts[m->at].n_operands;
        return;
    }
    case MUTATE_GUARD:
        change_guard(&p->nodes[m->at]->guards[m->part], m->how);
        return;
    case MUTATE_KINDS:
        break;
    }
    PANIC("no mutation %d", (int)m->kind);
}

static const char *node_name(const struct cg_program *p, const struct cg_node *n)
{
    return n->type == CG_DIM ? p->bb->dims[n->dims[0]].name : p->bb->insts[n->statement].name;
}

void mutant_print(const struct cg_program *p, const struct mutant *m, struct strbuf *out)
{
    bool bounds = m->kind <= MUTATE_START;
    const char *name = bounds                    ? p->bb->dims[p->nodes[m->at]->dims[0]].name
                       : m->kind == MUTATE_GUARD ? node_name(p, p->nodes[m->at])
                                                 : p->bb->insts[m->at].name;
    strbuf_printf(out, "%s %s (part %u, change %d)", mutation_name(m->kind), name, m->part, m->how);
}
