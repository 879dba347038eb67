/* The slow reference of propagation: it accepts deletions that a constraint asks for and ends the process at
 * those that it does not. Deletions are made by hand, without propagation. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/space/data.h"
#include "core/space/engine/events.h"
#include "core/space/engine/justify.h"
#include "spacedsl/model.h"

static const char justify_sums[] =
    "space sums choice x: int in 0..5 choice y: int in 0..5 choice z: int in 0..5\n"
    "choice w: int in 0..5\n"
    "require x + y <= z\n"
    "require x + y + w <= 9\n";

static const char justify_order[] =
    "space order set S choice kind(s: S): { A, B }\n"
    "choice order(a: S, b: S): { BEFORE, AFTER, MERGED } antisymmetric BEFORE ~ AFTER\n"
    "require forall a, b, c in S: order(a, b) is BEFORE && order(b, c) is BEFORE -> order(a, c) is BEFORE\n"
    "require forall a, b in S: order(a, b) is MERGED -> kind(a) == kind(b)\n";

static const char justify_latent[] = "space latent set S property extra(S): S list choice go: { NO, YES }\n"
                                     "choice size(s: S): int in 1..4\n"
                                     "require forall s in S: size(s) != 3\n"
                                     "require forall s, t in S: size(s) + size(t) <= 6\n"
                                     "trigger forall s in S: when go is YES activate extra(s)\n";

struct justify_case {
    struct arena *arena;
    struct diag *diag;
    struct space_data *data;
    struct space *space;
    struct space_state *st;
};

/* With objects s0, s1, ... of S; the last one is extra(s0). */
static struct justify_case justify_make(const char *text, uint32_t n)
{
    struct source src = {"inline", text, strlen(text)};
    struct justify_case c = {.arena = arena_new(), .diag = diag_new(), .data = space_data_new()};
    for (uint32_t i = 0; i < n; i++)
        space_data_object(c.data, "S", arena_printf(c.arena, "s%u", i));
    if (text == justify_latent) space_data_list(c.data, "extra", &(uint32_t){0}, 1, &(int64_t){n - 1}, 1);
    const struct space_def *def = spacedsl_compile(&src, c.arena, c.diag);
    diag_print(c.diag, stderr);
    cr_assert_not_null(def);
    c.space = space_instantiate(def, c.data, c.diag);
    cr_assert_not_null(c.space);
    c.st = space_root(c.space, NULL);
    cr_assert_not_null(c.st);
    return c;
}

static void justify_close(struct justify_case *c)
{
    space_state_free(c->st);
    space_free(c->space);
    space_data_free(c->data);
    diag_free(c->diag);
    arena_free(c->arena);
}

static uint32_t justify_slot(const struct justify_case *c, const char *choice, uint32_t a, uint32_t b)
{
    bool flipped;
    int group = space_group_find(c->space, choice);
    unsigned arity = c->space->def->choices[group].arity;
    return space_slot_find(c->space, (unsigned)group, (uint32_t[]){a, b}, arity, &flipped);
}

/* Keeps these values, and nothing else happens. */
static void justify_keep(struct justify_case *c, uint32_t slot, uint64_t values)
{
    cr_assert(state_restrict_word(c->st, slot, 0, values));
}

/* The first instance of a constraint over `n` slots. */
static uint32_t justify_instance_of(const struct justify_case *c, uint32_t constraint, uint32_t n)
{
    uint32_t i = 0;
    while (c->space->instances[i].constraint != constraint ||
           c->space->shapes[c->space->instances[i].shape].n_slots != n)
        cr_assert_lt(++i, c->space->n_instances);
    return i;
}

/* z is at most 2; x keeps what `left` says. */
static void justify_sum(uint64_t left, bool used_up)
{
    struct justify_case c = justify_make(justify_sums, 0);
    justify_keep(&c, justify_slot(&c, "z", 0, 0), 7);
    justify_keep(&c, justify_slot(&c, "y", 0, 0), 14);
    space_mark since = space_snapshot(c.st);
    justify_keep(&c, justify_slot(&c, "x", 0, 0), left);
    if (used_up) c.st->justified = JUSTIFY_MOST;
    justify_instance(c.st, justify_instance_of(&c, 0, 3), since, true);
    justify_close(&c);
}

Test(space_justify, what_a_formula_asks_for)
{
    justify_sum(3, false);
    justify_sum(63, false);
}

