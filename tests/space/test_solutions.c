/* Spaces whose solutions are known by arithmetic: counted, and visited one by one. What they have in common
 * is that an instance decides which choices meet. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/space/count.h"
#include "core/space/data.h"
#include "spacedsl/model.h"

struct solutions_case {
    const char *text, *json; /* ' for " in the JSON */
    unsigned n;
};

struct solutions_space {
    struct arena *arena;
    struct diag *diag;
    struct space_data *data;
    struct space *space;
};

static void open_space(struct solutions_space *s, const char *text, const char *instance)
{
    char json[512];
    snprintf(json, sizeof json, "%s", instance);
    for (char *at = json; (at = strchr(at, '\''));)
        *at = '"';
    struct source src = {"t", text, strlen(text)};
    *s = (struct solutions_space){.arena = arena_new(), .diag = diag_new()};
    const struct space_def *def = spacedsl_compile(&src, s->arena, s->diag);
    s->data = def ? space_data_from_json("i.json", json, def, s->diag) : NULL;
    s->space = s->data ? space_instantiate(def, s->data, s->diag) : NULL;
}

static void close_space(struct solutions_space *s)
{
    space_free(s->space);
    space_data_free(s->data);
    arena_free(s->arena);
    diag_free(s->diag);
}

static unsigned visit_leaves(struct space_state *st)
{
    uint32_t slot = space_next_choice(st, NULL, 0);
    if (slot == UINT32_MAX) return 1;
    unsigned n = 0;
    for (uint32_t v = 0; v < space_universe(space_of(st), slot); v++) {
        if (!space_has_value(st, slot, v)) continue;
        space_mark mark = space_snapshot(st);
        if (space_apply(st, (struct space_action){slot, v}, NULL)) n += visit_leaves(st);
        space_rollback(st, mark);
    }
    return n;
}

static void check_solutions(const struct solutions_case *c)
{
    struct solutions_space s;
    open_space(&s, c->text, c->json);
    cr_assert_not_null(s.space, "%s\n%s", c->text, diag_count(s.diag) ? diag_message(s.diag, 0) : "");
    struct space_state *root = space_root(s.space, NULL);
    cr_assert_not_null(root, "%s\nis empty", c->text);
    struct space_count counted = space_count(root, 0);
    cr_expect(counted.complete && counted.solutions == (long double)c->n, "%s\n%.0Lf, not %u", c->text,
              counted.solutions, c->n);
    unsigned visited = visit_leaves(root);
    cr_expect_eq(visited, c->n, "%s\n%u leaves, not %u", c->text, visited, c->n);
    space_state_free(root);
    close_space(&s);
}

static void check_each(const struct solutions_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_solutions(&cases[i]);
}

/* Two choices of pairs, each with constraints over three objects, and one of single objects that goes with
 * both: 6 orders, each with 5 + 2 + 2 + 5 ways for kinds (all L, all M, those that end or begin) and
 * nearness. */
Test(space_solutions, of_two_relations_over_one_choice)
{
    check_solutions(&(struct solutions_case){
        "space s set S\n"
        "choice order(a: S, b: S): { BEFORE, AFTER } antisymmetric BEFORE ~ AFTER\n"
        "choice near(a: S, b: S): { YES, NO } symmetric\n"
        "choice kind(a: S): { L, M }\n"
        "require forall a, b, c in S: order(a, b) is BEFORE && order(b, c) is BEFORE -> order(a, c) is "
        "BEFORE\n"
        "require forall a, b, c in S: near(a, b) is YES && near(b, c) is YES -> near(a, c) is YES\n"
        "require forall a, b in S: order(a, b) is BEFORE && kind(a) is M -> kind(b) is M\n"
        "require forall a, b in S: near(a, b) is YES -> kind(a) == kind(b)\n",
        "{'sets': {'S': ['a', 'b', 'c']}}", 84});
}

/* Lists of more than 4,096 elements, in conditions and, where several say the same, as domains. */
Test(space_solutions, of_long_ranges)
{
    static const struct solutions_case cases[] = {
        {"space s choice x: int in { 10, 50000 } require x in 0..100000 step 10", "{}", 2},
        {"space s choice x: int in { 7, 10, 50000 } require !(x in 0..100000 step 10)", "{}", 1},
        {"space s choice x: int in { 1..2500, 2..5000 step 2 } require x >= 1", "{}", 3750},
        {"space s choice x: int in -9..9 require x in -8..8 step 3", "{}", 6},
        {"space s parameter n: int choice x: int in 0..9 require x in { 1, 2..8 step n, 9 }",
         "{'parameters': {'n': 0}}", 2},
    };
    check_each(cases, sizeof cases / sizeof cases[0]);
}

