/* Instances with a table: constraints over at most three small choices, made arc consistent by look-ups.
 *
 *     kind(p) is L -> size(p) <= 2      size(p) in { 1, 2, 4 }
 *
 * Each value of kind(p) has the mask of what it allows size(p): L { 1, 2 }, M { 1, 2, 4 }; and the other way
 * round. When size(p) loses 1 and 2, the masks of what is left, { 4 }, are united: kind(p) keeps { M }. For
 * up to 11 values the union of every set is in a table of its own.
 *
 * Most visits are of these, so what a visit reads of one is in one cache line. Pairs are mostly not visited
 * at all: the write that takes a support away says at once what the other slot keeps (struct pair_watch). */
#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/space/engine/propagators.h"

struct tabulated {
    const uint64_t *forward, *reverse; /* PAIR: by value, or if small[k] by set of values, of slot k. TRIPLE,
                                          UNARY: as in the shape */
    uint32_t guard_bytes[2];           /* where its first two guards are, or the byte that is always live */
    uint32_t offsets[3], slots[3];     /* of its domains in the vector */
    uint32_t shape, constraint;
    uint8_t foreign_bits[3]; /* of each, see domain_load() */
    uint8_t kind, small;     /* small: bits */
};

static struct tabulated tabulate(const struct space *s, const struct instance *in)
{
    const struct shape *sh = &s->shapes[in->shape];
    struct tabulated t = {.forward = sh->unions[0] ? sh->unions[0] : sh->forward,
                          .reverse = sh->unions[1] ? sh->unions[1] : sh->reverse,
                          .guard_bytes = {in->guard_bytes[0], in->guard_bytes[1]},
                          .shape = in->shape,
                          .constraint = in->constraint,
                          .kind = sh->kind,
                          .small = (uint8_t)((sh->unions[0] != NULL) | (sh->unions[1] != NULL) << 1)};
    for (uint32_t k = 0; k < sh->n_slots; k++) {
        t.slots[k] = s->instance_slots[in->slots + k];
        t.offsets[k] = s->slots[t.slots[k]].offset;
        t.foreign_bits[k] = slot_foreign_bits(&s->slots[t.slots[k]]);
    }
    return t;
}

void tables_build(struct space *s)
{
    s->tables = ARENA_ARRAY(s->arena, struct tabulated, s->n_instances + 1);
    for (size_t i = 0; i < s->n_instances; i++)
        if (s->shapes[s->instances[i].shape].kind != SHAPE_GENERAL)
            s->tables[i] = tabulate(s, &s->instances[i]);
}

static inline uint64_t domain_of(const struct space_state *st, const struct tabulated *t, unsigned k)
{
    return domain_load(st, t->offsets[k], t->foreign_bits[k]);
}

/* The values of an operand. A choice without any is one of a dead object: it may have any. */
static inline uint64_t operand(const struct space_state *st, const struct tabulated *t, unsigned k)
{
    uint64_t domain = domain_of(st, t, k);
    return domain ? domain : UINT64_MAX >> (64 - st->space->shapes[t->shape].sizes[k]);
}

/* Keeps some values of an operand; one without any is asked about again. */
static inline bool keep(struct space_state *st, const struct tabulated *t, unsigned k, uint64_t left)
{
    uint64_t now = domain_of(st, t, k);
    return (now && !(now & ~left)) || state_narrow(st, t->slots[k], 0, now, now & left);
}

static uint64_t supports(const uint64_t *table, bool small, uint64_t domain)
{
    return small ? table[domain] : supports_of(table, domain);
}

static bool propagate_unary(struct space_state *st, const struct tabulated *t)
{
    for (unsigned w = 0; w < st->space->slots[t->slots[0]].words; w++)
        if (!state_restrict_word(st, t->slots[0], w, t->forward[w])) return false;
    return true;
}

static bool propagate_pair(struct space_state *st, const struct tabulated *t)
{
    uint64_t x = operand(st, t, 0), y = operand(st, t, 1);
    uint64_t to_y = supports(t->forward, t->small & 1, x), to_x = supports(t->reverse, t->small & 2, y);
    return keep(st, t, 1, to_y) && keep(st, t, 0, to_x);
}

