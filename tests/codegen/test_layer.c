/* Layers of convolutions (core/backbone/layer.h): which programs have them, what they become, and that they
 * compute the same. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/backbone/layer.h"
#include "tests/codegen/contenders.h"

static const char layers[] = "of a layer"; /* in labels */

static void layer_count(const char *kernel, const char *sizes, const struct bb_device *device, unsigned n)
{
    contenders_count(bb_layers, kernel, sizes, device, NULL, n);
}

static void layer_expect(const char *sizes, const char *label, const char *whole_label,
                         const char *const *texts)
{
    struct contenders c = contenders_open("convolution", sizes, &contenders_gpu, label);
    contenders_expect(&c, whole_label, texts);
    contenders_close(&c);
}

/* The space and the code generator have all of them. */
static void layer_accepted(const char *kernel, const char *sizes, unsigned n)
{
    struct contenders c = contenders_open(kernel, sizes, &contenders_gpu, layers);
    cr_expect_eq(c.n, n, "%s: %u", sizes, c.n);
    contenders_close(&c);
}

static void layer_check(const char *kernel, const char *sizes, unsigned n)
{
    struct contenders c = contenders_open(kernel, sizes, &contenders_gpu, layers);
    contenders_interpret(&c, n);
    contenders_close(&c);
}

Test(layer, of_a_gpu)
{
    struct bb_device cpu = contenders_gpu, small = contenders_gpu, narrow = contenders_gpu;
    cpu.gpu = false;
    small.max_work_group = 512;
    narrow.local_bytes = 32768;
    layer_count("convolution", "B=1,O=256,C=256,H=14,W=14", &contenders_gpu, 8);
    layer_count("convolution", "B=1,O=256,C=256,H=14,W=14", &narrow, 5); /* 36 KiB of kernels */
    layer_count("convolution", "B=1,O=256,C=256,H=56,W=56", &contenders_gpu, 6);
    layer_count("convolution", "B=1,O=256,C=256,H=56,W=56", &small, 5);
    layer_count("convolution", "B=1,O=64,C=3,H=224,W=224", &contenders_gpu, 2);  /* no channels to share */
    layer_count("convolution", "B=1,O=64,C=64,H=224,W=224", &contenders_gpu, 2); /* results enough */
    layer_count("convolution_strided", "O=128,C=128,H=56,W=56", &contenders_gpu, 9);
    layer_count("convolution", "B=1,O=256,C=256,H=53,W=53", &contenders_gpu, 0); /* of 53 rows no part */
    layer_count("convolution", "B=1,O=256,C=256,H=56,W=56", &cpu, 0);
    layer_count("convolution_depthwise", "C=64,H=56,W=56", &contenders_gpu, 0);
    layer_count("matmul", "M=512,N=512,K=512", &contenders_gpu, 0);
    layer_count("stencil_9point", "H=64,W=64", &contenders_gpu, 0);
}

Test(layer, the_space_has_them)
{
    layer_accepted("convolution", "B=1,O=256,C=256,H=56,W=56", 6);
    layer_accepted("convolution", "B=1,O=64,C=3,H=224,W=224", 2);
    layer_accepted("convolution", "B=8,O=128,C=128,H=28,W=28", 9);
    layer_accepted("convolution", "B=1,O=64,C=64,H=64,W=512", 2); /* two groups a row */
    layer_accepted("convolution", "B=2,O=64,C=64,H=64,W=512", 0); /* groups have three axes */
    layer_accepted("convolution_strided", "O=128,C=128,H=56,W=56", 9);
}

Test(layer, share_their_channels)
{
    static const char *const expected[] = {
        "block2 2: ",   "block1 64: ", "thread0 14: ", "loop 16: x.load.c.0 kernels.load.c.0 mad.c.0",
        "thread1 32: ", "unroll 3: ",  "unroll 4: ",   NULL};
    layer_expect("B=2,O=256,C=1024,H=14,W=14", layers,
                 "plain: one work-item per 4 x 7 results of a layer, sums shared by 32, 2 channels at a time",
                 expected);
}

