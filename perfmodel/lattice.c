/* Which splits of a logical dimension the domains of its tiles allow, exactly, for an extent with any
 * factors. Sizes are divisors of one of its spans; a walk over the tiles, from the least significant on,
 * collects the products (groups, items, steps) that their sizes can reach. A tile whose class is open counts
 * in any of its classes.
 *
 * An example: extent 8, tile 0 of size 2 or 4 on groups, tile 1 of any size on work-items or sequential. The
 * walk reaches, as groups x items x steps, 2 x 4 x 1, 2 x 1 x 4, 4 x 2 x 1 and 4 x 1 x 2. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "gpu.space.h"
#include "perfmodel/model.h"

enum { DOMAIN_VALUES = 4096 }; /* most values of a choice, see space_universe() */

enum { LONG_RUN = 32 }; /* elements of a line; shorter ones have more, and are taken to be as far apart */

/* ---- the lattice of divisors ---- */

static uint8_t find_divisor(const struct logical *l, int64_t d)
{
    for (unsigned i = 0; i < l->n_divisors; i++)
        if (l->divisors[i] == d) return (uint8_t)i;
    return NO_DIVISOR;
}

static bool add_divisor(struct logical *l, int64_t d)
{
    if (find_divisor(l, d) != NO_DIVISOR) return true;
    if (l->n_divisors == MAX_DIVISORS) return false;
    l->divisors[l->n_divisors++] = d;
    return true;
}

/* The divisors of all spans. */
static bool find_divisors(struct logical *l)
{
    bool room = true;
    for (unsigned i = 0; i < l->of->n_spans; i++) {
        int64_t span = l->of->spans[i];
        for (int64_t d = 1; d <= span / d && room; d++)
            if (span % d == 0) room = add_divisor(l, d) && add_divisor(l, span / d);
    }
    return room;
}

static void fill_products(struct logical *l)
{
    int64_t most = l->of->spans[l->of->n_spans - 1];
    for (unsigned i = 0; i < l->n_divisors; i++)
        for (unsigned j = 0; j < l->n_divisors; j++) {
            int64_t a = l->divisors[i], b = l->divisors[j];
            l->product[i][j] = a > most / b ? NO_DIVISOR : find_divisor(l, a * b);
            l->quotient[i][j] = a % b ? NO_DIVISOR : find_divisor(l, a / b);
        }
}

/* ---- slots ---- */

/* A step or a store has the dimensions of all that it reads; any other dimension does where there is none. */
static uint32_t standing_dim(const struct backbone *bb, uint32_t tile)
{
    uint32_t found = BB_NONE;
    for (uint32_t d = 0; d < bb->n_dims; d++) {
        enum bb_inst_kind kind = bb->insts[bb->dims[d].inst].kind;
        if (bb->dims[d].tile != tile) continue;
        if (kind == BB_STEP || kind == BB_STORE) return d;
        if (found == BB_NONE) found = d;
    }
    return found;
}

static const char *open_tile(struct perfmodel *m, struct logical *l, unsigned level)
{
    uint32_t tile = l->of->first_tile + level, dim = standing_dim(m->bb, tile);
    const struct bb_tile *t = &m->bb->tiles[tile];
    l->size_slot[level] = gpu_slot_size(m->space, tile);
    l->kind_slot[level] =
        dim == BB_NONE ? UINT32_MAX : gpu_slot_dim_kind(m->space, bb_dim_statement(m->bb, dim));
    if (l->size_slot[level] == UINT32_MAX || l->kind_slot[level] == UINT32_MAX)
        return "the space is not that of the backbone";
    l->tile_divisor[level] = base_malloc(t->n_sizes);
    for (unsigned i = 0; i < t->n_sizes; i++) {
        l->tile_divisor[level][i] = find_divisor(l, t->sizes[i]);
        if (l->tile_divisor[level][i] == NO_DIVISOR) return "a size divides no span of its extent";
    }
    return NULL;
}

