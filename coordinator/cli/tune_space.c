/* thresh tune --space FILE --command 'PROG {choice}': opens the space, searches, prints the best candidate.
 */
#include "coordinator/cli/tune_space.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/best.h"
#include "coordinator/cli/space_open.h"
#include "coordinator/solution.h"
#include "coordinator/tune_command.h"
#include "core/base/file.h"
#include "core/base/strbuf.h"
#include "core/base/units.h"

/* Options that are about programs and devices, and those of a command that is not run. */
static bool refuse_others(const struct cli_args *a, struct diag *d)
{
    static const enum cli_key others[] = {CLI_SIZE,       CLI_DEVICE,           CLI_LISTEN,    CLI_NO_BOUND,
                                          CLI_DISTANCE,   CLI_DESCRIPTION,      CLI_NO_PRIOR,  CLI_AUDIT_CUTS,
                                          CLI_TEXT_LIMIT, CLI_ALLOW_NONFINITE,  CLI_LAUNCH,    CLI_LEARN_FROM,
                                          CLI_INPUT,      CLI_OUTPUT_REFERENCE, CLI_TOLERANCE, CLI_BASELINE,
                                          CLI_ALLOW},
                              of_runs[] = {CLI_RUNNERS, CLI_TIMEOUT, CLI_ROUNDS_TIME};
    return cli_refuse(a, others, sizeof others / sizeof others[0], "does not apply to --space", d) &&
           (!cli_given(a, CLI_RECORDED) ||
            cli_refuse(a, of_runs, sizeof of_runs / sizeof of_runs[0],
                       "does not apply to --recorded: the command is not run", d));
}

static bool read_options(const struct cli_args *a, struct tune_command_options *o, struct diag *d)
{
    uint64_t otherwise = cli_given(a, CLI_TIME) ? 0 : LIMIT_EVALUATIONS;
    o->path = a->value[CLI_SPACE];
    o->parameters = cli_given(a, CLI_PARAM) ? a->value[CLI_PARAM] : "";
    o->command = a->value[CLI_COMMAND];
    o->recorded = a->value[CLI_RECORDED];
    o->order = a->value[CLI_ORDER];
    o->heuristic = a->value[CLI_HEURISTIC];
    o->store = a->value[CLI_STORE];
    o->resume = cli_given(a, CLI_RESUME);
    o->quiet = cli_given(a, CLI_QUIET);
    o->verbose = cli_given(a, CLI_VERBOSE);
    if (!o->command && !o->recorded)
        diag_plain(d, "--space needs --command 'PROG {choice}', the program that measures a candidate, or "
                      "--recorded FILE.db");
    uint64_t runners = 1;
    bool ok = (o->command || o->recorded) && refuse_others(a, d) && cli_count(a, CLI_SEED, 1, &o->seed, d) &&
              cli_positive(a, CLI_EVALUATIONS, otherwise, &o->evaluations, d) &&
              cli_positive(a, CLI_RUNNERS, 1, &runners, d) && cli_seconds(a, CLI_TIME, &o->time_s, d) &&
              cli_seconds(a, CLI_ROUNDS_TIME, &o->rounds_s, d) &&
              cli_seconds(a, CLI_TIMEOUT, &o->timeout_s, d);
    if (!cli_given(a, CLI_TIMEOUT)) o->timeout_s = LIMIT_TIMEOUT_S;
    o->runners = (unsigned)runners;
    if (!ok || runners <= LIMIT_RUNNERS) return ok;
    diag_plain(d, "--runners: must be at most %d", LIMIT_RUNNERS);
    return false;
}

/* ---- results ---- */

/* What runs the best candidate, or null. */
static json_t *line_json(const struct tune_command_report *r)
{
    return r->best_line ? json_string(r->best_line) : json_null();
}

/* What a program printed beside the time; null: nothing. */
static json_t *numbers_json(const struct session_pick *p)
{
    json_t *numbers = json_loads(p->numbers, 0, NULL);
    return numbers ? numbers : json_null();
}

static json_t *pick_json(const struct session_pick *p)
{
    return json_pack("{s:I,s:o,s:o,s:f,s:I,s:o}", "number", (json_int_t)p->number, "decisions",
                     solution_json(p->leaf), "figure", figure_json(&p->figure), "search_ns", p->search_ns,
                     "found_at", (json_int_t)p->found_at, "numbers", numbers_json(p));
}

