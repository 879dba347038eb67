/* What each expression of a bound program reads: the parameters that it does not bind itself, or components
 * of them.
 *
 *     let s = sum(row) in map(fun x -> x / s, row)      the sum reads row; row is read again, by the map, and
 * s again and again, as each element of the map reads it
 *
 * The interpreter remembers a reduction under the values of what it reads, and the elements of arrays that
 * are read again (interpret.c). */
#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/lift/bind.h"

struct reads {
    unsigned n; /* LIFT_NONE: more than LIFT_MOST_READS */
    const struct lift_expr *exprs[LIFT_MOST_READS];
    bool computes; /* an operation or a reduction is in it, not only views */
};

/* A function around the place. */
struct around {
    const struct around *next;
    const struct lift_lambda *function;
};

struct reader {
    struct arena *arena;
    const struct around *around;
    unsigned depth;  /* functions around the place */
    unsigned number; /* of the next expression */
};

/* The parameter that the expression is, or is a component of; or NULL. */
static struct lift_param *root_of(const struct lift_expr *e)
{
    while (e->kind == LIFT_GET)
        e = e->args[0];
    return e->kind == LIFT_PARAM_REF ? e->param : NULL;
}

static bool same_read(const struct lift_expr *x, const struct lift_expr *y)
{
    for (; x->kind == LIFT_GET && y->kind == LIFT_GET && x->index == y->index; x = x->args[0])
        y = y->args[0];
    return x->kind == LIFT_PARAM_REF && y->kind == LIFT_PARAM_REF && x->param == y->param;
}

static void add_read(struct reads *to, const struct lift_expr *e)
{
    if (to->n == LIFT_NONE) return;
    for (unsigned i = 0; i < to->n; i++)
        if (same_read(to->exprs[i], e)) return;
    if (to->n == LIFT_MOST_READS)
        to->n = LIFT_NONE;
    else
        to->exprs[to->n++] = e;
}

static void add_reads(struct reads *to, const struct reads *from)
{
    to->computes = to->computes || from->computes;
    if (from->n == LIFT_NONE) to->n = LIFT_NONE;
    for (unsigned i = 0; i < from->n && to->n != LIFT_NONE; i++)
        add_read(to, from->exprs[i]);
}

static void remove_param(struct reads *from, const struct lift_param *p)
{
    for (unsigned i = 0; from->n != LIFT_NONE && i < from->n; i++)
        if (root_of(from->exprs[i]) == p) from->exprs[i--] = from->exprs[--from->n];
}

static void begin_param(const struct reader *r, struct lift_param *p)
{
    p->depth = r->depth;
    p->read = p->again = false;
}

static void read_param(const struct reader *r, const struct lift_expr *e, struct reads *out)
{
    struct lift_param *p = root_of(e);
    p->again = p->again || p->read || r->depth > p->depth;
    p->read = true;
    add_read(out, e);
}

static void read_expr(struct reader *r, struct lift_expr *e, struct reads *out);

static void read_function(struct reader *r, struct lift_lambda *f, struct reads *out)
{
    struct reads body = {0};
    struct around around = {r->around, f};
    r->depth++;
    r->around = &around;
    for (unsigned i = 0; i < f->n_params; i++)
        begin_param(r, f->params[i]);
    read_expr(r, f->body, &body);
    r->around = around.next;
    for (unsigned i = 0; i < f->n_params; i++)
        remove_param(&body, f->params[i]);
    r->depth--;
    add_reads(out, &body);
}

static bool reads_one_of(const struct reads *reads, const struct lift_lambda *f)
{
    for (unsigned i = 0; i < reads->n; i++)
        for (unsigned k = 0; k < f->n_params; k++)
            if (root_of(reads->exprs[i]) == f->params[k]) return true;
    return false;
}

/* Whether a function around the expression does not matter to it, so that its calls compute the same. */
static bool is_repeated(const struct reader *r, const struct reads *reads)
{
    for (const struct around *a = r->around; a && reads->n != LIFT_NONE; a = a->next)
        if (!reads_one_of(reads, a->function)) return true;
    return false;
}

static void read_let(struct reader *r, struct lift_expr *e, struct reads *out)
{
    struct reads body = {0};
    begin_param(r, e->param);
    read_expr(r, e->body, &body);
    remove_param(&body, e->param);
    add_reads(out, &body);
}

/* A name, a component of one, or `indices`, which no element of its array has a part in. */
static bool is_name_only(const struct lift_expr *e)
{
    return root_of(e) || (e->kind == LIFT_APPLY && e->pattern == LIFT_INDICES);
}

/* Adds what an expression reads to *out, and notes what a pattern reads. */
static void read_expr(struct reader *r, struct lift_expr *e, struct reads *out)
{
    struct reads own = {.computes = e->kind == LIFT_OP};
    e->number = r->number++;
    if (root_of(e)) read_param(r, e, &own);
    for (unsigned i = 0; i < e->n_args && !is_name_only(e); i++)
        read_expr(r, e->args[i], &own);
    if (e->kind == LIFT_LET) read_let(r, e, &own);
    if (e->kind == LIFT_APPLY && e->fun) {
        own.computes = own.computes || e->pattern == LIFT_REDUCE || e->pattern == LIFT_SCAN;
        read_function(r, e->fun, &own);
        e->n_reads = own.n;
        e->computes = own.computes;
        e->repeated = is_repeated(r, &own);
        if (own.n != LIFT_NONE) e->reads = arena_memdup(r->arena, own.exprs, own.n * sizeof *own.exprs);
    }
    add_reads(out, &own);
}

void bind_reads(struct binder *b)
{
    struct reader r = {.arena = b->arena};
    struct reads all = {0};
    for (unsigned i = 0; i < b->program->n_inputs; i++)
        begin_param(&r, b->program->inputs[i]);
    read_expr(&r, b->program->output, &all);
}
