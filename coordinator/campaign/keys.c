/* Keys of campaign files. Each function reads the value of one key into the block of the map; every error has
 * the place of the value that is wrong. */
#include "coordinator/campaign/keys.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/campaign/sizes.h"
#include "coordinator/limits.h"
#include "core/backbone/parameter.h"
#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/base/similar.h"
#include "core/base/strbuf.h"

/* ---- maps ---- */

enum { MOST_KEYS = 32 };

static bool refuse_key(struct campaign_node key, const char *what, const struct campaign_key *keys, size_t n,
                       struct diag *d)
{
    const char *names[MOST_KEYS], *text = campaign_node_text(key);
    struct strbuf known = {0};
    for (size_t i = 0; i < n; i++) {
        names[i] = keys[i].name;
        strbuf_printf(&known, "%s%s", i ? ", " : "", keys[i].name);
    }
    const char *near = similar_find(text, names, n);
    if (near)
        campaign_node_error(key, d, "unknown key '%s' of %s; did you mean '%s'?", text, what, near);
    else
        campaign_node_error(key, d, "unknown key '%s' of %s; expected one of %s", text, what, known.text);
    strbuf_free(&known);
    return false;
}

static bool is_repeated(struct campaign_node n, size_t i)
{
    const char *text = campaign_node_text(campaign_node_key(n, i));
    for (size_t k = 0; k < i; k++)
        if (strcmp(campaign_node_text(campaign_node_key(n, k)), text) == 0) return true;
    return false;
}

static bool read_key(struct campaign_node n, size_t i, const char *what, const struct campaign_key *keys,
                     size_t n_keys, struct campaign_reader *r)
{
    struct campaign_node key = campaign_node_key(n, i);
    const char *text = campaign_node_text(key);
    if (campaign_node_kind(key) != CAMPAIGN_TEXT)
        return campaign_node_error(key, r->diag, "%s as a key of %s", campaign_node_kind_name(key), what);
    if (is_repeated(n, i)) return campaign_node_error(key, r->diag, "'%s' is given twice", text);
    for (size_t k = 0; k < n_keys; k++)
        if (strcmp(keys[k].name, text) == 0) return keys[k].read(r, campaign_node_item(n, i));
    return refuse_key(key, what, keys, n_keys, r->diag);
}

bool campaign_read_map(struct campaign_node n, const char *what, const struct campaign_key *keys,
                       size_t n_keys, struct campaign_reader *r)
{
    bool ok = true;
    if (campaign_node_kind(n) != CAMPAIGN_MAP)
        return campaign_node_error(n, r->diag, "%s must be a map of keys, not %s", what,
                                   campaign_node_kind_name(n));
    for (size_t i = 0; i < campaign_node_count(n); i++)
        ok = read_key(n, i, what, keys, n_keys, r) && ok;
    return ok;
}

/* ---- texts ---- */

const char *campaign_read_text(struct campaign_node n, const char *what, struct diag *d)
{
    const char *text = campaign_node_text(n);
    if (campaign_node_kind(n) != CAMPAIGN_TEXT)
        campaign_node_error(n, d, "%s is %s; it must be a text", what, campaign_node_kind_name(n));
    else if (!*text)
        campaign_node_error(n, d, "%s has no value", what);
    else
        return text;
    return NULL;
}

/* A text, or a list of at most `most` texts. */
static bool read_texts(struct campaign_node n, const char *what, unsigned most, struct arena *a,
                       const char ***out, unsigned *n_out, struct diag *d)
{
    bool list = campaign_node_kind(n) == CAMPAIGN_LIST, ok = true;
    size_t count = list ? campaign_node_count(n) : 1;
    if (count > most) return campaign_node_error(n, d, "%s has more than %u items", what, most);
    *out = ARENA_ARRAY(a, const char *, count + 1);
    *n_out = (unsigned)count;
    for (size_t i = 0; i < count; i++) {
        (*out)[i] = campaign_read_text(list ? campaign_node_item(n, i) : n, what, d);
        ok = ok && (*out)[i];
    }
    return ok;
}

bool campaign_read_devices(struct campaign_reader *r, struct campaign_node n)
{
    enum { MOST = 64 };
    struct campaign_block *b = r->block;
    if (campaign_node_kind(n) == CAMPAIGN_LIST && campaign_node_count(n) == 0)
        return campaign_node_error(n, r->diag, "device has no value");
    return read_texts(n, "device", MOST, r->campaign->arena, &b->devices, &b->n_devices, r->diag);
}

bool campaign_read_heuristic(struct campaign_reader *r, struct campaign_node n)
{
    r->block->settings.heuristic = campaign_read_text(n, "heuristic", r->diag);
    return r->block->settings.heuristic != NULL;
}

bool campaign_read_order(struct campaign_reader *r, struct campaign_node n)
{
    r->block->settings.order = campaign_read_text(n, "order", r->diag);
    r->block->order = n;
    return r->block->settings.order != NULL;
}

bool campaign_read_pins(struct campaign_reader *r, struct campaign_node n)
{
    struct campaign_settings *s = &r->block->settings;
    r->block->pins = n;
    return read_texts(n, "pins", CAMPAIGN_MOST_PINS, r->campaign->arena, &s->pins, &s->n_pins, r->diag);
}

/* ---- parameters of gpu.space ---- */

enum { MOST_PARAMETERS = 64 };

