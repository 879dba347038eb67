/* The exact and the timing set of inputs.
 *
 *     set       without a range                   input x: [float]N in 0.1..2
 *     exact     -3, -1, 1 or 3                    1 or 2
 *     timing    uniform in [-1, 1]                uniform in [0.1, 2]
 *
 * Where the user gives an input's data, they are its timing set; the exact set is generated all the same, so
 * that a kernel that loses a term is found. Integers of the user are in all sets.
 *
 * Sums and products of small whole numbers come out the same in any order, so that outputs of the exact set
 * can be compared bit for bit. Where sums of these would be too large for that, as those of 2^23 floats are,
 * the numbers are 1 and -1. Programs that select get extreme sets besides (verify_extremes.c). */
#include "agent/verify_inputs.h"

#include <math.h>

#include "core/base/pcg32.h"

enum { MOST_POOL = 4 };
static const double MOST = 1e300; /* widths of ranges stay finite */

/* ---- ranges ---- */

struct lift_range verify_range(const struct verify_buffer *b, enum verify_domain domain)
{
    static const struct lift_range reals[] = {{.low = -1, .high = 1},
                                              {.low = 0x1p-10, .high = 1},
                                              {.low = 0.5, .high = 1.5}},
                                   small[] = {
                                       {.low = -3, .high = 3}, {.low = 1, .high = 3}, {.low = 1, .high = 2}};
    if (b->range.given && b->type == SCALAR_INT)
        return (struct lift_range){.low = ceil(b->range.low), .high = floor(b->range.high)};
    if (b->range.given)
        return (struct lift_range){.low = fmax(b->range.low, -MOST), .high = fmin(b->range.high, MOST)};
    return b->type == SCALAR_INT ? small[domain] : reals[domain];
}

/* The numbers that the exact set is drawn from; none: reals of the range. */
struct pool {
    unsigned n;
    double numbers[MOST_POOL];
};

static void add_numbers(struct pool *p, const double *numbers, unsigned n, const struct lift_range *r)
{
    p->n = 0;
    for (unsigned i = 0; i < n && p->n < MOST_POOL; i++)
        if (numbers[i] >= r->low && numbers[i] <= r->high) p->numbers[p->n++] = numbers[i];
}

/* Odd numbers, else small ones, else those next to zero that the range has. Units: 1 and -1, or 1 and 0,
 * where the range has them. */
static struct pool pool_of(const struct verify_buffer *b, enum verify_domain domain, bool units)
{
    static const double odd[] = {-3, -1, 1, 3}, small[] = {1, -1, 2, -2, 0}, one[] = {1, -1, 0};
    static const struct lift_range domains[] = {
        {.low = -3, .high = 3}, {.low = 1, .high = 3}, {.low = 1, .high = 2}};
    const struct lift_range *r = b->range.given ? &b->range : &domains[domain];
    struct pool p = {0};
    if (domain == VERIFY_NEAR_ONE && !b->range.given && b->type != SCALAR_INT) return p;
    if (units) add_numbers(&p, one, sizeof one / sizeof *one, r);
    if (p.n > 2) p.n = 2;
    if (p.n < 2) add_numbers(&p, odd, sizeof odd / sizeof *odd, r);
    if (p.n < 2) add_numbers(&p, small, sizeof small / sizeof *small, r);
    if (p.n < 2) {
        double first = r->low > 0 ? ceil(r->low) : floor(r->high), step = r->low > 0 ? 1 : -1;
        const double next[] = {first, first + step, first + 2 * step, first + 3 * step};
        add_numbers(&p, next, MOST_POOL, r);
    }
    if (p.n < 2) p.n = 0;
    return p;
}

static bool is_whole(const struct verify_task *t, enum verify_domain domain)
{
    bool whole = true;
    for (unsigned b = 0; b < t->n_buffers; b++)
        whole = whole && (!verify_is_input(&t->buffers[b]) || t->buffers[b].type == SCALAR_BOOL ||
                          pool_of(&t->buffers[b], domain, t->units).n > 0);
    return whole;
}

/* ---- the exact and the timing set ---- */

static void draw_of_pool(enum scalar_type type, void *to, int64_t n, const struct pool *pool,
                         struct pcg32 rng)
{
    for (int64_t i = 0; i < n; i++)
        verify_put(type, to, i, pool->numbers[pcg32_below(&rng, pool->n)]);
}

static void draw_of_range(enum scalar_type type, void *to, int64_t n, const struct lift_range *r,
                          struct pcg32 rng)
{
    for (int64_t i = 0; i < n; i++)
        verify_put(type, to, i, lift_range_draw(r, type, pcg32_unit(&rng)));
}

/* Floats have calls of their own: with a constant type, verify_put() in the loop is one store. */
static void draw_set(struct verify_buffer *b, unsigned set, const struct lift_range *r,
                     const struct pool *pool, struct pcg32 rng)
{
    static const struct pool truths = {.n = 2, .numbers = {0, 1}};
    void *to = verify_values(b, set);
    bool pooled = pool->n && (set == VERIFY_EXACT || (b->type == SCALAR_INT && !b->range.given));
    if (b->type == SCALAR_BOOL)
        draw_of_pool(SCALAR_BOOL, to, b->elements, &truths, rng);
    else if (pooled && b->type == SCALAR_FLOAT)
        draw_of_pool(SCALAR_FLOAT, to, b->elements, pool, rng);
    else if (pooled)
        draw_of_pool(b->type, to, b->elements, pool, rng);
    else if (b->type == SCALAR_FLOAT)
        draw_of_range(SCALAR_FLOAT, to, b->elements, r, rng);
    else
        draw_of_range(b->type, to, b->elements, r, rng);
}

static void draw_buffer(struct verify_buffer *b, enum verify_domain domain, bool units, uint64_t seed,
                        unsigned index)
{
    const struct pool pool = pool_of(b, domain, units);
    const struct lift_range r = verify_range(b, domain);
    for (unsigned set = 0; set < VERIFY_EXTREME; set++)
        if (!verify_is_given(b, set)) draw_set(b, set, &r, &pool, pcg32_seed(seed, 2 * index + set));
}

void verify_draw(struct verify_task *t, enum verify_domain domain, uint64_t seed)
{
    t->whole = is_whole(t, domain);
    t->domain = domain;
    for (unsigned i = 0; i < t->n_buffers; i++)
        if (verify_is_input(&t->buffers[i])) draw_buffer(&t->buffers[i], domain, t->units, seed, i);
}
