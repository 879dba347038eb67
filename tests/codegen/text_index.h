/* The value of an index in the text of a kernel, for a work-item of the first group in the first iterations:
 *
 *     const int n3 = (int)((uint)get_local_id(0) / 4u % 8u);
 *     ... A_tile[n3 * 32 + k0 % 3 * 4096 + 8] ...              104 for work-item 12 */
#ifndef THRESH_TESTS_CODEGEN_TEXT_INDEX_H
#define THRESH_TESTS_CODEGEN_TEXT_INDEX_H

#include <stdint.h>

struct text_index {
    const char *text, *at; /* of the kernel; the next character of the index */
    int64_t item;          /* work-item of the group */
};

/* Reads a sum; r->at is then at what comes after it. A text that is none fails the test. */
int64_t text_index_value(struct text_index *r);

#endif
