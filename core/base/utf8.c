/* Well-formed sequences as in the table of RFC 3629, section 4: no overlong forms, no surrogates, nothing
 * above U+10FFFF. */
#include "core/base/utf8.h"

#include <stdbool.h>
#include <string.h>

/* Bytes that a first byte announces; 0: it is none. */
static size_t announced(unsigned char first)
{
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf) return 2;
    if (first >= 0xe0 && first <= 0xef) return 3;
    return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

static bool second_fits(unsigned char first, unsigned char second)
{
    if (first == 0xe0) return second >= 0xa0;
    if (first == 0xed) return second < 0xa0;
    if (first == 0xf0) return second >= 0x90;
    return first != 0xf4 || second < 0x90;
}

/* Bytes of the character that begins here, 0: none does. */
static size_t character(const char *text, size_t n)
{
    const unsigned char *c = (const unsigned char *)text;
    size_t length = announced(c[0]);
    if (length > n || (length > 1 && !second_fits(c[0], c[1]))) return 0;
    for (size_t i = 1; i < length; i++)
        if ((c[i] & 0xc0) != 0x80) return 0;
    return length;
}

size_t utf8_valid(const char *text, size_t n)
{
    size_t at = 0, length = 1;
    for (; at < n && length; at += length)
        length = character(text + at, n - at);
    return at;
}

void utf8_clean(char *text)
{
    for (size_t n = strlen(text), at = 0; (at += utf8_valid(text + at, n - at)) < n;)
        text[at] = '?';
}

void utf8_clean_line(char *text)
{
    utf8_clean(text);
    for (unsigned char *c = (unsigned char *)text; *c; c++)
        if (*c < ' ' || *c == 0x7f) *c = ' ';
}
