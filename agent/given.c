/* Loading the user's data.
 *
 *     file float64 (4,)     input x: [float]4      each element must be a float: 0.5 is, 0.1 is not
 *     file int64 (4,)       input idx: [int]4      each element must be an int, and in the range of idx
 *
 * The elements of all files are hashed, so that agents and resumed runs notice other content under the same
 * name. given_text.c tells peers of the files. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "agent/given.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/given_state.h"
#include "agent/verify.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/hash.h"
#include "core/base/npy.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"

/* A file that is being read. */
struct loading {
    const struct npy_file *file;
    const struct lift_param *input; /* NULL: it is the expected result */
    const char *name;               /* of the array */
    enum scalar_type type;
    void *elements;
    struct diag *diag;
};

bool given_any(const struct given_files *f)
{
    return f->n_inputs > 0 || f->n_references > 0 || f->has_tolerance;
}

/* ---- names ---- */

static const struct given_file *find_file(const struct given_file *files, unsigned n, const char *name)
{
    for (unsigned i = 0; i < n; i++)
        if (files[i].name && strcmp(files[i].name, name) == 0) return &files[i];
    return NULL;
}

/* Whether the array is one of the inputs, or of the outputs. */
static bool is_of(const struct lift_array *a, bool output)
{
    return (output ? a->output : a->input) != LIFT_NONE;
}

static bool has_array(const struct lift_program *p, bool output, const char *name)
{
    for (unsigned i = 0; i < p->n_arrays; i++)
        if (is_of(&p->arrays[i], output) && strcmp(p->arrays[i].name, name) == 0) return true;
    return false;
}

static unsigned count_arrays(const struct lift_program *p, bool output)
{
    unsigned n = 0;
    for (unsigned i = 0; i < p->n_arrays; i++)
        n += is_of(&p->arrays[i], output);
    return n;
}

/* "x, y"; "none". */
static void list_arrays(const struct lift_program *p, bool output, struct strbuf *out)
{
    unsigned n = 0;
    for (unsigned i = 0; i < p->n_arrays; i++)
        if (is_of(&p->arrays[i], output)) strbuf_printf(out, "%s%s", n++ ? ", " : "", p->arrays[i].name);
    if (n == 0) strbuf_add(out, "none");
}

/* The file of an input's array, or of an output's, whose name may be left out if it is the only one; NULL: it
 * has none. */
static const struct given_file *file_of(const struct given_files *f, const struct lift_program *p,
                                        unsigned array, bool output)
{
    const struct lift_array *a = &p->arrays[array];
    if (!is_of(a, output)) return NULL;
    if (!output) return find_file(f->inputs, f->n_inputs, a->name);
    bool unnamed = f->n_references > 0 && !f->references[0].name;
    return unnamed ? &f->references[0] : find_file(f->references, f->n_references, a->name);
}

static bool check_name(const struct given_file *files, unsigned i, const struct lift_program *p, bool output,
                       struct diag *d)
{
    const char *name = files[i].name, *option = output ? "--output-reference" : "--input",
               *what = output ? "output" : "input";
    struct strbuf known = {0};
    bool single = !name && i == 0 && count_arrays(p, output) == 1;
    bool again = i > 0 && (!files[0].name || (name && find_file(files, i, name)));
    if (single || (name && has_array(p, output, name) && !again)) return true;
    list_arrays(p, output, &known);
    if (!name && count_arrays(p, output) == 1)
        diag_plain(d, "%s: %s '%s' is given twice", option, what, known.text);
    else if (!name)
        diag_plain(d, "%s: the program has several output arrays: add the name, NAME=FILE.npy; they are %s",
                   option, known.text);
    else if (has_array(p, output, name))
        diag_plain(d, "%s: %s '%s' is given twice", option, what, name);
    else
        diag_plain(d, "%s: the program has no %s '%s'; its %ss are %s", option, what, name, what, known.text);
    strbuf_free(&known);
    return false;
}

bool given_check(const struct given_files *f, const struct lift_program *p, struct diag *d)
{
    bool ok = true;
    for (unsigned i = 0; i < f->n_inputs; i++)
        ok = check_name(f->inputs, i, p, false, d) && ok;
    for (unsigned i = 0; i < f->n_references; i++)
        ok = check_name(f->references, i, p, true, d) && ok;
    for (unsigned i = 0; ok && f->n_references > 0 && i < p->n_arrays; i++) {
        if (!is_of(&p->arrays[i], false) || file_of(f, p, i, false)) continue;
        diag_plain(d,
                   "--output-reference needs every input: add --input %s=FILE.npy, the data that the result "
                   "was computed from",
                   p->arrays[i].name);
        return false;
    }
    return ok;
}

