/* Private regions: random leaves (descents.h) in which registers of a work-item hold a window, or what it has
 * computed. Where copies and their readers are, and what is left out of the text. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "core/codegen/program.h"
#include "tests/codegen/descents.h"
#include "tests/codegen/fixture.h"
#include "tests/fixture/kernel.h"
#include "tests/fixture/longer.h"

static void check_private(const char *text, const char *sizes, const char *value, unsigned usual)
{
    const struct descents d = {.text = text,
                               .sizes = sizes,
                               .local_bytes = 2048,
                               .staged = value,
                               .in_registers = true,
                               .descents = longer(usual, 20 * usual),
                               .compiled = longer(2, 12)};
    check_descents(&d);
}

Test(private, three_points_of_which_the_last_repeats)
{
    check_private("size N\ninput x: [float]N\n"
                  "output map(fun w -> dot(w, [1.0, 3.0, 2.0]), slide(3, 1, pad(1, 1, clamp, x)))\n",
                  "N=24", "x", 40);
}

Test(private, points_of_a_mirrored_array)
{
    check_private("size N\ninput x: [float]N\n"
                  "output map(fun w -> reduce(max, -99.0, w), slide(5, 1, pad(2, 2, mirror, x)))\n",
                  "N=17", "x", 40);
}

Test(private, points_of_a_ring)
{
    check_private("size N\ninput x: [float]N\n"
                  "output map(fun w -> sum(w), slide(4, 1, pad(1, 2, wrap, x)))\n",
                  "N=20", "x", 40);
}

Test(private, points_between_constants)
{
    check_private("size N\ninput x: [float]N\n"
                  "output map(fun w -> sum(w), slide(3, 1, padConstant(1, 1, 2.0, x)))\n",
                  "N=19", "x", 40);
}

Test(private, windows_with_strides)
{
    check_private("size N\ninput x: [float]2*N+1\n"
                  "output map(fun w -> sum(w), slide(3, 2, x))\n",
                  "N=12", "x", 40);
    check_private("size N\ninput x: [float]3*N+2\n"
                  "output map(fun w -> reduce(min, 99.0, w), slide(5, 3, x))\n",
                  "N=13", "x", 40);
}

#define BOX "fun box(a) = map2(fun w -> reduce(add, 0.0, join(w)), slide2(3, 1, pad2(1, 1, clamp, a)))\n"

Test(private, nine_points)
{
    check_private("size M, N\ninput A: [[float]N]M\ninput mask: [[float]3]3\n"
                  "output map2(fun w -> dot(join(w), join(mask)), slide2(3, 1, pad2(1, 1, mirror, A)))\n",
                  "M=6,N=8", "A", 20);
    check_private("size M, N\ninput A: [[float]N]M\n" BOX "output box(A)\n", "M=7,N=13", "A", 20);
}

Test(private, columns_of_rows)
{
    check_private("size M, N\ninput A: [[float]N]M\n"
                  "output map(fun row -> map(fun w -> sum(w), slide(3, 1, pad(1, 1, wrap, row))), "
                  "transpose(A))\n",
                  "M=8,N=6", "A", 30);
}

Test(private, a_cube)
{
    check_private("size D, H, W\ninput A: [[[float]W]H]D\n"
                  "output map3(fun w -> sum(join(join(w))), slide3(3, 1, padConstant3(1, 1, 1.0, A)))\n",
                  "D=4,H=3,W=4", "A", 12);
}

Test(private, channels_of_a_convolution)
{
    check_private("size O, C, H, W\ninput x: [[[float]W]H]C\ninput k: [[[[float]3]3]C]O\n"
                  "fun windows(image) = map(transpose, transpose(map(fun channel -> slide2(3, 1, "
                  "padConstant2(1, 1, 0.0, channel)), image)))\n"
                  "fun flat(a) = join(join(a))\n"
                  "output map(fun f -> map2(fun w -> dot(flat(w), flat(f)), windows(x)), k)\n",
                  "O=2,C=3,H=4,W=5", "x", 12);
}

Test(private, parts_of_a_window)
{
    const struct descents d = {.text = "size N\ninput x: [float]N\n"
                                       "output map(fun w -> sum(w), slide(8, 1, pad(4, 3, clamp, x)))\n",
                               .sizes = "N=8",
                               .staged = "x",
                               .in_registers = true,
                               .divided = "i0.0",
                               .descents = longer(30, 600),
                               .compiled = 2};
    check_descents(&d);
}

/* ---- computed values ---- */

Test(private, windows_of_sums_of_windows)
{
    check_private("size N\ninput x: [float]N\n"
                  "fun blur(a) = map(fun w -> reduce(add, 0.0, w), slide(3, 1, padConstant(1, 1, 2.0, a)))\n"
                  "let t = blur(x)\noutput blur(t)\n",
                  "N=24", "t", 30);
}

Test(private, two_time_steps)
{
    check_private("size M, N\ninput x: [[float]N]M\n" BOX "let t = box(x)\noutput box(t)\n", "M=7,N=6", "t",
                  12);
}

Test(private, computed_windows_with_a_stride)
{
    check_private("size N\ninput x: [float]2*N+1\n"
                  "let t = map(fun w -> reduce(max, -9.0, w), slide(2, 1, pad(0, 1, mirror, x)))\n"
                  "output map(fun w -> reduce(add, 0.0, w), slide(3, 2, t))\n",
                  "N=12", "t", 30);
}

/* A work-item has the scores of its row. */
Test(private, an_array_with_three_readers)
{
    check_private(
        "size N, M, D\ninput Q: [[float]D]N\ninput K: [[float]D]M\ninput V: [[float]D]M\n"
        "output map(fun q -> let s = map(fun k -> dot(q, k), K) in\n"
        "                    let m = reduce(max, -1000.0, s) in\n"
        "                    let z = sum(map(fun x -> x - m, s)) in\n"
        "  map(fun column -> sum(map(fun (x, v) -> (x - m + z) * v, zip(s, column))), transpose(V)), Q)\n",
        "N=4,M=6,D=4", "s_3", 20);
}