/* Elements of the widest access to the smallest elements that are loaded, 1 to LONG_RUN. */
static unsigned find_reach(const struct perfmodel *m)
{
    double widest = 1;
    for (unsigned i = 0; i < m->n_profiles; i++)
        if (m->profiles[i].load)
            widest = fmax(widest, m->dev.value[PERFMODEL_ACCESS_BYTES] / m->profiles[i].element_bytes);
    return (unsigned)fmin(widest, LONG_RUN);
}

const char *logical_open(struct perfmodel *m, unsigned number)
{
    struct logical *l = &m->logicals[number];
    l->of = &m->bb->logicals[number];
    l->cache = base_calloc(SET_CACHE, sizeof *l->cache);
    if (!find_divisors(l)) return "the spans of an extent have more than 64 divisors";
    fill_products(l);
    for (unsigned i = 0; i < m->n_profiles; i++)
        l->runs = l->runs || (m->profiles[i].load && m->profiles[i].unit == (int)number);
    l->reach = find_reach(m);
    l->runs = l->runs && m->dev.gpu && l->n_divisors <= MAX_RUN_DIVISORS;
    const char *why = NULL;
    for (l->n_tiles = 0; !why && l->n_tiles < l->of->n_levels; l->n_tiles++)
        why = open_tile(m, l, l->n_tiles);
    return why;
}

void logical_close(struct logical *l)
{
    for (unsigned i = 0; i < l->n_tiles; i++)
        free(l->tile_divisor[i]);
    for (unsigned i = 0; l->cache && i < SET_CACHE; i++)
        free(l->cache[i].bits[MODE_GROUPS]), free(l->cache[i].bits[MODE_GLOBAL]);
    free(l->cache);
    free(l->splits);
    free(l->split_divisors);
}

/* ---- domains ---- */

static uint64_t size_domain(const struct logical *l, unsigned level, const struct space_state *state)
{
    uint32_t slot = l->size_slot[level], values[DOMAIN_VALUES];
    uint32_t n = space_values(state, slot, values);
    uint64_t sizes = 0;
    for (uint32_t i = 0; i < n; i++)
        sizes |= UINT64_C(1) << l->tile_divisor[level][values[i]];
    return sizes;
}

void logical_domains(const struct perfmodel *m, const struct logical *l, const struct space_state *state,
                     struct tile_domains *out)
{
    uint32_t values[DOMAIN_VALUES];
    memset(out, 0, sizeof *out);
    for (unsigned t = 0; t < l->n_tiles; t++) {
        out->sizes[t] = size_domain(l, t, state);
        uint32_t n = space_values(state, l->kind_slot[t], values);
        for (uint32_t i = 0; i < n; i++)
            out->classes[t] |= m->kind_class[values[i]];
        bool one = out->sizes[t] == UINT64_C(1) << find_divisor(l, 1);
        if (one) out->classes[t] = CLASS_ALL; /* no loop: its class means nothing */
    }
}

/* ---- the walk ---- */

/* Products reached so far, as numbers of divisors: groups, items, steps; the run; and all together. Tiles are
 * taken from the least significant on: the run is the product of those before the first with work-items, the
 * gap that of those before the first iterations beyond work-items, as it is, or 0 if no access reaches over
 * it. */
enum { GROUPS, ITEMS, STEPS, RUN, GAP, PARTS };
struct point {
    uint8_t part[PARTS], total;
};

struct walk {
    const struct logical *l;
    struct point *points;
    size_t n, capacity;
    uint64_t *seen; /* bits over the parts; the run only if it matters */
};

static size_t place_of(const struct walk *w, struct point p)
{
    size_t n = w->l->n_divisors, at = (p.part[GROUPS] * n + p.part[ITEMS]) * n + p.part[STEPS];
    return w->l->runs ? (at * n + p.part[RUN]) * w->l->reach + p.part[GAP] : at;
}

