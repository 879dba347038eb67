/* Verbs of subcommands. They are listed once, in the usage line: cli_lift.positional is "check|print|run
 * KERNEL.lift", so `thresh lift chek k.lift` is "unknown verb 'chek'; did you mean 'check'?". */
#include <stdio.h>
#include <string.h>

#include "coordinator/cli/table.h"
#include "core/base/arena.h"
#include "core/base/strbuf.h"

enum { MOST_VERBS = 16 };

/* The i-th verb of the subcommand, from the first word of cli_command.positional, such as "check|print|run
 * KERNEL.lift". false: there are only i. */
static bool find_verb(const struct cli_command *command, size_t i, struct cli_text *out)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    const char *verb = command->positional, *end = verb + strcspn(verb, " ");
    if (!memchr(verb, '|', (size_t)(end - verb)) || verb + strspn(verb, "|abcdefghijklmnopqrstuvwxyz") < end)
        return false;
    for (; i > 0 && verb < end; i--) {
        verb += strspn(verb, letters);
        verb += *verb == '|';
    }
    *out = (struct cli_text){verb, (int)strspn(verb, letters)};
    return verb < end;
}

/* Fills in the names; returns how many. */
static size_t list_verbs(const struct cli_command *command, struct arena *a, const char *names[MOST_VERBS])
{
    struct cli_text verb;
    size_t n = 0;
    for (; n < MOST_VERBS && find_verb(command, n, &verb); n++)
        names[n] = arena_strndup(a, verb.text, (size_t)verb.length);
    return n;
}

bool cli_check_verb(const struct cli_command *command, const char *name, struct diag *d)
{
    struct arena *a = arena_new();
    const char *names[MOST_VERBS];
    struct strbuf list = {0};
    size_t n = list_verbs(command, a, names), i = 0;
    while (i < n && strcmp(names[i], name) != 0)
        i++;
    for (size_t k = 0; k < n; k++)
        strbuf_printf(&list, "%s%s", k ? ", " : "", names[k]);
    const char *guess = cli_did_you_mean(a, name, names, n);
    if (i == n && *guess)
        diag_plain(d, "unknown verb '%s'%s", name, guess);
    else if (i == n && n > 0)
        diag_plain(d, "unknown verb '%s'; expected one of %s", name, list.text);
    else if (i == n)
        diag_plain(d, "unexpected argument '%s': 'thresh %s' has no verbs", name, command->name);
    strbuf_free(&list);
    arena_free(a);
    return i < n;
}

bool cli_refuse_of_verb(const struct cli_command *command, const struct cli_args *a, struct cli_set takes,
                        struct diag *d)
{
    char message[80];
    snprintf(message, sizeof message, "does not apply to 'thresh %s %.32s'", command->name, a->positional[0]);
    return cli_refuse_others(a, takes, message, d);
}
