/* Counting by independent groups of choices (R. J. Bayardo and J. D. Pehoushek, "Counting models using
 * connected components", AAAI 2000), with component caching (T. Sang et al., "Combining component caching and
 * clause learning for effective model counting", SAT 2004).
 *
 * Two undecided slots are connected if a constraint that the root does not entail is over both. Each
 * connected component is counted alone and the counts are multiplied. The count of a component depends on
 * the domains of its slots and on the decided slots that share a constraint with them: with these as a key it
 * is remembered. A decided slot of a tabulated pair does not matter: what it means for the other is in that
 * one's domain. */
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/space/count_internal.h"

enum { MAX_LINKED = 2048 }; /* slots; larger spaces are counted as one component */

struct counter {
    struct space_state *st;
    const struct space *s;
    uint32_t n, words; /* slots; 64-bit words of a set of them */
    uint64_t *linked;  /* [slot * words]: slots that share a constraint with it */
    uint64_t *matter;  /* the same, without tabulated pairs */
    struct count_table *table;
    uint64_t limit;
    bool exact; /* the values of the last open choice of a component are all solutions */
    struct space_count result;
    uint8_t *key; /* scratch */
};

static long double count_set(struct counter *c, const uint64_t *set);

static void add(uint64_t *set, uint32_t i)
{
    set[i / 64] |= UINT64_C(1) << i % 64;
}

static bool take_first(uint64_t *set, uint32_t words, uint32_t *out)
{
    for (uint32_t w = 0; w < words; w++) {
        if (!set[w]) continue;
        *out = w * 64 + (uint32_t)__builtin_ctzll(set[w]);
        set[w] &= set[w] - 1;
        return true;
    }
    return false;
}

/* ---- which slots share a constraint ---- */

static void link_all(struct counter *c, const uint64_t *group, bool matter)
{
    uint64_t members[MAX_LINKED / 64];
    memcpy(members, group, c->words * sizeof *group);
    for (uint32_t i; take_first(members, c->words, &i);) {
        for (uint32_t w = 0; w < c->words; w++) {
            c->linked[(size_t)i * c->words + w] |= group[w];
            if (matter) c->matter[(size_t)i * c->words + w] |= group[w];
        }
    }
}

static void link_instance(struct counter *c, const struct instance *in, uint64_t *group)
{
    memset(group, 0, c->words * sizeof *group);
    for (uint32_t k = 0; k < c->s->shapes[in->shape].n_slots; k++)
        add(group, c->s->instance_slots[in->slots + k]);
    for (uint32_t k = 0; k < in->n_guards; k++)
        add(group, c->s->guards[in->guards + k]);
    link_all(c, group, c->s->shapes[in->shape].kind != SHAPE_PAIR || in->n_guards);
}

static void link_slots(struct counter *c)
{
    const struct space *s = c->s;
    uint64_t *group = base_calloc(c->words, sizeof *group);
    c->linked = base_calloc((size_t)c->n * c->words, sizeof *c->linked);
    c->matter = base_calloc((size_t)c->n * c->words, sizeof *c->matter);
    for (size_t i = 0; i < s->n_instances; i++)
        if (!s->entailed[i]) link_instance(c, &s->instances[i], group);
    for (uint32_t q = 0; q < s->n_squares; q++) {
        memset(group, 0, c->words * sizeof *group);
        for (uint32_t i = 0; i < s->n_slots; i++)
            if (s->slots[i].square == (int16_t)q) add(group, i);
        link_all(c, group, true);
    }
    for (uint32_t i = 0; i < s->n_slots; i++) {
        for (unsigned k = 0; k < s->slots[i].n_live; k++) {
            memset(group, 0, c->words * sizeof *group);
            add(group, i);
            add(group, s->origins[i].live[k]);
            link_all(c, group, true);
        }
    }
    free(group);
}

/* ---- the table ---- */

static uint32_t domain_bytes(const struct slot_info *info)
{
    return (uint32_t)info->words * info->width;
}

/* The domains of the component and of the slots around it, each with its number. */
static uint32_t make_key(struct counter *c, const uint64_t *component)
{
    uint64_t around[MAX_LINKED / 64] = {0}, left[MAX_LINKED / 64];
    memcpy(left, component, c->words * sizeof *left);
    for (uint32_t i; take_first(left, c->words, &i);)
        for (uint32_t w = 0; w < c->words; w++)
            around[w] |= c->matter[(size_t)i * c->words + w];
    for (uint32_t w = 0; w < c->words; w++)
        around[w] |= component[w];
    uint32_t at = 0;
    for (uint32_t i; take_first(around, c->words, &i);) {
        const struct slot_info *info = &c->s->slots[i];
        memcpy(c->key + at, &i, sizeof i);
        memcpy(c->key + at + sizeof i, c->st->vector + info->offset, domain_bytes(info));
        at += (uint32_t)sizeof i + domain_bytes(info);
    }
    return at;
}

/* ---- counting ---- */

/* Decided: one value left, or never to have one. Choices of possible objects are undecided. */
static bool is_undecided(const struct counter *c, uint32_t slot)
{
    const struct slot_info *info = &c->s->slots[slot];
    if (slot < c->s->n_slots && state_dead(c->st, info)) return false;
    return !state_live(c->st, slot) || space_value_count(c->st, slot) > 1;
}

