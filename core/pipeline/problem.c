/* Text, sizes and limits -> program -> backbone -> space, pass after pass. */
#include "core/pipeline/problem.h"

#include <string.h>

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "gpu.space.h"

const struct bb_device problem_any_device = {.max_work_group = 64,
                                             .max_work_item = {64, 64, 64},
                                             .local_bytes = 16384,
                                             .n_vector_widths = 1,
                                             .vector_widths = {4}};

/* ---- the passes ---- */

static bool bind(struct problem *p, const char *sizes, struct diag *d)
{
    p->program = lift_parse_bound(&p->source, sizes, p->arena, d);
    return p->program != NULL;
}

static bool lower(struct problem *p, const struct bb_options *options, struct diag *d)
{
    static const struct bb_options defaults = {0};
    p->backbone = bb_lower(p->program, options ? options : &defaults, p->arena, d);
    return p->backbone != NULL;
}

static bool instantiate(struct problem *p, struct diag *d)
{
    p->data = bb_instance(p->backbone, &p->limits);
    p->space = space_instantiate(&space_def_gpu, p->data, d);
    if (!p->space) return false;
    uint64_t parts[2] = {lift_fingerprint(p->program), space_fingerprint(p->space)};
    p->fingerprint = hash_finish(hash_bytes(HASH_START, parts, sizeof parts));
    return true;
}

static struct problem *empty(const char *path, const char *text, const struct bb_device *limits)
{
    struct arena *a = arena_new();
    struct problem *p = ARENA_NEW(a, struct problem);
    p->arena = a;
    p->limits = *limits;
    p->source =
        (struct source){.path = arena_strdup(a, path), .text = arena_strdup(a, text), .length = strlen(text)};
    return p;
}

struct problem *problem_new(const char *path, const char *text, const char *sizes,
                            const struct bb_device *limits, const struct bb_options *options, struct diag *d)
{
    struct problem *p = empty(path, text, limits);
    if (bind(p, sizes, d) && lower(p, options, d) && instantiate(p, d)) return p;
    problem_free(p);
    return NULL;
}

bool problem_check(const char *path, const char *text, const char *sizes, const struct bb_options *options,
                   struct diag *d)
{
    struct problem *p = empty(path, text, &problem_any_device);
    bool valid = bind(p, sizes, d) && lower(p, options, d);
    problem_free(p);
    return valid;
}

void problem_free(struct problem *p)
{
    if (!p) return;
    if (p->space) space_free(p->space);
    if (p->data) space_data_free(p->data);
    arena_free(p->arena);
}

/* ---- implementations ---- */

/* Completes a state with the first value that propagates at each open choice, with backtracking. */
static bool complete_first(struct space_state *st)
{
    uint32_t slot = space_next_choice(st, NULL, 0);
    if (slot == UINT32_MAX) return true;
    uint32_t universe = space_universe(space_of(st), slot);
    for (uint32_t v = 0; v < universe; v++) {
        if (!space_has_value(st, slot, v)) continue;
        space_mark mark = space_snapshot(st);
        struct space_failure why;
        if (space_apply(st, (struct space_action){slot, v}, &why) && complete_first(st)) return true;
        space_rollback(st, mark);
    }
    return false;
}

struct space_state *problem_naive(const struct problem *p, struct diag *d)
{
    struct arena *a = arena_new();
    struct space_failure why = {.text = "no implementation is left"};
    struct bb_decisions naive = bb_naive(p->backbone, p->space, a);
    struct space_state *st = space_root(p->space, &why);
    bool found = st && space_apply_all(st, naive.items, naive.n, &why) && complete_first(st);
    arena_free(a);
    if (found) return st;
    diag_plain(d, "the naive implementation is not in the space: %s", why.text);
    space_state_free(st);
    return NULL;
}

struct space_state *problem_replay(const struct problem *p, const struct space_action *actions, size_t n,
                                   const char **why)
{
    struct space_failure failure = {0};
    struct space_state *st = space_root(p->space, &failure);
    if (st && space_apply_all(st, actions, n, &failure)) return st;
    *why = failure.text ? failure.text : "the actions contradict each other";
    space_state_free(st);
    return NULL;
}
