/* A list of policies with their states. The table of the built-in ones is here. */
#include "mcts/policies.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/similar.h"
#include "core/base/strbuf.h"
#include "mcts/guard.h"

static const struct mcts_policy *const BUILTIN[] = {
    &mcts_policy_prior, &mcts_policy_bound, &mcts_policy_leaders, &mcts_policy_guess, &mcts_policy_uniform};
enum { N_BUILTIN = sizeof BUILTIN / sizeof BUILTIN[0] };
_Static_assert((int)N_BUILTIN < (int)MCTS_POLICIES_MAX, "room for `own`");

const struct mcts_policy *mcts_policy_builtin(size_t i)
{
    return i < N_BUILTIN ? BUILTIN[i] : NULL;
}

/* No weights at all: all values are drawn alike. It stands for the empty list. */
const struct mcts_policy mcts_policy_uniform = {
    .abi = MCTS_PLUGIN_ABI,
    .struct_size = sizeof(struct mcts_policy),
    .name = "uniform",
    .help = "draw all possible values with the same probability",
};

/* A policy in use. */
struct entry {
    const struct mcts_policy *policy;
    void *state;
    bool is_own; /* the state is the plug-in's, and its callbacks are guarded */
};

struct mcts_policies {
    const char *heuristic; /* its name */
    struct entry list[MCTS_POLICIES_MAX];
    unsigned n;
    struct mcts_policy own; /* of the plug-in, completed; without a name: it has none */
    void *plugin_state;
    struct mcts_guard *guard;
    double *weights; /* scratch [weights_capacity] */
    uint32_t weights_capacity;
};

/* ---- reading the list ---- */

/* The plug-in's policy as the current interface has it. */
static struct mcts_policy own_policy(const struct mcts_plugin *plugin)
{
    struct mcts_policy own = {0};
    if (plugin->own) {
        size_t size = plugin->own->struct_size;
        memcpy(&own, plugin->own, size < sizeof own ? size : sizeof own);
    }
    if (!own.weigh) own.weigh = plugin->rollout;
    own.name = plugin->own || plugin->rollout ? "own" : NULL;
    return own;
}

static const struct mcts_policy *find_policy(const struct mcts_policies *p, const char *name)
{
    if (p->own.name && strcmp(name, p->own.name) == 0) return &p->own;
    for (size_t i = 0; i < N_BUILTIN; i++)
        if (strcmp(name, BUILTIN[i]->name) == 0) return BUILTIN[i];
    return NULL;
}

static void refuse_name(const struct mcts_policies *p, const char *name, struct diag *d)
{
    const char *known[N_BUILTIN + 1];
    size_t n = 0;
    struct strbuf list = {0};
    for (size_t i = 0; i < N_BUILTIN; i++)
        known[n++] = BUILTIN[i]->name;
    if (p->own.name) known[n++] = p->own.name;
    for (size_t i = 0; i < n; i++)
        strbuf_printf(&list, "%s%s", i ? ", " : "", known[i]);
    const char *similar = similar_find(name, known, n);
    if (strcmp(name, "own") == 0)
        diag_plain(d, "heuristic %s has no rollout policy 'own' (known: %s)", p->heuristic, list.text);
    else if (similar)
        diag_plain(d, "heuristic %s: unknown rollout policy '%s'; did you mean '%s'?", p->heuristic, name,
                   similar);
    else
        diag_plain(d, "heuristic %s: unknown rollout policy '%s' (known: %s)", p->heuristic, name, list.text);
    strbuf_free(&list);
}

static bool is_listed(const struct mcts_policies *p, const struct mcts_policy *policy)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->list[i].policy == policy) return true;
    return false;
}

static bool add(struct mcts_policies *p, const char *name, struct diag *d)
{
    const struct mcts_policy *policy = find_policy(p, name);
    if (!policy)
        refuse_name(p, name, d);
    else if (is_listed(p, policy))
        diag_plain(d, "heuristic %s: rollout policy '%s' is given twice", p->heuristic, name);
    if (!policy || is_listed(p, policy)) return false;
    bool is_own = policy == &p->own;
    void *state = is_own ? p->plugin_state : base_calloc(1, policy->state_size + 1);
    p->list[p->n++] = (struct entry){policy, state, is_own};
    const struct mcts_parameter_owner owner = {policy->name, policy->parameters, policy->n_parameters, state};
    if (!is_own) mcts_parameters_set_defaults(&owner);
    return true;
}

