/* Counts of a loop program, one instruction after the other. Of a load of four floats in a group of 16 x 16,
 * A[64 * (i0 * 16 + i1) + 4 * k0 + k1] with i1 and k0 work-items and k1 a vector:
 *
 *     executed     the product of the loops around it, for each work-item
 *     a bundle     the offsets of work-items 0 to 31: 0 4 8 .. 60, 64 ..    2 rows of 16 accesses of 16 bytes
 *     sectors      distinct offsets / 8: 16
 *     traffic      of a group, the product of the sizes that the offset depends on: 16 * 16 * 4 * 4 bytes
 *
 * What a work-item has for itself, a private region, is registers: its accesses are none.
 *
 * Loads of products in matrices (matrix.c) are counted as the loop program has them: more than the text has.
 *
 * In local memory a bundle takes as many cycles as its busiest bank has words to give: 32 banks of 4 bytes,
 * and accesses of 8 and 16 bytes are served to halves and quarters of a bundle. */
#include "core/codegen/counts.h"

#include <math.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/codegen/program.h"

enum {
    BUNDLE = 32,       /* work-items that run together */
    SECTOR_BYTES = 32, /* of global memory */
    BANKS = 32,        /* of local memory, BANK_BYTES wide */
    BANK_BYTES = 4,
    GLOBAL_ITEMS = 256 /* of a group that the device makes of global work-items */
};

struct counting {
    const struct cg_program *p;
    double *counts;
    int64_t *digits; /* of the nodes and data, for a work-item of the bundle */
    int64_t items;   /* of a group */
    double groups;
};

/* ---- an instruction ---- */

static bool is_repeated(const struct cg_node *n)
{
    return n->type == CG_DIM && (n->kind == BB_LOOP || n->kind == BB_UNROLL || n->kind == BB_VECTOR);
}

static bool is_memory(const struct cg_program *p, const struct cg_access *x)
{
    return x->offset != NULL && !cg_is_private(p, x->region);
}

/* Whether the compiler has to execute the instruction once for each of a node's copies: an address that is
 * the same in all copies is loaded once. */
static bool has_copies(const struct cg_program *p, uint32_t inst, const struct cg_node *n)
{
    const struct cg_access *x = &p->access[inst];
    return is_memory(p, x) ? index_mentions(x->offset, n->id) : cg_owns(p, inst, n);
}

/* Elements that are neighbours in memory and are accessed together. */
static int64_t width_of(const struct cg_program *p, uint32_t inst)
{
    const struct cg_access *x = &p->access[inst];
    for (const struct cg_node *n = p->inst_node[inst]->parent; n; n = n->parent) {
        int affine = 0;
        if (n->type != CG_DIM || n->kind != BB_VECTOR) continue;
        if (index_stride(x->offset, n->id, &affine) == 1 && affine) return n->size;
    }
    return 1;
}

/* How often a work-item executes it: copies of the text (loops: false), or all iterations. */
static double executed(const struct cg_program *p, uint32_t inst, int64_t width, bool loops)
{
    double times = 1;
    for (const struct cg_node *n = p->inst_node[inst]->parent; n; n = n->parent) {
        if (!loops && n->type == CG_AHEAD && !cg_peels(n->loop))
            times *= 1 + n->distance; /* before the loop, in it */
        if (!is_repeated(n)) continue;
        if (n->kind == BB_LOOP ? loops : has_copies(p, inst, n)) times *= (double)n->size;
        if (!loops && cg_peels(n)) times *= 2;
    }
    return times / (double)width;
}

/* Work-items of a group that execute it. */
static double active_items(const struct counting *c, uint32_t inst)
{
    const struct cg_node *node = c->p->inst_node[inst];
    double active = (double)c->items;
    for (const struct cg_node *n = node->parent; n; n = n->parent)
        if (n->type == CG_DIM && n->kind == BB_THREAD && !n->fused)
            active *= (double)n->run_extent / (double)c->p->local_size[n->axis];
    for (unsigned g = 0; g < CG_AXES; g++)
        if (node->guard_local >> g & 1u) active /= (double)c->p->local_size[g];
    return fmax(active, 1);
}

static double bundles(double items)
{
    return ceil(items / BUNDLE);
}

/* Elements of the offset's range that one group touches. */
static double touched(const struct counting *c, uint32_t inst)
{
    const struct cg_access *x = &c->p->access[inst];
    double elements = 1;
    for (const struct cg_node *n = c->p->inst_node[inst]->parent; n; n = n->parent) {
        const struct cg_node *dim = n->type == CG_AHEAD ? n->loop : n;
        if (dim->type != CG_DIM || dim->kind == BB_BLOCK || dim->kind == BB_GLOBAL) continue;
        if (index_mentions(x->offset, n->id)) elements *= (double)dim->size;
    }
    return c->p->global_ids ? elements * (double)c->items : elements;
}

