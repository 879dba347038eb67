/* Reading "key=value,key=value". See parameter.h. */
#include "mcts/parameter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/similar.h"
#include "core/base/strbuf.h"

enum { KEY_MAX = 64, KNOWN_MAX = 64 };
static const char ROLLOUT[] = "rollout";

/* One "key=value" of a text. */
struct setting {
    const char *text;  /* the whole */
    size_t length;     /* of the whole */
    size_t key_length; /* of the key */
    const char *value; /* after the sign; NULL: there is none */
    size_t value_length;
};

static bool next_setting(const char **text, struct setting *s)
{
    if (!**text) return false;
    size_t length = strcspn(*text, ",");
    const char *equals = memchr(*text, '=', length);
    size_t key_length = equals ? (size_t)(equals - *text) : length;
    *s = (struct setting){.text = *text,
                          .length = length,
                          .key_length = key_length,
                          .value = equals ? equals + 1 : NULL,
                          .value_length = equals ? length - key_length - 1 : 0};
    *text += length + ((*text)[length] == ',');
    return true;
}

static bool key_is(const struct setting *s, const char *key)
{
    return strlen(key) == s->key_length && memcmp(key, s->text, s->key_length) == 0;
}

const char *mcts_parameter_text(const char *text, const char *key, size_t *n)
{
    struct setting s;
    const char *found = NULL;
    while (next_setting(&text, &s)) {
        if (!s.value || !key_is(&s, key)) continue;
        found = s.value;
        *n = s.value_length;
    }
    return found;
}

/* ---- values ---- */

static double *place_of(void *state, const struct mcts_parameter *p)
{
    return (double *)(void *)((char *)state + p->offset);
}

bool mcts_parameters_valid(const struct mcts_parameter *p, uint32_t n, size_t state_size)
{
    if (n && !p) return false;
    for (uint32_t i = 0; i < n; i++)
        if (!p[i].key || p[i].offset % sizeof(double) || p[i].offset > state_size ||
            state_size - p[i].offset < sizeof(double))
            return false;
    return true;
}

void mcts_parameters_set_defaults(const struct mcts_parameter_owner *o)
{
    for (uint32_t i = 0; i < o->n; i++)
        *place_of(o->state, &o->parameters[i]) = o->parameters[i].value;
}

static bool parse_word(const char *words, const struct setting *s, double *value)
{
    for (unsigned i = 0;; i++) {
        size_t n = strcspn(words, "|");
        if (n == s->value_length && memcmp(words, s->value, n) == 0) {
            *value = i;
            return true;
        }
        if (words[n] == 0) return false;
        words += n + 1;
    }
}

static bool parse_number(const struct setting *s, double *value)
{
    char copy[64], *end;
    if (s->value_length == 0 || s->value_length >= sizeof copy) return false;
    memcpy(copy, s->value, s->value_length);
    copy[s->value_length] = 0;
    *value = strtod(copy, &end);
    return *end == 0 && isfinite(*value);
}

static void set_value(const char *name, const struct mcts_parameter *p, void *state, const struct setting *s,
                      struct diag *d)
{
    double value;
    bool valid = p->words ? parse_word(p->words, s, &value)
                          : parse_number(s, &value) && value >= p->least && value <= p->most;
    if (valid)
        *place_of(state, p) = value;
    else if (p->words)
        diag_plain(d, "heuristic %s: '%.*s': expected one of %s", name, (int)s->length, s->text, p->words);
    else
        diag_plain(d, "heuristic %s: '%.*s': expected a number from %g to %g", name, (int)s->length, s->text,
                   p->least, p->most);
}

/* ---- keys ---- */

/* Names all keys that may be set, and the one that was probably meant. */
static void refuse_key(const char *name, const struct mcts_parameter_owner *owners, size_t n_owners,
                       const struct setting *s, struct diag *d)
{
    const char *known[KNOWN_MAX] = {ROLLOUT};
    size_t n = 1;
    char key[KEY_MAX];
    struct strbuf list = {0};
    for (size_t i = 0; i < n_owners; i++)
        for (uint32_t k = 0; owners[i].state && k < owners[i].n && n < KNOWN_MAX; k++)
            known[n++] = owners[i].parameters[k].key;
    for (size_t i = 1; i <= n; i++)
        strbuf_printf(&list, "%s%s", i > 1 ? ", " : "", known[i % n]);
    size_t length = s->key_length < KEY_MAX ? s->key_length : KEY_MAX - 1;
    memcpy(key, s->text, length);
    key[length] = 0;
    const char *similar = similar_find(key, known, n);
    if (similar)
        diag_plain(d, "heuristic %s: unknown parameter '%s'; did you mean '%s'?", name, key, similar);
    else
        diag_plain(d, "heuristic %s: unknown parameter '%s' (known: %s)", name, key, list.text);
    strbuf_free(&list);
}

/* The parameter of that key, and in *owner whose it is. */
static const struct mcts_parameter *find(const struct mcts_parameter_owner *owners, size_t n_owners,
                                         const struct setting *s, const struct mcts_parameter_owner **owner)
{
    for (size_t i = 0; i < n_owners; i++)
        for (uint32_t k = 0; k < owners[i].n; k++) {
            if (!key_is(s, owners[i].parameters[k].key)) continue;
            *owner = &owners[i];
            return &owners[i].parameters[k];
        }
    return NULL;
}

static void apply_setting(const char *name, const struct mcts_parameter_owner *owners, size_t n_owners,
                          const struct setting *s, struct diag *d)
{
    const struct mcts_parameter_owner *owner = NULL;
    if (!s->value) {
        diag_plain(d, "heuristic %s: '%.*s' is not of the form KEY=VALUE", name, (int)s->length, s->text);
        return;
    }
    const struct mcts_parameter *p = find(owners, n_owners, s, &owner);
    if (p && owner->state)
        set_value(name, p, owner->state, s, d);
    else if (p)
        diag_plain(d,
                   "heuristic %s: '%s' is a parameter of the rollout policy '%s', which is not in use: add "
                   "it to rollout=",
                   name, p->key, owner->name);
    else if (!key_is(s, ROLLOUT))
        refuse_key(name, owners, n_owners, s, d);
}

void mcts_parameters_set(const char *name, const struct mcts_parameter_owner *owners, size_t n_owners,
                         const char *text, struct diag *d)
{
    struct setting s;
    while (next_setting(&text, &s))
        apply_setting(name, owners, n_owners, &s, d);
}
