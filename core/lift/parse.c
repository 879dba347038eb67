/* The parser: recursive descent with one token of look-ahead. This file reads declarations; parse_token.c has
 * tokens and messages, parse_expr.c types and expressions.
 *
 *     size N                      AST_SIZE   "N"
 *     input x: [float]N           AST_INPUT  "x", an ast_type
 *     output map(sqrt, x)         AST_OUTPUT, an AST_CALL
 *
 * After an error it skips to the next declaration, a keyword at the start of a line, so that one mistake
 * gives one message. */
#include "core/lift/parse.h"

#include "core/base/arena.h"

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
        add_decl(p, program, AST_SIZE)->name = parser_expect_name(p, "a size name");
    while (parser_accept(p, ","));
}

/* A number, or the size *size. */
static double parse_bound(struct parser *p, struct ast **size)
{
    bool begins = parser_at_text(p, "-") || parser_at_text(p, "(") || p->next.kind == TOKEN_NUMBER ||
                  p->next.kind == TOKEN_NAME;
    if (p->failed || !begins) {
        parser_fail(p, "a number or a size");
        return 0;
    }
    struct ast *bound = parser_size(p);
    double sign = bound->kind == AST_NEGATE ? -1 : 1;
    if (bound->kind == AST_NEGATE) bound = bound->parts[0];
    if (bound->kind == AST_NUMBER) return sign * bound->number;
    *size = sign < 0 ? NULL : bound;
    if (sign < 0) PARSER_FAIL(p, "a negative size; write 0 - N");
    return 0;
}

/* After "in": -1.5..2, 0..N-1 */
static void parse_range(struct parser *p, struct ast_decl *decl)
{
    decl->range = (struct lift_range){.given = true, .at = p->next.at};
    decl->range.low = parse_bound(p, &decl->low);
    parser_expect(p, "..");
    decl->range.high = parse_bound(p, &decl->high);
}

/* A type, perhaps after `interleaved`, which is no keyword: a type may not be called that, other things may.
 */
static void parse_layout(struct parser *p, struct ast_decl *decl)
{
    decl->interleaved = !p->failed && p->next.kind == TOKEN_NAME && lift_token_is(&p->next, "interleaved");
    if (decl->interleaved) parser_advance(p);
    decl->type = parser_type(p);
}

static void parse_input(struct parser *p, struct ast_program *program)
{
    struct ast_decl *decl = add_decl(p, program, AST_INPUT);
    decl->name = parser_expect_name(p, "an input name");
    parser_expect(p, ":");
    parse_layout(p, decl);
    if (parser_accept(p, "in")) parse_range(p, decl);
}

static void parse_value(struct parser *p, struct ast_program *program)
{
    struct ast_decl *decl = add_decl(p, program, AST_VALUE);
    decl->name = parser_expect_name(p, "a name");
    parser_expect(p, "=");
    decl->body = parser_expr(p);
}

static void parse_function(struct parser *p, struct ast_program *program)
{
    struct ast_decl *decl = add_decl(p, program, AST_FUNCTION);
    decl->name = parser_expect_name(p, "a function name");
    decl->patterns = ARENA_NEW(p->arena, struct ast_pattern);
    decl->patterns->at = p->next.at;
    parser_expect(p, "(");
    parser_pattern_list(p, decl->patterns);
    if (parser_accept(p, ":")) decl->type = parser_type(p);
    if (parser_at_text(p, "->"))
        parser_fail_hinted(p, "'='", "; a function is declared as fun f(x) = x + 1.0");
    parser_expect(p, "=");
    bool brace = parser_accept(p, "{");
    decl->body = parser_expr(p);
    if (brace) parser_expect(p, "}");
}

static void parse_schedule(struct parser *p)
{
    if (!p->failed && p->next.kind == TOKEN_NAME && lift_token_is(&p->next, "open"))
        parser_advance(p);
    else
        parser_fail(p, "'open'");
}

/* Whether the token after the next one is this text. */
static bool follows(const struct parser *p, const char *text)
{
    struct lexer ahead = p->lexer;
    ahead.skipping = true;
    struct token t = lift_lex_next(&ahead);
    return lift_token_is(&t, text);
}

/* After "output": C = e, y: interleaved [(float, float)]N = e, or an expression alone. */
static void parse_output(struct parser *p, struct ast_program *program, struct source_pos keyword)
{
    struct ast_decl *decl = add_decl(p, program, AST_OUTPUT);
    bool named = p->next.kind == TOKEN_NAME && (follows(p, "=") || follows(p, ":"));
    if (!named) {
        decl->at = keyword;
        decl->body = parser_expr(p);
        return;
    }
    decl->name = parser_expect_name(p, "an output name");
    if (parser_accept(p, ":")) parse_layout(p, decl);
    parser_expect(p, "=");
    decl->body = parser_expr(p);
}

/* The next token cannot begin a declaration. */
static void fail_decl(struct parser *p)
{
    static const char *const known[] = {"size", "input", "output", "let", "fun", "schedule"};
    const char *hint = parser_similar_hint(p, known, sizeof known / sizeof known[0]);
    if (!p->failed && parser_report_absent(p, &p->next, ABSENT_DECL)) p->failed = true;
    if (parser_at_text(p, ",")) hint = "; only sizes are separated by commas";
    if (p->next.kind == TOKEN_NAME && follows(p, "=")) hint = "; a value is named by let x = ...";
    parser_fail_hinted(p, "size, input, output, let, fun or schedule", hint);
}

static void parse_decl(struct parser *p, struct ast_program *program)
{
    struct source_pos at = p->next.at;
    if (parser_accept(p, "size"))
        parse_sizes(p, program);
    else if (parser_accept(p, "input"))
        parse_input(p, program);
    else if (parser_accept(p, "let"))
        parse_value(p, program);
    else if (parser_accept(p, "fun"))
        parse_function(p, program);
    else if (parser_accept(p, "schedule"))
        parse_schedule(p);
    else if (parser_accept(p, "output"))
        parse_output(p, program, at);
    else
        fail_decl(p);
}

/* Whether the next token is a keyword that begins declarations, at the beginning of a line. */
static bool at_decl(const struct parser *p)
{
    static const char *const inner[] = {"in", "if", "then", "else", "true", "false"};
    bool decl = p->next.kind == TOKEN_KEYWORD && p->next.line_start;
    for (size_t i = 0; i < sizeof inner / sizeof inner[0]; i++)
        decl = decl && !parser_at_text(p, inner[i]);
    return decl;
}

/* Skips to the next declaration. */
static void recover(struct parser *p)
{
    p->failed = false;
    p->depth = 0;
    p->lexer.skipping = true;
    while (p->next.kind != TOKEN_END && !at_decl(p))
        parser_advance(p);
    p->lexer.skipping = false;
}

struct ast_program *lift_syntax_parse(const struct source *source, struct arena *a, struct diag *d)
{
    struct parser p = {.lexer = {.source = source, .diag = d}, .arena = a, .diag = d};
    struct ast_program *program = ARENA_NEW(a, struct ast_program);
    parser_advance(&p);
    while (p.next.kind != TOKEN_END) {
        size_t before = program->n_decls;
        struct source_pos start = p.next.at;
        parse_decl(&p, program);
        if (!p.failed) continue;
        program->n_decls = before;
        if (p.next.at.offset == start.offset) parser_advance(&p);
        recover(&p);
    }
    return program;
}
