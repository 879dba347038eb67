/* Application: a function, as text, applied to operands. The function may be a pattern (`map`), an operation
 * (`add`), a `fun`, a name of one of these, or a call with some of its arguments (`reduce(add, 0.0)`).
 *
 *     map(mult, zip(x, y))   ->   map(fun t -> mult(get(0, t), get(1, t)), zip(x, y))
 *
 * An operand is either elaborated already or a text with its scope, which is elaborated where it is used. */
#include "core/lift/elaborate.h"

#include <string.h>

/* ---- what an operand is ---- */

unsigned el_arity_of(const struct ast *ast, const struct scope *scope)
{
    if (ast->kind == AST_FUN) return (unsigned)ast->patterns->n_parts;
    if (ast->kind == AST_CALL) {
        unsigned arity = el_arity_of(ast->parts[0], scope), given = (unsigned)ast->n_parts - 1;
        return arity > given ? arity - given : 0;
    }
    if (ast->kind != AST_NAME) return 0;
    const struct scope *found = el_find_name(scope, ast->name);
    if (found) return found->operand.ast ? el_arity_of(found->operand.ast, found->operand.scope) : 0;
    const struct pattern_info *info = lift_pattern_find(ast->name);
    if (info) return info->n_values + lift_lead_count(info->lead);
    enum scalar_op op = scalar_op_find(ast->name, (unsigned)strlen(ast->name));
    return op == SCALAR_OP_COUNT ? 0 : scalar_op_arity(op);
}

/* Arithmetic over numbers and sizes, also behind the names of parameters: cheap to write again. */
static bool is_arithmetic(const struct elaborator *el, const struct ast *ast, const struct scope *scope)
{
    if (ast->kind == AST_NUMBER || ast->kind == AST_TRUTH) return true;
    if (ast->kind == AST_NEGATE) return is_arithmetic(el, ast->parts[0], scope);
    if (ast->kind == AST_BINARY)
        return is_arithmetic(el, ast->parts[0], scope) && is_arithmetic(el, ast->parts[1], scope);
    if (ast->kind != AST_NAME) return false;
    const struct scope *found = el_find_name(scope, ast->name);
    return found ? found->operand.arithmetic : el_find_size(el, ast->name) >= 0;
}

/* The name of an elaborated value, also behind the names of parameters that stand for it. */
static bool is_reference(const struct ast *ast, const struct scope *scope)
{
    if (ast->kind != AST_NAME) return false;
    const struct scope *found = el_find_name(scope, ast->name);
    return found && (found->operand.expr || is_reference(found->operand.ast, found->operand.scope));
}

