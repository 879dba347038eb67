/* Steps of a product that bundles of 32 work-items take together. The loop program is the usual one, here
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
 * and is run so by the interpreter. In the text the dimension of the steps becomes loads of matrices of 8
 * rows of 16 bytes, and products of 16 x 16 by 16 x 8 half numbers, whose results each work-item has where
 * the loop program has them:
 *
 *     work-item l of a bundle       results of one product
 *     l / 4  lane of n (0..7)       c0: m.2 = 2 j,     n.2 = 2 i         c1: m.2 = 2 j + 1, n.2 = 2 i
 *     l % 4  lane of m (0..3)       c2: m.2 = 2 j,     n.2 = 2 i + 1     c3: m.2 = 2 j + 1, n.2 = 2 i + 1
 *
 * The array with lanes of 8 is the left one, that with lanes of 4 the right one. Each work-item gives the
 * address of a row, 8 neighbours of local memory. Those of the right one are steps: its tile is stored along
 * k. Those of the left one are steps, or the elements of the 8 lanes: then matrices are transposed as they
 * are loaded.
 *
 * Floats are multiplied in TF32: 8 steps at once, of matrices with rows of 4. Matrices of 32-bit words are
 * not transposed: where rows are the elements of the 8 lanes, a work-item loads its words one by one. They
 * are rounded to TF32 behind their loads, as copies in the background leave no other place.
 *
 * Sources: PTX ISA, "Warp-level matrix instructions": mma.m16n8k16, mma.m16n8k8 and ldmatrix; cvt.rna. */
#include "core/codegen/emit.h"

#include "core/backbone/matrix.h"
#include "core/base/arena.h"

enum { ROWS = 8 /* of a matrix */, WORDS = 4 /* of 4 bytes in a row */ };
enum { LEFT_REGISTERS = 2, RIGHT_REGISTERS = 4 }; /* of the four matrices that are loaded at once */

/* Of one product. */
static int64_t steps_of(const struct cg_matrix *m)
{
    return 2 * m->row;
}

/* Floats, which have as many bytes as words. */
static bool is_tf32(const struct cg_matrix *m)
{
    return m->row == WORDS;
}

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

/* Whether all elements of a load are in aligned rows of `row` neighbours along a dimension. */
static bool in_rows(struct cg_program *p, const struct cg_access *x, const struct cg_node *along, int64_t row)
{
    const struct index_expr **at = ARENA_ARRAY(p->arena, const struct index_expr *, cg_variables(p)),
                            *first = NULL;
    bool rows = along->size % row == 0;
    for (int64_t i = 0; i < along->size && rows; i++) {
        at[along->id] = index_constant(p->arena, i);
        const struct index_expr *here = index_substitute(p->arena, x->offset, at, cg_variables(p));
        if (i % row == 0) first = here;
        rows = cg_is_multiple(first, row) && index_compare(here, index_shift(p->arena, first, i % row)) == 0;
    }
    return rows;
}

static const char *take_rows(struct cg_program *p, const struct cg_matrix *m, struct cg_matrix_side *s)
{
    const struct cg_access *x = &p->access[s->load];
    if (x->region == BB_NONE || p->regions[x->region].space != BB_MEM_LOCAL || x->n_guards || x->n_clamps)
        return "a matrix is not in local memory";
    s->transposed = !in_rows(p, x, m->steps, m->row);
    return !s->transposed || is_tf32(m) || in_rows(p, x, s->lanes, m->row)
               ? NULL
               : "a matrix has no aligned rows of neighbours";
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
    if (!m->steps || m->steps->size % steps_of(m) || !is_registers(m, &m->left, LEFT_REGISTERS) ||
        !is_registers(m, &m->right, RIGHT_REGISTERS))
        return "steps or registers are no multiple of a matrix";
    if (m->left.lanes->n_guards || m->right.lanes->n_guards)
        return "some lanes of a bundle are beyond an extent";
    if (!is_plain(m->steps, m) || !only_reader(p, m->left.load, m->step) ||
        !only_reader(p, m->right.load, m->step) || p->operands[m->step][0].value->vector)
        return "a matrix is not alone in its steps";
    why = take_rows(p, m, &m->left);
    if (!why) why = take_rows(p, m, &m->right);
    return !why && m->right.transposed ? "the right matrix is not stored along its steps" : why;
}

