/* What is wrong with an instance: sections, sets, objects, members, parameters, recursion without end,
 * objects that wait for themselves. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "core/space/data.h"
#include "core/space/space.h"
#include "spacedsl/model.h"

static const char data_errors_text[] =
    "space s set A set Few = 0..3 set B : A set C : A disjoint B set D : B set T(a: A) : B set R(i: Few) : "
    "A\n"
    "property up(A): A property w(A): int property vals(A): int list property few(A): Few property "
    "next(Few): "
    "Few property kin(A): A list property kin_few(A): Few list\n"
    "choice c(a: A): int in 0..2 choice e(i: Few): int in 0..2 parameter k: int = 1\n"
    "define sum_up(a: A): int = c(a) + sum_up(up(a))\n"
    "define steps(i: Few): int = e(i) + steps(next(i))\n"
    "require forall a in A: sum_up(a) + w(a) <= k + 4 && (forall t in T(a): c(t) > 0) && c(a) in vals(a)\n"
    "require forall i in Few: steps(i) < 9 && (forall a in R(i): few(a) == i)\n"
    "require (forall b in B: c(b) > 1) && (forall b in C: c(b) > 1) && (forall b in D: c(b) > 1)\n";

static const char data_errors_sets[] = "space s set A property vals(A): int list parameter p: int\n"
                                       "choice x(a: A): int in vals(a)\n"
                                       "choice y: int in 0..p\n"
                                       "require (forall a in A: x(a) > 2 || y > 2)\n";

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

/* The JSON with ' for ", and @ before what the error points at; without an @ it points at no JSON. */
struct data_errors_case {
    const char *json, *message; /* "": none */
};

/* Not JSON: the place of what the parser complains of. */
static const struct data_errors_case data_errors_syntax[] = {
    {"@", "malformed JSON: unexpected token near end of file"},
    {"{'sets': {'A': ['x']}@", "malformed JSON: '}' expected near end of file"},
    {"{'sets':\n {'A': ['x']}@\n\n", "malformed JSON: '}' expected near end of file"},
    {"{'sets':\n  {'A': @x}}", "malformed JSON: invalid token near 'x'"},
    {"{'sets': [1,@, 2]}", "malformed JSON: unexpected token near ','"},
    {"{'sets': {'\u00e4': ['x' @'y']}}", "malformed JSON: ']' expected near '\"y\"'"},
    {"{'sets': {'A': [@'x\ny']}}", "malformed JSON: unexpected newline near '\"x'"},
    {"{'sets': {'A': [@'x\\y']}}", "malformed JSON: invalid escape near '\"x\\y'"},
    {"{'sets': {}, @'sets': {}}", "malformed JSON: duplicate object key near '\"sets\"'"},
    {"{'parameters': {'k': @12345678901234567890}}",
     "malformed JSON: too big integer near '12345678901234567890'"},
    {"{} @7", "malformed JSON: end of file expected near '7'"},
};

