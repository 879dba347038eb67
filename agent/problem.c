/* Text, sizes and device limits -> backbone and space; states -> kernels. The straight list of the pipeline's
 * passes. */
#include "agent/problem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/device.h"
#include "agent/runner.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/hash.h"
#include "core/space/data.h"

extern const struct space_def space_def_gpu; /* generated from spacedsl/spaces/gpu.space */

const struct bb_device problem_any_device = {.max_work_group = 64,
                                             .max_work_item = {64, 64, 64},
                                             .local_bytes = 16384,
                                             .n_vector_widths = 1,
                                             .vector_widths = {4}};

static bool front_end(struct problem *p, const char *sizes, struct diag *d)
{
    struct lift_size_value *values = NULL;
    int n = lift_parse_sizes(sizes ? sizes : "", &values, p->arena, d);
    if (n < 0) return false;
    p->program = lift_parse(&p->source, p->arena, d);
    return p->program && lift_bind(p->program, values, (unsigned)n, p->arena, d);
}

static bool instantiate(struct problem *p, const struct bb_options *options, struct diag *d)
{
    static const struct bb_options defaults = {0};
    p->backbone = bb_lower(p->program, options ? options : &defaults, p->arena, d);
    if (!p->backbone) return false;
    p->data = bb_instance(p->backbone, &p->limits);
    p->space = space_instantiate(&space_def_gpu, p->data, d);
    if (!p->space) return false;
    uint64_t parts[2] = {lift_fingerprint(p->program), space_fingerprint(p->space)};
    p->fingerprint = hash_finish(hash_bytes(HASH_START, parts, sizeof parts));
    return true;
}

struct problem *problem_new(const char *path, const char *text, const char *sizes,
                            const struct bb_device *limits, const struct bb_options *options, struct diag *d)
{
    struct arena *a = arena_new();
    struct problem *p = ARENA_NEW(a, struct problem);
    p->arena = a;
    p->limits = *limits;
    p->source =
        (struct source){.path = arena_strdup(a, path), .text = arena_strdup(a, text), .length = strlen(text)};
    if (front_end(p, sizes, d) && instantiate(p, options, d)) return p;
    problem_free(p);
    return NULL;
}

void problem_free(struct problem *p)
{
    if (!p) return;
    if (p->space) space_free(p->space);
    if (p->data) space_data_free(p->data);
    arena_free(p->arena);
}

/* ---- what the device has ---- */

static struct source_pos place_of(const struct problem *p, const struct bb_buffer *b)
{
    return b->output ? p->program->output->at : p->program->inputs[b->input]->at;
}

/* false after an error at an array of numbers that the device does not have. */
static bool has_numbers(const struct problem *p, const struct device *dev, struct diag *d)
{
    const bool lacks[SCALAR_TYPE_COUNT] = {[SCALAR_DOUBLE] = dev->no_double, [SCALAR_HALF] = dev->no_half};
    for (unsigned i = 0; i < p->backbone->n_buffers; i++) {
        const struct bb_buffer *b = &p->backbone->buffers[i];
        if (!lacks[b->type]) continue;
        diag_error(d, place_of(p, b),
                   "'%s' is %s, which %s cannot calculate with (%s); declare it as float, or choose another "
                   "device with --device",
                   b->name, scalar_type_name(b->type), dev->name,
                   b->type == SCALAR_DOUBLE ? "no cl_khr_fp64" : "no cl_khr_fp16");
        return false;
    }
    return true;
}

static bool has_memory(const struct problem *p, const struct device *dev, struct diag *d)
{
    int64_t left = dev->global_bytes;
    unsigned sets = verify_sets(p->backbone);
    for (unsigned i = 0; i < p->backbone->n_buffers; i++) {
        const struct bb_buffer *b = &p->backbone->buffers[i];
        int64_t bytes = b->elements * (int64_t)scalar_type_bytes(b->type);
        int64_t held = runner_bytes(bytes, b->output, sets), one = b->output ? held : bytes;
        if (one <= dev->max_alloc_bytes && held <= left) {
            left -= held;
            continue;
        }
        diag_error(d, place_of(p, b),
                   "'%s' takes %" PRId64 " bytes, %" PRId64 " in a runner, but %s has room for %" PRId64
                   " (%" PRId64 " in all, %" PRId64 " in one array); choose smaller sizes",
                   b->name, bytes, held, dev->name, one <= dev->max_alloc_bytes ? left : dev->max_alloc_bytes,
                   dev->global_bytes, dev->max_alloc_bytes);
        return false;
    }
    return true;
}

bool problem_fits(const struct problem *p, const struct device *dev, struct diag *d)
{
    return has_numbers(p, dev, d) && has_memory(p, dev, d);
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
    const char *const *pins;
    unsigned n = bb_naive_pins(p->backbone, a, &pins);
    struct space_state *st = space_pinned_root(p->space, pins, n, d);
    arena_free(a);
    if (!st || complete_first(st)) return st;
    diag_plain(d, "the naive implementation is not in the space");
    space_state_free(st);
    return NULL;
}

struct space_state *problem_replay(const struct problem *p, const struct space_action *actions, unsigned n,
                                   const char **why)
{
    struct space_failure failure = {0};
    struct space_state *st = space_root(p->space, &failure);
    for (unsigned i = 0; st && i < n; i++) {
        bool known = actions[i].slot < space_slot_count(p->space) &&
                     actions[i].value < space_universe(p->space, actions[i].slot);
        if (known && space_apply(st, actions[i], &failure)) continue;
        if (!known) failure.text = "an action names no choice of this space";
        space_state_free(st);
        st = NULL;
    }
    if (!st) *why = failure.text ? failure.text : "the actions contradict each other";
    return st;
}

bool problem_kernel(const struct problem *p, const struct space_state *leaf, const struct cg_options *options,
                    struct cg_kernel *out, char *why, unsigned n)
{
    static const struct cg_options defaults = {.aligned_vectors = true};
    struct arena *a = arena_new();
    struct bb_candidate *c = bb_candidate_new(p->backbone, a);
    const char *reason = "";
    struct cg_program *program = NULL;
    if (bb_decode(p->backbone, leaf, c, &reason))
        program = cg_build(p->backbone, c, options ? options : &defaults, a, &reason);
    if (program)
        cg_emit(program, out);
    else
        snprintf(why, n, "%s", reason);
    arena_free(a);
    return program != NULL;
}