/* A rule and the solutions that it leaves. */
struct solutions_rule {
    const char *rule;
    unsigned n;
};

/* Each rule goes after the text, which may end with `require`. */
static void check_rules(const char *text, const char *json, const struct solutions_rule *rules, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char whole[1024];
        snprintf(whole, sizeof whole, "%s%s\n", text, rules[i].rule);
        check_solutions(&(struct solutions_case){whole, json, rules[i].n});
    }
}

/* Objects that a number of live objects names, or a condition on which are live. */
Test(space_solutions, of_objects_by_what_is_live)
{
    static const char text[] = "space s set A property helper(A): A set Lev = 0..3\n"
                               "choice use(a: A): { NO, YES }\n"
                               "choice cost(l: Lev): int in { 10, 20, 30 }\n"
                               "trigger forall a in A: when use(a) is YES activate helper(a)\n"
                               "require ";
    static const char json[] = "{'sets': {'A': ['m', 'h']}, 'properties': {'helper': [['m', 'h']]}}";
    static const struct solutions_rule rules[] = {
        {"cost(sum of 1 over a in A) == 10", 81},                   /* one live: 27; two: 2 * 27 */
        {"cost((exists a in A: use(a) is YES) ? 1 : 2) == 10", 81}, /* never, or one way or another */
        {"cost(sum of (cost(3) == 10 ? 1 : 0) over a in A) == 10", 81},
    };
    check_rules(text, json, rules, sizeof rules / sizeof rules[0]);
}

/* Which choices there are is the same whatever becomes live. */
Test(space_solutions, of_choices_where_something_latent_exists)
{
    check_solutions(&(struct solutions_case){
        "space s set A property p(A): bool property helper(A): A\n"
        "choice use(a: A): { NO, YES }\n"
        "choice c(a: A): { X, Y } where exists b in A: exists e in A: p(b) && p(e)\n"
        "trigger forall a in A: when use(a) is YES activate helper(a)\n"
        "require forall a in A: use(a) is YES || c(a) is X\n",
        "{'sets': {'A': ['m', 'h']}, 'properties': {'helper': [['m', 'h']], 'p': [['h', true]]}}", 7});
}

/* What a rule says of a choice that an object does not have is said while the object is live. */
Test(space_solutions, of_latent_objects_without_a_choice)
{
    static const char text[] =
        "space s set V set O property of(V): O property alt(V): O property ok(O): bool\n"
        "choice pick(v: V): { NO, YES }\n"
        "choice kind(o: O): { A, B } where ok(o)\n"
        "choice same(a: O, b: O): { A, B } symmetric\n"
        "trigger forall v in V: when pick(v) is YES activate of(v)\n"
        "require ";
    static const char json[] = "{'sets': {'V': ['v'], 'O': ['o', 'q']}, 'properties': {'of': [['v', 'o']], "
                               "'alt': [['v', 'q']], 'ok': [['o', false], ['q', true]]}}";
    /* pick(v) NO: kind(q); YES: kind(q) and same(o, q) */
    static const struct solutions_rule rules[] = {
        {"forall v in V: kind(of(v)) is A || kind(alt(v)) is A && false == true", 2},
        {"(sum of kind(of(v)) + kind(alt(v)) + 1 over v in V) == 1", 2},
        {"exists v in V: kind(of(v)) is not A && kind(alt(v)) is A", 2},
        {"forall v in V: same(of(v), of(v)) is A || kind(alt(v)) is A && false == true", 2},
        {"forall v in V: same(of(v), alt(v)) is A", 4},
    };
    check_rules(text, json, rules, sizeof rules / sizeof rules[0]);
}

/* Conditions are not taken for true or false where only numbers beyond 2^60 would make them so. */
Test(space_solutions, of_numbers_at_which_arithmetic_stops)
{
    static const struct solutions_case cases[] = {
        {"space s choice x: int in { 2147483648, 3 } require x * x == 1152921504606846976", "{}", 1},
        {"space s choice x: int in { 1152921504606846976, 5 } choice y: int in { 1, 2 } require x + y <= x",
         "{}", 2},
    };
    check_each(cases, sizeof cases / sizeof cases[0]);
}

/* Operands that differ by a condition alone are two choices. */
Test(space_solutions, of_choices_of_selected_objects)
{
    check_solutions(&(struct solutions_case){
        "space s set N choice fast: { YES, NO } choice kind(n: N): { P, Q }\n"
        "require forall a, b in N: kind(fast is YES ? a : b) != kind(fast is NO ? a : b)\n",
        "{'sets': {'N': ['u', 'v']}}", 4});
}

