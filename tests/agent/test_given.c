/* The user's data: files become inputs, expected results are compared, and the sets that are generated stay.
 */
#include "agent/given.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/evaluate.h"
#include "core/base/diag.h"
#include "core/base/npy.h"
#include "core/pipeline/code.h"
#include "core/space/space.h"

static const char given_program[] = "size N\ninput x: [float]N\ninput k: [int]N in 0..9\n"
                                    "output map(fun v -> 2.5 * v, x)\n";

struct given_bench {
    struct diag *d;
    struct problem *p;
    struct device dev;
    char x[32], k[32], z[32];
};

static void given_write(char path[32], enum npy_kind kind, unsigned bytes, int64_t n, const void *elements)
{
    const struct npy_header h = {.kind = kind, .bytes = bytes, .n_extents = 1, .extents = {n}};
    struct diag *d = diag_new();
    strcpy(path, "/tmp/thresh-given-XXXXXX");
    close(mkstemp(path));
    cr_assert(npy_write(path, &h, elements, d));
    diag_free(d);
}

/* x is 0.5, 1.0, ..., k 0 to 3, the expected result 2.5 x but for `off` at its end. */
static void given_open(struct given_bench *b, double off)
{
    const double x[] = {0.5, 1, 1.5, 2}, z[] = {1.25, 2.5, 3.75, 5 + off};
    const int64_t k[] = {0, 1, 2, 3};
    struct bb_options options = {.parallel_levels = 2, .no_staging = true};
    b->d = diag_new();
    cr_assert(device_select("cpu", &b->dev, b->d));
    b->p = problem_new("m.lift", given_program, "N=4", &b->dev.limits, &options, b->d);
    cr_assert_not_null(b->p);
    given_write(b->x, NPY_FLOAT, 8, 4, x);
    given_write(b->k, NPY_INT, 8, 4, k);
    given_write(b->z, NPY_FLOAT, 8, 4, z);
}

static void given_close(struct given_bench *b)
{
    unlink(b->x);
    unlink(b->k);
    unlink(b->z);
    problem_free(b->p);
    diag_free(b->d);
}

static struct given_files given_all(const struct given_bench *b)
{
    return (struct given_files){
        .n_inputs = 2, .inputs = {{"x", b->x}, {"k", b->k}}, .n_references = 1, .references = {{NULL, b->z}}};
}

/* The error, or "". */
static const char *given_message(const struct given_bench *b)
{
    return diag_failed(b->d) ? diag_message(b->d, 0) : "";
}

static struct evaluator *given_evaluator(struct given_bench *b, const struct given *data)
{
    return evaluator_new_for(b->p, &b->dev, 1, &(struct eval_inputs){.seed = 7, .data = data}, NULL, b->d);
}

Test(agent_given, timing_inputs_are_those_of_the_user)
{
    struct given_bench b;
    given_open(&b, 0);
    const struct given_files files = given_all(&b);
    struct given *data = given_load(&files, b.p->program, b.d);
    cr_assert(data, "%s", given_message(&b));
    struct verify_task *t = verify_task_of(b.p->backbone, false, data, 7, b.d);
    const struct verify_buffer *x = &t->buffers[0], *k = &t->buffers[1];
    cr_assert(t->n_buffers == 3 && !x->output && k->type == SCALAR_INT);
    for (int64_t i = 0; i < 4; i++) {
        cr_expect_eq(verify_get(x->type, x->data[VERIFY_TIMING], i), 0.5 * (double)(i + 1));
        cr_expect_neq(verify_get(x->type, x->data[VERIFY_EXACT], i), 0.5, "the exact set is generated");
        cr_expect_eq(verify_get(k->type, k->data[VERIFY_EXACT], i), (double)i, "integers are in all sets");
        cr_expect_eq(verify_get(k->type, k->data[VERIFY_TIMING], i), (double)i);
    }
    verify_task_free(t);
    given_free(data);
    given_close(&b);
}

