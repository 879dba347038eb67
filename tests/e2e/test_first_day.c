/* What people get wrong on their first day. Each row is a command, what its message says is wrong, and what
 * it says to do about it. All end with status 2 and print nothing on standard output.
 *
 * A program of a row is written to a file, whose name stands for "FILE" among the arguments. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/run.h"

#define KERNELS "experiments/kernels/"
#define MATMUL KERNELS "matmul.lift"
#define AXPY KERNELS "axpy.lift"
#define VECTORS "size N, M\ninput x: [float]N\ninput y: [float]M\n"

enum { FIRST_DAY_ARGS = 12 };

struct first_day {
    const struct cli_command *command;
    const char *args[FIRST_DAY_ARGS]; /* ends with NULL */
    const char *cause, *next;
    const char *program; /* NULL: no FILE among the arguments */
};

static const struct first_day first_day_sizes[] = {
    {&cli_tune,
     {MATMUL},
     MATMUL ":2:6: error: sizes 'M', 'N', 'K' have no value",
     "add --size M=...,N=...,K=...",
     NULL},
    {&cli_tune,
     {MATMUL, "--size", "M=64,N=64"},
     ":2:12: error: size 'K' has no value",
     "add --size K=...",
     NULL},
    {&cli_tune,
     {MATMUL, "--size", "m=64,n=64,k=64"},
     "unknown size 'm'",
     "the program's sizes are M, N, K",
     NULL},
    {&cli_tune,
     {MATMUL, "--size", "M=64,N=64,KK=64"},
     "unknown size 'KK'",
     "the program's sizes are M, N, K",
     NULL},
    {&cli_tune, {AXPY, "--size", "N=64,N=64"}, "size 'N' is given twice", "write --size N=... once", NULL},
    {&cli_tune, {AXPY, "--size", "N=0"}, "size 'N' is 0", "must be at least 1", NULL},
    {&cli_tune, {AXPY, "--size", "N=-5"}, "size 'N' is -5", "must be at least 1", NULL},
    {&cli_tune, {AXPY, "--size", "N=1e6"}, "'N=1e6' is not a size", "write NAME=NUMBER", NULL},
    {&cli_tune, {AXPY, "--size", "64"}, "'64' is not a size", "write NAME=NUMBER", NULL},
    {&cli_tune,
     {AXPY, "--size", "N=1000000000000"},
     AXPY ":4:7: error: 'x' takes 4000000000000 bytes",
     "choose smaller sizes",
     NULL},
    {&cli_lift,
     {"check", AXPY, "--size", "N=1000000000000"},
     AXPY ":4:7: error: 'x' takes 4000000000000 bytes",
     "choose smaller sizes",
     NULL},
    {&cli_tune,
     {AXPY, "--size", "N=99999999999999999999"},
     "does not fit into 64 bits",
     "choose a smaller one",
     NULL},
    {&cli_tune,
     {"FILE", "--size", "N=100,M=1"},
     ":4:17: error: split: the chunk length 16 does not divide the array length N = 100",
     "choose sizes where it does",
     VECTORS "output map(sum, split(16, x))\n"},
    {&cli_estimate, {MATMUL}, "sizes 'M', 'N', 'K' have no value", "add --size", NULL},
};

static const struct first_day first_day_files[] = {
    {&cli_tune,
     {KERNELS "matmull.lift", "--size", "M=64,N=64,K=64"},
     "cannot open '" KERNELS "matmull.lift': No such file",
     "did you mean '" MATMUL "'?",
     NULL},
    {&cli_lift,
     {"check", KERNELS "axpy"},
     "cannot open '" KERNELS "axpy': No such file",
     "did you mean '" AXPY "'?",
     NULL},
    {&cli_tune,
     {"experiments/kernels", "--size", "N=64"},
     "'experiments/kernels' is a folder",
     "expected a file",
     NULL},
    {&cli_tune,
     {"FILE"},
     ":1:1: error: 'for' is not in the language",
     "declares sizes, inputs and outputs, such as: output map(",
     "for (int i = 0; i < n; i++)\n    y[i] += a * x[i];\n"},
    {&cli_tune,
     {"FILE"},
     ":1:1: error: '__kernel' is not in the language",
     "such as: output map(",
     "__kernel void axpy(__global float *x)\n{\n    x[get_global_id(0)] = 1;\n}\n"},
    {&cli_tune,
     {"FILE"},
     ":1:1: error: '//' is not in the language",
     "a comment begins with --",
     "// scale\nsize N\ninput x: [float]N\noutput x\n"},
};

