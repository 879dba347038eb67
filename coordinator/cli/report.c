/* thresh report: the page of a store as one HTML file.
 *
 *     thresh report runs.db -o report.html */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coordinator/cli/export.h"
#include "coordinator/cli/kind.h"
#include "coordinator/report/page.h"
#include "core/base/arena.h"
#include "core/base/file.h"

/* Writes to --out, completely or not at all, or to standard output. */
static int write_page(const struct cli_args *a, const struct strbuf *page, struct diag *d)
{
    struct file_text file = {a->value[CLI_OUT], page->text};
    if (cli_given(a, CLI_OUT)) return file_write(&file, 1, d) ? CLI_OK : CLI_FAILED;
    fputs(page->text, stdout);
    return CLI_OK;
}

static void make_page(const struct report_view *v, struct strbuf *out)
{
    size_t n = report_fragment_count(v);
    char **fragments = base_calloc(n, sizeof *fragments);
    for (size_t i = 0; i < n; i++) {
        struct strbuf b = {0};
        report_fragment(v, i, &b);
        fragments[i] = strbuf_take(&b);
    }
    report_page(v, (const char *const *)fragments, n, 0, out);
    for (size_t i = 0; i < n; i++)
        free(fragments[i]);
    free(fragments);
}

static int report(const struct cli_args *a, struct report_data *data, struct diag *d)
{
    size_t n;
    struct strbuf page = {0};
    const struct report_search *s = report_searches(data, &n);
    const struct report_opener opener = {cli_open_run, (void *)(uintptr_t)a, a->value[CLI_DESCRIPTION], -1};
    struct report_study **studies = base_calloc(n + 1, sizeof *studies);
    for (size_t i = 0; i < n; i++)
        studies[i] = report_study_make(a->positional[0], &s[i], &opener);
    struct report_view v = {.data = data,
                            .studies = (const struct report_study *const *)studies,
                            .version = cli_version,
                            .now = (int64_t)time(NULL)};
    struct winners *w;
    v.portables = portable_of_store(a->positional[0], &w, &v.n_portables, d);
    if (v.portables) make_page(&v, &page);
    int status = v.portables ? write_page(a, &page, d) : CLI_FAILED;
    winners_free(w);
    for (size_t i = 0; i < n; i++)
        report_study_free(studies[i]);
    free(studies);
    strbuf_free(&page);
    return status;
}

int cli_write_report(const struct cli_args *a, struct diag *d)
{
    int status = CLI_OK;
    struct report_data *data = report_data_new(a->positional[0]);
    if (cli_expect_kind(a->positional[0], CLI_KIND_STORE, d) && report_data_update(data, d))
        status = report(a, data, d);
    report_data_free(data);
    return status;
}

static int run(const struct cli_args *a)
{
    struct diag *d = diag_new();
    return cli_finish(d, cli_write_report(a, d));
}

const struct cli_command cli_report = {
    .name = "report",
    .positional = "STORE.db",
    .least = 1,
    .most = 1,
    .takes = {CLI_TAKES(OUT), CLI_TAKES(DEVICE), CLI_TAKES(DESCRIPTION)},
    .notes = {{CLI_OUT, "FILE.html", "file to write (default: standard output)"}},
    .help = "Writes a page about all searches of a store: one HTML file with plots, which needs no other "
            "file, no "
            "script and no network. It shows the best time over evaluations and over time with the lower "
            "bound, the "
            "outcomes, where the search went, which choices matter, and the best implementation with its "
            "loop nest "
            "and OpenCL text; of campaigns also agents and events.\n"
            "The store may be of any version, and a search may be writing to it. Bounds and explanations "
            "need the "
            "device of the run or its description; the page says where they are missing.\v"
            "Example: thresh report runs.db --out report.html",
    .run = run,
};
