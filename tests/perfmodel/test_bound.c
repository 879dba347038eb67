/* The bound along random descents: never falling, explained, the same however it is reached; and against what
 * can be said of small problems by hand. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/strbuf.h"
#include "perfmodel/model.h"
#include "tests/fixture/longer.h"
#include "tests/perfmodel/fixture.h"

#define BOUND_POCL "perfmodel/devices/pthread-skylake-avx512-amd-epyc.json"

static const struct kernel_case bound_cases[] = {
    {"axpy", "N=4096"},
    {"gemv", "M=96,N=64"},
    {"gesummv", "M=64,N=64"},
    {"matmul", "M=48,N=64,K=96"},
    {"matmul_strided", "M=32,N=32,K=32"},
    {"transpose", "M=96,N=64"},
    {"batched_matmul", "P=4,M=16,N=16,K=16"},
    {"stencil_9point", "H=48,W=64"},
    {"convolution_strided", "O=8,C=4,H=32,W=32"},
};
enum { BOUND_CASES = sizeof bound_cases / sizeof bound_cases[0] };

/* One descent: each bound is at least the one above it, and its reason has the same value. A second model,
 * which has seen nothing, agrees at the end. */
static void bound_descend(struct bound_fixture *f, uint64_t seed)
{
    struct pcg32 rng = pcg32_seed(seed, 0);
    struct space_state *st = kernel_root(f->kernel.space);
    double last = 0;
    do {
        struct perfmodel_reason reason;
        double ns = perfmodel_bound(f->model, st, &reason);
        cr_assert_geq(ns, last, "the bound falls from %.9g to %.9g (seed %llu)", last, ns,
                      (unsigned long long)seed);
        cr_assert(reason.ns == ns);
        cr_assert(ns > 0 && isfinite(ns));
        last = ns;
    } while (kernel_step(st, &rng));
    struct perfmodel *fresh = perfmodel_new(f->kernel.bb, f->kernel.space, &f->dev);
    cr_assert(perfmodel_bound(fresh, st, NULL) == last);
    perfmodel_free(fresh);
    space_state_free(st);
}

static void bound_descend_all(const char *description)
{
    for (unsigned c = 0; c < BOUND_CASES; c++) {
        struct bound_fixture f;
        bound_open_fenced(&f, &bound_cases[c], description);
        for (uint64_t seed = 1; seed <= longer(4, 8); seed++)
            bound_descend(&f, seed);
        bound_close(&f);
    }
}

Test(bound, never_falls_on_a_gpu)
{
    bound_descend_all(BOUND_H200);
}

Test(bound, never_falls_on_a_cpu)
{
    bound_descend_all(BOUND_POCL);
}

/* The bound of what some pins leave. */
static double bound_pinned(struct bound_fixture *f, const char *const *pins, unsigned n,
                           struct perfmodel_reason *reason)
{
    struct space_state *st = bound_root(f, pins, n);
    double ns = perfmodel_bound(f->model, st, reason);
    space_state_free(st);
    return ns;
}

/* One loop for each of m and n, nothing else around them. */
static const char *const bound_sequential[] = {"size(m.0)=64", "size(n.0)=64", "dim_kind(*.m.0)=LOOP",
                                               "dim_kind(*.n.0)=LOOP", "seat(k.*)=0"};

/* A matrix product in one work-item: every multiply-add, one after the other. */
Test(bound, one_work_item_pays_for_everything)
{

    struct bound_fixture f;
    struct perfmodel_reason reason;
    bound_open(&f, &(struct kernel_case){"matmul", "M=64,N=64,K=64"}, BOUND_H200);
    double ns = bound_pinned(&f, bound_sequential, 5, &reason), operations = 64.0 * 64 * 64;
    cr_assert_geq(ns, 0.999 * operations / f.dev.value[PERFMODEL_ITEM_FP32]);
    for (unsigned l = 0; l < reason.n_logicals; l++)
        cr_assert_eq(reason.split[l].groups * reason.split[l].items, 1);
    bound_close(&f);
}

