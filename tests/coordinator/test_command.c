/* A user's program as evaluator: words of its command line, what its output means, its failures and time
 * limits, and a whole search with it. */
#include "coordinator/command.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "coordinator/store.h"
#include "coordinator/tune_command.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/space/data.h"
#include "spacedsl/model.h"

static const char command_space_text[] =
    "space s parameter p: int = 7 choice x: int in 1..6 choice y: { NO, YES } choice z: int in 0..3\n"
    "require y is YES -> x > 2\n";

struct command_fixture {
    struct arena *arena;
    struct diag *diag;
    struct space_data *data;
    struct space *space;
    struct space_state *root;
};

static struct command_fixture command_setup_of(const char *text)
{
    struct command_fixture f = {.arena = arena_new(), .diag = diag_new(), .data = space_data_new()};
    struct source *src = ARENA_NEW(f.arena, struct source);
    *src = (struct source){"t", text, strlen(text)};
    f.space = space_instantiate(spacedsl_compile(src, f.arena, f.diag), f.data, f.diag);
    f.root = space_root(f.space, NULL);
    cr_assert_not_null(f.root);
    return f;
}

static struct command_fixture command_setup(void)
{
    return command_setup_of(command_space_text);
}

static void command_teardown(struct command_fixture *f)
{
    space_state_free(f->root);
    space_free(f->space);
    space_data_free(f->data);
    arena_free(f->arena);
    diag_free(f->diag);
}

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
    cr_assert_eq(command_run(words, input, limit_s, -1, &r), COMMAND_DONE, "%s", r.message);
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
    cr_assert_eq(command_run(words, "", 5, -1, &r), COMMAND_CANNOT_RUN);
    cr_assert_str_eq(r.message, "cannot run '/nowhere/prog': No such file or directory");
}

/* ---- a search ---- */

static const char command_cost[] =
    "sh -c 'test $1 != 5 || exit 1; echo $(( 100 + ($1 - 4) * ($1 - 4) * 10 - $2 ))' - {x} {z}";

static struct tune_command_report command_tune(const struct command_fixture *f, struct tune_command_options o)
{
    struct tune_command_report r;
    o.path = "t.space";
    o.parameters = o.pins = "";
    o.root = f->root;
    o.seed = 3;
    o.timeout_s = 30;
    o.quiet = true;
    bool ok = tune_command(&o, &r, f->diag);
    diag_print(f->diag, stderr);
    cr_assert(ok);
    return r;
}

static struct tune_command_report command_search(const struct command_fixture *f, const char *store,
                                                 bool resume, uint64_t evaluations, unsigned runners)
{
    struct tune_command_options o = {.command = command_cost,
                                     .evaluations = evaluations,
                                     .runners = runners,
                                     .store = store,
                                     .resume = resume,
                                     .stop_fd = -1};
    return command_tune(f, o);
}

enum { COMMAND_PATH = 64 };

/* A path of this process where nothing is. */
static void command_path(char path[COMMAND_PATH], const char *what)
{
    snprintf(path, COMMAND_PATH, "/tmp/thresh-%s-%ld", what, (long)getpid());
    unlink(path);
}

static void command_store_remove(const char *path)
{
    char *names[] = {"", "-wal", "-shm"}, name[COMMAND_PATH + 8];
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, names[i]);
        unlink(name);
    }
}

static bool command_count_figure(void *context, const struct store_figure *f)
{
    unsigned *rows = context;
    cr_expect_str_eq(f->label, "search");
    cr_expect_eq(f->n_times, LIMIT_ROUNDS);
    ++*rows;
    return true;
}

Test(command, search_finds_the_best_of_all, .timeout = 120)
{
    struct command_fixture f = command_setup();
    struct tune_command_report r = command_search(&f, NULL, false, 0, 1);
    cr_expect(r.search.exhausted);
    cr_expect_eq(r.search.evaluations, 40, "2 * 4 without y, 4 * 2 * 4 with it");
    cr_expect_eq(r.search.failed, 8, "x = 5");
    cr_expect_eq(r.search.contenders[0].search_ns, 97, "x = 4, z = 3");
    cr_expect_eq(space_first_value(r.search.contenders[0].leaf, 0), 3);
    cr_expect_eq(space_first_value(r.search.contenders[0].leaf, 2), 3);
    const char *end = r.best_line + strlen(r.best_line) - strlen("' - 4 3");
    cr_expect_str_eq(end, "' - 4 3", "%s", r.best_line);
    tune_command_report_clear(&r);
    command_teardown(&f);
}

/* The search times each candidate once, and the first run of the best one is lucky: later ones tell. */
static const char command_lucky[] =
    "sh -c 'f=%s/$1$2; if test -e $f; then sleep 0.02; echo $((200 + $1)); else "
    ">$f; echo $((100 - $1)); fi' - {x} {z}";

