/* Cyclic triggers. A trigger depends on another one if its condition reads a choice of an object that the
 * other one activates: both name the same property, or the same set. A cycle is refused, as objects on it
 * would exist only because they exist:
 *
 *     trigger forall a in A: when x(partner(a)) is YES activate a              # refused: each a depends on
 *     trigger forall a in A: when x(a) is YES activate partner(a)              # its partner, and the reverse
 *
 * The file is checked here, where the check is by names alone; an instance is checked by its objects. */
#include <string.h>

#include "spacedsl/resolve.h"

struct graph {
    struct resolver *r;
    int32_t *seen; /* by trigger: 0 new, 1 on the path, 2 done */
};

/* Where objects come from: a property, a set, or neither. */
struct origin {
    int32_t property, set;
};

static struct origin origin_of(const struct model *m, const struct space_trigger *t, int32_t node)
{
    const struct space_node *n = &m->nodes[node];
    if (n->op == SPACE_PROP) return (struct origin){n->a, -1};
    if (n->op != SPACE_VAR || n->a >= t->n_vars) return (struct origin){-1, -1};
    const struct space_domain *dom = &m->domains[t->domains + n->a];
    if (dom->list >= 0) return origin_of(m, t, dom->list);
    return (struct origin){-1, dom->set};
}

static bool same_origin(struct origin a, struct origin b)
{
    return (a.property >= 0 && a.property == b.property) || (a.set >= 0 && a.set == b.set);
}

static bool activates(const struct model *m, const struct space_trigger *t, struct origin what)
{
    const struct space_node *list = &m->nodes[t->objects];
    for (unsigned i = 0; i < list->n; i++)
        if (same_origin(origin_of(m, t, m->kids[list->first + (int32_t)i]), what)) return true;
    return false;
}

/* Whether the condition of `t` reads a choice of an object that `other` activates. */
static bool waits_for(const struct model *m, const struct space_trigger *t, int32_t node,
                      const struct space_trigger *other)
{
    const struct space_node *n = &m->nodes[node];
    bool choice = n->op == SPACE_CHOICE || n->op == SPACE_IS;
    for (unsigned i = 0; i < n->n; i++) {
        int32_t kid = m->kids[n->first + (int32_t)i];
        if (choice && activates(m, other, origin_of(m, t, kid))) return true;
        if (waits_for(m, t, kid, other)) return true;
    }
    return false;
}

/* false after reporting a cycle. */
static bool visit(struct graph *g, size_t i)
{
    const struct model *m = g->r->m;
    g->seen[i] = 1;
    for (size_t k = 0; k < m->n_triggers; k++) {
        if (g->seen[k] == 2 || !waits_for(m, &m->triggers[i], m->triggers[i].when, &m->triggers[k])) continue;
        if (g->seen[k] == 0 && visit(g, k)) continue;
        if (g->seen[k] == 0) return false;
        const struct trigger_decl *decl = m->ast->triggers;
        for (size_t j = 0; j < i; j++)
            decl = decl->next;
        diag_error(g->r->diag, decl->at,
                   "cyclic trigger: its condition depends on objects that it activates");
        return false;
    }
    g->seen[i] = 2;
    return true;
}

void check_triggers(struct resolver *r)
{
    struct graph g = {.r = r, .seen = ARENA_ARRAY(r->m->arena, int32_t, r->m->n_triggers + 1)};
    bool ok = true;
    for (size_t i = 0; i < r->m->n_triggers && ok; i++)
        ok = g.seen[i] || visit(&g, i);
}
