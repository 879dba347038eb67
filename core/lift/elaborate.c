/* From the syntax tree to the program: names resolved, functions inlined.
 *
 * A user function is a macro over the syntax tree: applying it elaborates its body in the scope where it was
 * declared, with its parameters bound to the arguments. An argument that is a function, a size, a name or
 * used once stands in for its parameter; another one becomes a LET, so that no work is written twice.
 * Functions see only what was declared before them, so nothing recurses. Where a pattern takes a function,
 * fresh parameters are made and the function is applied to them (eta expansion); a function of several
 * arguments takes a tuple apart there.
 *
 * Every parameter of a program gets a name of its own, so printed text never captures. Macros of the language
 * (map2, tile, ...) are a Lift text, the prelude. */
#include <string.h>

#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/lift/lift.h"
#include "core/lift/pattern.h"
#include "core/lift/size.h"
#include "core/lift/syntax.h"

enum { MAX_NODES = 16384, MAX_NAMES = 1024, MAX_OPERANDS = 32, MAX_DEPTH = 400 };

static const char prelude_text[] =
    "fun map2(f, a) = map(map(f), a)\n"
    "fun map3(f, a) = map(map(map(f)), a)\n"
    "fun zip2(a, b) = map(fun x y -> zip(x, y), zip(a, b))\n"
    "fun sum(a) = reduce(add, 0.0, a)\n"
    "fun dot(a, b) = sum(map(mult, zip(a, b)))\n"
    "fun tile(m, n, a) = map(fun r -> map(transpose, split(n, transpose(r))), split(m, a))\n"
    "fun untile(a) = join(map(fun r -> map(join, transpose(r)), a))\n";
static const struct source prelude = {"<prelude>", prelude_text, sizeof prelude_text - 1};

/* An argument: an elaborated reference, or a text in its scope. */
struct operand {
    const struct lift_expr *expr; /* NULL: the text */
    const struct ast *ast;
    const struct scope *scope;
};

struct scope {
    const struct scope *next; /* outwards */
    const char *name;
    struct operand operand;
    const struct ast_type *type; /* written at the parameter, or NULL */
};

struct elaborator {
    struct arena *arena;
    struct diag *diag;
    struct lift_program *program;
    struct source_pos outer;      /* place in the program of what the prelude is used for */
    const char *names[MAX_NAMES]; /* of all parameters so far */
    unsigned n_names, n_nodes, depth;
    size_t cap_sizes, cap_inputs;
    bool full; /* a limit was exceeded and reported */
};

static struct lift_expr *elaborate(struct elaborator *el, const struct ast *ast, const struct scope *scope);
static struct lift_expr *apply(struct elaborator *el, const struct ast *callee, const struct scope *scope,
                               const struct operand *operands, unsigned n, struct source_pos at);

/* ---- places, names, nodes ---- */

static struct source_pos place(const struct elaborator *el, struct source_pos at)
{
    return at.source == el->program->source ? at : el->outer;
}

#define REPORT(el, at, ...) diag_error((el)->diag, place((el), (at)), __VA_ARGS__)

static void report_full(struct elaborator *el, struct source_pos at)
{
    if (!el->full) REPORT(el, at, "the program is too large once its functions are inlined");
    el->full = true;
}

static bool is_builtin(const char *name)
{
    return lift_pattern_find(name) || scalar_op_find(name, (unsigned)strlen(name)) != SCALAR_OP_COUNT;
}

static int find_size(const struct elaborator *el, const char *name)
{
    for (unsigned i = 0; i < el->program->n_sizes; i++)
        if (!strcmp(el->program->sizes[i].name, name)) return (int)i;
    return -1;
}

static bool name_used(const struct elaborator *el, const char *name)
{
    for (unsigned i = 0; i < el->n_names; i++)
        if (!strcmp(el->names[i], name)) return true;
    return find_size(el, name) >= 0;
}

/* Reports names that nothing may be called. */
static void check_name(struct elaborator *el, struct source_pos at, const char *name)
{
    if (is_builtin(name))
        REPORT(el, at, "'%s' is the name of a pattern or an operation", name);
    else if (find_size(el, name) >= 0)
        REPORT(el, at, "'%s' is already a size", name);
}

