/* Name resolution and type checking, shared by the files resolve*.c.
 *
 * A formula becomes a tree of space_nodes. Definitions and counters are expanded where they are used: their
 * parameters are bound to the nodes of the arguments, and variables get numbers that no enclosing variable
 * has, so nothing is captured. Types are few: booleans, integers (enum codes, range-set objects), objects of
 * a root set, and lists of the latter two. */
#ifndef THRESH_SPACEDSL_RESOLVE_H
#define THRESH_SPACEDSL_RESOLVE_H

#include "spacedsl/model.h"

enum type_kind { TYPE_ERROR, TYPE_BOOL, TYPE_INT, TYPE_OBJECT };

struct type {
    enum type_kind kind;
    bool list;
    int32_t root; /* of objects */
};

struct typed {
    int32_t node;
    struct type type;
};

#define TYPED_ERROR ((struct typed){.node = -1})

/* A variable or a parameter of a definition that stands for `value`. */
struct binding {
    const char *name;
    struct typed value;
    const struct binding *outer;
};

/* Which side of a value matters: a half counter may stand only where its minimum does. */
enum side {
    SIDE_BOTH,
    SIDE_TRUE, /* a condition that is only required to hold */
    SIDE_LOW,  /* a number that is only bounded from above */
};

struct scope {
    const struct binding *bindings;
    int depth; /* variables in use: the next one gets this number */
    enum side side;
};

enum dependence { DEPENDENCE_UNKNOWN, DEPENDENCE_NONE, DEPENDENCE_CHOICES };

struct resolver {
    struct model *m;
    struct diag *diag;
    const struct define_decl *expanding[64];
    int n_expanding;
    int depth;                      /* of nested calls of resolve_side */
    bool too_large, reported_large; /* the expanded formulas */
    bool *used_sets;
    enum dependence *dependence; /* of each definition, in the order of the file */
};

/* What a variable ranges over: a domain, or the representatives of a quotient within it. */
struct range {
    struct space_domain domain;
    const struct quotient_decl *quotient; /* or NULL */
    const struct binding *params;         /* of the quotient */
};

/* ---- resolve_name.c: tables ---- */
int32_t find_set(const struct model *m, const char *name);
int32_t find_property(const struct model *m, const char *name);
int32_t find_parameter(const struct model *m, const char *name);
int32_t find_choice(const struct model *m, const char *name);
const struct define_decl *find_define(const struct model *m, const char *name);
const struct quotient_decl *find_quotient(const struct model *m, const char *name);
const struct property_decl *property_decl_at(const struct model *m, int32_t property);
int32_t add_node(struct resolver *r, enum space_op op, int32_t a, int64_t imm, unsigned n,
                 const int32_t *kids);
/* The same for an operation on objects, some of which may depend on choices. */
int32_t add_object_node(struct resolver *r, enum space_op op, int32_t a, int64_t imm, unsigned n,
                        const int32_t *kids);
int32_t add_domain(struct resolver *r, struct space_domain dom);
struct typed typed(int32_t node, enum type_kind kind);
bool is_int(const struct resolver *r, struct type t);
/* Whether a value may stand where an object of the root set is wanted (integers may for range sets). */
bool fits_root(const struct resolver *r, struct type t, int32_t root);
/* The same of a written argument; an error if not, or if it is a number that the range set does not have.
 * `what` names the argument. */
bool is_object_of(struct resolver *r, const struct expr *e, struct type t, int32_t root, const char *what);
/* Whether it is a condition or a number; an error if not. */
bool wants(struct resolver *r, struct typed t, enum type_kind kind, struct source_pos at);
/* Whether it has one value in an instance, whatever is chosen; an error if not. */
bool check_static(struct resolver *r, struct typed t, struct source_pos at);
/* The values that a name stands for; 0: none. */
uint64_t find_value(const struct space_choice *c, const char *name);
/* The known name nearest to an unknown one, as "; did you mean 'NAME'?", or "". */
const char *guess_set(struct resolver *r, const char *name);
const char *guess_name(struct resolver *r, const struct scope *sc, const char *name);
uint64_t value_mask(struct resolver *r, const struct space_choice *c, const struct name *n); /* or an error */

/* ---- resolve_formula.c ---- */
struct typed resolve_formula(struct resolver *r, const struct scope *sc, const struct expr *e);
/* The same where only one side of the value matters. */
struct typed resolve_side(struct resolver *r, const struct scope *sc, const struct expr *e, enum side side);

/* ---- resolve_call.c: names with arguments ---- */
struct typed resolve_call(struct resolver *r, const struct scope *sc, const struct expr *e);
bool check_arity(struct resolver *r, const struct expr *e, unsigned wanted);
bool resolve_args(struct resolver *r, const struct scope *sc, const struct expr *e, const int32_t *roots,
                  unsigned arity, int32_t *kids);
/* Binds parameters to the arguments of a use; *ok is cleared after an error. */
const struct binding *bind_args(struct resolver *r, const struct scope *sc, const char *name,
                                const struct binder *params, const struct expr *use, bool *ok);
void resolve_define(struct resolver *r, const struct define_decl *decl);
/* Whether a recursive definition depends on choices, by its number in the table. */
bool define_depends(struct resolver *r, int32_t define);
/* Keeps what the file says of a definition, a counter or a quotient. */
void declare_derived(struct model *m, const struct name *name, struct remark remark);

/* ---- resolve_range.c: variables and what they range over ---- */
bool resolve_range(struct resolver *r, const struct scope *sc, const struct expr *e, struct range *out);
/* The same where only a set or a list may stand. */
bool resolve_domain(struct resolver *r, const struct scope *sc, const struct expr *e,
                    struct space_domain *dom);
/* A new innermost variable; NULL after an error. */
const struct binding *bind_variable(struct resolver *r, struct scope *sc, const struct name *name,
                                    int32_t root);
/* The condition that `object` represents a class of the quotient. */
struct typed quotient_member(struct resolver *r, const struct scope *sc, const struct range *range,
                             struct typed object);
struct typed resolve_quantifier(struct resolver *r, const struct scope *sc, const struct expr *e,
                                const struct binder *b);
struct typed resolve_in(struct resolver *r, const struct scope *sc, const struct expr *e);

/* ---- resolve_decl.c: declarations without constraints ---- */
void check_new(struct resolver *r, const struct name *n); /* an error if the name is taken */
void declare_set(struct resolver *r, const struct set_decl *decl);
void declare_property(struct resolver *r, const struct property_decl *decl);
void declare_parameter(struct resolver *r, const struct parameter_decl *decl);
void declare_choice(struct resolver *r, const struct choice_decl *decl);
void declare_quotient(struct resolver *r, const struct quotient_decl *decl);
void declare_define(struct resolver *r, const struct define_decl *decl);
unsigned line_of(struct source_pos at);

/* ---- prove.c ---- */
enum verdict { VERDICT_UNKNOWN, VERDICT_ALWAYS, VERDICT_NEVER };
/* Whether the condition of a constraint has the same value whatever its choices are. */
enum verdict prove(const struct model *m, const struct space_constraint *c);

/* ---- cycles.c ---- */
/* Reports triggers that wait for each other. */
void check_triggers(struct resolver *r);

#endif
