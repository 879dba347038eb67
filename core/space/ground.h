/* Grounding: formulas over objects become expressions over slots. Shared by ground.c (formulas),
 * ground_rules.c (constraints and triggers) and ground_square.c (triangles of a pair choice). */
#ifndef THRESH_SPACE_GROUND_H
#define THRESH_SPACE_GROUND_H

#include "core/space/internal.h"

/* The liveness slots that a formula relies on. */
struct frame {
    uint32_t *items;
    size_t n, cap;
    const struct frame *outer;
};

struct grounder {
    struct space *s;
    struct arena *a;
    int64_t env[SPACE_MAX_VARS]; /* objects of the variables */
    struct frame *frame;         /* innermost; NULL: liveness is not wanted */
};

/* A growing list of numbers. */
struct items {
    int64_t *at;
    size_t n, cap;
};

extern const int64_t GROUND_LIVE_TABLE[2]; /* of a liveness slot: dead 0, live 1 */

struct ground_node *ground_formula(struct grounder *g, int32_t node);
/* The value of a node without choices; -1 if it has some. */
int64_t ground_static(struct grounder *g, int32_t node);
/* Appends the elements of a list node. */
void ground_collect(struct grounder *g, int32_t node, struct items *out);
/* The liveness slot of an object, or NONE. */
uint32_t ground_liveness_of(const struct space *s, int32_t root, int64_t object);
/* Notes that the formula relies on a latent object, unless a frame around it has done so. */
void ground_rely_on(struct grounder *g, uint32_t live);
/* The condition that all objects of a frame are live. */
struct ground_node *ground_all_live(struct grounder *g, const struct frame *f);
/* The slot of a choice of these objects, or NONE. */
uint32_t ground_slot_of(const struct space *s, int32_t choice, const int64_t *args, unsigned n);
/* Calls `visit` for every tuple of distinct objects of a `forall` prefix, from variable `at` on. */
void ground_each_tuple(struct grounder *g, int32_t domains, unsigned n, unsigned at,
                       void (*visit)(struct grounder *g, const void *what), const void *what);

/* clauses.c: the clauses of one constraint, joined where that makes few slots one table. */
struct clauses;
struct clauses *clauses_new(struct shape_pool *pool, uint32_t constraint);
void clauses_add(struct clauses *c, const struct ground_node *body, const struct frame *guards); /* copied */
void clauses_finish(struct clauses *c); /* makes the instances; frees c */

/* ground_square.c: the pair choice of a triangle constraint, or -1; and all squares of the space. */
int32_t ground_triangle_choice(const struct space *s, const struct space_constraint *c);
void ground_squares(struct space *s);

#endif