/* What the text of an instance can say wrongly. */
static const struct data_errors_case data_errors_cases[] = {
    {"@[]", "expected an object {...} of names and values"},
    {" @7", "expected an object {...} of names and values"},
    {"{@'set': {}}", "unknown key 'set'; the keys are sets, subsets, members, properties, parameters"},
    {"{'sets': @null}", "expected an object {...} of names and values"},
    {"{'sets': {@'C': []}}", "'C' is not a set of space 's' whose objects are listed here"},
    {"{'sets': {'A': @{}}}", "expected a list [...] of names"},
    {"{'sets': {'A': ['x',\n @1]}}", "objects of set 'A' are written by name, as strings"},
    {"{'sets': {'A': ['x', 'y', @'x']}}", "object 'x' of set 'A' is given twice"},
    {"{'sets': {'A': ['x']}, 'subsets': {@'A': ['x']}}", "'A' is not a subset in space 's'"},
    {"{'sets': {'A': ['x']}, 'subsets': {@'T': ['x']}}", "'T' is not a subset in space 's'"},
    {"{'sets': {'A': ['x']}, 'subsets': {'B': @'x'}}", "expected a list [...] of objects"},
    {"{'subsets': {'B': ['x', @'y']}, 'sets': {'A': ['x']}}", "'y' is not an object of set 'A'"},
    {"{'subsets': {'B': [@null]}}", "objects of set 'A' are written by name, as strings"},
    {"{'members': {@'B': {}}}", "'B' is not a parametric set in space 's'"},
    {"{'members': {'T': @[]}}", "expected an object {...} of names and values"},
    {"{'members': {'T': {@'y': []}}}", "'y' is not an object of set 'A'"},
    {"{'sets': {'A': ['x']}, 'members': {'T': {'x': @3}}}", "expected a list [...] of objects"},
    {"{'sets': {'A': ['x']}, 'members': {'T': {'x': ['x', @'z']}}}", "'z' is not an object of set 'A'"},
    {"{'members': {'R': {'3': [], @'4': []}}}", "objects of set 'Few' are numbers from 0 to 3"},
    {"{'members': {'R': {@'2x': []}}}", "objects of set 'Few' are numbers from 0 to 3"},
    {"{'properties': {@'v': []}}", "space 's' has no property 'v'"},
    {"{'properties': {'w': @3}}", "expected a list [...] of rows"},
    {"{'properties': {'w': [@['x']]}}", "a row of 'w' must be a list of 1 argument and a value"},
    {"{'properties': {'w': [@'x']}}", "a row of 'w' must be a list of 1 argument and a value"},
    {"{'sets': {'A': ['x']}, 'properties': {'w': [['x', 1], ['x', @1.5]]}}",
     "expected a whole number, true or false"},
    {"{'sets': {'A': ['x']}, 'properties': {'up': [['x', @'y']]}}", "'y' is not an object of set 'A'"},
    {"{'sets': {'A': ['x']}, 'properties': {'few': [['x', @4]]}}",
     "objects of set 'Few' are numbers from 0 to 3"},
    {"{'sets': {'A': ['x']}, 'properties': {'few': [['x', @'2']]}}",
     "objects of set 'Few' are numbers from 0 to 3"},
    {"{'sets': {'A': ['x']}, 'properties': {'vals': [['x', @4]]}}", "expected a list [...] of values"},
    {"{'sets': {'A': ['x']}, 'properties': {'vals': [['x', [4, @'v']]]}}",
     "expected a whole number, true or false"},
    {"{'sets': {'A': ['x']}, 'properties': {'kin': [['x', ['x', @null]]]}}",
     "objects of set 'A' are written by name, as strings"},
    {"{'sets': {'A': ['x']}, 'properties': {'kin_few': [['x', [@null, 1]]]}}",
     "objects of set 'Few' are numbers from 0 to 3"},
    {"{'parameters': {@'k\\'': 1, 'k': 2}}", "space 's' has no parameter 'k\"'"},
    {"{'parameters': {'k': @'2'}}", "expected a whole number, true or false"},
    {"{'parameters': {'k': @1152921504606846977}}", "number too large; the maximum is 2^60"},
    {"{'sets': {'A': ['x']}, 'properties': {'vals': [['x', [1152921504606846976, @-1152921504606846977]]]}}",
     "number too large; the maximum is 2^60"},
    {"{'sets': {'A': ['x', 'y']}, 'members': {'T': {'y': [], 'x': ['x', @'y']}}, 'subsets': {'B': ['x']}}",
     "an object of set 'T' is not in set 'B'"},
    {"{'sets': {'A': ['x', 'y']}, 'subsets': {'D': ['x', @'y'], 'B': ['x']}}",
     "an object of set 'D' is not in set 'B'"},
    {"{'sets': {'A': ['x', 'y']}, 'subsets': {'B': ['x', 'y'], 'C': [@'y']}}",
     "disjoint sets 'C' and 'B' share an object"},
    {"{'sets': {'A': ['x', 'y']}, 'properties': {'up': [['x', 'y'], ['y', 'x']]}}",
     "t:4: error: the recursion of 'sum_up' is cyclic in this instance: 'up' leads from 'x' back to it"},
    {"{'properties': {'next': [[1, 2], [2, 1]]}}",
     "t:5: error: the recursion of 'steps' is cyclic in this instance: 'next' leads from '1' back to it"},
};