static struct lift_param *new_param(struct elaborator *el, const char *name, struct source_pos at)
{
    struct lift_param *param = ARENA_NEW(el->arena, struct lift_param);
    const char *base = name;
    for (unsigned k = 2; name_used(el, name); k++)
        name = arena_printf(el->arena, "%s_%u", base, k);
    param->name = name;
    param->at = place(el, at);
    param->input = LIFT_NO_INPUT;
    if (el->n_names < MAX_NAMES)
        el->names[el->n_names++] = name;
    else
        report_full(el, at);
    return param;
}

static struct lift_expr *new_expr(struct elaborator *el, enum lift_kind kind, struct source_pos at,
                                  unsigned n_args)
{
    struct lift_expr *e = ARENA_NEW(el->arena, struct lift_expr);
    if (++el->n_nodes > MAX_NODES) report_full(el, at);
    e->kind = kind;
    e->at = place(el, at);
    e->n_args = n_args;
    e->args = ARENA_ARRAY(el->arena, struct lift_expr *, n_args);
    return e;
}

/* A copy of a reference: PARAM_REF, or GETs of one. */
static struct lift_expr *copy_reference(struct elaborator *el, const struct lift_expr *e,
                                        struct source_pos at)
{
    struct lift_expr *copy = new_expr(el, e->kind, at, e->n_args);
    copy->param = e->param;
    copy->index = e->index;
    copy->amount = e->amount;
    copy->pattern = e->pattern;
    copy->type = e->type;
    for (unsigned i = 0; i < e->n_args; i++)
        copy->args[i] = copy_reference(el, e->args[i], at);
    return copy;
}

static struct lift_expr *new_reference(struct elaborator *el, struct lift_param *param, struct source_pos at)
{
    struct lift_expr *e = new_expr(el, LIFT_PARAM_REF, at, 0);
    e->param = param;
    return e;
}

/* Component `index` of a tuple that must have `width`. */
static struct lift_expr *new_get(struct elaborator *el, unsigned index, unsigned width,
                                 const struct lift_expr *tuple, struct source_pos at)
{
    struct lift_expr *e = new_expr(el, LIFT_GET, at, 1);
    e->index = index;
    e->amount = width;
    e->args[0] = copy_reference(el, tuple, at);
    return e;
}

static const struct scope *find_name(const struct scope *scope, const char *name)
{
    while (scope && strcmp(scope->name, name) != 0)
        scope = scope->next;
    return scope;
}

static const struct scope *push(struct elaborator *el, const struct scope *next, const char *name,
                                struct operand operand, const struct ast_type *type)
{
    struct scope *scope = ARENA_NEW(el->arena, struct scope);
    *scope = (struct scope){.next = next, .name = name, .operand = operand, .type = type};
    return scope;
}

/* ---- sizes and types ---- */

static const struct lift_size *size_of(struct elaborator *el, const struct ast *ast,
                                       const struct scope *scope);

static const struct lift_size *size_of_name(struct elaborator *el, const struct ast *ast,
                                            const struct scope *scope)
{
    const struct scope *found = find_name(scope, ast->name);
    if (found && found->operand.ast) return size_of(el, found->operand.ast, found->operand.scope);
    int param = find_size(el, ast->name);
    if (!found && param >= 0) return lift_size_param(el->arena, (unsigned)param, ast->name);
    if (found)
        REPORT(el, ast->at, "'%s' is a value, not a size", ast->name);
    else
        REPORT(el, ast->at, "unknown size '%s'", ast->name);
    return NULL;
}

static const struct lift_size *size_of(struct elaborator *el, const struct ast *ast,
                                       const struct scope *scope)
{
    static const enum lift_size_kind kinds[] = {[SCALAR_ADD] = LIFT_SIZE_ADD,
                                                [SCALAR_SUB] = LIFT_SIZE_SUB,
                                                [SCALAR_MULT] = LIFT_SIZE_MUL,
                                                [SCALAR_DIV] = LIFT_SIZE_DIV};
    if (ast->kind == AST_NAME) return size_of_name(el, ast, scope);
    if (ast->kind == AST_BINARY) {
        const struct lift_size *x = size_of(el, ast->parts[0], scope), *y = size_of(el, ast->parts[1], scope);
        return x && y ? lift_size_op(el->arena, kinds[ast->op], x, y) : NULL;
    }
    if (ast->kind == AST_NEGATE) {
        const struct lift_size *x = size_of(el, ast->parts[0], scope);
        return x ? lift_size_op(el->arena, LIFT_SIZE_SUB, lift_size_const(el->arena, 0), x) : NULL;
    }
    if (ast->kind == AST_NUMBER && ast->integer && ast->number <= 0x1p53)
        return lift_size_const(el->arena, (int64_t)ast->number);
    REPORT(el, ast->at, "a size is made of whole numbers, sizes and + - * /");
    return NULL;
}