static const struct first_day first_day_programs[] = {
    {&cli_tune,
     {"FILE"},
     ":4:8: error: 'permute' is not in the language",
     "write scatter(f, a)",
     VECTORS "output permute(reverse, x)\n"},
    {&cli_tune,
     {"FILE"},
     ":4:23: error: '?' is not in the language",
     "if c then a else b",
     VECTORS "output map(fun v -> v ? 1.0 : 0.0, x)\n"},
    {&cli_tune,
     {"FILE"},
     ":4:27: error: expected an expression, found 'if'",
     "as an operand it stands in parentheses",
     VECTORS "output map(fun v -> 1.0 + if v > 0.0 then v else 0.0, x)\n"},
    {&cli_tune,
     {"FILE"},
     ":4:21: error: 'powf' is not in the language",
     "pow(x, y)",
     VECTORS "output map(fun v -> powf(v, 2.0), x)\n"},
    {&cli_tune,
     {"FILE"},
     ":4:9: error: element i of an array is written at(i, a)",
     "at(i, a)",
     VECTORS "output x[0]\n"},
    {&cli_tune,
     {"FILE"},
     ":4:14: error: expected ')', found '->'",
     "a function is written fun x ->",
     VECTORS "output map(v -> v * 2.0, x)\n"},
    {&cli_tune,
     {"FILE"},
     ":4:15: error: expected an expression, found '+'",
     "the function is called add",
     VECTORS "output reduce(+, 0.0, x)\n"},
    {&cli_tune,
     {"FILE"},
     ":4:8: error: unknown function 'mapp'",
     "did you mean 'map'?",
     VECTORS "output mapp(sqrt, x)\n"},
    {&cli_tune,
     {"FILE"},
     ":4:18: error: unknown name 'X'",
     "did you mean 'x'?",
     VECTORS "output map(sqrt, X)\n"},
    {&cli_tune,
     {"FILE"},
     ":4:1: error: expected size, input, output, let, fun or schedule, found 'ouput'",
     "did you mean 'output'?",
     VECTORS "ouput x\n"},
    {&cli_tune, {"FILE"}, ":4:1: error: the program has no output", "add one, such as: output map(", VECTORS},
    {&cli_tune,
     {"FILE", "--size", "N=8,M=4"},
     ":4:18: error: zip needs arrays of equal length, not N = 8 and M = 4",
     "choose equal sizes or other arrays",
     VECTORS "output map2(add, zip(x, y))\n"},
    {&cli_tune,
     {"FILE", "--size", "N=8,M=4"},
     ":4:10: error: add takes scalars, not [float]N",
     "write map(add, zip(a, b))",
     VECTORS "output x + y\n"},
    {&cli_tune,
     {"FILE"},
     ":2:12: error: 0.5 is not an int",
     "convert the int: float(x)",
     "input a: int\noutput a * 0.5\n"},
    {&cli_tune,
     {"FILE"},
     ":3:10: error: add needs arguments of one type, not float and int",
     "float(x)",
     "input a: float\ninput b: int\noutput a + b\n"},
    {&cli_tune,
     {"FILE"},
     ":1:11: error: not supported yet: float4 (vector types)",
     "write float",
     "input a: [float4]16\noutput a\n"},
    {&cli_tune,
     {"FILE"},
     ":1:15: error: the length of an array type follows the brackets",
     "[float]N",
     "input a: float[16]\noutput a\n"},
    {&cli_tune,
     {"FILE", "--size", "N=8,M=4"},
     ":4:21: error: not supported yet: a reduction that reads the accumulator of the reduction around it",
     "it may start from it",
     "size N, M\ninput A: [[float]N]M\n\nfun shifted(s, r) = reduce(fun t v -> t + v * s, 0.0, r)\n"
     "output reduce(fun s r -> shifted(s, r), 0.0, A)\n"},
};

