/* thresh space: works on a space without a program. `thresh space check FILE.space` is here; the other verbs
 * are in space_VERB.c. */
#include "coordinator/cli/space.h"

#include <stdio.h>
#include <string.h>

#include "coordinator/cli/space_cost.h"
#include "coordinator/cli/table.h"
#include "core/base/panic.h"

/* Whether the space has an instance without --data and --param: every parameter has a default, and no set
 * needs objects. */
static bool is_self_contained(const struct space_def *def)
{
    bool known = true;
    for (int32_t i = 0; i < def->n_parameters; i++)
        known = known && def->parameters[i].has_default;
    for (int32_t i = 0; i < def->n_sets; i++)
        known = known && (def->sets[i].root != i || def->sets[i].range || def->sets[i].param >= 0);
    return known;
}

/* Checks the definition and, if there is an instance, its lists of values. */
static int check_verb(const struct cli_args *a, struct cli_space *o, struct diag *d)
{
    bool cost = cli_given(a, CLI_EXPLAIN_COST);
    bool instance = cost || cli_given(a, CLI_DATA) || cli_given(a, CLI_PARAM) || is_self_contained(o->def);
    if (instance && !cli_space_instantiate(a, o, d)) return CLI_USAGE;
    if (cli_given(a, CLI_JSON))
        cli_print_json(json_pack("{s:s,s:i,s:i,s:o*,s:o*}", "space", o->def->name, "choices",
                                 (int)o->def->n_choices, "constraints", (int)o->def->n_constraints, "slower",
                                 cost ? space_cost_json(o->space) : NULL, "counting_slower",
                                 cost ? space_cost_count_json(o->space) : NULL));
    else
        printf("%s: ok, space %s: %d choice%s, %d constraint%s\n", a->positional[1], o->def->name,
               (int)o->def->n_choices, o->def->n_choices == 1 ? "" : "s", (int)o->def->n_constraints,
               o->def->n_constraints == 1 ? "" : "s");
    if (cost && !cli_given(a, CLI_JSON)) space_cost_print(o->space);
    return CLI_OK;
}

#define INSTANCE CLI_TAKES(DATA), CLI_TAKES(PARAM), CLI_TAKES(JSON)
#define LISTING INSTANCE, CLI_TAKES(PIN), CLI_TAKES(ORDER)

static const struct {
    const char *name;
    int (*run)(const struct cli_args *a, struct cli_space *o, struct diag *d);
    struct cli_set takes; /* as in struct cli_command */
} verbs[] = {{"check", check_verb, {INSTANCE, CLI_TAKES(EXPLAIN_COST)}},
             {"compile", space_compile_verb, {CLI_TAKES(OUT), CLI_TAKES(JSON)}},
             {"describe", space_describe_verb, {CLI_TAKES(JSON)}},
             {"count", space_count_verb, {INSTANCE, CLI_TAKES(PIN), CLI_TAKES(LIMIT)}},
             {"enumerate", space_enumerate_verb, {LISTING, CLI_TAKES(LIMIT)}},
             {"sample", space_sample_verb, {LISTING, CLI_TAKES(SAMPLES), CLI_TAKES(SEED)}},
             {"descend", space_descend_verb, {LISTING, CLI_TAKES(SAMPLES), CLI_TAKES(SEED)}}};

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
        if (cli_refuse_of_verb(&cli_space, a, verbs[verb].takes, d) &&
            cli_space_load(a->positional[1], &o, d))
            status = verbs[verb].run(a, &o, d);
    }
    status = cli_finish(d, status);
    cli_space_close(&o);
    return status;
}

const struct cli_command cli_space = {
    .name = "space",
    .positional = "check|compile|describe|count|enumerate|sample|descend FILE.space|FILE.so",
    .least = 2,
    .most = 2,
    .takes = {CLI_TAKES(DATA), CLI_TAKES(PARAM), CLI_TAKES(PIN), CLI_TAKES(LIMIT), CLI_TAKES(SAMPLES),
              CLI_TAKES(SEED), CLI_TAKES(ORDER), CLI_TAKES(OUT), CLI_TAKES(EXPLAIN_COST), CLI_TAKES(JSON)},
    .notes =
        {{CLI_OUT, "FILE.so", "compile: the shared object to write"},
         {CLI_LIMIT, "N",
          "count: stop after N nodes of the tree; enumerate: stop after N solutions (default: no limit)"},
         {CLI_SAMPLES, "N",
          "sample: number of solutions (default 10); descend: number of descents (default 1000)"}},
    .help =
        "Checks, compiles, describes, counts, lists or samples a space.\n"
        "'check' reports errors of the file; with --explain-cost it lists the constraints of the instance "
        "that are slow to propagate, why, and what to change, and says which way of counting is used. "
        "'compile' writes a shared object that can be "
        "used "
        "in place of the .space file. 'describe' prints a reference page of the space. 'count' counts all "
        "solutions, "
        "'enumerate' lists them. 'sample' draws solutions at random; they are uniformly distributed if the "
        "space can be "
        "counted quickly, otherwise a note says how uneven they are. 'descend' measures the speed of random "
        "descents and estimates the number of solutions.\n"
        "--data lists the objects of the space. Without it each set with the property `index` has as many "
        "objects "
        "as the value of the first parameter.\v"
        "Example: thresh space count queens.space --param n=6\n"
        "         thresh space sample tiles.space --samples 3 --pin block_x=8",
    .run = run,
};
