/* Loads at constant places of windows that read one staged tile: random leaves (descents.h) in which the
 * owner, and with it all readers, are staged. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "core/base/strbuf.h"
#include "tests/codegen/descents.h"
#include "tests/fixture/kernel.h"
#include "tests/fixture/longer.h"

/* A program with a padded array at each `@`, with every border: "pad2(1, 1, clamp, x)". */
static void check_borders(const char *program, const char *dimensions, const char *array, const char *sizes,
                          const char *value, unsigned usual)
{
    static const char *const borders[] = {"clamp", "mirror", "wrap", "3.0"};
    for (size_t b = 0; b < sizeof borders / sizeof *borders; b++) {
        const char *constant = borders[b][0] == '3' ? "Constant" : "";
        struct strbuf text = {0};
        for (const char *c = program; *c; c++)
            if (*c == '@')
                strbuf_printf(&text, "pad%s%s(1, 1, %s, %s)", constant, dimensions, borders[b], array);
            else
                strbuf_printf(&text, "%c", *c);
        check_staged(text.text, sizes, value, usual);
        strbuf_free(&text);
    }
}

Test(spots, of_one_dimension)
{
    check_borders("size N\ninput x: [float]N\n"
                  "output map(fun w -> at(0, w) + 2.0 * at(1, w) - 3.0 * at(2, w), slide(3, 1, @))\n",
                  "", "x", "N=13", "x", 20);
}

/* Between 2 * i and 2 * i + 3 one element is read by nobody. */
Test(spots, with_stride)
{
    check_borders("size N\ninput x: [float]2*N\n"
                  "output map(fun w -> at(0, w) + 2.0 * at(1, w) - 3.0 * at(3, w), slide(4, 2, @))\n",
                  "", "x", "N=12", "x", 20);
}

Test(spots, of_two_dimensions)
{
    check_borders(
        "size M, N\ninput x: [[float]N]M\n"
        "output map2(fun w -> at(1, at(0, w)) + at(0, at(1, w)) + 2.0 * at(1, at(1, w)) + at(2, at(1, w)) "
        "- at(1, at(2, w)), slide2(3, 1, @))\n",
        "2", "x", "M=7,N=8", "x", 10);
}

/* Rows of a window that reductions read whole: along a row they are not shifted. */
Test(spots, of_rows_that_are_reduced)
{
    check_borders("size M, N\ninput x: [[float]N]M\n"
                  "output map(fun w -> reduce(max, -9.0, at(0, w)) + reduce(add, 0.0, at(2, w)), "
                  "slide(3, 1, @))\n",
                  "", "x", "M=6,N=13", "x", 20);
}

#define STEP "fun step(a) = map(fun w -> at(0, w) + at(1, w) - 2.0 * at(2, w), slide(3, 1, @))\n"

Test(spots, of_a_computed_step)
{
    check_borders("size N\ninput x: [float]N\n" STEP "output iterate(2, step, x)\n", "", "a", "N=14", "t", 6);
}

Test(spots, of_a_reduction)
{
    check_borders("size N, K\ninput A: [[float]K]N\ninput b: [float]K\n"
                  "let s = map(fun r -> dot(r, b), A)\n"
                  "output map(fun w -> at(0, w) - at(1, w) + 3.0 * at(2, w), slide(3, 1, @))\n",
                  "", "s", "N=12,K=3", "s", 12);
}

Test(spots, of_windows_of_windows)
{
    check_staged("size N\ninput x: [float]N\n"
                 "output map(fun v -> at(0, at(0, v)) - 2.0 * at(1, at(0, v)) + 3.0 * at(1, at(1, v)), "
                 "slide(2, 1, slide(2, 1, x)))\n",
                 "N=14", "x", 20);
}

/* What stands at one place without a window reads the same tile. */
Test(spots, beside_the_element_itself)
{
    check_staged("size N\ninput x: [float]N\n"
                 "output map(fun (y, w) -> y * at(0, w) + at(1, w) - at(2, w), "
                 "zip(x, slide(3, 1, pad(1, 1, clamp, x))))\n",
                 "N=16", "x", 20);
}

/* The same with every border, of which the place in the middle reads none. */
Test(spots, beside_the_element_itself_with_borders)
{
    check_borders("size N\ninput x: [float]N\n"
                  "output map(fun (y, w) -> y * at(1, w) + at(0, w) - at(2, w), zip(x, slide(3, 1, @)))\n",
                  "", "x", "N=16", "x", 12);
}

/* Two constants beyond the border of one array: the loads in the middle are one. */
Test(spots, of_two_borders)
{
    check_staged("size N\ninput x: [float]N\n"
                 "output map(fun (v, w) -> at(1, v) * at(1, w) + at(0, v) - 2.0 * at(0, w) + at(2, w), "
                 "zip(slide(3, 1, padConstant(1, 1, 2.0, x)), slide(3, 1, padConstant(1, 1, 3.0, x))))\n",
                 "N=16", "x", 20);
}

/* ---- borders of what a computed value is made of ---- */

/* The element that is read first needs no border, and so no constant of it. The root is exact. */
Test(spots, of_roots_beside_a_constant)
{
    check_staged("size N\ninput x: [float]N\n"
                 "let t = map(fun v -> sqrt(v * v), padConstant(1, 1, 2.0, x))\n"
                 "output map(fun (y, w) -> y + at(1, w) + at(0, w), zip(x, slide(3, 1, t)))\n",
                 "N=16", "t", 20);
}

