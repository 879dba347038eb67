/* Banks of local memory: by hand for tiles that an expert writes, and against the accesses of the loop
 * program, one by one, for random implementations. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/codegen/program.h"
#include "core/base/arena.h"
#include "perfmodel/model.h"
#include "tests/perfmodel/fixture.h"
#include "tests/fixture/longer.h"

enum { BANKS_LANES = 32, BANKS_WIDTH = 4, BANKS_LINE = 128, BANKS_PINS = 64, BANKS_ITEMS = 1024 };

/* ---- by hand ---- */

/* The bytes of what the pins leave, lines of a file of pins and `more`. */
static double banks_pinned(struct bound_fixture *f, const char *file, const char *const *more)
{
    const char *pins[BANKS_PINS];
    unsigned n = 0;
    size_t length;
    char *text = source_read_file(file, 1 << 16, &length, f->kernel.diag), *rest = NULL;
    cr_assert_not_null(text);
    for (char *line = strtok_r(text, "\n", &rest); line && n < BANKS_PINS; line = strtok_r(NULL, "\n", &rest))
        if (line[0] != '#') pins[n++] = line;
    for (; *more && n < BANKS_PINS; more++)
        pins[n++] = *more;
    cr_assert_lt(n, BANKS_PINS);
    struct space_state *st = bound_root(f, pins, n);
    double bytes = banks_bytes(f->model, st);
    space_state_free(st);
    free(text);
    return bytes;
}

/* 64 rows of 64 words, each row read by one work-item, four words at once: without padding all of a bundle
 * are in four banks. The copy's work-items write neighbouring vectors. */
Test(banks, rows_without_padding_are_in_few_banks)
{
    struct bound_fixture f;
    bound_open(&f, &(struct kernel_case){"gemv", "M=4096,N=256"}, BOUND_H200);
    const char *pins[] = {"size(m.1)=64",        "size(n.1)=64",  "size(A.copy.n.0)=16",
                          "size(A.copy.m.0)=16", "pad(A.tile)=0", NULL};
    double fillings = 256.0 / 64, words = 64, bundles = 2, eight_a_word = 32.0 / 4;
    double bytes = banks_pinned(&f, "experiments/bound/gemv.pins", pins);
    cr_assert_eq(bytes, fillings * bundles * words * (eight_a_word + 1) * BANKS_LINE, "%g", bytes);
    pins[4] = "pad(A.tile)=1";
    bytes = banks_pinned(&f, "experiments/bound/gemv.pins", pins);
    cr_assert_eq(bytes, fillings * bundles * words * 2 * BANKS_LINE, "%g", bytes);
    pins[4] = "pad(A.tile)=0|1";
    cr_assert_eq(banks_pinned(&f, "experiments/bound/gemv.pins", pins), bytes, "the better padding is left");
    pins[0] = "size(m.1)=64|128";
    cr_assert_eq(banks_pinned(&f, "experiments/bound/gemv.pins", pins), 0, "a size is open");
    bound_close(&f);
}

/* The least of all layouts and paddings, where these are the next choices. *refused: some value that was left
 * is impossible. */
static double banks_enumerate(struct bound_fixture *f, struct space_state *st, bool *refused)
{
    const struct space *s = f->kernel.space;
    uint32_t slot = space_next_choice(st, NULL, 0);
    double least = INFINITY;
    unsigned group = slot == UINT32_MAX ? UINT32_MAX : space_slot_group(s, slot);
    if (group != (unsigned)space_group_find(s, "layout_order") &&
        group != (unsigned)space_group_find(s, "pad"))
        return banks_bytes(f->model, st);
    for (uint32_t v = 0; v < space_universe(s, slot); v++) {
        if (!space_has_value(st, slot, v)) continue;
        space_mark mark = space_snapshot(st);
        bool live = space_apply(st, (struct space_action){slot, v}, NULL);
        *refused = *refused || !live;
        if (live) least = fmin(least, banks_enumerate(f, st, refused));
        space_rollback(st, mark);
    }
    return least;
}

/* With sizes and seats decided the cheapest of the layouts and paddings that are left counts. */
Test(banks, open_shapes_count_as_the_cheapest)
{
    struct bound_fixture f;
    struct pcg32 rng = pcg32_seed(29, 0);
    unsigned exact = 0;
    bound_open(&f, &(struct kernel_case){"matmul", "M=32,N=32,K=16"}, BOUND_H200);
    for (unsigned i = 0; i < longer(200, 400); i++) {
        struct space_state *st = kernel_root(f.kernel.space);
        double bytes = 0;
        bool refused = false;
        while (bytes == 0 && kernel_step(st, &rng))
            bytes = banks_bytes(f.model, st);
        if (bytes > 0) {
            double least = banks_enumerate(&f, st, &refused);
            cr_assert_leq(bytes, least);
            if (!refused) cr_assert_eq(bytes, least);
            exact += !refused;
        }
        space_state_free(st);
    }
    cr_assert_gt(exact, 20, "%u", exact);
    bound_close(&f);
}

