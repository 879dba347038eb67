/* thresh lift cut: where a program may be cut, and the parts of a sequence:
 *
 *     cut     y: [float]M
 *
 *     part 1: y
 *         size M, N
 *         ...
 *     step 1: part 1, reads A, x; writes y */
#include "coordinator/cli/lift_cut.h"

#include <stdio.h>
#include <string.h>

#include "coordinator/sequence/file.h"
#include "core/backbone/backbone.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/lift/cut.h"

/* ---- words ---- */

static json_t *type_json(const struct lift_type *t)
{
    struct strbuf text = {0};
    lift_print_type(t, &text);
    json_t *o = json_string(text.text);
    strbuf_free(&text);
    return o;
}

/* {"cuts": [{"name", "type"}], "parts": [{"name", "lift"}], "steps": [{"part", "reads", "writes"}]} */
static json_t *describe(const struct lift_program *p, const struct lift_cuts *cuts,
                        const struct lift_sequence *s)
{
    json_t *names = json_array(), *parts = json_array(), *steps = json_array();
    for (unsigned i = 0; i < cuts->n; i++)
        json_array_append_new(names, json_pack("{s:s,s:o,s:b}", "name", cuts->items[i].name, "type",
                                               type_json(cuts->items[i].type), "computes",
                                               (int)cuts->items[i].computes));
    for (unsigned i = 0; i < s->n_parts; i++)
        json_array_append_new(parts,
                              json_pack("{s:s,s:s}", "name", s->parts[i].name, "lift", s->parts[i].text));
    for (unsigned i = 0; i < s->n_steps; i++)
        json_array_append_new(steps, sequence_step_json(p, s, i));
    return json_pack("{s:o,s:o,s:o}", "cuts", names, "parts", parts, "steps", steps);
}

/* ---- text ---- */

static void print_names(const char *what, const json_t *names)
{
    size_t i;
    json_t *name;
    printf("%s", what);
    json_array_foreach(names, i, name) printf("%s %s", i ? "," : "", json_string_value(name));
}

/* The text with four spaces before each line. */
static void print_indented(const char *text)
{
    for (; *text; text += strcspn(text, "\n") + 1)
        printf("    %.*s\n", (int)strcspn(text, "\n"), text);
}

static void print_text(const json_t *o)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(o, "cuts"), i, item)
        printf("cut     %s: %s%s\n", json_string_value(json_object_get(item, "name")),
               json_string_value(json_object_get(item, "type")),
               json_is_true(json_object_get(item, "computes")) ? "" : ", computes nothing: only by name");
    if (!json_array_size(json_object_get(o, "cuts"))) printf("no cuts\n");
    json_array_foreach(json_object_get(o, "parts"), i, item)
    {
        printf("\npart %zu: %s\n", i + 1, json_string_value(json_object_get(item, "name")));
        print_indented(json_string_value(json_object_get(item, "lift")));
    }
    printf("\n");
    json_array_foreach(json_object_get(o, "steps"), i, item)
    {
        printf("step %zu: part %d,", i + 1, (int)json_integer_value(json_object_get(item, "part")));
        print_names(" reads", json_object_get(item, "reads"));
        print_names("; writes", json_object_get(item, "writes"));
        printf("\n");
    }
}

/* The cuts of --at; without it all that compute. */
static bool choose(const struct cli_args *a, const struct lift_program *p, const struct lift_cuts *cuts,
                   bool *chosen, struct diag *d)
{
    if (cli_given(a, CLI_AT)) return lift_cut_choose(p, cuts, a->value[CLI_AT], chosen, d);
    for (unsigned i = 0; i < cuts->n; i++)
        chosen[i] = cuts->items[i].computes;
    return true;
}

/* As 'thresh tune' does: scans have names if the program cannot be one kernel without, else arrays within
 * maps. */
static const struct lift_program *with_names(const struct lift_program *p, struct arena *arena)
{
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    bool one = bb_lower(p, NULL, a, d) != NULL;
    const struct lift_program *named = one ? NULL : lift_cut_name(p, LIFT_CUT_SCANS, arena);
    if (!named) named = lift_cut_name(p, LIFT_CUT_LETS, arena);
    diag_free(d);
    arena_free(a);
    return named ? named : p;
}

void cli_lift_cut(const struct cli_args *a, const struct lift_program *p, struct arena *arena, struct diag *d)
{
    p = with_names(p, arena);
    const struct lift_cuts cuts = lift_cut_find(p, arena);
    bool *chosen = ARENA_ARRAY(arena, bool, cuts.n + 1);
    const struct lift_sequence *s =
        choose(a, p, &cuts, chosen, d) ? lift_cut(p, &cuts, chosen, arena, d) : NULL;
    if (!s) return;
    json_t *o = describe(p, &cuts, s);
    if (cli_given(a, CLI_JSON)) {
        cli_print_json(o);
        return;
    }
    print_text(o);
    json_decref(o);
}