static const struct first_day first_day_options[] = {
    {&cli_tune,
     {AXPY, "--size", "N=64", "--device", "nvidia"},
     "no OpenCL device matches 'nvidia'",
     "available: 0: ",
     NULL},
    {&cli_tune,
     {AXPY, "--size", "N=64", "--evalutions", "9"},
     "unknown option '--evalutions'",
     "did you mean '--evaluations'?",
     NULL},
    {&cli_tune,
     {MATMUL, "M=64,N=64,K=64"},
     "unexpected argument 'M=64,N=64,K=64'",
     "thresh tune --help",
     NULL},
    {&cli_tune, {AXPY, "--size", "N=64", "--heuristic", "mcts"}, "unknown heuristic 'mcts'", "uct", NULL},
    {&cli_tune,
     {AXPY, "--size", "N=64", "--pin", "stagd(x)=YES"},
     "pin 'stagd(x)=YES' matches no choice",
     "did you mean 'staged(x)'?",
     NULL},
    {&cli_tune,
     {AXPY, "--size", "N=64", "--pin", "staged(x)=yes"},
     "'yes' is not a value of its choice",
     "staged(x) is one of NO|YES",
     NULL},
    {&cli_tune,
     {AXPY, "--size", "N=64", "--order", "tiles"},
     "--order: 'tiles' is not a choice",
     "the choices are span, matrix, staged",
     NULL},
    {&cli_lift, {AXPY, NULL}, "missing argument", "check|print|run|cut KERNEL.lift", NULL},
    {&cli_tune, {AXPY, "--size", "N=64", "--resume"}, "--resume needs", "--store FILE", NULL},
    {&cli_tune, {AXPY, "--size", "N=64", "--listen", "7000"}, "'7000'", "tcp://127.0.0.1:PORT", NULL},
    {&cli_tune, {NULL}, "missing", "KERNEL.lift", NULL},
    {&cli_lift, {"chek", AXPY}, "unknown verb 'chek'", "did you mean 'check'?", NULL},
    {&cli_lift,
     {"run", AXPY, "--size", "N=4", "--input", "x=ones"},
     "cannot open ones",
     "No such file",
     NULL},
    {&cli_lift,
     {"check", AXPY, "--size", "N=4", "--input", "x=random:1"},
     "--input does not apply",
     "lift check",
     NULL},
};

#define STENCIL_SPACE "spacedsl/spaces/blocked_stencil.space"
#define QUEENS "spacedsl/spaces/queens.space"

