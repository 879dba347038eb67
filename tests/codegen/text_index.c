#define _GNU_SOURCE /* memmem */
#include "tests/codegen/text_index.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The variable of a dimension that work-items divide, "const int n3 = (int)((uint)get_local_id(0) / 4u %
 * 8u);", as last declared before the index; 0 for those of groups and loops. */
static int64_t variable(const struct text_index *r, const char *name, size_t length)
{
    char begin[64];
    const char *last = NULL, *at = r->text;
    snprintf(begin, sizeof begin, " %.*s = (int)((uint)get_local_id", (int)length, name);
    while ((at = memmem(at, (size_t)(r->at - at), begin, strlen(begin))))
        last = at++;
    struct text_index inner = {r->text, last ? strchr(last, '(') : "0", r->item};
    return text_index_value(&inner);
}

static int64_t factor(struct text_index *r)
{
    static const char *const casts[] = {"(int)", "(uint)", "(long)"};
    for (unsigned i = 0; i < 3; i++)
        if (strncmp(r->at, casts[i], strlen(casts[i])) == 0) r->at += strlen(casts[i]);
    if (*r->at == '(') {
        r->at++;
        int64_t sum = text_index_value(r);
        cr_assert_eq(*r->at++, ')');
        return sum;
    }
    if (isdigit((unsigned char)*r->at)) {
        char *end;
        int64_t number = strtoll(r->at, &end, 10);
        r->at = *end == 'u' ? end + 1 : end;
        return number;
    }
    const char *name = r->at;
    while (isalnum((unsigned char)*r->at) || *r->at == '_')
        r->at++;
    cr_assert(r->at > name, "%.40s", name);
    if (strncmp(name, "get_local_id(0)", 15) != 0) return variable(r, name, (size_t)(r->at - name));
    r->at = name + 15;
    return r->item;
}

/* "x / 4 % 8 * 2" */
static int64_t term(struct text_index *r)
{
    int64_t x = factor(r);
    while (r->at[0] == ' ' && strchr("*/%", r->at[1])) {
        char sign = r->at[1];
        r->at += 3;
        int64_t y = factor(r);
        x = sign == '*' ? x * y : sign == '/' ? x / y : x % y;
    }
    return x;
}

int64_t text_index_value(struct text_index *r)
{
    int64_t x = term(r);
    while (r->at[0] == ' ' && strchr("+-", r->at[1])) {
        bool minus = r->at[1] == '-';
        r->at += 3;
        x += minus ? -term(r) : term(r);
    }
    return x;
}