/* A sum in parts: what one work-item pays for is divided among them, what the group pays for is not. */
Test(bound, work_items_divide_a_reduction)
{
    static const char *const whole[] = {"split(n.*)=NO"};
    static const char *const parts[] = {"split(n.1)=ITEMS", "size(n.1)=256", "size(n.2)=1"};
    struct bound_fixture f;
    struct perfmodel_reason reason;
    bound_open(&f, &(struct kernel_case){"dot", "N=1048576"}, BOUND_H200);
    double sequential = bound_pinned(&f, whole, 1, &reason);
    cr_assert_eq(reason.term, PERFMODEL_OF_CHAIN);
    cr_assert_float_eq(reason.amount, 1048576, 1);
    double divided = bound_pinned(&f, parts, 3, &reason);
    cr_assert_eq(reason.split[0].items, 256);
    cr_assert_eq(reason.split[0].steps, 4096);
    cr_assert_eq(reason.term, PERFMODEL_OF_UNIT_L2);
    cr_assert_float_eq(reason.amount, 2.0 * 4 * 1048576, 1);
    cr_assert_lt(divided, sequential / 20);
    bound_close(&f);
}

/* Groups divide it further: the busiest unit has its share of all, and the chain is as long as one part. */
Test(bound, groups_divide_a_reduction)
{
    static const char *const parts[] = {"split(n.0)=GROUPS", "size(n.0)=1024", "split(n.1)=ITEMS",
                                        "size(n.1)=256"};
    struct bound_fixture f;
    struct perfmodel_reason reason;
    bound_open_fenced(&f, &(struct kernel_case){"dot", "N=16777216"}, BOUND_H200);
    double group = bound_pinned(&f, (const char *const[]){"split(n.*)=NO|ITEMS"}, 1, &reason);
    double divided = bound_pinned(&f, parts, 4, &reason);
    cr_assert_eq(reason.split[0].groups, 1024);
    cr_assert_eq(reason.split[0].items, 256);
    cr_assert_eq(reason.split[0].steps, 64);
    cr_assert_lt(divided, group / 20);
    cr_assert_geq(divided, 2.0 * 4 * 16777216 / f.dev.value[PERFMODEL_L2]);
    bound_close(&f);
}

/* Where mappings are many, one stands for all parts of a reduction. */
Test(bound, many_reductions_have_parts_of_any_number)
{
    struct bound_fixture f;
    struct perfmodel_reason reason;
    struct strbuf text = {0};
    bound_open(&f, &(struct kernel_case){"layer_norm", "M=4096,N=4096"}, BOUND_H200);
    struct space_state *root = kernel_root(f.kernel.space);
    perfmodel_bound(f.model, root, &reason);
    unsigned any = 0;
    for (unsigned l = 0; l < reason.n_logicals; l++)
        any += reason.split[l].any;
    cr_assert_eq(any, 2);
    perfmodel_explain(f.model, &reason, &text);
    cr_assert(strstr(text.text, "any number of work-items with 4096 sequential iterations in all"), "%s",
              text.text);
    strbuf_free(&text);
    space_state_free(root);
    bound_close(&f);
}

/* Sizes of 60: a product of tiles of 4 and 15 that are groups leaves work-items of at most 1, not 60 / 15 *
 * ...
 */
Test(bound, extents_with_odd_factors_are_exact)
{
    static const char *const pins[] = {"size(m.0)=4|6", "size(m.1)=15|10",       "size(m.2)=1",
                                       "size(m.3)=1",   "dim_kind(*.m.0)=BLOCK", "dim_kind(*.m.1)=THREAD"};
    struct bound_fixture f;
    struct perfmodel_reason reason;
    bound_open(&f, &(struct kernel_case){"matmul", "M=60,N=60,K=60"}, BOUND_H200);
    bound_pinned(&f, pins, 6, &reason);
    cr_assert(reason.split[0].groups == 4 ? reason.split[0].items == 15 : reason.split[0].items == 10);
    cr_assert_eq(reason.split[0].groups * reason.split[0].items, 60);
    cr_assert_eq(reason.split[0].steps, 1);
    bound_close(&f);
}

