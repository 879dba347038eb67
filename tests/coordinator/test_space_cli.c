/* thresh space: the verbs on small spaces, from a .space file and from a compiled one. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/cli/cli.h"
#include "coordinator/command.h"
#include "tests/coordinator/command_fixture.h"

static const char space_cli_text[] = "# Tiles of something.\nspace tiles\nparameter most: int = 8\n"
                                     "/// How wide.\nchoice x: int in { 1, 2, 4, 8 }\n"
                                     "choice y: { NO, /// or not\n YES }\n"
                                     "# (device) Not everything fits.\nrequire x <= most\n"
                                     "require y is YES -> x > 1\n";

static char space_cli_path[] = "/tmp/thresh-space-XXXXXX";

static const char *space_cli_file_of(const char *text)
{
    int fd = mkstemp(space_cli_path);
    cr_assert(fd >= 0 && write(fd, text, strlen(text)) > 0);
    close(fd);
    return space_cli_path;
}

static const char *space_cli_file(void)
{
    return space_cli_file_of(space_cli_text);
}

static int space_cli_run(const char *verb, const char *file, const char *param, bool json)
{
    struct cli_args a = {.positional = {verb, file}, .n_positional = 2};
    a.value[CLI_PARAM] = param;
    a.value[CLI_JSON] = json ? "" : NULL;
    return cli_space.run(&a);
}

static void space_cli_expect(const char *out)
{
    fflush(stdout);
    unlink(space_cli_path);
    cr_assert_stdout_eq_str(out);
}

Test(space_cli, enumerate_prints_lines, .init = cr_redirect_stdout)
{
    cr_assert_eq(space_cli_run("enumerate", space_cli_file(), "most=2", false), CLI_OK);
    space_cli_expect("x=1 y=NO\nx=2 y=NO\nx=2 y=YES\n");
}

Test(space_cli, enumerate_prints_json_lines, .init = cr_redirect_stdout)
{
    cr_assert_eq(space_cli_run("enumerate", space_cli_file(), "most=1", true), CLI_OK);
    space_cli_expect("{\"x\":1,\"y\":\"NO\"}\n");
}

Test(space_cli, no_solution_is_none, .init = cr_redirect_stdout)
{
    cr_assert_eq(space_cli_run("enumerate", space_cli_file(), "most=0", false), CLI_OK);
    space_cli_expect("");
}

/* Numbers end near 1e4932: 8^8192 is more. */
Test(space_cli, counts_beyond_all_numbers_say_so, .init = cr_redirect_stdout)
{
    const char *file =
        space_cli_file_of("space s set A = 0..4095 set B = 0..1 choice x(a: A, b: B): int in 1..8\n");
    char text[32] = "";
    cr_expect_eq(space_cli_run("count", file, NULL, false), CLI_OK);
    fflush(stdout);
    unlink(file);
    cr_assert_not_null(fgets(text, sizeof text, cr_get_redirected_stdout()));
    cr_expect(!strncmp(text, "more than 1e4932 solutions, ", 28), "%s", text);
}

static json_t *space_cli_json(void)
{
    static char text[1 << 16];
    fflush(stdout);
    FILE *out = cr_get_redirected_stdout();
    size_t n = fread(text, 1, sizeof text - 1, out);
    text[n] = 0;
    json_t *o = json_loads(text, 0, NULL);
    cr_assert_not_null(o, "%s", text);
    return o;
}

Test(space_cli, compiled_spaces_count_the_same, .init = cr_redirect_stdout)
{
    const char *file = space_cli_file(), *so = "/tmp/thresh-space-test.so";
    struct cli_args a = {.positional = {"compile", file}, .n_positional = 2};
    a.value[CLI_OUT] = so;
    a.value[CLI_JSON] = "";
    cr_assert_eq(cli_space.run(&a), CLI_OK);
    json_decref(space_cli_json());
    cr_assert_eq(space_cli_run("count", so, NULL, true), CLI_OK);
    json_t *o = space_cli_json();
    cr_assert_eq(json_integer_value(json_object_get(o, "solutions")), 7);
    cr_assert(json_is_true(json_object_get(o, "complete")));
    json_decref(o);
    unlink(so);
    unlink(file);
}

