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
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/space/space.h"
#include "perfmodel/model.h"

enum {
    BANKS = 32,
    WORD_BYTES = 4,
    WIDEST = 4,      /* words of an access of one work-item */
    LOCAL_AXIS = 10, /* codes of seat: + the axis, + PLACE for each tile around */
    GROUP_AXIS = 20,
    GLOBAL_AXIS = 30,
    PLACE = 100,
    AXES = 3,
    MOST_ITEMS = 1024,
    MOST_WORDS = 65536 / WORD_BYTES, /* of a tile */
    MOST_SHAPES = 64,                /* of a tile; with more nothing is counted */
    MAX_SEATED = 32,
    LOCAL = 1 /* code of mem_space */
};

/* One tile of a logical dimension as it is decided. */
struct seated {
    int64_t size, stride; /* iterations; words of the staged tile from one to the next */
    int axis;             /* of work-items; -1: sequential */
    int64_t inner;        /* work-items along the axis from one to the next */
};

/* How the elements of a staged tile are divided among work-items, by its readers or by its copy. */
struct division {
    unsigned n;
    struct seated part[MAX_SEATED];
    int64_t extent[AXES]; /* work-items along each axis that take part */
};

/* Strides of a staged tile's coordinates, in words, and what the tile has of them with padding. */
struct shape {
    int64_t stride[BB_MAX_LOGICALS], words;
};

/* A staged tile in one candidate. */
struct staged_tile {
    int64_t extent[BB_MAX_LOGICALS];
    unsigned cut[BB_MAX_LOGICALS]; /* tiles of each coordinate that are outside the copy */
    int64_t fillings;
    const struct shape *shape;
    struct division readers, copy;
};

/* Cycles that were counted. */
struct counted {
    struct shape shape;
    double cycles;
};

struct banks {
    uint32_t *size_slot, *seat_slot; /* [n_tiles] */
    uint32_t *mem_slot, *pad_slot;   /* [n_regions] */
    uint32_t *outside_slot;          /* [n_region_dims] */
    uint32_t *layout_slot; /* [n_region_dims][BB_MAX_LOGICALS] against the coordinates of its region */
    bool *layout_flipped;  /* the same */
    unsigned n_key;
    int64_t *key, *kept_key; /* decisions but those of shapes, of this candidate and of the last one */
    bool kept;
    int64_t local[AXES],
        waves; /* of kept_key: work-items of a group; groups of the busiest unit, 0: unknown */
    struct counted (*counted)[MOST_SHAPES]; /* [n_regions] with kept_key */
    unsigned *n_counted;                    /* [n_regions] */
    unsigned char *marks;                   /* [MOST_WORDS + WIDEST] 0 between uses */
    int32_t *steps;                         /* [MOST_WORDS] scratch */
};

/* ---- slots ---- */

static bool find_slots(const struct space *s, const char *group, uint32_t n, uint32_t *out)
{
    int g = space_group_find(s, group);
    for (uint32_t i = 0; g >= 0 && i < n; i++) {
        bool flipped;
        out[i] = space_slot_find(s, (unsigned)g, &i, 1, &flipped);
        if (out[i] == UINT32_MAX) return false;
    }
    return g >= 0;
}

