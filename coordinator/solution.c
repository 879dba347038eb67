/* Leaves of any space in forms that leave the process. */
#include "coordinator/solution.h"

#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/space/def.h"

enum { NAME_BYTES = 512 };

static json_t *value_json(const struct space_state *leaf, uint32_t slot)
{
    char name[NAME_BYTES];
    const struct space *s = space_of(leaf);
    uint32_t value = space_first_value(leaf, slot);
    if (!space_definition(s)->choices[space_slot_group(s, slot)].n_values)
        return json_integer(space_value_code(s, slot, value));
    space_value_name(s, slot, value, name, sizeof name);
    return json_string(name);
}

json_t *solution_json(const struct space_state *leaf)
{
    const struct space *s = space_of(leaf);
    json_t *o = json_object();
    for (uint32_t i = 0; i < space_slot_count(s); i++) {
        char name[NAME_BYTES];
        if (!space_is_live(leaf, i)) continue;
        space_slot_name(s, i, name, sizeof name);
        json_object_set_new(o, name, value_json(leaf, i));
    }
    return o;
}

char *solution_text(const struct space_state *leaf)
{
    json_t *o = solution_json(leaf);
    char *text = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER);
    json_decref(o);
    return text;
}

json_t *solution_actions_json(const struct space *s, const struct space_action *actions, size_t n)
{
    json_t *o = json_object();
    for (size_t i = 0; i < n; i++) {
        char slot[NAME_BYTES], value[NAME_BYTES];
        if (actions[i].slot >= space_slot_count(s)) continue;
        space_slot_name(s, actions[i].slot, slot, sizeof slot);
        space_value_name(s, actions[i].slot, actions[i].value, value, sizeof value);
        json_object_set_new(o, slot, json_string(value));
    }
    return o;
}

struct space_action *solution_actions(const struct space_state *root, const struct space_state *leaf,
                                      size_t *n)
{
    struct space_action *list = base_calloc(space_slot_count(space_of(leaf)) + 1, sizeof *list);
    struct space_state *at = root ? space_state_clone(root) : space_root(space_of(leaf), NULL);
    CHECK(at);
    *n = 0;
    for (uint32_t slot; (slot = space_next_choice(at, NULL, 0)) != UINT32_MAX;) {
        list[*n] = (struct space_action){slot, space_first_value(leaf, slot)};
        if (!space_apply(at, list[*n], NULL)) PANIC("a leaf is not below its root");
        ++*n;
    }
    space_state_free(at);
    return list;
}

/* ---- a leaf that was drawn ---- */

static struct space_action decision_of(const struct space_state *leaf, uint32_t slot)
{
    return (struct space_action){slot, space_first_value(leaf, slot)};
}

/* Whether the pins say something of a choice. */
static bool is_pinned(const struct space_state *free_root, const struct space_state *root, uint32_t slot)
{
    return space_value_count(free_root, slot) != space_value_count(root, slot) ||
           space_is_live(free_root, slot) != space_is_live(root, slot) ||
           space_is_dead(free_root, slot) != space_is_dead(root, slot);
}

/* Appends what the pins decided, as the leaf has it. false: they also restrict choices that the leaf does not
 * have, which no list of its decisions can repeat. */
static bool add_pinned(const struct space_state *free_root, const struct space_state *root,
                       const struct space_state *leaf, struct space_action *list, size_t *n)
{
    for (uint32_t i = 0; i < space_slot_count(space_of(leaf)); i++) {
        if (!is_pinned(free_root, root, i)) continue;
        if (!space_is_live(leaf, i)) return false;
        list[(*n)++] = decision_of(leaf, i);
    }
    return true;
}

/* Appends every decision that the space leaves open. */
static void add_all(const struct space_state *free_root, const struct space_state *leaf,
                    struct space_action *list, size_t *n)
{
    for (uint32_t i = 0; i < space_slot_count(space_of(leaf)); i++) {
        bool decided = space_is_live(free_root, i) && space_value_count(free_root, i) == 1;
        if (space_is_live(leaf, i) && !decided) list[(*n)++] = decision_of(leaf, i);
    }
}

struct space_action *solution_drawn(const struct space_state *root, const struct space_state *leaf,
                                    const struct space_action *made, size_t n_made, size_t *n)
{
    const struct space *s = space_of(leaf);
    struct space_action *list = base_calloc(space_slot_count(s) + n_made + 1, sizeof *list);
    struct space_state *free_root = space_root(s, NULL);
    CHECK(free_root);
    *n = 0;
    if (add_pinned(free_root, root, leaf, list, n)) {
        for (size_t i = 0; i < n_made; i++)
            list[(*n)++] = made[i];
    } else {
        *n = 0;
        add_all(free_root, leaf, list, n);
    }
    space_state_free(free_root);
    return list;
}
