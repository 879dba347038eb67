/* The reference and its check (design page `distribution`, "The agent": Reference, Exact pass).
 *
 * With whole numbers as inputs, only + - * fma min max as operations and the sum S of absolute terms below
 * 2^p, every order of summation gives the same bits: outputs are compared bit for bit. Otherwise |y -
 * reference| <= 4 (n + 1) u S, n the longest rounding chain, u = 2^-p: the reference is itself rounded (a
 * factor 2), and S is the largest over a sample of the outputs (another 2). A tolerance alone would hide a
 * missing term of a long sum. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/verify.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/panic.h"
#include "core/base/pcg32.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"

enum { MAX_SAMPLES = 1000, MIN_SAMPLES = 16, MAX_CORNERS = 64, EXTREME_SHARE = 16, FINITE_SHARE = 4 };
static const double SAMPLE_STEPS = 4e6;    /* rounding steps to interpret for the check of a reference */
static const double INTERPRET_STEPS = 4e8; /* and for a whole reference, all sets of it */
static const double DOUBTFUL = 0.01;       /* share of the outputs */

/* ---- the interpreter's view ---- */

static double *as_doubles(const struct verify_buffer *b, unsigned set)
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

static double largest(const struct verify_buffer *b)
{
    double most = 0;
    for (int64_t i = 0; i < b->elements; i++)
        most = fmax(most, fabs(verify_get(b->type, b->data[VERIFY_EXACT], i)));
    return most;
}

