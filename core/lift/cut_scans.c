/* Gives scans names at the top of a program, so that it can be cut at them (cut.h).
 *
 *     output map(fun r -> reverse(scan(add, 0.0, r)), A)
 *
 *     let t = map(fun r -> scan(add, 0.0, r), A)
 *     output map(fun p -> reverse(get(1, p)), zip(A, t))
 *
 * A scan takes with it the `let`s around it that it mentions, and becomes a map for each function around it
 * whose element it mentions; these functions get its result beside the element. One that mentions the
 * accumulator of a reduction around it stays where it is. It has the name of its own `let`, if there is one.
 * Each scan is moved in a copy of the tree, which is printed and read again. */
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/lift/cut_state.h"

enum { MOST_MOVES = 32 };

enum place { IN_ARGUMENT, IN_BODY, IN_FUNCTION };

/* An expression around the place, and which part of it the place is in. */
struct frame {
    struct lift_expr **slot; /* where the expression hangs */
    enum place place;
    bool zipped; /* its function gets the scan's result beside its element */
};

struct namer {
    struct arena *arena;
    struct lift_program *program; /* with a tree of its own */
    struct frame *path;           /* outermost first */
    size_t n, cap;
};

/* ---- trees ---- */

static struct lift_expr *clone(struct arena *a, const struct lift_expr *e)
{
    struct lift_expr *twin = arena_memdup(a, e, sizeof *e);
    twin->args = ARENA_ARRAY(a, struct lift_expr *, e->n_args + 1);
    for (unsigned i = 0; i < e->n_args; i++)
        twin->args[i] = clone(a, e->args[i]);
    if (e->body) twin->body = clone(a, e->body);
    if (!e->fun) return twin;
    twin->fun = arena_memdup(a, e->fun, sizeof *e->fun);
    twin->fun->params = arena_memdup(a, e->fun->params, e->fun->n_params * sizeof(struct lift_param *));
    twin->fun->body = clone(a, e->fun->body);
    return twin;
}

static bool mentions(const struct lift_expr *e, const struct lift_param *p)
{
    bool any = e->kind == LIFT_PARAM_REF && e->param == p;
    for (unsigned i = 0; !any && i < e->n_args; i++)
        any = mentions(e->args[i], p);
    if (!any && e->body) any = mentions(e->body, p);
    return any || (e->fun && mentions(e->fun->body, p));
}

/* Puts a copy of `value` in the place of each reference to p. */
static void substitute(struct arena *a, struct lift_expr **slot, const struct lift_param *p,
                       const struct lift_expr *value)
{
    struct lift_expr *e = *slot;
    for (unsigned i = 0; i < e->n_args; i++)
        substitute(a, &e->args[i], p, value);
    if (e->body) substitute(a, &e->body, p, value);
    if (e->fun) substitute(a, &e->fun->body, p, value);
    if (e->kind == LIFT_PARAM_REF && e->param == p) *slot = clone(a, value);
}

static struct lift_expr *new_expr(struct arena *a, enum lift_kind kind, struct lift_expr *x,
                                  struct lift_expr *y)
{
    struct lift_expr *e = ARENA_NEW(a, struct lift_expr);
    *e = (struct lift_expr){.kind = kind, .n_args = x == NULL ? 0u : y == NULL ? 1u : 2u};
    e->args = ARENA_ARRAY(a, struct lift_expr *, 2);
    e->args[0] = x;
    e->args[1] = y;
    return e;
}

static struct lift_expr *reference(struct arena *a, struct lift_param *p)
{
    struct lift_expr *e = new_expr(a, LIFT_PARAM_REF, NULL, NULL);
    e->param = p;
    return e;
}

static struct lift_expr *component(struct arena *a, struct lift_param *p, unsigned index)
{
    struct lift_expr *e = new_expr(a, LIFT_GET, reference(a, p), NULL);
    e->index = index;
    return e;
}

static struct lift_expr *named(struct arena *a, struct lift_param *p, struct lift_expr *value,
                               struct lift_expr *body)
{
    struct lift_expr *e = new_expr(a, LIFT_LET, value, NULL);
    e->param = p;
    e->body = body;
    return e;
}

