/* A growing, always terminated string. Zero-initialise, append, then read `text` or take it with
 * strbuf_take().
 *
 *     struct strbuf b = {0};
 *     strbuf_printf(&b, "%u of %u", done, all);
 *     return strbuf_take(&b);      the caller frees it */
#ifndef THRESH_BASE_STRBUF_H
#define THRESH_BASE_STRBUF_H

#include <stdarg.h>
#include <stddef.h>

#include "core/base/attr.h"

struct strbuf {
    char *text; /* NULL or `length` bytes and a 0 */
    size_t length, capacity;
};

void strbuf_add(struct strbuf *b, const char *s);
void strbuf_addn(struct strbuf *b, const char *s, size_t n);
void strbuf_printf(struct strbuf *b, const char *fmt, ...) BASE_PRINTF(2, 3);
void strbuf_vprintf(struct strbuf *b, const char *fmt, va_list args);
void strbuf_indent(struct strbuf *b, int levels); /* four spaces a level */
/* The text, never NULL; the caller frees it. The buffer is empty afterwards. */
char *strbuf_take(struct strbuf *b);
void strbuf_free(struct strbuf *b);

#endif
