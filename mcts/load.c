/* Loading heuristics: from "name:parameters" or "./file.so:parameters" to a heuristic that is ready.
 *
 *     tag:topk=20             the table of built-in plug-ins, below
 *     ./mine.so:epsilon=0.1   dlopen(), then the symbol MCTS_PLUGIN_SYMBOL; a '/' or ".so" makes it a path
 *
 * A shared object runs code as soon as it is loaded and may crash, exit or hang. So mcts_heuristic_try()
 * loads it in a child process first, and says what happened to that. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/similar.h"
#include "core/base/strbuf.h"
#include "mcts/guard.h"
#include "mcts/heuristic.h"

enum { TRY_SECONDS = 10 };

static const struct mcts_plugin *const BUILTIN[] = {&mcts_plugin_tag, &mcts_plugin_uct, &mcts_plugin_random,
                                                    &mcts_plugin_bound, &mcts_plugin_roundrobin};

const struct mcts_plugin *mcts_builtin(size_t i)
{
    return i < sizeof BUILTIN / sizeof BUILTIN[0] ? BUILTIN[i] : NULL;
}

/* ---- in this process ---- */

/* dlopen() looks for a name without a slash among the libraries of the system, so it is given one. */
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
        diag_plain(d, "cannot load heuristic plug-in: %s", dlerror());
        return NULL;
    }
    const struct mcts_plugin *plugin = dlsym(library, MCTS_PLUGIN_SYMBOL);
    if (!plugin)
        diag_plain(d, "heuristic %s: not a heuristic plug-in: it has no symbol " MCTS_PLUGIN_SYMBOL, path);
    struct mcts_heuristic *h = plugin ? mcts_heuristic_new(plugin, path, parameters, d) : NULL;
    if (h)
        mcts_heuristic_keep_library(h, library);
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
            return mcts_heuristic_new(mcts_builtin(i), name, parameters, d);
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
    char *path = base_strdup(spec);
    path[strcspn(path, ":")] = 0;
    if (h && is_path(path)) mcts_heuristic_guard(h, mcts_guard_new(path));
    free(path);
    return h;
}

/* ---- in a child process ---- */

/* Loads and frees it in a child process, which writes a byte to `done` when it gets to the end; the wait
 * status goes to *status. false: no child process could be started. */
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

/* *complete: loading got to its end; the exit status alone does not tell, since a plug-in may call exit(0).
 * The pipe is read without waiting, as processes that the plug-in started may hold its other end. false: it
 * could not be tried. */
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

/* Loading that gets to its end in the child is repeated here, which reports all other errors. */
bool mcts_heuristic_try(const char *spec, struct diag *d)
{
    int n = (int)strcspn(spec, ":"), status = 0;
    bool complete;
    if (!load_apart(spec, &status, &complete))
        diag_plain(d, "heuristic %.*s: cannot start a process that loads it: %s", n, spec, strerror(errno));
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
