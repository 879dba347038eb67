/* Programs that are cut: which values they may be cut at, what the parts are, and that the parts, one after
 * the other, compute what the whole does. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/pcg32.h"
#include "core/base/strbuf.h"
#include "core/lift/cut.h"

enum { MOST_BUFFERS = 64, N = 4 };

struct whole {
    struct arena *arena;
    struct diag *diag;
    struct source source;
    struct lift_program *program, *given; /* given: of the source; program: perhaps with names */
    struct lift_cuts cuts;
    bool *chosen;
};

static void find_cuts(struct whole *w)
{
    w->cuts = lift_cut_find(w->program, w->arena);
    w->chosen = ARENA_ARRAY(w->arena, bool, w->cuts.n + 1);
}

/* Binds every size to N. */
static struct whole open_text(const char *text)
{
    struct whole w = {.arena = arena_new(), .diag = diag_new(), .source = {"test.lift", text, strlen(text)}};
    w.program = lift_parse(&w.source, w.arena, w.diag);
    if (!w.program) diag_print(w.diag, stderr);
    cr_assert(w.program, "%s", text);
    struct lift_size_value sizes[8];
    for (unsigned i = 0; i < w.program->n_sizes; i++)
        sizes[i] = (struct lift_size_value){w.program->sizes[i].name, N};
    bool bound = lift_bind(w.program, sizes, w.program->n_sizes, w.arena, w.diag);
    if (!bound) diag_print(w.diag, stderr);
    cr_assert(bound, "%s", text);
    w.given = w.program;
    find_cuts(&w);
    return w;
}

static void close_text(struct whole *w)
{
    diag_free(w->diag);
    arena_free(w->arena);
}

static const struct lift_sequence *cut_at(struct whole *w, const char *names)
{
    if (names) cr_assert(lift_cut_choose(w->program, &w->cuts, names, w->chosen, w->diag));
    const struct lift_sequence *s = lift_cut(w->program, &w->cuts, w->chosen, w->arena, w->diag);
    if (!s) diag_print(w->diag, stderr);
    cr_assert(s, "%s", w->source.text);
    return s;
}

/* "y z_2" */
static const char *names_of(const struct whole *w)
{
    const char *text = "";
    for (unsigned i = 0; i < w->cuts.n; i++)
        text = arena_printf(w->arena, "%s%s%s", text, i ? " " : "", w->cuts.items[i].name);
    return text;
}

static void expect_cuts(const char *text, const char *names)
{
    struct whole w = open_text(text);
    cr_expect_str_eq(names_of(&w), names, "%s", text);
    close_text(&w);
}

/* ---- composition ---- */

static const struct lift_type *buffer_type(const struct whole *w, const struct lift_sequence *s, unsigned i)
{
    return i < w->program->n_arrays ? w->program->arrays[i].type
                                    : s->temporaries[i - w->program->n_arrays].type;
}

static void run_step(const struct lift_sequence *s, const struct lift_step *step, double **buffers)
{
    const struct lift_program *p = s->parts[step->part].program;
    const double *in[LIFT_MAX_ARRAYS] = {0};
    double *out[LIFT_MAX_ARRAYS] = {0};
    for (unsigned i = 0; i < p->n_arrays; i++)
        if (p->arrays[i].input != LIFT_NONE) in[i] = buffers[step->buffers[i]];
    for (unsigned i = 0; i < p->n_arrays; i++) {
        if (p->arrays[i].output == LIFT_NONE) continue;
        size_t n = (size_t)lift_type_scalars(p->arrays[i].type);
        out[i] = base_calloc(n, sizeof(double));
        lift_interpret(p, in, i, out[i]);
    }
    for (unsigned i = 0; i < p->n_arrays; i++) {
        if (!out[i]) continue;
        memcpy(buffers[step->buffers[i]], out[i],
               (size_t)lift_type_scalars(p->arrays[i].type) * sizeof(double));
        free(out[i]);
    }
}

static double draw(const struct lift_range *r, enum scalar_type type, struct pcg32 *rng)
{
    if (r->given) return lift_range_draw(r, type, pcg32_unit(rng));
    return type == SCALAR_INT ? (double)pcg32_below(rng, 9) - 4 : 2 * pcg32_unit(rng) - 1;
}

