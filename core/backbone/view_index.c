/* Views of patterns that choose elements by their index: windows, borders, arrays one after the other or
 * written out.
 *
 * Where the index decides which of two values an element is, a guard chooses between them. Both are computed,
 * so what is not chosen is asked for at an index that is safe:
 *
 *     element i of concat(x, y)               i <= n - 1 ? x[min(i, n - 1)] : y[max(i - n, 0)]
 *     element i of padConstant(1, 1, 0.0, x)  a load of x[i - 1] that is guarded, otherwise 0
 *
 * A choice between a load and a number is the guarded load: it reads nothing where the guard does not hold.
 */
#include "core/backbone/view.h"

#include "core/base/arena.h"
#include "core/base/panic.h"

/* A value, or the element of an array that may not be asked for. */
struct later {
    const struct view *of;
    const struct index_expr *at; /* NULL: the value itself */
};

static const struct view *ask(struct viewer *w, struct later later)
{
    return later.at ? view_get(w, later.of, later.at) : later.of;
}

static struct view *new_view(struct viewer *w, enum view_kind kind)
{
    struct view *v = ARENA_NEW(w->arena, struct view);
    v->kind = kind;
    return v;
}

static const struct view *scalar(struct viewer *w, struct tree tree)
{
    struct view *v = new_view(w, VIEW_SCALAR);
    v->tree = arena_memdup(w->arena, &tree, sizeof tree);
    return v;
}

static const struct index_expr *clamp(struct arena *a, const struct index_expr *i, int64_t n)
{
    return index_min(a, index_max(a, i, 0), n - 1);
}

/* ---- choices ---- */

/* Whether data are read to find the place of a load. */
static bool reads_data(struct viewer *w, const struct tree *load)
{
    bool any = view_has_data(w, load->index);
    for (unsigned i = 0; i < load->n_guards; i++)
        any = any || view_has_data(w, load->guards[i].of);
    return any;
}

/* The load with one more guard if a choice between it and `no` is that; NULL otherwise. The guard would not
 * keep an index by data from being read where it does not hold. */
static const struct view *guarded_load(struct viewer *w, const struct index_guard *g, const struct tree *load,
                                       const struct tree *no)
{
    if (load->kind != TREE_LOAD || no->kind != TREE_CONST || (load->n_guards && load->value != no->value))
        return NULL;
    if (reads_data(w, load)) return NULL;
    struct tree t = *load;
    struct index_guard *guards = ARENA_ARRAY(w->arena, struct index_guard, load->n_guards + 1);
    for (unsigned i = 0; i < load->n_guards; i++)
        guards[i] = load->guards[i];
    guards[t.n_guards++] = *g;
    t.guards = guards;
    t.value = no->value;
    return scalar(w, t);
}

static const struct view *choose_scalar(struct viewer *w, const struct index_guard *g,
                                        const struct view *plain, struct later safe, const struct view *no)
{
    const struct view *load = guarded_load(w, g, plain->tree, no->tree);
    if (load) return load;
    const struct view *yes = ask(w, safe);
    if (view_has_data(w, g->of))
        return scalar(w, (struct tree){.kind = TREE_OP,
                                       .type = plain->tree->type,
                                       .op = SCALAR_SELECT,
                                       .args = {view_guard_tree(w, g), yes->tree, no->tree}});
    return scalar(w, (struct tree){.kind = TREE_SELECT,
                                   .type = plain->tree->type,
                                   .args = {yes->tree, no->tree},
                                   .n_guards = 1,
                                   .guards = arena_memdup(w->arena, g, sizeof *g)});
}

/* `plain` where the guard holds, otherwise `no`; `safe` is the same as `plain` where the guard holds, and may
 * be computed where it does not. */