/* ---- a bundle ---- */

/* Sets the digits of hardware dimensions for work-item `item` of the first group. */
static void place_item(struct counting *c, int64_t item)
{
    int64_t id[CG_AXES] = {item};
    for (unsigned g = 0; g + 1 < CG_AXES && !c->p->global_ids; g++) {
        id[g + 1] = id[g] / c->p->local_size[g];
        id[g] %= c->p->local_size[g];
    }
    for (unsigned i = 0; i < c->p->n_nodes; i++) {
        const struct cg_node *n = c->p->nodes[i];
        bool item_axis = n->type == CG_DIM && (n->kind == BB_THREAD || n->kind == BB_GLOBAL);
        if (item_axis) c->digits[n->id] = id[n->axis] / n->inner % n->size;
    }
}

/* Number of distinct values of n. */
static unsigned distinct(const int64_t *values, unsigned n)
{
    unsigned count = 0;
    for (unsigned i = 0; i < n; i++) {
        bool seen = false;
        for (unsigned j = 0; j < i && !seen; j++)
            seen = values[j] == values[i];
        count += !seen;
    }
    return count;
}

/* Sectors of n accesses at these bytes. */
static double sectors_of(const int64_t *at, unsigned n, int64_t bytes)
{
    int64_t sector[2 * BUNDLE];
    unsigned count = 0;
    for (unsigned i = 0; i < n; i++) {
        sector[count++] = at[i] / SECTOR_BYTES;
        if ((at[i] + bytes - 1) / SECTOR_BYTES != at[i] / SECTOR_BYTES)
            sector[count++] = (at[i] + bytes - 1) / SECTOR_BYTES;
    }
    return distinct(sector, count);
}

/* Words that the busiest bank gives to accesses at these bytes. */
static double busiest_bank(const int64_t *at, unsigned n, int64_t bytes)
{
    unsigned load[BANKS] = {0}, most = 1;
    int64_t seen[BUNDLE * 4];
    unsigned n_seen = 0;
    for (unsigned i = 0; i < n; i++)
        for (int64_t b = 0; b < bytes; b += BANK_BYTES) {
            int64_t word = (at[i] + b) / BANK_BYTES;
            bool known = false;
            for (unsigned j = 0; j < n_seen && !known; j++)
                known = seen[j] == word;
            if (known || n_seen == BUNDLE * 4) continue;
            seen[n_seen++] = word;
            if (++load[word % BANKS] > most) most = load[word % BANKS];
        }
    return most;
}

static double bank_cycles(const int64_t *at, unsigned n, int64_t bytes)
{
    unsigned together = BUNDLE;
    double cycles = 0;
    if (bytes > BANK_BYTES) together = bytes > 2 * BANK_BYTES ? BUNDLE / 4 : BUNDLE / 2;
    for (unsigned i = 0; i < n; i += together)
        cycles += busiest_bank(at + i, n - i < together ? n - i : together, bytes);
    return cycles;
}

/* First bytes of the accesses of a bundle; returns how many work-items have one. */
static unsigned bundle_of(struct counting *c, const struct cg_access *x, double active, int64_t bytes,
                          int64_t *at)
{
    unsigned n = active < BUNDLE ? (unsigned)active : BUNDLE;
    for (unsigned i = 0; i < n; i++) {
        place_item(c, i);
        at[i] = index_eval(x->offset, c->digits) * bytes;
        if (at[i] < 0) at[i] = 0;
    }
    return n;
}

/* ---- the kernel ---- */

static void add(struct counting *c, enum cg_count count, double amount)
{
    c->counts[count] += amount;
}

static void count_access(struct counting *c, uint32_t inst)
{
    const struct cg_program *p = c->p;
    const struct cg_access *x = &p->access[inst];
    const struct backbone *bb = p->bb;
    enum scalar_type type = x->buffer != BB_NONE ? bb->buffers[x->buffer].type : bb->regions[x->region].type;
    bool local = x->region != BB_NONE && p->regions[x->region].space == BB_MEM_LOCAL;
    bool store = bb->insts[inst].kind == BB_STORE || bb->insts[inst].kind == BB_COPY_STORE;
    int64_t element = (int64_t)scalar_type_bytes(type), width = width_of(p, inst), at[BUNDLE];
    double active = active_items(c, inst), times = executed(p, inst, width, true);
    double requests = times * bundles(active) * c->groups;
    unsigned n = bundle_of(c, x, active, element, at);
    add(c, CG_COUNT_STEPS, times);
    add(c, CG_COUNT_TEXT, executed(p, inst, width, false));
    if (local) {
        add(c, CG_COUNT_LOCAL_ACCESSES, requests);
        add(c, CG_COUNT_LOCAL_CYCLES, requests * bank_cycles(at, n, element * width));
        return;
    }
    add(c, store ? CG_COUNT_STORES : CG_COUNT_LOADS, requests);
    bool copy = bb->insts[inst].kind == BB_COPY_LOAD;
    if (copy && cg_staged_loop(p, &bb->values[bb->insts[inst].value])) add(c, CG_COUNT_AHEAD, requests);
    add(c, store ? CG_COUNT_STORE_SECTORS : CG_COUNT_LOAD_SECTORS,
        requests * sectors_of(at, n, element * width));
    add(c, CG_COUNT_TRAFFIC, touched(c, inst) * (double)element * c->groups);
}

