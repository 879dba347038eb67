/* A user's program as evaluator: words of its command line, what its output means, its failures and time
 * limits. */
#include "coordinator/command.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "tests/coordinator/command_fixture.h"

/* x = 3, y = YES, z = 2 */
static struct space_state *command_leaf(const struct command_fixture *f)
{
    struct space_state *leaf = space_state_clone(f->root);
    cr_assert(space_apply(leaf, (struct space_action){0, 2}, NULL));
    cr_assert(space_apply(leaf, (struct space_action){1, 1}, NULL));
    cr_assert(space_apply(leaf, (struct space_action){2, 2}, NULL));
    return leaf;
}

Test(command, is_split_into_words)
{
    static const char *const cases[][6] = {
        {"p {x} {y}", "p", "3", "YES"},
        {"  p -x{x},{ z }   'a b' ", "p", "-x3,2", "a b"},
        {"p \"y={y} 'q'\" a\\ b", "p", "y=YES 'q'", "a b"},
        {"p '{x}' {{x}} \"\\\"\"", "p", "{x}", "{x}", "\""},
        {"p '' \\{x {p}-{x}", "p", "", "{x", "7-3"},
        {"p \"1\\n\\{\" \"\\$x\\`\\\\\" 1\\n", "p", "1\\n{", "$x`\\", "1n"},
    };
    struct command_fixture f = command_setup();
    struct space_state *leaf = command_leaf(&f);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct command *c = command_new(cases[i][0], f.space, f.diag);
        cr_assert_not_null(c, "%s", cases[i][0]);
        char **words = command_words(c, leaf);
        size_t n = 0;
        for (; words[n]; n++)
            cr_expect(cases[i][n + 1] && !strcmp(words[n], cases[i][n + 1]), "%s: '%s'", cases[i][0],
                      words[n]);
        cr_expect(n == 5 || !cases[i][n + 1]);
        free(words);
        command_free(c);
    }
    space_state_free(leaf);
    command_teardown(&f);
}

/* As pins do; the value is that of the pair as it is written. */
Test(command, pairs_are_named_either_way_round)
{
    struct command_fixture f = command_setup_of(
        "space s set S = 0..1 choice order(a: S, b: S): { BEFORE, AFTER } antisymmetric BEFORE ~ AFTER\n"
        "choice near(a: S, b: S): { NO, YES } symmetric require forall a, b in S: near(a, b) is YES\n");
    space_state_free(f.root);
    f.root = space_pinned_root(f.space, (const char *[]){"order(1,0)=AFTER"}, 1, f.diag);
    cr_assert_not_null(f.root);
    struct command *c = command_new("{order(0,1)} {order( 1, 0)} {near(1,0)}", f.space, f.diag);
    cr_assert_not_null(c);
    char *line = command_line(c, f.root);
    cr_expect_str_eq(line, "BEFORE AFTER YES");
    cr_expect_null(command_new("{order(1,1)}", f.space, f.diag));
    free(line);
    command_free(c);
    command_teardown(&f);
}

/* The line of a leaf is split into the words of the leaf again. */
Test(command, lines_are_for_a_shell)
{
    static const char *const cases[][2] = {
        {"./p {x}  -y={y}", "./p 3 -y=YES"},
        {"p 'a b' {x} \"it's\" \"\"", "p 'a b' 3 'it'\\''s' ''"},
        {"sh -c 'echo $1 | tail' - {z}", "sh -c 'echo $1 | tail' - 2"},
        {"p \\\\ ~ {{x}}", "p '\\' '~' '{x}'"},
    };
    struct command_fixture f = command_setup();
    struct space_state *leaf = command_leaf(&f);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct command *c = command_new(cases[i][0], f.space, f.diag);
        cr_assert_not_null(c, "%s", cases[i][0]);
        char *line = command_line(c, leaf);
        cr_expect_str_eq(line, cases[i][1]);
        free(line);
        command_free(c);
    }
    space_state_free(leaf);
    command_teardown(&f);
}

Test(command, malformed_lines_are_refused)
{
    static const char *const bad[] = {"", "  ", "p {w}", "p {x", "p 'a", "p \"{x}", "{}"};
    struct command_fixture f = command_setup();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cr_expect_null(command_new(bad[i], f.space, f.diag), "%s", bad[i]);
        cr_expect_eq(diag_count(f.diag), i + 1, "%s", bad[i]);
    }
    command_teardown(&f);
}