static bool find_layouts(const struct perfmodel *m, struct banks *b)
{
    int g = space_group_find(m->space, "layout_order");
    for (unsigned r = 0; g >= 0 && r < m->bb->n_regions; r++) {
        const struct bb_region *region = &m->bb->regions[r];
        for (unsigned i = 0; i < region->n_dims; i++)
            for (unsigned j = 0; j < region->n_dims; j++) {
                uint32_t pair[] = {region->first_region_dim + i, region->first_region_dim + j};
                size_t at = (size_t)pair[0] * BB_MAX_LOGICALS + j;
                if (i == j) continue;
                b->layout_slot[at] = space_slot_find(m->space, (unsigned)g, pair, 2, &b->layout_flipped[at]);
                if (b->layout_slot[at] == UINT32_MAX) return false;
            }
    }
    return g >= 0;
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

struct banks *banks_open(const struct perfmodel *m)
{
    const struct backbone *bb = m->bb;
    if (!m->dev.gpu || m->dev.value[PERFMODEL_LANES] != BANKS || bb->n_regions == 0) return NULL;
    struct banks *b = base_calloc(1, sizeof *b);
    size_t layouts = (size_t)bb->n_region_dims * BB_MAX_LOGICALS;
    b->size_slot = base_calloc(bb->n_tiles + 1, sizeof *b->size_slot);
    b->seat_slot = base_calloc(bb->n_tiles + 1, sizeof *b->seat_slot);
    b->mem_slot = base_calloc(bb->n_regions, sizeof *b->mem_slot);
    b->pad_slot = base_calloc(bb->n_regions, sizeof *b->pad_slot);
    b->outside_slot = base_calloc(bb->n_region_dims + 1, sizeof *b->outside_slot);
    b->layout_slot = base_calloc(layouts + 1, sizeof *b->layout_slot);
    b->layout_flipped = base_calloc(layouts + 1, sizeof *b->layout_flipped);
    b->n_key = 2 * bb->n_tiles + bb->n_values + bb->n_region_dims;
    b->key = base_calloc(b->n_key, sizeof *b->key);
    b->kept_key = base_calloc(b->n_key, sizeof *b->kept_key);
    b->counted = base_calloc(bb->n_regions, sizeof *b->counted);
    b->n_counted = base_calloc(bb->n_regions, sizeof *b->n_counted);
    b->marks = base_calloc(MOST_WORDS + WIDEST, 1);
    b->steps = base_calloc(MOST_WORDS, sizeof *b->steps);
    if (find_slots(m->space, "size", bb->n_tiles, b->size_slot) &&
        find_slots(m->space, "seat", bb->n_tiles, b->seat_slot) &&
        find_slots(m->space, "mem_space", bb->n_regions, b->mem_slot) &&
        find_slots(m->space, "pad", bb->n_regions, b->pad_slot) &&
        find_slots(m->space, "outside", bb->n_region_dims, b->outside_slot) && find_layouts(m, b))
        return b;
    banks_close(b);
    return NULL;
}

/* ---- the decisions ---- */

/* The parts of the key. */
struct decisions {
    const int64_t *size, *seat, *staged, *outside;
};

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
           space_value_code(m->space, slot, space_first_value(st, slot)) == 1;
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
        for (unsigned j = 0; staged[region->value] && j < region->n_dims; j++) {
            uint32_t c = region->first_region_dim + j;
            if (!read_slot(m, st, b->outside_slot[c], &outside[c])) return false;
        }
    }
    return true;
}

/* Whether it can only live in local memory. */
static bool is_local(const struct perfmodel *m, const struct space_state *st, uint32_t region)
{
    int64_t memory;
    return read_slot(m, st, m->banks->mem_slot[region], &memory) && memory == LOCAL;
}

/* Whether coordinate i of a region may have the larger stride of i and j. */
static bool may_be_outside(const struct perfmodel *m, const struct space_state *st, const struct bb_region *r,
                           unsigned i, unsigned j)
{
    size_t at = (size_t)(r->first_region_dim + i) * BB_MAX_LOGICALS + j;
    uint32_t slot = m->banks->layout_slot[at];
    for (uint32_t v = 0; v < space_universe(m->space, slot); v++) {
        uint32_t own = m->banks->layout_flipped[at] ? space_value_mirror(m->space, slot, v) : v;
        if (space_has_value(st, slot, v) && space_value_code(m->space, slot, own) != 0) return true;
    }
    return false;
}

/* ---- the shape of a tile ---- */

static bool is_axis(int64_t seat, int first)
{
    return seat % PLACE >= first && seat % PLACE < first + AXES;
}

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
        if (t == tile || !same_run(bb, t, tile) || d->seat[t] % PLACE != d->seat[tile] % PLACE) continue;
        if (d->seat[t] == d->seat[tile]) return 0;
        if (d->seat[t] > d->seat[tile]) inner *= d->size[t];
    }
    return inner;
}

/* Work-items along each axis of the run that a logical dimension's tiles may be in. */
static void run_extents(const struct backbone *bb, const struct decisions *d, uint32_t tile,
                        int64_t extent[AXES])
{
    for (int a = 0; a < AXES; a++)
        extent[a] = 1;
    for (uint32_t t = 0; t < bb->n_tiles; t++)
        if (same_run(bb, t, tile) && is_axis(d->seat[t], LOCAL_AXIS))
            extent[d->seat[t] % PLACE - LOCAL_AXIS] *= d->size[t];
}

