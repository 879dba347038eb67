/* A random forest for regression over choices (L. Breiman, "Random forests", 2001): what a set of decisions
 * tells about a number, and how much each decision tells.
 *
 *     row        values         y = log time            tile < {8, 16}?
 *     0          tile 8,  YES   10.1                     yes /    \ no
 *     1          tile 32, NO    13.0                    10.3      staged is {YES}? ...
 *
 * A value is a code from 0 to FOREST_CODES - 1 without an order; "does not have the choice" is a code as any
 * other. A tree is grown on as many rows as there are, drawn with replacement. A node divides the codes of
 * one choice into two sets: those are sorted by the mean of y, among which the best division of a regression
 * is always a cut (W. D. Fisher, "On grouping for maximum homogeneity", 1958). The rows that a tree did not
 * draw are its out-of-bag rows; they judge it.
 *
 * Importance is measured by permutation: by how much the squared error over the out-of-bag rows grows when
 * the values of one choice are shuffled among them, as a share of the variance of y. A choice without effect
 * has one around 0, also if it has many values. Choices that depend on each other share their importance. */
#ifndef THRESH_BASE_FOREST_H
#define THRESH_BASE_FOREST_H

#include <stddef.h>
#include <stdint.h>

enum { FOREST_CODES = 256 };

/* Borrowed. */
struct forest_data {
    size_t n_rows;
    unsigned n_choices;
    const uint8_t *codes; /* [n_rows][n_choices] */
    const double *y;      /* [n_rows], finite */
};

struct forest_options {
    unsigned trees; /* from 1 */
    unsigned tried; /* choices on which the rows of a node differ that are tried there, drawn anew for each;
                       0: twice the root of their number, at least a third of the first 24 */
    unsigned least; /* rows in a leaf, from 1 */
    uint64_t seed;
};

struct forest;

/* The usual options: 64 trees, leaves of 3 rows or more, seed 1. */
struct forest_options forest_options_default(void);
/* Grows a forest on n_rows >= 1 rows. It keeps `data`, which must live as long. */
struct forest *forest_grow(const struct forest_data *data, const struct forest_options *options);
void forest_free(struct forest *f); /* NULL is allowed */
/* The share of the variance of y that predictions of rows explain by the trees that did not draw them, at
 * most 1; below 0: they are worse than the mean. 0 without variance or without such rows. */
double forest_explained(const struct forest *f);
/* The importance of each choice, importance[n_choices]; 0 where no tree asks for it. */
void forest_importance(const struct forest *f, double *importance);
/* The mean prediction over all rows if they had this code of the choice: the marginal of functional analysis
 * of variance (F. Hutter and others, "An efficient approach for assessing hyperparameter importance", 2014),
 * over the rows instead of the whole space. */
double forest_marginal(const struct forest *f, unsigned choice, uint8_t code);

#endif
