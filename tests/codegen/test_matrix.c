/* Products of half numbers in matrices (core/backbone/matrix.h, core/codegen/matrix.c): which programs have
 * them, that the loop program computes the product, and that the text's instructions give each work-item the
 * results that the loop program gives it. */
#include <criterion/criterion.h>
#include <string.h>

#include "core/backbone/matrix.h"
#include "core/base/arena.h"
#include "tests/codegen/matrices.h"
#include "tests/codegen/text_index.h"

/* B is transposed: its rows are along k. */
static const char matrix_of_rows[] =
    "size M, N, K\ninput A: [[half]K]M\ninput B: [[half]K]N\nfun product(a, b) = float(a) * float(b)\n"
    "output map(fun row -> map(fun column -> sum(map(product, zip(row, column))), B), A)\n";
/* A is transposed: neither has what the right matrix needs, so that the copy of A turns it. */
static const char matrix_of_columns[] =
    "size M, N, K\ninput A: [[half]M]K\ninput B: [[half]N]K\nfun product(a, b) = float(a) * float(b)\n"
    "output map(fun row -> map(fun column -> sum(map(product, zip(row, column))), transpose(B)), "
    "transpose(A))\n";

Test(matrix, products_of_half_numbers)
{
    struct bb_device without = matrix_device;
    without.matrix = false;
    matrix_count("half_matmul", "M=256,N=256,K=128", NULL, &matrix_device, BB_MAX_MATRIX);
    matrix_count("half_matmul", "M=128,N=192,K=128", NULL, &matrix_device, 1); /* 2 x 3 blocks of 64 x 64 */
    matrix_count("half_matmul", "M=250,N=256,K=128", NULL, &matrix_device, 0);
    matrix_count("half_matmul", "M=256,N=256,K=128", NULL, &without, 0);
    matrix_count(matrix_of_rows, "M=256,N=256,K=128", NULL, &matrix_device, BB_MAX_MATRIX);
    matrix_count(matrix_of_columns, "M=256,N=256,K=128", NULL, &matrix_device,
                 BB_MAX_MATRIX / 2); /* A is turned */
    matrix_count("half_gemv", "M=256,N=256", NULL, &matrix_device, 0);
    matrix_count("matmul", "M=256,N=256,K=128", NULL, &matrix_device, 0);
}

Test(matrix, loop_programs_compute_the_product)
{
    matrix_interpret("half_matmul", "M=128,N=128,K=96", NULL); /* in the background; through registers */
    matrix_interpret(matrix_of_columns, "M=128,N=128,K=64", NULL);
}

Test(matrix, work_items_have_the_results_of_the_loop_program)
{
    matrix_check_text("half_matmul", 0, NULL);
    matrix_check_text("half_matmul", 1, NULL);
    matrix_check_text("half_matmul", 3, NULL);
    matrix_check_text(matrix_of_rows, 4, NULL);
    matrix_check_text(matrix_of_columns, 2, NULL);
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
    struct contenders c = matrix_open(kernel, "M=256,N=256,K=128", NULL);
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

/* The code generator can write what the space has. */
Test(matrix, random_implementations, .timeout = 200)
{
    enum { DESCENTS = 60, LEAVES = 30 };
    unsigned leaves = 0, lowered = matrix_descend(&(struct kernel_case){"half_matmul", "M=128,N=128,K=64"},
                                                  NULL, MATRIX_PINS("matrix(*)=YES"), DESCENTS, &leaves);
    cr_expect_geq(leaves, LEAVES, "%u leaves", leaves);
    cr_expect_eq(lowered, leaves, "%u of %u leaves", lowered, leaves);
}

Test(matrix, random_copies_in_the_background, .timeout = 200)
{
    unsigned leaves = 0,
             lowered = matrix_descend(&(struct kernel_case){"half_matmul", "M=256,N=256,K=128"}, NULL,
                                      MATRIX_PINS("matrix(*)=YES", "transfer(*)=DIRECT"), 120, &leaves);
    cr_expect_geq(leaves, 30, "%u leaves", leaves);
    cr_expect_eq(lowered, leaves, "%u of %u leaves", lowered, leaves);
}

/* Of 232 rows and columns, rounded up, some lanes of a bundle would be beyond: a condition around a part of a
 * bundle.
 */
Test(matrix, bundles_are_within_rounded_extents, .timeout = 200)
{
    unsigned leaves = 0, lowered = matrix_descend(&(struct kernel_case){"half_matmul", "M=232,N=232,K=48"},
                                                  NULL, MATRIX_PINS("matrix(*)=YES"), 60, &leaves);
    cr_expect_gt(lowered, 0);
    cr_expect_lt(lowered, leaves, "all of %u leaves", leaves);
}

/* Half numbers are copied as words, in a condition (stages.c). */
Test(matrix, copies_through_registers)
{
    matrix_expect("half_matmul", NULL, 2,
                  (const char *const[]){"for (int k0 = 0; k0 < 4; ++k0) {", "if (k0 < 3) {",
                                        "A_copy_load_0 = *(const __global uint4 *)&A[", "thresh_multiply(",
                                        "if (k0 < 3) {", " = B_copy_load_3;", "barrier(", NULL});
}

/* Two iterations are copied before the loop; each iteration ends those that it has started, and waits for
 * those of the next one behind the arithmetic. */
Test(matrix, copies_in_the_background)
{
    matrix_expect(
        "half_matmul", NULL, 0,
        (const char *const[]){"A_tile[12288]", "thresh_source A_copy_load_0", "thresh_copies_end();",
                              "thresh_copies_end();", "thresh_copies_wait(1);", "barrier(",
                              "for (int k0 = 0; k0 < 4; ++k0) {", "if (k0 < 2) {",
                              "const int k0_next = k0 + 2;", "A_copy_load_0 = (const __global uint4 *)&A[",
                              "thresh_copy((__local uint4 *)&A_tile[", "}\n        thresh_copies_end();",
                              "thresh_multiply(", "thresh_copies_wait(1);", "barrier(", NULL});
}
