/* Products of half numbers in matrices (core/backbone/matrix.h, core/codegen/matrix.c): which programs have
 * them, that the loop program computes the product, and that the text's instructions give each work-item the
 * results that the loop program gives it. No device here multiplies matrices: what the instructions do is
 * written down a second time, after the PTX ISA ("Warp-level matrix instructions": ldmatrix, mma.m16n8k16).
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/backbone/matrix.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/codegen/program.h"
#include "core/lift/interpret.h"
#include "tests/codegen/contenders.h"
#include "tests/fixture/kernel.h"

static const struct bb_device matrix_device = {.gpu = true,
                                               .max_work_group = 1024,
                                               .max_work_item = {1024, 1024, 64},
                                               .local_bytes = 49152,
                                               .n_vector_widths = 2,
                                               .vector_widths = {2, 4},
                                               .half_bits = true,
                                               .matrix = true};

/* B is transposed: its rows are along k. */
static const char matrix_of_rows[] =
    "size M, N, K\ninput A: [[half]K]M\ninput B: [[half]K]N\nfun product(a, b) = float(a) * float(b)\n"
    "output map(fun row -> map(fun column -> sum(map(product, zip(row, column))), B), A)\n";
/* A is transposed: neither has what the right matrix needs, so that the copy of A turns it. */
static const char matrix_of_columns[] =
    "size M, N, K\ninput A: [[half]M]K\ninput B: [[half]N]K\nfun product(a, b) = float(a) * float(b)\n"
    "output map(fun row -> map(fun column -> sum(map(product, zip(row, column))), transpose(B)), "
    "transpose(A))\n";

static struct contenders matrix_open(const char *kernel, const char *sizes)
{
    return contenders_open(kernel, sizes, &matrix_device, "in matrices");
}

/* The loop program of a plain implementation; NULL: the code generator refuses it, with the reason. */
static struct cg_program *matrix_build(struct contenders *c, unsigned i, const char **why)
{
    const struct cg_target target = cg_target_of(&matrix_device);
    const struct backbone *bb = c->problem->backbone;
    struct bb_candidate *candidate = bb_candidate_new(bb, c->arena);
    struct space_state *leaf = contenders_leaf(c, c->first + i);
    cr_assert(bb_decode(bb, leaf, candidate, why), "%s: %s", c->plain[c->first + i].label, *why);
    space_state_free(leaf);
    return cg_build(bb, candidate, &target, c->arena, why);
}

static void matrix_count(const char *kernel, const char *sizes, const struct bb_device *device, unsigned n)
{
    const struct kernel_case c = {kernel, sizes};
    struct kernel_fixture f;
    struct bb_plain out[BB_MAX_MATRIX];
    kernel_open(&f, &c, device, NULL);
    unsigned found = bb_matrix(f.bb, f.space, device, f.arena, out);
    cr_expect_eq(found, n, "%s %s: %u", kernel, sizes, found);
    kernel_close(&f);
}

Test(matrix, products_of_half_numbers)
{
    struct bb_device without = matrix_device;
    without.matrix = false;
    matrix_count("half_matmul", "M=256,N=256,K=64", &matrix_device, BB_MAX_MATRIX);
    matrix_count("half_matmul", "M=128,N=192,K=64", &matrix_device, 1); /* 2 x 3 blocks of 64 x 64 */
    matrix_count("half_matmul", "M=250,N=256,K=64", &matrix_device, 0);
    matrix_count("half_matmul", "M=256,N=256,K=64", &without, 0);
    matrix_count(matrix_of_rows, "M=256,N=256,K=64", &matrix_device, BB_MAX_MATRIX);
    matrix_count(matrix_of_columns, "M=256,N=256,K=64", &matrix_device, BB_MAX_MATRIX);
    matrix_count("half_gemv", "M=256,N=256", &matrix_device, 0);
    matrix_count("matmul", "M=256,N=256,K=64", &matrix_device, 0);
}

/* ---- what the loop program computes ---- */