Test(space_cli, describe_knows_the_comments, .init = cr_redirect_stdout)
{
    cr_assert_eq(space_cli_run("describe", space_cli_file(), NULL, true), CLI_OK);
    json_t *o = space_cli_json();
    const json_t *x = json_array_get(json_object_get(o, "choices"), 0),
                 *y = json_array_get(json_object_get(o, "choices"), 1);
    cr_expect_str_eq(json_string_value(json_object_get(o, "doc")), "Tiles of something.");
    cr_expect_str_eq(json_string_value(json_object_get(x, "doc")), "How wide.");
    const json_t *no = json_array_get(json_object_get(y, "values"), 0);
    const json_t *yes = json_array_get(json_object_get(y, "values"), 1);
    cr_expect_str_eq(json_string_value(json_object_get(no, "doc")), "or not");
    cr_expect_str_eq(json_string_value(json_object_get(yes, "doc")), "");
    const json_t *rule = json_array_get(json_object_get(o, "constraints"), 1);
    cr_expect_str_eq(json_string_value(json_object_get(rule, "doc")), "(device) Not everything fits.");
    json_decref(o);
    unlink(space_cli_path);
}

/* The first parameter says how many objects there are, its default too. */
Test(space_cli, objects_are_as_many_as_the_default_says, .init = cr_redirect_stdout)
{
    const char *file = space_cli_file_of("space s parameter n: int = 2 set A property index(A): int\n"
                                         "choice x(a: A): int in 1..3\n"
                                         "require forall a in A: index(a) == 0 -> x(a) > 1\n");
    cr_expect_eq(space_cli_run("enumerate", file, "n=1", false), CLI_OK);
    cr_expect_eq(space_cli_run("enumerate", file, NULL, false), CLI_OK);
    space_cli_expect("x(0)=2\nx(0)=3\nx(0)=2 x(1)=1\nx(0)=2 x(1)=2\nx(0)=2 x(1)=3\nx(0)=3 x(1)=1\n"
                     "x(0)=3 x(1)=2\nx(0)=3 x(1)=3\n");
}

/* A parameter that is a truth value stands where a condition does; as a number, what is not 0 is true. */
Test(space_cli, parameters_are_conditions, .init = cr_redirect_stdout)
{
    const char *file = space_cli_file_of("space s parameter wide: bool = false choice x: int in 1..3\n"
                                         "require wide -> x > 2\n"
                                         "require x == (wide ? 3 : x) && (!wide == true || x != 1)\n");
    static const char *const wide[] = {NULL, "wide=false", "wide=true", "wide=7"};
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
        cr_expect_eq(space_cli_run("enumerate", file, wide[i], false), CLI_OK);
    space_cli_expect("x=1\nx=2\nx=3\nx=1\nx=2\nx=3\nx=3\nx=3\n");
}

/* Objects come from a file, or are numbered. */
Test(space_cli, objects_are_listed, .init = cr_redirect_stderr)
{
    cr_expect_eq(space_cli_run("count", "spacedsl/spaces/colouring.space", NULL, false), CLI_USAGE);
    cr_expect_eq(space_cli_run("count", "spacedsl/spaces/queens.space", NULL, false), CLI_USAGE);
    cr_expect_eq(space_cli_run("count", "spacedsl/spaces/queens.space", "n=5000", false), CLI_USAGE);
    cr_expect_eq(space_cli_run("check", "spacedsl/spaces/queens.space", NULL, false), CLI_OK);
    fflush(stderr);
    cr_expect_stderr_eq_str("error: set 'Node' has no objects; list them in a file with --data FILE.json\n"
                            "error: set 'Row' has no objects; set their number with --param n=N, or list "
                            "them in a file with --data FILE.json\n"
                            "error: --param: 5000 objects are outside the range 0 to 4096\n");
}

/* Counts the lines of the redirected output that are `line`. */
static unsigned space_cli_lines(const char *line)
{
    char text[256];
    unsigned n = 0;
    fflush(stdout);
    FILE *out = cr_get_redirected_stdout();
    while (fgets(text, sizeof text, out))
        n += strcmp(text, line) == 0;
    return n;
}

static const char space_cli_skewed[] = "space skewed choice big: { NO, YES } choice x: int in 1..40\n"
                                       "require big is NO -> x == 1\n";

