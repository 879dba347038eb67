/* Tokens of a Lift text. Comments run from `--` to the end of the line; line ends mean nothing otherwise.
 * Private. */
#ifndef THRESH_LIFT_LEX_H
#define THRESH_LIFT_LEX_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/diag.h"

enum token_kind {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_KEYWORD, /* size input output fun let in schedule if then else true false */
    TOKEN_NUMBER,
    TOKEN_SIGN, /* ( ) [ ] { } , : = + - * / % < > ! -> |> .. <= >= == != && || */
    TOKEN_BAD   /* reported already, unless the lexer skips */
};

struct token {
    enum token_kind kind;
    struct source_pos at;
    const char *text; /* in the source */
    size_t length;
    double number;   /* NUMBER */
    bool integer;    /* NUMBER without point or exponent */
    bool line_start; /* first on its line */
};

struct lexer {
    const struct source *source;
    struct diag *diag;
    size_t offset; /* of what follows the last token */
    bool skipping; /* after an error: nothing is reported */
};

/* Reads the next token; TOKEN_END again and again at the end. */
struct token lift_lex_next(struct lexer *lexer);
bool lift_token_is(const struct token *t, const char *text);

#endif
