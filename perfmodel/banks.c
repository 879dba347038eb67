/* What staged tiles ask of the banks of local memory, once a candidate has decided their sizes and seats: of
 * each tile the cheapest of the layouts and paddings that are left.
 *
 * Local memory has 32 banks of four bytes; in a cycle each delivers or takes one word, for all work-items of
 * a bundle that want that word. An access of a bundle therefore takes as many cycles as one bank has
 * different words in it. Which words a bundle touches at once follows from the tiles that work-items divide,
 * the layout and the padding. How many words of a work-item go into one access is the compiler's choice: up
 * to four that lie within sixteen bytes, whichever of them are cheapest a word. Each work-item reads every
 * element of its part of the tile after each filling, and each filling writes every element; the barrier
 * between the two keeps a compiler from passing a value on in a register, unless no work-item reads what
 * another one wrote: then nothing is counted.
 *
 * Where the copy or the rest of the kernel does without an axis of the group, only the first work-items along
 * it are counted. */
#include "perfmodel/banks.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"

/* ---- slots ---- */

/* Finds the slot of each of n objects in a choice of one argument. */
static bool find_slots(const struct space *s, uint32_t (*slot)(const struct space *s, uint32_t object),
                       uint32_t n, uint32_t *out)
{
    bool found = true;
    for (uint32_t i = 0; i < n; i++) {
        out[i] = slot(s, i);
        found = found && out[i] != UINT32_MAX;
    }
    return found;
}

/* Finds layout_order of each two coordinates of a region. */
static bool find_layouts(const struct perfmodel *m, struct banks *b)
{
    for (unsigned r = 0; r < m->bb->n_regions; r++) {
        const struct bb_region *region = &m->bb->regions[r];
        for (unsigned i = 0; i < region->n_dims; i++)
            for (unsigned j = 0; j < region->n_dims; j++) {
                const struct bb_region_dim *c = &m->bb->region_dims[region->first_region_dim];
                uint32_t pair[] = {c[i].first_term, c[j].first_term};
                size_t at = (size_t)(region->first_region_dim + i) * BB_MAX_LOGICALS + j;
                if (i == j) continue;
                b->layout_slot[at] =
                    space_slot_find(m->space, GPU_CHOICE_LAYOUT_ORDER, pair, 2, &b->layout_flipped[at]);
                if (b->layout_slot[at] == UINT32_MAX) return false;
            }
    }
    return true;
}

void banks_close(struct banks *b)
{
    if (!b) return;
    free(b->size_slot);
    free(b->seat_slot);
    free(b->mem_slot);
    free(b->pad_slot);
    free(b->outside_slot);
    free(b->layout_slot);
    free(b->layout_flipped);
    free(b->key);
    free(b->kept_key);
    free(b->counted);
    free(b->n_counted);
    free(b->marks);
    free(b->steps);
    free(b);
}

/* Work-items beyond an extent access nothing. */
static bool has_spans(const struct backbone *bb)
{
    for (uint32_t l = 0; l < bb->n_logicals; l++)
        if (bb_has_span(bb, l)) return true;
    return false;
}

struct banks *banks_open(const struct perfmodel *m)
{
    const struct backbone *bb = m->bb;
    if (!m->dev.gpu || m->dev.value[PERFMODEL_LANES] != BANKS || bb->n_regions == 0 || has_spans(bb))
        return NULL;
    struct banks *b = base_calloc(1, sizeof *b);
    size_t layouts = (size_t)bb->n_region_dims * BB_MAX_LOGICALS;
    b->size_slot = base_calloc(bb->n_tiles + 1, sizeof *b->size_slot);
    b->seat_slot = base_calloc(bb->n_tiles + 1, sizeof *b->seat_slot);
    b->mem_slot = base_calloc(bb->n_regions, sizeof *b->mem_slot);
    b->pad_slot = base_calloc(bb->n_regions, sizeof *b->pad_slot);
    b->outside_slot = base_calloc(bb->n_terms + 1, sizeof *b->outside_slot);
    b->layout_slot = base_calloc(layouts + 1, sizeof *b->layout_slot);
    b->layout_flipped = base_calloc(layouts + 1, sizeof *b->layout_flipped);
    b->n_key = 2 * bb->n_tiles + bb->n_values + bb->n_terms;
    b->key = base_calloc(b->n_key, sizeof *b->key);
    b->kept_key = base_calloc(b->n_key, sizeof *b->kept_key);
    b->counted = base_calloc(bb->n_regions, sizeof *b->counted);
    b->n_counted = base_calloc(bb->n_regions, sizeof *b->n_counted);
    b->marks = base_calloc(MOST_WORDS + WIDEST, 1);
    b->steps = base_calloc(MOST_WORDS, sizeof *b->steps);
    if (find_slots(m->space, gpu_slot_size, bb->n_tiles, b->size_slot) &&
        find_slots(m->space, gpu_slot_seat, bb->n_tiles, b->seat_slot) &&
        find_slots(m->space, gpu_slot_mem_space, bb->n_regions, b->mem_slot) &&
        find_slots(m->space, gpu_slot_pad, bb->n_regions, b->pad_slot) &&
        find_slots(m->space, gpu_slot_outside, bb->n_terms, b->outside_slot) && find_layouts(m, b))
        return b;
    banks_close(b);
    return NULL;
}

