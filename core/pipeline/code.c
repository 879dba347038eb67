/* Leaf -> loop program -> text: the only caller of the code generator's passes, for the target that the
 * limits name. */
#include "core/pipeline/code.h"

#include <stdio.h>

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/base/strbuf.h"
#include "core/codegen/counts.h"
#include "core/codegen/target.h"

/* NULL with a reason in *why, a static text. */
static struct cg_program *loop_program(const struct problem *p, const struct space_state *leaf,
                                       struct arena *a, const char **why)
{
    const struct cg_target target = cg_target_of(&p->limits);
    struct bb_candidate *c = bb_candidate_new(p->backbone, a);
    return bb_decode(p->backbone, leaf, c, why) ? cg_build(p->backbone, c, &target, a, why) : NULL;
}

bool pipeline_lower(const struct problem *p, const struct space_state *leaf, struct pipeline_code *out,
                    char *why, size_t n)
{
    struct arena *a = arena_new();
    const char *reason = "";
    *out = (struct pipeline_code){0};
    struct cg_program *program = loop_program(p, leaf, a, &reason);
    if (program) {
        cg_emit(program, &out->kernel);
        cg_cost(program, &out->item_steps, &out->items);
        out->hash = hash_finish(hash_string(HASH_START, out->kernel.source));
    } else {
        snprintf(why, n, "%s", reason);
    }
    arena_free(a);
    return program != NULL;
}

bool pipeline_lower_actions(const struct problem *p, const struct space_action *actions, size_t n_actions,
                            struct pipeline_code *out, char *why, size_t n)
{
    const char *reason = "";
    *out = (struct pipeline_code){0};
    struct space_state *leaf = problem_replay(p, actions, n_actions, &reason);
    bool lowered = leaf && pipeline_lower(p, leaf, out, why, n);
    if (!leaf) snprintf(why, n, "%s", reason);
    space_state_free(leaf);
    return lowered;
}

void pipeline_code_clear(struct pipeline_code *c)
{
    cg_kernel_free(&c->kernel);
    *c = (struct pipeline_code){0};
}

bool pipeline_count(const struct problem *p, const struct space_state *leaf, double *counts)
{
    struct arena *a = arena_new();
    const char *ignored;
    struct cg_program *program = loop_program(p, leaf, a, &ignored);
    if (program) cg_count(program, counts);
    arena_free(a);
    return program != NULL;
}

bool pipeline_print_loops(const struct problem *p, const struct space_state *leaf, struct strbuf *out)
{
    struct arena *a = arena_new();
    const char *ignored;
    struct cg_program *program = loop_program(p, leaf, a, &ignored);
    if (program) cg_print_tree(program, out);
    arena_free(a);
    return program != NULL;
}
