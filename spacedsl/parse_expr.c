/* Expressions, one function for each level of precedence, the loosest first; ast.h has the grammar. Each
 * reads operands by the function of the next level: parse `a && b -> c` calls the level of `->`, which reads
 * `a && b` by the level of `&&`, and then `c`. */
#include <string.h>

#include "spacedsl/parse.h"

enum { MAX_DEPTH = 200, MAX_OPS = 4000 };

bool parse_bool(struct parser *p)
{
    bool value = parse_accept(p, "true");
    if (!value) parse_expect(p, "false");
    return value;
}

static struct expr *new_expr(struct parser *p, enum expr_kind kind, struct source_pos where)
{
    struct expr *e = ARENA_NEW(p->arena, struct expr);
    e->kind = kind;
    e->at = where;
    return e;
}

static struct expr *new_op(struct parser *p, enum space_op op, struct source_pos where, struct expr *a,
                           struct expr *b)
{
    if (++p->n_ops > MAX_OPS) parse_fail(p, "the end of the formula, which is too long");
    struct expr *e = new_expr(p, EXPR_OP, where);
    e->op = op;
    e->kids[0] = a;
    e->kids[1] = b;
    return e;
}

static struct expr *parse_args(struct parser *p)
{
    struct expr *first = NULL, **tail = &first;
    parse_expect(p, "(");
    do {
        *tail = parse_expr(p);
        tail = &(*tail)->next;
    } while (parse_accept(p, ","));
    parse_expect(p, ")");
    return first;
}

struct expr *parse_call(struct parser *p, const char *wanted)
{
    struct name n = parse_name(p, wanted);
    struct expr *e = new_expr(p, EXPR_CALL, n.at);
    e->text = n.text;
    if (parse_at(p, "(")) e->args = parse_args(p);
    return e;
}

/* `a, b in D, c in E(b)` */
struct binder *parse_binders(struct parser *p)
{
    struct binder *first = NULL, **tail = &first;
    do {
        struct name *names = parse_names(p, ",", "a variable");
        parse_expect(p, "in");
        struct expr *domain = parse_call(p, "a set");
        for (struct name *n = names; n; n = n->next) {
            *tail = ARENA_NEW(p->arena, struct binder);
            (*tail)->name = *n;
            (*tail)->domain = domain;
            tail = &(*tail)->next;
        }
    } while (parse_accept(p, ","));
    return first;
}

/* `(a: S, b: T(a))` or nothing */
struct binder *parse_params(struct parser *p)
{
    struct binder *first = NULL, **tail = &first;
    if (!parse_accept(p, "(")) return NULL;
    do {
        *tail = ARENA_NEW(p->arena, struct binder);
        (*tail)->name = parse_name(p, "a parameter");
        parse_expect(p, ":");
        (*tail)->domain = parse_call(p, "a set");
        tail = &(*tail)->next;
    } while (parse_accept(p, ","));
    parse_expect(p, ")");
    return first;
}

static struct expr *parse_quantifier(struct parser *p, enum space_op op)
{
    struct expr *e = new_expr(p, EXPR_QUANTIFIER, p->now.at);
    parse_advance(p);
    e->op = op;
    e->binders = parse_binders(p);
    parse_expect(p, ":");
    e->kids[0] = parse_expr(p);
    return e;
}

static struct expr *parse_aggregate(struct parser *p, enum space_op op, struct source_pos where)
{
    struct expr *e = new_expr(p, EXPR_QUANTIFIER, where);
    e->op = op;
    e->kids[0] = parse_expr(p);
    parse_expect(p, "over");
    e->binders = parse_binders(p);
    if (parse_accept(p, "where")) e->kids[1] = parse_expr(p);
    return e;
}

/* `first x in D: f`, the word itself taken. */
static struct expr *parse_selection(struct parser *p, struct source_pos where)
{
    struct expr *e = new_expr(p, EXPR_QUANTIFIER, where);
    e->op = SPACE_FIRST;
    e->binders = ARENA_NEW(p->arena, struct binder);
    e->binders->name = parse_name(p, "a variable");
    parse_expect(p, "in");
    e->binders->domain = parse_call(p, "a set");
    parse_expect(p, ":");
    e->kids[0] = parse_expr(p);
    return e;
}

