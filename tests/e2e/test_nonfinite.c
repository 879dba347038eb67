/* Outputs that cannot be verified, as seen by who runs the command: counted, told, and exit status 1. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/run.h"

/* All results are NaN. */
static const char nonfinite_text[] = "size N\ninput x: [float]N in -2..-1\noutput map(fun v -> log(v), x)\n";

static void nonfinite_expect(const struct e2e_run *r, int status, const char *kind)
{
    static const char words[] =
        ": 64 of 64 outputs are infinite or NaN in the reference and are not verified";
    const char *at = strstr(r->err, words);
    cr_expect_eq(r->status, status, "%s%s", r->out, r->err);
    cr_expect(at && at >= r->err + strlen(kind) && !strncmp(at - strlen(kind), kind, strlen(kind)), "%s",
              r->err);
    json_t *o = json_loads(r->out, 0, NULL);
    cr_assert_not_null(o, "%s", r->out);
    cr_expect_eq(json_integer_value(json_object_get(o, "not_finite")), 64);
    cr_expect_eq(json_integer_value(json_object_get(o, "outputs")), 64);
    json_decref(o);
}

Test(nonfinite, ends_with_1_unless_it_is_allowed, .timeout = 300)
{
    char path[32], folder[32], best[64], command[64];
    setenv("THRESH_DEVICES", "/nonexistent", 1);
    e2e_file(path, nonfinite_text);
    e2e_folder(folder);
    snprintf(best, sizeof best, "%s/best.json", folder);
    struct e2e_run tune = E2E_RUN(&cli_tune, E2E_QUICK, path, "--size", "N=64", "--evaluations", "2", "--out",
                                  folder, "--quiet", "--json");
    nonfinite_expect(&tune, CLI_FAILED, "error");
    cr_expect_eq(access(best, R_OK), 0, "the result is written all the same");
    struct e2e_run replay = E2E_RUN(&cli_replay, best, "--json"),
                   allowed = E2E_RUN(&cli_replay, best, "--json", "--allow-nonfinite"),
                   verify = E2E_RUN(&cli_verify, path, "--size", "N=64", "--samples", "2", "--time", "5s",
                                    "--quiet", "--json");
    nonfinite_expect(&replay, CLI_FAILED, "error");
    nonfinite_expect(&allowed, CLI_OK, "warning");
    nonfinite_expect(&verify, CLI_FAILED, "error");
    e2e_run_free(&tune);
    e2e_run_free(&replay);
    e2e_run_free(&allowed);
    e2e_run_free(&verify);
    unlink(path);
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_expect_eq(system(command), 0);
}