struct mcts_policies *mcts_policies_new(const struct mcts_plugin *plugin, void *state, const char *list,
                                        size_t n, struct diag *d)
{
    struct mcts_policies *p = base_calloc(1, sizeof *p);
    *p = (struct mcts_policies){.heuristic = plugin->name, .own = own_policy(plugin), .plugin_state = state};
    char *copy = base_malloc(n + 1), *name = copy;
    memcpy(copy, list, n);
    copy[n] = 0;
    bool valid = true;
    for (char *end; valid && name; name = end) {
        if ((end = strchr(name, '+'))) *end++ = 0;
        valid = add(p, name, d);
    }
    free(copy);
    if (valid) return p;
    mcts_policies_free(p);
    return NULL;
}

void mcts_policies_free(struct mcts_policies *p)
{
    if (!p) return;
    for (unsigned i = 0; i < p->n; i++)
        if (!p->list[i].is_own) free(p->list[i].state);
    free(p->weights);
    free(p);
}

bool mcts_policies_can_copy(const struct mcts_policies *p)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->list[i].is_own) return false;
    return true;
}

struct mcts_policies *mcts_policies_copy(const struct mcts_policies *p)
{
    struct mcts_policies *copy = base_malloc(sizeof *copy);
    *copy = *p;
    copy->weights = NULL;
    copy->weights_capacity = 0;
    for (unsigned i = 0; i < p->n; i++)
        copy->list[i].state = base_malloc(p->list[i].policy->state_size + 1);
    mcts_policies_copy_states(copy, p);
    return copy;
}

void mcts_policies_copy_states(struct mcts_policies *to, const struct mcts_policies *from)
{
    for (unsigned i = 0; i < from->n; i++)
        memcpy(to->list[i].state, from->list[i].state, from->list[i].policy->state_size);
}

static const struct {
    const struct mcts_policy *policy;
    void (*archive)(void *state, const struct space *s, struct archive *a);
} LEARNING[] = {{&mcts_policy_leaders, mcts_leaders_archive},
                {&mcts_policy_guess, mcts_guess_policy_archive}};

void mcts_policies_archive(struct mcts_policies *p, const struct space *s, struct archive *a)
{
    for (unsigned i = 0; i < p->n; i++)
        for (size_t k = 0; k < sizeof LEARNING / sizeof LEARNING[0]; k++)
            if (p->list[i].policy == LEARNING[k].policy) LEARNING[k].archive(p->list[i].state, s, a);
}

void mcts_policies_set_guard(struct mcts_policies *p, struct mcts_guard *g)
{
    p->guard = g;
}

size_t mcts_policies_owners(const struct mcts_policies *p, struct mcts_parameter_owner *out)
{
    for (size_t i = 0; i < N_BUILTIN; i++) {
        const struct mcts_policy *policy = BUILTIN[i];
        out[i] = (struct mcts_parameter_owner){policy->name, policy->parameters, policy->n_parameters, NULL};
        for (unsigned k = 0; k < p->n; k++)
            if (p->list[k].policy == policy) out[i].state = p->list[k].state;
    }
    return N_BUILTIN;
}

/* ---- calls ---- */

static void enter(const struct mcts_policies *p, const struct entry *e, const char *callback)
{
    if (e->is_own) mcts_guard_enter(p->guard, callback);
}

static void leave(const struct mcts_policies *p, const struct entry *e)
{
    if (e->is_own) mcts_guard_leave(p->guard);
}

void mcts_policies_begin(struct mcts_policies *p, const struct space *s)
{
    for (unsigned i = 0; i < p->n; i++) {
        const struct entry *e = &p->list[i];
        enter(p, e, "begin");
        if (e->policy->begin) e->policy->begin(e->state, s);
        leave(p, e);
    }
}