/* A file of another kind than the command takes. */
static const struct first_day first_day_kinds[] = {
    {&cli_tune, {STENCIL_SPACE}, "is a space, not a Lift program", "as --space " STENCIL_SPACE, NULL},
    {&cli_lift, {"check", QUEENS}, "is a space, not a Lift program", "'thresh space'", NULL},
    {&cli_choices, {QUEENS}, "is a space, not a Lift program", "as --space " QUEENS, NULL},
    {&cli_bound, {QUEENS}, "is a space, not a Lift program", "'thresh space'", NULL},
    {&cli_space, {"count", AXPY}, "is a Lift program, not a space", "'thresh estimate'", NULL},
    {&cli_tune,
     {"--space", AXPY, "--command", "true"},
     "is a Lift program, not a space",
     "'thresh tune'",
     NULL},
    {&cli_replay, {AXPY}, "is a Lift program, not a result (best.json or a store)", "'thresh tune'", NULL},
    {&cli_explain, {QUEENS}, "is a space, not a result", "'thresh space'", NULL},
    {&cli_explain,
     {"README.md"},
     "'README.md' is not a result of 'thresh tune'",
     "best.json or a store",
     NULL},
    {&cli_tune,
     {AXPY, "--size", "N=64", "--resume", "--store", "/nonexistent.db"},
     "store '/nonexistent.db' does not exist",
     "omit --resume to begin a new run",
     NULL},
    {&cli_store,
     {"query", "/nonexistent.db"},
     "store '/nonexistent.db' does not exist",
     "'thresh tune --store' creates one",
     NULL},
    {&cli_tune,
     {AXPY, "--size", "N=64", "--out", "/proc/x"},
     "cannot create folder '/proc/x': its file system accepts no new files",
     "choose another folder with --out",
     NULL},
    {&cli_tune,
     {AXPY, "--size", "N=64", "--out", "/nonexistent/a"},
     "cannot create folder '/nonexistent/a': folder '/nonexistent' does not exist",
     "create it first",
     NULL},
    {&cli_tune,
     {AXPY, "--size", "N=64", "--store", "/nonexistent/x.db"},
     "/nonexistent/x.db: cannot open the store: folder '/nonexistent' does not exist",
     "create it first",
     NULL},
    {&cli_space,
     {"compile", QUEENS, "--out", "/proc/x.so"},
     "cannot write '/proc/x.so': its file system accepts no new files",
     "",
     NULL},
    {&cli_space,
     {"check", "./nonexistent.so"},
     "cannot load './nonexistent.so': cannot open shared object file",
     "",
     NULL},
};

/* Verbs, numbers, endpoints. */
static const struct first_day first_day_words[] = {
    {&cli_space, {"cuont", QUEENS}, "unknown verb 'cuont'", "did you mean 'count'?", NULL},
    {&cli_space, {"size", QUEENS}, "unknown verb 'size'", "expected one of check, compile", NULL},
    {&cli_device, {"characterise"}, "unknown verb 'characterise'", "did you mean 'characterize'?", NULL},
    {&cli_store, {"exprot", "runs.db"}, "unknown verb 'exprot'", "did you mean 'export'?", NULL},
    {&cli_help, {"space", "cuont"}, "unknown verb 'cuont'", "did you mean 'count'?", NULL},
    {&cli_help, {"tune", "fast"}, "unexpected argument 'fast'", "'thresh tune' has no verbs", NULL},
    {&cli_tune,
     {AXPY, "--size", "N=64", "--evaluations", "many"},
     "--evaluations: 'many' is not a whole number",
     "such as --evaluations 100",
     NULL},
    {&cli_tune,
     {AXPY, "--size", "N=64", "--evaluations", "99999999999999999999"},
     "--evaluations: 99999999999999999999 is too large",
     "choose a number below 2^64",
     NULL},
    {&cli_tune,
     {AXPY, "--size", "N=64", "--time", "soon"},
     "--time: 'soon' is not a time",
     "such as 30s or 10m",
     NULL},
    {&cli_tune,
     {AXPY, "--size", "N=64", "--rounds-time", "0"},
     "--rounds-time: '0' is not a time",
     "such as 30s or 10m",
     NULL},
    {&cli_agent,
     {"--connect", "localhost:7000"},
     "'localhost:7000' is not an endpoint",
     "did you mean 'tcp://localhost:7000'?",
     NULL},
    {&cli_agent, {"--connect", "7000"}, "'7000' is not an endpoint", "tcp://HOST:PORT", NULL},
    {&cli_agent, {NULL}, "missing --connect ENDPOINT", "tcp://127.0.0.1:7000", NULL},
    {&cli_space,
     {"count", STENCIL_SPACE, "--param", "shard=3"},
     "has no parameter 'shard'",
     "did you mean 'shared'?",
     NULL},
};

