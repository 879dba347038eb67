/* What the compiler says about wrong input: the message, its place, and that it collects several. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
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
     "t:1:63: error: 'c' takes 1 argument, not 2"},
    {"space s set A choice c(a: A): { X } set B", "t:1:41: error: set 'B' is never used"},
    {"space s set A choice c(a: A): { X } require forall a in A: exists a in A: c(a) is X",
     "t:1:67: error: variable 'a' shadows another"},
    {"space s choice c: { X } define f: int = g define g: int = f require f == 1",
     "t:1:59: error: the definition of 'f' is cyclic"},
    {"space s choice c: { X, Y } require c + 1", "t:1:38: error: expected a condition, such as x > 0"},
    {"space s choice c: { X, Y } choice c: { X }", "t:1:35: error: 'c' is declared twice"},
    {"space s set A set B choice c(a: A): { X } require forall b in B: c(b) is X",
     "t:1:68: error: argument 1 of 'c' must be an object of set 'A'"},
    {"space s choice c { X }", "t:1:18: error: expected ':', found '{'"},
    {"space s choice x: int in { 1, 2, 8 } require x % 3 == 0",
     "t:1:38: error: the condition is never true: it excludes everything"},
    {"space s set A choice c(a: A): { X, Y } require forall a, b in A: c(a) is X && c(a) is Y",
     "t:1:40: error: the condition is never true: it excludes everything"},
    {"space s choice c: { X } define f: bool = c require f",
     "t:1:42: error: 'f' is declared bool, but its value is of another type"},
    {"space s set A choice c(a: A): { X, Y } define f(a: A): B = a require forall a in A: c(f(a)) is X",
     "t:1:56: error: unknown set 'B'"},
    {"space s set A property p(A): A choice c(a: A): int in 0..3 "
     "define f(a: A): int = c(a) + f(a) require forall a in A: f(a) < 5",
     "t:1:89: error: the definition of 'f' is cyclic"},
    {"space s choice c: { X, Y } counter n = c + 1 require n < 2",
     "t:1:42: error: a counter must be a sum, product, min or max: write 'sum of E over x in SET'"},
    {"space s set A choice x(a: A): int in 0..3 half counter n = sum of x(a) over a in A require n >= 2",
     "t:1:92: error: half counter 'n' may only be bounded from above"},
    {"space s set A choice x(a: A): int in 0..3 half counter n = sum of x(a) over a in A require !(n < 2)",
     "t:1:94: error: half counter 'n' may only be bounded from above"},
    {"space s set A choice o(a: A, b: A): { L, R, M } antisymmetric L ~ R "
     "quotient Q = d: A where true modulo o is L require exists d in Q: d in A",
     "t:1:105: error: a quotient needs a symmetric or antisymmetric choice, and values that do not depend on "
     "the order of the pair; 'o' does not have both"},
    {"space s set A choice c(a: A): { X, Y } quotient Q = d: A where c(d) is X modulo o is M "
     "require exists d in Q: c(d) is Y",
     "t:1:81: error: unknown choice 'o'"},
    {"space s set A choice o(a: A, b: A): { L, M } symmetric quotient Q = d: A where true modulo o is M "
     "choice c(q: Q): { X }",
     "t:1:111: error: quotient 'Q' can only be the range of a variable"},
    {"space s include \"/nowhere/at/all.space\" choice c: { X }",
     "t:1:17: error: cannot include '/nowhere/at/all.space': cannot open '/nowhere/at/all.space': No such "
     "file or directory"},
    {"space s choice c: { X, Y } space t",
     "t:1:28: error: unexpected 'space'; it stands once, at the beginning of the file"},
    {"space s set A property p(A): A choice c(a: A): { X, Y } trigger forall a in A: when c(p(a)) is X "
     "activate p(a)",
     "t:1:57: error: cyclic trigger: its condition depends on objects that it activates"},
    {"space s set V property p(V): V property q(V): V choice c(v: V): { X, Y }\n"
     "trigger forall v in V: when c(p(v)) is X activate q(v)\n"
     "trigger forall v in V: when c(q(v)) is X activate p(v)",
     "t:3:1: error: cyclic trigger: its condition depends on objects that it activates"},
    {"space s set A set T(a: A) : A choice x(a: A): { X, Y }\n"
     "require forall a in A: exists t in T(first b in A: x(b) is X): x(t) is Y",
     "t:2:38: error: this expression must not depend on a choice"},
    {"space s set A property p(A): A list choice x(a: A): { X, Y }\n"
     "require forall a in A: exists t in p(x(a) is X ? a : first b in A: x(b) is X): x(t) is Y",
     "t:2:36: error: this expression must not depend on a choice"},
    {"space s set A property p(A): int list choice x(a: A): { X, Y }\n"
     "choice y: int in p(first b in A: x(b) is X)",
     "t:2:18: error: this expression must not depend on a choice"},
    {"space s set A choice x(a: A): { X, Y }\n"
     "choice y(a: A): { Z, V } where a == (first b in A: x(b) is X)",
     "t:2:34: error: this expression must not depend on a choice"},
    {"space s set A choice x(a: A): { X, Y } define sel(a: A): A = x(a) is X ? a : first b in A: b != a\n"
     "trigger forall a in A: when x(a) is X activate sel(a)",
     "t:2:48: error: this expression must not depend on a choice"},
    {"space s set A choice x(a: A): { X, Y } require x(first a, b in A: x(a) is X) is Y",
     "t:1:57: error: expected 'in', found ','"},
    {"space s set A choice x(a: A): { X, Y } require x(first a in A: x(a)) is Y",
     "t:1:64: error: expected a condition, such as x > 0"},
    {"space s set A choice x(a: A): { X, Y } require forall a in A: x(first a in A: x(a) is X) is Y",
     "t:1:71: error: variable 'a' shadows another"},
    {"space s set A choice x(a: A): { X, Y } require (first a in A: x(a) is X) + 1 == 2",
     "t:1:49: error: expected a number"},
    {"space s set A choice x(a: A): { X, Y } require (first a in A: x(a) is X) is Y",
     "t:1:74: error: 'is' needs a choice with named values on its left"},
    {"space s set A choice x(a: A): { X, Y } require x(first a in { 1, 2 }: x(a) is X) is Y",
     "t:1:61: error: expected a set, found '{'"},
    {"space s set A set B choice x(a: A): { X, Y } choice y(b: B): { X, Y }\n"
     "require y(first a in A: x(a) is X) is Y",
     "t:2:11: error: argument 1 of 'y' must be an object of set 'B'"},
    {"space s set A set B choice x(a: A): { X, Y } choice y(b: B): { X, Y }\n"
     "require (first a in A: x(a) is X) == (first b in B: y(b) is X)",
     "t:2:35: error: the two sides have different types"},
    {"space s set A set B choice x(a: A): { X, Y } choice y(b: B): { X, Y }\n"
     "define f(b: B): B = first a in A: x(a) is X require forall b in B: y(f(b)) is Y",
     "t:2:21: error: 'f' is declared B, but its value is of another type"},
    {"space s set A choice x(a: A): { X, Y }\n"
     "define f(a: A, b: A): A = x(a) is X ? a : f(a, b) require forall a, b in A: x(f(a, b)) is Y",
     "t:2:43: error: the definition of 'f' is cyclic"},
    {"space s set A choice x(a: A): { X, Y } define to(a: A): A = first b in A: x(b) is X && up(b) != a\n"
     "define up(a: A): A = x(a) is X ? a : to(a) require forall a in A: x(up(a)) is Y",
     "t:2:38: error: the definition of 'to' is cyclic"},
    {"space s set A choice x(a: A): { X, Y } define next(a: A): A = first b in A: b != a\n"
     "define f(a: A, b: A, c: A, d: A, e: A): bool = x(a) is X || f(next(a), b, c, d, e)\n"
     "require forall a in A: f(a, a, a, a, a)",
     "t:2:61: error: recursive definition 'f' has more than 4 arguments"},
    {"space s choice x: int in 0..3 choice y: int in 0..x",
     "t:1:48: error: this expression must not depend on a choice"},
    {"space s choice c: { X, X }", "t:1:24: error: a value of this name or code exists already"},
    {"space s choice c: { X = 1, Y = 1 }", "t:1:28: error: a value of this name or code exists already"},
    {"space s set A : B", "t:1:17: error: unknown set 'B'"},
    {"space s set A choice c(a: A): { X, Y } symmetric",
     "t:1:22: error: only a choice with named values over two objects of one set can be symmetric"},
    {"space s choice c: { X, Y } require c == true", "t:1:38: error: the two sides have different types"},
    {"space s set T(l: L) : T set L", "t:1:18: error: unknown set 'L'"},
    {"space s set L set T(l: L) choice c(l: L): { X }",
     "t:1:19: error: a parametric set must be a subset of a set: write 'set S(x: X) : T', or declare a "
     "relation"},
    {"space s parameter p: int = true", "t:1:28: error: expected a number, found the reserved word 'true'"},
    {"space s choice step: { X, Y }", "t:1:16: error: expected a name, found the reserved word 'step'"},
    {"space s choice x: int in 1..8 require x = 2",
     "t:1:41: error: expected an operator or a declaration, found '='; write '=='"},
    {"space s choice x: int in 1..8 require x < 3 or x > 5",
     "t:1:45: error: expected an operator or a declaration, found 'or'; write '||'"},
    {"space s choice x: int in 1..8 require x < 0.5 * x",
     "t:1:43: error: numbers must be whole: write 4 * x <= 3 * y for x <= 0.75 * y"},
    {"space s set P = 1..3 choice x(p: P): int in 1..8 require x(4) < x(1)",
     "t:1:60: error: 4 is not an object of set 'P', which has 1 to 3"},
    {"space s set P = 1..3 choice x(p: P): int in 1..8 define y(p: P): int = 2 * x(p) require x(1) < y(0)",
     "t:1:98: error: 0 is not an object of set 'P', which has 1 to 3"},
    {"space s set P = 1..3 choice x(p: P): int in 1..8 require sum(x) < 4",
     "t:1:58: error: write 'sum of E over x in SET'"},
    {"space s choice c: int in { 1, \"a\" }", "t:1:31: error: expected an expression, found 'a'"},
    {"space s choice c: int in 1..3 require c > 99999999999999999999",
     "t:1:43: error: number too large; the maximum is 2^60"},
    {"space s choice c: int in 1..3 require c < 1152921504606846976 && c > 1152921504606846977",
     "t:1:70: error: number too large; the maximum is 2^60"},
    {"space s choice c: { X, Y } require c is X @", "t:1:43: error: unexpected character '@'"},
    {"space s choice c: { X, Y } require c is 3",
     "t:1:41: error: expected a named value, found '3'; numbers are compared with '=='"},
    {"space s choice c: { X, Y } require c is X and c is Y",
     "t:1:43: error: expected an operator or a declaration, found 'and'; write '&&'"},
    {"space s choice x: bool", "t:1:19: error: expected '{' or 'int', found 'bool'; write { NO, YES }"},
    {"space s choice c: { X, Y } choice d: { Y, Z } require c == Y",
     "t:1:60: error: unknown name 'Y'; of a choice that has this value write 'c is Y'"},
    {"space s parameter p: int \"bytes", "t:1:26: error: string without a closing quote"},
    {"space s include X choice c: { X, Y }", "t:1:17: error: expected a file name in quotes, found 'X'"},
    {"space s chioce c: { X, Y }",
     "t:1:9: error: expected a declaration, found 'chioce'; did you mean 'choice'?"},
    {"space s set A property w(A): int choice c(a: A): { X, Y }\n"
     "trigger forall a in A: when c(a) is X activate w(a)",
     "t:2:48: error: expected an object or a list of objects"},
    {"space s set A choice c(a: A): { X, Y } require A == 1", "t:1:48: error: 'A' is a set, not a value"},
    {"space s set A = 0..9999 choice c(a: A): { X, Y }",
     "t:1:13: error: a range set has 1 to 4096 objects, none below 0"},
    {"space s set A = -1..2 choice c(a: A): { X, Y }",
     "t:1:13: error: a range set has 1 to 4096 objects, none below 0"},
    {"space s set A = 3..2 choice c(a: A): { X, Y }", "t:1:13: error: the range is empty"},
    {"space s set A = 1152921504606846970..1152921504606846975 choice c(a: A): { X, Y }",
     "t:1:13: error: the objects of a range set are numbers up to 1048576"},
    {"space s set B set A = 0..2 : B choice c(a: A): { X, Y } choice d(b: B): { X, Y }",
     "t:1:19: error: a range set cannot be part of another set"},
    {"space s set A set C set B(a: A) : C set D : B choice c(d: D): { X, Y }",
     "t:1:45: error: 'B' is a parametric set; only a parametric set can be a subset of it"},
    {"space s set A property p(A): bool list choice c(a: A): int in p(a)",
     "t:1:24: error: a list must be a list of int or of objects"},
    {"space s set A property p(A): A list choice c(a: A): int in p(a)",
     "t:1:60: error: the values of 'c' must be a list of numbers"},
    {"space s set A choice c(a: A): { X, Y } choice d: int in c",
     "t:1:57: error: 'c' takes 1 argument, not 0"},
    {"space s set A set B choice o(a: A, b: A): { L, M } symmetric\n"
     "quotient Q = b: B where true modulo o is M require exists b in Q: b in B",
     "t:2:37: error: the arguments of 'o' are not objects of 'B'"},
    {"space s set A property p(A): A choice c: int in { 1, true }", "t:1:54: error: expected a number"},
    {"space s set A choice c(a: A): { X, Y } require exists a in { 1 }: c(a) is X",
     "t:1:60: error: expected a set, found '{'"},
    {"space s set A property w(A): int choice c(a: A): { X, Y } require exists a in w(a): c(a) is X",
     "t:1:81: error: unknown name 'a'; did you mean 'A'?"},
    {"space s set A property w(A): int choice c(a: A): { X, Y } require forall a in A: "
     "exists b in w(a): c(b) is X",
     "t:1:94: error: 'w' is neither a set nor a list of objects"},
    {"space s set A set B choice c(a: A): { X, Y } require forall a in A: a in B -> c(a) is X",
     "t:1:71: error: 'B' contains objects of another set"},
    {"space s choice x: int in 1..4 require x in 3", "t:1:44: error: expected a set or a list"},
    {"space s set A property q(A, A, A, A, A): int choice c(a: A): { X, Y }",
     "t:1:38: error: more than 4 arguments"},
    {"space s set A choice c(a: A, b: A, d: A, e: A, f: A): { X, Y }",
     "t:1:48: error: more than 4 arguments"},
    {"space s choice c: { A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q }",
     "t:1:69: error: more than 16 values"},
    {"space s set R = 0..2 choice c(r: R): { X, Y } property max(R): int",
     "t:1:56: error: expected a name, found the reserved word 'max'"},
    {"space s choice min: int in 1..4", "t:1:16: error: expected a name, found the reserved word 'min'"},
    {"space s set int choice c(a: int): { X, Y }",
     "t:1:13: error: expected a name, found the reserved word 'int'"},
    {"space s choice c: { X, Y } define bool: int = c",
     "t:1:35: error: expected a name, found the reserved word 'bool'"},
    {"space s set K relation S(k: K) property k(S): K\n"
     "choice o(a: S, b: S(k(a))): { L, R } antisymmetric L ~ R",
     "t:2:8: error: only a choice with named values over two objects of one set can be symmetric"},
    {"space s set A choice o(a: A, b: A): { L, R, M } antisymmetric L ~ R, L ~ M",
     "t:1:70: error: 'L' is in two pairs"},
    {"space s set A choice o(a: A, b: A): { L, R, M } antisymmetric L ~ R, M ~ R",
     "t:1:74: error: 'R' is in two pairs"},
    {"space s set A choice o(a: A, b: A): { L, R, M } alias LR = L | R antisymmetric LR ~ M",
     "t:1:80: error: 'LR' stands for several values; a pair takes one"},
    {"space s set A choice o(a: A, b: A): { L, R } symmetric antisymmetric L ~ R",
     "t:1:56: error: a choice cannot be both symmetric and antisymmetric"},
    {"space s set A choice o(a: A, b: A): { L, R } antisymmetric L ~ R symmetric",
     "t:1:66: error: a choice cannot be both symmetric and antisymmetric"},
    {"space s set A choice o(a: A, b: A): { L, R } where a != b where a == b",
     "t:1:59: error: repeated 'where'; a choice has at most one"},
    {"space s choice c: { X, Y } alias P = X alias P = Y",
     "t:1:46: error: a value or alias of this name exists already"},
    {"space s choice c: { X, Y } alias Y = X", "t:1:34: error: a value or alias of this name exists already"},
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

/* A parametric set of an unknown one has one that it is part of. */
Test(spacedsl_errors, unknown_sets_are_one_error)
{
    struct diag *d = spacedsl_errors("space s set L set T(l: L) : B set B");
    cr_expect_eq(diag_count(d), 1);
    cr_expect_str_eq(diag_message(d, 0), "t:1:29: error: unknown set 'B'");
    diag_free(d);
}

