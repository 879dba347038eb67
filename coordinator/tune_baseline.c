/* The user's own kernels in a campaign. The agent of this process verifies them before it takes jobs:
 *
 *     does not build, other arguments     an error before anything is searched
 *     wrong results, writes elsewhere     a warning: it is left out, and the table names it
 *     ok                                  it is in every final round; it cannot win
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/store.h"
#include "coordinator/tune_state.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/stop.h"
#include "core/base/strbuf.h"

static bool allows(const struct tune_options *o, struct diag *d)
{
    const char *other = o->recorded ? "--recorded: nothing is run"
                        : o->listen || o->fleet
                            ? "agents of other processes: they accept no OpenCL text; leave out --listen and "
                              "--launch to measure in this process"
                            : NULL;
    if (other) diag_plain(d, "--baseline does not apply with %s", other);
    if (!other && o->n_baselines > LIMIT_BASELINES)
        diag_plain(d, "--baseline: over %d of them", LIMIT_BASELINES);
    return !other && o->n_baselines <= LIMIT_BASELINES;
}

bool tune_read_baselines(struct tune *t, const struct lift_program *p, struct diag *d)
{
    const struct tune_options *o = &t->options;
    bool ok = o->n_baselines == 0 || allows(o, d);
    for (unsigned i = 0; ok && i < o->n_baselines; i++) {
        ok = baseline_read(o->baselines[i], p, &t->baselines[i], d);
        t->n_baselines += ok;
    }
    return ok;
}

void tune_bind_baselines(struct tune *t)
{
    for (unsigned i = 0; i < t->n_baselines; i++) {
        baseline_bind(&t->baselines[i], t->problem->backbone);
        t->kernels[i] = &t->baselines[i].kernel;
    }
}

/* ---- verification ---- */

/* Waits for the answer about baseline i. NULL after an error. */
static const struct agents_trial *await_trial(struct tune *t, unsigned i, struct diag *d)
{
    const struct agents_trial *trial = agents_trial(t->agents, i);
    while (!trial->known) {
        if (stop_requested(t->options.stop_fd)) {
            diag_plain(d, "interrupted while the baselines were verified");
            return NULL;
        }
        struct session_event e = agents_evaluator.collect(t->agents, LIMIT_TURN_MS);
        if (e.kind != SESSION_BROKEN) continue;
        diag_plain(d, "%s", e.reason);
        return NULL;
    }
    return trial;
}

static void tell_left_out(struct tune *t, const struct tune_baseline *b)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "%s is left out: %s: %s", b->label, b->status, b->why);
    progress_note(&t->progress, text.text);
    strbuf_free(&text);
}

static bool take_trial(struct tune *t, unsigned i, struct diag *d)
{
    const struct agents_trial *trial = await_trial(t, i, d);
    struct tune_baseline *b = &t->report.baselines[t->report.n_baselines];
    if (!trial) return false;
    b->label = t->baselines[i].label;
    b->status = eval_status_name(trial->status);
    if (trial->status == EVAL_BUILD_ERROR) {
        diag_plain(d, "%s: %s", b->label, trial->message);
        return false;
    }
    if (trial->status != EVAL_OK) b->why = trial->message;
    b->pick = (struct session_pick){.label = b->label,
                                    .number = STORE_BASELINE - (int64_t)i,
                                    .search_ns = trial->median_ns,
                                    .figure = figure_of_search(trial->median_ns)};
    t->report.n_baselines++;
    if (b->why) tell_left_out(t, b);
    return true;
}

bool tune_try_baselines(struct tune *t, struct diag *d)
{
    bool ok = true;
    for (unsigned i = 0; ok && i < t->n_baselines; i++)
        ok = take_trial(t, i, d);
    return ok;
}

/* ---- the comparison ---- */

void tune_compare_baselines(struct tune *t)
{
    struct tune_report *r = &t->report;
    const struct session_pick *list = r->search.contenders;
    for (unsigned i = 0; i < r->n_baselines; i++) {
        struct tune_baseline *b = &r->baselines[i];
        for (unsigned k = 0; k < r->search.n_contenders; k++)
            if (list[k].number == b->pick.number) b->pick.figure = list[k].figure;
        if (b->why || r->search.n_contenders == 0 || !figure_comparable(&b->pick.figure, &list[0].figure))
            continue;
        b->speedup = figure_ratio(&b->pick.figure, &list[0].figure, NULL, NULL, 0).quotient;
    }
}

void tune_free_baselines(struct tune *t)
{
    for (unsigned i = 0; i < t->n_baselines; i++)
        baseline_clear(&t->baselines[i]);
}
