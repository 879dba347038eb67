/* What is wrong with a text, and where: each case is a program, its sizes and every message it gives, in
 * order. */
#include <criterion/criterion.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"

#define MATRIX "size M, N\ninput A: [[float]N]M\ninput x: [float]N\n"

enum { MAX_CASE_ERRORS = 5 };

struct error_case {
    const char *text, *sizes;
    const char *errors[MAX_CASE_ERRORS]; /* ends with NULL */
};

static const struct error_case error_cases[] = {
    {"size M\ninput A: [float]M\noutput map(sqrt, A",
     "M=4",
     {"k.lift:3:19: error: expected ')', found the end"}},
    {"input A [float]4\noutput A\n", "", {"k.lift:1:9: error: expected ':', found '['"}},
    {"size M\ninput A: [float]M\noutput $A\n", "M=4", {"k.lift:3:8: error: unexpected character '$'"}},
    {"size M\ninput A: [float]M\n", "M=4", {"k.lift:3:1: error: the program has no output"}},
    {"bogus\ninput A: [foo]3\nouput A\noutput map(,A)\n",
     "",
     {"k.lift:1:1: error: expected size, input, output, let, fun or schedule, found 'bogus'",
      "k.lift:2:11: error: expected a type, found 'foo'",
      "k.lift:4:12: error: expected an expression, found ','"}},
    {"schedule structured\noutput 1.0\n",
     "",
     {"k.lift:1:10: error: expected 'open' (the only schedule there is), found 'structured'"}},
    {"input A: [float]4\noutput 1e999\n", "", {"k.lift:2:8: error: '1e999' is not a number"}},
    {MATRIX "output foo(A)\n", "M=4,N=4", {"k.lift:4:8: error: unknown function 'foo'"}},
    {MATRIX "output B\n", "M=4,N=4", {"k.lift:4:8: error: unknown name 'B'"}},
    {MATRIX "output map(x, A)\n", "M=4,N=4", {"k.lift:4:12: error: a function is needed here"}},
    {MATRIX "output map(fun r -> reduce(add, 0.0), A)\n",
     "M=4,N=4",
     {"k.lift:4:21: error: 'reduce' takes 3 arguments, not 2"}},
    {MATRIX "output map(fun a b c -> a, zip(x, x))\n",
     "M=4,N=4",
     {"k.lift:4:25: error: a tuple of 3 is needed here, not (float, float)"}},
    {MATRIX "output add(1.0)\n", "M=4,N=4", {"k.lift:4:8: error: 'add' takes 2 arguments, not 1"}},
    {MATRIX "output zip(x)\n", "M=4,N=4", {"k.lift:4:8: error: 'zip' takes 2 arguments, not 1"}},
    {MATRIX "output reduce(sqrt, 0.0, x)\n",
     "M=4,N=4",
     {"k.lift:4:15: error: 'sqrt' takes 1 argument, not 2"}},
    {MATRIX "output map(add, x)\n",
     "M=4,N=4",
     {"k.lift:4:12: error: a tuple of 2 is needed here, not float"}},
    {MATRIX "output zip(A, x)\n",
     "M=4,N=8",
     {"k.lift:4:8: error: zip needs arrays of one length, not M = 4 and N = 8"}},
    {MATRIX "output zip(x, x)\n",
     "M=4,N=8",
     {"k.lift:4:8: error: the output is a scalar or an array of scalars, not [(float, float)]N"}},
    {MATRIX "output transpose(x)\n",
     "M=4,N=8",
     {"k.lift:4:8: error: transpose needs an array of arrays, not [float]N"}},
    {MATRIX "output map(fun v -> transpose(v), x)\n",
     "M=4,N=8",
     {"k.lift:4:21: error: transpose needs an array, not float"}},
    {MATRIX "output split(3, x)\n",
     "M=4,N=8",
     {"k.lift:4:8: error: split: the chunk length 3 does not divide the length N = 8"}},
    {MATRIX "output split(M - N, x)\n", "M=4,N=4", {"k.lift:4:8: error: size M - N is 0, not positive"}},
    {MATRIX "output split(Q, x)\n", "M=4,N=4", {"k.lift:4:14: error: unknown size 'Q'"}},
    {MATRIX "output join(x)\n",
     "M=4,N=4",
     {"k.lift:4:8: error: join needs an array of arrays, not [float]N"}},
    {MATRIX "output tail(A)\n", "M=1,N=4", {"k.lift:4:8: error: tail of an array of one element"}},
    {MATRIX "output reduce(fun (a, b) -> (a, b), 0.0, x)\n",
     "M=4,N=4",
     {"k.lift:4:8: error: the function of reduce gives (float, float), but its initial value is float"}},
    {MATRIX "output get(2, (x, x))\n",
     "M=4,N=4",
     {"k.lift:4:8: error: component 2 of ([float]N, [float]N), which has 2"}},
    {MATRIX "output add(x, 1.0)\n", "M=4,N=4", {"k.lift:4:8: error: add cannot take [float]N"}},
    {MATRIX "output unzip(x)\n",
     "M=4,N=4",
     {"k.lift:4:8: error: unzip needs an array of tuples, not [float]N"}},
    {MATRIX "output x\n",
     "M=0,N=-4",
     {"k.lift:1:6: error: size 'M' is 0, not positive", "k.lift:1:9: error: size 'N' is -4, not positive"}},
    {MATRIX "output x\n", "M=4", {"k.lift:1:9: error: size 'N' has no value (--size N=...)"}},
    {MATRIX "output x\n", "M=4,N=4,K=4", {"error: the program has no size 'K'"}},
    {MATRIX "output x\n", "M=4,N=4,N=4", {"error: size 'N' is given twice"}},
    {MATRIX "output x\n", "M=4;N=4", {"error: 'M=4;N=4' is not a size; write NAME=NUMBER"}},
    {MATRIX "output x\n",
     "M=4,N=99999999999999999999",
     {"error: size 'N=99999999999999999999' overflows 64 bits"}},
    {MATRIX "output x\n",
     "M=4294967296,N=4294967296",
     {"k.lift:2:7: error: array [[float]N]M has 2^50 bytes or more"}},
    {"size N\ninput A: [float](N * N)\noutput A\n",
     "N=9223372036854775807",
     {"k.lift:2:7: error: size N * N overflows 64 bits"}},
    {"size N\ninput A: [float](N / 2)\noutput A\n",
     "N=7",
     {"k.lift:2:7: error: size N / 2 does not divide evenly"}},
    {"size N\ninput A: [float]N\ninput A: [float]N\ninput N: float\nlet add = 1.0\noutput A\n",
     "N=7",
     {"k.lift:3:7: error: 'A' is declared twice", "k.lift:4:7: error: 'N' is already a size",
      "k.lift:5:5: error: 'add' is the name of a pattern or an operation"}},
    {"input a: float\ninput b: double\noutput a + b\n",
     "",
     {"k.lift:3:10: error: add needs arguments of one type, not float and double"}},
    {"input a: bool\noutput sqrt(a)\n", "", {"k.lift:2:8: error: sqrt cannot take bool"}},
    {"input a: int\noutput a + 0.5\n", "", {"k.lift:2:12: error: 0.5 is no int"}},
    {"fun f(x: float, y: float): float = { x * y }\ninput a: double\noutput f(a, 1.0)\n",
     "",
     {"k.lift:3:10: error: float is needed here, not double"}},
    {"fun f(x, y) = x * y\noutput f(1.0)\n", "", {"k.lift:2:8: error: 'f' takes 2 arguments, not 1"}},
    {"fun f(x) = f(x)\noutput f(1.0)\n", "", {"k.lift:1:12: error: unknown function 'f'"}},
    {"output map2(sqrt, 1.0)\n", "", {"k.lift:1:8: error: map needs an array, not float"}},
    {"output fun x -> x\n",
     "",
     {"k.lift:1:8: error: a function may stand only where a pattern or a function takes one"}},
    {"output add\n", "", {"k.lift:1:8: error: 'add' is a function; a value is needed here"}},
    {"output 1.0\noutput 2.0\n", "", {"k.lift:2:1: error: a program has one output"}},
    {"input a: [float]4\ninput b: [(float, float)]4\noutput a\n",
     "",
     {"k.lift:2:7: error: an input is a scalar or an array of scalars, not [(float, float)]4"}},
    {"fun a(x) = add(x, x)\nfun b(x) = a(a(a(a(x))))\nfun c(x) = b(b(b(b(x))))\nfun d(x) = "
     "c(c(c(c(x))))\nfun e(x) = d(d(d(d(x))))\ninput v: float\noutput e(e(e(e(e(v)))))\n",
     "",
     {"k.lift:2:20: error: the program is too large once its functions are inlined"}},
};

