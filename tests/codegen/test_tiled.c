/* Products in tiles, in panels and in strips, transpositions (core/backbone/tiled.h, panel.h, strips.h,
 * transposed.h), and columns of stencils (plain.c): which programs have them, what they become, and that they
 * compute the same. Layers of convolutions are in test_layer.c. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/backbone/panel.h"
#include "core/backbone/strips.h"
#include "core/backbone/tiled.h"
#include "core/backbone/transposed.h"
#include "tests/codegen/contenders.h"
#include "tests/fixture/kernel.h"

static const char tiles[] = "loaded ahead", panels[] = "whole rows",
                  transposed[] = "transposed in local memory", packed[] = "packed columns",
                  in_place[] = "columns in place", columns[] = "in a column"; /* in labels */

static struct contenders tiled_open(const char *kernel, const char *sizes, const char *label)
{
    return contenders_open(kernel, sizes,
                           label == packed || label == in_place ? &contenders_cpu : &contenders_gpu, label);
}

static void tiled_expect(const char *kernel, const char *sizes, const char *label, const char *whole_label,
                         const char *const *texts)
{
    struct contenders c = tiled_open(kernel, sizes, label);
    contenders_expect(&c, whole_label, texts);
    contenders_close(&c);
}

/* ---- what there is ---- */

static void tiled_count(const char *kernel, const char *sizes, const struct bb_device *device, unsigned n)
{
    contenders_count(bb_tiled, kernel, sizes, device, NULL, n);
}

static void panel_count(const char *kernel, const char *sizes, const struct bb_device *device, unsigned n)
{
    contenders_count(bb_panels, kernel, sizes, device, NULL, n);
}

static void transposed_count(const char *kernel, const char *sizes, const struct bb_device *device,
                             unsigned n)
{
    contenders_count(bb_transposed, kernel, sizes, device, NULL, n);
}

static void strips_count(const char *kernel, const char *sizes, const struct bb_device *device, unsigned n)
{
    contenders_count(bb_strips, kernel, sizes, device, NULL, n);
}

/* The label of the third shape, 128 x 64 results. */
static void tiled_third(const char *kernel, const char *expected)
{
    const struct kernel_case c = {kernel, "M=512,N=512,K=512"};
    struct kernel_fixture f;
    struct bb_plain tiled[BB_MAX_TILED];
    kernel_open(&f, &c, &contenders_gpu, NULL);
    bb_tiled(f.bb, f.space, &contenders_gpu, f.arena, tiled);
    cr_expect(strncmp(tiled[2].label, expected, strlen(expected)) == 0, "%s: %s", kernel, tiled[2].label);
    kernel_close(&f);
}

/* A tile is longer along the dimension of the other operand, so that A, whose elements are apart, is loaded
 * fewer times. */
Test(tiled, elements_that_are_apart_are_loaded_fewer_times)
{
    tiled_third("matmul", "groups of 128 x 64 results");
    tiled_third("matmul_strided", "groups of 64 x 128 results");
}

Test(tiled, products_of_a_gpu)
{
    struct bb_device cpu = contenders_gpu, small = contenders_gpu;
    cpu.gpu = false;
    small.max_work_group = 256;
    tiled_count("matmul", "M=512,N=512,K=512", &contenders_gpu, BB_MAX_TILED);
    tiled_count("matmul", "M=509,N=509,K=509", &contenders_gpu, BB_MAX_TILED);
    tiled_count("gemm", "M=512,N=512,K=512", &contenders_gpu, BB_MAX_TILED);
    tiled_count("matmul_strided", "M=512,N=512,K=512", &contenders_gpu, BB_MAX_TILED);
    tiled_count("matmul", "M=512,N=512,K=512", &small, BB_MAX_TILED - 2);
    tiled_count("batched_matmul", "P=8,M=512,N=512,K=512", &contenders_gpu, BB_MAX_TILED);
    tiled_count("matmul", "M=1000,N=1000,K=1000", &contenders_gpu, BB_MAX_TILED);
    tiled_count("matmul", "M=512,N=8,K=512", &contenders_gpu, 0);
    tiled_count("matmul", "M=512,N=512,K=2", &contenders_gpu, 0);
    tiled_count("matmul", "M=512,N=512,K=512", &cpu, 0);
    tiled_count("gemv", "M=512,N=512", &contenders_gpu, 0);
    tiled_count("softmax", "M=512,N=512", &contenders_gpu, 0);
    tiled_count("convolution", "B=1,O=64,C=64,H=56,W=56", &contenders_gpu, 0);
    tiled_count("matmul_chain", "M=128,N=128,K=128,L=128", &contenders_gpu, 0);
}