static const struct data_errors_case data_errors_instances[] = {
    {"{'parameters': {'p': 4}}", ""},
    {"{}", "error: space 's' needs a value for parameter 'p' (--param p=...)"},
    {"{'sets': {'A': ['u']}, 'parameters': {'p': 4}}", "t:2: error: the list of values of 'x' is empty"},
    {"{'parameters': {'p': 4095}}", ""},
    {"{'parameters': {'p': 4096}}", "t:3: error: the list of values of 'y' is too long"},
};

static const struct data_errors_case data_errors_waiting[] = {
    {"{'sets': {'A': ['x', 'y', 'z']}, 'properties': {'next': [['x', 'y'], ['y', 'z']]}}", ""},
    {"{'sets': {'A': ['x', 'y', 'z']}, 'properties': {'next': [['x', 'y'], ['y', 'z'], ['z', 'y']]}}",
     "t:3: error: cyclic trigger: it activates object 'y' of 'A', and its condition depends on that object"},
    {"{'sets': {'A': ['x']}, 'properties': {'next': [['x', 'x']]}}",
     "t:3: error: cyclic trigger: it activates object 'x' of 'A', and its condition depends on that object"},
    {"{'sets': {'A': []}, 'properties': {'other': [[0, [1, 2]], [2, [3]], [3, [1, 2]]]}}",
     "t:4: error: cyclic trigger: it activates object '3' of 'Few', and its condition depends on that "
     "object"},
};

static const struct data_errors_case data_errors_deep[] = {
    {"{'sets': {'A': []}}", ""},
    {"{'sets': {'A': ['x']}}",
     "t:3: error: the recursion of 'many' visits too many objects in this instance"},
};

/* Copies the JSON as it is meant. Returns where its @ was, or its end. */
static size_t data_errors_text_of(const char *json, char *out)
{
    size_t n = 0, place = SIZE_MAX;
    for (const char *c = json; *c; c++) {
        if (*c == '@')
            place = n;
        else
            out[n++] = *c == '\'' ? '"' : *c;
    }
    out[n] = 0;
    return place == SIZE_MAX ? n : place;
}

static void data_errors_wanted(const struct data_errors_case *c, const struct source *json, size_t place,
                               char *out, size_t room)
{
    unsigned line, column;
    bool pointed = strchr(c->json, '@');
    source_locate((struct source_pos){json, place}, &line, &column);
    if (pointed)
        snprintf(out, room, "i.json:%u:%u: error: %s", line, column, c->message);
    else
        snprintf(out, room, "%s", c->message);
}

static void data_errors_check(const char *text, const struct data_errors_case *c)
{
    char json[512], wanted[512];
    size_t place = data_errors_text_of(c->json, json);
    struct source src = {"t", text, strlen(text)}, in = {"i.json", json, strlen(json)};
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    const struct space_def *def = spacedsl_compile(&src, a, d);
    cr_assert_not_null(def, "%s", diag_count(d) ? diag_message(d, 0) : "");
    struct space_data *data = space_data_from_json("i.json", json, def, d);
    struct space *s = data ? space_instantiate(def, data, d) : NULL;
    const char *got = diag_count(d) ? diag_message(d, 0) : "";
    data_errors_wanted(c, &in, place, wanted, sizeof wanted);
    cr_expect_eq(s != NULL, !*c->message, "%s: %s", json, got);
    cr_expect_str_eq(got, wanted, "%s: wanted '%s', got '%s'", json, wanted, got);
    space_free(s);
    space_data_free(data);
    diag_free(d);
    arena_free(a);
}