/* `program` is a kernel's text; its verdict by an evaluator of the user's data. */
static void given_expect(struct evaluator *ev, const struct cg_kernel *naive, char *text,
                         enum eval_status status, const char *message)
{
    struct evaluation e;
    struct cg_kernel k = *naive;
    if (text) k.source = text;
    evaluator_run(ev, &k, &(struct eval_settings){.verify = true, .untimed = true}, &e);
    cr_expect_eq(e.status, status, "%s: %s", eval_status_name(e.status), e.message);
    cr_expect(strstr(e.message, message), "'%s'", e.message);
}

/* A kernel that is right for generated inputs and wrong for the user's; one that loses an element. */
Test(agent_given, kernels_are_verified_on_both, .timeout = 60)
{
    static char exact_only[] = "__kernel void thresh_kernel(__global const float *x, __global const int *k,"
                               "                          __global float *y) {\n"
                               "  int i = get_global_id(0); y[i] = x[i] == 1.5f ? 4.0f : 2.5f * x[i]; }\n",
                user_only[] = "__kernel void thresh_kernel(__global const float *x, __global const int *k,"
                              "                          __global float *y) {\n"
                              "  int i = get_global_id(0); y[i] = x[i] < 0 ? 0 : 2.5f * x[i]; }\n";
    struct given_bench b;
    struct pipeline_code naive;
    char why[160];
    given_open(&b, 0);
    const struct given_files files = given_all(&b);
    struct given *data = given_load(&files, b.p->program, b.d);
    struct evaluator *ev = data ? given_evaluator(&b, data) : NULL;
    cr_assert(ev, "%s", given_message(&b));
    struct space_state *st = problem_naive(b.p, b.d);
    cr_assert(st && pipeline_lower(b.p, st, &naive, why, sizeof why), "%s", why);
    given_expect(ev, &naive.kernel, NULL, EVAL_OK, "");
    given_expect(ev, &naive.kernel, exact_only, EVAL_WRONG_RESULT,
                 "output 2 is 4, expected 3.75 (timing inputs)");
    given_expect(ev, &naive.kernel, user_only, EVAL_WRONG_RESULT, "(exact inputs)");
    space_state_free(st);
    pipeline_code_clear(&naive);
    evaluator_free(ev);
    given_free(data);
    given_close(&b);
}

/* Whether the program agrees with an expected result that is off by `off`, with a tolerance (negative: none).
 */
static void given_expect_agreement(double off, double tolerance, const char *message)
{
    struct given_bench b;
    given_open(&b, off);
    struct given_files files = given_all(&b);
    files.has_tolerance = tolerance >= 0;
    files.tolerance = tolerance;
    struct given *data = given_load(&files, b.p->program, b.d);
    struct evaluator *ev = data ? given_evaluator(&b, data) : NULL;
    cr_expect_eq(ev != NULL, *message == 0, "%s", given_message(&b));
    cr_expect(strstr(given_message(&b), message), "%s", given_message(&b));
    evaluator_free(ev);
    given_free(data);
    given_close(&b);
}

Test(agent_given, a_program_that_disagrees_is_an_error, .timeout = 60)
{
    given_expect_agreement(1e-7, -1, "");
    given_expect_agreement(0.01, 0.002, "");
    given_expect_agreement(0.011, 0.002, "output 3 (at 3) is 5 by the program and 5.011");
    given_expect_agreement(0.01, -1,
                           "1 of 4 outputs differ; correct one of them, or state a larger --tolerance");
}

/* ---- files that do not fit ---- */

static void given_refused(const struct given_files *files, const char *message)
{
    struct given_bench b;
    given_open(&b, 0);
    struct given *data = given_load(files, b.p->program, b.d);
    cr_expect_null(data);
    cr_expect(strstr(given_message(&b), message), "'%s', not '%s'", given_message(&b), message);
    given_free(data);
    given_close(&b);
}

static void given_refuse_file(const char *name, enum npy_kind kind, unsigned bytes, int64_t n,
                              const void *elements, const char *message)
{
    char path[32];
    given_write(path, kind, bytes, n, elements);
    given_refused(&(struct given_files){.n_inputs = 1, .inputs = {{name, path}}}, message);
    unlink(path);
}

