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

static const char data_errors_sets[] =
    "space s set A set B : A set C : A disjoint B property vals(A): int list parameter p: int\n"
    "choice x(a: A): int in vals(a)\n"
    "choice y: int in 0..p\n"
    "require (forall b in B: x(b) > 1) && (forall c in C: x(c) > 2 || y > 2)\n";

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

static const struct data_errors_case data_errors_instances[] = {
    {"{\"parameters\": {\"p\": 4}}", ""},
    {"{}", "error: space 's' needs a value for parameter 'p'"},
    {"{\"sets\": {\"A\": [\"u\"]}, \"subsets\": {\"B\": [\"u\"], \"C\": [\"u\"]}, \"parameters\": {\"p\": "
     "4}}",
     "error: sets 'C' and 'B' share an object"},
    {"{\"sets\": {\"A\": [\"u\"]}, \"parameters\": {\"p\": 4}}", "error: t:2: a domain of 'x' is empty"},
    {"{\"parameters\": {\"p\": 4095}}", ""},
    {"{\"parameters\": {\"p\": 4096}}", "error: t:3: a domain of 'y' is too large"},
    {"{\"members\": {\"B\": {}}}", "error: i.json: 'B' is no parametric set"},
    {"{\"subsets\": {\"B\": [\"u\"]}}", "error: i.json: 'B': 'u' is no object of set 'A'"},
    {"{\"sets\": {\"A\": [\"u\"]}, \"properties\": {\"vals\": [[\"u\", [\"v\"]]]}}",
     "error: i.json: 'vals': values are numbers"},
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

Test(space_data_errors, of_sets_and_domains)
{
    for (size_t i = 0; i < sizeof data_errors_instances / sizeof data_errors_instances[0]; i++)
        data_errors_check(data_errors_sets, &data_errors_instances[i]);
}

/* Instances that are built by calls instead of read. */
Test(space_data_errors, of_built_instances)
{
    static const char *const messages[] = {
        "error: the instance names 'z', which space 's' does not declare",
        "error: the instance names set 'Z', which space 's' does not declare",
        "error: property 'w' has 1 arguments, the instance gives 2"};
    struct source src = {"t", data_errors_text, strlen(data_errors_text)};
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    const struct space_def *def = spacedsl_compile(&src, a, d);
    struct space_data *data = space_data_new();
    uint32_t x = space_data_object(data, "A", "x");
    space_data_int(data, "z", &x, 1, 3);
    space_data_object(data, "Z", "x");
    space_data_int(data, "w", (uint32_t[]){x, x}, 2, 3);
    cr_assert_null(space_instantiate(def, data, d));
    cr_assert_eq(diag_count(d), sizeof messages / sizeof messages[0]);
    for (size_t i = 0; i < diag_count(d); i++)
        cr_expect_str_eq(diag_message(d, i), messages[i]);
    space_data_free(data);
    diag_free(d);
    arena_free(a);
}

Test(space_data_errors, of_pins)
{
    static const struct data_errors_case cases[] = {
        {"c(x)", "error: pin 'c(x)' is not of the form choice(args)=VALUE"},
        {"d(x)=1", "error: pin 'd(x)=1' matches no choice"},
        {"c(x)=7", "error: pin 'c(x)=7' names no value of its choice"},
        {"c(x)=1", "error: pin 'c(x)=1' makes the space empty (t:2: forall a, b in A: c(a) != c(b))"},
        {"c(x)=0|1", ""},
    };
    static const char text[] = "space s set A choice c(a: A): int in 0..1\n"
                               "require forall a, b in A: c(a) != c(b)\n";
    struct source src = {"t", text, strlen(text)};
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    const struct space_def *def = spacedsl_compile(&src, a, d);
    struct space_data *data = space_data_new();
    for (int i = 0; i < 3; i++)
        space_data_object(data, "A", (char[]){(char)('x' + i), 0});
    struct space *s = space_instantiate(def, data, d);
    cr_assert(s);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct diag *why = diag_new();
        struct space_state *st = space_pinned_root(s, &cases[i].json, 1, why);
        const char *got = diag_count(why) ? diag_message(why, 0) : "";
        cr_expect_eq(st != NULL, !*cases[i].message);
        cr_expect(!strncmp(got, cases[i].message, strlen(cases[i].message)), "wanted '%s', got '%s'",
                  cases[i].message, got);
        space_state_free(st);
        diag_free(why);
    }
    space_free(s);
    space_data_free(data);
    diag_free(d);
    arena_free(a);
}

Test(space_data_errors, of_an_empty_space)
{
    static const char text[] = "space s set A choice c(a: A): int in 0..2\n"
                               "require forall a, b in A: c(a) < c(b)\n";
    struct source src = {"t", text, strlen(text)};
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    struct space_data *data = space_data_new();
    const struct space_def *def = spacedsl_compile(&src, a, d);
    space_data_object(data, "A", "x");
    space_data_object(data, "A", "y");
    struct space *s = space_instantiate(def, data, d);
    cr_assert(s && !space_pinned_root(s, NULL, 0, d));
    cr_assert_str_eq(diag_message(d, 0), "error: the space is empty (t:2: forall a, b in A: c(a) < c(b))");
    space_free(s);
    space_data_free(data);
    diag_free(d);
    arena_free(a);
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
