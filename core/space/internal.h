/* The layout of spaces and states, shared by the files of this folder.
 *
 * A slot that is not live yet has a *conditional* domain: the values that it may have if its objects are all
 * live. It is propagated too (what it excludes stays excluded once it is live), but a constraint writes to it
 * only if every object of the constraint is live or an object of the slot. An empty conditional domain says
 * that its objects are not all live: the last possible one of them is dead. Outside of this folder, and in
 * the canonical form, a slot that is not live has its initial domain. Besides the slots of choices there is
 * one *liveness slot* per latent object, with the values 0 (dead) and 1 (live); it is numbered after the
 * choices and propagated like any slot, so triggers are constraints. A constraint becomes *instances*: a
 * shape (the formula with its slots numbered 0, 1, ...) and the slots. Instances of one shape share its
 * tables. */
#ifndef THRESH_SPACE_INTERNAL_H
#define THRESH_SPACE_INTERNAL_H

#include <stdatomic.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/space/data_internal.h"
#include "core/space/def.h"
#include "core/space/rows.h"
#include "core/space/space.h"

#define SPACE_NONE UINT32_MAX
#define SPACE_MAX_PENDING 8
#define WATCH_TESTS 3
#define PAIR_GUARDS 2
#define SQUARE_YES UINT8_MAX
#define TRIPLE_ENTRIES 4096 /* a power of two */

struct universe {
    uint32_t n;
    const int64_t *codes;
};

/* As long as a line of the cache; what propagation does not read is in struct slot_origin. */
struct slot_info {
    uint64_t mask;                     /* of a word */
    uint32_t offset;                   /* in the vector */
    uint32_t mirror;                   /* offset of the same pair seen from the other object, or NONE */
    uint32_t live_at[SPACE_MAX_ARITY]; /* offsets of the liveness of its latent objects; else of the byte that
                                          is always live */
    uint8_t width;                     /* bytes of a word: 1, 2 or 8 */
    uint8_t arity, n_live;
    uint8_t tuple_choice; /* with tuple_of: which choice of the tuples it is */
    uint16_t words;
    uint16_t group;
    int16_t square;            /* of a pair choice with triangles, or -1 */
    uint16_t row, column;      /* there */
    int16_t tuple_of;          /* square whose relation reads it as a choice of object `row`, or -1 */
    uint32_t groups, n_groups; /* of its watches, in watch_groups[] */
    bool has_cells;            /* that read it or rest until it is live */
};

struct slot_origin {
    uint32_t universe;
    uint32_t live[SPACE_MAX_ARITY];    /* liveness slots of its latent objects */
    uint32_t objects[SPACE_MAX_ARITY]; /* ids in their root sets */
    uint32_t canonical;                /* offset in the canonical form */
};

/* Where a slot of an instance is, for a read without its slot_info. */
struct slot_at {
    uint64_t mask;
    uint32_t offset; /* of its first word */
};

/* Where the slot of given arguments is: a dense table. */
struct choice_index {
    uint32_t sizes[SPACE_MAX_ARITY]; /* objects of each root set */
    uint32_t lo[SPACE_MAX_ARITY];    /* first object: the start of a range set */
    uint32_t *slots;
    const int64_t *mirror_codes;
    uint32_t universe; /* of an enum choice */
};

enum ground_op {
    GROUND_CONST,
    GROUND_FUNC,
    GROUND_ADD,
    GROUND_MUL,
    GROUND_MIN,
    GROUND_MAX,
    GROUND_DIV,
    GROUND_MOD,
    GROUND_NEG,
    GROUND_EQ,
    GROUND_LE,
    GROUND_AND,
    GROUND_OR,
    GROUND_NOT,
    GROUND_ITE,
    GROUND_TERM /* of shapes only: all conditions ? a FUNC or a constant : a constant */
};

/* How the least and the greatest number of a set of values are found. */
enum view_kind {
    VIEW_TABLE,    /* by looking at each */
    VIEW_BOOLEAN,  /* 0 or 1: by the mask of those with 1 */
    VIEW_ASCENDING /* at the ends of the set */
};

/* The numbers of a slot's values. */
struct value_view {
    uint8_t kind;
    bool chain; /* ascending, at least 1, and each divides the next */
    uint32_t n;
    uint64_t yes;
    const int64_t *table;
};

/* A condition of a term: the slot has one of the values `yes`. */
struct shape_condition {
    uint64_t yes;
    uint64_t local;
};

