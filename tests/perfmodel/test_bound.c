/* The bound along random descents: never falling, the same from the cache and from scratch, explained; and
 * against what is known of single mappings. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/strbuf.h"
#include "tests/perfmodel/fixture.h"

static const struct bound_case bound_cases[] = {
    {"axpy", "N=4096"},
    {"gemv", "M=96,N=64"},
    {"gesummv", "M=64,N=64"},
    {"matmul", "M=48,N=64,K=96"},
    {"matmul_strided", "M=32,N=32,K=32"},
    {"transpose", "M=96,N=64"},
    {"batched_matmul", "P=4,M=16,N=16,K=16"},
};
enum { BOUND_CASES = sizeof bound_cases / sizeof bound_cases[0] };

/* One descent: each bound is at least the one above it, and its reason has the same value. */
static void bound_descend(struct bound_fixture *f, uint64_t seed)
{
    struct pcg32 rng = pcg32_seed(seed, 0);
    struct space_state *st = bound_root(f);
    double last = 0;
    do {
        struct perfmodel_reason reason;
        double ns = perfmodel_bound(f->model, st, &reason);
        cr_assert_geq(ns, last, "the bound falls from %.9g to %.9g (seed %llu)", last, ns,
                      (unsigned long long)seed);
        cr_assert(reason.ns == ns);
        cr_assert(ns > 0 && isfinite(ns));
        last = ns;
    } while (bound_step(st, &rng));
    space_state_free(st);
}

Test(bound, never_falls)
{
    for (unsigned c = 0; c < BOUND_CASES; c++) {
        struct bound_fixture f;
        bound_open(&f, &bound_cases[c], BOUND_H200);
        for (uint64_t seed = 1; seed <= 5; seed++)
            bound_descend(&f, seed);
        bound_close(&f);
    }
}
