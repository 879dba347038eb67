/* Large outputs are compared in blocks and parts: what is wrong is found wherever it is. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/verify_judge.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "core/lift/lift.h"
#include "tests/agent/task.h"

enum { NEAR_ELEMENTS = 3 * VERIFY_BLOCK + 5, NEAR_PLACES = 7 };
static const int64_t near_places[NEAR_PLACES] = {
    0, 1, VERIFY_BLOCK - 1, VERIFY_BLOCK, 2 * VERIFY_BLOCK + 77, 3 * VERIFY_BLOCK, NEAR_ELEMENTS - 1};

/* The definition, element by element. */
static int64_t near_slowly(const struct verify_buffer *b, const void *got, struct verify_tolerance t)
{
    for (int64_t i = 0; i < b->elements; i++) {
        double x = verify_get(b->type, got, i), y = verify_get(b->type, b->data[0], i), most = t.absolute;
        if (t.stated) most *= fmax(1, fabs(y));
        if (t.exact || verify_integer(b->type)) most = 0;
        bool same = x == y || (isnan(x) && isnan(y) && !verify_unwritten(b->type, got, i));
        if (!same && !(fabs(x - y) <= most)) return i;
    }
    return -1;
}

static void near_quiet(void *ctx)
{
    (void)ctx;
}

/* The first wrong element of an output that comes in parts of n elements. */
static int64_t near_in_parts(const struct verify_task *t, unsigned buffer, const void *got,
                             struct verify_tolerance tolerance, int64_t n)
{
    struct verify_check c = verify_check_of(t, buffer, 0, tolerance, near_quiet, NULL);
    size_t unit = scalar_type_bytes(c.b->type);
    bool ok = true;
    for (int64_t at = 0; ok && at < c.b->elements; at += n)
        ok = verify_check_part(&c, (const unsigned char *)got + (size_t)at * unit,
                               at + n < c.b->elements ? n : c.b->elements - at);
    if (ok) verify_check_end(&c);
    verify_check_free(&c);
    if (c.at >= 0) cr_expect(!memcmp(c.got, (const unsigned char *)got + (size_t)c.at * unit, unit));
    return c.at;
}

/* One element at a time becomes another number, infinite, NaN, or is left unwritten; the reference may have
 * an infinity or NaN there, too. */
static void near_try(struct verify_task *t, unsigned char *got, struct verify_tolerance tolerance)
{
    static const double others[] = {1, 0.25, -0.0, 3, 1e30, INFINITY, -INFINITY, NAN};
    struct verify_buffer *b = &t->buffers[0];
    const size_t n_others = sizeof others / sizeof *others, unit = scalar_type_bytes(b->type);
    unsigned char fill[VERIFY_FILL], kept[VERIFY_FILL];
    verify_fill(b->type, 0, fill);
    for (int p = 0; p < NEAR_PLACES; p++) {
        int64_t at = near_places[p];
        memcpy(got, b->data[0], b->bytes);
        memcpy(kept, got + (size_t)at * unit, unit);
        for (size_t k = 0; k <= 3 * n_others; k++) {
            if (k > n_others && verify_integer(b->type)) break;
            if (k > n_others) verify_put(b->type, b->data[0], at, k % 2 ? (double)INFINITY : (double)NAN);
            if (k % (n_others + 1) < n_others && !(verify_integer(b->type) && k >= 4))
                verify_put(b->type, got, at, others[k % (n_others + 1)]);
            else
                memcpy(got + (size_t)at * unit, fill, unit);
            int64_t want = near_slowly(b, got, tolerance);
            cr_expect_eq(verify_compare(b, 0, got, tolerance), want, "type %d at %ld, %zu", (int)b->type,
                         (long)at, k);
            cr_expect_eq(near_in_parts(t, 0, got, tolerance, b->elements), want);
            cr_expect_eq(near_in_parts(t, 0, got, tolerance, VERIFY_BLOCK + 3), want);
        }
        memcpy((unsigned char *)b->data[0] + (size_t)at * unit, kept, unit);
    }
}

