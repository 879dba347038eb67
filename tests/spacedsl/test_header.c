/* The header of a space (spacec --header): it compiles for every space there is, its functions say the same
 * as names in text do, and code that uses a name which the space no longer has does not compile. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blocked_stencil.space.h"
#include "colouring.space.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "core/base/strbuf.h"
#include "gemm_tiles.space.h"
#include "gpu.space.h"
#include "queens.space.h"
#include "reduction.space.h"
#include "spacedsl/model.h"
#include "tests/fixture/kernel.h"
#include "tests/spacedsl/fixture.h"

/* ---- emitting ---- */

/* The header of a text; NULL with *why, the first message (the caller frees both). */
static char *header_emit(const char *path, const char *text, char **why)
{
    struct diag *d = diag_new();
    struct arena *a = arena_new();
    struct source source = {path, text, strlen(text)};
    const struct ast *ast = spacedsl_parse(&source, a, d);
    const struct model *m = diag_failed(d) ? NULL : spacedsl_resolve(ast, a, d);
    char *header = m ? spacedsl_emit_header(m, d) : NULL;
    *why = base_strdup(diag_count(d) ? diag_message(d, 0) : "");
    arena_free(a);
    diag_free(d);
    return header;
}

/* Whether a C text compiles, with the headers of the repository. */
static bool header_compiles(const char *c)
{
    char path[] = "/tmp/thresh-header-XXXXXX", command[256];
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, c, strlen(c)), (ssize_t)strlen(c));
    close(fd);
    snprintf(
        command, sizeof command,
        "cc -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wconversion -Wshadow -Werror -fsyntax-only "
        "-I. -x c %s 2>/dev/null",
        path);
    int status = system(command);
    unlink(path);
    return status == 0;
}

static char *header_read(const char *path)
{
    struct diag *d = diag_new();
    size_t n;
    char *text = source_read_file(path, 1 << 20, &n, d);
    cr_assert_not_null(text, "run from the root of the repository");
    diag_free(d);
    return text;
}

Test(header, compiles_for_each_space)
{
    static const char *const files[] = {"experiments/spaces/fft.space", "experiments/spaces/pipeline.space",
                                        "experiments/spaces/transpose.space", "tests/spacedsl/example.space",
                                        "spacedsl/spaces/gpu.space"};
    struct strbuf all = {0};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char *why, *again, *text = header_read(files[i]);
        char *header = header_emit(files[i], text, &why);
        cr_assert_not_null(header, "%s: %s", files[i], why);
        free(why);
        again = header_emit(files[i], text, &why);
        cr_assert_str_eq(header, again, "the text depends on the input alone");
        strbuf_add(&all, header);
        free(why);
        free(again);
        free(header);
        free(text);
    }
    cr_assert(header_compiles(all.text));
    strbuf_free(&all);
}

/* Comments of a space may hold what ends a comment in C; kinds of declarations that gpu.space does not have.
 */
Test(header, compiles_for_odd_spaces)
{
    static const char text[] = "space Odd\n"
                               "parameter fast: bool = true # a */ b /* c\n"
                               "set A\nset Few : A\nset AB = 3..5\nrelation Pair(a: A)\n"
                               "property weight(A): int\nproperty next(A): A\nproperty at(A, AB): int list\n"
                               "property ok(A): bool\n"
                               "define stride: int = 7\n"
                               "choice one: { X = -5, Y } # /* no end\n"
                               "choice of(a: Few, p: Pair(a), b: AB): int in at(a, b)\n"
                               "require forall a in Few: ok(a) && fast && next(a) in Few -> one is X\n"
                               "require forall a in A: weight(a) < stride || one is Y\n";
    char *why, *header = header_emit("odd.space", text, &why);
    cr_assert_not_null(header, "%s", why);
    struct strbuf c = {0};
    strbuf_printf(&c, "%s%s", header,
                  "_Static_assert(ODD_STRIDE == 7 && ODD_ONE_X == -5 && ODD_ONE_Y == -4, \"values\");\n"
                  "_Static_assert(ODD_CHOICE_ONE == 0 && ODD_CHOICE_COUNT == 2, \"groups\");\n"
                  "void f(struct space_data *d);\n"
                  "void f(struct space_data *d)\n"
                  "{\n    odd_set_weight(d, 0, 3);\n    odd_put_pair(d, odd_add_a(d, \"a\"), odd_add_pair(d, "
                  "\"p\"));\n}\n");
    cr_assert(header_compiles(c.text), "%s", c.text);
    strbuf_free(&c);
    free(header);
    free(why);
}

