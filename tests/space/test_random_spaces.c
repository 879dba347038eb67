/* The engine against brute force on random spaces (random_space.h): solutions, soundness of every removal,
 * completeness at the leaves, order of actions, that nothing which removes values is left out, rollback,
 * pins, instances as JSON. THRESH_LONG runs 10,000 spaces; each failure names its seed, and THRESH_SEED=N
 * runs that space alone and prints it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/space/count.h"
#include "core/space/space.h"
#include "spacedsl/model.h"
#include "tests/fixture/instance.h"
#include "tests/space/fixpoint.h"
#include "tests/space/random_space.h"
#include "tests/fixture/longer.h"

enum { FEW = 400, MANY = 10000, ACTIONS = 40, ROUNDS = 6 };

struct trial {
    unsigned seed;
    struct rs_space model;
    bool dropped[RS_RULES]; /* rules that the compiler refused: it proved that they never hold */
    bool proved[RS_RULES];  /* always true: it warned */
    struct strbuf text;
    struct source source;
    struct arena *arena;
    struct space_data *data;
    const struct space_def *def;
    struct space *space;
    uint32_t engine[RS_SLOTS]; /* the engine's number of a slot of the model */
    unsigned n_solutions;
    unsigned char (*solutions)[RS_SLOTS]; /* values by slot of the model */
    bool (*alive)[RS_SLOTS];
    struct space_state *root; /* NULL: no solution */
};

/* ---- compiling ---- */

/* The rule that a message is about, which must say that it is `proved`. */
static unsigned rule_of(const struct trial *t, const char *message, const char *proved)
{
    unsigned line = 0, rule = 0;
    cr_assert_eq(sscanf(message, "t:%u:", &line), 1, "seed %u: %s\n%s", t->seed, message, t->text.text);
    while (rule < t->model.n_rules && t->model.rules[rule].line != line)
        rule++;
    cr_assert(strstr(message, proved) && rule < t->model.n_rules, "seed %u: %s\n%s", t->seed, message,
              t->text.text);
    return rule;
}

/* Drops the rules that errors are about. Anything else that the compiler says is a fault. */
static void drop_rules(struct trial *t, const struct diag *d)
{
    for (size_t i = 0; i < diag_count(d) && i < DIAG_MAX; i++)
        t->dropped[rule_of(t, diag_message(d, i), "is never true")] = true;
}

/* Each warning is a line with its place, above the line that it is about. */
static void note_proved(struct trial *t, struct diag *d)
{
    char *text = NULL, *rest = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    diag_print_warnings(d, out);
    fclose(out);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (line[0] != ' ') t->proved[rule_of(t, line, "is always true")] = true;
    free(text);
}

static void compile(struct trial *t)
{
    for (int tries = 0; !t->def && tries <= RS_RULES; tries++) {
        struct diag *d = diag_new();
        strbuf_free(&t->text);
        rs_text(&t->model, t->dropped, &t->text);
        t->source = (struct source){"t", t->text.text, t->text.length};
        t->def = spacedsl_compile(&t->source, t->arena, d);
        if (!t->def) drop_rules(t, d);
        note_proved(t, d);
        diag_free(d);
    }
    cr_assert(t->def, "seed %u\n%s", t->seed, t->text.text);
}

static struct space *instantiate(const struct trial *t, const struct space_data *data)
{
    struct diag *d = diag_new();
    struct space *space = space_instantiate(t->def, data, d);
    cr_assert(space, "seed %u: %s\n%s", t->seed, diag_count(d) ? diag_message(d, 0) : "", t->text.text);
    diag_free(d);
    return space;
}

