/* Ranges of inputs: check and text. */
#include "core/lift/range.h"

#include <float.h>
#include <math.h>

#include "core/base/strbuf.h"
#include "core/lift/lift.h"

static const double half_max = 65504;

static double largest_of(enum scalar_type type)
{
    switch (type) {
    case SCALAR_FLOAT:
        return (double)FLT_MAX;
    case SCALAR_HALF:
        return half_max;
    case SCALAR_INT:
        return INT32_MAX;
    default:
        return DBL_MAX;
    }
}

bool lift_range_check(const struct lift_range *r, const struct lift_type *t, struct diag *d)
{
    enum scalar_type type;
    size_t before = diag_count(d);
    if (!r->given || !lift_type_bottom(t, &type)) return true;
    const char *name = scalar_type_name(type);
    double most = largest_of(type);
    if (type == SCALAR_BOOL)
        diag_error(d, r->at, "a bool takes no range");
    else if (!(r->low < r->high))
        diag_error(d, r->at, "the range %g..%g is empty: write the smaller number first", r->low, r->high);
    else if (r->low < -most || r->high > most)
        diag_error(d, r->at, "the range %g..%g exceeds %s, whose largest number is %.9g", r->low, r->high,
                   name, most);
    else if (type == SCALAR_INT && floor(r->high) - ceil(r->low) < 1)
        diag_error(d, r->at, "the range %g..%g has fewer than two whole numbers", r->low, r->high);
    return diag_count(d) == before;
}

double lift_range_draw(const struct lift_range *r, enum scalar_type type, double unit)
{
    if (type != SCALAR_INT) return (1 - unit) * r->low + unit * r->high;
    double first = ceil(r->low), last = floor(r->high);
    return fmin(first + floor(unit * (last - first + 1)), last);
}

void lift_range_print(const struct lift_range *r, struct strbuf *out)
{
    if (!r->given) return;
    strbuf_add(out, " in ");
    lift_print_number(r->low, out);
    strbuf_add(out, "..");
    lift_print_number(r->high, out);
}
