/* A pool of recorded evaluations of a Lift program.
 *
 *     row of a store    actions "12=3 14=0"    -> replayed, so that propagation sets all other choices
 *
 * All choices with at most one argument are kept, since the policy `guess` compares implementations by their
 * share of differing ones; of the others (nearly all of them orders of two statements), those that are
 * decided by no choice that is kept. Lower bounds are computed from the device's description. Rows of
 * contenders (naive, plain) are implementations as others, and the best of them is the time that a search
 * knows before it draws. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/bounding.h"
#include "coordinator/decided.h"
#include "coordinator/guidance.h"
#include "coordinator/limits.h"
#include "coordinator/recorded.h"
#include "coordinator/store.h"
#include "core/base/arena.h"
#include "core/base/strbuf.h"
#include "experiments/search/gather.h"
#include "experiments/search/make_pool.h"

struct joining {
    struct cli_args args; /* as if thresh were called with them */
    struct diag *diag;
    struct problem *problem; /* of the first run */
    struct device device;
    struct perfmodel *model; /* NULL: not known */
    struct decided *decided;
    struct gather *gather;
    char *title, *device_name;
    uint64_t fingerprint;
    double known_ns;
    size_t refused; /* rows of other programs, sizes or devices */
};

/* ---- runs ---- */

static void open_model(struct joining *j)
{
    struct diag *d = diag_new();
    j->model = cli_model(&j->args, j->problem, &j->device, d);
    if (!j->model) fprintf(stderr, "note: no lower bounds: %s\n", diag_message(d, 0));
    diag_free(d);
}

static bool open_first(struct joining *j, const struct store_run *run)
{
    struct strbuf title = {0};
    const char *slash = strrchr(run->path, '/'), *name = slash ? slash + 1 : run->path;
    j->problem = cli_run_problem(&j->args, run, &j->device, j->diag);
    if (!j->problem) return false;
    j->fingerprint = run->fingerprint;
    j->device_name = base_strdup(run->device);
    j->decided = decided_new(j->problem);
    j->gather = gather_new(space_slot_count(j->problem->space), ESTIMATE_FEATURES);
    strbuf_printf(&title, "%s %s on %s", name, run->sizes, run->device);
    j->title = strbuf_take(&title);
    open_model(j);
    return true;
}

/* Whether the rows of a run belong to the pool: of the same problem, and measured. */
static bool belongs(struct joining *j, const struct store_run *run)
{
    if (strstr(run->settings, RECORDED_SETTING)) return false;
    return run->fingerprint == j->fingerprint && strcmp(run->device, j->device_name) == 0;
}

/* ---- rows ---- */

/* false: what happened says nothing about the implementation. */
static bool status_of(const char *status, struct gather_result *r)
{
    if (strcmp(status, "device_lost") == 0) return false;
    r->duplicate = strcmp(status, "duplicate") == 0;
    r->status = strcmp(status, "ok") == 0          ? POOL_OK
                : strcmp(status, "cut") == 0       ? POOL_CUT
                : strcmp(status, "oversized") == 0 ? POOL_OVERSIZED
                                                   : POOL_FAILED;
    return true;
}

/* What is known of an implementation before it runs: lower bound and features. */
static void describe(struct joining *j, const char *actions, double *bound, double *features)
{
    struct space_action *list;
    const char *why;
    size_t n;
    *bound = 0;
    estimate_none(features);
    if (!store_actions_parse(actions, &list, &n)) return;
    struct space_state *leaf = problem_replay(j->problem, list, n, &why);
    if (leaf && j->model) *bound = perfmodel_bound(j->model, leaf, NULL);
    if (leaf) guidance_features(j->problem, &j->device, leaf, features);
    space_state_free(leaf);
    free(list);
    if (!isfinite(*bound)) *bound = 0;
}

