/* What staged tiles ask of the banks of local memory, once a candidate has decided their shape.
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

/* A staged tile in one candidate. */
struct staged_tile {
    int64_t extent[BB_MAX_LOGICALS], stride[BB_MAX_LOGICALS]; /* of its coordinates, in words */
    int64_t fillings, words;                                  /* words: with padding */
    struct division readers, copy;
};

struct banks {
    uint32_t *size_slot, *seat_slot; /* [n_tiles] */
    uint32_t *mem_slot, *pad_slot;   /* [n_regions] */
    uint32_t *outside_slot;          /* [n_region_dims] */
    uint32_t *layout_slot; /* [n_region_dims][BB_MAX_LOGICALS] against the coordinates of its region */
    bool *layout_flipped;  /* the same */
    unsigned n_key;
    int64_t *key, *kept_key; /* all decisions that were read, of this candidate and of the last one */
    bool kept;
    double kept_cycles;
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
    b->n_key = 2 * bb->n_tiles + bb->n_values + 2 * bb->n_regions + bb->n_region_dims + (unsigned)layouts;
    b->key = base_calloc(b->n_key, sizeof *b->key);
    b->kept_key = base_calloc(b->n_key, sizeof *b->kept_key);
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
    const int64_t *size, *seat, *staged, *memory, *pad, *outside, *layout;
};

static struct decisions parts_of(const struct banks *b, const struct backbone *bb)
{
    const int64_t *k = b->key;
    struct decisions d = {.size = k};
    d.seat = d.size + bb->n_tiles;
    d.staged = d.seat + bb->n_tiles;
    d.memory = d.staged + bb->n_values;
    d.pad = d.memory + bb->n_regions;
    d.outside = d.pad + bb->n_regions;
    d.layout = d.outside + bb->n_region_dims;
    return d;
}

/* Reads one decision; false if it is open. */
static bool read_slot(const struct perfmodel *m, const struct space_state *st, uint32_t slot, bool flipped,
                      int64_t **key)
{
    if (space_value_count(st, slot) != 1) return false;
    uint32_t value = space_first_value(st, slot);
    *(*key)++ = space_value_code(m->space, slot, flipped ? space_value_mirror(m->space, slot, value) : value);
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
                       const int64_t *staged, int64_t absent, int64_t **key)
{
    for (uint32_t t = 0; t < m->bb->n_tiles; t++) {
        if (!tile_exists(m->bb, staged, t))
            *(*key)++ = absent;
        else if (!read_slot(m, st, slots[t], false, key))
            return false;
    }
    return true;
}

static bool read_layout(const struct perfmodel *m, const struct banks *b, const struct space_state *st,
                        const struct bb_region *r, int64_t *layout)
{
    for (unsigned i = 0; i < r->n_dims; i++)
        for (unsigned j = 0; j < r->n_dims; j++) {
            size_t at = (size_t)(r->first_region_dim + i) * BB_MAX_LOGICALS + j;
            int64_t *to = &layout[at];
            if (i != j && !read_slot(m, st, b->layout_slot[at], b->layout_flipped[at], &to)) return false;
        }
    return true;
}

