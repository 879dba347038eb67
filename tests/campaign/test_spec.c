/* Campaign files: what each key means, and the exact message for each kind of bad input. */
#include "coordinator/campaign/spec.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "coordinator/campaign/progress.h"
#include "coordinator/campaign/sizes.h"
#include "coordinator/tune.h"
#include "core/backbone/parameter.h"
#include "core/base/strbuf.h"
#include "tests/campaign/fixture.h"

/* ---- good files ---- */

static struct campaign *campaign_test_read(struct campaign_test *t, const char *yaml)
{
    struct diag *d = diag_new();
    campaign_test_begin(t, yaml);
    struct campaign *c = campaign_read(t->file, d);
    cr_assert(c && !diag_failed(d), "%s: %s", yaml, diag_count(d) ? diag_message(d, 0) : "no message");
    diag_free(d);
    return c;
}

/* The sizes of a kernel are exactly these texts, in order; they end with NULL. */
static void campaign_test_sizes(const char *sizes, const char *const *expected)
{
    char yaml[512];
    struct campaign_test t;
    snprintf(yaml, sizeof yaml, "kernels: [{file: k.lift, sizes: %s}]\n", sizes);
    struct campaign *c = campaign_test_read(&t, yaml);
    unsigned n = 0;
    for (; expected[n]; n++) {
        cr_assert_lt(n, c->n_searches, "%s: %s is missing", sizes, expected[n]);
        cr_expect_str_eq(c->searches[n].sizes, expected[n]);
        cr_expect_eq(c->searches[n].number, n + 1);
    }
    cr_expect_eq(c->n_searches, n, "%s gives %u sizes", sizes, c->n_searches);
    campaign_free(c);
    campaign_test_end(&t);
}

