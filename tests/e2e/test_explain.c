/* `thresh explain` of a best.json and of a store: what it says is what the files hold. Figures of the table
 * of what was learnt are computed here from the rows of the store, by another formula. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/store.h"
#include "tests/e2e/described.h"
#include "tests/e2e/run.h"

enum { EXPLAIN_ROWS = 64, EXPLAIN_SHOWN = 10 };

/* A search of a small matrix product, with a store. */
struct explain_campaign {
    char folder[32], store[64], best[64], devices[64];
};

/* A description of the first device, whose arithmetic takes 0.01 ns: nothing else is known of it. */
static void explain_describe(struct explain_campaign *c)
{
    char path[96];
    snprintf(c->devices, sizeof c->devices, "%s/devices", c->folder);
    snprintf(path, sizeof path, "%s/device.json", c->devices);
    cr_assert_eq(mkdir(c->devices, 0777), 0);
    described_write_one(path, PERFMODEL_FP32, 100);
    setenv("THRESH_DEVICES", c->devices, 1);
}

static void explain_search(struct explain_campaign *c)
{
    e2e_folder(c->folder);
    snprintf(c->store, sizeof c->store, "%s/runs.db", c->folder);
    snprintf(c->best, sizeof c->best, "%s/best.json", c->folder);
    explain_describe(c);
    struct e2e_run r =
        E2E_RUN(&cli_tune, E2E_QUICK, "experiments/kernels/matmul.lift", "--size", "M=8,N=8,K=8",
                "--evaluations", "8", "--store", c->store, "--out", c->folder, "--quiet");
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    e2e_run_free(&r);
}

static void explain_remove(const struct explain_campaign *c)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", c->folder);
    cr_expect_eq(system(command), 0);
}

/* Standard output of a run that must succeed; the caller frees it. */
static char *explain_output(struct e2e_run r)
{
    char *out = r.out;
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    free(r.err);
    return out;
}

static json_t *explain_json(struct e2e_run r)
{
    char *text = explain_output(r);
    json_t *o = json_loads(text, 0, NULL);
    cr_assert_not_null(o, "%s", text);
    free(text);
    return o;
}

static double explain_real(const json_t *o, const char *key)
{
    const json_t *x = json_object_get(o, key);
    cr_assert(json_is_number(x), "%s is no number", key);
    return json_number_value(x);
}

static const char *explain_string(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    cr_assert_not_null(text, "%s is no text", key);
    return text;
}

static void explain_has(const char *text, const char *part)
{
    cr_expect(strstr(text, part), "no \"%s\" in\n%s", part, text);
}

/* ---- a best.json ---- */

/* The levels of a dimension make its extent, and its line names their sizes. */
static void explain_check_dimension(const json_t *d)
{
    json_int_t product = 1;
    size_t i;
    json_t *level;
    json_array_foreach(json_object_get(d, "levels"), i, level)
    {
        char size[32];
        product *= json_integer_value(json_object_get(level, "size"));
        snprintf(size, sizeof size, "%" JSON_INTEGER_FORMAT " ",
                 json_integer_value(json_object_get(level, "size")));
        explain_has(explain_string(d, "line"), size);
        explain_has(explain_string(level, "line"), ": ");
    }
    cr_expect_eq(product, json_integer_value(json_object_get(d, "extent")), "%s", explain_string(d, "line"));
}

static void explain_check_portrait(const json_t *o)
{
    static const char *const names[] = {"m", "n", "k"};
    const json_t *dimensions = json_object_get(o, "dimensions"), *values = json_object_get(o, "values");
    size_t i, k;
    json_t *x, *d;
    cr_assert_eq(json_array_size(dimensions), 3);
    json_array_foreach(dimensions, i, x)
    {
        explain_check_dimension(x);
        cr_expect_str_eq(explain_string(x, "name"), names[i]);
        cr_expect_eq(json_integer_value(json_object_get(x, "extent")), 8);
        cr_expect_str_eq(explain_string(x, "kind"), i == 2 ? "reduction" : "parallel");
    }
    cr_expect_eq(json_array_size(values), 2);
    json_array_foreach(values, i, x)
    {
        bool staged = json_is_true(json_object_get(x, "staged"));
        explain_has(explain_string(x, "line"), staged ? "staged in " : "not staged");
        cr_expect_eq(json_array_size(json_object_get(x, "dimensions")), staged ? 2 : 0);
        json_array_foreach(json_object_get(x, "dimensions"), k, d) explain_check_dimension(d);
    }
}

