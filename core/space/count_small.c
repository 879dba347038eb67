/* Counting in small spaces: at most 64 slots of at most 64 values, nothing latent, no formula over many
 * slots. Domains are words in an array that is copied at each branching, constraints over two slots are one
 * table per pair, those over more are looked at when at most one of their slots is undecided (R. M. Haralick
 * and G. L. Elliott, "Increasing tree search efficiency for constraint satisfaction problems", 1980: forward
 * checking). Components and their table are those of count.c, with words as sets. */
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/panic.h"
#include "core/space/count_internal.h"

enum { SMALL = 64, MAX_FORMULA = 6, KEY_WORDS = SMALL + 1 };

/* A constraint over three or more slots. */
struct wide {
    const struct shape *shape;
    const uint32_t *slots;
    uint64_t set;
};

struct small {
    const struct space *s;
    uint32_t n;
    uint64_t linked[SMALL];
    uint64_t **pairs; /* [x * n + y][value of x]: values of y; NULL: no constraint */
    struct wide *wide;
    uint32_t n_wide;
    uint64_t wide_of[SMALL][(SPACE_SMALL_WIDE + 63) / 64]; /* by slot: numbers of its wide constraints */
    int64_t *scratch;
    struct count_table *table;
    struct space_count *result;
    uint64_t limit;
};

static uint32_t lowest(uint64_t set)
{
    return (uint32_t)__builtin_ctzll(set);
}

static bool is_single(uint64_t domain)
{
    return !(domain & (domain - 1));
}

/* ---- setting up ---- */

static bool fits(const struct space *s)
{
    bool ok = s->n_latent == 0 && s->n_squares == 0 && s->n_slots <= SMALL;
    for (uint32_t i = 0; ok && i < s->n_slots; i++)
        ok = s->universes[s->slots[i].universe].n <= 64;
    uint32_t n_wide = 0;
    for (size_t i = 0; ok && i < s->n_instances; i++) {
        uint32_t n = s->shapes[s->instances[i].shape].n_slots;
        n_wide += n > 2 && !s->entailed[i];
        ok = s->entailed[i] || (n <= MAX_FORMULA && n_wide <= SPACE_SMALL_WIDE);
    }
    return ok;
}

/* The table of (x, y), all allowed at first. */
static uint64_t *pair_table(struct small *c, struct arena *a, uint32_t x, uint32_t y)
{
    uint64_t **at = &c->pairs[x * c->n + y];
    if (*at) return *at;
    uint32_t n = c->s->universes[c->s->slots[x].universe].n;
    *at = ARENA_ARRAY(a, uint64_t, n);
    return memset(*at, 0xff, n * sizeof **at);
}

/* Slots of up to 64 values: every shape over two of them is tabulated. */
static void add_pair(struct small *c, struct arena *a, const struct shape *sh, const uint32_t *slots)
{
    uint64_t *xy = pair_table(c, a, slots[0], slots[1]), *yx = pair_table(c, a, slots[1], slots[0]);
    CHECK(sh->kind == SHAPE_PAIR);
    for (uint32_t v = 0; v < sh->sizes[0]; v++)
        xy[v] &= sh->forward[v];
    for (uint32_t w = 0; w < sh->sizes[1]; w++)
        yx[w] &= sh->reverse[w];
}

static void add_wide(struct small *c, const struct shape *sh, const uint32_t *slots)
{
    struct wide *w = &c->wide[c->n_wide];
    *w = (struct wide){sh, slots, 0};
    for (uint32_t k = 0; k < sh->n_slots; k++) {
        w->set |= UINT64_C(1) << slots[k];
        c->wide_of[slots[k]][c->n_wide / 64] |= UINT64_C(1) << c->n_wide % 64;
    }
    c->n_wide++;
}

static void set_up(struct small *c, struct arena *a)
{
    const struct space *s = c->s;
    c->scratch = ARENA_ARRAY(a, int64_t, s->max_nodes + 1);
    c->wide = ARENA_ARRAY(a, struct wide, SPACE_SMALL_WIDE);
    c->pairs = ARENA_ARRAY(a, uint64_t *, (size_t)c->n * c->n + 1);
    for (size_t i = 0; i < s->n_instances; i++) {
        const struct shape *sh = &s->shapes[s->instances[i].shape];
        const uint32_t *slots = s->instance_slots + s->instances[i].slots;
        if (s->entailed[i]) continue;
        if (sh->n_slots == 2) add_pair(c, a, sh, slots);
        if (sh->n_slots > 2) add_wide(c, sh, slots);
        uint64_t group = 0;
        for (uint32_t k = 0; k < sh->n_slots; k++)
            group |= UINT64_C(1) << slots[k];
        for (uint64_t left = group; left; left &= left - 1)
            c->linked[lowest(left)] |= group;
    }
}

/* ---- forward checking ---- */

static bool holds(const struct small *c, const struct shape *sh, const uint32_t *values)
{
    if (sh->kind == SHAPE_TRIPLE) return sh->forward[values[0] * sh->sizes[1] + values[1]] >> values[2] & 1;
    return shape_value(sh, values, c->scratch) != 0;
}

