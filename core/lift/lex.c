/* The lexer: one token at a time; bad characters are reported where they are.
 *
 *     output map(f, a) -- all      KEYWORD output, NAME map, SIGN (, NAME f, SIGN ",", NAME a, SIGN ), END */
#include "core/lift/lex.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/lift/absent.h"

static bool is_name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static bool is_name_part(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Skips blanks and comments. Returns whether the next token is the first of its line. */
static bool skip_blanks(struct lexer *lexer)
{
    const char *text = lexer->source->text;
    bool line_start = lexer->offset == 0;
    for (;; lexer->offset++) {
        const char *c = text + lexer->offset;
        if (c[0] == '-' && c[1] == '-')
            while (text[lexer->offset] != '\n' && lexer->offset < lexer->source->length)
                lexer->offset++;
        if (lexer->offset >= lexer->source->length || !isspace((unsigned char)text[lexer->offset]))
            return line_start;
        if (text[lexer->offset] == '\n') line_start = true;
    }
}

static void read_number(struct lexer *lexer, struct token *t)
{
    const char *p = t->text;
    t->integer = true;
    while (isdigit((unsigned char)*p))
        p++;
    if (p[0] == '.' && p[1] != '.') {
        t->integer = false;
        for (p++; isdigit((unsigned char)*p);)
            p++;
    }
    const char *exponent = p + 1 + (p[0] && (p[1] == '+' || p[1] == '-'));
    if ((*p == 'e' || *p == 'E') && isdigit((unsigned char)*exponent)) {
        t->integer = false;
        for (p = exponent; isdigit((unsigned char)*p);)
            p++;
    }
    t->number = strtod(t->text, NULL);
    if (*p == 'f') p++;
    t->kind = TOKEN_NUMBER;
    t->length = (size_t)(p - t->text);
    if (isfinite(t->number) && !is_name_part(*p)) return;
    while (is_name_part(*p))
        p++;
    t->length = (size_t)(p - t->text);
    t->kind = TOKEN_BAD;
    if (!lexer->skipping) diag_error(lexer->diag, t->at, "'%.*s' is not a number", (int)t->length, t->text);
}

static void read_name(struct token *t)
{
    static const char *const keywords[] = {"size",     "input", "output", "fun",  "let",  "in",
                                           "schedule", "if",    "then",   "else", "true", "false"};
    t->kind = TOKEN_NAME;
    while (is_name_part(t->text[t->length]))
        t->length++;
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        if (lift_token_is(t, keywords[i])) t->kind = TOKEN_KEYWORD;
}

/* A sign that no program has: as many bytes as it is known to have, or one character. */
static void read_bad_sign(const struct lexer *lexer, struct token *t)
{
    struct diag *d = lexer->skipping ? NULL : lexer->diag;
    size_t left = lexer->source->length - lexer->offset;
    t->kind = TOKEN_BAD;
    t->length = lift_absent(d, t->at, ABSENT_SIGN, t->text, left);
    if (t->length > 0) return;
    for (t->length = 1; t->length < left && ((unsigned char)t->text[t->length] & 0xc0) == 0x80;)
        t->length++;
    bool whole = t->length > 1 && utf8_valid(t->text, t->length) == t->length;
    if (!d) return;
    if (whole || isprint((unsigned char)t->text[0]))
        diag_error(d, t->at, "unexpected character '%.*s'", whole ? (int)t->length : 1, t->text);
    else
        diag_error(d, t->at, "unexpected byte 0x%02x", (unsigned)(unsigned char)t->text[0]);
}

/* Whether a sign of two or more characters that no program has begins here, with one that programs have: the
 * "+=" of "a += b". */
static bool begins_bad_sign(const struct lexer *lexer, const struct token *t)
{
    size_t left = lexer->source->length - lexer->offset;
    return lift_absent(NULL, t->at, ABSENT_SIGN, t->text, left) > 1;
}

static void read_sign(const struct lexer *lexer, struct token *t)
{
    static const char *const pairs[] = {"->", "|>", "..", "<=", ">=", "==", "!=", "&&", "||"};
    bool two = false;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        two = two || !strncmp(t->text, pairs[i], 2);
    t->length = two ? 2 : 1;
    t->kind = TOKEN_SIGN;
    bool known = two || (strchr("()[]{},:=+-*/%<>!", t->text[0]) && !begins_bad_sign(lexer, t));
    if (!known) read_bad_sign(lexer, t);
}

struct token lift_lex_next(struct lexer *lexer)
{
    struct token t = {.kind = TOKEN_END};
    t.line_start = skip_blanks(lexer);
    t.at = (struct source_pos){lexer->source, lexer->offset};
    t.text = lexer->source->text + lexer->offset;
    if (lexer->offset >= lexer->source->length) return t;
    if (isdigit((unsigned char)t.text[0]) || (t.text[0] == '.' && isdigit((unsigned char)t.text[1])))
        read_number(lexer, &t);
    else if (is_name_start(t.text[0]))
        read_name(&t);
    else
        read_sign(lexer, &t);
    lexer->offset += t.length;
    return t;
}

bool lift_token_is(const struct token *t, const char *text)
{
    return t->length == strlen(text) && !memcmp(t->text, text, t->length);
}
