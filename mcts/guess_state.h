/* The guess behind mcts/guess.h, for its own files: guess.c (what is learnt, and the mean) and
 * guess_promise.c. */
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
    size_t n;         /* rows that the four have */
    double limited;   /* the best time by which `times` are limited */
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
    double slow;                 /* logarithm: later times than best + slow count as that */
    double best;                 /* logarithm; INFINITY before anything was learnt */
    bool solved; /* the rest, mean and variance include all measurements, the factor what is awaited, too */
};

/* Variance of a measurement beside that of the process, in units of it. */
double guess_noise(const struct mcts_guess *g);
/* Correlation of an implementation with row i: a measurement, or one that is awaited. */
double guess_likeness(const struct mcts_guess *g, const struct mcts_traits *t, size_t i);
/* The logarithm of the estimated time; 0: there is none. */
double guess_estimate(const struct mcts_traits *t);
/* Expected logarithm of a time before anything is known of similar implementations. */
double guess_mean(const struct mcts_guess *g, double bound, double estimate);

#endif
