/* thresh lift run: the interpreter on a program's inputs:
 *
 *     --input x=x.npy         the elements of a NumPy file
 *     --input y=random:7      random numbers of seed 7; an input without an option has seed 1
 *     --output z.npy          the result as a NumPy file, in the type of the output */
#include "coordinator/cli/lift_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/given.h"
#include "agent/verify.h"
#include "core/base/arena.h"
#include "core/base/npy.h"
#include "core/base/pcg32.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"
#include "coordinator/cli/data.h"

enum { SHOWN = 16 };
static const int64_t most_scalars = INT64_C(1) << 26;

/* ---- options ---- */

/* The option of an input; NULL: it has none. */
static const char *option_of(const struct cli_args *a, const char *name)
{
    size_t n = strlen(name);
    for (unsigned i = 0; i < a->inputs.n; i++)
        if (strncmp(a->inputs.items[i], name, n) == 0 && a->inputs.items[i][n] == '=')
            return a->inputs.items[i];
    return NULL;
}

/* `name`: bytes of the name in the text; -1: it has none. */
static void refuse_input(const char *text, int name, const struct lift_program *p, struct diag *d)
{
    struct strbuf inputs = {0};
    for (unsigned i = 0; i < p->n_arrays; i++)
        if (p->arrays[i].input != LIFT_NONE)
            strbuf_printf(&inputs, "%s%s", inputs.length ? ", " : "", p->arrays[i].name);
    if (name < 0)
        diag_plain(d, "--input: '%s' is not NAME=FILE.npy or NAME=random:SEED", text);
    else
        diag_plain(d, "--input: the program has no input '%.*s'; its inputs are %s", name, text,
                   inputs.text ? inputs.text : "none");
    strbuf_free(&inputs);
}

/* Whether n bytes of a text are the name of an input's array. */
static bool names_input(const struct lift_program *p, const char *text, size_t n)
{
    for (unsigned i = 0; i < p->n_arrays; i++) {
        const char *name = p->arrays[i].name;
        if (p->arrays[i].input != LIFT_NONE && strlen(name) == n && !memcmp(name, text, n)) return true;
    }
    return false;
}

/* Every --input must name an input of the program. */
static bool check_inputs(const struct cli_args *a, const struct lift_program *p, struct diag *d)
{
    for (unsigned k = 0; k < a->inputs.n; k++) {
        const char *text = a->inputs.items[k];
        size_t n = strcspn(text, "=");
        if (names_input(p, text, n) && text[n] == '=' && text[n + 1]) continue;
        refuse_input(text, text[n] && text[n + 1] ? (int)n : -1, p, d);
        return false;
    }
    return true;
}

/* The files among the options. */
static bool read_files(const struct cli_args *a, struct arena *arena, struct given_files *out, struct diag *d)
{
    struct cli_args files = {0};
    for (unsigned i = 0; i < a->inputs.n; i++)
        if (!cli_random_input(a->inputs.items[i])) files.inputs.items[files.inputs.n++] = a->inputs.items[i];
    return cli_read_data(&files, arena, out, d);
}

/* The seed of an input that is random. */
static bool read_seed(const struct cli_args *a, const char *name, uint64_t *seed, struct diag *d)
{
    const char *option = option_of(a, name), *text = option ? cli_random_input(option) : NULL;
    char *end;
    *seed = 1;
    if (!text) return true;
    *seed = strtoull(text, &end, 10);
    if (end != text && !*end) return true;
    diag_plain(d, "--input: '%s' is not NAME=random:SEED, such as %s=random:1", option, name);
    return false;
}

/* ---- inputs ---- */

/* A value of the type in the range that the program states; else a whole number from -8 to 8, a truth value,
 * or a number in [-1, 1). */
static double random_scalar(enum scalar_type type, const struct lift_range *range, struct pcg32 *rng)
{
    if (range->given) return lift_range_draw(range, type, pcg32_unit(rng));
    if (type == SCALAR_INT) return (double)pcg32_below(rng, 17) - 8;
    if (type == SCALAR_BOOL) return (double)pcg32_below(rng, 2);
    return 2.0 * pcg32_unit(rng) - 1.0;
}