static const struct lift_type *type_of(struct elaborator *el, const struct ast_type *ast,
                                       const struct scope *scope)
{
    struct lift_type *t = ARENA_NEW(el->arena, struct lift_type);
    t->kind = ast->is_scalar ? LIFT_SCALAR : ast->size ? LIFT_ARRAY : LIFT_TUPLE;
    t->scalar = ast->scalar;
    bool ok = true;
    if (t->kind == LIFT_ARRAY) {
        t->element = type_of(el, ast->parts[0], scope);
        t->size = size_of(el, ast->size, scope);
        return t->element && t->size ? t : NULL;
    }
    t->n_parts = (unsigned)ast->n_parts;
    t->parts = ARENA_ARRAY(el->arena, const struct lift_type *, ast->n_parts);
    for (unsigned i = 0; i < t->n_parts; i++)
        ok = (t->parts[i] = type_of(el, ast->parts[i], scope)) && ok;
    return ok ? t : NULL;
}

static struct lift_expr *ascribe(struct elaborator *el, struct lift_expr *value, const struct ast_type *type,
                                 const struct scope *scope)
{
    if (!value || !type) return value;
    struct lift_expr *e = new_expr(el, LIFT_APPLY, value->at, 1);
    e->pattern = LIFT_ID;
    e->index = 1;
    e->args[0] = value;
    e->type = type_of(el, type, scope);
    return e->type ? e : NULL;
}

/* ---- what an operand is ---- */

/* Number of arguments a function still takes; 0 for what is no function. */
static unsigned arity_of(const struct ast *ast, const struct scope *scope)
{
    if (ast->kind == AST_FUN) return (unsigned)ast->patterns->n_parts;
    if (ast->kind == AST_CALL) {
        unsigned arity = arity_of(ast->parts[0], scope), given = (unsigned)ast->n_parts - 1;
        return arity > given ? arity - given : 0;
    }
    if (ast->kind != AST_NAME) return 0;
    const struct scope *found = find_name(scope, ast->name);
    if (found) return found->operand.ast ? arity_of(found->operand.ast, found->operand.scope) : 0;
    const struct pattern_info *info = lift_pattern_find(ast->name);
    if (info) return info->n_values + (info->lead != LEAD_NONE);
    enum scalar_op op = scalar_op_find(ast->name, (unsigned)strlen(ast->name));
    return op == SCALAR_OP_COUNT ? 0 : scalar_op_arity(op);
}

/* Names, numbers and arithmetic over numbers and sizes: cheap to write again. */
static bool is_simple(const struct elaborator *el, const struct ast *ast, const struct scope *scope, bool top)
{
    if (ast->kind == AST_NUMBER) return true;
    if (ast->kind == AST_NEGATE) return is_simple(el, ast->parts[0], scope, false);
    if (ast->kind == AST_NAME && top) return true;
    if (ast->kind == AST_NAME) return !find_name(scope, ast->name) && find_size(el, ast->name) >= 0;
    return ast->kind == AST_BINARY && is_simple(el, ast->parts[0], scope, false) &&
           is_simple(el, ast->parts[1], scope, false);
}

/* Uses of a name in a text; inside a function they count twice, as it may be applied many times. */
static unsigned count_uses(const struct ast *ast, const char *name)
{
    unsigned uses = ast->kind == AST_NAME && !strcmp(ast->name, name);
    for (size_t i = 0; i < ast->n_parts; i++)
        uses += count_uses(ast->parts[i], name);
    return ast->kind == AST_FUN ? 2 * uses : uses;
}