static void add_point(struct walk *w, struct point p)
{
    size_t at = place_of(w, p);
    if (w->seen[at / 64] >> at % 64 & 1) return;
    w->seen[at / 64] |= UINT64_C(1) << at % 64;
    if (w->n == w->capacity) {
        w->capacity = 2 * w->capacity + 64;
        w->points = base_realloc(w->points, w->capacity * sizeof *w->points);
    }
    w->points[w->n++] = p;
}

/* Runs beyond a cache line are as good as one of a line. */
static void set_run(const struct walk *w, struct point *p)
{
    const struct logical *l = w->l;
    uint8_t run = p->total;
    if (!l->runs || l->divisors[p->part[ITEMS]] > 1) return;
    for (uint8_t i = 0; i < l->n_divisors; i++)
        if (l->divisors[i] >= LONG_RUN && l->divisors[i] < l->divisors[run]) run = i;
    p->part[RUN] = run;
}

/* The distance of the first iterations beyond work-items. */
static void set_gap(const struct walk *w, struct point *p)
{
    const struct logical *l = w->l;
    if (!l->runs || p->part[GAP] || l->divisors[p->part[ITEMS]] == 1 || l->divisors[p->total] >= l->reach)
        return;
    p->part[GAP] = (uint8_t)l->divisors[p->total];
}

static void multiply(struct walk *w, struct point p, unsigned part, uint8_t by)
{
    const struct logical *l = w->l;
    if (l->product[p.total][by] == NO_DIVISOR) return;
    if (part == ITEMS && l->divisors[by] > 1) set_run(w, &p);
    if (part == STEPS && l->divisors[by] > 1) set_gap(w, &p);
    p.total = l->product[p.total][by];
    p.part[part] = l->product[p.part[part]][by];
    add_point(w, p);
}

/* Global work-items are split between groups and items in every way that divides. */
static void multiply_global(struct walk *w, struct point p, uint8_t by)
{
    const struct logical *l = w->l;
    if (l->product[p.total][by] == NO_DIVISOR) return;
    for (uint8_t items = 0; items < l->n_divisors; items++) {
        uint8_t groups = l->quotient[by][items];
        if (groups == NO_DIVISOR) continue;
        struct point next = p;
        if (l->divisors[items] > 1) set_run(w, &next);
        next.part[GROUPS] = l->product[p.part[GROUPS]][groups];
        next.part[ITEMS] = l->product[p.part[ITEMS]][items];
        next.total = l->product[p.total][by];
        add_point(w, next);
    }
}

static void take_tile(struct walk *w, uint64_t sizes, unsigned classes, struct walk *out)
{
    uint8_t one = find_divisor(w->l, 1);
    for (; sizes; sizes &= sizes - 1) {
        uint8_t size = (uint8_t)__builtin_ctzll(sizes);
        for (size_t i = 0; i < w->n; i++) {
            if (size == one || classes & CLASS_SEQUENTIAL) multiply(out, w->points[i], STEPS, size);
            if (classes & CLASS_ITEMS) multiply(out, w->points[i], ITEMS, size);
            if (classes & CLASS_GROUPS) multiply(out, w->points[i], GROUPS, size);
            if (classes & CLASS_GLOBAL) multiply_global(out, w->points[i], size);
        }
    }
}

static size_t seen_bytes(const struct logical *l)
{
    size_t n =
        (size_t)l->n_divisors * l->n_divisors * l->n_divisors * (l->runs ? l->n_divisors * l->reach : 1);
    return (n / 64 + 1) * sizeof(uint64_t);
}

static bool is_span(const struct logical *l, int64_t n)
{
    for (unsigned i = 0; i < l->of->n_spans; i++)
        if (l->of->spans[i] == n) return true;
    return false;
}

