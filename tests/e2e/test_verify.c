/* thresh verify on a real device: its report adds up, and nothing fails. */
#include <criterion/criterion.h>
#include <jansson.h>

#include "tests/e2e/run.h"

static json_t *report(const struct e2e_run *r)
{
    json_t *o = json_loads(r->out, 0, NULL);
    cr_assert_not_null(o, "%s", r->out);
    return o;
}

static json_int_t number(const json_t *o, const char *key)
{
    cr_assert(json_is_integer(json_object_get(o, key)), "no %s", key);
    return json_integer_value(json_object_get(o, key));
}

Test(verify, random_implementations, .timeout = 120)
{
    struct e2e_run r = E2E_RUN(&cli_verify, "experiments/kernels/gemv.lift", "--size", "M=8,N=8", "--samples",
                               "12", "--time", "8s", "--seed", "5", "--json", "--quiet");
    json_t *o = report(&r);
    json_int_t verified = number(o, "verified");
    cr_expect_eq(r.status, CLI_OK, "%s%s", r.out, r.err);
    cr_expect_gt(verified, 0);
    cr_expect_eq(number(json_object_get(o, "statuses"), "ok"), verified);
    cr_expect_eq(json_array_size(json_object_get(o, "failures")), 0);
    cr_expect_geq(number(o, "drawn"),
                  verified + number(o, "duplicates") + number(o, "dead_ends") + number(o, "not_lowered"));
    size_t i;
    json_t *v;
    json_array_foreach(json_object_get(o, "values"), i, v)
        cr_expect(number(v, "texts") <= verified && json_is_string(json_object_get(v, "choice")));
    json_decref(o);
    e2e_run_free(&r);
}
