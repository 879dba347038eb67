/* Parsing the prior and resolving it: for each slot, the rules about its choice whose facts hold, each with
 * the slots that its other conditions look at. After that a weight is a few comparisons of integer codes.
 * Names come from the text and from the space, so that this file knows no space. An example:
 *
 *     dim_kind if gpu 1, size 8..64: THREAD=3
 *
 * On a GPU (the fact gpu is 1) the slot dim_kind(mad.k.1) keeps this rule with the slot of size(k.1). Once
 * that is decided, and is 8 to 64, the value THREAD weighs three times as much; a rule whose facts do not
 * hold is dropped when the prior is resolved. */
#include "mcts/prior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"

enum { NAME_BYTES = 64, MAX_ENTRIES = 16, MAX_CONDITIONS = 4, LINE_BYTES = 400, TEXT_BYTES = 256 };

struct range {
    double low, high;
};

/* VALUE=WEIGHT; an entry has a name or a range, or is of the slot's least value. */
struct entry {
    char name[NAME_BYTES];
    bool least;
    struct range range;
    double weight;
};

struct condition {
    char name[NAME_BYTES];
    struct range range;
};

struct rule {
    bool like; /* the weight is entries[0].weight, the choice named conditions[0].name */
    unsigned line, group, n_conditions, n_entries;
    struct condition conditions[MAX_CONDITIONS];
    struct entry entries[MAX_ENTRIES];
};

/* A rule at a slot: where its conditions look; UINT32_MAX: a fact that holds. */
struct use {
    const struct rule *rule;
    uint32_t slot;
    uint32_t looks_at[MAX_CONDITIONS];
};

struct mcts_prior {
    const struct space *space;
    struct rule *rules;
    unsigned n_rules;
    struct use *uses;
    uint32_t n_uses, use_capacity;
    uint32_t *first; /* [slots + 1]: uses of slot i are first[i] .. first[i + 1] - 1 */
};

/* ---- reading ---- */

static bool parse_number(const char **at, double *out)
{
    char *end;
    *out = strtod(*at, &end);
    bool ok = end != *at && isfinite(*out);
    *at = end;
    return ok;
}

static bool blank(const char *line)
{
    return line[strspn(line, " \t")] == 0;
}

/* "N", "N..M", "N.."; strtod would take the first dot. */
static bool parse_range(const char *text, struct range *out)
{
    char low[NAME_BYTES];
    const char *dots = strstr(text, "..");
    size_t n = dots ? (size_t)(dots - text) : strlen(text);
    if (n == 0 || n >= sizeof low) return false;
    memcpy(low, text, n);
    low[n] = 0;
    const char *at = low, *after = dots ? dots + 2 : NULL;
    if (!parse_number(&at, &out->low) || *at) return false;
    out->high = dots ? INFINITY : out->low;
    return !after || !*after || (parse_number(&after, &out->high) && !*after);
}

static bool copy_name(char *to, const char *from)
{
    size_t n = strlen(from);
    if (n == 0 || n >= NAME_BYTES) return false;
    memcpy(to, from, n + 1);
    return true;
}

static bool parse_conditions(struct rule *r, char *text)
{
    for (char *part, *rest = text; (part = strtok_r(rest, ",", &rest));) {
        char *words = part, *name = strtok_r(words, " ", &words), *range = strtok_r(words, " ", &words);
        if (r->n_conditions == MAX_CONDITIONS || !name || !range || strtok_r(words, " ", &words))
            return false;
        struct condition *c = &r->conditions[r->n_conditions++];
        if (!copy_name(c->name, name) || !parse_range(range, &c->range)) return false;
    }
    return r->n_conditions > 0;
}

static bool parse_entries(struct rule *r, char *text)
{
    for (char *word, *rest = text; (word = strtok_r(rest, " ", &rest));) {
        char *equals = strchr(word, '=');
        if (!equals || r->n_entries == MAX_ENTRIES) return false;
        const char *weight = equals + 1;
        *equals = 0;
        struct entry *e = &r->entries[r->n_entries++];
        if (!copy_name(e->name, word) || !parse_number(&weight, &e->weight) || *weight || e->weight < 0)
            return false;
        e->least = strcmp(word, "least") == 0;
        if (parse_range(word, &e->range) || e->least) e->name[0] = 0;
    }
    return r->n_entries > 0;
}

