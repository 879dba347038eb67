/* The check of a reference and the tolerances (README.md, "Verification").
 *
 *     sum of 1,000 numbers, exact set       whole numbers, sum of magnitudes below 2^24: bit for bit
 *     sum of 1,000 numbers, timing set      |y - reference| <= 4 * 1001 * 2^-24 * 500 = 0.12
 *     softmax of 1,024, outputs from 1e-9   the same absolute tolerance, and 3 % of each output
 *
 * With whole numbers as inputs, only + - * fma min max as operations and the sum S of absolute terms below
 * 2^p, every order of summation gives the same bits: outputs are compared bit for bit. Otherwise |y -
 * reference| <= 4 (n + 1) u S, n the longest rounding chain, u = 2^-p: the reference is itself rounded (a
 * factor 2), and S is the largest over a sample of the outputs (another 2). A tolerance alone would hide a
 * missing term of a long sum.
 *
 * Where outputs of a set are smaller than that, each gets a tolerance relative to its size: 4 (n + 1) u
 * R, R the largest ratio of S to the output over the sample (verify_judge.c). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/verify_interpret.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/lift/scalar.h"

enum { EXTREME_SHARE = 16 }; /* an extreme set is checked at so few of the outputs that the others are at */

/* One output whose reference is checked. */
struct checked {
    const struct verify_task *t;
    unsigned buffer;
    const struct verify_buffer *b;
    struct diag *diag;
};

/* What is known of the outputs of one set. */
struct sample_bound {
    double n, s;  /* the largest over the sample */
    double ratio; /* the largest s of an output beside the output */
    bool exact;   /* all of it is exact integer arithmetic */
};

/* ---- messages ---- */

static void say_wrong(const struct checked *c, unsigned set, int64_t at, struct lift_value_bound v)
{
    const struct verify_buffer *b = c->b;
    struct diag *d = c->diag;
    double reference = verify_get(b->type, b->data[set], at);
    if (verify_unwritten(b->type, b->data[set], at))
        diag_plain(d, "the reference is wrong: the naive kernel does not write output %lld", (long long)at);
    else if (v.overflows)
        diag_plain(
            d,
            "the reference cannot be computed: an intermediate result of output %lld is larger than the "
            "largest %s, %.3g; restrict the range of the inputs, as in 'input x: [float]N in 0.1..2'",
            (long long)at, scalar_type_name(b->type), scalar_type_largest(b->type));
    else
        diag_plain(d,
                   "the reference is wrong: output %lld is %.9g from the naive kernel, %.9g from the "
                   "interpreter",
                   (long long)at, reference, v.value);
}

/* ---- one set ---- */

/* Takes an element into the bound; one of which no error is known, or that may go two ways
 * (verify_wrong()), has no part in it. The ratio of an output near the smallest number of its type says
 * nothing: what is lost of it is not relative. */
static void widen(struct sample_bound *bound, enum scalar_type type, struct lift_value_bound v)
{
    double least = ldexp(scalar_type_smallest(type), (int)scalar_type_precision(type));
    bound->exact = bound->exact && v.exact_ops && v.value == nearbyint(v.value) && !v.jumps;
    if (v.jumps || !isfinite(verify_rounded(type, v.value)) || !isfinite(v.s) || v.overflows) return;
    bound->n = fmax(bound->n, v.n);
    bound->s = fmax(bound->s, v.s);
    if (fabs(v.value) > least) bound->ratio = fmax(bound->ratio, v.s / fabs(v.value));
}

/* Looks at outputs that the interpreter comes to v[] for. */
static bool check_values(const struct checked *c, unsigned set, const struct verify_sample *sample,
                         const struct lift_value_bound *v, struct sample_bound *bound)
{
    const struct verify_buffer *b = c->b;
    *bound = (struct sample_bound){.exact = true};
    for (unsigned i = 0; i < sample->n; i++) {
        int64_t at = sample->flat[i];
        widen(bound, b->type, v[i]);
        if (verify_agrees(b, verify_get(b->type, b->data[set], at), v[i])) continue;
        say_wrong(c, set, at, v[i]);
        return false;
    }
    return true;
}

/* Looks at every step-th output of the sample. */
static bool check_set(const struct checked *c, unsigned set, const struct verify_inputs *in,
                      const struct verify_sample *sample, unsigned step, double work,
                      struct sample_bound *bound)
{
    struct verify_sample some = {.n = 0};
    struct lift_value_bound *v = base_calloc(sample->n, sizeof *v);
    for (unsigned i = 0; i < sample->n; i += step)
        some.flat[some.n++] = sample->flat[i];
    verify_elements(in, c->buffer, work, some.flat, some.n, v);
    bool ok = check_values(c, set, &some, v, bound);
    free(v);
    return ok;
}

/* The naive kernel may have left an output as it was where it still has the bytes of the fill. */
static bool check_written_at(const struct checked *c, unsigned set, const struct verify_inputs *in, int64_t i)
{
    const struct verify_buffer *b = c->b;
    struct lift_value_bound v = verify_element(in, c->buffer, i);
    if (!verify_unwritten(b->type, b->data[set], i) && v.value == verify_get(b->type, b->data[set], i))
        return true;
    say_wrong(c, set, i, v);
    return false;
}

