/* The user's data from the command line: what tune, replay and campaigns do with files, and what they refuse.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/npy.h"
#include "tests/e2e/run.h"

#define AXPY "experiments/kernels/axpy.lift"

/* A folder with x.npy, y.npy, both 16 floats, and a place for results. */
struct user_data {
    char folder[32], x[64], best[64], store[64];
};

static void user_data_open(struct user_data *u)
{
    float x[16];
    struct diag *d = diag_new();
    const struct npy_header h = {.kind = NPY_FLOAT, .bytes = 4, .n_extents = 1, .extents = {16}};
    for (int i = 0; i < 16; i++)
        x[i] = 0.5f * (float)i;
    e2e_folder(u->folder);
    snprintf(u->x, sizeof u->x, "x=%s/x.npy", u->folder);
    snprintf(u->best, sizeof u->best, "%s/best.json", u->folder);
    snprintf(u->store, sizeof u->store, "%s/s.db", u->folder);
    cr_assert(npy_write(u->x + 2, &h, x, d));
    diag_free(d);
}

static void user_data_close(struct user_data *u)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", u->folder);
    cr_assert_eq(system(command), 0);
}

/* The run must end so, with the text in its messages. */
static void user_data_expect(struct e2e_run r, int status, const char *message)
{
    cr_expect_eq(r.status, status, "%s", r.err);
    cr_expect(strstr(r.err, message), "'%s' lacks '%s'", r.err, message);
    e2e_run_free(&r);
}

/* A search on a file; best.json knows it, replay compares, and a resumed run needs the same content. */
Test(user_data, results_know_their_data, .timeout = 120)
{
    struct user_data u;
    user_data_open(&u);
    struct e2e_run r = E2E_RUN(&cli_tune, E2E_QUICK, AXPY, "--size", "N=16", "--input", u.x, "--evaluations",
                               "1", "--out", u.folder, "--store", u.store, "--quiet");
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    e2e_run_free(&r);
    struct e2e_run without = E2E_RUN(&cli_replay, u.best, "--launches", "20");
    cr_expect(strstr(without.out, "note: the recorded time was measured on other data: --input x="), "%s",
              without.out);
    e2e_run_free(&without);
    user_data_expect(E2E_RUN(&cli_tune, E2E_QUICK, AXPY, "--size", "N=16", "--evaluations", "2", "--out",
                             u.folder, "--store", u.store, "--resume", "--quiet"),
                     CLI_USAGE, "input=x=x.npy");
    user_data_close(&u);
}

/* An agent of another process reads the files itself. */
Test(user_data, agents_read_the_files, .timeout = 120)
{
    struct user_data u;
    char endpoint[64];
    user_data_open(&u);
    snprintf(endpoint, sizeof endpoint, "ipc://%s/socket", u.folder);
    struct e2e_process agent = e2e_start(
        &cli_agent, (const char *const[]){"--connect", endpoint, "--device", "cpu", "--quiet", NULL});
    struct e2e_run r = E2E_RUN(&cli_tune, E2E_QUICK, AXPY, "--size", "N=16", "--input", u.x, "--evaluations",
                               "1", "--out", u.folder, "--listen", endpoint, "--quiet", "--json");
    cr_expect_eq(r.status, CLI_OK, "%s", r.err);
    cr_expect(strstr(r.out, "\"ok\": 1"), "%s", r.out);
    struct e2e_run ended = e2e_finish(&agent);
    cr_expect_eq(ended.status, CLI_OK, "%s", ended.err);
    e2e_run_free(&ended);
    e2e_run_free(&r);
    user_data_close(&u);
}

