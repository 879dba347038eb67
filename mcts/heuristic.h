/* Search heuristics: the plug-in interface, used by the built-in heuristics and by a user's shared object
 * alike.
 *
 * A heuristic walks down the tree: shown a node and its live children (struct mcts_view), `select` returns
 * one of them. At the edge of the tree rollout policies take over (mcts/policy.h); a heuristic only names
 * those that it uses by default, and may bring one of its own. On the command line both come together:
 *
 *     tag                                   the default
 *     uct:c=2,value=best                    another heuristic, with parameters
 *     tag:rollout=leaders+guess,draws=4     other rollout policies; parameters of policies stand beside
 *     ./mine.so:rollout=own+leaders         a plug-in with its own policy and a built-in one
 *
 * A plug-in is a `const struct mcts_plugin`: version and size first, then callbacks; it only ever grows at
 * its end, and plug-ins of earlier versions still load. A shared object exports one under the name
 * MCTS_PLUGIN_SYMBOL. The host allocates the plug-in's state (zeroed), writes the parameters into it, and
 * calls everything from one thread, one call at a time. A callback keeps no pointer into an argument after it
 * returns, takes no lock of the host and must not block. All times are in nanoseconds. A plug-in may call the
 * functions of mcts/view.h and those of core/space/space.h that take a const state. */
#ifndef THRESH_MCTS_HEURISTIC_H
#define THRESH_MCTS_HEURISTIC_H

#include "mcts/policy.h"

struct diag;

enum { MCTS_PLUGIN_ABI = 8 };
#define MCTS_PLUGIN_SYMBOL "thresh_heuristic"

struct mcts_plugin {
    uint32_t abi;         /* MCTS_PLUGIN_ABI */
    uint32_t struct_size; /* sizeof(struct mcts_plugin) */
    const char *name;
    size_t state_size; /* bytes */
    const struct mcts_parameter *parameters;
    uint32_t n_parameters;
    /* Finishes a state whose parameters are set. false: write the reason into error (n bytes). May be NULL.
     */
    bool (*create)(void *state, char *error, size_t n);
    void (*destroy)(void *state); /* frees what create() made, not the state; may be NULL */
    /* How many best times the tree keeps for each node, 1..4096. NULL: 1. */
    uint32_t (*kept)(const void *state);
    /* Picks a child: its index in view->children. *score gives the reason, for traces; it must not be NaN. */
    uint32_t (*select)(void *state, const struct mcts_view *view, double *score);
    /* Short for an `own` policy that only has these weights: finite, >= 0; all 0 means uniform. May be NULL.
     */
    void (*rollout)(void *state, const struct mcts_view *view, double *weights);
    /* Called with a result once for each node of the path, from the last to the root. May be NULL. */
    void (*backpropagate)(void *state, uint32_t node, uint32_t depth, struct mcts_outcome outcome);

    /* ---- since interface 2 ---- */

    /* The plug-in's rollout policy, `own`; its callbacks get the plug-in's state. Without a `weigh` of its
     * own it has the weights of `rollout`. NULL: none but those. */
    const struct mcts_policy *own;
    /* The policies without rollout=..., such as "own+leaders". NULL: "own" if there is one, else
     * MCTS_DEFAULT_POLICIES. */
    const char *policies;
};
#define MCTS_DEFAULT_POLICIES "prior+bound+leaders+guess"

/* ---- for the host ---- */

struct mcts_heuristic; /* a plug-in with its state, and its rollout policies */
struct mcts_policies;  /* mcts/policies.h */
struct mcts_guard;     /* mcts/guard.h */

/* "name" or "./file.so", then optionally ":key=value,key=value". NULL after adding errors. Keys are
 * `rollout`, the parameters of the heuristic, and those of its rollout policies. A shared object that crashes
 * in a callback from then on ends the process with a message that names both (mcts/guard.h); call all that
 * follows from the same thread. */
struct mcts_heuristic *mcts_heuristic_load(const char *spec, struct diag *d);
/* Whether that works, with errors if not. A shared object is tried in a child process, so that one that
 * crashes, exits or hangs when it is loaded is an error, too. Call it while this process has one thread. */
bool mcts_heuristic_try(const char *spec, struct diag *d);
/* The same as mcts_heuristic_load() for a plug-in in this process; `parameters` is "key=value,..." or "" and
 * `plugin` outlives the heuristic. `where` names it in errors about the plug-in itself. */
struct mcts_heuristic *mcts_heuristic_new(const struct mcts_plugin *plugin, const char *where,
                                          const char *parameters, struct diag *d);
void mcts_heuristic_free(struct mcts_heuristic *h); /* NULL is allowed */
/* For mcts/load.c. The library is closed after the heuristic; the guard watches its callbacks. Both are
 * owned. */
void mcts_heuristic_keep_library(struct mcts_heuristic *h, void *library);
void mcts_heuristic_guard(struct mcts_heuristic *h, struct mcts_guard *guard);

/* A line that follows the message of a crash: what became of the results. Copied. */
void mcts_heuristic_set_note(struct mcts_heuristic *h, const char *note);

/* The plug-in as the current interface has it: fields that its version lacks are NULL. */
const struct mcts_plugin *mcts_heuristic_plugin(const struct mcts_heuristic *h);
/* A built-in one: its state does not change during a search. */
bool mcts_heuristic_is_builtin(const struct mcts_heuristic *h);
struct mcts_policies *mcts_heuristic_policies(struct mcts_heuristic *h);
/* Whether select() reads view->weights: plug-ins of interface 1 do not know them. */
bool mcts_heuristic_wants_weights(const struct mcts_heuristic *h);
uint32_t mcts_heuristic_kept(const struct mcts_heuristic *h);
/* Checks what the plug-in returns; false after writing an error that names it into error (n bytes). */
bool mcts_heuristic_select(struct mcts_heuristic *h, const struct mcts_view *view, uint32_t *child,
                           char *error, size_t n);
void mcts_heuristic_backpropagate(struct mcts_heuristic *h, uint32_t node, uint32_t depth,
                                  struct mcts_outcome outcome);

/* The built-in plug-ins; NULL after the last. */
const struct mcts_plugin *mcts_builtin(size_t i);
/* The policies that a plug-in uses by default. */
const char *mcts_default_policies(const struct mcts_plugin *plugin);

extern const struct mcts_plugin mcts_plugin_tag, mcts_plugin_uct, mcts_plugin_random, mcts_plugin_bound,
    mcts_plugin_roundrobin;

#endif