/* 3 * 2^26 floats through a memory of 4.9 TB/s, less what the cache may hold. */
Test(bound, memory_traffic_is_compulsory)
{
    struct bound_fixture f;
    struct perfmodel_reason reason;
    bound_open(&f, &(struct kernel_case){"axpy", "N=67108864"}, BOUND_H200);
    struct space_state *root = kernel_root(f.kernel.space);
    double ns = perfmodel_bound(f.model, root, &reason), bytes = 3.0 * 4 * 67108864;
    double least = (bytes - f.dev.value[PERFMODEL_CACHE_BYTES]) / f.dev.value[PERFMODEL_DRAM] +
                   f.dev.value[PERFMODEL_LAUNCH];
    cr_assert_float_eq(ns, least, 0.001 * least);
    cr_assert_eq(reason.term, PERFMODEL_OF_DRAM);
    space_state_free(root);
    bound_close(&f);
}

Test(bound, unknown_device_has_none_and_says_so)
{
    struct bound_fixture f;
    struct strbuf gaps = {0}, text = {0};
    struct perfmodel_reason reason;
    bound_open(&f, &(struct kernel_case){"matmul", "M=8,N=8,K=8"}, NULL);
    struct space_state *root = kernel_root(f.kernel.space);
    cr_assert_eq(perfmodel_bound(f.model, root, &reason), 0);
    perfmodel_gaps(f.model, &gaps);
    cr_assert(strstr(gaps.text, "no description"));
    perfmodel_explain(f.model, &reason, &text);
    cr_assert(strstr(text.text, "the device has no description"));
    strbuf_free(&gaps);
    strbuf_free(&text);
    space_state_free(root);
    bound_close(&f);
}

Test(bound, explanation_names_resource_and_mapping)
{

    struct bound_fixture f;
    struct perfmodel_reason reason;
    struct strbuf text = {0};
    bound_open(&f, &(struct kernel_case){"matmul", "M=64,N=64,K=64"}, BOUND_H200);
    bound_pinned(&f, bound_sequential, 5, &reason);
    perfmodel_explain(f.model, &reason, &text);
    cr_assert(strstr(text.text, "one work-item"), "%s", text.text);
    cr_assert(strstr(text.text, "item_issue"), "%s", text.text);
    cr_assert(strstr(text.text, "m: 1 group of 1 work-item with 64 sequential iterations each"), "%s",
              text.text);
    cr_assert(strstr(text.text, "mad: 262 k times in each work-item"), "%s", text.text);
    strbuf_free(&text);
    bound_close(&f);
}

/* What is stored waits for a load, so that no kernel is shorter than the shortest that loads and stores; what
 * can be issued at once comes before a store all the same. */
Test(bound, the_launch_of_a_load_and_a_store_comes_first)
{
    struct bound_fixture f;
    struct perfmodel_reason reason;
    struct strbuf text = {0};
    bound_open(&f, &(struct kernel_case){"matmul", "M=64,N=64,K=64"}, BOUND_H200);
    f.dev.value[PERFMODEL_LAUNCH_STORE] = 8000;
    f.dev.value[PERFMODEL_LAUNCH_TOUCH] = 9000;
    perfmodel_free(f.model);
    f.model = perfmodel_new(f.kernel.bb, f.kernel.space, &f.dev);
    cr_assert_geq(bound_pinned(&f, NULL, 0, &reason), 9000);
    double ns = bound_pinned(&f, bound_sequential, 5, &reason);
    cr_assert_eq(reason.term, PERFMODEL_OF_ITEM_ISSUE);
    cr_assert_eq(reason.launch, PERFMODEL_LAUNCH_STORE);
    cr_assert_float_eq(ns, 8000 + reason.amount / f.dev.value[PERFMODEL_ITEM_ISSUE], 1e-5 * ns);
    perfmodel_explain(f.model, &reason, &text);
    cr_assert(strstr(text.text, "after launch_store, 8 us"), "%s", text.text);
    strbuf_free(&text);
    bound_close(&f);
}

/* The model of the same device, but that its units have so few accesses that nothing else counts. */
static void bound_few_accesses(struct bound_fixture *f)
{
    f->dev.value[PERFMODEL_UNIT_ACCESS] = 1e-3;
    perfmodel_free(f->model);
    f->model = perfmodel_new(f->kernel.bb, f->kernel.space, &f->dev);
}

/* Whether a bundle of axpy's work-items has so many accesses for 64 elements of each of three buffers, if
 * nothing is staged and if that is open. */
