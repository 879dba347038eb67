/* thresh lift: the language on its own: check a program (lift_check.c), print normalized text, interpret. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/cli.h"
#include "coordinator/cli/kind.h"
#include "coordinator/cli/lift_check.h"
#include "coordinator/cli/table.h"
#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/base/pcg32.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"

enum { SHOWN = 16 };
static const int64_t most_scalars = INT64_C(1) << 26;

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

/* ---- run ---- */

/* Seed of an input's data: "NAME=random:SEED" among the options, else 1. */
static bool input_seed(const struct cli_args *a, const char *name, uint64_t *seed, struct diag *d)
{
    size_t n = strlen(name);
    *seed = 1;
    for (unsigned i = 0; i < a->inputs.n; i++) {
        const char *text = a->inputs.items[i];
        if (strncmp(text, name, n) != 0 || text[n] != '=') continue;
        char *end = NULL;
        if (strncmp(text + n + 1, "random:", 7) == 0) *seed = strtoull(text + n + 8, &end, 10);
        if (end && end != text + n + 8 && !*end) continue;
        diag_plain(d, "--input: '%s' is not NAME=random:SEED, such as %s=random:1", text, name);
        return false;
    }
    return true;
}

/* A value of the type in the range that the program states; else a whole number from -8 to 8, a truth value,
 * or a number in [-1, 1). */
static double random_scalar(enum scalar_type type, const struct lift_range *range, struct pcg32 *rng)
{
    if (range->given) return lift_range_draw(range, type, pcg32_unit(rng));
    if (type == SCALAR_INT) return (double)pcg32_below(rng, 17) - 8;
    if (type == SCALAR_BOOL) return (double)pcg32_below(rng, 2);
    return 2.0 * pcg32_unit(rng) - 1.0;
}

static double *make_input(const struct cli_args *a, const struct lift_program *p, unsigned i,
                          struct arena *arena, struct diag *d)
{
    int64_t n = lift_type_scalars(p->inputs[i]->type);
    uint64_t seed;
    if (n > most_scalars)
        diag_plain(d, "input %s is too large to interpret; choose smaller sizes", p->inputs[i]->name);
    if (n > most_scalars || !input_seed(a, p->inputs[i]->name, &seed, d)) return NULL;
    enum scalar_type type = SCALAR_FLOAT;
    lift_type_bottom(p->inputs[i]->type, &type);
    struct pcg32 rng = pcg32_seed(seed, i);
    double *data = ARENA_ARRAY(arena, double, n);
    for (int64_t k = 0; k < n; k++)
        data[k] = random_scalar(type, &p->inputs[i]->range, &rng);
    return data;
}

static void print_output(const struct cli_args *a, const double *out, int64_t n)
{
    if (cli_given(a, CLI_JSON)) {
        json_t *array = json_array();
        for (int64_t i = 0; i < n; i++)
            json_array_append_new(array, cli_real_json(out[i]));
        cli_print_json(json_pack("{s:o}", "output", array));
        return;
    }
    for (int64_t i = 0; i < n && i < SHOWN; i++)
        printf("%.9g\n", out[i]);
    if (n > SHOWN) printf("... %" PRId64 " more; --json prints all\n", n - SHOWN);
}

/* `name`: bytes of the name in the text; -1: it has none. */
static void refuse_input(const char *text, int name, const struct lift_program *p, struct diag *d)
{
    struct strbuf inputs = {0};
    for (unsigned i = 0; i < p->n_inputs; i++)
        strbuf_printf(&inputs, "%s%s", i ? ", " : "", p->inputs[i]->name);
    if (name < 0)
        diag_plain(d, "--input: '%s' is not NAME=random:SEED", text);
    else
        diag_plain(d, "--input: the program has no input '%.*s'; its inputs are %s", name, text,
                   inputs.text ? inputs.text : "none");
    strbuf_free(&inputs);
}

/* Every --input must name an input of the program. */
static bool check_inputs(const struct cli_args *a, const struct lift_program *p, struct diag *d)
{
    for (unsigned k = 0; k < a->inputs.n; k++) {
        const char *text = a->inputs.items[k];
        size_t n = strcspn(text, "=");
        unsigned i = 0;
        while (i < p->n_inputs &&
               (strncmp(text, p->inputs[i]->name, n) != 0 || p->inputs[i]->name[n] != '\0'))
            i++;
        if (i < p->n_inputs && text[n] == '=') continue;
        refuse_input(text, text[n] ? (int)n : -1, p, d);
        return false;
    }
    return true;
}

static void interpret(const struct cli_args *a, struct opened *o, struct diag *d)
{
    if (!open_program(a, true, o, d)) return;
    struct lift_program *p = o->program;
    if (!check_inputs(a, p, d)) return;
    const double **inputs = ARENA_ARRAY(o->arena, const double *, p->n_inputs + 1);
    for (unsigned i = 0; i < p->n_inputs; i++)
        if (!(inputs[i] = make_input(a, p, i, o->arena, d))) return;
    int64_t n = lift_type_scalars(p->output->type);
    if (n > most_scalars) {
        diag_plain(d, "the output is too large to interpret; choose smaller sizes");
        return;
    }
    double *out = ARENA_ARRAY(o->arena, double, n);
    lift_interpret(p, inputs, out);
    print_output(a, out, n);
}

/* ---- verbs ---- */

#define VERBS(X)                                                                                             \
    X(check, CLI_TAKES(SIZE), CLI_TAKES(DEVICE), CLI_TAKES(DESCRIPTION), CLI_TAKES(JSON))                    \
    X(print, CLI_TAKES(SIZE), CLI_TAKES(JSON))                                                               \
    X(run, CLI_TAKES(SIZE), CLI_TAKES(INPUT), CLI_TAKES(JSON))
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
    else
        interpret(a, &o, d);
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
    .positional = "check|print|run KERNEL.lift",
    .least = 2,
    .most = 2,
    .takes = {CLI_TAKES(SIZE), CLI_TAKES(DEVICE), CLI_TAKES(DESCRIPTION), CLI_TAKES(INPUT), CLI_TAKES(JSON)},
    .notes = {{CLI_DEVICE, "SEL", "check: device whose limits are checked (default: the first one)"},
              {CLI_DESCRIPTION, "FILE.json",
               "check: description of the device, if the device is not present"}},
    .help =
        "Checks, prints or interprets a Lift program. 'check' accepts what 'thresh tune' accepts, and says "
        "what "
        "limits the program; without --size it checks syntax and names. In the JSON of run, elements that "
        "are not finite are null.\v"
        "Example: thresh lift check matmul.lift --size M=512,N=512,K=512\n"
        "         thresh lift run matmul.lift --size M=4,N=4,K=4 --input A=random:1",
    .run = run,
};
