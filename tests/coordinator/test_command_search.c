/* A whole search with a user's program as evaluator: its best, its store, resuming, interrupts, several
 * programs at a time. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "coordinator/store.h"
#include "coordinator/tune_command.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "tests/coordinator/command_fixture.h"

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

Test(command_search, search_finds_the_best_of_all, .timeout = 120)
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

Test(command_search, the_best_are_measured_again, .timeout = 120)
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
Test(command_search, figures_stay_without_a_round, .timeout = 120)
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
Test(command_search, recorded_times_stand_for_the_command, .timeout = 120)
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
Test(command_search, a_run_on_recorded_times_records_none, .timeout = 120)
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

Test(command_search, a_resumed_search_goes_on, .timeout = 120)
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

static void command_execute(const char *path, const char *sql)
{
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* A search of n evaluations that keeps snapshots all the time. */
static struct tune_command_report command_kept(const struct command_fixture *f, const char *store,
                                               bool resume, uint64_t evaluations)
{
    return command_tune(f, (struct tune_command_options){.command = command_cost,
                                                         .evaluations = evaluations,
                                                         .runners = 3,
                                                         .store = store,
                                                         .resume = resume,
                                                         .snapshot_s = 1e-9,
                                                         .stop_fd = -1});
}

static void command_same(const struct tune_command_report *a, const struct tune_command_report *b)
{
    cr_expect_eq(a->search.evaluations, b->search.evaluations);
    cr_expect_eq(a->search.failed, b->search.failed);
    cr_expect_eq(a->search.nodes, b->search.nodes);
    cr_expect_eq(a->search.n_top, b->search.n_top);
    for (unsigned i = 0; i < a->search.n_top; i++) {
        cr_expect_eq(a->search.top[i].number, b->search.top[i].number);
        cr_expect_eq(a->search.top[i].found_at, b->search.top[i].found_at);
        cr_expect_eq(space_state_hash(a->search.top[i].leaf), space_state_hash(b->search.top[i].leaf));
    }
}

/* A snapshot stands for the rows that it covers: they are not looked at. Without it, they are replayed. */
Test(command_search, a_snapshot_stands_for_rows, .timeout = 120)
{
    char path[COMMAND_PATH], snapshot[COMMAND_PATH + 16];
    command_path(path, "kept");
    snprintf(snapshot, sizeof snapshot, "%s-1.snapshot", path);
    struct command_fixture f = command_setup();
    struct tune_command_report half = command_kept(&f, path, false, 12);
    cr_assert_eq(access(snapshot, R_OK), 0);
    command_execute(path, "UPDATE evaluation SET state_hash = '0000000000000001' WHERE number = 1");
    struct tune_command_report more = command_kept(&f, path, true, 20);
    cr_expect_eq(more.search.evaluations, 20);
    cr_expect_eq(more.search.top[0].found_at <= 20, true);
    FILE *file = fopen(snapshot, "r+b");
    cr_assert(file && fseek(file, 100, SEEK_SET) == 0);
    int byte = fgetc(file);
    fseek(file, 100, SEEK_SET);
    fputc(byte ^ 1, file);
    fclose(file);
    struct tune_command_report none;
    struct tune_command_options o = {.command = command_cost,
                                     .root = f.root,
                                     .store = path,
                                     .resume = true,
                                     .path = "t.space",
                                     .parameters = "",
                                     .pins = "",
                                     .seed = 3,
                                     .runners = 1,
                                     .timeout_s = 30,
                                     .quiet = true,
                                     .stop_fd = -1};
    cr_expect(!tune_command(&o, &none, f.diag), "the rows are replayed, and the first one was edited");
    cr_expect(strstr(diag_message(f.diag, 0), "cannot be replayed"), "%s", diag_message(f.diag, 0));
    tune_command_report_clear(&none);
    tune_command_report_clear(&half);
    tune_command_report_clear(&more);
    unlink(snapshot);
    command_store_remove(path);
    command_teardown(&f);
}

/* Snapshots change nothing that a search decides: with one program at a time its results are in order. */
Test(command_search, a_search_with_snapshots_decides_the_same, .timeout = 120)
{
    char path[COMMAND_PATH], snapshot[COMMAND_PATH + 16];
    command_path(path, "same");
    snprintf(snapshot, sizeof snapshot, "%s-1.snapshot", path);
    struct command_fixture f = command_setup();
    struct tune_command_report straight = command_search(&f, NULL, false, 30, 1);
    struct tune_command_options o = {
        .command = command_cost, .runners = 1, .store = path, .snapshot_s = 1e-9, .stop_fd = -1};
    for (o.evaluations = 5; o.evaluations <= 30; o.evaluations += 5) {
        struct tune_command_report part = command_tune(&f, o);
        o.resume = true;
        if (o.evaluations == 30) command_same(&part, &straight);
        tune_command_report_clear(&part);
    }
    tune_command_report_clear(&straight);
    unlink(snapshot);
    command_store_remove(path);
    command_teardown(&f);
}

/* Twelve of eleven numbers that all differ: no solution, which a search cannot prove in the time it has. */
static const char command_endless_text[] = "space s set P = 0..11 choice hole(p: P): int in 0..10\n"
                                           "require forall p, q in P: hole(p) != hole(q)\n";

/* A search that finds nothing ends with the time, and at an interrupt; the space is not exhausted then. */
Test(command_search, searches_that_find_nothing_end, .timeout = 120)
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
Test(command_search, a_resumption_is_interrupted, .timeout = 120)
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
Test(command_search, several_programs_are_at_work, .timeout = 120)
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
Test(command_search, programs_have_room_for_their_files, .timeout = 120)
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
Test(command_search, several_programs_are_resumed, .timeout = 120)
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
