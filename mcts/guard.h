/* A plug-in that crashes is named, with the callback it was in:
 *
 *     thresh: plug-in ./mine.so crashed in its callback 'select' (segmentation fault)
 *
 * and the process ends with status 1. The same for a plug-in that calls exit() or abort(). A signal carries
 * no context, so what the handler reads is kept in file scope, in guard.c alone. */
#ifndef THRESH_MCTS_GUARD_H
#define THRESH_MCTS_GUARD_H

struct mcts_guard;

/* Watches SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT until it is freed; outside of callbacks they do what
 * they did before. Call this, the callbacks and mcts_guard_free() from one thread. The path is copied. */
struct mcts_guard *mcts_guard_new(const char *path);
void mcts_guard_free(struct mcts_guard *g); /* NULL is allowed */
/* A line that follows the message: what became of the results. Copied; NULL: none. */
void mcts_guard_set_note(struct mcts_guard *g, const char *note);

/* Around each callback; `callback` is its name, static. g may be NULL: the plug-in is built in. */
void mcts_guard_enter(struct mcts_guard *g, const char *callback);
void mcts_guard_leave(struct mcts_guard *g);

#endif
