/* Objects that depend on choices. Such an operand (`first x in D: f`, `c ? a : b`, a number that names an
 * object of a range set, or a definition of these) becomes its *cases*: objects, each with the condition that
 * it is the one. The conditions exclude each other and one of them always holds. An operation on the operand
 * is grounded for each case, and the results are joined: as clauses `case -> condition`, or as a chain
 * `case ? number : ...`.
 *
 * A case relies on latent objects only where it is the one: then what its object needs to be live becomes a
 * condition of the frame around, `case -> live`. What the choice of the case itself implies to be live, as a
 * selected object is, is known and not asked again.
 *
 * A selection is grounded once for the variables around it, and a recursive definition that goes to such
 * objects once for each argument and number of steps taken. Formulas share the results, so that they grow
 * with the square of the number of objects and not with the number of paths. */
#include <string.h>

#include "core/space/ground.h"

/* Of one formula: cases, steps of a recursion, depth of what it expands to. */
enum { MAX_CASES = 1 << 14, MAX_STEPS = 256, MAX_DEPTH = 4000 };

enum { BUCKETS = 512 };

struct object_case {
    int64_t object;
    struct ground_node *when;
    const struct frame *known; /* live if it is the case */
};

struct object_cases {
    struct object_case *at;
    size_t n, cap;
};

/* The operands of an operation, likewise. */
struct argument_case {
    int64_t args[SPACE_MAX_ARITY];
    struct ground_node *when;
    const struct frame *known;
};

struct argument_cases {
    struct argument_case *at;
    size_t n;
};

/* What was grounded before: a definition at its arguments after so many steps, or a selection under the
 * variables around it. */
struct call {
    bool selection;
    int32_t what; /* definition or node */
    uint32_t steps, n;
    int64_t args[SPACE_MAX_VARS];
    struct ground_node *value;
    struct object_cases cases; /* of what is an object */
    struct frame frame;        /* what it relies on */
    bool at_work;              /* its body is being grounded */
    struct call *next;
};

struct calls {
    size_t n_cases; /* of all operations so far */
    struct call *buckets[BUCKETS];
};

static int32_t kid(const struct grounder *g, const struct space_node *n, unsigned i)
{
    return g->s->def->kids[n->first + (int32_t)i];
}

static struct ground_node *both(struct grounder *g, struct ground_node *x, struct ground_node *y)
{
    return expression_binary(g->a, GROUND_AND, x, y);
}

static bool is_constant(const struct ground_node *x, int64_t value)
{
    return x->op == GROUND_CONST && x->imm == value;
}

/* Formulas that are copied to several places are added to a shape once. */
static struct ground_node *shared(struct ground_node *x)
{
    x->shared = x->n > 0;
    return x;
}

static void find_cases(struct grounder *g, int32_t node, int32_t root, struct object_cases *out);

/* ---- nodes that are objects ---- */

static bool is_object_definition(const struct grounder *g, const struct space_node *n)
{
    return n->op == SPACE_DEFINE && g->s->def->defines[n->a].object >= 0;
}

static bool is_object_property(const struct grounder *g, const struct space_node *n)
{
    return n->op == SPACE_PROP && g->s->def->properties[n->a].object >= 0;
}

/* Whether a node is an object for find_cases(), without a root set. */
static bool is_object(const struct grounder *g, int32_t node)
{
    const struct space_node *n = &g->s->def->nodes[node];
    if (n->op == SPACE_ITE) return is_object(g, kid(g, n, 1)) && is_object(g, kid(g, n, 2));
    return n->op == SPACE_VAR || n->op == SPACE_FIRST || is_object_definition(g, n) ||
           is_object_property(g, n);
}

/* ---- what was grounded before ---- */

static struct calls *calls_of(struct grounder *g)
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
    return &c->buckets[h % BUCKETS];
}

static struct call *find_call(struct calls *c, const struct call *like)
{
    struct call *x = *bucket_of(c, like);
    while (x && (x->selection != like->selection || x->what != like->what || x->steps != like->steps ||
                 memcmp(x->args, like->args, sizeof x->args)))
        x = x->next;
    return x;
}

static void keep_call(struct calls *calls, struct call *c)
{
    struct call **bucket = bucket_of(calls, c);
    c->next = *bucket;
    *bucket = c;
}

/* ---- cases ---- */

