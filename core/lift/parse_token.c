/* The parser's window on the text: the next token, what to do with it, and what to say where it is wrong.
 *
 *     expected ')', found 'output'
 *     expected a type, found 'flaot'; did you mean 'float'?
 *
 * After the first error of a declaration `failed` is set: every function here then does nothing, so that the
 * parser returns to parse.c without a second message. */
#include "core/lift/parse.h"

#include <string.h>

#include "core/base/arena.h"
#include "core/base/similar.h"

enum { MAX_NESTING = 200 };

void parser_advance(struct parser *p)
{
    p->last = p->next;
    p->next = lift_lex_next(&p->lexer);
}

/* Reports a name as what it is in other languages, if it is known. */
bool parser_report_absent(struct parser *p, const struct token *t, enum absent_place place)
{
    return t->kind == TOKEN_NAME && lift_absent(p->diag, t->at, place, t->text, t->length) > 0;
}

/* The next token cannot stand there. The word before it may be to blame: `if` in "if x then y". */
void parser_fail_hinted(struct parser *p, const char *expected, const char *hint)
{
    int length = (int)p->next.length;
    bool known = p->failed || p->next.kind == TOKEN_BAD || parser_report_absent(p, &p->next, ABSENT_WORD) ||
                 parser_report_absent(p, &p->last, ABSENT_WORD);
    if (!known && p->next.kind == TOKEN_END)
        diag_error(p->diag, p->next.at, "expected %s, found the end%s", expected, hint);
    else if (!known)
        diag_error(p->diag, p->next.at, "expected %s, found '%.*s'%s", expected, length, p->next.text, hint);
    p->failed = true;
}

void parser_fail(struct parser *p, const char *expected)
{
    parser_fail_hinted(p, expected, "");
}

bool parser_at_text(const struct parser *p, const char *text)
{
    bool word = p->next.kind == TOKEN_SIGN || p->next.kind == TOKEN_KEYWORD;
    return !p->failed && word && lift_token_is(&p->next, text);
}

bool parser_accept(struct parser *p, const char *text)
{
    if (!parser_at_text(p, text)) return false;
    parser_advance(p);
    return true;
}

void parser_expect(struct parser *p, const char *text)
{
    if (parser_accept(p, text)) return;
    char quoted[16] = "'";
    strncat(quoted, text, 10);
    parser_fail_hinted(p, strcat(quoted, "'"),
                       parser_at_text(p, "->") ? "; a function is written fun x -> x + 1.0" : "");
}

const char *parser_expect_name(struct parser *p, const char *what)
{
    if (p->failed || p->next.kind != TOKEN_NAME) {
        parser_fail(p, what);
        return "?";
    }
    const char *name = arena_strndup(p->arena, p->next.text, p->next.length);
    parser_advance(p);
    return name;
}

/* "; did you mean '...'?" for a name that stands where one of the known words may stand, or "". */
const char *parser_similar_hint(struct parser *p, const char *const *known, size_t n)
{
    if (p->next.kind != TOKEN_NAME) return "";
    const char *name = arena_strndup(p->arena, p->next.text, p->next.length);
    const char *similar = similar_find(name, known, n);
    return similar ? arena_printf(p->arena, "; did you mean '%s'?", similar) : "";
}

bool parser_enter(struct parser *p)
{
    if (++p->depth <= MAX_NESTING) return true;
    PARSER_FAIL(p, "nested deeper than %d levels; name parts of it with let", MAX_NESTING);
    return false;
}
