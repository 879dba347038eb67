/* Loading heuristics and calling them safely.
 *
 * A specification is a name of the built-in table or a path (it holds a '/' or ends in ".so"), and
 * parameters. Whether a shared object can be loaded at all is tried in a child process. What a plug-in
 * declares is checked once, when it is loaded; what it returns is checked at each call, so that a faulty one
 * ends the search with an error that names it and never corrupts the tree. */
#include "mcts/heuristic.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "core/base/similar.h"
#include "core/base/strbuf.h"
#include "mcts/guard.h"

enum { KEPT_MAX = 4096, STATE_MAX = 1 << 24, TRY_SECONDS = 10 };

struct mcts_heuristic {
    const struct mcts_plugin *plugin;
    void *state;
    void *library;            /* of dlopen(), or NULL */
    struct mcts_guard *guard; /* of a shared object that is used, or NULL */
};

static const struct mcts_plugin *const BUILTIN[] = {&mcts_plugin_tag, &mcts_plugin_uct, &mcts_plugin_random,
                                                    &mcts_plugin_bound, &mcts_plugin_roundrobin};

const struct mcts_plugin *mcts_builtin(size_t i)
{
    return i < sizeof BUILTIN / sizeof BUILTIN[0] ? BUILTIN[i] : NULL;
}

/* ---- parameters ---- */

static double *parameter_place(void *state, const struct mcts_parameter *p)
{
    return (double *)(void *)((char *)state + p->offset);
}

static const struct mcts_parameter *find_parameter(const struct mcts_plugin *plugin, const char *key,
                                                   size_t length)
{
    for (uint32_t i = 0; i < plugin->n_parameters; i++) {
        const char *name = plugin->parameters[i].key;
        if (strlen(name) == length && memcmp(name, key, length) == 0) return &plugin->parameters[i];
    }
    return NULL;
}

static bool parse_word(const char *words, const char *text, size_t length, double *value)
{
    for (unsigned i = 0;; i++) {
        size_t n = strcspn(words, "|");
        if (n == length && memcmp(words, text, n) == 0) {
            *value = i;
            return true;
        }
        if (words[n] == 0) return false;
        words += n + 1;
    }
}

static bool parse_number(const char *text, size_t length, double *value)
{
    char copy[64];
    if (length == 0 || length >= sizeof copy) return false;
    memcpy(copy, text, length);
    copy[length] = 0;
    char *end;
    *value = strtod(copy, &end);
    return *end == 0 && isfinite(*value);
}

static void unknown_key(const struct mcts_plugin *plugin, const char *key, size_t length, struct diag *d)
{
    struct strbuf known = {0};
    for (uint32_t i = 0; i < plugin->n_parameters; i++)
        strbuf_printf(&known, "%s%s", i ? ", " : "", plugin->parameters[i].key);
    diag_plain(d, "heuristic %s: unknown parameter '%.*s' (known: %s)", plugin->name, (int)length, key,
               known.length ? known.text : "none");
    strbuf_free(&known);
}

/* One "key=value" of `length` bytes. */
static void set_parameter(const struct mcts_plugin *plugin, void *state, const char *text, size_t length,
                          struct diag *d)
{
    const char *equals = memchr(text, '=', length);
    if (!equals) {
        diag_plain(d, "heuristic %s: '%.*s' is not key=value", plugin->name, (int)length, text);
        return;
    }
    size_t key_length = (size_t)(equals - text), value_length = length - key_length - 1;
    const struct mcts_parameter *p = find_parameter(plugin, text, key_length);
    if (!p) {
        unknown_key(plugin, text, key_length, d);
        return;
    }
    double value;
    bool valid =
        p->words ? parse_word(p->words, equals + 1, value_length, &value)
                 : parse_number(equals + 1, value_length, &value) && value >= p->least && value <= p->most;
    if (valid)
        *parameter_place(state, p) = value;
    else if (p->words)
        diag_plain(d, "heuristic %s: '%.*s' is not one of %s", plugin->name, (int)length, text, p->words);
    else
        diag_plain(d, "heuristic %s: '%.*s' is not a number from %g to %g", plugin->name, (int)length, text,
                   p->least, p->most);
}

static void set_parameters(const struct mcts_plugin *plugin, void *state, const char *text, struct diag *d)
{
    for (uint32_t i = 0; i < plugin->n_parameters; i++)
        *parameter_place(state, &plugin->parameters[i]) = plugin->parameters[i].value;
    while (*text) {
        size_t length = strcspn(text, ",");
        set_parameter(plugin, state, text, length, d);
        text += length + (text[length] == ',');
    }
}