static void bound_axpy_needs(const char *groups, const char *items, double accesses)
{
    const char *const pins[] = {groups,
                                "size(n.1)=64",
                                items,
                                "dim_kind(store.n.0)=BLOCK",
                                "dim_kind(store.n.1)=LOOP",
                                "dim_kind(store.n.2)=THREAD",
                                "staged(*)=NO"};
    struct bound_fixture f;
    struct perfmodel_reason reason;
    bound_open(&f, &(struct kernel_case){"axpy", "N=4096"}, BOUND_H200);
    bound_few_accesses(&f);
    for (unsigned n = 6; n <= 7; n++) {
        bound_pinned(&f, pins, n, &reason);
        cr_assert_eq(reason.term, PERFMODEL_OF_ACCESS);
        cr_assert_float_eq(reason.amount, 32.0 * accesses, 1e-3);
    }
    bound_close(&f);
}

/* Work-items beside each other have no neighbours of their own, in a staged tile neither. */
Test(bound, work_items_in_between_keep_elements_apart)
{
    bound_axpy_needs("size(n.0)=16", "size(n.2)=4", 3 * 64);
}

/* Of two work-items beside each other, one may read what lies between its elements along with them, four in
 * an access: it takes half as many. It may not write it. */
Test(bound, loads_may_reach_over_a_neighbour)
{
    bound_axpy_needs("size(n.0)=32", "size(n.2)=2", 2 * 32 + 64);
}

/* A work-item's four elements of a staged tile, two of each of two rows, may be one access, which the
 * compiler makes of them where the rows have no others; the two columns that it stores are two. */
Test(bound, rows_of_a_staged_tile_may_join)
{
    static const char *const pins[] = {"staged(A)=YES",
                                       "size(m.0)=16",
                                       "size(m.1)=2",
                                       "size(n.0)=32",
                                       "size(n.1)=2",
                                       "dim_kind(store.m.0)=BLOCK",
                                       "dim_kind(store.m.1)=UNROLL",
                                       "dim_kind(store.n.0)=THREAD",
                                       "dim_kind(store.n.1)=UNROLL"};
    struct bound_fixture f;
    struct perfmodel_reason reason;
    bound_open(&f, &(struct kernel_case){"transpose", "M=32,N=64"}, BOUND_H200);
    bound_few_accesses(&f);
    bound_pinned(&f, pins, 9, &reason);
    cr_assert_eq(reason.term, PERFMODEL_OF_ACCESS);
    double copied = 2 * 64 / 4;
    cr_assert_float_eq(reason.amount, 32 * (1 + 2) + copied, 1e-3);
    bound_close(&f);
}

/* A time below the bound corrects the figure that the reason names, and then it is above. */
Test(bound, violation_corrects_the_figure)
{
    struct bound_fixture f;
    struct perfmodel_reason reason;
    bound_open(&f, &(struct kernel_case){"matmul", "M=64,N=64,K=64"}, BOUND_H200);
    double ns = bound_pinned(&f, bound_sequential, 5, &reason), measured = 0.5 * ns;
    struct perfmodel_device corrected = f.dev;
    perfmodel_violated(&corrected, &reason, measured);
    enum perfmodel_figure figure = perfmodel_term_figure(reason.term);
    cr_assert_eq(corrected.source[figure], PERFMODEL_VIOLATED);
    cr_assert_float_eq(corrected.value[figure], 1.05 * reason.amount / (measured - reason.launch_ns),
                       1e-3 * f.dev.value[figure]);
    perfmodel_free(f.model);
    f.model = perfmodel_new(f.kernel.bb, f.kernel.space, &corrected);
    cr_assert_lt(bound_pinned(&f, bound_sequential, 5, &reason), ns);
    bound_close(&f);
}

/* A model that is corrected by a measurement has no bound above it any more, whichever terms were; and it is
 * the model of the corrected figures. */