/* The engine must have exactly the model's slots, with their values. */
static void match_slots(struct trial *t)
{
    cr_assert_eq(space_slot_count(t->space), t->model.n_slots, "seed %u\n%s", t->seed, t->text.text);
    for (unsigned i = 0; i < t->model.n_slots; i++) {
        const struct rs_slot *slot = &t->model.slots[i];
        const struct rs_choice *c = &t->model.choices[slot->choice];
        bool flipped = false;
        uint32_t e = space_slot_find(t->space, slot->choice, slot->objects, c->arity, &flipped);
        cr_assert(e != UINT32_MAX && !flipped && space_universe(t->space, e) == slot->n_values, "seed %u",
                  t->seed);
        for (uint32_t v = 0; v < slot->n_values; v++)
            cr_assert_eq(space_value_code(t->space, e, v), slot->codes[v], "seed %u", t->seed);
        t->engine[i] = e;
    }
}

/* ---- solutions ---- */

static void keep_solution(struct trial *t)
{
    for (unsigned i = 0; i < t->model.n_slots; i++) {
        t->solutions[t->n_solutions][i] = (unsigned char)t->model.values[i];
        t->alive[t->n_solutions][i] = rs_slot_live(&t->model, i);
    }
    t->n_solutions++;
}

static void enumerate(struct trial *t)
{
    t->solutions = base_calloc(RS_ASSIGNMENTS + 1, sizeof *t->solutions);
    t->alive = base_calloc(RS_ASSIGNMENTS + 1, sizeof *t->alive);
    memset(t->model.values, 0, sizeof t->model.values);
    do {
        if (rs_solution(&t->model, t->dropped)) keep_solution(t);
        for (unsigned i = 0; i < t->model.n_rules; i++)
            cr_assert(!t->proved[i] || rs_holds(&t->model, &t->model.rules[i]),
                      "seed %u: rule %u is not always true", t->seed, i);
    } while (rs_next(&t->model));
}

/* Whether the state still allows the solution. */
static bool allows(const struct trial *t, const struct space_state *st, unsigned solution)
{
    for (unsigned i = 0; i < t->model.n_slots; i++)
        if (t->alive[solution][i] && !space_has_value(st, t->engine[i], t->solutions[solution][i]))
            return false;
    return true;
}

/* The solution that a leaf is, or n_solutions. */
static unsigned solution_of(const struct trial *t, const struct space_state *leaf)
{
    for (unsigned k = 0; k < t->n_solutions; k++) {
        bool same = true;
        for (unsigned i = 0; same && i < t->model.n_slots; i++)
            same = space_is_live(leaf, t->engine[i]) == t->alive[k][i];
        if (same && allows(t, leaf, k)) return k;
    }
    return t->n_solutions;
}

/* ---- the search ---- */

struct snapshot {
    uint8_t *bytes;
    size_t n;
};

static struct snapshot snapshot(const struct space_state *st)
{
    struct snapshot s = {.n = space_vector_bytes(space_of(st))};
    s.bytes = base_malloc(s.n + 1);
    space_canonical(st, s.bytes);
    return s;
}

/* Compares with the state and releases. */
static bool unchanged(struct snapshot s, const struct space_state *st)
{
    struct snapshot now = snapshot(st);
    bool same = memcmp(s.bytes, now.bytes, s.n) == 0;
    free(s.bytes);
    free(now.bytes);
    return same;
}

/* Walks the whole tree below the state. Each leaf must be a solution, and none comes twice. Returns their
 * number. */
static unsigned count_leaves(const struct trial *t, struct space_state *st, bool *met)
{
    uint32_t slot = space_next_choice(st, NULL, 0), values[RS_VALUES];
    if (slot == UINT32_MAX) {
        unsigned k = solution_of(t, st);
        cr_assert(k < t->n_solutions && !met[k], "seed %u: a leaf is %s\n%s", t->seed,
                  k < t->n_solutions ? "met twice" : "no solution", t->text.text);
        met[k] = true;
        return 1;
    }
    unsigned total = 0;
    struct snapshot before = snapshot(st);
    uint32_t n = space_values(st, slot, values);
    for (uint32_t i = 0; i < n; i++) {
        space_mark m = space_snapshot(st);
        if (space_apply(st, (struct space_action){slot, values[i]}, NULL)) total += count_leaves(t, st, met);
        space_rollback(st, m);
    }
    cr_assert(unchanged(before, st), "seed %u: rollback is not exact\n%s", t->seed, t->text.text);
    return total;
}