/* One of 41 solutions; a random descent would draw it every other time. More than a block is drawn. */
Test(space_cli, samples_are_uniform, .init = cr_redirect_stdout)
{
    struct cli_args a = {.positional = {"sample", space_cli_file_of(space_cli_skewed)}, .n_positional = 2};
    a.value[CLI_SAMPLES] = "8200";
    cr_expect_eq(cli_space.run(&a), CLI_OK);
    unlink(space_cli_path);
    unsigned n = space_cli_lines("big=NO x=1\n");
    cr_expect(n > 130 && n < 270, "%u of 8200", n);
}

/* 10^40 solutions and more: descents, whose bias is told. */
Test(space_cli, samples_of_large_spaces_tell_their_bias, .init = cr_redirect_stderr)
{
    struct cli_args a = {.n_positional = 2};
    char text[4096];
    a.positional[0] = "sample";
    a.positional[1] =
        space_cli_file_of("space s set A = 0..99 choice x(a: A): int in 1..100\n"
                          "require forall a, b in A: b == a + 1 -> (x(a) * 7 + x(b) * 3) % 11 < 8\n"
                          "require (sum of x(a) over a in A) % 17 == 3\n");
    cr_redirect_stdout();
    cr_expect_eq(cli_space.run(&a), CLI_OK);
    unlink(space_cli_path);
    fflush(stderr);
    cr_assert_not_null(fgets(text, sizeof text, cr_get_redirected_stderr()));
    cr_expect(!strncmp(text, "note: the sample is not uniform: ", 33), "%s", text);
    cr_expect(strstr(text, "of these 10, the most likely was "), "%s", text);
}

/* A space that is counted at once needs no interval. */
Test(space_cli, sizes_that_are_known_are_exact, .init = cr_redirect_stdout)
{
    cr_assert_eq(space_cli_run("descend", space_cli_file_of(space_cli_skewed), NULL, true), CLI_OK);
    json_t *o = space_cli_json();
    cr_expect(json_is_true(json_object_get(o, "exact")));
    cr_expect_float_eq(json_number_value(json_object_get(o, "ci95_low")), 41, 1e-9);
    cr_expect_float_eq(json_number_value(json_object_get(o, "ci95_high")), 41, 1e-9);
    json_decref(o);
    unlink(space_cli_path);
}

/* Queens on a board of 20 rows take longer: the interval begins at what was counted. */
Test(space_cli, sizes_that_are_not_known_have_an_interval, .init = cr_redirect_stdout)
{
    struct cli_args a = {.positional = {"descend", "spacedsl/spaces/queens.space"}, .n_positional = 2};
    a.value[CLI_PARAM] = "n=20";
    a.value[CLI_SAMPLES] = "1";
    a.value[CLI_SEED] = "1";
    a.value[CLI_JSON] = "";
    cr_assert_eq(cli_space.run(&a), CLI_OK);
    json_t *o = space_cli_json();
    cr_expect(json_is_false(json_object_get(o, "exact")));
    cr_expect(json_number_value(json_object_get(o, "ci95_low")) > 1000);
    cr_expect(json_number_value(json_object_get(o, "ci95_low")) <=
              pow(10, json_number_value(json_object_get(o, "log10_leaves"))) * (1 + 1e-9));
    json_decref(o);
}

/* An option that does nothing is a mistake. */
Test(space_cli, options_of_other_verbs_are_refused, .init = cr_redirect_stderr)
{
    struct cli_args count = {.positional = {"count", space_cli_file()}, .n_positional = 2}, check = count,
                    sample = count;
    check.positional[0] = "check";
    sample.positional[0] = "sample";
    count.value[CLI_ORDER] = "y";
    count.value[CLI_SAMPLES] = check.value[CLI_SAMPLES] = sample.value[CLI_SAMPLES] = "1";
    sample.value[CLI_ORDER] = "y";
    cr_expect_eq(cli_space.run(&count), CLI_USAGE);
    cr_expect_eq(cli_space.run(&check), CLI_USAGE);
    cr_expect_eq(cli_space.run(&sample), CLI_OK);
    unlink(space_cli_path);
    fflush(stderr);
    cr_expect_stderr_eq_str("error: --order does not apply to 'thresh space count'\n"
                            "error: --samples does not apply to 'thresh space count'\n"
                            "error: --samples does not apply to 'thresh space check'\n");
}