/* The border that a text names, also behind the names of parameters; LIFT_BORDER_COUNT: none. */
static enum lift_border border_of(const struct ast *ast, const struct scope *scope)
{
    if (ast->kind != AST_NAME) return LIFT_BORDER_COUNT;
    const struct scope *found = el_find_name(scope, ast->name);
    if (!found) return lift_border_find(ast->name);
    return found->operand.ast ? border_of(found->operand.ast, found->operand.scope) : LIFT_BORDER_COUNT;
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

struct lift_expr *el_close_binding(struct binding *b, struct lift_expr *body)
{
    if (!b->last) return body;
    b->last->body = body;
    return body ? b->first : NULL;
}

struct lift_expr *el_add_let(struct elaborator *el, struct binding *b, const char *name,
                             struct lift_expr *value, struct source_pos at)
{
    if (!value) return NULL;
    struct lift_expr *let = el_new_expr(el, LIFT_LET, at, 1);
    let->param = el_new_param(el, name, at);
    let->args[0] = value;
    if (b->last)
        b->last->body = let;
    else
        b->first = let;
    b->last = let;
    return el_new_reference(el, let->param, at);
}

struct lift_expr *el_value_of(struct elaborator *el, const struct operand *operand, struct source_pos at)
{
    return operand->expr ? el_copy_reference(el, operand->expr, at)
                         : el_elaborate(el, operand->ast, operand->scope);
}

static bool bind_name(struct elaborator *el, struct binding *b, const struct ast_pattern *pattern,
                      const struct operand *operand, const struct ast *body)
{
    if (pattern->at.source == el->program->source) el_check_name(el, pattern->at, pattern->name);
    const struct ast *ast = operand->ast;
    struct operand bound = *operand;
    bound.arithmetic = ast && is_arithmetic(el, ast, operand->scope);
    bool in_place = operand->expr || bound.arithmetic || is_reference(ast, operand->scope) ||
                    el_arity_of(ast, operand->scope) > 0 ||
                    border_of(ast, operand->scope) != LIFT_BORDER_COUNT ||
                    count_uses(body, pattern->name) < 2;
    if (!in_place) {
        struct lift_expr *value =
            el_ascribe(el, el_elaborate(el, ast, operand->scope), pattern->type, b->scope);
        bound = (struct operand){.expr = el_add_let(el, b, pattern->name, value, pattern->at)};
        if (!bound.expr) return false;
    }
    b->scope = el_push(el, b->scope, pattern->name, bound, in_place ? pattern->type : NULL);
    return true;
}

static bool bind_pattern(struct elaborator *el, struct binding *b, const struct ast_pattern *pattern,
                         const struct operand *operand, const struct ast *body)
{
    if (pattern->name) return bind_name(el, b, pattern, operand, body);
    struct lift_expr *tuple = el_value_of(el, operand, pattern->at);
    if (!operand->expr) tuple = el_add_let(el, b, "t", tuple, pattern->at);
    bool ok = tuple != NULL;
    unsigned width = (unsigned)pattern->n_parts;
    for (unsigned i = 0; ok && i < width; i++) {
        struct operand part = {.expr = el_new_get(el, i, width, tuple, pattern->parts[i]->at)};
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
    struct lift_expr *body = ok ? el_elaborate(el, fun->parts[0], b.scope) : NULL;
    return el_close_binding(&b, el_ascribe(el, body, fun->type, b.scope));
}

static struct lift_expr *apply_op(struct elaborator *el, enum scalar_op op, const struct operand *operands,
                                  unsigned n, struct source_pos at)
{
    if (n != scalar_op_arity(op)) return wrong_arity(el, at, scalar_op_name(op), scalar_op_arity(op), n);
    struct lift_expr *e = el_new_expr(el, LIFT_OP, at, n);
    bool ok = true;
    e->op = op;
    for (unsigned i = 0; i < n; i++)
        ok = (e->args[i] = el_value_of(el, &operands[i], at)) && ok;
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
        const struct scope *found = el_find_name(*scope, ast->name);
        if (!found || !found->operand.ast) break;
        ast = found->operand.ast;
        *scope = found->operand.scope;
    }
    return ast;
}

/* Reports a text that is no function, by the unknown name in it where that is the reason. */
static void report_no_function(struct elaborator *el, const struct ast *ast, const struct scope *scope)
{
    const struct ast *callee = ast;
    while (callee->kind == AST_CALL)
        callee = callee->parts[0];
    if (callee->kind == AST_NAME && el_is_unknown(el, callee->name, scope))
        el_report_unknown(el, callee->at, callee->name, scope, EL_FUNCTION);
    else
        REPORT(el, ast->at, "expected a function");
}

/* Eta expansion: a lambda of n parameters whose body is the function applied to them. */
static struct lift_lambda *make_lambda(struct elaborator *el, const struct operand *function, unsigned n)
{
    const struct ast *written = function->ast;
    const struct scope *scope = function->scope;
    const struct ast *ast = written ? resolve_function(written, &scope) : NULL;
    unsigned arity = ast ? el_arity_of(ast, scope) : 0;
    if (!arity && written) report_no_function(el, written, function->scope);
    if (!arity && !written) REPORT(el, function->expr->at, "expected a function");
    if (!arity) return NULL;
    struct lift_lambda *lambda = ARENA_NEW(el->arena, struct lift_lambda);
    lambda->n_params = n;
    lambda->params = ARENA_ARRAY(el->arena, struct lift_param *, n);
    struct operand operands[MAX_OPERANDS] = {0};
    for (unsigned i = 0; i < n; i++) {
        lambda->params[i] = el_new_param(el, param_name(ast, i, n), written->at);
        operands[i].expr = el_new_reference(el, lambda->params[i], written->at);
    }
    bool spread = n == 1 && arity > 1 && arity <= MAX_OPERANDS;
    const struct lift_expr *tuple = operands[0].expr;
    for (unsigned i = 0; spread && i < arity; i++)
        operands[i].expr = el_new_get(el, i, arity, tuple, written->at);
    lambda->body = el_apply(el, ast, scope, operands, spread ? arity : n, written->at);
    return lambda->body ? lambda : NULL;
}

static bool set_index(struct elaborator *el, struct lift_expr *e, const struct operand *operand)
{
    const struct ast *ast = operand->ast;
    bool ok = ast && ast->kind == AST_NUMBER && ast->integer && ast->number < 256;
    if (ok)
        e->index = (unsigned)ast->number;
    else
        REPORT(el, e->at, "the first argument of get must be a component number: 0, 1, ...");
    return ok;
}

static bool set_size(struct elaborator *el, const struct lift_expr *e, const char *name, const char *which,
                     const struct operand *operand, const struct lift_size **out)
{
    if (operand->ast) return (*out = el_size_of(el, operand->ast, operand->scope)) != NULL;
    REPORT(el, e->at, "the %s argument of %s must be a size", which, name);
    return false;
}

static bool set_border(struct elaborator *el, struct lift_expr *e, const struct operand *operand)
{
    e->border = operand->ast ? border_of(operand->ast, operand->scope) : LIFT_BORDER_COUNT;
    if (e->border != LIFT_BORDER_COUNT) return true;
    REPORT(el, operand->ast ? operand->ast->at : e->at,
           "the third argument of pad must be clamp, mirror or wrap; a constant border is padConstant(l, r, "
           "v, a)");
    return false;
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
        return set_size(el, e, info->name, "first", lead, &e->amount_size);
    case LEAD_AMOUNTS:
    case LEAD_BORDER:
        return set_size(el, e, info->name, "first", lead, &e->amount_size) &&
               set_size(el, e, info->name, "second", lead + 1, &e->second_size) &&
               (info->lead == LEAD_AMOUNTS || set_border(el, e, lead + 2));
    case LEAD_NONE:
        break;
    }
    return true;
}

