/* A thread that makes studies; see studies.h. */
#include "coordinator/web/studies.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "coordinator/limits.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"

enum { LOWEST_PRIORITY = 19 };

/* What goes to the thread, and what comes back. */
struct order {
    int64_t run;
    uint64_t generation; /* of the data when it was asked for */
};
struct outcome {
    struct order order;
    struct report_study *study; /* NULL: the run was not found */
};

/* A search as the page has it. */
struct kept {
    int64_t run;
    uint64_t version; /* of the search when the study was asked for */
    struct report_study *study;
};

struct studies {
    const char *store;
    const struct report_opener *opener;
    pthread_t thread;
    int orders[2], outcomes[2]; /* pipes: the read end, the write end */
    struct kept *kept;
    const struct report_study **view;
    size_t n;
    uint64_t generation;
    bool busy;
    int64_t asked_ms, rest_until_ms;
};

/* ---- the thread ---- */

static struct report_study *make(const struct studies *s, struct report_data *data, int64_t run)
{
    struct report_study *out = NULL;
    struct diag *d = diag_new();
    size_t n;
    bool ok = report_data_update(data, d);
    const struct report_search *searches = report_searches(data, &n);
    for (size_t i = 0; ok && i < n; i++)
        if (searches[i].run == run) out = report_study_make(s->store, &searches[i], s->opener);
    diag_free(d);
    return out;
}

/* Runs until the pipe of orders is closed. */
static void *work(void *context)
{
    const struct studies *s = context;
    struct report_data *data = report_data_new(s->store);
    struct outcome o;
    setpriority(PRIO_PROCESS, 0, LOWEST_PRIORITY);
    while (read(s->orders[0], &o.order, sizeof o.order) == (ssize_t)sizeof o.order) {
        o.study = make(s, data, o.order.run);
        if (write(s->outcomes[1], &o, sizeof o) != (ssize_t)sizeof o) report_study_free(o.study);
    }
    report_data_free(data);
    return NULL;
}

/* ---- opening and closing ---- */

static void close_pipe(const int ends[2])
{
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0) close(ends[i]);
}

static bool open_pipe(int ends[2])
{
    if (pipe(ends)) return false;
    for (int i = 0; i < 2; i++)
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    return true;
}

struct studies *studies_start(const char *store, const struct report_opener *opener, struct diag *d)
{
    struct studies *s = base_calloc(1, sizeof *s);
    *s = (struct studies){.store = store, .opener = opener, .orders = {-1, -1}, .outcomes = {-1, -1}};
    bool ok = open_pipe(s->orders) && open_pipe(s->outcomes);
    int error = ok ? 0 : errno;
    if (ok) fcntl(s->outcomes[0], F_SETFL, O_NONBLOCK);
    if (ok) error = pthread_create(&s->thread, NULL, work, s);
    if (!error) return s;
    diag_plain(d, "cannot start a thread: %s", strerror(error));
    close_pipe(s->orders);
    close_pipe(s->outcomes);
    free(s);
    return NULL;
}

static void drop_all(struct studies *s)
{
    for (size_t i = 0; i < s->n; i++)
        report_study_free(s->kept[i].study);
    s->n = 0;
}

void studies_end(struct studies *s)
{
    struct outcome o;
    if (!s) return;
    close(s->orders[1]);
    s->orders[1] = -1;
    pthread_join(s->thread, NULL);
    while (read(s->outcomes[0], &o, sizeof o) == (ssize_t)sizeof o)
        report_study_free(o.study);
    drop_all(s);
    close_pipe(s->orders);
    close_pipe(s->outcomes);
    free(s->kept);
    free(s->view);
    free(s);
}

/* ---- what there is ---- */

/* Runs are in the order of the data, and new ones come at the end, unless the store is another one. */
static void follow(struct studies *s, const struct report_data *data)
{
    size_t n;
    const struct report_search *searches = report_searches(data, &n);
    if (s->generation != report_data_generation(data)) drop_all(s);
    s->generation = report_data_generation(data);
    if (n == s->n) return;
    s->kept = base_realloc(s->kept, n * sizeof *s->kept);
    for (size_t i = s->n; i < n; i++)
        s->kept[i] = (struct kept){.run = searches[i].run};
    s->n = n;
}

int studies_fd(const struct studies *s)
{
    return s->outcomes[0];
}

bool studies_take(struct studies *s, const struct report_data *data, int64_t *run)
{
    struct outcome o;
    if (read(s->outcomes[0], &o, sizeof o) != (ssize_t)sizeof o) return false;
    int64_t now = clock_ms(), rest = LIMIT_STUDY_REST * (now - s->asked_ms);
    s->busy = false;
    s->rest_until_ms = now + (rest > LIMIT_STUDY_REST_MS ? rest : LIMIT_STUDY_REST_MS);
    follow(s, data);
    for (size_t i = 0; o.study && o.order.generation == s->generation && i < s->n; i++) {
        if (s->kept[i].run != o.order.run) continue;
        report_study_free(s->kept[i].study);
        s->kept[i].study = o.study;
        *run = o.order.run;
        return true;
    }
    report_study_free(o.study);
    return false;
}

void studies_ask(struct studies *s, const struct report_data *data, bool again, int64_t now_ms)
{
    size_t n, next;
    const struct report_search *searches = report_searches(data, &n);
    follow(s, data);
    if (s->busy) return;
    for (next = 0; next < n && s->kept[next].version; next++)
        continue;
    for (size_t i = 0; next == n && again && now_ms >= s->rest_until_ms && i < n; i++)
        if (s->kept[i].version != searches[i].version) next = i;
    if (next == n) return;
    struct order order = {searches[next].run, s->generation};
    s->busy = write(s->orders[1], &order, sizeof order) == (ssize_t)sizeof order;
    if (s->busy) s->kept[next].version = searches[next].version;
    s->asked_ms = now_ms;
}

const struct report_study *const *studies_of(struct studies *s, const struct report_data *data)
{
    follow(s, data);
    s->view = base_realloc(s->view, (s->n + 1) * sizeof *s->view);
    for (size_t i = 0; i < s->n; i++)
        s->view[i] = s->kept[i].study;
    return s->view;
}
