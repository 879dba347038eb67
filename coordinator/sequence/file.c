/* Writing and reading sequences (file.h). */
#include "coordinator/sequence/file.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"

enum { FORMAT = 3 };

/* ---- writing ---- */

/* The names of the buffers that a step reads, or of those that it writes. */
static json_t *buffers_json(const struct lift_program *p, const struct lift_sequence *s,
                            const struct lift_step *step, bool written)
{
    const struct lift_program *part = s->parts[step->part].program;
    json_t *names = json_array();
    for (unsigned i = 0; i < part->n_arrays; i++)
        if (written ? part->arrays[i].output != LIFT_NONE : part->arrays[i].input != LIFT_NONE)
            json_array_append_new(names, json_string(lift_buffer_name(p, s, step->buffers[i])));
    return names;
}

json_t *sequence_step_json(const struct lift_program *p, const struct lift_sequence *s, unsigned step)
{
    const struct lift_step *of = &s->steps[step];
    return json_pack("{s:i,s:o,s:o}", "part", (int)of->part + 1, "reads", buffers_json(p, s, of, false),
                     "writes", buffers_json(p, s, of, true));
}

static json_t *steps_json(const struct lift_program *p, const struct lift_sequence *s,
                          const struct sequence_chain *chain)
{
    json_t *steps = json_array();
    for (unsigned i = 0; i < s->n_steps; i++) {
        json_t *step = sequence_step_json(p, s, i);
        json_object_set_new(step, "entry", json_string(chain->kernels[i].name));
        json_array_append_new(steps, step);
    }
    return steps;
}

static json_t *parts_json(const struct sequence_search *s, const struct sequence_variant *v)
{
    json_t *parts = json_array();
    for (unsigned i = 0; i < v->n_parts; i++)
        json_array_append(parts, s->found[v->programs[i]].result);
    return parts;
}

/* The user's data as text; NULL: there are none. */
static char *data_text(const struct sequence_search *s, struct diag *d)
{
    if (!given_any(&s->options->data)) return NULL;
    return given_text(&s->options->data, s->data, d);
}

static json_t *result_json(const struct sequence_search *s, const struct sequence_report *r, struct diag *d)
{
    const struct sequence_plan *plan = s->plan;
    const struct sequence_contender *c = r->contenders;
    const char *sizes = s->options->sizes ? s->options->sizes : "";
    char *data = data_text(s, d);
    json_t *o = json_pack(
        "{s:i,s:s,s:s,s:s,s:s,s:s,s:s,s:o,s:o,s:s,s:o,s:o,s:o,s:o}", "format", FORMAT, "kernel",
        plan->source.path, "lift", plan->source.text, "sizes", sizes, "device", s->device.name, "driver",
        s->device.driver, "cut", r->variant->cuts, "steps",
        steps_json(plan->program, r->variant->sequence, &r->best), "parts", parts_json(s, r->variant),
        "opencl", r->best.kernels[0].source, "figure", figure_json(&c[SEQUENCE_BEST].figure), "naive",
        figure_json(&c[SEQUENCE_NAIVE].figure), "naive_parts", figure_json(&c[SEQUENCE_NAIVE_PARTS].figure),
        "one_kernel", figure_json(&c[SEQUENCE_ONE].figure));
    if (s->options->store) json_object_set_new(o, "store", json_string(s->options->store));
    if (plan->named & LIFT_CUT_SCANS) json_object_set_new(o, "scans_named", json_true());
    if (plan->named & LIFT_CUT_LETS) json_object_set_new(o, "lets_named", json_true());
    if (data) json_object_set_new(o, "data", json_loads(data, 0, NULL));
    best_seal(o);
    free(data);
    return o;
}

bool sequence_write(const char *dir, const struct sequence_search *s, const struct sequence_report *r,
                    struct diag *d)
{
    struct strbuf host = {0};
    if (!best_make_folder(dir, d)) return false;
    json_t *o = result_json(s, r, d);
    best_host_sequence(s->plan->program, &s->device, r->best.kernels, "best.cl", &host);
    bool ok = best_write_files(dir, r->best.kernels[0].source, o, host.text, d);
    strbuf_free(&host);
    json_decref(o);
    return ok;
}

/* ---- reading ---- */

/* Parses the program and cuts it. */
static bool cut_again(struct sequence_file *f, struct diag *d)
{
    f->program = lift_parse_bound(&f->source, f->sizes, f->arena, d);
    if (f->program && f->named) f->program = lift_cut_name(f->program, f->named, f->arena);
    if (!f->program) {
        if (diag_count(d) == 0)
            diag_plain(d, "version mismatch: this version of thresh finds no such cuts in the program; run "
                          "'thresh tune' again");
        return false;
    }
    const struct lift_cuts cuts = lift_cut_find(f->program, f->arena);
    bool *chosen = ARENA_ARRAY(f->arena, bool, cuts.n + 1);
    if (!lift_cut_choose(f->program, &cuts, f->cuts, chosen, d)) return false;
    f->sequence = lift_cut(f->program, &cuts, chosen, f->arena, d);
    return f->sequence != NULL;
}

