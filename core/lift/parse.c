/* The parser: recursive descent, one token ahead (grammar in the README of this folder).
 *
 * After an error it skips to the next declaration, a keyword that begins a line, so that one mistake gives
 * one message. Nesting is bounded, so that no text can exhaust the stack. */
#include <string.h>

#include "core/base/arena.h"
#include "core/base/similar.h"
#include "core/lift/absent.h"
#include "core/lift/lex.h"
#include "core/lift/syntax.h"

enum { MAX_DEPTH = 200, MAX_TERMS = 100 }; /* nesting; operators in a row */

struct parser {
    struct lexer lexer;
    struct token next, last; /* last: the one before next */
    struct arena *arena;
    struct diag *diag;
    unsigned depth;
    bool failed; /* in this declaration: no more messages, everything unwinds */
};

static struct ast *parse_expr(struct parser *p);
static struct ast *parse_sum(struct parser *p);

/* ---- tokens ---- */

static void advance(struct parser *p)
{
    p->last = p->next;
    p->next = lift_lex_next(&p->lexer);
}

/* Reports a name as what it is in other languages, if it is known. */
static bool report_absent(struct parser *p, const struct token *t, enum absent_place place)
{
    return t->kind == TOKEN_NAME && lift_absent(p->diag, t->at, place, t->text, t->length) > 0;
}

/* What nothing is read after, until the next declaration. */
#define FAIL(p, ...)                                                                                         \
    do {                                                                                                     \
        if (!(p)->failed) diag_error((p)->diag, (p)->next.at, __VA_ARGS__);                                  \
        (p)->failed = true;                                                                                  \
    } while (0)

/* The next token cannot stand there. The word before it may be to blame: `if` in "if x then y". */
static void fail_hinted(struct parser *p, const char *expected, const char *hint)
{
    int length = (int)p->next.length;
    bool known = p->failed || p->next.kind == TOKEN_BAD || report_absent(p, &p->next, ABSENT_WORD) ||
                 report_absent(p, &p->last, ABSENT_WORD);
    if (!known && p->next.kind == TOKEN_END)
        diag_error(p->diag, p->next.at, "expected %s, found the end%s", expected, hint);
    else if (!known)
        diag_error(p->diag, p->next.at, "expected %s, found '%.*s'%s", expected, length, p->next.text, hint);
    p->failed = true;
}

static void fail(struct parser *p, const char *expected)
{
    fail_hinted(p, expected, "");
}

static bool at_text(const struct parser *p, const char *text)
{
    bool word = p->next.kind == TOKEN_SIGN || p->next.kind == TOKEN_KEYWORD;
    return !p->failed && word && lift_token_is(&p->next, text);
}

static bool accept(struct parser *p, const char *text)
{
    if (!at_text(p, text)) return false;
    advance(p);
    return true;
}

static void expect(struct parser *p, const char *text)
{
    if (accept(p, text)) return;
    char quoted[16] = "'";
    strncat(quoted, text, 10);
    fail_hinted(p, strcat(quoted, "'"), at_text(p, "->") ? "; a function is written fun x -> x + 1.0" : "");
}

static const char *expect_name(struct parser *p, const char *what)
{
    if (p->failed || p->next.kind != TOKEN_NAME) {
        fail(p, what);
        return "?";
    }
    const char *name = arena_strndup(p->arena, p->next.text, p->next.length);
    advance(p);
    return name;
}

/* "; did you mean '...'?" for a name that stands where one of the known words may stand, or "". */
static const char *similar_hint(struct parser *p, const char *const *known, size_t n)
{
    if (p->next.kind != TOKEN_NAME) return "";
    const char *name = arena_strndup(p->arena, p->next.text, p->next.length);
    const char *similar = similar_find(name, known, n);
    return similar ? arena_printf(p->arena, "; did you mean '%s'?", similar) : "";
}

static bool enter(struct parser *p)
{
    if (++p->depth <= MAX_DEPTH) return true;
    FAIL(p, "nested deeper than %d levels; name parts with let", MAX_DEPTH);
    return false;
}

/* ---- nodes ---- */

static struct ast *new_ast(struct parser *p, enum ast_kind kind, struct source_pos at)
{
    struct ast *e = ARENA_NEW(p->arena, struct ast);
    e->kind = kind;
    e->at = at;
    return e;
}

static void add_part(struct parser *p, struct ast *e, struct ast *part)
{
    e->parts = arena_grow(p->arena, e->parts, &e->cap_parts, e->n_parts + 1, sizeof(struct ast *));
    e->parts[e->n_parts++] = part;
}

/* ---- types ---- */

static struct ast_type *parse_type(struct parser *p);

