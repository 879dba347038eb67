/* The lexer: longest match over a table of punctuation. */
#include "spacedsl/lex.h"

#include <ctype.h>
#include <string.h>

#include "core/base/strbuf.h"

static const char *const PUNCTUATION[] = {"<->", "->", "<=", ">=", "==", "!=", "&&", "||", "..",
                                          "(",   ")",  "{",  "}",  ",",  ":",  "=",  "<",  ">",
                                          "+",   "-",  "*",  "/",  "%",  "!",  "?",  "|",  "~"};

static const char *rest(const struct lexer *lx)
{
    return lx->source->text + lx->next;
}

static void skip_line(struct lexer *lx)
{
    while (*rest(lx) && *rest(lx) != '\n')
        lx->next++;
}

static void read_doc(struct lexer *lx, struct strbuf *doc)
{
    lx->next += 3;
    while (*rest(lx) == ' ')
        lx->next++;
    size_t start = lx->next;
    skip_line(lx);
    if (doc->length) strbuf_add(doc, " ");
    strbuf_addn(doc, lx->source->text + start, lx->next - start);
}

static const char *skip_space(struct lexer *lx)
{
    struct strbuf doc = {0};
    for (;;) {
        if (isspace((unsigned char)*rest(lx)))
            lx->next++;
        else if (*rest(lx) == '#')
            skip_line(lx);
        else if (!strncmp(rest(lx), "///", 3))
            read_doc(lx, &doc);
        else
            break;
    }
    const char *text = doc.length ? arena_strdup(lx->arena, doc.text) : "";
    strbuf_free(&doc);
    return text;
}

static void read_name(struct lexer *lx, struct token *t)
{
    size_t start = lx->next;
    while (isalnum((unsigned char)*rest(lx)) || *rest(lx) == '_')
        lx->next++;
    t->kind = TOKEN_NAME;
    t->text = arena_strndup(lx->arena, lx->source->text + start, lx->next - start);
}

static void read_int(struct lexer *lx, struct token *t)
{
    t->kind = TOKEN_INT;
    t->text = "number";
    while (isdigit((unsigned char)*rest(lx))) {
        if (__builtin_mul_overflow(t->number, 10, &t->number) ||
            __builtin_add_overflow(t->number, *rest(lx) - '0', &t->number)) {
            diag_error(lx->diag, t->at, "number too large");
            t->number = 0;
        }
        lx->next++;
    }
}

static void read_string(struct lexer *lx, struct token *t)
{
    size_t start = ++lx->next;
    while (*rest(lx) && *rest(lx) != '"' && *rest(lx) != '\n')
        lx->next++;
    t->kind = TOKEN_STRING;
    t->text = arena_strndup(lx->arena, lx->source->text + start, lx->next - start);
    if (*rest(lx) == '"')
        lx->next++;
    else
        diag_error(lx->diag, t->at, "string without end");
}

static bool read_punct(struct lexer *lx, struct token *t)
{
    for (size_t i = 0; i < sizeof PUNCTUATION / sizeof PUNCTUATION[0]; i++) {
        size_t n = strlen(PUNCTUATION[i]);
        if (strncmp(rest(lx), PUNCTUATION[i], n)) continue;
        t->kind = TOKEN_PUNCT;
        t->text = PUNCTUATION[i];
        lx->next += n;
        return true;
    }
    return false;
}

struct token lex_next(struct lexer *lx)
{
    for (;;) {
        const char *doc = skip_space(lx);
        struct token t = {.at = {lx->source, lx->next}, .text = "end of file", .doc = doc};
        char c = *rest(lx);
        if (!c) return t;
        if (isalpha((unsigned char)c) || c == '_')
            read_name(lx, &t);
        else if (isdigit((unsigned char)c))
            read_int(lx, &t);
        else if (c == '"')
            read_string(lx, &t);
        else if (!read_punct(lx, &t)) {
            diag_error(lx->diag, t.at, "unexpected character '%c'", isprint((unsigned char)c) ? c : '?');
            lx->next++;
            continue;
        }
        return t;
    }
}