/* All that is wrong with a list of parameters. */
Test(space_cli, parameters_are_named, .init = cr_redirect_stderr)
{
    cr_expect_eq(
        space_cli_run("count", space_cli_file(),
                      "least=3,most=x,most,most=true,most=-1152921504606846976,most=1152921504606846977",
                      false),
        CLI_USAGE);
    unlink(space_cli_path);
    fflush(stderr);
    cr_expect_stderr_eq_str(
        "error: --param: space 'tiles' has no parameter 'least'\n"
        "error: --param: 'most=x' is malformed; write NAME=NUMBER (at most 2^60), NAME=true or "
        "NAME=false\n"
        "error: --param: 'most' is malformed; write NAME=NUMBER (at most 2^60), NAME=true or NAME=false\n"
        "error: --param: 'most=1152921504606846977' is malformed; write NAME=NUMBER (at most 2^60), "
        "NAME=true or NAME=false\n");
}

Test(space_cli, bad_input_is_status_2, .init = cr_redirect_stderr)
{
    cr_expect_eq(space_cli_run("count", "/nowhere.space", NULL, false), CLI_USAGE);
    cr_expect_eq(space_cli_run("count", "/nowhere.so", NULL, false), CLI_USAGE);
    cr_expect_eq(space_cli_run("burn", space_cli_file(), NULL, false), CLI_USAGE);
    cr_expect_eq(space_cli_run("count", space_cli_path, "least=3", false), CLI_USAGE);
    cr_expect_eq(space_cli_run("count", space_cli_path, "most=x", false), CLI_USAGE);
    unlink(space_cli_path);
}

/* A search from the command line: the exit status, and what a script reads. */
Test(space_cli, tune_prints_the_best, .init = cr_redirect_stdout, .timeout = 60)
{
    struct cli_args a = {0};
    a.value[CLI_SPACE] = space_cli_file();
    a.value[CLI_COMMAND] = "echo {x}0";
    a.value[CLI_JSON] = a.value[CLI_QUIET] = "";
    cr_assert_eq(cli_tune.run(&a), CLI_OK);
    json_t *o = space_cli_json();
    cr_expect_eq(json_integer_value(json_object_get(o, "evaluations")), 7);
    cr_expect_eq(json_number_value(json_object_get(o, "best_ns")), 10);
    cr_expect_eq(json_integer_value(json_object_get(json_object_get(o, "best"), "x")), 1);
    cr_expect(json_is_true(json_object_get(o, "exhausted")));
    json_decref(o);
    unlink(space_cli_path);
}

Test(space_cli, tune_refuses_what_makes_no_sense, .init = cr_redirect_stderr, .timeout = 60)
{
    struct cli_args a = {0};
    cr_expect_eq(cli_tune.run(&a), CLI_USAGE, "no program");
    a.value[CLI_SPACE] = space_cli_file();
    cr_expect_eq(cli_tune.run(&a), CLI_USAGE, "no command");
    a.value[CLI_COMMAND] = "echo {w}";
    cr_expect_eq(cli_tune.run(&a), CLI_USAGE, "no such choice");
    a.value[CLI_COMMAND] = "false {x}";
    cr_expect_eq(cli_tune.run(&a), CLI_FAILED, "nothing is measured");
    a.value[CLI_LISTEN] = "ipc:///tmp/nowhere";
    cr_expect_eq(cli_tune.run(&a), CLI_USAGE, "no agents");
    unlink(space_cli_path);
}

static void space_cli_library(const char *path, const char *text)
{
    struct command_result r;
    char *words[] = {"cc", "-shared", "-fPIC", "-x", "c", "-o", (char *)path, "-", NULL};
    command_run(words, text, 60, &r);
    cr_assert_eq(access(path, R_OK), 0, "%s", r.message);
}

/* Libraries that are no space, or one of another version. */
Test(space_cli, foreign_libraries_are_refused, .init = cr_redirect_stderr, .timeout = 120)
{
    static const char *const texts[] = {"int nothing;\n", "unsigned thresh_space[4] = {7, 8, 0, 0};\n"};
    const char *path = "/tmp/thresh-foreign-test.so";
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        unlink(path);
        space_cli_library(path, texts[i]);
        cr_expect_eq(space_cli_run("count", path, NULL, false), CLI_USAGE, "%s", texts[i]);
    }
    unlink(path);
}
