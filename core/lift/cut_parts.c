/* The parts of a program that is cut (cut.h): each is copied from the tree, printed, and read again.
 *
 *     let y = ... in map(fun c -> dot(c, y), B)      cut at y: "input y: [float]N  output map(fun c -> ...)"
 *                                                    else:     "output let y = ... in map(fun c -> ...)"
 *
 * In a copy every parameter has a name of its own again, made from the name that the text gave it, so that
 * the copies that inlining has made (fun w_7 -> ...) have one text. Inputs stand in the order in which they
 * are mentioned. Two parts are one if they are the same once all names are replaced: the steps of `iterate`.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/lift/cut_state.h"
#include "core/lift/pattern.h"
#include "core/lift/size.h"

/* A parameter of the whole and its copy in a part. */
struct twin {
    const struct lift_param *from;
    struct lift_param *to;
};

/* What an input of a part is. */
struct reading {
    unsigned input, cut; /* of the whole; the other one is LIFT_NONE */
};

/* A part that is being copied. */
struct copier {
    struct arena *arena;
    const struct lift_program *whole;
    const struct lift_cuts *cuts;
    const bool *chosen;
    const struct lift_expr *root; /* the value of the part itself, which is no temporary in it */
    bool nameless;                /* every name is made from "v", for comparison */
    struct twin *twins;
    size_t n_twins, cap_twins;
    struct reading *readings; /* of the part's inputs */
    size_t n_readings, cap_readings, cap_inputs;
    struct lift_expr **lets; /* values that are not cut and that the part mentions, in order */
    size_t n_lets, cap_lets;
    struct lift_program *part;
};

/* ---- names ---- */

static bool name_used(const struct copier *c, const char *name)
{
    const struct lift_program *p = c->whole;
    for (size_t i = 0; i < c->n_twins; i++)
        if (!strcmp(c->twins[i].to->name, name)) return true;
    for (unsigned i = 0; i < p->n_inputs; i++)
        if (!strcmp(p->inputs[i]->name, name)) return true;
    for (unsigned i = 0; i < p->n_sizes; i++)
        if (!strcmp(p->sizes[i].name, name)) return true;
    return lift_pattern_find(name) || scalar_op_find(name, (unsigned)strlen(name)) != SCALAR_OP_COUNT;
}

/* "w" of "w_7". */
static const char *stem_of(struct arena *a, const char *name)
{
    const char *end = strrchr(name, '_');
    bool numbered = end && end > name && end[1] && strspn(end + 1, "0123456789") == strlen(end + 1);
    return numbered ? arena_strndup(a, name, (size_t)(end - name)) : name;
}

static const char *free_name(const struct copier *c, const char *name)
{
    const char *stem = c->nameless ? "v" : stem_of(c->arena, name), *free = stem;
    for (unsigned k = 2; name_used(c, free); k++)
        free = arena_printf(c->arena, "%s_%u", stem, k);
    return free;
}

static struct lift_param *add_twin(struct copier *c, const struct lift_param *from, const char *name)
{
    struct lift_param *to = arena_memdup(c->arena, from, sizeof *from);
    to->name = name;
    c->twins = arena_grow(c->arena, c->twins, &c->cap_twins, c->n_twins + 1, sizeof *c->twins);
    c->twins[c->n_twins++] = (struct twin){from, to};
    return to;
}

static struct lift_param *twin_of(const struct copier *c, const struct lift_param *from)
{
    for (size_t i = c->n_twins; i-- > 0;)
        if (c->twins[i].from == from) return c->twins[i].to;
    return NULL;
}

/* ---- inputs ---- */

static struct lift_param *add_input(struct copier *c, struct lift_param *p, struct reading r)
{
    p->input = c->part->n_inputs;
    c->part->inputs =
        arena_grow(c->arena, c->part->inputs, &c->cap_inputs, p->input + 1, sizeof *c->part->inputs);
    c->part->inputs[c->part->n_inputs++] = p;
    c->readings = arena_grow(c->arena, c->readings, &c->cap_readings, c->n_readings + 1, sizeof *c->readings);
    c->readings[c->n_readings++] = r;
    return p;
}

static struct lift_param *read_input(struct copier *c, const struct lift_param *from)
{
    struct reading r = {from->input, LIFT_NONE};
    return add_input(c, add_twin(c, from, c->nameless ? free_name(c, from->name) : from->name), r);
}

/* The copy of an input, which is added where the part has not mentioned it yet. */
static struct lift_param *find_input(struct copier *c, const struct lift_param *from)
{
    struct lift_param *to = twin_of(c, from);
    return to ? to : read_input(c, from);
}

/* The range of its ints, so that they still are indices. */
static struct lift_range range_of(const struct lift_type *t)
{
    while (t->kind == LIFT_ARRAY)
        t = t->element;
    bool ranged = t->kind == LIFT_SCALAR && t->ranged;
    return (struct lift_range){.given = ranged, .low = (double)t->least, .high = (double)t->most};
}