/* ---- loading ---- */

static bool parameters_valid(const struct mcts_plugin *plugin)
{
    if (plugin->n_parameters && !plugin->parameters) return false;
    for (uint32_t i = 0; i < plugin->n_parameters; i++) {
        const struct mcts_parameter *p = &plugin->parameters[i];
        if (!p->key || p->offset % sizeof(double) || p->offset + sizeof(double) > plugin->state_size)
            return false;
    }
    return true;
}

/* `where` names the plug-in before its own name can be trusted. */
static bool plugin_valid(const struct mcts_plugin *plugin, const char *where, struct diag *d)
{
    if (plugin->abi != MCTS_PLUGIN_ABI)
        diag_plain(d,
                   "heuristic %s: the plug-in has interface version %u, this thresh has %u: compile it again",
                   where, plugin->abi, MCTS_PLUGIN_ABI);
    else if (plugin->struct_size < sizeof *plugin)
        diag_plain(d, "heuristic %s: struct_size is %u, must be at least %zu", where, plugin->struct_size,
                   sizeof *plugin);
    else if (!plugin->name || !plugin->select)
        diag_plain(d, "heuristic %s: the plug-in has no name or no select", where);
    else if (plugin->state_size > STATE_MAX || !parameters_valid(plugin))
        diag_plain(d, "heuristic %s: state_size or the offset of a parameter is out of range", where);
    else
        return true;
    return false;
}

static bool finish_state(struct mcts_heuristic *h, struct diag *d)
{
    char error[256] = "";
    const struct mcts_plugin *plugin = h->plugin;
    if (plugin->create && !plugin->create(h->state, error, sizeof error)) {
        diag_plain(d, "heuristic %s: %s", plugin->name, error[0] ? error : "not created");
        return false;
    }
    uint32_t kept = plugin->kept ? plugin->kept(h->state) : 1;
    if (kept >= 1 && kept <= KEPT_MAX) return true;
    diag_plain(d, "heuristic %s: kept() is %u, must be 1 to %d", plugin->name, kept, KEPT_MAX);
    if (plugin->destroy) plugin->destroy(h->state);
    return false;
}

static struct mcts_heuristic *new_heuristic(const struct mcts_plugin *plugin, const char *where,
                                            const char *parameters, struct diag *d)
{
    if (!plugin_valid(plugin, where, d)) return NULL;
    struct mcts_heuristic *h = base_calloc(1, sizeof *h);
    h->plugin = plugin;
    h->state = base_calloc(1, plugin->state_size + 1);
    size_t errors = diag_count(d);
    set_parameters(plugin, h->state, parameters, d);
    if (diag_count(d) == errors && finish_state(h, d)) return h;
    free(h->state);
    free(h);
    return NULL;
}

struct mcts_heuristic *mcts_heuristic_new(const struct mcts_plugin *plugin, const char *parameters,
                                          struct diag *d)
{
    return new_heuristic(plugin, plugin->name ? plugin->name : "?", parameters, d);
}

/* A name without a slash is a file here, not a library of the system. */
static void *open_library(const char *path)
{
    struct strbuf file = {0};
    strbuf_printf(&file, "%s%s", strchr(path, '/') ? "" : "./", path);
    void *library = dlopen(file.text, RTLD_NOW | RTLD_LOCAL);
    strbuf_free(&file);
    return library;
}

static struct mcts_heuristic *load_library(const char *path, const char *parameters, struct diag *d)
{
    void *library = open_library(path);
    if (!library) {
        diag_plain(d, "heuristic %s: %s", path, dlerror());
        return NULL;
    }
    const struct mcts_plugin *plugin = dlsym(library, MCTS_PLUGIN_SYMBOL);
    if (!plugin)
        diag_plain(d, "heuristic %s: not a heuristic plug-in: it has no symbol " MCTS_PLUGIN_SYMBOL, path);
    struct mcts_heuristic *h = plugin ? new_heuristic(plugin, path, parameters, d) : NULL;
    if (h)
        h->library = library;
    else
        dlclose(library);
    return h;
}