static const struct view *choose(struct viewer *w, const struct index_guard *g, const struct view *plain,
                                 struct later safe, const struct view *no)
{
    enum guard_verdict verdict = guard_prove(g, 1);
    if (verdict != GUARD_OPEN) return verdict == GUARD_TRUE ? plain : no;
    if (plain->kind == VIEW_NOTHING || no->kind == VIEW_NOTHING) return plain;
    if (plain->kind == VIEW_SCALAR) return choose_scalar(w, g, plain, safe, no);
    const struct view *yes = ask(w, safe);
    if (yes->kind == VIEW_NOTHING) return yes;
    struct view *v = new_view(w, plain->kind == VIEW_TUPLE ? VIEW_TUPLE : VIEW_CHOICE);
    v->guard = *g;
    v->plain = plain;
    v->of = yes;
    v->no = no;
    v->n_parts = plain->n_parts;
    if (v->kind == VIEW_CHOICE) return v;
    v->parts = arena_alloc(w->arena, (v->n_parts + 1) * sizeof *v->parts);
    for (unsigned p = 0; p < v->n_parts; p++)
        v->parts[p] = choose(w, g, plain->parts[p], (struct later){yes->parts[p], NULL}, no->parts[p]);
    return v;
}

static const struct view *choice_element(struct viewer *w, const struct view *v, const struct index_expr *i)
{
    return choose(w, &v->guard, view_get(w, v->plain, i), (struct later){v->of, i}, view_get(w, v->no, i));
}

/* ---- elements ---- */

static const struct view *fill(struct viewer *w, const struct lift_type *type, const struct tree *tree)
{
    if (type->kind == LIFT_SCALAR) return scalar(w, *tree);
    struct view *v = new_view(w, VIEW_FILL);
    v->type = type;
    v->tree = tree;
    return v;
}

static const struct view *list_element(struct viewer *w, const struct view *v, const struct index_expr *i)
{
    const struct view *element = v->parts[v->n_parts - 1];
    for (unsigned k = v->n_parts - 1; k-- > 0;) {
        const struct index_guard g = {i, k, k};
        element = choose(w, &g, v->parts[k], (struct later){v->parts[k], NULL}, element);
    }
    return element;
}

static const struct view *concat_element(struct viewer *w, const struct view *v, const struct index_expr *i)
{
    const struct view *element = NULL;
    int64_t end = v->expr->type->extent;
    for (unsigned k = v->n_parts; k-- > 0;) {
        int64_t n = v->expr->args[k]->type->extent, first = end - n;
        const struct index_expr *at = index_shift(w->arena, i, -first), *safe = clamp(w->arena, at, n);
        const struct index_guard g = {i, first, end - 1};
        element =
            element ? choose(w, &g, view_get(w, v->parts[k], at), (struct later){v->parts[k], safe}, element)
                    : view_get(w, v->parts[k], safe);
        end = first;
    }
    return element;
}

/* The index of the element of the array, of n, that stands at place i of the padded one:
 * lift_border_source(). A mirrored index is the plain one plus what it is too low or too high by, twice. */
static const struct index_expr *border_index(struct arena *a, enum lift_border border, int64_t n,
                                             const struct index_expr *i)
{
    if (border == LIFT_CLAMP) return clamp(a, i, n);
    if (border == LIFT_WRAP) return index_mod(a, i, n);
    const struct index_expr *low = index_max(a, index_shift(a, index_scale(a, i, -2), -1), 0);
    const struct index_expr *high = index_max(a, index_shift(a, index_scale(a, i, 2), 1 - 2 * n), 0);
    return index_add(a, i, index_add(a, low, index_scale(a, high, -1)));
}

static const struct view *padded_element(struct viewer *w, const struct view *v, const struct index_expr *i)
{
    const struct lift_expr *e = v->expr;
    int64_t n = e->args[e->n_args - 1]->type->extent;
    const struct index_expr *at = index_shift(w->arena, i, -e->amount);
    if (e->pattern == LIFT_PAD) return view_get(w, v->of, border_index(w->arena, e->border, n, at));
    const struct index_guard g = {at, 0, n - 1};
    const struct later safe = {v->of, clamp(w->arena, at, n)};
    return choose(w, &g, view_get(w, v->of, at), safe, fill(w, e->type->element, v->tree));
}

static const struct view *index_scalar(struct viewer *w, const struct index_expr *i)
{
    struct tree t = {.kind = TREE_INDEX, .type = SCALAR_INT, .index = i};
    if (view_has_data(w, i)) return scalar(w, *view_index_tree(w, i));
    if (!i->n_terms) t = (struct tree){.kind = TREE_CONST, .type = SCALAR_INT, .value = (double)i->constant};
    return scalar(w, t);
}