/* A number beyond its range set is no object: a recursion ends there. */
Test(space_solutions, of_recursion_to_the_end_of_a_range)
{
    static const struct solutions_case cases[] = {
        {"space s set Level = 1..3 choice cut(l: Level): int in { 0, 1 }\n"
         "define total(l: Level): int = 1 + cut(l) + total(l - 1)\n"
         "require total(1) <= 1\n",
         "{}", 4},
        {"space s set Pass = 0..1 choice radix(p: Pass): int in { 2, 5 }\n"
         "define other(p: Pass): bool = radix(p) != 5 || other(p + 1)\n"
         "require forall p in Pass: other(p)\n",
         "{}", 2},
        {"space s set Pass = 0..1 choice radix(p: Pass): int in { 2, 5 }\n"
         "define next(p: Pass): Pass = radix(p) == 5 ? p + 1 : next(p + 1)\n"
         "require !(next(0) in Pass) && next(0) == next(1)\n",
         "{}", 2},
    };
    check_each(cases, sizeof cases / sizeof cases[0]);
}

/* As a condition every number but 0 is the same. */
Test(space_solutions, of_conditions_given_as_numbers)
{
    check_solutions(&(struct solutions_case){
        "space s set A property p(A): bool choice c(a: A): { X, Y } where p(a)\n"
        "require forall a, b in A: p(a) <-> p(b) && c(a) == c(b)\n",
        "{'sets': {'A': ['x', 'y', 'z']}, 'properties': {'p': [['x', 2], ['y', -1], ['z', true]]}}", 2});
}

/* Sets, lists and what triggers activate count the objects that may be live, whichever are. */
Test(space_solutions, of_sets_by_how_many_objects_there_are)
{
    static const char text[] =
        "space s set A property helper(A): A set Lev = 0..3 set Of(l: Lev) : A\n"
        "property some(Lev): A list property one(Lev): A choice use(a: A): { NO, YES }\n"
        "trigger forall a in A: when use(a) is YES activate helper(a)\n"
        "require forall a in A: use(a) is NO || (exists l in Lev: a in Of(l)) || one(0) == a\n";
    static const char json[] = "{'sets': {'A': ['m', 'h']}, 'members': {'Of': {'2': ['m']}}, 'properties': "
                               "{'helper': [['m', 'h']], 'some': [[2, ['m']]], 'one': [[0, 'h'], [2, 'h']]}}";
    static const struct solutions_rule rules[] = {
        {"require exists t in Of(sum of 1 over a in A): use(t) is NO", 1},
        {"require forall t in Of(sum of 1 over a in A): use(t) is YES", 2},
        {"require exists t in some(sum of 1 over a in A): use(t) is NO", 1},
        {"trigger when true activate one(sum of 1 over a in A)", 4},
    };
    check_rules(text, json, rules, sizeof rules / sizeof rules[0]);
}

/* Steps of a recursion count wherever they are taken: f(0), which is f(0) itself, is no object after three.
 */
Test(space_solutions, of_recursion_through_a_set)
{
    check_solutions(&(struct solutions_case){
        "space s set Lev = 0..2 set A set Of(l: Lev) : A parameter by: int choice use(a: A): { NO, YES }\n"
        "define f(i: Lev): int = (exists t in Of(f(i + by)): true) ? 0 : 1\n"
        "require forall a in A: use(a) is YES || f(0) == 1\n",
        "{'sets': {'A': ['x']}, 'members': {'Of': {'1': ['x']}}, 'parameters': {'by': 0}}", 2});
}

/* An object that is given twice is one. */
Test(space_solutions, of_members_given_twice)
{
    check_solutions(&(struct solutions_case){
        "space s set L set T set S(l: L) : T choice size(t: T): int in { 1, 2, 4, 8 }\n"
        "require forall l in L: (product of size(t) over t in S(l)) == 8\n",
        "{'sets': {'L': ['l'], 'T': ['t']}, 'members': {'S': {'l': ['t', 't']}}}", 1});
}

/* So many clauses over two choices become one table. */
Test(space_solutions, of_many_clauses_over_two_choices)
{
    check_solutions(
        &(struct solutions_case){"space s set A = 0..299 choice x: int in 1..10 choice y: int in 1..10\n"
                                 "require forall i, j in A: x * i + y * j <= 4000\n",
                                 "{}", 72}); /* 298 (x + y) + max(x, y) <= 4000: x + y <= 13 */
}

/* ---- names ---- */

