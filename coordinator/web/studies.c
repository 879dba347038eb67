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

/* The portable choices of all searches. */
struct choices {
    struct winners *winners; /* own the list; NULL: there is none */
    const struct portable *list;
    size_t n;
};

/* What goes to the thread, and what comes back. */
struct order {
    int64_t run;         /* 0: the portable choices */
    uint64_t generation; /* of the data when it was asked for */
};
struct outcome {
    struct order order;
    struct report_study *study; /* NULL: the run was not found */
    struct choices choices;
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
    struct choices choices;
    uint64_t choices_version; /* of all searches when they were asked for; 0: never */
    bool choices_last;        /* they were the last order */
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

static struct choices choose(const struct studies *s)
{
    struct choices c = {0};
    struct diag *d = diag_new();
    c.list = portable_of_store(s->store, &c.winners, &c.n, d);
    if (!c.list) c.n = 0;
    diag_free(d);
    return c;
}

static void drop(const struct outcome *o)
{
    report_study_free(o->study);
    winners_free(o->choices.winners);
}

/* Runs until the pipe of orders is closed. */
static void *work(void *context)
{
    const struct studies *s = context;
    struct report_data *data = report_data_new(s->store);
    struct outcome o;
    setpriority(PRIO_PROCESS, 0, LOWEST_PRIORITY);
    while (read(s->orders[0], &o.order, sizeof o.order) == (ssize_t)sizeof o.order) {
        o.study = o.order.run ? make(s, data, o.order.run) : NULL;
        o.choices = o.order.run ? (struct choices){0} : choose(s);
        if (write(s->outcomes[1], &o, sizeof o) != (ssize_t)sizeof o) drop(&o);
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
    winners_free(s->choices.winners);
    s->choices = (struct choices){0};
    s->choices_version = 0;
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
        drop(&o);
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

/* Keeps what came back. false: the run is gone, the store is another one or could not be read. */
static bool keep(struct studies *s, const struct outcome *o)
{
    if (o->order.generation != s->generation) return false;
    if (o->order.run == 0) {
        if (!o->choices.list) return false;
        winners_free(s->choices.winners);
        s->choices = o->choices;
        return true;
    }
    for (size_t i = 0; o->study && i < s->n; i++) {
        if (s->kept[i].run != o->order.run) continue;
        report_study_free(s->kept[i].study);
        s->kept[i].study = o->study;
        return true;
    }
    return false;
}

bool studies_take(struct studies *s, const struct report_data *data, int64_t *run)
{
    struct outcome o;
    if (read(s->outcomes[0], &o, sizeof o) != (ssize_t)sizeof o) return false;
    int64_t now = clock_ms(), rest = LIMIT_STUDY_REST * (now - s->asked_ms);
    s->busy = false;
    s->rest_until_ms = now + (rest > LIMIT_STUDY_REST_MS ? rest : LIMIT_STUDY_REST_MS);
    follow(s, data);
    *run = o.order.run;
    if (keep(s, &o)) return true;
    drop(&o);
    return false;
}

/* The version of all searches together, where they are of several devices; else 0: there is nothing to
 * choose. */
static uint64_t version_of_all(const struct report_search *searches, size_t n)
{
    uint64_t version = 1;
    bool several = false;
    for (size_t i = 0; i < n; i++) {
        version += searches[i].version;
        several = several || strcmp(searches[i].device, searches[0].device) != 0;
    }
    return several ? version : 0;
}

/* The run whose study is due, 0: that of the portable choices; -1: none is. */
static int64_t next_due(const struct studies *s, const struct report_search *searches, bool again)
{
    int64_t stale = -1;
    uint64_t all = version_of_all(searches, s->n);
    for (size_t i = 0; i < s->n; i++) {
        if (!s->kept[i].version) return s->kept[i].run;
        if (s->kept[i].version != searches[i].version) stale = s->kept[i].run;
    }
    if (all && !s->choices_version) return 0;
    if (!again) return -1;
    return all != 0 && all != s->choices_version && (stale < 0 || !s->choices_last) ? 0 : stale;
}

void studies_ask(struct studies *s, const struct report_data *data, bool again, int64_t now_ms)
{
    size_t n;
    const struct report_search *searches = report_searches(data, &n);
    follow(s, data);
    int64_t run = s->busy ? -1 : next_due(s, searches, again && now_ms >= s->rest_until_ms);
    if (run < 0) return;
    struct order order = {run, s->generation};
    s->busy = write(s->orders[1], &order, sizeof order) == (ssize_t)sizeof order;
    s->asked_ms = now_ms;
    if (!s->busy) return;
    s->choices_last = run == 0;
    if (run == 0) s->choices_version = version_of_all(searches, n);
    for (size_t i = 0; i < n; i++)
        if (searches[i].run == run) s->kept[i].version = searches[i].version;
}

const struct portable *studies_portables(const struct studies *s, size_t *n)
{
    *n = s->choices.n;
    return s->choices.list;
}

const struct report_study *const *studies_of(struct studies *s, const struct report_data *data)
{
    follow(s, data);
    s->view = base_realloc(s->view, (s->n + 1) * sizeof *s->view);
    for (size_t i = 0; i < s->n; i++)
        s->view[i] = s->kept[i].study;
    return s->view;
}