static json_t *top_json(const struct tune_command_report *r)
{
    json_t *top = json_array();
    for (unsigned i = 0; i < r->search.n_contenders; i++)
        json_array_append_new(top, pick_json(&r->search.contenders[i]));
    return top;
}

/* The keys of the best one, null if there is none. */
static void add_best(json_t *o, const struct tune_command_report *r)
{
    const struct session_pick *best = r->search.n_contenders ? &r->search.contenders[0] : NULL;
    json_object_set_new(o, "best_ns", best ? json_real(best->figure.median_ns) : json_null());
    json_object_set_new(o, "best_figure", best ? figure_json(&best->figure) : json_null());
    json_object_set_new(o, "search_ns", best ? json_real(best->search_ns) : json_null());
    json_object_set_new(o, "best", best ? solution_json(best->leaf) : json_null());
    json_object_set_new(o, "numbers", best ? numbers_json(best) : json_null());
    json_object_set_new(o, "found_at", best ? json_integer((json_int_t)best->found_at) : json_null());
    json_object_set_new(o, "quoted", json_boolean(best && figure_quoted(&best->figure)));
}

static json_t *report_json(const struct tune_command_options *o, const struct tune_command_report *r)
{
    json_t *all = json_pack(
        "{s:s,s:s?,s:s?,s:I,s:I,s:I,s:o,s:o,s:I,s:f,s:f,s:f,s:I,s:o,s:s?,s:b,s:b}", "space", o->path,
        "command", o->command, "recorded", o->recorded, "evaluations", (json_int_t)r->search.evaluations,
        "ok", (json_int_t)r->search.ok, "failed", (json_int_t)r->search.failed, "run", line_json(r), "top",
        top_json(r), "seed", (json_int_t)o->seed, "elapsed_s", r->search.elapsed_s, "evaluations_per_s",
        r->search.elapsed_s > 0 ? (double)r->search.evaluations / r->search.elapsed_s : 0.0, "dead_end_ratio",
        r->search.dead_end_ratio, "nodes", (json_int_t)r->search.nodes, "nodes_by_cause",
        cli_causes_json(r->search.by_cause), "store", o->store, "exhausted", (int)r->search.exhausted,
        "stuck", (int)r->search.stuck);
    add_best(all, r);
    return all;
}

/* The members of an object, a line each. Takes its reference. */
static void print_members(json_t *o)
{
    json_t *value;
    const char *name;
    int width = 12;
    json_object_foreach(o, name, value) width = (int)strlen(name) > width ? (int)strlen(name) : width;
    json_object_foreach(o, name, value)
    {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        size_t n = strlen(text);
        bool quoted = n > 1 && text[0] == '"';
        printf("  %-*s %.*s\n", width, name, (int)(quoted ? n - 2 : n), quoted ? text + 1 : text);
        free(text);
    }
    json_decref(o);
}

/* The others of the final rounds, with what tells them from the best one. */
static void print_others(const struct tune_command_report *r)
{
    char figure[FIGURE_TEXT];
    for (unsigned i = 1; i < r->search.n_contenders; i++) {
        const struct session_pick *p = &r->search.contenders[i];
        json_t *mine = solution_json(p->leaf), *best = solution_json(r->search.contenders[0].leaf), *value;
        const char *name;
        printf("%-12s %s ", i == 1 ? "second" : "", figure_print(&p->figure, figure));
        json_object_foreach(mine, name, value)
        {
            if (json_equal(value, json_object_get(best, name))) continue;
            char *text = json_dumps(value, JSON_ENCODE_ANY);
            printf(" %s=%s", name, text);
            free(text);
        }
        putchar('\n');
        json_decref(mine);
        json_decref(best);
    }
}

static void print_best(const struct tune_command_report *r)
{
    char figure[FIGURE_TEXT], search[32];
    const struct session_pick *best = &r->search.contenders[0];
    units_time(best->search_ns, search, sizeof search);
    printf("best         %s, found at evaluation %" PRIu64, figure_print(&best->figure, figure),
           best->found_at);
    if (figure_quoted(&best->figure)) printf(" (%s in the search)", search);
    putchar('\n');
    print_members(solution_json(best->leaf));
    if (*best->numbers) {
        printf("its output\n");
        print_members(numbers_json(best));
    }
    print_others(r);
    if (r->best_line) printf("run          %s\n", r->best_line);
}