Test(tiled, copies_of_the_next_tiles_around_the_arithmetic)
{
    struct contenders c = tiled_open("matmul", "M=512,N=512,K=512", tiles);
    cr_assert_str_eq(c.plain[1].label, "plain: groups of 128 x 128 results, tiles of 8 steps loaded ahead");
    char *loops = contenders_loops(&c, 1);
    const char *loop = strstr(loops, "loop 64: A.load.k.0 B.load.k.0 mad.k.0\n");
    cr_assert(loop, "%s", loops);
    const char *next = strstr(loop, "next A.load.k.0:\n"),
               *a = strstr(loop, "thread0 128: A.copy.load.m.0\n"),
               *b = strstr(loop, "thread0 8: B.copy.load.k.0\n"),
               *steps = strstr(loop, "unroll 8: A.load.k.1 B.load.k.1 mad.k.1\n"),
               *row = strstr(loop, "vector 4: mad.n.3\n"),
               *store = strstr(loop, "vector 4: B.copy.store.n.1\n");
    cr_assert(next && a && b && steps && row && store, "%s", loops);
    cr_expect(next < a && a < b && b < steps && steps < row && row < store, "%s", loops);
    free(loops);
    contenders_close(&c);
}

/* ---- what they compute ---- */

static void tiled_check(const char *kernel, const char *sizes, const char *label, unsigned n)
{
    struct contenders c = tiled_open(kernel, sizes, label);
    contenders_check(&c, n);
    contenders_close(&c);
}

Test(tiled, products)
{
    tiled_check("matmul", "M=512,N=256,K=32", tiles, BB_MAX_TILED);
}

Test(tiled, sizes_that_do_not_divide)
{
    tiled_check("matmul", "M=509,N=251,K=61", tiles, BB_MAX_TILED);
    tiled_check("matmul", "M=200,N=200,K=40", tiles, 2);
}

/* Rows of 1009 elements are not aligned: neighbouring work-items load neighbouring elements, no vectors. */
Test(tiled, elements_of_unaligned_rows)
{
    struct contenders c = tiled_open("matmul", "M=1009,N=1009,K=1009", tiles);
    cr_assert_eq(c.n, BB_MAX_TILED);
    char *loops = contenders_loops(&c, 3);
    cr_expect(strstr(loops, "thread0 64: B.copy.load.n.0\n") &&
                  strstr(loops, "thread0 16 fused: A.copy.load.k.0\n"),
              "%s", loops);
    cr_expect(!strstr(loops, "vector 4: A.copy.load") && !strstr(loops, "vector 4: B.copy.load"), "%s",
              loops);
    free(loops);
    contenders_close(&c);
}

Test(tiled, an_operand_without_neighbours)
{
    tiled_check("matmul_strided", "M=512,N=256,K=32", tiles, BB_MAX_TILED);
}

Test(tiled, a_batch_of_products)
{
    tiled_check("batched_matmul", "P=2,M=128,N=128,K=32", tiles, 3);
}

/* ---- panels ---- */

