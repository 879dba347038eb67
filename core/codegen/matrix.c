/* Steps of half numbers that bundles of 32 work-items take together. The loop program is the usual one, here
 * of C[m][n] = sum over k of A[m][k] * B[k][n] with both inputs in local memory:
 *
 *     loop: mad.k.0
 *       thread0 2: mad.m.1                     bundles
 *         thread0 2 fused: mad.n.1
 *           thread0 8 fused: mad.n.3           lanes
 *             thread0 4 fused: mad.m.3
 *               unroll 32: mad.k.1             16 steps at once
 *                 unroll 16: A.load.m.2
 *                   A.load [A.tile]
 *                 unroll 8: B.load.n.2
 *                   B.load [B.tile]
 *                 unroll 16: mad.m.2           registers
 *                   unroll 8: mad.n.2
 *                     mad
 *
 * and is run so by the interpreter. In the text the dimension of the steps becomes loads of matrices of 8 x 8
 * elements and products of 16 x 16 by 16 x 8 elements, whose results each work-item has where the loop
 * program has them:
 *
 *     work-item l of a bundle       results of one product
 *     l / 4  lane of n (0..7)       c0: m.2 = 2 j,     n.2 = 2 i         c1: m.2 = 2 j + 1, n.2 = 2 i
 *     l % 4  lane of m (0..3)       c2: m.2 = 2 j,     n.2 = 2 i + 1     c3: m.2 = 2 j + 1, n.2 = 2 i + 1
 *
 * The array with lanes of 8 is the left one, that with lanes of 4 the right one. Each work-item gives the
 * address of a row, 8 neighbours of local memory. Those of the right one are steps: its tile is stored along
 * k. Those of the left one are steps, or the elements of the 8 lanes: then matrices are transposed as they
 * are loaded. Sources: PTX ISA, "Warp-level matrix instructions", mma.m16n8k16 and ldmatrix. */
#include "core/codegen/emit.h"

#include "core/backbone/matrix.h"
#include "core/base/arena.h"

enum { STEPS = 16 /* of one product */, ROW = BB_HALF_VECTOR /* elements, and rows of a matrix */ };
enum { LEFT_REGISTERS = 2, RIGHT_REGISTERS = 4 }; /* of the four matrices that are loaded at once */

/* ---- what can be multiplied ---- */

static bool only_reader(const struct cg_program *p, uint32_t load, uint32_t reader)
{
    for (uint32_t i = 0; i < p->bb->n_insts; i++)
        for (unsigned j = 0; i != reader && j < p->bb->insts[i].n_operands; j++)
            if (p->bb->insts[i].operands[j] == load) return false;
    return true;
}

/* Whether nothing but copies of the loads and of the step is below a node, with no guards. */
static bool is_plain(const struct cg_node *n, const struct cg_matrix *m)
{
    bool inst = n->type == CG_INST &&
                (n->statement == m->step || n->statement == m->left.load || n->statement == m->right.load);
    bool plain = (inst || (n->type == CG_DIM && n->kind == BB_UNROLL)) && !n->n_guards && !n->guard_local &&
                 !n->guard_group && !n->guard_last;
    for (unsigned i = 0; i < n->n_children; i++)
        plain &= is_plain(n->children[i], m);
    return plain;
}

/* Takes a dimension of the step that is not reduced: the lanes and registers of the sides. */
static const char *take_dim(const struct cg_program *p, struct cg_matrix *m, uint32_t dim)
{
    struct cg_node *n = p->dim_node[dim];
    uint32_t tile = p->bb->dims[dim].tile, logical = p->bb->tiles[tile].logical;
    bool left = bb_owns(&p->bb->insts[m->left.load], logical),
         right = bb_owns(&p->bb->insts[m->right.load], logical);
    struct cg_matrix_side *s = left ? &m->left : &m->right;
    if (n->kind == BB_THREAD && n->axis == 0 && n->inner < BB_BUNDLE) {
        if (left == right || s->lanes) return "the work-items of a bundle are not those of a matrix";
        s->lanes = n;
        s->lane_tile = tile;
    }
    if (n->kind != BB_UNROLL) return NULL;
    if (left == right || s->registers) return "the results of a matrix are not in one dimension of registers";
    s->registers = n;
    s->loaded = cg_own(p, s->load, tile);
    return NULL;
}

