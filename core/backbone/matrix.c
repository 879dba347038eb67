/* Products in matrices, as decisions. Of half numbers, C[m][n] = sum over k of A[m][k] * B[k][n], 128 x 128
 * results by 4 bundles of 32 work-items, 64 x 64 a bundle:
 *
 *     matrix(mad)=YES
 *     size(m.1..3)=2,16,4  size(n.1..3)=2,8,8     bundles, registers, lanes
 *     seat(m.1) seat(n.1) seat(n.3) seat(m.3)     one run of 2 x 2 x 8 x 4 work-items
 *     size(k.1)=32                                the steps of an iteration
 *     staged(A)=YES  staged(B)=YES  stages(*)=2   128 x 32 of A and 32 x 128 of B, loaded one iteration ahead
 *
 * Of one array (the *left* one of the device's product, here B) 8 lanes have neighbouring elements of a
 * column, of the other one (the *right*) 4 lanes; core/codegen/matrix.c says why. The tile of the right one
 * is stored along k. Copies load vectors of 8 elements along the dimension in which their array is
 * contiguous; rows are padded by 8. Or, with three tiles that are copied in the background, rows are rotated:
 *
 *     stages(*)=3  transfer(*)=DIRECT  row_layout(*)=ROTATED  pad(*)=0
 *
 * Of floats in TF32 vectors have 4 elements and an iteration 16 steps, as many bytes. */
#include "core/backbone/matrix.h"

#include <inttypes.h>

#include "core/backbone/product.h"
#include "core/backbone/seat.h"
#include "core/base/arena.h"

/* Levels of m and n, as all instructions have them. */
enum { BLOCK, PART, REGISTER, LANE };

/* Bundles of a group and registers of a work-item along the left and the right dimension; steps of k. */
struct matrix_shape {
    int64_t left_bundles, right_bundles, left, right, rows; /* rows: of matrices, along k */
    bool background; /* three tiles, copied in the background; rotated rows instead of padded ones */
};

/* ---- what multiplies ---- */

/* The load whose number is a factor: an expression of one node, of a half number of two, which convert it.
 * BB_NONE: another expression. */
static uint32_t factor(const struct backbone *bb, const struct bb_inst *step, const struct bb_node *n,
                       enum scalar_type type)
{
    bool converts = type == SCALAR_HALF;
    if (n[0].kind != BB_NODE_OPERAND || n[0].type != type ||
        (converts && (n[1].kind != BB_NODE_OP || n[1].op != SCALAR_TO_FLOAT)))
        return BB_NONE;
    const struct bb_inst *load = &bb->insts[step->operands[n[0].operand]];
    bool staged = load->kind == BB_LOAD && load->value != BB_NONE;
    return staged && !bb_is_shared(bb, &bb->values[load->value]) ? step->operands[n[0].operand] : BB_NONE;
}

/* Whether the step reduces one dimension, and of the others has one that the first of both loads alone has.
 */
static bool has_own(const struct backbone *bb, const struct bb_inst *step, uint32_t load, uint32_t other)
{
    unsigned own = 0, reduced = 0;
    for (unsigned i = 0; i < step->n_logicals; i++) {
        uint32_t l = step->logicals[i];
        bool both = bb_owns(&bb->insts[load], l) && bb_owns(&bb->insts[other], l);
        if (bb_reduces(bb, step, l))
            reduced += both ? 1 : 2;
        else if (!both && bb_owns(&bb->insts[load], l))
            own++;
    }
    return own == 1 && reduced == 1;
}

bool bb_multiplies(const struct backbone *bb, uint32_t step, struct bb_factors *out)
{
    const struct bb_inst *s = &bb->insts[step];
    if (s->kind != BB_STEP || s->scan || s->n_more || s->type != SCALAR_FLOAT ||
        (s->n_nodes != 4 && s->n_nodes != 6))
        return false;
    enum scalar_type type = s->n_nodes == 6 ? SCALAR_HALF : SCALAR_FLOAT;
    const struct bb_node *acc = &s->nodes[s->n_nodes - 2], *fma = &s->nodes[s->n_nodes - 1];
    if (acc->kind != BB_NODE_OPERAND || acc->operand != 0 || fma->kind != BB_NODE_OP || fma->op != SCALAR_FMA)
        return false;
    if (type == SCALAR_FLOAT && !bb_allows_tf32(bb)) return false;
    for (unsigned i = 0; i < 2; i++)
        out->loads[i] = factor(bb, s, &s->nodes[i * (s->n_nodes - 2) / 2], type);
    out->row = BB_ROW_BYTES / scalar_type_bytes(type);
    return out->loads[0] != BB_NONE && out->loads[1] != BB_NONE && out->loads[0] != out->loads[1] &&
           has_own(bb, s, out->loads[0], out->loads[1]) && has_own(bb, s, out->loads[1], out->loads[0]);
}

bool bb_may_round_factors(const struct backbone *bb, const struct bb_device *device)
{
    struct bb_factors f;
    for (uint32_t i = 0; i < bb->n_insts && device->matrix; i++)
        if (bb_multiplies(bb, i, &f) && f.row < BB_HALF_VECTOR) return true;
    return false;
}

