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
#include "tests/codegen/text_index.h"
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
    matrix_count("half_matmul", "M=256,N=256,K=128", &matrix_device, BB_MAX_MATRIX);
    matrix_count("half_matmul", "M=128,N=192,K=128", &matrix_device, 1); /* 2 x 3 blocks of 64 x 64 */
    matrix_count("half_matmul", "M=250,N=256,K=128", &matrix_device, 0);
    matrix_count("half_matmul", "M=256,N=256,K=128", &without, 0);
    matrix_count(matrix_of_rows, "M=256,N=256,K=128", &matrix_device, BB_MAX_MATRIX);
    matrix_count(matrix_of_columns, "M=256,N=256,K=128", &matrix_device, BB_MAX_MATRIX / 2); /* A is turned */
    matrix_count("half_gemv", "M=256,N=256", &matrix_device, 0);
    matrix_count("matmul", "M=256,N=256,K=128", &matrix_device, 0);
}

/* ---- what the loop program computes ---- */

static void matrix_run(struct contenders *c, unsigned shape, double **buffers, uint32_t output,
                       const double *expected)
{
    const char *why = "", *label = c->plain[c->first + shape].label;
    struct cg_program *p = matrix_build(c, shape, &why);
    cr_assert(p, "%s: %s", label, why);
    struct cg_check check = cg_interpret(p, buffers);
    cr_assert_eq(check.fault, CG_OK, "%s: %s", label, check.where);
    for (int64_t j = 0; j < c->problem->backbone->buffers[output].elements; j++) {
        cr_assert_eq(buffers[output][j], expected[j], "%s: element %lld is %g, not %g", label, (long long)j,
                     buffers[output][j], expected[j]);
        buffers[output][j] = -1;
    }
}

/* The first of the plain implementations, and the smallest. */
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
    matrix_run(&c, 0, buffers, output, expected);
    matrix_run(&c, c.n - 1, buffers, output, expected);
    contenders_close(&c);
}