static const char *take_dims(const struct cg_program *p, struct cg_matrix *m)
{
    const struct bb_inst *in = &p->bb->insts[m->step];
    const char *why = NULL;
    for (uint32_t d = in->first_dim; d < in->first_dim + in->n_dims && !why; d++) {
        struct cg_node *n = p->dim_node[d];
        if (!n) continue;
        if (!cg_is_reduced(p, d)) {
            why = take_dim(p, m, d);
        } else if (n->kind == BB_UNROLL) {
            if (m->steps) why = "the steps of a matrix are in two dimensions";
            m->steps = n;
        } else if (n->kind == BB_THREAD) {
            why = "work-items divide the steps of a matrix";
        }
    }
    return why;
}

static bool is_lanes(const struct cg_program *p, const struct cg_matrix_side *s, int64_t inner, int64_t size)
{
    return s->lanes && s->lanes->inner == inner && s->lanes->size == size &&
           cg_own(p, s->load, s->lane_tile) == s->lanes;
}

static void swap_sides(struct cg_matrix *m)
{
    struct cg_matrix_side left = m->left;
    m->left = m->right;
    m->right = left;
}

/* Whether all elements of a load are in aligned rows of 8 neighbours along a dimension. */
static bool in_rows(struct cg_program *p, const struct cg_access *x, const struct cg_node *along)
{
    const struct index_expr **at = ARENA_ARRAY(p->arena, const struct index_expr *, cg_variables(p)),
                            *row = NULL;
    bool rows = along->size % ROW == 0;
    for (int64_t i = 0; i < along->size && rows; i++) {
        at[along->id] = index_constant(p->arena, i);
        const struct index_expr *here = index_substitute(p->arena, x->offset, at, cg_variables(p));
        if (i % ROW == 0) row = here;
        rows = cg_is_multiple(row, ROW) && index_compare(here, index_shift(p->arena, row, i % ROW)) == 0;
    }
    return rows;
}

static const char *take_rows(struct cg_program *p, struct cg_matrix_side *s, const struct cg_node *steps)
{
    const struct cg_access *x = &p->access[s->load];
    if (x->region == BB_NONE || p->regions[x->region].space != BB_MEM_LOCAL || x->n_guards || x->n_clamps)
        return "a matrix is not in local memory";
    s->transposed = !in_rows(p, x, steps);
    return !s->transposed || in_rows(p, x, s->lanes) ? NULL : "a matrix has no aligned rows of neighbours";
}

static bool is_registers(const struct cg_matrix *m, const struct cg_matrix_side *s, int64_t multiple)
{
    return s->registers && s->loaded && s->loaded->kind == BB_UNROLL && s->registers->size % multiple == 0 &&
           cg_inside(s->registers, m->steps) && cg_inside(s->loaded, m->steps);
}

static const char *take_step(struct cg_program *p, struct cg_matrix *m)
{
    const char *why = take_dims(p, m);
    if (why) return why;
    if (m->left.lanes && m->left.lanes->inner == 1) swap_sides(m);
    if (p->local_size[0] % BB_BUNDLE || !is_lanes(p, &m->left, BB_RIGHT_LANES, BB_LEFT_LANES) ||
        !is_lanes(p, &m->right, 1, BB_RIGHT_LANES))
        return "the work-items of a bundle are not those of a matrix";
    if (!m->steps || m->steps->size % STEPS || !is_registers(m, &m->left, LEFT_REGISTERS) ||
        !is_registers(m, &m->right, RIGHT_REGISTERS))
        return "steps or registers are no multiple of a matrix";
    if (m->left.lanes->n_guards || m->right.lanes->n_guards)
        return "some lanes of a bundle are beyond an extent";
    if (!is_plain(m->steps, m) || !only_reader(p, m->left.load, m->step) ||
        !only_reader(p, m->right.load, m->step) || p->operands[m->step][0].value->vector)
        return "a matrix is not alone in its steps";
    why = take_rows(p, &m->left, m->steps);
    if (!why) why = take_rows(p, &m->right, m->steps);
    return !why && m->right.transposed ? "the right matrix is not stored along its steps" : why;
}