/* Every fault of a text at once, each with its line and a caret. */
Test(space_data_errors, are_shown_in_their_lines)
{
    static const char json[] = "{\"sets\": {\"A\": [\"x\",\n  \"x\"]},\n \"parameter\": {}}\n";
    static const char wanted[] =
        "i.json:2:3: error: object 'x' of set 'A' is given twice\n      \"x\"]},\n      ^\n"
        "i.json:3:2: error: unknown key 'parameter'; the keys are sets, subsets, members, properties, "
        "parameters\n"
        "     \"parameter\": {}}\n     ^\n";
    struct source src = {"t", data_errors_text, strlen(data_errors_text)};
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    char got[512] = "";
    FILE *out = fmemopen(got, sizeof got, "w");
    cr_assert_null(space_data_from_json("i.json", json, spacedsl_compile(&src, a, d), d));
    diag_print(d, out);
    fclose(out);
    cr_expect_str_eq(got, wanted, "%s", got);
    diag_free(d);
    arena_free(a);
}

static void data_errors_damage(char *text, size_t room, struct pcg32 *rng)
{
    static const char bytes[] = "{}[],:\"\\xyn01-.e \n";
    size_t n = strlen(text), at = pcg32_below(rng, (uint32_t)n);
    char byte = bytes[pcg32_below(rng, sizeof bytes - 1)];
    switch (pcg32_below(rng, 3)) {
    case 0:
        text[at] = byte;
        break;
    case 1:
        memmove(text + at, text + at + 1, n - at);
        break;
    default:
        if (n + 1 < room) {
            memmove(text + at + 1, text + at, n - at + 1);
            text[at] = byte;
        }
    }
}

/* A damaged text is read or refused at a place that it has. */
Test(space_data_errors, of_damaged_texts)
{
    static const char whole[] =
        "{\"sets\": {\"A\": [\"x\", \"y\"]}, \"subsets\": {\"B\": [\"x\"], \"C\": [\"y\"]},\n"
        " \"members\": {\"T\": {\"x\": [\"x\"]}, \"R\": {\"1\": [\"y\", \"x\"]}},\n"
        " \"properties\": {\"up\": [[\"x\", \"y\"]], \"w\": [[\"y\", -3]], \"vals\": [[\"x\", [1, 2]]]},\n"
        " \"parameters\": {\"k\": 7}}";
    struct source src = {"t", data_errors_text, strlen(data_errors_text)};
    struct arena *a = arena_new();
    struct diag *quiet = diag_new();
    const struct space_def *def = spacedsl_compile(&src, a, quiet);
    struct pcg32 rng = pcg32_seed(3, 3);
    unsigned taken = 0, refused = 0;
    for (unsigned i = 0; i < 20000; i++) {
        char text[sizeof whole + 8];
        struct diag *d = diag_new();
        memcpy(text, whole, sizeof whole);
        for (uint32_t k = pcg32_below(&rng, 4); k; k--)
            data_errors_damage(text, sizeof text, &rng);
        struct space_data *data = space_data_from_json("i.json", text, def, d);
        unsigned line = 0, column = 0, lines = 1;
        for (const char *c = text; *c; c++)
            lines += *c == '\n';
        if (!data)
            cr_assert_eq(sscanf(diag_message(d, 0), "i.json:%u:%u: error: ", &line, &column), 2, "%s", text);
        cr_assert(data || (line >= 1 && line <= lines && column >= 1), "%s: %s", diag_message(d, 0), text);
        cr_assert_eq(data == NULL, diag_failed(d));
        taken += data != NULL;
        refused += data == NULL;
        space_data_free(data);
        diag_free(d);
    }
    cr_expect(taken > 4000 && refused > 10000, "%u and %u", taken, refused);
    diag_free(quiet);
    arena_free(a);
}