Test(space_justify, a_value_of_a_solution_of_the_formula, .signal = SIGABRT)
{
    justify_sum(1, false);
}

Test(space_justify, stops_after_its_share)
{
    justify_sum(1, true);
}

static void justify_failure(uint64_t z)
{
    struct justify_case c = justify_make(justify_sums, 0);
    justify_keep(&c, justify_slot(&c, "z", 0, 0), z);
    justify_keep(&c, justify_slot(&c, "y", 0, 0), 14);
    justify_instance(c.st, justify_instance_of(&c, 0, 3), space_snapshot(c.st), false);
    justify_close(&c);
}

Test(space_justify, a_failure_without_solutions)
{
    justify_failure(1);
}

Test(space_justify, a_failure_with_a_solution, .signal = SIGABRT)
{
    justify_failure(2);
}

enum { BEFORE = 1, AFTER = 2, MERGED = 4 };

static void justify_triangle(uint64_t left)
{
    struct justify_case c = justify_make(justify_order, 3);
    justify_keep(&c, justify_slot(&c, "order", 0, 1), BEFORE);
    justify_keep(&c, justify_slot(&c, "order", 1, 2), BEFORE);
    space_mark since = space_snapshot(c.st);
    justify_keep(&c, justify_slot(&c, "order", 0, 2), left);
    justify_square(c.st, 0, since, true);
    justify_close(&c);
}

Test(space_justify, what_a_triangle_asks_for)
{
    justify_triangle(BEFORE);
}

Test(space_justify, a_value_that_all_triangles_allow, .signal = SIGABRT)
{
    justify_triangle(AFTER);
}

/* Objects 0 and 1 are of different kinds; `choice` of (0, 1) keeps what `left` says. */
static void justify_relation(const char *choice, uint64_t left)
{
    struct justify_case c = justify_make(justify_order, 3);
    cr_assert_not_null(c.space->squares[0].relation);
    bool pair = !strcmp(choice, "order");
    justify_keep(&c, justify_slot(&c, "kind", 0, 0), 1);
    if (pair) justify_keep(&c, justify_slot(&c, "kind", 1, 0), 2);
    if (!pair) justify_keep(&c, justify_slot(&c, "order", 0, 1), MERGED);
    space_mark since = space_snapshot(c.st);
    justify_keep(&c, justify_slot(&c, choice, pair ? 0 : 1, 1), left);
    justify_square(c.st, 0, since, true);
    justify_close(&c);
}

Test(space_justify, what_a_relation_asks_for)
{
    justify_relation("order", BEFORE | AFTER);
    justify_relation("kind", 1);
}

Test(space_justify, a_value_of_a_pair_in_the_relation, .signal = SIGABRT)
{
    justify_relation("order", BEFORE);
}

Test(space_justify, a_value_of_an_object_in_the_relation, .signal = SIGABRT)
{
    justify_relation("kind", 2);
}

/* s2 may come alive; it dies, and before that its size loses the values that are not in `left`. */
static void justify_death(uint64_t left)
{
    struct justify_case c = justify_make(justify_latent, 3);
    justify_keep(&c, justify_slot(&c, "size", 0, 0), 8);
    uint32_t instance = justify_instance_of(&c, 1, 2);
    space_mark since = space_snapshot(c.st);
    justify_keep(&c, justify_slot(&c, "size", 2, 0), left);
    if (left) justify_keep(&c, c.space->n_slots, LIVENESS_DEAD);
    justify_instance(c.st, instance, since, true);
    justify_close(&c);
}

Test(space_justify, an_object_that_died_of_nothing, .signal = SIGABRT)
{
    justify_death(11);
}

Test(space_justify, an_object_that_died_of_a_choice)
{
    justify_death(0);
}

/* x keeps some values, and nobody is told. */
static void justify_silence(uint64_t x)
{
    struct justify_case c = justify_make(justify_sums, 0);
    justify_keep(&c, justify_slot(&c, "x", 0, 0), x);
    justify_fixpoint(c.st);
    justify_close(&c);
}

Test(space_justify, a_change_that_leaves_the_others_alone)
{
    justify_silence(0x1f);
}

Test(space_justify, a_change_that_nobody_was_told_of, .signal = SIGABRT)
{
    justify_silence(0x20);
}
