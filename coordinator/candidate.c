/* From a leaf of the space to text. The coordinator needs the text to know duplicates before they are
 * measured, and the floor to leave out what is hopeless; agents make the same text again from the actions. */
#include "coordinator/candidate.h"

#include <stdio.h>
#include <stdlib.h>

#include "coordinator/solution.h"
#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/base/panic.h"
#include "core/base/strbuf.h"
#include "perfmodel/floor.h"

struct space_action *candidate_actions(const struct problem *p, const struct space_state *leaf, size_t *n)
{
    struct space_state *root = space_root(p->space, NULL);
    CHECK(root);
    struct space_action *list = solution_actions(root, leaf, n);
    space_state_free(root);
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