Test(command, output_is_a_time_or_garbage)
{
    static const struct {
        const char *text;
        enum eval_status status;
        double ns;
    } cases[] = {
        {"1500\n", EVAL_OK, 1500},
        {"warming up\n 1.5e3 \n\n", EVAL_OK, 1500},
        {"{\"time_ns\": 12.5, \"note\": 1}", EVAL_OK, 12.5},
        {"log\n{\"time_ns\": 7}\n", EVAL_OK, 7},
        {"{\n \"time_ns\": 9\n}\n", EVAL_OK, 9},
        {"{\"error\": \"no such tile\"}", EVAL_LAUNCH_ERROR, 0},
        {"", EVAL_WRONG_RESULT, 0},
        {"fast\n", EVAL_WRONG_RESULT, 0},
        {"12 ms\n", EVAL_WRONG_RESULT, 0},
        {"0\n", EVAL_WRONG_RESULT, 0},
        {"-3\n", EVAL_WRONG_RESULT, 0},
        {"nan\n", EVAL_WRONG_RESULT, 0},
        {"inf\n", EVAL_WRONG_RESULT, 0},
        {"{\"time_ns\": \"9\"}", EVAL_WRONG_RESULT, 0},
        {"[9]", EVAL_WRONG_RESULT, 0},
        {"{\"time_ns\": 9", EVAL_WRONG_RESULT, 0},
        {"\x01\x02\xff", EVAL_WRONG_RESULT, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct command_result r = command_read_output(cases[i].text);
        cr_expect_eq(r.status, cases[i].status, "%s", cases[i].text);
        cr_expect_eq(r.time_ns, cases[i].ns, "%s", cases[i].text);
        cr_expect((r.status == EVAL_OK) == !*r.message, "%s", cases[i].text);
    }
}

/* What is printed beside the time, as members of an object or on lines before it. */
Test(command, further_numbers_are_kept)
{
    static const char *const cases[][2] = {
        {"1500\n", ""},
        {"gflops: 12.5\n1500\n", "{\"gflops\":12.5}"},
        {"  GB/s = 3\r\nl2.misses=1e3\nwarming up\n9\n", "{\"GB/s\":3,\"l2.misses\":1000}"},
        {"12: 3\na b: 4\nc: many\nd: 4 MB\ne:\n5\nf: inf\n:7\n9\n", ""},
        {"a: 1\na: 2\n9\n", "{\"a\":2}"},
        {"{\"time_ns\": 9, \"gflops\": 0.5, \"pass\": 3, \"note\": \"x\", \"all\": [1]}",
         "{\"gflops\":0.5,\"pass\":3}"},
        {"gflops: 12.5\nfast\n", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct command_result r = command_read_output(cases[i][0]);
        cr_expect_str_eq(r.numbers, cases[i][1], "%s: '%s'", cases[i][0], r.numbers);
    }
}

/* Of more numbers than there is room for the first ones are kept. */
Test(command, numbers_that_have_no_room_are_left_out)
{
    struct strbuf text = {0};
    for (int i = 0; i < 1000; i++)
        strbuf_printf(&text, "number_%d: %d\n", i, i);
    strbuf_add(&text, "5\n");
    struct command_result r = command_read_output(text.text);
    json_t *o = json_loads(r.numbers, 0, NULL);
    cr_expect_eq(r.status, EVAL_OK);
    cr_assert_not_null(o, "%s", r.numbers);
    cr_expect_eq(json_integer_value(json_object_get(o, "number_99")), 99);
    cr_expect_null(json_object_get(o, "number_999"));
    json_decref(o);
    strbuf_free(&text);
}

/* A choice that is decided already needs no placeholder. */
Test(command, choices_without_a_placeholder_are_named)
{
    static const struct {
        const char *command, *names;
        unsigned n;
    } cases[] = {
        {"p {x} {y} {z}", NULL, 0}, {"p {x} {z}", "'y'", 1}, {"p {y}", "'x', 'z'", 2}, {"p", NULL, 0}};
    struct command_fixture f = command_setup();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned n;
        struct command *c = command_new(cases[i].command, f.space, f.diag);
        char *names = command_unnamed(c, f.root, &n);
        cr_expect_eq(n, cases[i].n, "%s", cases[i].command);
        cr_expect(names && cases[i].names ? !strcmp(names, cases[i].names) : names == cases[i].names,
                  "%s: %s", cases[i].command, names ? names : "none");
        free(names);
        command_free(c);
    }
    struct space_state *pinned = space_pinned_root(f.space, (const char *[]){"x=3"}, 1, f.diag);
    struct command *c = command_new("p {y} {z}", f.space, f.diag);
    unsigned n;
    cr_assert_not_null(pinned);
    cr_expect_null(command_unnamed(c, pinned, &n));
    command_free(c);
    space_state_free(pinned);
    command_teardown(&f);
}

static struct command_result command_sh(const char *script, const char *input, double limit_s)
{
    struct command_result r;
    char *words[] = {"sh", "-c", (char *)script, NULL};
    cr_assert_eq(command_run(words, input, limit_s, &r), COMMAND_DONE, "%s", r.message);
    return r;
}

Test(command, ends_are_outcomes, .timeout = 60)
{
    static const struct {
        const char *script;
        enum eval_status status;
        const char *message;
    } cases[] = {
        {"echo 12", EVAL_OK, ""},
        {"cat; echo 12", EVAL_OK, ""},
        {"echo broken >&2; exit 3", EVAL_LAUNCH_ERROR, "ended with status 3: broken"},
        {"kill -SEGV $$", EVAL_CRASHED, "ended by signal 11"},
        {"true", EVAL_WRONG_RESULT, "the last line of the output is not a time in ns: ''"},
        {"exec 1>&-; exec 2>&-; exit 0", EVAL_WRONG_RESULT,
         "the last line of the output is not a time in ns: ''"},
        {"yes | head -c 3000000", EVAL_WRONG_RESULT, "the last line of the output is not a time in ns: 'y'"},
        {"yes | head -c 3000000; echo 12", EVAL_OK, ""},
        {"echo one; echo two", EVAL_WRONG_RESULT, "the last line of the output is not a time in ns: 'two'"},
        {"printf 'b\\351\\n' >&2; exit 1", EVAL_LAUNCH_ERROR, "ended with status 1: b?"},
        {"printf 'a\\033[31mb\\tc\\303\\251\\n' >&2; exit 1", EVAL_LAUNCH_ERROR,
         "ended with status 1: a [31mb c\303\251"},
        {"printf %s '{\"error\": \"no\\u001b[31m\\nroom\"}'", EVAL_LAUNCH_ERROR, "no [31m room"},
        {"kill -PIPE $$; echo 12", EVAL_CRASHED, "ended by signal 13"},
    };
    signal(SIGPIPE, SIG_IGN); /* as the command does: not for the program */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct command_result r = command_sh(cases[i].script, "", 30);
        cr_expect_eq(r.status, cases[i].status, "%s: %s", cases[i].script, r.message);
        cr_expect_str_eq(r.message, cases[i].message);
    }
}

