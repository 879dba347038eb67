/* Sizes: each value of a map becomes a list of numbers, then the lists are multiplied like the wheels of a
 * counter, whose last wheel turns fastest. */
#include "coordinator/campaign/sizes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/similar.h"
#include "core/base/strbuf.h"

struct values {
    int64_t items[CAMPAIGN_MOST_VALUES];
    size_t n;
};

/* One size of an entry. */
struct wheel {
    const char *name;
    const struct values *values;
    size_t at;
};

/* ---- numbers ---- */

/* Reads digits; NULL: there is no number from 1 to INT64_MAX. */
static const char *scan_number(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    if (*text < '0' || *text > '9') return NULL;
    *out = strtoll(text, &end, 10);
    return errno || *out < 1 ? NULL : end;
}

bool campaign_read_count(struct campaign_node n, const char *what, int64_t most, int64_t *out, struct diag *d)
{
    const char *text = campaign_node_text(n), *end;
    if (campaign_node_kind(n) != CAMPAIGN_TEXT)
        return campaign_node_error(n, d, "%s is %s; it must be a whole number", what,
                                   campaign_node_kind_name(n));
    end = scan_number(text, out);
    if (end && !*end && *out <= most) return true;
    if (*text && text[strspn(text, "0123456789")] == 0 && text[strspn(text, "0")] != 0)
        return campaign_node_error(n, d, "%s is %s; the maximum is %" PRId64, what, text, most);
    if (*text && text[strspn(text, "-0123456789")] == 0)
        return campaign_node_error(n, d, "%s is %s; it must be at least 1", what, text);
    return campaign_node_error(n, d, "%s is '%s'; it must be a whole number", what, text);
}

static bool add_value(struct values *v, int64_t value, struct campaign_node n, struct diag *d)
{
    if (v->n == CAMPAIGN_MOST_VALUES)
        return campaign_node_error(n, d, "a size with more than %d values", CAMPAIGN_MOST_VALUES);
    v->items[v->n++] = value;
    return true;
}

/* ---- ranges ---- */

struct range {
    int64_t from, to, step; /* step 0: by a factor */
    int64_t factor;
};