static void add_type_part(struct parser *p, struct ast_type *t)
{
    struct ast_type *part = parse_type(p);
    t->parts = arena_grow(p->arena, t->parts, &t->cap_parts, t->n_parts + 1, sizeof(struct ast_type *));
    t->parts[t->n_parts++] = part;
}

static const char *type_hint(struct parser *p)
{
    const char *known[SCALAR_TYPE_COUNT];
    for (int i = 0; i < SCALAR_TYPE_COUNT; i++)
        known[i] = scalar_type_name((enum scalar_type)i);
    const char *hint = similar_hint(p, known, SCALAR_TYPE_COUNT);
    return *hint ? hint : ": types are float, double, half, int, bool and arrays such as [float]N";
}

static void parse_scalar_type(struct parser *p, struct ast_type *t)
{
    t->is_scalar = true;
    for (int i = 0; i < SCALAR_TYPE_COUNT; i++) {
        if (p->next.kind != TOKEN_NAME || !lift_token_is(&p->next, scalar_type_name((enum scalar_type)i)))
            continue;
        t->scalar = (enum scalar_type)i;
        advance(p);
        if (at_text(p, "[")) FAIL(p, "an array type has its length behind the brackets: [float]N");
        return;
    }
    if (!p->failed && report_absent(p, &p->next, ABSENT_TYPE))
        p->failed = true;
    else
        fail_hinted(p, "a type", type_hint(p));
}

static struct ast_type *parse_type(struct parser *p)
{
    struct ast_type *t = ARENA_NEW(p->arena, struct ast_type);
    t->at = p->next.at;
    if (enter(p) && accept(p, "[")) {
        add_type_part(p, t);
        expect(p, "]");
        t->size = parse_sum(p);
    } else if (accept(p, "(")) {
        do
            add_type_part(p, t);
        while (accept(p, ","));
        expect(p, ")");
        if (t->n_parts == 1) t = t->parts[0];
    } else {
        parse_scalar_type(p, t);
    }
    p->depth--;
    return t;
}

/* ---- patterns of `fun` ---- */

static struct ast_pattern *parse_pattern(struct parser *p);

static void add_pattern(struct parser *p, struct ast_pattern *tuple)
{
    struct ast_pattern *part = parse_pattern(p);
    tuple->parts = arena_grow(p->arena, tuple->parts, &tuple->cap_parts, tuple->n_parts + 1,
                              sizeof(struct ast_pattern *));
    tuple->parts[tuple->n_parts++] = part;
}

static void parse_pattern_list(struct parser *p, struct ast_pattern *tuple)
{
    do
        add_pattern(p, tuple);
    while (accept(p, ","));
    expect(p, ")");
}

static struct ast_pattern *parse_pattern(struct parser *p)
{
    struct ast_pattern *pattern = ARENA_NEW(p->arena, struct ast_pattern);
    pattern->at = p->next.at;
    if (enter(p) && accept(p, "(")) {
        parse_pattern_list(p, pattern);
    } else {
        pattern->name = expect_name(p, "a parameter name");
        if (accept(p, ":")) pattern->type = parse_type(p);
    }
    p->depth--;
    return pattern->n_parts == 1 ? pattern->parts[0] : pattern;
}

/* ---- expressions ---- */

static struct ast *parse_fun(struct parser *p)
{
    struct ast *e = new_ast(p, AST_FUN, p->next.at);
    advance(p);
    e->patterns = ARENA_NEW(p->arena, struct ast_pattern);
    e->patterns->at = p->next.at;
    do
        add_pattern(p, e->patterns);
    while (!p->failed && !at_text(p, "->"));
    expect(p, "->");
    add_part(p, e, parse_expr(p));
    return e;
}

static struct ast *parse_let(struct parser *p)
{
    advance(p);
    struct ast *e = new_ast(p, AST_LET, p->next.at);
    e->name = expect_name(p, "a name");
    expect(p, "=");
    add_part(p, e, parse_expr(p));
    expect(p, "in");
    add_part(p, e, parse_expr(p));
    return e;
}

/* After "(": a parenthesized expression, a tuple, or an expression with its type. */
static struct ast *parse_parenthesis(struct parser *p, struct source_pos at)
{
    struct ast *first = parse_expr(p);
    struct ast *e = first;
    if (accept(p, ":")) {
        e = new_ast(p, AST_ASCRIBE, at);
        add_part(p, e, first);
        e->type = parse_type(p);
    } else if (at_text(p, ",")) {
        e = new_ast(p, AST_TUPLE, at);
        add_part(p, e, first);
        while (accept(p, ","))
            add_part(p, e, parse_expr(p));
    }
    expect(p, ")");
    return e;
}

/* The next token cannot begin an expression. An operator that stands alone is meant as a function, as in
 * reduce(+, 0.0, a). */