Test(agent_near, one_wrong_element_is_found_wherever_it_is)
{
    static const enum scalar_type types[] = {SCALAR_FLOAT, SCALAR_DOUBLE, SCALAR_HALF, SCALAR_INT,
                                             SCALAR_BOOL};
    static const struct verify_tolerance tolerances[] = {
        {.exact = true}, {.absolute = 0.5}, {.stated = true, .absolute = 0.5}, {.absolute = INFINITY}};
    struct diag *d = diag_new();
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const struct verify_buffer shape = {.type = types[i], .elements = NEAR_ELEMENTS, .output = true};
        struct verify_task *t = verify_task_new(&shape, 1, VERIFY_EXTREME, d);
        struct pcg32 rng = pcg32_seed(7, i);
        for (int64_t k = 0; k < NEAR_ELEMENTS; k++)
            verify_put(types[i], t->buffers[0].data[0], k, pcg32_below(&rng, 7) - 3.0);
        unsigned char *got = base_malloc(t->buffers[0].bytes);
        for (size_t k = 0; k < sizeof tolerances / sizeof *tolerances; k++)
            near_try(t, got, tolerances[k]);
        free(got);
        verify_task_free(t);
    }
    diag_free(d);
}

/* Within the tolerance of all, but far for its size: the interpreter decides. */
Test(agent_near, a_small_wrong_element_is_found_wherever_it_is)
{
    static const char text[] = "size N\ninput x: [float]N\noutput map(fun u -> 0.1 * u, x)\n";
    const struct source source = {.path = "test.lift", .text = text, .length = strlen(text)};
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    struct lift_size_value size = {.name = "N", .value = NEAR_ELEMENTS};
    struct lift_program *p = lift_parse(&source, a, d);
    cr_assert(p && lift_bind(p, &size, 1, a, d));
    struct verify_buffer shape[2] = {{.type = SCALAR_FLOAT, .elements = NEAR_ELEMENTS},
                                     {.type = SCALAR_FLOAT, .elements = NEAR_ELEMENTS, .output = true}};
    struct verify_task *t = task_make(shape, 2, 3, d);
    t->program = p;
    for (int i = 0; i < NEAR_PLACES; i++)
        verify_put(SCALAR_FLOAT, t->buffers[0].data[0], near_places[i], 1e-4);
    verify_interpret(t);
    const struct verify_tolerance tolerance = {.absolute = 0.01, .relative = 1e-4, .floor = 1e-30};
    float *got = base_malloc(t->buffers[1].bytes);
    memcpy(got, t->buffers[1].data[0], t->buffers[1].bytes);
    cr_expect_eq(near_in_parts(t, 1, got, tolerance, 1000), -1);
    for (int i = 0; i < NEAR_PLACES; i++) {
        float kept = got[near_places[i]];
        got[near_places[i]] = 0;
        cr_expect_eq(near_in_parts(t, 1, got, tolerance, 1000), near_places[i]);
        got[near_places[i]] = kept;
    }
    free(got);
    verify_task_free(t);
    arena_free(a);
    diag_free(d);
}

/* Loops over the bits of elements come to what the numbers say. */
Test(agent_near, numbers_are_counted_by_their_bits)
{
    static const enum scalar_type types[] = {SCALAR_FLOAT, SCALAR_DOUBLE, SCALAR_HALF, SCALAR_INT};
    struct diag *d = diag_new();
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const bool reals = types[i] != SCALAR_INT;
        const struct verify_buffer shape = {.type = types[i], .elements = NEAR_ELEMENTS};
        struct verify_task *t = task_make(&shape, 1, 3, d);
        struct verify_buffer *b = &t->buffers[0];
        unsigned char fill[VERIFY_FILL];
        verify_fill(types[i], 0, fill);
        void *x = b->data[0];
        cr_expect_eq(verify_not_finite(types[i], x, NEAR_ELEMENTS), 0);
        cr_expect_not(verify_has_fill(types[i], x, NEAR_ELEMENTS, fill));
        verify_put(types[i], x, NEAR_ELEMENTS - 1, -40);
        cr_expect_eq(verify_largest(b, 0), 40);
        verify_put(types[i], x, 0, reals ? (double)NAN : 1);
        cr_expect_eq(verify_largest(b, 0), 40, "NaN is passed over");
        verify_put(types[i], x, 8, reals ? -(double)INFINITY : 2);
        cr_expect_eq(verify_not_finite(types[i], x, NEAR_ELEMENTS), reals ? 2 : 0);
        cr_expect_eq(verify_largest(b, 0), reals ? (double)INFINITY : 40);
        memcpy((unsigned char *)x + (NEAR_ELEMENTS - 1) * scalar_type_bytes(types[i]), fill,
               scalar_type_bytes(types[i]));
        cr_expect(verify_has_fill(types[i], x, NEAR_ELEMENTS, fill));
        cr_expect_not(verify_has_fill(types[i], x, NEAR_ELEMENTS - 1, fill));
        verify_task_free(t);
    }
    diag_free(d);
}
