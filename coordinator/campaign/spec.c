/* From a campaign file to its searches, in two steps: the keys of the campaign first, wherever they stand,
 * then each kernel, which begins with what the campaign says and multiplies its sizes by devices and seeds.
 *
 * An error in one key does not hide those in others; there are no searches after one. */
#include "coordinator/campaign/spec.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/campaign/keys.h"
#include "coordinator/campaign/launcher.h"
#include "coordinator/campaign/sizes.h"
#include "coordinator/tune.h"
#include "core/backbone/parameter.h"
#include "core/base/arena.h"
#include "core/base/strbuf.h"

/* What only the campaign says. */
struct header {
    const char *name, *store, *report, *header;
    uint64_t *seeds;
    unsigned n_seeds;
    struct campaign_node seed, kernels; /* no node: not there */
};

/* What only a kernel says. */
struct kernel {
    const char *name, *path, *text;
    struct campaign_node node, sizes; /* sizes: no node if it has none */
    struct campaign_sizes list;
    unsigned place;
};

/* ---- paths ---- */

const char *campaign_path(const struct campaign *c, const char *path)
{
    const char *slash = strrchr(c->path, '/');
    if (*path == '/' || !slash) return path;
    return arena_printf(c->arena, "%.*s%s", (int)(slash + 1 - c->path), c->path, path);
}

