/* What spacec emits for one .space file: constant tables, read by space_instantiate().
 *
 * Everything is an index into an array of struct space_def. Formulas are trees of struct space_node;
 * definitions and counters are already expanded, recursive ones left as calls. Variables are numbered: a node
 * VAR i reads variable i of the environment, the variables of a constraint's own `forall` come first. Objects
 * are ids of their root set; objects of a range set (Axis = 0..2) are the integers themselves. -1 is no
 * object: what a property, a definition or FIRST gives where there is none. */
#ifndef THRESH_SPACE_DEF_H
#define THRESH_SPACE_DEF_H

#include <stdbool.h>
#include <stdint.h>

#define SPACE_BIG (INT64_C(1) << 60) /* all arithmetic saturates here */
enum { SPACE_MAX_ARITY = 4, SPACE_MAX_VARS = 24, SPACE_MAX_VALUES = 4096, SPACE_MAX_ENUM = 16 };

/* Operations of formulas: X(name, what it means). `a` is the index, `imm` the number, `kids` the operands. */
/* clang-format off */
#define SPACE_OPS(X) \
    X(CONST, "imm") X(PARAM, "parameter a") X(VAR, "variable a: an object") \
    X(PROP, "property a of kids") X(CHOICE, "code of choice a of kids") \
    X(IS, "choice a of kids has a value in the mask imm") \
    X(IN, "kid 0 is an element of the list kid 1") X(IN_SET, "object kid 0 is in domain a") \
    X(LIST, "list of kids") X(RANGE, "kid 0 .. kid 1 step kid 2") X(ADD, "+") X(SUB, "-") \
    X(MUL, "*") X(DIV, "/, towards zero; 0 if the divisor is 0") X(MOD, "%") X(MIN, "min") \
    X(MAX, "max") X(NEG, "-") X(EQ, "==") X(NE, "!=") X(LT, "<") X(LE, "<=") X(AND, "&&") \
    X(OR, "||") X(NOT, "!") X(IMP, "->") X(ITE, "kid 0 ? kid 1 : kid 2") \
    X(EXISTS, "variable imm over domain a: kid 0") X(FORALL, "variable imm over domain a: kid 0") \
    X(SUM, "of kid 0 over variable imm in domain a where kid 1") X(PRODUCT, "as SUM") \
    X(MINOF, "as SUM") X(MAXOF, "as SUM") X(DEFINE, "recursive definition a of the objects kids") \
    X(FIRST, "the first live object, as variable imm, of domain a with kid 0; or no object")
/* clang-format on */

enum space_op {
#define X(name, text) SPACE_##name,
    SPACE_OPS(X)
#undef X
};

struct space_node {
    uint8_t op;
    uint8_t n;     /* operands */
    bool selects;  /* an object among its operands depends on choices */
    int32_t a;     /* index, see SPACE_OPS */
    int32_t first; /* of the operands in kids[] */
    int64_t imm;
};

/* What a variable ranges over. */
struct space_domain {
    int32_t set;  /* a set, or -1 */
    int32_t arg;  /* node: parameter object of a parametric set, or -1 */
    int32_t list; /* node: a list of objects, or -1 */
    int32_t root; /* root set of its objects */
};

/* What the file says of a declaration, for `thresh space describe`. */
struct space_remark {
    const char *doc;  /* its comment, or "" */
    const char *text; /* the declaration on one line */
};

struct space_set {
    const char *name;
    struct space_remark remark;
    int32_t root;     /* index of its root set; its own index if it is one */
    int32_t parent;   /* set that it is a subset of, or -1 */
    int32_t param;    /* set of the parameter of a parametric set, or -1 */
    int32_t disjoint; /* set that shares no object with it, or -1 */
    bool range;
    int64_t lo, hi; /* of a range set */
};