static void matrix_interpret(const char *kernel, const char *sizes)
{
    struct contenders c = matrix_open(kernel, sizes);
    const struct backbone *bb = c.problem->backbone;
    double **buffers = ARENA_ARRAY(c.arena, double *, bb->n_buffers);
    uint32_t output = 0;
    for (uint32_t b = 0; b < bb->n_buffers; b++) {
        buffers[b] = ARENA_ARRAY(c.arena, double, bb->buffers[b].elements);
        for (int64_t j = 0; j < bb->buffers[b].elements; j++)
            buffers[b][j] = (double)((j * 7 + b * 3) % 11) - 5;
        if (bb->buffers[b].output) output = b;
    }
    double *expected = ARENA_ARRAY(c.arena, double, bb->buffers[output].elements);
    lift_interpret(bb->program, (const double *const *)buffers, output, expected);
    const char *why = "";
    struct cg_program *p = matrix_build(&c, c.n - 1, &why); /* the smallest */
    cr_assert(p, "%s", why);
    struct cg_check check = cg_interpret(p, buffers);
    cr_assert_eq(check.fault, CG_OK, "%s", check.where);
    for (int64_t j = 0; j < bb->buffers[output].elements; j++)
        cr_assert_eq(buffers[output][j], expected[j], "element %lld is %g, not %g", (long long)j,
                     buffers[output][j], expected[j]);
    contenders_close(&c);
}

Test(matrix, loop_programs_compute_the_product)
{
    matrix_interpret("half_matmul", "M=128,N=128,K=64");
    matrix_interpret(matrix_of_columns, "M=128,N=128,K=64");
}

/* ---- what the text does ---- */

/* A side as the test knows it from the loop program: the offset of the element of a lane, a register and a
 * step within the tile of the first iteration, where all other variables are 0. */
static int64_t matrix_offset(struct contenders *c, struct cg_program *p, const struct cg_matrix *m,
                             const struct cg_matrix_side *s, int64_t lane, int64_t reg, int64_t step)
{
    const struct index_expr **at = ARENA_ARRAY(c->arena, const struct index_expr *, cg_variables(p));
    for (unsigned v = 0; v < cg_variables(p); v++)
        at[v] = index_constant(c->arena, 0);
    at[s->lanes->id] = index_constant(c->arena, lane);
    at[s->loaded->id] = index_constant(c->arena, reg);
    at[m->steps->id] = index_constant(c->arena, step);
    const struct index_expr *x = index_substitute(c->arena, p->access[s->load].offset, at, cg_variables(p));
    cr_assert_eq(x->n_terms, 0);
    return x->constant;
}

/* All offsets of a side's elements: of lanes, registers and steps. */
struct matrix_offsets {
    int64_t at[8][32][64];
};

static struct matrix_offsets *matrix_list(struct contenders *c, struct cg_program *p,
                                          const struct cg_matrix *m, const struct cg_matrix_side *s)
{
    struct matrix_offsets *o = ARENA_NEW(c->arena, struct matrix_offsets);
    cr_assert(s->lanes->size <= 8 && s->registers->size <= 32 && m->steps->size <= 64);
    for (int64_t lane = 0; lane < s->lanes->size; lane++)
        for (int64_t reg = 0; reg < s->registers->size; reg++)
            for (int64_t step = 0; step < m->steps->size; step++)
                o->at[lane][reg][step] = matrix_offset(c, p, m, s, lane, reg, step);
    return o;
}

static const struct cg_matrix *matrix_find(const struct cg_program *p)
{
    const struct cg_matrix *m = NULL;
    for (unsigned i = 0; i < p->n_nodes; i++)
        if (p->nodes[i]->matrix) m = p->nodes[i]->matrix;
    cr_assert(m && p->root->has_matrix);
    return m;
}

/* The constant at the end of an index, "n1 * 64 + k0 % 2 * 4352 + 16]": 16; 0 if it ends with a variable. */
static int64_t matrix_constant(const char *index)
{
    const char *end = strchr(index, ']'), *at = end;
    while (at > index && strchr("0123456789", at[-1]))
        at--;
    bool whole = at == index || (at - index > 2 && at[-2] == '+');
    return at < end && whole ? atoll(at) : 0;
}

/* What the instructions read: for each variable of the text the address of each row of its four matrices. */
struct matrix_rows {
    int64_t at[4][8];
};

struct matrix_text {
    const struct matrix_offsets *of_left, *of_right; /* of the loop program */
    struct matrix_rows left[8], right[8];
    int64_t left_row, left_register, left_half, right_lane, right_register, right_half, right_pair;
};

