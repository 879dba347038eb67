/* The Lift language: a program as an elaborated tree.
 *
 * lift_parse() reads the text, lift_bind() gives every size parameter its value and checks types, sizes and
 * divisibility. After it every array type has its extent, every function argument of a pattern is a lambda
 * (named functions and partial applications are eta-expanded), user functions are inlined into scalar
 * operations, and ND macros are expanded: what follows (interpreter, backbone) sees only the kinds below.
 * README.md has the grammar and the folder. */
#ifndef THRESH_LIFT_LIFT_H
#define THRESH_LIFT_LIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/diag.h"
#include "core/lift/range.h"
#include "core/lift/scalar.h"

struct arena;
struct strbuf;

/* ---- types ---- */

enum lift_type_kind { LIFT_SCALAR, LIFT_TUPLE, LIFT_ARRAY };

struct lift_type {
    enum lift_type_kind kind;
    enum scalar_type scalar;         /* SCALAR */
    unsigned n_parts;                /* TUPLE */
    const struct lift_type **parts;  /* TUPLE */
    const struct lift_type *element; /* ARRAY */
    int64_t extent;                  /* ARRAY: number of elements, > 0, after lift_bind() */
    const struct lift_size *size;    /* ARRAY: the symbolic size it was written with (core/lift/size.h) */
    unsigned nodes;                  /* parts and terms of sizes, written out, after lift_bind() */
    bool ranged;                     /* SCALAR int: its values are known to be in least..most */
    int64_t least, most;
};

/* ---- expressions ---- */

enum lift_pattern {
    LIFT_MAP,    /* fun 1, arg 0 */
    LIFT_REDUCE, /* fun 2 (accumulator, element); args: initial value, array. A scalar result (not a [T]1) */
    LIFT_SCAN,   /* fun 2; args: initial value, array. Element i: the reduction of elements 0 to i, in their
                    order */
    LIFT_ZIP,    /* n >= 2 arrays of one length */
    LIFT_UNZIP,  /* array of tuples -> tuple of arrays */
    LIFT_TRANSPOSE, /* the two outer dimensions */
    LIFT_SPLIT,     /* amount = chunk length: [T]n -> [[T]amount]n/amount */
    LIFT_JOIN,
    LIFT_HEAD, /* element 0 */
    LIFT_TAIL, /* all but element 0 */
    LIFT_ID,
    LIFT_AT,      /* args: index, array: the element */
    LIFT_REVERSE, /* element i is element n - 1 - i */
    LIFT_CONCAT,  /* n >= 2 arrays of one element type, one after the other */
    LIFT_SLIDE,   /* windows of `amount` elements, each `second` elements after the one before */
    LIFT_PAD,     /* `amount` elements before and `second` after the array, which repeat some of its own */
    LIFT_PAD_CONSTANT, /* the same, of value args[0]; the array is args[1] */
    LIFT_IOTA,         /* 0, 1, ..., amount - 1 */
    LIFT_INDICES,      /* the indices of an array */
    LIFT_SCATTER,      /* fun 1, arg 0: element i goes to place fun(i), a permutation */
    LIFT_ITERATE,      /* inlined: in no elaborated program */
    LIFT_PATTERN_COUNT
};

/* What stands beyond an array a b c d. */
enum lift_border {
    LIFT_CLAMP,  /* a a | a b c d | d d */
    LIFT_MIRROR, /* b a | a b c d | d c */
    LIFT_WRAP,   /* c d | a b c d | a b */
    LIFT_BORDER_COUNT
};

enum lift_kind {
    LIFT_PARAM_REF,  /* param */
    LIFT_LITERAL,    /* value */
    LIFT_OP,         /* op over scalar args; SELECT also over tuples of scalars, componentwise */
    LIFT_MAKE_TUPLE, /* args */
    LIFT_MAKE_ARRAY, /* args, of one type */
    LIFT_GET,        /* component `index` of args[0], a tuple */
    LIFT_LET,        /* param bound to args[0] in `body`: names a value, which the text computes once */
    LIFT_APPLY       /* pattern over args, with lambda `fun` where it takes one */
};

struct lift_param {
    const char *name;             /* as written; unique names are made by who needs them */
    const struct lift_type *type; /* after lift_bind() */
    struct source_pos at;
    unsigned input;          /* index of the program's input, or LIFT_NONE */
    struct lift_range range; /* of an input's elements, where the text states one */
    bool interleaved;        /* an input of tuples in one array */
    unsigned first_array;    /* of an input: its first in the program's arrays, after lift_bind() */
    unsigned depth;          /* functions around where it is bound, after lift_bind() */
    bool read, again;        /* named; named again, or in a function within its scope; after lift_bind() */
};
#define LIFT_NONE (~0u)

