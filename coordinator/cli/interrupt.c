/* Signals that end a run.
 *
 *     int fd = cli_signals();                     the first Ctrl-C makes fd readable
 *     while (!stop_requested(fd)) ...             the run stores its results and prints the best one
 *     return cli_signal_status(fd, CLI_OK);       130
 *
 * The second signal ends the process immediately, even if a plug-in, a driver or a long descent does not
 * return.
 *
 * The signals are blocked in all threads. One thread waits for them and does nothing else, so that no system
 * call of the other threads is interrupted. It has its own copy of the descriptor: a signal that arrives
 * after cli_signal_status() has closed the first copy is harmless. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "coordinator/cli/cli.h"
#include "coordinator/cli/table.h"
#include "core/base/arena.h"
#include "core/base/shell.h"
#include "core/base/strbuf.h"

enum { SIGNALLED = 128 };

struct watch {
    sigset_t set;
    int event;     /* an eventfd: receives the number of the first signal */
    sem_t waiting; /* posted when the thread is about to wait and allocates nothing any more */
};

/* Kills the children of one thread: runners, and programs with their process groups. */
static void end_children(const char *thread)
{
    char path[64];
    int child;
    snprintf(path, sizeof path, "/proc/self/task/%.20s/children", thread);
    FILE *list = fopen(path, "r");
    while (list && fscanf(list, "%d", &child) == 1) {
        kill(-child, SIGKILL);
        kill(child, SIGKILL);
    }
    if (list) fclose(list);
}

/* Runners and programs die with this process in any case, but the processes that programs started do not. */
static void end_all_children(void)
{
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *e; threads && (e = readdir(threads));)
        if (e->d_name[0] != '.') end_children(e->d_name);
    if (threads) closedir(threads);
}

static void *watch_main(void *context)
{
    static const char message[] = "\nthresh: second interrupt, ended immediately\n";
    struct watch *shared = context;
    sigset_t set = shared->set;
    int number, event = shared->event;
    sem_post(&shared->waiting);
    if (sigwait(&set, &number)) return NULL;
    if (eventfd_write(event, (eventfd_t)number) || sigwait(&set, &number)) return NULL;
    end_all_children();
    ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
    (void)written;
    _exit(SIGNALLED + number);
}

/* `nohup` makes a command ignore SIGHUP. */
static bool is_ignored(int number)
{
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* Returns when the thread waits for a signal. This process forks soon; a fork while the thread allocates
 * would leave the child with a locked allocator. */
static bool start_watch(const sigset_t *set, int event)
{
    struct watch watch = {.set = *set, .event = event};
    pthread_t thread;
    if (sem_init(&watch.waiting, 0, 0)) return false;
    bool started = pthread_create(&thread, NULL, watch_main, &watch) == 0;
    while (started && sem_wait(&watch.waiting) && errno == EINTR)
        continue;
    sem_destroy(&watch.waiting);
    return started && pthread_detach(thread) == 0;
}

int cli_signals(void)
{
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    if (!is_ignored(SIGHUP)) sigaddset(&set, SIGHUP);
    int event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), own = fcntl(event, F_DUPFD_CLOEXEC, 0);
    if (own >= 0 && pthread_sigmask(SIG_BLOCK, &set, &before) == 0) {
        if (start_watch(&set, own)) return event;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    if (event >= 0) close(event);
    if (own >= 0) close(own);
    return -1;
}

int cli_signal_status(int fd, int otherwise)
{
    eventfd_t number;
    if (fd < 0) return otherwise;
    bool got = eventfd_read(fd, &number) == 0;
    close(fd);
    return got ? SIGNALLED + (int)number : otherwise;
}

/* ---- the command that resumes ---- */

/* Adds --resume unless it is given; it must stand before "--", which ends the options. */
static void add_resume(struct strbuf *b, const char *program, int argc, char *const *argv)
{
    bool given = false;
    shell_add_word(b, program);
    for (int i = 0; i < argc; i++) {
        if (!given && strcmp(argv[i], "--") == 0) strbuf_add(b, " --resume");
        given = given || strcmp(argv[i], "--") == 0 || strcmp(argv[i], "--resume") == 0;
        strbuf_add(b, " ");
        shell_add_word(b, argv[i]);
    }
    if (!given) strbuf_add(b, " --resume");
}

void cli_print_resume(FILE *out, const struct cli_args *a, const char *program, int argc, char *const *argv)
{
    const char *store = a->value[CLI_STORE];
    struct strbuf command = {0};
    add_resume(&command, program, argc, argv);
    if (!store)
        fputs("interrupted; the evaluations were not saved; with --store FILE.db a run can be resumed\n",
              out);
    else if (access(store, F_OK))
        fputs("interrupted before the first evaluation was recorded\n", out);
    else
        fprintf(out, "interrupted; resume with: %s\n", command.text);
    strbuf_free(&command);
}
