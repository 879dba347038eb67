/* thresh bound: the lower bound on the time of a candidate, and its reason. The candidate is the root of the
 * program's space with the pins applied: `--pin 'size(m.0)=512'` asks for the bound of all implementations
 * with that decision. */
#include <stdio.h>

#include "coordinator/cli/bounding.h"
#include "core/base/strbuf.h"

static void print_bound(const struct cli_args *a, struct perfmodel *m, const struct space_state *st)
{
    struct perfmodel_reason reason;
    struct strbuf text = {0};
    double ns = perfmodel_bound(m, st, &reason);
    perfmodel_explain(m, &reason, &text);
    if (cli_given(a, CLI_JSON))
        cli_print_json(json_pack("{s:o,s:s}", "bound_ns", cli_real_json(ns), "bound_reason", text.text));
    else
        fputs(text.text, stdout);
    strbuf_free(&text);
}

static int run(const struct cli_args *a)
{
    struct diag *d = diag_new();
    struct cli_problem p = {0};
    struct perfmodel *m = cli_problem_open(a, &p, d) ? cli_model(a, p.problem, &p.device, d) : NULL;
    if (m) print_bound(a, m, p.root);
    int status = cli_finish(d, CLI_OK);
    perfmodel_free(m);
    cli_problem_close(&p);
    return status;
}

const struct cli_command cli_bound = {
    .name = "bound",
    .positional = "KERNEL.lift",
    .least = 1,
    .most = 1,
    .takes = {CLI_TAKES(SIZE), CLI_TAKES(PARAM), CLI_TAKES(ALLOW), CLI_TAKES(DEVICE), CLI_TAKES(PIN),
              CLI_TAKES(JSON), CLI_TAKES(DESCRIPTION), CLI_TAKES(QUIET)},
    .help = "Prints a lower bound on the time of all implementations that agree with the pins, and its "
            "reason. It is "
            "computed from the device's description. In JSON the bound is null if the device can run none of "
            "these "
            "implementations.\v"
            "Example: thresh bound matmul.lift --size M=1024,N=1024,K=1024 --pin 'size(m.3)=1' --pin "
            "'size(n.3)=1'",
    .run = run,
};
