/* The command line of a subcommand: its options from the one table, parsed with getopt_long.
 *
 *     static const struct cli_command example = {.name = "tune", .takes = {CLI_TAKES(STORE)}, ...};
 *     cli_run("thresh", &example, 3, (char *[]){"tune", "--store", "runs.db", NULL});
 *
 * sets cli_args.value[CLI_STORE] to "runs.db" and calls example.run(). Names may be abbreviated, as usual for
 * GNU options. */
#include "coordinator/cli/cli.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/table.h"
#include "core/base/arena.h"
#include "core/base/similar.h"
#include "core/base/utf8.h"

enum { KEY_BASE = 0x200, SIGNALLED = 128 /* exit status after a signal, at least */ };

/* ---- the table ---- */

struct cli_option cli_option(enum cli_key key)
{
    static const struct cli_option all[CLI_KEY_COUNT] = {
#define X(key, name, argument, help) [CLI_##key] = {name, argument, help, CLI_##key == CLI_OUT ? 'o' : 0},
        CLI_OPTIONS(X)
#undef X
    };
    return all[key];
}

struct cli_option cli_option_of(const struct cli_command *command, enum cli_key key)
{
    struct cli_option option = cli_option(key);
    for (unsigned i = 0; i < CLI_MAX_NOTES; i++) {
        const struct cli_note *note = &command->notes[i];
        if (!note->help || note->key != key) continue;
        option.argument = note->argument;
        option.help = note->help;
    }
    return option;
}

const char *cli_did_you_mean(struct arena *a, const char *name, const char *const *known, size_t n)
{
    const char *similar = similar_find(name, known, n);
    return similar ? arena_printf(a, "; did you mean '%s'?", similar) : "";
}

/* ---- parsing ---- */

struct parsing {
    const struct cli_command *command;
    struct cli_args args;
    struct arena *arena; /* of joined values */
};

/* Prints what is wrong with the command line. Returns false. */
static bool fail(const struct parsing *p, const char *message)
{
    const char *name = p->command->name;
    fprintf(stderr, "thresh %s: %s\nTry 'thresh %s --help' for more information.\n", name, message, name);
    return false;
}

static bool add_to_list(struct parsing *p, struct cli_list *list, const char *value)
{
    if (list->n == CLI_MAX_LIST)
        return fail(p, arena_printf(p->arena, "an option is repeated more than %d times", CLI_MAX_LIST));
    list->items[list->n++] = value;
    return true;
}

static bool take_option(struct parsing *p, int key, const char *value)
{
    struct cli_args *a = &p->args;
    bool joins = (key == CLI_SIZE || key == CLI_PARAM || key == CLI_ALLOW) && a->value[key];
    if (joins) value = arena_printf(p->arena, "%s,%s", a->value[key], value);
    a->value[key] = value ? value : "";
    if (key == CLI_PIN) return add_to_list(p, &a->pins, value);
    if (key == CLI_OUTPUT_REFERENCE) return add_to_list(p, &a->references, value);
    if (key == CLI_OUTPUT) return add_to_list(p, &a->outputs, value);
    if (key == CLI_BASELINE) return add_to_list(p, &a->baselines, value);
    if (key == CLI_LEARN_FROM) return add_to_list(p, &a->learned, value);
    return key != CLI_INPUT || add_to_list(p, &a->inputs, value);
}

static bool take_positional(struct parsing *p, const char *value)
{
    if (p->args.n_positional == p->command->most)
        return fail(p, arena_printf(p->arena, "unexpected argument '%s'", value));
    p->args.positional[p->args.n_positional++] = value;
    return true;
}

/* The option's name as it is written: without dashes and value. */
static const char *name_of(struct arena *a, const char *word)
{
    word += strspn(word, "-");
    return arena_strndup(a, word, strcspn(word, "="));
}

