/* Tables of shapes over few small slots, made once for all instances of a shape: what each value, or each set
 * of values, of a slot allows the others, and which of its losses can matter to them.
 *
 *     #0 <= #1 over { 1, 2, 4 }      forward: 1 -> { 1, 2, 4 }, 2 -> { 2, 4 }, 4 -> { 4 }
 *
 * Slot 0 loses 2 and keeps 1: 1 still allows all that 2 did, so slot 1 has nothing to hear of it. */
#include <stdlib.h>
#include <string.h>

#include "core/base/panic.h"
#include "core/space/data/intern.h"
#include "core/space/formula/shape.h"

/* Where tables are kept; equal ones are one. */
struct tables {
    struct arena *arena;
    struct intern_table *known;
};

static void tabulate_unary(struct shape *sh, struct arena *a, int64_t *scratch)
{
    uint64_t *words = ARENA_ARRAY(a, uint64_t, (sh->sizes[0] + 63) / 64);
    for (uint32_t v = 0; v < sh->sizes[0]; v++)
        if (shape_value(sh, &v, scratch)) words[v / 64] |= UINT64_C(1) << v % 64;
    sh->forward = words;
}

/* What each set of up to eleven values allows. */
static const uint64_t *tabulate_unions(const uint64_t *rows, uint32_t n, struct tables *t)
{
    enum { MOST = 11 };
    uint64_t unions[1 << MOST] = {0};
    if (n > MOST) return NULL;
    for (uint32_t set = 1; set < 1u << n; set++)
        unions[set] = unions[set & (set - 1)] | rows[__builtin_ctz(set)];
    bool fresh;
    return intern(t->known, t->arena, unions, sizeof *unions << n, 0, &fresh)->bytes;
}

static void tabulate_pair(struct shape *sh, struct tables *t, int64_t *scratch)
{
    struct arena *a = t->arena;
    uint64_t *forward = ARENA_ARRAY(a, uint64_t, sh->sizes[0]),
             *reverse = ARENA_ARRAY(a, uint64_t, sh->sizes[1]);
    for (uint32_t x = 0; x < sh->sizes[0]; x++) {
        for (uint32_t y = 0; y < sh->sizes[1]; y++) {
            if (!shape_value(sh, (uint32_t[]){x, y}, scratch)) continue;
            forward[x] |= UINT64_C(1) << y;
            reverse[y] |= UINT64_C(1) << x;
        }
    }
    sh->forward = forward;
    sh->reverse = reverse;
    sh->unions[0] = tabulate_unions(forward, sh->sizes[0], t);
    sh->unions[1] = tabulate_unions(reverse, sh->sizes[1], t);
}

static void tabulate_triple(struct shape *sh, struct arena *a, int64_t *scratch)
{
    const uint32_t *n = sh->sizes;
    uint64_t *forward = ARENA_ARRAY(a, uint64_t, n[0] * n[1]);
    for (uint32_t x = 0; x < n[0]; x++)
        for (uint32_t y = 0; y < n[1]; y++)
            for (uint32_t z = 0; z < n[2]; z++)
                if (shape_value(sh, (uint32_t[]){x, y, z}, scratch))
                    forward[x * n[1] + y] |= UINT64_C(1) << z;
    sh->forward = forward;
}

static enum shape_kind classify(const struct shape *sh)
{
    const uint32_t *n = sh->sizes;
    if (sh->n_slots == 1) return SHAPE_UNARY;
    if (sh->n_slots == 2 && n[0] <= PAIR_VALUES && n[1] <= PAIR_VALUES) return SHAPE_PAIR;
    bool small = sh->n_slots == 3 && n[0] <= PAIR_VALUES && n[1] <= PAIR_VALUES && n[2] <= PAIR_VALUES &&
                 n[0] * n[1] * n[2] <= TRIPLE_TABLE;
    return small ? SHAPE_TRIPLE : SHAPE_GENERAL;
}

/* TRIPLE: whether the table allows slot `k` = u wherever it allows `k` = v. */
static bool allows_more(const struct shape *sh, uint32_t k, uint32_t u, uint32_t v)
{
    const uint32_t *n = sh->sizes;
    for (uint32_t x = 0; x < (k == 0 ? 1 : n[0]); x++) {
        for (uint32_t y = 0; y < (k == 1 ? 1 : n[1]); y++) {
            const uint64_t *t = sh->forward;
            uint64_t of_u = k == 0 ? t[u * n[1] + y] : k == 1 ? t[x * n[1] + u] : t[x * n[1] + y] >> u & 1;
            uint64_t of_v = k == 0 ? t[v * n[1] + y] : k == 1 ? t[x * n[1] + v] : t[x * n[1] + y] >> v & 1;
            if (of_v & ~of_u) return false;
        }
    }
    return true;
}

