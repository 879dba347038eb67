/* What the parts of the text generator share: control flow (emit.c), statements (statement.c) and accesses to
 * memory (access.c). Private to core/codegen.
 *
 * The emitter walks the loop tree. Below an UNROLL dimension that dimension's index is a constant
 * (`fixed`, `digit`), unless it is rolled (roll.c); below a VECTOR dimension the statements are over its
 * lanes (`lane`):
 *
 *     unroll 2: m.0                   m0 fixed to 0:   acc_0 = fma(a_0, b, acc_0);
 *       vector 4: n.0                 m0 fixed to 1:   acc_1 = fma(a_1, b, acc_1);
 *         acc                         (acc_0, acc_1 and b are float4) */
#ifndef THRESH_CODEGEN_EMIT_H
#define THRESH_CODEGEN_EMIT_H

#include "core/base/strbuf.h"
#include "core/codegen/names.h"

struct cg_emitter {
    const struct cg_program *p;
    const struct cg_dialect *dialect;
    struct cg_names *names;
    struct arena *scratch;
    struct strbuf *out;
    int indent;
    size_t left_out; /* bytes of text: of copies that rolled dimensions do not write */
    unsigned copies; /* UNROLL dimensions around this point that are written out; 0: the text is there once */
    bool points;     /* the text has pointers */
    struct cg_pointer *pointers; /* that are declared here, the last first (pointer.c) */
    unsigned n_pointers;         /* declared so far */
    struct strbuf *declarations; /* of them, before the statement; NULL: not in one, or the text has none */
    const struct index_expr *
        *fixed;           /* [cg_variables()] constant where a node is unrolled at this point, else NULL */
    int64_t *digit;       /* [n_nodes] the same as numbers */
    struct cg_node *lane; /* the VECTOR node around this point, or NULL */
};

/* A format of the dialect, filled; in the emitter's scratch arena. CG_TEXT(e, "$1 + $2", "a", "b"). */
const char *cg_text(struct cg_emitter *e, const char *format, const char *const *args);
#define CG_TEXT(e, format, ...) cg_text((e), (format), (const char *const[]){__VA_ARGS__})
const char *cg_number(struct cg_emitter *e, int64_t n);
/* A line of text at the indentation of this point. */
void cg_line(struct cg_emitter *e, const char *text);
/* "get_local_id(0)": the id that a dimension of this kind is decoded from. */
const char *cg_id_text(const struct cg_emitter *e, enum bb_dim_kind kind, unsigned axis);
/* The kind whose ids count work-groups, or work-items where there are no groups. */
enum bb_dim_kind cg_group_kind(const struct cg_program *p);
/* Gives node n the constant i, or frees it. */
void cg_fix(struct cg_emitter *e, const struct cg_node *n, int64_t i);
void cg_unfix(struct cg_emitter *e, const struct cg_node *n);
/* Declares all registers of a value. */
void cg_emit_declaration(struct cg_emitter *e, const struct cg_value *v);
/* One instruction at this point of the unrolled code. */
void cg_emit_statement(struct cg_emitter *e, const struct cg_node *n);

/* ---- statement.c, for access.c ---- */

/* The text of the buffer, in the scratch arena; frees the buffer. */
const char *cg_keep(struct cg_emitter *e, struct strbuf *b);
/* "float", "float4" (width > 1). */
const char *cg_type_text(struct cg_emitter *e, enum scalar_type type, int64_t width);
/* "(float4)(a, b, c, d)" of the parts, one for each lane, or "(float4)(a)" if all are the same text. */
const char *cg_pack(struct cg_emitter *e, enum scalar_type type, const char *const *parts);
const char *cg_constant_text(struct cg_emitter *e, enum scalar_type type, double c, bool vector);
/* The register of an operand's part, in a lane. */
const char *cg_operand_scalar(struct cg_emitter *e, const struct cg_operand *x, unsigned part, int64_t lane);
/* Names the variables that a load's index takes from data, in a lane or (lane < 0) outside of vectors: texts.
 */
void cg_name_data(struct cg_emitter *e, uint32_t inst, int64_t lane);
/* What an instruction computes or stores, one text for each part. */
const char **cg_expression_texts(struct cg_emitter *e, uint32_t inst, bool vector);

/* An operation over operands of which the last one has the node's type. */
const char *cg_operation_text(struct cg_emitter *e, const struct bb_node *n, const char **operands,
                              bool vector);

