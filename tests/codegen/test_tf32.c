/* Products of floats in matrices of TF32 (`--allow tf32`): which programs have them and when, the
 * instructions of the text, and that random implementations are lowered. tests/codegen/matrices.h has what is
 * common with half numbers (test_matrix.c). */
#include <criterion/criterion.h>
#include <string.h>

#include "core/backbone/matrix.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "coordinator/portrait.h"
#include "core/base/strbuf.h"
#include "perfmodel/bound.h"
#include "tests/codegen/matrices.h"

/* B is transposed: its rows are along k. */
static const char tf32_of_rows[] =
    "size M, N, K\ninput A: [[float]K]M\ninput B: [[float]K]N\n"
    "output map(fun row -> map(fun column -> sum(map(mult, zip(row, column))), B), A)\n";
/* A is transposed: neither has what the right matrix needs, so that the copy of A turns it. */
static const char tf32_of_columns[] =
    "size M, N, K\ninput A: [[float]M]K\ninput B: [[float]N]K\n"
    "output map(fun row -> map(fun column -> sum(map(mult, zip(row, column))), transpose(B)), "
    "transpose(A))\n";
static const char tf32_mixed[] =
    "size M, N, K\ninput A: [[float]K]M\ninput B: [[half]K]N\nfun product(a, b) = a * float(b)\n"
    "output map(fun row -> map(fun column -> sum(map(product, zip(row, column))), B), A)\n";

Test(matrix, products_of_floats_where_tf32_is_allowed)
{
    struct bb_device without = matrix_device;
    struct bb_options allowed = matrix_tf32();
    without.matrix = false;
    matrix_count("matmul", "M=256,N=256,K=128", &allowed, &matrix_device, BB_MAX_MATRIX);
    matrix_count("matmul", "M=256,N=256,K=128", NULL, &matrix_device, 0);
    matrix_count("matmul", "M=256,N=256,K=128", &allowed, &without, 0);
    matrix_count("matmul", "M=250,N=256,K=128", &allowed, &matrix_device, 0);
    matrix_count(tf32_of_rows, "M=256,N=256,K=128", &allowed, &matrix_device, BB_MAX_MATRIX);
    matrix_count(tf32_of_columns, "M=256,N=256,K=128", &allowed, &matrix_device, BB_MAX_MATRIX / 2);
    matrix_count(tf32_mixed, "M=256,N=256,K=128", &allowed, &matrix_device, 0);
    matrix_count("half_matmul", "M=256,N=256,K=128", &allowed, &matrix_device, BB_MAX_MATRIX);
}

/* The choice, the sizes of its steps, the rows of its tiles. */
static void tf32_has(const char *kernel, const struct bb_options *options, const char *pin, bool expected)
{
    const struct kernel_case c = {kernel, "M=256,N=256,K=128"};
    const char *const pins[] = {"matrix(*)=YES", pin};
    struct kernel_fixture f;
    kernel_open(&f, &c, &matrix_device, options);
    struct space_state *root = space_pinned_root(f.space, pins, 2, f.diag);
    cr_expect_eq(root != NULL, expected, "%s %s", kernel, pin);
    space_state_free(root);
    kernel_close(&f);
}

Test(matrix, choices_of_products_of_floats)
{
    struct bb_options allowed = matrix_tf32();
    tf32_has("matmul", NULL, "size(k.1)=16", false);
    tf32_has("matmul", &allowed, "size(k.1)=8", true);
    tf32_has("matmul", &allowed, "size(k.1)=32", true);
    tf32_has("matmul", &allowed, "size(k.1)=64", false);
    tf32_has("matmul", &allowed, "pad(A.tile)=2", false);
    tf32_has("matmul", &allowed, "pad(A.tile)=4", true);
    tf32_has("half_matmul", &allowed, "size(k.1)=8", false);
    tf32_has("half_matmul", &allowed, "size(k.1)=64", true);
    tf32_has("half_matmul", &allowed, "pad(A.tile)=4", false);
}

Test(matrix, loop_programs_of_tf32_compute_the_product)
{
    struct bb_options allowed = matrix_tf32();
    matrix_interpret("matmul", "M=128,N=128,K=48", &allowed); /* in the background; through registers */
    matrix_interpret(tf32_of_columns, "M=128,N=128,K=32", &allowed);
}

Test(matrix, work_items_have_the_results_of_tf32)
{
    struct bb_options allowed = matrix_tf32();
    matrix_check_text("matmul", 0, &allowed);
    matrix_check_text("matmul", 1, &allowed);
    matrix_check_text("matmul", 3, &allowed);
    matrix_check_text(tf32_of_rows, 4, &allowed);
    matrix_check_text(tf32_of_columns, 2, &allowed);
}