/* Values that matter when they are lost and a set of up to eight is left. */
static const uint8_t *find_losses(const uint64_t *dominators, uint32_t n, struct tables *t)
{
    enum { MOST = 8 };
    uint8_t losses[1 << MOST] = {0};
    if (n > MOST) return NULL;
    for (uint32_t now = 0; now < 1u << n; now++)
        for (uint32_t v = 0; v < n; v++)
            if (!(dominators[v] & now)) losses[now] |= (uint8_t)(1u << v);
    bool fresh;
    return intern(t->known, t->arena, losses, sizeof losses, 0, &fresh)->bytes;
}

static const void *find_dominators(const struct shape *sh, uint32_t k, struct tables *t)
{
    struct dominators d = {0};
    for (uint32_t v = 0; v < sh->sizes[k]; v++)
        for (uint32_t u = 0; u < sh->sizes[k]; u++)
            if (allows_more(sh, k, u, v)) d.of[v] |= UINT64_C(1) << u;
    d.losses = find_losses(d.of, sh->sizes[k], t);
    bool fresh;
    return intern(t->known, t->arena, &d, sizeof d, 0, &fresh)->bytes;
}

/* Values of a slot with which some combination of the others is not allowed. */
static uint64_t constraining_values(const struct shape *sh, uint32_t k)
{
    const uint32_t *n = sh->sizes;
    uint64_t constraining = 0;
    uint32_t last = sh->n_slots - 1;
    uint64_t all = UINT64_MAX >> (64 - n[last]);
    for (uint32_t x = 0; x < n[0]; x++) {
        for (uint32_t y = 0; y < (last == 2 ? n[1] : 1); y++) {
            uint64_t missing = all & ~sh->forward[last == 2 ? x * n[1] + y : x];
            if (missing) constraining |= k == last ? missing : UINT64_C(1) << (k == 0 ? x : y);
        }
    }
    return constraining;
}

static void find_constraining(struct shape *sh, struct arena *a)
{
    if (sh->kind != SHAPE_PAIR && sh->kind != SHAPE_TRIPLE) return;
    uint64_t *constraining = ARENA_ARRAY(a, uint64_t, sh->n_slots);
    for (uint32_t k = 0; k < sh->n_slots; k++)
        constraining[k] = constraining_values(sh, k);
    sh->constraining = constraining;
}

static const void *find_supports(const struct shape *sh, uint32_t k, struct tables *t)
{
    const uint64_t *table = k ? sh->reverse : sh->forward;
    struct supports s = {0};
    for (uint32_t v = 0; v < sh->sizes[k]; v++) {
        uint32_t i = 0;
        while (i < s.n && s.of[i].allowed != table[v])
            i++;
        if (i == s.n) s.of[s.n++].allowed = table[v];
        s.of[i].values |= UINT64_C(1) << v;
    }
    bool fresh;
    size_t size = offsetof(struct supports, of) + s.n * sizeof *s.of;
    return intern(t->known, t->arena, &s, size, 0, &fresh)->bytes;
}

static void find_filters(struct shape *sh, struct tables *t)
{
    if (sh->kind != SHAPE_PAIR && sh->kind != SHAPE_TRIPLE) return;
    sh->filters = ARENA_ARRAY(t->arena, const void *, sh->n_slots);
    for (uint32_t k = 0; k < sh->n_slots; k++)
        sh->filters[k] = sh->unions[k]              ? (const void *)sh->unions[k]
                         : sh->kind == SHAPE_TRIPLE ? find_dominators(sh, k, t)
                                                    : find_supports(sh, k, t);
}

static void fill_tables(struct shape *sh, struct tables *t)
{
    struct arena *a = t->arena;
    int64_t *scratch = base_malloc(sh->n_nodes * sizeof *scratch);
    sh->kind = classify(sh);
    if (sh->kind == SHAPE_UNARY)
        tabulate_unary(sh, a, scratch);
    else if (sh->kind == SHAPE_PAIR)
        tabulate_pair(sh, t, scratch);
    else if (sh->kind == SHAPE_TRIPLE)
        tabulate_triple(sh, a, scratch);
    free(scratch);
}

void shape_tabulate(struct shape *sh, struct arena *a, struct intern_table *tables)
{
    struct tables t = {a, tables};
    fill_tables(sh, &t);
    find_constraining(sh, a);
    find_filters(sh, &t);
}
