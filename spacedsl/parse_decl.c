/* Declarations, one function for each kind: `set`, `property`, `parameter`, `choice`, `define`, ... There are
 * no semicolons: a declaration ends at the word that begins the next one. Its tree has its text and its
 * comment too, which `thresh space describe` prints. */
#include <string.h>

#include "core/base/similar.h"
#include "spacedsl/parse.h"

/* Where a declaration begins. */
struct start {
    struct token first; /* its first word */
    size_t offset;      /* of what follows it */
};

/* The source from `start` to the token at hand on one line, without comments. */
static const char *source_words(struct parser *p, size_t start)
{
    enum { WORDS = 240 };
    char out[WORDS + 4];
    size_t n = 0;
    const char *s = p->lexer.source->text;
    size_t end = p->now.at.offset;
    for (size_t i = start; i < end && n < WORDS; i++) {
        bool comment = s[i] == '#' || !strncmp(s + i, "///", 3);
        while (comment && i < end && s[i] != '\n')
            i++;
        bool space = i == end || strchr(" \t\r\n", s[i]) != NULL;
        if (!space || (n && out[n - 1] != ' ')) out[n++] = space ? ' ' : s[i];
    }
    while (n && out[n - 1] == ' ')
        n--;
    return arena_strndup(p->arena, out, n);
}

static struct remark remark_of(struct parser *p, const struct start *at)
{
    const char *doc = *at->first.doc ? at->first.doc : p->now.trailing;
    return (struct remark){.doc = doc, .text = source_words(p, at->offset)};
}

/* Of a constraint or a trigger: p->reason is that of the one before. */
static struct remark reason_of(struct parser *p, const struct start *at)
{
    const struct token *t = &at->first;
    const char *above = *t->doc ? t->doc : t->comment, *behind = p->now.trailing;
    const char *so_far = t->paragraph ? "" : p->reason;
    const char *doc = *above && *behind ? arena_printf(p->arena, "%s %s", above, behind)
                      : *above          ? above
                      : *behind         ? behind
                                        : so_far;
    p->reason = *above ? above : so_far;
    return (struct remark){.doc = doc, .text = source_words(p, at->offset)};
}

static enum value_type type_named(const struct name *n)
{
    return !strcmp(n->text, "bool") ? VALUE_BOOL : !strcmp(n->text, "int") ? VALUE_INT : VALUE_OBJECT;
}

static void parse_set(struct parser *p, const struct start *at, bool relation)
{
    struct set_decl *s = ARENA_NEW(p->arena, struct set_decl);
    s->relation = relation;
    s->name = parse_new_name(p);
    if (parse_accept(p, "=")) {
        s->range = true;
        s->lo = parse_int(p);
        parse_expect(p, "..");
        s->hi = parse_int(p);
    }
    if (parse_accept(p, "(")) {
        s->param = parse_name(p, "a parameter");
        parse_expect(p, ":");
        s->param_set = parse_name(p, "a set");
        parse_expect(p, ")");
    }
    if (parse_accept(p, ":")) s->parent = parse_name(p, "a set");
    if (parse_accept(p, "disjoint")) s->disjoint = parse_name(p, "a set");
    s->remark = remark_of(p, at);
    *p->set_tail = s;
    p->set_tail = &s->next;
}

static void parse_property(struct parser *p, const struct start *at)
{
    struct property_decl *d = ARENA_NEW(p->arena, struct property_decl);
    d->name = parse_new_name(p);
    parse_expect(p, "(");
    d->args = parse_names(p, ",", "a set");
    parse_expect(p, ")");
    if (parse_accept(p, ":")) {
        d->object = parse_name(p, "a type");
        d->type = type_named(&d->object);
        d->list = parse_accept(p, "list");
    }
    d->remark = remark_of(p, at);
    *p->property_tail = d;
    p->property_tail = &d->next;
}

static void parse_parameter(struct parser *p, const struct start *at)
{
    struct parameter_decl *d = ARENA_NEW(p->arena, struct parameter_decl);
    d->name = parse_new_name(p);
    d->unit = "";
    parse_expect(p, ":");
    d->is_bool = parse_accept(p, "bool");
    if (!d->is_bool) parse_expect(p, "int");
    if (parse_accept(p, "=")) {
        d->has_default = true;
        d->value = d->is_bool ? parse_bool(p) : parse_int(p);
    }
    if (p->now.kind == TOKEN_STRING) {
        d->unit = p->now.text;
        parse_advance(p);
    }
    d->remark = remark_of(p, at);
    *p->parameter_tail = d;
    p->parameter_tail = &d->next;
}

