/* Draws a space: sizes and properties, choices as long as their assignments can be enumerated, then formulas.
 */
#include "tests/space/random_space.h"

#include <criterion/criterion.h>
#include <string.h>

static unsigned below(struct rs_space *s, unsigned n)
{
    return pcg32_below(&s->rng, n);
}

static bool one_in(struct rs_space *s, unsigned n)
{
    return below(s, n) == 0;
}

enum rs_set rs_root(enum rs_set set)
{
    return set == RS_B || set == RS_OF ? RS_A : set;
}

bool rs_member(const struct rs_space *s, enum rs_set set, int of, int object)
{
    if (object < 0 || (unsigned)object >= s->n[rs_root(set)]) return false;
    if (set == RS_B) return s->in_b[object];
    return set != RS_OF || (of >= 0 && s->of[of][object]);
}

/* Of choices and properties. */
static int64_t least_number(const struct rs_space *s)
{
    return s->natural ? 0 : -2;
}

/* ---- the instance ---- */

static void make_objects(struct rs_space *s)
{
    static const unsigned least[RS_SETS] = {[RS_A] = 2, [RS_L] = 1, [RS_T] = 1, [RS_V] = 1, [RS_R] = 1};
    static const unsigned most[RS_SETS] = {[RS_A] = 4, [RS_L] = 2, [RS_T] = 3, [RS_V] = 2, [RS_R] = 3};
    for (int i = 0; i < RS_SETS; i++)
        s->n[i] = least[i] + below(s, most[i] - least[i] + 1);
    if (s->paired) s->n[RS_A] = 3;
    if (s->counted) s->n[RS_R] = 3;
    s->k = (int64_t)below(s, 9) - 1;
    for (unsigned a = 0; a < RS_OBJECTS; a++) {
        s->in_b[a] = !one_in(s, 3);
        s->w[a] = (int64_t)below(s, 6) + least_number(s);
        s->gives[a] = (int)below(s, s->n[RS_T] + 1) - 1;
        s->more[a] = below(s, 1u << s->n[RS_V]);
        s->n_vals[a] = 1 + below(s, 4);
        for (unsigned i = 0; i < 4; i++)
            s->vals[a][i] = (int64_t)below(s, 9) + least_number(s);
        for (unsigned b = 0; b < RS_OBJECTS; b++) {
            s->ok[a][b] = one_in(s, 2);
            s->of[a][b] = one_in(s, 2);
        }
    }
}

/* ---- choices ---- */

static void enum_values(struct rs_space *s, struct rs_choice *c, unsigned n)
{
    int64_t code = (int64_t)below(s, 4) + least_number(s);
    c->n_values = n;
    for (unsigned i = 0; i < n; i++, code += 1 + below(s, 3))
        c->codes[i] = code;
    if (n > 1 && one_in(s, 3)) {
        int64_t first = c->codes[0];
        c->codes[0] = c->codes[n - 1];
        c->codes[n - 1] = first;
    }
}

static void int_values(struct rs_space *s, struct rs_choice *c)
{
    c->integer = true;
    c->codes[0] = (int64_t)below(s, 5) + least_number(s);
    c->codes[2] = 1 + below(s, 3);
    c->codes[1] = c->codes[0] + c->codes[2] * (1 + below(s, 3)) + below(s, 2);
}

/* More than a word of values. */
static struct rs_choice draw_wide(struct rs_space *s, unsigned arity, enum rs_set set)
{
    struct rs_choice c = {.arity = arity, .args = {set}};
    int_values(s, &c);
    c.codes[1] = c.codes[0] + c.codes[2] * (64 + below(s, 20));
    return c;
}

/* Of two objects, one or both of which may be latent, or of one with many values. */
static struct rs_choice draw_coupled(struct rs_space *s)
{
    struct rs_choice c = {.arity = 2, .args = {RS_T, RS_T}};
    unsigned kind = below(s, 6);
    if (kind == 5) return draw_wide(s, 1, one_in(s, 2) ? RS_T : RS_V);
    c.pairing = kind < 2 ? RS_ANTISYMMETRIC : kind == 2 ? RS_SYMMETRIC : RS_PLAIN;
    if (kind == 3) c.args[0] = RS_A;
    if (kind == 4) c.args[1] = RS_V;
    if (c.pairing == RS_PLAIN && one_in(s, 3))
        int_values(s, &c);
    else
        enum_values(s, &c, c.pairing == RS_PLAIN ? 2 : 3);
    return c;
}

