/* For each program with its sizes: a table of texts by their hash, with the best figures on each device, from
 * the runs that the winners name. Then the least value by each rule; of equal ones the text that was measured
 * first. */
#include "coordinator/portable.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "coordinator/export.h"
#include "coordinator/store_state.h"
#include "core/base/arena.h"
#include "core/base/strbuf.h"

const char *const portable_rule_names[PORTABLE_RULES] = {"geometric mean", "worst case"};

/* The times of a text on one device; median_ns 0: none. */
struct times {
    double search_ns;
    struct figure quoted;
};

struct text {
    uint64_t hash;
    struct winner entry; /* its first evaluation on the first device */
    struct times *times; /* [devices] */
    UT_hash_handle hh;
};

/* A program with its sizes on several devices. */
struct group {
    struct arena *arena;
    const struct winner *winners; /* one for each device */
    unsigned n;
    struct text *texts; /* in the order of their first evaluation */
    double *best_search_ns;
};

/* ---- reading ---- */

static const char rows[] = "SELECT e.kernel_hash, e.number, e.label, e.actions, e.median_ns,"
                           " f.median_ns, f.low_ns, f.high_ns, f.rounds"
                           " FROM evaluation e LEFT JOIN figure f"
                           "   ON f.run = e.run AND f.number = e.number AND f.rounds > 0"
                           " WHERE e.run = ?1 AND e.status = 'ok' AND e.median_ns > 0 ORDER BY e.id";

static const char *text_at(struct arena *a, sqlite3_stmt *q, int column)
{
    const unsigned char *text = sqlite3_column_text(q, column);
    return arena_strdup(a, text ? (const char *)text : "");
}

static struct text *find_text(struct group *g, uint64_t hash)
{
    struct text *t;
    HASH_FIND(hh, g->texts, &hash, sizeof hash, t);
    if (t) return t;
    t = arena_alloc(g->arena, sizeof *t);
    *t = (struct text){.hash = hash, .times = ARENA_ARRAY(g->arena, struct times, g->n)};
    memset(t->times, 0, g->n * sizeof *t->times);
    HASH_ADD(hh, g->texts, hash, sizeof t->hash, t);
    return t;
}

/* How it is found again on the first device, where its decisions are those of that device's space. */
static void note_entry(struct group *g, struct text *t, sqlite3_stmt *q, const struct winners_run *run)
{
    if (t->entry.kernel) return;
    t->entry = g->winners[0];
    t->entry.store = run->store;
    t->entry.run.id = run->id;
    t->entry.number = sqlite3_column_int64(q, 1);
    t->entry.label = text_at(g->arena, q, 2);
    t->entry.actions = text_at(g->arena, q, 3);
    t->entry.kernel_hash = t->hash;
}

static void take_row(struct group *g, unsigned device, sqlite3_stmt *q, const struct winners_run *run)
{
    const unsigned char *hex = sqlite3_column_text(q, 0);
    uint64_t hash = hex ? strtoull((const char *)hex, NULL, 16) : 0;
    double ns = sqlite3_column_double(q, 4);
    struct figure f = {sqlite3_column_double(q, 5), sqlite3_column_double(q, 6), sqlite3_column_double(q, 7),
                       (unsigned)sqlite3_column_int64(q, 8)};
    if (!hash) return;
    struct text *t = find_text(g, hash);
    struct times *x = &t->times[device];
    if (x->search_ns <= 0 || ns < x->search_ns) x->search_ns = ns;
    if (figure_quoted(&f) && (!figure_quoted(&x->quoted) || f.median_ns < x->quoted.median_ns)) x->quoted = f;
    if (g->best_search_ns[device] <= 0 || ns < g->best_search_ns[device]) g->best_search_ns[device] = ns;
    if (device == 0) note_entry(g, t, q, run);
}

static bool read_run(struct group *g, unsigned device, struct store *s, const struct winners_run *run,
                     struct diag *d)
{
    sqlite3_stmt *q = store_prepare(s, rows, d);
    int code;
    if (!q) return false;
    sqlite3_bind_int64(q, 1, run->id);
    while ((code = sqlite3_step(q)) == SQLITE_ROW)
        take_row(g, device, q, run);
    bool ok = code == SQLITE_DONE || store_failed(s, d);
    sqlite3_finalize(q);
    return ok && store_unchanged(s, d);
}

static struct store *store_of(const struct export_store *stores, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(stores[i].path, path) == 0) return stores[i].store;
    return NULL;
}

static bool read_group(struct group *g, const struct winners *w, const struct export_store *stores,
                       size_t n_stores, struct diag *d)
{
    const struct winners_run *run;
    for (size_t i = 0; (run = winners_run_at(w, i)); i++)
        for (unsigned k = 0; k < g->n; k++) {
            struct store *s = store_of(stores, n_stores, run->store);
            if (!s || strcmp(run->key, g->winners[k].key) != 0) continue;
            if (!read_run(g, k, s, run, d)) return false;
        }
    return true;
}

/* ---- choosing ---- */