/* ---- binding of parameters ---- */

/* A scope that grows, and the LETs that must stand around what is elaborated in it. */
struct binding {
    const struct scope *scope;
    struct lift_expr *first, *last;
};

static struct lift_expr *close_binding(struct binding *b, struct lift_expr *body)
{
    if (!b->last) return body;
    b->last->body = body;
    return body ? b->first : NULL;
}

/* Makes `value` a LET and returns a reference to its name; NULL if there is no value. */
static struct lift_expr *add_let(struct elaborator *el, struct binding *b, const char *name,
                                 struct lift_expr *value, struct source_pos at)
{
    if (!value) return NULL;
    struct lift_expr *let = new_expr(el, LIFT_LET, at, 1);
    let->param = new_param(el, name, at);
    let->args[0] = value;
    if (b->last)
        b->last->body = let;
    else
        b->first = let;
    b->last = let;
    return new_reference(el, let->param, at);
}

static struct lift_expr *value_of(struct elaborator *el, const struct operand *operand, struct source_pos at)
{
    return operand->expr ? copy_reference(el, operand->expr, at)
                         : elaborate(el, operand->ast, operand->scope);
}

static bool bind_name(struct elaborator *el, struct binding *b, const struct ast_pattern *pattern,
                      const struct operand *operand, const struct ast *body)
{
    check_name(el, pattern->at, pattern->name);
    const struct ast *ast = operand->ast;
    bool in_place = operand->expr || is_simple(el, ast, operand->scope, true) ||
                    arity_of(ast, operand->scope) > 0 || count_uses(body, pattern->name) < 2;
    struct operand bound = *operand;
    if (!in_place) {
        struct lift_expr *value = ascribe(el, elaborate(el, ast, operand->scope), pattern->type, b->scope);
        bound = (struct operand){.expr = add_let(el, b, pattern->name, value, pattern->at)};
        if (!bound.expr) return false;
    }
    b->scope = push(el, b->scope, pattern->name, bound, in_place ? pattern->type : NULL);
    return true;
}

static bool bind_pattern(struct elaborator *el, struct binding *b, const struct ast_pattern *pattern,
                         const struct operand *operand, const struct ast *body)
{
    if (pattern->name) return bind_name(el, b, pattern, operand, body);
    struct lift_expr *tuple = value_of(el, operand, pattern->at);
    if (!operand->expr) tuple = add_let(el, b, "t", tuple, pattern->at);
    bool ok = tuple != NULL;
    unsigned width = (unsigned)pattern->n_parts;
    for (unsigned i = 0; ok && i < width; i++) {
        struct operand part = {.expr = new_get(el, i, width, tuple, pattern->parts[i]->at)};
        ok = bind_pattern(el, b, pattern->parts[i], &part, body);
    }
    return ok;
}

/* ---- application ---- */

static const char *plural(unsigned n)
{
    return n == 1 ? "" : "s";
}

static struct lift_expr *wrong_arity(struct elaborator *el, struct source_pos at, const char *name,
                                     unsigned takes, unsigned given)
{
    REPORT(el, at, "'%s' takes %u argument%s, not %u", name, takes, plural(takes), given);
    return NULL;
}

static struct lift_expr *apply_fun(struct elaborator *el, const struct ast *fun, const struct scope *scope,
                                   const struct operand *operands, unsigned n, struct source_pos at)
{
    const struct ast_pattern *patterns = fun->patterns;
    if (patterns->n_parts == 1 && n > 1 && patterns->parts[0]->n_parts == n) patterns = patterns->parts[0];
    if (patterns->n_parts != n)
        return wrong_arity(el, at, fun->name ? fun->name : "fun", (unsigned)patterns->n_parts, n);
    struct binding b = {.scope = scope};
    bool ok = true;
    for (unsigned i = 0; i < n; i++)
        ok = bind_pattern(el, &b, patterns->parts[i], &operands[i], fun->parts[0]) && ok;
    struct lift_expr *body = ok ? elaborate(el, fun->parts[0], b.scope) : NULL;
    return close_binding(&b, ascribe(el, body, fun->type, b.scope));
}

