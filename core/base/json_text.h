/* Places in a JSON text, for error messages. jansson parses into a tree that keeps no places; here the steps
 * from the root to a value give its place again, by a walk over the text from its beginning.
 *
 *     {"sets": {"A": ["x", "y"]}}      member 0, member 0, element 1: the offset of "y" */
#ifndef THRESH_BASE_JSON_TEXT_H
#define THRESH_BASE_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A value of a text: the index-th member or element of the value `up`, in the order of the text. Steps are
 * chained from the inside out, on the stack of who walks the tree. */
struct json_step {
    const struct json_step *up; /* NULL: the whole text */
    size_t index;
};

/* Byte offset of the value, or of the name of that member of an object. The text is valid JSON, 0-terminated,
 * and has such a value. */
size_t json_text_value(const char *text, const struct json_step *at);
size_t json_text_name(const char *text, const struct json_step *at);

/* Byte offset of what a parser complains of that stopped behind byte `end`: the token that ends there, or,
 * if it wanted more text, the end of the last one. */
size_t json_text_fault(const char *text, size_t end, bool wanted_more);

#endif
