/* Inputs, reference and comparison (design page `distribution`, "The agent": Reference, Exact pass).
 *
 * With odd integers as inputs, only + - * fma min max as operations and the sum S of absolute terms below
 * 2^p, every order of summation gives the same bits: outputs are compared bit for bit. Otherwise |y -
 * reference| <= 4 (n + 1) u S, n the longest rounding chain, u = 2^-p: the reference is itself rounded (a
 * factor 2), and S is the largest over a sample of the outputs (another 2). A tolerance alone would hide a
 * missing term of a long sum. Where the reference is infinite or no number, so is the output. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "agent/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/panic.h"
#include "core/base/pcg32.h"
#include "core/lift/lift.h"

enum { MAX_SAMPLES = 1000, MIN_SAMPLES = 16, MAX_CORNERS = 64 };
static const double SAMPLE_STEPS = 4e6;    /* rounding steps to interpret for the check of a reference */
static const double INTERPRET_STEPS = 2e8; /* and for a whole reference */

/* ---- arrays ---- */

static double half_to_double(uint16_t h)
{
    int exponent = (h >> 10) & 31, fraction = h & 1023;
    double sign = h & 0x8000 ? -1 : 1;
    if (exponent == 31) return fraction ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0) return sign * ldexp(fraction, -24);
    return sign * ldexp(1024 + fraction, exponent - 25);
}

static uint16_t double_to_half(double x)
{
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    double magnitude = fabs(x);
    if (isnan(x)) return 0x7e00;
    if (magnitude >= 65520) return sign | 0x7c00;
    if (magnitude < ldexp(1, -14)) return (uint16_t)(sign | (unsigned)nearbyint(ldexp(magnitude, 24)));
    int exponent;
    double fraction = frexp(magnitude, &exponent);              /* in [0.5, 1) */
    unsigned digits = (unsigned)nearbyint(ldexp(fraction, 11)); /* 1024..2048 */
    return (uint16_t)(sign | (((unsigned)(exponent + 13) << 10) + digits));
}

double verify_get(enum scalar_type type, const void *data, int64_t i)
{
    switch (type) {
    case SCALAR_FLOAT:
        return (double)((const float *)data)[i];
    case SCALAR_DOUBLE:
        return ((const double *)data)[i];
    case SCALAR_HALF:
        return half_to_double(((const uint16_t *)data)[i]);
    case SCALAR_INT:
        return ((const int32_t *)data)[i];
    default:
        return ((const uint8_t *)data)[i * scalar_type_bytes(type)];
    }
}

void verify_put(enum scalar_type type, void *data, int64_t i, double value)
{
    switch (type) {
    case SCALAR_FLOAT:
        ((float *)data)[i] = (float)value;
        break;
    case SCALAR_DOUBLE:
        ((double *)data)[i] = value;
        break;
    case SCALAR_HALF:
        ((uint16_t *)data)[i] = double_to_half(value);
        break;
    case SCALAR_INT:
        ((int32_t *)data)[i] = (int32_t)value;
        break;
    default:
        ((uint8_t *)data)[i * scalar_type_bytes(type)] = value != 0;
        break;
    }
}

static bool is_integer(enum scalar_type type)
{
    return type == SCALAR_INT || type == SCALAR_BOOL;
}

static double draw(enum verify_set set, enum scalar_type type, struct pcg32 *rng)
{
    if (type == SCALAR_BOOL) return pcg32_below(rng, 2);
    if (set == VERIFY_EXACT || type == SCALAR_INT) return 2.0 * pcg32_below(rng, 4) - 3;
    return 2 * pcg32_unit(rng) - 1;
}

static void fill_input(struct verify_buffer *b, uint64_t seed, unsigned index)
{
    for (unsigned set = 0; set < VERIFY_SETS; set++) {
        struct pcg32 rng = pcg32_seed(seed, 2 * index + set);
        for (int64_t i = 0; i < b->elements; i++)
            verify_put(b->type, b->data[set], i, draw((enum verify_set)set, b->type, &rng));
    }
}