static struct lift_expr *apply_op(struct elaborator *el, enum scalar_op op, const struct operand *operands,
                                  unsigned n, struct source_pos at)
{
    if (n != scalar_op_arity(op)) return wrong_arity(el, at, scalar_op_name(op), scalar_op_arity(op), n);
    struct lift_expr *e = new_expr(el, LIFT_OP, at, n);
    bool ok = true;
    e->op = op;
    for (unsigned i = 0; i < n; i++)
        ok = (e->args[i] = value_of(el, &operands[i], at)) && ok;
    return ok ? e : NULL;
}

/* The name that the text gives parameter i of a function, or a neutral one. */
static const char *param_name(const struct ast *ast, unsigned i, unsigned n)
{
    if (ast->kind != AST_FUN) return "x";
    const struct ast_pattern *patterns = ast->patterns;
    if (patterns->n_parts == 1 && n > 1 && !patterns->parts[0]->name) patterns = patterns->parts[0];
    if (patterns->n_parts != n) return "t";
    return patterns->parts[i]->name ? patterns->parts[i]->name : "t";
}

/* The function itself, behind the names of parameters of enclosing macros. */
static const struct ast *resolve_function(const struct ast *ast, const struct scope **scope)
{
    while (ast->kind == AST_NAME) {
        const struct scope *found = find_name(*scope, ast->name);
        if (!found || !found->operand.ast) break;
        ast = found->operand.ast;
        *scope = found->operand.scope;
    }
    return ast;
}

/* Eta expansion: a lambda of n parameters whose body is the function applied to them. */
static struct lift_lambda *make_lambda(struct elaborator *el, const struct operand *function, unsigned n)
{
    const struct ast *written = function->ast;
    const struct scope *scope = function->scope;
    const struct ast *ast = written ? resolve_function(written, &scope) : NULL;
    unsigned arity = ast ? arity_of(ast, scope) : 0;
    if (!arity) {
        REPORT(el, written ? written->at : function->expr->at, "a function is needed here");
        return NULL;
    }
    struct lift_lambda *lambda = ARENA_NEW(el->arena, struct lift_lambda);
    lambda->n_params = n;
    lambda->params = ARENA_ARRAY(el->arena, struct lift_param *, n);
    struct operand operands[MAX_OPERANDS] = {0};
    for (unsigned i = 0; i < n; i++) {
        lambda->params[i] = new_param(el, param_name(ast, i, n), written->at);
        operands[i].expr = new_reference(el, lambda->params[i], written->at);
    }
    bool spread = n == 1 && arity > 1 && arity <= MAX_OPERANDS;
    const struct lift_expr *tuple = operands[0].expr;
    for (unsigned i = 0; spread && i < arity; i++)
        operands[i].expr = new_get(el, i, arity, tuple, written->at);
    lambda->body = apply(el, ast, scope, operands, spread ? arity : n, written->at);
    return lambda->body ? lambda : NULL;
}

static bool set_index(struct elaborator *el, struct lift_expr *e, const struct operand *operand)
{
    const struct ast *ast = operand->ast;
    bool ok = ast && ast->kind == AST_NUMBER && ast->integer && ast->number < 256;
    if (ok)
        e->index = (unsigned)ast->number;
    else
        REPORT(el, e->at, "the first argument of get is a component number, 0, 1, ...");
    return ok;
}

static bool set_lead(struct elaborator *el, struct lift_expr *e, const struct pattern_info *info,
                     const struct operand *lead)
{
    switch (info->lead) {
    case LEAD_FUNCTION:
        return (e->fun = make_lambda(el, lead, info->n_fun_params)) != NULL;
    case LEAD_INDEX:
        return set_index(el, e, lead);
    case LEAD_AMOUNT:
        if (lead->ast) return (e->amount_size = size_of(el, lead->ast, lead->scope)) != NULL;
        REPORT(el, e->at, "the first argument of %s is a size", info->name);
        return false;
    case LEAD_NONE:
        break;
    }
    return true;
}

