/* Lowering reductions: an INIT and a STEP, with a logical of the STEP's own. The function's body is evaluated
 * for one symbolic element; the accumulator, a scalar or a tuple of them, is operand 0 of the STEP:
 *
 *     reduce(fun ((s, q), x) -> (s + x, q + x * x), (0.0, 0.0), x)
 *
 *     init []  = (0, 0)                 red [n]  = (add(init.0, x.load), fma(x.load, x.load, init.1))
 *
 * Where a step selects an element and leaves ties to the order, the index decides them (selection.c). A
 * reduction for each element of another one has the other one's logical, in INIT and STEP, and does not
 * reduce it. */
#include <stdlib.h>
#include <string.h>

#include "core/backbone/lower.h"
#include "core/backbone/selection.h"
#include "core/backbone/view.h"
#include "core/base/arena.h"

/* ---- logicals ---- */

/* The logicals along which a reader sees the value of `producer`: of a STEP, those of its INIT; of a scan
 * all. */
static const struct bb_inst *visible(const struct lowering *l, uint32_t producer)
{
    const struct bb_inst *p = &l->insts[producer];
    return p->kind == BB_STEP && !p->scan ? &l->insts[p->partner] : p;
}

static void own_operand_logicals(struct lowering *l, struct bb_inst *inst, const struct bb_inst *from,
                                 unsigned first_operand, struct source_pos at)
{
    for (unsigned o = first_operand; o < from->n_operands; o++) {
        const struct bb_inst *p = visible(l, from->operands[o]);
        for (unsigned i = 0; i < p->n_logicals; i++)
            bb_lower_own(l, inst, p->logicals[i], at);
    }
}