/* ---- decisions ---- */

struct tiles {
    struct tiler t;
    struct matrix_shape shape;
    struct side left, right;
    int64_t row, steps; /* elements of a row of a matrix; steps of an iteration */
};

static int64_t items(const struct tiles *x)
{
    return x->shape.left_bundles * x->shape.right_bundles * BB_BUNDLE;
}

static bool decide_sizes(struct tiles *x)
{
    struct tiler *t = &x->t;
    const struct matrix_shape *s = &x->shape;
    const struct bb_logical *logicals = t->bb->logicals;
    x->left.tile = s->left_bundles * s->left * BB_LEFT_LANES;
    x->right.tile = s->right_bundles * s->right * BB_RIGHT_LANES;
    if (logicals[t->p.m].n_levels <= LANE || logicals[t->p.n].n_levels <= LANE ||
        logicals[t->p.k].n_levels < 2 || logicals[x->left.own].extent % x->left.tile ||
        logicals[x->right.own].extent % x->right.tile || logicals[t->p.k].extent % x->steps)
        return false;
    if (!tiler_decide_span(t, x->left.own, x->left.tile) ||
        !tiler_decide_span(t, x->right.own, x->right.tile) || !tiler_decide_span(t, t->p.k, x->steps))
        return false;
    tiler_sizes(t, x->left.own, PART, (const int64_t[]){s->left_bundles, s->left, BB_LEFT_LANES, 0});
    tiler_sizes(t, x->right.own, PART, (const int64_t[]){s->right_bundles, s->right, BB_RIGHT_LANES, 0});
    tiler_sizes(t, t->p.k, 1, (const int64_t[]){x->steps, 0});
    if (t->p.batch != BB_NONE) tiler_sizes(t, t->p.batch, 1, (const int64_t[]){0});
    return true;
}

static void decide_seat(struct tiles *x, uint32_t logical, unsigned level, int64_t place)
{
    struct tiler *t = &x->t;
    uint32_t tile = t->bb->logicals[logical].first_tile + level;
    tiler_decide(t, gpu_act_seat(t->space, tile, bb_seat(GPU_MAP_ENCODING_LCL0, place)));
}

/* Lanes are the innermost work-items: neighbours make a bundle. */
static void decide_axes(struct tiles *x)
{
    struct tiler *t = &x->t;
    const struct product *p = &t->p;
    if (p->batch != BB_NONE) tiler_axis(t, p->store, p->batch, BLOCK, GPU_MAP_ENCODING_WRG2);
    tiler_axis(t, p->store, p->m, BLOCK, GPU_MAP_ENCODING_WRG1);
    tiler_axis(t, p->store, p->n, BLOCK, GPU_MAP_ENCODING_WRG0);
    decide_seat(x, x->right.own, PART, 0);
    decide_seat(x, x->left.own, PART, 1);
    decide_seat(x, x->left.own, LANE, 2);
    decide_seat(x, x->right.own, LANE, 3);
}

static void decide_registers(struct tiles *x, uint32_t inst)
{
    struct tiler *t = &x->t;
    tiler_kind(t, inst, t->p.m, REGISTER, GPU_DIM_KIND_UNROLL);
    tiler_kind(t, inst, t->p.n, REGISTER, GPU_DIM_KIND_UNROLL);
    tiler_order(t, tiler_statement(t, inst, t->p.m, REGISTER), GPU_ORDER_OUTER,
                tiler_statement(t, inst, t->p.n, REGISTER));
}

static void decide_step(struct tiles *x)
{
    struct tiler *t = &x->t;
    const struct product *p = &t->p;
    tiler_decide(t, gpu_act_matrix(t->space, p->step, GPU_MATRIX_YES));
    tiler_kind(t, p->step, p->k, 0, GPU_DIM_KIND_LOOP);
    tiler_kind(t, p->step, p->k, 1, GPU_DIM_KIND_UNROLL);
    decide_registers(x, p->step);
    tiler_order(t, tiler_statement(t, p->step, p->k, 0), GPU_ORDER_OUTER,
                tiler_statement(t, p->step, p->m, LANE));
    tiler_order(t, tiler_statement(t, p->step, p->k, 1), GPU_ORDER_OUTER,
                tiler_statement(t, p->step, p->m, REGISTER));
}

static void decide_load(struct tiles *x, const struct side *s)
{
    struct tiler *t = &x->t;
    const struct product *p = &t->p;
    uint32_t load = t->bb->values[s->value].load;
    tiler_kind(t, load, s->own, REGISTER, GPU_DIM_KIND_UNROLL);
    tiler_order(t, tiler_statement(t, load, s->own, LANE), GPU_ORDER_MERGED,
                tiler_statement(t, p->step, s->own, LANE));
    tiler_order(t, tiler_statement(t, load, p->k, 1), GPU_ORDER_MERGED, tiler_statement(t, p->step, p->k, 1));
    tiler_order(t, tiler_statement(t, load, s->own, REGISTER), GPU_ORDER_BEFORE,
                tiler_statement(t, p->step, p->m, REGISTER));
}

