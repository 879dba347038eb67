/* Counting by independent groups of choices (R. J. Bayardo and J. D. Pehoushek, "Counting models using
 * connected components", AAAI 2000), with component caching (T. Sang et al., "Combining component caching and
 * clause learning for effective model counting", SAT 2004).
 *
 *     require a <= b      require c <= d      all in { 1, 2, 4 }
 *
 * has the components {a, b} and {c, d} with 6 solutions each, so 6 * 6 = 36 solutions.
 *
 * Two undecided slots are connected if a constraint that the root does not entail is over both. Each
 * connected component is counted alone and the counts are multiplied. The count of a component depends on the
 * domains of its slots and on the decided slots that share a constraint with them: these are the key under
 * which it is kept. A decided slot of a tabulated pair is no part of the key: its effect is in the domain of
 * the other. */
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/space/count/private.h"

enum { MAX_LINKED = 2048 }; /* slots of a part that is divided further as choices are decided */

/* Lists of numbers below n, by another one; SPACE_NONE ends a list. */
struct lists {
    uint32_t *first, *next;
};

/* A *part* is what no constraint connects with the rest, whatever is decided. The parts are counted one after
 * the other; slots of the part at work are known by their places in it. */
struct counter {
    struct space_state *st;
    const struct space *s;
    uint32_t *part;                    /* by slot: another one of its part, or itself */
    struct lists members, instances;   /* by the slot that stands for a part */
    uint32_t *slots, *place, n, words; /* of the part at work; by slot: its place; 64-bit words of a set */
    uint64_t *linked;                  /* [place * words]: slots that share a constraint with it */
    uint64_t *matter;                  /* the same, without tabulated pairs */
    struct count_table *table;
    uint64_t limit;
    bool exact; /* the values of the last open choice of a component are all solutions */
    struct space_count result;
    uint8_t *key; /* scratch */
};

static long double count_set(struct counter *c, const uint64_t *set);
static long double count_leaves(struct counter *c);

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

/* ---- parts ---- */

/* Slots and guards of an instance. */
static uint32_t operand_count(const struct space *s, const struct instance *in)
{
    return s->shapes[in->shape].n_slots + in->n_guards;
}

static uint32_t operand(const struct space *s, const struct instance *in, uint32_t k)
{
    uint32_t n = s->shapes[in->shape].n_slots;
    return k < n ? s->instance_slots[in->slots + k] : s->guards[in->guards + k - n];
}

static uint32_t part_of(struct counter *c, uint32_t slot)
{
    while (c->part[slot] != slot)
        slot = c->part[slot] = c->part[c->part[slot]];
    return slot;
}

static void join(struct counter *c, uint32_t x, uint32_t y)
{
    c->part[part_of(c, x)] = part_of(c, y);
}

static void join_all(struct counter *c)
{
    const struct space *s = c->s;
    for (uint32_t i = 0; i < s->n_all; i++)
        c->part[i] = i;
    for (size_t i = 0; i < s->n_instances; i++)
        for (uint32_t k = 1; !s->entailed[i] && k < operand_count(s, &s->instances[i]); k++)
            join(c, operand(s, &s->instances[i], 0), operand(s, &s->instances[i], k));
    for (uint32_t i = 0; i < s->n_slots; i++) {
        if (s->slots[i].square >= 0) join(c, i, s->squares[s->slots[i].square].slots[1]);
        for (unsigned k = 0; k < s->slots[i].n_live; k++)
            join(c, i, s->origins[i].live[k]);
    }
}

static struct lists new_lists(size_t n_first, size_t n_next)
{
    struct lists l = {base_malloc((n_first + 1) * sizeof *l.first),
                      base_malloc((n_next + 1) * sizeof *l.next)};
    memset(l.first, 0xff, n_first * sizeof *l.first);
    return l;
}

static void put(struct lists *l, uint32_t list, uint32_t number)
{
    l->next[number] = l->first[list];
    l->first[list] = number;
}