static void check_search(struct trial *t)
{
    bool *met = base_calloc(RS_ASSIGNMENTS + 1, sizeof *met);
    cr_assert(t->root || t->n_solutions == 0, "seed %u: the root fails, but there are %u solutions\n%s",
              t->seed, t->n_solutions, t->text.text);
    unsigned leaves = t->root ? count_leaves(t, t->root, met) : 0;
    cr_assert_eq(leaves, t->n_solutions, "seed %u: %u leaves, %u solutions\n%s", t->seed, leaves,
                 t->n_solutions, t->text.text);
    struct space_count counted = {.complete = true};
    if (t->root) counted = space_count(t->root, 0);
    cr_assert(counted.complete && counted.solutions == (long double)t->n_solutions,
              "seed %u: counted %.0Lf, %u solutions\n%s", t->seed, counted.solutions, t->n_solutions,
              t->text.text);
    free(met);
}

/* ---- random actions ---- */

/* A restriction of one slot to some of its values. */
struct restriction {
    unsigned slot; /* of the model */
    uint64_t allowed[(RS_VALUES + 63) / 64];
};

static bool restricted(const struct restriction *r, unsigned value)
{
    return r->allowed[value / 64] >> value % 64 & 1;
}

static struct restriction draw_restriction(struct trial *t, const struct space_state *st, unsigned slot)
{
    struct restriction r = {.slot = slot};
    uint32_t values[RS_VALUES], n = space_values(st, t->engine[slot], values);
    uint32_t keep = pcg32_below(&t->model.rng, 2) ? 1 : 1 + pcg32_below(&t->model.rng, n);
    for (; keep > 0; keep--) {
        uint32_t v = values[pcg32_below(&t->model.rng, n)];
        r.allowed[v / 64] |= UINT64_C(1) << v % 64;
    }
    return r;
}

static bool apply(const struct trial *t, struct space_state *st, const struct restriction *r)
{
    struct space_failure why;
    enum { WORDS = sizeof r->allowed / sizeof r->allowed[0] };
    if (space_restrict(st, t->engine[r->slot], r->allowed, WORDS, &why)) return true;
    cr_assert(why.text != NULL, "seed %u: a failure without a reason", t->seed);
    return false;
}

/* Whether the solution obeys all restrictions. */
static bool obeys(const struct trial *t, unsigned solution, const struct restriction *list, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (!t->alive[solution][list[i].slot] || !restricted(&list[i], t->solutions[solution][list[i].slot]))
            return false;
    return true;
}

/* Nothing that a solution below uses may be gone; after a failure there is no solution below. */
static void check_sound(const struct trial *t, const struct space_state *st, const struct restriction *list,
                        unsigned n, bool failed)
{
    for (unsigned k = 0; k < t->n_solutions; k++)
        if (obeys(t, k, list, n))
            cr_assert(!failed && allows(t, st, k), "seed %u: %s a solution\n%s", t->seed,
                      failed ? "a failure in spite of" : "a removed value of", t->text.text);
}

/* Random restrictions of live open slots, those that fail undone. Returns how many hold. */
static unsigned descend(struct trial *t, struct space_state *st, struct restriction *taken)
{
    unsigned n = 0;
    for (int tries = 0; tries < ACTIONS && n < ACTIONS / 2; tries++) {
        unsigned slot = pcg32_below(&t->model.rng, t->model.n_slots);
        if (!space_is_open(st, t->engine[slot])) continue;
        taken[n] = draw_restriction(t, st, slot);
        space_mark m = space_snapshot(st);
        struct snapshot before = snapshot(st);
        bool ok = apply(t, st, &taken[n]);
        check_sound(t, st, taken, n + 1, !ok);
        cr_assert(!ok || fixpoint_holds(st), "seed %u: something was left out\n%s", t->seed, t->text.text);
        if (ok)
            n++;
        else
            space_rollback(st, m);
        if (ok)
            free(before.bytes);
        else
            cr_assert(unchanged(before, st), "seed %u: a failure leaves traces\n%s", t->seed, t->text.text);
    }
    return n;
}