static bool decide_copy(struct tiles *x, const struct side *s, bool along_k)
{
    struct tiler *t = &x->t;
    const struct bb_value *v = &t->bb->values[s->value];
    struct tiler_coordinate own = tiler_coordinate(t, s->value, s->own, 1),
                            k = tiler_coordinate(t, s->value, t->p.k, 1);
    if (t->p.batch != BB_NONE && bb_owns(&t->bb->insts[v->load], t->p.batch))
        tiler_coordinate(t, s->value, t->p.batch, 1);
    bool by_k = product_has_vectors(t->bb, v->load, t->p.k, x->row);
    if (!by_k && !product_has_vectors(t->bb, v->load, s->own, x->row)) return false;
    tiler_decide(t, gpu_act_mem_space(t->space, v->region, GPU_MEM_SPACE_LOCAL));
    tiler_decide(t, gpu_act_layout_order(t->space, own.term, k.term,
                                         along_k ? GPU_LAYOUT_ORDER_OUTSIDE : GPU_LAYOUT_ORDER_INSIDE));
    bool background = x->shape.background, kept = by_k == along_k;
    if (background && !kept) return false;
    tiler_decide(t, gpu_act_row_layout(t->space, v->region,
                                       background ? GPU_ROW_LAYOUT_ROTATED : GPU_ROW_LAYOUT_PLAIN));
    tiler_decide(t, gpu_act_pad(t->space, v->region, background ? 0 : along_k ? x->row : BB_HALF_VECTOR));
    tiler_decide(t, gpu_act_stages(t->space, v->region, background ? 3 : 2));
    tiler_decide(
        t, gpu_act_transfer(t->space, v->region, background ? GPU_TRANSFER_DIRECT : GPU_TRANSFER_REGISTERS));
    struct tiler_walk w = by_k
                              ? (struct tiler_walk){k.copy, own.copy, x->steps, s->tile, x->row, false, kept}
                              : (struct tiler_walk){own.copy, k.copy, s->tile, x->steps, x->row, false, kept};
    return tiler_walk(t, v, items(x), &w);
}

static bool decide_all(struct tiles *x)
{
    struct tiler *t = &x->t;
    const struct product *p = &t->p;
    const struct bb_value *a = &t->bb->values[p->a.value], *b = &t->bb->values[p->b.value];
    if (!decide_sizes(x)) return false;
    decide_axes(x);
    decide_step(x);
    decide_registers(x, p->init);
    decide_registers(x, p->store);
    for (uint32_t v = 0; v < t->bb->n_values; v++)
        tiler_decide(t, gpu_act_staged(t->space, v,
                                       v == p->a.value || v == p->b.value ? GPU_STAGED_YES : GPU_STAGED_NO));
    decide_load(x, &x->left);
    decide_load(x, &x->right);
    tiler_order(t, a->load, GPU_ORDER_BEFORE, b->load);
    bool left_along_k = product_is_contiguous(t->bb, t->bb->values[x->left.value].load, p->k);
    if (!decide_copy(x, &x->left, left_along_k) || !decide_copy(x, &x->right, true)) return false;
    tiler_order(t, a->copy_store, GPU_ORDER_BEFORE, b->copy_load);
    return true;
}

unsigned bb_matrix(const struct backbone *bb, const struct space *space, const struct bb_device *device,
                   struct arena *a, struct bb_plain out[BB_MAX_MATRIX])
{
    static const struct matrix_shape shapes[BB_MAX_MATRIX] = {
        {2, 2, 8, 16, 4, true},  {4, 2, 4, 16, 4, true}, {2, 2, 8, 16, 4, false},
        {4, 2, 4, 16, 4, false}, {2, 2, 8, 8, 4, true},  {2, 2, 4, 8, 4, false}};
    struct product p;
    struct bb_factors f;
    unsigned n = 0;
    if (!device->matrix || !product_find(bb, &p) || !bb_multiplies(bb, p.step, &f)) return 0;
    bool swapped = product_is_contiguous(bb, bb->values[p.b.value].load, p.k) &&
                   !product_is_contiguous(bb, bb->values[p.a.value].load, p.k);
    for (unsigned i = 0; i < BB_MAX_MATRIX; i++) {
        struct tiles x = {.t = {.bb = bb, .space = space, .device = device, .arena = a, .p = p},
                          .shape = shapes[i],
                          .left = swapped ? p.a : p.b,
                          .right = swapped ? p.b : p.a,
                          .row = f.row,
                          .steps = shapes[i].rows * f.row};
        if (items(&x) > device->max_work_group || !decide_all(&x)) continue;
        const char *label = arena_printf(
            a, "groups of %" PRId64 " x %" PRId64 " results in matrices%s, tiles of %" PRId64 " steps %s",
            swapped ? x.left.tile : x.right.tile, swapped ? x.right.tile : x.left.tile,
            f.row < BB_HALF_VECTOR ? " of TF32" : "", x.steps,
            x.shape.background ? "copied in the background" : "loaded ahead");
        out[n++] = (struct bb_plain){.label = label, .decisions = x.t.decisions};
    }
    return n;
}