Test(command, the_best_are_measured_again, .timeout = 120)
{
    char folder[] = "/tmp/thresh-again-XXXXXX", text[512], store[64];
    cr_assert_not_null(mkdtemp(folder));
    snprintf(text, sizeof text, command_lucky, folder);
    snprintf(store, sizeof store, "%s.db", folder);
    struct command_fixture f = command_setup();
    double start_s = clock_s();
    struct tune_command_report r = command_tune(
        &f, (struct tune_command_options){
                .command = text, .evaluations = 12, .runners = 1, .store = store, .stop_fd = -1});
    cr_assert_eq(r.search.n_contenders, LIMIT_TOP);
    double rounds_s = clock_s() - start_s - r.search.elapsed_s;
    cr_expect_gt(rounds_s, LIMIT_ROUNDS * LIMIT_TOP * 0.02, "the rounds are not of the search: %g s",
                 rounds_s);
    for (unsigned i = 0; i < r.search.n_contenders; i++) {
        const struct session_pick *p = &r.search.contenders[i];
        uint32_t x = 1 + space_first_value(p->leaf, 0);
        cr_expect(p->search_ns == 100 - x || p->search_ns == 200 + x, "%f of %u", p->search_ns, x);
        cr_expect_eq(p->figure.median_ns, 200 + x);
        cr_expect_eq(p->figure.rounds, LIMIT_ROUNDS);
        cr_expect(i == 0 || p->figure.median_ns >= r.search.contenders[i - 1].figure.median_ns,
                  "they are sorted");
    }
    unsigned rows = 0;
    struct store *s = store_open(store, false, f.diag);
    cr_assert(store_each_figure(s, 1, command_count_figure, &rows, f.diag));
    cr_expect_eq(rows, LIMIT_TOP);
    store_close(s);
    tune_command_report_clear(&r);
    command_teardown(&f);
    command_store_remove(store);
    snprintf(text, sizeof text, "rm -r %s", folder);
    cr_expect_eq(system(text), 0);
}

static bool command_count_quoted(void *context, const struct store_figure *f)
{
    *(unsigned *)context += figure_quoted(&f->figure);
    return true;
}

/* A run that is resumed and then interrupted before a round is over has the figures that it had. */
Test(command, figures_stay_without_a_round, .timeout = 120)
{
    char path[COMMAND_PATH], fifo[COMMAND_PATH], text[512];
    unsigned before = 0, after = 0;
    command_path(path, "command");
    command_path(fifo, "stop");
    snprintf(text, sizeof text, "sh -c 'test ! -p %s || { echo >%s; sleep 20; }; echo $((100 + $1))' - {x}",
             fifo, fifo);
    struct command_fixture f = command_setup();
    struct tune_command_options o = {
        .command = text, .evaluations = 4, .runners = 1, .store = path, .stop_fd = -1};
    struct tune_command_report first = command_tune(&f, o);
    struct store *s = store_open_to_read(path, f.diag);
    cr_assert(s && store_each_figure(s, 1, command_count_quoted, &before, f.diag));
    store_close(s);
    cr_assert_eq(mkfifo(fifo, 0600), 0);
    o.resume = true;
    o.stop_fd = open(fifo, O_RDWR | O_NONBLOCK);
    cr_assert(o.stop_fd >= 0);
    struct tune_command_report again = command_tune(&f, o);
    cr_expect(again.search.interrupted && again.search.n_contenders &&
              !figure_quoted(&again.search.contenders[0].figure));
    s = store_open_to_read(path, f.diag);
    cr_assert(s && store_each_figure(s, 1, command_count_quoted, &after, f.diag));
    store_close(s);
    cr_expect(before > 0 && after == before);
    close(o.stop_fd);
    unlink(fifo);
    tune_command_report_clear(&first);
    tune_command_report_clear(&again);
    command_store_remove(path);
    command_teardown(&f);
}

