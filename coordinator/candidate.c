/* From a leaf of the space to text. The coordinator needs the text to know duplicates before they are
 * measured, and the floor to leave out what is hopeless; agents make the same text again from the actions. */
#include "coordinator/candidate.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/base/panic.h"
#include "core/base/strbuf.h"
#include "perfmodel/floor.h"

struct space_action *candidate_actions(const struct problem *p, const struct space_state *leaf, size_t *n)
{
    struct space_failure why;
    struct space_action *list = base_calloc(space_slot_count(p->space) + 1, sizeof *list);
    struct space_state *st = space_root(p->space, &why);
    CHECK(st);
    uint32_t slot;
    for (*n = 0; (slot = space_next_choice(st, NULL, 0)) != UINT32_MAX; ++*n) {
        list[*n] = (struct space_action){slot, space_first_value(leaf, slot)};
        if (!space_apply(st, list[*n], &why)) PANIC("a leaf cannot be reached from the root: %s", why.text);
    }
    space_state_free(st);
    return list;
}

bool candidate_lower(const struct problem *p, const struct device *dev, const struct space_state *leaf,
                     struct candidate *out, char *why, size_t n)
{
    static const struct cg_options options = {.aligned_vectors = true};
    struct arena *a = arena_new();
    struct bb_candidate *c = bb_candidate_new(p->backbone, a);
    const char *reason = "";
    struct cg_program *program = NULL;
    if (bb_decode(p->backbone, leaf, c, &reason)) program = cg_build(p->backbone, c, &options, a, &reason);
    if (program) {
        double steps, items;
        struct strbuf loops = {0};
        cg_emit(program, &out->kernel);
        cg_cost(program, &steps, &items);
        cg_print_tree(program, &loops);
        out->loops = strbuf_take(&loops);
        out->hash = hash_finish(hash_string(HASH_START, out->kernel.source));
        out->floor_ns = perfmodel_floor_ns(steps, items, dev->compute_units, dev->gpu);
    } else {
        snprintf(why, n, "%s", reason);
    }
    arena_free(a);
    return program != NULL;
}

bool candidate_from_actions(const struct problem *p, const struct device *dev,
                            const struct space_action *actions, size_t n_actions, struct candidate *out,
                            char *why, size_t n)
{
    const char *reason = "";
    struct space_state *leaf = problem_replay(p, actions, (unsigned)n_actions, &reason);
    if (!leaf) {
        snprintf(why, n, "%s", reason);
        return false;
    }
    bool ok = candidate_lower(p, dev, leaf, out, why, n);
    space_state_free(leaf);
    return ok;
}

void candidate_clear(struct candidate *c)
{
    cg_kernel_free(&c->kernel);
    free(c->loops);
    *c = (struct candidate){0};
}
