/* What a user, the world or a peer can get wrong, as seen by who runs the command: exit status 2, a message
 * that says what and where, and nothing lost of what was measured before. */
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include "core/base/pcg32.h"
#include "tests/e2e/run.h"

#define KERNELS "experiments/kernels/"

/* The run must have been refused with `message` in what it printed. */
static void refused(struct e2e_run r, const char *message)
{
    cr_expect_eq(r.status, CLI_USAGE, "status %d for \"%s\": %s", r.status, message, r.err);
    cr_expect(strstr(r.err, message), "wanted \"%s\", got \"%s\"", message, r.err);
    cr_expect_str_eq(r.out, "", "%s", message);
    e2e_run_free(&r);
}

/* ---- programs ---- */

/* Each is refused with its place, the line and a caret. */
static void program_refused(const char *text, const char *sizes, const char *place)
{
    char path[32], message[256];
    e2e_file(path, text);
    snprintf(message, sizeof message, "%s:%s", path, place);
    struct e2e_run r = E2E_RUN(&cli_tune, path, "--size", sizes, "--evaluations", "1");
    cr_expect(strchr(r.err, '^'), "no caret: %s", r.err);
    refused(r, message);
    unlink(path);
}

Test(bad_input, syntax_errors)
{
    program_refused("size N\ninput x: [float]N\noutput map(fun v -> v * , x)\n", "N=4",
                    "3:25: error: expected");
}

Test(bad_input, text_in_another_encoding)
{
    program_refused("size N\n-- Gr\xf6\xdf"
                    "e\ninput x: [float]N\noutput map(fun v -> v * 2.0, x)\n",
                    "N=4", "2:6: error: invalid byte 0xf6: the file is not UTF-8");
    refused(E2E_RUN(&cli_tune, "/tmp/\xff.lift"), "argument 1 is not UTF-8");
}

Test(bad_input, unknown_names)
{
    program_refused("size N\ninput x: [float]N\noutput map(fun v -> v, y)\n", "N=4",
                    "3:24: error: unknown name");
}

Test(bad_input, type_errors)
{
    program_refused("size N\ninput x: [float]N\noutput map(fun v -> map(fun w -> w, v), x)\n", "N=4", "3:");
}

Test(bad_input, lengths_that_differ)
{
    program_refused("size N, M\ninput x: [float]N\ninput y: [float]M\n"
                    "output map(fun (a, b) -> a + b, zip(x, y))\n",
                    "N=4,M=5", "4:33: error: zip needs arrays of equal length");
}

Test(bad_input, indivisible_lengths)
{
    program_refused("size N\ninput x: [float]N\noutput join(split(3, x))\n", "N=4", "3:13: error: split");
}

/* What is updated in place may be read only where it is written. */
Test(bad_input, updates_that_read_other_elements)
{
    program_refused("size N\ninput C: [[float]N]N\noutput C = transpose(C)\n", "N=4",
                    "3:8: error: an element of 'C' reads other elements of C than the one it writes");
    program_refused("size N\ninput x: [float]N\ninput y: [float]N\noutput x = y\n"
                    "output z = map(fun v -> v * sum(x), y)\n",
                    "N=4", "4:8: error: an element of 'x' reads other elements of x than the one it writes");
    program_refused("size M, N\ninput x: [[float]N]M\noutput (x, map(sum, x))\n", "M=2,N=4",
                    "3:8: error: not supported yet: outputs of different shapes");
}

/* ---- sizes ---- */

Test(bad_input, sizes)
{
    refused(E2E_RUN(&cli_tune, KERNELS "axpy.lift"), "axpy.lift:2:6: error: size 'N' has no value");
    refused(E2E_RUN(&cli_tune, KERNELS "axpy.lift", "--size", "N=0"), "axpy.lift:2:6: error: size 'N' is 0");
    refused(E2E_RUN(&cli_tune, KERNELS "axpy.lift", "--size", "N=4,Q=4"), "unknown size 'Q'");
    refused(E2E_RUN(&cli_tune, KERNELS "axpy.lift", "--size", "N=four"), "N=four");
}