/* Parses and binds a text, as a command does. */
static bool accepts(const char *text, const char *sizes, struct diag *d)
{
    struct arena *a = arena_new();
    struct source source = {"k.lift", text, strlen(text)};
    struct lift_size_value *values;
    struct lift_program *p = lift_parse(&source, a, d);
    int n = p ? lift_parse_sizes(sizes, &values, a, d) : -1;
    bool ok = n >= 0 && lift_bind(p, values, (unsigned)n, a, d);
    arena_free(a);
    cr_assert_eq(ok, !diag_failed(d));
    return ok;
}

static void check_error_case(const struct error_case *c)
{
    struct diag *d = diag_new();
    cr_expect_not(accepts(c->text, c->sizes, d), "accepted: %s", c->text);
    size_t n = 0;
    for (; c->errors[n]; n++) {
        const char *message = diag_message(d, n);
        cr_expect(message && !strcmp(message, c->errors[n]), "expected %s\n     got %s", c->errors[n],
                  message ? message : "nothing");
    }
    cr_expect_eq(diag_count(d), n, "%zu errors, not %zu: %s", diag_count(d), n, c->text);
    diag_free(d);
}

Test(lift_errors, each_is_located_and_said_once)
{
    for (size_t i = 0; i < sizeof error_cases / sizeof error_cases[0]; i++)
        check_error_case(&error_cases[i]);
}