/* A node of a shape; operands come before their users. */
struct shape_node {
    uint8_t op;
    uint8_t n_conditions;   /* TERM */
    bool is_function;       /* TERM: its value is `view` of slot `local`, else imm */
    uint32_t n, first;      /* operands */
    uint32_t local;         /* FUNC, TERM: slot of the instance */
    int64_t imm;            /* CONST, TERM */
    int64_t otherwise;      /* TERM */
    struct value_view view; /* FUNC, TERM */
    const struct shape_condition *conditions;
};

enum shape_kind { SHAPE_UNARY, SHAPE_PAIR, SHAPE_TRIPLE, SHAPE_GENERAL };

/* Which bounds of a node an untabulated formula needs to hear of, see views.c. */
enum { NEED_LOW = 1, NEED_HIGH = 2, NEED_BOTH = 3 };

struct shape {
    enum shape_kind kind;
    uint32_t n_slots, n_nodes;
    const struct shape_node *nodes;
    const uint32_t *kids;
    const uint32_t *sizes; /* universe of each slot */
    const uint64_t *
        forward; /* UNARY: allowed words. PAIR: [v0] -> mask of slot 1. TRIPLE: [v0 * n1 + v1] -> mask of 2 */
    const uint64_t *reverse; /* PAIR: [v1] -> mask of slot 0 */
    const uint64_t *hard;    /* PAIR, TRIPLE: of each slot, values that do not allow everything */
    const uint64_t
        *unions[3]; /* PAIR: [set of values of slot k] -> what they allow the other, if it has at most 11 */
    bool monotone;  /* GENERAL: see views.c */
    bool inert;     /* GENERAL: likewise */
    bool divides;   /* GENERAL: it has quotients or remainders, whose bounds may not be exact */
    bool exact;     /* GENERAL: keeps no value of its last open slot that makes it false */
    bool tangled;   /* GENERAL: many ways lead from its root to what several of its nodes share */
    const void **filters; /* tabulated: of each slot, see enum watch_kind; equal ones are one */
    const uint8_t *needs; /* GENERAL: of each node, see views.c */
    const bool *natural;  /* GENERAL: of each node: a product whose factors are never negative */
};

struct instance {
    uint32_t shape, constraint; /* constraints first, then triggers */
    uint32_t guard_bytes[2]; /* where its guards are, or the byte that is always live; with more than two, the
                                second is one that is never live */
    uint32_t slots;          /* first in instance_slots */
    uint32_t guards, n_guards; /* liveness slots: enforced when all are live */
    uint32_t cells;            /* GENERAL: of its nodes, in instance_cells */
    bool related;              /* part of the relation of a square */
};

struct interval; /* see cells.h */

/* An instance to revisit when a slot changes, unless one of these bytes of the vector, with some bits
 * flipped, has no bit of its mask: then an object is dead or waited for, or what is left of a domain
 * satisfies it. */
struct watch {
    uint32_t instance;
    uint8_t kind; /* enum shape_kind */
    uint8_t n_tests;
    uint8_t masks[WATCH_TESTS], flips[WATCH_TESTS];
    uint32_t bytes[WATCH_TESTS];
};

/* The other slot of a PAIR instance with at most two guards: what the watched slot no longer allows it is
 * taken from it, if each guard is live, or one of its objects and not dead. */
struct pair_watch {
    uint32_t instance, slot, offset;
    uint32_t guard_bytes[PAIR_GUARDS];
    uint8_t foreign_bits;  /* see domain_load() */
    bool own[PAIR_GUARDS]; /* the guard is one of the slot's objects */
};

enum watch_kind {
    WATCH_ALWAYS,
    WATCH_LIVENESS,   /* only when the object becomes live */
    WATCH_UNIONS,     /* a struct pair_watch; the filter is unions[] of the slot */
    WATCH_SUPPORTS,   /* the same for many values: a struct supports */
    WATCH_DOMINATORS, /* TRIPLE: a struct dominators */
    WATCH_FIXED       /* only when one value is left */
};

/* Of a slot of a tabulated shape. Values that allow the others all that v allows *dominate* v; losing v
 * matters if none of them is left. */
struct dominators {
    uint64_t of[64];       /* [v] */
    const uint8_t *losses; /* [values left]: those whose loss matters, of up to 8 values; or NULL */
};