static double operations_of(const struct bb_inst *in)
{
    double n = 0;
    for (unsigned i = 0; i < in->n_nodes; i++)
        n += in->nodes[i].kind == BB_NODE_OP || in->nodes[i].kind == BB_NODE_SELECT;
    return n;
}

static void count_arithmetic(struct counting *c, uint32_t inst)
{
    double operations = operations_of(&c->p->bb->insts[inst]), times = executed(c->p, inst, 1, true);
    if (operations == 0) return;
    add(c, CG_COUNT_STEPS, times);
    add(c, CG_COUNT_TEXT, executed(c->p, inst, 1, false));
    add(c, CG_COUNT_OPERATIONS, operations * times * active_items(c, inst) * c->groups);
}

static void count_registers(struct counting *c)
{
    const struct cg_program *p = c->p;
    for (uint32_t i = 0; i < p->bb->n_insts; i++)
        if (p->inst_node[i] && p->bb->insts[i].kind != BB_STEP && p->values[i].registers > 0)
            add(c, CG_COUNT_REGISTERS, (double)p->values[i].registers * bb_parts(&p->bb->insts[i]));
    for (uint32_t r = 0; r < p->bb->n_regions; r++)
        if (p->regions[r].used && cg_is_private(p, r))
            add(c, CG_COUNT_REGISTERS, (double)p->regions[r].elements);
}

/* Loops and barriers, for each work-item. */
static void count_control(struct counting *c, const struct cg_node *n, double times)
{
    if (n->type == CG_BARRIER) add(c, CG_COUNT_BARRIERS, times);
    if (n->type == CG_COMBINE && n->has_barrier) add(c, CG_COUNT_BARRIERS, 2 * times);
    if (n->type == CG_DIM && n->kind == BB_LOOP) {
        times *= (double)n->size;
        add(c, CG_COUNT_ITERATIONS, times);
    }
    for (unsigned i = 0; i < n->n_children; i++)
        count_control(c, n->children[i], times);
}

static void count_launch(struct counting *c)
{
    const struct cg_program *p = c->p;
    c->groups = 1;
    for (unsigned g = 0; g < CG_AXES; g++)
        c->groups *= (double)p->groups[g];
    c->items = cg_items_per_group(p);
    if (p->global_ids) {
        c->items = c->groups < GLOBAL_ITEMS ? (int64_t)c->groups : GLOBAL_ITEMS;
        c->groups = ceil(c->groups / GLOBAL_ITEMS);
    }
    add(c, CG_COUNT_GROUPS, c->groups);
    add(c, CG_COUNT_ITEMS, (double)c->items);
    for (uint32_t r = 0; r < p->bb->n_regions; r++)
        if (p->regions[r].used && p->regions[r].space == BB_MEM_LOCAL)
            add(c, CG_COUNT_LOCAL_BYTES,
                (double)p->regions[r].elements * (double)scalar_type_bytes(p->bb->regions[r].type));
}

void cg_count(const struct cg_program *p, double *counts)
{
    struct arena *a = arena_new();
    struct counting c = {.p = p, .counts = counts};
    c.digits = ARENA_ARRAY(a, int64_t, cg_variables(p));
    memset(counts, 0, CG_COUNT_COUNT * sizeof counts[0]);
    count_launch(&c);
    count_registers(&c);
    count_control(&c, p->root, 1);
    for (uint32_t i = 0; i < p->bb->n_insts; i++) {
        if (!p->inst_node[i]) continue;
        if (is_memory(p, &p->access[i]) &&
            !(p->access[i].buffer != BB_NONE && p->bb->buffers[p->access[i].buffer].by_value))
            count_access(&c, i);
        count_arithmetic(&c, i);
    }
    arena_free(a);
}

const char *cg_count_text(enum cg_count count)
{
    static const char *const texts[] = {
#define X(id, what) what,
        CG_COUNTS(X)
#undef X
    };
    return texts[count];
}
