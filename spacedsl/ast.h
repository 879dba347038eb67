/* Syntax trees of .space files, as parsed: names are not yet resolved. Everything lives in the arena of one
 * run.
 *
 * Grammar of expressions, loosest first: `c ? a : b`, `<->`, `->` (right), `||`, `&&`, `!`, comparisons (`==
 * != < <= > >=`, `is`, `is not`, `in`, `not in`), `+ -`, `* / %`, unary `-`, calls and parentheses. `exists x
 * in D: f`, `forall x in D: f` and `sum of f over x in D where g` (also product, min, max) are operands that
 * extend as far to the right as possible. */
#ifndef THRESH_SPACEDSL_AST_H
#define THRESH_SPACEDSL_AST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/space/def.h"

enum expr_kind {
    EXPR_INT,
    EXPR_BOOL,
    EXPR_CALL,
    EXPR_OP,
    EXPR_IS,
    EXPR_IN,
    EXPR_LIST,
    EXPR_RANGE,
    EXPR_QUANTIFIER
};

struct name {
    const char *text;
    struct source_pos at;
    struct name *next;
};

/* `a, b in Domain(arg)`: one entry per variable. */
struct binder {
    struct name name;
    struct expr *domain; /* a call: a set, a parametric set or a property */
    struct binder *next;
};

struct expr {
    enum expr_kind kind;
    enum space_op op; /* of EXPR_OP and EXPR_QUANTIFIER */
    struct source_pos at;
    const char *text;     /* of a call */
    int64_t number;       /* of a literal */
    struct expr *kids[3]; /* operands; of a quantifier: value, condition (or NULL) */
    struct expr *args;    /* of a call, a list: linked by next */
    struct expr *next;
    struct name *values;    /* of `is` */
    bool negated;           /* `is not`, `not in` */
    struct binder *binders; /* of a quantifier */
};

struct set_decl {
    struct name name;
    struct name param, param_set; /* text NULL: not parametric */
    struct name parent, disjoint; /* text NULL: none */
    bool relation, range;
    int64_t lo, hi;
    struct set_decl *next;
};

enum value_type { VALUE_BOOL, VALUE_INT, VALUE_OBJECT };

struct property_decl {
    struct name name;
    struct name *args;
    enum value_type type;
    struct name object;
    bool list;
    struct property_decl *next;
};

struct parameter_decl {
    struct name name;
    bool has_default;
    int64_t value;
    const char *unit;
    struct parameter_decl *next;
};

struct enum_value {
    struct name name;
    int64_t code;
    struct enum_value *next;
};

struct alias_decl {
    struct name name;
    struct name *values;
    struct alias_decl *next;
};

struct pair_decl {
    struct name left, right;
    struct pair_decl *next;
};

struct choice_decl {
    struct name name;
    const char *doc;
    struct binder *params;
    struct enum_value *values; /* NULL: an integer choice */
    struct expr *domain;       /* of an integer choice */
    struct expr *where;
    struct alias_decl *aliases;
    bool symmetric, antisymmetric;
    struct pair_decl *pairs;
    struct choice_decl *next;
};

/* A definition or a counter: a named expression with parameters. */
struct define_decl {
    struct name name;
    struct binder *params;
    struct expr *body;
    struct define_decl *next;
};

struct require_decl {
    struct source_pos at;
    const char *text, *doc;
    struct binder *vars;
    struct expr *body;
    struct require_decl *next;
};

struct trigger_decl {
    struct source_pos at;
    const char *text;
    struct binder *vars;
    struct expr *when, *objects; /* objects: linked by next */
    struct trigger_decl *next;
};

struct ast {
    const struct source *source;
    struct name name;
    struct set_decl *sets;
    struct property_decl *properties;
    struct parameter_decl *parameters;
    struct choice_decl *choices;
    struct define_decl *defines;
    struct require_decl *requires;
    struct trigger_decl *triggers;
};

/* Parses the whole text; after an error it skips to the next declaration. Never NULL. */
struct ast *spacedsl_parse(const struct source *source, struct arena *a, struct diag *d);

#endif
