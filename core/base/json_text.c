/* Places in a JSON text: a walk over its tokens. It needs to know only where strings end and how brackets
 * nest. */
#include "core/base/json_text.h"

#include <string.h>

static size_t skip_space(const char *text, size_t at)
{
    return at + strspn(text + at, " \t\r\n");
}

/* Behind the string that begins at `at`; one that is not closed ends with its line. */
static size_t skip_string(const char *text, size_t at)
{
    for (at++; text[at] && text[at] != '"' && text[at] != '\n'; at++)
        at += text[at] == '\\' && text[at + 1];
    return at + (text[at] == '"');
}

/* Behind the token that begins at `at`: a string, a mark, or a number or word. */
static size_t skip_token(const char *text, size_t at)
{
    if (text[at] == '"') return skip_string(text, at);
    size_t n = strcspn(text + at, "[]{}:,\" \t\r\n");
    return at + (n ? n : text[at] != 0);
}

static size_t skip_value(const char *text, size_t at)
{
    size_t depth = 0;
    do {
        at = skip_space(text, at);
        depth += text[at] == '[' || text[at] == '{';
        depth -= text[at] == ']' || text[at] == '}';
        at = skip_token(text, at);
    } while (depth && text[at]);
    return at;
}

/* The value after the name at `at`. */
static size_t skip_name(const char *text, size_t at)
{
    size_t colon = skip_space(text, skip_string(text, at));
    return skip_space(text, colon + 1);
}

/* Where a member or an element begins; *named: it is a member, and begins with its name. */
static size_t find_member(const char *text, const struct json_step *step, bool *named)
{
    size_t at = json_text_value(text, step->up);
    *named = text[at] == '{';
    at = skip_space(text, at + 1);
    for (size_t i = 0; i < step->index; i++) {
        size_t value = *named ? skip_name(text, at) : at;
        size_t comma = skip_space(text, skip_value(text, value));
        at = skip_space(text, comma + 1);
    }
    return at;
}

size_t json_text_value(const char *text, const struct json_step *at)
{
    if (!at->up) return skip_space(text, 0);
    bool named;
    size_t member = find_member(text, at, &named);
    return named ? skip_name(text, member) : member;
}

size_t json_text_name(const char *text, const struct json_step *at)
{
    bool named;
    return find_member(text, at, &named);
}

size_t json_text_fault(const char *text, size_t end, bool wanted_more)
{
    for (size_t start = skip_space(text, 0);;) {
        size_t next = skip_token(text, start), follows = skip_space(text, next);
        if (!text[follows]) return wanted_more ? next : start;
        if (!wanted_more && next >= end) return start;
        start = follows;
    }
}
