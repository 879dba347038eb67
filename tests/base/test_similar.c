/* What counts as a misspelling of a known name. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "core/base/similar.h"

static const char *const known_names[] = {"reduce", NULL,       "map",  "transpose", "evaluations",
                                          "M",      "dim_kind", "sqrt", "split",     "size"};

static const char *nearest(const char *name)
{
    return similar_find(name, known_names, sizeof known_names / sizeof known_names[0]);
}

Test(similar, misspelt_names_are_found)
{
    static const char *const cases[][2] = {
        {"redcue", "reduce"},      {"Reduce", "reduce"},          {"mapp", "map"},
        {"transpos", "transpose"}, {"evaluation", "evaluations"}, {"m", "M"},
        {"dimkind", "dim_kind"},   {"eval", "evaluations"},       {"spilt", "split"},
        {"sqr", "sqrt"},           {"traspsoe", "transpose"},     {"split", "split"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *found = nearest(cases[i][0]);
        cr_expect(found, "%s: nothing", cases[i][0]);
        if (found) cr_expect_str_eq(found, cases[i][1], "%s", cases[i][0]);
    }
}

Test(similar, other_names_are_not)
{
    static const char *const names[] = {"", "K", "ev", "slide", "pad", "iterate", "zip", "argmax"};
    char longest[5000];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        cr_expect_null(nearest(names[i]), "%s: %s", names[i], nearest(names[i]));
    for (size_t i = 0; i < sizeof longest; i++)
        longest[i] = 'm';
    longest[sizeof longest - 1] = '\0';
    cr_expect_null(nearest(longest));
    cr_expect_null(similar_find("map", known_names, 0));
}

Test(similar, files)
{
    static const char *const cases[][2] = {{"core/base/similer.h", "core/base/similar.h"},
                                           {"core/base/./Arena.C", "core/base/./arena.c"},
                                           {"core/base/units", "core/base/units.c"},
                                           {"READM.md", "README.md"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *found = similar_file(cases[i][0]);
        cr_expect(found, "%s: nothing", cases[i][0]);
        if (found) cr_expect_str_eq(found, cases[i][1]);
        free(found);
    }
    cr_expect_null(similar_file("core/base/nothing_like_it"));
    cr_expect_null(similar_file("/nonexistent/folder/similar.h"));
    cr_expect_null(similar_file(""));
}
