/* thresh space check --explain-cost: the constraints that are propagated in a slower way than others, and how
 * solutions are counted. */
#include "coordinator/cli/space_cost.h"

#include <stdio.h>

#include "core/base/arena.h"
#include "core/space/cost.h"
#include "core/space/count.h"

json_t *space_cost_json(const struct space *s)
{
    struct arena *a = arena_new();
    struct space_cost *list;
    size_t n = space_explain_cost(s, a, &list);
    json_t *all = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(all, json_pack("{s:s,s:i,s:s,s:i,s:s,s:s,s:s}", "file", list[i].file, "line",
                                             (int)list[i].line, "constraint", list[i].text, "instances",
                                             (int)list[i].instances, "why", list[i].why, "cost", list[i].cost,
                                             "change", list[i].change));
    arena_free(a);
    return all;
}

json_t *space_cost_count_json(const struct space *s)
{
    struct arena *a = arena_new();
    const char *why = space_count_why_slow(s, a);
    json_t *text = why ? json_string(why) : json_null();
    arena_free(a);
    return text;
}

static void print_count(const struct space *s, struct arena *a)
{
    const char *why = space_count_why_slow(s, a);
    if (why)
        printf("solutions are counted in the general way, which takes 3 to 27 times as long as the fast one\n"
               "    why:    %s\n",
               why);
    else
        puts("solutions are counted in the fast way");
}

void space_cost_print(const struct space *s)
{
    struct arena *a = arena_new();
    struct space_cost *list;
    size_t n = space_explain_cost(s, a, &list);
    if (n == 0) puts("every constraint is propagated in the fastest way");
    for (size_t i = 0; i < n; i++)
        printf("%s:%u: %s (%u instance%s)\n    why:    %s\n    cost:   %s\n    change: %s\n", list[i].file,
               list[i].line, list[i].text, list[i].instances, list[i].instances == 1 ? "" : "s", list[i].why,
               list[i].cost, list[i].change);
    print_count(s, a);
    arena_free(a);
}