/* ---- the shape and type of a file ---- */

static const char *numpy_name(enum scalar_type type)
{
    return type == SCALAR_HALF     ? "float16"
           : type == SCALAR_FLOAT  ? "float32"
           : type == SCALAR_DOUBLE ? "float64"
           : type == SCALAR_INT    ? "int32"
                                   : "bool";
}

/* Whether some numbers of the file's type may be numbers of the other one. */
static bool kind_fits(enum npy_kind kind, enum scalar_type type)
{
    if (kind == NPY_BOOL || type == SCALAR_BOOL) return kind == NPY_BOOL;
    return kind != NPY_FLOAT || type != SCALAR_INT;
}

static bool shape_fits(const struct npy_header *h, const struct lift_type *t)
{
    unsigned n = 0;
    for (; t->kind == LIFT_ARRAY; t = t->element, n++)
        if (n == h->n_extents || h->extents[n] != t->extent) return false;
    return n == h->n_extents;
}

static void print_shape(const struct lift_type *t, struct strbuf *out)
{
    unsigned n = 0;
    strbuf_add(out, "(");
    for (; t->kind == LIFT_ARRAY; t = t->element, n++)
        strbuf_printf(out, "%s%" PRId64, n ? ", " : "", t->extent);
    strbuf_add(out, n == 1 ? ",)" : ")");
}

/* Says what the file has and what was expected. */
static void refuse_header(const struct loading *l, const struct lift_type *t, struct diag *d)
{
    struct strbuf text = {0};
    npy_print(&l->file->header, &text);
    strbuf_printf(&text, "; the %s%s is ", l->input ? "input " : "output ", l->name);
    lift_print_type(t, &text);
    strbuf_printf(&text, ": expected %s, shape ", numpy_name(l->type));
    print_shape(t, &text);
    diag_plain(d, "%s has %s", l->file->path, text.text);
    strbuf_free(&text);
}

/* ---- elements ---- */

/* Whether the type has this number; an expected result is rounded. */
static bool has_number(const struct loading *l, double value, bool exact)
{
    if (l->type == SCALAR_INT) return value >= INT32_MIN && value <= INT32_MAX;
    if (!l->input) return true;
    verify_put(l->type, l->elements, 0, value);
    return exact && verify_same(verify_get(l->type, l->elements, 0), value);
}

static bool refuse_element(const struct loading *l, int64_t at, double value)
{
    const struct lift_range *r = &l->input->range;
    struct strbuf range = {0};
    lift_range_print(r, &range);
    diag_plain(l->diag, "element %" PRId64 " of %s is %.9g; the program states 'input %s: ...%s'", at,
               l->file->path, value, l->name, range.text);
    strbuf_free(&range);
    return false;
}

static bool refuse_number(const struct loading *l, int64_t at, double value)
{
    diag_plain(l->diag,
               "element %" PRId64 " of %s is %.17g, which no %s is; convert the file before: "
               "x.astype(numpy.%s)",
               at, l->file->path, value, scalar_type_name(l->type), numpy_name(l->type));
    return false;
}

/* The first element is used to try others: it is written last of all. */
struct taking {
    struct loading loading;
    double first;
};

static bool take(void *ctx, int64_t at, double value, bool exact)
{
    struct taking *t = ctx;
    const struct loading *l = &t->loading;
    if (!has_number(l, value, exact)) return refuse_number(l, at, value);
    const struct lift_range *r = l->input ? &l->input->range : NULL;
    if (r && r->given && !(value >= r->low && value <= r->high)) return refuse_element(l, at, value);
    if (at == 0)
        t->first = value;
    else
        verify_put(l->type, l->elements, at, value);
    return true;
}

/* ---- arrays ---- */

static void *make_array(size_t bytes, struct diag *d)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p != MAP_FAILED) return p;
    diag_plain(d, "not enough memory for an array of %zu bytes", bytes);
    return NULL;
}

static bool read_elements(struct taking *t, struct diag *d)
{
    if (!npy_read(t->loading.file, take, t, d)) return false;
    verify_put(t->loading.type, t->loading.elements, 0, t->first);
    return true;
}

