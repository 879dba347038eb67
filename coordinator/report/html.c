/* Escaping, and a printf whose %s escapes; see html.h. */
#include "coordinator/report/html.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/base/panic.h"
#include "core/base/utf8.h"

static const char *entity_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* U+FFFE and U+FFFF are UTF-8, but no characters of XML. */
static bool is_no_character(const char *c)
{
    return (unsigned char)c[0] == 0xef && (unsigned char)c[1] == 0xbf && (unsigned char)c[2] >= 0xbe;
}

static bool is_control(char c)
{
    return ((unsigned char)c < 32 && c != '\n' && c != '\t') || c == 127;
}

static void add_text(struct strbuf *b, const char *text)
{
    const char *end = text + strlen(text);
    while (text < end) {
        size_t valid = utf8_valid(text, (size_t)(end - text));
        for (const char *stop = text + valid; text < stop; text++) {
            const char *entity = entity_of(*text);
            if (entity)
                strbuf_add(b, entity);
            else if (is_control(*text))
                strbuf_add(b, "?");
            else if (is_no_character(text))
                strbuf_add(b, "?"), text += 2;
            else
                strbuf_addn(b, text, 1);
        }
        if (text < end) strbuf_add(b, "?"), text++;
    }
}

/* One conversion of the format: `spec` is "%...", its last character tells which. */
static void convert(struct strbuf *b, const char *spec, va_list *args)
{
    char text[64];
    size_t n = strlen(spec);
    bool size = strchr(spec, 'z') != NULL, wide = strchr(spec, 'l') != NULL;
    switch (spec[n - 1]) {
    case 's':
        add_text(b, va_arg(*args, const char *));
        return;
    case 'c':
        add_text(b, (char[]){(char)va_arg(*args, int), 0});
        return;
    case '%':
        strbuf_add(b, "%");
        return;
    case 'd':
        snprintf(text, sizeof text, "%lld",
                 wide ? (long long)va_arg(*args, int64_t) : (long long)va_arg(*args, int));
        break;
    case 'u':
        snprintf(text, sizeof text, "%llu",
                 size   ? (unsigned long long)va_arg(*args, size_t)
                 : wide ? (unsigned long long)va_arg(*args, uint64_t)
                        : (unsigned long long)va_arg(*args, unsigned));
        break;
    default:
        CHECK(spec[n - 1] == 'f' || spec[n - 1] == 'g');
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, sizeof text, spec, va_arg(*args, double));
#pragma GCC diagnostic pop
    }
    strbuf_add(b, text);
}

void html_add(struct strbuf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    while (*format) {
        size_t plain = strcspn(format, "%");
        strbuf_addn(b, format, plain);
        format += plain;
        if (!*format) break;
        char spec[16];
        size_t n = 1 + strcspn(format + 1, "scdufg%") + 1;
        CHECK(n < sizeof spec);
        memcpy(spec, format, n);
        spec[n] = 0;
        convert(b, spec, &args);
        format += n;
    }
    va_end(args);
}
