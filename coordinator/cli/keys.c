/* thresh keys: makes and lists the keys of a coordinator and its agents. Secrets are written to files; they
 * are never printed and never taken from the command line.
 *
 *     $ thresh keys new keys --agent node1,node2
 *     $ thresh keys list keys
 *     server  6.Yk!...  2026-01-31T12:00:00Z
 *     node1   Yne@$...  2026-01-31T12:00:00Z  admitted */
#include "core/keys/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/cli.h"
#include "coordinator/cli/table.h"
#include "core/base/arena.h"
#include "core/base/shell.h"
#include "core/base/strbuf.h"

enum { MOST_NAMES = 1024 /* in one call */ };

/* Splits NAME,NAME; copies are of the arena. */
static size_t split_names(struct arena *a, const char *text, const char *names[MOST_NAMES])
{
    size_t n = 0;
    for (const char *at = text; n < MOST_NAMES; at++) {
        size_t length = strcspn(at, ",");
        names[n++] = arena_strndup(a, at, length);
        at += length;
        if (!*at) break;
    }
    return n;
}

/* What goes where. */
static void print_made(const char *folder, const char *const *names, size_t n)
{
    struct strbuf word = {0};
    shell_add_word(&word, folder);
    for (size_t i = 0; i < n; i++)
        printf("%s/agents/%s.key_secret\n", folder, names[i]);
    printf("Copy each of these files to the machine of its agent, by a way that nobody else can read (scp).\n"
           "  coordinator: thresh tune ... --listen tcp://0.0.0.0:7000 --keys %s\n"
           "  agent:       thresh agent --connect tcp://HOST:7000 --key %s.key_secret\n",
           word.text, names[0]);
    strbuf_free(&word);
}

static int make(const struct cli_args *a)
{
    struct diag *d = diag_new();
    struct arena *arena = arena_new();
    const char *names[MOST_NAMES], *folder = a->positional[1];
    size_t n = split_names(arena, cli_given(a, CLI_AGENT) ? a->value[CLI_AGENT] : "agent", names);
    if (keys_new(folder, names, n, d)) print_made(folder, names, n);
    arena_free(arena);
    return cli_finish(d, CLI_OK);
}

/* ---- list ---- */

static json_t *text_json(const char *text)
{
    return text && text[0] ? json_string(text) : json_null();
}

static json_t *entry_json(const struct keys_entry *e)
{
    return json_pack("{s:s,s:o,s:o,s:b,s:b,s:o}", "name", e->name, "public_key", text_json(e->key), "made",
                     text_json(e->when), "admitted", (int)e->admitted, "secret_here", (int)e->secret,
                     "problem", text_json(e->problem));
}

static void print_list_json(const char *folder, const struct keys_list *l)
{
    json_t *agents = json_array();
    for (size_t i = 0; i < l->n_agents; i++)
        json_array_append_new(agents, entry_json(&l->agents[i]));
    json_t *server = entry_json(&l->server);
    json_object_del(server, "admitted");
    cli_print_json(json_pack("{s:s,s:o,s:o}", "folder", folder, "server", server, "agents", agents));
}

static void print_entry(const struct keys_entry *e, int width, const char *state)
{
    printf("%-*s  %-40s  %-20s  %s\n", width, e->name, e->key[0] ? e->key : "-", e->when[0] ? e->when : "-",
           state);
    if (e->problem) printf("%*s  %s\n", width, "", e->problem);
}

static void print_list(const struct keys_list *l)
{
    int width = (int)strlen("server");
    for (size_t i = 0; i < l->n_agents; i++)
        if ((int)strlen(l->agents[i].name) > width) width = (int)strlen(l->agents[i].name);
    printf("%-*s  %-40s  %-20s  %s\n", width, "name", "public key", "made", "");
    print_entry(&l->server, width, "coordinator");
    for (size_t i = 0; i < l->n_agents; i++)
        print_entry(&l->agents[i], width, l->agents[i].admitted ? "admitted" : "not admitted");
}

static int list(const struct cli_args *a)
{
    struct diag *d = diag_new();
    struct keys_list l;
    bool ok = keys_list_read(a->positional[1], &l, d);
    if (ok && cli_given(a, CLI_JSON))
        print_list_json(a->positional[1], &l);
    else if (ok)
        print_list(&l);
    keys_list_clear(&l);
    return cli_finish(d, CLI_OK);
}

static int run(const struct cli_args *a)
{
    struct diag *d = diag_new();
    bool lists = strcmp(a->positional[0], "list") == 0;
    bool ok =
        cli_check_verb(&cli_keys, a->positional[0], d) &&
        cli_refuse_of_verb(&cli_keys, a, lists ? CLI_SET(CLI_TAKES(JSON)) : CLI_SET(CLI_TAKES(AGENT)), d);
    if (ok && a->n_positional < 2) {
        diag_plain(d, "missing argument: thresh keys %s DIR", a->positional[0]);
        ok = false;
    }
    if (!ok) return cli_finish(d, CLI_USAGE);
    diag_free(d);
    return lists ? list(a) : make(a);
}

const struct cli_command cli_keys = {
    .name = "keys",
    .positional = "new|list DIR",
    .least = 1,
    .most = 2,
    .takes = {CLI_TAKES(AGENT), CLI_TAKES(JSON)},
    .help =
        "Makes and lists the keys with which agents connect over TCP. 'new' makes the coordinator's "
        "certificate, unless DIR has one, and one for each agent. Existing files are never overwritten. "
        "'list' "
        "prints names, public keys, when they were made, which agents are admitted, and what is wrong.\n"
        "# The folder\n"
        "DIR/server.key_secret is the coordinator's secret and stays there. DIR/agents/NAME.key_secret is "
        "all "
        "that an agent needs: copy it to the agent's machine ('thresh agent --key FILE'); the copy in DIR "
        "can "
        "then be removed. An agent is admitted as long as its public certificate, DIR/agents/NAME.key, is in "
        "the folder, also while a search runs: remove the file, and it is refused when it connects the next "
        "time. Several agents may share one key.\n"
        "Secrets have mode 0600. A secret that group or others can read is not used.\v"
        "Example: thresh keys new keys --agent node1,node2\n"
        "         thresh keys list keys",
    .run = run,
};
