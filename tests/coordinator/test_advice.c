/* What limits a program: which programs and sizes get which advice, and which get none. */
#include <criterion/criterion.h>
#include <string.h>

#include "coordinator/advice.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "tests/fixture/kernel.h"

#define VECTOR "size N\ninput x: [float]N\n"

enum { MOST_EXPECTED = 3 };

struct advice_case {
    const char *text, *sizes;
    const char *parts[MOST_EXPECTED]; /* of the lines, in order; ends with NULL */
};

/* A device of 8 units with a cache of 4 MiB. */
static const struct device advice_device = {.name = "test", .compute_units = 8, .cache_bytes = 1 << 22};

static const struct advice_case advice_cases[] = {
    /* extents */
    {VECTOR "output map(sqrt, x)\n", "N=512", {NULL}},
    {VECTOR "output map(sqrt, x)\n", "N=61", {NULL}},
    {VECTOR "output map(sqrt, x)\n", "N=509", {NULL}},
    {VECTOR "output map(sqrt, x)\n", "N=4099", {NULL}},
    /* results */
    {VECTOR "output reduce(add, 0.0, x)\n", "N=128", {NULL}},
    {VECTOR "output reduce(add, 0.0, x)\n",
     "N=4096",
     {"one work-group reduces all 4096 elements to one result: expect a slow kernel; output partial "
      "results"}},
    {VECTOR "output map(fun c -> reduce(add, 0.0, c), split(N / 4, x))\n",
     "N=4096",
     {"4 results occupy at most 4 of the 8 compute units of test; output partial results"}},
    {VECTOR "output map(fun c -> reduce(add, 0.0, c), split(N / 8, x))\n", "N=4096", {NULL}},
    /* arrays */
    {VECTOR "output map(sqrt, x)\n", "N=131072", {NULL}},
    {VECTOR "output map(sqrt, x)\n",
     "N=1048576",
     {"the arrays take 8 MiB, more than the last-level cache (4 MiB), and each element is used fewer than "
      "4 "
      "times: memory bandwidth is the limit"}},
    {"size N\ninput A: [[float]N]N\noutput map(fun r -> map(fun c -> sum(map(mult, zip(r, c))), A), A)\n",
     "N=1024",
     {NULL}},
    /* indices */
    {"size N\ninput A: [[float]N]N\noutput join(transpose(A))\n", "N=64", {NULL}},
    {"size N\ninput A: [[float]N]N\noutput join(transpose(A))\n", "N=48", {NULL}},
    {VECTOR "input c: [float](N + 1)\noutput head(tail(split(N + 1, join(map(fun v -> x, c)))))\n",
     "N=63",
     {"each load of x divides its index by 63, which is not a power of two"}},
    {VECTOR "input c: [float](N + 1)\noutput head(tail(split(N + 1, join(map(fun v -> x, c)))))\n",
     "N=32",
     {NULL}},
    {VECTOR "input c: [float](N + 1)\noutput join(split(N + 1, join(map(fun v -> x, c))))\n", "N=63", {NULL}},
};

static struct problem *advice_problem(const char *text, const char *sizes)
{
    struct diag *d = diag_new();
    struct problem *p = problem_new("k.lift", text, sizes, &problem_any_device, NULL, d);
    cr_assert_not_null(p, "%s: %s", text, diag_message(d, 0));
    diag_free(d);
    return p;
}

static void check_advice_case(const struct advice_case *c)
{
    struct problem *p = advice_problem(c->text, c->sizes);
    struct arena *a = arena_new();
    struct advice advice = advice_of(p, &advice_device, a);
    unsigned n = 0;
    for (; n < MOST_EXPECTED && c->parts[n]; n++) {
        const char *line = n < advice.n ? advice.lines[n] : "nothing";
        cr_expect_eq(strncmp(line, c->parts[n], strlen(c->parts[n])), 0, "%s %s\nexpected %s\n     got %s",
                     c->text, c->sizes, c->parts[n], line);
    }
    cr_expect_eq(advice.n, n, "%s %s: %u lines: %s", c->text, c->sizes, advice.n,
                 advice.n ? advice.lines[0] : "");
    arena_free(a);
    problem_free(p);
}

Test(advice, limits_of_programs)
{
    for (size_t i = 0; i < sizeof advice_cases / sizeof advice_cases[0]; i++)
        check_advice_case(&advice_cases[i]);
}

