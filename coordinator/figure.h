/* A quoted time, the one form in which thresh tells how fast an implementation is: by `tune`, `store`,
 * `replay`, `explain`, in best.json and in all JSON output. For example
 *
 *     82.68 us (81.91 to 84.02, 11 rounds)
 *
 * After a search its contenders are measured again in rounds: in a round each of them, in random order, runs
 * a batch of launches back to back, and the time of the round is the span of the batch over its launches. The
 * figure is the median over the rounds; its spread is the middle half of the rounds, from the lower to the
 * upper quartile. Four digits, so that a reader who divides two figures gets the speedup that is shown: it is
 * the quotient of two medians. Its spread is the middle half of the quotients within rounds.
 *
 * A time of the search is another thing: the median of one batch's samples, each the device's own time of one
 * launch, without what is between launches. It is for comparing candidates during a search, it is the least
 * of many noisy values for a winner, and for kernels of some microseconds it is far below a quoted time. It
 * is a figure of 0 rounds and is printed as `36.46 us (search)`. */
#ifndef THRESH_COORDINATOR_FIGURE_H
#define THRESH_COORDINATOR_FIGURE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* median_ns 0: there is none. */
struct figure {
    double median_ns;
    double low_ns, high_ns; /* quartiles over the rounds; the median where there are no rounds */
    unsigned rounds;        /* 0: a time of the search */
};

/* The quotient of two medians. quotient 0: one of them is missing. */
struct figure_ratio {
    double quotient;
    double low, high; /* quartiles of the quotients within rounds; the quotient where there are none */
    unsigned rounds;  /* in which both were measured; 0: of times of the search, at least one */
};

enum { FIGURE_TEXT = 96 }; /* bytes that the text of a figure takes at most, with its 0 */

/* The figure of n rounds, times in ns; what is not positive and finite was not measured and is left out. */
struct figure figure_of_rounds(const double *ns, size_t n);
/* A time of the search; none if ns is not positive and finite. */
struct figure figure_of_search(double ns);
bool figure_known(const struct figure *f);
/* Whether it was measured in rounds. */
bool figure_quoted(const struct figure *f);
/* Whether both are quoted, or both are times of the search. */
bool figure_comparable(const struct figure *a, const struct figure *b);
/* "82.68 us (81.91 to 84.02, 11 rounds)", "36.46 us (search)" or "-". Returns `out`. */
const char *figure_print(const struct figure *f, char out[FIGURE_TEXT]);
/* {"median_ns", "low_ns", "high_ns", "rounds"}; null: none. A new reference. */
json_t *figure_json(const struct figure *f);
/* Reads what figure_json() gives; false: malformed. */
bool figure_read_json(const json_t *o, struct figure *out);

/* a over b, with the spread of the quotients within n rounds; times[i] of both are of round i. The times may
 * be NULL if n is 0. */
struct figure_ratio figure_ratio(const struct figure *a, const struct figure *b, const double *a_ns,
                                 const double *b_ns, size_t n);

#endif
