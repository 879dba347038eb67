/* Staged windows: what a region holds of windows that overlap, and where borders are handled. A group of a
 * stencil of 3 x 3 computes 8 x 16 points, so its region has 10 x 18 elements. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "core/codegen/program.h"
#include "tests/codegen/fixture.h"
#include "tests/fixture/kernel.h"

static const char *const window_pins[] = {"staged(A)=YES",
                                          "staged(mask)=NO",
                                          "size(h.0)=2",
                                          "size(h.1)=8",
                                          "size(w.0)=2",
                                          "size(w.1)=16",
                                          "outside(A.tile.h)=1",
                                          "outside(A.tile.w)=1",
                                          "outside(A.tile.i0)=0",
                                          "outside(A.tile.i1)=0",
                                          "size(A.copy.h.0)=5",
                                          "size(A.copy.h.1)=2",
                                          "size(A.copy.w.0)=2",
                                          "size(A.copy.w.1)=16",
                                          "pad(A.tile)=0",
                                          "mem_space(A.tile)=LOCAL",
                                          "layout_order(A.tile.h, A.tile.w)=OUTSIDE",
                                          "dim_kind(store.h.0)=BLOCK",
                                          "dim_kind(store.h.1)=THREAD",
                                          "dim_kind(store.w.0)=BLOCK",
                                          "dim_kind(store.w.1)=THREAD",
                                          "dim_kind(A.copy.load.h.*)=LOOP",
                                          "dim_kind(A.copy.load.w.0)=LOOP",
                                          "dim_kind(A.copy.load.w.1)=THREAD"};
enum { PINS = sizeof window_pins / sizeof *window_pins };

/* The kernel of the pins, from a random leaf. */
static struct cg_program *window_program(struct kernel_fixture *f, struct bb_candidate **c)
{
    const char *why = "";
    struct space_state *st = space_pinned_root(f->space, window_pins, PINS, f->diag);
    if (!st) diag_print(f->diag, stderr);
    cr_assert(st);
    struct pcg32 rng = pcg32_seed(1, 1);
    cr_assert(kernel_descend(st, &rng));
    *c = bb_candidate_new(f->bb, f->arena);
    cr_assert(bb_decode(f->bb, st, *c, &why), "%s", why);
    struct cg_program *p = cg_build(f->bb, *c, &cgt_target, f->arena, &why);
    cr_assert(p, "%s", why);
    space_state_free(st);
    return p;
}

/* How often a text contains another one. */
static unsigned window_count(const char *text, const char *word)
{
    unsigned n = 0;
    while ((text = strstr(text, word)) != NULL) {
        text += strlen(word);
        n++;
    }
    return n;
}

Test(windows, a_region_has_each_element_once)
{
    const struct kernel_case nine = {"stencil_9point", "H=16,W=32"};
    struct bb_device device = kernel_device;
    struct kernel_fixture f;
    struct bb_candidate *c;
    struct cg_kernel k;
    device.max_work_group = 128;
    device.max_work_item[0] = device.max_work_item[1] = device.max_work_item[2] = 128;
    device.local_bytes = 1024;
    kernel_open(&f, &nine, &device, NULL);
    const struct cg_program *p = window_program(&f, &c);
    cr_expect_eq(p->regions[0].n_dims, 2);
    cr_expect_eq(p->regions[0].extent[0], 10);
    cr_expect_eq(p->regions[0].extent[1], 18);
    cr_expect_eq(p->regions[0].elements, 180);
    cr_expect_eq(bb_staged_extent(f.bb, c, 0, 0), 10);
    cr_expect_eq(bb_staged_extent(f.bb, c, 0, 1), 18);
    cg_emit(p, &k);
    cr_expect(strstr(k.source, "A_tile[180]"), "%s", k.source);
    cr_expect_eq(window_count(k.source, "A_copy_load = A[min(max("), 1, "%s", k.source);
    cr_expect_eq(window_count(k.source, "max("), 2, "only the copy has borders\n%s", k.source);
    cr_expect(strstr(k.source, "= A_tile[h1 * 18 + w1 + "), "%s", k.source);
    cr_expect(strstr(k.source, "; A_copy_w0 < min("), "the copy ends with the region\n%s", k.source);
    cg_kernel_free(&k);
    kernel_close(&f);
}