static bool allocate(struct verify_buffer *b)
{
    for (unsigned set = 0; set < VERIFY_SETS; set++) {
        b->data[set] = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (b->data[set] == MAP_FAILED) {
            b->data[set] = NULL;
            return false;
        }
    }
    return true;
}

struct verify_task *verify_task_new(const struct verify_buffer *shape, unsigned n, uint64_t seed,
                                    struct diag *d)
{
    struct verify_task *t = base_calloc(1, sizeof *t);
    t->n_buffers = n;
    t->buffers = base_calloc(n, sizeof *t->buffers);
    for (unsigned i = 0; i < n; i++) {
        struct verify_buffer *b = &t->buffers[i];
        *b = (struct verify_buffer){
            .type = shape[i].type, .elements = shape[i].elements, .output = shape[i].output};
        b->bytes = (size_t)b->elements * scalar_type_bytes(b->type);
        if (!allocate(b)) {
            diag_plain(d, "not enough memory for a buffer of %zu bytes", b->bytes);
            verify_task_free(t);
            return NULL;
        }
        if (!b->output) fill_input(b, seed, i);
    }
    return t;
}

void verify_task_free(struct verify_task *t)
{
    if (!t) return;
    for (unsigned i = 0; i < t->n_buffers; i++)
        for (unsigned set = 0; set < VERIFY_SETS; set++)
            if (t->buffers[i].data[set]) munmap(t->buffers[i].data[set], t->buffers[i].bytes);
    free(t->buffers);
    free(t);
}

/* ---- comparison ---- */

/* Whether two values are the same although their difference is no number: an infinity, or NaN. */
static bool is_same(double x, double y)
{
    return x == y || (isnan(x) && isnan(y));
}

static int64_t compare_floats(const float *want, const float *got, int64_t n, double allowed)
{
    for (int64_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - (double)want[i]) <= allowed) && !is_same((double)got[i], (double)want[i]))
            return i;
    return -1;
}

int64_t verify_compare(const struct verify_buffer *b, enum verify_set set, const void *got,
                       struct verify_tolerance tolerance)
{
    const void *want = b->data[set];
    bool exact = tolerance.exact || is_integer(b->type);
    if (exact && !memcmp(want, got, b->bytes)) return -1;
    double allowed = exact ? 0 : tolerance.absolute; /* exact: -0 and 0 are one value */
    if (b->type == SCALAR_FLOAT) return compare_floats(want, got, b->elements, allowed);
    for (int64_t i = 0; i < b->elements; i++) {
        double x = verify_get(b->type, got, i), y = verify_get(b->type, want, i);
        if (!(fabs(x - y) <= allowed) && !is_same(x, y)) return i;
    }
    return -1;
}

/* ---- the interpreter's view ---- */

static double *as_doubles(const struct verify_buffer *b, enum verify_set set)
{
    double *out = base_malloc((size_t)b->elements * sizeof *out);
    for (int64_t i = 0; i < b->elements; i++)
        out[i] = verify_get(b->type, b->data[set], i);
    return out;
}

static double *constant_doubles(int64_t n, double value)
{
    double *out = base_malloc((size_t)n * sizeof *out);
    for (int64_t i = 0; i < n; i++)
        out[i] = value;
    return out;
}

/* set VERIFY_SETS: the largest magnitude of the exact set everywhere. */
static double **inputs_new(const struct verify_task *t, const unsigned *input_of,
                           const struct lift_program *p, enum verify_set set)
{
    double **in = base_calloc(p->n_inputs ? p->n_inputs : 1, sizeof *in);
    for (unsigned b = 0; b < t->n_buffers; b++) {
        if (t->buffers[b].output || in[input_of[b]]) continue;
        in[input_of[b]] = set == VERIFY_SETS ? constant_doubles(t->buffers[b].elements, 3)
                                             : as_doubles(&t->buffers[b], set);
    }
    for (unsigned i = 0; i < p->n_inputs; i++) /* inputs that no instruction reads */
        if (!in[i]) in[i] = constant_doubles(lift_type_scalars(p->inputs[i]->type), 1);
    return in;
}