/* A text of another kind, in a file that ends in nothing known. */
static const struct first_day first_day_spaces[] = {
    {&cli_space,
     {"check", "FILE"},
     ":1:1: error: expected 'space', found the reserved word 'choice'",
     "a file begins with 'space NAME'",
     "choice x: int in { 1, 2 }\n"},
    {&cli_space,
     {"check", "FILE"},
     ":3:9: error: unknown name 'tile_row'",
     "did you mean 'tile_rows'?",
     "space s\nchoice tile_rows: int in { 1, 2 }\nrequire tile_row > 1\n"},
    {&cli_space,
     {"check", "FILE"},
     ":2:1: error: '//' is not in the language",
     "a comment begins with #",
     "space s\n// tiles\nchoice x: int in { 1, 2 }\n"},
    {&cli_space,
     {"check", "FILE"},
     ":2:18: error: unexpected character '['",
     "lists are written { 1, 2, 4 }",
     "space s\nchoice x: int in [1, 2]\n"},
    {&cli_space,
     {"check", "FILE"},
     ":3:9: error: expected an expression, found the reserved word 'not'",
     "write '!'",
     "space s\nchoice x: int in { 1, 2 }\nrequire not x == 1\n"},
    {&cli_space,
     {"check", "FILE"},
     ":3:1: error: expected an operator or a declaration, found 'constraint'",
     "did you mean 'require'?",
     "space s\nchoice x: int in { 1, 2 }\nconstraint x > 1\n"},
    {&cli_space,
     {"check", "FILE"},
     ":2:18: error: unknown name 'Nodes'",
     "did you mean 'Node'?",
     "space s choice a: { X } set Node choice b(n: Node): { X }\nchoice colour(n: Nodes): { RED, GREEN }\n"},
};

static void check_first_day(const struct first_day *row)
{
    char path[32] = "";
    const char *args[FIRST_DAY_ARGS];
    if (row->program) e2e_file(path, row->program);
    for (unsigned i = 0; i < FIRST_DAY_ARGS; i++)
        args[i] = row->args[i] && !strcmp(row->args[i], "FILE") ? path : row->args[i];
    struct e2e_run r = e2e_run(row->command, args);
    cr_expect_eq(r.status, CLI_USAGE, "status %d for \"%s\": %s", r.status, row->cause, r.err);
    cr_expect(strstr(r.err, row->cause), "no \"%s\" in \"%s\"", row->cause, r.err);
    cr_expect(strstr(r.err, row->next), "no \"%s\" in \"%s\"", row->next, r.err);
    cr_expect(!row->program || strchr(r.err, '^'), "no caret: %s", r.err);
    cr_expect_str_eq(r.out, "", "%s", row->cause);
    e2e_run_free(&r);
    if (row->program) unlink(path);
}

static void check_first_days(const struct first_day *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_first_day(&rows[i]);
}

Test(first_day, sizes, .timeout = 120)
{
    check_first_days(first_day_sizes, sizeof first_day_sizes / sizeof first_day_sizes[0]);
}

Test(first_day, files, .timeout = 120)
{
    check_first_days(first_day_files, sizeof first_day_files / sizeof first_day_files[0]);
}

Test(first_day, programs, .timeout = 120)
{
    check_first_days(first_day_programs, sizeof first_day_programs / sizeof first_day_programs[0]);
}

Test(first_day, kinds_of_files, .timeout = 120)
{
    check_first_days(first_day_kinds, sizeof first_day_kinds / sizeof first_day_kinds[0]);
}

Test(first_day, words, .timeout = 120)
{
    check_first_days(first_day_words, sizeof first_day_words / sizeof first_day_words[0]);
}

Test(first_day, spaces, .timeout = 120)
{
    check_first_days(first_day_spaces, sizeof first_day_spaces / sizeof first_day_spaces[0]);
}

Test(first_day, options, .timeout = 120)
{
    check_first_days(first_day_options, sizeof first_day_options / sizeof first_day_options[0]);
}