/* The same restrictions in another order, as their objects come to life. */
static void repeat(struct trial *t, struct space_state *st, const struct restriction *taken, unsigned n)
{
    bool done[ACTIONS] = {false};
    for (unsigned left = n; left > 0; left--) {
        unsigned i = pcg32_below(&t->model.rng, n), looked = 0;
        while (done[i] || !space_is_live(st, t->engine[taken[i].slot])) {
            i = (i + 1) % n;
            cr_assert(looked++ < n, "seed %u: an object comes to life in one order only\n%s", t->seed,
                      t->text.text);
        }
        cr_assert(apply(t, st, &taken[i]), "seed %u: actions do not commute\n%s", t->seed, t->text.text);
        done[i] = true;
    }
}

static void check_actions(struct trial *t)
{
    struct restriction taken[ACTIONS];
    struct space_state *one = space_state_clone(t->root), *two = space_state_clone(t->root);
    for (int round = 0; round < ROUNDS; round++) {
        space_mark m = space_snapshot(one);
        struct snapshot before = snapshot(one);
        unsigned n = descend(t, one, taken);
        space_state_assign(two, t->root);
        repeat(t, two, taken, n);
        cr_assert(unchanged(snapshot(one), two), "seed %u: the order of actions shows\n%s", t->seed,
                  t->text.text);
        cr_assert_eq(space_state_hash(one), space_state_hash(two));
        space_rollback(one, m);
        cr_assert(unchanged(before, one), "seed %u: rollback is not exact\n%s", t->seed, t->text.text);
    }
    space_state_free(one);
    space_state_free(two);
}

/* ---- several actions at once ---- */

/* Random actions down to a leaf, which is in `st` then; those that fail are undone. Returns how many. */
static unsigned descend_to_leaf(struct trial *t, struct space_state *st, struct space_action *taken)
{
    uint32_t values[RS_VALUES], slot;
    unsigned n = 0;
    while ((slot = space_next_choice(st, NULL, 0)) != UINT32_MAX) {
        uint32_t count = space_values(st, slot, values);
        space_mark m = space_snapshot(st);
        taken[n] = (struct space_action){slot, values[pcg32_below(&t->model.rng, count)]};
        if (space_apply(st, taken[n], NULL)) {
            n++;
            continue;
        }
        space_rollback(st, m);
        uint64_t others[(RS_VALUES + 63) / 64];
        memset(others, 0xff, sizeof others);
        others[taken[n].value / 64] &= ~(UINT64_C(1) << taken[n].value % 64);
        if (!space_restrict(st, slot, others, sizeof others / sizeof *others, NULL)) break;
    }
    return slot == UINT32_MAX ? n : 0;
}

static void shuffle(struct trial *t, struct space_action *list, unsigned n)
{
    for (unsigned i = n; i > 1; i--) {
        unsigned k = pcg32_below(&t->model.rng, i);
        struct space_action kept = list[k];
        list[k] = list[i - 1];
        list[i - 1] = kept;
    }
}

/* The actions with one that does not go with them fail, and leave nothing behind. */
static void check_refused(const struct trial *t, struct space_state *st, struct space_action *list,
                          unsigned n, struct space_action wrong)
{
    struct space_failure why = {0};
    struct snapshot before = snapshot(st);
    space_mark m = space_snapshot(st);
    list[n] = wrong;
    cr_assert(!space_apply_all(st, list, n + 1, &why) && why.text, "seed %u: slot %u = %u is accepted\n%s",
              t->seed, wrong.slot, wrong.value, t->text.text);
    space_rollback(st, m);
    cr_assert(unchanged(before, st), "seed %u: a failure leaves traces\n%s", t->seed, t->text.text);
}

