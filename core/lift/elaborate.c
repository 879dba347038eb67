/* From the syntax tree to the program: names resolved, functions inlined.
 *
 *     fun twice(v) = v + v                           output map(fun a -> let v = sqrt(a) in v + v, x)
 *     output map(fun a -> twice(sqrt(a)), x)   ->    (v is used twice: a LET; used once it would be replaced)
 *
 * A user function is a macro over the syntax tree: applying it elaborates its body in the scope where it was
 * declared, with its parameters bound to the arguments. An argument that is a function, arithmetic over
 * numbers and sizes, the name of a value, or used once replaces its parameter; any other becomes a LET, so
 * that no work is written twice. Functions see only what was declared before them, so nothing recurses. Where
 * a pattern takes a function, fresh parameters are made and the function is applied to them (eta expansion);
 * a function of several arguments takes a tuple apart there.
 *
 * Every parameter of a program gets a name of its own, so printed text never captures. Macros of the language
 * (map2, tile, ...) are a Lift text, the prelude. */
#include "core/lift/elaborate.h"

#include <string.h>

static const char prelude_text[] =
    "fun map2(f, a) = map(map(f), a)\n"
    "fun map3(f, a) = map(map(map(f)), a)\n"
    "fun zip2(a, b) = map(fun x y -> zip(x, y), zip(a, b))\n"
    "fun zip3(a, b) = map(fun x y -> zip2(x, y), zip(a, b))\n"
    "fun stride(s, a) = join(transpose(split(s, a)))\n"
    "fun generate(n, f) = map(f, iota(n))\n"
    "fun gather(f, a) = map(fun i -> at(f(i), a), indices(a))\n"
    "fun slide2(n, s, a) = map(transpose, slide(n, s, map(slide(n, s), a)))\n"
    "fun slide3(n, s, a) = map(fun w -> map(transpose, transpose(w)), slide(n, s, map(slide2(n, s), a)))\n"
    "fun pad2(l, r, m, a) = pad(l, r, m, map(pad(l, r, m), a))\n"
    "fun pad3(l, r, m, a) = pad(l, r, m, map(pad2(l, r, m), a))\n"
    "fun padConstant2(l, r, v, a) = padConstant(l, r, v, map(padConstant(l, r, v), a))\n"
    "fun padConstant3(l, r, v, a) = padConstant(l, r, v, map(padConstant2(l, r, v), a))\n"
    "fun sum(a) = reduce(add, 0.0, a)\n"
    "fun dot(a, b) = sum(map(mult, zip(a, b)))\n"
    "fun argmax(a) = get(1, reduce(fun ((v, i), (w, j)) -> if w > v || w == v && j < i then (w, j) else (v, "
    "i), "
    "(lowest, (0 : int)), zip(a, indices(a))))\n"
    "fun argmin(a) = get(1, reduce(fun ((v, i), (w, j)) -> if w < v || w == v && j < i then (w, j) else (v, "
    "i), "
    "(highest, (0 : int)), zip(a, indices(a))))\n"
    "fun tile(m, n, a) = map(fun r -> map(transpose, split(n, transpose(r))), split(m, a))\n"
    "fun untile(a) = join(map(fun r -> map(join, transpose(r)), a))\n";
static const struct source prelude = {"<prelude>", prelude_text, sizeof prelude_text - 1};

/* ---- expressions ---- */

/* The smallest and the largest number of a type, by name; a program's own name comes first. */
static int extreme_of(const struct elaborator *el, const struct ast *ast, const struct scope *scope)
{
    int extreme = !strcmp(ast->name, "lowest") ? -1 : !strcmp(ast->name, "highest");
    if (ast->at.source == &prelude) return extreme;
    return el_find_name(scope, ast->name) || el_find_size(el, ast->name) >= 0 ? 0 : extreme;
}