static bool parse_like(struct rule *r, const char *name, const char *weight)
{
    weight += strspn(weight, " ");
    r->like = true;
    r->n_conditions = r->n_entries = 1;
    r->conditions[0].range = (struct range){-INFINITY, INFINITY};
    return copy_name(r->conditions[0].name, name) && parse_number(&weight, &r->entries[0].weight) &&
           r->entries[0].weight >= 0 && blank(weight);
}

/* One line without its comment. Returns what is wrong with it, NULL if nothing is. */
static const char *parse_rule(struct rule *r, char *line, const struct space *s)
{
    char *colon = strchr(line, ':');
    if (!colon) return "expected 'CHOICE [if NAME RANGE, ...]: VALUE=WEIGHT ...'";
    *colon = 0;
    char *rest = line, *choice = strtok_r(rest, " ", &rest), *word = strtok_r(rest, " ", &rest);
    int group = choice ? space_group_find(s, choice) : -1;
    if (group < 0) return "no such choice";
    r->group = (unsigned)group;
    if (word && strcmp(word, "like") == 0) {
        word = strtok_r(rest, " ", &rest);
        return word && parse_like(r, word, colon + 1) ? NULL : "expected 'CHOICE like NAME: WEIGHT'";
    }
    if (word && (strcmp(word, "if") != 0 || !parse_conditions(r, rest))) return "malformed condition";
    return parse_entries(r, colon + 1) ? NULL : "malformed values: expected VALUE=WEIGHT";
}

static void parse_text(struct mcts_prior *p, const char *text, struct diag *d)
{
    char line[LINE_BYTES];
    for (unsigned number = 1; *text; number++) {
        size_t n = strcspn(text, "\n"), kept = n < LINE_BYTES ? n : LINE_BYTES - 1;
        memcpy(line, text, kept);
        line[kept] = 0;
        line[strcspn(line, "#")] = 0;
        text += n + (text[n] == '\n');
        if (blank(line)) continue;
        p->rules = base_realloc(p->rules, (p->n_rules + 1) * sizeof p->rules[0]);
        struct rule *r = &p->rules[p->n_rules++];
        *r = (struct rule){.line = number};
        const char *wrong = parse_rule(r, line, p->space);
        if (wrong) diag_plain(d, "prior, line %u: %s", number, wrong);
    }
}

/* ---- resolving ---- */

/* Whether `name` is `object` or ends with "." and it. */
static bool ends_with(const char *name, const char *object)
{
    size_t n = strlen(name), m = strlen(object);
    return n >= m && strcmp(name + n - m, object) == 0 && (n == m || name[n - m - 1] == '.');
}

/* The slot of a choice of one argument whose object ends this slot's first argument. */
static uint32_t related_slot(const struct space *s, uint32_t slot, unsigned group)
{
    const char *name = space_slot_arity(s, slot) ? space_slot_argument(s, slot, 0) : "";
    for (uint32_t i = 0; i < space_slot_count(s); i++)
        if (space_slot_group(s, i) == group && space_slot_arity(s, i) == 1 &&
            ends_with(name, space_slot_argument(s, i, 0)))
            return i;
    return UINT32_MAX;
}

static bool inside(double x, struct range r)
{
    return x >= r.low && x <= r.high;
}

static const struct mcts_fact *find_fact(const char *name, const struct mcts_fact *facts, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (strcmp(facts[i].name, name) == 0) return &facts[i];
    return NULL;
}

/* Whether the rule can hold at the slot; fills in where it looks. */
static bool resolve(const struct mcts_prior *p, struct use *u, uint32_t slot, const struct mcts_fact *facts,
                    unsigned n_facts)
{
    for (unsigned i = 0; i < u->rule->n_conditions; i++) {
        const struct condition *c = &u->rule->conditions[i];
        const struct mcts_fact *fact = find_fact(c->name, facts, n_facts);
        int group = space_group_find(p->space, c->name);
        u->looks_at[i] = fact ? UINT32_MAX : related_slot(p->space, slot, (unsigned)group);
        if (fact ? !inside(fact->value, c->range) : u->looks_at[i] == UINT32_MAX) return false;
    }
    return true;
}