/* A text, or a list of texts, which are joined with commas as in an option; NULL if the list is empty. */
static bool read_joined(struct campaign_reader *r, struct campaign_node n, const char *what, const char **out)
{
    const char **items;
    unsigned count;
    struct arena *a = r->campaign->arena;
    if (!read_texts(n, what, MOST_PARAMETERS, a, &items, &count, r->diag)) return false;
    *out = count ? items[0] : NULL;
    for (unsigned i = 1; i < count; i++)
        *out = arena_printf(a, "%s,%s", *out, items[i]);
    return true;
}

/* Whether an option would take the text; NULL: there is none. Messages begin with the option's name, which is
 * that of the key behind two hyphens. */
static bool try_option(bool (*parse)(const char *text, struct bb_options *o, struct diag *d),
                       const char *text, struct campaign_node n, struct diag *d)
{
    static const char before[] = "error: --";
    struct bb_options ignored = {0};
    struct diag *own = diag_new();
    bool ok = !text || parse(text, &ignored, own);
    if (!ok) {
        const char *why = diag_message(own, 0);
        bool named = strncmp(why, before, strlen(before)) == 0;
        campaign_node_error(n, d, "%s", why + (named ? strlen(before) : 0));
    }
    diag_free(own);
    return ok;
}

bool campaign_read_param(struct campaign_reader *r, struct campaign_node n)
{
    const char **text = &r->block->settings.param;
    return read_joined(r, n, "param", text) && try_option(bb_parse_parameters, *text, n, r->diag);
}

bool campaign_read_allow(struct campaign_reader *r, struct campaign_node n)
{
    const char **text = &r->block->settings.allow;
    return read_joined(r, n, "allow", text) && try_option(bb_parse_allowed, *text, n, r->diag);
}

struct bb_options campaign_lowering(const struct campaign_settings *s)
{
    struct bb_options o = {0};
    struct diag *d = diag_new();
    if (s->param) bb_parse_parameters(s->param, &o, d);
    if (s->allow) bb_parse_allowed(s->allow, &o, d);
    CHECK(!diag_failed(d)); /* they were tried when they were read */
    diag_free(d);
    return o;
}

/* ---- stores and kernels ---- */

/* The text begins with a path. */
bool campaign_read_baseline(struct campaign_reader *r, struct campaign_node n)
{
    struct campaign_settings *s = &r->block->settings;
    r->block->baseline = n;
    if (!read_texts(n, "baseline", LIMIT_BASELINES, r->campaign->arena, &s->baselines, &s->n_baselines,
                    r->diag))
        return false;
    for (unsigned i = 0; i < s->n_baselines; i++)
        s->baselines[i] = campaign_path(r->campaign, s->baselines[i]);
    return true;
}

bool campaign_read_learn_from(struct campaign_reader *r, struct campaign_node n)
{
    struct campaign_settings *s = &r->block->settings;
    r->block->learn_from = n;
    if (!read_texts(n, "learn-from", CAMPAIGN_MOST_LEARN_FROM, r->campaign->arena, &s->learn_from,
                    &s->n_learn_from, r->diag))
        return false;
    for (unsigned i = 0; i < s->n_learn_from; i++)
        s->learn_from[i] = campaign_path(r->campaign, s->learn_from[i]);
    return true;
}

/* ---- budgets ---- */

bool campaign_read_evaluations(struct campaign_reader *r, struct campaign_node n)
{
    int64_t count;
    if (!campaign_read_count(n, "evaluations", CAMPAIGN_MOST_EVALUATIONS, &count, r->diag)) return false;
    r->block->settings.evaluations = (uint64_t)count;
    return true;
}

bool campaign_read_time(struct campaign_reader *r, struct campaign_node n)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    char *end;
    const char *text = campaign_read_text(n, "time", r->diag);
    if (!text) return false;
    double value = strtod(text, &end);
    for (size_t i = 0; end != text && isfinite(value) && i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].unit) != 0) continue;
        r->block->settings.time_s = value * units[i].seconds;
        if (value <= 0) return campaign_node_error(n, r->diag, "time is %s; it must be positive", text);
        if (value * units[i].seconds <= LIMIT_TIME_S) return true;
        return campaign_node_error(n, r->diag, "time is %s; the maximum is 366d", text);
    }
    return campaign_node_error(
        n, r->diag, "time is '%s'; write a positive number with s, m, h or d, such as 30s or 10m", text);
}

bool campaign_read_until(struct campaign_reader *r, struct campaign_node n)
{
    double percent;
    long long count;
    int end = 0;
    const char *text = campaign_read_text(n, "until", r->diag);
    if (!text) return false;
    if (sscanf(text, "within %lf %% for %lld evaluation%n", &percent, &count, &end) != 2 || !end ||
        (strcmp(text + end, "s") != 0 && text[end]))
        return campaign_node_error(
            n, r->diag, "until is '%s'; write 'within 2%% for 200 evaluations', with other numbers", text);
    if (!(percent >= 0 && percent < 100))
        return campaign_node_error(n, r->diag, "until: the share must be at least 0%% and less than 100%%");
    if (count < 1 || count > CAMPAIGN_MOST_EVALUATIONS)
        return campaign_node_error(n, r->diag, "until: the number of evaluations must be from 1 to %d",
                                   CAMPAIGN_MOST_EVALUATIONS);
    r->block->settings.until = (struct session_until){percent / 100, (uint64_t)count};
    return true;
}
