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

enum { STEPS = 16 /* of one product */, ROW = 8 /* elements, and rows of a matrix */ };
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

static bool has_stride(const struct index_expr *x, const struct cg_node *n, int64_t *stride)
{
    int affine = 0;
    *stride = index_stride(x, n->id, &affine);
    return affine;
}

static const char *take_rows(struct cg_program *p, struct cg_matrix_side *s, const struct cg_node *steps)
{
    const struct cg_access *x = &p->access[s->load];
    if (x->region == BB_NONE || p->regions[x->region].space != BB_MEM_LOCAL || x->n_guards || x->n_clamps)
        return "a matrix is not in local memory";
    if (!has_stride(x->offset, s->lanes, &s->lane) || !has_stride(x->offset, s->loaded, &s->apart) ||
        !has_stride(x->offset, steps, &s->step))
        return "the elements of a matrix are not at constant distances";
    if (s->step <= 0 || s->lane <= 0) return "a matrix has no steps or no lanes";
    s->transposed = s->step != 1;
    if (s->transposed && s->lane != 1) return "a matrix has no rows of neighbours";
    return cg_has_rows(p, x, s->transposed ? s->lanes : steps, ROW) ? NULL
                                                                    : "the rows of a matrix are not aligned";
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

/* "thresh_lane % 8 * 136 + thresh_lane / 8 % 2 * 8 + thresh_lane / 16 * 1088": what the work-item adds to the
 * address of the matrices of both sides. */
static void emit_rows(struct cg_emitter *e, const struct cg_matrix *m)
{
    const struct cg_matrix_side *l = &m->left, *r = &m->right;
    const char *row = cg_number(e, l->transposed ? l->step : l->lane);
    cg_line(e, CG_TEXT(e, "const $1 thresh_lane = ($1)($2 % 32);", e->dialect->index,
                       cg_id_text(e, BB_THREAD, 0)));
    cg_line(
        e,
        CG_TEXT(
            e,
            "const $1 thresh_left = thresh_lane % 8 * $2 + thresh_lane / 8 % 2 * $3 + thresh_lane / 16 * $4;",
            e->dialect->index, row, cg_number(e, l->apart), cg_number(e, ROW * l->step)));
    cg_line(e, CG_TEXT(e,
                       "const $1 thresh_right = thresh_lane % 8 / 2 * $2 + thresh_lane % 2 * $3 + "
                       "thresh_lane / 8 % 2 * 8 + thresh_lane / 16 * $4;",
                       e->dialect->index, cg_number(e, r->lane), cg_number(e, r->apart),
                       cg_number(e, 2 * r->apart)));
}

static const char *variable_text(struct cg_emitter *e, bool left, int64_t i)
{
    return CG_TEXT(e, left ? "thresh_l$1" : "thresh_r$1", cg_number(e, i));
}

/* The matrices of a side at this step: four in each variable. */
static void emit_loads(struct cg_emitter *e, const struct cg_matrix_side *s, int64_t registers, bool left)
{
    const struct cg_dialect *d = e->dialect;
    cg_fix(e, s->lanes, 0);
    for (int64_t i = 0; i < s->registers->size; i += registers) {
        cg_fix(e, s->loaded, i);
        const char *name = variable_text(e, left, i / registers);
        const char *from =
            CG_TEXT(e, left ? "&$1 + thresh_left" : "&$1 + thresh_right",
                    cg_element_text(e, &e->p->access[s->load], cg_here(e, e->p->access[s->load].offset)));
        cg_line(e, CG_TEXT(e, "$1 $2;", d->matrix_type, name));
        cg_line(e, CG_TEXT(e, s->transposed ? d->matrix_load_transposed : d->matrix_load, name, from));
        cg_unfix(e, s->loaded);
    }
    cg_unfix(e, s->lanes);
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
static const char *member_text(struct cg_emitter *e, int64_t j, int64_t half)
{
    static const char *const members[] = {"x", "y", "z", "w"};
    return CG_TEXT(e, "$1.$2", variable_text(e, false, j / RIGHT_REGISTERS),
                   members[j % RIGHT_REGISTERS + half]);
}

static void emit_products(struct cg_emitter *e, const struct cg_matrix *m)
{
    for (int64_t i = 0; i < m->left.registers->size; i += 2)
        for (int64_t j = 0; j < m->right.registers->size; j += 2)
            cg_line(e, CG_TEXT(e, e->dialect->matrix_multiply, result_text(e, m, i, j),
                               result_text(e, m, i, j + 1), result_text(e, m, i + 1, j),
                               result_text(e, m, i + 1, j + 1), variable_text(e, true, i / LEFT_REGISTERS),
                               member_text(e, j, 0), member_text(e, j, 1)));
}

void cg_emit_matrix(struct cg_emitter *e, const struct cg_matrix *m)
{
    cg_line(e, "{");
    e->indent++;
    emit_rows(e, m);
    for (int64_t k = 0; k < m->steps->size; k += STEPS) {
        cg_line(e, "{");
        e->indent++;
        cg_fix(e, m->steps, k);
        emit_loads(e, &m->left, LEFT_REGISTERS, true);
        emit_loads(e, &m->right, RIGHT_REGISTERS, false);
        emit_products(e, m);
        cg_unfix(e, m->steps);
        e->indent--;
        cg_line(e, "}");
    }
    e->indent--;
    cg_line(e, "}");
}
