/* Quoted times: medians and quartiles over rounds, as text and as JSON; see figure.h. */
#include "coordinator/figure.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/stats.h"

static const double lower = 0.25, upper = 0.75;

static bool is_time(double ns)
{
    return ns > 0 && isfinite(ns);
}

struct figure figure_of_rounds(const double *ns, size_t n)
{
    struct figure f = {0};
    double *known = base_calloc(n + 1, sizeof *known);
    unsigned m = 0;
    for (size_t i = 0; i < n; i++)
        if (is_time(ns[i])) known[m++] = ns[i];
    if (m > 0)
        f = (struct figure){stats_median(known, m), stats_quantile(known, m, lower),
                            stats_quantile(known, m, upper), m};
    free(known);
    return f;
}

struct figure figure_of_search(double ns)
{
    return is_time(ns) ? (struct figure){ns, ns, ns, 0} : (struct figure){0};
}

/* The unit that a time is told in, and its length in ns. */
static const char *unit_of(double ns, double *unit_ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
    unsigned u = 0;
    while (u + 1 < sizeof units / sizeof units[0] && ns < units[u].ns)
        u++;
    *unit_ns = units[u].ns;
    return units[u].name;
}

bool figure_known(const struct figure *f)
{
    return f->median_ns > 0;
}

bool figure_quoted(const struct figure *f)
{
    return figure_known(f) && f->rounds > 0;
}

bool figure_comparable(const struct figure *a, const struct figure *b)
{
    return figure_known(a) && figure_known(b) && figure_quoted(a) == figure_quoted(b);
}

const char *figure_print(const struct figure *f, char out[FIGURE_TEXT])
{
    double unit_ns;
    const char *unit = unit_of(f->median_ns, &unit_ns);
    if (!figure_known(f))
        snprintf(out, FIGURE_TEXT, "-");
    else if (!figure_quoted(f))
        snprintf(out, FIGURE_TEXT, "%.4g %s (search)", f->median_ns / unit_ns, unit);
    else
        snprintf(out, FIGURE_TEXT, "%.4g %s (%.4g to %.4g, %u round%s)", f->median_ns / unit_ns, unit,
                 f->low_ns / unit_ns, f->high_ns / unit_ns, f->rounds, f->rounds == 1 ? "" : "s");
    return out;
}

json_t *figure_json(const struct figure *f)
{
    if (!figure_known(f)) return json_null();
    return json_pack("{s:f,s:f,s:f,s:I}", "median_ns", f->median_ns, "low_ns", f->low_ns, "high_ns",
                     f->high_ns, "rounds", (json_int_t)f->rounds);
}

bool figure_read_json(const json_t *o, struct figure *out)
{
    json_int_t rounds;
    *out = (struct figure){0};
    if (json_is_null(o)) return true;
    if (json_unpack((json_t *)o, "{s:F,s:F,s:F,s:I}", "median_ns", &out->median_ns, "low_ns", &out->low_ns,
                    "high_ns", &out->high_ns, "rounds", &rounds))
        return false;
    out->rounds = rounds >= 0 && rounds <= INT_MAX ? (unsigned)rounds : 0;
    return is_time(out->median_ns) && is_time(out->low_ns) && is_time(out->high_ns) && rounds >= 0 &&
           rounds <= INT_MAX;
}

struct figure_ratio figure_ratio(const struct figure *a, const struct figure *b, const double *a_ns,
                                 const double *b_ns, size_t n)
{
    struct figure_ratio r = {0};
    if (!figure_known(a) || !figure_known(b)) return r;
    double *quotients = base_calloc(n + 1, sizeof *quotients);
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (is_time(a_ns[i]) && is_time(b_ns[i])) quotients[m++] = a_ns[i] / b_ns[i];
    r.quotient = r.low = r.high = a->median_ns / b->median_ns;
    if (m > 0 && figure_quoted(a) && figure_quoted(b)) {
        r.rounds = (unsigned)m;
        r.low = stats_quantile(quotients, m, lower);
        r.high = stats_quantile(quotients, m, upper);
    }
    free(quotients);
    return r;
}
