/* Removes what nothing reads from a tree (cut_tree.h).
 *
 * The element of a map over zip(zip(a, b), c) is a tuple whose *parts* are get(0, get(0, p)), get(1, get(0,
 * p)) and get(1, p), or, where the function takes get(0, p) as a whole, that and get(1, p). Arrays whose
 * parts it does not read go; if one is left, it is no tuple any more. */
#include "core/base/arena.h"
#include "core/lift/cut_tree.h"

/* get(outer, p), or get(inner, get(outer, p)). */
struct part {
    const struct lift_param *of; /* p */
    struct lift_expr *array;
    unsigned outer;
    int inner; /* -1: none */
};

struct narrower {
    struct arena *arena;
    const struct lift_program *program;
};

/* ---- what is read ---- */

static bool is_reference(const struct lift_expr *e, const struct lift_param *p)
{
    return e->kind == LIFT_PARAM_REF && e->param == p;
}

static bool is_component(const struct lift_expr *e, const struct lift_param *p, unsigned k)
{
    return e->kind == LIFT_GET && e->index == k && is_reference(e->args[0], p);
}

static bool is_part(const struct lift_expr *e, const void *what)
{
    const struct part *part = what;
    if (part->inner < 0) return is_component(e, part->of, part->outer);
    return e->kind == LIFT_GET && e->index == (unsigned)part->inner &&
           is_component(e->args[0], part->of, part->outer);
}

/* Whether p is read other than by its components. */
static bool is_read_whole(struct lift_expr *e, const struct lift_param *p)
{
    bool whole = is_reference(e, p);
    if (e->kind == LIFT_GET && is_reference(e->args[0], p)) return false;
    for (unsigned i = 0; !whole && i < CUT_CHILDREN(e); i++)
        whole = cut_child(e, i) && is_read_whole(*cut_child(e, i), p);
    return whole;
}

/* Whether component k is read other than by its own components. */
static bool is_component_read(struct lift_expr *e, const struct lift_param *p, unsigned k)
{
    bool read = is_component(e, p, k);
    if (e->kind == LIFT_GET && is_component(e->args[0], p, k)) return false;
    for (unsigned i = 0; !read && i < CUT_CHILDREN(e); i++)
        read = cut_child(e, i) && is_component_read(*cut_child(e, i), p, k);
    return read;
}

/* ---- maps ---- */

static bool is_zip(const struct lift_expr *e)
{
    return e->kind == LIFT_APPLY && e->pattern == LIFT_ZIP;
}

/* The parts of a map's element that its function reads. *all: there are no others, and none is within
 * another tuple. */
static unsigned read_parts(struct narrower *n, const struct lift_expr *map, struct part **out, bool *all)
{
    const struct lift_param *p = map->fun->params[0];
    const struct lift_expr *zip = map->args[0];
    struct part *parts = NULL;
    size_t count = 0, cap = 0;
    *all = true;
    for (unsigned k = 0; k < zip->n_args; k++) {
        bool tuple = is_zip(zip->args[k]) && !is_component_read(map->fun->body, p, k);
        for (unsigned j = 0; j < (tuple ? zip->args[k]->n_args : 1); j++) {
            struct part one = {p, tuple ? zip->args[k]->args[j] : zip->args[k], k, tuple ? (int)j : -1};
            bool read = cut_any(map->fun->body, is_part, &one);
            *all = *all && read && !tuple;
            if (!read) continue;
            parts = arena_grow(n->arena, parts, &cap, count + 1, sizeof *parts);
            parts[count++] = one;
        }
    }
    *out = parts;
    return (unsigned)count;
}

static void replace_part(struct arena *a, struct lift_expr **slot, const struct part *part,
                         const struct lift_expr *by)
{
    struct lift_expr *e = *slot;
    if (is_part(e, part)) {
        *slot = cut_clone(a, by);
        return;
    }
    for (unsigned i = 0; i < CUT_CHILDREN(e); i++)
        if (cut_child(e, i)) replace_part(a, cut_child(e, i), part, by);
}

/* Takes out what is not read, once. false: all is. */
static bool narrow_once(struct narrower *n, struct lift_expr *map)
{
    struct arena *a = n->arena;
    struct lift_param *p = map->fun->params[0];
    struct part *parts;
    bool all;
    if (!is_zip(map->args[0]) || is_read_whole(map->fun->body, p)) return false;
    unsigned count = read_parts(n, map, &parts, &all);
    if (all || count == 0) return false;
    struct lift_param *x = cut_param(a, n->program, count > 1 ? "p" : "x");
    struct lift_expr *zip = cut_clone(a, map->args[0]);
    zip->args = ARENA_ARRAY(a, struct lift_expr *, count + 1);
    zip->n_args = count;
    for (unsigned i = 0; i < count; i++) {
        zip->args[i] = parts[i].array;
        replace_part(a, &map->fun->body, &parts[i], count > 1 ? cut_component(a, x, i) : cut_reference(a, x));
    }
    map->fun->params[0] = x;
    map->args[0] = count > 1 ? zip : parts[0].array;
    return true;
}

/* Inner ones first: what they read no more is perhaps all that was read. */
static void narrow(struct narrower *n, struct lift_expr **slot)
{
    struct lift_expr *e = *slot;
    for (unsigned i = 0; i < CUT_CHILDREN(e); i++)
        if (cut_child(e, i)) narrow(n, cut_child(e, i));
    if (e->kind == LIFT_LET && !cut_mentions(e->body, e->param)) *slot = e->body;
    if (e->kind != LIFT_APPLY || e->pattern != LIFT_MAP) return;
    while (narrow_once(n, e))
        continue;
}

void cut_narrow(struct arena *a, struct lift_program *p)
{
    struct narrower n = {a, p};
    narrow(&n, &p->output);
}
