/* An implementation in words: what becomes of each logical dimension, of each value that may be staged, and
 * how memory is read and written. For example
 *
 *     m: 64 = 32 unrolled x 2 work-items (LCL0)
 *     B: staged in local memory: 64 k x 32 n floats (8 KiB), n innermost, one tile for each iteration of k.0
 *
 * What a decision means is told in the words of the space's file (`thresh space describe`). */
#ifndef THRESH_COORDINATOR_PORTRAIT_H
#define THRESH_COORDINATOR_PORTRAIT_H

#include <jansson.h>

#include "core/pipeline/problem.h"

struct strbuf;

/* The decisions of a leaf of the problem's space; a new reference:
 *
 *     {"dimensions": [DIMENSION...],
 *      "values": [{"name", "staged", "line", "dimensions": [DIMENSION...] (of its copy)}...],
 *      "accesses": [{"cache", "of": [instruction...], "line"}...]}
 *     DIMENSION = {"name", "extent", "span" (what the levels multiply to), "kind": "parallel" | "reduction" |
 * "copy", "line", "levels": [{"tile", "size", "line"}...]}
 *
 * Each "line" is a sentence for people, without the name. */
json_t *portrait_json(const struct problem *p, const struct space_state *leaf);
/* Appends it as text, indented. */
void portrait_print(const json_t *portrait, struct strbuf *out);
/* The lines of dimensions and values in which two implementations of one problem differ:
 * [{"name", "here", "there"}...]; a new reference. */
json_t *portrait_differences(const json_t *here, const json_t *there);

/* Whether a name such as "order(a, b)" is of a choice: one of enum gpu_choice (gpu.space.h). */
bool portrait_is_of(const char *name, unsigned choice);

#endif
