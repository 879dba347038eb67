/* Windows of loads: which coordinates staged tiles have, and the index of their copies. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/backbone/backbone.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"
#include "tests/backbone/text.h"

/* "4x(2*i+j) 8xk": the extents and terms of the coordinates of the first staged value. */
static char *window_coordinates(const struct backbone *bb)
{
    struct strbuf out = {0};
    const struct bb_region *r = &bb->regions[0];
    const struct bb_inst *store = &bb->insts[bb->values[0].copy_store];
    for (unsigned j = 0; j < r->n_dims; j++) {
        const struct bb_region_dim *c = &bb->region_dims[r->first_region_dim + j];
        strbuf_printf(&out, "%s%lldx", j ? " " : "", (long long)bb->logicals[store->logicals[j]].extent);
        for (unsigned i = 0; i < c->n_terms; i++) {
            const struct bb_term *t = &bb->terms[c->first_term + i];
            strbuf_add(&out, i ? "+" : "");
            if (t->coefficient > 1) strbuf_printf(&out, "%lld*", (long long)t->coefficient);
            strbuf_add(&out, bb->logicals[t->logical].name);
        }
    }
    return strbuf_take(&out);
}

/* Checks the coordinates and the index of the copy of the first load of a program with an input x of N
 * numbers, or A of H rows of W. */
static void expect_window(const char *output, const char *sizes, const char *coordinates, const char *copy)
{
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    const char *inputs =
        strstr(output, "A)") ? "size H, W\ninput A: [[float]W]H\n" : "size N\ninput x: [float]N\n";
    const char *text = arena_printf(a, "%soutput %s\n", inputs, output);
    const struct source source = {"test.lift", text, strlen(text)};
    struct lift_size_value *values = NULL;
    int n = lift_parse_sizes(sizes, &values, a, d);
    struct lift_program *p = lift_parse(&source, a, d);
    cr_assert(p && n >= 0 && lift_bind(p, values, (unsigned)n, a, d), "%s", output);
    struct backbone *bb = bb_lower(p, NULL, a, d);
    cr_assert(bb, "%s", output);
    char *got = window_coordinates(bb), *insts = backbone_text(bb);
    cr_expect_str_eq(got, coordinates, "%s: %s", output, got);
    const char *line = strstr(insts, "copy_load ");
    const char *index = line ? strstr(line, " = ") : NULL;
    cr_assert(index);
    cr_expect_eq(strncmp(index + 3, copy, strlen(copy)), 0, "%s: %.100s", output, index);
    free(got);
    free(insts);
    diag_free(d);
    arena_free(a);
}

Test(window, of_one_dimension)
{
    expect_window("map(sum, slide(3, 1, x))", "N=18", "18xi0+i1", "x[x.copy.i0]\n");
    expect_window("map(sum, slide(3, 2, x))", "N=19", "19x2*i0+i1", "x[x.copy.i0]\n");
    expect_window("map(sum, slide(4, 1, reverse(x)))", "N=19", "19xi0+i1", "x[18 - x.copy.i0]\n");
    expect_window("map(fun t -> sum(map(sum, t)), slide(3, 1, slide(3, 1, x)))", "N=12", "12xi0+i1+i2",
                  "x[x.copy.i0]\n");
}

Test(window, of_two_dimensions)
{
    expect_window("map2(fun w -> sum(join(w)), slide2(3, 1, A))", "H=10,W=18", "10xi0+i2 18xi1+i3",
                  "A[A.copy.i0 * 18 + A.copy.i1]\n");
    expect_window("map2(fun w -> sum(join(w)), slide2(3, 1, pad2(1, 1, clamp, A)))", "H=8,W=16",
                  "10xh+i0 18xw+i1",
                  "A[min(max(A.copy.h - 1, 0), 7) * 16 + min(max(A.copy.w - 1, 0), 15)]\n");
}

/* What a border adds is in the copy alone. */
Test(window, with_borders)
{
    expect_window("map(sum, slide(3, 1, pad(1, 1, wrap, x)))", "N=16", "18xn+i0",
                  "x[(x.copy.n + 15) % 16]\n");
    expect_window("map(sum, slide(3, 1, pad(1, 1, mirror, x)))", "N=16", "18xn+i0", "x[");
    expect_window("map(sum, slide(3, 1, padConstant(1, 1, 0.0, x)))", "N=16", "18xn+i0", "x[x.copy.n - 1]");
}

/* Chunks do not overlap; what lies between windows is not read; a sum of indices of two dimensions is none.
 */
Test(window, none)
{
    expect_window("map(sum, split(4, x))", "N=32", "8xi0 4xi1", "x[i0 * 4 + i1]\n");
    expect_window("map(sum, slide(2, 3, x))", "N=14", "5xi0 2xi1", "x[i0 * 3 + i1]\n");
    expect_window("map(sum, A)", "H=8,W=16", "8xh 16xw", "A[h * 16 + w]\n");
}
