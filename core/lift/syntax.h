/* The syntax tree of a Lift text: what the parser hands to the elaborator. Private to core/lift.
 *
 * Names are unresolved here; whether `f(x)` is a pattern, a scalar operation or a user function, and whether
 * a call is partial, is decided by elaborate.c. Everything lives in the arena given to lift_syntax_parse().
 */
#ifndef THRESH_LIFT_SYNTAX_H
#define THRESH_LIFT_SYNTAX_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/diag.h"
#include "core/lift/range.h"
#include "core/lift/scalar.h"

struct arena;

enum ast_kind {
    AST_NAME,   /* name */
    AST_NUMBER, /* number */
    AST_CALL,   /* parts[0] applied to parts[1..]; f(a)(b) is f(a, b) */
    AST_FUN,    /* fun patterns -> parts[0] */
    AST_TUPLE,  /* parts, 2 or more */
    AST_ARRAY,  /* parts, 1 or more */
    AST_LET,    /* let name = parts[0] in parts[1] */
    AST_BINARY, /* parts[0] op parts[1] */
    AST_NEGATE, /* - parts[0] */
    AST_NOT,    /* ! parts[0] */
    AST_IF,     /* if parts[0] then parts[1] else parts[2] */
    AST_TRUTH,  /* number: true is 1, false is 0 */
    AST_PIPE,   /* parts[0] |> parts[1] */
    AST_ASCRIBE /* (parts[0] : type) */
};

/* A parameter of `fun`: a name, or a tuple of patterns. */
struct ast_pattern {
    struct source_pos at;
    const char *name;      /* NULL for a tuple */
    struct ast_type *type; /* NULL if not written */
    size_t n_parts, cap_parts;
    struct ast_pattern **parts;
};

struct ast {
    enum ast_kind kind;
    struct source_pos at;
    const char *name;
    double number;
    bool integer; /* NUMBER without point or exponent */
    enum scalar_op op;
    struct ast_pattern *patterns; /* FUN: a tuple pattern that holds the parameters */
    struct ast_type *type;        /* ASCRIBE */
    size_t n_parts, cap_parts;
    struct ast **parts;
};

struct ast_type {
    struct source_pos at;
    bool is_scalar;
    enum scalar_type scalar;
    struct ast *size; /* array: with parts[0] its element; NULL: a scalar or a tuple */
    size_t n_parts, cap_parts;
    struct ast_type **parts;
};

enum ast_decl_kind { AST_SIZE, AST_INPUT, AST_OUTPUT, AST_FUNCTION, AST_VALUE };

struct ast_decl {
    enum ast_decl_kind kind;
    struct source_pos at;         /* of the name; OUTPUT without one: of the keyword */
    const char *name;             /* OUTPUT: NULL if not written */
    struct ast_type *type;        /* INPUT; FUNCTION: its result or NULL; OUTPUT: NULL if not written */
    bool interleaved;             /* INPUT, OUTPUT */
    struct ast_pattern *patterns; /* FUNCTION: a tuple pattern of its parameters */
    struct ast *body;             /* OUTPUT, FUNCTION, VALUE */
    struct lift_range range;      /* INPUT */
    struct ast *low, *high;       /* INPUT: bounds of the range that are sizes, else NULL */
};

struct ast_program {
    size_t n_decls, cap_decls;
    struct ast_decl *decls; /* in the order of the text */
};

/* Parses a text. Errors go to d; what could be read is returned all the same, never NULL. */
struct ast_program *lift_syntax_parse(const struct source *source, struct arena *a, struct diag *d);

#endif
