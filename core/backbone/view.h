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

#include "core/backbone/backbone.h"
#include "core/backbone/guard.h"
#include "core/lift/lift.h"

struct arena;

enum tree_kind {
    TREE_CONST,  /* value */
    TREE_LOAD,   /* array[index] where the guards hold, otherwise value */
    TREE_INDEX,  /* index, an int */
    TREE_SELECT, /* args[0] where the guard holds, otherwise args[1] */
    TREE_OP,     /* op over args */
    TREE_ACC,    /* a scalar of the accumulator of the reduction whose body this is */
    TREE_REDUCE, /* a scalar of the result of a reduction */
    TREE_STORED  /* args[0], a scalar of the element at `axes` of an array that may be staged (stored.h) */
};

struct tree {
    enum tree_kind kind;
    enum scalar_type type;
    double value;
    unsigned array; /* of the program */
    const struct index_expr *index;
    unsigned n_axes; /* LOAD, STORED: the index in each dimension of the array, outermost first */
    const struct index_expr *const *axes;
    const struct stored_array *stored; /* STORED */
    const void *of_array; /* STORED: one for each value that the array has; part: its component */
    unsigned n_guards;    /* LOAD, SELECT */
    const struct index_guard *guards;
    enum scalar_op op;
    const struct tree *args[SCALAR_MAX_ARITY];
    struct reduction *reduction; /* ACC: whose; REDUCE */
    unsigned part;               /* ACC, REDUCE, STORED: which scalar of its tuple; 0 if it is no tuple */
};

/* A reduction to a few scalars, lowered when its first reader is. If the accumulator has arrays in it, the
 * scalars are those at one index of them; `element` says which, and there is such a reduction for each index
 * that is asked for (view_reduce.c). */
struct reduction {
    const struct lift_expr *expr;  /* APPLY of reduce or scan */
    const struct lift_type *type;  /* of the accumulator */
    const struct index_expr *scan; /* the index of a scan, a logical; else NULL */
    const struct view *init;       /* of the type */
    const struct view *array;
    const struct view_env *env;
    unsigned n_element;
    const struct index_expr *const *element;
    unsigned n_parts, leaves[BB_MAX_PARTS]; /* its scalars, as leaves of the type */
    const struct tree *acc[BB_MAX_PARTS];   /* their accumulators; NULL: not read yet */
    uint32_t step;                          /* instruction; BB_NONE before */
    const struct tree *start[BB_MAX_PARTS]; /* what INIT and STEP compute, once it is lowered */
    const struct tree *body[BB_MAX_PARTS];
};

/* A reduction with an accumulator of any type, as the scalar ones that it consists of. */
struct reductions {
    struct reduction each; /* what all of them have */
    size_t n, cap;
    struct reduction **items;
};

/* A value in an accumulator or a result that has arrays in it. */
struct reduced {
    struct reductions *result;    /* NULL: in an accumulator */
    struct reduction *of;         /* whose accumulator */
    const struct lift_type *type; /* of the value */
    unsigned leaf;                /* of the whole: the first in the value */
    unsigned n_at;                /* indices of the arrays around it, outermost first */
    const struct index_expr *const *at;
};

enum view_kind {
    VIEW_NOTHING,   /* what a viewer that gave up makes of any value; as a scalar, tree */
    VIEW_SCALAR,    /* tree */
    VIEW_TUPLE,     /* parts */
    VIEW_INPUT,     /* an array in the arrays of an input: place */
    VIEW_MAP,       /* fun over of[i] */
    VIEW_ZIP,       /* tuple of parts[j][i] */
    VIEW_COMPONENT, /* component `index` of of[i] */
    VIEW_TRANSPOSE, /* of[*][i]: a COLUMN */
    VIEW_COLUMN,    /* of[i][offset] */
    VIEW_SPLIT,     /* chunk or window i, which begins at element i * length: a SLICE */
    VIEW_SLICE,     /* of[offset + i] */
    VIEW_JOIN,      /* of[i / length][i % length], of an array of type `type` */
    VIEW_SCAN,      /* element i: of reductions that read elements 0 to i; expr, env, memo */
    VIEW_SCATTER,   /* element i of `of` at place fun(i); expr, pair */
    VIEW_REVERSE,   /* of[length - 1 - i] */
    VIEW_LIST,      /* parts[i] */
    VIEW_CONCAT,    /* parts one after the other; expr */
    VIEW_PAD,       /* of with a border; expr; tree: of padConstant, what stands there */
    VIEW_FILL,      /* of type `type`, all scalars tree */
    VIEW_CHOICE,    /* plain[i] where the guard holds, otherwise no[i]; of: as plain, at any index */
    VIEW_REDUCED,   /* element i of an array in an accumulator or a result: reduced */
    VIEW_IOTA,      /* i */
    VIEW_STORED     /* of[i], of an array that may be staged: place.axes are the indices so far */
};

