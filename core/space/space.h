/* The abstract space: a decision vector whose choices are restricted by actions and propagated to a fixpoint.
 *
 * This is all that search, estimators and the wire see. `spacec` generates one `struct space_def` per .space
 * file (core/space/def.h describes it); space_instantiate() joins it with an instance (sets, properties,
 * parameters) into a `struct space`: immutable, shareable between threads. A `struct space_state` is one
 * working vector with its undo trail and worklist: one per thread.
 *
 * Words: a *slot* is one instance of a choice (dim_kind(d3)), numbered densely; a *value* is an index into
 * the slot's universe (bit of its mask); an *action* restricts one slot to one value. Decisions commute: the
 * same set of actions in any order gives the same canonical vector, byte for byte. Paper: "On the
 * representation of partially specified implementations", sections 2 and 3. */
#ifndef THRESH_SPACE_SPACE_H
#define THRESH_SPACE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/attr.h"

struct diag;
struct space_def;  /* static tables and propagators emitted by spacec */
struct space;      /* a space_def and an instance */
struct space_data; /* an instance: sizes of sets, object names, properties, parameters (core/space/data.h) */
struct space_state;

struct space_action {
    uint32_t slot;
    uint32_t value; /* index into the slot's universe */
};

/* Why a propagation failed. `text` is static or owned by the space. */
struct space_failure {
    const char *file; /* .space file of the constraint */
    unsigned line;    /* its line */
    const char *text; /* short description, e.g. the constraint's first words */
    uint32_t slot;    /* the slot whose domain became empty, or UINT32_MAX */
};

/* ---- the space ---- */

/* Checks the instance against the definition and lays out the vector. Borrows `def` and `data` (they must
 * outlive the space). Returns NULL after adding errors. */
struct space *space_instantiate(const struct space_def *def, const struct space_data *data, struct diag *d);
void space_free(struct space *s);

const struct space_def *space_definition(const struct space *s);
uint64_t
space_fingerprint(const struct space *s); /* of definition and instance: equal iff vectors mean the same */
uint32_t space_slot_count(const struct space *s);
size_t space_vector_bytes(const struct space *s); /* canonical form */
/* How many propagations to the fixpoint all states of the space have run since it was made, one for each call
 * of space_apply(), space_apply_all() or space_restrict() that had something to propagate. Threads that share
 * the space are counted together. The difference of two readings is what the work between them cost. */
uint64_t space_propagation_count(const struct space *s);

unsigned
space_group_count(const struct space *s); /* choice groups = the choices of the .space file, by declaration */
const char *space_group_name(const struct space *s, unsigned group);
int space_group_find(const struct space *s, const char *name); /* -1: unknown */
/* The value of a parameter of the instance. false: the space has no such parameter. */
bool space_parameter(const struct space *s, const char *name, int64_t *value);

unsigned space_slot_group(const struct space *s, uint32_t slot);
unsigned space_slot_arity(const struct space *s, uint32_t slot);
const char *space_slot_argument(const struct space *s, uint32_t slot, unsigned i); /* stable object name */
/* "order(mad, A.use.k.1)"; writes at most n bytes with the 0; returns the full length, as snprintf does. */
int space_slot_name(const struct space *s, uint32_t slot, char *out, size_t n);
/* The slot of a name such as "size(mad.k.1)", spaces aside, and of a pair either way round: *flipped, its
 * values are then mirrored. UINT32_MAX: there is none. */
uint32_t space_slot_named(const struct space *s, const char *name, bool *flipped);
/* The slots whose names a pattern such as "size(m.*)" matches, in which * stands for any text, ascending into
 * slots[] (room for space_slot_count()). Spaces do not count; a pair is matched either way round. Returns how
 * many; 0 also for a pattern of 512 bytes or more. */
uint32_t space_slots_matching(const struct space *s, const char *pattern, uint32_t *slots);
uint32_t space_universe(const struct space *s, uint32_t slot); /* number of values, 1..4096 */
/* Sets of values of an enum choice that its declaration names; a choice of more than 64 values has none. */
unsigned space_alias_count(const struct space *s, unsigned group);
uint64_t space_alias(const struct space *s, unsigned group, unsigned k);        /* bit v: value v is in it */
int64_t space_value_code(const struct space *s, uint32_t slot, uint32_t value); /* integer code of a value */
int space_value_name(const struct space *s, uint32_t slot, uint32_t value, char *out, size_t n);
/* Finds a slot by group and argument object ids (already in declared order; antisymmetric pairs in either
 * order: then *flipped is set and values are to be mirrored with space_value_mirror). UINT32_MAX: there is
 * none. */
uint32_t space_slot_find(const struct space *s, unsigned group, const uint32_t *objects, unsigned n,
                         bool *flipped);
uint32_t space_value_mirror(const struct space *s, uint32_t slot, uint32_t value);
/* Parses "choice(args)=VALUE[|VALUE...]" ("size(mad.k.1)=8", "dim_kind(*.m.0)=BLOCK": * matches any text)
 * into the allowed values of each matching slot; calls `each` for every slot. false after adding an error. */
