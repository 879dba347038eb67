/* Quantities as people read them. A value is rounded to three digits before its unit is chosen, so that
 * 999.7 us is "1 ms". */
#include "core/base/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

/* A unit is used below `most` of it; the next one is `next` of it. */
struct unit {
    const char *name;
    double most, next;
};

/* As it is printed: three digits, but all those before the point. */
static double rounded(double x)
{
    double step = x < 1000 ? pow(10, floor(log10(x)) - 2) : 1;
    return round(x / step) * step;
}

static int print(double x, const char *space, const char *unit, char *out, size_t n)
{
    return snprintf(out, n, x < 999.5 ? "%.3g%s%s" : "%.0f%s%s", x, space, unit);
}

/* `x` is positive and finite; the last unit has no limit. */
static int in_units(double x, const struct unit *units, const char *space, char *out, size_t n)
{
    while (rounded(x) >= units->most) {
        x /= units->next;
        units++;
    }
    return print(x, space, units->name, out, n);
}

int units_time(double ns, char *out, size_t n)
{
    static const struct unit units[] = {{"ns", 1000, 1000}, {"us", 1000, 1000}, {"ms", 1000, 1000},
                                        {"s", 120, 60},     {"min", 120, 60},   {"h", INFINITY, 1}};
    return ns > 0 && isfinite(ns) ? in_units(ns, units, " ", out, n) : snprintf(out, n, "-");
}

int units_bytes(double bytes, char *out, size_t n)
{
    static const struct unit units[] = {{"bytes", 1024, 1024},
                                        {"KiB", 1024, 1024},
                                        {"MiB", 1024, 1024},
                                        {"GiB", 1024, 1024},
                                        {"TiB", INFINITY, 1}};
    return bytes > 0 && isfinite(bytes) ? in_units(bytes, units, " ", out, n)
                                        : snprintf(out, n, "%.0f bytes", bytes);
}

int units_count(double count, char *out, size_t n)
{
    static const struct unit units[] = {
        {"", 1000, 1000}, {"k", 1000, 1000}, {"M", 1000, 1000}, {"G", 1000, 1000}, {"T", INFINITY, 1}};
    bool small = fabs(count) < 10000 && count == floor(count);
    if (small || !(count > 0) || isinf(count)) return snprintf(out, n, "%.0f", count);
    return in_units(count, units, rounded(count) < 1000 ? "" : " ", out, n);
}