/* map(fun p -> body, array) */
static struct lift_expr *mapped(struct arena *a, struct lift_param *p, struct lift_expr *body,
                                struct lift_expr *array)
{
    struct lift_expr *e = new_expr(a, LIFT_APPLY, array, NULL);
    e->pattern = LIFT_MAP;
    e->fun = ARENA_NEW(a, struct lift_lambda);
    *e->fun = (struct lift_lambda){1, ARENA_ARRAY(a, struct lift_param *, 1), body};
    e->fun->params[0] = p;
    return e;
}

/* ---- names ---- */

static bool binds(const struct lift_expr *e, const char *name)
{
    bool any = e->kind == LIFT_LET && !strcmp(e->param->name, name);
    for (unsigned i = 0; e->fun && i < e->fun->n_params; i++)
        any = any || !strcmp(e->fun->params[i]->name, name);
    for (unsigned i = 0; !any && i < e->n_args; i++)
        any = binds(e->args[i], name);
    if (!any && e->body) any = binds(e->body, name);
    return any || (e->fun && binds(e->fun->body, name));
}

static bool is_taken(const struct lift_program *p, const char *name)
{
    bool taken = binds(p->output, name);
    for (unsigned i = 0; i < p->n_arrays; i++)
        taken = taken || !strcmp(p->arrays[i].name, name);
    for (unsigned i = 0; i < p->n_inputs; i++)
        taken = taken || !strcmp(p->inputs[i]->name, name);
    for (unsigned i = 0; i < p->n_sizes; i++)
        taken = taken || !strcmp(p->sizes[i].name, name);
    return taken;
}

static struct lift_param *new_param(struct namer *n, const char *stem)
{
    struct lift_param *p = ARENA_NEW(n->arena, struct lift_param);
    *p = (struct lift_param){.name = stem, .input = LIFT_NONE};
    for (unsigned k = 2; is_taken(n->program, p->name); k++)
        p->name = arena_printf(n->arena, "%s_%u", stem, k);
    return p;
}

/* ---- where a scan is ---- */

static const struct lift_expr *expr_of(const struct frame *f)
{
    return *f->slot;
}

/* How many of the frames are LETs at the top, in whose body the place is. */
static size_t top_of(const struct namer *n)
{
    size_t top = 0;
    while (top < n->n && n->path[top].place == IN_BODY)
        top++;
    return top;
}

/* Whether the place is the value of a LET at the top, or an output, or the element of a map that is. */
static bool is_at_top(const struct namer *n)
{
    size_t i = top_of(n);
    if (i < n->n && n->path[i].place == IN_ARGUMENT) {
        bool outputs = n->program->n_outputs > 1 && expr_of(&n->path[i])->kind == LIFT_MAKE_TUPLE;
        if (expr_of(&n->path[i])->kind == LIFT_LET || outputs) i++;
    }
    for (; i < n->n; i++) {
        const struct frame *f = &n->path[i];
        bool maps = f->place == IN_FUNCTION && expr_of(f)->pattern == LIFT_MAP;
        if (!maps && f->place != IN_BODY) return false;
    }
    return true;
}

/* Which parameter of a pattern's function is the element, and which argument its array. */
static unsigned element_number(const struct lift_expr *e)
{
    return e->pattern == LIFT_MAP || e->pattern == LIFT_SCATTER ? 0 : 1;
}

/* ---- the move ---- */

/* The scan with what it takes with it, as far as frame `top`; NULL if it has to stay. */
static struct lift_expr *carried(struct namer *n, const struct lift_expr *scan, size_t top)
{
    struct arena *a = n->arena;
    struct lift_expr *v = clone(a, scan);
    for (size_t i = n->n; i-- > top;) {
        struct frame *f = &n->path[i];
        const struct lift_expr *e = expr_of(f);
        f->zipped = false;
        if (f->place == IN_BODY && mentions(v, e->param)) v = named(a, e->param, clone(a, e->args[0]), v);
        if (f->place != IN_FUNCTION) continue;
        unsigned k = element_number(e);
        f->zipped = mentions(v, e->fun->params[k]);
        if ((f->zipped && e->pattern == LIFT_SCATTER) || (k == 1 && mentions(v, e->fun->params[0])))
            return NULL;
        if (f->zipped) v = mapped(a, e->fun->params[k], v, clone(a, e->args[k]));
    }
    return v;
}

