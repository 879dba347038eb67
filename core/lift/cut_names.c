/* Gives values names at the top of a program, so that it can be cut at them (cut.h).
 *
 *     output map(fun q -> let s = map(fun k -> dot(q, k), K) in map(fun v -> dot(s, v), V), Q)
 *
 *     let s = map(fun q -> map(fun k -> dot(q, k), K), Q)
 *     output map(fun s_2 -> map(fun v -> dot(s_2, v), V), s)
 *
 * A value takes with it the `let`s around it that it mentions, and becomes a map for each function around it
 * whose element it mentions; these functions get its result beside the element, or in its place if nothing
 * else mentions that. One that mentions the accumulator of a reduction around it stays where it is. It has
 * the name of its own `let`, if there is one. Each value is moved in a copy of the tree, which is printed and
 * read again. */
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/lift/cut.h"
#include "core/lift/cut_state.h"
#include "core/lift/cut_tree.h"

enum { MOST_MOVES = 32 };

enum place { IN_ARGUMENT, IN_BODY, IN_FUNCTION };

/* An expression around the place, and which part of it the place is in. */
struct frame {
    struct lift_expr **slot; /* where the expression hangs */
    enum place place;
    bool zipped; /* its function gets the value beside its element */
};

struct namer {
    struct arena *arena;
    unsigned which;               /* enum lift_cut_named */
    struct lift_program *program; /* with a tree of its own */
    struct frame *path;           /* outermost first */
    size_t n, cap;
};

/* ---- where a value is ---- */

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

/* Whether the place is the value of a LET at the top, or the one output, or the element of a map that is.
 * Several outputs are one nest of loops, which need not be that of the value. */
static bool is_at_top(const struct namer *n)
{
    size_t i = top_of(n);
    if (i < n->n && n->path[i].place == IN_ARGUMENT && expr_of(&n->path[i])->kind == LIFT_LET) i++;
    for (; i < n->n; i++) {
        const struct frame *f = &n->path[i];
        bool maps = f->place == IN_FUNCTION && expr_of(f)->pattern == LIFT_MAP;
        if (!maps && f->place != IN_BODY) return false;
    }
    return true;
}

static bool in_functions_of_maps(const struct namer *n)
{
    bool maps = true;
    for (size_t i = 0; maps && i < n->n; i++)
        maps = n->path[i].place != IN_FUNCTION || expr_of(&n->path[i])->pattern == LIFT_MAP;
    return maps;
}

static bool is_operation(const struct lift_expr *e, const void *unused)
{
    (void)unused;
    return e->kind == LIFT_OP;
}

/* Whether the place has an array that a `let` names, and that takes operations. */
static bool is_named_array(const struct namer *n, const struct lift_expr *e)
{
    const struct frame *last = n->n ? &n->path[n->n - 1] : NULL;
    const struct lift_expr *let = last && last->place == IN_ARGUMENT ? expr_of(last) : NULL;
    return let && let->kind == LIFT_LET && let->param->read && e->type->kind == LIFT_ARRAY &&
           cut_any(e, is_operation, NULL) && cut_can_store(e->type, n->arena);
}

static bool is_wanted(const struct namer *n, const struct lift_expr *e)
{
    bool scan = e->kind == LIFT_APPLY && e->pattern == LIFT_SCAN;
    if (is_at_top(n)) return false;
    return (n->which & LIFT_CUT_SCANS && scan) ||
           (n->which & LIFT_CUT_LETS && is_named_array(n, e) && in_functions_of_maps(n));
}

/* Which parameter of a pattern's function is the element, and which argument its array. */
static unsigned element_number(const struct lift_expr *e)
{
    return e->pattern == LIFT_MAP || e->pattern == LIFT_SCATTER ? 0 : 1;
}

/* ---- the move ---- */

/* The value with what it takes with it, as far as frame `top`; NULL if it has to stay. */
static struct lift_expr *carried(struct namer *n, const struct lift_expr *value, size_t top)
{
    struct arena *a = n->arena;
    struct lift_expr *v = cut_clone(a, value);
    for (size_t i = n->n; i-- > top;) {
        struct frame *f = &n->path[i];
        const struct lift_expr *e = expr_of(f);
        f->zipped = false;
        if (f->place == IN_BODY && cut_mentions(v, e->param))
            v = cut_let(a, e->param, cut_clone(a, e->args[0]), v);
        if (f->place != IN_FUNCTION) continue;
        unsigned k = element_number(e);
        f->zipped = cut_mentions(v, e->fun->params[k]);
        if ((f->zipped && e->pattern == LIFT_SCATTER) || (k == 1 && cut_mentions(v, e->fun->params[0])))
            return NULL;
        if (f->zipped) v = cut_map(a, e->fun->params[k], v, cut_clone(a, e->args[k]));
    }
    return v;
}