/* Where TF32 is allowed for nothing. */
static void advice_allowed(const char *text, bool matrix, bool allowed, const char *expected)
{
    struct diag *d = diag_new();
    struct arena *a = arena_new();
    struct bb_options options = {0};
    struct bb_device device = problem_any_device;
    device.matrix = matrix;
    cr_assert(!allowed || bb_parse_allowed("tf32", &options, d));
    struct problem *p = problem_new("k.lift", text, "N=64", &device, &options, d);
    cr_assert_not_null(p);
    const char *why = advice_on_tf32(p, "test", a);
    cr_expect(expected ? why && strstr(why, expected) : !why, "%s: %s", text, why ? why : "nothing");
    problem_free(p);
    arena_free(a);
    diag_free(d);
}

Test(advice, on_what_is_allowed)
{
    static const char product[] = "size N\ninput A: [[float]N]N\ninput B: [[float]N]N\n"
                                  "output map(fun r -> map(fun c -> sum(map(mult, zip(r, c))), B), A)\n";
    advice_allowed(product, true, true, NULL);
    advice_allowed(product, false, false, NULL);
    advice_allowed(product, false, true, "test does not multiply matrices of TF32");
    advice_allowed(VECTOR "output map(sqrt, x)\n", true, true, "no matrix product of two arrays of floats");
}

/* Groups of a device with a fence for them may divide a sum. */
Test(advice, one_result_of_many_groups)
{
    const struct device fenced = {.name = "test", .compute_units = 8, .limits = {.device_fence = true}};
    struct problem *p = advice_problem(VECTOR "output reduce(add, 0.0, x)\n", "N=4096");
    struct arena *a = arena_new();
    cr_expect_eq(advice_of(p, &fenced, a).n, 0);
    cr_expect_eq(advice_of(p, &advice_device, a).n, 1);
    arena_free(a);
    problem_free(p);
}

static unsigned count_advice(const char *kernel, const char *sizes, const char *part)
{
    size_t n;
    char *text = kernel_read(kernel, &n);
    struct problem *p = advice_problem(text, sizes);
    struct arena *a = arena_new();
    struct advice advice = advice_of(p, &advice_device, a);
    unsigned found = 0;
    for (unsigned i = 0; i < advice.n; i++)
        found += strstr(advice.lines[i], part) != NULL;
    cr_expect_eq(found, advice.n, "%s: %s", kernel, advice.n ? advice.lines[0] : "");
    arena_free(a);
    problem_free(p);
    free(text);
    return found;
}

/* Shipped kernels at usual sizes; the rotations of the stencil take remainders. */
Test(advice, shipped_kernels)
{
    cr_expect_eq(count_advice("matmul", "M=512,N=512,K=512", ""), 0);
    cr_expect_eq(count_advice("matmul_strided", "M=64,N=64,K=64", ""), 0);
    cr_expect_eq(count_advice("batched_matmul", "P=8,M=64,N=64,K=64", ""), 0);
    cr_expect_eq(count_advice("gemv", "M=256,N=256", ""), 0);
    cr_expect_eq(count_advice("gesummv", "M=256,N=256", ""), 0);
    cr_expect_eq(count_advice("transpose", "M=256,N=256", ""), 0);
    cr_expect_eq(count_advice("softmax", "M=256,N=512", ""), 0);
    cr_expect_eq(count_advice("layer_norm", "M=256,N=256", ""), 0);
    cr_expect_eq(count_advice("gemv", "M=1024,N=2048", "memory bandwidth"), 1);
    cr_expect_eq(count_advice("stencil", "N=255", "each load of A divides its index by 255"), 1);
}

/* Of a device that is not known nothing is said. */
Test(advice, unknown_figures_give_no_line)
{
    static const struct device unknown = {.name = "test"};
    struct problem *p =
        advice_problem(VECTOR "output map(fun c -> reduce(add, 0.0, c), split(N / 2, x))\n", "N=4194304");
    struct arena *a = arena_new();
    cr_expect_eq(advice_of(p, &unknown, a).n, 0);
    cr_expect_eq(advice_of(p, NULL, a).n, 0);
    cr_expect_eq(advice_of(p, &advice_device, a).n, 2);
    arena_free(a);
    problem_free(p);
}