/* ---- indices that the program computes ---- */

/* An index of what the space knows of indices: affine in logicals, with minima and maxima. What depends on
 * data, and the product of two indices, is none: it is computed as a number, whose range its type has. */

/* Whether division of x by y, towards zero, is that of indices, downwards. */
static bool divides(const struct index_expr *x, const struct index_expr *y)
{
    return !y->n_terms && y->constant > 0 && index_least(x) >= 0;
}

/* The operation on indices, or NULL if it is none: the product of two that vary. */
static const struct index_expr *index_of_op(struct arena *a, enum scalar_op op, const struct index_expr *x,
                                            const struct index_expr *y)
{
    switch (op) {
    case SCALAR_ADD:
        return index_add(a, x, y);
    case SCALAR_SUB:
        return index_add(a, x, index_scale(a, y, -1));
    case SCALAR_MULT:
        if (y->n_terms && x->n_terms) return NULL;
        return y->n_terms ? index_scale(a, y, x->constant) : index_scale(a, x, y->constant);
    case SCALAR_DIV:
        return divides(x, y) ? index_div(a, x, y->constant) : NULL;
    case SCALAR_MOD:
        return divides(x, y) ? index_mod(a, x, y->constant) : NULL;
    case SCALAR_MIN:
        return index_add(a, y, index_min(a, index_add(a, x, index_scale(a, y, -1)), 0));
    case SCALAR_MAX:
        return index_add(a, y, index_max(a, index_add(a, x, index_scale(a, y, -1)), 0));
    default:
        return NULL;
    }
}

static const struct index_expr *index_of(struct viewer *w, const struct tree *t)
{
    if (t->kind == TREE_INDEX) return view_pinned(w, t->index);
    if (t->kind == TREE_CONST) return index_constant(w->arena, (int64_t)t->value);
    if (t->kind != TREE_OP) return NULL;
    const struct index_expr *x = index_of(w, t->args[0]);
    if (!x || t->op == SCALAR_NEG) return x ? index_scale(w->arena, x, -1) : NULL;
    const struct index_expr *y = scalar_op_arity(t->op) == 2 ? index_of(w, t->args[1]) : NULL;
    return y ? index_of_op(w->arena, t->op, x, y) : NULL;
}

/* ---- places of elements ---- */

const struct view *view_stuck(struct viewer *w, const struct lift_expr *e, const char *why)
{
    struct view *v = new_view(w, VIEW_NOTHING);
    v->tree = scalar(w, (struct tree){.kind = TREE_CONST, .type = SCALAR_FLOAT})->tree;
    if (!w->stuck) w->why = why;
    if (!w->stuck) w->stuck = e;
    return v;
}

/* fun(i) of a SCATTER; NULL if it is no index. */
static const struct index_expr *place_of(struct viewer *w, const struct view *v, const struct index_expr *i)
{
    const struct view_env *env = view_bind(w, v->env, v->fun->params[0], index_scalar(w, i), i);
    const struct view *place = view_eval(w, v->fun->body, env);
    return place->kind == VIEW_NOTHING ? NULL : index_of(w, place->tree);
}

/* Whether the elements are made in an order of their own. */
static bool is_placed(const struct view *v)
{
    v = view_walked(v);
    while (v->kind == VIEW_REVERSE)
        v = view_walked(v->of);
    return v->kind == VIEW_SCATTER || v->kind == VIEW_SCAN;
}

const struct index_expr *view_place(struct viewer *w, const struct view *v, const struct index_expr *i)
{
    v = view_walked(v);
    if (v->kind == VIEW_REVERSE && is_placed(v->of)) {
        const struct index_expr *inner = view_place(w, v->of, i);
        return index_shift(w->arena, index_scale(w->arena, inner, -1), v->length - 1);
    }
    if (v->kind != VIEW_SCATTER) return i;
    const struct index_expr *inner = view_place(w, v->of, i), *place = place_of(w, v, inner);
    if (!place) return i;
    *v->pair = (struct view_places){inner, place};
    return place;
}

static bool is_own_inverse(const struct lift_expr *scatter)
{
    bool own = true;
    for (int64_t i = 0; own && i < scatter->type->extent; i++)
        own = scatter->inverse[scatter->inverse[i]] == i;
    return own;
}

