/* What is wrong with an instance: sections, sets, objects, members, parameters, recursion without end,
 * objects that wait for themselves. */
#include <criterion/criterion.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/space/data.h"
#include "core/space/space.h"
#include "spacedsl/model.h"

static const char data_errors_text[] =
    "space s set A set B : A set T(a: A) : B property up(A): A property w(A): int parameter k: int = 1\n"
    "choice c(a: A): int in 0..2\n"
    "define sum_up(a: A): int = c(a) + sum_up(up(a))\n"
    "require forall a in A: sum_up(a) + w(a) <= k + 4 && (forall t in T(a): c(t) > 0)\n";

static const char data_errors_triggers[] =
    "space s set A set Few = 0..3 property next(A): A property other(Few): Few list\n"
    "choice pick(a: A): { NO, YES } choice few(i: Few): { NO, YES }\n"
    "trigger forall a in A: when pick(a) is YES activate next(a)\n"
    "trigger forall i in Few: when few(i) is YES activate other(i)\n";

/* Each object is one step of the recursion, whatever is chosen. */
static const char data_errors_steps[] =
    "space s set Few = 0..255 set Many = 0..256 set A choice c: int in 0..1\n"
    "define few(i: Few): int = c + few(i - 1)\n"
    "define many(i: Many): int = c + many(i - 1)\n"
    "require few(255) < 256 && ((exists a in A: true) -> many(256) != 1)\n";

struct data_errors_case {
    const char *json, *message; /* "": none */
};

static const struct data_errors_case data_errors_cases[] = {
    {"[]", "error: i.json: an instance is a JSON object"},
    {"{\"set\": {}}", "error: i.json: 'set' is none of sets, subsets, members, properties, parameters"},
    {"{\"sets\": {\"C\": []}}", "error: i.json: 'C' is no set of space 's' that has its own objects"},
    {"{\"sets\": {\"A\": [1]}}", "error: i.json: 'A': objects are strings"},
    {"{\"parameters\": {\"kk\": 2}}", "error: i.json: space 's' has no parameter 'kk'"},
    {"{\"parameters\": {\"k\": \"2\"}}", "error: i.json: parameter 'k' is no number"},
    {"{\"properties\": {\"v\": []}}", "error: i.json: unknown property 'v'"},
    {"{\"sets\": {\"A\": [\"x\"]}, \"properties\": {\"w\": [[\"x\"]]}}",
     "error: i.json: 'w': a row has 1 arguments and a value"},
    {"{\"sets\": {\"A\": [\"x\"]}, \"properties\": {\"up\": [[\"x\", \"y\"]]}}",
     "error: i.json: 'up': 'y' is no object of set 'A'"},
    {"{\"sets\": {\"A\": [\"x\", \"y\"]}, \"subsets\": {\"B\": [\"x\"]}, \"members\": {\"T\": {\"x\": "
     "[\"y\"]}}}",
     "error: an object of set 'T' is not in set 'B'"},
    {"{\"sets\": {\"A\": [\"x\", \"y\"]}, \"properties\": {\"up\": [[\"x\", \"y\"], [\"y\", \"x\"]]}}",
     "error: t:3: the definition of 'sum_up' is cyclic in this instance, along 'up'"},
    {"{\"sets\": {\"A\": [\"x\"]}", "error: i.json:1:"},
};

static const struct data_errors_case data_errors_waiting[] = {
    {"{\"sets\": {\"A\": [\"x\", \"y\", \"z\"]}, \"properties\": {\"next\": [[\"x\", \"y\"], [\"y\", "
     "\"z\"]]}}",
     ""},
    {"{\"sets\": {\"A\": [\"x\", \"y\", \"z\"]}, \"properties\": {\"next\": [[\"x\", \"y\"], [\"y\", \"z\"], "
     "[\"z\", \"y\"]]}}",
     "error: t:3: the trigger of object 'y' of 'A' waits for what it activates"},
    {"{\"sets\": {\"A\": [\"x\"]}, \"properties\": {\"next\": [[\"x\", \"x\"]]}}",
     "error: t:3: the trigger of object 'x' of 'A' waits for what it activates"},
    {"{\"sets\": {\"A\": []}, \"properties\": {\"other\": [[0, [1, 2]], [2, [3]], [3, [1, 2]]]}}",
     "error: t:4: the trigger of object '3' of 'Few' waits for what it activates"},
};

static const struct data_errors_case data_errors_deep[] = {
    {"{\"sets\": {\"A\": []}}", ""},
    {"{\"sets\": {\"A\": [\"x\"]}}",
     "error: t:3: the definition of 'many' goes to too many objects in this instance"},
};

static void data_errors_check(const char *text, const struct data_errors_case *c)
{
    struct source src = {"t", text, strlen(text)};
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    const struct space_def *def = spacedsl_compile(&src, a, d);
    cr_assert_not_null(def);
    struct space_data *data = space_data_from_json("i.json", c->json, def, d);
    struct space *s = data ? space_instantiate(def, data, d) : NULL;
    const char *got = diag_count(d) ? diag_message(d, 0) : "";
    cr_expect_eq(s != NULL, !*c->message, "%s: %s", c->json, got);
    cr_expect(*c->message ? !strncmp(got, c->message, strlen(c->message)) : !*got, "wanted '%s', got '%s'",
              c->message, got);
    space_free(s);
    space_data_free(data);
    diag_free(d);
    arena_free(a);
}

Test(space_data_errors, are_reported)
{
    for (size_t i = 0; i < sizeof data_errors_cases / sizeof data_errors_cases[0]; i++)
        data_errors_check(data_errors_text, &data_errors_cases[i]);
}

Test(space_data_errors, recursion_over_too_many_objects)
{
    for (size_t i = 0; i < sizeof data_errors_deep / sizeof data_errors_deep[0]; i++)
        data_errors_check(data_errors_steps, &data_errors_deep[i]);
}

Test(space_data_errors, objects_that_wait_for_themselves)
{
    for (size_t i = 0; i < sizeof data_errors_waiting / sizeof data_errors_waiting[0]; i++)
        data_errors_check(data_errors_triggers, &data_errors_waiting[i]);
}
