/* A problem: a Lift program with its sizes on a device with given limits, and the space of its
 * implementations. It is the front half of the pipeline:
 *
 *     text, "M=512,N=512" --lift_parse, lift_bind--> program --bb_lower--> backbone
 *     backbone, limits    --bb_instance, space_instantiate--> space
 *
 * The coordinator, every agent and every subcommand build it with problem_new(). An agent builds its own from
 * the same text, sizes and limits, and compares the fingerprint; an implementation then travels as the list
 * of its actions. core/pipeline/code.h is the back half: from a leaf of the space to OpenCL text. */
#ifndef THRESH_PIPELINE_PROBLEM_H
#define THRESH_PIPELINE_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/backbone/backbone.h"
#include "core/base/diag.h"
#include "core/lift/lift.h"
#include "core/space/space.h"

struct problem {
    struct arena *arena;  /* owns the texts, the program and the backbone */
    struct source source; /* of the program */
    struct lift_program *program;
    struct backbone *backbone;
    struct bb_device limits;
    struct space_data *data;
    struct space *space;
    uint64_t fingerprint; /* of program, sizes and space */
};

/* Limits that every OpenCL device has, for commands that check or describe a program where no device is
 * known. Names of choices do not depend on limits; the values that a choice may have do. */
extern const struct bb_device problem_any_device;

/* `path` and `text` are copied. sizes: as on the command line ("M=512,N=512"); NULL: none. options: of the
 * lowering to the backbone; NULL: the defaults. NULL after adding errors. */
struct problem *problem_new(const char *path, const char *text, const char *sizes,
                            const struct bb_device *limits, const struct bb_options *options, struct diag *d);
void problem_free(struct problem *p); /* NULL is allowed */
/* Whether the program and its sizes can be lowered: all that can be said without a device, which costs far
 * less than the space. Adds the errors that problem_new() would add. */
bool problem_check(const char *path, const char *text, const char *sizes, const struct bb_options *options,
                   struct diag *d);

/* A leaf: the naive implementation, one work-item for each element of the output. NULL after adding an error.
 * The caller frees it. */
struct space_state *problem_naive(const struct problem *p, struct diag *d);
/* The state that the actions lead to from the root of the space, with one propagation. NULL with a reason in
 * *why (static or owned by the space): the actions contradict each other or are not of this space. The caller
 * frees the state. */
struct space_state *problem_replay(const struct problem *p, const struct space_action *actions, size_t n,
                                   const char **why);

#endif
