/* Cells: the nodes of all formulas over many slots, each once, with their intervals kept in the vector.
 *
 * A formula over many slots is a tree of sums, products, extremes and comparisons over functions of single
 * slots. Equal subtrees of different instances are one cell. Its interval follows from those of its operands,
 * and the leaves' from the domains, so a change of a domain is carried up from the leaves that read it
 * (cells_update), operands before their users, instead of evaluating formulas again. An instance is revisited
 * when anything below its root has changed in a way that can make it remove values.
 *
 * One propagation of   require size(p) * size(q) + size(r) + size(s) <= 12     with sizes in { 1, 2, 4 }
 *
 *                          before           after size(p) = 4
 *     <=                   [0, 1]           [0, 1]
 *       +                  [3, 24]          [6, 24]     3. moved: the instance is queued
 *         *                [1, 16]          [4, 16]     2. moved: its user is marked
 *           size(p)        [1, 4]           [4, 4]      1. its slot has changed: evaluated
 *           size(q)        [1, 4]           [1, 4]
 *         size(r)          [1, 4]           [1, 4]
 *         size(s)          [1, 4]           [1, 4]
 *       12                 [12, 12]         [12, 12]
 *
 * Then the visit (bounds.c) goes down: the sum is at most 12, so the product at most 12 - 1 - 1 = 10, so
 * size(q) at most 10 / 4 = 2, and it loses 4; size(r) and size(s) are at most 12 - 4 - 1 = 7, as they are.
 * The loss of 4 has no further effect: the formula watches lower bounds alone (formula/watched_bounds.c), and
 * upper bounds in the cells may lag behind.
 *
 * A cell whose instances all wait for an object is suspended until that object is live; it is brought up to
 * date then. It is also suspended once the only formula that it is part of is decided. */
#ifndef THRESH_SPACE_ENGINE_CELLS_H
#define THRESH_SPACE_ENGINE_CELLS_H

#include "core/space/engine/events.h"

/* The domain at an offset has one of the values `yes`, and none of the others, `no`. */
struct cell_condition {
    uint64_t yes, no;
    uint32_t at;
};

/* As long as a line of the cache. */
struct cell {
    uint8_t op, n_conditions; /* as the node */
    uint8_t watched;          /* bounds, of any instance: see watched_bounds.c */
    bool is_function;         /* a FUNC, or a TERM with one */
    uint8_t foreign_bits;     /* of the function's domain, see domain_load() */
    bool upper_limited;       /* a TERM that formulas only bound above, by constants */
    bool natural;             /* a product whose factors are never negative */
    bool counts;              /* a TERM of which more may follow the fewer conditions are open */
    uint32_t n;               /* operands */
    uint32_t guards[2];       /* offsets of liveness slots that all its instances need live */
    uint32_t sole_user; /* the only user of its only user, and so on: the last of them, whose value decides
                           all before it; itself, if it has several users or is a root */
    uint32_t users, n_users; /* cells that have it as an operand: in cell_users[] */
    uint32_t roots, n_roots; /* instances whose formula it is: in cell_roots[] */
    uint32_t function;       /* offset of its domain */
    uint32_t slots;          /* of the first of its instances: in instance_slots[] */
    union {
        const uint32_t *kids;                    /* cells */
        const struct cell_condition *conditions; /* TERM */
    };
    const struct shape_node *node; /* as the first of its instances has it */
};

/* Instances that a cell is the root of. */
struct cell_root {
    struct watch watch;
    bool monotone;
    bool checked_only; /* narrows no operand, see formula/watched_bounds.c: only of interest when it cannot be
                          true any more */
};

/* A cell that reads a slot. As long as one of the values `least` and one of `most` are left, nothing that
 * matters has changed in what it reads; 0: it always may have. */
struct slot_leaf {
    uint64_t least, most;
    uint32_t cell;
};

/* The cells that a slot concerns. */
struct slot_cells {
    uint32_t leaves, n_leaves;   /* that read it: in slot_leaves[] */
    uint32_t resumed, n_resumed; /* of a liveness slot: suspended until it is live, in resumed_cells[] */
};

/* What the vector keeps of a cell. */
struct interval {
    int64_t lo, hi;
    uint64_t inner; /* of a TERM: changes when it can prune more, even if the interval does not */
};

static inline struct interval *cell_intervals(const struct space_state *st)
{
    return (struct interval *)(void *)(st->vector + st->space->cells_at);
}

/* The slot that a cell's node numbers so. */
static inline uint32_t cell_slot(const struct space *s, const struct cell *c, uint32_t local)
{
    return s->instance_slots[c->slots + local];
}

/* The domain of its function; of one of several words the first. */
static inline uint64_t cell_domain(const struct space_state *st, const struct cell *c)
{
    return domain_load(st, c->function, c->foreign_bits);
}

/* Makes the cells of all instances without a table and gives them room in the vector. */
void cells_build(struct space *s);
/* Links slots, cells and instances; entailed instances watch nothing. */
void cells_link(struct space *s);
/* Computes all intervals from the domains. */
void cells_fill(struct space_state *st);
/* Whether a cell that reads the slot may be evaluated differently after a loss that leaves `now`. */
bool cells_affected(const struct space *s, uint32_t slot, uint64_t now);
/* Carries changes of domains up to the instances, and queues those. */
void cells_update(struct space_state *st);
/* term.c: removes values with which a TERM is outside of [lo, hi]. */
BASE_MUST_USE bool narrow_term(struct space_state *st, const struct cell *c, int64_t lo, int64_t hi);

#endif