static bool read_parts(const json_t *list, struct sequence_file *f, struct diag *d)
{
    unsigned n = f->sequence->n_parts;
    bool same = json_array_size(list) == n;
    f->parts = base_calloc(n + 1, sizeof *f->parts);
    for (unsigned i = 0; same && i < n; i++) {
        if (!best_from_json(json_array_get(list, i), &f->parts[i], d)) return false;
        f->n_parts++;
        same = strcmp(f->parts[i].problem->source.text, f->sequence->parts[i].text) == 0;
    }
    if (!same)
        diag_plain(d,
                   "version mismatch: this version of thresh cuts the program into other parts; run 'thresh "
                   "tune' again");
    return same;
}

/* A figure that may be missing. */
static void read_figure(const json_t *o, const char *key, struct figure *out)
{
    if (!figure_read_json(json_object_get(o, key), out)) *out = (struct figure){0};
}

bool sequence_read(json_t *o, struct sequence_file *out, struct diag *d)
{
    const char *path, *text, *sizes, *cuts;
    json_t *parts;
    *out = (struct sequence_file){.arena = arena_new()};
    if (json_unpack(o, "{s:s,s:s,s:s,s:s,s:o}", "kernel", &path, "lift", &text, "sizes", &sizes, "cut", &cuts,
                    "parts", &parts) ||
        json_integer_value(json_object_get(o, "format")) != FORMAT) {
        diag_plain(d, "not a best.json of a sequence of kernels, format %d: keys are missing", FORMAT);
        return false;
    }
    out->source =
        (struct source){arena_strdup(out->arena, path), arena_strdup(out->arena, text), strlen(text)};
    out->sizes = arena_strdup(out->arena, sizes);
    out->cuts = arena_strdup(out->arena, cuts);
    read_figure(o, "figure", &out->figure);
    read_figure(o, "naive", &out->naive);
    read_figure(o, "naive_parts", &out->naive_parts);
    read_figure(o, "one_kernel", &out->one_kernel);
    out->named = (json_is_true(json_object_get(o, "scans_named")) ? LIFT_CUT_SCANS : 0u) |
                 (json_is_true(json_object_get(o, "lets_named")) ? LIFT_CUT_LETS : 0u);
    if (json_object_get(o, "data")) out->data = json_dumps(json_object_get(o, "data"), JSON_COMPACT);
    if (!cut_again(out, d) || !read_parts(parts, out, d)) return false;
    out->device = out->parts[0].device;
    return true;
}

void sequence_file_clear(struct sequence_file *f)
{
    for (unsigned i = 0; i < f->n_parts; i++)
        best_file_clear(&f->parts[i]);
    free(f->parts);
    free(f->data);
    arena_free(f->arena);
    *f = (struct sequence_file){0};
}

/* ---- kernels ---- */

static bool lower(const struct best_file *b, bool naive, struct pipeline_code *out, struct diag *d)
{
    char why[160] = "";
    struct space_state *leaf = naive ? problem_naive(b->problem, d) : NULL;
    bool ok = naive ? leaf && pipeline_lower(b->problem, leaf, out, why, sizeof why)
                    : pipeline_lower_actions(b->problem, b->actions, b->n_actions, out, why, sizeof why);
    if (!ok && *why) diag_plain(d, "cannot rebuild %s: %s", b->problem->source.path, why);
    space_state_free(leaf);
    return ok;
}

static bool chain(const struct sequence_file *f, bool naive, struct sequence_chain *out, struct diag *d)
{
    struct pipeline_code *code = base_calloc(f->n_parts + 1, sizeof *code);
    const struct cg_kernel **kernels = base_calloc(f->n_parts + 1, sizeof *kernels);
    bool ok = true;
    for (unsigned i = 0; ok && i < f->n_parts; i++) {
        ok = lower(&f->parts[i], naive, &code[i], d);
        kernels[i] = &code[i].kernel;
    }
    *out = (struct sequence_chain){0};
    if (ok) sequence_chain_make(f->sequence, kernels, out);
    for (unsigned i = 0; i < f->n_parts; i++)
        pipeline_code_clear(&code[i]);
    free(kernels);
    free(code);
    return ok;
}

bool sequence_file_chain(const struct sequence_file *f, struct sequence_chain *out, struct diag *d)
{
    return chain(f, false, out, d);
}

bool sequence_file_naive(const struct sequence_file *f, struct sequence_chain *out, struct diag *d)
{
    return chain(f, true, out, d);
}