/* The file's name without folder and ending. */
static const char *base_name(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return arena_strndup(a, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

/* ---- keys of the campaign ---- */

static bool check_name(const char *name, struct campaign_node n, struct diag *d)
{
    for (const char *c = name; *c; c++)
        if (*c == '/' || (unsigned char)*c < ' ' || *c == 127)
            return campaign_node_error(n, d, "name is '%s'; it must be without '/' and control characters",
                                       *c == '/' ? name : "...");
    return true;
}

static bool read_name(struct campaign_reader *r, struct campaign_node n)
{
    struct header *h = r->more;
    h->name = campaign_read_text(n, "name", r->diag);
    return h->name && check_name(h->name, n, r->diag);
}

static bool read_path(struct campaign_reader *r, struct campaign_node n, const char *what, const char **out)
{
    const char *text = campaign_read_text(n, what, r->diag);
    if (text) *out = campaign_path(r->campaign, text);
    return text != NULL;
}

static bool read_store(struct campaign_reader *r, struct campaign_node n)
{
    return read_path(r, n, "store", &((struct header *)r->more)->store);
}

static bool read_report(struct campaign_reader *r, struct campaign_node n)
{
    return read_path(r, n, "report", &((struct header *)r->more)->report);
}

static bool read_header(struct campaign_reader *r, struct campaign_node n)
{
    return read_path(r, n, "header", &((struct header *)r->more)->header);
}

static bool read_keys(struct campaign_reader *r, struct campaign_node n)
{
    return read_path(r, n, "keys", &r->campaign->keys);
}

/* Whether the address is allowed is known when it is bound. */
static bool read_listen(struct campaign_reader *r, struct campaign_node n)
{
    const char *text = campaign_read_text(n, "listen", r->diag);
    bool known = text && (strncmp(text, "tcp://", 6) == 0 || strncmp(text, "ipc://", 6) == 0);
    r->campaign->listen = text;
    return !text || known ? known
                          : campaign_node_error(
                                n, r->diag, "listen is '%s'; write tcp://ADDRESS:PORT or ipc://FILE", text);
}

bool campaign_parse_page(const char *text, int *page)
{
    enum { DIGITS = 5 };
    *page = CAMPAIGN_NO_PAGE;
    if (strcmp(text, "none") == 0) return true;
    size_t n = strspn(text, "0123456789");
    if (n == 0 || n > DIGITS || text[n] || atoi(text) > UINT16_MAX) return false;
    *page = atoi(text);
    return true;
}

static bool read_page(struct campaign_reader *r, struct campaign_node n)
{
    const char *text = campaign_read_text(n, "page", r->diag);
    return text && (campaign_parse_page(text, &r->campaign->page) ||
                    campaign_node_error(n, r->diag, "page is '%s'; write a port (0 to %d) or none", text,
                                        UINT16_MAX));
}

static bool read_one_seed(struct campaign_reader *r, struct campaign_node n, const char *what)
{
    int64_t seed;
    struct header *h = r->more;
    if (!campaign_read_count(n, what, INT64_MAX, &seed, r->diag)) return false;
    for (unsigned i = 0; i < h->n_seeds; i++)
        if (h->seeds[i] == (uint64_t)seed)
            return campaign_node_error(n, r->diag, "seed %" PRId64 " is given twice", seed);
    h->seeds[h->n_seeds++] = (uint64_t)seed;
    return true;
}

static bool begin_seeds(struct campaign_reader *r, struct campaign_node n)
{
    struct header *h = r->more;
    if (h->seed.yaml) return campaign_node_error(n, r->diag, "give 'seed' or 'seeds', not both");
    h->seed = n;
    h->seeds = ARENA_ARRAY(r->campaign->arena, uint64_t, campaign_node_count(n) + 1);
    return true;
}

static bool read_seed(struct campaign_reader *r, struct campaign_node n)
{
    return begin_seeds(r, n) && read_one_seed(r, n, "seed");
}

static bool read_seeds(struct campaign_reader *r, struct campaign_node n)
{
    size_t count = campaign_node_count(n);
    if (campaign_node_kind(n) != CAMPAIGN_LIST || count == 0)
        return campaign_node_error(n, r->diag, "seeds must be a list of whole numbers");
    if (count > CAMPAIGN_MOST_SEEDS)
        return campaign_node_error(n, r->diag, "more than %d seeds", CAMPAIGN_MOST_SEEDS);
    bool ok = begin_seeds(r, n);
    for (size_t i = 0; ok && i < count; i++)
        ok = read_one_seed(r, campaign_node_item(n, i), "seeds");
    return ok;
}

static bool read_kernels(struct campaign_reader *r, struct campaign_node n)
{
    struct header *h = r->more;
    h->kernels = n;
    return (campaign_node_kind(n) == CAMPAIGN_LIST && campaign_node_count(n) > 0) ||
           campaign_node_error(n, r->diag, "kernels must be a list of maps with at least 'file'");
}

static bool read_campaign_keys(struct campaign_reader *r, struct campaign_node root)
{
    static const struct campaign_key keys[] = {{"name", read_name},
                                               {"store", read_store},
                                               {"report", read_report},
                                               {"header", read_header},
                                               {"seed", read_seed},
                                               {"seeds", read_seeds},
                                               CAMPAIGN_SHARED_KEYS,
                                               {"listen", read_listen},
                                               {"keys", read_keys},
                                               {"page", read_page},
                                               {"launcher", campaign_read_launcher},
                                               {"kernels", read_kernels}};
    struct header *h = r->more;
    bool ok = campaign_read_map(root, "a campaign", keys, sizeof keys / sizeof keys[0], r);
    if (!h->kernels.yaml && campaign_node_kind(root) == CAMPAIGN_MAP &&
        !campaign_node_get(root, "kernels").yaml)
        ok = campaign_node_error(root, r->diag, "the campaign has no 'kernels'");
    return ok;
}

/* ---- keys of a kernel ---- */

/* The errors of another part of thresh, at a node of this file. */
static bool relay(const struct diag *from, struct campaign_node n, struct diag *d)
{
    static const char kind[] = "error: ";
    for (size_t i = 0; i < diag_count(from) && i < DIAG_MAX; i++) {
        const char *text = diag_message(from, i);
        bool plain = strncmp(text, kind, strlen(kind)) == 0;
        campaign_node_error(n, d, "%s", text + (plain ? strlen(kind) : 0));
    }
    return false;
}

static bool read_file(struct campaign_reader *r, struct campaign_node n)
{
    struct kernel *k = r->more;
    size_t length;
    const char *file = campaign_read_text(n, "file", r->diag);
    if (!file) return false;
    k->path = campaign_path(r->campaign, file);
    struct diag *d = diag_new();
    char *text = source_read_file(k->path, CAMPAIGN_BYTES, &length, d);
    if (text)
        k->text = arena_strdup(r->campaign->arena, text);
    else
        relay(d, n, r->diag);
    free(text);
    diag_free(d);
    return k->text != NULL;
}

static bool read_kernel_name(struct campaign_reader *r, struct campaign_node n)
{
    struct kernel *k = r->more;
    k->name = campaign_read_text(n, "name", r->diag);
    return k->name && check_name(k->name, n, r->diag);
}

static bool read_sizes(struct campaign_reader *r, struct campaign_node n)
{
    struct kernel *k = r->more;
    k->sizes = n;
    return campaign_sizes_read(n, r->campaign->arena, &k->list, r->diag);
}

static bool read_kernel_keys(struct campaign_reader *r, struct campaign_node n)
{
    static const struct campaign_key keys[] = {
        {"file", read_file}, {"name", read_kernel_name}, {"sizes", read_sizes}, CAMPAIGN_SHARED_KEYS};
    struct kernel *k = r->more;
    bool ok = campaign_read_map(n, "a kernel", keys, sizeof keys / sizeof keys[0], r);
    if (campaign_node_kind(n) == CAMPAIGN_MAP && !campaign_node_get(n, "file").yaml)
        return campaign_node_error(n, r->diag, "the kernel has no 'file'");
    if (!k->name && k->path) k->name = base_name(r->campaign->arena, k->path);
    return ok;
}

/* ---- searches ---- */

static bool text_equals(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whether runs on the data of both would have the same settings. */
static bool same_parameters(const struct campaign_settings *a, const struct campaign_settings *b)
{
    struct strbuf x = {0}, y = {0};
    const struct bb_options o = campaign_lowering(a), p = campaign_lowering(b);
    bb_print_parameters(&o, "", &x);
    bb_print_parameters(&p, "", &y);
    bool same = text_equals(x.text, y.text);
    strbuf_free(&x);
    strbuf_free(&y);
    return same;
}

static bool same_data(const struct campaign_settings *a, const struct campaign_settings *b)
{
    struct strbuf x = {0}, y = {0};
    const struct given_files f = campaign_data(a), g = campaign_data(b);
    tune_print_data(&f, &x);
    tune_print_data(&g, &y);
    bool same = strcmp(x.text ? x.text : "", y.text ? y.text : "") == 0;
    strbuf_free(&x);
    strbuf_free(&y);
    return same;
}

/* Whether two searches are the same run of a store, whatever their budgets. */
static bool is_same(const struct campaign_search *a, const struct campaign_search *b)
{
    const struct campaign_settings *s = &a->settings, *t = &b->settings;
    if (a->seed != b->seed || s->n_pins != t->n_pins || !text_equals(a->path, b->path) ||
        !text_equals(a->device, b->device) || !text_equals(s->heuristic, t->heuristic) ||
        !text_equals(s->order, t->order))
        return false;
    for (unsigned i = 0; i < s->n_pins; i++)
        if (strcmp(s->pins[i], t->pins[i]) != 0) return false;
    return campaign_sizes_equal(a->sizes, b->sizes) && same_parameters(s, t) && same_data(s, t);
}

static bool add_search(struct campaign *c, const struct campaign_search *search, struct diag *d)
{
    if (c->n_searches == CAMPAIGN_MOST_SIZES) {
        diag_error(d, search->at, "the campaign has more than %d searches", CAMPAIGN_MOST_SIZES);
        return false;
    }
    for (unsigned i = 0; i < c->n_searches; i++) {
        if (!is_same(&c->searches[i], search)) continue;
        diag_error(d, search->at_sizes, "%s %s is the same search as number %u", search->name, search->sizes,
                   c->searches[i].number);
        return false;
    }
    c->searches = base_realloc(c->searches, (c->n_searches + 1) * sizeof *c->searches);
    c->searches[c->n_searches++] = *search;
    return true;
}

static struct source_pos place_or(struct campaign_node n, struct source_pos otherwise)
{
    return n.yaml ? campaign_node_place(n) : otherwise;
}

/* One size on every device with every seed. */
static bool add_size(struct campaign_reader *r, const struct header *h, const struct kernel *k,
                     const struct campaign_size *size)
{
    const struct campaign_block *b = r->block;
    struct source_pos at = campaign_node_place(k->node);
    for (unsigned device = 0; device < (b->n_devices ? b->n_devices : 1); device++) {
        for (unsigned seed = 0; seed < (h->n_seeds ? h->n_seeds : 1); seed++) {
            struct campaign_search s = {.number = r->campaign->n_searches + 1,
                                        .name = k->name,
                                        .path = k->path,
                                        .text = k->text,
                                        .sizes = size->text,
                                        .device = b->n_devices ? b->devices[device] : NULL,
                                        .seed = h->n_seeds ? h->seeds[seed] : 1,
                                        .settings = b->settings,
                                        .kernel = k->place,
                                        .at = at,
                                        .at_sizes = place_or(size->node, at),
                                        .at_pins = place_or(b->pins, at),
                                        .at_order = place_or(b->order, at),
                                        .at_learn_from = place_or(b->learn_from, at),
                                        .at_data = place_or(b->data, at),
                                        .at_baseline = place_or(b->baseline, at)};
            if (!add_search(r->campaign, &s, r->diag)) return false;
        }
    }
    return true;
}

static bool read_kernel(struct campaign *c, const struct campaign_block *all, const struct header *h,
                        struct campaign_node n, unsigned place, struct diag *d)
{
    struct campaign_block block = *all;
    struct kernel k = {.node = n, .place = place};
    struct campaign_reader r = {c, d, &block, &k};
    struct campaign_settings *s = &block.settings;
    if (!read_kernel_keys(&r, n)) return false;
    if (!s->evaluations && s->time_s <= 0 && !s->until.evaluations) s->evaluations = LIMIT_EVALUATIONS;
    const struct campaign_size none = {"", {NULL, 0}};
    if (!k.sizes.yaml) return add_size(&r, h, &k, &none);
    bool ok = true;
    for (size_t i = 0; i < k.list.n && ok; i++)
        ok = add_size(&r, h, &k, &k.list.items[i]);
    return ok;
}

/* ---- the file ---- */

static void name_files(struct campaign *c, const struct header *h)
{
    struct arena *a = c->arena;
    c->name = h->name ? h->name : base_name(a, c->path);
    c->store = h->store ? h->store : campaign_path(c, arena_printf(a, "%s.db", c->name));
    const char *slash = strrchr(c->store, '/');
    int folder = slash ? (int)(slash + 1 - c->store) : 0;
    c->report = h->report ? h->report : arena_printf(a, "%.*s%s.html", folder, c->store, c->name);
    c->header = h->header ? h->header : arena_printf(a, "%.*sbest.h", folder, c->store);
}

static bool read_root(struct campaign *c, struct campaign_node root, struct diag *d)
{
    struct header h = {0};
    struct campaign_block all = {0};
    struct campaign_reader r = {c, d, &all, &h};
    bool ok = read_campaign_keys(&r, root);
    name_files(c, &h);
    ok = campaign_check_launcher(&r) && ok;
    bool list = h.kernels.yaml && campaign_node_kind(h.kernels) == CAMPAIGN_LIST;
    for (size_t i = 0; list && i < campaign_node_count(h.kernels); i++)
        ok = read_kernel(c, &all, &h, campaign_node_item(h.kernels, i), (unsigned)i, d) && ok;
    return ok;
}

static bool read_source(struct campaign *c, struct diag *d)
{
    char *text = source_read_file(c->path, CAMPAIGN_BYTES, &c->source.length, d);
    if (!text) return false;
    c->source.text = arena_strdup(c->arena, text);
    c->source.path = c->path;
    free(text);
    c->yaml = campaign_yaml_new(&c->source, d);
    if (!c->yaml) return false;
    if (campaign_yaml_root(c->yaml).yaml) return true;
    diag_error(d, (struct source_pos){&c->source, 0}, "the campaign file is empty");
    return false;
}

struct campaign *campaign_read(const char *path, struct diag *d)
{
    struct campaign *c = base_calloc(1, sizeof *c);
    c->path = path;
    c->arena = arena_new();
    c->page = CAMPAIGN_NO_PAGE;
    if (read_source(c, d) && read_root(c, campaign_yaml_root(c->yaml), d)) return c;
    campaign_free(c);
    return NULL;
}

void campaign_free(struct campaign *c)
{
    if (!c) return;
    campaign_yaml_free(c->yaml);
    arena_free(c->arena);
    free(c->searches);
    free(c);
}

void campaign_print_budget(const struct campaign_settings *s, struct strbuf *out)
{
    const char *space = "";
    if (s->evaluations) strbuf_printf(out, "evaluations=%" PRIu64, s->evaluations);
    if (s->evaluations) space = " ";
    if (s->time_s > 0) strbuf_printf(out, "%stime=%g", space, s->time_s);
    if (s->time_s > 0) space = " ";
    if (s->until.evaluations)
        strbuf_printf(out, "%suntil=%g%%/%" PRIu64, space, 100 * s->until.within, s->until.evaluations);
}

void campaign_describe_budget(const struct campaign_settings *s, struct strbuf *out)
{
    static const struct {
        double seconds;
        const char *unit;
    } units[] = {{3600, "h"}, {60, "m"}, {1, "s"}};
    size_t u = 0;
    const char *comma = "";
    if (s->evaluations) {
        strbuf_printf(out, "%" PRIu64 " evaluation%s", s->evaluations, s->evaluations > 1 ? "s" : "");
        comma = ", ";
    }
    while (u + 1 < sizeof units / sizeof units[0] && fmod(s->time_s, units[u].seconds) != 0)
        u++;
    if (s->time_s > 0) {
        strbuf_printf(out, "%s%g%s", comma, s->time_s / units[u].seconds, units[u].unit);
        comma = ", ";
    }
    if (s->until.evaluations)
        strbuf_printf(out, "%swithin %g%% for %" PRIu64 " evaluations", comma, 100 * s->until.within,
                      s->until.evaluations);
}
