/* Private regions: random leaves (descents.h) in which registers of a work-item hold a window, or what it has
 * computed. Where copies and their readers are, and what is left out of the text. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/pcg32.h"
#include "core/codegen/counts.h"
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

/* ---- constant places of windows ---- */

Test(private, places_of_a_window)
{
    static const char *const borders[] = {"pad(1, 1, clamp, x)", "pad(1, 1, mirror, x)", "pad(1, 1, wrap, x)",
                                          "padConstant(1, 1, 3.0, x)"};
    for (size_t b = 0; b < sizeof borders / sizeof *borders; b++) {
        struct arena *a = arena_new();
        check_private(arena_printf(a,
                                   "size N\ninput x: [float]N\noutput map(fun w -> at(0, w) + 2.0 * at(1, w) "
                                   "- 3.0 * at(2, w), slide(3, 1, %s))\n",
                                   borders[b]),
                      "N=13", "x", 30);
        arena_free(a);
    }
}

Test(private, places_in_a_plane)
{
    static const char *const borders[] = {"pad2(1, 1, clamp, A)", "pad2(1, 1, mirror, A)",
                                          "pad2(1, 1, wrap, A)", "padConstant2(1, 1, 3.0, A)"};
    for (size_t b = 0; b < sizeof borders / sizeof *borders; b++) {
        struct arena *a = arena_new();
        check_private(
            arena_printf(
                a,
                "size M, N\ninput A: [[float]N]M\noutput map2(fun w -> at(1, at(0, w)) + at(0, at(1, w)) "
                "+ 2.0 * at(1, at(1, w)) + at(2, at(1, w)) - at(1, at(2, w)), slide2(3, 1, %s))\n",
                borders[b]),
            "M=7,N=8", "A", 20);
        arena_free(a);
    }
}