void mcts_policies_end(struct mcts_policies *p)
{
    for (unsigned i = 0; i < p->n; i++) {
        const struct entry *e = &p->list[i];
        enter(p, e, "end");
        if (e->policy->end) e->policy->end(e->state);
        leave(p, e);
    }
}

bool mcts_policies_start(struct mcts_policies *p, unsigned rollout, struct pcg32 *rng)
{
    bool from_root = false;
    for (unsigned i = 0; i < p->n; i++) {
        const struct entry *e = &p->list[i];
        enter(p, e, "start");
        if (e->policy->start && e->policy->start(e->state, rollout, rng)) from_root = true;
        leave(p, e);
    }
    return from_root;
}

bool mcts_policies_propose(struct mcts_policies *p, const struct mcts_choice *c, unsigned *next,
                           uint32_t *value)
{
    while (*next < p->n) {
        const struct entry *e = &p->list[(*next)++];
        if (!e->policy->propose) continue;
        enter(p, e, "propose");
        bool proposed = e->policy->propose(e->state, c, value);
        leave(p, e);
        if (proposed) return true;
    }
    return false;
}

static double *scratch(struct mcts_policies *p, uint32_t n)
{
    if (n > p->weights_capacity) {
        p->weights_capacity = n + 64;
        p->weights = base_realloc(p->weights, p->weights_capacity * sizeof p->weights[0]);
    }
    return p->weights;
}

static bool weights_valid(const struct mcts_policies *p, const struct entry *e, const double *weights,
                          uint32_t n_weights, char *error, size_t n)
{
    for (uint32_t i = 0; i < n_weights; i++) {
        if (isfinite(weights[i]) && weights[i] >= 0) continue;
        snprintf(error, n,
                 "heuristic %s: rollout policy %s: weight %g of child %u is not a finite number >= 0",
                 p->heuristic, e->policy->name, weights[i], i);
        return false;
    }
    return true;
}

bool mcts_policies_weigh(struct mcts_policies *p, const struct mcts_view *view, double *weights, char *error,
                         size_t n)
{
    double *factors = scratch(p, view->n_children);
    for (uint32_t i = 0; i < view->n_children; i++)
        weights[i] = 1;
    for (unsigned i = 0; i < p->n; i++) {
        const struct entry *e = &p->list[i];
        if (!e->policy->weigh) continue;
        enter(p, e, "weigh");
        e->policy->weigh(e->state, view, factors);
        leave(p, e);
        if (!weights_valid(p, e, factors, view->n_children, error, n)) return false;
        for (uint32_t k = 0; k < view->n_children; k++)
            weights[k] *= factors[k];
    }
    return true;
}

bool mcts_policies_monotone(const struct mcts_policies *p)
{
    for (unsigned i = 0; i < p->n; i++) {
        const struct mcts_policy *policy = p->list[i].policy;
        if (policy->weigh && policy != &mcts_policy_prior && policy != &mcts_policy_bound) return false;
    }
    return true;
}

typedef unsigned (*wish_function)(const void *state);

static wish_function wish_of(const struct mcts_policy *p, const char *callback)
{
    if (strcmp(callback, "draws") == 0) return p->draws;
    if (strcmp(callback, "redraws") == 0) return p->redraws;
    return strcmp(callback, "batch") == 0 ? p->batch : p->generations;
}

/* The largest that the policies wish, at least `most`. */
static unsigned largest_wish(const struct mcts_policies *p, const char *callback, unsigned most)
{
    for (unsigned i = 0; i < p->n; i++) {
        const struct entry *e = &p->list[i];
        wish_function wish = wish_of(e->policy, callback);
        if (!wish) continue;
        enter(p, e, callback);
        unsigned n = wish(e->state);
        leave(p, e);
        if (n > most) most = n;
    }
    return most;
}

unsigned mcts_policies_draws(const struct mcts_policies *p)
{
    unsigned most = largest_wish(p, "draws", 1);
    return most < MCTS_DRAWS_MAX ? most : MCTS_DRAWS_MAX;
}

