/* Which constraints are said to be slow to propagate, and why: each limit of the fast ways, just passed and
 * just not passed. */
#include <criterion/criterion.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/space/cost.h"
#include "core/space/count.h"
#include "core/space/data.h"
#include "spacedsl/model.h"

struct explain_case {
    const char *text;
    unsigned objects; /* of set S, if it has any */
    unsigned line;    /* of the constraint that is slow; 0: none is */
    const char *why;  /* part of it */
    uint32_t instances;
};

/* Objects s0, s1, ...; object i has property has0 if bit 0 of i is set, and so on; the last one is extra(s0).
 */
static struct space_data *explain_data(unsigned n)
{
    static const char *const has[] = {"has0", "has1", "has2", "has3"};
    struct space_data *data = space_data_new();
    struct arena *a = arena_new();
    for (uint32_t i = 0; i < n; i++)
        space_data_object(data, "S", arena_printf(a, "s%u", i));
    for (uint32_t i = 0; i < n; i++)
        for (unsigned k = 0; k < 4; k++)
            space_data_int(data, has[k], &i, 1, i >> k & 1);
    arena_free(a);
    return data;
}

static void explain_check(const struct explain_case *c)
{
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    struct source src = {"f.space", c->text, strlen(c->text)};
    const struct space_def *def = spacedsl_compile(&src, a, d);
    struct space_data *data = strstr(c->text, "has3") ? explain_data(c->objects) : space_data_new();
    for (unsigned i = 0; !strstr(c->text, "has3") && i < c->objects; i++)
        space_data_object(data, "S", arena_printf(a, "s%u", i));
    for (uint32_t i = 0; strstr(c->text, "set T") && i < 3; i++)
        space_data_member(data, "T", i);
    if (strstr(c->text, "extra")) space_data_list(data, "extra", &(uint32_t){0}, 1, (int64_t[]){1, 2, 3}, 3);
    struct space *s = def ? space_instantiate(def, data, d) : NULL;
    cr_assert_not_null(s, "%s\n%s", c->text, diag_count(d) ? diag_message(d, 0) : "");
    struct space_cost *list;
    size_t n = space_explain_cost(s, a, &list), found = 0;
    for (size_t i = 0; i < n; i++) {
        if (list[i].line != c->line || !strstr(list[i].why, c->why)) continue;
        found++;
        cr_expect_str_eq(list[i].file, "f.space");
        cr_expect_eq(list[i].instances, c->instances, "%s\n%u instances", c->text, list[i].instances);
        cr_expect(strlen(list[i].cost) > 0 && strlen(list[i].change) > 0);
    }
    cr_expect_eq(found, c->line > 0, "%s\nfirst of %zu: %u: %s", c->text, n, n ? list[0].line : 0,
                 n ? list[0].why : "");
    cr_expect(c->line > 0 || n == 0, "%s\nis slow: %s", c->text, n ? list[0].why : "");
    space_free(s);
    space_data_free(data);
    arena_free(a);
    diag_free(d);
}

static void explain_check_each(const struct explain_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        explain_check(&cases[i]);
}

#define THREE(values)                                                                                        \
    "space s choice x: int in " values " choice y: int in " values " choice z: int in " values "\n"

Test(explain_cost, of_formulas_without_a_table)
{
    static const struct explain_case cases[] = {
        {THREE("1..20") "require x + y <= z", 0, 0, "", 0},
        {THREE("1..40") "require x + y <= z", 0, 2, "64000 combinations of three choices", 1},
        {THREE("1..64") "require x <= y", 0, 0, "", 0},
        {THREE("1..65") "require x <= y", 0, 2, "a choice of 65 values", 1},
        {THREE("1..4") "choice w: int in 1..4 require x * y + z <= w\nrequire x <= y", 0, 2,
         "up to 4 choices in one formula", 1},
    };
    explain_check_each(cases, sizeof cases / sizeof cases[0]);
}

#define PAIR(values, pairing) "space s set S choice order(a: S, b: S): { " values " } " pairing "\n"
#define TRANSITIVE "require forall a, b, c in S: order(a, b) is A && order(b, c) is A -> order(a, c) is A\n"

Test(explain_cost, of_triangles)
{
    static const struct explain_case cases[] = {
        {PAIR("A, B", "antisymmetric A ~ B") TRANSITIVE, 4, 0, "", 0},
        {PAIR("A, B", "symmetric") TRANSITIVE, 4, 0, "", 0},
        {PAIR("A, B", "") TRANSITIVE, 4, 2, "not symmetric or antisymmetric", 24},
        {PAIR("A, B, C, D, E, F", "symmetric") TRANSITIVE, 4, 2, "a pair choice of 6 values", 6},
        {PAIR("A, B, C, D, E, F, G, H, I", "symmetric") TRANSITIVE, 4, 2, "have at most 8", 4},
        {"space s set S choice order(a: S, b: S): { A, B } where a != b symmetric\n" TRANSITIVE, 4, 2,
         "with `where`", 4},
        {"space s set S set T : S choice order(a: S, b: S): { A, B } symmetric\n"
         "require forall a in T, b, c in S: order(a, b) is A && order(b, c) is A -> order(a, c) is A\n",
         4, 2, "not of the set of the pair choice", 4},
    };
    explain_check_each(cases, sizeof cases / sizeof cases[0]);
}

