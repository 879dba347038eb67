/* Types, parameters and expressions: one function a rule of the grammar in the README, named after it.
 *
 * `a + b * c |> f` is read by parse_pipe(), which asks parse_sum() for each side of `|>`, which asks
 * parse_product() for each side of `+`, and so on down to names and numbers. Depth and length of an
 * expression are bounded, so that no text exhausts the stack here or in what walks over the tree later. */
#include "core/lift/parse.h"

#include "core/base/arena.h"

enum { MAX_TERMS = 100 }; /* operators of one chain, whose tree is as deep as they are many */

static struct ast *parse_sum(struct parser *p);

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

static void add_type_part(struct parser *p, struct ast_type *t)
{
    struct ast_type *part = parser_type(p);
    t->parts = arena_grow(p->arena, t->parts, &t->cap_parts, t->n_parts + 1, sizeof(struct ast_type *));
    t->parts[t->n_parts++] = part;
}

static const char *type_hint(struct parser *p)
{
    const char *known[SCALAR_TYPE_COUNT];
    for (int i = 0; i < SCALAR_TYPE_COUNT; i++)
        known[i] = scalar_type_name((enum scalar_type)i);
    const char *hint = parser_similar_hint(p, known, SCALAR_TYPE_COUNT);
    return *hint ? hint : ": types are float, double, half, int, bool and arrays such as [float]N";
}

static void parse_scalar_type(struct parser *p, struct ast_type *t)
{
    t->is_scalar = true;
    for (int i = 0; i < SCALAR_TYPE_COUNT; i++) {
        if (p->next.kind != TOKEN_NAME || !lift_token_is(&p->next, scalar_type_name((enum scalar_type)i)))
            continue;
        t->scalar = (enum scalar_type)i;
        parser_advance(p);
        if (parser_at_text(p, "["))
            PARSER_FAIL(p, "the length of an array type follows the brackets: [float]N");
        return;
    }
    if (!p->failed && parser_report_absent(p, &p->next, ABSENT_TYPE))
        p->failed = true;
    else
        parser_fail_hinted(p, "a type", type_hint(p));
}