unsigned mcts_policies_generations(const struct mcts_policies *p)
{
    return largest_wish(p, "generations", 1);
}

unsigned mcts_policies_batch(const struct mcts_policies *p)
{
    unsigned most = largest_wish(p, "batch", 1);
    return most < MCTS_BATCH_MAX ? most : MCTS_BATCH_MAX;
}

unsigned mcts_policies_redraws(const struct mcts_policies *p)
{
    return largest_wish(p, "redraws", 0);
}

bool mcts_policies_thrift(const struct mcts_policies *p, double *thrift, char *error, size_t n)
{
    *thrift = 0;
    for (unsigned i = 0; i < p->n; i++) {
        const struct entry *e = &p->list[i];
        if (!e->policy->thrift) continue;
        enter(p, e, "thrift");
        double own = e->policy->thrift(e->state);
        leave(p, e);
        if (!isfinite(own) || own < 0) {
            snprintf(error, n, "heuristic %s: rollout policy %s: thrift %g is not a finite number >= 0",
                     p->heuristic, e->policy->name, own);
            return false;
        }
        *thrift = fmax(*thrift, own);
    }
    return true;
}

void mcts_policies_drawn(struct mcts_policies *p, const struct mcts_leaf *leaves, const double *ranks,
                         unsigned n)
{
    for (unsigned i = 0; i < p->n; i++) {
        const struct entry *e = &p->list[i];
        if (!e->policy->drawn) continue;
        enter(p, e, "drawn");
        e->policy->drawn(e->state, leaves, ranks, n);
        leave(p, e);
    }
}

static void rank_leaves(const struct entry *e, const struct mcts_leaf *leaves, unsigned n, double *ranks)
{
    enum { LONGER_LEAVES = 4 }; /* the interface in which struct mcts_leaf has grown */
    unsigned together = e->policy->abi < LONGER_LEAVES ? 1 : n;
    for (unsigned i = 0; e->policy->rank_all && i < n; i += together)
        e->policy->rank_all(e->state, &leaves[i], together, &ranks[i]);
    for (unsigned i = 0; !e->policy->rank_all && i < n; i++)
        ranks[i] = e->policy->rank(e->state, &leaves[i]);
}

bool mcts_policies_rank(struct mcts_policies *p, const struct mcts_leaf *leaves, unsigned n_leaves,
                        double *sums, char *error, size_t n)
{
    double ranks[MCTS_DRAWS_MAX];
    memset(sums, 0, n_leaves * sizeof sums[0]);
    for (unsigned i = 0; i < p->n; i++) {
        const struct entry *e = &p->list[i];
        if (!e->policy->rank && !e->policy->rank_all) continue;
        enter(p, e, "rank");
        rank_leaves(e, leaves, n_leaves, ranks);
        leave(p, e);
        for (unsigned k = 0; k < n_leaves; k++) {
            sums[k] += ranks[k];
            if (!isnan(sums[k])) continue;
            snprintf(error, n, "heuristic %s: rollout policy %s: the rank of an implementation is %g",
                     p->heuristic, e->policy->name, ranks[k]);
            return false;
        }
    }
    return true;
}

bool mcts_policies_learning(const struct mcts_policies *p)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->list[i].policy->learn || p->list[i].policy->handed_out) return true;
    return false;
}

void mcts_policies_handed_out(struct mcts_policies *p, const struct mcts_leaf *leaf)
{
    for (unsigned i = 0; i < p->n; i++) {
        const struct entry *e = &p->list[i];
        if (!e->policy->handed_out) continue;
        enter(p, e, "handed_out");
        e->policy->handed_out(e->state, leaf);
        leave(p, e);
    }
}

void mcts_policies_learn(struct mcts_policies *p, const struct mcts_leaf *leaf, struct mcts_outcome outcome)
{
    for (unsigned i = 0; i < p->n; i++) {
        const struct entry *e = &p->list[i];
        if (!e->policy->learn) continue;
        enter(p, e, "learn");
        e->policy->learn(e->state, leaf, outcome);
        leave(p, e);
    }
}
