/* See shell.h. Within single quotes everything but a single quote stands for itself. */
#include "core/base/shell.h"

#include <stdbool.h>
#include <string.h>

#include "core/base/strbuf.h"

static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    return *word && !word[strspn(word, plain)];
}

void shell_add_word(struct strbuf *b, const char *word)
{
    if (is_plain(word)) {
        strbuf_add(b, word);
        return;
    }
    strbuf_add(b, "'");
    for (; *word; word++)
        strbuf_addn(b, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    strbuf_add(b, "'");
}