struct lift_lambda {
    unsigned n_params;
    struct lift_param **params;
    struct lift_expr *body;
};

struct lift_expr {
    enum lift_kind kind;
    struct source_pos at;
    const struct lift_type *type; /* after lift_bind() */
    unsigned n_args;
    struct lift_expr **args;
    enum lift_pattern pattern; /* APPLY */
    struct lift_lambda *fun;   /* APPLY of map, reduce, scan, scatter */
    const int32_t *inverse;    /* APPLY of scatter: which element is at a place, after lift_bind() */
    int64_t amount;            /* APPLY of split: chunk length, after lift_bind() */
    const struct lift_size *amount_size; /* the same, symbolic */
    int64_t second;                      /* APPLY of slide, pad: see enum lift_pattern */
    const struct lift_size *second_size;
    enum lift_border border; /* APPLY of pad */
    enum scalar_op op;       /* OP */
    double value;            /* LITERAL */
    bool truth;              /* LITERAL: value is true (1) or false (0) */
    int extreme;    /* LITERAL: -1 the lowest, 1 the highest number of its type, set by lift_bind() */
    unsigned index; /* GET: from 0 */
    struct lift_param *param; /* PARAM_REF, LET */
    struct lift_expr *body;   /* LET */
    unsigned number;          /* in the program, from 0, after lift_bind() */
    unsigned n_reads;         /* APPLY with a function: of `reads`, or LIFT_NONE: more than LIFT_MOST_READS */
    const struct lift_expr **reads; /* parameters that it does not bind, and components (GET) of them */
    bool repeated;                  /* the same in all calls of a function around it, after lift_bind() */
    bool computes;                  /* an operation or a reduction is in it, after lift_bind() */
};
enum { LIFT_MOST_READS = 12 };

struct lift_size_param {
    const char *name;
    struct source_pos at;
    int64_t value; /* after lift_bind() */
};

struct lift_output {
    const char *name; /* NULL: not written */
    struct source_pos at;
    unsigned input;                  /* index of the input that it is written to in place, or LIFT_NONE */
    bool interleaved;                /* tuples in one array */
    const struct lift_type *written; /* the type that the text states, or NULL */
    const struct lift_type *type;    /* after lift_bind() */
};

/* An argument of the kernel: a scalar or an array of scalars. An input or output of tuples has one for each
 * component, `x_0` and `x_1`, or, interleaved, one array whose last dimension is the components. */
struct lift_array {
    const char *name;
    struct source_pos at;         /* of the input or output */
    const struct lift_type *type; /* a scalar, or arrays of scalars */
    unsigned input, output;       /* of the program, or LIFT_NONE; both: an array that is updated in place */
    unsigned part;                /* the component, counted through all nested tuples; 0 if interleaved */
};

struct lift_program {
    const struct source *source;
    unsigned n_sizes;
    struct lift_size_param *sizes;
    unsigned n_inputs;
    struct lift_param **inputs;
    unsigned n_outputs;
    struct lift_output *outputs;
    struct lift_expr *output;  /* of several outputs the tuple of their values, perhaps in the body of LETs */
    unsigned n_arrays;         /* after lift_bind() */
    struct lift_array *arrays; /* of the inputs in order, then of the outputs that are no inputs */
};
enum { LIFT_MAX_ARRAYS = 32, LIFT_MAX_OUTPUTS = 16 /* of those arrays */ };

struct lift_size_value {
    const char *name;
    int64_t value;
};

/* ---- front end ---- */

/* Parses one program. The result lives in the arena and borrows `source`. NULL after adding errors. */
struct lift_program *lift_parse(const struct source *source, struct arena *a, struct diag *d);

/* Binds the sizes, elaborates and checks; on success every `after lift_bind()` field above is set. Errors:
 * unknown, missing, zero or negative sizes; type errors; indivisible splits; arrays of 2^50 bytes and more.
 */
bool lift_bind(struct lift_program *p, const struct lift_size_value *values, unsigned n, struct arena *a,
               struct diag *d);

/* Parses "M=512,N=512" into the arena. Returns the count, or -1 after adding an error. */
int lift_parse_sizes(const char *text, struct lift_size_value **values, struct arena *a, struct diag *d);

/* Parses a program and binds it to the sizes of a command line; sizes NULL: none. NULL after errors. */
struct lift_program *lift_parse_bound(const struct source *source, const char *sizes, struct arena *a,
                                      struct diag *d);

