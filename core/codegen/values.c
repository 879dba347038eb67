/* Registers: which variables hold a value, how readers index them, and where they are declared.
 *
 *     unroll 2: x.load.i.1              float x_load_0, x_load_1;      one register for each index
 *       x.load                          x_load_0 = x[...]; x_load_1 = x[...];
 *     unroll 2: add.i.1
 *       add                             add_0 = x_load_0 + ...         the reader's index selects it
 *
 * From the instruction that makes a value to the one that reads it, each tile that both have corresponds in
 * one of three ways: the dimensions are merged; both are UNROLL or VECTOR, and the tile is an index of the
 * registers, as above (a dimension that is rolled is none: each iteration has its own); both are THREAD on
 * one axis with equal size and inner, in a run no longer than the maker's, so that the work-item that reads
 * is the one that made it. A STEP updates the registers of its INIT. A VECTOR dimension makes one variable of
 * a vector type, unless its lanes are written one by one. */
#include "core/codegen/program.h"

#include "core/base/arena.h"

static bool makes_value(enum bb_inst_kind kind)
{
    return kind != BB_STORE && kind != BB_COPY_STORE;
}

static uint32_t holder(const struct cg_program *p, uint32_t inst)
{
    const struct bb_inst *in = &p->bb->insts[inst];
    return in->kind == BB_STEP ? in->partner : inst;
}

static bool in_registers(const struct cg_node *n)
{
    return n->kind == BB_UNROLL || n->kind == BB_VECTOR;
}

static void make_value(struct cg_program *p, uint32_t inst)
{
    const struct bb_inst *in = &p->bb->insts[inst];
    struct cg_value *v = &p->values[inst];
    *v = (struct cg_value){.inst = inst, .registers = 1};
    v->axes = ARENA_ARRAY(p->arena, struct cg_node *, in->n_dims + 1);
    v->tiles = ARENA_ARRAY(p->arena, uint32_t, in->n_dims + 1);
    for (uint32_t d = in->first_dim; d < in->first_dim + in->n_dims; d++) {
        struct cg_node *n = p->dim_node[d];
        if (!n || !in_registers(n)) continue;
        v->axes[v->n_axes] = n;
        v->tiles[v->n_axes++] = p->bb->dims[d].tile;
        v->registers *= n->size;
        if (n->kind == BB_VECTOR) v->vector = n;
    }
}

/* ---- crossings ---- */

static bool same_thread(const struct cg_node *reader, const struct cg_node *maker)
{
    return reader->kind == BB_THREAD && maker->kind == BB_THREAD && reader->axis == maker->axis &&
           reader->size == maker->size && reader->inner == maker->inner &&
           reader->run_extent <= maker->run_extent;
}

/* The reader's node for the maker's dimension d; NULL with a reason. */
static struct cg_node *cross(const struct cg_program *p, uint32_t d, uint32_t reader, const char **why)
{
    struct cg_node *from = p->dim_node[d], *to = cg_own(p, reader, p->bb->dims[d].tile);
    if (!to && from->kind != BB_VECTOR && cg_inside(p->inst_node[reader], from)) to = from;
    if (!to)
        *why = "a value varies along a dimension that its reader does not have";
    else if (to != from && !(in_registers(to) && in_registers(from)) && !same_thread(to, from))
        *why = "a value crosses along dimensions that do not correspond";
    return to;
}

static const char *read_value(struct cg_program *p, uint32_t reader, uint32_t maker, struct cg_operand *out)
{
    const struct cg_value *v = &p->values[holder(p, maker)];
    const struct bb_inst *in = &p->bb->insts[v->inst];
    unsigned n = 0;
    out->value = v;
    out->digits = ARENA_ARRAY(p->arena, struct cg_node *, v->n_axes + 1);
    for (uint32_t d = in->first_dim; d < in->first_dim + in->n_dims; d++) {
        const char *why = NULL;
        if (!p->dim_node[d]) continue;
        struct cg_node *to = cross(p, d, reader, &why);
        if (why) return why;
        if (in_registers(p->dim_node[d])) out->digits[n++] = to;
    }
    if (p->inst_node[maker]->place > p->inst_node[reader]->place) return "a value is read before it is made";
    return NULL;
}

