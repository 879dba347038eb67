/* Guards are few and short: each question looks at all of them. */
#include "core/backbone/guard.h"

#include <inttypes.h>

#include "core/base/arena.h"
#include "core/base/strbuf.h"

static enum guard_verdict prove_one(const struct index_guard *g)
{
    int64_t least = index_least(g->of), most = index_most(g->of);
    if (least >= g->low && most <= g->high) return GUARD_TRUE;
    return most < g->low || least > g->high ? GUARD_FALSE : GUARD_OPEN;
}

enum guard_verdict guard_prove(const struct index_guard *guards, unsigned n)
{
    enum guard_verdict all = GUARD_TRUE;
    for (unsigned i = 0; i < n; i++) {
        enum guard_verdict v = prove_one(&guards[i]);
        if (v == GUARD_FALSE) return v;
        if (v == GUARD_OPEN) all = v;
    }
    return all;
}

bool guard_holds(const struct index_guard *guards, unsigned n, const int64_t *var_values)
{
    for (unsigned i = 0; i < n; i++) {
        int64_t x = index_eval(guards[i].of, var_values);
        if (x < guards[i].low || x > guards[i].high) return false;
    }
    return true;
}

const struct index_guard *guard_substitute(struct arena *a, const struct index_guard *guards, unsigned *n,
                                           const struct index_expr *const *replacement,
                                           uint32_t n_replacements)
{
    struct index_guard *out = ARENA_ARRAY(a, struct index_guard, *n + 1);
    unsigned left = 0;
    for (unsigned i = 0; i < *n; i++) {
        out[left] = guards[i];
        out[left].of = index_substitute(a, guards[i].of, replacement, n_replacements);
        left += prove_one(&out[left]) != GUARD_TRUE;
    }
    *n = left;
    return out;
}

bool guard_mentions(const struct index_guard *guards, unsigned n, uint32_t v)
{
    for (unsigned i = 0; i < n; i++)
        if (index_mentions(guards[i].of, v)) return true;
    return false;
}

bool guard_same(const struct index_guard *x, const struct index_guard *y, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (x[i].low != y[i].low || x[i].high != y[i].high || index_compare(x[i].of, y[i].of)) return false;
    return true;
}

static void print_side(const struct index_guard *g, const char *const *names, const char *separator,
                       const char *relation, int64_t bound, struct strbuf *out)
{
    strbuf_add(out, separator);
    index_print(g->of, names, out);
    strbuf_printf(out, " %s %" PRId64, relation, bound);
}

void guard_print(const struct index_guard *guards, unsigned n, const char *const *names,
                 const char *const *wide_names, struct strbuf *out)
{
    const char *separator = "";
    for (unsigned i = 0; i < n; i++) {
        const struct index_guard *g = &guards[i];
        const char *const *by = index_fits_int(g->of) ? names : wide_names;
        bool equal = g->low == g->high, low = index_least(g->of)<g->low, high = index_most(g->of)> g->high;
        if (equal) print_side(g, by, separator, "==", g->low, out);
        if (!equal && low) print_side(g, by, separator, ">=", g->low, out);
        if (!equal && low && high) separator = " && ";
        if (!equal && high) print_side(g, by, separator, "<=", g->high, out);
        separator = " && ";
    }
}