const char *cg_find_matrices(struct cg_program *p)
{
    for (uint32_t i = 0; i < p->bb->n_insts; i++) {
        uint32_t loads[2];
        if (!p->inst_node[i] || !p->c->matrix[i]) continue;
        if (!bb_multiplies_halves(p->bb, i, loads) || !p->target.dialect->matrix_multiply)
            return "the device does not multiply matrices";
        struct cg_matrix *m = ARENA_NEW(p->arena, struct cg_matrix);
        *m = (struct cg_matrix){.step = i, .left = {.load = loads[0]}, .right = {.load = loads[1]}};
        const char *why = take_step(p, m);
        if (why) return why;
        m->steps->matrix = m;
        for (struct cg_node *n = m->steps; n; n = n->parent)
            n->has_matrix = true;
    }
    return NULL;
}

double cg_matrix_steps(const struct cg_matrix *m)
{
    double left = (double)m->left.registers->size / LEFT_REGISTERS,
           right = (double)m->right.registers->size / RIGHT_REGISTERS;
    return (double)m->steps->size / STEPS * (left + right + 2 * left * right);
}

/* ---- the text ---- */

/* The place of the work-item in its bundle, divided and modulo; 0: not modulo. */
static const struct index_expr *lane(struct cg_emitter *e, const struct cg_matrix *m, int64_t by,
                                     int64_t modulo)
{
    struct arena *a = e->scratch;
    const struct cg_node *left = m->left.lanes, *right = m->right.lanes;
    const struct index_expr *x = index_add(a, index_scale(a, index_var(a, left->id, left->size), left->inner),
                                           index_var(a, right->id, right->size));
    x = index_div(a, x, by);
    return modulo ? index_mod(a, x, modulo) : x;
}

static const struct index_expr *from(struct cg_emitter *e, int64_t first, const struct index_expr *x,
                                     int64_t by)
{
    return index_shift(e->scratch, index_scale(e->scratch, x, by), first);
}

/* Where the row begins whose address a work-item gives: work-item l gives row l % 8 of matrix l / 8. Matrices
 * 1 and 3 of the left side have the next register, 2 and 3 the next 8 steps; of the right side 1 and 3 have
 * the next 8 steps, 2 and 3 the next two registers, and a matrix has two registers of 4 lanes. */
static const char *row_text(struct cg_emitter *e, const struct cg_matrix *m, const struct cg_matrix_side *s,
                            int64_t k, int64_t i)
{
    struct arena *a = e->scratch;
    const struct cg_access *x = &e->p->access[s->load];
    const struct index_expr *rows = lane(e, m, 1, ROW), *second = lane(e, m, 8, 2), *last = lane(e, m, 16, 0),
                            *at_lane = rows, *at_register = from(e, i, second, 1),
                            *at_step = from(e, k, last, ROW),
                            **at = ARENA_ARRAY(a, const struct index_expr *, cg_variables(e->p));
    if (s == &m->right) {
        at_lane = lane(e, m, 2, ROW / 2);
        at_register = index_add(a, from(e, i, last, 2), lane(e, m, 1, 2));
        at_step = from(e, k, second, ROW);
    }
    if (s->transposed) {
        at_step = index_add(a, at_step, rows);
        at_lane = index_constant(a, 0);
    }
    for (unsigned v = 0; v < cg_variables(e->p); v++)
        at[v] = e->fixed[v];
    at[s->lanes->id] = at_lane;
    at[s->loaded->id] = at_register;
    at[m->steps->id] = at_step;
    return CG_TEXT(e, "&$1", cg_element_text(e, x, index_substitute(a, x->offset, at, cg_variables(e->p))));
}