Test(private, places_of_a_computed_window)
{
    check_private("size N\ninput x: [float]N\n"
                  "fun step(a) = map(fun w -> at(0, w) + at(1, w) - 2.0 * at(2, w), "
                  "slide(3, 1, pad(1, 1, clamp, a)))\n"
                  "output iterate(2, step, x)\n",
                  "N=14", "t", 20);
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

/* ---- one implementation ---- */

/* How often a text contains another one. */
static unsigned private_count(const char *text, const char *word)
{
    unsigned n = 0;
    for (; (text = strstr(text, word)) != NULL; text += strlen(word))
        n++;
    return n;
}

static const char *const private_column[] = {"staged(A)=YES",
                                             "staged(mask)=NO",
                                             "mem_space(A.tile)=PRIVATE",
                                             "size(h.0)=4",
                                             "size(h.1)=4",
                                             "size(w.0)=2",
                                             "size(w.1)=16",
                                             "outside(A.tile.h)=1",
                                             "outside(A.tile.w)=2",
                                             "outside(A.tile.i0)=0",
                                             "outside(A.tile.i1)=0",
                                             "dim_kind(store.h.0)=BLOCK",
                                             "dim_kind(store.h.1)=UNROLL",
                                             "dim_kind(store.w.0)=BLOCK",
                                             "dim_kind(store.w.1)=THREAD"};
enum { PRIVATE_PINS = sizeof private_column / sizeof *private_column };

/* A work-item computes 4 neighbours in a column: it loads 6 x 3 elements, not 4 x 9. */
Test(private, an_element_is_loaded_once)
{
    struct kernel_fixture f;
    const char *why = "";
    kernel_open(&f, &(struct kernel_case){"stencil_9point", "H=16,W=32"}, &kernel_device, NULL);
    struct space_state *st = space_pinned_root(f.space, private_column, PRIVATE_PINS, f.diag);
    cr_assert(st);
    struct pcg32 rng = pcg32_seed(1, 1);
    cr_assert(kernel_descend(st, &rng));
    struct bb_candidate *c = bb_candidate_new(f.bb, f.arena);
    cr_assert(bb_decode(f.bb, st, c, &why), "%s", why);
    struct cg_program *p = cg_build(f.bb, c, &cgt_target, f.arena, &why);
    cr_assert(p, "%s", why);
    cr_expect_eq(p->regions[0].extent[0], 6);
    cr_expect_eq(p->regions[0].extent[1], 3);
    struct cg_kernel k;
    cg_emit(p, &k);
    cr_expect(strstr(k.source, "    float A_tile[18];\n"), "%s", k.source);
    cr_expect_eq(private_count(k.source, " = A["), 18, "%s", k.source);
    cr_expect_not(strstr(k.source, "barrier"), "%s", k.source);
    cr_expect_not(strstr(k.source, "A_tile[h"), "%s", k.source);
    cr_expect_not(strstr(k.source, "A_tile[w"), "%s", k.source);
    cr_expect_eq(k.local_bytes, 0);
    cg_kernel_free(&k);
    space_state_free(st);
    kernel_close(&f);
}

/* A transposition in which each work-item has its column of a tile for itself. */
static struct cg_program *private_program(struct arena *a, enum bb_mem_space space, const char *tree,
                                          const char **why)
{
    const struct backbone *bb = cgt_transpose(a, 4, 8);
    struct bb_candidate *c = cgt_candidate(bb, a, "i.0=4 j.0=8 A.c.i.0=4", tree);
    c->mem_space[0] = (uint8_t)space;
    return cg_build(bb, c, &cgt_target, a, why);
}

#define COLUMN                                                                                               \
    "thread0 A.load.j.0 store.j.0 { unroll A.cl.i.0 A.cs.i.0 { A.cl A.cs }"                                  \
    " unroll A.load.i.0 store.i.0 { A.load store } }"

Test(private, work_items_do_not_share_it)
{
    struct arena *a = arena_new();
    const char *why = NULL;
    struct cg_program *p = private_program(a, BB_MEM_PRIVATE, COLUMN, &why);
    cr_assert(p, "%s", why);
    cr_expect_eq(p->n_barriers, 0);
    double in[32], out[32], counts[CG_COUNT_COUNT];
    for (int i = 0; i < 32; i++)
        in[i] = i;
    struct cg_check check = cg_interpret(p, (double *[]){in, out});
    cr_expect_eq(check.fault, CG_OK, "%s", check.where);
    for (int i = 0; i < 32; i++)
        cr_expect_eq(out[i], in[i % 4 * 8 + i / 4]);
    cg_count(p, counts);
    cr_expect_eq(counts[CG_COUNT_LOCAL_ACCESSES], 0);
    cr_expect_eq(counts[CG_COUNT_LOCAL_BYTES], 0);
    cr_expect_eq(counts[CG_COUNT_LOADS], 4);
    cr_expect_eq(counts[CG_COUNT_REGISTERS], 4 + 4 + 4);
    cr_expect_null(private_program(a, BB_MEM_LOCAL, COLUMN, &why));
    cr_expect_str_eq(why, "a store inside a parallel dimension that is not its own");
    arena_free(a);
}

Test(private, work_items_do_not_divide_it)
{
    static const char *const divided[] = {
        "loop A.load.j.0 store.j.0 { thread0 A.cl.i.0 A.cs.i.0 { A.cl A.cs }"
        " unroll A.load.i.0 store.i.0 { A.load store } }",
        "loop A.load.j.0 store.j.0 { unroll A.cl.i.0 A.cs.i.0 { A.cl A.cs }"
        " thread0 A.load.i.0 store.i.0 { A.load store } }"};
    for (int i = 0; i < 2; i++) {
        struct arena *a = arena_new();
        const char *why = "";
        cr_expect_null(private_program(a, BB_MEM_PRIVATE, divided[i], &why));
        cr_expect_str_eq(why, "work-items divide a private region");
        arena_free(a);
    }
}

/* ---- the space ---- */

/* Whether these pins leave something of 16 work-items with 4 windows of 3 each. */
static bool private_allows(const char *memory, const char *pin)
{
    const char *pins[] = {"staged(x)=YES", memory, "size(n.0)=16", "size(n.1)=4", "outside(x.tile.n)=1", pin};
    struct kernel_fixture f;
    kernel_open(&f, &(struct kernel_case){"stencil_3point", "N=64"}, &kernel_device, NULL);
    struct space_state *st = space_pinned_root(f.space, pins, sizeof pins / sizeof *pins, f.diag);
    bool left = st != NULL;
    if (st) space_state_free(st);
    kernel_close(&f);
    return left;
}

#define IN_REGISTERS "mem_space(x.tile)=PRIVATE"
#define IN_LOCAL "mem_space(x.tile)=LOCAL"

Test(private, work_items_are_around_the_copy)
{
    cr_expect(private_allows(IN_REGISTERS, "dim_kind(x.load.n.0)=THREAD"));
    cr_expect(private_allows(IN_REGISTERS, "dim_kind(x.load.n.0)=GLOBAL"));
    cr_expect(private_allows(IN_REGISTERS, "dim_kind(x.load.n.0)=BLOCK"));
    cr_expect(private_allows(IN_REGISTERS, "dim_kind(x.load.n.0)=LOOP"));
    cr_expect(private_allows(IN_LOCAL, "dim_kind(x.load.n.0)=BLOCK"));
    cr_expect_not(private_allows(IN_LOCAL, "dim_kind(x.load.n.0)=THREAD|GLOBAL"));
}

Test(private, indices_are_constants)
{
    cr_expect(private_allows(IN_REGISTERS, "dim_kind(x.load.n.1)=UNROLL"));
    cr_expect(private_allows(IN_REGISTERS, "dim_kind(x.load.n.1)=VECTOR"));
    cr_expect_not(private_allows(IN_REGISTERS, "dim_kind(x.load.n.1)=LOOP|THREAD"));
    cr_expect_not(private_allows(IN_REGISTERS, "dim_kind(x.load.i0.0)=LOOP"));
    cr_expect_not(private_allows(IN_REGISTERS, "dim_kind(x.copy.load.n.0)=LOOP|THREAD"));
    cr_expect(private_allows(IN_LOCAL, "dim_kind(x.copy.load.n.0)=THREAD"));
}

/* With each place of the window by itself no element is read twice. */
Test(private, windows_overlap_in_it)
{
    cr_expect(private_allows(IN_REGISTERS, "outside(x.tile.i0)=0"));
    cr_expect_not(private_allows(IN_REGISTERS, "outside(x.tile.i0)=1"));
}

/* Whether a kernel's region may be private. */
static bool private_is_offered(const char *kernel, const char *sizes, const char *pin)
{
    struct kernel_fixture f;
    kernel_open(&f, &(struct kernel_case){kernel, sizes}, &kernel_device, NULL);
    struct space_state *st = space_pinned_root(f.space, &pin, 1, f.diag);
    bool left = st != NULL;
    if (st) space_state_free(st);
    kernel_close(&f);
    return left;
}

Test(private, it_is_offered_where_elements_are_read_several_times)
{
    cr_expect(private_is_offered("stencil_9point", "H=16,W=16", "mem_space(A.tile)=PRIVATE"));
    cr_expect_not(private_is_offered("stencil_9point", "H=16,W=16", "mem_space(mask.tile)=PRIVATE"));
    cr_expect_not(private_is_offered("matmul", "M=8,N=8,K=8", "mem_space(A.tile)=PRIVATE"));
    cr_expect_not(private_is_offered("matmul_chain", "M=8,N=8,K=8,L=8", "mem_space(t.tile)=PRIVATE"));
}
