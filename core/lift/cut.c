/* Where a program may be cut (cut.h).
 *
 *     output map(fun q -> let s = sum(x) in ..., Q)      s: closed, computed for each q unless it is cut
 *     output map(f, map(fun r -> sum(r), A))             t: the inner array, which has no name
 *     output map(fun q -> let s = dot(q, x) in ..., Q)   none: s depends on q
 *
 * One walk over the tree, values before what mentions them. A parameter is *closed* if it is an input or the
 * name of a closed value; an expression is closed if it mentions none but closed parameters and those that it
 * binds itself. */
#include "core/lift/cut.h"

#include <string.h>

#include "core/base/arena.h"
#include "core/base/similar.h"
#include "core/lift/cut_state.h"

enum { MOST_DIMENSIONS = 32 };

/* What a walk has found out about an expression. */
struct seen {
    size_t first; /* the first of the open parameters that it mentions, SIZE_MAX: none */
    bool works;   /* an operation is in it */
    bool reduces; /* a reduction or a scan is in it */
    bool slides;  /* windows are in it, of what no function has computed yet */
};

struct finder {
    struct arena *arena;
    const struct lift_program *program;
    struct lift_cuts cuts;
    size_t cap_cuts;
    const struct lift_param **open; /* parameters of functions around the place, and names of open values */
    size_t n_open, cap_open;
    unsigned n_unnamed;
};

/* ---- shapes ---- */

/* The extents above 1 of an array of scalars. */
static unsigned shape_of(const struct lift_type *t, int64_t extents[MOST_DIMENSIONS])
{
    unsigned n = 0;
    for (; t->kind == LIFT_ARRAY && n < MOST_DIMENSIONS; t = t->element)
        if (t->extent > 1) extents[n++] = t->extent;
    return n;
}

static bool same_shape(const struct lift_type *x, const struct lift_type *y)
{
    int64_t a[MOST_DIMENSIONS], b[MOST_DIMENSIONS];
    unsigned n = shape_of(x, a);
    return n == shape_of(y, b) && memcmp(a, b, n * sizeof *a) == 0;
}

/* Whether the arrays of all leaves have the shape of `shape`, or, where that is NULL, one shape. */
static bool has_shape(const struct lift_type *t, const struct lift_type *shape, struct arena *a)
{
    bool same = true;
    if (!shape) shape = lift_type_leaf(t, 0, a);
    for (unsigned i = 0; same && i < lift_type_leaves(t); i++)
        same = same_shape(lift_type_leaf(t, i, a), shape);
    return same;
}

/* A range of a component of tuples cannot be stated; nor one with a single number. */
static bool can_state_ranges(const struct lift_type *t, bool in_tuple)
{
    bool can = true;
    if (t->kind == LIFT_SCALAR) return !t->ranged || (!in_tuple && t->least < t->most);
    if (t->kind == LIFT_ARRAY) return can_state_ranges(t->element, in_tuple);
    for (unsigned i = 0; can && i < t->n_parts; i++)
        can = can_state_ranges(t->parts[i], true);
    return can;
}

static bool has_bool(const struct lift_type *t)
{
    bool has = t->kind == LIFT_SCALAR && t->scalar == SCALAR_BOOL;
    if (t->kind == LIFT_ARRAY) return has_bool(t->element);
    for (unsigned i = 0; !has && i < t->n_parts; i++)
        has = has_bool(t->parts[i]);
    return has;
}

bool cut_can_store(const struct lift_type *t, struct arena *a)
{
    bool stored = t->kind == LIFT_SCALAR;
    for (unsigned i = 0; !stored && i < lift_type_leaves(t); i++)
        stored = lift_type_leaf(t, i, a)->kind == LIFT_ARRAY;
    return stored && !has_bool(t) && can_state_ranges(t, false) && has_shape(t, NULL, a);
}

/* ---- outputs ---- */

const struct lift_expr *cut_output_value(const struct lift_program *p, unsigned output)
{
    const struct lift_expr *e = p->output;
    while (p->n_outputs > 1 && e->kind == LIFT_LET)
        e = e->body;
    return p->n_outputs > 1 ? e->args[output] : e;
}

static void add_output(const struct lift_program *p, struct cut_group *g, unsigned output)
{
    g->updates = g->updates || p->outputs[output].input != LIFT_NONE;
    g->outputs[g->n++] = output;
}

/* Moves the groups that write over inputs behind the others. */
static void order_groups(struct cut_group *groups, unsigned n)
{
    struct cut_group sorted[LIFT_MAX_OUTPUTS];
    unsigned k = 0;
    for (int updates = 0; updates < 2; updates++)
        for (unsigned i = 0; i < n; i++)
            if (groups[i].updates == (updates == 1)) sorted[k++] = groups[i];
    memcpy(groups, sorted, n * sizeof *groups);
}

