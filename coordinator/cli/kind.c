/* The kinds of input: their names, endings, and the commands that take them. */
#include "coordinator/cli/kind.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/diag.h"

enum { MOST_ENDINGS = 2 };

static const struct {
    const char *name, *wanted; /* "'x' is NAME, not WANTED" */
    const char *next;          /* the commands that take it; "$" stands for the path */
    const char *endings[MOST_ENDINGS];
} kinds[] = {
    [CLI_KIND_PROGRAM] = {"a Lift program",
                          "a Lift program",
                          "'thresh tune', 'thresh choices' and 'thresh estimate' take programs",
                          {".lift"}},
    [CLI_KIND_SPACE] =
        {"a space",
         "a space",
         "'thresh space' and 'thresh estimate' take spaces, 'thresh tune' and 'thresh choices' "
         "as --space $",
         {".space", ".so"}},
    [CLI_KIND_STORE] = {"a store",
                        "a result (best.json or a store)",
                        "'thresh store', 'thresh explain', 'thresh replay' and 'thresh audit' take stores",
                        {".db"}},
    [CLI_KIND_JSON] = {"a JSON file",
                       "a result (best.json or a store)",
                       "'thresh explain' and 'thresh replay' take a best.json",
                       {".json"}},
};

bool cli_ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    return n >= m && strcmp(path + n - m, end) == 0;
}

static bool is_database(const char *path)
{
    static const char magic[16] = "SQLite format 3";
    char head[sizeof magic] = "";
    FILE *in = fopen(path, "rb");
    size_t n = in ? fread(head, 1, sizeof head, in) : 0;
    if (in) fclose(in);
    return n == sizeof head && memcmp(head, magic, n) == 0;
}

enum cli_kind cli_kind_of(const char *path)
{
    if (access(path, F_OK)) return CLI_KIND_OTHER;
    if (is_database(path)) return CLI_KIND_STORE;
    for (int k = 0; k < CLI_KIND_OTHER; k++)
        for (int i = 0; i < MOST_ENDINGS && kinds[k].endings[i]; i++)
            if (cli_ends_with(path, kinds[k].endings[i])) return (enum cli_kind)k;
    return CLI_KIND_OTHER;
}

static bool holds_results(enum cli_kind kind)
{
    return kind == CLI_KIND_STORE || kind == CLI_KIND_JSON;
}

bool cli_expect_kind(const char *path, enum cli_kind wanted, struct diag *d)
{
    enum cli_kind kind = cli_kind_of(path);
    if (kind == wanted || kind == CLI_KIND_OTHER || (holds_results(kind) && holds_results(wanted)))
        return true;
    const char *next = kinds[kind].next;
    int n = (int)strcspn(next, "$");
    diag_plain(d, "'%s' is %s, not %s; %.*s%s", path, kinds[kind].name, kinds[wanted].wanted, n, next,
               next[n] ? path : "");
    return false;
}