/* Of a slot of a PAIR: its values by what they allow the other slot. */
struct supports {
    uint32_t n;
    struct support {
        uint64_t values, allowed;
    } of[64]; /* [n] */
};

/* Watches of one slot that one filter decides on. */
struct watch_group {
    const void *filter;
    uint32_t first, n;
    uint8_t how; /* enum watch_kind */
};

/* What something besides the square wants to hear of a pair choice; [the values left]. */
struct pair_news {
    uint8_t losses[256]; /* watches: the values whose loss concerns one of them */
    bool cells[256];     /* any loss concerns cells */
};

/* A pair choice as a square of bytes, with the composition of its relation over triangles. Row a holds the
 * values left to (a, b) as seen from a; entries (a, a) and the padding are 0. */
struct square {
    uint32_t n, offset, stride; /* objects; of row 0; of a row, a multiple of ROW_ALIGN */
    uint32_t n_values;
    uint32_t live, present;   /* offsets of rows of SQUARE_YES and 0: objects that are live; not dead */
    uint32_t number;          /* in squares[] */
    uint32_t changed, words;  /* in changed_pairs[] of states: of row 0; of a row */
    const uint32_t *idle;     /* [a * n + b], a < b; bit m % 32: see relation_idle() */
    const uint32_t *news;     /* likewise: in pair_news[], plus 1; 0: nothing else hears of the pair */
    const uint32_t *slots;    /* [a * n + b], both halves */
    const uint32_t *liveness; /* of each object, or NONE */
    const uint32_t *member;   /* by latent object: its number here, or NONE */
    const uint8_t *compose;   /* [mask ab * 256 + mask bc] -> mask ac; all of them if one is 0 */
    rows_composer *compose_rows;
    const bool *allowed; /* [(value ab * n_values + value bc) * n_values + value ac] */
    bool narrow;         /* masks are below 32 */
    uint8_t mirror[256];
    uint32_t constraint;       /* the first of its triangle constraints */
    struct relation *relation; /* or NULL */
};

struct set_members {
    const int64_t *ids; /* ascending */
    size_t n;
    const bool *has; /* by id */
};

struct space {
    const struct space_def *def;
    const struct space_data *data;
    struct arena *arena;
    struct set_members *sets;
    int64_t *root_sizes;  /* of each set that is a root: number of ids, for ranges hi + 1 */
    const char **numbers; /* what objects of ranges are called, by id */
    const struct data_table **properties, **set_tables;
    int64_t *parameters;
    struct choice_index *choices;
    struct universe *universes;
    size_t n_universes, cap_universes;
    struct slot_info *slots;     /* choices, then liveness */
    struct slot_origin *origins; /* of each of them */
    struct slot_at *slot_at;     /* likewise */
    size_t cap_slots, cap_origins;
    uint32_t n_slots, n_all;
    uint32_t **liveness; /* [root set][object] -> slot or NONE */
    uint32_t *latent_root, *latent_object;
    size_t cap_latent;
    uint32_t n_latent;
    uint32_t *first_shared; /* by latent object, and the end: choices of it and of other latent objects that
                               are of no square, in shared_slots[] */
    uint32_t *shared_slots;
    struct square *squares;
    const struct pair_news **pair_news;
    uint32_t n_pair_news;
    uint32_t n_squares;
    uint32_t n_changed_words; /* of all squares */
    struct shape *shapes;
    size_t n_shapes, cap_shapes;
    struct instance *instances;
    size_t n_instances, cap_instances;
    uint32_t *instance_slots;
    struct slot_at *instance_at; /* of each of them */
    size_t n_instance_slots, cap_instance_slots;
    uint32_t *guards;   /* liveness slots */
    uint32_t *guard_at; /* their offsets in the vector */
    size_t n_guards, cap_guards;
    struct watch_group *watch_groups;
    struct watch *watch;
    struct pair_watch *pair_watch;
    struct tabulated *tables; /* by instance, see table.c */
    struct cell *cells;       /* see cells.h */
    size_t n_cells, cap_cells;
    uint32_t cells_at; /* offset of their intervals */
    uint32_t *instance_cells;
    size_t n_instance_cells, cap_instance_cells;
    uint32_t *cell_users;
    struct cell_root *cell_roots;
    struct slot_cells *slot_cells; /* by slot */
    struct slot_leaf *slot_leaves;
    uint32_t *woken_cells;
    bool *entailed;     /* by instance: true in every candidate, so nothing watches for it */
    uint32_t max_nodes; /* nodes, or slots, of a shape */
    size_t vector_bytes, canonical_bytes;
    uint64_t fingerprint;
    uint8_t *root; /* the vector after the first propagation; NULL: the space is empty */
    struct space_failure root_failure;
    atomic_ullong *propagations; /* see space_propagation_count(): a statistic, in no order with anything */
    uint32_t *group_first;       /* slots of a group are consecutive: [group], [group + 1] */
};

