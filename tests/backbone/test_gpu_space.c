/* The GPU space over small kernels: it has a root, random descents reach leaves, and every leaf is what
 * backbone.h promises of a candidate: a forest, sizes that multiply to the extents, values that can cross. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backbone/backbone.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "core/lift/lift.h"
#include "core/space/data.h"
#include "gpu.space.h"
#include "core/space/space.h"
#include "tests/fixture/instance.h"
#include "tests/fixture/kernel.h"

static const struct kernel_case gpu_space_cases[] = {
    {"axpy", "N=16"},
    {"gemv", "M=8,N=4"},
    {"matmul", "M=4,N=4,K=4"},
    {"transpose", "M=8,N=4"},
};
enum { GPU_SPACE_CASES = sizeof gpu_space_cases / sizeof gpu_space_cases[0] };

/* ---- what a candidate promises ---- */

static enum bb_order gpu_space_order(const struct backbone *bb, const struct bb_candidate *c, uint32_t a,
                                     uint32_t b)
{
    return (enum bb_order)c->order[(size_t)a * bb_statement_count(bb) + b];
}

static void gpu_space_check_sizes(const struct backbone *bb, const struct bb_candidate *c)
{
    for (uint32_t l = 0; l < bb->n_logicals; l++) {
        int64_t product = 1;
        for (unsigned v = 0; v < bb->logicals[l].n_levels; v++)
            product *= c->size[bb->logicals[l].first_tile + v];
        if (bb->logicals[l].of == BB_NONE)
            cr_assert_eq(product, bb->logicals[l].extent);
        else
            cr_assert_leq(product, bb->logicals[l].extent);
    }
}

/* The two statements around or equal to one statement are nested or merged. */
static void gpu_space_check_triple(const struct backbone *bb, const struct bb_candidate *c, uint32_t x,
                                   uint32_t y, uint32_t z)
{
    enum bb_order xy = gpu_space_order(bb, c, x, y), yz = gpu_space_order(bb, c, y, z),
                  xz = gpu_space_order(bb, c, x, z);
    if (xy == BB_MERGED) cr_assert_eq(yz, xz);
    if (xy == BB_BEFORE && (yz == BB_BEFORE || yz == BB_OUTER)) cr_assert_eq(xz, BB_BEFORE);
    if (xy == BB_INNER && yz != BB_OUTER && yz != BB_MERGED) cr_assert_eq(xz, yz);
    if (xy == BB_OUTER && yz == BB_INNER) cr_assert(xz != BB_BEFORE && xz != BB_AFTER);
}

static void gpu_space_check_forest(const struct backbone *bb, const struct bb_candidate *c)
{
    uint32_t n = bb_statement_count(bb);
    for (uint32_t x = 0; x < n; x++)
        for (uint32_t y = 0; y < n; y++)
            for (uint32_t z = 0; z < n; z++)
                if (x != y && y != z && x != z && c->live[x] && c->live[y] && c->live[z])
                    gpu_space_check_triple(bb, c, x, y, z);
    for (uint32_t d = 0; d < bb->n_dims; d++)
        if (c->live[bb->n_insts + d])
            cr_assert_eq(gpu_space_order(bb, c, bb->n_insts + d, bb->dims[d].inst), BB_OUTER);
}

static bool gpu_space_in_registers(uint8_t kind)
{
    return kind == BB_UNROLL || kind == BB_VECTOR;
}

static void gpu_space_check_crossing(const struct backbone *bb, const struct bb_candidate *c, uint32_t d,
                                     uint32_t e)
{
    bool merged = gpu_space_order(bb, c, bb->n_insts + d, bb->n_insts + e) == BB_MERGED;
    bool registers = gpu_space_in_registers(c->kind[d]) && gpu_space_in_registers(c->kind[e]);
    bool threads = c->kind[d] == BB_THREAD && c->kind[e] == BB_THREAD && c->code[d] == c->code[e];
    cr_assert(merged || registers || threads, "%s and %s cannot communicate", bb->dims[d].name,
              bb->dims[e].name);
}

