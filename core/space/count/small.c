/* Counting in small spaces: at most 64 slots of at most 64 values, nothing latent, no formula over many
 * slots. Domains are words in an array that is copied at each branching. What a decided slot leaves to all
 * others by constraints over two slots is one row of words, four slots at a time; constraints over more slots
 * are looked at when at most one of their slots is undecided (R. M. Haralick and G. L. Elliott, "Increasing
 * tree search efficiency for constraint satisfaction problems", 1980: forward checking). Components are
 * those of count.c, with words as sets. What a decided slot means for the others is in their domains, so a
 * component is known by its domains and by the decided slots of its constraints over three or more: equal
 * rests of different prefixes are counted once. The last few slots with few values are enumerated: looking
 * for components and for what was counted before would cost more. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "core/base/hash.h"
#include "core/base/panic.h"
#include "core/space/count/private.h"

enum { WIDE_WORDS = (SPACE_SMALL_WIDE + 63) / 64 };
enum { SMALL = 64, LANES = 4, MAX_FORMULA = 6, KEY_WORDS = SMALL + 2 };
enum { FEW = 6, FEW_COMBINATIONS = 8192 }; /* slots that are counted without looking for components */

/* A constraint over three or more slots. */
struct wide {
    const struct shape *shape;
    const uint32_t *slots;
    uint64_t set;
    uint64_t entailing[MAX_FORMULA]; /* by slot: values with which the constraint is true */
};

struct small {
    const struct space *s;
    uint32_t n, padded;     /* slots; the same, a multiple of LANES */
    uint64_t linked[SMALL]; /* slots that share a constraint over two with it */
    uint64_t *rows[SMALL];  /* [value * padded + y]: values that slot y may have beside it; NULL: all */
    struct wide *wide;
    uint32_t n_wide;
    uint64_t wide_of[SMALL][WIDE_WORDS]; /* by slot: numbers of its wide constraints */
    struct count_column *columns;        /* scratch, for the nodes of a wide constraint */
    struct count_table *table;
    struct space_count *result;
    uint64_t limit;
};

/* The domains of all slots (those beyond the last one have one value), which have more than one, and which
 * wide constraints are true from here on. */
struct domains {
    uint64_t open, entailed[WIDE_WORDS];
    uint64_t of[SMALL];
};

static uint32_t lowest(uint64_t set)
{
    return (uint32_t)__builtin_ctzll(set);
}

static bool is_single(uint64_t domain)
{
    return !(domain & (domain - 1));
}

static uint32_t count_of(uint64_t domain)
{
    return (uint32_t)__builtin_popcountll(domain);
}

/* ---- setting up ---- */

/* Constraints over three or more slots that may be false. *most: the largest number of slots of one. */
static uint32_t count_wide(const struct space *s, uint32_t *most)
{
    uint32_t n_wide = 0;
    *most = 0;
    for (size_t i = 0; i < s->n_instances; i++) {
        uint32_t n = s->shapes[s->instances[i].shape].n_slots;
        if (s->entailed[i]) continue;
        n_wide += n > 2;
        if (n > *most) *most = n;
    }
    return n_wide;
}

static uint32_t most_values(const struct space *s)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < s->n_slots; i++)
        if (slot_values(s, i) > most) most = slot_values(s, i);
    return most;
}

static bool fits(const struct space *s, uint32_t *n_wide)
{
    uint32_t most;
    if (s->n_latent || s->n_squares || s->n_slots > SMALL || most_values(s) > SMALL) return false;
    *n_wide = count_wide(s, &most);
    return most <= MAX_FORMULA && *n_wide <= SPACE_SMALL_WIDE;
}

const char *space_count_why_slow(const struct space *s, struct arena *a)
{
    uint32_t most, n_wide = count_wide(s, &most);
    if (s->n_latent) return "objects are latent: which choices exist depends on others";
    if (s->n_squares) return "constraints over three objects are propagated as rows of pairs";
    if (s->n_slots > SMALL)
        return arena_printf(a, "%" PRIu32 " choices; the fast way has room for %d", s->n_slots, SMALL);
    if (most_values(s) > SMALL)
        return arena_printf(a, "a choice of %" PRIu32 " values; the fast way has room for %d of each choice",
                            most_values(s), SMALL);
    if (most > MAX_FORMULA)
        return arena_printf(a, "%" PRIu32 " choices in one formula; the fast way has room for %d", most,
                            MAX_FORMULA);
    if (n_wide > SPACE_SMALL_WIDE)
        return arena_printf(
            a, "%" PRIu32 " constraints over three or more choices; the fast way has room for %d", n_wide,
            SPACE_SMALL_WIDE);
    return NULL;
}