static struct ast *name_node(struct elaborator *el, const char *name, struct source_pos at)
{
    struct ast *e = ARENA_NEW(el->arena, struct ast);
    *e = (struct ast){.kind = AST_NAME, .name = name, .at = at};
    return e;
}

/* f(f(...f(x))), as a text in a scope of the two names, which no program can write. */
static struct lift_expr *iterate(struct elaborator *el, const struct operand *operands, struct source_pos at)
{
    const struct ast *count = operands[0].ast;
    const struct lift_size *n = count ? el_size_of(el, count, operands[0].scope) : NULL;
    if (!count || (n && (n->kind != LIFT_SIZE_CONST || n->value < 1 || n->value > MAX_ITERATIONS)))
        REPORT(el, count ? count->at : at,
               "iterate is written out: its first argument must be a number from 1 to %d", MAX_ITERATIONS);
    if (!n || n->kind != LIFT_SIZE_CONST || n->value < 1 || n->value > MAX_ITERATIONS) return NULL;
    if (!operands[1].ast || !el_arity_of(operands[1].ast, operands[1].scope)) {
        REPORT(el, operands[1].ast ? operands[1].ast->at : at,
               "the second argument of iterate must be a function");
        return NULL;
    }
    const struct scope *scope = el_push(el, NULL, "iterate's function", operands[1], NULL);
    scope = el_push(el, scope, "iterate's value", operands[2], NULL);
    struct ast *chain = name_node(el, "iterate's value", at);
    for (int64_t i = 0; i < n->value; i++) {
        struct ast *call = ARENA_NEW(el->arena, struct ast);
        *call = (struct ast){
            .kind = AST_CALL, .at = at, .n_parts = 2, .parts = ARENA_ARRAY(el->arena, struct ast *, 2)};
        call->parts[0] = name_node(el, "iterate's function", at);
        call->parts[1] = chain;
        chain = call;
    }
    return el_elaborate(el, chain, scope);
}

