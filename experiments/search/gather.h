/* Measurements on their way to a pool. What was measured several times is joined:
 *
 *     values 8 LOOP   ok 90 us     kernel A            values 8 LOOP   ok 100 us   kernel 0
 *     values 8 LOOP   ok 110 us    kernel A     ->     values 4 LOOP   cut         kernel 1
 *     values 4 LOOP   cut          kernel B            values 2 LOOP   ok 100 us   kernel 0
 *     values 2 LOOP   duplicate    kernel A
 *
 * The time of a kernel is the median of all its times; its status is the best one that was seen (ok, cut,
 * failed, oversized). A kernel of which only duplicates are known is left out. */
#ifndef THRESH_SEARCH_GATHER_H
#define THRESH_SEARCH_GATHER_H

#include "experiments/search/pool.h"

struct gather;

struct gather_result {
    enum pool_status status;
    bool duplicate;   /* its kernel was measured elsewhere: the status is not looked at */
    double time_ns;   /* POOL_OK only */
    double bound_ns;  /* 0: none; lowered to the time where it is above it */
    uint64_t kernel;  /* hash of its text; 0: not known, then it is a kernel of its own */
    double *features; /* [n_features] of the pool; copied */
};

struct gather *gather_new(size_t n_choices, unsigned n_features);
void gather_free(struct gather *g); /* NULL is allowed */
/* values: of all choices, POOL_ABSENT where the implementation does not have one. Copied. */
void gather_add(struct gather *g, const uint16_t *values, struct gather_result r);
/* How a choice divides the implementations: equal numbers for choices of which each decides the other. */
uint64_t gather_division(const struct gather *g, size_t choice);
/* Adds the rows to a pool whose choices are those that are listed. */
void gather_finish(struct gather *g, const uint32_t *kept, size_t n_kept, struct pool *p);

#endif