/* Array i of an input as doubles: of its file, else random. */
static double *make_input(const struct cli_args *a, const struct lift_program *p, unsigned i,
                          const struct given *data, struct arena *arena, struct diag *d)
{
    const struct lift_array *array = &p->arrays[i];
    const struct lift_range *range = &p->inputs[array->input]->range;
    const void *given = given_input(data, i);
    int64_t n = lift_type_scalars(array->type);
    uint64_t seed;
    if (n > most_scalars)
        diag_plain(d, "input %s is too large to interpret; choose smaller sizes", array->name);
    if (n > most_scalars || !read_seed(a, array->name, &seed, d)) return NULL;
    enum scalar_type type = SCALAR_FLOAT;
    lift_type_bottom(array->type, &type);
    struct pcg32 rng = pcg32_seed(seed, i);
    double *out = ARENA_ARRAY(arena, double, n);
    for (int64_t k = 0; k < n; k++)
        out[k] = given ? verify_get(type, given, k) : random_scalar(type, range, &rng);
    return out;
}

/* All of them; NULL after an error. */
static const double **make_inputs(const struct cli_args *a, const struct lift_program *p,
                                  const struct given *data, struct arena *arena, struct diag *d)
{
    const double **arrays = ARENA_ARRAY(arena, const double *, p->n_arrays);
    for (unsigned i = 0; i < p->n_arrays; i++)
        if (p->arrays[i].input != LIFT_NONE && !(arrays[i] = make_input(a, p, i, data, arena, d)))
            return NULL;
    return arrays;
}

/* ---- the result ---- */

/* --output of an array of the program. */
struct output_file {
    unsigned array;
    struct given_file file;
};

static json_t *output_json(const double *out, int64_t n)
{
    json_t *array = json_array();
    for (int64_t i = 0; i < n; i++)
        json_array_append_new(array, cli_real_json(out[i]));
    return array;
}

static unsigned count_outputs(const struct lift_program *p)
{
    unsigned n = 0;
    for (unsigned i = 0; i < p->n_arrays; i++)
        n += p->arrays[i].output != LIFT_NONE;
    return n;
}

/* One output array as `output`, several by their names as `outputs`. */
static void print_json(const struct lift_program *p, double *const *outputs)
{
    json_t *all = json_object(), *last = NULL;
    for (unsigned i = 0; i < p->n_arrays; i++) {
        if (!outputs[i]) continue;
        last = output_json(outputs[i], lift_type_scalars(p->arrays[i].type));
        json_object_set_new(all, p->arrays[i].name, last);
    }
    bool several = count_outputs(p) > 1;
    cli_print_json(several ? json_pack("{s:O}", "outputs", all) : json_pack("{s:O}", "output", last));
    json_decref(all);
}

static void print_text(const struct lift_program *p, double *const *outputs)
{
    for (unsigned k = 0; k < p->n_arrays; k++) {
        int64_t n = lift_type_scalars(p->arrays[k].type);
        if (!outputs[k]) continue;
        if (count_outputs(p) > 1) printf("%s\n", p->arrays[k].name);
        for (int64_t i = 0; i < n && i < SHOWN; i++)
            printf("%.9g\n", outputs[k][i]);
        if (n > SHOWN)
            printf("... %" PRId64 " more; --json prints all, --output FILE.npy writes them\n", n - SHOWN);
    }
}

/* The header of a file with an array of the type; false: it has too many extents. */
static bool describe(const struct lift_type *t, enum scalar_type *type, struct npy_header *h)
{
    static const enum npy_kind kinds[] = {[SCALAR_FLOAT] = NPY_FLOAT,
                                          [SCALAR_DOUBLE] = NPY_FLOAT,
                                          [SCALAR_HALF] = NPY_FLOAT,
                                          [SCALAR_INT] = NPY_INT,
                                          [SCALAR_BOOL] = NPY_BOOL};
    if (!lift_type_bottom(t, type)) return false;
    h->kind = kinds[*type];
    h->bytes = *type == SCALAR_BOOL ? 1 : (unsigned)scalar_type_bytes(*type);
    for (; t->kind == LIFT_ARRAY; t = t->element) {
        if (h->n_extents == NPY_MOST_EXTENTS) return false;
        h->extents[h->n_extents++] = t->extent;
    }
    return true;
}

