/* Products whose sums groups divide (core/backbone/divided.h): which programs have them, what they become,
 * and that they compute the same. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "core/backbone/divided.h"
#include "tests/codegen/contenders.h"

static const char divided[] = "sums divided"; /* in labels */

static struct bb_device gpu(void)
{
    struct bb_device device = contenders_gpu;
    device.device_fence = true;
    return device;
}

static void divided_count(const char *kernel, const char *sizes, unsigned n)
{
    struct bb_device device = gpu();
    contenders_count(bb_divided, kernel, sizes, &device, NULL, n);
}

static void divided_count_on(const struct bb_device *device, unsigned n)
{
    contenders_count(bb_divided, "matmul", "M=512,N=512,K=4096", device, NULL, n);
}

static void divided_interpret(const char *kernel, const char *sizes, unsigned n)
{
    struct bb_device device = gpu();
    struct contenders c = contenders_open(kernel, sizes, &device, divided);
    contenders_interpret(&c, n);
    contenders_close(&c);
}

/* How many shapes fit: two want more than one part for small tiles of few results alone. */
Test(divided, products_with_few_results)
{
    divided_count("matmul", "M=256,N=64,K=4096", BB_MAX_DIVIDED);
    divided_count("matmul", "M=512,N=512,K=4096", 4);
    divided_count("matmul", "M=4096,N=64,K=4096", 4);
    divided_count("matmul", "M=64,N=64,K=16384", 5); /* no 128 rows */
    divided_count("matmul", "M=1024,N=1024,K=4096", 2);
    divided_count("matmul_strided", "M=512,N=512,K=4096", 4);
    divided_count("gemm", "M=512,N=512,K=1024", 4);
    divided_count("matmul", "M=192,N=192,K=4096", 5);
    divided_count("matmul", "M=512,N=96,K=4096", 1);     /* tiles of 32 x 32 */
    divided_count("matmul", "M=2048,N=1024,K=16384", 0); /* enough tiles */
    divided_count("matmul", "M=512,N=512,K=4100", 0);
    divided_count("batched_matmul", "P=2,M=512,N=512,K=1024", 0);
    divided_count("gemv", "M=512,N=4096", 0);
    divided_count("softmax", "M=512,N=4096", 0);
}

/* Sums that are too short for the parts to pay, or for an iteration of each part. */
Test(divided, short_sums)
{
    divided_count("matmul", "M=512,N=512,K=1024", 4);
    divided_count("matmul", "M=512,N=512,K=512", 0);
    divided_count("matmul", "M=256,N=256,K=128", 5); /* 64 steps are one iteration of two parts */
    divided_count("matmul", "M=256,N=256,K=64", 2);
    divided_count("matmul", "M=256,N=256,K=32", 0);
}

Test(divided, devices)
{
    struct bb_device cpu = gpu(), small = gpu(), narrow = gpu();
    cpu.gpu = false;
    small.max_work_group = 128;
    narrow.local_bytes = 26000; /* 32 steps of 32 x 64 are 26,624 bytes */
    divided_count_on(&cpu, 0);
    divided_count_on(&contenders_gpu, 0); /* no fence */
    divided_count_on(&small, 3);          /* no 256 work-items */
    divided_count_on(&narrow, 2);
}

Test(divided, loops)
{
    struct bb_device device = gpu();
    struct contenders c = contenders_open("matmul", "M=512,N=512,K=4096", &device, divided);
    contenders_expect(
        &c, "plain: groups of 128 x 64 results, 8 x 4 each, sums divided by 8 groups, 16 steps staged ahead",
        (const char *const[]){"block2 8: A.load.k.0", "first A.load.k.1:", "loop 32: A.load.k.1",
                              "next A.load.k.1:", "unroll 16: A.load.k.2", "vector 4: mad.n.2", "combine mad",
                              NULL});
    contenders_close(&c);
}

Test(divided, results)
{
    /* Two shapes are the same where short sums have few parts. */
    divided_interpret("matmul", "M=64,N=64,K=512", 4); /* one tile */
    divided_interpret("matmul", "M=128,N=64,K=256", 5);
    divided_interpret("matmul", "M=64,N=128,K=256", 4);
    divided_interpret("matmul_strided", "M=128,N=64,K=256", 5);
}
