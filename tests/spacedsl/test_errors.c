/* What the compiler says about wrong input: the message, its place, and that it collects several. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "spacedsl/model.h"

struct spacedsl_case {
    const char *text, *message;
};

static const struct spacedsl_case spacedsl_cases[] = {
    {"space s set A choice c(a: A): { X, Y } require forall a in A: c(a) is Z",
     "t:1:71: error: 'Z' is not a value of 'c'"},
    {"space s set A choice c(a: A): { X } require forall a in A: d(a) == 1",
     "t:1:60: error: unknown name 'd'"},
    {"space s set A choice c(a: A): { X } require forall a, b in A: c(a, b) is X",
     "t:1:63: error: 'c' takes 1 arguments, not 2"},
    {"space s set A choice c(a: A): { X } set B", "t:1:41: error: set 'B' is never used"},
    {"space s set A choice c(a: A): { X } require forall a in A: exists a in A: c(a) is X",
     "t:1:67: error: variable 'a' shadows another"},
    {"space s choice c: { X } define f: int = g define g: int = f require f == 1",
     "t:1:59: error: the definition of 'f' is cyclic"},
    {"space s choice c: { X, Y } require c + 1", "t:1:38: error: expected a condition"},
    {"space s choice c: { X, Y } choice c: { X }", "t:1:35: error: 'c' is declared twice"},
    {"space s set A set B choice c(a: A): { X } require forall b in B: c(b) is X",
     "t:1:68: error: argument 1 of 'c' must be an object of set 'A'"},
    {"space s choice c { X }", "t:1:18: error: expected :, found '{'"},
    {"space s choice c: { X } require true", "t:1:25: error: the condition is always true"},
};

static struct diag *spacedsl_errors(const char *text)
{
    struct diag *d = diag_new();
    struct arena *a = arena_new();
    struct source src = {"t", text, strlen(text)};
    cr_assert_null(spacedsl_compile(&src, a, d));
    arena_free(a);
    return d;
}

Test(spacedsl_errors, are_located)
{
    for (size_t i = 0; i < sizeof spacedsl_cases / sizeof spacedsl_cases[0]; i++) {
        struct diag *d = spacedsl_errors(spacedsl_cases[i].text);
        bool found = false;
        for (size_t k = 0; k < diag_count(d) && diag_message(d, k); k++)
            found = found || !strcmp(diag_message(d, k), spacedsl_cases[i].message);
        cr_expect(found, "wanted \"%s\", got \"%s\"", spacedsl_cases[i].message, diag_message(d, 0));
        diag_free(d);
    }
}

Test(spacedsl_errors, are_collected)
{
    struct diag *d = spacedsl_errors(
        "space s set A choice c(a: A): { X }\nrequire e == 1\nrequire f == 1\nrequire ) \nrequire g == 1\n");
    cr_assert_eq(diag_count(d), 1, "syntax errors come first");
    diag_free(d);
    d = spacedsl_errors("space s set A choice c(a: A): { X }\nrequire e == 1\nrequire f == 1\n");
    cr_assert_eq(diag_count(d), 2);
    diag_free(d);
}

Test(spacedsl_errors, output_is_deterministic)
{
    const char *text =
        "space s set A /// doc \"x\"\nchoice c(a: A): { X, Y } require forall a, b in A: c(a) != c(b)";
    struct source src = {"t", text, strlen(text)};
    char *out[2];
    for (int i = 0; i < 2; i++) {
        struct arena *a = arena_new();
        struct diag *d = diag_new();
        out[i] = spacedsl_emit(spacedsl_resolve(spacedsl_parse(&src, a, d), a, d));
        arena_free(a);
        diag_free(d);
    }
    cr_assert_str_eq(out[0], out[1]);
    cr_assert(strstr(out[0], "#line 2 \"t\"") && strstr(out[0], "space_def_s"));
    free(out[0]);
    free(out[1]);
}