/* Seven rows, of which four are in a group: of eight it would be one. */
Test(layer, fill_their_groups)
{
    static const char *const expected[] = {
        "block0 2: ", "thread1 4: ", "thread0 56: ", "loop 64: ", "unroll 7: ", NULL};
    layer_expect("B=1,O=256,C=256,H=56,W=56", "kernels staged, sums shared by 4, 1 channel",
                 "plain: one work-item per 4 x 7 results of a layer, kernels staged, sums shared by 4, 1 "
                 "channel at a time",
                 expected);
}

Test(layer, stage_their_kernels)
{
    struct contenders c =
        contenders_open("convolution", "B=1,O=256,C=256,H=56,W=56", &contenders_gpu, "kernels staged");
    char *loops = contenders_loops(&c, c.first);
    const char *copy = strstr(loops, "thread0 32: kernels.copy.load.c.1"),
               *loop = strstr(loops, "loop 32: x.load.c.0 kernels.load.c.0 mad.c.0"),
               *vector = strstr(loops, "vector 4: kernels.load.o.1");
    cr_assert(copy && loop && vector, "%s", loops);
    cr_expect(copy < loop && loop < vector, "%s", loops);
    free(loops);
    contenders_close(&c);
}

Test(layer, results)
{
    layer_check("convolution", "B=1,O=16,C=128,H=8,W=2", 9);
    layer_check("convolution", "B=2,O=16,C=128,H=7,W=2", 7);
    layer_check("convolution_strided", "O=16,C=128,H=8,W=4", 9);
}

/* Of all the text for one with and one without staged kernels, and one with shared sums. */
static void layer_run(const char *sizes, const char *label, unsigned n)
{
    struct contenders c = contenders_open("convolution", sizes, &contenders_gpu, label);
    contenders_check(&c, n);
    contenders_close(&c);
}

Test(layer, texts)
{
    layer_run("B=2,O=16,C=3,H=8,W=8", layers, 2);
    layer_run("B=1,O=16,C=32,H=8,W=8", "kernels staged, sums shared by 4, 1 channel", 1);
}

/* ---- other windows ---- */

static const char layer_pointwise[] =
    "size O, C, H, W\n"
    "input x: [[[float]W]H]C\n"
    "input kernels: [[float]C]O\n"
    "output map(fun k -> map2(fun w -> dot(w, k), transpose(map(transpose, transpose(x)))), kernels)\n";

/* Kernels of 1 x 1: there are no windows. */
Test(layer, pointwise)
{
    layer_check(layer_pointwise, "O=16,C=256,H=8,W=8", 9);
}

#define LAYER_OF_WINDOWS(side, border)                                                                       \
    "size O, C, H, W\n"                                                                                      \
    "input x: [[[float]W]H]C\n"                                                                              \
    "input kernels: [[[[float]" side "]" side "]C]O\n"                                                       \
    "fun flat(a) = join(join(a))\n"                                                                          \
    "fun windows(image) = map(transpose, transpose(map(fun channel ->\n"                                     \
    "    slide2(" side ", 1, padConstant2(" border ", " border ", 0.0, channel)), image)))\n"                \
    "output map(fun k -> map2(fun w -> dot(flat(w), flat(k)), windows(x)), kernels)\n"

/* The text has no more copies of a sum than the space allows: one side of the window is a loop. Channels are
 * fewer than the sides are long. */
Test(layer, large_windows)
{
    layer_check(LAYER_OF_WINDOWS("5", "2"), "O=16,C=16,H=8,W=4", 6);
    layer_check(LAYER_OF_WINDOWS("7", "3"), "O=16,C=4,H=8,W=4", 3);
    layer_check(LAYER_OF_WINDOWS("11", "5"), "O=16,C=3,H=8,W=4", 2);
}

/* With one level for each dimension of a copy it cannot be divided among work-items: nothing is staged. */
Test(layer, copies_without_levels)
{
    const struct bb_options options = {.copy_levels = 1};
    contenders_count(bb_layers, "convolution", "B=1,O=16,C=128,H=8,W=4", &contenders_gpu, &options, 5);
}