/* Cases of one object are one. */
static void add_case(struct grounder *g, struct object_cases *out, int64_t object, struct ground_node *when,
                     const struct frame *known)
{
    if (is_constant(when, 0)) return;
    for (size_t i = 0; i < out->n; i++) {
        struct object_case *c = &out->at[i];
        if (c->object != object) continue;
        c->when = shared(expression_binary(g->a, GROUND_OR, c->when, when));
        c->known = NULL;
        return;
    }
    out->at = arena_grow(g->a, out->at, &out->cap, out->n + 1, sizeof *out->at);
    out->at[out->n++] = (struct object_case){object, when, known};
}

static void add_cases(struct grounder *g, struct object_cases *out, const struct object_cases *more,
                      struct ground_node *when)
{
    for (size_t i = 0; i < more->n; i++)
        add_case(g, out, more->at[i].object, both(g, when, more->at[i].when), more->at[i].known);
}

/* ---- operands ---- */

/* The root set that operand i is an object of. */
static int32_t operand_root(const struct grounder *g, const struct space_node *n, unsigned i)
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

static const struct frame *join_known(struct grounder *g, const struct frame *a, const struct frame *b)
{
    if (!a || !b) return a ? a : b;
    struct frame *all = ARENA_NEW(g->a, struct frame);
    all->items = ARENA_ARRAY(g->a, uint32_t, a->n + b->n + 1);
    if (a->n) memcpy(all->items, a->items, a->n * sizeof *a->items);
    if (b->n) memcpy(all->items + a->n, b->items, b->n * sizeof *b->items);
    all->n = a->n + b->n;
    return all;
}

/* Every case so far with every case of operand i. */
static struct argument_cases extend(struct grounder *g, const struct argument_cases *so_far, unsigned i,
                                    const struct object_cases *cases)
{
    struct argument_cases out = {ARENA_ARRAY(g->a, struct argument_case, so_far->n * cases->n + 1), 0};
    for (size_t k = 0; k < so_far->n; k++) {
        for (size_t c = 0; c < cases->n; c++) {
            struct argument_case tuple = so_far->at[k];
            tuple.when = both(g, tuple.when, cases->at[c].when);
            if (is_constant(tuple.when, 0)) continue;
            tuple.args[i] = cases->at[c].object;
            tuple.known = join_known(g, tuple.known, cases->at[c].known);
            out.at[out.n++] = tuple;
        }
    }
    return out;
}

static struct argument_cases argument_cases(struct grounder *g, const struct space_node *n)
{
    struct argument_cases out = {ARENA_NEW(g->a, struct argument_case), 1};
    out.at[0].when = expression_const(g->a, 1);
    for (unsigned i = 0; i < n->n; i++) {
        struct object_cases cases = {0};
        find_cases(g, kid(g, n, i), operand_root(g, n, i), &cases);
        out = extend(g, &out, i, &cases);
    }
    calls_of(g)->n_cases += out.n;
    return out;
}

/* ---- what a case relies on ---- */

struct inside {
    struct frame *outer;
    struct frame known, mine;
};

static void enter(struct grounder *g, const struct argument_case *c, struct inside *in)
{
    *in = (struct inside){.outer = g->frame, .mine = {.outer = &in->known}};
    if (c->known) in->known = *c->known;
    in->known.outer = g->frame;
    if (g->frame && !is_constant(c->when, 1)) g->frame = &in->mine;
}

static void leave(struct grounder *g, const struct argument_case *c, struct inside *in)
{
    g->frame = in->outer;
    if (!in->mine.n && !in->mine.n_conditions) return;
    ground_rely_if(
        g, expression_binary(g->a, GROUND_OR, expression_not(g->a, c->when), ground_all_live(g, &in->mine)));
}

/* ---- operations ---- */

static struct ground_node *choose(struct grounder *g, struct ground_node *when, struct ground_node *yes,
                                  struct ground_node *no)
{
    if (yes->op == GROUND_CONST && no->op == GROUND_CONST && yes->imm == no->imm) return yes;
    return expression_make(g->a, GROUND_ITE, (struct ground_node *[]){when, yes, no}, 3);
}

/* Of equal numbers the cases are one. */
static size_t merge_equal(struct grounder *g, struct ground_node **when, struct ground_node **value, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < kept && !(value[i]->op == GROUND_CONST && is_constant(value[k], value[i]->imm)))
            k++;
        when[k] = k < kept ? expression_binary(g->a, GROUND_OR, when[k], when[i]) : when[i];
        value[k] = value[i];
        kept += k == kept;
    }
    return kept;
}