Test(header, names_that_become_one_in_c_are_refused)
{
    char *why, *header = header_emit("t.space",
                                     "space t\nset MainTile\nset Main_Tile\n"
                                     "choice a(x: MainTile): { X, Y }\nchoice b(x: Main_Tile): { X, Y }\n",
                                     &why);
    cr_assert_null(header);
    cr_expect_not_null(strstr(why, "two names of this space are 't_add_main_tile' in C"), "%s", why);
    free(why);
    header = header_emit("t.space", "space t\nchoice a: { B_X, Y }\nchoice a_b: { X, Z }\n", &why);
    cr_assert_null(header);
    cr_expect_not_null(strstr(why, "'T_A_B_X'"), "%s", why);
    free(why);
    header = header_emit("t.space", "space t\nchoice Choice: { X, Y }\n", &why);
    cr_assert_null(header, "two enumerations of one name");
    cr_expect_not_null(strstr(why, "'enum t_choice'"), "%s", why);
    free(why);
    header = header_emit("t.space", "space Space\nchoice a: { X, Y }\n", &why);
    cr_assert_null(header, "enum space_choice, but struct space_choice is in core/space/def.h");
    cr_expect_not_null(strstr(why, "cannot be called 'Space'"), "%s", why);
    free(why);
    header = header_emit("t.space", "space t\nchoice a: { X = 5000000000, Y }\n", &why);
    cr_assert_null(header);
    cr_expect_not_null(strstr(why, "X is 5000000000, which is not an int of C"), "%s", why);
    free(why);
}

/* ---- the compiler's check ---- */

static const char header_user[] = "bool f(const struct space_state *st, uint32_t v);\n"
                                  "bool f(const struct space_state *st, uint32_t v)\n"
                                  "{\n"
                                  "    enum graph_colour c;\n"
                                  "    return graph_get_colour(st, v, &c) && c == GRAPH_COLOUR_RED;\n"
                                  "}\n";

static bool header_user_compiles(const char *space)
{
    char *why, *header = header_emit("graph.space", space, &why);
    struct strbuf c = {0};
    cr_assert_not_null(header, "%s", why);
    strbuf_printf(&c, "%s%s", header, header_user);
    bool compiles = header_compiles(c.text);
    strbuf_free(&c);
    free(header);
    free(why);
    return compiles;
}

Test(header, a_renamed_choice_or_value_breaks_its_users)
{
    cr_assert(header_user_compiles("space graph\nset Node\nchoice colour(v: Node): { RED, BLUE }\n"));
    cr_assert_not(header_user_compiles("space graph\nset Node\nchoice color(v: Node): { RED, BLUE }\n"));
    cr_assert_not(header_user_compiles("space graph\nset Node\nchoice colour(v: Node): { PINK, BLUE }\n"));
    cr_assert_not(
        header_user_compiles("space graph\nset Node\nchoice colour(v: Node, w: Node): { RED, BLUE }\n"),
        "another argument");
}

/* ---- against names in text ---- */

static bool header_take(struct space_state *st, struct space_action a)
{
    return space_apply_all(st, &a, 1, NULL);
}

Test(header, builds_the_instance_that_a_file_gives)
{
    static const char json[] = "{\"sets\": {\"Node\": [\"a\", \"b\", \"c\"]}, \"properties\": {\"edge\": "
                               "[[\"a\", \"b\", 1], [\"b\", \"c\", 1]]}}";
    struct diag *d = diag_new();
    struct space_data *read = space_data_from_json("g.json", json, &space_def_colouring, d);
    struct space_data *built = space_data_new();
    colouring_declare_sets(built);
    uint32_t a = colouring_add_node(built, "a"), b = colouring_add_node(built, "b"),
             c = colouring_add_node(built, "c");
    colouring_set_edge(built, a, b, true);
    colouring_set_edge(built, b, c, true);
    struct space *one = space_instantiate(&space_def_colouring, read, d);
    struct space *other = space_instantiate(&space_def_colouring, built, d);
    cr_assert(one && other);
    cr_assert_eq(space_fingerprint(one), space_fingerprint(other));
    cr_assert(colouring_is_space(one) && !queens_is_space(one));
    struct space_state *st = space_root(other, NULL);
    cr_assert(header_take(st, colouring_act_colour(other, a, COLOURING_COLOUR_BLUE)));
    cr_assert(header_take(st, colouring_act_colour(other, b, COLOURING_COLOUR_RED)));
    enum colouring_colour colour = COLOURING_COLOUR_GREEN;
    cr_assert(colouring_get_colour(st, a, &colour));
    cr_assert_eq(colour, COLOURING_COLOUR_BLUE);
    cr_assert_not(colouring_get_colour(st, c, &colour), "c may still be green or blue");
    space_mark mark = space_snapshot(st);
    cr_assert_not(header_take(st, colouring_act_colour(other, c, COLOURING_COLOUR_RED)));
    space_rollback(st, mark);
    cr_assert_not(header_take(st, colouring_act_colour(other, 3, COLOURING_COLOUR_RED)), "no fourth node");
    space_state_free(st);
    space_free(one);
    space_free(other);
    space_data_free(read);
    space_data_free(built);
    diag_free(d);
}

