/* Names, nodes, sizes and types of a program that is being elaborated: who a name is in a scope, what an
 * unknown one was meant to be ("did you mean 'transpose'?"), and the nodes that elaboration makes, whose
 * number is bounded. */
#include "core/lift/elaborate.h"

#include <string.h>

#include "core/base/similar.h"
#include "core/lift/absent.h"

/* ---- places and names ---- */

struct source_pos el_place(const struct elaborator *el, struct source_pos at)
{
    return at.source == el->program->source ? at : el->outer;
}

void el_report_full(struct elaborator *el, struct source_pos at)
{
    if (!el->full)
        REPORT(el, at,
               "the program is too large once its functions are inlined; write fewer or smaller functions");
    el->full = true;
}

static bool is_builtin(const char *name)
{
    return lift_pattern_find(name) || scalar_op_find(name, (unsigned)strlen(name)) != SCALAR_OP_COUNT;
}

int el_find_size(const struct elaborator *el, const char *name)
{
    for (unsigned i = 0; i < el->program->n_sizes; i++)
        if (!strcmp(el->program->sizes[i].name, name)) return (int)i;
    return -1;
}

static bool name_used(const struct elaborator *el, const char *name)
{
    for (unsigned i = 0; i < el->n_names; i++)
        if (!strcmp(el->names[i], name)) return true;
    return el_find_size(el, name) >= 0;
}

void el_check_name(struct elaborator *el, struct source_pos at, const char *name)
{
    if (is_builtin(name))
        REPORT(el, at, "'%s' is the name of a pattern or an operation; choose another name", name);
    else if (el_find_size(el, name) >= 0)
        REPORT(el, at, "'%s' is the name of a size; choose another name", name);
}

bool el_is_unknown(const struct elaborator *el, const char *name, const struct scope *scope)
{
    return !is_builtin(name) && !el_find_name(scope, name) && el_find_size(el, name) < 0;
}

/* ---- unknown names ---- */

struct candidates {
    struct arena *arena;
    const char **names;
    size_t n, cap;
};

static void add_candidate(struct candidates *c, const char *name)
{
    c->names = arena_grow(c->arena, c->names, &c->cap, c->n + 1, sizeof *c->names);
    c->names[c->n++] = name;
}

/* A name of that kind that is declared and spelt like this one, or NULL. */
static const char *find_similar(const struct elaborator *el, const char *name, const struct scope *scope,
                                enum el_meant meant)
{
    struct candidates c = {.arena = el->arena};
    for (unsigned i = 0; meant != EL_FUNCTION && i < el->program->n_sizes; i++)
        add_candidate(&c, el->program->sizes[i].name);
    for (unsigned i = 0; meant == EL_FUNCTION && lift_pattern_name(i); i++)
        add_candidate(&c, lift_pattern_name(i));
    for (int i = 0; meant == EL_FUNCTION && i < SCALAR_OP_COUNT; i++)
        add_candidate(&c, scalar_op_name((enum scalar_op)i));
    for (; scope && meant != EL_SIZE; scope = scope->next) {
        bool function = scope->operand.ast && el_arity_of(scope->operand.ast, scope->operand.scope) > 0;
        if (function == (meant == EL_FUNCTION)) add_candidate(&c, scope->name);
    }
    return similar_find(name, c.names, c.n);
}

/* Reports a name that the program declares, but not where it is visible. */
static bool report_invisible(struct elaborator *el, struct source_pos at, const char *name)
{
    const struct ast_decl *decl = NULL;
    for (size_t i = 0; i < el->syntax->n_decls && !decl; i++)
        if (el->syntax->decls[i].name && !strcmp(el->syntax->decls[i].name, name))
            decl = &el->syntax->decls[i];
    if (!decl) return false;
    if (decl->at.offset > el_place(el, at).offset)
        REPORT(el, at, "'%s' is declared below; move its declaration above this line", name);
    else
        REPORT(el, at, "'%s' is declared in terms of itself; there is no recursion", name);
    return true;
}

