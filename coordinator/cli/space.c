/* thresh space: spaces on their own. This file knows the verbs; check is here, the others are in space_*.c.
 */
#include "coordinator/cli/space.h"

#include <stdio.h>
#include <string.h>

#include "coordinator/cli/space_cost.h"
#include "coordinator/cli/table.h"
#include "core/base/panic.h"

/* Whether the definition says all that there is to know of an instance. */
static bool is_self_contained(const struct space_def *def)
{
    bool known = true;
    for (int32_t i = 0; i < def->n_parameters; i++)
        known = known && def->parameters[i].has_default;
    for (int32_t i = 0; i < def->n_sets; i++)
        known = known && (def->sets[i].root != i || def->sets[i].range || def->sets[i].param >= 0);
    return known;
}

/* Lists of values are checked in an instance, if there is one. */
static int check_verb(const struct cli_args *a, struct cli_space *o, struct diag *d)
{
    bool cost = cli_given(a, CLI_EXPLAIN_COST);
    bool instance = cost || cli_given(a, CLI_DATA) || cli_given(a, CLI_PARAM) || is_self_contained(o->def);
    if (instance && !cli_space_instantiate(a, o, d)) return CLI_USAGE;
    if (cli_given(a, CLI_JSON))
        cli_print_json(json_pack("{s:s,s:i,s:i,s:o*}", "space", o->def->name, "choices",
                                 (int)o->def->n_choices, "constraints", (int)o->def->n_constraints, "slower",
                                 cost ? space_cost_json(o->space) : NULL));
    else
        printf("%s: ok, space %s: %d choice%s, %d constraint%s\n", a->positional[1], o->def->name,
               (int)o->def->n_choices, o->def->n_choices == 1 ? "" : "s", (int)o->def->n_constraints,
               o->def->n_constraints == 1 ? "" : "s");
    if (cost && !cli_given(a, CLI_JSON)) space_cost_print(o->space);
    return CLI_OK;
}

#define INSTANCE (CLI_TAKES(DATA) | CLI_TAKES(PARAM) | CLI_TAKES(JSON))
#define LISTING (INSTANCE | CLI_TAKES(PIN) | CLI_TAKES(ORDER))

static const struct {
    const char *name;
    int (*run)(const struct cli_args *a, struct cli_space *o, struct diag *d);
    uint64_t takes; /* as in struct cli_command */
} verbs[] = {{"check", check_verb, INSTANCE | CLI_TAKES(EXPLAIN_COST)},
             {"compile", space_compile_verb, CLI_TAKES(OUT) | CLI_TAKES(JSON)},
             {"describe", space_describe_verb, CLI_TAKES(JSON)},
             {"count", space_count_verb, INSTANCE | CLI_TAKES(PIN) | CLI_TAKES(LIMIT)},
             {"enumerate", space_enumerate_verb, LISTING | CLI_TAKES(LIMIT)},
             {"sample", space_sample_verb, LISTING | CLI_TAKES(SAMPLES) | CLI_TAKES(SEED)},
             {"descend", space_descend_verb, LISTING | CLI_TAKES(SAMPLES) | CLI_TAKES(SEED)}};

#define VERBS "check|compile|describe|count|enumerate|sample|descend"

/* Options of other verbs. */
static bool refuse_others(const struct cli_args *a, size_t verb, struct diag *d)
{
    char message[64];
    snprintf(message, sizeof message, "does not apply to %s", verbs[verb].name);
    return cli_refuse_others(a, verbs[verb].takes, message, d);
}

static int run(const struct cli_args *a)
{
    struct diag *d = diag_new();
    struct cli_space o = {0};
    size_t n = sizeof verbs / sizeof verbs[0], verb = 0;
    int status = CLI_USAGE;
    while (verb < n && strcmp(a->positional[0], verbs[verb].name) != 0)
        verb++;
    if (cli_check_verb(&cli_space, a->positional[0], d)) {
        CHECK(verb < n);
        if (refuse_others(a, verb, d) && cli_space_load(a->positional[1], &o, d))
            status = verbs[verb].run(a, &o, d);
    }
    status = cli_finish(d, status);
    cli_space_close(&o);
    return status;
}

const struct cli_command cli_space = {
    .name = "space",
    .positional = VERBS " FILE.space|FILE.so",
    .least = 2,
    .most = 2,
    .takes = CLI_TAKES(DATA) | CLI_TAKES(PARAM) | CLI_TAKES(PIN) | CLI_TAKES(LIMIT) | CLI_TAKES(SAMPLES) |
             CLI_TAKES(SEED) | CLI_TAKES(ORDER) | CLI_TAKES(OUT) | CLI_TAKES(EXPLAIN_COST) | CLI_TAKES(JSON),
    .notes = {{CLI_OUT, "FILE.so", "compile: the shared object"},
              {CLI_LIMIT, "N", "count: stop after N nodes of the tree; enumerate: after N solutions"},
              {CLI_SAMPLES, "N",
               "sample: how many solutions (default 10); descend: descents (default 1000)"}},
    .help =
        "Checks, compiles, describes, counts, lists or samples a space. compile makes a shared object, which "
        "can be given in place of a .space file; describe prints a reference page; enumerate lists all "
        "solutions; sample draws some, uniformly where the space is counted at once; descend times random "
        "descents and tells the number of solutions. Without --data each set that has the property `index` "
        "gets as many objects as the first parameter says. check --explain-cost lists the constraints of the "
        "instance that are larger than what the fast ways of propagation have room for, with what to "
        "change.\v"
        "Example: thresh space count queens.space --param n=6\n"
        "         thresh space sample tiles.space --samples 3 --pin block_x=8",
    .run = run,
};