/* The comment of a value is above it or after it; of the first one also after the brace. */
static struct enum_value *parse_values(struct parser *p)
{
    struct enum_value *first = NULL, **tail = &first;
    int64_t code = 0;
    bool more;
    do {
        struct enum_value *v = ARENA_NEW(p->arena, struct enum_value);
        v->doc = *p->now.doc || first ? p->now.doc : p->now.trailing;
        v->name = parse_name(p, "a value");
        if (parse_accept(p, "=")) code = parse_int(p);
        v->code = code;
        code = code < INT64_MAX ? code + 1 : 0;
        *tail = v;
        tail = &v->next;
        more = parse_accept(p, ",");
        if (!*v->doc) v->doc = p->now.trailing;
    } while (more);
    parse_expect(p, "}");
    return first;
}

static void parse_alias(struct parser *p, struct choice_decl *c)
{
    struct alias_decl **tail = &c->aliases;
    while (*tail)
        tail = &(*tail)->next;
    *tail = ARENA_NEW(p->arena, struct alias_decl);
    (*tail)->name = parse_name(p, "a name");
    parse_expect(p, "=");
    (*tail)->values = parse_names(p, "|", "a value");
}

static void parse_pairs(struct parser *p, struct choice_decl *c)
{
    struct pair_decl **tail = &c->pairs;
    parse_expect(p, "antisymmetric");
    c->antisymmetric = true;
    while (*tail)
        tail = &(*tail)->next;
    do {
        *tail = ARENA_NEW(p->arena, struct pair_decl);
        (*tail)->left = parse_name(p, "a value");
        parse_expect(p, "~");
        (*tail)->right = parse_name(p, "a value");
        tail = &(*tail)->next;
    } while (parse_accept(p, ","));
}

/* `symmetric` or `antisymmetric X ~ Y, ...` */
static void parse_pairing(struct parser *p, struct choice_decl *c)
{
    bool both = parse_at(p, "symmetric") ? c->antisymmetric : c->symmetric;
    if (both) diag_error(p->diag, p->now.at, "a choice cannot be both symmetric and antisymmetric");
    if (parse_accept(p, "symmetric"))
        c->symmetric = true;
    else
        parse_pairs(p, c);
}

static void parse_condition(struct parser *p, struct choice_decl *c)
{
    if (c->where) diag_error(p->diag, p->now.at, "repeated 'where'; a choice has at most one");
    parse_expect(p, "where");
    c->where = parse_expr(p);
}

static void parse_choice(struct parser *p, const struct start *at)
{
    struct choice_decl *c = ARENA_NEW(p->arena, struct choice_decl);
    c->name = parse_new_name(p);
    c->params = parse_params(p);
    parse_expect(p, ":");
    if (parse_accept(p, "{")) {
        c->values = parse_values(p);
    } else {
        if (!parse_accept(p, "int"))
            parse_fail_hint(p, "'{' or 'int'", parse_at(p, "bool") ? "write { NO, YES }" : "");
        parse_expect(p, "in");
        c->domain = parse_list(p);
    }
    for (;;) {
        if (parse_at(p, "where"))
            parse_condition(p, c);
        else if (parse_accept(p, "alias"))
            parse_alias(p, c);
        else if (parse_at(p, "symmetric") || parse_at(p, "antisymmetric"))
            parse_pairing(p, c);
        else
            break;
    }
    c->remark = remark_of(p, at);
    *p->choice_tail = c;
    p->choice_tail = &c->next;
}

static void add_define(struct parser *p, const struct start *at, struct define_decl *d)
{
    parse_expect(p, "=");
    d->body = parse_expr(p);
    d->remark = remark_of(p, at);
    *p->define_tail = d;
    p->define_tail = &d->next;
}

static void parse_define(struct parser *p, const struct start *at)
{
    struct define_decl *d = ARENA_NEW(p->arena, struct define_decl);
    d->name = parse_new_name(p);
    d->params = parse_params(p);
    parse_expect(p, ":");
    d->object = parse_name(p, "a type");
    d->type = type_named(&d->object);
    add_define(p, at, d);
}

static void parse_counter(struct parser *p, const struct start *at, bool half)
{
    struct define_decl *d = ARENA_NEW(p->arena, struct define_decl);
    d->name = parse_new_name(p);
    d->params = parse_params(p);
    d->type = VALUE_INT;
    d->half = half;
    add_define(p, at, d);
}

