/* The Lift interpreter's view of a task.
 *
 * The interpreter computes one output at a time in double precision, and with it n, the rounding steps of the
 * longest chain, and s, the sum of the absolute values of all terms. A kernel that computes the output in any
 * order is at most (n + 1) u s away, u = 2^-p for p bits of precision:
 *
 *     1.0 + -0.9 + 0.2    value 0.3    n = 3    s = 2.1    a float is off by 4 * 2^-24 * 2.1 = 5e-7 at most
 */
#include "agent/verify_interpret.h"

#include <math.h>
#include <stdlib.h>

#include "agent/verify_known.h"
#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/base/pcg32.h"
#include "core/lift/scalar.h"

enum { MIN_SAMPLES = 16, FINITE_SHARE = 4 };
static const double SAMPLE_WORK = 4e6;    /* operations to interpret for the check of a reference */
static const double INTERPRET_WORK = 4e8; /* and for a whole reference, all sets of it */
static const double ESTIMATE_WORK = 1e6;  /* and to learn how many a whole output takes */

/* ---- inputs and outputs ---- */

static double *as_doubles(const struct verify_buffer *b, unsigned set)
{
    double *out = base_malloc((size_t)b->elements * sizeof *out);
    for (int64_t i = 0; i < b->elements; i++)
        out[i] = verify_get(b->type, verify_values(b, set), i);
    return out;
}

struct verify_inputs verify_inputs_of(const struct verify_task *t, unsigned set)
{
    struct verify_inputs in = {.t = t, .set = set};
    if (set != VERIFY_LARGEST) return in;
    in.largest = base_calloc(t->n_buffers, sizeof *in.largest);
    for (unsigned b = 0; b < t->n_buffers; b++)
        if (verify_is_input(&t->buffers[b])) in.largest[b] = verify_largest(&t->buffers[b], VERIFY_EXACT);
    return in;
}

void verify_inputs_free(struct verify_inputs *in)
{
    free(in->largest);
}

static double read_input(const void *ctx, unsigned array, int64_t i)
{
    const struct verify_inputs *in = ctx;
    const struct verify_buffer *b = &in->t->buffers[array];
    return in->largest ? in->largest[array] : verify_get(b->type, verify_values(b, in->set), i);
}

static struct verify_known_key key_of(const struct verify_inputs *in, unsigned buffer, int64_t i)
{
    return (struct verify_known_key){in->set, in->t->domain, in->t->units, buffer, i};
}

bool verify_recall_element(const struct verify_inputs *in, unsigned buffer, int64_t i,
                           struct lift_value_bound *out)
{
    const struct verify_known_key key = key_of(in, buffer, i);
    return verify_recall(in->t->known, &key, out);
}

void verify_note_element(const struct verify_inputs *in, unsigned buffer, int64_t i,
                         struct lift_value_bound v)
{
    const struct verify_known_key key = key_of(in, buffer, i);
    verify_note(in->t->known, &key, v);
}

struct lift_value_bound verify_interpret_element(const struct verify_inputs *in, unsigned buffer, int64_t i)
{
    const struct lift_reader reader = {
        .read = read_input, .ctx = in, .rounds_factors = in->t->rounds_factors};
    return lift_interpret_element_of(in->t->program, reader, buffer, i);
}

struct lift_value_bound verify_element(const struct verify_inputs *in, unsigned buffer, int64_t i)
{
    struct lift_value_bound v;
    if (verify_recall_element(in, buffer, i, &v)) return v;
    v = verify_interpret_element(in, buffer, i);
    verify_note_element(in, buffer, i, v);
    return v;
}

/* All inputs of a set as doubles, for what reads them again and again. */
static double **convert_inputs(const struct verify_task *t, unsigned set)
{
    double **in = base_calloc(t->n_buffers, sizeof *in);
    for (unsigned b = 0; b < t->n_buffers; b++)
        if (verify_is_input(&t->buffers[b])) in[b] = as_doubles(&t->buffers[b], set);
    return in;
}

static void free_doubles(double **in, const struct verify_task *t)
{
    for (unsigned b = 0; b < t->n_buffers; b++)
        free(in[b]);
    free(in);
}

int64_t verify_count_not_finite(const struct verify_buffer *b, unsigned set)
{
    return verify_not_finite(b->type, b->data[set], b->elements);
}

/* ---- a whole reference ---- */

/* The last element of a scan takes more than the first. */
double verify_work(const struct verify_task *t, unsigned buffer)
{
    struct verify_inputs in = verify_inputs_of(t, VERIFY_TIMING);
    double first = verify_element(&in, buffer, 0).work;
    double last = verify_element(&in, buffer, t->buffers[buffer].elements - 1).work;
    verify_inputs_free(&in);
    return fmax(first, last) + 1;
}

bool verify_interpretable(const struct verify_task *t)
{
    double work = 0, **in = convert_inputs(t, VERIFY_TIMING);
    for (unsigned b = 0; b < t->n_buffers; b++)
        if (t->buffers[b].output)
            work += lift_interpret_work(t->program, (const double *const *)in, b, ESTIMATE_WORK);
    free_doubles(in, t);
    return work * t->n_sets <= INTERPRET_WORK;
}

static void interpret_output(struct verify_task *t, unsigned buffer)
{
    const struct verify_buffer *b = &t->buffers[buffer];
    double *out = base_malloc((size_t)b->elements * sizeof *out);
    for (unsigned set = 0; set < t->n_sets; set++) {
        double **in = convert_inputs(t, set);
        lift_interpret(t->program, (const double *const *)in, buffer, out);
        for (int64_t i = 0; i < b->elements; i++)
            verify_put(b->type, b->data[set], i, out[i]);
        free_doubles(in, t);
    }
    free(out);
}

