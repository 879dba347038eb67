/* thresh tune --learn-from on the first OpenCL device: from N=32 to N=64, then resumed. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/learn.h"
#include "coordinator/store.h"
#include "core/base/diag.h"
#include "tests/campaign/fixture.h"

struct learn_run {
    struct campaign_test at; /* its folder and its kernel, k.lift */
    char kernel[48], from[48], to[48], out[48];
};

static struct learn_run learn_run_begin(const char *yaml)
{
    struct learn_run r;
    setenv("THRESH_DEVICES", "/nonexistent", 1);
    campaign_test_begin(&r.at, yaml);
    snprintf(r.kernel, sizeof r.kernel, "%s/k.lift", r.at.folder);
    snprintf(r.from, sizeof r.from, "%s/from.db", r.at.folder);
    snprintf(r.to, sizeof r.to, "%s/to.db", r.at.folder);
    snprintf(r.out, sizeof r.out, "%s/out", r.at.folder);
    return r;
}

/* Rows by kind. */
struct learn_rows_seen {
    unsigned learned, drawn;
    bool labelled;
};

static bool learn_run_see(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct learn_rows_seen *s = context;
    (void)run;
    s->drawn += e->number > 0;
    if (e->number > LEARN_NUMBER) return true;
    s->labelled = s->labelled || (strcmp(e->label, "learned 1") == 0 && e->number == LEARN_NUMBER);
    s->learned++;
    return true;
}

static struct learn_rows_seen learn_run_rows(const char *path)
{
    struct learn_rows_seen s = {0};
    struct diag *d = diag_new();
    struct store *store = store_open_to_read(path, d);
    cr_assert(store && store_each(store, 0, learn_run_see, &s, d));
    store_close(store);
    diag_free(d);
    return s;
}

Test(learn_run, a_search_begins_with_what_another_size_found, .timeout = 300)
{
    struct learn_run r = learn_run_begin("");
    struct e2e_run from = E2E_RUN(&cli_tune, E2E_QUICK, r.kernel, "--size", "N=32", "--evaluations", "6",
                                  "--device", "cpu", "--store", r.from, "--out", r.out, "--quiet");
    cr_assert_eq(from.status, CLI_OK, "%s", from.err);
    struct e2e_run to = E2E_RUN(&cli_tune, E2E_QUICK, r.kernel, "--size", "N=64", "--evaluations", "3",
                                "--device", "cpu", "--store", r.to, "--out", r.out, "--learn-from", r.from);
    cr_assert_eq(to.status, CLI_OK, "%s", to.err);
    cr_expect(strstr(to.err, "learned 1: from N=32 on "), "%s", to.err);
    struct learn_rows_seen first = learn_run_rows(r.to);
    cr_expect(first.learned > 0 && first.labelled, "%u", first.learned);
    struct e2e_run again = E2E_RUN(&cli_tune, E2E_QUICK, r.kernel, "--size", "N=64", "--evaluations", "5",
                                   "--device", "cpu", "--store", r.to, "--out", r.out, "--resume", "--quiet");
    cr_expect_eq(again.status, CLI_OK, "%s", again.err);
    struct learn_rows_seen second = learn_run_rows(r.to);
    cr_expect_eq(second.learned, first.learned, "what was learned is taken up from the run");
    cr_expect_gt(second.drawn, first.drawn);
    e2e_run_free(&from);
    e2e_run_free(&to);
    e2e_run_free(&again);
    campaign_test_end(&r.at);
}

Test(learn_run, stores_without_use_are_named_and_unreadable_ones_refused, .timeout = 300)
{
    struct learn_run r = learn_run_begin("");
    campaign_test_write(&r.at, "no.db", "this is no store\n");
    char broken[48];
    snprintf(broken, sizeof broken, "%s/no.db", r.at.folder);
    struct e2e_run none = E2E_RUN(&cli_tune, E2E_QUICK, r.kernel, "--size", "N=64", "--evaluations", "1",
                                  "--device", "cpu", "--store", r.to, "--learn-from", r.to, "--out", r.out);
    cr_expect_eq(none.status, CLI_OK, "%s", none.err);
    cr_expect(strstr(none.err, "nothing to learn with --learn-from: the stores have no valid implementation"),
              "%s", none.err);
    struct e2e_run bad[] = {E2E_RUN(&cli_tune, r.kernel, "--size", "N=64", "--learn-from", broken),
                            E2E_RUN(&cli_tune, r.kernel, "--size", "N=64", "--learn-from", r.from),
                            E2E_RUN(&cli_tune, "--space", "spacedsl/spaces/queens.space", "--command", "x",
                                    "--learn-from", r.to)};
    static const char *const messages[] = {"no.db: not a thresh store", "from.db' does not exist",
                                           "--learn-from does not apply to --space"};
    for (size_t i = 0; i < 3; i++) {
        cr_expect_eq(bad[i].status, CLI_USAGE, "%s", bad[i].err);
        cr_expect(strstr(bad[i].err, messages[i]), "%s", bad[i].err);
        e2e_run_free(&bad[i]);
    }
    e2e_run_free(&none);
    campaign_test_end(&r.at);
}

/* The second size learns from the first one, in the store of the campaign; a missing store has its place. */
Test(learn_run, a_campaign_learns_from_its_own_store, .timeout = 300)
{
    struct learn_run r =
        learn_run_begin(CAMPAIGN_QUICK "device: cpu\nlearn-from: c.db\n"
                                       "kernels: [{file: k.lift, sizes: {N: [32, 64]}, evaluations: 4}]\n");
    struct e2e_run run = E2E_RUN(&cli_campaign, "run", r.at.file);
    cr_expect_eq(run.status, CLI_OK, "%s", run.err);
    cr_expect(strstr(run.err, "learned 1: from N=32 on "), "%s", run.err);
    campaign_test_write(&r.at, "c.yaml",
                        "kernels:\n  - {file: k.lift, sizes: {N: 64}, learn-from: [other.db]}\n");
    struct e2e_run missing = E2E_RUN(&cli_campaign, "check", r.at.file);
    cr_expect_eq(missing.status, CLI_USAGE);
    cr_expect(strstr(missing.err, "c.yaml:2:48: error: store '") && strstr(missing.err, "other.db'"), "%s",
              missing.err);
    e2e_run_free(&run);
    e2e_run_free(&missing);
    campaign_test_end(&r.at);
}
