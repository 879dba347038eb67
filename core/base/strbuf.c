/* A growing string: capacity doubles, one byte is kept for the final 0. */
#include "core/base/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/panic.h"

static void reserve(struct strbuf *b, size_t more)
{
    size_t need = b->length + more + 1;
    if (need <= b->capacity) return;
    size_t capacity = b->capacity ? b->capacity * 2 : 64;
    if (capacity < need) capacity = need;
    b->text = base_realloc(b->text, capacity);
    b->capacity = capacity;
}

void strbuf_addn(struct strbuf *b, const char *s, size_t n)
{
    reserve(b, n);
    memcpy(b->text + b->length, s, n);
    b->length += n;
    b->text[b->length] = 0;
}

void strbuf_add(struct strbuf *b, const char *s)
{
    strbuf_addn(b, s, strlen(s));
}

void strbuf_vprintf(struct strbuf *b, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    CHECK(n >= 0);
    reserve(b, (size_t)n);
    vsnprintf(b->text + b->length, (size_t)n + 1, fmt, again);
    va_end(again);
    b->length += (size_t)n;
}

void strbuf_printf(struct strbuf *b, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    strbuf_vprintf(b, fmt, args);
    va_end(args);
}

void strbuf_indent(struct strbuf *b, int levels)
{
    for (int i = 0; i < levels; i++)
        strbuf_addn(b, "    ", 4);
}

char *strbuf_take(struct strbuf *b)
{
    reserve(b, 0);
    b->text[b->length] = 0;
    char *text = b->text;
    *b = (struct strbuf){0};
    return text;
}

void strbuf_free(struct strbuf *b)
{
    free(b->text);
    *b = (struct strbuf){0};
}
