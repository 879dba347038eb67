/* The parts of a program that is cut (cut.h): the text of each is read again, and each step says which buffer
 * of the whole is which array of its part.
 *
 *     iterate(3, step, x)      input v: [float]N  output map(...)    one part; three steps: x -> t -> t_2 ->
 * out
 *
 * Two parts are one if their texts are the same once all names are replaced (cut_copy.c). */
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/lift/cut_state.h"

/* ---- the sequence ---- */

/* A sequence that is being made. */
struct maker {
    struct cut_copier copier;
    struct lift_sequence *sequence;
    const char **keys; /* [parts] their texts without names; NULL: it is not shared */
    unsigned *first;   /* [cuts] number of the first buffer of a chosen cut */
    size_t cap_temporaries;
    struct diag *diag;
};

/* The part of that key; n_parts: there is none yet. */
static unsigned find_part(const struct maker *m, const char *key)
{
    unsigned i = 0;
    while (i < m->sequence->n_parts && !(key && m->keys[i] && !strcmp(m->keys[i], key)))
        i++;
    return i;
}

/* "atax.y.lift" of "atax.lift". */
static const char *path_of(struct arena *a, const char *whole, const char *name)
{
    size_t n = strlen(whole), end = n > 5 && !strcmp(whole + n - 5, ".lift") ? 5 : 0;
    return arena_printf(a, "%.*s.%s.lift", (int)(n - end), whole, name);
}

/* Reads the text of a new part again. NULL after errors. */
static struct lift_program *read_part(struct maker *m, const char *path, const char *text)
{
    const struct lift_program *whole = m->copier.whole;
    struct arena *a = m->copier.arena;
    struct source *source = ARENA_NEW(a, struct source);
    struct lift_size_value *sizes = ARENA_ARRAY(a, struct lift_size_value, whole->n_sizes + 1);
    *source = (struct source){path, text, strlen(text)};
    for (unsigned i = 0; i < whole->n_sizes; i++)
        sizes[i] = (struct lift_size_value){whole->sizes[i].name, whole->sizes[i].value};
    struct lift_program *p = lift_parse(source, a, m->diag);
    return p && lift_bind(p, sizes, whole->n_sizes, a, m->diag) ? p : NULL;
}

/* The first array of an output of the whole; of one that is written over an input, that of the input. */
static unsigned first_array(const struct lift_program *p, unsigned output)
{
    unsigned i = 0;
    while (p->arrays[i].output != output)
        i++;
    return i;
}

/* The buffer of an array that a step reads. */
static unsigned read_buffer(const struct maker *m, const struct lift_array *array)
{
    struct cut_reading r = m->copier.readings[array->input];
    unsigned first = r.cut == LIFT_NONE ? m->copier.whole->inputs[r.input]->first_array : m->first[r.cut];
    return first + array->part;
}

/* A step that runs a part; `output`: the first buffer of each of its outputs. */
static void add_step(struct maker *m, unsigned part, const unsigned *output)
{
    struct lift_sequence *s = m->sequence;
    const struct lift_program *p = s->parts[part].program;
    struct lift_step *step = &s->steps[s->n_steps++];
    step->part = part;
    step->buffers = ARENA_ARRAY(m->copier.arena, unsigned, p->n_arrays);
    for (unsigned i = 0; i < p->n_arrays; i++) {
        const struct lift_array *array = &p->arrays[i];
        bool written = array->output != LIFT_NONE;
        step->buffers[i] = written ? output[array->output] + array->part : read_buffer(m, array);
    }
}

/* The part of a text, new or known. false after errors. */
static bool find_or_read(struct maker *m, const char *name, const char *text, const char *key, unsigned *part)
{
    struct lift_sequence *s = m->sequence;
    *part = find_part(m, key);
    if (*part < s->n_parts) return true;
    const char *path = path_of(m->copier.arena, m->copier.whole->source->path, name);
    s->parts[*part] = (struct lift_part){name, path, text, read_part(m, path, text)};
    m->keys[*part] = key;
    s->n_parts++;
    return s->parts[*part].program != NULL;
}

static void add_temporary(struct maker *m, struct lift_temporary t)
{
    struct lift_sequence *s = m->sequence;
    s->temporaries = arena_grow(m->copier.arena, s->temporaries, &m->cap_temporaries, s->n_temporaries + 1,
                                sizeof *s->temporaries);
    s->temporaries[s->n_temporaries++] = t;
}

static void add_temporaries(struct maker *m, unsigned cut)
{
    struct arena *a = m->copier.arena;
    const struct lift_cut *c = &m->copier.cuts->items[cut];
    const struct lift_type *t = cut_stored_type(&m->copier, c);
    unsigned n = lift_type_leaves(t);
    m->first[cut] = m->copier.whole->n_arrays + m->sequence->n_temporaries;
    for (unsigned i = 0; i < n; i++)
        add_temporary(m, (struct lift_temporary){n > 1 ? arena_printf(a, "%s_%u", c->name, i) : c->name,
                                                 lift_type_leaf(t, i, a)});
}

