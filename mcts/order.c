/* Reading orders of choices. A slot is in the list of at most one pattern, and none that a group named before
 * has, so that all lists together fit in one array of the space's slots. Groups are parts as they are:
 * choices of theirs that a list before them has are decided by then. */
#include "mcts/order.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/space/hint.h"

struct reading {
    const struct space *space;
    struct mcts_order *order;
    bool *listed;      /* [groups] that are parts */
    bool *taken;       /* [slots] that parts have */
    uint32_t *matched; /* [slots] scratch */
    uint32_t n_slots;  /* that lists have */
    struct diag *diag;
};

static void add_group(struct reading *r, unsigned group)
{
    r->order->parts[r->order->n++] = (struct space_part){.group = group};
    r->listed[group] = true;
    for (uint32_t i = 0; i < space_slot_count(r->space); i++)
        if (space_slot_group(r->space, i) == group) r->taken[i] = true;
}

/* With what may be meant. */
static void refuse(struct reading *r, const char *name, const char *message)
{
    struct strbuf hint = {0};
    space_hint_choice(r->space, name, &hint);
    diag_plain(r->diag, "--order: '%s' %s%s", name, message, hint.text ? hint.text : "");
    strbuf_free(&hint);
}

static bool add_named(struct reading *r, const char *name)
{
    int group = space_group_find(r->space, name);
    if (group >= 0 && !r->listed[group]) {
        add_group(r, (unsigned)group);
        return true;
    }
    if (group < 0)
        refuse(r, name, "is not a choice");
    else
        diag_plain(r->diag, "--order: '%s' appears twice", name);
    return false;
}

static bool add_matching(struct reading *r, const char *pattern)
{
    uint32_t n = space_slots_matching(r->space, pattern, r->matched);
    struct space_part part = {.slots = r->order->slots + r->n_slots};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slot = r->matched[i];
        if (r->taken[slot]) continue;
        r->taken[slot] = true;
        r->order->slots[r->n_slots++] = slot;
        part.n++;
    }
    if (part.n > 0)
        r->order->parts[r->order->n++] = part;
    else if (n > 0)
        diag_plain(r->diag, "--order: '%s' has no effect: the entries before it contain all its choices",
                   pattern);
    else
        refuse(r, pattern, "matches no choice");
    return part.n > 0;
}

/* How long the first item is: up to a comma or a space outside parentheses, but for spaces before one. */
static size_t item_length(const char *text)
{
    unsigned depth = 0;
    size_t n = 0;
    for (; text[n]; n++) {
        bool space = text[n] == ' ' && text[n + strspn(text + n, " ")] != '(';
        if (depth == 0 && (space || text[n] == ',')) break;
        if (text[n] == '(') depth++;
        if (text[n] == ')' && depth > 0) depth--;
    }
    return n;
}

/* Cuts the text at the ends of its items. */
static bool read_items(struct reading *r, char *text)
{
    bool valid = true;
    for (char *item = text + strspn(text, ", "); valid && *item;) {
        char *end = item + item_length(item), *next = end + strspn(end, ", ");
        *end = 0;
        valid = strpbrk(item, "(*") ? add_matching(r, item) : add_named(r, item);
        item = next;
    }
    return valid;
}

bool mcts_order_parse(const struct space *s, const char *text, struct mcts_order *out, struct diag *d)
{
    uint32_t slots = space_slot_count(s);
    unsigned groups = space_group_count(s);
    char *copy = base_strdup(text ? text : "");
    size_t most_items = strlen(copy) / 2 + 1;
    *out = (struct mcts_order){.parts = base_calloc(most_items + groups, sizeof *out->parts),
                               .slots = base_calloc((size_t)slots + 1, sizeof *out->slots)};
    struct reading r = {.space = s,
                        .order = out,
                        .listed = base_calloc(groups + 1, sizeof *r.listed),
                        .taken = base_calloc((size_t)slots + 1, sizeof *r.taken),
                        .matched = base_calloc((size_t)slots + 1, sizeof *r.matched),
                        .diag = d};
    bool valid = read_items(&r, copy);
    for (unsigned g = 0; valid && g < groups; g++)
        if (!r.listed[g]) add_group(&r, g);
    if (!valid) mcts_order_free(out);
    free(r.listed);
    free(r.taken);
    free(r.matched);
    free(copy);
    return valid;
}

struct mcts_order mcts_order_copy(const struct space_part *parts, unsigned n)
{
    size_t slots = 0;
    for (unsigned i = 0; i < n; i++)
        slots += parts[i].slots ? parts[i].n : 0;
    struct mcts_order copy = {.parts = base_malloc((n + 1) * sizeof *copy.parts),
                              .n = n,
                              .slots = base_malloc((slots + 1) * sizeof *copy.slots)};
    uint32_t *list = copy.slots;
    for (unsigned i = 0; i < n; i++) {
        copy.parts[i] = parts[i];
        if (!parts[i].slots) continue;
        memcpy(list, parts[i].slots, parts[i].n * sizeof *list);
        copy.parts[i].slots = list;
        list += parts[i].n;
    }
    return copy;
}

void mcts_order_free(struct mcts_order *o)
{
    free(o->parts);
    free(o->slots);
    *o = (struct mcts_order){0};
}
