/* What an implementation promises before it is measured, by those that were measured: an estimate of its
 * time, with an uncertainty.
 *
 * Logarithms of times are a Gaussian process over *traits*, the values of the choices with at most one
 * argument (sizes, kinds, not the order of two statements). Implementations that differ in few traits have
 * similar times:
 *
 *     measured   m=8 n=4 vector   40 us
 *     measured   m=8 n=2 loop     90 us
 *     asked      m=8 n=4 loop     between the two; less certain than an implementation that was measured
 *
 * In spaces of at most 32 such choices it is learnt how much each of them matters (mcts/scales.h). The mean
 * is linear in the logarithms of the lower bound and of the estimate that is the first feature (struct
 * mcts_leaf), with slope one in the estimate, or else in the bound, until measurements show another; without
 * either it is a constant. Implementations whose features are near each other have similar times, too. C. E.
 * Rasmussen, C. K. I. Williams, "Gaussian Processes for Machine Learning", 2006, sections 2.2 and 2.7. A
 * promise is the expected improvement on the best time: D. R. Jones, M. Schonlau, W. J. Welch, "Efficient
 * global optimization of expensive black-box functions", 1998; times the chance that the measurement is not
 * stopped as too slow, as in M. A. Gelbart, J. Snoek, R. P. Adams, "Bayesian optimization with unknown
 * constraints", 2014, section 3. Promises order rollouts; they never prune anything. */
#ifndef THRESH_MCTS_GUESS_H
#define THRESH_MCTS_GUESS_H

#include <stddef.h>
#include <stdint.h>

#include "core/space/space.h"

struct archive;
struct mcts_guess;
struct mcts_leaf; /* mcts/policy.h */

/* An implementation as the guess sees it; free() it. */
struct mcts_traits;
/* The choices whose values are traits; if none has at most one argument, all choices. Returns how many;
 * free() *slots. */
uint32_t mcts_traits_pick(const struct space *s, uint32_t **slots);

/* Keeps at most `capacity` >= 12 measurements: a full guess keeps the fastest quarter of them and a third of
 * the others. Times above `slow` > 1 times the best count as that, so that a few very slow ones do not make
 * everything unknown look promising. `fastest`, above 0 and at most 1, is the share of the measurements that
 * are told apart: all times above that quantile count as the quantile, but none below 1.1 times the best
 * does. Learning one takes time in proportion to the square of their number, and so does a promise. */
struct mcts_guess *mcts_guess_new(const struct space *s, size_t capacity, double slow, double fastest);
void mcts_guess_free(struct mcts_guess *g); /* NULL is allowed */

/* Of an implementation; all of a guess have equally many features. */
struct mcts_traits *mcts_traits_new(const struct mcts_guess *g, const struct mcts_leaf *leaf);
/* Learns a time in ns and owns the traits from now on. INFINITY: the measurement was stopped as too slow;
 * that is ignored before there is a time. */
void mcts_guess_learn(struct mcts_guess *g, struct mcts_traits *t, double time);
/* The implementation is at work, and its result will be learnt later; owns the traits from now on. Until then
 * it is taken to have the expected time: what is like it is more certain and promises less, so that runners
 * do not measure the same at the same time. D. Ginsbourger, R. Le Riche, L. Carraro, "Kriging is well-suited
 * to parallelize optimization", 2010, section 3.2 (kriging believer); but the best time stays that of the
 * measurements. Before there is one it has no effect. Of many the newest 32 are kept. */
void mcts_guess_await(struct mcts_guess *g, struct mcts_traits *t);
/* There will be no result of it. */
void mcts_guess_await_no_more(struct mcts_guess *g, const struct mcts_traits *t);
/* Writes what was learnt and is awaited, or reads it into a guess that knows nothing. */
void mcts_guess_archive(struct mcts_guess *g, struct archive *a);
/* Takes up what was learnt since the last call: needed before promises are asked for. */
void mcts_guess_solve(struct mcts_guess *g);
/* The logarithm of the expected improvement on the best time, both logarithms of ns, times the chance that
 * the measurement is not stopped, for each of n implementations; larger is better. What an implementation
 * promises does not depend on the others; together they cost less. Before anything was learnt a smaller
 * estimate promises more, or a smaller bound where there is none. May be asked on several threads at once. */
void mcts_guess_promises(const struct mcts_guess *g, const struct mcts_traits *const *t, unsigned n,
                         double *promises);

#endif
