/* A bounded memory of scalars that were computed, under 128-bit keys. Private to core/lift.
 *
 *     remember_store(m, key, v)      remember_recall(m, key, &v)     true, unless another one took its place
 *
 * Keys are mixed of what the value depends on: two of n different ones are equal with a probability of about
 * n^2 2^-128. What is recalled depends on the calls alone, not on addresses. */
#ifndef THRESH_LIFT_REMEMBER_H
#define THRESH_LIFT_REMEMBER_H

#include "core/lift/lift.h"

struct remember_key {
    uint64_t low, high;
};

/* The key of a pair of what has the key and a word. */
static inline struct remember_key remember_mix(struct remember_key key, uint64_t word)
{
    uint64_t low = (key.low ^ word) * 0x9e3779b97f4a7c15u, high = (key.high + word) * 0xd6e8feb86659fd93u;
    low ^= low >> 32;
    high ^= high >> 29;
    return (struct remember_key){.low = low * 0xff51afd7ed558ccdu + high,
                                 .high = (high ^ (low >> 7)) * 0xc4ceb9fe1a85ec53u + (high >> 31)};
}

struct remembered;

struct remembered *remember_new(void);
void remember_free(struct remembered *m);
bool remember_recall(const struct remembered *m, struct remember_key key, struct lift_value_bound *out);
/* At most REMEMBER_MOST values are kept: a new one takes the place of an old one. */
void remember_store(struct remembered *m, struct remember_key key, const struct lift_value_bound *v);
enum { REMEMBER_MOST = 1 << 18 };

#endif