static void inputs_free(double **in, const struct lift_program *p)
{
    for (unsigned i = 0; i < p->n_inputs; i++)
        free(in[i]);
    free(in);
}

static const struct verify_buffer *output_of(const struct verify_task *t)
{
    for (unsigned b = 0; b < t->n_buffers; b++)
        if (t->buffers[b].output) return &t->buffers[b];
    PANIC("a task without an output");
}

static double chain_length(const struct lift_program *p, double *const *in)
{
    return lift_interpret_element(p, (const double *const *)in, 0).n + 1;
}

bool verify_interpretable(const struct verify_task *t, const struct lift_program *p)
{
    double **in = base_calloc(p->n_inputs ? p->n_inputs : 1, sizeof *in);
    for (unsigned i = 0; i < p->n_inputs; i++)
        in[i] = constant_doubles(lift_type_scalars(p->inputs[i]->type), 1);
    double steps = chain_length(p, in) * (double)output_of(t)->elements;
    inputs_free(in, p);
    return steps <= INTERPRET_STEPS;
}

void verify_interpret(struct verify_task *t, const unsigned *input_of, const struct lift_program *p)
{
    const struct verify_buffer *b = output_of(t);
    double *out = base_malloc((size_t)b->elements * sizeof *out);
    for (unsigned set = 0; set < VERIFY_SETS; set++) {
        double **in = inputs_new(t, input_of, p, (enum verify_set)set);
        lift_interpret(p, (const double *const *)in, out);
        for (int64_t i = 0; i < b->elements; i++)
            verify_put(b->type, b->data[set], i, out[i]);
        inputs_free(in, p);
    }
    free(out);
}

/* ---- the check of a reference ---- */

/* The outputs that are looked at: corners first. */
struct sample {
    unsigned n;
    int64_t flat[MAX_CORNERS + MAX_SAMPLES];
};

static void add_corners(struct sample *s, const struct lift_type *t, int64_t flat)
{
    if (t->kind != LIFT_ARRAY) {
        if (s->n < MAX_CORNERS) s->flat[s->n++] = flat;
        return;
    }
    add_corners(s, t->element, flat * t->extent);
    if (t->extent > 1) add_corners(s, t->element, flat * t->extent + t->extent - 1);
}

/* How many outputs of that many rounding steps are interpreted. */
static double sample_size(double chain)
{
    return fmin(fmax(SAMPLE_STEPS / chain, MIN_SAMPLES), MAX_SAMPLES);
}

static void add_random(struct sample *s, int64_t elements, double chain, uint64_t seed)
{
    double wanted = sample_size(chain);
    struct pcg32 rng = pcg32_seed(seed, 0x5a);
    for (double i = 0; i < fmin(wanted, (double)elements); i++)
        s->flat[s->n++] = (int64_t)(pcg32_unit(&rng) * (double)elements);
}

/* The largest n and s over the sample, and whether all of it is exact integer arithmetic. */
struct sample_bound {
    double n, s;
    bool exact;
};

/* A value as the type holds it. */
static double rounded(enum scalar_type type, double value)
{
    union {
        float f;
        double d;
        uint16_t h;
    } element;
    if (is_integer(type)) return value;
    verify_put(type, &element, 0, value);
    return verify_get(type, &element, 0);
}

/* Where an intermediate result is infinite, s may be none: nothing is known of the error then. */
static bool agrees(const struct verify_buffer *b, double reference, struct lift_value_bound v)
{
    double u = ldexp(1, -(int)scalar_type_precision(b->type)), value = rounded(b->type, v.value);
    if (!isfinite(value) || !isfinite(reference)) return is_same(value, reference);
    return !isfinite(v.s) || fabs(reference - v.value) <= (v.n + 1) * u * v.s;
}

static void say_wrong(int64_t at, double reference, double value, struct diag *d)
{
    diag_plain(d,
               "the reference is wrong: output %lld is %.9g from the naive kernel, %.9g from the interpreter",
               (long long)at, reference, value);
}

