/* All constraints of a pair choice P(a, b) and the enum choices of a and of b (say kind and axis of two
 * loops), as one relation for each pair.
 *
 * A *tuple* is a combination of the enum choices of one object that its own constraints allow; objects with
 * the same choices are a *sort* and share the numbering of their tuples. A pair belongs to a *class*: the
 * values of P with the tuples of a and of b that its constraints allow together. There are few classes, so a
 * row of pairs is propagated at once: what object a, with the tuples left to it, allows in each class (a
 * block, the union of those of its tuples) against the masks of the pairs and the tuples of the partners
 * (rows_relate). This is arc consistency over the conjunction of the constraints of a pair, stronger than
 * over each of them.
 *
 * The tuples left to an object follow from the masks of its choices; the vector keeps them as words of 32
 * bits.
 *
 * One propagation, with the kinds L and M, of
 *
 *     require forall a, b in S: near(a, b) is YES -> kind(a) == kind(b)
 *
 *     tuples 0: L, 1: M        the only class:  near YES:  L allows { L }, M allows { M }
 *                                               near NO:   each allows { L, M }
 *
 * The action kind(p) = L takes tuple 1 from p (relation_update), which may matter to its partners: row p is
 * queued. Its visit takes the block of tuple 0: `YES allows { L }, NO allows { L, M }`, against every partner
 * at once. q has kind M and near(p, q) is open: no tuple of q goes with YES, so the pair loses it. near(p, r)
 * is YES and r has both kinds: M goes with none of the pair's values, so r loses tuple 1, and kind(r) keeps
 * L. */
#ifndef THRESH_SPACE_ENGINE_RELATION_H
#define THRESH_SPACE_ENGINE_RELATION_H

#include "core/space/engine/state.h"

/* Why a constraint of a pair takes no part in a relation. */
enum relation_reason {
    RELATION_CHOICES_FULL, /* more than RELATION_CHOICES choices of an object */
    RELATION_SORTS_FULL,   /* more than RELATION_SORTS sorts */
    RELATION_TUPLES_FULL,  /* a sort of more than RELATION_TUPLES tuples */
    RELATION_CLASSES_FULL  /* more classes than a row numbers, or than there is room for */
};

/* For space_explain_cost(). */
struct relation_note {
    uint32_t instance;
    enum relation_reason reason;
};

enum {
    RELATION_CHOICES = 4,             /* of one object, that tuples are made of */
    RELATION_TUPLES = 8 * ROW_PLANES, /* of a sort */
    RELATION_SORTS = 8
};

/* Objects with the same choices. */
struct relation_sort {
    uint32_t present;                                    /* bit i: it has choice i */
    uint32_t n;                                          /* tuples */
    uint8_t value[RELATION_TUPLES][RELATION_CHOICES];    /* of each choice */
    uint32_t with[RELATION_CHOICES][2][256];             /* byte of a mask -> tuples with a value in it */
    uint16_t project[RELATION_CHOICES][ROW_PLANES][256]; /* byte of a set of tuples -> mask */
};

/* allowed[p][x]: tuples of the partner, when the pair has value p and the row's object tuple x. */
struct relation_class {
    uint32_t allowed[ROW_VALUES][RELATION_TUPLES];
};

/* Which classes the pairs of a row belong to; the row numbers them from 1. Rows without any have no blocks.
 */
struct relation_row {
    uint32_t n;
    uint16_t classes[ROW_CLASSES];
    const uint8_t *blocks;      /* one for each tuple of the row's object, see rows.h */
    const uint32_t *dominators; /* by tuple: others that allow the partners all that it allows */
    const uint8_t *none;        /* of an object without tuples */
};

struct relation {
    int32_t choices[RELATION_CHOICES];
    uint32_t n_choices, n_planes, n_values;
    uint32_t tuples; /* offset of the words of 32 bits, by object: its tuples */
    uint32_t block_bytes;
    struct relation_sort sorts[RELATION_SORTS];
    uint32_t n_sorts;
    uint8_t *sort_of;  /* by object */
    uint32_t *slots;   /* [object * RELATION_CHOICES + choice], or NONE */
    uint8_t *local;    /* [a * stride + b]: class of the pair as its row numbers it, 0: none */
    uint16_t *class;   /* [a * n + b]: 1 + class of the pair seen from a, 0: none */
    uint16_t *type_of; /* by object */
    struct relation_row *types;
    struct relation_class *classes;
    uint32_t *permissive_masks; /* by class, bit m % 32: the values of mask m exclude no tuples that all
                                   values allow */
    uint32_t n_types, n_classes;
};

#endif
