/* The user's tolerance and expected result.
 *
 *     program 3.5 (within 1e-6)    file 3.5000002: it takes the place of the reference    file 4: an error
 *
 * A kernel and the naive one are each off by up to half of a derived tolerance. So a file that is no farther
 * from the naive kernel's result than half of it rejects no correct kernel. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "agent/given.h"
#include "agent/verify_interpret.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"

void verify_state(const struct verify_task *t, const struct given *data, struct verify_tolerance *tolerance)
{
    double stated = given_tolerance(data);
    for (unsigned i = 0; stated >= 0 && i < verify_outputs(t) * t->n_sets; i++)
        tolerance[i] = (struct verify_tolerance){.stated = true, .absolute = stated};
}

/* What the program may differ from an element of the file. */
static double allowed(const struct verify_buffer *b, struct verify_tolerance t, double expected)
{
    if (verify_integer(b->type)) return 0;
    return t.stated ? t.absolute * fmax(1, fabs(expected)) : t.absolute / 2;
}

/* The place of an element in an array of the type, as "1, 3". */
static void print_place(const struct lift_type *t, int64_t at, struct strbuf *out)
{
    const char *between = "";
    for (; t->kind == LIFT_ARRAY; t = t->element, between = ", ") {
        int64_t below = lift_type_scalars(t->element);
        strbuf_printf(out, "%s%" PRId64, between, at / below);
        at %= below;
    }
}

struct difference {
    int64_t first, n; /* elements that differ by too much */
};

static struct difference compare(const struct verify_buffer *b, const void *expected,
                                 struct verify_tolerance t)
{
    struct difference x = {.first = -1};
    for (int64_t i = 0; i < b->elements; i++) {
        double y = verify_get(b->type, b->data[VERIFY_TIMING], i), e = verify_get(b->type, expected, i);
        if (fabs(y - e) <= allowed(b, t, e) || verify_same(y, e)) continue;
        if (x.n++ == 0) x.first = i;
    }
    return x;
}

static void refuse(const struct verify_task *t, unsigned output, const struct given *data,
                   struct difference x, struct verify_tolerance tolerance, struct diag *d)
{
    const struct verify_buffer *b = &t->buffers[output];
    struct strbuf place = {0};
    const void *expected = given_reference(data, output);
    double e = verify_get(b->type, expected, x.first);
    print_place(t->program->arrays[output].type, x.first, &place);
    diag_plain(
        d,
        "the program disagrees with %s: output %" PRId64 "%s%s%s is %.9g by the program and %.9g in the "
        "file, and may differ by %.3g; %" PRId64 " of %" PRId64
        " outputs differ; correct one of them, or state a larger --tolerance",
        given_reference_path(data, output), x.first, place.length ? " (at " : "",
        place.length ? place.text : "", place.length ? ")" : "",
        verify_get(b->type, b->data[VERIFY_TIMING], x.first), e, allowed(b, tolerance, e), x.n, b->elements);
    strbuf_free(&place);
}

bool verify_expected(const struct verify_task *t, const struct given *data,
                     const struct verify_tolerance *tolerance, struct diag *d)
{
    bool ok = true;
    for (unsigned o = 0; o < verify_outputs(t); o++) {
        const unsigned output = verify_output(t, o);
        const struct verify_buffer *b = &t->buffers[output];
        const void *expected = given_reference(data, output);
        const struct verify_tolerance allowance = tolerance[o * t->n_sets + VERIFY_TIMING];
        if (!expected) continue;
        struct difference x = compare(b, expected, allowance);
        if (x.n > 0)
            refuse(t, output, data, x, allowance, d);
        else
            memcpy(b->data[VERIFY_TIMING], expected, b->bytes);
        ok = ok && x.n == 0;
    }
    return ok;
}