/* Adds the tiles of a logical dimension from level `first` on, one after the other `stride` words apart. */
static bool divide(const struct backbone *bb, const struct decisions *d, const struct bb_logical *l,
                   unsigned first, int64_t stride, struct division *out)
{
    for (unsigned level = l->n_levels; level-- > first;) {
        uint32_t t = l->first_tile + level;
        int64_t seat = d->seat[t];
        if (d->size[t] == 1) continue;
        if (out->n == MAX_SEATED || (seat != 0 && !is_axis(seat, LOCAL_AXIS))) return false;
        struct seated *part = &out->part[out->n++];
        *part = (struct seated){d->size[t], stride, seat ? (int)(seat % PLACE) - LOCAL_AXIS : -1, 1};
        if (seat && !(part->inner = inner_of(bb, d, t))) return false;
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
static unsigned cut_of(const struct decisions *d, const struct bb_logical *l, uint32_t c, int64_t *fillings)
{
    unsigned cut = (unsigned)d->outside[c];
    for (unsigned level = 0; level < cut && level < l->n_levels; level++)
        if (d->seat[l->first_tile + level] == 0) *fillings *= d->size[l->first_tile + level];
    return cut;
}

/* Sizes of what is staged. false if its cycles cannot be counted. */
static bool open_staged(const struct backbone *bb, const struct decisions *d, const struct bb_region *r,
                        struct staged_tile *out)
{
    const struct bb_inst *load = &bb->insts[bb->values[r->value].load];
    *out = (struct staged_tile){.fillings = 1};
    for (unsigned j = 0; j < r->n_dims; j++) {
        const struct bb_logical *l = &bb->logicals[load->logicals[j]];
        out->cut[j] = cut_of(d, l, r->first_region_dim + j, &out->fillings);
        out->extent[j] = 1;
        for (unsigned level = out->cut[j]; level < l->n_levels; level++)
            out->extent[j] *= d->size[l->first_tile + level];
    }
    return r->n_dims > 0 && scalar_type_bytes(r->type) == WORD_BYTES;
}

/* Who has which element of a tile of that shape. false likewise. */
static bool divide_staged(const struct backbone *bb, const struct decisions *d, const struct bb_region *r,
                          const struct shape *shape, struct staged_tile *t)
{
    const struct bb_inst *load = &bb->insts[bb->values[r->value].load];
    t->shape = shape;
    t->readers.n = t->copy.n = 0;
    for (unsigned j = 0; j < r->n_dims; j++) {
        const struct bb_logical *l = &bb->logicals[load->logicals[j]];
        const struct bb_logical *copy = copy_logical(bb, r, load->logicals[j]);
        if (!copy || !divide(bb, d, l, t->cut[j], shape->stride[j], &t->readers) ||
            !divide(bb, d, copy, 0, shape->stride[j], &t->copy))
            return false;
        run_extents(bb, d, l->first_tile, t->readers.extent);
        run_extents(bb, d, copy->first_tile, t->copy.extent);
    }
    return shape->words <= MOST_WORDS;
}

/* ---- the shapes that are left ---- */

struct shapes {
    const struct perfmodel *m;
    const struct space_state *state;
    const struct bb_region *region;
    const int64_t *extent;
    struct shape list[MOST_SHAPES];
    unsigned n;
    bool many; /* more than MOST_SHAPES */
};

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

/* ---- cycles ---- */

/* First words by the places along each axis. */
struct places {
    int64_t extent[AXES]; /* what is beyond takes no part */
    int32_t word[AXES][MOST_ITEMS];
};

static void places_of(const struct division *v, struct places *out)
{
    for (int a = 0; a < AXES; a++) {
        out->extent[a] = v->extent[a];
        for (int64_t id = 0; id < v->extent[a]; id++) {
            int64_t word = 0;
            for (unsigned i = 0; i < v->n; i++)
                if (v->part[i].axis == a) word += id / v->part[i].inner % v->part[i].size * v->part[i].stride;
            out->word[a][id] = (int32_t)word;
        }
    }
}

/* The word that a work-item's first access touches; -1: it takes no part. */
static int64_t word_of(const struct places *p, const int64_t id[AXES])
{
    int64_t word = 0;
    for (int a = 0; a < AXES; a++) {
        if (id[a] >= p->extent[a]) return -1;
        word += p->word[a][id[a]];
    }
    return word;
}

static void next_item(const int64_t local[AXES], int64_t id[AXES])
{
    for (int a = 0; a < AXES; a++) {
        if (++id[a] < local[a]) return;
        id[a] = 0;
    }
}

/* Lists the words of a work-item, from its first one on; their number. */
static unsigned list_steps(const struct division *v, int32_t *steps)
{
    unsigned n = 1;
    steps[0] = 0;
    for (unsigned i = 0; i < v->n; i++) {
        const struct seated *s = &v->part[i];
        unsigned before = n;
        if (s->axis >= 0) continue;
        for (int64_t k = 1; k < s->size; k++)
            for (unsigned j = 0; j < before; j++)
                steps[n++] = steps[j] + (int32_t)(k * s->stride);
    }
    return n;
}

static void mark(unsigned char *marks, const int32_t *steps, unsigned n, unsigned char as)
{
    for (unsigned i = 0; i < n; i++)
        marks[steps[i]] = as;
}

/* Bit m: some word of a work-item has just the neighbours m, itself included. */
static unsigned neighbourhoods(unsigned char *marks, const int32_t *steps, unsigned n)
{
    unsigned near = 0;
    mark(marks, steps, n, 1);
    for (unsigned i = 0; i < n; i++) {
        const unsigned char *at = &marks[steps[i]];
        near |= 1u << (at[0] | at[1] << 1 | at[2] << 2 | at[3] << 3);
    }
    mark(marks, steps, n, 0);
    return near;
}

/* Most different words in one bank, of a bundle whose work-items touch the words `mask` after their own. */
static unsigned busiest_bank(const int64_t word[BANKS], unsigned mask)
{
    int64_t held[BANKS][WIDEST * BANKS];
    unsigned n[BANKS] = {0}, most = 0;
    for (unsigned lane = 0; lane < BANKS; lane++)
        for (unsigned k = 0; word[lane] >= 0 && k < WIDEST; k++) {
            int64_t w = word[lane] + k;
            unsigned bank = (unsigned)(w % BANKS), i = 0;
            if (!(mask >> k & 1)) continue;
            while (i < n[bank] && held[bank][i] != w)
                i++;
            if (i < n[bank]) continue;
            held[bank][n[bank]++] = w;
            if (n[bank] > most) most = n[bank];
        }
    return most;
}

/* Cycles that a word of each work-item of a bundle takes at least: as many in one access as is cheapest, of
 * those that lie together (`near`: bit m, that some word has just the neighbours m). */
static double cycles_a_word(const int64_t word[BANKS], unsigned near)
{
    double least = BANKS;
    for (unsigned mask = 1; mask < 1u << WIDEST; mask += 2) {
        bool possible = false;
        for (unsigned whole = 1; whole < 1u << WIDEST; whole += 2)
            possible |= (near >> whole & 1) && (mask & ~whole) == 0;
        if (!possible) continue;
        double cycles = (double)busiest_bank(word, mask) / __builtin_popcount(mask);
        if (cycles < least) least = cycles;
    }
    return least;
}

/* Whether two bundles are apart by as many words in each place: banks are the same but for their names. */
static bool shifted(const int64_t one[BANKS], const int64_t other[BANKS])
{
    int64_t by = 0;
    bool known = false;
    for (unsigned lane = 0; lane < BANKS; lane++) {
        if ((one[lane] < 0) != (other[lane] < 0)) return false;
        if (one[lane] < 0) continue;
        if (known && other[lane] - one[lane] != by) return false;
        by = other[lane] - one[lane];
        known = true;
    }
    return true;
}

/* Cycles of all accesses of a group in one filling. */
static double group_cycles(const struct banks *b, const struct division *v, const struct places *p)
{
    unsigned n = list_steps(v, b->steps), near = neighbourhoods(b->marks, b->steps, n);
    int64_t items = b->local[0] * b->local[1] * b->local[2], words[2][BANKS], id[AXES] = {0};
    double sum = 0, cycles = 0;
    for (int64_t first = 0; first < items; first += BANKS) {
        int64_t *word = words[first / BANKS % 2], *before = words[1 - first / BANKS % 2];
        bool any = false;
        for (int64_t lane = 0; lane < BANKS; lane++) {
            word[lane] = first + lane < items ? word_of(p, id) : -1;
            any |= word[lane] >= 0;
            next_item(b->local, id);
        }
        if (first == 0 || !shifted(before, word)) cycles = any ? cycles_a_word(word, near) : 0;
        sum += cycles;
    }
    return n * sum;
}

/* Whether some work-item's first word is written by another one, so that a barrier is between the two. The
 * other words are not looked at: without such a first word nothing is counted. */
static bool crosses(const struct banks *b, const struct division *copy, const struct places *read,
                    const struct places *write)
{
    int64_t items = b->local[0] * b->local[1] * b->local[2], id[AXES] = {0};
    unsigned n = list_steps(copy, b->steps);
    bool found = false;
    mark(b->marks, b->steps, n, 1);
    for (int64_t item = 0; item < items && !found; item++) {
        int64_t wanted = word_of(read, id), own = word_of(write, id);
        found = wanted >= 0 && (own < 0 || wanted < own || !b->marks[wanted - own]);
        next_item(b->local, id);
    }
    mark(b->marks, b->steps, n, 0);
    return found;
}

static void local_sizes(const struct backbone *bb, const struct decisions *d, int64_t local[AXES])
{
    for (int a = 0; a < AXES; a++)
        local[a] = 1;
    for (uint32_t t = 0; t < bb->n_tiles; t++) {
        int64_t extent[AXES];
        run_extents(bb, d, t, extent);
        for (int a = 0; a < AXES; a++)
            local[a] = extent[a] > local[a] ? extent[a] : local[a];
    }
}

static int64_t group_count(const struct backbone *bb, const struct decisions *d)
{
    int64_t groups = 1;
    for (uint32_t t = 0; t < bb->n_tiles; t++) {
        bool main = bb->logicals[bb->tiles[t].logical].of == BB_NONE;
        if (main && is_axis(d->seat[t], GROUP_AXIS)) groups *= d->size[t];
        if (main && is_axis(d->seat[t], GLOBAL_AXIS)) return 0;
    }
    return groups;
}

/* Cycles that a tile of that shape takes in one group, over all its fillings. */
static double count_cycles(const struct perfmodel *m, uint32_t region, const struct shape *shape,
                           struct staged_tile *t)
{
    const struct backbone *bb = m->bb;
    struct decisions d = parts_of(m->banks, bb);
    struct places read, write;
    if (!divide_staged(bb, &d, &bb->regions[region], shape, t)) return 0;
    places_of(&t->readers, &read);
    places_of(&t->copy, &write);
    if (!crosses(m->banks, &t->copy, &read, &write)) return 0;
    return (double)t->fillings *
           (group_cycles(m->banks, &t->readers, &read) + group_cycles(m->banks, &t->copy, &write));
}

/* The same, if it was not counted for these decisions before. */
static double cycles_of(const struct perfmodel *m, uint32_t region, const struct shape *shape,
                        struct staged_tile *t)
{
    struct banks *b = m->banks;
    unsigned *n = &b->n_counted[region];
    for (unsigned i = 0; i < *n; i++)
        if (memcmp(&b->counted[region][i].shape, shape, sizeof *shape) == 0)
            return b->counted[region][i].cycles;
    double cycles = count_cycles(m, region, shape, t);
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
    bool known = b->local[0] * b->local[1] * b->local[2] <= MOST_ITEMS;
    b->waves = !known ? 0 : units > 0 ? (groups + units - 1) / units : groups > 0;
}

/* Cycles of the cheapest shape that is left to a tile. */
static double least_cycles(const struct perfmodel *m, const struct space_state *state, uint32_t region)
{
    struct decisions d = parts_of(m->banks, m->bb);
    struct staged_tile t;
    unsigned inner[BB_MAX_LOGICALS];
    const struct bb_region *r = &m->bb->regions[region];
    if (!d.staged[r->value] || !is_local(m, state, region) || !open_staged(m->bb, &d, r, &t)) return 0;
    struct shapes s = {.m = m, .state = state, .region = r, .extent = t.extent};
    add_orders(&s, inner, 0);
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