Test(bad_input, sizes_that_overflow)
{
    refused(E2E_RUN(&cli_tune, KERNELS "matmul.lift", "--size", "M=9000000000,N=9000000000,K=9000000000"),
            "matmul.lift:3:7: error: array");
    refused(E2E_RUN(&cli_tune, KERNELS "axpy.lift", "--size", "N=99999999999999999999"), "N=");
}

Test(bad_input, arrays_beyond_the_device)
{
    refused(E2E_RUN(&cli_tune, KERNELS "matmul.lift", "--size", "M=1000000,N=1000000,K=1000000"),
            "matmul.lift:3:7: error: 'A' takes 4000000000000 bytes");
}

/* ---- options ---- */

Test(bad_input, options)
{
    const char *axpy = KERNELS "axpy.lift";
    refused(E2E_RUN(&cli_tune, axpy, "--size", "N=64", "--device", "no such"),
            "no OpenCL device matches 'no such'; available: 0: ");
    refused(E2E_RUN(&cli_tune, axpy, "--size", "N=64", "--heuristic", "clever"),
            "unknown heuristic 'clever'");
    refused(E2E_RUN(&cli_tune, axpy, "--size", "N=64", "--heuristic", "./no.so"), "./no.so");
    refused(E2E_RUN(&cli_tune, axpy, "--size", "N=64", "--pin", "colour(x)=RED"), "'colour(x)=RED'");
    refused(E2E_RUN(&cli_tune, axpy, "--size", "N=64", "--pin", "dim_kind(*)=PURPLE"), "PURPLE");
    refused(E2E_RUN(&cli_tune, axpy, "--size", "N=64", "--pin", "size(*)=1"), "makes the space empty");
    refused(E2E_RUN(&cli_tune, axpy, "--size", "N=64", "--pin", "staged(*)=NO", "--pin", "pad(x.tile)=0"),
            "pin 'pad(x.tile)=0': no candidate has this value");
    refused(E2E_RUN(&cli_tune, "/nonexistent.lift", "--size", "N=64"), "/nonexistent.lift");
    refused(E2E_RUN(&cli_tune, axpy, "--size", "N=64", "--text-limit", "0"),
            "--text-limit: must be at least 1");
    refused(E2E_RUN(&cli_tune, axpy, "--size", "N=64", "--no-such-option"), "unknown option");
}

Test(bad_input, orders)
{
    static const struct cli_command *const commands[] = {&cli_tune, &cli_descend, &cli_levels, &cli_estimate};
    static const char *const orders[][2] = {
        {"stagd", "--order: 'stagd' is not a choice; did you mean 'staged'?"},
        {"size,size(x.*),size",
         "--order: 'size(x.*)' has no effect: the entries before it contain all its choices"},
        {"size,staged,size", "--order: 'size' appears twice"},
        {"dim_kind(stor.*)",
         "--order: 'dim_kind(stor.*)' matches no choice; did you mean 'dim_kind(store.n.0)'?"}};
    const char *axpy = KERNELS "axpy.lift", *queens = "spacedsl/spaces/queens.space";
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
        for (size_t k = 0; k < sizeof commands / sizeof commands[0]; k++)
            refused(E2E_RUN(commands[k], axpy, "--size", "N=64", "--order", orders[i][0]), orders[i][1]);
    static const char *const verbs[] = {"enumerate", "sample", "descend"};
    for (size_t k = 0; k < sizeof verbs / sizeof verbs[0]; k++)
        refused(E2E_RUN(&cli_space, verbs[k], queens, "--param", "n=6", "--order", "column(x*)"),
                "--order: 'column(x*)' matches no choice");
    refused(E2E_RUN(&cli_tune, "--space", queens, "--command", "true", "--param", "n=6", "--order", "row"),
            "--order: 'row' is not a choice; the choices are column");
}

/* Commands that follow no order take none. */
Test(bad_input, orders_of_nothing)
{
    const char *axpy = KERNELS "axpy.lift";
    refused(E2E_RUN(&cli_verify, axpy, "--size", "N=64", "--order", "size"), "--order");
    refused(E2E_RUN(&cli_bound, axpy, "--size", "N=64", "--order", "size"), "--order");
}

