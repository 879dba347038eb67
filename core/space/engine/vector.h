/* The decision vector: bytes in which every domain has its place. A domain of up to 8 values takes 1 byte,
 * one of up to 16 takes 2, larger ones words of 8 bytes, one after the other:
 *
 *     offset    0          1          2 ... 9
 *     domain    live(r)    size(p)    pad(g)      3 values of size, 40 of pad
 *
 * Reads and writes may go by 8 bytes wherever they start; the vector is padded. */
#ifndef THRESH_SPACE_ENGINE_VECTOR_H
#define THRESH_SPACE_ENGINE_VECTOR_H

#include "core/space/layout.h"

/* Domains of a liveness slot. */
enum { LIVENESS_DEAD = 1, LIVENESS_LIVE = 2, LIVENESS_POSSIBLE = 3 };

/* Where every vector has a byte that reads as a live liveness slot, and one that reads as a dead one; they
 * are no part of the state. */
static inline uint32_t vector_always_live(const struct space *s)
{
    return (uint32_t)s->vector_bytes + 8;
}

static inline uint32_t vector_never_live(const struct space *s)
{
    return (uint32_t)s->vector_bytes + 9;
}

static inline uint64_t vector_word(const uint8_t *v, uint32_t offset, unsigned width)
{
    uint64_t x = 0;
    switch (width) {
    case 1:
        return v[offset];
    case 2:
        return (uint64_t)(v[offset] | v[offset + 1] << 8);
    case 4:
        __builtin_memcpy(&x, v + offset, 4);
        return x;
    default:
        __builtin_memcpy(&x, v + offset, 8);
        return x;
    }
}

static inline void vector_set_word(uint8_t *v, uint32_t offset, unsigned width, uint64_t x)
{
    switch (width) {
    case 1:
        v[offset] = (uint8_t)x;
        break;
    case 2:
        v[offset] = (uint8_t)x;
        v[offset + 1] = (uint8_t)(x >> 8);
        break;
    case 4:
        __builtin_memcpy(v + offset, &x, 4);
        break;
    default:
        __builtin_memcpy(v + offset, &x, 8);
    }
}

static inline uint64_t vector_load(const uint8_t *v, uint32_t offset)
{
    uint64_t x;
    __builtin_memcpy(&x, v + offset, 8);
    return x;
}

static inline void vector_store(uint8_t *v, uint32_t offset, uint64_t x)
{
    __builtin_memcpy(v + offset, &x, 8);
}

/* How many of the eight bytes' bits at its offset are not of a domain. */
static inline uint8_t slot_foreign_bits(const struct slot_info *info)
{
    return (uint8_t)(64 - 8 * info->width);
}

#endif
