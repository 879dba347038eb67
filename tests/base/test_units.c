/* Quantities for people. */
#include "core/base/units.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

struct units_case {
    double value;
    const char *text;
};

static void units_are(int (*print)(double, char *, size_t), const struct units_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char text[UNITS_BYTES];
        int length = print(cases[i].value, text, sizeof text);
        cr_expect_str_eq(text, cases[i].text, "%.17g is \"%s\", not \"%s\"", cases[i].value, text,
                         cases[i].text);
        cr_expect_eq((size_t)length, strlen(cases[i].text));
    }
}
#define UNITS_ARE(print, ...)                                                                                \
    units_are(print, (const struct units_case[]){__VA_ARGS__},                                               \
              sizeof((const struct units_case[]){__VA_ARGS__}) / sizeof(struct units_case))

Test(units, times)
{
    UNITS_ARE(units_time, {0, "-"}, {-1, "-"}, {INFINITY, "-"}, {NAN, "-"}, {0.5, "0.5 ns"}, {999, "999 ns"},
              {1081000, "1.08 ms"}, {1500, "1.5 us"}, {2e7, "20 ms"}, {119e9, "119 s"}, {120e9, "2 min"},
              {7199e9, "2 h"}, {7000e9, "117 min"}, {7200e9, "2 h"}, {90 * 3600e9, "90 h"});
}

/* What rounds up to the next unit is in the next unit. */
Test(units, rounding_comes_before_the_unit)
{
    UNITS_ARE(units_time, {999.4, "999 ns"}, {999.6, "1 us"}, {999.7e3, "1 ms"}, {9.996e3, "10 us"},
              {999.9e6, "1 s"}, {2000 * 3600e9, "2000 h"}, {999.7 * 3600e9, "1000 h"});
    UNITS_ARE(units_bytes, {1023.4, "1023 bytes"}, {1023.6, "1 KiB"}, {1024 * 1023.0, "1023 KiB"});
    UNITS_ARE(units_count, {999600, "1 M"}, {999400, "999 k"});
}

Test(units, bytes)
{
    UNITS_ARE(units_bytes, {0, "0 bytes"}, {17, "17 bytes"}, {1024, "1 KiB"}, {49152, "48 KiB"},
              {1048576, "1 MiB"}, {41943040, "40 MiB"}, {81604378624.0, "76 GiB"});
}

Test(units, counts)
{
    UNITS_ARE(units_count, {0, "0"}, {7, "7"}, {9999, "9999"}, {10000, "10 k"}, {262144, "262 k"},
              {4294967296.0, "4.29 G"}, {2.5, "2.5"}, {1e15, "1000 T"});
}
