/* See hint.h. */
#include "core/space/hint.h"

#include <stdio.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/similar.h"
#include "core/space/def.h"

enum { NAME_BYTES = 512, MOST_LISTED = 24, FIRST_LISTED = 12 };

static void add_guess(struct strbuf *out, const char *guess)
{
    strbuf_printf(out, "; did you mean '%s'?", guess);
}

static void list_choices(const struct space *s, struct strbuf *out)
{
    for (unsigned g = 0; g < space_group_count(s); g++)
        strbuf_printf(out, "%s%s", g ? ", " : "; the choices are ", space_group_name(s, g));
}

/* The choice of the group with the nearest arguments, or how they look. */
static void hint_slot(const struct space *s, unsigned group, const char *name, struct strbuf *out)
{
    struct arena *a = arena_new();
    const char **known = ARENA_ARRAY(a, const char *, space_slot_count(s) + 1);
    size_t n = 0;
    for (uint32_t i = 0; i < space_slot_count(s); i++) {
        char slot[NAME_BYTES];
        if (space_slot_group(s, i) != group) continue;
        space_slot_name(s, i, slot, sizeof slot);
        known[n++] = arena_strdup(a, slot);
    }
    const char *nearest = strchr(name, '(') ? similar_find(name, known, n) : NULL;
    if (nearest)
        add_guess(out, nearest);
    else if (n > 0)
        strbuf_printf(out, "; one of these choices is '%s'; 'thresh choices' lists all", known[0]);
    arena_free(a);
}

static const char *nearest_group(const struct space *s, const char *name, struct arena *a)
{
    unsigned n = space_group_count(s);
    const char **known = ARENA_ARRAY(a, const char *, n + 1);
    for (unsigned g = 0; g < n; g++)
        known[g] = space_group_name(s, g);
    return similar_find(name, known, n);
}

void space_hint_choice(const struct space *s, const char *name, struct strbuf *out)
{
    struct arena *a = arena_new();
    size_t length = strcspn(name, " (");
    const char *arguments = name + length, *group_name = arena_strndup(a, name, length), *guess;
    int group = space_group_find(s, group_name);
    if (group >= 0)
        hint_slot(s, (unsigned)group, name, out);
    else if ((guess = nearest_group(s, group_name, a)))
        add_guess(out, arena_printf(a, "%s%s", guess, arguments));
    else
        list_choices(s, out);
    arena_free(a);
}

void space_hint_value(const struct space *s, uint32_t slot, const char *value, struct strbuf *out)
{
    uint32_t n = space_universe(s, slot);
    struct arena *a = arena_new();
    const char **known = ARENA_ARRAY(a, const char *, n + 1);
    char name[NAME_BYTES];
    for (uint32_t v = 0; v < n; v++) {
        space_value_name(s, slot, v, name, sizeof name);
        known[v] = arena_strdup(a, name);
    }
    const char *guess = value[strspn(value, "-0123456789")] ? similar_find(value, known, n) : NULL;
    if (guess) add_guess(out, guess);
    space_slot_name(s, slot, name, sizeof name);
    strbuf_printf(out, "%s %s is one of ", guess ? "" : ";", name);
    for (uint32_t v = 0; v < n; v++) {
        bool skips = n > MOST_LISTED && v == FIRST_LISTED;
        if (skips) v = n - 1;
        strbuf_printf(out, "%s%s%s", v ? "|" : "", skips ? "...|" : "", known[v]);
    }
    arena_free(a);
}
