/* Triangles: constraints over three objects of a set that read one pair choice. All of them together become
 * one composition table of the pair choice's values, over a square of bytes (square.h).
 *
 *     require forall a, b, c in S: order(a, b) is BEFORE && order(b, c) is BEFORE -> order(a, c) is BEFORE
 *
 * gives the table: BEFORE with BEFORE allows BEFORE; AFTER with AFTER allows AFTER; all else allows both. */
#include <string.h>

#include "core/space/ground/ground.h"
#include "core/space/ground/square.h"

static bool only_pair_choice(const struct space *s, int32_t node, int32_t *choice)
{
    const struct space_node *n = &s->def->nodes[node];
    if (n->op == SPACE_CONST || n->op == SPACE_PARAM) return true;
    if (n->op == SPACE_IS || n->op == SPACE_CHOICE) {
        if (*choice >= 0 && *choice != n->a) return false;
        *choice = n->a;
        for (unsigned i = 0; i < n->n; i++)
            if (s->def->nodes[s->def->kids[n->first + (int32_t)i]].op != SPACE_VAR) return false;
        return true;
    }
    bool plain = (n->op >= SPACE_ADD && n->op <= SPACE_ITE);
    for (unsigned i = 0; i < n->n && plain; i++)
        plain = only_pair_choice(s, s->def->kids[n->first + (int32_t)i], choice);
    return plain && n->op != SPACE_VAR;
}

/* Whether the constraint is over three objects of the choice's own set. */
static bool ranges_over(const struct space *s, const struct space_constraint *c,
                        const struct space_choice *pair)
{
    const struct space_domain *doms = &s->def->domains[c->domains];
    for (unsigned i = 0; i < 3; i++)
        if (doms[i].set != pair->args[0].set || doms[i].arg >= 0) return false;
    return true;
}

enum ground_refusal ground_refuse_triangle(const struct space *s, const struct space_constraint *c,
                                           int32_t *choice)
{
    *choice = -1;
    if (c->n_vars != 3 || !only_pair_choice(s, c->body, choice) || *choice < 0) return GROUND_NO_TRIANGLE;
    const struct space_choice *pair = &s->def->choices[*choice];
    if (pair->arity != 2) return GROUND_NO_TRIANGLE;
    if (pair->pairing == SPACE_PLAIN)
        return pair->n_values && pair->args[0].root == pair->args[1].root ? GROUND_PLAIN_PAIR
                                                                          : GROUND_NO_TRIANGLE;
    if (pair->n_values > SQUARE_VALUES) return GROUND_LARGE_PAIR;
    if (pair->where >= 0) return GROUND_CONDITIONAL_PAIR;
    if (!ranges_over(s, c, pair)) return GROUND_OTHER_SET;
    return s->sets[pair->args[0].set].n >= 3 ? GROUND_TRIANGLE : GROUND_NO_TRIANGLE;
}

int32_t ground_triangle_choice(const struct space *s, const struct space_constraint *c)
{
    int32_t choice;
    return ground_refuse_triangle(s, c, &choice) == GROUND_TRIANGLE ? choice : -1;
}

/* Forbids in allowed[ab][bc][ac] what some order of the objects x[0..2] rules out. */
static void forbid(struct space *s, struct grounder *g, const struct space_constraint *c, const int64_t *x,
                   unsigned n, bool *allowed)
{
    static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (unsigned o = 0; o < 6; o++) {
        for (unsigned i = 0; i < 3; i++)
            g->env[i] = x[orders[o][i]];
        struct expression *e = ground_formula(g, c->body);
        int32_t choice = ground_triangle_choice(s, c);
        uint32_t slots[3] = {ground_slot_of(s, choice, (int64_t[]){x[0], x[1]}, 2),
                             ground_slot_of(s, choice, (int64_t[]){x[1], x[2]}, 2),
                             ground_slot_of(s, choice, (int64_t[]){x[0], x[2]}, 2)};
        for (uint32_t v = 0; v < n * n * n; v++)
            if (!expression_value(e, slots, (uint32_t[]){v / n / n, v / n % n, v % n}, 3)) allowed[v] = false;
    }
}

static const uint8_t *compose_table(struct arena *a, const bool *allowed, unsigned n)
{
    uint8_t *t = ARENA_ARRAY(a, uint8_t, 256 * 256);
    for (unsigned x = 0; x < 1u << n; x++) {
        for (unsigned y = 0; y < 1u << n; y++) {
            unsigned mask = 0;
            for (unsigned v = 0; v < n * n * n; v++)
                if (allowed[v] && x >> v / n / n & 1 && y >> v / n % n & 1) mask |= 1u << v % n;
            t[x * 256 + y] = x && y ? (uint8_t)mask : UINT8_MAX; /* 0: not a pair, or not of live objects */
        }
    }
    return t;
}

static void add_square(struct space *s, int32_t choice, uint32_t first)
{
    const struct space_choice *c = &s->def->choices[choice];
    struct square *sq = &s->squares[s->n_squares++];
    struct grounder g = {.s = s, .a = arena_new()};
    unsigned n = c->n_values;
    bool *allowed = ARENA_ARRAY(s->arena, bool, n *n *n);
    memset(allowed, 1, n * n * n);
    for (int32_t i = 0; i < s->def->n_constraints; i++)
        if (ground_triangle_choice(s, &s->def->constraints[i]) == choice)
            forbid(s, &g, &s->def->constraints[i], s->sets[c->args[0].set].ids, n, allowed);
    sq->compose = compose_table(s->arena, allowed, n);
    sq->allowed = allowed;
    sq->constraint = first;
    for (unsigned m = 0; m < 256; m++)
        for (unsigned v = 0; v < n; v++)
            if (m >> v & 1) sq->mirror[m] |= (uint8_t)(1u << c->mirror[v]);
    const struct set_members *set = &s->sets[c->args[0].set];
    sq->n = (uint32_t)set->n;
    uint32_t *slots = ARENA_ARRAY(s->arena, uint32_t, set->n * set->n),
             *live = ARENA_ARRAY(s->arena, uint32_t, set->n);
    for (size_t i = 0; i < set->n; i++) {
        live[i] = ground_liveness_of(s, c->args[0].root, set->ids[i]);
        for (size_t k = 0; k < set->n; k++)
            slots[i * set->n + k] =
                i == k ? SPACE_NONE : ground_slot_of(s, choice, (int64_t[]){set->ids[i], set->ids[k]}, 2);
    }
    for (size_t i = 0; i < set->n * set->n; i++)
        if (slots[i] != SPACE_NONE) s->slots[slots[i]].square = (int16_t)(s->n_squares - 1);
    sq->slots = slots;
    sq->liveness = live;
    arena_free(g.a);
}

static bool has_square(const struct space *s, int32_t choice)
{
    for (int32_t i = 0; i < s->def->n_constraints; i++)
        if (ground_triangle_choice(s, &s->def->constraints[i]) == choice) return true;
    return false;
}

void ground_squares(struct space *s)
{
    s->squares = ARENA_ARRAY(s->arena, struct square, s->def->n_choices + 1);
    for (int32_t c = 0; c < s->def->n_choices; c++) {
        if (!has_square(s, c)) continue;
        uint32_t first = 0;
        while (ground_triangle_choice(s, &s->def->constraints[first]) != c)
            first++;
        add_square(s, c, first);
    }
}
