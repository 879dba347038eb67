/* What tiles may be: spans of logicals, sizes of their tiles, which divide a span.
 *
 * Spans. An extent with many divisors, or a multiple of 16, is cut without remainder: it is its only span.
 * Any other may also be rounded up, by at most a quarter, to the next multiple of 4, 8, ... 128 that has
 * small factors: 1009 to 1024, but not to 1012 = 4 * 11 * 23, so that few spans are left to search. Where
 * none of them has small factors, it is the next multiple of 32: 4128 for 4099. */
#include "core/backbone/sizes.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"

/* ---- spans ---- */

enum {
    MOST_SPANS = 7,
    WELL_DIVIDED = 12 /* divisors */,
    EVEN_ENOUGH = 16,
    LARGEST_FACTOR = 7,
    GOOD_TILE = 32,
    ROUND_FROM = 12
};

static bool has_small_factors(int64_t n)
{
    for (int64_t p = 2; p <= LARGEST_FACTOR; p++)
        while (n % p == 0)
            n /= p;
    return n == 1;
}

static unsigned count_divisors(int64_t n)
{
    unsigned count = 0;
    for (int64_t d = 1; d <= n / d; d++)
        if (n % d == 0) count += d == n / d ? 1 : 2;
    return count;
}

static int64_t round_up(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* The spans of an extent, ascending; returns their number. */
static unsigned list_spans(int64_t extent, int64_t round_from, int64_t out[MOST_SPANS])
{
    unsigned n = 0;
    out[n++] = extent;
    if (extent < round_from || extent % EVEN_ENOUGH == 0 || count_divisors(extent) >= WELL_DIVIDED) return n;
    for (int64_t unit = 4; unit <= 128; unit *= 2) {
        int64_t span = round_up(extent, unit);
        if (span - extent <= extent / 4 && span > out[n - 1] && has_small_factors(span)) out[n++] = span;
    }
    if (n == 1 && extent > 4 * GOOD_TILE) out[n++] = round_up(extent, GOOD_TILE);
    return n;
}

void bb_list_spans(struct arena *a, struct bb_logical *l, int64_t round_from)
{
    int64_t spans[MOST_SPANS];
    l->n_spans = list_spans(l->extent, round_from ? round_from : ROUND_FROM, spans);
    l->spans = arena_memdup(a, spans, l->n_spans * sizeof *spans);
}

/* ---- candidate sizes ---- */

static int64_t odd_part(int64_t n)
{
    while (n % 2 == 0)
        n /= 2;
    return n;
}

static int compare_sizes(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

/* All divisors, ascending. */
static int64_t *divisors(struct arena *a, int64_t n, unsigned *count)
{
    int64_t *list = NULL;
    size_t cap = 0;
    unsigned found = 0;
    for (int64_t d = 1; d <= n / d; d++) {
        if (n % d) continue;
        list = arena_grow(a, list, &cap, found + 2, sizeof *list);
        list[found++] = d;
        if (d != n / d) list[found++] = n / d;
    }
    qsort(list, found, sizeof *list, compare_sizes);
    *count = found;
    return list;
}

/* The divisors of all spans, ascending. */
static int64_t *divisors_of_spans(struct arena *a, const struct bb_logical *l, unsigned *count)
{
    int64_t *all = divisors(a, l->spans[0], count);
    for (unsigned i = 1; i < l->n_spans; i++) {
        unsigned n, kept = 0;
        int64_t *more = divisors(a, l->spans[i], &n), *both = ARENA_ARRAY(a, int64_t, *count + n);
        memcpy(both, all, *count * sizeof *both);
        memcpy(both + *count, more, n * sizeof *both);
        qsort(both, *count + n, sizeof *both, compare_sizes);
        for (unsigned j = 0; j < *count + n; j++)
            if (kept == 0 || both[kept - 1] != both[j]) both[kept++] = both[j];
        all = both;
        *count = kept;
    }
    return all;
}

/* Drops sizes, never the first and last, until `limit` are left: those with the largest odd part first, then
 * the largest, so that powers of two and their small multiples stay. */
static void keep_useful(int64_t *sizes, unsigned *count, unsigned limit)
{
    while (*count > limit && *count > 2) {
        unsigned worst = 1;
        for (unsigned i = 2; i + 1 < *count; i++)
            if (odd_part(sizes[i]) >= odd_part(sizes[worst])) worst = i;
        memmove(sizes + worst, sizes + worst + 1, (*count - worst - 1) * sizeof *sizes);
        --*count;
    }
}

/* ---- sizes of windows ---- */

enum { MOST_OUTER = 64 /* sizes of the outermost tile, if there are others: bits of a word of a domain */ };

/* Sizes as they are found. */
struct size_list {
    int64_t *at;
    size_t n, cap;
};

static void add_size(struct arena *a, struct size_list *list, int64_t size)
{
    list->at = arena_grow(a, list->at, &list->cap, list->n + 1, sizeof *list->at);
    list->at[list->n++] = size;
}

/* Ascending, each once. */
static void sort_sizes(struct size_list *list)
{
    size_t kept = 0;
    qsort(list->at, list->n, sizeof *list->at, compare_sizes);
    for (size_t i = 0; i < list->n; i++)
        if (kept == 0 || list->at[kept - 1] != list->at[i]) list->at[kept++] = list->at[i];
    list->n = kept;
}

/* What may be staged of a window: its extents with every size of what is inside the copy of each term. */
static struct size_list staged_extents(const struct backbone *bb, struct arena *a,
                                       const struct bb_region_dim *c)
{
    struct size_list extents = {0};
    add_size(a, &extents, 1 + c->spread);
    for (unsigned i = 0; i < c->n_terms; i++) {
        const struct bb_term *t = &bb->terms[c->first_term + i];
        struct size_list longer = {0};
        unsigned n;
        const int64_t *inside = divisors_of_spans(a, &bb->logicals[t->logical], &n);
        for (size_t e = 0; e < extents.n; e++)
            for (unsigned k = 0; k < n; k++)
                add_size(a, &longer, extents.at[e] + t->coefficient * (inside[k] - 1));
        sort_sizes(&longer);
        extents = longer;
    }
    return extents;
}

/* Sizes of the tiles of a window's copy. The inner ones are those of its first logical; the outermost is what
 * covers the staged extent then: 3 for 34 = 32 + 2 elements in tiles of 16. */
static int64_t *window_sizes(const struct backbone *bb, struct arena *a, const struct bb_logical *l,
                             unsigned level, unsigned *count)
{
    int64_t *inner = divisors_of_spans(a, &bb->logicals[l->of], count);
    struct size_list extents = staged_extents(bb, a, &bb->region_dims[l->coordinate]), outer = {0};
    if (level > 0) return inner;
    for (size_t e = 0; e < extents.n; e++)
        for (unsigned i = 0; i < (l->n_levels > 1 ? *count : 1); i++)
            add_size(a, &outer, (extents.at[e] + inner[i] - 1) / inner[i]);
    sort_sizes(&outer);
    *count = (unsigned)outer.n;
    if (l->n_levels > 1) keep_useful(outer.at, count, MOST_OUTER);
    return outer.at;
}

const int64_t *bb_tile_sizes(const struct backbone *bb, struct arena *a, const struct bb_logical *l,
                             unsigned level, unsigned most, unsigned *count)
{
    int64_t *sizes =
        bb_is_window(bb, l) ? window_sizes(bb, a, l, level, count) : divisors_of_spans(a, l, count);
    if (most) keep_useful(sizes, count, most);
    return sizes;
}