static bool add_range(struct values *v, const struct range *r, struct campaign_node n, struct diag *d)
{
    if (r->from > r->to)
        return campaign_node_error(n, d, "the range is empty: %" PRId64 " is greater than %" PRId64, r->from,
                                   r->to);
    if (r->step == 0 && r->factor < 2)
        return campaign_node_error(n, d, "the factor of a range must be at least 2");
    for (int64_t x = r->from;;) {
        if (!add_value(v, x, n, d)) return false;
        bool last = r->step ? x > r->to - r->step : x > r->to / r->factor;
        if (last) return true;
        x = r->step ? x + r->step : x * r->factor;
    }
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

/* "64..1024", "64..1024 +64", "64..1024 *2". */
static bool scan_range(const char *text, struct range *out)
{
    *out = (struct range){.step = 1};
    text = scan_number(text, &out->from);
    if (!text || strncmp(text = skip_blanks(text), "..", 2) != 0) return false;
    text = scan_number(skip_blanks(text + 2), &out->to);
    if (!text || !*(text = skip_blanks(text))) return text != NULL;
    bool by_factor = *text == '*';
    if (!by_factor && *text != '+') return false;
    if (by_factor) out->step = 0;
    text = scan_number(skip_blanks(text + 1), by_factor ? &out->factor : &out->step);
    return text && !*skip_blanks(text);
}

static bool refuse_range_key(struct campaign_node key, const char *const *names, size_t n, struct diag *d)
{
    const char *text = campaign_node_text(key), *near = similar_find(text, names, n);
    if (near)
        return campaign_node_error(key, d, "unknown key '%s' of a range; did you mean '%s'?", text, near);
    return campaign_node_error(key, d, "unknown key '%s' of a range; expected one of from, to, step, factor",
                               text);
}

/* {from: 64, to: 1024, factor: 2} */
static bool read_range_map(struct campaign_node n, struct range *out, struct diag *d)
{
    static const char *const names[] = {"from", "to", "step", "factor"};
    int64_t values[4] = {0};
    for (size_t i = 0; i < campaign_node_count(n); i++) {
        const char *key = campaign_node_text(campaign_node_key(n, i));
        size_t k = 0;
        while (k < 4 && strcmp(key, names[k]) != 0)
            k++;
        if (k == 4) return refuse_range_key(campaign_node_key(n, i), names, 4, d);
        if (values[k] != 0)
            return campaign_node_error(campaign_node_key(n, i), d, "'%s' is given twice", key);
        if (!campaign_read_count(campaign_node_item(n, i), key, INT64_MAX, &values[k], d)) return false;
    }
    *out = (struct range){values[0], values[1], values[2], values[3]};
    if (!out->from || !out->to) return campaign_node_error(n, d, "a range needs 'from' and 'to'");
    if (out->step && out->factor)
        return campaign_node_error(n, d, "a range has either 'step' or 'factor', not both");
    if (!out->step && !out->factor) out->step = 1;
    return true;
}

/* ---- the values of one size ---- */

static bool read_value(struct campaign_node n, const char *name, struct values *v, struct diag *d)
{
    struct range r;
    int64_t value;
    if (campaign_node_kind(n) == CAMPAIGN_LIST)
        return campaign_node_error(n, d, "size '%s' has a list within a list", name);
    if (campaign_node_kind(n) == CAMPAIGN_MAP) return read_range_map(n, &r, d) && add_range(v, &r, n, d);
    const char *text = campaign_node_text(n);
    if (strstr(text, "..")) {
        if (scan_range(text, &r)) return add_range(v, &r, n, d);
        return campaign_node_error(
            n, d, "size '%s': '%s' is not a range; write for example 64..1024, 64..1024 +64 or 64..1024 *2",
            name, text);
    }
    if (text[0] && text[strspn(text, "-0123456789")] != 0)
        return campaign_node_error(
            n, d, "size '%s' is '%s'; expected a whole number, a list or a range such as 64..1024 *2", name,
            text);
    struct strbuf what = {0};
    strbuf_printf(&what, "size '%s'", name);
    bool ok = campaign_read_count(n, what.text, INT64_MAX, &value, d) && add_value(v, value, n, d);
    strbuf_free(&what);
    return ok;
}

static bool read_values(struct campaign_node n, const char *name, struct values *v, struct diag *d)
{
    if (campaign_node_kind(n) != CAMPAIGN_LIST) return read_value(n, name, v, d);
    if (campaign_node_count(n) == 0) return campaign_node_error(n, d, "size '%s' has no values", name);
    for (size_t i = 0; i < campaign_node_count(n); i++)
        if (!read_value(campaign_node_item(n, i), name, v, d)) return false;
    return true;
}

/* ---- the product ---- */

static bool is_name(const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_",
                      digits[] = "0123456789";
    size_t n = strspn(text, letters);
    while (n > 0 && text[n] && (strchr(letters, text[n]) || strchr(digits, text[n])))
        n++;
    return n > 0 && !text[n];
}

static const char *print_wheels(const struct wheel *w, size_t n, struct arena *a)
{
    struct strbuf b = {0};
    for (size_t i = 0; i < n; i++)
        strbuf_printf(&b, "%s%s=%" PRId64, i ? "," : "", w[i].name, w[i].values->items[w[i].at]);
    const char *text = arena_strdup(a, b.text);
    strbuf_free(&b);
    return text;
}

/* Turns the last wheel, and the one before it where that is round. false: all are round. */
static bool turn(struct wheel *w, size_t n)
{
    while (n-- > 0) {
        if (++w[n].at < w[n].values->n) return true;
        w[n].at = 0;
    }
    return false;
}

static bool multiply(struct wheel *w, size_t n, struct campaign_node entry, struct arena *a,
                     struct campaign_sizes *out, struct diag *d)
{
    do {
        if (out->n == CAMPAIGN_MOST_SIZES)
            return campaign_node_error(entry, d, "a kernel with more than %d combinations of sizes",
                                       CAMPAIGN_MOST_SIZES);
        out->items = arena_grow(a, out->items, &out->capacity, out->n + 1, sizeof *out->items);
        out->items[out->n++] = (struct campaign_size){print_wheels(w, n, a), entry};
    } while (turn(w, n));
    return true;
}

static bool read_wheel(struct campaign_node entry, size_t i, struct wheel *w, struct arena *a, struct diag *d)
{
    struct campaign_node key = campaign_node_key(entry, i);
    struct values *v = ARENA_NEW(a, struct values);
    const char *name = campaign_node_text(key);
    if (!is_name(name)) return campaign_node_error(key, d, "'%s' is not the name of a size", name);
    for (size_t k = 0; k < i; k++)
        if (strcmp(w[k].name, name) == 0)
            return campaign_node_error(key, d, "size '%s' is given twice", name);
    w[i] = (struct wheel){.name = name, .values = v};
    return read_values(campaign_node_item(entry, i), name, v, d);
}

static bool read_entry(struct campaign_node n, struct arena *a, struct campaign_sizes *out, struct diag *d)
{
    struct wheel w[CAMPAIGN_MOST_NAMES];
    if (campaign_node_kind(n) != CAMPAIGN_MAP)
        return campaign_node_error(n, d,
                                   "sizes must be a map such as {M: 512, N: [64, 128]}, or a list of maps");
    size_t count = campaign_node_count(n);
    if (count == 0) return campaign_node_error(n, d, "sizes without a value; leave the key out");
    if (count > CAMPAIGN_MOST_NAMES)
        return campaign_node_error(n, d, "more than %d names of sizes", CAMPAIGN_MOST_NAMES);
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++)
        ok = read_wheel(n, i, w, a, d);
    return ok && multiply(w, count, n, a, out, d);
}

bool campaign_sizes_read(struct campaign_node n, struct arena *a, struct campaign_sizes *out, struct diag *d)
{
    if (campaign_node_kind(n) != CAMPAIGN_LIST) return read_entry(n, a, out, d);
    if (campaign_node_count(n) == 0)
        return campaign_node_error(n, d, "sizes without a value; leave the key out");
    bool ok = true;
    for (size_t i = 0; i < campaign_node_count(n); i++)
        ok = read_entry(campaign_node_item(n, i), a, out, d) && ok;
    return ok;
}

/* ---- comparing ---- */

/* Whether b has the item of n bytes among its items. */
static bool has_item(const char *b, const char *item, size_t n)
{
    for (; *b; b += strspn(b, ",")) {
        size_t length = strcspn(b, ",");
        if (length == n && memcmp(b, item, n) == 0) return true;
        b += length;
    }
    return false;
}

bool campaign_sizes_equal(const char *a, const char *b)
{
    if (strlen(a) != strlen(b)) return false;
    for (const char *at = a; *at; at += strspn(at, ",")) {
        size_t n = strcspn(at, ",");
        if (!has_item(b, at, n)) return false;
        at += n;
    }
    return true;
}
