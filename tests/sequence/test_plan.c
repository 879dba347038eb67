/* Plans: which variants a program has, which programs they share, and what is left out. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/sequence/search.h"
#include "core/base/arena.h"
#include "core/base/diag.h"

static const struct bb_options usual = {0};

static const char atax[] = "size M, N\ninput A: [[float]N]M\ninput x: [float]N\n"
                           "let y = map(fun row -> dot(row, x), A)\n"
                           "output map(fun column -> dot(column, y), transpose(A))\n";
static const char blur[] = "size N\ninput x: [float]N\n"
                           "fun step(a) = map(fun w -> sum(w) / 3.0, slide(3, 1, pad(1, 1, wrap, a)))\n"
                           "output iterate(7, step, x)\n";
static const char shapes[] = "size M, N\ninput X: [[float]N]M\noutput mean = map(fun r -> sum(r) / N, X)\n"
                             "output twice = map(fun r -> map(fun x -> 2.0 * x, r), X)\n";

static const char shared[] =
    "size M, N\ninput X: [[float]N]M\ninput Y: [[float]N]M\n"
    "output map(fun x -> let s = map(fun y -> dot(x, y), Y) in let w = map(fun v -> exp(v), s) in "
    "map(fun c -> dot(w, c), transpose(Y)), X)\n";

static struct sequence_plan *plan(const char *text, const char *sizes, const char *cut)
{
    struct diag *d = diag_new();
    struct sequence_plan *p = sequence_plan_new("k.lift", text, sizes, cut, &usual, d);
    if (!p) diag_print(d, stderr);
    cr_assert(p);
    diag_free(d);
    return p;
}

/* The labels of the variants, joined by "; ". */
static void expect_variants(const char *text, const char *sizes, const char *cut, const char *labels)
{
    struct sequence_plan *p = plan(text, sizes, cut);
    const char *found = "";
    for (unsigned i = 0; i < p->n_variants; i++)
        found = arena_printf(p->arena, "%s%s%s", found, i ? "; " : "", p->variants[i].label);
    cr_expect_str_eq(found, labels);
    sequence_plan_free(p);
}

Test(sequence_plan, variants)
{
    expect_variants(atax, "M=16,N=16", "auto", "one kernel; cut at y");
    expect_variants(atax, "M=16,N=16", "none", "one kernel");
    expect_variants(atax, "M=16,N=16", "all", "cut at y");
    expect_variants(atax, "M=16,N=16", "y", "cut at y");
    expect_variants(shapes, "M=16,N=16", "auto", "outputs apart");
    expect_variants(shapes, "M=16,N=16", "none", "outputs apart");
    expect_variants(blur, "N=64", "t_3", "cut at t_3");
}

Test(sequence_plan, long_sequences_are_cut_everywhere_and_at_every_second_step)
{
    expect_variants(blur, "N=64", "auto", "one kernel; cut at 6 values; cut at t_2,t_4,t_6");
}

Test(sequence_plan, a_program_without_cuts_is_one_kernel)
{
    struct sequence_plan *p = plan("size N\ninput x: [float]N\noutput map(exp, x)\n", "N=16", "auto");
    cr_expect(sequence_plan_is_single(p));
    sequence_plan_free(p);
}

Test(sequence_plan, equal_parts_are_one_program)
{
    struct sequence_plan *p = plan(blur, "N=64", "all");
    cr_assert_eq(p->n_variants, 1);
    cr_expect_eq(p->n_programs, 1);
    cr_expect_eq(sequence_steps_of(&p->variants[0], 0), 7);
    sequence_plan_free(p);
}

Test(sequence_plan, hopeless_variants_are_left_out)
{
    struct sequence_plan *p = plan(atax, "M=4096,N=4096", "auto");
    cr_assert_eq(p->n_variants, 1);
    cr_expect_str_eq(p->variants[0].label, "cut at y");
    cr_assert_eq(p->n_notes, 1);
    cr_expect(strstr(p->notes[0], "one kernel is left out"), "%s", p->notes[0]);
    sequence_plan_free(p);
}

