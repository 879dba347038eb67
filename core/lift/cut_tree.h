/* Trees that are changed before they are printed and read again: copies of expressions, and new ones, which
 * have no type and no place in a text. Private to core/lift; in the arena. */
#ifndef THRESH_LIFT_CUT_TREE_H
#define THRESH_LIFT_CUT_TREE_H

#include "core/lift/lift.h"

/* A copy whose names are those of the tree itself. */
struct lift_expr *cut_clone(struct arena *a, const struct lift_expr *e);
/* Child i of an expression: its arguments, the body of a LET, the body of its function. NULL: it has no such
 * one. i < CUT_CHILDREN(e). */
struct lift_expr **cut_child(struct lift_expr *e, unsigned i);
#define CUT_CHILDREN(e) ((e)->n_args + 2)
/* Whether an expression, or one within it, is what `is` asks for. */
bool cut_any(const struct lift_expr *e, bool (*is)(const struct lift_expr *e, const void *what),
             const void *what);
/* Whether a reference to p is in an expression. */
bool cut_mentions(const struct lift_expr *e, const struct lift_param *p);
/* Puts a copy of `value` in the place of each reference to p. */
void cut_substitute(struct arena *a, struct lift_expr **slot, const struct lift_param *p,
                    const struct lift_expr *value);

/* An expression of one argument, or two; none where they are NULL. */
struct lift_expr *cut_expr(struct arena *a, enum lift_kind kind, struct lift_expr *x, struct lift_expr *y);
struct lift_expr *cut_reference(struct arena *a, struct lift_param *p);
struct lift_expr *cut_component(struct arena *a, struct lift_param *p, unsigned index); /* get(index, p) */
struct lift_expr *cut_let(struct arena *a, struct lift_param *p, struct lift_expr *value,
                          struct lift_expr *body);
/* map(fun p -> body, array) */
struct lift_expr *cut_map(struct arena *a, struct lift_param *p, struct lift_expr *body,
                          struct lift_expr *array);
/* A parameter whose name nothing in the program's tree has: the stem, or the stem with a number. */
struct lift_param *cut_param(struct arena *a, const struct lift_program *p, const char *stem);

/* ---- cut_narrow.c ---- */

/* Removes from the program's tree names that nothing mentions, and components of tuples that no function of a
 * map reads:
 *
 *     map(fun p -> f(get(1, get(0, p))), zip(zip(a, b), c))      map(fun x -> f(x), b) */
void cut_narrow(struct arena *a, struct lift_program *p);

#endif
