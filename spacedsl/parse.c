/* Recursive-descent parser of .space files. One function per declaration and per level of precedence; ast.h
 * has the grammar of expressions. After an error the parser skips to the next word that starts a declaration.
 */
#include <setjmp.h>
#include <string.h>

#include "core/base/panic.h"
#include "spacedsl/ast.h"
#include "spacedsl/lex.h"

enum { MAX_DEPTH = 200 };

struct parser {
    struct lexer lexer;
    struct token now; /* the next token, not yet taken */
    struct arena *arena;
    struct diag *diag;
    struct ast *ast;
    int depth;       /* of nested expressions */
    jmp_buf recover; /* where an error in a declaration goes */
    struct set_decl **set_tail;
    struct property_decl **property_tail;
    struct parameter_decl **parameter_tail;
    struct choice_decl **choice_tail;
    struct define_decl **define_tail;
    struct require_decl **require_tail;
    struct trigger_decl **trigger_tail;
};

static const char *const KEYWORDS[] = {"set",       "relation", "property", "parameter", "choice",
                                       "define",    "counter",  "require",  "trigger",   "forall",
                                       "exists",    "is",       "in",       "not",       "where",
                                       "over",      "when",     "activate", "disjoint",  "antisymmetric",
                                       "symmetric", "alias",    "step",     "true",      "false"};

static struct expr *parse_expr(struct parser *p);

BASE_NORETURN static void fail(struct parser *p, const char *wanted)
{
    diag_error(p->diag, p->now.at, "expected %s, found '%s'", wanted, p->now.text);
    longjmp(p->recover, 1);
}

static void advance(struct parser *p)
{
    p->now = lex_next(&p->lexer);
}

static bool at(const struct parser *p, const char *text)
{
    return (p->now.kind == TOKEN_NAME || p->now.kind == TOKEN_PUNCT) && !strcmp(p->now.text, text);
}

static bool accept(struct parser *p, const char *text)
{
    if (!at(p, text)) return false;
    advance(p);
    return true;
}

static void expect(struct parser *p, const char *text)
{
    if (!at(p, text)) fail(p, text);
    advance(p);
}

static bool is_keyword(const char *text)
{
    for (size_t i = 0; i < sizeof KEYWORDS / sizeof KEYWORDS[0]; i++)
        if (!strcmp(KEYWORDS[i], text)) return true;
    return false;
}

static struct name take_name(struct parser *p, const char *wanted)
{
    if (p->now.kind != TOKEN_NAME || is_keyword(p->now.text)) fail(p, wanted);
    struct name n = {.text = p->now.text, .at = p->now.at};
    advance(p);
    return n;
}

static int64_t take_int(struct parser *p)
{
    bool negative = accept(p, "-");
    if (p->now.kind != TOKEN_INT) fail(p, "a number");
    int64_t n = p->now.number;
    advance(p);
    return negative ? -n : n;
}

static struct name *name_list(struct parser *p, const char *separator, const char *wanted)
{
    struct name *first = NULL, **tail = &first;
    do {
        *tail = ARENA_NEW(p->arena, struct name);
        **tail = take_name(p, wanted);
        tail = &(*tail)->next;
    } while (accept(p, separator));
    return first;
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
    struct expr *e = new_expr(p, EXPR_OP, where);
    e->op = op;
    e->kids[0] = a;
    e->kids[1] = b;
    return e;
}

static struct expr *parse_args(struct parser *p)
{
    struct expr *first = NULL, **tail = &first;
    expect(p, "(");
    do {
        *tail = parse_expr(p);
        tail = &(*tail)->next;
    } while (accept(p, ","));
    expect(p, ")");
    return first;
}

static struct expr *parse_call(struct parser *p, const char *wanted)
{
    struct name n = take_name(p, wanted);
    struct expr *e = new_expr(p, EXPR_CALL, n.at);
    e->text = n.text;
    if (at(p, "(")) e->args = parse_args(p);
    return e;
}

