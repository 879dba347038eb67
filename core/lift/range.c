/* Ranges of inputs: check, drawing, text. */
#include "core/lift/range.h"

#include <math.h>

#include "core/base/strbuf.h"
#include "core/lift/lift.h"
#include "core/lift/scalar.h"
#include "core/lift/size.h"

static bool check_scalar(const struct lift_range *r, enum scalar_type type, struct diag *d)
{
    size_t before = diag_count(d);
    const char *name = scalar_type_name(type);
    double most = scalar_type_largest(type);
    bool sized = r->low_size || r->high_size;
    if (type == SCALAR_BOOL)
        diag_error(d, r->at, "bool inputs have no range; remove it");
    else if (!(r->low < r->high) && !(sized && r->low == r->high))
        diag_error(d, r->at, "the range %g..%g is empty: %s", r->low, r->high,
                   sized ? "choose other sizes" : "write the smaller number first");
    else if (r->low < -most || r->high > most)
        diag_error(d, r->at,
                   "the range %g..%g exceeds %s, whose largest number is %.9g; choose smaller bounds", r->low,
                   r->high, name, most);
    else if (type == SCALAR_INT && !sized && floor(r->high) - ceil(r->low) < 1)
        diag_error(d, r->at, "the range %g..%g contains fewer than two whole numbers; widen it", r->low,
                   r->high);
    return diag_count(d) == before;
}

bool lift_range_check(const struct lift_range *r, const struct lift_type *t, struct diag *d)
{
    bool ok = true;
    while (t->kind == LIFT_ARRAY)
        t = t->element;
    for (unsigned i = 0; ok && i < t->n_parts; i++)
        ok = lift_range_check(r, t->parts[i], d);
    return ok && (!r->given || t->kind == LIFT_TUPLE || check_scalar(r, t->scalar, d));
}

double lift_range_draw(const struct lift_range *r, enum scalar_type type, double unit)
{
    if (type != SCALAR_INT) return (1 - unit) * r->low + unit * r->high;
    double first = ceil(r->low), last = floor(r->high);
    return fmin(first + floor(unit * (last - first + 1)), last);
}

static void print_bound(double number, const struct lift_size *size, struct strbuf *out)
{
    if (size)
        lift_size_print(size, out);
    else
        lift_print_number(number, out);
}

void lift_range_print(const struct lift_range *r, struct strbuf *out)
{
    if (!r->given) return;
    strbuf_add(out, " in ");
    print_bound(r->low, r->low_size, out);
    strbuf_add(out, "..");
    print_bound(r->high, r->high_size, out);
}