static void fail_expression(struct parser *p)
{
    const char *hint = at_text(p, "+")   ? "; as a function it is add"
                       : at_text(p, "*") ? "; as a function it is mult"
                       : at_text(p, "/") ? "; as a function it is div"
                                         : "";
    if (at_text(p, "["))
        FAIL(p, "not there yet: array literals; pass the values as an input");
    else
        fail_hinted(p, "an expression", hint);
}

static struct ast *parse_primary(struct parser *p)
{
    struct ast *e = new_ast(p, AST_NUMBER, p->next.at);
    if (p->failed) return e;
    if (p->next.kind == TOKEN_NUMBER) {
        e->number = p->next.number;
        e->integer = p->next.integer;
        advance(p);
    } else if (p->next.kind == TOKEN_NAME) {
        e->kind = AST_NAME;
        e->name = expect_name(p, "a name");
    } else if (accept(p, "(")) {
        e = parse_parenthesis(p, e->at);
    } else {
        fail_expression(p);
    }
    return e;
}

static struct ast *parse_call(struct parser *p)
{
    struct ast *e = parse_primary(p);
    while (!p->next.line_start && accept(p, "(")) {
        if (e->kind != AST_CALL) {
            struct ast *call = new_ast(p, AST_CALL, e->at);
            add_part(p, call, e);
            e = call;
        }
        do
            add_part(p, e, parse_expr(p));
        while (accept(p, ","));
        expect(p, ")");
    }
    if (!p->next.line_start && at_text(p, "["))
        FAIL(p, "not there yet: an element by its index; map visits every element, head(a) is the first, "
                "tail(a) the rest, split(k, a) the chunks");
    return e;
}

static struct ast *parse_unary(struct parser *p)
{
    struct source_pos at = p->next.at;
    struct ast *e;
    if (enter(p) && accept(p, "-")) {
        e = new_ast(p, AST_NEGATE, at);
        add_part(p, e, parse_unary(p));
    } else {
        e = parse_call(p);
    }
    p->depth--;
    return e;
}

/* Bounds the operators of one chain, whose tree is as deep as they are many. */
static bool another_term(struct parser *p, unsigned *terms)
{
    if (p->failed || ++*terms <= MAX_TERMS) return !p->failed;
    FAIL(p, "more than %d operators in a row; use parentheses or let", MAX_TERMS);
    return false;
}

static struct ast *new_binary(struct parser *p, struct source_pos at, enum scalar_op op, struct ast *left,
                              struct ast *right)
{
    struct ast *e = new_ast(p, AST_BINARY, at);
    e->op = op;
    add_part(p, e, left);
    add_part(p, e, right);
    return e;
}

static struct ast *parse_product(struct parser *p)
{
    struct ast *e = parse_unary(p);
    unsigned terms = 0;
    while ((at_text(p, "*") || at_text(p, "/")) && another_term(p, &terms)) {
        struct source_pos at = p->next.at;
        enum scalar_op op = at_text(p, "*") ? SCALAR_MULT : SCALAR_DIV;
        advance(p);
        e = new_binary(p, at, op, e, parse_unary(p));
    }
    return e;
}

static struct ast *parse_sum(struct parser *p)
{
    struct ast *e = parse_product(p);
    unsigned terms = 0;
    while ((at_text(p, "+") || at_text(p, "-")) && another_term(p, &terms)) {
        struct source_pos at = p->next.at;
        enum scalar_op op = at_text(p, "+") ? SCALAR_ADD : SCALAR_SUB;
        advance(p);
        e = new_binary(p, at, op, e, parse_product(p));
    }
    return e;
}

static struct ast *parse_pipe(struct parser *p)
{
    struct ast *e = parse_sum(p);
    unsigned terms = 0;
    while (at_text(p, "|>") && another_term(p, &terms)) {
        struct ast *pipe = new_ast(p, AST_PIPE, p->next.at);
        advance(p);
        add_part(p, pipe, e);
        add_part(p, pipe, parse_sum(p));
        e = pipe;
    }
    return e;
}

static struct ast *parse_expr(struct parser *p)
{
    struct ast *e;
    if (!enter(p))
        e = new_ast(p, AST_NUMBER, p->next.at);
    else if (at_text(p, "fun"))
        e = parse_fun(p);
    else if (at_text(p, "let"))
        e = parse_let(p);
    else
        e = parse_pipe(p);
    p->depth--;
    return e;
}

/* ---- declarations ---- */

static struct ast_decl *add_decl(struct parser *p, struct ast_program *program, enum ast_decl_kind kind)
{
    program->decls = arena_grow(p->arena, program->decls, &program->cap_decls, program->n_decls + 1,
                                sizeof(struct ast_decl));
    struct ast_decl *decl = &program->decls[program->n_decls++];
    *decl = (struct ast_decl){.kind = kind, .at = p->next.at};
    return decl;
}