const char *cg_find_matrices(struct cg_program *p)
{
    for (uint32_t i = 0; i < p->bb->n_insts; i++) {
        struct bb_factors f;
        if (!p->inst_node[i] || !p->c->matrix[i]) continue;
        if (!bb_multiplies(p->bb, i, &f) || !p->target.dialect->matrix_multiply)
            return "the device does not multiply matrices";
        struct cg_matrix *m = ARENA_NEW(p->arena, struct cg_matrix);
        *m = (struct cg_matrix){
            .step = i, .row = f.row, .left = {.load = f.loads[0]}, .right = {.load = f.loads[1]}};
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
    double loads = is_tf32(m) ? 2 * (left + right) : left + right; /* which are rounded */
    return (double)m->steps->size / (double)steps_of(m) * (loads + 2 * left * right);
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

/* The element of a side where some variables are replaced. */
static const char *element_at(struct cg_emitter *e, const struct cg_matrix *m, const struct cg_matrix_side *s,
                              const struct index_expr *at_lane, const struct index_expr *at_register,
                              const struct index_expr *at_step)
{
    struct arena *a = e->scratch;
    const struct cg_access *x = &e->p->access[s->load];
    const struct index_expr **at = ARENA_ARRAY(a, const struct index_expr *, cg_variables(e->p));
    for (unsigned v = 0; v < cg_variables(e->p); v++)
        at[v] = e->fixed[v];
    at[s->lanes->id] = at_lane;
    at[s->loaded->id] = at_register;
    at[m->steps->id] = at_step;
    return cg_element_text(e, x, index_substitute(a, x->offset, at, cg_variables(e->p)));
}

/* Where the row begins whose address a work-item gives: work-item l gives row l % 8 of matrix l / 8. Matrices
 * 1 and 3 of the left side have the next register, 2 and 3 the next row of steps; of the right side 1 and 3
 * have the next row of steps, 2 and 3 the next two registers, and a matrix has two registers of 4 lanes. */
static const char *row_text(struct cg_emitter *e, const struct cg_matrix *m, const struct cg_matrix_side *s,
                            int64_t k, int64_t i)
{
    struct arena *a = e->scratch;
    const struct index_expr *rows = lane(e, m, 1, ROWS), *second = lane(e, m, 8, 2),
                            *last = lane(e, m, 16, 0), *at_lane = rows, *at_register = from(e, i, second, 1),
                            *at_step = from(e, k, last, m->row);
    if (s == &m->right) {
        at_lane = lane(e, m, 2, ROWS / 2);
        at_register = index_add(a, from(e, i, last, 2), lane(e, m, 1, 2));
        at_step = from(e, k, second, m->row);
    }
    if (s->transposed) {
        at_step = index_add(a, at_step, rows);
        at_lane = index_constant(a, 0);
    }
    return CG_TEXT(e, "&$1", element_at(e, m, s, at_lane, at_register, at_step));
}

/* The word of matrix q of the left side that a work-item multiplies: of row l / 4 word l % 4, a step. */
static const char *word_text(struct cg_emitter *e, const struct cg_matrix *m, int64_t k, int64_t i, int64_t q)
{
    const struct index_expr *step = lane(e, m, 1, WORDS);
    return element_at(e, m, &m->left, lane(e, m, WORDS, 0), index_constant(e->scratch, i + q % 2),
                      index_shift(e->scratch, step, k + q / 2 * m->row));
}

/* Matrices of a side at the steps of one product from k on: four in each variable. Those of the next steps
 * have other names. */
static const char *variable_text(struct cg_emitter *e, const struct cg_matrix *m, bool left, int64_t k,
                                 int64_t i)
{
    const char *name = k / steps_of(m) % 2 ? (left ? "thresh_next_l$1" : "thresh_next_r$1")
                       : left              ? "thresh_l$1"
                                           : "thresh_r$1";
    return CG_TEXT(e, name, cg_number(e, i));
}

/* Four matrices to a variable. */
static void emit_load(struct cg_emitter *e, const struct cg_matrix *m, const struct cg_matrix_side *s,
                      const char *variable, int64_t k, int64_t i)
{
    const struct cg_dialect *d = e->dialect;
    if (s->transposed && is_tf32(m))
        cg_line(e, CG_TEXT(e, d->matrix_words, variable, word_text(e, m, k, i, 0), word_text(e, m, k, i, 1),
                           word_text(e, m, k, i, 2), word_text(e, m, k, i, 3)));
    else
        cg_line(e, CG_TEXT(e, s->transposed ? d->matrix_load_transposed : d->matrix_load, variable,
                           row_text(e, m, s, k, i)));
}

static void emit_loads(struct cg_emitter *e, const struct cg_matrix *m, bool left, int64_t k)
{
    const struct cg_matrix_side *s = left ? &m->left : &m->right;
    int64_t registers = left ? LEFT_REGISTERS : RIGHT_REGISTERS;
    for (int64_t i = 0; i < s->registers->size; i += registers)
        emit_load(e, m, s, variable_text(e, m, left, k, i / registers), k, i);
}

/* A statement for each variable of the steps from k on: its type $1, its name $2. */
static void emit_each(struct cg_emitter *e, const struct cg_matrix *m, const char *format, int64_t k)
{
    const char *type = e->dialect->matrix_type;
    for (int64_t i = 0; i < m->left.registers->size / LEFT_REGISTERS; i++)
        cg_line(e, CG_TEXT(e, format, type, variable_text(e, m, true, k, i)));
    for (int64_t i = 0; i < m->right.registers->size / RIGHT_REGISTERS; i++)
        cg_line(e, CG_TEXT(e, format, type, variable_text(e, m, false, k, i)));
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
static const char *member_text(struct cg_emitter *e, const struct cg_matrix *m, int64_t k, int64_t j,
                               int64_t half)
{
    static const char *const members[] = {"x", "y", "z", "w"};
    return CG_TEXT(e, "$1.$2", variable_text(e, m, false, k, j / RIGHT_REGISTERS),
                   members[j % RIGHT_REGISTERS + half]);
}

static void emit_products(struct cg_emitter *e, const struct cg_matrix *m, int64_t k)
{
    const struct cg_dialect *d = e->dialect;
    if (is_tf32(m)) emit_each(e, m, d->tf32_round, k);
    for (int64_t i = 0; i < m->left.registers->size; i += 2)
        for (int64_t j = 0; j < m->right.registers->size; j += 2)
            cg_line(e,
                    CG_TEXT(e, is_tf32(m) ? d->tf32_multiply : d->matrix_multiply, result_text(e, m, i, j),
                            result_text(e, m, i, j + 1), result_text(e, m, i + 1, j),
                            result_text(e, m, i + 1, j + 1), variable_text(e, m, true, k, i / LEFT_REGISTERS),
                            member_text(e, m, k, j, 0), member_text(e, m, k, j, 1)));
}

/* The matrices of the next steps are loaded before the products of these. */
void cg_emit_matrix(struct cg_emitter *e, const struct cg_matrix *m)
{
    cg_line(e, "{");
    e->indent++;
    int64_t steps = steps_of(m);
    for (int64_t k = 0; k < m->steps->size && k <= steps; k += steps)
        emit_each(e, m, "$1 $2;", k);
    for (int64_t k = -steps; k < m->steps->size; k += steps) {
        if (k + steps < m->steps->size) {
            emit_loads(e, m, true, k + steps);
            emit_loads(e, m, false, k + steps);
        }
        if (k >= 0) emit_products(e, m, k);
    }
    e->indent--;
    cg_line(e, "}");
}