Test(matrix, random_implementations_of_tf32, .timeout = 200)
{
    const struct kernel_case kernel = {"matmul", "M=128,N=128,K=64"};
    struct bb_options allowed = matrix_tf32();
    unsigned leaves = 0,
             lowered = matrix_descend(&kernel, &allowed, MATRIX_PINS("matrix(*)=YES"), 60, &leaves);
    cr_expect_geq(leaves, 20, "%u leaves", leaves);
    cr_expect_eq(lowered, leaves, "%u of %u leaves", lowered, leaves);
}

Test(matrix, random_copies_of_floats_in_the_background, .timeout = 200)
{
    const struct kernel_case kernel = {"matmul", "M=256,N=256,K=128"};
    struct bb_options allowed = matrix_tf32();
    unsigned leaves = 0,
             lowered = matrix_descend(&kernel, &allowed, MATRIX_PINS("matrix(*)=YES", "transfer(*)=DIRECT"),
                                      120, &leaves);
    cr_expect_geq(leaves, 20, "%u leaves", leaves);
    cr_expect_eq(lowered, leaves, "%u of %u leaves", lowered, leaves);
}

/* Copies in the background are there for products that are not in matrices, too. */
Test(matrix, random_copies_in_the_background_of_other_products, .timeout = 200)
{
    const struct kernel_case kernel = {"matmul", "M=256,N=128,K=96"}, half = {"half_matmul", kernel.sizes};
    struct bb_options allowed = matrix_tf32();
    const char *const *pins = MATRIX_PINS("matrix(*)=NO", "transfer(*)=DIRECT");
    unsigned leaves = 0, lowered = matrix_descend(&kernel, &allowed, pins, 60, &leaves);
    lowered += matrix_descend(&half, NULL, pins, 60, &leaves);
    cr_expect_geq(leaves, 20, "%u leaves", leaves);
    cr_expect_eq(lowered, leaves, "%u of %u leaves", lowered, leaves);
}

/* What people read of it. */
Test(matrix, tf32_in_words)
{
    struct bb_options allowed = matrix_tf32();
    struct contenders c = matrix_open("matmul", "M=256,N=256,K=128", &allowed);
    struct space_state *leaf = contenders_leaf(&c, c.first);
    struct strbuf text = {0};
    json_t *portrait = portrait_json(c.problem, leaf);
    portrait_print(portrait, &text);
    cr_expect(strstr(text.text, "multiplied in matrices of TF32 by bundles of 32 work-items"), "%s",
              text.text);
    cr_expect(strstr(c.plain[c.first].label, " results in matrices of TF32, tiles of 16 steps copied in the "
                                             "background"));
    json_decref(portrait);
    strbuf_free(&text);
    space_state_free(leaf);
    contenders_close(&c);
}

/* Products in matrices are faster than the rate of single operations: nothing of it is in the bound. */
Test(matrix, bound_of_tf32)
{
    struct bb_options allowed = matrix_tf32();
    const struct bb_options *const options[] = {NULL, &allowed};
    const struct kernel_case c = {"matmul", "M=4096,N=4096,K=4096"};
    double ns[2];
    for (int i = 0; i < 2; i++) {
        struct diag *d = diag_new();
        struct kernel_fixture f;
        struct perfmodel_device dev;
        cr_assert(perfmodel_device_read("perfmodel/devices/nvidia-h200.json", &dev, d));
        kernel_open(&f, &c, &matrix_device, options[i]);
        struct perfmodel *m = perfmodel_new(f.bb, f.space, &dev);
        struct space_state *root = kernel_root(f.space);
        ns[i] = perfmodel_bound(m, root, NULL);
        space_state_free(root);
        perfmodel_free(m);
        kernel_close(&f);
        diag_free(d);
    }
    cr_expect_gt(ns[0], 2e6, "%g", ns[0]);   /* 67 TFLOP/s */
    cr_expect_lt(ns[1], 2.7e5, "%g", ns[1]); /* 495 TFLOP/s */
}

/* Through registers floats are vectors of the language; words of B are loaded one by one, and rounded. */
Test(matrix, text_of_tf32)
{
    struct bb_options allowed = matrix_tf32();
    matrix_expect("matmul", &allowed, 2,
                  (const char *const[]){"m16n8k8.row.col.f32.tf32.tf32.f32", "cvt.rna.tf32.f32",
                                        "A_copy_load_0 = *(const __global float4 *)&A[",
                                        "thresh_l0 = (uint4)(as_uint(B_tile[",
                                        "thresh_load_matrices(thresh_r0, ", "thresh_round(thresh_l0);",
                                        "thresh_multiply_tf32(", NULL});
    matrix_expect("matmul", &allowed, 0,
                  (const char *const[]){"B_tile[6144]", "thresh_source A_copy_load_0",
                                        "A_copy_load_0 = (const __global uint4 *)&A[",
                                        "thresh_copy((__local uint4 *)&A_tile[", "thresh_copies_wait(1);",
                                        "thresh_multiply_tf32(", NULL});
}