/* A direct-mapped cache of what a TRIPLE leaves of three domains. */
struct triple_entry {
    uint64_t domain[3], left[3];
    uint32_t shape; /* + 1; 0: free */
};

/* A write: the eight bytes from `offset` before it. */
struct trail_entry {
    uint64_t old;
    uint32_t offset;
};

/* What a slot is to keep, and the last instance that says so. */
struct want {
    uint64_t allowed;
    uint32_t instance;
};

/* Two slots of an instance, as it numbers them, that were open when it was last looked at; equal: unknown. */
struct open_pair {
    uint32_t local[2];
};

/* A first-in first-out queue of ids, each at most once. */
struct work_queue {
    uint32_t *items; /* a ring */
    uint8_t *queued;
    uint32_t head, n, last; /* last: its size - 1, a power of two less one */
};

struct space_state {
    const struct space *space;
    uint8_t *vector;
    struct trail_entry *trail, *trail_top, *trail_end; /* writes, the next one, the end of the room */
    struct work_queue pairs, rows, quick, slow,
        changed;                  /* objects of squares with changed pairs; objects of squares; tabulated
                                     instances; others; slots whose cells are to be brought up to date */
    uint64_t *changed_pairs;      /* bit b of row a: the pair (a, b), a < b, is to be revisited */
    struct work_queue wanted;     /* slots that are to keep some of their values only */
    struct want *wants;           /* by slot */
    uint64_t *dirty;              /* bits: cells likewise */
    uint32_t first_dirty;         /* a word of them, or NONE */
    struct triple_entry *triples; /* TRIPLE_ENTRIES */
    uint32_t pending[SPACE_MAX_PENDING]; /* liveness slots of the instance at work that are only possible */
    uint32_t n_pending;
    int64_t *scratch;                        /* of the nodes of a shape */
    uint32_t *values;                        /* of the slots of an instance */
    uint32_t failed_slot, failed_constraint; /* NONE and NONE: by the relation of failed_pair */
    uint32_t failed_pair;
    uint8_t lost[2 * ROW_MAX]; /* by two rows of a square */
    struct open_pair *open;    /* by instance, see bounds.c */
    struct interval *limits;   /* by cell, likewise; NULL before a tangled formula is propagated */
    uint64_t justified;        /* combinations that justify.c looked at */
};

/* Where every vector has a byte that reads as a live liveness slot, and one that reads as a dead one; they
 * are no part of the state. */
static inline uint32_t vector_always_live(const struct space *s)
{
    return (uint32_t)s->vector_bytes + 8;
}

static inline uint32_t vector_never_live(const struct space *s)
{
    return (uint32_t)s->vector_bytes + 9;
}

static inline uint64_t vector_word(const uint8_t *v, uint32_t offset, unsigned width)
{
    uint64_t x = 0;
    switch (width) {
    case 1:
        return v[offset];
    case 2:
        return (uint64_t)(v[offset] | v[offset + 1] << 8);
    case 4:
        __builtin_memcpy(&x, v + offset, 4);
        return x;
    default:
        __builtin_memcpy(&x, v + offset, 8);
        return x;
    }
}

static inline void vector_set_word(uint8_t *v, uint32_t offset, unsigned width, uint64_t x)
{
    switch (width) {
    case 1:
        v[offset] = (uint8_t)x;
        break;
    case 2:
        v[offset] = (uint8_t)x;
        v[offset + 1] = (uint8_t)(x >> 8);
        break;
    case 4:
        __builtin_memcpy(v + offset, &x, 4);
        break;
    default:
        __builtin_memcpy(v + offset, &x, 8);
    }
}

/* Eight bytes; the vector is padded by as many. */
static inline uint64_t vector_load(const uint8_t *v, uint32_t offset)
{
    uint64_t x;
    __builtin_memcpy(&x, v + offset, 8);
    return x;
}

static inline void vector_store(uint8_t *v, uint32_t offset, uint64_t x)
{
    __builtin_memcpy(v + offset, &x, 8);
}

