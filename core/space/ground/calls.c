/* Recursive definitions.
 *
 *     define head(f: Filter): Filter = joined(f) is YES ? head(before(f)) : f
 *
 * head(c) needs head(b), which needs head(a). Each is grounded once and kept with its arguments, like a
 * selection
 * (`first x in D: f`) with the variables around it. So formulas grow with the square of the number of
 * objects, and not with the number of paths. */
#include <string.h>

#include "core/space/ground/cases.h"

/* Of one formula: cases, steps of a recursion, depth of what it expands to. */
enum { MAX_CASES = 1 << 14, MAX_STEPS = 256, MAX_DEPTH = 4000 };

/* The root set that operand i is an object of. */
int32_t ground_operand_root(const struct grounder *g, const struct space_node *n, unsigned i)
{
    const struct space_def *def = g->s->def;
    switch (n->op) {
    case SPACE_PROP:
        return def->sets[def->properties[n->a].args[i]].root;
    case SPACE_DEFINE:
        return def->sets[def->defines[n->a].sets[i]].root;
    case SPACE_IN_SET:
        return def->domains[n->a].root;
    default:
        return def->choices[n->a].args[i].root;
    }
}

/* Whether the root set has such an object. */
bool ground_has_object(const struct grounder *g, int32_t root, int64_t object)
{
    return object >= 0 && object < g->s->root_sizes[root] && g->s->sets[root].has[object];
}

/* ---- what was grounded before ---- */

struct calls *ground_calls(struct grounder *g)
{
    if (!g->calls) g->calls = ARENA_NEW(g->a, struct calls);
    if (!g->steps) g->steps = ARENA_ARRAY(g->a, uint32_t, g->s->def->n_defines + 1);
    return g->calls;
}

static struct call **bucket_of(struct calls *c, const struct call *like)
{
    uint64_t h = (uint64_t)like->what * 31 + like->steps;
    for (uint32_t i = 0; i < like->n; i++)
        h = h * 31 + (uint64_t)like->args[i];
    return &c->buckets[h % CALL_BUCKETS];
}

struct call *ground_find_call(struct calls *c, const struct call *like)
{
    struct call *x = *bucket_of(c, like);
    while (x && (x->selection != like->selection || x->what != like->what || x->steps != like->steps ||
                 memcmp(x->args, like->args, sizeof x->args)))
        x = x->next;
    return x;
}

void ground_keep_call(struct calls *calls, struct call *c)
{
    struct call **bucket = bucket_of(calls, c);
    c->next = *bucket;
    *bucket = c;
}

/* ---- recursive definitions ---- */

static bool is_bounded(const struct space_define *d)
{
    return !d->n_steps;
}

/* The body, with the arguments as its first variables and a frame of its own. */
static void body_of(struct grounder *g, const struct space_define *d, struct call *c)
{
    struct frame *outer = g->frame;
    int64_t env[SPACE_MAX_VARS];
    memcpy(env, g->env, sizeof env);
    memcpy(g->env, c->args, d->n_params * sizeof *c->args);
    if (outer) g->frame = &c->frame;
    if (d->object >= 0)
        ground_find_cases(g, d->body, d->object, &c->cases);
    else
        c->value = ground_shared(ground_formula(g, d->body));
    g->frame = outer;
    memcpy(g->env, env, sizeof env);
}

static void rely_as(struct grounder *g, const struct frame *f)
{
    for (size_t i = 0; i < f->n; i++)
        ground_rely_on(g, f->items[i]);
    for (size_t i = 0; g->frame && i < f->n_conditions; i++)
        ground_rely_if(g, f->conditions[i]);
}

static bool exceeds(const struct grounder *g, const struct space_define *d, uint32_t steps)
{
    bool many = g->calls->n_cases > MAX_CASES || steps == MAX_STEPS;
    return g->depth > MAX_DEPTH || (is_bounded(d) && many);
}

/* A call in a circle is of a definition that goes along properties: others know how many steps were taken. */
static struct call *make_call(struct grounder *g, const struct space_define *d, const struct call *like)
{
    struct call *c = arena_memdup(g->a, like, sizeof *like);
    ground_keep_call(g->calls, c);
    c->at_work = true;
    ++g->steps[like->what];
    body_of(g, d, c);
    --g->steps[like->what];
    c->at_work = false;
    return c;
}

const struct call *ground_call_of(struct grounder *g, const struct space_node *n, const int64_t *args)
{
    const struct space_define *d = &g->s->def->defines[n->a];
    struct calls *calls = ground_calls(g);
    struct call like = {.what = n->a, .steps = is_bounded(d) ? g->steps[n->a] : 0, .n = n->n};
    for (unsigned i = 0; i < n->n; i++) {
        if (!ground_has_object(g, ground_operand_root(g, n, i), args[i])) return NULL;
        like.args[i] = args[i];
    }
    if (is_bounded(d) && like.steps == g->s->sets[d->sets[d->along]].n) return NULL;
    struct call *c = ground_find_call(calls, &like);
    if (c && c->at_work)
        g->cyclic = d;
    else if (!c && exceeds(g, d, like.steps))
        g->too_large = d;
    if (ground_failed(g)) return NULL;
    if (!c) c = make_call(g, d, &like);
    rely_as(g, &c->frame);
    return c;
}

struct expression *ground_call(struct grounder *g, const struct space_node *n, const int64_t *args, void *ctx)
{
    (void)ctx;
    const struct call *c = ground_call_of(g, n, args);
    return c ? c->value : expression_const(g->a, 0);
}

bool ground_failed(const struct grounder *g)
{
    return g->too_large || g->cyclic;
}

void ground_report(const struct grounder *g, struct diag *d)
{
    const struct space_define *large = g->too_large, *cyclic = g->cyclic;
    if (large)
        diag_line(d, large->file, large->line,
                  "the recursion of '%s' visits too many objects in this instance", large->name);
    if (cyclic)
        diag_line(d, cyclic->file, cyclic->line, "the recursion of '%s' is cyclic in this instance",
                  cyclic->name);
}