/* What was recorded stands for the command, which need not be there; the rest counts as failed. */
Test(command, recorded_times_stand_for_the_command, .timeout = 120)
{
    char path[COMMAND_PATH];
    command_path(path, "command");
    struct command_fixture f = command_setup();
    struct tune_command_report all = command_search(&f, path, false, 0, 1);
    struct tune_command_options o = {.recorded = path, .runners = 1, .stop_fd = -1};
    struct tune_command_report again = command_tune(&f, o);
    cr_expect_eq(again.search.evaluations, 40);
    cr_expect_eq(again.search.failed, 8, "as recorded");
    cr_expect_eq(again.search.contenders[0].figure.median_ns, 97);
    cr_expect_not(figure_quoted(&again.search.contenders[0].figure));
    cr_expect_null(again.best_line);
    tune_command_report_clear(&again);
    command_store_remove(path);
    tune_command_report_clear(&all);
    all = command_search(&f, path, false, 10, 1);
    again = command_tune(&f, o);
    cr_expect_eq(again.search.evaluations, 40);
    cr_expect_eq(again.search.ok, all.search.ok);
    o.evaluations = 7;
    tune_command_report_clear(&again);
    again = command_tune(&f, o);
    cr_expect_eq(again.search.evaluations, 7);
    tune_command_report_clear(&again);
    tune_command_report_clear(&all);
    command_teardown(&f);
    f = command_setup_of("space other choice x: int in 1..3\n");
    o = (struct tune_command_options){.path = "t.space",
                                      .parameters = "",
                                      .pins = "",
                                      .root = f.root,
                                      .recorded = path,
                                      .runners = 1,
                                      .quiet = true,
                                      .stop_fd = -1};
    cr_expect_not(tune_command(&o, &again, f.diag));
    cr_expect(strstr(diag_message(f.diag, 0), "nothing was recorded for this space and these parameters"));
    command_store_remove(path);
    command_teardown(&f);
}

/* A run with --recorded measured nothing: what it had no timing for is not known from then on. */
Test(command, a_run_on_recorded_times_records_none, .timeout = 120)
{
    char path[COMMAND_PATH], copy[COMMAND_PATH];
    command_path(path, "command");
    command_path(copy, "copy");
    struct command_fixture f = command_setup();
    struct tune_command_report some = command_search(&f, path, false, 4, 1), none;
    struct tune_command_options o = {.recorded = path, .runners = 1, .store = copy, .stop_fd = -1};
    struct tune_command_report again = command_tune(&f, o);
    cr_expect_eq(again.search.evaluations, 40);
    o = (struct tune_command_options){.path = "t.space",
                                      .parameters = "",
                                      .pins = "",
                                      .root = f.root,
                                      .recorded = copy,
                                      .quiet = true,
                                      .stop_fd = -1};
    cr_expect_not(tune_command(&o, &none, f.diag));
    cr_expect(strstr(diag_message(f.diag, 0), "nothing was recorded for this space and these parameters"));
    tune_command_report_clear(&some);
    tune_command_report_clear(&again);
    command_store_remove(path);
    command_store_remove(copy);
    command_teardown(&f);
}

Test(command, a_resumed_search_goes_on, .timeout = 120)
{
    char path[COMMAND_PATH];
    command_path(path, "command");
    struct command_fixture f = command_setup();
    struct tune_command_report half = command_search(&f, path, false, 12, 1);
    struct tune_command_report whole = command_search(&f, path, true, 25, 1);
    struct tune_command_report straight = command_search(&f, NULL, false, 25, 1);
    cr_expect_eq(half.search.evaluations, 12);
    cr_expect_eq(whole.search.evaluations, 25);
    cr_expect_eq(whole.search.contenders[0].figure.median_ns, straight.search.contenders[0].figure.median_ns);
    cr_expect_eq(whole.search.contenders[0].found_at, straight.search.contenders[0].found_at);
    cr_expect_eq(whole.search.failed, straight.search.failed);
    cr_expect_eq(whole.search.nodes, straight.search.nodes);
    cr_expect_eq(space_state_hash(whole.search.contenders[0].leaf),
                 space_state_hash(straight.search.contenders[0].leaf));
    struct tune_command_report enough = command_search(&f, path, true, 20, 2);
    cr_expect_eq(enough.search.evaluations, 25, "there is nothing left to do");
    tune_command_report_clear(&enough);
    tune_command_report_clear(&half);
    tune_command_report_clear(&whole);
    tune_command_report_clear(&straight);
    command_store_remove(path);
    command_teardown(&f);
}

/* Twelve of eleven numbers that all differ: no solution, which a search cannot prove in the time it has. */
static const char command_endless_text[] = "space s set P = 0..11 choice hole(p: P): int in 0..10\n"
                                           "require forall p, q in P: hole(p) != hole(q)\n";

/* A search that finds nothing ends with the time, and at an interrupt; the space is not exhausted then. */
Test(command, searches_that_find_nothing_end, .timeout = 120)
{
    struct command_fixture f = command_setup_of(command_endless_text);
    struct tune_command_options o = {.command = "true", .runners = 1, .time_s = 0.5, .stop_fd = -1};
    struct tune_command_report r = command_tune(&f, o);
    cr_expect(!r.search.exhausted && !r.search.interrupted);
    cr_expect_eq(r.search.evaluations, 0);
    tune_command_report_clear(&r);
    const struct itimerspec when = {.it_value = {.tv_nsec = 500000000}};
    o.time_s = 0;
    o.stop_fd = timerfd_create(CLOCK_MONOTONIC, 0);
    cr_assert_eq(timerfd_settime(o.stop_fd, 0, &when, NULL), 0);
    r = command_tune(&f, o);
    cr_expect(!r.search.exhausted && r.search.interrupted);
    tune_command_report_clear(&r);
    close(o.stop_fd);
    command_teardown(&f);
}