static void explain_in_json(const struct explain_campaign *c)
{
    json_t *o = explain_json(E2E_RUN(&cli_explain, c->best, "--json"));
    explain_check_portrait(o);
    double ns = explain_real(o, "median_ns"), bound = explain_real(o, "bound_of_all_ns");
    cr_expect_float_eq(explain_real(o, "bound_share"), bound / ns, 1e-9);
    cr_expect_float_eq(bound, 8 * 8 * 8 / 100.0, 1e-6);
    cr_expect_geq(explain_real(o, "bound_ns"), bound - 1e-6);
    cr_expect_float_eq(explain_real(o, "gflops"), 2 * 8 * 8 * 8 / ns, 1e-9);
    cr_expect_float_eq(explain_real(o, "gbytes_per_s"), 3 * 8 * 8 * 4 / ns, 1e-9);
    const json_t *other = json_object_get(o, "other");
    cr_expect_str_eq(explain_string(other, "role"), "second best");
    cr_expect_float_eq(explain_real(other, "ratio"),
                       explain_real(json_object_get(other, "figure"), "median_ns") / ns, 1e-9);
    cr_expect_gt(json_array_size(json_object_get(other, "decisions")), 0);
    cr_expect_float_eq(explain_real(o, "speedup"),
                       explain_real(json_object_get(o, "naive"), "median_ns") / ns, 1e-9);
    cr_expect_str_eq(explain_string(json_object_get(o, "limit"), "figure"), "fp32");
    cr_expect_str_eq(explain_string(o, "store"), c->store);
    cr_expect_eq(json_integer_value(json_object_get(json_object_get(o, "sizes"), "K")), 8);
    explain_string(o, "loops");
    explain_string(o, "opencl");
    cr_expect_gt(json_object_size(json_object_get(o, "decisions")), 0);
    json_decref(o);
}

/* Which choices were decided, and which followed, depends on what was the fastest. */
static void explain_all_decisions(const struct explain_campaign *c, const char *text)
{
    json_t *o = explain_json(E2E_RUN(&cli_explain, c->best, "--json")), *value;
    json_t *decisions = json_object_get(o, "decisions");
    const char *name;
    cr_expect_gt(json_object_size(decisions), 10);
    json_object_foreach(decisions, name, value)
    {
        char line[256];
        snprintf(line, sizeof line, "\n  %s = %s\n", name, json_string_value(value));
        explain_has(text, line);
    }
    json_decref(o);
}

/* The order of its parts, units instead of exponents, and what is hidden. */
static void explain_in_words(const struct explain_campaign *c)
{
    static const char *const parts[] = {
        "kernel     experiments/kernels/matmul.lift M=8,N=8,K=8\n",
        "\ndevice     ",
        "\ntime       ",
        "\nfrom       ",
        "\nrate       ",
        " GFLOP/s, ",
        "\nbound      ",
        " % of the time; bound of this implementation ",
        "\nlimit      float arithmetic of the whole device: fp32 = 100 G "
        "operations/s (measured on 2026-11-02 or earlier), for 512 operations\n",
        "\nnaive      ",
        "\nsecond     ",
        " times as long (",
        "); differences:\n",
        "\nstore      ",
        "\ndimensions\n  m: 8 = ",
        "\n  n: 8 = ",
        "\n  k: 8 = ",
        "\nvalues\n  A: ",
        "\n  B: ",
        "\naccesses\n",
        "\nloops\n",
        "\nopencl\n",
        "\nbound\nno decision: "};
    char *text = explain_output(E2E_RUN(&cli_explain, c->best)), *at = text;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char *found = strstr(at, parts[i]);
        cr_assert_not_null(found, "no \"%s\" at its place in\n%s", parts[i], text);
        at = found;
    }
    cr_expect(!strstr(text, "e+0"), "%s", text);
    cr_expect(!strstr(text, "\n  order("), "orders are hidden");
    free(text);
    text = explain_output(E2E_RUN(&cli_explain, c->best, "--verbose"));
    explain_has(text, "\ndecisions\n");
    explain_all_decisions(c, text);
    free(text);
}

