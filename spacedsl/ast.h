/* Syntax trees of .space files, as parsed: names are not yet resolved. Everything lives in the arena of one
 * run.
 *
 * Grammar of expressions, loosest first: `c ? a : b`, `<->`, `->` (right), `||`, `&&`, `!`, comparisons (`==
 * != < <= > >=`, `is`, `is not`, `in`, `not in`), `+ -`, `* / %`, unary `-`, calls and parentheses. `exists x
 * in D: f`, `forall x in D: f`, `first x in D: f` and `sum of f over x in D where g` (also product, min, max)
 * are operands that extend as far to the right as possible.
 *
 * Remarks: the doc comment (`///`) of a declaration, else for constraints and triggers the block of comments
 * directly above it, and the comment after it on its last line. Constraints in one paragraph share the
 * remark of the first. */
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

/* What `thresh space describe` prints of a declaration. */
struct remark {
    const char *doc;  /* "" if none */
    const char *text; /* the declaration on one line, without its first word */
};

struct set_decl {
    struct name name;
    struct remark remark;
    struct name param, param_set; /* text NULL: not parametric */
    struct name parent, disjoint; /* text NULL: none */
    bool relation, range;
    int64_t lo, hi;
    struct set_decl *next;
};

enum value_type { VALUE_BOOL, VALUE_INT, VALUE_OBJECT };

struct property_decl {
    struct name name;
    struct remark remark;
    struct name *args;
    enum value_type type;
    struct name object; /* the type's name */
    bool list;
    struct property_decl *next;
};

struct parameter_decl {
    struct name name;
    struct remark remark;
    bool is_bool, has_default;
    int64_t value;
    const char *unit;
    struct parameter_decl *next;
};

struct enum_value {
    struct name name;
    const char *doc;
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
    struct remark remark;
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
    struct remark remark;
    struct binder *params;
    enum value_type type;
    struct name object; /* the type's name; text NULL: a counter */
    bool half;          /* a counter that is only bounded from above */
    struct expr *body;
    struct define_decl *next;
};

/* `quotient Q(params) = item: domain where condition modulo choice is values`: one representative of each
 * class of the items that satisfy the condition. */
struct quotient_decl {
    struct name name;
    struct remark remark;
    struct binder *params;
    struct name item;
    struct expr *domain, *condition;
    struct name choice, *values;
    struct quotient_decl *next;
};

struct require_decl {
    struct source_pos at;
    struct remark remark;
    struct binder *vars;
    struct expr *body;
    struct require_decl *next;
};

struct trigger_decl {
    struct source_pos at;
    struct remark remark;
    struct binder *vars;
    struct expr *when, *objects; /* objects: linked by next */
    struct trigger_decl *next;
};

/* A file of the space: the one that was named first, then those it includes. */
struct source_file {
    const struct source *source;
    const char *identity; /* of the file on disk: it is read once */
    struct source_file *next;
};

struct ast {
    struct source_file *files;
    struct name name;
    const char *doc; /* of the space */
    struct set_decl *sets;
    struct property_decl *properties;
    struct parameter_decl *parameters;
    struct choice_decl *choices;
    struct quotient_decl *quotients;
    struct define_decl *defines;
    struct require_decl *requires;
    struct trigger_decl *triggers;
};

/* Parses the whole text and what it includes, relative to the including file; after an error it skips to the
 * next declaration. Never NULL. */
struct ast *spacedsl_parse(const struct source *source, struct arena *a, struct diag *d);

#endif