static struct lift_expr *apply_pattern(struct elaborator *el, const struct pattern_info *info,
                                       const struct operand *operands, unsigned n, struct source_pos at)
{
    unsigned lead = info->lead != LEAD_NONE, needed = info->n_values + lead;
    if (n < needed || (n > needed && !info->variadic)) return wrong_arity(el, at, info->name, needed, n);
    struct lift_expr *e = new_expr(el, info->kind, at, n - lead);
    e->pattern = info->pattern;
    bool ok = !lead || set_lead(el, e, info, &operands[0]);
    for (unsigned i = lead; i < n; i++)
        ok = (e->args[i - lead] = value_of(el, &operands[i], at)) && ok;
    return ok ? e : NULL;
}

static struct lift_expr *apply_name(struct elaborator *el, const struct ast *callee,
                                    const struct scope *scope, const struct operand *operands, unsigned n,
                                    struct source_pos at)
{
    const char *name = callee->name;
    const struct scope *found = find_name(scope, name);
    if (found && found->operand.ast && arity_of(found->operand.ast, found->operand.scope) > 0)
        return apply(el, found->operand.ast, found->operand.scope, operands, n, at);
    const struct pattern_info *info = lift_pattern_find(name);
    if (!found && info) return apply_pattern(el, info, operands, n, at);
    enum scalar_op op = scalar_op_find(name, (unsigned)strlen(name));
    if (!found && op != SCALAR_OP_COUNT) return apply_op(el, op, operands, n, at);
    if (found || find_size(el, name) >= 0)
        REPORT(el, callee->at, "'%s' is not a function", name);
    else
        REPORT(el, callee->at, "unknown function '%s'", name);
    return NULL;
}

/* A call as callee: its arguments come first. */
static struct lift_expr *apply_partial(struct elaborator *el, const struct ast *call,
                                       const struct scope *scope, const struct operand *operands, unsigned n,
                                       struct source_pos at)
{
    struct operand all[MAX_OPERANDS];
    unsigned given = (unsigned)call->n_parts - 1;
    if (call->n_parts > MAX_OPERANDS || given + n > MAX_OPERANDS) {
        REPORT(el, call->at, "more than %d arguments", MAX_OPERANDS);
        return NULL;
    }
    for (unsigned i = 0; i < given; i++)
        all[i] = (struct operand){.ast = call->parts[i + 1], .scope = scope};
    for (unsigned i = 0; i < n; i++)
        all[given + i] = operands[i];
    return apply(el, call->parts[0], scope, all, given + n, at);
}

static struct lift_expr *apply_callee(struct elaborator *el, const struct ast *callee,
                                      const struct scope *scope, const struct operand *operands, unsigned n,
                                      struct source_pos at)
{
    switch (callee->kind) {
    case AST_NAME:
        return apply_name(el, callee, scope, operands, n, at);
    case AST_CALL:
        return apply_partial(el, callee, scope, operands, n, at);
    case AST_FUN:
        return apply_fun(el, callee, scope, operands, n, at);
    default:
        REPORT(el, callee->at, "a function is needed here");
        return NULL;
    }
}

static struct lift_expr *apply(struct elaborator *el, const struct ast *callee, const struct scope *scope,
                               const struct operand *operands, unsigned n, struct source_pos at)
{
    struct source_pos outer = el->outer;
    el->outer = place(el, at);
    if (++el->depth > MAX_DEPTH) report_full(el, at);
    struct lift_expr *e = el->full ? NULL : apply_callee(el, callee, scope, operands, n, at);
    el->depth--;
    el->outer = outer;
    return e;
}

/* ---- expressions ---- */

static struct lift_expr *elaborate_name(struct elaborator *el, const struct ast *ast,
                                        const struct scope *scope)
{
    const struct scope *found = find_name(scope, ast->name);
    if (arity_of(ast, scope)) {
        REPORT(el, ast->at, "'%s' is a function; a value is needed here", ast->name);
    } else if (found) {
        return ascribe(el, value_of(el, &found->operand, ast->at), found->type, found->next);
    } else if (find_size(el, ast->name) >= 0) {
        struct lift_expr *e = new_expr(el, LIFT_LITERAL, ast->at, 0);
        e->amount_size = lift_size_param(el->arena, (unsigned)find_size(el, ast->name), ast->name);
        return e;
    } else {
        REPORT(el, ast->at, "unknown name '%s'", ast->name);
    }
    return NULL;
}

static struct lift_expr *elaborate_number(struct elaborator *el, const struct ast *ast)
{
    struct lift_expr *e = new_expr(el, LIFT_LITERAL, ast->at, 0);
    e->value = ast->number;
    return e;
}

