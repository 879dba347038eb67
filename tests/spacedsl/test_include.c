/* Files that include others: declarations come in order, each file once, errors name the file they are in. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "spacedsl/model.h"

struct include_folder {
    char path[64];
    struct arena *arena;
    struct diag *diag;
};

static struct include_folder include_new(void)
{
    struct include_folder f = {
        .path = "/tmp/thresh-include-XXXXXX", .arena = arena_new(), .diag = diag_new()};
    cr_assert_not_null(mkdtemp(f.path));
    return f;
}

static const char *include_write(struct include_folder *f, const char *name, const char *text)
{
    const char *path = arena_printf(f->arena, "%s/%s", f->path, name);
    FILE *out = fopen(path, "w");
    cr_assert_not_null(out);
    fputs(text, out);
    fclose(out);
    return path;
}

static const struct space_def *include_compile(struct include_folder *f, const char *path, const char *text)
{
    struct source src = {path, text, strlen(text)};
    include_write(f, "main.space", text);
    return spacedsl_compile(&src, f->arena, f->diag);
}

static void include_free(struct include_folder *f)
{
    static const char *const names[] = {"main.space", "a.space", "b.space"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(arena_printf(f->arena, "%s/%s", f->path, names[i]));
    rmdir(f->path);
    arena_free(f->arena);
    diag_free(f->diag);
}

Test(spacedsl_include, comes_in_order_and_once)
{
    struct include_folder f = include_new();
    include_write(&f, "a.space", "set A # objects\ninclude \"b.space\"\nchoice c(a: A): { X, Y }\n");
    include_write(&f, "b.space", "include \"a.space\"\nset B : A\ninclude \"main.space\"\n");
    const char *main = arena_printf(f.arena, "%s/main.space", f.path);
    const struct space_def *def = include_compile(
        &f, main, "space s\ninclude \"a.space\"\ninclude \"b.space\"\nrequire forall b in B: c(b) is X");
    diag_print(f.diag, stderr);
    cr_assert_not_null(def);
    cr_assert_eq(def->n_sets, 2);
    cr_assert_str_eq(def->sets[0].name, "A");
    cr_assert_str_eq(def->sets[0].remark.doc, "objects");
    cr_assert_str_eq(def->constraints[0].file, main);
    include_free(&f);
}

Test(spacedsl_include, errors_name_the_file)
{
    struct include_folder f = include_new();
    include_write(&f, "a.space", "choice c: { X, Y }\nrequire c is Z\nrequire c is");
    const char *main = arena_printf(f.arena, "%s/main.space", f.path);
    cr_assert_null(include_compile(&f, main, "space s\ninclude \"a.space\"\nchoice d: { V }"));
    char *wanted = arena_printf(
        f.arena, "%s/a.space:3:13: error: expected a named value, found the end of the file", f.path);
    cr_assert_str_eq(diag_message(f.diag, 0), wanted);
    cr_assert_eq(diag_count(f.diag), 1, "the declaration after the include is read");
    include_free(&f);
}

/* A name that is declared in two files, at the same place in each. */
Test(spacedsl_include, names_are_declared_once)
{
    static const char *const texts[] = {
        "space s choice c: { X, Y } include \"a.space\" include \"b.space\" require f == 1",
        "space s set A choice o(a: A, b: A): { L, R } symmetric include \"a.space\" include \"b.space\" "
        "require exists d in f: o(d, d) is L"};
    static const char *const parts[] = {"define f: int = c", "quotient f = d: A where true modulo o is L"};
    for (int i = 0; i < 2; i++) {
        struct include_folder f = include_new();
        include_write(&f, "a.space", parts[i]);
        include_write(&f, "b.space", parts[i]);
        const char *main = arena_printf(f.arena, "%s/main.space", f.path);
        cr_assert_null(include_compile(&f, main, texts[i]));
        char *wanted =
            arena_printf(f.arena, "%s/b.space:1:%d: error: 'f' is declared twice", f.path, i ? 10 : 8);
        cr_expect_str_eq(diag_message(f.diag, 0), wanted);
        include_free(&f);
    }
}