/* The addresses that the work-items of a bundle give: work-item l that of row l % 8 of matrix l / 8. */
static void matrix_take_load(struct matrix_text *t, const char *line)
{
    bool left = strstr(line, "thresh_left") < strchr(line, '\n') && strstr(line, "thresh_left");
    unsigned variable;
    const char *name = strchr(line, '(') + 1, *index = strchr(line, '[') + 1;
    cr_assert_eq(sscanf(name, left ? "thresh_l%u" : "thresh_r%u", &variable), 1, "%.120s", line);
    cr_assert_lt(variable, 8);
    for (int64_t l = 0; l < 32; l++) {
        int64_t at = matrix_constant(index);
        at += left ? l % 8 * t->left_row + l / 8 % 2 * t->left_register + l / 16 * t->left_half
                   : l % 8 / 2 * t->right_lane + l % 2 * t->right_register + l / 8 % 2 * t->right_half +
                         l / 16 * t->right_pair;
        (left ? t->left : t->right)[variable].at[l / 8][l % 8] = at;
    }
}

static void matrix_read_rows(struct matrix_text *t, const char *text)
{
    long long n[7];
    const char *left = strstr(text, "thresh_left = "), *right = strstr(text, "thresh_right = ");
    cr_assert(left && right);
    cr_assert_eq(sscanf(left,
                        "thresh_left = thresh_lane %% 8 * %lld + thresh_lane / 8 %% 2 * %lld + "
                        "thresh_lane / 16 * %lld;",
                        &n[0], &n[1], &n[2]),
                 3);
    cr_assert_eq(sscanf(right,
                        "thresh_right = thresh_lane %% 8 / 2 * %lld + thresh_lane %% 2 * %lld + "
                        "thresh_lane / 8 %% 2 * %lld + thresh_lane / 16 * %lld;",
                        &n[3], &n[4], &n[5], &n[6]),
                 4);
    t->left_row = n[0];
    t->left_register = n[1];
    t->left_half = n[2];
    t->right_lane = n[3];
    t->right_register = n[4];
    t->right_half = n[5];
    t->right_pair = n[6];
}

/* The element of row i and column j of a matrix that ldmatrix has loaded. */
static int64_t matrix_element(const struct matrix_rows *r, int q, int64_t i, int64_t j, bool transposed)
{
    return transposed ? r->at[q][j] + i : r->at[q][i] + j;
}

/* c[row][column] = sum over k of a[row][k] * b[k][column] with the matrices of the text, against what the
 * loop program multiplies for the result `name` of work-item (row % 8, column / 2). */
static void matrix_check_result(struct cg_program *p, const struct cg_matrix *m, const struct matrix_text *t,
                                unsigned left, unsigned right, unsigned pair, int64_t first_step,
                                const char *name, int result)
{
    bool m_left = p->bb->insts[m->left.load].logicals[0] == p->bb->insts[m->step].logicals[0];
    unsigned m_register, n_register;
    cr_assert_eq(sscanf(name, "mad_%u_%u", &m_register, &n_register), 2, "%s", name);
    int64_t l = m_left ? m_register : n_register, r = m_left ? n_register : m_register;
    for (int64_t item = 0; item < 32; item++)
        for (int64_t k = 0; k < 16; k++) {
            int64_t row = item / 4 + 8 * (result / 2), column = 2 * (item % 4) + result % 2;
            int64_t a = matrix_element(&t->left[left], (int)(row / 8 + 2 * (k / 8)), row % 8, k % 8,
                                       m->left.transposed),
                    b = matrix_element(&t->right[right], (int)(2 * pair + k / 8), column, k % 8, false);
            cr_assert_eq(a, t->of_left->at[item / 4][l][first_step + k]);
            cr_assert_eq(b, t->of_right->at[item % 4][r][first_step + k]);
        }
}

static void matrix_check_product(struct cg_program *p, const struct cg_matrix *m, const struct matrix_text *t,
                                 int64_t first_step, const char *line)
{
    char names[4][16], member, next;
    unsigned left, right, again;
    cr_assert_eq(sscanf(line,
                        "thresh_multiply(%15[a-z0-9_], %15[a-z0-9_], %15[a-z0-9_], %15[a-z0-9_], thresh_l%u, "
                        "thresh_r%u.%c, thresh_r%u.%c);",
                        names[0], names[1], names[2], names[3], &left, &right, &member, &again, &next),
                 9, "%.120s", line);
    cr_assert_eq(right, again);
    cr_assert((member == 'x' && next == 'y') || (member == 'z' && next == 'w'));
    for (int i = 0; i < 4; i++)
        matrix_check_result(p, m, t, left, right, member == 'z', first_step, names[i], i);
}