static void parse_quotient(struct parser *p, const struct start *at)
{
    struct quotient_decl *q = ARENA_NEW(p->arena, struct quotient_decl);
    q->name = parse_new_name(p);
    q->params = parse_params(p);
    parse_expect(p, "=");
    q->item = parse_name(p, "a variable");
    parse_expect(p, ":");
    q->domain = parse_call(p, "a set");
    parse_expect(p, "where");
    q->condition = parse_expr(p);
    parse_expect(p, "modulo");
    q->choice = parse_name(p, "a choice");
    parse_expect(p, "is");
    q->values = parse_names(p, "|", "a value");
    q->remark = remark_of(p, at);
    *p->quotient_tail = q;
    p->quotient_tail = &q->next;
}

static struct binder *parse_prefix(struct parser *p)
{
    if (!parse_accept(p, "forall")) return NULL;
    struct binder *vars = parse_binders(p);
    parse_expect(p, ":");
    return vars;
}

static void parse_require(struct parser *p, const struct start *at)
{
    struct require_decl *r = ARENA_NEW(p->arena, struct require_decl);
    r->at = at->first.at;
    r->vars = parse_prefix(p);
    r->body = parse_expr(p);
    r->remark = reason_of(p, at);
    *p->require_tail = r;
    p->require_tail = &r->next;
}

static void parse_trigger(struct parser *p, const struct start *at)
{
    struct trigger_decl *t = ARENA_NEW(p->arena, struct trigger_decl);
    t->at = at->first.at;
    t->vars = parse_prefix(p);
    parse_expect(p, "when");
    t->when = parse_expr(p);
    parse_expect(p, "activate");
    struct expr **tail = &t->objects;
    do {
        *tail = parse_call(p, "an object");
        tail = &(*tail)->next;
    } while (parse_accept(p, ","));
    t->remark = reason_of(p, at);
    *p->trigger_tail = t;
    p->trigger_tail = &t->next;
}

/* What is written here for an operator of other languages; NULL: nothing. */
static const char *our_operator(const char *word)
{
    static const char *const words[][2] = {
        {"=", "=="}, {"and", "&&"}, {"or", "||"}, {"implies", "->"}, {"mod", "%"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!strcmp(words[i][0], word)) return words[i][1];
    return NULL;
}

/* The declaration that a word may be meant to begin; NULL: none. */
static const char *our_declaration(const char *word)
{
    static const char *const words[] = {"include", "parameter", "set",      "relation", "property", "choice",
                                        "define",  "counter",   "quotient", "require",  "trigger"};
    static const char *const others[] = {"constraint", "constrain", "assert", "assume"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (!strcmp(others[i], word)) return "require";
    return similar_find(word, words, sizeof words / sizeof words[0]);
}

/* What is there goes on with the expression before it, or is nothing. */
static void fail_declaration(struct parser *p)
{
    const char *ours = p->after_expr ? our_operator(p->now.text) : NULL, *hint = "";
    const char *declaration = p->now.kind == TOKEN_NAME ? our_declaration(p->now.text) : NULL;
    if (ours)
        hint = arena_printf(p->arena, "write '%s'", ours);
    else if (declaration)
        hint = arena_printf(p->arena, "did you mean '%s'?", declaration);
    parse_fail_hint(p, p->after_expr ? "an operator or a declaration" : "a declaration", hint);
}

static void parse_rule(struct parser *p, const struct start *at, const char *word, const char *earlier)
{
    if (!strcmp(word, "half")) {
        parse_expect(p, "counter");
        parse_counter(p, at, true);
        return;
    }
    p->reason = earlier;
    if (!strcmp(word, "require"))
        parse_require(p, at);
    else if (!strcmp(word, "trigger"))
        parse_trigger(p, at);
    else {
        p->now = at->first;
        fail_declaration(p);
    }
}

static bool ends_in_expr(const char *word)
{
    static const char *const words[] = {"choice", "define", "counter", "half", "require"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!strcmp(word, words[i])) return true;
    return false;
}

void parse_declaration(struct parser *p)
{
    struct start at = {p->now, 0};
    const char *word = p->now.kind == TOKEN_NAME ? p->now.text : "";
    const char *earlier = p->reason;
    p->n_ops = 0;
    parse_advance(p);
    at.offset = p->now.at.offset;
    p->reason = "";
    if (!strcmp(word, "set") || !strcmp(word, "relation"))
        parse_set(p, &at, *word == 'r');
    else if (!strcmp(word, "property"))
        parse_property(p, &at);
    else if (!strcmp(word, "parameter"))
        parse_parameter(p, &at);
    else if (!strcmp(word, "choice"))
        parse_choice(p, &at);
    else if (!strcmp(word, "quotient"))
        parse_quotient(p, &at);
    else if (!strcmp(word, "define"))
        parse_define(p, &at);
    else if (!strcmp(word, "counter"))
        parse_counter(p, &at, false);
    else
        parse_rule(p, &at, word, earlier);
    p->after_expr = ends_in_expr(word);
}