static inline uint64_t domain_at(const struct space_state *st, struct slot_at at)
{
    return vector_load(st->vector, at.offset) & at.mask;
}

static inline uint64_t state_word(const struct space_state *st, uint32_t slot, unsigned word)
{
    struct slot_at at = st->space->slot_at[slot];
    return vector_load(st->vector, at.offset + word * 8) & at.mask; /* several words have eight bytes each */
}

enum { LIVENESS_DEAD = 1, LIVENESS_LIVE = 2, LIVENESS_POSSIBLE = 3 }; /* domains of a liveness slot */

static inline bool state_live(const struct space_state *st, uint32_t slot)
{
    const struct slot_info *i = &st->space->slots[slot];
    for (unsigned k = 0; k < i->n_live; k++)
        if (st->vector[i->live_at[k]] != LIVENESS_LIVE) return false;
    return true;
}

static inline bool state_dead(const struct space_state *st, const struct slot_info *i)
{
    for (unsigned k = 0; k < SPACE_MAX_ARITY; k++)
        if (st->vector[i->live_at[k]] == LIVENESS_DEAD) return true;
    return false;
}

static inline bool square_is_live(const struct space_state *st, const struct square *sq, uint32_t object)
{
    return st->vector[sq->live + object];
}

static inline bool square_is_present(const struct space_state *st, const struct square *sq, uint32_t object)
{
    return st->vector[sq->present + object];
}

static inline uint32_t slot_values(const struct space *s, uint32_t slot) /* of its universe */
{
    return s->universes[s->origins[slot].universe].n;
}

static inline int64_t expression_clamp(int64_t x)
{
    return x > SPACE_BIG ? SPACE_BIG : x < -SPACE_BIG ? -SPACE_BIG : x;
}

/* Sum and product, saturating; of operands within SPACE_BIG. */
static inline int64_t expression_add(int64_t x, int64_t y)
{
    return expression_clamp(x + y);
}

static inline int64_t expression_mul_natural(int64_t x, int64_t y) /* neither is negative */
{
    int64_t product;
    if (__builtin_mul_overflow(x, y, &product)) return SPACE_BIG;
    return product > SPACE_BIG ? SPACE_BIG : product;
}

static inline int64_t expression_mul(int64_t x, int64_t y)
{
    int64_t product;
    if (__builtin_mul_overflow(x, y, &product)) return (x < 0) == (y < 0) ? SPACE_BIG : -SPACE_BIG;
    return expression_clamp(product);
}

/* term.c: functions of one slot, and terms, the conditional operands of counters */
void view_of_table(const int64_t *table, uint32_t n, struct value_view *out);
/* Extremes over a set of values of a universe of at most 64; an empty set has lo > hi. */
void view_extremes(const struct value_view *v, uint64_t domain, int64_t *lo, int64_t *hi);
int64_t term_value(const struct shape_node *n, const uint32_t *values);

/* views.c: which bounds an untabulated formula needs to hear of */
void views_find(struct shape *sh, struct arena *a);
bool views_exact(const struct space *s); /* all shapes are exact on their last open slot */

/* watch.c: what to revisit when a slot changes */
void watch_build(struct space *s);
/* For changes of a slot, or of any if it is NONE: liveness of its first objects, and domains that may satisfy
 * it. */
struct watch watch_make(const struct space *s, uint32_t instance, uint32_t slot);
/* The values of a slot of at most eight whose loss concerns a watch when `now` is left. */
uint8_t watch_losses(const struct space *s, uint32_t slot, uint64_t now);
/* Whether the loss of values can make a tabulated instance prune. */
bool watch_matters(const struct dominators *d, uint64_t lost, uint64_t now);

/* ground.c: from formulas to instances */
struct grounder;
struct ground_node;
void ground_all(struct space *s, struct diag *d); /* adds an error if objects wait for themselves */
/* Allocates liveness slots for what triggers may activate. Call after sets and properties are bound. */
void ground_latent(struct space *s, struct diag *d);
/* Static values of a choice's domain with the arguments as variables, into out[]; returns how many, sorted,
 * distinct. All objects count as live, here and in what follows; errors are of definitions. */
size_t ground_choice_values(struct space *s, const struct space_choice *c, const int64_t *args, int64_t *out,
                            size_t room, struct diag *d);
bool ground_choice_where(struct space *s, const struct space_choice *c, const int64_t *args, struct diag *d);
/* The objects of a domain under the variables env[]. */
struct data_list ground_domain(struct space *s, struct arena *a, const struct space_domain *dom,
                               const int64_t *env, struct diag *d);