Test(bound, correction_brings_the_bound_down_to_the_measurement)
{
    struct bound_fixture f;
    struct perfmodel_reason reason;
    bound_open(&f, &(struct kernel_case){"matmul", "M=64,N=64,K=64"}, BOUND_H200);
    struct space_state *st = kernel_root(f.kernel.space);
    struct pcg32 rng = pcg32_seed(5, 0);
    while (kernel_step(st, &rng))
        continue;
    double ns = perfmodel_bound(f.model, st, NULL), measured = 0.1 * ns;
    cr_assert(perfmodel_correct(f.model, st, ns));
    cr_assert_eq(perfmodel_bound(f.model, st, NULL), ns);
    cr_assert(perfmodel_correct(f.model, st, measured));
    double after = perfmodel_bound(f.model, st, &reason);
    cr_assert_leq(after, 1.00001 * measured);
    struct perfmodel *again = perfmodel_new(f.kernel.bb, f.kernel.space, perfmodel_described(f.model));
    cr_assert_eq(perfmodel_bound(again, st, NULL), after);
    perfmodel_free(again);
    space_state_free(st);
    bound_close(&f);
}

/* The split of a logical dimension as the tables of an implementation give it: along the store's dimensions,
 * or the step's where the store has none. */
static struct perfmodel_split bound_split_of(const struct backbone *bb, const struct bb_candidate *c,
                                             uint32_t l)
{
    struct perfmodel_split s = {.groups = 1, .items = 1, .steps = 1};
    for (unsigned v = 0; v < bb->logicals[l].n_levels; v++) {
        uint32_t tile = bb->logicals[l].first_tile + v;
        for (uint32_t d = 0; d < bb->n_dims; d++) {
            enum bb_inst_kind kind = bb->insts[bb->dims[d].inst].kind;
            if (bb->dims[d].tile != tile || (kind != BB_STORE && kind != BB_STEP)) continue;
            s.global = s.global || (c->size[tile] > 1 && c->kind[d] == BB_GLOBAL);
            *(c->kind[d] == BB_BLOCK    ? &s.groups
              : c->kind[d] == BB_THREAD ? &s.items
              : c->kind[d] == BB_GLOBAL ? &s.groups
                                        : &s.steps) *= c->size[tile];
            break;
        }
    }
    return s;
}

/* A leaf allows one mapping: the one that its tables say. */
Test(bound, leaf_has_the_mapping_of_its_tables)
{
    struct bound_fixture f;
    bound_open_fenced(&f, &(struct kernel_case){"matmul", "M=60,N=16,K=24"}, BOUND_H200);
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct pcg32 rng = pcg32_seed(seed, 0);
        struct space_state *st = kernel_root(f.kernel.space);
        struct perfmodel_reason reason;
        const char *why;
        while (kernel_step(st, &rng))
            continue;
        struct bb_candidate *c = bb_candidate_new(f.kernel.bb, f.kernel.arena);
        cr_assert(bb_decode(f.kernel.bb, st, c, &why), "%s", why);
        perfmodel_bound(f.model, st, &reason);
        cr_assert_eq(reason.n_logicals, 3);
        for (uint32_t l = 0; l < reason.n_logicals; l++) {
            struct perfmodel_split own = bound_split_of(f.kernel.bb, c, l), got = reason.split[l];
            cr_assert_eq(own.groups * own.items, got.groups * got.items, "seed %llu",
                         (unsigned long long)seed);
            cr_assert_eq(own.steps, got.steps);
            if (!got.global) cr_assert_eq(own.groups, got.groups);
        }
        space_state_free(st);
    }
    bound_close(&f);
}

/* What the bound scans: all mappings that the device can run, by cost, those of equal cost by number. */
Test(bound, tables_are_in_the_order_of_costs)
{
    struct bound_fixture f;
    bound_open(&f, &(struct kernel_case){"matmul", "M=64,N=64,K=64"}, BOUND_H200);
    for (unsigned table = 0; table < f.model->n_tables; table++) {
        const struct mapping_table *t = mapping_table_get(f.model, table);
        size_t ties = 0;
        cr_assert_gt(t->count, 1000);
        for (size_t i = 0; i < t->count; i++) {
            const struct mapping *x = &t->mappings[i], *before = x - (i > 0);
            cr_assert(isfinite(x->cost) && x->cost == t->costs[x->number]);
            cr_assert(i == 0 || before->cost < x->cost ||
                      (before->cost == x->cost && before->number < x->number));
            ties += i > 0 && before->cost == x->cost;
        }
        cr_expect_gt(ties, 0);
    }
    bound_close(&f);
}
