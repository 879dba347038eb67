/* The expression of an instruction: nodes over its operands. fma(a, b, acc) is
 *
 *     OPERAND 1   OPERAND 2   OPERAND 0   OP fma */
#ifndef THRESH_BACKBONE_NODE_H
#define THRESH_BACKBONE_NODE_H

#include "core/backbone/guard.h"
#include "core/lift/scalar.h"

/* Scalar expressions, one a part, in postfix order: a node's operands are on the stack; a part leaves one. */
enum bb_node_kind {
    BB_NODE_OPERAND,
    BB_NODE_CONST,
    BB_NODE_INDEX,  /* the value of an index expression */
    BB_NODE_SELECT, /* of two operands the first where the guards hold, otherwise the second */
    BB_NODE_OP
};
struct bb_node {
    enum bb_node_kind kind;
    enum scalar_type type;          /* of its value; OP: of its last operand (scalar_op_gives()) */
    const struct index_expr *index; /* INDEX; variables are MAIN logical ids, as in the guards */
    unsigned n_guards;              /* SELECT */
    const struct index_guard *guards;
    unsigned operand; /* OPERAND: index into the instruction's operands */
    unsigned part;    /* OPERAND: which of the scalars that the operand makes */
    double value;     /* CONST */
    enum scalar_op op;
};

/* The first node of the expression that ends with this one. */
static inline const struct bb_node *bb_node_first(const struct bb_node *last)
{
    for (unsigned missing = 1;; last--) {
        if (last->kind == BB_NODE_OP) missing += scalar_op_arity(last->op);
        if (last->kind == BB_NODE_SELECT) missing += 2;
        if (--missing == 0) return last;
    }
}

/* Whether a node's index or guards mention a logical. */
static inline bool bb_node_mentions(const struct bb_node *node, uint32_t logical)
{
    if (node->kind == BB_NODE_INDEX) return index_mentions(node->index, logical);
    return node->kind == BB_NODE_SELECT && guard_mentions(node->guards, node->n_guards, logical);
}

#endif