/* What is stored of a cut: a scalar as an array of one element. */
static const struct lift_type *stored_type(const struct copier *c, const struct lift_cut *cut)
{
    struct lift_type *one = ARENA_NEW(c->arena, struct lift_type);
    if (cut->type->kind != LIFT_SCALAR) return cut->type;
    *one = (struct lift_type){.kind = LIFT_ARRAY, .element = cut->type, .extent = 1};
    one->size = lift_size_const(c->arena, 1);
    return one;
}

static struct lift_param *read_cut(struct copier *c, unsigned i)
{
    const struct lift_cut *cut = &c->cuts->items[i];
    struct lift_param key = {.name = cut->name, .at = cut->at, .type = stored_type(c, cut)};
    key.range = range_of(key.type);
    for (size_t k = 0; k < c->n_readings; k++)
        if (c->readings[k].cut == i) return c->part->inputs[k];
    const struct lift_param *from = arena_memdup(c->arena, &key, sizeof key);
    return add_input(c, add_twin(c, from, free_name(c, cut->name)), (struct reading){LIFT_NONE, i});
}

/* ---- the copy ---- */

static struct lift_expr *copy(struct copier *c, const struct lift_expr *e);

static struct lift_expr *new_expr(const struct copier *c, enum lift_kind kind, struct lift_expr *arg)
{
    struct lift_expr *e = ARENA_NEW(c->arena, struct lift_expr);
    e->kind = kind;
    e->n_args = arg != NULL;
    e->args = ARENA_ARRAY(c->arena, struct lift_expr *, 1);
    e->args[0] = arg;
    return e;
}

static struct lift_expr *new_reference(const struct copier *c, struct lift_param *p)
{
    struct lift_expr *e = new_expr(c, LIFT_PARAM_REF, NULL);
    e->param = p;
    return e;
}

/* The value of a cut where it is read. */
static struct lift_expr *reference_cut(struct copier *c, unsigned i)
{
    struct lift_expr *e = new_reference(c, read_cut(c, i));
    if (c->cuts->items[i].type->kind != LIFT_SCALAR) return e;
    struct lift_expr *head = new_expr(c, LIFT_APPLY, e);
    head->pattern = LIFT_HEAD;
    return head;
}

/* The chosen cut of a `let`, or of a value without a name; LIFT_NONE: there is none. */
static unsigned cut_of(const struct copier *c, const struct lift_param *let, const struct lift_expr *value)
{
    for (unsigned i = 0; i < c->cuts->n; i++) {
        const struct lift_cut *cut = &c->cuts->items[i];
        if (c->chosen[i] && (let ? cut->let == let : !cut->let && cut->value == value)) return i;
    }
    return LIFT_NONE;
}

static unsigned let_cut(const struct copier *c, const struct lift_param *let)
{
    return cut_of(c, let, NULL);
}

/* The LET of a name in an expression, or NULL. */
static const struct lift_expr *find_let(const struct lift_expr *e, const struct lift_param *param)
{
    const struct lift_expr *found = NULL;
    if (e->kind == LIFT_LET && e->param == param) return e;
    for (unsigned i = 0; !found && i < e->n_args; i++)
        found = find_let(e->args[i], param);
    if (!found && e->kind == LIFT_LET) found = find_let(e->body, param);
    if (!found && e->fun) found = find_let(e->fun->body, param);
    return found;
}

/* A `let` around the part that is not cut: it is written again around the part's value. */
static struct lift_param *read_let(struct copier *c, const struct lift_param *param)
{
    struct lift_expr *value = copy(c, find_let(c->whole->output, param)->args[0]);
    struct lift_expr *let = new_expr(c, LIFT_LET, value);
    let->param = add_twin(c, param, free_name(c, param->name));
    c->lets = arena_grow(c->arena, c->lets, &c->cap_lets, c->n_lets + 1, sizeof *c->lets);
    c->lets[c->n_lets++] = let;
    return let->param;
}

static struct lift_expr *copy_reference(struct copier *c, const struct lift_expr *e)
{
    unsigned cut = let_cut(c, e->param);
    if (cut != LIFT_NONE) return reference_cut(c, cut);
    if (e->param->input != LIFT_NONE) return new_reference(c, find_input(c, e->param));
    struct lift_param *to = twin_of(c, e->param);
    return new_reference(c, to ? to : read_let(c, e->param));
}

static struct lift_lambda *copy_function(struct copier *c, const struct lift_lambda *fun)
{
    struct lift_lambda *f = arena_memdup(c->arena, fun, sizeof *fun);
    f->params = ARENA_ARRAY(c->arena, struct lift_param *, fun->n_params);
    for (unsigned i = 0; i < fun->n_params; i++)
        f->params[i] = add_twin(c, fun->params[i], free_name(c, fun->params[i]->name));
    f->body = copy(c, fun->body);
    return f;
}