/* The rows of x, all allowed at first. */
static uint64_t *rows_of(struct small *c, struct arena *a, uint32_t x)
{
    if (c->rows[x]) return c->rows[x];
    size_t words = (size_t)slot_values(c->s, x) * c->padded;
    c->rows[x] = ARENA_ARRAY(a, uint64_t, words);
    return memset(c->rows[x], 0xff, words * sizeof *c->rows[x]);
}

/* Slots of up to 64 values: every shape over two of them is tabulated. */
static void add_pair(struct small *c, struct arena *a, const struct shape *sh, const uint32_t *slots)
{
    uint64_t *of_x = rows_of(c, a, slots[0]), *of_y = rows_of(c, a, slots[1]);
    CHECK(sh->kind == SHAPE_PAIR);
    c->linked[slots[0]] |= UINT64_C(1) << slots[1];
    c->linked[slots[1]] |= UINT64_C(1) << slots[0];
    for (uint32_t v = 0; v < sh->sizes[0]; v++)
        of_x[v * c->padded + slots[1]] &= sh->forward[v];
    for (uint32_t w = 0; w < sh->sizes[1]; w++)
        of_y[w * c->padded + slots[0]] &= sh->reverse[w];
}

/* Values of slot k with which the formula is true whatever the others have: an operand of its disjunction is
 * over that slot alone. So are the conditions of conditional constraints. */
static void find_entailing(struct wide *w)
{
    const struct shape *sh = w->shape;
    const struct shape_node *root = &sh->nodes[sh->n_nodes - 1];
    for (uint32_t i = 0; root->op == FORMULA_OR && i < root->n; i++) {
        const struct shape_node *kid = &sh->nodes[sh->kids[root->first + i]];
        if (kid->op == FORMULA_FUNC && kid->view.kind == VIEW_BOOLEAN)
            w->entailing[kid->local] |= kid->view.yes;
    }
}

static void add_wide(struct small *c, const struct shape *sh, const uint32_t *slots)
{
    struct wide *w = &c->wide[c->n_wide];
    *w = (struct wide){.shape = sh, .slots = slots};
    find_entailing(w);
    for (uint32_t k = 0; k < sh->n_slots; k++) {
        w->set |= UINT64_C(1) << slots[k];
        c->wide_of[slots[k]][c->n_wide / 64] |= UINT64_C(1) << c->n_wide % 64;
    }
    c->n_wide++;
}

static void set_up(struct small *c, struct arena *a)
{
    const struct space *s = c->s;
    uint32_t nodes = 0;
    for (size_t i = 0; i < s->n_instances; i++) {
        const struct shape *sh = &s->shapes[s->instances[i].shape];
        const uint32_t *slots = s->instance_slots + s->instances[i].slots;
        if (s->entailed[i]) continue;
        if (sh->n_slots == 2) add_pair(c, a, sh, slots);
        if (sh->n_slots > 2) add_wide(c, sh, slots);
        if (sh->kind == SHAPE_GENERAL && sh->n_nodes > nodes) nodes = sh->n_nodes;
    }
    if (nodes) c->columns = base_malloc(nodes * sizeof *c->columns);
}

/* ---- forward checking ---- */

/* Removes from all domains what the row does not have; *single: slots with at most one value. false: a domain
 * is empty. */
#ifdef __AVX2__
static bool keep_row(uint64_t *domains, const uint64_t *row, uint32_t padded, uint64_t *single)
{
    const __m256i zero = _mm256_setzero_si256(), minus_one = _mm256_set1_epi64x(-1);
    __m256i empty = zero;
    *single = 0;
    for (uint32_t i = 0; i < padded; i += LANES) {
        __m256i left = _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(const void *)(domains + i)),
                                        _mm256_loadu_si256((const __m256i *)(const void *)(row + i)));
        __m256i others = _mm256_and_si256(left, _mm256_add_epi64(left, minus_one));
        __m256i one = _mm256_cmpeq_epi64(others, zero);
        _mm256_storeu_si256((__m256i *)(void *)(domains + i), left);
        empty = _mm256_or_si256(empty, _mm256_cmpeq_epi64(left, zero));
        *single |= (uint64_t)(uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(one)) << i;
    }
    return _mm256_testz_si256(empty, empty);
}
#else
static bool keep_row(uint64_t *domains, const uint64_t *row, uint32_t padded, uint64_t *single)
{
    bool some = true;
    *single = 0;
    for (uint32_t i = 0; i < padded; i++) {
        domains[i] &= row[i];
        *single |= (uint64_t)is_single(domains[i]) << i;
        some = some && domains[i];
    }
    return some;
}
#endif

/* Which values of one of its three slots a table allows beside the values of the others. */
static uint64_t row_of_triple(const struct shape *sh, uint32_t open, uint32_t *values, uint64_t domain)
{
    uint64_t keep = 0;
    if (open == 2) return domain & sh->forward[values[0] * sh->sizes[1] + values[1]];
    for (uint64_t left = domain; left; left &= left - 1) {
        values[open] = lowest(left);
        if (sh->forward[values[0] * sh->sizes[1] + values[1]] >> values[2] & 1) keep |= left & -left;
    }
    return keep;
}

