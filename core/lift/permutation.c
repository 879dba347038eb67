/* scatter(f, a) writes element i of a to place f(i). It is defined where f is a permutation of 0..n-1, which
 * is checked by applying f to each index; what comes out is the inverse, place by place:
 *
 *     scatter(fun i -> (i + 2) % 5, a)     places 2 3 4 0 1 of the elements 0 1 2 3 4, inverse 3 4 0 1 2
 *
 * So f is a function of its index, numbers and sizes. What depends on data cannot be checked before anything
 * runs: two elements with one place would be a race. */
#include "core/base/arena.h"
#include "core/lift/bind.h"

#include <inttypes.h>

enum {
    MOST_STEPS = 1 << 27, /* nodes evaluated for all indices: about a second */
    MOST_NODES = 4096     /* of the function */
};

/* Values of the parameters of the function. */
struct known {
    const struct known *next;
    const struct lift_param *param;
    double value;
};

/* ---- what can be evaluated ---- */

static const struct known *find(const struct known *k, const struct lift_param *param)
{
    while (k && k->param != param)
        k = k->next;
    return k;
}

/* Counts the nodes; the first one that is no arithmetic over what is known becomes *bad. */
static unsigned count(const struct lift_expr *e, const struct known *k, const struct lift_expr **bad)
{
    unsigned n = 1;
    bool fits = e->type->kind == LIFT_SCALAR;
    fits = fits && (e->kind == LIFT_LITERAL || e->kind == LIFT_OP || e->kind == LIFT_LET ||
                    (e->kind == LIFT_PARAM_REF && find(k, e->param)));
    if (!fits && !*bad) *bad = e;
    for (unsigned i = 0; i < e->n_args && !*bad && n < MOST_NODES; i++)
        n += count(e->args[i], k, bad);
    const struct known let = {k, e->param, 0};
    if (e->kind == LIFT_LET && !*bad) n += count(e->body, &let, bad);
    return n;
}

static double evaluate(const struct lift_expr *e, const struct known *k)
{
    double x[SCALAR_MAX_ARITY];
    if (e->kind == LIFT_LITERAL) return e->value;
    if (e->kind == LIFT_PARAM_REF) return find(k, e->param)->value;
    if (e->kind == LIFT_LET) {
        const struct known let = {k, e->param, evaluate(e->args[0], k)};
        return evaluate(e->body, &let);
    }
    for (unsigned i = 0; i < e->n_args; i++)
        x[i] = evaluate(e->args[i], k);
    return scalar_op_apply(e->op, e->args[e->n_args - 1]->type->scalar, x);
}

/* ---- the check ---- */

/* The inverse of the function on 0..n-1; NULL after an error. */
static const int32_t *invert(struct binder *b, const struct lift_expr *e, int64_t n)
{
    const struct lift_expr *body = e->fun->body;
    int32_t *inverse = ARENA_ARRAY(b->arena, int32_t, n);
    for (int64_t i = 0; i < n; i++)
        inverse[i] = -1;
    for (int64_t i = 0; i < n; i++) {
        const struct known k = {NULL, e->fun->params[0], (double)i};
        double place = evaluate(body, &k);
        if (place < 0 || place >= (double)n) {
            bind_report(b, body->at,
                        "scatter: index %" PRId64 " goes to place %.0f: out of range, as there are %" PRId64
                        " places, numbered from 0",
                        i, place, n);
            return NULL;
        }
        int32_t *at = &inverse[(int64_t)place];
        if (*at >= 0) {
            bind_report(b, body->at,
                        "scatter: indices %" PRId32 " and %" PRId64
                        " both go to place %.0f; its function must be a permutation",
                        *at, i, place);
            return NULL;
        }
        *at = (int32_t)i;
    }
    return inverse;
}

static bool can_check(struct binder *b, const struct lift_expr *e, int64_t n)
{
    const struct known k = {NULL, e->fun->params[0], 0};
    const struct lift_expr *bad = NULL;
    unsigned nodes = count(e->fun->body, &k, &bad);
    if (bad)
        bind_report(
            b, bad->at,
            "the places of scatter depend on its index, numbers and sizes alone: by data two elements "
            "might go to one place; at(i, a) reads at an index by data");
    else if (nodes >= MOST_NODES || n > MOST_STEPS / (int64_t)nodes)
        bind_report(b, e->at,
                    "scatter over %" PRId64 " elements is too large to check that its function is a "
                    "permutation; write gather(f, a) with the inverse",
                    n);
    else
        return true;
    return false;
}

const struct lift_type *bind_infer_scatter(struct binder *b, struct lift_expr *e)
{
    const struct lift_type *array = bind_want_array(b, e, 0);
    if (!array) return NULL;
    e->fun->params[0]->type = bind_index(b, array->extent);
    const struct lift_type *place = bind_infer(b, e->fun->body, bind_scalar(b, SCALAR_INT));
    if (!place) return NULL;
    if (place->kind != LIFT_SCALAR || place->scalar != SCALAR_INT) {
        bind_report(b, e->fun->body->at, "the function of scatter must give an int, the place, not %s",
                    bind_type_text(b, place));
        return NULL;
    }
    if (!can_check(b, e, array->extent)) return NULL;
    e->inverse = invert(b, e, array->extent);
    return e->inverse ? array : NULL;
}
