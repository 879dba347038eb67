/* Loads a best.json, or a row of a store with its problem, device and contenders; see stored.h. */
#include "coordinator/cli/stored.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "coordinator/cli/kind.h"
#include "coordinator/store.h"
#include "coordinator/stored_row.h"

struct loading {
    const struct cli_args *args;
    struct best_file *out;
    struct diag *diag;
    struct store *store;
    bool ok;
};

/* A store has only the name of the device; its limits come from the device itself or from its description. */
static bool load_row(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct loading *l = context;
    l->out->problem = cli_run_problem(l->args, run, &l->out->device, l->diag);
    l->ok = l->out->problem && stored_row_take(l->store, run, e, l->out, l->diag);
    return false;
}

/* Reads --number: 1, 2, ... are drawn implementations, 0 is the naive one, -1, -2, ... the plain ones,
 * -101, -102, ... the learned ones. */
static bool read_number(const struct loading *l, int64_t *out)
{
    const char *text = l->args->value[CLI_NUMBER];
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    bool digits = text[*text == '-'] >= '0' && text[*text == '-'] <= '9';
    if (digits && !*end && !errno) return true;
    diag_plain(l->diag, "--number: '%s' is not a whole number", text);
    return false;
}

/* Loads the evaluation that --number names, else the best one. */
static bool find_row(struct loading *l, bool *found)
{
    int64_t number;
    if (!cli_given(l->args, CLI_NUMBER)) return store_best(l->store, load_row, l, found, l->diag);
    return read_number(l, &number) && store_number(l->store, number, load_row, l, found, l->diag);
}

static bool load_store(const struct cli_args *a, struct best_file *out, struct diag *d)
{
    struct loading l = {a, out, d, store_open_to_read(a->positional[0], d), false};
    bool found = false, read = l.store && find_row(&l, &found);
    store_close(l.store);
    if (read && !found)
        diag_plain(d, "%s: the store has no %s", a->positional[0],
                   cli_given(a, CLI_NUMBER) ? "implementation with that number" : "valid implementation");
    return l.ok;
}

bool cli_stored_load(const struct cli_args *a, struct best_file *out, struct diag *d)
{
    static const enum cli_key best[] = {CLI_BEST};
    *out = (struct best_file){0};
    if (cli_given(a, CLI_NUMBER) && !cli_refuse(a, best, 1, "does not apply with --number", d)) return false;
    if (!cli_expect_kind(a->positional[0], CLI_KIND_JSON, d)) return false;
    if (cli_given(a, CLI_BEST) || cli_given(a, CLI_NUMBER)) return load_store(a, out, d);
    if (cli_kind_of(a->positional[0]) != CLI_KIND_STORE) return best_read(a->positional[0], out, d);
    diag_plain(d, "%s is a store; select an implementation with --best or --number N", a->positional[0]);
    return false;
}

json_t *cli_stored_sequence(const struct cli_args *a)
{
    struct diag *ignored = diag_new();
    bool store =
        cli_given(a, CLI_BEST) || cli_given(a, CLI_NUMBER) || cli_kind_of(a->positional[0]) == CLI_KIND_STORE;
    json_t *o = store ? NULL : best_load(a->positional[0], ignored);
    diag_free(ignored);
    if (o && best_is_sequence(o)) return o;
    json_decref(o);
    return NULL;
}

void cli_stored_note_text(const struct best_file *b, uint64_t hash)
{
    if (b->kernel_hash != hash)
        fputs(
            "note: the measured OpenCL text differs from this one: another version of thresh generated it\n",
            stderr);
}
