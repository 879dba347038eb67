/* The rollout policies of a search, called one after the other in the order of their names:
 *
 *     rollout=prior+bound+leaders        prior, bound and leaders; of several weights the product counts
 *     rollout=own+guess                  the plug-in's own policy, and the expected improvement
 *
 * The tree and the rollouts (mcts/tree.h, mcts/rollout.h) call policies only through these functions, which
 * check what a policy returns. */
#ifndef THRESH_MCTS_POLICIES_H
#define THRESH_MCTS_POLICIES_H

#include "mcts/heuristic.h"
#include "mcts/parameter.h"

struct archive;
struct mcts_guard;
struct mcts_policies;

enum { MCTS_POLICIES_MAX = 16 }; /* together */

/* Those named by the n characters of `list`, joined by '+'; `own` is that of the plug-in, whose state is
 * borrowed. Parameters have their defaults. NULL after an error. */
struct mcts_policies *mcts_policies_new(const struct mcts_plugin *plugin, void *state, const char *list,
                                        size_t n, struct diag *d);
void mcts_policies_free(struct mcts_policies *p); /* NULL is allowed */
/* For rollouts on another thread: the same policies with a copy of their states, byte by byte. What a state
 * points to is shared, so a built-in policy may change it in begin, learn, handed_out, end and start of
 * rollout 0 only, or where no other thread makes rollouts. mcts_policies_can_copy(): no plug-in's policy is
 * among them. */
bool mcts_policies_can_copy(const struct mcts_policies *p);
struct mcts_policies *mcts_policies_copy(const struct mcts_policies *p); /* mcts_policies_free() it */
void mcts_policies_copy_states(struct mcts_policies *to, const struct mcts_policies *from); /* of a copy */
/* Writes what the built-in policies have learnt, or reads it after mcts_policies_begin(). */
void mcts_policies_archive(struct mcts_policies *p, const struct space *s, struct archive *a);
/* Watches the callbacks of `own`. */
void mcts_policies_set_guard(struct mcts_policies *p, struct mcts_guard *g);
/* The parameters of all built-in policies, for mcts_parameters_set(): those that are not in use have no
 * state. Room for MCTS_POLICIES_MAX. Returns how many. */
size_t mcts_policies_owners(const struct mcts_policies *p, struct mcts_parameter_owner *out);

/* Around a search; one at a time. */
void mcts_policies_begin(struct mcts_policies *p, const struct space *s);
void mcts_policies_end(struct mcts_policies *p);

/* The callbacks of mcts/policy.h over all policies. */
bool mcts_policies_start(struct mcts_policies *p, unsigned rollout, struct pcg32 *rng);
/* The first suggestion from policy *next on; sets *next to the one after it. false: there is none. */
bool mcts_policies_propose(struct mcts_policies *p, const struct mcts_choice *c, unsigned *next,
                           uint32_t *value);
/* false: a policy returned a bad weight; error (n bytes) says which. */
bool mcts_policies_weigh(struct mcts_policies *p, const struct mcts_view *view, double *weights, char *error,
                         size_t n);
/* Whether a weight depends on the child alone and does not grow with its bound, once there is a best time.
 * Then a child need not be tried to know a weight that its own does not exceed: that of its parent's bound. A
 * plug-in's weights may be anything. */
bool mcts_policies_monotone(const struct mcts_policies *p);
unsigned mcts_policies_draws(const struct mcts_policies *p);
unsigned mcts_policies_generations(const struct mcts_policies *p); /* >= 1 */
unsigned mcts_policies_batch(const struct mcts_policies *p);       /* 1 to MCTS_BATCH_MAX */
unsigned mcts_policies_redraws(const struct mcts_policies *p);
/* *thrift >= 0. false: a policy returned a bad one; error (n bytes) says which. */
bool mcts_policies_thrift(const struct mcts_policies *p, double *thrift, char *error, size_t n);
void mcts_policies_drawn(struct mcts_policies *p, const struct mcts_leaf *leaves, const double *ranks,
                         unsigned n);
/* Sums of ranks of 1 to MCTS_DRAWS_MAX implementations. false: a rank is not a number; error (n bytes). */
bool mcts_policies_rank(struct mcts_policies *p, const struct mcts_leaf *leaves, unsigned n_leaves,
                        double *sums, char *error, size_t n);
/* Whether any of them is told what is handed out, or its result. */
bool mcts_policies_learning(const struct mcts_policies *p);
void mcts_policies_handed_out(struct mcts_policies *p, const struct mcts_leaf *leaf);
void mcts_policies_learn(struct mcts_policies *p, const struct mcts_leaf *leaf, struct mcts_outcome outcome);

/* ---- what policies have learnt, for mcts_policies_archive() ---- */

void mcts_leaders_archive(void *state, const struct space *s, struct archive *a);
void mcts_guess_policy_archive(void *state, const struct space *s, struct archive *a);

#endif
