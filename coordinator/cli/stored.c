/* Loads best.json or a row of a store; see stored.h. */
#include "coordinator/cli/stored.h"

#include <stdio.h>
#include <string.h>

#include "coordinator/store.h"

struct loading {
    const struct cli_args *args;
    struct best_file *out;
    struct diag *diag;
    bool ok;
};

/* The store names the device; its limits are asked of the device itself, or of its description. */
static bool load_row(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct loading *l = context;
    struct best_file *out = l->out;
    out->problem = cli_run_problem(l->args, run, &out->device, l->diag);
    if (!out->problem) return false;
    l->ok = store_actions_parse(e->actions, &out->actions, &out->n_actions);
    if (!l->ok) diag_plain(l->diag, "the store's actions are malformed");
    out->median_ns = e->median_ns;
    out->kernel_hash = e->kernel_hash;
    return false;
}

/* The evaluation that --number names, else the best one. */
static bool find_row(struct loading *l, struct store *s, bool *found)
{
    uint64_t number;
    if (!cli_given(l->args, CLI_NUMBER)) return store_best(s, load_row, l, found, l->diag);
    return cli_count(l->args, CLI_NUMBER, 0, &number, l->diag) &&
           store_number(s, number, load_row, l, found, l->diag);
}

static bool load_store(const struct cli_args *a, struct best_file *out, struct diag *d)
{
    struct loading l = {a, out, d, false};
    struct store *s = store_open(a->positional[0], false, d);
    bool found = false, read = s && find_row(&l, s, &found);
    store_close(s);
    if (read && !found)
        diag_plain(d, "%s: the store has no %s", a->positional[0],
                   cli_given(a, CLI_NUMBER) ? "evaluation of that number" : "valid implementation");
    return l.ok;
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

bool cli_stored_load(const struct cli_args *a, struct best_file *out, struct diag *d)
{
    static const enum cli_key best[] = {CLI_BEST};
    *out = (struct best_file){0};
    if (cli_given(a, CLI_NUMBER) && !cli_refuse(a, best, 1, "says nothing with --number", d)) return false;
    if (cli_given(a, CLI_BEST) || cli_given(a, CLI_NUMBER)) return load_store(a, out, d);
    if (!is_database(a->positional[0])) return best_read(a->positional[0], out, d);
    diag_plain(d, "%s is a store: --best or --number N says which implementation", a->positional[0]);
    return false;
}

void cli_stored_note_text(const struct best_file *b, uint64_t hash)
{
    if (b->kernel_hash != hash)
        fputs("note: what was measured was another OpenCL text, made by another version of thresh\n", stderr);
}
