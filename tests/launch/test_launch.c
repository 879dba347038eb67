/* Launchers with fake programs: which command lines they run, what the end of an agent means, what is left
 * behind. */
#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coordinator/launch/keeper.h"
#include "core/keys/keys.h"
#include "tests/launch/fixture.h"

static const char launch_test_tcp[] = "tcp://127.0.0.1:7000";

/* The path of a fake program as a setting. */
static const char *launch_test_local(const struct launch_test *t, const char *rest)
{
    return arena_printf(t->arena, "local:%s,program=%s/bin/thresh", rest, t->top);
}

/* ---- local ---- */

Test(launch, local_agents_get_their_arguments_and_leave_in_peace)
{
    struct launch_test t;
    launch_test_open(&t);
    launch_test_program(&t, "thresh", "printf '<%s>' \"$@\" >>$LOG\necho >>$LOG\n");
    launch_test_start(&t, launch_test_local(&t, "1,device=a b;c,runners=2"), "tcp://0.0.0.0:7000", NULL);
    launch_test_await(&t, "local 1", LAUNCH_ENDED);
    cr_expect_eq(launch_left(t.launch), 0);
    cr_expect(strstr(launch_test_logged(&t, "\n"),
                     "<agent><--quiet><--connect=tcp://127.0.0.1:7000><--device=a b;c><--runners=2>\n"));
    launch_test_close(&t);
}

Test(launch, a_local_agent_that_dies_is_started_again_some_times)
{
    struct launch_test t;
    struct launch_event e;
    launch_test_open(&t);
    launch_test_program(&t, "thresh", "echo run >>$LOG\necho 'the device is \033gone' >&2\nkill -9 $$\n");
    launch_test_start(&t, launch_test_local(&t, "1"), launch_test_tcp, NULL);
    const char *text = launch_test_await(&t, "local 1", LAUNCH_AGAIN);
    cr_expect(strstr(text, "signal 9: the device is  gone") && strstr(text, "1 of 3"), "%s", text);
    cr_expect_eq(launch_left(t.launch), 1);
    text = launch_test_await(&t, "local 1", LAUNCH_FAILED);
    cr_expect(strstr(text, "ended 4 times"), "%s", text);
    cr_expect_eq(launch_left(t.launch), 0);
    cr_expect_str_eq(launch_test_logged(&t, "run\nrun\nrun\nrun\n"), "run\nrun\nrun\nrun\n");
    cr_expect_not(launch_poll(t.launch, &e));
    launch_test_close(&t);
}

Test(launch, bad_usage_and_missing_programs_are_not_tried_again)
{
    struct launch_test t;
    launch_test_open(&t);
    launch_test_program(&t, "thresh", "echo 'error: no device' >&2\nexit 2\n");
    launch_test_start(&t, launch_test_local(&t, "2"), launch_test_tcp, NULL);
    cr_expect(strstr(launch_test_await(&t, "local 2", LAUNCH_FAILED), "exit status 2: error: no device"));
    for (struct launch_event e; launch_left(t.launch) > 0;) /* either may end first */
        launch_poll(t.launch, &e);
    launch_free(t.launch);
    launch_test_start(&t, "local:1,program=/nonexistent/thresh", launch_test_tcp, NULL);
    cr_expect(strstr(launch_test_await(&t, "local 1", LAUNCH_FAILED),
                     "cannot run /nonexistent/thresh: there is no"));
    launch_test_close(&t);
}

/* SIGTERM first; one that ignores it is killed with what it has started. */
Test(launch, stopping_asks_first)
{
    struct launch_test t;
    launch_test_open(&t);
    launch_test_program(
        &t, "thresh", "trap 'echo term >>$LOG; exit 0' TERM\necho up >>$LOG\nwhile :; do sleep 0.05; done\n");
    launch_test_start(&t, launch_test_local(&t, "2"), launch_test_tcp, NULL);
    launch_test_logged(&t, "up\nup\n");
    launch_stop(t.launch);
    cr_expect_eq(launch_left(t.launch), 0);
    cr_expect(strstr(launch_test_logged(&t, "term\nterm\n"), "up\nup\n"));
    launch_test_close(&t);
}

