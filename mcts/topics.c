/* Names of objects without their numbers (topics.h). */
#include "mcts/topics.h"

#include <string.h>

#include "core/base/arena.h"
#include "core/base/hash.h"

/* The length of a name without a number at its end: 1 for "m.12". */
static size_t stem_length(const char *name)
{
    size_t length = strlen(name), end = length;
    while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
        end--;
    return end < length && end > 1 && name[end - 1] == '.' ? end - 1 : length;
}

static mcts_topic topic_of_argument(const struct space *s, uint32_t slot, unsigned i)
{
    const char *name = space_slot_argument(s, slot, i);
    return hash_finish(hash_bytes(HASH_START, name, stem_length(name)));
}

static struct mcts_topics topics_of_slot(const struct space *s, uint32_t slot)
{
    unsigned arity = space_slot_arity(s, slot);
    if (arity == 0) return (struct mcts_topics){{slot, slot}};
    mcts_topic first = topic_of_argument(s, slot, 0);
    return (struct mcts_topics){{first, arity > 1 ? topic_of_argument(s, slot, 1) : first}};
}

struct mcts_topics *mcts_topics_new(const struct space *s)
{
    uint32_t n = space_slot_count(s);
    struct mcts_topics *t = base_malloc((n + 1) * sizeof t[0]);
    for (uint32_t slot = 0; slot < n; slot++)
        t[slot] = topics_of_slot(s, slot);
    return t;
}
