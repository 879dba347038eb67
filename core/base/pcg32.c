/* PCG-XSH-RR 64/32: a 64-bit linear congruential state, output by xor-shift and a data-dependent rotation. */
#include "core/base/pcg32.h"

struct pcg32 pcg32_seed(uint64_t seed, uint64_t stream)
{
    struct pcg32 rng = {.state = 0, .increment = stream << 1 | 1};
    pcg32_next(&rng);
    rng.state += seed;
    pcg32_next(&rng);
    return rng;
}

void pcg32_shuffle(struct pcg32 *rng, unsigned *order, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned j = pcg32_below(rng, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}
