/* Tokens of .space files. `#` starts a comment, `///` a doc comment. Comments are kept with the tokens around
 * them: they are what `thresh space describe` prints. */
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
    const char *doc;      /* the doc comment before it, or "" */
    const char *comment;  /* the block of comments directly above it, or "" */
    const char *trailing; /* the comment after the token before it, on the same line, or "" */
    bool paragraph;       /* a blank line is before it */
};

struct lexer {
    const struct source *source;
    size_t next; /* offset of what is not yet read */
    struct arena *arena;
    struct diag *diag;
};

struct token lex_next(struct lexer *lx);

#endif