static struct lift_expr *elaborate_parts(struct elaborator *el, enum lift_kind kind, const struct ast *ast,
                                         const struct scope *scope)
{
    struct lift_expr *e = new_expr(el, kind, ast->at, (unsigned)ast->n_parts);
    bool ok = true;
    e->op = ast->op;
    for (unsigned i = 0; i < e->n_args; i++)
        ok = (e->args[i] = elaborate(el, ast->parts[i], scope)) && ok;
    return ok ? e : NULL;
}

static struct lift_expr *elaborate_negation(struct elaborator *el, const struct ast *ast,
                                            const struct scope *scope)
{
    struct lift_expr *e = elaborate_parts(el, LIFT_OP, ast, scope);
    if (!e) return NULL;
    e->op = SCALAR_NEG;
    if (e->args[0]->kind != LIFT_LITERAL || e->args[0]->amount_size) return e;
    e->args[0]->value = -e->args[0]->value;
    e->args[0]->at = e->at;
    return e->args[0];
}

static struct lift_expr *elaborate_let(struct elaborator *el, const struct ast *ast,
                                       const struct scope *scope)
{
    struct operand value = {.ast = ast->parts[0], .scope = scope};
    struct binding b = {.scope = scope};
    check_name(el, ast->at, ast->name);
    if (!arity_of(value.ast, scope)) {
        struct lift_expr *e = elaborate(el, value.ast, scope);
        value = (struct operand){.expr = add_let(el, &b, ast->name, e, ast->at)};
        if (!e) return NULL;
    }
    return close_binding(&b, elaborate(el, ast->parts[1], push(el, scope, ast->name, value, NULL)));
}

static struct lift_expr *elaborate_kind(struct elaborator *el, const struct ast *ast,
                                        const struct scope *scope)
{
    switch (ast->kind) {
    case AST_NAME:
        return elaborate_name(el, ast, scope);
    case AST_NUMBER:
        return elaborate_number(el, ast);
    case AST_CALL:
        return apply_partial(el, ast, scope, NULL, 0, ast->at);
    case AST_TUPLE:
        return elaborate_parts(el, LIFT_MAKE_TUPLE, ast, scope);
    case AST_LET:
        return elaborate_let(el, ast, scope);
    case AST_BINARY:
        return elaborate_parts(el, LIFT_OP, ast, scope);
    case AST_NEGATE:
        return elaborate_negation(el, ast, scope);
    case AST_ASCRIBE:
        return ascribe(el, elaborate(el, ast->parts[0], scope), ast->type, scope);
    case AST_PIPE: {
        struct operand left = {.ast = ast->parts[0], .scope = scope};
        return apply(el, ast->parts[1], scope, &left, 1, ast->parts[1]->at);
    }
    case AST_FUN:
        break;
    }
    REPORT(el, ast->at, "a function may stand only where a pattern or a function takes one");
    return NULL;
}

static struct lift_expr *elaborate(struct elaborator *el, const struct ast *ast, const struct scope *scope)
{
    if (++el->depth > MAX_DEPTH) report_full(el, ast->at);
    struct lift_expr *e = el->full ? NULL : elaborate_kind(el, ast, scope);
    el->depth--;
    return e;
}

/* ---- declarations ---- */

/* A user function as a `fun` with a name. */
static const struct scope *declare_function(struct elaborator *el, const struct scope *scope,
                                            const struct ast_decl *decl)
{
    struct ast *fun = ARENA_NEW(el->arena, struct ast);
    fun->kind = AST_FUN;
    fun->at = decl->at;
    fun->name = decl->name;
    fun->patterns = decl->patterns;
    fun->type = decl->type;
    fun->n_parts = 1;
    fun->parts = ARENA_NEW(el->arena, struct ast *);
    fun->parts[0] = decl->body;
    return push(el, scope, decl->name, (struct operand){.ast = fun, .scope = scope}, NULL);
}

