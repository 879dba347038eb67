/* The code of an implementation, the back half of the pipeline:
 *
 *     leaf --bb_decode--> candidate --cg_build--> loop program --cg_emit--> OpenCL text and launch
 *
 * Coordinator and agents call pipeline_lower() with nothing but the problem and the leaf, so that both get
 * the same text: the coordinator to recognise duplicates and to leave out what is too slow or too long before
 * an agent is asked, the agent to run it. A leaf that was just drawn is lowered as it is; nothing is
 * propagated. */
#ifndef THRESH_PIPELINE_CODE_H
#define THRESH_PIPELINE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/codegen/codegen.h"
#include "core/pipeline/problem.h"

struct strbuf;

struct pipeline_code {
    struct cg_kernel kernel;
    uint64_t hash;     /* of the OpenCL text */
    double item_steps; /* iterations of the longest path of one work-item: cg_cost() */
    double items;      /* work-items that store a result: cg_cost() */
};

/* Lowers a leaf of the problem's space. false with a reason in why (n bytes): the code generator does not
 * implement it, and *out is zero. Release the code with pipeline_code_clear(). */
bool pipeline_lower(const struct problem *p, const struct space_state *leaf, struct pipeline_code *out,
                    char *why, size_t n);
/* The same for the leaf that actions lead to (problem_replay()): one propagation. */
bool pipeline_lower_actions(const struct problem *p, const struct space_action *actions, size_t n_actions,
                            struct pipeline_code *out, char *why, size_t n);
void pipeline_code_clear(struct pipeline_code *c); /* leaves it zero */

/* What the kernel of a leaf does: counts[CG_COUNT_COUNT] (core/codegen/counts.h). false: the code generator
 * does not implement it. */
bool pipeline_count(const struct problem *p, const struct space_state *leaf, double *counts);

/* Appends the loop tree of a leaf as text, one line a node. false: the code generator does not implement it.
 */
bool pipeline_print_loops(const struct problem *p, const struct space_state *leaf, struct strbuf *out);

#endif
