/* Arithmetic over the sizes of a program, as in C: "(N+15)/16*16". */
#ifndef THRESH_COORDINATOR_EXTENT_H
#define THRESH_COORDINATOR_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

struct lift_program;

/* The value of an expression of whole numbers, sizes of the bound program, + - * / % and parentheses. false
 * with a static reason in *why, which follows the expression in a message. */
bool extent_evaluate(const char *text, const struct lift_program *p, int64_t *out, const char **why);

#endif
