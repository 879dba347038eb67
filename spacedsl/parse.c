/* The parser: reading tokens, included files, and going on after an error. An error ends its declaration; the
 * parser resumes at the next word that begins one, so that a file shows all its errors at once:
 *
 *     choice a: int in 1..        # error: expected an expression
 *     choice b: { X, Y            # parsing resumes here: error: expected '}'
 *
 * The end of an included file ends a declaration. */
#include "spacedsl/parse.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const KEYWORDS[] = {
    "set",       "relation", "property", "parameter", "choice",   "define",   "counter", "half",
    "require",   "trigger",  "quotient", "modulo",    "forall",   "exists",   "is",      "in",
    "not",       "where",    "over",     "when",      "activate", "disjoint", "include", "antisymmetric",
    "symmetric", "alias",    "step",     "true",      "false"};

/* Types and operations: nothing that is declared has their names, since its use would be read as one of them.
 */
static const char *const BUILT_IN[] = {"bool", "int", "max", "min"};

static bool is_one_of(const char *const *words, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(words[i], text)) return true;
    return false;
}

static bool is_keyword(const char *text)
{
    return is_one_of(KEYWORDS, sizeof KEYWORDS / sizeof KEYWORDS[0], text);
}

BASE_NORETURN static void fail(struct parser *p, const char *wanted, bool reserved, const char *hint)
{
    const char *found =
        p->now.kind == TOKEN_END
            ? "the end of the file"
            : arena_printf(p->arena, "%s'%s'", reserved ? "the reserved word " : "", p->now.text);
    diag_error(p->diag, p->now.at, "expected %s, found %s%s%s", wanted, found, *hint ? "; " : "", hint);
    longjmp(p->recover, 1);
}

void parse_fail_hint(struct parser *p, const char *wanted, const char *hint)
{
    fail(p, wanted, p->now.kind == TOKEN_NAME && is_keyword(p->now.text), hint);
}

void parse_fail(struct parser *p, const char *wanted)
{
    parse_fail_hint(p, wanted, "");
}

void parse_advance(struct parser *p)
{
    p->now = lex_next(&p->lexer);
}

bool parse_at(const struct parser *p, const char *text)
{
    return (p->now.kind == TOKEN_NAME || p->now.kind == TOKEN_PUNCT) && !strcmp(p->now.text, text);
}

bool parse_accept(struct parser *p, const char *text)
{
    if (!parse_at(p, text)) return false;
    parse_advance(p);
    return true;
}

void parse_expect(struct parser *p, const char *text)
{
    if (!parse_at(p, text)) parse_fail(p, arena_printf(p->arena, "'%s'", text));
    parse_advance(p);
}

bool parse_at_name(const struct parser *p)
{
    return p->now.kind == TOKEN_NAME && !is_keyword(p->now.text);
}

struct name parse_name(struct parser *p, const char *wanted)
{
    if (!parse_at_name(p)) parse_fail(p, wanted);
    struct name n = {.text = p->now.text, .at = p->now.at};
    parse_advance(p);
    return n;
}

struct name parse_new_name(struct parser *p)
{
    static const char wanted[] = "a name";
    bool built_in = is_one_of(BUILT_IN, sizeof BUILT_IN / sizeof BUILT_IN[0], p->now.text);
    if (p->now.kind == TOKEN_NAME && built_in) fail(p, wanted, true, "");
    return parse_name(p, wanted);
}

int64_t parse_int(struct parser *p)
{
    bool negative = parse_accept(p, "-");
    if (p->now.kind != TOKEN_INT) parse_fail(p, "a number");
    int64_t n = p->now.number;
    parse_advance(p);
    return negative ? -n : n;
}

struct name *parse_names(struct parser *p, const char *separator, const char *wanted)
{
    struct name *first = NULL, **tail = &first;
    do {
        *tail = ARENA_NEW(p->arena, struct name);
        **tail = parse_name(p, wanted);
        tail = &(*tail)->next;
    } while (parse_accept(p, separator));
    return first;
}

/* ---- files ---- */

enum { FILE_BYTES = 16 << 20, MAX_FILES = 64 };

