/* What slots, values and groups are called, and which slots a name or a pattern stands for:
 *
 *     size(mad.k.1)       one slot; spaces do not count, and a pair is named either way round
 *     size(m.*)           all slots whose name matches, * standing for any text */
#include "core/space/names/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/strbuf.h"
#include "core/space/data/lookup.h"

const struct space_def *space_definition(const struct space *s)
{
    return s->def;
}

uint64_t space_fingerprint(const struct space *s)
{
    return s->fingerprint;
}

uint32_t space_slot_count(const struct space *s)
{
    return s->n_slots;
}

size_t space_vector_bytes(const struct space *s)
{
    return s->canonical_bytes;
}

uint64_t space_propagation_count(const struct space *s)
{
    return atomic_load_explicit(s->propagations, memory_order_relaxed);
}

unsigned space_group_count(const struct space *s)
{
    return (unsigned)s->def->n_choices;
}

const char *space_group_name(const struct space *s, unsigned group)
{
    return s->def->choices[group].name;
}

int space_group_find(const struct space *s, const char *name)
{
    for (int i = 0; i < s->def->n_choices; i++)
        if (!strcmp(s->def->choices[i].name, name)) return i;
    return -1;
}

bool space_parameter(const struct space *s, const char *name, int64_t *value)
{
    for (int i = 0; i < s->def->n_parameters; i++) {
        if (strcmp(s->def->parameters[i].name, name) != 0) continue;
        *value = s->parameters[i];
        return true;
    }
    return false;
}

unsigned space_slot_group(const struct space *s, uint32_t slot)
{
    return s->slots[slot].group;
}

unsigned space_slot_arity(const struct space *s, uint32_t slot)
{
    return s->slots[slot].arity;
}

const char *space_slot_argument(const struct space *s, uint32_t slot, unsigned i)
{
    const struct slot_info *info = &s->slots[slot];
    const struct space_set *root = &s->def->sets[s->def->choices[info->group].args[i].root];
    uint32_t id = s->origins[slot].objects[i];
    if (root->range) return s->numbers[id];
    return data_object_name(s->data, root->name, id);
}

int space_slot_name(const struct space *s, uint32_t slot, char *out, size_t n)
{
    const struct slot_info *info = &s->slots[slot];
    struct strbuf b = {0};
    strbuf_add(&b, s->def->choices[info->group].name);
    for (unsigned i = 0; i < info->arity; i++) {
        strbuf_add(&b, i ? ", " : "(");
        strbuf_add(&b, space_slot_argument(s, slot, i));
    }
    if (info->arity) strbuf_add(&b, ")");
    int length = snprintf(out, n, "%s", b.text);
    strbuf_free(&b);
    return length;
}

unsigned space_alias_count(const struct space *s, unsigned group)
{
    const struct space_choice *c = &s->def->choices[group];
    return c->n_values <= 64 ? c->n_aliases : 0;
}

uint64_t space_alias(const struct space *s, unsigned group, unsigned k)
{
    return s->def->choices[group].aliases[k].mask;
}

uint32_t space_universe(const struct space *s, uint32_t slot)
{
    return slot_values(s, slot);
}

int64_t space_value_code(const struct space *s, uint32_t slot, uint32_t value)
{
    return s->universes[s->origins[slot].universe].codes[value];
}

int space_value_name(const struct space *s, uint32_t slot, uint32_t value, char *out, size_t n)
{
    const struct space_choice *c = &s->def->choices[s->slots[slot].group];
    if (c->n_values) return snprintf(out, n, "%s", c->value_names[value]);
    return snprintf(out, n, "%" PRId64, space_value_code(s, slot, value));
}

uint32_t space_slot_find(const struct space *s, unsigned group, const uint32_t *objects, unsigned n,
                         bool *flipped)
{
    const struct choice_index *index = &s->choices[group];
    const struct space_choice *c = &s->def->choices[group];
    size_t at = 0;
    if (flipped) *flipped = false;
    if (n != c->arity) return SPACE_NONE;
    for (unsigned i = 0; i < n; i++) {
        if (objects[i] < index->lo[i] || objects[i] - index->lo[i] >= index->sizes[i]) return SPACE_NONE;
        at = at * index->sizes[i] + (objects[i] - index->lo[i]);
    }
    if (flipped && c->pairing != SPACE_PLAIN) *flipped = objects[0] > objects[1];
    return index->slots[at];
}

uint32_t space_value_mirror(const struct space *s, uint32_t slot, uint32_t value)
{
    const struct space_choice *c = &s->def->choices[s->slots[slot].group];
    return c->n_values ? c->mirror[value] : value;
}

/* ---- names and patterns ---- */

/* Whether the text matches the pattern, in which * stands for any text. */
static bool matches(const char *pattern, const char *text)
{
    const char *star = NULL, *retry = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            retry = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

/* Without spaces. */
static void compact(const char *name, char *out, size_t room)
{
    size_t n = 0;
    for (const char *c = name; *c && n + 1 < room; c++)
        if (*c != ' ') out[n++] = *c;
    out[n] = 0;
}

static void compact_name(const struct space *s, uint32_t slot, bool flip, char *out, size_t room)
{
    char name[NAME_BYTES];
    if (flip)
        snprintf(name, sizeof name, "%s(%s,%s)", space_group_name(s, space_slot_group(s, slot)),
                 space_slot_argument(s, slot, 1), space_slot_argument(s, slot, 0));
    else
        space_slot_name(s, slot, name, sizeof name);
    compact(name, out, room);
}

unsigned names_ways_round(const struct space *s, uint32_t slot)
{
    return s->def->choices[s->slots[slot].group].pairing != SPACE_PLAIN ? 2 : 1;
}

uint32_t space_slot_named(const struct space *s, const char *name, bool *flipped)
{
    char wanted[NAME_BYTES], slot[NAME_BYTES];
    compact(name, wanted, sizeof wanted);
    for (uint32_t i = 0; i < s->n_slots; i++) {
        for (unsigned flip = 0; flip < names_ways_round(s, i); flip++) {
            compact_name(s, i, flip, slot, sizeof slot);
            *flipped = flip;
            if (!strcmp(slot, wanted)) return i;
        }
    }
    return UINT32_MAX;
}

bool names_match(const struct space *s, uint32_t slot, bool flip, const char *pattern)
{
    char name[NAME_BYTES];
    compact_name(s, slot, flip, name, sizeof name);
    return matches(pattern, name);
}

uint32_t space_slots_matching(const struct space *s, const char *pattern, uint32_t *slots)
{
    char wanted[NAME_BYTES];
    uint32_t n = 0;
    if (strlen(pattern) >= NAME_BYTES) return 0;
    compact(pattern, wanted, sizeof wanted);
    for (uint32_t i = 0; i < s->n_slots; i++) {
        bool called = false;
        for (unsigned flip = 0; flip < names_ways_round(s, i) && !called; flip++)
            called = names_match(s, i, flip, wanted);
        if (called) slots[n++] = i;
    }
    return n;
}