static struct expr *parse_word(struct parser *p)
{
    struct source_pos where = p->now.at;
    if (parse_at(p, "exists")) return parse_quantifier(p, SPACE_EXISTS);
    if (parse_at(p, "forall")) return parse_quantifier(p, SPACE_FORALL);
    if (parse_at(p, "true") || parse_at(p, "false")) {
        struct expr *e = new_expr(p, EXPR_BOOL, where);
        e->number = parse_bool(p);
        return e;
    }
    bool max = parse_at(p, "max"), min = parse_at(p, "min"), sum = parse_at(p, "sum"),
         product = parse_at(p, "product"), first = parse_at(p, "first");
    struct expr *e = parse_call(p, "an expression");
    if (first && !e->args && parse_at_name(p)) return parse_selection(p, where);
    if ((sum || product) && parse_accept(p, "of"))
        return parse_aggregate(p, sum ? SPACE_SUM : SPACE_PRODUCT, where);
    if (!min && !max) return e;
    if (parse_accept(p, "of")) return parse_aggregate(p, max ? SPACE_MAXOF : SPACE_MINOF, where);
    if (!e->args) parse_fail(p, "arguments");
    struct expr *folded = e->args;
    for (struct expr *next = e->args->next; next; next = next->next)
        folded = new_op(p, max ? SPACE_MAX : SPACE_MIN, where, folded, next);
    return folded;
}

static struct expr *parse_primary(struct parser *p)
{
    if (p->now.kind == TOKEN_INT) {
        struct expr *e = new_expr(p, EXPR_INT, p->now.at);
        e->number = parse_int(p);
        return e;
    }
    if (parse_at(p, "not")) parse_fail_hint(p, "an expression", "write '!'");
    if (p->now.kind == TOKEN_NAME) return parse_word(p);
    if (!parse_accept(p, "(")) parse_fail(p, "an expression");
    struct expr *e = parse_expr(p);
    parse_expect(p, ")");
    return e;
}

/* Signs and negations are counted first, so that a long row of them is no deep recursion. */
static struct expr *parse_unary(struct parser *p)
{
    struct source_pos where = p->now.at;
    unsigned minus = 0;
    while (parse_accept(p, "-"))
        minus++;
    struct expr *e = parse_primary(p);
    for (; minus; minus--)
        e = new_op(p, SPACE_NEG, where, e, NULL);
    return e;
}

static struct expr *parse_product(struct parser *p)
{
    struct expr *e = parse_unary(p);
    for (;;) {
        struct source_pos where = p->now.at;
        if (parse_accept(p, "*"))
            e = new_op(p, SPACE_MUL, where, e, parse_unary(p));
        else if (parse_accept(p, "/"))
            e = new_op(p, SPACE_DIV, where, e, parse_unary(p));
        else if (parse_accept(p, "%"))
            e = new_op(p, SPACE_MOD, where, e, parse_unary(p));
        else
            return e;
    }
}

static struct expr *parse_sum(struct parser *p)
{
    struct expr *e = parse_product(p);
    for (;;) {
        struct source_pos where = p->now.at;
        if (parse_accept(p, "+"))
            e = new_op(p, SPACE_ADD, where, e, parse_product(p));
        else if (parse_accept(p, "-"))
            e = new_op(p, SPACE_SUB, where, e, parse_product(p));
        else
            return e;
    }
}

/* `{ 1, 2, 4..64 step 4 }`, `1..10` or an expression that names a list */
static struct expr *parse_item(struct parser *p)
{
    struct source_pos where = p->now.at;
    struct expr *lo = parse_sum(p);
    if (!parse_accept(p, "..")) return lo;
    struct expr *e = new_expr(p, EXPR_RANGE, where);
    e->kids[0] = lo;
    e->kids[1] = parse_sum(p);
    if (parse_accept(p, "step")) e->kids[2] = parse_sum(p);
    return e;
}

