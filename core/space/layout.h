/* The layout of a space: what grounding makes of a definition and an instance, and what the engine adds.
 * Shared by the rooms of this folder and by nobody else. A space never changes once space_instantiate() has
 * returned.
 *
 *     choice order(a: S, b: S): { BEFORE, AFTER } antisymmetric ...    S = { p, q, r }, r latent
 *     choice size(s: S): int in { 1, 2, 4 }
 *
 *     slot      0            1            2            3        4        5        6
 *     of        order(p, q)  order(p, r)  order(q, r)  size(p)  size(q)  size(r)  live(r)
 *     live      always       if r is      if r is      always   always   if r is  always
 *
 * Slots are numbered by choice. After those of the choices there is one *liveness slot* for each latent
 * object, with the values 0 (dead) and 1 (live). It is propagated like any other slot, so a trigger is a
 * constraint.
 *
 * A slot that is not live yet has a *conditional* domain: the values that it may have if its objects are all
 * live. It is propagated too (what it excludes stays excluded once it is live), but a constraint writes to it
 * only if every object of the constraint is live or an object of the slot. An empty conditional domain says
 * that its objects are not all live: the last possible one of them is dead. Outside of this folder, and in
 * the canonical form, a slot that is not live has its initial domain.
 *
 * A constraint becomes *instances*: a shape (the formula with its slots numbered 0, 1, ...) and the slots.
 * Instances of one shape share its tables (formula/shape.h). */
#ifndef THRESH_SPACE_LAYOUT_H
#define THRESH_SPACE_LAYOUT_H

#include <stdatomic.h>

#include "core/base/arena.h"
#include "core/space/data.h"
#include "core/space/def.h"
#include "core/space/space.h"

#define SPACE_NONE UINT32_MAX

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
    bool has_cells;            /* that read it or are suspended until it is live */
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

struct set_members {
    const int64_t *ids; /* ascending */
    size_t n;
    const bool *has; /* by id */
};

struct shape;       /* formula/shape.h */
struct instance;    /* formula/shape.h */
struct square;      /* ground/square.h */
struct data_table;  /* data/lookup.h */
struct watch_group; /* engine/events.h, with the next three */
struct watch;
struct pair_watch;
struct pair_events;
struct tabulated; /* engine/table.c */
struct cell;      /* engine/cells.h, with the next three */
struct cell_root;
struct slot_cells;
struct slot_leaf;
struct relation_note; /* engine/relation.h */
struct justify_index; /* engine/justify.c */

struct space {
    const struct space_def *def;
    const struct space_data *data;
    struct arena *arena;
    atomic_ullong *propagations; /* see space_propagation_count(): a statistic, in no order with anything */

    /* ---- the instance, bound to the definition (ground/bind.c) ---- */
    struct set_members *sets;
    int64_t *root_sizes;  /* of each set that is a root: number of ids, for ranges hi + 1 */
    const char **numbers; /* what objects of ranges are called, by id */
    const struct data_table **properties, **set_tables;
    int64_t *parameters;

    /* ---- slots (ground/slots.c) ---- */
    struct choice_index *choices;
    struct universe *universes;
    size_t n_universes, cap_universes;
    struct slot_info *slots;     /* choices, then liveness */
    struct slot_origin *origins; /* of each of them */
    size_t cap_slots, cap_origins;
    uint32_t n_slots, n_all; /* of choices; with liveness */
    uint32_t *group_first;   /* slots of a group are consecutive: [group], [group + 1] */
    uint32_t **liveness;     /* [root set][object] -> slot or NONE */
    uint32_t *latent_root, *latent_object;
    size_t cap_latent;
    uint32_t n_latent;
    uint32_t *first_shared; /* by latent object, and the end: choices of it and of other latent objects that
                               are of no square, in shared_slots[] */
    uint32_t *shared_slots;

    /* ---- constraints (ground/rules.c, ground/triangles.c, formula/shape.c) ---- */
    struct square *squares;
    uint32_t n_squares;
    struct shape *shapes;
    size_t n_shapes, cap_shapes;
    uint32_t max_nodes; /* nodes, or slots, of a shape */
    struct instance *instances;
    size_t n_instances, cap_instances;
    uint32_t *instance_slots;
    size_t n_instance_slots, cap_instance_slots;
    uint32_t *guards; /* liveness slots */
    size_t n_guards, cap_guards;

    struct relation_note *relation_notes; /* constraints that are not propagated as relations */
    size_t n_relation_notes, cap_relation_notes;

    /* ---- the vector (engine/instantiate.c) ---- */
    size_t vector_bytes, canonical_bytes;
    struct slot_at *slot_at;     /* by slot */
    struct slot_at *instance_at; /* of each of instance_slots[] */
    uint32_t *guard_at;          /* of each of guards[]: its offset in the vector */
    uint32_t cells_at;           /* offset of the intervals of the cells */
    uint32_t n_changed_words;    /* of all squares */
    bool *entailed;              /* by instance: true in every candidate, so nothing watches for it */
    uint64_t fingerprint;
    uint8_t *root; /* the vector after the first propagation; NULL: the space is empty */
    struct space_failure root_failure;

    /* ---- who is told of which change (engine/watch.c, engine/cells_build.c, engine/square.c) ---- */
    struct watch_group *watch_groups;
    struct watch *watch;
    struct pair_watch *pair_watch;
    struct tabulated *tables; /* by instance */
    const struct pair_events **pair_events;
    uint32_t n_pair_events;
    struct cell *cells;
    size_t n_cells, cap_cells;
    uint32_t *instance_cells;
    size_t n_instance_cells, cap_instance_cells;
    uint32_t *cell_users;
    struct cell_root *cell_roots;
    struct slot_cells *slot_cells; /* by slot */
    struct slot_leaf *slot_leaves;
    uint32_t *resumed_cells;

    struct justify_index *justify; /* debug builds */
};

static inline uint32_t slot_values(const struct space *s, uint32_t slot) /* of its universe */
{
    return s->universes[s->origins[slot].universe].n;
}

#endif
