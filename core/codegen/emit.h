/* What the two halves of the text generator share: statements (statement.c) and control flow (emit.c).
 * Private to core/codegen. */
#ifndef THRESH_CODEGEN_EMIT_H
#define THRESH_CODEGEN_EMIT_H

#include "core/codegen/names.h"
#include "core/base/strbuf.h"

struct cg_emitter {
    const struct cg_program *p;
    const struct cg_names *names;
    struct arena *scratch;
    struct strbuf *out;
    int indent;
    const struct index_expr *
        *fixed;           /* [n_nodes] constant where a node is unrolled at this point, else NULL */
    int64_t *digit;       /* [n_nodes] the same as numbers */
    struct cg_node *lane; /* the VECTOR node around this point, or NULL */
};

/* "float", "float4" (width > 1). */
const char *cg_type_text(struct cg_emitter *e, enum scalar_type type, int64_t width);
/* Gives node n the constant i, or frees it. */
void cg_fix(struct cg_emitter *e, const struct cg_node *n, int64_t i);
void cg_unfix(struct cg_emitter *e, const struct cg_node *n);
/* Declares all registers of a value. */
void cg_emit_declaration(struct cg_emitter *e, const struct cg_value *v);
/* One instruction at this point of the unrolled code. */
void cg_emit_statement(struct cg_emitter *e, const struct cg_node *n);

#endif