bool space_parse_pin(const struct space *s, const char *text, struct diag *d,
                     void (*each)(void *ctx, uint32_t slot, const uint64_t *allowed, unsigned words),
                     void *ctx);
/* The root with the choices restricted by the pins, in any order: one may speak of what only a later one
 * makes live. NULL after adding an error: a pin that is none, an empty space, or a pin whose choices are all
 * dead. The caller frees it. */
struct space_state *space_pinned_root(const struct space *s, const char *const *pins, unsigned n,
                                      struct diag *d);

/* ---- a state ---- */

/* The root candidate: all domains full, initial propagation done. NULL if the space is empty (*why says why).
 */
struct space_state *space_root(const struct space *s, struct space_failure *why);
struct space_state *space_state_clone(const struct space_state *st); /* without its trail */
void space_state_assign(struct space_state *to,
                        const struct space_state *from); /* same space; drops to's trail */
void space_state_free(struct space_state *st);
const struct space *space_of(const struct space_state *st);

typedef size_t space_mark;
space_mark space_snapshot(struct space_state *st);
void space_rollback(struct space_state *st,
                    space_mark m); /* to the state at the snapshot; also after a failure */

/* Restricts a live choice and propagates to the fixpoint. false: it is not live, or there is no solution
 * below; the state is then broken until rolled back. */
BASE_MUST_USE bool space_apply(struct space_state *st, struct space_action a, struct space_failure *why);
/* Applies several actions with one propagation to the fixpoint. The state is then the same as after applying
 * them one by one, in any order in which each choice is live when its turn comes: an action may be of a
 * choice that only others of the list make live. No action: nothing is done. false: an action names no choice
 * or value of the space, or its choice is not live in the end, or there is no solution below; the state is
 * then broken until rolled back. */
BASE_MUST_USE bool space_apply_all(struct space_state *st, const struct space_action *actions, size_t n,
                                   struct space_failure *why);
/* Restricts a choice, live or not, to a set of values (words of 64 bits), and propagates: while its objects
 * are only possible, the restriction says which values it may have if they are live; if one is dead, it says
 * nothing. */
BASE_MUST_USE bool space_restrict(struct space_state *st, uint32_t slot, const uint64_t *allowed,
                                  unsigned words, struct space_failure *why);

/* What actions wrote, so that one of several that were tried is taken without propagating it again. */
struct space_log;
struct space_log *space_log_new(void);
void space_log_free(struct space_log *log);
size_t space_log_length(const struct space_log *log); /* how many it has */
void space_log_cut(struct space_log *log, size_t n);  /* forgets those from number n on */
/* Keeps what was written since the snapshot; returns its number, from 0 on. */
size_t space_log_keep(struct space_log *log, const struct space_state *st, space_mark since);
/* Writes it again. The state must be as it was at that snapshot. */
void space_log_repeat(const struct space_log *log, size_t number, struct space_state *st);

bool space_is_live(const struct space_state *st, uint32_t slot); /* all its objects are live */
bool space_is_dead(const struct space_state *st, uint32_t slot); /* one of its objects is dead */
bool space_is_open(const struct space_state *st, uint32_t slot); /* live, and more than one value left */
uint32_t space_value_count(const struct space_state *st, uint32_t slot);
bool space_has_value(const struct space_state *st, uint32_t slot, uint32_t value);
uint32_t space_first_value(const struct space_state *st, uint32_t slot);
/* Values left, ascending, into out[] (room for space_universe()). Returns how many. */
uint32_t space_values(const struct space_state *st, uint32_t slot, uint32_t *out);

/* A part of an order of choices: those of a group, or some that are listed. Parts may overlap: a choice that
 * an earlier part has decided is no longer open. */
struct space_part {
    unsigned group;        /* its slots, by number; not looked at if there is a list */
    const uint32_t *slots; /* the list, in the order in which they are taken, borrowed; NULL: the group */
    uint32_t n;            /* length of the list */
};

/* The next choice to branch on: parts in the given order (NULL: all groups as declared), in each the first
 * live open slot. UINT32_MAX: a leaf (every live choice has one value), if the parts have all slots. */
uint32_t space_next_choice(const struct space_state *st, const struct space_part *parts, unsigned n_parts);

/* Where to look on: all choices before it are decided, or of dead objects. Starts as {0, 0}. */
struct space_cursor {
    unsigned part; /* in the given order */
    uint32_t slot; /* of the part */
};

/* The same along a line of decisions, none of which is undone. */
uint32_t space_next_choice_from(const struct space_state *st, const struct space_part *parts,
                                unsigned n_parts, struct space_cursor *from);
uint32_t space_open_count(const struct space_state *st);

/* Canonical form: space_vector_bytes() bytes, equal iff the candidates are equal. */
void space_canonical(const struct space_state *st, uint8_t *out);
uint64_t space_state_hash(const struct space_state *st); /* of the canonical form */

#endif
