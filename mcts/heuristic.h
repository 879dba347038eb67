/* Search heuristics: the one plug-in interface, used by the built-in ones and by a user's shared object
 * alike.
 *
 * A plug-in is a `const struct mcts_plugin`: version and size first, then callbacks; it only ever grows at
 * its end. A shared object exports one under the name MCTS_PLUGIN_SYMBOL and is named on the command line as
 * "./mine.so:key=value,key=value". The host allocates the plug-in's state (zeroed), parses the parameters
 * into it, and calls everything from one thread, one call at a time; a callback keeps no pointer into a view
 * after it returns, takes no lock of the host and must not block. All times are in nanoseconds. A plug-in may
 * call the functions of this header and of core/space/space.h that take a const state. */
#ifndef THRESH_MCTS_HEURISTIC_H
#define THRESH_MCTS_HEURISTIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/space/space.h"

struct diag;
struct pcg32;

enum { MCTS_PLUGIN_ABI = 1 };
#define MCTS_PLUGIN_SYMBOL "thresh_heuristic"
#define MCTS_NO_NODE UINT32_MAX

/* A live child of the node under decision. */
struct mcts_child {
    uint32_t node;              /* its number in the tree; MCTS_NO_NODE in a rollout */
    struct space_action action; /* what leads to it */
    double bound;               /* lower bound, ns; 0: no model */
    double prior;               /* declared weight of the action, 1 by default */
    uint64_t visits;            /* descents through it, those whose result is awaited included */
    uint64_t times;             /* recorded times below it */
    double time_sum;            /* their sum, ns */
    const double *best;         /* the smallest of them, ascending, ns */
    uint32_t n_best;            /* how many are kept: min(times, kept()) */
};

/* A node and its live children, by ascending value. */
struct mcts_view {
    uint32_t node;                   /* its number; MCTS_NO_NODE in a rollout */
    uint32_t depth;                  /* branchings above it */
    const struct space_state *state; /* its candidate */
    const struct mcts_child *children;
    uint32_t n_children; /* >= 1 */
    double best_time;    /* best time known to the search, ns; INFINITY: none yet */
    double cut;          /* children with a bound at or above it are dead; INFINITY: none */
    struct pcg32 *rng;   /* the search's generator: the only randomness a plug-in may use */
};

enum mcts_outcome_kind {
    MCTS_TIMED,     /* the first evaluation of a distinct kernel: it has a time */
    MCTS_FAILED,    /* no time: did not build, run or verify */
    MCTS_CUT,       /* its measurement was given up as slower than the cut */
    MCTS_DUPLICATE, /* the same kernel text as an earlier evaluation */
};
struct mcts_outcome {
    enum mcts_outcome_kind kind;
    double time; /* ns, > 0; read if kind is MCTS_TIMED */
};

/* A parameter: a double at `offset` in the state, set by the host before create(). */
struct mcts_parameter {
    const char *key, *help;
    size_t offset;      /* bytes */
    double value;       /* the default */
    double least, most; /* accepted range */
    const char *words;  /* "mean|best": the value is the word's number; NULL: the value is a number */
};

struct mcts_plugin {
    uint32_t abi;         /* MCTS_PLUGIN_ABI */
    uint32_t struct_size; /* sizeof(struct mcts_plugin) */
    const char *name;
    size_t state_size; /* bytes */
    const struct mcts_parameter *parameters;
    uint32_t n_parameters;
    /* Finishes a state whose parameters are set. false: write why into error (n bytes). May be NULL. */
    bool (*create)(void *state, char *error, size_t n);
    void (*destroy)(void *state); /* frees what create() made, not the state; may be NULL */
    /* How many best times the tree keeps for each node, 1..4096. NULL: 1. */
    uint32_t (*kept)(const void *state);
    /* Picks a child: its index in view->children. *score says why, for traces; it must not be NaN. */
    uint32_t (*select)(void *state, const struct mcts_view *view, double *score);
    /* Weights of the children in a rollout: finite, >= 0; all 0 means uniform. NULL: mcts_default_weights().
     */
    void (*rollout)(void *state, const struct mcts_view *view, double *weights);
    /* Hears of a result once for each node of the path, from the last to the root. May be NULL. */
    void (*backpropagate)(void *state, uint32_t node, uint32_t depth, struct mcts_outcome outcome);
};

/* ---- for plug-ins ---- */

/* max(T - b_i, 0) for the best time T, times the prior. With no T yet: 1 if no child has a bound, else
 * 1 + 10 b_max / max(b_i, b_max / 1000), times the prior. */
void mcts_default_weights(const struct mcts_view *view, double *weights);
/* Draws i with probability weights[i] / sum; uniform if the sum is 0. */
uint32_t mcts_draw(struct pcg32 *rng, const double *weights, uint32_t n);
/* Progressive widening: while fewer than widen * sqrt(visits) children of the node were visited, and at the
 * first visit, draws one of the others by mcts_default_weights(), with an infinite score. false: the visited
 * ones are enough for now. R. Coulom, "Computing Elo ratings of move patterns in the game of Go", 2007. */
bool mcts_open_child(const struct mcts_view *view, double widen, uint32_t *child, double *score);

/* ---- for the host ---- */

struct mcts_heuristic; /* a plug-in with its state */

/* "name" or "./file.so", then optionally ":key=value,key=value". NULL after adding errors. A shared object
 * that crashes in a callback from then on ends the process with a message that names both (mcts/guard.h);
 * call all that follows from the same thread. */
struct mcts_heuristic *mcts_heuristic_load(const char *spec, struct diag *d);
/* Whether that works, with errors if not. A shared object is tried in a child process, so that one that
 * crashes, exits or hangs when it is loaded is an error, too. Call it while this process has one thread. */
bool mcts_heuristic_try(const char *spec, struct diag *d);
/* The same as mcts_heuristic_load() for a plug-in in this process; `parameters` is "key=value,..." or "" and
 * `plugin` outlives the heuristic. */
struct mcts_heuristic *mcts_heuristic_new(const struct mcts_plugin *plugin, const char *parameters,
                                          struct diag *d);
void mcts_heuristic_free(struct mcts_heuristic *h); /* NULL is allowed */

/* A line that follows the message of a crash: what became of the results. Copied. */
void mcts_heuristic_set_note(struct mcts_heuristic *h, const char *note);

const struct mcts_plugin *mcts_heuristic_plugin(const struct mcts_heuristic *h);
const char *mcts_heuristic_name(const struct mcts_heuristic *h);
bool mcts_heuristic_default_rollouts(const struct mcts_heuristic *h); /* rollouts are left to the host */
uint32_t mcts_heuristic_kept(const struct mcts_heuristic *h);
/* The calls below check what the plug-in returns; false after writing an error that names it into error (n
 * bytes). */
bool mcts_heuristic_select(struct mcts_heuristic *h, const struct mcts_view *view, uint32_t *child,
                           char *error, size_t n);
bool mcts_heuristic_rollout(struct mcts_heuristic *h, const struct mcts_view *view, double *weights,
                            char *error, size_t n);
void mcts_heuristic_backpropagate(struct mcts_heuristic *h, uint32_t node, uint32_t depth,
                                  struct mcts_outcome outcome);

/* The built-in plug-ins; NULL after the last. */
const struct mcts_plugin *mcts_builtin(size_t i);

extern const struct mcts_plugin mcts_plugin_tag, mcts_plugin_uct, mcts_plugin_random, mcts_plugin_bound,
    mcts_plugin_roundrobin;

#endif
