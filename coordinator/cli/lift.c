/* thresh lift: the language on its own: check a program (lift_check.c), print normalized text, interpret
 * (lift_run.c), cut into a sequence (lift_cut.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/cli.h"
#include "coordinator/cli/kind.h"
#include "coordinator/cli/lift_check.h"
#include "coordinator/cli/lift_cut.h"
#include "coordinator/cli/lift_run.h"
#include "coordinator/cli/table.h"
#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"

struct opened {
    char *text;
    struct source source;
    struct arena *arena;
    struct lift_program *program;
};

static bool open_program(const struct cli_args *a, bool bind, struct opened *o, struct diag *d)
{
    const char *path = a->positional[1];
    struct lift_size_value *values = NULL;
    size_t n;
    if (!cli_expect_kind(path, CLI_KIND_PROGRAM, d)) return false;
    o->arena = arena_new();
    o->text = source_read_file(path, CLI_PROGRAM_BYTES, &n, d);
    if (!o->text) return false;
    o->source = (struct source){path, o->text, n};
    o->program = lift_parse(&o->source, o->arena, d);
    if (!o->program || !bind) return o->program != NULL;
    int sizes = lift_parse_sizes(cli_given(a, CLI_SIZE) ? a->value[CLI_SIZE] : "", &values, o->arena, d);
    return sizes >= 0 && lift_bind(o->program, values, (unsigned)sizes, o->arena, d);
}

static void print(const struct cli_args *a, struct opened *o, struct diag *d)
{
    if (!open_program(a, cli_given(a, CLI_SIZE), o, d)) return;
    struct strbuf text = {0};
    lift_print(o->program, &text);
    if (cli_given(a, CLI_JSON))
        cli_print_json(json_pack("{s:s,s:s}", "kernel", o->source.path, "lift", text.text));
    else
        fputs(text.text, stdout);
    strbuf_free(&text);
}

/* ---- verbs ---- */

#define VERBS(X)                                                                                             \
    X(check, CLI_TAKES(SIZE), CLI_TAKES(DEVICE), CLI_TAKES(DESCRIPTION), CLI_TAKES(JSON))                    \
    X(print, CLI_TAKES(SIZE), CLI_TAKES(JSON))                                                               \
    X(run, CLI_TAKES(SIZE), CLI_TAKES(INPUT), CLI_TAKES(OUTPUT), CLI_TAKES(JSON))                            \
    X(cut, CLI_TAKES(SIZE), CLI_TAKES(AT), CLI_TAKES(JSON))
enum verb {
#define X(name, ...) VERB_##name,
    VERBS(X)
#undef X
        N_VERBS
};
#define X(name, ...) #name,
static const char *const verb_names[] = {VERBS(X)};
#undef X
#define X(name, ...) {__VA_ARGS__},
static const struct cli_set verb_takes[] = {VERBS(X)};
#undef X

static void run_verb(const struct cli_args *a, enum verb verb, struct diag *d)
{
    struct opened o = {0};
    if (!cli_refuse_of_verb(&cli_lift, a, verb_takes[verb], d)) return;
    if (verb == VERB_check)
        cli_lift_check(a, d);
    else if (verb == VERB_print)
        print(a, &o, d);
    else if (open_program(a, true, &o, d) && verb == VERB_run)
        cli_lift_run(a, o.program, o.arena, d);
    else if (o.program && !diag_failed(d))
        cli_lift_cut(a, o.program, o.arena, d);
    if (o.arena) arena_free(o.arena);
    free(o.text);
}

static int run(const struct cli_args *a)
{
    struct diag *d = diag_new();
    unsigned verb = 0;
    while (verb < N_VERBS && strcmp(verb_names[verb], a->positional[0]) != 0)
        verb++;
    if (cli_check_verb(&cli_lift, a->positional[0], d)) {
        CHECK(verb < N_VERBS);
        run_verb(a, (enum verb)verb, d);
    }
    return cli_finish(d, CLI_OK);
}

const struct cli_command cli_lift = {
    .name = "lift",
    .positional = "check|print|run|cut KERNEL.lift",
    .least = 2,
    .most = 2,
    .takes = {CLI_TAKES(SIZE), CLI_TAKES(DEVICE), CLI_TAKES(DESCRIPTION), CLI_TAKES(INPUT), CLI_TAKES(OUTPUT),
              CLI_TAKES(AT), CLI_TAKES(JSON)},
    .notes =
        {{CLI_INPUT, "NAME=FILE.npy",
          "run: the data of this input, a NumPy file, or NAME=random:SEED, random numbers made from SEED "
          "(default: seed 1); may be repeated"},
         {CLI_OUTPUT, "[NAME=]FILE.npy",
          "run: write the result to this NumPy file instead of printing it. Of several outputs, NAME is one; "
          "may be repeated"},
         {CLI_DEVICE, "SEL", "check: device whose limits are checked (default: the first one)"},
         {CLI_DESCRIPTION, "FILE.json", "check: description of the device, if the device is not present"}},
    .help =
        "Checks, prints or interprets a Lift program. 'check' accepts what 'thresh tune' accepts, and says "
        "what "
        "limits the program; without --size it checks syntax and names. 'run' computes the result of the "
        "program in double precision, and writes it in the type of the output. In the JSON of run, elements "
        "that are not finite are null.\v"
        "Example: thresh lift check matmul.lift --size M=512,N=512,K=512\n"
        "         thresh lift run matmul.lift --size M=4,N=4,K=4 --input A=random:1\n"
        "         thresh lift run matmul.lift --size M=4,N=4,K=4 --input A=a.npy --input B=b.npy --output "
        "c.npy\n"
        "         thresh lift cut atax.lift --size M=64,N=64 --at y",
    .run = run,
};
