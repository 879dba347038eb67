/* What kernels are run on.
 *
 * The exact set has small whole numbers, so that sums come out the same in any order; the timing set is
 * uniform. Both hide what a selection loses: the maximum of 1,000 elements from {-3, -1, 1, 3} is 3 with any
 * of them left out. Programs with min or max get extreme sets. In these the inputs lie in the middle of their
 * range, all different, but for two elements of each *line* (what one accumulator of a reduction reads from
 * an array): one near the upper end, one near the lower. Whoever misses the first misses the maximum.
 *
 * Places of the extremes in a line of n elements: in the first set the last and the first, in the second the
 * other way round, so that each loop that ends early or starts late misses one, at any level of tiling. In
 * the others the places follow a cover: the digits i / s % z of the index, for all tiles z at strides s that
 * divide n (and z <= 64), are met in turn, those of small tiles first. A program with few lines gets so many
 * sets (34 at most) that all places of the cover occur; with many lines each line has its own place.
 *
 * The first two sets lie in the upper and the lower half of the range, and the next two have neighbouring
 * inputs in opposite halves: a selection between two operands, as max(x + b, 0), takes each of them in one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/verify.h"
#include "core/backbone/backbone.h"
#include "core/base/arena.h"
#include "core/base/pcg32.h"
#include "core/lift/lift.h"

enum {
    SIDES = 4,
    LEAST_EXTREMES = 3,
    LEAST_MIXED = 2,
    LINES = 64,
    MOST_TILE = 64,
    MOST_POOL = 4,
    TRIES = 48
};
static const double EXTREME_BYTES = 64 << 20;               /* of all arrays, for more sets than the least */
static const double MOST = 1e300;                           /* widths of ranges stay finite */
static const double MARGIN = 0.2, PEAK = 0.1, SPARSE = 0.1; /* shares of a range; of elements outside lines */

/* ---- ranges ---- */

static struct lift_range range_of(const struct verify_buffer *b, enum verify_domain domain, bool extreme)
{
    static const struct lift_range
        reals[] = {{.low = -1, .high = 1}, {.low = 0x1p-10, .high = 1}, {.low = 0.5, .high = 1.5}},
        whole[] = {{.low = -7, .high = 7}, {.low = 1, .high = 7}, {.low = 1, .high = 3}},
        small[] = {{.low = -3, .high = 3}, {.low = 1, .high = 3}, {.low = 1, .high = 2}};
    if (b->range.given)
        return (struct lift_range){.low = fmax(b->range.low, -MOST), .high = fmin(b->range.high, MOST)};
    return b->type != SCALAR_INT ? reals[domain] : extreme ? whole[domain] : small[domain];
}

/* The numbers that the exact set is drawn from; none: reals of the range. */
struct pool {
    unsigned n;
    double numbers[MOST_POOL];
};

static void add_numbers(struct pool *p, const double *numbers, unsigned n, const struct lift_range *r)
{
    p->n = 0;
    for (unsigned i = 0; i < n && p->n < MOST_POOL; i++)
        if (numbers[i] >= r->low && numbers[i] <= r->high) p->numbers[p->n++] = numbers[i];
}

/* Odd numbers, else small ones, else those next to zero that the range has. */
static struct pool pool_of(const struct verify_buffer *b, enum verify_domain domain)
{
    static const double odd[] = {-3, -1, 1, 3}, small[] = {1, -1, 2, -2, 0};
    static const struct lift_range domains[] = {
        {.low = -3, .high = 3}, {.low = 1, .high = 3}, {.low = 1, .high = 2}};
    const struct lift_range *r = b->range.given ? &b->range : &domains[domain];
    struct pool p = {0};
    if (domain == VERIFY_NEAR_ONE && !b->range.given && b->type != SCALAR_INT) return p;
    add_numbers(&p, odd, sizeof odd / sizeof *odd, r);
    if (p.n < 2) add_numbers(&p, small, sizeof small / sizeof *small, r);
    if (p.n < 2) {
        double first = r->low > 0 ? ceil(r->low) : floor(r->high), step = r->low > 0 ? 1 : -1;
        const double next[] = {first, first + step, first + 2 * step, first + 3 * step};
        add_numbers(&p, next, MOST_POOL, r);
    }
    if (p.n < 2) p.n = 0;
    return p;
}