/* What an option does not apply to is said, not ignored. */
Test(bad_input, options_that_say_nothing_here)
{
    const char *axpy = KERNELS "axpy.lift", *space = "experiments/spaces/transpose.space";
    refused(E2E_RUN(&cli_tune, axpy, "--size", "N=64", "--space", space, "--command", "true"),
            "--space does not apply to a Lift program");
    refused(E2E_RUN(&cli_tune, axpy, "--size", "N=64", "--timeout", "5s"),
            "--timeout does not apply to a Lift program");
    refused(E2E_RUN(&cli_tune, axpy, "--size", "N=64", "--runners", "2", "--listen", "tcp://127.0.0.1:*"),
            "--runners does not apply with --listen");
    refused(E2E_RUN(&cli_tune, axpy, "--size", "N=64", "--runners", "2", "--launch", "local:2"),
            "--runners does not apply with --launch");
    refused(E2E_RUN(&cli_tune, axpy, "--size", "N=64", "--runners", "2", "--recorded", "no-such.db"),
            "--runners does not apply with --recorded");
    refused(E2E_RUN(&cli_tune, axpy, "--size", "N=64", "--runners", "x"), "--runners: ");
    refused(E2E_RUN(&cli_tune, axpy, "--size", "N=64", "--listen", "tcp://127.0.0.1:*", "--device", "cpu"),
            "--device does not apply with --listen");
    refused(E2E_RUN(&cli_tune, axpy, "--size", "N=64", "--no-bound", "--description", "/no/such.json"),
            "--description does not apply with --no-bound");
    refused(E2E_RUN(&cli_tune, axpy, "--size", "N=64", "--no-bound", "--audit-cuts", "10%"),
            "--audit-cuts does not apply with --no-bound");
    refused(E2E_RUN(&cli_tune, axpy, "--size", "N=64", "--no-bound", "--distance", "10%"),
            "--distance does not apply with --no-bound");
    refused(E2E_RUN(&cli_tune, "--space", space, "--command", "true", "--no-prior"),
            "--no-prior does not apply to --space");
    refused(E2E_RUN(&cli_tune, "--space", space, "--command", "true", "--runners", "257"),
            "--runners: must be at most 256");
    refused(E2E_RUN(&cli_tune, "--space", space, "--command", "echo 5", "--out", "/proc/x"), "'/proc/x': ");
    refused(E2E_RUN(&cli_agent, "--connect", "tcp://127.0.0.1:99999"), "'99999' is not a port");
    refused(E2E_RUN(&cli_agent, "--connect", "tcp://127.0.0.1"), "the port is missing");
    refused(E2E_RUN(&cli_agent, "--connect", "tcp://no-such-host.invalid:7000"),
            "cannot connect to tcp://no-such-host.invalid:7000: host 'no-such-host.invalid': ");
    refused(E2E_RUN(&cli_space, "count", space, "--param", "n=99999999999999999999"), "at most 2^60");
}