Test(matrix, loop_programs_compute_the_product)
{
    matrix_interpret("half_matmul", "M=128,N=128,K=96"); /* in the background; through registers */
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

/* What the instructions read: for each variable of the text the address of each row of its four matrices. */
struct matrix_rows {
    int64_t at[4][8];
};

struct matrix_text {
    const struct matrix_offsets *of_left, *of_right; /* of the loop program */
    const char *kernel;
    struct matrix_rows left[2][8], right[2][8]; /* of 16 steps, and of the next 16 */
};

/* Rows of a matrix, 16 bytes each, are in different banks: 32 of 4 bytes. */
static void matrix_check_banks(const struct matrix_rows *r)
{
    for (int q = 0; q < 4; q++) {
        unsigned seen = 0;
        for (int i = 0; i < 8; i++)
            seen |= 1u << r->at[q][i] / 8 % 8;
        cr_assert_eq(seen, 0xff, "matrix %d: %x", q, seen);
    }
}

static bool matrix_is_next(const char **name)
{
    bool next = strncmp(*name, "thresh_next_", 12) == 0;
    *name += next ? 12 : 7;
    return next;
}

/* The addresses that the work-items of a bundle give: work-item l that of row l % 8 of matrix l / 8. */
static void matrix_take_load(struct matrix_text *t, const char *line)
{
    const char *name = strchr(line, '(') + 1, *index = strchr(line, '[') + 1;
    bool next = matrix_is_next(&name);
    int64_t variable = strtoll(name + 1, NULL, 10);
    cr_assert(variable < 8 && (*name == 'l' || *name == 'r'), "%.120s", line);
    for (int64_t l = 0; l < 32; l++) {
        struct text_index r = {t->kernel, index, l};
        (*name == 'l' ? t->left : t->right)[next][variable].at[l / 8][l % 8] = text_index_value(&r);
        cr_assert_eq(*r.at, ']', "%.120s", line);
    }
    matrix_check_banks(&(*name == 'l' ? t->left : t->right)[next][variable]);
}

/* The element of row i and column j of a matrix that ldmatrix has loaded. */
static int64_t matrix_element(const struct matrix_rows *r, int q, int64_t i, int64_t j, bool transposed)
{
    return transposed ? r->at[q][j] + i : r->at[q][i] + j;
}

/* c[row][column] = sum over k of a[row][k] * b[k][column] with the matrices of the text, against what the
 * loop program multiplies for the result `name` of work-item (row % 8, column / 2). */
static void matrix_check_result(struct cg_program *p, const struct cg_matrix *m, const struct matrix_text *t,
                                int64_t left, int64_t right, unsigned pair, int64_t first_step,
                                const char *name, int result)
{
    bool m_left = p->bb->insts[m->left.load].logicals[0] == p->bb->insts[m->step].logicals[0];
    unsigned m_register, n_register;
    cr_assert_eq(sscanf(name, "mad_%u_%u", &m_register, &n_register), 2, "%s", name);
    int64_t l = m_left ? m_register : n_register, r = m_left ? n_register : m_register;
    for (int64_t item = 0; item < 32; item++)
        for (int64_t k = 0; k < 16; k++) {
            int64_t row = item / 4 + 8 * (result / 2), column = 2 * (item % 4) + result % 2;
            int64_t a = matrix_element(&t->left[first_step / 16 % 2][left], (int)(row / 8 + 2 * (k / 8)),
                                       row % 8, k % 8, m->left.transposed),
                    b = matrix_element(&t->right[first_step / 16 % 2][right], (int)(2 * pair + k / 8), column,
                                       k % 8, false);
            cr_assert_eq(a, t->of_left->at[item / 4][l][first_step + k]);
            cr_assert_eq(b, t->of_right->at[item % 4][r][first_step + k]);
        }
}

static void matrix_check_product(struct cg_program *p, const struct cg_matrix *m, const struct matrix_text *t,
                                 int64_t first_step, const char *line)
{
    char names[4][16], variables[3][32], members[2];
    cr_assert_eq(
        sscanf(line,
               "thresh_multiply(%15[a-z0-9_], %15[a-z0-9_], %15[a-z0-9_], %15[a-z0-9_], %31[a-z0-9_], "
               "%31[a-z0-9_].%c, %31[a-z0-9_].%c);",
               names[0], names[1], names[2], names[3], variables[0], variables[1], &members[0], variables[2],
               &members[1]),
        9, "%.120s", line);
    cr_assert_str_eq(variables[1], variables[2]);
    cr_assert((members[0] == 'x' && members[1] == 'y') || (members[0] == 'z' && members[1] == 'w'));
    const char *left = variables[0], *right = variables[1];
    bool next = first_step / 16 % 2;
    cr_assert(matrix_is_next(&left) == next && matrix_is_next(&right) == next && *left == 'l' &&
              *right == 'r');
    for (int i = 0; i < 4; i++)
        matrix_check_result(p, m, t, strtoll(left + 1, NULL, 10), strtoll(right + 1, NULL, 10),
                            members[0] == 'z', first_step, names[i], i);
}

/* Each product of the first iteration; the loads of 16 steps come before their products, and after those of
 * steps whose names they have. */
static void matrix_check_text(const char *kernel, unsigned shape)
{
    struct contenders c = matrix_open(kernel, "M=256,N=256,K=128");
    const char *why = "";
    struct cg_program *p = matrix_build(&c, shape, &why);
    cr_assert(p, "%s", why);
    const struct cg_matrix *m = matrix_find(p);
    struct cg_kernel k;
    cg_emit(p, &k);
    struct matrix_text t = {.kernel = k.source,
                            .of_left = matrix_list(&c, p, m, &m->left),
                            .of_right = matrix_list(&c, p, m, &m->right)};
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
    matrix_check_text("half_matmul", 1);
    matrix_check_text("half_matmul", 3);
    matrix_check_text(matrix_of_rows, 4);
    matrix_check_text(matrix_of_columns, 2);
}

/* Where the loop program stores the result of a work-item, in registers j (rows) and i (columns). */
static int64_t matrix_stored(const struct cg_program *p, const struct cg_node *columns, int64_t *digits,
                             int64_t item, int64_t j, int64_t i)
{
    for (unsigned v = 0; v < p->n_nodes; v++) {
        const struct cg_node *n = p->nodes[v];
        if (n->type == CG_DIM && n->kind == BB_THREAD) digits[n->id] = item / n->inner % n->size;
    }
    digits[columns->id] = i;
    digits[columns->parent->id] = j;
    return index_eval(p->access[columns->children[0]->statement].offset, digits);
}

/* Lane n of 8 gets the element n of all of them: the one that it was given as argument n. */
static void matrix_check_exchange(const struct contenders *c, const struct cg_program *p,
                                  const struct cg_node *columns, const char *kernel, const char *line)
{
    int64_t j[8], i[8], *digits = ARENA_ARRAY(c->arena, int64_t, cg_variables(p));
    const char *value = strstr(line, "thresh_exchange(");
    for (int v = 0; v < 8; v++) {
        long long row, column;
        value = strstr(value + 1, "compute_");
        cr_assert_eq(sscanf(value, "compute_%lld_%lld", &row, &column), 2, "%.200s", line);
        j[v] = row;
        i[v] = column;
    }
    for (int64_t item = 0; item < 128; item++) {
        struct text_index r = {kernel, strchr(line, '[') + 1, item};
        int64_t first = text_index_value(&r), lane = item / 4 % 8;
        for (int64_t v = 0; v < 8; v++)
            cr_assert_eq(first + v,
                         matrix_stored(p, columns, digits, item - 4 * lane + 4 * v, j[lane], i[lane]));
    }
}

/* Each result is stored once. */
static void matrix_check_stores(const char *kernel, unsigned shape, int64_t exchanges)
{
    struct contenders c = matrix_open(kernel, "M=256,N=256,K=128");
    const char *why = "";
    struct cg_program *p = matrix_build(&c, shape, &why);
    cr_assert(p, "%s", why);
    const struct cg_node *columns = NULL;
    for (unsigned v = 0; v < p->n_nodes; v++)
        if (p->nodes[v]->exchange) columns = p->nodes[v];
    struct cg_kernel k;
    cg_emit(p, &k);
    int64_t found = 0;
    for (const char *at = strstr(k.source, "__kernel"); (at = strstr(at, "(__global uint4 *)&out["));
         at++, found++)
        matrix_check_exchange(&c, p, columns, k.source, at);
    cr_expect_eq(found, exchanges, "%s %u: %lld", kernel, shape, (long long)found);
    if (exchanges) cr_expect(!strstr(k.source, "] = compute_"));
    cg_kernel_free(&k);
    contenders_close(&c);
}

Test(matrix, neighbours_exchange_what_they_store)
{
    matrix_check_stores("half_matmul", 0, 16);
    matrix_check_stores("half_matmul", 1, 0);  /* 4 columns a work-item */
    matrix_check_stores(matrix_of_rows, 2, 0); /* results are float */
}

/* What is lowered of random implementations: leaves; no bundle is beyond an extent in part. */
static unsigned matrix_descend(const char *sizes, const char *pin, unsigned descents, unsigned *leaves)
{
    const struct kernel_case kernel = {"half_matmul", sizes};
    const struct cg_target target = cg_target_of(&matrix_device);
    const char *const pins[] = {"matrix(*)=YES", pin};
    struct kernel_fixture f;
    kernel_open(&f, &kernel, &matrix_device, NULL);
    struct space_state *root = space_pinned_root(f.space, pins, pin ? 2 : 1, f.diag);
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
    unsigned leaves = 0, lowered = matrix_descend("M=128,N=128,K=64", NULL, DESCENTS, &leaves);
    cr_expect_geq(leaves, LEAVES, "%u leaves", leaves);
    cr_expect_eq(lowered, leaves, "%u of %u leaves", lowered, leaves);
}

Test(matrix, random_copies_in_the_background, .timeout = 200)
{
    unsigned leaves = 0, lowered = matrix_descend("M=256,N=256,K=128", "transfer(*)=DIRECT", 120, &leaves);
    cr_expect_geq(leaves, 30, "%u leaves", leaves);
    cr_expect_eq(lowered, leaves, "%u of %u leaves", lowered, leaves);
}

/* Of 232 rows and columns, rounded up, some lanes of a bundle would be beyond: a condition around a part of a
 * bundle.
 */
Test(matrix, bundles_are_within_rounded_extents, .timeout = 200)
{
    unsigned leaves = 0, lowered = matrix_descend("M=232,N=232,K=48", NULL, 60, &leaves);
    cr_expect_gt(lowered, 0);
    cr_expect_lt(lowered, leaves, "all of %u leaves", leaves);
}

/* The text of a plain implementation contains these, to NULL, in that order. */
static void matrix_expect(unsigned shape, const char *const *texts)
{
    struct contenders c = matrix_open("half_matmul", "M=256,N=256,K=128");
    const char *why = "";
    struct cg_program *p = matrix_build(&c, shape, &why);
    cr_assert(p, "%s", why);
    struct cg_kernel k;
    cg_emit(p, &k);
    for (const char *at = k.source; *texts; texts++) {
        at = strstr(at, *texts);
        cr_assert(at, "%s is not there", *texts);
    }
    cr_expect(!strstr(k.source, "ushort8"));
    cg_kernel_free(&k);
    contenders_close(&c);
}

/* Half numbers are copied as words, in a condition (stages.c). */
Test(matrix, copies_through_registers)
{
    matrix_expect(2, (const char *const[]){"for (int k0 = 0; k0 < 4; ++k0) {", "if (k0 < 3) {",
                                           "A_copy_load_0 = *(const __global uint4 *)&A[", "thresh_multiply(",
                                           "if (k0 < 3) {", " = B_copy_load_3;", "barrier(", NULL});
}

/* Two iterations are copied before the loop; each iteration ends those that it has started, and waits for
 * those of the next one behind the arithmetic. */
Test(matrix, copies_in_the_background)
{
    matrix_expect(
        0, (const char *const[]){"A_tile[12288]", "thresh_source A_copy_load_0", "thresh_copies_end();",
                                 "thresh_copies_end();", "thresh_copies_wait(1);", "barrier(",
                                 "for (int k0 = 0; k0 < 4; ++k0) {", "if (k0 < 2) {",
                                 "const int k0_next = k0 + 2;", "A_copy_load_0 = (const __global uint4 *)&A[",
                                 "thresh_copy((__local uint4 *)&A_tile[", "}\n        thresh_copies_end();",
                                 "thresh_multiply(", "thresh_copies_wait(1);", "barrier(", NULL});
}