/* expression.c: ground expressions, simplified as they are built */
struct ground_node {
    uint8_t op;
    uint32_t n;
    struct ground_node **kids;
    int64_t imm;
    uint32_t slot, n_table;
    const int64_t *table;
    bool shared;  /* may stand in several places of a formula: copies of it have the same kids */
    bool settled; /* see ground_rules.c */
};
struct ground_node *expression_const(struct arena *a, int64_t value);
struct ground_node *expression_func(struct arena *a, uint32_t slot, const int64_t *table, uint32_t n);
struct ground_node *expression_make(struct arena *a, enum ground_op op, struct ground_node **kids,
                                    uint32_t n);
struct ground_node *expression_binary(struct arena *a, enum ground_op op, struct ground_node *x,
                                      struct ground_node *y);
struct ground_node *expression_not(struct arena *a, struct ground_node *x);
int64_t expression_apply(enum ground_op op, const int64_t *x, uint32_t n);
/* The value when slots[i] has value values[i]. */
int64_t expression_value(const struct ground_node *g, const uint32_t *slots, const uint32_t *values,
                         uint32_t n);

/* shape.c: shares shapes between instances and tabulates small ones */
struct shape_pool;
struct shape_pool *shape_pool_new(struct space *s);
void shape_pool_free(struct shape_pool *p);
void shape_add_instance(struct shape_pool *p, const struct ground_node *g, uint32_t constraint,
                        const uint32_t *guards, uint32_t n_guards);

static inline void queue_add(struct work_queue *q, uint32_t id)
{
    if (q->queued[id]) return;
    q->queued[id] = 1;
    q->items[(q->head + q->n++) & q->last] = id;
}

static inline uint32_t queue_take(struct work_queue *q)
{
    uint32_t id = q->items[q->head];
    q->head = (q->head + 1) & q->last;
    q->n--;
    q->queued[id] = 0;
    return id;
}

/* engine.c: the worklist */
struct space_state *state_new(const struct space *s);
BASE_MUST_USE bool state_narrow(struct space_state *st, uint32_t slot, unsigned word, uint64_t old,
                                uint64_t now);

/* Removes values of one word of a domain. false: none is left of a live choice. Does nothing to a choice of a
 * dead object, or one that does not depend on what the instance at work waits for. */
BASE_MUST_USE static inline bool state_restrict_word(struct space_state *st, uint32_t slot, unsigned word,
                                                     uint64_t allowed)
{
    uint64_t old = state_word(st, slot, word);
    return (old && !(old & ~allowed)) || state_narrow(st, slot, word, old, old & allowed);
}

BASE_MUST_USE bool state_propagate(struct space_state *st);
/* The pair (a, b) of a square, a < b, is to be revisited. */
static inline void state_queue_pair(struct space_state *st, const struct square *sq, uint32_t a, uint32_t b)
{
    st->changed_pairs[sq->changed + a * sq->words + b / 64] |= UINT64_C(1) << b % 64;
    queue_add(&st->pairs, sq->number * ROW_MAX + a);
}
/* A pair choice that something besides its square hears of has lost values. */
void state_tell_of_pair(struct space_state *st, uint32_t slot, const struct pair_news *news, uint64_t lost,
                        uint64_t now);
void state_queue_instance(struct space_state *st, uint32_t instance);
/* Queues the instance unless its watch says that it has nothing to do. */
void state_queue_watch(struct space_state *st, const struct watch *w);
void state_queue_row(struct space_state *st, uint32_t square,
                     uint32_t object);        /* + ROW_MAX: it became live */
void state_queue_all(struct space_state *st); /* everything that could remove a value */
void state_clear_queues(struct space_state *st);
void state_failure(const struct space_state *st, struct space_failure *why);

void state_grow_trail(struct space_state *st);

static inline space_mark trail_length(const struct space_state *st)
{
    return (space_mark)(st->trail_top - st->trail);
}

/* Writes the bytes of `mask` from an offset on; they go on the trail. */
static inline void state_write(struct space_state *st, uint32_t offset, uint64_t mask, uint64_t value)
{
    uint64_t old = vector_load(st->vector, offset);
    if (st->trail_top == st->trail_end) state_grow_trail(st);
    *st->trail_top++ = (struct trail_entry){old, offset};
    vector_store(st->vector, offset, (old & ~mask) | value);
}