void el_report_unknown(struct elaborator *el, struct source_pos at, const char *name,
                       const struct scope *scope, enum el_meant meant)
{
    static const char *const kinds[] = {[EL_FUNCTION] = "function", [EL_VALUE] = "name", [EL_SIZE] = "size"};
    const char *similar = find_similar(el, name, scope, meant), *kind = kinds[meant];
    size_t length = strlen(name);
    if (report_invisible(el, at, name)) return;
    if (meant == EL_FUNCTION && lift_absent(el->diag, el_place(el, at), ABSENT_NAME, name, length))
        return;
    else if (similar)
        REPORT(el, at, "unknown %s '%s'; did you mean '%s'?", kind, name, similar);
    else if (meant == EL_SIZE)
        REPORT(el, at, "unknown size '%s'; declare it: size %s", name, name);
    else if (!lift_absent(el->diag, el_place(el, at), ABSENT_NAME, name, length))
        REPORT(el, at, "unknown %s '%s'", kind, name);
}

/* ---- parameters and nodes ---- */

struct lift_param *el_new_param(struct elaborator *el, const char *name, struct source_pos at)
{
    struct lift_param *param = ARENA_NEW(el->arena, struct lift_param);
    const char *base = name;
    for (unsigned k = 2; name_used(el, name); k++)
        name = arena_printf(el->arena, "%s_%u", base, k);
    param->name = name;
    param->at = el_place(el, at);
    param->input = LIFT_NONE;
    if (el->n_names < MAX_NAMES)
        el->names[el->n_names++] = name;
    else
        el_report_full(el, at);
    return param;
}

struct lift_expr *el_new_expr(struct elaborator *el, enum lift_kind kind, struct source_pos at,
                              unsigned n_args)
{
    struct lift_expr *e = ARENA_NEW(el->arena, struct lift_expr);
    if (++el->n_nodes > MAX_NODES) el_report_full(el, at);
    e->kind = kind;
    e->at = el_place(el, at);
    e->n_args = n_args;
    e->args = ARENA_ARRAY(el->arena, struct lift_expr *, n_args);
    return e;
}

struct lift_expr *el_copy_reference(struct elaborator *el, const struct lift_expr *e, struct source_pos at)
{
    struct lift_expr *copy = el_new_expr(el, e->kind, at, e->n_args);
    copy->param = e->param;
    copy->index = e->index;
    copy->amount = e->amount;
    copy->pattern = e->pattern;
    copy->type = e->type;
    for (unsigned i = 0; i < e->n_args; i++)
        copy->args[i] = el_copy_reference(el, e->args[i], at);
    return copy;
}

struct lift_expr *el_new_reference(struct elaborator *el, struct lift_param *param, struct source_pos at)
{
    struct lift_expr *e = el_new_expr(el, LIFT_PARAM_REF, at, 0);
    e->param = param;
    return e;
}

struct lift_expr *el_new_get(struct elaborator *el, unsigned index, unsigned width,
                             const struct lift_expr *tuple, struct source_pos at)
{
    struct lift_expr *e = el_new_expr(el, LIFT_GET, at, 1);
    e->index = index;
    e->amount = width;
    e->args[0] = el_copy_reference(el, tuple, at);
    return e;
}

const struct scope *el_find_name(const struct scope *scope, const char *name)
{
    while (scope && strcmp(scope->name, name) != 0)
        scope = scope->next;
    return scope;
}

const struct scope *el_push(struct elaborator *el, const struct scope *next, const char *name,
                            struct operand operand, const struct ast_type *type)
{
    struct scope *scope = ARENA_NEW(el->arena, struct scope);
    *scope = (struct scope){.next = next, .name = name, .operand = operand, .type = type};
    return scope;
}

/* ---- sizes and types ---- */

