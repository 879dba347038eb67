/* Two contenders of a search have most decisions in common; only the differences are printed:
 *
 *     second     91.2 us (90.1 to 92.3, 11 rounds), 1.1 times as long (search, implementation 12)
 *                differences: m: 64 = 16 groups (WRG1) x 4 unrolled
 *                             there 64 = 64 groups (WRG1) */
#include "coordinator/cli/contenders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/cli.h"
#include "coordinator/portrait.h"
#include "core/base/arena.h"
#include "gpu.space.h"

enum { SHOWN = 6 };

static bool same_actions(const struct best_file *b, const struct best_contender *c)
{
    return b->n_actions == c->n_actions &&
           memcmp(b->actions, c->actions, c->n_actions * sizeof *c->actions) == 0;
}

/* The first contender that is this implementation (itself), or that is another one; NULL: there is none. */
static const struct best_contender *find_contender(const struct best_file *b, bool itself)
{
    for (unsigned i = 0; i < b->n_contenders; i++)
        if (same_actions(b, &b->contenders[i]) == itself) return &b->contenders[i];
    return NULL;
}

const struct best_contender *cli_find_contender(const struct best_file *b)
{
    return find_contender(b, true);
}

/* ---- decisions ---- */

static void mark(bool *slots, uint32_t n, const struct space_action *actions, size_t n_actions)
{
    for (size_t i = 0; i < n_actions; i++)
        if (actions[i].slot < n) slots[actions[i].slot] = true;
}

static json_t *value_json(const struct space_state *leaf, uint32_t slot)
{
    char name[CLI_NAME_BYTES];
    if (!space_is_live(leaf, slot)) return json_null();
    space_value_name(space_of(leaf), slot, space_first_value(leaf, slot), name, sizeof name);
    return json_string(name);
}

/* The decisions of either that have another value in the other. */
static json_t *decisions_json(const struct best_file *b, const struct best_contender *c,
                              const struct space_state *here, const struct space_state *there)
{
    const struct space *s = b->problem->space;
    uint32_t n = space_slot_count(s);
    bool *decided = base_calloc(n + 1, sizeof *decided);
    json_t *list = json_array();
    mark(decided, n, b->actions, b->n_actions);
    mark(decided, n, c->actions, c->n_actions);
    for (uint32_t slot = 0; slot < n; slot++) {
        char name[CLI_NAME_BYTES];
        if (!decided[slot]) continue;
        json_t *x = value_json(here, slot), *y = value_json(there, slot);
        space_slot_name(s, slot, name, sizeof name);
        if (!json_equal(x, y))
            json_array_append_new(list, json_pack("{s:s,s:O,s:O}", "choice", name, "here", x, "there", y));
        json_decref(x);
        json_decref(y);
    }
    free(decided);
    return list;
}

/* ---- the contender ---- */

static json_t *compare(const struct best_file *b, const struct best_contender *c,
                       const struct space_state *here, const struct space_state *there,
                       const json_t *portrait)
{
    json_t *other = portrait_json(b->problem, there);
    bool comparable = figure_comparable(&c->figure, &b->figure);
    double ratio = comparable ? figure_ratio(&c->figure, &b->figure, NULL, NULL, 0).quotient : 0;
    bool winner = c == &b->contenders[0];
    json_t *o =
        json_pack("{s:s,s:s,s:I,s:o,s:o,s:o,s:o}", "role", winner ? "best" : "second best", "label", c->label,
                  "number", (json_int_t)c->number, "figure", figure_json(&c->figure), "ratio",
                  ratio > 0 ? json_real(ratio) : json_null(), "differences",
                  portrait_differences(portrait, other), "decisions", decisions_json(b, c, here, there));
    json_decref(other);
    return o;
}

json_t *cli_contender_json(const struct best_file *b, const struct space_state *leaf, const json_t *portrait)
{
    const struct best_contender *c = find_contender(b, false);
    const char *why;
    struct space_state *there = c ? problem_replay(b->problem, c->actions, c->n_actions, &why) : NULL;
    json_t *o = there ? compare(b, c, leaf, there, portrait) : json_null();
    space_state_free(there);
    return o;
}

/* ---- text ---- */

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