static bool is_whole(const struct verify_task *t, enum verify_domain domain)
{
    bool whole = true;
    for (unsigned b = 0; b < t->n_buffers; b++)
        whole = whole && (t->buffers[b].output || t->buffers[b].type == SCALAR_BOOL ||
                          pool_of(&t->buffers[b], domain).n > 0);
    return whole;
}

/* ---- the exact and the timing set ---- */

static double draw(unsigned set, const struct verify_buffer *b, const struct lift_range *r,
                   const struct pool *pool, struct pcg32 *rng)
{
    if (b->type == SCALAR_BOOL) return pcg32_below(rng, 2);
    bool pooled = pool->n && (set == VERIFY_EXACT || (b->type == SCALAR_INT && !b->range.given));
    if (pooled) return pool->numbers[pcg32_below(rng, pool->n)];
    return lift_range_draw(r, b->type, pcg32_unit(rng));
}

static void draw_plain(struct verify_buffer *b, enum verify_domain domain, uint64_t seed, unsigned index)
{
    const struct pool pool = pool_of(b, domain);
    const struct lift_range r = range_of(b, domain, false);
    for (unsigned set = 0; set < VERIFY_EXTREME; set++) {
        struct pcg32 rng = pcg32_seed(seed, 2 * index + set);
        for (int64_t i = 0; i < b->elements; i++)
            verify_put(b->type, b->data[set], i, draw(set, b, &r, &pool, &rng));
    }
}

/* ---- covers ---- */

/* Places in a line, in the order in which they are tried. */
struct cover {
    unsigned n;
    int64_t places[VERIFY_MOST_EXTREMES];
};

/* A tile of z elements at stride s, and which of its digits occurred. */
struct tile {
    int64_t stride, size;
    uint64_t met;
};

static unsigned list_tiles(int64_t extent, struct arena *a, struct tile **out)
{
    size_t n = 0, room = 0;
    struct tile *tiles = NULL;
    for (int64_t z = 2; z <= MOST_TILE && z <= extent; z++) {
        int64_t rest = extent / z;
        if (extent % z) continue;
        for (int64_t s = 1; s * s <= rest; s++) {
            if (rest % s) continue;
            tiles = arena_grow(a, tiles, &room, n + 2, sizeof *tiles);
            tiles[n++] = (struct tile){s, z, 0};
            if (s != rest / s) tiles[n++] = (struct tile){rest / s, z, 0};
        }
    }
    *out = tiles;
    return (unsigned)n;
}

/* What a place adds: new digits, those of small tiles for more. */
static double gain(const struct tile *tiles, unsigned n, int64_t place)
{
    double sum = 0;
    for (unsigned i = 0; i < n; i++) {
        uint64_t digit = UINT64_C(1) << (place / tiles[i].stride % tiles[i].size);
        if (!(tiles[i].met & digit)) sum += 1 / (double)tiles[i].size;
    }
    return sum;
}

static void take(struct cover *c, struct tile *tiles, unsigned n, int64_t place)
{
    c->places[c->n++] = place;
    for (unsigned i = 0; i < n; i++)
        tiles[i].met |= UINT64_C(1) << (place / tiles[i].stride % tiles[i].size);
}

static bool has(const struct cover *c, int64_t place)
{
    for (unsigned i = 0; i < c->n; i++)
        if (c->places[i] == place) return true;
    return false;
}

static struct cover cover_of(int64_t extent, unsigned most, struct pcg32 *rng)
{
    struct arena *a = arena_new();
    struct tile *tiles;
    unsigned n = list_tiles(extent, a, &tiles);
    struct cover c = {0};
    take(&c, tiles, n, extent - 1);
    if (extent > 1) take(&c, tiles, n, 0);
    while (c.n < most && c.n < extent) {
        int64_t best = -1;
        double most_gain = -1;
        for (int i = 0; i < TRIES || best < 0; i++) {
            int64_t place = (int64_t)(pcg32_unit(rng) * (double)extent);
            double x = has(&c, place) ? -1 : gain(tiles, n, place);
            if (x <= most_gain) continue;
            most_gain = x;
            best = place;
        }
        take(&c, tiles, n, best);
    }
    arena_free(a);
    return c;
}

/* ---- lines ---- */

static bool selects(const struct bb_inst *in)
{
    for (unsigned i = 0; i < in->n_nodes; i++)
        if (in->nodes[i].kind == BB_NODE_OP &&
            (in->nodes[i].op == SCALAR_MIN || in->nodes[i].op == SCALAR_MAX))
            return true;
    return false;
}

