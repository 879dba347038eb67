/* Comparison of arrays in blocks: a first pass asks whether all elements of a block are plainly near the
 * reference, in a loop without exits that compilers make vector instructions of. Only a block that is not,
 * which has a wrong element, an infinity, a NaN or one that is far for its size, is looked at with care.
 *
 *     block      0     1     2     3                all of 256 MB are compared at the speed of memory
 *     near       yes   yes   no    yes
 *     careful                4,096 elements
 *
 *     reference   got                 tolerance 0.01
 *     2           2.001               equal
 *     inf         inf                 equal; nothing else is
 *     NaN         NaN                 equal, but for the NaN that outputs are filled with */
#include <math.h>
#include <string.h>

#include "agent/verify.h"

/* What |got - want| may be: the smaller of two bounds. */
struct bound {
    double absolute, relative, floor;
};

static bool floats_near(const float *want, const float *got, int64_t n, struct bound most)
{
    unsigned far = 0;
    for (int64_t i = 0; i < n; i++) {
        double y = (double)want[i], off = fabs((double)got[i] - y);
        double allowed = most.relative * fabs(y) + most.floor;
        far |= !(off <= (allowed < most.absolute ? allowed : most.absolute));
    }
    return !far;
}

static bool doubles_near(const double *want, const double *got, int64_t n, struct bound most)
{
    uint64_t far = 0;
    for (int64_t i = 0; i < n; i++) {
        double off = fabs(got[i] - want[i]);
        double allowed = most.relative * fabs(want[i]) + most.floor;
        far |= !(off <= (allowed < most.absolute ? allowed : most.absolute));
    }
    return !far;
}

/* The same bits, and each of them a finite number. */
static bool halves_same(const uint16_t *want, const uint16_t *got, int64_t n)
{
    uint16_t far = 0;
    for (int64_t i = 0; i < n; i++)
        far |= (uint16_t)(want[i] ^ got[i]) | ((got[i] & 0x7c00) == 0x7c00);
    return !far;
}

static bool is_near(const struct verify_span *s, int64_t from, int64_t n, struct bound most)
{
    size_t at = (size_t)from * scalar_type_bytes(s->type);
    const void *want = (const unsigned char *)s->want + at, *got = (const unsigned char *)s->got + at;
    if (s->type == SCALAR_FLOAT) return floats_near(want, got, n, most);
    if (s->type == SCALAR_DOUBLE) return doubles_near(want, got, n, most);
    return s->type == SCALAR_HALF && halves_same(want, got, n);
}

/* A stated tolerance is at least `absolute` for any reference. */
bool verify_near(const struct verify_span *s, struct verify_tolerance t, int64_t from, int64_t n)
{
    size_t unit = scalar_type_bytes(s->type), at = (size_t)from * unit;
    if (t.exact || verify_integer(s->type))
        return !memcmp((const unsigned char *)s->want + at, (const unsigned char *)s->got + at,
                       (size_t)n * unit);
    struct bound most = {.absolute = t.absolute, .floor = t.absolute};
    if (!t.stated && t.relative > 0) most = (struct bound){t.absolute, t.relative, t.floor};
    return is_near(s, from, n, most);
}

/* ---- bits ---- */

/* Defines a loop over the bits of elements. */
#define COUNT_WHERE(name, bits, of_x)                                                                        \
    static int64_t name(const bits *data, int64_t n, bits y)                                                 \
    {                                                                                                        \
        int64_t count = 0;                                                                                   \
        for (int64_t i = 0; i < n; i++)                                                                      \
            count += (of_x) == y;                                                                            \
        return count;                                                                                        \
    }
COUNT_WHERE(count_bytes, uint8_t, data[i])
COUNT_WHERE(count_shorts, uint16_t, data[i])
COUNT_WHERE(count_words, uint32_t, data[i])
COUNT_WHERE(count_longs, uint64_t, data[i])
COUNT_WHERE(count_half_exponents, uint16_t, data[i] & y)
COUNT_WHERE(count_float_exponents, uint32_t, data[i] & y)
COUNT_WHERE(count_double_exponents, uint64_t, data[i] & y)
#undef COUNT_WHERE

bool verify_has_fill(enum scalar_type type, const void *data, int64_t n,
                     const unsigned char pattern[VERIFY_FILL])
{
    uint64_t x;
    memcpy(&x, pattern, sizeof x);
    switch (scalar_type_bytes(type)) {
    case 1:
        return count_bytes(data, n, (uint8_t)x) > 0;
    case 2:
        return count_shorts(data, n, (uint16_t)x) > 0;
    case 4:
        return count_words(data, n, (uint32_t)x) > 0;
    default:
        return count_longs(data, n, x) > 0;
    }
}

int64_t verify_not_finite(enum scalar_type type, const void *data, int64_t n)
{
    switch (type) {
    case SCALAR_FLOAT:
        return count_float_exponents(data, n, 0x7f800000);
    case SCALAR_DOUBLE:
        return count_double_exponents(data, n, 0x7ff0000000000000);
    case SCALAR_HALF:
        return count_half_exponents(data, n, 0x7c00);
    default:
        return 0;
    }
}

/* Bits of positive floats are in the order of the floats; NaNs are above infinity. */
static double largest_float(const uint32_t *data, int64_t n)
{
    uint32_t most = 0;
    float x;
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits = data[i] & 0x7fffffff;
        bits = bits > 0x7f800000 ? 0 : bits;
        most = bits > most ? bits : most;
    }
    memcpy(&x, &most, sizeof x);
    return (double)x;
}

double verify_largest(const struct verify_buffer *b, unsigned set)
{
    const void *values = verify_values(b, set);
    if (b->type == SCALAR_FLOAT) return largest_float(values, b->elements);
    double most = 0;
    for (int64_t i = 0; i < b->elements; i++)
        most = fmax(most, fabs(verify_get(b->type, values, i)));
    return most;
}

/* ---- with care ---- */

/* Whether an output that is not within the tolerance is right all the same. */
static bool is_right(const struct verify_span *s, int64_t i, double x, double y)
{
    return verify_same(x, y) && !verify_unwritten(s->type, s->got, i);
}

/* Exact: -0 and 0 are one value. */
static double allowed(const struct verify_span *s, struct verify_tolerance t, double want)
{
    if (verify_integer(s->type)) return 0;
    if (t.stated) return t.absolute * fmax(1, fabs(want));
    return t.exact ? 0 : t.absolute;
}

static bool accepts(const struct verify_span *s, struct verify_tolerance t, int64_t i)
{
    double x = verify_get(s->type, s->got, i), y = verify_get(s->type, s->want, i);
    return fabs(x - y) <= allowed(s, t, y) || is_right(s, i, x, y);
}

int64_t verify_compare_span(const struct verify_span *s, struct verify_tolerance t, int64_t from, int64_t end)
{
    for (int64_t i = from; i < end; i++)
        if (!accepts(s, t, i)) return i;
    return -1;
}

int64_t verify_compare(const struct verify_buffer *b, unsigned set, const void *got,
                       struct verify_tolerance tolerance)
{
    const struct verify_span s = {.type = b->type, .want = b->data[set], .got = got};
    for (int64_t from = 0, end; from < b->elements; from = end) {
        end = from + VERIFY_BLOCK < b->elements ? from + VERIFY_BLOCK : b->elements;
        int64_t at =
            verify_near(&s, tolerance, from, end - from) ? -1 : verify_compare_span(&s, tolerance, from, end);
        if (at >= 0) return at;
    }
    return -1;
}
