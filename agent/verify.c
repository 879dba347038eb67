/* The task: arrays in shared memory, elements of every type, comparison of outputs with the reference.
 *
 *     reference   got                 tolerance 0.01
 *     2           2.001               equal
 *     inf         inf                 equal; nothing else is
 *     NaN         NaN                 equal, but for the NaN that outputs are filled with
 *
 * An output that still has the bytes that it was filled with was not written, whatever the reference is. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "agent/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/verify_inputs.h"
#include "agent/verify_interpret.h"
#include "core/backbone/backbone.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/lift/lift.h"

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

/* ---- fills ---- */

void verify_fill(enum scalar_type type, unsigned set, unsigned char pattern[VERIFY_FILL])
{
    static const uint16_t half = 0xff5a;
    static const uint32_t single = 0xffd5a5a5;
    static const uint64_t twice = 0xfffd5a5aa5a5d5a5;
    const void *from = type == SCALAR_HALF ? (const void *)&half : &single;
    size_t n = type == SCALAR_HALF ? sizeof half : sizeof single;
    if (type == SCALAR_DOUBLE) {
        from = &twice;
        n = sizeof twice;
    }
    for (size_t i = 0; i < VERIFY_FILL; i += n)
        memcpy(pattern + i, from, n);
    if (verify_integer(type)) memset(pattern, set % 2 ? 0x5a : 0xa5, VERIFY_FILL);
}

bool verify_unwritten(enum scalar_type type, const void *data, int64_t i)
{
    unsigned char pattern[VERIFY_FILL];
    size_t n = scalar_type_bytes(type);
    if (verify_integer(type)) return false;
    verify_fill(type, 0, pattern);
    return !memcmp((const unsigned char *)data + (size_t)i * n, pattern, n);
}

/* ---- the task ---- */

static bool allocate(struct verify_buffer *b, unsigned n_sets)
{
    for (unsigned set = 0; set < n_sets; set++) {
        b->data[set] = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (b->data[set] == MAP_FAILED) {
            b->data[set] = NULL;
            return false;
        }
    }
    return true;
}

struct verify_task *verify_task_new(const struct verify_buffer *shape, unsigned n, unsigned n_sets,
                                    struct diag *d)
{
    struct verify_task *t = base_calloc(1, sizeof *t);
    t->n_buffers = n;
    t->n_sets = n_sets;
    t->buffers = base_calloc(n, sizeof *t->buffers);
    for (unsigned i = 0; i < n; i++) {
        struct verify_buffer *b = &t->buffers[i];
        *b = (struct verify_buffer){.type = shape[i].type,
                                    .elements = shape[i].elements,
                                    .output = shape[i].output,
                                    .range = shape[i].range};
        b->bytes = (size_t)b->elements * scalar_type_bytes(b->type);
        if (allocate(b, n_sets)) continue;
        diag_plain(
            d,
            "not enough memory for %u arrays of %zu bytes, one for each set of inputs; choose smaller sizes",
            n_sets, b->bytes);
        verify_task_free(t);
        return NULL;
    }
    return t;
}

/* Draws in the domain where the fewest outputs of a sample are not finite; in the first such one. */
static enum verify_domain draw_finite(struct verify_task *t, uint64_t seed)
{
    enum verify_domain best = VERIFY_SIGNED, drawn = best;
    int64_t least = INT64_MAX;
    for (enum verify_domain x = best; x < VERIFY_DOMAINS && least > 0; x++) {
        verify_draw(t, drawn = x, seed);
        int64_t n = verify_sample_not_finite(t, seed);
        if (n >= least) continue;
        least = n;
        best = x;
    }
    if (best != drawn) verify_draw(t, best, seed);
    return best;
}

/* Where exact sums of the drawn numbers would be too large for their type, those of 1 and -1 may be not. */
static void draw_units(struct verify_task *t, enum verify_domain domain, uint64_t seed)
{
    if (verify_sums_fit(t)) return;
    t->units = true;
    verify_draw(t, domain, seed);
    if (verify_sums_fit(t)) return;
    t->units = false;
    verify_draw(t, domain, seed);
}

struct verify_task *verify_task_of(const struct backbone *bb, uint64_t seed, struct diag *d)
{
    struct verify_buffer *shape = base_calloc(bb->n_buffers, sizeof *shape);
    for (unsigned i = 0; i < bb->n_buffers; i++) {
        const struct bb_buffer *b = &bb->buffers[i];
        shape[i] = (struct verify_buffer){.type = b->type, .elements = b->elements, .output = b->output};
        if (!b->output) shape[i].range = bb->program->inputs[b->input]->range;
    }
    struct verify_task *t = verify_task_new(shape, bb->n_buffers, verify_sets(bb), d);
    free(shape);
    if (!t) return NULL;
    t->program = bb->program;
    enum verify_domain domain = draw_finite(t, seed);
    draw_units(t, domain, seed);
    if (t->n_sets > VERIFY_EXTREME) verify_draw_extremes(t, bb, domain, seed);
    return t;
}

void verify_task_free(struct verify_task *t)
{
    if (!t) return;
    for (unsigned i = 0; i < t->n_buffers; i++)
        for (unsigned set = 0; set < t->n_sets; set++)
            if (t->buffers[i].data[set]) munmap(t->buffers[i].data[set], t->buffers[i].bytes);
    free(t->buffers);
    free(t);
}

/* ---- comparison ---- */

/* Whether an output that is not within the tolerance is right all the same. */
static bool is_right(const struct verify_buffer *b, const void *got, int64_t i, double x, double y)
{
    return verify_same(x, y) && !verify_unwritten(b->type, got, i);
}

static int64_t compare_floats(const struct verify_buffer *b, const float *want, const float *got,
                              double allowed)
{
    for (int64_t i = 0; i < b->elements; i++) {
        double x = (double)got[i], y = (double)want[i];
        if (!(fabs(x - y) <= allowed) && !is_right(b, got, i, x, y)) return i;
    }
    return -1;
}

int64_t verify_compare(const struct verify_buffer *b, unsigned set, const void *got,
                       struct verify_tolerance tolerance)
{
    const void *want = b->data[set];
    bool exact = tolerance.exact || verify_integer(b->type);
    if (exact && !memcmp(want, got, b->bytes)) return -1;
    double allowed = exact ? 0 : tolerance.absolute; /* exact: -0 and 0 are one value */
    if (b->type == SCALAR_FLOAT) return compare_floats(b, want, got, allowed);
    for (int64_t i = 0; i < b->elements; i++) {
        double x = verify_get(b->type, got, i), y = verify_get(b->type, want, i);
        if (!(fabs(x - y) <= allowed) && !is_right(b, got, i, x, y)) return i;
    }
    return -1;
}
