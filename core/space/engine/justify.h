/* Deletions re-justified: in debug builds each value that a propagator removed is looked for in the solutions
 * of the constraint that it removed it for, by enumeration. A value that some solution uses is a bug of ours
 * and ends the process, with the constraint, the choice and the value. So is a value that is removed only
 * when everything is visited again: some watch leaves out too much (events.h). */
#ifndef THRESH_SPACE_ENGINE_JUSTIFY_H
#define THRESH_SPACE_ENGINE_JUSTIFY_H

#include "core/space/engine/state.h"

#ifdef NDEBUG
enum { JUSTIFY = 0 };
#else
enum { JUSTIFY = 1 };
#endif

/* Combinations of values that a state looks at before it stops checking: random and hand-made spaces are
 * checked whole, large ones in their first steps. */
enum { JUSTIFY_MOST = 1 << 18 };

/* Before the first propagation, once every slot has its place in the vector. */
void justify_build(struct space *s);

/* What instance `instance` did since the trail had `since` entries; `ok`: what its propagator returned. The
 * state must keep a trail. */
void justify_instance(struct space_state *st, uint32_t instance, space_mark since, bool ok);

/* A slot is about to lose what `allowed` has not, by an instance. */
void justify_restriction(struct space_state *st, uint32_t instance, uint32_t slot, uint64_t allowed);

/* The same as justify_instance() for the triangles and the relation of a square. */
void justify_square(struct space_state *st, uint32_t square, space_mark since, bool ok);

/* Propagates everything again, which must remove nothing that is live. After propagation. */
void justify_fixpoint(struct space_state *st);

#endif