static void parse_sizes(struct parser *p, struct ast_program *program)
{
    do
        add_decl(p, program, AST_SIZE)->name = expect_name(p, "a size name");
    while (accept(p, ","));
}

static double parse_bound(struct parser *p)
{
    double sign = accept(p, "-") ? -1 : 1, number = p->next.number;
    if (p->failed || p->next.kind != TOKEN_NUMBER) {
        fail(p, "a number");
        return 0;
    }
    advance(p);
    return sign * number;
}

/* After "in": -1.5..2 */
static struct lift_range parse_range(struct parser *p)
{
    struct lift_range r = {.given = true, .at = p->next.at};
    r.low = parse_bound(p);
    expect(p, "..");
    r.high = parse_bound(p);
    return r;
}

static void parse_input(struct parser *p, struct ast_program *program)
{
    struct ast_decl *decl = add_decl(p, program, AST_INPUT);
    decl->name = expect_name(p, "an input name");
    expect(p, ":");
    decl->type = parse_type(p);
    if (accept(p, "in")) decl->range = parse_range(p);
}

static void parse_value(struct parser *p, struct ast_program *program)
{
    struct ast_decl *decl = add_decl(p, program, AST_VALUE);
    decl->name = expect_name(p, "a name");
    expect(p, "=");
    decl->body = parse_expr(p);
}

static void parse_function(struct parser *p, struct ast_program *program)
{
    struct ast_decl *decl = add_decl(p, program, AST_FUNCTION);
    decl->name = expect_name(p, "a function name");
    decl->patterns = ARENA_NEW(p->arena, struct ast_pattern);
    decl->patterns->at = p->next.at;
    expect(p, "(");
    parse_pattern_list(p, decl->patterns);
    if (accept(p, ":")) decl->type = parse_type(p);
    if (at_text(p, "->")) fail_hinted(p, "'='", "; a function is declared as fun f(x) = x + 1.0");
    expect(p, "=");
    bool brace = accept(p, "{");
    decl->body = parse_expr(p);
    if (brace) expect(p, "}");
}

static void parse_schedule(struct parser *p)
{
    if (!p->failed && p->next.kind == TOKEN_NAME && lift_token_is(&p->next, "open"))
        advance(p);
    else
        fail(p, "'open'");
}

/* Whether the token after the next one is this text. */
static bool follows(const struct parser *p, const char *text)
{
    struct lexer ahead = p->lexer;
    ahead.skipping = true;
    struct token t = lift_lex_next(&ahead);
    return lift_token_is(&t, text);
}

/* The next token cannot begin a declaration. */
static void fail_decl(struct parser *p)
{
    static const char *const known[] = {"size", "input", "output", "let", "fun", "schedule"};
    const char *hint = similar_hint(p, known, sizeof known / sizeof known[0]);
    if (!p->failed && report_absent(p, &p->next, ABSENT_DECL)) p->failed = true;
    if (at_text(p, ",")) hint = "; only sizes are listed with commas";
    if (p->next.kind == TOKEN_NAME && follows(p, "=")) hint = "; a value is named by let x = ...";
    fail_hinted(p, "size, input, output, let, fun or schedule", hint);
}

static void parse_decl(struct parser *p, struct ast_program *program)
{
    struct source_pos at = p->next.at;
    if (accept(p, "size"))
        parse_sizes(p, program);
    else if (accept(p, "input"))
        parse_input(p, program);
    else if (accept(p, "let"))
        parse_value(p, program);
    else if (accept(p, "fun"))
        parse_function(p, program);
    else if (accept(p, "schedule"))
        parse_schedule(p);
    else if (accept(p, "output")) {
        struct ast_decl *decl = add_decl(p, program, AST_OUTPUT);
        decl->at = at;
        decl->body = parse_expr(p);
    } else
        fail_decl(p);
}

/* Skips to the next declaration: a keyword other than `in` that begins a line. */
static void recover(struct parser *p)
{
    p->failed = false;
    p->depth = 0;
    p->lexer.skipping = true;
    while (p->next.kind != TOKEN_END &&
           !(p->next.kind == TOKEN_KEYWORD && p->next.line_start && !at_text(p, "in")))
        advance(p);
    p->lexer.skipping = false;
}

struct ast_program *lift_syntax_parse(const struct source *source, struct arena *a, struct diag *d)
{
    struct parser p = {.lexer = {.source = source, .diag = d}, .arena = a, .diag = d};
    struct ast_program *program = ARENA_NEW(a, struct ast_program);
    advance(&p);
    while (p.next.kind != TOKEN_END) {
        size_t before = program->n_decls;
        struct source_pos start = p.next.at;
        parse_decl(&p, program);
        if (!p.failed) continue;
        program->n_decls = before;
        if (p.next.at.offset == start.offset) advance(&p);
        recover(&p);
    }
    return program;
}