/* A value in the arrays of an input. */
struct place {
    unsigned array;                  /* of the program: the first of its leaves; the one, if interleaved */
    const struct lift_type *type;    /* of the value */
    const struct index_expr *offset; /* its first scalar; of several arrays the elements before it */
    unsigned n_axes;                 /* dimensions that it has an index in, outermost first */
    const struct index_expr *const *axes;
    bool interleaved;
};

struct view {
    enum view_kind kind;
    const struct tree *tree;
    unsigned n_parts;
    const struct view **parts;
    struct place place;
    const struct lift_type *type; /* JOIN, FILL: of the array */
    const struct index_expr *offset;
    int64_t length;
    unsigned index;
    const struct view *of;
    const struct lift_lambda *fun;
    const struct view_env *env;
    const struct lift_expr *expr;
    const struct stored_array *stored; /* STORED */
    const void *of_array;              /* STORED */
    struct reduction *reduction;       /* SCAN: that of each element, but for its index */
    struct reduced reduced;
    struct index_guard guard;
    const struct view *plain, *no;
    struct view_memo *memo;   /* MAP, SCAN */
    struct view_places *pair; /* SCATTER */
};

/* An index and the place where a SCATTER writes its element: what is asked for at that place is read at the
 * index. */
struct view_places {
    const struct index_expr *index, *place; /* NULL: none yet */
};

/* The element that a MAP was asked for last. An array that a `let` names is asked by each of its readers; at
 * one index they share what it computes. */
struct view_memo {
    const struct index_expr *index; /* NULL: none yet */
    const struct view *value;
    struct view_memo *next; /* SCAN: of other elements */
};

/* Values of parameters, innermost first. `value` is NULL until a lazily bound expression is asked for. */
struct view_env {
    const struct lift_param *param;
    const struct view **value;
    const struct lift_expr *lazy;
    const struct index_expr *at; /* the value is of an element at this index; or NULL */
    const struct view_env *next;
};

/* A whole number by data that an index contains, as a variable of its own: least + variable. */
struct view_datum {
    const struct tree *tree;
    int64_t least, most;
};

/* A constant place of a window, as a variable of its own (view_spot.c). */
struct view_spot {
    const struct lift_expr *slide;
    int64_t value;
};

enum { VIEW_MOST_DATA = 1024, VIEW_MOST_SPOTS = 256 };

/* The variable of datum k: indices of what is evaluated mention logicals below it. Spot k follows them. */
#define VIEW_DATUM UINT32_C(0x10000)
#define VIEW_SPOT (VIEW_DATUM + VIEW_MOST_DATA)

/* Evaluates: where to, and for how long. */
struct viewer {
    struct arena *arena;
    const struct stored_arrays *stored; /* the arrays whose elements become TREE_STORED (stored.h) */
    unsigned left; /* calls of view_eval() and view_get() before every value is VIEW_NOTHING */
    const struct lift_expr *stuck; /* a pattern that is not supported here, or NULL */
    const char *why;
    size_t n_data, cap_data;
    struct view_datum *data;
    unsigned n_spots;
    struct view_spot *spots;
    const struct index_expr **settled; /* [VIEW_SPOT + n_spots] the values of spots; NULL below VIEW_SPOT */
    bool pinned; /* some index was settled before it was used: trees do not know all of their spots */
};

/* ---- view_input.c ---- */

/* Component `part` of a tuple, and element i of an array. */
struct place view_place_part(struct arena *a, struct place at, unsigned part);
struct place view_place_element(struct arena *a, struct place at, const struct index_expr *i);

/* What is at a place: a load, a tuple or an array. */
const struct view *view_place_value(struct viewer *w, struct place at);
const struct view *view_input(struct viewer *w, const struct lift_param *input);

/* ---- view.c ---- */

const struct view_env *view_bind(struct viewer *w, const struct view_env *env, const struct lift_param *p,
                                 const struct view *value, const struct index_expr *at);

/* The value of an expression whose free parameters are in env. */
const struct view *view_eval(struct viewer *w, const struct lift_expr *e, const struct view_env *env);
/* Element i of an array. */
const struct view *view_get(struct viewer *w, const struct view *v, const struct index_expr *i);
/* The join that an array is, or that it is a map, zip or component of; NULL if there is none, or if it joins
 * what was split: then one index does for both. */
