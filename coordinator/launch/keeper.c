/* See keeper.h. The two threads talk over two eventfds: `quit` ends the thread, `stop` ends the search. Until
 * the semaphore, and after the join, the caller reads what the thread has written. */
#include "coordinator/launch/keeper.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "coordinator/limits.h"
#include "core/base/arena.h"
#include "core/base/diag.h"

struct launch_keeper {
    struct launch_options options;
    const char *endpoint, *keys;
    int stop_fd; /* the caller's */
    void (*note)(void *ctx, const char *line);
    void *ctx;
    int quit, stop; /* eventfds */
    pthread_t thread;
    sem_t started;
    struct diag *diag; /* of the start */
    bool ok;           /* it has started */
    bool deserted;     /* no agent was left */
    char *last;        /* why the last one ended */
};

static bool is_told(enum launch_event_kind kind)
{
    return kind == LAUNCH_NEWS || kind == LAUNCH_AGAIN || kind == LAUNCH_FAILED;
}

static void take_events(struct launch_keeper *k, struct launch *l)
{
    struct launch_event e;
    while (launch_poll(l, &e)) {
        if (is_told(e.kind)) k->note(k->ctx, e.text);
        if (e.kind != LAUNCH_FAILED && e.kind != LAUNCH_ENDED) continue;
        free(k->last);
        k->last = base_strdup(e.text);
    }
}

static void keep(struct launch_keeper *k, struct launch *l)
{
    bool told = false;
    struct pollfd fds[] = {{.fd = k->quit, .events = POLLIN}, {.fd = k->stop_fd, .events = POLLIN}};
    for (; !(fds[0].revents & POLLIN); poll(fds, told ? 1 : 2, LIMIT_KEEPER_MS)) {
        take_events(k, l);
        bool deserted = launch_left(l) == 0;
        if (told || (!deserted && !(fds[1].revents & POLLIN))) continue;
        k->deserted = deserted && !(fds[1].revents & POLLIN);
        told = eventfd_write(k->stop, 1) == 0;
    }
}

static void *keeper_main(void *context)
{
    struct launch_keeper *k = context;
    struct launch *l = launch_start(&k->options, k->endpoint, k->keys, k->diag);
    k->ok = l != NULL;
    sem_post(&k->started);
    if (l) keep(k, l);
    launch_free(l);
    return NULL;
}

static void keeper_free(struct launch_keeper *k)
{
    if (k->quit >= 0) close(k->quit);
    if (k->stop >= 0) close(k->stop);
    sem_destroy(&k->started);
    free(k->last);
    free(k);
}

static bool start_thread(struct launch_keeper *k)
{
    k->quit = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    k->stop = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    sem_init(&k->started, 0, 0);
    if (k->quit >= 0 && k->stop >= 0 && pthread_create(&k->thread, NULL, keeper_main, k) == 0) return true;
    diag_plain(k->diag, "cannot start a thread: %s", strerror(errno));
    return false;
}

struct launch_keeper *launch_keep(const struct launch_options *o, const char *endpoint, const char *keys,
                                  int stop_fd, void (*note)(void *ctx, const char *line), void *ctx,
                                  struct diag *d)
{
    struct launch_keeper *k = base_calloc(1, sizeof *k);
    *k = (struct launch_keeper){.options = *o,
                                .endpoint = endpoint,
                                .keys = keys,
                                .stop_fd = stop_fd,
                                .note = note,
                                .ctx = ctx,
                                .diag = d};
    bool runs = start_thread(k);
    while (runs && sem_wait(&k->started) && errno == EINTR)
        continue;
    if (runs && k->ok) return k;
    if (runs) pthread_join(k->thread, NULL);
    keeper_free(k);
    return NULL;
}

int launch_keeper_fd(const struct launch_keeper *k)
{
    return k->stop;
}

bool launch_keeper_end(struct launch_keeper *k, struct diag *d)
{
    if (!k) return false;
    bool told = eventfd_write(k->quit, 1) == 0;
    if (told) pthread_join(k->thread, NULL);
    bool deserted = k->deserted;
    if (deserted) diag_plain(d, "no agent is left; the last one: %s", k->last ? k->last : "it has ended");
    keeper_free(k);
    return deserted;
}