/* The open choice with the fewest values. */
static uint32_t choose(const struct counter *c, const uint64_t *set)
{
    uint32_t best = SPACE_NONE, fewest = UINT32_MAX;
    uint64_t left[MAX_LINKED / 64];
    memcpy(left, set, c->words * sizeof *left);
    for (uint32_t i; take_first(left, c->words, &i);) {
        if (i >= c->s->n_slots || !space_is_open(c->st, i)) continue;
        uint32_t n = space_value_count(c->st, i);
        if (n < fewest) {
            fewest = n;
            best = i;
        }
    }
    return best;
}

static long double count_branches(struct counter *c, uint32_t slot, const uint64_t *set)
{
    long double total = 0;
    uint32_t n = space_universe(c->s, slot);
    if (c->limit && c->result.nodes >= c->limit) c->result.complete = false;
    c->result.nodes++;
    for (uint32_t v = 0; v < n && c->result.complete; v++) {
        if (!space_has_value(c->st, slot, v)) continue;
        space_mark mark = space_snapshot(c->st);
        if (space_apply(c->st, (struct space_action){slot, v}, NULL)) total += count_set(c, set);
        space_rollback(c->st, mark);
    }
    return total;
}

static long double count_component(struct counter *c, const uint64_t *component, uint32_t size)
{
    uint32_t slot = choose(c, component);
    if (slot == SPACE_NONE) return 1;
    if (size == 1 && c->exact) return space_value_count(c->st, slot);
    if (size == 2 || !count_table_pays(c->table)) return count_branches(c, slot, component);
    uint32_t bytes = make_key(c, component);
    uint64_t hash = hash_finish(hash_bytes(HASH_START, c->key, bytes)) | 1;
    long double count;
    if (count_table_find(c->table, hash, c->key, bytes, &count)) return count;
    uint8_t *key = base_malloc(bytes + 1);
    memcpy(key, c->key, bytes);
    count = count_branches(c, slot, component);
    if (c->result.complete) count_table_add(c->table, hash, key, bytes, count);
    free(key);
    return count;
}

/* Moves the component of `first` out of `open`; returns its size. */
static uint32_t take_component(const struct counter *c, uint32_t first, uint64_t *open, uint64_t *component)
{
    uint64_t front[MAX_LINKED / 64] = {0};
    uint32_t size = 0;
    add(front, first);
    for (uint32_t i; take_first(front, c->words, &i); size++) {
        add(component, i);
        for (uint32_t w = 0; w < c->words; w++) {
            uint64_t more = c->linked[(size_t)i * c->words + w] & open[w];
            front[w] |= more;
            open[w] &= ~more;
        }
    }
    return size;
}

/* The product over the components of what is undecided in the set. */
static long double count_set(struct counter *c, const uint64_t *set)
{
    uint64_t open[MAX_LINKED / 64] = {0}, left[MAX_LINKED / 64];
    long double product = 1;
    memcpy(left, set, c->words * sizeof *left);
    for (uint32_t i; take_first(left, c->words, &i);)
        if (is_undecided(c, i)) add(open, i);
    for (uint32_t i; product > 0 && take_first(open, c->words, &i);) {
        uint64_t component[MAX_LINKED / 64] = {0};
        uint32_t size = take_component(c, i, open, component);
        product *= count_component(c, component, size);
    }
    return product;
}

/* A space too large for the links: every leaf is visited. */
static long double count_plain(struct counter *c)
{
    uint32_t slot = space_next_choice(c->st, NULL, 0);
    if (slot == SPACE_NONE) return 1;
    if (c->limit && c->result.nodes >= c->limit) c->result.complete = false;
    long double total = 0;
    c->result.nodes++;
    for (uint32_t v = 0; v < space_universe(c->s, slot) && c->result.complete; v++) {
        if (!space_has_value(c->st, slot, v)) continue;
        space_mark mark = space_snapshot(c->st);
        if (space_apply(c->st, (struct space_action){slot, v}, NULL)) total += count_plain(c);
        space_rollback(c->st, mark);
    }
    return total;
}

static void count_linked(struct counter *c)
{
    uint64_t all[MAX_LINKED / 64] = {0};
    size_t key_bytes = 1;
    for (uint32_t i = 0; i < c->n; i++) {
        add(all, i);
        key_bytes += sizeof i + domain_bytes(&c->s->slots[i]);
    }
    link_slots(c);
    c->key = base_malloc(key_bytes);
    c->result.solutions = count_set(c, all);
    free(c->key);
    free(c->linked);
    free(c->matter);
}

struct space_count space_count(struct space_state *st, uint64_t node_limit)
{
    const struct space *s = st->space;
    struct counter c = {.st = st,
                        .s = s,
                        .n = s->n_all,
                        .limit = node_limit,
                        .result = {.complete = true},
                        .exact = views_exact(s)};
    c.words = (c.n + 63) / 64;
    c.table = count_table_new();
    bool small = count_small(st, c.table, node_limit, &c.result);
    if (!small && c.n <= MAX_LINKED)
        count_linked(&c);
    else if (!small)
        c.result.solutions = count_plain(&c);
    c.result.hits = count_table_hits(c.table);
    count_table_free(c.table);
    return c.result;
}