/* Whether the value depends on the element of a function around it, from frame `top` on. Without that a named
 * array is a cut where it is. */
static bool depends(const struct namer *n, size_t top)
{
    bool any = false;
    for (size_t i = top; i < n->n; i++)
        any = any || n->path[i].zipped;
    return any;
}

/* The function of a pattern gets elements of `beside`, too. Returns what they are in it. */
static struct lift_expr *zip_beside(struct namer *n, struct lift_expr *e, struct lift_expr *beside)
{
    struct arena *a = n->arena;
    unsigned k = element_number(e);
    struct lift_param *pair = cut_param(n->arena, n->program, "p");
    struct lift_expr *zip = cut_expr(a, LIFT_APPLY, e->args[k], beside);
    zip->pattern = LIFT_ZIP;
    e->args[k] = zip;
    cut_substitute(a, &e->fun->body, e->fun->params[k], cut_component(a, pair, 0));
    e->fun->params[k] = pair;
    return cut_component(a, pair, 1);
}

/* Puts the result where the value was; a LET of it alone goes. */
static void replace(struct namer *n, struct lift_expr **slot, const struct lift_expr *result)
{
    struct frame *last = &n->path[n->n - 1];
    struct lift_expr *e = *last->slot;
    if (e->kind != LIFT_LET || last->place != IN_ARGUMENT) {
        *slot = cut_clone(n->arena, result);
        return;
    }
    cut_substitute(n->arena, &e->body, e->param, result);
    *last->slot = e->body;
}

static bool is_reduction(const struct lift_expr *e, const void *unused)
{
    (void)unused;
    return e->kind == LIFT_APPLY && (e->pattern == LIFT_REDUCE || e->pattern == LIFT_SCAN);
}

/* Where the value goes with the outermost function's array, and that is computed, it gets a name first: else
 * the value and what is left would both compute it. */
static bool name_array(struct namer *n, size_t top)
{
    struct lift_expr **at = n->path[top].slot, *e = *at;
    unsigned k = element_number(e);
    if (!n->path[top].zipped || !cut_any(e->args[k], is_reduction, NULL)) return false;
    struct lift_param *p = cut_param(n->arena, n->program, "t");
    struct lift_expr *array = e->args[k];
    e->args[k] = cut_reference(n->arena, p);
    *at = cut_let(n->arena, p, array, e);
    return true;
}

static bool move_value(struct namer *n, struct lift_expr **slot)
{
    size_t top = top_of(n);
    struct lift_expr *value = carried(n, *slot, top);
    const struct frame *last = &n->path[n->n - 1];
    if (!value || (!depends(n, top) && !(n->which & LIFT_CUT_SCANS))) return false;
    if (n->which & LIFT_CUT_LETS && name_array(n, top)) return true;
    bool has_name = last->place == IN_ARGUMENT && expr_of(last)->kind == LIFT_LET;
    struct lift_param *p = cut_param(n->arena, n->program, "t");
    if (has_name) p->name = expr_of(last)->param->name;
    struct lift_expr *result = cut_reference(n->arena, p), **at = n->path[top].slot;
    for (size_t i = top; i < n->n; i++)
        if (n->path[i].zipped) result = zip_beside(n, *n->path[i].slot, result);
    replace(n, slot, result);
    *at = cut_let(n->arena, p, value, *at);
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

/* Moves the first value that is to be moved and can be, inner ones first. */
static bool move_first(struct namer *n, struct lift_expr **slot)
{
    struct lift_expr *e = *slot;
    for (unsigned i = 0; i < e->n_args; i++)
        if (move_within(n, slot, IN_ARGUMENT, &e->args[i])) return true;
    if (e->kind == LIFT_LET && move_within(n, slot, IN_BODY, &e->body)) return true;
    if (e->fun && move_within(n, slot, IN_FUNCTION, &e->fun->body)) return true;
    return is_wanted(n, e) && move_value(n, slot);
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

struct lift_program *lift_cut_name(const struct lift_program *p, unsigned which, struct arena *a)
{
    struct lift_program *found = NULL;
    for (unsigned k = 0; k < MOST_MOVES; k++) {
        struct lift_program copy = found ? *found : *p;
        struct namer n = {.arena = a, .which = which, .program = &copy};
        copy.output = cut_clone(a, copy.output);
        if (!move_first(&n, &copy.output)) return found;
        cut_narrow(a, &copy);
        found = read_again(p, printed(&copy, a), a);
        if (!found) return NULL;
    }
    return found;
}