unsigned cut_group_outputs(const struct lift_program *p, struct cut_group groups[LIFT_MAX_OUTPUTS])
{
    struct arena *a = arena_new();
    unsigned n = 0;
    for (unsigned k = 0; k < p->n_outputs; k++) {
        unsigned g = 0;
        const struct lift_type *shape = lift_type_leaf(p->outputs[k].type, 0, a);
        while (g < n && !has_shape(p->outputs[groups[g].outputs[0]].type, shape, a))
            g++;
        if (g == n) groups[n++] = (struct cut_group){0};
        add_output(p, &groups[g], k);
    }
    arena_free(a);
    order_groups(groups, n);
    return n;
}

unsigned lift_cut_forced(const struct lift_program *p)
{
    struct cut_group groups[LIFT_MAX_OUTPUTS];
    return cut_group_outputs(p, groups);
}

/* ---- the walk ---- */

/* The place of a parameter among the open ones; SIZE_MAX: it is closed. */
static size_t open_place(const struct finder *f, const struct lift_param *p)
{
    for (size_t i = 0; i < f->n_open; i++)
        if (f->open[i] == p) return i;
    return SIZE_MAX;
}

/* What mentions only parameters that it binds itself mentions none that are open around it. */
static bool is_closed(const struct finder *f, const struct seen *s)
{
    return s->first >= f->n_open;
}

static void open_param(struct finder *f, const struct lift_param *p)
{
    f->open = arena_grow(f->arena, f->open, &f->cap_open, f->n_open + 1, sizeof *f->open);
    f->open[f->n_open++] = p;
}

static struct lift_cut *add_cut(struct finder *f)
{
    f->cuts.items = arena_grow(f->arena, f->cuts.items, &f->cap_cuts, f->cuts.n + 1, sizeof *f->cuts.items);
    return &f->cuts.items[f->cuts.n++];
}

/* A scalar is worth a kernel if a reduction is in it. */
static void add_let(struct finder *f, const struct lift_expr *let, const struct seen *value)
{
    const struct lift_type *t = let->param->type;
    if (!is_closed(f, value) || !let->param->read || !cut_can_store(t, f->arena)) return;
    if (t->kind == LIFT_SCALAR && (!value->reduces || t->ranged)) return;
    *add_cut(f) = (struct lift_cut){.name = let->param->name,
                                    .at = let->param->at,
                                    .type = t,
                                    .computes = value->works || value->reduces,
                                    .value = let->args[0],
                                    .let = let->param};
}

static void add_unnamed(struct finder *f, const struct lift_expr *e)
{
    const char *name = f->n_unnamed ? arena_printf(f->arena, "t_%u", f->n_unnamed + 1) : "t";
    f->n_unnamed++;
    *add_cut(f) = (struct lift_cut){.name = name, .at = e->at, .type = e->type, .computes = true, .value = e};
}

static void merge(struct seen *into, const struct seen *from)
{
    into->first = into->first < from->first ? into->first : from->first;
    into->works = into->works || from->works;
    into->reduces = into->reduces || from->reduces;
    into->slides = into->slides || from->slides;
}

/* consumed: a pattern with a function reads the expression, or calls one that it stands in. */
static struct seen walk(struct finder *f, const struct lift_expr *e, bool consumed);

static struct seen walk_function(struct finder *f, const struct lift_lambda *fun)
{
    size_t n_open = f->n_open;
    for (unsigned i = 0; i < fun->n_params; i++)
        open_param(f, fun->params[i]);
    struct seen body = walk(f, fun->body, true);
    f->n_open = n_open;
    return body;
}

static struct seen walk_let(struct finder *f, const struct lift_expr *e, bool consumed)
{
    struct seen all = walk(f, e->args[0], false);
    add_let(f, e, &all);
    size_t n_open = f->n_open;
    if (!is_closed(f, &all)) open_param(f, e->param);
    struct seen body = walk(f, e->body, consumed);
    f->n_open = n_open;
    merge(&all, &body);
    return all;
}

/* Whether a pattern computes elements that cost more than to read them again: each is reduced, or made of a
 * window. all: of its arguments; body: of its function. */
static bool is_costly_array(const struct lift_expr *e, const struct seen *all, const struct seen *body)
{
    if (e->pattern == LIFT_SCAN) return true;
    return e->pattern == LIFT_MAP && body->works && (body->reduces || all->slides);
}

/* A pattern with a function. */
static struct seen walk_apply(struct finder *f, const struct lift_expr *e, struct seen all, bool consumed)
{
    struct seen body = walk_function(f, e->fun);
    bool costly = is_costly_array(e, &all, &body);
    merge(&all, &body);
    all.reduces = all.reduces || e->pattern == LIFT_REDUCE || e->pattern == LIFT_SCAN;
    all.slides = all.slides && !body.works;
    if (consumed && costly && is_closed(f, &all) && cut_can_store(e->type, f->arena)) add_unnamed(f, e);
    return all;
}

