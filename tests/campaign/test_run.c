/* Campaigns as commands: searches are run once, a stopped campaign goes on, a fault stays with its search. */
#include <criterion/criterion.h>
#include <arpa/inet.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "coordinator/store.h"
#include "core/base/diag.h"
#include "tests/campaign/fixture.h"
#include "tests/web/fixture.h"

/* Runs a verb with --json; *out is its object, NULL if it printed none. Returns the exit status. */
static int campaign_test_verb(const struct campaign_test *t, const char *verb, json_t **out, char **err)
{
    struct e2e_run r = E2E_RUN(&cli_campaign, verb, t->file, "--json");
    int status = r.status;
    *out = json_loads(r.out, 0, NULL);
    if (err) *err = strdup(r.err);
    e2e_run_free(&r);
    return status;
}

static json_t *campaign_test_search(const json_t *campaign, size_t i)
{
    return json_array_get(json_object_get(campaign, "searches"), i);
}

static const char *campaign_test_text(const json_t *campaign, size_t i, const char *key)
{
    const char *text = json_string_value(json_object_get(campaign_test_search(campaign, i), key));
    return text ? text : "?";
}

static int64_t campaign_test_number(const json_t *campaign, size_t i, const char *key)
{
    return json_integer_value(json_object_get(campaign_test_search(campaign, i), key));
}

static bool campaign_test_has(const struct campaign_test *t, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", t->folder, name);
    return access(path, R_OK) == 0;
}

/* Rows of the store that are of drawn implementations, in all runs; and its runs. */
struct campaign_test_counts {
    int rows, runs;
    int64_t last;
};

static bool campaign_test_count_row(void *context, const struct store_run *run,
                                    const struct store_evaluation *e)
{
    struct campaign_test_counts *c = context;
    c->rows += e->number > 0;
    c->runs += run->id != c->last;
    c->last = run->id;
    return true;
}

/* A store that is just being made has none. */
static struct campaign_test_counts campaign_test_try_count(const struct campaign_test *t)
{
    char path[64];
    struct campaign_test_counts c = {0};
    struct diag *d = diag_new();
    snprintf(path, sizeof path, "%s/c.db", t->folder);
    struct store *s = store_open_to_read(path, d);
    if (s) store_each(s, 0, campaign_test_count_row, &c, d);
    store_close(s);
    diag_free(d);
    return c;
}

static struct campaign_test_counts campaign_test_count(const struct campaign_test *t)
{
    struct campaign_test_counts c = campaign_test_try_count(t);
    cr_assert_gt(c.runs, 0);
    return c;
}

Test(campaign, check_prints_the_searches, .timeout = 300)
{
    struct campaign_test t;
    json_t *o;
    campaign_test_begin(&t, "kernels: [{file: k.lift, sizes: {N: [64, 128]}, evaluations: 3, time: 1m}]\n");
    cr_assert_eq(campaign_test_verb(&t, "check", &o, NULL), CLI_OK);
    cr_assert_eq(json_array_size(json_object_get(o, "searches")), 2);
    cr_expect_str_eq(campaign_test_text(o, 1, "sizes"), "N=128");
    cr_expect_str_eq(campaign_test_text(o, 1, "budget"), "evaluations=3 time=60");
    cr_expect_not(campaign_test_has(&t, "c.db"), "check measures nothing");
    json_decref(o);
    struct e2e_run table = E2E_RUN(&cli_campaign, "check", t.file);
    cr_expect(strstr(table.out, "budget"), "%s", table.out);
    e2e_run_free(&table);
    campaign_test_end(&t);
}