/* Product of the extents of the load's logicals that are of a reduction, or that are not. */
static int64_t product(const struct backbone *bb, const struct bb_inst *load, bool reduction)
{
    int64_t n = 1;
    for (unsigned i = 0; i < load->n_logicals; i++)
        if (bb->logicals[load->logicals[i]].reduction == reduction)
            n *= bb->logicals[load->logicals[i]].extent;
    return n;
}

/* The most lines that a load has; 0: none is read by a reduction. */
static int64_t most_lines(const struct backbone *bb)
{
    int64_t most = 0;
    for (unsigned i = 0; i < bb->n_insts; i++) {
        const struct bb_inst *in = &bb->insts[i];
        if (in->kind != BB_LOAD || product(bb, in, true) == 1) continue;
        int64_t lines = product(bb, in, false);
        if (lines > most) most = lines;
    }
    return most;
}

static double bytes_of(const struct backbone *bb)
{
    double sum = 0;
    for (unsigned i = 0; i < bb->n_buffers; i++)
        sum += (double)bb->buffers[i].elements * scalar_type_bytes(bb->buffers[i].type);
    return sum;
}

unsigned verify_sets(const struct backbone *bb)
{
    bool any = false, reduces = false;
    for (unsigned i = 0; i < bb->n_insts; i++) {
        any = any || selects(&bb->insts[i]);
        reduces = reduces || (bb->insts[i].kind == BB_STEP && selects(&bb->insts[i]));
    }
    if (!any) return VERIFY_EXTREME;
    int64_t lines = most_lines(bb);
    double wanted = SIDES, room = fmax(EXTREME_BYTES / bytes_of(bb), LEAST_EXTREMES);
    if (reduces && lines > 0) wanted += fmax(ceil(LINES / (double)lines), LEAST_MIXED);
    return VERIFY_EXTREME + (unsigned)fmin(fmin(wanted, room), VERIFY_MOST_EXTREMES);
}

/* ---- the extreme sets ---- */

