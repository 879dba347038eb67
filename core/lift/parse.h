/* The parser's state, shared by parse.c (declarations), parse_token.c (tokens, messages) and parse_expr.c
 * (types, expressions). Private to core/lift. */
#ifndef THRESH_LIFT_PARSE_H
#define THRESH_LIFT_PARSE_H

#include "core/base/diag.h"
#include "core/lift/absent.h"
#include "core/lift/lex.h"
#include "core/lift/syntax.h"

struct parser {
    struct lexer lexer;
    struct token next, last; /* last: the one before next */
    struct arena *arena;
    struct diag *diag;
    unsigned depth; /* of nesting */
    bool failed;    /* in this declaration: no more messages, every function returns at once */
};

/* ---- parse_token.c ---- */

void parser_advance(struct parser *p);
/* Whether the next token is this keyword or sign; accept() also reads it, expect() reports another one. */
bool parser_at_text(const struct parser *p, const char *text);
bool parser_accept(struct parser *p, const char *text);
void parser_expect(struct parser *p, const char *text);
/* Reads a name, copied into the arena; "?" after reporting that `what` was expected. */
const char *parser_expect_name(struct parser *p, const char *what);
/* Reports the next token as unexpected; `hint` is appended to the message. */
void parser_fail(struct parser *p, const char *expected);
void parser_fail_hinted(struct parser *p, const char *expected, const char *hint);
/* Reports a name that other languages have here and this one does not (absent.h). false: it is not known. */
bool parser_report_absent(struct parser *p, const struct token *t, enum absent_place place);
/* "; did you mean '...'?" if the next token is a name spelt like one of known[0..n), else "". */
const char *parser_similar_hint(struct parser *p, const char *const *known, size_t n);
/* One level deeper; the caller decrements p->depth when it returns. false after reporting too many levels. */
bool parser_enter(struct parser *p);

/* Reports an error at the next token. */
#define PARSER_FAIL(p, ...)                                                                                  \
    do {                                                                                                     \
        if (!(p)->failed) diag_error((p)->diag, (p)->next.at, __VA_ARGS__);                                  \
        (p)->failed = true;                                                                                  \
    } while (0)

/* ---- parse_expr.c ---- */

/* Reads a type, a parenthesis of parameters up to its ")", an expression. Never NULL; after an error what is
 * returned has no meaning. */
struct ast_type *parser_type(struct parser *p);
void parser_pattern_list(struct parser *p, struct ast_pattern *tuple);
struct ast *parser_expr(struct parser *p);
/* A size: what may stand after "]" of an array's type. */
struct ast *parser_size(struct parser *p);

#endif