static void gpu_space_check_values(const struct backbone *bb, const struct bb_candidate *c)
{
    for (uint32_t i = 0; i < bb->n_insts; i++)
        for (unsigned o = 0; o < bb->insts[i].n_operands; o++) {
            const struct bb_inst *p = &bb->insts[bb->insts[i].operands[o]], *r = &bb->insts[i];
            for (uint32_t d = p->first_dim; d < p->first_dim + p->n_dims; d++)
                for (uint32_t e = r->first_dim; e < r->first_dim + r->n_dims; e++)
                    if (bb->dims[d].tile == bb->dims[e].tile && c->live[bb->n_insts + d] &&
                        c->live[bb->n_insts + e])
                        gpu_space_check_crossing(bb, c, d, e);
        }
}

static void gpu_space_check_leaf(const struct backbone *bb, const struct space_state *leaf, struct arena *a)
{
    struct bb_candidate *c = bb_candidate_new(bb, a);
    const char *why = NULL;
    cr_assert(bb_decode(bb, leaf, c, &why), "%s", why);
    gpu_space_check_sizes(bb, c);
    gpu_space_check_forest(bb, c);
    gpu_space_check_values(bb, c);
}

static void gpu_space_random_leaves(const struct kernel_case *c, const struct bb_options *options)
{
    enum { DESCENTS = 20 };
    struct kernel_fixture f;
    kernel_open(&f, c, &kernel_device, options);
    struct space_state *st = kernel_root(f.space);
    struct pcg32 rng = pcg32_seed(7, 1);
    int leaves = 0;
    for (int i = 0; i < DESCENTS; i++) {
        space_mark mark = space_snapshot(st);
        if (kernel_descend(st, &rng)) {
            leaves++;
            gpu_space_check_leaf(f.bb, st, f.arena);
        }
        space_rollback(st, mark);
    }
    cr_assert_geq(leaves, DESCENTS / 2, "%s: %d leaves of %d descents", c->kernel, leaves, DESCENTS);
    space_state_free(st);
    kernel_close(&f);
}

Test(gpu_space, random_leaves_without_copies)
{
    const struct bb_options options = {.no_staging = true};
    for (int i = 0; i < GPU_SPACE_CASES; i++)
        gpu_space_random_leaves(&gpu_space_cases[i], &options);
}

Test(gpu_space, random_leaves)
{
    for (int i = 0; i < GPU_SPACE_CASES; i++)
        gpu_space_random_leaves(&gpu_space_cases[i], NULL);
}

struct gpu_space_pin {
    struct space_state *st;
    const char *text;
};

static void gpu_space_restrict(void *ctx, uint32_t slot, const uint64_t *allowed, unsigned words)
{
    struct gpu_space_pin *p = ctx;
    struct space_failure why = {0};
    cr_assert(space_restrict(p->st, slot, allowed, words, &why), "%s: line %u: %s", p->text, why.line,
              why.text);
}

Test(gpu_space, naive_decisions_lead_to_a_leaf)
{
    for (int i = 0; i < GPU_SPACE_CASES; i++) {
        struct kernel_fixture f;
        kernel_open(&f, &gpu_space_cases[i], &kernel_device, NULL);
        struct space_state *st = kernel_root(f.space);
        struct bb_decisions naive = bb_naive(f.bb, f.space, f.arena);
        struct space_failure why = {0};
        cr_assert(space_apply_all(st, naive.items, naive.n, &why), "line %u: %s", why.line, why.text);
        struct pcg32 rng = pcg32_seed(1, 1);
        cr_assert(kernel_descend(st, &rng));
        gpu_space_check_leaf(f.bb, st, f.arena);
        space_state_free(st);
        kernel_close(&f);
    }
}