static bool is_entailed(const struct wide *w, const struct domains *d)
{
    for (uint32_t k = 0; k < w->shape->n_slots; k++)
        if (!(d->of[w->slots[k]] & ~w->entailing[k])) return true;
    return false;
}

/* Keeps the values of the only undecided slot (or, with none, of any one) that satisfy the constraint, which
 * is true from then on. */
static bool filter_wide(const struct small *c, uint32_t wide, struct domains *d, uint64_t *decided)
{
    const struct wide *w = &c->wide[wide];
    uint32_t values[MAX_FORMULA], open = 0;
    bool entailed = is_entailed(w, d);
    d->entailed[wide / 64] |= (uint64_t)entailed << wide % 64;
    if (entailed || !is_single(w->set & d->open)) return true;
    for (uint32_t k = 0; k < w->shape->n_slots; k++) {
        values[k] = lowest(d->of[w->slots[k]]);
        if (d->open >> w->slots[k] & 1) open = k;
    }
    uint64_t *domain = &d->of[w->slots[open]];
    uint64_t keep = w->shape->kind == SHAPE_TRIPLE
                        ? row_of_triple(w->shape, open, values, *domain)
                        : count_column(w->shape, open, values, *domain, c->columns);
    *domain = keep;
    d->entailed[wide / 64] |= UINT64_C(1) << wide % 64;
    if (is_single(keep)) {
        *decided |= w->set & d->open;
        d->open &= ~w->set;
    }
    return keep != 0;
}

static bool filter_wides(const struct small *c, uint32_t slot, struct domains *d, uint64_t *decided)
{
    for (uint32_t word = 0; word * 64 < c->n_wide; word++)
        for (uint64_t left = c->wide_of[slot][word] & ~d->entailed[word]; left; left &= left - 1)
            if (!filter_wide(c, word * 64 + lowest(left), d, decided)) return false;
    return true;
}

/* What follows from the slots that were just decided. false: a domain is empty. */
static bool check_forward(const struct small *c, struct domains *d, uint64_t decided)
{
    while (decided) {
        uint32_t x = lowest(decided);
        decided &= decided - 1;
        uint64_t single = 0;
        const uint64_t *rows = c->rows[x];
        if (rows && !keep_row(d->of, rows + lowest(d->of[x]) * c->padded, c->padded, &single)) return false;
        decided |= single & d->open;
        d->open &= ~single;
        if (c->n_wide && !filter_wides(c, x, d, &decided)) return false;
    }
    return true;
}

/* ---- counting ---- */

static long double count_open(struct small *c, const struct domains *d, uint64_t set);

static uint32_t choose(const struct domains *d, uint64_t set)
{
    uint32_t best = lowest(set), fewest = 65;
    for (; set; set &= set - 1) {
        uint32_t n = count_of(d->of[lowest(set)]);
        if (n >= fewest) continue;
        fewest = n;
        best = lowest(set);
    }
    return best;
}

static long double branch(struct small *c, const struct domains *d, uint64_t component)
{
    uint32_t x = choose(d, component);
    struct domains below;
    long double total = 0;
    for (uint64_t left = d->of[x]; left && c->result->complete; left &= left - 1) {
        memcpy(&below, d, offsetof(struct domains, of) + c->padded * sizeof *below.of);
        below.of[x] = left & -left;
        below.open &= ~(UINT64_C(1) << x);
        if (check_forward(c, &below, UINT64_C(1) << x)) total += count_open(c, &below, component);
    }
    return total;
}

/* Slots of the wide constraints of x that may still become false. */
static uint64_t wide_around(const struct small *c, const struct domains *d, uint32_t x)
{
    uint64_t set = 0;
    for (uint32_t word = 0; word * 64 < c->n_wide; word++)
        for (uint64_t left = c->wide_of[x][word] & ~d->entailed[word]; left; left &= left - 1)
            set |= c->wide[word * 64 + lowest(left)].set;
    return set;
}

/* Undecided slots of a component, those with the fewest values first, if there are only few combinations of
 * them and no wider constraint is among them. */
static bool is_few(const struct small *c, const struct domains *d, uint64_t component, uint32_t *slots)
{
    uint64_t combinations = 1;
    uint32_t n = 0;
    if (count_of(component) > FEW) return false;
    for (uint64_t left = component; left; left &= left - 1) {
        uint32_t x = lowest(left), values = count_of(d->of[x]), i = n++;
        if (c->n_wide && wide_around(c, d, x) & component & ~(left & -left)) return false;
        combinations *= values;
        for (; i && count_of(d->of[slots[i - 1]]) > values; i--)
            slots[i] = slots[i - 1];
        slots[i] = x;
    }
    return n <= 3 || combinations <= FEW_COMBINATIONS;
}

