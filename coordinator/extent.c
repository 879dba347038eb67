/* Evaluation by recursive descent, to a bounded depth:
 *
 *     sum     = product { ("+" | "-") product }
 *     product = primary { ("*" | "/" | "%") primary }
 *     primary = number | size | "(" sum ")"
 */
#include "coordinator/extent.h"

#include <stddef.h>
#include <string.h>

#include "core/lift/lift.h"

enum { MOST_DEPTH = 64 };

struct reading {
    const char *at;
    const struct lift_program *program;
    const char *why;
    unsigned depth;
};

static int64_t read_sum(struct reading *r);

static int64_t refuse(struct reading *r, const char *why)
{
    if (!r->why) r->why = why;
    return 1;
}

static bool skip(struct reading *r, char c)
{
    r->at += strspn(r->at, " ");
    if (*r->at != c) return false;
    r->at++;
    return true;
}

static int64_t read_number(struct reading *r)
{
    int64_t n = 0;
    for (; *r->at >= '0' && *r->at <= '9'; r->at++)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *r->at - '0', &n))
            return refuse(r, "has too large a number");
    return n;
}

static int64_t read_size(struct reading *r)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    size_t n = strspn(r->at, letters);
    for (unsigned i = 0; n > 0 && i < r->program->n_sizes; i++) {
        const struct lift_size_param *size = &r->program->sizes[i];
        if (strlen(size->name) != n || memcmp(size->name, r->at, n) != 0) continue;
        r->at += n;
        return size->value;
    }
    return refuse(r, n ? "names what is no size of the program"
                       : "is not arithmetic over whole numbers and sizes");
}

static int64_t read_primary(struct reading *r)
{
    if (r->why) return 1;
    if (skip(r, '(')) {
        if (++r->depth > MOST_DEPTH) return refuse(r, "has too many parentheses");
        int64_t value = read_sum(r);
        r->depth--;
        return skip(r, ')') ? value : refuse(r, "lacks a parenthesis");
    }
    return *r->at >= '0' && *r->at <= '9' ? read_number(r) : read_size(r);
}

static int64_t divide(struct reading *r, int64_t a, int64_t b, bool quotient)
{
    if (b <= 0) return refuse(r, "divides by a number that is not positive");
    return quotient ? a / b : a % b;
}

static int64_t read_product(struct reading *r)
{
    int64_t value = read_primary(r);
    while (!r->why) {
        char c = skip(r, '*') ? '*' : skip(r, '/') ? '/' : skip(r, '%') ? '%' : 0;
        if (!c) break;
        int64_t other = read_primary(r);
        if (c != '*')
            value = divide(r, value, other, c == '/');
        else if (__builtin_mul_overflow(value, other, &value))
            refuse(r, "is too large");
    }
    return value;
}

static int64_t read_sum(struct reading *r)
{
    int64_t value = read_product(r);
    while (!r->why) {
        bool plus = skip(r, '+');
        if (!plus && !skip(r, '-')) break;
        int64_t other = read_product(r);
        if (plus ? __builtin_add_overflow(value, other, &value)
                 : __builtin_sub_overflow(value, other, &value))
            refuse(r, "is too large");
    }
    return value;
}

bool extent_evaluate(const char *text, const struct lift_program *p, int64_t *out, const char **why)
{
    struct reading r = {.at = text, .program = p};
    *out = read_sum(&r);
    r.at += strspn(r.at, " ");
    if (!r.why && *r.at) r.why = "is not arithmetic over whole numbers and sizes";
    *why = r.why;
    return !r.why;
}