/* Keeps the values of the only undecided slot (or, with none, of any one) that satisfy the constraint. */
static bool filter_wide(const struct small *c, const struct wide *w, uint64_t *domains, uint64_t *decided)
{
    uint32_t values[MAX_FORMULA], open = 0, n_open = 0;
    for (uint32_t k = 0; k < w->shape->n_slots; k++) {
        uint64_t domain = domains[w->slots[k]];
        values[k] = lowest(domain);
        if (is_single(domain)) continue;
        open = k;
        n_open++;
    }
    if (n_open > 1) return true;
    uint64_t keep = 0, *domain = &domains[w->slots[open]];
    for (uint64_t left = *domain; left; left &= left - 1) {
        values[open] = lowest(left);
        if (holds(c, w->shape, values)) keep |= left & -left;
    }
    if (n_open && keep && is_single(keep)) *decided |= UINT64_C(1) << w->slots[open];
    *domain = keep;
    return keep != 0;
}

static bool filter_wides(const struct small *c, uint32_t slot, uint64_t *domains, uint64_t *decided)
{
    for (uint32_t word = 0; word * 64 < c->n_wide; word++)
        for (uint64_t left = c->wide_of[slot][word]; left; left &= left - 1)
            if (!filter_wide(c, &c->wide[word * 64 + lowest(left)], domains, decided)) return false;
    return true;
}

/* What follows from the slots that were just decided. false: a domain is empty. */
static bool check_forward(const struct small *c, uint64_t *domains, uint64_t decided)
{
    while (decided) {
        uint32_t x = lowest(decided), v = lowest(domains[x]);
        decided &= decided - 1;
        for (uint64_t left = c->linked[x]; left; left &= left - 1) {
            uint32_t y = lowest(left);
            const uint64_t *t = c->pairs[x * c->n + y];
            uint64_t old = domains[y];
            if (!t || !(old & ~t[v])) continue;
            domains[y] = old & t[v];
            if (!domains[y]) return false;
            if (is_single(domains[y])) decided |= UINT64_C(1) << y;
        }
        if (c->n_wide && !filter_wides(c, x, domains, &decided)) return false;
    }
    return true;
}

/* ---- counting ---- */

static long double count_open(struct small *c, const uint64_t *domains, uint64_t set);

static uint32_t choose(const uint64_t *domains, uint64_t set)
{
    uint32_t best = lowest(set);
    int fewest = 65;
    for (; set; set &= set - 1) {
        int n = __builtin_popcountll(domains[lowest(set)]);
        if (n >= fewest) continue;
        fewest = n;
        best = lowest(set);
    }
    return best;
}

static long double branch(struct small *c, const uint64_t *domains, uint64_t component)
{
    uint32_t x = choose(domains, component);
    uint64_t below[SMALL];
    long double total = 0;
    if (c->limit && c->result->nodes >= c->limit) c->result->complete = false;
    c->result->nodes++;
    for (uint64_t left = domains[x]; left && c->result->complete; left &= left - 1) {
        memcpy(below, domains, c->n * sizeof *below);
        below[x] = left & -left;
        if (check_forward(c, below, UINT64_C(1) << x)) total += count_open(c, below, component);
    }
    return total;
}

/* The domains of the component and of what shares a constraint with it. */
static uint32_t make_key(const struct small *c, const uint64_t *domains, uint64_t component, uint64_t *key)
{
    uint64_t around = component;
    uint32_t n = 0;
    for (uint64_t left = component; left; left &= left - 1)
        around |= c->linked[lowest(left)];
    key[n++] = around;
    for (; around; around &= around - 1)
        key[n++] = domains[lowest(around)];
    return (uint32_t)(n * sizeof *key);
}

static long double count_component(struct small *c, const uint64_t *domains, uint64_t component)
{
    if (is_single(component)) return __builtin_popcountll(domains[lowest(component)]);
    bool pair = is_single(component & (component - 1));
    if (pair || !count_table_pays(c->table)) return branch(c, domains, component);
    uint64_t key[KEY_WORDS];
    long double count;
    uint32_t bytes = make_key(c, domains, component, key);
    uint64_t hash = hash_finish(hash_bytes(HASH_START, key, bytes)) | 1;
    if (count_table_find(c->table, hash, key, bytes, &count)) return count;
    count = branch(c, domains, component);
    if (c->result->complete) count_table_add(c->table, hash, key, bytes, count);
    return count;
}

/* The product over the components of the undecided slots of a set. */
static long double count_open(struct small *c, const uint64_t *domains, uint64_t set)
{
    uint64_t open = 0;
    long double product = 1;
    for (; set; set &= set - 1)
        if (!is_single(domains[lowest(set)])) open |= set & -set;
    while (open && product > 0) {
        uint64_t component = open & -open, front = component;
        while (front) {
            uint64_t more = c->linked[lowest(front)] & open & ~component;
            component |= more;
            front = (front & (front - 1)) | more;
        }
        open &= ~component;
        product *= count_component(c, domains, component);
    }
    return product;
}

bool count_small(const struct space_state *st, struct count_table *table, uint64_t limit,
                 struct space_count *result)
{
    const struct space *s = st->space;
    if (!fits(s)) return false;
    struct arena *a = arena_new();
    struct small *c = ARENA_NEW(a, struct small);
    uint64_t domains[SMALL] = {0}, decided = 0, all = 0;
    *c = (struct small){.s = s, .n = s->n_slots, .table = table, .result = result, .limit = limit};
    set_up(c, a);
    for (uint32_t i = 0; i < c->n; i++) {
        domains[i] = state_word(st, i, 0);
        all |= UINT64_C(1) << i;
        if (is_single(domains[i])) decided |= UINT64_C(1) << i;
    }
    if (check_forward(c, domains, decided)) result->solutions = count_open(c, domains, all);
    arena_free(a);
    return true;
}