static void check_wrong_actions(const struct trial *t, const struct space_state *leaf,
                                struct space_state *root, struct space_action *list, unsigned n)
{
    check_refused(t, root, list, n, (struct space_action){t->model.n_slots, 0});
    for (uint32_t slot = 0; slot < t->model.n_slots; slot++) {
        uint32_t universe = space_universe(t->space, slot);
        check_refused(t, root, list, n, (struct space_action){slot, universe});
        for (uint32_t v = 0; v < universe && v < 3; v++)
            if (!space_is_live(leaf, slot) || !space_has_value(leaf, slot, v))
                check_refused(t, root, list, n, (struct space_action){slot, v});
    }
}

/* Applies each action as its choice is live. */
static void apply_one_by_one(const struct trial *t, struct space_state *st, const struct space_action *list,
                             unsigned n)
{
    bool done[RS_SLOTS] = {false};
    for (unsigned left = n, i = 0, looked = 0; left > 0; i = (i + 1) % n) {
        cr_assert(looked++ < n * n, "seed %u: an action's choice does not come to life", t->seed);
        if (done[i] || !space_is_live(st, list[i].slot)) continue;
        cr_assert(space_apply(st, list[i], NULL), "seed %u: actions do not commute", t->seed);
        done[i] = true;
        left--;
    }
}

/* The actions of a descent at once and in any order, so that many are of choices which only others make live:
 * the same state as one by one, with a single propagation. */
static void check_all_at_once(struct trial *t)
{
    struct space_action taken[RS_SLOTS + 1];
    struct space_state *one = space_state_clone(t->root), *all = space_state_clone(t->root);
    unsigned n = descend_to_leaf(t, one, taken);
    for (int round = 0; n > 0 && round < 3; round++) {
        shuffle(t, taken, n);
        space_state_assign(one, t->root);
        space_state_assign(all, t->root);
        apply_one_by_one(t, one, taken, n);
        uint64_t before = space_propagation_count(t->space);
        cr_assert(space_apply_all(all, taken, n, NULL), "seed %u: actions fail together\n%s", t->seed,
                  t->text.text);
        cr_assert_eq(space_propagation_count(t->space), before + 1);
        cr_assert(unchanged(snapshot(one), all), "seed %u: at once and one by one differ\n%s", t->seed,
                  t->text.text);
        cr_assert(fixpoint_holds(all), "seed %u: something was left out\n%s", t->seed, t->text.text);
    }
    space_state_assign(all, t->root);
    if (n > 0) check_wrong_actions(t, one, all, taken, n);
    space_state_free(one);
    space_state_free(all);
}

/* ---- pins ---- */

struct pinning {
    struct space_state *state;
    bool failed;
};

static void apply_pin(void *ctx, uint32_t slot, const uint64_t *allowed, unsigned words)
{
    struct pinning *p = ctx;
    if (!p->failed && !space_restrict(p->state, slot, allowed, words, NULL)) p->failed = true;
}

/* Some values of a slot that may not be live. */
static struct restriction draw_pin(struct trial *t, unsigned slot)
{
    struct restriction r = {.slot = slot};
    unsigned n = t->model.slots[slot].n_values, keep = 1 + pcg32_below(&t->model.rng, n);
    for (; keep > 0; keep--) {
        unsigned v = pcg32_below(&t->model.rng, n);
        r.allowed[v / 64] |= UINT64_C(1) << v % 64;
    }
    return r;
}

/* "c0(a1)=V0|V2" */
static void print_pin(const struct trial *t, const struct restriction *r, struct strbuf *out)
{
    char name[64];
    const char *separator = "=";
    space_slot_name(t->space, t->engine[r->slot], name, sizeof name);
    strbuf_add(out, name);
    for (uint32_t v = 0; v < t->model.slots[r->slot].n_values; v++) {
        if (!restricted(r, v)) continue;
        space_value_name(t->space, t->engine[r->slot], v, name, sizeof name);
        strbuf_printf(out, "%s%s", separator, name);
        separator = "|";
    }
}

