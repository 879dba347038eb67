/* Shapes: formulas with their slots numbered 0, 1, ..., so that equal formulas over different slots are one.
 *
 *     require forall s, t in S: order(s, t) is BEFORE -> size(s) <= size(t)
 *
 * has one instance for each pair of objects and one shape `#0 is BEFORE -> #1 <= #2` for all of them. Shapes
 * over at most three small choices are tabulated (UNARY, PAIR, TRIPLE); the others are GENERAL, a list of
 * nodes in which operands come before their users, and the last is the root. */
#ifndef THRESH_SPACE_FORMULA_SHAPE_H
#define THRESH_SPACE_FORMULA_SHAPE_H

#include "core/space/formula/expression.h"
#include "core/space/layout.h"

enum {
    PAIR_VALUES = 64,   /* of each choice of a PAIR or TRIPLE, at most */
    TRIPLE_TABLE = 8192 /* combinations of values of a TRIPLE, at most */
};

/* ---- functions of one slot ---- */

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

void view_of_table(const int64_t *table, uint32_t n, struct value_view *out);
/* Extremes over a set of values of a universe of at most 64; an empty set has lo > hi. */
void view_extremes(const struct value_view *v, uint64_t domain, int64_t *lo, int64_t *hi);

/* ---- nodes ---- */

/* A condition of a term: the slot has one of the values `yes`. */
struct shape_condition {
    uint64_t yes;
    uint64_t local;
};

/* A node of a shape; operands come before their users. */
struct shape_node {
    uint8_t op;             /* enum formula_op */
    uint8_t n_conditions;   /* TERM */
    bool is_function;       /* TERM: its value is `view` of slot `local`, else imm */
    uint32_t n, first;      /* operands */
    uint32_t local;         /* FUNC, TERM: slot of the instance */
    int64_t imm;            /* CONST, TERM */
    int64_t otherwise;      /* TERM */
    struct value_view view; /* FUNC, TERM */
    const struct shape_condition *conditions;
};

/* `conditions ? value : otherwise` under an assignment. */
int64_t term_value(const struct shape_node *n, const uint32_t *values);

/* ---- shapes ---- */

enum shape_kind { SHAPE_UNARY, SHAPE_PAIR, SHAPE_TRIPLE, SHAPE_GENERAL };

/* Bounds of a node that propagation has to watch, see watched_bounds.c. */
enum { BOUND_LOW = 1, BOUND_HIGH = 2, BOUND_BOTH = 3 };

struct shape {
    enum shape_kind kind;
    uint32_t n_slots, n_nodes;
    const struct shape_node *nodes;
    const uint32_t *kids;
    const uint32_t *sizes; /* universe of each slot */
    const uint64_t *
        forward; /* UNARY: allowed words. PAIR: [v0] -> mask of slot 1. TRIPLE: [v0 * n1 + v1] -> mask of 2 */
    const uint64_t *reverse;      /* PAIR: [v1] -> mask of slot 0 */
    const uint64_t *constraining; /* PAIR, TRIPLE: of each slot, values that do not allow everything */
    const uint64_t
        *unions[3]; /* PAIR: [set of values of slot k] -> what they allow the other, if it has at most 11 */
    bool monotone;  /* GENERAL: see watched_bounds.c */
    bool checked_only; /* GENERAL: likewise */
    bool divides;      /* GENERAL: it has quotients or remainders, whose bounds may not be exact */
    bool exact;        /* GENERAL: keeps no value of its last open slot that makes it false */
    bool many_paths;   /* GENERAL: many ways lead from its root to what several of its nodes share */
    const void *
        *filters; /* tabulated: of each slot, see enum watch_kind (engine/events.h); equal ones are one */
    const uint8_t *watched; /* GENERAL: of each node, which bounds; see watched_bounds.c */
    const bool *natural;    /* GENERAL: of each node: a product whose factors are never negative */
};

/* A constraint at given objects. */
struct instance {
    uint32_t shape, constraint; /* constraints first, then triggers */
    uint32_t guard_bytes[2]; /* where its guards are, or the byte that is always live; with more than two, the
                                second is one that is never live */
    uint32_t slots;          /* first in instance_slots */
    uint32_t guards, n_guards; /* liveness slots: enforced when all are live */
    uint32_t cells;            /* GENERAL: of its nodes, in instance_cells */
    bool related;              /* part of the relation of a square, which propagates it */
};

/* The formula under an assignment of its slots; `scratch`: one number for each node. */
int64_t shape_value(const struct shape *sh, const uint32_t *values, int64_t *scratch);
/* Whether all GENERAL shapes are exact on their last open slot. */
bool formulas_are_exact(const struct space *s);

/* ---- filters: which losses of a slot of a tabulated shape matter ---- */

/* Of a slot of a TRIPLE. Values that allow the others all that v allows *dominate* v; losing v matters if
 * none of them is left. */
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

/* What the values of a domain allow another one: the union of the rows of a table. */
static inline uint64_t supports_of(const uint64_t *table, uint64_t domain)
{
    uint64_t mask = 0;
    for (; domain; domain &= domain - 1)
        mask |= table[__builtin_ctzll(domain)];
    return mask;
}

/* ---- making them ---- */

/* tabulate.c: the kind of a new shape; the tables and filters of one that is tabulated. */
struct intern_table;
void shape_tabulate(struct shape *sh, struct arena *a, struct intern_table *tables);
/* watched_bounds.c: which bounds of a GENERAL shape are watched, and what follows. */
void watched_bounds_find(struct shape *sh, struct arena *a);

/* shape.c: adds instances to a space. Equal ones are added once. */
struct shape_pool;
struct shape_pool *shape_pool_new(struct space *s);
void shape_pool_free(struct shape_pool *p);
void shape_add_instance(struct shape_pool *p, const struct expression *g, uint32_t constraint,
                        const uint32_t *guards, uint32_t n_guards);

/* clauses.c: the clauses of one constraint, joined where that makes few slots one table. */
struct clauses;
struct clauses *clauses_new(struct shape_pool *pool, uint32_t constraint);
/* The clause and its guards are copied. */
void clauses_add(struct clauses *c, const struct expression *body, const uint32_t *guards, size_t n_guards);
void clauses_finish(struct clauses *c); /* makes the instances; frees c */

#endif