/* Each product of the first iteration; the loads of 16 steps come before their products. */
static void matrix_check_text(const char *kernel, unsigned shape)
{
    struct contenders c = matrix_open(kernel, "M=256,N=256,K=64");
    const char *why = "";
    struct cg_program *p = matrix_build(&c, shape, &why);
    cr_assert(p, "%s", why);
    const struct cg_matrix *m = matrix_find(p);
    struct cg_kernel k;
    cg_emit(p, &k);
    struct matrix_text t = {.of_left = matrix_list(&c, p, m, &m->left),
                            .of_right = matrix_list(&c, p, m, &m->right)};
    matrix_read_rows(&t, k.source);
    int64_t products = 0, of_16 = m->left.registers->size / 2 * m->right.registers->size / 2;
    const char *kernel_text = strstr(k.source, "__kernel");
    for (const char *at = kernel_text; (at = strstr(at, "thresh_")); at++) {
        if (strncmp(at, "thresh_load_", 12) == 0) matrix_take_load(&t, at);
        if (strncmp(at, "thresh_multiply", 15) != 0) continue;
        matrix_check_product(p, m, &t, products / of_16 * 16, at);
        products++;
    }
    cr_expect_eq(products, of_16 * m->steps->size / 16);
    cg_kernel_free(&k);
    contenders_close(&c);
}

Test(matrix, work_items_have_the_results_of_the_loop_program)
{
    matrix_check_text("half_matmul", 0);
    matrix_check_text("half_matmul", 3);
    matrix_check_text(matrix_of_rows, 3);
    matrix_check_text(matrix_of_columns, 3);
}

/* What is lowered of random implementations: leaves; no bundle is beyond an extent in part. */
static unsigned matrix_descend(const char *sizes, unsigned descents, unsigned *leaves)
{
    const struct kernel_case kernel = {"half_matmul", sizes};
    const struct cg_target target = cg_target_of(&matrix_device);
    const char *const pins[] = {"matrix(*)=YES"};
    struct kernel_fixture f;
    kernel_open(&f, &kernel, &matrix_device, NULL);
    struct space_state *root = space_pinned_root(f.space, pins, 1, f.diag);
    cr_assert_not_null(root);
    struct pcg32 rng = pcg32_seed(5, 3);
    unsigned lowered = 0;
    for (unsigned i = 0; i < descents; i++) {
        space_mark mark = space_snapshot(root);
        struct bb_candidate *c = bb_candidate_new(f.bb, f.arena);
        const char *why = "";
        if (kernel_descend(root, &rng)) {
            *leaves += 1;
            cr_assert(bb_decode(f.bb, root, c, &why), "%s", why);
            struct cg_program *p = cg_build(f.bb, c, &target, f.arena, &why);
            if (p) cr_expect(!matrix_find(p)->left.lanes->n_guards && !matrix_find(p)->right.lanes->n_guards);
            lowered += p != NULL;
        }
        space_rollback(root, mark);
    }
    space_state_free(root);
    kernel_close(&f);
    return lowered;
}

/* The code generator can write what the space has. */
Test(matrix, random_implementations, .timeout = 200)
{
    enum { DESCENTS = 60, LEAVES = 30 };
    unsigned leaves = 0, lowered = matrix_descend("M=128,N=128,K=64", DESCENTS, &leaves);
    cr_expect_geq(leaves, LEAVES, "%u leaves", leaves);
    cr_expect_eq(lowered, leaves, "%u of %u leaves", lowered, leaves);
}

/* Of 226 rows and columns some lanes of a bundle would be beyond: a condition around a part of a bundle.
 */
Test(matrix, bundles_are_within_rounded_extents, .timeout = 200)
{
    unsigned leaves = 0, lowered = matrix_descend("M=226,N=226,K=48", 60, &leaves);
    cr_expect_gt(lowered, 0);
    cr_expect_lt(lowered, leaves, "all of %u leaves", leaves);
}

/* Half numbers are copied as words, and the copies have a condition around them (stages.c). */
Test(matrix, copies_are_words_in_conditions)
{
    struct contenders c = matrix_open("half_matmul", "M=256,N=256,K=64");
    const char *why = "";
    struct cg_program *p = matrix_build(&c, 0, &why);
    cr_assert(p, "%s", why);
    struct cg_kernel k;
    cg_emit(p, &k);
    cr_expect(strstr(k.source, "A_copy_load_0 = *(const __global uint4 *)&A["));
    cr_expect(strstr(k.source, " = B_copy_load_3;"));
    cr_expect(strstr(k.source, "if (k0 < 1) {"));
    cr_expect(!strstr(k.source, "ushort8"));
    cg_kernel_free(&k);
    contenders_close(&c);
}