const struct view *view_joined(const struct view *v);

/* The innermost maps, zips and components taken off. */
const struct view *view_walked(const struct view *v);

/* Component `index` of a tuple. */
const struct view *view_component(const struct view *tuple, unsigned index);
/* A value of no use, after the viewer has noted what is not supported: the first such pattern, and why. */
const struct view *view_stuck(struct viewer *w, const struct lift_expr *e, const char *why);

/* ---- view_stored.c ---- */

/* The value of an expression that a `let` names or a pattern reads: an array that may be staged as
 * VIEW_STORED.
 */
const struct view *view_eval_stored(struct viewer *w, const struct lift_expr *e, const struct view_env *env);
/* Element i of a VIEW_STORED. */
const struct view *view_stored_element(struct viewer *w, const struct view *v, const struct index_expr *i);

/* ---- view_reduce.c ---- */

const struct view *view_eval_reduce(struct viewer *w, const struct lift_expr *e, const struct view_env *env);
const struct view *view_eval_scan(struct viewer *w, const struct lift_expr *e, const struct view_env *env);
/* Element i of a VIEW_REDUCED. */
const struct view *view_reduced_element(struct viewer *w, const struct view *v, const struct index_expr *i);
/* The body of a reduction's function, for its element i. */
const struct view *view_reduction_body(struct viewer *w, const struct reduction *r,
                                       const struct view *accumulator, const struct index_expr *i);
/* The accumulator of a reduction: a body that reads it may add scalars to r. */
const struct view *view_accumulator(struct viewer *w, struct reduction *r);
/* The result of what a reduction is the pattern of, with r->scan. */
const struct view *view_result(struct viewer *w, const struct reduction *r);
/* Scalar `part` of r, in a value of the type of its accumulator. */
const struct tree *view_reduction_part(struct viewer *w, const struct reduction *r, const struct view *v,
                                       unsigned part);

/* ---- view_index.c ---- */

/* Where the element with index i of an array goes in the result that the view is: f(i) of scatter(f, a), else
 * i. view_get() gives the element at that place. */
const struct index_expr *view_place(struct viewer *w, const struct view *v, const struct index_expr *i);

/* Element i of an array of one of the kinds from VIEW_REVERSE on. */
const struct view *view_get_by_index(struct viewer *w, const struct view *v, const struct index_expr *i);
/* Element i of a scan. */
const struct view *view_scan_element(struct viewer *w, const struct view *v, const struct index_expr *i);
/* The value of an `at`. */
const struct view *view_eval_at(struct viewer *w, const struct lift_expr *e, const struct view_env *env);

/* ---- view_spot.c ---- */

/* Element i of a window of a slide: as a spot, if it is a constant. */
const struct index_expr *view_spot(struct viewer *w, const struct lift_expr *slide,
                                   const struct index_expr *i);
bool view_has_spots(const struct index_expr *i);
/* Whether the index or an axis of a LOAD or STORED has. */
bool view_tree_has_spots(const struct tree *t);
/* With the values of its spots; guards without those that always hold. */
const struct index_expr *view_settled(struct viewer *w, const struct index_expr *i);
const struct index_guard *view_settled_guards(struct viewer *w, const struct index_guard *guards,
                                              unsigned *n);
/* The same of a LOAD or STORED. */
const struct tree *view_settled_access(struct viewer *w, const struct tree *t);
/* The settled index, for what cannot be evaluated with spots. */
const struct index_expr *view_pinned(struct viewer *w, const struct index_expr *i);
/* What a tree is once its guards are settled: a branch of a SELECT, what a LOAD gives that reads nothing. */
const struct tree *view_resolved(struct viewer *w, const struct tree *t);

/* ---- view_data.c ---- */

/* Whether two trees are the same expression. */
bool view_same(struct viewer *w, const struct tree *x, const struct tree *y);
/* The tree, an int in least..most, as an index. */
const struct index_expr *view_datum(struct viewer *w, const struct tree *t, int64_t least, int64_t most);
/* Whether an index, or one of the guards, contains data. */
bool view_has_data(const struct viewer *w, const struct index_expr *i);
/* An index with data in it as a tree, and whether a guard holds that has data in it. */
const struct tree *view_index_tree(struct viewer *w, const struct index_expr *i);
const struct tree *view_guard_tree(struct viewer *w, const struct index_guard *g);

#endif
