/* The guess behind mcts/guess.h, for its own files: guess.c (what is learnt), guess_mean.c (the
 * mean, and the limit of times) and guess_promise.c. */
#ifndef THRESH_MCTS_GUESS_STATE_H
#define THRESH_MCTS_GUESS_STATE_H

#include <stdbool.h>

#include "mcts/factor.h"
#include "mcts/guess.h"
#include "mcts/policy.h"
#include "mcts/recents.h"
#include "mcts/scales.h"

/* As many are awaited at most: of more, the newest. */
enum { AWAITED = 32 };

/* The features and the values are the key in recents. */
struct mcts_traits {
    double bound; /* logarithm; 0 if there is none */
    uint64_t n_features;
    double features[MCTS_FEATURES_MAX];
    uint16_t values[];
};

struct measurement {
    double bound, time; /* logarithms; time INFINITY: stopped as too slow */
    double estimate;    /* logarithm; 0 if there is none */
};

/* L^-1 v, for the parts v of y - mean, and for the stops; [capacity] each. */
struct whitened {
    double *times, *ones, *bounds, *estimates, *stops;
    double *rest;     /* of y - mean: times - level ones - slope (bounds - middle ones) - ... */
    double *stopping; /* of stops - share: stops - share ones */
    size_t n_times;   /* rows that `times` has, */
    double limited;   /* by this limit */
    size_t n;         /* rows that ones, bounds, estimates and stops have */
};

/* Handed out, without a result yet. */
struct awaited {
    struct mcts_traits *traits;
    float *x; /* [capacity] of its x, the first `known` elements; they belong to measurements */
    size_t known;
};

struct mcts_guess {
    uint32_t *slots, n_slots; /* the choices whose values are traits */
    uint32_t stride;          /* values of an implementation: n_slots and zeros, a multiple of STRIDE */
    size_t count, capacity;   /* measurements */
    struct measurement *list;
    uint16_t *values; /* [capacity + AWAITED][stride]; after those of the measurements, of what is awaited */
    double *features; /* [capacity + AWAITED][MCTS_FEATURES_MAX] */
    uint64_t n_features;
    struct awaited awaited[AWAITED]; /* the oldest first */
    unsigned n_awaited;
    struct factor *factor; /* of the measurements and, once solved, of what is awaited */
    struct recents *recents;
    struct whitened whitened;
    struct mcts_scales *scales;  /* correlations; NULL: there are more than FEW choices, */
    double *correlations;        /* then [n_slots + 1] of implementations that differ in so many traits */
    size_t fitted;               /* measurements at the last fit of the scales */
    double level, slope, middle; /* the mean: level + slope * (bound - middle) */
    double pace, center;         /* + pace * (estimate - center) */
    double variance;             /* of the process */
    double share;                /* of the measurements that were stopped */
    double slow;                 /* logarithm: the limit is best + slow at most */
    double best;                 /* logarithm; INFINITY before anything was learnt */
    double fastest;              /* the share of the measurements that are not later than the limit */
    double limit;                /* logarithm: later times count as that; set when solved */
    bool solved; /* the rest, mean and variance include all measurements, the factor what is awaited, too */
};

/* Variance of a measurement beside that of the process, in units of it. */
double guess_noise(const struct mcts_guess *g);
/* Correlation of an implementation with row i: a measurement, or one that is awaited. */
double guess_likeness(const struct mcts_guess *g, const struct mcts_traits *t, size_t i);
/* The logarithm of the estimated time; 0: there is none. */
double guess_estimate(const struct mcts_traits *t);
/* The logarithm of a measured time, of `slow` times the best at most; of the limit at most. */
double guess_bounded_time(const struct mcts_guess *g, size_t i);
double guess_limited_time(const struct mcts_guess *g, size_t i);
/* Sets the limit and the mean by what was measured, at least once. */
void guess_fit_mean(struct mcts_guess *g);
/* Expected logarithm of a time before anything is known of similar implementations. */
double guess_mean(const struct mcts_guess *g, double bound, double estimate);

#endif