/* ---- the decisions ---- */

static struct decisions parts_of(const struct banks *b, const struct backbone *bb)
{
    struct decisions d = {.size = b->key};
    d.seat = d.size + bb->n_tiles;
    d.staged = d.seat + bb->n_tiles;
    d.outside = d.staged + bb->n_values;
    return d;
}

/* Reads one decision; false if it is open. */
static bool read_slot(const struct perfmodel *m, const struct space_state *st, uint32_t slot, int64_t *code)
{
    if (space_value_count(st, slot) != 1) return false;
    *code = space_value_code(m->space, slot, space_first_value(st, slot));
    return true;
}

static bool staged_here(const struct perfmodel *m, const struct space_state *st, uint32_t value)
{
    uint32_t slot = m->staged_slot[value];
    return space_value_count(st, slot) == 1 &&
           space_value_code(m->space, slot, space_first_value(st, slot)) == GPU_STAGED_YES;
}

/* Whether a tile exists: one of a copy that is not made does not. */
static bool tile_exists(const struct backbone *bb, const int64_t *staged, uint32_t tile)
{
    const struct bb_logical *l = &bb->logicals[bb->tiles[tile].logical];
    return l->of == BB_NONE || staged[bb->regions[l->region].value];
}

static bool read_tiles(const struct perfmodel *m, const struct space_state *st, const uint32_t *slots,
                       const int64_t *staged, int64_t absent, int64_t *codes)
{
    for (uint32_t t = 0; t < m->bb->n_tiles; t++) {
        codes[t] = absent;
        if (tile_exists(m->bb, staged, t) && !read_slot(m, st, slots[t], &codes[t])) return false;
    }
    return true;
}

/* Reads all that the cycles of given shapes depend on into the key. false if something is open, or nothing
 * staged. */
static bool read_decisions(const struct perfmodel *m, struct banks *b, const struct space_state *st)
{
    const struct backbone *bb = m->bb;
    bool any = false;
    memset(b->key, 0, b->n_key * sizeof *b->key);
    int64_t *seat = b->key + bb->n_tiles, *staged = seat + bb->n_tiles, *outside = staged + bb->n_values;
    for (uint32_t v = 0; v < bb->n_values; v++)
        any |= (staged[v] = staged_here(m, st, v)) != 0;
    if (!any || !read_tiles(m, st, b->seat_slot, staged, 0, seat) ||
        !read_tiles(m, st, b->size_slot, staged, 1, b->key))
        return false;
    for (uint32_t r = 0; r < bb->n_regions; r++) {
        const struct bb_region *region = &bb->regions[r];
        uint32_t first = bb->region_dims[region->first_region_dim].first_term;
        uint32_t n = staged[region->value] ? bb->insts[bb->values[region->value].load].n_logicals : 0;
        for (uint32_t x = first; x < first + n; x++)
            if (!read_slot(m, st, b->outside_slot[x], &outside[x])) return false;
    }
    return true;
}

/* Whether it can only live in local memory. */
static bool is_local(const struct perfmodel *m, const struct space_state *st, uint32_t region)
{
    int64_t memory;
    return read_slot(m, st, m->banks->mem_slot[region], &memory) && memory == GPU_MEM_SPACE_LOCAL;
}

/* ---- cycles ---- */

/* Work-items of a group along each axis: those of its longest run. */
static void local_sizes(const struct backbone *bb, const struct decisions *d, int64_t local[BB_AXES])
{
    for (int a = 0; a < BB_AXES; a++)
        local[a] = 1;
    for (uint32_t t = 0; t < bb->n_tiles; t++) {
        int64_t extent[BB_AXES];
        banks_run_extents(bb, d, t, extent);
        for (int a = 0; a < BB_AXES; a++)
            local[a] = extent[a] > local[a] ? extent[a] : local[a];
    }
}

