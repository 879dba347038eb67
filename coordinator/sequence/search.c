/* Searching the programs of a plan (search.h). */
#include "coordinator/sequence/search.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/store_state.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/base/stop.h"
#include "core/base/strbuf.h"

/* ---- the store ---- */

/* A file of our own in the folder for temporary files. */
static bool make_store(struct sequence_search *s, struct diag *d)
{
    const char *folder = getenv("TMPDIR");
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/thresh-sequence-XXXXXX", folder && *folder ? folder : "/tmp");
    int fd = mkstemp(path.text);
    if (fd < 0) {
        diag_plain(d, "cannot create a store in %s: %s; give one with --store FILE.db",
                   folder && *folder ? folder : "/tmp", file_error_text(errno));
        strbuf_free(&path);
        return false;
    }
    close(fd);
    s->own_store = true;
    s->store = strbuf_take(&path);
    return true;
}

/* The files that SQLite makes beside a database go with it. */
static void remove_store(const char *store)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct strbuf path = {0};
        strbuf_printf(&path, "%s%s", store, ends[i]);
        unlink(path.text);
        strbuf_free(&path);
    }
}

/* Whether the store has a run of the program's text: of whatever settings, which a resumed run checks. */
static bool has_run(const char *path, const char *text, struct diag *d)
{
    struct store *store = store_open_to_read(path, d);
    sqlite3_stmt *q = store ? store_prepare(store, "SELECT 1 FROM run WHERE text = ?", d) : NULL;
    if (q) sqlite3_bind_text(q, 1, text, -1, SQLITE_STATIC);
    bool found = q && sqlite3_step(q) == SQLITE_ROW;
    sqlite3_finalize(q);
    store_close(store);
    return found;
}

/* ---- one program ---- */

/* The files of those inputs that the program has. */
static struct given_files files_of(const struct given_files *f, const struct lift_program *p)
{
    struct given_files out = {.has_tolerance = f->has_tolerance, .tolerance = f->tolerance};
    for (unsigned i = 0; i < f->n_inputs; i++)
        for (unsigned k = 0; k < p->n_arrays; k++)
            if (p->arrays[k].input != LIFT_NONE && !strcmp(p->arrays[k].name, f->inputs[i].name))
                out.inputs[out.n_inputs++] = f->inputs[i];
    return out;
}

struct tune_options sequence_program_options(const struct sequence_search *s, unsigned program)
{
    const struct sequence_program *p = &s->plan->programs[program];
    struct tune_options o = *s->options;
    o.path = p->path;
    o.text = p->text;
    o.store = s->store;
    o.private_store = s->own_store;
    if (p->program != s->plan->program && p->program != s->plan->unnamed)
        o.data = files_of(&s->options->data, p->program);
    return o;
}

/* The fastest by the times of the search; NULL: nothing valid was found. */
static const struct session_pick *fastest(const struct tune_report *r)
{
    const struct session_pick *best = NULL, *others[1 + BB_MAX_PLAIN + LIMIT_LEARNED + 1];
    unsigned n = 0;
    if (r->search.n_top) others[n++] = &r->search.top[0];
    if (r->naive.search_ns > 0 && !r->naive_excluded) others[n++] = &r->naive;
    for (unsigned i = 0; i < r->n_plain; i++)
        others[n++] = &r->plain[i];
    for (unsigned i = 0; i < r->n_learned; i++)
        others[n++] = &r->learned[i];
    for (unsigned i = 0; i < n; i++)
        if (others[i]->search_ns > 0 && (!best || others[i]->search_ns < best->search_ns)) best = others[i];
    return best;
}

static void take_naive(struct sequence_found *f, const struct problem *p)
{
    struct diag *ignored = diag_new();
    char why[160];
    struct space_state *leaf = problem_naive(p, ignored);
    if (leaf && !pipeline_lower(p, leaf, &f->naive, why, sizeof why)) f->naive = (struct pipeline_code){0};
    space_state_free(leaf);
    diag_free(ignored);
}

/* Takes what is known of a program from its search. false after an error. */
static bool take(struct sequence_search *s, struct sequence_found *f, struct tune *t, bool last,
                 struct diag *d)
{
    const struct tune_report *r = tune_report(t);
    const struct session_pick *best = last && r->search.n_contenders ? &r->search.contenders[0] : fastest(r);
    char why[160] = "";
    if (!best) {
        if (!r->search.interrupted)
            diag_plain(d, "%s: no valid implementation was found%s%s", tune_problem(t)->source.path,
                       *r->search.last_failure ? "; the last one: " : "", r->search.last_failure);
        return false;
    }
    pipeline_code_clear(&f->best);
    if (!f->naive.kernel.source) take_naive(f, tune_problem(t));
    f->known =
        pipeline_lower_actions(tune_problem(t), best->actions, best->n_actions, &f->best, why, sizeof why);
    if (!f->known)
        diag_plain(d, "%s: cannot lower the best implementation: %s", tune_problem(t)->source.path, why);
    f->ns = last ? best->figure.median_ns : best->search_ns;
    f->figure = best->figure;
    f->evaluations = r->search.evaluations;
    f->ok = r->search.ok;
    f->failed = r->search.failed;
    f->cut = r->search.cut;
    s->device = *tune_device(t);
    s->interrupted = s->interrupted || r->search.interrupted;
    if (f->known && last) f->result = tune_result(t, d);
    return f->known && (!last || f->result);
}