/* The same of ways to call one command. */
Test(bad_input, options_of_other_ways)
{
    const char *axpy = KERNELS "axpy.lift", *db = "/nonexistent/runs.db";
    static const char *const of_programs[] = {"--size", "--pin",     "--order", "--seed",
                                              "--time", "--samples", "--cut"};
    for (size_t i = 0; i < sizeof of_programs / sizeof of_programs[0]; i++)
        refused(E2E_RUN(&cli_audit, db, of_programs[i], "1"), "does not apply to a store");
    refused(E2E_RUN(&cli_audit, axpy, "--size", "N=64", "--depth", "3"), "--depth");
    refused(E2E_RUN(&cli_bound, axpy, "--size", "N=64", "--seed", "3"), "--seed");
    refused(E2E_RUN(&cli_estimate, axpy, "--size", "N=64", "--depth", "3"),
            "--depth does not apply without --cut");
    refused(E2E_RUN(&cli_estimate, axpy, "--size", "N=64", "--limit", "3"),
            "--limit applies only to --method exact");
    refused(E2E_RUN(&cli_estimate, axpy, "--size", "N=64", "--method", "exact", "--samples", "3"),
            "--samples does not apply to --method exact");
    refused(E2E_RUN(&cli_explain, db, "--cuts", "--number", "3"), "--number does not apply with --cuts");
    refused(E2E_RUN(&cli_explain, db, "--cuts", "--device", "cpu"), "--device does not apply with --cuts");
    refused(E2E_RUN(&cli_explain, db, "--learnt", "--number", "3"), "--number does not apply with --learnt");
    refused(E2E_RUN(&cli_explain, db, "--best", "--number", "3"), "--best does not apply with --number");
    refused(E2E_RUN(&cli_replay, db, "--best", "--number", "3"), "--best does not apply with --number");
    refused(E2E_RUN(&cli_lift, "check", axpy, "--size", "N=4", "--input", "x=random:1"),
            "--input does not apply to 'thresh lift check'");
    refused(E2E_RUN(&cli_lift, "print", axpy, "--input", "x=random:1"),
            "--input does not apply to 'thresh lift print'");
    refused(E2E_RUN(&cli_store, "query", db, "--format", "csv"),
            "--format does not apply to 'thresh store query'");
    refused(E2E_RUN(&cli_store, "export", db, "--json"), "--json does not apply to 'thresh store export'");
    refused(E2E_RUN(&cli_device, "list", "--out", "/tmp"), "--out does not apply to 'thresh device list'");
    refused(E2E_RUN(&cli_device, "show", "--out", "/tmp"), "--out does not apply to 'thresh device show'");
    refused(E2E_RUN(&cli_device, "list", "gpu"),
            "unexpected argument 'gpu': 'thresh device list' takes no device");
    refused(E2E_RUN(&cli_device, "show", "cpu", "--device", "cpu"),
            "--device is given twice: the argument SEL already selects the device");
    refused(E2E_RUN(&cli_device, "tell"), "unknown verb 'tell'; expected one of list, show, characterize");
}

