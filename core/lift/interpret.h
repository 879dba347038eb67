/* The reference interpreter's values: scalars with their error bounds, tuples, pull arrays. Private to
 * core/lift.
 *
 *     interpret_expr(map(f, A))     an array of kind MAP, nothing computed
 *     interpret_element(r, it, 3)   f of element 3 of A
 *
 * interpret_output.c gives outputs, interpret.c evaluates expressions, interpret_array.c elements of arrays,
 * interpret_key.c tells what is computed again, remember.c remembers it. */
#ifndef THRESH_LIFT_INTERPRET_H
#define THRESH_LIFT_INTERPRET_H

#include "core/base/arena.h"
#include "core/lift/lift.h"
#include "core/lift/remember.h"

enum { INTERPRET_SPARES = 8 };

/* One interpretation of a program. Not shared between threads. */
struct run {
    struct lift_reader arrays; /* of the inputs */
    struct arena *arena;       /* where values are made */
    struct arena *spare[INTERPRET_SPARES];
    unsigned n_spare;
    struct remembered *memory;
    bool revisits;   /* a view of a computed array was made, which may ask for an element again */
    uint64_t serial; /* of arrays that no key tells apart */
    double work;     /* scalar operations applied */
    double most;     /* no further element of an output is computed once work exceeds it */
};

enum array_kind {
    ARRAY_BUFFER,
    ARRAY_MAP,
    ARRAY_ZIP,
    ARRAY_TRANSPOSE,
    ARRAY_COLUMN,
    ARRAY_SPLIT,
    ARRAY_SLICE,
    ARRAY_JOIN,
    ARRAY_PART,
    ARRAY_LIST,
    ARRAY_CONCAT,
    ARRAY_REVERSE,
    ARRAY_SCAN,
    ARRAY_SCATTER,
    ARRAY_PAD,
    ARRAY_FILL,
    ARRAY_IOTA,
    ARRAY_REDUCED,
    ARRAY_KEPT,
    ARRAY_DOUBTFUL
};

struct value {
    struct array *array;            /* not NULL: an array */
    const struct value *parts;      /* not NULL: a tuple */
    struct lift_value_bound scalar; /* otherwise */
};

/* Values of the parameters in scope. */
struct env {
    const struct env *next;
    const struct lift_param *param;
    struct value value;
};

/* A value in the arrays of an input. */
struct place {
    unsigned first;               /* the array of its first leaf; the one array, if interleaved */
    const struct lift_type *type; /* of the value */
    int64_t offset;               /* its first scalar; of several arrays the elements before it */
    bool interleaved;
};

struct cell;

/* The result, or the accumulator, of a reduction whose accumulator has arrays in it. */
struct reduced {
    const struct lift_expr *e;
    const struct lift_type *type; /* of the accumulator */
    const struct env *env;
    int64_t n;                       /* elements that are reduced */
    struct arena *home;              /* of the result */
    struct cell *cell;               /* in an accumulator of which only some scalars are known */
    struct lift_value_bound *stored; /* all scalars; NULL: not computed */
    uint64_t serial;                 /* of what no key tells apart; else 0 */
};

struct array {
    enum array_kind kind;
    bool computes;           /* an element may take operations, which are not remembered */
    bool keyed;              /* its key is known */
    struct remember_key key; /* interpret_array_key() */
    struct array *source;    /* all but BUFFER and ZIP */
    int64_t offset;          /* COLUMN, PART: which. SLICE: its first element. REDUCED: index in the source */
    int64_t length; /* SPLIT: from one chunk or window to the next. JOIN: of an inner array. REVERSE: of it.
                       REDUCED: its first leaf */
    struct place place;              /* BUFFER */
    const struct env *env;           /* MAP, SCAN */
    unsigned n_zipped;               /* ZIP */
    const struct value *zipped;      /* ZIP; LIST: the elements; CONCAT: the arrays */
    const struct lift_expr *expr;    /* MAP, ZIP, LIST, CONCAT, PAD, SCAN, SCATTER: the expression */
    const struct lift_type *element; /* FILL, KEPT, DOUBTFUL, REDUCED: of an element */
    struct reduced *reduced;         /* REDUCED */
    unsigned depth;                  /* REDUCED: it and the arrays around it */
    struct value fill;               /* PAD: of the scalars beyond the array, if constant; FILL: of all */
};

/* ---- interpret.c ---- */

struct value interpret_expr(struct run *r, const struct lift_expr *e, const struct env *env);
struct value interpret_look_up(const struct env *env, const struct lift_param *param);
const struct env *interpret_bind(struct run *r, const struct env *next, const struct lift_param *param,
                                 struct value value);
/* Element i of a scan. */
struct value interpret_scan(struct run *r, struct array *scan, int64_t i);

/* An empty arena, to be given back. */
struct arena *interpret_take_arena(struct run *r);
void interpret_give_arena(struct run *r, struct arena *a);

/* ---- interpret_array.c ---- */

struct value interpret_scalar(struct lift_value_bound v);
struct value interpret_new_array(struct run *r, struct array array);
/* The value of an input. */
struct value interpret_input(struct run *r, struct place at);
struct value interpret_element(struct run *r, struct array *array, int64_t i);
/* The same value, of which no error is known, as it may be another one. */
struct value interpret_doubtful(struct run *r, struct value v, const struct lift_type *type);
/* The same value, whose elements are remembered once they are computed. */
struct value interpret_kept(struct run *r, struct value v, const struct lift_type *type);

/* ---- interpret_reduce.c ---- */

/* The reduction of the first n elements of a reduction or scan, to a type with arrays in it. */
struct value interpret_reduction(struct run *r, const struct lift_expr *e, const struct lift_type *type,
                                 const struct env *env, int64_t n);
struct value interpret_reduced_element(struct run *r, struct array *array, int64_t i);

/* ---- interpret_key.c ---- */

/* Equal keys: the same reduction of the same values. */
struct remember_key interpret_reduced_key(const struct reduced *of);

/* Equal keys: the same elements, of arrays that stand for the same parameter or argument of the program. */
struct remember_key interpret_array_key(struct array *array);
/* Of the value of an expression with a function: of the expression and of what it reads. false: it reads too
 * much. */
bool interpret_expr_key(const struct lift_expr *e, const struct env *env, struct remember_key *out);
/* A scalar, or a tuple of scalars, of this type, that was remembered under the key. */
bool interpret_recall(struct run *r, struct remember_key key, const struct lift_type *type,
                      struct value *out);
void interpret_store(struct run *r, struct remember_key key, const struct lift_type *type, struct value v);

#endif
