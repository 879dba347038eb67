/* The table of patterns: one row each, with what its first argument is and how many values follow. */
#include "core/lift/pattern.h"

#include <string.h>

#include "core/base/panic.h"

#define PATTERN(id, name, lead, params, values, variadic)                                                    \
    {                                                                                                        \
        name, lead, params, values, variadic, LIFT_APPLY, LIFT_##id                                          \
    }
static const struct pattern_info patterns[] = {
    PATTERN(MAP, "map", LEAD_FUNCTION, 1, 1, false),
    PATTERN(REDUCE, "reduce", LEAD_FUNCTION, 2, 2, false),
    PATTERN(SCAN, "scan", LEAD_FUNCTION, 2, 2, false),
    PATTERN(ZIP, "zip", LEAD_NONE, 0, 2, true),
    PATTERN(UNZIP, "unzip", LEAD_NONE, 0, 1, false),
    PATTERN(TRANSPOSE, "transpose", LEAD_NONE, 0, 1, false),
    PATTERN(SPLIT, "split", LEAD_AMOUNT, 0, 1, false),
    PATTERN(JOIN, "join", LEAD_NONE, 0, 1, false),
    PATTERN(HEAD, "head", LEAD_NONE, 0, 1, false),
    PATTERN(TAIL, "tail", LEAD_NONE, 0, 1, false),
    PATTERN(ID, "id", LEAD_NONE, 0, 1, false),
    PATTERN(AT, "at", LEAD_NONE, 0, 2, false),
    PATTERN(REVERSE, "reverse", LEAD_NONE, 0, 1, false),
    PATTERN(CONCAT, "concat", LEAD_NONE, 0, 2, true),
    PATTERN(SLIDE, "slide", LEAD_AMOUNTS, 0, 1, false),
    PATTERN(PAD, "pad", LEAD_BORDER, 0, 1, false),
    PATTERN(PAD_CONSTANT, "padConstant", LEAD_AMOUNTS, 0, 2, false),
    PATTERN(IOTA, "iota", LEAD_AMOUNT, 0, 0, false),
    PATTERN(INDICES, "indices", LEAD_NONE, 0, 1, false),
    PATTERN(SCATTER, "scatter", LEAD_FUNCTION, 1, 1, false),
    PATTERN(ITERATE, "iterate", LEAD_NONE, 0, 3, false),
    {"get", LEAD_INDEX, 0, 1, false, LIFT_GET, LIFT_PATTERN_COUNT},
};
#undef PATTERN

enum { N_PATTERNS = sizeof patterns / sizeof patterns[0] };
_Static_assert(N_PATTERNS == LIFT_PATTERN_COUNT + 1, "every pattern, and get");

unsigned lift_lead_count(enum pattern_lead lead)
{
    return lead == LEAD_NONE ? 0 : lead == LEAD_BORDER ? 3 : lead == LEAD_AMOUNTS ? 2 : 1;
}

const struct pattern_info *lift_pattern_find(const char *name)
{
    for (int i = 0; i < N_PATTERNS; i++)
        if (!strcmp(patterns[i].name, name)) return &patterns[i];
    return NULL;
}

const char *lift_pattern_name(unsigned i)
{
    return i < N_PATTERNS ? patterns[i].name : NULL;
}

const struct pattern_info *lift_pattern_info(enum lift_pattern pattern)
{
    CHECK(pattern < LIFT_PATTERN_COUNT && patterns[pattern].pattern == pattern);
    return &patterns[pattern];
}

bool lift_is_ascription(const struct lift_expr *e)
{
    return e->kind == LIFT_APPLY && e->pattern == LIFT_ID && e->index == 1;
}