/* Matrices of a side at steps k to k + 15: four in each variable. Those of the next 16 steps have other
 * names. */
static const char *variable_text(struct cg_emitter *e, bool left, int64_t k, int64_t i)
{
    const char *name = k / STEPS % 2 ? (left ? "thresh_next_l$1" : "thresh_next_r$1")
                       : left        ? "thresh_l$1"
                                     : "thresh_r$1";
    return CG_TEXT(e, name, cg_number(e, i));
}

static void emit_loads(struct cg_emitter *e, const struct cg_matrix *m, bool left, int64_t k)
{
    const struct cg_dialect *d = e->dialect;
    const struct cg_matrix_side *s = left ? &m->left : &m->right;
    int64_t registers = left ? LEFT_REGISTERS : RIGHT_REGISTERS;
    for (int64_t i = 0; i < s->registers->size; i += registers)
        cg_line(e, CG_TEXT(e, s->transposed ? d->matrix_load_transposed : d->matrix_load,
                           variable_text(e, left, k, i / registers), row_text(e, m, s, k, i)));
}

static void declare(struct cg_emitter *e, const struct cg_matrix *m, int64_t k)
{
    for (int64_t i = 0; i < m->left.registers->size / LEFT_REGISTERS; i++)
        cg_line(e, CG_TEXT(e, "$1 $2;", e->dialect->matrix_type, variable_text(e, true, k, i)));
    for (int64_t i = 0; i < m->right.registers->size / RIGHT_REGISTERS; i++)
        cg_line(e, CG_TEXT(e, "$1 $2;", e->dialect->matrix_type, variable_text(e, false, k, i)));
}

/* A result: registers of the left and of the right side. */
static const char *result_text(struct cg_emitter *e, const struct cg_matrix *m, int64_t left, int64_t right)
{
    cg_fix(e, m->left.registers, left);
    cg_fix(e, m->right.registers, right);
    const char *text = cg_operand_scalar(e, &e->p->operands[m->step][0], 0, 0);
    cg_unfix(e, m->left.registers);
    cg_unfix(e, m->right.registers);
    return text;
}

/* Of right registers j and j + 1 the matrix of the first or of the second steps. */
static const char *member_text(struct cg_emitter *e, int64_t k, int64_t j, int64_t half)
{
    static const char *const members[] = {"x", "y", "z", "w"};
    return CG_TEXT(e, "$1.$2", variable_text(e, false, k, j / RIGHT_REGISTERS),
                   members[j % RIGHT_REGISTERS + half]);
}

static void emit_products(struct cg_emitter *e, const struct cg_matrix *m, int64_t k)
{
    for (int64_t i = 0; i < m->left.registers->size; i += 2)
        for (int64_t j = 0; j < m->right.registers->size; j += 2)
            cg_line(e, CG_TEXT(e, e->dialect->matrix_multiply, result_text(e, m, i, j),
                               result_text(e, m, i, j + 1), result_text(e, m, i + 1, j),
                               result_text(e, m, i + 1, j + 1), variable_text(e, true, k, i / LEFT_REGISTERS),
                               member_text(e, k, j, 0), member_text(e, k, j, 1)));
}

/* The matrices of the next 16 steps are loaded before the products of these. */
void cg_emit_matrix(struct cg_emitter *e, const struct cg_matrix *m)
{
    cg_line(e, "{");
    e->indent++;
    for (int64_t k = 0; k < m->steps->size && k <= STEPS; k += STEPS)
        declare(e, m, k);
    for (int64_t k = -STEPS; k < m->steps->size; k += STEPS) {
        if (k + STEPS < m->steps->size) {
            emit_loads(e, m, true, k + STEPS);
            emit_loads(e, m, false, k + STEPS);
        }
        if (k >= 0) emit_products(e, m, k);
    }
    e->indent--;
    cg_line(e, "}");
}
