/* Binding, shared by bind.c (the program), bind_type.c (types), infer.c (expressions), infer_pattern.c
 * and infer_index.c (patterns). Private to core/lift. What is made lives in the binder's arena.
 *
 * A function that returns a type returns NULL after a reported error; its caller passes the NULL on and
 * reports nothing more, so that one mistake gives one message. */
#ifndef THRESH_LIFT_BIND_H
#define THRESH_LIFT_BIND_H

#include "core/base/attr.h"
#include "core/lift/lift.h"
#include "core/lift/size.h"

struct binder {
    struct lift_program *program;
    struct arena *arena;
    struct diag *diag;
    struct source_pos last; /* of the last error: a place gets one */
    unsigned n_retries;     /* reductions whose function was inferred twice */
};

/* ---- bind_type.c ---- */

/* Adds an error, unless the last one was at the same place. */
void bind_report(struct binder *b, struct source_pos at, const char *fmt, ...) BASE_PRINTF(3, 4);
/* A type as text, and a size: "N = 512", or "512" if it is written as a number. */
const char *bind_type_text(struct binder *b, const struct lift_type *t);
const char *bind_size_text(struct binder *b, const struct lift_size *size, int64_t value);
/* The value of a size, at least 1. false after reporting an error at `at`. */
bool bind_size_value(struct binder *b, const struct lift_size *size, struct source_pos at, int64_t *value);
/* The same, at least `least`. */
bool bind_size_from(struct binder *b, const struct lift_size *size, int64_t least, struct source_pos at,
                    int64_t *value);
const struct lift_type *bind_scalar(struct binder *b, enum scalar_type scalar);
/* [element]size; `element` may be NULL, after an error. */
const struct lift_type *bind_array_of(struct binder *b, const struct lift_type *element,
                                      const struct lift_size *size, struct source_pos at);
const struct lift_type *bind_tuple_of(struct binder *b, const struct lift_type **parts, unsigned n,
                                      struct source_pos at);
/* A type as the program writes it, with extents. */
const struct lift_type *bind_resolve(struct binder *b, const struct lift_type *t, struct source_pos at);

/* ---- infer.c ---- */

/* Sets and returns the type of an expression. hint: the type that the context wants, for literals; or NULL.
 */
const struct lift_type *bind_infer(struct binder *b, struct lift_expr *e, const struct lift_type *hint);

/* ---- infer_pattern.c ---- */

/* The type of an APPLY. */
const struct lift_type *bind_infer_pattern(struct binder *b, struct lift_expr *e);

/* The type of argument i if it is an array; NULL after an error otherwise. */
const struct lift_type *bind_want_array(struct binder *b, const struct lift_expr *e, unsigned i);

/* ---- infer_index.c ---- */

/* The types of at, reverse, concat, slide, pad, padConstant, iota and indices, and of an array that is
 * written out. */
const struct lift_type *bind_infer_index(struct binder *b, struct lift_expr *e);
const struct lift_type *bind_infer_list(struct binder *b, struct lift_expr *e, const struct lift_type *hint);
/* The type t of an expression, with the range of its values where it is an int and they are known. */
const struct lift_type *bind_refine(struct binder *b, const struct lift_expr *e, const struct lift_type *t);
/* The type with the range of its ints. */
const struct lift_type *bind_ranged(struct binder *b, const struct lift_type *t, const struct lift_range *r);
/* The type of what is of one of two types, which are the same but for their ranges. */
const struct lift_type *bind_either(struct binder *b, const struct lift_type *x, const struct lift_type *y);
/* Whether the values of type x are in the ranges of y. */
bool bind_within(const struct lift_type *x, const struct lift_type *y);
/* The type without what is known of the values. */
const struct lift_type *bind_unranged(struct binder *b, const struct lift_type *t);

/* An int from 0 to n - 1. */
const struct lift_type *bind_index(struct binder *b, int64_t n);

/* ---- permutation.c ---- */

/* The type of scatter, whose function is checked to be a permutation. */
const struct lift_type *bind_infer_scatter(struct binder *b, struct lift_expr *e);

/* ---- reads.c ---- */

/* Notes what the expressions of a program whose types are known read. */
void bind_reads(struct binder *b);

/* ---- arrays.c ---- */

/* Reports what cannot be passed to a kernel as it is declared. */
void bind_check_input(struct binder *b, const struct lift_param *input);
void bind_check_output(struct binder *b, const struct lift_output *o);
/* Lists the arrays of a program whose types are known. */
void bind_list_arrays(struct binder *b);

#endif