/* An instance is refused with its place, the line and a caret, like a program. */
Test(bad_input, instances)
{
    static const struct {
        const char *text, *place;
    } cases[] = {
        {"{\"sets\": {\"Node\": [\"a\", \"b\"]},\n \"properties\": {\"edge\": [[\"a\", \"c\", 1]]}}\n",
         ":2:32: error: 'c' is not an object of set 'Node'\n"
         "     \"properties\": {\"edge\": [[\"a\", \"c\", 1]]}}\n"
         "                                   ^\n"},
        {"{\"sets\": {\"Node\": [\"a\",]}}\n",
         ":1:24: error: malformed JSON: unexpected token near ']'\n    {\"sets\": {\"Node\": [\"a\",]}}\n"
         "                           ^\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[32];
        e2e_file(path, cases[i].text);
        refused(E2E_RUN(&cli_space, "count", "spacedsl/spaces/colouring.space", "--data", path),
                cases[i].place);
        unlink(path);
    }
}

Test(bad_input, no_platform)
{
    setenv("OCL_ICD_VENDORS", "/nonexistent", 1);
    refused(E2E_RUN(&cli_tune, KERNELS "axpy.lift", "--size", "N=64"), "no OpenCL device");
    refused(E2E_RUN(&cli_device, "list"), "no OpenCL device");
}

/* ---- stores and results ---- */

struct campaign {
    char folder[32], store[64], best[64];
};

static void in_folder(const struct campaign *c, const char *name, char out[64])
{
    snprintf(out, 64, "%s/%s", c->folder, name);
}

/* Six evaluations of a small AXPY, stored. */
static struct campaign small_campaign(void)
{
    struct campaign c;
    e2e_folder(c.folder);
    in_folder(&c, "runs.db", c.store);
    in_folder(&c, "best.json", c.best);
    struct e2e_run r = E2E_RUN(&cli_tune, E2E_QUICK, KERNELS "axpy.lift", "--size", "N=64", "--evaluations",
                               "6", "--store", c.store, "--out", c.folder, "--quiet");
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    e2e_run_free(&r);
    return c;
}

static void remove_campaign(const struct campaign *c)
{
    static const char *const names[] = {"runs.db", "runs.db-wal", "runs.db-shm", "best.json",
                                        "best.cl", "host.c",      "edited.json"};
    char path[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        in_folder(c, names[i], path);
        unlink(path);
    }
    rmdir(c->folder);
}

/* Rows of the store, as its user counts them. */
static size_t stored_rows(const char *store)
{
    struct e2e_run r = E2E_RUN(&cli_store, "export", store);
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    size_t lines = 0;
    for (const char *p = r.out; (p = strchr(p, '\n')); p++)
        lines++;
    e2e_run_free(&r);
    return lines;
}

Test(bad_input, a_store_of_another_program, .timeout = 120)
{
    struct campaign c = small_campaign();
    size_t rows = stored_rows(c.store);
    cr_assert_geq(rows, 6);
    refused(E2E_RUN(&cli_tune, KERNELS "axpy.lift", "--size", "N=128", "--store", c.store, "--resume",
                    "--out", c.folder),
            c.store);
    cr_expect_eq(stored_rows(c.store), rows, "rows are lost");
    remove_campaign(&c);
}

Test(bad_input, foreign_and_damaged_stores)
{
    char path[32];
    e2e_file(
        path,
        "these are my notes, not a database; they are longer than the header of one, which is 100 bytes\n");
    refused(E2E_RUN(&cli_tune, KERNELS "axpy.lift", "--size", "N=64", "--evaluations", "1", "--store", path),
            path);
    refused(E2E_RUN(&cli_store, "query", path), path);
    unlink(path);
    refused(E2E_RUN(&cli_store, "query", "/nonexistent/runs.db"), "/nonexistent/runs.db");
    e2e_file(path, "");
    refused(E2E_RUN(&cli_store, "query", path), "not a thresh store: the file is empty");
    unlink(path);
}

/* Copies a text file with `from` replaced by `to` once. */
static void copy_edited(const char *path, const char *copy, const char *from, const char *to)
{
    struct diag *d = diag_new();
    size_t n;
    char *text = source_read_file(path, 1 << 24, &n, d);
    cr_assert_not_null(text);
    char *at = strstr(text, from);
    cr_assert_not_null(at, "no %s in %s", from, path);
    FILE *out = fopen(copy, "w");
    fprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    fclose(out);
    free(text);
    diag_free(d);
}

/* A text that thresh makes no longer: explain and replay say that they speak of another. */
static void another_text(const char *store)
{
    struct e2e_run r = E2E_RUN(&cli_explain, store, "--best");
    cr_expect(r.status == CLI_OK && !strstr(r.err, "note: "), "%s", r.err);
    e2e_run_free(&r);
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(store, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, "UPDATE evaluation SET kernel_hash = '12'", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    r = E2E_RUN(&cli_explain, store, "--best");
    cr_expect(r.status == CLI_OK && strstr(r.err, "note: the measured OpenCL text differs from this one"),
              "%s", r.err);
    e2e_run_free(&r);
}

Test(bad_input, an_edited_result, .timeout = 120)
{
    struct campaign c = small_campaign();
    struct e2e_run r;
    char edited[64];
    in_folder(&c, "edited.json", edited);
    copy_edited(c.best, edited, "N=64", "N=65");
    refused(E2E_RUN(&cli_replay, edited), "edited.json");
    refused(E2E_RUN(&cli_explain, edited), "'sizes' was changed after the file was written");
    copy_edited(c.best, edited, "\"checksums\"", "\"sums\"");
    refused(E2E_RUN(&cli_replay, edited), "not a best.json of 'thresh tune': it has no 'checksums'");
    copy_edited(c.best, edited, "\"actions\"", "\"actions");
    r = E2E_RUN(&cli_replay, edited);
    cr_expect(strchr(r.err, '^'), "no caret: %s", r.err);
    refused(r, "error: malformed JSON: ':' expected");
    r = E2E_RUN(&cli_replay, c.best, "--json");
    cr_expect_eq(r.status, CLI_OK, "the original: %s", r.err);
    e2e_run_free(&r);
    refused(E2E_RUN(&cli_replay, c.best, "--launches", "0"), "--launches");
    r = E2E_RUN(&cli_replay, c.best, "--timeout", "0.000000001s");
    cr_expect_eq(r.status, CLI_FAILED, "within a nanosecond");
    cr_expect(strstr(r.out, "timeout: "), "%s", r.out);
    e2e_run_free(&r);
    refused(E2E_RUN(&cli_replay, c.best, "--timeout", "soon"), "--timeout: 'soon' is not a time");
    refused(E2E_RUN(&cli_explain, c.best, "--device", "cpu"), "--device does not apply to a best.json");
    another_text(c.store);
    refused(E2E_RUN(&cli_explain, c.store), "is a store; select an implementation with --best or --number N");
    remove_campaign(&c);
}

/* A result that cannot be written: the work failed, and the store has every evaluation. (A store that cannot
 * grow is tested with the store.) */
Test(bad_input, a_full_disk, .timeout = 120)
{
    struct campaign c = small_campaign();
    char text[64];
    size_t rows = stored_rows(c.store);
    in_folder(&c, "best.cl", text);
    cr_assert(unlink(text) == 0 && symlink("/dev/full", text) == 0);
    struct e2e_run r = E2E_RUN(&cli_tune, E2E_QUICK, KERNELS "axpy.lift", "--size", "N=64", "--evaluations",
                               "4", "--store", c.store, "--out", c.folder, "--quiet");
    cr_expect_eq(r.status, CLI_FAILED, "status %d: %s", r.status, r.err);
    cr_expect(strstr(r.err, "best.cl': No space left on device"), "%s", r.err);
    cr_expect_not(strstr(r.out, "written"), "%s", r.out);
    cr_expect_geq(stored_rows(c.store), rows + 4, "evaluations are lost");
    e2e_run_free(&r);
    refused(E2E_RUN(&cli_tune, KERNELS "axpy.lift", "--size", "N=64", "--store", "/dev/full"), "/dev/full");
    remove_campaign(&c);
}

/* ---- peers ---- */

/* Sends byte strings that are no messages. */
static void send_garbage(void *context, const char *endpoint)
{
    int linger = 200;
    void *socket = zmq_socket(context, ZMQ_DEALER);
    struct pcg32 rng = pcg32_seed(9, 9);
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
    cr_assert_eq(zmq_connect(socket, endpoint), 0);
    for (int i = 0; i < 200; i++) {
        unsigned char bytes[64];
        size_t n = pcg32_below(&rng, sizeof bytes);
        for (size_t k = 0; k < n; k++)
            bytes[k] = (unsigned char)pcg32_next(&rng);
        zmq_send(socket, bytes, n, 0);
    }
    zmq_close(socket);
}

/* The garbage comes from a process of its own: this one has no thread when it forks the agent, which would
 * inherit what the thread had locked. */
Test(bad_input, a_peer_that_talks_nonsense, .timeout = 120)
{
    char folder[32], endpoint[64], path[64];
    int status;
    e2e_folder(folder);
    snprintf(endpoint, sizeof endpoint, "ipc://%s/socket", folder);
    struct e2e_process tune = e2e_start(
        &cli_tune, (const char *const[]){E2E_QUICK, KERNELS "axpy.lift", "--size", "N=64", "--evaluations",
                                         "4", "--listen", endpoint, "--out", folder, "--quiet", NULL});
    pid_t pid = fork();
    if (pid == 0) {
        void *context = zmq_ctx_new();
        send_garbage(context, endpoint);
        zmq_ctx_term(context);
        _exit(0);
    }
    cr_assert(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
    struct e2e_process agent =
        e2e_start(&cli_agent, (const char *const[]){"--connect", endpoint, "--quiet", NULL});
    struct e2e_run r = e2e_finish(&tune);
    cr_expect_eq(r.status, CLI_OK, "%s", r.err);
    e2e_run_free(&r);
    r = e2e_finish(&agent);
    cr_expect_eq(r.status, CLI_OK, "the agent: %s", r.err);
    e2e_run_free(&r);
    static const char *const names[] = {"best.json", "best.cl", "host.c", "socket"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* Before a socket is opened, or an agent awaited. */
Test(bad_input, a_resumption_without_a_store)
{
    char endpoint[64];
    snprintf(endpoint, sizeof endpoint, "ipc:///tmp/thresh-resume-%ld/socket", (long)getpid());
    refused(E2E_RUN(&cli_tune, KERNELS "axpy.lift", "--size", "N=128", "--resume", "--listen", endpoint),
            "--resume needs --store FILE");
    cr_expect_neq(access(endpoint + strlen("ipc://"), F_OK), 0);
}