/* What takes longest is what the reason names, and a measurement below it corrects the rate. */
Test(banks, are_a_reason_that_a_measurement_corrects)
{
    struct bound_fixture f;
    struct perfmodel_reason reason;
    struct space_failure why;
    struct pcg32 rng = pcg32_seed(3, 0);
    bound_open(&f, &(struct kernel_case){"transpose", "M=64,N=64"}, BOUND_H200);
    f.dev.value[PERFMODEL_UNIT_LOCAL] = 1e-3;
    perfmodel_free(f.model);
    f.model = perfmodel_new(f.kernel.bb, f.kernel.space, &f.dev);
    struct space_state *root = space_root(f.kernel.space, &why);
    unsigned seen = 0;
    for (unsigned i = 0; i < 90; i++) {
        space_mark mark = space_snapshot(root);
        double ns = kernel_descend(root, &rng) ? perfmodel_bound(f.model, root, &reason) : 0;
        if (ns > 0 && reason.term == PERFMODEL_OF_BANKS) {
            cr_assert_float_eq(ns, reason.launch_ns + reason.amount / 1e-3, 1e-6 * ns);
            seen++;
        }
        space_rollback(root, mark);
    }
    cr_assert_gt(seen, 0);
    space_state_free(root);
    bound_close(&f);
}

/* ---- against the loop program ---- */

/* One region's accesses by one instruction. */
struct banks_walk {
    const struct cg_program *p;
    const struct cg_node *inst;
    const struct cg_node
        *turns; /* two tiles take turns in it, which does not change what banks do; or NULL */
    const struct index_expr *offset;
    int64_t extent[CG_AXES]; /* work-items that count, along each axis */
    int64_t *digit;          /* [n_nodes] */
    double cycles;           /* of accesses of one word a work-item */
};

/* The deepest work-item dimensions of the axis among the copy's, or among all others. */
static int64_t banks_extent(const struct cg_program *p, uint32_t copy, unsigned axis)
{
    int64_t most = 1;
    for (unsigned i = 0; i < p->n_nodes; i++) {
        const struct cg_node *n = p->nodes[i];
        if (n->type != CG_DIM || n->kind != BB_THREAD || n->axis != axis) continue;
        uint32_t value = p->bb->insts[p->bb->dims[n->dims[0]].inst].value;
        enum bb_inst_kind kind = p->bb->insts[p->bb->dims[n->dims[0]].inst].kind;
        bool copies = kind == BB_COPY_LOAD || kind == BB_COPY_STORE;
        if (copy == BB_NONE ? copies : !copies || value != copy) continue;
        most = n->run_extent > most ? n->run_extent : most;
    }
    return most;
}

/* Places the work-item; false: it takes no part. */
static bool banks_place(struct banks_walk *w, int64_t item)
{
    int64_t id[CG_AXES];
    for (unsigned a = 0; a < CG_AXES; a++) {
        id[a] = item % w->p->local_size[a];
        item /= w->p->local_size[a];
        if (id[a] >= w->extent[a]) return false;
    }
    for (const struct cg_node *n = w->inst->parent; n; n = n->parent)
        if (n->type == CG_DIM && n->kind == BB_THREAD) w->digit[n->id] = id[n->axis] / n->inner % n->size;
    return true;
}

/* One access of all bundles, with the digits of the loops as they are. */
static void banks_access(struct banks_walk *w)
{
    int64_t items = cg_items_per_group(w->p);
    for (int64_t first = 0; first < items; first += BANKS_LANES) {
        int64_t words[BANKS_LANES];
        unsigned n = 0, held[BANKS_LANES] = {0}, most = 0;
        for (int64_t i = first; i < first + BANKS_LANES && i < items; i++) {
            if (!banks_place(w, i)) continue;
            int64_t word = index_eval(w->offset, w->digit);
            unsigned j = 0;
            while (j < n && words[j] != word)
                j++;
            if (j < n) continue;
            words[n++] = word;
            unsigned in_bank = ++held[word % BANKS_LANES];
            most = in_bank > most ? in_bank : most;
        }
        w->cycles += most;
    }
}

