/* A resolved .space file: the tables of struct space_def, growing. resolve.c fills it from the syntax tree,
 * emit.c prints it as C, and tests can hand it to the runtime directly (spacedsl_model_def). */
#ifndef THRESH_SPACEDSL_MODEL_H
#define THRESH_SPACEDSL_MODEL_H

#include "spacedsl/ast.h"

/* What is below a node. */
struct extent {
    uint32_t size; /* nodes, each as often as it is met */
    bool reads;    /* a choice, or which objects are live */
};

struct model {
    struct arena *arena;
    const struct ast *ast;
    struct space_set *sets;
    struct space_property *properties;
    struct space_parameter *parameters;
    struct space_choice *choices;
    struct space_constraint *constraints;
    struct space_trigger *triggers;
    struct space_define *defines;
    struct space_derived *derived;
    struct space_domain *domains;
    struct space_node *nodes;
    struct extent *extents; /* by node */
    int32_t *kids;
    size_t n_sets, n_properties, n_parameters, n_choices, n_constraints, n_triggers, n_defines, n_domains,
        n_nodes, n_kids, n_derived;
    size_t cap_domains, cap_nodes, cap_extents, cap_kids;
};

/* Resolves names, checks types and expands definitions. Returns NULL after adding errors. */
struct model *spacedsl_resolve(const struct ast *ast, struct arena *a, struct diag *d);
/* The tables as a definition; it lives as long as the arena and the source texts. */
const struct space_def *spacedsl_model_def(const struct model *m);
/* The C file of the tables. malloc'd text. */
char *spacedsl_emit(const struct model *m);
/* The C header of its names, for code that builds an instance or reads decisions (emit_header.c). malloc'd
 * text; NULL after adding errors: two names are the same in C, or a number is not an int. */
char *spacedsl_emit_header(const struct model *m, struct diag *d);
/* Parses and resolves a text: what tests call. NULL after adding errors. */
const struct space_def *spacedsl_compile(const struct source *source, struct arena *a, struct diag *d);

#endif