Test(agent_given, files_that_do_not_fit)
{
    const double tenths[] = {0.5, 0.1, 0, 0}, five[5] = {0};
    const int64_t large[] = {0, 1, INT64_C(1) << 40, 0}, odd[] = {(INT64_C(1) << 53) + 1, 0, 0, 0},
                  beyond[] = {0, 9, 10, 0};
    const float floats[4] = {0};
    given_refuse_file("x", NPY_FLOAT, 8, 5, five,
                      "has float64, shape (5,); the input x is [float]N: expected float32, shape (4,)");
    given_refuse_file("k", NPY_FLOAT, 4, 4, floats, "the input k is [int]N: expected int32, shape (4,)");
    given_refuse_file("x", NPY_FLOAT, 8, 4, tenths, "which no float is; convert the file before: x.astype");
    given_refuse_file("x", NPY_INT, 8, 4, odd, "element 0 of ");
    given_refuse_file("k", NPY_INT, 8, 4, large, "is 1099511627776, which no int is");
    given_refuse_file("k", NPY_INT, 8, 4, beyond, "is 10; the program states 'input k: ... in 0.0..9.0'");
}

Test(agent_given, names_that_are_none)
{
    given_refused(&(struct given_files){.n_inputs = 1, .inputs = {{"q", "q.npy"}}},
                  "--input: the program has no input 'q'; its inputs are x, k");
    given_refused(&(struct given_files){.n_inputs = 2, .inputs = {{"x", "a.npy"}, {"x", "b.npy"}}},
                  "--input: input 'x' is given twice");
    given_refused(
        &(struct given_files){
            .n_inputs = 1, .inputs = {{"x", "a.npy"}}, .n_references = 1, .references = {{NULL, "z.npy"}}},
        "--output-reference needs every input: add --input k=FILE.npy");
    given_refused(&(struct given_files){.n_references = 2, .references = {{NULL, "z.npy"}, {"out", "z.npy"}}},
                  "--output-reference: output 'out' is given twice");
    given_refused(&(struct given_files){.n_references = 2, .references = {{"out", "z.npy"}, {NULL, "z.npy"}}},
                  "--output-reference: output 'out' is given twice");
}

/* ---- the text for peers ---- */

Test(agent_given, the_text_loads_the_same_content)
{
    struct given_bench b;
    given_open(&b, 0);
    const struct given_files files = given_all(&b);
    struct given *data = given_load(&files, b.p->program, b.d), *again;
    char *text = given_text(&files, data, b.d);
    cr_assert(text, "%s", given_message(&b));
    again = given_load_text(text, b.p->program, b.d);
    cr_assert(again, "%s", given_message(&b));
    cr_expect_eq(given_hash(again), given_hash(data));
    given_free(again);
    const float others[] = {1, 2, 3, 4};
    unlink(b.x);
    cr_assert(npy_write(b.x,
                        &(struct npy_header){.kind = NPY_FLOAT, .bytes = 4, .n_extents = 1, .extents = {4}},
                        others, b.d));
    cr_expect_null(given_load_text(text, b.p->program, b.d));
    cr_expect(strstr(given_message(&b), "other content here"), "%s", given_message(&b));
    free(text);
    given_free(data);
    given_close(&b);
}

Test(agent_given, texts_that_are_none)
{
    static const char *const texts[] = {"",
                                        "[]",
                                        "{}",
                                        "{\"inputs\":{\"x\":7},\"hash\":\"0\"}",
                                        "{\"inputs\":{},\"hash\":7}",
                                        "{\"inputs\":{},\"references\":[],\"hash\":\"0\"}",
                                        "{\"inputs\":{},\"tolerance\":-1,\"hash\":\"0\"}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct given_bench b;
        given_open(&b, 0);
        cr_expect_null(given_load_text(texts[i], b.p->program, b.d), "%s", texts[i]);
        cr_expect(strstr(given_message(&b), "malformed"), "%s", given_message(&b));
        given_close(&b);
    }
}