/* One of the kinds of choices. */
static struct rs_choice draw_choice(struct rs_space *s)
{
    struct rs_choice c = {.arity = 1};
    if (s->coupled && one_in(s, 2)) return draw_coupled(s);
    switch (below(s, 11)) {
    case 0:
        c.integer = true; /* in vals(v0) */
        break;
    case 1:
        c = draw_wide(s, 0, RS_A);
        break;
    case 2:
    case 3:
        c.arity = 2;
        c.pairing = one_in(s, 3) ? RS_SYMMETRIC : RS_ANTISYMMETRIC;
        enum_values(s, &c, 3);
        break;
    case 4:
        c.arity = 2;
        c.where = true;
        enum_values(s, &c, 2);
        break;
    case 5:
        c.arity = 2;
        c.args[0] = RS_L;
        c.args[1] = RS_OF;
        enum_values(s, &c, 2);
        break;
    case 6:
        c.arity = 0;
        enum_values(s, &c, 2 + below(s, 3));
        break;
    case 7:
        c.args[0] = RS_R;
        int_values(s, &c);
        break;
    case 8:
        c.args[0] = RS_T;
        enum_values(s, &c, 2 + below(s, 2));
        break;
    case 9:
        c.args[0] = RS_T;
        int_values(s, &c);
        break;
    default:
        c.args[0] = RS_V;
        enum_values(s, &c, 2);
    }
    return c;
}

static void sort_unique(struct rs_slot *slot)
{
    unsigned n = 0;
    for (unsigned i = 0; i < slot->n_values; i++) {
        int64_t x = slot->codes[i];
        unsigned at = 0;
        while (at < n && slot->codes[at] < x)
            at++;
        if (at < n && slot->codes[at] == x) continue;
        memmove(slot->codes + at + 1, slot->codes + at, (n - at) * sizeof x);
        slot->codes[at] = x;
        n++;
    }
    slot->n_values = n;
}

static void slot_values(const struct rs_space *s, const struct rs_choice *c, struct rs_slot *slot)
{
    slot->n_values = 0;
    if (!c->integer)
        for (unsigned i = 0; i < c->n_values; i++)
            slot->codes[slot->n_values++] = c->codes[i];
    else if (c->codes[2])
        for (int64_t x = c->codes[0]; x <= c->codes[1]; x += c->codes[2])
            slot->codes[slot->n_values++] = x;
    else
        for (unsigned i = 0; i < s->n_vals[slot->objects[0]]; i++)
            slot->codes[slot->n_values++] = s->vals[slot->objects[0]][i];
    if (c->integer) sort_unique(slot);
}

static bool has_slot(const struct rs_space *s, const struct rs_choice *c, const uint32_t objects[2])
{
    for (unsigned i = 0; i < 2; i++)
        if (i < c->arity ? !rs_member(s, c->args[i], (int)objects[0], (int)objects[i]) : objects[i] > 0)
            return false;
    if (c->pairing != RS_PLAIN && objects[0] >= objects[1]) return false;
    return !c->where || s->ok[objects[0]][objects[1]];
}

/* Adds the slots of the last choice; false if there are too many assignments, or no slot. */
static bool add_slots(struct rs_space *s)
{
    struct rs_choice *c = &s->choices[s->n_choices - 1];
    unsigned before = s->n_slots;
    memset(c->slot, 0xff, sizeof c->slot);
    for (uint32_t i = 0; i < RS_OBJECTS * RS_OBJECTS; i++) {
        struct rs_slot slot = {s->n_choices - 1, {i / RS_OBJECTS, i % RS_OBJECTS}, 0, {0}};
        if (!has_slot(s, c, slot.objects)) continue;
        if (s->n_slots == RS_SLOTS) return false;
        slot_values(s, c, &slot);
        c->slot[slot.objects[0]][slot.objects[1]] = (int)s->n_slots;
        if (c->pairing != RS_PLAIN) c->slot[slot.objects[1]][slot.objects[0]] = (int)s->n_slots;
        s->slots[s->n_slots++] = slot;
    }
    return s->n_slots > before && rs_assignments(s) <= RS_ASSIGNMENTS;
}

