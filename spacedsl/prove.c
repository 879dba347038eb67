/* Whether a condition excludes anything: it is evaluated for every combination of values of its choices. What
 * the instance gives (properties, parameters, quantifiers) is unknown, so that the result may be unknown too.
 * An example, with choice c: { X, Y }:
 *
 *     require c is X -> c is not Y      always true: a warning
 *     require c is X && c is Y          never true: an error
 *     require c is X -> p > 1           unknown: the instance gives the parameter p
 *
 * Choices of different arguments count as independent, so a verdict other than VERDICT_UNKNOWN is a proof. */
#include <string.h>

#include "spacedsl/resolve.h"

enum { MAX_ATOMS = 6, MAX_COMBINATIONS = 1 << 16, MAX_VALUES = 512, MAX_SIZE = 400 };

struct known {
    bool is;
    int64_t value;
};

static const struct known OPEN = {false, 0};

/* A choice of certain arguments, with its values. Number `n` stands for a choice that does not exist, which
 * reads as 0 and has no named value. */
struct atom {
    int32_t node;
    bool exists;
    uint32_t n, now;
    int64_t values[MAX_VALUES]; /* codes */
};

struct prover {
    const struct model *m;
    const struct space_constraint *constraint;
    struct atom atoms[MAX_ATOMS];
    unsigned n_atoms, size;
    bool hopeless; /* too large, or over values that the instance gives */
};

static int32_t kid(const struct prover *p, const struct space_node *n, unsigned i)
{
    return p->m->kids[n->first + (int32_t)i];
}

static bool same_node(const struct prover *p, int32_t a, int32_t b);

static bool same_kids(const struct prover *p, const struct space_node *x, const struct space_node *y)
{
    bool same = x->a == y->a && x->n == y->n;
    for (unsigned i = 0; i < x->n && same; i++)
        same = same_node(p, kid(p, x, i), kid(p, y, i));
    return same;
}

static bool same_node(const struct prover *p, int32_t a, int32_t b)
{
    const struct space_node *x = &p->m->nodes[a], *y = &p->m->nodes[b];
    return x->op == y->op && x->imm == y->imm && same_kids(p, x, y);
}

/* Whether two choices, or tests of choices for values, are of one choice. */
static bool same_choice(const struct prover *p, int32_t a, int32_t b)
{
    return same_kids(p, &p->m->nodes[a], &p->m->nodes[b]);
}

static struct known evaluate(const struct prover *p, int32_t node);

static void add_values(struct prover *p, struct atom *atom, int32_t node)
{
    const struct space_node *n = &p->m->nodes[node];
    struct known x[3] = {OPEN, OPEN, {true, 1}};
    if (n->op == SPACE_LIST) {
        for (unsigned i = 0; i < n->n; i++)
            add_values(p, atom, kid(p, n, i));
        return;
    }
    bool range = n->op == SPACE_RANGE;
    if (!range) x[0] = x[1] = evaluate(p, node);
    for (unsigned i = 0; range && i < n->n; i++)
        x[i] = evaluate(p, kid(p, n, i));
    p->hopeless = p->hopeless || !x[0].is || !x[1].is || !x[2].is || x[2].value <= 0;
    for (int64_t v = x[0].value; !p->hopeless && v <= x[1].value;) {
        if (atom->n == MAX_VALUES)
            p->hopeless = true;
        else
            atom->values[atom->n++] = v;
        if (__builtin_add_overflow(v, x[2].value, &v)) break;
    }
}

/* Whether the object is in the set that argument `i` of the choice ranges over, by their declarations. */
static bool surely_argument(const struct prover *p, const struct space_choice *c, unsigned i, int32_t node)
{
    const struct space_node *n = &p->m->nodes[node];
    const struct space_domain *want = &c->args[i];
    if (n->op != SPACE_VAR || n->a >= p->constraint->n_vars || want->list >= 0 || want->arg >= 0)
        return false;
    int32_t set = p->m->domains[p->constraint->domains + n->a].set;
    while (set >= 0 && set != want->set)
        set = p->m->sets[set].parent;
    return set >= 0;
}

