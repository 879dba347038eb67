/* A plug-in with its state and rollout policies, and safe calls of it.
 *
 * What a plug-in declares is checked once, when the heuristic is made. What it returns is checked at each
 * call: a faulty plug-in ends the search with an error that names it, and never corrupts the tree. */
#include "mcts/heuristic.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "mcts/guard.h"
#include "mcts/policies.h"

enum { KEPT_MAX = 4096, STATE_MAX = 1 << 24 };

/* The size of struct mcts_plugin in interface 1. */
static const size_t SIZE_1 = offsetof(struct mcts_plugin, own);

struct mcts_heuristic {
    struct mcts_plugin plugin; /* as the current interface has it */
    void *state;
    struct mcts_policies *policies;
    void *library;            /* of dlopen(), or NULL */
    struct mcts_guard *guard; /* of a shared object that is used, or NULL */
};

/* ---- checking a plug-in ---- */

static size_t least_size(uint32_t abi)
{
    return abi == 1 ? SIZE_1 : sizeof(struct mcts_plugin);
}

static size_t least_policy_size(uint32_t abi)
{
    if (abi == 2) return offsetof(struct mcts_policy, rank_all);
    if (abi < 5) return offsetof(struct mcts_policy, generations);
    if (abi < 6) return offsetof(struct mcts_policy, batch);
    if (abi < 7) return offsetof(struct mcts_policy, redraws);
    return abi < 8 ? offsetof(struct mcts_policy, thrift) : sizeof(struct mcts_policy);
}

static bool own_valid(const struct mcts_policy *own)
{
    return !own ||
           (own->abi >= 2 && own->abi <= MCTS_PLUGIN_ABI && own->struct_size >= least_policy_size(own->abi) &&
            own->state_size == 0 && own->n_parameters == 0);
}

/* `where` names the plug-in before its own name can be trusted. */
static bool plugin_valid(const struct mcts_plugin *plugin, const char *where, struct diag *d)
{
    if (plugin->abi < 1 || plugin->abi > MCTS_PLUGIN_ABI)
        diag_plain(
            d,
            "heuristic %s: the plug-in has interface version %u, this version of thresh supports 1 to %d: "
            "compile it again",
            where, plugin->abi, MCTS_PLUGIN_ABI);
    else if (plugin->struct_size < least_size(plugin->abi))
        diag_plain(d, "heuristic %s: struct_size is %u, must be at least %zu", where, plugin->struct_size,
                   least_size(plugin->abi));
    else if (!plugin->name || !plugin->select)
        diag_plain(d, "heuristic %s: the plug-in has no name or no select()", where);
    else if (plugin->state_size > STATE_MAX ||
             !mcts_parameters_valid(plugin->parameters, plugin->n_parameters, plugin->state_size))
        diag_plain(d, "heuristic %s: state_size or the offset of a parameter is out of range", where);
    else if (plugin->abi > 1 && !own_valid(plugin->own))
        diag_plain(
            d,
            "heuristic %s: the policy 'own' must have a supported interface version and struct_size, and no "
            "state or parameters",
            where);
    else
        return true;
    return false;
}

/* ---- making a heuristic ---- */

const char *mcts_default_policies(const struct mcts_plugin *plugin)
{
    if (plugin->policies) return plugin->policies;
    return plugin->own || plugin->rollout ? "own" : MCTS_DEFAULT_POLICIES;
}

/* `rollout` may be a parameter of the plug-in: one of interface 1 did not know the host's. */
static bool has_rollout_parameter(const struct mcts_plugin *plugin)
{
    for (uint32_t i = 0; i < plugin->n_parameters; i++)
        if (strcmp(plugin->parameters[i].key, "rollout") == 0) return true;
    return false;
}

static struct mcts_policies *make_policies(const struct mcts_heuristic *h, const char *parameters,
                                           struct diag *d)
{
    const char *list = mcts_default_policies(&h->plugin);
    size_t n = strlen(list);
    const char *given =
        has_rollout_parameter(&h->plugin) ? NULL : mcts_parameter_text(parameters, "rollout", &n);
    return mcts_policies_new(&h->plugin, h->state, given ? given : list, n, d);
}

static void set_parameters(struct mcts_heuristic *h, const char *parameters, struct diag *d)
{
    struct mcts_parameter_owner owners[1 + MCTS_POLICIES_MAX];
    owners[0] =
        (struct mcts_parameter_owner){h->plugin.name, h->plugin.parameters, h->plugin.n_parameters, h->state};
    size_t n = 1 + mcts_policies_owners(h->policies, owners + 1);
    mcts_parameters_set_defaults(&owners[0]);
    mcts_parameters_set(h->plugin.name, owners, n, parameters, d);
}

