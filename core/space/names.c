/* What slots, values and groups are called, and the pins that name them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/panic.h"
#include "core/base/strbuf.h"
#include "core/space/hint.h"
#include "core/space/internal.h"

enum { NAME_BYTES = 512 };

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

/* ---- pins ---- */

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

struct pin {
    char slot[NAME_BYTES];   /* "size(mad.k.1)" without spaces */
    char values[NAME_BYTES]; /* "LOOP|UNROLL" */
};

static bool split_pin(const char *text, struct pin *p)
{
    const char *equals = strrchr(text, '=');
    size_t n = 0;
    if (!equals || strlen(text) >= NAME_BYTES) return false;
    for (const char *c = text; c < equals; c++)
        if (*c != ' ') p->slot[n++] = *c;
    p->slot[n] = 0;
    n = 0;
    for (const char *c = equals + 1; *c; c++)
        if (*c != ' ') p->values[n++] = *c;
    p->values[n] = 0;
    return p->slot[0] && p->values[0];
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

/* How many ways round a choice can be named. */
static unsigned ways_round(const struct space *s, uint32_t slot)
{
    return s->def->choices[s->slots[slot].group].pairing != SPACE_PLAIN ? 2 : 1;
}

uint32_t space_slot_named(const struct space *s, const char *name, bool *flipped)
{
    char wanted[NAME_BYTES], slot[NAME_BYTES];
    compact(name, wanted, sizeof wanted);
    for (uint32_t i = 0; i < s->n_slots; i++) {
        for (unsigned flip = 0; flip < ways_round(s, i); flip++) {
            compact_name(s, i, flip, slot, sizeof slot);
            *flipped = flip;
            if (!strcmp(slot, wanted)) return i;
        }
    }
    return UINT32_MAX;
}

/* Whether a pattern without spaces matches what a choice is called one way round. */
static bool is_called(const struct space *s, uint32_t slot, bool flip, const char *pattern)
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
        for (unsigned flip = 0; flip < ways_round(s, i) && !called; flip++)
            called = is_called(s, i, flip, wanted);
        if (called) slots[n++] = i;
    }
    return n;
}

/* Marks the values of one name: a value, an alias or a number. false: the slot has no such value. */
static bool allow_value(const struct space *s, uint32_t slot, const char *name, bool flip, uint64_t *allowed)
{
    const struct space_choice *c = &s->def->choices[s->slots[slot].group];
    uint64_t alias = 0;
    bool found = false;
    for (unsigned i = 0; i < c->n_aliases; i++)
        if (!strcmp(c->aliases[i].name, name)) alias = c->aliases[i].mask;
    for (uint32_t v = 0; v < space_universe(s, slot); v++) {
        char text[NAME_BYTES];
        space_value_name(s, slot, v, text, sizeof text);
        if (strcmp(text, name) && !(v < 64 && alias >> v & 1)) continue;
        uint32_t own = flip ? space_value_mirror(s, slot, v) : v;
        allowed[own / 64] |= UINT64_C(1) << own % 64;
        found = true;
    }
    return found;
}

static bool allow_values(const struct space *s, uint32_t slot, const char *values, bool flip,
                         uint64_t *allowed)
{
    char text[NAME_BYTES], *rest = text;
    snprintf(text, sizeof text, "%s", values);
    memset(allowed, 0, s->slots[slot].words * sizeof *allowed);
    bool any = false;
    while (rest) {
        char *bar = strchr(rest, '|'), *next = bar ? bar + 1 : NULL;
        if (bar) *bar = 0;
        any = allow_value(s, slot, rest, flip, allowed) || any;
        rest = next;
    }
    return any;
}

/* Whether a choice that the pin is of has a value of that name. */
static bool is_named(const struct space *s, const struct pin *p, const char *name)
{
    uint64_t allowed[SPACE_MAX_VALUES / 64] = {0};
    for (uint32_t i = 0; i < s->n_slots; i++)
        for (unsigned flip = 0; flip < ways_round(s, i); flip++)
            if (is_called(s, i, flip, p->slot) && allow_value(s, i, name, flip, allowed)) return true;
    return false;
}

