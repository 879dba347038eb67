/* The lexer: text to tokens. Of the operators the longest that matches is taken: `<->` is one token, not `<`
 * and `->`. Names, numbers up to 2^60 and strings are the other kinds; comments are not tokens, but are kept
 * with the token behind or before them (lex.h). */
#include "spacedsl/lex.h"

#include <ctype.h>
#include <string.h>

#include "core/base/strbuf.h"
#include "core/space/def.h"

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

/* The comments between two tokens. */
struct remarks {
    struct strbuf doc, block, trailing;
    unsigned newlines; /* since the last token or comment */
    bool line_ended;   /* since the last token */
    bool paragraph;    /* a blank line was passed */
};

/* Appends the rest of the line, `skip` characters further on. Rules such as `# ---- x ----` say nothing. */
static void read_comment(struct lexer *lx, unsigned skip, struct strbuf *out)
{
    lx->next += skip;
    while (*rest(lx) == ' ')
        lx->next++;
    size_t start = lx->next;
    skip_line(lx);
    if (!strncmp(lx->source->text + start, "--", 2) || lx->next == start) return;
    if (out->length) strbuf_add(out, " ");
    strbuf_addn(out, lx->source->text + start, lx->next - start);
}

static void pass_space(struct lexer *lx, struct remarks *r)
{
    if (*rest(lx) == '\n') {
        r->line_ended = true;
        if (++r->newlines == 2) {
            r->paragraph = true;
            strbuf_free(&r->block);
        }
    }
    lx->next++;
}

static void pass_comment(struct lexer *lx, struct remarks *r)
{
    bool doc = *rest(lx) == '/';
    read_comment(lx, doc ? 3 : 1, !r->line_ended ? &r->trailing : doc ? &r->doc : &r->block);
    r->newlines = 0;
}

static const char *keep(struct lexer *lx, struct strbuf *b)
{
    const char *text = b->length ? arena_strdup(lx->arena, b->text) : "";
    strbuf_free(b);
    return text;
}

static struct token skip_space(struct lexer *lx)
{
    struct remarks r = {.line_ended = lx->next == 0};
    for (;;) {
        if (isspace((unsigned char)*rest(lx)))
            pass_space(lx, &r);
        else if (*rest(lx) == '#' || !strncmp(rest(lx), "///", 3))
            pass_comment(lx, &r);
        else
            break;
    }
    return (struct token){.at = {lx->source, lx->next},
                          .text = "end of file",
                          .doc = keep(lx, &r.doc),
                          .comment = keep(lx, &r.block),
                          .trailing = keep(lx, &r.trailing),
                          .paragraph = r.paragraph};
}

static void read_name(struct lexer *lx, struct token *t)
{
    size_t start = lx->next;
    while (isalnum((unsigned char)*rest(lx)) || *rest(lx) == '_')
        lx->next++;
    t->kind = TOKEN_NAME;
    t->text = arena_strndup(lx->arena, lx->source->text + start, lx->next - start);
}

/* Numbers have no fraction; `1..8` is two of them. */
static void pass_fraction(struct lexer *lx, struct source_pos at)
{
    const char *s = rest(lx);
    if (s[0] != '.' || !isdigit((unsigned char)s[1])) return;
    diag_error(lx->diag, at, "numbers must be whole: write 4 * x <= 3 * y for x <= 0.75 * y");
    lx->next += 1 + strspn(s + 1, "0123456789");
}

/* Beyond SPACE_BIG arithmetic saturates: such a number would not be what it says. */
static void read_int(struct lexer *lx, struct token *t)
{
    size_t start = lx->next;
    t->kind = TOKEN_INT;
    while (isdigit((unsigned char)*rest(lx))) {
        if (__builtin_mul_overflow(t->number, 10, &t->number) ||
            __builtin_add_overflow(t->number, *rest(lx) - '0', &t->number) || t->number > SPACE_BIG) {
            diag_error(lx->diag, t->at, "number too large; the maximum is 2^60");
            t->number = 0;
        }
        lx->next++;
    }
    t->text = arena_strndup(lx->arena, lx->source->text + start, lx->next - start);
    pass_fraction(lx, t->at);
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
        diag_error(lx->diag, t->at, "string without a closing quote");
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

/* Adds an error, with what is written instead where that is known, and passes the character. */
static void refuse_character(struct lexer *lx, struct source_pos at, char c)
{
    const char *hint = "";
    if (c == ';') hint = "; declarations end without a mark";
    if (c == '[' || c == ']') hint = "; lists are written { 1, 2, 4 }";
    diag_error(lx->diag, at, "unexpected character '%c'%s", isprint((unsigned char)c) ? c : '?', hint);
    lx->next++;
}

struct token lex_next(struct lexer *lx)
{
    for (;;) {
        struct token t = skip_space(lx);
        char c = *rest(lx);
        if (!c) return t;
        if (isalpha((unsigned char)c) || c == '_')
            read_name(lx, &t);
        else if (isdigit((unsigned char)c))
            read_int(lx, &t);
        else if (c == '"')
            read_string(lx, &t);
        else if (!strncmp(rest(lx), "//", 2)) {
            diag_error(lx->diag, t.at, "'//' is not in the language; a comment begins with #");
            skip_line(lx);
            continue;
        } else if (!read_punct(lx, &t)) {
            refuse_character(lx, t.at, c);
            continue;
        }
        return t;
    }
}