/* `head`, `repeated` n times, `tail`, bound to `sizes`; its first error must contain `expected`. */
static void check_long_with(const char *sizes, const char *head, const char *repeated, int n,
                            const char *tail, const char *expected)
{
    struct strbuf text = {0};
    strbuf_add(&text, head);
    for (int i = 0; i < n; i++)
        strbuf_add(&text, repeated);
    strbuf_add(&text, tail);
    struct diag *d = diag_new();
    cr_assert_not(accepts(text.text, sizes, d));
    cr_assert(strstr(diag_message(d, 0), expected), "%s", diag_message(d, 0));
    diag_free(d);
    strbuf_free(&text);
}

static void check_long(const char *head, const char *repeated, int n, const char *tail, const char *expected)
{
    check_long_with("", head, repeated, n, tail, expected);
}

Test(lift_errors, depth_is_bounded)
{
    check_long("output ", "(", 100000, "1.0", "nested deeper than 200 levels");
    check_long("output ", "- ", 100000, "1.0", "nested deeper than 200 levels");
    check_long("output ", "fun x -> ", 100000, "x", "nested deeper than 200 levels");
    check_long("input a: ", "[", 100000, "float", "nested deeper than 200 levels");
    check_long("output 1.0", " + 1.0", 100000, "", "more than 100 operators in a row");
    check_long("input a: [float]1", " + 1", 100000, "", "more than 100 operators in a row");
}

Test(lift_errors, inlining_is_bounded)
{
    check_long("fun f(x) = x + x\ninput v: float\noutput f", "(f", 40, "(v)", "expected ')'");
    const char *doubling =
        "fun a(x) = x * x + x\nfun b(f, x) = f(f(f(f(f(f(x))))))\nfun c(x) = b(a, b(a, x))\n"
        "fun d(x) = b(c, b(c, x))\nfun e(x) = b(d, b(d, x))\ninput v: float\noutput b(e, v)\n";
    check_long("", doubling, 1, "", "too large once its functions are inlined");
    check_long("input x: [float]4\nfun d(f, k, a) = f(k + k, a)\noutput ", "d(", 20,
               "split))))))))))))))))))), 1, x)", "too large once its functions are inlined");
}

/* Each let doubles the text of a type or a size. */
Test(lift_errors, types_are_bounded)
{
    check_long("input x: [float]4\noutput let z = x in ", "let z = zip(z, z) in ", 45, "map(fun t -> 1.0, z)",
               "k.lift:2:239: error: a type of more than 4096 parts");
    check_long("input x: float\noutput let z = x in ", "let z = (z, z) in ", 45, "x",
               "error: a type of more than 4096 parts");
    check_long_with("N=1", "size N\ninput x: [float]N\noutput let z = x in ",
                    "let z = join(map(fun e -> z, z)) in ", 45, "z",
                    ":394: error: a type of more than 4096 parts and terms of sizes");
}

Test(lift_errors, many_are_counted)
{
    struct diag *d = diag_new();
    struct strbuf text = {0};
    for (int i = 0; i < 30; i++)
        strbuf_add(&text, "input 7\n");
    cr_assert_not(accepts(text.text, "", d));
    cr_assert_eq(diag_count(d), 30);
    diag_free(d);
    strbuf_free(&text);
}