/* A scan that is read at other indices is a kernel of its own. */
Test(sequence_plan, scans_are_cut)
{
    static const char head[] = "size M, N\ninput X: [[float]N]M\n";
    static const char *const texts[][2] = {
        {"output map(fun r -> map(fun v -> v + 1.0, reverse(tail(scan(add, 0.0, r)))), X)", "cut at t"},
        {"output map(fun r -> let s = scan(add, 0.0, r) in map(fun i -> at(i + 1, s) - at(i, s), iota(N - "
         "1)), X)",
         "cut at s"},
        {"output map(fun r -> pad(2, 1, mirror, scan(add, sum(r), r)), X)", "cut at t"},
        {"output map(sum, slide(2, 1, map(fun r -> at(N / 2, scan(add, 0.0, r)), X)))", "cut at t"},
        {"output map(scan(add, 0.0), X)", "one kernel"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[300];
        snprintf(text, sizeof text, "%s%s\n", head, texts[i][0]);
        expect_variants(text, "M=4,N=8", "auto", texts[i][1]);
        struct sequence_plan *p = plan(text, "M=4,N=8", "auto");
        cr_expect_eq(p->n_notes, p->named ? 1 : 0, "%s", text);
        if (p->named) cr_expect(strstr(p->notes[0], "one kernel is left out: "), "%s", p->notes[0]);
        sequence_plan_free(p);
    }
}

/* Arrays of a map are cuts where they would be computed again and again, or if they are asked for. */
Test(sequence_plan, arrays_within_maps_are_cut)
{
    static const char once[] = "size M, N\ninput X: [[float]N]M\n"
                               "output map(fun x -> let w = map(exp, x) in sum(w), X)\n";
    expect_variants(shared, "M=16,N=16", "auto", "one kernel; cut at s,w");
    expect_variants(shared, "M=16,N=16", "none", "one kernel");
    expect_variants(shared, "M=16,N=16", "all", "cut at s,w");
    expect_variants(shared, "M=16,N=16", "w", "cut at w");
    expect_variants(once, "M=16,N=16", "auto", "one kernel");
    expect_variants(once, "M=16,N=16", "all", "cut at w");
    static const char own[] = "size M, N\ninput A: [[float]N]M\ninput x: [float]N\n"
                              "let y = map(fun row -> dot(row, x), A)\n"
                              "output map(fun c -> let w = map(exp, c) in dot(w, y), transpose(A))\n";
    expect_variants(own, "M=16,N=16", "auto", "one kernel; cut at y");
    expect_variants(own, "M=16,N=16", "y", "cut at y");
    expect_variants(own, "M=16,N=16", "w", "cut at w");
    expect_variants(shared, "M=16000,N=16", "auto", "one kernel; cut at s,w");
    expect_variants(shared, "M=17000,N=16", "auto", "one kernel"); /* an array of 1.2 GB */
    struct sequence_plan *p = plan(shared, "M=16,N=16", "auto");
    cr_expect_str_eq(p->programs[p->variants[0].programs[0]].text, shared);
    cr_expect_eq(p->variants[1].n_parts, 3);
    cr_expect_lt(p->variants[1].cost, p->variants[0].cost);
    sequence_plan_free(p);
    p = plan(once, "M=16,N=16", "auto");
    cr_expect(sequence_plan_is_single(p));
    sequence_plan_free(p);
}

/* The user's expected results are those of the whole, as one kernel or not; its parts have none. */
Test(sequence_plan, one_kernel_has_the_expected_results)
{
    struct sequence_plan *p = plan(shared, "M=16,N=16", "auto");
    const struct tune_options options = {
        .data = {
            .n_inputs = 1, .inputs = {{"X", "x.npy"}}, .n_references = 1, .references = {{NULL, "r.npy"}}}};
    const struct sequence_search s = {.plan = p, .options = &options};
    cr_assert_eq(p->n_variants, 2);
    for (unsigned v = 0; v < 2; v++)
        for (unsigned i = 0; i < p->variants[v].n_parts; i++) {
            struct tune_options o = sequence_program_options(&s, p->variants[v].programs[i]);
            cr_expect_eq(o.data.n_references, v == 0 ? 1 : 0);
            cr_expect_eq(o.data.n_inputs, v == 0 || i == 0 ? 1 : 0);
        }
    sequence_plan_free(p);
}

static void expect_error(const char *text, const char *cut, const char *message)
{
    struct diag *d = diag_new();
    cr_expect_not(sequence_plan_new("k.lift", text, "M=16,N=16", cut, &usual, d));
    cr_assert_gt(diag_count(d), 0);
    cr_expect(strstr(diag_message(d, 0), message), "%s", diag_message(d, 0));
    diag_free(d);
}

Test(sequence_plan, errors)
{
    expect_error(atax, "z", "no cut 'z'");
    expect_error("size M, N\ninput X: [[float]N]M\n"
                 "output map(fun r -> let s = sum(r) in map(fun x -> x / s, r), X)\n",
                 "s", "k.lift:3:25: error: the program cannot be cut at 's'");
    expect_error("size M, N\ninput X: [[float]N]M\noutput X +\n", "auto",
                 "k.lift:4:1: error: expected an expression");
}