/* A pin on what is not there yet holds once a later pin makes it. */
Test(gpu_space, pins_hold_in_any_order)
{
    static const char *const pins[] = {"mem_space(A.tile)=GLOBAL", "staged(A)=YES",
                                       "mem_space(A.tile)=GLOBAL"};
    struct kernel_fixture f;
    kernel_open(&f, &(struct kernel_case){"matmul", "M=64,N=64,K=64"}, &kernel_device, NULL);
    struct space_state *before = space_pinned_root(f.space, pins, 2, f.diag);
    struct space_state *after = space_pinned_root(f.space, pins + 1, 2, f.diag);
    struct space_state *staged = space_pinned_root(f.space, pins + 1, 1, f.diag);
    cr_assert(before && after && staged);
    cr_assert_eq(space_state_hash(before), space_state_hash(after));
    cr_assert_neq(space_state_hash(staged), space_state_hash(after), "the pin decides nothing");
    space_state_free(before);
    space_state_free(after);
    space_state_free(staged);
    kernel_close(&f);
}

Test(gpu_space, an_instance_read_from_text_is_the_same_space)
{
    struct kernel_fixture f;
    kernel_open(&f, &gpu_space_cases[2], &kernel_device, NULL);
    char *json = instance_json(f.data, &space_def_gpu);
    struct space_data *data = space_data_from_json("instance.json", json, &space_def_gpu, f.diag);
    cr_assert_not_null(data);
    struct space *space = space_instantiate(&space_def_gpu, data, f.diag);
    cr_assert_not_null(space);
    cr_assert_eq(space_fingerprint(space), space_fingerprint(f.space));
    struct space_failure why;
    struct space_state *one = space_root(space, &why), *other = kernel_root(f.space);
    cr_assert_not_null(one);
    cr_assert_eq(space_state_hash(one), space_state_hash(other));
    space_state_free(one);
    space_state_free(other);
    space_free(space);
    space_data_free(data);
    free(json);
    kernel_close(&f);
}

/* The shape of an expert's matrix product: blocks, threads and registers over m and n, both inputs staged for
 * each step of the outer loop over k. */
static const char *const gpu_space_tiled_matmul[] = {
    "size(m.*)=2",
    "size(n.*)=2",
    "size(k.0)=4",
    "size(k.1)=4",
    "staged(*)=YES",
    "dim_kind(store.m.0)=BLOCK",
    "dim_kind(store.n.0)=BLOCK",
    "dim_kind(store.m.1)=THREAD",
    "dim_kind(store.n.1)=THREAD",
    "dim_kind(store.m.2)=UNROLL",
    "dim_kind(store.n.2)=VECTOR",
    "dim_kind(A.load.k.0)=LOOP",
    "dim_kind(A.load.k.1)=UNROLL",
    "outside(A.tile.m)=1",
    "outside(A.tile.k)=1",
    "outside(B.tile.k)=1",
    "outside(B.tile.n)=1",
};

Test(gpu_space, a_tiled_product_with_staged_inputs_is_a_point)
{
    const struct kernel_case c = {"matmul", "M=8,N=8,K=16"};
    const struct bb_options options = {.parallel_levels = 3, .reduction_levels = 2};
    struct kernel_fixture f;
    kernel_open(&f, &c, &kernel_device, &options);
    struct space_state *st = kernel_root(f.space);
    for (size_t i = 0; i < sizeof gpu_space_tiled_matmul / sizeof gpu_space_tiled_matmul[0]; i++) {
        struct gpu_space_pin p = {st, gpu_space_tiled_matmul[i]};
        bool parsed = space_parse_pin(f.space, p.text, f.diag, gpu_space_restrict, &p);
        if (!parsed) diag_print(f.diag, stderr);
        cr_assert(parsed, "%s", p.text);
    }
    struct pcg32 rng = pcg32_seed(1, 1);
    cr_assert(kernel_descend(st, &rng));
    gpu_space_check_leaf(f.bb, st, f.arena);
    space_state_free(st);
    kernel_close(&f);
}

/* Whether the pins leave something of a product whose tile of A is 8 x 8 floats, on a device with `bytes` of
 * local memory. */