/* More input than a pipe holds, read or not. */
Test(command, input_is_given, .timeout = 60)
{
    char *input = malloc(300001);
    memset(input, 'a', 300000);
    input[300000] = 0;
    struct command_result r = command_sh("wc -c", input, 30);
    cr_expect_eq(r.status, EVAL_OK);
    cr_expect_eq(r.time_ns, 300000);
    r = command_sh("echo 5", input, 30);
    cr_expect_eq(r.status, EVAL_OK);
    free(input);
}

/* A child of the program that ignores its end goes with the group. */
Test(command, time_limits_end_the_whole_group, .timeout = 60)
{
    char path[] = "/tmp/thresh-command-XXXXXX", script[200];
    close(mkstemp(path));
    snprintf(script, sizeof script, "sleep 100 & echo $! > %s; wait", path);
    struct command_result r = command_sh(script, "", 0.3);
    cr_expect_eq(r.status, EVAL_TIMEOUT);
    cr_expect_str_eq(r.message, "no result within 0.3 s");
    FILE *in = fopen(path, "r");
    long pid = 0;
    cr_assert(in && fscanf(in, "%ld", &pid) == 1);
    fclose(in);
    unlink(path);
    bool gone = false;
    for (int i = 0; i < 500 && !gone; i++) {
        char state[64];
        snprintf(state, sizeof state, "/proc/%ld/stat", pid);
        FILE *stat = fopen(state, "r");
        char kind = 'Z';
        if (stat && fscanf(stat, "%*d (%*[^)]) %c", &kind) != 1) kind = 'Z';
        if (stat) fclose(stat);
        gone = kind == 'Z' || (kill((pid_t)pid, 0) && errno == ESRCH);
        if (!gone) nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    cr_expect(gone, "a process of the group is left");
}

/* A program that fills its pipe as fast as it is read is out of time like any other. */
Test(command, time_limits_end_programs_that_print_without_pause, .timeout = 60)
{
    struct command_result r = command_sh("yes", "", 0.3);
    cr_expect_eq(r.status, EVAL_TIMEOUT, "%s", r.message);
    r = command_sh("yes >&2", "", 0.3);
    cr_expect_eq(r.status, EVAL_TIMEOUT, "%s", r.message);
}

/* The program holds the pipe open: it is closed with its end. */
Test(command, programs_end_with_who_started_them, .timeout = 60)
{
    enum { PROGRAMS_FD = 9 };
    int ends[2];
    char byte;
    cr_assert_eq(pipe(ends), 0);
    pid_t starter = fork();
    if (starter == 0) {
        char *words[] = {"sh", "-c", "echo >&9; exec sleep 30", NULL};
        if (dup2(ends[1], PROGRAMS_FD) == PROGRAMS_FD) command_start(words, NULL, 60);
        pause();
        _exit(0);
    }
    close(ends[1]);
    cr_assert_eq(read(ends[0], &byte, 1), 1);
    kill(starter, SIGKILL);
    cr_assert_eq(waitpid(starter, NULL, 0), starter);
    struct pollfd left = {ends[0], POLLIN, 0};
    cr_expect_eq(poll(&left, 1, 10000), 1, "the program is left");
    close(ends[0]);
}

Test(command, unknown_programs_are_errors)
{
    struct command_result r;
    char *words[] = {"/nowhere/prog", NULL};
    cr_assert_eq(command_run(words, "", 5, &r), COMMAND_CANNOT_RUN);
    cr_assert_str_eq(r.message, "cannot run '/nowhere/prog': No such file or directory");
}
