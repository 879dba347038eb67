/* Size values as a user writes them after --size: "M=512,N=512". */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/lift/lift.h"

enum { MAX_SIZES = 64 };

static bool parse_one(const char *text, size_t length, struct lift_size_value *out, struct arena *a,
                      struct diag *d)
{
    const char *item = arena_strndup(a, text, length);
    const char *equals = strchr(item, '=');
    char *end = NULL;
    errno = 0;
    long long value = equals ? strtoll(equals + 1, &end, 10) : 0;
    if (!equals || equals == item || end == equals + 1 || *end) {
        diag_plain(d, "'%s' is not a size; write NAME=NUMBER, such as --size M=512,N=512", item);
        return false;
    }
    if (errno == ERANGE) {
        diag_plain(d, "size '%s' does not fit into 64 bits; choose a smaller one", item);
        return false;
    }
    out->name = arena_strndup(a, item, (size_t)(equals - item));
    out->value = value;
    return true;
}

int lift_parse_sizes(const char *text, struct lift_size_value **values, struct arena *a, struct diag *d)
{
    int n = 0;
    *values = ARENA_ARRAY(a, struct lift_size_value, MAX_SIZES);
    while (*text) {
        size_t length = strcspn(text, ",");
        if (n == MAX_SIZES) {
            diag_plain(d, "more than %d sizes; leave out those that the program does not declare", MAX_SIZES);
            return -1;
        }
        if (!parse_one(text, length, &(*values)[n], a, d)) return -1;
        n++;
        text += length;
        if (*text == ',' && !*++text) {
            diag_plain(d, "unexpected comma at the end of the sizes; write --size M=512,N=512");
            return -1;
        }
    }
    return n;
}