Test(tiled, panels_of_a_gpu)
{
    struct bb_device cpu = contenders_gpu, small = contenders_gpu, narrow = contenders_gpu;
    cpu.gpu = false;
    small.max_work_group = 512;
    narrow.local_bytes = 32768;
    panel_count("matmul", "M=1024,N=1024,K=1024", &contenders_gpu, BB_MAX_PANELS);
    panel_count("matmul_strided", "M=1024,N=1024,K=1024", &contenders_gpu, BB_MAX_PANELS);
    panel_count("gemm", "M=512,N=512,K=512", &contenders_gpu, BB_MAX_PANELS);
    panel_count("matmul", "M=1024,N=1024,K=1024", &small, BB_MAX_PANELS - 1);
    panel_count("matmul", "M=1024,N=1024,K=1024", &narrow, 0); /* 40 KiB of A */
    panel_count("matmul", "M=1024,N=1024,K=1024", &cpu, 0);
    panel_count("matmul_strided", "M=512,N=2048,K=512", &contenders_gpu, BB_MAX_PANELS - 1);
    panel_count("matmul", "M=256,N=4096,K=512", &contenders_gpu, BB_MAX_PANELS - 2); /* no whole rows */
    panel_count("matmul", "M=1024,N=2048,K=512", &contenders_gpu, 0);                /* no sum is shared */
    panel_count("matmul", "M=1004,N=1024,K=1024", &contenders_gpu, 0);
    panel_count("matmul", "M=64,N=2,K=64", &contenders_gpu, 0);      /* less than a vector */
    panel_count("matmul", "M=1024,N=1024,K=16", &contenders_gpu, 0); /* fewer vectors of A than work-items */
    panel_count("batched_matmul", "P=2,M=512,N=512,K=512", &contenders_gpu, BB_MAX_PANELS);
    panel_count("gemv", "M=512,N=512", &contenders_gpu, 0);
}

Test(tiled, panels_stage_their_rows_once)
{
    struct contenders c = tiled_open("matmul", "M=1024,N=1024,K=1024", panels);
    char *loops = contenders_loops(&c, c.first);
    const char *copy = strstr(loops, "thread1 2: A.copy.load.m.1"),
               *loop = strstr(loops, "loop 16: A.load.k.0"), *steps = strstr(loops, "unroll 32: A.load.k.1");
    cr_assert(copy && loop && steps, "%s", loops);
    cr_expect(copy < loop && loop < steps, "%s", loops);
    free(loops);
    contenders_close(&c);
}

static void panel_interpret(const char *kernel, const char *sizes, unsigned n)
{
    struct contenders c = tiled_open(kernel, sizes, panels);
    contenders_interpret(&c, n);
    contenders_close(&c);
}

/* Fewer columns and steps where an extent is no multiple. */
Test(tiled, panels_fit_their_product)
{
    struct contenders c = tiled_open("matmul", "M=1000,N=1000,K=1000", panels);
    cr_assert_eq(c.n, BB_MAX_PANELS);
    cr_expect_str_eq(c.plain[c.first + 2].label,
                     "plain: groups of 8 x 200 results, whole rows staged, sums shared by 4 work-items");
    char *loops = contenders_loops(&c, c.first + 2);
    cr_expect(strstr(loops, "loop 10: A.load.k.0") && strstr(loops, "unroll 25: A.load.k.1"), "%s", loops);
    free(loops);
    contenders_close(&c);
}

Test(tiled, panels)
{
    panel_interpret("matmul", "M=24,N=64,K=64", 3);
    panel_interpret("matmul", "M=16,N=64,K=192", 4);  /* three vectors for each work-item */
    panel_interpret("matmul", "M=16,N=192,K=192", 5); /* three groups a row */
    panel_interpret("matmul_strided", "M=24,N=64,K=64", 3);
    panel_interpret("batched_matmul", "P=2,M=24,N=64,K=64", 3);
    tiled_check("matmul", "M=24,N=64,K=64", "whole rows staged, sums shared by 4", 1);
    tiled_check("matmul", "M=16,N=64,K=192", "whole rows staged, sums shared by 8", 1);
    tiled_check("matmul_strided", "M=24,N=64,K=64", "whole rows staged, sums shared by 8", 1);
}

/* ---- transpositions ---- */

Test(tiled, transpositions_of_a_gpu)
{
    struct bb_device cpu = contenders_gpu, small = contenders_gpu, narrow = contenders_gpu;
    cpu.gpu = false;
    small.max_work_group = 256;
    narrow.local_bytes = 16384; /* 64 x 65 floats are 16,640 bytes */
    transposed_count("transpose", "M=1024,N=512", &contenders_gpu, BB_MAX_TRANSPOSED);
    transposed_count("transpose", "M=1000,N=1000", &contenders_gpu, BB_MAX_TRANSPOSED);
    transposed_count("transpose", "M=1009,N=1001", &contenders_gpu, 1); /* no vectors */
    transposed_count("transpose", "M=1024,N=512", &small, BB_MAX_TRANSPOSED);
    transposed_count("transpose", "M=1024,N=512", &narrow, 0);
    transposed_count("transpose", "M=1024,N=512", &cpu, 0);
    transposed_count("transpose", "M=1024,N=8", &contenders_gpu, 0);
    transposed_count("transpose3_201", "I=8,J=128,K=128", &contenders_gpu, BB_MAX_TRANSPOSED);
    transposed_count("transpose3_210", "I=128,J=8,K=128", &contenders_gpu, BB_MAX_TRANSPOSED);
    transposed_count("bias_relu", "M=512,N=512", &contenders_gpu, 0); /* contiguous along the output's rows */
    transposed_count("axpy", "N=4096", &contenders_gpu, 0);
    transposed_count("gemv", "M=512,N=512", &contenders_gpu, 0);
}

