/* Which loads read one value at several spots: regions, what readers add, and the copies. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/backbone/backbone.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"
#include "tests/backbone/text.h"

/* "x: 18; x 0, x_2 2": of each region the extents of its coordinates, and what its readers add. */
static char *regions_text(const struct backbone *bb)
{
    struct strbuf out = {0};
    strbuf_add(&out, "");
    for (uint32_t r = 0; r < bb->n_regions; r++) {
        const struct bb_region *region = &bb->regions[r];
        const struct bb_value *owner = &bb->values[region->value];
        strbuf_printf(&out, "%s%s:", r ? " | " : "", owner->name);
        for (unsigned j = 0; j < region->n_dims; j++)
            strbuf_printf(&out, " %lld",
                          (long long)bb->logicals[bb->insts[owner->copy_store].logicals[j]].extent);
        for (uint32_t v = 0; v < bb->n_values; v++) {
            if (bb->values[v].region != r) continue;
            strbuf_printf(&out, "; %s", bb->values[v].name);
            for (unsigned j = 0; j < region->n_dims; j++)
                strbuf_printf(&out, " %lld", (long long)bb_value_at(&bb->values[v], j));
        }
    }
    return strbuf_take(&out);
}

/* Checks the regions of a program that begins with these inputs, and, unless it is NULL, the instruction that
 * copies the first one. */
static void expect_regions_of(const char *inputs, const char *sizes, const char *output, const char *regions,
                              const char *copy)
{
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    const char *text = arena_printf(a, "%s%s\n", inputs, output);
    const struct source source = {"test.lift", text, strlen(text)};
    struct lift_program *p = lift_parse_bound(&source, sizes, a, d);
    struct backbone *bb = p ? bb_lower(p, NULL, a, d) : NULL;
    cr_assert(bb, "%s: %s", output, diag_count(d) ? diag_message(d, 0) : "no error text");
    char *got = regions_text(bb), *insts = backbone_text(bb);
    cr_expect_str_eq(got, regions, "%s: %s", output, got);
    const char *line = strstr(insts, "copy_load ");
    const char *index = line ? strstr(line, " = ") : NULL;
    cr_expect(!copy || (index && !strncmp(index + 3, copy, strlen(copy))), "%s: %.100s", output, index);
    free(got);
    free(insts);
    diag_free(d);
    arena_free(a);
}

/* The same with an input x of 16 numbers or A of 8 rows of 16. */
static void expect_regions(const char *output, const char *regions, const char *copy)
{
    bool rows = strstr(output, "A)") != NULL;
    expect_regions_of(rows ? "size H, W\ninput A: [[float]W]H\n" : "size N\ninput x: [float]N\n",
                      rows ? "H=8,W=16" : "N=16", output, regions, copy);
}

#define THREE "output map(fun w -> at(0, w) + at(1, w) + at(2, w), slide(3, 1, "

Test(backbone_spots, have_one_tile)
{
    expect_regions(THREE "x))", "x: 16; x 0; x_2 1; x_3 2", "x[x.copy.i0]\n");
    expect_regions(THREE "pad(1, 1, clamp, x)))", "x: 18; x 0; x_2 1; x_3 2",
                   "x[min(max(x.copy.n - 1, 0), 15)]\n");
    expect_regions(THREE "pad(1, 1, wrap, x)))", "x: 18; x 0; x_2 1; x_3 2", "x[(x.copy.n + 15) % 16]\n");
    expect_regions(THREE "padConstant(1, 1, 0.0, x)))", "x: 18; x 0; x_2 1; x_3 2", "x[x.copy.n - 1]\n");
    expect_regions("output map(fun w -> at(0, w) + at(1, w), slide(3, 2, pad(1, 0, clamp, x)))",
                   "x: 16; x 0; x_2 1", NULL);
}

/* The least place that is read is element 0 of the tile. */
Test(backbone_spots, that_are_not_read_are_left_out)
{
    expect_regions("output map(fun w -> at(1, w) + at(2, w), slide(3, 1, pad(1, 1, clamp, x)))",
                   "x: 17; x 0; x_2 1", "x[min(x.copy.n, 15)]\n");
    expect_regions(
        "output map2(fun w -> at(0, at(1, w)) + at(0, at(2, w)), slide2(3, 1, pad2(1, 1, clamp, A)))",
        "A: 9 16; A 0 0; A_2 1 0", "A[min(A.copy.h, 7) * 16 + max(w - 1, 0)]\n");
}

