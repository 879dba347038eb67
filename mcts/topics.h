/* What the choices of a space are about: their arguments, by names without a number at the end.
 *
 *     size(k.0), size(k.1), split(k.1)      k
 *     dim_kind(mad.k.1)                     mad.k
 *     order(A.load, mad.k.0)                A.load, mad.k
 *     unroll                                itself: it has no argument
 *
 * Decisions about one thing often have to change together: the factors of an axis have one product. */
#ifndef THRESH_MCTS_TOPICS_H
#define THRESH_MCTS_TOPICS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/space/space.h"

/* Identifies what a choice is about; the same in each run. */
typedef uint64_t mcts_topic;

/* What a choice is about: at most two, the same one twice if there is one. */
struct mcts_topics {
    mcts_topic of[2];
};

/* Of all choices of the space; the caller frees it. */
struct mcts_topics *mcts_topics_new(const struct space *s);

static inline bool mcts_is_about(const struct mcts_topics *t, mcts_topic topic)
{
    return t->of[0] == topic || t->of[1] == topic;
}

#endif
