/* thresh space describe: a reference page of a space, in Markdown or JSON, from the comments of its file:
 * parameters, sets, properties, choices, and every constraint below its reason:
 *
 *     ## Constraints
 *
 *     Two queens never share a column.
 *
 *     - `forall a, b in Row: a < b => column(a) != column(b)` (queens.space:7) */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/cli/space.h"

/* The number of reasons that say "(not yet)": temporary restrictions. A reason counts once, however many
 * constraints follow it. */
static unsigned count_not_yet(const struct space_def *def)
{
    unsigned n = 0;
    for (int32_t i = 0; i < def->n_constraints; i++) {
        bool again = i > 0 && strcmp(def->constraints[i].doc, def->constraints[i - 1].doc) == 0;
        n += !again && strstr(def->constraints[i].doc, "(not yet)") != NULL;
    }
    return n;
}

/* ---- Markdown ---- */

static void print_entry(struct space_remark r)
{
    printf("- `%s`%s%s\n", r.text, *r.doc ? ": " : "", r.doc);
}

static void print_instance(const struct space_def *def)
{
    if (def->n_parameters) printf("\n## Parameters\n\n");
    for (int32_t i = 0; i < def->n_parameters; i++)
        print_entry(def->parameters[i].remark);
    if (def->n_sets) printf("\n## Sets\n\n");
    for (int32_t i = 0; i < def->n_sets; i++)
        print_entry(def->sets[i].remark);
    if (def->n_properties) printf("\n## Properties\n\n");
    for (int32_t i = 0; i < def->n_properties; i++)
        print_entry(def->properties[i].remark);
}

static void print_choice(const struct space_choice *c)
{
    printf("\n### %s\n\n`%s`\n", c->name, c->remark.text);
    if (*c->remark.doc) printf("\n%s\n", c->remark.doc);
    if (c->n_values) printf("\n| value | code | |\n|---|---|---|\n");
    for (unsigned v = 0; v < c->n_values; v++)
        printf("| %s | %" PRId64 " | %s |\n", c->value_names[v], c->codes[v], c->value_docs[v]);
    for (unsigned i = 0; i < c->n_aliases; i++) {
        const char *between = "";
        printf("%s%s stands for ", i ? "" : "\n", c->aliases[i].name);
        for (unsigned v = 0; v < c->n_values; v++) {
            if (!(c->aliases[i].mask >> v & 1)) continue;
            printf("%s%s", between, c->value_names[v]);
            between = ", ";
        }
        printf(".\n");
    }
}

/* A rule below its reason, which is printed once for consecutive rules. */
static void print_rule(const char *doc, const char *before, const char *text, const char *file, unsigned line)
{
    if (*doc && (!before || strcmp(doc, before) != 0)) printf("\n%s\n\n", doc);
    if (!*doc && (!before || *before)) printf("\n");
    printf("- `%s` (%s:%u)\n", text, file, line);
}

static void print_rules(const struct space_def *def)
{
    if (def->n_triggers) printf("\n## Triggers\n");
    for (int32_t i = 0; i < def->n_triggers; i++) {
        const struct space_trigger *t = &def->triggers[i];
        print_rule(t->doc, i ? def->triggers[i - 1].doc : NULL, t->text, t->file, t->line);
    }
    if (def->n_constraints) printf("\n## Constraints\n");
    for (int32_t i = 0; i < def->n_constraints; i++) {
        const struct space_constraint *c = &def->constraints[i];
        print_rule(c->doc, i ? def->constraints[i - 1].doc : NULL, c->text, c->file, c->line);
    }
}

static void print_page(const struct space_def *def)
{
    printf("# Space %s\n", def->name);
    if (*def->doc) printf("\n%s\n", def->doc);
    print_instance(def);
    if (def->n_choices) printf("\n## Choices\n");
    for (int32_t i = 0; i < def->n_choices; i++)
        print_choice(&def->choices[i]);
    if (def->n_derived) printf("\n## Definitions, counters and quotients\n\n");
    for (int32_t i = 0; i < def->n_derived; i++)
        print_entry(def->derived[i].remark);
    print_rules(def);
    printf("\n%d choice%s, %d constraint%s\n", (int)def->n_choices, def->n_choices == 1 ? "" : "s",
           (int)def->n_constraints, def->n_constraints == 1 ? "" : "s");
    unsigned not_yet = count_not_yet(def);
    if (not_yet) printf("\nTemporary restrictions (marked \"not yet\"): %u\n", not_yet);
}

/* ---- JSON ---- */

static json_t *entry_json(const char *name, struct space_remark r)
{
    return json_pack("{s:s,s:s,s:s}", "name", name, "text", r.text, "doc", r.doc);
}

static json_t *choice_json(const struct space_choice *c)
{
    json_t *o = entry_json(c->name, c->remark), *values = json_array();
    for (unsigned v = 0; v < c->n_values; v++)
        json_array_append_new(values, json_pack("{s:s,s:I,s:s}", "name", c->value_names[v], "code",
                                                (json_int_t)c->codes[v], "doc", c->value_docs[v]));
    json_object_set_new(o, "values", values);
    return o;
}

static json_t *rule_json(const char *doc, const char *text, const char *file, unsigned line)
{
    return json_pack("{s:s,s:s,s:s,s:i}", "text", text, "doc", doc, "file", file, "line", (int)line);
}

static json_t *page_json(const struct space_def *def)
{
    json_t *parameters = json_array(), *sets = json_array(), *properties = json_array(),
           *choices = json_array(), *constraints = json_array(), *triggers = json_array(),
           *derived = json_array();
    for (int32_t i = 0; i < def->n_parameters; i++)
        json_array_append_new(parameters, entry_json(def->parameters[i].name, def->parameters[i].remark));
    for (int32_t i = 0; i < def->n_sets; i++)
        json_array_append_new(sets, entry_json(def->sets[i].name, def->sets[i].remark));
    for (int32_t i = 0; i < def->n_properties; i++)
        json_array_append_new(properties, entry_json(def->properties[i].name, def->properties[i].remark));
    for (int32_t i = 0; i < def->n_choices; i++)
        json_array_append_new(choices, choice_json(&def->choices[i]));
    for (int32_t i = 0; i < def->n_derived; i++)
        json_array_append_new(derived, entry_json(def->derived[i].name, def->derived[i].remark));
    for (int32_t i = 0; i < def->n_constraints; i++) {
        const struct space_constraint *c = &def->constraints[i];
        json_array_append_new(constraints, rule_json(c->doc, c->text, c->file, c->line));
    }
    for (int32_t i = 0; i < def->n_triggers; i++) {
        const struct space_trigger *t = &def->triggers[i];
        json_array_append_new(triggers, rule_json(t->doc, t->text, t->file, t->line));
    }
    return json_pack("{s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:i}", "space", def->name, "doc", def->doc,
                     "parameters", parameters, "sets", sets, "properties", properties, "choices", choices,
                     "derived", derived, "constraints", constraints, "triggers", triggers, "not_yet",
                     (int)count_not_yet(def));
}

int space_describe_verb(const struct cli_args *a, struct cli_space *o, struct diag *d)
{
    (void)d;
    if (cli_given(a, CLI_JSON))
        cli_print_json(page_json(o->def));
    else
        print_page(o->def);
    return CLI_OK;
}
