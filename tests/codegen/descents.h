/* Random leaves of the GPU space: every one is implemented, passes the interpreter of the loop program
 * without a fault and gives the result of the Lift interpreter; some are compiled and run. Inputs are small
 * integers: results agree exactly. */
#ifndef THRESH_TESTS_CODEGEN_DESCENTS_H
#define THRESH_TESTS_CODEGEN_DESCENTS_H

#include <stdbool.h>
#include <stdint.h>

struct descents {
    const char *text, *sizes;
    int64_t local_bytes;     /* of the device (512) */
    const char *divided;     /* a tile of which groups have parts, or NULL */
    const char *staged;      /* a value that is staged, or NULL */
    bool in_registers;       /* it is, in registers of each work-item */
    const char *const *pins; /* "staged(X_2)=NO" and other decisions, before these */
    unsigned n_pins;
    unsigned descents; /* of which more than half must reach a leaf */
    unsigned compiled; /* the first ones also run on the device, whose buffers are floats */
};

/* Returns how many of the leaves split a reduction among work-items. */
unsigned check_descents(const struct descents *d);
/* Leaves in which a value is staged (NULL: in which anything may be): so many, and 20 times as many in long
 * tests. */
void check_staged(const char *text, const char *sizes, const char *value, unsigned usual);

#endif