static bool gpu_space_stages(int64_t bytes, const char *stages, const char *pin)
{
    const char *pins[] = {"staged(A)=YES",
                          "size(m.0)=2",
                          "size(m.1)=8",
                          "size(k.0)=4",
                          "size(k.1)=8",
                          "outside(A.tile.m)=1",
                          "outside(A.tile.k)=1",
                          "size(A.copy.m.0)=8",
                          "size(A.copy.k.0)=8",
                          stages,
                          pin};
    struct bb_device device = kernel_device;
    struct kernel_fixture f;
    device.local_bytes = bytes;
    kernel_open(&f, &(struct kernel_case){"matmul", "M=16,N=8,K=32"}, &device, NULL);
    struct space_state *st = space_pinned_root(f.space, pins, sizeof pins / sizeof *pins, f.diag);
    bool left = st != NULL;
    if (st) space_state_free(st);
    kernel_close(&f);
    return left;
}

Test(gpu_space, two_stages_take_memory_twice_and_a_loop)
{
    enum { TILE = 8 * 8 * 4 };
    cr_expect(gpu_space_stages(TILE, "stages(A.tile)=1", "mem_space(A.tile)=LOCAL"));
    cr_expect_not(gpu_space_stages(TILE, "stages(A.tile)=2", "mem_space(A.tile)=LOCAL"));
    cr_expect(gpu_space_stages(2 * TILE, "stages(A.tile)=2", "mem_space(A.tile)=LOCAL"));
    cr_expect_not(gpu_space_stages(2 * TILE, "stages(A.tile)=2", "mem_space(A.tile)=GLOBAL"));
    cr_expect_not(gpu_space_stages(2 * TILE, "stages(A.tile)=2", "dim_kind(A.load.*.0)=BLOCK|THREAD|UNROLL"));
    cr_expect_not(
        gpu_space_stages(2 * TILE, "stages(A.tile)=2", "order(A.copy.load.k.0, A.copy.store.k.0)=MERGED"));
    cr_expect_not(gpu_space_stages(2 * TILE, "stages(A.tile)=2", "dim_kind(A.copy.load.k.0)=LOOP"));
    cr_expect(gpu_space_stages(2 * TILE, "stages(A.tile)=1", "dim_kind(A.copy.load.k.0)=LOOP"));
}

/* Both thread tiles on one axis: the load of B, which has no m, is in the run too. */
static const char *const gpu_space_run[] = {
    "size(m.*)=2",
    "size(n.*)=2",
    "staged(*)=NO",
    "map_encoding(store.m.1)=LCL0",
    "map_encoding(store.n.1)=FUSED",
    "order(store.m.1, store.n.1)=MERGED",
};

Test(gpu_space, a_run_is_one_nest_of_every_instruction_in_it)
{
    const struct kernel_case c = {"matmul", "M=4,N=4,K=4"};
    const struct bb_options options = {.parallel_levels = 2, .reduction_levels = 1};
    struct kernel_fixture f;
    kernel_open(&f, &c, &kernel_device, &options);
    struct space_state *st = kernel_root(f.space);
    for (size_t i = 0; i < sizeof gpu_space_run / sizeof gpu_space_run[0]; i++) {
        struct gpu_space_pin p = {st, gpu_space_run[i]};
        cr_assert(space_parse_pin(f.space, p.text, f.diag, gpu_space_restrict, &p), "%s", p.text);
    }
    struct pcg32 rng = pcg32_seed(3, 1);
    cr_assert(kernel_descend(st, &rng));
    struct bb_candidate *k = bb_candidate_new(f.bb, f.arena);
    const char *why = NULL;
    cr_assert(bb_decode(f.bb, st, k, &why), "%s", why);
    for (uint32_t i = 0; i < f.bb->n_insts; i++) {
        unsigned around[2] = {0, 0};
        for (uint32_t d = 0; d < f.bb->n_dims; d++)
            if (k->live[i] && k->live[f.bb->n_insts + d] && k->kind[d] == BB_THREAD &&
                gpu_space_order(f.bb, k, f.bb->n_insts + d, i) == BB_OUTER)
                around[k->code[d] == BB_FUSED]++;
        cr_assert_eq(around[0] > 0, around[1] > 0, "%s is in a part of the run", f.bb->insts[i].name);
    }
    space_state_free(st);
    kernel_close(&f);
}

