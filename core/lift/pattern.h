/* The patterns of the language by name: what their first argument is, how many values follow.
 *
 *     split(32, a)    LEAD_AMOUNT, then one value       reduce(add, 0.0, a)    LEAD_FUNCTION, then two
 *     pad(1, 1, clamp, a)    LEAD_BORDER, then one value
 *
 * Private to core/lift. */
#ifndef THRESH_LIFT_PATTERN_H
#define THRESH_LIFT_PATTERN_H

#include "core/lift/lift.h"

/* What the first argument is, if it is no value. */
enum pattern_lead {
    LEAD_NONE,
    LEAD_FUNCTION, /* map, reduce, scan, scatter */
    LEAD_AMOUNT,   /* split, iota */
    LEAD_INDEX,    /* get */
    LEAD_AMOUNTS,  /* slide, padConstant: two sizes */
    LEAD_BORDER    /* pad: two sizes and what stands beyond the array */
};

struct pattern_info {
    const char *name;
    enum pattern_lead lead;
    unsigned n_fun_params; /* of the function */
    unsigned n_values;     /* arguments after the lead; at least, if variadic */
    bool variadic;
    enum lift_kind kind; /* APPLY, or GET for `get` */
    enum lift_pattern pattern;
};

/* Number of arguments that are no values. */
unsigned lift_lead_count(enum pattern_lead lead);
/* The name of a border, and the border of a name or LIFT_BORDER_COUNT. */
const char *lift_border_name(enum lift_border border);
enum lift_border lift_border_find(const char *name);
/* NULL if no pattern has this name. */
const struct pattern_info *lift_pattern_find(const char *name);
/* The name of the i-th pattern, from 0; NULL beyond the last. */
const char *lift_pattern_name(unsigned i);
const struct pattern_info *lift_pattern_info(enum lift_pattern pattern);

/* In a GET that takes a tuple of parameters apart, `amount` is the number of components that the tuple must
 * have.
 *
 * A type ascription (e : T), an `id` with its type set before lift_bind(), which checks it and removes it
 * unless it gives literals their type. */
bool lift_is_ascription(const struct lift_expr *e);

#endif