/* An option of other subcommands, an ambiguous abbreviation, or an unknown option. */
static bool refuse_unknown(const struct parsing *p, const char *word)
{
    const char *name = name_of(p->arena, word), *known[CLI_KEY_COUNT + 2] = {"help", "version"};
    unsigned n = 2, begun = 0;
    for (enum cli_key key = 0; key < CLI_KEY_COUNT; key++) {
        const char *option = cli_option(key).name;
        bool taken = cli_takes(p->command, key);
        if (!taken && strcmp(option, name) == 0)
            return fail(p,
                        arena_printf(p->arena, "--%s does not apply to 'thresh %s'", name, p->command->name));
        if (taken) known[n++] = option;
        begun += taken && strncmp(option, name, strlen(name)) == 0;
    }
    if (begun > 1) return fail(p, arena_printf(p->arena, "option '--%s' is ambiguous", name));
    const char *similar = similar_find(name, known, n);
    int length = (int)strcspn(word, "=");
    return fail(p, similar ? arena_printf(p->arena, "unknown option '%.*s'; did you mean '--%s'?", length,
                                          word, similar)
                           : arena_printf(p->arena, "unknown option '%.*s'", length, word));
}

/* Takes what getopt found in the word: a positional argument, an option, or an error. */
static bool take(struct parsing *p, int option, const char *word)
{
    if (option == 1) return take_positional(p, optarg);
    if (option == 'o') option = KEY_BASE + CLI_OUT;
    if (option >= KEY_BASE) return take_option(p, option - KEY_BASE, optarg);
    if (option == ':') return fail(p, arena_printf(p->arena, "option '%s' needs a value", word));
    if (optopt >= KEY_BASE || optopt == 'h' || optopt == 'V')
        return fail(p, arena_printf(p->arena, "option '--%s' takes no value", name_of(p->arena, word)));
    return refuse_unknown(p, word);
}

/* Fills in getopt's table. */
static const char *list_options(const struct cli_command *command, struct option out[CLI_KEY_COUNT + 3])
{
    unsigned n = 0;
    for (enum cli_key key = 0; key < CLI_KEY_COUNT; key++) {
        if (!cli_takes(command, key)) continue;
        struct cli_option option = cli_option_of(command, key);
        int has_argument = option.argument ? required_argument : no_argument;
        out[n++] = (struct option){option.name, has_argument, NULL, KEY_BASE + (int)key};
    }
    out[n++] = (struct option){"help", no_argument, NULL, 'h'};
    out[n++] = (struct option){"version", no_argument, NULL, 'V'};
    return cli_takes(command, CLI_OUT) ? "-:hVo:" : "-:hV";
}

enum outcome { PARSED, REFUSED, ANSWERED /* by help or version */ };

static enum outcome parse(struct parsing *p, int argc, char **argv)
{
    struct option options[CLI_KEY_COUNT + 3] = {0};
    const char *letters = list_options(p->command, options);
    opterr = 0;
    optind = 0;
    for (int option, word = 1; (option = getopt_long(argc, argv, letters, options, NULL)) != -1;
         word = optind) {
        if (option == 'h') cli_print_help(stdout, p->command);
        if (option == 'V') puts(cli_version);
        if (option == 'h' || option == 'V') return ANSWERED;
        if (!take(p, option, argv[word])) return REFUSED;
    }
    for (; optind < argc; optind++)
        if (!take_positional(p, argv[optind])) return REFUSED;
    if (p->args.n_positional >= p->command->least) return PARSED;
    fail(p, arena_printf(p->arena, "missing argument: %s", p->command->positional));
    return REFUSED;
}

/* Arguments are copied to JSON and to stores, which hold UTF-8 only. */
static bool arguments_are_utf8(const char *command, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (utf8_valid(argv[i], strlen(argv[i])) == strlen(argv[i])) continue;
        fprintf(stderr, "thresh %s: argument %d is not UTF-8\n", command, i);
        return false;
    }
    return true;
}

int cli_run(const char *program, const struct cli_command *command, int argc, char **argv)
{
    if (!arguments_are_utf8(command->name, argc, argv)) return CLI_USAGE;
    struct parsing p = {.command = command, .arena = arena_new()};
    enum outcome outcome = parse(&p, argc, argv);
    int status = outcome == REFUSED ? CLI_USAGE : CLI_OK;
    if (outcome == PARSED) status = command->run(&p.args);
    bool resumable = cli_takes(command, CLI_RESUME) && !cli_given(&p.args, CLI_QUIET);
    if (status > SIGNALLED && resumable) cli_print_resume(stderr, &p.args, program, argc, argv);
    arena_free(p.arena);
    return status;
}