/* At the sizes that are measured, where sizes, kinds and seats have most ways to contradict each other. */
static void gpu_space_dead_ends(const struct kernel_case *c, unsigned statements)
{
    enum { DESCENTS = 300, LEAVES = 288 };
    struct kernel_fixture f;
    kernel_open(&f, c, &kernel_device, NULL);
    cr_assert_eq(bb_statement_count(f.bb), statements, "%s: %u statements", c->kernel,
                 bb_statement_count(f.bb));
    struct space_state *st = kernel_root(f.space);
    struct pcg32 rng = pcg32_seed(11, 3);
    int leaves = 0;
    for (int i = 0; i < DESCENTS; i++) {
        space_mark mark = space_snapshot(st);
        leaves += kernel_descend(st, &rng);
        space_rollback(st, mark);
    }
    cr_assert_geq(leaves, LEAVES, "%s: %d leaves of %d descents", c->kernel, leaves, DESCENTS);
    space_state_free(st);
    kernel_close(&f);
}

Test(gpu_space, few_dead_ends_at_full_size)
{
    gpu_space_dead_ends(&(struct kernel_case){"matmul", "M=1024,N=1024,K=1024"}, 78);
    gpu_space_dead_ends(&(struct kernel_case){"matmul", "M=768,N=1000,K=96"}, 78);
    gpu_space_dead_ends(&(struct kernel_case){"gemv", "M=4096,N=4096"}, 54);
}

/* ---- who divides a reduction ---- */

/* Leaves in which a dimension that the product reduces is of the kind. */
static int gpu_space_divided(const char *sizes, bool gpu, enum bb_dim_kind kind)
{
    enum { DESCENTS = 200 };
    struct bb_device device = kernel_device;
    device.gpu = gpu;
    device.device_fence = true;
    struct kernel_fixture f;
    kernel_open(&f, &(struct kernel_case){"matmul", sizes}, &device, NULL);
    struct space_state *st = kernel_root(f.space);
    struct bb_candidate *c = bb_candidate_new(f.bb, f.arena);
    struct pcg32 rng = pcg32_seed(7, 5);
    int found = 0;
    for (int i = 0; i < DESCENTS; i++) {
        space_mark mark = space_snapshot(st);
        const char *why = NULL;
        bool divided = false, leaf = kernel_descend(st, &rng);
        if (leaf) cr_assert(bb_decode(f.bb, st, c, &why), "%s", why);
        for (uint32_t d = 0; leaf && d < f.bb->n_dims; d++)
            divided |=
                c->live[f.bb->n_insts + d] && c->kind[d] == kind &&
                bb_reduces(f.bb, &f.bb->insts[f.bb->dims[d].inst], f.bb->tiles[f.bb->dims[d].tile].logical);
        found += divided;
        space_rollback(st, mark);
    }
    space_state_free(st);
    kernel_close(&f);
    return found;
}

/* 2^16, 2^18 and 2^22 results. */
Test(gpu_space, many_results_are_divided_by_work_items_of_a_gpu_alone)
{
    cr_expect_gt(gpu_space_divided("M=256,N=256,K=64", false, BB_THREAD), 0);
    cr_expect_gt(gpu_space_divided("M=256,N=256,K=64", true, BB_BLOCK), 0);
    cr_expect_gt(gpu_space_divided("M=512,N=512,K=64", true, BB_THREAD), 0);
    cr_expect_eq(gpu_space_divided("M=512,N=512,K=64", true, BB_BLOCK), 0);
    cr_expect_eq(gpu_space_divided("M=512,N=512,K=64", false, BB_THREAD), 0);
    cr_expect_eq(gpu_space_divided("M=512,N=512,K=64", false, BB_BLOCK), 0);
    cr_expect_eq(gpu_space_divided("M=2048,N=2048,K=64", true, BB_THREAD), 0);
}