/* Beyond those that are printed errors are counted. */
Test(space_data_errors, are_counted)
{
    char json[2048] = "{\"sets\": {\"A\": [0";
    struct source src = {"t", data_errors_text, strlen(data_errors_text)};
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    for (int i = 1; i < 100; i++)
        snprintf(json + strlen(json), sizeof json - strlen(json), ", %d", i);
    strcat(json, "]}}");
    cr_assert_null(space_data_from_json("i.json", json, spacedsl_compile(&src, a, d), d));
    cr_expect_eq(diag_count(d), 100);
    cr_expect_str_eq(diag_message(d, 2),
                     "i.json:1:23: error: objects of set 'A' are written by name, as strings");
    diag_free(d);
    arena_free(a);
}

Test(space_data_errors, of_syntax)
{
    for (size_t i = 0; i < sizeof data_errors_syntax / sizeof data_errors_syntax[0]; i++)
        data_errors_check(data_errors_text, &data_errors_syntax[i]);
}

Test(space_data_errors, are_reported)
{
    for (size_t i = 0; i < sizeof data_errors_cases / sizeof data_errors_cases[0]; i++)
        data_errors_check(data_errors_text, &data_errors_cases[i]);
}

Test(space_data_errors, of_parameters_and_domains)
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
        "error: property 'w' has the wrong number of arguments: expected 1, the instance gives 2"};
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

Test(space_data_errors, of_sets_of_built_instances)
{
    static const char *const messages[] = {"error: an object of set 'T' is not in set 'B'",
                                           "error: an object of set 'D' is not in set 'B'",
                                           "error: disjoint sets 'C' and 'B' share an object"};
    struct source src = {"t", data_errors_text, strlen(data_errors_text)};
    struct arena *a = arena_new();
    struct diag *quiet = diag_new();
    const struct space_def *def = spacedsl_compile(&src, a, quiet);
    for (unsigned i = 0; i < 3; i++) {
        struct diag *d = diag_new();
        struct space_data *data = space_data_new();
        uint32_t x = space_data_object(data, "A", "x"), y = space_data_object(data, "A", "y");
        space_data_member(data, "B", x);
        if (i == 0) space_data_member_of(data, "T", x, y);
        if (i == 1) space_data_member(data, "D", y);
        if (i == 2) space_data_member(data, "C", x);
        cr_expect_null(space_instantiate(def, data, d));
        cr_expect_eq(diag_count(d), 1);
        cr_expect_str_eq(diag_message(d, 0), messages[i]);
        space_data_free(data);
        diag_free(d);
    }
    diag_free(quiet);
    arena_free(a);
}

Test(space_data_errors, of_pins)
{
    static const struct data_errors_case cases[] = {
        {"c(x)", "error: pin 'c(x)' is not of the form CHOICE(ARGS)=VALUE"},
        {"d(x)=1", "error: pin 'd(x)=1' matches no choice; the choices are c, e"},
        {"c(x)=7", "error: pin 'c(x)=7': '7' is not a value of its choice; c(x) is one of 0|1"},
        {"c(x)=1", "error: pin 'c(x)=1' makes the space empty (t:2: forall a, b in A: c(a) != c(b))"},
        {"c(x)=0|1", ""},
        {"c(x)=0|1|7", ""}, /* as of an instance with more values */
        {"c(*)=0|l", "error: pin 'c(*)=0|l': 'l' is not a value of its choice; c(x) is one of 0|1"},
        {"c(w)=0", "error: pin 'c(w)=0' matches no choice; did you mean 'c(x)'?"},
        {"c=0",
         "error: pin 'c=0' matches no choice; one of these choices is 'c(x)'; 'thresh choices' lists all"},
        {"e=ON|OF",
         "error: pin 'e=ON|OF': 'OF' is not a value of its choice; did you mean 'OFF'? e is one of ON|OFF"},
        {"e=ANY|OFF", ""},
    };
    static const char text[] =
        "space s set A choice c(a: A): int in 0..1 choice e: { ON, OFF } alias ANY = ON | OFF\n"
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
