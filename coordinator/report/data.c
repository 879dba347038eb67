/* Reading a store into figures; see data.h. An update opens the store anew, since whether a store is read
 * with or without locks depends on whether somebody is writing at that time (store_open.c). */
#include "coordinator/report/data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "coordinator/limits.h"
#include "coordinator/report/rows.h"
#include "coordinator/store.h"
#include "coordinator/store_state.h"
#include "core/base/arena.h"
#include "core/base/diag.h"

/* What of the files is compared: a commit writes to the log or to the database. */
struct report_mark {
    struct stat file, log;
};

struct report_data {
    char *path;
    struct report_rows rows;
    struct report_mark mark;
    bool read; /* once at least */
    uint64_t generation;
};

static struct report_mark mark_of(const char *path)
{
    struct report_mark m;
    char log[4096];
    memset(&m, 0, sizeof m);
    snprintf(log, sizeof log, "%s-wal", path);
    if (stat(path, &m.file)) memset(&m.file, 0, sizeof m.file);
    if (stat(log, &m.log)) memset(&m.log, 0, sizeof m.log);
    return m;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

static bool same_state(const struct stat *a, const struct stat *b)
{
    return same_file(a, b) && a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

struct report_data *report_data_new(const char *path)
{
    struct report_data *d = base_calloc(1, sizeof *d);
    d->path = base_strdup(path);
    return d;
}

void report_data_free(struct report_data *d)
{
    if (!d) return;
    report_rows_clear(&d->rows);
    free(d->path);
    free(d);
}

bool report_data_stale(const struct report_data *d)
{
    struct report_mark now = mark_of(d->path);
    return !d->read || !same_state(&now.file, &d->mark.file) || !same_state(&now.log, &d->mark.log);
}

uint64_t report_data_generation(const struct report_data *d)
{
    return d->generation;
}

bool report_data_update(struct report_data *d, struct diag *diag)
{
    struct report_mark now = mark_of(d->path);
    struct store *s = store_open_to_read(d->path, diag);
    if (s && d->read && !same_file(&now.file, &d->mark.file)) {
        report_rows_clear(&d->rows);
        d->generation++;
    }
    bool ok = s && store_execute(s, "BEGIN", diag) && report_rows_read(&d->rows, s, diag) &&
              store_execute(s, "COMMIT", diag) && store_unchanged(s, diag);
    store_close(s);
    if (ok) d->mark = now;
    d->read = d->read || ok;
    return ok;
}

/* ---- views ---- */

const struct report_search *report_searches(const struct report_data *d, size_t *n)
{
    *n = d->rows.n_searches;
    return d->rows.searches;
}

const struct report_agent *report_agents(const struct report_data *d, size_t *n)
{
    *n = d->rows.n_agents;
    return d->rows.agents;
}

const struct report_event *report_events(const struct report_data *d, size_t *n, uint64_t *all)
{
    *n = d->rows.n_events;
    *all = d->rows.all_events;
    return d->rows.events;
}

const struct report_campaign *report_campaigns(const struct report_data *d, size_t *n)
{
    *n = d->rows.n_campaigns;
    return d->rows.campaigns;
}

const char *report_data_path(const struct report_data *d)
{
    return d->path;
}

/* ---- figures of a search ---- */

/* The least time that the search found; NULL: none. Naive and plain ones count where nothing was drawn. */
static const struct report_time *least_time(const struct report_search *s)
{
    const struct report_time *best = NULL;
    for (size_t i = 0; i < s->n_times; i++)
        if (!best || s->times[i].ns < best->ns) best = &s->times[i];
    return best;
}

static const struct report_time *time_of(const struct report_search *s, int64_t number)
{
    for (size_t i = 0; i < s->n_times; i++)
        if (s->times[i].number == number) return &s->times[i];
    return NULL;
}

struct figure report_best(const struct report_search *s, int64_t *number, struct report_time *found)
{
    bool rounds = s->n_contenders > 0 && figure_known(&s->contenders[0].figure);
    const struct report_time *t = rounds ? time_of(s, s->contenders[0].number) : least_time(s);
    if (number) *number = rounds ? s->contenders[0].number : t ? t->number : 0;
    if (found) *found = t ? *t : (struct report_time){0};
    if (rounds) return s->contenders[0].figure;
    return t ? figure_of_search(t->ns) : (struct figure){0};
}

static const struct report_contender *naive_contender(const struct report_search *s)
{
    for (unsigned i = 0; i < s->n_contenders; i++)
        if (s->contenders[i].number == 0) return &s->contenders[i];
    return NULL;
}

struct figure report_naive(const struct report_search *s)
{
    const struct report_contender *c = naive_contender(s);
    const struct report_time *t = time_of(s, 0);
    if (c) return c->figure;
    return t && t->evaluation == 0 ? figure_of_search(t->ns) : (struct figure){0};
}

struct figure_ratio report_speedup(const struct report_search *s)
{
    const struct report_contender *c = naive_contender(s);
    struct figure best = report_best(s, NULL, NULL), naive = report_naive(s);
    if (!figure_known(&best) || !figure_comparable(&naive, &best)) return (struct figure_ratio){0};
    if (!c) return figure_ratio(&naive, &best, NULL, NULL, 0);
    unsigned n = c->n_times < s->contenders[0].n_times ? c->n_times : s->contenders[0].n_times;
    return figure_ratio(&naive, &best, c->times, s->contenders[0].times, n);
}

enum report_state report_state(const struct report_search *s, int64_t now)
{
    if (s->owned) return now - s->seen > LIMIT_SILENCE_S ? REPORT_SILENT : REPORT_SEARCHING;
    return s->n_contenders > 0 ? REPORT_FINISHED : REPORT_ENDED;
}

char *report_name(const struct report_search *s)
{
    const char *slash = strrchr(s->path, '/'), *file = slash && slash[1] ? slash + 1 : s->path;
    size_t n = strlen(file) + strlen(s->sizes) + 2;
    char *name = base_malloc(n);
    snprintf(name, n, "%s%s%s", file, *s->sizes ? " " : "", s->sizes);
    return name;
}

bool report_is_space(const struct report_search *s)
{
    return strcmp(s->device, STORE_NO_DEVICE) == 0;
}