struct ast_type *parser_type(struct parser *p)
{
    struct ast_type *t = ARENA_NEW(p->arena, struct ast_type);
    t->at = p->next.at;
    if (parser_enter(p) && parser_accept(p, "[")) {
        add_type_part(p, t);
        parser_expect(p, "]");
        t->size = parse_sum(p);
    } else if (parser_accept(p, "(")) {
        do
            add_type_part(p, t);
        while (parser_accept(p, ","));
        parser_expect(p, ")");
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

void parser_pattern_list(struct parser *p, struct ast_pattern *tuple)
{
    do
        add_pattern(p, tuple);
    while (parser_accept(p, ","));
    parser_expect(p, ")");
}

static struct ast_pattern *parse_pattern(struct parser *p)
{
    struct ast_pattern *pattern = ARENA_NEW(p->arena, struct ast_pattern);
    pattern->at = p->next.at;
    if (parser_enter(p) && parser_accept(p, "(")) {
        parser_pattern_list(p, pattern);
    } else {
        pattern->name = parser_expect_name(p, "a parameter name");
        if (parser_accept(p, ":")) pattern->type = parser_type(p);
    }
    p->depth--;
    return pattern->n_parts == 1 ? pattern->parts[0] : pattern;
}

/* ---- expressions ---- */

static struct ast *parse_fun(struct parser *p)
{
    struct ast *e = new_ast(p, AST_FUN, p->next.at);
    parser_advance(p);
    e->patterns = ARENA_NEW(p->arena, struct ast_pattern);
    e->patterns->at = p->next.at;
    do
        add_pattern(p, e->patterns);
    while (!p->failed && !parser_at_text(p, "->"));
    parser_expect(p, "->");
    add_part(p, e, parser_expr(p));
    return e;
}

static struct ast *parse_let(struct parser *p)
{
    parser_advance(p);
    struct ast *e = new_ast(p, AST_LET, p->next.at);
    e->name = parser_expect_name(p, "a name");
    parser_expect(p, "=");
    add_part(p, e, parser_expr(p));
    parser_expect(p, "in");
    add_part(p, e, parser_expr(p));
    return e;
}

/* After "(": a parenthesized expression, a tuple, or an expression with its type. */
static struct ast *parse_parenthesis(struct parser *p, struct source_pos at)
{
    struct ast *first = parser_expr(p);
    struct ast *e = first;
    if (parser_accept(p, ":")) {
        e = new_ast(p, AST_ASCRIBE, at);
        add_part(p, e, first);
        e->type = parser_type(p);
    } else if (parser_at_text(p, ",")) {
        e = new_ast(p, AST_TUPLE, at);
        add_part(p, e, first);
        while (parser_accept(p, ","))
            add_part(p, e, parser_expr(p));
    }
    parser_expect(p, ")");
    return e;
}

/* The next token cannot begin an expression. An operator that stands alone is meant as a function, as in
 * reduce(+, 0.0, a). */
static void fail_expression(struct parser *p)
{
    const char *hint = parser_at_text(p, "+")   ? "; the function is called add"
                       : parser_at_text(p, "*") ? "; the function is called mult"
                       : parser_at_text(p, "/") ? "; the function is called div"
                                                : "";
    if (parser_at_text(p, "["))
        PARSER_FAIL(p, "not supported yet: array literals; pass the values as an input");
    else
        parser_fail_hinted(p, "an expression", hint);
}

static struct ast *parse_primary(struct parser *p)
{
    struct ast *e = new_ast(p, AST_NUMBER, p->next.at);
    if (p->failed) return e;
    if (p->next.kind == TOKEN_NUMBER) {
        e->number = p->next.number;
        e->integer = p->next.integer;
        parser_advance(p);
    } else if (p->next.kind == TOKEN_NAME) {
        e->kind = AST_NAME;
        e->name = parser_expect_name(p, "a name");
    } else if (parser_accept(p, "(")) {
        e = parse_parenthesis(p, e->at);
    } else {
        fail_expression(p);
    }
    return e;
}

static struct ast *parse_call(struct parser *p)
{
    struct ast *e = parse_primary(p);
    while (!p->next.line_start && parser_accept(p, "(")) {
        if (e->kind != AST_CALL) {
            struct ast *call = new_ast(p, AST_CALL, e->at);
            add_part(p, call, e);
            e = call;
        }
        do
            add_part(p, e, parser_expr(p));
        while (parser_accept(p, ","));
        parser_expect(p, ")");
    }
    if (!p->next.line_start && parser_at_text(p, "["))
        PARSER_FAIL(p, "not supported yet: access by index; map visits every element, head(a) is the first, "
                       "tail(a) the rest, split(k, a) the chunks");
    return e;
}

static struct ast *parse_unary(struct parser *p)
{
    struct source_pos at = p->next.at;
    struct ast *e;
    if (parser_enter(p) && parser_accept(p, "-")) {
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
    PARSER_FAIL(p, "more than %d operators in a row; use parentheses or let", MAX_TERMS);
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

/* Operators of one precedence: a - b + c is (a - b) + c. */
struct binary_level {
    struct {
        const char *text;
        enum scalar_op op;
    } operators[2];
    struct ast *(*operand)(struct parser *p);
};

static struct ast *parse_level(struct parser *p, const struct binary_level *level)
{
    struct ast *e = level->operand(p);
    unsigned terms = 0;
    for (;;) {
        bool second = parser_at_text(p, level->operators[1].text);
        if ((!second && !parser_at_text(p, level->operators[0].text)) || !another_term(p, &terms)) return e;
        struct source_pos at = p->next.at;
        parser_advance(p);
        e = new_binary(p, at, level->operators[second].op, e, level->operand(p));
    }
}

static struct ast *parse_product(struct parser *p)
{
    static const struct binary_level product = {{{"*", SCALAR_MULT}, {"/", SCALAR_DIV}}, parse_unary};
    return parse_level(p, &product);
}

static struct ast *parse_sum(struct parser *p)
{
    static const struct binary_level sum = {{{"+", SCALAR_ADD}, {"-", SCALAR_SUB}}, parse_product};
    return parse_level(p, &sum);
}

static struct ast *parse_pipe(struct parser *p)
{
    struct ast *e = parse_sum(p);
    unsigned terms = 0;
    while (parser_at_text(p, "|>") && another_term(p, &terms)) {
        struct ast *pipe = new_ast(p, AST_PIPE, p->next.at);
        parser_advance(p);
        add_part(p, pipe, e);
        add_part(p, pipe, parse_sum(p));
        e = pipe;
    }
    return e;
}

struct ast *parser_expr(struct parser *p)
{
    struct ast *e;
    if (!parser_enter(p))
        e = new_ast(p, AST_NUMBER, p->next.at);
    else if (parser_at_text(p, "fun"))
        e = parse_fun(p);
    else if (parser_at_text(p, "let"))
        e = parse_let(p);
    else
        e = parse_pipe(p);
    p->depth--;
    return e;
}
