/* Grounding: formulas over objects become expressions over slots, and constraints become instances.
 *
 * The engine calls these, in this order:
 *
 *     bind.c         sets, parameters and properties of the instance
 *     rules.c        which objects are latent
 *     slots.c        choices become slots
 *     triangles.c    constraints over three objects become squares
 *     rules.c        the other constraints, and triggers, become instances
 *
 * rules.c grounds a formula for each tuple of objects: formula.c, and from there aggregate.c, domain.c,
 * live.c, cases.c and calls.c.
 *
 * The room reads the definition and the data, and makes the parts of struct space that layout.h lists under
 * "the instance", "slots" and "constraints". It knows nothing of propagation. */
#ifndef THRESH_SPACE_GROUND_GROUND_H
#define THRESH_SPACE_GROUND_GROUND_H

#include "core/base/diag.h"
#include "core/space/data/lookup.h"
#include "core/space/formula/shape.h"

/* The liveness slots that a formula relies on, and conditions on others, under which alone it counts. */
struct frame {
    uint32_t *items;
    size_t n, cap;
    struct expression **conditions;
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
typedef struct expression *ground_operation(struct grounder *g, const struct space_node *n,
                                            const int64_t *args, void *ctx);
/* A condition on an object. */
typedef struct expression *ground_test(struct grounder *g, struct expression *object, void *ctx);

/* A growing list of numbers. */
struct items {
    int64_t *at;
    size_t n, cap;
};

extern const int64_t GROUND_LIVE_TABLE[2]; /* of a liveness slot: dead 0, live 1 */

static inline int32_t ground_kid(const struct grounder *g, const struct space_node *n, unsigned i)
{
    return g->s->def->kids[n->first + (int32_t)i];
}

/* ---- what a space is made of, in this order ---- */

/* bind.c: parameters, sets, properties of the instance. */
void ground_bind(struct space *s, struct diag *d);
/* rules.c: notes the objects that triggers may activate in s->liveness[]. */
void ground_latent(struct space *s, struct diag *d);
/* slots.c: the slots of the choices and of liveness. */
void ground_slots(struct space *s, struct diag *d);
/* triangles.c: pair choices with triangles become squares; and the pair choice of a triangle constraint, or
 * -1. */
void ground_squares(struct space *s);
int32_t ground_triangle_choice(const struct space *s, const struct space_constraint *c);
/* Why a constraint is not propagated as a triangle. *choice: the pair choice that it reads, unless
 * NO_TRIANGLE. */
enum ground_refusal {
    GROUND_TRIANGLE,         /* it is */
    GROUND_NO_TRIANGLE,      /* it is something else, or there are too few objects */
    GROUND_PLAIN_PAIR,       /* the choice is not symmetric or antisymmetric */
    GROUND_LARGE_PAIR,       /* it has too many values */
    GROUND_CONDITIONAL_PAIR, /* it has a `where` */
    GROUND_OTHER_SET         /* the objects are not all of its set */
};
enum ground_refusal ground_refuse_triangle(const struct space *s, const struct space_constraint *c,
                                           int32_t *choice);
/* rules.c: constraints and triggers become instances. Adds an error if the trigger of an object depends on
 * the object itself. */
void ground_rules(struct space *s, struct diag *d);
/* slots.c: what a latent object shares with others; after ground_squares(). */
void ground_find_shared(struct space *s);

/* ---- formulas ---- */

struct expression *ground_formula(struct grounder *g, int32_t node);
/* aggregate.c: a quantifier, a sum, a product or an extreme over objects. */
struct expression *ground_aggregate(struct grounder *g, const struct space_node *n);
/* The value of a node without choices, where all objects count that may be live; -1 if it has some. */
int64_t ground_static(struct grounder *g, int32_t node);
/* ---- latent objects (live.c) ---- */

/* The liveness slot of an object, or NONE. */
uint32_t ground_liveness_of(const struct space *s, int32_t root, int64_t object);
/* Notes that the formula relies on a latent object, unless a frame around it has done so. */
void ground_rely_on(struct grounder *g, uint32_t live);
/* Notes that the formula counts only if the condition holds. */
void ground_rely_if(struct grounder *g, struct expression *condition);
/* The condition that all objects of a frame are live. */
struct expression *ground_all_live(struct grounder *g, const struct frame *f);
/* ---- objects, lists, properties (domain.c) ---- */

/* Appends the elements of a list node. */
void ground_collect(struct grounder *g, int32_t node, struct items *out);
/* The objects of a domain. */
struct data_list ground_objects(struct grounder *g, const struct space_domain *dom);
/* The value of a property that is no list. */
int64_t ground_property_of(struct grounder *g, const struct space_node *n, const int64_t *args);
/* The value of a property that is one; empty if an argument is no object. */
struct data_list ground_property_list(struct grounder *g, const struct space_node *n, const int64_t *args);
/* Calls `visit` for every tuple of distinct objects of a `forall` prefix, from variable `at` on. */
void ground_each_tuple(struct grounder *g, int32_t domains, unsigned n, unsigned at,
                       void (*visit)(struct grounder *g, const void *what), const void *what);
/* Static values of a choice's domain with the arguments as variables, into out[]; returns how many, sorted,
 * distinct. All objects count as live, here and in what follows; errors are of definitions. */
size_t ground_choice_values(struct space *s, const struct space_choice *c, const int64_t *args, int64_t *out,
                            size_t room, struct diag *d);
bool ground_choice_where(struct space *s, const struct space_choice *c, const int64_t *args, struct diag *d);
/* The objects of a domain under the variables env[]. */
struct data_list ground_domain(struct space *s, struct arena *a, const struct space_domain *dom,
                               const int64_t *env, struct diag *d);
/* formula.c: the slot of a choice of these objects, or NONE. */
uint32_t ground_slot_of(const struct space *s, int32_t choice, const int64_t *args, unsigned n);

/* ---- objects that depend on choices (cases.h) ---- */

/* An operation on such objects, joined over those that they may be. */
struct expression *ground_over_cases(struct grounder *g, const struct space_node *n, bool condition,
                                     ground_operation *operation, void *ctx);
/* Whether the node is an object that may depend on choices; whether both are objects, and one of them so. */
bool ground_is_object(const struct grounder *g, int32_t node);
bool ground_are_objects(const struct grounder *g, int32_t x, int32_t y);
struct expression *ground_object(struct grounder *g, int32_t node); /* its id */
struct expression *ground_same_object(struct grounder *g, int32_t x, int32_t y);
struct expression *ground_object_test(struct grounder *g, int32_t node, ground_test *test, void *ctx);
/* A recursive definition that is a number or a condition. */
struct expression *ground_call(struct grounder *g, const struct space_node *n, const int64_t *args,
                               void *ctx);
/* A definition is at fault, so that what was grounded means nothing. */
bool ground_failed(const struct grounder *g);
/* Says which. */
void ground_report(const struct grounder *g, struct diag *d);

#endif
