/* Elaboration, shared by the files elaborate*.c: elaborate.c has expressions and declarations,
 * elaborate_apply.c the application of functions, elaborate_names.c names, nodes, sizes and types. What is
 * made belongs to the elaborator's arena; functions that return an expression return NULL after a reported
 * error. */
#ifndef THRESH_LIFT_ELABORATE_H
#define THRESH_LIFT_ELABORATE_H

#include "core/base/arena.h"
#include "core/lift/lift.h"
#include "core/lift/pattern.h"
#include "core/lift/size.h"
#include "core/lift/syntax.h"

enum { MAX_NODES = 16384, MAX_NAMES = 1024, MAX_OPERANDS = 32, MAX_DEPTH = 400, MAX_ITERATIONS = 64 };

/* An argument: an elaborated reference, or a text in its scope. */
struct operand {
    const struct lift_expr *expr; /* NULL: the text */
    const struct ast *ast;
    const struct scope *scope;
    bool arithmetic; /* a text over numbers and sizes alone */
};

struct scope {
    const struct scope *next; /* outwards */
    const char *name;
    struct operand operand;
    const struct ast_type *type; /* written at the parameter, or NULL */
};

struct elaborator {
    struct arena *arena;
    struct diag *diag;
    struct lift_program *program;
    const struct ast_program *syntax;
    struct source_pos outer;      /* place in the program of what the prelude is used for */
    const char *names[MAX_NAMES]; /* of all parameters so far */
    unsigned n_names, n_nodes, depth;
    struct lift_expr **results; /* of the outputs */
    size_t cap_sizes, cap_inputs, cap_outputs, cap_results;
    bool full; /* a limit was exceeded and reported */
};

/* A scope that grows, and the LETs that must stand around what is elaborated in it. */
struct binding {
    const struct scope *scope;
    struct lift_expr *first, *last;
};

#define REPORT(el, at, ...) diag_error((el)->diag, el_place((el), (at)), __VA_ARGS__)

/* ---- elaborate_names.c ---- */

/* The place to blame: in the program, also for what the prelude writes. */
struct source_pos el_place(const struct elaborator *el, struct source_pos at);
/* Reports, once, that a limit was exceeded. */
void el_report_full(struct elaborator *el, struct source_pos at);
/* Index of a size parameter, or -1. */
int el_find_size(const struct elaborator *el, const char *name);
/* Reports names that nothing may be called. */
void el_check_name(struct elaborator *el, struct source_pos at, const char *name);
/* What an unknown name was meant to be. */
enum el_meant { EL_FUNCTION, EL_VALUE, EL_SIZE };
/* Reports a name that nothing in `scope` has, with what it may stand for. */
void el_report_unknown(struct elaborator *el, struct source_pos at, const char *name,
                       const struct scope *scope, enum el_meant meant);
/* Whether a name is of no pattern, operation, size or declaration. */
bool el_is_unknown(const struct elaborator *el, const char *name, const struct scope *scope);
/* A parameter with a name of its own: `name`, or that followed by a number. */
struct lift_param *el_new_param(struct elaborator *el, const char *name, struct source_pos at);
/* An expression with room for n_args arguments. */
struct lift_expr *el_new_expr(struct elaborator *el, enum lift_kind kind, struct source_pos at,
                              unsigned n_args);
/* A copy of a reference: PARAM_REF, or GETs of one. */
struct lift_expr *el_copy_reference(struct elaborator *el, const struct lift_expr *e, struct source_pos at);
struct lift_expr *el_new_reference(struct elaborator *el, struct lift_param *param, struct source_pos at);
/* Component `index` of a tuple that must have `width`. */
struct lift_expr *el_new_get(struct elaborator *el, unsigned index, unsigned width,
                             const struct lift_expr *tuple, struct source_pos at);
/* The innermost declaration of a name, or NULL. */
const struct scope *el_find_name(const struct scope *scope, const char *name);
/* A scope with one more name. */
const struct scope *el_push(struct elaborator *el, const struct scope *next, const char *name,
                            struct operand operand, const struct ast_type *type);
/* A text as a size; NULL after a reported error. */
const struct lift_size *el_size_of(struct elaborator *el, const struct ast *ast, const struct scope *scope);
const struct lift_type *el_type_of(struct elaborator *el, const struct ast_type *ast,
                                   const struct scope *scope);
/* `value` with the type that is written beside it; `value` itself where none is. */
struct lift_expr *el_ascribe(struct elaborator *el, struct lift_expr *value, const struct ast_type *type,
                             const struct scope *scope);

/* ---- elaborate_apply.c ---- */

/* Number of arguments a function still takes; 0 for what is no function. */
unsigned el_arity_of(const struct ast *ast, const struct scope *scope);
/* The body with the LETs around it. */
struct lift_expr *el_close_binding(struct binding *b, struct lift_expr *body);
/* Makes `value` a LET and returns a reference to its name; NULL if there is no value. */
struct lift_expr *el_add_let(struct elaborator *el, struct binding *b, const char *name,
                             struct lift_expr *value, struct source_pos at);
/* An operand as an expression. */
struct lift_expr *el_value_of(struct elaborator *el, const struct operand *operand, struct source_pos at);
/* A call as callee: its arguments come first. */
struct lift_expr *el_apply_partial(struct elaborator *el, const struct ast *call, const struct scope *scope,
                                   const struct operand *operands, unsigned n, struct source_pos at);
/* A function, as text, applied to n operands. */
struct lift_expr *el_apply(struct elaborator *el, const struct ast *callee, const struct scope *scope,
                           const struct operand *operands, unsigned n, struct source_pos at);

/* ---- elaborate.c ---- */

/* The expression of a text. */
struct lift_expr *el_elaborate(struct elaborator *el, const struct ast *ast, const struct scope *scope);

#endif
