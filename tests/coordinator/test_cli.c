/* What a user can get wrong on the command line, below the level of processes: counts, sizes, files, folders,
 * and arrays that the device has no room for. */
#include "coordinator/cli/cli.h"

#include <criterion/criterion.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/fits.h"
#include "agent/guarded.h"
#include "coordinator/best.h"
#include "coordinator/store.h"
#include "core/base/arena.h"
#include "core/base/stop.h"
#include "tests/e2e/run.h"

static const char cli_test_program[] = "size M, N\n"
                                       "input A: [[float]N]M\n"
                                       "output map(fun row -> map(fun x -> add(x, 1.0), row), A)\n";

/* A device for which problems can be built; its memory is the caller's. */
static struct device cli_test_device(int64_t global_bytes, int64_t max_alloc_bytes)
{
    return (struct device){.name = "test",
                           .global_bytes = global_bytes,
                           .max_alloc_bytes = max_alloc_bytes,
                           .limits = {.max_work_group = 256,
                                      .max_work_item = {256, 256, 64},
                                      .local_bytes = 32768,
                                      .n_vector_widths = 1,
                                      .vector_widths = {4}}};
}

/* The message of the refusal of the program with 64 x 64 floats, "" if it fits. The caller frees it. */
static char *cli_test_refusal(int64_t global_bytes, int64_t max_alloc_bytes)
{
    struct device dev = cli_test_device(global_bytes, max_alloc_bytes);
    struct diag *d = diag_new();
    struct problem *p = problem_new("t.lift", cli_test_program, "M=64,N=64", &dev.limits, NULL, d);
    cr_assert_not_null(p);
    bool fits = fits_device(p, &dev, d);
    cr_assert_eq(fits, !diag_failed(d));
    char *message = base_strdup(fits ? "" : diag_message(d, 0));
    problem_free(p);
    diag_free(d);
    return message;
}

Test(cli, arrays_larger_than_the_device_are_refused_where_they_are_declared)
{
    const int64_t array = 16384, output = array + 2 * GUARDED_ZONE, all = 2 * array + output;
    char *fits = cli_test_refusal(all, output), *one = cli_test_refusal(all, array - 1);
    char *zones = cli_test_refusal(all, output - 1), *both = cli_test_refusal(all - 1, output);
    char *twice = cli_test_refusal(2 * array - 1, output);
    cr_expect_str_eq(fits, "");
    cr_expect_eq(strncmp(one, "t.lift:2:7: error: 'A' takes 16384 bytes", 40), 0, "%s", one);
    cr_expect_eq(strncmp(zones, "t.lift:3:", 9), 0, "%s", zones);
    cr_expect_eq(strncmp(both, "t.lift:3:", 9), 0, "%s", both);
    cr_expect_str_eq(twice, "t.lift:2:7: error: 'A' takes 16384 bytes, 32768 in a runner, but test has room "
                            "for 32767 (32767 in all, 147456 in one array); choose smaller sizes");
    free(fits);
    free(one);
    free(zones);
    free(both);
    free(twice);
}

/* The refusal of numbers that a device does not have, "" if it has them. The caller frees it. */
static char *cli_test_numbers(const char *type, bool no_double)
{
    struct device dev = cli_test_device(1 << 30, 1 << 30);
    struct diag *d = diag_new();
    char text[96];
    dev.no_double = no_double;
    snprintf(text, sizeof text, "input A: [%s]64\noutput map(fun x -> add(x, x), A)\n", type);
    struct problem *p = problem_new("t.lift", text, "", &dev.limits, NULL, d);
    cr_assert_not_null(p);
    cr_assert_eq(fits_device(p, &dev, d), !diag_failed(d));
    char *message = base_strdup(diag_failed(d) ? diag_message(d, 0) : "");
    problem_free(p);
    diag_free(d);
    return message;
}

