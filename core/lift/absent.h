/* What users of similar languages write and this language does not have: names, words, types and signs, each
 * with what it is and the nearest way today. `slide(3, 1, a)` gives
 *
 *     not supported yet: slide (overlapping windows); ...
 *
 * Private to core/lift. */
#ifndef THRESH_LIFT_ABSENT_H
#define THRESH_LIFT_ABSENT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/diag.h"

/* Where the text stands. */
enum absent_place {
    ABSENT_NAME, /* the name of a function or a value */
    ABSENT_TYPE, /* the name of a scalar type */
    ABSENT_WORD, /* a word inside an expression: `if`, `and`, `lambda` */
    ABSENT_DECL, /* a word that begins a statement: `for`, `def` */
    ABSENT_SIGN  /* a sign that begins here; the longest one counts */
};

/* Reports what is known of text[0..length). Returns how many bytes it is about: `length`, for a SIGN those of
 * the sign; 0, with nothing reported, if nothing is known of it. d may be NULL: nothing is reported. */
size_t lift_absent(struct diag *d, struct source_pos at, enum absent_place place, const char *text,
                   size_t length);

#endif