/* Takes an element into the bound; one of which no error is known has no part in it. */
static void widen(struct sample_bound *bound, enum scalar_type type, struct lift_value_bound v)
{
    bound->exact = bound->exact && v.exact_ops && v.value == nearbyint(v.value);
    if (!isfinite(rounded(type, v.value)) || !isfinite(v.s)) return;
    bound->n = fmax(bound->n, v.n);
    bound->s = fmax(bound->s, v.s);
}

static bool check_set(const struct verify_buffer *b, enum verify_set set, double **in,
                      const struct lift_program *p, const struct sample *sample, struct sample_bound *bound,
                      struct diag *d)
{
    *bound = (struct sample_bound){.exact = true};
    for (unsigned i = 0; i < sample->n; i++) {
        int64_t at = sample->flat[i];
        struct lift_value_bound v = lift_interpret_element(p, (const double *const *)in, at);
        widen(bound, b->type, v);
        double reference = verify_get(b->type, b->data[set], at);
        if (agrees(b, reference, v)) continue;
        say_wrong(at, reference, v.value, d);
        return false;
    }
    return true;
}

static int64_t count_not_finite(const struct verify_buffer *b, enum verify_set set)
{
    int64_t n = 0;
    for (int64_t i = 0; i < b->elements; i++)
        n += !isfinite(verify_get(b->type, b->data[set], i));
    return n;
}

/* A NaN in the reference may be an output that the naive kernel did not write: the interpreter must come to
 * it, too. Of very many such outputs `most` are looked at, evenly spread. */
static bool check_complete(const struct verify_buffer *b, enum verify_set set, double **in,
                           const struct lift_program *p, double most, struct diag *d)
{
    if (is_integer(b->type)) return true;
    int64_t step = 1 + count_not_finite(b, set) / (int64_t)most, n = 0;
    for (int64_t i = 0; i < b->elements; i++) {
        double reference = verify_get(b->type, b->data[set], i);
        if (isfinite(reference) || n++ % step) continue;
        struct lift_value_bound v = lift_interpret_element(p, (const double *const *)in, i);
        if (agrees(b, reference, v)) continue;
        say_wrong(i, reference, v.value, d);
        return false;
    }
    return true;
}

static double largest_sum(const struct verify_task *t, const unsigned *input_of, const struct lift_program *p,
                          const struct sample *sample)
{
    double **in = inputs_new(t, input_of, p, VERIFY_SETS), s = 0;
    for (unsigned i = 0; i < sample->n && i < MAX_CORNERS; i++)
        s = fmax(s, lift_interpret_element(p, (const double *const *)in, sample->flat[i]).s);
    inputs_free(in, p);
    return s;
}

bool verify_reference(const struct verify_task *t, const unsigned *input_of, const struct lift_program *p,
                      uint64_t seed, struct verify_tolerance out[VERIFY_SETS], struct diag *d)
{
    const struct verify_buffer *b = output_of(t);
    int precision = (int)scalar_type_precision(b->type);
    struct sample *sample = base_calloc(1, sizeof *sample);
    double chain = 1;
    bool ok = true;
    for (unsigned set = 0; ok && set < VERIFY_SETS; set++) {
        double **in = inputs_new(t, input_of, p, (enum verify_set)set);
        struct sample_bound bound = {0};
        if (set == 0) {
            chain = chain_length(p, in);
            add_corners(sample, p->output->type, 0);
            add_random(sample, b->elements, chain, seed);
        }
        ok = check_complete(b, (enum verify_set)set, in, p, sample_size(chain), d) &&
             check_set(b, (enum verify_set)set, in, p, sample, &bound, d);
        out[set].absolute = 4 * (bound.n + 1) * ldexp(1, -precision) * bound.s;
        out[set].exact =
            set == VERIFY_EXACT && bound.exact && largest_sum(t, input_of, p, sample) < ldexp(1, precision);
        inputs_free(in, p);
    }
    free(sample);
    return ok;
}