/* Prints normalized text that parses back to the same program. */
void lift_print(const struct lift_program *p, struct strbuf *out);
void lift_print_type(const struct lift_type *t, struct strbuf *out);
/* The shortest decimal text that reads back to the same number; with a point, as a literal has. */
void lift_print_number(double value, struct strbuf *out);
/* Fingerprint of the normalized text and the bound sizes. */
uint64_t lift_fingerprint(const struct lift_program *p);

/* Types share their parts, and sizes theirs: a short text may mean a long one. Written out, a type has at
 * most so many parts and terms of sizes, and whatever walks over it is quick. */
#define LIFT_MAX_TERMS 4096u

/* Arrays stay below this: no index or byte count overflows, and the divisors of an extent are found at once.
 * No device has room for a thousandth of it. */
#define LIFT_MAX_BYTES ((int64_t)1 << 50)
/* Bytes of a value of a bound type, or LIFT_MAX_BYTES if it has that many or more. */
int64_t lift_type_bytes(const struct lift_type *t);
bool lift_type_same(const struct lift_type *x, const struct lift_type *y);
/* The element of the array that stands at place i, from -amount on, of a padded one with n elements. */
int64_t lift_border_source(enum lift_border border, int64_t n, int64_t i);
/* Number of scalars in a scalar or a tuple, of tuples too; 0 if there is an array in it. */
unsigned lift_type_parts(const struct lift_type *t);
/* Number of scalars in a value of the type; 1 for a scalar. */
int64_t lift_type_scalars(const struct lift_type *t);
/* A type has a *leaf* for each scalar type in it, counted from the left: [(float, [int]3)]N has two. */
unsigned lift_type_leaves(const struct lift_type *t);
/* The type of the array of all scalars of one leaf: [[int]3]N. In the arena where it is a new one. */
const struct lift_type *lift_type_leaf(const struct lift_type *t, unsigned leaf, struct arena *a);
/* Which part of a tuple a leaf is in; *leaf becomes its number there. */
unsigned lift_type_part(const struct lift_type *tuple, unsigned *leaf);
/* Scalars of one leaf in a value of the type. */
int64_t lift_type_leaf_scalars(const struct lift_type *t, unsigned leaf);
/* Scalar type at the bottom of nested arrays; tuples have none: false. */
bool lift_type_bottom(const struct lift_type *t, enum scalar_type *out);

/* ---- interpreter: the reference result ---- */

/* How far an output is from exact: n = length of the longest rounding chain, s = sum of absolute terms
 * (|y - ref| <= (n + 1) u s; distribution page, "Exact pass"), u = 2^-p for the p bits of its type. */
struct lift_value_bound {
    double value; /* computed in double, integers in int */
    double s;     /* not finite: no bound is known */
    double n;
    double work;    /* of lift_interpret_element(): operations that it took to interpret it */
    bool exact;     /* a device has this very value, in whatever order it computes */
    bool exact_ops; /* only exact operations were applied, */
    bool fits;      /* and their results are below 2^p of their types */
    bool jumps;     /* a comparison or a rounding may go either way; the bound covers both */
    bool constant;  /* made of literals alone: the same for all inputs */
    bool overflows; /* an intermediate result exceeds the largest number of its type */
};

/* Evaluates element `flat` (row-major) of an output's array on demand. arrays[i] holds array i of the program
 * as row-major doubles (lift_type_scalars() of them), before the kernel; those of outputs alone are not read.
 * The program must be bound. */
struct lift_value_bound lift_interpret_element(const struct lift_program *p, const double *const *arrays,
                                               unsigned array, int64_t flat);

/* Reads element i (row-major) of array `array` of a program, as a double: arrays of other types need not be
 * converted for the few elements that one output depends on. */
struct lift_reader {
    double (*read)(const void *ctx, unsigned array, int64_t i);
    const void *ctx;
    bool rounds_factors; /* a device may round the factors of products of floats to TF32: bounds say so */
};
/* The same as lift_interpret_element(). */
struct lift_value_bound lift_interpret_element_of(const struct lift_program *p, struct lift_reader arrays,
                                                  unsigned array, int64_t flat);

/* All elements of an output's array, row-major, into out[]. What elements share is computed once, as far as
 * it is remembered (core/lift/README.md). */
void lift_interpret(const struct lift_program *p, const double *const *arrays, unsigned array, double *out);

/* About how many operations lift_interpret() takes: those of the first elements, `most` operations long and
 * at least one element, for as many as there are. */
double lift_interpret_work(const struct lift_program *p, const double *const *arrays, unsigned array,
                           double most);

#endif
