/* The handler runs on a stack of its own, since a plug-in may have used up that of the thread. It calls
 * nothing but write() and _exit(): the store's transactions are complete or not there.
 *
 * File scope: `running` is what a handler can know of the call that was interrupted, one for each thread, so
 * that a fault in a thread beside it is not taken for the plug-in's. `watch` has the actions that are given
 * back; it is changed by the one thread that makes and frees guards. */
#define _XOPEN_SOURCE 700 /* sigaltstack(), of the X/Open part of POSIX.1-2008 */
#include "mcts/guard.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/arena.h"

enum { STACK_BYTES = 64 << 10, FAILED = 1 };

struct mcts_guard {
    char *path, *note;
    const char *volatile callback;
    void *stack;   /* of the handler; NULL: the thread had one */
    bool terminal; /* the message begins below a line of progress */
};

static const struct {
    int number;
    const char *name;
} signals[] = {{SIGSEGV, "segmentation fault"},
               {SIGBUS, "bus error"},
               {SIGFPE, "arithmetic error"},
               {SIGILL, "illegal instruction"},
               {SIGABRT, "aborted"}};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static _Thread_local struct mcts_guard *volatile running;
static struct {
    unsigned guards;
    bool at_exit; /* the exit handler is registered */
    struct sigaction before[SIGNALS];
} watch;

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

/* Ends the process. `how` it went wrong may be NULL. */
static void blame(const struct mcts_guard *g, const char *what, const char *how)
{
    say(g->terminal ? "\nthresh: plug-in " : "thresh: plug-in ");
    say(g->path);
    say(what);
    say(" in its callback '");
    say(g->callback);
    say("'");
    if (how) {
        say(" (");
        say(how);
        say(")");
    }
    say("\n");
    if (g->note) {
        say("thresh: ");
        say(g->note);
        say("\n");
    }
    _exit(FAILED);
}

/* Outside of a plug-in what was there before the guard takes over: a fault happens again when this returns, a
 * signal that was sent is sent again. */
static void handle(int number, siginfo_t *info, void *context)
{
    unsigned i = 0;
    (void)context;
    while (signals[i].number != number)
        i++;
    if (running) blame(running, " crashed", signals[i].name);
    sigaction(number, &watch.before[i], NULL);
    if (info->si_code <= 0) raise(number);
}

static void handle_exit(void)
{
    if (running) blame(running, " ended the process", NULL);
}

static void watch_signals(void)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (unsigned i = 0; i < SIGNALS; i++)
        sigaction(signals[i].number, &action, &watch.before[i]);
    if (!watch.at_exit) watch.at_exit = atexit(handle_exit) == 0;
}

static void *give_stack(void)
{
    stack_t before;
    if (sigaltstack(NULL, &before) || !(before.ss_flags & SS_DISABLE)) return NULL;
    void *stack = base_malloc(STACK_BYTES);
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = STACK_BYTES}, NULL);
    return stack;
}

struct mcts_guard *mcts_guard_new(const char *path)
{
    struct mcts_guard *g = base_calloc(1, sizeof *g);
    g->path = base_strdup(path);
    g->terminal = isatty(STDERR_FILENO) == 1;
    g->stack = give_stack();
    if (watch.guards++ == 0) watch_signals();
    return g;
}

void mcts_guard_free(struct mcts_guard *g)
{
    if (!g) return;
    for (unsigned i = 0; watch.guards == 1 && i < SIGNALS; i++)
        sigaction(signals[i].number, &watch.before[i], NULL);
    watch.guards--;
    if (g->stack) sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    free(g->stack);
    free(g->path);
    free(g->note);
    free(g);
}

void mcts_guard_set_note(struct mcts_guard *g, const char *note)
{
    if (!g) return;
    free(g->note);
    g->note = note ? base_strdup(note) : NULL;
}

void mcts_guard_enter(struct mcts_guard *g, const char *callback)
{
    if (!g) return;
    g->callback = callback;
    running = g;
}

void mcts_guard_leave(struct mcts_guard *g)
{
    if (g) running = NULL;
}