static void resolve_all(struct mcts_prior *p, const struct mcts_fact *facts, unsigned n_facts)
{
    uint32_t slots = space_slot_count(p->space);
    p->first = base_calloc(slots + 1, sizeof p->first[0]);
    for (uint32_t slot = 0; slot < slots; slot++) {
        for (unsigned r = 0; r < p->n_rules; r++) {
            struct use u = {&p->rules[r], slot, {0}};
            if (u.rule->group != space_slot_group(p->space, slot) || !resolve(p, &u, slot, facts, n_facts))
                continue;
            if (p->n_uses == p->use_capacity) {
                p->use_capacity = 2 * p->use_capacity + 64;
                p->uses = base_realloc(p->uses, p->use_capacity * sizeof p->uses[0]);
            }
            p->uses[p->n_uses++] = u;
        }
        p->first[slot + 1] = p->n_uses;
    }
}

static void check_names(const struct mcts_prior *p, const struct mcts_fact *facts, unsigned n_facts,
                        struct diag *d)
{
    for (unsigned r = 0; r < p->n_rules; r++)
        for (unsigned i = 0; i < p->rules[r].n_conditions; i++) {
            const char *name = p->rules[r].conditions[i].name;
            if (!find_fact(name, facts, n_facts) && space_group_find(p->space, name) < 0)
                diag_plain(d, "prior, line %u: '%s' is neither a fact nor a choice", p->rules[r].line, name);
        }
}

struct mcts_prior *mcts_prior_new(const char *text, const struct space *s, const struct mcts_fact *facts,
                                  unsigned n_facts, struct diag *d)
{
    struct mcts_prior *p = base_calloc(1, sizeof *p);
    size_t before = diag_count(d);
    p->space = s;
    parse_text(p, text, d);
    check_names(p, facts, n_facts, d);
    if (diag_count(d) == before) {
        resolve_all(p, facts, n_facts);
        return p;
    }
    mcts_prior_free(p);
    return NULL;
}

void mcts_prior_free(struct mcts_prior *p)
{
    if (!p) return;
    free(p->rules);
    free(p->uses);
    free(p->first);
    free(p);
}

/* ---- weights ---- */

static bool holds(const struct mcts_prior *p, const struct use *u, const struct space_state *state)
{
    for (unsigned i = 0; i < u->rule->n_conditions; i++) {
        uint32_t slot = u->looks_at[i];
        if (slot == UINT32_MAX) continue;
        if (!space_is_live(state, slot) || space_value_count(state, slot) != 1) return false;
        double code = (double)space_value_code(p->space, slot, space_first_value(state, slot));
        if (!inside(code, u->rule->conditions[i].range)) return false;
    }
    return true;
}

static double entry_weight(const struct mcts_prior *p, const struct rule *r, struct space_action action)
{
    char name[NAME_BYTES];
    double code = (double)space_value_code(p->space, action.slot, action.value);
    space_value_name(p->space, action.slot, action.value, name, sizeof name);
    for (unsigned i = 0; i < r->n_entries; i++) {
        const struct entry *e = &r->entries[i];
        bool met = e->least     ? code == (double)space_value_code(p->space, action.slot, 0)
                   : e->name[0] ? strcmp(e->name, name) == 0
                                : inside(code, e->range);
        if (met) return e->weight;
    }
    return 1;
}

/* Whether another slot of the choice, about the same object, has been given the value. */
static bool is_like(const struct mcts_prior *p, const struct use *u, const struct space_state *state,
                    struct space_action action)
{
    int64_t code = space_value_code(p->space, action.slot, action.value);
    for (uint32_t i = 0; i < p->n_uses; i++) {
        const struct use *other = &p->uses[i];
        uint32_t slot = other->slot;
        if (other->rule == u->rule && other->looks_at[0] == u->looks_at[0] && slot != u->slot &&
            space_is_live(state, slot) && space_value_count(state, slot) == 1 &&
            space_value_code(p->space, slot, space_first_value(state, slot)) == code)
            return true;
    }
    return false;
}

double mcts_prior_weight(void *prior, const struct space_state *state, struct space_action action)
{
    const struct mcts_prior *p = prior;
    double weight = 1;
    for (uint32_t i = p->first[action.slot]; i < p->first[action.slot + 1]; i++) {
        const struct use *u = &p->uses[i];
        if (u->rule->like)
            weight *= is_like(p, u, state, action) ? u->rule->entries[0].weight : 1;
        else if (holds(p, u, state))
            weight *= entry_weight(p, u->rule, action);
    }
    return weight;
}