/* One of the cases holds, so the last needs no condition. */
static struct ground_node *join_numbers(struct grounder *g, struct ground_node **when,
                                        struct ground_node **value, size_t n)
{
    n = merge_equal(g, when, value, n);
    struct ground_node *x = value[n - 1];
    for (size_t i = n - 1; i-- > 0;)
        x = choose(g, when[i], value[i], x);
    return shared(x);
}

static struct ground_node *join_conditions(struct grounder *g, struct ground_node **when,
                                           struct ground_node **value, size_t n)
{
    struct ground_node **clauses = ARENA_ARRAY(g->a, struct ground_node *, n);
    for (size_t i = 0; i < n; i++)
        clauses[i] = expression_binary(g->a, GROUND_OR, expression_not(g->a, when[i]), value[i]);
    return shared(expression_make(g->a, GROUND_AND, clauses, (uint32_t)n));
}

static bool all_truth_values(struct ground_node *const *value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_constant(value[i], 0) && !is_constant(value[i], 1)) return false;
    return true;
}

/* A property of the number that a choice has is a table. NULL: it is no such property. */
static struct ground_node *tabulated_property(struct grounder *g, const struct space_node *n)
{
    if (n->op != SPACE_PROP || n->n != 1 || g->s->def->properties[n->a].list) return NULL;
    const struct space_node *choice = &g->s->def->nodes[kid(g, n, 0)];
    if (choice->op != SPACE_CHOICE || choice->selects) return NULL;
    const struct ground_node *x = ground_formula(g, kid(g, n, 0));
    if (x->op != GROUND_FUNC) return NULL;
    int64_t *table = ARENA_ARRAY(g->a, int64_t, x->n_table);
    for (uint32_t v = 0; v < x->n_table; v++)
        table[v] = ground_property_of(g, n, &x->table[v]);
    return expression_func(g->a, x->slot, table, x->n_table);
}

struct ground_node *ground_over_cases(struct grounder *g, const struct space_node *n, bool condition,
                                      ground_operation *operation, void *ctx)
{
    struct ground_node *table = tabulated_property(g, n);
    if (table) return table;
    struct argument_cases cases = argument_cases(g, n);
    struct ground_node **when = ARENA_ARRAY(g->a, struct ground_node *, cases.n),
                       **value = ARENA_ARRAY(g->a, struct ground_node *, cases.n);
    for (size_t i = 0; i < cases.n; i++) {
        struct inside in;
        enter(g, &cases.at[i], &in);
        when[i] = cases.at[i].when;
        value[i] = operation(g, n, cases.at[i].args, ctx);
        leave(g, &cases.at[i], &in);
    }
    condition = condition || all_truth_values(value, cases.n);
    return condition ? join_conditions(g, when, value, cases.n) : join_numbers(g, when, value, cases.n);
}

/* ---- the cases of an object ---- */

/* `first x in D: f`: an object is it if it is live, has f, and none before it is. */
static void select_first(struct grounder *g, const struct space_node *n, struct object_cases *out)
{
    const struct space_domain *dom = &g->s->def->domains[n->a];
    struct data_list objects = ground_objects(g, dom);
    struct ground_node *none = expression_const(g->a, 1);
    struct frame *outer = g->frame;
    int64_t before = g->env[n->imm];
    for (size_t i = 0; i < objects.n && !is_constant(none, 0); i++) {
        struct frame *mine = ARENA_NEW(g->a, struct frame);
        g->env[n->imm] = objects.items[i];
        g->frame = mine;
        ground_rely_on(g, ground_liveness_of(g->s, dom->root, objects.items[i]));
        struct ground_node *is = ground_formula(g, kid(g, n, 0));
        is = both(g, ground_all_live(g, mine), is);
        g->frame = outer;
        add_case(g, out, objects.items[i], shared(both(g, none, is)), mine);
        none = both(g, none, shared(expression_not(g->a, is)));
    }
    g->env[n->imm] = before;
    add_case(g, out, -1, none, NULL);
}

static bool calls_definition(const struct grounder *g, int32_t node)
{
    const struct space_node *n = &g->s->def->nodes[node];
    if (n->op == SPACE_DEFINE) return true;
    for (unsigned i = 0; i < n->n; i++)
        if (calls_definition(g, kid(g, n, i))) return true;
    return false;
}

