/* What the reference cannot verify: outputs that are infinite or NaN, and those that are smaller than the
 * rounding errors that they may have.
 *
 *     64 of 64 outputs are infinite or NaN in the reference and are not verified; ...
 *
 * An infinite output is still compared, but most wrong kernels come to the same infinity. An output that is
 * smaller than its tolerance could be anything of that size. */
#include "agent/verify.h"

#include <inttypes.h>
#include <math.h>

#include "agent/verify_interpret.h"
#include "core/base/strbuf.h"

static const double DOUBTFUL = 0.01; /* share of the outputs */

/* Whether a set verifies output i: its reference is a number, and the tolerance smaller. */
static bool is_tight(const struct verify_buffer *b, unsigned set, struct verify_tolerance t, int64_t i)
{
    double y = verify_get(b->type, b->data[set], i), size = fabs(y);
    bool relative = t.relative > 0 && t.relative * size + t.floor < size;
    double allowed = t.stated ? t.absolute * fmax(1, size) : t.absolute;
    return isfinite(y) && (t.exact || allowed < size || relative);
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

static void count(const struct verify_buffer *b, unsigned n_sets, const struct verify_tolerance *tolerance,
                  struct verify_doubt *x)
{
    int64_t most = 0;
    x->outputs += b->elements;
    if (verify_integer(b->type)) return;
    for (unsigned set = 0; set < VERIFY_EXTREME; set++) {
        int64_t n = verify_count_not_finite(b, set);
        if (n > most) most = n;
    }
    x->not_finite += most;
    for (int64_t i = 0; i < b->elements; i++)
        x->loose += is_loose(b, n_sets, tolerance, i);
}

struct verify_doubt verify_doubt(const struct verify_task *t, const struct verify_tolerance *tolerance)
{
    struct verify_doubt x = {0};
    for (unsigned k = 0; k < verify_outputs(t); k++)
        count(&t->buffers[verify_output(t, k)], t->n_sets, tolerance + k * t->n_sets, &x);
    return x;
}

bool verify_doubtful(const struct verify_doubt *x)
{
    return (double)x->not_finite > DOUBTFUL * (double)x->outputs;
}

void verify_doubt_text(const struct verify_doubt *x, struct strbuf *out)
{
    if (x->not_finite > 0)
        strbuf_printf(
            out,
            "%" PRId64 " of %" PRId64 " outputs are infinite or NaN in the reference and are not "
            "verified; restrict the range of the inputs, as in 'input x: [float]N in 0.1..2', so that no "
            "function is undefined and no intermediate result overflows",
            x->not_finite, x->outputs);
    if (x->not_finite > 0 && x->loose > 0) strbuf_add(out, "; ");
    if (x->loose > 0)
        strbuf_printf(out,
                      "%" PRId64 " of %" PRId64
                      " outputs are smaller than their possible rounding error and are "
                      "not verified; choose smaller sizes, or inputs of one sign, as in 'input x: [float]N "
                      "in 0.1..2'",
                      x->loose, x->outputs);
}
