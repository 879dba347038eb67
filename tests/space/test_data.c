/* Instances survive JSON: the text, the fingerprint and the root vector are the same. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/space/data.h"
#include "core/space/space.h"
#include "spacedsl/model.h"
#include "tests/fixture/instance.h"

static const char DATA_SPACE[] = "space s set A set B : A set T(a: A) : B property p(A, A): int property "
                                 "q(A): A property l(A): int list property m(A): A list\n"
                                 "parameter k: int choice c(a: A, t: T(a)): int in l(a)\n"
                                 "require forall a in A: (sum of c(a, t) * p(a, t) over t in T(a)) <= k && "
                                 "(exists b in m(a): b == q(a))\n";

static struct space_data *data_example(void)
{
    struct space_data *d = space_data_new();
    for (int i = 0; i < 3; i++)
        space_data_object(d, "A", (char[]){(char)('x' + i), 0});
    for (uint32_t i = 0; i < 3; i++) {
        space_data_list(d, "l", &i, 1, (int64_t[]){1, 2, 5}, 3);
        space_data_list(d, "m", &i, 1, (int64_t[]){0, (int64_t)i}, 2);
        space_data_int(d, "q", &i, 1, (int64_t)i);
        space_data_int(d, "p", (uint32_t[]){i, 1}, 2, 3);
        space_data_member_of(d, "T", i, 1);
    }
    space_data_member(d, "B", 1);
    space_data_parameter(d, "k", 7);
    return d;
}

Test(space_data, survives_json)
{
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    struct source src = {"t", DATA_SPACE, strlen(DATA_SPACE)};
    const struct space_def *def = spacedsl_compile(&src, a, d);
    struct space_data *one = data_example();
    char *text = instance_json(one, def);
    struct space_data *two = space_data_from_json("t.json", text, def, d);
    diag_print(d, stderr);
    cr_assert(two);
    char *again = instance_json(two, def);
    cr_assert_str_eq(text, again);
    struct space *s = space_instantiate(def, one, d), *t = space_instantiate(def, two, d);
    cr_assert(s && t);
    cr_assert_eq(space_fingerprint(s), space_fingerprint(t));
    struct space_state *x = space_root(s, NULL), *y = space_root(t, NULL);
    cr_assert(x && y);
    cr_assert_eq(space_state_hash(x), space_state_hash(y));
    cr_assert_eq(space_value_count(x, 0), 2, "3 * c <= 7 leaves 1 and 2");
    space_state_free(x);
    space_state_free(y);
    space_free(s);
    space_free(t);
    space_data_free(one);
    space_data_free(two);
    free(text);
    free(again);
    diag_free(d);
    arena_free(a);
}

static void data_count_pin(void *ctx, uint32_t slot, const uint64_t *allowed, unsigned words)
{
    unsigned *sum = ctx;
    (void)words;
    *sum += (unsigned)allowed[0] + 100 * (slot + 1);
}

Test(space_data, pins_match_names_and_values)
{
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    struct source src = {"t", DATA_SPACE, strlen(DATA_SPACE)};
    struct space_data *data = data_example();
    struct space *s = space_instantiate(spacedsl_compile(&src, a, d), data, d);
    unsigned sum = 0;
    cr_assert(space_parse_pin(s, "c(x, y)=2|5", d, data_count_pin, &sum));
    cr_assert_eq(sum, 6 + 100);
    sum = 0;
    cr_assert(space_parse_pin(s, "c(*)=1", d, data_count_pin, &sum));
    cr_assert_eq(sum, 3 + 600);
    cr_assert(!space_parse_pin(s, "c(x, y)=3", d, data_count_pin, &sum));
    cr_assert(!space_parse_pin(s, "nothing=3", d, data_count_pin, &sum));
    space_free(s);
    space_data_free(data);
    diag_free(d);
    arena_free(a);
}
