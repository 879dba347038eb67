/* What a space says of its choices and values: the part of pool_space.c that looks at no row. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "core/base/panic.h"
#include "experiments/search/pool_space.h"

enum { NAME_BYTES = 512 };

uint32_t space_slot_count(const struct space *s)
{
    return (uint32_t)pool_space_pool(s)->n_choices;
}

unsigned space_group_count(const struct space *s)
{
    return (unsigned)pool_space_pool(s)->n_groups;
}

const char *space_group_name(const struct space *s, unsigned group)
{
    return pool_space_pool(s)->groups[group];
}

int space_group_find(const struct space *s, const char *name)
{
    for (size_t g = 0; g < pool_space_pool(s)->n_groups; g++)
        if (strcmp(pool_space_pool(s)->groups[g], name) == 0) return (int)g;
    return -1;
}

unsigned space_slot_group(const struct space *s, uint32_t slot)
{
    return pool_space_pool(s)->choices[slot].group;
}

unsigned space_slot_arity(const struct space *s, uint32_t slot)
{
    return pool_space_pool(s)->choices[slot].n_arguments;
}

const char *space_slot_argument(const struct space *s, uint32_t slot, unsigned i)
{
    return pool_space_pool(s)->choices[slot].arguments[i];
}

uint32_t space_universe(const struct space *s, uint32_t slot)
{
    return pool_space_pool(s)->choices[slot].n_values;
}

/* A pool does not know which values have a common name. */
unsigned space_alias_count(const struct space *s, unsigned group)
{
    (void)s;
    (void)group;
    return 0;
}

uint64_t space_alias(const struct space *s, unsigned group, unsigned k)
{
    (void)s;
    PANIC("alias %u of group %u: a pool has none", k, group);
}

int64_t space_value_code(const struct space *s, uint32_t slot, uint32_t value)
{
    return pool_space_pool(s)->choices[slot].values[value].code;
}

int space_value_name(const struct space *s, uint32_t slot, uint32_t value, char *out, size_t n)
{
    return snprintf(out, n, "%s", pool_space_pool(s)->choices[slot].values[value].name);
}

int space_slot_name(const struct space *s, uint32_t slot, char *out, size_t n)
{
    return snprintf(out, n, "%s", pool_space_pool(s)->choices[slot].name);
}

/* ---- patterns ---- */

/* "order(a,b)", or "order(b,a)" if the arguments are flipped. */
static void print_name(const struct pool *p, const struct pool_choice *c, bool flipped, char *out)
{
    size_t n = (size_t)snprintf(out, NAME_BYTES, "%s", p->groups[c->group]);
    for (unsigned i = 0; i < c->n_arguments && n < NAME_BYTES; i++) {
        const char *argument = c->arguments[flipped ? c->n_arguments - 1 - i : i];
        n += (size_t)snprintf(out + n, NAME_BYTES - n, "%s%s%s", i ? "," : "(", argument,
                              i + 1 == c->n_arguments ? ")" : "");
    }
}

static void without_spaces(const char *text, char *out)
{
    for (; *text; text++)
        if (*text != ' ') *out++ = *text;
    *out = 0;
}

uint32_t space_slots_matching(const struct space *s, const char *pattern, uint32_t *slots)
{
    const struct pool *p = pool_space_pool(s);
    char wanted[NAME_BYTES], name[NAME_BYTES];
    uint32_t n = 0;
    if (strlen(pattern) >= sizeof wanted) return 0;
    without_spaces(pattern, wanted);
    for (uint32_t slot = 0; slot < p->n_choices; slot++) {
        const struct pool_choice *c = &p->choices[slot];
        bool matches = false;
        for (unsigned flipped = 0; !matches && flipped <= (c->n_arguments == 2); flipped++) {
            print_name(p, c, flipped, name);
            matches = fnmatch(wanted, name, FNM_NOESCAPE) == 0;
        }
        if (matches) slots[n++] = slot;
    }
    return n;
}