static char *spacedsl_printed(const struct diag *d)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    diag_print(d, out);
    fclose(out);
    return text;
}

/* The space is compiled all the same. */
Test(spacedsl_errors, conditions_that_are_always_true_are_warnings)
{
    static const struct spacedsl_case cases[] = {
        {"space s choice c: { X }\nrequire true", "t:2:1"},
        {"space s choice x: int in 1..4\n require x * x <= 16", "t:2:2"},
        {"space s set A set B : A choice c(b: B): { X, Y } choice d(a: A): { X }\n"
         "require forall a in B: c(a) is X | Y",
         "t:2:1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct diag *d = diag_new();
        struct arena *a = arena_new();
        struct source src = {"t", cases[i].text, strlen(cases[i].text)};
        char wanted[80];
        snprintf(wanted, sizeof wanted, "%s: warning: the condition is always true: it excludes nothing\n",
                 cases[i].message);
        cr_expect_not_null(spacedsl_compile(&src, a, d));
        cr_expect_eq(diag_count(d), 0);
        char *text = spacedsl_printed(d);
        cr_expect_eq(strncmp(text, wanted, strlen(wanted)), 0, "%s", text);
        cr_expect_null(strstr(text + 1, "t:"), "%s", text);
        free(text);
        arena_free(a);
        diag_free(d);
    }
}

/* As they are printed: the line with a caret below. */
Test(spacedsl_errors, show_the_place)
{
    struct diag *d = spacedsl_errors("space s set A choice x(a: A): { X, Y }\nset T(a: A) : A\n"
                                     "require forall a in A:\n"
                                     "  exists t in T(first b in A: x(b) is X): x(t) is Y\n"
                                     "require x(first b in A: x(b)) is Y\n");
    char *text = spacedsl_printed(d);
    cr_assert_str_eq(text, "t:4:17: error: this expression must not depend on a choice\n"
                           "      exists t in T(first b in A: x(b) is X): x(t) is Y\n"
                           "                    ^\n"
                           "t:5:25: error: expected a condition, such as x > 0\n"
                           "    require x(first b in A: x(b)) is Y\n"
                           "                            ^\n");
    free(text);
    diag_free(d);
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

Test(spacedsl_errors, are_collected_up_to_twenty)
{
    struct strbuf text = {0};
    strbuf_add(&text, "space s choice c: { X, Y }\n");
    for (int i = 0; i < 30; i++)
        strbuf_printf(&text, "require c == n%d\n", i);
    struct diag *d = spacedsl_errors(text.text);
    cr_assert_eq(diag_count(d), 30);
    cr_assert_not_null(diag_message(d, DIAG_MAX - 1));
    cr_assert_null(diag_message(d, DIAG_MAX));
    strbuf_free(&text);
    diag_free(d);
}

/* `head`, `count` times `part` with its number, from 1 for `$` and from 0 for `@`, then `tail`: the first
 * error. */
static void spacedsl_repeated(const char *head, const char *part, int count, const char *tail,
                              const char *message)
{
    struct strbuf text = {0};
    strbuf_add(&text, head);
    for (int i = 0; i < count; i++)
        for (const char *c = part; *c; c++)
            if (*c == '$' || *c == '@')
                strbuf_printf(&text, "%d", *c == '$' ? i + 1 : i);
            else
                strbuf_addn(&text, c, 1);
    strbuf_add(&text, tail);
    struct diag *d = spacedsl_errors(text.text);
    cr_expect(strstr(diag_message(d, 0), message), "wanted \"%s\", got \"%s\"", message, diag_message(d, 0));
    diag_free(d);
    strbuf_free(&text);
}

Test(spacedsl_errors, of_nesting)
{
    static const char objects[] = "space s set A property up(A): A choice c(a: A): { X, Y }\n"
                                  "define f(a: A): A = up(a) == a ? up(a) : a\n"
                                  "require forall a in A: c(";
    spacedsl_repeated(objects, "f(", 40, "a))))))))))))))))))))))))))))))))))))))))) is X",
                      "the expanded formulas are too large");
    spacedsl_repeated("space s choice c: int in 1..3 define f0: int = c\n", "define f$: int = f@ + 1\n", 70,
                      "require f70 > 2", "definitions are nested too deeply");
    spacedsl_repeated("space s choice c: int in 1..3 require c", " + $ * @", 2100, " > 2",
                      "expected the end of the formula, which is too long");
    spacedsl_repeated("space s choice c: int in { 0", ", $ + @", 300, " }", "a list of more than 255 items");
    spacedsl_repeated("space s set A choice c(a: A): { X, Y } require ", "exists x$ in A: @ == 0 || ", 30,
                      "c(x1) is X", "more than 24 variables");
    spacedsl_repeated("space s set A choice c(a: A): { X, Y } require forall x0", ", x$", 30,
                      " in A: c(x1) is X", "more than 24 variables");
    spacedsl_repeated("space s set A property p(A): A choice c(a: A): { X, Y }\n"
                      "trigger forall a in A: when c(a) is X activate p(a)",
                      ", p(a)", 64, "", "t:2:432: error: more than 64 objects in one trigger");
    spacedsl_repeated("space s choice c: { X, Y }", " alias P$ = X", 256, "", "more than 255 aliases");
}

/* Formulas that would grow without end, or overflow the stack, are errors. */
Test(spacedsl_errors, of_size)
{
    struct strbuf text = {0};
    strbuf_add(&text, "space s choice c: int in 1..3 define f0: int = c\n");
    for (int i = 1; i < 40; i++)
        strbuf_printf(&text, "define f%d: int = f%d + f%d\n", i, i - 1, i - 1);
    strbuf_add(&text, "require f39 > 2");
    struct diag *d = spacedsl_errors(text.text);
    cr_assert_not_null(strstr(diag_message(d, 0), "the expanded formulas are too large"));
    diag_free(d);
    strbuf_free(&text);
    strbuf_add(&text, "space s choice c: { X, Y } require ");
    for (int i = 0; i < 100000; i++)
        strbuf_add(&text, i % 2 ? "(" : "!");
    d = spacedsl_errors(text.text);
    cr_assert_not_null(strstr(diag_message(d, 0), "expected a less deeply nested expression"));
    diag_free(d);
    strbuf_free(&text);
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
