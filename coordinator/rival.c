/* Comparing an implementation with another contender; see rival.h. */
#include "coordinator/rival.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/portrait.h"
#include "coordinator/store.h"
#include "core/base/arena.h"

enum { NAME_BYTES = 512 }; /* longer names are cut off */

static bool same_actions(const struct best_file *b, const struct best_contender *c)
{
    return b->n_actions == c->n_actions &&
           memcmp(b->actions, c->actions, c->n_actions * sizeof *c->actions) == 0;
}

/* The first contender that is this implementation (itself), or that is another one; NULL: there is none. */
static const struct best_contender *find_contender(const struct best_file *b, bool itself)
{
    for (unsigned i = 0; i < b->n_contenders; i++)
        if (!store_is_baseline(b->contenders[i].number) && same_actions(b, &b->contenders[i]) == itself)
            return &b->contenders[i];
    return NULL;
}

const struct best_contender *rival_itself(const struct best_file *b)
{
    return find_contender(b, true);
}

/* ---- decisions ---- */

static void mark(bool *slots, uint32_t n, const struct space_action *actions, size_t n_actions)
{
    for (size_t i = 0; i < n_actions; i++)
        if (actions[i].slot < n) slots[actions[i].slot] = true;
}

static json_t *value_json(const struct space_state *leaf, uint32_t slot)
{
    char name[NAME_BYTES];
    if (!space_is_live(leaf, slot)) return json_null();
    space_value_name(space_of(leaf), slot, space_first_value(leaf, slot), name, sizeof name);
    return json_string(name);
}

/* The decisions of either that have another value in the other. */
static json_t *decisions_json(const struct best_file *b, const struct best_contender *c,
                              const struct space_state *here, const struct space_state *there)
{
    const struct space *s = b->problem->space;
    uint32_t n = space_slot_count(s);
    bool *decided = base_calloc(n + 1, sizeof *decided);
    json_t *list = json_array();
    mark(decided, n, b->actions, b->n_actions);
    mark(decided, n, c->actions, c->n_actions);
    for (uint32_t slot = 0; slot < n; slot++) {
        char name[NAME_BYTES];
        if (!decided[slot]) continue;
        json_t *x = value_json(here, slot), *y = value_json(there, slot);
        space_slot_name(s, slot, name, sizeof name);
        if (!json_equal(x, y))
            json_array_append_new(list, json_pack("{s:s,s:O,s:O}", "choice", name, "here", x, "there", y));
        json_decref(x);
        json_decref(y);
    }
    free(decided);
    return list;
}

/* ---- the contender ---- */

static json_t *compare(const struct best_file *b, const struct best_contender *c,
                       const struct space_state *here, const struct space_state *there,
                       const json_t *portrait)
{
    json_t *other = portrait_json(b->problem, there);
    bool comparable = figure_comparable(&c->figure, &b->figure);
    double ratio = comparable ? figure_ratio(&c->figure, &b->figure, NULL, NULL, 0).quotient : 0;
    bool winner = c == &b->contenders[0];
    json_t *o =
        json_pack("{s:s,s:s,s:I,s:o,s:o,s:o,s:o}", "role", winner ? "best" : "second best", "label", c->label,
                  "number", (json_int_t)c->number, "figure", figure_json(&c->figure), "ratio",
                  ratio > 0 ? json_real(ratio) : json_null(), "differences",
                  portrait_differences(portrait, other), "decisions", decisions_json(b, c, here, there));
    json_decref(other);
    return o;
}

json_t *rival_json(const struct best_file *b, const struct space_state *leaf, const json_t *portrait)
{
    const struct best_contender *c = find_contender(b, false);
    const char *why;
    struct space_state *there = c ? problem_replay(b->problem, c->actions, c->n_actions, &why) : NULL;
    json_t *o = there ? compare(b, c, leaf, there, portrait) : json_null();
    space_state_free(there);
    return o;
}