/* The parts one after the other leave in each output what the whole program does. */
static void expect_same(const struct whole *w, const struct lift_sequence *s, uint64_t seed)
{
    const struct lift_program *p = w->program;
    double *buffers[MOST_BUFFERS];
    const double *in[LIFT_MAX_ARRAYS] = {0};
    struct pcg32 rng = pcg32_seed(seed, 1);
    cr_assert(p->n_arrays + s->n_temporaries <= MOST_BUFFERS);
    for (unsigned i = 0; i < p->n_arrays + s->n_temporaries; i++) {
        const struct lift_type *t = buffer_type(w, s, i);
        int64_t n = lift_type_scalars(t);
        enum scalar_type type = SCALAR_FLOAT;
        lift_type_bottom(t, &type);
        buffers[i] = ARENA_ARRAY(w->arena, double, n);
        bool input = i < p->n_arrays && p->arrays[i].input != LIFT_NONE;
        for (int64_t k = 0; input && k < n; k++)
            buffers[i][k] = draw(&p->inputs[p->arrays[i].input]->range, type, &rng);
        if (input) in[i] = arena_memdup(w->arena, buffers[i], (size_t)n * sizeof(double));
    }
    for (unsigned i = 0; i < s->n_steps; i++)
        run_step(s, &s->steps[i], buffers);
    for (unsigned i = 0; i < p->n_arrays; i++) {
        int64_t n = lift_type_scalars(p->arrays[i].type);
        if (p->arrays[i].output == LIFT_NONE) continue;
        double *out = ARENA_ARRAY(w->arena, double, n);
        lift_interpret(w->given, in, i, out);
        for (int64_t k = 0; k < n; k++)
            cr_assert(out[k] == buffers[i][k] || (isnan(out[k]) && isnan(buffers[i][k])),
                      "seed %" PRIu64 ": %s[%" PRId64 "] is %g, not %g, of\n%s", seed, p->arrays[i].name, k,
                      buffers[i][k], out[k], w->source.text);
    }
}

static void expect_all_cuts(const char *text)
{
    struct whole w = open_text(text);
    for (unsigned i = 0; i < w.cuts.n; i++)
        w.chosen[i] = true;
    expect_same(&w, cut_at(&w, NULL), 1);
    close_text(&w);
}

/* ---- where ---- */

static const char atax[] = "size M, N\ninput A: [[float]N]M\ninput x: [float]N\n"
                           "let y = map(fun row -> dot(row, x), A)\n"
                           "output map(fun column -> dot(column, y), transpose(A))\n";
static const char steps[] = "size N\ninput x: [float]N\n"
                            "fun step(a) = map(fun w -> sum(w) / 3.0, slide(3, 1, pad(1, 1, wrap, a)))\n"
                            "output iterate(5, step, x)\n";

Test(cut, a_let_at_the_top_is_a_cut)
{
    expect_cuts(atax, "y");
    expect_all_cuts(atax);
}

Test(cut, a_closed_let_within_a_function_is_a_cut)
{
    const char *text = "size N\ninput x: [float]N\ninput Q: [[float]N]N\n"
                       "output map(fun q -> let y = map(exp, x) in let z = map(fun v -> v * head(q), y) in "
                       "sum(map(fun (a, b) -> a * b, zip(y, z))), Q)\n";
    expect_cuts(text, "y");
    expect_all_cuts(text);
}

Test(cut, the_result_of_a_reduction_is_a_cut_and_a_number_is_none)
{
    const char *text = "size N\ninput x: [float]N\nlet s = sum(map(exp, x))\nlet two = 2.0 * head(x)\n"
                       "output map(fun v -> v / s + two, x)\n";
    expect_cuts(text, "s");
    expect_all_cuts(text);
}

Test(cut, inner_arrays_without_a_name_are_cuts)
{
    const char *text = "size N\ninput A: [[float]N]N\ninput B: [[float]N]N\ninput C: [[float]N]N\n"
                       "fun mm(a, b) = map(fun r -> map(fun c -> dot(r, c), transpose(b)), a)\n"
                       "output mm(mm(A, B), C)\n";
    expect_cuts(text, "t");
    expect_all_cuts(text);
}

Test(cut, what_costs_nothing_to_compute_again_is_none)
{
    expect_cuts("size N\ninput x: [float]N\noutput map(fun v -> v + 1.0, map(fun v -> v * 2.0, x))\n", "");
    expect_cuts(
        "size M, N\ninput X: [[float]N]M\noutput map(fun r -> let s = sum(r) in map(fun x -> x / s, r), X)\n",
        "");
    expect_cuts("size N\ninput x: [float]N\nlet y = map(exp, x)\noutput x\n", "");
}

