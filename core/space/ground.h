/* Grounding: formulas over objects become expressions over slots. Shared by ground.c (formulas),
 * ground_object.c (objects that depend on choices), ground_rules.c (constraints and triggers) and
 * ground_square.c (triangles of a pair choice). */
#ifndef THRESH_SPACE_GROUND_H
#define THRESH_SPACE_GROUND_H

#include "core/space/internal.h"

/* The liveness slots that a formula relies on, and conditions on others, under which alone it counts. */
struct frame {
    uint32_t *items;
    size_t n, cap;
    struct ground_node **conditions;
    size_t n_conditions, cap_conditions;
    const struct frame *outer;
};

struct grounder {
    struct space *s;
    struct arena *a;
    int64_t env[SPACE_MAX_VARS];          /* objects of the variables */
    struct frame *frame;                  /* innermost; NULL: liveness is not wanted */
    bool all_live;                        /* what is grounded is the same whichever objects are live */
    uint32_t depth;                       /* of the formula at hand */
    struct calls *calls;                  /* what was grounded before, in the arena; NULL: nothing */
    struct calls *static_calls;           /* the same of what ground_static() was asked */
    uint32_t *steps;                      /* by definition: calls at work; likewise */
    const struct space_define *too_large; /* a definition that goes to too many objects, or NULL */
    const struct space_define *cyclic;    /* one that comes back to the same object, or NULL */
};

/* An operation on given objects. */
typedef struct ground_node *ground_operation(struct grounder *g, const struct space_node *n,
                                             const int64_t *args, void *ctx);
/* A condition on an object. */
typedef struct ground_node *ground_test(struct grounder *g, struct ground_node *object, void *ctx);

/* A growing list of numbers. */
struct items {
    int64_t *at;
    size_t n, cap;
};

extern const int64_t GROUND_LIVE_TABLE[2]; /* of a liveness slot: dead 0, live 1 */

struct ground_node *ground_formula(struct grounder *g, int32_t node);
/* The value of a node without choices, where all objects count that may be live; -1 if it has some. */
int64_t ground_static(struct grounder *g, int32_t node);
/* Appends the elements of a list node. */
void ground_collect(struct grounder *g, int32_t node, struct items *out);
/* The liveness slot of an object, or NONE. */
uint32_t ground_liveness_of(const struct space *s, int32_t root, int64_t object);
/* Notes that the formula relies on a latent object, unless a frame around it has done so. */
void ground_rely_on(struct grounder *g, uint32_t live);
/* Notes that the formula counts only if the condition holds. */
void ground_rely_if(struct grounder *g, struct ground_node *condition);
/* The condition that all objects of a frame are live. */
struct ground_node *ground_all_live(struct grounder *g, const struct frame *f);
/* The objects of a domain. */
struct data_list ground_objects(struct grounder *g, const struct space_domain *dom);
/* The value of a property that is no list. */
int64_t ground_property_of(struct grounder *g, const struct space_node *n, const int64_t *args);
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

/* ground_object.c: an operation whose operands depend on choices, joined over the objects that they may be.
 */
struct ground_node *ground_over_cases(struct grounder *g, const struct space_node *n, bool condition,
                                      ground_operation *operation, void *ctx);
/* Whether the node is an object that may depend on choices; whether both are objects, and one of them so. */
bool ground_is_object(const struct grounder *g, int32_t node);
bool ground_are_objects(const struct grounder *g, int32_t x, int32_t y);
struct ground_node *ground_object(struct grounder *g, int32_t node); /* its id */
struct ground_node *ground_same_object(struct grounder *g, int32_t x, int32_t y);
struct ground_node *ground_object_test(struct grounder *g, int32_t node, ground_test *test, void *ctx);
/* A definition is at fault, so that what was grounded means nothing. */
bool ground_failed(const struct grounder *g);
/* Says which. */
void ground_report(const struct grounder *g, struct diag *d);
/* A recursive definition that is a number or a condition. */
struct ground_node *ground_call(struct grounder *g, const struct space_node *n, const int64_t *args,
                                void *ctx);

/* ground_square.c: the pair choice of a triangle constraint, or -1; and all squares of the space. */
int32_t ground_triangle_choice(const struct space *s, const struct space_constraint *c);
void ground_squares(struct space *s);

#endif
