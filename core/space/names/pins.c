/* Pins: "CHOICE(ARGS)=VALUE|VALUE" restricts the choices that its left side matches to the values on its
 * right side, which are names of values, aliases or numbers. A pin of a pair that is named the other way
 * round has mirrored values. */
#include <stdio.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/space/hint.h"
#include "core/space/names/names.h"

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
        for (unsigned flip = 0; flip < names_ways_round(s, i); flip++)
            if (names_match(s, i, flip, p->slot) && allow_value(s, i, name, flip, allowed)) return true;
    return false;
}

/* Says which values the first choice that the pin is of has. */
static void refuse_value(const struct space *s, const struct pin *p, const char *pin, const char *value,
                         struct diag *d)
{
    struct strbuf hint = {0};
    for (uint32_t i = 0; i < s->n_slots && hint.length == 0; i++)
        for (unsigned flip = 0; flip < names_ways_round(s, i) && hint.length == 0; flip++)
            if (names_match(s, i, flip, p->slot)) space_hint_value(s, i, value, &hint);
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
        for (unsigned flip = 0; flip < names_ways_round(s, i); flip++) {
            if (!names_match(s, i, flip, p.slot)) continue;
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
    if (!space_parse_pin(space_of(st), pin, d, restrict_slot, &p)) return false;
    if (p.failed && p.why.line > 0)
        diag_plain(d, "pin '%s' makes the space empty (%s:%u: %s)", pin, p.why.file, p.why.line, p.why.text);
    else if (p.failed)
        diag_plain(d, "pin '%s' makes the space empty: %s", pin, p.why.text);
    else if (!p.possible)
        diag_plain(d, "pin '%s': no candidate has this value together with the pins before it", pin);
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
