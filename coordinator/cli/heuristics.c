/* thresh heuristics: the search heuristics, the rollout policies and their parameters, of those built in or
 * of a user's plug-in. For example
 *
 *     tag
 *       topk         10       1 to 1000        rank of the threshold among the recorded times
 *       rollout      prior+bound+leaders+guess */
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

static void print_parameters(const struct mcts_parameter *parameters, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct mcts_parameter *p = &parameters[i];
        char value[VALUE_BYTES], range[VALUE_BYTES];
        default_text(p, value);
        range_text(p, range);
        printf("  %-12s %-8s %-16s %s\n", p->key, value, range, p->help ? p->help : "");
    }
}

static json_t *parameters_json(const struct mcts_parameter *parameters, uint32_t n)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < n; i++) {
        const struct mcts_parameter *p = &parameters[i];
        char value[VALUE_BYTES], range[VALUE_BYTES];
        default_text(p, value);
        range_text(p, range);
        json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s}", "key", p->key, "default", value, "range",
                                              range, "help", p->help ? p->help : ""));
    }
    return list;
}

/* What is listed: as text, or as JSON if the lists are not NULL. */
struct listing {
    json_t *heuristics, *policies;
};

static void list_heuristic(const struct listing *l, const struct mcts_plugin *plugin)
{
    const char *policies = mcts_default_policies(plugin);
    if (l->heuristics) {
        json_t *parameters = parameters_json(plugin->parameters, plugin->n_parameters);
        json_array_append_new(l->heuristics, json_pack("{s:s,s:o,s:s}", "name", plugin->name, "parameters",
                                                       parameters, "rollout", policies));
        return;
    }
    puts(plugin->name);
    print_parameters(plugin->parameters, plugin->n_parameters);
    printf("  %-12s %s\n", "rollout", policies);
}

static void list_policy(const struct listing *l, const struct mcts_policy *policy)
{
    const char *help = policy->help ? policy->help : "";
    if (l->policies) {
        json_t *parameters = parameters_json(policy->parameters, policy->n_parameters);
        json_array_append_new(l->policies, json_pack("{s:s,s:s,s:o}", "name", policy->name, "help", help,
                                                     "parameters", parameters));
        return;
    }
    printf("%-14s %s\n", policy->name, help);
    print_parameters(policy->parameters, policy->n_parameters);
}

static void list_all(const struct listing *l)
{
    for (size_t i = 0; mcts_builtin(i); i++)
        list_heuristic(l, mcts_builtin(i));
    if (!l->policies)
        puts("\nRollout policies, joined by '+' in rollout=, for example tag:rollout=leaders+guess");
    for (size_t i = 0; mcts_policy_builtin(i); i++)
        list_policy(l, mcts_policy_builtin(i));
}

static const struct mcts_policy *find_policy(const char *name)
{
    const struct mcts_policy *policy;
    for (size_t i = 0; (policy = mcts_policy_builtin(i)); i++)
        if (strcmp(policy->name, name) == 0) return policy;
    return NULL;
}

static bool is_builtin_heuristic(const char *name)
{
    for (size_t i = 0; mcts_builtin(i); i++)
        if (strcmp(mcts_builtin(i)->name, name) == 0) return true;
    return false;
}

/* A heuristic, with the policy that a plug-in brings; or a policy; `bound` is the name of both. */
static void list_one(const struct listing *l, const char *name, struct diag *d)
{
    const struct mcts_policy *policy = find_policy(name);
    if (!policy || is_builtin_heuristic(name)) {
        struct mcts_heuristic *h = mcts_heuristic_try(name, d) ? mcts_heuristic_load(name, d) : NULL;
        if (!h) return;
        list_heuristic(l, mcts_heuristic_plugin(h));
        if (mcts_heuristic_plugin(h)->own) list_policy(l, mcts_heuristic_plugin(h)->own);
        mcts_heuristic_free(h);
    }
    if (policy) list_policy(l, policy);
}

static int run(const struct cli_args *a)
{
    struct diag *d = diag_new();
    struct listing l = {0};
    if (cli_given(a, CLI_JSON)) l = (struct listing){json_array(), json_array()};
    if (a->n_positional)
        list_one(&l, a->positional[0], d);
    else
        list_all(&l);
    if (l.heuristics && !diag_failed(d)) {
        cli_print_json(json_pack("{s:o,s:o}", "heuristics", l.heuristics, "policies", l.policies));
    } else {
        json_decref(l.heuristics);
        json_decref(l.policies);
    }
    return cli_finish(d, CLI_OK);
}

const struct cli_command cli_heuristics = {
    .name = "heuristics",
    .positional = "[NAME|FILE.so]",
    .least = 0,
    .most = 1,
    .takes = {CLI_TAKES(JSON)},
    .help = "Lists the search heuristics and the rollout policies with their parameters: default, range and "
            "meaning. "
            "A heuristic can use any of the policies: --heuristic tag:rollout=leaders+guess,draws=4. With an "
            "argument it describes one heuristic. A plug-in is first loaded in a separate process.\v"
            "Example: thresh heuristics ./mine.so",
    .run = run,
};