/* An interrupt is seen while the rows of the store are replayed; what they hold is no result. */
Test(command, a_resumption_is_interrupted, .timeout = 120)
{
    char path[COMMAND_PATH];
    int ends[2];
    command_path(path, "command");
    struct command_fixture f = command_setup();
    struct tune_command_report some = command_search(&f, path, false, 5, 1), none;
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(write(ends[1], "", 1), 1);
    struct tune_command_options o = {.path = "t.space",
                                     .parameters = "",
                                     .command = command_cost,
                                     .pins = "",
                                     .root = f.root,
                                     .seed = 3,
                                     .evaluations = 25,
                                     .timeout_s = 30,
                                     .runners = 1,
                                     .store = path,
                                     .resume = true,
                                     .quiet = true,
                                     .stop_fd = ends[0]};
    cr_expect_not(tune_command(&o, &none, f.diag));
    cr_expect_str_eq(diag_message(f.diag, 0), "error: interrupted while the run was restored");
    cr_expect(!none.search.n_contenders && none.search.evaluations == 0);
    tune_command_report_clear(&some);
    command_store_remove(path);
    command_teardown(&f);
}

/* Each program waits until four of them are at work, and fails if that does not come about. */
Test(command, several_programs_are_at_work, .timeout = 120)
{
    char folder[] = "/tmp/thresh-at-work-XXXXXX", text[512];
    cr_assert_not_null(mkdtemp(folder));
    snprintf(text, sizeof text,
             "sh -c 'cd %s; : >$$; n=0; until [ $(ls | wc -l) -ge 4 ]; do sleep 0.01; n=$((n+1)); "
             "[ $n -lt 2000 ] || exit 1; done; echo $((100 + $1))' - {x}",
             folder);
    struct command_fixture f = command_setup();
    struct tune_command_report r = command_tune(
        &f, (struct tune_command_options){.command = text, .evaluations = 8, .runners = 4, .stop_fd = -1});
    cr_expect_eq(r.search.evaluations, 8);
    cr_expect_eq(r.search.ok, 8, "%s", r.search.last_failure);
    tune_command_report_clear(&r);
    command_teardown(&f);
    snprintf(text, sizeof text, "rm -r %s", folder);
    cr_expect_eq(system(text), 0);
}

/* More programs than the limit of open files has room for, which may be raised. */
Test(command, programs_have_room_for_their_files, .timeout = 120)
{
    struct rlimit limit;
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = 100;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    struct command_fixture f = command_setup();
    struct tune_command_options o = {.command = "echo 5", .runners = 32, .stop_fd = -1};
    struct tune_command_report r = command_tune(&f, o);
    cr_expect_eq(r.search.ok, 40, "%s", r.search.last_failure);
    tune_command_report_clear(&r);
    command_teardown(&f);
}

/* Interrupted with programs at work: these are run again. */
Test(command, several_programs_are_resumed, .timeout = 120)
{
    char path[COMMAND_PATH], fifo[COMMAND_PATH], text[512];
    command_path(path, "command");
    command_path(fifo, "stop");
    cr_assert_eq(mkfifo(fifo, 0600), 0);
    int stop_fd = open(fifo, O_RDWR | O_NONBLOCK);
    cr_assert(stop_fd >= 0);
    snprintf(text, sizeof text,
             "sh -c 'test $1 != 3 || ! test -p %s || { echo >%s; sleep 20; }; echo $((100 + $1))' - {x}",
             fifo, fifo);
    struct command_fixture f = command_setup();
    struct tune_command_options o = {.command = text, .runners = 3, .store = path, .stop_fd = stop_fd};
    struct tune_command_report some = command_tune(&f, o);
    cr_expect(some.search.interrupted);
    cr_expect_lt(some.search.evaluations, 40);
    close(stop_fd);
    unlink(fifo);
    o.resume = true;
    o.stop_fd = -1;
    struct tune_command_report all = command_tune(&f, o);
    cr_expect(all.search.exhausted && !all.search.interrupted);
    cr_expect_eq(all.search.evaluations, 40);
    cr_expect_eq(all.search.ok, 40, "%s", all.search.last_failure);
    tune_command_report_clear(&some);
    tune_command_report_clear(&all);
    command_store_remove(path);
    command_teardown(&f);
}