static const struct lift_size *size_of_name(struct elaborator *el, const struct ast *ast,
                                            const struct scope *scope)
{
    const struct scope *found = el_find_name(scope, ast->name);
    if (found && found->operand.ast) return el_size_of(el, found->operand.ast, found->operand.scope);
    int param = el_find_size(el, ast->name);
    if (!found && param >= 0) return lift_size_param(el->arena, (unsigned)param, ast->name);
    if (found)
        REPORT(el, ast->at, "expected a size, found the value '%s'", ast->name);
    else
        el_report_unknown(el, ast->at, ast->name, scope, EL_SIZE);
    return NULL;
}

static bool size_operation(enum scalar_op op, enum lift_size_kind *out)
{
    static const struct {
        enum scalar_op op;
        enum lift_size_kind kind;
    } operations[] = {{SCALAR_ADD, LIFT_SIZE_ADD},
                      {SCALAR_SUB, LIFT_SIZE_SUB},
                      {SCALAR_MULT, LIFT_SIZE_MUL},
                      {SCALAR_DIV, LIFT_SIZE_DIV}};
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
        if (operations[i].op == op) return *out = operations[i].kind, true;
    return false;
}

static const struct lift_size *size_of_kind(struct elaborator *el, const struct ast *ast,
                                            const struct scope *scope)
{
    if (ast->kind == AST_NAME) return size_of_name(el, ast, scope);
    enum lift_size_kind kind;
    if (ast->kind == AST_BINARY && size_operation(ast->op, &kind)) {
        const struct lift_size *x = el_size_of(el, ast->parts[0], scope),
                               *y = el_size_of(el, ast->parts[1], scope);
        return x && y ? lift_size_op(el->arena, kind, x, y) : NULL;
    }
    if (ast->kind == AST_NEGATE) {
        const struct lift_size *x = el_size_of(el, ast->parts[0], scope);
        return x ? lift_size_op(el->arena, LIFT_SIZE_SUB, lift_size_const(el->arena, 0), x) : NULL;
    }
    if (ast->kind == AST_NUMBER && ast->integer && ast->number <= 0x1p53)
        return lift_size_const(el->arena, (int64_t)ast->number);
    REPORT(el, ast->at, "not a size; a size consists of whole numbers, size parameters and + - * /");
    return NULL;
}

const struct lift_size *el_size_of(struct elaborator *el, const struct ast *ast, const struct scope *scope)
{
    if (++el->depth > MAX_DEPTH || ++el->n_nodes > MAX_NODES) el_report_full(el, ast->at);
    const struct lift_size *size = el->full ? NULL : size_of_kind(el, ast, scope);
    el->depth--;
    return size;
}

const struct lift_type *el_type_of(struct elaborator *el, const struct ast_type *ast,
                                   const struct scope *scope)
{
    struct lift_type *t = ARENA_NEW(el->arena, struct lift_type);
    t->kind = ast->is_scalar ? LIFT_SCALAR : ast->size ? LIFT_ARRAY : LIFT_TUPLE;
    t->scalar = ast->scalar;
    bool ok = true;
    if (t->kind == LIFT_ARRAY) {
        t->element = el_type_of(el, ast->parts[0], scope);
        t->size = el_size_of(el, ast->size, scope);
        return t->element && t->size ? t : NULL;
    }
    t->n_parts = (unsigned)ast->n_parts;
    t->parts = ARENA_ARRAY(el->arena, const struct lift_type *, ast->n_parts);
    for (unsigned i = 0; i < t->n_parts; i++)
        ok = (t->parts[i] = el_type_of(el, ast->parts[i], scope)) && ok;
    return ok ? t : NULL;
}

struct lift_expr *el_ascribe(struct elaborator *el, struct lift_expr *value, const struct ast_type *type,
                             const struct scope *scope)
{
    if (!value || !type) return value;
    struct lift_expr *e = el_new_expr(el, LIFT_APPLY, value->at, 1);
    e->pattern = LIFT_ID;
    e->index = 1;
    e->args[0] = value;
    e->type = el_type_of(el, type, scope);
    return e->type ? e : NULL;
}