/* ---- launch.c ---- */

/* Whether a region is an argument: an array in global memory. */
bool cg_is_temporary(const struct cg_region *r);
/* Sets the sizes of the launch, its local memory and its barriers; its arguments. */
void cg_describe_launch(const struct cg_program *p, struct cg_kernel *out);
void cg_describe_arguments(const struct cg_program *p, struct cg_kernel *out);

/* ---- combine.c ---- */

/* Combines the parts of a split reduction. */
void cg_emit_combine(struct cg_emitter *e, const struct cg_node *n);
/* The array in local memory for parts of a type; all of them. */
const char *cg_part_name(struct cg_emitter *e, enum scalar_type type);
void cg_emit_part_arrays(struct cg_emitter *e);

/* ---- matrix.c ---- */

/* Loads and products of matrices, in place of the copies of m->steps. */
void cg_emit_matrix(struct cg_emitter *e, const struct cg_matrix *m);

/* ---- exchange.c ---- */

/* The stores of an UNROLL dimension with lanes that exchange what they store. */
void cg_emit_exchange(struct cg_emitter *e, const struct cg_node *n);

/* ---- groups.c ---- */

/* The arguments for the parts of groups, each after the separator; none if groups have no parts. */
void cg_emit_group_arguments(struct cg_emitter *e, const char *separator);
/* Scalars of a type that a work-item has of such a part; elements of the argument for them. */
int64_t cg_group_scalars(const struct cg_program *p, const struct cg_split *s, enum scalar_type type);
int64_t cg_group_elements(const struct cg_program *p, const struct cg_split *s, enum scalar_type type);

/* ---- pointer.c ---- */

/* Whether the text of a program has pointers. */
bool cg_needs_pointers(const struct cg_program *p);
/* The pointer to the element of an array that an offset without its constant gives, which is declared before
 * the statement if there is none yet; NULL: the offset is written out. */
const char *cg_pointer_text(struct cg_emitter *e, const struct cg_access *x, const char *array,
                            const struct index_expr *offset);
/* Behind the brace that closes a scope. */
void cg_drop_pointers(struct cg_emitter *e);

/* ---- access.c ---- */

/* "A[16 * k0 + m3]"; "alpha" of a scalar that is passed by value. */
const char *cg_element_text(struct cg_emitter *e, const struct cg_access *x, const struct index_expr *offset);
/* "16 * k0 + m3", with variables that are wide enough. */
const char *cg_index_text(struct cg_emitter *e, const struct index_expr *x);
/* Whether an index contains numbers that are read from memory. */
bool cg_is_from_data(const struct cg_program *p, const struct index_expr *x);
/* An index at this point of the unrolled code. */
const struct index_expr *cg_here(struct cg_emitter *e, const struct index_expr *x);
/* `yes` where the guards hold at this point of the unrolled code, `no` elsewhere. */
const char *cg_choice_text(struct cg_emitter *e, const struct index_guard *guards, unsigned n,
                           const char *yes, const char *no);
/* "i0 * 4 + 1 < 13". */
const char *cg_guard_text(struct cg_emitter *e, const struct cg_guard *g);
/* "if (get_local_id(0) == 0 && get_group_id(1) == 0 && i0 * 4 + 1 < 13) " before a store or a step; nothing
 * if it needs no guard here. */
void cg_emit_guard(struct cg_emitter *e, const struct cg_node *n);
/* When all lanes of an access are within the extents; NULL: always. */
const char *cg_whole_text(struct cg_emitter *e, const struct cg_node *n);
/* What a load reads; vector: over the lanes. */
const char *cg_load_text(struct cg_emitter *e, const struct cg_node *n, bool vector);
/* The same for lanes that are all within the extents; NULL if they are no neighbours in memory. */
const char *cg_load_vector(struct cg_emitter *e, const struct cg_node *n);
/* The same lane by lane. */
const char *cg_load_lanes(struct cg_emitter *e, const struct cg_node *n);
/* Whether all that a store would write at this point of the unrolled code is beyond an extent. */
bool cg_is_left_out(struct cg_emitter *e, const struct cg_node *n, bool vector);
/* A store, or a copy's store. */
void cg_emit_memory_write(struct cg_emitter *e, const struct cg_node *n, bool vector);

#endif