/* A pair of numbers is named either way round, whatever the numbers are. */
Test(space_solutions, with_pairs_of_numbers_pinned)
{
    struct solutions_space s;
    open_space(&s, "space s set P = 0..19 choice o(a: P, b: P): { L, R } antisymmetric L ~ R", "{}");
    cr_assert_not_null(s.space, "%s", diag_count(s.diag) ? diag_message(s.diag, 0) : "");
    struct space_state *st = space_pinned_root(s.space, (const char *const[]){"o(17, 3)=L"}, 1, s.diag);
    cr_assert_not_null(st, "%s", diag_count(s.diag) ? diag_message(s.diag, 0) : "");
    bool flipped;
    uint32_t slot = space_slot_named(s.space, "o(17,3)", &flipped);
    cr_assert_eq(slot, space_slot_named(s.space, "o(3,17)", &(bool){false}));
    cr_expect(flipped && space_value_count(st, slot) == 1);
    cr_expect_eq(space_first_value(st, slot), 1);
    space_state_free(st);
    close_space(&s);
}

/* ---- definitions that do not end ---- */

static void refused(const char *text, const char *message)
{
    struct solutions_space s;
    open_space(&s, text, "{'sets': {'A': ['x']}}");
    cr_expect_null(s.space, "%s", text);
    cr_assert_geq(diag_count(s.diag), 1, "%s", text);
    cr_expect(strstr(diag_message(s.diag, 0), message), "%s\n%s", text, diag_message(s.diag, 0));
    close_space(&s);
}

Test(space_solutions, recursion_through_another_definition)
{
    static const char message[] = "the recursion of 'f' is cyclic in this instance";
    refused("space s set A property p(A): A choice c(a: A): { X, Y }\n"
            "define g(a: A): int = f(a)\n"
            "define f(a: A): int = f(p(a)) + g(a)\n"
            "require forall a in A: f(a) + (c(a) is X ? 1 : 0) <= 3\n",
            message);
    refused("space s set A property p(A): A\n"
            "define g(a: A): int = f(a)\n"
            "define f(a: A): int = f(p(a)) + g(a)\n"
            "choice c(a: A): int in 0..f(a)\n",
            message);
}

/* A chain of n objects, each with the next one as its parent. */
static struct space_data *chain_of(uint32_t n)
{
    struct space_data *data = space_data_new();
    char name[32];
    for (uint32_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "n%u", i);
        space_data_object(data, "N", name);
    }
    for (uint32_t i = 0; i < n; i++)
        space_data_int(data, "parent", &i, 1, i + 1 < n ? (int64_t)i + 1 : -1);
    return data;
}

Test(space_solutions, recursion_along_a_chain)
{
    static const char text[] = "space s set N property parent(N): N choice c: int in 0..4000\n"
                               "define depth(n: N): int = depth(parent(n)) + 1\n"
                               "require exists n in N: depth(n) == c\n";
    static const struct source src = {"t", text, sizeof text - 1};
    static const uint32_t lengths[] = {1000, 9000, 100000};
    for (int i = 0; i < 3; i++) {
        struct arena *a = arena_new();
        struct diag *d = diag_new();
        struct space_data *data = chain_of(lengths[i]);
        struct space *s = space_instantiate(spacedsl_compile(&src, a, d), data, d);
        cr_expect_eq(s != NULL, i == 0, "%u objects", lengths[i]);
        if (!s) cr_expect(strstr(diag_message(d, 0), "'depth' visits too many objects"));
        space_free(s);
        space_data_free(data);
        arena_free(a);
        diag_free(d);
    }
}

/* Numbers 0 to 79, each worth up to four, on paths that go back by one or two: as many paths as the numbers
 * of Fibonacci say. Five on the longest path have all that it may have; none of the others on one gets any.
 */
static void check_longest_path(const char *worth)
{
    enum { N = 80, LEFT = 5 };
    char text[512];
    snprintf(text, sizeof text,
             "space path set R = 0..79 choice on(i: R): { NO, YES } choice size(i: R): int in 0..4\n"
             "define far(i: R): int = %s + max(far(i - 1), far(i - 2))\n"
             "require forall i in R: on(i) is YES\n"
             "require far(79) <= 20\n",
             worth);
    struct solutions_space s;
    open_space(&s, text, "{}");
    cr_assert(s.space, "%s", worth);
    struct space_state *st = space_root(s.space, NULL);
    cr_assert(st);
    bool flipped;
    uint32_t first = space_slot_named(s.space, "size(0)", &flipped);
    for (uint32_t i = 0; i < LEFT; i++)
        cr_assert(space_apply(st, (struct space_action){first + N - 1 - i, 4}, NULL));
    for (uint32_t i = 0; i + LEFT < N; i++)
        cr_expect_eq(space_value_count(st, first + i), 1, "%s: size(%u)", worth, i);
    space_state_free(st);
    close_space(&s);
}

Test(space_solutions, along_many_paths, .timeout = 60)
{
    check_longest_path("size(i)");
    check_longest_path("(on(i) is YES ? size(i) : 0)");
}