static struct seen walk(struct finder *f, const struct lift_expr *e, bool consumed)
{
    struct seen all = {.first = SIZE_MAX, .works = e->kind == LIFT_OP};
    if (e->kind == LIFT_PARAM_REF) all.first = open_place(f, e->param);
    if (e->kind == LIFT_LET) return walk_let(f, e, consumed);
    bool reads = e->kind == LIFT_APPLY && e->fun;
    for (unsigned i = 0; i < e->n_args; i++) {
        struct seen arg = walk(f, e->args[i], consumed || reads);
        merge(&all, &arg);
    }
    all.slides = all.slides || (e->kind == LIFT_APPLY && e->pattern == LIFT_SLIDE);
    return reads ? walk_apply(f, e, all, consumed) : all;
}

/* Names of cuts without one are those of nothing else: "t" of an input is taken. */
static bool is_taken(const struct lift_program *p, const struct lift_cuts *cuts, unsigned at)
{
    const char *name = cuts->items[at].name;
    for (unsigned i = 0; i < p->n_arrays; i++)
        if (!strcmp(p->arrays[i].name, name)) return true;
    for (unsigned i = 0; i < p->n_inputs; i++)
        if (!strcmp(p->inputs[i]->name, name)) return true;
    for (unsigned i = 0; i < p->n_sizes; i++)
        if (!strcmp(p->sizes[i].name, name)) return true;
    for (unsigned i = 0; i < cuts->n; i++)
        if (i != at && !strcmp(cuts->items[i].name, name)) return true;
    return false;
}

static void name_apart(struct finder *f)
{
    for (unsigned i = 0; i < f->cuts.n; i++)
        for (struct lift_cut *c = &f->cuts.items[i]; !c->let && is_taken(f->program, &f->cuts, i);)
            c->name = arena_printf(f->arena, "t_%u", ++f->n_unnamed);
}

struct lift_cuts lift_cut_find(const struct lift_program *p, struct arena *a)
{
    struct finder f = {.arena = a, .program = p};
    const struct lift_expr *e = p->output;
    for (; p->n_outputs > 1 && e->kind == LIFT_LET; e = e->body) {
        struct seen value = walk(&f, e->args[0], false);
        add_let(&f, e, &value);
    }
    if (p->n_outputs == 1) walk(&f, e, false);
    for (unsigned k = 0; p->n_outputs > 1 && k < p->n_outputs; k++)
        walk(&f, e->args[k], false);
    name_apart(&f);
    return f.cuts;
}

/* ---- choosing by name ---- */

/* The LET of that name in an expression, or NULL. */
static const struct lift_param *find_let(const struct lift_expr *e, const char *name)
{
    const struct lift_param *found = NULL;
    if (e->kind == LIFT_LET && !strcmp(e->param->name, name)) return e->param;
    for (unsigned i = 0; !found && i < e->n_args; i++)
        found = find_let(e->args[i], name);
    if (!found && e->kind == LIFT_LET) found = find_let(e->body, name);
    if (!found && e->fun) found = find_let(e->fun->body, name);
    return found;
}

static void refuse_name(const struct lift_program *p, const struct lift_cuts *cuts, const char *name,
                        struct diag *d)
{
    struct arena *a = arena_new();
    const struct lift_param *let = find_let(p->output, name);
    const char **names = ARENA_ARRAY(a, const char *, cuts->n + 1), *list = "";
    for (unsigned i = 0; i < cuts->n; i++) {
        names[i] = cuts->items[i].name;
        list = arena_printf(a, "%s%s%s", list, i ? ", " : "", names[i]);
    }
    const char *similar = similar_find(name, names, cuts->n);
    if (let)
        diag_error(
            d, let->at,
            "the program cannot be cut at '%s': a cut is an array, or the result of a reduction, that is "
            "read and has no bool; of what depends on a parameter of a function, only arrays within "
            "maps",
            name);
    else if (similar)
        diag_plain(d, "the program has no cut '%s'; did you mean '%s'?", name, similar);
    else if (cuts->n)
        diag_plain(d, "the program has no cut '%s'; its cuts are %s", name, list);
    else
        diag_plain(d, "the program has no cut '%s', nor any other", name);
    arena_free(a);
}

bool lift_cut_choose(const struct lift_program *p, const struct lift_cuts *cuts, const char *names,
                     bool *chosen, struct diag *d)
{
    size_t errors = diag_count(d);
    struct arena *a = arena_new();
    for (const char *at = names; *at;) {
        size_t n = strcspn(at, ",");
        const char *name = arena_strndup(a, at, n);
        unsigned i = 0;
        while (i < cuts->n && strcmp(cuts->items[i].name, name) != 0)
            i++;
        if (i < cuts->n)
            chosen[i] = true;
        else
            refuse_name(p, cuts, name, d);
        at += n + (at[n] == ',');
    }
    arena_free(a);
    return diag_count(d) == errors;
}
