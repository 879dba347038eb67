/* Settings of launchers as --launch has them, and host files: what they mean, and what is wrong with them. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/launch/fixture.h"

Test(launch_options, settings_are_read)
{
    struct launch_test t;
    struct launch_options o;
    launch_test_open(&t);
    cr_assert(launch_options_parse("local:3,device=cpu,runners=1,timeout=2m", t.arena, &o, t.diag));
    cr_expect_eq(o.kind, LAUNCH_LOCAL);
    cr_expect_eq(o.agents, 3);
    cr_expect_str_eq(o.device, "cpu");
    cr_expect_str_eq(o.runners, "1");
    cr_expect_str_eq(o.timeout, "2m");
    cr_assert(launch_options_parse("slurm:4,partition=a\\,b,time=90m,option=--gres=gpu:1,option=-C x",
                                   t.arena, &o, t.diag));
    cr_expect_eq(o.time_s, 5400);
    cr_expect_str_eq(o.partition, "a,b");
    cr_assert_eq(o.n_options, 2);
    cr_expect_str_eq(o.options[0], "--gres=gpu:1");
    cr_expect_str_eq(o.options[1], "-C x");
    cr_assert(launch_options_parse("slurm,agents=4", t.arena, &o, t.diag));
    cr_expect_eq(o.agents, 4);
    launch_test_close(&t);
}

Test(launch_options, host_files_are_read)
{
    struct launch_test t;
    struct launch_options o;
    launch_test_open(&t);
    const char *path = launch_test_write(
        &t, "hosts", "# two racks\n\nnode1\n  me@node2 agents=2\tdevice=gpu # the new one\r\n[::1]");
    cr_assert(launch_options_parse(arena_printf(t.arena, "ssh:%s,ssh=ssh -p 22", path), t.arena, &o, t.diag));
    cr_assert_eq(o.n_hosts, 3);
    cr_expect_str_eq(o.hosts[0].name, "node1");
    cr_expect_eq(o.hosts[0].agents, 1);
    cr_expect_str_eq(o.hosts[1].name, "me@node2");
    cr_expect_eq(o.hosts[1].agents, 2);
    cr_expect_str_eq(o.hosts[1].device, "gpu");
    cr_expect_str_eq(o.hosts[2].name, "[::1]");
    cr_expect_str_eq(o.ssh, "ssh -p 22");
    launch_test_close(&t);
}

Test(launch_options, what_is_wrong_is_said)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"pbs:4", "the kind is 'pbs'; write local:AGENTS, ssh:HOSTFILE or slurm:AGENTS"},
        {"local", "the number of agents is missing"},
        {"local:0", "the number of agents is '0'; it must be a whole number from 1 to 4096"},
        {"local:-1", "'-1'"},
        {"local:4097", "'4097'"},
        {"local:99999999999999999999", "from 1 to 4096"},
        {"local:2,", NULL},
        {"local:2,,", "a setting is ''; write NAME=VALUE"},
        {"local:2,cpu", "a setting is 'cpu'; write NAME=VALUE"},
        {"local:2,devise=cpu", "did you mean 'device'?"},
        {"local:2,partition=x",
         "unknown setting 'partition' of a launcher of kind local; expected one of agents, "},
        {"local:2,device=", "device has no value"},
        {"local:2,device=a\nb", "control characters"},
        {"local:2,runners=17", "from 1 to 16"},
        {"local:2,timeout=1y", "timeout is '1y'"},
        {"local:2,program=-x", "must not begin with '-'"},
        {"slurm:2,time=5s", "time is '5s'"},
        {"slurm:2,time=nan", "time is 'nan'"},
        {"slurm:2,option=x", "it must be an option of sbatch"},
        {"slurm:2,option=--array=1-100", "the launcher sets this one itself"},
        {"slurm:2,option=-J evil", "the launcher sets this one itself"},
        {"slurm:2,address=a b", "it must be a host's name or address"},
        {"ssh:/nonexistent", "/nonexistent"},
        {"ssh", "no hosts are given"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct launch_test t;
        struct launch_options o;
        launch_test_open(&t);
        bool ok = launch_options_parse(cases[i].text, t.arena, &o, t.diag);
        cr_expect_eq(ok, !cases[i].message, "%s", cases[i].text);
        cr_expect_eq(diag_failed(t.diag), !ok, "%s", cases[i].text);
        if (!ok && cases[i].message)
            cr_expect(strstr(diag_message(t.diag, 0), cases[i].message), "%s: %s", cases[i].text,
                      diag_message(t.diag, 0));
        launch_test_close(&t);
    }
}

/* All errors of a file, each at its place. */
Test(launch_options, host_files_have_places_of_errors)
{
    static const struct {
        const char *text, *messages[3]; /* behind the file's name */
    } cases[] = {
        {"", {":1:1: error: the file has no hosts"}},
        {"# none\n", {":1:1: error: the file has no hosts"}},
        {"a\n-oProxyCommand=x\n", {":2:1: error: '-oProxyCommand=x' is not a host"}},
        {"a;rm\n  b$(c)\n", {":1:1: error: 'a;rm' is not a host", ":2:3: error: 'b$(c)' is not a host"}},
        {"a\nb\n a\n", {":3:2: error: a is given twice"}},
        {"a agents=0\n", {":1:10: error: the number of agents is '0'"}},
        {"a agents=2 devise=x\n",
         {":1:12: error: unexpected 'devise=x' after a host; expected agents=N or device=SEL"}},
        {"a device=\n", {":1:10: error: device has no value"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct launch_test t;
        launch_test_open(&t);
        struct launch_options o = {.kind = LAUNCH_SSH};
        const char *path = launch_test_write(&t, "hosts", cases[i].text);
        cr_expect_not(launch_hosts_read(path, t.arena, &o, t.diag));
        size_t n = 0;
        for (; n < 3 && cases[i].messages[n]; n++) {
            cr_assert_lt(n, diag_count(t.diag), "%s", cases[i].text);
            const char *message = diag_message(t.diag, n);
            cr_expect(strstr(message, cases[i].messages[n]), "%s: %s", cases[i].text, message);
        }
        cr_expect_eq(diag_count(t.diag), n, "%s", cases[i].text);
        launch_test_close(&t);
    }
}