/* "size(m.1)" and the value, as text has it, of a leaf. */
static int64_t header_named(const struct space_state *leaf, const char *name)
{
    const struct space *s = space_of(leaf);
    bool flipped;
    uint32_t slot = space_slot_named(s, name, &flipped);
    cr_assert_neq(slot, UINT32_MAX, "%s", name);
    uint32_t value = space_first_value(leaf, slot);
    return space_value_code(s, slot, flipped ? space_value_mirror(s, slot, value) : value);
}

static void header_compare_leaf(const struct kernel_fixture *f, const struct space_state *leaf)
{
    char name[256];
    for (uint32_t t = 0; t < f->bb->n_tiles; t++) {
        int64_t size, seat;
        if (f->bb->logicals[f->bb->tiles[t].logical].of != BB_NONE) continue;
        cr_assert(gpu_get_size(leaf, t, &size) && gpu_get_seat(leaf, t, &seat));
        snprintf(name, sizeof name, "size(%s)", f->bb->tiles[t].name);
        cr_assert_eq(size, header_named(leaf, name));
        snprintf(name, sizeof name, "seat(%s)", f->bb->tiles[t].name);
        cr_assert_eq(seat, header_named(leaf, name));
    }
    for (uint32_t i = 0; i < f->bb->n_insts; i++)
        for (uint32_t j = 0; j < f->bb->n_insts; j++) {
            enum gpu_order order;
            bool latent = f->bb->insts[i].kind >= BB_COPY_LOAD || f->bb->insts[j].kind >= BB_COPY_LOAD;
            if (i == j || latent) continue;
            cr_assert(gpu_get_order(leaf, i, j, &order));
            snprintf(name, sizeof name, "order(%s, %s)", f->bb->insts[i].name, f->bb->insts[j].name);
            cr_assert_eq((int64_t)order, header_named(leaf, name), "%s", name);
            struct space_action a = gpu_act_order(f->space, i, j, order);
            cr_assert_eq(a.slot, gpu_slot_order(f->space, i, j));
            cr_assert_eq(a.value, space_first_value(leaf, a.slot), "%s", name);
        }
}

Test(header, reads_what_names_in_text_read)
{
    struct kernel_fixture f;
    struct pcg32 rng = pcg32_seed(23, 0);
    unsigned leaves = 0;
    kernel_open(&f, &(struct kernel_case){"matmul", "M=8,N=8,K=8"}, &kernel_device, NULL);
    cr_assert(gpu_is_space(f.space));
    cr_assert_eq(space_group_find(f.space, "dim_kind"), GPU_CHOICE_DIM_KIND);
    cr_assert_eq((int)space_group_count(f.space), GPU_CHOICE_COUNT);
    struct space_state *st = kernel_root(f.space);
    for (int i = 0; i < 5; i++) {
        space_mark mark = space_snapshot(st);
        if (kernel_descend(st, &rng)) {
            header_compare_leaf(&f, st);
            leaves++;
        }
        space_rollback(st, mark);
    }
    cr_assert_gt(leaves, 0, "seed 23");
    struct space_action none = gpu_act_size(f.space, 0, 7);
    cr_assert(none.slot != UINT32_MAX && none.value == UINT32_MAX, "7 divides no extent");
    cr_assert_eq(gpu_slot_size(f.space, f.bb->n_tiles), UINT32_MAX);
    space_state_free(st);
    kernel_close(&f);
}

/* The other spaces have headers too, of choices without arguments and over ranges. */
Test(header, numbers_and_names_of_ordinary_spaces)
{
    struct spacedsl_files f = spacedsl_files_open("spacedsl/spaces/gemm_tiles.space", NULL);
    cr_assert(gemm_tiles_is_space(f.space) && !reduction_is_space(f.space));
    cr_assert(header_take(f.root, gemm_tiles_act_tile_m(f.space, 64)));
    cr_assert(header_take(f.root, gemm_tiles_act_stage_a(f.space, GEMM_TILES_STAGE_A_LOCAL)));
    int64_t tile = 0;
    enum gemm_tiles_stage_a stage = GEMM_TILES_STAGE_A_DIRECT;
    cr_assert(gemm_tiles_get_tile_m(f.root, &tile) && gemm_tiles_get_stage_a(f.root, &stage));
    cr_assert_eq(tile, 64);
    cr_assert_eq(stage, GEMM_TILES_STAGE_A_LOCAL);
    cr_assert_neq((int)BLOCKED_STENCIL_CHOICE_COUNT, 0);
    spacedsl_files_close(&f);
}