static struct lift_expr *apply_pattern(struct elaborator *el, const struct pattern_info *info,
                                       const struct operand *operands, unsigned n, struct source_pos at)
{
    unsigned lead = lift_lead_count(info->lead), needed = info->n_values + lead;
    if (n < needed || (n > needed && !info->variadic)) return wrong_arity(el, at, info->name, needed, n);
    if (info->pattern == LIFT_ITERATE) return iterate(el, operands, at);
    struct lift_expr *e = el_new_expr(el, info->kind, at, n - lead);
    e->pattern = info->pattern;
    bool ok = !lead || set_lead(el, e, info, &operands[0]);
    for (unsigned i = lead; i < n; i++)
        ok = (e->args[i - lead] = el_value_of(el, &operands[i], at)) && ok;
    return ok ? e : NULL;
}

static struct lift_expr *apply_name(struct elaborator *el, const struct ast *callee,
                                    const struct scope *scope, const struct operand *operands, unsigned n,
                                    struct source_pos at)
{
    const char *name = callee->name;
    const struct scope *found = el_find_name(scope, name);
    if (found && found->operand.ast && el_arity_of(found->operand.ast, found->operand.scope) > 0)
        return el_apply(el, found->operand.ast, found->operand.scope, operands, n, at);
    const struct pattern_info *info = lift_pattern_find(name);
    if (!found && info) return apply_pattern(el, info, operands, n, at);
    enum scalar_op op = scalar_op_find(name, (unsigned)strlen(name));
    if (!found && op != SCALAR_OP_COUNT) return apply_op(el, op, operands, n, at);
    if (found || el_find_size(el, name) >= 0)
        REPORT(el, callee->at, "'%s' is not a function", name);
    else
        el_report_unknown(el, callee->at, name, scope, EL_FUNCTION);
    return NULL;
}

struct lift_expr *el_apply_partial(struct elaborator *el, const struct ast *call, const struct scope *scope,
                                   const struct operand *operands, unsigned n, struct source_pos at)
{
    struct operand all[MAX_OPERANDS];
    unsigned given = (unsigned)call->n_parts - 1;
    if (call->n_parts > MAX_OPERANDS || given + n > MAX_OPERANDS) {
        REPORT(el, call->at, "more than %d arguments; split the function into smaller ones", MAX_OPERANDS);
        return NULL;
    }
    for (unsigned i = 0; i < given; i++)
        all[i] = (struct operand){.ast = call->parts[i + 1], .scope = scope};
    for (unsigned i = 0; i < n; i++)
        all[given + i] = operands[i];
    return el_apply(el, call->parts[0], scope, all, given + n, at);
}

static struct lift_expr *apply_callee(struct elaborator *el, const struct ast *callee,
                                      const struct scope *scope, const struct operand *operands, unsigned n,
                                      struct source_pos at)
{
    switch (callee->kind) {
    case AST_NAME:
        return apply_name(el, callee, scope, operands, n, at);
    case AST_CALL:
        return el_apply_partial(el, callee, scope, operands, n, at);
    case AST_FUN:
        return apply_fun(el, callee, scope, operands, n, at);
    default:
        REPORT(el, callee->at, "expected a function");
        return NULL;
    }
}

struct lift_expr *el_apply(struct elaborator *el, const struct ast *callee, const struct scope *scope,
                           const struct operand *operands, unsigned n, struct source_pos at)
{
    struct source_pos outer = el->outer;
    el->outer = el_place(el, at);
    if (++el->depth > MAX_DEPTH) el_report_full(el, at);
    struct lift_expr *e = el->full ? NULL : apply_callee(el, callee, scope, operands, n, at);
    el->depth--;
    el->outer = outer;
    return e;
}
