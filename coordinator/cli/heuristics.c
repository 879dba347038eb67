/* thresh heuristics: the search heuristics and their parameters, of those built in or of a user's plug-in. */
#include <stdio.h>
#include <string.h>

#include "coordinator/cli/cli.h"
#include "mcts/heuristic.h"

enum { VALUE_BYTES = 64 };

/* The default: a number, or one of the words. */
static void default_text(const struct mcts_parameter *p, char out[VALUE_BYTES])
{
    const char *word = p->words;
    if (!word) {
        snprintf(out, VALUE_BYTES, "%g", p->value);
        return;
    }
    for (unsigned i = 0; i < (unsigned)p->value && strchr(word, '|'); i++)
        word = strchr(word, '|') + 1;
    snprintf(out, VALUE_BYTES, "%.*s", (int)strcspn(word, "|"), word);
}

static void range_text(const struct mcts_parameter *p, char out[VALUE_BYTES])
{
    if (p->words)
        snprintf(out, VALUE_BYTES, "%s", p->words);
    else
        snprintf(out, VALUE_BYTES, "%g to %g", p->least, p->most);
}

static void print_plugin(const struct mcts_plugin *plugin)
{
    puts(plugin->name);
    for (uint32_t i = 0; i < plugin->n_parameters; i++) {
        const struct mcts_parameter *p = &plugin->parameters[i];
        char value[VALUE_BYTES], range[VALUE_BYTES];
        default_text(p, value);
        range_text(p, range);
        printf("  %-12s %-8s %-16s %s\n", p->key, value, range, p->help ? p->help : "");
    }
}

static json_t *plugin_json(const struct mcts_plugin *plugin)
{
    json_t *parameters = json_array();
    for (uint32_t i = 0; i < plugin->n_parameters; i++) {
        const struct mcts_parameter *p = &plugin->parameters[i];
        char value[VALUE_BYTES], range[VALUE_BYTES];
        default_text(p, value);
        range_text(p, range);
        json_array_append_new(parameters, json_pack("{s:s,s:s,s:s,s:s}", "key", p->key, "default", value,
                                                    "range", range, "help", p->help ? p->help : ""));
    }
    return json_pack("{s:s,s:o}", "name", plugin->name, "parameters", parameters);
}

/* Prints the plug-in, or adds it to the list. */
static void tell(const struct mcts_plugin *plugin, json_t *list)
{
    if (list)
        json_array_append_new(list, plugin_json(plugin));
    else
        print_plugin(plugin);
}

static void tell_one(const char *spec, json_t *list, struct diag *d)
{
    struct mcts_heuristic *h = mcts_heuristic_try(spec, d) ? mcts_heuristic_load(spec, d) : NULL;
    if (h) tell(mcts_heuristic_plugin(h), list);
    mcts_heuristic_free(h);
}

static int run(const struct cli_args *a)
{
    struct diag *d = diag_new();
    json_t *list = cli_given(a, CLI_JSON) ? json_array() : NULL;
    if (a->n_positional)
        tell_one(a->positional[0], list, d);
    else
        for (size_t i = 0; mcts_builtin(i); i++)
            tell(mcts_builtin(i), list);
    if (list && !diag_failed(d))
        cli_print_json(json_pack("{s:o}", "heuristics", list));
    else
        json_decref(list);
    return cli_finish(d, CLI_OK);
}

const struct cli_command cli_heuristics = {
    .name = "heuristics",
    .positional = "[NAME|FILE.so]",
    .least = 0,
    .most = 1,
    .takes = CLI_TAKES(JSON),
    .help =
        "Lists the search heuristics with their parameters: default, range and meaning. With an argument it "
        "describes one; a plug-in is loaded first, in a process of its own.\v"
        "Example: thresh heuristics ./mine.so",
    .run = run,
};
