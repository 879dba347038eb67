/* Random small spaces: a text in the space language, an instance, and a meaning of its own.
 *
 * The meaning is computed from the trees that the text was printed from, by walking them for one assignment
 * at a time: no parser, no resolver, no grounding, no tables. Objects are few, so that all assignments can be
 * enumerated. Every construct of the language occurs: subsets, parametric and range sets, properties of all
 * types, enums with codes and aliases, integers, symmetric, antisymmetric and conditional pairs, quantifiers,
 * counters, definitions, objects that choices select, recursion along them, triggers. */
#ifndef THRESH_TESTS_SPACE_RANDOM_SPACE_H
#define THRESH_TESTS_SPACE_RANDOM_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/pcg32.h"
#include "core/base/strbuf.h"
#include "core/space/data.h"

enum {
    RS_OBJECTS = 4,
    RS_CHOICES = 6,
    RS_NODES = 2000,
    RS_RULES = 7,
    RS_CALLS = 3,
    RS_SLOTS = 24,
    RS_VALUES = 100,
    RS_VARS = 12,
    RS_ASSIGNMENTS = 1500
};

/* The sets; A, L, T, V and R are roots. T and V hold the latent objects. */
enum rs_set { RS_A, RS_B, RS_OF, RS_L, RS_T, RS_V, RS_R, RS_SETS };

enum rs_pairing { RS_PLAIN, RS_SYMMETRIC, RS_ANTISYMMETRIC };

struct rs_choice {
    unsigned arity;
    enum rs_set args[2];
    bool integer, where; /* where: exists only if ok(first, second) */
    enum rs_pairing pairing;
    unsigned n_values;                /* of an enum */
    int64_t codes[4];                 /* of an enum; of an integer: lo, hi, step, or vals(a) if step is 0 */
    int slot[RS_OBJECTS][RS_OBJECTS]; /* -1: none */
};

/* A choice at its objects. */
struct rs_slot {
    unsigned choice;
    uint32_t objects[2];
    unsigned n_values;
    int64_t codes[RS_VALUES];
};

enum rs_op {
    RS_CONST,
    RS_PARAM,
    RS_W,
    RS_CODE,
    RS_ADD,
    RS_SUB,
    RS_MUL,
    RS_DIV,
    RS_MOD,
    RS_MIN,
    RS_MAX,
    RS_NEG,
    RS_ITE,
    RS_SUM,
    RS_PRODUCT,
    RS_CALL,
    RS_LEAST,
    RS_MOST,
    RS_IS,
    RS_OK,
    RS_IN_B,
    RS_SAME,
    RS_IN_LIST,
    RS_EQ,
    RS_NE,
    RS_LT,
    RS_LE,
    RS_AND,
    RS_OR,
    RS_NOT,
    RS_IMP,
    RS_IFF,
    RS_EXISTS,
    RS_FORALL,
    RS_FIRST, /* objects: first .. in set: kids[0]; kids[0] ? vars[0] : vars[1] */
    RS_PICK
};

struct rs_node {
    enum rs_op op;
    unsigned choice; /* RS_CODE, RS_IS; RS_CALL: the definition */
    int vars[2];     /* arguments: variables, or RS_SELECTED(node) */
    unsigned mask;   /* RS_IS: values; RS_IN_LIST: bit i is the number i - 2 */
    int64_t number;  /* of RS_IN_LIST: the step, if it is a range */
    enum rs_set set; /* of a quantifier */
    int of, bound;   /* of a quantifier: parameter of RS_OF, and the variable */
    int kids[3];     /* a quantifier: value, condition or -1 */
};

/* An argument that a node selects: RS_FIRST, RS_PICK, or a number that names an object of R. */
#define RS_SELECTED(node) (-1 - (node))

/* `require forall v0 in .., ..: body`, or a trigger. */
struct rs_rule {
    unsigned n_vars;
    enum rs_set sets[3];
    int body;
    unsigned line; /* of the text */
};

/* `counter` or `define` of one argument of A. */
struct rs_call {
    bool counter, boolean, recursive;
    int body;
};

/* What the text names; the rest is not declared. */
struct rs_used {
    bool sets[RS_SETS], ok, w, vals, k;
};

struct rs_space {
    bool natural; /* no number is negative, and products of products have to be large */
    bool coupled; /* there are choices of two latent objects */
    bool paired;  /* two choices of pairs have triangles, and rules with the first choice */
    bool counted; /* how many objects are live says which choice a rule is about */
    struct pcg32 rng, selection_rng;
    unsigned selecting;  /* depth of selections being drawn */
    unsigned n[RS_SETS]; /* of the root sets */
    bool in_b[RS_OBJECTS], of[RS_OBJECTS][RS_OBJECTS], ok[RS_OBJECTS][RS_OBJECTS];
    int64_t w[RS_OBJECTS], vals[RS_OBJECTS][4], k;
    unsigned n_vals[RS_OBJECTS];
    int gives[RS_OBJECTS];     /* A to T; -1: none */
    unsigned more[RS_OBJECTS]; /* T to a set of V */
    unsigned n_choices, n_nodes, n_calls, n_rules, n_triggers, n_slots;
    struct rs_choice choices[RS_CHOICES];
    struct rs_node nodes[RS_NODES];
    struct rs_call calls[RS_CALLS];
    struct rs_rule rules[RS_RULES], triggers[2]; /* triggers[0]: gives(v0), triggers[1]: more(v0) */
    struct rs_slot slots[RS_SLOTS];
    unsigned values[RS_SLOTS]; /* the assignment */
    bool live_t[RS_OBJECTS], live_v[RS_OBJECTS];
    unsigned steps[RS_CALLS]; /* calls at work */
    struct rs_used used;      /* of the last text */
};

/* ---- making (random_space.c) ---- */

void rs_make(struct rs_space *s, uint64_t seed);
enum rs_set rs_root(enum rs_set set);
bool rs_member(const struct rs_space *s, enum rs_set set, int of, int object);
/* Number of assignments, live or not. */
uint64_t rs_assignments(const struct rs_space *s);

/* ---- writing (random_text.c) ---- */

/* The .space file without the dropped rules. Sets the lines of the rules, and `used`. */
void rs_text(struct rs_space *s, const bool dropped[RS_RULES], struct strbuf *out);
/* An instance for the last text. */
struct space_data *rs_data(const struct rs_space *s);
/* Name of an object of a root set, e.g. "a1"; 8 bytes. */
void rs_name(enum rs_set root, unsigned object, char out[8]);

/* ---- meaning (random_value.c) ---- */

/* Liveness under the values. */
void rs_activate(struct rs_space *s);
bool rs_slot_live(const struct rs_space *s, unsigned slot);
/* Whether the values are a solution; a slot that is not live must have value 0. Calls rs_activate(). */
bool rs_solution(struct rs_space *s, const bool dropped[RS_RULES]);
/* Whether the rule holds under the values. */
bool rs_holds(struct rs_space *s, const struct rs_rule *rule);
/* The next assignment; false after the last. */
bool rs_next(struct rs_space *s);

#endif