static bool create_state(struct mcts_heuristic *h, struct diag *d)
{
    char error[256] = "";
    const struct mcts_plugin *plugin = &h->plugin;
    if (plugin->create && !plugin->create(h->state, error, sizeof error)) {
        diag_plain(d, "heuristic %s: %s", plugin->name, error[0] ? error : "create() failed");
        return false;
    }
    uint32_t kept = plugin->kept ? plugin->kept(h->state) : 1;
    if (kept >= 1 && kept <= KEPT_MAX) return true;
    diag_plain(d, "heuristic %s: kept() is %u, must be 1 to %d", plugin->name, kept, KEPT_MAX);
    if (plugin->destroy) plugin->destroy(h->state);
    return false;
}

struct mcts_heuristic *mcts_heuristic_new(const struct mcts_plugin *plugin, const char *where,
                                          const char *parameters, struct diag *d)
{
    if (!plugin_valid(plugin, where, d)) return NULL;
    struct mcts_heuristic *h = base_calloc(1, sizeof *h);
    memcpy(&h->plugin, plugin, least_size(plugin->abi));
    h->state = base_calloc(1, plugin->state_size + 1);
    size_t errors = diag_count(d);
    h->policies = make_policies(h, parameters, d);
    if (h->policies) set_parameters(h, parameters, d);
    if (diag_count(d) == errors && create_state(h, d)) return h;
    mcts_policies_free(h->policies);
    free(h->state);
    free(h);
    return NULL;
}

void mcts_heuristic_keep_library(struct mcts_heuristic *h, void *library)
{
    h->library = library;
}

void mcts_heuristic_guard(struct mcts_heuristic *h, struct mcts_guard *guard)
{
    h->guard = guard;
    mcts_policies_set_guard(h->policies, guard);
}

void mcts_heuristic_free(struct mcts_heuristic *h)
{
    if (!h) return;
    mcts_guard_enter(h->guard, "destroy");
    if (h->plugin.destroy) h->plugin.destroy(h->state);
    mcts_guard_leave(h->guard);
    mcts_guard_free(h->guard);
    mcts_policies_free(h->policies);
    free(h->state);
    if (h->library) dlclose(h->library);
    free(h);
}

/* ---- checked calls ---- */

const struct mcts_plugin *mcts_heuristic_plugin(const struct mcts_heuristic *h)
{
    return &h->plugin;
}

bool mcts_heuristic_is_builtin(const struct mcts_heuristic *h)
{
    for (size_t i = 0; mcts_builtin(i); i++)
        if (h->plugin.select == mcts_builtin(i)->select) return true;
    return false;
}

struct mcts_policies *mcts_heuristic_policies(struct mcts_heuristic *h)
{
    return h->policies;
}

bool mcts_heuristic_wants_weights(const struct mcts_heuristic *h)
{
    return h->plugin.abi >= 2;
}

void mcts_heuristic_set_note(struct mcts_heuristic *h, const char *note)
{
    mcts_guard_set_note(h->guard, note);
}

uint32_t mcts_heuristic_kept(const struct mcts_heuristic *h)
{
    mcts_guard_enter(h->guard, "kept");
    uint32_t kept = h->plugin.kept ? h->plugin.kept(h->state) : 1;
    mcts_guard_leave(h->guard);
    return kept;
}

bool mcts_heuristic_select(struct mcts_heuristic *h, const struct mcts_view *view, uint32_t *child,
                           char *error, size_t n)
{
    double score = 0;
    mcts_guard_enter(h->guard, "select");
    *child = h->plugin.select(h->state, view, &score);
    mcts_guard_leave(h->guard);
    if (*child >= view->n_children)
        snprintf(error, n, "heuristic %s: selected child %u of %u live ones", h->plugin.name, *child,
                 view->n_children);
    else if (isnan(score))
        snprintf(error, n, "heuristic %s: score of child %u is not a number", h->plugin.name, *child);
    else
        return true;
    return false;
}

void mcts_heuristic_backpropagate(struct mcts_heuristic *h, uint32_t node, uint32_t depth,
                                  struct mcts_outcome outcome)
{
    if (!h->plugin.backpropagate) return;
    mcts_guard_enter(h->guard, "backpropagate");
    h->plugin.backpropagate(h->state, node, depth, outcome);
    mcts_guard_leave(h->guard);
}