/* Reads all that the cycles depend on into the key. false if something is open, or nothing staged. */
static bool read_decisions(const struct perfmodel *m, struct banks *b, const struct space_state *st)
{
    const struct backbone *bb = m->bb;
    bool any = false;
    memset(b->key, 0, b->n_key * sizeof *b->key);
    int64_t *staged = b->key + 2 * bb->n_tiles, *at = b->key;
    for (uint32_t v = 0; v < bb->n_values; v++)
        any |= (staged[v] = staged_here(m, st, v)) != 0;
    if (!any || !read_tiles(m, st, b->seat_slot, staged, 0, &(int64_t *){b->key + bb->n_tiles}) ||
        !read_tiles(m, st, b->size_slot, staged, 1, &at))
        return false;
    at = staged + bb->n_values;
    for (uint32_t r = 0; r < bb->n_regions; r++, at++)
        if (staged[bb->regions[r].value] && !read_slot(m, st, b->mem_slot[r], false, &(int64_t *){at}))
            return false;
    for (uint32_t r = 0; r < bb->n_regions; r++, at++)
        if (staged[bb->regions[r].value] && !read_slot(m, st, b->pad_slot[r], false, &(int64_t *){at}))
            return false;
    int64_t *layout = at + bb->n_region_dims;
    for (uint32_t r = 0; r < bb->n_regions; r++) {
        const struct bb_region *region = &bb->regions[r];
        if (!staged[region->value]) continue;
        for (unsigned j = 0; j < region->n_dims; j++) {
            uint32_t c = region->first_region_dim + j;
            if (!read_slot(m, st, b->outside_slot[c], false, &(int64_t *){at + c})) return false;
        }
        if (!read_layout(m, b, st, region, layout)) return false;
    }
    return true;
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

/* Extents and strides of the coordinates. */
static void lay_out(const struct backbone *bb, const struct decisions *d, const struct bb_region *r,
                    struct staged_tile *out)
{
    int64_t stride = 1;
    for (unsigned rank = 0; rank < r->n_dims; rank++)
        for (unsigned i = 0; i < r->n_dims; i++) {
            unsigned inside = 0;
            const int64_t *order = &d->layout[(size_t)(r->first_region_dim + i) * BB_MAX_LOGICALS];
            for (unsigned j = 0; j < r->n_dims; j++)
                inside += i != j && order[j] != 0;
            if (inside != rank) continue;
            out->stride[i] = stride;
            stride *= out->extent[i] + (rank == 0 ? d->pad[r - bb->regions] : 0);
        }
    out->words = stride;
}

/* false if the tile is not one whose cycles can be counted. */
static bool open_staged(const struct backbone *bb, const struct decisions *d, const struct bb_region *r,
                        struct staged_tile *out)
{
    const struct bb_inst *load = &bb->insts[bb->values[r->value].load];
    unsigned cut[BB_MAX_LOGICALS];
    if (d->memory[r - bb->regions] != LOCAL || scalar_type_bytes(r->type) != WORD_BYTES) return false;
    *out = (struct staged_tile){.fillings = 1};
    for (unsigned j = 0; j < r->n_dims; j++) {
        const struct bb_logical *l = &bb->logicals[load->logicals[j]];
        cut[j] = cut_of(d, l, r->first_region_dim + j, &out->fillings);
        out->extent[j] = 1;
        for (unsigned level = cut[j]; level < l->n_levels; level++)
            out->extent[j] *= d->size[l->first_tile + level];
    }
    lay_out(bb, d, r, out);
    for (unsigned j = 0; j < r->n_dims; j++) {
        const struct bb_logical *l = &bb->logicals[load->logicals[j]];
        const struct bb_logical *copy = copy_logical(bb, r, load->logicals[j]);
        if (!copy || !divide(bb, d, l, cut[j], out->stride[j], &out->readers) ||
            !divide(bb, d, copy, 0, out->stride[j], &out->copy))
            return false;
        run_extents(bb, d, l->first_tile, out->readers.extent);
        run_extents(bb, d, copy->first_tile, out->copy.extent);
    }
    return r->n_dims > 0 && out->words <= MOST_WORDS;
}

/* ---- cycles ---- */

/* The word that a work-item's first access touches; -1: it takes no part. */
static int64_t word_of(const struct division *v, const int64_t id[AXES])
{
    int64_t word = 0;
    for (int a = 0; a < AXES; a++)
        if (id[a] >= v->extent[a]) return -1;
    for (unsigned i = 0; i < v->n; i++)
        if (v->part[i].axis >= 0)
            word += id[v->part[i].axis] / v->part[i].inner % v->part[i].size * v->part[i].stride;
    return word;
}

/* Marks the words that a work-item touches after its first one; their number. */
static int64_t mark_steps(const struct division *v, unsigned char *marks, int64_t words)
{
    int64_t n = 1;
    memset(marks, 0, (size_t)words + WIDEST);
    marks[0] = 1;
    for (unsigned i = 0; i < v->n; i++) {
        const struct seated *s = &v->part[i];
        if (s->axis >= 0) continue;
        for (int64_t w = words; w-- > 0;)
            for (int64_t k = 1; marks[w] == 1 && k < s->size; k++)
                marks[w + k * s->stride] = 2;
        for (int64_t w = 0; w < words; w++)
            marks[w] = marks[w] != 0;
        n *= s->size;
    }
    return n;
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

static unsigned neighbourhoods(const unsigned char *marks, int64_t words)
{
    unsigned near = 0;
    for (int64_t w = 0; w < words; w++)
        if (marks[w]) near |= 1u << (marks[w] | marks[w + 1] << 1 | marks[w + 2] << 2 | marks[w + 3] << 3);
    return near;
}

static void id_of(int64_t item, const int64_t local[AXES], int64_t id[AXES])
{
    for (int a = 0; a < AXES; a++) {
        id[a] = item % local[a];
        item /= local[a];
    }
}

/* Cycles of all accesses of a group in one filling. */
static double group_cycles(const struct division *v, const int64_t local[AXES], unsigned char *marks,
                           int64_t words)
{
    double steps = (double)mark_steps(v, marks, words), sum = 0;
    unsigned near = neighbourhoods(marks, words);
    int64_t items = local[0] * local[1] * local[2], word[BANKS], id[AXES];
    for (int64_t first = 0; first < items; first += BANKS) {
        bool any = false;
        for (int64_t lane = 0; lane < BANKS; lane++) {
            id_of(first + lane, local, id);
            word[lane] = first + lane < items ? word_of(v, id) : -1;
            any |= word[lane] >= 0;
        }
        if (any) sum += steps * cycles_a_word(word, near);
    }
    return sum;
}

/* Whether some work-item's first word is written by another one, so that a barrier is between the two. The
 * other words are not looked at: without such a first word nothing is counted. */
static bool crosses(const struct staged_tile *t, const int64_t local[AXES], unsigned char *marks)
{
    int64_t items = local[0] * local[1] * local[2], id[AXES];
    mark_steps(&t->copy, marks, t->words);
    for (int64_t item = 0; item < items; item++) {
        id_of(item, local, id);
        int64_t read = word_of(&t->readers, id), own = word_of(&t->copy, id);
        if (read < 0) continue;
        if (own < 0 || read < own || !marks[read - own]) return true;
    }
    return false;
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

static double count_cycles(const struct perfmodel *m, const struct banks *b)
{
    const struct backbone *bb = m->bb;
    struct decisions d = parts_of(b, bb);
    int64_t local[AXES], groups = group_count(bb, &d);
    double cycles = 0, units = m->dev.value[PERFMODEL_UNITS];
    local_sizes(bb, &d, local);
    if (groups == 0 || local[0] * local[1] * local[2] > MOST_ITEMS) return 0;
    unsigned char *marks = base_malloc(MOST_WORDS + WIDEST);
    for (unsigned r = 0; r < bb->n_regions; r++) {
        struct staged_tile t;
        if (!d.staged[bb->regions[r].value] || !open_staged(bb, &d, &bb->regions[r], &t) ||
            !crosses(&t, local, marks))
            continue;
        double reads = group_cycles(&t.readers, local, marks, t.words);
        cycles += (double)t.fillings * (reads + group_cycles(&t.copy, local, marks, t.words));
    }
    free(marks);
    return cycles * (units > 0 ? (double)((groups + (int64_t)units - 1) / (int64_t)units) : 1);
}

double banks_bytes(const struct perfmodel *m, const struct space_state *state)
{
    struct banks *b = m->banks;
    if (!b || !read_decisions(m, b, state)) return 0;
    size_t bytes = b->n_key * sizeof *b->key;
    if (!b->kept || memcmp(b->key, b->kept_key, bytes) != 0) {
        memcpy(b->kept_key, b->key, bytes);
        b->kept = true;
        b->kept_cycles = count_cycles(m, b);
    }
    return b->kept_cycles * BANKS * WORD_BYTES;
}