bool table_is_consistent(const struct space_state *st, uint32_t instance)
{
    const struct tabulated *t = &st->space->tables[instance];
    uint64_t x = domain_of(st, t, 0), y = domain_of(st, t, 1);
    return x && y && !(y & ~supports(t->forward, t->small & 1, x)) &&
           !(x & ~supports(t->reverse, t->small & 2, y));
}

/* Values of three slots that take part in a solution. */
static void triple_supports(const struct shape *sh, const uint64_t *domain, uint64_t *left)
{
    left[0] = left[1] = left[2] = 0;
    for (uint64_t i = domain[0]; i; i &= i - 1) {
        const uint64_t *row = sh->forward + (uint32_t)__builtin_ctzll(i) * sh->sizes[1];
        for (uint64_t k = domain[1]; k; k &= k - 1) {
            uint64_t both = row[__builtin_ctzll(k)] & domain[2];
            if (!both) continue;
            left[0] |= i & -i;
            left[1] |= k & -k;
            left[2] |= both;
        }
    }
}

/* The same, remembered: the few domains that occur come back in many instances and descents. */
static const uint64_t *recall_supports(struct space_state *st, uint32_t shape, const uint64_t *domain)
{
    uint64_t hash = (domain[0] ^ domain[1] << 21 ^ domain[2] << 42 ^ domain[2] >> 22 ^ (uint64_t)shape << 7) *
                    UINT64_C(0x9e3779b97f4a7c15);
    struct triple_entry *e = &st->triples[hash >> 52 & (TRIPLE_ENTRIES - 1)];
    bool known = e->shape == shape + 1 && e->domain[0] == domain[0] && e->domain[1] == domain[1] &&
                 e->domain[2] == domain[2];
    if (!known) {
        *e = (struct triple_entry){.domain = {domain[0], domain[1], domain[2]}, .shape = shape + 1};
        triple_supports(&st->space->shapes[shape], domain, e->left);
    }
    return e->left;
}

static bool propagate_triple(struct space_state *st, const struct tabulated *t)
{
    uint64_t domain[3] = {operand(st, t, 0), operand(st, t, 1), operand(st, t, 2)};
    const uint64_t *left = recall_supports(st, t->shape, domain);
    return keep(st, t, 0, left[0]) && keep(st, t, 1, left[1]) && keep(st, t, 2, left[2]);
}

bool table_propagate(struct space_state *st, uint32_t instance)
{
    const struct tabulated *t = &st->space->tables[instance];
    if (!state_is_enforced(st, instance, t->guard_bytes)) return true;
    st->failed_constraint = t->constraint;
    st->failed_slot = SPACE_NONE;
    switch ((enum shape_kind)t->kind) {
    case SHAPE_UNARY:
        return propagate_unary(st, t);
    case SHAPE_PAIR:
        return propagate_pair(st, t);
    case SHAPE_TRIPLE:
        return propagate_triple(st, t);
    case SHAPE_GENERAL:
        break;
    }
    PANIC("a table of unknown kind");
}

/* Whether all words of a domain are allowed. */
static bool entails_unary(const struct space_state *st, const struct tabulated *t)
{
    for (unsigned w = 0; w < st->space->slots[t->slots[0]].words; w++)
        if (state_word(st, t->slots[0], w) & ~t->forward[w]) return false;
    return true;
}

bool table_entails(const struct space_state *st, uint32_t instance)
{
    const struct tabulated *t = &st->space->tables[instance];
    const struct shape *sh = &st->space->shapes[t->shape];
    if (sh->kind == SHAPE_UNARY) return entails_unary(st, t);
    bool triple = sh->kind == SHAPE_TRIPLE;
    uint64_t last = operand(st, t, triple ? 2 : 1), middle = triple ? operand(st, t, 1) : 1;
    uint32_t columns = triple ? sh->sizes[1] : 1;
    for (uint64_t x = operand(st, t, 0); x; x &= x - 1)
        for (uint64_t y = middle; y; y &= y - 1)
            if (last & ~sh->forward[(uint32_t)__builtin_ctzll(x) * columns + (uint32_t)__builtin_ctzll(y)])
                return false;
    return true;
}