/* What a definition gives may depend on the steps taken, so such a selection is not kept. */
static void first_cases(struct grounder *g, int32_t node, struct object_cases *out)
{
    const struct space_node *n = &g->s->def->nodes[node];
    if (calls_definition(g, node)) {
        select_first(g, n, out);
        return;
    }
    struct call like = {.selection = true, .what = node, .n = (uint32_t)n->imm};
    memcpy(like.args, g->env, (size_t)n->imm * sizeof *like.args);
    struct call *c = find_call(calls_of(g), &like);
    if (!c) {
        c = arena_memdup(g->a, &like, sizeof like);
        select_first(g, n, &c->cases);
        keep_call(g->calls, c);
    }
    for (size_t i = 0; i < c->cases.n; i++)
        add_case(g, out, c->cases.at[i].object, c->cases.at[i].when, c->cases.at[i].known);
}

static void choose_cases(struct grounder *g, const struct space_node *n, int32_t root,
                         struct object_cases *out)
{
    struct ground_node *c = ground_formula(g, kid(g, n, 0));
    for (unsigned i = 0; i < 2; i++) {
        struct ground_node *when = i ? expression_not(g->a, c) : c;
        struct object_cases branch = {0};
        if (!is_constant(when, 0)) find_cases(g, kid(g, n, i + 1), root, &branch);
        add_cases(g, out, &branch, when);
    }
}

static void property_cases(struct grounder *g, const struct space_node *n, struct object_cases *out)
{
    struct argument_cases cases = argument_cases(g, n);
    for (size_t i = 0; i < cases.n; i++)
        add_case(g, out, ground_property_of(g, n, cases.at[i].args), cases.at[i].when, cases.at[i].known);
}

/* A number names an object of a range set, or none. */
static void number_cases(struct grounder *g, struct ground_node *x, int32_t root, struct object_cases *out)
{
    const struct space_set *set = &g->s->def->sets[root];
    struct ground_node *lo = expression_const(g->a, set->lo), *hi = expression_const(g->a, set->hi);
    x = shared(x);
    for (int64_t object = set->lo; object <= set->hi; object++)
        add_case(g, out, object, expression_binary(g->a, GROUND_EQ, x, expression_const(g->a, object)), NULL);
    struct ground_node *inside =
        both(g, expression_binary(g->a, GROUND_LE, lo, x), expression_binary(g->a, GROUND_LE, x, hi));
    add_case(g, out, -1, expression_not(g->a, inside), NULL);
}

static const struct call *call_of(struct grounder *g, const struct space_node *n, const int64_t *args);

static void define_cases(struct grounder *g, const struct space_node *n, struct object_cases *out)
{
    struct argument_cases cases = argument_cases(g, n);
    for (size_t i = 0; i < cases.n; i++) {
        struct inside in;
        enter(g, &cases.at[i], &in);
        const struct call *c = call_of(g, n, cases.at[i].args);
        if (c)
            add_cases(g, out, &c->cases, cases.at[i].when);
        else
            add_case(g, out, -1, cases.at[i].when, NULL);
        leave(g, &cases.at[i], &in);
    }
}

/* Whether the root set has such an object. */
static bool has_object(const struct grounder *g, int32_t root, int64_t object)
{
    return object >= 0 && object < g->s->root_sizes[root] && g->s->sets[root].has[object];
}

/* The cases of a node that is an object of the root set, or a number that names one. */
static void find_cases(struct grounder *g, int32_t node, int32_t root, struct object_cases *out)
{
    const struct space_node *n = &g->s->def->nodes[node];
    if (n->op == SPACE_FIRST) {
        first_cases(g, node, out);
    } else if (n->op == SPACE_ITE) {
        choose_cases(g, n, root, out);
    } else if (is_object_definition(g, n)) {
        define_cases(g, n, out);
    } else if (is_object_property(g, n) && n->selects) {
        property_cases(g, n, out);
    } else {
        struct ground_node *x = ground_formula(g, node);
        if (x->op == GROUND_CONST)
            add_case(g, out, root < 0 || has_object(g, root, x->imm) ? x->imm : -1, expression_const(g->a, 1),
                     NULL);
        else if (is_object_property(g, n))
            property_cases(g, n, out);
        else
            number_cases(g, x, root, out);
    }
}

static bool may_select(const struct grounder *g, int32_t node)
{
    const struct space_node *n = &g->s->def->nodes[node];
    return n->op == SPACE_ITE || n->op == SPACE_FIRST || is_object_definition(g, n) ||
           (is_object_property(g, n) && n->selects);
}