/* The function of a pattern gets elements of `beside`, too. Returns what they are in it. */
static struct lift_expr *zip_beside(struct namer *n, struct lift_expr *e, struct lift_expr *beside)
{
    struct arena *a = n->arena;
    unsigned k = element_number(e);
    struct lift_param *pair = new_param(n, "p");
    struct lift_expr *zip = new_expr(a, LIFT_APPLY, e->args[k], beside);
    zip->pattern = LIFT_ZIP;
    e->args[k] = zip;
    substitute(a, &e->fun->body, e->fun->params[k], component(a, pair, 0));
    e->fun->params[k] = pair;
    return component(a, pair, 1);
}

/* Puts the result where the scan was; a LET of it alone goes. */
static void replace(struct namer *n, struct lift_expr **slot, const struct lift_expr *result)
{
    struct frame *last = &n->path[n->n - 1];
    struct lift_expr *e = *last->slot;
    if (e->kind != LIFT_LET || last->place != IN_ARGUMENT) {
        *slot = clone(n->arena, result);
        return;
    }
    substitute(n->arena, &e->body, e->param, result);
    *last->slot = e->body;
}

static bool move_scan(struct namer *n, struct lift_expr **slot)
{
    size_t top = top_of(n);
    struct lift_expr *value = carried(n, *slot, top);
    const struct frame *last = &n->path[n->n - 1];
    if (!value) return false;
    bool has_name = last->place == IN_ARGUMENT && expr_of(last)->kind == LIFT_LET;
    struct lift_param *p = new_param(n, "t");
    if (has_name) p->name = expr_of(last)->param->name;
    struct lift_expr *result = reference(n->arena, p), **at = n->path[top].slot;
    for (size_t i = top; i < n->n; i++)
        if (n->path[i].zipped) result = zip_beside(n, *n->path[i].slot, result);
    replace(n, slot, result);
    *at = named(n->arena, p, value, *at);
    return true;
}

/* ---- the walk ---- */

static bool move_first(struct namer *n, struct lift_expr **slot);

static bool move_within(struct namer *n, struct lift_expr **around, enum place place, struct lift_expr **slot)
{
    n->path = arena_grow(n->arena, n->path, &n->cap, n->n + 1, sizeof *n->path);
    n->path[n->n++] = (struct frame){.slot = around, .place = place};
    bool moved = move_first(n, slot);
    n->n--;
    return moved;
}

/* Moves the first scan that is to be moved and can be, inner ones first. */
static bool move_first(struct namer *n, struct lift_expr **slot)
{
    struct lift_expr *e = *slot;
    for (unsigned i = 0; i < e->n_args; i++)
        if (move_within(n, slot, IN_ARGUMENT, &e->args[i])) return true;
    if (e->kind == LIFT_LET && move_within(n, slot, IN_BODY, &e->body)) return true;
    if (e->fun && move_within(n, slot, IN_FUNCTION, &e->fun->body)) return true;
    bool scan = e->kind == LIFT_APPLY && e->pattern == LIFT_SCAN;
    return scan && !is_at_top(n) && move_scan(n, slot);
}

/* ---- the program ---- */

static const char *printed(const struct lift_program *p, struct arena *a)
{
    struct strbuf text = {0};
    lift_print(p, &text);
    const char *out = arena_strdup(a, text.text);
    strbuf_free(&text);
    return out;
}

static struct lift_program *read_again(const struct lift_program *p, const char *text, struct arena *a)
{
    struct diag *d = diag_new();
    struct source *source = ARENA_NEW(a, struct source);
    struct lift_size_value *sizes = ARENA_ARRAY(a, struct lift_size_value, p->n_sizes + 1);
    *source = (struct source){p->source->path, text, strlen(text)};
    for (unsigned i = 0; i < p->n_sizes; i++)
        sizes[i] = (struct lift_size_value){p->sizes[i].name, p->sizes[i].value};
    struct lift_program *q = lift_parse(source, a, d);
    bool ok = q && lift_bind(q, sizes, p->n_sizes, a, d);
    diag_free(d);
    return ok ? q : NULL;
}

struct lift_program *lift_cut_name_scans(const struct lift_program *p, struct arena *a)
{
    struct lift_program *found = NULL;
    for (unsigned k = 0; k < MOST_MOVES; k++) {
        struct lift_program copy = found ? *found : *p;
        struct namer n = {.arena = a, .program = &copy};
        copy.output = clone(a, copy.output);
        if (!move_first(&n, &copy.output)) return found;
        found = read_again(p, printed(&copy, a), a);
        if (!found) return NULL;
    }
    return found;
}