/* Reads of A and writes of the output are vectors of neighbours; columns of the tile are read one by one. */
Test(tiled, transpositions_read_and_write_vectors)
{
    tiled_expect("transpose", "M=1024,N=512", transposed,
                 "plain: tiles of 64 x 64 transposed in local memory, vectors of 2",
                 (const char *const[]){"vector 2: A.copy.load.n.1", "unroll 2: A.copy.store.n.1",
                                       "unroll 2: A.load.m.2", "vector 2: store.m.2", NULL});
}

Test(tiled, transpositions)
{
    tiled_check("transpose", "M=128,N=256", transposed, BB_MAX_TRANSPOSED);
    tiled_check("transpose", "M=100,N=200", transposed, 2); /* tiles of 50: no vectors of 4 */
    tiled_check("transpose", "M=109,N=125", transposed, 1); /* beyond the edges: nothing */
    tiled_check("transpose3_201", "I=3,J=64,K=128", transposed, BB_MAX_TRANSPOSED);
    tiled_check("transpose3_210", "I=64,J=3,K=64", transposed, BB_MAX_TRANSPOSED);
}

/* Other arrays are read as they are, and all that are across the output's rows are staged. */
Test(tiled, transpositions_with_other_arrays)
{
    tiled_check("size M, N\ninput A: [[float]N]M\ninput B: [[float]M]N\n"
                "output map(fun (a, b) -> map(fun (x, y) -> x + y, zip(a, b)), zip(transpose(A), B))\n",
                "M=128,N=128", transposed, BB_MAX_TRANSPOSED);
    tiled_check(
        "size M, N\ninput A: [[float]N]M\ninput B: [[float]N]M\n"
        "output map(fun (a, b) -> map(fun (x, y) -> x * y, zip(a, b)), zip(transpose(A), transpose(B)))\n",
        "M=128,N=128", transposed, BB_MAX_TRANSPOSED);
    tiled_check("size M, N\ninput A: [[float]N]M\ninput b: [float]N\n"
                "output map(fun (a, y) -> map(fun x -> x + y, a), zip(transpose(A), b))\n",
                "M=128,N=128", transposed, BB_MAX_TRANSPOSED);
}

/* The transposed rows of the array itself: they have a tile of their own. */
Test(tiled, transpositions_of_an_array_that_is_read_in_order_too)
{
    tiled_check("size N\ninput A: [[float]N]N\n"
                "output map(fun (a, b) -> map(fun (x, y) -> x + y, zip(a, b)), zip(A, transpose(A)))\n",
                "N=128", transposed, BB_MAX_TRANSPOSED);
}

/* Rows that begin one element after an aligned one have no vectors; a window is contiguous along both of its
 * dimensions. */
Test(tiled, transpositions_of_views)
{
    tiled_check("size M, N\ninput A: [[float]N]M\noutput transpose(map(tail, A))\n", "M=128,N=129",
                transposed, 1);
    transposed_count("size N\ninput x: [float]N\noutput slide(128, 1, x)\n", "N=4223", &contenders_gpu, 0);
}

/* ---- strips of columns ---- */

