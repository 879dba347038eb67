/* Views: the values of a symbolic evaluation of a bound Lift program.
 *
 * An array is a pull array: an extent and a way to make its element at an index expression. zip, transpose,
 * split, join, map and the like only build closures; asking for one element of the output at symbolic indices
 * leaves a scalar tree whose leaves are loads, constants and reductions. Reductions and `let` are lazy: what
 * nobody asks for costs nothing, and a `let` that is asked for twice is evaluated once. The elements of an
 * array are not kept, so that a short program may ask for very many: a viewer gives up after so many steps.
 * Internal to core/backbone. */
#ifndef THRESH_BACKBONE_VIEW_H
#define THRESH_BACKBONE_VIEW_H

#include "core/backbone/index.h"
#include "core/lift/lift.h"

struct arena;

enum tree_kind {
    TREE_CONST, /* value */
    TREE_LOAD,  /* input buffer[index] */
    TREE_OP,    /* op over args */
    TREE_ACC,   /* the accumulator of the reduction whose body this is */
    TREE_REDUCE /* the result of a reduction */
};

struct tree {
    enum tree_kind kind;
    enum scalar_type type;
    double value;
    unsigned input;
    const struct index_expr *index;
    enum scalar_op op;
    const struct tree *args[SCALAR_MAX_ARITY];
    struct reduction *reduction; /* ACC: whose; REDUCE */
};

/* A reduction, lowered when its first reader is. */
struct reduction {
    const struct lift_expr *expr; /* APPLY of reduce */
    const struct tree *init;
    const struct view *array;
    const struct view_env *env;
    uint32_t step; /* instruction; BB_NONE before */
};

enum view_kind {
    VIEW_NOTHING,   /* what a viewer that gave up makes of any value; as a scalar, tree */
    VIEW_SCALAR,    /* tree */
    VIEW_TUPLE,     /* parts */
    VIEW_INPUT,     /* part of input `input` from element `offset`, of array type `type` */
    VIEW_MAP,       /* fun over of[i] */
    VIEW_ZIP,       /* tuple of parts[j][i] */
    VIEW_COMPONENT, /* component `index` of of[i] */
    VIEW_TRANSPOSE, /* of[*][i]: a COLUMN */
    VIEW_COLUMN,    /* of[i][offset] */
    VIEW_SPLIT,     /* chunk i of `length` elements: a SLICE */
    VIEW_SLICE,     /* of[offset + i] */
    VIEW_JOIN       /* of[i / length][i % length] */
};

struct view {
    enum view_kind kind;
    const struct tree *tree;
    unsigned n_parts;
    const struct view **parts;
    unsigned input;
    const struct lift_type *type;
    const struct index_expr *offset;
    int64_t length;
    unsigned index;
    const struct view *of;
    const struct lift_lambda *fun;
    const struct view_env *env;
};

/* Values of parameters, innermost first. `value` is NULL until a lazily bound expression is asked for. */
struct view_env {
    const struct lift_param *param;
    const struct view **value;
    const struct lift_expr *lazy;
    const struct view_env *next;
};

/* Evaluates: where to, and for how long. */
struct viewer {
    struct arena *arena;
    unsigned left; /* calls of view_eval() and view_get() before every value is VIEW_NOTHING */
};

const struct view *view_input(struct viewer *w, unsigned input, const struct lift_type *type);
const struct view_env *view_bind(struct viewer *w, const struct view_env *env, const struct lift_param *p,
                                 const struct view *value);

/* The value of an expression whose free parameters are in env. */
const struct view *view_eval(struct viewer *w, const struct lift_expr *e, const struct view_env *env);
/* Element i of an array. */
const struct view *view_get(struct viewer *w, const struct view *v, const struct index_expr *i);
/* The body of a reduction's function, for its element i. */
const struct tree *view_reduction_body(struct viewer *w, const struct reduction *r,
                                       const struct tree *accumulator, const struct index_expr *i);

#endif