uint64_t rs_assignments(const struct rs_space *s)
{
    uint64_t n = 1;
    for (unsigned i = 0; i < s->n_slots && n <= RS_ASSIGNMENTS; i++)
        n *= s->slots[i].n_values;
    return n;
}

static void add_choice(struct rs_space *s, struct rs_choice c, unsigned n_values)
{
    enum_values(s, &c, n_values);
    s->choices[s->n_choices++] = c;
    cr_assert(add_slots(s));
}

static void make_choices(struct rs_space *s)
{
    add_choice(s, (struct rs_choice){.arity = 1}, 2);
    for (int i = 0; s->paired && i < 2; i++)
        add_choice(s, (struct rs_choice){.arity = 2, .pairing = i ? RS_SYMMETRIC : RS_ANTISYMMETRIC}, 2);
    if (s->counted) add_choice(s, (struct rs_choice){.arity = 1, .args = {RS_R}}, 2);
    for (int i = 0; i < 12 && s->n_choices < RS_CHOICES; i++) {
        unsigned slots = s->n_slots;
        s->choices[s->n_choices++] = draw_choice(s);
        if (add_slots(s)) continue;
        s->n_slots = slots;
        s->n_choices--;
    }
}

/* ---- formulas ---- */

/* The variables that a formula may use. */
struct scope {
    unsigned n;
    enum rs_set roots[RS_VARS];
    bool latent; /* it may read choices of latent objects */
};

static int make_int(struct rs_space *s, struct scope *sc, int depth);
static int make_bool(struct rs_space *s, struct scope *sc, int depth);

static int add_node(struct rs_space *s, struct rs_node n)
{
    cr_assert_lt(s->n_nodes, RS_NODES);
    s->nodes[s->n_nodes] = n;
    return (int)s->n_nodes++;
}

static int add_op(struct rs_space *s, enum rs_op op, int a, int b, int c)
{
    return add_node(s, (struct rs_node){.op = op, .kids = {a, b, c}});
}

static int constant(struct rs_space *s)
{
    return add_node(s, (struct rs_node){.op = RS_CONST, .number = (int64_t)below(s, 9) - 2});
}

/* A variable of the root set, or -1. */
static int find_var(struct rs_space *s, const struct scope *sc, enum rs_set root)
{
    int found = -1;
    for (unsigned i = 0, n = 0; i < sc->n; i++)
        if (sc->roots[i] == root && one_in(s, ++n)) found = (int)i;
    return found;
}

/* ---- objects that choices select ---- */

/* How many objects of T are live. */
static int count_live(struct rs_space *s, const struct scope *sc)
{
    int one = add_node(s, (struct rs_node){.op = RS_CONST, .number = 1});
    return add_node(
        s, (struct rs_node){.op = RS_SUM, .set = RS_T, .of = -1, .bound = (int)sc->n, .kids = {one, -1, -1}});
}

static int draw_selection(struct rs_space *s, struct scope *sc, enum rs_set root)
{
    if (root == RS_R && one_in(s, 2))
        return sc->latent && sc->n < RS_VARS && one_in(s, 4) ? count_live(s, sc) : make_int(s, sc, 1);
    struct rs_node n = {.op = RS_PICK, .kids = {-1, -1, -1}, .of = -1, .set = root};
    if (one_in(s, 3) || sc->n == RS_VARS) {
        n.vars[0] = find_var(s, sc, root);
        n.vars[1] = find_var(s, sc, root);
        n.kids[0] = make_bool(s, sc, 0);
        return add_node(s, n);
    }
    n.op = RS_FIRST;
    n.bound = (int)sc->n;
    if (root == RS_A && one_in(s, 3)) n.set = RS_B;
    sc->roots[sc->n++] = root;
    n.kids[0] = make_bool(s, sc, 0);
    sc->n--;
    return add_node(s, n);
}

