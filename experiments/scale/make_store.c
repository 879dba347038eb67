/* Makes a large store from a small one, for measurements: the rows of its last run over and over, each with a
 * number of its own and a time that differs a little. The decisions are those of the small store, so that
 * everything that reads a store does its full work.
 *
 *     make_store small.db large.db 100000 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/store.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"

enum { MOST = 100000, PER_SECOND = 10 };
static const double SPREAD = 0.5; /* of the logarithms of times */

struct rows {
    struct store_run run;
    struct store_evaluation *rows;
    size_t n;
};

/* Everything that is borrowed is copied. It stays until the process ends. */
static void copy_texts(struct store_evaluation *e)
{
    const char **texts[] = {&e->label,  &e->actions, &e->decisions, &e->numbers,
                            &e->status, &e->message, &e->resources};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        *texts[i] = base_strdup(*texts[i] ? *texts[i] : "");
}

static void copy_run(struct store_run *r)
{
    const char **texts[] = {&r->path,   &r->text,      &r->sizes,   &r->device,
                            &r->driver, &r->libraries, &r->settings};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        *texts[i] = base_strdup(*texts[i]);
}

static bool take(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct rows *r = context;
    if (r->n == 0 || r->run.id != run->id) {
        r->run = *run;
        copy_run(&r->run);
        r->n = 0;
    }
    r->rows = base_realloc(r->rows, (r->n + 1) * sizeof *r->rows);
    r->rows[r->n] = *e;
    copy_texts(&r->rows[r->n++]);
    return r->n < MOST;
}

static bool write_row(struct store *to, int64_t run, struct store_evaluation e, size_t i,
                      struct pcg32 *random)
{
    struct diag *d = diag_new();
    e.median_ns *= exp(SPREAD * pcg32_unit(random));
    e.samples = &e.median_ns;
    e.n_samples = e.median_ns > 0;
    e.found_at = (double)i / PER_SECOND;
    bool ok = store_add(to, run, &e, d);
    diag_print(d, stderr);
    diag_free(d);
    return ok;
}

/* Duplicates and oversized texts are no evaluations. */
static bool is_drawn(const struct store_evaluation *e)
{
    return e->number > 0 && strcmp(e->status, "duplicate") != 0 && strcmp(e->status, "oversized") != 0;
}

static bool has_drawn(const struct rows *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (is_drawn(&r->rows[i])) return true;
    return false;
}

/* The naive and plain ones once, then the drawn ones in turn until there are n. */
static bool write_all(struct rows *r, struct store *to, size_t n)
{
    struct pcg32 random = pcg32_seed(1, 1);
    bool ok = true;
    size_t drawn = 0;
    for (size_t i = 0; ok && i < r->n; i++)
        if (r->rows[i].number <= 0) ok = write_row(to, r->run.id, r->rows[i], 0, &random);
    for (size_t i = 0; ok && drawn < n; i++) {
        struct store_evaluation e = r->rows[i % r->n];
        if (!is_drawn(&e)) continue;
        e.number = (int64_t)++drawn;
        e.drawn = e.draws = drawn;
        ok = write_row(to, r->run.id, e, drawn, &random);
    }
    return ok;
}

int main(int argc, char **argv)
{
    struct diag *d = diag_new();
    struct rows r = {.n = 0};
    bool ok = argc == 4;
    if (!ok) diag_plain(d, "usage: make_store SMALL.db LARGE.db EVALUATIONS");
    struct store *from = ok ? store_open_to_read(argv[1], d) : NULL;
    ok = from && store_each(from, 0, take, &r, d);
    store_close(from);
    if (ok && !has_drawn(&r)) {
        diag_plain(d, "%s has no evaluations", argv[1]);
        ok = false;
    }
    struct store *to = ok ? store_open(argv[2], true, d) : NULL;
    ok = to && store_run_add(to, &r.run, d) && write_all(&r, to, strtoull(argv[3], NULL, 10));
    store_close(to);
    diag_print(d, stderr);
    diag_free(d);
    return ok ? 0 : 2;
}
