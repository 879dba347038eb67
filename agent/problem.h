/* A problem: one bound Lift program on one device, taken through lowering and instantiation. The coordinator
 * and every agent build it from the same text, sizes and limits, and compare fingerprints; only branch
 * actions travel. */
#ifndef THRESH_AGENT_PROBLEM_H
#define THRESH_AGENT_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/codegen/codegen.h"
#include "core/backbone/backbone.h"
#include "core/lift/lift.h"
#include "core/space/space.h"

struct device;

struct problem {
    struct arena *arena;
    struct source source; /* text is owned by the arena */
    struct lift_program *program;
    struct backbone *backbone;
    struct bb_device limits;
    struct space_data *data;
    struct space *space;
    uint64_t fingerprint; /* of program, sizes and space */
};

/* Limits that stand for a device that is not known: what is wrong with a program itself is found with any.
 * The names of choices are the same for all devices. */
extern const struct bb_device problem_any_device;

/* `text` is copied. sizes as on the command line ("M=512,N=512"). options may be NULL. NULL after adding
 * errors. */
struct problem *problem_new(const char *path, const char *text, const char *sizes,
                            const struct bb_device *limits, const struct bb_options *options, struct diag *d);
void problem_free(struct problem *p);
/* Whether the device has the numbers of every array, and memory for all of them together as a runner holds
 * them. false after adding a located error. */
bool problem_fits(const struct problem *p, const struct device *dev, struct diag *d);

/* A state of the naive implementation (cli page). NULL after adding errors. The caller frees it. */
struct space_state *problem_naive(const struct problem *p, struct diag *d);
/* Replays actions from the root: NULL with a failure text in *why (static or owned by the space). */
struct space_state *problem_replay(const struct problem *p, const struct space_action *actions, unsigned n,
                                   const char **why);
/* Leaf -> OpenCL. options may be NULL. false with a reason in why (n bytes). Free the kernel with
 * cg_kernel_free(). */
bool problem_kernel(const struct problem *p, const struct space_state *leaf, const struct cg_options *options,
                    struct cg_kernel *out, char *why, unsigned n);

#endif