static void find_parts(struct counter *c)
{
    const struct space *s = c->s;
    c->part = base_malloc((s->n_all + 1) * sizeof *c->part);
    join_all(c);
    c->members = new_lists(s->n_all, s->n_all);
    c->instances = new_lists(s->n_all, s->n_instances);
    for (uint32_t i = s->n_all; i-- > 0;)
        put(&c->members, part_of(c, i), i);
    for (uint32_t i = 0; i < s->n_instances; i++)
        if (!s->entailed[i] && operand_count(s, &s->instances[i]))
            put(&c->instances, part_of(c, operand(s, &s->instances[i], 0)), i);
}

/* ---- which slots of a part share a constraint ---- */

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

static void link_instance(struct counter *c, const struct instance *in)
{
    uint64_t group[MAX_LINKED / 64] = {0};
    for (uint32_t k = 0; k < operand_count(c->s, in); k++)
        add(group, c->place[operand(c->s, in, k)]);
    link_all(c, group, c->s->shapes[in->shape].kind != SHAPE_PAIR || in->n_guards);
}

static void link_square(struct counter *c, int16_t square)
{
    uint64_t group[MAX_LINKED / 64] = {0};
    for (uint32_t i = 0; i < c->n; i++)
        if (c->slots[i] < c->s->n_slots && c->s->slots[c->slots[i]].square == square) add(group, i);
    link_all(c, group, true);
}

static void link_liveness(struct counter *c, uint32_t place)
{
    const struct slot_origin *origin = &c->s->origins[c->slots[place]];
    for (unsigned k = 0; k < c->s->slots[c->slots[place]].n_live; k++) {
        uint64_t group[MAX_LINKED / 64] = {0};
        add(group, place);
        add(group, c->place[origin->live[k]]);
        link_all(c, group, true);
    }
}

