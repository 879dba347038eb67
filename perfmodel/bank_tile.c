/* Staged tiles: which work-item has which element of one, as reader and in the copy, and which layouts and
 * paddings are left to it. A *seated* tile of a logical dimension has a stride in words, and is sequential or
 * on an axis of work-items: element i of it is `i * stride` words further, for the work-item with (id /
 * inner) % size = i. */
#include "perfmodel/banks.h"

/* ---- who has which element ---- */

/* Whether a tile is in the run that `other` is in: of the main dimensions, or of the same copy. */
static bool same_run(const struct backbone *bb, uint32_t tile, uint32_t other)
{
    const struct bb_logical *a = &bb->logicals[bb->tiles[tile].logical];
    const struct bb_logical *b = &bb->logicals[bb->tiles[other].logical];
    return a->region == b->region;
}

/* Work-items from one iteration of a seated tile to the next: sizes of the tiles below it in its run. 0 if
 * two tiles have one seat, so that there are several runs. */
static int64_t inner_of(const struct backbone *bb, const struct decisions *d, uint32_t tile)
{
    int64_t inner = 1;
    for (uint32_t t = 0; t < bb->n_tiles; t++) {
        if (t == tile || !same_run(bb, t, tile) || bb_seat_axis(d->seat[t]) != bb_seat_axis(d->seat[tile]))
            continue;
        if (d->seat[t] == d->seat[tile]) return 0;
        if (bb_seat_place(d->seat[t]) > bb_seat_place(d->seat[tile])) inner *= d->size[t];
    }
    return inner;
}

void banks_run_extents(const struct backbone *bb, const struct decisions *d, uint32_t tile,
                       int64_t extent[BB_AXES])
{
    for (int a = 0; a < BB_AXES; a++)
        extent[a] = 1;
    for (uint32_t t = 0; t < bb->n_tiles; t++) {
        int axis = bb_seat_on(d->seat[t], GPU_MAP_ENCODING_LCL0);
        if (axis >= 0 && same_run(bb, t, tile)) extent[axis] *= d->size[t];
    }
}

/* Adds the tiles of a logical dimension from level `first` on, one after the other `stride` words apart. */
static bool divide(const struct backbone *bb, const struct decisions *d, const struct bb_logical *l,
                   unsigned first, int64_t stride, struct division *out)
{
    for (unsigned level = l->n_levels; level-- > first;) {
        uint32_t t = l->first_tile + level;
        int axis = bb_seat_on(d->seat[t], GPU_MAP_ENCODING_LCL0);
        if (d->size[t] == 1) continue;
        if (out->n == MAX_SEATED || (axis < 0 && d->seat[t] != GPU_MAP_ENCODING_SEQ)) return false;
        struct seated *part = &out->part[out->n++];
        *part = (struct seated){d->size[t], stride, axis, 1};
        if (axis >= 0 && !(part->inner = inner_of(bb, d, t))) return false;
        stride *= d->size[t];
    }
    return true;
}

static const struct bb_logical *copy_logical(const struct backbone *bb, const struct bb_region *r,
                                             uint32_t of)
{
    const struct bb_inst *store = &bb->insts[bb->values[r->value].copy_store];
    for (unsigned i = 0; i < store->n_logicals; i++)
        if (bb->logicals[store->logicals[i]].of == of) return &bb->logicals[store->logicals[i]];
    return NULL;
}

/* How many tiles of the load's logical are outside the copy, as levels; the sequential ones of them are
 * fillings. */
static unsigned cut_of(const struct decisions *d, const struct bb_logical *l, uint32_t term,
                       int64_t *fillings)
{
    unsigned cut = (unsigned)d->outside[term];
    for (unsigned level = 0; level < cut && level < l->n_levels; level++)
        if (d->seat[l->first_tile + level] == GPU_MAP_ENCODING_SEQ)
            *fillings *= d->size[l->first_tile + level];
    return cut;
}