/* Says which values the first choice that the pin is of has. */
static void refuse_value(const struct space *s, const struct pin *p, const char *pin, const char *value,
                         struct diag *d)
{
    struct strbuf hint = {0};
    for (uint32_t i = 0; i < s->n_slots && hint.length == 0; i++)
        for (unsigned flip = 0; flip < ways_round(s, i) && hint.length == 0; flip++)
            if (is_called(s, i, flip, p->slot)) space_hint_value(s, i, value, &hint);
    diag_plain(d, "pin '%s': '%s' is not a value of its choice%s", pin, value, hint.text ? hint.text : "");
    strbuf_free(&hint);
}

static void refuse_choice(const struct space *s, const struct pin *p, const char *pin, struct diag *d)
{
    struct strbuf hint = {0};
    space_hint_choice(s, p->slot, &hint);
    diag_plain(d, "pin '%s' matches no choice%s", pin, hint.text ? hint.text : "");
    strbuf_free(&hint);
}

/* Refuses an alternative that is no value of any choice that the pin is of. Numbers may be values of other
 * instances of the space. */
static bool check_names(const struct space *s, const struct pin *p, const char *pin, struct diag *d)
{
    char text[NAME_BYTES], *rest = text;
    snprintf(text, sizeof text, "%s", p->values);
    for (char *name; (name = strtok_r(rest, "|", &rest));) {
        bool number = name[strspn(name, "-0123456789")] == 0;
        if (number || is_named(s, p, name)) continue;
        refuse_value(s, p, pin, name, d);
        return false;
    }
    return true;
}

bool space_parse_pin(const struct space *s, const char *text, struct diag *d,
                     void (*each)(void *ctx, uint32_t slot, const uint64_t *allowed, unsigned words),
                     void *ctx)
{
    struct pin p;
    uint64_t allowed[SPACE_MAX_VALUES / 64];
    bool matched = false, known = false;
    if (!split_pin(text, &p)) {
        diag_plain(d, "pin '%s' is not of the form CHOICE(ARGS)=VALUE", text);
        return false;
    }
    for (uint32_t i = 0; i < s->n_slots; i++) {
        for (unsigned flip = 0; flip < ways_round(s, i); flip++) {
            if (!is_called(s, i, flip, p.slot)) continue;
            matched = true;
            if (!allow_values(s, i, p.values, flip, allowed)) continue;
            known = true;
            each(ctx, i, allowed, s->slots[i].words);
            break;
        }
    }
    if (!matched)
        refuse_choice(s, &p, text, d);
    else if (!known)
        refuse_value(s, &p, text, p.values, d);
    return known && check_names(s, &p, text, d);
}

struct pinning {
    struct space_state *state;
    struct space_failure why;
    bool failed, possible; /* no value is left; a choice that the pin restricts may matter */
};

static void restrict_slot(void *context, uint32_t slot, const uint64_t *allowed, unsigned words)
{
    struct pinning *p = context;
    p->failed = p->failed || !space_restrict(p->state, slot, allowed, words, &p->why);
    p->possible = p->possible || (!p->failed && !space_is_dead(p->state, slot));
}

static bool apply_pin(struct space_state *st, const char *pin, struct diag *d)
{
    struct pinning p = {.state = st};
    if (!space_parse_pin(st->space, pin, d, restrict_slot, &p)) return false;
    if (p.failed && p.why.line > 0)
        diag_plain(d, "pin '%s' makes the space empty (%s:%u: %s)", pin, p.why.file, p.why.line, p.why.text);
    else if (p.failed)
        diag_plain(d, "pin '%s' makes the space empty: %s", pin, p.why.text);
    else if (!p.possible)
        diag_plain(d, "pin '%s': no candidate has this choice with this value and the pins before it", pin);
    return !p.failed && p.possible;
}

struct space_state *space_pinned_root(const struct space *s, const char *const *pins, unsigned n,
                                      struct diag *d)
{
    struct space_failure why = {0};
    struct space_state *st = space_root(s, &why);
    if (!st) diag_plain(d, "the space is empty (%s:%u: %s)", why.file, why.line, why.text);
    for (unsigned i = 0; st && i < n; i++) {
        if (apply_pin(st, pins[i], d)) continue;
        space_state_free(st);
        st = NULL;
    }
    return st;
}