static struct lift_expr *elaborate_name(struct elaborator *el, const struct ast *ast,
                                        const struct scope *scope)
{
    const struct scope *found = el_find_name(scope, ast->name);
    int extreme = extreme_of(el, ast, scope);
    if (extreme) {
        struct lift_expr *e = el_new_expr(el, LIFT_LITERAL, ast->at, 0);
        e->extreme = extreme;
        return e;
    }
    if (el_arity_of(ast, scope)) {
        REPORT(el, ast->at, "expected a value, found the function '%s'", ast->name);
    } else if (found) {
        return el_ascribe(el, el_value_of(el, &found->operand, ast->at), found->type, found->next);
    } else if (el_find_size(el, ast->name) >= 0) {
        struct lift_expr *e = el_new_expr(el, LIFT_LITERAL, ast->at, 0);
        e->amount_size = lift_size_param(el->arena, (unsigned)el_find_size(el, ast->name), ast->name);
        return e;
    } else {
        el_report_unknown(el, ast->at, ast->name, scope, EL_VALUE);
    }
    return NULL;
}

static struct lift_expr *elaborate_number(struct elaborator *el, const struct ast *ast)
{
    struct lift_expr *e = el_new_expr(el, LIFT_LITERAL, ast->at, 0);
    e->value = ast->number;
    return e;
}

static struct lift_expr *elaborate_parts(struct elaborator *el, enum lift_kind kind, const struct ast *ast,
                                         const struct scope *scope)
{
    struct lift_expr *e = el_new_expr(el, kind, ast->at, (unsigned)ast->n_parts);
    bool ok = true;
    e->op = ast->op;
    for (unsigned i = 0; i < e->n_args; i++)
        ok = (e->args[i] = el_elaborate(el, ast->parts[i], scope)) && ok;
    return ok ? e : NULL;
}

static struct lift_expr *elaborate_negation(struct elaborator *el, const struct ast *ast,
                                            const struct scope *scope)
{
    struct lift_expr *e = elaborate_parts(el, LIFT_OP, ast, scope);
    if (!e || e->args[0]->kind != LIFT_LITERAL || e->args[0]->amount_size || e->args[0]->truth ||
        e->args[0]->extreme)
        return e;
    e->args[0]->value = -e->args[0]->value;
    e->args[0]->at = e->at;
    return e->args[0];
}

static struct lift_expr *elaborate_let(struct elaborator *el, const struct ast *ast,
                                       const struct scope *scope)
{
    struct operand value = {.ast = ast->parts[0], .scope = scope};
    struct binding b = {.scope = scope};
    el_check_name(el, ast->at, ast->name);
    if (!el_arity_of(value.ast, scope)) {
        struct lift_expr *e = el_elaborate(el, value.ast, scope);
        value = (struct operand){.expr = el_add_let(el, &b, ast->name, e, ast->at)};
        if (!e) return NULL;
    }
    return el_close_binding(&b, el_elaborate(el, ast->parts[1], el_push(el, scope, ast->name, value, NULL)));
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
        return el_apply_partial(el, ast, scope, NULL, 0, ast->at);
    case AST_TUPLE:
        return elaborate_parts(el, LIFT_MAKE_TUPLE, ast, scope);
    case AST_ARRAY:
        return elaborate_parts(el, LIFT_MAKE_ARRAY, ast, scope);
    case AST_LET:
        return elaborate_let(el, ast, scope);
    case AST_BINARY:
    case AST_NOT:
    case AST_IF:
        return elaborate_parts(el, LIFT_OP, ast, scope);
    case AST_TRUTH: {
        struct lift_expr *e = elaborate_number(el, ast);
        e->truth = true;
        return e;
    }
    case AST_NEGATE:
        return elaborate_negation(el, ast, scope);
    case AST_ASCRIBE:
        return el_ascribe(el, el_elaborate(el, ast->parts[0], scope), ast->type, scope);
    case AST_PIPE: {
        struct operand left = {.ast = ast->parts[0], .scope = scope};
        return el_apply(el, ast->parts[1], scope, &left, 1, ast->parts[1]->at);
    }
    case AST_FUN:
        break;
    }
    REPORT(el, ast->at,
           "unexpected function; a function may only be the argument of a pattern or of another function");
    return NULL;
}

