/* The example of a row of passes (experiments/spaces/fft.space): its solutions are those of its rules,
 * counted here by the sequences of radices. */
#include <criterion/criterion.h>

#include "core/space/count.h"
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