/* The reduction is complete where it is read, started where it is stepped, and stepped once per own
 * iteration. */
static const char *check_step(const struct cg_program *p, uint32_t step)
{
    const struct cg_node *node = p->inst_node[step], *init = p->inst_node[p->bb->insts[step].partner];
    for (const struct cg_node *n = node->parent; n; n = n->parent) {
        if (n->type != CG_DIM) continue;
        bool own = cg_owns(p, step, n), reduced = false;
        for (unsigned i = 0; i < n->n_dims; i++)
            reduced |= p->bb->dims[n->dims[i]].inst == step && cg_is_reduced(p, n->dims[i]);
        if (reduced && n->kind != BB_BLOCK && cg_inside(init, n))
            return "a reduction is started inside its own loop";
        bool sequential = n->kind == BB_LOOP || n->kind == BB_UNROLL;
        if (reduced && !sequential && !p->splits[step]) return "a parallel reduction dimension";
        if (!own && (n->kind == BB_LOOP || n->kind == BB_UNROLL) && !cg_inside(init, n))
            return "a reduction step is repeated without its start";
    }
    return NULL;
}

/* A scan is read in its own loops, which nest from the most significant digit on. */
static const char *check_scan(const struct cg_program *p, uint32_t scan, uint32_t reader)
{
    const struct bb_inst *in = &p->bb->insts[scan];
    const struct cg_node *outer = NULL;
    for (uint32_t d = in->first_dim; d < in->first_dim + in->n_dims; d++) {
        const struct cg_node *n = p->dim_node[d];
        if (!n || !cg_is_reduced(p, d)) continue;
        if (!cg_inside(p->inst_node[reader], n)) return "a scan is read outside of its loop";
        if (outer && !cg_inside(n, outer))
            return "the loops of a scan are in another order than its elements";
        outer = n;
    }
    return NULL;
}

static const char *check_complete(const struct cg_program *p, uint32_t step, uint32_t reader)
{
    const struct bb_inst *in = &p->bb->insts[step];
    for (uint32_t d = in->first_dim; d < in->first_dim + in->n_dims; d++) {
        const struct cg_node *n = p->dim_node[d];
        if (n && cg_is_reduced(p, d) && n->kind != BB_BLOCK && cg_inside(p->inst_node[reader], n))
            return "a reduction is read before it is complete";
    }
    if (p->splits[step] && p->splits[step]->node->place > p->inst_node[reader]->place)
        return "a reduction is read before its parts are combined";
    return NULL;
}

/* Operands that an instruction reads: none, if it reads a region instead. */
static unsigned operands_of(const struct cg_program *p, uint32_t i)
{
    bool taken = p->bb->insts[i].kind == BB_TAKE && cg_reads_region(p, i);
    return p->inst_node[i] && !taken ? p->bb->insts[i].n_operands : 0;
}

static const char *read_operands(struct cg_program *p, uint32_t i)
{
    const struct bb_inst *in = &p->bb->insts[i];
    p->operands[i] = ARENA_ARRAY(p->arena, struct cg_operand, in->n_operands + 1);
    for (unsigned j = 0; j < operands_of(p, i); j++) {
        uint32_t maker = in->operands[j];
        if (!p->inst_node[maker]) return "an operand is not live";
        const char *why = read_value(p, i, maker, &p->operands[i][j]);
        if (!why && p->bb->insts[maker].kind == BB_STEP)
            why = p->bb->insts[maker].scan ? check_scan(p, maker, i) : check_complete(p, maker, i);
        if (why) return why;
    }
    return in->kind == BB_STEP ? check_step(p, i) : NULL;
}