/* The points of all tiles under the classes of one mode; the caller frees the list. */
static size_t walk_tiles(const struct logical *l, const struct tile_domains *d, unsigned mode,
                         struct point **points)
{
    uint8_t one = find_divisor(l, 1);
    struct walk now = {.l = l};
    size_t kept = 0;
    now.seen = base_calloc(1, seen_bytes(l));
    add_point(&now, (struct point){{one, one, one, one, 0}, one});
    for (unsigned t = l->n_tiles; t-- > 0;) {
        struct walk next = {.l = l};
        next.seen = base_calloc(1, seen_bytes(l));
        take_tile(&now, d->sizes[t], d->classes[t] & mode, &next);
        free(now.points);
        free(now.seen);
        now = next;
    }
    for (size_t i = 0; i < now.n; i++)
        if (is_span(l, l->divisors[now.points[i].total])) now.points[kept++] = now.points[i];
    free(now.seen);
    *points = now.points;
    return kept;
}

static const unsigned mode_classes[MODE_COUNT] = {
    [MODE_GROUPS] = CLASS_SEQUENTIAL | CLASS_ITEMS | CLASS_GROUPS,
    [MODE_GLOBAL] = CLASS_SEQUENTIAL | CLASS_GLOBAL,
};

/* ---- splits ---- */

/* The number of a split; n_splits: it is a new one. */
static unsigned find_split(const struct logical *l, const uint8_t part[PARTS])
{
    unsigned i = 0;
    while (i < l->n_splits && memcmp(l->split_divisors[i], part, PARTS) != 0)
        i++;
    return i;
}

static void add_split(struct logical *l, const uint8_t part[PARTS])
{
    if (find_split(l, part) < l->n_splits) return;
    memcpy(l->split_divisors[l->n_splits], part, PARTS);
    struct perfmodel_split s = {l->divisors[part[GROUPS]],
                                l->divisors[part[ITEMS]],
                                l->divisors[part[STEPS]],
                                l->divisors[part[RUN]],
                                part[GAP],
                                false,
                                1,
                                false};
    s.share = (double)l->of->extent / (double)(s.groups * s.items * s.steps);
    l->splits[l->n_splits++] = s;
}

void logical_any(struct logical *l)
{
    l->any = true;
    for (unsigned i = 0; i < l->n_splits; i++)
        l->by_groups |= l->splits[i].groups > 1;
    l->n_splits = 1;
    l->splits[0] = (struct perfmodel_split){1, 1, l->of->extent, 1, 0, false, 1, true};
}

void logical_list(struct logical *l, const struct tile_domains *d)
{
    for (int mode = 0; mode < MODE_COUNT; mode++) {
        struct point *points;
        size_t n = walk_tiles(l, d, mode_classes[mode], &points), most = l->n_splits + n + 1;
        l->splits = base_realloc(l->splits, most * sizeof *l->splits);
        l->split_divisors = base_realloc(l->split_divisors, most * sizeof *l->split_divisors);
        for (size_t i = 0; i < n; i++)
            add_split(l, points[i].part);
        free(points);
    }
}

/* The splits of one mode, as bits. */
static void fill_set(const struct logical *l, struct split_set *set, enum mode mode)
{
    struct point *points;
    size_t words = l->n_splits / 64 + 1;
    if (!set->bits[mode]) set->bits[mode] = base_malloc(words * sizeof(uint64_t));
    memset(set->bits[mode], 0, words * sizeof(uint64_t));
    set->bits[mode][0] = set->count[mode] = l->any;
    if (l->any) return;
    size_t n = walk_tiles(l, &set->key, mode_classes[mode], &points);
    for (size_t i = 0; i < n; i++) {
        unsigned split = find_split(l, points[i].part);
        if (split == l->n_splits) continue;
        set->bits[mode][split / 64] |= UINT64_C(1) << split % 64;
        set->count[mode]++;
    }
    free(points);
}

const struct split_set *logical_set(struct logical *l, const struct tile_domains *d)
{
    uint64_t h = hash_finish(hash_bytes(HASH_START, d, sizeof *d));
    struct split_set *set = &l->cache[h % SET_CACHE];
    if (set->used && memcmp(&set->key, d, sizeof *d) == 0) return set;
    set->key = *d;
    set->used = true;
    for (int mode = 0; mode < MODE_COUNT; mode++)
        fill_set(l, set, (enum mode)mode);
    return set;
}