/* Its random numbers are its own, so that they change nothing else in a space. */
static int make_selection(struct rs_space *s, struct scope *sc, enum rs_set root)
{
    struct pcg32 rng = s->rng;
    s->rng = s->selection_rng;
    s->selecting++;
    int node = draw_selection(s, sc, root);
    s->selecting--;
    s->selection_rng = s->rng;
    s->rng = rng;
    return RS_SELECTED(node);
}

/* A variable of the root set, now and then a selected object instead; -1: there is no such variable. */
static bool find_object(struct rs_space *s, struct scope *sc, enum rs_set root, int *out)
{
    *out = find_var(s, sc, root);
    if (*out < 0) return false;
    if (s->selecting < 2 && pcg32_below(&s->selection_rng, 8) == 0) *out = make_selection(s, sc, root);
    return true;
}

static bool latent(const struct rs_choice *c)
{
    for (unsigned i = 0; i < c->arity; i++)
        if (c->args[i] == RS_T || c->args[i] == RS_V) return true;
    return false;
}

/* A choice at variables of the scope; false: none was found. */
static bool find_choice(struct rs_space *s, struct scope *sc, bool named, struct rs_node *out)
{
    for (int tries = 0; tries < 8; tries++) {
        unsigned i = below(s, s->n_choices);
        const struct rs_choice *c = &s->choices[i];
        if ((named && c->integer) || (latent(c) && !sc->latent)) continue;
        out->choice = i;
        bool bound = true;
        for (unsigned k = 0; k < c->arity; k++)
            bound = find_object(s, sc, rs_root(c->args[k]), &out->vars[k]) && bound;
        if (bound) return true;
    }
    return false;
}

/* A set to quantify over; R and V only where a choice is over it, so that every declared set is used. */
static enum rs_set draw_set(struct rs_space *s, const struct scope *sc, int *of)
{
    static const enum rs_set sets[] = {RS_A, RS_B, RS_A, RS_L, RS_T, RS_V, RS_R, RS_OF};
    enum rs_set set = sets[below(s, sizeof sets / sizeof *sets)];
    *of = set == RS_OF ? find_var(s, sc, RS_L) : -1;
    if (set == RS_OF && *of < 0) return RS_A;
    return (set == RS_T || set == RS_V) && !sc->latent ? RS_A : set;
}

static int make_quantifier(struct rs_space *s, struct scope *sc, enum rs_op op, int depth)
{
    struct rs_node n = {.op = op, .bound = (int)sc->n, .kids = {-1, -1, -1}};
    if (sc->n == RS_VARS) return -1;
    n.set = draw_set(s, sc, &n.of);
    sc->roots[sc->n++] = rs_root(n.set);
    bool formula = op == RS_EXISTS || op == RS_FORALL;
    n.kids[0] = formula ? make_bool(s, sc, depth - 1) : make_int(s, sc, depth - 1);
    if (!formula && !one_in(s, 3)) n.kids[1] = make_bool(s, sc, depth - 1);
    sc->n--;
    return add_node(s, n);
}

static int make_call(struct rs_space *s, struct scope *sc, bool boolean)
{
    struct rs_node n = {.op = RS_CALL};
    bool object = find_object(s, sc, RS_A, &n.vars[0]);
    for (unsigned i = 0; i < s->n_calls; i++) {
        n.choice = i;
        if (s->calls[i].boolean == boolean && object && sc->latent) return add_node(s, n);
    }
    return -1;
}

static int make_number(struct rs_space *s, struct scope *sc)
{
    struct rs_node n = {.op = RS_CODE};
    int a;
    bool object = find_object(s, sc, RS_A, &a);
    if (!one_in(s, 4) && find_choice(s, sc, false, &n)) return add_node(s, n);
    if (one_in(s, 4)) return add_node(s, (struct rs_node){.op = RS_PARAM});
    if (object && one_in(s, 3)) return add_node(s, (struct rs_node){.op = RS_W, .vars = {a}});
    return constant(s);
}