static void declare_size(struct elaborator *el, const struct ast_decl *decl)
{
    struct lift_program *p = el->program;
    if (find_size(el, decl->name) >= 0)
        REPORT(el, decl->at, "'%s' is declared twice", decl->name);
    else
        check_name(el, decl->at, decl->name);
    p->sizes =
        arena_grow(el->arena, p->sizes, &el->cap_sizes, p->n_sizes + 1, sizeof(struct lift_size_param));
    p->sizes[p->n_sizes++] = (struct lift_size_param){.name = decl->name, .at = decl->at};
}

static const struct scope *declare_input(struct elaborator *el, const struct scope *scope,
                                         const struct ast_decl *decl)
{
    struct lift_program *p = el->program;
    struct lift_param *param = new_param(el, decl->name, decl->at);
    param->type = type_of(el, decl->type, scope);
    param->input = p->n_inputs;
    p->inputs =
        arena_grow(el->arena, p->inputs, &el->cap_inputs, p->n_inputs + 1, sizeof(struct lift_param *));
    p->inputs[p->n_inputs++] = param;
    return push(el, scope, decl->name, (struct operand){.expr = new_reference(el, param, decl->at)}, NULL);
}

static void declare_value(struct elaborator *el, struct binding *b, const struct ast_decl *decl)
{
    struct operand value = {.ast = decl->body, .scope = b->scope};
    if (!arity_of(decl->body, b->scope)) {
        struct lift_expr *e = elaborate(el, decl->body, b->scope);
        if (!e) e = new_expr(el, LIFT_LITERAL, decl->at, 0);
        value = (struct operand){.expr = add_let(el, b, decl->name, e, decl->at)};
    }
    b->scope = push(el, b->scope, decl->name, value, NULL);
}

static void declare_output(struct elaborator *el, struct binding *b, const struct ast_decl *decl)
{
    if (el->program->output) {
        REPORT(el, decl->at, "a program has one output");
        return;
    }
    struct lift_expr *e = elaborate(el, decl->body, b->scope);
    el->program->output = e ? e : new_expr(el, LIFT_LITERAL, decl->at, 0);
}

static void declare(struct elaborator *el, struct binding *b, const struct ast_decl *decl)
{
    if (decl->kind == AST_SIZE) return;
    if (decl->kind != AST_OUTPUT) {
        const struct scope *found = find_name(b->scope, decl->name);
        bool twice =
            found && found->operand.ast != NULL ? found->operand.ast->at.source != &prelude : found != NULL;
        if (twice)
            REPORT(el, decl->at, "'%s' is declared twice", decl->name);
        else
            check_name(el, decl->at, decl->name);
    }
    if (decl->kind == AST_INPUT)
        b->scope = declare_input(el, b->scope, decl);
    else if (decl->kind == AST_FUNCTION)
        b->scope = declare_function(el, b->scope, decl);
    else if (decl->kind == AST_VALUE)
        declare_value(el, b, decl);
    else
        declare_output(el, b, decl);
}

static const struct scope *load_prelude(struct elaborator *el)
{
    const struct ast_program *syntax = lift_syntax_parse(&prelude, el->arena, el->diag);
    const struct scope *scope = NULL;
    for (size_t i = 0; i < syntax->n_decls; i++)
        scope = declare_function(el, scope, &syntax->decls[i]);
    return scope;
}

struct lift_program *lift_parse(const struct source *source, struct arena *a, struct diag *d)
{
    size_t errors = diag_count(d);
    const struct ast_program *syntax = lift_syntax_parse(source, a, d);
    if (diag_count(d) > errors) return NULL;
    struct elaborator *el = ARENA_NEW(a, struct elaborator);
    el->arena = a;
    el->diag = d;
    el->program = ARENA_NEW(a, struct lift_program);
    el->program->source = source;
    el->outer = (struct source_pos){source, 0};
    struct binding b = {.scope = load_prelude(el)};
    for (size_t i = 0; i < syntax->n_decls; i++)
        if (syntax->decls[i].kind == AST_SIZE) declare_size(el, &syntax->decls[i]);
    for (size_t i = 0; i < syntax->n_decls; i++)
        declare(el, &b, &syntax->decls[i]);
    if (!el->program->output)
        diag_error(d, (struct source_pos){source, source->length}, "the program has no output");
    else
        el->program->output = close_binding(&b, el->program->output);
    return diag_count(d) > errors ? NULL : el->program;
}