struct space_property {
    const char *name;
    struct space_remark remark;
    uint8_t arity;
    int32_t args[SPACE_MAX_ARITY]; /* sets */
    int32_t object;                /* set of its values, or -1: integers or booleans */
    bool list;
    bool condition; /* its values are 0 and 1 */
};

struct space_parameter {
    const char *name;
    struct space_remark remark;
    const char *unit; /* or "" */
    bool has_default;
    int64_t value;
};

enum space_pairing { SPACE_PLAIN, SPACE_SYMMETRIC, SPACE_ANTISYMMETRIC };

struct space_alias {
    const char *name;
    uint64_t mask;
};

struct space_choice {
    const char *name;
    struct space_remark remark;
    uint8_t arity;
    uint8_t pairing;  /* enum space_pairing */
    uint8_t n_values; /* 0: an integer choice */
    uint8_t n_aliases;
    struct space_domain
        args[SPACE_MAX_ARITY]; /* `arg` of a domain may use the earlier arguments as variables */
    const char *const *value_names;
    const char *const *value_docs; /* "" if none */
    const int64_t *codes;
    const uint8_t *mirror; /* value when the two arguments change places */
    const struct space_alias *aliases;
    int32_t values; /* node: list of the values of an integer choice */
    int32_t where;  /* node: static condition on the arguments, or -1 */
    const char *file;
    unsigned line;
};

/* A definition that names itself; its arguments are variables 0, 1, ... of the body. The definition of no
 * object is 0, or no object. Each step of the recursion takes argument `along` to one of the objects that the
 * `steps` properties give for it, which the instance must bring to an end. Without steps it goes to objects
 * that depend on choices: after as many steps as sets[along] has objects it is in a circle, and at no object.
 */
struct space_define {
    const char *name;
    uint8_t n_params;
    int32_t body; /* node */
    bool condition;
    int32_t object; /* root set of its value, or -1: a number or a condition */
    uint8_t along;  /* argument */
    uint8_t n_steps;
    int32_t steps[SPACE_MAX_ARITY]; /* properties */
    int32_t sets[SPACE_MAX_ARITY];  /* of the arguments */
    const char *file;
    unsigned line;
};

/* A definition, a counter or a quotient, as the file has it: formulas contain what it stands for. */
struct space_derived {
    const char *name;
    struct space_remark remark;
};

struct space_constraint {
    const char *text; /* its first words */
    const char *doc;  /* its reason, or "" */
    const char *file;
    unsigned line;
    uint8_t n_vars;
    int32_t domains; /* of its variables: first index in domains[], consecutive */
    int32_t body;    /* node */
};

struct space_trigger {
    const char *text;
    const char *doc;
    const char *file;
    unsigned line;
    uint8_t n_vars;
    int32_t domains;
    int32_t when;         /* node */
    int32_t objects;      /* node LIST of objects or lists of objects */
    const int32_t *roots; /* root set of each operand of that list */
};

struct space_def {
    const char *name, *file;
    const char *doc; /* the comment above it, or "" */
    uint64_t hash;   /* of the source texts */
    const struct space_set *sets;
    const struct space_property *properties;
    const struct space_parameter *parameters;
    const struct space_choice *choices;
    const struct space_constraint *constraints;
    const struct space_trigger *triggers;
    const struct space_define *defines;
    const struct space_domain *domains;
    const struct space_node *nodes;
    const int32_t *kids;
    int32_t n_sets, n_properties, n_parameters, n_choices, n_constraints, n_triggers, n_defines, n_domains,
        n_nodes;
    const struct space_derived *derived; /* quotients, then definitions and counters */
    int32_t n_derived;
};

/* What a shared object made from a .space file exports, as `thresh_space`. It begins with its version and
 * size. */
enum { SPACE_PLUGIN_ABI = 4 };
struct space_plugin {
    uint32_t abi;      /* SPACE_PLUGIN_ABI */
    uint32_t def_size; /* sizeof(struct space_def) */
    const struct space_def *def;
};

#endif