struct lift_expr *el_elaborate(struct elaborator *el, const struct ast *ast, const struct scope *scope)
{
    if (++el->depth > MAX_DEPTH) el_report_full(el, ast->at);
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
    return el_push(el, scope, decl->name, (struct operand){.ast = fun, .scope = scope}, NULL);
}

static void declare_size(struct elaborator *el, const struct ast_decl *decl)
{
    struct lift_program *p = el->program;
    if (el_find_size(el, decl->name) >= 0)
        REPORT(el, decl->at, "'%s' is declared twice", decl->name);
    else
        el_check_name(el, decl->at, decl->name);
    p->sizes =
        arena_grow(el->arena, p->sizes, &el->cap_sizes, p->n_sizes + 1, sizeof(struct lift_size_param));
    p->sizes[p->n_sizes++] = (struct lift_size_param){.name = decl->name, .at = decl->at};
}

static const struct scope *declare_input(struct elaborator *el, const struct scope *scope,
                                         const struct ast_decl *decl)
{
    struct lift_program *p = el->program;
    struct lift_param *param = el_new_param(el, decl->name, decl->at);
    param->type = el_type_of(el, decl->type, scope);
    param->input = p->n_inputs;
    param->range = decl->range;
    if (decl->low) param->range.low_size = el_size_of(el, decl->low, scope);
    if (decl->high) param->range.high_size = el_size_of(el, decl->high, scope);
    param->interleaved = decl->interleaved;
    bool bound = !decl->low && !decl->high;
    if (param->type && bound) lift_range_check(&param->range, param->type, el->diag);
    p->inputs =
        arena_grow(el->arena, p->inputs, &el->cap_inputs, p->n_inputs + 1, sizeof(struct lift_param *));
    p->inputs[p->n_inputs++] = param;
    return el_push(el, scope, decl->name, (struct operand){.expr = el_new_reference(el, param, decl->at)},
                   NULL);
}

static void declare_value(struct elaborator *el, struct binding *b, const struct ast_decl *decl)
{
    struct operand value = {.ast = decl->body, .scope = b->scope};
    if (!el_arity_of(decl->body, b->scope)) {
        struct lift_expr *e = el_elaborate(el, decl->body, b->scope);
        if (!e) e = el_new_expr(el, LIFT_LITERAL, decl->at, 0);
        value = (struct operand){.expr = el_add_let(el, b, decl->name, e, decl->at)};
    }
    b->scope = el_push(el, b->scope, decl->name, value, NULL);
}

/* The input that an output of this name is written to, or LIFT_NONE. */
static unsigned updated_input(const struct lift_program *p, const char *name)
{
    for (unsigned i = 0; name && i < p->n_inputs; i++)
        if (!strcmp(p->inputs[i]->name, name)) return i;
    return LIFT_NONE;
}

static bool has_output(const struct lift_program *p, const char *name)
{
    bool has = false;
    for (unsigned i = 0; name && i < p->n_outputs; i++)
        has = has || (p->outputs[i].name && !strcmp(p->outputs[i].name, name));
    return has;
}

static void check_output_name(struct elaborator *el, const struct lift_output *o)
{
    if (has_output(el->program, o->name))
        REPORT(el, o->at, "output '%s' is declared twice", o->name);
    else if (o->name && o->input == LIFT_NONE)
        el_check_name(el, o->at, o->name);
}

static void declare_output(struct elaborator *el, struct binding *b, const struct ast_decl *decl)
{
    struct lift_program *p = el->program;
    struct lift_output o = {.name = decl->name, .at = decl->at, .interleaved = decl->interleaved};
    o.input = updated_input(p, decl->name);
    if (decl->type) o.written = el_type_of(el, decl->type, b->scope);
    check_output_name(el, &o);
    p->outputs = arena_grow(el->arena, p->outputs, &el->cap_outputs, p->n_outputs + 1, sizeof *p->outputs);
    p->outputs[p->n_outputs] = o;
    struct lift_expr *e = el_elaborate(el, decl->body, b->scope);
    el->results =
        arena_grow(el->arena, el->results, &el->cap_results, p->n_outputs + 1, sizeof(struct lift_expr *));
    el->results[p->n_outputs++] = e ? e : el_new_expr(el, LIFT_LITERAL, decl->at, 0);
}