static struct lift_expr *copy(struct copier *c, const struct lift_expr *e)
{
    if (e->kind == LIFT_PARAM_REF) return copy_reference(c, e);
    if (e->kind == LIFT_LET && let_cut(c, e->param) != LIFT_NONE) return copy(c, e->body);
    unsigned cut = e == c->root ? LIFT_NONE : cut_of(c, NULL, e);
    if (cut != LIFT_NONE) return reference_cut(c, cut);
    struct lift_expr *twin = arena_memdup(c->arena, e, sizeof *e);
    twin->args = ARENA_ARRAY(c->arena, struct lift_expr *, e->n_args + 1);
    for (unsigned i = 0; i < e->n_args; i++)
        twin->args[i] = copy(c, e->args[i]);
    if (e->fun) twin->fun = copy_function(c, e->fun);
    if (e->kind != LIFT_LET) return twin;
    twin->param = add_twin(c, e->param, free_name(c, e->param->name));
    twin->body = copy(c, e->body);
    return twin;
}

/* ---- a part as a program ---- */

static void begin(struct copier *c, const struct lift_expr *root, bool nameless)
{
    c->nameless = nameless;
    c->root = root;
    c->n_twins = c->n_readings = c->n_lets = c->cap_inputs = 0;
    c->part = ARENA_NEW(c->arena, struct lift_program);
    *c->part = (struct lift_program){.n_sizes = c->whole->n_sizes, .sizes = c->whole->sizes};
}

/* The value with the LETs around it that it needs. */
static struct lift_expr *close_lets(struct copier *c, struct lift_expr *body)
{
    for (size_t i = c->n_lets; i-- > 0; body = c->lets[i])
        c->lets[i]->body = body;
    return body;
}

static const char *print_part(struct copier *c, struct lift_expr *value)
{
    struct strbuf text = {0};
    c->part->output = close_lets(c, value);
    lift_print(c->part, &text);
    const char *out = arena_strdup(c->arena, text.text);
    strbuf_free(&text);
    return out;
}

/* The program that computes a cut. */
static const char *cut_text(struct copier *c, unsigned i, bool nameless)
{
    const struct lift_cut *cut = &c->cuts->items[i];
    begin(c, cut->value, nameless);
    struct lift_expr *value = copy(c, cut->value);
    if (cut->type->kind == LIFT_SCALAR) value = new_expr(c, LIFT_MAKE_ARRAY, value);
    c->part->n_outputs = 1;
    c->part->outputs = ARENA_NEW(c->arena, struct lift_output);
    c->part->outputs[0] =
        (struct lift_output){.name = nameless ? NULL : free_name(c, cut->name), .input = LIFT_NONE};
    return print_part(c, value);
}

/* The program that computes a group of outputs. */
static const char *group_text(struct copier *c, const struct cut_group *g, bool nameless)
{
    begin(c, NULL, nameless);
    struct lift_expr *value = new_expr(c, LIFT_MAKE_TUPLE, NULL);
    value->n_args = c->part->n_outputs = g->n;
    value->args = ARENA_ARRAY(c->arena, struct lift_expr *, g->n);
    c->part->outputs = ARENA_ARRAY(c->arena, struct lift_output, g->n);
    for (unsigned k = 0; k < g->n; k++) {
        struct lift_output *o = &c->part->outputs[k];
        *o = c->whole->outputs[g->outputs[k]];
        value->args[k] = copy(c, cut_output_value(c->whole, g->outputs[k]));
        if (o->input != LIFT_NONE) find_input(c, c->whole->inputs[o->input]);
        if (nameless) o->name = NULL;
    }
    return print_part(c, g->n == 1 ? value->args[0] : value);
}

/* ---- the sequence ---- */

/* A sequence that is being made. */
struct maker {
    struct copier copier;
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
    struct reading r = m->copier.readings[array->input];
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
    const struct lift_type *t = stored_type(&m->copier, c);
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
    const char *key = cut_text(&m->copier, cut, true), *text = cut_text(&m->copier, cut, false);
    unsigned part;
    if (!find_or_read(m, c->name, text, key, &part)) return false;
    const struct lift_program *p = m->sequence->parts[part].program;
    if (!lift_type_same(p->outputs[0].type, stored_type(&m->copier, c))) return report_type(m, c);
    add_temporaries(m, cut);
    add_step(m, part, &m->first[cut]);
    return true;
}

static bool make_group(struct maker *m, const struct cut_group *g)
{
    const struct lift_program *whole = m->copier.whole;
    const char *name = whole->outputs[g->outputs[0]].name;
    const char *key = g->updates ? NULL : group_text(&m->copier, g, true);
    const char *text = group_text(&m->copier, g, false);
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
