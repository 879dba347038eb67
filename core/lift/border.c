/* What stands beyond the ends of a padded array: a constant, or elements of the array itself. Of a b c d,
 * with two elements on each side:
 *
 *     clamp    a a | a b c d | d d        mirror    b a | a b c d | d c        wrap    c d | a b c d | a b */
#include <string.h>

#include "core/base/panic.h"
#include "core/lift/pattern.h"

static const char *const borders[] = {[LIFT_CLAMP] = "clamp", [LIFT_MIRROR] = "mirror", [LIFT_WRAP] = "wrap"};
_Static_assert(sizeof borders / sizeof borders[0] == LIFT_BORDER_COUNT, "every border");

const char *lift_border_name(enum lift_border border)
{
    CHECK(border < LIFT_BORDER_COUNT);
    return borders[border];
}

enum lift_border lift_border_find(const char *name)
{
    unsigned b = 0;
    while (b < LIFT_BORDER_COUNT && strcmp(borders[b], name) != 0)
        b++;
    return (enum lift_border)b;
}

static int64_t floor_mod(int64_t x, int64_t by)
{
    int64_t r = x % by;
    return r < 0 ? r + by : r;
}

int64_t lift_border_source(enum lift_border border, int64_t n, int64_t i)
{
    switch (border) {
    case LIFT_CLAMP:
        return i < 0 ? 0 : i < n ? i : n - 1;
    case LIFT_MIRROR:
        return i < 0 ? -1 - i : i < n ? i : 2 * n - 1 - i;
    case LIFT_WRAP:
        return floor_mod(i, n);
    case LIFT_BORDER_COUNT:
        break;
    }
    PANIC("border %d", (int)border);
}