/* The value of the program: that of its output, or the tuple of several, inside of its LETs. */
static void close_outputs(struct elaborator *el, struct binding *b)
{
    struct lift_program *p = el->program;
    struct lift_expr *value = p->n_outputs == 1 ? el->results[0] : NULL;
    if (p->n_outputs == 0)
        diag_error(el->diag, (struct source_pos){p->source, p->source->length},
                   "the program has no output; add one, such as: output map(fun x -> 2.0 * x, a)");
    if (p->n_outputs > 1) {
        value = el_new_expr(el, LIFT_MAKE_TUPLE, p->outputs[0].at, p->n_outputs);
        for (unsigned i = 0; i < p->n_outputs; i++) {
            value->args[i] = el->results[i];
            if (!p->outputs[i].name)
                REPORT(el, p->outputs[i].at, "one of several outputs has no name; write: output NAME = ...");
        }
    }
    p->output = value ? el_close_binding(b, value) : NULL;
}

static void declare(struct elaborator *el, struct binding *b, const struct ast_decl *decl)
{
    if (decl->kind == AST_SIZE) return;
    if (decl->kind != AST_OUTPUT) {
        const struct scope *found = el_find_name(b->scope, decl->name);
        bool twice =
            found && found->operand.ast != NULL ? found->operand.ast->at.source != &prelude : found != NULL;
        if (twice)
            REPORT(el, decl->at, "'%s' is declared twice", decl->name);
        else
            el_check_name(el, decl->at, decl->name);
    }
    if (decl->kind == AST_INPUT && has_output(el->program, decl->name))
        REPORT(el, decl->at,
               "input '%s' is declared after the output that is written to it; declare it before",
               decl->name);
    if (decl->kind == AST_INPUT)
        b->scope = declare_input(el, b->scope, decl);
    else if (decl->kind == AST_FUNCTION)
        b->scope = declare_function(el, b->scope, decl);
    else if (decl->kind == AST_VALUE)
        declare_value(el, b, decl);
    else
        declare_output(el, b, decl);
}

/* The macros as the program sees them: a size takes the name of one. */
static const struct scope *load_prelude(struct elaborator *el)
{
    const struct ast_program *syntax = lift_syntax_parse(&prelude, el->arena, el->diag);
    const struct scope *scope = NULL, *visible = NULL;
    for (size_t i = 0; i < syntax->n_decls; i++) {
        scope = declare_function(el, scope, &syntax->decls[i]);
        if (el_find_size(el, scope->name) < 0)
            visible = el_push(el, visible, scope->name, scope->operand, NULL);
    }
    return visible;
}

struct lift_program *lift_parse(const struct source *source, struct arena *a, struct diag *d)
{
    size_t errors = diag_count(d);
    const struct ast_program *syntax = lift_syntax_parse(source, a, d);
    if (diag_count(d) > errors) return NULL;
    struct elaborator *el = ARENA_NEW(a, struct elaborator);
    el->arena = a;
    el->diag = d;
    el->syntax = syntax;
    el->program = ARENA_NEW(a, struct lift_program);
    el->program->source = source;
    el->outer = (struct source_pos){source, 0};
    for (size_t i = 0; i < syntax->n_decls; i++)
        if (syntax->decls[i].kind == AST_SIZE) declare_size(el, &syntax->decls[i]);
    struct binding b = {.scope = load_prelude(el)};
    for (size_t i = 0; i < syntax->n_decls; i++)
        declare(el, &b, &syntax->decls[i]);
    close_outputs(el, &b);
    return diag_count(d) > errors ? NULL : el->program;
}