Test(user_data, what_is_refused)
{
    struct user_data u;
    user_data_open(&u);
#define TUNE(...)                                                                                            \
    E2E_RUN(&cli_tune, E2E_QUICK, AXPY, "--size", "N=16", "--out", u.folder, "--quiet", __VA_ARGS__)
    user_data_expect(TUNE("--tolerance", "-1e-3"), CLI_USAGE, "--tolerance: -1e-3 is negative");
    user_data_expect(TUNE("--tolerance", "much"), CLI_USAGE, "--tolerance: 'much' is not a number");
    user_data_expect(TUNE("--tolerance", "nan"), CLI_USAGE, "--tolerance: 'nan' is not a number");
    user_data_expect(TUNE("--input", "x"), CLI_USAGE, "--input: 'x' is not NAME=FILE.npy, such as x=x.npy");
    user_data_expect(TUNE("--input", "x=random:1"), CLI_USAGE, "inputs without a file are random");
    user_data_expect(TUNE("--input", "x=/missing.npy"), CLI_USAGE, "cannot open /missing.npy");
    user_data_expect(TUNE("--input", "w=w.npy"), CLI_USAGE, "the program has no input 'w'");
    user_data_expect(TUNE("--input", u.x, "--output-reference", "z.npy"), CLI_USAGE,
                     "--output-reference needs every input");
    user_data_expect(TUNE("--input", u.x, "--recorded", "r.db", "--description", "d.json"), CLI_USAGE,
                     "--input does not apply with --recorded");
#undef TUNE
    user_data_expect(
        E2E_RUN(&cli_tune, E2E_QUICK, AXPY, "--size", "N=17", "--out", u.folder, "--input", u.x), CLI_USAGE,
        "x.npy has float32, shape (16,); the input x is [float]N: expected float32, shape (17,)");
    user_data_expect(E2E_RUN(&cli_verify, AXPY, "--size", "N=17", "--out", u.folder, "--input", u.x),
                     CLI_USAGE, "expected float32, shape (17,)");
    user_data_expect(E2E_RUN(&cli_tune, E2E_QUICK, "--space", "x.space", "--command", "true", "--input",
                             "x=x.npy", "--quiet"),
                     CLI_USAGE, "--input does not apply to --space");
    user_data_close(&u);
}

/* Files of several outputs: written by lift run, expected by verify; another output's are refused. */
Test(user_data, several_outputs_are_named, .timeout = 120)
{
    static const char program[] = "size N\ninput x: [float]N\noutput a = map(fun v -> v + 1.0, x)\n"
                                  "output b = map(fun v -> v * 2.0, x)\n";
    struct user_data u;
    char path[32], a[64], b[64], as_b[64];
    user_data_open(&u);
    e2e_file(path, program);
    snprintf(a, sizeof a, "a=%s/a.npy", u.folder);
    snprintf(b, sizeof b, "b=%s/b.npy", u.folder);
    snprintf(as_b, sizeof as_b, "b=%s/a.npy", u.folder);
#define RUN(...) E2E_RUN(&cli_lift, "run", path, "--size", "N=16", "--input", u.x, __VA_ARGS__)
#define VERIFY(...)                                                                                          \
    E2E_RUN(&cli_verify, path, "--size", "N=16", "--out", u.folder, "--input", u.x, "--samples", "1",        \
            "--time", "2s", "--quiet", __VA_ARGS__)
    user_data_expect(RUN("--output", a, "--output", b), CLI_OK, "");
    user_data_expect(VERIFY("--output-reference", a, "--output-reference", b), CLI_OK, "");
    user_data_expect(VERIFY("--output-reference", a, "--output-reference", as_b), CLI_FAILED,
                     "a.npy: output 0 (at 0) is 0 by the program and 1 in the file");
    user_data_expect(RUN("--output", a + 2), CLI_USAGE, "add the name, NAME=FILE.npy; they are a, b");
    user_data_expect(RUN("--output", "c=c.npy"), CLI_USAGE, "no output 'c'; its outputs are a, b");
    user_data_expect(VERIFY("--output-reference", a + 2), CLI_USAGE, "several output arrays: add the name");
    user_data_expect(VERIFY("--output-reference", a, "--output-reference", a), CLI_USAGE,
                     "--output-reference: output 'a' is given twice");
#undef RUN
#undef VERIFY
    unlink(path);
    user_data_close(&u);
}

/* verify on the user's data. */
Test(user_data, implementations_are_verified_on_them, .timeout = 120)
{
    struct user_data u;
    user_data_open(&u);
    user_data_expect(E2E_RUN(&cli_verify, AXPY, "--size", "N=16", "--out", u.folder, "--input", u.x,
                             "--samples", "3", "--time", "3s", "--quiet"),
                     CLI_OK, "");
    user_data_close(&u);
}