/* How many combinations of the values of two slots or more satisfy their constraints. */
static uint64_t count_few(const struct small *c, const uint32_t *slots, const uint64_t *domains, uint32_t n)
{
    uint64_t total = 0, below[FEW];
    for (uint64_t left = domains[0]; left; left &= left - 1) {
        const uint64_t *row = c->rows[slots[0]] + lowest(left) * c->padded;
        bool some = true;
        for (uint32_t i = 1; i < n && some; i++) {
            below[i - 1] = domains[i] & row[slots[i]];
            some = below[i - 1];
        }
        if (some) total += n == 2 ? count_of(below[0]) : count_few(c, slots + 1, below, n - 1);
    }
    return total;
}

/* What the count depends on. Returns the words of the key. */
static uint32_t make_key(const struct small *c, const struct domains *d, uint64_t component, uint64_t *key)
{
    uint64_t set = component;
    uint32_t n = 0;
    for (uint64_t left = component; left && c->n_wide; left &= left - 1)
        set |= wide_around(c, d, lowest(left));
    key[n++] = component;
    key[n++] = set;
    for (; set; set &= set - 1)
        key[n++] = d->of[lowest(set)];
    return n;
}

static uint64_t count_slots(const struct small *c, const struct domains *d, const uint32_t *slots, uint32_t n)
{
    uint64_t of[FEW];
    for (uint32_t i = 0; i < n; i++)
        of[i] = d->of[slots[i]];
    return count_few(c, slots, of, n);
}

static uint64_t hash_words(const uint64_t *key, uint32_t n)
{
    uint64_t h = HASH_START;
    for (uint32_t i = 0; i < n; i++)
        h = ((h ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15)) ^ h >> 29;
    return hash_finish(h) | 1;
}

static long double count_component(struct small *c, const struct domains *d, uint64_t component)
{
    if (is_single(component)) return count_of(d->of[lowest(component)]);
    if (c->limit && c->result->nodes >= c->limit) c->result->complete = false;
    c->result->nodes++;
    uint32_t slots[FEW];
    if (is_few(c, d, component, slots)) return (long double)count_slots(c, d, slots, count_of(component));
    if (!count_table_pays(c->table)) return branch(c, d, component);
    uint64_t key[KEY_WORDS];
    long double count;
    uint32_t n = make_key(c, d, component, key), bytes = (uint32_t)(n * sizeof *key);
    uint64_t hash = hash_words(key, n);
    if (count_table_find(c->table, hash, key, bytes, &count)) return count;
    count = branch(c, d, component);
    if (c->result->complete) count_table_add(c->table, hash, key, bytes, count);
    return count;
}

/* The slots of `open` that constraints connect with its first one. */
static uint64_t component_of(const struct small *c, const struct domains *d, uint64_t open)
{
    uint64_t component = open & -open, front = component;
    while (front && component != open) {
        uint64_t more = (c->linked[lowest(front)] | wide_around(c, d, lowest(front))) & open & ~component;
        component |= more;
        front = (front & (front - 1)) | more;
    }
    return component;
}

/* The product over the components of the undecided slots of a set. */
static long double count_open(struct small *c, const struct domains *d, uint64_t set)
{
    long double product = 1;
    for (uint64_t open = d->open & set; open && product > 0;) {
        uint64_t component = component_of(c, d, open);
        open &= ~component;
        product *= count_component(c, d, component);
    }
    return product;
}

bool count_small(const struct space_state *st, struct count_table *table, uint64_t limit,
                 struct space_count *result)
{
    const struct space *s = st->space;
    uint32_t n_wide;
    if (!fits(s, &n_wide)) return false;
    struct arena *a = arena_new();
    struct small *c = ARENA_NEW(a, struct small);
    struct domains d = {.open = 0};
    uint64_t all = s->n_slots == SMALL ? UINT64_MAX : (UINT64_C(1) << s->n_slots) - 1;
    *c = (struct small){.s = s, .n = s->n_slots, .table = table, .result = result, .limit = limit};
    c->wide = ARENA_ARRAY(a, struct wide, n_wide + 1);
    c->padded = (c->n + LANES - 1) / LANES * LANES;
    set_up(c, a);
    for (uint32_t i = 0; i < c->padded; i++) {
        d.of[i] = i < c->n ? state_word(st, i, 0) : 1;
        d.open |= (uint64_t)!is_single(d.of[i]) << i;
    }
    if (check_forward(c, &d, all & ~d.open)) result->solutions = count_open(c, &d, all);
    free(c->columns);
    arena_free(a);
    return true;
}