/* `a, b in D, c in E(b)` */
static struct binder *parse_binders(struct parser *p)
{
    struct binder *first = NULL, **tail = &first;
    do {
        struct name *names = name_list(p, ",", "a variable");
        expect(p, "in");
        struct expr *domain = parse_call(p, "a set");
        for (struct name *n = names; n; n = n->next) {
            *tail = ARENA_NEW(p->arena, struct binder);
            (*tail)->name = *n;
            (*tail)->domain = domain;
            tail = &(*tail)->next;
        }
    } while (accept(p, ","));
    return first;
}

/* `(a: S, b: T(a))` or nothing */
static struct binder *parse_params(struct parser *p)
{
    struct binder *first = NULL, **tail = &first;
    if (!accept(p, "(")) return NULL;
    do {
        *tail = ARENA_NEW(p->arena, struct binder);
        (*tail)->name = take_name(p, "a parameter");
        expect(p, ":");
        (*tail)->domain = parse_call(p, "a set");
        tail = &(*tail)->next;
    } while (accept(p, ","));
    expect(p, ")");
    return first;
}

static struct expr *parse_quantifier(struct parser *p, enum space_op op)
{
    struct expr *e = new_expr(p, EXPR_QUANTIFIER, p->now.at);
    advance(p);
    e->op = op;
    e->binders = parse_binders(p);
    expect(p, ":");
    e->kids[0] = parse_expr(p);
    return e;
}

static struct expr *parse_aggregate(struct parser *p, enum space_op op, struct source_pos where)
{
    struct expr *e = new_expr(p, EXPR_QUANTIFIER, where);
    e->op = op;
    e->kids[0] = parse_expr(p);
    expect(p, "over");
    e->binders = parse_binders(p);
    if (accept(p, "where")) e->kids[1] = parse_expr(p);
    return e;
}

static struct expr *parse_word(struct parser *p)
{
    struct source_pos where = p->now.at;
    if (at(p, "exists")) return parse_quantifier(p, SPACE_EXISTS);
    if (at(p, "forall")) return parse_quantifier(p, SPACE_FORALL);
    if (at(p, "true") || at(p, "false")) {
        struct expr *e = new_expr(p, EXPR_BOOL, where);
        e->number = at(p, "true");
        advance(p);
        return e;
    }
    bool max = at(p, "max"), min = at(p, "min"), sum = at(p, "sum"), product = at(p, "product");
    struct expr *e = parse_call(p, "an expression");
    if ((sum || product) && accept(p, "of"))
        return parse_aggregate(p, sum ? SPACE_SUM : SPACE_PRODUCT, where);
    if (!min && !max) return e;
    if (accept(p, "of")) return parse_aggregate(p, max ? SPACE_MAXOF : SPACE_MINOF, where);
    if (!e->args) fail(p, "arguments");
    struct expr *folded = e->args;
    for (struct expr *next = e->args->next; next; next = next->next)
        folded = new_op(p, max ? SPACE_MAX : SPACE_MIN, where, folded, next);
    return folded;
}

static struct expr *parse_primary(struct parser *p)
{
    if (p->now.kind == TOKEN_INT) {
        struct expr *e = new_expr(p, EXPR_INT, p->now.at);
        e->number = take_int(p);
        return e;
    }
    if (p->now.kind == TOKEN_NAME) return parse_word(p);
    if (!accept(p, "(")) fail(p, "an expression");
    struct expr *e = parse_expr(p);
    expect(p, ")");
    return e;
}

static struct expr *parse_unary(struct parser *p)
{
    struct source_pos where = p->now.at;
    if (!accept(p, "-")) return parse_primary(p);
    return new_op(p, SPACE_NEG, where, parse_unary(p), NULL);
}