Test(cli, numbers_that_the_device_lacks_are_refused_where_they_are_declared)
{
    static const struct {
        const char *type;
        bool no_double;
        const char *message;
    } cases[] = {
        {"double", false, ""},
        {"half", true, ""},
        {"float", true, ""},
        {"double", true,
         "t.lift:1:7: error: 'A' is double, which test does not support (no cl_khr_fp64); declare it as "
         "float, or "
         "choose another device with --device"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *message = cli_test_numbers(cases[i].type, cases[i].no_double);
        cr_expect_str_eq(message, cases[i].message);
        free(message);
    }
}

static bool cli_test_count(const char *text, bool positive, uint64_t *out)
{
    struct cli_args a = {0};
    struct diag *d = diag_new();
    a.value[CLI_EVALUATIONS] = text;
    bool ok = (positive ? cli_positive : cli_count)(&a, CLI_EVALUATIONS, 0, out, d);
    cr_expect_eq(ok, !diag_failed(d));
    diag_free(d);
    return ok;
}

Test(cli, counts)
{
    uint64_t n;
    cr_expect(cli_test_count(NULL, true, &n) && n == 0);
    cr_expect(cli_test_count("5", true, &n) && n == 5);
    cr_expect(cli_test_count("0", false, &n) && n == 0);
    static const char *const bad[] = {"0", "-5", "", "x", "5x", "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect_not(cli_test_count(bad[i], true, &n), "%s", bad[i]);
}

static bool cli_test_samples(const char *text, uint64_t *out)
{
    struct cli_args a = {0};
    struct diag *d = diag_new();
    a.value[CLI_SAMPLES] = text;
    bool ok = cli_samples(&a, 7, out, d);
    cr_expect_eq(ok, !diag_failed(d));
    diag_free(d);
    return ok;
}

/* No more than there is room for: eight bytes for each of 2^61 + 1 are eight bytes. */
Test(cli, samples)
{
    uint64_t n;
    cr_expect(cli_test_samples(NULL, &n) && n == 7);
    cr_expect(cli_test_samples("100000000", &n) && n == CLI_MOST_SAMPLES);
    static const char *const bad[] = {"0", "100000001", "2305843009213693953", "-1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect_not(cli_test_samples(bad[i], &n), "%s", bad[i]);
}

Test(cli, malformed_sizes)
{
    static const char *const bad[] = {
        "M", "M=", "=4", "M=4,", "M=4,,N=4", "M=4 N=4", "M=99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct arena *a = arena_new();
        struct diag *d = diag_new();
        struct lift_size_value *values;
        cr_expect_eq(lift_parse_sizes(bad[i], &values, a, d), -1, "%s", bad[i]);
        cr_expect_eq(diag_count(d), 1);
        diag_free(d);
        arena_free(a);
    }
}

static bool cli_test_readable(const char *path)
{
    struct diag *d = diag_new();
    size_t n;
    char *text = source_read_file(path, 1 << 20, &n, d);
    bool readable = text != NULL;
    cr_expect_eq(readable, !diag_failed(d));
    free(text);
    diag_free(d);
    return readable;
}

Test(cli, files_that_are_no_text)
{
    char path[] = "/tmp/thresh-cli-XXXXXX";
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, "size M\0rest", 11), 11);
    close(fd);
    cr_expect_not(cli_test_readable(path));
    cr_expect_not(cli_test_readable("/tmp"));
    cr_expect_not(cli_test_readable("/nonexistent/file"));
    unlink(path);
}

Test(cli, long_lines_are_shown_in_part)
{
    enum { LENGTH = 100000 };
    char *text = base_calloc(LENGTH + 1, 1), *printed = NULL;
    size_t bytes;
    memset(text, 'x', LENGTH);
    struct source source = {"t", text, LENGTH};
    struct diag *d = diag_new();
    FILE *out = open_memstream(&printed, &bytes);
    diag_error(d, (struct source_pos){&source, LENGTH / 2}, "wrong");
    diag_print(d, out);
    fclose(out);
    cr_expect_lt(bytes, 1000);
    cr_expect_not_null(strchr(printed, '^'));
    free(printed);
    diag_free(d);
    free(text);
}

enum { CLI_TEST_TURN_MS = 10000 };

/* In a process of its own: the exit status after a signal, which was ignored before or not. */
static void cli_test_take_signal(int number, bool ignored)
{
    signal(number, ignored ? SIG_IGN : SIG_DFL);
    int fd = cli_signals();
    kill(getpid(), number);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    bool told = poll(&p, 1, ignored ? 50 : CLI_TEST_TURN_MS) == 1;
    if (fd < 0 || told == ignored || told != stop_requested(fd)) _exit(1);
    _exit(cli_signal_status(fd, 0));
}

/* The same of a process that is in an endless loop: only the second signal ends it. */
static void cli_test_take_two(int number, bool ignored)
{
    (void)ignored;
    struct pollfd p = {.fd = cli_signals(), .events = POLLIN};
    kill(getpid(), number);
    if (poll(&p, 1, CLI_TEST_TURN_MS) != 1) _exit(1);
    kill(getpid(), number);
    for (;;)
        continue;
}

/* The exit status of the process; 1000 + signal if it died of one. */
static int cli_test_signal(void (*take)(int number, bool ignored), int number, bool ignored)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) take(number, ignored);
    cr_assert(pid > 0 && waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* `nohup` ignores the end of the terminal. */
Test(cli, signals_are_taken_unless_a_hangup_is_ignored)
{
    cr_expect_eq(cli_test_signal(cli_test_take_signal, SIGHUP, true), 0);
    cr_expect_eq(cli_test_signal(cli_test_take_signal, SIGHUP, false), 129);
    cr_expect_eq(cli_test_signal(cli_test_take_signal, SIGINT, false), 130);
    cr_expect_eq(cli_test_signal(cli_test_take_signal, SIGTERM, false), 143);
}

Test(cli, a_second_signal_ends_the_process_whatever_it_does, .timeout = 60)
{
    cr_expect_eq(cli_test_signal(cli_test_take_two, SIGINT, false), 130);
    cr_expect_eq(cli_test_signal(cli_test_take_two, SIGTERM, false), 143);
}

/* JSON has no infinity: what the device can run nothing of has no bound, and is listed. */
Test(cli, infinite_bounds_are_null)
{
    char path[32];
    struct diag *d = diag_new();
    e2e_file(path, "");
    struct store *s = store_open(path, true, d);
    struct store_run run = {
        .path = "k.lift", .text = "", .sizes = "", .device = "dev", .driver = "", .settings = ""};
    struct store_cut cut = {"x=1", INFINITY, 150, "the device can run none of the remaining mappings\n"};
    cr_assert(s && store_run_add(s, &run, d) && store_cut_add(s, run.id, &cut, d));
    store_close(s);
    struct e2e_run r = E2E_RUN(&cli_explain, path, "--cuts", "--json");
    cr_expect(strstr(r.out, "\"candidate\": \"x=1\"") && strstr(r.out, "\"bound_ns\": null"), "%s", r.out);
    e2e_run_free(&r);
    unlink(path);
    diag_free(d);
}

Test(cli, results_need_a_folder)
{
    struct diag *d = diag_new();
    cr_expect(best_make_folder("/tmp", d));
    cr_expect_not(diag_failed(d));
    cr_expect_not(best_make_folder("/dev/null", d));
    cr_expect_not(best_make_folder("/nonexistent/folder", d));
    cr_expect_eq(diag_count(d), 2);
    diag_free(d);
}
