/* Rows of results by groups (core/backbone/rows.h): which programs have them, what they become, and that they
 * compute the same. */
#include <criterion/criterion.h>

#include "core/backbone/rows.h"
#include "tests/codegen/contenders.h"

static const char rows[] = "sums shared by"; /* in labels */

static void rows_count(const char *kernel, const char *sizes, const struct bb_device *device, unsigned n)
{
    contenders_count(bb_rows, kernel, sizes, device, NULL, n);
}

static void rows_check(const char *kernel, const char *sizes, unsigned n)
{
    struct contenders c = contenders_open(kernel, sizes, &contenders_gpu, rows);
    contenders_interpret_within(&c, n, 1e-4);
    contenders_close(&c);
}

Test(rows, of_a_gpu)
{
    struct bb_device narrow = contenders_gpu;
    narrow.local_bytes = 6144;
    rows_count("attention", "N=256,M=256,D=64", &contenders_gpu, 8);
    rows_count("attention", "N=256,M=256,D=64", &narrow, 6); /* four rows of scores are 4 KiB */
    rows_count("attention", "N=256,M=256,D=64", &contenders_cpu, 0);
    rows_count("attention", "N=257,M=256,D=64", &contenders_gpu, 3); /* no pairs of queries */
    rows_count("attention", "N=2,M=256,D=64", &contenders_gpu, 3);   /* one group would have all */
    rows_count("attention", "N=64,M=64,D=2048", &contenders_gpu, 0); /* more columns than work-items */
    rows_count("attention", "N=256,M=257,D=64", &contenders_gpu, 0); /* no work-items share 257 keys */
    rows_count("matmul_chain", "M=256,N=256,K=64,L=64", &contenders_gpu, 8);
    rows_count("matmul", "M=256,N=256,K=64", &contenders_gpu, 0); /* keeps nothing */
    rows_count("softmax", "M=256,N=256", &contenders_gpu, 0);     /* its results are no sums */
    rows_count("kmeans", "N=256,K=64,D=64", &contenders_gpu, 0);
}

Test(rows, of_attention)
{
    static const char *const texts[] = {
        "block0 128: scores.take.n.0",
        "vector 4: scores.copy.Q.load.d_2.1",
        "thread1 4: scores.copy.K.load.m.0",
        "thread0 64: scores.copy.K.load.m.1",
        "vector 4: scores.copy.K.load.d_2.1",
        "unroll 2: scores.copy.store.n.0",
        "thread0 64: red.m_2.1",
        "combine red",
        "thread0 64: V.load.d.0",
        "thread1 4: V.load.m.1",
        "unroll 64: V.load.m.0",
        "combine mad_4",
        NULL,
    };
    struct contenders c = contenders_open("attention", "N=256,M=256,D=64", &contenders_gpu,
                                          "per 2 rows, sums shared by 4, 1 column");
    contenders_expect(&c, "plain: one group of 256 per 2 rows, sums shared by 4, 1 column at once", texts);
    contenders_close(&c);
}

/* Reductions of a query are not repeated in the loop over the keys. */
Test(rows, of_many_keys)
{
    static const char *const texts[] = {"combine red", "combine red_2", "loop 32: ", "unroll 64: ", NULL};
    struct contenders c = contenders_open("attention", "N=256,M=2048,D=64", &contenders_gpu, "per 1 row, ");
    contenders_expect(&c, "plain: one group of 64 per 1 row, sums shared by 1, 1 column at once", texts);
    contenders_close(&c);
}

Test(rows, compute_the_same)
{
    rows_check("attention", "N=4,M=32,D=8", 6);
    rows_check("attention", "N=4,M=254,D=16", 6); /* a loop around unrolled steps */
    rows_check("attention", "N=12,M=64,D=16", 8); /* four work-items share a sum */
    rows_check("attention", "N=3,M=39,D=13", 1);  /* no vectors */
    rows_check("attention", "N=4,M=576,D=8", 6);  /* loops of work-items */
    rows_check("matmul_chain", "M=8,N=32,K=16,L=24", 8);
}
