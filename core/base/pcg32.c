/* PCG-XSH-RR 64/32: a 64-bit linear congruential state, output by xor-shift and a data-dependent rotation. */
#include "core/base/pcg32.h"

#include "core/base/panic.h"

/* Defined here for plug-ins that were built when these were no inline functions. */
extern inline uint32_t pcg32_next(struct pcg32 *rng);
extern inline uint32_t pcg32_below(struct pcg32 *rng, uint32_t bound);
extern inline double pcg32_unit(struct pcg32 *rng);

struct pcg32 pcg32_seed(uint64_t seed, uint64_t stream)
{
    struct pcg32 rng = {.state = 0, .increment = stream << 1 | 1};
    pcg32_next(&rng);
    rng.state += seed;
    pcg32_next(&rng);
    return rng;
}

uint32_t pcg32_below_any(struct pcg32 *rng, uint32_t bound)
{
    CHECK(bound > 0);
    uint32_t reject = -bound % bound;
    for (;;) {
        uint32_t r = pcg32_next(rng);
        if (r >= reject) return r % bound;
    }
}

void pcg32_shuffle(struct pcg32 *rng, unsigned *order, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned j = pcg32_below(rng, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}
