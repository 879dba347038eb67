/* The example program that comes with a result: a strict compiler takes it, and it runs. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/run.h"

static void host_check(const char *program, const char *pin)
{
    char folder[32], command[256], line[160] = "";
    e2e_folder(folder);
    struct e2e_run r = E2E_RUN(&cli_tune, E2E_QUICK, program, "--size", "N=64", "--evaluations", "2", "--out",
                               folder, "--quiet", pin ? "--pin" : NULL, pin);
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    e2e_run_free(&r);
    snprintf(command, sizeof command,
             "cd %s && ${CC:-cc} -std=c11 -Wall -Wextra -Wconversion -Werror -O2 host.c -lOpenCL -o host && "
             "./host",
             folder);
    FILE *out = popen(command, "r");
    cr_assert_not_null(out);
    double median = 0, fastest = 0, slowest = 0;
    cr_assert(fgets(line, sizeof line, out));
    int n = sscanf(line, "median of 11 rounds of 5 launches: %lf us (fastest %lf us, slowest %lf us)",
                   &median, &fastest, &slowest);
    cr_assert_eq(n, 3, "%s", line);
    cr_expect(0 < fastest && fastest <= median && median <= slowest, "%s", line);
    cr_assert_eq(pclose(out), 0);
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

Test(host, is_built_without_a_warning_and_runs, .timeout = 120)
{
    host_check("experiments/kernels/axpy.lift", NULL);
}

/* Its kernel has counters, which are 0 at first. */
Test(host, of_groups_with_parts_runs, .timeout = 120)
{
    host_check("experiments/kernels/dot.lift", "split(n.0)=GROUPS");
}

Test(host, draws_from_stated_ranges, .timeout = 300)
{
    static const char *const programs[] = {
        "size N\ninput x: [float]N in -0.25..2\noutput map(fun v -> v * 2.0, x)\n",
        "size N\ninput x: [int]N in -3..10\noutput map(fun v -> v * 2, x)\n",
        "size N\ninput a: double in 0.5..2\ninput x: [(double, double)]N\n"
        "output x = map(fun (v, w) -> (a * w, v), x)\n"};
    for (int i = 0; i < 3; i++) {
        char path[32];
        e2e_file(path, programs[i]);
        host_check(path, NULL);
        unlink(path);
    }
}