Test(cut, a_taken_name_is_not_given_again)
{
    const char *text = "size N\ninput t: [[float]N]N\n"
                       "output map(fun v -> v + 1.0, map(sum, t))\n";
    expect_cuts(text, "t_2");
    expect_all_cuts(text);
}

Test(cut, tuples_and_ranges_pass)
{
    expect_all_cuts("size M, N\ninput X: [[float]N]M\n"
                    "let m = map(fun row -> reduce(fun (s, q) x -> (s + x, q + x * x), (0.0, 0.0), row), X)\n"
                    "output mean = map(fun (s, q) -> s / N, m)\n"
                    "output variance = map(fun (s, q) -> q / N - s / N * (s / N), m)\n");
    expect_all_cuts("size M, N\ninput X: [[float]N]M\ninput v: [float]N\n"
                    "let best = map(argmax, X)\n"
                    "output map(fun i -> at(i, v), best)\n");
}

/* ---- the parts ---- */

Test(cut, equal_steps_are_one_part)
{
    struct whole w = open_text(steps);
    const struct lift_sequence *s = cut_at(&w, "t,t_2,t_3,t_4");
    cr_expect_eq(s->n_steps, 5);
    cr_expect_eq(s->n_parts, 1);
    cr_expect_eq(s->n_temporaries, 4);
    expect_same(&w, s, 1);
    close_text(&w);
}

Test(cut, a_part_has_what_is_not_cut)
{
    struct whole w = open_text(steps);
    const struct lift_sequence *s = cut_at(&w, "t_2");
    cr_expect_eq(s->n_steps, 2);
    cr_expect_eq(s->n_parts, 2);
    expect_same(&w, s, 1);
    close_text(&w);
}

Test(cut, outputs_of_different_dimensions_are_apart)
{
    struct whole w = open_text("size M, N\ninput X: [[float]N]M\nlet Y = map(map(exp), X)\n"
                               "output mean = map(fun r -> sum(r) / N, Y)\n"
                               "output rows = map(fun r -> map(fun x -> x - sum(r), r), Y)\n"
                               "output most = map(fun r -> reduce(max, lowest, r), Y)\n");
    cr_expect_eq(lift_cut_forced(w.program), 2);
    const struct lift_sequence *s = cut_at(&w, NULL);
    cr_expect_eq(s->n_steps, 2);
    cr_expect_eq(s->parts[0].program->n_outputs, 2);
    expect_same(&w, s, 1);
    close_text(&w);
}

Test(cut, what_is_written_over_an_input_comes_last)
{
    struct whole w = open_text("size N\ninput C: [float]N\ninput A: [[float]N]N\n"
                               "output C = map(fun v -> v + 1.0, C)\n"
                               "output D = map(fun r -> map(fun (a, c) -> a * c, zip(r, C)), A)\n");
    const struct lift_sequence *s = cut_at(&w, NULL);
    cr_assert_eq(s->n_steps, 2);
    cr_expect_str_eq(s->parts[s->steps[0].part].name, "D");
    expect_same(&w, s, 1);
    close_text(&w);
}

Test(cut, two_updates_that_read_each_other_are_refused)
{
    struct whole w = open_text("size N\ninput C: [float]N\ninput A: [[float]N]N\n"
                               "output C = map(fun (v, r) -> v + sum(r), zip(C, A))\n"
                               "output A = map(fun (c, r) -> map(fun a -> a * c, r), zip(C, A))\n");
    cr_expect_null(lift_cut(w.program, &w.cuts, w.chosen, w.arena, w.diag));
    cr_expect_eq(diag_count(w.diag), 1);
    close_text(&w);
}

/* ---- names ---- */

static void expect_refused(const char *text, const char *names, const char *message)
{
    struct whole w = open_text(text);
    cr_expect_not(lift_cut_choose(w.program, &w.cuts, names, w.chosen, w.diag));
    cr_expect(strstr(diag_message(w.diag, 0), message), "%s", diag_message(w.diag, 0));
    close_text(&w);
}

Test(cut, names_that_are_no_cuts_are_refused)
{
    expect_refused(atax, "z", "has no cut 'z'; its cuts are y");
    expect_refused(atax, "y,row", "has no cut 'row'");
    expect_refused("size N\ninput x: [float]N\noutput map(exp, x)\n", "x", "has no cut 'x', nor any other");
    expect_refused("size M, N\ninput X: [[float]N]M\n"
                   "output map(fun r -> let s = sum(r) in map(fun x -> x / s, r), X)\n",
                   "s", "cannot be cut at 's'");
}