static bool report_type(struct maker *m, const struct lift_cut *cut)
{
    diag_error(m->diag, cut->at, "the program cannot be cut at '%s': its type depends on what reads it",
               cut->name);
    return false;
}

static bool make_cut(struct maker *m, unsigned cut)
{
    const struct lift_cut *c = &m->copier.cuts->items[cut];
    const char *key = cut_text_of(&m->copier, cut, true), *text = cut_text_of(&m->copier, cut, false);
    unsigned part;
    if (!find_or_read(m, c->name, text, key, &part)) return false;
    const struct lift_program *p = m->sequence->parts[part].program;
    if (!lift_type_same(p->outputs[0].type, cut_stored_type(&m->copier, c))) return report_type(m, c);
    add_temporaries(m, cut);
    add_step(m, part, &m->first[cut]);
    return true;
}

static bool make_group(struct maker *m, const struct cut_group *g)
{
    const struct lift_program *whole = m->copier.whole;
    const char *name = whole->outputs[g->outputs[0]].name;
    const char *key = g->updates ? NULL : cut_text_of_group(&m->copier, g, true);
    const char *text = cut_text_of_group(&m->copier, g, false);
    unsigned part, first[LIFT_MAX_OUTPUTS];
    for (unsigned k = 0; k < g->n; k++)
        first[k] = first_array(whole, g->outputs[k]);
    if (!find_or_read(m, name ? name : "out", text, key, &part)) return false;
    add_step(m, part, first);
    return true;
}

/* Whether step i has the buffer among its arrays. */
static bool step_uses(const struct lift_sequence *s, unsigned i, unsigned buffer)
{
    const struct lift_step *step = &s->steps[i];
    for (unsigned k = 0; k < s->parts[step->part].program->n_arrays; k++)
        if (step->buffers[k] == buffer) return true;
    return false;
}

/* Whether array i of the whole is used after a step has written over it; says so. Outputs alone are written
 * by one step, and read by none. */
static bool updated_too_early(struct maker *m, unsigned i)
{
    const struct lift_array *array = &m->copier.whole->arrays[i];
    const struct lift_sequence *s = m->sequence;
    unsigned users = 0, first = 0;
    if (array->input == LIFT_NONE || array->output == LIFT_NONE) return false;
    for (unsigned k = s->n_steps; k-- > 0;) {
        const struct lift_step *step = &s->steps[k];
        const struct lift_program *p = s->parts[step->part].program;
        for (unsigned x = 0; x < p->n_arrays; x++)
            if (step->buffers[x] == i && p->arrays[x].output != LIFT_NONE) first = k;
    }
    for (unsigned k = first + 1; k < s->n_steps; k++)
        users += step_uses(s, k, i);
    if (users)
        diag_error(
            m->diag, m->copier.whole->outputs[array->output].at,
            "output '%s' is written over an input that a later part reads; give the output another name",
            array->name);
    return users > 0;
}

static bool keeps_inputs(struct maker *m)
{
    bool keeps = true;
    for (unsigned i = 0; i < m->copier.whole->n_arrays; i++)
        keeps = keeps && !updated_too_early(m, i);
    return keeps;
}

struct lift_sequence *lift_cut(const struct lift_program *p, const struct lift_cuts *cuts, const bool *chosen,
                               struct arena *a, struct diag *d)
{
    struct cut_group groups[LIFT_MAX_OUTPUTS];
    unsigned n_groups = cut_group_outputs(p, groups), most = n_groups + cuts->n;
    struct lift_sequence *s = ARENA_NEW(a, struct lift_sequence);
    struct maker m = {.copier = {.arena = a, .whole = p, .cuts = cuts, .chosen = chosen},
                      .sequence = s,
                      .keys = ARENA_ARRAY(a, const char *, most),
                      .first = ARENA_ARRAY(a, unsigned, most),
                      .diag = d};
    s->parts = ARENA_ARRAY(a, struct lift_part, most);
    s->steps = ARENA_ARRAY(a, struct lift_step, most);
    bool ok = true;
    for (unsigned i = 0; ok && i < cuts->n; i++)
        ok = !chosen[i] || make_cut(&m, i);
    for (unsigned i = 0; ok && i < n_groups; i++)
        ok = make_group(&m, &groups[i]);
    return ok && keeps_inputs(&m) ? s : NULL;
}

const char *lift_buffer_name(const struct lift_program *p, const struct lift_sequence *s, unsigned buffer)
{
    return buffer < p->n_arrays ? p->arrays[buffer].name : s->temporaries[buffer - p->n_arrays].name;
}
