/* Types, parameters and expressions: one function a rule of the grammar in the README, named after it; one
 * for all infix operators, whose precedence is a table.
 *
 * `a + b * c |> f` is read by parse_infix() at the level of `|>`, which asks itself for each side at the next
 * level, and so on down to `*`, whose sides parse_unary() reads. Depth and length of an expression are
 * bounded, so that no text exhausts the stack here or in what walks over the tree later. */
#include "core/lift/parse.h"

#include "core/base/arena.h"

enum { MAX_TERMS = 100 }; /* operators of one chain, whose tree is as deep as they are many */

enum level { LEVEL_PIPE, LEVEL_OR, LEVEL_AND, LEVEL_COMPARISON, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_UNARY };

static struct ast *parse_infix(struct parser *p, enum level level);

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
        t->size = parser_size(p);
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

static struct ast *parse_if(struct parser *p)
{
    struct ast *e = new_ast(p, AST_IF, p->next.at);
    e->op = SCALAR_SELECT;
    parser_advance(p);
    add_part(p, e, parser_expr(p));
    parser_expect(p, "then");
    add_part(p, e, parser_expr(p));
    parser_expect(p, "else");
    add_part(p, e, parser_expr(p));
    return e;
}

/* After "let": a tuple is taken apart as by the parameters of a function, let (a, b) = t in e as
 * (fun (a, b) -> e)(t). */
static struct ast *parse_let_tuple(struct parser *p)
{
    struct ast *fun = new_ast(p, AST_FUN, p->next.at), *call = new_ast(p, AST_CALL, p->next.at);
    fun->patterns = ARENA_NEW(p->arena, struct ast_pattern);
    fun->patterns->at = p->next.at;
    add_pattern(p, fun->patterns);
    add_part(p, call, fun);
    parser_expect(p, "=");
    add_part(p, call, parser_expr(p));
    parser_expect(p, "in");
    add_part(p, fun, parser_expr(p));
    return call;
}

static struct ast *parse_let(struct parser *p)
{
    parser_advance(p);
    if (parser_at_text(p, "(")) return parse_let_tuple(p);
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

/* After "[": the elements of an array. */
static struct ast *parse_array(struct parser *p, struct source_pos at)
{
    struct ast *e = new_ast(p, AST_ARRAY, at);
    do
        add_part(p, e, parser_expr(p));
    while (parser_accept(p, ","));
    parser_expect(p, "]");
    return e;
}

/* "; the function is called add" if the next token is an operator. */
static const char *operator_hint(struct parser *p);

/* The next token cannot begin an expression. An operator that stands alone is meant as a function, as in
 * reduce(+, 0.0, a); what an expression may be is not an operand. */
static void fail_expression(struct parser *p)
{
    bool open = parser_at_text(p, "fun") || parser_at_text(p, "let") || parser_at_text(p, "if");
    parser_fail_hinted(p, "an expression",
                       open ? "; as an operand it stands in parentheses" : operator_hint(p));
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
    } else if (parser_at_text(p, "true") || parser_at_text(p, "false")) {
        e->kind = AST_TRUTH;
        e->number = parser_at_text(p, "true");
        parser_advance(p);
    } else if (parser_accept(p, "[")) {
        e = parse_array(p, e->at);
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
        PARSER_FAIL(p, "element i of an array is written at(i, a)");
    return e;
}

static struct ast *parse_unary(struct parser *p)
{
    struct source_pos at = p->next.at;
    struct ast *e;
    bool minus = parser_at_text(p, "-");
    if (parser_enter(p) && (parser_accept(p, "-") || parser_accept(p, "!"))) {
        e = new_ast(p, minus ? AST_NEGATE : AST_NOT, at);
        e->op = minus ? SCALAR_NEG : SCALAR_NOT;
        add_part(p, e, parse_unary(p));
    } else {
        e = parse_call(p);
    }
    p->depth--;
    return e;
}

/* ---- infix operators ---- */

struct infix {
    const char *text;
    enum level level;
    enum ast_kind kind;
    enum scalar_op op; /* BINARY */
};

static const struct infix infixes[] = {
    {"|>", LEVEL_PIPE, AST_PIPE, SCALAR_OP_COUNT},   {"||", LEVEL_OR, AST_BINARY, SCALAR_OR},
    {"&&", LEVEL_AND, AST_BINARY, SCALAR_AND},       {"<", LEVEL_COMPARISON, AST_BINARY, SCALAR_LT},
    {"<=", LEVEL_COMPARISON, AST_BINARY, SCALAR_LE}, {">", LEVEL_COMPARISON, AST_BINARY, SCALAR_GT},
    {">=", LEVEL_COMPARISON, AST_BINARY, SCALAR_GE}, {"==", LEVEL_COMPARISON, AST_BINARY, SCALAR_EQ},
    {"!=", LEVEL_COMPARISON, AST_BINARY, SCALAR_NE}, {"+", LEVEL_SUM, AST_BINARY, SCALAR_ADD},
    {"-", LEVEL_SUM, AST_BINARY, SCALAR_SUB},        {"*", LEVEL_PRODUCT, AST_BINARY, SCALAR_MULT},
    {"/", LEVEL_PRODUCT, AST_BINARY, SCALAR_DIV},    {"%", LEVEL_PRODUCT, AST_BINARY, SCALAR_MOD},
};
enum { N_INFIXES = sizeof infixes / sizeof infixes[0] };

/* The operator that the next token is, or NULL. */
static const struct infix *next_infix(struct parser *p)
{
    for (int i = 0; i < N_INFIXES; i++)
        if (parser_at_text(p, infixes[i].text)) return &infixes[i];
    return NULL;
}

static const char *operator_hint(struct parser *p)
{
    const struct infix *x = next_infix(p);
    return !x || x->kind != AST_BINARY
               ? ""
               : arena_printf(p->arena, "; the function is called %s", scalar_op_name(x->op));
}

/* Whether another operator of a chain may follow: a bounded number, and one comparison. */
static bool another_term(struct parser *p, enum level level, unsigned *terms)
{
    if (p->failed) return false;
    if (++*terms > 1 && level == LEVEL_COMPARISON)
        PARSER_FAIL(p, "a comparison of a comparison; write a < b && b < c");
    else if (*terms > MAX_TERMS)
        PARSER_FAIL(p, "more than %d operators in a row; use parentheses or let", MAX_TERMS);
    return !p->failed;
}

/* Operators of a level and those that bind closer: a - b + c is (a - b) + c. */
static struct ast *parse_infix(struct parser *p, enum level level)
{
    if (level == LEVEL_UNARY) return parse_unary(p);
    struct ast *e = parse_infix(p, level + 1);
    unsigned terms = 0;
    for (;;) {
        const struct infix *x = next_infix(p);
        if (!x || x->level != level || !another_term(p, level, &terms)) return e;
        struct ast *left = e;
        e = new_ast(p, x->kind, p->next.at);
        e->op = x->op;
        parser_advance(p);
        add_part(p, e, left);
        add_part(p, e, parse_infix(p, level + 1));
    }
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
    else if (parser_at_text(p, "if"))
        e = parse_if(p);
    else
        e = parse_infix(p, LEVEL_PIPE);
    p->depth--;
    return e;
}

struct ast *parser_size(struct parser *p)
{
    return parse_infix(p, LEVEL_SUM);
}