/* square.c: triangles of a pair choice, liveness of its objects */
void square_lay_out(struct space *s, struct square *sq, uint32_t *offset);
void squares_link(struct space *s);                                /* after watches and cells */
void square_fill(struct space_state *st, const struct square *sq); /* what follows from full domains */
void square_set_liveness(struct space_state *st, const struct square *sq, uint32_t object, uint8_t liveness);
/* The changed pairs of an object with those of higher numbers. */
BASE_MUST_USE bool square_propagate_pairs(struct space_state *st, uint32_t square, uint32_t object);
BASE_MUST_USE bool square_propagate_row(struct space_state *st, uint32_t square, uint32_t object);
/* Removes values of row a from column `from` on, a multiple of ROW_ALIGN: those of the pair (a, from + i) are
 * lost[i]. */
BASE_MUST_USE bool square_lose(struct space_state *st, const struct square *sq, uint32_t a, uint32_t from,
                               const uint8_t *lost);
/* The first live pair with two or more values left, as a slot, or NONE. */
uint32_t square_first_open(const struct space_state *st, const struct square *sq);

/* relation.c: constraints of a pair choice and the enum choices of its two objects */
void relation_find(struct space *s, struct square *sq); /* marks instances as related; before the layout */
void relation_lay_out(struct square *sq, uint32_t *offset);
void relation_fill(struct space_state *st, const struct square *sq); /* the tuples of full domains */
/* Removes tuples of an object of which a choice has lost values, and queues its row if that matters. */
void relation_update(struct space_state *st, uint32_t square, uint32_t object, uint32_t choice, uint64_t now);
BASE_MUST_USE bool relation_propagate_row(struct space_state *st, const struct square *sq, uint32_t a);
BASE_MUST_USE bool relation_propagate_pair(struct space_state *st, const struct square *sq, uint32_t a,
                                           uint32_t b);
/* Bit m % 32: the values of mask m of the pair (a, b) exclude no tuples of its objects that all values allow.
 */
uint32_t relation_idle(const struct square *sq, uint32_t a, uint32_t b);

/* Whether an instance can remove values: no guard is dead. Those that are only possible become st->pending.
 */
bool state_find_pending(struct space_state *st, uint32_t instance);
static inline bool state_is_enforced(struct space_state *st, uint32_t instance, const uint32_t *guard_bytes)
{
    bool live = (st->vector[guard_bytes[0]] | st->vector[guard_bytes[1]]) == LIVENESS_LIVE;
    return live || state_find_pending(st, instance);
}

/* How many of the eight bytes' bits at its offset are not of a domain. */
static inline uint8_t slot_foreign_bits(const struct slot_info *info)
{
    return (uint8_t)(64 - 8 * info->width);
}

/* A domain of one word. */
static inline uint64_t domain_load(const struct space_state *st, uint32_t offset, uint8_t foreign_bits)
{
    return vector_load(st->vector, offset) & UINT64_MAX >> foreign_bits;
}

/* What the values of a domain allow another one: the union of the rows of a table. */
static inline uint64_t supports_of(const uint64_t *table, uint64_t domain)
{
    uint64_t mask = 0;
    for (; domain; domain &= domain - 1)
        mask |= table[__builtin_ctzll(domain)];
    return mask;
}

/* Whether the other slot loses something by a loss that leaves `now`, and what it is still allowed. */
static inline bool supports_fall(const struct supports *s, uint64_t lost, uint64_t now, uint64_t *allowed)
{
    uint64_t before = 0, after = 0;
    for (const struct support *x = s->of, *end = x + s->n; x < end; x++) {
        if (x->values & now)
            after |= x->allowed;
        else if (x->values & lost)
            before |= x->allowed;
    }
    *allowed = after;
    return before & ~after;
}

/* table.c: instances with a table */
void tables_build(struct space *s); /* after the layout */
BASE_MUST_USE bool table_propagate(struct space_state *st, uint32_t instance);
bool table_is_consistent(const struct space_state *st, uint32_t instance); /* PAIR: a visit removes nothing */
bool table_entails(const struct space_state *st, uint32_t instance);       /* allows all that is left */

/* bounds.c: instances without a table */
BASE_MUST_USE bool bounds_propagate(struct space_state *st, uint32_t instance);
int64_t shape_value(const struct shape *sh, const uint32_t *values, int64_t *scratch);

#endif