static void write_output(const char *path, const struct lift_type *t, const double *out, struct arena *arena,
                         struct diag *d)
{
    enum scalar_type type;
    struct npy_header h = {0};
    if (!describe(t, &type, &h)) {
        diag_plain(d, "--output: an output of this type cannot be written as a NumPy file");
        return;
    }
    int64_t n = lift_type_scalars(t);
    unsigned char *elements = ARENA_ARRAY(arena, unsigned char, (size_t)n *h.bytes);
    for (int64_t i = 0; i < n; i++) {
        if (type == SCALAR_BOOL)
            elements[i] = out[i] != 0;
        else
            verify_put(type, elements, i, out[i]);
    }
    npy_write(path, &h, elements, d);
}

/* The output array with this name, or the only one; p->n_arrays after an error. */
static unsigned find_output(const struct lift_program *p, const char *name, struct diag *d)
{
    struct strbuf known = {0};
    unsigned found = p->n_arrays;
    for (unsigned i = 0; i < p->n_arrays; i++) {
        if (p->arrays[i].output == LIFT_NONE) continue;
        if (name ? strcmp(p->arrays[i].name, name) == 0 : count_outputs(p) == 1) found = i;
        strbuf_printf(&known, "%s%s", known.length ? ", " : "", p->arrays[i].name);
    }
    if (found == p->n_arrays && name)
        diag_plain(d, "--output: the program has no output '%s'; its outputs are %s", name, known.text);
    else if (found == p->n_arrays)
        diag_plain(
            d, "--output: the program has several output arrays: add the name, NAME=FILE.npy; they are %s",
            known.text);
    strbuf_free(&known);
    return found;
}

/* Finds the arrays of all --output before anything is computed. false after an error. */
static bool read_outputs(const struct cli_args *a, const struct lift_program *p, struct arena *arena,
                         struct output_file *out, struct diag *d)
{
    for (unsigned i = 0; i < a->outputs.n; i++) {
        if (!cli_named_file("--output", a->outputs.items[i], arena, &out[i].file, d)) return false;
        out[i].array = find_output(p, out[i].file.name, d);
        if (out[i].array == p->n_arrays) return false;
    }
    return true;
}

static void interpret(const struct cli_args *a, const struct lift_program *p, const struct given *data,
                      const struct output_file *files, struct arena *arena, struct diag *d)
{
    const double **arrays = make_inputs(a, p, data, arena, d);
    double **outputs = ARENA_ARRAY(arena, double *, p->n_arrays);
    for (unsigned i = 0; arrays && i < p->n_arrays; i++) {
        int64_t n = lift_type_scalars(p->arrays[i].type);
        if (p->arrays[i].output == LIFT_NONE) continue;
        if (n > most_scalars) {
            diag_plain(d, "the output is too large to interpret; choose smaller sizes");
            return;
        }
        outputs[i] = ARENA_ARRAY(arena, double, n);
        lift_interpret(p, arrays, i, outputs[i]);
    }
    if (!arrays) return;
    for (unsigned i = 0; i < a->outputs.n; i++)
        write_output(files[i].file.path, p->arrays[files[i].array].type, outputs[files[i].array], arena, d);
    if (a->outputs.n == 0 && cli_given(a, CLI_JSON)) print_json(p, outputs);
    if (a->outputs.n == 0 && !cli_given(a, CLI_JSON)) print_text(p, outputs);
}

void cli_lift_run(const struct cli_args *a, const struct lift_program *p, struct arena *arena, struct diag *d)
{
    struct given_files files;
    struct output_file *outputs = ARENA_ARRAY(arena, struct output_file, a->outputs.n + 1);
    if (!check_inputs(a, p, d) || !read_files(a, arena, &files, d) || !read_outputs(a, p, arena, outputs, d))
        return;
    struct given *data = given_load(&files, p, d);
    if (data) interpret(a, p, data, outputs, arena, d);
    given_free(data);
}
