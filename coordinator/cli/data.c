/* Reading --input, --output-reference and --tolerance. */
#include "coordinator/cli/data.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"

const char *cli_random_input(const char *text)
{
    static const char random[] = "=random:";
    const char *equals = strchr(text, '=');
    bool is_random = equals && strncmp(equals, random, strlen(random)) == 0;
    return is_random ? equals + strlen(random) : NULL;
}

static bool add_input(const char *text, struct arena *arena, struct given_files *out, struct diag *d)
{
    const char *equals = strchr(text, '=');
    if (out->n_inputs == GIVEN_MOST_INPUTS) {
        diag_plain(d, "--input: over %d inputs", GIVEN_MOST_INPUTS);
    } else if (!equals || equals == text || !equals[1]) {
        diag_plain(d, "--input: '%s' is not NAME=FILE.npy, such as x=x.npy", text);
    } else {
        const char *name = arena_strndup(arena, text, (size_t)(equals - text));
        out->inputs[out->n_inputs++] = (struct given_file){name, equals + 1};
        return true;
    }
    return false;
}

/* Length of the name before '='; 0: there is none, as in "./a=b.npy". */
static size_t name_length(const char *text)
{
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_')
        n++;
    return text[n] == '=' ? n : 0;
}

bool cli_named_file(const char *option, const char *text, struct arena *arena, struct given_file *out,
                    struct diag *d)
{
    size_t n = name_length(text);
    *out = (struct given_file){n ? arena_strndup(arena, text, n) : NULL, text + n + (n > 0)};
    if (*out->path) return true;
    diag_plain(d, "%s: '%s' names no file; write FILE.npy or NAME=FILE.npy", option, text);
    return false;
}

static bool read_references(const struct cli_args *a, struct arena *arena, struct given_files *out,
                            struct diag *d)
{
    bool ok = true;
    for (unsigned i = 0; ok && i < a->references.n; i++) {
        if (out->n_references == GIVEN_MOST_OUTPUTS) {
            diag_plain(d, "--output-reference: over %d outputs", GIVEN_MOST_OUTPUTS);
            return false;
        }
        ok = cli_named_file("--output-reference", a->references.items[i], arena,
                            &out->references[out->n_references++], d);
    }
    return ok;
}

/* 0 is allowed: outputs must be equal. */
static bool read_tolerance(const struct cli_args *a, struct given_files *out, struct diag *d)
{
    const char *text = a->value[CLI_TOLERANCE];
    char *end;
    out->has_tolerance = text != NULL;
    if (!text) return true;
    out->tolerance = strtod(text, &end);
    if (end != text && !*end && out->tolerance >= 0 && isfinite(out->tolerance)) return true;
    if (end != text && !*end && out->tolerance < 0)
        diag_plain(d, "--tolerance: %s is negative; write a number from 0, such as 1e-4", text);
    else
        diag_plain(d, "--tolerance: '%s' is not a number; write a number from 0, such as 1e-4", text);
    return false;
}

bool cli_read_data(const struct cli_args *a, struct arena *arena, struct given_files *out, struct diag *d)
{
    *out = (struct given_files){0};
    bool ok = read_tolerance(a, out, d);
    ok = read_references(a, arena, out, d) && ok;
    for (unsigned i = 0; i < a->inputs.n; i++) {
        if (cli_random_input(a->inputs.items[i])) {
            diag_plain(d, "--input: '%s': inputs without a file are random; leave it out",
                       a->inputs.items[i]);
            ok = false;
        } else {
            ok = add_input(a->inputs.items[i], arena, out, d) && ok;
        }
    }
    return ok;
}

bool cli_load_data(const struct cli_args *a, const struct lift_program *p, struct given **out, struct diag *d)
{
    struct arena *arena = arena_new();
    struct given_files files;
    bool ok = cli_read_data(a, arena, &files, d);
    *out = ok && given_any(&files) ? given_load(&files, p, d) : NULL;
    ok = ok && (*out || !given_any(&files));
    arena_free(arena);
    return ok;
}