/* set LARGEST: the largest magnitude of an input's exact set everywhere. */
enum { LARGEST = VERIFY_MOST_SETS };
static double **inputs_new(const struct verify_task *t, const unsigned *input_of,
                           const struct lift_program *p, unsigned set)
{
    double **in = base_calloc(p->n_inputs ? p->n_inputs : 1, sizeof *in);
    for (unsigned b = 0; b < t->n_buffers; b++) {
        if (t->buffers[b].output || in[input_of[b]]) continue;
        in[input_of[b]] = set == LARGEST ? constant_doubles(t->buffers[b].elements, largest(&t->buffers[b]))
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
    double steps = chain_length(p, in) * (double)output_of(t)->elements * t->n_sets;
    inputs_free(in, p);
    return steps <= INTERPRET_STEPS;
}

void verify_interpret(struct verify_task *t, const unsigned *input_of, const struct lift_program *p)
{
    const struct verify_buffer *b = output_of(t);
    double *out = base_malloc((size_t)b->elements * sizeof *out);
    for (unsigned set = 0; set < t->n_sets; set++) {
        double **in = inputs_new(t, input_of, p, set);
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
    double wanted = s->n < elements ? sample_size(chain) : 0;
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
    if (verify_integer(type)) return value;
    verify_put(type, &element, 0, value);
    return verify_get(type, &element, 0);
}

/* What a result of n rounding steps and absolute terms s may be off by. The errors of very small results,
 * such as exp(-100) as a float, are not relative: a device may replace them with zero (halves must keep them
 * down to the smallest). */
static double error_bound(enum scalar_type type, double n, double s)
{
    static const int least[] = {[SCALAR_FLOAT] = -126, [SCALAR_DOUBLE] = -1022, [SCALAR_HALF] = -24};
    double lost = verify_integer(type) ? 0 : ldexp(1, least[type]);
    return (n + 1) * (ldexp(1, -(int)scalar_type_precision(type)) * s + lost);
}

/* Where an intermediate result is infinite, s may be none: nothing is known of the error then. */
static bool agrees(const struct verify_buffer *b, double reference, struct lift_value_bound v)
{
    double value = rounded(b->type, v.value);
    if (!isfinite(value) || !isfinite(reference)) return verify_same(value, reference);
    return !isfinite(v.s) || fabs(reference - v.value) <= error_bound(b->type, v.n, v.s);
}

static void say_wrong(const struct verify_buffer *b, unsigned set, int64_t at, double value, struct diag *d)
{
    double reference = verify_get(b->type, b->data[set], at);
    if (verify_unwritten(b->type, b->data[set], at))
        diag_plain(d, "the reference is wrong: the naive kernel does not write output %lld", (long long)at);
    else
        diag_plain(d,
                   "the reference is wrong: output %lld is %.9g from the naive kernel, %.9g from the "
                   "interpreter",
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

/* Looks at every step-th output of the sample. */
static bool check_set(const struct verify_buffer *b, unsigned set, double **in, const struct lift_program *p,
                      const struct sample *sample, unsigned step, struct sample_bound *bound, struct diag *d)
{
    *bound = (struct sample_bound){.exact = true};
    for (unsigned i = 0; i < sample->n; i += step) {
        int64_t at = sample->flat[i];
        struct lift_value_bound v = lift_interpret_element(p, (const double *const *)in, at);
        widen(bound, b->type, v);
        double reference = verify_get(b->type, b->data[set], at);
        if (agrees(b, reference, v)) continue;
        say_wrong(b, set, at, v.value, d);
        return false;
    }
    return true;
}

static int64_t count_not_finite(const struct verify_buffer *b, unsigned set)
{
    int64_t n = 0;
    for (int64_t i = 0; i < b->elements; i++)
        n += !isfinite(verify_get(b->type, b->data[set], i));
    return n;
}

/* Whether the naive kernel may have left an output as it was: it still has the bytes of the fill. */
static bool may_be_unwritten(const struct verify_buffer *b, unsigned set, int64_t i)
{
    unsigned char fill[VERIFY_FILL];
    size_t n = scalar_type_bytes(b->type);
    verify_fill(b->type, set, fill);
    return !memcmp((const unsigned char *)b->data[set] + (size_t)i * n, fill, n);
}

static bool check_written(const struct verify_buffer *b, unsigned set, double **in,
                          const struct lift_program *p, struct diag *d)
{
    for (int64_t i = 0; i < b->elements; i++) {
        if (!may_be_unwritten(b, set, i)) continue;
        double value = lift_interpret_element(p, (const double *const *)in, i).value;
        if (!verify_unwritten(b->type, b->data[set], i) && value == verify_get(b->type, b->data[set], i))
            continue;
        say_wrong(b, set, i, value, d);
        return false;
    }
    return true;
}

/* The interpreter must come to an infinity or NaN of the reference, too. Of very many such outputs `most` are
 * looked at, evenly spread. */
static bool check_complete(const struct verify_buffer *b, unsigned set, double **in,
                           const struct lift_program *p, double most, struct diag *d)
{
    if (verify_integer(b->type)) return true;
    int64_t step = 1 + count_not_finite(b, set) / (int64_t)most, n = 0;
    for (int64_t i = 0; i < b->elements; i++) {
        double reference = verify_get(b->type, b->data[set], i);
        if (isfinite(reference) || n++ % step) continue;
        struct lift_value_bound v = lift_interpret_element(p, (const double *const *)in, i);
        if (agrees(b, reference, v)) continue;
        say_wrong(b, set, i, v.value, d);
        return false;
    }
    return true;
}

static double largest_sum(const struct verify_task *t, const unsigned *input_of, const struct lift_program *p,
                          const struct sample *sample)
{
    double **in = inputs_new(t, input_of, p, LARGEST), s = 0;
    for (unsigned i = 0; i < sample->n && i < MAX_CORNERS; i++)
        s = fmax(s, lift_interpret_element(p, (const double *const *)in, sample->flat[i]).s);
    inputs_free(in, p);
    return s;
}

/* The check of one set, with its tolerance. An extreme set's takes that of the timing set where it is larger:
 * fewer outputs of it are looked at. */
static bool check_one(const struct verify_task *t, const unsigned *input_of, const struct lift_program *p,
                      unsigned set, const struct sample *sample, double chain, struct verify_tolerance *out,
                      struct diag *d)
{
    const struct verify_buffer *b = output_of(t);
    struct sample_bound bound = {0};
    double **in = inputs_new(t, input_of, p, set);
    double least = set >= VERIFY_EXTREME && !out[VERIFY_TIMING].exact ? out[VERIFY_TIMING].absolute : 0;
    unsigned step = set >= VERIFY_EXTREME ? 1 + sample->n / (MAX_SAMPLES / EXTREME_SHARE) : 1;
    bool ok = check_written(b, set, in, p, d) &&
              check_complete(b, set, in, p, fmax(sample_size(chain) / step, 1), d) &&
              check_set(b, set, in, p, sample, step, &bound, d);
    double most = 4 * error_bound(b->type, bound.n, bound.s);
    out[set] = (struct verify_tolerance){.absolute = fmax(most, least),
                                         .exact = set == VERIFY_EXACT && t->whole && bound.exact};
    inputs_free(in, p);
    return ok;
}

static struct sample *sample_new(const struct verify_buffer *b, const struct lift_program *p, double chain,
                                 uint64_t seed)
{
    struct sample *sample = base_calloc(1, sizeof *sample);
    add_corners(sample, p->output->type, 0);
    add_random(sample, b->elements, chain, seed);
    return sample;
}

/* The longest chain of the timing set, whose inputs are typical. */
static double typical_chain(const struct verify_task *t, const unsigned *input_of,
                            const struct lift_program *p)
{
    double **in = inputs_new(t, input_of, p, VERIFY_TIMING), chain = chain_length(p, in);
    inputs_free(in, p);
    return chain;
}

bool verify_reference(const struct verify_task *t, const unsigned *input_of, const struct lift_program *p,
                      uint64_t seed, struct verify_tolerance out[VERIFY_MOST_SETS], struct diag *d)
{
    const struct verify_buffer *b = output_of(t);
    double chain = typical_chain(t, input_of, p);
    struct sample *sample = sample_new(b, p, chain, seed);
    bool ok = true;
    for (unsigned set = 0; ok && set < t->n_sets; set++)
        ok = check_one(t, input_of, p, set, sample, chain, out, d);
    if (ok && out[VERIFY_EXACT].exact)
        out[VERIFY_EXACT].exact =
            largest_sum(t, input_of, p, sample) < ldexp(1, (int)scalar_type_precision(b->type));
    free(sample);
    return ok;
}

int64_t verify_sample_not_finite(const struct verify_task *t, const unsigned *input_of,
                                 const struct lift_program *p, uint64_t seed)
{
    const struct verify_buffer *b = output_of(t);
    if (verify_integer(b->type)) return 0;
    double chain = typical_chain(t, input_of, p);
    struct sample *sample = sample_new(b, p, chain * FINITE_SHARE, seed);
    int64_t n = 0;
    for (unsigned set = 0; set < VERIFY_EXTREME; set++) {
        double **in = inputs_new(t, input_of, p, set);
        for (unsigned i = 0; i < sample->n; i++) {
            double value = lift_interpret_element(p, (const double *const *)in, sample->flat[i]).value;
            n += !isfinite(rounded(b->type, value));
        }
        inputs_free(in, p);
    }
    free(sample);
    return n;
}

/* ---- what is not verified ---- */

/* Whether a set verifies output i: its reference is a number, and the tolerance smaller. */
static bool is_tight(const struct verify_buffer *b, unsigned set, struct verify_tolerance t, int64_t i)
{
    double y = verify_get(b->type, b->data[set], i);
    return isfinite(y) && (t.exact || t.absolute < fabs(y));
}

/* Whether some set has a number for output i, and none verifies it. */
static bool is_loose(const struct verify_buffer *b, unsigned n_sets, const struct verify_tolerance *tolerance,
                     int64_t i)
{
    bool finite = false;
    for (unsigned set = 0; set < n_sets; set++) {
        if (is_tight(b, set, tolerance[set], i)) return false;
        finite = finite || isfinite(verify_get(b->type, b->data[set], i));
    }
    return finite;
}

struct verify_doubt verify_doubt(const struct verify_task *t,
                                 const struct verify_tolerance tolerance[VERIFY_MOST_SETS])
{
    const struct verify_buffer *b = output_of(t);
    struct verify_doubt x = {.outputs = b->elements};
    if (verify_integer(b->type)) return x;
    for (unsigned set = 0; set < VERIFY_EXTREME; set++) {
        int64_t n = count_not_finite(b, set);
        if (n > x.not_finite) x.not_finite = n;
    }
    for (int64_t i = 0; i < b->elements; i++)
        x.loose += is_loose(b, t->n_sets, tolerance, i);
    return x;
}

bool verify_doubtful(const struct verify_doubt *x)
{
    return (double)x->not_finite > DOUBTFUL * (double)x->outputs;
}

void verify_doubt_text(const struct verify_doubt *x, struct strbuf *out)
{
    if (x->not_finite > 0)
        strbuf_printf(out,
                      "%" PRId64 " of %" PRId64 " outputs are infinite or NaN in the reference and are not "
                      "verified: state ranges of the inputs, as in 'input x: [float]N in 0.1..2'",
                      x->not_finite, x->outputs);
    if (x->not_finite > 0 && x->loose > 0) strbuf_add(out, "; ");
    if (x->loose > 0)
        strbuf_printf(out,
                      "%" PRId64 " of %" PRId64 " outputs are smaller than the rounding errors that they may "
                      "have and are not verified: a smaller size, or inputs of one sign ('in 0.1..2'), "
                      "make them certain",
                      x->loose, x->outputs);
}