/* What is updated in place has the input's bytes before, not those of the fill. */
static bool check_written(const struct checked *c, unsigned set, const struct verify_inputs *in)
{
    const struct verify_buffer *b = c->b;
    const size_t unit = scalar_type_bytes(b->type);
    const unsigned char *data = b->data[set];
    unsigned char fill[VERIFY_FILL];
    verify_fill(b->type, set, fill);
    for (int64_t from = 0, end; !b->updated && from < b->elements; from = end) {
        end = from + VERIFY_BLOCK < b->elements ? from + VERIFY_BLOCK : b->elements;
        if (!verify_has_fill(b->type, data + (size_t)from * unit, end - from, fill)) continue;
        for (int64_t i = from; i < end; i++)
            if (!memcmp(data + (size_t)i * unit, fill, unit) && !check_written_at(c, set, in, i))
                return false;
    }
    return true;
}

/* The interpreter must come to an infinity or NaN of the reference, too. Of very many such outputs `most` are
 * looked at, evenly spread. */
static bool check_complete(const struct checked *c, unsigned set, const struct verify_inputs *in, double most)
{
    const struct verify_buffer *b = c->b;
    if (verify_integer(b->type)) return true;
    int64_t all = verify_count_not_finite(b, set), step = 1 + all / (int64_t)most, n = 0;
    for (int64_t i = 0; all > 0 && i < b->elements; i++) {
        double reference = verify_get(b->type, b->data[set], i);
        if (isfinite(reference) || n++ % step) continue;
        struct lift_value_bound v = verify_element(in, c->buffer, i);
        if (verify_agrees(b, reference, v)) continue;
        say_wrong(c, set, i, v);
        return false;
    }
    return true;
}

/* The check of one set, with what is known of its outputs. */
static bool check_one(const struct checked *c, unsigned set, const struct verify_sample *sample, double work,
                      struct sample_bound *bound)
{
    struct verify_inputs in = verify_inputs_of(c->t, set);
    unsigned step = set >= VERIFY_EXTREME ? 1 + sample->n / (VERIFY_MAX_SAMPLES / EXTREME_SHARE) : 1;
    bool ok = check_written(c, set, &in) &&
              check_complete(c, set, &in, fmax(verify_sample_size(work) / step, 1)) &&
              check_set(c, set, &in, sample, step, work, bound);
    verify_inputs_free(&in);
    return ok;
}

/* ---- tolerances ---- */

/* An extreme set takes the bound of the timing set where that is larger: fewer of its outputs are looked at.
 */
static void widen_extremes(const struct verify_task *t, struct sample_bound *bounds)
{
    const struct sample_bound *timing = &bounds[VERIFY_TIMING];
    for (unsigned set = VERIFY_EXTREME; set < t->n_sets; set++) {
        bounds[set].n = fmax(bounds[set].n, timing->n);
        bounds[set].s = fmax(bounds[set].s, timing->s);
        bounds[set].ratio = fmax(bounds[set].ratio, timing->ratio);
    }
}

static void set_absolute(const struct checked *c, const struct sample_bound *bounds,
                         const struct verify_sample *sample, struct verify_tolerance *out)
{
    enum scalar_type type = c->b->type;
    for (unsigned set = 0; set < c->t->n_sets; set++)
        out[set] =
            (struct verify_tolerance){.absolute = 4 * verify_error(type, bounds[set].n, bounds[set].s)};
    out[VERIFY_EXACT].exact =
        c->t->whole && bounds[VERIFY_EXACT].exact && verify_largest_fit(c->t, c->buffer, sample);
}

/* Whether the absolute tolerance of a set accepts zero for some output. */
static bool has_small(const struct verify_buffer *b, unsigned set, struct verify_tolerance t)
{
    for (int64_t i = 0; !t.exact && !verify_integer(b->type) && i < b->elements; i++)
        if (fabs(verify_get(b->type, b->data[set], i)) <= t.absolute) return true;
    return false;
}

/* For the sets with small outputs. A relative tolerance of 1 or more is of no use. */
static void set_relative(const struct checked *c, const struct sample_bound *bounds,
                         struct verify_tolerance *out)
{
    double u = ldexp(1, -(int)scalar_type_precision(c->b->type));
    for (unsigned set = 0; set < c->t->n_sets; set++) {
        if (!has_small(c->b, set, out[set])) continue;
        double relative = 4 * (bounds[set].n + 1) * u * bounds[set].ratio;
        if (relative < 1) out[set].relative = relative;
        out[set].floor = 4 * verify_error_floor(c->b->type, bounds[set].n);
    }
}

static bool check_output(const struct checked *c, uint64_t seed, struct verify_tolerance *out)
{
    struct sample_bound bounds[VERIFY_MOST_SETS];
    double work = verify_work(c->t, c->buffer);
    struct verify_sample *sample = verify_sample_new(c->t, c->buffer, work, seed);
    bool ok = true;
    for (unsigned set = 0; ok && set < c->t->n_sets; set++)
        ok = check_one(c, set, sample, work, &bounds[set]);
    if (ok) {
        widen_extremes(c->t, bounds);
        set_absolute(c, bounds, sample, out);
        set_relative(c, bounds, out);
    }
    free(sample);
    return ok;
}

bool verify_reference(const struct verify_task *t, uint64_t seed, struct verify_tolerance *out,
                      struct diag *d)
{
    bool ok = true;
    for (unsigned b = 0; ok && b < t->n_buffers; b++) {
        if (!t->buffers[b].output) continue;
        ok = check_output(&(struct checked){t, b, &t->buffers[b], d}, seed, out);
        out += t->n_sets;
    }
    return ok;
}