/* The first process starts an agent and is killed: the agent is gone, too. */
Test(launch, local_agents_die_with_their_coordinator)
{
    struct launch_test t;
    launch_test_open(&t);
    launch_test_program(&t, "thresh", "trap '' TERM\necho pid $$ >>$LOG\nwhile :; do sleep 0.05; done\n");
    pid_t child = fork();
    if (child == 0) {
        launch_test_start(&t, launch_test_local(&t, "1"), launch_test_tcp, NULL);
        for (;;)
            pause();
    }
    int agent = atoi(strstr(launch_test_logged(&t, "pid "), "pid ") + 4);
    cr_assert_gt(agent, 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    char path[64], state;
    snprintf(path, sizeof path, "/proc/%d/stat", agent);
    for (int i = 0; i < 6000; i++, poll(NULL, 0, 10)) {
        FILE *in = fopen(path, "r");
        bool alive = in && fscanf(in, "%*d (%*[^)]) %c", &state) == 1 && state != 'Z';
        if (in) fclose(in);
        if (!alive) {
            launch_test_close(&t);
            return;
        }
    }
    cr_assert_fail("agent %d lives on", agent);
}

/* ---- the thread ---- */

static void launch_test_note(void *ctx, const char *line)
{
    struct launch_test *t = ctx;
    FILE *log = fopen(t->log, "a");
    fprintf(log, "%s\n", line);
    fclose(log);
}

/* When no agent is left the search is to end, with the reason; a search that ends by itself has no error. */
Test(launch, a_keeper_ends_the_search_when_no_agent_is_left)
{
    for (int fails = 0; fails < 2; fails++) {
        struct launch_test t;
        struct launch_options o;
        launch_test_open(&t);
        launch_test_program(&t, "thresh", fails ? "echo 'no device' >&2\nexit 2\n" : "exec sleep 100\n");
        cr_assert(launch_options_parse(launch_test_local(&t, "2"), t.arena, &o, t.diag));
        struct launch_keeper *k = launch_keep(&o, launch_test_tcp, NULL, -1, launch_test_note, &t, t.diag);
        cr_assert_not_null(k);
        struct pollfd fd = {.fd = launch_keeper_fd(k), .events = POLLIN};
        cr_expect_eq(poll(&fd, 1, fails ? 60000 : 300), fails);
        cr_expect_eq(launch_keeper_end(k, t.diag), fails != 0);
        cr_expect_eq(diag_count(t.diag), fails);
        if (fails)
            cr_expect(strstr(diag_message(t.diag, 0), "no agent is left") &&
                      strstr(launch_test_logged(&t, "no device"), "cannot work"));
        launch_test_close(&t);
    }
}

/* ---- ssh ---- */

/* Runs what ssh would run there, in a home of its own; options and the host go to the log. */
static const char launch_test_ssh[] =
    "for last; do :; done\n"
    "printf '<%s>' \"$@\" >>$LOG; echo >>$LOG\n"
    "[ ! -e $TOP/refuse ] || { echo refused >&2; exit 255; }\n"
    "HOME=$TOP/home; export HOME; unset XDG_CACHE_HOME; mkdir -p $HOME; cd $HOME\n"
    "exec sh -c \"$last\"\n";

/* A bundle whose thresh tells its arguments and the key, and waits for SIGTERM. */
static const char *launch_test_bundle(struct launch_test *t, const char *version)
{
    const char *folder = arena_printf(t->arena, "%s/bundle", t->top);
    mkdir(folder, 0700);
    const char *text = arena_printf(t->arena,
                                    "#!/bin/sh\n# %s\n"
                                    "echo \"agent $*\" >>$LOG\n"
                                    "for last; do :; done\n"
                                    "case \"$*\" in *--key*) stat -c 'mode %%a' \"$last\" >>$LOG; cp "
                                    "\"$last\" $TOP/got.$$; mv $TOP/got.$$ $TOP/got; esac\n"
                                    "echo \"libraries $LD_LIBRARY_PATH\" >>$LOG\n"
                                    "trap 'echo term >>$LOG; exit 0' TERM\n"
                                    "while :; do sleep 0.05; done\n",
                                    version);
    const char *path = launch_test_write(t, "bundle/thresh", text);
    cr_assert_eq(chmod(path, 0700), 0);
    launch_test_write(t, "bundle/lib.so", "x");
    return folder;
}

/* How often a word is in a text. */
static unsigned launch_test_times(const char *text, const char *word)
{
    unsigned n = 0;
    for (; (text = strstr(text, word)); text += strlen(word))
        n++;
    return n;
}

Test(launch, ssh_copies_the_bundle_once_and_the_key_as_a_file)
{
    struct launch_test t;
    const char *names[] = {"launcher"};
    launch_test_open(&t);
    launch_test_program(&t, "ssh", launch_test_ssh);
    const char *keys = arena_printf(t.arena, "%s/keys", t.top), *bundle = launch_test_bundle(&t, "one");
    const char *hosts = launch_test_write(&t, "hosts", "node1 agents=2 device=it's\n");
    const char *text = arena_printf(t.arena, "ssh:%s,bundle=%s,ssh=ssh -p 22,address=login", hosts, bundle);
    cr_assert(keys_new(keys, names, 1, t.diag));
    launch_test_start(&t, text, "tcp://0.0.0.0:7000", keys);
    cr_expect(strstr(launch_test_await(&t, "node1", LAUNCH_NEWS), "copied the bundle"));
    const char *log = launch_test_logged(&t, "libraries");
    cr_expect(strstr(log, "<-p><22><-T><-o><BatchMode=yes>"), "%s", log);
    cr_expect(strstr(log, "<--><node1><exec sh -c "), "%s", log);
    cr_expect(strstr(log, "agent agent --quiet --connect=tcp://login:7000 --device=it's --key "), "%s", log);
    cr_expect(strstr(log, "mode 600"), "%s", log);
    cr_expect(strstr(log, arena_printf(t.arena, "libraries %s/home/.cache/thresh/", t.top)), "%s", log);
    cr_expect_eq(system("cmp $TOP/got $TOP/keys/agents/launcher.key_secret"), 0);
    cr_expect_eq(system("! grep -qF \"$(sed -n 's/.*secret-key = //p' $TOP/got)\" $LOG"), 0,
                 "the secret was an argument");
    launch_stop(t.launch);
    cr_expect_geq(launch_test_times(launch_test_logged(&t, "term\n"), "term\n"), 1);
    launch_free(t.launch);

    /* The host has it now. */
    launch_test_write(&t, "log", "");
    launch_test_start(&t, text, "tcp://0.0.0.0:7000", keys);
    cr_expect_not(strstr(launch_test_logged(&t, "libraries"), "tar -x"));
    launch_free(t.launch);

    /* Another version is copied beside it. */
    launch_test_write(&t, "log", "");
    launch_test_bundle(&t, "two");
    launch_test_start(&t, text, "tcp://0.0.0.0:7000", keys);
    cr_expect(strstr(launch_test_logged(&t, "libraries"), "tar -x"));
    cr_expect_eq(system("test $(ls $TOP/home/.cache/thresh | wc -l) = 2"), 0);
    launch_test_close(&t);
}

/* The end of the connection ends the agent, also if the coordinator was killed. */
Test(launch, ssh_agents_leave_when_the_connection_ends)
{
    struct launch_test t;
    launch_test_open(&t);
    launch_test_program(&t, "ssh", launch_test_ssh);
    const char *bundle = launch_test_bundle(&t, "one"), *hosts = launch_test_write(&t, "hosts", "node1\n");
    pid_t child = fork();
    if (child == 0) {
        launch_test_start(&t, arena_printf(t.arena, "ssh:%s,bundle=%s", hosts, bundle), "tcp://10.0.0.1:7000",
                          NULL);
        launch_test_logged(&t, "libraries");
        raise(SIGKILL);
    }
    waitpid(child, NULL, 0);
    cr_expect(strstr(launch_test_logged(&t, "term\n"), "--connect=tcp://10.0.0.1:7000"));
    launch_test_close(&t);
}

Test(launch, hosts_that_refuse_are_tried_again_and_given_up)
{
    struct launch_test t;
    launch_test_open(&t);
    launch_test_program(&t, "ssh", launch_test_ssh);
    launch_test_write(&t, "refuse", "");
    const char *hosts = launch_test_write(&t, "hosts", "a agents=2\n"),
               *bundle = launch_test_bundle(&t, "one");
    launch_test_start(&t, arena_printf(t.arena, "ssh:%s,bundle=%s", hosts, bundle), "tcp://10.0.0.1:7000",
                      NULL);
    cr_expect(
        strstr(launch_test_await(&t, "a", LAUNCH_NEWS), "exit status 255: refused; trying again (1 of 3)"));
    cr_expect(
        strstr(launch_test_await(&t, "a 2", LAUNCH_FAILED), "cannot be started: exit status 255: refused"));
    cr_expect_eq(launch_left(t.launch), 0);
    launch_test_close(&t);
}

/* What cannot work is said before anything is started. */
Test(launch, starts_that_cannot_work_are_refused)
{
    static const struct {
        const char *text, *endpoint, *message;
    } cases[] = {
        {"slurm:2", "tcp://127.0.0.1:7000", "cannot connect to 127.0.0.1"},
        {"slurm:2", "ipc:///tmp/x", "cannot connect to ipc:///tmp/x; listen at tcp://"},
        {"local:2", "tcp://127.0.0.1:*", "a launcher needs the number of the port"},
        {"ssh:$TOP/hosts,bundle=/nonexistent", "tcp://10.0.0.1:7000", "has no program thresh; make one with"},
        {"slurm:2,address=x", "tcp://10.0.0.1:7000", "sbatch: exit status 1: no such partition"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct launch_test t;
        struct launch_options o;
        launch_test_open(&t);
        launch_test_program(&t, "scancel", "exit 0\n");
        launch_test_program(&t, "sbatch", "echo 'no such partition' >&2\nexit 1\n");
        launch_test_write(&t, "hosts", "a\n");
        const char *text = cases[i].text, *top = strstr(text, "$TOP");
        if (top) text = arena_printf(t.arena, "%.*s%s%s", (int)(top - text), text, t.top, top + 4);
        cr_assert(launch_options_parse(text, t.arena, &o, t.diag));
        cr_assert_null(launch_start(&o, cases[i].endpoint, NULL, t.diag), "%s", text);
        cr_expect(strstr(diag_message(t.diag, 0), cases[i].message), "%s: %s", text, diag_message(t.diag, 0));
        launch_test_close(&t);
    }
}

/* ---- slurm ---- */

Test(launch, slurm_is_one_array_that_is_watched_and_cancelled)
{
    struct launch_test t;
    launch_test_open(&t);
    launch_test_program(&t, "scancel", "echo \"scancel $*\" >>$LOG\n");
    launch_test_program(&t, "sbatch", "printf '<%s>' \"$@\" >>$LOG; cat >$TOP/script; echo 17\n");
    launch_test_program(&t, "squeue", "cat $TOP/queue\n");
    launch_test_write(&t, "queue", "1 RUNNING None\n2 PENDING Resources\n3 PENDING Resources\n");
    launch_test_start(&t,
                      "slurm:3,partition=it's,time=90m,option=--gres=gpu:1,device=a b$x,program=/opt/thresh",
                      "tcp://10.0.0.1:7000", NULL);
    launch_test_await(&t, "slurm 17_1", LAUNCH_STARTED);
    cr_expect_str_eq(launch_test_await(&t, "slurm", LAUNCH_NEWS), "job 17: 1 agents run, 2 wait (Resources)");
    const char *log = launch_test_logged(&t, "<--array=1-3>");
    cr_expect(strstr(log, "scancel --quiet --name=thresh-"), "%s", log);
    cr_expect(strstr(log, "<--parsable><--requeue>") && strstr(log, "<--signal=B:TERM@60>"), "%s", log);
    cr_expect(strstr(log, "<--gres=gpu:1>") && strstr(log, "<--partition=it's><--time=90>"), "%s", log);
    launch_test_write(&t, "expected",
                      "exec /opt/thresh agent --quiet --connect=tcp://10.0.0.1:7000 "
                      "'--device=a b$x' $until\n");
    cr_expect_eq(
        system("grep -qxF -f $TOP/expected $TOP/script && grep -qx 'until=--until=5400s' $TOP/script && "
               "sh -n $TOP/script"),
        0);
    launch_test_write(&t, "queue", "1 COMPLETED None\n2 FAILED NonZeroExitCode\n");
    cr_expect(strstr(launch_test_await(&t, "slurm 17_1", LAUNCH_ENDED), "COMPLETED"));
    cr_expect(
        strstr(launch_test_await(&t, "slurm 17_2", LAUNCH_FAILED), "FAILED; see thresh-agent-17_2.log"));
    cr_expect(strstr(launch_test_await(&t, "slurm 17_3", LAUNCH_FAILED), "not in the queue any more"));
    cr_expect_eq(launch_left(t.launch), 0);
    launch_stop(t.launch);
    cr_expect(strstr(launch_test_logged(&t, "scancel --quiet 17\n"), "scancel --quiet 17\n"));
    launch_test_close(&t);
}
