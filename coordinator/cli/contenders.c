/* Two contenders of a search have most decisions in common; only the differences are printed:
 *
 *     second     91.2 us (90.1 to 92.3, 11 rounds), 1.1 times as long (search, implementation 12)
 *                differences: m: 64 = 16 groups (WRG1) x 4 unrolled
 *                             there 64 = 64 groups (WRG1) */
#include "coordinator/cli/contenders.h"

#include <stdio.h>
#include <string.h>

#include "coordinator/figure.h"
#include "coordinator/portrait.h"
#include "gpu.space.h"

enum { SHOWN = 6 };

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "-";
}

/* Whether the lines of the portraits show this choice already. */
static bool is_in_lines(const char *choice)
{
    return !portrait_is_of(choice, GPU_CHOICE_ORDER) && !portrait_is_of(choice, GPU_CHOICE_CACHE);
}

static void print_decisions(const json_t *list)
{
    size_t i, others = 0;
    json_t *o;
    json_array_foreach(list, i, o)
    {
        if (is_in_lines(text_of(o, "choice")) || others++ >= SHOWN) continue;
        printf("             %s: %s; there %s\n", text_of(o, "choice"), text_of(o, "here"),
               text_of(o, "there"));
    }
    if (others > SHOWN)
        printf("             %zu more decisions of order and caches differ\n", others - SHOWN);
}

void cli_print_contender(const json_t *contender)
{
    char time[FIGURE_TEXT];
    struct figure f;
    size_t i;
    json_t *o;
    if (!json_is_object(contender)) return;
    bool is_best = strcmp(text_of(contender, "role"), "best") == 0;
    json_int_t number = json_integer_value(json_object_get(contender, "number"));
    figure_read_json(json_object_get(contender, "figure"), &f);
    double ratio = json_number_value(json_object_get(contender, "ratio"));
    printf("%-10s %s", is_best ? "best" : "second", figure_print(&f, time));
    if (ratio > 0) printf(", %.3g times as long", ratio);
    printf(" (%s", text_of(contender, "label"));
    if (number > 0) printf(", implementation %" JSON_INTEGER_FORMAT, number);
    printf("); differences:\n");
    json_array_foreach(json_object_get(contender, "differences"), i, o)
        printf("             %s: %s\n             %*s  there %s\n", text_of(o, "name"), text_of(o, "here"),
               (int)strlen(text_of(o, "name")), "", text_of(o, "there"));
    print_decisions(json_object_get(contender, "decisions"));
}
