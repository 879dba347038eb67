/* Tokens of .space files. `#` starts a comment, `///` a doc comment that belongs to the next declaration. */
#ifndef THRESH_SPACEDSL_LEX_H
#define THRESH_SPACEDSL_LEX_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/diag.h"

enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_INT, TOKEN_STRING, TOKEN_PUNCT };

struct token {
    enum token_kind kind;
    struct source_pos at;
    const char *text; /* of names, punctuation and strings */
    int64_t number;
    const char *doc; /* the doc comment before it, or "" */
};

struct lexer {
    const struct source *source;
    size_t next; /* offset of what is not yet read */
    struct arena *arena;
    struct diag *diag;
};

struct token lex_next(struct lexer *lx);

#endif
