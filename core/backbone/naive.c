/* The naive implementation: what one work-item for each element of the output computes, with no tiles, no
 * copies and no vectors. It is a point of the GPU space, so it is given as pins, and every search is compared
 * with it. */
#include "core/backbone/backbone.h"
#include "core/base/arena.h"

static uint32_t dim_logical(const struct backbone *bb, uint32_t dim)
{
    return bb->tiles[bb->dims[dim].tile].logical;
}

struct pins {
    const struct backbone *bb;
    struct arena *arena;
    const char **texts;
    size_t cap;
    unsigned n;
};

static void pin(struct pins *p, const char *text)
{
    p->texts = arena_grow(p->arena, p->texts, &p->cap, p->n + 1, sizeof *p->texts);
    p->texts[p->n++] = text;
}

/* Whole logical dimensions: every tile but the first has size 1. */
static void pin_sizes(struct pins *p)
{
    for (uint32_t t = 0; t < p->bb->n_tiles; t++) {
        const struct bb_tile *tile = &p->bb->tiles[t];
        if (p->bb->logicals[tile->logical].of == BB_NONE && tile->level > 0)
            pin(p, arena_printf(p->arena, "size(%s)=1", tile->name));
    }
}

/* The store's innermost three logical dimensions are axes 0, 1, 2 of the global id. */
static void pin_kinds(struct pins *p, const bool *global, const unsigned *axis)
{
    for (uint32_t d = 0; d < p->bb->n_dims; d++) {
        const struct bb_dim *dim = &p->bb->dims[d];
        uint32_t l = dim_logical(p->bb, d);
        if (p->bb->logicals[l].of != BB_NONE || p->bb->tiles[dim->tile].level > 0 ||
            p->bb->logicals[l].extent == 1)
            continue;
        pin(p, arena_printf(p->arena, "dim_kind(%s)=%s", dim->name, global[l] ? "GLOBAL" : "LOOP"));
        if (global[l]) pin(p, arena_printf(p->arena, "map_encoding(%s)=GLB%u", dim->name, axis[l]));
    }
}

static void mark_global(const struct backbone *bb, bool *global, unsigned *axis)
{
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        const struct bb_inst *inst = &bb->insts[i];
        unsigned used = 0;
        for (unsigned j = inst->kind == BB_STORE ? inst->n_logicals : 0; j-- > 0;) {
            uint32_t l = inst->logicals[j];
            if (bb->logicals[l].extent == 1 || used == 3) continue;
            global[l] = true;
            axis[l] = used++;
        }
    }
}

int64_t bb_naive_repeats(const struct backbone *bb)
{
    struct arena *a = arena_new();
    bool *global = ARENA_ARRAY(a, bool, bb->n_logicals + 1);
    unsigned *axis = ARENA_ARRAY(a, unsigned, bb->n_logicals + 1);
    int64_t most = 1;
    mark_global(bb, global, axis);
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        int64_t repeats = 1;
        for (uint32_t l = 0; l < bb->n_logicals; l++)
            if (global[l] && !bb_owns(&bb->insts[i], l)) repeats *= bb->logicals[l].extent;
        if (bb->insts[i].kind == BB_STEP && repeats > most) most = repeats;
    }
    arena_free(a);
    return most;
}

unsigned bb_naive_pins(const struct backbone *bb, struct arena *a, const char *const **pins)
{
    struct pins p = {.bb = bb, .arena = a};
    bool *global = ARENA_ARRAY(a, bool, bb->n_logicals + 1);
    unsigned *axis = ARENA_ARRAY(a, unsigned, bb->n_logicals + 1);
    mark_global(bb, global, axis);
    if (bb->n_values) pin(&p, "staged(*)=NO");
    pin_sizes(&p);
    pin_kinds(&p, global, axis);
    *pins = p.texts;
    return p.n;
}