/* Variables of one prefix are distinct, so two of them make a pair. */
static bool surely_exists(const struct prover *p, const struct space_choice *c, const struct space_node *n)
{
    bool sure = c->where < 0;
    for (unsigned i = 0; i < n->n && sure; i++) {
        sure = surely_argument(p, c, i, kid(p, n, i));
        for (unsigned k = 0; k < i && c->pairing != SPACE_PLAIN; k++)
            sure = sure && p->m->nodes[kid(p, n, i)].a != p->m->nodes[kid(p, n, k)].a;
    }
    return sure;
}

static void add_atom(struct prover *p, int32_t node)
{
    const struct space_choice *c = &p->m->choices[p->m->nodes[node].a];
    for (unsigned i = 0; i < p->n_atoms; i++)
        if (same_choice(p, p->atoms[i].node, node)) return;
    if (p->n_atoms == MAX_ATOMS) {
        p->hopeless = true;
        return;
    }
    struct atom *atom = &p->atoms[p->n_atoms++];
    atom->node = node;
    atom->exists = surely_exists(p, c, &p->m->nodes[node]);
    atom->n = atom->now = 0;
    for (unsigned v = 0; v < c->n_values; v++)
        atom->values[atom->n++] = c->codes[v];
    if (!c->n_values) add_values(p, atom, c->values);
    p->hopeless = p->hopeless || !atom->n;
}

/* Only what `evaluate` looks into: a quantifier stays open. */
static void find_atoms(struct prover *p, int32_t node)
{
    const struct space_node *n = &p->m->nodes[node];
    p->hopeless = p->hopeless || ++p->size > MAX_SIZE;
    if (p->hopeless) return;
    if (n->op == SPACE_CHOICE || n->op == SPACE_IS) {
        add_atom(p, node);
        return;
    }
    bool plain = n->op == SPACE_IN || n->op == SPACE_LIST || n->op == SPACE_RANGE ||
                 (n->op >= SPACE_ADD && n->op <= SPACE_ITE);
    for (unsigned i = 0; plain && i < n->n; i++)
        find_atoms(p, kid(p, n, i));
}

static struct known evaluate_choice(const struct prover *p, int32_t node)
{
    const struct space_node *n = &p->m->nodes[node];
    for (unsigned i = 0; i < p->n_atoms; i++) {
        const struct atom *a = &p->atoms[i];
        if (!same_choice(p, a->node, node)) continue;
        if (a->now == a->n) return (struct known){true, 0};
        int64_t v = n->op == SPACE_IS ? n->imm >> a->now & 1 : a->values[a->now];
        return (struct known){true, v};
    }
    return OPEN;
}

/* `x in list`: open as soon as an element is. */
static struct known evaluate_in(const struct prover *p, struct known x, int32_t node)
{
    const struct space_node *n = &p->m->nodes[node];
    if (!x.is) return OPEN;
    if (n->op == SPACE_LIST) {
        struct known any = {true, 0};
        for (unsigned i = 0; i < n->n; i++) {
            struct known one = evaluate_in(p, x, kid(p, n, i));
            if (one.is && one.value) return one;
            if (!one.is) any = OPEN;
        }
        return any;
    }
    if (n->op != SPACE_RANGE) {
        struct known y = evaluate(p, node);
        return (struct known){y.is, x.value == y.value};
    }
    struct known lo = evaluate(p, kid(p, n, 0)), hi = evaluate(p, kid(p, n, 1));
    bool plain = n->n == 2 && lo.is && hi.is;
    return plain ? (struct known){true, lo.value <= x.value && x.value <= hi.value} : OPEN;
}