void verify_interpret(struct verify_task *t)
{
    for (unsigned b = 0; b < t->n_buffers; b++)
        if (t->buffers[b].output) interpret_output(t, b);
}

/* ---- how close ---- */

double verify_rounded(enum scalar_type type, double value)
{
    union {
        float f;
        double d;
        uint16_t h;
    } element;
    if (verify_integer(type)) return value;
    verify_put(type, &element, 0, value);
    return verify_get(type, &element, 0);
}

double verify_error_floor(enum scalar_type type, double n)
{
    return verify_integer(type) ? 0 : (n + 1) * scalar_type_smallest(type);
}

double verify_error(enum scalar_type type, double n, double s)
{
    return (n + 1) * ldexp(1, -(int)scalar_type_precision(type)) * s + verify_error_floor(type, n);
}

bool verify_agrees(const struct verify_buffer *b, double got, struct lift_value_bound v)
{
    double value = verify_rounded(b->type, v.value);
    if (v.overflows) /* no error is known */
        return !isfinite(got) || (isfinite(value) && fabs(got - value) <= ldexp(fabs(value), -8));
    if (v.jumps && !isfinite(v.s)) return true;
    if (v.exact && verify_integer(b->type)) return got == v.value;
    if (!isfinite(value) || !isfinite(got)) return verify_same(value, got);
    return !isfinite(v.s) || fabs(got - v.value) <= verify_error(b->type, v.n, v.s);
}

/* ---- samples ---- */

static void add_corners(struct verify_sample *s, const struct lift_type *t, int64_t flat)
{
    if (t->kind != LIFT_ARRAY) {
        if (s->n < VERIFY_MAX_CORNERS) s->flat[s->n++] = flat;
        return;
    }
    add_corners(s, t->element, flat * t->extent);
    if (t->extent > 1) add_corners(s, t->element, flat * t->extent + t->extent - 1);
}

double verify_sample_size(double work)
{
    return fmin(fmax(SAMPLE_WORK / work, MIN_SAMPLES), VERIFY_MAX_SAMPLES);
}

struct verify_sample *verify_sample_new(const struct verify_task *t, unsigned buffer, double work,
                                        uint64_t seed)
{
    double elements = (double)t->buffers[buffer].elements;
    struct verify_sample *s = base_calloc(1, sizeof *s);
    add_corners(s, t->program->arrays[buffer].type, 0);
    double wanted = s->n < elements ? fmin(verify_sample_size(work), elements) : 0;
    bool all = wanted == elements; /* each once: the largest sum of magnitudes may be of one of them */
    struct pcg32 rng = pcg32_seed(seed, 0x5a);
    for (double i = 0; i < wanted; i++)
        s->flat[s->n++] = (int64_t)(all ? i : pcg32_unit(&rng) * elements);
    return s;
}

static int64_t sample_not_finite(const struct verify_task *t, unsigned buffer, uint64_t seed)
{
    const struct verify_buffer *b = &t->buffers[buffer];
    if (verify_integer(b->type)) return 0;
    double work = verify_work(t, buffer);
    struct verify_sample *sample = verify_sample_new(t, buffer, work * FINITE_SHARE, seed);
    struct lift_value_bound *v = base_calloc(sample->n, sizeof *v);
    int64_t n = 0;
    for (unsigned set = 0; set < VERIFY_EXTREME; set++) {
        struct verify_inputs in = verify_inputs_of(t, set);
        verify_elements(&in, buffer, work, sample->flat, sample->n, v);
        for (unsigned i = 0; i < sample->n; i++)
            n += !isfinite(verify_rounded(b->type, v[i].value));
        verify_inputs_free(&in);
    }
    free(v);
    free(sample);
    return n;
}

int64_t verify_sample_not_finite(const struct verify_task *t, uint64_t seed)
{
    int64_t n = 0;
    for (unsigned b = 0; b < t->n_buffers; b++)
        if (t->buffers[b].output) n += sample_not_finite(t, b, seed);
    return n;
}

/* Where sums of the numbers that were drawn are known to be too large, those of the largest are. */
static bool known_not_to_fit(const struct verify_task *t, unsigned buffer, int64_t at)
{
    const struct verify_known_key key = {VERIFY_EXACT, t->domain, t->units, buffer, at};
    struct lift_value_bound v;
    return verify_recall(t->known, &key, &v) && v.exact_ops && !v.fits;
}

bool verify_largest_fit(const struct verify_task *t, unsigned buffer, const struct verify_sample *sample)
{
    struct verify_inputs in = verify_inputs_of(t, VERIFY_LARGEST);
    bool fit = true;
    for (unsigned i = 0; fit && i < sample->n && i < VERIFY_MAX_CORNERS; i++)
        fit = !known_not_to_fit(t, buffer, sample->flat[i]) &&
              verify_element(&in, buffer, sample->flat[i]).fits;
    verify_inputs_free(&in);
    return fit;
}

bool verify_sums_fit(const struct verify_task *t)
{
    bool fit = true;
    struct verify_inputs in = verify_inputs_of(t, VERIFY_LARGEST);
    for (unsigned b = 0; b < t->n_buffers && t->whole; b++) {
        if (!t->buffers[b].output || verify_integer(t->buffers[b].type)) continue;
        if ((fit = fit && !known_not_to_fit(t, b, 0))) {
            struct lift_value_bound v = verify_element(&in, b, 0);
            fit = !v.exact_ops || v.fits;
        }
    }
    verify_inputs_free(&in);
    return fit;
}
