/* Symbolic sizes: expressions over the size parameters of a program with + - * and exact /.
 *
 * A size is built folded (constants together, x * 1 = x, ...) and lives in an arena. Its value is known once
 * the parameters are: lift_size_value() checks overflow and that each division is exact. */
#ifndef THRESH_LIFT_SIZE_H
#define THRESH_LIFT_SIZE_H

#include <stdint.h>

struct arena;
struct lift_size_param;
struct strbuf;

enum lift_size_kind {
    LIFT_SIZE_CONST,
    LIFT_SIZE_PARAM,
    LIFT_SIZE_ADD,
    LIFT_SIZE_SUB,
    LIFT_SIZE_MUL,
    LIFT_SIZE_DIV
};

struct lift_size {
    enum lift_size_kind kind;
    int64_t value;                 /* CONST */
    unsigned param;                /* PARAM: index into the program's sizes */
    const char *name;              /* PARAM */
    const struct lift_size *a, *b; /* operands of the others */
    unsigned nodes;                /* terms of it written out */
};

enum lift_size_status { LIFT_SIZE_OK, LIFT_SIZE_OVERFLOW, LIFT_SIZE_BY_ZERO, LIFT_SIZE_INEXACT };

const struct lift_size *lift_size_const(struct arena *a, int64_t value);
const struct lift_size *lift_size_param(struct arena *a, unsigned param, const char *name);
/* x op y, with kind ADD, SUB, MUL or DIV. */
const struct lift_size *lift_size_op(struct arena *a, enum lift_size_kind kind, const struct lift_size *x,
                                     const struct lift_size *y);

/* The number it stands for, with the parameters' values; *out is set when LIFT_SIZE_OK is returned. */
enum lift_size_status lift_size_value(const struct lift_size *s, const struct lift_size_param *params,
                                      int64_t *out);
/* What a status other than LIFT_SIZE_OK means, for a message: "overflows 64 bits". */
const char *lift_size_status_text(enum lift_size_status status);

/* Prints with as few parentheses as possible. */
void lift_size_print(const struct lift_size *s, struct strbuf *out);

#endif