static int make_int(struct rs_space *s, struct scope *sc, int depth)
{
    static const enum rs_op ops[] = {RS_ADD, RS_ADD, RS_SUB, RS_MUL, RS_DIV, RS_MOD, RS_MIN, RS_MAX};
    int made = -1;
    if (depth <= 0) return make_number(s, sc);
    if (s->natural && one_in(s, 2)) made = make_quantifier(s, sc, RS_PRODUCT, depth);
    if (made >= 0) return made;
    switch (below(s, 8)) {
    case 0:
        made = make_quantifier(s, sc, RS_SUM, depth);
        break;
    case 1:
        made = make_quantifier(s, sc, RS_PRODUCT, depth);
        break;
    case 2:
        made = make_call(s, sc, false);
        break;
    case 3:
        made = add_op(s, RS_NEG, make_int(s, sc, depth - 1), -1, -1);
        break;
    case 4:
        made = make_bool(s, sc, depth - 1);
        made = add_op(s, RS_ITE, made, make_int(s, sc, depth - 1), make_int(s, sc, depth - 1));
        break;
    case 5:
    case 6:
        made = make_int(s, sc, depth - 1);
        made = add_op(s, ops[below(s, 8)], made, make_int(s, sc, depth - 1), -1);
        break;
    default:
        break;
    }
    return made >= 0 ? made : make_number(s, sc);
}

/* A minimum or maximum; only compared with numbers, since over nothing it is as good as infinite. */
static int make_extreme(struct rs_space *s, struct scope *sc, int depth)
{
    int x = make_quantifier(s, sc, one_in(s, 2) ? RS_LEAST : RS_MOST, depth);
    return add_op(s, one_in(s, 2) ? RS_LE : RS_LT, x, constant(s), -1);
}

/* Something that has to be as large as a number: a product, mostly of products. */
static int make_large(struct rs_space *s, struct scope *sc, int depth)
{
    int least = add_node(s, (struct rs_node){.op = RS_CONST, .number = (int64_t)below(s, 120)});
    int product = make_quantifier(s, sc, RS_PRODUCT, depth + 1);
    return add_op(s, RS_LE, least, product >= 0 ? product : make_number(s, sc), -1);
}

/* A list of numbers from -2 to 6, which may be a range in steps. */
static struct rs_node draw_list(struct rs_space *s)
{
    struct rs_node n = {.op = RS_IN_LIST, .mask = 1 + below(s, 510)};
    if (n.mask % 4 != 3) return n;
    n.number = 2 + (n.mask >> 4 & 1);
    n.mask = n.number == 2 ? 0x155 : 0x49;
    n.mask = n.mask << (s->n_nodes % 3) & 0x1ff;
    return n;
}

static int make_comparison(struct rs_space *s, struct scope *sc, int depth)
{
    static const enum rs_op ops[] = {RS_EQ, RS_NE, RS_LT, RS_LE, RS_LE};
    if (s->natural && one_in(s, 2)) return make_large(s, sc, depth);
    int left = make_int(s, sc, depth - 1);
    if (one_in(s, 4)) {
        struct rs_node n = draw_list(s);
        n.kids[0] = left;
        return add_node(s, n);
    }
    return add_op(s, ops[below(s, 5)], left, make_int(s, sc, depth - 1), -1);
}

static int make_atom(struct rs_space *s, struct scope *sc, int depth)
{
    struct rs_node n = {.op = RS_IS};
    int a, b;
    bool object = find_object(s, sc, RS_A, &a);
    find_object(s, sc, RS_A, &b);
    if (object && one_in(s, 9)) return add_node(s, (struct rs_node){.op = RS_OK, .vars = {a, b}});
    if (object && one_in(s, 12)) return add_node(s, (struct rs_node){.op = RS_IN_B, .vars = {a}});
    if (a != b && one_in(s, 8)) return add_node(s, (struct rs_node){.op = RS_SAME, .vars = {a, b}});
    if (one_in(s, 4) || !find_choice(s, sc, true, &n)) return make_comparison(s, sc, depth);
    n.mask = 1 + below(s, (1u << s->choices[n.choice].n_values) - 2);
    n.number = one_in(s, 4); /* `is not` */
    return add_node(s, n);
}

