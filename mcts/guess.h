/* What to expect of an implementation before it is measured, from those that were: which of several rollouts
 * is worth an evaluation.
 *
 * Logarithms of times are a Gaussian process over *traits*, the values of the choices that speak of one thing
 * (sizes, kinds, not the order of two statements): two implementations are the more alike the fewer of them
 * differ. Its mean is a straight line in the logarithm of the lower bound, which has slope one until
 * measurements say otherwise; with no bounds it is a constant. C. E. Rasmussen, C. K. I. Williams, "Gaussian
 * Processes for Machine Learning", 2006, sections 2.2 and 2.7. What is promised is the expected improvement
 * on the best time: D. R. Jones, M. Schonlau, W. J. Welch, "Efficient global optimization of expensive
 * black-box functions", 1998. A guess never cuts anything. */
#ifndef THRESH_MCTS_GUESS_H
#define THRESH_MCTS_GUESS_H

#include <stddef.h>
#include <stdint.h>

#include "core/space/space.h"

struct mcts_guess;

/* An implementation as the guess sees it; free() it. */
struct mcts_traits;

/* Remembers at most `capacity` >= 12 measurements: when there are more, the fastest quarter of them and a
 * third of the others stay. One takes time in proportion to their number's square, a promise too. */
struct mcts_guess *mcts_guess_new(const struct space *s, size_t capacity);
void mcts_guess_free(struct mcts_guess *g); /* NULL is allowed */
size_t mcts_guess_bytes(const struct mcts_guess *g);

/* Of a leaf with that lower bound in ns; 0: there is none. */
struct mcts_traits *mcts_traits_new(const struct mcts_guess *g, const struct space_state *leaf, double bound);
/* Learns a time in ns. INFINITY: it was given up, and counts as four times the best, as does everything that
 * is slower than that; it says nothing before there is a time. */
void mcts_guess_learn(struct mcts_guess *g, const struct mcts_traits *t, double time);
/* The logarithm of the expected improvement on the best time, both logarithms of ns; larger is better. Before
 * anything was learnt a smaller bound promises more. */
double mcts_guess_promise(struct mcts_guess *g, const struct mcts_traits *t);

#endif