static const char *identity_of(struct arena *a, const char *path)
{
    struct stat st;
    if (stat(path, &st)) return path;
    return arena_printf(a, "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
}

/* The path of a file that is named in another one. */
static const char *relative_path(struct parser *p, const char *name)
{
    const char *from = p->lexer.source->path, *slash = strrchr(from, '/');
    if (*name == '/' || !slash) return name;
    return arena_printf(p->arena, "%.*s/%s", (int)(slash - from), from, name);
}

/* Adds a file to the list; false: it is there already. */
static bool note_file(struct parser *p, const struct source *source)
{
    const char *identity = identity_of(p->arena, source->path);
    struct source_file **tail = &p->ast->files;
    for (; *tail; tail = &(*tail)->next)
        if (!strcmp((*tail)->identity, identity)) return false;
    *tail = ARENA_NEW(p->arena, struct source_file);
    **tail = (struct source_file){.source = source, .identity = identity};
    return true;
}

/* The first error without its place. */
static const char *reason_of(const struct diag *why)
{
    static const char mark[] = "error: ";
    const char *message = diag_message(why, 0), *text = strstr(message, mark);
    return text ? text + strlen(mark) : message;
}

static const struct source *read_source(struct parser *p, const char *path, struct source_pos at)
{
    struct diag *why = diag_new();
    struct source *source = ARENA_NEW(p->arena, struct source);
    char *text = source_read_file(path, FILE_BYTES, &source->length, why);
    source->path = path;
    source->text = text ? arena_strndup(p->arena, text, source->length) : NULL;
    if (!text) diag_error(p->diag, at, "cannot include '%s': %s", path, reason_of(why));
    free(text);
    diag_free(why);
    return source->text ? source : NULL;
}

/* `include "file"`: its declarations come here, unless the file was read before. */
static void parse_include(struct parser *p)
{
    struct source_pos at = p->now.at;
    if (p->now.kind != TOKEN_STRING) parse_fail(p, "a file name in quotes");
    const char *path = relative_path(p, p->now.text);
    size_t files = 0;
    for (const struct source_file *f = p->ast->files; f; f = f->next)
        files++;
    if (files == MAX_FILES || p->n_including == sizeof p->including / sizeof p->including[0])
        diag_error(p->diag, at, "too many files are included");
    else {
        const struct source *source = read_source(p, path, at);
        if (source && note_file(p, source)) {
            p->including[p->n_including++] = p->lexer;
            p->lexer.source = source;
            p->lexer.next = 0;
        }
    }
    parse_advance(p);
}

/* At the end of an included file: goes on in the one around it. */
static bool leave_file(struct parser *p)
{
    if (!p->n_including) return false;
    p->lexer = p->including[--p->n_including];
    parse_advance(p);
    return true;
}

/* ---- recovery ---- */

static bool starts_declaration(const struct parser *p)
{
    static const char *const words[] = {"set",     "relation", "property", "parameter",
                                        "choice",  "define",   "counter",  "half",
                                        "require", "trigger",  "quotient", "include"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (parse_at(p, words[i])) return true;
    return p->now.kind == TOKEN_END;
}

static void skip_declaration(struct parser *p)
{
    p->depth = 0;
    do
        parse_advance(p);
    while (!starts_declaration(p));
}

static void parse_header(struct parser *p)
{
    const struct token first = p->now;
    if (!parse_accept(p, "space")) parse_fail_hint(p, "'space'", "a file begins with 'space NAME'");
    p->ast->doc = *first.doc ? first.doc : first.comment;
    p->ast->name = parse_name(p, "a name");
}

/* Only the file that is named on the command line is a space. */
static void parse_second_header(struct parser *p)
{
    diag_error(p->diag, p->now.at,
               p->n_including ? "unexpected 'space' in an included file; remove this line"
                              : "unexpected 'space'; it stands once, at the beginning of the file");
    parse_advance(p);
    parse_name(p, "a name");
}

static void parse_all(struct parser *p)
{
    if (setjmp(p->recover))
        skip_declaration(p);
    else
        parse_header(p);
    while (p->now.kind != TOKEN_END || leave_file(p)) {
        if (p->now.kind == TOKEN_END) continue;
        if (setjmp(p->recover))
            skip_declaration(p);
        else if (parse_at(p, "space"))
            parse_second_header(p);
        else if (parse_accept(p, "include"))
            parse_include(p);
        else
            parse_declaration(p);
    }
}

struct ast *spacedsl_parse(const struct source *source, struct arena *a, struct diag *d)
{
    struct ast *ast = ARENA_NEW(a, struct ast);
    ast->doc = "";
    struct parser *p = ARENA_NEW(a, struct parser);
    *p = (struct parser){.lexer = {source, 0, a, d},
                         .arena = a,
                         .diag = d,
                         .ast = ast,
                         .reason = "",
                         .set_tail = &ast->sets,
                         .property_tail = &ast->properties,
                         .parameter_tail = &ast->parameters,
                         .choice_tail = &ast->choices,
                         .quotient_tail = &ast->quotients,
                         .define_tail = &ast->defines,
                         .require_tail = &ast->requires,
                         .trigger_tail = &ast->triggers};
    note_file(p, source);
    parse_advance(p);
    parse_all(p);
    return ast;
}