static void refuse_name(const char *name, struct diag *d)
{
    struct strbuf list = {0};
    const char *known[sizeof BUILTIN / sizeof BUILTIN[0]];
    for (size_t i = 0; mcts_builtin(i); i++) {
        known[i] = mcts_builtin(i)->name;
        strbuf_printf(&list, "%s%s", i ? ", " : "", known[i]);
    }
    const char *similar = similar_find(name, known, sizeof known / sizeof known[0]);
    if (similar)
        diag_plain(d, "unknown heuristic '%s'; did you mean '%s'?", name, similar);
    else
        diag_plain(d, "unknown heuristic '%s' (known: %s, or a path to a shared object)", name, list.text);
    strbuf_free(&list);
}

static struct mcts_heuristic *load_builtin(const char *name, const char *parameters, struct diag *d)
{
    for (size_t i = 0; mcts_builtin(i); i++)
        if (strcmp(mcts_builtin(i)->name, name) == 0)
            return mcts_heuristic_new(mcts_builtin(i), parameters, d);
    refuse_name(name, d);
    return NULL;
}

static bool is_path(const char *name)
{
    size_t n = strlen(name);
    return strchr(name, '/') || (n > 3 && strcmp(name + n - 3, ".so") == 0);
}

static struct mcts_heuristic *load(const char *spec, struct diag *d)
{
    char *name = base_strdup(spec);
    char *colon = strchr(name, ':');
    const char *parameters = colon ? colon + 1 : "";
    if (colon) *colon = 0;
    struct mcts_heuristic *h =
        is_path(name) ? load_library(name, parameters, d) : load_builtin(name, parameters, d);
    free(name);
    return h;
}

struct mcts_heuristic *mcts_heuristic_load(const char *spec, struct diag *d)
{
    struct mcts_heuristic *h = load(spec, d);
    if (!h || !h->library) return h;
    char *path = base_strdup(spec);
    path[strcspn(path, ":")] = 0;
    h->guard = mcts_guard_new(path);
    free(path);
    return h;
}

/* Loads and frees it in a child process, which says on `done` that it got to the end; the wait status goes to
 * *status. false: there is no child process. */
static bool load_in_child(const char *spec, int done, int *status)
{
    pid_t pid = fork();
    if (pid == 0) {
        alarm(TRY_SECONDS);
        mcts_heuristic_free(load(spec, diag_new()));
        _exit(write(done, "", 1) == 1 ? 0 : 1);
    }
    pid_t ended = pid;
    while (pid > 0 && (ended = waitpid(pid, status, 0)) < 0 && errno == EINTR)
        continue;
    return ended > 0;
}

/* *complete: loading went to its end; a plug-in may end the process with status 0 too. Processes that it
 * started may still hold the other end of the pipe. false: it was not tried. */