bool ground_are_objects(const struct grounder *g, int32_t x, int32_t y)
{
    return (may_select(g, x) || may_select(g, y)) && is_object(g, x) && is_object(g, y);
}

bool ground_is_object(const struct grounder *g, int32_t x)
{
    return may_select(g, x) && is_object(g, x);
}

struct ground_node *ground_same_object(struct grounder *g, int32_t x, int32_t y)
{
    struct object_cases left = {0}, right = {0};
    find_cases(g, x, -1, &left);
    find_cases(g, y, -1, &right);
    struct ground_node *any = expression_const(g->a, 0);
    for (size_t i = 0; i < left.n; i++)
        for (size_t k = 0; k < right.n; k++)
            if (left.at[i].object == right.at[k].object)
                any = expression_binary(g->a, GROUND_OR, any, both(g, left.at[i].when, right.at[k].when));
    return shared(any);
}

struct ground_node *ground_object_test(struct grounder *g, int32_t node, ground_test *test, void *ctx)
{
    struct object_cases cases = {0};
    find_cases(g, node, -1, &cases);
    struct ground_node **when = ARENA_ARRAY(g->a, struct ground_node *, cases.n),
                       **value = ARENA_ARRAY(g->a, struct ground_node *, cases.n);
    for (size_t i = 0; i < cases.n; i++) {
        when[i] = cases.at[i].when;
        value[i] = test(g, expression_const(g->a, cases.at[i].object), ctx);
    }
    return join_conditions(g, when, value, cases.n);
}

struct ground_node *ground_object(struct grounder *g, int32_t node)
{
    struct object_cases cases = {0};
    find_cases(g, node, -1, &cases);
    struct ground_node **when = ARENA_ARRAY(g->a, struct ground_node *, cases.n),
                       **value = ARENA_ARRAY(g->a, struct ground_node *, cases.n);
    for (size_t i = 0; i < cases.n; i++) {
        when[i] = cases.at[i].when;
        value[i] = expression_const(g->a, cases.at[i].object);
    }
    return join_numbers(g, when, value, cases.n);
}

/* ---- recursive definitions ---- */

static bool is_bounded(const struct space_define *d)
{
    return !d->n_steps;
}

/* The body, with the arguments as its first variables and a frame of its own. */
static void ground_body(struct grounder *g, const struct space_define *d, struct call *c)
{
    struct frame *outer = g->frame;
    int64_t env[SPACE_MAX_VARS];
    memcpy(env, g->env, sizeof env);
    memcpy(g->env, c->args, d->n_params * sizeof *c->args);
    if (outer) g->frame = &c->frame;
    if (d->object >= 0)
        find_cases(g, d->body, d->object, &c->cases);
    else
        c->value = shared(ground_formula(g, d->body));
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
    keep_call(g->calls, c);
    c->at_work = true;
    ++g->steps[like->what];
    ground_body(g, d, c);
    --g->steps[like->what];
    c->at_work = false;
    return c;
}

/* NULL: of no object, or in a circle. */
static const struct call *call_of(struct grounder *g, const struct space_node *n, const int64_t *args)
{
    const struct space_define *d = &g->s->def->defines[n->a];
    struct calls *calls = calls_of(g);
    struct call like = {.what = n->a, .steps = is_bounded(d) ? g->steps[n->a] : 0, .n = n->n};
    for (unsigned i = 0; i < n->n; i++) {
        if (!has_object(g, operand_root(g, n, i), args[i])) return NULL;
        like.args[i] = args[i];
    }
    if (is_bounded(d) && like.steps == g->s->sets[d->sets[d->along]].n) return NULL;
    struct call *c = find_call(calls, &like);
    if (c && c->at_work)
        g->cyclic = d;
    else if (!c && exceeds(g, d, like.steps))
        g->too_large = d;
    if (ground_failed(g)) return NULL;
    if (!c) c = make_call(g, d, &like);
    rely_as(g, &c->frame);
    return c;
}

struct ground_node *ground_call(struct grounder *g, const struct space_node *n, const int64_t *args,
                                void *ctx)
{
    (void)ctx;
    const struct call *c = call_of(g, n, args);
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
                  "the definition of '%s' goes to too many objects in this instance", large->name);
    if (cyclic)
        diag_line(d, cyclic->file, cyclic->line,
                  "the definition of '%s' comes back to the same object in this instance", cyclic->name);
}