static int make_bool(struct rs_space *s, struct scope *sc, int depth)
{
    static const enum rs_op ops[] = {RS_AND, RS_OR, RS_OR, RS_IMP, RS_IMP, RS_IFF};
    int made = -1;
    if (depth <= 0) return make_atom(s, sc, 1);
    switch (below(s, 9)) {
    case 0:
        made = make_quantifier(s, sc, RS_EXISTS, depth);
        break;
    case 1:
        made = make_quantifier(s, sc, RS_FORALL, depth);
        break;
    case 2:
        made = add_op(s, RS_NOT, make_bool(s, sc, depth - 1), -1, -1);
        break;
    case 3:
        made = make_extreme(s, sc, depth);
        break;
    case 4:
        made = make_call(s, sc, true);
        break;
    case 5:
    case 6:
    case 7:
        made = make_bool(s, sc, depth - 1);
        made = add_op(s, ops[below(s, 6)], made, make_bool(s, sc, depth - 1), -1);
        break;
    default:
        break;
    }
    return made >= 0 ? made : make_atom(s, sc, depth);
}

/* Now and then a definition goes on to a selected object: `c ? body : d(o)`, or `body || c && d(o)`. */
static void make_recursive(struct rs_space *s, struct scope *sc, unsigned call, struct rs_call *c)
{
    if (c->counter || pcg32_below(&s->selection_rng, 3)) return;
    struct rs_node self = {.op = RS_CALL, .choice = call, .vars = {make_selection(s, sc, RS_A)}};
    struct rs_node is = {.op = RS_IS, .mask = 1};
    int on = add_node(s, self), stop = add_node(s, is);
    c->recursive = true;
    c->body = c->boolean ? add_op(s, RS_OR, c->body, add_op(s, RS_AND, stop, on, -1), -1)
                         : add_op(s, RS_ITE, stop, c->body, on);
}

static void make_calls(struct rs_space *s)
{
    for (unsigned n = below(s, RS_CALLS + 1), i = 0; i < n; i++) {
        struct scope sc = {.n = 1, .roots = {RS_A}, .latent = true};
        struct rs_call c = {.boolean = one_in(s, 3)};
        c.counter = !c.boolean && one_in(s, 2);
        c.body = c.counter   ? make_quantifier(s, &sc, one_in(s, 2) ? RS_SUM : RS_PRODUCT, 2)
                 : c.boolean ? make_bool(s, &sc, 2)
                             : make_int(s, &sc, 2);
        make_recursive(s, &sc, s->n_calls, &c);
        s->calls[s->n_calls++] = c;
    }
}

/* Choices over T: then some of T is latent, and if there are choices over V, some of V. */
static int named_choice(const struct rs_space *s, enum rs_set set)
{
    for (unsigned i = 0; i < s->n_choices; i++)
        if (s->choices[i].arity == 1 && s->choices[i].args[0] == set && !s->choices[i].integer) return (int)i;
    return -1;
}

static void make_triggers(struct rs_space *s)
{
    struct scope sc = {.n = 1, .roots = {RS_A}};
    int t = named_choice(s, RS_T);
    if (one_in(s, 4)) return;
    s->triggers[s->n_triggers++] =
        (struct rs_rule){.n_vars = 1, .sets = {RS_A}, .body = make_bool(s, &sc, 1)};
    if (t < 0) return;
    int is = add_node(s, (struct rs_node){.op = RS_IS, .choice = (unsigned)t, .mask = 1 + below(s, 2)});
    s->triggers[s->n_triggers++] = (struct rs_rule){.n_vars = 1, .sets = {RS_T}, .body = is};
}