static void link_part(struct counter *c, uint32_t part)
{
    const struct space *s = c->s;
    for (uint32_t i = c->instances.first[part]; i != SPACE_NONE; i = c->instances.next[i])
        link_instance(c, &s->instances[i]);
    for (uint32_t q = 0; q < s->n_squares; q++)
        if (s->squares[q].n > 1 && part_of(c, s->squares[q].slots[1]) == part) link_square(c, (int16_t)q);
    for (uint32_t i = 0; i < c->n && c->slots[i] < s->n_slots; i++)
        link_liveness(c, i);
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
        uint32_t slot = c->slots[i];
        const struct slot_info *info = &c->s->slots[slot];
        memcpy(c->key + at, &slot, sizeof slot);
        memcpy(c->key + at + sizeof slot, c->st->vector + info->offset, domain_bytes(info));
        at += (uint32_t)sizeof slot + domain_bytes(info);
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

/* The open choice with the fewest values, or NONE. */
static uint32_t choose(const struct counter *c, const uint64_t *set)
{
    uint32_t best = SPACE_NONE, fewest = UINT32_MAX;
    uint64_t left[MAX_LINKED / 64];
    memcpy(left, set, c->words * sizeof *left);
    for (uint32_t i; take_first(left, c->words, &i);) {
        uint32_t slot = c->slots[i];
        if (slot >= c->s->n_slots || !space_is_open(c->st, slot)) continue;
        uint32_t n = space_value_count(c->st, slot);
        if (n < fewest) {
            fewest = n;
            best = slot;
        }
    }
    return best;
}

/* The sum over the values of a choice of what is left: of a set, or of the whole part if it is NULL. */
static long double count_branches(struct counter *c, uint32_t slot, const uint64_t *set)
{
    long double total = 0;
    uint32_t n = space_universe(c->s, slot);
    if (c->limit && c->result.nodes >= c->limit) c->result.complete = false;
    c->result.nodes++;
    for (uint32_t v = 0; v < n && c->result.complete; v++) {
        if (!space_has_value(c->st, slot, v)) continue;
        space_mark mark = space_snapshot(c->st);
        if (space_apply(c->st, (struct space_action){slot, v}, NULL))
            total += set ? count_set(c, set) : count_leaves(c);
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
        if (is_undecided(c, c->slots[i])) add(open, i);
    for (uint32_t i; product > 0 && take_first(open, c->words, &i);) {
        uint64_t component[MAX_LINKED / 64] = {0};
        uint32_t size = take_component(c, i, open, component);
        product *= count_component(c, component, size);
    }
    return product;
}

/* A part too large for the links: every leaf of it is visited. */
static long double count_leaves(struct counter *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (c->slots[i] < c->s->n_slots && space_is_open(c->st, c->slots[i]))
            return count_branches(c, c->slots[i], NULL);
    return 1;
}

static long double count_linked(struct counter *c, uint32_t part)
{
    uint64_t all[MAX_LINKED / 64] = {0};
    for (uint32_t i = 0; i < c->n; i++)
        add(all, i);
    c->words = (c->n + 63) / 64;
    c->linked = base_calloc((size_t)c->n * c->words, sizeof *c->linked);
    c->matter = base_calloc((size_t)c->n * c->words, sizeof *c->matter);
    link_part(c, part);
    long double count = count_set(c, all);
    free(c->linked);
    free(c->matter);
    return count;
}

static long double count_part(struct counter *c, uint32_t part)
{
    c->n = 0;
    for (uint32_t i = c->members.first[part]; i != SPACE_NONE; i = c->members.next[i]) {
        c->place[i] = c->n;
        c->slots[c->n++] = i;
    }
    return c->n <= MAX_LINKED ? count_linked(c, part) : count_leaves(c);
}

/* The product over all parts. */
static long double count_parts(struct counter *c)
{
    const struct space *s = c->s;
    size_t key_bytes = 1;
    long double product = 1;
    find_parts(c);
    c->slots = base_malloc((s->n_all + 1) * sizeof *c->slots);
    c->place = base_malloc((s->n_all + 1) * sizeof *c->place);
    for (uint32_t i = 0; i < s->n_all; i++)
        key_bytes += sizeof i + domain_bytes(&s->slots[i]);
    c->key = base_malloc(key_bytes);
    for (uint32_t i = 0; i < s->n_all && product > 0; i++)
        if (c->members.first[i] != SPACE_NONE) product *= count_part(c, i);
    free(c->key);
    free(c->place);
    free(c->slots);
    free(c->instances.first);
    free(c->instances.next);
    free(c->members.first);
    free(c->members.next);
    free(c->part);
    return product;
}

static struct space_count count_within(struct space_state *st, uint64_t node_limit, uint64_t small_limit)
{
    struct counter c = {.st = st,
                        .s = st->space,
                        .limit = node_limit,
                        .result = {.complete = true},
                        .exact = formulas_are_exact(st->space)};
    c.table = count_table_new();
    if (!count_small(st, c.table, small_limit, &c.result)) c.result.solutions = count_parts(&c);
    c.result.hits = count_table_hits(c.table);
    count_table_free(c.table);
    return c.result;
}

struct space_count space_count(struct space_state *st, uint64_t node_limit)
{
    return count_within(st, node_limit, node_limit);
}

/* Nodes of half a second. One takes about as long as the square of the number of values that are open. */
static uint64_t nodes_at_once(const struct space_state *st)
{
    enum { NODES = 1 << 14, VALUES = 800 /* up to which it is short */, LEAST = 64 };
    double values = 0;
    for (uint32_t i = 0; i < space_slot_count(st->space); i++)
        if (space_is_open(st, i)) values += space_value_count(st, i);
    double share = values > VALUES ? VALUES / values : 1, nodes = NODES * share * share;
    return nodes > LEAST ? (uint64_t)nodes : LEAST;
}

struct space_count space_count_at_once(struct space_state *st)
{
    enum { SMALL_NODES = 1 << 21 };
    return count_within(st, nodes_at_once(st), SMALL_NODES);
}
