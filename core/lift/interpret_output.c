/* Outputs of a program, by the interpreter: one element, or all of them in order.
 *
 *     output map(fun q -> let m = sum(q) in map(fun x -> x / m, q), Q)     of a row, m is computed once
 *
 * Values of an outer element live as long as its inner elements are written. */
#include <math.h>
#include <stdlib.h>

#include "core/lift/interpret.h"

enum { SCALARS_PER_ARENA = 64 }; /* elements of an output between two releases of what they left behind */

static double read_double(const void *ctx, unsigned array, int64_t i)
{
    const double *const *arrays = ctx;
    return arrays[array][i];
}

static struct lift_reader reader_of(const double *const *arrays)
{
    return (struct lift_reader){.read = read_double, .ctx = arrays};
}

static void start(struct run *r, struct lift_reader arrays)
{
    *r = (struct run){.arrays = arrays, .arena = arena_new(), .memory = remember_new(), .most = INFINITY};
}

static void stop(struct run *r)
{
    while (r->n_spare)
        arena_free(r->spare[--r->n_spare]);
    remember_free(r->memory);
    arena_free(r->arena);
}

static const struct env *bind_inputs(struct run *r, const struct lift_program *p)
{
    const struct env *env = NULL;
    for (unsigned i = 0; i < p->n_inputs; i++) {
        const struct lift_param *in = p->inputs[i];
        struct place at = {.first = in->first_array, .type = in->type};
        at.interleaved = in->interleaved;
        env = interpret_bind(r, env, in, interpret_input(r, at));
    }
    return env;
}

/* The value of one output: of several, the others are not evaluated. */
static struct value evaluate_output(struct run *r, const struct lift_program *p, unsigned output)
{
    const struct lift_expr *e = p->output;
    const struct env *env = bind_inputs(r, p);
    if (p->n_outputs == 1) return interpret_expr(r, e, env);
    for (; e->kind == LIFT_LET; e = e->body)
        env = interpret_bind(r, env, e->param, interpret_expr(r, e->args[0], env));
    return interpret_expr(r, e->args[output], env);
}

static bool is_interleaved(const struct lift_program *p, const struct lift_output *o)
{
    return o->input == LIFT_NONE ? o->interleaved : p->inputs[o->input]->interleaved;
}

/* The scalars of an array below a value of type t: of one leaf, or of all of them if interleaved. */
static int64_t scalars_below(const struct lift_type *t, unsigned leaf, bool interleaved)
{
    return interleaved ? lift_type_scalars(t) : lift_type_leaf_scalars(t, leaf);
}

/* Goes to one scalar of a value: element `flat` of the array of a leaf, or of the interleaved array. */
static struct value scalar_of(struct run *r, struct value value, const struct lift_type *t, unsigned leaf,
                              int64_t flat, bool interleaved)
{
    while (t->kind != LIFT_SCALAR) {
        if (t->kind == LIFT_ARRAY) {
            int64_t below = scalars_below(t->element, leaf, interleaved);
            value = interpret_element(r, value.array, flat / below);
            flat %= below;
            t = t->element;
        } else {
            unsigned part = interleaved ? (unsigned)flat : lift_type_part(t, &leaf);
            value = value.parts[part];
            flat = interleaved ? 0 : flat;
            t = t->parts[part];
        }
    }
    return value;
}

struct lift_value_bound lift_interpret_element_of(const struct lift_program *p, struct lift_reader arrays,
                                                  unsigned array, int64_t flat)
{
    struct run r;
    const struct lift_array *of = &p->arrays[array];
    const struct lift_output *o = &p->outputs[of->output];
    start(&r, arrays);
    struct value value = evaluate_output(&r, p, of->output);
    struct lift_value_bound result =
        scalar_of(&r, value, o->type, of->part, flat, is_interleaved(p, o)).scalar;
    result.work = r.work;
    stop(&r);
    return result;
}

struct lift_value_bound lift_interpret_element(const struct lift_program *p, const double *const *arrays,
                                               unsigned array, int64_t flat)
{
    return lift_interpret_element_of(p, reader_of(arrays), array, flat);
}

static double *write_value(struct run *r, struct value v, const struct lift_type *t, unsigned leaf,
                           bool interleaved, double *out);

/* What an element leaves behind is dropped: after each one that is an array, of scalars in bulk. */
static double *write_array(struct run *r, struct array *array, const struct lift_type *t, unsigned leaf,
                           bool interleaved, double *out)
{
    struct arena *outer = r->arena;
    int64_t bulk = t->element->kind == LIFT_SCALAR ? SCALARS_PER_ARENA : 1;
    r->arena = interpret_take_arena(r);
    for (int64_t i = 0; i < t->extent && r->work <= r->most; i++) {
        if (i % bulk == bulk - 1) arena_reset(r->arena);
        out = write_value(r, interpret_element(r, array, i), t->element, leaf, interleaved, out);
    }
    interpret_give_arena(r, r->arena);
    r->arena = outer;
    return out;
}

/* Writes the scalars of one leaf of a value, or of all of them if interleaved; returns where the next ones
 * go. */
static double *write_value(struct run *r, struct value v, const struct lift_type *t, unsigned leaf,
                           bool interleaved, double *out)
{
    if (t->kind == LIFT_ARRAY) return write_array(r, v.array, t, leaf, interleaved, out);
    if (t->kind == LIFT_SCALAR) {
        *out = v.scalar.value;
        return out + 1;
    }
    if (!interleaved) {
        unsigned part = lift_type_part(t, &leaf);
        return write_value(r, v.parts[part], t->parts[part], leaf, false, out);
    }
    for (unsigned i = 0; i < t->n_parts; i++)
        out = write_value(r, v.parts[i], t->parts[i], leaf, true, out);
    return out;
}

/* Returns the number of elements that were written. */
static int64_t write_output(struct run *r, const struct lift_program *p, unsigned array, double *out)
{
    const struct lift_array *of = &p->arrays[array];
    const struct lift_output *o = &p->outputs[of->output];
    struct value v = evaluate_output(r, p, of->output);
    return write_value(r, v, o->type, of->part, is_interleaved(p, o), out) - out;
}

void lift_interpret(const struct lift_program *p, const double *const *arrays, unsigned array, double *out)
{
    struct run r;
    start(&r, reader_of(arrays));
    write_output(&r, p, array, out);
    stop(&r);
}

double lift_interpret_work(const struct lift_program *p, const double *const *arrays, unsigned array,
                           double most)
{
    struct run r;
    int64_t all = lift_type_scalars(p->arrays[array].type);
    double *out = base_malloc((size_t)all * sizeof *out);
    start(&r, reader_of(arrays));
    r.most = most;
    int64_t done = write_output(&r, p, array, out);
    double work = done ? r.work * ((double)all / (double)done) : INFINITY;
    stop(&r);
    free(out);
    return work;
}