/* A pin leaves exactly the solutions that obey it: in which its choice is not live, or has an allowed value.
 */
static void check_pin(struct trial *t)
{
    unsigned slot = pcg32_below(&t->model.rng, t->model.n_slots), expected = 0;
    struct restriction r = draw_pin(t, slot);
    struct pinning p = {.state = space_state_clone(t->root)};
    struct strbuf pin = {0};
    struct diag *d = diag_new();
    bool *met = base_calloc(RS_ASSIGNMENTS + 1, sizeof *met);
    print_pin(t, &r, &pin);
    cr_assert(space_parse_pin(t->space, pin.text, d, apply_pin, &p), "seed %u: %s", t->seed, pin.text);
    for (unsigned k = 0; k < t->n_solutions; k++)
        expected += !t->alive[k][slot] || obeys(t, k, &r, 1);
    unsigned got = p.failed ? 0 : count_leaves(t, p.state, met);
    cr_assert_eq(got, expected, "seed %u: %s leaves %u of %u\n%s", t->seed, pin.text, got, expected,
                 t->text.text);
    free(met);
    diag_free(d);
    strbuf_free(&pin);
    space_state_free(p.state);
}

/* ---- instances as text ---- */

static void check_json(const struct trial *t)
{
    struct diag *d = diag_new();
    char *json = instance_json(t->data, t->def);
    struct space_data *data = space_data_from_json("j", json, t->def, d);
    cr_assert(data, "seed %u: %s\n%s", t->seed, diag_count(d) ? diag_message(d, 0) : "", json);
    struct space *space = instantiate(t, data);
    struct space_state *root = space_root(space, NULL);
    cr_assert_eq(!root, !t->root);
    if (root) cr_assert(unchanged(snapshot(root), t->root), "seed %u: JSON changes the root", t->seed);
    space_state_free(root);
    space_free(space);
    space_data_free(data);
    free(json);
    diag_free(d);
}

static void run_space(unsigned seed)
{
    struct trial t = {.seed = seed, .arena = arena_new()};
    rs_make(&t.model, seed);
    compile(&t);
    t.data = rs_data(&t.model);
    t.space = instantiate(&t, t.data);
    match_slots(&t);
    enumerate(&t);
    t.root = space_root(t.space, NULL);
    check_search(&t);
    if (t.root) check_sound(&t, t.root, NULL, 0, false);
    if (t.root) check_actions(&t);
    if (t.root) check_all_at_once(&t);
    if (t.root) check_pin(&t);
    check_json(&t);
    space_state_free(t.root);
    space_free(t.space);
    space_data_free(t.data);
    free(t.solutions);
    free(t.alive);
    strbuf_free(&t.text);
    arena_free(t.arena);
}

/* Seeds beyond the first FEW that found a fault. */
static const unsigned found[] = {960, 3545};

/* Every `parts`-th seed from `first` on: two tests share the work of two cores. */
static void run_spaces(unsigned first, unsigned parts)
{
    const char *only = getenv("THRESH_SEED");
    unsigned last = longer(FEW, MANY);
    if (only && first == 1) run_space((unsigned)strtoul(only, NULL, 10));
    for (size_t i = 0; !only && last == FEW && i < sizeof found / sizeof *found; i++)
        if (found[i] % parts == first % parts) run_space(found[i]);
    for (unsigned seed = first; !only && seed <= last; seed += parts)
        run_space(seed);
}

Test(space_random, odd_seeds_agree_with_brute_force, .timeout = 900)
{
    run_spaces(1, 2);
}

Test(space_random, even_seeds_agree_with_brute_force, .timeout = 900)
{
    run_spaces(2, 2);
}