/* The time of a text on a device; slowdown 0: it was not measured there. What was in a few rounds only may
 * have a lower median than the winner of all: nothing is better than the best. */
static struct portable_time time_on(const struct group *g, const struct text *t, unsigned device)
{
    const struct winner *best = &g->winners[device];
    const struct times *x = &t->times[device];
    struct portable_time p = {.device = best->run.device};
    if (x->search_ns <= 0) return p;
    bool quoted = figure_quoted(&x->quoted) && figure_quoted(&best->figure);
    p.figure = quoted ? x->quoted : figure_of_search(x->search_ns);
    p.slowdown = fmax(1, p.figure.median_ns / (quoted ? best->figure.median_ns : g->best_search_ns[device]));
    return p;
}

/* false: it was not measured on all devices. */
static bool judge(const struct group *g, const struct text *t, double values[PORTABLE_RULES])
{
    double logs = 0, worst = 0;
    for (unsigned k = 0; k < g->n; k++) {
        double slowdown = time_on(g, t, k).slowdown;
        if (slowdown <= 0) return false;
        logs += log(slowdown);
        worst = fmax(worst, slowdown);
    }
    values[PORTABLE_MEAN] = exp(logs / g->n);
    values[PORTABLE_WORST] = worst;
    return true;
}

/* false: no text was measured on all devices. */
static bool choose(const struct group *g, enum portable_rule rule, struct portable *out)
{
    const struct text *best = NULL;
    double values[PORTABLE_RULES], least = INFINITY;
    *out = (struct portable){.rule = rule, .n_times = g->n};
    for (const struct text *t = g->texts; t; t = t->hh.next) {
        if (!judge(g, t, values)) continue;
        out->candidates++;
        if (values[rule] >= least) continue;
        best = t;
        least = values[rule];
        out->mean = values[PORTABLE_MEAN];
        out->worst = values[PORTABLE_WORST];
    }
    if (!best) return false;
    struct portable_time *times = ARENA_ARRAY(g->arena, struct portable_time, g->n);
    struct winner *entry = arena_alloc(g->arena, sizeof *entry);
    for (unsigned k = 0; k < g->n; k++)
        times[k] = time_on(g, best, k);
    *entry = best->entry;
    entry->figure = times[0].figure;
    if (!figure_comparable(&entry->naive, &entry->figure)) entry->naive = (struct figure){0};
    out->times = times;
    out->entry = entry;
    return true;
}

/* ---- the list ---- */

/* The next group that begins at list[i] or later: winners of the same program and sizes, which are not
 * neighbours, since devices come before sizes in their order. */
static struct group group_at(struct arena *a, const struct winner *list, size_t n, size_t i)
{
    struct winner *same = ARENA_ARRAY(a, struct winner, n);
    struct group g = {.arena = a, .winners = same};
    for (size_t k = 0; k < i; k++)
        if (strcmp(list[k].problem, list[i].problem) == 0) return g;
    for (size_t k = i; k < n; k++)
        if (strcmp(list[k].problem, list[i].problem) == 0) same[g.n++] = list[k];
    g.best_search_ns = ARENA_ARRAY(a, double, g.n);
    memset(g.best_search_ns, 0, g.n * sizeof *g.best_search_ns);
    return g;
}

const struct portable *portable_list(struct winners *w, const struct export_store *stores, size_t n_stores,
                                     size_t *n, struct diag *d)
{
    size_t n_winners;
    const struct winner *list = winners_list(w, &n_winners);
    struct arena *a = winners_arena(w);
    struct portable *found = ARENA_ARRAY(a, struct portable, PORTABLE_RULES * n_winners + 1);
    bool ok = true;
    *n = 0;
    for (size_t i = 0; i < n_winners && ok; i++) {
        struct group g = group_at(a, list, n_winners, i);
        if (g.n < 2) continue;
        ok = read_group(&g, w, stores, n_stores, d);
        for (int rule = 0; ok && rule < PORTABLE_RULES; rule++)
            *n += choose(&g, (enum portable_rule)rule, &found[*n]);
        HASH_CLEAR(hh, g.texts);
    }
    return ok ? found : NULL;
}

const struct portable *portable_of_store(const char *path, struct winners **w, size_t *n, struct diag *d)
{
    const struct portable *list = NULL;
    struct export_store s = {store_open_to_read(path, d), path};
    *w = winners_new();
    if (s.store && winners_add(*w, s.store, path, d)) list = portable_list(*w, &s, 1, n, d);
    store_close(s.store);
    return list;
}

void portable_print(const struct portable *p, struct strbuf *out)
{
    const struct winner *w = p->entry;
    strbuf_printf(out,
                  "%s %s on %u devices by %s: number %" PRId64 " of run %" PRId64
                  "%s%s%s, %.3g times as long as the best of each (worst %.3g), of %u measured on all",
                  w->kernel, w->run.sizes, p->n_times, portable_rule_names[p->rule], w->number, w->run.id,
                  *w->label ? " (" : "", w->label, *w->label ? ")" : "", p->mean, p->worst, p->candidates);
}
