/* Unrolled dimensions whose text is a loop that the compiler unrolls:
 *
 *     #pragma unroll
 *     for (int k1 = 0; k1 < 32; ++k1) {          and not 32 copies of the three lines, in which k1 is 0 to 31
 *         const float A_load = A_tile[k0 * 32 + k1];
 *         const float B_load = B_tile[k1 * 64 + n1];
 *         mad = fma(A_load, B_load, mad);
 *     }
 *
 * The compiled code is the same, but for the order of a few instructions. The text is shorter, and NVIDIA's
 * compiler builds it sooner, as some of its passes are over the statements before they are unrolled
 * (experiments/results/2026-11-29-builds.md).
 *
 * A dimension is rolled if its iterations differ in nothing but a multiple of its index in the offsets of
 * accesses. It is not rolled if
 *
 *     another nest reads registers by its index            acc_0, acc_1, ...
 *     a guard or an expression depends on it               x[i + 2] where i + 2 < 13: known for some i
 *     an offset depends on data, or is in private memory   whose elements are registers by their index
 *     vectors are aligned in some iterations only          x[6 * k1], in vectors of 4
 *     something in it is no statement, or it has fewer than 4 iterations.
 *
 * Kernels with products in matrices are written out: matrix.c writes loads by their registers. */
#include "core/codegen/program.h"

#include "core/backbone/guard.h"
#include "core/backbone/node.h"

enum { LEAST = 4 /* iterations that are rolled */ };

/* Whether a guard of an instruction or of its access differs between iterations. */
static bool is_guarded_by(const struct cg_program *p, const struct cg_node *inst, const struct cg_node *n)
{
    const struct cg_access *x = &p->access[inst->statement];
    bool by = guard_mentions(x->guards, x->n_guards, n->id);
    for (unsigned i = 0; i < inst->n_guards; i++)
        by |= index_mentions(inst->guards[i].of, n->id);
    for (unsigned i = 0; i < x->n_clamps; i++)
        by |= index_mentions(x->clamps[i].in_range.of, n->id);
    return by;
}

static bool is_computed_by(const struct cg_program *p, uint32_t inst, const struct cg_node *n)
{
    const struct bb_inst *in = &p->bb->insts[inst];
    bool by = in->n_data > 0;
    for (unsigned i = 0; i < in->n_nodes; i++)
        by |= bb_node_mentions(&p->expression[inst][i], n->id);
    return by;
}

/* The size of the vectors that an instruction is in; 1: it is scalar. */
static int64_t lanes_of(const struct cg_program *p, uint32_t inst)
{
    const struct bb_inst *in = &p->bb->insts[inst];
    for (uint32_t d = in->first_dim; d < in->first_dim + in->n_dims; d++)
        if (p->dim_node[d] && p->dim_node[d]->kind == BB_VECTOR) return p->dim_node[d]->size;
    return 1;
}

static bool is_access_rollable(const struct cg_program *p, uint32_t inst, const struct cg_node *n)
{
    const struct cg_access *x = &p->access[inst];
    int affine = 1;
    if (!x->offset) return true;
    int64_t stride = index_stride(x->offset, n->id, &affine);
    if (cg_is_private(p, x->region) && index_mentions(x->offset, n->id)) return false;
    return affine && stride % lanes_of(p, inst) == 0;
}

/* Whether all that have n as an index of registers are in n: then each iteration has registers of its own. */
static bool has_own_registers(const struct cg_program *p, const struct cg_node *n)
{
    for (uint32_t i = 0; i < p->bb->n_insts; i++)
        for (unsigned j = 0; p->operands[i] && j < p->bb->insts[i].n_operands; j++) {
            const struct cg_operand *x = &p->operands[i][j];
            for (unsigned a = 0; x->value && a < x->value->n_axes; a++)
                if ((x->digits[a] == n) != (x->value->axes[a] == n)) return false;
        }
    return true;
}

static bool is_rollable(const struct cg_program *p, const struct cg_node *in, const struct cg_node *n)
{
    if (in->type == CG_INST) {
        uint32_t inst = in->statement;
        return !is_guarded_by(p, in, n) && !is_computed_by(p, inst, n) && is_access_rollable(p, inst, n);
    }
    if (in->type != CG_DIM) return false;
    for (unsigned i = 0; i < in->n_children; i++)
        if (!is_rollable(p, in->children[i], n)) return false;
    return true;
}

const char *cg_roll(struct cg_program *p)
{
    if (!p->target.brief || !p->target.dialect->unroll || p->root->has_matrix) return NULL;
    for (unsigned i = 0; i < p->n_nodes; i++) {
        struct cg_node *n = p->nodes[i];
        if (n->type != CG_DIM || n->kind != BB_UNROLL || n->size < LEAST) continue;
        n->rolled = is_rollable(p, n, n) && has_own_registers(p, n);
    }
    return NULL;
}
