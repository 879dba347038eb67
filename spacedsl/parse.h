/* The recursive-descent parser, shared by parse.c (tokens, files, recovery), parse_expr.c and parse_decl.c.
 * After an error fail() jumps to the loop over declarations, which goes on with the next one. */
#ifndef THRESH_SPACEDSL_PARSE_H
#define THRESH_SPACEDSL_PARSE_H

#include <setjmp.h>

#include "spacedsl/ast.h"
#include "spacedsl/lex.h"

struct parser {
    struct lexer lexer;
    struct token now; /* the next token, not yet taken */
    struct arena *arena;
    struct diag *diag;
    struct ast *ast;
    struct lexer including[16]; /* the lexers of the files around this one */
    unsigned n_including;
    int depth;          /* of nested expressions */
    unsigned n_ops;     /* operations in this declaration */
    bool after_expr;    /* the declaration before this one ended in an expression */
    const char *reason; /* remark of the constraint just before, for the next in its paragraph; or "" */
    jmp_buf recover;    /* where an error in a declaration goes */
    struct set_decl **set_tail;
    struct property_decl **property_tail;
    struct parameter_decl **parameter_tail;
    struct choice_decl **choice_tail;
    struct quotient_decl **quotient_tail;
    struct define_decl **define_tail;
    struct require_decl **require_tail;
    struct trigger_decl **trigger_tail;
};

/* ---- parse.c ---- */
BASE_NORETURN void parse_fail(struct parser *p, const char *wanted);
/* The same with what to write instead, after a semicolon; "": nothing. */
BASE_NORETURN void parse_fail_hint(struct parser *p, const char *wanted, const char *hint);
void parse_advance(struct parser *p);
bool parse_at(const struct parser *p, const char *text);
bool parse_accept(struct parser *p, const char *text); /* takes it if it is next */
void parse_expect(struct parser *p, const char *text);
bool parse_at_name(const struct parser *p); /* a name is next, not a keyword */
struct name parse_name(struct parser *p, const char *wanted);
struct name parse_new_name(struct parser *p); /* of what is declared */
int64_t parse_int(struct parser *p);
/* `a | b | c` with the given separator. */
struct name *parse_names(struct parser *p, const char *separator, const char *wanted);

/* ---- parse_expr.c ---- */
struct expr *parse_expr(struct parser *p);
bool parse_bool(struct parser *p);
struct expr *parse_call(struct parser *p, const char *wanted);
struct expr *parse_list(struct parser *p); /* `{ 1, 2..8 }`, `1..10` or a name */
struct binder *parse_binders(struct parser *p);
struct binder *parse_params(struct parser *p);

/* ---- parse_decl.c ---- */
void parse_declaration(struct parser *p);

#endif