/* ---- what was learnt ---- */

/* The rows of the search, as the store has them. */
struct explain_rows {
    struct problem *problem;
    size_t n;
    double log_ns[EXPLAIN_ROWS];
    struct space_state *leaves[EXPLAIN_ROWS];
};

static bool explain_add_row(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct explain_rows *rows = context;
    const struct cli_args none = {0};
    struct diag *d = diag_new();
    struct device dev;
    struct space_action *actions;
    const char *why = "";
    size_t n;
    if (!rows->problem) rows->problem = cli_run_problem(&none, run, &dev, d);
    cr_assert(rows->problem && rows->n < EXPLAIN_ROWS);
    diag_free(d);
    if (e->number < 1 || strcmp(e->status, "ok") != 0) return true;
    cr_assert(store_actions_parse(e->actions, &actions, &n));
    rows->leaves[rows->n] = problem_replay(rows->problem, actions, n, &why);
    cr_assert(rows->leaves[rows->n], "%s", why);
    rows->log_ns[rows->n++] = log(e->median_ns);
    free(actions);
    return true;
}

static void explain_read_rows(const char *path, struct explain_rows *rows)
{
    struct diag *d = diag_new();
    struct store *s = store_open(path, false, d);
    *rows = (struct explain_rows){0};
    cr_assert(s && store_each(s, 0, explain_add_row, rows, d));
    store_close(s);
    diag_free(d);
}

static void explain_free_rows(struct explain_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        space_state_free(rows->leaves[i]);
    problem_free(rows->problem);
}

/* Mean of the log-times of the rows whose choice has the value; NULL: of all rows. *n: how many. */
static double explain_mean(const struct explain_rows *rows, uint32_t slot, const char *value, size_t *n)
{
    double sum = 0;
    *n = 0;
    for (size_t i = 0; i < rows->n; i++) {
        char name[256];
        if (value && !space_is_live(rows->leaves[i], slot)) continue;
        space_value_name(rows->problem->space, slot, space_first_value(rows->leaves[i], slot), name,
                         sizeof name);
        if (value && strcmp(name, value) != 0) continue;
        sum += rows->log_ns[i];
        ++*n;
    }
    return sum / (double)*n;
}

/* Squares of log-times about the mean, over the rows with the value. */
static double explain_squares(const struct explain_rows *rows, uint32_t slot, const char *value)
{
    size_t n;
    double mean = explain_mean(rows, slot, value, &n), squares = 0;
    for (size_t i = 0; i < rows->n; i++) {
        char name[256] = "";
        if (value && !space_is_live(rows->leaves[i], slot)) continue;
        if (value)
            space_value_name(rows->problem->space, slot, space_first_value(rows->leaves[i], slot), name,
                             sizeof name);
        if (!value || strcmp(name, value) == 0) squares += pow(rows->log_ns[i] - mean, 2);
    }
    return squares;
}

/* Values of a choice against the rows; the share, of choices that all rows have, as what is not within the
 * values. */
static void explain_check_choice(const struct explain_rows *rows, const json_t *c)
{
    bool flipped;
    size_t i, n, all = 0;
    json_t *v;
    double within = 0;
    uint32_t slot = space_slot_named(rows->problem->space, explain_string(c, "choice"), &flipped);
    cr_assert(slot != UINT32_MAX && !flipped, "%s", explain_string(c, "choice"));
    json_array_foreach(json_object_get(c, "values"), i, v)
    {
        const char *value = explain_string(v, "value");
        double mean = explain_mean(rows, slot, value, &n);
        cr_expect_eq((size_t)explain_real(v, "evaluations"), n, "%s", value);
        cr_expect_float_eq(explain_real(v, "mean_log_ns"), mean, 1e-9);
        cr_expect_float_eq(explain_real(v, "geometric_mean_ns"), exp(mean), 1e-6 * exp(mean));
        cr_expect_eq(json_is_true(json_object_get(v, "few")), n < 5);
        within += explain_squares(rows, slot, value);
        all += n;
    }
    cr_expect_eq((size_t)explain_real(c, "evaluations"), all);
    if (all == rows->n)
        cr_expect_float_eq(explain_real(c, "share"), 1 - within / explain_squares(rows, slot, NULL), 1e-9);
}

