/* The naive implementation: one work-item for each element of the output, with no tiles, no copies and no
 * vectors. It is in the GPU space, so decisions describe it (decisions.h has an example), and the result of
 * every search is compared with it. */
#include "core/backbone/backbone.h"
#include "core/backbone/seat.h"
#include "core/base/arena.h"

static uint32_t dim_logical(const struct backbone *bb, uint32_t dim)
{
    return bb->tiles[bb->dims[dim].tile].logical;
}

struct naive {
    const struct backbone *bb;
    const struct space *space;
    struct arena *arena;
    struct bb_decisions out;
};

static void add(struct naive *n, struct space_action decision)
{
    bb_decisions_add(&n->out, n->arena, decision);
}

/* Whole logical dimensions, not rounded up: every tile but the first has size 1. */
static void add_sizes(struct naive *n)
{
    for (uint32_t l = 0; l < n->bb->n_logicals; l++)
        if (bb_has_span(n->bb, l)) add(n, gpu_act_span(n->space, l, n->bb->logicals[l].extent));
    for (uint32_t t = 0; t < n->bb->n_tiles; t++) {
        const struct bb_tile *tile = &n->bb->tiles[t];
        if (n->bb->logicals[tile->logical].of == BB_NONE && tile->level > 0)
            add(n, gpu_act_size(n->space, t, 1));
    }
}

/* The store's innermost three logical dimensions are axes 0, 1, 2 of the global id. */
static void add_kinds(struct naive *n, const bool *global, const unsigned *axis)
{
    for (uint32_t d = 0; d < n->bb->n_dims; d++) {
        uint32_t l = dim_logical(n->bb, d), s = bb_dim_statement(n->bb, d);
        if (n->bb->logicals[l].of != BB_NONE || n->bb->tiles[n->bb->dims[d].tile].level > 0 ||
            n->bb->logicals[l].extent == 1)
            continue;
        add(n, gpu_act_dim_kind(n->space, s, global[l] ? GPU_DIM_KIND_GLOBAL : GPU_DIM_KIND_LOOP));
        if (global[l]) add(n, gpu_act_map_encoding(n->space, s, GPU_MAP_ENCODING_GLB0 + axis[l]));
    }
}

static void mark_global(const struct backbone *bb, bool *global, unsigned *axis)
{
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        const struct bb_inst *inst = &bb->insts[i];
        unsigned used = 0;
        for (unsigned j = inst->kind == BB_STORE ? inst->n_logicals : 0; j-- > 0;) {
            uint32_t l = inst->logicals[j];
            if (bb->logicals[l].extent == 1 || bb->logicals[l].reduction || used == BB_AXES) continue;
            global[l] = true;
            axis[l] = used++;
        }
    }
}

static bool makes_tile(const struct backbone *bb, const struct bb_inst *inst)
{
    bool copy = false;
    for (unsigned i = 0; !copy && i < inst->n_logicals; i++)
        copy = bb->logicals[inst->logicals[i]].of != BB_NONE;
    return copy;
}

void bb_naive_repeated(const struct backbone *bb, int64_t *out)
{
    struct arena *a = arena_new();
    bool *global = ARENA_ARRAY(a, bool, bb->n_logicals + 1);
    unsigned *axis = ARENA_ARRAY(a, unsigned, bb->n_logicals + 1);
    mark_global(bb, global, axis);
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        out[i] = makes_tile(bb, &bb->insts[i]) ? 0 : 1;
        for (uint32_t l = 0; l < bb->n_logicals; l++)
            if (global[l] && !bb_owns(&bb->insts[i], l)) out[i] *= bb->logicals[l].extent;
    }
    arena_free(a);
}

int64_t bb_naive_repeats(const struct backbone *bb)
{
    struct arena *a = arena_new();
    int64_t *repeats = ARENA_ARRAY(a, int64_t, bb->n_insts + 1), most = 1;
    bb_naive_repeated(bb, repeats);
    for (uint32_t i = 0; i < bb->n_insts; i++)
        if (bb->insts[i].kind == BB_STEP && repeats[i] > most) most = repeats[i];
    arena_free(a);
    return most;
}

struct bb_decisions bb_naive(const struct backbone *bb, const struct space *space, struct arena *a)
{
    struct naive n = {.bb = bb, .space = space, .arena = a};
    bool *global = ARENA_ARRAY(a, bool, bb->n_logicals + 1);
    unsigned *axis = ARENA_ARRAY(a, unsigned, bb->n_logicals + 1);
    mark_global(bb, global, axis);
    for (uint32_t v = 0; v < bb->n_values; v++)
        add(&n, gpu_act_staged(space, v, GPU_STAGED_NO));
    add_sizes(&n);
    add_kinds(&n, global, axis);
    return n.out;
}