Test(tiled, strips_of_products_of_a_cpu)
{
    struct bb_device narrow = contenders_cpu;
    narrow.local_bytes = 16384; /* 16 columns of 512 floats are 32,768 bytes */
    strips_count("matmul", "M=512,N=512,K=512", &contenders_cpu, BB_MAX_STRIPS);
    strips_count("matmul", "M=1000,N=1000,K=1000", &contenders_cpu, 3); /* no 4 x 4 vectors */
    strips_count("matmul", "M=64,N=64,K=64", &contenders_cpu, 3);       /* one strip of 64 */
    strips_count("gemm", "M=512,N=512,K=512", &contenders_cpu, BB_MAX_STRIPS);
    strips_count("matmul_strided", "M=512,N=512,K=512", &contenders_cpu, BB_MAX_STRIPS);
    strips_count("matmul", "M=512,N=512,K=512", &narrow, 2);         /* in place */
    strips_count("matmul", "M=512,N=512,K=512", &contenders_gpu, 0); /* a GPU */
    strips_count("matmul", "M=136,N=512,K=512", &contenders_cpu, 3); /* groups of 68 rows; none of 8 * n */
    strips_count("matmul", "M=509,N=512,K=512", &contenders_cpu, 0);
    strips_count("matmul", "M=512,N=509,K=512", &contenders_cpu, 0);
    strips_count("matmul", "M=512,N=512,K=510", &contenders_cpu, BB_MAX_STRIPS); /* two steps */
    strips_count("matmul", "M=512,N=512,K=511", &contenders_cpu, 0);
    strips_count("batched_matmul", "P=8,M=512,N=512,K=512", &contenders_cpu, 0);
    strips_count("gemv", "M=512,N=512", &contenders_cpu, 0);
}

/* A group copies its strip of B once and reads it for all its rows. */
Test(tiled, packed_columns_around_rows_around_steps)
{
    tiled_expect("matmul", "M=512,N=512,K=512", packed,
                 "plain: groups of 256 rows, 8 x 32 results in registers, a strip of packed columns",
                 (const char *const[]){"loop 512: B.copy.load.k.0", "unroll 2: B.copy.load.n.0",
                                       "vector 16: B.copy.load.n.1", "loop 32: A.load.m.1",
                                       "loop 128: A.load.k.0", "unroll 4: A.load.k.1", NULL});
}

Test(tiled, packed_products)
{
    tiled_check("matmul", "M=64,N=96,K=64", packed, 3);
    tiled_check("matmul", "M=60,N=24,K=20", packed, 1); /* groups of 20 rows, vectors of 8 */
    tiled_check("matmul_strided", "M=64,N=64,K=32", packed, 2);
}

/* The strip of B is read for all rows of the group, two vectors at a time. */
Test(tiled, strips_in_place)
{
    tiled_expect("matmul", "M=512,N=512,K=512", in_place,
                 "plain: groups of 128 rows, 8 x 32 results in registers, columns in place",
                 (const char *const[]){"loop 16: B.load.n.0", "loop 16: A.load.m.1", "loop 128: A.load.k.0",
                                       "unroll 2: B.load.n.1", "vector 16: B.load.n.2", NULL});
    tiled_check("matmul", "M=64,N=128,K=64", in_place, 2);
    tiled_check("matmul_strided", "M=64,N=64,K=32", in_place, 1);
    tiled_check("matmul", "M=64,N=128,K=6", in_place, 2);
}

/* ---- columns of stencils ---- */

/* The windows of all results of a work-item are written out; neighbours in a row are neighbouring work-items.
 */
Test(tiled, columns_of_a_stencil)
{
    tiled_expect("stencil_27point", "D=256,H=256,W=256", columns,
                 "plain: one work-item per 2 x 8 results in a column",
                 (const char *const[]){"block1 128: ", "block0 32: ", "thread0 256: A_2.load.w.0",
                                       "unroll 3: A_2.load.i2.0", "unroll 8: A_2.load.h.1",
                                       "unroll 2: A_2.load.d.1", NULL});
    tiled_check("stencil_27point", "D=4,H=16,W=32", columns, 2);
    tiled_check("stencil_27point", "D=5,H=9,W=37", columns, 1); /* both have 1 x 3 results */
    tiled_check("stencil_5point", "H=24,W=512", columns, 2);
}

/* Of other reductions, of rows without windows and on a CPU there are none. */
Test(tiled, what_has_no_columns)
{
    tiled_check("convolution", "B=1,O=4,C=4,H=16,W=16", columns, 0);
    tiled_check("bias_relu", "M=16,N=64", columns, 0);
    tiled_check("stencil_3point", "N=64", columns, 0);
    struct contenders c = contenders_open("stencil_5point", "H=24,W=512", &contenders_cpu, columns);
    cr_expect_eq(c.n, 0);
    contenders_close(&c);
}
