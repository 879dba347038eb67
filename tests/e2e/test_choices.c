/* thresh choices: what can be decided, with the values that pins leave. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/e2e/run.h"

#define AXPY "experiments/kernels/axpy.lift", "--size", "N=64"
#define TRANSPOSE "--space", "experiments/spaces/transpose.space"

static void choices_expect(struct e2e_run r, const char *text)
{
    cr_expect_eq(r.status, CLI_OK, "%s", r.err);
    cr_expect(strstr(r.out, text), "'%s' is not in: %s", text, r.out);
    e2e_run_free(&r);
}

static void choices_refused(struct e2e_run r, const char *message)
{
    cr_expect_eq(r.status, CLI_USAGE, "%s", r.out);
    cr_expect(strstr(r.err, message), "'%s' is not in: %s", message, r.err);
    cr_expect_str_eq(r.out, "");
    e2e_run_free(&r);
}

/* Groups with their meaning, values as pins take them. */
Test(choices, of_a_program)
{
    choices_expect(E2E_RUN(&cli_choices, AXPY, "size(n.*)"),
                   "size: Size of the tile; all dimensions of the tile have this size.\n"
                   "  size(n.0)  1|2|4|8|16|32|64\n  size(n.1)  1|2|4|8|16|32|64\n");
    choices_expect(E2E_RUN(&cli_choices, AXPY, "staged", "cache"), "staged(x)  NO|YES\n");
    choices_expect(E2E_RUN(&cli_choices, AXPY), "more; the argument 'order' lists them\n");
}

/* A pin leaves one value, and what follows from it. */
Test(choices, after_pins)
{
    choices_expect(E2E_RUN(&cli_choices, AXPY, "--pin", "size(n.0)=64", "size(n.*)"),
                   "  size(n.0)  = 64\n  size(n.1)  = 1\n");
    choices_expect(E2E_RUN(&cli_choices, AXPY, "--pin", "size(n.0)=4|8", "size(n.0)"), "  size(n.0)  4|8\n");
}

/* What is listed can be pinned: every value of every choice is accepted by its name. */
Test(choices, are_what_pins_take)
{
    struct e2e_run r = E2E_RUN(&cli_choices, TRANSPOSE, "--json");
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    json_t *o = json_loads(r.out, 0, NULL), *group, *row, *value;
    size_t g, i, v, n = 0;
    json_array_foreach(json_object_get(o, "choices"), g, group)
    {
        cr_expect(json_is_string(json_object_get(group, "doc")));
        json_array_foreach(json_object_get(group, "decisions"), i, row)
        {
            json_array_foreach(json_object_get(row, "values"), v, value)
            {
                char pin[256];
                snprintf(pin, sizeof pin, "%s=%s", json_string_value(json_object_get(row, "name")),
                         json_string_value(value));
                struct e2e_run again = E2E_RUN(&cli_choices, TRANSPOSE, "--pin", pin);
                cr_expect_not(strstr(again.err, "is not a value"), "%s: %s", pin, again.err);
                n += again.status == CLI_OK;
                e2e_run_free(&again);
            }
        }
    }
    cr_expect_gt(n, 10);
    json_decref(o);
    e2e_run_free(&r);
}

/* Matrices of floats are there where the user allows them and the device has them. */
Test(choices, what_is_allowed)
{
#define CHOICES_MATRIX "experiments/kernels/matmul.lift", "--size", "M=256,N=256,K=256", "matrix"
#define CHOICES_H200 "--description", "perfmodel/devices/nvidia-h200.json"
    choices_expect(E2E_RUN(&cli_choices, CHOICES_MATRIX, CHOICES_H200), "matrix(mad)  = NO\n");
    choices_expect(E2E_RUN(&cli_choices, CHOICES_MATRIX, CHOICES_H200, "--allow", "tf32"),
                   "matrix(mad)  NO|YES\n");
    struct e2e_run r = E2E_RUN(&cli_choices, CHOICES_MATRIX, "--allow", "tf32");
    cr_expect(strstr(r.err, "does not multiply matrices of TF32: --allow tf32 changes nothing\n"), "%s",
              r.err);
    choices_expect(r, "matrix(mad)  = NO\n");
}

Test(choices, errors)
{
    choices_refused(E2E_RUN(&cli_choices, AXPY, "siez"), "'siez' matches no choice; did you mean 'size'?");
    choices_refused(E2E_RUN(&cli_choices, AXPY, "size(q.*)"), "'size(q.*)' matches no choice; did you mean");
    choices_refused(E2E_RUN(&cli_choices, AXPY, "--param", "n=4"),
                    "--param: the space of Lift programs has no parameter 'n'; parameters: max_unroll,");
    choices_refused(E2E_RUN(&cli_choices, AXPY, "--param", "local_memory=4"),
                    "--param: 'local_memory' is a limit of the device and cannot be set");
    choices_refused(E2E_RUN(&cli_choices, AXPY, "--param", "max_unroll=many"),
                    "--param: 'max_unroll=many' is malformed; write NAME=NUMBER");
    choices_refused(E2E_RUN(&cli_choices, TRANSPOSE, "--size", "N=4"), "--size does not apply to --space");
    choices_refused(E2E_RUN(&cli_choices, AXPY, "--allow", "nonsense"),
                    "--allow: 'nonsense' cannot be allowed; possible: tf32");
    choices_refused(E2E_RUN(&cli_choices, TRANSPOSE, "--allow", "tf32"), "--allow does not apply to --space");
    choices_refused(e2e_run(&cli_choices, (const char *const[]){NULL}), "missing argument: KERNEL.lift");
}