static bool load_apart(const char *spec, int *status, bool *complete)
{
    int ends[2];
    char byte;
    if (pipe(ends) != 0) return false;
    bool tried = load_in_child(spec, ends[1], status);
    int error = errno;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    *complete = read(ends[0], &byte, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    errno = error;
    return tried;
}

/* Loading that ends well finds all other errors when it is done here. */
bool mcts_heuristic_try(const char *spec, struct diag *d)
{
    int n = (int)strcspn(spec, ":"), status = 0;
    bool complete;
    if (!load_apart(spec, &status, &complete))
        diag_plain(d, "heuristic %.*s: cannot be tried: %s", n, spec, strerror(errno));
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        diag_plain(d, "heuristic %.*s: the plug-in does not load within %d s", n, spec, TRY_SECONDS);
    else if (WIFSIGNALED(status))
        diag_plain(d, "heuristic %.*s: the plug-in crashes when it is loaded (signal %d)", n, spec,
                   WTERMSIG(status));
    else if (!complete)
        diag_plain(d, "heuristic %.*s: the plug-in ends the process when it is loaded (status %d)", n, spec,
                   WEXITSTATUS(status));
    else {
        struct mcts_heuristic *h = load(spec, d);
        mcts_heuristic_free(h);
        return h != NULL;
    }
    return false;
}

void mcts_heuristic_free(struct mcts_heuristic *h)
{
    if (!h) return;
    mcts_guard_enter(h->guard, "destroy");
    if (h->plugin->destroy) h->plugin->destroy(h->state);
    mcts_guard_leave(h->guard);
    mcts_guard_free(h->guard);
    free(h->state);
    if (h->library) dlclose(h->library);
    free(h);
}

/* ---- checked calls ---- */

const struct mcts_plugin *mcts_heuristic_plugin(const struct mcts_heuristic *h)
{
    return h->plugin;
}

const char *mcts_heuristic_name(const struct mcts_heuristic *h)
{
    return h->plugin->name;
}

bool mcts_heuristic_default_rollouts(const struct mcts_heuristic *h)
{
    return !h->plugin->rollout;
}

void mcts_heuristic_set_note(struct mcts_heuristic *h, const char *note)
{
    mcts_guard_set_note(h->guard, note);
}

uint32_t mcts_heuristic_kept(const struct mcts_heuristic *h)
{
    mcts_guard_enter(h->guard, "kept");
    uint32_t kept = h->plugin->kept ? h->plugin->kept(h->state) : 1;
    mcts_guard_leave(h->guard);
    return kept;
}

bool mcts_heuristic_select(struct mcts_heuristic *h, const struct mcts_view *view, uint32_t *child,
                           char *error, size_t n)
{
    double score = 0;
    mcts_guard_enter(h->guard, "select");
    *child = h->plugin->select(h->state, view, &score);
    mcts_guard_leave(h->guard);
    if (*child >= view->n_children)
        snprintf(error, n, "heuristic %s: selected child %u of %u live ones", h->plugin->name, *child,
                 view->n_children);
    else if (isnan(score))
        snprintf(error, n, "heuristic %s: score of child %u is not a number", h->plugin->name, *child);
    else
        return true;
    return false;
}

bool mcts_heuristic_rollout(struct mcts_heuristic *h, const struct mcts_view *view, double *weights,
                            char *error, size_t n)
{
    if (!h->plugin->rollout) {
        mcts_default_weights(view, weights);
        return true;
    }
    mcts_guard_enter(h->guard, "rollout");
    h->plugin->rollout(h->state, view, weights);
    mcts_guard_leave(h->guard);
    for (uint32_t i = 0; i < view->n_children; i++) {
        if (isfinite(weights[i]) && weights[i] >= 0) continue;
        snprintf(error, n, "heuristic %s: rollout weight %g of child %u", h->plugin->name, weights[i], i);
        return false;
    }
    return true;
}

void mcts_heuristic_backpropagate(struct mcts_heuristic *h, uint32_t node, uint32_t depth,
                                  struct mcts_outcome outcome)
{
    if (!h->plugin->backpropagate) return;
    mcts_guard_enter(h->guard, "backpropagate");
    h->plugin->backpropagate(h->state, node, depth, outcome);
    mcts_guard_leave(h->guard);
}

/* ---- for plug-ins ---- */

void mcts_default_weights(const struct mcts_view *view, double *weights)
{
    double most = 0;
    for (uint32_t i = 0; i < view->n_children; i++)
        most = fmax(most, view->children[i].bound);
    for (uint32_t i = 0; i < view->n_children; i++) {
        double bound = view->children[i].bound, w = 1;
        if (isfinite(view->best_time))
            w = fmax(view->best_time - bound, 0);
        else if (most > 0)
            w = 1 + 10 * most / fmax(bound, most / 1000);
        weights[i] = w * view->children[i].prior;
    }
}

uint32_t mcts_draw(struct pcg32 *rng, const double *weights, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += weights[i];
    if (!(sum > 0)) return pcg32_below(rng, n);
    double place = pcg32_unit(rng) * sum;
    uint32_t last = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (weights[i] <= 0) continue;
        last = i;
        if (place < weights[i]) return i;
        place -= weights[i];
    }
    return last;
}

/* How many children were visited, and how often. */
static uint32_t count_visited(const struct mcts_view *view, double *visits)
{
    uint32_t visited = 0;
    *visits = 0;
    for (uint32_t i = 0; i < view->n_children; i++) {
        *visits += (double)view->children[i].visits;
        visited += view->children[i].visits > 0;
    }
    return visited;
}

static uint32_t draw_fresh(const struct mcts_view *view)
{
    double *weights = base_malloc(view->n_children * sizeof weights[0]);
    uint32_t *fresh = base_malloc(view->n_children * sizeof fresh[0]), n = 0;
    mcts_default_weights(view, weights);
    for (uint32_t i = 0; i < view->n_children; i++) {
        if (view->children[i].visits) continue;
        weights[n] = weights[i];
        fresh[n++] = i;
    }
    uint32_t drawn = fresh[mcts_draw(view->rng, weights, n)];
    free(weights);
    free(fresh);
    return drawn;
}

bool mcts_open_child(const struct mcts_view *view, double widen, uint32_t *child, double *score)
{
    double visits;
    uint32_t visited = count_visited(view, &visits);
    if (visited == view->n_children || (visited > 0 && visited >= widen * sqrt(visits))) return false;
    *child = draw_fresh(view);
    *score = INFINITY;
    return true;
}
