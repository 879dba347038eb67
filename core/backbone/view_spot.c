/* Spots: constant places of windows. The elements of a window w of clamped rows,
 *
 *     at(0, w)    max(y - 1, 0)           at(2, w)    min(y + 1, 4095)
 *
 * are not one element shifted: what the ranges of the indices prove is left out. So the place is a variable
 * at first, of the length of the window, whose value is known:
 *
 *     min(max(y + s0 - 1, 0), 4095)  with s0 = 0         ... y + s1 - 1 ...  with s1 = 2
 *
 * All borders and guards are built with it. Where a tree becomes an instruction, indices are *settled*: a
 * spot is its value, as if it had been a number from the beginning. What the tree knows besides says which
 * loads read one staged tile (spots.h). A slide has one spot for each place, whatever asks for it. Other
 * patterns need indices that are settled before; then nothing is known of such programs (viewer.pinned). */
#include "core/backbone/view.h"

#include "core/base/arena.h"

static bool atom_has_spots(const struct index_atom *t)
{
    return t->kind == INDEX_VAR ? t->var >= VIEW_SPOT : view_has_spots(t->of);
}

bool view_has_spots(const struct index_expr *i)
{
    bool any = false;
    for (unsigned k = 0; k < i->n_terms && !any; k++)
        any = atom_has_spots(&i->terms[k].atom);
    return any;
}

bool view_tree_has_spots(const struct tree *t)
{
    bool any = t->index && view_has_spots(t->index);
    for (unsigned k = 0; k < t->n_axes && !any; k++)
        any = view_has_spots(t->axes[k]);
    return any;
}

/* The number of the spot of a slide with that value; n_spots: it is a new one. */
static unsigned find_spot(const struct viewer *w, const struct lift_expr *slide, int64_t value)
{
    unsigned k = 0;
    while (k < w->n_spots && (w->spots[k].slide != slide || w->spots[k].value != value))
        k++;
    return k;
}

const struct index_expr *view_spot(struct viewer *w, const struct lift_expr *slide,
                                   const struct index_expr *i)
{
    const struct index_expr *value = view_settled(w, i);
    if (value->n_terms || value->constant < 0 || value->constant >= slide->amount) return i;
    unsigned k = find_spot(w, slide, value->constant);
    if (k == VIEW_MOST_SPOTS) return i;
    if (k == w->n_spots) {
        if (!k) w->spots = ARENA_ARRAY(w->arena, struct view_spot, VIEW_MOST_SPOTS);
        if (!k) w->settled = ARENA_ARRAY(w->arena, const struct index_expr *, VIEW_SPOT + VIEW_MOST_SPOTS);
        w->spots[w->n_spots++] = (struct view_spot){slide, value->constant};
        w->settled[VIEW_SPOT + k] = value;
    }
    return index_var(w->arena, VIEW_SPOT + k, slide->amount);
}

const struct index_expr *view_settled(struct viewer *w, const struct index_expr *i)
{
    return view_has_spots(i) ? index_substitute(w->arena, i, w->settled, VIEW_SPOT + w->n_spots) : i;
}

const struct index_guard *view_settled_guards(struct viewer *w, const struct index_guard *guards, unsigned *n)
{
    bool any = false;
    for (unsigned i = 0; i < *n; i++)
        any = any || view_has_spots(guards[i].of);
    return any ? guard_substitute(w->arena, guards, n, w->settled, VIEW_SPOT + w->n_spots) : guards;
}

const struct index_expr *view_pinned(struct viewer *w, const struct index_expr *i)
{
    w->pinned = w->pinned || view_has_spots(i);
    return view_settled(w, i);
}

const struct tree *view_settled_access(struct viewer *w, const struct tree *t)
{
    if (!w->n_spots) return t;
    struct tree *s = arena_memdup(w->arena, t, sizeof *t);
    const struct index_expr **axes = ARENA_ARRAY(w->arena, const struct index_expr *, t->n_axes + 1);
    for (unsigned k = 0; k < t->n_axes; k++)
        axes[k] = view_settled(w, t->axes[k]);
    s->axes = axes;
    if (t->index) s->index = view_settled(w, t->index);
    s->guards = view_settled_guards(w, t->guards, &s->n_guards);
    return s;
}

/* What a tree is whose guards never hold. */
static const struct tree *otherwise(struct viewer *w, const struct tree *t)
{
    if (t->kind == TREE_SELECT) return t->args[1];
    struct tree *c = ARENA_NEW(w->arena, struct tree);
    *c = (struct tree){.kind = TREE_CONST, .type = t->type, .value = t->value};
    return c;
}

const struct tree *view_resolved(struct viewer *w, const struct tree *t)
{
    while (w->n_spots && (t->kind == TREE_SELECT || t->kind == TREE_LOAD)) {
        unsigned n = t->n_guards;
        const struct index_guard *guards = view_settled_guards(w, t->guards, &n);
        enum guard_verdict verdict = guard_prove(guards, n);
        if (verdict == GUARD_OPEN || (verdict == GUARD_TRUE && t->kind == TREE_LOAD)) return t;
        t = verdict == GUARD_TRUE ? t->args[0] : otherwise(w, t);
    }
    return t;
}