bool banks_open_staged(const struct backbone *bb, const struct decisions *d, const struct bb_region *r,
                       struct staged_tile *out)
{
    *out = (struct staged_tile){.fillings = 1};
    for (unsigned j = 0; j < r->n_dims; j++) {
        const struct bb_region_dim *c = &bb->region_dims[r->first_region_dim + j];
        const struct bb_logical *l = &bb->logicals[bb->terms[c->first_term].logical];
        if (bb_overlaps(c)) return false;
        out->cut[j] = cut_of(d, l, c->first_term, &out->fillings);
        out->extent[j] = 1;
        for (unsigned level = out->cut[j]; level < l->n_levels; level++)
            out->extent[j] *= d->size[l->first_tile + level];
    }
    return r->n_dims > 0 && scalar_type_bytes(r->type) == WORD_BYTES;
}

bool banks_divide_staged(const struct backbone *bb, const struct decisions *d, const struct bb_region *r,
                         const struct shape *shape, struct staged_tile *t)
{
    t->shape = shape;
    t->readers.n = t->copy.n = 0;
    for (unsigned j = 0; j < r->n_dims; j++) {
        uint32_t of = bb->terms[bb->region_dims[r->first_region_dim + j].first_term].logical;
        const struct bb_logical *l = &bb->logicals[of], *copy = copy_logical(bb, r, of);
        if (!copy || !divide(bb, d, l, t->cut[j], shape->stride[j], &t->readers) ||
            !divide(bb, d, copy, 0, shape->stride[j], &t->copy))
            return false;
        banks_run_extents(bb, d, l->first_tile, t->readers.extent);
        banks_run_extents(bb, d, copy->first_tile, t->copy.extent);
    }
    return shape->words <= MOST_WORDS;
}

/* ---- the shapes that are left ---- */

/* Whether coordinate i of a region may have the larger stride of i and j. */
static bool may_be_outside(const struct perfmodel *m, const struct space_state *st, const struct bb_region *r,
                           unsigned i, unsigned j)
{
    size_t at = (size_t)(r->first_region_dim + i) * BB_MAX_LOGICALS + j;
    uint32_t slot = m->banks->layout_slot[at];
    for (uint32_t v = 0; v < space_universe(m->space, slot); v++) {
        uint32_t own = m->banks->layout_flipped[at] ? space_value_mirror(m->space, slot, v) : v;
        if (space_has_value(st, slot, v) && space_value_code(m->space, slot, own) != GPU_LAYOUT_ORDER_INSIDE)
            return true;
    }
    return false;
}

/* One for each padding that is left, of the coordinates from the innermost on. */
static void add_padded(struct shapes *s, const unsigned *inner)
{
    uint32_t slot = s->m->banks->pad_slot[s->region - s->m->bb->regions];
    for (uint32_t v = 0; v < space_universe(s->m->space, slot); v++) {
        if (!space_has_value(s->state, slot, v)) continue;
        if (s->n == MOST_SHAPES) {
            s->many = true;
            return;
        }
        struct shape *shape = &s->list[s->n++];
        int64_t stride = 1;
        *shape = (struct shape){0};
        for (unsigned rank = 0; rank < s->region->n_dims; rank++) {
            shape->stride[inner[rank]] = stride;
            stride *= s->extent[inner[rank]] + (rank == 0 ? space_value_code(s->m->space, slot, v) : 0);
        }
        shape->words = stride;
    }
}

/* Orders of the coordinates from the innermost on, the first `rank` of which are chosen. */
static void add_orders(struct shapes *s, unsigned *inner, unsigned rank)
{
    if (rank == s->region->n_dims) add_padded(s, inner);
    for (unsigned i = 0; rank < s->region->n_dims && i < s->region->n_dims && !s->many; i++) {
        bool possible = true;
        for (unsigned k = 0; k < rank; k++)
            possible = possible && inner[k] != i && may_be_outside(s->m, s->state, s->region, i, inner[k]);
        if (!possible) continue;
        inner[rank] = i;
        add_orders(s, inner, rank + 1);
    }
}

void banks_list_shapes(const struct perfmodel *m, const struct space_state *state,
                       const struct bb_region *region, const int64_t *extent, struct shapes *out)
{
    unsigned inner[BB_MAX_LOGICALS] = {0};
    *out = (struct shapes){.m = m, .state = state, .region = region, .extent = extent};
    add_orders(out, inner, 0);
}
