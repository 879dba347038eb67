/* Setting up a session over any space: the command or its recorded timings, the store's run. See
 * tune_command.h. */
#include "coordinator/tune_command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "coordinator/command_runners.h"
#include "coordinator/progress.h"
#include "coordinator/recorded.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"

static const struct session_subject any_space = {0};

struct search {
    const struct tune_command_options *options;
    struct command *command;         /* NULL: there is none, */
    struct recorded *recorded;       /* whose timings stand for it; or NULL */
    struct command_runners *runners; /* NULL: the command is not run */
    struct progress progress;
    char *settings;
    struct session *session;
};

static void warn_of_unnamed(const struct search *s, struct diag *d)
{
    unsigned n;
    char *names = command_unnamed(s->command, s->options->root, &n);
    if (names)
        diag_plain_warning(d,
                           "--command has no placeholder for the choice%s %s: candidates that differ only "
                           "there run the same command line",
                           n > 1 ? "s" : "", names);
    free(names);
}

/* The command, the recorded timings, or both; the command is not run then. */
static bool open_command(struct search *s, struct diag *d)
{
    const struct tune_command_options *o = s->options;
    const struct space *space = space_of(o->root);
    if (o->command && !(s->command = command_new(o->command, space, d))) return false;
    if (s->command) warn_of_unnamed(s, d);
    diag_print_warnings(d, stderr);
    if (o->recorded)
        s->recorded = recorded_open(o->recorded, space_fingerprint(space), STORE_NO_DEVICE, d);
    else if (s->command)
        s->runners = command_runners_new(s->command, o->runners, o->timeout_s, o->stop_fd);
    return s->recorded || s->runners;
}

/* A space of some choices is searched by far more rollouts than there are evaluations: they take
 * microseconds, a run of the program seconds. */
static const char *heuristic_of(const struct tune_command_options *o)
{
    return o->heuristic ? o->heuristic : "tag:draws=64,generations=8,redraws=4";
}

static char *settings_text(const struct tune_command_options *o)
{
    struct strbuf b = {0};
    if (o->replays) return base_strdup(o->replays->settings);
    if (o->recorded)
        strbuf_add(&b, RECORDED_COMMAND);
    else
        strbuf_printf(&b, "command=%s", o->command);
    strbuf_printf(&b, " heuristic=%s order=%s%s", heuristic_of(o), o->order ? o->order : "", o->pins);
    return strbuf_take(&b);
}

/* A program has a time limit of its own: what is at work when the time is over may end. */
static bool open_session(struct search *s, struct diag *d)
{
    const struct tune_command_options *o = s->options;
    s->settings = settings_text(o);
    const struct session_setup setup = {.options = {.heuristic = heuristic_of(o),
                                                    .order = o->order,
                                                    .store = o->store,
                                                    .seed = o->seed,
                                                    .evaluations = o->evaluations,
                                                    .time_s = o->time_s,
                                                    .rounds_s = o->rounds_s,
                                                    .grace_s = INFINITY,
                                                    .snapshot_s = o->snapshot_s,
                                                    .resume = o->resume,
                                                    .replays = o->replays != NULL,
                                                    .verbose = o->verbose,
                                                    .names_decisions = true,
                                                    .stop_fd = o->stop_fd},
                                        .root = o->root,
                                        .config = mcts_config_default(),
                                        .run = {.id = o->replays ? o->replays->id : 0,
                                                .path = o->path,
                                                .text = "",
                                                .sizes = o->parameters,
                                                .device = STORE_NO_DEVICE,
                                                .driver = "",
                                                .settings = s->settings,
                                                .fingerprint = space_fingerprint(space_of(o->root)),
                                                .seed = o->seed},
                                        .progress = &s->progress,
                                        .evaluator = s->recorded ? &recorded_evaluator : &command_evaluator,
                                        .evaluator_self =
                                            s->recorded ? (void *)s->recorded : (void *)s->runners,
                                        .subject = &any_space};
    s->session = session_new(&setup, d);
    return s->session && (!o->resume || o->replays || session_restore(s->session, d));
}

/* The shell line of the best one, where the command is told the decisions by words. */
static char *best_line(const struct search *s, const struct session_report *r)
{
    if (!r->n_contenders || !s->command || command_wants_input(s->command)) return NULL;
    return command_line(s->command, r->contenders[0].leaf);
}

bool tune_command(const struct tune_command_options *o, struct tune_command_report *out, struct diag *d)
{
    struct search s = {.options = o, .progress = progress_start(o->quiet)};
    *out = (struct tune_command_report){0};
    bool ok = open_command(&s, d) && open_session(&s, d);
    if (ok) {
        session_search(s.session, d);
        double searched_s = session_elapsed(s.session);
        session_finals(s.session, NULL, 0, d);
        out->search = session_take_report(s.session);
        out->search.elapsed_s = searched_s;
        out->best_line = best_line(&s, &out->search);
    }
    session_free(s.session);
    command_runners_free(s.runners);
    command_free(s.command);
    recorded_close(s.recorded);
    free(s.settings);
    return ok && !diag_failed(d);
}

bool tune_command_replay(const struct tune_command_options *o, struct session_replayed *out, struct diag *d)
{
    struct search s = {.options = o, .progress = progress_start(true)};
    bool ok = open_session(&s, d) && session_replay(s.session, out, d);
    session_free(s.session);
    free(s.settings);
    return ok;
}

void tune_command_report_clear(struct tune_command_report *r)
{
    session_report_clear(&r->search);
    free(r->best_line);
    r->best_line = NULL;
}
