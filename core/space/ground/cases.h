/* Objects that depend on choices. Such an operand (`first x in D: f`, `c ? a : b`, a number that names an
 * object of a range set, or a definition of these) becomes its *cases*: objects, each with the condition that
 * it is the one. The conditions exclude each other and one of them always holds.
 *
 *     first t in { q, r }: near(t) is YES       q: near(q) is YES
 *                                               r: near(q) is NO && near(r) is YES
 *                                               no object: near(q) is NO && near(r) is NO
 *
 * An operation on the operand is grounded for each case, and the results are joined (case_operations.c).
 *
 * A case relies on latent objects only where it is the one: then what its object needs to be live becomes a
 * condition of the frame around, `case -> live`. What the choice of the case itself implies to be live, as a
 * selected object is, is known and not asked again. */
#ifndef THRESH_SPACE_GROUND_CASES_H
#define THRESH_SPACE_GROUND_CASES_H

#include "core/space/ground/ground.h"

struct object_case {
    int64_t object;
    struct expression *when;
    const struct frame *known; /* live if it is the case */
};

struct object_cases {
    struct object_case *at;
    size_t n, cap;
};

/* The operands of an operation, likewise. */
struct argument_case {
    int64_t args[SPACE_MAX_ARITY];
    struct expression *when;
    const struct frame *known;
};

struct argument_cases {
    struct argument_case *at;
    size_t n;
};

/* What was grounded before: a definition at its arguments after so many steps, or a selection under the
 * variables around it. */
struct call {
    bool selection;
    int32_t what; /* definition or node */
    uint32_t steps, n;
    int64_t args[SPACE_MAX_VARS];
    struct expression *value;
    struct object_cases cases; /* of what is an object */
    struct frame frame;        /* what it relies on */
    bool at_work;              /* its body is being grounded */
    struct call *next;
};

enum { CALL_BUCKETS = 512 };

struct calls {
    size_t n_cases; /* of all operations so far */
    struct call *buckets[CALL_BUCKETS];
};

static inline struct expression *ground_both(struct grounder *g, struct expression *x, struct expression *y)
{
    return expression_binary(g->a, FORMULA_AND, x, y);
}

static inline bool ground_is_constant(const struct expression *x, int64_t value)
{
    return x->op == FORMULA_CONST && x->imm == value;
}

/* Formulas that are copied to several places are added to a shape once. */
static inline struct expression *ground_shared(struct expression *x)
{
    x->shared = x->n > 0;
    return x;
}

/* cases.c: the cases of a node that is an object of the root set, or a number that names one; -1: any root.
 */
void ground_find_cases(struct grounder *g, int32_t node, int32_t root, struct object_cases *out);

/* case_operations.c: all combinations of the cases of a node's operands. */
struct argument_cases ground_argument_cases(struct grounder *g, const struct space_node *n);
/* What is grounded between the two relies on latent objects only in the case. */
struct inside {
    struct frame *outer;
    struct frame known, mine;
};
void ground_enter_case(struct grounder *g, const struct argument_case *c, struct inside *in);
void ground_leave_case(struct grounder *g, const struct argument_case *c, struct inside *in);
/* One of the cases holds, so the last needs no condition. Both overwrite their lists. */
struct expression *ground_join_numbers(struct grounder *g, struct expression **when,
                                       struct expression **value, size_t n);
struct expression *ground_join_conditions(struct grounder *g, struct expression **when,
                                          struct expression **value, size_t n);

/* calls.c: what was grounded before for the formula at hand. */
struct calls *ground_calls(struct grounder *g);
struct call *ground_find_call(struct calls *c, const struct call *like);
void ground_keep_call(struct calls *calls, struct call *c);
/* A recursive definition at its arguments. NULL: of no object, or in a circle. */
const struct call *ground_call_of(struct grounder *g, const struct space_node *n, const int64_t *args);
/* The root set that operand i of a node is an object of; whether the root set has such an object. */
int32_t ground_operand_root(const struct grounder *g, const struct space_node *n, unsigned i);
bool ground_has_object(const struct grounder *g, int32_t root, int64_t object);

#endif