static struct expr *parse_product(struct parser *p)
{
    struct expr *e = parse_unary(p);
    for (;;) {
        struct source_pos where = p->now.at;
        if (accept(p, "*"))
            e = new_op(p, SPACE_MUL, where, e, parse_unary(p));
        else if (accept(p, "/"))
            e = new_op(p, SPACE_DIV, where, e, parse_unary(p));
        else if (accept(p, "%"))
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
        if (accept(p, "+"))
            e = new_op(p, SPACE_ADD, where, e, parse_product(p));
        else if (accept(p, "-"))
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
    if (!accept(p, "..")) return lo;
    struct expr *e = new_expr(p, EXPR_RANGE, where);
    e->kids[0] = lo;
    e->kids[1] = parse_sum(p);
    if (accept(p, "step")) e->kids[2] = parse_sum(p);
    return e;
}

static struct expr *parse_list(struct parser *p)
{
    struct source_pos where = p->now.at;
    if (!accept(p, "{")) return parse_item(p);
    struct expr *e = new_expr(p, EXPR_LIST, where), **tail = &e->args;
    do {
        *tail = parse_item(p);
        tail = &(*tail)->next;
    } while (accept(p, ","));
    expect(p, "}");
    return e;
}

static struct expr *parse_is(struct parser *p, struct expr *left, struct source_pos where)
{
    struct expr *e = new_expr(p, EXPR_IS, where);
    e->kids[0] = left;
    e->negated = accept(p, "not");
    e->values = name_list(p, "|", "a value");
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
    if (accept(p, "is")) return parse_is(p, a, where);
    if (accept(p, "in")) return parse_in(p, a, where, false);
    if (accept(p, "not")) {
        expect(p, "in");
        return parse_in(p, a, where, true);
    }
    if (accept(p, "==")) return new_op(p, SPACE_EQ, where, a, parse_sum(p));
    if (accept(p, "!=")) return new_op(p, SPACE_NE, where, a, parse_sum(p));
    if (accept(p, "<=")) return new_op(p, SPACE_LE, where, a, parse_sum(p));
    if (accept(p, "<")) return new_op(p, SPACE_LT, where, a, parse_sum(p));
    if (accept(p, ">=")) return new_op(p, SPACE_LE, where, parse_sum(p), a);
    if (accept(p, ">")) return new_op(p, SPACE_LT, where, parse_sum(p), a);
    return a;
}

static struct expr *parse_not(struct parser *p)
{
    struct source_pos where = p->now.at;
    if (!accept(p, "!")) return parse_comparison(p);
    return new_op(p, SPACE_NOT, where, parse_not(p), NULL);
}

static struct expr *parse_and(struct parser *p)
{
    struct expr *e = parse_not(p);
    for (struct source_pos where = p->now.at; accept(p, "&&"); where = p->now.at)
        e = new_op(p, SPACE_AND, where, e, parse_not(p));
    return e;
}

static struct expr *parse_or(struct parser *p)
{
    struct expr *e = parse_and(p);
    for (struct source_pos where = p->now.at; accept(p, "||"); where = p->now.at)
        e = new_op(p, SPACE_OR, where, e, parse_and(p));
    return e;
}

static struct expr *parse_implication(struct parser *p)
{
    struct expr *e = parse_or(p);
    struct source_pos where = p->now.at;
    return accept(p, "->") ? new_op(p, SPACE_IMP, where, e, parse_implication(p)) : e;
}

static struct expr *parse_expr(struct parser *p)
{
    if (++p->depth > MAX_DEPTH) fail(p, "a less deeply nested expression");
    struct expr *e = parse_implication(p);
    for (struct source_pos where = p->now.at; accept(p, "<->"); where = p->now.at)
        e = new_op(p, SPACE_EQ, where, e, parse_implication(p));
    struct source_pos where = p->now.at;
    if (accept(p, "?")) {
        e = new_op(p, SPACE_ITE, where, e, parse_expr(p));
        expect(p, ":");
        e->kids[2] = parse_expr(p);
    }
    p->depth--;
    return e;
}

static void parse_set(struct parser *p, bool relation)
{
    struct set_decl *s = ARENA_NEW(p->arena, struct set_decl);
    s->relation = relation;
    s->name = take_name(p, "a name");
    if (accept(p, "=")) {
        s->range = true;
        s->lo = take_int(p);
        expect(p, "..");
        s->hi = take_int(p);
    }
    if (accept(p, "(")) {
        s->param = take_name(p, "a parameter");
        expect(p, ":");
        s->param_set = take_name(p, "a set");
        expect(p, ")");
    }
    if (accept(p, ":")) s->parent = take_name(p, "a set");
    if (accept(p, "disjoint")) s->disjoint = take_name(p, "a set");
    *p->set_tail = s;
    p->set_tail = &s->next;
}

static void parse_property(struct parser *p)
{
    struct property_decl *d = ARENA_NEW(p->arena, struct property_decl);
    d->name = take_name(p, "a name");
    expect(p, "(");
    d->args = name_list(p, ",", "a set");
    expect(p, ")");
    if (accept(p, ":")) {
        d->object = take_name(p, "a type");
        d->type = !strcmp(d->object.text, "bool")  ? VALUE_BOOL
                  : !strcmp(d->object.text, "int") ? VALUE_INT
                                                   : VALUE_OBJECT;
        d->list = accept(p, "list");
    }
    *p->property_tail = d;
    p->property_tail = &d->next;
}

static void parse_parameter(struct parser *p)
{
    struct parameter_decl *d = ARENA_NEW(p->arena, struct parameter_decl);
    d->name = take_name(p, "a name");
    d->unit = "";
    expect(p, ":");
    if (!accept(p, "bool")) expect(p, "int");
    if (accept(p, "=")) {
        d->has_default = true;
        d->value = at(p, "true") || at(p, "false") ? parse_word(p)->number : take_int(p);
    }
    if (p->now.kind == TOKEN_STRING) {
        d->unit = p->now.text;
        advance(p);
    }
    *p->parameter_tail = d;
    p->parameter_tail = &d->next;
}

static struct enum_value *parse_values(struct parser *p)
{
    struct enum_value *first = NULL, **tail = &first;
    int64_t code = 0;
    do {
        struct enum_value *v = ARENA_NEW(p->arena, struct enum_value);
        v->name = take_name(p, "a value");
        if (accept(p, "=")) code = take_int(p);
        v->code = code++;
        *tail = v;
        tail = &v->next;
    } while (accept(p, ","));
    expect(p, "}");
    return first;
}

static void parse_alias(struct parser *p, struct choice_decl *c)
{
    struct alias_decl **tail = &c->aliases;
    while (*tail)
        tail = &(*tail)->next;
    *tail = ARENA_NEW(p->arena, struct alias_decl);
    (*tail)->name = take_name(p, "a name");
    expect(p, "=");
    (*tail)->values = name_list(p, "|", "a value");
}

static void parse_pairs(struct parser *p, struct choice_decl *c)
{
    struct pair_decl **tail = &c->pairs;
    c->antisymmetric = true;
    while (*tail)
        tail = &(*tail)->next;
    do {
        *tail = ARENA_NEW(p->arena, struct pair_decl);
        (*tail)->left = take_name(p, "a value");
        expect(p, "~");
        (*tail)->right = take_name(p, "a value");
        tail = &(*tail)->next;
    } while (accept(p, ","));
}

static void parse_choice(struct parser *p, const char *doc)
{
    struct choice_decl *c = ARENA_NEW(p->arena, struct choice_decl);
    c->doc = doc;
    c->name = take_name(p, "a name");
    c->params = parse_params(p);
    expect(p, ":");
    if (accept(p, "{")) {
        c->values = parse_values(p);
    } else {
        expect(p, "int");
        expect(p, "in");
        c->domain = parse_list(p);
    }
    for (;;) {
        if (accept(p, "where"))
            c->where = parse_expr(p);
        else if (accept(p, "alias"))
            parse_alias(p, c);
        else if (accept(p, "symmetric"))
            c->symmetric = true;
        else if (accept(p, "antisymmetric"))
            parse_pairs(p, c);
        else
            break;
    }
    *p->choice_tail = c;
    p->choice_tail = &c->next;
}

static void parse_define(struct parser *p, bool counter)
{
    struct define_decl *d = ARENA_NEW(p->arena, struct define_decl);
    d->name = take_name(p, "a name");
    d->params = parse_params(p);
    if (!counter) {
        expect(p, ":");
        if (!accept(p, "bool")) expect(p, "int");
    }
    expect(p, "=");
    d->body = parse_expr(p);
    *p->define_tail = d;
    p->define_tail = &d->next;
}

/* The first words of the source from `start`, on one line. */
static const char *source_words(struct parser *p, size_t start)
{
    enum { WORDS = 100 };
    char out[WORDS + 4];
    size_t n = 0;
    const char *s = p->lexer.source->text;
    size_t end = p->now.at.offset;
    while (end > start && strchr(" \t\r\n", s[end - 1]))
        end--;
    for (size_t i = start; i < end && s[i] != '#' && n < WORDS; i++) {
        bool space = strchr(" \t\r\n", s[i]) != NULL;
        if (space && n && out[n - 1] == ' ') continue;
        out[n++] = space ? ' ' : s[i];
    }
    while (n && out[n - 1] == ' ')
        n--;
    return arena_strndup(p->arena, out, n);
}

static struct binder *parse_prefix(struct parser *p)
{
    if (!accept(p, "forall")) return NULL;
    struct binder *vars = parse_binders(p);
    expect(p, ":");
    return vars;
}

static void parse_require(struct parser *p, struct source_pos where, const char *doc)
{
    struct require_decl *r = ARENA_NEW(p->arena, struct require_decl);
    size_t start = p->now.at.offset;
    r->at = where;
    r->doc = doc;
    r->vars = parse_prefix(p);
    r->body = parse_expr(p);
    r->text = source_words(p, start);
    *p->require_tail = r;
    p->require_tail = &r->next;
}

static void parse_trigger(struct parser *p, struct source_pos where)
{
    struct trigger_decl *t = ARENA_NEW(p->arena, struct trigger_decl);
    size_t start = p->now.at.offset;
    t->at = where;
    t->vars = parse_prefix(p);
    expect(p, "when");
    t->when = parse_expr(p);
    expect(p, "activate");
    struct expr **tail = &t->objects;
    do {
        *tail = parse_call(p, "an object");
        tail = &(*tail)->next;
    } while (accept(p, ","));
    t->text = source_words(p, start);
    *p->trigger_tail = t;
    p->trigger_tail = &t->next;
}

static void parse_declaration(struct parser *p)
{
    struct token first = p->now;
    if (accept(p, "set"))
        parse_set(p, false);
    else if (accept(p, "relation"))
        parse_set(p, true);
    else if (accept(p, "property"))
        parse_property(p);
    else if (accept(p, "parameter"))
        parse_parameter(p);
    else if (accept(p, "choice"))
        parse_choice(p, first.doc);
    else if (accept(p, "define"))
        parse_define(p, false);
    else if (accept(p, "counter"))
        parse_define(p, true);
    else if (accept(p, "require"))
        parse_require(p, first.at, first.doc);
    else if (accept(p, "trigger"))
        parse_trigger(p, first.at);
    else
        fail(p, "a declaration");
}

static bool starts_declaration(const struct parser *p)
{
    static const char *const words[] = {"set",    "relation", "property", "parameter", "choice",
                                        "define", "counter",  "require",  "trigger"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (at(p, words[i])) return true;
    return p->now.kind == TOKEN_END;
}

static void skip_declaration(struct parser *p)
{
    p->depth = 0;
    do
        advance(p);
    while (!starts_declaration(p));
}

static void parse_all(struct parser *p)
{
    if (setjmp(p->recover)) {
        skip_declaration(p);
    } else {
        expect(p, "space");
        p->ast->name = take_name(p, "a name");
    }
    while (p->now.kind != TOKEN_END) {
        if (setjmp(p->recover))
            skip_declaration(p);
        else
            parse_declaration(p);
    }
}

struct ast *spacedsl_parse(const struct source *source, struct arena *a, struct diag *d)
{
    struct ast *ast = ARENA_NEW(a, struct ast);
    ast->source = source;
    struct parser *p = ARENA_NEW(a, struct parser);
    *p = (struct parser){.lexer = {source, 0, a, d},
                         .arena = a,
                         .diag = d,
                         .ast = ast,
                         .set_tail = &ast->sets,
                         .property_tail = &ast->properties,
                         .parameter_tail = &ast->parameters,
                         .choice_tail = &ast->choices,
                         .define_tail = &ast->defines,
                         .require_tail = &ast->requires,
                         .trigger_tail = &ast->triggers};
    advance(p);
    parse_all(p);
    return ast;
}