/* ---- random programs ---- */

/* A name of one of the values so far. */
static const char *pick(struct pcg32 *rng, unsigned n, char out[16])
{
    unsigned i = pcg32_below(rng, n + 2);
    snprintf(out, 16, i < 2 ? "X%u" : "v%u", i < 2 ? i : i - 2);
    return out;
}

static void add_value(struct pcg32 *rng, unsigned n, struct strbuf *out)
{
    static const char *const forms[] = {
        "mm(%s, %s)",
        "zipWith(%s, %s)",
        "map(fun r -> let m = sum(r) / N in map(fun x -> x - m, r), blur(%s))",
        "transpose(%s)",
        "map(fun r -> let s = sum(map(sum, %s)) in map(fun x -> x * s, r), %s)",
        "iterate(2, blur, %s)",
        "map(fun r -> map(fun (a, i) -> a + float(at(at(i, idx), r)), zip(r, indices(r))), %s)",
        "mm(blur(mm(%s, %s)), X1)",
        "map(fun r -> let a = map(fun q -> dot(q, r), %s) in let m = sum(a) in "
        "let b = map(fun x -> x - m, a) in map(fun c -> dot(b, c), transpose(%s)), %s)",
        "map(fun (r, q) -> let a = map(fun (x, y) -> x * y, zip(r, q)) in map(fun x -> x + sum(a), r), "
        "zip(%s, %s))",
    };
    char x[16], y[16], z[16];
    pick(rng, n, x);
    pick(rng, n, y);
    pick(rng, n, z);
    size_t form = pcg32_below(rng, sizeof forms / sizeof forms[0]);
    const char *text = forms[form], *names[] = {x, y, z};
    for (unsigned k = 0; *text; text++) {
        if (*text == '%')
            strbuf_add(out, names[k++]), text++;
        else
            strbuf_addn(out, text, 1);
    }
}

static char *random_program(struct pcg32 *rng)
{
    struct strbuf out = {0};
    unsigned n = 1 + pcg32_below(rng, 4), outputs = 1 + pcg32_below(rng, 3);
    char x[16];
    strbuf_add(&out,
               "size N\ninput X0: [[float]N]N\ninput idx: [int]N in 0..N-1\ninput X1: [[float]N]N\n"
               "fun mm(a, b) = map(fun r -> map(fun c -> dot(r, c), transpose(b)), a)\n"
               "fun zipWith(a, b) = map(fun (r, s) -> map(fun (x, y) -> x + 0.5 * y, zip(r, s)), zip(a, b))\n"
               "fun blur(a) = map(fun w -> map(sum, transpose(w)), slide(3, 1, pad(1, 1, clamp, a)))\n");
    for (unsigned i = 0; i < n; i++) {
        strbuf_printf(&out, "let v%u = ", i);
        add_value(rng, i, &out);
        strbuf_add(&out, "\n");
    }
    for (unsigned k = 0; k < outputs; k++)
        strbuf_printf(&out,
                      pcg32_below(rng, 3) ? "output o%u = map(map(fun x -> x + 1.0), %s)\n"
                                          : "output o%u = map(sum, %s)\n",
                      k, pick(rng, n, x));
    return strbuf_take(&out);
}

/* With names for the arrays of its maps. Returns whether there are any. */
static bool name_lets(struct whole *w)
{
    w->program->source = &w->source; /* where it is now */
    struct lift_program *named = lift_cut_name(w->program, LIFT_CUT_LETS, w->arena);
    if (named) w->program = named;
    find_cuts(w);
    return named != NULL;
}

Test(cut, random_programs_are_the_composition_of_their_parts)
{
    unsigned named = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct pcg32 rng = pcg32_seed(seed, 0);
        char *text = random_program(&rng);
        struct whole w = open_text(text);
        named += seed % 2 && name_lets(&w);
        for (unsigned try = 0; try < 3; try++) {
            for (unsigned i = 0; i < w.cuts.n; i++)
                w.chosen[i] = try == 0 || pcg32_below(&rng, 2);
            expect_same(&w, cut_at(&w, NULL), seed);
        }
        close_text(&w);
        free(text);
    }
    cr_expect_gt(named, 20);
}