/* (a before b) and (b before c) give (a before c): the propagator of triangles. */
static void make_transitivity(struct rs_space *s)
{
    for (unsigned i = 0; i < s->n_choices && s->n_rules < RS_RULES; i++) {
        bool triangle = s->choices[i].pairing == RS_ANTISYMMETRIC || (s->paired && i == 2);
        if (!triangle || one_in(s, 4)) continue;
        enum rs_set set = s->choices[i].args[0];
        struct rs_node is = {.op = RS_IS, .choice = i, .mask = 1, .vars = {0, 1}};
        int ab = add_node(s, is);
        is.vars[0] = 1;
        is.vars[1] = 2;
        is.mask = one_in(s, 2) || s->choices[i].n_values < 3 ? 1 : 5;
        int bc = add_node(s, is);
        is.vars[0] = 0;
        is.mask = 1;
        int ac = add_node(s, is);
        int body = add_op(s, RS_IMP, add_op(s, RS_AND, ab, bc, -1), ac, -1);
        s->rules[s->n_rules++] = (struct rs_rule){.n_vars = 3, .sets = {set, set, set}, .body = body};
    }
}

/* A pair with its first value and an object with certain ones give the other object certain ones. */
static void make_links(struct rs_space *s)
{
    for (unsigned i = 1; i < 3 && s->n_rules < RS_RULES; i++) {
        struct rs_node first = {.op = RS_IS, .mask = 1 + below(s, 2)}, second = first;
        second.mask = 1 + below(s, 2);
        second.vars[0] = 1;
        int pair = add_node(s, (struct rs_node){.op = RS_IS, .choice = i, .mask = 1, .vars = {0, 1}});
        int both = add_op(s, RS_AND, pair, add_node(s, first), -1);
        int body = add_op(s, RS_IMP, both, add_node(s, second), -1);
        s->rules[s->n_rules++] = (struct rs_rule){.n_vars = 2, .sets = {RS_A, RS_A}, .body = body};
    }
}

static void make_counted(struct rs_space *s)
{
    struct rs_node is = {.op = RS_IS, .choice = 1, .mask = 1 + below(s, 2)};
    is.vars[0] = RS_SELECTED(count_live(s, &(struct scope){.latent = true}));
    s->rules[s->n_rules++] = (struct rs_rule){.body = add_node(s, is)};
}

static void make_rules(struct rs_space *s)
{
    unsigned n = 1 + below(s, 4);
    make_transitivity(s);
    if (s->paired) make_links(s);
    if (s->counted && s->n_rules < RS_RULES) make_counted(s);
    for (unsigned i = 0; i < n && s->n_rules < RS_RULES; i++) {
        struct scope sc = {.latent = true};
        struct rs_rule r = {.n_vars = below(s, 4)};
        for (unsigned v = 0; v < r.n_vars; v++) {
            int of;
            do
                r.sets[v] = draw_set(s, &sc, &of);
            while (r.sets[v] == RS_OF);
            sc.roots[sc.n++] = rs_root(r.sets[v]);
        }
        r.body = make_bool(s, &sc, r.n_vars > 2 ? 1 : 2);
        s->rules[s->n_rules++] = r;
    }
}

static bool has_solution(struct rs_space *s)
{
    static const bool none[RS_RULES] = {false};
    memset(s->values, 0, sizeof s->values);
    do
        if (rs_solution(s, none)) return true;
    while (rs_next(s));
    return false;
}

/* Most spaces should have solutions: the last rules go until there is one. */
static void relax(struct rs_space *s)
{
    if (one_in(s, 8)) return;
    while (s->n_rules > 1 && !has_solution(s))
        s->n_rules--;
}

void rs_make(struct rs_space *s, uint64_t seed)
{
    struct pcg32 kind = pcg32_seed(seed, 7);
    bool natural = pcg32_below(&kind, 4) == 0, coupled = pcg32_below(&kind, 3) == 0,
         paired = pcg32_below(&kind, 5) == 0, counted = !paired && pcg32_below(&kind, 5) == 0;
    *s = (struct rs_space){.natural = natural,
                           .coupled = coupled,
                           .paired = paired,
                           .counted = counted,
                           .rng = pcg32_seed(seed, 3),
                           .selection_rng = pcg32_seed(seed, 5)};
    make_objects(s);
    make_choices(s);
    make_triggers(s);
    make_calls(s);
    make_rules(s);
    relax(s);
}