static void print_table(const struct tune_command_options *o, const struct tune_command_report *r)
{
    printf("space        %s%s%s\n", o->path, *o->parameters ? " " : "", o->parameters);
    if (o->recorded)
        printf("recorded     %s\n", o->recorded);
    else
        printf("command      %s\n", o->command);
    printf("evaluations  %" PRIu64 " (%" PRIu64 " ok, %" PRIu64 " failed)\n", r->search.evaluations,
           r->search.ok, r->search.failed);
    printf("time         %.1f s\n", r->search.elapsed_s);
    if (o->verbose) cli_print_nodes(r->search.nodes, r->search.by_cause);
    if (r->search.exhausted) printf("fully explored: every candidate was evaluated\n");
    if (r->search.stuck) printf("ended early: search stalled, no new candidate found\n");
    if (r->search.n_contenders) print_best(r);
}

/* best.json under --out: the decisions and their time. */
static bool write_best(const struct cli_args *a, const struct tune_command_options *o,
                       const struct tune_command_report *r, struct diag *d)
{
    const char *folder = a->value[CLI_OUT];
    if (!folder) return true;
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/best.json", folder);
    const struct session_pick *p = &r->search.contenders[0];
    json_t *best = json_pack("{s:s,s:s,s:s?,s:o,s:o,s:f,s:o,s:f,s:o}", "space", o->path, "parameters",
                             o->parameters, "command", o->command, "decisions", solution_json(p->leaf), "run",
                             line_json(r), "time_ns", p->figure.median_ns, "figure", figure_json(&p->figure),
                             "search_ns", p->search_ns, "numbers", numbers_json(p));
    struct file_new f;
    bool ok = file_begin(&f, path.text, d);
    if (ok) json_dumpf(best, f.out, JSON_INDENT(1) | JSON_PRESERVE_ORDER), fputc('\n', f.out);
    ok = ok && file_end(&f, d);
    json_decref(best);
    strbuf_free(&path);
    return ok;
}

static int print_report(const struct cli_args *a, const struct tune_command_options *o,
                        const struct tune_command_report *r, struct diag *d)
{
    if (cli_given(a, CLI_JSON))
        cli_print_json(report_json(o, r));
    else
        print_table(o, r);
    if (r->search.n_contenders) return write_best(a, o, r, d) ? CLI_OK : CLI_FAILED;
    diag_plain(d, "no candidate was measured%s%s", *r->search.last_failure ? "; the last failure: " : "",
               r->search.last_failure);
    return CLI_FAILED;
}

/* ---- the command ---- */

static char *pins_text(const struct cli_args *a)
{
    struct strbuf b = {0};
    for (unsigned i = 0; i < a->pins.n; i++)
        strbuf_printf(&b, " pin=%s", a->pins.items[i]);
    return strbuf_take(&b);
}

static int search(const struct cli_args *a, struct cli_space *space, struct diag *d)
{
    struct tune_command_options o = {.stop_fd = -1};
    struct tune_command_report r = {0};
    if (!read_options(a, &o, d) || !cli_try_heuristic(a, d) ||
        (cli_given(a, CLI_OUT) && !best_make_folder(a->value[CLI_OUT], d)))
        return CLI_USAGE;
    if (!cli_space_load(o.path, space, d) || !cli_space_instantiate(a, space, d)) return CLI_USAGE;
    struct space_state *root = space_pinned_root(space->space, a->pins.items, a->pins.n, d);
    if (!root) return CLI_USAGE;
    char *pins = pins_text(a);
    o.root = root;
    o.pins = pins;
    o.stop_fd = cli_signals();
    bool ok = tune_command(&o, &r, d);
    bool started = ok || r.search.evaluations > 0;
    int status = started ? print_report(a, &o, &r, d) : CLI_USAGE;
    if (!ok && started) status = CLI_FAILED;
    status = cli_signal_status(o.stop_fd, status);
    tune_command_report_clear(&r);
    space_state_free(root);
    free(pins);
    return status;
}

int cli_tune_space(const struct cli_args *a)
{
    struct diag *d = diag_new();
    struct cli_space space = {0};
    int status = cli_finish(d, search(a, &space, d));
    cli_space_close(&space);
    return status;
}