static bool take_row(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct joining *j = context;
    double features[ESTIMATE_FEATURES];
    struct gather_result r = {.time_ns = e->median_ns, .kernel = e->kernel_hash, .features = features};
    uint32_t n;
    if (!j->problem && !open_first(j, run)) return false;
    bool own = store_is_baseline(e->number) || !belongs(j, run);
    const uint16_t *values = own ? NULL : decided_values(j->decided, e, &n);
    j->refused += !values;
    if (!values || !status_of(e->status, &r)) return true;
    describe(j, e->actions, &r.bound_ns, features);
    gather_add(j->gather, values, r);
    if (e->number <= 0 && r.status == POOL_OK) j->known_ns = fmin(j->known_ns, r.time_ns);
    return true;
}

/* ---- the pool ---- */

static void add_choice(struct pool *p, const struct space *s, uint32_t slot)
{
    char name[CLI_NAME_BYTES];
    space_slot_name(s, slot, name, sizeof name);
    bool known = pool_add_choice(p, name);
    struct pool_choice *c = &p->choices[p->n_choices - 1];
    for (uint32_t v = 0; known && v < space_universe(s, slot); v++) {
        space_value_name(s, slot, v, name, sizeof name);
        pool_add_value(p, c, name, space_value_code(s, slot, v));
    }
}

static void add_facts(struct pool *p, const struct joining *j)
{
    struct mcts_fact facts[GUIDANCE_FACTS];
    guidance_facts(j->problem, &j->device, facts);
    for (unsigned i = 0; i < GUIDANCE_FACTS; i++)
        pool_add_fact(p, facts[i].name, facts[i].value);
}

/* The choices of the pool, ascending; returns how many. */
static size_t choose(const struct joining *j, uint32_t *kept)
{
    const struct space *s = j->problem->space;
    uint32_t slots = space_slot_count(s);
    uint64_t *divisions = base_malloc((slots + 1) * sizeof *divisions);
    size_t n = 0;
    for (uint32_t slot = 0; slot < slots; slot++)
        divisions[slot] = gather_division(j->gather, slot);
    for (uint32_t slot = 0; slot < slots; slot++) {
        bool decided = false;
        for (uint32_t i = 0; !decided && i < slots; i++)
            decided =
                divisions[i] == divisions[slot] && (i < slot || space_slot_arity(s, i) <= 1) && i != slot;
        if (space_slot_arity(s, slot) <= 1 || !decided) kept[n++] = slot;
    }
    free(divisions);
    return n;
}

static struct pool *pool_of(struct joining *j)
{
    const struct space *s = j->problem->space;
    struct pool *p = pool_new();
    uint32_t slots = space_slot_count(s), *kept = base_malloc((slots + 1) * sizeof *kept);
    size_t n;
    p->title = arena_strdup(p->arena, j->title);
    p->cut_factor = LIMIT_CUT_FACTOR;
    p->least_ns = LIMIT_LEAST_NS;
    p->known_ns = isfinite(j->known_ns) ? j->known_ns : 0;
    add_facts(p, j);
    for (unsigned g = 0; g < space_group_count(s); g++)
        pool_add_group(p, space_group_name(s, g));
    n = choose(j, kept);
    for (size_t i = 0; i < n; i++)
        add_choice(p, s, kept[i]);
    gather_finish(j->gather, kept, n, p);
    free(kept);
    return p;
}

static void close_joining(struct joining *j)
{
    gather_free(j->gather);
    decided_free(j->decided);
    perfmodel_free(j->model);
    problem_free(j->problem);
    free(j->title);
    free(j->device_name);
}

struct pool *make_pool_of_stores(char **paths, unsigned n, const char *description, struct diag *d)
{
    struct joining j = {.diag = d, .known_ns = INFINITY};
    struct pool *p = NULL;
    bool ok = true;
    j.args.value[CLI_DESCRIPTION] = description;
    for (unsigned i = 0; ok && i < n; i++) {
        struct store *s = store_open_to_read(paths[i], d);
        ok = s && store_each(s, 0, take_row, &j, d) && !diag_failed(d);
        store_close(s);
    }
    if (ok && !j.problem) diag_plain(d, "%s: no evaluation", paths[0]);
    if (ok && j.problem) p = pool_of(&j);
    if (j.refused)
        fprintf(stderr, "note: %zu rows are of another program, size or device, or have no decisions\n",
                j.refused);
    close_joining(&j);
    return p;
}
