/* The instructions of a backbone as text, to compare with what is expected:
 *
 *     step mad [m n k] float = fma(A.load, B.load, init) */
#ifndef THRESH_TESTS_BACKBONE_TEXT_H
#define THRESH_TESTS_BACKBONE_TEXT_H

#include "core/backbone/backbone.h"

/* A line for each instruction and one with the counts: free() it. */
char *backbone_text(const struct backbone *bb);

#endif
