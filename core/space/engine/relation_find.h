/* Finding the relation of a pair choice: what relation_find.c (which constraints, tuples) and relation_rows.c
 * (classes of pairs, types of rows) share. */
#ifndef THRESH_SPACE_ENGINE_RELATION_FIND_H
#define THRESH_SPACE_ENGINE_RELATION_FIND_H

#include <string.h>

#include "core/space/engine/relation.h"

enum { MAX_ROLES = 2 * RELATION_CHOICES + 1 };

/* One constraint of a pair: role 0 is the pair, 1 + i choice i of the lower object, 1 + RELATION_CHOICES + i
 * of the higher. */
struct member {
    uint32_t pair; /* a * n + b, a < b; of a single object a * n + a */
    bool own;      /* of a single object */
    uint32_t shape, instance;
    uint8_t roles[MAX_ROLES];
};

struct finder {
    struct space *s;
    struct square *sq;
    struct relation *r;
    bool *taken;            /* [choices] that are part of another square's tuples */
    int32_t *index_of;      /* object id -> number in the square, or -1 */
    struct member *members; /* of pairs, then of single objects */
    size_t n, cap, n_pairs;
};

/* values[role]: the truth of one constraint. */
static inline bool finder_holds(const struct finder *f, const struct member *m, const uint8_t *values,
                                int64_t *scratch)
{
    const struct shape *sh = &f->s->shapes[m->shape];
    uint32_t v[MAX_ROLES];
    for (uint32_t k = 0; k < sh->n_slots; k++)
        v[k] = values[m->roles[k]];
    return shape_value(sh, v, scratch) != 0;
}

/* relation_rows.c: classes of pairs; then the types of rows, and which masks of a class exclude nothing. */
void finder_make_classes(struct finder *f);
void finder_make_rows(struct finder *f);

#endif