static uint64_t spread(int64_t line)
{
    uint64_t x = (uint64_t)line * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

/* Which place of a cover of n a line's extreme takes in extreme set k of n_extremes. */
static unsigned place_of(unsigned k, unsigned n_extremes, int64_t line, int64_t lines, unsigned n)
{
    if (k < 2) return k % n;
    uint64_t turn = lines < (int64_t)n ? (uint64_t)line * (n_extremes - 2) : line ? spread(line) : 0;
    return (unsigned)((k + turn) % n);
}

static double peak(const struct lift_range *r, enum scalar_type type, bool upper, struct pcg32 *rng)
{
    double width = r->high - r->low;
    struct lift_range end = upper ? (struct lift_range){.low = r->high - PEAK * width, .high = r->high}
                                  : (struct lift_range){.low = r->low, .high = r->low + PEAK * width};
    return lift_range_draw(&end, type, pcg32_unit(rng));
}

/* The part of the range that an input has in extreme set k: upper half, lower half, the inputs in opposite
 * halves, and the whole. */
static struct lift_range side(struct lift_range r, unsigned k, unsigned input)
{
    double middle = r.low / 2 + r.high / 2;
    if (k >= SIDES) return r;
    bool upper = k < 2 ? k == 0 : (k + input) % 2 == 0;
    *(upper ? &r.low : &r.high) = middle;
    return r;
}

/* One line: the offsets of its extremes; the digits of the parallel logicals are in `at`. */
static void place_extremes(const struct backbone *bb, const struct bb_inst *load, struct verify_buffer *b,
                           unsigned set, const struct lift_range *r, const struct cover *covers,
                           unsigned which, int64_t *at, bool upper, struct pcg32 *rng)
{
    for (unsigned j = 0; j < load->n_logicals; j++) {
        const struct cover *c = &covers[j];
        if (bb->logicals[load->logicals[j]].reduction) at[load->logicals[j]] = c->places[which % c->n];
    }
    verify_put(b->type, b->data[set], index_eval(load->index, at), peak(r, b->type, upper, rng));
}

/* Sets the digits of the parallel logicals of a line. */
static void find_line(const struct backbone *bb, const struct bb_inst *load, int64_t line, int64_t *at)
{
    for (unsigned j = load->n_logicals; j-- > 0;) {
        const struct bb_logical *l = &bb->logicals[load->logicals[j]];
        if (l->reduction) continue;
        at[load->logicals[j]] = line % l->extent;
        line /= l->extent;
    }
}

static void draw_lines(struct verify_task *t, const struct backbone *bb, const struct bb_inst *load,
                       enum verify_domain domain, struct pcg32 *rng)
{
    struct verify_buffer *b = &t->buffers[load->buffer];
    struct cover covers[BB_MAX_LOGICALS];
    unsigned n_extremes = t->n_sets - VERIFY_EXTREME, n = 1;
    int64_t lines = product(bb, load, false), *at = base_calloc(bb->n_logicals, sizeof *at);
    for (unsigned j = 0; j < load->n_logicals; j++) {
        covers[j] = cover_of(bb->logicals[load->logicals[j]].extent, n_extremes, rng);
        if (bb->logicals[load->logicals[j]].reduction && covers[j].n > n) n = covers[j].n;
    }
    for (unsigned k = 0; k < n_extremes; k++) {
        const struct lift_range r = side(range_of(b, domain, true), k, bb->buffers[load->buffer].input);
        for (int64_t line = 0; line < lines; line++) {
            unsigned high = place_of(k, n_extremes, line, lines, n),
                     low = place_of(k ^ 1, n_extremes, line, lines, n);
            find_line(bb, load, line, at);
            place_extremes(bb, load, b, VERIFY_EXTREME + k, &r, covers, low, at, false, rng);
            place_extremes(bb, load, b, VERIFY_EXTREME + k, &r, covers, high, at, true, rng);
        }
    }
    free(at);
}

/* Numbers from the middle of the range; some from its ends, where no line has them. */
static void draw_middle(struct verify_task *t, unsigned index, unsigned k, unsigned input, bool ends,
                        enum verify_domain domain, struct pcg32 *rng)
{
    struct verify_buffer *b = &t->buffers[index];
    const struct lift_range r = side(range_of(b, domain, true), k, input);
    struct lift_range middle = r;
    middle.low += MARGIN * (r.high - r.low);
    middle.high -= MARGIN * (r.high - r.low);
    for (int64_t i = 0; i < b->elements; i++) {
        double x =
            b->type == SCALAR_BOOL ? pcg32_below(rng, 2) : lift_range_draw(&middle, b->type, pcg32_unit(rng));
        if (ends && b->type != SCALAR_BOOL && pcg32_unit(rng) < SPARSE)
            x = peak(&r, b->type, pcg32_below(rng, 2), rng);
        verify_put(b->type, b->data[VERIFY_EXTREME + k], i, x);
    }
}

/* Whether a reduction reads the buffer. */
static bool has_lines(const struct backbone *bb, uint32_t buffer)
{
    for (unsigned i = 0; i < bb->n_insts; i++)
        if (bb->insts[i].kind == BB_LOAD && bb->insts[i].buffer == buffer &&
            product(bb, &bb->insts[i], true) > 1)
            return true;
    return false;
}

static void draw_extremes(struct verify_task *t, const struct backbone *bb, enum verify_domain domain,
                          uint64_t seed)
{
    struct pcg32 rng = pcg32_seed(seed, 0xe7);
    for (unsigned b = 0; b < t->n_buffers; b++)
        for (unsigned k = 0; !t->buffers[b].output && k < t->n_sets - VERIFY_EXTREME; k++)
            draw_middle(t, b, k, bb->buffers[b].input, !has_lines(bb, b), domain, &rng);
    for (unsigned i = 0; i < bb->n_insts; i++) {
        const struct bb_inst *in = &bb->insts[i];
        bool number = in->kind == BB_LOAD && t->buffers[in->buffer].type != SCALAR_BOOL;
        if (number && product(bb, in, true) > 1) draw_lines(t, bb, in, domain, &rng);
    }
}

void verify_draw(struct verify_task *t, const struct backbone *bb, enum verify_domain domain, uint64_t seed)
{
    t->whole = is_whole(t, domain);
    for (unsigned i = 0; i < t->n_buffers; i++)
        if (!t->buffers[i].output) draw_plain(&t->buffers[i], domain, seed, i);
    if (bb && t->n_sets > VERIFY_EXTREME) draw_extremes(t, bb, domain, seed);
}