/* Compares the header of an open file with the type. */
static bool check_header(struct loading *l, const struct lift_type *t, struct diag *d)
{
    const struct npy_header *h = &l->file->header;
    lift_type_bottom(t, &l->type);
    if (shape_fits(h, t) && kind_fits(h->kind, l->type)) return true;
    refuse_header(l, t, d);
    return false;
}

/* Reads the open file into an array of the type. out NULL: it is only looked at. */
static bool load_open(const struct npy_file *f, const struct lift_param *input,
                      const struct lift_array *array, struct given_array *out, struct diag *d)
{
    struct taking taking = {.loading = {.file = f, .input = input, .name = array->name, .diag = d}};
    struct loading *l = &taking.loading;
    if (!check_header(l, array->type, d)) return false;
    if (!out) return true;
    out->bytes = (size_t)lift_type_bytes(array->type);
    out->elements = l->elements = make_array(out->bytes, d);
    return out->elements && read_elements(&taking, d);
}

static bool load(const char *path, const struct lift_param *input, const struct lift_array *array,
                 struct given_array *out, struct diag *d)
{
    struct npy_file f;
    if (!npy_open(&f, path, d)) return false;
    bool ok = load_open(&f, input, array, out, d);
    npy_close(&f);
    return ok;
}

/* Opens the file of an array, if it has one, and reads it; out NULL: it is only looked at. */
static bool load_array(const struct given_files *f, const struct lift_program *p, unsigned i, bool output,
                       struct given_array *out, struct diag *d)
{
    const struct lift_array *a = &p->arrays[i];
    const struct given_file *file = file_of(f, p, i, output);
    return !file || load(file->path, output ? NULL : p->inputs[a->input], a, out, d);
}

bool given_look(const struct given_files *f, const struct lift_program *p, struct diag *d)
{
    bool ok = given_check(f, p, d);
    for (unsigned i = 0; ok && i < p->n_arrays; i++)
        ok = load_array(f, p, i, false, NULL, d) && load_array(f, p, i, true, NULL, d);
    return ok;
}

struct given *given_load(const struct given_files *f, const struct lift_program *p, struct diag *d)
{
    if (!given_check(f, p, d)) return NULL;
    struct given *data = base_calloc(1, sizeof *data);
    bool ok = true;
    data->tolerance = f->has_tolerance ? f->tolerance : -1;
    data->n_arrays = p->n_arrays;
    data->inputs = base_calloc(p->n_arrays + 1, sizeof *data->inputs);
    data->references = base_calloc(p->n_arrays + 1, sizeof *data->references);
    data->reference_paths = base_calloc(p->n_arrays + 1, sizeof *data->reference_paths);
    for (unsigned i = 0; i < p->n_arrays; i++) {
        const struct given_file *reference = file_of(f, p, i, true);
        ok = load_array(f, p, i, false, &data->inputs[i], d) && ok;
        ok = load_array(f, p, i, true, &data->references[i], d) && ok;
        if (reference) data->reference_paths[i] = base_strdup(reference->path);
    }
    if (ok) return data;
    given_free(data);
    return NULL;
}

static void release(struct given_array *a)
{
    if (a->elements) munmap(a->elements, a->bytes);
}

void given_free(struct given *data)
{
    if (!data) return;
    for (unsigned i = 0; i < data->n_arrays; i++) {
        release(&data->inputs[i]);
        release(&data->references[i]);
        free(data->reference_paths[i]);
    }
    free(data->inputs);
    free(data->references);
    free(data->reference_paths);
    free(data);
}

const void *given_input(const struct given *data, unsigned i)
{
    return data && i < data->n_arrays ? data->inputs[i].elements : NULL;
}

const void *given_reference(const struct given *data, unsigned i)
{
    return data && i < data->n_arrays ? data->references[i].elements : NULL;
}

const char *given_reference_path(const struct given *data, unsigned i)
{
    return data->reference_paths[i];
}

double given_tolerance(const struct given *data)
{
    return data ? data->tolerance : -1;
}

static uint64_t mix(uint64_t h, const struct given_array *a)
{
    h = hash_bytes(h, &a->bytes, sizeof a->bytes);
    return a->elements ? hash_bytes(h, a->elements, a->bytes) : h;
}

uint64_t given_hash(const struct given *data)
{
    uint64_t h = HASH_START;
    for (unsigned i = 0; i < data->n_arrays; i++)
        h = mix(mix(h, &data->inputs[i]), &data->references[i]);
    return hash_finish(h);
}
