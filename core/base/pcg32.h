/* PCG-XSH-RR 64/32 random numbers (M. E. O'Neill, "PCG: A family of simple fast space-efficient statistically
 * good algorithms for random number generation", 2014, section 6.3.1). The only source of randomness in
 * thresh: seeded, held in a context, never global.
 *
 *     struct pcg32 rng = pcg32_seed(options.seed, STREAM_OF_THIS_FILE);
 *     unsigned die = 1 + pcg32_below(&rng, 6); */
#ifndef THRESH_BASE_PCG32_H
#define THRESH_BASE_PCG32_H

#include <stdint.h>

struct pcg32 {
    uint64_t state;
    uint64_t increment; /* odd; selects the stream */
};

/* Generators of different streams are independent, whatever their seeds. */
struct pcg32 pcg32_seed(uint64_t seed, uint64_t stream);
/* Uniform over all 32-bit numbers. Inline, as the next two: inputs of a GB are drawn. */
inline uint32_t pcg32_next(struct pcg32 *rng)
{
    const uint64_t multiplier = 6364136223846793005u;
    uint64_t old = rng->state;
    rng->state = old * multiplier + rng->increment;
    uint32_t shifted = (uint32_t)((old >> 18 ^ old) >> 27);
    uint32_t turn = (uint32_t)(old >> 59);
    return shifted >> turn | shifted << (-turn & 31);
}
/* Uniform in [0, bound), bound > 0, without modulo bias. A power of 2 needs no division; the others are
 * pcg32_below_any(). */
uint32_t pcg32_below_any(struct pcg32 *rng, uint32_t bound);
inline uint32_t pcg32_below(struct pcg32 *rng, uint32_t bound)
{
    if (bound && !(bound & (bound - 1))) return pcg32_next(rng) & (bound - 1);
    return pcg32_below_any(rng, bound);
}
/* Uniform in [0, 1), 32 bits of resolution. */
inline double pcg32_unit(struct pcg32 *rng)
{
    return pcg32_next(rng) * 0x1p-32;
}
/* Fills order[0..n) with the numbers 0 to n - 1 in a random order, all orders alike. */
void pcg32_shuffle(struct pcg32 *rng, unsigned *order, unsigned n);

#endif