/* Work-groups; 0: there are global work-items, which the device groups. */
static int64_t group_count(const struct backbone *bb, const struct decisions *d)
{
    int64_t groups = 1;
    for (uint32_t t = 0; t < bb->n_tiles; t++) {
        bool main = bb->logicals[bb->tiles[t].logical].of == BB_NONE;
        if (main && bb_seat_on(d->seat[t], GPU_MAP_ENCODING_WRG0) >= 0) groups *= d->size[t];
        if (main && bb_seat_on(d->seat[t], GPU_MAP_ENCODING_GLB0) >= 0) return 0;
    }
    return groups;
}

/* Whether work-items divide a reduction: then several nests may share an axis, and some have more of it. */
static bool has_parts(const struct backbone *bb, const struct decisions *d)
{
    bool any = false;
    for (uint32_t t = 0; t < bb->n_tiles; t++)
        any |= bb->logicals[bb->tiles[t].logical].reduction && d->seat[t] != GPU_MAP_ENCODING_SEQ;
    return any;
}

/* Cycles that a tile of that shape takes in one group, over all its fillings; counted once for the same
 * decisions. */
static double cycles_of(const struct perfmodel *m, uint32_t region, const struct shape *shape,
                        struct staged_tile *t)
{
    struct banks *b = m->banks;
    unsigned *n = &b->n_counted[region];
    for (unsigned i = 0; i < *n; i++)
        if (memcmp(&b->counted[region][i].shape, shape, sizeof *shape) == 0)
            return b->counted[region][i].cycles;
    struct decisions d = parts_of(b, m->bb);
    bool counts = banks_divide_staged(m->bb, &d, &m->bb->regions[region], shape, t);
    double cycles = counts ? banks_tile_cycles(b, t) : 0;
    if (*n < MOST_SHAPES) b->counted[region][(*n)++] = (struct counted){*shape, cycles};
    return cycles;
}

/* What is the same for all shapes, if the decisions are not those of the last candidate. */
static void keep_decisions(const struct perfmodel *m, struct banks *b)
{
    const struct backbone *bb = m->bb;
    size_t bytes = b->n_key * sizeof *b->key;
    struct decisions d = parts_of(b, bb);
    int64_t units = (int64_t)m->dev.value[PERFMODEL_UNITS];
    if (b->kept && memcmp(b->key, b->kept_key, bytes) == 0) return;
    memcpy(b->kept_key, b->key, bytes);
    b->kept = true;
    memset(b->n_counted, 0, bb->n_regions * sizeof *b->n_counted);
    int64_t groups = group_count(bb, &d);
    local_sizes(bb, &d, b->local);
    bool known = b->local[0] * b->local[1] * b->local[2] <= MOST_ITEMS && !has_parts(bb, &d);
    b->waves = !known ? 0 : units > 0 ? (groups + units - 1) / units : groups > 0;
}

/* Cycles of the cheapest shape that is left to a tile. */
static double least_cycles(const struct perfmodel *m, const struct space_state *state, uint32_t region)
{
    struct decisions d = parts_of(m->banks, m->bb);
    struct staged_tile t;
    struct shapes s;
    const struct bb_region *r = &m->bb->regions[region];
    if (bb_is_computed(m->bb, &m->bb->values[r->value])) return 0;
    if (!d.staged[r->value] || !is_local(m, state, region) || !banks_open_staged(m->bb, &d, r, &t)) return 0;
    banks_list_shapes(m, state, r, t.extent, &s);
    if (s.many || s.n == 0) return 0;
    double least = cycles_of(m, region, &s.list[0], &t);
    for (unsigned i = 1; i < s.n && least > 0; i++) {
        double cycles = cycles_of(m, region, &s.list[i], &t);
        least = cycles < least ? cycles : least;
    }
    return least;
}

double banks_bytes(const struct perfmodel *m, const struct space_state *state)
{
    double cycles = 0;
    if (!m->banks || !read_decisions(m, m->banks, state)) return 0;
    keep_decisions(m, m->banks);
    for (uint32_t r = 0; m->banks->waves > 0 && r < m->bb->n_regions; r++)
        cycles += least_cycles(m, state, r);
    return cycles * (double)m->banks->waves * BANKS * WORD_BYTES;
}