uint64_t sequence_share(uint64_t evaluations, double share)
{
    uint64_t n = (uint64_t)((double)evaluations * share + 1e-6);
    return evaluations && !n ? 1 : n;
}

/* Seconds of the final rounds of one part of a sequence: together they take as long as those of one kernel,
 * or what the user says. */
static double rounds_of(const struct tune_options *o, unsigned n_parts)
{
    double all = o->rounds_s > 0 ? o->rounds_s : LIMIT_ROUNDS_SHARE * o->time_s;
    return (o->rounds_s > 0 || all > LIMIT_ROUNDS_S ? all : LIMIT_ROUNDS_S) / n_parts;
}

/* Searches a program up to `share` of the whole budget; last: with its final rounds, as one of so many parts.
 */
static bool search(struct sequence_search *s, unsigned program, double share, unsigned last, struct diag *d)
{
    struct tune_options o = sequence_program_options(s, program);
    struct sequence_found *f = &s->found[program];
    if (!o.quiet) fprintf(stderr, "part %s: %.0f %% of the budget\n", o.path, 100 * share);
    o.evaluations = sequence_share(o.evaluations, share);
    if (last) o.rounds_s = rounds_of(&o, last);
    o.time_s *= share;
    o.used = f->evaluations;
    o.resume = f->known || (o.resume && has_run(s->store, o.text, d));
    struct tune *t = stop_requested(o.stop_fd) ? NULL : tune_new(&o, d);
    bool ok = t && tune_search(t, d);
    if (ok && last) ok = tune_quote(t, d);
    if (t) ok = take(s, f, t, last > 0, d) && ok;
    tune_free(t);
    s->interrupted = s->interrupted || stop_requested(o.stop_fd);
    return ok && !s->interrupted;
}

/* ---- all of them ---- */

bool sequence_search_open(struct sequence_search *s, const struct sequence_plan *plan,
                          const struct tune_options *options, struct diag *d)
{
    *s = (struct sequence_search){.plan = plan, .options = options};
    s->found = base_calloc(plan->n_programs + 1, sizeof *s->found);
    s->data = given_load(&options->data, plan->program, d);
    if (!s->data) return false;
    if (!options->store) return make_store(s, d);
    s->store = base_strdup(options->store);
    return true;
}

static bool is_used(const struct sequence_plan *plan, unsigned program)
{
    for (unsigned v = 0; v < plan->n_variants; v++)
        for (unsigned i = 0; i < plan->variants[v].n_parts; i++)
            if (plan->variants[v].programs[i] == program) return true;
    return false;
}

/* What each program gets in the first turn. */
static double first_share(const struct sequence_plan *plan)
{
    unsigned n = 0;
    for (unsigned i = 0; i < plan->n_programs; i++)
        n += is_used(plan, i);
    double most = n ? LIMIT_FIRST_SHARES / n : 1;
    return most < LIMIT_FIRST_SHARE ? most : LIMIT_FIRST_SHARE;
}

bool sequence_search_first(struct sequence_search *s, struct diag *d)
{
    bool ok = true;
    for (unsigned i = 0; ok && i < s->plan->n_programs; i++)
        ok = !is_used(s->plan, i) || search(s, i, first_share(s->plan), 0, d);
    return ok;
}

/* What the first turn has used. */
static double used_share(const struct sequence_search *s)
{
    double used = 0;
    for (unsigned i = 0; i < s->plan->n_programs; i++)
        if (s->found[i].known) used += first_share(s->plan);
    return used;
}

double sequence_share_left(const struct sequence_search *s, unsigned program)
{
    return 1 - used_share(s) + (s->found[program].known ? first_share(s->plan) : 0);
}

bool sequence_search_rest(struct sequence_search *s, const struct sequence_variant *v, struct diag *d)
{
    double all = 0, left = 1 - used_share(s);
    double *shares = base_calloc(v->n_parts, sizeof *shares);
    for (unsigned i = 0; i < v->n_parts; i++)
        all += sequence_steps_of(v, i) * s->found[v->programs[i]].ns;
    for (unsigned i = 0; i < v->n_parts; i++) {
        const struct sequence_found *f = &s->found[v->programs[i]];
        double own = f->known ? first_share(s->plan) : 0;
        shares[i] = own + left * (all > 0 ? sequence_steps_of(v, i) * f->ns / all : 1.0 / v->n_parts);
    }
    bool ok = true;
    for (unsigned i = 0; ok && i < v->n_parts; i++)
        ok = search(s, v->programs[i], shares[i], v->n_parts, d);
    free(shares);
    return ok;
}

uint64_t sequence_evaluations(const struct sequence_search *s)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < s->plan->n_programs; i++)
        n += s->found[i].evaluations;
    return n;
}

void sequence_search_close(struct sequence_search *s)
{
    for (unsigned i = 0; s->found && i < s->plan->n_programs; i++) {
        pipeline_code_clear(&s->found[i].best);
        pipeline_code_clear(&s->found[i].naive);
        json_decref(s->found[i].result);
    }
    free(s->found);
    given_free(s->data);
    if (s->own_store) remove_store(s->store);
    free(s->store);
    *s = (struct sequence_search){0};
}