void bb_lower_own_operands(struct lowering *l, struct bb_inst *inst, struct source_pos at)
{
    own_operand_logicals(l, inst, inst, 0, at);
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

/* ---- bodies ---- */

static bool is_op(const struct tree *t, enum scalar_op op)
{
    return t->kind == TREE_OP && t->op == op;
}

/* acc + x * y, either way round, as fma(x, y, acc); NULL for anything else. */
static const struct tree *multiply_add(struct lowering *l, const struct tree *body)
{
    if (!is_op(body, SCALAR_ADD)) return NULL;
    unsigned acc = body->args[0]->kind == TREE_ACC ? 0 : 1;
    const struct tree *product = view_resolved(l->viewer, body->args[1 - acc]);
    if (body->args[acc]->kind != TREE_ACC || !is_op(product, SCALAR_MULT)) return NULL;
    struct tree *t = ARENA_NEW(l->arena, struct tree);
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

/* Logicals that a STEP reduces. */
struct own {
    unsigned n;
    uint32_t logicals[BB_MAX_LOGICALS];
};

static bool is_own(const struct own *own, uint32_t logical)
{
    for (unsigned i = 0; i < own->n; i++)
        if (own->logicals[i] == logical) return true;
    return false;
}

static void push_own(struct lowering *l, struct own *own, uint32_t logical, struct source_pos at)
{
    if (own->n == BB_MAX_LOGICALS)
        bb_lower_unsupported(l, at, "more than 8 dimensions around one operation; join some of them");
    else
        own->logicals[own->n++] = logical;
}

/* Pushes INIT, in the logicals of all that the reduction reads but its own, and STEP, which adds its own. */
static uint32_t push_reduction(struct lowering *l, struct bb_inst init, struct bb_inst step,
                               const struct own *own, uint32_t *step_operands, struct source_pos at)
{
    own_operand_logicals(l, &step, &init, 0, at);
    own_operand_logicals(l, &step, &step, 1, at);
    for (unsigned i = 0; i < init.n_logicals; i++)
        bb_lower_own(l, &step, init.logicals[i], at);
    for (unsigned i = 0; i < own->n; i++)
        bb_lower_own(l, &step, own->logicals[i], at);
    sort_logicals(&step);
    for (unsigned i = 0; i < step.n_logicals; i++)
        if (!is_own(own, step.logicals[i])) bb_lower_own(l, &init, step.logicals[i], at);
    init.partner = (uint32_t)l->n_insts + 1;
    step.partner = bb_lower_push(l, &init);
    step_operands[0] = step.partner;
    return bb_lower_push(l, &step);
}

/* What a STEP computes: a scalar, or one for each part of a tuple. */
struct body {
    unsigned n;
    const struct tree *parts[BB_MAX_PARTS];
};

/* Appends the scalars of r from number b->n on, of a value of the type of its accumulator. The body of r may
 * add scalars to it on the way. */
static void add_parts(struct lowering *l, const struct reduction *r, const struct view *v, struct body *b)
{
    for (; b->n < r->n_parts; b->n++)
        b->parts[b->n] = view_resolved(l->viewer, view_reduction_part(l->viewer, r, v, b->n));
}

/* The reduction that the body of r is, from the accumulator on; NULL if it is none. */
static struct reduction *continued(struct lowering *l, const struct reduction *r, const struct body *body)
{
    struct reduction *inner = body->parts[0]->reduction;
    for (unsigned i = 0; i < body->n; i++)
        if (body->parts[i]->kind != TREE_REDUCE || body->parts[i]->reduction != inner ||
            body->parts[i]->part != i)
            return NULL;
    if (inner->scan || inner->n_parts != body->n) return NULL;
    struct body init = {0};
    add_parts(l, inner, inner->init, &init);
    return memcmp(init.parts, r->acc, body->n * sizeof *r->acc) ? NULL : inner;
}

/* The logical of a scan, which is sequential from now on. */
static uint32_t scanned(struct lowering *l, const struct reduction *r)
{
    uint32_t logical = r->scan->terms[0].atom.var;
    l->logicals[logical].reduction = l->logicals[logical].scanned = true;
    return logical;
}

/* What a STEP of r computes, and the logicals that it reduces. A reduction that starts from the accumulator
 * of the one around it is the same STEP over one more logical:
 *
 *     reduce(fun s row -> reduce(add, s, row), 0.0, A)        red(i, j) = add(init, A.load)
 *
 * *last becomes the innermost of them. */
static struct body step_body(struct lowering *l, struct reduction *r, struct own *own,
                             const struct reduction **last)
{
    for (;;) {
        const struct lift_expr *e = r->expr;
        uint32_t first = (uint32_t)l->n_logicals;
        const struct index_expr *i = r->scan ? r->scan : bb_lower_index(l, r->array, e->args[1]->type, true);
        if (r->scan) push_own(l, own, scanned(l, r), e->at);
        for (uint32_t v = first; v < l->n_logicals; v++)
            push_own(l, own, v, e->at);
        if (l->failed) return (struct body){0};
        struct body body = {0};
        const struct view *acc = view_accumulator(l->viewer, r);
        add_parts(l, r, view_reduction_body(l->viewer, r, acc, i), &body);
        bb_lower_check_viewer(l, e->at);
        *last = r;
        r = r->scan || l->failed ? NULL : continued(l, r, &body);
        if (!r || l->failed) return body;
    }
}

/* Appends the parts, of which some become others; *mad becomes whether all are multiply-adds. */
static void flatten_body(struct lowering *l, struct body *body, struct bb_flat *f, bool *mad,
                         struct source_pos at)
{
    *mad = true;
    for (unsigned i = 0; i < body->n; i++) {
        const struct tree *t = body->parts[i], *fma = multiply_add(l, t);
        *mad = *mad && fma;
        if (fma && is_real(t->type)) body->parts[i] = fma;
        bb_lower_flatten(l, body->parts[i], f, at);
    }
}

static void set_types(struct bb_inst *inst, const struct body *body)
{
    inst->type = body->parts[0]->type;
    inst->n_more = body->n - 1;
    for (unsigned i = 1; i < body->n; i++)
        inst->more[i - 1] = body->parts[i]->type;
}

static void decide_ties(struct lowering *l, const struct bb_inst *init, struct bb_inst *step,
                        const struct own *own)
{
    struct bb_reduced reduced = {.logicals = l->logicals, .n = own->n};
    memcpy(reduced.number, own->logicals, sizeof own->logicals);
    bb_decide_ties(init, step, &reduced, l->arena);
}

uint32_t bb_lower_reduction(struct lowering *l, struct reduction *r)
{
    if (r->step != BB_NONE) return r->step;
    const struct lift_expr *e = r->expr;
    struct own own = {0};
    struct bb_flat init_flat = {0}, step_flat = {0};
    struct body start = {0};
    add_parts(l, r, r->init, &start);
    struct body body = step_body(l, r, &own, &step_flat.step_of);
    add_parts(l, r, r->init, &start);
    if (!l->failed && start.n != body.n)
        bb_lower_unsupported(l, e->at,
                             "a reduction inside another one that starts from a part of its accumulator and "
                             "reads another part; write both as one reduction");
    if (l->failed) return BB_NONE;

    bool mad;
    for (unsigned i = 0; i < start.n; i++)
        bb_lower_flatten(l, start.parts[i], &init_flat, e->at);
    bb_lower_operand(l, &step_flat, BB_NONE, 0, SCALAR_FLOAT); /* the INIT, not numbered yet */
    step_flat.n_nodes = 0;
    flatten_body(l, &body, &step_flat, &mad, e->at);
    if (l->failed) return BB_NONE;
    struct bb_inst init = bb_lower_inst(l, BB_INIT, "init", SCALAR_FLOAT);
    struct bb_inst step = bb_lower_inst(l, BB_STEP, r->scan ? "scan" : mad ? "mad" : "red", SCALAR_FLOAT);
    step.scan = r->scan != NULL;
    set_types(&init, &body);
    set_types(&step, &body);
    bb_lower_take(l, &init, &init_flat, e->at);
    bb_lower_take(l, &step, &step_flat, e->at);
    if (!step.scan) decide_ties(l, &init, &step, &own);
    memcpy(r->start, start.parts, start.n * sizeof *r->start);
    memcpy(r->body, body.parts, body.n * sizeof *r->body);
    return r->step = push_reduction(l, init, step, &own, step_flat.operands, e->at);
}