#define WITH_KINDS(kinds)                                                                                    \
    "space s set S property has0(S): bool property has1(S): bool property has2(S): bool property has3(S): "  \
    "bool choice order(a: S, b: S): { A, B } antisymmetric A ~ B " kinds "\n" TRANSITIVE
#define KIND(i) "choice kind" #i "(s: S): { A, B } where has" #i "(s) "
#define ANY(i) "choice any" #i "(s: S): { A, B, C, D, E, F } "
/* Of objects 3 and 7, which have kind0 and kind1, and any other one. */
#define KINDS_GO_ON                                                                                          \
    "require forall a, b in S: order(a, b) is A && kind0(a) is A && kind1(a) is A -> kind2(b) is A || "      \
    "kind3(b) is A\n"

Test(explain_cost, of_relations)
{
    static const struct explain_case cases[] = {
        {WITH_KINDS(
             "choice kind(s: S): { A, B }") "require forall a, b in S: order(a, b) is A && kind(a) is A "
                                            "-> kind(b) is A\n",
         3, 0, "", 0},
        {WITH_KINDS(
             ANY(0) ANY(1)) "require forall a, b in S: order(a, b) is A && any0(a) is A -> any1(b) is A\n",
         3, 3, "more than 32 combinations of values", 6},
        {WITH_KINDS(
             "choice k0(s: S): { A, B } choice k1(s: S): { A, B } choice k2(s: S): { A, B } choice k3(s: "
             "S): { A, B } choice k4(s: S): { A, B } ") "require forall a, b in S: order(a, b) is A && k0(a) "
                                                        "is A && k1(a) is A && k2(a) is A && k3(a) is A -> "
                                                        "k4(b) is A\n",
         3, 3, "more than 4 choices of an object", 6},
        {WITH_KINDS(KIND(0) KIND(1) KIND(2) KIND(3)) KINDS_GO_ON, 8, 0, "", 0},
        {WITH_KINDS(KIND(0) KIND(1) KIND(2) KIND(3)) KINDS_GO_ON, 9, 3, "more than 8 different sets", 16},
    };
    explain_check_each(cases, sizeof cases / sizeof cases[0]);
}

Test(explain_cost, of_guards)
{
    static const char latent[] = "space s set S property extra(S): S list choice go: { NO, YES }\n"
                                 "choice size(s: S): int in 1..3\n"
                                 "trigger forall s in S: when go is YES activate extra(s)\n"
                                 "require forall s, t, u in S: size(s) <= size(t) + 1\n";
    explain_check(&(struct explain_case){latent, 4, 4, "3 latent objects", 3});
}

/* Each limit of the fast way of counting, just passed and just not passed; NULL: it is counted so. */
Test(explain_cost, the_way_of_counting_has_a_reason)
{
    static const struct {
        const char *text;
        unsigned objects;
        const char *why;
    } cases[] = {
        {"space f set S choice x(s: S): { A, B }", 64, NULL},
        {"space f set S choice x(s: S): { A, B }", 65, "65 choices; the fast way has room for 64"},
        {"space f choice x: int in 1..64", 0, NULL},
        {"space f choice x: int in 1..65", 0, "a choice of 65 values"},
        {"space f set S choice x(s: S): int in 0..3 require 9 > sum of x(s) over s in S", 6, NULL},
        {"space f set S choice x(s: S): int in 0..3 require 9 > sum of x(s) over s in S", 7,
         "7 choices in one formula"},
        {"space f set S choice x(s: S): int in 0..3 require forall a, b, c in S: x(a) + x(b) + x(c) < 9", 6,
         NULL},
        {"space f set S choice x(s: S): int in 0..3 require forall a, b, c in S: x(a) + x(b) + x(c) < 9", 14,
         "constraints over three or more choices"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena *a = arena_new();
        struct diag *d = diag_new();
        struct source src = {"f.space", cases[i].text, strlen(cases[i].text)};
        const struct space_def *def = spacedsl_compile(&src, a, d);
        struct space_data *data = space_data_new();
        for (unsigned k = 0; k < cases[i].objects; k++)
            space_data_object(data, "S", arena_printf(a, "s%u", k));
        struct space *s = def ? space_instantiate(def, data, d) : NULL;
        cr_assert_not_null(s, "%s\n%s", cases[i].text, diag_count(d) ? diag_message(d, 0) : "");
        const char *why = space_count_why_slow(s, a);
        if (cases[i].why)
            cr_expect(why && strstr(why, cases[i].why), "%s, %u objects: %s", cases[i].text, cases[i].objects,
                      why ? why : "the fast way");
        else
            cr_expect_null(why, "%s, %u objects: %s", cases[i].text, cases[i].objects, why);
        space_free(s);
        space_data_free(data);
        diag_free(d);
        arena_free(a);
    }
}