/* Where it needs none, both arrays have one load, of which the copy would need two: s has no tile. */
Test(spots, beside_two_constants)
{
    check_staged(
        "size N\ninput x: [float]N\n"
        "let s = map(fun (a, b) -> sqrt(a * a) * b, zip(padConstant(1, 1, 2.0, x), padConstant(1, 1, "
        "3.0, x)))\n"
        "output map(fun w -> at(1, w) + 2.0 * at(0, w), slide(3, 1, s))\n",
        "N=16", NULL, 20);
}

#define CLAMPED_AND_WRAPPED                                                                                  \
    "size N\ninput x: [float]N\ninput z: [float]N\n"                                                         \
    "let s = map(fun (a, b) -> a * b, zip(pad(1, 1, clamp, x), pad(1, 1, wrap, z)))\n"

/* Of an array of two elements the first place reads element 0, whatever the window, and the last one
 * element 1: a load without logicals, which a copy of a tile could not load. */
Test(spots, of_a_clamped_and_a_wrapped_array)
{
    static const char *const sizes[] = {"N=2", "N=3", "N=4"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_staged(CLAMPED_AND_WRAPPED
                     "output map(fun w -> at(0, w) + 2.0 * at(1, w) - 3.0 * at(2, w), slide(3, 1, s))\n",
                     sizes[i], "s", 20);
}

Test(spots, of_a_clamped_and_a_wrapped_array_from_its_end)
{
    static const char *const sizes[] = {"N=2", "N=3", "N=4"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_staged(CLAMPED_AND_WRAPPED "output map(fun w -> at(2, w) - 3.0 * at(1, w), slide(3, 1, s))\n",
                     sizes[i], i ? "s" : NULL, 20);
}

/* ---- rows that several loads read ---- */

/* Random leaves after these pins, to NULL. */
static void check_rows(const char *text, const char *const *pins)
{
    struct descents d = {.text = text,
                         .sizes = "M=4,N=12",
                         .local_bytes = 2048,
                         .pins = pins,
                         .descents = longer(30, 600),
                         .compiled = longer(2, 12)};
    while (pins[d.n_pins])
        d.n_pins++;
    check_descents(&d);
}

/* Softmax with a sum instead of exponentials: the sum reads X_2. */
#define SOFTMAX                                                                                              \
    "size M, N\ninput X: [[float]N]M\n"                                                                      \
    "output map(fun r -> let s = reduce(add, 0.0, r) in map(fun v -> 2.0 * v - s, r), X)\n"

/* The same of layer normalization: the sums read X_2 and X_3. */
#define LAYER_NORM                                                                                           \
    "size M, N\ninput X: [[float]N]M\ninput gain: [float]N\n"                                                \
    "output map(fun r -> let m = reduce(max, -9.0, r) in\n"                                                  \
    "  let v = reduce(fun s y -> s + (y - m) * (y - m), 0.0, r) in\n"                                        \
    "  map(fun (y, g) -> (y - m) * g + v, zip(r, gain)), X)\n"

Test(spots, rows_are_staged_for_sums)
{
    check_rows(SOFTMAX, (const char *const[]){"staged(X_2)=YES", NULL});
    check_rows(LAYER_NORM, (const char *const[]){"staged(X_2)=YES", "staged(X_3)=YES", NULL});
    check_rows(LAYER_NORM, (const char *const[]){"staged(X_2)=NO", "staged(X_3)=YES", NULL});
}

Test(spots, rows_are_staged_for_one_reader)
{
    check_rows(SOFTMAX, (const char *const[]){"staged(X)=YES", "staged(X_2)=NO", NULL});
    check_rows(LAYER_NORM, (const char *const[]){"staged(X)=YES", "staged(X_2)=NO", "staged(X_3)=NO", NULL});
}

/* A loop over the row is around the copy. */
Test(spots, rows_are_staged_for_one_reader_in_tiles)
{
    check_rows(SOFTMAX, (const char *const[]){"staged(X)=YES", "staged(X_2)=NO", "outside(X.tile.n)=1",
                                              "dim_kind(X.load.n.0)=LOOP", NULL});
    check_rows(LAYER_NORM, (const char *const[]){"staged(X)=YES", "staged(X_2)=NO", "staged(X_3)=NO",
                                                 "outside(X.tile.n)=1", "dim_kind(X.load.n.0)=LOOP", NULL});
}

/* A leaf of a shipped kernel at a usual size. */
static void expect_tiles_of_rows(const char *kernel, const char *others)
{
    const char *const pins[] = {"staged(X)=YES",
                                "mem_space(X.tile)=LOCAL",
                                "staged(X_2)=NO",
                                "outside(X.tile.n)=1",
                                "dim_kind(X.load.n.0)=LOOP",
                                "size(n.0)=16",
                                others};
    struct kernel_fixture f;
    struct pcg32 rng = pcg32_seed(5, 0);
    kernel_open(&f, &(struct kernel_case){kernel, "M=256,N=1024"}, &kernel_device, NULL);
    struct space_state *st = space_pinned_root(f.space, pins, others ? 7 : 6, f.diag);
    cr_assert(st, "%s: %s", kernel, diag_count(f.diag) ? diag_message(f.diag, 0) : "no error text");
    cr_expect(kernel_descend(st, &rng), "%s", kernel);
    space_state_free(st);
    kernel_close(&f);
}

Test(spots, rows_of_shipped_kernels_are_staged_in_tiles)
{
    expect_tiles_of_rows("softmax", NULL);
    expect_tiles_of_rows("layer_norm", "staged(X_3)=NO");
}