static struct known evaluate_logic(enum space_op op, struct known x, struct known y)
{
    bool stop = op != SPACE_AND; /* the value of an operand that decides */
    if (op == SPACE_IMP) x.value = !x.value;
    if (x.is && (x.value != 0) == stop) return (struct known){true, stop};
    if (y.is && (y.value != 0) == stop) return (struct known){true, stop};
    return x.is && y.is ? (struct known){true, !stop} : OPEN;
}

static struct known evaluate_arithmetic(enum space_op op, int64_t x, int64_t y)
{
    int64_t z = 0;
    bool over = false;
    switch (op) {
    case SPACE_ADD:
        over = __builtin_add_overflow(x, y, &z);
        break;
    case SPACE_SUB:
        over = __builtin_sub_overflow(x, y, &z);
        break;
    case SPACE_MUL:
        over = __builtin_mul_overflow(x, y, &z);
        break;
    case SPACE_NEG:
        over = __builtin_sub_overflow(0, x, &z);
        break;
    case SPACE_DIV:
    case SPACE_MOD:
        over = y == -1 && x == INT64_MIN;
        z = !y || over ? 0 : op == SPACE_DIV ? x / y : x % y;
        break;
    case SPACE_MIN:
        z = x < y ? x : y;
        break;
    case SPACE_MAX:
        z = x > y ? x : y;
        break;
    case SPACE_EQ:
        z = x == y;
        break;
    case SPACE_NE:
        z = x != y;
        break;
    case SPACE_LT:
        z = x < y;
        break;
    case SPACE_LE:
        z = x <= y;
        break;
    default:
        z = !x; /* SPACE_NOT */
        break;
    }
    over = over || z > SPACE_BIG || z < -SPACE_BIG; /* where the engine stops */
    return (struct known){!over, z};
}

static struct known evaluate(const struct prover *p, int32_t node)
{
    const struct space_node *n = &p->m->nodes[node];
    if (n->op == SPACE_CONST) return (struct known){true, n->imm};
    if (n->op == SPACE_CHOICE || n->op == SPACE_IS) return evaluate_choice(p, node);
    if (n->op == SPACE_IN) return evaluate_in(p, evaluate(p, kid(p, n, 0)), kid(p, n, 1));
    if (n->op < SPACE_ADD || n->op > SPACE_ITE) return OPEN;
    struct known x = evaluate(p, kid(p, n, 0));
    if (n->op == SPACE_ITE) return x.is ? evaluate(p, kid(p, n, x.value ? 1 : 2)) : OPEN;
    struct known y = n->n > 1 ? evaluate(p, kid(p, n, 1)) : (struct known){true, 0};
    if (n->op == SPACE_AND || n->op == SPACE_OR || n->op == SPACE_IMP) return evaluate_logic(n->op, x, y);
    return x.is && y.is ? evaluate_arithmetic(n->op, x.value, y.value) : OPEN;
}

static uint32_t values_of(const struct atom *a)
{
    return a->n + !a->exists;
}

static bool next_combination(struct prover *p)
{
    for (unsigned i = 0; i < p->n_atoms; i++) {
        if (++p->atoms[i].now < values_of(&p->atoms[i])) return true;
        p->atoms[i].now = 0;
    }
    return false;
}

enum verdict prove(const struct model *m, const struct space_constraint *c)
{
    struct prover p = {.m = m, .constraint = c};
    find_atoms(&p, c->body);
    uint64_t total = 1;
    for (unsigned i = 0; i < p.n_atoms && total <= MAX_COMBINATIONS; i++)
        total *= values_of(&p.atoms[i]);
    if (p.hopeless || total > MAX_COMBINATIONS) return VERDICT_UNKNOWN;
    bool always = true, never = true;
    do {
        struct known x = evaluate(&p, c->body);
        always = always && x.is && x.value;
        never = never && x.is && !x.value;
    } while ((always || never) && next_combination(&p));
    return always ? VERDICT_ALWAYS : never ? VERDICT_NEVER : VERDICT_UNKNOWN;
}