/* The text has the first ten choices, in their order. */
static void explain_check_table(const char *text, const json_t *choices)
{
    const char *at = text;
    size_t i;
    json_t *c;
    json_array_foreach(choices, i, c)
    {
        if (i == EXPLAIN_SHOWN) break;
        at = strstr(at, explain_string(c, "choice"));
        cr_assert_not_null(at, "%s is not at its place in\n%s", explain_string(c, "choice"), text);
    }
}

static void explain_learnt(const struct explain_campaign *c)
{
    struct explain_rows rows;
    double last = 1;
    size_t i;
    json_t *choice;
    explain_read_rows(c->store, &rows);
    json_t *learnt = explain_json(E2E_RUN(&cli_explain, c->store, "--learnt", "--json"));
    const json_t *choices = json_object_get(learnt, "choices");
    cr_expect_eq((size_t)explain_real(learnt, "evaluations"), rows.n);
    cr_expect_gt(json_array_size(choices), 3);
    json_array_foreach(choices, i, choice)
    {
        explain_check_choice(&rows, choice);
        cr_expect_leq(explain_real(choice, "share"), last);
        last = explain_real(choice, "share");
    }
    char *text = explain_output(E2E_RUN(&cli_explain, c->store, "--learnt"));
    explain_check_table(text, choices);
    free(text);
    text = explain_output(E2E_RUN(&cli_explain, c->store, "--best"));
    explain_check_table(strstr(text, "\nlearnt\n"), choices);
    explain_has(text, "\ndimensions\n");
    free(text);
    json_decref(learnt);
    explain_free_rows(&rows);
}

/* One search, since it takes most of the time. */
Test(explain, a_result_and_its_store, .timeout = 280)
{
    struct explain_campaign c;
    explain_search(&c);
    explain_in_json(&c);
    explain_in_words(&c);
    explain_learnt(&c);
    explain_remove(&c);
}

/* The time of this program is the number of its rows, so that the choice tells all of the variance. */
Test(explain, what_a_search_of_a_space_learnt, .timeout = 200)
{
    char folder[32], store[64], command[64];
    size_t i;
    json_t *v;
    e2e_folder(folder);
    snprintf(store, sizeof store, "%s/runs.db", folder);
    free(explain_output(E2E_RUN(&cli_tune, E2E_QUICK, "--space", "experiments/spaces/transpose.space",
                                "--command", "echo {tile_rows}", "--evaluations", "60", "--store", store,
                                "--quiet")));
    json_t *learnt = explain_json(E2E_RUN(&cli_explain, store, "--learnt", "--json"));
    const json_t *first = json_array_get(json_object_get(learnt, "choices"), 0);
    cr_expect_eq((size_t)explain_real(learnt, "evaluations"), 60);
    cr_expect_str_eq(explain_string(first, "choice"), "tile_rows");
    cr_expect_float_eq(explain_real(first, "share"), 1, 1e-9);
    json_array_foreach(json_object_get(first, "values"), i, v)
        cr_expect_float_eq(explain_real(v, "geometric_mean_ns"), atof(explain_string(v, "value")), 1e-9);
    json_decref(learnt);
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_expect_eq(system(command), 0);
}

Test(explain, nothing_was_learnt_from_an_empty_store)
{
    char path[32];
    struct diag *d = diag_new();
    e2e_file(path, "");
    struct store *s = store_open(path, true, d);
    cr_assert_not_null(s);
    store_close(s);
    struct e2e_run r = E2E_RUN(&cli_explain, path, "--learnt");
    cr_expect_eq(r.status, CLI_USAGE);
    explain_has(r.err, "the store has no valid evaluation");
    e2e_run_free(&r);
    unlink(path);
    diag_free(d);
}