/* Through all sequential dimensions around the instruction that the offset depends on. */
static void banks_loop(struct banks_walk *w, const struct cg_node *n)
{
    while (n && (n->type != CG_DIM || n == w->turns || cg_hardware(n) || !index_mentions(w->offset, n->id)))
        n = n->parent;
    if (!n) {
        banks_access(w);
        return;
    }
    for (int64_t i = 0; i < n->size; i++) {
        w->digit[n->id] = i;
        banks_loop(w, n->parent);
    }
    w->digit[n->id] = 0;
}

static double banks_walked(const struct cg_program *p, uint32_t inst, uint32_t copy)
{
    struct banks_walk w = {.p = p, .inst = p->inst_node[inst], .offset = p->access[inst].offset};
    w.digit = base_calloc(p->n_nodes + 1, sizeof *w.digit);
    w.turns = cg_staged_loop(p, &p->bb->values[p->bb->insts[inst].value]);
    for (unsigned a = 0; a < CG_AXES; a++)
        w.extent[a] = banks_extent(p, copy, a);
    banks_loop(&w, w.inst->parent);
    free(w.digit);
    return w.cycles;
}

/* Cycles of a group for a staged value, if no access took more than a word of a work-item. */
static double banks_scalar(const struct cg_program *p, uint32_t v)
{
    const struct bb_value *value = &p->bb->values[v];
    double fillings = 1;
    for (const struct cg_node *n = p->inst_node[value->copy_store]->parent; n; n = n->parent)
        if (n->type == CG_DIM && !cg_hardware(n) && cg_owns(p, value->load, n)) fillings *= (double)n->size;
    return fillings * (banks_walked(p, value->load, BB_NONE) + banks_walked(p, value->copy_store, v));
}

/* The model's cycles are at most those of single words, where a barrier keeps the words in memory; and at
 * least what words by fours could take, if one value is staged, which is then counted. Returns whether one
 * was. */
static bool banks_compare(struct bound_fixture *f, const struct space_state *leaf)
{
    static const struct cg_target target = {.dialect = &cg_opencl};
    struct arena *arena = arena_new();
    struct bb_candidate *c = bb_candidate_new(f->kernel.bb, arena);
    const char *why;
    double bytes = banks_bytes(f->model, leaf), scalar = 0, groups = 1;
    unsigned staged = 0;
    cr_assert(bb_decode(f->kernel.bb, leaf, c, &why), "%s", why);
    const struct cg_program *p = cg_build(f->kernel.bb, c, &target, arena, &why);
    cr_assert_not_null(p, "%s", why);
    for (uint32_t v = 0; v < f->kernel.bb->n_values; v++) {
        uint32_t region = f->kernel.bb->values[v].region;
        if (!c->staged[v] || c->mem_space[region] != BB_MEM_LOCAL) continue;
        staged++;
        if (cg_depends(p, &f->kernel.bb->values[v])) scalar += banks_scalar(p, v);
    }
    for (unsigned a = 0; a < CG_AXES; a++)
        groups *= (double)p->groups[a];
    scalar *= BANKS_LINE * ceil(groups / f->dev.value[PERFMODEL_UNITS]);
    cr_expect_leq(bytes, scalar);
    if (staged == 1 && bytes > 0) cr_expect_geq(bytes, scalar / BANKS_WIDTH);
    arena_free(arena);
    return bytes > 0;
}

static void banks_random(const struct kernel_case *k, unsigned least)
{
    struct bound_fixture f;
    struct space_failure why;
    struct pcg32 rng = pcg32_seed(17, 0);
    unsigned counted = 0;
    bound_open(&f, k, BOUND_H200);
    struct space_state *root = space_root(f.kernel.space, &why);
    for (unsigned i = 0; i < 90; i++) {
        space_mark mark = space_snapshot(root);
        if (kernel_descend(root, &rng)) counted += banks_compare(&f, root);
        space_rollback(root, mark);
    }
    cr_assert_geq(counted, least, "%u", counted);
    space_state_free(root);
    bound_close(&f);
}

Test(banks, matrix_products_ask_for_what_their_accesses_do)
{
    banks_random(&(struct kernel_case){"matmul", "M=32,N=32,K=16"}, 5);
}

Test(banks, transpositions_ask_for_what_their_accesses_do)
{
    banks_random(&(struct kernel_case){"transpose", "M=64,N=48"}, 5);
}

Test(banks, products_with_vectors_ask_for_what_their_accesses_do)
{
    banks_random(&(struct kernel_case){"gesummv", "M=64,N=32"}, 5);
}