/* What the program, the space and the heuristics refuse has a place in the campaign file. */
Test(campaign, check_refuses_what_tune_would_refuse, .timeout = 300)
{
    static const struct {
        const char *yaml, *message;
    } cases[] = {
        {"kernels: [{file: k.lift, sizes: {M: 4}}]\n",
         ":1:33: error: unknown size 'M'; the program's size is N"},
        {"kernels: [{file: k.lift}]\n", "k.lift:1:6: size 'N' has no value; add it to 'sizes'"},
        {"kernels: [{file: bad.lift}]\n", ":1:11: error: "},
        {"kernels: [{file: k.lift, sizes: {N: 64}, pins: ['foo(x)=3']}]\n",
         ":1:48: error: pin 'foo(x)=3' matches no choice"},
        {"kernels: [{file: k.lift, sizes: {N: 64}, order: nonsense}]\n", ":1:49: error: "},
        {"kernels: [{file: k.lift, sizes: {N: 64}, heuristic: tagg}]\n",
         ":1:11: error: unknown heuristic 'tagg'; did you mean 'tag'?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct campaign_test t;
        campaign_test_begin(&t, cases[i].yaml);
        campaign_test_write(&t, "bad.lift", "output frobnicate\n");
        struct e2e_run r = E2E_RUN(&cli_campaign, "check", t.file);
        cr_expect_eq(r.status, CLI_USAGE);
        cr_expect(strstr(r.err, cases[i].message), "%s\ndoes not say: %s", r.err, cases[i].message);
        e2e_run_free(&r);
        campaign_test_end(&t);
    }
}

/* Two searches; then both are skipped; then one goes on with a larger budget. With other parameters they are
 * other searches. */
Test(campaign, a_search_is_run_once, .timeout = 300)
{
    struct campaign_test t;
    json_t *o;
    char *err;
    setenv("THRESH_DEVICES", "/nonexistent", 1);
    campaign_test_begin(&t,
                        CAMPAIGN_QUICK "device: cpu\nparam: max_unroll=64\n"
                                       "kernels: [{file: k.lift, sizes: {N: [64, 128]}, evaluations: 2}]\n");
    cr_expect_eq(campaign_test_verb(&t, "status", &o, NULL), CLI_OK);
    cr_expect_str_eq(campaign_test_text(o, 0, "state"), "pending");
    json_decref(o);
    cr_assert_eq(campaign_test_verb(&t, "run", &o, &err), CLI_OK, "%s", err);
    free(err);
    for (size_t i = 0; i < 2; i++) {
        cr_expect_str_eq(campaign_test_text(o, i, "state"), "complete");
        cr_expect_eq(campaign_test_number(o, i, "evaluations"), 2);
        cr_expect_gt(json_real_value(json_object_get(campaign_test_search(o, i), "best_ns")), 0);
        cr_expect_gt(json_real_value(json_object_get(campaign_test_search(o, i), "gbytes_per_s")), 0);
    }
    json_decref(o);
    cr_expect(campaign_test_has(&t, "c.html") && campaign_test_has(&t, "best.h"));
    struct campaign_test_counts before = campaign_test_count(&t);
    cr_expect_eq(before.runs, 2);
    cr_assert_eq(campaign_test_verb(&t, "run", &o, &err), CLI_OK, "%s", err);
    cr_expect(strstr(err, "N=64") && strstr(err, "complete, skipped"), "%s", err);
    free(err);
    json_decref(o);
    struct campaign_test_counts again = campaign_test_count(&t);
    cr_expect(again.rows == before.rows && again.runs == 2);
    campaign_test_write(&t, "c.yaml",
                        CAMPAIGN_QUICK "device: cpu\nparam: [max_unroll=64]\nkernels:\n"
                                       "  - {file: k.lift, sizes: {N: 64}, evaluations: 3}\n"
                                       "  - {file: k.lift, sizes: {N: 128}, evaluations: 2}\n");
    cr_assert_eq(campaign_test_verb(&t, "run", &o, &err), CLI_OK, "%s", err);
    cr_expect(strstr(err, "resumed after 2 evaluations"), "%s", err);
    free(err);
    cr_expect_eq(campaign_test_number(o, 0, "evaluations"), 3);
    cr_expect_eq(campaign_test_number(o, 1, "evaluations"), 2);
    json_decref(o);
    cr_expect_eq(campaign_test_count(&t).runs, 2);
    campaign_test_write(&t, "c.yaml",
                        CAMPAIGN_QUICK
                        "device: cpu\nkernels: [{file: k.lift, sizes: {N: 64}, evaluations: 2}]\n");
    cr_expect_eq(campaign_test_verb(&t, "status", &o, NULL), CLI_OK);
    cr_expect_str_eq(campaign_test_text(o, 0, "state"), "pending");
    json_decref(o);
    campaign_test_end(&t);
}

/* Waits until the store has this many evaluations: two minutes at most. If the run ends before, or they do
 * not come, the test fails with what the run printed. */
static void campaign_test_wait(const struct campaign_test *t, const struct e2e_process *p, int evaluations)
{
    struct timespec pause = {.tv_nsec = 20000000};
    int n = 0;
    bool ended = false;
    for (int i = 0; i < 6000 && n < evaluations && !ended; i++) {
        nanosleep(&pause, NULL);
        ended = e2e_has_ended(p);
        if (campaign_test_has(t, "c.db")) n = campaign_test_try_count(t).rows;
    }
    if (n >= evaluations) return;
    if (!ended) kill(p->pid, SIGTERM);
    struct e2e_run r = e2e_finish(p);
    cr_assert_fail("%d of %d evaluations; the run %s, status %d: %s", n, evaluations,
                   ended ? "ended" : "was stopped", r.status, r.err);
}

/* kill -9 in the middle of a search; an interrupt later; then it is completed with a smaller budget, in the
 * same run. */
Test(campaign, a_killed_run_goes_on, .timeout = 300)
{
    static const char yaml[] =
        CAMPAIGN_QUICK "device: cpu\nkernels: [{file: k.lift, sizes: {N: 4096}, evaluations: %d}]\n";
    struct campaign_test t;
    char text[sizeof yaml + 16];
    json_t *o;
    char *err;
    setenv("THRESH_DEVICES", "/nonexistent", 1);
    snprintf(text, sizeof text, yaml, 1000);
    campaign_test_begin(&t, text);
    struct e2e_process p = e2e_start(&cli_campaign, (const char *const[]){"run", t.file, NULL});
    campaign_test_wait(&t, &p, 2);
    kill(p.pid, SIGKILL);
    struct e2e_run killed = e2e_finish(&p);
    cr_expect_eq(killed.status, 128 + SIGKILL);
    e2e_run_free(&killed);
    int kept = campaign_test_count(&t).rows;
    cr_expect_eq(campaign_test_verb(&t, "status", &o, NULL), CLI_OK);
    cr_expect_str_eq(campaign_test_text(o, 0, "state"), "stopped");
    json_decref(o);
    p = e2e_start(&cli_campaign, (const char *const[]){"run", t.file, NULL});
    campaign_test_wait(&t, &p, kept + 2);
    struct e2e_run stop = E2E_RUN(&cli_campaign, "stop", t.file);
    cr_expect_eq(stop.status, CLI_OK, "%s", stop.err);
    cr_expect(strstr(stop.out, "stopped process"), "%s", stop.out);
    e2e_run_free(&stop);
    struct e2e_run stopped = e2e_finish(&p);
    cr_expect_eq(stopped.status, 130, "%s", stopped.err);
    cr_expect(strstr(stopped.err, "run the same command again to go on"), "%s", stopped.err);
    e2e_run_free(&stopped);
    kept = campaign_test_count(&t).rows;
    snprintf(text, sizeof text, yaml, kept + 2);
    campaign_test_write(&t, "c.yaml", text);
    cr_assert_eq(campaign_test_verb(&t, "run", &o, &err), CLI_OK, "%s", err);
    cr_expect(strstr(err, "resumed after"), "%s", err);
    free(err);
    cr_expect_eq(campaign_test_number(o, 0, "evaluations"), kept + 2);
    cr_expect_str_eq(campaign_test_text(o, 0, "state"), "complete");
    json_decref(o);
    cr_expect_eq(campaign_test_count(&t).runs, 1);
    campaign_test_end(&t);
}

/* The outputs of the first kernel are no numbers: it fails, and would be tried again; the second one is done.
 */
Test(campaign, a_fault_of_a_search_does_not_end_the_others, .timeout = 300)
{
    struct campaign_test t;
    json_t *o;
    char *err;
    int status;
    setenv("THRESH_DEVICES", "/nonexistent", 1);
    campaign_test_begin(
        &t, CAMPAIGN_QUICK
        "evaluations: 2\nkernels: [{file: log.lift, sizes: {N: 64}}, {file: k.lift, sizes: {N: 64}}]\n");
    campaign_test_write(&t, "log.lift",
                        "size N\ninput x: [float]N in -2..-1\noutput map(fun v -> log(v), x)\n");
    status = campaign_test_verb(&t, "run", &o, &err);
    cr_expect_eq(status, CLI_FAILED, "%d: %s", status, err);
    cr_expect(strstr(err, "search 1: log N=64 failed") && strstr(err, "infinite or NaN"), "%s", err);
    free(err);
    cr_expect_str_eq(campaign_test_text(o, 0, "state"), "failed");
    cr_expect_str_eq(campaign_test_text(o, 1, "state"), "complete");
    json_decref(o);
    cr_expect_eq(campaign_test_verb(&t, "status", &o, NULL), CLI_OK);
    cr_expect_str_eq(campaign_test_text(o, 0, "state"), "stopped");
    cr_expect_str_eq(campaign_test_text(o, 1, "state"), "complete");
    json_decref(o);
    campaign_test_end(&t);
}

/* Two searches at once, each on an agent of its own; the agents go on to the third search. */
Test(campaign, searches_share_agents_that_connect, .timeout = 300)
{
    enum { AGENTS = 2 };
    struct campaign_test t;
    struct e2e_process agents[AGENTS];
    char yaml[512], endpoint[64];
    json_t *out;
    char *err;
    setenv("THRESH_DEVICES", "/nonexistent", 1);
    campaign_test_begin(&t, "");
    snprintf(endpoint, sizeof endpoint, "ipc://%s/socket", t.folder);
    snprintf(yaml, sizeof yaml,
             CAMPAIGN_QUICK "device: cpu\nlisten: %s\nevaluations: 4\n"
                            "kernels: [{file: k.lift, sizes: {N: [1024, 4096, 8192]}}]\n",
             endpoint);
    campaign_test_write(&t, "c.yaml", yaml);
    for (int i = 0; i < AGENTS; i++)
        agents[i] =
            e2e_start(&cli_agent, (const char *const[]){"--connect", endpoint, "--device", "cpu", NULL});
    cr_assert_eq(campaign_test_verb(&t, "run", &out, &err), CLI_OK, "%s", err);
    for (size_t i = 0; i < 3; i++) {
        cr_expect_str_eq(campaign_test_text(out, i, "state"), "complete");
        cr_expect_eq(campaign_test_number(out, i, "evaluations"), 4);
    }
    for (int i = 0; i < AGENTS; i++) {
        struct e2e_run r = e2e_finish(&agents[i]);
        cr_expect_eq(r.status, CLI_OK, "%s", r.err);
        e2e_run_free(&r);
    }
    struct e2e_run none = E2E_RUN(&cli_campaign, "stop", t.file);
    cr_expect_eq(none.status, CLI_FAILED);
    cr_expect(strstr(none.err, "no process runs the campaign now"), "%s", none.err);
    e2e_run_free(&none);
    free(err);
    json_decref(out);
    campaign_test_end(&t);
}

/* The address in a file of standard error: two minutes at most. */
static unsigned campaign_test_port(const char *err)
{
    struct timespec pause = {.tv_nsec = 20000000};
    char line[256];
    unsigned port = 0;
    for (int i = 0; i < 6000 && port == 0; i++) {
        FILE *in = fopen(err, "r");
        while (in && fgets(line, sizeof line, in))
            sscanf(line, "page http://127.0.0.1:%u/\n", &port);
        if (in) fclose(in);
        nanosleep(&pause, NULL);
    }
    cr_assert_gt(port, 0);
    return port;
}

/* Whether anybody listens at the port. */
static bool campaign_test_listens(unsigned port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool listens = connect(fd, (struct sockaddr *)&at, sizeof at) == 0;
    close(fd);
    return listens;
}

/* The page and the agents of a campaign that runs; both end with it. */
Test(campaign, a_running_campaign_has_a_page_and_agents, .timeout = 300)
{
    struct campaign_test t;
    json_t *o;
    setenv("THRESH_DEVICES", "/nonexistent", 1);
    campaign_test_begin(&t,
                        CAMPAIGN_QUICK "device: cpu\npage: none\n"
                                       "kernels: [{file: k.lift, sizes: {N: 4096}, evaluations: 100000}]\n");
    struct e2e_process p =
        e2e_start(&cli_campaign, (const char *const[]){"run", t.file, "--page", "0", NULL});
    struct web_fixture web = {.port = campaign_test_port(p.err)};
    campaign_test_wait(&t, &p, 1);
    cr_expect_eq(web_status(web_get(&web, "/healthz", "")), 200);
    char *page = web_get(&web, "/", "");
    cr_expect_not_null(strstr(page, "N=4096"));
    free(page);
    cr_expect_eq(campaign_test_verb(&t, "status", &o, NULL), CLI_OK);
    json_t *agents = json_object_get(o, "agents");
    cr_assert_eq(json_array_size(agents), 1);
    cr_expect_not_null(json_string_value(json_object_get(json_array_get(agents, 0), "device")));
    json_decref(o);
    struct e2e_run table = E2E_RUN(&cli_campaign, "status", t.file);
    cr_expect(strstr(table.out, "\nagent ") && strstr(table.out, "results"), "%s", table.out);
    e2e_run_free(&table);
    char port[16];
    snprintf(port, sizeof port, "%u", web.port);
    struct e2e_run taken = E2E_RUN(&cli_campaign, "run", t.file, "--page", port);
    cr_expect_eq(taken.status, CLI_USAGE);
    cr_expect(strstr(taken.err, "is in use; choose another one with --page"), "%s", taken.err);
    e2e_run_free(&taken);
    kill(p.pid, SIGINT);
    struct e2e_run ended = e2e_finish(&p);
    cr_expect_eq(ended.status, 130, "%s", ended.err);
    e2e_run_free(&ended);
    cr_expect_not(campaign_test_listens(web.port));
    cr_expect_eq(campaign_test_verb(&t, "status", &o, NULL), CLI_OK);
    cr_expect_eq(json_array_size(json_object_get(o, "agents")), 0);
    json_decref(o);
    campaign_test_end(&t);
}

Test(campaign, usage_errors_are_named, .timeout = 300)
{
    struct campaign_test t;
    campaign_test_begin(&t, "device: no such device\nkernels: [{file: k.lift, sizes: {N: 64}}]\n");
    struct e2e_run runs[] = {E2E_RUN(&cli_campaign, "chek", t.file), E2E_RUN(&cli_campaign, "run", t.file),
                             E2E_RUN(&cli_campaign, "status", t.file, "--watch"),
                             E2E_RUN(&cli_campaign, "check", t.file, "--watch")};
    static const char *const messages[] = {"unknown verb 'chek'; did you mean 'check'?",
                                           "c.yaml:2:11: error: no OpenCL device matches 'no such device'",
                                           "--watch needs a terminal", "--watch does not apply to"};
    for (size_t i = 0; i < 4; i++) {
        cr_expect_eq(runs[i].status, CLI_USAGE, "%s", runs[i].err);
        cr_expect(strstr(runs[i].err, messages[i]), "%s", runs[i].err);
        e2e_run_free(&runs[i]);
    }
    struct e2e_run none = E2E_RUN(&cli_campaign, "report", t.file);
    cr_expect(none.status == CLI_FAILED && strstr(none.err, "nothing of the campaign is in the store yet"),
              "%s", none.err);
    e2e_run_free(&none);
    campaign_test_end(&t);
    campaign_test_begin(&t, "store: /no/such/folder.db\nkernels: [{file: k.lift, sizes: {N: 64}}]\n");
    none = E2E_RUN(&cli_campaign, "run", t.file);
    cr_expect(none.status == CLI_USAGE && strstr(none.err, "folder '/no/such' does not exist"), "%s",
              none.err);
    e2e_run_free(&none);
    campaign_test_end(&t);
}
