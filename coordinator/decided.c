/* Decisions of rows as numbers; see decided.h. */
#include "coordinator/decided.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/store.h"
#include "core/base/arena.h"
#include "core/pipeline/problem.h"

struct decided {
    const struct problem *problem; /* NULL: of `tune --space` */
    json_t *choices;               /* of `tune --space`: {choice: {value: number}} in order of appearance */
    uint16_t *values;
};

struct decided *decided_new(const struct problem *problem)
{
    struct decided *t = base_calloc(1, sizeof *t);
    *t = (struct decided){.problem = problem, .choices = json_object()};
    if (problem) t->values = base_calloc(space_slot_count(problem->space) + 1, sizeof *t->values);
    return t;
}

void decided_free(struct decided *t)
{
    if (!t) return;
    json_decref(t->choices);
    free(t->values);
    free(t);
}

/* ---- rows of a program ---- */

static const uint16_t *replay(struct decided *t, const char *text, uint32_t *n)
{
    struct space_action *actions;
    const char *why;
    size_t n_actions;
    if (!store_actions_parse(text, &actions, &n_actions)) return NULL;
    struct space_state *leaf = problem_replay(t->problem, actions, n_actions, &why);
    free(actions);
    if (!leaf) return NULL;
    *n = space_slot_count(t->problem->space);
    for (uint32_t slot = 0; slot < *n; slot++)
        t->values[slot] =
            space_is_live(leaf, slot) ? (uint16_t)space_first_value(leaf, slot) : DECIDED_ABSENT;
    space_state_free(leaf);
    return t->values;
}

/* ---- rows of `tune --space` ---- */

/* The number of a key. A new key is added. */
static uint32_t number_of(json_t *numbers, const char *key, json_t *(*make)(uint32_t number))
{
    uint32_t number = 0;
    const char *name;
    json_t *value;
    json_object_foreach(numbers, name, value)
    {
        if (strcmp(name, key) == 0) return number;
        number++;
    }
    json_object_set_new(numbers, key, make(number));
    return number;
}

static json_t *make_values(uint32_t number)
{
    (void)number;
    return json_object();
}

static json_t *make_number(uint32_t number)
{
    return json_integer(number);
}

static const uint16_t *number_decisions(struct decided *t, const char *text, uint32_t *n)
{
    const char *choice;
    json_t *value, *decisions = json_loads(text, 0, NULL);
    size_t most = json_object_size(t->choices) + json_object_size(decisions);
    t->values = base_realloc(t->values, (most + 1) * sizeof *t->values);
    for (size_t i = 0; i < most; i++)
        t->values[i] = DECIDED_ABSENT;
    *n = 0;
    json_object_foreach(decisions, choice, value)
    {
        char *name = json_is_string(value) ? base_strdup(json_string_value(value))
                                           : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        uint32_t c = number_of(t->choices, choice, make_values);
        t->values[c] = (uint16_t)number_of(json_object_get(t->choices, choice), name, make_number);
        if (c + 1 > *n) *n = c + 1;
        free(name);
    }
    json_decref(decisions);
    return *n > 0 ? t->values : NULL;
}

const uint16_t *decided_values(struct decided *t, const struct store_evaluation *e, uint32_t *n)
{
    return t->problem ? replay(t, e->actions, n) : number_decisions(t, e->decisions, n);
}

/* ---- names ---- */

/* The n-th key of an object. */
static const char *key_of(json_t *o, uint32_t n)
{
    void *at = json_object_iter(o);
    while (n-- > 0)
        at = json_object_iter_next(o, at);
    return json_object_iter_key(at);
}

void decided_choice_name(const struct decided *t, uint32_t choice, char *out, size_t size)
{
    if (t->problem)
        space_slot_name(t->problem->space, choice, out, size);
    else
        snprintf(out, size, "%s", key_of(t->choices, choice));
}

void decided_value_name(const struct decided *t, uint32_t choice, uint16_t value, char *out, size_t size)
{
    if (t->problem)
        space_value_name(t->problem->space, choice, value, out, size);
    else
        snprintf(out, size, "%s", key_of(json_object_get(t->choices, key_of(t->choices, choice)), value));
}
