/* The example of a row of passes (experiments/spaces/fft.space): its solutions are those of its rules,
 * counted here by the sequences of radices. */
#include <criterion/criterion.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/space/count.h"
#include "core/space/data.h"
#include "spacedsl/model.h"
#include "tests/spacedsl/fixture.h"

enum { FFT_POINTS = 4096, FFT_BATCH = 64, FFT_CACHE = 32768, FFT_PASSES = 8 };

/* Plans with these copies and this largest radix. */
static unsigned fft_plans_of(unsigned copies, unsigned largest, unsigned permutations)
{
    unsigned roots = 1 + 3 + 64 / 8, together = 0; /* a table, or a recurrence with one of the strides */
    for (unsigned t = 1; t <= 64; t *= 2)
        together += FFT_BATCH % t == 0 && 8 * copies * t * largest <= FFT_CACHE / 4;
    return permutations * roots * together;
}

/* Plans that go on from here with `left` points and at most `passes` passes. */
static unsigned fft_plans(unsigned left, unsigned passes, unsigned largest)
{
    static const unsigned radices[] = {2, 3, 4, 5, 8, 16}, blocks[] = {4, 8, 16, 32};
    unsigned plans = 0, permutations = 1;
    for (unsigned i = 0; i < 4; i++)
        permutations += FFT_POINTS % (blocks[i] * blocks[i]) == 0;
    if (left == 1) return fft_plans_of(2, largest, 1) + fft_plans_of(1, largest, permutations);
    for (unsigned i = 0; i < 6 && passes; i++)
        if (left % radices[i] == 0)
            plans += fft_plans(left / radices[i], passes - 1, radices[i] > largest ? radices[i] : largest);
    return plans;
}

Test(spacedsl_fft, has_the_solutions_of_its_rules)
{
    struct spacedsl_files f = spacedsl_files_open("experiments/spaces/fft.space", NULL);
    struct space_count count = space_count(f.root, 0);
    unsigned plans = fft_plans(FFT_POINTS, FFT_PASSES, 1);
    cr_assert(count.complete && count.solutions == (long double)plans, "%.0Lf, not %u", count.solutions,
              plans);
    spacedsl_files_close(&f);
}

/* A factor that is decided leaves the others the divisors of the rest, holes within their bounds included. */
Test(spacedsl_fft, radices_divide_what_is_left)
{
    static const char text[] =
        "space s set Pass = 0..4 choice radix(p: Pass): int in { 1, 2, 3, 4, 5, 6, 8, 15 }\n"
        "require (product of radix(p) over p in Pass) == 360\n";
    struct source src = {"t", text, strlen(text)};
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    struct space_data *data = space_data_new();
    struct space *s = space_instantiate(spacedsl_compile(&src, a, d), data, d);
    struct space_state *st = space_root(s, NULL);
    cr_assert_eq(space_value_count(st, 1), 8);
    cr_assert(space_apply(st, (struct space_action){0, 6}, NULL), "8 leaves 45");
    for (uint32_t v = 0; v < 8; v++)
        cr_expect_eq(space_has_value(st, 1, v), v == 0 || v == 2 || v == 4 || v == 7, "value %u", v);
    cr_assert(space_apply(st, (struct space_action){1, 7}, NULL), "15 leaves 3");
    cr_expect_eq(space_value_count(st, 2), 2);
    space_state_free(st);
    space_free(s);
    space_data_free(data);
    diag_free(d);
    arena_free(a);
}