/* What stands at a place of a SCATTER. */
static const struct view *scattered_element(struct viewer *w, const struct view *v,
                                            const struct index_expr *place)
{
    if (v->pair->place && !index_compare(v->pair->place, place)) return view_get(w, v->of, v->pair->index);
    const struct index_expr *i = is_own_inverse(v->expr) ? place_of(w, v, place) : NULL;
    if (i) return view_get(w, v->of, i);
    return view_stuck(
        w, v->expr,
        "a scatter whose elements are read again, or whose function is not made of + - * / % by numbers; "
        "apply it to the output last, or write gather(f, a) with the inverse");
}

/* ---- scans ---- */

/* Whether i is a logical that runs over all n elements. */
static bool is_logical(const struct index_expr *i, int64_t n)
{
    if (i->n_terms != 1 || i->constant != 0 || i->terms[0].coefficient != 1) return false;
    const struct index_atom *t = &i->terms[0].atom;
    return t->kind == INDEX_VAR && t->var < VIEW_DATUM && t->extent == n;
}

/* Whether what an environment binds may depend on a logical. */
static bool depends(const struct view_env *env, uint32_t logical)
{
    for (; env; env = env->next)
        if (env->at && index_mentions(env->at, logical)) return true;
    return false;
}

static const struct view *new_scan_element(struct viewer *w, const struct view *v, const struct index_expr *i)
{
    int64_t n = v->expr->args[1]->type->extent;
    if (n == 1) return view_reduction_body(w, v->reduction, v->reduction->init, index_constant(w->arena, 0));
    if (!is_logical(i, n) || depends(v->env, i->terms[0].atom.var))
        return view_stuck(
            w, v->expr,
            "a scan whose elements are not read one after the other, in one kernel; 'thresh tune' "
            "makes a kernel of the scan if it depends on no accumulator ('thresh lift cut' shows it), "
            "or read each element at its own index, outside of what reverses, joins or repeats them");
    struct reduction *r = arena_memdup(w->arena, v->reduction, sizeof *r);
    r->scan = i;
    return view_result(w, r);
}

/* Readers of one element share its reduction. */
const struct view *view_scan_element(struct viewer *w, const struct view *v, const struct index_expr *i)
{
    struct view_memo *m = v->memo;
    while (m->index && index_compare(m->index, i) != 0)
        m = m->next;
    if (m->index) return m->value;
    const struct view *value = new_scan_element(w, v, i);
    *m = (struct view_memo){i, value, ARENA_NEW(w->arena, struct view_memo)};
    return value;
}

const struct view *view_get_by_index(struct viewer *w, const struct view *v, const struct index_expr *i)
{
    switch (v->kind) {
    case VIEW_SCAN:
        return view_scan_element(w, v, view_pinned(w, i));
    case VIEW_SCATTER:
        return scattered_element(w, v, view_pinned(w, i));
    case VIEW_REVERSE:
        return view_get(w, v->of, index_shift(w->arena, index_scale(w->arena, i, -1), v->length - 1));
    case VIEW_LIST:
        return list_element(w, v, i);
    case VIEW_CONCAT:
        return concat_element(w, v, i);
    case VIEW_PAD:
        return padded_element(w, v, i);
    case VIEW_FILL:
        return fill(w, v->type->element, v->tree);
    case VIEW_CHOICE:
        return choice_element(w, v, i);
    case VIEW_REDUCED:
        return view_reduced_element(w, v, view_pinned(w, i));
    case VIEW_IOTA:
        return index_scalar(w, i);
    default:
        PANIC("view kind %d has no elements", (int)v->kind);
    }
}

const struct view *view_eval_at(struct viewer *w, const struct lift_expr *e, const struct view_env *env)
{
    const struct view *index = view_eval(w, e->args[0], env);
    if (index->kind == VIEW_NOTHING) return index;
    const struct lift_type *type = e->args[0]->type;
    const struct index_expr *i = index_of(w, index->tree);
    if (!i && w->n_data >= VIEW_MOST_DATA)
        return view_stuck(w, e, "more than 1024 indices by data; divide the program into several");
    if (!i) i = view_datum(w, index->tree, type->least, type->most);
    return view_get(w, view_eval_stored(w, e->args[1], env), i);
}