Test(campaign, sizes_are_multiplied_out)
{
    static const struct {
        const char *sizes, *expected[8];
    } cases[] = {
        {"{N: 4}", {"N=4"}},
        {"{N: 4..6}", {"N=4", "N=5", "N=6"}},
        {"{N: 4..10 +4}", {"N=4", "N=8"}},
        {"{N: 64..1024 *4}", {"N=64", "N=256", "N=1024"}},
        {"{N: 64 .. 200 * 2}", {"N=64", "N=128"}},
        {"{N: 9223372036854775806..9223372036854775807}", {"N=9223372036854775806", "N=9223372036854775807"}},
        {"{N: {from: 3, to: 9, step: 3}}", {"N=3", "N=6", "N=9"}},
        {"{N: {from: 3, to: 13, factor: 2}}", {"N=3", "N=6", "N=12"}},
        {"{N: {from: 3, to: 4}}", {"N=3", "N=4"}},
        {"{N: [7, 1..2, {from: 5, to: 6}]}", {"N=7", "N=1", "N=2", "N=5", "N=6"}},
        {"{M: [1, 2], N: 4..6 +2}", {"M=1,N=4", "M=1,N=6", "M=2,N=4", "M=2,N=6"}},
        {"[{M: 1, N: 4}, {M: 2, N: [4, 5]}]", {"M=1,N=4", "M=2,N=4", "M=2,N=5"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        campaign_test_sizes(cases[i].sizes, cases[i].expected);
}

Test(campaign, sizes_are_compared_in_any_order)
{
    cr_expect(campaign_sizes_equal("", ""));
    cr_expect(campaign_sizes_equal("M=1,N=23", "N=23,M=1"));
    cr_expect_not(campaign_sizes_equal("M=1,N=23", "M=1,N=2"));
    cr_expect_not(campaign_sizes_equal("M=1,N=23", "M=2,N=13"));
    cr_expect_not(campaign_sizes_equal("M=1,N=2", "M=1,M=1"));
}

/* A kernel's own keys replace those of the campaign, wherever they stand; devices and seeds multiply. */
Test(campaign, keys_of_kernels_replace_those_of_the_campaign)
{
    struct campaign_test t;
    struct campaign *c = campaign_test_read(
        &t, "kernels:\n"
            "  - file: k.lift\n"
            "  - {file: k.lift, name: mine, sizes: {N: 8}, device: cpu, time: 2m, pins: [], order: size,\n"
            "     evaluations: 7, heuristic: uct, until: within 2.5 % for 1 evaluation}\n"
            "device: [gpu, '1']\n"
            "seeds: [3, 5]\n"
            "time: 90\n"
            "pins: &p [a=1, 'b(c,d)=2']\n"
            "launcher: {kind: local}\n");
    cr_assert_eq(c->n_searches, 6);
    const struct campaign_search *s = c->searches;
    static const char *const devices[] = {"gpu", "gpu", "1", "1", "cpu", "cpu"};
    for (unsigned i = 0; i < 6; i++) {
        cr_expect_str_eq(s[i].device, devices[i]);
        cr_expect_eq(s[i].seed, i % 2 ? 5 : 3);
    }
    cr_expect_str_eq(s[0].name, "k");
    cr_expect_str_eq(s[0].sizes, "");
    cr_expect_eq(s[0].settings.time_s, 90);
    cr_expect_eq(s[0].settings.evaluations, 0);
    cr_expect_eq(s[0].settings.n_pins, 2);
    cr_expect_str_eq(s[0].settings.pins[1], "b(c,d)=2");
    cr_expect_null(s[0].settings.heuristic);
    cr_expect_str_eq(s[4].name, "mine");
    cr_expect_eq(s[4].settings.time_s, 120);
    cr_expect_eq(s[4].settings.evaluations, 7);
    cr_expect_eq(s[4].settings.n_pins, 0);
    cr_expect_str_eq(s[4].settings.order, "size");
    cr_expect_str_eq(s[4].settings.heuristic, "uct");
    cr_expect_eq(s[4].settings.until.evaluations, 1);
    cr_expect_lt(fabs(s[4].settings.until.within - 0.025), 1e-12);
    campaign_free(c);
    campaign_test_end(&t);
}

static void campaign_test_parameters(const struct campaign_search *s, const char *expected)
{
    struct strbuf text = {0};
    const struct bb_options o = campaign_tune_options(s).lowering;
    bb_print_parameters(&o, "", &text);
    cr_expect_str_eq(text.text ? text.text : "", expected, "search %u", s->number);
    strbuf_free(&text);
}

/* Searches that differ in what is allowed are different ones. */
Test(campaign, parameters_and_what_is_allowed)
{
    struct campaign_test t;
    struct campaign *c = campaign_test_read(&t, "allow: tf32\n"
                                                "param: [max_unroll=256]\n"
                                                "kernels:\n"
                                                "  - file: k.lift\n"
                                                "  - {file: k.lift, allow: []}\n"
                                                "  - {file: k.lift, param: []}\n"
                                                "  - {file: k.lift, param: [], allow: []}\n");
    cr_assert_eq(c->n_searches, 4);
    campaign_test_parameters(&c->searches[0], "max_unroll=256,tf32=1");
    campaign_test_parameters(&c->searches[1], "max_unroll=256");
    campaign_test_parameters(&c->searches[2], "tf32=1");
    campaign_test_parameters(&c->searches[3], "");
    campaign_free(c);
    campaign_test_end(&t);
}

/* Names of files: beside the campaign file unless they say otherwise. Without any budget there is the usual
 * one. */
Test(campaign, files_are_named_after_the_campaign)
{
    struct campaign_test t;
    char expected[64];
    struct campaign *c = campaign_test_read(&t, "kernels: [{file: k.lift}]\n");
    snprintf(expected, sizeof expected, "%s/c.db", t.folder);
    cr_expect_str_eq(c->name, "c");
    cr_expect_str_eq(c->store, expected);
    cr_expect_eq(c->searches[0].settings.evaluations, LIMIT_EVALUATIONS);
    cr_expect_eq(c->searches[0].seed, 1);
    cr_expect_null(c->searches[0].device);
    campaign_free(c);
    campaign_test_end(&t);
    c = campaign_test_read(&t, "{name: x, store: /a/b.db, header: h.h, kernels: [{file: k.lift}]}\n");
    cr_expect_str_eq(c->store, "/a/b.db");
    cr_expect_str_eq(c->report, "/a/x.html");
    snprintf(expected, sizeof expected, "%s/h.h", t.folder);
    cr_expect_str_eq(c->header, expected);
    campaign_free(c);
    campaign_test_end(&t);
}

/* The three kinds with their settings; a plain local launcher is none. */
Test(campaign, launchers_have_their_settings)
{
    struct campaign_test t;
    char path[64];
    struct campaign *c = campaign_test_read(
        &t, "kernels: [{file: k.lift}]\nlisten: tcp://0.0.0.0:7000\nkeys: k\n"
            "launcher: {options: ['--gres=gpu:1', -n1], time: 2h, partition: p, agents: 4, kind: slurm}\n");
    const struct launch_options *o = campaign_launch_options(c);
    cr_assert_not_null(o);
    cr_expect_eq(o->kind, LAUNCH_SLURM);
    cr_expect_eq(o->agents, 4);
    cr_expect_eq(o->time_s, 7200);
    cr_expect_eq(o->n_options, 2);
    cr_expect_str_eq(c->listen, "tcp://0.0.0.0:7000");
    snprintf(path, sizeof path, "%s/k", t.folder);
    cr_expect_str_eq(c->keys, path);
    campaign_free(c);
    campaign_test_end(&t);
    c = campaign_test_read(&t, "kernels: [{file: k.lift}]\nlisten: tcp://0.0.0.0:7000\n"
                               "launcher:\n  kind: ssh\n  hosts: [n1, {host: u@n2, agents: 3, device: gpu}]\n"
                               "  bundle: b\n  ssh: ssh -p 22\n");
    o = campaign_launch_options(c);
    cr_assert_eq(o->n_hosts, 2);
    cr_expect_str_eq(o->hosts[0].name, "n1");
    cr_expect_eq(o->hosts[0].agents, 1);
    cr_expect_null(o->hosts[0].device);
    cr_expect_eq(o->hosts[1].agents, 3);
    cr_expect_str_eq(o->hosts[1].device, "gpu");
    snprintf(path, sizeof path, "%s/b", t.folder);
    cr_expect_str_eq(o->bundle, path);
    cr_expect_str_eq(o->ssh, "ssh -p 22");
    campaign_free(c);
    campaign_test_end(&t);
    c = campaign_test_read(&t, "{kernels: [{file: k.lift}], launcher: {kind: local}}\n");
    cr_expect_null(campaign_launch_options(c));
    campaign_free(c);
    campaign_test_end(&t);
}

/* An anchor names a node that an alias repeats. */
Test(campaign, aliases_repeat_nodes)
{
    struct campaign_test t;
    struct campaign *c = campaign_test_read(
        &t,
        "kernels:\n  - {file: k.lift, sizes: &s {N: [4, 8]}}\n  - {file: k.lift, sizes: *s, pins: a=1}\n");
    cr_assert_eq(c->n_searches, 4);
    cr_expect_str_eq(c->searches[3].sizes, "N=8");
    campaign_free(c);
    campaign_test_end(&t);
}

/* ---- bad files ---- */

#define CAMPAIGN_TEST_KERNELS "kernels: [{file: k.lift, sizes: {N: 4}}]\n"
#define CAMPAIGN_TEST_KEYS                                                                                   \
    "name, store, report, header, seed, seeds, device, heuristic, order, pins, param, allow, learn-from, "   \
    "baseline, "                                                                                             \
    "inputs, "                                                                                               \
    "output-reference, tolerance, evaluations, time, until, listen, keys, page, launcher, kernels"
#define CAMPAIGN_TEST_KERNEL_KEYS                                                                            \
    "file, name, sizes, device, heuristic, order, pins, param, allow, learn-from, baseline, inputs, "        \
    "output-reference, tolerance, evaluations, time, until"

static const struct {
    const char *yaml, *messages[3]; /* behind "FILE:"; # is the folder */
} campaign_test_bad[] = {
    {"", {"1:1: the campaign file is empty"}},
    {"- a\n", {"1:1: a campaign must be a map of keys, not a list"}},
    {"a: [1\n", {"2:1: YAML: did not find expected ',' or ']' while parsing a flow sequence"}},
    {"a: b: c\n", {"1:5: YAML: mapping values are not allowed in this context"}},
    {"kernels: *x\n", {"1:10: YAML: found undefined alias"}},
    {CAMPAIGN_TEST_KERNELS "---\nb: 1\n", {"3:1: a campaign file has one document"}},
    {"name: a\n", {"1:1: the campaign has no 'kernels'"}},
    {"kernels: []\n", {"1:10: kernels must be a list of maps with at least 'file'"}},
    {"kernels: k.lift\n", {"1:10: kernels must be a list of maps with at least 'file'"}},
    {"kernels: [k.lift]\n", {"1:11: a kernel must be a map of keys, not a text"}},
    {"kernels: [{sizes: {N: 4}}]\n", {"1:11: the kernel has no 'file'"}},
    {CAMPAIGN_TEST_KERNELS "evalutions: 3\n",
     {"2:1: unknown key 'evalutions' of a campaign; did you mean 'evaluations'?"}},
    {CAMPAIGN_TEST_KERNELS "colour: red\n",
     {"2:1: unknown key 'colour' of a campaign; expected one of " CAMPAIGN_TEST_KEYS}},
    {"kernels: [{file: k.lift, sizes: {N: 4}, size: 3}]\n",
     {"1:41: unknown key 'size' of a kernel; did you mean 'sizes'?"}},
    {CAMPAIGN_TEST_KERNELS "time: 3s\ntime: 4s\n", {"3:1: 'time' is given twice"}},
    {CAMPAIGN_TEST_KERNELS "[a]: 3\n", {"2:1: a list as a key of a campaign"}},
    {CAMPAIGN_TEST_KERNELS "evaluations: 0\n", {"2:14: evaluations is 0; it must be at least 1"}},
    {CAMPAIGN_TEST_KERNELS "evaluations: -5\n", {"2:14: evaluations is -5; it must be at least 1"}},
    {CAMPAIGN_TEST_KERNELS "evaluations: many\n", {"2:14: evaluations is 'many'; it must be a whole number"}},
    {CAMPAIGN_TEST_KERNELS "evaluations: 1e9\n", {"2:14: evaluations is '1e9'; it must be a whole number"}},
    {CAMPAIGN_TEST_KERNELS "evaluations: 10000000000\n",
     {"2:14: evaluations is 10000000000; the maximum is 1000000000"}},
    {CAMPAIGN_TEST_KERNELS "evaluations: 99999999999999999999999\n",
     {"2:14: evaluations is 99999999999999999999999; the maximum is 1000000000"}},
    {CAMPAIGN_TEST_KERNELS "evaluations: [3]\n", {"2:14: evaluations is a list; it must be a whole number"}},
    {CAMPAIGN_TEST_KERNELS "evaluations:\n", {"2:13: evaluations is ''; it must be a whole number"}},
    {CAMPAIGN_TEST_KERNELS "time: 0s\n", {"2:7: time is 0s; it must be positive"}},
    {CAMPAIGN_TEST_KERNELS "time: -3m\n", {"2:7: time is -3m; it must be positive"}},
    {CAMPAIGN_TEST_KERNELS "time: 10 parsecs\n",
     {"2:7: time is '10 parsecs'; write a positive number with s, m, h or d, such as 30s or 10m"}},
    {CAMPAIGN_TEST_KERNELS "time: 400d\n", {"2:7: time is 400d; the maximum is 366d"}},
    {CAMPAIGN_TEST_KERNELS "time: {s: 3}\n", {"2:7: time is a map; it must be a text"}},
    {CAMPAIGN_TEST_KERNELS "until: soon\n",
     {"2:8: until is 'soon'; write 'within 2% for 200 evaluations', with other numbers"}},
    {CAMPAIGN_TEST_KERNELS "until: within 100% for 20 evaluations\n",
     {"2:8: until: the share must be at least 0% and less than 100%"}},
    {CAMPAIGN_TEST_KERNELS "until: within 2% for 0 evaluations\n",
     {"2:8: until: the number of evaluations must be from 1 to 1000000000"}},
    {CAMPAIGN_TEST_KERNELS "seed: 1\nseeds: [2]\n", {"3:8: give 'seed' or 'seeds', not both"}},
    {CAMPAIGN_TEST_KERNELS "seeds: [2, 3, 2]\n", {"2:15: seed 2 is given twice"}},
    {CAMPAIGN_TEST_KERNELS "seeds: 2\n", {"2:8: seeds must be a list of whole numbers"}},
    {CAMPAIGN_TEST_KERNELS "seed: x\n", {"2:7: seed is 'x'; it must be a whole number"}},
    {CAMPAIGN_TEST_KERNELS "name: a/b\n",
     {"2:7: name is 'a/b'; it must be without '/' and control characters"}},
    {CAMPAIGN_TEST_KERNELS "name: [a]\n", {"2:7: name is a list; it must be a text"}},
    {CAMPAIGN_TEST_KERNELS "store:\n", {"2:7: store has no value"}},
    {CAMPAIGN_TEST_KERNELS "device: []\n", {"2:9: device has no value"}},
    {CAMPAIGN_TEST_KERNELS "device: {a: b}\n", {"2:9: device is a map; it must be a text"}},
    {CAMPAIGN_TEST_KERNELS "pins: [a, [b]]\n", {"2:11: pins is a list; it must be a text"}},
    {CAMPAIGN_TEST_KERNELS "launcher: {kind: pbs}\n",
     {"2:18: unknown launcher 'pbs'; expected local, ssh or slurm"}},
    {CAMPAIGN_TEST_KERNELS "launcher: {agents: 2}\n", {"2:11: the launcher has no 'kind'"}},
    {CAMPAIGN_TEST_KERNELS "launcher: local\n", {"2:11: a launcher must be a map of keys, not a text"}},
    {CAMPAIGN_TEST_KERNELS "launcher: {kind: local, agents: 0}\n",
     {"2:33: the number of agents is '0'; it must be a whole number from 1 to 4096"}},
    {CAMPAIGN_TEST_KERNELS "launcher: {kind: local, device: cpu}\n",
     {"2:11: the number of agents is missing"}},
    {CAMPAIGN_TEST_KERNELS "launcher: {kind: local, agents: 2, partition: x}\n",
     {"2:36: unknown key 'partition' of a launcher of kind local; expected one of kind, device, runners, "
      "timeout, program, agents"}},
    {CAMPAIGN_TEST_KERNELS "launcher: {kind: slurm, agents: 4}\n",
     {"2:11: agents of kind slurm need 'listen: tcp://0.0.0.0:PORT' and 'keys: DIR'"}},
    {CAMPAIGN_TEST_KERNELS "launcher: {kind: slurm, agents: 4, time: 5, options: [-n, --array=1-9, x]}\n",
     {"2:42: time is '5'; write a time with m, h or d, such as 90m; from 1m to 366d",
      "2:59: option is '--array=1-9'; the launcher sets this one itself",
      "2:72: option is 'x'; it must be an option of sbatch, such as --gres=gpu:1"}},
    {CAMPAIGN_TEST_KERNELS "launcher:\n  kind: ssh\n  hosts: [a, -b, {agents: 2}]\n",
     {"4:14: '-b' is not a host; write for example node1 or user@node1", "4:18: the entry has no 'host'"}},
    {CAMPAIGN_TEST_KERNELS "launcher: {kind: ssh, hosts: [a, {host: a}]}\n",
     {"2:41: a is given twice; for two agents write 'a agents=2'"}},
    {CAMPAIGN_TEST_KERNELS "launcher: {kind: ssh}\n", {"2:11: no hosts are given"}},
    {CAMPAIGN_TEST_KERNELS "launcher: {kind: ssh, hostfile: none}\n",
     {"2:33: cannot read '#/none': No such file or directory"}},
    {CAMPAIGN_TEST_KERNELS "page: 65536\n", {"2:7: page is '65536'; write a port (0 to 65535) or none"}},
    {CAMPAIGN_TEST_KERNELS "learn-from: {a: b}\n", {"2:13: learn-from is a map; it must be a text"}},
    {CAMPAIGN_TEST_KERNELS "baseline: {a: b}\n", {"2:11: baseline is a map; it must be a text"}},
    {CAMPAIGN_TEST_KERNELS "param: max_unrol=4\n",
     {"2:8: param: the space of Lift programs has no parameter 'max_unrol'; parameters: max_unroll, "
      "max_private, "
      "max_parts, max_staged, global_from, max_temporary, tf32"}},
    {CAMPAIGN_TEST_KERNELS "allow: [tf32, fp8]\n", {"2:8: allow: 'fp8' cannot be allowed; possible: tf32"}},
    {CAMPAIGN_TEST_KERNELS "inputs: x.npy\n",
     {"2:9: inputs must be a map from inputs to files, such as {x: x.npy}"}},
    {CAMPAIGN_TEST_KERNELS "inputs: {x: [a]}\n", {"2:13: a file of inputs is a list; it must be a text"}},
    {CAMPAIGN_TEST_KERNELS "tolerance: -1\n",
     {"2:12: tolerance is '-1'; write a number from 0, such as 1e-4"}},
    {CAMPAIGN_TEST_KERNELS "output-reference: [a]\n",
     {"2:19: output-reference is a list; it must be a text"}},
    {CAMPAIGN_TEST_KERNELS "listen: 127.0.0.1:7000\n",
     {"2:9: listen is '127.0.0.1:7000'; write tcp://ADDRESS:PORT or ipc://FILE"}},
    {CAMPAIGN_TEST_KERNELS "launcher: {kidn: local}\n",
     {"2:12: unknown key 'kidn' of a launcher; did you mean 'kind'?"}},
    {"kernels: [{file: j.lift}]\n",
     {"1:18: cannot open '#/j.lift': No such file or directory; did you mean '#/k.lift'?"}},
    {"kernels: [{file: missing.lift}]\n", {"1:18: cannot open '#/missing.lift': No such file or directory"}},
    {"kernels: [{file: .}]\n", {"1:18: '#/.' is a folder; expected a file"}},
    {"kernels: [{file: k.lift, sizes: 4}]\n",
     {"1:33: sizes must be a map such as {M: 512, N: [64, 128]}, or a list of maps"}},
    {"kernels: [{file: k.lift, sizes: {N: x}}]\n",
     {"1:37: size 'N' is 'x'; expected a whole number, a list or a range such as 64..1024 *2"}},
    {"kernels: [{file: k.lift, sizes: {N: 0}}]\n", {"1:37: size 'N' is 0; it must be at least 1"}},
    {"kernels: [{file: k.lift, sizes: {N: -4}}]\n", {"1:37: size 'N' is -4; it must be at least 1"}},
    {"kernels: [{file: k.lift, sizes: {N: []}}]\n", {"1:37: size 'N' has no values"}},
    {"kernels: [{file: k.lift, sizes: {}}]\n", {"1:33: sizes without a value; leave the key out"}},
    {"kernels: [{file: k.lift, sizes: {N: [[3]]}}]\n", {"1:38: size 'N' has a list within a list"}},
    {"kernels: [{file: k.lift, sizes: {N: 3, N: 4}}]\n", {"1:40: size 'N' is given twice"}},
    {"kernels: [{file: k.lift, sizes: {2N: 3}}]\n", {"1:34: '2N' is not the name of a size"}},
    {"kernels: [{file: k.lift, sizes: {N: 8..4}}]\n", {"1:37: the range is empty: 8 is greater than 4"}},
    {"kernels: [{file: k.lift, sizes: {N: 4..}}]\n",
     {"1:37: size 'N': '4..' is not a range; write for example 64..1024, 64..1024 +64 or 64..1024 *2"}},
    {"kernels: [{file: k.lift, sizes: {N: 4..8 *1}}]\n", {"1:37: the factor of a range must be at least 2"}},
    {"kernels: [{file: k.lift, sizes: {N: 4..8 -1}}]\n",
     {"1:37: size 'N': '4..8 -1' is not a range; write for example 64..1024, 64..1024 +64 or 64..1024 *2"}},
    {"kernels: [{file: k.lift, sizes: {N: 1..5000}}]\n", {"1:37: a size with more than 1000 values"}},
    {"kernels: [{file: k.lift, sizes: {N: {from: 3}}}]\n", {"1:37: a range needs 'from' and 'to'"}},
    {"kernels: [{file: k.lift, sizes: {N: {from: 3, to: 9, step: 1, factor: 2}}}]\n",
     {"1:37: a range has either 'step' or 'factor', not both"}},
    {"kernels: [{file: k.lift, sizes: {N: {from: 3, to: 9, stepp: 1}}}]\n",
     {"1:54: unknown key 'stepp' of a range; did you mean 'step'?"}},
    {"kernels: [{file: k.lift, sizes: {N: 1..1000, M: 1..1000}}]\n",
     {"1:33: a kernel with more than 4096 combinations of sizes"}},
    {"kernels: [{file: k.lift, sizes: {N: [4, 4]}}]\n", {"1:33: k N=4 is the same search as number 1"}},
    {"kernels: [{file: k.lift, sizes: [{N: 4, M: 2}, {M: 2, N: 4}]}]\n",
     {"1:48: k M=2,N=4 is the same search as number 1"}},
    {"# ä: é\nkernels: [{file: k.lift, 'ä': é, tíme: 3}]\n",
     {"2:26: unknown key 'ä' of a kernel; expected one of " CAMPAIGN_TEST_KERNEL_KEYS,
      "2:34: unknown key 'tíme' of a kernel; expected one of " CAMPAIGN_TEST_KERNEL_KEYS}},
    {"a: &x [*x]\n",
     {"1:1: unknown key 'a' of a campaign; expected one of " CAMPAIGN_TEST_KEYS,
      "1:1: the campaign has no 'kernels'"}},
    {"kernels: [{file: k.lift, sizes: {N: {from: 3, to: 9, colour: 1}}}]\n",
     {"1:54: unknown key 'colour' of a range; expected one of from, to, step, factor"}},
};

/* "FILE:1:2: error: text" of "1:2: text", whose # is the folder. */
static void campaign_test_expect(const struct campaign_test *t, const char *message, char *out, size_t n)
{
    size_t place = strcspn(message, " ");
    int length = snprintf(out, n, "%s:%.*s error:", t->file, (int)place, message);
    for (const char *c = message + place; *c; c++)
        length += *c == '#' ? snprintf(out + length, n - (size_t)length, "%s", t->folder)
                            : snprintf(out + length, n - (size_t)length, "%c", *c);
}

Test(campaign, bad_files_are_refused_with_a_place)
{
    for (size_t i = 0; i < sizeof campaign_test_bad / sizeof campaign_test_bad[0]; i++) {
        struct campaign_test t;
        struct diag *d = diag_new();
        size_t n = 0;
        char expected[512];
        campaign_test_begin(&t, campaign_test_bad[i].yaml);
        cr_expect_null(campaign_read(t.file, d), "%s", campaign_test_bad[i].yaml);
        for (; n < 3 && campaign_test_bad[i].messages[n]; n++) {
            campaign_test_expect(&t, campaign_test_bad[i].messages[n], expected, sizeof expected);
            cr_assert_lt(n, diag_count(d), "%s: no message", campaign_test_bad[i].yaml);
            cr_expect_str_eq(diag_message(d, n), expected);
        }
        cr_expect_eq(diag_count(d), n, "%s", campaign_test_bad[i].yaml);
        diag_free(d);
        campaign_test_end(&t);
    }
}

Test(campaign, a_missing_file_and_bytes_that_are_no_text_are_refused)
{
    struct campaign_test t;
    struct diag *d = diag_new();
    cr_expect_null(campaign_read("/nonexistent/c.yaml", d));
    cr_assert_eq(diag_count(d), 1);
    cr_expect_str_eq(diag_message(d, 0),
                     "error: cannot open '/nonexistent/c.yaml': No such file or directory");
    campaign_test_begin(&t, "name: \xff\n");
    cr_expect_null(campaign_read(t.file, d));
    cr_expect_eq(diag_count(d), 2);
    diag_free(d);
    campaign_test_end(&t);
}
