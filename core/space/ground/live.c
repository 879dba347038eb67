/* Latent objects. A frame lists the liveness slots that the formula at hand relies on. The outermost frame
 * becomes the guards of the instance. Each term of an `exists` or an aggregate has a frame of its own, and
 * becomes `live && term`: it does not count until its objects are live, and no longer when one is dead.
 *
 *     require forall s in S: sum of size(t) over t in parts(s) <= 8        with t latent, s not
 *
 * relies on nothing outside; the term of t is `live(t) ? size(t) : 0`. */
#include "core/space/ground/ground.h"

const int64_t GROUND_LIVE_TABLE[2] = {0, 1};

uint32_t ground_liveness_of(const struct space *s, int32_t root, int64_t object)
{
    return object >= 0 && object < s->root_sizes[root] && s->liveness[root] ? s->liveness[root][object]
                                                                            : SPACE_NONE;
}

/* Notes that the formula relies on a latent object, unless a frame around it has done so. */
void ground_rely_on(struct grounder *g, uint32_t live)
{
    if (live == SPACE_NONE || !g->frame || g->all_live) return;
    for (const struct frame *f = g->frame; f; f = f->outer)
        for (size_t i = 0; i < f->n; i++)
            if (f->items[i] == live) return;
    struct frame *f = g->frame;
    f->items = arena_grow(g->a, f->items, &f->cap, f->n + 1, sizeof *f->items);
    f->items[f->n++] = live;
}

void ground_rely_if(struct grounder *g, struct expression *condition)
{
    struct frame *f = g->frame;
    if (!f || (condition->op == FORMULA_CONST && condition->imm)) return;
    f->conditions =
        arena_grow(g->a, f->conditions, &f->cap_conditions, f->n_conditions + 1, sizeof(struct expression *));
    f->conditions[f->n_conditions++] = condition;
}

struct expression *ground_all_live(struct grounder *g, const struct frame *f)
{
    struct expression **kids = ARENA_ARRAY(g->a, struct expression *, f->n + f->n_conditions + 1);
    for (size_t i = 0; i < f->n; i++)
        kids[i] = expression_func(g->a, f->items[i], GROUND_LIVE_TABLE, 2);
    for (size_t i = 0; i < f->n_conditions; i++)
        kids[f->n + i] = f->conditions[i];
    return expression_make(g->a, FORMULA_AND, kids, (uint32_t)(f->n + f->n_conditions));
}