struct expr *parse_list(struct parser *p)
{
    struct source_pos where = p->now.at;
    if (!parse_accept(p, "{")) return parse_item(p);
    struct expr *e = new_expr(p, EXPR_LIST, where), **tail = &e->args;
    do {
        *tail = parse_item(p);
        tail = &(*tail)->next;
    } while (parse_accept(p, ","));
    parse_expect(p, "}");
    return e;
}

static struct expr *parse_is(struct parser *p, struct expr *left, struct source_pos where)
{
    struct expr *e = new_expr(p, EXPR_IS, where);
    e->kids[0] = left;
    e->negated = parse_accept(p, "not");
    if (p->now.kind == TOKEN_INT) parse_fail_hint(p, "a named value", "numbers are compared with '=='");
    e->values = parse_names(p, "|", "a named value");
    return e;
}

static struct expr *parse_in(struct parser *p, struct expr *left, struct source_pos where, bool negated)
{
    struct expr *e = new_expr(p, EXPR_IN, where);
    e->kids[0] = left;
    e->kids[1] = parse_list(p);
    e->negated = negated;
    return e;
}

static struct expr *parse_comparison(struct parser *p)
{
    struct expr *a = parse_sum(p);
    struct source_pos where = p->now.at;
    if (parse_accept(p, "is")) return parse_is(p, a, where);
    if (parse_accept(p, "in")) return parse_in(p, a, where, false);
    if (parse_accept(p, "not")) {
        parse_expect(p, "in");
        return parse_in(p, a, where, true);
    }
    if (parse_accept(p, "==")) return new_op(p, SPACE_EQ, where, a, parse_sum(p));
    if (parse_accept(p, "!=")) return new_op(p, SPACE_NE, where, a, parse_sum(p));
    if (parse_accept(p, "<=")) return new_op(p, SPACE_LE, where, a, parse_sum(p));
    if (parse_accept(p, "<")) return new_op(p, SPACE_LT, where, a, parse_sum(p));
    if (parse_accept(p, ">=")) return new_op(p, SPACE_LE, where, parse_sum(p), a);
    if (parse_accept(p, ">")) return new_op(p, SPACE_LT, where, parse_sum(p), a);
    return a;
}

static struct expr *parse_not(struct parser *p)
{
    struct source_pos where = p->now.at;
    unsigned negations = 0;
    while (parse_accept(p, "!"))
        negations++;
    struct expr *e = parse_comparison(p);
    for (; negations; negations--)
        e = new_op(p, SPACE_NOT, where, e, NULL);
    return e;
}

static struct expr *parse_and(struct parser *p)
{
    struct expr *e = parse_not(p);
    for (struct source_pos where = p->now.at; parse_accept(p, "&&"); where = p->now.at)
        e = new_op(p, SPACE_AND, where, e, parse_not(p));
    return e;
}

static struct expr *parse_or(struct parser *p)
{
    struct expr *e = parse_and(p);
    for (struct source_pos where = p->now.at; parse_accept(p, "||"); where = p->now.at)
        e = new_op(p, SPACE_OR, where, e, parse_and(p));
    return e;
}

static struct expr *parse_implication(struct parser *p)
{
    struct expr *e = parse_or(p);
    struct source_pos where = p->now.at;
    if (!parse_accept(p, "->")) return e;
    if (++p->depth > MAX_DEPTH) parse_fail(p, "a less deeply nested expression");
    e = new_op(p, SPACE_IMP, where, e, parse_implication(p));
    p->depth--;
    return e;
}

struct expr *parse_expr(struct parser *p)
{
    if (++p->depth > MAX_DEPTH) parse_fail(p, "a less deeply nested expression");
    struct expr *e = parse_implication(p);
    for (struct source_pos where = p->now.at; parse_accept(p, "<->"); where = p->now.at)
        e = new_op(p, SPACE_EQ, where, e, parse_implication(p));
    struct source_pos where = p->now.at;
    if (parse_accept(p, "?")) {
        e = new_op(p, SPACE_ITE, where, e, parse_expr(p));
        parse_expect(p, ":");
        e->kids[2] = parse_expr(p);
    }
    p->depth--;
    return e;
}