Test(backbone_spots, of_two_dimensions)
{
    expect_regions(
        "output map2(fun w -> at(1, at(0, w)) + at(0, at(1, w)) + at(2, at(1, w)) + at(1, at(2, w)), "
        "slide2(3, 1, pad2(1, 1, clamp, A)))",
        "A: 10 18; A 0 1; A_2 1 0; A_3 1 2; A_4 2 1",
        "A[min(max(A.copy.h - 1, 0), 7) * 16 + min(max(A.copy.w - 1, 0), 15)]\n");
}

/* A computed step. Borders of borders are no windows: what it is computed of, where it is read, has regions
 * of its own. */
Test(backbone_spots, of_a_computed_value)
{
    expect_regions("fun step(a) = map(fun w -> at(0, w) + at(1, w), slide(2, 1, pad(0, 1, clamp, a)))\n"
                   "output iterate(2, step, x)",
                   "x: 16; x 0 | x_2: 16; x_2 0 | t: 17; t 0; t_2 1 | x_3: 16; x_3 0", NULL);
}

/* The element itself is at place 1; windows of windows have a place in the sum of both. */
Test(backbone_spots, of_other_loads)
{
    expect_regions("output map(fun (y, w) -> y + at(0, w) + at(1, w) + at(2, w), "
                   "zip(x, slide(3, 1, pad(1, 1, clamp, x))))",
                   "x: 18; x 1; x_2 0; x_3 2", NULL);
    expect_regions("output map(fun v -> at(0, at(0, v)) + at(1, at(0, v)) + at(1, at(1, v)), "
                   "slide(2, 1, slide(2, 1, x)))",
                   "x: 16; x 0; x_2 1; x_3 2", "x[x.copy.i0]\n");
}

/* Chunks do not overlap; a place alone is a load like any other; what an index by data or a scan in its order
 * reads is settled before. */
Test(backbone_spots, none)
{
    expect_regions("output map(fun w -> at(0, w) + at(1, w), split(2, x))", "x: 8; x 0 | x_2: 8; x_2 0",
                   NULL);
    expect_regions("output map(fun w -> at(1, w), slide(3, 1, pad(1, 1, clamp, x)))", "x: 16; x 0", "x[n]\n");
    expect_regions("output map(fun w -> at(0, w) + at(1, w), slide(2, 1, scatter(fun i -> 15 - i, x)))",
                   "x: 15; x 0 | x_2: 15; x_2 0", NULL);
}

/* ---- loads at no constant places, which differ in the names of logicals ---- */

/* The output and the sums of softmax and of layer normalization read the same rows, each in a tile of its own
 * or in none. */
Test(backbone_spots, rows_have_tiles_of_their_own)
{
    expect_regions("output map(fun r -> let s = sum(map(exp, r)) in map(fun v -> exp(v) / s, r), A)",
                   "A: 8 16; A 0 0 | A_2: 8 16; A_2 0 0", "A[h * 16 + w]\n");
    expect_regions(
        "fun mean(r) = sum(r) / 16.0\n"
        "output map(fun r -> let m = mean(r) in\n"
        "  let v = mean(map(fun y -> (y - m) * (y - m), r)) in map(fun y -> (y - m) / sqrt(v), r), A)",
        "A: 8 16; A 0 0 | A_2: 8 16; A_2 0 0 | A_3: 8 16; A_3 0 0", "A[h * 16 + w]\n");
}

/* A tile of a square array is none of the transposed array: both would need all elements. */
Test(backbone_spots, permutations_have_tiles_of_their_own)
{
    expect_regions_of("size N\ninput A: [[float]N]N\n", "N=16",
                      "output map(fun (a, b) -> map(fun (x, y) -> x + y, zip(a, b)), zip(A, transpose(A)))",
                      "A: 16 16; A 0 0 | A_2: 16 16; A_2 0 0", "A[n * 16 + n_2]\n");
    expect_regions_of("size N\ninput A: [[[float]N]N]N\n", "N=8",
                      "output map(fun (a, b) -> map(fun (c, d) -> map(fun (x, y) -> x + y, zip(c, d)), "
                      "zip(a, b)), zip(A, map(transpose, A)))",
                      "A: 8 8 8; A 0 0 0 | A_2: 8 8 8; A_2 0 0 0", NULL);
}