/* A space is not included whole, and the declarations around its header are read. */
Test(spacedsl_include, only_declarations_are_included)
{
    struct include_folder f = include_new();
    include_write(&f, "a.space", "space a\nchoice c: { X, Y }\n");
    const char *main = arena_printf(f.arena, "%s/main.space", f.path);
    cr_assert_null(include_compile(&f, main, "space s\ninclude \"a.space\"\nrequire c is X\n"));
    char *wanted = arena_printf(
        f.arena, "%s/a.space:1:1: error: unexpected 'space' in an included file; remove this line", f.path);
    cr_expect_str_eq(diag_message(f.diag, 0), wanted);
    cr_expect_eq(diag_count(f.diag), 1);
    include_free(&f);
}

/* Files that cannot be included say why. */
Test(spacedsl_include, foreign_encodings)
{
    struct include_folder f = include_new();
    include_write(&f, "a.space", "choice c: { X, Y }\n# caf\xe9\n");
    const char *main = arena_printf(f.arena, "%s/main.space", f.path);
    cr_assert_null(include_compile(&f, main, "space s\ninclude \"a.space\"\nchoice d: { V, W }\n"));
    cr_expect(strstr(diag_message(f.diag, 0), "main.space:2:9: error: cannot include '"), "%s",
              diag_message(f.diag, 0));
    cr_expect(strstr(diag_message(f.diag, 0), "invalid byte 0xe9: the file is not UTF-8"), "%s",
              diag_message(f.diag, 0));
    include_free(&f);
}

/* Comments become the remarks of declarations. */
Test(spacedsl_include, remarks_are_kept)
{
    static const char text[] =
        "# About s.\nspace s\n/// How far.\nchoice x: int in 1..9 # steps\n"
        "choice c: { /// first\n X, Y # second\n }\n"
        "choice d: {\n X, /// one\n Y = 3, # two\n /// three\n Z } /// behind\n"
        "/// Twice as far.\ndefine far: int = d is X ? x : 2 * x\ncounter all = sum of i over i in "
        "Few where i < x # of few\n"
        "set Few = 0..3\n\n# ---- rule ----\n"
        "# (device) Limits.\nrequire x < 8\nrequire x != 3\n\nrequire x != 4 # (not "
        "yet) four\nrequire far + all != 17\n";
    struct include_folder f = include_new();
    const struct space_def *def = include_compile(&f, "t", text);
    cr_assert_not_null(def);
    cr_assert_str_eq(def->doc, "About s.");
    cr_assert_str_eq(def->choices[0].remark.doc, "How far.");
    cr_assert_str_eq(def->choices[0].remark.text, "x: int in 1..9");
    cr_assert_str_eq(def->choices[1].value_docs[0], "first");
    cr_assert_str_eq(def->choices[1].value_docs[1], "second");
    cr_assert_str_eq(def->choices[2].value_docs[0], "one");
    cr_assert_str_eq(def->choices[2].value_docs[1], "two");
    cr_assert_str_eq(def->choices[2].value_docs[2], "three");
    cr_assert_str_eq(def->choices[2].remark.doc, "behind");
    cr_assert_str_eq(def->constraints[0].doc, "(device) Limits.");
    cr_assert_str_eq(def->constraints[1].doc, "(device) Limits.");
    cr_assert_str_eq(def->constraints[2].doc, "(not yet) four");
    cr_assert_str_eq(def->constraints[3].doc, "", "that of the paragraph before is not its reason");
    cr_assert_eq(def->n_derived, 2);
    cr_assert_str_eq(def->derived[0].name, "far");
    cr_assert_str_eq(def->derived[0].remark.doc, "Twice as far.");
    cr_assert_str_eq(def->derived[0].remark.text, "far: int = d is X ? x : 2 * x");
    cr_assert_str_eq(def->derived[1].name, "all");
    cr_assert_str_eq(def->derived[1].remark.doc, "of few");
    include_free(&f);
}