/* What a STEP updates lane by lane, or what is combined scalar by scalar, is held in scalars: no vector is
 * written component by component. For a driver that keeps vectors in scalar registers both are the same, and
 * LLVM 14 once mixed the components of a float16 up (experiments/results/2026-11-21-verify.md). */
static void hold_in_scalars(const struct cg_program *p, uint32_t step)
{
    const struct cg_operand *x = &p->operands[step][0];
    struct cg_value *v = &p->values[p->bb->insts[step].partner];
    for (unsigned a = 0; a < v->n_axes; a++)
        if (v->axes[a] == v->vector && (p->splits[step] || x->digits[a]->kind != BB_VECTOR)) v->vector = NULL;
}

static bool is_spread(const struct cg_value *v)
{
    bool lanes = false;
    for (unsigned a = 0; a < v->n_axes; a++)
        lanes |= v->axes[a]->kind == BB_VECTOR;
    return lanes && !v->vector;
}

const char *cg_place_values(struct cg_program *p)
{
    uint32_t n = p->bb->n_insts;
    p->values = ARENA_ARRAY(p->arena, struct cg_value, n + 1);
    p->operands = ARENA_ARRAY(p->arena, struct cg_operand *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        if (p->inst_node[i] && makes_value(p->bb->insts[i].kind)) make_value(p, i);
    for (uint32_t i = 0; i < n; i++) {
        const char *why = p->inst_node[i] ? read_operands(p, i) : NULL;
        if (why) return why;
    }
    for (uint32_t i = 0; i < n; i++)
        if (p->inst_node[i] && p->bb->insts[i].kind == BB_STEP) hold_in_scalars(p, i);
    return NULL;
}

/* ---- scopes ---- */

static bool has_braces(const struct cg_node *n)
{
    return n->type == CG_ROOT ||
           (n->type == CG_DIM && (n->kind == BB_LOOP || n->rolled || (n->kind == BB_THREAD && !n->fused)));
}

static struct cg_node *scope_of(struct cg_node *n)
{
    while (!has_braces(n))
        n = n->parent;
    return n;
}

/* Whether the text that makes the value appears once for each of its registers. */
static bool made_once(const struct cg_program *p, const struct cg_value *v)
{
    for (const struct cg_node *n = p->inst_node[v->inst]->parent; n != v->scope; n = n->parent)
        if (n->kind == BB_UNROLL && !cg_owns(p, v->inst, n)) return false;
    return true;
}

const char *cg_find_scopes(struct cg_program *p)
{
    for (uint32_t i = 0; i < p->bb->n_insts; i++)
        if (p->inst_node[i] && makes_value(p->bb->insts[i].kind))
            p->values[i].scope = p->inst_node[i]->parent;
    for (uint32_t i = 0; i < p->bb->n_insts; i++)
        for (unsigned j = 0; j < operands_of(p, i); j++) {
            struct cg_value *v = &p->values[holder(p, p->bb->insts[i].operands[j])];
            v->scope = cg_common(v->scope, p->inst_node[i]->parent);
        }
    for (uint32_t i = 0; i < p->bb->n_insts; i++) {
        if (!p->splits[i]) continue;
        struct cg_value *v = &p->values[holder(p, i)];
        v->scope = cg_common(v->scope, p->splits[i]->node->parent);
    }
    for (uint32_t i = 0; i < p->bb->n_insts; i++) {
        struct cg_value *v = &p->values[i];
        if (!p->inst_node[i] || !makes_value(p->bb->insts[i].kind)) continue;
        if (v->around) v->scope = cg_common(v->scope, v->around);
        v->scope = scope_of(v->scope);
        v->declared_inline =
            v->scope == scope_of(p->inst_node[i]->parent) && made_once(p, v) && !is_spread(v);
    }
    return NULL;
}
